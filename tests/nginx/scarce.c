/*
 * An allocator for nginx and the module in it, in which allocations fail: LD_PRELOAD has it.
 *
 * MISHAP_SCARCE names a file of two numbers, which the test and this process share. `left` is how
 * many more allocations succeed; then one fails, or all that follow if `rest` is set, until the
 * test writes a number below 0 again.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static volatile struct {
    int32_t left, rest;
} * order;

__attribute__((constructor)) static void open_order(void)
{
    const char *path = getenv("MISHAP_SCARCE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *page = file >= 0 ? mmap(NULL, sizeof *order, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                           : MAP_FAILED;
    if (page != MAP_FAILED)
        order = page;
}

static bool is_refused(void)
{
    if (!order || order->left < 0)
        return false;
    if (order->left > 0) {
        order->left--;
        return false;
    }
    if (!order->rest)
        order->left = -1;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return is_refused() ? NULL : __libc_realloc(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *made = is_refused() ? NULL : __libc_memalign(alignment, size);
    if (made)
        *block = made;
    return made ? 0 : ENOMEM;
}
