/*
 * How many columns of a terminal a text takes, and text that fits into some columns.
 *
 * A Chinese character or an emoji takes two columns, a combining accent none. The table is that of
 * Unicode, not that of the locale: programs of this library never call setlocale().
 */
#ifndef MISHAP_CLI_SCREEN_WIDTH_H
#define MISHAP_CLI_SCREEN_WIDTH_H

#include <stdint.h>

#include "base/base.h"

/* For `most`: the text is not cut. */
#define MISHAP_CLI_ANY_WIDTH SIZE_MAX

typedef enum mishap_cli_lines {
    MISHAP_CLI_ONE_LINE, /* a run of white space becomes one blank */
    MISHAP_CLI_ALL_LINES /* line feeds stay, a tab becomes four blanks */
} mishap_cli_lines;

/* How many columns a character takes: 0, 1 or 2. Control characters take one: they are replaced. */
size_t mishap_cli_char_width(uint32_t character);

/*
 * Put a text of any bytes so that a terminal only shows it: a question mark stands for each control
 * character, each byte that is no UTF-8 and each character that changes the direction of writing.
 * What takes more than `most` columns is cut, with … as its last character. Returns how many
 * columns it takes now; of several lines, all of them together.
 */
size_t mishap_cli_put_shown(mishap_buffer *buffer, mishap_text text, size_t most,
                            mishap_cli_lines lines);

/* How many columns a text takes that mishap_cli_put_shown() has made. */
size_t mishap_cli_width(mishap_text shown);

/* Blanks. */
void mishap_cli_put_blanks(mishap_buffer *buffer, size_t count);

#endif
