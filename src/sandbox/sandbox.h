/*
 * src/sandbox: a process that runs a foreign program and may do nothing beyond its profile.
 *
 *     sandbox.c    preparing, forking, entering: the order of the layers
 *     probe.c      what this machine offers
 *     filter.c     seccomp: the list of system calls, compiled
 *     rules.c      Landlock
 *     mounts.c     the root folder of a mount namespace
 *     groups.c     control groups
 *     place.c      a temporary folder, and limits that are high enough
 *     remove.c     the temporary folder, after the program
 *     watch.c      what no limit of the system holds: memory, threads and files, looked at now and
 *                  then
 *
 * It does not depend on operations or on the messages of the program. How it is used, in a process
 * with one thread:
 *
 *     mishap_sandbox_prepare(profile, mode, &sandbox);     once
 *     pid = mishap_sandbox_fork(sandbox, &place);          instead of fork()
 *     if (pid == 0) {
 *         … descriptors and signals as the program is to have them …
 *         step = mishap_sandbox_exec(sandbox, &place, program);
 *         … it returns only if it failed: say so, and _exit() …
 *     }
 *     … mishap_sandbox_look(sandbox, &place, pid, &watch), now and then, until waitpid(pid) …
 *     mishap_sandbox_remove(&place);
 *
 * In the child everything is safe after fork() of any process: no allocation, no lock, no stdio.
 */
#ifndef MISHAP_SANDBOX_SANDBOX_H
#define MISHAP_SANDBOX_SANDBOX_H

#include <sys/types.h>

#include "mishap/sandbox.h"

typedef struct mishap_sandbox mishap_sandbox;

/* What one sandboxed process needs outside of itself, for mishap_sandbox_remove(). */
typedef struct mishap_sandbox_place {
    char folder[256]; /* the temporary folder, where there is no mount namespace; "": none */
    char group[256];  /* its control group; "": none */
    int lock;         /* the folder, open and locked while this process lives; 0: none */
} mishap_sandbox_place;

/* The resource of which a program has more than its profile allows. */
typedef enum mishap_sandbox_excess {
    MISHAP_EXCESS_NONE,
    MISHAP_EXCESS_MEMORY,
    MISHAP_EXCESS_THREADS,
    MISHAP_EXCESS_FILES, /* in its temporary folder */
} mishap_sandbox_excess;

/* The state of a watched process: zeros at its beginning. */
typedef struct mishap_sandbox_watch {
    int64_t used_ns;    /* processor time at the last check */
    int64_t weighed_ns; /* when its PSS was read last */
    uint64_t weighed;   /* … and what it had mapped then, files included */
    int64_t counted_ns; /* when its files were counted */
    uint64_t resident;  /* bytes in memory, without mapped files */
    bool ran;           /* it had used processor time since the look before */
    bool near;          /* … and is not far from its limit of memory */
} mishap_sandbox_watch;

/*
 * Compile a profile for this machine. The profile and its texts live as long as the sandbox.
 * NOT_CONFIGURED: the machine offers less than the minimum, and the mode is strict.
 */
mishap *mishap_sandbox_prepare(const mishap_sandbox_profile *profile, mishap_sandbox_mode mode,
                               mishap_sandbox **sandbox);

/* The same with these layers alone, even below the minimum: for tests. */
mishap *mishap_sandbox_prepare_layers(const mishap_sandbox_profile *profile, unsigned layers,
                                      mishap_sandbox **sandbox);
void mishap_sandbox_release(mishap_sandbox *sandbox);

/* Is there a place for the temporary files of a program with this profile? NOT_CONFIGURED: none. */
mishap *mishap_sandbox_check_place(const mishap_sandbox_profile *profile);

/* A program that did not start: is a limit of this process below what the profile gives it? That
 * may be enough, so it is asked afterwards. NOT_CONFIGURED: it is; NULL: no. */
mishap *mishap_sandbox_check_limits(const mishap_sandbox_profile *profile);

/* The layers that it uses. */
unsigned mishap_sandbox_layers(const mishap_sandbox *sandbox);

/*
 * Fork into the namespaces of the sandbox: 0 in the child, which is to call mishap_sandbox_exec();
 * -1: errno says why, and nothing is to be removed. The child is a child of this process like any
 * other, but it may be the first process of a PID namespace: there getpid() is 1, getppid() is 0,
 * and of the signals that it has no handler for only SIGKILL and SIGSTOP from outside have an
 * effect. It dies with this process. No handler of pthread_atfork() is called.
 */
pid_t mishap_sandbox_fork(const mishap_sandbox *sandbox, mishap_sandbox_place *place);

/*
 * In that child: enter all other layers and execute the program, an absolute path and its
 * arguments, then NULL. Descriptors that are not closed on exec are the program's: the caller has
 * arranged them before. The environment is that of the profile, the current folder the temporary
 * one, or the root folder.
 *
 * It returns only on failure: the name of the step that failed, and errno. The process is half in
 * the sandbox then, and must end.
 */
const char *mishap_sandbox_exec(const mishap_sandbox *sandbox, const mishap_sandbox_place *place,
                                const char *const *program);

/* Look at a process that has not been waited for: has it too much of something? Then it is to be
 * killed. One that has not run since the last look costs a system call. */
mishap_sandbox_excess mishap_sandbox_look(const mishap_sandbox *sandbox,
                                          const mishap_sandbox_place *place, pid_t pid,
                                          mishap_sandbox_watch *watch);

/* The process was killed; was it the system, for what it had too much of? */
mishap_sandbox_excess mishap_sandbox_excess_of(const mishap_sandbox_place *place);

/* The process has ended: remove what is left of it. */
void mishap_sandbox_remove(mishap_sandbox_place *place);

/* Remove a folder that was made at `path` and is open, with everything in it. The program may have
 * moved it: the descriptor counts. A link that has taken its place is removed, not followed. */
void mishap_sandbox_remove_opened(int folder, const char *path);

/* Remove the control groups that a process which was killed could not: those that were made by a
 * process that is dead, and that no process is in. */
void mishap_sandbox_sweep_groups(void);

#endif
