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
    uint64_t last_number;
    int64_t used_ns;
};

/* Start one. UNAVAILABLE: it could not be, or there are too many. */
mishap *mishap_mcp_http_session_start(http_front *front, bool stateless, http_session **out);

/* NULL: there is none. */
http_session *mishap_mcp_http_session_find(http_front *front, mishap_text id);

/* Send a line, which is copied, line ends made white space. False: it cannot be taken now. */
bool mishap_mcp_http_session_send(http_session *session, mishap_text line);

/* It takes no more requests; its gateway gets the end of its input. */
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

/* Take the messages of a POST: `reader` has them. */
void mishap_mcp_http_exchange_post(http_session *session, const mishap_http_request *request,
                                   mishap_http_reply *reply, yyjson_val *root);

/* Open the stream of a session. */
void mishap_mcp_http_exchange_get(http_session *session, const mishap_http_request *request,
                                  mishap_http_reply *reply);

/* A line of the gateway. */
void mishap_mcp_http_exchange_take(http_session *session, mishap_text line);

/* The session has ended: all are answered. */
void mishap_mcp_http_exchanges_end(http_session *session);

/* Called several times a second: heartbeats of streams. */
void mishap_mcp_http_exchanges_tick(http_session *session, int64_t now_ns);

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
