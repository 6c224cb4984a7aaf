/*
 * Runs a command and passes its output on.
 *
 * One loop waits for three things: signals (signalfd), output of the command, and room for it. The
 * signals that would end this process are forwarded; one that comes from the terminal has reached
 * the command already, which is in the same process group. The exception is the end of a terminal,
 * which only the leader of a session is told. Only a command with a time limit gets a process group
 * of its own, so that all of it can be ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "wrap/keys.h"
#include "wrap/stream.h"
#include "wrap/terminal.h"
#include "wrap/wrap.h"

enum {
    LINGER_MS = 100, /* after the end of the command, for those that still hold its output */
    GRACE_MS = 2000, /* from SIGTERM to SIGKILL, when the time is over */
    PIPE_BYTES = 1 << 20,
    OUT = 0,
    ERR,
    STREAMS,
};

extern char **environ;

static const int forwarded[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP };

struct run {
    const mishap_wrap_command *command;
    mishap_wrap_stream streams[STREAMS];
    int theirs[STREAMS]; /* the ends for the command; -1: it inherits ours */
    bool one;            /* both outputs are the same file: ERR has both */
    int terminal;        /* the real one behind the pseudo-terminal; -1: there is none */
    mishap_wrap_keys keys;
    int signals;   /* a signalfd */
    sigset_t mask; /* of this process, before */
    pid_t pid;
    bool own_group; /* … and whether it has the terminal, which this process had */
    bool foreground;
    bool ended, timed_out;
    bool child_ignored; /* SIGCHLD was ignored */
    int status;
    int64_t ended_ns, deadline_ns, kill_ns;
    uint64_t due[STREAMS]; /* bytes that have to be passed on before this process may end */
};

void mishap_wrap_look(mishap_wrap_origin *origin)
{
    struct sigaction action;
    *origin = (mishap_wrap_origin){ 0 };
    origin->pipe_ignored = sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    origin->size_ignored = sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    for (unsigned file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl((int)file, F_GETFD) < 0)
            origin->closed |= 1U << file;
}

/* -- its descriptors --------------------------------------------------------------------------- */

static bool is_closed(const struct run *run, int file)
{
    return run->command->origin.closed & 1U << file;
}

static bool same_file(int one, int other)
{
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino && a.st_rdev == b.st_rdev;
}

static bool is_pipe(int file)
{
    struct stat about;
    return fstat(file, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

/* A pipe or a pseudo-terminal for one output. False: there is none to be had. */
static bool make_way(struct run *run, int number, int to, bool terminal)
{
    int ends[2];
    if (terminal && mishap_wrap_terminal_open(to, &ends[0], &ends[1])) {
        run->terminal = to;
        mishap_wrap_keys_open(&run->keys, to);
    } else if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    } else {
        fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES); /* fewer changes of processes */
    }
    fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK);
    run->theirs[number] = ends[1];
    return mishap_wrap_stream_open(&run->streams[number], ends[0], to);
}

/*
 * A shell controls the jobs of a person through its stderr, which has to be the real terminal for
 * that. So an interactive shell, one without -c and without a script, inherits everything; nothing
 * is known of its output then.
 */
