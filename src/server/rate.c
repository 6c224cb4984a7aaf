/*
 * The rate limit of each caller: the generic cell rate algorithm, with one word for each caller.
 *
 * The word is the time up to which the caller has used its allowance. A request advances it by the
 * interval of one request; it may be at most one second in the future. An idle caller may therefore
 * send the requests of one second at once, and then requests at the configured rate. A refused
 * request does not advance the word, so repeated attempts do not reduce the allowance.
 *
 * All callers share a table in memory that the loops share. Two callers with the same word share
 * one allowance. The position of the word depends on a secret, so an attacker cannot choose the
 * word of another caller.
 *
 * Servers of a cluster share a rate. Half of it is divided among them: then a word is that of the
 * part of this server. The other half is leased (lease.c), and a caller that has used up its part
 * takes what was leased for it. What a server does not know, such as how many others there are,
 * makes its part smaller, never larger.
 */
#include "base/shared.h"
#include "server/lease.h"
#include "server/server.h"

#include <stdatomic.h>
#include <stdio.h>

#define SECOND INT64_C(1000000000)

/* Loops read their clocks at different moments. A word that lies further ahead than that can
 * explain is invalid, and is ignored. */
#define ODD (3600 * SECOND)

/* A request that finds more than half of the part used is a sign that a lease will be needed: one
 * of so many counts as if it needed one. What is leased in vain is lost for all servers. */
#define IN_ADVANCE 4

/* After which a caller that needs more than the part of a server may try again. */
#define LEASED_SOON (SECOND / 10)

struct mishap_http_rates {
    int per_second;
    _Atomic int own;       /* of them, those that words count; 0: none */
    _Atomic int64_t least; /* words that are lower count as this one */
    http_leases *leases;   /* NULL: the rate is not shared with other servers */
    uint64_t secret[2];
    _Atomic uint64_t words[HTTP_RATE_PLACES];
};

static mishap *make_rates(int per_second, mishap_http_rates **out)
{
    *out = mishap_shared_map(sizeof **out);
    if (!*out)
        return mishap_out_of_memory();
    (*out)->per_second = per_second;
    return NULL;
}

mishap *mishap_http_rates_make(int per_second, mishap_http_rates **out)
{
    *out = NULL;
    if (per_second <= 0)
        return NULL;
    MISHAP_TRY(make_rates(per_second, out));
    atomic_store(&(*out)->own, per_second);
    if (mishap_system_random((*out)->secret, sizeof(*out)->secret))
        return NULL;
    mishap_http_rates_free(*out);
    *out = NULL;
    return mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
}

mishap *mishap_http_rates_make_shared(int per_second, const uint64_t secret[2],
                                      mishap_http_rates **out)
{
    *out = NULL;
    if (per_second <= 0)
        return NULL;
    MISHAP_TRY(make_rates(per_second, out));
    memcpy((*out)->secret, secret, sizeof(*out)->secret);
    (*out)->leases = mishap_http_leases_make();
    if ((*out)->leases)
        return NULL;
    mishap_http_rates_free(*out);
    *out = NULL;
    return mishap_out_of_memory();
}

void mishap_http_rates_free(mishap_http_rates *rates)
{
    if (!rates)
        return;
    mishap_http_leases_free(rates->leases);
    mishap_shared_unmap(rates, sizeof *rates);
}

/* -- several servers --------------------------------------------------------------------------- */

/* A larger part begins empty: the servers that had it may just have used a second of it. */
void mishap_http_rates_divide(mishap_http_rates *rates, int64_t part, int64_t now_ns)
{
    int64_t own = rates->per_second / 2 * part / MISHAP_HTTP_RATE_PARTS;
    if (own > atomic_load(&rates->own))
        atomic_store(&rates->least, now_ns + SECOND);
    atomic_store(&rates->own, (int)own);
}

size_t mishap_http_rates_needs(mishap_http_rates *rates, mishap_http_need *needs, size_t most)
{
    return mishap_http_leases_needs(rates->leases, needs, most);
}

void mishap_http_rates_lease(mishap_http_rates *rates, uint32_t place, int64_t count,
                             int64_t until_ns)
{
    mishap_http_leases_put(rates->leases, place, count, until_ns);
}

/* What was leased may be used a little later than it was counted. So less of it may be used at
 * once: a second of it in all. A rate that is too low for that has longer intervals. */
mishap_http_leased mishap_http_rates_leased(int per_second)
{
    enum { LAST = 5 }; /* of them make a second */
    int64_t rate = per_second - per_second / 2, at_once = rate - (rate + LAST - 1) / LAST;
    int64_t each = (SECOND + rate - 1) / rate;
    if (at_once < 1) {
        at_once = 1;
        each += SECOND / LAST;
    }
    return (mishap_http_leased){ .each_ns = each,
                                 .ahead_ns = each * at_once,
                                 .last_ns = SECOND / LAST,
                                 .most = rate > LAST ? rate / LAST : 1 };
}

