/*
 * Text with its length, and the buffer that text is written into.
 *
 * Text is never assumed to end with a NUL byte, though all text that a mishap keeps has one after
 * its end, so that `data` can be handed to printf. A text owns nothing: it points at its bytes.
 *
 * Any thread may call these functions, but only one at a time with the same buffer. A buffer must
 * not be NULL.
 */
#ifndef MISHAP_TEXT_H
#define MISHAP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mishap_text {
    const char *data; /* NULL only if there is no text at all */
    size_t length;
} mishap_text;

/* The text of a string literal, in constant expressions too. */
#define MISHAP_TEXT(literal)                                                                       \
    {                                                                                              \
        "" literal, sizeof(literal) - 1                                                            \
    }

/* The text of a C string; no text for NULL. */
static inline mishap_text mishap_text_of(const char *string)
{
    mishap_text text = { string, string ? strlen(string) : 0 };
    return text;
}

static inline bool mishap_text_equal(mishap_text a, mishap_text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/*
 * A growing run of bytes with one owner. When memory runs out it stops taking bytes and remembers
 * that it `failed`, so a writer checks once, at the end.
 */
typedef struct mishap_buffer {
    char *data;
    size_t length;
    size_t capacity;
    bool on_heap; /* `data` is the library's, not the caller's storage */
    bool failed;
} mishap_buffer;

/* Start empty, in `storage` of `size` bytes as long as that is enough (NULL and 0: on the heap at
 * once). */
void mishap_buffer_init(mishap_buffer *buffer, void *storage, size_t size);

/* Forget the content, keep the memory. */
void mishap_buffer_reset(mishap_buffer *buffer);

/* Give the memory back. The buffer is empty afterwards and can be used again. */
void mishap_buffer_release(mishap_buffer *buffer);

/* Add a copy of these bytes; `data` may be NULL if there are none. Nothing happens to a buffer that
 * failed. */
void mishap_buffer_add(mishap_buffer *buffer, const char *data, size_t length);

/* The content; it is the buffer's, until that changes. */
static inline mishap_text mishap_buffer_text(const mishap_buffer *buffer)
{
    mishap_text text = { buffer->data, buffer->length };
    return text;
}

#ifdef __cplusplus
}
#endif

#endif
