/* Calls that may become tasks (src/task), and requests about tasks. */
#ifndef MISHAP_HTTP_CALLS_TASKS_H
#define MISHAP_HTTP_CALLS_TASKS_H

#include "http/calls/api.h"
#include "task/task.h"

/* Hand the call over to the process of tasks, if the request says `Prefer: respond-async` or the
 * operation is `.task_only`. False: the loop is to run it; nothing has changed. */
bool mishap_api_task_begin(mishap_api *api, const mishap_http_request *request, mishap_call *call);

/* GET /tasks/:id, GET /tasks/:id/answer, POST /tasks/:id/answers, DELETE /tasks/:id */
void mishap_api_task_show(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply);
void mishap_api_task_answer(mishap_http_server *server, const mishap_http_request *request,
                            const mishap_http_match *match, mishap_http_reply *reply);
void mishap_api_task_drop(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply);
void mishap_api_task_give(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply);

/* -- task_streams.c ---------------------------------------------------------------------------- */

/* GET /tasks/:id of a reader of events. False: it is none, and nothing has changed. */
bool mishap_api_task_stream(mishap_api *api, const mishap_http_request *request, mishap_text id);

/* Several times per second; and when the loop ends soon. */
void mishap_api_task_streams_tick(mishap_api *api);
void mishap_api_task_streams_drain(mishap_api *api);

/* -- tasks.c, for both ------------------------------------------------------------------------- */

mishap_task_asker mishap_api_task_asker(const mishap_http_request *request);

/* The state of a task as JSON. How far it is stands there only for a caller with the scopes of its
 * operation: that says something of its answer. */
void mishap_api_task_put(mishap_buffer *b, const mishap_api *api,
                         const mishap_http_request *request, const mishap_task_told *told);

/* A question about a task has no answer. */
mishap *mishap_api_task_refused(const mishap_task_reply *reply);

/* -- the header field -------------------------------------------------------------------------- */

/* Read a Prefer header: true if it has respond-async; *wait_ms is what it says of `wait`, -1 if it
 * says nothing. */
bool mishap_http_prefer_read(mishap_text value, int *wait_ms);

#endif
