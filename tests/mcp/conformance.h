/* What the parts of the program conformance.c share. */
#ifndef MCP_CONFORMANCE_H
#define MCP_CONFORMANCE_H

#include <mishap/main.h>

#include <time.h>

static inline void wait_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* Tools that may become tasks, and what they ask: conformance_tasks.c. */
extern const mishap_param conformance_delete_params[], conformance_confirm_params[],
    conformance_user_name_params[];
mishap *slow_compute(mishap_call *call);
mishap *failing_job(mishap_call *call);
mishap *protocol_error_job(mishap_call *call);
mishap *confirm_delete(mishap_call *call);
mishap *multi_input(mishap_call *call);
mishap *test_tool_with_task(mishap_call *call);

#endif
