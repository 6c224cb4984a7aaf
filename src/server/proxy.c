/*
 * Signs of a proxy: header fields that proxies, balancers and gateways add to a request that they
 * pass on. A request with one of them does not come from the process that sent it, even if that
 * process is on this machine.
 *
 * A client on this machine that sends such a field itself is taken for a proxy. That costs it the
 * right to name itself, and nothing else.
 */
#include "server/origin.h"

/* By the first letter, in lower case; `*` matches any ending. NULL ends a row. Every field of every
 * request is looked up here. */
enum { MOST_SIGNS = 9 };
static const char *const plain[26][MOST_SIGNS] = {
    ['a' - 'a'] = { "akamai-*" },
    ['c' - 'a'] = { "cf-*", "cdn-loop", "client-*", "cloudfront-*" },
    ['f' - 'a'] = { "forwarded*", "fastly-*", "fly-*", "front-end-https" },
    ['i' - 'a'] = { "incap-*" },
    ['m' - 'a'] = { "max-forwards" },
    ['p' - 'a'] = { "proxy*" },
    ['r' - 'a'] = { "remote-*" },
    ['s' - 'a'] = { "surrogate-capability", "ssl-client-*" },
    ['t' - 'a'] = { "true-client-*", "tailscale-*" },
    ['v' - 'a'] = { "via" },
    ['w' - 'a'] = { "wl-proxy-*" },
};

/* Those that begin with `x-`, by what follows. */
static const char *const extended[26][MOST_SIGNS] = {
    ['a' - 'a'] = { "amz*", "azure-*", "arr-*", "akamai-*", "appengine-*", "auth-request-*",
                    "authenticated-*" },
    ['b' - 'a'] = { "bluecoat-*" },
    ['c' - 'a'] = { "client-*", "cluster-*", "cdn*", "cloud-trace-context", "coming-from",
                    "consumer-*" },
    ['e' - 'a'] = { "envoy-*" },
    ['f' - 'a'] = { "forwarded*" },
    ['g' - 'a'] = { "gateway-*", "goog-*" },
    ['h' - 'a'] = { "haproxy-*", "host" },
    ['k' - 'a'] = { "kong-*" },
    ['m' - 'a'] = { "ms-client-*" },
    ['n' - 'a'] = { "nf-*", "nginx-*" },
    ['o' - 'a'] = { "original-*", "originating-*" },
    ['p' - 'a'] = { "proxy*" },
    ['r' - 'a'] = { "real-*", "remote-*", "request-start" },
    ['s' - 'a'] = { "scheme", "ssl-*", "sucuri-*" },
    ['t' - 'a'] = { "true-client-*", "traefik-*" },
    ['u' - 'a'] = { "url-scheme" },
    ['v' - 'a'] = { "varnish*", "vercel-*" },
};

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c | 32 : c);
}

static bool is_like(mishap_text name, const char *sign)
{
    for (size_t i = 0; i < name.length; i++) {
        if (sign[i] == '*')
            return true;
        if (!sign[i] || sign[i] != lower(name.data[i]))
            return false;
    }
    return !sign[name.length] || sign[name.length] == '*';
}

static bool is_among(mishap_text name, const char *const signs[26][MOST_SIGNS])
{
    char first = name.length ? lower(name.data[0]) : '\0';
    if (first < 'a' || first > 'z')
        return false;
    const char *const *sign = signs[first - 'a'];
    while (*sign && !is_like(name, *sign))
        sign++;
    return *sign;
}

bool mishap_http_is_of_proxy(mishap_text name)
{
    if (name.length > 2 && lower(name.data[0]) == 'x' && name.data[1] == '-')
        return is_among((mishap_text){ name.data + 2, name.length - 2 }, extended);
    return is_among(name, plain);
}
