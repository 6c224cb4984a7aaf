/* A message authentication code: HMAC with SHA-256 (RFC 2104, RFC 4231). Only who has the key can
 * make the code of a message, or tell whether one is right. */
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
