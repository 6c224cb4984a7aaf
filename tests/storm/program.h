/*
 * tests/storm: a program whose handlers die in every way, and what it must not lose meanwhile.
 *
 *     faults.c  the table of faults, and main()
 *     ways.c    one handler for each kind of fault
 *     good.c    handlers whose answers are checked while the others fail, and their services
 *
 * A handler is no static function: the stack in an incident names exported functions alone.
 */
#ifndef STORM_PROGRAM_H
#define STORM_PROGRAM_H

#include <mishap/main.h>

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANDLER(name)                                                                              \
    mishap *name(mishap_call *call);                                                               \
    mishap *name(mishap_call *call)

/* What a service has opened. */
struct store {
    sqlite3 *database;
    char *lock_path; /* the file that calls lock with flock() */
    char *pid_path;  /* where a handler that hangs leaves its process id */
};

mishap *store_failure(sqlite3 *database);
int64_t take_lock(const struct store *store); /* the descriptor that holds the flock */
void wait_ms(int64_t ms);
void live_for_a_minute(void); /* this process ends then, whether or not the others do */

/* Good calls and faulty calls each have a service, so that they have several workers, and do not
 * share them. */
extern const mishap_service keeping, failing;

extern const mishap_param no_params[];
extern const mishap_param number_params[];  /* { number } */
extern const mishap_param hold_params[];    /* { ms } */
extern const mishap_param guarded_params[]; /* { wrong } */

/*
 * Every kind of fault, once: its name; the statuses that are right, with a blank between; the
 * function whose name the incident's stack must show ("": the stack is not looked at); a regular
 * expression for the way it died, searched for in the incident; its time limit in ms (0: that of
 * the program). A fault with status 200 is one that its caller must not notice: there is no
 * incident, and the answer is { "left": true }.
 */
#define EACH_FAULT(X)                                                                              \
    X(segv, "500", "fault_segv", "SIGSEGV", 0)                                                     \
    X(jump, "500", "fault_jump", "SIGSEGV|SIGBUS|SIGILL", 0)                                       \
    X(bus, "500", "fault_bus", "SIGBUS", 0)                                                        \
    X(divide, "500", "fault_divide", "SIGFPE", 0)                                                  \
    X(illegal, "500", "fault_illegal", "SIGILL", 0)                                                \
    X(trap, "500", "fault_trap", "SIGTRAP", 0)                                                     \
    X(system, "500", "fault_system", "SIGSYS", 0)                                                  \
    X(heap, "500", "fault_heap", "SIGABRT", 0)                                                     \
    X(double_free, "500", "fault_double_free", "SIGABRT", 0)                                       \
    X(abort, "500", "fault_abort", "SIGABRT", 0)                                                   \
    X(overflow, "500", "fault_overflow_deeper", "SIGSEGV|SIGABRT", 0)                              \
    X(exit, "500", "fault_exit", "[Ee]xit", 0)                                                     \
    X(leave, "500", "", "[Ee]xit", 0)                                                              \
    X(thread_exit, "500", "fault_thread_exit", "pthread_exit|[Ee]xit|[Ee]nded", 0)                 \
    X(leap, "500", "fault_leap", "SIGSEGV|SIGBUS|SIGILL|SIGABRT", 0)                               \
    X(exec, "500", "", "[Ee]xit|[Ee]nded", 0)                                                      \
    X(kill, "500", "", "SIGKILL|[Kk]illed", 0)                                                     \
    X(user_signal, "500", "", "SIGUSR1", 0)                                                        \
    X(terminate, "200", "", "", 0)                                                                 \
    X(stop, "500 504", "fault_stop", "SIGSTOP|[Ss]topped|TIMEOUT", 1000)                           \
    X(loop, "504", "fault_loop", "TIMEOUT", 1000)                                                  \
    X(blocked_loop, "504", "fault_blocked_loop", "TIMEOUT", 1000)                                  \
    X(deadlock, "504", "fault_deadlock", "TIMEOUT", 1000)                                          \
    X(close_all, "500", "", "[Cc]losed|[Ee]xit|[Ee]nded|descriptor|SIG", 0)                        \
    X(close_crash, "500", "", "SIGSEGV|closed the connection", 0) /* what is seen first */         \
    X(garbage, "500", "fault_garbage", "SIGABRT", 0)                                               \
    X(garbage_kept, "200", "", "", 0)                                                              \
    X(memory, "500", "fault_memory", "SIGSEGV|SIGABRT", 0)                                         \
    X(fork_bomb, "500", "fault_fork_bomb", "SIGABRT", 0)                                           \
    X(twin, "200", "", "", 0)                                                                      \
    X(child_writes, "200", "", "", 0)                                                              \
    X(child_crashes, "500", "", "SIGKILL", 0)                                                      \
    X(cancelled, "200", "", "", 0)                                                                 \
    X(transaction, "500", "fault_transaction", "SIGSEGV", 0)                                       \
    X(flock, "500", "fault_flock", "SIGABRT", 0)                                                   \
    X(threads, "200", "", "", 0)                                                                   \
    X(threads_crash, "500", "fault_threads_crash", "SIGABRT", 0)                                   \
    X(crash_beside, "500", "", "SIGSEGV", 0)                                                       \
    X(nonsense, "500", "", "not a JSON object", 0)                                                 \
    X(undeclared, "500", "fault_undeclared", "CONFLICT", 0)                                        \
    X(wrong_getter, "500", "", "asked for a parameter", 0)

#define DECLARE_FAULT(name, ...) mishap *fault_##name(mishap_call *call);
EACH_FAULT(DECLARE_FAULT)

#define EACH_GOOD(X)                                                                               \
    X(sum, "POST /good/sum", &keeping, number_params, 0)                                           \
    X(rows, "POST /good/rows", &keeping, number_params, 0)                                         \
    X(nap, "POST /good/nap", &keeping, number_params, 0)                                           \
    X(large, "POST /good/large", &keeping, number_params, 0)                                       \
    X(locked, "POST /good/locked", &keeping, number_params, 0)                                     \
    X(beside, "POST /good/beside", &failing, number_params, 0)                                     \
    X(count, "POST /good/count", NULL, no_params, 0)                                               \
    X(guarded, "POST /good/guarded", NULL, guarded_params, 0)                                      \
    X(doze, "POST /good/doze", NULL, no_params, 0)                                                 \
    X(shut, "POST /good/shut", NULL, no_params, 0)                                                 \
    X(hold, "POST /good/hold", &keeping, hold_params, 60000)                                       \
    X(hang, "POST /good/hang", &keeping, no_params, 1500)                                          \
    X(spin, "POST /good/spin", &keeping, no_params, 60000)                                         \
    X(brood, "POST /good/brood", &keeping, no_params, 60000)                                       \
    X(child, "POST /good/child", &keeping, no_params, 0)

#define DECLARE_GOOD(name, ...) mishap *good_##name(mishap_call *call);
EACH_GOOD(DECLARE_GOOD)
mishap *good_quick(mishap_call *call);
mishap *good_trap(mishap_call *call);

#endif
