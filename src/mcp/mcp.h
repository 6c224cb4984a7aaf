/*
 * src/mcp: a program's operations as tools, resources and prompts of the Model Context
 * Protocol.
 *
 *     message.c    bytes into messages         offers.c     which operations are what
 *     peer.c       which method is meant       ours.c       those that every server has
 *     batch.c      several in one array        tools.c      tools: list, call
 *     bytes.c      answers and bodies of bytes blocks.c     blocks that handlers make
 *     write.c      the frame of messages       resources.c  resources: list, read
 *     refuse.c     protocol errors             prompts.c    prompts, completion of arguments
 *     lifecycle.c  initialize, discover, ping  schema.c     schemas that any client can read
 *     subscribe.c  who hears of changes        flight.c     calls that run, and how they end
 *     stdio.c      standard input and output   report.c     what they say meanwhile
 *     lines.c      its bytes as lines          result.c     what came of a call
 *     session.c    sessions of all loops       contents.c   … as a resource, as a prompt
 *     room.c       how many a caller may have  outputs.c    a failure as data, and its schema
 *     events.c     what was sent in them
 *     session_id.c … and how an id proves that it is ours
 *     lasting.c    … and what outlasts the server
 *     watch.c      which of them watch what
 *     http/        MCP over HTTP, an extension of src/server: see http/over_http.h
 *
 * But for the two transports, stdio.c and http/, nothing here knows how bytes travel. A transport
 * reads a message, hands it over with a channel for what comes back. Calls that take time are run
 * by src/worker. The same code serves standard input and output and HTTP, and all revisions at
 * once: each message says, or its session has agreed, which revision it is of.
 *
 * Ownership: everything belongs to the reading thread, which is the only thread.
 */
#ifndef MISHAP_MCP_MCP_H
#define MISHAP_MCP_MCP_H

#include "base/base.h"
#include "guard/guard.h"
#include "mishap/dialect.h"
#include "worker/loop/runner.h"

/* -- revisions --------------------------------------------------------------------------------- */

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

/* -- the server -------------------------------------------------------------------------------- */

/* What an operation can be for an agent; the same one may be all of it. */
typedef enum mishap_mcp_sort {
    MISHAP_MCP_TOOL,
    MISHAP_MCP_RESOURCE, /* at operation->resource */
    MISHAP_MCP_PROMPT,
} mishap_mcp_sort;

/* An operation as one of these. */
typedef struct mishap_mcp_offer {
    const mishap_operation *operation;
    mishap_text name; /* of a tool operation->tool, or its own with underscores; of a prompt
                         operation->prompt; of a resource its own */
    const mishap_dialect *dialect; /* of a tool: of its service; tool-result if that says none */
    mishap_mcp_sort sort;
    bool ours; /* it is one that every server has, and only says again what was given to it */
} mishap_mcp_offer;

/* The operations that every server has: the catalog to read, and explain_failure. The list ends
 * with { 0 } (ours.c). */
extern const mishap_operation mishap_mcp_ours[];

/* What all conversations of a process share. It does not change after it is made. */
typedef struct mishap_mcp_server {
    const mishap_app *app;
    const char *service;     /* only what is of this one; NULL: all */
    mishap_mcp_offer *tools; /* in the order of declaration */
    size_t tool_count;
    const mishap_mcp_offer **slots; /* the same by name, for mishap_mcp_tool_find() */
    size_t slot_count;
    mishap_mcp_offer *resources; /* the catalog first */
    size_t resource_count;
    mishap_mcp_offer *prompts; /* explain_failure first */
    size_t prompt_count;
    size_t page_size;      /* of lists; 0: 50 */
    size_t message_limit;  /* bytes of one message */
    size_t flight_limit;   /* calls of one peer that run at once */
    int call_ms;           /* how long any handler may take; 0: as its operation says */
    bool verbose;          /* the private side of failures on stderr too */
    mishap_runner *runner; /* of calls that are not quick */
} mishap_mcp_server;

