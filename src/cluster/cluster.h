/*
 * src/cluster: what the servers of a cluster share, in the schema `mishap` of a PostgreSQL
 * database.
 *
 *     cluster.h     this file: the engine as servers and commands use it
 *     tables.c      the tables and statements
 *     postgresql.c  opening and closing; the engine
 *     keys.c        API keys, and the secret of MCP sessions
 *     timelines.c   which primaries of PostgreSQL were replaced
 *     rates.c       what each server has of the rate of a caller
 *     blocks.c      callers that are blocked
 *     notices.c     which servers there are, and what has changed at each
 *     claims.c      states of questions that were used
 *     sessions.c    sessions of MCP, with which another server can go on
 *
 * It lies in the library of src/store, which a program need not link: so the code that uses it
 * (src/http/cluster) has only this table of functions, which a program hands in as `.cluster` of
 * its mishap_app. All rows may have been written by hand: a reader checks every value.
 *
 * Who writes: keys are written by commands. Each server writes its row in `servers` and its
 * notices, from one process over one connection, with numbers that go up by one. So a reader knows
 * by the numbers alone whether it has missed a notice, even after the database has crashed.
 */
#ifndef MISHAP_CLUSTER_CLUSTER_H
#define MISHAP_CLUSTER_CLUSTER_H

#include "mishap/mishap.h"

typedef struct mishap_cluster mishap_cluster;

enum {
    MISHAP_CLUSTER_SECRET = 32,     /* bytes */
    MISHAP_CLUSTER_PEERS = 64,      /* other servers, at most */
    MISHAP_CLUSTER_TIMELINE = 8,    /* characters */
    MISHAP_CLUSTER_ROWS = 500,      /* notices that are read at once */
    MISHAP_CLUSTER_KEYS = 100000,   /* keys that are read */
    MISHAP_CLUSTER_BLOCKS = 40000,  /* callers that are blocked */
    MISHAP_CLUSTER_WHOLE = 1000000, /* what servers divide */
    MISHAP_CLUSTER_LEASES = 256,    /* callers for whom something is leased at once */
    MISHAP_CLUSTER_EVENTS = 1000,   /* events of a stream that are read at once */
    MISHAP_CLUSTER_CLAIMS = 64,     /* states that are claimed at once */
    MISHAP_CLUSTER_SESSIONS = 512,  /* sessions of a caller that are stored */
};

/* A key, as it is stored. When it is read, none of it has been checked. The hash is bytes. A key
 * that is added without a time is created now. Empty scopes: those that a key has for which none
 * are given (http/keys/file.h). */
typedef struct mishap_cluster_key {
    mishap_text name, hash, created, scopes;
} mishap_cluster_key;

/* What counts for all keys. The version grows with each change by a command. */
typedef struct mishap_cluster_state {
    int64_t version;
    bool used, disabled; /* there was a key at some time; `keys disable` was the last word */
} mishap_cluster_state;

/* Another server, the number of its last notice, and how many changes it has told with that. It is
 * silent if its last heartbeat is more than five seconds old. */
typedef struct mishap_cluster_peer {
    int64_t id, last, changes;
    bool silent;
} mishap_cluster_peer;

/* The n-th notice of a server: the addresses of its changes behind the number `since`, up to the
 * number `changes`, each with a NUL behind it. */
typedef struct mishap_cluster_notice {
    int64_t server, n, since, changes;
    mishap_text addresses;
} mishap_cluster_notice;

/* An event of a session: see operation/handover.h. `server` has stored it. */
typedef struct mishap_cluster_event {
    mishap_text session; /* its key */
    int64_t holder, server, stream, place, flags, scopes;
    mishap_text data;
} mishap_cluster_event;

/* A rate: the interval of a request, and how far the word of a caller may lie ahead of now. */
typedef struct mishap_cluster_rate {
    int64_t each_ns, ahead_ns;
} mishap_cluster_rate;

/* Requests of a caller, who is a number. */
typedef struct mishap_cluster_lease {
    int64_t place, wanted, granted;
} mishap_cluster_lease;

/* A state of a question (operation/claims.h). `first`: no server has claimed it before. */
typedef struct mishap_cluster_claim {
    int64_t number, expires_ms;
    bool first;
} mishap_cluster_claim;

