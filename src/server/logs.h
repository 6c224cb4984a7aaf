/* The logs of a server: access.c has the function. */
#ifndef MISHAP_SERVER_LOGS_H
#define MISHAP_SERVER_LOGS_H

#include "server/server.h"

/* In the supervisor, before it starts other processes: begin the processes that write the logs.
 * Sets settings->log to NULL if incidents have none. A log that cannot be opened is a failure. */
mishap *mishap_http_logs_begin(mishap_http_settings *settings);

#endif
