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

/*
 * End them, in every process that has them: from now on who connects is refused. Connections that
 * wait there are accepted first, and handed to `take` as often as it takes; the files are closed
 * behind it.
 *
 * libuv receives at most 64 files in a message, and since version 1.45 at most 60: the kernel
 * closes those for which there is no room.
 */
enum { MISHAP_HTTP_AT_ONCE = 32 };
void mishap_http_sockets_end(mishap_http_sockets *sockets,
                             void (*take)(void *state, const int *files, size_t count),
                             void *state);

/* Send files to another process, with a word. False: there is no room for more on the way to it, or
 * it is gone. */
bool mishap_http_hand_over(int to, char word, const int *files, size_t count);

/* Where a server can be reached, for people: http://HOST:PORT. For a host that stands for every
 * address of this machine it is the one of loopback, and *everywhere is true. */
void mishap_http_put_address(mishap_buffer *buffer, const char *host, int port, bool *everywhere);

/* Say on stderr that the server is ready: where it is, and where to look for what goes wrong. */
void mishap_http_tell_address(const mishap_http_settings *settings, int port);

#endif
