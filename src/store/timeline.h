/*
 * The timelines of PostgreSQL servers, as this server has seen them.
 *
 * When a standby is promoted, PostgreSQL begins a new timeline, with a higher number. If the old
 * primary comes back as a primary, it has the same rows, the same identity and a lower timeline:
 * there would be two truths. So the highest timeline that any process of this server has used is
 * kept in the file `timelines` of the data folder, for each PostgreSQL cluster (its system
 * identifier: a restored dump or pg_upgrade makes another cluster, whose timelines begin anew).
 * A process may use a primary only if its timeline is not lower. Servers of a cluster tell each
 * other the timelines that they have kept (src/cluster/timelines.c).
 *
 * A record is a line of fixed length, which is written in place under a lock of the file. So a
 * process can look with one read whether another process has seen a higher timeline since.
 */
#ifndef MISHAP_STORE_TIMELINE_H
#define MISHAP_STORE_TIMELINE_H

#include "mishap/mishap.h"

typedef struct store_timelines {
    int file;         /* -1: there is no folder, or it cannot be written: only this process knows */
    int64_t at;       /* where the record of the cluster is; -1: none */
    uint64_t cluster; /* the system identifier; 0: not known, and nothing is refused */
    uint32_t timeline; /* the highest that this process knows of it */
} store_timelines;

/* `folder` may be NULL. */
void mishap_timelines_open(store_timelines *t, const char *folder);
void mishap_timelines_close(store_timelines *t);

/* A primary of this cluster is about to be used. False: a higher timeline was seen before, which
 * *highest then is. If it returns true, the timeline is on the disk. */
bool mishap_timelines_admit(store_timelines *t, uint64_t cluster, uint32_t timeline,
                            uint32_t *highest);

/* What is known of a PostgreSQL cluster. */
typedef struct store_timeline {
    uint64_t cluster;
    uint32_t timeline;
} store_timeline;

enum { STORE_TIMELINES = 1000 }; /* that are kept */

/* The records of the file, at most `most`: how many there are. */
size_t mishap_timelines_list(const store_timelines *t, store_timeline *out, size_t most);

/* Another server has used this timeline. If it is higher than that which is kept, it is kept, and
 * processes that use a lower one are overtaken. */
void mishap_timelines_learn(store_timelines *t, store_timeline told);

/* True if another process of this server has seen a higher timeline since. */
bool mishap_timelines_overtaken(const store_timelines *t);

#endif
