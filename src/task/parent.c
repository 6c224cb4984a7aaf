/* The process of tasks, as the supervisor sees it: start, restart, end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "incident/logs.h"
#include "task/inside.h"
#include "task/place/place.h"

enum {
    AGAIN_NS = 500000000,        /* pause after a bad start */
    SOUND_START_NS = 1000000000, /* a process that ran for so long had a good start */
    END_MS = 2000,               /* … beyond what tasks may take when the server stops */
    KILLED_MS = 1000,
};

/* Of the supervisor, which has one thread. */
static struct {
    const mishap_task_plan *plan; /* NULL: none is wanted */
    pid_t pid;                    /* 0: none runs */
    int kept;                     /* its connection to the keeper */
    int64_t begun_ns, start_at_ns;
    bool done;
} process;

static void start_process(void)
{
    mishap_keeper *keeper = &process.plan->served->keeper;
    pid_t self = getpid();
    int own = -1;
    process.kept = -1;
    process.begun_ns = mishap_clock_monotonic_ns();
    process.start_at_ns = process.begun_ns + AGAIN_NS;
    process.done = false;
    process.pid = 0;
    if (!mishap_keeper_connect(keeper, &own, &process.kept))
        return;
    pid_t pid = fork();
    if (pid == 0)
        mishap_task_process_run(process.plan, own, self);
    close(own);
    if (pid > 0) {
        process.pid = pid;
        process.start_at_ns = 0;
    } else {
        mishap_keeper_disconnect(keeper, process.kept);
    }
}

mishap *mishap_task_process_start(const mishap_task_plan *plan)
{
    mishap *failure = mishap_task_place_make();
    if (failure)
        return failure;
    process.plan = plan;
    if (plan->detached || plan->address)
        start_process();
    else
        mishap_task_process_look();
    return NULL;
}

/* True until the process is started for the first time. */
static bool is_idle(void)
{
    return process.plan && !process.pid && !process.start_at_ns && !process.done;
}

int mishap_task_process_wakes(void)
{
    return is_idle() ? mishap_task_place_listener() : -1;
}

/* Most servers never have a task: then there is no process, and nothing in the data folder. */
static bool is_needed(void)
{
    char path[4200];
    struct pollfd listener = { .fd = mishap_task_place_listener(), .events = POLLIN };
    const mishap_served *served = process.plan->served;
    bool named = mishap_task_folder_file(served->setup.data, served->app->name, path, sizeof path);
    return (named && access(path, F_OK) == 0) || poll(&listener, 1, 0) > 0;
}

bool mishap_task_process_ended(int pid, int status)
{
    if (!process.pid || pid != process.pid)
        return false;
    if (WIFSTOPPED(status)) {
        mishap_signal_process(pid, SIGKILL);
        return true;
    }
    int64_t now = mishap_clock_monotonic_ns();
    mishap_keeper_disconnect(&process.plan->served->keeper, process.kept);
    process.pid = 0;
    process.done = process.plan->detached && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (process.done)
        return true;
    process.start_at_ns = now - process.begun_ns < SOUND_START_NS ? now + AGAIN_NS : now;
    mishap_log_say("%s: the process that runs tasks has ended; another takes its place\n",
                   process.plan->served->app->name);
    mishap_task_process_look();
    return true;
}

int mishap_task_process_pid(void)
{
    return process.pid;
}

bool mishap_task_process_is_done(void)
{
    return process.done;
}

void mishap_task_process_look(void)
{
    if (is_idle() && is_needed())
        process.start_at_ns = 1;
    if (process.plan && !process.pid && process.start_at_ns &&
        mishap_clock_monotonic_ns() >= process.start_at_ns)
        start_process();
}

static void wait_for_end(int most_ms)
{
    for (int i = 0; i < most_ms && process.pid; i++) {
        pid_t pid = waitpid(process.pid, NULL, WNOHANG);
        if (pid == process.pid || (pid < 0 && errno == ECHILD))
            process.pid = 0;
        else
            poll(NULL, 0, 1);
    }
}

void mishap_task_process_end(void)
{
    if (process.pid)
        mishap_signal_process(process.pid, SIGUSR2);
    wait_for_end(process.plan ? process.plan->stop_ms + END_MS : 0);
    if (process.pid)
        mishap_signal_process(process.pid, SIGKILL);
    wait_for_end(KILLED_MS);
    process.pid = 0;
    process.plan = NULL;
    mishap_task_place_end();
}
