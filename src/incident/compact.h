/*
 * Compact records: of each failure that is not written as a whole, its id, group, caller, status,
 * duration, and the id of a whole record that is like it.
 *
 * A process that serves puts one into the ring (ring.h) in a few dozen nanoseconds. The process
 * that writes the log gathers those that differ only in id and duration, and writes one line for
 * each kind.
 */
#ifndef MISHAP_INCIDENT_COMPACT_H
#define MISHAP_INCIDENT_COMPACT_H

#include "incident/incident.h"
#include "incident/ring.h"

/* What a record in the ring is. */
enum {
    MISHAP_RING_COMPACT = 1,
    MISHAP_RING_WHOLE, /* mishap_ring_whole, then JSON, then text for people */
    MISHAP_RING_LINE,  /* the same; no incident */
};

typedef struct mishap_ring_whole {
    uint32_t json_length, text_length;
    uint32_t serious;   /* it goes to standard error if it cannot be written */
    uint32_t to_stderr; /* it goes there anyway */
} mishap_ring_whole;

/* Put it into the ring. False: there is no room. */
bool mishap_compact_put(mishap_ring *ring, const mishap_incident_entry *entry, uint64_t group,
                        const unsigned char id[16], const unsigned char like[16],
                        int64_t duration_ns);

/* -- of the process that writes the log -------------------------------------------------------- */

/*
 * Remember a record of the ring. It is copied before it is looked at: the process that wrote it
 * may have gone wrong, and may still write to it.
 */
typedef enum mishap_gathered {
    MISHAP_GATHERED,
    MISHAP_GATHERED_FULL,  /* there is no room: put lines first, and try again */
    MISHAP_GATHERED_WRONG, /* it is malformed */
} mishap_gathered;
mishap_gathered mishap_compact_gather(const void *record, size_t size);

/*
 * Put lines of what was gathered, at most one for each call; false: there is none left. *count is
 * the number of incidents in it. The line is no longer than MISHAP_INCIDENT_LINE.
 */
bool mishap_compact_put_line(mishap_buffer *out, const char *program, int64_t now_ms,
                             size_t *count);

#endif
