/*
 * How often each caller may call: the generic cell rate algorithm, with one word a caller.
 *
 * The word is the moment up to which the caller has used what is due to it. A request moves it on
 * by the time that one request is worth; it may lie at most one second ahead of now. So a caller
 * that was quiet may send one second's worth at once, and after that as many as come due. A request
 * that is refused moves nothing: who keeps knocking still gets what is due.
 *
 * All callers share a table in memory that the loops share. Two that meet in one word share what
 * is due to one. Where a caller's word is depends on a secret number, so nobody can aim at the word
 * of somebody else.
 */
#include "server/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { WORDS = 1 << 16 };
#define SECOND INT64_C(1000000000)

/* Loops read their clocks at different moments. A word that lies further ahead than that can
 * explain is no moment of ours, and counts as none. */
#define ODD (3600 * SECOND)

struct mishap_http_rates {
    int per_second;
    int64_t each;  /* what one request is worth, in nanoseconds */
    int64_t ahead; /* how far a word may lie ahead of now */
    uint64_t secret[2];
    _Atomic uint64_t words[WORDS];
};

mishap *mishap_http_rates_make(int per_second, mishap_http_rates **out)
{
    *out = NULL;
    if (per_second <= 0)
        return NULL;
    mishap_http_rates *rates = mmap(NULL, sizeof *rates, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (rates == MAP_FAILED)
        return mishap_out_of_memory();
    if (!mishap_system_random(rates->secret, sizeof rates->secret)) {
        mishap_http_rates_free(rates);
        return mishap_raise(INTERNAL_ERROR, "The system gives no random bytes.");
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
        munmap(rates, sizeof *rates);
}

/* -- whose word -------------------------------------------------------------------------------- */

static uint64_t turn(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void stir(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = turn(v[1], 13) ^ v[0];
    v[3] = turn(v[3], 16) ^ v[2];
    v[0] = turn(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = turn(v[1], 17) ^ v[2];
    v[3] = turn(v[3], 21) ^ v[0];
    v[2] = turn(v[2], 32);
}

/* SipHash-1-3 (Aumasson and Bernstein): short, fast, and of no use to who does not know the secret.
 */
static uint64_t hash(const uint64_t secret[2], mishap_text text)
{
    uint64_t v[4] = { secret[0] ^ UINT64_C(0x736f6d6570736575),
                      secret[1] ^ UINT64_C(0x646f72616e646f6d),
                      secret[0] ^ UINT64_C(0x6c7967656e657261),
                      secret[1] ^ UINT64_C(0x7465646279746573) };
    uint64_t word;
    size_t left = text.length;
    for (const char *at = text.data; left >= 8; at += 8, left -= 8) {
        memcpy(&word, at, 8);
        v[3] ^= word;
        stir(v);
        v[0] ^= word;
    }
    word = 0;
    if (left)
        memcpy(&word, text.data + text.length - left, left);
    word |= (uint64_t)text.length << 56;
    v[3] ^= word;
    stir(v);
    v[0] ^= word;
    v[2] ^= 0xFF;
    for (int i = 0; i < 3; i++)
        stir(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Whoever has one address of IPv6 has the whole network of 64 bits, and may call from any address
 * in it. True if that is what is to be counted. */
static bool network_of(mishap_text remote, unsigned char network[8])
{
    struct in6_addr address;
    char text[INET6_ADDRSTRLEN];
    if (remote.length >= sizeof text || !memchr(remote.data, ':', remote.length))
        return false;
    memcpy(text, remote.data, remote.length);
    text[remote.length] = '\0';
    if (inet_pton(AF_INET6, text, &address) != 1 || IN6_IS_ADDR_V4MAPPED(&address))
        return false;
    memcpy(network, &address, 8);
    return true;
}

static _Atomic uint64_t *word_of(mishap_http_rates *rates, const mishap_http_request *request)
{
    /* A name may look like an address; it is none. */
    const uint64_t named[2] = { ~rates->secret[0], rates->secret[1] };
    unsigned char network[8];
    mishap_text who = request->remote;
    const uint64_t *secret = rates->secret;
    if (request->caller) {
        who = mishap_text_of(request->caller);
        secret = named;
    } else if (who.length && network_of(who, network)) {
        who = (mishap_text){ (const char *)network, sizeof network };
    }
    return &rates->words[hash(secret, who) % WORDS];
}

/* -- may it? ----------------------------------------------------------------------------------- */

static mishap *limited(const mishap_http_rates *rates, int64_t wait_ns)
{
    mishap *m = mishap_raise(RATE_LIMITED, "Too many requests: at most %d a second.",
                             rates->per_second);
    return mishap_retry_after(m, (wait_ns + 999999) / 1000000);
}

mishap *mishap_http_rates_check(mishap_http_rates *rates, const mishap_http_request *request,
                                int64_t now_ns)
{
    if (!rates)
        return NULL;
    _Atomic uint64_t *word = word_of(rates, request);
    uint64_t now = (uint64_t)now_ns, used = atomic_load_explicit(word, memory_order_relaxed), next;
    do {
        /* Differences stay right where the clock itself wraps around. */
        int64_t ahead = (int64_t)(used - now);
        if (ahead < 0 || ahead > rates->ahead + ODD)
            ahead = 0;
        if (ahead + rates->each > rates->ahead)
            return limited(rates, ahead + rates->each - rates->ahead);
        next = now + (uint64_t)(ahead + rates->each);
    } while (!atomic_compare_exchange_weak_explicit(word, &used, next, memory_order_relaxed,
                                                    memory_order_relaxed));
    return NULL;
}
