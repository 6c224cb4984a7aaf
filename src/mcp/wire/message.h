/*
 * Incoming messages: what a text contains, and in which revision of the protocol. write.h has the
 * outgoing ones.
 */
#ifndef MISHAP_MCP_WIRE_MESSAGE_H
#define MISHAP_MCP_WIRE_MESSAGE_H

#include "base/base.h"
#include "mishap/mishap.h"

typedef enum mishap_mcp_revision {
    MISHAP_MCP_NONE, /* nothing was agreed yet */
    MISHAP_MCP_2024_11_05,
    MISHAP_MCP_2025_03_26,
    MISHAP_MCP_2025_06_18,
    MISHAP_MCP_2025_11_25,
    MISHAP_MCP_2026_07_28, /* stateless: every request is complete in itself */
    MISHAP_MCP_REVISIONS,
} mishap_mcp_revision;

const char *mishap_mcp_revision_name(mishap_mcp_revision revision); /* "2025-06-18" */
mishap_mcp_revision mishap_mcp_revision_find(mishap_text name);     /* NONE: unknown */
static inline bool mishap_mcp_is_modern(mishap_mcp_revision revision)
{
    return revision >= MISHAP_MCP_2026_07_28;
}

/* -- messages -----------------------------------------------------------------------------------
 */

typedef enum mishap_mcp_kind {
    MISHAP_MCP_REQUEST,
    MISHAP_MCP_NOTIFICATION,
    MISHAP_MCP_RESPONSE,
} mishap_mcp_kind;

enum { MISHAP_MCP_ID_LIMIT = 1024 }; /* bytes of an id, as JSON */

typedef struct mishap_mcp_message {
    mishap_mcp_kind kind;
    mishap_text id; /* as JSON: 7, "a"; no data: none */
    mishap_text method;
    yyjson_val *params;         /* an object, or NULL */
    yyjson_val *meta;           /* params._meta, an object, or NULL */
    yyjson_val *result, *error; /* of a response: one of the two */
    bool claims;                /* _meta names a protocol version: it is of the stateless kind */
    mishap_text claimed;
    mishap_mcp_revision revision; /* the revision by which it is read; set by mishap_mcp_take().
                                     Before, a transport may require the stateless one */
    yyjson_val *batch;            /* it is an array of messages: nothing else is set */
    bool mended; /* it calls a tool, and contains half of a surrogate pair, which was read as
                    U+FFFD: the tool refuses it in its own format */
    char room[MISHAP_MCP_ID_LIMIT]; /* memory of the id: so a message must not be copied */
} mishap_mcp_message;

/* The flaw of a text that is no valid message: a JSON-RPC number and a mishap. */
typedef struct mishap_mcp_flaw {
    int code;        /* -32700, -32600, -32602 … */
    int status;      /* HTTP status */
    mishap *failure; /* NULL: it is a notification, which is not answered */
    mishap_text id;  /* if it could be read; in the memory of the message */
} mishap_mcp_flaw;

/*
 * Read a text as a message, or a batch of them. Beyond valid JSON, nothing in it may be ambiguous
 * (base/json_read.h). False: as below. The message is valid as long as the reader's document.
 */
bool mishap_mcp_read(mishap_json_reader *reader, mishap_text text, mishap_mcp_message *message,
                     mishap_mcp_flaw *flaw);

/*
 * Read one JSON value as a message. False: `flaw` says what is wrong; the caller owns its mishap.
 * Text points into the reader. Checks the structure of JSON-RPC and of `_meta` (its required keys,
 * if it claims a revision), not the method.
 */
bool mishap_mcp_message_read(yyjson_val *root, mishap_mcp_message *message, mishap_mcp_flaw *flaw);

/* Write an id as JSON, into memory for MISHAP_MCP_ID_LIMIT bytes. The same id always has the same
 * form. False: it is neither a string nor an integer, or too long. */
bool mishap_mcp_id_read(yyjson_val *value, char *room, mishap_text *id);

#endif
