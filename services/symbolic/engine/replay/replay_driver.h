/* The part of a replay that is Python: for the engine, and for the service that replays. */
#ifndef SYMBOLIC_REPLAY_DRIVER_H
#define SYMBOLIC_REPLAY_DRIVER_H

/* The Python code that makes the call: `replay(code, function, arguments, names, pre, post, other)`
 * gives a str: fields in hexadecimal digits, with commas between, in the order of read_fields() in
 * replay.c. */
extern const char replay_driver[];

#endif
