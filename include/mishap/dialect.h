/*
 * Dialects: how one wire spells a mishap.
 *
 * A dialect renders the public side of a mishap, parses a document back into a mishap, and verifies
 * any document, whoever wrote it, against the rules of that wire.
 *
 * Dialects are constant: nothing that is returned of them is to be freed, and any thread may use
 * them. A mishap and a buffer are one thread's at a time. A dialect that is NULL has no name, and
 * must not be used otherwise; a document without data is an empty one.
 */
#ifndef MISHAP_DIALECT_H
#define MISHAP_DIALECT_H

#include "mishap/mishap.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mishap_dialect mishap_dialect;

/* All of them, in the order of the documentation; the list ends with NULL. */
const mishap_dialect *const *mishap_dialects(void);

/* The dialect of this name (`http-api`), NULL if there is none, or no name. */
const mishap_dialect *mishap_dialect_find(const char *name);

const char *mishap_dialect_name(const mishap_dialect *dialect);
const char *mishap_dialect_media_type(const mishap_dialect *dialect);

/*
 * Render the public side of a mishap into a buffer that is empty. The result is the buffer's
 * content, or, if there was no memory for it, a constant document of the same dialect: it is always
 * well-formed and valid as long as the buffer is. NULL in place of a mishap is rendered as an
 * INTERNAL_ERROR.
 */
mishap_text mishap_render(const mishap_dialect *dialect, const mishap *m, mishap_buffer *buffer);

/*
 * In a condition report, message and captured output are cut at this many bytes, on a character
 * boundary and with a mark at the end; after this many frames comes a line of three dots.
 */
enum { MISHAP_REPORT_TEXT_LIMIT = 65536, MISHAP_REPORT_FRAME_LIMIT = 20 };

/*
 * Read a document. On success NULL is returned and *out is a mishap of the caller's. Else the
 * mishap that is returned, the caller's too, says what is wrong and where (told as `line`, `column`
 * and, inside JSON, `pointer`), and *out is left alone. `out` must not be NULL.
 *
 * It takes what can be understood: a document that breaks a rule of verify() but still says what
 * went wrong is read.
 */
__attribute__((warn_unused_result)) mishap *mishap_parse(const mishap_dialect *dialect,
                                                         mishap_text document, mishap **out);

/* -- verifying --------------------------------------------------------------------------------- */

typedef enum mishap_severity {
    MISHAP_WARNING, /* allowed, but a reader will stumble */
    MISHAP_ERROR,   /* the document does not conform */
    MISHAP_FATAL,   /* it could not even be read; nothing else was checked */
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
 * Check a document against the rules of a dialect. All findings are reported. `strict` also takes
 * to the letter what is open by default. The result is a mishap only if there was no memory to
 * check it all. `found` must not be NULL; `state` is handed to it as it is.
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

#ifdef __cplusplus
}
#endif

#endif
