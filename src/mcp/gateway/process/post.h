/* One request over HTTP that the gateway sends to a server behind a URL. */
#ifndef MISHAP_MCP_GATEWAY_POST_H
#define MISHAP_MCP_GATEWAY_POST_H

#include "client/client.h"
#include "mcp/gateway/gateway.h"
#include "mcp/gateway/process/events.h"
#include "mcp/wire/message.h"

typedef struct gateway_remote gateway_remote;

typedef enum gateway_post_kind {
    GATEWAY_POST_MESSAGE,
    GATEWAY_POST_HELLO,  /* `initialize` … */
    GATEWAY_POST_READY,  /* … and notifications/initialized: the next message waits for both */
    GATEWAY_POST_STREAM, /* GET: messages that answer nothing */
    GATEWAY_POST_BYE,    /* DELETE */
} gateway_post_kind;

/* post.c has what concerns one, remote.c all of them. A post that has ended is used again. */
typedef struct gateway_post {
    mishap_client_flight flight; /* the first member */
    gateway_remote *remote;
    struct gateway_post *next;
    gateway_post_kind kind;
    mishap_buffer line;    /* the message that it sends … */
    mishap_buffer id;      /* … and its id, as JSON; empty: none */
    mishap_buffer body;    /* of the response, unless it is a stream of events … */
    gateway_events events; /* … which is read here */
    bool begun, streams;   /* the type of the response is known */
    bool answered;         /* the answer was passed on */
    bool too_large;
} gateway_post;

typedef struct gateway_post_headers {
    char version[32], session[1024];
} gateway_post_headers;

/* Begin it; the text of `line` is copied. `message` may be NULL. A failure: it does not run. */
mishap *mishap_mcp_gateway_post_begin(gateway_post *post, mishap_client_many *many,
                                      const mishap_mcp_gateway_settings *settings,
                                      const gateway_post_headers *known, mishap_text line,
                                      const mishap_mcp_message *message);

/* It has ended with a response: what is left of it is passed on. True: its request is answered. */
bool mishap_mcp_gateway_post_end(gateway_post *post);

/* Pass on the response itself, which has no answer: it fails the request, if there is one. `lost`:
 * the server is lost, and the end of it fails the request. */
void mishap_mcp_gateway_post_tell(gateway_post *post, bool lost);

/* Answer its request with an error. */
void mishap_mcp_gateway_post_fail(gateway_post *post, const char *words);
void mishap_mcp_gateway_post_release(gateway_post *post);

/* remote.c: pass a line on; take what the answer to a greeting says. */
void mishap_mcp_gateway_remote_put(gateway_remote *remote, mishap_text line);
void mishap_mcp_gateway_remote_greeted(gateway_remote *remote, gateway_post *post,
                                       mishap_text version);

#endif
