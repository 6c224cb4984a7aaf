/*
 * UTF-8: check text, find the first invalid byte, and repair text. Also some tests of characters.
 *
 * Valid means RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef MISHAP_BASE_UTF8_H
#define MISHAP_BASE_UTF8_H

#include "base/arena.h"

/* How many bytes from the start are valid UTF-8; the whole length if all are. */
size_t mishap_utf8_valid_length(mishap_text text);

/*
 * A copy in the arena that is valid UTF-8 without NUL: each byte that breaks it becomes U+FFFD, and
 * so does each NUL, for which C strings have no room. Text without data when there is no memory.
 */
mishap_text mishap_utf8_clean(mishap_arena *arena, mishap_text text);

/* The longest prefix of at most `limit` bytes that does not cut a character. */
size_t mishap_utf8_cut(mishap_text text, size_t limit);

/* How many characters a valid text has. */
size_t mishap_utf8_count(mishap_text text);

/* How many bytes the first `characters` characters of a valid text have; the whole length if it has
 * fewer. */
size_t mishap_utf8_bytes(mishap_text text, size_t characters);

/* White space only, or nothing. */
bool mishap_blank(mishap_text text);

/* A small letter, then small letters, digits and _. */
bool mishap_lower_snake(mishap_text text);

#endif
