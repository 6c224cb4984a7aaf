/*
 * Compression of answers, with zlib and, if the machine has it, zstd. Both libraries are loaded
 * when the first answer is compressed, so that a server does not start slower for them.
 */
#ifndef MISHAP_HTTP_WIRE_PACK_H
#define MISHAP_HTTP_WIRE_PACK_H

#include "base/base.h"

enum {
    MISHAP_PACK_LEAST = 1024,       /* bytes of an answer: a shorter one fits into one packet */
    MISHAP_PACK_MOST = 1024 * 1024, /* … of a longer one, other connections would have to wait */
};

typedef enum mishap_pack_coding {
    MISHAP_PACK_NOT,
    MISHAP_PACK_GZIP,
    MISHAP_PACK_ZSTD,
} mishap_pack_coding;

/* The coding that an Accept-Encoding field prefers, of those that there are. */
mishap_pack_coding mishap_pack_choose(mishap_text accept_encoding);

/* As it is named in Content-Encoding. */
const char *mishap_pack_name(mishap_pack_coding coding);

/* Compress a text. False: it would not become shorter, or there is no memory; what is in the buffer
 * then is of no use. Only the thread of the loop may call it. */
bool mishap_pack(mishap_pack_coding coding, mishap_text text, mishap_buffer *packed);

#endif
