/*
 * JSON reading: yyjson, and the checks that it leaves to us.
 *
 * yyjson takes what RFC 8259 calls JSON. Some of that is legal and still dangerous, since two readers can see
 * two different documents in it: the same key twice in an object, a NUL inside a key, nesting without end.
 * mishap_json_inspect() finds all of those. Integers beyond 64 bits are kept as the text of their digits.
 */
#ifndef MISHAP_BASE_JSON_READ_H
#define MISHAP_BASE_JSON_READ_H

#include <yyjson.h>

#include "base/buffer.h"
#include "mishap/value.h"

enum { MISHAP_JSON_MAX_DEPTH = 128 };

typedef enum mishap_json_flaw {
    MISHAP_JSON_SOUND,
    MISHAP_JSON_NO_MEMORY,
    MISHAP_JSON_MALFORMED,      /* not JSON at all; the place is a line and a column */
    MISHAP_JSON_LONE_SURROGATE, /* half of a pair, as \ud800: read as U+FFFD */
    MISHAP_JSON_DUPLICATE_KEY,
    MISHAP_JSON_NUL_IN_KEY,
    MISHAP_JSON_TOO_DEEP,
} mishap_json_flaw;

/* The way from the root to a value, kept while walking, written out only when something is to be said. */
typedef struct mishap_json_path {
    size_t depth;
    struct mishap_json_step {
        mishap_text key; /* without data: a step into an array */
        size_t index;
    } steps[MISHAP_JSON_MAX_DEPTH + 2];
} mishap_json_path;

/* The path as a JSON pointer (RFC 6901). */
void mishap_json_put_pointer(mishap_buffer *buffer, const mishap_json_path *path);

/* A reader keeps its memory from document to document. */
typedef struct mishap_json_reader {
    void *pool;
    size_t pool_size;
    char *mended; /* a copy of the document whose lone surrogates were replaced */
    yyjson_doc *document;
    yyjson_val *root;

    /* Of the last document, when it was not sound: */
    mishap_json_flaw flaw;
    const char *problem; /* a phrase such as "unexpected character" */
    size_t line, column; /* counted from 1, columns in bytes */
} mishap_json_reader;

#define MISHAP_JSON_READER { 0 }

/*
 * Read a document: `root` is set and stays valid until the next read or release. False, with flaw, problem, line
 * and column set, if it is not JSON or there is no memory. A lone surrogate is no reason to refuse: it is read as
 * U+FFFD and leaves the flaw MISHAP_JSON_LONE_SURROGATE with its place.
 */
bool mishap_json_read(mishap_json_reader *reader, mishap_text text);
void mishap_json_reader_release(mishap_json_reader *reader);

/* Called during a walk. The path holds the place of the value or key. */
typedef struct mishap_json_visitor {
    void (*flaw)(void *state, mishap_json_flaw flaw, const mishap_json_path *path);
    void (*string)(void *state, yyjson_val *string, const mishap_json_path *path); /* may be NULL */
    void *state;
} mishap_json_visitor;

/* Walk the whole document, in order, and report every flaw. */
void mishap_json_inspect(yyjson_val *root, const mishap_json_visitor *visitor);

/* The text of a string or of a number that was kept as text; none for anything else. */
static inline mishap_text mishap_json_text(yyjson_val *value)
{
    return yyjson_is_str(value) || yyjson_is_raw(value)
               ? (mishap_text){ unsafe_yyjson_get_str(value), unsafe_yyjson_get_len(value) }
               : (mishap_text){ NULL, 0 };
}

/* Where in the text a value of the document that was read from it stands: line and column from 1. */
void mishap_json_locate(mishap_text text, yyjson_val *root, yyjson_val *value, size_t *line, size_t *column);

/* A string, number, boolean or null; for anything else no value. It points into the document. */
mishap_value mishap_json_scalar(yyjson_val *value);

/* True if the object has this very member name at this place of a foreach. */
#define MISHAP_JSON_IS(key, literal)                      \
    (unsafe_yyjson_get_len(key) == sizeof(literal) - 1 && \
     memcmp(unsafe_yyjson_get_str(key), (literal), sizeof(literal) - 1) == 0)

#endif
