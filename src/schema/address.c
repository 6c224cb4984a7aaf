/* A reference against its base, as RFC 3986 has it (section 5.2). */
#include "schema/inside.h"

/* The parts of an address; a part without data is not there. */
struct address {
    mishap_text scheme, authority, path, query;
};

static bool is_scheme(const char *from, const char *end)
{
    if (from == end || !((*from | 32) >= 'a' && (*from | 32) <= 'z'))
        return false;
    for (; from < end; from++)
        if (!(((*from | 32) >= 'a' && (*from | 32) <= 'z') || (*from >= '0' && *from <= '9') ||
              *from == '+' || *from == '-' || *from == '.'))
            return false;
    return true;
}

static mishap_text take_until(const char **at, const char *end, const char *stops)
{
    const char *from = *at;
    while (*at < end && !(**at && strchr(stops, **at)))
        (*at)++;
    return (mishap_text){ from, (size_t)(*at - from) };
}

static struct address split_address(mishap_text text)
{
    struct address address = { 0 };
    const char *at = text.data, *end = text.data + text.length;
    const char *colon = text.length ? memchr(at, ':', text.length) : NULL;
    if (colon && is_scheme(at, colon)) {
        address.scheme = (mishap_text){ at, (size_t)(colon - at) };
        at = colon + 1;
    }
    if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
        at += 2;
        address.authority = take_until(&at, end, "/?#");
    }
    address.path = take_until(&at, end, "?#");
    if (at < end && *at == '?') {
        at++;
        address.query = take_until(&at, end, "#");
    }
    return address;
}

/* Add the steps of a path, without those that are `.` or `..`. `from` is where the path begins. */
static void put_path(mishap_buffer *buffer, size_t from, mishap_text path)
{
    const char *at = path.data, *end = path.data + path.length;
    while (at < end && !buffer->failed) {
        const char *next = memchr(at, '/', (size_t)(end - at));
        size_t length = (size_t)((next ? next : end) - at);
        bool one = length == 1 && at[0] == '.', two = length == 2 && at[0] == '.' && at[1] == '.';
        if (two) { /* the step before goes, too */
            if (buffer->length > from)
                buffer->length--;
            while (buffer->length > from && buffer->data[buffer->length - 1] != '/')
                buffer->length--;
            if (buffer->length == from && path.length && path.data[0] == '/')
                mishap_buffer_put_char(buffer, '/');
        } else if (!one) {
            mishap_buffer_put(buffer, at, length + (next != NULL));
        }
        at = next ? next + 1 : end;
    }
}

/* The path of a base, up to its last slash. */
static mishap_text folder_of(mishap_text path)
{
    const char *slash = path.length ? memrchr(path.data, '/', path.length) : NULL;
    return (mishap_text){ path.data, slash ? (size_t)(slash - path.data) + 1 : 0 };
}

static void put_merged_path(mishap_buffer *buffer, const struct address *base,
                            const struct address *to)
{
    size_t from = buffer->length;
    if (!to->path.length) {
        mishap_buffer_put_text(buffer, base->path);
        return;
    }
    mishap_text folder = folder_of(base->path);
    if (to->path.data[0] != '/' && base->authority.data && !base->path.length)
        mishap_buffer_put_char(buffer, '/');
    else if (to->path.data[0] != '/')
        mishap_buffer_put_text(buffer, folder);
    put_path(buffer, from, to->path);
}

void mishap_address_resolve(mishap_buffer *buffer, mishap_text base_text, mishap_text reference)
{
    struct address base = split_address(base_text), to = split_address(reference);
    bool relative = !to.scheme.data, here = relative && !to.authority.data;
    mishap_text scheme = relative ? base.scheme : to.scheme;
    mishap_text authority = here ? base.authority : to.authority;
    mishap_text query = here && !to.path.length && !to.query.data ? base.query : to.query;
    if (scheme.data) {
        mishap_buffer_put_text(buffer, scheme);
        mishap_buffer_put_char(buffer, ':');
    }
    if (authority.data) {
        MISHAP_PUT(buffer, "//");
        mishap_buffer_put_text(buffer, authority);
    }
    if (here)
        put_merged_path(buffer, &base, &to);
    else
        put_path(buffer, buffer->length, to.path);
    if (query.data) {
        mishap_buffer_put_char(buffer, '?');
        mishap_buffer_put_text(buffer, query);
    }
}
