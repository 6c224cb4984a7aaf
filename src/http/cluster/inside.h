/* What the files of this folder share. */
#ifndef MISHAP_HTTP_CLUSTER_INSIDE_H
#define MISHAP_HTTP_CLUSTER_INSIDE_H

#include <stdatomic.h>

#include "base/buffer.h"
#include "http/cluster/cluster.h"
#include "operation/handover.h"
#include "operation/news.h"

enum { CLUSTER_PATH = 4096, CLUSTER_NAME = 64 };

/* Memory that all processes of the server share. */
struct cluster_page {
    _Atomic int64_t confirmed_ns;
};

/* Written by the supervisor before it forks any process. */
typedef struct cluster_own {
    mishap_cluster_plan plan;
    char address[CLUSTER_PATH], folder[CLUSTER_PATH], name[CLUSTER_NAME];
    bool wanted;
    int parent; /* the supervisor */
    struct cluster_page *page;
    mishap_news *news; /* the changes of this server */
    const struct mishap_served *served;
    uint64_t number;          /* of the cluster, which only its servers know */
    mishap_http_rates *rates; /* NULL: there is no limit */
    int64_t version;          /* of the keys that were written last; -1: none were */
} cluster_own;
extern cluster_own mishap_cluster_own;

/* -- files.c ----------------------------------------------------------------------------------- */

/* Make the folder, and write the secret of MCP sessions if it is another one than before. */
mishap *mishap_cluster_write_secret(mishap_cluster *cluster);

/* Write the keys and the blocked callers if they have changed since `version`, or in any case if
 * that is -1. *version is the one that was written. *odd: how many rows were left out, because they
 * are no keys. */
mishap *mishap_cluster_write_keys(mishap_cluster *cluster, int64_t *version, size_t *odd);

/* -- process.c --------------------------------------------------------------------------------- */

/* Runs until it is to end. */
void mishap_cluster_run(void);

/* -- wake.c, in each loop ---------------------------------------------------------------------- */

/* For the hooks of the extension with these names. */
mishap *mishap_cluster_wake_open(mishap_http_server *server, void *shared, void **state);
void mishap_cluster_wake_close(void *state);

/* -- rates.c ----------------------------------------------------------------------------------- */

typedef struct cluster_rates {
    int64_t part; /* of this server, as the others know it; more than that is never used */
    int64_t lease_due_ms;
} cluster_rates;

/* A process that begins has nothing: the part of the one before is still that one's. */
void mishap_cluster_rates_begin(cluster_rates *rates);

/* After a heartbeat: an equal part of the rate for each server. */
mishap *mishap_cluster_rates_divide(cluster_rates *rates, mishap_cluster *cluster, int64_t id);

/* Lease for the callers that need it, ten times a second. */
mishap *mishap_cluster_rates_lease(cluster_rates *rates, mishap_cluster *cluster, int64_t now_ms);

/* -- notices.c --------------------------------------------------------------------------------- */

typedef struct cluster_notices cluster_notices;

/* NULL: no memory. */
cluster_notices *mishap_cluster_notices_make(mishap_news *news);

/* Send what has changed at this server, and read what has changed at others. *any: there was
 * something. A failure: it is tried again the next time, and nothing is lost. */
mishap *mishap_cluster_notices_turn(cluster_notices *notices, mishap_cluster *cluster, bool *any);

/* True if something has changed at this server that was not sent yet. */
bool mishap_cluster_notices_wait(const cluster_notices *notices);

/* Tell the others that this server is alive and has this part of rates, and find out which others
 * there are. */
mishap *mishap_cluster_notices_beat(cluster_notices *notices, mishap_cluster *cluster,
                                    int64_t part);

/* Send what has changed at this server. */
mishap *mishap_cluster_notices_send(cluster_notices *notices, mishap_cluster *cluster);

/* Up to which change this server has heard of each, itself first. */
void mishap_cluster_notices_position(const cluster_notices *notices, mishap_position *position);

/* True if this server is another one that is not silent. */
bool mishap_cluster_notices_alive(const cluster_notices *notices, int64_t id);

/* The number of this server. */
int64_t mishap_cluster_notices_id(const cluster_notices *notices);

/* Send the last ones, and leave. */
mishap *mishap_cluster_notices_end(cluster_notices *notices, mishap_cluster *cluster);

/* -- claims.c ---------------------------------------------------------------------------------- */

typedef struct cluster_claims {
    int64_t not_before; /* nothing is asked until then */
} cluster_claims;

/* Decide the claims of loops. */
mishap *mishap_cluster_claims_turn(cluster_claims *claims, mishap_cluster *cluster, int64_t now_ms);

/* The database is away: those that wait are not known. */
void mishap_cluster_claims_fail(void);

/* -- handover.c -------------------------------------------------------------------------------- */

typedef struct cluster_handover {
    uint64_t seen; /* what has been looked at */
    bool waits;    /* a stream waits for another server */
    int64_t due, prune_due, renew_due;
} cluster_handover;

/* Store what has changed in sessions, and look for what clients wait for that have come back. */
mishap *mishap_cluster_handover_turn(cluster_handover *handover, cluster_notices *notices,
                                     mishap_cluster *cluster, int64_t now_ms);

/* The database is away. Sessions that this server knows do not wait for it: anything may have
 * changed. */
void mishap_cluster_handover_fail(cluster_handover *handover);

/* Judge the addresses of a row, each with a NUL behind it: the next one, which is taken away.
 * False: there is none. *sound false: the row is no such list, and anything may have changed. */
bool mishap_cluster_next_address(mishap_text *row, mishap_text *address, bool *sound);

#endif
