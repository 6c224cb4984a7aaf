/* The inside of the sandbox, for the files that it is made of. Most functions run in the child:
 * they allocate nothing, and say with false and errno that they failed. */
#ifndef MISHAP_SANDBOX_INSIDE_H
#define MISHAP_SANDBOX_INSIDE_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sandbox.h"

enum {
    MISHAP_SANDBOX_FILES = 64,    /* open at once, if the profile does not say it */
    MISHAP_SANDBOX_THREADS = 64,  /* at once, if the profile does not say it */
    MISHAP_SANDBOX_FILE_MB = 1,   /* of a file that it writes, at least */
    MISHAP_SANDBOX_STACK_MB = 8,  /* of the first thread, if the profile does not say it */
    MISHAP_SANDBOX_SIGNALS = 32,  /* queued at once, in a user namespace */
    MISHAP_SANDBOX_SPARE_IDS = 2, /* beside its threads, of those that the system counts */
    MISHAP_SANDBOX_INODE =
        4096, /* bytes that a file of the temporary folder counts for, at least */
    MISHAP_SANDBOX_FOLDER_MODE = 0700,
};

/* A filter of system calls, as the kernel takes it. */
typedef struct mishap_sandbox_filter {
    struct sock_filter *code;
    size_t count;
} mishap_sandbox_filter;

struct mishap_sandbox {
    const mishap_sandbox_profile *profile;
    unsigned layers;
    const mishap_sandbox_filter *filter; /* NULL without seccomp */
};

/* In which of the layers a fork already has to begin: namespaces. */
enum {
    MISHAP_SANDBOX_NAMESPACES = MISHAP_LAYER_MOUNTS | MISHAP_LAYER_PROCESSES |
                                MISHAP_LAYER_NETWORK | MISHAP_LAYER_IPC | MISHAP_LAYER_HOST |
                                MISHAP_LAYER_USERS
};

/* -- filter.c ---------------------------------------------------------------------------------- */

/* Compile the list of system calls, once in a process and those that are forked of it later: it is
 * the same for all profiles. NULL without memory, or if the library cannot; errno. */
const mishap_sandbox_filter *mishap_sandbox_compile(void);

/* In the child, whose copy of the filter it is from now on: the process that it may send signals to
 * is itself, and it has what its profile says of `shares`. */
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

/* Read what is named, execute the program and its loader, write into `folder` (NULL: nowhere). */
bool mishap_sandbox_restrict(const char *const *readable, const char *program, const char *folder);

/* -- mounts.c ---------------------------------------------------------------------------------- */

/* A root folder that has what is named and the program in it, and the temporary folder; nothing
 * else. */
bool mishap_sandbox_change_root(const char *const *readable, const char *program,
                                uint64_t temporary_bytes);

/* Limit the ids, and so the threads, of the PID namespace that this process is the first of. Linux
 * 6.14 and later; false: it cannot be done here. The kernel takes no limit below 301. */
bool mishap_sandbox_limit_ids(uint64_t threads);

#define MISHAP_SANDBOX_TEMPORARY "/tmp" /* in that root folder */

/* -- groups.c ---------------------------------------------------------------------------------- */

/* Make a control group for one process, with the limits of its profile, in the parent; enter it in
 * the child, unless it was forked into it; remove it in the parent. */
bool mishap_sandbox_make_group(const mishap_sandbox_profile *profile, mishap_sandbox_place *place);
int mishap_sandbox_open_group(const mishap_sandbox_place *place); /* to fork into; -1: it cannot */
bool mishap_sandbox_enter_group(const mishap_sandbox_place *place);
void mishap_sandbox_remove_group(mishap_sandbox_place *place);

/* Has the system killed a process of this group because the group had too much memory? */
bool mishap_sandbox_group_ran_out(const mishap_sandbox_place *place);

/* The folder of version 2 in which this process may make groups with both controllers: that of its
 * own group, which is `path` below `root`, or the one above it. False: neither. */
bool mishap_sandbox_find_groups(const char *root, const char *path, char *folder, size_t size);

/* Where groups are made; "" for tests: look for it again. */
void mishap_sandbox_use_groups_of(const char *folder, bool memory);

/* -- place.c ----------------------------------------------------------------------------------- */

/* Make a temporary folder: below TMPDIR, /tmp or /var/tmp. False: errno says why not. */
bool mishap_sandbox_make_folder(mishap_sandbox_place *place);

/* Remove the folders of this kind that no process has any more, because their makers were killed,
 * but for those that were made within so many seconds. */
void mishap_sandbox_sweep_folders(const char *above, int young_s);

/* -- watch.c ----------------------------------------------------------------------------------- */

/* What a profile gives a program of memory that it really uses; 0: any. */
uint64_t mishap_sandbox_resident(const mishap_sandbox_profile *profile);

/* -- remove.c ---------------------------------------------------------------------------------- */

/* Has a folder more than so many files, or than so many bytes in them? It is looked through no
 * further than that. */
bool mishap_sandbox_folder_exceeds(const char *path, uint64_t files, uint64_t bytes);

/* Remove a folder with all that is in it, however deep, in the parent. No process uses it. */
void mishap_sandbox_remove_folder(const char *path);

/* -- probe.c ----------------------------------------------------------------------------------- */

/* mishap_sandbox_check() of any report. */
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
