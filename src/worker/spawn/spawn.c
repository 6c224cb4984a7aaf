/*
 * Starts the process of a foreign program, in its sandbox. Runs in the keeper, and in a command for
 * its one call.
 */
#include "worker/spawn/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system.h"
#include "worker/spawn/child.h"

enum { MOST_ARGUMENTS = 64, MOST_SANDBOXES = 32 };

/* Sandboxes are cached by profile, since making one takes some milliseconds. */
static struct {
    const mishap_sandbox_profile *profile;
    mishap_sandbox *sandbox;
} made[MOST_SANDBOXES];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* any thread may start a process */

static mishap_sandbox_mode mode = MISHAP_SANDBOX_STRICT;
static bool mode_said;

void mishap_spawn_use(mishap_sandbox_mode chosen)
{
    mode = chosen;
    mode_said = true;
}

void mishap_spawn_use_usual(const mishap_app *app)
{
    if (!mode_said)
        mishap_spawn_use(mishap_sandbox_mode_of(app->name, NULL));
}

static mishap *find_or_make(const mishap_foreign *foreign, mishap_sandbox **sandbox)
{
    size_t i = 0;
    while (i < MOST_SANDBOXES && made[i].profile && made[i].profile != foreign->sandbox)
        i++;
    if (i == MOST_SANDBOXES)
        return mishap_raise(NOT_CONFIGURED, "There are more than %d sandboxes.", MOST_SANDBOXES);
    mishap *failure = made[i].sandbox
                          ? NULL
                          : mishap_sandbox_prepare(foreign->sandbox, mode, &made[i].sandbox);
    if (!failure) {
        made[i].profile = foreign->sandbox;
        *sandbox = made[i].sandbox;
    }
    return failure;
}

static mishap *sandbox_of(const mishap_foreign *foreign, mishap_sandbox **sandbox)
{
    *sandbox = NULL;
    if (!foreign->sandbox)
        return NULL;
    pthread_mutex_lock(&making);
    mishap *failure = find_or_make(foreign, sandbox);
    pthread_mutex_unlock(&making);
    return failure;
}

mishap *mishap_spawn_check(const mishap_foreign *foreign)
{
    mishap *failure = foreign->usable ? foreign->usable() : NULL;
    if (failure || !foreign->sandbox)
        return failure;
    failure = mishap_sandbox_check(mode);
    return failure ? failure : mishap_sandbox_check_place(foreign->sandbox);
}

void mishap_spawn_sweep(void)
{
    for (size_t i = 0; i < MOST_SANDBOXES; i++)
        if (made[i].sandbox && mishap_sandbox_layers(made[i].sandbox) & MISHAP_LAYER_GROUPS) {
            mishap_sandbox_sweep_groups();
            return;
        }
}

void mishap_spawn_prepare(const mishap_foreign *foreign)
{
    mishap_sandbox *sandbox;
    /* A failure is no matter here: the first start tries again. */
    mishap_free(sandbox_of(foreign, &sandbox));
}

/* The output of a program is a file in memory of a fixed size: writing beyond it fails, and the
 * file offset tells how much was written. */
static int make_output(void)
{
    return mishap_system_memory("mishap-output", MISHAP_FOREIGN_OUTPUT, F_SEAL_SEAL);
}

static bool list_arguments(const mishap_foreign *foreign, const char *arguments[])
{
    size_t count = 0;
    arguments[count++] = foreign->program;
    for (const char *const *a = foreign->arguments; a && *a; a++) {
        if (count == MOST_ARGUMENTS) {
            errno = E2BIG;
            return false;
        }
        arguments[count++] = *a;
    }
    arguments[count] = NULL;
    return true;
}

static _Noreturn void execute(const mishap_foreign *foreign, const char *const *arguments)
{
    static const char *const none[] = { NULL };
    union {
        const char *const *given;
        char *const *base; /* execve() does not write to them */
    } program = { arguments }, environment = { foreign->environment ? foreign->environment : none };
    execve(foreign->program, program.base, environment.base);
    _exit(127);
}

/* Written to the child's output, whose end goes to the operator's log. */
static const char not_entered[] = "The sandbox cannot be entered: ";

static void say_step(const char *step, int error)
{
    char words[200];
    int length = snprintf(words, sizeof words, "%s%s: %s\n", not_entered, step,
                          strerrordesc_np(error));
    if (length > 0 && write(STDERR_FILENO, words, (size_t)length) < 0)
        return; /* there is no other place to report to */
}

