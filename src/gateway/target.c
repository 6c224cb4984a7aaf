/* One URL of the servers behind the gateway, and addresses with a port. */
#include <stdio.h>

#include "gateway/gateway.h"

enum { LONGEST_PORT = 5, MOST_PORT = 65535 };

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool starts_with(mishap_text *text, const char *start)
{
    size_t length = strlen(start);
    if (text->length < length || strncasecmp(text->data, start, length) != 0)
        return false;
    text->data += length;
    text->length -= length;
    return true;
}

static bool read_port(mishap_text text, char *port)
{
    unsigned number = 0;
    if (!text.length || text.length > LONGEST_PORT)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        number = number * 10 + (unsigned)(text.data[i] - '0');
    }
    snprintf(port, MISHAP_GATEWAY_PORT, "%u", number);
    return number <= MOST_PORT;
}

/* A name or an IPv4 address; an IPv6 address if it was in brackets. */
static bool read_host(mishap_text text, bool brackets, char *host, size_t size)
{
    if (!text.length || text.length >= size)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        bool fits = brackets ? strchr("0123456789abcdefABCDEF:.", c) != NULL && c
                             : is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
        if (!fits)
            return false;
    }
    memcpy(host, text.data, text.length);
    host[text.length] = '\0';
    return true;
}

bool mishap_gateway_read_address(mishap_text text, const char *usual, char *host, size_t size,
                                 char *port)
{
    bool brackets = text.length && text.data[0] == '[';
    const char *end = memchr(text.data, brackets ? ']' : ':', text.length);
    size_t length = end ? (size_t)(end - text.data) : text.length;
    mishap_text name = { text.data + brackets, length - brackets };
    mishap_text rest = { text.data + length, text.length - length };
    if (brackets && (!end || length == 1))
        return false;
    if (brackets)
        rest = (mishap_text){ rest.data + 1, rest.length - 1 };
    if (!read_host(name, brackets, host, size))
        return false;
    if (!rest.length && usual) {
        snprintf(port, MISHAP_GATEWAY_PORT, "%s", usual);
        return true;
    }
    return rest.length && rest.data[0] == ':' &&
           read_port((mishap_text){ rest.data + 1, rest.length - 1 }, port);
}

static const char *read_socket(mishap_text path, mishap_gateway_target *target)
{
    target->local = true;
    if (!path.length || path.data[0] != '/')
        return "must have an absolute path behind unix:";
    if (path.length >= 108) /* of sockaddr_un */
        return "has a path that is too long for a unix socket";
    memcpy(target->path, path.data, path.length);
    target->path[path.length] = '\0';
    return mishap_gateway_can_quote(target->path) ? NULL : "has a control character in it";
}

const char *mishap_gateway_target_read(mishap_text url, mishap_gateway_target *target)
{
    *target = (mishap_gateway_target){ .port = "80" };
    if (url.length && memchr(url.data, '\0', url.length))
        return "has a NUL in it";
    if (starts_with(&url, "https://"))
        target->tls = true;
    else if (!starts_with(&url, "http://"))
        return "must begin with http:// or https://";
    if (starts_with(&url, "unix:"))
        return target->tls ? "cannot have TLS on a unix socket" : read_socket(url, target);
    if (url.length && url.data[url.length - 1] == '/')
        url.length--;
    if (memchr(url.data, '@', url.length))
        return "must not have a user or a password in it";
    if (memchr(url.data, '/', url.length) || memchr(url.data, '?', url.length) ||
        memchr(url.data, '#', url.length))
        return "must end after the host and the port: the path of a request is passed on as it is";
    if (!mishap_gateway_read_address(url, target->tls ? "443" : "80", target->host,
                                     sizeof target->host, target->port) ||
        strcmp(target->port, "0") == 0)
        return "must have a host and, if it is not the usual one, a port from 1 to 65535";
    return NULL;
}
