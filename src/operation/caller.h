/*
 * Callers that name themselves (mishap_service.names_callers): who may, what a name looks like. A
 * caller with an API key is who the key says.
 */
#ifndef MISHAP_OPERATION_CALLER_H
#define MISHAP_OPERATION_CALLER_H

#include "operation/call.h"

enum { MISHAP_CALLER_LONGEST = 63 };

/* What a name looks like, of a caller and of an API key. */
#define MISHAP_CALLER_PATTERN "^[a-z0-9][a-z0-9._-]{0,62}$"
#define MISHAP_CALLER_LOOKS                                                                        \
    "ci.nightly-2: up to 63 of a-z, 0-9, dot, underscore and hyphen, with a letter or digit first"

bool mishap_caller_is_name(mishap_text name);

/* Does the operation act for callers that may name themselves; and: does any of a program? */
static inline bool mishap_caller_may_name(const mishap_operation *operation)
{
    return operation->service && operation->service->names_callers;
}
bool mishap_caller_any_may_name(const mishap_app *app);

/* Are there API keys in a data folder, or may there be? Then nobody names itself. */
bool mishap_caller_has_keys(const char *folder);

/* ARG_ERROR if the flag --caller is not right: it is no name, or there are keys. NULL: it is. */
mishap *mishap_caller_check_flag(const char *name, const char *folder);

/* Say who calls: the name of an API key, which lives as long as the call, or else what the caller
 * names itself (no data: nothing), which is copied. It counts only if the caller is `free` to do
 * that, and the operation wants it. Without memory the call has no caller. */
void mishap_call_set_caller(mishap_call *call, const char *key, mishap_text named, bool free);

#endif
