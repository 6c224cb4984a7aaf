/*
 * What a foreign program may do that runs as a worker: nothing beyond what its profile names.
 *
 *     static const char *const readable[] = { MISHAP_SANDBOX_LIBRARIES, "/usr/lib/sbcl", NULL };
 *     static const mishap_sandbox_profile profile = {
 *         .readable = readable,
 *         .temporary_bytes = 16 << 20,
 *         .memory_bytes = 512 << 20,
 *         .address_bytes = UINT64_C(812) << 20,
 *         .cpu_seconds = 60,
 *     };
 *
 * With every profile, the program has no network, cannot start another program or process, cannot
 * change what it is or what the system is, and sees no process but itself. It can have threads. The
 * sandbox is made of layers, each of which the kernel of a machine may or may not have:
 * docs/sandbox.md says what each of them stops.
 */
#ifndef MISHAP_SANDBOX_H
#define MISHAP_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mishap/mishap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The folders of shared libraries, for the list of what can be read. */
#define MISHAP_SANDBOX_LIBRARIES "/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache"

/* What the system counts for the whole user, so that one program could take it from others. A
 * program has none of it unless its profile says so. */
enum {
    MISHAP_SHARES_TIMERS = 1 << 0, /* timer_create(): pending signals (RLIMIT_SIGPENDING). Such a
                                      program may refuse itself further timers with seccomp() */
    MISHAP_SHARES_EVENTS = 1 << 1, /* what event loops need: epoll (max_user_watches) and pipes
                                      (pipe-user-pages-soft) */
    MISHAP_SHARES_ALL = (1 << 2) - 1,
};

/* A limit that is 0 is not set, unless its line says what 0 is. */
typedef struct mishap_sandbox_profile {
    const char *const *readable;    /* files and folders by absolute paths, then NULL. A path that
                                       does not exist is left out; the program itself is readable */
    const char *const *environment; /* "LANG=C.UTF-8", then NULL. NULL: it is empty */
    uint64_t temporary_bytes; /* of a private temporary folder, in which the program starts and
                                 which is removed after it. 0: nothing can be written at all */
    uint64_t memory_bytes;    /* of heap and private mappings (RLIMIT_DATA): the usual limit */
    uint64_t address_bytes;   /* of all mappings (RLIMIT_AS), also of memory that is reserved and
                                 never used: SBCL needs its heap and 300 MB */
    uint64_t resident_bytes;  /* of memory that it really uses, files that it has mapped included
                                 (PSS): memory.max of its control group, or else it is watched, and
                                 ended above this. 0: memory_bytes, or else address_bytes, with
                                 temporary_bytes */
    uint64_t stack_bytes;     /* of the first thread. 0: 8 MB */
    uint64_t cpu_seconds;     /* of all threads; then the system ends it: with SIGXCPU, which has no
                                 effect in a PID namespace, and a second later with SIGKILL */
    uint64_t files;           /* open descriptors. 0: 64 */
    uint64_t file_bytes; /* that it writes into one file. 0: temporary_bytes, but 1 MB at least */
    uint64_t threads;    /* at once. 0: 64 */
    unsigned shares;     /* what it takes of its user's: MISHAP_SHARES_… */
    bool small_pages;    /* No transparent huge pages. For a program that lives long and rests:
                            where the system gives them to every program, as Debian does on x86-64,
                            each place that it touches costs 2 MB */
} mishap_sandbox_profile;

/* The layers, as a mask. */
typedef enum mishap_sandbox_layer {
    MISHAP_LAYER_SECCOMP = 1 << 0,    /* a filter of system calls */
    MISHAP_LAYER_LANDLOCK = 1 << 1,   /* rules for files */
    MISHAP_LAYER_LIMITS = 1 << 2,     /* resource limits */
    MISHAP_LAYER_MOUNTS = 1 << 3,     /* a mount namespace with a root folder of its own */
    MISHAP_LAYER_PROCESSES = 1 << 4,  /* a PID namespace */
    MISHAP_LAYER_NETWORK = 1 << 5,    /* a network namespace without a network */
    MISHAP_LAYER_IPC = 1 << 6,        /* an IPC namespace */
    MISHAP_LAYER_HOST = 1 << 7,       /* a UTS namespace */
    MISHAP_LAYER_USERS = 1 << 8,      /* a user namespace */
    MISHAP_LAYER_PRIVILEGES = 1 << 9, /* no capability, and none to be had */
    MISHAP_LAYER_GROUPS = 1 << 10,    /* control groups */
} mishap_sandbox_layer;

enum { MISHAP_SANDBOX_LAYERS = 11, MISHAP_SANDBOX_ALL = (1 << MISHAP_SANDBOX_LAYERS) - 1 };

/* What this machine offers of one layer. All texts are static. */
typedef struct mishap_sandbox_offer {
    mishap_sandbox_layer layer;
    const char *name; /* "seccomp" */
    const char *what; /* "a filter of system calls" */
    bool offered;
    const char *step;   /* what failed, if it is not: "unshare" */
    int error;          /* … and its errno */
    const char *advice; /* what the operator can do about it */
} mishap_sandbox_offer;

typedef struct mishap_sandbox_report {
    unsigned layers;  /* those that are offered, as a mask */
    unsigned missing; /* of the minimum: seccomp, limits, and Landlock or mounts; 0: it is there.
                         Where neither of the two is offered both are missing */
    mishap_sandbox_offer offers[MISHAP_SANDBOX_LAYERS];
} mishap_sandbox_report;

/* Try every layer in child processes, once in a process and those that are forked of it later.
 * It takes some 10 ms. */
const mishap_sandbox_report *mishap_sandbox_probe(void);

/* Below the minimum a sandbox is refused, unless the operator accepts a weak one. */
typedef enum mishap_sandbox_mode { MISHAP_SANDBOX_STRICT, MISHAP_SANDBOX_WEAK } mishap_sandbox_mode;

/* NULL, or NOT_CONFIGURED: what is missing on this machine, and what to do about it. */
mishap *mishap_sandbox_check(mishap_sandbox_mode mode);

#ifdef __cplusplus
}
#endif

#endif
