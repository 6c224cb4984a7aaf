/*
 * What `mishap doctor` is made of:
 *
 *     cmd_doctor.c     the command: the machine, and the report for a program and for a person
 *     doctor_parts.c   the programs and libraries that services use, and where they are
 *     doctor_trials.c  a small call of each service that depends on another program
 */
#ifndef MISHAP_TOOL_DOCTOR_H
#define MISHAP_TOOL_DOCTOR_H

#include "base/buffer.h"
#include "mishap/operation.h"
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

#endif
