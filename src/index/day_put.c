/*
 * Rows into the file of a day.
 *
 * A line of the journal may come twice: after a crash of this process, or of the one that wrote it,
 * which may then have put the ids of compact records into other lines. So what is in the file
 * already is skipped: a whole record by its key, an item of a compact line by its id. Counts change
 * in the same transaction as rows, and only by what was new.
 */
#include "index/inside.h"

enum { KEY_TRIES = 64 };

static const int64_t span = (int64_t)INDEX_SPAN_MS << INDEX_KEY_BITS;

static void count_items(index_day *day, int64_t kind, int64_t caller, const index_item *items,
                        size_t count)
{
    index_kind *k = &day->list[kind - 1];
    for (size_t i = 0; i < count; i++) {
        int64_t ms = mishap_index_ms(items[i].id);
        int64_t of_day = ms % INDEX_DAY_MS;
        uint64_t minute = (uint64_t)(of_day / 60000), hour = (uint64_t)(of_day / 3600000);
        int64_t *at = mishap_index_map_at(&day->minutes, minute << 32 | (uint64_t)k->number, true);
        int64_t *by = caller ? mishap_index_map_at(&day->caller_hours,
                                                   hour << 48 | (uint64_t)caller, true)
                             : NULL;
        if (!at || (caller && !by)) {
            day->db.trouble = day->db.trouble ? day->db.trouble : INDEX_NO_MEMORY;
            return;
        }
        ++*at;
        if (by)
            ++*by;
        if (!k->count || ms < k->first_ms)
            k->first_ms = ms;
        if (!k->count || ms > k->last_ms)
            k->last_ms = ms;
        k->count++;
    }
}

/* -- whole records ----------------------------------------------------------------------------- */

static bool has_record(index_day *day, int64_t key, mishap_text line)
{
    sqlite3_stmt *statement = mishap_index_ask(&day->db, DAY_WHOLE_RECORD);
    mishap_index_bind(statement, 1, key);
    bool same = mishap_index_row(&day->db, statement) &&
                mishap_text_equal(mishap_index_text(statement, 0), line);
    mishap_index_do(&day->db, statement);
    return same;
}

static bool add_whole(index_day *day, const index_record *record, int64_t key, int64_t kind,
                      int64_t caller)
{
    sqlite3_stmt *statement = mishap_index_ask(&day->db, DAY_WHOLE_ADD);
    mishap_index_bind(statement, 1, key);
    mishap_index_bind_blob(statement, 2, record->items[0].id, INDEX_ID);
    mishap_index_bind(statement, 3, day->list[kind - 1].number);
    mishap_index_bind(statement, 4, caller);
    if (record->status != INT64_MIN)
        mishap_index_bind(statement, 5, record->status);
    if (record->has_us)
        mishap_index_bind(statement, 6, record->items[0].us);
    if (record->has_trace)
        mishap_index_bind_blob(statement, 7, record->trace, sizeof record->trace);
    mishap_index_bind_text(statement, 8, record->message);
    mishap_index_bind_text(statement, 9, record->line);
    mishap_index_do(&day->db, statement);
    return !day->db.trouble && mishap_index_sqlite.changes(day->db.handle) > 0;
}

/* Two records with one id, or with one key, have keys side by side. */
size_t mishap_index_day_put_whole(index_day *day, const index_record *record, uint64_t group)
{
    int64_t key = mishap_index_key(record->items[0].id);
    mishap_index_day_begin(day);
    int64_t kind = mishap_index_day_kind(day, record, group);
    int64_t caller = mishap_index_day_caller(day, record->caller);
    if (day->db.trouble || !kind)
        return 0;
    for (int i = 0; !add_whole(day, record, key, kind, caller); i++, key++)
        if (day->db.trouble || i == KEY_TRIES || has_record(day, key, record->line))
            return 0;
    if (record->message.length) {
        sqlite3_stmt *statement = mishap_index_ask(&day->db, DAY_WORDS_ADD);
        mishap_index_bind(statement, 1, key);
        mishap_index_bind_text(statement, 2, record->message);
        mishap_index_do(&day->db, statement);
    }
    count_items(day, kind, caller, record->items, 1);
    return 1;
}

/* -- compact records --------------------------------------------------------------------------- */

ptrdiff_t mishap_index_ids_find(mishap_text ids, const unsigned char id[INDEX_ID])
{
    size_t low = 0, high = ids.length / INDEX_ID;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(ids.data + middle * INDEX_ID, id, INDEX_ID);
        if (order == 0)
            return (ptrdiff_t)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

/* Items that are in a row already are moved out. The result is how many are left. */
static size_t drop_known(index_item *items, size_t count, mishap_text ids)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (mishap_index_ids_find(ids, items[i].id) < 0)
            items[left++] = items[i];
    return left;
}

/* Rows of this kind and caller whose times overlap. Usually there are none, and that is known
 * without looking. */
