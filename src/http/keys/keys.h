/*
 * API keys: which caller has which.
 *
 *     keys.c      which key a request has, and changes of the file
 *     file.c      the file that they are in: file.h
 *     place.c     the files that commands change, and their lock
 *     operator.c  the key of the operator, in a file of its own
 *     in_cluster.c  keys that are in the database of a cluster: in_cluster.h
 *     blocks.c    the file of blocked callers
 *     blocking.c  the commands that change it: keys block, keys unblock
 *     commands.c  the commands that change keys: mishap_keys_add and so on (mishap/http.h)
 */
#ifndef MISHAP_HTTP_KEYS_KEYS_H
#define MISHAP_HTTP_KEYS_KEYS_H

#include "mishap/http.h"
#include "server/server.h"

/* The API keys of a server: names and hashes, in the file `keys` of the data folder. */
typedef struct mishap_http_keys mishap_http_keys;

/* Read them. A missing file has no keys. `declared` are the scopes of the program, or NULL. */
mishap *mishap_http_keys_open(const char *data, const mishap_scope *declared,
                              mishap_http_keys **out);
void mishap_http_keys_close(mishap_http_keys *keys);

/* The same without reading the file yet: mishap_http_keys_refresh() does that. For a loop, which
 * must start even if the file has become unreadable meanwhile. */
mishap *mishap_http_keys_make(const char *data, const mishap_scope *declared,
                              mishap_http_keys **out);

/* The same two, of a server of a cluster: the file `keys` is in this folder, and only the key of
 * the operator is in the data folder. */
mishap *mishap_http_keys_open_in(const char *folder, const char *data, const mishap_scope *declared,
                                 mishap_http_keys **out);
mishap *mishap_http_keys_make_in(const char *folder, const char *data, const mishap_scope *declared,
                                 mishap_http_keys **out);

/* From now on keys are accepted only if *confirmed_ns is at most `stale_ns` ago (monotonic clock):
 * then the file was known to be up to date. mishap_http_keys_refresh() looks at it. */
void mishap_http_keys_expire(mishap_http_keys *keys, const _Atomic int64_t *confirmed_ns,
                             int64_t stale_ns);

/*
 * Read them again if the file has changed; called about once per second. While the file cannot be
 * read, no key is accepted, since one of the known keys may have been removed. UNAVAILABLE, with
 * the reason as its cause, for the log, once for each unreadable state of the file. NOT_CONFIGURED,
 * also once: there was a key, and now there is none.
 */
mishap *mishap_http_keys_refresh(mishap_http_keys *keys);
size_t mishap_http_keys_count(const mishap_http_keys *keys);

/* The first: callers may name themselves, because keys were never used here or are disabled. The
 * second: keys were used, and there is none any more. If neither is true, there are keys, or the
 * file cannot be read. */
bool mishap_http_keys_are_unused(const mishap_http_keys *keys);
bool mishap_http_keys_are_gone(const mishap_http_keys *keys);

/* From now on `removed` is called for each key that is no longer in the file when it is read again,
 * with the number that requests have as their caller_key. While the file cannot be read, no key
 * counts as removed. */
void mishap_http_keys_watch(mishap_http_keys *keys, void (*removed)(void *context, uint64_t key),
                            void *context);

/* What a request must have; it is named in the refusal of a request that has nothing. */
typedef enum mishap_key_need {
    MISHAP_KEY_OPTIONAL,
    MISHAP_KEY_REQUIRED,
    MISHAP_KEY_OR_TOKEN_REQUIRED, /* the server has an issuer, too */
} mishap_key_need;

/*
 * Identify the caller. NULL: request->caller, caller_key and scopes are set if a known key was
 * sent; without a key the scopes are the usual ones. UNAUTHORIZED: the key is not known.
 * AUTH_REQUIRED: no key was sent, and one is needed. UNAVAILABLE: a key was sent, and the file
 * cannot be read, or is too old. A key is sent as `Authorization: Bearer KEY` or `X-Api-Key: KEY`,
 * of which `own` is the value. The name lives as long as the keys.
 */
mishap *mishap_http_keys_check(const mishap_http_keys *keys, mishap_http_request *request,
                               mishap_text own, mishap_key_need need);

/* The text behind `Bearer`, which may be empty; no data for another scheme, which is ignored. */
mishap_text mishap_http_bearer_of(mishap_text field);

/* FORBIDDEN unless the caller of a request, which was checked, has all of these scopes. */
mishap *mishap_http_keys_permit(const mishap_app *app, const mishap_http_request *request,
                                unsigned scopes);

#endif
