/* Calls that may become tasks (src/task), and requests about tasks. */
#ifndef MISHAP_HTTP_CALLS_TASKS_H
#define MISHAP_HTTP_CALLS_TASKS_H

#include "http/calls/api.h"

/* Hand the call over to the process of tasks, if the request says `Prefer: respond-async`. False:
 * the loop is to run it; nothing has changed. */
bool mishap_api_task_begin(mishap_api *api, const mishap_http_request *request, mishap_call *call);

/* GET /tasks/:id, GET /tasks/:id/answer, DELETE /tasks/:id */
void mishap_api_task_show(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply);
void mishap_api_task_answer(mishap_http_server *server, const mishap_http_request *request,
                            const mishap_http_match *match, mishap_http_reply *reply);
void mishap_api_task_drop(mishap_http_server *server, const mishap_http_request *request,
                          const mishap_http_match *match, mishap_http_reply *reply);

/* Read a Prefer header: true if it has respond-async; *wait_ms is what it says of `wait`, -1 if it
 * says nothing. */
bool mishap_http_prefer_read(mishap_text value, int *wait_ms);

#endif