bool mishap_spawn(const mishap_foreign *foreign, int socket, mishap_spawned *spawned)
{
    const char *arguments[MOST_ARGUMENTS + 1];
    mishap_sandbox *sandbox;
    pid_t parent = getpid();
    *spawned = (mishap_spawned){ .output = -1 };
    mishap *failure = sandbox_of(foreign, &sandbox);
    if (failure) {
        mishap_free(failure);
        errno = EPERM;
        return false;
    }
    if (!list_arguments(foreign, arguments))
        return false;
    spawned->output = make_output();
    if (spawned->output < 0)
        return false;
    pid_t pid = sandbox ? mishap_sandbox_fork(sandbox, &spawned->place) : fork();
    if (pid == 0) {
        if (!mishap_child_begin_foreign(sandbox ? 0 : parent, socket, spawned->output))
            _exit(127);
        if (!sandbox)
            execute(foreign, arguments);
        const char *step = mishap_sandbox_exec(sandbox, &spawned->place, arguments);
        say_step(step, errno);
        _exit(127);
    }
    if (pid > 0) {
        spawned->pid = pid;
        spawned->sandbox = sandbox;
        return true;
    }
    int error = errno; /* spawned->pid stays 0, never -1: kill(-1) would end every process */
    close(spawned->output);
    spawned->output = -1;
    errno = error;
    return false;
}

/* The step and the error that the child has written to its output. */
static mishap *tell_step(mishap_text output)
{
    size_t length = sizeof not_entered - 1;
    if (output.length < length || memcmp(output.data, not_entered, length) != 0)
        return NULL;
    char words[200];
    static const char executing[] = "execve";
    const char *step = output.data + length, *end = memchr(step, '\n', output.length - length);
    int size = (int)(end ? end - step : (ptrdiff_t)(output.length - length));
    snprintf(words, sizeof words, "%.*s", size, step);
    if (strncmp(words, executing, sizeof executing - 1) == 0)
        return NULL; /* the sandbox was entered, but the program could not be executed */
    mishap *m = mishap_raise(NOT_CONFIGURED,
                             "The sandbox of the foreign program cannot be entered.");
    return mishap_suggest(
        mishap_tell_cause(m, words),
        "Raise the limits of the server (ulimit -a), such as those of processes and "
        "open files.");
}

mishap *mishap_spawn_lack(const mishap_foreign *foreign, mishap_text output)
{
    if (!foreign->sandbox)
        return NULL;
    mishap *step = tell_step(output);
    return step ? step : mishap_sandbox_check_limits(foreign->sandbox);
}

void mishap_spawn_interrupt(pid_t pid, uint32_t id)
{
    sigqueue(pid, SIGINT, (union sigval){ .sival_int = (int)id });
}

bool mishap_spawn_look(mishap_spawned *spawned)
{
    if (!spawned->exceeded && spawned->sandbox)
        spawned->exceeded = mishap_sandbox_look(spawned->sandbox, &spawned->place, spawned->pid,
                                                &spawned->watch);
    return spawned->exceeded != MISHAP_EXCESS_NONE;
}

mishap_sandbox_excess mishap_spawn_exceeded(const mishap_spawned *spawned)
{
    return spawned->exceeded ? spawned->exceeded : mishap_sandbox_excess_of(&spawned->place);
}

const char *mishap_spawn_excess(mishap_sandbox_excess excess)
{
    static const char *const words[] = { [MISHAP_EXCESS_MEMORY] = "memory",
                                         [MISHAP_EXCESS_THREADS] = "threads",
                                         [MISHAP_EXCESS_FILES] = "files" };
    return words[excess];
}

size_t mishap_spawn_output(const mishap_spawned *spawned, char *output)
{
    off_t end = spawned->output >= 0 ? lseek(spawned->output, 0, SEEK_CUR) : 0;
    if (end <= 0)
        return 0;
    if (end > MISHAP_FOREIGN_OUTPUT)
        end = MISHAP_FOREIGN_OUTPUT;
    if (end <= MISHAP_FOREIGN_LAST_OUTPUT) {
        ssize_t got = pread(spawned->output, output, (size_t)end, 0);
        return got > 0 ? (size_t)got : 0;
    }
    /* A program may write first why it dies, and then a long stack: so the beginning is kept,
     * too. */
    static const char between[] = "\n[…]\n";
    enum { CUT = sizeof between - 1, FIRST = MISHAP_FOREIGN_LAST_OUTPUT / 2 };
    enum { LAST = MISHAP_FOREIGN_LAST_OUTPUT - FIRST - CUT };
    if (pread(spawned->output, output, FIRST, 0) != FIRST ||
        pread(spawned->output, output + FIRST + CUT, LAST, end - LAST) != LAST)
        return 0;
    memcpy(output + FIRST, between, CUT);
    return MISHAP_FOREIGN_LAST_OUTPUT;
}

void mishap_spawn_remove(mishap_spawned *spawned)
{
    if (spawned->output >= 0)
        close(spawned->output);
    if (spawned->pid)
        mishap_sandbox_remove(&spawned->place);
    *spawned = (mishap_spawned){ .output = -1 };
}
