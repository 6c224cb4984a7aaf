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
 */
#include "base/shared.h"
#include "server/server.h"

#include <stdatomic.h>
#include <stdio.h>

enum { WORDS = 1 << 16 };
#define SECOND INT64_C(1000000000)

/* Loops read their clocks at different moments. A word that lies further ahead than that can
 * explain is invalid, and is ignored. */
#define ODD (3600 * SECOND)

struct mishap_http_rates {
    int per_second;
    int64_t each;  /* the interval of one request, in nanoseconds */
    int64_t ahead; /* how far a word may lie ahead of now */
    uint64_t secret[2];
    _Atomic uint64_t words[WORDS];
};

mishap *mishap_http_rates_make(int per_second, mishap_http_rates **out)
{
    *out = NULL;
    if (per_second <= 0)
        return NULL;
    mishap_http_rates *rates = mishap_shared_map(sizeof *rates);
    if (!rates)
        return mishap_out_of_memory();
    if (!mishap_system_random(rates->secret, sizeof rates->secret)) {
        mishap_http_rates_free(rates);
        return mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
    }
    rates->per_second = per_second;
    /* Rounded up: never more than were promised. */
    rates->each = (SECOND + per_second - 1) / per_second;
    rates->ahead = rates->each * per_second;
    *out = rates;
    return NULL;
}

void mishap_http_rates_free(mishap_http_rates *rates)
{
    if (rates)
        mishap_shared_unmap(rates, sizeof *rates);
}

/* -- checking ---------------------------------------------------------------------------------- */

static mishap *limited(const mishap_http_rates *rates, int64_t wait_ns)
{
    mishap *m = mishap_raise(RATE_LIMITED, "Too many requests: the limit is %d per second.",
                             rates->per_second);
    return mishap_retry_after(m, (wait_ns + 999999) / 1000000);
}

static _Atomic uint64_t *word_of(mishap_http_rates *rates, const mishap_http_request *request)
{
    return &rates->words[mishap_http_caller_number(rates->secret, request) % WORDS];
}

/* Advance a word by `count` intervals. 0: done; otherwise nothing was changed, and this is how long
 * to wait.
 *
 * Relaxed order is enough: a word says nothing about other memory, and each change starts from the
 * latest value. */
static int64_t take_from_bucket(const mishap_http_rates *rates, _Atomic uint64_t *word,
                                int64_t count, int64_t now_ns)
{
    int64_t worth = count * rates->each;
    uint64_t now = (uint64_t)now_ns, used = atomic_load_explicit(word, memory_order_relaxed), next;
    do {
        /* Differences stay right when the clock itself wraps around. */
        int64_t ahead = (int64_t)(used - now);
        if (ahead < 0 || ahead > rates->ahead + ODD)
            ahead = 0;
        if (ahead + worth > rates->ahead)
            return ahead + worth - rates->ahead;
        next = now + (uint64_t)(ahead + worth);
    } while (!atomic_compare_exchange_weak_explicit(word, &used, next, memory_order_relaxed,
                                                    memory_order_relaxed));
    return 0;
}

mishap *mishap_http_rates_check(mishap_http_rates *rates, const mishap_http_request *request,
                                int64_t now_ns)
{
    if (!rates)
        return NULL;
    int64_t wait_ns = take_from_bucket(rates, word_of(rates, request), 1, now_ns);
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
    _Atomic uint64_t *word = word_of(rates, request);
    if (count > (size_t)rates->per_second)
        return too_large(rates, count);
    int64_t wait_ns = take_from_bucket(rates, word, (int64_t)count - 1, now_ns);
    if (!wait_ns)
        return NULL;
    atomic_fetch_sub_explicit(word, (uint64_t)rates->each, memory_order_relaxed);
    return limited(rates, wait_ns);
}
