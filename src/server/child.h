/*
 * A process of an extension, beside the loops: the supervisor starts it, starts it again when it
 * has ended, and ends it with the server. In the process only standard error stays open, and memory
 * that was shared before it was forked.
 */
#ifndef MISHAP_SERVER_CHILD_H
#define MISHAP_SERVER_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In the process: true (not 0) from when it is to end. */
extern volatile sig_atomic_t mishap_http_child_ends;

/* One process. The name is what `ps` shows, at most 15 bytes. `run` is called in it; when it
 * returns, the process ends. */
typedef struct mishap_http_child {
    const char *name;
    void (*run)(void);
    bool wanted;
    pid_t parent, pid; /* 0: none runs */
    int64_t start_at_ns;
} mishap_http_child;

/* In the supervisor. From now on mishap_http_child_look() starts it. */
void mishap_http_child_want(mishap_http_child *child);

/* For the hooks of an extension with these names. The last one waits until the process has ended,
 * for two seconds at most; after the first it is killed. */
void mishap_http_child_look(mishap_http_child *child);
bool mishap_http_child_ended(mishap_http_child *child, int pid, int status);
void mishap_http_child_dismiss(mishap_http_child *child);

#endif
