/*
 * Counters that worker processes write and loops read: of what happens in workers, such as queries
 * to a store. They lie in a page of shared memory of their own, which workers keep
 * (base/shared.h). A worker that is damaged can write wrong numbers into it, and nothing else: they
 * are shown as metrics and used for nothing.
 */
#ifndef MISHAP_BASE_TALLY_H
#define MISHAP_BASE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mishap_tally {
    MISHAP_TALLY_SQLITE_QUERIES,
    MISHAP_TALLY_SQLITE_FAILURES,
    MISHAP_TALLY_POSTGRESQL_QUERIES,
    MISHAP_TALLY_POSTGRESQL_FAILURES,
    MISHAP_TALLY_STANDBY_QUERIES, /* of PostgreSQL; counted there, too */
    MISHAP_TALLIES,
} mishap_tally;

/* For the supervisor, before it forks processes; nothing is counted before. False: there is no
 * memory, and nothing will be counted. */
bool mishap_tallies_begin(void);
void mishap_tallies_end(void);

/* In any process, on any thread. */
void mishap_tally_add(mishap_tally tally);
uint64_t mishap_tally_read(mishap_tally tally);

#endif
