/* What every method uses: the request of a call, statements that are run to their end, reserved
 * names. */
#include <time.h>

#include "artifacts/request.h"

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

mishap *artifacts_run(mishap_query *query, bool *found)
{
    bool any = false;
    while (mishap_query_step(query))
        any = true;
    if (found)
        *found = any;
    return mishap_query_end(query);
}

bool artifacts_is_reserved(const char *name)
{
    return strncmp(name, "genesis_", 8) == 0 || strcmp(name, "system") == 0;
}

/* -- the engine of the store ------------------------------------------------------------------- */

static bool embedded = true;

void artifacts_embed(bool is_embedded)
{
    embedded = is_embedded;
}

bool artifacts_is_embedded(void)
{
    return embedded;
}
