/*
 * Which dialect does an Accept field ask for (RFC 9110, 12.5.1)?
 *
 * Every dialect of JSON has its media type; several share application/json, which stands for
 * http-api here, or for the dialect of the service that is asked. Each media type has the quality
 * of the range that fits it most closely, and the best one wins. Among equals, one that is named is
 * preferred to a wildcard, and any to application/json: a client that sends `Accept:
 * application/json, application/problem+json` wants the first for answers and the second for
 * failures. A malformed Accept header is ignored.
 */
#include "dialect/negotiate.h"

#include "base/media.h"
#include "dialect/dialect.h"

enum { MOST_TYPES = 16 };

struct wish {
    const mishap_dialect *dialect;
    mishap_text type;
    mishap_http_fit fit;
    int quality; /* in thousandths */
    size_t rank; /* the index of its range in the field */
};

struct wishes {
    struct wish all[MOST_TYPES];
    size_t count;
};

static void hold_against(struct wishes *wishes, const mishap_http_media *range, size_t rank)
{
    for (size_t i = 0; i < wishes->count; i++) {
        struct wish *wish = &wishes->all[i];
        mishap_http_fit fit = mishap_http_media_fit(range, wish->type);
        if (fit > wish->fit || (fit && fit == wish->fit && range->quality > wish->quality)) {
            wish->fit = fit;
            wish->quality = range->quality;
            wish->rank = rank;
        }
    }
}

/* application/json, which a client also wants for answers. */
static bool is_plain(const struct wish *wish)
{
    return mishap_text_equal(wish->type, mishap_text_of(mishap_http_api.media_type));
}

/* True if `a` is to be taken before `b`. */
static bool is_better(const struct wish *a, const struct wish *b)
{
    bool a_named = a->fit == MISHAP_HTTP_FITS_NAME, b_named = b->fit == MISHAP_HTTP_FITS_NAME;
    if (a->quality != b->quality)
        return a->quality > b->quality;
    if (a_named != b_named)
        return a_named;
    if (!a_named) /* neither is named: the first of the list wins */
        return false;
    if (is_plain(a) != is_plain(b))
        return is_plain(b);
    return a->rank < b->rank;
}

/* The usual dialect, then the one that application/json stands for, then every other dialect with a
 * JSON media type of its own. */
static void list_types(struct wishes *wishes, const mishap_dialect *usual)
{
    const mishap_dialect *const *dialects = mishap_dialects();
    mishap_text plain = mishap_text_of(mishap_http_api.media_type);
    mishap_text first = mishap_text_of(usual->media_type);
    wishes->all[0] = (struct wish){ .dialect = usual, .type = first };
    wishes->count = 1;
    if (!mishap_text_equal(first, plain))
        wishes->all[wishes->count++] = (struct wish){ .dialect = &mishap_http_api, .type = plain };
    for (size_t i = 0; dialects[i] && wishes->count < MOST_TYPES; i++) {
        mishap_text type = mishap_text_of(dialects[i]->media_type);
        if (!mishap_text_equal(type, plain) && !mishap_text_equal(type, first) &&
            !dialects[i]->read_text)
            wishes->all[wishes->count++] = (struct wish){ .dialect = dialects[i], .type = type };
    }
}

/* The field is a list of ranges; false if it is not. */
static bool read_ranges(struct wishes *wishes, mishap_text accept)
{
    mishap_http_media range;
    for (size_t rank = 0; mishap_http_media_next(&accept, &range); rank++)
        hold_against(wishes, &range, rank);
    return accept.data;
}

const mishap_dialect *mishap_dialect_negotiate(mishap_text accept, const mishap_dialect *usual)
{
    /* The header that nearly all clients send. */
    if (accept.length == 0 || mishap_text_equal(accept, (mishap_text)MISHAP_TEXT("*/*")) ||
        mishap_text_equal(accept, mishap_text_of(usual->media_type)))
        return usual;

    struct wishes wishes;
    list_types(&wishes, usual);
    if (!read_ranges(&wishes, accept))
        return usual;
    const struct wish *best = &wishes.all[0];
    for (size_t i = 1; i < wishes.count; i++)
        if (is_better(&wishes.all[i], best))
            best = &wishes.all[i];
    return best->quality ? best->dialect : usual;
}
