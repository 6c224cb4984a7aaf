/*
 * Messages that come in: what a text says, and in which revision of the protocol. What goes back is
 * write.h's.
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
    MISHAP_MCP_2026_07_28, /* stateless: every request says all */
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
    yyjson_val *params; /* an object, or NULL */
    yyjson_val *meta;   /* params._meta, an object, or NULL */
    bool claims;        /* _meta says a protocol version: it is of the stateless kind */
    mishap_text claimed;
    mishap_mcp_revision revision; /* what it is to be read as; mishap_mcp_take() sets it. Before, a
                                     transport may say that it must be of the stateless kind */
    yyjson_val *batch;            /* it is an array of messages: nothing else is set */
    bool mended;                  /* it calls a tool, with half of a surrogate pair somewhere, which
                                     was read as U+FFFD: the tool refuses it in its own words */
    char room[MISHAP_MCP_ID_LIMIT]; /* where the id stands: a message is not to be copied */
} mishap_mcp_message;

/* The flaw of a message that is none: a JSON-RPC number and a mishap. */
typedef struct mishap_mcp_flaw {
    int code;        /* -32700, -32600, -32602 … */
    int status;      /* of HTTP */
    mishap *failure; /* NULL: it is a notification, and those are not answered */
    mishap_text id;  /* if it could be read; in the room of the message */
} mishap_mcp_flaw;

/*
 * Read a text as a message, or a batch of them. Beyond the JSON itself, nothing in it may be read
 * in two ways (base/json_read.h). False: as below. The message is valid as long as the reader's
 * document.
 */
bool mishap_mcp_read(mishap_json_reader *reader, mishap_text text, mishap_mcp_message *message,
                     mishap_mcp_flaw *flaw);

/*
 * Read one JSON value as a message. False: `flaw` says what is wrong, and its mishap is the
 * caller's. Text points into the reader. Checks the shape of JSON-RPC and of `_meta` (its required
 * keys, if it claims a revision), not the method.
 */
bool mishap_mcp_message_read(yyjson_val *root, mishap_mcp_message *message, mishap_mcp_flaw *flaw);

/* An id as JSON, into room for MISHAP_MCP_ID_LIMIT bytes. The same id has always the same form.
 * False: it is neither a string nor an integer, or too long. */
bool mishap_mcp_id_read(yyjson_val *value, char *room, mishap_text *id);

#endif