/* -- checking ---------------------------------------------------------------------------------- */

static mishap *limited(const mishap_http_rates *rates, int64_t wait_ns)
{
    mishap *m = mishap_raise(RATE_LIMITED, "Too many requests: the limit is %d per second.",
                             rates->per_second);
    return mishap_retry_after(m, (wait_ns + 999999) / 1000000);
}

static size_t place_of(const mishap_http_rates *rates, const mishap_http_request *request)
{
    return mishap_http_caller_number(rates->secret, request) % HTTP_RATE_PLACES;
}

/* Advance a word by `count` intervals. 0: done; otherwise nothing was changed, and this is how long
 * to wait.
 *
 * Relaxed order is enough: a word says nothing about other memory, and each change starts from the
 * latest value. */
static int64_t take_from_bucket(mishap_http_rates *rates, size_t place, int64_t count,
                                int64_t now_ns, bool *hurries)
{
    _Atomic uint64_t *word = &rates->words[place];
    int64_t own = atomic_load_explicit(&rates->own, memory_order_acquire);
    int64_t least = rates->leases
                        ? atomic_load_explicit(&rates->least, memory_order_relaxed) - now_ns
                        : 0;
    if (own <= 0)
        return SECOND;
    /* Rounded up: never more than were promised. */
    int64_t each = (SECOND + own - 1) / own, most = each * own, worth = count * each;
    uint64_t now = (uint64_t)now_ns, used = atomic_load_explicit(word, memory_order_relaxed), next;
    do {
        /* Differences stay right when the clock itself wraps around. */
        int64_t ahead = (int64_t)(used - now);
        if (ahead < 0 || ahead > most + ODD)
            ahead = 0;
        if (least > 0 && ahead < least)
            ahead = least;
        if (ahead + worth > most)
            return ahead + worth - most;
        *hurries = ahead + worth > most / 2 && ahead / each % IN_ADVANCE == 0;
        next = now + (uint64_t)(ahead + worth);
    } while (!atomic_compare_exchange_weak_explicit(word, &used, next, memory_order_relaxed,
                                                    memory_order_relaxed));
    return 0;
}

/* The same, and of what was leased if the part of this server is used up. What is leased comes soon
 * after a caller needs it. */
static int64_t take_requests(mishap_http_rates *rates, size_t place, int64_t count, int64_t now_ns)
{
    bool hurries = true;
    int64_t wait_ns = take_from_bucket(rates, place, count, now_ns, &hurries);
    if (!rates->leases)
        return wait_ns;
    if (hurries)
        mishap_http_leases_need(rates->leases, place, count);
    if (!wait_ns || mishap_http_leases_take(rates->leases, place, count, now_ns))
        return 0;
    return wait_ns < LEASED_SOON ? wait_ns : LEASED_SOON;
}

mishap *mishap_http_rates_check(mishap_http_rates *rates, const mishap_http_request *request,
                                int64_t now_ns)
{
    if (!rates)
        return NULL;
    int64_t wait_ns = take_requests(rates, place_of(rates, request), 1, now_ns);
    return wait_ns ? limited(rates, wait_ns) : NULL;
}

static mishap *too_large(const mishap_http_rates *rates, size_t count)
{
    char advice[80];
    snprintf(advice, sizeof advice, "Send at most %d messages at once.", rates->per_second);
    mishap *m = mishap_raise(RATE_LIMITED,
                             "The batch has %zu messages: the limit is %d per second.", count,
                             rates->per_second);
    return mishap_suggest(mishap_retry_after(m, 1000), advice);
}

/* One of the messages was counted as the request itself. It is given back if the others are
 * refused, so that a client that waits as long as advised succeeds. A client that sends more than
 * can ever be allowed has used up one request. */
mishap *mishap_http_rates_check_all(mishap_http_rates *rates, const mishap_http_request *request,
                                    size_t count, int64_t now_ns)
{
    if (!rates || count <= 1)
        return NULL;
    size_t place = place_of(rates, request);
    if (count > (size_t)rates->per_second)
        return too_large(rates, count);
    int64_t wait_ns = take_requests(rates, place, (int64_t)count - 1, now_ns);
    if (!wait_ns)
        return NULL;
    if (!rates->leases) { /* it may have been a leased one, which cannot be given back */
        int64_t each = (SECOND + rates->per_second - 1) / rates->per_second;
        atomic_fetch_sub_explicit(&rates->words[place], (uint64_t)each, memory_order_relaxed);
    }
    return limited(rates, wait_ns);
}
