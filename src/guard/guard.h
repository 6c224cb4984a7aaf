/*
 * src/guard: detection of text that must not leak: secrets and stack traces. It does not depend on
 * its callers.
 *
 *     secret.c  secrets by their names, passwords in addresses
 *     hidden.c  values that are known to be secret, wherever they stand
 *     known.c   which values those are, and whether one begins at some place of a text
 *     trace.c   stack traces
 */
#ifndef MISHAP_GUARD_H
#define MISHAP_GUARD_H

#include "base/arena.h"
#include "base/json_read.h"

/* True if a value that goes by this name is a secret: password, api_key, accessToken, Authorization
 * … */
bool mishap_guard_secret_name(mishap_text name);

/*
 * True if a value by this name is a secret: text and JSON under such a name, and a number of six
 * digits or more, which may be a password. What is shorter counts something, as in `token: 5`, and
 * so does a number of several: `tokens: 120000`.
 */
bool mishap_guard_secret_value(mishap_text name, const mishap_value *value);

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

/* Copy a JSON value into the buffer with what goes by the name of a secret (text, and numbers of
 * six digits or more), and passwords in addresses, redacted. */
void mishap_guard_copy_json(mishap_buffer *buffer, yyjson_val *value);

/* -- known values ------------------------------------------------------------------------------ */

/* A text that is known to be secret, and the longest other one that it begins with. */
typedef struct mishap_secret {
    mishap_text text;
    const struct mishap_secret *shorter; /* NULL: none */
} mishap_secret;

/* A number by its decimal digits, wherever its point stands: 1000, 1e3 and 1000.00 are one. */
typedef struct mishap_secret_number {
    const char *first, *end; /* from its first digit that is not 0 to behind the last such; a point
                                may stand between */
    long magnitude;          /* the power of ten of the first digit */
} mishap_secret_number;

/*
 * Values that are known to be secret, such as those of a call's secret parameters. They are the
 * caller's, and so are the two lists. It is ready for use if it is { 0 }, and after
 * mishap_secrets_sort().
 */
typedef struct mishap_secrets {
    size_t count, number_count;
    mishap_secret *texts;
    mishap_secret_number *numbers;
    uint64_t begins[4]; /* a bit for each byte that a text begins with */
    bool unknown;       /* there was no memory to learn them: nothing is shown */
    bool any_case;      /* A and a are the same; set it before mishap_secrets_sort() */
} mishap_secrets;

/*
 * Add one, if it is long enough to be found in a text without wrecking it: a text has three bytes
 * or more, a number is 100 or more, or has a fraction. Room in the lists is the caller's to
 * provide; without a list (NULL) it is only counted. A number is spelled as JSON does it.
 */
void mishap_secrets_add_text(mishap_secrets *secrets, mishap_text text);
void mishap_secrets_add_number(mishap_secrets *secrets, mishap_text spelled);

/* All are added. */
void mishap_secrets_sort(mishap_secrets *secrets);

/* Is there none? `secrets` may be NULL, here and below. */
static inline bool mishap_secrets_none(const mishap_secrets *secrets)
{
    return !secrets || !(secrets->count || secrets->number_count || secrets->unknown);
}

/* The first that begins at or behind `from`, as it is, and the longest that begins there: its
 * length and where; 0 if there is none. */
size_t mishap_secrets_find(const mishap_secrets *secrets, mishap_text text, size_t from,
                           size_t *at);

/* Is this number one of them? */
bool mishap_secrets_have_number(const mishap_secrets *secrets, mishap_text spelled);

/*
 * Does the text have one of them in it? A text of four bytes or more is found wherever it stands,
 * one of three bytes and a number only as a whole word. All are found as they are, with escapes of
 * JSON (also twice), and percent-encoded; numbers in any decimal spelling.
 */
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
