/*
 * Preloaded into the symbolic engine: CPython in that process gets no memory, or is interrupted, at
 * the moment that the test names. The file in SYMBOLIC_FAIL is shared with the test.
 */
#define PY_SSIZE_T_CLEAN
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#include <Python.h>
#pragma GCC diagnostic pop

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The allocations from `from` to before `to` fail; with `interrupts`, an exception is raised. */
typedef struct plan {
    int64_t count, from, to, interrupts;
} plan;

static plan *shared;
static pid_t engine; /* the calls in its children are not meant */
static PyMemAllocatorEx before[2];

static int fails(void)
{
    if (getpid() != engine)
        return 0;
    int64_t at = shared->count++;
    int hit = at >= shared->from && at < shared->to;
    if (hit && shared->interrupts)
        PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), PyExc_KeyboardInterrupt);
    return hit && !shared->interrupts;
}

static void *take(void *context, size_t size)
{
    PyMemAllocatorEx *all = context;
    return fails() ? NULL : all->malloc(all->ctx, size);
}

static void *take_zeroed(void *context, size_t count, size_t size)
{
    PyMemAllocatorEx *all = context;
    return fails() ? NULL : all->calloc(all->ctx, count, size);
}

static void *take_again(void *context, void *at, size_t size)
{
    PyMemAllocatorEx *all = context;
    return fails() ? NULL : all->realloc(all->ctx, at, size);
}

static void give_back(void *context, void *at)
{
    PyMemAllocatorEx *all = context;
    all->free(all->ctx, at);
}

PyStatus Py_InitializeFromConfig(const PyConfig *config)
{
    PyStatus (*real)(const PyConfig *);
    *(void **)&real = dlsym(RTLD_NEXT, "Py_InitializeFromConfig");
    PyStatus status = real(config);
    const char *name = getenv("SYMBOLIC_FAIL");
    int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
    void *at = file < 0 ? MAP_FAILED
                        : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED)
        return status;
    shared = at;
    engine = getpid();
    static const PyMemAllocatorDomain domains[] = { PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ };
    for (size_t i = 0; i < 2; i++) {
        PyMem_GetAllocator(domains[i], &before[i]);
        PyMem_SetAllocator(domains[i], &(PyMemAllocatorEx){ &before[i], take, take_zeroed,
                                                            take_again, give_back });
    }
    return status;
}
