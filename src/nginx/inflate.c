/* Error bodies that are compressed, with limits on both sides. */
#include "nginx/tell.h"

#define ZLIB_CONST
#include <zlib.h>

#include "base/media.h"

enum { ANY_HEAD = 15 + 32, NO_HEAD = -15 }; /* windowBits: gzip or zlib, or deflate alone */

static bool is_coding(mishap_text encoding, const char *name)
{
    return mishap_http_same_letters(encoding, mishap_text_of(name));
}

static void *allocate(void *state, uInt count, uInt size)
{
    (void)state;
    return mishap_allocate((size_t)count * size);
}

static void release(void *state, void *block)
{
    (void)state;
    mishap_release(block);
}

static bool inflate_as(int bits, mishap_text body, char *room, size_t *length)
{
    z_stream stream = { .zalloc = allocate, .zfree = release };
    *length = 0;
    if (inflateInit2(&stream, bits) != Z_OK)
        return false;
    stream.next_in = (const Bytef *)body.data;
    stream.avail_in = (uInt)body.length;
    stream.next_out = (Bytef *)room;
    stream.avail_out = MISHAP_NGINX_MOST;
    int result = inflate(&stream, Z_SYNC_FLUSH);
    *length = MISHAP_NGINX_MOST - stream.avail_out;
    inflateEnd(&stream);
    return result == Z_STREAM_END;
}

mishap_text mishap_nginx_inflate(mishap_text encoding, mishap_text body, char *room, bool *whole)
{
    size_t length = 0;
    bool deflate = is_coding(encoding, "deflate");
    *whole = false;
    if (body.length > MISHAP_NGINX_MOST ||
        (!deflate && !is_coding(encoding, "gzip") && !is_coding(encoding, "x-gzip")))
        return (mishap_text){ NULL, 0 };
    *whole = inflate_as(ANY_HEAD, body, room, &length);
    if (!length && !*whole && deflate) /* some servers leave out the head of zlib */
        *whole = inflate_as(NO_HEAD, body, room, &length);
    return (mishap_text){ room, length };
}
