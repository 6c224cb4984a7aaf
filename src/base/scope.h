/*
 * Scopes: what the owner of an API key may do. A key has one or more of them.
 *
 *     call      operations, over HTTP and MCP
 *     metrics   /metrics
 *     operator  the private side of failures: /incidents and its tools
 */
#ifndef MISHAP_BASE_SCOPE_H
#define MISHAP_BASE_SCOPE_H

#include <stdint.h>

#include "base/buffer.h"

enum {
    MISHAP_SCOPE_CALL = 1,
    MISHAP_SCOPE_METRICS = 2,
    MISHAP_SCOPE_OPERATOR = 4,
    /* The scopes of a key for which none are given, such as one that is older than scopes. A caller
     * without a key has the same, where keys are not required. */
    MISHAP_SCOPES_USUAL = MISHAP_SCOPE_CALL | MISHAP_SCOPE_METRICS,
    MISHAP_SCOPES_ALL = MISHAP_SCOPES_USUAL | MISHAP_SCOPE_OPERATOR,
    MISHAP_SCOPES_LONGEST = 21, /* bytes of "call,metrics,operator" */
};

/* A caller that was identified, by an API key or an access token. */
enum { MISHAP_IDENTITY_NAME = 64 };
typedef struct mishap_identity {
    char name[MISHAP_IDENTITY_NAME]; /* at most 63 bytes and a NUL */
    uint64_t number;                 /* another key or subject of the same name has another one */
    unsigned scopes;
    int64_t ends_s; /* since 1970; 0: it has no end */
} mishap_identity;

/* The bit of a name; 0: no scope has this name. The name of one bit. */
unsigned mishap_scope_find(mishap_text name);
const char *mishap_scope_name(unsigned scope);

/* The scope whose name is most similar to a misspelled one; no data: none is. */
mishap_text mishap_scope_nearest(mishap_text name);

/* Read the next name of a comma-separated list, which is shortened. False: the list is empty. */
bool mishap_scopes_next(mishap_text *list, mishap_text *name);

/* Read "call,metrics". False: a name is not known, empty, or there twice. */
bool mishap_scopes_read(mishap_text list, unsigned *scopes);

/* Write "call,metrics". */
void mishap_scopes_put(mishap_buffer *buffer, unsigned scopes);

#endif
