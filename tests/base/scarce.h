/* Memory that runs out, and random numbers that are the same in each run. */
#ifndef MISHAP_SCARCE_H
#define MISHAP_SCARCE_H

#include "testing.h"

/* An allocator that gives so many blocks and then no more. */
static size_t blocks_left;

static inline void *scarce_allocate(size_t size)
{
    return blocks_left ? blocks_left--, malloc(size) : NULL;
}

static inline void *scarce_resize(void *block, size_t size)
{
    return blocks_left ? blocks_left--, realloc(block, size) : NULL;
}

static inline void allow_blocks(size_t count)
{
    blocks_left = count;
    mishap_use_allocator(&(mishap_allocator){ scarce_allocate, scarce_resize, free });
}

static inline void allow_all(void)
{
    mishap_use_allocator(NULL);
}

static uint64_t random_state = UINT64_C(0x9E3779B97F4A7C15);

static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

#endif
