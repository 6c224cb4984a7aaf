/* What the files of src/mcp/gateway share: one conversation between a client and a server. */
#ifndef MISHAP_MCP_GATEWAY_INSIDE_H
#define MISHAP_MCP_GATEWAY_INSIDE_H

#include "mcp/gateway/gateway.h"
#include "mcp/gateway/response.h"
#include "mcp/gateway/table.h"
#include "mcp/wire/message.h"
#include "schema/schema.h"

enum {
    GATEWAY_MOST_CALLS = 1024,          /* requests of the client that are not answered yet */
    GATEWAY_MOST_QUESTIONS = 256,       /* … and requests of the server */
    GATEWAY_MOST_HELD = 64 << 20,       /* bytes of all requests that are not answered yet */
    GATEWAY_MOST_TOOLS = 5000,          /* that are remembered … */
    GATEWAY_MOST_TOOL_BYTES = 32 << 20, /* … and the bytes of their schemas */
    GATEWAY_MOST_PAGES = 100,           /* of a list that the gateway asks for */
    GATEWAY_MOST_SETUPS = 1000,         /* subscriptions that are repeated … */
    GATEWAY_MOST_SETUP_BYTES = 1 << 20, /* … and their bytes */
    GATEWAY_LONGEST_NAME = 256,         /* bytes of the name of a tool that is remembered */
    GATEWAY_PATIENCE_MS = 1000,     /* a longer pause before a start: calls do not wait for it */
    GATEWAY_MOST_PENDING = 8 << 20, /* bytes for one side, at which the other is not read */
    GATEWAY_MOST_NOTES = 100,       /* lines for the operator about one server */
    GATEWAY_ROOM = 16 << 10,        /* for answers to the client when there is no memory */
    GATEWAY_AGAIN_MS = 100,         /* until an answer is tried again for which there was no
                                       memory */
};

/* -- tools ------------------------------------------------------------------------------------- */

typedef struct gateway_tool {
    mishap_mcp_gateway_entry entry; /* by its name */
    mishap_schema *schema;          /* NULL: nothing is checked */
    mishap_text input;              /* the JSON of the schema, in the memory of the tool */
    bool repeatable;                /* it is declared read-only or idempotent */
    bool structured;                /* it has an outputSchema */
    unsigned listing;               /* the number of the last listing that had it */
} gateway_tool;

typedef struct gateway_tools {
    mishap_mcp_gateway_table table;
    size_t bytes;
    unsigned listing; /* the number of the current listing */
    bool complete;    /* all tools are known */
    int64_t until_ns; /* … until then; INT64_MAX: until the server says otherwise */
} gateway_tools;

void mishap_mcp_gateway_tools_release(gateway_tools *tools);

/* A page of a list of tools has come: what it says is remembered. `first`: it is the first page.
 * True: it was the last one. */
bool mishap_mcp_gateway_tools_learn(gateway_tools *tools, yyjson_val *result, bool first,
                                    int64_t now_ns);

/* NULL: it is not known. */
const gateway_tool *mishap_mcp_gateway_tools_find(const gateway_tools *tools, mishap_text name);

/* -- requests in flight ------------------------------------------------------------------------ */

typedef enum gateway_kind {
    GATEWAY_OTHER,
    GATEWAY_INITIALIZE,
    GATEWAY_TOOLS_LIST,
    GATEWAY_TOOLS_CALL,
    GATEWAY_SETUP,          /* it changes what the server remembers of its client: setup.c */
    GATEWAY_ENDLESS,        /* of the client, without a deadline … */
    GATEWAY_LISTEN,         /* … and without an answer, as long as the client is there */
    GATEWAY_OWN_INITIALIZE, /* the gateway itself has sent it */
    GATEWAY_OWN_LIST,
    GATEWAY_OWN_SETUP,
} gateway_kind;

