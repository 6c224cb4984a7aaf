#include "wrap/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

bool mishap_wrap_terminal_resize(int model, int ours)
{
    struct winsize size, before;
    if (ioctl(model, TIOCGWINSZ, &size) != 0 || ioctl(ours, TIOCGWINSZ, &before) != 0)
        return false;
    bool other = size.ws_row != before.ws_row || size.ws_col != before.ws_col ||
                 size.ws_xpixel != before.ws_xpixel || size.ws_ypixel != before.ws_ypixel;
    return other && ioctl(ours, TIOCSWINSZ, &size) == 0;
}

bool mishap_wrap_terminal_open(int model, int *ours, int *theirs)
{
    struct termios mode;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave = -1;
    if (master >= 0 && tcgetattr(model, &mode) == 0 && unlockpt(master) == 0)
        slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0) {
        if (master >= 0)
            close(master);
        return false;
    }
    mode.c_oflag &= ~(tcflag_t)OPOST; /* line feeds are expanded once, behind it */
    mode.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
    tcsetattr(slave, TCSANOW, &mode);
    mishap_wrap_terminal_resize(model, master);
    *ours = master;
    *theirs = slave;
    return true;
}
