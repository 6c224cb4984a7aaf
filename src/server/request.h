/*
 * Parse bytes into requests, independent of sockets.
 *
 * Bytes come in pieces, a request may be spread over several, and one piece may hold several
 * requests. The common case, one whole request in one piece, is parsed in place: nothing is copied.
 * An incomplete request is kept in memory of the reader, together with the bytes that follow it.
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
    MISHAP_HTTP_MORE,   /* no complete request; more bytes are needed */
    MISHAP_HTTP_FLAW,   /* the bytes are not a valid request: the connection must end */
    MISHAP_HTTP_HEADED, /* a body follows; all but the body is filled in */
    MISHAP_HTTP_WHOLE,  /* the request is complete */
    MISHAP_HTTP_PIECE,  /* of a body that is passed on: request->body is a piece of it */
} mishap_http_progress;

/* A range of the bytes of a request, counted from its first byte. */
typedef struct mishap_http_span {
    uint32_t at, length;
} mishap_http_span;

typedef struct mishap_http_reader {
    llhttp_t parser;
    const mishap_http_settings *settings;

    char *window;         /* the current bytes: those of the caller, or those that were kept */
    size_t window_length; /* … how many */
    size_t parsed;        /* … how many of them the parser has seen */
    size_t start;         /* … where the request begins in them */
    mishap_buffer kept;

    mishap_http_span target, name, value; /* `name` and `value` belong to the current field */
    mishap_http_span fields[MISHAP_HTTP_MOST_FIELDS];
    uint32_t known;              /* the known fields that it has, one bit each */
    uint32_t field_count;        /* of all of its fields */
    size_t body_at, body_length; /* counted from the first byte of the request */
    size_t body_limit;           /* of this request: set when its head is known */
    int64_t announced;           /* the length of its body: see mishap_http_request */
    size_t behind;               /* bytes behind the head, of a chunked request */
    size_t counted, beside; /* … beside its pieces, up to this one; those that were not needed */
    bool begun, head_done, whole; /* how far the request has come */
    bool told;               /* its head was returned, and the bytes have not been moved since */
    bool dropping;           /* its body is skipped */
    bool passing;            /* its body is passed on in pieces, and not kept … */
    size_t passed;           /* … bytes of it that were */
    bool ends_later;         /* … its last piece was returned, and its end was not */
    bool chunk_begun;        /* the parser has stopped behind the size of a chunk */
    bool half_line;          /* a CR came before it */
    bool forwarded;          /* it has a field that proxies add */
    bool wants_continue;     /* it waits for 100 Continue before it sends its body */
    const mishap_code *flaw; /* the flaw … */
    const char *problem;     /* … described by a constant sentence */
} mishap_http_reader;

void mishap_http_reader_init(mishap_http_reader *reader, const mishap_http_settings *settings);
void mishap_http_reader_release(mishap_http_reader *reader);

/* More bytes have arrived. The caller owns them, lets the reader write to them, and keeps them
 * until keep(). False: there is no memory to join them with those before. */
bool mishap_http_reader_take(mishap_http_reader *reader, char *data, size_t length);

/* The next request among the current bytes, or the head of one that has a body; the same struct
 * must be passed again for the rest. Its text is valid until the next call of take() or keep().
 * After a flaw nothing more is read. */
mishap_http_progress mishap_http_reader_next(mishap_http_reader *reader,
                                             mishap_http_request *request);

/* After HEADED, for a body of known length: skip it, and keep nothing of it. WHOLE comes at its
 * end, and fills in nothing. */
void mishap_http_reader_drop(mishap_http_reader *reader);

/* How many bytes of a body are still to come, of which the length is known; 0: it is not known, or
 * some that came were not parsed. */
uint64_t mishap_http_reader_left(const mishap_http_reader *reader);

/* After HEADED: PIECE comes for each piece of the body, which is not kept, and WHOLE at its end.
 * Neither fills in anything else. */
void mishap_http_reader_pass(mishap_http_reader *reader, bool pass);

/* Fill in what is known of an incomplete request, or of one with a flaw: method, target, path,
 * query and fields. Everything else is left unchanged, and so is all if no request has begun. */
void mishap_http_reader_know(const mishap_http_reader *reader, mishap_http_request *request);

/* Keep the bytes that are no complete request yet. False: no memory. */
bool mishap_http_reader_keep(mishap_http_reader *reader);

/* True if there are bytes that were not parsed yet. */
bool mishap_http_reader_has_more(const mishap_http_reader *reader);

/* The flaw, as a mishap. */
mishap *mishap_http_reader_flaw(const mishap_http_reader *reader);

#endif
