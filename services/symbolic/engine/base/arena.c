/* Memory of one analysis: see arena.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { FIRST_BLOCK = 64 * 1024, ALIGNED = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(ALIGNED) char bytes[];
};

static void give_up(arena *a)
{
    if (a->full)
        a->full(a->context);
    abort();
}

void *arena_take(arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        give_up(a);
    bytes = (bytes + ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
    struct arena_block *block = a->blocks;
    if (!block || block->size - block->used < bytes) {
        size_t size = bytes > FIRST_BLOCK ? bytes : FIRST_BLOCK;
        if (a->limit && (a->taken > a->limit || size > a->limit - a->taken))
            give_up(a);
        block = malloc(sizeof *block + size);
        if (!block)
            give_up(a);
        *block = (struct arena_block){ .next = a->blocks, .size = size };
        a->blocks = block;
        a->taken += size;
    }
    void *at = block->bytes + block->used;
    block->used += bytes;
    return memset(at, 0, bytes);
}

char *arena_copy(arena *a, const char *bytes, size_t length)
{
    char *copy = arena_take(a, length + 1);
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

static char *print(arena *a, const char *format, va_list list, size_t *length)
    __attribute__((format(printf, 2, 0)));
static char *print(arena *a, const char *format, va_list list, size_t *length)
{
    va_list again;
    va_copy(again, list);
    int needed = vsnprintf(NULL, 0, format, list);
    char *made = arena_take(a, needed > 0 ? (size_t)needed + 1 : 1);
    if (needed > 0)
        vsnprintf(made, (size_t)needed + 1, format, again);
    va_end(again);
    *length = needed > 0 ? (size_t)needed : 0;
    return made;
}

char *arena_print(arena *a, const char *format, ...)
{
    va_list list;
    size_t length;
    va_start(list, format);
    char *made = print(a, format, list, &length);
    va_end(list);
    return made;
}

static void release(arena *a, struct arena_block *keep)
{
    for (struct arena_block *block = a->blocks, *next; block; block = next) {
        next = block->next;
        if (block != keep)
            free(block);
    }
    a->blocks = keep;
    a->taken = 0;
}

void arena_reset(arena *a)
{
    struct arena_block *keep = NULL;
    for (struct arena_block *block = a->blocks; block; block = block->next)
        if (block->size == FIRST_BLOCK)
            keep = block;
    release(a, keep);
    if (keep) {
        keep->next = NULL;
        keep->used = 0;
        a->taken = keep->size;
    }
}

void arena_free(arena *a)
{
    release(a, NULL);
}

void text_add(text *t, const char *bytes, size_t length)
{
    if (t->room - t->length <= length) {
        size_t room = 2 * t->room + length + 64;
        char *data = arena_take(t->a, room);
        if (t->length)
            memcpy(data, t->data, t->length);
        t->data = data;
        t->room = room;
    }
    if (length)
        memcpy(t->data + t->length, bytes, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void text_say(text *t, const char *words)
{
    text_add(t, words, strlen(words));
}

void text_print(text *t, const char *format, ...)
{
    va_list list;
    size_t length;
    va_start(list, format);
    const char *made = print(t->a, format, list, &length);
    va_end(list);
    text_add(t, made, length);
}
