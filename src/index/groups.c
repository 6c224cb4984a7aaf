/*
 * groups.sqlite: what is known of each group of failures, what was decided about it, and the places
 * up to which journals were read.
 *
 * It stays when files of days are deleted. It is committed after them: if a process is killed in
 * between, the lines are read again, and rows that exist already are skipped.
 */
#include <stdio.h>

#include "index/inside.h"

enum { GROUPS_FORMAT = 1, GROUPS_MARK = 0x4d697347 };

static const char tables[] =
    "CREATE TABLE groups(grp INTEGER PRIMARY KEY, operation TEXT, code TEXT, category TEXT,"
    " service TEXT, message TEXT, place TEXT, first INTEGER NOT NULL, last INTEGER NOT NULL,"
    " state INTEGER NOT NULL, changed INTEGER NOT NULL, newest BLOB);"
    "CREATE INDEX groups_last ON groups(last);"
    "CREATE TABLE history(grp INTEGER, time INTEGER, state INTEGER, PRIMARY KEY(grp, time, state))"
    " WITHOUT ROWID;"
    "CREATE TABLE places(journal TEXT PRIMARY KEY, device INTEGER, inode INTEGER, mark INTEGER,"
    " at INTEGER) WITHOUT ROWID;"
    "CREATE TABLE limits(one INTEGER PRIMARY KEY, days INTEGER, bytes INTEGER);"
    "CREATE TABLE totals(one INTEGER PRIMARY KEY, fresh INTEGER, regressed INTEGER);";

static const char *const sql[INDEX_STATEMENTS] = {
    [GROUPS_ALL] = "SELECT grp, first, last, state, changed, message IS NOT NULL,"
                   " category FROM groups",
    [GROUPS_ADD] = "INSERT OR IGNORE INTO groups VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?8,0,?8,NULL)",
    [GROUPS_TELL] = "UPDATE groups SET message=?2, place=?3 WHERE grp=?1",
    [GROUPS_UPDATE] = "UPDATE groups SET first=?2, last=?3, state=?4, changed=?5,"
                      " newest=coalesce(?6, newest) WHERE grp=?1",
    [GROUPS_SET] = "UPDATE groups SET state=?2, changed=?3 WHERE grp=?1",
    [GROUPS_UNDO] = "DELETE FROM history WHERE grp=?1 AND time>=(SELECT max(time) FROM history"
                    " WHERE grp=?1 AND state=?2)",
    [GROUPS_RESTORE] = "UPDATE groups SET state=coalesce((SELECT state FROM history WHERE grp=?1"
                       " ORDER BY time DESC LIMIT 1), 0), changed=coalesce((SELECT max(time) FROM"
                       " history WHERE grp=?1), first) WHERE grp=?1",
    [GROUPS_HISTORY_ADD] = "INSERT OR IGNORE INTO history VALUES(?1,?2,?3)",
    [GROUPS_HISTORY] = "SELECT time, state FROM history WHERE grp=?1 ORDER BY time DESC LIMIT 100",
    [GROUPS_PLACE] = "SELECT device, inode, mark, at FROM places WHERE journal=?1",
    [GROUPS_PLACE_SET] = "INSERT INTO places VALUES(?1,?2,?3,?4,?5) ON CONFLICT DO UPDATE SET"
                         " device=excluded.device, inode=excluded.inode, mark=excluded.mark,"
                         " at=excluded.at",
    [GROUPS_FORGET_PLACES] = "DELETE FROM places",
    [GROUPS_LIMITS] = "SELECT days, bytes FROM limits WHERE one=1",
    [GROUPS_LIMITS_SET] = "INSERT OR REPLACE INTO limits VALUES(1,?1,?2)",
    [GROUPS_TOTALS] = "SELECT fresh, regressed FROM totals WHERE one=1",
    [GROUPS_TOTALS_ADD] = "INSERT INTO totals VALUES(1,?1,?2) ON CONFLICT DO UPDATE SET"
                          " fresh=fresh+excluded.fresh, regressed=regressed+excluded.regressed",
    [GROUPS_IMPORT] = "INSERT INTO groups VALUES(?1,?2,?3,?4,?5,NULL,NULL,?6,?7,1,?6,NULL)"
                      " ON CONFLICT DO UPDATE SET first=min(first, excluded.first),"
                      " last=max(last, excluded.last)",
    [GROUPS_RETAIN] = "DELETE FROM groups WHERE last<?1 AND state IN (0,1)",
    [GROUPS_ONE] = "SELECT grp, operation, code, category, message, place, first, last, state,"
                   " changed, newest, service FROM groups WHERE grp=?1",
    [GROUPS_PAGE] = "SELECT grp, operation, code, category, message, place, first, last, state,"
                    " changed, newest, service FROM groups WHERE (last, grp)<(?1, ?2)"
                    " ORDER BY last DESC, grp DESC",
    [GROUPS_VERSION] = "PRAGMA data_version",
};

