/* Opening the service: where its store is. */
#include <stdio.h>

#include "todo/store.h"
#include "todo/todo.h"

static mishap *open_store(const char *path, const char *identity, void **state)
{
    todo_store *store = NULL;
    mishap *failure = todo_store_open(path, identity, &store);
    *state = store;
    return failure;
}

static mishap *open_in_folder(const char *folder, const char *identity, void **state)
{
    size_t size = strlen(folder) + sizeof "/todo.sqlite";
    char *path = mishap_allocate(size);
    if (!path)
        return mishap_out_of_memory();
    snprintf(path, size, "%s/todo.sqlite", folder);
    mishap *failure = open_store(path, identity, state);
    mishap_release(path);
    return failure;
}

/* An address may have a password in it, so none is repeated. */
static mishap *open_service(const mishap_setup *setup, void **state)
{
    static const char scheme[] = "sqlite:";
    const char *store = mishap_string(setup->settings, "store");
    if (!store && setup->data && *setup->data)
        return open_in_folder(setup->data, setup->identity, state);
    if (!store)
        return mishap_raise(NOT_CONFIGURED, "No folder is configured for the todos.");
    if (strncmp(store, scheme, strlen(scheme)) != 0 || !store[strlen(scheme)])
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED,
                         "The store address is not supported: todos can only be stored in SQLite."),
            "Give a store address of the form sqlite:PATH, or omit it.");
    return open_store(store + strlen(scheme), setup->identity, state);
}

static void close_service(void *state)
{
    todo_store_close(state);
}

static const char *identity_of(void *state)
{
    return todo_store_identity(state);
}

static const mishap_param settings[] = {
    { "store", MISHAP_STRING, .length = { 1, 4000 }, .placeholder = "URL",
      .help = "The database of users and todos, as sqlite:PATH; by default todo.sqlite in the data "
              "folder" },
    { 0 },
};

const mishap_service todo_service = {
    .name = "todo",
    .summary = "Users and their todos",
    .open = open_service,
    .close = close_service,
    .identity = identity_of,
    .dialect = "tool-result",
    .raises = MISHAP_RAISES(UNAVAILABLE), /* the store, at any time */
    .settings = settings,
};
