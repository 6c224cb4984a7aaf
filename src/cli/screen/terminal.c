#include "cli/screen/terminal.h"
#include "cli/screen/width.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL = 80, WIDEST = 10000 };

bool mishap_cli_is_smart(int file)
{
    const char *terminal = getenv("TERM");
    return isatty(file) && !(terminal && strcmp(terminal, "dumb") == 0);
}

bool mishap_cli_wants_color(int file)
{
    const char *unwanted = getenv("NO_COLOR");
    return mishap_cli_is_smart(file) && !(unwanted && *unwanted);
}

size_t mishap_cli_terminal_width(int file)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    long number = columns ? strtol(columns, NULL, 10) : 0;
    if (!isatty(file))
        return MISHAP_CLI_ANY_WIDTH;
    if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        number = size.ws_col;
    return number <= 0 ? USUAL : number < WIDEST ? (size_t)number : WIDEST;
}
