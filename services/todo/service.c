/* Opening the service: its store. */
#include "todo/schema.h"
#include "todo/todo.h"

static mishap *open_service(const mishap_setup *setup, void **state)
{
    mishap_store *store = NULL;
    mishap *failure = mishap_store_open_service(setup, &todo_schema, &store);
    *state = store;
    return failure;
}

static void close_service(void *state)
{
    mishap_store_close(state);
}

static const char *identity_of(void *state)
{
    return mishap_store_identity(state);
}

static const mishap_param settings[] = { MISHAP_STORE_SETTING, { 0 } };

const mishap_service todo_service = {
    .name = "todo",
    .summary = "Users and their todos",
    .open = open_service,
    .close = close_service,
    .identity = identity_of,
    .dialect = "tool-result",
    /* Any call on the store can fail with these. */
    .raises = MISHAP_RAISES(UNAVAILABLE, INSUFFICIENT_STORAGE),
    .settings = settings,
};
