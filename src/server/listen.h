/* The listening sockets of a server: one for each loop at each address of its host. */
#ifndef MISHAP_SERVER_LISTEN_H
#define MISHAP_SERVER_LISTEN_H

#include "server/server.h"

enum {
    MISHAP_HTTP_ADDRESSES = 8,  /* of one host, at most */
    MISHAP_HTTP_BACKLOG = 4096, /* connections that wait to be accepted */
};

/* The sockets that one loop listens on. */
typedef struct mishap_http_sockets {
    int files[MISHAP_HTTP_ADDRESSES];
    int count;
} mishap_http_sockets;

/*
 * Listen on settings->host for as many loops as `sockets` has room for. All sockets of an address
 * share its port, which *port returns. UNAVAILABLE: it failed, and no socket is open.
 *
 * A name may stand for several addresses, as localhost does for 127.0.0.1 and ::1. An address that
 * this machine does not have is left out, as long as there is another.
 */
mishap *mishap_http_listen(const mishap_http_settings *settings, mishap_http_sockets *sockets,
                           int loop_count, int *port);

void mishap_http_sockets_close(mishap_http_sockets *sockets);

/*
 * Close the sockets for every process that has them: from now on new connections are refused.
 * Connections that wait are accepted first and handed to `take`, several at a time; their files are
 * closed after each call.
 *
 * libuv receives at most 64 files in a message, and since version 1.45 at most 60: the kernel
 * closes those for which there is no room.
 */
enum { MISHAP_HTTP_AT_ONCE = 32 };
void mishap_http_sockets_end(mishap_http_sockets *sockets,
                             void (*take)(void *state, const int *files, size_t count),
                             void *state);

/* Send files to another process, with a word. False: its socket has no room for more, or the
 * process is gone. */
bool mishap_http_hand_over(int to, char word, const int *files, size_t count);

/* The address of a server, for people: http://HOST:PORT. For a host that stands for every address
 * of this machine it is the loopback address, and *everywhere is true. */
void mishap_http_put_address(mishap_buffer *buffer, const char *host, int port, bool *everywhere);

/* Say on stderr that the server is ready: its address, and where failures are logged. */
void mishap_http_tell_address(const mishap_http_settings *settings, int port);

#endif
