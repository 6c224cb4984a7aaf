/* Requests to the server in memory, and what its answer has. */
#ifndef MISHAP_REQUESTS_H
#define MISHAP_REQUESTS_H

#include "testing.h"

#include "memory_server.h"

static inline char *talk_in_pieces(memory_server *m, mishap_text bytes, const uint8_t *pieces,
                                   size_t piece_count, mishap_http_state *state)
{
    mishap_buffer out = { 0 };
    *state = memory_server_talk(m, bytes, pieces, piece_count, &out);
    memory_server_steady(&out);
    mishap_buffer_put_char(&out, '\0');
    char *text = strdup(out.data);
    mishap_buffer_release(&out);
    return text;
}

#define GET_SLOW "GET /slow/1 HTTP/1.1\r\nHost: h\r\n\r\n"

#endif