const index_schema mishap_index_groups_schema = { tables, sql, GROUPS_FORMAT, GROUPS_MARK };

bool mishap_index_groups_open(index_groups *groups, const char *folder)
{
    char path[INDEX_PATH];
    *groups = (index_groups){ .version = -1 };
    if ((size_t)snprintf(path, sizeof path, "%s/groups.sqlite", folder) >= sizeof path) {
        groups->db.trouble = INDEX_BROKEN;
        return false;
    }
    if (!mishap_index_db_open(&groups->db, path, &mishap_index_groups_schema, INDEX_WRITES))
        return false;
    /* A place that is lost with the power is no loss: lines are read again. What an operator
     * decides is synchronized by the connection that writes it. */
    mishap_index_run(&groups->db, "PRAGMA synchronous=NORMAL");
    return true;
}

void mishap_index_groups_close(index_groups *groups)
{
    mishap_index_groups_roll_back(groups);
    mishap_index_db_close(&groups->db);
    mishap_index_map_free(&groups->places);
    mishap_release(groups->list);
    *groups = (index_groups){ .version = -1 };
}

/* -- in memory --------------------------------------------------------------------------------- */

static index_group *find_group(index_groups *groups, uint64_t key)
{
    int64_t *at = mishap_index_map_at(&groups->places, key, false);
    return at && *at ? &groups->list[*at - 1] : NULL;
}

static index_group *add_group(index_groups *groups, uint64_t key)
{
    if (groups->count == groups->room) {
        size_t room = groups->room ? 2 * groups->room : 64;
        index_group *list = mishap_resize(groups->list, room * sizeof *list);
        if (!list)
            return NULL;
        groups->list = list;
        groups->room = room;
    }
    int64_t *at = mishap_index_map_at(&groups->places, key, true);
    if (!at)
        return NULL;
    *at = (int64_t)groups->count + 1;
    index_group *group = &groups->list[groups->count++];
    *group = (index_group){ .key = key };
    return group;
}

static void forget_groups(index_groups *groups)
{
    mishap_index_map_clear(&groups->places);
    groups->count = groups->validations = 0;
    groups->version = -1;
    groups->fresh = groups->regressed = 0;
}

static bool is_validation(mishap_text category)
{
    return mishap_text_equal(category, (mishap_text)MISHAP_TEXT("validation"));
}

static void load_groups(index_groups *groups)
{
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_ALL);
    while (mishap_index_row(&groups->db, statement)) {
        index_group *group = add_group(groups, (uint64_t)mishap_index_number(statement, 0));
        int64_t state = mishap_index_number(statement, 3);
        if (!group) {
            groups->db.trouble = INDEX_NO_MEMORY;
            break;
        }
        group->first_ms = mishap_index_number(statement, 1);
        group->last_ms = mishap_index_number(statement, 2);
        group->state = state >= 0 && state < MISHAP_GROUP_STATES ? (mishap_group_state)state
                                                                 : MISHAP_GROUP_KNOWN;
        group->changed_ms = mishap_index_number(statement, 4);
        group->told = mishap_index_number(statement, 5) != 0;
        groups->validations += is_validation(mishap_index_text(statement, 6));
    }
}

static void begin_groups(index_groups *groups)
{
    if (groups->begun)
        return;
    mishap_index_run(&groups->db, "BEGIN IMMEDIATE");
    groups->begun = !groups->db.trouble;
}

