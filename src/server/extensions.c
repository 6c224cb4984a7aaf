/* Calls the hooks of all extensions, in the order of their list. Runs in the supervisor and in each
 * loop. */
#include "server/state.h"

static size_t count_of(const mishap_http_settings *settings)
{
    size_t count = 0;
    while (settings->extensions && settings->extensions[count])
        count++;
    return count;
}

/* Dismiss the first `count` of them, in reverse order. */
static void dismiss(const mishap_http_settings *settings, void *const *shared, size_t count)
{
    while (count-- > 0)
        if (settings->extensions[count]->dismiss)
            settings->extensions[count]->dismiss(shared[count]);
}

mishap *mishap_http_extensions_read(const mishap_http_settings *settings)
{
    for (size_t i = 0; i < count_of(settings); i++) {
        mishap *failure = NULL;
        if (settings->extensions[i]->read)
            failure = settings->extensions[i]->read(settings);
        if (failure)
            return failure;
    }
    return NULL;
}

mishap *mishap_http_extensions_prepare(const mishap_http_settings *settings, void **shared)
{
    mishap *failure = NULL;
    size_t count = count_of(settings);
    if (count > MISHAP_HTTP_MOST_EXTENSIONS)
        return mishap_raise(NOT_CONFIGURED, "A server can have at most %d extensions.",
                            MISHAP_HTTP_MOST_EXTENSIONS);
    size_t begun = 0;
    while (begun < count && !failure) {
        const mishap_http_extension *extension = settings->extensions[begun];
        shared[begun] = NULL;
        if (extension->prepare)
            failure = extension->prepare(settings, &shared[begun]);
        begun++;
    }
    if (failure)
        dismiss(settings, shared, begun);
    return failure;
}

void mishap_http_extensions_dismiss(const mishap_http_settings *settings, void *const *shared)
{
    dismiss(settings, shared, count_of(settings));
}

/* -- loops ------------------------------------------------------------------------------------- */

void mishap_http_extensions_before_loop(const mishap_http_settings *settings, void *const *shared,
                                        int *numbers)
{
    for (size_t i = 0; i < count_of(settings); i++) {
        const mishap_http_extension *extension = settings->extensions[i];
        numbers[i] = extension->before_loop ? extension->before_loop(shared[i]) : -1;
    }
}

void mishap_http_extensions_loop_forked(const mishap_http_settings *settings, void *const *shared)
{
    for (size_t i = 0; i < count_of(settings); i++)
        if (settings->extensions[i]->loop_forked)
            settings->extensions[i]->loop_forked(shared[i]);
}

void mishap_http_extensions_loop_ended(const mishap_http_settings *settings, void *const *shared,
                                       const int *numbers)
{
    for (size_t i = 0; i < count_of(settings); i++)
        if (settings->extensions[i]->loop_ended)
            settings->extensions[i]->loop_ended(shared[i], numbers[i]);
}

bool mishap_http_extensions_child_ended(const mishap_http_settings *settings, void *const *shared,
                                        int pid, int status)
{
    for (size_t i = 0; i < count_of(settings); i++)
        if (settings->extensions[i]->child_ended &&
            settings->extensions[i]->child_ended(shared[i], pid, status))
            return true;
    return false;
}

void mishap_http_extensions_look(const mishap_http_settings *settings, void *const *shared)
{
    for (size_t i = 0; i < count_of(settings); i++)
        if (settings->extensions[i]->look)
            settings->extensions[i]->look(shared[i]);
}

size_t mishap_http_extensions_wakes(const mishap_http_settings *settings, void *const *shared,
                                    int files[])
{
    size_t count = 0;
    for (size_t i = 0; i < count_of(settings); i++) {
        files[count] = settings->extensions[i]->wakes ? settings->extensions[i]->wakes(shared[i])
                                                      : -1;
        count += files[count] >= 0;
    }
    return count;
}

size_t mishap_http_extensions_files(const mishap_http_settings *settings, void *const *shared)
{
    size_t files = 0;
    for (size_t i = 0; i < count_of(settings); i++)
        if (settings->extensions[i]->files)
            files += settings->extensions[i]->files(shared[i]);
    return files;
}

