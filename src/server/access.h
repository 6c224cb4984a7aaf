/* The log of requests: access.c. */
#ifndef MISHAP_SERVER_ACCESS_H
#define MISHAP_SERVER_ACCESS_H

#include "server/server.h"

/* In the supervisor, before it starts other processes: begin the processes that write the logs.
 * Sets settings->log to NULL if incidents have none. A log that cannot be opened is a failure. */
mishap *mishap_http_logs_begin(mishap_http_settings *settings);

/* One JSON object per line. Lines are gathered, and written when there are many or a moment has
 * passed. In a server another process writes them (incident/logs.h). */
typedef struct mishap_http_access mishap_http_access;
mishap *mishap_http_access_open(const char *file,
                                mishap_http_access **out); /* NULL file: *out NULL */
void mishap_http_access_add(mishap_http_access *access, const mishap_http_request *request,
                            const mishap_http_reply *reply, size_t sent, int64_t now_ns);
void mishap_http_access_flush(mishap_http_access *access);
void mishap_http_access_reopen(mishap_http_access *access); /* after the file was rotated */
void mishap_http_access_close(mishap_http_access *access);

#endif
