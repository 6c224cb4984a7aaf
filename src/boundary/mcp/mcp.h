/*
 * src/boundary/mcp: a program's operations as tools of the Model Context Protocol.
 *
 *     message.c    bytes into messages         tools.c      operations as tools: list, call
 *     peer.c       which method is meant       schema.c     schemas that any client can read
 *     batch.c      several in one array        result.c     what came of a call, for a model
 *     write.c      the frame of messages       flight.c     calls that run, and how they end
 *     refuse.c     protocol errors             report.c     what they say meanwhile
 *     lifecycle.c  initialize, discover, ping  resources.c  the catalog to read
 *     stdio.c      standard input and output   prompts.c    prompts, completion of arguments
 *     lines.c      its bytes as lines          subscribe.c  who wants to hear of changes
 *
 * Nothing here knows how bytes travel. A transport reads a message, hands it over with a channel
 * for what comes back, and runs what has to wait on threads. The same code serves standard input
 * and output and HTTP, and all revisions at once: each message says, or its session has agreed,
 * which revision it is of.
 *
 * Who owns what: everything belongs to the thread that reads. Only a flight's job is handed to
 * another thread, and comes back from it.
 */
#ifndef MISHAP_BOUNDARY_MCP_H
#define MISHAP_BOUNDARY_MCP_H

#include <pthread.h>

#include "base/base.h"
#include "mishap/dialect.h"
#include "operation/threads.h"

/* -- revisions --------------------------------------------------------------------------------- */

typedef enum mishap_mcp_revision {
    MISHAP_MCP_NONE, /* nothing was agreed yet */
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

typedef struct mishap_mcp_tool {
    const mishap_operation *operation;
    mishap_text name;              /* operation->tool, or its name with underscores */
    const mishap_dialect *dialect; /* of its service; tool-result if that says none */
} mishap_mcp_tool;

/* A resource or prompt beside those of the program; for tests, and for services to come. */
typedef struct mishap_mcp_resource {
    const char *uri; /* or a template: "test://template/{id}/data" */
    const char *name, *title, *description, *mime_type;
    /* Write the contents, one object, into the buffer. NULL: done; else why not. `variable` is what
     * stands in place of the first {…}. */
    mishap *(*read)(mishap_text uri, mishap_text variable, mishap_buffer *contents);
} mishap_mcp_resource;

typedef struct mishap_mcp_prompt {
    const char *name, *title, *description;
    const mishap_param *arguments; /* strings */
    /* Write the members `description`? and `messages` into an object that is open. */
    mishap *(*get)(yyjson_val *arguments, mishap_buffer *object);
} mishap_mcp_prompt;

/* What all conversations of a process share. It does not change after it is made. */
typedef struct mishap_mcp_server {
    const mishap_app *app;
    const char *service;    /* only the tools of this one; NULL: all */
    mishap_mcp_tool *tools; /* in the order of declaration */
    size_t tool_count;
    const mishap_mcp_tool **slots; /* the same by name, for mishap_mcp_tool_find() */
    size_t slot_count;
    const mishap_mcp_resource *const *resources; /* further ones; the list ends with NULL */
    const mishap_mcp_prompt *const *prompts;
    size_t page_size;     /* of lists; 0: 50 */
    size_t message_limit; /* bytes of one message */
    size_t flight_limit;  /* calls of one peer that run at once */
    bool verbose;         /* the private side of failures on stderr too */
} mishap_mcp_server;

/* Make the table of tools: every operation that is neither local nor resident, nor for drills
 * unless `chaos`. NOT_CONFIGURED if two tools have the same name or there is no such service. */
mishap *mishap_mcp_server_make(mishap_mcp_server *server, bool chaos);
void mishap_mcp_server_release(mishap_mcp_server *server);
const mishap_mcp_tool *mishap_mcp_tool_find(const mishap_mcp_server *server, mishap_text name);

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

    int status; /* of HTTP, set by the core before the response ends: 200, 400, 404 */

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
    mishap_level level;           /* of log messages, for revisions with logging/setLevel */
    bool crashed;                 /* a handler did; the process is not to be trusted any more */
    mishap_mcp_flight *flights;   /* calls that run or wait */
    size_t flight_count;
    struct mishap_mcp_subscription *subscriptions; /* subscribe.c's */

    /* Of the transport: run a flight's job on a thread; false: it cannot be done now. When it has
     * run, the transport calls mishap_mcp_flight_finish(). */
    bool (*start)(struct mishap_mcp_peer *peer, mishap_mcp_flight *flight);
    /* … a flight has something to say while it runs (any thread): call
     * mishap_mcp_flight_report() soon, on the thread that reads. */
    void (*wake)(struct mishap_mcp_peer *peer, mishap_mcp_flight *flight);
    /* … where messages go that belong to no request: changes of lists and resources, for the
     * older revisions. NULL: nowhere. */
    mishap_mcp_channel *aside;
} mishap_mcp_peer;

