/*
 * The process of the server. It is in a process group of its own, and all that it starts is ended
 * with it: its group, descendants that have left the group (this process is a child subreaper), and
 * the process itself if this one is killed.
 */
#ifndef MISHAP_MCP_GATEWAY_CHILD_H
#define MISHAP_MCP_GATEWAY_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "mcp/gateway/gateway.h"

typedef struct gateway_child {
    pid_t pid;       /* 0: there is none */
    int in, out;     /* pipes to its standard input and from its standard output; -1: closed */
    int status;      /* of waitpid(), when it has ended */
    uint64_t began;  /* orphans.h */
    int64_t kill_ns; /* when it is killed; INT64_MAX: it was not asked to end */
} gateway_child;

/* Start it, with the signals of `mask` blocked. 0, or an errno: then there is none. */
int mishap_mcp_gateway_child_start(gateway_child *child,
                                   const mishap_mcp_gateway_settings *settings,
                                   const sigset_t *mask);

/* Ask it to end, and all of its group; it is killed if it does not within two seconds. */
void mishap_mcp_gateway_child_terminate(gateway_child *child, int64_t now_ns);

/* Look whether it has ended; then its descendants are killed, too, and both pipes stay open. True:
 * it has. Call it after SIGCHLD, and when `kill_ns` has come. */
bool mishap_mcp_gateway_child_look(gateway_child *child, int64_t now_ns);

/* Close the pipe to it. */
void mishap_mcp_gateway_child_close_in(gateway_child *child);
void mishap_mcp_gateway_child_close_out(gateway_child *child);

/* How it has ended, for the operator: "exit code 1", "signal 9". */
void mishap_mcp_gateway_child_tell(const gateway_child *child, char *words, size_t size);

#endif
