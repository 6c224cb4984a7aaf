/*
 * One file of a day: its tables, and the numbers of kinds, callers and like records in it.
 *
 * A file needs no other one: all names that its rows refer to by numbers are in it. So files are
 * deleted as a whole, and groups.sqlite can be lost without harm to them.
 *
 *     kinds    what failures have in common: group, operation, code, category, service, boundary
 *     whole    a record of the journal, by the key of its id (inside.h)
 *     compact  the ids of failures of one kind, caller and status within a second; its key is that
 *              of its last id
 *     words    FTS5 over messages of whole records
 *     minutes, hours, caller_hours   counts
 *
 * Filters on code, operation, category and group become numbers of kinds, and each kind is an index
 * range: no query reads rows that it does not show.
 */
#include <stdio.h>

#include "base/hash.h"
#include "index/inside.h"

enum { DAY_FORMAT = 1, DAY_MARK = 0x4d697344, MOST_REMEMBERED = 32768 };

static const char tables[] =
    "CREATE TABLE kinds(n INTEGER PRIMARY KEY, hash INTEGER NOT NULL UNIQUE,"
    " grp INTEGER NOT NULL, operation TEXT, code TEXT, category TEXT, service TEXT, boundary TEXT,"
    " count INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL);"
    "CREATE INDEX kinds_group ON kinds(grp);"
    "CREATE TABLE callers(n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE likes(n INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE);"
    "CREATE TABLE whole(t INTEGER PRIMARY KEY, id BLOB NOT NULL, k INTEGER NOT NULL,"
    " c INTEGER NOT NULL, s INTEGER, us INTEGER, trace BLOB, message TEXT, record TEXT NOT NULL);"
    "CREATE INDEX whole_kind ON whole(k);"
    "CREATE INDEX whole_caller ON whole(c);"
    "CREATE INDEX whole_trace ON whole(trace) WHERE trace IS NOT NULL;"
    "CREATE TABLE compact(t INTEGER PRIMARY KEY, k INTEGER NOT NULL, c INTEGER NOT NULL,"
    " s INTEGER, l INTEGER, ids BLOB NOT NULL, us BLOB);"
    "CREATE INDEX compact_kind ON compact(k);"
    "CREATE INDEX compact_caller ON compact(c);"
    "CREATE TABLE minutes(minute INTEGER, k INTEGER, count INTEGER NOT NULL,"
    " PRIMARY KEY(minute, k)) WITHOUT ROWID;"
    "CREATE TABLE hours(hour INTEGER, k INTEGER, count INTEGER NOT NULL,"
    " PRIMARY KEY(hour, k)) WITHOUT ROWID;"
    "CREATE TABLE caller_hours(hour INTEGER, c INTEGER, count INTEGER NOT NULL,"
    " PRIMARY KEY(hour, c)) WITHOUT ROWID;"
    "CREATE VIRTUAL TABLE words USING fts5(message, content='', columnsize=0);";

