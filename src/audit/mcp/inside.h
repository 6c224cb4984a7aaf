/* What the files of src/audit/mcp share. */
#ifndef MISHAP_AUDIT_MCP_INSIDE_H
#define MISHAP_AUDIT_MCP_INSIDE_H

#include "audit/mcp/mcp.h"
#include "audit/process/process.h"
#include "client/client.h"

/* The checks, in the order of the table. */
enum {
    MCP_INITIALIZE,
    MCP_ANSWERS,
    MCP_ALIVE,
    MCP_STDOUT,
    MCP_JSON,
    MCP_IDS,
    MCP_BOUNDED,
    MCP_HTTP_STATUS,
    MCP_HTTP_TYPE,
    MCP_ERROR_OBJECT,
    MCP_PARSE_ERROR,
    MCP_UNKNOWN_METHOD,
    MCP_MISSING_NAME,
    MCP_UNKNOWN_TOOL,
    MCP_UNKNOWN_TOOL_ERROR,
    MCP_TOOL_LIST,
    MCP_TOOL_SCHEMA,
    MCP_MISSING_REFUSED,
    MCP_TYPE_REFUSED,
    MCP_UNKNOWN_REFUSED,
    MCP_BAD_ARGUMENTS,
    MCP_IS_ERROR,
    MCP_ERROR_TEXT,
    MCP_NAMED,
    MCP_LEAK,
    MCP_ENDS,
};

/* -- tools ------------------------------------------------------------------------------------- */

typedef enum mcp_type {
    MCP_ANY, /* the schema names no type, or more than one */
    MCP_STRING,
    MCP_INTEGER,
    MCP_NUMBER,
    MCP_BOOLEAN,
    MCP_ARRAY,
    MCP_OBJECT,
} mcp_type;

enum { MCP_MOST_ARGUMENTS = 64, MCP_MOST_TOOLS = 500, MCP_MOST_SILENCES = 3 };

typedef struct mcp_argument {
    mishap_text name;
    mcp_type type;
    bool required;
    mishap_text fits; /* JSON of a value that the schema accepts; no data: none is known */
} mcp_argument;

typedef struct mcp_tool {
    mishap_text name;     /* with a NUL behind it */
    const char *fault;    /* a sentence: why the tool or its schema is not valid; NULL: it is */
    bool read_only;       /* annotations.readOnlyHint is true */
    bool destructive;     /* annotations.destructiveHint is true */
    const char *left_out; /* a sentence: why it cannot be called; NULL: it can */
    bool closed;          /* additionalProperties is false */
    bool fillable;        /* a value is known for each required argument */
    size_t required;      /* how many arguments are required */
    mcp_argument *arguments;
    size_t count;
} mcp_tool;

/* Read one item of `tools`. It is not trusted. False: there is no memory. */
bool mishap_audit_mcp_read_tool(mishap_arena *arena, yyjson_val *item, mcp_tool *tool);

/* A value that an argument of this type refuses, and that no reader converts to it; NULL: any value
 * may be accepted. */
const char *mishap_audit_mcp_wrong_value(mcp_type type);

/* -- events ------------------------------------------------------------------------------------ */

/* The data of the next event of a stream; false: there is no complete one any more. */
bool mishap_audit_mcp_next_event(mishap_text *stream, mishap_buffer *data);

/* -- messages ---------------------------------------------------------------------------------- */

typedef enum mcp_end {
    MCP_UNSENT,   /* the budget is used up, this is a dry run, or the connection is gone */
    MCP_ANSWERED, /* `root` is the answer */
    MCP_REFUSED,  /* HTTP has a status from 400 to 499, and no answer of JSON-RPC */
    MCP_SILENT,   /* no answer came in time */
    MCP_GONE,     /* the server has ended, or sends what cannot be read */
} mcp_end;

/* One audit. */
typedef struct mcp_audit {
    mishap_audit *audit;
    const mishap_audit_mcp_target *target;
    int request_ms;
    bool stateless;   /* the server knows only 2026-07-28: no initialize, no ping */
    char version[32]; /* the revision that was negotiated; "": not yet */

    /* The message that is under way. */
    const char *place;
    mishap_text sent;
    int64_t id;         /* … 0: it has none, and any error without an id answers it */
    int64_t last_id;    /* of all messages */
    const char *method; /* for header fields … */
    const char *name;   /* … of 2026-07-28: the tool; NULL: none */

    /* Its answer. */
    mishap_buffer line;
    mishap_json_reader reader;
    yyjson_val *root;
    int status;    /* of HTTP */
    mishap *cause; /* why there is none, over HTTP */

    bool gone;    /* nothing more can be sent */
    bool starved; /* there was no memory: what was seen is no fault of the server */
    bool misled;  /* an answer had an id that was not sent, while this message waits */
    int silences; /* requests without an answer: each costs a whole time limit */
    mishap_audit_process process;
    size_t taken; /* bytes of process.out that were read */
    bool started;
    mishap_client *client;
    mishap_client_response response;
    char session[512]; /* Mcp-Session-Id; "": none */

    mcp_tool *tools;
    size_t tool_count;
    bool has_tools; /* the server declares the capability */
} mcp_audit;

/* Send a message that has the id m->id, and wait for its answer, at most `wait_ms`. */
mcp_end mishap_audit_mcp_exchange(mcp_audit *m, const char *place, const char *method,
                                  mishap_text message, int wait_ms);

/* The same for a method with these params (a JSON object), under a new id. */
mcp_end mishap_audit_mcp_request(mcp_audit *m, const char *place, const char *method,
                                 mishap_text params, int wait_ms);

/* Send a notification. */
void mishap_audit_mcp_notify(mcp_audit *m, const char *method, const char *params);

/* The transports. Opening fails if there is no server at all. */
mishap *mishap_audit_mcp_open_stdio(mcp_audit *m);
mishap *mishap_audit_mcp_open_http(mcp_audit *m);
mcp_end mishap_audit_mcp_over_stdio(mcp_audit *m, mishap_text message, int wait_ms);
mcp_end mishap_audit_mcp_over_http(mcp_audit *m, mishap_text message, int wait_ms);
void mishap_audit_mcp_end_stdio(mcp_audit *m);
void mishap_audit_mcp_end_http(mcp_audit *m);

/* A message from the server, in m->line. True: it is the answer that is waited for. */
bool mishap_audit_mcp_take(mcp_audit *m);

/* -- judging ----------------------------------------------------------------------------------- */

/* Judge the message that was sent last; the finding shows it and its answer. */
__attribute__((format(printf, 5, 6))) void mishap_audit_mcp_judge(mcp_audit *m, int check,
                                                                  mishap_audit_outcome outcome,
                                                                  const char *key,
                                                                  const char *format, ...);

/* An answer that is an error or a result with isError: its object, its text, leaks. */
void mishap_audit_mcp_judge_answer(mcp_audit *m);

/* A message has no answer: the server is silent, gone, or has refused it over HTTP. */
void mishap_audit_mcp_judge_no_answer(mcp_audit *m, mcp_end end);

/* The code of an error; 0: the answer has no error with an integer code. */
int64_t mishap_audit_mcp_code(const mcp_audit *m);
bool mishap_audit_mcp_is_error_result(const mcp_audit *m);

/* The calls of one tool. */
void mishap_audit_mcp_probe_tool(mcp_audit *m, const mcp_tool *tool);

#endif
