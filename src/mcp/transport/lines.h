/* Messages as lines of two descriptors, with as few system calls as possible. This file does not
 * depend on the protocol. */
#ifndef MISHAP_MCP_TRANSPORT_LINES_H
#define MISHAP_MCP_TRANSPORT_LINES_H

#include "mcp/wire/write.h"

enum {
    MISHAP_MCP_LINE_LIMIT = 16 << 20, /* bytes */
    MISHAP_MCP_LINE_KEPT = 1 << 20,   /* memory that grew beyond is given back */
};

typedef struct mishap_mcp_lines {
    mishap_mcp_channel channel; /* the first; the same for all messages */
    int in, out;

    char *input; /* bytes from `start` to `end` wait; up to `seen` there is no line feed in them */
    size_t capacity, start, seen, end;
    bool skipping;  /* the rest of a line that is too long */
    bool no_memory; /* … or for which there is no memory: not told yet */
    bool ended;     /* there is no more input */
    bool gone;      /* the reader has closed the output */

    mishap_buffer output;
    size_t begun; /* where the message that is being written starts */
} mishap_mcp_lines;

typedef enum mishap_mcp_line {
    MISHAP_MCP_NO_LINE, /* … that is whole yet */
    MISHAP_MCP_LINE,
    MISHAP_MCP_LONG_LINE,      /* too long: its rest will be skipped */
    MISHAP_MCP_FORGOTTEN_LINE, /* there is no memory for it; so will this one's */
} mishap_mcp_line;

/* Make the channel and the memory; the descriptors are set already. False: no memory. */
bool mishap_mcp_lines_open(mishap_mcp_lines *lines);
void mishap_mcp_lines_release(mishap_mcp_lines *lines);

/* The next line of what was read, without those that are empty; valid until the next read. At the
 * end of input what is left is one, too. */
mishap_mcp_line mishap_mcp_lines_next(mishap_mcp_lines *lines, mishap_text *line);

/* Read what is there, or wait for it: one system call. All lines must have been taken. */
void mishap_mcp_lines_read(mishap_mcp_lines *lines);

/* Write all messages that have ended: one system call, if the other side keeps up. */
void mishap_mcp_lines_write(mishap_mcp_lines *lines);

#endif