/*
 * Make the tables of tools, resources and prompts: of every operation that is neither local nor
 * resident, nor for drills unless `chaos`. A prompt is a tool only if it says which. NOT_CONFIGURED
 * if two have the same name or there is no such service.
 */
mishap *mishap_mcp_server_make(mishap_mcp_server *server, bool chaos);
void mishap_mcp_server_release(mishap_mcp_server *server);
const mishap_mcp_offer *mishap_mcp_tool_find(const mishap_mcp_server *server, mishap_text name);
const mishap_mcp_offer *mishap_mcp_prompt_find(const mishap_mcp_server *server, mishap_text name);

/* There is no tool, or prompt, of this name: NOT_FOUND, with the one that may be meant. */
mishap *mishap_mcp_no_tool(const mishap_mcp_server *server, mishap_text name);
mishap *mishap_mcp_no_prompt(const mishap_mcp_server *server, mishap_text name);

/* -- channels ---------------------------------------------------------------------------------- */

typedef enum mishap_mcp_kind {
    MISHAP_MCP_REQUEST,
    MISHAP_MCP_NOTIFICATION,
    MISHAP_MCP_RESPONSE,
} mishap_mcp_kind;

/*
 * Where messages about one request go: a line on standard output, the body or the stream of a
 * response. The core asks for a buffer, writes one whole message into it, and says that it is done.
 *
 * What was begun may be taken back: then the buffer has the length that it had, and end() is not
 * called. A response that there is no memory for becomes a short constant one; if not even that
 * fits, end() finds the buffer `failed` and nothing written: the transport does what it can.
 */
typedef struct mishap_mcp_channel mishap_mcp_channel;
struct mishap_mcp_channel {
    mishap_buffer *(*begin)(mishap_mcp_channel *channel, mishap_mcp_kind kind);
    void (*end)(mishap_mcp_channel *channel, mishap_mcp_kind kind);

    /* Nothing more will come: the request was a notification, was cancelled, or has its response.
     */
    void (*finish)(mishap_mcp_channel *channel);

    int status;              /* of HTTP, set by the core before the response ends: 200, 400, 404 */
    const mishap_code *code; /* … and of the failure that it tells of; NULL: it worked */

    /* Of the core: of the message that is being written, where it starts, where it goes on after
     * its id, and how much room there is for sure. */
    size_t start, named, room;
};

/* -- messages ---------------------------------------------------------------------------------- */

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

/* -- peers ------------------------------------------------------------------------------------- */

typedef struct mishap_mcp_flight mishap_mcp_flight;

/* One conversation: the process on the other end of standard input, a session over HTTP, or, for
 * the stateless revision over HTTP, a single request. */
typedef struct mishap_mcp_peer {
    const mishap_mcp_server *server;
    mishap_mcp_revision revision; /* agreed with initialize */
    bool initialized;             /* the client has said so, too */
    bool single_request;          /* stateless over HTTP: closing the channel cancels */
    const char *caller;           /* by its API key; NULL: nobody in particular */
    mishap_text named;            /* what the caller names itself; no data: nothing */
    bool caller_is_free;          /* … and whether it may */
    const char *counted_for;      /* whose doing a failure is; lives as long as the peer */
    const char *incident;         /* that a failed call is found by; NULL: each has its own */
    mishap_text remote;           /* the address of the client over HTTP; no data: none */
    mishap_text conversation;     /* what names it among others, where revisions have sessions */
    mishap_level level;           /* of log messages, for revisions with logging/setLevel */
    mishap_mcp_flight *flights;   /* calls that run or wait */
    size_t flight_count;
    struct mishap_mcp_subscription *subscriptions; /* subscribe.c's */
    struct mishap_mcp_batch *paused; /* messages of a batch that are not taken yet; NULL: none */

    /* Of the transport: a flight is about to begin; false: it cannot now. NULL: it always can. */
    bool (*start)(struct mishap_mcp_peer *peer, mishap_mcp_flight *flight);
    /* … give a call the header fields that its operation declares. NULL: there are none. */
    mishap *(*headers)(struct mishap_mcp_peer *peer, mishap_call *call);
    /* … the process that ran a call died of it, or would have: not that its time was over. NULL:
     * nobody counts. */
    void (*died)(struct mishap_mcp_peer *peer);
    /* … between two messages of a batch: do others wait, so that the rest is better taken later, by
     * mishap_mcp_go_on()? NULL: nobody does. */
    bool (*pause)(struct mishap_mcp_peer *peer);
    /* … does a call of this id run, for another peer of the same conversation? NULL: this is the
     * only one. */
    bool (*runs)(struct mishap_mcp_peer *peer, mishap_text id);
    /* … where messages go that belong to no request: changes of lists and resources, for the
     * older revisions. NULL: nowhere. */
    mishap_mcp_channel *aside;
    /* … keep, or forget, a resources/subscribe, where the peer does not live as long as the
     * conversation. A failure: there are too many. NULL: the peer has a list of its own. */
    mishap *(*watch)(struct mishap_mcp_peer *peer, mishap_text uri, bool begin);
    /* … tell all who listen of what has changed so far: somebody is about to join them who shall
     * not hear of it. NULL: nothing waits to be told. */
    void (*catch_up)(struct mishap_mcp_peer *peer);
} mishap_mcp_peer;

