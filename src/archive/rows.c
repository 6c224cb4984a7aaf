/*
 * Lists, newest first, and one incident by its id.
 *
 * Ids are UUIDs of version 7, which PostgreSQL orders by their time; so a page begins below the id
 * with which the page before has ended. Days are asked one after the other, newest first: then a
 * page reads few partitions. The most selective filter chooses the statement, and with it the index
 * of the table.
 */
#include <stdio.h>
#include <stdlib.h>

#include "archive/archive.h"
#include "base/hex.h"

enum { ANY_ID = 2 * INDEX_ID };

static const char last_id[] = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/* Columns of a row (tables.c, ROW). */
enum {
    ROW_ID,
    ROW_OPERATION,
    ROW_BOUNDARY,
    ROW_SERVICE,
    ROW_CALLER,
    ROW_CODE,
    ROW_CATEGORY,
    ROW_MESSAGE,
    ROW_GROUP,
    ROW_STATUS,
    ROW_US,
    ROW_LIKE,
    ROW_TRACE,
    ROW_WHOLE,
    ROW_HOST,
    ROW_RECORD,
};

static void read_row(mishap_query *query, index_row *row)
{
    *row = (index_row){ .operation = mishap_query_text(query, ROW_OPERATION),
                        .boundary = mishap_query_text(query, ROW_BOUNDARY),
                        .service = mishap_query_text(query, ROW_SERVICE),
                        .caller = mishap_query_text(query, ROW_CALLER),
                        .code = mishap_query_text(query, ROW_CODE),
                        .category = mishap_query_text(query, ROW_CATEGORY),
                        .message = mishap_query_text(query, ROW_MESSAGE),
                        .group = (uint64_t)mishap_query_integer(query, ROW_GROUP),
                        .status = INT64_MIN,
                        .us = -1,
                        .whole = mishap_query_boolean(query, ROW_WHOLE),
                        .server = mishap_query_text(query, ROW_HOST) };
    mishap_index_id_read(mishap_query_text(query, ROW_ID), row->id);
    if (!mishap_query_is_null(query, ROW_STATUS))
        row->status = mishap_query_integer(query, ROW_STATUS);
    if (!mishap_query_is_null(query, ROW_US))
        row->us = mishap_query_integer(query, ROW_US);
    if (!mishap_query_is_null(query, ROW_LIKE))
        row->has_like = mishap_index_id_read(mishap_query_text(query, ROW_LIKE), row->like);
}

static void put_record(mishap_query *query, mishap_buffer *json)
{
    mishap_json_comma(json);
    mishap_buffer_put_text(json, mishap_query_text(query, ROW_RECORD));
}

/* -- filters ----------------------------------------------------------------------------------- */

/* What one list looks for. */
struct search {
    const mishap_index_filter *filter;
    const unsigned char *not_id;
    size_t limit, taken;
    uint64_t group;
    size_t statement;
    mishap_buffer words;
    char before[MISHAP_ID_LENGTH + 1], from[MISHAP_ID_LENGTH + 1]; /* ids */
    unsigned char last[INDEX_ID];
    bool cut; /* there may be more */
};

/* The first id of a time. */
static void id_of_ms(int64_t ms, char text[MISHAP_ID_LENGTH + 1])
{
    unsigned char id[INDEX_ID] = { 0 };
    for (int i = 0; i < 6; i++)
        id[i] = (unsigned char)((uint64_t)ms >> (40 - 8 * i));
    mishap_index_id_write(id, text);
}

/* `next` is the last id of a page, without hyphens. */
static bool read_cursor(mishap_text cursor, char before[MISHAP_ID_LENGTH + 1])
{
    unsigned char id[INDEX_ID];
    if (cursor.length != ANY_ID || !mishap_index_id_read(cursor, id))
        return false;
    mishap_index_id_write(id, before);
    return true;
}

