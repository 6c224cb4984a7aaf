/*
 * What `mishap doctor` is made of:
 *
 *     cmd_doctor.c     the command: the machine, and the report for a program and for a person
 *     doctor_parts.c   the programs and libraries that services use, and where they are
 *     doctor_trials.c  a small call of each service that depends on another program
 *     doctor_unit.c    the unit of systemd around this process, and which of its options cost
 * something
 */
#ifndef MISHAP_TOOL_DOCTOR_H
#define MISHAP_TOOL_DOCTOR_H

#include "base/buffer.h"
#include "mishap/operation.h"
#include "mishap/sandbox.h"
#include "parts.h"

/* Add printed text, of a line or so. */
__attribute__((format(printf, 2, 3))) void doctor_say(mishap_buffer *b, const char *format, ...);

/* A member that is a string; NULL: null. */
void doctor_put_member(mishap_buffer *json, const char *key, const char *text);

/* -- doctor_parts.c ---------------------------------------------------------------------------- */

/* Where a part is. False: nowhere. */
bool doctor_find(const service_part *part, char *path, size_t size);

/* The packages of parts, each once and with a space between: of all of them, or of those that are
 * missing. */
void doctor_put_packages(mishap_buffer *b, const service_part *parts, bool missing_only);

/* All parts as JSON, an array; and for a person. The second returns how many are missing. */
void doctor_put_parts(mishap_buffer *json);
size_t doctor_say_parts(mishap_buffer *text);

/* -- doctor_trials.c --------------------------------------------------------------------------- */

typedef enum doctor_outcome {
    DOCTOR_WORKS,
    DOCTOR_FAILS,
    DOCTOR_MISSING, /* what it needs is not installed */
    DOCTOR_NOT_RUN, /* the machine does not offer the sandbox */
} doctor_outcome;

enum { DOCTOR_TRIALS = 3 };

/* What came of the trial of a service. */
typedef struct doctor_trial {
    const struct doctor_service *service;
    doctor_outcome outcome;
    int64_t took_ms;
    mishap *failure; /* NULL: it works */
} doctor_trial;

/* Run all of them, within the time of the call; each has so many milliseconds. */
void doctor_try(const mishap_call *call, int limit_ms, doctor_trial trials[DOCTOR_TRIALS]);
void doctor_release(doctor_trial trials[DOCTOR_TRIALS]);

/* All of them as JSON, an array; and for a person. */
void doctor_put_trials(mishap_buffer *json, const doctor_trial trials[DOCTOR_TRIALS]);
void doctor_say_trials(mishap_buffer *text, const doctor_trial trials[DOCTOR_TRIALS]);

/* NOT_CONFIGURED with the names of the services that fail; NULL: none does. */
mishap *doctor_judge(const doctor_trial trials[DOCTOR_TRIALS]);

/* -- doctor_unit.c ----------------------------------------------------------------------------- */

typedef struct doctor_unit {
    bool found;        /* this process is one of a unit */
    char name[256];    /* "mishap.service"; "": not known */
    bool filtered;     /* it has a filter of system calls */
    bool switched_off; /* the machine gives no user namespaces to ordinary users at all */
    bool no_code;      /* memory cannot be writable and executable */
} doctor_unit;

void doctor_find_unit(doctor_unit *unit);

/* The options that cost something, as JSON, null if there is no unit; and for a person, who is told
 * nothing then. */
void doctor_put_unit(mishap_buffer *json, const doctor_unit *unit,
                     const mishap_sandbox_report *report);
void doctor_say_unit(mishap_buffer *text, const doctor_unit *unit,
                     const mishap_sandbox_report *report);

#endif
