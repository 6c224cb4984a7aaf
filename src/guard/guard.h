/*
 * src/guard: what must not leak. It knows the look of a secret and of a stack trace, and nothing of
 * who asks.
 *
 *     secret.c  secrets by their names, passwords in addresses
 *     hidden.c  values that are known to be secret, wherever they stand
 *     trace.c   stack traces
 */
#ifndef MISHAP_GUARD_H
#define MISHAP_GUARD_H

#include "base/arena.h"
#include "base/json_read.h"

/* True if a value that goes by this name is a secret: password, api_key, accessToken, Authorization
 * … */
bool mishap_guard_secret_name(mishap_text name);

/* What stands in place of a secret. */
extern const mishap_text mishap_guard_redacted;

/*
 * The password inside an address, as in postgres://user:PASSWORD@host: its length, and where it
 * starts; 0 if the text has none from `from` on.
 */
size_t mishap_guard_find_password(mishap_text text, size_t from, size_t *start);

/* True if the text has such a password that is not redacted already. */
bool mishap_guard_has_password(mishap_text text);

/* The text with every such password redacted, in the arena; the same text if there is none. Text
 * without data when there is no memory. */
mishap_text mishap_guard_redact(mishap_arena *arena, mishap_text text);

/* Copy a JSON value into the buffer with what goes by the name of a secret, and passwords in
 * addresses, redacted. */
void mishap_guard_copy_json(mishap_buffer *buffer, yyjson_val *value);

/* -- known values ------------------------------------------------------------------------------ */

enum { MISHAP_MOST_SECRETS = 16 };

/* Values that are known to be secret, such as those of a call's secret parameters. They belong to
 * whoever added them. It is ready for use as soon as `count` is 0. */
typedef struct mishap_secrets {
    size_t count;
    mishap_text values[MISHAP_MOST_SECRETS];
} mishap_secrets;

/* Add one. What is shorter than four bytes is no secret, and stands in many a word by chance. */
void mishap_secrets_add(mishap_secrets *secrets, mishap_text value);

/* Does the text have one of them in it, as it is or as JSON spells it? `secrets` may be NULL, here
 * and below. */
bool mishap_secrets_stand_in(const mishap_secrets *secrets, mishap_text text);

/* The text with each of them redacted. Without memory the buffer fails. */
void mishap_secrets_put_hidden(mishap_buffer *buffer, const mishap_secrets *secrets,
                               mishap_text text);

/* -- stack traces ------------------------------------------------------------------------------ */

/* A quick look: false if the text, which may go by this name, has neither a stack trace nor a
 * secret in it for sure. */
bool mishap_guard_suspects(mishap_text text, mishap_text name);

/* True if the text has the trace of some language's stack in it; `language` (may be NULL) is set to
 * its name. */
bool mishap_guard_finds_trace(mishap_text text, const char **language);

#endif
