/*
 * Refuse requests of malicious web pages.
 *
 * A web page can make a browser send requests to a server on the same machine. If a key is
 * required, this is harmless, because the page has no key. If no key is required, two checks are
 * made:
 *
 * - Does the page have an origin that may call? Browsers send the origin with every request that
 *   may change something.
 * - Does Host name this server? A page can make its own domain name point to this machine (DNS
 *   rebinding). Then the browser takes the server for the origin of the page, and only the name in
 *   Host shows it. An address, or a name without a dot, cannot be pointed here by an attacker's
 *   DNS.
 */
#include <strings.h>

#include "server/origin.h"

#include "base/trim.h"

/* -- lists of origins -------------------------------------------------------------------------- */

/* The next entry of a comma-separated list; no data: there is none. */
static mishap_text take_entry(const char **at)
{
    if (!**at)
        return (mishap_text){ NULL, 0 };
    mishap_text entry = { *at, strcspn(*at, ",") };
    *at += entry.length + ((*at)[entry.length] == ',');
    return mishap_trim(entry, " \t");
}

static bool is_any(mishap_text list)
{
    return list.length == 1 && list.data[0] == '*';
}

static bool is_in(char c, const char *others)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr(others, c));
}

static size_t skip(mishap_text text, size_t at, const char *others)
{
    while (at < text.length && is_in(text.data[at], others))
        at++;
    return at;
}

/* Browsers leave out the default port. */
static bool is_default_port(mishap_text origin, mishap_text port)
{
    mishap_text http = MISHAP_TEXT("http://"), https = MISHAP_TEXT("https://");
    if (origin.length >= https.length && memcmp(origin.data, https.data, https.length) == 0)
        return mishap_text_equal(port, (mishap_text)MISHAP_TEXT("443"));
    return origin.length >= http.length && memcmp(origin.data, http.data, http.length) == 0 &&
           mishap_text_equal(port, (mishap_text)MISHAP_TEXT("80"));
}

/* scheme://host[:port] as browsers spell it, or null. */
static bool is_origin(mishap_text text)
{
    if (mishap_text_equal(text, (mishap_text)MISHAP_TEXT("null")))
        return true;
    size_t scheme = skip(text, 0, "+-.");
    if (scheme == 0 || text.length - scheme < 4 || memcmp(text.data + scheme, "://", 3) != 0)
        return false;
    size_t host = scheme + 3;
    bool brackets = text.data[host] == '[';
    size_t end = skip(text, host + brackets, brackets ? ":." : "-._");
    if (end == host + brackets || (brackets && (end == text.length || text.data[end++] != ']')))
        return false;
    if (end == text.length)
        return true;
    mishap_text port = { text.data + end + 1, text.length - end - 1 };
    bool digits = port.length && port.length <= 5;
    for (size_t i = 0; i < port.length; i++)
        digits = digits && port.data[i] >= '0' && port.data[i] <= '9';
    return text.data[end] == ':' && digits && !is_default_port(text, port);
}

mishap_text mishap_http_unsound_origin(const char *list)
{
    mishap_text entry = mishap_trim(mishap_text_of(list), " \t");
    if (is_any(entry))
        return (mishap_text){ NULL, 0 };
    while ((entry = take_entry(&list)).data && is_origin(entry))
        continue;
    return entry;
}

mishap_text mishap_http_listed_origin(const char *list, mishap_text origin)
{
    mishap_text entry = mishap_trim(mishap_text_of(list), " \t");
    if (!list || is_any(entry))
        return entry;
    while ((entry = take_entry(&list)).data)
        if (mishap_text_equal(entry, origin) && is_origin(entry))
            break;
    return entry;
}

/* -- hosts ------------------------------------------------------------------------------------- */

static bool same_name(mishap_text a, mishap_text b)
{
    return a.length == b.length && a.length && strncasecmp(a.data, b.data, a.length) == 0;
}

static mishap_text without_port(mishap_text host)
{
    for (size_t i = host.length; i > 0; i--) {
        char c = host.data[i - 1];
        if (c == ':')
            return (mishap_text){ host.data, i - 1 };
        if (c < '0' || c > '9')
            break;
    }
    return host;
}

/* "https://HOST:PORT/…" → HOST */
static mishap_text host_of(mishap_text url)
{
    const char *slashes = url.length ? memmem(url.data, url.length, "://", 3) : NULL;
    if (!slashes)
        return (mishap_text){ "", 0 };
    size_t start = (size_t)(slashes - url.data) + 3, end = start;
    while (end < url.length && url.data[end] != '/')
        end++;
    return without_port((mishap_text){ url.data + start, end - start });
}

