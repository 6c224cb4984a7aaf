/*
 * Callers that name themselves (mishap_service.names_callers): which may, and the form of a name. A
 * caller with an API key has the name of the key.
 */
#ifndef MISHAP_OPERATION_CALLER_H
#define MISHAP_OPERATION_CALLER_H

#include "operation/call.h"

enum { MISHAP_CALLER_LONGEST = 63 };

/* The form of a name, of a caller and of an API key. */
#define MISHAP_CALLER_PATTERN "^[a-z0-9][a-z0-9._-]{0,62}$"
#define MISHAP_CALLER_LOOKS                                                                        \
    "ci.nightly-2: up to 63 of a-z, 0-9, dot, underscore and hyphen, with a letter or digit first"

bool mishap_caller_is_name(mishap_text name);

/* True if the operation acts for callers that may name themselves. The second: true if any
 * operation of a program does. */
static inline bool mishap_caller_may_name(const mishap_operation *operation)
{
    return operation->service && operation->service->names_callers;
}
bool mishap_caller_any_may_name(const mishap_app *app);

/*
 * What a data folder says about API keys. If there was a key and there is none any more, that may
 * be an accident: a file that was emptied, or was not restored. So callers may not name themselves
 * then, until the operator allows it (`keys disable`): then the file has the line `disabled`, and
 * no key.
 */
typedef enum mishap_caller_keys {
    MISHAP_CALLER_KEYS_UNUSED, /* callers may name themselves: there never was a key, or `disabled`
                                */
    MISHAP_CALLER_KEYS_GONE,   /* there is none, but there was one, or should be */
    MISHAP_CALLER_KEYS_USED,   /* there are some, or the file cannot be read */
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

/* ARG_ERROR if the flag --caller is not valid: it is no name, or keys are used. Else NULL. */
mishap *mishap_caller_check_flag(const char *name, const char *folder);

/* Set the caller of a call: the name of an API key, which lives as long as the call, or else the
 * name that the caller gives itself (no data: none), which is copied. The latter counts only if the
 * caller is `free` to do that, and the operation declares it. Without memory the call has no
 * caller. */
void mishap_call_set_caller(mishap_call *call, const char *key, mishap_text named, bool free,
                            unsigned scopes);

#endif
