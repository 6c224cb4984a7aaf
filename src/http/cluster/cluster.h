/*
 * src/http/cluster: a server that shares API keys, the secret of MCP sessions and notices of
 * changes with other servers (`serve --cluster ADDRESS`).
 *
 *     extension.c  the start of the server, and the extension that has the process
 *     process.c    the process `mishap-cluster`: the only one that talks to the database
 *     files.c      what it has read, as files in the folder `cluster` of the data folder
 *     notices.c    from the changes of this server to rows, and from rows of others to changes
 *     claims.c     which server is the first to take a state
 *     handover.c   sessions that go on at another server
 *     rates.c      this server's part of the rate of each caller, and leases
 *     wake.c       … which a loop tells its clients at once
 *     inside.h     what these files share
 *
 * Loops never wait for the database. They look at the file DATA/cluster/keys as they do at
 * DATA/keys without a cluster, and at the time, in shared memory, at which the process has last
 * seen that it is up to date. What other servers have changed is added to the changes of this
 * server (operation/news.h).
 */
#ifndef MISHAP_HTTP_CLUSTER_CLUSTER_H
#define MISHAP_HTTP_CLUSTER_CLUSTER_H

#include "cluster/cluster.h"
#include "server/server.h"

/* All text lives as long as the server, but for the address, which is copied. */
typedef struct mishap_cluster_plan {
    const mishap_cluster_engine *engine; /* NULL: the program has none */
    const char *program, *address, *data;
    int64_t keys_stale_ms;
    int rate; /* requests a second for each caller; 0: no limit */
} mishap_cluster_plan;

/*
 * Before the server starts: read what it needs, once, and write it to files. *folder is where they
 * are. *rates: for all servers; NULL: there is no limit. Every failure of opening a store, and of
 * writing files: the server does not start.
 */
mishap *mishap_http_cluster_begin(const mishap_cluster_plan *plan, const char **folder,
                                  mishap_http_rates **rates);

/* In every process of the server: when the keys in the file were last known to be those of the
 * cluster (monotonic clock), and for how long they may be used. */
const _Atomic int64_t *mishap_http_cluster_confirmed(void);
int64_t mishap_http_cluster_stale_ns(void);

/* It is in every server, and does nothing unless mishap_http_cluster_begin() was called. */
extern const mishap_http_extension mishap_cluster_over_http;

#endif
