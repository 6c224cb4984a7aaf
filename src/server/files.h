/* Connections against the limit of open files (ulimit -n), which holds for each process. */
#ifndef MISHAP_SERVER_FILES_H
#define MISHAP_SERVER_FILES_H

#include "server/server.h"

/* Called before other processes are started, which inherit the limit: raise it as far as the system
 * allows, if settings->max_connections may need that. */
void mishap_http_files_raise(const mishap_http_settings *settings);

/*
 * Compare settings->max_connections with the limit, and raise the limit if needed. A loop has
 * `listening` sockets and up to `others` files of its extensions. If the limit is too low, fewer
 * connections are accepted, and a line on stderr says how many. NOT_CONFIGURED: none could be
 * accepted. Also sets settings->most_lingering.
 */
mishap *mishap_http_files_fit(mishap_http_settings *settings, size_t listening, size_t others);

#endif
