/* Counts of failures over time, from the files of days. */
#include "index/inside.h"

enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

struct stats {
    index_stats *counts;
    index_stats_span span;
    int64_t day;
    bool failed; /* no memory */
};

static bool fits(mishap_text wanted, mishap_text value)
{
    return !wanted.length || mishap_text_equal(wanted, value);
}

/* A kind of the file, as what is counted for it. */
struct of_kind {
    int64_t category;
    int64_t total;
};

/* The totals of each kind are collected first: names are looked up once a kind, not once a row. */
static void count_rows(struct stats *s, index_db *db, index_map *kinds, struct of_kind *list)
{
    const index_stats_span *span = &s->span;
    bool by_hour = span->step_s >= HOUR;
    int64_t unit = by_hour ? HOUR : MINUTE, begin = s->day * DAY;
    int64_t first = span->from_s > begin ? (span->from_s - begin) / unit : 0;
    int64_t last = span->to_s < begin + DAY ? (span->to_s - begin) / unit : DAY / unit;
    sqlite3_stmt *row = mishap_index_ask(db, by_hour ? DAY_HOURS : DAY_MINUTES);
    mishap_index_bind(row, 1, first);
    mishap_index_bind(row, 2, last);
    while (mishap_index_row(db, row)) {
        int64_t *at = mishap_index_map_at(kinds, (uint64_t)mishap_index_number(row, 1), false);
        int64_t when = begin + mishap_index_number(row, 0) * unit;
        int64_t count = mishap_index_number(row, 2);
        if (!at || !*at || when < span->from_s || when >= span->to_s)
            continue;
        list[*at - 1].total += count;
        mishap_index_stats_add(s->counts, list[*at - 1].category, when, count);
    }
}

static size_t read_kinds(struct stats *s, index_db *db, index_map *kinds, struct of_kind **list)
{
    size_t count = 0, room = 0;
    sqlite3_stmt *row = mishap_index_ask(db, DAY_KINDS_ALL);
    while (!s->failed && mishap_index_row(db, row)) {
        mishap_text category = mishap_index_text(row, 4);
        if (!fits(s->span.operation, mishap_index_text(row, 2)) ||
            !fits(s->span.code, mishap_index_text(row, 3)) || !fits(s->span.category, category))
            continue;
        if (count == room) {
            room = room ? 2 * room : 64;
            struct of_kind *more = mishap_resize(*list, room * sizeof *more);
            s->failed = !more;
            *list = more ? more : *list;
        }
        int64_t *at = mishap_index_map_at(kinds, (uint64_t)mishap_index_number(row, 0), true);
        s->failed = s->failed || !at;
        if (s->failed)
            break;
        (*list)[count] = (struct of_kind){ mishap_index_stats_category(s->counts, category), 0 };
        *at = (int64_t)++count;
    }
    if (row)
        mishap_index_sqlite.reset(row);
    return count;
}

static void count_names(struct stats *s, index_db *db, index_map *kinds, const struct of_kind *list)
{
    sqlite3_stmt *row = mishap_index_ask(db, DAY_KINDS_ALL);
    while (mishap_index_row(db, row)) {
        int64_t *at = mishap_index_map_at(kinds, (uint64_t)mishap_index_number(row, 0), false);
        int64_t total = at && *at ? list[*at - 1].total : 0;
        if (!total)
            continue;
        mishap_index_stats_add_names(s->counts, mishap_index_text(row, 2),
                                     mishap_index_text(row, 3), total);
    }
}

static void count_callers(struct stats *s, index_db *db)
{
    int64_t begin = s->day * DAY;
    if (s->span.code.length || s->span.category.length || s->span.operation.length)
        return;
    sqlite3_stmt *row = mishap_index_ask(db, DAY_CALLER_HOURS);
    mishap_index_bind(row, 1, s->span.from_s > begin ? (s->span.from_s - begin) / HOUR : 0);
    mishap_index_bind(row, 2,
                      s->span.to_s < begin + DAY ? (s->span.to_s - begin + HOUR - 1) / HOUR : 24);
    while (mishap_index_row(db, row))
        mishap_index_stats_add_caller(s->counts, mishap_index_text(row, 0),
                                      mishap_index_number(row, 1));
}

static void ask_for_stats(mishap_index *index, index_view **views, size_t count, void *context,
                          mishap_buffer *json)
{
    struct stats *s = context;
    (void)index, (void)json;
    for (size_t i = 0; i < count && !s->failed; i++) {
        index_map kinds = { 0 };
        struct of_kind *list = NULL;
        index_db *db = &views[i]->db;
        if (read_kinds(s, db, &kinds, &list)) {
            count_rows(s, db, &kinds, list);
            count_names(s, db, &kinds, list);
        }
        count_callers(s, db);
        mishap_index_map_free(&kinds);
        mishap_release(list);
    }
}

mishap *mishap_index_sqlite_stats(mishap_index *index, const mishap_index_span *span,
                                  mishap_buffer *json)
{
    struct stats s = { 0 };
    mishap_buffer none = { 0 };
    int64_t *days = NULL;
    size_t count = 0;
    mishap *failure = mishap_index_stats_begin(index, span, &s.counts);
    if (!failure) {
        s.span = mishap_index_stats_span(s.counts);
        count = mishap_index_days(index, s.span.from_s / DAY, (s.span.to_s - 1) / DAY, &days);
    }
    for (size_t i = 0; i < count && !failure; i++) {
        s.day = days[i];
        failure = mishap_index_query(index, days[i], ask_for_stats, &s, &none);
    }
    if (!failure && s.failed)
        failure = mishap_out_of_memory();
    mishap_release(days);
    mishap_buffer_release(&none);
    return mishap_index_stats_end(s.counts, failure, json);
}
