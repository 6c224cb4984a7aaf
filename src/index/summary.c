/* Groups of failures: a page of them, one of them, and decisions about them. */
#include "index/inside.h"

enum { HOURS = INDEX_HOURS, DEFAULT_GROUPS = 50 };

/* A group of the page, and its counts. */
struct tally {
    uint64_t group;
    int64_t count;
    int64_t trend[HOURS];
    int64_t days_count; /* of the day that is asked now */
};

struct page {
    struct tally *tallies;
    size_t count;
    index_map places;   /* group → place + 1 */
    int64_t first_hour; /* of the trend, since 1970 */
    bool failed;
};

/* -- counting ---------------------------------------------------------------------------------- */

static struct tally *find_tally(struct page *page, uint64_t group)
{
    int64_t *at = mishap_index_map_at(&page->places, group, false);
    return at && *at ? &page->tallies[*at - 1] : NULL;
}

static void count_view(struct page *page, index_view *view)
{
    index_map kinds = { 0 };
    sqlite3_stmt *statement = mishap_index_ask(&view->db, DAY_KINDS_ALL);
    while (mishap_index_row(&view->db, statement)) {
        struct tally *tally = find_tally(page, (uint64_t)mishap_index_number(statement, 1));
        if (!tally)
            continue;
        tally->days_count += mishap_index_number(statement, 5);
        int64_t *at = mishap_index_map_at(&kinds, (uint64_t)mishap_index_number(statement, 0),
                                          true);
        page->failed = page->failed || !at;
        if (at)
            *at = tally - page->tallies + 1;
    }
    int64_t begin = view->day * HOURS, from = page->first_hour - begin;
    if (from < HOURS && from > -HOURS) {
        statement = mishap_index_ask(&view->db, DAY_HOURS);
        mishap_index_bind(statement, 1, from);
        mishap_index_bind(statement, 2, from + HOURS);
        while (mishap_index_row(&view->db, statement)) {
            int64_t *at = mishap_index_map_at(&kinds, (uint64_t)mishap_index_number(statement, 1),
                                              false);
            int64_t slot = mishap_index_number(statement, 0) - from;
            if (at && *at && slot >= 0 && slot < HOURS)
                page->tallies[*at - 1].trend[slot] += mishap_index_number(statement, 2);
        }
    }
    mishap_index_map_free(&kinds);
}

static void ask_for_counts(mishap_index *index, index_view **views, size_t count, void *context,
                           mishap_buffer *json)
{
    struct page *page = context;
    (void)index, (void)json;
    for (size_t i = 0; i < page->count; i++)
        page->tallies[i].days_count = 0;
    for (size_t i = 0; i < count; i++)
        count_view(page, views[i]);
}

/* With `days` the counts of each day are written, for the first group of the page. */
static mishap *count_page(mishap_index *index, struct page *page, mishap_buffer *days)
{
    mishap_buffer none = { 0 };
    int64_t *all = NULL;
    mishap *failure = NULL;
    page->first_hour = mishap_index_now(index) / 3600000 - (HOURS - 1);
    for (size_t i = 0; i < page->count; i++) {
        int64_t *at = mishap_index_map_at(&page->places, page->tallies[i].group, true);
        page->failed = page->failed || !at;
        if (at)
            *at = (int64_t)i + 1;
    }
    size_t count = page->count ? mishap_index_days(index, 0, INT64_MAX, &all) : 0;
    for (size_t d = 0; d < count && !failure; d++) {
        failure = mishap_index_query(index, all[d], ask_for_counts, page, &none);
        for (size_t i = 0; i < page->count; i++)
            page->tallies[i].count += page->tallies[i].days_count;
        if (!days || !page->tallies[0].days_count)
            continue;
        mishap_index_put_day(days, all[d], page->tallies[0].days_count);
    }
    mishap_release(all);
    mishap_buffer_release(&none);
    return failure ? failure : page->failed ? mishap_out_of_memory() : NULL;
}

