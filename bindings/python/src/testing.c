/* Allocations of the core that fail, in builds for tests (MISHAP_TESTING). */
#include "binding.h"

#ifdef MISHAP_TESTING

#include <stdlib.h>

#include "mishap/memory.h"

static long left = -1; /* allocations that still succeed; -1: all */

static bool testing_fails(void)
{
    if (left < 0)
        return false;
    if (left == 0)
        return true;
    left--;
    return false;
}

static void *testing_allocate(size_t size)
{
    return testing_fails() ? NULL : malloc(size);
}

static void *testing_resize(void *block, size_t size)
{
    return testing_fails() ? NULL : realloc(block, size);
}

PyObject *testing_fail_after(PyObject *module, PyObject *argument)
{
    static const mishap_allocator allocator = { testing_allocate, testing_resize, free };
    (void)module;
    long count = PyLong_AsLong(argument);
    if (count == -1 && PyErr_Occurred())
        return NULL;
    left = count;
    mishap_use_allocator(&allocator);
    Py_RETURN_NONE;
}

#endif
