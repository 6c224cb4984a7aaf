/*
 * A server that was told to stop and still serves the sessions that have begun, for
 * settings->sessions_ms at most (`serve --drain-minutes`). It begins no other session, tells those
 * that it has when they end, and stops as soon as none is left.
 */
#ifndef MISHAP_SERVER_ENDING_H
#define MISHAP_SERVER_ENDING_H

#include "server/server.h"

/* For how many milliseconds sessions are served, at most; -1: sessions may begin. */
int64_t mishap_http_sessions_end_in(const mishap_http_server *server);

/* The field Mishap-Session-Ends of a response: the session of the request ends in so many seconds,
 * at the latest. */
extern const char mishap_http_ends_field[];
void mishap_http_reply_ends(mishap_http_reply *reply, int64_t seconds);

#endif