typedef struct mishap_cluster_engine {
    /* The schema is made if it is not there. `folder`: the data of the server, in which it keeps
     * the timelines that it has seen; NULL: none. Failures: as of mishap_store_open(). */
    mishap *(*open)(const char *address, const char *folder, mishap_cluster **out);
    void (*close)(mishap_cluster *cluster); /* NULL: nothing happens */

    /* -- keys.c -- */
    mishap *(*state)(mishap_cluster *cluster, mishap_cluster_state *state);
    mishap *(*keys)(mishap_cluster *cluster,
                    void (*hear)(void *context, const mishap_cluster_key *key), void *context);
    /* All of them or none. *taken: which one has a name or a key that exists already; `count` if
     * there is none. One that exists exactly so is no such one if `again`. */
    mishap *(*add)(mishap_cluster *cluster, const mishap_cluster_key *keys, size_t count,
                   bool again, size_t *taken);
    mishap *(*remove)(mishap_cluster *cluster, mishap_text name, bool *removed);
    mishap *(*disable)(mishap_cluster *cluster, bool *disabled); /* false: there are keys */
    mishap *(*secret)(mishap_cluster *cluster, unsigned char secret[MISHAP_CLUSTER_SECRET]);

    /* -- timelines.c -- */
    /* Call it often: it asks the hosts of the address, and does not wait for them. */
    void (*survey)(mishap_cluster *cluster);
    /* Tell the other servers the timelines that this one has kept, and keep theirs. */
    mishap *(*timelines)(mishap_cluster *cluster);

    /* -- rates.c -- */
    /* Servers divide a whole, in millionths. *part: what this server has, which becomes an equal
     * part of all servers that were alive in the last `keep_ms`, but not more than what is free.
     * `lower` is called before a part becomes smaller, and *part is larger only after that was
     * stored: so the parts of all servers are never more than the whole. */
    mishap *(*divide)(mishap_cluster *cluster, int64_t id, int64_t keep_ms, int64_t *part,
                      void (*lower)(void *context, int64_t part), void *context);
    /* Lease as many requests as possible of those that are wanted, for each place; `granted` is how
     * many there are then. */
    mishap *(*lease)(mishap_cluster *cluster, const mishap_cluster_rate *rate,
                     mishap_cluster_lease *leases, size_t count);

    /* -- blocks.c -- */
    /* Their version is that of the keys. *done false: the caller is blocked already, or is not. */
    mishap *(*blocks)(mishap_cluster *cluster,
                      void (*hear)(void *context, mishap_text name, mishap_text since),
                      void *context);
    mishap *(*block)(mishap_cluster *cluster, mishap_text name, bool *done);
    mishap *(*unblock)(mishap_cluster *cluster, mishap_text name, bool *done);

    /* -- notices.c -- */
    /* The server `id` is alive, its last notice was `last`, and it has this part of what servers
     * divide. The timeline of the database changes when a standby takes over. */
    mishap *(*beat)(mishap_cluster *cluster, const mishap_cluster_peer *own, mishap_text name,
                    int64_t part, char timeline[MISHAP_CLUSTER_TIMELINE + 1]);
    mishap *(*peers)(mishap_cluster *cluster, int64_t id, mishap_cluster_peer *peers,
                     size_t *count);
    mishap *(*leave)(mishap_cluster *cluster, int64_t id);
    mishap *(*publish)(mishap_cluster *cluster, const mishap_cluster_notice *notice);
    /* The notices of these servers after their `last`, by server and number. */
    mishap *(*hear)(mishap_cluster *cluster, const mishap_cluster_peer *peers, size_t count,
                    void (*hear)(void *context, const mishap_cluster_notice *notice),
                    void *context);
    /* Those of all servers that have changes behind these numbers, in the order of the servers. The
     * lower half of a server's number names it; one that is not named has none that are known.
     * `most` notices at most. */
    mishap *(*hear_since)(mishap_cluster *cluster, const uint32_t *servers, const int64_t *changes,
                          size_t count, size_t most,
                          void (*hear)(void *context, const mishap_cluster_notice *notice),
                          void *context);
    /* Remove the notices of a server up to this number, what servers have left that are gone, and
     * the states that were claimed and have expired an hour ago or earlier. */
    mishap *(*prune)(mishap_cluster *cluster, int64_t id, int64_t upto);

    /* -- claims.c -- */
    /* Claim at most MISHAP_CLUSTER_CLAIMS states. A failure: any of them may be claimed now. The
     * database has three seconds. */
    mishap *(*claim)(mishap_cluster *cluster, mishap_cluster_claim *claims, size_t count);

    /* -- sessions.c -- */
    /* The state of a session, by its key; those of the same holder that were stored longest ago are
     * removed if there are too many. */
    mishap *(*keep_session)(mishap_cluster *cluster, mishap_text key, int64_t holder,
                            mishap_text state);
    /* `hear` is called once, or not at all. */
    mishap *(*find_session)(mishap_cluster *cluster, mishap_text key,
                            void (*hear)(void *context, mishap_text state), void *context);
    /* All of them or none; one that is there already stays as it is. */
    mishap *(*keep_events)(mishap_cluster *cluster, const mishap_cluster_event *events,
                           size_t count);
    /* Those of a stream behind a place, with what has the place 0. */
    mishap *(*find_events)(mishap_cluster *cluster, mishap_text key, int64_t stream, int64_t place,
                           void (*hear)(void *context, const mishap_cluster_event *event),
                           void *context);
    /* Remove what is old, and what is too much. */
    mishap *(*prune_sessions)(mishap_cluster *cluster);
} mishap_cluster_engine;

#endif
