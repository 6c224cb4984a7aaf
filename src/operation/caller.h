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

/*
 * What a data folder says about API keys. Once there was a key, that there is none any more may be
 * an accident: a file that was emptied, or was not restored. So it does not mean that callers may
 * name themselves, until the operator says so (`keys disable`): then the file has the line
 * `disabled`, and no key.
 */
typedef enum mishap_caller_keys {
    MISHAP_CALLER_KEYS_UNUSED, /* callers may name themselves: there never was one, or `disabled` */
    MISHAP_CALLER_KEYS_GONE,   /* there is none, but there was, or should be */
    MISHAP_CALLER_KEYS_USED,   /* there are some, or what is there cannot be read */
} mishap_caller_keys;
mishap_caller_keys mishap_caller_keys_of(const char *folder);

/* The line of `keys disable` in the file; and the advice for an operator whose keys are gone. */
#define MISHAP_CALLER_DISABLED "disabled"
#define MISHAP_CALLER_KEYS_ADVICE                                                                  \
    "Restore the file `keys` of the data folder, or create a key with `keys add`. If callers "     \
    "shall name themselves again, run `keys disable`."

/*
 * Whether this folder ever had keys: the lock file of `keys add` (keys.lock) exists, and is never
 * removed. mishap_caller_keys_remember() creates it for a file of keys that was written by hand; it
 * reports no failure.
 */
bool mishap_caller_keys_were_used(const char *folder);
void mishap_caller_keys_remember(const char *folder);

/* ARG_ERROR if the flag --caller is not right: it is no name, or keys are used. NULL: it is. */
mishap *mishap_caller_check_flag(const char *name, const char *folder);

/* Say who calls: the name of an API key, which lives as long as the call, or else what the caller
 * names itself (no data: nothing), which is copied. It counts only if the caller is `free` to do
 * that, and the operation wants it. Without memory the call has no caller. */
void mishap_call_set_caller(mishap_call *call, const char *key, mishap_text named, bool free);

#endif
