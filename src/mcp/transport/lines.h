/* Messages as lines of two descriptors, with as few system calls as possible. This file does not
 * depend on the protocol. */
#ifndef MISHAP_MCP_TRANSPORT_LINES_H
#define MISHAP_MCP_TRANSPORT_LINES_H

#include "mcp/wire/write.h"

enum {
    MISHAP_MCP_LINE_LIMIT = 16 << 20, /* bytes */
    MISHAP_MCP_LINE_KEPT = 1 << 20,   /* memory beyond this is released after use */
};

typedef struct mishap_mcp_lines {
    mishap_mcp_channel channel; /* the first member; the same for all messages */
    int in, out;

    char *input; /* bytes from `start` to `end` were not processed yet; up to `seen` they contain no
                    line feed */
    size_t capacity, start, seen, end;
    bool skipping;  /* the rest of a line that is too long is dropped */
    bool no_memory; /* … or of one for which there is no memory: the client was not told yet */
    bool ended;     /* there is no more input */
    bool gone;      /* the reader has closed the output */

    mishap_buffer output;
    size_t begun; /* where the current message starts */
} mishap_mcp_lines;

typedef enum mishap_mcp_line {
    MISHAP_MCP_NO_LINE, /* no complete line */
    MISHAP_MCP_LINE,
    MISHAP_MCP_LONG_LINE,      /* too long: its rest is dropped */
    MISHAP_MCP_FORGOTTEN_LINE, /* there is no memory for it: its rest is dropped, too */
} mishap_mcp_line;

/* Create the channel and the memory; the caller has set the descriptors. False: no memory. */
bool mishap_mcp_lines_open(mishap_mcp_lines *lines);
void mishap_mcp_lines_release(mishap_mcp_lines *lines);

/* The next line that was read, without empty ones; valid until the next read. At the end of input,
 * the rest counts as a line. */
mishap_mcp_line mishap_mcp_lines_next(mishap_mcp_lines *lines, mishap_text *line);

/* Read what has arrived, or wait for it: one system call. All lines must have been processed. */
void mishap_mcp_lines_read(mishap_mcp_lines *lines);

/* Write all complete messages: one system call, if the client keeps up. */
void mishap_mcp_lines_write(mishap_mcp_lines *lines);

#endif
