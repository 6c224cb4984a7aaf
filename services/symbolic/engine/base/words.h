/* Comparing names. */
#ifndef SYMBOLIC_WORDS_H
#define SYMBOLIC_WORDS_H

#include <stdbool.h>
#include <string.h>

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