/* A request that the server has to answer. */
typedef struct gateway_call {
    mishap_mcp_gateway_entry entry; /* by its id, as JSON in its normal form */
    struct gateway_call *before, *after;
    gateway_kind kind;
    bool held;      /* it was not sent to the server yet */
    bool repeated;  /* it was sent to a server that has died */
    bool cancelled; /* the client does not wait any more */
    bool answered;  /* it was, without success: there was no memory */
    bool modern;    /* it is of the stateless revision */
    bool first;     /* of a list: the first page */
    int64_t started_ns, deadline_ns;
    mishap_text line;  /* the whole message; of an own one, none */
    mishap_text tool;  /* the name of the tool, if it calls one */
    mishap_text token; /* of its progress, as JSON; no data: none */
} gateway_call;

/* A request of the server that the client has to answer, under an id of the gateway. */
typedef struct gateway_question {
    mishap_mcp_gateway_entry entry;
    mishap_text id; /* that the server has given it */
    bool ping;
    char key[24];
} gateway_question;

typedef enum gateway_phase {
    GATEWAY_DOWN,     /* there is no server */
    GATEWAY_FRESH,    /* the client greets the server itself */
    GATEWAY_GREETING, /* the gateway repeats the greeting of the client */
    GATEWAY_READY,
} gateway_phase;

/* -- a conversation ---------------------------------------------------------------------------- */

typedef struct gateway {
    const mishap_mcp_gateway_settings *settings;
    mishap_buffer to_client,
        to_server;           /* whole lines; process/run.c writes them and takes them out */
    char room[GATEWAY_ROOM]; /* of the first, at the beginning */

    gateway_phase phase;
    int64_t now_ns;      /* set by process/run.c in each turn */
    int64_t restart_ns;  /* in GATEWAY_DOWN: when a server is started again */
    int64_t greeting_ns; /* the deadline of a greeting; INT64_MAX: none is under way */
    bool stuck;          /* the server is to be ended: it does not greet */

    mishap_mcp_gateway_table calls;
    gateway_call *oldest, *newest; /* in the order of their deadlines, those without one last */
    size_t call_bytes;
    size_t held;                   /* calls that wait */
    bool releasing, release_again; /* they are looked at now, and have to be once more */
    mishap_mcp_gateway_table questions;
    uint64_t last_own, last_question;

    mishap_mcp_gateway_table setups; /* setup.c */
    size_t setup_bytes;

    gateway_tools tools;
    bool listing;   /* an own list is under way */
    unsigned pages; /* … of so many pages */

    mishap_buffer hello, hello_done; /* `initialize` of the client, and what follows its answer */
    mishap_buffer meta; /* members of `_meta`, for own requests of the stateless kind */
    bool greeted;       /* a server has answered the greeting */
    mishap_mcp_revision revision;
    bool has_tools;    /* the server offers tools, as far as is known */
    char last_end[64]; /* how the last server ended */
    unsigned notes;    /* lines for the operator about this server */
    uint64_t answers;  /* of this server, to requests of the client */

    gateway_response last_response; /* with which the last server was lost; status 0: none */
} gateway;

/* Make it, and release it. `settings` has to live as long. */
void mishap_mcp_gateway_open(gateway *g, const mishap_mcp_gateway_settings *settings);
void mishap_mcp_gateway_close(gateway *g);

/* -- client.c, server.c: a line has come, without its line feed -------------------------------- */

void mishap_mcp_gateway_from_client(gateway *g, mishap_text line);
void mishap_mcp_gateway_from_server(gateway *g, mishap_text line);

/* A line is longer than the limit, or there was no memory for it. Of the server it is dropped. */
void mishap_mcp_gateway_client_line_lost(gateway *g, bool no_memory);

/* The client sends a call of a tool that may go on now. */
void mishap_mcp_gateway_dispatch(gateway *g, gateway_call *call);

/* -- conversation.c ---------------------------------------------------------------------------- */

/* A server was started. */
void mishap_mcp_gateway_started(gateway *g);

/* It has ended: `how` is for the operator, the next start is at `restart_ns`. Each call in flight
 * is answered, or waits for the next server if it may be repeated. */
void mishap_mcp_gateway_ended(gateway *g, const char *how, int64_t restart_ns);

/* What is due at g->now_ns; the result is when it has to be called again, INT64_MAX: never. */
int64_t mishap_mcp_gateway_tick(gateway *g);