void mishap_mcp_peer_init(mishap_mcp_peer *peer, const mishap_mcp_server *server);

/* Forget its flights and subscriptions. Flights that run are cancelled and go on for nobody. */
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

/* The messages of an array, in the one revision that has batches (batch.c). */
void mishap_mcp_take_batch(mishap_mcp_peer *peer, mishap_mcp_channel *channel, yyjson_val *items);

/* The methods: one row each in peer.c. A method answers on the channel, or returns a failure that
 * becomes a protocol error with `code` (0: by its category: validation -32602, else -32603). */
typedef struct mishap_mcp_request {
    mishap_mcp_peer *peer;
    mishap_mcp_channel *channel;
    const mishap_mcp_message *message;
    int code;
    bool later;            /* the method answers later, on its own */
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
                              mishap_buffer *buffer, mishap_mcp_revision revision);

/* {"jsonrpc":"2.0","method":METHOD,"params":{ … and }} of it. */
mishap_buffer *mishap_mcp_begin_notification(mishap_mcp_channel *channel, const char *method);
void mishap_mcp_finish_notification(mishap_mcp_channel *channel, mishap_buffer *buffer);

/* The members ttlMs and cacheScope, for lists and what can be read, in the stateless revision. */
void mishap_mcp_put_cache(mishap_buffer *result, mishap_mcp_revision revision);

/* Paging: the first item that params.cursor stands for; false: it is no cursor of ours. And the
 * member nextCursor, if there is more. */
bool mishap_mcp_cursor_read(const mishap_mcp_message *message, size_t count, size_t *first);
void mishap_mcp_put_cursor(mishap_buffer *result, size_t next, size_t count);

/* The capabilities of the server, as an object, and its name and version. */
void mishap_mcp_put_capabilities(mishap_buffer *buffer, const mishap_mcp_server *server,
                                 mishap_mcp_revision revision);
void mishap_mcp_put_implementation(mishap_buffer *buffer, const mishap_mcp_server *server);

/* -- results of tools (result.c) --------------------------------------------------------------- */

/*
 * The members of a CallToolResult for what came of a call, into an object that is open: content,
 * structuredContent, isError, _meta with the incident id. `call` is NULL if it could not begin. A
 * failure is told in the tool's dialect, without what is secret; it stays the caller's. Any thread.
 */
void mishap_mcp_put_outcome(mishap_buffer *result, const mishap_mcp_tool *tool, mishap_call *call,
                            mishap *failure, const char *incident, mishap_mcp_revision revision);

/* Is the failure of a tool to be recorded? What a caller can mend, what is just not there or not
 * now is not, unless something was noted about it: else any caller could fill the disk. */
bool mishap_mcp_is_incident(const mishap *failure);

/* True if the result ends with the `_meta` of a failed call, which is its last member; then that
 * object is open again, for more members. */
bool mishap_mcp_reopen_meta(mishap_buffer *result);

/* A JSON Schema without the patterns that JavaScript could not read: a client gives up on all tools
 * for one of those. */
void mishap_mcp_put_schema(mishap_buffer *buffer, mishap_text schema);

/* The outputSchema of a tool: what it answers, or a failure in its dialect; nothing, and false, if
 * it does not say what it answers or its dialect is text. */
bool mishap_mcp_put_output_schema(mishap_buffer *buffer, const mishap_mcp_tool *tool);

/* -- resources and prompts --------------------------------------------------------------------- */

/* The resource or template that a URI is of; NULL: none. Text without data for `variable` if it is
 * no template's. */
const mishap_mcp_resource *mishap_mcp_resource_find(const mishap_mcp_server *server,
                                                    mishap_text uri, mishap_text *variable);

