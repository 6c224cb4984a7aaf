/* Containment of crashes, with signal handlers and jumps: see contain.h. */
#include "operation/contain.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/signals.h"

enum {
    SIGNALS = MISHAP_FATAL_SIGNALS,
    STACK_SIZE = 64 * 1024,  /* for a signal handler that unwinds a stack */
    USUAL_FRAME = 16 * 1024, /* what the kernel puts on a stack for a signal, at most … */
    LARGEST_FRAME = 1 << 20, /* … but some processors have more registers */
};

/* The containment of the handler that runs on this thread; NULL: none runs. Written and read by
 * this thread only. */
static _Thread_local struct mishap_contained {
    sigjmp_buf *way_out;
    mishap_crash *crash;
} *volatile current;

static struct sigaction before[SIGNALS]; /* written once, before any handler runs */
static pthread_once_t install_once = PTHREAD_ONCE_INIT;
static void (*report_crash)(const mishap_crash *crash); /* NULL: crashes are contained */

/* Where the thread was when the signal came. */
static mishap_trace_start start_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    const greg_t *registers = context->uc_mcontext.gregs;
    return (mishap_trace_start){ (void *)registers[REG_RIP], (void *)registers[REG_RBP],
                                 (void *)registers[REG_RSP], NULL };
#elif defined(__aarch64__)
    return (mishap_trace_start){ (void *)context->uc_mcontext.pc,
                                 (void *)context->uc_mcontext.regs[29],
                                 (void *)context->uc_mcontext.sp,
                                 (void *)context->uc_mcontext.regs[30] };
#else
    (void)context;
    return (mishap_trace_start){ NULL, NULL, NULL, NULL };
#endif
}

/* abort() and other functions of the C library have no frame pointers, so the stack is unwound.
 * After a stack overflow there is no room to unwind it. */
static void trace_from(mishap_trace *trace, const ucontext_t *context, bool unwind)
{
    mishap_trace_start start = start_of(context);
    trace->count = 0;
    if (!unwind || !mishap_trace_unwind(trace, start.instruction))
        mishap_trace_take_from(trace, &start);
}

void mishap_trace_at(mishap_trace *trace, const void *context)
{
    trace_from(trace, context, true);
}

static void take_crash(mishap_crash *crash, int signal, const siginfo_t *info,
                       const ucontext_t *context)
{
    const mishap_fatal_signal *known = mishap_signal_find_fatal(signal);
    bool sent = info->si_code <= 0; /* sent by raise() or kill(), and not caused by the processor */
    crash->signal = signal;
    crash->address = known && known->address && !sent ? info->si_addr : NULL;
    trace_from(&crash->trace, context, sent || (known && known->called));
}

/* Restore the action that the signal had before. The signal is blocked until this handler returns,
 * so it is delivered right after that. */
static void raise_again(int signal)
{
    for (size_t i = 0; i < SIGNALS; i++)
        if (mishap_fatal_signals[i].number == signal)
            sigaction(signal, &before[i], NULL);
    raise(signal);
}

static void on_crash(int signal, siginfo_t *info, void *context)
{
    mishap_contained *frame = current;
    if (report_crash) {
        mishap_crash crash;
        take_crash(&crash, signal, info, context);
        report_crash(&crash);
        raise_again(signal);
        return;
    }
    if (!frame) {
        raise_again(signal);
        return;
    }
    current = NULL;
    take_crash(frame->crash, signal, info, context);
    siglongjmp(*frame->way_out, 1);
}

/* Where crashes are contained, the other fatal signals end the process by default. */
static void catch_signals(struct sigaction *old, bool all)
{
    struct sigaction action = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++)
        if (all || mishap_fatal_signals[i].crash)
            sigaction(mishap_fatal_signals[i].number, &action, &old[i]);
}

static void install(void)
{
    catch_signals(before, false);
}

/* The process may be a fork of one that caught the signals already, and may have reset them
 * since. */