/* A new request; its line is copied. NULL: no memory. */
gateway_call *mishap_mcp_gateway_call_add(gateway *g, const mishap_mcp_message *message,
                                          mishap_text line, gateway_kind kind);
void mishap_mcp_gateway_call_remove(gateway *g, gateway_call *call);
static inline gateway_call *mishap_mcp_gateway_call_find(const gateway *g, mishap_text id)
{
    return (gateway_call *)(void *)mishap_mcp_gateway_table_find(&g->calls, id);
}

/* There was no memory for its answer: that is tried again soon. */
void mishap_mcp_gateway_call_retry(gateway *g, gateway_call *call);

/* It waits until it can be sent. */
void mishap_mcp_gateway_call_hold(gateway *g, gateway_call *call);

/* Its time begins again. */
void mishap_mcp_gateway_call_extend(gateway *g, gateway_call *call);

/* Send it to the server, and all that wait, if they may go on. */
void mishap_mcp_gateway_call_send(gateway *g, gateway_call *call);
void mishap_mcp_gateway_release_held(gateway *g);

/* A line for one side. False: there is no memory, and nothing was put. */
bool mishap_mcp_gateway_to_client(gateway *g, mishap_text line);
bool mishap_mcp_gateway_to_server(gateway *g, mishap_text line);

/* Copy an object with another id, which is JSON. */
void mishap_mcp_gateway_put_with_id(mishap_buffer *out, yyjson_val *root, mishap_text id);

/* True if the tool is offered. */
bool mishap_mcp_gateway_allows(const gateway *g, mishap_text tool);

/* True for a request of the gateway itself. */
static inline bool mishap_mcp_gateway_is_own(const gateway_call *call)
{
    return call->kind >= GATEWAY_OWN_INITIALIZE;
}

/* Send one: `params` is a JSON object. False: there is no memory. */
bool mishap_mcp_gateway_send_own(gateway *g, gateway_kind kind, const char *method,
                                 mishap_text params);

/* Ask for the list of tools, from the page of `cursor` on (no data: the first). */
void mishap_mcp_gateway_list_tools(gateway *g, mishap_text cursor);

/* The own list has come to its end, or will not come: calls go on. */
void mishap_mcp_gateway_listed(gateway *g);

/* The client has greeted, or the gateway has: the server is ready. */
void mishap_mcp_gateway_ready(gateway *g);

/* -- setup.c ----------------------------------------------------------------------------------- */

bool mishap_mcp_gateway_is_setup(mishap_text method);

/* The server has accepted this request of the client. */
void mishap_mcp_gateway_setup_learn(gateway *g, mishap_text line);

/* Send all of it to a server that was started again. */
void mishap_mcp_gateway_setup_repeat(gateway *g);
void mishap_mcp_gateway_setup_release(gateway *g);

/* -- tell.c ------------------------------------------------------------------------------------ */

/* Answer a call with a failure of ours, which is freed; the call is removed. */
void mishap_mcp_gateway_fail(gateway *g, gateway_call *call, mishap *failure);

/* Answer a call with what the server says: a result with isError, or an error. `line` is its whole
 * message; `sound`: it has no flaw of base/json_read.h. */
void mishap_mcp_gateway_tell_result(gateway *g, gateway_call *call, mishap_text line,
                                    yyjson_val *result);
void mishap_mcp_gateway_tell_error(gateway *g, gateway_call *call, mishap_text line,
                                   yyjson_val *error, bool sound);

/* -- tasks.c ----------------------------------------------------------------------------------- */

/* A message of the server with a task that has failed is told anew. `holder` is its result or its
 * parameters; `call` is NULL for a notification. */
bool mishap_mcp_gateway_has_failed_task(yyjson_val *holder);
bool mishap_mcp_gateway_tell_tasks(gateway *g, const gateway_call *call, mishap_text line,
                                   yyjson_val *root);

/* Refuse a message of the client that has no call. The failure is freed. */
void mishap_mcp_gateway_refuse(gateway *g, mishap_text id, int code, mishap *failure);

/* A line for the operator: a message of the server was dropped. */
void mishap_mcp_gateway_note(gateway *g, const char *words, mishap_text line);

#endif
