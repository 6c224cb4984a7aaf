/* A keyed hash for tables of callers. Without the secret key an attacker cannot choose the
 * position of an entry. */
#ifndef MISHAP_BASE_HASH_H
#define MISHAP_BASE_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "mishap/text.h"

/* SipHash-1-3 (Aumasson and Bernstein): short and fast, and its results cannot be predicted without
 * the secret. */
uint64_t mishap_hash(const uint64_t secret[2], mishap_text text);

/* SipHash-2-4 with 128 bits: a result can stand for its text, as long as the secret is one. A
 * reader of the secret and of a result could make another text with this result. */
void mishap_hash_wide(const uint64_t secret[2], mishap_text text, uint64_t hash[2]);

/* A caller with one IPv6 address usually has the whole 64-bit network, and may call from any
 * address in it. True if the network is to be counted instead of the address. */
bool mishap_hash_network(mishap_text remote, unsigned char network[8]);

#endif