static void choose_statement(struct search *s)
{
    const mishap_index_filter *f = s->filter;
    if (f->trace.length)
        s->statement = ARCHIVE_LIST_TRACE;
    else if (f->text.length)
        s->statement = ARCHIVE_LIST_WORDS;
    else if (f->caller.length)
        s->statement = ARCHIVE_LIST_CALLER;
    else if (f->code.length || f->category.length || f->operation.length || f->group.length ||
             f->boundary.length || f->service.length)
        s->statement = ARCHIVE_LIST_KINDS;
    else
        s->statement = ARCHIVE_LIST;
}

static mishap *read_filter(struct search *s)
{
    const mishap_index_filter *f = s->filter;
    unsigned char trace[16];
    mishap *failure = mishap_index_read_filter(f, &s->limit, &s->group, trace);
    if (failure)
        return failure;
    mishap_archive_put_question(&s->words, f->text);
    if (s->words.failed)
        return mishap_out_of_memory();
    if (f->text.length && !s->words.length)
        return mishap_index_refuse("text", "at least one word");
    memcpy(s->before, last_id, sizeof last_id);
    if (f->to_ms > 0)
        id_of_ms(f->to_ms, s->before);
    id_of_ms(f->from_ms > 0 ? f->from_ms : 0, s->from);
    choose_statement(s);
    if (!f->cursor.length)
        return NULL;
    char cursor[MISHAP_ID_LENGTH + 1];
    if (!read_cursor(f->cursor, cursor))
        return mishap_index_refuse("cursor", "`next` of another page");
    if (strcmp(cursor, s->before) < 0)
        memcpy(s->before, cursor, sizeof cursor);
    return NULL;
}

/* -- lists ------------------------------------------------------------------------------------- */

static void bind_search(struct search *s, mishap_query *query, int64_t day)
{
    const mishap_index_filter *f = s->filter;
    size_t left = s->limit - s->taken;
    mishap_query_bind_integer(query, 1, day * ARCHIVE_PARTS);
    mishap_query_bind_integer(query, 2, (day + 1) * ARCHIVE_PARTS);
    mishap_query_bind_text(query, 3, mishap_text_of(s->before));
    mishap_query_bind_text(query, 4, mishap_text_of(s->from));
    /* One more tells whether there is a next page, and another one may be left out. */
    mishap_query_bind_integer(query, 5, (int64_t)left + 2);
    mishap_query_bind_boolean(query, 6, f->records);
    mishap_archive_bind_filter(query, 7, f->code);
    mishap_archive_bind_filter(query, 8, f->category);
    mishap_archive_bind_filter(query, 9, f->operation);
    if (f->group.length)
        mishap_query_bind_integer(query, 10, (int64_t)s->group);
    if (s->statement == ARCHIVE_LIST_KINDS)
        mishap_query_bind_integer(query, 11, day * INDEX_DAY_MS);
    else
        mishap_archive_bind_filter(query, 11, f->caller);
    mishap_archive_bind_filter(query, 12, mishap_buffer_text(&s->words));
    mishap_archive_bind_filter(query, 13, f->trace);
    mishap_archive_bind_filter(query, 14, f->boundary);
    mishap_archive_bind_filter(query, 15, f->service);
    mishap_archive_bind_filter(query, 16, f->not_operation);
    if (f->status)
        mishap_query_bind_integer(query, 17, f->status);
}

static mishap *ask_day(archive *a, struct search *s, int64_t day, mishap_buffer *json)
{
    mishap_query query;
    index_row row;
    mishap_query_begin(&query, a->store, s->statement);
    bind_search(s, &query, day);
    while (mishap_query_step(&query)) {
        read_row(&query, &row);
        if (s->not_id && memcmp(row.id, s->not_id, INDEX_ID) == 0)
            continue;
        if (s->taken == s->limit) {
            s->cut = true;
            continue;
        }
        if (s->filter->records && row.whole)
            put_record(&query, json);
        else
            mishap_index_put_row(&row, json);
        memcpy(s->last, row.id, INDEX_ID);
        s->taken++;
    }
    return mishap_query_end(&query);
}

