/*
 * An allocator for tests of the addon, in which one allocation fails: MISHAP_SCARCE is "ROUND:N".
 * It fails at the Nth allocation since it changed, and with "ROUND:N+" at all behind it, too. With
 * "ROUND:N!" the blocks that the library keeps for such times are in use by then, too.
 * JavaScript sets it in process.env, which is that of the process. With "count" the number of
 * blocks that are in use stands in MISHAP_IN_USE after the next call.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mishap/memory.h"
#include "mishap/mishap.h"

static char before[64];
static long count, in_use;
static mishap *held[64]; /* more than the library keeps */
static bool holding;

/* Take all blocks that the library keeps. Meanwhile each allocation fails. */
static void hold_reserve(void)
{
    holding = true;
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        held[i] = mishap_raise(UNAVAILABLE, "Held.");
    holding = false;
}

static void free_reserve(void)
{
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        mishap_free(held[i]);
        held[i] = NULL;
    }
}

static bool is_refused(void)
{
    const char *now = getenv("MISHAP_SCARCE");
    if (holding)
        return true;
    if (held[0] && (!now || strcmp(before, now) != 0))
        free_reserve();
    if (!now || !*now)
        return false;
    if (strcmp(now, "count") == 0) {
        char number[32];
        snprintf(number, sizeof number, "%ld", in_use);
        setenv("MISHAP_IN_USE", number, 1);
        return false;
    }
    if (strncmp(before, now, sizeof before - 1) != 0) {
        snprintf(before, sizeof before, "%s", now);
        count = 0;
    }
    const char *colon = strchr(now, ':');
    long at = colon ? strtol(colon + 1, NULL, 10) : -1;
    count++;
    if (count == at && strchr(now, '!'))
        hold_reserve();
    return count == at || (count > at && strpbrk(now, "+!"));
}

static void *allocate(size_t size)
{
    void *block = is_refused() ? NULL : malloc(size);
    in_use += block != NULL;
    return block;
}

static void *resize(void *block, size_t size)
{
    void *moved = is_refused() ? NULL : realloc(block, size);
    in_use += moved && !block;
    return moved;
}

static void release(void *block)
{
    in_use -= block != NULL;
    free(block);
}

static const mishap_allocator scarce = { allocate, resize, release };

__attribute__((constructor)) static void use_scarce(void)
{
    mishap_use_allocator(&scarce);
}
