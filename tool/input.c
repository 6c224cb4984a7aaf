/* Reading a file or standard input, whole or line by line. */
#include "tool.h"

#include <stdio.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/system.h"

#include "base/buffer.h"

enum { BLOCK = 1 << 18, LARGEST = 1 << 28 };

struct input {
    const char *name; /* NULL: standard input */
    int descriptor;
};

/* What the system says, as one line: "No such file or directory (ENOENT)". */
static mishap *unreadable(const struct input *input, mishap *m, int error)
{
    char cause[128];
    mishap_system_error(error, cause, sizeof cause);
    if (input->name)
        m = mishap_tell(m, "file", input->name);
    return mishap_tell_cause(m, cause);
}

static mishap *open_input(const char *file, struct input *input)
{
    *input = (struct input){ NULL, STDIN_FILENO };
    if (!file || strcmp(file, "-") == 0) {
        if (isatty(STDIN_FILENO))
            fputs("Reading standard input; end with Ctrl-D.\n", stderr);
        return NULL;
    }
    *input = (struct input){ file, open(file, O_RDONLY | O_CLOEXEC) };
    if (input->descriptor >= 0)
        return NULL;
    int error = errno;
    return unreadable(input, mishap_raise(INPUT_UNREADABLE, "Cannot open the file %s.", file),
                      error);
}

static void close_input(const struct input *input)
{
    if (input->name)
        close(input->descriptor);
}

/* Read one more block behind what the buffer holds; `got` is 0 at the end. */
static mishap *read_block(const struct input *input, mishap_buffer *buffer, size_t *got)
{
    if (!mishap_buffer_reserve(buffer, BLOCK))
        return mishap_out_of_memory();
    ssize_t count;
    do
        count = read(input->descriptor, buffer->data + buffer->length,
                     buffer->capacity - buffer->length);
    while (count < 0 && errno == EINTR);
    int error = errno;
    if (count < 0)
        return unreadable(input, mishap_raise(INPUT_UNREADABLE, NULL), error);
    *got = (size_t)count;
    buffer->length += *got;
    if (buffer->length > LARGEST)
        return mishap_raise(CONTENT_TOO_LARGE, "The input, or a line of it, is larger than %d MB.",
                            LARGEST >> 20);
    return NULL;
}

mishap *tool_read_input(const char *file, mishap_buffer *to)
{
    struct input input;
    size_t got = 1;
    mishap *failure = open_input(file, &input);
    if (failure)
        return failure;
    while (!failure && got)
        failure = read_block(&input, to, &got);
    close_input(&input);
    return failure;
}

mishap *tool_read_pieces(const char *file, void (*piece)(void *state, mishap_text text),
                         void *state)
{
    struct input input;
    size_t got = 1;
    mishap_buffer block = { 0 };
    mishap *failure = open_input(file, &input);
    if (failure)
        return failure;
    while (!failure && got) {
        failure = read_block(&input, &block, &got);
        if (!failure)
            piece(state, mishap_buffer_text(&block));
        mishap_buffer_reset(&block);
    }
    close_input(&input);
    mishap_buffer_release(&block);
    return failure;
}

mishap *tool_read_lines(const char *file,
                        mishap *(*line)(void *state, mishap_text text, size_t number), void *state)
{
    struct input input;
    size_t got = 1, number = 0;
    mishap_buffer block = { 0 };
    mishap *failure = open_input(file, &input);
    if (failure)
        return failure;
    while (!failure && got) {
        size_t old = block.length, done = 0;
        failure = read_block(&input, &block, &got);
        if (failure)
            break;
        char *end = block.data + block.length, *feed = block.data + old;
        while (!failure && (feed = memchr(feed, '\n', (size_t)(end - feed)))) {
            mishap_text text = { block.data + done, (size_t)(feed - block.data) - done };
            failure = line(state, text, ++number);
            done += text.length + 1;
            feed++;
        }
        if (!failure && !got && done < block.length)
            failure = line(state, (mishap_text){ block.data + done, block.length - done },
                           ++number);
        memmove(block.data, block.data + done, block.length - done);
        block.length -= done;
    }
    close_input(&input);
    mishap_buffer_release(&block);
    return failure;
}
