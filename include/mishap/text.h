/*
 * Text with its length, and the buffer that text is written into.
 *
 * Text is never assumed to end with a NUL byte, but all text that a mishap stores has one after its
 * end, so that `data` can be passed to printf. A text owns nothing: it points at its bytes.
 *
 * Any thread may call these functions, but only one thread at a time may use the same buffer. A
 * buffer must not be NULL.
 */
#ifndef MISHAP_TEXT_H
#define MISHAP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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

/* True if both texts have the same bytes; a text without data equals an empty one. */
static inline bool mishap_text_equal(mishap_text a, mishap_text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/*
 * The first character of a text in UTF-8. The result is the number of bytes that it takes; 0: the
 * text is empty. If the text begins with a byte that is not part of a character (RFC 3629: no
 * overlong forms, no surrogates, nothing above U+10FFFF), the result is 1 and the character is
 * MISHAP_NO_CHARACTER: U+FFFD, which takes 3 bytes where a text really has it.
 */
enum { MISHAP_NO_CHARACTER = 0xFFFD };
size_t mishap_text_character(mishap_text text, uint32_t *character);

/*
 * A number for a text, for tables and for telling changes: FNV-1a (Fowler, Noll and Vo) with 64
 * bits. It is the same in every process, on every machine and in every version, so it may be kept
 * in a file. An attacker can find texts with the same number: a table of keys that callers choose
 * needs a limit.
 *
 * mishap_text_hash_on() continues: the hash of "ab" is that of "b" on that of "a".
 */
static inline uint64_t mishap_text_hash_on(uint64_t hash, mishap_text text)
{
    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(1099511628211);
    return hash;
}
static inline uint64_t mishap_text_hash(mishap_text text)
{
    return mishap_text_hash_on(UINT64_C(14695981039346656037), text);
}

/*
 * A growing run of bytes with one owner. If there is no memory, the buffer ignores further bytes
 * and sets `failed`, so a writer checks only once, at the end.
 */
typedef struct mishap_buffer {
    char *data;
    size_t length;
    size_t capacity;
    bool on_heap; /* `data` was allocated by the library, not by the caller */
    bool failed;
} mishap_buffer;

/* Start with an empty buffer. It uses the `size` bytes of `storage` first, and the heap when
 * these are not enough (NULL and 0: always the heap). */
void mishap_buffer_init(mishap_buffer *buffer, void *storage, size_t size);

/* Forget the content, keep the memory. */
void mishap_buffer_reset(mishap_buffer *buffer);

/* Free the memory. The buffer is empty afterwards and can be used again. */
void mishap_buffer_release(mishap_buffer *buffer);

/* Add a copy of these bytes; `data` may be NULL if there are none. Nothing happens to a buffer that
 * failed. */
void mishap_buffer_add(mishap_buffer *buffer, const char *data, size_t length);

/* The content. It belongs to the buffer and is valid until the buffer changes. */
static inline mishap_text mishap_buffer_text(const mishap_buffer *buffer)
{
    mishap_text text = { buffer->data, buffer->length };
    return text;
}

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
