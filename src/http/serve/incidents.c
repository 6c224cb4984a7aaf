/* The server extension that has the process `mishap-index` (src/index): it serves nothing, and
 * looks after that process in the supervisor. */
#include "http/serve/serve.h"

static mishap_index_plan plan; /* without a journal there is no process */

void mishap_http_index(const mishap_index_plan *given)
{
    plan = *given;
}

static mishap *prepare_index(const mishap_http_settings *settings, void **shared)
{
    (void)settings;
    *shared = &plan;
    mishap_index_process_start(&plan);
    return NULL;
}

static void dismiss_index(void *shared)
{
    (void)shared;
    mishap_index_process_end();
}

static bool index_ended(void *shared, int pid, int status)
{
    (void)shared;
    return mishap_index_process_ended(pid, status);
}

static void look_at_index(void *shared)
{
    (void)shared;
    mishap_index_process_look();
}

const mishap_http_extension mishap_index_over_http = {
    .name = "index",
    .prepare = prepare_index,
    .dismiss = dismiss_index,
    .child_ended = index_ended,
    .look = look_at_index,
};
