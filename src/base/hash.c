#include "base/hash.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static uint64_t turn(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void stir(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = turn(v[1], 13) ^ v[0];
    v[3] = turn(v[3], 16) ^ v[2];
    v[0] = turn(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = turn(v[1], 17) ^ v[2];
    v[3] = turn(v[3], 21) ^ v[0];
    v[2] = turn(v[2], 32);
}

static void begin(const uint64_t secret[2], uint64_t v[4])
{
    v[0] = secret[0] ^ UINT64_C(0x736f6d6570736575);
    v[1] = secret[1] ^ UINT64_C(0x646f72616e646f6d);
    v[2] = secret[0] ^ UINT64_C(0x6c7967656e657261);
    v[3] = secret[1] ^ UINT64_C(0x7465646279746573);
}

static inline void absorb(uint64_t v[4], uint64_t word, int rounds)
{
    v[3] ^= word;
    for (int i = 0; i < rounds; i++)
        stir(v);
    v[0] ^= word;
}

/* The rest of a text is padded with its length, so each text has other words. */
static inline void absorb_text(uint64_t v[4], mishap_text text, int rounds)
{
    uint64_t word;
    size_t left = text.length;
    for (const char *at = text.data; left >= 8; at += 8, left -= 8) {
        memcpy(&word, at, 8);
        absorb(v, word, rounds);
    }
    word = 0;
    if (left)
        memcpy(&word, text.data + text.length - left, left);
    absorb(v, word | (uint64_t)text.length << 56, rounds);
}

static inline uint64_t squeeze(uint64_t v[4], int rounds)
{
    for (int i = 0; i < rounds; i++)
        stir(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t mishap_hash(const uint64_t secret[2], mishap_text text)
{
    uint64_t v[4];
    begin(secret, v);
    absorb_text(v, text, 1);
    v[2] ^= 0xFF;
    return squeeze(v, 3);
}

void mishap_hash_wide(const uint64_t secret[2], mishap_text text, uint64_t hash[2])
{
    uint64_t v[4];
    begin(secret, v);
    v[1] ^= 0xEE;
    absorb_text(v, text, 2);
    v[2] ^= 0xEE;
    hash[0] = squeeze(v, 4);
    v[1] ^= 0xDD;
    hash[1] = squeeze(v, 4);
}

bool mishap_hash_network(mishap_text remote, unsigned char network[8])
{
    struct in6_addr address;
    char text[INET6_ADDRSTRLEN];
    if (remote.length >= sizeof text || !memchr(remote.data, ':', remote.length))
        return false;
    memcpy(text, remote.data, remote.length);
    text[remote.length] = '\0';
    if (inet_pton(AF_INET6, text, &address) != 1 || IN6_IS_ADDR_V4MAPPED(&address))
        return false;
    memcpy(network, &address, 8);
    return true;
}