static const char *const sql[INDEX_STATEMENTS] = {
    [DAY_KIND_FIND] = "SELECT n, grp FROM kinds WHERE hash=?1",
    [DAY_KIND_ADD] = "INSERT INTO kinds(hash, grp, operation, code, category, service, boundary,"
                     " count, first, last) VALUES(?1,?2,?3,?4,?5,?6,?7,0,?8,?8) RETURNING n",
    [DAY_KIND_COUNT] = "UPDATE kinds SET count=count+?2, first=min(first,?3), last=max(last,?4)"
                       " WHERE n=?1",
    [DAY_CALLER_FIND] = "SELECT n FROM callers WHERE name=?1",
    [DAY_CALLER_ADD] = "INSERT INTO callers(name) VALUES(?1) RETURNING n",
    [DAY_CALLER_NAME] = "SELECT name FROM callers WHERE n=?1",
    [DAY_LIKE_FIND] = "SELECT n FROM likes WHERE id=?1",
    [DAY_LIKE_ADD] = "INSERT INTO likes(id) VALUES(?1) RETURNING n",
    [DAY_LIKE_ID] = "SELECT id FROM likes WHERE n=?1",
    [DAY_WHOLE_ADD] = "INSERT OR IGNORE INTO whole VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)",
    [DAY_WHOLE_RECORD] = "SELECT record FROM whole WHERE t=?1",
    [DAY_WORDS_ADD] = "INSERT INTO words(rowid, message) VALUES(?1,?2)",
    [DAY_COMPACT_ADD] = "INSERT OR IGNORE INTO compact VALUES(?1,?2,?3,?4,?5,?6,?7)",
    [DAY_COMPACT_IDS] = "SELECT ids FROM compact WHERE t=?1",
    [DAY_COMPACT_LAST] = "SELECT coalesce(max(t), 0) FROM compact",
    [DAY_COMPACT_SAME] = "SELECT ids FROM compact INDEXED BY compact_caller"
                         " WHERE c=?1 AND t>=?3 AND t<=?4 AND k=?2",
    [DAY_MINUTE_ADD] = "INSERT INTO minutes VALUES(?1,?2,?3)"
                       " ON CONFLICT DO UPDATE SET count=count+excluded.count",
    [DAY_HOUR_ADD] = "INSERT INTO hours VALUES(?1,?2,?3)"
                     " ON CONFLICT DO UPDATE SET count=count+excluded.count",
    [DAY_CALLER_HOUR_ADD] = "INSERT INTO caller_hours VALUES(?1,?2,?3)"
                            " ON CONFLICT DO UPDATE SET count=count+excluded.count",
    [DAY_KINDS_ALL] = "SELECT n, grp, operation, code, category, count, first, last, service,"
                      " boundary FROM kinds",
    [DAY_KINDS_BY_GROUP] = "SELECT sum(count), min(first), max(last) FROM kinds WHERE grp=?1",
    [DAY_WHOLE_ROW] = "SELECT w.id, k.operation, k.boundary, k.service, c.name, k.code, k.category,"
                      " w.message, k.grp, w.s, w.us, w.trace, w.record FROM whole w"
                      " JOIN kinds k ON k.n=w.k LEFT JOIN callers c ON c.n=w.c WHERE w.t=?1",
    [DAY_COMPACT_ROW] = "SELECT w.ids, k.operation, k.boundary, k.service, c.name, k.code,"
                        " k.category, NULL, k.grp, w.s, w.us, l.id FROM compact w"
                        " JOIN kinds k ON k.n=w.k LEFT JOIN callers c ON c.n=w.c"
                        " LEFT JOIN likes l ON l.n=w.l WHERE w.t=?1",
    [DAY_COMPACT_AROUND] = "SELECT t, ids FROM compact WHERE t>=?1 AND t<=?2 ORDER BY t",
    [DAY_NEXT_WHOLE] = "SELECT t, k, c, s FROM whole WHERE t<?1 ORDER BY t DESC LIMIT ?2",
    [DAY_NEXT_WHOLE_OF_KIND] = "SELECT t, k, c, s FROM whole WHERE k=?3 AND t<?1"
                               " ORDER BY t DESC LIMIT ?2",
    [DAY_NEXT_WHOLE_OF_CALLER] = "SELECT t, k, c, s FROM whole WHERE c=?3 AND t<?1"
                                 " ORDER BY t DESC LIMIT ?2",
    [DAY_NEXT_WHOLE_OF_TRACE] = "SELECT t, k, c, s FROM whole WHERE trace=?3 AND t<?1"
                                " ORDER BY t DESC LIMIT ?2",
    [DAY_NEXT_WHOLE_OF_WORDS] = "SELECT w.rowid, h.k, h.c, h.s FROM words w CROSS JOIN whole h ON"
                                " h.t=w.rowid"
                                " WHERE words MATCH ?3 AND w.rowid<?1"
                                " ORDER BY w.rowid DESC LIMIT ?2",
    [DAY_NEXT_COMPACT] = "SELECT t, k, c, s FROM compact WHERE t<?1 ORDER BY t DESC LIMIT ?2",
    [DAY_NEXT_COMPACT_OF_KIND] = "SELECT t, k, c, s FROM compact WHERE k=?3 AND t<?1"
                                 " ORDER BY t DESC LIMIT ?2",
    [DAY_NEXT_COMPACT_OF_CALLER] = "SELECT t, k, c, s FROM compact WHERE c=?3 AND t<?1"
                                   " ORDER BY t DESC LIMIT ?2",
    [DAY_MINUTES] = "SELECT minute, k, count FROM minutes WHERE minute>=?1 AND minute<?2",
    [DAY_HOURS] = "SELECT hour, k, count FROM hours WHERE hour>=?1 AND hour<?2",
    [DAY_CALLER_HOURS] = "SELECT c.name, sum(h.count) FROM caller_hours h"
                         " JOIN callers c ON c.n=h.c WHERE h.hour>=?1 AND h.hour<?2 GROUP BY h.c"
                         " ORDER BY 2 DESC LIMIT 200",
    [DAY_VERSION] = "PRAGMA data_version",
};

