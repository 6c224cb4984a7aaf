/* Opening and closing a store, and the store of a call. */
#include "store/store.h"

#include <stdio.h>
#include <time.h>

#include "base/rehearsal.h"
#include "operation/call.h"

int64_t mishap_store_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int mishap_store_newest(const char *const *migrations)
{
    int newest = 0;
    while (migrations[newest])
        newest++;
    return newest;
}

/* -- opening ----------------------------------------------------------------------------------- */

/* The name is used as a schema in SQL and as a file in a path. */
static bool has_sound_name(const mishap_store_schema *schema)
{
    size_t length = strlen(schema->name);
    return length > 0 && length <= 40 && schema->name[0] >= 'a' && schema->name[0] <= 'z' &&
           strspn(schema->name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

static mishap *check_schema(const mishap_store_schema *schema)
{
    const char *why = NULL;
    if (!has_sound_name(schema))
        why = "its name must be lower_snake and have at most 40 bytes";
    else if (schema->postgresql && schema->sqlite &&
             mishap_store_newest(schema->sqlite) != mishap_store_newest(schema->postgresql))
        why = "both engines must have the same number of migrations";
    return why ? mishap_raise(INTERNAL_ERROR,
                              "The schema of a store is not declared correctly: %s.", why)
               : NULL;
}

/* The folder is copied. NULL: none. */
static mishap *keep_folder(mishap_store *store, const char *folder)
{
    size_t size = folder ? strlen(folder) + 1 : 0;
    if (!size)
        return NULL;
    store->folder = mishap_allocate(size);
    if (!store->folder)
        return mishap_out_of_memory();
    memcpy(store->folder, folder, size);
    return NULL;
}

mishap *mishap_store_open_kept(const char *address, const char *identity, const char *folder,
                               const mishap_store_schema *schema, mishap_store **out)
{
    mishap_store *store = NULL;
    *out = NULL;
    MISHAP_TRY(check_schema(schema));
    if (mishap_rehearsal_store_is_gone())
        return mishap_store_failure(STORE_LOST);
    mishap *failure = mishap_store_for_address(address, schema, &store);
    if (!failure)
        failure = keep_folder(store, folder);
    if (!failure)
        failure = store->engine->open(store, identity);
    if (failure && store)
        mishap_tally_add(store->engine->failures);
    if (failure)
        mishap_store_close(store);
    else
        *out = store;
    return failure;
}

mishap *mishap_store_open(const char *address, const char *identity,
                          const mishap_store_schema *schema, mishap_store **out)
{
    return mishap_store_open_kept(address, identity, NULL, schema, out);
}

static mishap *open_in_folder(const char *folder, const char *identity,
                              const mishap_store_schema *schema, mishap_store **out)
{
    static const char form[] = "sqlite:%s/";
    size_t size = strlen(folder) + sizeof form;
    char *address = mishap_allocate(size);
    if (!address)
        return mishap_out_of_memory();
    snprintf(address, size, form, folder);
    mishap *failure = mishap_store_open(address, identity, schema, out);
    mishap_release(address);
    return failure;
}

mishap *mishap_store_open_service(const mishap_setup *setup, const mishap_store_schema *schema,
                                  mishap_store **out)
{
    const char *address = setup->settings ? mishap_string(setup->settings, "store") : NULL;
    *out = NULL;
    if (address) {
        mishap *failure = mishap_store_open_kept(address, setup->identity, setup->data, schema,
                                                 out);
        if (!failure && setup->stale_ms > 0 && (*out)->engine->has_standbys &&
            (*out)->engine->has_standbys(*out))
            (*out)->stale_ms = setup->stale_ms;
        return failure;
    }
    if (setup->data && *setup->data)
        return open_in_folder(setup->data, setup->identity, schema, out);
    mishap *m = mishap_raise(
        NOT_CONFIGURED, "No folder is configured for the store of the service %s.", schema->name);
    return mishap_suggest(m, "Name a data folder with --data, or a store with --store.");
}

const char *mishap_store_identity(const mishap_store *store)
{
    return store->identity;
}

void mishap_store_limit_answers(mishap_store *store, int limit_ms)
{
    store->answer_ms = limit_ms;
}

void mishap_store_close(mishap_store *store)
{
    if (!store)
        return;
    mishap_store_unwind(store, 0);
    mishap_release(store->folder);
    store->engine->close(store);
}

/* -- the store of a call ----------------------------------------------------------------------- */

static void forget_call(mishap_store *store)
{
    mishap_store_unwind(store, store->call_depth);
    store->call = NULL;
    store->call_depth = 0;
    store->reads = STORE_READS_ANYWHERE;
    store->wrote = false;
}

/* Which position in the log a standby must have replayed, so that the caller sees there what this
 * call has changed. If it was not committed yet, that is not known. */
static void tell_position(mishap_store *store)
{
    mishap_call *call = store->call;
    bool asked = call->log_after == MISHAP_LOG_UNKNOWN && store->reads == STORE_READS_AT_PRIMARY;
    if ((!store->wrote && !asked) || !mishap_service_is_stale(call->app, call->operation->service))
        return;
    uint64_t position = store->depth ? 0 : store->engine->position(store);
    call->log_position = position ? position : MISHAP_LOG_UNKNOWN;
}

static void leave_call(void *state)
{
    mishap_store *store = state;
    mishap_store_unwind(store, store->call_depth);
    if (store->stale_ms)
        tell_position(store);
    forget_call(store);
}

/* After a crash no deferred function is called, and another call may have the same address: so the
 * list of the call decides, not the pointer. */
static bool is_joined(const mishap_call *call, const mishap_store *store)
{
    for (const mishap_deferred *deferred = call->deferred; deferred; deferred = deferred->before)
        if (deferred->function == leave_call && deferred->argument == store)
            return true;
    return false;
}

mishap_store *mishap_store_of(mishap_call *call)
{
    mishap_store *store = mishap_state(call);
    if (store->call == call && is_joined(call, store))
        return store;
    if (store->call) /* crashed */
        forget_call(store);
    mishap_call_defer(call, leave_call, store);
    store->call = call;
    store->call_depth = store->depth;
    return store;
}