/* The transaction is begun first: then no other process changes it. */
void mishap_index_groups_refresh(index_groups *groups)
{
    begin_groups(groups);
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_VERSION);
    int64_t version = groups->version;
    if (mishap_index_row(&groups->db, statement))
        version = mishap_index_number(statement, 0);
    mishap_index_do(&groups->db, statement);
    if (version == groups->version || groups->db.trouble)
        return;
    forget_groups(groups);
    load_groups(groups);
    groups->version = version;
}

void mishap_index_groups_roll_back(index_groups *groups)
{
    if (groups->begun && groups->db.handle)
        mishap_index_sqlite.exec(groups->db.handle, "ROLLBACK", NULL, NULL, NULL);
    groups->begun = false;
    forget_groups(groups);
}

void mishap_index_groups_end(index_groups *groups)
{
    if (groups->begun)
        mishap_index_run(&groups->db, "COMMIT");
    groups->begun = groups->begun && groups->db.trouble;
}

/* -- noting ------------------------------------------------------------------------------------ */

static void insert_group(index_groups *groups, const index_record *record, uint64_t key, bool other)
{
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_ADD);
    mishap_index_bind(statement, 1, (int64_t)key);
    mishap_index_bind_text(statement, 2, record->operation);
    if (!other) {
        mishap_index_bind_text(statement, 3, record->code);
        mishap_index_bind_text(statement, 4, record->category);
        mishap_index_bind_text(statement, 5, record->service);
        mishap_index_bind_text(statement, 6, record->message);
        mishap_index_bind_text(statement, 7, record->place);
    } else {
        mishap_index_bind_text(statement, 6, mishap_index_other_message);
    }
    mishap_index_bind(statement, 8, mishap_index_ms(record->items[0].id));
    mishap_index_do(&groups->db, statement);
}

static index_group *make_group(index_groups *groups, const index_record *record, uint64_t key,
                               bool other)
{
    index_group *group = add_group(groups, key);
    if (!group) {
        groups->db.trouble = groups->db.trouble ? groups->db.trouble : INDEX_NO_MEMORY;
        return NULL;
    }
    begin_groups(groups);
    insert_group(groups, record, key, other);
    group->first_ms = group->last_ms = group->changed_ms = mishap_index_ms(record->items[0].id);
    group->told = other || record->message.data;
    groups->validations += !other && is_validation(record->category);
    groups->fresh++;
    return group;
}

static void tell_group(index_groups *groups, index_group *group, const index_record *record)
{
    begin_groups(groups);
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_TELL);
    mishap_index_bind(statement, 1, (int64_t)group->key);
    mishap_index_bind_text(statement, 2, record->message);
    mishap_index_bind_text(statement, 3, record->place);
    mishap_index_do(&groups->db, statement);
    group->told = true;
}

static void add_history(index_db *db, uint64_t key, int64_t time_ms, mishap_group_state state)
{
    sqlite3_stmt *statement = mishap_index_ask(db, GROUPS_HISTORY_ADD);
    mishap_index_bind(statement, 1, (int64_t)key);
    mishap_index_bind(statement, 2, time_ms);
    mishap_index_bind(statement, 3, (int64_t)state);
    mishap_index_do(db, statement);
}

/* A failure from before the decision does not undo it. */
static void note_failure(index_groups *groups, index_group *group, int64_t first, int64_t last)
{
    group->dirty = true;
    if (first < group->first_ms)
        group->first_ms = first;
    if (last > group->last_ms)
        group->last_ms = last;
    if (group->state != MISHAP_GROUP_RESOLVED || last <= group->changed_ms)
        return;
    group->state = MISHAP_GROUP_REGRESSED;
    group->changed_ms = last;
    groups->regressed++;
    begin_groups(groups);
    add_history(&groups->db, group->key, last, MISHAP_GROUP_REGRESSED);
}

/* A caller chooses which fields are wrong: the combinations of some fields are thousands of groups,
 * which leave half of the places to all others. */
static bool is_full(const index_groups *groups, const index_record *record)
{
    return groups->count >= MISHAP_INDEX_GROUPS ||
           (is_validation(record->category) && groups->validations >= MISHAP_INDEX_GROUPS / 2);
}

