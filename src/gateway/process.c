/* nginx as a child: started with the listening sockets, and ended with all its processes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/signals.h"
#include "gateway/gateway.h"

extern char **environ;

static const char inherited[] = "NGINX="; /* the variable in which nginx looks for sockets */

/* "NGINX=5;6;", as one nginx tells it another that takes its place. */
static void name_sockets(const mishap_http_sockets *sockets, char *words, size_t size)
{
    size_t length = (size_t)snprintf(words, size, "%s", inherited);
    for (int i = 0; sockets && i < sockets->count && length < size; i++)
        length += (size_t)snprintf(words + length, size - length, "%d;", sockets->files[i]);
}

/* The environment with that variable alone changed. NULL: there is no memory. */
static char **make_environment(char *sockets, bool any)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **made = mishap_allocate((count + 2) * sizeof *made);
    for (size_t i = 0; made && i < count; i++)
        if (strncmp(environ[i], inherited, sizeof inherited - 1) != 0)
            made[kept++] = environ[i];
    if (made && any)
        made[kept++] = sockets;
    if (made)
        made[kept] = NULL;
    return made;
}

/* In the child: nothing here allocates or takes a lock. */
static _Noreturn void become(const mishap_gateway_start *start, char **environment, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    umask(S_IRWXG | S_IRWXO); /* a log that nginx opens anew is its owner's alone */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    for (int i = 0; start->sockets && i < start->sockets->count; i++)
        fcntl(start->sockets->files[i], F_SETFD, 0);
    if (start->err >= 0)
        dup2(start->err, STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* standard output belongs to this program */
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(start->argv[0], (char *const *)(uintptr_t)start->argv, environment);
    _exit(127);
}

int mishap_gateway_start_nginx(const mishap_gateway_start *start)
{
    char sockets[16 * (MISHAP_HTTP_ADDRESSES + 1)];
    name_sockets(start->sockets, sockets, sizeof sockets);
    char **environment = make_environment(sockets, start->sockets != NULL);
    pid_t parent = getpid();
    if (!environment) {
        errno = ENOMEM;
        return -1;
    }
    pid_t child = fork();
    if (child == 0)
        become(start, environment, parent);
    int error = errno;
    mishap_release(environment);
    if (child > 0)
        setpgid(child, child); /* the child does the same: the group is there for both */
    errno = error;
    return child;
}

bool mishap_gateway_has_ended(int process)
{
    siginfo_t about = { 0 };
    int result;
    do
        result = waitid(P_PID, (id_t)process, &about, WEXITED | WNOHANG | WNOWAIT);
    while (result != 0 && errno == EINTR);
    return result != 0 || about.si_pid == process;
}

/* The zombie keeps the id of the group from being used again, until all of it is killed. Processes
 * of nginx whose parent has ended are children of this process, a child subreaper. */
int mishap_gateway_sweep(int process)
{
    int status = 0, other;
    mishap_signal_group(process, SIGKILL);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    for (;;) {
        mishap_signal_group(process, SIGKILL);
        pid_t ended = waitpid(-process, &other, 0);
        if (ended < 0 && errno != EINTR)
            return status;
    }
}
