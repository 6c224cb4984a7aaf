/*
 * How many checks of tokens may fail for one address: the generic cell rate algorithm, as in
 * server/rate.c, in the memory of one loop. Addresses with the same word share an allowance; which
 * ones do depends on a secret.
 */
#include "http/tokens/tokens.h"

enum { WORDS = sizeof((mishap_http_budget *)0)->used_ns / sizeof(int64_t) };
#define SECOND INT64_C(1000000000)

static const int64_t each_ns = SECOND / MISHAP_HTTP_FAILED_PER_SECOND;

/* The caller is not identified yet, so its number is that of its address. */
static size_t word_of(const mishap_http_budget *budget, const mishap_http_request *request)
{
    return mishap_http_caller_number(budget->secret, request) % WORDS;
}

int64_t mishap_http_budget_wait(const mishap_http_budget *budget,
                                const mishap_http_request *request, int64_t now_ns)
{
    int64_t most_ns = now_ns + each_ns * (MISHAP_HTTP_FAILED_AT_ONCE - 1);
    int64_t over_ns = budget->used_ns[word_of(budget, request)] - most_ns;
    return over_ns > 0 ? over_ns / 1000000 + 1 : 0;
}

void mishap_http_budget_use(mishap_http_budget *budget, const mishap_http_request *request,
                            int64_t now_ns)
{
    int64_t *used_ns = &budget->used_ns[word_of(budget, request)];
    *used_ns = (*used_ns > now_ns ? *used_ns : now_ns) + each_ns;
}
