/*
 * The main function of a program: its operations as commands, HTTP endpoints and MCP tools.
 *
 *     int main(int argc, char **argv)
 *     {
 *         return mishap_main(argc, argv,
 *                            &(mishap_app){ .name = "directory", .operations = operations });
 *     }
 *
 * `directory users create --name Ada` runs the operation users.create. If an operation has a route,
 * `directory serve` starts an HTTP server with it; `directory mcp` serves its operations to agents,
 * as tools, resources and prompts (mishap/mcp.h). A program that needs only commands calls
 * mishap_cli_main() (mishap/cli.h) and links no server.
 */
#ifndef MISHAP_MAIN_H
#define MISHAP_MAIN_H

#include "mishap/cli.h"
#include "mishap/http.h"
#include "mishap/mcp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Run the command that argv names and return the exit code. For threads, NULL and broken
 * declarations see mishap_cli_main(); a route that is built into the server is refused, too. */
int mishap_main(int argc, char **argv, const mishap_app *app);

#ifdef __cplusplus
}
#endif

#endif
