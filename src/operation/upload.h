/*
 * A file that is streamed to its handler (mishap_param.streamed). The handler runs while the file
 * arrives, and reads its bytes from a channel (channel.h): a server writes them into it, and holds
 * no more of them than the channel does. Where the channel ends, `end` says why: all bytes were
 * written, or the caller has failed to send them. A command has the file itself instead of a
 * channel.
 *
 * In the JSON object of arguments such a file has its name and its media type, and no bytes.
 */
#ifndef MISHAP_OPERATION_UPLOAD_H
#define MISHAP_OPERATION_UPLOAD_H

#include "operation/channel.h"
#include "operation/operation.h"

typedef enum mishap_upload_end {
    MISHAP_UPLOAD_OPEN, /* more bytes may follow; at the end of the channel: its writer has died */
    MISHAP_UPLOAD_WHOLE,
    MISHAP_UPLOAD_TOO_LARGE,
    MISHAP_UPLOAD_MALFORMED, /* what surrounds the bytes breaks the rules of its format */
    MISHAP_UPLOAD_TOO_SLOW,
    MISHAP_UPLOAD_CUT, /* the caller has closed its connection */
    MISHAP_UPLOAD_ENDS,
} mishap_upload_end;

typedef struct mishap_upload {
    int file; /* what the handler reads: a file, or the socket of a channel; its owner closes it */

    /* In the process of the handler. The channel; NULL: the file is read itself. */
    mishap_channel *channel;
    /* … why the channel has ended; NULL: a file always ends whole. */
    mishap_upload_end (*ended)(const struct mishap_upload *upload);
    /* … the channel is empty: wait for more, or for its end. NULL: reading waits. */
    void (*wait)(struct mishap_upload *upload);
    size_t got; /* bytes that were read */

    /* In the process that writes: */
    mishap_upload_end end;
    int64_t ended_ns; /* when it ended; 0: it has not */
    bool full;        /* the handler has more bytes to read than the channel can hold */
} mishap_upload;

/* The streamed parameter of an operation; NULL: it has none. */
const mishap_param *mishap_streamed_param(const mishap_operation *operation);

/* Read the next bytes for a handler, at most `size`. *got 0 without a failure: the file ends. */
mishap *mishap_upload_read(mishap_upload *upload, const mishap_param *param, void *to, size_t size,
                           size_t *got);

/* Of a command: CONTENT_TOO_LARGE if the file is known to be too large before it is read. */
mishap *mishap_upload_check(const mishap_upload *upload, const mishap_operation *operation);

/* CONTENT_TOO_LARGE: the file of this parameter has more bytes than it may have. */
mishap *mishap_upload_too_large(const mishap_param *param, size_t most);

#endif
