/*
 * The memory limit of a call: all allocations of the interpreter are counted, and beyond the limit
 * they fail, which is a MemoryError in the code. The process as a whole, including native code, has
 * a little more (RLIMIT_DATA), and the sandbox has a limit for all calls.
 */
#include "host.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

static _Atomic size_t used;
static _Atomic size_t most = SIZE_MAX;
static PyObjectArenaAllocator arenas;

/* After the first refusal there is a little more memory, once: the traceback of the MemoryError
 * needs it. */
static atomic_bool refused;
enum { RESERVE = 4 << 20 };

static bool fits(size_t size)
{
    size_t limit = atomic_load_explicit(&most, memory_order_relaxed);
    if (atomic_load_explicit(&refused, memory_order_relaxed) && limit < SIZE_MAX - RESERVE)
        limit += RESERVE;
    return size <= limit && atomic_load_explicit(&used, memory_order_relaxed) <= limit - size;
}

static bool may_take(size_t size)
{
    bool may = fits(size);
    if (!may)
        atomic_store_explicit(&refused, true, memory_order_relaxed);
    return may;
}

static void *counted(void *block)
{
    atomic_fetch_add_explicit(&used, malloc_usable_size(block), memory_order_relaxed);
    return block;
}

static void uncount(void *block)
{
    atomic_fetch_sub_explicit(&used, malloc_usable_size(block), memory_order_relaxed);
}

static void *take_block(void *context, size_t size)
{
    (void)context;
    return may_take(size) ? counted(malloc(size ? size : 1)) : NULL;
}

static void *take_zeros(void *context, size_t count, size_t size)
{
    (void)context;
    if (size && count > SIZE_MAX / size)
        return NULL;
    return may_take(count * size) ? counted(calloc(count ? count : 1, size ? size : 1)) : NULL;
}

static void *resize_block(void *context, void *block, size_t size)
{
    (void)context;
    size_t before = malloc_usable_size(block);
    if (size > before && !may_take(size - before))
        return NULL;
    void *changed = realloc(block, size ? size : 1);
    if (changed) {
        atomic_fetch_sub_explicit(&used, before, memory_order_relaxed);
        counted(changed);
    }
    return changed;
}

static void give_back(void *context, void *block)
{
    (void)context;
    uncount(block);
    free(block);
}

/* Small objects are in arenas, which are mapped. Without an arena, each object is allocated by
 * itself, so this does not count as a refusal. */
static void *take_arena(void *context, size_t size)
{
    (void)context;
    void *arena = fits(size) ? arenas.alloc(arenas.ctx, size) : NULL;
    if (arena)
        atomic_fetch_add_explicit(&used, size, memory_order_relaxed);
    return arena;
}

static void give_arena_back(void *context, void *arena, size_t size)
{
    (void)context;
    atomic_fetch_sub_explicit(&used, size, memory_order_relaxed);
    arenas.free(arenas.ctx, arena, size);
}

void count_memory(void)
{
    PyMemAllocatorEx ours = { NULL, take_block, take_zeros, resize_block, give_back };
    PyObjectArenaAllocator ours_too = { NULL, take_arena, give_arena_back };
    PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &ours);
    PyObject_GetArenaAllocator(&arenas);
    PyObject_SetArenaAllocator(&ours_too);
}

/* Native code has a limit of the system. What the process used before is small compared with it. */
static void limit_process(size_t megabytes)
{
    rlim_t bytes = (rlim_t)(megabytes + AROUND_MB) << 20;
    struct rlimit now;
    if (getrlimit(RLIMIT_DATA, &now) == 0 && bytes < now.rlim_max)
        setrlimit(RLIMIT_DATA, &(struct rlimit){ bytes, bytes });
}

void limit_memory(size_t megabytes)
{
    if (megabytes)
        limit_process(megabytes);
    atomic_store(&most, megabytes ? atomic_load(&used) + (megabytes << 20) : SIZE_MAX);
}
