/*
 * A program's operations as tools, resources and prompts of the Model Context Protocol.
 *
 * Every operation that is not for the command line alone (`.local`) is a tool, `.tool` is its name
 * for agents. With `.resource` it can be read at an address, with `.prompt` it is what a person
 * asks a model. `program mcp` serves them over standard input and output; mishap_main()
 * (mishap/main.h) adds this command to any program that has a tool.
 *
 * Handlers need nothing of this header. A long one says how far it is with mishap_progress() and
 * asks mishap_cancelled() now and then; both are in mishap/call.h, for they do no harm on any other
 * boundary.
 */
#ifndef MISHAP_MCP_H
#define MISHAP_MCP_H

#include "mishap/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The command for a program that puts its list together by itself. */
extern const mishap_operation mishap_mcp_command;

#ifdef __cplusplus
}
#endif

#endif
