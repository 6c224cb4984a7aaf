/* The transaction of a change: its work, its event, and its answer, which is kept. */
#include "artifacts/request.h"

static mishap *complete(artifacts_request *r)
{
    mishap_text event = mishap_buffer_text(r->event.length ? &r->event : &r->answer);
    if (r->answer.failed || r->event.failed)
        return mishap_out_of_memory();
    if (!r->method || r->method->writes)
        MISHAP_TRY(artifacts_event_add(r, r->caller, r->artifact, r->method_name, event));
    size_t stored;
    mishap *failure = artifacts_kept_add(r, &stored);
    artifacts_purge_note(stored);
    return failure;
}

/* PostgreSQL may run the transaction again: it starts anew each time. There the key was looked up
 * before the transaction: searching for a missing key reads a page of the index, so every new key
 * on that page would be a conflict. A unique index prevents that a key is stored twice. */
static mishap *work(mishap_store *store, void *request)
{
    artifacts_request *r = request;
    bool found = false;
    (void)store;
    if (!r->method) /* the code has run already, and its answer is complete */
        return complete(r);
    if (r->method->writes && artifacts_is_embedded())
        MISHAP_TRY(artifacts_kept_find(r, &found));
    if (found)
        return NULL;
    artifacts_answer_begin(r);
    if (r->method->writes && !r->method->system)
        MISHAP_TRY(artifacts_caller_must_be_principal(r));
    if (r->method->tends)
        MISHAP_TRY(artifacts_mint_tend(r));
    MISHAP_TRY(r->method->run(r));
    artifacts_answer_end(r);
    return complete(r);
}

static mishap *look_up(mishap_store *store, void *request, bool *done)
{
    (void)store;
    return artifacts_kept_find_call(request, done);
}

/* In a batch the transaction is that of the batch, with a savepoint for this call. */
mishap *artifacts_record(artifacts_request *r)
{
    if (r->method && artifacts_is_embedded())
        return work(r->store, r);
    mishap *failure = mishap_store_transact(
        r->store, &(mishap_transaction){ .work = work, .look_up = look_up, .state = r });
    if (!failure)
        artifacts_purge_if_due(r->store, r->now);
    return failure;
}
