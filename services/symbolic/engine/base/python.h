/* Python.h, first of all headers as it demands, without its warnings. */
#ifndef SYMBOLIC_PYTHON_H
#define SYMBOLIC_PYTHON_H

#define PY_SSIZE_T_CLEAN
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#include <Python.h>
#pragma GCC diagnostic pop

#endif