void mishap_mcp_peer_init(mishap_mcp_peer *peer, const mishap_mcp_server *server);

/* Drop its flights and subscriptions. Running flights are cancelled, and their results are
 * discarded. */
void mishap_mcp_peer_release(mishap_mcp_peer *peer);

/*
 * Take a message and answer it on the channel, now or when its flight is done; channel->finish() is
 * called in the end, whatever it was. A batch, where the revision has them, is answered with one
 * array. For a whole text, which may be anything: mishap_mcp_take_text().
 */
void mishap_mcp_take(mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                     mishap_mcp_message *message);
void mishap_mcp_take_text(mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                          mishap_json_reader *reader, mishap_text text);

/* Messages of a batch, at most: each may need a hundred times its own size to be refused. */
enum { MISHAP_MCP_BATCH_LIMIT = 256 };

/* The messages of an array, in the two revisions that have batches (batch.c). */
static inline bool mishap_mcp_has_batches(mishap_mcp_revision revision)
{
    return revision == MISHAP_MCP_2024_11_05 || revision == MISHAP_MCP_2025_03_26;
}
void mishap_mcp_take_batch(mishap_mcp_peer *peer, mishap_mcp_channel *channel, yyjson_val *items);

/* Go on with a batch that was paused, until it is over or paused again; and forget it. Flights of
 * it that run must have ended before that. */
void mishap_mcp_go_on(mishap_mcp_peer *peer);
void mishap_mcp_drop_paused(mishap_mcp_peer *peer);

/* In which form the outcome of a method or a call was written. */
typedef enum mishap_mcp_outcome {
    MISHAP_MCP_MEMBERS,          /* the members of a result */
    MISHAP_MCP_MEMBERS_AND_META, /* … of which the last is `_meta` */
    MISHAP_MCP_ERROR,            /* the object of an error, raw, which is recorded already */
} mishap_mcp_outcome;

/* The methods: one row each in peer.c. A method answers on the channel, or returns a failure that
 * becomes a protocol error with `code` (0: by its category: validation -32602, else -32603). */
typedef struct mishap_mcp_request {
    mishap_mcp_peer *peer;
    mishap_mcp_channel *channel;
    const mishap_mcp_message *message;
    int code;
    bool later;                 /* the method answers later, on its own */
    mishap_mcp_outcome outcome; /* what is in `result` */
    mishap_buffer members; /* further members of `data` if it fails, ended by a NUL; the caller's */
} mishap_mcp_request;
typedef mishap *mishap_mcp_method(mishap_mcp_request *request, mishap_buffer *result);

/* `result` is the object of the result, open; the caller adds what the revision wants (resultType,
 * _meta with serverInfo) and closes it. */