void mishap_contain_report_to(void (*report)(const mishap_crash *crash))
{
    struct sigaction old[SIGNALS];
    report_crash = report;
    pthread_once(&install_once, install);
    catch_signals(old, true);
    for (size_t i = 0; i < SIGNALS; i++)
        before[i] = (struct sigaction){ .sa_handler = SIG_DFL };
}

/* -- stacks for signals ------------------------------------------------------------------------ */

static pthread_key_t at_thread_end;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void give_signal_stack(void *stack)
{
    sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
    mishap_release(stack);
}

static void make_key(void)
{
    has_key = pthread_key_create(&at_thread_end, give_signal_stack) == 0;
}

/* What the kernel puts on the stack for a signal: the registers, a few kilobytes on most
 * processors, and up to some 80 KB on those with matrix registers (SME). */
static size_t frame_size(void)
{
    long said = sysconf(_SC_MINSIGSTKSZ);
    return said <= 0 || said > LARGEST_FRAME ? USUAL_FRAME : (size_t)said;
}

/* The signal stack of the main thread is static. As a thread-local variable it would be cleared
 * when the program starts, in every command, which would touch all of its pages. */
static char *take_signal_stack(size_t *size)
{
    static char of_main_thread[STACK_SIZE + USUAL_FRAME];
    bool is_main = gettid() == getpid();
    *size = STACK_SIZE + frame_size();
    if (is_main && *size <= sizeof of_main_thread)
        return of_main_thread;
    if (is_main)
        return mishap_allocate(*size); /* kept for the life of the process */
    pthread_once(&key_once, make_key);
    char *stack = has_key ? mishap_allocate(*size) : NULL;
    if (stack && pthread_setspecific(at_thread_end, stack) != 0) {
        mishap_release(stack);
        stack = NULL;
    }
    return stack;
}

/* A stack that has overflowed cannot take the signal, so each thread has a signal stack, which is
 * kept until the thread ends. Without memory for it, the next call tries again. */
static void use_signal_stack(void)
{
    static _Thread_local bool done;
    stack_t now;
    size_t size;
    if (done)
        return;
    done = true;
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    char *stack = take_signal_stack(&size);
    if (stack)
        sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = size }, NULL);
    done = stack;
}

/* -- running ----------------------------------------------------------------------------------- */

/* The end of a thread's stack is determined in advance, since that allocates memory: after a crash,
 * perhaps in the middle of malloc(), it is too late. */
static void learn_stack(void)
{
    static _Thread_local bool known;
    mishap_trace trace;
    if (!known)
        mishap_trace_take(&trace);
    known = true;
}

/* The signal mask was not saved, since that would be a system call before each call. After a jump
 * out of a handler these signals must be unblocked again, in case that some code has blocked
 * them. */
static void unblock(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < SIGNALS; i++)
        if (mishap_fatal_signals[i].crash)
            sigaddset(&set, mishap_fatal_signals[i].number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* pthread_exit() has unwound the stack of the handler up to mishap_contain(): the C library calls
 * this function there, and would then end the thread. */
static void on_thread_end(void *state)
{
    mishap_contained *frame = state;
    frame->crash->thread_ended = true;
    siglongjmp(*frame->way_out, 1);
}

bool mishap_contain(void (*run)(void *state), void *state, sigjmp_buf *way_out, mishap_crash *crash)
{
    mishap_contained frame = { way_out, crash }, *outer = current;
    volatile bool returned = false;
    pthread_once(&install_once, install);
    use_signal_stack();
    learn_stack();
    crash->signal = 0;
    crash->thread_ended = false;
    crash->trace.count = 0;
    /* Every jump lands between push and pop, so that the pop always takes the cleanup handler off
     * the thread's list. */
    pthread_cleanup_push(on_thread_end, &frame);
    if (sigsetjmp(*way_out, 0) == 0) {
        current = &frame;
        run(state);
        returned = true;
    }
    current = outer;
    if (!returned)
        unblock();
    pthread_cleanup_pop(0);
    return returned;
}

mishap_contained *mishap_contain_pause(void)
{
    mishap_contained *contained = current;
    current = NULL;
    return contained;
}

void mishap_contain_resume(mishap_contained *contained)
{
    current = contained;
}
