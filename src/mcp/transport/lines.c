/* Messages as lines of two descriptors: see lines.h. */
#include "mcp/transport/lines.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum {
    READ_SIZE = 64 * 1024,   /* the size of a pipe buffer */
    WRITE_SIZE = 256 * 1024, /* bytes of messages, at which they are written */
    LEAST_ROOM = 4096,       /* enough for a message that there is no memory */
};

/* -- out --------------------------------------------------------------------------------------- */

static char output_storage[READ_SIZE]; /* so there is always room for a last error */

static void reset_output(mishap_mcp_lines *lines)
{
    mishap_buffer *output = &lines->output;
    if (output->on_heap && !output->failed && output->capacity <= MISHAP_MCP_LINE_KEPT) {
        mishap_buffer_reset(output);
        return;
    }
    mishap_buffer_release(output);
    mishap_buffer_init(output, output_storage, sizeof output_storage);
}

/* A reader that has gone away is no failure: then there is nothing to do. */
void mishap_mcp_lines_write(mishap_mcp_lines *lines)
{
    mishap_text text = mishap_buffer_text(&lines->output);
    while (text.length && !lines->gone) {
        ssize_t count = write(lines->out, text.data, text.length);
        if (count < 0 && errno == EAGAIN)
            poll(&(struct pollfd){ .fd = lines->out, .events = POLLOUT }, 1, -1);
        else if (count < 0 && errno != EINTR)
            lines->gone = true;
        if (count > 0) {
            text.data += count;
            text.length -= (size_t)count;
        }
    }
    reset_output(lines);
}

static mishap_buffer *begin_message(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    /* The channel is the first member. */
    mishap_mcp_lines *lines = (mishap_mcp_lines *)(void *)channel;
    (void)kind;
    if (!mishap_buffer_reserve(&lines->output, LEAST_ROOM))
        mishap_mcp_lines_write(lines);
    lines->begun = lines->output.length;
    return &lines->output;
}

static void end_message(mishap_mcp_channel *channel, mishap_mcp_kind kind)
{
    mishap_mcp_lines *lines = (mishap_mcp_lines *)(void *)channel;
    mishap_buffer_put_char(&lines->output, '\n');
    if (lines->output.failed) {
        lines->output.length = lines->begun;
        mishap_mcp_lines_write(lines);
        if (kind == MISHAP_MCP_RESPONSE)
            MISHAP_PUT(&lines->output,
                       "{\"jsonrpc\":\"2.0\",\"error\":" MISHAP_MCP_LAST_ERROR "}\n");
    }
    if (lines->output.length >= WRITE_SIZE)
        mishap_mcp_lines_write(lines);
}

static void finish_messages(mishap_mcp_channel *channel)
{
    (void)channel;
}

/* -- in ---------------------------------------------------------------------------------------- */

/* Read the rest of this line, and drop it. */
static void skip_line(mishap_mcp_lines *lines)
{
    lines->skipping = true;
    lines->start = lines->seen = lines->end = 0;
}

/* Move an incomplete line to the front. If it fills all memory, allocate more; after a large line,
 * release some. */
static void make_room(mishap_mcp_lines *lines)
{
    enum { MOST = MISHAP_MCP_LINE_LIMIT + READ_SIZE };
    size_t length = lines->end - lines->start, capacity = lines->capacity;
    if (lines->start && length)
        memmove(lines->input, lines->input + lines->start, length);
    lines->start = 0;
    lines->seen = lines->end = length;
    if (length == capacity)
        capacity = 2 * length < MOST ? 2 * length : MOST;
    else if (capacity > MISHAP_MCP_LINE_KEPT && length < READ_SIZE)
        capacity = READ_SIZE;
    char *input = capacity == lines->capacity ? lines->input
                                              : mishap_resize(lines->input, capacity);
    if (input) {
        lines->input = input;
        lines->capacity = capacity;
    } else if (length == lines->capacity) {
        skip_line(lines);
        lines->no_memory = true;
    }
}

void mishap_mcp_lines_read(mishap_mcp_lines *lines)
{
    make_room(lines);
    if (lines->no_memory)
        return; /* the client must be told that first */
    ssize_t count = read(lines->in, lines->input + lines->end, lines->capacity - lines->end);
    if (count > 0)
        lines->end += (size_t)count;
    else if (count < 0 && errno == EAGAIN)
        poll(&(struct pollfd){ .fd = lines->in, .events = POLLIN }, 1, -1);
    else if (count == 0 || errno != EINTR)
        lines->ended = true;
}

/* The bytes up to a line feed, or at the end of input all of them. False: there are none. */
static bool cut_line(mishap_mcp_lines *lines, mishap_text *line)
{
    const char *from = lines->input + lines->seen;
    size_t unseen = lines->end - lines->seen, start = lines->start;
    const char *feed = unseen ? memchr(from, '\n', unseen) : NULL;
    if (!feed && (!lines->ended || start == lines->end)) {
        lines->seen = lines->end;
        return false;
    }
    size_t end = feed ? (size_t)(feed - lines->input) : lines->end;
    lines->start = lines->seen = feed ? end + 1 : end;
    *line = (mishap_text){ lines->input + start, end - start };
    return true;
}

mishap_mcp_line mishap_mcp_lines_next(mishap_mcp_lines *lines, mishap_text *line)
{
    if (lines->no_memory) {
        lines->no_memory = false;
        return MISHAP_MCP_FORGOTTEN_LINE;
    }
    while (cut_line(lines, line)) {
        bool skipped = lines->skipping;
        lines->skipping = false;
        if (skipped || mishap_blank(*line))
            continue;
        return line->length > MISHAP_MCP_LINE_LIMIT ? MISHAP_MCP_LONG_LINE : MISHAP_MCP_LINE;
    }
    if (!lines->skipping && lines->end - lines->start <= MISHAP_MCP_LINE_LIMIT)
        return MISHAP_MCP_NO_LINE;
    mishap_mcp_line found = lines->skipping ? MISHAP_MCP_NO_LINE : MISHAP_MCP_LONG_LINE;
    skip_line(lines);
    return found;
}

/* -- from beginning to end --------------------------------------------------------------------- */

bool mishap_mcp_lines_open(mishap_mcp_lines *lines)
{
    lines->channel = (mishap_mcp_channel){
        .begin = begin_message, .end = end_message, .finish = finish_messages, .status = 200
    };
    lines->capacity = READ_SIZE;
    lines->input = mishap_allocate(lines->capacity);
    reset_output(lines);
    return lines->input != NULL;
}

void mishap_mcp_lines_release(mishap_mcp_lines *lines)
{
    mishap_buffer_release(&lines->output);
    mishap_release(lines->input);
    lines->input = NULL;
}
