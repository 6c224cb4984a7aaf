#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>

#include "base/memory.h"

enum { FIRST_BLOCK = 2048, LARGEST_BLOCK = 1 << 20 };

struct mishap_arena_block {
    struct mishap_arena_block *older;
    alignas(max_align_t) char bytes[];
};

void mishap_arena_init(mishap_arena *arena, void *storage, size_t size)
{
    *arena = (mishap_arena){ storage, storage ? (char *)storage + size : NULL, NULL, FIRST_BLOCK };
}

void mishap_arena_release(mishap_arena *arena)
{
    struct mishap_arena_block *block = arena->blocks;
    while (block) {
        struct mishap_arena_block *older = block->older;
        mishap_release(block);
        block = older;
    }
    arena->next = arena->end = NULL;
    arena->blocks = NULL;
}

static bool grow(mishap_arena *arena, size_t size)
{
    size_t room = arena->block_size > size ? arena->block_size : size;
    if (room > SIZE_MAX - sizeof(struct mishap_arena_block))
        return false;
    struct mishap_arena_block *block = mishap_allocate(sizeof *block + room);
    if (!block)
        return false;
    block->older = arena->blocks;
    arena->blocks = block;
    arena->next = block->bytes;
    arena->end = block->bytes + room;
    if (arena->block_size < LARGEST_BLOCK)
        arena->block_size *= 2;
    return true;
}

/* How many bytes to skip so that a piece of this size is aligned for any type that fits in it. */
static size_t gap(const char *next, size_t size)
{
    size_t mask = size >= sizeof(void *) ? alignof(max_align_t) - 1
                  : size >= 4            ? 3
                  : size >= 2            ? 1
                                         : 0;
    return -(uintptr_t)next & mask;
}

void *mishap_arena_take(mishap_arena *arena, size_t size)
{
    size_t room = (size_t)(arena->end - arena->next), skip = gap(arena->next, size);
    if (skip > room || size > room - skip) {
        if (!grow(arena, size))
            return NULL;
        skip = 0; /* a new block is aligned */
    }
    char *piece = arena->next + skip;
    arena->next = piece + size;
    return piece;
}

mishap_text mishap_arena_copy(mishap_arena *arena, mishap_text text)
{
    /* Text needs no alignment, so it is packed: short field names are most of what an arena holds.
     */
    if (text.length == SIZE_MAX)
        return (mishap_text){ NULL, 0 };
    char *copy = arena->next;
    if (text.length + 1 > (size_t)(arena->end - copy)) {
        if (!grow(arena, text.length + 1))
            return (mishap_text){ NULL, 0 };
        copy = arena->next;
    }
    arena->next = copy + text.length + 1;
    if (text.length)
        memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    return (mishap_text){ copy, text.length };
}
