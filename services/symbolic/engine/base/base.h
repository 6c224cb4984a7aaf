/*
 * base: what every other folder of the engine uses - memory of an analysis, texts that grow, and
 * the comparison of names. (python.h has Python's own header.)
 *
 * An arena is memory of one analysis, or of one path of it: taken piece by piece, given back as a
 * whole.
 *
 * An arena has a limit. When it is reached, or the system has no more memory, `full` is called. It
 * must not return: the analysis ends there with an honest answer (path.h).
 *
 * It is not the arena of src/base. That one has no limit, clears nothing, cannot be reset, and
 * tells its caller when there is no memory; the engine would check that in some thousand places. An
 * arena around that one would have all functions of this one but a loop of five lines, and
 * takes 1.01 to 1.10 times as long.
 */
#ifndef SYMBOLIC_BASE_H
#define SYMBOLIC_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct arena {
    struct arena_block *blocks;
    size_t taken; /* bytes, of all blocks */
    size_t limit;
    void (*full)(void *context);
    void *context;
} arena;

/* Zeroed memory, aligned for anything. */
void *arena_take(arena *a, size_t bytes);
/* A copy of `length` bytes with a zero after it. */
char *arena_copy(arena *a, const char *bytes, size_t length);
char *arena_print(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Give everything back, but for a first block that is kept for the next use. */
void arena_reset(arena *a);
void arena_free(arena *a);

/* A text that grows. */
typedef struct text {
    arena *a;
    char *data; /* ends with a zero once something was added */
    size_t length, room;
} text;

void text_add(text *t, const char *bytes, size_t length);
void text_say(text *t, const char *words);
void text_print(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool is_word(const char *name, const char *other)
{
    return strcmp(name, other) == 0;
}

/* The list ends with NULL. */
static inline bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

#endif
