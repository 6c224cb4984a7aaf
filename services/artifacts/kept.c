/*
 * Stored answers. Each change is stored with its answer, under the id of its call: if the process
 * dies between the commit and the answer, the call is run again and finds it. If the caller gave an
 * idempotency key, the answer is also stored under that key for a day. Failures are not stored:
 * they changed nothing.
 *
 * The answers under keys are limited for each principal, and for all other callers together: the
 * oldest are removed first. All callers together have a limit as well, of which each has an equal
 * share: a caller that stores little loses nothing to callers that store much.
 */
#include <inttypes.h>
#include <stdio.h>

#include "artifacts/request.h"

enum {
    KEPT_MS = 24 * 3600 * 1000,
    CALLS_MS = 600 * 1000, /* a call that is run again is run at once */
    KEPT_OF_ONE = 8 << 20,
    KEPT_OF_ALL = 256 << 20,
    LONGEST_REQUEST = 1000, /* a longer request is stored as a hash */
    ROW = 200,              /* bytes of a row and its indexes, beside its values */
};

/* -- the request of a key ---------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Copy JSON that the library has written, with the .0 of whole numbers removed: 3.0 and 3 are the
 * same number. Strings are not changed. */
static char *copy_with_numbers_alike(artifacts_request *r, const char *json)
{
    char *copy = mishap_call_take(r->call, strlen(json) + 1), *to = copy;
    bool inside = false;
    for (const char *c = json; *c; c++) {
        if (*c == '"')
            inside = !inside;
        if (inside && *c == '\\' && c[1])
            *to++ = *c++;
        else if (!inside && *c == '.' && c[1] == '0' && !is_digit(c[2])) {
            c++;
            continue;
        }
        *to++ = *c;
    }
    *to = '\0';
    return copy;
}

/* The text that must be the same when a key is used again. For a long request a hash is enough:
 * only the caller itself could find another request with the same hash, and would get its own
 * answer. */
static const char *request_of(artifacts_request *r)
{
    const char *given = mishap_given(r->call, "args") ? mishap_json(r->call, "args") : "[]";
    const char *args = copy_with_numbers_alike(r, given);
    size_t length = strlen(args);
    if (length <= LONGEST_REQUEST)
        return mishap_call_print(r->call, "%s.%s %s", r->artifact, r->method_name, args);
    uint64_t hash = mishap_text_hash((mishap_text){ args, length });
    return mishap_call_print(r->call, "%s.%s #%016" PRIx64 " %zu", r->artifact, r->method_name,
                             hash, length);
}

/* Only principals can change something, but every caller can run code, under any name: all callers
 * that are no principals share one place. */
static mishap *find_place(artifacts_request *r, const char **caller, const char **key)
{
    const char *name = r->caller ? r->caller : "";
    *caller = name;
    *key = r->key;
    if (r->method)
        return NULL;
    mishap *failure = *name ? artifacts_principal_must_exist(r, mishap_text_of(name)) : NULL;
    if (*name && !mishap_is(failure, NOT_FOUND))
        return failure;
    mishap_free(failure);
    *caller = "";
    *key = mishap_call_print(r->call, "%s %s", name, r->key); /* a name contains no space */
    return NULL;
}

/* -- answers ----------------------------------------------------------------------------------- */

static void take_kept_answer(artifacts_request *r, mishap_text answer)
{
    mishap_buffer_reset(&r->answer);
    mishap_buffer_add(&r->answer, answer.data, answer.length);
}

mishap *artifacts_kept_find(artifacts_request *r, bool *found)
{
    mishap_query query;
    const char *caller, *key;
    bool same = true;
    *found = false;
    if (!r->key)
        return NULL;
    MISHAP_TRY(find_place(r, &caller, &key));
    mishap_query_begin(&query, r->store, ARTIFACTS_KEPT_GET);
    mishap_query_bind_text(&query, 1, mishap_text_of(caller));
    mishap_query_bind_text(&query, 2, mishap_text_of(key));
    while (mishap_query_step(&query)) {
        *found = true;
        same = mishap_text_equal(mishap_query_text(&query, 0), mishap_text_of(request_of(r)));
        take_kept_answer(r, mishap_query_text(&query, 1));
    }
    MISHAP_TRY(mishap_query_end(&query));
    if (*found && same) /* the earlier call may not know whether its change is durable */
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
            take_kept_answer(r, mishap_query_text(&query, 0));
    }
    return mishap_query_end(&query);
}

