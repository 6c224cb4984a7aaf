/*
 * src/guard: what must not leak. It knows the look of a secret and of a stack trace, and nothing of
 * who asks.
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

/* A quick look: false if the text, which may go by this name, has neither a stack trace nor a
 * secret in it for sure. */
bool mishap_guard_suspects(mishap_text text, mishap_text name);

/* True if the text has the trace of some language's stack in it; `language` (may be NULL) is set to
 * its name. */
bool mishap_guard_finds_trace(mishap_text text, const char **language);

#endif
