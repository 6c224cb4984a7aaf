/* Processes, told apart by more than their ids. */
#include "base/life.h"

#include <limits.h>
#include <linux/sched/types.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/priority.h"
#include "base/signals.h"
#include "testing.h"

static const uint64_t started_mask = UINT64_MAX >> 22;

static pid_t start(void)
{
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    assert_true(child > 0);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* What the system says of when a process was started. */
static uint64_t started(pid_t process)
{
    char path[64];
    uint64_t ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file,
                            "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
                            "%*d %*d %*d %*d %*d %lu",
                            &ticks),
                     1);
    fclose(file);
    return ticks;
}

static void a_life_is_a_process_and_when_it_was_started(void **state)
{
    (void)state;
    mishap_life life = mishap_life_self();
    assert_int_equal(mishap_life_process(life), getpid());
    assert_int_equal(life & started_mask, started(getpid()));
    assert_true(life == mishap_life_of(getpid(), started(getpid())));
    assert_int_equal(mishap_life_process(mishap_life_of(4194303, UINT64_MAX)), 4194303);
    assert_false(mishap_life_is_over(life));
}

static void a_child_has_a_life_of_its_own(void **state)
{
    (void)state;
    mishap_life life = mishap_life_self();
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(mishap_life_self() != life && mishap_life_process(mishap_life_self()) == getpid() &&
              !mishap_life_is_over(life) && !mishap_life_is_over(mishap_life_self()));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 1);
}

static void the_dead_are_dead_at_once(void **state)
{
    (void)state;
    pid_t child = start();
    mishap_life life = mishap_life_of(child, started(child));
    assert_false(mishap_life_is_over(life));
    end(child);
    assert_true(mishap_life_is_over(life));
    assert_true(mishap_life_is_over(0)); /* no process */
}

/* Its parent has not reaped it, so its id is not free. It will answer nothing, though. */
static void who_waits_to_be_reaped_is_dead(void **state)
{
    (void)state;
    pid_t child = start();
    mishap_life life = mishap_life_of(child, started(child));
    kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_true(mishap_life_is_over(life));
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void the_state_of_a_process_is_known(void **state)
{
    (void)state;
    assert_int_equal(mishap_life_state(getpid()), 'R');
    pid_t child = start();
    kill(child, SIGSTOP);
    assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
    assert_int_equal(mishap_life_state(child), 'T');
    kill(child, SIGCONT);
    end(child);
    assert_int_equal(mishap_life_state(child), '?');
}

static void a_process_id_that_was_given_again_is_another_life(void **state)
{
    (void)state;
    pid_t child = start();
    uint64_t ticks = started(child);
    assert_true(mishap_life_is_over(mishap_life_of(child, ticks - 1)));
    assert_false(mishap_life_is_over(mishap_life_of(child, ticks)));
    assert_true(mishap_life_is_over(mishap_life_of(child, ticks - 1)));
    assert_true(mishap_life_is_over(mishap_life_of(getpid(), started(getpid()) - 1)));
    assert_false(mishap_life_is_over(mishap_life_of(child, 0))); /* the id is all that is known */
    end(child);
}

/* Signal 0 is only a question: kill() would say yes to each of these. */
static void a_signal_is_sent_to_one_process_or_its_group_and_never_to_all(void **state)
{
    (void)state;
    static const int others[] = { 1, 0, -1, -2, INT_MIN };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(mishap_signal_process(others[i], 0));
        assert_false(mishap_signal_group(others[i], 0));
    }
    pid_t child = start();
    assert_int_equal(setpgid(child, child), 0);
    assert_true(mishap_signal_process(child, 0));
    assert_true(mishap_signal_group(child, SIGKILL));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(mishap_signal_process(child, 0));
}

/* 0: this system has none that can be set. */
static uint64_t slice_of(pid_t pid)
{
    struct sched_attr found = { 0 };
    assert_int_equal(syscall(SYS_sched_getattr, pid, &found, sizeof found, 0), 0);
    return found.sched_runtime;
}

static void a_process_of_low_priority_has_a_long_slice(void **state)
{
    (void)state;
    uint64_t usual = slice_of(0);
    pid_t child = start();
    assert_int_equal(setpgid(child, child), 0);
    mishap_priority_lower(child, 5);
    if (usual)
        assert_int_equal(slice_of(child), 100 * 1000 * 1000);
    mishap_priority_lower(child, 0);
    if (mishap_priority_can_be_restored())
        assert_int_equal(slice_of(child), usual);
    end(child);
}

static void a_priority_is_lowered_and_restored_and_never_ones_own(void **state)
{
    (void)state;
    int own = getpriority(PRIO_PROCESS, 0);
    pid_t child = start();
    assert_int_equal(setpgid(child, child), 0);
    assert_true(own <= 18);
    mishap_priority_lower(child, 1);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)child), own + 1);
    mishap_priority_lower(child, 19);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)child), own < 0 ? own + 19 : 19);
    mishap_priority_lower(child, 0);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)child),
                     mishap_priority_can_be_restored() ? own : 19);
    end(child);
    mishap_priority_lower(0, 19);
    mishap_priority_lower(1, 0);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), own);
}

static void what_a_process_does_not_hear_is_known(void **state)
{
    int ends[2], last = SIGRTMAX;
    char byte;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR1);
        sigaddset(&blocked, last);
        sigprocmask(SIG_SETMASK, &blocked, NULL);
        signal(SIGUSR2, SIG_IGN);
        signal(SIGHUP, SIG_DFL);
        if (write(ends[1], "!", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_true(mishap_life_is_deaf(child, SIGUSR1));
    assert_true(mishap_life_is_deaf(child, last));
    assert_true(mishap_life_is_deaf(child, SIGUSR2));
    assert_false(mishap_life_is_deaf(child, SIGHUP));
    assert_false(mishap_life_is_deaf(child, last - 1));
    end(child);
    assert_false(mishap_life_is_deaf(child, SIGUSR1)); /* it is not there */
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_life_is_a_process_and_when_it_was_started),
        TEST(a_child_has_a_life_of_its_own),
        TEST(the_dead_are_dead_at_once),
        TEST(who_waits_to_be_reaped_is_dead),
        TEST(the_state_of_a_process_is_known),
        TEST(what_a_process_does_not_hear_is_known),
        TEST(a_process_id_that_was_given_again_is_another_life),
        TEST(a_signal_is_sent_to_one_process_or_its_group_and_never_to_all),
        TEST(a_process_of_low_priority_has_a_long_slice),
        TEST(a_priority_is_lowered_and_restored_and_never_ones_own),
    };
    return RUN(tests);
}
