/* The head of a request, for the reader that it belongs to (request.c). */
#ifndef MISHAP_SERVER_HEAD_H
#define MISHAP_SERVER_HEAD_H

#include "server/request.h"

/* Callbacks of llhttp: a part of the target, of a field's name, of its value; a field is complete;
 * all fields are complete. They return 0, HPE_PAUSED, or another value if the head has a flaw. */
int mishap_http_head_on_url(llhttp_t *parser, const char *at, size_t length);
int mishap_http_head_on_name(llhttp_t *parser, const char *at, size_t length);
int mishap_http_head_on_value(llhttp_t *parser, const char *at, size_t length);
int mishap_http_head_on_field(llhttp_t *parser);
int mishap_http_head_on_end(llhttp_t *parser);

/* Fill in method, target and fields. The query follows in mishap_http_head_split_target(). */
void mishap_http_head_fill_in(const mishap_http_reader *reader, mishap_http_request *request);

/* Split the target into path and query: NULL, or a sentence about what is wrong with it. */
const char *mishap_http_head_split_target(mishap_http_request *request);

/* -- flaws ------------------------------------------------------------------------------------- */

/* Record a flaw; the first one counts. Returns -1, as llhttp expects. */
static inline int mishap_http_reject(mishap_http_reader *reader, const mishap_code *code,
                                     const char *problem)
{
    if (!reader->flaw) {
        reader->flaw = code;
        reader->problem = problem;
    }
    return -1;
}

static inline int mishap_http_reject_as_bad(mishap_http_reader *reader, const char *problem)
{
    return mishap_http_reject(reader, MISHAP_CODE_BAD_REQUEST, problem);
}

#endif
