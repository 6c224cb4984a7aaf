/*
 * The mishap: one failure, with a public and a private side.
 *
 * A function that can fail returns `mishap *`; NULL is success. Whoever raises one hands it up by
 * returning it; whoever handles it frees it.
 *
 *     if (user_by_email(email))
 *         return mishap_tell(mishap_raise(ALREADY_EXISTS, "It is taken."), "email", email);
 *
 * The public side is what a caller may know: `mishap_public`. A dialect gets nothing else to see,
 * so what was not told cannot be rendered. The private side (what was noted, the chain of causes,
 * where it was raised, the native stack) goes to the operator: mishap_account().
 *
 * Functions that add to a mishap take it and return it, accept NULL, and cannot fail. When memory
 * runs out, the part is left out; when there is none even for the mishap itself, a small reserve is
 * used, and after that one constant mishap stands for all. It can be passed on, rendered and freed
 * like any other.
 *
 * Text is copied. It is made valid UTF-8 on the way in: a byte that breaks it, and NUL, become
 * U+FFFD. What goes by a name that speaks of a secret (password, token …) is kept as "[redacted]".
 *
 * What holds for all functions here:
 *
 * - Threads: any thread may call them. A mishap is one thread's at a time, and may be handed on to
 *   another.
 * - Owner: a `mishap *` that is returned is the caller's; it is the same that was handed in, if one
 *   was. Everything that is `const` stays the mishap's and lives as long as it.
 * - NULL: for a mishap it is success: nothing is added, and NULL, false or no text is returned. For
 *   a key, a text or a field it means that nothing is said.
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

typedef struct mishap mishap;

/* -- the public side --------------------------------------------------------------------------- */

/* A named value: context that was told or noted. */
typedef struct mishap_member {
    const struct mishap_member *next;
    mishap_text key;
    mishap_value value;
} mishap_member;

/* What is wrong with one field of the input. Values of kind NONE are left out. */
typedef struct mishap_field {
    const struct mishap_field *next;
    mishap_text field; /* "email", "items[2].name" */
    mishap_text error; /* "field_required": lower_snake */
    mishap_value expected, actual, min, max;
    mishap_text message; /* a sentence of its own: "due must be a date such as 2026-02-28." */
} mishap_field;

/* One frame of the subject's backtrace. */
typedef struct mishap_frame {
    const struct mishap_frame *next;
    mishap_text text;
} mishap_frame;

/*
 * All that a caller may know. Text without length is not there. Read it directly; what is absent
 * here and known to the catalog is found with the mishap_public_… functions below.
 */
typedef struct mishap_public {
    const mishap_code *code;
    mishap_category category;
    bool retryable;
    bool retry_stated; /* `retryable` was said of this occurrence, not taken from the catalog */
    int64_t retry_after_ms; /* -1: no advice */
    mishap_text message;    /* its own; else the catalog's is used */
    mishap_text cause;      /* the one line about the cause that was told */
    mishap_text suggestion; /* its own; else the catalog's is used */
    mishap_text docs_url;
    mishap_text incident;
    const mishap_member *context; /* in the order in which they were told */
    const mishap_field *fields;
    size_t field_count;

    /* Of code that the caller itself sent to be run: for the condition report. */
    mishap_text type;   /* its own condition type; else the catalog's is used */
    mishap_text output; /* what it had printed */
    const mishap_frame *frames;
    size_t frame_count;
} mishap_public;

/* The public side of a mishap. It lives as long as the mishap and sees what is added later. */
const mishap_public *mishap_told(const mishap *m);

/* What is said in the end: the occurrence's own words, or else the catalog's. */
mishap_text mishap_public_message(const mishap_public *told);
mishap_text mishap_public_suggestion(const mishap_public *told);
mishap_text mishap_public_docs_url(const mishap_public *told);

/* Recoverable: it can be retried, or the caller can mend the input. Such a mishap has a suggestion.
 */
bool mishap_public_recoverable(const mishap_public *told);

/* -- raising ----------------------------------------------------------------------------------- */

/* Where in the program something was raised. */
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
 * printf. The message is a sentence; NULL: the catalog's. Under a code that is masked
 * (INTERNAL_ERROR) the message is private: the caller gets the catalog's constant sentence.
 *
 * To raise never fails and never returns NULL. errno is afterwards what it was before, whatever
 * happens meanwhile; the message may speak of it by %m.
 */
#define mishap_raise(code, ...) mishap_raise_at(MISHAP_CODE_##code, MISHAP_HERE, __VA_ARGS__)

/*
 * The same by category, as factories, each with its default code: INVALID_ARGUMENT, NOT_AUTHORIZED,
 * NOT_FOUND, RUNTIME_ERROR, INTERNAL_ERROR. The category is that of the factory, whatever the
 * code's own, and nothing is retried unless mishap_retryable() says so afterwards.
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

/* What the macros call. A code that is NULL is INTERNAL_ERROR. To raise a mishap and drop it is a
 * mistake that compilers warn of. */
__attribute__((format(printf, 3, 4), warn_unused_result)) mishap *
mishap_raise_at(const mishap_code *code, mishap_place place, const char *format, ...);