mishap_mcp_method mishap_mcp_initialize, mishap_mcp_ping, mishap_mcp_discover, /* lifecycle.c */
    mishap_mcp_tools_list, mishap_mcp_tools_call,                              /* tools.c */
    mishap_mcp_resources_list, mishap_mcp_templates_list,
    mishap_mcp_resources_read, /* resources.c */
    mishap_mcp_resources_subscribe, mishap_mcp_resources_unsubscribe,
    mishap_mcp_listen,                                                    /* subscribe.c */
    mishap_mcp_prompts_list, mishap_mcp_prompts_get, mishap_mcp_complete, /* prompts.c */
    mishap_mcp_set_level;                                                 /* report.c */

/* -- writing messages (write.c, refuse.c) ------------------------------------------------------ */

/* A response with an error. `data` is the canonical form of the failure's public side; further
 * members of it may be given as JSON text without braces. The failure stays the caller's; one with
 * a private side is recorded, under an id of its own. */
void mishap_mcp_refuse(const mishap_mcp_peer *peer, mishap_mcp_channel *channel, mishap_text id,
                       int code, int status, mishap *failure, const char *members);

/* A response with an error whose object is given as JSON. */
void mishap_mcp_put_error(mishap_mcp_channel *channel, mishap_text id, mishap_text error);

/* That object, of the public side of a failure, into a buffer that is empty: without what must not
 * leave. What was a stack trace is returned, to be recorded. And what it is without memory. */
mishap *mishap_mcp_put_error_object(mishap_buffer *buffer, int code, const mishap_public *told,
                                    const char *members, const mishap_secrets *secrets);
#define MISHAP_MCP_LAST_ERROR                                                                      \
    "{\"code\":-32603,\"message\":\"An internal error occurred.\",\"data\":"                       \
    "{\"code\":\"INTERNAL_ERROR\",\"message\":\"An internal error occurred.\","                    \
    "\"category\":\"system\",\"retryable\":false}}"
extern const mishap_text mishap_mcp_last_error;

/* The answer to what is no message; its mishap is freed, and the channel finished. */
void mishap_mcp_refuse_flaw(const mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                            mishap_mcp_flaw *flaw);

/* The frame of any message: {"jsonrpc":"2.0" and ,"id":ID if there is one. What follows is the
 * caller's, up to the last bracket. What was begun can be taken back instead. */
mishap_buffer *mishap_mcp_begin_message(mishap_mcp_channel *channel, mishap_mcp_kind kind,
                                        mishap_text id);
void mishap_mcp_end_message(mishap_mcp_channel *channel, mishap_buffer *buffer,
                            mishap_mcp_kind kind);
void mishap_mcp_take_back(const mishap_mcp_channel *channel, mishap_buffer *buffer);

/* {"jsonrpc":"2.0","id":ID,"result":{ … and … } of it; finish_result adds what the revision wants.
 * If the result has a `_meta`, that must be its last member: the server's name goes there, too. */
mishap_buffer *mishap_mcp_begin_result(mishap_mcp_channel *channel, mishap_text id);
void mishap_mcp_finish_result(const mishap_mcp_peer *peer, mishap_mcp_channel *channel,
                              mishap_buffer *buffer, mishap_mcp_revision revision,
                              mishap_mcp_outcome outcome);

/* {"jsonrpc":"2.0","method":METHOD,"params":{ … and }} of it. */
mishap_buffer *mishap_mcp_begin_notification(mishap_mcp_channel *channel, const char *method);
void mishap_mcp_finish_notification(mishap_mcp_channel *channel, mishap_buffer *buffer);

/* The members ttlMs and cacheScope, in the stateless revision: for lists and what else stays as it
 * is, and for what a handler answered just now. */
void mishap_mcp_put_cache(mishap_buffer *result, mishap_mcp_revision revision);
void mishap_mcp_put_no_cache(mishap_buffer *result, mishap_mcp_revision revision);

/* Paging: the first item that params.cursor stands for; false: it is no cursor of ours. And the
 * member nextCursor, if there is more. */
