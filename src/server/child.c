/* See child.h: how such a process begins, and what the supervisor does about it. */
#include "server/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/signals.h"
#include "incident/logs.h"

enum { END_MS = 2000, AGAIN_NS = 500000000 };

volatile sig_atomic_t mishap_http_child_ends;

/* -- the process ------------------------------------------------------------------------------- */

static void on_end(int number)
{
    (void)number;
    mishap_http_child_ends = 1;
}

/* Nothing that another server sends may leave a core file. */
static void begin_process(const mishap_http_child *child)
{
    const struct rlimit none = { 0, 0 };
    sigset_t nothing;
    int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(file, STDIN_FILENO);
    dup2(file, STDOUT_FILENO);
    close_range(3, ~0U, 0);
    mishap_logs_forget();
    mishap_signals_survive();
    signal(SIGUSR2, on_end);
    sigemptyset(&nothing);
    sigprocmask(SIG_SETMASK, &nothing, NULL);
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_NAME, child->name);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    prctl(PR_SET_PDEATHSIG, SIGUSR2);
    if (getppid() != child->parent)
        mishap_http_child_ends = 1;
}

/* -- the supervisor ---------------------------------------------------------------------------- */

void mishap_http_child_want(mishap_http_child *child)
{
    child->wanted = true;
    child->parent = getpid();
}

void mishap_http_child_look(mishap_http_child *child)
{
    if (!child->wanted || child->pid || mishap_clock_monotonic_ns() < child->start_at_ns)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        begin_process(child);
        child->run();
        _exit(0);
    }
    child->pid = pid > 0 ? pid : 0;
    child->start_at_ns = mishap_clock_monotonic_ns() + AGAIN_NS;
}

bool mishap_http_child_ended(mishap_http_child *child, int pid, int status)
{
    if (pid <= 0 || pid != child->pid)
        return false;
    if (WIFSTOPPED(status))
        mishap_signal_process(pid, SIGKILL);
    else
        child->pid = 0;
    mishap_http_child_look(child);
    return true;
}

void mishap_http_child_dismiss(mishap_http_child *child)
{
    child->wanted = false;
    if (child->pid)
        mishap_signal_process(child->pid, SIGUSR2);
    for (int i = 0; child->pid && i < END_MS; i++) {
        if (i == END_MS / 2)
            mishap_signal_process(child->pid, SIGKILL);
        if (waitpid(child->pid, NULL, WNOHANG) != 0)
            child->pid = 0;
        else
            poll(NULL, 0, 1);
    }
}
