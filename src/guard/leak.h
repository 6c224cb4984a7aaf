/*
 * The leak detector: which parts of a text show the inside of a program. It finds stack traces,
 * SQL, connection strings, credentials, dumps of the environment, absolute paths, internal hosts
 * and source code. The text may be anything: it is read as bytes and needs not be valid UTF-8.
 *
 *     leak.c        blocks, streams, and what is reported
 *     findings.c    what was found in a block
 *     echo.c        what the caller sent is no leak
 *     filter.c      where a literal of a rule stands in the bytes
 *     undo.c        escapes of JSON and of HTML undone, and the way back to the input
 *     characters.c  the kinds of each byte, for the checks
 *     excerpt.c     what is shown of a finding
 *     lines.c       on which line it stands
 *     rules.c       the table of all rules; the checks are in traces_*.c, sql.c, addresses.c,
 *                   places.c, services.c, credentials.c, tokens.c, told.c, environment.c and
 *                   source.c
 *
 * Each text is judged as it is, with the escapes of JSON undone once and twice, and with HTML
 * undone. The input is divided into blocks of a fixed size, and a rule sees a fixed number of bytes
 * before and behind its block: so the findings depend on the input alone, and not on how it was cut
 * into pieces. Time is linear in the size of the input: when the checks have taken too many steps
 * in a block, each rule that has a large part in it makes a finding of the kind MISHAP_LEAK_LIMIT
 * and is off for the rest of that block; the other rules go on. Rules of medium confidence have
 * steps of their own, and their limits are of medium confidence; those of the others are of high
 * confidence. When all together have taken too many, or many while a rule of the others is off, the
 * rest of the block is not judged, which such a finding tells, too. A check that gives up, since a
 * name or a value is longer than what it reads, makes a limit of medium confidence.
 */
#ifndef MISHAP_LEAK_H
#define MISHAP_LEAK_H

#include "base/buffer.h"

typedef enum mishap_leak_kind {
    MISHAP_LEAK_TRACE,
    MISHAP_LEAK_SQL,
    MISHAP_LEAK_CONNECTION,
    MISHAP_LEAK_CREDENTIAL,
    MISHAP_LEAK_ENVIRONMENT,
    MISHAP_LEAK_PATH,
    MISHAP_LEAK_HOST,
    MISHAP_LEAK_SOURCE,
    MISHAP_LEAK_LIMIT, /* a check reached its limit, so the text was not judged to its end */
} mishap_leak_kind;

enum { MISHAP_LEAK_KINDS = MISHAP_LEAK_LIMIT + 1 };

/* The names of the kinds, by their numbers: "trace", "sql" … */
extern const char *const mishap_leak_kind_names[MISHAP_LEAK_KINDS];

typedef enum mishap_leak_confidence {
    MISHAP_LEAK_MEDIUM, /* a class name, a private address, a path, source code */
    MISHAP_LEAK_HIGH,   /* a frame of a stack, a key, a password in an address */
} mishap_leak_confidence;

extern const char *const mishap_leak_confidence_names[]; /* "medium", "high" */

/* The longest excerpt. */
enum { MISHAP_LEAK_EXCERPT = 160 };

typedef struct mishap_leak {
    mishap_leak_kind kind;
    mishap_leak_confidence confidence;
    const char *rule;             /* a stable name, such as "python-frame" */
    const char *language;         /* of a trace: "Python"; else NULL */
    size_t start, length;         /* the bytes of the input, before anything was undone */
    size_t secret, secret_length; /* the bytes of the input that are never shown; length 0: the rule
                                     names none, and the whole match is meant */
    size_t line, column;          /* of the first byte, both from 1; a column is a byte */
    const char *view;    /* how the text had to be read: "text", "json", "json-twice", "html",
                            "json-html" (JSON undone, then HTML) or "html-json" */
    mishap_text excerpt; /* valid UTF-8 on one line, at most MISHAP_LEAK_EXCERPT bytes; credentials
                            and passwords are redacted. It lives until the function returns. */
} mishap_leak;

/* Called for each finding. Findings come in the order of their first bytes within a block. */
typedef void mishap_leak_found(void *state, const mishap_leak *leak);

/* What the caller sent: a match that stands inside one of these values is no leak. The values have
 * to stay until the scan has ended. */
typedef struct mishap_leak_known {
    const mishap_text *values;
    size_t count;
    size_t *left; /* the bytes of values that may still be compared, in several scans; NULL: each
                     scan has MISHAP_LEAK_KNOWN_BYTES. Without any left nothing is known. */
} mishap_leak_known;

enum { MISHAP_LEAK_KNOWN_BYTES = 16 * 1024 * 1024 };

/* Scan a text that is in memory. `known` may be NULL. No memory is allocated. */
void mishap_leak_scan(mishap_text text, const mishap_leak_known *known, mishap_leak_found *found,
                      void *state);

/* The same in pieces, with at most 64 KB of state: the findings are those of one scan of the whole
 * text, wherever it is cut. */
typedef struct mishap_leak_stream mishap_leak_stream;

/* NULL: no memory. */
mishap_leak_stream *mishap_leak_open(const mishap_leak_known *known, mishap_leak_found *found,
                                     void *state);
void mishap_leak_feed(mishap_leak_stream *stream, mishap_text piece);

/* Report the rest, and release the stream. NULL is allowed. */
void mishap_leak_close(mishap_leak_stream *stream);

#endif
