/*
 * JSON Schemas for clients. Parameters are checked here with Perl-compatible patterns, but readers
 * of a schema use those of JavaScript. Only patterns that certainly mean the same in both are
 * included; an omitted pattern does no harm, because every call is checked here.
 */
#include <ctype.h>

#include "mcp/offers/schema.h"

/* -- patterns ---------------------------------------------------------------------------------- */

static bool is_hex_pair(const char *at)
{
    return isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1]);
}

/* The length of an escape at its backslash; 0: its meaning differs. `set`: it matches several
 * characters. */
static size_t escape_length(const char *at, const char *further, bool *set)
{
    char c = at[1];
    *set = c && strchr("dDwWsS", c);
    if (c == 'x')
        return is_hex_pair(at + 2) ? 4 : 0;
    return c && (*set || strchr("tnrf^$\\.*+?()[]{}|/", c) || strchr(further, c)) ? 2 : 0;
}

/* The length of one character of a class, or of an escape; 0: its meaning differs. */
static size_t class_atom(const char *at, bool *set)
{
    *set = false;
    if (*at == '\\')
        return escape_length(at, "-b", set);
    return *at && !(*at == '[' && at[1] && strchr(":.=", at[1])) ? 1 : 0;
}

/* The end of the class that opens here; NULL: its meaning differs. */
static const char *skip_class(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    if (*at == ']')
        return NULL; /* a literal bracket in Perl's syntax, the end of the class in JavaScript's */
    while (*at != ']') {
        bool first, last = false;
        size_t length = class_atom(at, &first);
        if (!length)
            return NULL;
        at += length;
        if (*at != '-' || at[1] == ']')
            continue;
        length = class_atom(at + 1, &last);
        if (!length || first || last)
            return NULL;
        at += 1 + length;
    }
    return at + 1;
}

/* The end of the {n}, {n,} or {n,m} that opens here; NULL: it is none. */
static const char *skip_count(const char *at)
{
    const char *start = ++at;
    while (isdigit((unsigned char)*at))
        at++;
    if (at == start)
        return NULL;
    if (*at == ',')
        at++;
    while (isdigit((unsigned char)*at))
        at++;
    return *at == '}' ? at + 1 : NULL;
}

/* The end of what opens a group; `looks`: it is a lookahead or a lookbehind. */
static const char *skip_opening(const char *at, bool *looks)
{
    *looks = false;
    if (at[1] != '?')
        return at + 1;
    if (at[2] == ':')
        return at + 3;
    *looks = true;
    at += at[2] == '<' ? 3 : 2;
    return *at == '=' || *at == '!' ? at + 1 : NULL;
}

static bool is_portable(const char *pattern)
{
    uint32_t looks = 0; /* a bit for each group that is open */
    int depth = 0;
    bool any, repeatable = false; /* can the last item be repeated? */
    const char *at = pattern;
    while (at && *at) {
        switch (*at) {
        case '\\': {
            size_t length = escape_length(at, "bB", &any);
            repeatable = at[1] != 'b' && at[1] != 'B';
            at = length ? at + length : NULL;
            break;
        }
        case '[':
            repeatable = true;
            at = skip_class(at);
            break;
        case '(':
            at = depth++ < 32 ? skip_opening(at, &any) : NULL;
            looks = looks << 1 | any;
            repeatable = false;
            break;
        case ')':
            repeatable = !(looks & 1);
            looks >>= 1;
            at = depth-- > 0 ? at + 1 : NULL;
            break;
        case '*':
        case '+':
        case '?':
        case '{':
            at = !repeatable ? NULL : *at == '{' ? skip_count(at) : at + 1;
            if (at && *at == '?')
                at++;
            repeatable = false;
            break;
        case '}':
        case ']':
            return false;
        default:
            repeatable = *at != '^' && *at != '$' && *at != '|';
            at++;
        }
    }
    return at && depth == 0;
}

/* -- schemas ----------------------------------------------------------------------------------- */

static void copy_schema(mishap_buffer *b, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *item;
    if (yyjson_is_obj(value)) {
        mishap_json_open(b, '{');
        MISHAP_JSON_MEMBERS (value, index, count, key, item) {
            if (MISHAP_JSON_IS(key, "pattern") && yyjson_is_str(item) &&
                !is_portable(yyjson_get_str(item)))
                continue;
            mishap_json_key(b, mishap_json_text(key));
            copy_schema(b, item);
        }
        mishap_json_close(b, '}');
    } else if (yyjson_is_arr(value)) {
        mishap_json_open(b, '[');
        MISHAP_JSON_ITEMS (value, index, count, item)
            copy_schema(b, item);
        mishap_json_close(b, ']');
    } else {
        mishap_json_copy(b, value);
    }
}

void mishap_mcp_put_schema(mishap_buffer *buffer, mishap_text schema)
{
    static const char key[] = "\"pattern\":";
    if (!schema.length || !memmem(schema.data, schema.length, key, sizeof key - 1)) {
        mishap_json_comma(buffer);
        mishap_buffer_put_text(buffer, schema);
        return;
    }
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (mishap_json_read(&reader, schema))
        copy_schema(buffer, reader.root);
    else
        /* Makes the buffer fail: half a schema is worse than none. */
        mishap_buffer_reserve(buffer, SIZE_MAX);
    mishap_json_reader_release(&reader);
}
