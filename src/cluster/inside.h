/* What the files of this folder share: the store, and its statements. */
#ifndef MISHAP_CLUSTER_INSIDE_H
#define MISHAP_CLUSTER_INSIDE_H

#include "cluster/cluster.h"
#include "mishap/store.h"

struct mishap_cluster {
    mishap_store *store;
};

enum cluster_statement {
    CLUSTER_STATE,
    CLUSTER_KEYS,
    CLUSTER_KEY_ADD,
    CLUSTER_KEY_IS,
    CLUSTER_KEY_REMOVE,
    CLUSTER_KEYS_DISABLE,
    CLUSTER_BLOCKS,
    CLUSTER_BLOCK,
    CLUSTER_UNBLOCK,
    CLUSTER_SECRET_ADD,
    CLUSTER_SECRET,
    CLUSTER_TIMELINES,
    CLUSTER_TIMELINE_KEEP,
    CLUSTER_PARTS,
    CLUSTER_PART_KEEP,
    CLUSTER_DIVIDED,
    CLUSTER_LEASE,
    CLUSTER_BEAT,
    CLUSTER_PEERS,
    CLUSTER_LEAVE,
    CLUSTER_PUBLISH,
    CLUSTER_HEAR,
    CLUSTER_HEAR_SINCE,
    CLUSTER_PRUNE,
    CLUSTER_PRUNE_SERVERS,
    CLUSTER_PRUNE_GONE,
    CLUSTER_PRUNE_CLAIMS,
    CLUSTER_CLAIM,
    CLUSTER_SESSION_KEEP,
    CLUSTER_SESSION_TRIM,
    CLUSTER_SESSION,
    CLUSTER_EVENT_KEEP,
    CLUSTER_EVENTS,
    CLUSTER_PRUNE_SESSIONS,
    CLUSTER_PRUNE_EVENTS,
    CLUSTER_TRIM_EVENTS,
    CLUSTER_STATEMENTS,
};

extern const mishap_store_schema mishap_cluster_schema;

/* keys.c */
mishap *mishap_cluster_read_state(mishap_cluster *cluster, mishap_cluster_state *state);
mishap *mishap_cluster_read_keys(mishap_cluster *cluster,
                                 void (*hear)(void *context, const mishap_cluster_key *key),
                                 void *context);
mishap *mishap_cluster_add_keys(mishap_cluster *cluster, const mishap_cluster_key *keys,
                                size_t count, bool again, size_t *taken);
mishap *mishap_cluster_remove_key(mishap_cluster *cluster, mishap_text name, bool *removed);
mishap *mishap_cluster_disable_keys(mishap_cluster *cluster, bool *disabled);
mishap *mishap_cluster_read_secret(mishap_cluster *cluster,
                                   unsigned char secret[MISHAP_CLUSTER_SECRET]);

/* timelines.c */
void mishap_cluster_survey(mishap_cluster *cluster);
mishap *mishap_cluster_share_timelines(mishap_cluster *cluster);

/* rates.c */
mishap *mishap_cluster_divide(mishap_cluster *cluster, int64_t id, int64_t keep_ms, int64_t *part,
                              void (*lower)(void *context, int64_t part), void *context);
mishap *mishap_cluster_take_leases(mishap_cluster *cluster, const mishap_cluster_rate *rate,
                                   mishap_cluster_lease *leases, size_t count);

/* blocks.c */
mishap *mishap_cluster_read_blocks(mishap_cluster *cluster,
                                   void (*hear)(void *context, mishap_text name, mishap_text since),
                                   void *context);
mishap *mishap_cluster_block(mishap_cluster *cluster, mishap_text name, bool *done);
mishap *mishap_cluster_unblock(mishap_cluster *cluster, mishap_text name, bool *done);

/* notices.c */
mishap *mishap_cluster_beat(mishap_cluster *cluster, const mishap_cluster_peer *own,
                            mishap_text name, int64_t part,
                            char timeline[MISHAP_CLUSTER_TIMELINE + 1]);
mishap *mishap_cluster_list_peers(mishap_cluster *cluster, int64_t id, mishap_cluster_peer *peers,
                                  size_t *count);
mishap *mishap_cluster_leave(mishap_cluster *cluster, int64_t id);
mishap *mishap_cluster_publish(mishap_cluster *cluster, const mishap_cluster_notice *notice);
mishap *mishap_cluster_hear(mishap_cluster *cluster, const mishap_cluster_peer *peers, size_t count,
                            void (*hear)(void *context, const mishap_cluster_notice *notice),
                            void *context);
mishap *mishap_cluster_hear_since(mishap_cluster *cluster, const uint32_t *servers,
                                  const int64_t *changes, size_t count, size_t most,
                                  void (*hear)(void *context, const mishap_cluster_notice *notice),
                                  void *context);
mishap *mishap_cluster_prune(mishap_cluster *cluster, int64_t id, int64_t upto);

/* claims.c */
mishap *mishap_cluster_claim_states(mishap_cluster *cluster, mishap_cluster_claim *claims,
                                    size_t count);

/* sessions.c */
mishap *mishap_cluster_keep_session(mishap_cluster *cluster, mishap_text key, int64_t holder,
                                    mishap_text state);
mishap *mishap_cluster_find_session(mishap_cluster *cluster, mishap_text key,
                                    void (*hear)(void *context, mishap_text state), void *context);
mishap *mishap_cluster_keep_events(mishap_cluster *cluster, const mishap_cluster_event *events,
                                   size_t count);
mishap *mishap_cluster_find_events(mishap_cluster *cluster, mishap_text key, int64_t stream,
                                   int64_t place,
                                   void (*hear)(void *context, const mishap_cluster_event *event),
                                   void *context);
mishap *mishap_cluster_prune_sessions(mishap_cluster *cluster);

#endif
