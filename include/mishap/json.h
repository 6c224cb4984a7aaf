/*
 * JSON that is written piece by piece into a buffer. A handler writes its answer with
 * mishap/call.h; this is for other JSON, such as that which a service stores or sends to another
 * program.
 *
 *     mishap_buffer json = { 0 };
 *     mishap_json_put_object(&json, NULL);                {
 *     mishap_json_put(&json, "name", name);                "name":"A\"da",
 *     mishap_json_put_array(&json, "lines");               "lines":[
 *     for (size_t i = 0; i < count; i++)
 *         mishap_json_put(&json, NULL, lines[i]);           1,2
 *     mishap_json_put_end(&json, ']');                     ],
 *     mishap_json_put(&json, "ok", true);                  "ok":true
 *     mishap_json_put_end(&json, '}');                    }
 *     if (!json.failed)
 *         store(mishap_buffer_text(&json));
 *     mishap_buffer_release(&json);
 *
 * These rules apply to all functions of this header:
 *
 * - Keys: a member of an object has a key; the key of an item of an array, and of the outermost
 *   value, is NULL.
 * - Commas are written where they are due. The last byte of the buffer tells, so JSON begins in an
 *   empty buffer or behind a line feed.
 * - Values and keys are always valid JSON, for any bytes: each byte that is not UTF-8 is
 *   replaced by U+FFFD, and control characters are escaped. Only the caller knows which brackets
 *   are open: they are not checked.
 * - Memory: if there is none, the buffer fails (mishap_buffer.failed), and the functions do nothing
 *   any more. A caller checks that once, at the end.
 * - Threads: as for buffers, one at a time. Nothing that is passed in is kept.
 */
#ifndef MISHAP_JSON_H
#define MISHAP_JSON_H

#include "mishap/value.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * A value: any that MISHAP_VALUE takes. A string that is NULL becomes null, and so do infinities
 * and what is not a number. mishap_value_none() writes nothing, not even the key. The text of
 * mishap_value_of_json() is checked, and written in compact form; text that is not JSON becomes a
 * string.
 *
 * A comparison is a number in C: `a == b` becomes 1 or 0, `(bool)(a == b)` becomes true or false.
 *
 * mishap_json_put_value() is the same for a key that is a text; a key without data is none.
 */
#define mishap_json_put(buffer, key, value)                                                        \
    mishap_json_put_value((buffer), mishap_text_of(key),                                           \
                          mishap_value_as_spelled(MISHAP_VALUE(value), #value))
void mishap_json_put_value(mishap_buffer *buffer, mishap_text key, mishap_value value);

/* Begin an object or an array, and end it: the bracket is '}' or ']'. */
void mishap_json_put_object(mishap_buffer *buffer, const char *key);
void mishap_json_put_array(mishap_buffer *buffer, const char *key);
void mishap_json_put_end(mishap_buffer *buffer, char bracket);

/* A value that is JSON already, such as a column of a store. It is copied without a check, but for
 * white space behind it; text that is empty or has no data becomes null. For JSON from elsewhere,
 * use mishap_json_put() with mishap_value_of_json(). */
void mishap_json_put_json(mishap_buffer *buffer, const char *key, mishap_text json);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
