/* Opening the service: where its store is, and that its folder is there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "todo/store.h"
#include "todo/todo.h"

/* Make a folder and those above it, for the owner alone. Those that are there stay as they are. */
static bool make_folders(char *path)
{
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static mishap *open_store(const char *path, void **state)
{
    todo_store *store = NULL;
    mishap *failure = todo_store_open(path, &store);
    *state = store;
    return failure;
}

static mishap *open_in_folder(const char *folder, void **state)
{
    mishap *failure = NULL;
    size_t length = strlen(folder), size = length + sizeof "/todo.sqlite";
    char *path = malloc(size);
    if (!path)
        return mishap_out_of_memory();
    memcpy(path, folder, length + 1);
    if (make_folders(path)) {
        snprintf(path, size, "%s/todo.sqlite", folder);
        failure = open_store(path, state);
    } else {
        const char *why = strerrordesc_np(errno);
        failure = mishap_raise(UNAVAILABLE, "The data folder cannot be made.");
        failure = mishap_note(mishap_note(failure, "path", folder), "reason", why);
    }
    free(path);
    return failure;
}

/* An address may have a password in it, so none is repeated. */
static mishap *open_service(const mishap_setup *setup, void **state)
{
    static const char scheme[] = "sqlite:";
    const char *store = setup->store;
    if (!store && setup->data && *setup->data)
        return open_in_folder(setup->data, state);
    if (!store)
        return mishap_raise(NOT_CONFIGURED, "There is no folder for the todos.");
    if (strncmp(store, scheme, strlen(scheme)) != 0 || !store[strlen(scheme)])
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "Todos can only be kept in SQLite, not at this address."),
            "Give a store address of the form sqlite:PATH, or none.");
    return open_store(store + strlen(scheme), state);
}

static void close_service(void *state)
{
    todo_store_close(state);
}

const mishap_service todo_service = {
    .name = "todo",
    .summary = "Users and their todos",
    .open = open_service,
    .close = close_service,
    .dialect = "tool-result",
};
