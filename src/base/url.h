/* URLs: check the syntax, and write and read percent-encoding. */
#ifndef MISHAP_BASE_URL_H
#define MISHAP_BASE_URL_H

#include "mishap/text.h"

/* Whether a URL can have this character; those above ASCII are left to the reader. */
static inline bool mishap_url_character(unsigned char c)
{
    switch (c) {
    case '"':
    case '<':
    case '>':
    case '\\':
    case '^':
    case '`':
    case '{':
    case '|':
    case '}':
    case 127:
        return false;
    default:
        return c > ' ';
    }
}

/* An absolute URL: a scheme, a colon, something behind it, and no character that a URL cannot have.
 */
bool mishap_url_valid(mishap_text url);

/* The byte that the escape at `at` (%XX) stands for; -1 if there is none, or only a piece of one.
 */
int mishap_url_escape(const char *at, const char *end);

/*
 * Add a text to the buffer with its escapes replaced; in a form, `+` is a space. False, with
 * nothing added, if an escape is broken. The result is never longer than the text, and may be any
 * bytes: neither UTF-8 nor free of NUL.
 */
bool mishap_url_unescape(mishap_buffer *buffer, mishap_text text, bool form);

/* Add a text, in which only letters, digits, `-`, `_` and `.` stand for themselves. */
void mishap_url_put_escaped(mishap_buffer *buffer, mishap_text text);

/* True if a text, once its escapes are replaced, is `plain`. No memory is needed. */
bool mishap_url_spells(mishap_text text, mishap_text plain);

#endif