static void release_page(struct page *page)
{
    mishap_release(page->tallies);
    mishap_index_map_free(&page->places);
}

/* -- writing ----------------------------------------------------------------------------------- */

static void put_group(mishap_index *index, sqlite3_stmt *row, const struct tally *tally,
                      mishap_buffer *json)
{
    index_group_row group = { .group = tally->group,
                              .operation = mishap_index_text(row, 1),
                              .service = mishap_index_text(row, 11),
                              .code = mishap_index_text(row, 2),
                              .category = mishap_index_text(row, 3),
                              .message = mishap_index_text(row, 4),
                              .place = mishap_index_text(row, 5),
                              .first_ms = mishap_index_number(row, 6),
                              .last_ms = mishap_index_number(row, 7),
                              .state = mishap_index_number(row, 8),
                              .count = tally->count };
    memcpy(group.trend, tally->trend, sizeof group.trend);
    group.has_newest = mishap_index_blob(row, 10, group.newest, INDEX_ID);
    mishap_index_put_group(index, &group, json);
}

/* The caller ends the statement (mishap_index_do()): until then this process would see nothing that
 * others change. */
static bool ask_group(index_db *db, uint64_t group, sqlite3_stmt **row)
{
    *row = mishap_index_ask(db, GROUPS_ONE);
    mishap_index_bind(*row, 1, (int64_t)group);
    return mishap_index_row(db, *row);
}

/* -- a page ------------------------------------------------------------------------------------ */

static bool fits(mishap_text wanted, sqlite3_stmt *row, int column)
{
    return !wanted.length || mishap_text_equal(wanted, mishap_index_text(row, column));
}

static bool fits_group(mishap_index *index, const mishap_index_groups_filter *f, sqlite3_stmt *row)
{
    mishap_group_state state = mishap_index_shown_state(index, mishap_index_number(row, 8),
                                                        mishap_index_number(row, 6));
    return (!f->states || f->states >> state & 1) && fits(f->operation, row, 1) &&
           fits(f->code, row, 2) && fits(f->category, row, 3) && fits(f->service, row, 11) &&
           !mishap_index_leaves_out(f->not_operation, mishap_index_text(row, 1));
}

/* Which groups are on the page; `next` is where the next one begins, "" if there is none. */
static mishap *choose_groups(mishap_index *index, index_db *db,
                             const mishap_index_groups_filter *filter, struct page *page,
                             char next[INDEX_CURSOR])
{
    int64_t last, group;
    size_t limit = filter->limit ? filter->limit : DEFAULT_GROUPS;
    if (limit > MISHAP_INDEX_MOST_ROWS)
        limit = MISHAP_INDEX_MOST_ROWS;
    next[0] = '\0';
    if (!mishap_index_groups_cursor_read(filter->cursor, &last, &group))
        return mishap_index_refuse("cursor", "`next` of another page");
    page->tallies = mishap_allocate(limit * sizeof *page->tallies);
    if (!page->tallies)
        return mishap_out_of_memory();
    sqlite3_stmt *row = db ? mishap_index_ask(db, GROUPS_PAGE) : NULL;
    mishap_index_bind(row, 1, last);
    mishap_index_bind(row, 2, group);
    while (row && mishap_index_row(db, row)) {
        if (!fits_group(index, filter, row))
            continue;
        if (page->count == limit) {
            mishap_index_groups_cursor_write(last, group, next);
            break;
        }
        group = mishap_index_number(row, 0);
        last = mishap_index_number(row, 7);
        page->tallies[page->count++] = (struct tally){ .group = (uint64_t)group };
    }
    if (row)
        mishap_index_sqlite.reset(row);
    return db ? mishap_index_db_failure(db) : NULL;
}

