/* The process of the server: see child.h. */
#include "mcp/gateway/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/process/orphans.h"
#include "base/base.h"
#include "base/signals.h"
#include "mcp/gateway/process/remote.h"

enum { GRACE_MS = 2000 };

static void close_file(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

void mishap_mcp_gateway_child_close_in(gateway_child *child)
{
    close_file(&child->in);
}

void mishap_mcp_gateway_child_close_out(gateway_child *child)
{
    close_file(&child->out);
}

/* -- starting ---------------------------------------------------------------------------------- */

struct pipes {
    int in[2], out[2], error[2];
};

static bool open_pipes(struct pipes *pipes)
{
    *pipes = (struct pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
    return pipe2(pipes->in, O_CLOEXEC) == 0 && pipe2(pipes->out, O_CLOEXEC) == 0 &&
           pipe2(pipes->error, O_CLOEXEC) == 0;
}

static void close_pipes(struct pipes *pipes)
{
    for (int i = 0; i < 2; i++) {
        close_file(&pipes->in[i]);
        close_file(&pipes->out[i]);
        close_file(&pipes->error[i]);
    }
}

/* The server is behind a URL: this process stands for it. Files that would close when a program is
 * executed are closed by hand: the gateway waits for the end of the pipe for errors. */
_Noreturn static void serve_url(const mishap_mcp_gateway_settings *settings)
{
    close_range(3, ~0U, 0);
    _exit(mishap_mcp_gateway_remote_run(settings));
}

/* In the new process. */
_Noreturn static void become(const struct pipes *pipes, const mishap_mcp_gateway_settings *settings,
                             const sigset_t *mask, pid_t parent)
{
    char *const *argv = (char *const *)(uintptr_t)settings->argv;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (!settings->pipe_ignored)
        signal(SIGPIPE, SIG_DFL);
    if (!settings->size_ignored)
        signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (dup2(pipes->in[0], STDIN_FILENO) >= 0 && dup2(pipes->out[1], STDOUT_FILENO) >= 0) {
        if (!argv)
            serve_url(settings);
        execvp(argv[0], argv);
    }
    int error = errno;
    ssize_t written = write(pipes->error[1], &error, sizeof error);
    _exit(written < 0 ? 126 : 127);
}

/* 0: the program was executed. */
static int read_error(int file)
{
    int error = 0;
    ssize_t count;
    do
        count = read(file, &error, sizeof error);
    while (count < 0 && errno == EINTR);
    return count == (ssize_t)sizeof error ? error : 0;
}

static int await_start(gateway_child *child, struct pipes *pipes)
{
    close_file(&pipes->in[0]);
    close_file(&pipes->out[1]);
    close_file(&pipes->error[1]);
    setpgid(child->pid, child->pid);
    int error = read_error(pipes->error[0]);
    if (error) {
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        child->pid = 0;
        return error;
    }
    child->in = pipes->in[1];
    child->out = pipes->out[0];
    pipes->in[1] = pipes->out[0] = -1;
    fcntl(child->in, F_SETFL, O_NONBLOCK);
    child->began = mishap_audit_began(child->pid);
    return 0;
}

int mishap_mcp_gateway_child_start(gateway_child *child,
                                   const mishap_mcp_gateway_settings *settings,
                                   const sigset_t *mask)
{
    struct pipes pipes;
    pid_t parent = getpid();
    *child = (gateway_child){ .in = -1, .out = -1, .kill_ns = INT64_MAX };
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    bool made = open_pipes(&pipes);
    int error = made ? 0 : errno;
    if (made) {
        child->pid = fork();
        if (child->pid == 0)
            become(&pipes, settings, mask, parent);
        error = child->pid < 0 ? errno : await_start(child, &pipes);
        child->pid = child->pid < 0 ? 0 : child->pid;
    }
    close_pipes(&pipes);
    return error;
}

/* -- ending ------------------------------------------------------------------------------------ */

void mishap_mcp_gateway_child_terminate(gateway_child *child, int64_t now_ns)
{
    if (!child->pid || child->kill_ns != INT64_MAX)
        return;
    child->kill_ns = now_ns + GRACE_MS * INT64_C(1000000);
    mishap_signal_group(child->pid, SIGTERM);
    mishap_signal_group(child->pid, SIGCONT);
}

/* The group exists as long as its first process was not waited for: so its number is not that of
 * another one. */
static bool has_ended(gateway_child *child)
{
    siginfo_t about = { 0 };
    if (waitid(P_PID, (id_t)child->pid, &about, WEXITED | WNOHANG | WNOWAIT) == 0 && !about.si_pid)
        return false;
    mishap_signal_group(child->pid, SIGKILL);
    while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
        ;
    return true;
}

bool mishap_mcp_gateway_child_look(gateway_child *child, int64_t now_ns)
{
    int ignored = 0;
    if (!child->pid)
        return false;
    if (now_ns >= child->kill_ns)
        mishap_signal_group(child->pid, SIGKILL);
    if (!has_ended(child))
        return false;
    child->pid = 0;
    child->kill_ns = INT64_MAX;
    mishap_audit_kill_orphans(child->began, 0, &ignored);
    return true;
}

void mishap_mcp_gateway_child_tell(const gateway_child *child, char *words, size_t size)
{
    if (WIFSIGNALED(child->status))
        snprintf(words, size, "ended by signal %d", WTERMSIG(child->status));
    else
        snprintf(words, size, "ended with exit code %d", WEXITSTATUS(child->status));
}