bool mishap_mcp_cursor_read(const mishap_mcp_message *message, size_t count, size_t *first);
void mishap_mcp_put_cursor(mishap_buffer *result, size_t next, size_t count);

/* The capabilities of the server, as an object, and its name and version, as a revision has them.
 */
void mishap_mcp_put_capabilities(mishap_buffer *buffer, const mishap_mcp_server *server,
                                 mishap_mcp_revision revision);
void mishap_mcp_put_implementation(mishap_buffer *buffer, const mishap_mcp_server *server,
                                   mishap_mcp_revision revision);

/* An item of a list: its title, in the revisions that have one, and its description. */
void mishap_mcp_put_words(mishap_buffer *buffer, const mishap_app *app,
                          const mishap_operation *operation, mishap_mcp_revision revision);

/* -- what came of a call (result.c, contents.c) ------------------------------------------------ */

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

/* The address of what an operation has answered, as a JSON string: that of its resource, if there
 * is one without a variable in it, else one that nobody can read again, with the id (NULL: one is
 * made). */
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

/* The body of an operation that takes one: `body`, `body_base64` and `body_type` among the
 * arguments of its tool. Is this name one of them; the schema of all arguments; the arguments
 * without them; and what they say as the body of a call. */
bool mishap_mcp_is_of_body(const void *operation, mishap_text name);
void mishap_mcp_put_params_schema(mishap_buffer *schema, const mishap_operation *operation);
void mishap_mcp_put_others(mishap_buffer *json, const mishap_operation *operation,
                           yyjson_val *arguments);
mishap *mishap_mcp_take_body(mishap_call *call, yyjson_val *arguments);

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

/* A JSON Schema without the patterns that JavaScript could not read: a client gives up on all tools
 * for one of those. */
void mishap_mcp_put_schema(mishap_buffer *buffer, mishap_text schema);

/* -- a failure as data (outputs.c) ------------------------------------------------------------- */

/* The outputSchema of a tool: what it answers, or a failure in its dialect; nothing, and false, if
 * it does not say what it answers. */
bool mishap_mcp_put_output_schema(mishap_buffer *buffer, const mishap_mcp_offer *tool);

/* Is the dialect text, and not an object that can be structured content as it is? */
bool mishap_mcp_is_text(const mishap_dialect *dialect);

/* Add to a failure in tool-result what a model can do about it: the dialect knows six types, and
 * the rest hangs on the code. */
void mishap_mcp_put_code(mishap_buffer *json, const mishap_public *told);

/* A report as an object: type, message, stdout, backtrace, restarts and all else that was told.
 * `session` may be NULL. Secrets are taken out, and stack traces where none belongs: what is
 * returned is as of mishap_hide_json(). */
mishap *mishap_mcp_put_report_members(mishap_buffer *json, const mishap_public *told,
                                      const char *session, const mishap_secrets *secrets);

/* -- resources (resources.c) ------------------------------------------------------------------- */

/* The resource that a URI is of, one without variables first; NULL: none. */
const mishap_mcp_offer *mishap_mcp_resource_find(const mishap_mcp_server *server, mishap_text uri);

/* Is there something to read, or may be? Its variables hold against the rules; and if the handler
 * is quick, it was asked and did not say that there is nothing. */
bool mishap_mcp_resource_exists(mishap_mcp_peer *peer, mishap_text uri);

/* Addresses are the same if they differ only in what is escaped without need (RFC 3986, 6.2.2.2),
 * or in the case of such escapes: todo://todos/%31 is todo://todos/1, but a%2Fb is not a/b. Those
 * that are have the same hash. */
bool mishap_mcp_same_address(mishap_text a, mishap_text b);
uint32_t mishap_mcp_address_hash(mishap_text address);

/* There is no such resource: the failure of a request, with its code and `uri` in `data`. */
mishap *mishap_mcp_no_resource(mishap_mcp_request *request, mishap_text uri);

/* -- flights (flight.c) ------------------------------------------------------------------------ */

