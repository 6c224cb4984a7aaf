/*
 * src/incident: the private record of failures and where it goes.
 *
 *     journal.c  records a failure: in the log file of the program, and on stderr
 *     record.c   the whole record as JSON     redact.c  … without secrets     fit.c  … not too long
 *     group.c    failures of one kind have the same number
 *     concern.c  which failures concern the operator
 *     limit.c    decides which failures are recorded as a whole
 *     compact.c  the compact records of all others
 *     ring.c     the memory through which records reach the process that writes
 *     drain.c    … and empties it
 *     file.c     the file: reopened, and rotated when it is large     sync.c  … and on the disk
 *     logs.c     a process for each log of a server, so that nothing that serves waits for a log
 *     writer.c   … and that process
 *     follow.c   reads the log again, line by line, for an index and other readers
 *
 * A failure has two sides. Boundaries answer with the public one; this folder records both for the
 * operator, under the id that the caller was given.
 */
#ifndef MISHAP_INCIDENT_H
#define MISHAP_INCIDENT_H

#include "guard/guard.h"
#include "mishap/mishap.h"

/* Where the caller came in; `C`: a call inside of the program, or the program itself. */
typedef enum mishap_incident_boundary {
    MISHAP_INCIDENT_C,
    MISHAP_INCIDENT_CLI,
    MISHAP_INCIDENT_HTTP,
    MISHAP_INCIDENT_MCP,
} mishap_incident_boundary;

/* What is only made for a whole record: JSON, an object, an object of strings, and an array of
 * strings. Values of parameters that are declared secret are redacted already; secrets that are
 * known by their value, or by a name such as Authorization, need not be. Empty: none. */
typedef struct mishap_incident_more {
    mishap_buffer arguments, headers, lines;
    mishap_buffer request;  /* text: method and path of an HTTP request, method of a message */
    mishap_buffer response; /* text: the response, if the entry has none */
} mishap_incident_more;
typedef void mishap_incident_ask(const void *context, mishap_incident_more *more);

/* A failure to be recorded. Nothing of it is kept after the call. Only the first four must be
 * given; what is not known is NULL or 0. */
typedef struct mishap_incident_entry {
    const char *program;   /* the program whose log it is: "directory" */
    const char *id;        /* of the request */
    const mishap *failure; /* its whole account is written */
    const mishap *removed; /* leaks that were found in the response; NULL: none. If it is a fault,
                              they were taken out */
    const char *operation; /* as it is declared, `users.create` */
    const char *shown;     /* … and as people know it, `users create` */
    const char *service;   /* the service that declares the operation */
    const char *version;   /* of the program */
    const char *caller;    /* a name or an address */
    mishap_text response;  /* the body as it is sent */
    const char *response_type;
    mishap_text traceparent; /* as it came; what is malformed is ignored */
    int64_t started_ns;      /* when the request began, on the monotonic clock */
    int status;              /* as the boundary has it: HTTP status, exit code, code of JSON-RPC */
    mishap_incident_boundary boundary;
    const mishap_secrets *secrets; /* values that must not appear in any log */
    mishap_incident_ask *more;     /* asked if the record is written as a whole */
    const void *context;           /* … with this */
    bool brief;     /* a mistake is not written as a whole: the operator's own, while it looks at
                       others. A fault is */
    bool to_stderr; /* write it to stderr, too */
} mishap_incident_entry;

/*
 * Append a record to the log file: NAME.log in the state folder of the user, or where NAME_LOG
 * says; an empty NAME_LOG means none. If the file cannot be written, an incident that concerns the
 * operator (mishap_incident_is_one) goes to stderr with the reason below it. True: the log has it.
 *
 * A record is one line of JSON (docs/incident.schema.json), written at once, so records of several
 * threads and processes stay whole. On stderr it is text for people: a line with time, id, program
 * and operation, and the account indented below it, with nothing that a terminal would act on. The
 * file stays open; whether it was moved away is looked at once a second. It never fails: a log that
 * cannot be written must not keep the answer back. Any thread may record; a process must not be
 * forked while another thread does.
 *
 * In a server (logs.h) the record is handed over and is in the file within a quarter of a second.
 * There, the number of whole records is limited (limit.h); every other failure has a compact one.
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

/* True if it concerns the operator. A failure that the caller can correct, or that something is not
 * there, does not, unless something was noted about it. */
bool mishap_incident_is_one(const mishap *failure);

/* No log is wanted: NAME_LOG is empty. */
bool mishap_incident_log_is_off(const char *program);

/* The path of the log file of a program; false if it has none, or there is no room. */
bool mishap_incident_log_path(const char *program, char *path, size_t size);

#endif
