/*
 * Dialects: the error formats in which a mishap can be written.
 *
 * A dialect renders the public side of a mishap, parses a document back into a mishap, and checks
 * any document, also that of another program, against the rules of the format.
 *
 * Dialects are constant: the caller must not free them, and any thread may use them. Only one
 * thread at a time may use a mishap or a buffer. A dialect that is NULL may only be passed to
 * mishap_dialect_name() and mishap_dialect_media_type(), which then return NULL. A document without
 * data is empty.
 */
#ifndef MISHAP_DIALECT_H
#define MISHAP_DIALECT_H

#include "mishap/mishap.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct mishap_dialect mishap_dialect;

/* All dialects, in the order of the documentation; the list ends with NULL. */
const mishap_dialect *const *mishap_dialects(void);

/* The dialect of this name (`http-api`), NULL if no dialect has this name, or if the name is
 * NULL. */
const mishap_dialect *mishap_dialect_find(const char *name);

/* The name of a dialect (`http-api`), and the media type of its documents. */
const char *mishap_dialect_name(const mishap_dialect *dialect);
const char *mishap_dialect_media_type(const mishap_dialect *dialect);

/*
 * Render the public side of a mishap into a buffer that is empty. The result is the buffer's
 * content, or, if there was no memory for it, a constant document of the same dialect. The result
 * is always well-formed and is valid as long as the buffer. A mishap that is NULL is rendered as
 * INTERNAL_ERROR.
 */
mishap_text mishap_render(const mishap_dialect *dialect, const mishap *m, mishap_buffer *buffer);

/*
 * The same for the caller of a service that answers in this dialect, as the boundaries do it. Where
 * the readers of a dialect know a short list of codes, a code that is not in it is replaced by the
 * one that fits best: of the artifact dialect VALIDATION_ERROR by MISSING_ARGUMENT, INVALID_TYPE or
 * INVALID_ARGUMENT. The result does not always have the same code when it is parsed.
 */
mishap_text mishap_render_answer(const mishap_dialect *dialect, const mishap *m,
                                 mishap_buffer *buffer);

/*
 * In a condition report, message and captured output are cut at this many bytes, on a character
 * boundary and with a mark at the end; after this many frames comes a line of three dots.
 */
enum { MISHAP_REPORT_TEXT_LIMIT = 65536, MISHAP_REPORT_FRAME_LIMIT = 20 };

/*
 * Read a document. On success NULL is returned, and *out is a mishap that the caller owns.
 * Otherwise the returned mishap, which the caller also owns, says what is wrong and where (told as
 * `line`, `column` and, inside JSON, `pointer`), and *out is not changed. `out` must not be NULL.
 *
 * Reading is tolerant: a document that breaks a rule of mishap_verify() is still read if it
 * identifies the error.
 */
__attribute__((warn_unused_result)) mishap *mishap_parse(const mishap_dialect *dialect,
                                                         mishap_text document, mishap **out);

/* -- verifying --------------------------------------------------------------------------------- */

typedef enum mishap_severity {
    MISHAP_WARNING, /* allowed, but readers may have problems */
    MISHAP_ERROR,   /* the document does not conform */
    MISHAP_FATAL,   /* the document could not be parsed; nothing else was checked */
} mishap_severity;

typedef struct mishap_finding {
    const char *rule; /* the rule's name, `missing-member` */
    mishap_severity severity;
    mishap_text place;    /* a JSON pointer ("" is the whole document), or `line 3, column 7` */
    mishap_text sentence; /* what is wrong */
} mishap_finding;

/* Called for each finding, in the order of the document. The finding is valid during the call only.
 */
typedef void mishap_found(void *state, const mishap_finding *finding);

/*
 * Check a document against the rules of a dialect. All findings are reported. `strict` enforces the
 * strict form of each rule. A mishap is returned only if there was not enough memory for the whole
 * check. `found` must not be NULL; it gets `state` unchanged.
 */
__attribute__((warn_unused_result)) mishap *mishap_verify(const mishap_dialect *dialect,
                                                          mishap_text document, bool strict,
                                                          mishap_found *found, void *state);

/* The rules, for documentation: name, worst severity and a sentence on each. The list ends with a
 * NULL name. */
typedef struct mishap_rule {
    const char *name;
    mishap_severity severity;
    const char *sentence;
    bool strict; /* applies only when strict */
} mishap_rule;
const mishap_rule *mishap_rules(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