static size_t drop_all_known(index_day *day, int64_t kind, int64_t caller, index_item *items,
                             size_t count)
{
    int64_t first = mishap_index_key(items[0].id), last = mishap_index_key(items[count - 1].id);
    uint64_t pair = (uint64_t)caller << 20 ^ (uint64_t)kind;
    int64_t *newest = mishap_index_map_at(&day->newest, pair, true);
    bool later = newest && *newest && first > *newest && first > day->before;
    if (newest && last > *newest)
        *newest = last;
    if (later)
        return count;
    sqlite3_stmt *statement = mishap_index_ask(&day->db, DAY_COMPACT_SAME);
    mishap_index_bind(statement, 1, caller);
    mishap_index_bind(statement, 2, day->list[kind - 1].number);
    mishap_index_bind(statement, 3, first);
    mishap_index_bind(statement, 4, last > INT64_MAX - span ? INT64_MAX : last + span);
    while (count && mishap_index_row(&day->db, statement))
        count = drop_known(items, count, mishap_index_text(statement, 0));
    return count;
}

/* Seven bits a byte, the lowest first. */
static void put_number(mishap_buffer *buffer, uint32_t number)
{
    for (; number > 127; number >>= 7)
        mishap_buffer_put_char(buffer, (char)(number | 128));
    mishap_buffer_put_char(buffer, (char)number);
}

static void add_compact(index_day *day, const index_record *record, int64_t kind, int64_t caller,
                        int64_t like, const index_item *items, size_t count)
{
    mishap_buffer ids = { 0 }, us = { 0 };
    int64_t key = mishap_index_key(items[count - 1].id);
    for (size_t i = 0; i < count; i++) {
        mishap_buffer_put(&ids, (const char *)items[i].id, INDEX_ID);
        put_number(&us, items[i].us);
    }
    if (ids.failed || us.failed)
        day->db.trouble = INDEX_NO_MEMORY;
    for (int i = 0; i < KEY_TRIES && !day->db.trouble; i++) {
        sqlite3_stmt *statement = mishap_index_ask(&day->db, DAY_COMPACT_ADD);
        mishap_index_bind(statement, 1, key + i);
        mishap_index_bind(statement, 2, day->list[kind - 1].number);
        mishap_index_bind(statement, 3, caller);
        if (record->status != INT64_MIN)
            mishap_index_bind(statement, 4, record->status);
        if (like)
            mishap_index_bind(statement, 5, like);
        mishap_index_bind_blob(statement, 6, ids.data, ids.length);
        if (record->has_us)
            mishap_index_bind_blob(statement, 7, us.data, us.length);
        mishap_index_do(&day->db, statement);
        if (!day->db.trouble && mishap_index_sqlite.changes(day->db.handle) > 0)
            break;
    }
    mishap_buffer_release(&ids);
    mishap_buffer_release(&us);
}

size_t mishap_index_day_put_compact(index_day *day, const index_record *record, uint64_t group,
                                    size_t first, size_t last)
{
    size_t total = 0;
    mishap_index_day_begin(day);
    int64_t kind = mishap_index_day_kind(day, record, group);
    int64_t caller = mishap_index_day_caller(day, record->caller);
    int64_t like = record->has_like ? mishap_index_day_like(day, record->like) : 0;
    while (first < last && kind && !day->db.trouble) {
        index_item *items = &record->items[first];
        size_t count = 1;
        while (first + count < last &&
               mishap_index_ms(items[count].id) - mishap_index_ms(items[0].id) < INDEX_SPAN_MS)
            count++;
        first += count;
        count = drop_all_known(day, kind, caller, items, count);
        if (!count || day->db.trouble)
            continue;
        add_compact(day, record, kind, caller, like, items, count);
        count_items(day, kind, caller, items, count);
        total += count;
    }
    return total;
}

/* -- looking up -------------------------------------------------------------------------------- */

bool mishap_index_day_has(index_db *db, const unsigned char id[INDEX_ID])
{
    int64_t key = mishap_index_key(id);
    bool found = false;
    sqlite3_stmt *statement = mishap_index_ask(db, DAY_WHOLE_ROW);
    mishap_index_bind(statement, 1, key);
    if (mishap_index_row(db, statement)) {
        mishap_text stored = mishap_index_text(statement, 0); /* of a damaged file: anything */
        found = stored.length == INDEX_ID && memcmp(stored.data, id, INDEX_ID) == 0;
    }
    mishap_index_do(db, statement);
    statement = found ? NULL : mishap_index_ask(db, DAY_COMPACT_AROUND);
    mishap_index_bind(statement, 1, key);
    mishap_index_bind(statement, 2, key + span + KEY_TRIES);
    while (!found && mishap_index_row(db, statement))
        found = mishap_index_ids_find(mishap_index_text(statement, 1), id) >= 0;
    if (statement)
        mishap_index_sqlite.reset(statement);
    return found;
}
