/*
 * An arena: memory that is allocated piece by piece and released all at once.
 *
 * It starts in memory that its owner provides, often the tail of the owner's own block, and
 * allocates further blocks from the heap, each twice as large as the one before. Pieces are aligned
 * for any type.
 */
#ifndef MISHAP_BASE_ARENA_H
#define MISHAP_BASE_ARENA_H

#include "mishap/text.h"

typedef struct mishap_arena {
    char *next;
    char *end;
    struct mishap_arena_block *blocks; /* the heap blocks, newest first */
    size_t block_size;                 /* of the next heap block */
} mishap_arena;

/* Start in `storage`, which the caller keeps. */
void mishap_arena_init(mishap_arena *arena, void *storage, size_t size);

/* Release all heap blocks. */
void mishap_arena_release(mishap_arena *arena);

/* `size` bytes that are not cleared, or NULL when there is no memory. */
void *mishap_arena_take(mishap_arena *arena, size_t size);

/* Where the next text would be stored if it fits in the current block; NULL if it does not. Nothing
 * is allocated. */
static inline char *mishap_arena_room(const mishap_arena *arena, size_t size)
{
    return size <= (size_t)(arena->end - arena->next) ? arena->next : NULL;
}

/* A copy of the text with a NUL after it; text without data when there is no memory. */
mishap_text mishap_arena_copy(mishap_arena *arena, mishap_text text);

#endif
