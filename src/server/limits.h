/*
 * Limits that hold for all loops together, in memory that they share: of the bodies that are in
 * memory at once, and of the requests that a caller sends in a second.
 */
#ifndef MISHAP_SERVER_LIMITS_H
#define MISHAP_SERVER_LIMITS_H

#include "server/server.h"

/* -- bodies ------------------------------------------------------------------------------------ */

/* How many bytes of requests each loop holds, in memory that all loops share: requests that are
 * being received, and bodies of deferred requests. */
typedef struct mishap_http_bodies mishap_http_bodies;

/* For the supervisor: `places` loops may run at once. *out NULL: there is no limit. */
mishap *mishap_http_bodies_make(size_t limit, size_t places, mishap_http_bodies **out);
void mishap_http_bodies_free(mishap_http_bodies *bodies);

/* A loop is about to begin at a place; it has ended, for any reason: its bytes are free. */
void mishap_http_bodies_come(mishap_http_bodies *bodies, size_t place);
void mishap_http_bodies_gone(mishap_http_bodies *bodies, size_t place);

/* -- rates ------------------------------------------------------------------------------------- */

/* The rate limit of each caller, in memory that all loops share. */
typedef struct mishap_http_rates mishap_http_rates;
mishap *mishap_http_rates_make(int per_second, mishap_http_rates **out); /* *out NULL: no limit */
void mishap_http_rates_free(mishap_http_rates *rates);

/*
 * A rate of several servers together. Half of it is divided among them. Of the other half a server
 * leases some for the next moment, for those callers that need it. Both are told from outside;
 * before that there is nothing. All servers have the same secret, so that a caller has the same
 * place everywhere.
 */
mishap *mishap_http_rates_make_shared(int per_second, const uint64_t secret[2],
                                      mishap_http_rates **out);

/* This server has `part` millionths of the half that is divided. */
void mishap_http_rates_divide(mishap_http_rates *rates, int64_t part, int64_t now_ns);

enum { MISHAP_HTTP_RATE_PARTS = 1000000 };

/* A caller that used more than half of its part, or all of it, since it was told the last time: at
 * which place, and for how many requests. */
typedef struct mishap_http_need {
    uint32_t place;
    uint32_t count;
} mishap_http_need;

/* The callers that need a lease, at most `most`, each once. Those that do not fit in come first the
 * next time. */
size_t mishap_http_rates_needs(mishap_http_rates *rates, mishap_http_need *needs, size_t most);

/* So many requests were leased, until then. What is left of an earlier lease is lost. */
void mishap_http_rates_lease(mishap_http_rates *rates, uint32_t place, int64_t count,
                             int64_t until_ns);

/* The half that is leased, as a rate of its own: the interval of one request, and how far the word
 * of a caller may lie ahead. A lease may last for so long. */
typedef struct mishap_http_leased {
    int64_t each_ns, ahead_ns, last_ns, most; /* and how many a server leases at once, at most */
} mishap_http_leased;
mishap_http_leased mishap_http_rates_leased(int per_second);

/* NULL, or RATE_LIMITED with the time after which to try again. Called in any loop, without a lock.
 * `now_ns` is the current monotonic time, not the time at which the request began. */
mishap *mishap_http_rates_check(mishap_http_rates *rates, const mishap_http_request *request,
                                int64_t now_ns);

/* The same for a request that was let through and turns out to be so many messages: all of them are
 * allowed, or none. RATE_LIMITED also says if there are more than a second allows, which can never
 * be let through at once. */
mishap *mishap_http_rates_check_all(mishap_http_rates *rates, const mishap_http_request *request,
                                    size_t count, int64_t now_ns);

#endif
