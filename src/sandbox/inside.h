/* The inside of the sandbox, for the files of this folder. Most functions run in the child: they
 * allocate nothing, and report a failure by false and errno. */
#ifndef MISHAP_SANDBOX_INSIDE_H
#define MISHAP_SANDBOX_INSIDE_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sandbox.h"

enum {
    MISHAP_SANDBOX_FILES = 64,    /* open files, if the profile sets no limit */
    MISHAP_SANDBOX_THREADS = 64,  /* threads, if the profile sets no limit */
    MISHAP_SANDBOX_FILE_MB = 1,   /* size of a file that it writes, at least */
    MISHAP_SANDBOX_STACK_MB = 8,  /* of the first thread, if the profile sets no limit */
    MISHAP_SANDBOX_SIGNALS = 32,  /* queued signals, in a user namespace */
    MISHAP_SANDBOX_SPARE_IDS = 2, /* ids beside its threads that the system counts */
    MISHAP_SANDBOX_INODE =
        4096, /* bytes that a file of the temporary folder counts for, at least */
    MISHAP_SANDBOX_FOLDER_MODE = 0700,
};

/* A filter of system calls, in the form of the kernel. */
typedef struct mishap_sandbox_filter {
    struct sock_filter *code;
    size_t count;
} mishap_sandbox_filter;

struct mishap_sandbox {
    const mishap_sandbox_profile *profile;
    unsigned layers;
    const mishap_sandbox_filter *filter; /* NULL without seccomp */
};

/* The layers that a fork has to begin in: namespaces. */
enum {
    MISHAP_SANDBOX_NAMESPACES = MISHAP_LAYER_MOUNTS | MISHAP_LAYER_PROCESSES |
                                MISHAP_LAYER_NETWORK | MISHAP_LAYER_IPC | MISHAP_LAYER_HOST |
                                MISHAP_LAYER_USERS
};

/* -- filter.c ---------------------------------------------------------------------------------- */

/* Compile the list of system calls, once in a process and those that are forked of it later: it is
 * the same for all profiles. NULL without memory, or if the library cannot; errno. */
const mishap_sandbox_filter *mishap_sandbox_compile(void);

/* In the child, which has its own copy of the filter: set the process id that it may send signals
 * to, and what its profile shares. */
void mishap_sandbox_aim(const mishap_sandbox_filter *filter, pid_t self, unsigned shares);

/* Install the filter: the descriptor of its listener, or -1. */
int mishap_sandbox_install(const mishap_sandbox_filter *filter);

/*
 * Install the filter and execute the program: the last execution that is possible. The filter hands
 * every execution to a listener. A second thread is the listener, and lets the first one pass. By
 * the execution itself that thread ends and the listener's descriptor is closed, and without a
 * listener the kernel answers each further one with ENOSYS. So the program need not cooperate.
 */
const char *mishap_sandbox_exec_last(const mishap_sandbox_filter *filter,
                                     const char *const *program, const char *const *environment);

/* -- rules.c ----------------------------------------------------------------------------------- */

/* The version of Landlock that the kernel has; 0: none, and errno says why. */
int mishap_sandbox_landlock_version(void);

/* Allow it to read what is named, to execute the program and its loader, and to write into `folder`
 * (NULL: nowhere). */
bool mishap_sandbox_restrict(const char *const *readable, const char *program, const char *folder);

/* -- mounts.c ---------------------------------------------------------------------------------- */

/* Enter a root folder that contains what is named, the program, and the temporary folder; nothing
 * else. */
bool mishap_sandbox_change_root(const char *const *readable, const char *program,
                                uint64_t temporary_bytes);

/* Limit the ids, and so the threads, of the PID namespace whose first process this is. Linux 6.14
 * and later; false: it cannot be done here. The kernel accepts no limit below 301. */
bool mishap_sandbox_limit_ids(uint64_t threads);

#define MISHAP_SANDBOX_TEMPORARY "/tmp" /* in that root folder */

/* -- groups.c ---------------------------------------------------------------------------------- */

/* Make a control group for one process, with the limits of its profile, in the parent; enter it in
 * the child, unless it was forked into it; remove it in the parent. */
bool mishap_sandbox_make_group(const mishap_sandbox_profile *profile, mishap_sandbox_place *place);
/* A descriptor for forking into it; -1: not possible. */
int mishap_sandbox_open_group(const mishap_sandbox_place *place);
bool mishap_sandbox_enter_group(const mishap_sandbox_place *place);
void mishap_sandbox_remove_group(mishap_sandbox_place *place);

/* True if the system has killed a process of this group because the group had too much memory. */
bool mishap_sandbox_group_ran_out(const mishap_sandbox_place *place);

/* The folder of version 2 in which this process may make groups with both controllers: that of its
 * own group, which is `path` below `root`, or the one above it. False: neither. */
bool mishap_sandbox_find_groups(const char *root, const char *path, char *folder, size_t size);

/* Set where groups are made; "", for tests: search again. */
void mishap_sandbox_use_groups_of(const char *folder, bool memory);

/* -- place.c ----------------------------------------------------------------------------------- */

/* Make a temporary folder: below TMPDIR, /tmp or /var/tmp. False: errno says why not. */
bool mishap_sandbox_make_folder(mishap_sandbox_place *place);

/* Remove the folders of this kind that no process uses any more, because their makers were killed,
 * except for those that were made within the last `young_s` seconds. */
void mishap_sandbox_sweep_folders(const char *above, int young_s);

/* -- watch.c ----------------------------------------------------------------------------------- */

/* The memory that a profile allows a program to use; 0: unlimited. */
uint64_t mishap_sandbox_resident(const mishap_sandbox_profile *profile);

/* -- remove.c ---------------------------------------------------------------------------------- */

/* True if a folder has more than so many files, or bytes in them. It is searched only as far as
 * necessary. */
bool mishap_sandbox_folder_exceeds(const char *path, uint64_t files, uint64_t bytes);

/* Remove a folder with everything in it, at any depth, in the parent. No process may use it. */
void mishap_sandbox_remove_folder(const char *path);

/* -- probe.c ----------------------------------------------------------------------------------- */

/* mishap_sandbox_check() for any report. */
mishap *mishap_sandbox_check_report(const mishap_sandbox_report *report, mishap_sandbox_mode mode);

/* -- sandbox.c: for the probe -------------------------------------------------------------------
 */

/* Fork into the namespaces among these layers and, if the kernel can, into this group (-1: none).
 */
pid_t mishap_sandbox_clone(unsigned layers, int group);

/* Enter everything but the filter. NULL, or the step that failed. */
const char *mishap_sandbox_enter(unsigned layers, const mishap_sandbox_profile *profile,
                                 const mishap_sandbox_place *place, const char *program);

#endif
