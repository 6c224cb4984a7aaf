/*
 * Scopes: what a caller may do. The owner of an API key or an access token has one or more of them.
 *
 *     call      operations, over HTTP and MCP
 *     metrics   /metrics
 *     operator  the private side of failures: /incidents and its tools
 *
 * A program declares others (mishap/scope.h). Within a process scopes are bits: first these three,
 * then those of the program, in the order of its list. Outside of it they are names, since the next
 * version of a program may have another list. `declared` is that list; NULL: there are no others.
 */
#ifndef MISHAP_BASE_SCOPE_H
#define MISHAP_BASE_SCOPE_H

#include <stdint.h>

#include "base/buffer.h"
#include "mishap/scope.h"

enum {
    MISHAP_SCOPE_CALL = 1,
    MISHAP_SCOPE_METRICS = 2,
    MISHAP_SCOPE_OPERATOR = 4,
    MISHAP_SCOPE_FIRST_DECLARED = 8,
    MISHAP_SCOPES_ALL = MISHAP_SCOPE_FIRST_DECLARED * (1 << MISHAP_MOST_SCOPES) - 1,
    /* The scopes of a key for which none are given, such as one that is older than scopes. A caller
     * without a key has the same, where keys are not required. */
    MISHAP_SCOPES_USUAL = MISHAP_SCOPES_ALL & ~MISHAP_SCOPE_OPERATOR,
};

/* A caller that was identified, by an API key or an access token. */
enum { MISHAP_IDENTITY_NAME = 64 };
typedef struct mishap_identity {
    char name[MISHAP_IDENTITY_NAME]; /* at most 63 bytes and a NUL */
    uint64_t number;                 /* another key or subject of the same name has another one */
    unsigned scopes;
    int64_t ends_s; /* since 1970; 0: it has no end */
} mishap_identity;

/* The bit of a name; 0: no scope has this name. */
unsigned mishap_scope_find(const mishap_scope *declared, mishap_text name);

/* True if a text may be the name of a scope. */
bool mishap_scope_is_name(mishap_text text);

/* The scope whose name is most similar to a misspelled one; no data: none is. */
mishap_text mishap_scope_nearest(const mishap_scope *declared, mishap_text name);

/* Some scopes with all that they imply, also indirectly. */
unsigned mishap_scopes_expand(const mishap_scope *declared, unsigned scopes);

/* Read the next name of a list with commas, which is shortened. False: the list is empty. */
bool mishap_scopes_next(mishap_text *list, mishap_text *name);

/* Read the next name of a list with spaces; the first time *at is the list. False: no more. */
bool mishap_scopes_next_word(const char **at, mishap_text *name);

/* Read "call,todos:read", without what is implied. Names that are not declared are ignored: the
 * list may be older than the program. False: a name is empty or there twice, or is no name. */
bool mishap_scopes_read(const mishap_scope *declared, mishap_text list, unsigned *scopes);

/* Write "call,metrics", with this character between the names. Scopes that are not declared are
 * left out. */
void mishap_scopes_put(mishap_buffer *buffer, const mishap_scope *declared, unsigned scopes,
                       char between);

#endif
