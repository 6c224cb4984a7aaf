/*
 * The mishap: one failure, with a public and a private side.
 *
 * A function that can fail returns `mishap *`; NULL is success. A function that raises a mishap
 * returns it to its caller. The function that handles the mishap frees it.
 *
 *     if (user_by_email(email))
 *         return mishap_tell(mishap_raise(ALREADY_EXISTS, "It is taken."), "email", email);
 *
 * The public side is what a caller may know: `mishap_public`. A dialect receives only this side, so
 * information that was not told cannot be rendered. The private side is for the operator: the
 * notes, the chain of causes, the source location and the native stack. mishap_account() writes it.
 *
 * Functions that add to a mishap take it and return it, accept NULL, and cannot fail. If there is
 * no memory for a part, the part is omitted. If there is no memory for the mishap itself, a small
 * reserve is used; when the reserve is empty, one constant mishap is returned. It can be passed on,
 * rendered and freed like any other.
 *
 * Text is copied and made valid UTF-8: an invalid byte or a NUL becomes U+FFFD. The value of a key
 * that names a secret (password, token …) is stored as "[redacted]".
 *
 * These rules apply to all functions of this header:
 *
 * - Threads: any thread may call them. Only one thread at a time may use a mishap. A mishap may be
 *   passed to another thread.
 * - Owner: the caller owns the `mishap *` that is returned. If a mishap was passed in, the same one
 *   is returned. Everything that is `const` belongs to the mishap and lives as long as the mishap.
 * - NULL: a mishap that is NULL means success: nothing is added, and NULL, false or an empty text
 *   is returned. A key, a text or a field that is NULL adds nothing.
 */
#ifndef MISHAP_MISHAP_H
#define MISHAP_MISHAP_H

#include "mishap/catalog.h"
#include "mishap/codes.h"
#include "mishap/memory.h"
#include "mishap/text.h"
#include "mishap/value.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct mishap mishap;

/* -- the public side --------------------------------------------------------------------------- */

/* A named value that was told to the caller or noted for the operator. */
typedef struct mishap_member {
    const struct mishap_member *next;
    mishap_text key;
    mishap_value value;
} mishap_member;

/* What is wrong with one field of the input. Values of kind NONE are omitted. */
typedef struct mishap_field {
    const struct mishap_field *next;
    mishap_text field; /* "email", "items[2].name" */
    mishap_text error; /* "field_required": lower_snake */
    mishap_value expected, actual, min, max;
    mishap_text message; /* an optional sentence: "due must be a date such as 2026-02-28." */
} mishap_field;

/* One frame of the subject's backtrace. */
typedef struct mishap_frame {
    const struct mishap_frame *next;
    mishap_text text;
} mishap_frame;

/*
 * Everything that a caller may know. A text of length 0 is absent. Read the members directly; the
 * functions mishap_public_… below fall back to the catalog where a text is absent.
 */
typedef struct mishap_public {
    const mishap_code *code;
    mishap_category category;
    bool retryable;
    bool retry_stated; /* `retryable` was set for this occurrence, not taken from the catalog */
    int64_t retry_after_ms; /* -1: no advice */
    mishap_text message;    /* of this occurrence; empty: the catalog's is used */
    mishap_text cause;      /* one line about the cause, for the caller */
    mishap_text suggestion; /* of this occurrence; empty: the catalog's is used */
    mishap_text docs_url;
    mishap_text incident;
    const mishap_member *context; /* in the order in which they were told */
    const mishap_field *fields;
    size_t field_count;

    /* For a failure of code that the caller sent to be run; shown in a condition report. */
    mishap_text type;   /* the condition type; empty: the catalog's is used */
    mishap_text output; /* the output of the code before it failed */
    const mishap_frame *frames;
    size_t frame_count;
} mishap_public;

/* The public side of a mishap. It lives as long as the mishap and includes parts that are added
 * later. */
const mishap_public *mishap_told(const mishap *m);

/* The final text: that of the occurrence, or else that of the catalog. */
mishap_text mishap_public_message(const mishap_public *told);
mishap_text mishap_public_suggestion(const mishap_public *told);
mishap_text mishap_public_docs_url(const mishap_public *told);

/* What was told under a name with mishap_tell(); NULL: nothing was. */
const mishap_member *mishap_public_member(const mishap_public *told, const char *name);

