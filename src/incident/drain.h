/*
 * Emptying the ring into the log: what mishap-log does with incidents.
 *
 * Records leave the ring when they are written, or when the log has refused them. Those that
 * concern the operator go to standard error then; the others are counted.
 */
#ifndef MISHAP_INCIDENT_DRAIN_H
#define MISHAP_INCIDENT_DRAIN_H

#include "incident/readers.h"
#include "incident/ring.h"

typedef struct mishap_drain {
    mishap_ring *ring;
    const char *program;
    const char *path; /* of the log; empty: there is no place for one */
    mishap_incident_counts *counts;
    bool json_errors;                /* standard error gets JSON, too */
    bool (*write)(mishap_text text); /* to the log; false: errno says why not */
    void (*lose)(uint64_t count);    /* count incidents that are lost */
} mishap_drain;

/* What the ring had in it. */
typedef struct mishap_drained {
    size_t records, compact;
} mishap_drained;

mishap_drained mishap_drain_run(const mishap_drain *drain);

#endif
