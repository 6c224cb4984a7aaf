/*
 * Reads multipart/form-data (RFC 7578, RFC 2046) piece by piece: bytes may come in any number of
 * pieces, and no more of them is kept than the head of a part, or half a boundary.
 *
 *     mishap_multipart reader;
 *     if (!mishap_multipart_begin(&reader, content_type, &receiver))
 *         …the type has no boundary, or one that is not valid…
 *     mishap_multipart_feed(&reader, bytes);     any number of times
 *     failure = mishap_multipart_end(&reader);
 *
 * Every flaw is BAD_REQUEST. Of what a caller sends, a failure repeats nothing.
 */
#ifndef MISHAP_HTTP_WIRE_MULTIPART_H
#define MISHAP_HTTP_WIRE_MULTIPART_H

#include "base/base.h"
#include "mishap/mishap.h"

enum {
    MISHAP_MULTIPART_BOUNDARY = 70, /* characters of a boundary, by RFC 2046 */
    MISHAP_MULTIPART_HEAD = 8192,   /* bytes of the head of a part */
    MISHAP_MULTIPART_PARTS = 256,
};

/* What the head of a part says. The text is valid until begin() returns. */
typedef struct mishap_multipart_part {
    mishap_text name;
    mishap_text file; /* the name of a file, as it was sent; no data: it is no file */
    mishap_text type; /* no data: not given */
} mishap_multipart_part;

/* Receives the parts; a failure ends the reading. */
typedef struct mishap_multipart_receiver {
    mishap *(*begin)(void *state, const mishap_multipart_part *part);
    mishap *(*data)(void *state, mishap_text bytes); /* never empty */
    mishap *(*end)(void *state);
    void *state;
} mishap_multipart_receiver;

typedef struct mishap_multipart {
    const mishap_multipart_receiver *receiver;
    char delimiter[MISHAP_MULTIPART_BOUNDARY + 5]; /* CR LF, two hyphens, the boundary */
    size_t delimiter_length;
    enum {
        MISHAP_MULTIPART_PREAMBLE, /* before the first boundary */
        MISHAP_MULTIPART_LINE,     /* behind a boundary, up to the end of its line */
        MISHAP_MULTIPART_FIELDS,   /* in the head of a part */
        MISHAP_MULTIPART_BODY,
        MISHAP_MULTIPART_EPILOGUE, /* behind the last boundary */
    } state;
    mishap_buffer kept; /* bytes that could not be judged yet */
    size_t parts;
    mishap *failure;
} mishap_multipart;

bool mishap_multipart_begin(mishap_multipart *reader, mishap_text content_type,
                            const mishap_multipart_receiver *receiver);

/* False: it has failed, and further bytes are ignored. */
bool mishap_multipart_feed(mishap_multipart *reader, mishap_text bytes);

/* All bytes were fed. NULL, or why they are no form. */
mishap *mishap_multipart_end(mishap_multipart *reader);

/* A parameter of a field, without quotes and escapes: `boundary` of a Content-Type. False: it is
 * not there, or the field is not valid; or it does not fit. */
bool mishap_multipart_param(mishap_text field, const char *name, char *room, size_t size,
                            size_t *length);

#endif