static mishap *add_key(artifacts_request *r, size_t *stored)
{
    mishap_query query;
    const char *caller, *key, *request = request_of(r);
    bool added;
    MISHAP_TRY(find_place(r, &caller, &key));
    size_t size = strlen(caller) + strlen(key) + strlen(request) + r->answer.length + ROW;
    *stored = size;
    mishap_query_begin(&query, r->store, ARTIFACTS_KEPT_ADD);
    mishap_query_bind_text(&query, 1, mishap_text_of(caller));
    mishap_query_bind_text(&query, 2, mishap_text_of(key));
    mishap_query_bind_text(&query, 3, mishap_text_of(request));
    mishap_query_bind_text(&query, 4, mishap_buffer_text(&r->answer));
    mishap_query_bind_integer(&query, 5, r->now);
    mishap_query_bind_integer(&query, 6, (int64_t)size);
    MISHAP_TRY(artifacts_run(&query, &added));
    return added ? NULL /* another call with this key was faster: this one is undone */
                 : mishap_retry_after(
                       mishap_raise(UNAVAILABLE,
                                    "Another request with this idempotency key runs now."),
                       1000);
}

/* What code has answered may be long, and the call that has run it still has it: if a commit is not
 * confirmed, all that it looks up is whether it was made. */
mishap *artifacts_kept_add(artifacts_request *r, size_t *stored)
{
    mishap_text answer = r->method ? mishap_buffer_text(&r->answer) : (mishap_text)MISHAP_TEXT("");
    mishap_query query;
    *stored = 0;
    if (r->key)
        MISHAP_TRY(add_key(r, stored));
    mishap_query_begin(&query, r->store, ARTIFACTS_CALL_ADD);
    mishap_query_bind_text(&query, 1, mishap_text_of(mishap_call_id(r->call)));
    mishap_query_bind_text(&query, 2, answer);
    mishap_query_bind_integer(&query, 3, r->now);
    return artifacts_run(&query, NULL);
}

/* -- limits ------------------------------------------------------------------------------------ */

/* If something fails here, it is done the next time. */
static void purge(mishap_store *store, artifacts_statement what, int64_t before)
{
    mishap_query query;
    mishap_query_begin(&query, store, what);
    mishap_query_bind_integer(&query, 1, before);
    mishap_free(artifacts_run(&query, NULL));
}

static int64_t count_callers(mishap_store *store)
{
    mishap_query query;
    int64_t count = 0;
    mishap_query_begin(&query, store, ARTIFACTS_KEPT_CALLERS);
    while (mishap_query_step(&query))
        count = mishap_query_integer(&query, 0);
    mishap_free(mishap_query_end(&query));
    return count;
}

static void cut_kept_answers(mishap_store *store, const char *caller, int64_t bytes)
{
    mishap_query query;
    mishap_query_begin(&query, store, ARTIFACTS_KEPT_CUT);
    mishap_query_bind_text(&query, 1, mishap_text_of(caller));
    mishap_query_bind_integer(&query, 2, bytes);
    mishap_free(artifacts_run(&query, NULL));
}

/* Cut each caller above its share to three quarters of it, so that this does not happen for every
 * answer. True: there may be more such callers. */
static bool cut_some(mishap_store *store, int64_t share)
{
    enum { AT_ONCE = 256 };
    char callers[AT_ONCE][ARTIFACTS_LONGEST_NAME + 1];
    size_t over = 0;
    mishap_query query;
    mishap_query_begin(&query, store, ARTIFACTS_KEPT_OVER);
    mishap_query_bind_integer(&query, 1, share);
    mishap_query_bind_integer(&query, 2, AT_ONCE);
    while (mishap_query_step(&query) && over < AT_ONCE) {
        mishap_text name = mishap_query_text(&query, 0);
        if (name.length <= ARTIFACTS_LONGEST_NAME)
            artifacts_copy_name(callers[over++], name);
    }
    mishap_free(mishap_query_end(&query));
    for (size_t i = 0; i < over; i++)
        cut_kept_answers(store, callers[i], share - share / 4);
    return over == AT_ONCE;
}

static void cut_all(mishap_store *store)
{
    enum { MOST_TIMES = 16 };
    int64_t count = count_callers(store), share = count ? KEPT_OF_ALL / count : KEPT_OF_ALL;
    if (share > KEPT_OF_ONE)
        share = KEPT_OF_ONE;
    for (int i = 0; i < MOST_TIMES && cut_some(store, share); i++)
        ;
}

void artifacts_kept_purge(mishap_store *store, int64_t now)
{
    purge(store, ARTIFACTS_KEPT_PURGE, now - KEPT_MS);
    purge(store, ARTIFACTS_CALL_PURGE, now - CALLS_MS);
    cut_all(store);
}