/* There is no such resource: the failure of a request, with its code and `uri` in `data`. */
mishap *mishap_mcp_no_resource(mishap_mcp_request *request, mishap_text uri);

/* -- flights (flight.c) ------------------------------------------------------------------------ */

enum {
    MISHAP_MCP_REPORTS = 64
}; /* progress and log messages that wait; beyond that, old progress
      is dropped */

struct mishap_mcp_flight {
    mishap_job job;              /* the first */
    mishap_mcp_peer *peer;       /* NULL: nobody waits any more */
    mishap_mcp_channel *channel; /* … and then NULL, too */
    mishap_mcp_flight *next, *previous;
    const mishap_mcp_server *server;
    const mishap_mcp_tool *tool;
    mishap_mcp_revision revision;
    mishap_text id;             /* of the request, as JSON; its own copy */
    mishap_text progress_token; /* as JSON; no data: none */
    bool logs;                  /* log messages from `level` on are wanted */
    mishap_level level;
    mishap_watcher watcher;
    char incident[MISHAP_ID_LENGTH + 1];
    mishap_buffer result; /* the members of the result, made on the thread */
    bool crashed;
    pthread_mutex_t lock;  /* of what follows, and of who waits */
    mishap_buffer reports; /* a line each: which it is, and its params without the last brace */
    size_t report_count;
    mishap_buffer latest; /* the progress that came too soon after another, or found no room */
    double progress;
    int64_t progress_ns; /* when the last one was put into `reports` */
    bool woken;          /* the thread that reads was told, and has not come yet */
};

/* Begin a call: true if it was answered at once (quick, or refused), with the members of the result
 * in `result`. False: a flight was started. */
bool mishap_mcp_flight_begin(mishap_mcp_request *request, const mishap_mcp_tool *tool,
                             yyjson_val *arguments, mishap_buffer *result);

/* What it has to say so far, to its channel (report.c). */
void mishap_mcp_flight_report(mishap_mcp_flight *flight);

/* Before the handler begins, and when it has run: what it says meanwhile is gathered, and then
 * forgotten. From to_nobody() on it reaches neither peer nor channel. let_go() is for the thread of
 * a handler that has run: it may have crashed with the lock in its hands. */
void mishap_mcp_report_begin(mishap_mcp_flight *flight, const mishap_mcp_request *request);
void mishap_mcp_report_let_go(void);
void mishap_mcp_report_to_nobody(mishap_mcp_flight *flight);
void mishap_mcp_report_end(mishap_mcp_flight *flight);

/* Its job has run: what is left to report, the response, and the end of it. */
void mishap_mcp_flight_finish(mishap_mcp_flight *flight);

/* It takes too long: answered without it. Its job goes on for nobody. */
void mishap_mcp_flight_give_up(mishap_mcp_flight *flight);

/* Nobody waits for it any more: no response. Its handler is told (mishap_cancelled). */
void mishap_mcp_flight_cancel(mishap_mcp_flight *flight);
mishap_mcp_flight *mishap_mcp_flight_find(const mishap_mcp_peer *peer, mishap_text id);

/* -- changes (subscribe.c) --------------------------------------------------------------------- */

typedef enum mishap_mcp_change {
    MISHAP_MCP_TOOLS_CHANGED,
    MISHAP_MCP_PROMPTS_CHANGED,
    MISHAP_MCP_RESOURCES_CHANGED,
    MISHAP_MCP_RESOURCE_UPDATED, /* of one resource */
} mishap_mcp_change;

/* Tell a peer of a change, if it wants to hear of it. */
void mishap_mcp_tell_change(mishap_mcp_peer *peer, mishap_mcp_change change, mishap_text uri);

/* End the subscriptions of a channel that is closed, without a word; NULL: all of the peer. */
void mishap_mcp_unlisten(mishap_mcp_peer *peer, mishap_mcp_channel *channel);

/* A subscriptions/listen of this id is open. */
bool mishap_mcp_listens(const mishap_mcp_peer *peer, mishap_text id);

/* It is cancelled: no response, and its channel is finished. False: there is none of this id. */
bool mishap_mcp_listen_cancel(mishap_mcp_peer *peer, mishap_text id);

/* The server ends: each subscriptions/listen gets its result, and its channel is finished. */
void mishap_mcp_listen_end(mishap_mcp_peer *peer);

#endif