/* A call that waits or runs. */
struct mishap_mcp_flight {
    mishap_run run; /* the first */
    mishap_mcp_peer *peer;
    mishap_mcp_channel *channel;
    mishap_mcp_flight *next, *previous;
    const mishap_mcp_server *server;
    mishap_mcp_asked asked;     /* … with a copy of its own of the URI */
    mishap_text id;             /* of the request, as JSON; its own copy */
    mishap_text progress_token; /* as JSON; no data: none */
    bool logs;                  /* log messages from `level` on are wanted */
    mishap_level level;
    mishap_watcher watcher;
    char incident[MISHAP_ID_LENGTH + 1];
    int removed;          /* traces that it was about to say */
    mishap_buffer latest; /* the progress that came too soon after another: its params */
    double progress;
    int64_t progress_ns; /* when the last one was sent */
    int64_t window_ns;   /* log messages are counted from here on … */
    size_t window_count; /* … so many */
};

/*
 * Begin a call with the arguments, an object. One that the operation does not have is refused. If
 * it is over at once (quick, or refused) `result` has what came of it (request->outcome). Else a
 * flight was started, which answers later (request->later).
 */
typedef struct mishap_mcp_arguments {
    yyjson_val *object;           /* as they are given; NULL: none, or elsewhere in the message */
    const mishap_buffer *spelled; /* … as they are meant, if that differs: JSON */
    bool mended;                  /* they are not what was sent (mishap_mcp_message): refused */
} mishap_mcp_arguments;
/* Say where a call comes from. What it points to lives as long as the call; `id` may be NULL. */
void mishap_mcp_come_from(mishap_call *call, const char *id, mishap_text remote);

void mishap_mcp_flight_begin(mishap_mcp_request *request, const mishap_mcp_asked *asked,
                             const mishap_mcp_arguments *arguments, mishap_buffer *result);

/* The progress that was kept back, to its channel (report.c). */
void mishap_mcp_flight_report(mishap_mcp_flight *flight);

/* Before the handler begins, and when nothing more will be said of it. */
void mishap_mcp_report_begin(mishap_mcp_flight *flight, const mishap_mcp_request *request);
void mishap_mcp_report_end(mishap_mcp_flight *flight);

/* Nobody waits for it any more: no response. Its handler is told (mishap_cancelled). The flight is
 * gone afterwards. */
void mishap_mcp_flight_cancel(mishap_mcp_flight *flight);
mishap_mcp_flight *mishap_mcp_flight_find(const mishap_mcp_peer *peer, mishap_text id);

/* -- changes (subscribe.c) --------------------------------------------------------------------- */

typedef enum mishap_mcp_change {
    MISHAP_MCP_TOOLS_CHANGED,
    MISHAP_MCP_PROMPTS_CHANGED,
    MISHAP_MCP_RESOURCES_CHANGED,
    MISHAP_MCP_RESOURCE_UPDATED, /* of one resource */
} mishap_mcp_change;

/* Tell a peer of a change, if it wants to hear of it. A URI without data: any of the resources may
 * have changed. */
void mishap_mcp_tell_change(mishap_mcp_peer *peer, mishap_mcp_change change, mishap_text uri);

/* The message that says so to a session, as a whole. */
void mishap_mcp_put_change(mishap_buffer *buffer, mishap_mcp_change change, mishap_text uri);

/* End the subscriptions of a channel that is closed, without a word; NULL: all of the peer. */
void mishap_mcp_unlisten(mishap_mcp_peer *peer, mishap_mcp_channel *channel);

/* A subscriptions/listen of this id is open. */
bool mishap_mcp_listens(const mishap_mcp_peer *peer, mishap_text id);

/* It is cancelled: no response, and its channel is finished. False: there is none of this id. */
bool mishap_mcp_listen_cancel(mishap_mcp_peer *peer, mishap_text id);

/* The server ends: each subscriptions/listen gets its result, and its channel is finished. */
void mishap_mcp_listen_end(mishap_mcp_peer *peer);

#endif
