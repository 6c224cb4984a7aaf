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

uint64_t mishap_hash(const uint64_t secret[2], mishap_text text)
{
    uint64_t v[4] = { secret[0] ^ UINT64_C(0x736f6d6570736575),
                      secret[1] ^ UINT64_C(0x646f72616e646f6d),
                      secret[0] ^ UINT64_C(0x6c7967656e657261),
                      secret[1] ^ UINT64_C(0x7465646279746573) };
    uint64_t word;
    size_t left = text.length;
    for (const char *at = text.data; left >= 8; at += 8, left -= 8) {
        memcpy(&word, at, 8);
        v[3] ^= word;
        stir(v);
        v[0] ^= word;
    }
    word = 0;
    if (left)
        memcpy(&word, text.data + text.length - left, left);
    word |= (uint64_t)text.length << 56;
    v[3] ^= word;
    stir(v);
    v[0] ^= word;
    v[2] ^= 0xFF;
    for (int i = 0; i < 3; i++)
        stir(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
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
