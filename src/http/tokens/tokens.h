/*
 * Access tokens of issuers (OAuth 2.0): who sends which, beside API keys. This server is a resource
 * server: it checks tokens (oauth/oauth.h), and says where a client gets one (RFC 9728).
 *
 *     tokens.c    the caller of a request with a token; key sets, read again when they change
 *     fetch.c     key sets that this server fetches, in a process of its own: fetch.h
 *     fetcher.c   … when it fetches, and the supervisor, which starts it again
 *     map.c       the names that the operator gives to subjects
 *     budget.c    how many checks may fail, by address
 *     resource.c  the documents that say who the issuers are
 */
#ifndef MISHAP_HTTP_TOKENS_TOKENS_H
#define MISHAP_HTTP_TOKENS_TOKENS_H

#include "oauth/oauth.h"
#include "server/server.h"

enum { MISHAP_HTTP_MOST_ISSUERS = 8, MISHAP_HTTP_MOST_AUDIENCES = 12 };

/* Which subjects are which principals (map.c). Sorted. */
enum { MISHAP_HTTP_MAP_NAME = 64 };
typedef struct mishap_http_map {
    size_t count;
    struct mishap_http_mapped {
        char subject[MISHAP_HTTP_MAP_NAME], principal[MISHAP_HTTP_MAP_NAME];
    } * lines;
} mishap_http_map;

/* Read --oauth-map; its memory is that of the arena. INPUT_UNREADABLE, NOT_CONFIGURED with the
 * number of a line. */
mishap *mishap_http_map_read(mishap_arena *arena, const char *path, mishap_http_map *map);

/* The principal of a subject, such as oauth:1234; NULL: it has none. */
const char *mishap_http_map_find(const mishap_http_map *map, const char *subject);

/* What the operator has said: --oauth-issuer and so on. All text lives as long as the server. */
typedef struct mishap_http_issuers {
    size_t count;
    struct mishap_http_issuer {
        mishap_text url, alias;
        unsigned scopes;  /* that its tokens can have; others are ignored */
        const char *keys; /* the path of its key set … */
        bool fetched; /* … which this server fetches (fetch.h); else another program writes it */
    } list[MISHAP_HTTP_MOST_ISSUERS];
    const mishap_scope *declared; /* the scopes of the program, or NULL */
    mishap_http_map map;
    size_t audience_count;
    mishap_text audiences[MISHAP_HTTP_MOST_AUDIENCES]; /* of which a token must name one */
} mishap_http_issuers;

/* True if no third party can change what is sent to this address or received from it: it has https,
 * or is one of this machine. */
bool mishap_http_issuer_is_safe(mishap_text url);

/* For the process that starts the others: load libcrypto, and read each key set once. PRECONDITION,
 * INPUT_UNREADABLE or NOT_CONFIGURED, for the person who starts the server. */
mishap *mishap_http_issuers_check(const mishap_http_issuers *issuers);

/* -- one loop ---------------------------------------------------------------------------------- */

typedef struct mishap_http_tokens mishap_http_tokens;

/* Without key sets yet: mishap_http_tokens_refresh() reads them. */
mishap *mishap_http_tokens_make(const mishap_http_issuers *issuers, mishap_http_tokens **out);
void mishap_http_tokens_free(mishap_http_tokens *tokens);

/* Read key sets again whose files have changed; called about once per second. If one cannot be
 * read, the last good one is used on, and the failure says why, once for each state of the file. A
 * fetched one is used for MISHAP_FETCH_OLDEST_S at most. *lost: a key is not valid any more, so
 * what goes on for tokens must end. */
mishap *mishap_http_tokens_refresh(mishap_http_tokens *tokens, bool *lost);

/* True if the request has a Bearer credential that is no API key. */
bool mishap_http_tokens_concern(const mishap_http_request *request);

/*
 * Identify the caller of such a request, as mishap_http_keys_check() does for keys; `own` is the
 * value of X-Api-Key, which may not stand beside a token. UNAUTHORIZED, with the check that failed
 * for the log alone. RATE_LIMITED: too many checks for this address have failed, and this token was
 * not checked. UNAVAILABLE: no key set of its issuer was read yet.
 */
mishap *mishap_http_tokens_check(mishap_http_tokens *tokens, mishap_http_request *request,
                                 mishap_text own);

/* -- failed checks (budget.c) ------------------------------------------------------------------ */

/* A check of a signature takes up to milliseconds. So each address may have so many that fail at
 * once, and then so many a second, in each loop. */
enum { MISHAP_HTTP_FAILED_AT_ONCE = 20, MISHAP_HTTP_FAILED_PER_SECOND = 4 };

typedef struct mishap_http_budget {
    uint64_t secret[2];
    int64_t used_ns[1024]; /* until when each word has used its allowance */
} mishap_http_budget;

/* How many milliseconds an address has to wait for its next check; 0: none. */
int64_t mishap_http_budget_wait(const mishap_http_budget *budget,
                                const mishap_http_request *request, int64_t now_ns);

/* A check for this address has failed. */
void mishap_http_budget_use(mishap_http_budget *budget, const mishap_http_request *request,
                            int64_t now_ns);

/* -- documents (resource.c) -------------------------------------------------------------------- */

/* An extension with the endpoints of RFC 9728, which are there if the server has an issuer. */
extern const mishap_http_extension mishap_http_resource;

#endif
