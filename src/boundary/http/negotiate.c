/*
 * Which dialect does an Accept field ask for (RFC 9110, 12.5.1)?
 *
 * Every dialect of JSON has its media type; several share application/json, which stands for
 * http-api here. Each media type has the quality of the range that fits it most closely, and the
 * best one wins. Among equals the one that was asked for by name does, and before application/json:
 * who sends `Accept: application/json, application/problem+json` wants the first for answers and
 * the second for failures. A field that is no Accept field says nothing.
 */
#include "boundary/http/http.h"
#include "dialect/dialect.h"

enum { MOST_TYPES = 16 };

/* How closely a range fits a media type. */
enum fit { FITS_NOT, FITS_ANYTHING, FITS_KIND, FITS_NAME };

struct wish {
    const mishap_dialect *dialect;
    mishap_text type;
    enum fit fit;
    int quality; /* in thousandths */
    size_t rank; /* the place of its range in the field */
};

struct wishes {
    struct wish all[MOST_TYPES];
    size_t count;
};

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

static bool take(struct cursor *c, char wanted)
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
            return take(c, '"');
        if (*c->at == '\\' && ++c->at == c->end)
            break;
        if (*c->at != '\t' && ((unsigned char)*c->at < ' ' || *c->at == 127))
            break;
    }
    return false;
}

/* "0", "0.5", "1.000" in thousandths, at most three digits behind the point; -1: it is none. */
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

/* What stands behind a range: parameters, of which only q is looked at. */
static bool take_params(struct cursor *c, int *quality)
{
    for (skip_space(c); take(c, ';'); skip_space(c)) {
        skip_space(c);
        mishap_text name = take_token(c), value = { "", 0 };
        if (name.length == 0)
            continue; /* a semicolon with nothing behind it is allowed */
        if (!take(c, '='))
            return false;
        if (take(c, '"') ? !skip_quoted(c) : (value = take_token(c)).length == 0)
            return false;
        if (name.length == 1 && (name.data[0] | 32) == 'q') {
            *quality = quality_of(value);
            if (*quality < 0)
                return false;
        }
    }
    return true;
}

/* -- wishes ------------------------------------------------------------------------------------ */

static bool same_letters(mishap_text a, mishap_text b)
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

static enum fit fit_of(mishap_text kind, mishap_text name, mishap_text type)
{
    size_t slash = (size_t)((const char *)memchr(type.data, '/', type.length) - type.data);
    if (is_star(kind))
        return is_star(name) ? FITS_ANYTHING : FITS_NOT;
    if (!same_letters(kind, (mishap_text){ type.data, slash }))
        return FITS_NOT;
    if (is_star(name))
        return FITS_KIND;
    mishap_text rest = { type.data + slash + 1, type.length - slash - 1 };
    return same_letters(name, rest) ? FITS_NAME : FITS_NOT;
}

static void hold_against(struct wishes *wishes, mishap_text kind, mishap_text name, int quality,
                         size_t rank)
{
    for (size_t i = 0; i < wishes->count; i++) {
        struct wish *wish = &wishes->all[i];
        enum fit fit = fit_of(kind, name, wish->type);
        if (fit > wish->fit || (fit && fit == wish->fit && quality > wish->quality)) {
            wish->fit = fit;
            wish->quality = quality;
            wish->rank = rank;
        }
    }
}

/* True if `a` is to be taken before `b`. */
static bool is_better(const struct wish *a, const struct wish *b)
{
    bool a_named = a->fit == FITS_NAME, b_named = b->fit == FITS_NAME;
    if (a->quality != b->quality)
        return a->quality > b->quality;
    if (a_named != b_named)
        return a_named;
    if (!a_named) /* both are as good as anything else: the first of the list */
        return false;
    if (a->dialect == &mishap_http_api || b->dialect == &mishap_http_api)
        return b->dialect == &mishap_http_api;
    return a->rank < b->rank;
}

/* http-api, then every other dialect whose documents are JSON of a type of their own. */
static void list_types(struct wishes *wishes)
{
    const mishap_dialect *const *dialects = mishap_dialects();
    mishap_text plain = mishap_text_of(mishap_http_api.media_type);
    wishes->all[0] = (struct wish){ .dialect = &mishap_http_api, .type = plain };
    wishes->count = 1;
    for (size_t i = 0; dialects[i] && wishes->count < MOST_TYPES; i++) {
        mishap_text type = mishap_text_of(dialects[i]->media_type);
        if (!mishap_text_equal(type, plain) && !dialects[i]->read_text)
            wishes->all[wishes->count++] = (struct wish){ .dialect = dialects[i], .type = type };
    }
}

/* The field is a list of ranges; false if it is not. */
static bool read_ranges(struct wishes *wishes, mishap_text accept)
{
    struct cursor c = { accept.data, accept.data + accept.length };
    for (size_t rank = 0;; rank++) {
        skip_space(&c);
        mishap_text kind = take_token(&c);
        if (kind.length) { /* an element may be empty */
            int quality = 1000;
            if (!take(&c, '/'))
                return false;
            mishap_text name = take_token(&c);
            if (name.length == 0 || !take_params(&c, &quality))
                return false;
            hold_against(wishes, kind, name, quality, rank);
        }
        if (c.at == c.end)
            return true;
        if (!take(&c, ','))
            return false;
    }
}

const mishap_dialect *mishap_http_negotiate(mishap_text accept)
{
    /* What nearly all callers send. */
    if (accept.length == 0 || mishap_text_equal(accept, (mishap_text)MISHAP_TEXT("*/*")) ||
        mishap_text_equal(accept, (mishap_text)MISHAP_TEXT("application/json")))
        return &mishap_http_api;

    struct wishes wishes;
    list_types(&wishes);
    if (!read_ranges(&wishes, accept))
        return &mishap_http_api;
    const struct wish *best = &wishes.all[0];
    for (size_t i = 1; i < wishes.count; i++)
        if (is_better(&wishes.all[i], best))
            best = &wishes.all[i];
    return best->quality ? best->dialect : &mishap_http_api;
}
