/*
 * The leaks in the text of a failure, and which of them are replaced. src/guard finds them; here is
 * what a boundary does about it:
 *
 *     trace, SQL, connection, credential and environment at high confidence: replaced
 *     what could not be judged (limit): replaced
 *     all others: only recorded, or replaced if the guard is strict
 *
 * What the caller sent in the same call is no leak.
 */
#ifndef MISHAP_MISHAP_LEAKS_H
#define MISHAP_MISHAP_LEAKS_H

#include "guard/leak.h"
#include "mishap/mishap.h"

struct yyjson_val;

/* The values of what the caller sent, and how they are added: a text as it is, each string of JSON,
 * or both for a text that may be JSON. */
typedef struct mishap_leaks_values mishap_leaks_values;
void mishap_leaks_add_value(mishap_leaks_values *values, mishap_text value);
void mishap_leaks_add_json(mishap_leaks_values *values, const struct yyjson_val *json);
void mishap_leaks_add_text(mishap_leaks_values *values, mishap_text text);

/* What is known when an answer is judged. `collect` is called when the first leak is found, and
 * once for all texts of an answer. */
typedef struct mishap_leaks_known {
    void (*collect)(mishap_leaks_values *values, const void *sent); /* NULL: nothing was sent */
    const void *sent;
    bool strict;                 /* replace all leaks, as a strict guard does */
    mishap_leaks_values *values; /* NULL until they are needed */
} mishap_leaks_known;

void mishap_leaks_known_release(mishap_leaks_known *known);

/* Whether all leaks are replaced, for this process and those that it forks: "normal" or "strict".
 * False: it is neither. */
bool mishap_leaks_set_guard(const char *name);
extern const char *const mishap_leaks_guards[];

/* The same for a program without a command line: it is strict if the variable NAME_GUARD says so.
 */
void mishap_leaks_read_variable(const char *program);

enum { MISHAP_MOST_LEAKS = 256 };

/* Leaks of one text, in the order of their first bytes. */
typedef struct mishap_leaks {
    size_t count, replaced; /* all of them, and those that have to be replaced */
    bool strict;            /* all have to be */
    struct mishap_leak_range {
        size_t start, end; /* bytes of the text */
        size_t own_end;    /* the same, also of the last one of too many */
        size_t secret,
            secret_end; /* what must not be shown of it; all of it if that is not known */
        mishap_leak_kind kind;
        bool replaced;
        const char *rule;
    } list[MISHAP_MOST_LEAKS]; /* if there are more, the last one ends with the text */
    mishap_buffer words;       /* for the operator: a line for each, without the secret parts */
} mishap_leaks;

/* Find them; false if there is none. A text without any costs one scan, without memory. `known`
 * may be NULL. */
bool mishap_leaks_find(mishap_leaks *leaks, mishap_text text, mishap_leaks_known *known);
void mishap_leaks_release(mishap_leaks *leaks);

/* The kind of the first leak of the text that has to be replaced; MISHAP_LEAK_KINDS: none. */
mishap_leak_kind mishap_leaks_kind(mishap_text text, mishap_leaks_known *known);

/* What replaces a text with a leak of this kind: "A stack trace was removed here." */
mishap_text mishap_leaks_sentence(mishap_leak_kind kind);
bool mishap_leaks_is_sentence(mishap_text text);

/* The failure for the operator: what was found in the document, which stood in a response. NULL if
 * nothing was found. It is a RUNTIME_ERROR if something was replaced. */
mishap *mishap_leaks_tell(const mishap_leaks *leaks, mishap_text document);

#endif
