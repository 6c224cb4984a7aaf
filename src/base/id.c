#include "base/id.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/system.h"

/*
 * Random bytes are fetched from the kernel for many ids at a time, in each thread by itself. After
 * a fork the child must not use the bytes that its parent also has, so a fork invalidates every
 * pool of the child.
 */
enum { RANDOM_PER_ID = 10, POOL_SIZE = 64 * RANDOM_PER_ID };

static atomic_uint forks;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;

static void note_fork(void)
{
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

static void random_bytes(unsigned char *bytes)
{
    static _Thread_local unsigned char pool[POOL_SIZE];
    static _Thread_local size_t left;
    static _Thread_local unsigned filled_after;

    pthread_once(&watch_once, watch_forks);
    unsigned now = atomic_load_explicit(&forks, memory_order_relaxed);
    if (left == 0 || filled_after != now) {
        if (!mishap_system_random(pool, POOL_SIZE))
            abort(); /* cannot happen on a supported Linux; an id that is not unique would mislead
                      */
        left = POOL_SIZE;
        filled_after = now;
    }
    left -= RANDOM_PER_ID;
    memcpy(bytes, pool + left, RANDOM_PER_ID);
}

/* The twelve bits below the time: a counter of the ids that a thread makes in one millisecond,
 * which begins at a random number (RFC 9562, section 6.2, method 1). So the ids of a thread are in
 * order, and what sorts or stores them finds them sorted. After 2,000 ids in a millisecond it
 * overflows, and the next ones are in order among themselves only. */
static unsigned next_in_millisecond(uint64_t now, const unsigned char seed[2])
{
    static _Thread_local uint64_t latest;
    static _Thread_local unsigned count;
    if (now != latest)
        count = (seed[0] & 0x07u) << 8 | seed[1];
    else
        count = (count + 1) & 0xFFFu;
    latest = now;
    return count;
}

void mishap_id_make(char id[MISHAP_ID_LENGTH + 1])
{
    mishap_id_make_at(id, mishap_clock_now_ms());
}

/* Both digits of every byte. */
#define ROW(h)                                                                                     \
    h "0" h "1" h "2" h "3" h "4" h "5" h "6" h "7" h "8" h "9" h "a" h "b" h "c" h "d" h "e" h "f"
static const char hex_pairs[] = ROW("0") ROW("1") ROW("2") ROW("3") ROW("4") ROW("5") ROW("6")
    ROW("7") ROW("8") ROW("9") ROW("a") ROW("b") ROW("c") ROW("d") ROW("e") ROW("f");

void mishap_id_make_at(char id[MISHAP_ID_LENGTH + 1], int64_t now_ms)
{
    unsigned char bytes[16];
    uint64_t now = (uint64_t)now_ms;
    for (int i = 0; i < 6; i++)
        bytes[i] = (unsigned char)(now >> (40 - 8 * i));
    random_bytes(bytes + 6);
    unsigned count = next_in_millisecond(now, bytes + 6);
    bytes[6] = (unsigned char)(0x70 | count >> 8); /* version 7 */
    bytes[7] = (unsigned char)count;
    bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3F)); /* variant of the RFC */
    char *to = id;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        memcpy(to, &hex_pairs[bytes[i] * 2], 2);
        to += 2;
    }
    *to = '\0';
}
