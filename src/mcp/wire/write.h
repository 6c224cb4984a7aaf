/*
 * Outgoing messages: the channel that a transport provides, and the frames of results, errors and
 * notifications.
 *
 *     write.c  the frame of messages
 *     error.c  a failure as the object of a protocol error
 */
#ifndef MISHAP_MCP_WIRE_WRITE_H
#define MISHAP_MCP_WIRE_WRITE_H

#include "guard/guard.h"
#include "mcp/wire/message.h"
#include "operation/hide.h"
#include "operation/operation.h"

/* -- channels -----------------------------------------------------------------------------------
 */

/*
 * Where messages about one request go: a line on standard output, the body or the stream of a
 * response. The protocol code asks for a buffer, writes one complete message into it, and calls
 * end().
 *
 * A message that was begun may be taken back: then the buffer has its earlier length, and end() is
 * not called. If there is no memory for a response, a short constant one replaces it; if not even
 * that fits, end() finds the buffer `failed` and nothing written, and the transport has to handle
 * that.
 */
typedef struct mishap_mcp_channel mishap_mcp_channel;
struct mishap_mcp_channel {
    mishap_buffer *(*begin)(mishap_mcp_channel *channel, mishap_mcp_kind kind);
    void (*end)(mishap_mcp_channel *channel, mishap_mcp_kind kind);

    /* No more messages follow: the request was a notification, was cancelled, or has its
     * response. */
    void (*finish)(mishap_mcp_channel *channel);

    int status;              /* HTTP status, set before the response ends: 200, 400, 404 */
    unsigned lacks;          /* … if it is 403: the scopes that the request needs; else 0 */
    const mishap_code *code; /* … and the code of its failure; NULL: success */

    /* For write.c: of the current message, where it starts, where it goes on after its id, and how
     * much room is certain. */
    size_t start, named, room;
};

/* -- frames (write.c) ---------------------------------------------------------------------------
 */

/* The form in which the outcome of a method or a call was written. */
typedef enum mishap_mcp_outcome {
    MISHAP_MCP_MEMBERS,          /* the members of a result */
    MISHAP_MCP_MEMBERS_AND_META, /* … of which the last is `_meta` */
    MISHAP_MCP_INTRODUCTION,     /* … of the result that describes the server, with its icons */
    MISHAP_MCP_QUESTIONS,        /* the members of a result that asks the client (asks.c) */
    MISHAP_MCP_TASK,             /* the members of a result that is a task */
    MISHAP_MCP_ERROR,            /* the complete object of an error, which was recorded already */
    MISHAP_MCP_ERROR_400,        /* … whose HTTP status is 400 */
} mishap_mcp_outcome;

/* Begin a message: {"jsonrpc":"2.0" and ,"id":ID if there is one. The caller writes the rest, up to
 * the last bracket. A message that was begun can be taken back instead. */
mishap_buffer *mishap_mcp_begin_message(mishap_mcp_channel *channel, mishap_mcp_kind kind,
                                        mishap_text id);
void mishap_mcp_end_message(mishap_mcp_channel *channel, mishap_buffer *buffer,
                            mishap_mcp_kind kind);
void mishap_mcp_take_back(const mishap_mcp_channel *channel, mishap_buffer *buffer);

/* Begin {"jsonrpc":"2.0","id":ID,"result":{ … and end it; finish_result adds what the revision
 * requires. If the result has a `_meta`, that must be its last member: the server's name goes
 * there, too. */
mishap_buffer *mishap_mcp_begin_result(mishap_mcp_channel *channel, mishap_text id);
void mishap_mcp_finish_result(const mishap_app *app, mishap_mcp_channel *channel,
                              mishap_buffer *buffer, mishap_mcp_revision revision,
                              mishap_mcp_outcome outcome);

/* Begin {"jsonrpc":"2.0","method":METHOD,"params":{ … and end it. */
mishap_buffer *mishap_mcp_begin_notification(mishap_mcp_channel *channel, const char *method);
void mishap_mcp_finish_notification(mishap_mcp_channel *channel, mishap_buffer *buffer);

/* Write the members ttlMs and cacheScope, in the stateless revision: for lists and other constant
 * content, and for what a handler has answered just now. */
void mishap_mcp_put_cache(mishap_buffer *result, mishap_mcp_revision revision);
void mishap_mcp_put_no_cache(mishap_buffer *result, mishap_mcp_revision revision);

/* The name and version of the program, in the form of the revision. Icons may be long, and are told
 * once. */
void mishap_mcp_put_implementation(mishap_buffer *buffer, const mishap_app *app,
                                   mishap_mcp_revision revision, bool icons);

/* The member `icons`, if there are some and the revision has it. */
void mishap_mcp_put_icons(mishap_buffer *buffer, const mishap_icon *icons,
                          mishap_mcp_revision revision);

/* -- protocol errors (error.c) ------------------------------------------------------------------
 */

/* Send a response with an error whose object is given as JSON. */
void mishap_mcp_put_error(mishap_mcp_channel *channel, mishap_text id, mishap_text error);

/* Write that object into an empty buffer, from the public side of a failure, without what must not
 * leave. What was found is returned, to be recorded. `sent` is what the caller sent, or NULL. The
 * constant is used without memory. */
mishap *mishap_mcp_put_error_object(mishap_buffer *buffer, int code, const mishap_public *told,
                                    const char *members, const mishap_secrets *secrets,
                                    const mishap_sent *sent);
#define MISHAP_MCP_LAST_ERROR                                                                      \
    "{\"code\":-32603,\"message\":\"An internal error occurred.\",\"data\":"                       \
    "{\"code\":\"INTERNAL_ERROR\",\"message\":\"An internal error occurred.\","                    \
    "\"category\":\"system\",\"retryable\":false}}"
extern const mishap_text mishap_mcp_last_error;

#endif
