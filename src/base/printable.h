/* Make text safe for a terminal or a log: replace control characters. */
#ifndef MISHAP_BASE_PRINTABLE_H
#define MISHAP_BASE_PRINTABLE_H

#include "base/buffer.h"

/* Is this a control character beyond ASCII, U+0080 to U+009F? They are two bytes: C2 80 to C2 9F.
 */
static inline bool mishap_is_c1(const char *at, const char *end)
{
    return (unsigned char)at[0] == 0xC2 && end - at > 1 && (unsigned char)at[1] < 0xA0;
}

/* The text with a question mark for each control character, and for each that changes the direction
 * of writing or is a line separator of Unicode; line feeds and tabs stay. */
void mishap_put_printable(mishap_buffer *buffer, mishap_text text);

/* The same on one line: they are replaced too. */
void mishap_put_printable_line(mishap_buffer *buffer, mishap_text text);

#endif
