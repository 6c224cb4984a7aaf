/* Groups of failures: a page of them, one of them, and decisions about them. */
#include "archive/archive.h"

enum { DEFAULT_GROUPS = 50 };

/* Columns of a group (tables.c, GROUP). Texts live as long as the query, so they are kept. */
static void read_group(mishap_query *query, mishap_arena *arena, index_group_row *row)
{
    mishap_text *texts[] = { &row->operation, &row->service, &row->code,
                             &row->category,  &row->message, &row->place };
    *row = (index_group_row){ .group = (uint64_t)mishap_query_integer(query, 0),
                              .first_ms = mishap_query_integer(query, 7),
                              .last_ms = mishap_query_integer(query, 8),
                              .state = mishap_query_integer(query, 9) };
    for (int i = 0; i < 6; i++)
        if (!mishap_query_is_null(query, i + 1))
            *texts[i] = mishap_arena_copy(arena, mishap_query_text(query, i + 1));
    if (!mishap_query_is_null(query, 10))
        row->has_newest = mishap_index_id_read(mishap_query_text(query, 10), row->newest);
}

/* -- counts ------------------------------------------------------------------------------------ */

static mishap *count_groups(archive *a, index_group_row *rows, size_t count)
{
    mishap_query query;
    mishap_buffer keys = { 0 };
    index_map places = { 0 };
    int64_t now = mishap_index_now((mishap_index *)(void *)a);
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        int64_t *at = mishap_index_map_at(&places, rows[i].group, true);
        mishap_archive_put_number(&keys, (int64_t)rows[i].group);
        failed = failed || !at;
        if (at)
            *at = (int64_t)i + 1;
    }
    mishap_query_begin(&query, a->store, ARCHIVE_GROUPS_TREND);
    mishap_query_bind_text(&query, 1, mishap_archive_array(&keys));
    mishap_query_bind_integer(&query, 2, now / 3600000 - (INDEX_HOURS - 1));
    failed = failed || keys.failed;
    while (!failed && mishap_query_step(&query)) {
        int64_t *at = mishap_index_map_at(&places, (uint64_t)mishap_query_integer(&query, 0),
                                          false);
        int64_t slot = mishap_query_integer(&query, 1), counted = mishap_query_integer(&query, 2);
        if (!at || !*at)
            continue;
        rows[*at - 1].count += counted;
        if (slot >= 0 && slot < INDEX_HOURS)
            rows[*at - 1].trend[slot] += counted;
    }
    mishap *failure = mishap_query_end(&query);
    mishap_buffer_release(&keys);
    mishap_index_map_free(&places);
    return failure ? failure : failed ? mishap_out_of_memory() : NULL;
}

/* -- a page ------------------------------------------------------------------------------------ */

struct page {
    index_group_row *rows;
    size_t count, limit;
    mishap_arena arena;
    char next[INDEX_CURSOR];
};

static mishap *choose_groups(archive *a, const mishap_index_groups_filter *filter,
                             struct page *page)
{
    mishap_query query;
    int64_t last, group;
    if (!mishap_index_groups_cursor_read(filter->cursor, &last, &group))
        return mishap_index_refuse("cursor", "`next` of another page");
    mishap_query_begin(&query, a->store, ARCHIVE_GROUPS_PAGE);
    mishap_query_bind_integer(&query, 1, last);
    mishap_query_bind_integer(&query, 2, group);
    mishap_query_bind_integer(&query, 3, filter->states);
    mishap_query_bind_integer(&query, 4, mishap_index_now((mishap_index *)(void *)a));
    mishap_archive_bind_filter(&query, 5, filter->code);
    mishap_archive_bind_filter(&query, 6, filter->category);
    mishap_archive_bind_filter(&query, 7, filter->operation);
    mishap_query_bind_integer(&query, 8, (int64_t)page->limit + 1);
    mishap_archive_bind_filter(&query, 9, filter->service);
    mishap_archive_bind_filter(&query, 10, filter->not_operation);
    while (mishap_query_step(&query)) {
        if (page->count < page->limit) {
            read_group(&query, &page->arena, &page->rows[page->count++]);
            continue;
        }
        const index_group_row *end = &page->rows[page->count - 1];
        mishap_index_groups_cursor_write(end->last_ms, (int64_t)end->group, page->next);
    }
    return mishap_query_end(&query);
}

mishap *mishap_archive_groups_page(mishap_index *index, const mishap_index_groups_filter *filter,
                                   mishap_buffer *json)
{
    archive *a = (archive *)(void *)index;
    struct page page = { .limit = filter->limit ? filter->limit : DEFAULT_GROUPS };
    if (page.limit > MISHAP_INDEX_MOST_ROWS)
        page.limit = MISHAP_INDEX_MOST_ROWS;
    page.rows = mishap_allocate(page.limit * sizeof *page.rows);
    if (!page.rows)
        return mishap_out_of_memory();
    mishap_arena_init(&page.arena, NULL, 0);
    mishap *failure = mishap_archive_connect(a);
    if (!failure)
        failure = choose_groups(a, filter, &page);
    if (!failure && page.count)
        failure = count_groups(a, page.rows, page.count);
    if (!failure) {
        mishap_json_open(json, '{');
        MISHAP_JSON_KEY(json, "groups");
        mishap_json_open(json, '[');
        for (size_t i = 0; i < page.count; i++) {
            mishap_json_open(json, '{');
            mishap_index_put_group(index, &page.rows[i], json);
            mishap_json_close(json, '}');
        }
        mishap_json_close(json, ']');
        mishap_index_put_next(json, page.next);
        mishap_json_close(json, '}');
    }
    mishap_arena_release(&page.arena);
    mishap_release(page.rows);
    return failure ? failure : json->failed ? mishap_out_of_memory() : NULL;
}

