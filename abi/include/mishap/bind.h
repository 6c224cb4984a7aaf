/*
 * Functions for bindings: for code that connects another language to the library.
 *
 * They have no variable arguments, need no macro and take text with its length, so a foreign
 * function interface can call them. No text is ever a format: `%n` in a message of a user is two
 * characters of the message.
 *
 *     mishap *m = mishap_raise_text(mishap_code_find(name), message);
 *     m = mishap_tell_int(m, key, 3);
 *     m = mishap_stack_add(m, function, file, line);
 *     m = mishap_guard_told(m, false, sent, sent_count);
 *     mishap_text document = mishap_render(dialect, m, &buffer);
 *
 * All other functions of the core can be called by a binding, too: mishap_message(),
 * mishap_because(), mishap_retry_after(), mishap_account(), mishap_parse(), mishap_verify() … A row
 * of the catalog is read directly (mishap_code), and mishap_catalog_first() lists all rows.
 *
 * The rules of mishap.h apply: functions that add to a mishap return it, accept NULL and cannot
 * fail; text is copied and made valid UTF-8, so its bytes may be any; only one thread at a time may
 * use a mishap.
 */
#ifndef MISHAP_BIND_H
#define MISHAP_BIND_H

#include "mishap/dialect.h"
#include "mishap/version.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* -- codes ------------------------------------------------------------------------------------- */

/* The code of this name (`NOT_FOUND`), NULL if no table has it. */
const mishap_code *mishap_code_find(mishap_text name);

/* The name of a code that is most similar to this one, for a "did you mean"; text without data if
 * none is near. */
mishap_text mishap_code_nearest(mishap_text name);

/* -- raising and adding ------------------------------------------------------------------------ */

/*
 * Raise a mishap with a message that is a text, not a format. The message of the catalog is used
 * if it has no data or is blank. A code that is NULL means INTERNAL_ERROR. Neither a source
 * location nor the native stack is taken: see mishap_stack_add().
 */
__attribute__((warn_unused_result)) mishap *mishap_raise_text(const mishap_code *code,
                                                              mishap_text message);

/* A named value for the caller, by its type: mishap_tell_value() without a mishap_value. JSON that
 * is not well-formed becomes a string. A text without data is null. */
mishap *mishap_tell_null(mishap *m, mishap_text key);
mishap *mishap_tell_bool(mishap *m, mishap_text key, bool value);
mishap *mishap_tell_int(mishap *m, mishap_text key, int64_t value);
mishap *mishap_tell_uint(mishap *m, mishap_text key, uint64_t value);
mishap *mishap_tell_real(mishap *m, mishap_text key, double value);
mishap *mishap_tell_text(mishap *m, mishap_text key, mishap_text value);
mishap *mishap_tell_json(mishap *m, mishap_text key, mishap_text value);

/* The same for the operator: mishap_note_value(). */
mishap *mishap_note_null(mishap *m, mishap_text key);
mishap *mishap_note_bool(mishap *m, mishap_text key, bool value);
mishap *mishap_note_int(mishap *m, mishap_text key, int64_t value);
mishap *mishap_note_uint(mishap *m, mishap_text key, uint64_t value);
mishap *mishap_note_real(mishap *m, mishap_text key, double value);
mishap *mishap_note_text(mishap *m, mishap_text key, mishap_text value);
mishap *mishap_note_json(mishap *m, mishap_text key, mishap_text value);

/* The texts of mishap_tell_cause(), mishap_suggest(), mishap_docs(), mishap_incident() and
 * mishap_type() with their lengths. Text without data removes what was set before. */
mishap *mishap_put_cause(mishap *m, mishap_text cause);
mishap *mishap_put_suggestion(mishap *m, mishap_text suggestion);
mishap *mishap_put_docs(mishap *m, mishap_text url);
mishap *mishap_put_incident(mishap *m, mishap_text id);
mishap *mishap_put_type(mishap *m, mishap_text type);

/* What is wrong with one field of the input: its path (`items[2].name`), the error (`invalid_type`)
 * and a sentence, which may have no data. */
mishap *mishap_field_put(mishap *m, mishap_text field, mishap_text error, mishap_text message);

/* The other members of the field that was added last. A value of kind NONE removes the member.
 * Bounds are numbers in order: others are dropped. The value of a field that names a secret is
 * stored as "[redacted]". */
mishap *mishap_field_put_expected(mishap *m, mishap_value expected);
mishap *mishap_field_put_actual(mishap *m, mishap_value actual);
mishap *mishap_field_put_min(mishap *m, mishap_value min);
mishap *mishap_field_put_max(mishap *m, mishap_value max);

/*
 * Add a frame of the stack of another language, the innermost first. The stack is private:
 * mishap_account() and the record of an incident show it. Function and file may have no data; a
 * line below 1 is unknown. A mishap keeps the first 256 frames.
 */
mishap *mishap_stack_add(mishap *m, mishap_text function, mishap_text file, int64_t line);

/* -- incidents --------------------------------------------------------------------------------- */

/* The size of an id of an incident, with the NUL behind it. */
enum { MISHAP_INCIDENT_ID_SIZE = 37 };

/* Write a new id (a UUID of version 7) with a NUL behind it, as a server makes them. The result is
 * its length. `id` has room for MISHAP_INCIDENT_ID_SIZE bytes. */
size_t mishap_new_incident(char *id);

/* -- the leak guard ---------------------------------------------------------------------------- */

/*
 * Replace a text that shows the inside of a program, such as a stack trace, SQL or a credential, by
 * a sentence that says what was removed. This is what the boundaries of a program do to failures:
 * the surest findings are replaced, and all findings if `strict` is set. What stands inside one of
 * the `known` values, which the caller sent itself, is no leak.
 *
 * The text or the sentence is added to `out`. The result is true if the text was replaced.
 */
bool mishap_guard_text(mishap_text text, bool strict, const mishap_text *known, size_t known_count,
                       mishap_buffer *out);

/* The same for all that a mishap tells, before it is rendered, apart from the output and the frames
 * of code that the caller sent. A told member whose key leaks is left out. What was replaced is
 * noted as `removed`. Returns the mishap. */
mishap *mishap_guard_told(mishap *m, bool strict, const mishap_text *known, size_t known_count);

/* The same for a JSON document that was rendered, in place. It also finds a leak that several
 * strings form together. The result is NULL if nothing was found; otherwise a mishap for the
 * operator, which the caller frees: its code is RUNTIME_ERROR if something was replaced. Without
 * memory, or if it is no JSON, the buffer is empty and has failed. */
mishap *mishap_guard_json(mishap_buffer *json, bool strict, const mishap_text *known,
                          size_t known_count);

/* -- translating ------------------------------------------------------------------------------- */

/*
 * Read a document in one dialect and add it to the buffer, which must be empty, in another. On
 * success NULL is returned. Otherwise the returned mishap, which the caller owns, says what is
 * wrong, as that of mishap_parse() does, and the buffer is empty. Information that the other
 * dialect cannot express is omitted. No dialect may be NULL.
 */
__attribute__((warn_unused_result)) mishap *mishap_translate(const mishap_dialect *from,
                                                             const mishap_dialect *to,
                                                             mishap_text document,
                                                             mishap_buffer *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
