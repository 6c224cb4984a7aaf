/* The sockets that a server listens on: for each loop one at each address of its host. */
#ifndef MISHAP_SERVER_LISTEN_H
#define MISHAP_SERVER_LISTEN_H

#include "server/server.h"

enum {
    MISHAP_HTTP_ADDRESSES = 8,  /* of one host, at most */
    MISHAP_HTTP_BACKLOG = 4096, /* connections that wait to be accepted */
};

/* What one loop listens on. */
typedef struct mishap_http_sockets {
    int files[MISHAP_HTTP_ADDRESSES];
    int count;
} mishap_http_sockets;

/*
 * Listen on settings->host for as many loops as `sockets` has room for. All sockets of an address
 * share its port, *port says which. UNAVAILABLE if it cannot be done; then none is open.
 *
 * A name may stand for several addresses, as localhost does for 127.0.0.1 and ::1. One that this
 * machine does not have is left out, as long as there is another.
 */
mishap *mishap_http_listen(const mishap_http_settings *settings, mishap_http_sockets *sockets,
                           int loop_count, int *port);

void mishap_http_sockets_close(mishap_http_sockets *sockets);

#endif