/* RFC 6761: all names below localhost are localhost, too. */
static bool is_localhost(mishap_text name)
{
    static const mishap_text below = MISHAP_TEXT(".localhost");
    return same_name(name, (mishap_text){ below.data + 1, below.length - 1 }) ||
           (name.length > below.length &&
            strncasecmp(name.data + name.length - below.length, below.data, below.length) == 0);
}

static bool is_this_machine(mishap_text name)
{
    return is_localhost(name) || same_name(name, (mishap_text)MISHAP_TEXT("127.0.0.1")) ||
           same_name(name, (mishap_text)MISHAP_TEXT("[::1]"));
}

static bool is_ours(const mishap_http_settings *settings, mishap_text name)
{
    return is_this_machine(name) || same_name(name, mishap_text_of(settings->host)) ||
           same_name(name, host_of(mishap_text_of(settings->public_url)));
}

/* True if no owner of a domain can define this name in DNS: an address, or a name without a dot. */
static bool is_beyond_dns(mishap_text name)
{
    size_t last = name.length;
    while (last && name.data[last - 1] >= '0' && name.data[last - 1] <= '9')
        last--;
    bool digits = last < name.length && last && name.data[last - 1] == '.';
    return digits || name.length == 0 || name.data[0] == '[' ||
           !memchr(name.data, '.', name.length);
}

bool mishap_http_knows_host(const mishap_http_settings *settings, mishap_text host)
{
    mishap_text name = without_port(host);
    return settings->key_required || is_beyond_dns(name) || is_ours(settings, name);
}

/* A server can listen there, but no client can call it by that. */
static bool is_every_address(mishap_text name)
{
    return same_name(name, (mishap_text)MISHAP_TEXT("0.0.0.0")) ||
           same_name(name, (mishap_text)MISHAP_TEXT("[::]"));
}

/* Behind a proxy, Host is the name that the proxy uses for this server, and the scheme may
 * differ. */
bool mishap_http_links_to_host(const mishap_http_settings *settings,
                               const mishap_http_request *request)
{
    mishap_text name = without_port(request->fields[MISHAP_HTTP_HOST]);
    return name.length && !request->fields[MISHAP_HTTP_FORWARDED_FOR].data &&
           !is_every_address(name) && (is_beyond_dns(name) || is_ours(settings, name));
}

bool mishap_http_knows_origin(const mishap_http_settings *settings, mishap_text origin)
{
    mishap_text host = host_of(origin);
    return !origin.data || mishap_http_listed_origin(settings->cors, origin).data ||
           is_this_machine(host) || (!settings->key_required && is_ours(settings, host));
}

/* -- requests ---------------------------------------------------------------------------------- */

static bool changes_something(mishap_http_method method)
{
    return method != MISHAP_HTTP_GET && method != MISHAP_HTTP_HEAD && method != MISHAP_HTTP_OPTIONS;
}

/* Only a browser can be misused by a page. All browsers ask for compressed answers, and a page can
 * prevent that only by asking for a range (Fetch, HTTP-network-or-cache fetch). When a rebound page
 * only reads, it sends no Origin: so this is how it is recognized. */
static bool is_browser(const mishap_http_request *request)
{
    mishap_text packed = request->fields[MISHAP_HTTP_ACCEPT_ENCODING];
    return request->fields[MISHAP_HTTP_ORIGIN].data || request->fields[MISHAP_HTTP_RANGE].data ||
           (packed.length && memmem(packed.data, packed.length, "gzip", 4));
}

mishap *mishap_http_check_origin(const mishap_http_settings *settings,
                                 const mishap_http_request *request)
{
    if (settings->key_required || request->caller || !is_browser(request))
        return NULL;
    if (!mishap_http_knows_host(settings, request->fields[MISHAP_HTTP_HOST]))
        return mishap_suggest(
            mishap_raise(FORBIDDEN,
                         "The Host header of the request is not a host name of this server."),
            "Use the address of the server, send an API key, or start the server with "
            "--public-url.");
    if (changes_something(request->method) &&
        !mishap_http_knows_origin(settings, request->fields[MISHAP_HTTP_ORIGIN]))
        return mishap_suggest(
            mishap_raise(FORBIDDEN,
                         "Web pages of this origin are not allowed to call this server."),
            "Start the server with the origin of the page in --cors, or send an API key.");
    return NULL;
}