static bool is_interactive_shell(const char *const *argv)
{
    static const char *const shells[] = { "bash", "sh",   "dash", "zsh",  "ksh",  "fish",
                                          "csh",  "tcsh", "su",   "sudo", "doas", "login" };
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    bool shell = false, others = false;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        shell = shell || strcmp(name, shells[i]) == 0;
    bool changes_user = strcmp(name, "su") == 0 || strcmp(name, "sudo") == 0 ||
                        strcmp(name, "doas") == 0;
    for (size_t i = 1; argv[i]; i++)
        others = others || strcmp(argv[i], "-c") == 0 || (argv[i][0] != '-' && !changes_user);
    return shell && !others && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/*
 * Where the outputs go. Standard output is inherited if it is a file or a terminal; stderr is
 * always read. If both are the same file, they have to arrive in one order: then both take the way
 * of stderr.
 */
static bool make_ways(struct run *run)
{
    const mishap_wrap_command *command = run->command;
    bool out = !is_closed(run, STDOUT_FILENO), err = !is_closed(run, STDERR_FILENO);
    if (!command->capture && is_interactive_shell(command->argv))
        return true;
    run->one = out && err && !command->capture && same_file(STDOUT_FILENO, STDERR_FILENO);
    bool made = true;
    if (command->capture) {
        made = make_way(run, OUT, -1, false);
        run->streams[OUT].limit = command->limit;
    } else if (out && !run->one && is_pipe(STDOUT_FILENO)) {
        made = make_way(run, OUT, STDOUT_FILENO, false);
    }
    return made && (!err || make_way(run, ERR, STDERR_FILENO, isatty(STDERR_FILENO)));
}

/* -- starting ---------------------------------------------------------------------------------- */

static void say_descriptors(const struct run *run, posix_spawn_file_actions_t *actions)
{
    if (run->theirs[OUT] >= 0)
        posix_spawn_file_actions_adddup2(actions, run->theirs[OUT], STDOUT_FILENO);
    else if (run->one)
        posix_spawn_file_actions_adddup2(actions, run->theirs[ERR], STDOUT_FILENO);
    if (run->theirs[ERR] >= 0)
        posix_spawn_file_actions_adddup2(actions, run->theirs[ERR], STDERR_FILENO);
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (is_closed(run, file) && !(file == STDOUT_FILENO && run->command->capture))
            posix_spawn_file_actions_addclose(actions, file);
}

/* The signals that this process has changed since it was started get their default action again. */
static void say_signals(const struct run *run, posix_spawnattr_t *how)
{
    sigset_t plain;
    sigemptyset(&plain);
    if (!run->command->origin.pipe_ignored)
        sigaddset(&plain, SIGPIPE);
    if (!run->command->origin.size_ignored)
        sigaddset(&plain, SIGXFSZ);
    posix_spawnattr_setsigdefault(how, &plain);
    posix_spawnattr_setsigmask(how, &run->mask);
    posix_spawnattr_setpgroup(how, 0);
    posix_spawnattr_setflags(how, (short)(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                          (run->own_group ? POSIX_SPAWN_SETPGROUP : 0)));
}

/* In the new process. */
_Noreturn static void become(const struct run *run, int error)
{
    char *const *argv = (char *const *)(uintptr_t)run->command->argv;
    int out = run->theirs[OUT] >= 0 ? run->theirs[OUT] : run->one ? run->theirs[ERR] : -1;
    bool fine = !run->own_group || setpgid(0, 0) == 0;
    fine = fine && (out < 0 || dup2(out, STDOUT_FILENO) >= 0);
    fine = fine && (run->theirs[ERR] < 0 || dup2(run->theirs[ERR], STDERR_FILENO) >= 0);
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (is_closed(run, file) && !(file == STDOUT_FILENO && run->command->capture))
            close(file);
    if (!run->command->origin.pipe_ignored)
        signal(SIGPIPE, SIG_DFL);
    if (!run->command->origin.size_ignored)
        signal(SIGXFSZ, SIG_DFL);
    signal(SIGCHLD, SIG_IGN);
    sigprocmask(SIG_SETMASK, &run->mask, NULL);
    if (fine)
        execvp(argv[0], argv);
    int why = errno;
    _exit(write(error, &why, sizeof why) == (ssize_t)sizeof why ? 127 : 126);
}

/* SIGCHLD was ignored, and stays so for the command: posix_spawn() cannot say that. 0, or an errno.
 */
static int start_ignoring(struct run *run)
{
    int error[2], why = 0;
    ssize_t count;
    if (pipe2(error, O_CLOEXEC) != 0)
        return errno;
    run->pid = fork();
    if (run->pid == 0)
        become(run, error[1]);
    if (run->pid < 0)
        why = errno;
    close(error[1]);
    do /* the end of the pipe: it was executed */
        count = read(error[0], &why, sizeof why);
    while (count < 0 && errno == EINTR);
    close(error[0]);
    if (why && run->pid > 0)
        waitpid(run->pid, NULL, 0);
    return why;
}

/* 0, or an errno. */
static int start(struct run *run)
{
    if (run->child_ignored)
        return start_ignoring(run);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    char *const *argv = (char *const *)(uintptr_t)run->command->argv;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&how);
    say_descriptors(run, &actions);
    say_signals(run, &how);
    int error = posix_spawnp(&run->pid, argv[0], &actions, &how, argv, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* -- what it prints -------------------------------------------------------------------------- */

/* Wait for the streams, and for signals if `signals` is not negative. */
static void move_streams(struct run *run, int signals, int wait_ms)
{
    enum { SIGNALS = STREAMS, KEYS, FILES };
    int ours = run->streams[ERR].from;
    struct pollfd files[FILES];
    for (int i = 0; i < STREAMS; i++) {
        const mishap_wrap_stream *stream = &run->streams[i];
        bool waits = mishap_wrap_stream_waits(stream);
        files[i] = (struct pollfd){ .fd = waits ? stream->to : stream->from,
                                    .events = waits ? POLLOUT : POLLIN };
    }
    files[SIGNALS] = (struct pollfd){ .fd = signals, .events = POLLIN };
    files[KEYS] = (struct pollfd){ .fd = mishap_wrap_keys_file(&run->keys), .events = POLLIN };
    int keys_ms = mishap_wrap_keys_wait(&run->keys);
    int ready = poll(files, FILES,
                     keys_ms >= 0 && (wait_ms < 0 || keys_ms < wait_ms) ? keys_ms : wait_ms);
    if (ready < 0)
        return;
    if (ours >= 0)
        mishap_wrap_keys_move(&run->keys, ours, ready && files[KEYS].revents);
    for (int i = 0; i < STREAMS; i++)
        if (files[i].revents)
            mishap_wrap_stream_move(&run->streams[i]);
    if (run->terminal >= 0 && run->streams[ERR].from >= 0)
        mishap_wrap_keys_look(&run->keys, run->streams[ERR].from);
}

/* -- signals ----------------------------------------------------------------------------------- */

static bool watch_signals(struct run *run)
{
    sigset_t watched;
    sigemptyset(&watched);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        sigaddset(&watched, forwarded[i]);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGWINCH);
    /* If it is ignored, there is nothing to wait for. */
    run->child_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
    if (sigprocmask(SIG_BLOCK, &watched, &run->mask) != 0)
        return false;
    run->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    return run->signals >= 0;
}

/* The terminal belongs to a group that is not this one: setting it must not stop this process. */
static void hand_terminal(pid_t group)
{
    sigset_t stops, before;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTTOU);
    sigprocmask(SIG_BLOCK, &stops, &before);
    tcsetpgrp(STDIN_FILENO, group);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The command was stopped: this process stops, too, so that its parent notices. When it goes on,
 * the command goes on. A pager has cleared the screen before it stopped. */
static void stop_with_command(struct run *run)
{
    enum { TURNS = 16 };
    for (int i = 0; i < TURNS; i++)
        move_streams(run, -1, 0);
    mishap_wrap_keys_pause(&run->keys);
    if (run->foreground)
        hand_terminal(getpgrp());
    kill(run->foreground ? 0 : getpid(), SIGSTOP);
    /* A pager that goes on in the background would draw, and never get a key: the kernel stops one
     * that has the real terminal. */
    if (mishap_wrap_keys_denied(&run->keys))
        kill(getpid(), SIGSTOP);
    if (run->foreground && tcgetpgrp(STDIN_FILENO) == getpgrp())
        hand_terminal(run->pid);
    if (run->own_group)
        mishap_signal_group(run->pid, SIGCONT);
    else
        mishap_signal_process(run->pid, SIGCONT);
}

static void look_at_command(struct run *run)
{
    int status;
    pid_t found;
    while ((found = waitpid(run->pid, &status, WNOHANG | WUNTRACED)) != 0) {
        if (found < 0 && errno == EINTR)
            continue;
        if (found == run->pid && WIFSTOPPED(status)) {
            stop_with_command(run);
            continue;
        }
        run->ended = true;
        run->status = found == run->pid ? status : 0;
        run->ended_ns = mishap_clock_monotonic_ns();
        return;
    }
}

/* The terminal has told the process group that it has a new size. Now it can be read, so it is told
 * again: the program that shows something may be a descendant of the command. */
static void resize(const struct run *run)
{
    if (run->terminal < 0 || run->streams[ERR].from < 0 ||
        !mishap_wrap_terminal_resize(run->terminal, run->streams[ERR].from) || run->ended)
        return;
    if (run->own_group)
        mishap_signal_group(run->pid, SIGWINCH);
    else
        kill(0, SIGWINCH);
}

static void take_signal(struct run *run, const struct signalfd_siginfo *about)
{
    int number = (int)about->ssi_signo;
    if (number == SIGWINCH)
        resize(run);
    if (number == SIGCHLD || run->ended || about->ssi_pid == (uint32_t)getpid())
        return;
    /* The terminal signals the whole process group. When it is gone, it signals the leader of its
     * session alone. */
    bool to_leader = number == SIGHUP && getsid(0) == getpid();
    bool reached = about->ssi_code == SI_KERNEL && !run->own_group && !to_leader;
    if (!reached)
        mishap_signal_process(run->pid, number);
}

static void take_signals(struct run *run)
{
    struct signalfd_siginfo about;
    while (read(run->signals, &about, sizeof about) == (ssize_t)sizeof about)
        take_signal(run, &about);
    if (!run->ended)
        look_at_command(run);
}

/* -- time -------------------------------------------------------------------------------------- */

static int ms_until(int64_t when_ns)
{
    int64_t left = when_ns - mishap_clock_monotonic_ns();
    int64_t ms = left <= 0 ? 0 : (left + 999999) / 1000000;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

static void keep_time(struct run *run)
{
    int64_t now = mishap_clock_monotonic_ns();
    if (run->ended || !run->deadline_ns || now < run->deadline_ns)
        return;
    if (!run->timed_out) {
        run->timed_out = true;
        run->kill_ns = now + GRACE_MS * INT64_C(1000000);
        mishap_signal_group(run->pid, SIGTERM);
        mishap_signal_group(run->pid, SIGCONT);
    } else if (now >= run->kill_ns) {
        mishap_signal_group(run->pid, SIGKILL);
    }
}

static bool is_open(const mishap_wrap_stream *stream)
{
    return stream->from >= 0 || mishap_wrap_stream_waits(stream);
}

/* What is in the pipes when the command ends is its own output, and is passed on; later bytes are
 * of processes that it has left behind. */
static void count_due(struct run *run)
{
    for (int i = 0; i < STREAMS; i++) {
        int waiting = 0;
        if (run->streams[i].from >= 0)
            ioctl(run->streams[i].from, FIONREAD, &waiting);
        run->due[i] = run->streams[i].bytes + (uint64_t)(waiting > 0 ? waiting : 0);
    }
}

static bool is_done(const struct run *run)
{
    if (!run->ended)
        return false;
    bool late = ms_until(run->ended_ns + LINGER_MS * INT64_C(1000000)) == 0;
    for (int i = 0; i < STREAMS; i++) {
        const mishap_wrap_stream *stream = &run->streams[i];
        bool behind = stream->bytes < run->due[i] || mishap_wrap_stream_waits(stream);
        if (is_open(stream) && (behind || !late))
            return false;
    }
    return true;
}

static int longest_wait(const struct run *run)
{
    if (run->ended)
        return ms_until(run->ended_ns + LINGER_MS * INT64_C(1000000)) + 1;
    return run->timed_out     ? ms_until(run->kill_ns)
           : run->deadline_ns ? ms_until(run->deadline_ns)
                              : -1;
}

/* -- the loop ---------------------------------------------------------------------------------- */

static void serve(struct run *run)
{
    while (!is_done(run)) {
        bool before = run->ended;
        move_streams(run, run->signals, longest_wait(run));
        take_signals(run);
        keep_time(run);
        if (run->ended && !before)
            count_due(run);
    }
}

/*
 * A process that the command has left behind may still hold an output. As without this process, it
 * can go on writing: a child of this process passes that on, until the last writer has closed it.
 */
static void leave_relay(struct run *run)
{
    bool any = false;
    for (int i = 0; i < STREAMS; i++)
        any = any || (run->streams[i].from >= 0 && run->streams[i].to >= 0);
    if (!any || fork() != 0)
        return;
    for (;;) {
        bool left = false;
        for (int i = 0; i < STREAMS; i++)
            left = left || (run->streams[i].to >= 0 && is_open(&run->streams[i]));
        if (!left)
            _exit(0);
        move_streams(run, -1, -1);
    }
}

/* -- the end ----------------------------------------------------------------------------------- */

static void close_theirs(struct run *run)
{
    for (int i = 0; i < STREAMS; i++) {
        if (run->theirs[i] >= 0)
            close(run->theirs[i]);
        run->theirs[i] = -1;
    }
}

static void take_end(struct run *run, mishap_wrap_end *end)
{
    mishap_wrap_stream *out = &run->streams[OUT];
    end->status = run->status;
    end->timed_out = run->timed_out;
    end->bytes = out->bytes;
    end->lost = run->streams[run->one ? ERR : OUT].lost;
    mishap_wrap_stream_tail(out, &end->out);
    mishap_wrap_stream_tail(&run->streams[ERR], &end->err);
    end->captured = out->kept;
    out->kept = (mishap_buffer){ 0 };
    if (out->file >= 0)
        snprintf(end->file, sizeof end->file, "%s", out->path);
}

static void end_run(struct run *run)
{
    mishap_wrap_keys_close(&run->keys);
    if (run->foreground)
        hand_terminal(getpgrp());
    close_theirs(run);
    for (int i = 0; i < STREAMS; i++) {
        mishap_buffer_release(&run->streams[i].kept);
        mishap_wrap_stream_close(&run->streams[i]);
    }
    if (run->signals >= 0)
        close(run->signals);
    sigprocmask(SIG_SETMASK, &run->mask, NULL);
}

static void begin_time(struct run *run)
{
    run->own_group = run->command->timeout_ms > 0;
    run->foreground = run->own_group && isatty(STDIN_FILENO) &&
                      tcgetpgrp(STDIN_FILENO) == getpgrp();
    if (run->own_group)
        run->deadline_ns = mishap_clock_monotonic_ns() +
                           run->command->timeout_ms * INT64_C(1000000);
}

mishap *mishap_wrap_run(const mishap_wrap_command *command, mishap_wrap_end *end)
{
    struct run run = { .command = command, .terminal = -1, .keys.from = -1, .signals = -1 };
    mishap *failure = NULL;
    *end = (mishap_wrap_end){ 0 };
    for (int i = 0; i < STREAMS; i++) {
        run.theirs[i] = -1;
        run.streams[i] = (mishap_wrap_stream){ .from = -1, .to = -1, .file = -1 };
    }
    sigprocmask(SIG_SETMASK, NULL, &run.mask);
    begin_time(&run);
    if (!make_ways(&run) || !watch_signals(&run)) {
        failure = mishap_note(mishap_raise(UNAVAILABLE, "The command cannot be watched: the system "
                                                        "has no pipe or no memory to give."),
                              "errno", errno);
    } else if ((end->error = start(&run)) == 0) {
        if (run.foreground)
            hand_terminal(run.pid);
        close_theirs(&run);
        resize(&run); /* it may have changed before this was watched */
        serve(&run);
        mishap_wrap_keys_close(&run.keys);
        leave_relay(&run);
        take_end(&run, end);
    }
    end_run(&run);
    return failure;
}

void mishap_wrap_end_release(mishap_wrap_end *end)
{
    mishap_buffer_release(&end->err);
    mishap_buffer_release(&end->out);
    mishap_buffer_release(&end->captured);
}
