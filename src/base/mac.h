/* A message authentication code: HMAC with SHA-256 (RFC 2104, RFC 4231). The key is required to
 * compute or verify the code of a message. */
#ifndef MISHAP_BASE_MAC_H
#define MISHAP_BASE_MAC_H

#include "base/buffer.h"

enum {
    MISHAP_MAC_KEY = 32, /* bytes */
    MISHAP_MAC = 32,
};

void mishap_mac(const unsigned char key[MISHAP_MAC_KEY], mishap_text message,
                unsigned char mac[MISHAP_MAC]);

#endif