/* -- in the supervisor and in each loop -------------------------------------------------------- */

mishap *mishap_http_extensions_route(const mishap_http_settings *settings, mishap_http_routes **out)
{
    const mishap_http_endpoint *lists[MISHAP_HTTP_MOST_EXTENSIONS] = { 0 };
    mishap_http_endpoint *made[MISHAP_HTTP_MOST_EXTENSIONS] = { 0 };
    size_t count = count_of(settings);
    mishap *failure = NULL;
    *out = NULL;
    for (size_t i = 0; i < count && !failure; i++) {
        const mishap_http_extension *extension = settings->extensions[i];
        if (extension->list)
            failure = extension->list(settings, &made[i]);
        lists[i] = made[i] ? made[i] : extension->endpoints;
    }
    if (!failure)
        failure = mishap_http_routes_make(lists, count, out);
    for (size_t i = 0; i < count; i++)
        mishap_release(made[i]);
    return failure;
}

mishap *mishap_http_extensions_open(mishap_http_server *server, void *const *shared)
{
    mishap *failure = NULL;
    size_t count = count_of(server->settings);
    for (size_t i = 0; i < count && !failure; i++) {
        const mishap_http_extension *extension = server->settings->extensions[i];
        server->states[i] = NULL;
        if (extension->open)
            failure = extension->open(server, shared[i], &server->states[i]);
        if (!failure)
            server->open_extensions = i + 1;
    }
    return failure;
}

void mishap_http_extensions_tick(mishap_http_server *server)
{
    for (size_t i = 0; i < server->open_extensions; i++) {
        const mishap_http_extension *extension = server->settings->extensions[i];
        if (extension->tick)
            extension->tick(server->states[i]);
    }
}

void mishap_http_tick(mishap_http_server *server)
{
    mishap_http_extensions_tick(server);
}

void mishap_http_extensions_drain(mishap_http_server *server)
{
    for (size_t i = 0; i < server->open_extensions; i++) {
        const mishap_http_extension *extension = server->settings->extensions[i];
        if (extension->drain)
            extension->drain(server->states[i]);
    }
}

size_t mishap_http_extensions_sessions(const mishap_http_server *server)
{
    size_t count = 0;
    for (size_t i = 0; i < server->open_extensions; i++) {
        const mishap_http_extension *extension = server->settings->extensions[i];
        if (extension->sessions)
            count += extension->sessions(server->states[i]);
    }
    return count;
}

void mishap_http_extensions_revoke(mishap_http_server *server, uint64_t key, const char *caller)
{
    for (size_t i = 0; i < server->open_extensions; i++) {
        const mishap_http_extension *extension = server->settings->extensions[i];
        if (extension->revoke)
            extension->revoke(server->states[i], key, caller);
    }
}

bool mishap_http_extensions_busy(const mishap_http_server *server)
{
    for (size_t i = 0; i < server->open_extensions; i++) {
        const mishap_http_extension *extension = server->settings->extensions[i];
        if (extension->busy && extension->busy(server->states[i]))
            return true;
    }
    return false;
}

void mishap_http_extensions_measure(const mishap_http_server *server, mishap_http_measures *to)
{
    for (size_t i = 0; i < server->open_extensions; i++) {
        const mishap_http_extension *extension = server->settings->extensions[i];
        if (extension->measure)
            extension->measure(server->states[i], to);
    }
}

void mishap_http_extensions_close(mishap_http_server *server)
{
    while (server->open_extensions) {
        size_t last = --server->open_extensions;
        const mishap_http_extension *extension = server->settings->extensions[last];
        if (extension->close)
            extension->close(server->states[last]);
    }
}

void *mishap_http_state_of(const mishap_http_server *server, const mishap_http_extension *which)
{
    for (size_t i = 0; i < server->open_extensions; i++)
        if (server->settings->extensions[i] == which)
            return server->states[i];
    return NULL;
}
