/*
 * The logs of a program that serves: standard error, the log of incidents, the access log.
 *
 * Nothing that serves may wait for a log: not for a pipe without a reader, nor for a file system
 * that does not answer. So each log has a process of its own, `mishap-log` (writer.c), which writes
 * and may wait. All other processes hand records over without waiting. Records that do not fit into
 * the queue are lost and counted, and the log says how many as soon as it can be written.
 *
 * Standard error is a pipe to its process from the moment that the logs begin: descriptor 2 never
 * blocks in the supervisor and in loops, also for code that knows nothing of this. Incidents are
 * handed over in shared memory (ring.h), and a packet on a socket wakes the process that writes.
 * Lines of the access log are packets themselves. The reading ends stay open in the process that
 * began the logs, so what was handed over outlives both the process that did so and the one that
 * writes.
 *
 * A program that does not serve, a command, has none of these processes and writes itself.
 */
#ifndef MISHAP_INCIDENT_LOGS_H
#define MISHAP_INCIDENT_LOGS_H

#include <stdatomic.h>

#include "incident/limit.h"
#include "incident/readers.h"
#include "incident/ring.h"
#include "mishap/mishap.h"

typedef enum mishap_log_kind {
    MISHAP_LOG_ERRORS,
    MISHAP_LOG_INCIDENTS,
    MISHAP_LOG_ACCESS,
    MISHAP_LOGS,
} mishap_log_kind;

typedef struct mishap_logs_plan {
    /* The program whose log it is; an empty NAME_LOG means that there is none. */
    const char *program;
    uint64_t incident_bytes; /* the size at which the log of incidents is rotated; 0: never */
    const char *access;      /* the file of the access log; NULL: there is none, or it is stderr */
    bool json_errors;        /* records go to standard error as JSON, too */
    size_t processes;        /* that record at once, beside a few */
} mishap_logs_plan;

/* -- in the process that starts everything ----------------------------------------------------- */

/* Start the processes. If the log of incidents cannot be written, standard error says so first. */
mishap *mishap_logs_begin(const mishap_logs_plan *plan);

/* A child has ended or was stopped. True: it was one of these, and another takes its place. */
bool mishap_logs_ended(int pid, int status);

/* To be called now and then: restart processes that have ended. */
void mishap_logs_look(void);

/* The access log was rotated: open it again. */
void mishap_logs_reopen(void);

/* Wait for a second or two until everything that was handed over is written; then end the
 * processes. Standard error is the original one again. */
void mishap_logs_end(void);

/* -- in all others ----------------------------------------------------------------------------- */

/* In a child that serves: keep only the files that are needed to hand records over. */
void mishap_logs_leave(void);

/* In a child that has closed all of these files, and runs handlers: there are no logs any more. */
void mishap_logs_forget(void);

/* True if there is a process for this log. */
bool mishap_log_is_kept(mishap_log_kind log);

/* True if it could be opened when the logs began. */
bool mishap_log_is_open(mishap_log_kind log);

/* The longest record. */
enum { MISHAP_LOG_RECORD = 128 << 10 };

/* Hand a record of the access log over: whole lines, at most MISHAP_LOG_RECORD bytes. An empty one
 * wakes the process that writes. False: there is no room for it now, and it is not counted. */
bool mishap_log_add(mishap_log_kind log, mishap_text record);

/* The memory through which incidents are handed over; NULL: this process writes them itself. */
mishap_ring *mishap_logs_ring(void);

/* True if records go to standard error as JSON. */
bool mishap_log_is_json(void);

/* What this process is, for a record: loop, worker, command or supervisor. */
const char *mishap_logs_role(void);

/* Count records that could not be handed over. */
void mishap_log_lose(mishap_log_kind log, size_t count);

/* Lines to standard error, without waiting if the logs have begun, else for a tenth of a second at
 * most. Lines that cannot be written are counted, if there is a counter. */
void mishap_log_error(mishap_text lines);
void mishap_log_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The limits of whole records of each kind; NULL: none. */
mishap_limits *mishap_logs_limits(void);

/* -- writer.c ---------------------------------------------------------------------------------- */

/* Counts that the processes share. */
typedef struct mishap_log_counts {
    _Atomic uint64_t lost;    /* records that were lost since that was last reported */
    _Atomic uint64_t in_hand; /* records that were taken from the queue, and not written yet */
} mishap_log_counts;

typedef struct mishap_log_writer {
    mishap_log_kind log;
    const mishap_logs_plan *plan;
    mishap_log_counts *counts;
    mishap_ring *ring;
    mishap_incident_counts *told;
    int parent;     /* the parent of the writing process */
    int in;         /* the reading end */
    int real_error; /* the original standard error */
    int ready; /* closed when the log is open, or cannot be opened; -1: no process waits for that */
} mishap_log_writer;

/* The process that writes a log. SIGUSR2 asks it to write all lines that wait and end; SIGHUP to
 * open the access log again. Other signals that are sent to the whole group do nothing. */
_Noreturn void mishap_log_writer_run(mishap_log_writer writer);

#endif
