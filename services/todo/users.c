/* /users. E-mail addresses are unique; a constraint of the store enforces this, also against
 * concurrent writers. */
#include "todo/handlers.h"
#include "todo/rows.h"

static const todo_column columns[] = {
    { "id", TODO_ID },      { "name", TODO_TEXT },       { "age", TODO_NUMBER },
    { "email", TODO_TEXT }, { "created_at", TODO_TEXT }, { 0 },
};
static const todo_kind user = { columns, "/users/", "todo://users", "User not found",
                                "List the users to see which ids exist." };

/* The store's failure in words of the API. */
static mishap *email_taken(const mishap_call *call, mishap *failure)
{
    mishap_free(failure);
    mishap_text email = { mishap_string(call, "email"), mishap_string_length(call, "email") };
    mishap *m = mishap_raise(ALREADY_EXISTS, "A user with this e-mail already exists.");
    return mishap_suggest(mishap_tell(m, "email", email),
                          "Give another `email`, or update the user that has this one.");
}

mishap *todo_users_create(mishap_call *call)
{
    mishap_query query;
    mishap_query_begin(&query, mishap_store_of(call), TODO_USER_INSERT);
    todo_bind_string(&query, 1, call, "name");
    todo_bind_integer(&query, 2, call, "age");
    todo_bind_string(&query, 3, call, "email");
    mishap *failure = todo_answer_created(call, &query, &user);
    return query.taken ? email_taken(call, failure) : failure;
}

mishap *todo_users_get(mishap_call *call)
{
    mishap_query query;
    mishap_query_begin(&query, mishap_store_of(call), TODO_USER_GET);
    todo_bind_id(&query, 1, call, "id");
    return todo_answer_found(call, &query, &user);
}

mishap *todo_users_list(mishap_call *call)
{
    return todo_page_answer(
        call, &(todo_page){ .list = TODO_USER_LIST, .count = TODO_USER_COUNT, .kind = &user });
}

mishap *todo_users_update(mishap_call *call)
{
    mishap_query query;
    if (!mishap_given(call, "name") && !mishap_given(call, "age") && !mishap_given(call, "email"))
        return todo_users_get(call); /* there is nothing to change */
    mishap_query_begin(&query, mishap_store_of(call), TODO_USER_UPDATE);
    todo_bind_id(&query, 1, call, "id");
    todo_bind_string(&query, 2, call, "name");
    todo_bind_integer(&query, 3, call, "age");
    todo_bind_string(&query, 4, call, "email");
    mishap *failure = todo_answer_found(call, &query, &user);
    if (query.taken)
        return email_taken(call, failure);
    if (!failure)
        todo_changed(call, &user, todo_id(call, "id"));
    return failure;
}

/* From then on the user's todos have no owner, which changes each of them. At most so many changes
 * are announced. */
mishap *todo_users_delete(mishap_call *call)
{
    enum { TOLD = 256 };
    int64_t todos[TOLD];
    size_t count = todo_todos_of_user(call, todo_id(call, "id"), todos, TOLD);
    mishap_query query;
    mishap_query_begin(&query, mishap_store_of(call), TODO_USER_DELETE);
    todo_bind_id(&query, 1, call, "id");
    mishap *failure = todo_answer_deleted(call, &query, &user);
    if (!failure)
        todo_todos_changed(call, todos, count);
    return failure;
}
