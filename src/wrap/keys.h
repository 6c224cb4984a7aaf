/*
 * The keys of a person, for a command that reads them from its stderr. A pager does that, since its
 * standard input may be the text that it shows. Its stderr is a pseudo-terminal here (terminal.h),
 * where no key is pressed. So as long as the command has switched that to single keys, those of the
 * real terminal are passed on.
 *
 * Programs that use curses switch the same terminal, since it is their standard output, and read
 * their keys from standard input. So a key is taken only if it is still there after a moment, and
 * the next one only when the command has read it: then a program of this kind loses one key at
 * most, and so does a shell of what a person types behind the `q` of a pager.
 */
#ifndef MISHAP_WRAP_KEYS_H
#define MISHAP_WRAP_KEYS_H

#include <stdbool.h>
#include <termios.h>

typedef enum mishap_wrap_stage {
    MISHAP_KEYS_NONE, /* none was pressed */
    MISHAP_KEYS_SEEN, /* one was: the command may read it itself */
    MISHAP_KEYS_SENT, /* the command did not read the one that was passed on yet */
} mishap_wrap_stage;

typedef struct mishap_wrap_keys {
    int from;              /* the real terminal, opened for reading; -1: there is none */
    bool on;               /* keys are passed on */
    struct termios before; /* the mode of the real terminal, if they are */
    mishap_wrap_stage stage;
    bool used;   /* keys were passed on at some time */
    int wait_ms; /* until the next look at a key that was sent */
} mishap_wrap_keys;

/* `terminal` is the real one; it is opened again. */
void mishap_wrap_keys_open(mishap_wrap_keys *keys, int terminal);

/* Begin or end to pass keys on, as the mode of the pseudo-terminal `ours` asks for it. */
void mishap_wrap_keys_look(mishap_wrap_keys *keys, int ours);

/* The descriptor to wait for, which becomes readable with a key; -1: none. */
int mishap_wrap_keys_file(const mishap_wrap_keys *keys);

/* After how many milliseconds mishap_wrap_keys_move() is due at the latest; -1: never. */
int mishap_wrap_keys_wait(const mishap_wrap_keys *keys);

/* Pass on the next key, if it is time for that. `pressed`: the descriptor is readable. */
void mishap_wrap_keys_move(mishap_wrap_keys *keys, int ours, bool pressed);

/* True if keys were passed on, and the terminal belongs to another program now. */
bool mishap_wrap_keys_denied(const mishap_wrap_keys *keys);

/* The real terminal has its own mode again. */
void mishap_wrap_keys_pause(mishap_wrap_keys *keys);

void mishap_wrap_keys_close(mishap_wrap_keys *keys);

#endif
