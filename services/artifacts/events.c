/* genesis_event_log: every invoke that changed something, in the order of their numbers. Only the
 * newest ones are kept. */
#include "artifacts/request.h"

mishap *artifacts_event_add(artifacts_request *r, const char *caller, const char *artifact,
                            const char *method, mishap_text result)
{
    mishap_query query;
    mishap_query_begin(&query, r->store, ARTIFACTS_EVENT_ADD);
    mishap_query_bind_integer(&query, 1, r->now);
    mishap_query_bind_text(&query, 2, mishap_text_of(caller));
    mishap_query_bind_text(&query, 3, mishap_text_of(artifact));
    mishap_query_bind_text(&query, 4, mishap_text_of(method));
    mishap_query_bind_text(&query, 5, result);
    return artifacts_run(&query, NULL);
}

/* The numbers of the first and the last event in the log; 0: it is empty. */
static mishap *find_ends(mishap_store *store, int64_t *first, int64_t *last)
{
    mishap_query query;
    *first = *last = 0;
    mishap_query_begin(&query, store, ARTIFACTS_EVENT_ENDS);
    while (mishap_query_step(&query)) {
        *first = mishap_query_integer(&query, 0);
        *last = mishap_query_integer(&query, 1);
    }
    return mishap_query_end(&query);
}

static int64_t find_old(mishap_store *store, int64_t until, int64_t before)
{
    mishap_query query;
    int64_t last = 0;
    mishap_query_begin(&query, store, ARTIFACTS_EVENT_OLD);
    mishap_query_bind_integer(&query, 1, until);
    mishap_query_bind_integer(&query, 2, before);
    while (mishap_query_step(&query))
        last = mishap_query_integer(&query, 0);
    mishap_free(mishap_query_end(&query));
    return last;
}

/* Remove a limited number, so that it takes little time, but more than are added until the next
 * time. */
void artifacts_events_purge(mishap_store *store, int64_t most, int64_t before)
{
    enum { AT_ONCE = 16384 };
    int64_t first, last;
    mishap *failure = find_ends(store, &first, &last);
    if (!failure && first) {
        int64_t beyond = last > most ? last - most : 0;
        int64_t old = find_old(store, first + AT_ONCE, before);
        int64_t until = old > beyond ? old : beyond;
        mishap_query query;
        mishap_query_begin(&query, store, ARTIFACTS_EVENT_PURGE);
        mishap_query_bind_integer(&query, 1, until < first + AT_ONCE ? until : first + AT_ONCE - 1);
        failure = artifacts_run(&query, NULL);
    }
    mishap_free(failure); /* it is tried again the next time */
}

mishap *artifacts_events_answer(artifacts_request *r, int64_t after, int64_t limit)
{
    mishap_query query;
    mishap_page page;
    int64_t last = after, first, newest;
    MISHAP_TRY(find_ends(r->store, &first, &newest));
    mishap_query_begin(&query, r->store, ARTIFACTS_EVENT_LIST);
    mishap_query_bind_integer(&query, 1, after);
    mishap_json_put_array(&r->answer, "events");
    for (mishap_page_begin(&page, &query, 2, limit); mishap_page_step(&page, &query);) {
        last = mishap_query_integer(&query, 0);
        mishap_json_put_object(&r->answer, NULL);
        mishap_json_put(&r->answer, "id", last);
        artifacts_put_time(&r->answer, "at", mishap_query_integer(&query, 1));
        mishap_json_put(&r->answer, "caller", mishap_query_text(&query, 2));
        mishap_json_put(&r->answer, "artifact", mishap_query_text(&query, 3));
        mishap_json_put(&r->answer, "method", mishap_query_text(&query, 4));
        mishap_json_put_json(&r->answer, "result", mishap_query_text(&query, 5));
        mishap_json_put_end(&r->answer, '}');
    }
    mishap_json_put_end(&r->answer, ']');
    if (page.more)
        mishap_json_put(&r->answer, "next", last);
    /* That event was removed, and perhaps others after it. */
    if (after > 0 && (!first || first > after))
        mishap_json_put(&r->answer, "cut", true);
    return mishap_query_end(&query);
}

mishap *artifacts_log_read(artifacts_request *r)
{
    int64_t after = r->args[0].given ? r->args[0].integer : 0;
    int64_t limit = r->args[1].given ? r->args[1].integer : ARTIFACTS_MOST_LISTED;
    if (after < 0)
        return mishap_tell(mishap_validation("after must not be negative"), "argument", "after");
    if (limit < 1 || limit > ARTIFACTS_MOST_LISTED)
        return mishap_tell(mishap_validation("limit must be 1 to 100"), "argument", "limit");
    return artifacts_events_answer(r, after, limit);
}

/* The same as an operation, whose parameters were checked. */
mishap *artifacts_events(mishap_call *call)
{
    artifacts_request *r = artifacts_request_begin(call);
    artifacts_answer_begin(r);
    MISHAP_TRY(
        artifacts_events_answer(r, mishap_integer(call, "after"), mishap_integer(call, "limit")));
    artifacts_answer_end(r);
    mishap_buffer_add(&r->answer, "", 1);
    return r->answer.failed ? mishap_out_of_memory() : mishap_answer(call, r->answer.data);
}