const index_schema mishap_index_day_schema = { tables, sql, DAY_FORMAT, DAY_MARK };

/* -- opening and closing ----------------------------------------------------------------------- */

bool mishap_index_day_open(index_day *day, const char *folder, int64_t number, int part)
{
    char path[INDEX_PATH];
    *day = (index_day){ .day = number, .part = part };
    if (!mishap_system_random(day->secret, sizeof day->secret) ||
        !mishap_index_file_path(folder, number, part, false, path)) {
        day->db.trouble = INDEX_BROKEN;
        return false;
    }
    return mishap_index_db_open(&day->db, path, &mishap_index_day_schema, INDEX_WRITES);
}

/* What is known of the file only from this batch, or only until another process writes. */
static void forget_numbers(index_day *day)
{
    mishap_index_map_clear(&day->kinds);
    mishap_index_map_clear(&day->callers);
    mishap_index_map_clear(&day->likes);
    mishap_index_map_clear(&day->newest);
    mishap_index_map_clear(&day->minutes);
    mishap_index_map_clear(&day->caller_hours);
    day->kind_count = 0;
}

void mishap_index_day_close(index_day *day)
{
    mishap_index_day_roll_back(day);
    mishap_index_db_close(&day->db);
    mishap_index_map_free(&day->kinds);
    mishap_index_map_free(&day->callers);
    mishap_index_map_free(&day->likes);
    mishap_index_map_free(&day->newest);
    mishap_index_map_free(&day->minutes);
    mishap_index_map_free(&day->caller_hours);
    mishap_release(day->list);
    day->list = NULL;
    day->kind_room = 0;
}

/* -- transactions ------------------------------------------------------------------------------ */

/* Another process has written, or the file was opened: the end of that process may have been such
 * that its lines come again. */
static void look_again(index_day *day)
{
    forget_numbers(day);
    sqlite3_stmt *statement = mishap_index_ask(&day->db, DAY_COMPACT_LAST);
    if (mishap_index_row(&day->db, statement))
        day->before = mishap_index_number(statement, 0);
    mishap_index_do(&day->db, statement);
}

void mishap_index_day_begin(index_day *day)
{
    if (day->begun || day->db.trouble)
        return;
    mishap_index_run(&day->db, "BEGIN IMMEDIATE");
    day->begun = !day->db.trouble;
    int64_t version = day->version;
    sqlite3_stmt *statement = mishap_index_ask(&day->db, DAY_VERSION);
    if (mishap_index_row(&day->db, statement))
        version = mishap_index_number(statement, 0);
    mishap_index_do(&day->db, statement);
    if (version != day->version)
        look_again(day);
    day->version = version;
}

