/* Server-sent events, read piece by piece: lines that end with CR, LF or both; an empty line ends
 * an event, and the lines of its data become one text. */
#ifndef MISHAP_MCP_GATEWAY_EVENTS_H
#define MISHAP_MCP_GATEWAY_EVENTS_H

#include "base/base.h"

typedef struct gateway_events {
    mishap_buffer line, data;
    bool any;       /* the event has data */
    bool other;     /* … of another kind than `message` */
    bool lost;      /* … that is longer than the limit */
    bool line_lost; /* the line is */
    bool begun;     /* the first line was read: it may have a mark of the byte order */
    bool after_cr;  /* a line feed belongs to the line end before it */
} gateway_events;

/* Take a piece of the stream; `take` gets the data of each event. An event above `most` bytes is
 * left out, and the result is how many were. */
size_t mishap_mcp_gateway_events_feed(gateway_events *events, mishap_text piece, size_t most,
                                      void (*take)(void *state, mishap_text data), void *state);
void mishap_mcp_gateway_events_reset(gateway_events *events);
void mishap_mcp_gateway_events_release(gateway_events *events);

#endif
