/*
 * See observed.h. Python writes each address with the format %p (`<object object at 0x7f…>`), and
 * its library does this with functions of the C library. It finds those of this program first: they
 * count, and do what the others do. Where libpython was built such that it calls other functions,
 * the count stays 0. Tests say so: concrete_test.py and service_test.py in tests/symbolic.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "observed.h"

#define EXPORTED __attribute__((visibility("default"), used))

static atomic_ulong addresses, failures;

/* Under the names that the C library has for calls whose room the compiler knows. */
EXPORTED __attribute__((format(printf, 4, 5))) int
observed_sprintf(char *to, int flag, size_t room, const char *format, ...) __asm__("__sprintf_chk");
EXPORTED __attribute__((format(printf, 5, 0))) int
observed_vsnprintf(char *to, size_t most, int flag, size_t room, const char *format,
                   va_list values) __asm__("__vsnprintf_chk");

static void count_address(const char *format)
{
    if (strstr(format, "%p"))
        atomic_fetch_add(&addresses, 1);
}

int observed_sprintf(char *to, int flag, size_t room, const char *format, ...)
{
    (void)flag;
    va_list values;
    count_address(format);
    va_start(values, format);
    int length = __builtin_vsnprintf(to, room < INT_MAX ? room : INT_MAX, format, values);
    va_end(values);
    if (length >= 0 && (size_t)length >= room)
        abort();
    return length;
}

int observed_vsnprintf(char *to, size_t most, int flag, size_t room, const char *format,
                       va_list values)
{
    (void)flag;
    if (room < most)
        abort();
    count_address(format);
    return __builtin_vsnprintf(to, most, format, values);
}

/* -- memory ------------------------------------------------------------------------------------ */

static PyMemAllocatorEx under;

/* What no process has room for fails everywhere, and says nothing of this machine. */
#define MOST_OF_ANY ((size_t)1 << 47)

static void *noted(void *block, size_t size)
{
    if (!block && size < MOST_OF_ANY)
        atomic_fetch_add(&failures, 1);
    return block;
}

static void *take_block(void *context, size_t size)
{
    (void)context;
    return noted(under.malloc(under.ctx, size), size);
}

static void *take_zeros(void *context, size_t count, size_t size)
{
    (void)context;
    bool fits = size == 0 || count < MOST_OF_ANY / size;
    return noted(under.calloc(under.ctx, count, size), fits ? count * size : MOST_OF_ANY);
}

static void *resize_block(void *context, void *block, size_t size)
{
    (void)context;
    return noted(under.realloc(under.ctx, block, size), size);
}

static void give_back(void *context, void *block)
{
    (void)context;
    under.free(under.ctx, block);
}

void observed_memory(void)
{
    PyMemAllocatorEx over = { NULL, take_block, take_zeros, resize_block, give_back };
    if (under.malloc)
        return;
    PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &under); /* the others take large blocks from it */
    PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &over);
}

/* -- the module -------------------------------------------------------------------------------- */

static PyObject *count_of_addresses(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyLong_FromUnsignedLong(atomic_load(&addresses));
}

static PyObject *count_of_failures(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyLong_FromUnsignedLong(atomic_load(&failures));
}

static PyMethodDef functions[] = { { "addresses", count_of_addresses, METH_NOARGS, NULL },
                                   { "failures", count_of_failures, METH_NOARGS, NULL },
                                   { NULL, NULL, 0, NULL } };

static PyModuleDef module = { .m_base = PyModuleDef_HEAD_INIT,
                              .m_name = "_mishap_observed",
                              .m_size = -1,
                              .m_methods = functions };

static PyObject *made(void)
{
    return PyModule_Create(&module);
}

bool observed_offer(void)
{
    return PyImport_AppendInittab("_mishap_observed", made) == 0;
}
