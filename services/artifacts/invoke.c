/* One invoke: its method or its code, and what happens if it was made before. */
#include "artifacts/request.h"

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
    MISHAP_TRY(artifacts_caller_read(r));
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