static void add_count(index_day *day, int which, int64_t when, int64_t number, int64_t count)
{
    sqlite3_stmt *statement = mishap_index_ask(&day->db, which);
    mishap_index_bind(statement, 1, when);
    mishap_index_bind(statement, 2, number);
    mishap_index_bind(statement, 3, count);
    mishap_index_do(&day->db, statement);
}

static void put_counts(index_day *day)
{
    for (size_t i = 0; i < day->minutes.size; i++) {
        const struct index_map_entry *e = &day->minutes.entries[i];
        int64_t minute = (int64_t)(e->key >> 32), kind = (int64_t)(e->key & UINT32_MAX);
        if (!e->used)
            continue;
        add_count(day, DAY_MINUTE_ADD, minute, kind, e->value);
        add_count(day, DAY_HOUR_ADD, minute / 60, kind, e->value);
    }
    for (size_t i = 0; i < day->caller_hours.size; i++) {
        const struct index_map_entry *e = &day->caller_hours.entries[i];
        if (e->used)
            add_count(day, DAY_CALLER_HOUR_ADD, (int64_t)(e->key >> 48),
                      (int64_t)(e->key & UINT64_C(0xffffffffffff)), e->value);
    }
    for (size_t i = 0; i < day->kind_count; i++) {
        index_kind *kind = &day->list[i];
        if (!kind->count)
            continue;
        sqlite3_stmt *statement = mishap_index_ask(&day->db, DAY_KIND_COUNT);
        mishap_index_bind(statement, 1, kind->number);
        mishap_index_bind(statement, 2, kind->count);
        mishap_index_bind(statement, 3, kind->first_ms);
        mishap_index_bind(statement, 4, kind->last_ms);
        mishap_index_do(&day->db, statement);
        kind->count = 0;
    }
    mishap_index_map_clear(&day->minutes);
    mishap_index_map_clear(&day->caller_hours);
}

void mishap_index_day_commit(index_day *day)
{
    if (!day->begun)
        return;
    put_counts(day);
    mishap_index_run(&day->db, "COMMIT");
    if (day->db.trouble)
        return; /* the caller rolls back */
    day->begun = false;
    if (day->callers.count > MOST_REMEMBERED)
        mishap_index_map_clear(&day->callers);
    if (day->likes.count > MOST_REMEMBERED)
        mishap_index_map_clear(&day->likes);
    if (day->newest.count > MOST_REMEMBERED)
        mishap_index_map_clear(&day->newest);
}

void mishap_index_day_roll_back(index_day *day)
{
    if (day->begun && day->db.handle)
        mishap_index_sqlite.exec(day->db.handle, "ROLLBACK", NULL, NULL, NULL);
    day->begun = false;
    forget_numbers(day);
}

/* -- numbers ----------------------------------------------------------------------------------- */

static uint64_t hash_name(uint64_t hash, mishap_text name)
{
    static const mishap_text there = MISHAP_TEXT("\x01"), absent = MISHAP_TEXT("\x02");
    return mishap_text_hash_on(mishap_text_hash_on(hash, name.data ? there : absent), name);
}

static uint64_t hash_kind(const index_record *record, uint64_t group)
{
    uint64_t hash = mishap_text_hash((mishap_text){ (const char *)&group, sizeof group });
    hash = hash_name(hash, record->operation);
    hash = hash_name(hash, record->code);
    hash = hash_name(hash, record->category);
    hash = hash_name(hash, record->service);
    return hash_name(hash, record->boundary);
}

