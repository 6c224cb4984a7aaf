/* Time that is set, faults that are asked for, and calls whose process is killed. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/moment.h"
#include "call/test.h"
#include "incident/incident.h"
#include "operation/operation.h"

void mishap_test_set_time(mishap_test *test, const char *time)
{
    mishap_timestamp when;
    (void)test;
    atomic_store(&mishap_rehearsal_page->time_is_set, false);
    if (!time)
        return;
    if (!mishap_timestamp_read(mishap_text_of(time), &when))
        mishap_test_give_up("A time that is to be set is not written as in RFC 3339.");
    atomic_store(&mishap_rehearsal_page->now_ms,
                 (int64_t)when.time.tv_sec * 1000 + when.time.tv_nsec / 1000000);
    atomic_store(&mishap_rehearsal_page->time_is_set, true);
}

/* -- faults ------------------------------------------------------------------------------------ */

void mishap_test_fault(mishap_test *test, mishap_fault fault, size_t at)
{
    static const mishap_rehearsal_fault faults[] = {
        [MISHAP_FAULT_STORE_GONE] = MISHAP_REHEARSAL_STORE_GONE,
        [MISHAP_FAULT_WORKER_KILLED] = MISHAP_REHEARSAL_KILLED,
        [MISHAP_FAULT_NO_MEMORY_ONCE] = MISHAP_REHEARSAL_NO_MEMORY_ONCE,
        [MISHAP_FAULT_NO_MEMORY] = MISHAP_REHEARSAL_NO_MEMORY,
    };
    (void)test;
    if ((size_t)fault < 1 || (size_t)fault >= sizeof faults / sizeof *faults)
        mishap_test_give_up("There is no such fault.");
    if (at == 0 && fault != MISHAP_FAULT_WORKER_KILLED)
        at = 1;
    mishap_rehearsal_ask(faults[fault], at);
}

bool mishap_test_fault_happened(const mishap_test *test)
{
    return test->fault_happened;
}

void mishap_test_end_fault(mishap_test *test)
{
    mishap_rehearsal *rehearsal = mishap_rehearsal_page;
    bool asked = atomic_load(&rehearsal->fault) != MISHAP_REHEARSAL_NONE;
    size_t uses = atomic_load(&rehearsal->uses), at = atomic_load(&rehearsal->at);
    test->fault_happened = asked && atomic_load(&rehearsal->happened);
    mishap_rehearsal_ask(MISHAP_REHEARSAL_NONE, 0);
    if (!asked || test->fault_happened)
        return;
    mishap_answered_free(test->answered);
    test->answered = NULL;
    mishap *m = mishap_raise(INTERNAL_ERROR, "The fault that the test asked for did not happen.");
    m = mishap_note(mishap_note(m, "asked_at", at), "counted", uses);
    test->failure = mishap_because(m, test->failure);
}

/* -- a call that is killed --------------------------------------------------------------------- */

/* As a loop of a server says it (worker/loop/end.c), with a record of the same kind. */
static mishap *report_killed(mishap_test *test, const char *operation, const mishap_invocation *how,
                             int64_t started_ns)
{
    const mishap_operation *found = mishap_operation_find(test->app, mishap_text_of(operation));
    char id[MISHAP_ID_LENGTH + 1];
    mishap *m = mishap_raise(INTERNAL_ERROR, "The process of %s was killed with SIGKILL.",
                             operation);
    mishap_id_make(id);
    mishap_incident(m, id);
    mishap_incident_record(&(mishap_incident_entry){
        .program = test->app->name,
        .version = test->app->version,
        .id = id,
        .failure = m,
        .operation = operation,
        .service = found && found->service ? found->service->name : NULL,
        .caller = how->caller,
        .started_ns = started_ns,
        .boundary = MISHAP_INCIDENT_C,
    });
    return m;
}

/* A connection to a store must not be used by two processes: each opens its own. */
bool mishap_test_call_killed(mishap_test *test, const char *operation, const char *arguments,
                             const mishap_invocation *how)
{
    int status = 0;
    int64_t started_ns = mishap_clock_monotonic_ns();
    if (atomic_load(&mishap_rehearsal_page->fault) != MISHAP_REHEARSAL_KILLED)
        return false;
    mishap_app_close();
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        mishap_test_give_up("No process can be forked.");
    if (child == 0) {
        mishap_free(mishap_invoke(test->app, operation, arguments, how, NULL));
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0)
        ;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        test->failure = report_killed(test, operation, how, started_ns);
    return true;
}
