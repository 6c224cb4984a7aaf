/* Writing rows as JSON, and the answers that are made of them. */
#include "todo/rows.h"

#include <stdio.h>

/* -- JSON -------------------------------------------------------------------------------------- */

static void put(mishap_buffer *b, const char *text)
{
    mishap_buffer_add(b, text, strlen(text));
}

static void put_integer(mishap_buffer *b, int64_t integer)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)integer);
    mishap_buffer_add(b, digits, (size_t)length);
}

static void put_string(mishap_buffer *b, mishap_text text)
{
    size_t from = 0;
    put(b, "\"");
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        char escape[8];
        int length = c < ' ' ? snprintf(escape, sizeof escape, "\\u%04x", c)
                             : snprintf(escape, sizeof escape, "\\%c", c);
        mishap_buffer_add(b, text.data + from, i - from);
        mishap_buffer_add(b, escape, (size_t)length);
        from = i + 1;
    }
    mishap_buffer_add(b, text.data + from, text.length - from);
    put(b, "\"");
}

static void put_id(mishap_buffer *b, int64_t id)
{
    put(b, "\"");
    put_integer(b, id);
    put(b, "\"");
}

static void put_column(mishap_buffer *b, sqlite3_stmt *statement, int i, todo_column_kind kind)
{
    if (sqlite3_column_type(statement, i) == SQLITE_NULL) {
        put(b, "null");
    } else if (kind == TODO_ID) {
        put_id(b, sqlite3_column_int64(statement, i));
    } else if (kind == TODO_NUMBER) {
        put_integer(b, sqlite3_column_int64(statement, i));
    } else if (kind == TODO_FLAG) {
        put(b, sqlite3_column_int(statement, i) ? "true" : "false");
    } else {
        /* NULL here is no memory: let the buffer fail, for "" would be a lie. */
        const char *text = (const char *)sqlite3_column_text(statement, i);
        size_t length = (size_t)sqlite3_column_bytes(statement, i);
        b->failed = b->failed || !text;
        put_string(b, (mishap_text){ text, text ? length : 0 });
    }
}

static void put_row(mishap_buffer *b, sqlite3_stmt *statement, const todo_column *columns)
{
    for (int i = 0; columns[i].key; i++) {
        put(b, i ? ",\"" : "{\"");
        put(b, columns[i].key);
        put(b, "\":");
        put_column(b, statement, i, columns[i].kind);
    }
    put(b, "}");
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

/* No row that went through the checks needs more room than this, so none takes memory here that a
 * call which is ended would leave behind. */
struct row {
    bool found;
    int64_t id;
    mishap_buffer json; /* an object, with a NUL after it */
    char storage[4096];
};

static bool refused(const todo_query *query)
{
    return query->taken || query->dangling;
}

/* The row must be released, whatever happened. */
static mishap *read_row(struct row *row, todo_query *query, const todo_column *columns)
{
    row->found = false;
    row->id = 0;
    mishap_buffer_init(&row->json, row->storage, sizeof row->storage);
    /* To the end: some of the tables' rules speak only after the row. */
    while (todo_query_step(query)) {
        row->found = true;
        row->id = sqlite3_column_int64(query->statement, 0);
        mishap_buffer_reset(&row->json);
        put_row(&row->json, query->statement, columns);
        mishap_buffer_add(&row->json, "", 1);
    }
    mishap *failure = todo_query_end(query);
    if (!failure && !refused(query) && row->json.failed)
        failure = mishap_out_of_memory();
    return failure;
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
    mishap *failure = read_row(&row, query, kind->columns);
    snprintf(location, sizeof location, "%s%lld", kind->path, (long long)row.id);
    if (!failure && !refused(query)) {
        todo_changed(call, kind, row.id);
        failure = mishap_created(call, row.json.data, location);
    }
    mishap_buffer_release(&row.json);
    return failure;
}

mishap *todo_answer_found(mishap_call *call, todo_query *query, const todo_kind *kind)
{
    struct row row;
    mishap *failure = read_row(&row, query, kind->columns);
    if (!failure && !refused(query))
        failure = row.found ? mishap_ok(call, row.json.data)
                            : mishap_not_found("%s", kind->missing);
    mishap_buffer_release(&row.json);
    return failure;
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
static mishap *put_page(mishap_buffer *b, const mishap_call *call, todo_store *store,
                        const todo_page *page, bool *cut)
{
    int64_t limit = mishap_integer(call, "limit"), listed = 0, last = 0;
    todo_query query;
    todo_query_begin(&query, store, page->list);
    todo_query_bind_integer(&query, AFTER,
                            mishap_given(call, "after") ? todo_id(call, "after") : 0);
    todo_query_bind_integer(&query, LIMIT, limit + 1);
    bind_filters(&query, page);
    put(b, "{\"items\":[");
    for (*cut = false; todo_query_step(&query) && !(*cut = listed == limit); listed++) {
        put(b, listed ? "," : "");
        put_row(b, query.statement, page->kind->columns);
        last = sqlite3_column_int64(query.statement, 0);
    }
    put(b, "],\"next\":");
    if (*cut)
        put_id(b, last);
    put(b, *cut ? "}" : "null}");
    mishap_buffer_add(b, "", 1);
    return todo_query_end(&query);
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
    mishap_buffer json;
    mishap_buffer_init(&json, NULL, 0);
    mishap *failure = put_page(&json, call, store, page, &cut);
    if (!failure && cut)
        failure = count_rows(store, page, &total);
    if (!failure && json.failed)
        failure = mishap_out_of_memory();
    if (!failure)
        mishap_answer(call, json.data);
    if (!failure && cut) /* others may have deleted some since */
        mishap_answer_cut(call, (size_t)limit, (size_t)(total > limit ? total : limit + 1));
    mishap_buffer_release(&json);
    return failure;
}
