/*
 * Counts about the journal that the processes of a server share: written by mishap-log and by the
 * readers of the journal (the index, the export to a collector), read by loops for /health and
 * /metrics.
 *
 * The memory begins zeroed with the logs (logs.h). Each member has one process that writes it,
 * except where it says otherwise. A reader that starts anew goes on with the counts that are there.
 */
#ifndef MISHAP_INCIDENT_READERS_H
#define MISHAP_INCIDENT_READERS_H

#include <stdatomic.h>
#include <stdint.h>

/* What a reader of the journal does. */
typedef enum mishap_reader_state {
    MISHAP_READER_OFF,      /* it is not wanted, or has not begun */
    MISHAP_READER_FOLLOWS,  /* as it should */
    MISHAP_READER_RETRIES,  /* it cannot store or send now, and will try again */
    MISHAP_READER_REFUSES,  /* what is stored is of a newer version, and is left alone */
    MISHAP_READER_REBUILDS, /* what was stored is damaged: it was moved aside, and is made anew */
} mishap_reader_state;

typedef struct mishap_reader_counts {
    _Atomic uint32_t state;     /* mishap_reader_state */
    _Atomic uint32_t error;     /* errno or the HTTP status behind RETRIES; 0: none */
    _Atomic uint64_t lag_bytes; /* of the journal, not read yet */
    _Atomic uint64_t records;   /* stored or sent */
    _Atomic uint64_t lost;      /* torn or malformed lines, and files that were rotated unread */
    _Atomic uint64_t dropped;   /* records that a collector has refused */
    _Atomic uint64_t retries; /* requests that a collector could not take, and that are repeated */
    _Atomic uint64_t rebuilt; /* files of the index that were damaged, and made again */
} mishap_reader_counts;

typedef struct mishap_incident_counts {
    /* Of mishap-log. */
    _Atomic uint64_t written_whole;   /* incidents with everything about them */
    _Atomic uint64_t written_compact; /* incidents in compact lines, not lines */
    _Atomic uint64_t write_error;     /* errno of the last write; 0: it succeeded */

    /* Of any process that records: incidents for which there was no room. */
    _Atomic uint64_t lost;

    mishap_reader_counts index, otlp;
    _Atomic uint64_t new_groups, regressed_groups; /* of the index */
} mishap_incident_counts;

/* NULL: the logs have not begun, as in a command or a worker. */
mishap_incident_counts *mishap_incident_counts_shared(void);

#endif
