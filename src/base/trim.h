/* A text without blanks at its ends. */
#ifndef MISHAP_BASE_TRIM_H
#define MISHAP_BASE_TRIM_H

#include "mishap/text.h"

/* The text without those of these characters that it begins and ends with, such as " \t". */
static inline mishap_text mishap_trim(mishap_text text, const char *characters)
{
    size_t count = strlen(characters);
    while (text.length && memchr(characters, text.data[0], count)) {
        text.data++;
        text.length--;
    }
    while (text.length && memchr(characters, text.data[text.length - 1], count))
        text.length--;
    return text;
}

#endif
