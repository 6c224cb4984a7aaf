/*
 * JSON reading: yyjson, and the checks that it does not make.
 *
 * yyjson accepts all JSON of RFC 8259. Some of that is legal and still dangerous, since two parsers
 * can read two different documents from it: the same key twice in an object, a NUL inside a key,
 * nesting without end. mishap_json_inspect() finds all of those. Integers beyond 64 bits are kept
 * as the text of their digits.
 */
#ifndef MISHAP_BASE_JSON_READ_H
#define MISHAP_BASE_JSON_READ_H

#include <yyjson.h>

#include "base/arena.h"
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

/* The path from the root to a value, updated during a walk, and written out only when there is
 * something to report. */
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
    void *storage; /* memory of the caller, for small documents */
    size_t storage_size;
    void *pool; /* its own memory, for larger ones */
    size_t pool_size;
    mishap_text text; /* the document that was read */
    char *mended;     /* a copy of the document whose lone surrogates were replaced */
    yyjson_doc *document;
    yyjson_val *root;

    /* Of the last document, if it has a flaw: */
    mishap_json_flaw flaw;
    const char *problem; /* a phrase such as "unexpected character" */
    size_t line, column; /* counted from 1, columns in bytes */
} mishap_json_reader;

/* A reader that takes all its memory from the heap, and one that reads documents of a few hundred
 * bytes without: `array` is an array of the caller's, best of MISHAP_JSON_STORAGE bytes. */
#define MISHAP_JSON_READER                                                                         \
    {                                                                                              \
        0                                                                                          \
    }
#define MISHAP_JSON_READER_IN(array)                                                               \
    {                                                                                              \
        .storage = (array), .storage_size = sizeof(array)                                          \
    }
enum { MISHAP_JSON_STORAGE = 6144 };

/*
 * Read a document: `root` is set and stays valid until the next read or release. False, with flaw,
 * problem, line and column set, if it is not JSON or there is no memory. A lone surrogate is no
 * reason to refuse: it is read as U+FFFD and leaves the flaw MISHAP_JSON_LONE_SURROGATE with its
 * place.
 */
bool mishap_json_read(mishap_json_reader *reader, mishap_text text);
void mishap_json_reader_release(mishap_json_reader *reader);

/* The root of a document that is known to be valid, in an arena; NULL without memory. */
yyjson_val *mishap_json_read_into(mishap_arena *arena, mishap_text text);

/* Called during a walk. The path holds the place of the value or key. */
typedef struct mishap_json_visitor {
    void (*flaw)(void *state, mishap_json_flaw flaw, const mishap_json_path *path);

    /* Called for every string; may be NULL. The walk is skipped if no string is suspect; that is
     * asked before, for each string and, if it is a member, its key. */
    void (*string)(void *state, yyjson_val *string, const mishap_json_path *path);
    bool (*suspect)(mishap_text string, mishap_text key);
    void *state;
} mishap_json_visitor;

/* Report every flaw of the document that was read, in its order. */
void mishap_json_inspect(const mishap_json_reader *reader, const mishap_json_visitor *visitor);

/* The first of these flaws, if there is one, and the value that has it; for a flaw of a key, the
 * value behind it. Only mishap_json_read() reports a lone surrogate. */
mishap_json_flaw mishap_json_first_flaw(const mishap_json_reader *reader, yyjson_val **at);

/* The text of a string or of a number that was kept as text; none for anything else. */
static inline mishap_text mishap_json_text(yyjson_val *value)
{
    return yyjson_is_str(value) || yyjson_is_raw(value)
               ? (mishap_text){ unsafe_yyjson_get_str(value), unsafe_yyjson_get_len(value) }
               : (mishap_text){ NULL, 0 };
}

/* The position of a value in the text that it was read from: line and column from 1. */
void mishap_json_locate(mishap_text text, yyjson_val *root, yyjson_val *value, size_t *line,
                        size_t *column);

/* A string, number, boolean or null; for anything else no value. It points into the document. */
static inline mishap_value mishap_json_scalar(yyjson_val *value)
{
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_NULL:
        return (mishap_value){ .kind = MISHAP_KIND_NULL };
    case YYJSON_TYPE_BOOL:
        return mishap_value_of_bool(unsafe_yyjson_get_bool(value));
    case YYJSON_TYPE_NUM:
        if (yyjson_is_real(value))
            return mishap_value_of_real(unsafe_yyjson_get_real(value));
        return yyjson_is_sint(value) ? mishap_value_of_int(unsafe_yyjson_get_sint(value))
                                     : mishap_value_of_uint(unsafe_yyjson_get_uint(value));
    case YYJSON_TYPE_STR:
        return mishap_value_of_text(mishap_json_text(value));
    default:
        return mishap_value_none();
    }
}

/* The members of an object and the items of an array, in order; none if it is NULL or something
 * else. */
#define MISHAP_JSON_MEMBERS(object, index, count, key, value)                                      \
    for ((index) = 0, (count) = yyjson_obj_size(object),                                           \
        (key) = (count) ? unsafe_yyjson_get_first(object) : NULL,                                  \
        (value) = (count) ? (key) + 1 : NULL;                                                      \
         (index) < (count); (index)++, (key) = unsafe_yyjson_get_next(value), (value) = (key) + 1)
#define MISHAP_JSON_ITEMS(array, index, count, item)                                               \
    for ((index) = 0, (count) = yyjson_arr_size(array),                                            \
        (item) = (count) ? unsafe_yyjson_get_first(array) : NULL;                                  \
         (index) < (count); (index)++, (item) = unsafe_yyjson_get_next(item))

/* True if the object has this very member name at this place of a foreach. */
#define MISHAP_JSON_IS(key, literal)                                                               \
    (unsafe_yyjson_get_len(key) == sizeof(literal) - 1 &&                                          \
     memcmp(unsafe_yyjson_get_str(key), (literal), sizeof(literal) - 1) == 0)

#endif
