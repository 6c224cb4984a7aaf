/*
 * Media types and ranges of them. The rules are those of RFC 9110, 5.6 for the words and 12.5.1 for
 * what an Accept field means.
 */
#include "base/media.h"

enum { LONGEST = 127 }; /* of a kind and of a name: RFC 6838, 4.2 */

/* -- the grammar ------------------------------------------------------------------------------- */

struct cursor {
    const char *at, *end;
};

static const bool in_token[256] = {
    ['0' ... '9'] = true, ['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['!'] = true,  ['#'] = true,
    ['$'] = true,         ['%'] = true,         ['&'] = true,         ['\''] = true, ['*'] = true,
    ['+'] = true,         ['-'] = true,         ['.'] = true,         ['^'] = true,  ['_'] = true,
    ['`'] = true,         ['|'] = true,         ['~'] = true,
};

static mishap_text take_token(struct cursor *c)
{
    const char *start = c->at;
    while (c->at < c->end && in_token[(unsigned char)*c->at])
        c->at++;
    return (mishap_text){ start, (size_t)(c->at - start) };
}

static bool take_character(struct cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static void skip_space(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

static bool skip_quoted(struct cursor *c)
{
    for (; c->at < c->end; c->at++) {
        if (*c->at == '"')
            return take_character(c, '"');
        if (*c->at == '\\' && ++c->at == c->end)
            break;
        if (*c->at != '\t' && ((unsigned char)*c->at < ' ' || *c->at == 127))
            break;
    }
    return false;
}

/* "0", "0.5", "1.000" in thousandths, with at most three decimals; -1: it is invalid. */
static int quality_of(mishap_text text)
{
    int quality = 0, unit = 100;
    if (text.length == 0 || text.length > 5 || (text.length > 1 && text.data[1] != '.') ||
        (text.data[0] != '0' && text.data[0] != '1'))
        return -1;
    quality = (text.data[0] - '0') * 1000;
    for (size_t i = 2; i < text.length; i++, unit /= 10) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return -1;
        quality += (text.data[i] - '0') * unit;
    }
    return quality <= 1000 ? quality : -1;
}

/* The parameters of a range, of which only q is used. */
static bool take_params(struct cursor *c, int *quality)
{
    for (skip_space(c); take_character(c, ';'); skip_space(c)) {
        skip_space(c);
        mishap_text name = take_token(c), value = { "", 0 };
        if (name.length == 0)
            continue; /* a semicolon with nothing behind it is allowed */
        if (!take_character(c, '='))
            return false;
        if (take_character(c, '"') ? !skip_quoted(c) : (value = take_token(c)).length == 0)
            return false;
        if (name.length == 1 && (name.data[0] | 32) == 'q') {
            *quality = quality_of(value);
            if (*quality < 0)
                return false;
        }
    }
    return true;
}

/* -- types and ranges -------------------------------------------------------------------------- */

/* kind/name */
static bool take_type(struct cursor *c, mishap_http_media *media)
{
    *media = (mishap_http_media){ .kind = take_token(c), .quality = 1000 };
    if (media->kind.length == 0 || !take_character(c, '/'))
        return false;
    media->name = take_token(c);
    return media->name.length > 0;
}

static bool is_plain(mishap_text word)
{
    return word.length <= LONGEST && !memchr(word.data, '*', word.length);
}

bool mishap_http_media_read(mishap_text field, mishap_http_media *media)
{
    if (!field.length)
        return false;
    struct cursor c = { field.data, field.data + field.length };
    if (!take_type(&c, media) || !is_plain(media->kind) || !is_plain(media->name))
        return false;
    skip_space(&c);
    return c.at == c.end || *c.at == ';';
}

bool mishap_http_media_next(mishap_text *rest, mishap_http_media *range)
{
    if (!rest->length)
        return false;
    struct cursor c = { rest->data, rest->data + rest->length };
    *range = (mishap_http_media){ .kind = { "", 0 }, .name = { "", 0 } };
    skip_space(&c);
    bool empty = c.at == c.end || *c.at == ',';
    bool sound = empty || (take_type(&c, range) && take_params(&c, &range->quality));
    sound = sound && (c.at == c.end || take_character(&c, ','));
    *rest = (mishap_text){ sound ? c.at : NULL, sound ? (size_t)(c.end - c.at) : 0 };
    return sound;
}

bool mishap_http_same_letters(mishap_text a, mishap_text b)
{
    if (a.length != b.length)
        return false;
    for (size_t i = 0; i < a.length; i++) {
        char x = a.data[i], y = b.data[i];
        x = x >= 'A' && x <= 'Z' ? (char)(x | 32) : x;
        y = y >= 'A' && y <= 'Z' ? (char)(y | 32) : y;
        if (x != y)
            return false;
    }
    return true;
}

static bool is_star(mishap_text text)
{
    return text.length == 1 && text.data[0] == '*';
}

mishap_http_fit mishap_http_media_fit(const mishap_http_media *range, mishap_text type)
{
    size_t slash = (size_t)((const char *)memchr(type.data, '/', type.length) - type.data);
    if (is_star(range->kind))
        return is_star(range->name) ? MISHAP_HTTP_FITS_ANYTHING : MISHAP_HTTP_FITS_NOT;
    if (!mishap_http_same_letters(range->kind, (mishap_text){ type.data, slash }))
        return MISHAP_HTTP_FITS_NOT;
    if (is_star(range->name))
        return MISHAP_HTTP_FITS_KIND;
    mishap_text rest = { type.data + slash + 1, type.length - slash - 1 };
    return mishap_http_same_letters(range->name, rest) ? MISHAP_HTTP_FITS_NAME
                                                       : MISHAP_HTTP_FITS_NOT;
}

/* How an Accept field fits a media type, by the range that matches most closely. */
struct weight {
    mishap_http_fit fit;
    int quality; /* in thousandths */
};

/* False: the field is not valid. */
static bool weigh(mishap_text accept, mishap_text type, struct weight *weight)
{
    mishap_http_media range;
    *weight = (struct weight){ MISHAP_HTTP_FITS_NOT, 0 };
    while (mishap_http_media_next(&accept, &range)) {
        mishap_http_fit fit = mishap_http_media_fit(&range, type);
        if (fit > weight->fit || (fit && fit == weight->fit && range.quality > weight->quality))
            *weight = (struct weight){ fit, range.quality };
    }
    return accept.data;
}

bool mishap_http_accepts(mishap_text accept, mishap_text type)
{
    struct weight weight;
    return !accept.data || (weigh(accept, type, &weight) && weight.quality > 0);
}

bool mishap_http_prefers(mishap_text accept, mishap_text type, mishap_text other)
{
    struct weight wanted, rest;
    if (!weigh(accept, type, &wanted) || wanted.fit != MISHAP_HTTP_FITS_NAME)
        return false;
    weigh(accept, other, &rest);
    return wanted.quality > rest.quality ||
           (wanted.quality && wanted.quality == rest.quality && rest.fit != MISHAP_HTTP_FITS_NAME);
}
