/* Failures of a store as callers get them. The engine's own words are noted by the engine. */
#include "base/rehearsal.h"
#include "store/store.h"

static const char outcome[] = "outcome", unknown[] = "unknown";

static mishap *unknown_outcome(void)
{
    mishap *m = mishap_raise(TIMEOUT,
                             "The store did not confirm the change. It may or may not have "
                             "been made.");
    return mishap_tell(m, outcome, unknown);
}

bool mishap_store_outcome_unknown(const mishap *failure)
{
    const mishap_public *told = mishap_told(failure);
    return told && told->code == MISHAP_CODE_TIMEOUT && mishap_public_member(told, outcome);
}

mishap *mishap_store_is_damaged(mishap *failure, const char *advice)
{
    return mishap_retryable(mishap_suggest(failure, advice), false);
}

/* Of all failures of opening, only damage states explicitly that a retry cannot help. */
static bool tells_of_damage(const mishap *failure)
{
    const mishap_public *told = mishap_told(failure);
    return told && told->code == MISHAP_CODE_NOT_CONFIGURED && told->retry_stated &&
           !told->retryable;
}

mishap *mishap_store_failure(store_trouble trouble)
{
    switch (trouble) {
    case STORE_FINE:
        break;
    case STORE_TAKEN:
        return mishap_raise(ALREADY_EXISTS, NULL);
    case STORE_DANGLING:
        return mishap_raise(CONFLICT, NULL);
    case STORE_AGAIN:
    case STORE_BUSY:
        return mishap_retry_after(mishap_raise(UNAVAILABLE, "The store is busy."), STORE_RETRY_MS);
    case STORE_FULL:
        return mishap_raise(INSUFFICIENT_STORAGE, NULL);
    case STORE_LOST:
        return mishap_retry_after(mishap_raise(UNAVAILABLE, "The store is not available."),
                                  STORE_RETRY_MS);
    case STORE_STANDBY:
        return mishap_retry_after(mishap_raise(UNAVAILABLE, "The store takes no changes now."),
                                  STORE_RETRY_MS);
    case STORE_UNKNOWN:
    case STORE_UNSAFE:
        return unknown_outcome();
    case STORE_DAMAGED:
        return mishap_store_is_damaged(mishap_raise(NOT_CONFIGURED, "The store is damaged."),
                                       "Ask the operator to restore the store from a backup.");
    case STORE_BROKEN:
        return mishap_raise(INTERNAL_ERROR, "The store failed.");
    }
    return NULL;
}

/* The library opens the store again in the background, and answers calls accordingly. */
mishap *mishap_store_lost(mishap_store *store, mishap *cause)
{
    if (store->call)
        mishap_service_lost(store->call);
    return mishap_because(mishap_store_failure(tells_of_damage(cause) ? STORE_DAMAGED : STORE_LOST),
                          cause);
}

/* The use is counted, and the process may end here. */
mishap *mishap_store_use(mishap_store *store)
{
    if (!mishap_rehearsal_page || !mishap_rehearsal_use_store())
        return NULL;
    return mishap_store_lost(store, mishap_raise(UNAVAILABLE, "A test has taken the store away."));
}

/* -- opening ----------------------------------------------------------------------------------- */

mishap *mishap_store_is_newer(const char *where, int version, int newest)
{
    return mishap_suggest(
        mishap_raise(
            NOT_CONFIGURED,
            "The store %s has version %d, but this program supports only versions up to %d.",
            where ? where : "in PostgreSQL", version, newest),
        "Run a newer version of the program, or restore a backup of the store from before the "
        "upgrade.");
}

mishap *mishap_store_is_foreign(const char *where, const char *service)
{
    mishap *m = where ? mishap_raise(NOT_CONFIGURED, "The file %s has tables of another program.",
                                     where)
                      : mishap_raise(NOT_CONFIGURED,
                                     "The schema %s of the database is not that of this service.",
                                     service);
    return mishap_suggest(m, where ? "Use another file for the store."
                                   : "Use another database for the store, or rename the schema.");
}

mishap *mishap_store_is_another(const char *where)
{
    return mishap_suggest(
        mishap_raise(NOT_CONFIGURED,
                     "The store %s is not the store that the server opened when it started.",
                     where ? where : "in PostgreSQL"),
        "Restore the original store, or restart the server.");
}