static int64_t make_kind(index_day *day, const index_record *record, uint64_t group, uint64_t hash)
{
    int64_t number = 0;
    sqlite3_stmt *statement = mishap_index_ask(&day->db, DAY_KIND_FIND);
    mishap_index_bind(statement, 1, (int64_t)hash);
    if (mishap_index_row(&day->db, statement))
        number = mishap_index_number(statement, 0);
    mishap_index_do(&day->db, statement);
    if (number)
        return number;
    statement = mishap_index_ask(&day->db, DAY_KIND_ADD);
    mishap_index_bind(statement, 1, (int64_t)hash);
    mishap_index_bind(statement, 2, (int64_t)group);
    mishap_index_bind_text(statement, 3, record->operation);
    mishap_index_bind_text(statement, 4, record->code);
    mishap_index_bind_text(statement, 5, record->category);
    mishap_index_bind_text(statement, 6, record->service);
    mishap_index_bind_text(statement, 7, record->boundary);
    mishap_index_bind(statement, 8, mishap_index_ms(record->items[0].id));
    if (mishap_index_row(&day->db, statement))
        number = mishap_index_number(statement, 0);
    mishap_index_do(&day->db, statement);
    return number;
}

static bool grow_list(index_day *day)
{
    size_t room = day->kind_room ? 2 * day->kind_room : 64;
    if (day->kind_count < day->kind_room)
        return true;
    index_kind *list = mishap_resize(day->list, room * sizeof *list);
    if (!list)
        return false;
    day->list = list;
    day->kind_room = room;
    return true;
}

/* The place in `list`, + 1. */
int64_t mishap_index_day_kind(index_day *day, const index_record *record, uint64_t group)
{
    static const index_record any = { .status = 0 };
    index_record other = any;
    uint64_t hash = hash_kind(record, group);
    int64_t *at = mishap_index_map_at(&day->kinds, hash, false);
    if (at && *at)
        return *at;
    if (day->kind_count >= INDEX_KINDS) {
        other.items = record->items;
        record = &other;
        group = 0;
        hash = hash_kind(record, group);
        at = mishap_index_map_at(&day->kinds, hash, false);
        if (at && *at)
            return *at;
    }
    at = mishap_index_map_at(&day->kinds, hash, true);
    if (!at || !grow_list(day)) {
        day->db.trouble = day->db.trouble ? day->db.trouble : INDEX_NO_MEMORY;
        return 0;
    }
    int64_t number = make_kind(day, record, group, hash);
    if (!number)
        return 0;
    day->list[day->kind_count] = (index_kind){ .number = number, .group = group };
    return *at = (int64_t)++day->kind_count;
}

/* A number by a key that is unique: remembered, found, or added. */
static int64_t number_of(index_day *day, index_map *map, uint64_t hash, int find, int add,
                         void (*bind)(sqlite3_stmt *, const void *), const void *what)
{
    int64_t *at = mishap_index_map_at(map, hash, false), number = at ? *at : 0;
    const int tries[] = { find, add };
    for (size_t i = 0; i < 2 && !number && !day->db.trouble; i++) {
        sqlite3_stmt *statement = mishap_index_ask(&day->db, tries[i]);
        if (statement)
            bind(statement, what);
        if (mishap_index_row(&day->db, statement))
            number = mishap_index_number(statement, 0);
        mishap_index_do(&day->db, statement);
    }
    if (number && !at && (at = mishap_index_map_at(map, hash, true)))
        *at = number;
    return number;
}

static void bind_name(sqlite3_stmt *statement, const void *name)
{
    mishap_index_bind_text(statement, 1, *(const mishap_text *)name);
}

static void bind_id(sqlite3_stmt *statement, const void *id)
{
    mishap_index_bind_blob(statement, 1, id, INDEX_ID);
}

int64_t mishap_index_day_caller(index_day *day, mishap_text name)
{
    if (!name.data)
        return 0;
    return number_of(day, &day->callers, mishap_hash(day->secret, name), DAY_CALLER_FIND,
                     DAY_CALLER_ADD, bind_name, &name);
}

int64_t mishap_index_day_like(index_day *day, const unsigned char id[INDEX_ID])
{
    mishap_text bytes = { (const char *)id, INDEX_ID };
    return number_of(day, &day->likes, mishap_hash(day->secret, bytes), DAY_LIKE_FIND, DAY_LIKE_ADD,
                     bind_id, id);
}
