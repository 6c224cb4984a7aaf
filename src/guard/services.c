/* Checks for hosts by what a program says when it cannot reach them, and for names of machines. */
#include "guard/rules.h"

static bool in_address_4(char c)
{
    return leak_digit(c) || c == '.';
}

/* `connect to the port 80` names no host. */
static bool is_article(const char *from, const char *to)
{
    static const char *const words[] = { "the",  "your", "this",    "our", "its",
                                         "that", "any",  "another", "an",  NULL };
    for (size_t i = 0; words[i]; i++)
        if (strlen(words[i]) == (size_t)(to - from) &&
            memcmp(from, words[i], (size_t)(to - from)) == 0)
            return true;
    return false;
}

/* `connect to redis:6379`, `connect to db/10.0.2.2:5432`: a host without a domain and its port; the
 * literal ends with the host's first letter. */
bool mishap_leak_unreached_service(mishap_leak_place *place)
{
    const char *host = place->behind - 1, *end = leak_skip(place, host, leak_host, 100);
    bool address = leak_char(place, end) == '/' && leak_digit(leak_char(place, end + 1));
    if (end - host < 2 || leak_digit(*host) ||
        (!address && memchr(host, '.', (size_t)(end - host))))
        return false;
    if (address)
        end = leak_skip(place, end + 1, in_address_4, 16);
    bool told = leak_is(place, end, " port ") && !is_article(host, end);
    if (leak_char(place, end) != ':' && !told)
        return false;
    const char *port = told ? end + 6 : end + 1;
    end = leak_skip(place, port, leak_digit, 6);
    if (end - port < 2 || end - port > 5 || leak_word(leak_char(place, end)))
        return false;
    place->from = host;
    place->to = end;
    return true;
}

/* `Could not resolve host: payments-api`, `ConnectionPool(host='inventory'`: a host without a
 * domain. */
bool mishap_leak_unresolved_host(mishap_leak_place *place)
{
    const char *host = place->behind;
    if (leak_quote(leak_char(place, host)))
        host++;
    const char *end = leak_skip(place, host, leak_host, 100);
    char next = leak_char(place, end);
    while (end > host && end[-1] == '.')
        end--;
    if (end - host < 3 || !leak_letter(*host) || memchr(host, '.', (size_t)(end - host)))
        return false;
    bool telling = memchr(host, '-', (size_t)(end - host)) || leak_digit(end[-1]) ||
                   leak_is(place, place->at, "Unknown") || leak_is(place, place->at, "(host=") ||
                   leak_ends(place, place->behind, ": ");
    if (!telling || (next == ' ' && leak_letter(leak_char(place, end + 1))))
        return false;
    place->from = host;
    place->to = end;
    return true;
}

static bool in_machine(char c)
{
    return leak_upper(c) || leak_digit(c);
}

/* `DESKTOP-8F3KD93`, `WIN-4QK2…`: a name that an installation has made. */
bool mishap_leak_windows_host(mishap_leak_place *place)
{
    const char *from = place->behind - 1, *end = leak_skip(place, from, in_machine, 20);
    bool digit = false;
    for (const char *c = from; c < end; c++)
        digit = digit || leak_digit(*c);
    if (!digit || end - from < 6 || end - from > 12 || leak_word(leak_char(place, end)))
        return false;
    place->to = end;
    return true;
}

static bool in_pod(char c)
{
    return leak_lower(c) || leak_digit(c) || c == '-';
}

/* `pod orders-7d4b9c6f5-x2x9k`: the last parts are generated. */
bool mishap_leak_pod_name(mishap_leak_place *place)
{
    const char *from = place->behind - (place->behind[-1] != '"');
    const char *end = leak_skip(place, from, in_pod, 80);
    const char *last = end > from ? memrchr(from, '-', (size_t)(end - from)) : NULL;
    const char *hash = last ? memrchr(from, '-', (size_t)(last - from)) : NULL;
    if (!hash || end - last != 6 || last - hash < 9 || last - hash > 11)
        return false;
    bool digit = false;
    for (const char *c = hash; c < last; c++)
        digit = digit || leak_digit(*c);
    place->from = from;
    place->to = end;
    return digit;
}

/* `Server at web-07 Port 80`. */
bool mishap_leak_server_at(mishap_leak_place *place)
{
    const char *host = place->behind - 1, *end = leak_skip(place, host, leak_host, 100);
    if (!leak_is(place, end, " Port ") || !leak_digit(leak_char(place, end + 6)) ||
        memchr(host, '.', (size_t)(end - host)))
        return false;
    place->from = host;
    place->to = end;
    return true;
}
