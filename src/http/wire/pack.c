/* Compression of answers: see pack.h. */
#include "http/wire/pack.h"

#include <dlfcn.h>
#include <stdint.h>
#include <zlib.h>

#include "base/list.h"
#include "base/media.h"
#include "base/memory.h"

enum { LEVEL = 1, GZIP_BITS = 15 + 16, MEMORY = 8 };

/* -- the libraries ----------------------------------------------------------------------------- */

static struct {
    bool looked, there, begun;
    int (*begin)(z_streamp, int, int, int, int, int, const char *, int);
    int (*reset)(z_streamp);
    int (*deflate)(z_streamp, int);
    z_stream stream; /* of this process, used again and again */
} gzip;

static struct {
    bool looked, there;
    void *(*make)(void);
    size_t (*bound)(size_t);
    size_t (*compress)(void *, void *, size_t, const void *, size_t, int);
    unsigned (*failed)(size_t);
    void *context; /* of this process */
} zstd;

static bool find_symbol(void *library, const char *name, void *to)
{
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(to, &found, sizeof found);
    return found != NULL;
}

static bool has_gzip(void)
{
    if (!gzip.looked) {
        void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
        gzip.looked = true;
        gzip.there = find_symbol(library, "deflateInit2_", &gzip.begin) &&
                     find_symbol(library, "deflateReset", &gzip.reset) &&
                     find_symbol(library, "deflate", &gzip.deflate);
    }
    return gzip.there;
}

static bool has_zstd(void)
{
    if (!zstd.looked) {
        void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
        zstd.looked = true;
        zstd.there = find_symbol(library, "ZSTD_createCCtx", &zstd.make) &&
                     find_symbol(library, "ZSTD_compressBound", &zstd.bound) &&
                     find_symbol(library, "ZSTD_compressCCtx", &zstd.compress) &&
                     find_symbol(library, "ZSTD_isError", &zstd.failed);
    }
    return zstd.there;
}

/* -- which one --------------------------------------------------------------------------------- */

/* In thousandths: 1000 without one, and 0 if it is not valid. */
static int quality_of(mishap_text params)
{
    int quality = 1000;
    while (params.data) {
        mishap_text param = mishap_list_next(&params, ';');
        if (param.length < 3 || (param.data[0] | 32) != 'q' || param.data[1] != '=')
            continue;
        int unit = 1000;
        quality = 0;
        for (size_t i = 2; i < param.length; i++) {
            if (i == 3 && param.data[i] == '.')
                continue;
            if (param.data[i] < '0' || param.data[i] > '9' || i > 6)
                return 0;
            quality += (param.data[i] - '0') * unit;
            unit /= 10;
        }
    }
    return quality > 1000 ? 0 : quality;
}

mishap_pack_coding mishap_pack_choose(mishap_text accept_encoding)
{
    int gzip_quality = -1, zstd_quality = -1, star = -1;
    while (accept_encoding.length) {
        mishap_text element = mishap_list_next(&accept_encoding, ',');
        mishap_text name = mishap_list_next(&element, ';');
        int quality = quality_of(element);
        if (mishap_http_same_letters(name, (mishap_text)MISHAP_TEXT("gzip")) ||
            mishap_http_same_letters(name, (mishap_text)MISHAP_TEXT("x-gzip")))
            gzip_quality = quality;
        else if (mishap_http_same_letters(name, (mishap_text)MISHAP_TEXT("zstd")))
            zstd_quality = quality;
        else if (mishap_text_equal(name, (mishap_text)MISHAP_TEXT("*")))
            star = quality;
    }
    if (gzip_quality < 0)
        gzip_quality = star; /* not every client that accepts anything knows zstd */
    if (zstd_quality > 0 && zstd_quality >= gzip_quality && has_zstd())
        return MISHAP_PACK_ZSTD;
    return gzip_quality > 0 && has_gzip() ? MISHAP_PACK_GZIP : MISHAP_PACK_NOT;
}

const char *mishap_pack_name(mishap_pack_coding coding)
{
    return coding == MISHAP_PACK_ZSTD ? "zstd" : coding == MISHAP_PACK_GZIP ? "gzip" : "";
}

/* -- compressing ------------------------------------------------------------------------------- */

static void *take_memory(void *state, unsigned items, unsigned size)
{
    (void)state;
    return size && items > SIZE_MAX / size ? NULL : mishap_allocate((size_t)items * size);
}

static void release_memory(void *state, void *memory)
{
    (void)state;
    mishap_release(memory);
}

static bool begin_gzip(void)
{
    if (gzip.begun)
        return gzip.reset(&gzip.stream) == Z_OK;
    gzip.stream = (z_stream){ .zalloc = take_memory, .zfree = release_memory };
    gzip.begun = gzip.begin(&gzip.stream, LEVEL, Z_DEFLATED, GZIP_BITS, MEMORY, Z_DEFAULT_STRATEGY,
                            ZLIB_VERSION, (int)sizeof gzip.stream) == Z_OK;
    return gzip.begun;
}

/* The room is shorter than the text: what does not fit into it is not worth sending. */
static bool put_gzip(mishap_text text, mishap_buffer *packed)
{
    union {
        const char *given;
        unsigned char *bytes; /* zlib only reads it */
    } from = { text.data };
    if (!begin_gzip())
        return false;
    gzip.stream.next_in = from.bytes;
    gzip.stream.avail_in = (unsigned)text.length;
    gzip.stream.next_out = (unsigned char *)packed->data + packed->length;
    gzip.stream.avail_out = (unsigned)text.length;
    if (gzip.deflate(&gzip.stream, Z_FINISH) != Z_STREAM_END)
        return false;
    packed->length += text.length - gzip.stream.avail_out;
    return true;
}

static bool put_zstd(mishap_text text, mishap_buffer *packed)
{
    if (!zstd.context)
        zstd.context = zstd.make();
    if (!zstd.context)
        return false;
    size_t size = zstd.compress(zstd.context, packed->data + packed->length, text.length, text.data,
                                text.length, LEVEL);
    if (zstd.failed(size))
        return false;
    packed->length += size;
    return true;
}

bool mishap_pack(mishap_pack_coding coding, mishap_text text, mishap_buffer *packed)
{
    size_t before = packed->length;
    if (text.length > MISHAP_PACK_MOST || !mishap_buffer_reserve(packed, text.length))
        return false;
    bool done = coding == MISHAP_PACK_ZSTD   ? put_zstd(text, packed)
                : coding == MISHAP_PACK_GZIP ? put_gzip(text, packed)
                                             : false;
    return done && packed->length - before < text.length;
}
