/*
 * src/incident: the private record of failures and where it goes.
 *
 *     journal.c  entries in the log file of the program, and on stderr
 *     limit.c    limits the number of entries of one kind
 *     file.c     the file: reopened, and rotated when it is large
 *     logs.c     a process for each log of a server, so that nothing that serves waits for a log
 *     writer.c   … and that process
 *
 * A failure has two sides. Boundaries answer with the public one; this folder records both for the
 * operator, under the id that the caller was given.
 */
#ifndef MISHAP_INCIDENT_H
#define MISHAP_INCIDENT_H

#include "guard/guard.h"
#include "mishap/mishap.h"

/* A failure to be recorded. Nothing of it is kept after the call. */
typedef struct mishap_incident_entry {
    const char *program;           /* the program whose log it is: "directory" */
    const char *caller;            /* the caller: a name or an address; may be NULL */
    const char *operation;         /* as it is shown, `users create`; may be NULL */
    const char *id;                /* of the request */
    const mishap *failure;         /* its whole account is written */
    const mishap_secrets *secrets; /* values that must not appear in any log; may be NULL */
    bool to_stderr;                /* write it to stderr, too */
} mishap_incident_entry;

/*
 * Append an entry to the log file: NAME.log in the state folder of the user, or where NAME_LOG
 * says; an empty NAME_LOG means none. What is only the caller's mistake (MISHAP_VALIDATION) is not
 * written there, though to stderr if that is asked for. If the file cannot be written, an incident
 * goes to stderr with the reason below it. True: the log file has it.
 *
 * An entry is one line with time, id, program and operation, and the account indented below it,
 * with nothing that a terminal would act on. It is written at once, so entries of several threads
 * and processes stay whole. The file stays open; whether it was moved away is looked at once a
 * second. It never fails: a log that cannot be written must not keep the answer back. Any thread
 * may record; a process must not be forked while another thread does.
 *
 * In a server (logs.h) the entry is handed over and is in the file within moments. There, entries
 * of one kind from one caller are limited (limit.h).
 */
bool mishap_incident_record(const mishap_incident_entry *entry);

/* Write a line of a handler for the operator, in an entry of its own: the same file, the same form.
 * If that fails, it goes to stderr. */
void mishap_incident_line(const char *program, const char *operation, const char *id,
                          mishap_text words, bool to_stderr);

/* Say on stderr that the log cannot be written, with the reason from put_why(). No path: there is
 * no place for a log. */
void mishap_incident_announce(const char *program, const char *path, int error);
void mishap_incident_put_why(mishap_buffer *why, const char *path, int error);

/* True if it is worth recording. A failure that the caller can correct, or that something is not
 * there, is not, unless something was noted about it: else any caller could fill the disk. */
bool mishap_incident_is_one(const mishap *failure);

/* No log is wanted: NAME_LOG is empty. */
bool mishap_incident_log_is_off(const char *program);

/* The path of the log file of a program; false if it has none, or there is no room. */
bool mishap_incident_log_path(const char *program, char *path, size_t size);

#endif
