/*
 * The opened services of a process. A service is opened when it is first needed, so a command that
 * needs none touches no disk.
 *
 * Every call needs the state of its service, so an opened service is found without the lock: an
 * entry, once counted, does not change until all are closed.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "operation/call.h"
#include "operation/settings.h"

enum {
    MOST_SERVICES = MISHAP_MOST_SERVICES,
    LONGEST_PATH = 4096,
    PATIENCE_S = 5, /* a handler that crashed while it opened a service has the lock for ever */
};

/* Written under the lock only. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opened {
    const mishap_service *service;
    void *state;
} opened[MOST_SERVICES];
static _Atomic size_t count;
static struct expected {
    const mishap_service *service;
    char identity[MISHAP_IDENTITY_LIMIT];
} expected[MOST_SERVICES];
static const mishap_setup *given;

void mishap_service_use(const mishap_setup *setup)
{
    pthread_mutex_lock(&lock);
    given = setup;
    pthread_mutex_unlock(&lock);
}

/* -- identities -------------------------------------------------------------------------------- */

static const char *expected_of(const mishap_service *service)
{
    for (size_t i = 0; i < MOST_SERVICES && expected[i].service; i++)
        if (expected[i].service == service)
            return expected[i].identity;
    return NULL;
}

void mishap_service_expect(const mishap_service *service, const char *identity)
{
    size_t i = 0;
    pthread_mutex_lock(&lock);
    while (i < MOST_SERVICES && expected[i].service && expected[i].service != service)
        i++;
    if (i < MOST_SERVICES) {
        expected[i].service = service;
        snprintf(expected[i].identity, sizeof expected[i].identity, "%s", identity);
    }
    pthread_mutex_unlock(&lock);
}

void mishap_service_lost(mishap_call *call)
{
    call->lost = call->operation->service != NULL; /* else there is nothing to open again */
}

/* -- the data folder --------------------------------------------------------------------------- */

bool mishap_data_folder(const char *program, char *path, size_t size)
{
    char above[LONGEST_PATH];
    const char *folder = mishap_system_setting(program, "DATA");
    int length = 0;
    if (folder && *folder)
        length = snprintf(path, size, "%s", folder);
    else if (mishap_system_user_folder("XDG_DATA_HOME", ".local/share", above, sizeof above))
        length = snprintf(path, size, "%s/%s", above, program);
    return length > 0 && (size_t)length < size;
}

const char *mishap_call_data_folder(mishap_call *call)
{
    char folder[LONGEST_PATH];
    const char *named = mishap_string(call, "data");
    if (named || !mishap_data_folder(call->app->name, folder, sizeof folder))
        return named;
    return mishap_call_print(call, "%s", folder);
}

mishap_sandbox_mode mishap_sandbox_mode_of(const char *program, const char *named)
{
    const char *word = named ? named : mishap_system_setting(program, "SANDBOX");
    return word && strcmp(word, "weak") == 0 ? MISHAP_SANDBOX_WEAK : MISHAP_SANDBOX_STRICT;
}

/* -- opening ----------------------------------------------------------------------------------- */

static mishap *suggest_folder(const mishap_app *app, mishap *m)
{
    char variable[64], words[200];
    mishap_system_variable(app->name, "DATA", variable, sizeof variable);
    snprintf(words, sizeof words, "Set %s to a folder that the program can write to.", variable);
    return mishap_suggest(m, words);
}

/* A service may rely on it that the folder is there. It is for this user only. */
static mishap *make_folder(const mishap_app *app, const char *path)
{
    char folder[LONGEST_PATH], reason[100];
    bool fits = (size_t)snprintf(folder, sizeof folder, "%s", path) < sizeof folder;
    if (fits && mishap_system_make_folder(folder))
        return NULL;
    mishap_system_error(fits ? errno : ENAMETOOLONG, reason, sizeof reason);
    mishap *m = mishap_raise(NOT_CONFIGURED, "The data folder %s cannot be created.", path);
    return suggest_folder(app, mishap_tell_cause(m, reason));
}

/* The caller gets the public side of the service's failure; the private side goes to the log. A
 * retry is not suggested if the configuration must be corrected first. */
static mishap *not_available(const mishap_service *service, mishap *failure)
{
    const mishap_public *told = mishap_told(failure);
    mishap_buffer cause = { 0 };
    bool amiss = told->code == MISHAP_CODE_NOT_CONFIGURED ||
                 (told->retry_stated && !told->retryable);
    mishap *m = mishap_raise_at(amiss ? MISHAP_CODE_NOT_CONFIGURED : MISHAP_CODE_UNAVAILABLE,
                                MISHAP_HERE, "The service %s is not available.", service->name);
    mishap_buffer_put_text(&cause, mishap_public_message(told));
    if (told->cause.length)
        MISHAP_PUT(&cause, " ");
    mishap_buffer_put_text(&cause, told->cause);
    mishap_buffer_put_char(&cause, '\0');
    if (!told->code->masked && !cause.failed)
        m = mishap_tell_cause(m, cause.data);
    if (told->suggestion.length)
        m = mishap_suggest(m, told->suggestion.data);
    if (told->retry_after_ms >= 0)
        m = mishap_retry_after(m, told->retry_after_ms);
    if (told->retry_stated && !told->retryable)
        m = mishap_retryable(m, false);
    mishap_buffer_release(&cause);
    return mishap_because(m, failure);
}

/* What a service says of its failure may have its secret settings in it. */
static mishap *without_secrets(const mishap_service *service, mishap *failure)
{
    mishap_arena arena;
    mishap_secrets secrets;
    mishap_arena_init(&arena, NULL, 0);
    mishap_settings_learn(&secrets, &arena, service);
    mishap_hide_failure(failure, service->settings, &secrets);
    mishap_arena_release(&arena);
    return failure;
}

