/*
 * The caller as a number, for limits for each caller (rate.c, share.c, sessions of MCP). The number
 * is a keyed hash, so an attacker cannot choose a name or an address that collides with another
 * caller.
 */
#include "server/server.h"

#include "base/hash.h"

uint64_t mishap_http_caller_number(const uint64_t secret[2], const mishap_http_request *request)
{
    /* The three kinds of callers use different keys: a name may look like an address, and the
     * number of a key like both. */
    const uint64_t named[2] = { ~secret[0], secret[1] }, keyed[2] = { ~secret[0], ~secret[1] };
    unsigned char network[8];
    mishap_text who = request->remote;
    uint64_t number;
    if (request->caller_key) {
        number = mishap_hash(
            keyed, (mishap_text){ (const char *)&request->caller_key, sizeof request->caller_key });
    } else if (request->caller) {
        number = mishap_hash(named, mishap_text_of(request->caller));
    } else {
        if (who.length && mishap_hash_network(who, network))
            who = (mishap_text){ (const char *)network, sizeof network };
        number = mishap_hash(secret, who);
    }
    return number ? number : 1;
}

uint64_t mishap_http_owner_of(const mishap_http_request *request)
{
    /* The operator chooses the name of a key, so a constant key is safe. */
    static const uint64_t known[2] = { 1, 2 };
    if (request->caller_key || !request->caller)
        return request->caller_key;
    return mishap_hash(known, mishap_text_of(request->caller));
}
