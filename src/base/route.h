/*
 * The path of a route, as operations and endpoints declare it: "/users/:id", "/files/{path...}".
 * Only this file parses it.
 */
#ifndef MISHAP_BASE_ROUTE_H
#define MISHAP_BASE_ROUTE_H

#include "mishap/text.h"

/* The part between two slashes. */
typedef struct mishap_route_part {
    mishap_text text; /* as it is spelled out, or the name of a parameter */
    bool param;       /* `:name`: any one segment */
    bool tail;        /* `{name...}` or `:name...`: the rest of the path, one segment or more */
} mishap_route_part;

/* The part after the slash at *at, which is moved to the end of the part. False: there is none. The
 * path "/" has one part, which is empty. */
bool mishap_route_next(const char **at, mishap_route_part *part);

/* True if these are the same route, each with its method ("GET /users/:id"): they differ only in
 * the names of their parameters. A segment and a tail at the same place count as the same: a reader
 * of the API description could not tell them apart. */
bool mishap_route_same(const char *a, const char *b);

#endif