/* With a state it is opened, without one prepared. */
static mishap *ask_service(const mishap_service *service, const mishap_setup *setup, void **state)
{
    return state ? service->open(setup, state) : service->prepare(setup);
}

/* A service that asks for a setting which it does not declare is ended here. `holder` may be NULL.
 */
static mishap *run_open(const mishap_service *service, const mishap_setup *setup,
                        mishap_call *holder, void **state)
{
    sigjmp_buf way_out;
    if (!holder)
        return ask_service(service, setup, state);
    mishap *volatile failure = NULL;
    if (sigsetjmp(way_out, 0) == 0) {
        holder->way_out = &way_out;
        failure = ask_service(service, setup, state);
    } else {
        failure = mishap_note(mishap_raise(INTERNAL_ERROR,
                                           "The opening of the service %s was aborted: %s.",
                                           service->name, holder->misuse),
                              "setting", holder->misused ? holder->misused : "");
    }
    holder->way_out = NULL;
    return failure ? without_secrets(service, failure) : NULL;
}

/* How it is to be opened: *setup has what is given. */
static mishap *set_up(const mishap_app *app, const mishap_service *service, mishap_setup *setup,
                      mishap_call **holder)
{
    mishap *failure = mishap_settings_open(app, service, &setup->settings, holder);
    setup->identity = expected_of(service);
    if (!given)
        setup->sandbox = mishap_sandbox_mode_of(app->name, NULL);
    if (!failure && service->prepare)
        failure = run_open(service, setup, *holder, NULL);
    return failure ? not_available(service, failure) : NULL;
}

mishap *mishap_service_prepare(const mishap_app *app, const mishap_service *service)
{
    mishap_setup setup = given ? *given : (mishap_setup){ 0 };
    mishap_call *holder;
    return service->prepare ? set_up(app, service, &setup, &holder) : NULL;
}

static mishap *open_it(const mishap_app *app, const mishap_service *service, void **state)
{
    char folder[LONGEST_PATH];
    mishap_setup setup = given ? *given : (mishap_setup){ .data = folder };
    mishap_call *holder;
    mishap *failure = set_up(app, service, &setup, &holder);
    if (failure || !service->open)
        return failure;
    if (!given && !mishap_data_folder(app->name, folder, sizeof folder))
        return suggest_folder(app, mishap_raise(NOT_CONFIGURED,
                                                "No data folder is configured for the service %s.",
                                                service->name));
    bool makes = !setup.identity && setup.data && *setup.data;
    failure = makes ? make_folder(app, setup.data) : NULL;
    if (!failure)
        failure = run_open(service, &setup, holder, state);
    return failure ? not_available(service, failure) : NULL;
}

static struct opened *find_opened(const mishap_service *service)
{
    size_t known = atomic_load_explicit(&count, memory_order_acquire);
    for (size_t i = 0; i < known; i++)
        if (opened[i].service == service)
            return &opened[i];
    return NULL;
}

/* The lock is held: no other thread opens it as well. */
static mishap *find_or_open(const mishap_app *app, const mishap_service *service, void **state)
{
    struct opened *found = find_opened(service);
    size_t known = atomic_load_explicit(&count, memory_order_relaxed);
    void *made = NULL;
    if (!found && known == MOST_SERVICES)
        return mishap_raise(INTERNAL_ERROR, "The program has more than %d services.",
                            MOST_SERVICES);
    mishap *failure = found ? NULL : open_it(app, service, &made);
    if (failure)
        return failure;
    if (!found) {
        opened[known] = (struct opened){ service, made };
        atomic_store_explicit(&count, known + 1, memory_order_release);
    }
    *state = found ? found->state : made;
    return NULL;
}

mishap *mishap_service_open(const mishap_app *app, const mishap_service *service, void **state)
{
    struct opened *found = find_opened(service);
    struct timespec until;
    if (found) {
        *state = found->state;
        return NULL;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    if (pthread_mutex_timedlock(&lock, &until) != 0)
        return mishap_note(
            mishap_raise(UNAVAILABLE, "The service %s is not available.", service->name), "reason",
            "another thread has been opening a service for too long");
    mishap *failure = find_or_open(app, service, state);
    pthread_mutex_unlock(&lock);
    return failure;
}

const char *mishap_service_identity(const mishap_service *service)
{
    const struct opened *found = find_opened(service);
    const char *identity = found && service->identity ? service->identity(found->state) : NULL;
    return identity ? identity : "";
}

mishap *mishap_service_open_all(const mishap_app *app)
{
    mishap *failure = NULL;
    void *state;
    for (const mishap_operation *o = app->operations; o && o->name && !failure; o++)
        if (o->service)
            failure = mishap_service_open(app, o->service, &state);
    return failure;
}

void mishap_service_close_all(void)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return; /* who crashed while it opened a service has the lock for ever */
    for (size_t known = atomic_load(&count); known; known--) {
        struct opened *last = &opened[known - 1];
        atomic_store(&count, known - 1);
        if (last->service->close)
            last->service->close(last->state);
        *last = (struct opened){ NULL, NULL };
    }
    pthread_mutex_unlock(&lock);
}

/* -- reads from standbys ----------------------------------------------------------------------- */

bool mishap_service_is_stale(const mishap_app *app, const mishap_service *service)
{
    for (const mishap_operation *o = app->operations; o && o->name; o++)
        if (o->service == service && o->stale)
            return true;
    return false;
}

/* -- failures ---------------------------------------------------------------------------------- */

void mishap_service_amend(const mishap_operation *operation, mishap *failure)
{
    if (operation && operation->service && operation->service->amend && failure)
        operation->service->amend(operation, failure);
}
