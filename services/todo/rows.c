/* Writing rows as JSON, and the answers that are made of them. */
#include "todo/rows.h"

#include <stdio.h>

/* -- rows into the answer ---------------------------------------------------------------------- */

static void answer_id(mishap_call *call, const char *key, int64_t id)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)id);
    mishap_answer_member(call, key, (const char *)digits);
}

static void answer_column(mishap_call *call, mishap_query *query, int i, const todo_column *column)
{
    if (mishap_query_is_null(query, i))
        mishap_answer_member(call, column->key, (const char *)NULL);
    else if (column->kind == TODO_ID)
        answer_id(call, column->key, mishap_query_integer(query, i));
    else if (column->kind == TODO_NUMBER)
        mishap_answer_member(call, column->key, mishap_query_integer(query, i));
    else if (column->kind == TODO_FLAG)
        mishap_answer_member(call, column->key, mishap_query_boolean(query, i));
    else
        mishap_answer_member(call, column->key, mishap_query_text(query, i));
}

/* One object. */
static void answer_row(mishap_call *call, mishap_query *query, const todo_column *columns)
{
    mishap_answer_object(call, NULL);
    for (int i = 0; columns[i].key; i++)
        answer_column(call, query, i, &columns[i]);
    mishap_answer_end(call);
}

/* -- ids --------------------------------------------------------------------------------------- */

/* Decimal digits as in a row: no sign, no leading zero, and within 64 bits. */
int64_t todo_id(const mishap_call *call, const char *param)
{
    const char *text = mishap_string(call, param);
    size_t length = mishap_string_length(call, param);
    int64_t id = 0;
    if (length == 0 || length > 18 || text[0] == '0')
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        id = id * 10 + (text[i] - '0');
    }
    return id;
}

/* -- parameters into a query ------------------------------------------------------------------- */

void todo_bind_string(mishap_query *query, int place, const mishap_call *call, const char *param)
{
    if (mishap_given(call, param))
        mishap_query_bind_text(
            query, place,
            (mishap_text){ mishap_string(call, param), mishap_string_length(call, param) });
}

void todo_bind_integer(mishap_query *query, int place, const mishap_call *call, const char *param)
{
    if (mishap_given(call, param))
        mishap_query_bind_integer(query, place, mishap_integer(call, param));
}

void todo_bind_flag(mishap_query *query, int place, const mishap_call *call, const char *param)
{
    if (mishap_given(call, param))
        mishap_query_bind_boolean(query, place, mishap_boolean(call, param));
}

void todo_bind_id(mishap_query *query, int place, const mishap_call *call, const char *param)
{
    if (mishap_given(call, param))
        mishap_query_bind_integer(query, place, todo_id(call, param));
}

/* -- one row ----------------------------------------------------------------------------------- */

struct row {
    bool found;
    int64_t id;
};

/* Answer with the row of a query, if there is one. */
static mishap *read_row(struct row *row, mishap_call *call, mishap_query *query,
                        const todo_column *columns)
{
    *row = (struct row){ 0 };
    /* Step to the end: some constraints of the tables are reported only after the row. */
    while (mishap_query_step(query)) {
        row->found = true;
        row->id = mishap_query_integer(query, 0);
        mishap_answer(call, NULL);
        answer_row(call, query, columns);
    }
    return mishap_query_end(query);
}

void todo_changed(mishap_call *call, const todo_kind *kind, int64_t id)
{
    mishap_changed(call, "%s/%lld", kind->address, (long long)id);
    mishap_changed(call, "%s", kind->address);
}

mishap *todo_answer_created(mishap_call *call, mishap_query *query, const todo_kind *kind)
{
    struct row row;
    char location[64];
    mishap *failure = read_row(&row, call, query, kind->columns);
    if (failure)
        return failure;
    snprintf(location, sizeof location, "%s%lld", kind->path, (long long)row.id);
    todo_changed(call, kind, row.id);
    return mishap_created(call, NULL, location);
}

mishap *todo_answer_found(mishap_call *call, mishap_query *query, const todo_kind *kind)
{
    struct row row;
    mishap *failure = read_row(&row, call, query, kind->columns);
    if (failure)
        return failure;
    return row.found ? mishap_ok(call, NULL)
                     : mishap_suggest(mishap_not_found("%s", kind->missing), kind->find);
}

mishap *todo_answer_deleted(mishap_call *call, mishap_query *query, const todo_kind *kind)
{
    int64_t id = 0;
    while (mishap_query_step(query))
        id = mishap_query_integer(query, 0);
    mishap *failure = mishap_query_end(query);
    if (failure)
        return failure;
    if (!id)
        return mishap_suggest(mishap_not_found("%s", kind->missing), kind->find);
    todo_changed(call, kind, id);
    return mishap_no_content(call);
}

/* -- a page of rows ---------------------------------------------------------------------------- */

enum { AFTER = 1, LIMIT = 2, DONE = 3, USER = 4 };

static void bind_filters(mishap_query *query, const todo_page *page)
{
    if (page->done)
        mishap_query_bind_boolean(query, DONE, *page->done);
    if (page->user)
        mishap_query_bind_integer(query, USER, *page->user);
}

/* The rows, as many as asked for; *cut if there are more. */
static mishap *answer_page(mishap_call *call, mishap_store *store, const todo_page *page, bool *cut)
{
    int64_t last = 0;
    mishap_query query;
    mishap_page rows;
    mishap_query_begin(&query, store, page->list);
    mishap_query_bind_integer(&query, AFTER,
                              mishap_given(call, "after") ? todo_id(call, "after") : 0);
    bind_filters(&query, page);
    mishap_answer_array(call, "items");
    mishap_page_begin(&rows, &query, LIMIT, mishap_integer(call, "limit"));
    while (mishap_page_step(&rows, &query)) {
        answer_row(call, &query, page->kind->columns);
        last = mishap_query_integer(&query, 0);
    }
    mishap_answer_end(call);
    *cut = rows.more;
    if (*cut)
        answer_id(call, "next", last);
    else
        mishap_answer_member(call, "next", (const char *)NULL);
    return mishap_query_end(&query);
}

static mishap *count_rows(mishap_store *store, const todo_page *page, int64_t *count)
{
    mishap_query query;
    mishap_query_begin(&query, store, page->count);
    bind_filters(&query, page);
    if (mishap_query_step(&query))
        *count = mishap_query_integer(&query, 0);
    return mishap_query_end(&query);
}

mishap *todo_page_answer(mishap_call *call, const todo_page *page)
{
    int64_t total = 0, limit = mishap_integer(call, "limit");
    bool cut = false;
    mishap_store *store = mishap_store_of(call);
    mishap *failure = answer_page(call, store, page, &cut);
    if (!failure && cut)
        failure = count_rows(store, page, &total);
    if (!failure && cut) /* other callers may have deleted some since */
        mishap_answer_cut(call, (size_t)limit, (size_t)(total > limit ? total : limit + 1));
    return failure;
}
