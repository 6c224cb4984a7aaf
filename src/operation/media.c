#include "operation/media.h"

#include "base/media.h"

const char mishap_media_bytes[] = "application/octet-stream";

/* -- types ------------------------------------------------------------------------------------- */

static bool is_printable(mishap_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] < ' ' || text.data[i] > '~')
            return false;
    return true;
}

static bool is_sound(mishap_text type)
{
    mishap_http_media media;
    return is_printable(type) && mishap_http_media_read(type, &media);
}

bool mishap_media_is_type(const char *type)
{
    return is_sound(mishap_text_of(type));
}

const char *mishap_media_clean(const char *type)
{
    return type && mishap_media_is_type(type) ? type : mishap_media_bytes;
}

const char *mishap_media_clean_text(mishap_arena *arena, mishap_text type)
{
    mishap_text copy = { NULL, 0 };
    if (is_sound(type))
        copy = mishap_arena_copy(arena, type);
    return copy.data ? copy.data : mishap_media_bytes;
}

static bool is_word(mishap_text text, const char *word)
{
    return mishap_http_same_letters(text, mishap_text_of(word));
}

static bool ends_with(mishap_text text, const char *suffix)
{
    size_t length = strlen(suffix);
    return text.length > length &&
           is_word((mishap_text){ text.data + text.length - length, length }, suffix);
}

bool mishap_media_is_text(const char *type)
{
    mishap_http_media media;
    if (!mishap_http_media_read(mishap_text_of(type), &media))
        return false;
    if (is_word(media.kind, "text") || ends_with(media.name, "+json") ||
        ends_with(media.name, "+xml"))
        return true;
    return is_word(media.kind, "application") &&
           (is_word(media.name, "json") || is_word(media.name, "xml") ||
            is_word(media.name, "javascript") || is_word(media.name, "x-ndjson"));
}

bool mishap_media_is_kind(const char *type, const char *kind)
{
    mishap_http_media media;
    return mishap_http_media_read(mishap_text_of(type), &media) && is_word(media.kind, kind);
}

bool mishap_media_is(const char *type, const char *plain)
{
    mishap_http_media media;
    if (!mishap_http_media_read(mishap_text_of(type), &media))
        return false;
    return is_word((mishap_text){ media.kind.data, media.kind.length + 1 + media.name.length },
                   plain);
}

/* -- what an operation takes ------------------------------------------------------------------- */

/* A range with parameters would promise something that is never checked. */
bool mishap_media_is_list(const char *types)
{
    mishap_text rest = mishap_text_of(types);
    mishap_http_media range;
    size_t count = 0;
    if (!is_printable(rest) || strpbrk(types, ";\""))
        return false;
    while (rest.length && mishap_http_media_next(&rest, &range)) {
        if (!range.kind.length)
            return false;
        count++;
    }
    return rest.data && count > 0;
}

bool mishap_media_taken(const mishap_operation *operation, mishap_text type)
{
    mishap_text rest = mishap_text_of(operation->takes);
    mishap_http_media media, range;
    if (!operation->takes || !mishap_http_media_read(type, &media))
        return false;
    mishap_text plain = { media.kind.data, media.kind.length + 1 + media.name.length };
    while (rest.length && mishap_http_media_next(&rest, &range))
        if (mishap_http_media_fit(&range, plain) != MISHAP_HTTP_FITS_NOT)
            return true;
    return false;
}

mishap_text mishap_media_first_taken(const mishap_operation *operation)
{
    mishap_text first = { operation->takes, strcspn(operation->takes, " ,\t") };
    return first.length && !memchr(first.data, '*', first.length)
               ? first
               : mishap_text_of(mishap_media_bytes);
}

mishap *mishap_media_refuse(const mishap_operation *operation)
{
    mishap *m = mishap_raise(UNSUPPORTED_MEDIA_TYPE,
                             "The media type of the body is not supported: it must be %s.",
                             operation->takes);
    return mishap_tell(m, "takes", operation->takes);
}
