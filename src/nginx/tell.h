/* An error response, told in a dialect and recorded: the part of the filter that knows no nginx. */
#ifndef MISHAP_NGINX_TELL_H
#define MISHAP_NGINX_TELL_H

#include "base/base.h"
#include "mishap/dialect.h"

/* An error response that has been read, and the request that it answers. A text that is not known
 * is empty. */
typedef struct mishap_nginx_error {
    int status;
    mishap_text type, encoding, retry_after; /* of Content-Type, Content-Encoding, Retry-After */
    mishap_text body;                        /* as it came, at most MISHAP_NGINX_MOST bytes */
    const char *end;     /* why the body is not whole: "cut", "long", "slow"; NULL: it is */
    mishap_text removed; /* header fields that the caller does not get, a line each */
    mishap_text method, path, query;
    mishap_text accept, agent, host, traceparent; /* header fields of the request */
    const char *caller;                           /* an address */
    const char *location; /* of the configuration: failures are grouped by it */
    int64_t duration_ns;
} mishap_nginx_error;

/* What a short record needs: so there is one also without memory. */
enum { MISHAP_NGINX_ROOM = 4096, MISHAP_NGINX_SHORT = 1024 };

/* What the caller gets, and the line for the log. It must not be copied. */
typedef struct mishap_nginx_answer {
    mishap_text body;
    const char *media_type;
    int64_t retry_after_ms;              /* -1: no advice */
    char id[MISHAP_ID_LENGTH + 1];       /* of the incident; "": it is not recorded */
    mishap_text record;                  /* with its line feed */
    mishap_buffer rendered, line;        /* where the two texts are */
    char room[MISHAP_NGINX_ROOM];        /* … of the line, as long as it is short */
    char short_body[MISHAP_NGINX_SHORT]; /* … and of the body */
} mishap_nginx_answer;

/* The most bytes of an error body that are read, compressed and decompressed. */
enum { MISHAP_NGINX_MOST = 64 * 1024 };

/*
 * Tell an error in the dialect that the request accepts, else in the usual one. With `recorded`
 * there is a record of it (docs/incident.schema.json), and the answer names its id.
 *
 * It never fails: without memory the answer is the dialect's last words, and the record is short. A
 * body that is compressed with gzip or deflate is decompressed; of any other coding, or if it is
 * damaged, nothing is read.
 */
void mishap_nginx_tell(const mishap_nginx_error *error, const mishap_dialect *usual, bool recorded,
                       mishap_nginx_answer *answer);
void mishap_nginx_answer_release(mishap_nginx_answer *answer);

/*
 * Decompress a body of this coding into `room`, which has MISHAP_NGINX_MOST bytes. The result is as
 * much as could be decompressed; what has no place in `room` is left out. `*whole` is false if
 * that is not all. No data: the coding is not known.
 */
mishap_text mishap_nginx_inflate(mishap_text encoding, mishap_text body, char *room, bool *whole);

#endif
