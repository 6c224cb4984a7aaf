/*
 * The outcome of a call, in the form that a client reads.
 *
 *     result.c    the result of a tool, or a protocol error
 *     contents.c  the answer as a resource, as a prompt
 *     bytes.c     answers that are bytes
 *     blocks.c    content blocks that handlers write themselves
 *     failures.c  a failure as data
 */
#ifndef MISHAP_MCP_CALLS_RESULT_H
#define MISHAP_MCP_CALLS_RESULT_H

#include "mcp/offers/offers.h"
#include "mcp/wire/write.h"
#include "operation/call.h"

/* The parts of a request that its answer depends on. */
typedef struct mishap_mcp_asked {
    const mishap_mcp_offer *offer;
    mishap_mcp_revision revision;
    mishap_text uri;                /* of a resource: its address */
    mishap_text traceparent;        /* of _meta; of a call that runs, in its arena */
    int64_t started_ns;             /* when the message was taken */
    unsigned capabilities;          /* of the client: what can be asked of it (asks.h) */
    const struct mishap_seal *seal; /* of the state of what asks */
    bool replayed;                  /* its failure was recorded before */
} mishap_mcp_asked;

/*
 * Write the outcome of a call as members of a result object that the caller has opened. `call` is
 * NULL if it could not begin.
 *
 * Of a tool: content, structuredContent, isError, _meta with the incident id; a failure is told in
 * the tool's dialect. Of a resource: contents. Of a prompt: description, messages. Both have the
 * remarks of the handler in _meta. If a resource or a prompt fails, the object of a protocol error
 * is written instead.
 *
 * Secrets are taken out. The caller keeps the failure. May be called on any thread.
 */
mishap_mcp_outcome mishap_mcp_put_outcome(mishap_buffer *result, const mishap_mcp_asked *asked,
                                          mishap_call *call, mishap *failure, const char *incident);

/* For an answer that is bytes: write it as the contents of a resource at this address, or as a
 * content block of the revision, for whose address an id may be given (NULL: one is made). */
bool mishap_mcp_has_bytes(const mishap_call *call);
void mishap_mcp_put_bytes(mishap_buffer *buffer, const mishap_call *call, mishap_text uri);
void mishap_mcp_put_bytes_block(mishap_buffer *buffer, const mishap_call *call, const char *id,
                                mishap_mcp_revision revision);

/* The address of an operation's answer, as a JSON string: that of its resource, if it has one
 * without a variable; else one that cannot be read again, with the id (NULL: one is made). */
void mishap_mcp_put_answer_uri(mishap_buffer *buffer, const mishap_operation *operation,
                               const char *id);

/* The content blocks that a handler has written itself (blocks.c): pass each of them to a function;
 * false: there are none. The second writes one of them, after a comma if needed, as a kind that the
 * revision has. */
typedef void mishap_mcp_put_each(mishap_buffer *buffer, const mishap_mcp_asked *asked,
                                 yyjson_val *block);
bool mishap_mcp_each_block(mishap_buffer *result, const mishap_mcp_asked *asked,
                           const mishap_call *call, mishap_mcp_put_each *put);
mishap_mcp_put_each mishap_mcp_put_block;

/* Write the answer of a call as the contents of a resource or the messages of a prompt, without
 * what must not leave. The last writes the remarks as `_meta`; false: there are none. */
void mishap_mcp_put_contents(mishap_buffer *result, const mishap_mcp_asked *asked,
                             const mishap_call *call);
void mishap_mcp_put_messages(mishap_buffer *result, const mishap_mcp_asked *asked,
                             const mishap_call *call, const char *incident);
bool mishap_mcp_put_remarks(mishap_buffer *result, const mishap_call *call);

/* True if the failure of a call concerns the operator. A failure that the caller can correct, or
 * that something is not there or not available now, does not, unless something was noted about
 * it. */
bool mishap_mcp_is_incident(const mishap *failure);

/* A failure that was written as a result or an error. */
typedef struct mishap_mcp_failed {
    const mishap_app *app;
    const mishap_mcp_asked *asked;
    const mishap_call *call; /* NULL: it did not begin */
    yyjson_val *arguments;   /* … with these; NULL: none, or not known */
    const char *caller;      /* may be NULL */
    const char *incident;
    const mishap *failure, *removed; /* `removed` may be NULL */
    const mishap_secrets *secrets;   /* may be NULL */
    mishap_text response;
    bool verbose;
} mishap_mcp_failed;

/* Record it (recorded.c). */
void mishap_mcp_record(const mishap_mcp_failed *failed);

/* The code of a JSON-RPC error for this failure; 200 for a result that tells it. */
int mishap_mcp_status_of(const mishap_mcp_asked *asked, const mishap *failure);

/* -- a failure as data (failures.c) -------------------------------------------------------------
 */

/* Add to a failure in tool-result what a model can do about it: the dialect has six types, and
 * further advice depends on the code. */
void mishap_mcp_put_code(mishap_buffer *json, const mishap_public *told);

/* Write a report as an object: type, message, stdout, backtrace, restarts and everything else that
 * was told. `call` may be NULL. Secrets are taken out, and leaks where they do not belong; the
 * result is that of mishap_hide_json(). */
mishap *mishap_mcp_put_report_members(mishap_buffer *json, const mishap_public *told,
                                      const mishap_call *call, const mishap_secrets *secrets);

#endif
