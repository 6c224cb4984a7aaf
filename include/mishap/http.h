/*
 * A program's operations as an HTTP API.
 *
 * An operation with a route answers at it: `.route = "POST /users"`. `program serve` starts the
 * server, `program keys add` makes an API key. mishap_main() (mishap/main.h) adds these commands to
 * any program that has a route.
 *
 * The server answers at some routes itself: GET /health, /metrics, /openapi.json, /errors and
 * /errors/:code, and /mcp. A program that declares one of these does not start.
 *
 * Handlers need nothing of this header. What they say by the words of HTTP, mishap_created() and
 * the like, is in mishap/call.h, for it is understood on every boundary.
 */
#ifndef MISHAP_HTTP_H
#define MISHAP_HTTP_H

#include "mishap/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The commands for a program that puts its list together by itself. */
extern const mishap_operation mishap_serve, mishap_keys_add, mishap_keys_list, mishap_keys_remove;

#ifdef __cplusplus
}
#endif

#endif
