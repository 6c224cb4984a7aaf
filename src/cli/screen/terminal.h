/* The terminal of standard output or standard error: its width and its abilities. */
#ifndef MISHAP_CLI_SCREEN_TERMINAL_H
#define MISHAP_CLI_SCREEN_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* True for a terminal that understands escape sequences. Not if TERM is dumb. */
bool mishap_cli_is_smart(int file);

/* … and if bold and colours are wanted. Not with NO_COLOR. */
bool mishap_cli_wants_color(int file);

/* Its number of columns: that of the terminal, else COLUMNS, else 80. A file that is no terminal
 * has no limit: MISHAP_CLI_ANY_WIDTH. */
size_t mishap_cli_terminal_width(int file);

#endif
