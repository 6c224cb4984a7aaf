/* One invoke: its caller, its method, and the transaction around it. */
#include <time.h>

#include "artifacts/request.h"

/* -- the request ------------------------------------------------------------------------------- */

int64_t artifacts_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void release_request(void *request)
{
    artifacts_request *r = request;
    mishap_buffer_release(&r->answer);
    mishap_buffer_release(&r->event);
}

artifacts_request *artifacts_request_begin(mishap_call *call)
{
    mishap_store *store = mishap_store_of(call);
    artifacts_request *r = mishap_call_take(call, sizeof *r);
    *r = (artifacts_request){ .call = call, .store = store, .now = artifacts_now() };
    mishap_call_defer(call, release_request, r);
    return r;
}

static bool is_apart(const char *artifact, const char *method)
{
    const artifacts_genesis *genesis = artifacts_genesis_find(artifact);
    if (!genesis)
        return strcmp(method, "run") == 0;
    for (const artifacts_method *m = genesis->methods; m->name; m++)
        if (strcmp(m->name, method) == 0)
            return m->apart;
    return false;
}

bool artifacts_is_apart(const mishap_call *call)
{
    const char *name = mishap_operation_name(call);
    return strcmp(name, artifacts_trial.operation->name) == 0 ||
           (strcmp(name, "artifacts.invoke") == 0 &&
            is_apart(mishap_string(call, "artifact"), mishap_string(call, "method")));
}

/* -- the caller -------------------------------------------------------------------------------- */

static const char *how_to_be_known(const mishap_call *call)
{
    if (!mishap_caller_is_free(call)) /* a command and `mcp` cannot send a key */
        return mishap_remote(call)
                   ? "Send an API key as `Authorization: Bearer KEY`: it names the caller."
                   : "Call the server with an API key: it names the caller.";
    if (mishap_boundary(call) == MISHAP_BY_COMMAND)
        return "Name the caller with `--caller NAME`.";
    return mishap_boundary(call) == MISHAP_BY_HTTP
               ? "Name the caller with the header `X-Caller: NAME`, or in the argument caller."
               : "Name the caller in the argument caller.";
}

/* The argument `caller` counts if a caller may name itself; otherwise it must repeat the caller's
 * name. */
static mishap *read_caller(artifacts_request *r)
{
    const char *named = mishap_string(r->call, "caller"), *known = mishap_caller(r->call);
    if (named && known && strcmp(named, known) != 0)
        return mishap_tell(mishap_permission("The caller is %s and cannot act as %s", known, named),
                           "caller", known);
    if (named && !known && !mishap_caller_is_free(r->call))
        return mishap_suggest(mishap_permission("An API key is needed to act as %s", named),
                              how_to_be_known(r->call));
    r->caller = known ? known : named;
    if (r->caller && artifacts_is_reserved(r->caller) && mishap_boundary(r->call) != MISHAP_BY_C)
        return mishap_permission("Nobody can act as %s from outside", r->caller);
    return NULL;
}

static mishap *must_be_principal(artifacts_request *r)
{
    if (!r->caller)
        return mishap_suggest(mishap_permission("%s needs a caller", r->method->name),
                              how_to_be_known(r->call));
    mishap *failure = artifacts_principal_must_exist(r, mishap_text_of(r->caller));
    if (!failure || !mishap_is(failure, NOT_FOUND))
        return failure;
    mishap_free(failure);
    failure = mishap_permission("%s is not a principal", r->caller);
    return mishap_suggest(mishap_tell(failure, "caller", r->caller),
                          "Call as one of the principals that genesis_ledger.all_balances lists. "
                          "One of them can make another with genesis_ledger.spawn_principal.");
}

/* -- idempotency keys -------------------------------------------------------------------------- */

/* The value of a header was not checked to be text. */
static bool is_printable(const char *text)
{
    while (*text >= ' ' && *text <= '~')
        text++;
    return !*text;
}

static mishap *read_key(artifacts_request *r)
{
    enum { LONGEST = 200 };
    const char *given = mishap_string(r->call, "idempotency_key");
    const char *header = mishap_header(r->call, "Idempotency-Key");
    if (header && !*header)
        header = NULL;
    if (header && !is_printable(header))
        return mishap_validation("The header Idempotency-Key must have printable characters of "
                                 "ASCII only");
    if (given && header && strcmp(given, header) != 0)
        return mishap_validation("The header Idempotency-Key and the argument idempotency_key "
                                 "differ");
    r->key = given ? given : header;
    if (r->key && strlen(r->key) > LONGEST)
        return mishap_validation("An idempotency key has at most %d bytes", LONGEST);
    return NULL;
}

