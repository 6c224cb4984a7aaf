/*
 * A program's operations as tools, resources and prompts of the Model Context Protocol.
 *
 * Every operation is a tool unless it is for the command line only (`.local`) or runs until it is
 * stopped (`.resident`); a drill (`.chaos`) is one only with --chaos. `.tool` is the name of the
 * tool. With `.resource` the operation is also a resource with a URI; with `.prompt` it is a
 * prompt, and a tool only if `.tool` names one. `program mcp` serves them over standard input and
 * output; mishap_main() (mishap/main.h) adds this command to any program that has one of them.
 *
 * Handlers need nothing of this header. A long-running handler reports its progress with
 * mishap_progress() and calls mishap_cancelled() regularly. Both are in mishap/call.h, because they
 * work on every boundary.
 */
#ifndef MISHAP_MCP_H
#define MISHAP_MCP_H

#include "mishap/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The command, for a program that builds its list of operations itself. */
extern const mishap_operation mishap_mcp_command;

#ifdef __cplusplus
}
#endif

#endif
