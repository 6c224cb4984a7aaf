/* /todos. A todo may belong to a user. The user must exist when the todo is written. */
#include "todo/handlers.h"
#include "todo/rows.h"

static const todo_column columns[] = {
    { "id", TODO_ID },      { "title", TODO_TEXT },      { "done", TODO_FLAG },
    { "user_id", TODO_ID }, { "created_at", TODO_TEXT }, { 0 },
};
static const todo_kind todo = { columns, "/todos/", "todo://todos", "Todo not found",
                                "List the todos to see which ids exist." };

/* The store's failure in words of the API. */
static mishap *no_user(mishap *failure)
{
    mishap_free(failure);
    return mishap_suggest(mishap_not_found("User not found"),
                          "List the users to see which ids exist, or leave `user_id` out.");
}

mishap *todo_todos_create(mishap_call *call)
{
    mishap_query query;
    mishap_query_begin(&query, mishap_store_of(call), TODO_TODO_INSERT);
    todo_bind_string(&query, 1, call, "title");
    todo_bind_flag(&query, 2, call, "done");
    todo_bind_id(&query, 3, call, "user_id");
    mishap *failure = todo_answer_created(call, &query, &todo);
    return query.dangling ? no_user(failure) : failure;
}

mishap *todo_todos_get(mishap_call *call)
{
    mishap_query query;
    mishap_query_begin(&query, mishap_store_of(call), TODO_TODO_GET);
    todo_bind_id(&query, 1, call, "id");
    return todo_answer_found(call, &query, &todo);
}

static unsigned filters_of(const mishap_call *call)
{
    return (mishap_given(call, "done") ? TODO_BY_DONE : 0U) |
           (mishap_given(call, "user_id") ? TODO_BY_USER : 0U);
}

mishap *todo_todos_list(mishap_call *call)
{
    bool done = mishap_boolean(call, "done");
    int64_t user = mishap_given(call, "user_id") ? todo_id(call, "user_id") : 0;
    unsigned filters = filters_of(call);
    todo_page page = { .list = TODO_TODO_LIST + filters,
                       .count = TODO_TODO_COUNT + filters,
                       .kind = &todo,
                       .done = filters & TODO_BY_DONE ? &done : NULL,
                       .user = filters & TODO_BY_USER ? &user : NULL };
    return todo_page_answer(call, &page);
}

mishap *todo_todos_update(mishap_call *call)
{
    mishap_query query;
    if (!mishap_given(call, "title") && !mishap_given(call, "done") &&
        !mishap_given(call, "user_id"))
        return todo_todos_get(call); /* there is nothing to change */
    mishap_query_begin(&query, mishap_store_of(call), TODO_TODO_UPDATE);
    todo_bind_id(&query, 1, call, "id");
    todo_bind_string(&query, 2, call, "title");
    todo_bind_flag(&query, 3, call, "done");
    todo_bind_id(&query, 4, call, "user_id");
    mishap *failure = todo_answer_found(call, &query, &todo);
    if (query.dangling)
        return no_user(failure);
    if (!failure)
        todo_changed(call, &todo, todo_id(call, "id"));
    return failure;
}

size_t todo_todos_of_user(mishap_call *call, int64_t user, int64_t *ids, size_t most)
{
    mishap_query query;
    size_t count = 0;
    mishap_query_begin(&query, mishap_store_of(call), TODO_TODO_LIST + TODO_BY_USER);
    mishap_query_bind_integer(&query, 1, 0);
    mishap_query_bind_integer(&query, 2, (int64_t)most);
    mishap_query_bind_integer(&query, 4, user);
    while (mishap_query_step(&query) && count < most)
        ids[count++] = mishap_query_integer(&query, 0);
    mishap_free(mishap_query_end(&query));
    return count;
}

void todo_todos_changed(mishap_call *call, const int64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        todo_changed(call, &todo, ids[i]);
}

mishap *todo_todos_delete(mishap_call *call)
{
    mishap_query query;
    mishap_query_begin(&query, mishap_store_of(call), TODO_TODO_DELETE);
    todo_bind_id(&query, 1, call, "id");
    return todo_answer_deleted(call, &query, &todo);
}

/* -- deleting many ----------------------------------------------------------------------------- */

/* A statement on the todos that the call is about. */
static void begin_filtered(mishap_query *query, mishap_call *call, todo_statement statement)
{
    unsigned filters = filters_of(call);
    mishap_query_begin(query, mishap_store_of(call), statement + filters);
    if (filters & TODO_BY_DONE)
        mishap_query_bind_boolean(query, 3, mishap_boolean(call, "done"));
    if (filters & TODO_BY_USER)
        mishap_query_bind_integer(query, 4, todo_id(call, "user_id"));
}

static mishap *count_todos(mishap_call *call, int64_t *count)
{
    mishap_query query;
    begin_filtered(&query, call, TODO_TODO_COUNT);
    *count = mishap_query_step(&query) ? mishap_query_integer(&query, 0) : 0;
    return mishap_query_end(&query);
}

/* At most so many changes of single todos are announced; that of the list always is. */
static mishap *delete_todos(mishap_call *call)
{
    enum { TOLD = 256 };
    int64_t ids[TOLD], count = 0;
    mishap_query query;
    begin_filtered(&query, call, TODO_TODO_CLEAR);
    for (; mishap_query_step(&query); count++)
        if (count < TOLD)
            ids[count] = mishap_query_integer(&query, 0);
    mishap *failure = mishap_query_end(&query);
    if (failure)
        return failure;
    todo_todos_changed(call, ids, (size_t)(count < TOLD ? count : TOLD));
    return mishap_answer_member(call, "deleted", count);
}

/* What was deleted does not come back, so a person is asked who sees how many there are. */
mishap *todo_todos_clear(mishap_call *call)
{
    const mishap_call *confirm = mishap_reply(call, "confirm");
    int64_t count;
    if (confirm)
        return mishap_boolean(confirm, "sure") ? delete_todos(call)
                                               : mishap_answer_member(call, "deleted", 0);
    mishap *failure = count_todos(call, &count);
    if (failure)
        return failure;
    if (count == 0)
        return mishap_answer_member(call, "deleted", 0);
    return mishap_ask(call, "confirm", NULL,
                      count == 1 ? "Delete %lld todo?" : "Delete %lld todos?", (long long)count);
}
