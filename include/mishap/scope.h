/*
 * Scopes: what a caller may do.
 *
 *     static const mishap_app app = {
 *         .name = "todos", .operations = operations,
 *         .scopes = MISHAP_SCOPES({ "todos:read", .help = "Read todos" },
 *                                 { "todos:write", "todos:read", "Change todos" }) };
 *
 *     { "todos.create", "Create a todo", …, .scope = "todos:write" }
 *
 * Every server has three scopes: `call` for operations, `metrics` for /metrics and `operator` for
 * the private side of failures. A program declares others. A caller of an operation with `.scope`
 * needs `call` and all scopes that are named there. Callers over HTTP and MCP have the scopes of
 * their API key or access token; without either they have all but `operator`. Commands, and MCP
 * over standard input and output, have all. mishap_invoke() names them.
 *
 * A declaration is data: see mishap/operation.h, which includes this header.
 */
#ifndef MISHAP_SCOPE_H
#define MISHAP_SCOPE_H

enum {
    MISHAP_MOST_SCOPES = 24,   /* that a program declares … */
    MISHAP_LONGEST_SCOPE = 63, /* … and bytes of a name */
};

/* One scope; a list ends with { 0 }, which MISHAP_SCOPES() of mishap/operation.h adds. */
typedef struct mishap_scope {
    const char *name;    /* "todos:write": visible ASCII without commas, quotes and backslashes */
    const char *implies; /* a caller with this scope also has those: names of the same list, or
                            `call`, with spaces between them; NULL: none */
    const char *help;    /* a short description; NULL: none */
} mishap_scope;

#endif
