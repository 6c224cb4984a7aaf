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

/* False without memory: "" would be a lie. */
static bool answer_text(mishap_call *call, const char *key, sqlite3_stmt *statement, int i)
{
    const char *text = (const char *)sqlite3_column_text(statement, i);
    size_t length = (size_t)sqlite3_column_bytes(statement, i);
    mishap_answer_member(call, key, ((mishap_text){ text, length }));
    return text != NULL;
}

static bool answer_column(mishap_call *call, sqlite3_stmt *statement, int i,
                          const todo_column *column)
{
    bool whole = true;
    if (sqlite3_column_type(statement, i) == SQLITE_NULL)
        mishap_answer_member(call, column->key, (const char *)NULL);
    else if (column->kind == TODO_ID)
        answer_id(call, column->key, sqlite3_column_int64(statement, i));
    else if (column->kind == TODO_NUMBER)
        mishap_answer_member(call, column->key, (int64_t)sqlite3_column_int64(statement, i));
    else if (column->kind == TODO_FLAG)
        mishap_answer_member(call, column->key, sqlite3_column_int(statement, i) != 0);
    else
        whole = answer_text(call, column->key, statement, i);
    return whole;
}

/* One object. False without memory. */
static bool answer_row(mishap_call *call, sqlite3_stmt *statement, const todo_column *columns)
{
    bool whole = true;
    mishap_answer_object(call, NULL);
    for (int i = 0; columns[i].key; i++)
        whole = answer_column(call, statement, i, &columns[i]) && whole;
    mishap_answer_end(call);
    return whole;
}

/* -- ids --------------------------------------------------------------------------------------- */

/* Decimal digits as a row has them: no sign, no zero in front, and within 64 bits. */
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

void todo_bind_string(todo_query *query, int place, const mishap_call *call, const char *param)
{
    if (mishap_given(call, param))
        todo_query_bind_text(
            query, place,
            (mishap_text){ mishap_string(call, param), mishap_string_length(call, param) });
}

void todo_bind_integer(todo_query *query, int place, const mishap_call *call, const char *param)
{
    if (mishap_given(call, param))
        todo_query_bind_integer(query, place, mishap_integer(call, param));
}

void todo_bind_flag(todo_query *query, int place, const mishap_call *call, const char *param)
{
    if (mishap_given(call, param))
        todo_query_bind_integer(query, place, mishap_boolean(call, param));
}

void todo_bind_id(todo_query *query, int place, const mishap_call *call, const char *param)
{
    if (mishap_given(call, param))
        todo_query_bind_integer(query, place, todo_id(call, param));
}

/* -- one row ----------------------------------------------------------------------------------- */

struct row {
    bool found;
    int64_t id;
};

static bool refused(const todo_query *query)
{
    return query->taken || query->dangling;
}

/* Answer with the row of a query, if there is one. */
static mishap *read_row(struct row *row, mishap_call *call, todo_query *query,
                        const todo_column *columns)
{
    bool whole = true;
    *row = (struct row){ 0 };
    /* To the end: some of the tables' rules speak only after the row. */
    while (todo_query_step(query)) {
        row->found = true;
        row->id = sqlite3_column_int64(query->statement, 0);
        mishap_answer(call, NULL);
        whole = answer_row(call, query->statement, columns);
    }
    mishap *failure = todo_query_end(query);
    return failure || whole ? failure : mishap_out_of_memory();
}

void todo_changed(mishap_call *call, const todo_kind *kind, int64_t id)
{
    mishap_changed(call, "%s/%lld", kind->address, (long long)id);
    mishap_changed(call, "%s", kind->address);
}

mishap *todo_answer_created(mishap_call *call, todo_query *query, const todo_kind *kind)
{
    struct row row;
    char location[64];
    mishap *failure = read_row(&row, call, query, kind->columns);
    if (failure || refused(query))
        return failure;
    snprintf(location, sizeof location, "%s%lld", kind->path, (long long)row.id);
    todo_changed(call, kind, row.id);
    return mishap_created(call, NULL, location);
}

mishap *todo_answer_found(mishap_call *call, todo_query *query, const todo_kind *kind)
{
    struct row row;
    mishap *failure = read_row(&row, call, query, kind->columns);
    if (failure || refused(query))
        return failure;
    return row.found ? mishap_ok(call, NULL) : mishap_not_found("%s", kind->missing);
}

mishap *todo_answer_deleted(mishap_call *call, todo_query *query, const todo_kind *kind)
{
    int64_t id = 0;
    while (todo_query_step(query))
        id = sqlite3_column_int64(query->statement, 0);
    mishap *failure = todo_query_end(query);
    if (failure)
        return failure;
    if (!id)
        return mishap_not_found("%s", kind->missing);
    todo_changed(call, kind, id);
    return mishap_no_content(call);
}

/* -- a page of rows ---------------------------------------------------------------------------- */

enum { AFTER = 1, LIMIT = 2, FIRST_FILTER = 3 };

static void bind_filters(todo_query *query, const todo_page *page)
{
    for (int i = 0; i < 2; i++)
        if (page->by[i])
            todo_query_bind_integer(query, FIRST_FILTER + i, *page->by[i]);
}

/* The rows, as many as asked for; *cut if there are more of them. */
static mishap *answer_page(mishap_call *call, todo_store *store, const todo_page *page, bool *cut)
{
    int64_t limit = mishap_integer(call, "limit"), listed = 0, last = 0;
    bool whole = true;
    todo_query query;
    todo_query_begin(&query, store, page->list);
    todo_query_bind_integer(&query, AFTER,
                            mishap_given(call, "after") ? todo_id(call, "after") : 0);
    todo_query_bind_integer(&query, LIMIT, limit + 1);
    bind_filters(&query, page);
    mishap_answer_array(call, "items");
    for (*cut = false; todo_query_step(&query) && !(*cut = listed == limit); listed++) {
        whole = answer_row(call, query.statement, page->kind->columns) && whole;
        last = sqlite3_column_int64(query.statement, 0);
    }
    mishap_answer_end(call);
    if (*cut)
        answer_id(call, "next", last);
    else
        mishap_answer_member(call, "next", (const char *)NULL);
    mishap *failure = todo_query_end(&query);
    return failure || whole ? failure : mishap_out_of_memory();
}

static mishap *count_rows(todo_store *store, const todo_page *page, int64_t *count)
{
    todo_query query;
    todo_query_begin(&query, store, page->count);
    bind_filters(&query, page);
    if (todo_query_step(&query))
        *count = sqlite3_column_int64(query.statement, 0);
    return todo_query_end(&query);
}

mishap *todo_page_answer(mishap_call *call, const todo_page *page)
{
    int64_t total = 0, limit = mishap_integer(call, "limit");
    bool cut = false;
    todo_store *store = todo_store_of(call);
    mishap *failure = answer_page(call, store, page, &cut);
    if (!failure && cut)
        failure = count_rows(store, page, &total);
    if (!failure && cut) /* others may have deleted some since */
        mishap_answer_cut(call, (size_t)limit, (size_t)(total > limit ? total : limit + 1));
    return failure;
}