/* The days that are kept, newest first, released by the caller. */
static mishap *list_days(archive *a, int64_t first, int64_t last, int64_t **out, size_t *count)
{
    mishap_query query;
    size_t room = 0;
    bool failed = false;
    *out = NULL;
    *count = 0;
    mishap_query_begin(&query, a->store, ARCHIVE_DAYS_ALL);
    mishap_query_bind_integer(&query, 1, first);
    mishap_query_bind_integer(&query, 2, last);
    while (mishap_query_step(&query)) {
        if (*count == room && !failed) {
            room = room ? 2 * room : 64;
            int64_t *days = mishap_resize(*out, room * sizeof *days);
            failed = !days;
            *out = days ? days : *out;
        }
        if (!failed)
            (*out)[(*count)++] = mishap_query_integer(&query, 0);
    }
    mishap *failure = mishap_query_end(&query);
    return failure ? failure : failed ? mishap_out_of_memory() : NULL;
}

static int64_t day_of(const char *id)
{
    unsigned char bytes[INDEX_ID] = { 0 };
    char digits[13];
    snprintf(digits, sizeof digits, "%.8s%.4s", id, id + 9);
    mishap_hex_read(digits, bytes, 6);
    return mishap_index_ms(bytes) / INDEX_DAY_MS;
}

mishap *mishap_archive_rows(mishap_index *index, const mishap_index_filter *filter,
                            const unsigned char *not_id, mishap_buffer *json,
                            char next[INDEX_CURSOR])
{
    archive *a = (archive *)(void *)index;
    struct search s = { .filter = filter, .not_id = not_id };
    int64_t *days = NULL;
    size_t count = 0;
    next[0] = '\0';
    mishap *failure = read_filter(&s);
    if (!failure)
        failure = mishap_archive_connect(a);
    if (!failure)
        failure = list_days(a, day_of(s.from), day_of(s.before), &days, &count);
    for (size_t i = 0; i < count && !failure && !s.cut; i++)
        failure = ask_day(a, &s, days[i], json);
    if (s.cut)
        mishap_hex_write(next, s.last, INDEX_ID), next[ANY_ID] = '\0';
    mishap_release(days);
    mishap_buffer_release(&s.words);
    return failure;
}

/* -- one incident ------------------------------------------------------------------------------ */

static mishap *ask_for_id(archive *a, const unsigned char id[INDEX_ID], mishap_index_found *found,
                          mishap_buffer *json, bool *there)
{
    mishap_query query;
    index_row row;
    char text[MISHAP_ID_LENGTH + 1];
    int64_t day = mishap_index_ms(id) / INDEX_DAY_MS;
    mishap_index_id_write(id, text);
    mishap_query_begin(&query, a->store, ARCHIVE_FIND);
    mishap_query_bind_integer(&query, 1, day * ARCHIVE_PARTS);
    mishap_query_bind_integer(&query, 2, (day + 1) * ARCHIVE_PARTS);
    mishap_query_bind_text(&query, 3, mishap_text_of(text));
    while (mishap_query_step(&query)) {
        read_row(&query, &row);
        mishap_index_fill_found(&row, found);
        mishap_text trace = mishap_query_text(&query, ROW_TRACE);
        if (trace.length == sizeof found->trace - 1)
            memcpy(found->trace, trace.data, trace.length);
        if (row.whole)
            put_record(&query, json);
        else
            mishap_index_put_row(&row, json);
        *there = true;
    }
    return mishap_query_end(&query);
}

mishap *mishap_archive_find(mishap_index *index, mishap_text id, mishap_index_found *found,
                            mishap_buffer *json)
{
    archive *a = (archive *)(void *)index;
    unsigned char bytes[INDEX_ID];
    bool there = false;
    int64_t *days = NULL;
    size_t count = 0;
    if (!mishap_index_id_read(id, bytes))
        return mishap_index_refuse("id", "the id of an incident, a UUID of version 7");
    mishap *failure = mishap_archive_connect(a);
    if (!failure)
        failure = ask_for_id(a, bytes, found, json, &there);
    if (!failure && !there)
        failure = list_days(a, 0, INT64_MAX / ARCHIVE_PARTS, &days, &count);
    if (!failure && !there)
        failure = mishap_index_not_there(index, bytes, count ? days[count - 1] : -1);
    mishap_release(days);
    return failure ? failure : json->failed ? mishap_out_of_memory() : NULL;
}
