/* The terminal behind standard output or standard error: how wide it is, what it understands. */
#ifndef MISHAP_CLI_SCREEN_TERMINAL_H
#define MISHAP_CLI_SCREEN_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Is it a terminal that understands escape sequences? Not if TERM is dumb. */
bool mishap_cli_is_smart(int file);

/* … and are bold and colours wanted? Not with NO_COLOR. */
bool mishap_cli_wants_color(int file);

/* How many columns it has: what the terminal says, else what COLUMNS says, else 80. What is no
 * terminal has any number of them: MISHAP_CLI_ANY_WIDTH. */
size_t mishap_cli_terminal_width(int file);

#endif
