/*
 * A runner of calls for the tests of the MCP boundary. Its handlers run in this process, one after
 * the other, when the test says so (mishap_runner_flush): every run is the same.
 */
#ifndef MISHAP_MCP_RUNNER_H
#define MISHAP_MCP_RUNNER_H

#include "testing.h"
#include "worker/loop/runner.h"

/* The plan lives as long as the runner. */
static inline mishap_runner *open_inside(mishap_keeper_plan *plan, const mishap_app *app,
                                         size_t most_waiting)
{
    mishap_runner *runner;
    *plan = (mishap_keeper_plan){ .app = app };
    assert_null(mishap_worker_groups_make(app, &plan->groups));
    assert_null(mishap_runner_open(&(mishap_runner_settings){ .plan = plan,
                                                              .keeper = -1,
                                                              .handlers = 1,
                                                              .most_waiting = most_waiting,
                                                              .inside = true },
                                   &runner));
    return runner;
}

#endif