/* Recoverable: the call can be retried, or the caller can correct the input. Such a mishap has a
 * suggestion. */
bool mishap_public_recoverable(const mishap_public *told);

/* -- raising ----------------------------------------------------------------------------------- */

/* The source location at which a mishap was raised. */
typedef struct mishap_place {
    const char *file;
    const char *function;
    int line;
} mishap_place;
static inline mishap_place mishap_place_of(const char *file, const char *function, int line)
{
    mishap_place place = { file, function, line };
    return place;
}
#define MISHAP_HERE mishap_place_of(__FILE__, __func__, __LINE__)

/*
 * Raise a mishap: a code of the catalog by its bare name, and a message for the caller as for
 * printf. The message is a sentence; NULL: the message of the catalog. Under a masked code
 * (INTERNAL_ERROR) the message is private: the caller gets the constant message of the catalog.
 *
 * Raising never fails and never returns NULL. It preserves errno, and the message may print errno
 * with %m.
 */
#define mishap_raise(code, ...) mishap_raise_at(MISHAP_CODE_##code, MISHAP_HERE, __VA_ARGS__)

/*
 * Raise a mishap of a category. Each macro has a default code: INVALID_ARGUMENT, NOT_AUTHORIZED,
 * NOT_FOUND, RUNTIME_ERROR, INTERNAL_ERROR. The category is that of the macro, not that of the
 * code. The mishap is not retryable unless mishap_retryable() is called afterwards.
 */
#define mishap_validation(...) mishap_validation_as(INVALID_ARGUMENT, __VA_ARGS__)
#define mishap_permission(...) mishap_permission_as(NOT_AUTHORIZED, __VA_ARGS__)
#define mishap_resource(...)   mishap_resource_as(NOT_FOUND, __VA_ARGS__)
#define mishap_execution(...)  mishap_execution_as(RUNTIME_ERROR, __VA_ARGS__)
#define mishap_system(...)     mishap_system_as(INTERNAL_ERROR, __VA_ARGS__)