/* -- one group --------------------------------------------------------------------------------- */

static mishap *find_group(archive *a, uint64_t key, mishap_arena *arena, index_group_row *row,
                          bool *there)
{
    mishap_query query;
    mishap_query_begin(&query, a->store, ARCHIVE_GROUP_ONE);
    mishap_query_bind_integer(&query, 1, (int64_t)key);
    while (mishap_query_step(&query)) {
        read_group(&query, arena, row);
        *there = true;
    }
    return mishap_query_end(&query);
}

/* Days with their counts, or what was decided when. */
static mishap *put_list(archive *a, size_t statement, uint64_t key,
                        void (*put)(mishap_buffer *, int64_t, int64_t), mishap_buffer *json)
{
    mishap_query query;
    mishap_json_open(json, '[');
    mishap_query_begin(&query, a->store, statement);
    mishap_query_bind_integer(&query, 1, (int64_t)key);
    while (mishap_query_step(&query))
        put(json, mishap_query_integer(&query, 0), mishap_query_integer(&query, 1));
    mishap_json_close(json, ']');
    return mishap_query_end(&query);
}

mishap *mishap_archive_group_one(mishap_index *index, mishap_text group, mishap_buffer *json)
{
    archive *a = (archive *)(void *)index;
    index_group_row row = { 0 };
    mishap_arena arena;
    uint64_t key;
    bool there = false;
    size_t length = json->length;
    if (!mishap_index_group_read(group, &key))
        return mishap_index_refuse("group", "16 hexadecimal digits");
    mishap_arena_init(&arena, NULL, 0);
    mishap *failure = mishap_archive_connect(a);
    if (!failure)
        failure = find_group(a, key, &arena, &row, &there);
    if (!failure && !there)
        failure = mishap_index_no_group(group);
    if (!failure)
        failure = count_groups(a, &row, 1);
    if (!failure) {
        mishap_json_open(json, '{');
        mishap_index_put_group(index, &row, json);
        MISHAP_JSON_KEY(json, "days");
        failure = put_list(a, ARCHIVE_GROUP_DAYS, key, mishap_index_put_day, json);
    }
    if (!failure) {
        MISHAP_JSON_KEY(json, "history");
        failure = put_list(a, ARCHIVE_HISTORY, key, mishap_index_put_history, json);
        mishap_json_close(json, '}');
    }
    if (failure)
        json->length = length;
    mishap_arena_release(&arena);
    return failure ? failure : json->failed ? mishap_out_of_memory() : NULL;
}

/* -- decisions --------------------------------------------------------------------------------- */

struct decision {
    uint64_t key;
    mishap_group_state state;
    int64_t now_ms;
    bool undo; /* that one */
    bool known;
};

static mishap *run_decision(mishap_store *store, size_t statement, const struct decision *decision)
{
    mishap_query query;
    mishap_query_begin(&query, store, statement);
    mishap_query_bind_integer(&query, 1, (int64_t)decision->key);
    mishap_query_bind_integer(&query, 2, (int64_t)decision->state);
    mishap_query_bind_integer(&query, 3, decision->now_ms);
    mishap_query_step(&query);
    return mishap_query_end(&query);
}

/* The same once more is no further decision; what was not decided last cannot be taken back. */
static bool counts(const struct decision *decision, int64_t now)
{
    if (!decision->undo)
        return now != (int64_t)decision->state;
    return now == (int64_t)decision->state ||
           (decision->state == MISHAP_GROUP_RESOLVED && now == MISHAP_GROUP_REGRESSED);
}

static mishap *decide(mishap_store *store, void *state)
{
    struct decision *decision = state;
    mishap_query query;
    int64_t now = -1;
    decision->known = false;
    mishap_query_begin(&query, store, ARCHIVE_GROUP_STATE);
    mishap_query_bind_integer(&query, 1, (int64_t)decision->key);
    while (mishap_query_step(&query)) {
        decision->known = true;
        now = mishap_query_integer(&query, 0);
    }
    mishap *failure = mishap_query_end(&query);
    if (failure || !decision->known || !counts(decision, now))
        return failure;
    failure = run_decision(store, decision->undo ? ARCHIVE_GROUP_UNDO : ARCHIVE_GROUP_SET,
                           decision);
    if (failure)
        return failure;
    return run_decision(store, decision->undo ? ARCHIVE_GROUP_RESTORE : ARCHIVE_HISTORY_ADD,
                        decision);
}

static mishap *transact_decision(mishap_index *index, mishap_text group, mishap_group_state state,
                                 bool undo)
{
    archive *a = (archive *)(void *)index;
    struct decision decision = { .state = state, .now_ms = mishap_index_now(index), .undo = undo };
    mishap_transaction transaction = { .work = decide, .state = &decision };
    if (!mishap_index_group_read(group, &decision.key))
        return mishap_index_refuse("group", "16 hexadecimal digits");
    mishap *failure = mishap_archive_connect(a);
    if (!failure)
        failure = mishap_store_transact(a->store, &transaction);
    return failure || decision.known ? failure : mishap_index_no_group(group);
}

mishap *mishap_archive_group_set(mishap_index *index, mishap_text group, mishap_group_state state)
{
    return transact_decision(index, group, state, false);
}

mishap *mishap_archive_group_undo(mishap_index *index, mishap_text group, mishap_group_state state)
{
    return transact_decision(index, group, state, true);
}
