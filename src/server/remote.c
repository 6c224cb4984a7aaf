/*
 * The address of the client. A proxy on this machine connects from the loopback address and adds
 * the address of its client to the end of X-Forwarded-For. Only the last entry can be trusted; the
 * earlier entries may be forged. The header of any other peer is ignored.
 */
#include <arpa/inet.h>

#include "server/origin.h"

static bool begins_with(mishap_text text, mishap_text beginning)
{
    return text.length >= beginning.length &&
           memcmp(text.data, beginning.data, beginning.length) == 0;
}

/* The address is in the spelling of the system. */
bool mishap_http_is_loopback(mishap_text peer)
{
    return begins_with(peer, (mishap_text)MISHAP_TEXT("127.")) ||
           begins_with(peer, (mishap_text)MISHAP_TEXT("::ffff:127.")) ||
           mishap_text_equal(peer, (mishap_text)MISHAP_TEXT("::1"));
}

/* The text after the last comma, without white space. */
static mishap_text last_entry(mishap_text list)
{
    const char *comma = memrchr(list.data, ',', list.length), *end = list.data + list.length;
    const char *at = comma ? comma + 1 : list.data;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (mishap_text){ at, (size_t)(end - at) };
}

/* Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
static mishap_text without_port(mishap_text entry)
{
    const char *bracket = memchr(entry.data, ']', entry.length);
    if (entry.length && entry.data[0] == '[' && bracket)
        return (mishap_text){ entry.data + 1, (size_t)(bracket - entry.data) - 1 };
    const char *first = memchr(entry.data, ':', entry.length);
    if (first && first == memrchr(entry.data, ':', entry.length))
        return (mishap_text){ entry.data, (size_t)(first - entry.data) };
    return entry;
}

static bool is_address(mishap_text text)
{
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr address; /* large enough for IPv4 and IPv6 */
    if (text.length == 0 || text.length >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    return inet_pton(AF_INET, copy, &address) == 1 || inet_pton(AF_INET6, copy, &address) == 1;
}

mishap_text mishap_http_remote(mishap_text peer, mishap_text forwarded)
{
    if (!forwarded.length || !mishap_http_is_loopback(peer))
        return peer;
    mishap_text address = without_port(last_entry(forwarded));
    return is_address(address) ? address : peer;
}
