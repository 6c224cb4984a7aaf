/*
 * Calls of operations: how they begin, what they report while they run, and how they end.
 *
 *     flight.c    calls that run
 *     report.c    their progress and log messages
 *     recorded.c  the records of their failures
 *     resource.c  is there something to read at an address?
 *     tasks.c     calls that may become tasks, and questions about tasks
 *     parked.c    calls that wait for the answer of their client to a question
 */
#ifndef MISHAP_MCP_CALLS_FLIGHT_H
#define MISHAP_MCP_CALLS_FLIGHT_H

#include "mcp/calls/peer.h"
#include "mcp/calls/result.h"
#include "task/task.h"
#include "worker/loop/runner.h"

/* What a call waits for that has asked its client. */
typedef struct mishap_mcp_parked {
    const struct mishap_asked *asked; /* the question; NULL: the call is not parked */
    uint64_t number;                  /* … and its number in the conversation */
    int64_t since_ns;
    mishap_buffer answers; /* to earlier questions of the same run: members of an object */
} mishap_mcp_parked;

/* A call that waits or runs. */
struct mishap_mcp_flight {
    mishap_run run; /* the first member */
    mishap_mcp_peer *peer;
    mishap_mcp_channel *channel;
    mishap_mcp_flight *next, *previous;
    const mishap_mcp_server *server;
    mishap_mcp_asked asked;     /* … with its own copy of the URI */
    mishap_text id;             /* the id of the request, as JSON; its own copy */
    mishap_text progress_token; /* as JSON; no data: none */
    bool logs;                  /* the client wants log messages of `level` and above */
    mishap_level level;
    mishap_watcher watcher;
    mishap_mcp_parked parked;
    mishap_task_wait wait; /* for the process of tasks … */
    bool waits;            /* … which has the call, or a question */
    mishap_task_wish wish; /* … this one; then there is no call */
    bool gives;            /* … or answers */
    char incident[MISHAP_ID_LENGTH + 1];
    int removed;          /* stack traces that were taken out of its messages */
    mishap_buffer latest; /* progress that came too soon after the last one: its params */
    double progress;
    int64_t begun_ns;    /* when it came */
    int64_t progress_ns; /* when progress was sent last */
    int64_t window_ns;   /* the start of the interval in which log messages are counted … */
    size_t window_count; /* … and their number */
};

/*
 * Begin a call with the arguments, an object. An argument that the operation does not have is
 * refused. If the call is over at once (quick, or refused), `result` has its outcome
 * (request->outcome). Else a flight was started, which answers later (request->later).
 */
typedef struct mishap_mcp_arguments {
    yyjson_val *object; /* as they were sent; NULL: none, or they are elsewhere in the message */
    const mishap_buffer *spelled; /* … as JSON of the right types, if that differs */
    bool mended; /* they were changed while reading (mishap_mcp_message): refused */
} mishap_mcp_arguments;
/* Say where a call comes from. The texts must live as long as the call; `id` may be NULL. */
void mishap_mcp_come_from(mishap_call *call, const char *id, mishap_text remote);

/* FORBIDDEN unless the caller has the scopes that an offer needs. Over HTTP the status is 403, and
 * the head of the response names the scopes. */
mishap *mishap_mcp_flight_permit(mishap_mcp_request *request, const mishap_mcp_offer *offer);

void mishap_mcp_flight_begin(mishap_mcp_request *request, const mishap_mcp_asked *offered,
                             const mishap_mcp_arguments *arguments, mishap_buffer *result);

/* Send the progress that was held back to its channel (report.c). */
void mishap_mcp_flight_report(mishap_mcp_flight *flight);

/* Before the handler begins, and when nothing more will be reported of it. */
void mishap_mcp_report_begin(mishap_mcp_flight *flight, const mishap_mcp_request *request);
void mishap_mcp_report_end(mishap_mcp_flight *flight);

/* The client does not wait for it any more: no response is sent. Its handler is told
 * (mishap_cancelled). The flight is freed. */
void mishap_mcp_flight_cancel(mishap_mcp_flight *flight);
mishap_mcp_flight *mishap_mcp_flight_find(const mishap_mcp_peer *peer, mishap_text id);

/* Run its call, at once or in a worker. NULL, or why it does not run; then nothing has happened. */
mishap *mishap_mcp_flight_run(mishap_mcp_flight *flight);

