/*
 * Transactions. A transaction inside of another one is a savepoint of it, so that a function that
 * makes one works alone and as a part of a larger change.
 */
#include <time.h>

#include "base/system.h"
#include "store/store.h"

/* -- waiting ----------------------------------------------------------------------------------- */

enum { FIRST_PAUSE_US = 2000, LONGEST_PAUSE_US = 250000 };

/* The pause is random: transactions that conflicted would conflict again if all waited equally
 * long. */
void mishap_store_pause_before(int attempt)
{
    uint32_t random = 0;
    long longest = attempt < 8 ? (long)FIRST_PAUSE_US << attempt : LONGEST_PAUSE_US;
    if (longest > LONGEST_PAUSE_US)
        longest = LONGEST_PAUSE_US;
    if (!mishap_system_random(&random, sizeof random))
        random = UINT32_MAX / 2;
    long pause_us = longest / 4 +
                    (long)((uint64_t)random * (uint64_t)(longest - longest / 4) >> 32);
    nanosleep(&(struct timespec){ .tv_nsec = pause_us * 1000 }, NULL);
}

/* -- one level --------------------------------------------------------------------------------- */

void mishap_store_note_trouble(mishap_store *store, store_trouble trouble)
{
    if (trouble >= STORE_BUSY)
        mishap_tally_add(store->engine->failures);
    if (trouble == STORE_FINE || store->depth == 0)
        return;
    bool whole = trouble == STORE_AGAIN || trouble == STORE_BUSY || trouble == STORE_LOST;
    if (whole) /* the whole transaction is gone, not only its last part */
        store->failed_depth = 1;
    else if (!store->failed_depth || store->failed_depth > store->depth)
        store->failed_depth = store->depth;
    if (whole)
        store->again = true;
    if (trouble == STORE_DAMAGED)
        store->damaged = true;
}

store_trouble mishap_store_trouble_of(const mishap_store *store)
{
    return store->again ? STORE_AGAIN : store->damaged ? STORE_DAMAGED : STORE_BROKEN;
}

static void roll_back_level(mishap_store *store)
{
    store_trouble trouble = STORE_FINE;
    if (store->running)
        store->engine->abandon(store);
    mishap_free(store->engine->transact(store, STORE_ROLL_BACK, store->depth, &trouble));
    if (store->failed_depth >= store->depth)
        store->failed_depth = 0;
    store->depth--;
    mishap_store_note_trouble(store, trouble);
    if (store->depth == 0)
        store->failed_depth = 0;
}

void mishap_store_unwind(mishap_store *store, int depth)
{
    if (store->running)
        store->engine->abandon(store);
    while (store->depth > depth)
        roll_back_level(store);
}

static mishap *misused(const char *why)
{
    return mishap_raise(INTERNAL_ERROR, "The transaction is used incorrectly: %s.", why);
}

mishap *mishap_store_begin(mishap_store *store)
{
    store_trouble trouble = STORE_FINE;
    if (store->running)
        store->engine->abandon(store);
    if (store->depth == 0)
        store->again = store->damaged = false;
    if (store->failed_depth)
        return mishap_because(mishap_store_failure(mishap_store_trouble_of(store)),
                              misused("an earlier query has failed"));
    MISHAP_TRY(mishap_store_use(store));
    mishap *failure = store->engine->transact(store, STORE_BEGIN, store->depth + 1, &trouble);
    if (!failure) {
        store->depth++;
        return NULL;
    }
    if (store->depth == 0)
        store->again = trouble == STORE_AGAIN || trouble == STORE_BUSY;
    else
        mishap_store_note_trouble(store, trouble);
    return failure;
}

/* End the innermost level, by commit or by rollback. */
static mishap *commit_level(mishap_store *store, store_trouble *trouble)
{
    if (store->running)
        store->engine->abandon(store);
    if (store->failed_depth) {
        mishap *failure = mishap_because(mishap_store_failure(mishap_store_trouble_of(store)),
                                         misused("a query has failed"));
        *trouble = mishap_store_trouble_of(store);
        roll_back_level(store);
        return failure;
    }
    mishap *gone = mishap_store_use(store);
    if (gone) {
        roll_back_level(store);
        return gone;
    }
    mishap *failure = store->engine->transact(store, STORE_COMMIT, store->depth, trouble);
    if (!failure) {
        store->depth--;
        return NULL;
    }
    if (store->depth == 1) /* the engine has undone everything */
        store->again = *trouble == STORE_AGAIN || *trouble == STORE_BUSY || *trouble == STORE_LOST;
    else
        mishap_store_note_trouble(store, *trouble);
    store->depth--;
    if (store->depth == 0)
        store->failed_depth = 0;
    return failure;
}

static bool is_ours(const mishap_store *store)
{
    return store->depth > (store->call ? store->call_depth : 0);
}

mishap *mishap_store_commit(mishap_store *store)
{
    store_trouble trouble = STORE_FINE;
    return is_ours(store) ? commit_level(store, &trouble) : misused("there is none to commit");
}

void mishap_store_roll_back(mishap_store *store)
{
    if (is_ours(store))
        roll_back_level(store);
}

