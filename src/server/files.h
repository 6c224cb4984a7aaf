/* Connections against the limit of open files (ulimit -n), which holds for each process. */
#ifndef MISHAP_SERVER_FILES_H
#define MISHAP_SERVER_FILES_H

#include "server/server.h"

/* Before other processes are started, which inherit it: raise the limit to what the system allows,
 * if settings->max_connections may need that. */
void mishap_http_files_raise(const mishap_http_settings *settings);

/*
 * Hold settings->max_connections against the limit, which is raised if that is needed. A loop has
 * `listening` sockets and up to `others` files of its extensions. Where the limit is too small,
 * fewer connections are taken, and a line on stderr says how many. NOT_CONFIGURED: it leaves none.
 * Also sets settings->most_lingering.
 */
mishap *mishap_http_files_fit(mishap_http_settings *settings, size_t listening, size_t others);

#endif
