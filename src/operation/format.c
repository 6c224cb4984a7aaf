/*
 * Check the formats of strings as their standards define them: 2026-02-31 is not a date.
 *
 *     date, time, date-time, duration    RFC 3339, sections 5.6 and appendix A
 *     email                              RFC 5321, section 4.1.2, without quoted local parts
 *     hostname                           RFC 1123, section 2.1
 *     ipv4, ipv6                         RFC 2673, section 3.2; RFC 4291, section 2.2
 *     uri                                RFC 3986: with a scheme
 *     uuid                               RFC 9562, section 4
 */
#include "operation/format.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/moment.h"
#include "operation/type.h"

/* -- reading ----------------------------------------------------------------------------------- */

/* The rest of the text. */
struct reading {
    const char *at, *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_hex(char c)
{
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static bool take_character(struct reading *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_digits(struct reading *r)
{
    const char *start = r->at;
    while (r->at < r->end && is_digit(*r->at))
        r->at++;
    return r->at > start;
}

/* -- dates and times --------------------------------------------------------------------------- */

static struct reading begin_reading(mishap_text text)
{
    return (struct reading){ text.data, text.data + text.length };
}

static bool is_date(mishap_text text)
{
    mishap_date date;
    return mishap_date_read(text, &date);
}

static bool is_date_time(mishap_text text)
{
    mishap_timestamp time;
    return mishap_timestamp_read(text, &time);
}

/* Some of the units, in their order and without a gap: P1Y2M10DT2H30M, P3W. */
static size_t take_units(struct reading *r, const char *units)
{
    size_t count = 0;
    const char *unit = units;
    while (r->at < r->end && is_digit(*r->at)) {
        take_digits(r);
        const char *found = r->at < r->end && *r->at ? strchr(unit, *r->at) : NULL;
        if (!found || (count && found != unit))
            return 0;
        r->at++;
        unit = found + 1;
        count++;
    }
    return count;
}

static bool is_duration(mishap_text text)
{
    struct reading r = begin_reading(text);
    if (!take_character(&r, 'P'))
        return false;
    struct reading weeks = r;
    if (take_digits(&weeks) && take_character(&weeks, 'W'))
        return weeks.at == weeks.end;
    bool dated = r.at < r.end && *r.at != 'T';
    if (dated && !take_units(&r, "YMD"))
        return false;
    bool timed = take_character(&r, 'T');
    return (dated || timed) && (!timed || take_units(&r, "HMS")) && r.at == r.end;
}

/* -- names and addresses ----------------------------------------------------------------------- */

static bool is_hostname(mishap_text text)
{
    size_t length = 0;
    if (!text.length || text.length > 253)
        return false;
    for (size_t i = 0; i <= text.length; i++) {
        char c = i < text.length ? text.data[i] : '.';
        if (c == '.') {
            if (!length || length > 63 || text.data[i - 1] == '-')
                return false;
            length = 0;
        } else if (is_letter(c) || is_digit(c) || (c == '-' && length)) {
            length++;
        } else {
            return false;
        }
    }
    return true;
}

static bool is_address(int family, mishap_text text)
{
    char address[64];
    unsigned char bytes[16];
    if (text.length >= sizeof address || memchr(text.data, '\0', text.length))
        return false;
    memcpy(address, text.data, text.length);
    address[text.length] = '\0';
    return inet_pton(family, address, bytes) == 1;
}

static bool is_ipv4(mishap_text text)
{
    return is_address(AF_INET, text);
}

static bool is_ipv6(mishap_text text)
{
    return is_address(AF_INET6, text);
}

/* Atoms with dots between. Bytes of longer characters are fine (RFC 6531). */
static bool is_local_part(mishap_text text)
{
    bool atom = false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (c == '.' ? !atom
                     : !(is_letter(c) || is_digit(c) || (unsigned char)c >= 128 ||
                         strchr("!#$%&'*+-/=?^_`{|}~", c)))
            return false;
        atom = c != '.';
    }
    return atom && text.length <= 64;
}

static bool is_domain_literal(mishap_text text)
{
    if (text.length < 2 || text.data[0] != '[' || text.data[text.length - 1] != ']')
        return false;
    mishap_text inside = { text.data + 1, text.length - 2 };
    if (inside.length > 5 && memcmp(inside.data, "IPv6:", 5) == 0)
        return is_ipv6((mishap_text){ inside.data + 5, inside.length - 5 });
    return is_ipv4(inside);
}

static bool is_email(mishap_text text)
{
    const char *at = text.length ? memrchr(text.data, '@', text.length) : NULL;
    if (!at || memchr(text.data, '\0', text.length))
        return false;
    mishap_text local = { text.data, (size_t)(at - text.data) };
    mishap_text domain = { at + 1, text.length - local.length - 1 };
    return is_local_part(local) && (is_hostname(domain) || is_domain_literal(domain));
}

static bool is_uuid(mishap_text text)
{
    mishap_uuid uuid;
    return mishap_uuid_read(text, &uuid);
}

/* [2001:db8::1], or an address of a version that is still to come: [v1.x]. */
static bool is_bracketed(mishap_text text)
{
    if (text.length < 2 || text.data[0] != '[' || text.data[text.length - 1] != ']')
        return false;
    mishap_text inside = { text.data + 1, text.length - 2 };
    if (!inside.length || (inside.data[0] | 32) != 'v')
        return is_ipv6(inside);
    size_t at = 1;
    while (at < inside.length && is_hex(inside.data[at]))
        at++;
    return at > 1 && at + 1 < inside.length && inside.data[at] == '.' &&
           !memchr(inside.data, '[', inside.length) && !memchr(inside.data, ']', inside.length) &&
           !memchr(inside.data, '@', inside.length) && !memchr(inside.data, '%', inside.length);
}

/* ada@example.com:80, of characters that may stand in an address. */
static bool is_authority(mishap_text text)
{
    const char *end = text.data + text.length, *host = text.data, *port = end;
    const char *at = text.length ? memchr(text.data, '@', text.length) : NULL;
    if (at) {
        if (memchr(text.data, '[', (size_t)(at - text.data)) ||
            memchr(text.data, ']', (size_t)(at - text.data)))
            return false;
        host = at + 1;
    }
    while (port > host && is_digit(port[-1]))
        port--;
    if (port > host && port[-1] == ':')
        end = port - 1;
    mishap_text name = { host, (size_t)(end - host) };
    if (name.length && *host == '[')
        return is_bracketed(name);
    for (size_t i = 0; i < name.length; i++)
        if (memchr(":@[]", name.data[i], 4))
            return false;
    return true;
}

/* A scheme, and then what may stand in an address: brackets around an IPv6 address alone. */
static bool is_uri(mishap_text text)
{
    const char *end = text.data + text.length, *at = text.data, *colon;
    if (!text.length || !is_letter(*at) || !(colon = memchr(at, ':', text.length)))
        return false;
    for (; at < colon; at++)
        if (!is_letter(*at) && !is_digit(*at) && !(*at && strchr("+-.", *at)))
            return false;
    const char *path = colon + 1;
    if (end - path >= 2 && path[0] == '/' && path[1] == '/') {
        const char *start = path + 2;
        for (path = start; path < end && !memchr("/?#", *path, 3);)
            path++;
        if (!is_authority((mishap_text){ start, (size_t)(path - start) }))
            return false;
    }
    bool fragment = false;
    for (at = colon + 1; at < end; at++) {
        if (*at == '%' ? end - at < 3 || !is_hex(at[1]) || !is_hex(at[2])
                       : !is_letter(*at) && !is_digit(*at) &&
                             !(*at && strchr("-._~:/?#[]@!$&'()*+,;=", *at)))
            return false;
        if ((*at == '#' && fragment) || (at >= path && (*at == '[' || *at == ']')))
            return false;
        fragment = fragment || *at == '#';
    }
    return true;
}

/* -- the table --------------------------------------------------------------------------------- */

static const mishap_format formats[] = {
    { "date", "a date such as 2026-02-28", is_date },
    { "time", "a time with its zone, such as 18:30:00Z", mishap_time_is_valid },
    { "date-time", "a date and time such as 2026-02-28T18:30:00Z", is_date_time },
    { "duration", "a duration such as P1DT12H", is_duration },
    { "email", "an e-mail address such as ada@example.com", is_email },
    { "hostname", "a host name such as www.example.com", is_hostname },
    { "ipv4", "an IPv4 address such as 192.0.2.1", is_ipv4 },
    { "ipv6", "an IPv6 address such as 2001:db8::1", is_ipv6 },
    { "uri", "a URI such as https://example.com/a", is_uri },
    { "uuid", "a UUID such as 01234567-89ab-7def-8123-456789abcdef", is_uuid },
};
const char mishap_format_names[] =
    "date, time, date-time, duration, email, hostname, ipv4, ipv6, uri or uuid";

const char *mishap_param_looks(const mishap_param *param)
{
    const mishap_format *format = param->format ? mishap_format_find(param->format) : NULL;
    const mishap_type_facts *facts = mishap_type_find(param->type);
    return param->looks ? param->looks : format ? format->looks : facts ? facts->looks : NULL;
}

bool mishap_looks_name_it(const char *looks)
{
    return strncmp(looks, "a ", 2) == 0 || strncmp(looks, "an ", 3) == 0;
}

const mishap_format *mishap_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}
