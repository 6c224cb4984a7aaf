#include "wrap/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { SMALL = 4096 }; /* a pipe that is ready takes so many bytes without blocking */

/*
 * The reader of an output, so that writing never blocks: a signal or the end of the time must be
 * noticed while the reader is slow. Descriptors are shared with other processes, so their flags are
 * not changed: a pipe or a terminal is opened again.
 */
static void open_sink(mishap_wrap_stream *stream, int to)
{
    char path[32];
    struct stat about;
    bool known = fstat(to, &about) == 0;
    stream->socket = known && S_ISSOCK(about.st_mode);
    if (known && (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode))) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", to);
        stream->to = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        stream->may_block = stream->to < 0;
    }
    if (stream->to < 0)
        stream->to = fcntl(to, F_DUPFD_CLOEXEC, 3);
}

bool mishap_wrap_stream_open(mishap_wrap_stream *stream, int from, int to)
{
    *stream = (mishap_wrap_stream){ .from = from, .to = -1, .file = -1 };
    if (to >= 0)
        open_sink(stream, to);
    stream->room = mishap_allocate(2 * MISHAP_WRAP_TAIL);
    return stream->room;
}

static void close_file(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

void mishap_wrap_stream_close(mishap_wrap_stream *stream)
{
    close_file(&stream->from);
    close_file(&stream->to);
    close_file(&stream->file);
    mishap_release(stream->room);
    stream->room = NULL;
}

bool mishap_wrap_stream_waits(const mishap_wrap_stream *stream)
{
    return stream->to >= 0 && stream->written < stream->filled;
}

/* -- captured ---------------------------------------------------------------------------------- */

static bool write_all(int file, mishap_text text)
{
    while (text.length) {
        ssize_t count = write(file, text.data, text.length);
        if (count < 0 && errno != EINTR)
            return false;
        text.data += count > 0 ? count : 0;
        text.length -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* What does not fit into memory goes to a file, with all that came before. */
static void spill(mishap_wrap_stream *stream)
{
    const char *folder = getenv("TMPDIR");
    int length = snprintf(stream->path, sizeof stream->path, "%s/mishap-wrap-XXXXXX",
                          folder && *folder == '/' ? folder : "/tmp");
    stream->file = length < (int)sizeof stream->path ? mkostemp(stream->path, O_CLOEXEC) : -1;
    if (stream->file < 0 || !write_all(stream->file, mishap_buffer_text(&stream->kept))) {
        stream->kept.failed = true; /* it is told that the output is not complete */
        return;
    }
    mishap_buffer_release(&stream->kept);
}

static void capture(mishap_wrap_stream *stream, mishap_text text)
{
    if (stream->kept.failed)
        return;
    if (stream->file < 0 && text.length > stream->limit - stream->kept.length)
        spill(stream);
    if (stream->file >= 0)
        stream->kept.failed = !write_all(stream->file, text);
    else
        mishap_buffer_put_text(&stream->kept, text);
}

/* -- moving ------------------------------------------------------------------------------------ */

static void read_some(mishap_wrap_stream *stream)
{
    if (stream->filled == MISHAP_WRAP_TAIL) {
        stream->half = !stream->half;
        stream->filled = stream->written = 0;
        stream->turned = true;
    }
    char *at = stream->room + stream->half * MISHAP_WRAP_TAIL + stream->filled;
    ssize_t count = read(stream->from, at, MISHAP_WRAP_TAIL - stream->filled);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (count <= 0) { /* the end; EIO at the end of a pseudo-terminal */
        close_file(&stream->from);
        return;
    }
    if (stream->limit)
        capture(stream, (mishap_text){ at, (size_t)count });
    stream->filled += (size_t)count;
    stream->bytes += (uint64_t)count;
    if (stream->to < 0)
        stream->written = stream->filled;
}

/*
 * After such an error nothing that is written will arrive: the reader of a pipe or a socket has
 * gone, or the terminal. Then the command gets the same: SIGPIPE or EPIPE from its pipe, EIO from
 * its pseudo-terminal.
 */
static bool has_gone(const mishap_wrap_stream *stream, int error)
{
    if (error == EPIPE || error == ECONNRESET)
        return true;
    struct pollfd sink = { .fd = stream->to };
    return error == EIO && stream->from >= 0 && isatty(stream->from) && poll(&sink, 1, 0) == 1 &&
           sink.revents & POLLHUP;
}

static void write_some(mishap_wrap_stream *stream)
{
    const char *at = stream->room + stream->half * MISHAP_WRAP_TAIL + stream->written;
    size_t length = stream->filled - stream->written;
    if (stream->may_block && length > SMALL)
        length = SMALL;
    ssize_t count = stream->socket ? send(stream->to, at, length, MSG_DONTWAIT | MSG_NOSIGNAL)
                                   : write(stream->to, at, length);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    int error = count < 0 ? errno : 0;
    if (error && has_gone(stream, error)) { /* the command learns that when it writes */
        close_file(&stream->to);
        close_file(&stream->from);
        return;
    }
    /* On a full disk these bytes are lost. A command that ignores errors of its output goes on
     * then, and most do that with stderr. */
    if (error)
        stream->lost = error;
    stream->written += error ? length : (size_t)count;
}

void mishap_wrap_stream_move(mishap_wrap_stream *stream)
{
    if (mishap_wrap_stream_waits(stream)) {
        write_some(stream);
        return;
    }
    read_some(stream);
    if (mishap_wrap_stream_waits(stream) && !stream->may_block)
        write_some(stream); /* mostly there is room, and one wait is enough for both */
}

void mishap_wrap_stream_tail(const mishap_wrap_stream *stream, mishap_buffer *tail)
{
    if (!stream->room)
        return;
    if (stream->turned)
        mishap_buffer_put(tail, stream->room + !stream->half * MISHAP_WRAP_TAIL + stream->filled,
                          MISHAP_WRAP_TAIL - stream->filled);
    mishap_buffer_put(tail, stream->room + stream->half * MISHAP_WRAP_TAIL, stream->filled);
}
