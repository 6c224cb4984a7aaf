/*
 * The hand-over of records from the processes that serve to the one that writes the log: 16 MB of
 * memory that they share, and a quarter of a megabyte for each of them.
 *
 * The memory is cut into chunks. A process that records claims a free chunk, appends records to it
 * and publishes each by advancing `head`; when a chunk is full it claims another one. So no process
 * waits for another, and a process that is killed in the middle of a record leaves only bytes that
 * were never published. The reader takes published records from all chunks, writes them, and only
 * then advances `tail`: if it is killed in between, its successor writes them once more. A chunk is
 * free again when all of it was written and it is full, or its process has ended.
 *
 * Records without room are lost and counted (readers.h).
 */
#ifndef MISHAP_INCIDENT_RING_H
#define MISHAP_INCIDENT_RING_H

#include "base/base.h"

typedef struct mishap_ring mishap_ring;

/* The longest record is a whole one with its text for people. */
enum { MISHAP_RING_RECORD = 255 << 10 };

/* For so many processes that record at once. NULL: there is no memory. */
mishap_ring *mishap_ring_make(size_t processes);
void mishap_ring_free(mishap_ring *ring);

/*
 * Room for a record of this size, to be filled and then published; NULL: there is none. Threads of
 * a process take turns: each reservation must be published at once. `kind` is for the reader.
 */
void *mishap_ring_reserve(mishap_ring *ring, uint32_t kind, size_t size);
void mishap_ring_publish(mishap_ring *ring);

/* Wake the reader, if it sleeps. `at_once`: also if it will look by itself within a quarter of a
 * second. True: the caller has to send it something. */
bool mishap_ring_wake(mishap_ring *ring, bool at_once);

/* -- of the reader ----------------------------------------------------------------------------- */

/* How far the reader has come, between reading and done. */
typedef struct mishap_ring_reader mishap_ring_reader;
typedef void mishap_ring_visit(void *state, uint32_t kind, void *record, size_t size);

/* Visit every record that is published. The records stay where they are until mishap_ring_done(),
 * which frees their memory. Returns how many there were. */
size_t mishap_ring_read(mishap_ring *ring, mishap_ring_visit *visit, void *state);
void mishap_ring_done(mishap_ring *ring);

/* How long the reader is going to sleep: not at all; a quarter of a second; until it is woken. */
typedef enum mishap_ring_sleep {
    MISHAP_RING_AWAKE,
    MISHAP_RING_NAPS,
    MISHAP_RING_SLEEPS,
} mishap_ring_sleep;
void mishap_ring_sleep_as(mishap_ring *ring, mishap_ring_sleep sleep);

#endif
