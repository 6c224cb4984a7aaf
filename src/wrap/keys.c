#include "wrap/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

void mishap_wrap_keys_open(mishap_wrap_keys *keys, int terminal)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", terminal);
    keys->from = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/*
 * Signals of keys are sent by the real terminal, whose process group the command is in. Everything
 * else that a terminal does with input is left to the other one. A process in the background must
 * not touch the terminal.
 */
static void begin(mishap_wrap_keys *keys, const struct termios *wanted)
{
    if (tcgetpgrp(keys->from) != getpgrp() || tcgetattr(keys->from, &keys->before) != 0)
        return;
    struct termios mode = keys->before;
    mode.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | ISTRIP);
    mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHOE | ECHOK | ECHONL | ISIG | IEXTEN);
    mode.c_lflag |= wanted->c_lflag & ISIG;
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    keys->on = tcsetattr(keys->from, TCSANOW, &mode) == 0;
    keys->used = keys->used || keys->on;
}

void mishap_wrap_keys_look(mishap_wrap_keys *keys, int ours)
{
    struct termios mode;
    if (keys->from < 0 || tcgetattr(ours, &mode) != 0)
        return;
    if (mode.c_lflag & ICANON)
        mishap_wrap_keys_pause(keys);
    else if (!keys->on)
        begin(keys, &mode);
}

int mishap_wrap_keys_file(const mishap_wrap_keys *keys)
{
    return keys->on && keys->stage == MISHAP_KEYS_NONE ? keys->from : -1;
}

int mishap_wrap_keys_wait(const mishap_wrap_keys *keys)
{
    enum { MOMENT_MS = 5 };
    if (!keys->on || keys->stage == MISHAP_KEYS_NONE)
        return -1;
    return keys->stage == MISHAP_KEYS_SEEN ? MOMENT_MS : keys->wait_ms;
}

/* A key, which is one byte, or several that begin with Escape. */
static ssize_t read_key(int from, char *bytes, size_t size)
{
    ssize_t count = read(from, bytes, 1);
    ssize_t more = count == 1 && bytes[0] == '\033' ? read(from, bytes + 1, size - 1) : 0;
    return more > 0 ? count + more : count;
}

static void pass_key(mishap_wrap_keys *keys, int ours)
{
    char bytes[16];
    keys->stage = MISHAP_KEYS_NONE;
    if (tcgetpgrp(keys->from) != getpgrp()) { /* the keys are for another program */
        mishap_wrap_keys_pause(keys);
        return;
    }
    ssize_t count = read_key(keys->from, bytes, sizeof bytes);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
        mishap_wrap_keys_close(keys); /* the terminal is gone */
    } else if (count > 0 && write(ours, bytes, (size_t)count) > 0) {
        keys->stage = MISHAP_KEYS_SENT;
        keys->wait_ms = 1;
    }
}

/* True if the command has read all keys. Asking by poll() also brings a key there that the kernel
 * was about to deliver. */
static bool is_read(int ours)
{
    int theirs = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    struct pollfd one = { .fd = theirs, .events = POLLIN };
    if (theirs < 0)
        return true;
    bool waits = poll(&one, 1, 0) > 0 && (one.revents & POLLIN);
    close(theirs);
    return !waits;
}

void mishap_wrap_keys_move(mishap_wrap_keys *keys, int ours, bool pressed)
{
    enum { LONGEST_MS = 64 };
    if (!keys->on)
        return;
    if (keys->stage == MISHAP_KEYS_SENT && is_read(ours)) {
        keys->stage = MISHAP_KEYS_NONE;
    } else if (keys->stage == MISHAP_KEYS_SENT) {
        keys->wait_ms = keys->wait_ms < LONGEST_MS ? keys->wait_ms * 2 : LONGEST_MS;
    } else if (keys->stage == MISHAP_KEYS_SEEN) {
        pass_key(keys, ours);
    } else if (pressed) {
        keys->stage = MISHAP_KEYS_SEEN;
    }
}

bool mishap_wrap_keys_denied(const mishap_wrap_keys *keys)
{
    pid_t owner = keys->used && keys->from >= 0 ? tcgetpgrp(keys->from) : -1;
    return owner > 0 && owner != getpgrp();
}

void mishap_wrap_keys_pause(mishap_wrap_keys *keys)
{
    if (keys->on && tcgetpgrp(keys->from) == getpgrp())
        tcsetattr(keys->from, TCSANOW, &keys->before);
    keys->on = false;
    keys->stage = MISHAP_KEYS_NONE;
}

void mishap_wrap_keys_close(mishap_wrap_keys *keys)
{
    mishap_wrap_keys_pause(keys);
    if (keys->from >= 0)
        close(keys->from);
    keys->from = -1;
}