mishap *mishap_index_sqlite_groups(mishap_index *index, const mishap_index_groups_filter *filter,
                                   mishap_buffer *json)
{
    struct page page = { 0 };
    index_db *db = NULL;
    char next[INDEX_CURSOR];
    mishap *failure = mishap_index_questions(index, &db);
    if (!failure)
        failure = choose_groups(index, db, filter, &page, next);
    if (!failure)
        failure = count_page(index, &page, NULL);
    if (!failure) {
        sqlite3_stmt *row;
        mishap_json_open(json, '{');
        MISHAP_JSON_KEY(json, "groups");
        mishap_json_open(json, '[');
        for (size_t i = 0; i < page.count; i++)
            if (ask_group(db, page.tallies[i].group, &row)) {
                mishap_json_open(json, '{');
                put_group(index, row, &page.tallies[i], json);
                mishap_index_do(db, row);
                mishap_json_close(json, '}');
            }
        mishap_json_close(json, ']');
        mishap_index_put_next(json, next);
        mishap_json_close(json, '}');
    }
    release_page(&page);
    return failure ? failure : json->failed ? mishap_out_of_memory() : NULL;
}

/* -- one group --------------------------------------------------------------------------------- */

static void put_history(index_db *db, uint64_t group, mishap_buffer *json)
{
    sqlite3_stmt *row = mishap_index_ask(db, GROUPS_HISTORY);
    mishap_index_bind(row, 1, (int64_t)group);
    MISHAP_JSON_KEY(json, "history");
    mishap_json_open(json, '[');
    while (mishap_index_row(db, row))
        mishap_index_put_history(json, mishap_index_number(row, 0), mishap_index_number(row, 1));
    mishap_json_close(json, ']');
}

mishap *mishap_index_sqlite_group(mishap_index *index, mishap_text group, mishap_buffer *json)
{
    struct tally tally = { 0 };
    struct page page = { .tallies = &tally, .count = 1 };
    mishap_buffer days = { 0 };
    index_db *db = NULL;
    sqlite3_stmt *row = NULL;
    if (!mishap_index_group_read(group, &tally.group))
        return mishap_index_refuse("group", "16 hexadecimal digits");
    mishap *failure = mishap_index_questions(index, &db);
    if (!failure && (!db || !ask_group(db, tally.group, &row)))
        failure = db && db->trouble ? mishap_index_db_failure(db) : mishap_index_no_group(group);
    if (!failure)
        mishap_index_do(db, row);
    mishap_json_open(&days, '[');
    if (!failure)
        failure = count_page(index, &page, &days);
    mishap_json_close(&days, ']');
    if (!failure && ask_group(db, tally.group, &row)) {
        mishap_json_open(json, '{');
        put_group(index, row, &tally, json);
        mishap_index_do(db, row);
        MISHAP_JSON_KEY(json, "days");
        mishap_buffer_put_text(json, mishap_buffer_text(&days));
        put_history(db, tally.group, json);
        mishap_json_close(json, '}');
    }
    mishap_index_map_free(&page.places);
    bool lacks = json->failed || days.failed;
    mishap_buffer_release(&days);
    return failure ? failure : lacks ? mishap_out_of_memory() : NULL;
}

static mishap *decide(mishap_index *index, mishap_text group, mishap_group_state state, bool undo)
{
    uint64_t key;
    index_db *db = NULL;
    if (!mishap_index_group_read(group, &key))
        return mishap_index_refuse("group", "16 hexadecimal digits");
    mishap *failure = mishap_index_questions(index, &db);
    if (failure)
        return failure;
    if (db && (undo ? mishap_index_groups_undo(db, key, state)
                    : mishap_index_groups_decide(db, key, state, mishap_index_now(index))))
        return NULL;
    return db && db->trouble ? mishap_index_db_failure(db) : mishap_index_no_group(group);
}

mishap *mishap_index_sqlite_group_set(mishap_index *index, mishap_text group,
                                      mishap_group_state state)
{
    return decide(index, group, state, false);
}

mishap *mishap_index_sqlite_group_undo(mishap_index *index, mishap_text group,
                                       mishap_group_state state)
{
    return decide(index, group, state, true);
}
