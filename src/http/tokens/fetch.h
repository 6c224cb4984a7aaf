/*
 * The process `mishap-issuers`, which fetches key sets of issuers, and what the others know of it.
 *
 *     fetch.c     the requests to one issuer, and the file of its set
 *     fetcher.c   the process: when it fetches; and the supervisor, which starts it again
 *
 * A loop never sends a request. It reads the files that this process replaces (tokens.c), and
 * counts tokens with an unknown key, for which the process fetches a set before its time.
 */
#ifndef MISHAP_HTTP_TOKENS_FETCH_H
#define MISHAP_HTTP_TOKENS_FETCH_H

#include "client/client.h"
#include "http/tokens/tokens.h"

enum {
    MISHAP_FETCH_TIMEOUT_MS = 5000,  /* for one request */
    MISHAP_FETCH_LEAST_S = 60,       /* a set is used for at least so long … */
    MISHAP_FETCH_MOST_S = 12 * 3600, /* … and at most, even if `max-age` is more … */
    MISHAP_FETCH_USUAL_S = 600,      /* … and for so long if there is none */
    MISHAP_FETCH_UNKNOWN_S = 30,     /* between two fetches for unknown keys, or after a failure */
    MISHAP_FETCH_OLDEST_S = 24 * 3600, /* a set is used no longer, even if no newer one comes */
};

/* Fetch the set of an issuer: its metadata (RFC 8414, else OpenID Connect Discovery), then the set
 * that they name. Replace its file if the set can be used and is another one; its time of change
 * says when it was fetched. *for_s: how many seconds it may be used. Else the failure; the file
 * stays as it is. */
mishap *mishap_fetch_keys(mishap_client *client, const struct mishap_http_issuer *issuer,
                          int64_t *for_s);

/* -- the process, as seen by others (fetcher.c) ------------------------------------------------ */

/* For an extension of the server: see mishap_http_extension. */
mishap *mishap_http_fetcher_prepare(const mishap_http_settings *settings, void **shared);
void mishap_http_fetcher_look(void *shared);
bool mishap_http_fetcher_ended(void *shared, int pid, int status);
void mishap_http_fetcher_dismiss(void *shared);

/* In a loop: a token has a key that the set of its issuer has not. */
void mishap_http_want_keys(size_t issuer);

/* How many seconds a response may be used, by `max-age`, within the bounds above. */
int64_t mishap_fetch_age(mishap_text cache_control);

#endif
