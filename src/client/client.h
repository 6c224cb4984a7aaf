/*
 * src/client: HTTP requests to other servers.
 *
 *     client.c   one request after the other on one connection
 *     many.c     many requests at a time
 *     fields.c   the header fields of a response
 *     libcurl.c  loads libcurl, when the first client is opened
 *
 * libcurl does the work. It is loaded while the program runs: a program that sends no requests need
 * not have it. The rules of this folder are narrower than those of libcurl:
 *
 * - Addresses are http:// or https://, without a user or a password in them.
 * - Certificates and host names are always verified; TLS 1.2 is the oldest version.
 * - A proxy is used only if the settings name one. Variables such as http_proxy are not read.
 * - A redirect is followed only to the same scheme, host and port, and only if the request allows
 *   it. Otherwise header fields with keys could reach another host.
 * - Everything that a server sends has a limit: head, body, time. Content is decoded only if the
 *   request asks for it, and then both forms of the body have the limit.
 *
 * A client belongs to one thread. The values of header fields are in no failure and in no log.
 */
#ifndef MISHAP_CLIENT_CLIENT_H
#define MISHAP_CLIENT_CLIENT_H

#include <signal.h>

#include "base/base.h"
#include "mishap/mishap.h"

typedef struct mishap_client mishap_client;

/* Texts are copied. NULL: not given. */
typedef struct mishap_client_settings {
    const char *agent; /* the field User-Agent: "mishap/0.1.0" */
    const char *proxy; /* http://HOST:PORT; NULL: no proxy */
    const char
        *authorities; /* a PEM file with the certificates of authorities; NULL: the system's */
    const char *certificate; /* a PEM file with the certificate of this client … */
    const char *key;         /* … and one with its key */
    /* Not zero: end the request that runs now, within about a second. NULL: never. */
    const volatile sig_atomic_t *stop;
} mishap_client_settings;

/*
 * Open a client. No connection is made yet.
 * PRECONDITION: libcurl is not installed; the failure says which package has it.
 */
mishap *mishap_client_open(const mishap_client_settings *settings, mishap_client **out);
void mishap_client_close(mishap_client *client); /* may be NULL */

typedef struct mishap_client_header {
    const char *name, *value;
} mishap_client_header;

typedef struct mishap_client_request {
    const char *url;
    const mishap_client_header *headers; /* … and how many */
    size_t header_count;
    const char *method; /* any token; NULL: GET */
    const char *target; /* sent as it is in place of the path and query of `url`, such as "/%zz" */
    mishap_text body;   /* not copied; no data: the request has no body */
    bool decode;        /* accept gzip and deflate, and decode them */
    int connect_ms;     /* time limit for the connection; 0: 10 s */
    int total_ms;       /* … and for everything, redirects included; 0: 30 s */
    size_t most_head;   /* bytes of all header fields that are read; 0: 64 KB */
    size_t most_body;   /* bytes of the body that are read, before and after decoding; 0: 1 MB */
    /* Takes the body as it arrives, decoded, in place of response->body; the status and the head
     * are in the response by then. False: end the request. `most_body` has no meaning then. */
    bool (*piece)(void *state, mishap_text bytes);
    void *state;
    int redirects; /* redirects that are followed, on the same origin; a request with a body
                      follows 307 and 308 only, one with a target none */
} mishap_client_request;

/* MISHAP_CLIENT_RESPONSE() makes an empty one. One response may be used for many requests. */
typedef struct mishap_client_response {
    int status;         /* 0: no complete head has arrived */
    mishap_buffer head; /* lines "Name: value" with CRLF, of the last head */
    mishap_buffer body;
} mishap_client_response;
#define MISHAP_CLIENT_RESPONSE()                                                                   \
    {                                                                                              \
        0                                                                                          \
    }
void mishap_client_response_release(mishap_client_response *response);

/*
 * Send a request and read the response. NULL: there is a response, with any status. Else the
 * failure; response->status is set if a head has arrived before.
 *
 *     INVALID_ARGUMENT    the address, the method, the target or a header field is not valid
 *     CONNECTION_REFUSED, CONNECTION_TIMEOUT, HOST_NOT_FOUND, GATEWAY_TIMEOUT
 *     UNAVAILABLE         TLS failed: the certificate is not trusted, or not that of the host
 *     BAD_GATEWAY         what was sent is no HTTP response, ends too early, or exceeds a limit
 *     CANCELLED           *stop was set
 *
 * The message names the origin (scheme, host and port), and no other part of the address.
 */
mishap *mishap_client_send(mishap_client *client, const mishap_client_request *request,
                           mishap_client_response *response);

/* -- many.c: many requests at a time, on one thread -------------------------------------------- */

typedef struct mishap_client_many mishap_client_many;
mishap *mishap_client_many_open(mishap_client_many **out); /* PRECONDITION, as above */
void mishap_client_many_close(mishap_client_many *many);   /* … after its requests; may be NULL */

/* One request. It is the caller's memory, does not move while it runs, and is zero at first. */
typedef struct mishap_client_flight {
    mishap_client *client; /* of its own, with any settings: connections are shared by all */
    mishap_client_response response;
    void *owner;
    struct curl_list *headers; /* used by many.c, as what follows */
    struct mishap_client_flight *next, *previous;
    bool runs;
} mishap_client_flight;

/* Begin to send it: its text is copied, its body has to live until it ends. A redirect is not
 * followed. total_ms -1: no time limit. A failure: it does not run. */
mishap *mishap_client_many_begin(mishap_client_many *many, mishap_client_flight *flight,
                                 const mishap_client_request *request);

/* Go on with all of them, and wait until something has happened to one of them or to `files`, which
 * are filled in as poll() does, or `wait_ms` have passed. */
struct pollfd;
void mishap_client_many_wait(mishap_client_many *many, struct pollfd *files, size_t count,
                             int wait_ms);

/* One that has ended, and how: as mishap_client_send(). NULL: none has. */
mishap_client_flight *mishap_client_many_next(mishap_client_many *many, mishap **failure);

/* End one that runs: its connection is closed. */
void mishap_client_many_drop(mishap_client_many *many, mishap_client_flight *flight);

/* Check the address, the first line and the header fields of a request without sending it: NULL, or
 * INVALID_ARGUMENT. */
mishap *mishap_client_check(const mishap_client_request *request);

/* The value of the first field of this name, without white space around it; no data: there is
 * none. */
mishap_text mishap_client_field(const mishap_client_response *response, const char *name);

/* How long the field Retry-After asks to wait, in milliseconds from `now_ms`, 0 to 2^31-1; -1: it
 * is absent or not valid. It has seconds or a date (RFC 9110, 10.2.3). */
int64_t mishap_client_retry_after(const mishap_client_response *response, int64_t now_ms);

#endif
