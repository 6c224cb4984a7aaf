/*
 * services/symbolic: analyses what Python functions can do (docs/symbolic.md). A program of its
 * own, the engine, analyses the code that callers send; every input in an answer was called in real
 * CPython before, in a process of services/python.
 *
 *     operations.c  every operation: its rules, its answers, its failures
 *     service.c     the service, its handlers, and the members of its failures
 *     analyse.c     one analysis: the process of the engine, and the replays that it asks for
 *     suggest.c     what a caller can do about a failure
 *     about.c       what an agent can read: the rules for code, the limits, what is supported
 *     prompts.c     four prompts
 *     engine/       the engine (docs/symbolic-engine.md)
 */
#ifndef SERVICES_SYMBOLIC_H
#define SERVICES_SYMBOLIC_H

#include <mishap/invoke.h>
#include <mishap/operation.h>

#include "parts.h"

enum {
    SYMBOLIC_MOST_CODE = 64 * 1024,
    SYMBOLIC_MOST_SECONDS = 300,
    SYMBOLIC_MOST_MEMORY_MB = 2048,
};

extern const mishap_service symbolic_service;

/* The list ends with { 0 }. */
extern const mishap_operation symbolic_operations[];

/* The programs and libraries that the service uses beside Python. */
extern const service_part symbolic_parts[];

/* The path of the engine; NULL: it is missing, and calls fail with NOT_CONFIGURED. */
const char *symbolic_program(void);

/* -- inside ------------------------------------------------------------------------------------ */

/* The parameters of the tools, which the engine has as well (operations.c). */
extern const mishap_param symbolic_to_check[], symbolic_to_find[], symbolic_to_compare[],
    symbolic_to_branch[];

/* Have the engine run a tool ("check") with the parameters of a call, and replay the inputs that it
 * asks for. The answer is freed with mishap_answered_free(). NULL: the call was answered already,
 * with the findings of an engine that could not be stopped. */
__attribute__((warn_unused_result)) mishap *symbolic_analyse(mishap_call *call, const char *tool,
                                                             mishap_answered **answered);

/* Add a suggestion to a failure of the engine, if there is more to say than the catalog does.
 * Returns the failure. */
mishap *symbolic_suggest(mishap_call *call, mishap *failure);

/* Prepare to have processes wait for calls; `at_once`: start them. symbolic_cool() ends them. */
void symbolic_warm(bool at_once);
void symbolic_cool(void);

/* The handlers. */
mishap *symbolic_run(mishap_call *call); /* check, find, compare, branches */
mishap *symbolic_health(mishap_call *call);
mishap *symbolic_security(mishap_call *call);
mishap *symbolic_server(mishap_call *call);
mishap *symbolic_capabilities(mishap_call *call);
mishap *symbolic_plan(mishap_call *call);

#endif
