/*
 * A program's operations as an HTTP API.
 *
 * An operation with a route is an HTTP endpoint: `.route = "POST /users"`. `program serve` starts
 * the server, `program keys add` creates an API key. mishap_main() (mishap/main.h) adds these
 * commands to any program that has a route.
 *
 * The server has some built-in routes: GET /health, /ready, /metrics, /openapi.json, and /mcp. A
 * program that declares one of these does not start. GET /errors, /errors/:code and the pages for
 * browsers (/, /docs, /console) are there where the program has no route of its own.
 *
 * Handlers need nothing of this header. Functions such as mishap_created() are in mishap/call.h,
 * because they work on every boundary.
 */
#ifndef MISHAP_HTTP_H
#define MISHAP_HTTP_H

#include "mishap/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The commands, for a program that builds its list of operations itself. */
extern const mishap_operation mishap_serve, mishap_keys_add, mishap_keys_list, mishap_keys_remove,
    mishap_keys_disable, mishap_keys_import, mishap_keys_block, mishap_keys_unblock;

#ifdef __cplusplus
}
#endif

#endif
