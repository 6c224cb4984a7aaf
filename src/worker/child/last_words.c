/*
 * What a worker writes into the shared page when it dies: see last_words.h. Runs in a worker,
 * mostly in signal handlers.
 */
#include "operation/operation.h"
#include "worker/child/last_words.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "operation/contain.h"
#include "worker/child/time_guard.h"

enum { LEAST_FRAMES = 2 }; /* a stack with fewer frames is useless */

/* Written by the thread that runs calls, read by signal handlers of any thread: `handler` is
 * written before `current` (a release) and read after it (take_page() is an acquire). */
static _Atomic(mishap_worker_page *) current;
static _Atomic(uintptr_t) handler;
static pid_t process, keeper;

void mishap_words_for(mishap_worker_page *page, uintptr_t entry)
{
    atomic_store_explicit(&handler, entry, memory_order_relaxed);
    atomic_store_explicit(&current, page, memory_order_release);
}

/* If several threads crash at once, the first one records its crash. A child process that the
 * handler has forked maps the page, too, but its end is not the end of the call. */
static mishap_worker_page *take_page(void)
{
    return getpid() == process ? atomic_exchange(&current, NULL) : NULL;
}

static void leave_words(mishap_worker_page *page, mishap_last_words kind, int number,
                        uint64_t address, const mishap_trace *trace)
{
    page->number = number;
    page->address = address;
    page->aside = gettid() != process; /* the process id is the id of its first thread */
    page->trace = *trace;
    if (page->trace.count < LEAST_FRAMES) /* after a wild jump the registers lead to no stack */
        page->trace.addresses[page->trace.count++] = (void *)(atomic_load_explicit(
                                                                  &handler, memory_order_relaxed) +
                                                              1);
    atomic_store_explicit(&page->last_words, kind, memory_order_release);
}

/* After this function the process ends by the same signal, so that it dumps a core where the limits
 * allow one. */
static void on_crash(const mishap_crash *crash)
{
    mishap_worker_page *page = take_page();
    if (page)
        leave_words(page, MISHAP_WORDS_CRASH, crash->signal, (uint64_t)(uintptr_t)crash->address,
                    &crash->trace);
}

/* True if the keeper or the worker's own timer has sent the signal. From any other process it has
 * no effect. */
static bool is_asked(const siginfo_t *info)
{
    return (info->si_code == SI_TIMER && mishap_time_guard_is_over()) ||
           (info->si_code == SI_TKILL && info->si_pid == keeper);
}

/* This handler does not block its own signal: the keeper finds a worker that cannot answer by its
 * blocked signals (mishap_kept_look). */
static void on_asked(int signal, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t telling;
    mishap_trace trace;
    (void)signal;
    if (!is_asked(info) || telling)
        return;
    telling = 1;
    mishap_worker_page *page = take_page();
    if (page) {
        mishap_trace_at(&trace, context);
        leave_words(page, MISHAP_WORDS_STACK, 0, 0, &trace);
    }
    kill(getpid(), SIGKILL);
}

static void on_exit_called(int status, void *unused)
{
    mishap_trace trace = { 0 };
    (void)unused;
    mishap_worker_page *page = take_page();
    if (!page)
        return;
    mishap_trace_unwind(&trace, __builtin_return_address(0));
    leave_words(page, MISHAP_WORDS_EXIT, status, 0, &trace);
    _exit(status); /* functions of atexit() do not run: the handler must not call exit() */
}

static void on_quick_exit(void)
{
    on_exit_called(MISHAP_WORDS_QUICK, NULL);
}

void mishap_words_begin(void)
{
    struct sigaction action = { .sa_sigaction = on_asked,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER };
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, mishap_words_signal());
    process = getpid();
    keeper = getppid();
    mishap_contain_report_to(on_crash);
    sigaction(mishap_words_signal(), &action, NULL);
    on_exit(on_exit_called, NULL);
    at_quick_exit(on_quick_exit);
}