mishap *mishap_store_confirm(mishap_store *store)
{
    store_trouble trouble = STORE_FINE;
    if (store->running)
        store->engine->abandon(store);
    if (store->failed_depth)
        return mishap_because(mishap_store_failure(mishap_store_trouble_of(store)),
                              misused("an earlier query has failed"));
    mishap *failure = store->engine->confirm ? store->engine->confirm(store, &trouble) : NULL;
    mishap_store_note_trouble(store, trouble);
    return failure;
}

/* -- the work ---------------------------------------------------------------------------------- */

static mishap *try_once(mishap_store *store, const mishap_transaction *transaction,
                        store_trouble *trouble)
{
    int depth = store->depth;
    mishap *failure = mishap_store_begin(store);
    if (failure)
        return failure;
    failure = transaction->work(store, transaction->state);
    mishap_store_unwind(store, depth + 1); /* end the levels that the work has left open */
    if (store->depth <= depth)             /* … or has ended without having begun them */
        return mishap_because(misused("its work has ended it"), failure);
    if (!failure)
        return commit_level(store, trouble);
    roll_back_level(store);
    return failure;
}

/* How long to ask for a change whose outcome is not known: STORE_WHOLE_MS, and a little more if the
 * change itself has taken so long. */
static void limit_asking(mishap_store *store, int64_t begun_ms)
{
    store->until_ms = begun_ms + STORE_WHOLE_MS;
    if (store->until_ms < mishap_store_now_ms() + STORE_SHORT_PATIENCE)
        store->until_ms = mishap_store_now_ms() + STORE_SHORT_PATIENCE;
}

/* True: the change was made and is durable. A mishap: that is not known. */
static mishap *look_up(mishap_store *store, const mishap_transaction *transaction, int64_t begun_ms,
                       bool *done)
{
    mishap *failure = NULL;
    *done = false;
    limit_asking(store, begun_ms);
    for (int attempt = 0; attempt < STORE_TRIES; attempt++) {
        mishap_store_pause_before(attempt);
        if (attempt && mishap_store_now_ms() >= store->until_ms) /* no time for an answer */
            break;
        mishap_free(failure);
        failure = transaction->look_up(store, transaction->state, done);
        mishap_store_unwind(store, 0);
        if (!failure && *done)
            failure = mishap_store_confirm(store);
        if (!failure || !mishap_is(failure, UNAVAILABLE))
            break;
    }
    store->until_ms = 0;
    return failure;
}

/* After a commit without a confirmation. NULL and not done: it may be tried again. */
static mishap *resolve(mishap_store *store, const mishap_transaction *transaction, mishap *unknown,
                       int64_t begun_ms, bool *done)
{
    if (!transaction->look_up)
        return unknown;
    mishap *failure = look_up(store, transaction, begun_ms, done);
    if (failure)
        return mishap_because(unknown, failure);
    mishap_free(unknown);
    return NULL;
}

/* The first commit may have arrived late, and the failure of a later try may be only its
 * consequence: the row exists, or what it took is gone. That it was not made is known only when it
 * cannot be made any more: a commit that waits for a standby cannot be seen until then. */
static mishap *doubt(mishap_store *store, const mishap_transaction *transaction, int64_t begun_ms,
                     mishap *failure)
{
    bool done;
    limit_asking(store, begun_ms);
    bool over = !store->engine->is_over || store->engine->is_over(store);
    mishap *m = look_up(store, transaction, begun_ms, &done);
    if (!m && done) {
        mishap_free(failure);
        return NULL;
    }
    if (!m && over)
        return failure;
    mishap_free(m);
    return mishap_because(mishap_store_failure(STORE_UNKNOWN), failure);
}

static mishap *try_often(mishap_store *store, const mishap_transaction *transaction, int64_t begun,
                         bool *doubtful)
{
    bool outermost = store->depth == 0, done = false;
    mishap *failure;
    for (int attempt = 1;; attempt++) {
        store_trouble trouble = STORE_FINE;
        failure = try_once(store, transaction, &trouble);
        if (!outermost || !failure)
            return failure;
        bool again = store->again;
        if (trouble == STORE_UNKNOWN) {
            failure = resolve(store, transaction, failure, begun, &done);
            *doubtful = !failure && !done;
            if (failure || done)
                return failure;
            again = true;
        }
        if (!again)
            return failure;
        if (attempt == STORE_TRIES || mishap_store_now_ms() - begun > MISHAP_STORE_PATIENCE)
            break;
        mishap_free(failure);
        mishap_store_pause_before(attempt);
    }
    /* The failure that the work has made of its failed query need not be marked as retryable. */
    return failure && mishap_told(failure)->retryable
               ? failure
               : mishap_because(mishap_store_failure(STORE_AGAIN), failure);
}

mishap *mishap_store_transact(mishap_store *store, const mishap_transaction *transaction)
{
    bool doubtful = false;
    int64_t begun_ms = mishap_store_now_ms();
    if (store->depth == 0) /* the work of a try may have transactions inside */
        store->left_open = false;
    mishap *failure = try_often(store, transaction, begun_ms, &doubtful);
    return failure && doubtful ? doubt(store, transaction, begun_ms, failure) : failure;
}
