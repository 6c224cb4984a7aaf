/* A keyed hash for tables of callers. Without the secret key an attacker cannot choose the
 * position of an entry. */
#ifndef MISHAP_BASE_HASH_H
#define MISHAP_BASE_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "mishap/text.h"

/* SipHash-1-3 (Aumasson and Bernstein): short, fast, and of no use to who does not know the secret.
 */
uint64_t mishap_hash(const uint64_t secret[2], mishap_text text);

/* Whoever has one address of IPv6 has the whole network of 64 bits, and may call from any address
 * in it. True if that is what is to be counted. */
bool mishap_hash_network(mishap_text remote, unsigned char network[8]);

#endif
