/*
 * What came of a call, as a client reads it.
 *
 *     result.c    the result of a tool, or a protocol error
 *     contents.c  the answer as a resource, as a prompt
 *     bytes.c     answers that are bytes
 *     blocks.c    blocks of content that handlers make
 *     failures.c  a failure as data
 */
#ifndef MISHAP_MCP_CALLS_RESULT_H
#define MISHAP_MCP_CALLS_RESULT_H

#include "mcp/offers/offers.h"
#include "mcp/wire/write.h"
#include "operation/call.h"

/* What was asked for, as far as the answer depends on it. */
typedef struct mishap_mcp_asked {
    const mishap_mcp_offer *offer;
    mishap_mcp_revision revision;
    mishap_text uri; /* of a resource: which */
} mishap_mcp_asked;

/*
 * The members of the result for what came of a call, into an object that is open. `call` is NULL if
 * it could not begin.
 *
 * Of a tool: content, structuredContent, isError, _meta with the incident id; a failure is told in
 * the tool's dialect. Of a resource: contents. Of a prompt: description, messages. Both have what
 * the handler remarked in _meta. If one of these fails it is the object of a protocol error that is
 * written instead.
 *
 * Nothing of it is secret. The failure stays the caller's. Any thread.
 */
mishap_mcp_outcome mishap_mcp_put_outcome(mishap_buffer *result, const mishap_mcp_asked *asked,
                                          mishap_call *call, mishap *failure, const char *incident);

/* The answer of a call is bytes: as the contents of a resource at this address, and as a block of
 * content that the revision has, for whose address an id may be given (NULL: one is made). */
bool mishap_mcp_has_bytes(const mishap_call *call);
void mishap_mcp_put_bytes(mishap_buffer *buffer, const mishap_call *call, mishap_text uri);
void mishap_mcp_put_bytes_block(mishap_buffer *buffer, const mishap_call *call, const char *id,
                                mishap_mcp_revision revision);

/* The address of an operation's answer, as a JSON string: that of its resource, if it has one
 * without a variable; else one that cannot be read again, with the id (NULL: one is made). */
void mishap_mcp_put_answer_uri(mishap_buffer *buffer, const mishap_operation *operation,
                               const char *id);

/* The blocks that a handler has made of its answer (blocks.c). Hand each of them to a function;
 * false: it has made none. And one of them, after a comma if that is due, as a kind that the
 * revision has. */
typedef void mishap_mcp_put_each(mishap_buffer *buffer, const mishap_mcp_asked *asked,
                                 yyjson_val *block);
bool mishap_mcp_each_block(mishap_buffer *result, const mishap_mcp_asked *asked,
                           const mishap_call *call, mishap_mcp_put_each *put);
mishap_mcp_put_each mishap_mcp_put_block;

/* The answer of a call, without what must not leave, as the contents of a resource or the messages
 * of a prompt; and what was remarked about either as `_meta`, false: nothing was. */
void mishap_mcp_put_contents(mishap_buffer *result, const mishap_mcp_asked *asked,
                             const mishap_call *call);
void mishap_mcp_put_messages(mishap_buffer *result, const mishap_mcp_asked *asked,
                             const mishap_call *call, const char *incident);
bool mishap_mcp_put_remarks(mishap_buffer *result, const mishap_call *call);

/* Is the failure of a call to be recorded? What a caller can mend, what is just not there or not
 * now is not, unless something was noted about it: else any caller could fill the disk. */
bool mishap_mcp_is_incident(const mishap *failure);

/* -- a failure as data (failures.c) -------------------------------------------------------------
 */

/* Add to a failure in tool-result what a model can do about it: the dialect knows six types, and
 * the rest hangs on the code. */
void mishap_mcp_put_code(mishap_buffer *json, const mishap_public *told);

/* A report as an object: type, message, stdout, backtrace, restarts and all else that was told.
 * `session` may be NULL. Secrets are taken out, and stack traces where none belongs: what is
 * returned is as of mishap_hide_json(). */
mishap *mishap_mcp_put_report_members(mishap_buffer *json, const mishap_public *told,
                                      const char *session, const mishap_secrets *secrets);

#endif
