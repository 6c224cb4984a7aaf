/*
 * Answers that were given. Each change is stored with its answer, under the id of its call: if the
 * process dies between the commit and the answer, the call is run again and finds it. If the caller
 * gave an idempotency key, the answer is kept for a day under that, too. Failures are not kept:
 * they changed nothing.
 */
#include "artifacts/request.h"

enum { KEPT_MS = 24 * 3600 * 1000, CALLS_MS = 3600 * 1000 };

static const char *caller_of(const artifacts_request *r)
{
    return r->caller ? r->caller : "";
}

/* What must be the same again. */
static const char *request_of(artifacts_request *r)
{
    const char *args = mishap_given(r->call, "args") ? mishap_json(r->call, "args") : "[]";
    return mishap_call_print(r->call, "%s.%s %s", r->artifact, r->method_name, args);
}

static void take(artifacts_request *r, mishap_text answer)
{
    mishap_buffer_reset(&r->answer);
    mishap_buffer_add(&r->answer, answer.data, answer.length);
}

mishap *artifacts_kept_find(artifacts_request *r, bool *found)
{
    mishap_query query;
    bool same = true;
    *found = false;
    if (!r->key)
        return NULL;
    mishap_query_begin(&query, r->store, ARTIFACTS_KEPT_GET);
    mishap_query_bind_text(&query, 1, mishap_text_of(caller_of(r)));
    mishap_query_bind_text(&query, 2, mishap_text_of(r->key));
    while (mishap_query_step(&query)) {
        *found = true;
        same = mishap_text_equal(mishap_query_text(&query, 0), mishap_text_of(request_of(r)));
        take(r, mishap_query_text(&query, 1));
    }
    MISHAP_TRY(mishap_query_end(&query));
    if (*found && same) /* the earlier call may not know whether its change lasts */
        return mishap_store_confirm(r->store);
    return same ? NULL
                : mishap_tell(mishap_resource_as(CONFLICT, "This idempotency key was used for "
                                                           "another request."),
                              "idempotency_key", r->key);
}

mishap *artifacts_kept_find_call(artifacts_request *r, bool *found)
{
    mishap_query query;
    *found = false;
    mishap_query_begin(&query, r->store, ARTIFACTS_CALL_GET);
    mishap_query_bind_text(&query, 1, mishap_text_of(mishap_call_id(r->call)));
    while (mishap_query_step(&query)) {
        *found = true;
        if (r->method)
            take(r, mishap_query_text(&query, 0));
    }
    return mishap_query_end(&query);
}

static mishap *add_key(artifacts_request *r)
{
    mishap_query query;
    bool added;
    mishap_query_begin(&query, r->store, ARTIFACTS_KEPT_ADD);
    mishap_query_bind_text(&query, 1, mishap_text_of(caller_of(r)));
    mishap_query_bind_text(&query, 2, mishap_text_of(r->key));
    mishap_query_bind_text(&query, 3, mishap_text_of(request_of(r)));
    mishap_query_bind_text(&query, 4, mishap_buffer_text(&r->answer));
    mishap_query_bind_integer(&query, 5, r->now);
    MISHAP_TRY(artifacts_run(&query, &added));
    return added ? NULL /* another call with this key was faster: this one is undone */
                 : mishap_retry_after(
                       mishap_raise(UNAVAILABLE,
                                    "Another request with this idempotency key runs now."),
                       1000);
}

/* What code has answered may be long, and the call that has run it still has it: if a commit is not
 * confirmed, all that it looks up is whether it was made. */
mishap *artifacts_kept_add(artifacts_request *r)
{
    mishap_text answer = r->method ? mishap_buffer_text(&r->answer) : (mishap_text)MISHAP_TEXT("");
    mishap_query query;
    if (r->key)
        MISHAP_TRY(add_key(r));
    mishap_query_begin(&query, r->store, ARTIFACTS_CALL_ADD);
    mishap_query_bind_text(&query, 1, mishap_text_of(mishap_call_id(r->call)));
    mishap_query_bind_text(&query, 2, answer);
    mishap_query_bind_integer(&query, 3, r->now);
    return artifacts_run(&query, NULL);
}

static void purge(mishap_store *store, artifacts_statement what, int64_t before)
{
    mishap_query query;
    mishap_query_begin(&query, store, what);
    mishap_query_bind_integer(&query, 1, before);
    mishap_free(artifacts_run(&query, NULL)); /* the next time, then */
}

void artifacts_kept_purge(mishap_store *store, int64_t now)
{
    purge(store, ARTIFACTS_KEPT_PURGE, now - KEPT_MS);
    purge(store, ARTIFACTS_CALL_PURGE, now - CALLS_MS);
}
