/*
 * Parse bytes into requests, independent of sockets.
 *
 * Bytes come in pieces, a request may be spread over several, and one piece may hold several
 * requests. The common case, one whole request in one piece, is read where it lies: nothing is
 * copied. A request that is not whole when its piece ends is kept in memory of the reader, together
 * with what follows it.
 *
 *     mishap_http_reader_take(&reader, data, length);
 *     while ((progress = mishap_http_reader_next(&reader, &request)) >= MISHAP_HTTP_HEADED)
 *         if (progress == MISHAP_HTTP_WHOLE)
 *             …answer the request…
 *         else
 *             …is its body welcome? if not: mishap_http_reader_drop(&reader)…
 *     mishap_http_reader_keep(&reader);
 */
#ifndef MISHAP_SERVER_REQUEST_H
#define MISHAP_SERVER_REQUEST_H

#include <llhttp.h>

#include "server/server.h"

typedef enum mishap_http_progress {
    MISHAP_HTTP_MORE, /* nothing whole; more bytes are needed */
    MISHAP_HTTP_FLAW, /* what came is no request that can be answered: the end of the connection */
    MISHAP_HTTP_HEADED, /* a body follows, and all but the body is filled in */
    MISHAP_HTTP_WHOLE,  /* the request is filled in */
} mishap_http_progress;

/* A stretch of the bytes of a request, counted from its first. */
typedef struct mishap_http_span {
    uint32_t at, length;
} mishap_http_span;

typedef struct mishap_http_reader {
    llhttp_t parser;
    const mishap_http_settings *settings;

    char *window;         /* the bytes at hand: the caller's, or those that were kept */
    size_t window_length; /* … how many */
    size_t parsed;        /* … how many of them the parser has seen */
    size_t start;         /* … where the request begins in them */
    mishap_buffer kept;

    mishap_http_span target, name, value; /* `name` and `value` of the field that is being read */
    mishap_http_span fields[MISHAP_HTTP_MOST_FIELDS];
    uint32_t known;              /* the fields that were there, a bit each */
    uint32_t field_count;        /* of all fields */
    size_t body_at, body_length; /* from the first byte of the request */
    size_t body_limit;           /* of this request: to be set when its head is known */
    int64_t announced;           /* the length of its body: see mishap_http_request */
    size_t behind;               /* bytes behind the head of a chunked one */
    size_t counted, beside;      /* … beside its pieces, up to this one; that they did not need */
    bool begun, head_done, whole; /* how far the request has come */
    bool told;               /* its head was handed over, and the bytes have not been moved since */
    bool dropping;           /* its body is read past */
    bool chunk_begun;        /* the parser has stopped behind the size of one */
    bool half_line;          /* a CR came before it */
    bool forwarded;          /* a field of it is one that proxies add */
    bool wants_continue;     /* it waits for 100 Continue before it sends its body */
    const mishap_code *flaw; /* what is wrong with it … */
    const char *problem;     /* … in a sentence that lives for ever */
} mishap_http_reader;

void mishap_http_reader_init(mishap_http_reader *reader, const mishap_http_settings *settings);
void mishap_http_reader_release(mishap_http_reader *reader);

/* More bytes have come. They stay the caller's, may be written to, and must stay until keep().
 * False: there is no memory to keep them together with those before. */
bool mishap_http_reader_take(mishap_http_reader *reader, char *data, size_t length);

/* The next request among the bytes at hand, or the head of one that has a body; the same struct is
 * to be given again for the rest. Its text is valid until the next call of take() or keep(). After
 * a flaw nothing more is read. */
mishap_http_progress mishap_http_reader_next(mishap_http_reader *reader,
                                             mishap_http_request *request);

/* After HEADED, of a body whose length is known: it is read past and nothing of it is kept. WHOLE
 * comes at its end, and fills in nothing. */
void mishap_http_reader_drop(mishap_http_reader *reader);

/* What is known of a request that has not become whole, or has a flaw: method, target, path, query
 * and fields. The rest of it, and all of one that has not begun, is left as it is. */
void mishap_http_reader_know(const mishap_http_reader *reader, mishap_http_request *request);

/* Keep what has not become a request yet. False: no memory. */
bool mishap_http_reader_keep(mishap_http_reader *reader);

/* Does anything wait to be read? */
bool mishap_http_reader_has_more(const mishap_http_reader *reader);

/* What is wrong, as a mishap. */
mishap *mishap_http_reader_flaw(const mishap_http_reader *reader);

#endif