uint64_t mishap_index_groups_note(index_groups *groups, const index_record *record)
{
    index_group *group = find_group(groups, record->group);
    if (!group && is_full(groups, record)) {
        group = find_group(groups, mishap_index_other_group(record->operation));
        if (!group)
            group = make_group(groups, record, mishap_index_other_group(record->operation), true);
    } else if (!group) {
        group = make_group(groups, record, record->group, false);
    }
    if (!group)
        return 0;
    if (!group->told && record->message.data)
        tell_group(groups, group, record);
    note_failure(groups, group, mishap_index_ms(record->items[0].id),
                 mishap_index_ms(record->items[record->count - 1].id));
    if (record->message.data) {
        memcpy(group->newest, record->items[0].id, INDEX_ID);
        group->has_newest = true;
    }
    return group->key;
}

/* -- storing ----------------------------------------------------------------------------------- */

static void update_group(index_groups *groups, index_group *group)
{
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_UPDATE);
    mishap_index_bind(statement, 1, (int64_t)group->key);
    mishap_index_bind(statement, 2, group->first_ms);
    mishap_index_bind(statement, 3, group->last_ms);
    mishap_index_bind(statement, 4, (int64_t)group->state);
    mishap_index_bind(statement, 5, group->changed_ms);
    if (group->has_newest)
        mishap_index_bind_blob(statement, 6, group->newest, INDEX_ID);
    mishap_index_do(&groups->db, statement);
    group->dirty = group->has_newest = false;
}

void mishap_index_groups_commit(index_groups *groups, mishap_text journal,
                                mishap_follow_place place)
{
    begin_groups(groups);
    for (size_t i = 0; i < groups->count && !groups->db.trouble; i++)
        if (groups->list[i].dirty)
            update_group(groups, &groups->list[i]);
    if (groups->fresh || groups->regressed) {
        sqlite3_stmt *totals = mishap_index_ask(&groups->db, GROUPS_TOTALS_ADD);
        mishap_index_bind(totals, 1, (int64_t)groups->fresh);
        mishap_index_bind(totals, 2, (int64_t)groups->regressed);
        mishap_index_do(&groups->db, totals);
    }
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_PLACE_SET);
    mishap_index_bind_text(statement, 1, journal);
    mishap_index_bind(statement, 2, (int64_t)place.device);
    mishap_index_bind(statement, 3, (int64_t)place.inode);
    mishap_index_bind(statement, 4, (int64_t)place.mark);
    mishap_index_bind(statement, 5, (int64_t)place.offset);
    mishap_index_do(&groups->db, statement);
    mishap_index_run(&groups->db, "COMMIT");
    groups->begun = groups->begun && groups->db.trouble;
    if (!groups->db.trouble)
        groups->fresh = groups->regressed = 0;
}

void mishap_index_groups_totals(index_groups *groups, uint64_t *fresh, uint64_t *regressed)
{
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_TOTALS);
    *fresh = *regressed = 0;
    if (mishap_index_row(&groups->db, statement)) {
        *fresh = (uint64_t)mishap_index_number(statement, 0);
        *regressed = (uint64_t)mishap_index_number(statement, 1);
    }
    mishap_index_do(&groups->db, statement);
}

mishap_follow_place mishap_index_groups_place(index_groups *groups, mishap_text journal)
{
    mishap_follow_place place = { 0 };
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_PLACE);
    mishap_index_bind_text(statement, 1, journal);
    if (mishap_index_row(&groups->db, statement)) {
        place.device = (uint64_t)mishap_index_number(statement, 0);
        place.inode = (uint64_t)mishap_index_number(statement, 1);
        place.mark = (uint64_t)mishap_index_number(statement, 2);
        place.offset = (uint64_t)mishap_index_number(statement, 3);
    }
    mishap_index_do(&groups->db, statement);
    return place;
}

void mishap_index_groups_forget_places(index_groups *groups)
{
    mishap_index_do(&groups->db, mishap_index_ask(&groups->db, GROUPS_FORGET_PLACES));
}

