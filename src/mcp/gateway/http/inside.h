/* What the files of src/mcp/gateway/http share. */
#ifndef MISHAP_MCP_GATEWAY_HTTP_INSIDE_H
#define MISHAP_MCP_GATEWAY_HTTP_INSIDE_H

#include <uv.h>

#include "base/base.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "mcp/gateway/http/http.h"
#include "mcp/gateway/table.h"
#include "mcp/wire/message.h"
#include "server/server.h"

enum {
    HTTP_MOST_SESSIONS = 128,
    HTTP_MOST_PROCESSES = 160,    /* with those of sessions that have ended … */
    HTTP_RESERVED_PROCESSES = 8,  /* … and these for the stateless revision alone */
    HTTP_MOST_AWAITED = 1024,     /* requests of a session that are not answered yet */
    HTTP_MOST_UNSENT = 64 << 20,  /* bytes that a gateway has not read yet */
    HTTP_MOST_LINE = 32 << 20,    /* bytes of a line of a gateway */
    HTTP_MOST_PARKED = 256 << 10, /* bytes of messages until a client has a stream for them */
    HTTP_SESSION_ID = 32,         /* characters */
};

typedef struct http_front http_front;
typedef struct http_session http_session;
typedef struct http_exchange http_exchange;

/* A session without a request for so long makes room for another one. */
#define HTTP_IDLE_NS INT64_C(60000000000)

/* -- session.c --------------------------------------------------------------------------------- */

/* A request that the gateway has to answer. */
typedef struct http_awaited {
    mishap_mcp_gateway_entry entry; /* by its id, as the gateway knows it */
    http_exchange *exchange;
    mishap_text id;    /* … as the client knows it */
    mishap_text token; /* of its progress; no data: none */
    char key[24];      /* the id of a stateless one */
} http_awaited;

/* A request of the server to the client, that is not answered yet. */
typedef struct http_question {
    struct http_question *next;
    http_exchange
        *exchange;      /* whose stream it was sent on; NULL: that has ended, or there was none */
    mishap_text id;     /* as JSON */
    mishap_buffer line; /* it waits for a stream: the message … */
    int64_t until_ns;   /* … and for how long */
} http_question;

struct http_session {
    http_session *next;
    http_front *front;
    char id[HTTP_SESSION_ID + 1]; /* "": it serves the stateless revision */
    uv_process_t process;
    uv_pipe_t in, out;
    int handles; /* that are open: it is freed with the last one */
    bool ended;  /* it is in no list, and has no exchange */
    bool greeted;
    mishap_buffer lines; /* bytes of the gateway … */
    size_t seen;         /* … of which so many have no line end */
    mishap_mcp_gateway_table awaited;
    http_exchange *exchanges;
    http_exchange *stream; /* GET; it is not among the others */
    mishap_buffer parked;  /* events for the next stream */
    http_question *questions;
    uint64_t last_number;
    int64_t used_ns;
};

/* Start one. UNAVAILABLE: it could not be, or there are too many. */
mishap *mishap_mcp_http_session_start(http_front *front, bool stateless, http_session **out);

/* NULL: there is none. */
http_session *mishap_mcp_http_session_find(http_front *front, mishap_text id);

/* True if a client waits for one of its responses. */
bool mishap_mcp_http_session_is_used(const http_session *session);

/* Send a line, which is copied, line ends made white space. False: it cannot be taken now. */
bool mishap_mcp_http_session_send(http_session *session, mishap_text line);

/* It takes no more requests; its gateway gets the end of its input, and SIGTERM if it works on
 * requests. */
void mishap_mcp_http_session_end(http_session *session);

/* … and is told to end at once. */
void mishap_mcp_http_session_kill(http_session *session);

/* -- exchange.c -------------------------------------------------------------------------------- */

struct http_exchange {
    mishap_http_later *later; /* NULL: the peer is gone */
    http_session *session;
    http_exchange *next, *previous;
    size_t waits; /* answers that are missing */
    bool accepts_json, accepts_stream;
    bool batch, streams, stands; /* `stands`: GET */
    bool greets;                 /* its answer has the id of the session */
    mishap_buffer answers;
    int64_t quiet_ns;
};

/* Take the messages of a POST. A single message is passed on as `text`; no data: as `root` has it.
 */
void mishap_mcp_http_exchange_post(http_session *session, const mishap_http_request *request,
                                   mishap_http_reply *reply, yyjson_val *root, mishap_text text);

/* Open the stream of a session. */
void mishap_mcp_http_exchange_get(http_session *session, const mishap_http_request *request,
                                  mishap_http_reply *reply);

/* The session has ended: all are answered. */
void mishap_mcp_http_exchanges_end(http_session *session);

/* Called several times a second: heartbeats of streams, questions that cannot be sent. */
void mishap_mcp_http_exchanges_tick(http_session *session, int64_t now_ns);

/* Send a message as an event; before the first one the stream is begun. */
void mishap_mcp_http_exchange_send(http_exchange *x, mishap_text data);
void mishap_mcp_http_put_event(mishap_buffer *out, mishap_text data);

/* Answer it with this body, or end its stream. It is freed. */
void mishap_mcp_http_exchange_finish(http_exchange *x, int status, mishap_text body);

/* Without the exchange, which still counts it. */
void mishap_mcp_http_forget_awaited(http_session *session, http_awaited *awaited);

/* -- deliver.c --------------------------------------------------------------------------------- */

/* A line of the gateway. */
void mishap_mcp_http_deliver(http_session *session, mishap_text line);

/* What is written in place of the members of a message, as JSON; no data: the member stays. */
typedef struct http_change {
    mishap_text id, token, subscription;
} http_change;

/* Write a message anew. */
void mishap_mcp_http_put_changed(mishap_buffer *out, yyjson_val *root, const http_change *change);

/* The client has answered it, or need not. */
void mishap_mcp_http_question_forget(http_session *session, mishap_text id);

/* Send those that wait for a stream on this one. */
void mishap_mcp_http_questions_send(http_exchange *x);

/* The exchange ends. `closed`: by its peer, which will not answer. */
void mishap_mcp_http_questions_left(http_exchange *x, bool closed);
void mishap_mcp_http_questions_tick(http_session *session, int64_t now_ns);
void mishap_mcp_http_questions_release(http_session *session);

/* -- listen.c ---------------------------------------------------------------------------------- */

struct http_front {
    mishap_http_server *http;
    const mishap_mcp_gateway_listen *settings;
    http_session *sessions;
    http_session *stateless;
    size_t count;   /* of sessions … */
    size_t running; /* … and of their processes */
    int session_field;
};

/* Fill a reply with an error of JSON-RPC. Takes the failure. */
void mishap_mcp_http_refuse(mishap_http_reply *reply, mishap_text id, int code, int status,
                            mishap *failure);

#endif
