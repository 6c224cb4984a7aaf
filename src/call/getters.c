/* The check that all getters of all handlers ask for what is declared: mishap_expect_getters(). */
#include <stdio.h>

#include "call/test.h"
#include "operation/call.h"
#include "operation/sample.h"

/* What came of calls of one handler. */
struct getter_run {
    bool reached;    /* the handler was called */
    mishap *misused; /* why it was ended; NULL: it was not */
    mishap *refused; /* why its arguments were refused, the last time */
};

static void run_once(const mishap_app *app, const mishap_operation *operation,
                     mishap_text arguments, struct getter_run *run)
{
    mishap_call *call;
    if (run->misused)
        return;
    mishap *failure = mishap_call_begin(app, operation, arguments, &call);
    if (failure) {
        mishap_free(run->refused);
        run->refused = failure;
        return;
    }
    failure = mishap_call_run(call);
    run->reached = true;
    if (call->misuse)
        run->misused = failure;
    else
        mishap_free(failure);
    mishap_call_end(call);
}

/* With the example of the tool, with all parameters, and with those that are required. */
static void run_handler(const mishap_app *app, const mishap_operation *operation,
                        struct getter_run *run)
{
    if (operation->tool_example)
        run_once(app, operation, mishap_text_of(operation->tool_example), run);
    for (int all = 1; all >= 0; all--) {
        mishap_buffer sample = { 0 };
        mishap_params_put_sample(&sample, operation->params, all);
        if (!sample.failed)
            run_once(app, operation, mishap_buffer_text(&sample), run);
        mishap_buffer_release(&sample);
    }
}

bool mishap_expect_getters_at(mishap_test *test, mishap_place place)
{
    bool all = true;
    const mishap_app *app = test->app;
    for (const mishap_operation *operation = app->operations; operation->name; operation++) {
        struct getter_run run = { .reached = false };
        if (operation->resident || operation->local)
            continue;
        run_handler(app, operation, &run);
        bool holds = run.reached && !run.misused;
        all = mishap_expect_at(test, place, holds, "%s: its handler asks for what is declared",
                               operation->name) &&
              all;
        if (run.misused)
            mishap_test_remark(run.misused);
        else if (!run.reached) {
            printf("# The handler was not reached: no arguments could be made up for it. Give the "
                   "operation a `.tool_example`.\n");
            mishap_test_remark(run.refused);
        }
        mishap_free(run.misused);
        mishap_free(run.refused);
    }
    return all;
}