#define mishap_validation_as(code, ...) MISHAP_RAISE_IN(MISHAP_VALIDATION, code, __VA_ARGS__)
#define mishap_permission_as(code, ...) MISHAP_RAISE_IN(MISHAP_PERMISSION, code, __VA_ARGS__)
#define mishap_resource_as(code, ...)   MISHAP_RAISE_IN(MISHAP_RESOURCE, code, __VA_ARGS__)
#define mishap_execution_as(code, ...)  MISHAP_RAISE_IN(MISHAP_EXECUTION, code, __VA_ARGS__)
#define mishap_system_as(code, ...)     MISHAP_RAISE_IN(MISHAP_SYSTEM, code, __VA_ARGS__)
#define MISHAP_RAISE_IN(category, code, ...)                                                       \
    mishap_raised_in((category), mishap_raise_at(MISHAP_CODE_##code, MISHAP_HERE, __VA_ARGS__))

/* The function behind the macros. A code that is NULL means INTERNAL_ERROR. Compilers warn if
 * the returned mishap is dropped. */
__attribute__((format(printf, 3, 4), warn_unused_result)) mishap *
mishap_raise_at(const mishap_code *code, mishap_place place, const char *format, ...);

/*
 * Raise the code that corresponds to an errno, and note the name of the errno for the operator:
 *
 *     return mishap_raise_errno(errno, "The file %s cannot be read.", name);
 *
 * ENOENT and ENOTDIR are NOT_FOUND, EEXIST ALREADY_EXISTS, EACCES, EPERM and EROFS NOT_AUTHORIZED,
 * ETIMEDOUT TIMEOUT; temporary errors (EAGAIN, EBUSY, ENOSPC, a refused or lost connection …) are
 * UNAVAILABLE; all others are INTERNAL_ERROR, whose message is private.
 */
#define mishap_raise_errno(error, ...) mishap_raise_errno_at((error), MISHAP_HERE, __VA_ARGS__)
__attribute__((format(printf, 3, 4), warn_unused_result)) mishap *
mishap_raise_errno_at(int error, mishap_place place, const char *format, ...);

/* True if it is a mishap with this code. */
#define mishap_is(m, code) mishap_has_code((m), MISHAP_CODE_##code)
bool mishap_has_code(const mishap *m, const mishap_code *code);

/* If the expression returns a mishap, return it from the current function:
 * MISHAP_TRY(step(call)); */
#define MISHAP_TRY(expression)                                                                     \
    do {                                                                                           \
        mishap *mishap_tried = (expression);                                                       \
        if (mishap_tried)                                                                          \
            return mishap_tried;                                                                   \
    } while (0)

/* The constant mishap for "out of memory". It need not be freed. */
mishap *mishap_out_of_memory(void);

/* Free the mishap and its causes. */
void mishap_free(mishap *m);

/* -- telling: what the caller may know --------------------------------------------------------- */

/* A named value for the caller: number, boolean, C string (NULL: null), mishap_text,
 * mishap_value. If a key is told twice, the last value is used. */
#define mishap_tell(m, key, value)                                                                 \
    mishap_tell_value((m), mishap_text_of(key),                                                    \
                      mishap_value_as_spelled(MISHAP_VALUE(value), #value))
mishap *mishap_tell_value(mishap *m, mishap_text key, mishap_value value);

/* Replace the message. Under a masked code the message stays private. */
mishap *mishap_message(mishap *m, mishap_text message);

/* One line about the cause, chosen for the caller: "Connection refused (ECONNREFUSED)". */
mishap *mishap_tell_cause(mishap *m, const char *summary);

/* A suggestion for the caller, and the URL of the documentation. */
mishap *mishap_suggest(mishap *m, const char *suggestion);
mishap *mishap_docs(mishap *m, const char *url);

/* Whether the same call may be retried, and after how many milliseconds. A delay implies that it
 * may be retried. */
mishap *mishap_retryable(mishap *m, bool retryable);
mishap *mishap_retry_after(mishap *m, int64_t milliseconds);

/* Set the category of this occurrence, if it is not that of the code. The mishap is then not
 * retryable, unless mishap_retryable() is called afterwards. */
mishap *mishap_file_under(mishap *m, mishap_category category);

/* The factories call this function: to drop what they return is a mistake, too. */
static inline __attribute__((warn_unused_result)) mishap *mishap_raised_in(mishap_category category,
                                                                           mishap *m)
{
    return mishap_file_under(m, category);
}

/* The id of the log entry with the private side. */
mishap *mishap_incident(mishap *m, const char *id);

/* What is wrong with a field. One function for each of the five field errors of the HTTP API,
 * and a general one. */
mishap *mishap_field_required(mishap *m, const char *field);
mishap *mishap_field_type(mishap *m, const char *field, const char *expected, const char *actual);
mishap *mishap_field_length(mishap *m, const char *field, mishap_value min, mishap_value max,
                            size_t actual);
mishap *mishap_field_range(mishap *m, const char *field, mishap_value min, mishap_value max,
                           mishap_value actual);
mishap *mishap_field_pattern(mishap *m, const char *field, const char *pattern);
mishap *mishap_field_add(mishap *m, const mishap_field *field); /* members up to `message` */

/* A sentence about the field that was added last, for people and for models. If a field has no
 * sentence, dialects that show sentences build one from the other members. */
__attribute__((format(printf, 2, 3))) mishap *mishap_field_says(mishap *m, const char *format, ...);

/* For code that the caller sent to be run: the condition type, the output, and the stack frames
 * from the innermost. */
mishap *mishap_type(mishap *m, const char *type);
mishap *mishap_output(mishap *m, mishap_text output);
mishap *mishap_frame_add(mishap *m, mishap_text frame);

/* -- noting: what only the operator may know --------------------------------------------------- */

/* A named value for the operator. */
#define mishap_note(m, key, value)                                                                 \
    mishap_note_value((m), mishap_text_of(key),                                                    \
                      mishap_value_as_spelled(MISHAP_VALUE(value), #value))
mishap *mishap_note_value(mishap *m, mishap_text key, mishap_value value);

/* Set the cause of a mishap, which then owns the cause. If it has a cause already, the new cause
 * is added at the end of the chain. If either is NULL, the other is returned. */
mishap *mishap_because(mishap *m, mishap *cause);

/* The cause, or NULL. */
const mishap *mishap_cause(const mishap *m);

/*
 * Write everything for the operator, including the private side, as several lines of text. The text
 * is added to the buffer, which must not be NULL. Never send it to a caller. A child process looks
 * up the names of functions, which takes some milliseconds.
 */
void mishap_account(const mishap *m, mishap_buffer *buffer);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