bool mishap_index_groups_limits(index_groups *groups, int *days, uint64_t *max_bytes)
{
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_LIMITS);
    bool stored = mishap_index_row(&groups->db, statement);
    if (stored) {
        *days = (int)mishap_index_number(statement, 0);
        *max_bytes = (uint64_t)mishap_index_number(statement, 1);
    }
    mishap_index_do(&groups->db, statement);
    return stored;
}

void mishap_index_groups_set_limits(index_groups *groups, int days, uint64_t max_bytes)
{
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_LIMITS_SET);
    mishap_index_bind(statement, 1, days);
    mishap_index_bind(statement, 2, (int64_t)max_bytes);
    mishap_index_do(&groups->db, statement);
}

void mishap_index_groups_import(index_groups *groups, index_db *day)
{
    sqlite3_stmt *kinds = mishap_index_ask(day, DAY_KINDS_ALL);
    begin_groups(groups);
    while (mishap_index_row(day, kinds)) {
        sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_IMPORT);
        mishap_index_bind(statement, 1, mishap_index_number(kinds, 1));
        for (int i = 0; i < 4; i++) {
            int column = i < 3 ? i + 2 : 8;
            if (!mishap_index_is_null(kinds, column))
                mishap_index_bind_text(statement, i + 2, mishap_index_text(kinds, column));
        }
        mishap_index_bind(statement, 6, mishap_index_number(kinds, 6));
        mishap_index_bind(statement, 7, mishap_index_number(kinds, 7));
        mishap_index_do(&groups->db, statement);
    }
    groups->version = -1;
}

void mishap_index_groups_retain(index_groups *groups, int64_t oldest_ms)
{
    sqlite3_stmt *statement = mishap_index_ask(&groups->db, GROUPS_RETAIN);
    mishap_index_bind(statement, 1, oldest_ms);
    mishap_index_do(&groups->db, statement);
    if (!groups->db.trouble && mishap_index_sqlite.changes(groups->db.handle) > 0)
        forget_groups(groups);
}

/* Begin a transaction. False: the group is not known. */
static bool begin_decision(index_db *db, uint64_t key, int64_t *state)
{
    mishap_index_run(db, "BEGIN IMMEDIATE");
    sqlite3_stmt *statement = mishap_index_ask(db, GROUPS_ONE);
    mishap_index_bind(statement, 1, (int64_t)key);
    bool known = mishap_index_row(db, statement);
    *state = known ? mishap_index_number(statement, 8) : -1;
    mishap_index_do(db, statement);
    return known;
}

static bool end_decision(index_db *db)
{
    mishap_index_run(db, "COMMIT");
    if (db->trouble && db->handle)
        mishap_index_sqlite.exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return !db->trouble;
}

bool mishap_index_groups_decide(index_db *db, uint64_t key, mishap_group_state state,
                                int64_t now_ms)
{
    int64_t before;
    bool known = begin_decision(db, key, &before);
    if (known && before != (int64_t)state) { /* the same once more is no further decision */
        sqlite3_stmt *statement = mishap_index_ask(db, GROUPS_SET);
        mishap_index_bind(statement, 1, (int64_t)key);
        mishap_index_bind(statement, 2, (int64_t)state);
        mishap_index_bind(statement, 3, now_ms);
        mishap_index_do(db, statement);
        add_history(db, key, now_ms, state);
    }
    return end_decision(db) && known;
}

bool mishap_index_groups_undo(index_db *db, uint64_t key, mishap_group_state state)
{
    int64_t now;
    bool known = begin_decision(db, key, &now);
    bool counts = now == (int64_t)state ||
                  (state == MISHAP_GROUP_RESOLVED && now == MISHAP_GROUP_REGRESSED);
    if (known && counts) {
        sqlite3_stmt *statement = mishap_index_ask(db, GROUPS_UNDO);
        mishap_index_bind(statement, 1, (int64_t)key);
        mishap_index_bind(statement, 2, (int64_t)state);
        mishap_index_do(db, statement);
        statement = mishap_index_ask(db, GROUPS_RESTORE);
        mishap_index_bind(statement, 1, (int64_t)key);
        mishap_index_do(db, statement);
    }
    return end_decision(db) && known;
}
