#include "base/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

/* SIGXFSZ and SIGPIPE are not among them: they are caught, and become errors of write(). */
const mishap_fatal_signal mishap_fatal_signals[MISHAP_FATAL_SIGNALS] = {
    { SIGSEGV, .crash = true, .address = true },
    { SIGBUS, .crash = true, .address = true },
    { SIGFPE, .crash = true },
    { SIGILL, .crash = true },
    { SIGTRAP, .crash = true },
    { SIGABRT, .crash = true, .called = true },
    { SIGSYS, .crash = true, .called = true }, /* from a filter of system calls */
    { SIGXCPU, .called = true },               /* the limit of processor time */
    { SIGQUIT, .called = true },               /* from a person who wants to see what it does */
};

const mishap_fatal_signal *mishap_signal_find_fatal(int number)
{
    for (size_t i = 0; i < MISHAP_FATAL_SIGNALS; i++)
        if (mishap_fatal_signals[i].number == number)
            return &mishap_fatal_signals[i];
    return NULL;
}

void mishap_signals_unused(void (*each)(int number, void *state), void *state)
{
    static const int plain[] = { SIGHUP,  SIGUSR1, SIGUSR2, SIGALRM,  SIGVTALRM,
                                 SIGPROF, SIGIO,   SIGPWR,  SIGSTKFLT };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        each(plain[i], state);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        each(number, state);
}

static void no_matter(int number)
{
    (void)number;
}

static void catch_one(int number, void *state)
{
    struct sigaction action = { .sa_handler = no_matter, .sa_flags = SA_RESTART }, now;
    (void)state;
    sigemptyset(&action.sa_mask);
    bool asked = sigaction(number, NULL, &now) == 0;
    if (asked && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

void mishap_signals_survive(void)
{
    mishap_signals_unused(catch_one, NULL);
}

bool mishap_signal_process(int process, int number)
{
    return process > 1 && kill(process, number) == 0;
}

bool mishap_signal_group(int process, int number)
{
    return process > 1 && kill(-process, number) == 0;
}

void mishap_signal_die_of(int number)
{
    sigset_t set;
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}
