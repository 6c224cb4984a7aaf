/* What tell.c and tasks.c share: from what a server says to an answer and a record of ours. */
#ifndef MISHAP_MCP_GATEWAY_TELL_H
#define MISHAP_MCP_GATEWAY_TELL_H

#include "mcp/gateway/inside.h"

enum { GATEWAY_MOST_KNOWN = 64 }; /* strings of a request that may be repeated in its answer */

/* What the caller has sent. */
typedef struct gateway_sent {
    mishap_json_reader reader;
    yyjson_val *params; /* NULL: there is no memory */
    mishap_text known[GATEWAY_MOST_KNOWN];
    size_t count;
} gateway_sent;

/* Read the line of a request; without data there was none. */
void mishap_mcp_gateway_sent_read(gateway_sent *sent, mishap_text line);
void mishap_mcp_gateway_sent_release(gateway_sent *sent);

/* What is told, and to whom. */
typedef struct gateway_told {
    const gateway *g;
    const gateway_call *call; /* NULL: the message has none */
    const gateway_sent *sent;
    const char *members; /* of the data of an error, that the client needs; NULL: none */
    mishap_text response;
} gateway_told;

/* A text of a tool as a mishap: all lines are told, unless one of them shows the inside of the
 * server. */
mishap *mishap_mcp_gateway_read_text(mishap_text text, const gateway_sent *sent);

/* The text blocks of a result, one below the other. */
void mishap_mcp_gateway_put_texts(mishap_buffer *out, yyjson_val *result);

/* The result of a call that has failed, as JSON. It names the incident `id`. What the guard has
 * removed is returned; NULL: nothing. */
mishap *mishap_mcp_gateway_put_result(mishap_buffer *out, const gateway_told *told,
                                      const mishap *failure, const char *id);

/* Note the message of the server, where the text alone does not say all. */
mishap *mishap_mcp_gateway_note_original(mishap *m, mishap_text line);

/* The record of an incident. */
void mishap_mcp_gateway_record(const gateway_told *told, const mishap *failure,
                               const mishap *removed, const char *id);

#endif