/*
 * Raise what an errno means, with its name noted for the operator:
 *
 *     return mishap_raise_errno(errno, "The file %s cannot be read.", name);
 *
 * ENOENT is NOT_FOUND, EEXIST ALREADY_EXISTS, EACCES and EPERM NOT_AUTHORIZED, ETIMEDOUT TIMEOUT;
 * what passes (EAGAIN, EBUSY, ENOSPC, a connection that is refused or lost …) is UNAVAILABLE; all
 * others are INTERNAL_ERROR, and the message is private then.
 */
#define mishap_raise_errno(error, ...) mishap_raise_errno_at((error), MISHAP_HERE, __VA_ARGS__)
__attribute__((format(printf, 3, 4), warn_unused_result)) mishap *
mishap_raise_errno_at(int error, mishap_place place, const char *format, ...);

/* Is it a mishap with this code? */
#define mishap_is(m, code) mishap_has_code((m), MISHAP_CODE_##code)
bool mishap_has_code(const mishap *m, const mishap_code *code);

/* Return from this function with the mishap of another, if there is one: MISHAP_TRY(step(call)); */
#define MISHAP_TRY(expression)                                                                     \
    do {                                                                                           \
        mishap *mishap_tried = (expression);                                                       \
        if (mishap_tried)                                                                          \
            return mishap_tried;                                                                   \
    } while (0)

/* The constant mishap that stands for "no memory left to say more". It need not be freed. */
mishap *mishap_out_of_memory(void);

/* Give it back, with its causes. */
void mishap_free(mishap *m);

/* -- telling: what the caller may know --------------------------------------------------------- */

/* A named value for the caller: number, boolean, C string (NULL: null), mishap_text, mishap_value.
 * Told twice: the last counts. */
#define mishap_tell(m, key, value)                                                                 \
    mishap_tell_value((m), mishap_text_of(key),                                                    \
                      mishap_value_as_spelled(MISHAP_VALUE(value), #value))
mishap *mishap_tell_value(mishap *m, mishap_text key, mishap_value value);

/* The message, in place of the one it was raised with. Under a masked code it stays private. */
mishap *mishap_message(mishap *m, mishap_text message);

/* One line about the cause, chosen for the caller: "Connection refused (ECONNREFUSED)". */
mishap *mishap_tell_cause(mishap *m, const char *summary);

/* What to do about it, and where to read more. */
mishap *mishap_suggest(mishap *m, const char *suggestion);
mishap *mishap_docs(mishap *m, const char *url);

/* May the same call be tried again, and when? Advice on when implies that it may. */
mishap *mishap_retryable(mishap *m, bool retryable);
mishap *mishap_retry_after(mishap *m, int64_t milliseconds);

/* The category of this occurrence, where it is not the code's. Not retryable any more unless said
 * afterwards. */
mishap *mishap_file_under(mishap *m, mishap_category category);

/* What the factories call: to drop what they return is a mistake, too. */
static inline __attribute__((warn_unused_result)) mishap *mishap_raised_in(mishap_category category,
                                                                           mishap *m)
{
    return mishap_file_under(m, category);
}

/* The id under which the private side is kept. */
mishap *mishap_incident(mishap *m, const char *id);

/* What is wrong with a field. The five rules of the HTTP API, and the open form that they are made
 * of. */
mishap *mishap_field_required(mishap *m, const char *field);
mishap *mishap_field_type(mishap *m, const char *field, const char *expected, const char *actual);
mishap *mishap_field_length(mishap *m, const char *field, mishap_value min, mishap_value max,
                            size_t actual);
mishap *mishap_field_range(mishap *m, const char *field, mishap_value min, mishap_value max,
                           mishap_value actual);
mishap *mishap_field_pattern(mishap *m, const char *field, const char *pattern);
mishap *mishap_field_add(mishap *m, const mishap_field *field);

/* A sentence about the field that was added last, for people and for models. Where none is said,
 * those dialects that have sentences make one of the other members. */
__attribute__((format(printf, 2, 3))) mishap *mishap_field_says(mishap *m, const char *format, ...);

/* Of code that the caller sent to be run: condition type, what it printed, its frames from the
 * innermost. */
mishap *mishap_type(mishap *m, const char *type);
mishap *mishap_output(mishap *m, mishap_text output);
mishap *mishap_frame_add(mishap *m, mishap_text frame);

/* -- noting: what only the operator may know --------------------------------------------------- */

/* A named value for the operator. */
#define mishap_note(m, key, value)                                                                 \
    mishap_note_value((m), mishap_text_of(key),                                                    \
                      mishap_value_as_spelled(MISHAP_VALUE(value), #value))
mishap *mishap_note_value(mishap *m, mishap_text key, mishap_value value);

/* What this one was caused by. The cause belongs to the mishap from now on; of several, each is the
 * cause of the one before. If either is NULL the other is returned. */
mishap *mishap_because(mishap *m, mishap *cause);

/* The cause, NULL if there is none. */
const mishap *mishap_cause(const mishap *m);

/*
 * The whole account for the operator, private side included: several lines of text, added to the
 * buffer, which must not be NULL. Never send it to a caller. The names of functions are looked up
 * by a child process, which takes some milliseconds.
 */
void mishap_account(const mishap *m, mishap_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