/* -- changes ----------------------------------------------------------------------------------- */

static mishap *complete(artifacts_request *r)
{
    mishap_text event = mishap_buffer_text(r->event.length ? &r->event : &r->answer);
    if (r->answer.failed || r->event.failed)
        return mishap_out_of_memory();
    if (!r->method || r->method->writes)
        MISHAP_TRY(artifacts_event_add(r, r->caller, r->artifact, r->method_name, event));
    return artifacts_kept_add(r);
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
        MISHAP_TRY(must_be_principal(r));
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

/* Another call with the same key may have been settled since the key was looked up: then the result
 * is its answer, or a conflict with it. If the outcome of a commit is unknown, the store has
 * already looked for everything that can be found. */
static mishap *look_again(artifacts_request *r, mishap *failure)
{
    bool found = false;
    if (mishap_is(failure, TIMEOUT))
        return failure;
    mishap *other = artifacts_kept_find(r, &found);
    if (!found) {
        mishap_free(other);
        return failure;
    }
    mishap_free(failure);
    return other;
}

/* A call that is run again may have been settled before its process died. */
static mishap *change_once(artifacts_request *r)
{
    bool found = false;
    if (mishap_call_is_repeated(r->call))
        MISHAP_TRY(artifacts_kept_find_call(r, &found));
    if (found)
        return mishap_store_confirm(r->store);
    if (!artifacts_is_embedded())
        MISHAP_TRY(artifacts_kept_find(r, &found)); /* it was settled, and this is its answer */
    if (found)
        return NULL;
    mishap *failure = artifacts_record(r);
    return failure && r->key && !artifacts_is_embedded() ? look_again(r, failure) : failure;
}

/* -- the operation ----------------------------------------------------------------------------- */

static mishap *call_method(artifacts_request *r)
{
    bool changes = r->method->writes;
    if (!changes && r->method->tends)
        MISHAP_TRY(artifacts_mint_is_due(r, &changes));
    if (changes)
        return change_once(r);
    artifacts_answer_begin(r);
    MISHAP_TRY(r->method->run(r));
    artifacts_answer_end(r);
    return NULL;
}

static mishap *call_genesis(artifacts_request *r, const artifacts_genesis *genesis)
{
    MISHAP_TRY(artifacts_method_find(genesis, r->method_name, &r->method));
    if (r->method->system && !(r->caller && strcmp(r->caller, "system") == 0))
        return mishap_permission("%s is a method of the system", r->method_name);
    if (!r->method->writes) /* it ends an auction at most, and that happens only once */
        r->key = NULL;
    MISHAP_TRY(artifacts_arguments_read(r));
    return call_method(r);
}

/* All other artifacts, of any owner. */
static mishap *call_artifact(artifacts_request *r)
{
    char owner[64];
    if (strcmp(r->method_name, "run") == 0)
        return artifacts_execute(r);
    MISHAP_TRY(artifacts_owner_of(r, mishap_text_of(r->artifact), owner));
    return mishap_tell(
        mishap_resource("The artifact %s has no method %s.", r->artifact, r->method_name),
        "methods", mishap_value_of_json("[\"run\"]"));
}

static mishap *invoke(artifacts_request *r)
{
    mishap_call *call = r->call;
    r->artifact = mishap_string(call, "artifact");
    r->method_name = mishap_string(call, "method");
    MISHAP_TRY(read_caller(r));
    MISHAP_TRY(read_key(r));
    const artifacts_genesis *genesis = artifacts_genesis_find(r->artifact);
    MISHAP_TRY(genesis ? call_genesis(r, genesis) : call_artifact(r));
    mishap_buffer_add(&r->answer, "", 1);
    return r->answer.failed ? mishap_out_of_memory() : mishap_answer(call, r->answer.data);
}

/* If the store itself failed, SQLite may have rolled back the whole batch. Then none of it is
 * settled: this call fails, and the others are run again. */
mishap *artifacts_invoke(mishap_call *call)
{
    artifacts_request *r = artifacts_request_begin(call);
    mishap *failure = invoke(r);
    if (artifacts_is_embedded() && !r->store_is_sound &&
        (mishap_is(failure, INTERNAL_ERROR) || mishap_is(failure, INSUFFICIENT_STORAGE) ||
         mishap_is(failure, NOT_CONFIGURED)))
        mishap_service_lost(call);
    return failure;
}
