/*
 * Signs of a proxy: header fields that proxies, balancers and gateways add to a request that they
 * pass on. A request with one of them comes from somebody else than the process that sent it, even
 * if that process is on this machine.
 *
 * A client on this machine that sends such a field itself is taken for a proxy. That costs it the
 * right to name itself, and nothing else.
 */
#include "server/server.h"

/* By the first letter, in lower case; `*` stands for any end. */
enum { MOST_SIGNS = 40 };
static const char *const signs[26][MOST_SIGNS] = {
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
    ['x' - 'a'] = { "x-forwarded*",
                    "x-real-*",
                    "x-client-*",
                    "x-cluster-*",
                    "x-true-client-*",
                    "x-original-*",
                    "x-originating-*",
                    "x-remote-*",
                    "x-proxy*",
                    "x-envoy-*",
                    "x-amz*",
                    "x-azure-*",
                    "x-arr-*",
                    "x-akamai-*",
                    "x-appengine-*",
                    "x-auth-request-*",
                    "x-authenticated-*",
                    "x-bluecoat-*",
                    "x-cdn*",
                    "x-cloud-trace-context",
                    "x-coming-from",
                    "x-consumer-*",
                    "x-gateway-*",
                    "x-goog-*",
                    "x-haproxy-*",
                    "x-host",
                    "x-kong-*",
                    "x-ms-client-*",
                    "x-nf-*",
                    "x-nginx-*",
                    "x-request-start",
                    "x-scheme",
                    "x-ssl-*",
                    "x-sucuri-*",
                    "x-traefik-*",
                    "x-url-scheme",
                    "x-varnish*",
                    "x-vercel-*" },
};

static bool is_like(mishap_text name, const char *sign)
{
    for (size_t i = 0; i < name.length; i++) {
        if (sign[i] == '*')
            return true;
        char c = name.data[i];
        if (!sign[i] || sign[i] != (c >= 'A' && c <= 'Z' ? c | 32 : c))
            return false;
    }
    return !sign[name.length] || sign[name.length] == '*';
}

bool mishap_http_is_of_proxy(mishap_text name)
{
    char first = name.length ? (char)(name.data[0] | 32) : '\0';
    if (first < 'a' || first > 'z')
        return false;
    const char *const *sign = signs[first - 'a'];
    while (*sign && !is_like(name, *sign))
        sign++;
    return *sign;
}
