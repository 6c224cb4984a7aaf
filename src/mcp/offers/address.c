/*
 * Addresses of resources. An address with a {variable} is a template: the text at its place is the
 * value of a parameter of the operation.
 */
#include "mcp/offers/address.h"

enum { ROOM = 1024 }; /* enough for most parameters, as JSON */

/* Take the next character off the address. An escape counts as its character, unless that character
 * has a meaning of its own in an address: then the result is above all characters. */
static int take_character(mishap_text *address)
{
    enum { ESCAPED = 256 };
    unsigned char c = (unsigned char)address->data[0];
    int escaped = mishap_url_escape(address->data, address->data + address->length);
    size_t length = escaped < 0 ? 1 : 3;
    *address = (mishap_text){ address->data + length, address->length - length };
    if (escaped < 0)
        return c;
    return memchr(":/?#[]@!$&'()*+,;=%", escaped, 19) ? ESCAPED + escaped : escaped;
}

bool mishap_mcp_same_address(mishap_text a, mishap_text b)
{
    while (a.length && b.length)
        if (take_character(&a) != take_character(&b))
            return false;
    return !a.length && !b.length;
}

uint32_t mishap_mcp_address_hash(mishap_text address)
{
    uint32_t hash = 2166136261;
    while (address.length)
        hash = (hash ^ (uint32_t)take_character(&address)) * 16777619;
    return hash;
}

bool mishap_mcp_is_template(const mishap_mcp_offer *resource)
{
    return strchr(resource->operation->resource, '{') != NULL;
}

static mishap_type_of_param type_of(const mishap_operation *operation, mishap_text name)
{
    const mishap_param *param = mishap_param_find(operation->params, name);
    return param ? param->type : MISHAP_STRING; /* it exists: that was checked at the start */
}

/* Write one variable as a member of the object, without its escapes. False: the escapes are
 * invalid, or do not give text. */
static bool put_variable(mishap_buffer *object, const mishap_operation *operation, mishap_text name,
                         mishap_text raw)
{
    char room[ROOM];
    mishap_buffer plain;
    mishap_buffer_init(&plain, room, sizeof room);
    bool sound = mishap_url_unescape(&plain, raw, false);
    mishap_text text = mishap_buffer_text(&plain);
    sound = sound && text.length && !memchr(text.data, '\0', text.length) &&
            mishap_utf8_valid_length(text) == text.length;
    if (sound) {
        mishap_json_key(object, name);
        mishap_put_spelled(object, type_of(operation, name), text);
    }
    object->failed = object->failed || plain.failed;
    mishap_buffer_release(&plain);
    return sound || plain.failed;
}

/* True if the address belongs to this resource. Its variables are written as members of an open
 * object. The value of a variable is not empty, and ends where the next part of the address
 * begins. */
static bool fits(const mishap_operation *operation, mishap_text uri, mishap_buffer *object)
{
    const char *at = uri.data, *end = at + uri.length, *pattern = operation->resource;
    while (*pattern) {
        if (*pattern != '{') {
            if (at == end || *at++ != *pattern++)
                return false;
            continue;
        }
        const char *close = strchr(pattern, '}'), *from = at;
        while (at < end && *at != '/' && *at != '?' && *at != '#')
            at++;
        mishap_text name = { pattern + 1, (size_t)(close - pattern - 1) };
        if (!put_variable(object, operation, name, (mishap_text){ from, (size_t)(at - from) }))
            return false;
        pattern = close + 1;
    }
    return at == end;
}

const mishap_mcp_offer *mishap_mcp_resource_match(const mishap_mcp_server *server, mishap_text uri,
                                                  mishap_buffer *object)
{
    for (int templates = 0; templates < 2; templates++)
        for (size_t i = 0; i < server->resource_count; i++) {
            const mishap_mcp_offer *resource = &server->resources[i];
            if (mishap_mcp_is_template(resource) != templates)
                continue;
            mishap_buffer_reset(object);
            mishap_json_open(object, '{');
            if (fits(resource->operation, uri, object)) {
                mishap_json_close(object, '}');
                return resource;
            }
        }
    return NULL;
}

const mishap_mcp_offer *mishap_mcp_resource_find(const mishap_mcp_server *server, mishap_text uri)
{
    char room[ROOM];
    mishap_buffer object;
    mishap_buffer_init(&object, room, sizeof room);
    const mishap_mcp_offer *resource = mishap_mcp_resource_match(server, uri, &object);
    mishap_buffer_release(&object);
    return resource;
}
