/* One output of a command: from a pipe or a pseudo-terminal to its reader. The last bytes stay in
 * memory. */
#ifndef MISHAP_WRAP_STREAM_H
#define MISHAP_WRAP_STREAM_H

#include "base/base.h"
#include "wrap/wrap.h"

typedef struct mishap_wrap_stream {
    int from;           /* -1: it has ended */
    int to;             /* -1: nothing is passed on */
    bool may_block;     /* writing to `to` may block, so that little is written at once */
    bool socket;        /* `to` is a socket */
    char *room;         /* two halves of MISHAP_WRAP_TAIL bytes, filled in turn */
    size_t half;        /* the half that is filled now: 0 or 1 */
    size_t filled;      /* bytes in it */
    bool turned;        /* the other half is full */
    size_t written;     /* bytes of this half that were passed on */
    uint64_t bytes;     /* read in all */
    int lost;           /* errno: some could not be written, and were dropped; 0: none */
    mishap_buffer kept; /* all of them, if they are captured and not in a file */
    size_t limit;       /* most bytes in `kept`; 0: they are not captured */
    int file;           /* the file that has all of them; -1: none */
    char path[128];     /* … its path */
} mishap_wrap_stream;

/* False: there is no memory. `to` is duplicated or opened again; -1: nothing is passed on. */
bool mishap_wrap_stream_open(mishap_wrap_stream *stream, int from, int to);
void mishap_wrap_stream_close(mishap_wrap_stream *stream);

/* True if bytes wait to be passed on; then nothing is read. */
bool mishap_wrap_stream_waits(const mishap_wrap_stream *stream);

/* Read once, or write once, what is due. The descriptor is ready. */
void mishap_wrap_stream_move(mishap_wrap_stream *stream);

/* Copy the last bytes. */
void mishap_wrap_stream_tail(const mishap_wrap_stream *stream, mishap_buffer *tail);

#endif
