/*
 * A handler that ends the process, by exit() or quick_exit() and on any thread, would end the
 * command without an answer. The C library calls the functions of this file at exit: they print the
 * answer and set its exit code.
 *
 * _exit() does not call them: the command then ends without an answer.
 */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "operation/call.h"
#include "operation/contain.h"

/* Written by main() before the handler runs, and read while `guarded`. */
static mishap_cli *guarded_cli;
static const mishap_call *guarded_call;
static pid_t process; /* a child that the handler forked may exit as it likes */
static atomic_bool guarded;

static sem_t told; /* main() has printed the answer, and this is the exit code: */
static int told_status;

/* Another thread answers. If that is main(), wait for it: a process that ends now would cut the
 * answer off. The others end the process themselves. */
static int wait_for_answer(void)
{
    while (sem_wait(&told) != 0)
        continue;
    sem_post(&told); /* for the next thread that waits */
    return told_status;
}

/* The exit code of the one answer. It is given here if no other thread gives it. `caller` is the
 * return address in the C library. */
static int answer_exit(const char *what, void *caller)
{
    mishap_trace trace = { 0 };
    mishap_buffer warning = { 0 };
    if (!mishap_cli_claim_first())
        return wait_for_answer();
    mishap_contain_pause(); /* a crash from here on must not jump back into mishap_contain() */
    mishap_trace_prepare(); /* the C library has no frame pointers */
    mishap_trace_unwind(&trace, caller);
    mishap_cli_answer answer = { .failure = mishap_call_report_exit(guarded_call, what, &trace) };
    if (mishap_cli_put_captured(&warning, guarded_cli))
        answer.warnings = mishap_buffer_text(&warning);
    int status = mishap_cli_tell(guarded_cli, &answer);
    mishap_free(answer.failure);
    mishap_buffer_release(&warning);
    return status;
}

static bool is_guarded(void)
{
    return atomic_load(&guarded) && getpid() == process;
}

static void on_leave(int status, void *unused)
{
    char what[32];
    (void)unused;
    if (!is_guarded())
        return;
    snprintf(what, sizeof what, "exit(%d)", status);
    status = answer_exit(what, __builtin_return_address(0));
    atomic_store(&guarded, false);
    /* With glibc this continues the exit, as after main(): registered functions are called, files
     * are flushed. */
    exit(status);
}

static void on_quick_leave(void)
{
    if (is_guarded())
        _exit(answer_exit("quick_exit()", __builtin_return_address(0)));
}

mishap *mishap_cli_guard_exit(mishap_cli *cli, const mishap_call *call)
{
    static bool registered;
    if (!registered && (on_exit(on_leave, NULL) != 0 || at_quick_exit(on_quick_leave) != 0))
        return mishap_out_of_memory();
    registered = true;
    guarded_cli = cli;
    guarded_call = call;
    process = getpid();
    sem_init(&told, 0, 0);
    atomic_store(&guarded, true);
    return NULL;
}

void mishap_cli_unguard_exit(int status)
{
    if (!atomic_load(&guarded))
        return;
    told_status = status;
    atomic_store(&guarded, false);
    sem_post(&told);
}
