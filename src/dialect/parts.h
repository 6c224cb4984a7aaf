/*
 * Parts that several dialects write and read in the same form: field errors, context, and the
 * members of the canonical form, which json-rpc and graphql carry inside.
 */
#ifndef MISHAP_DIALECT_PARTS_H
#define MISHAP_DIALECT_PARTS_H

#include "dialect/dialect.h"

/* -- writing ----------------------------------------------------------------------------------- */

/* The fields as an array of {field, error, expected?, min?, max?, actual?, message?}. */
void mishap_put_fields(mishap_buffer *buffer, const mishap_public *told);

/* The same as seed 003 has them: its five errors without sentences and without the type of what is
 * missing; an error of a program with the sentence that the program gave it. */
void mishap_put_bare_fields(mishap_buffer *buffer, const mishap_public *told);
bool mishap_is_known_field_error(mishap_text name); /* one of the five */

/* The context as members of the object that is open. */
void mishap_put_context_members(mishap_buffer *buffer, const mishap_public *told);

/* The context as an object. */
void mishap_put_context(mishap_buffer *buffer, const mishap_public *told);

/* Of what kind it is, as members of the object that is open: category and retryable if they are to
 * be said, retry_after_ms and cause where there are any. */
void mishap_put_kind(mishap_buffer *buffer, const mishap_public *told, bool category,
                     bool retryable);

/* Which members of the canonical form to write. */
enum {
    MISHAP_WITH_MESSAGE = 1,
    MISHAP_WITH_SUBJECT = 2, /* the subject's type, output and backtrace */
};

/* The members of the canonical form, into the object that is open: code, category, retryable, … */
void mishap_put_canonical(mishap_buffer *buffer, const mishap_public *told, unsigned with);

/* A sentence on a field error for people: its own, or else one that is made of its members, "age
 * must be at least 0 and at most 150, not 200." */
void mishap_put_field_sentence(mishap_buffer *buffer, const mishap_field *field);

/* -- reading ----------------------------------------------------------------------------------- */

/* Tell a value that was read, of any type. */
void mishap_read_member(mishap *m, mishap_text key, yyjson_val *value);

/* Tell every member of an object; anything but an object is left alone. */
void mishap_read_context(mishap *m, yyjson_val *object);

/* Add the field errors of an array; items that are not field errors are left alone. */
void mishap_read_fields(mishap *m, yyjson_val *array);

/*
 * Add one field error from its parts, of which each but the first two may be NULL. `min` and `max`
 * may also stand as one text, "0-150", in `expected`. A message that says what would be said anyway
 * is none of its own.
 */
typedef struct mishap_field_parts {
    mishap_text field, error;
    yyjson_val *expected, *actual, *min, *max, *message;
} mishap_field_parts;
void mishap_read_field(mishap *m, const mishap_field_parts *parts);

/* Set a text part from a member, if that is there and a string. */
void mishap_read_part(mishap *m, mishap_part part, yyjson_val *object, const char *key);

/* category, retryable, retry_after_ms under the given names; what is absent or of the wrong type is
 * left alone. */
void mishap_read_category(mishap *m, yyjson_val *value);
void mishap_read_retry(mishap *m, yyjson_val *retryable, yyjson_val *retry_after_ms);

/* Of what kind it is, from the members of the canonical form: those two, cause, suggestion,
 * docs_url and incident. */
void mishap_read_kind(mishap *m, yyjson_val *object);

/* All members of the canonical form but code and message. */
void mishap_read_canonical(mishap *m, yyjson_val *object, unsigned with);

#endif