/* It is over: send the response, and free it. Takes the failure. */
void mishap_mcp_flight_done(mishap_mcp_flight *flight, mishap *failure);
/* The same with a response that was written. `code`: of a failure, or NULL. */
void mishap_mcp_flight_respond(mishap_mcp_flight *flight, const mishap_buffer *members,
                               mishap_mcp_outcome outcome, const mishap_code *code);
/* A flight without a call. NULL: there is no memory, or there are too many. */
mishap_mcp_flight *mishap_mcp_flight_make_empty(const mishap_mcp_request *request);
/* Count a call that is over. */
void mishap_mcp_flight_count(const mishap_mcp_flight *flight, const mishap_code *code);

/* -- calls that wait for an answer of their client (parked.c) ------------------------------------
 */

/* A run has ended with questions: ask the client. False: it cannot be asked, and the call is over
 * with this failure, which may have changed. Else the failure was freed. */
bool mishap_mcp_park(mishap_mcp_flight *flight, mishap **failure);
static inline bool mishap_mcp_is_parked(const mishap_mcp_flight *flight)
{
    return flight->parked.asked;
}

/* A response of the client: for a call of this peer, or of another one of its conversation. */
void mishap_mcp_take_response(mishap_mcp_peer *peer, const mishap_mcp_message *message);

/* The response to the question of a parked call, as its peer has handed it over; no data: it was
 * lost, and the question is asked again. The flight may be freed. */
void mishap_mcp_parked_answer(mishap_mcp_flight *flight, mishap_text answer);

/* Several times per second: end the call if its client had enough time. The flight may be freed. */
void mishap_mcp_parked_look(mishap_mcp_flight *flight, int64_t now_ns);

/* No answer can come any more: end all parked calls with this failure, which is taken. */
void mishap_mcp_parked_end_all(mishap_mcp_peer *peer, mishap *(*why)(void));

/* Tell the client that nothing waits for its answer. The flight ends next. */
void mishap_mcp_parked_withdraw(mishap_mcp_flight *flight);

/* -- tasks (tasks.c) ----------------------------------------------------------------------------
 */

/* The extension io.modelcontextprotocol/tasks: is it there, and has the client declared it in this
 * message? */
bool mishap_mcp_has_tasks(const mishap_mcp_server *server);

/* Hand the call of a tool over to the process of tasks, if its client takes one. False: nothing has
 * changed. */
bool mishap_mcp_task_begin(mishap_mcp_flight *flight, const mishap_mcp_message *message);

/* True if the client has declared the extension in this message; what it is told if not. */
bool mishap_mcp_tasks_declared(const mishap_mcp_message *message);
mishap *mishap_mcp_lacks_tasks(mishap_mcp_request *request);

/* NULL unless the tool is `.task_only` and the client takes no task. */
mishap *mishap_mcp_task_permit(mishap_mcp_request *request, const mishap_mcp_offer *offer);

/* The caller, as the process of tasks knows it. */
mishap_task_asker mishap_mcp_task_asker(const mishap_mcp_peer *peer);

/* Write the members of a task as tasks/get answers them: with what it asks, as far as the client
 * can answer it (the revision and capabilities of `asked`), and with its result if it has completed
 * and its outcome was asked for. A failure: the caller may not have it, or it cannot be read. */
mishap *mishap_mcp_put_task(mishap_buffer *b, const mishap_mcp_peer *peer,
                            const mishap_mcp_asked *asked, const mishap_task_told *told);

/* The methods tasks/get, tasks/cancel and tasks/update. */
mishap_mcp_method mishap_mcp_tasks_get, mishap_mcp_tasks_cancel, mishap_mcp_tasks_update;

/* The method logging/setLevel. */
mishap_mcp_method mishap_mcp_set_level;

/* -- resources (resource.c) ---------------------------------------------------------------------
 */

/* True if there is something to read, or may be: its variables pass the checks, and a quick handler
 * was asked and did not answer that there is nothing. */
bool mishap_mcp_resource_exists(mishap_mcp_peer *peer, mishap_text uri);

/* The failure of a request for a resource that does not exist, with its code and `uri` in
 * `data`. */
mishap *mishap_mcp_no_resource(mishap_mcp_request *request, mishap_text uri);

#endif
