/* See addresses.h. Python writes each address with the format %p (`<object object at 0x7f…>`), and
 * its library does this with functions of the C library. It finds those of this program first: they
 * count, and do what the others do. Where libpython was built such that it calls other functions,
 * the count stays 0. A test of the tree says so. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "addresses.h"

#define EXPORTED __attribute__((visibility("default"), used))

static atomic_ulong written;

/* Under the names that the C library has for calls whose room the compiler knows. */
EXPORTED int addresses_sprintf(char *to, int flag, size_t room, const char *format,
                               ...) __asm__("__sprintf_chk");
EXPORTED int addresses_vsnprintf(char *to, size_t most, int flag, size_t room, const char *format,
                                 va_list values) __asm__("__vsnprintf_chk");

static void count_address(const char *format)
{
    if (strstr(format, "%p"))
        atomic_fetch_add(&written, 1);
}

int addresses_sprintf(char *to, int flag, size_t room, const char *format, ...)
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

int addresses_vsnprintf(char *to, size_t most, int flag, size_t room, const char *format,
                        va_list values)
{
    (void)flag;
    if (room < most)
        abort();
    count_address(format);
    return __builtin_vsnprintf(to, most, format, values);
}

/* -- the module -------------------------------------------------------------------------------- */

static PyObject *addresses_written(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyLong_FromUnsignedLong(atomic_load(&written));
}

static PyMethodDef functions[] = { { "written", addresses_written, METH_NOARGS, NULL },
                                   { NULL, NULL, 0, NULL } };

static PyModuleDef module = { .m_base = PyModuleDef_HEAD_INIT,
                              .m_name = "_mishap_addresses",
                              .m_size = -1,
                              .m_methods = functions };

static PyObject *made(void)
{
    return PyModule_Create(&module);
}

bool addresses_offer(void)
{
    return PyImport_AppendInittab("_mishap_addresses", made) == 0;
}
