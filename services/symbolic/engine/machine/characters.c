/* What CPython knows of single characters, asked once a process. */
#include "base/python.h"

#include <string.h>

#include "machine/machine.h"

enum { LAST_PLAIN = 0xff, LAST_CASED = 0x1ffff, MOST_RANGES = 128, MOST_METHODS = 16 };

static PyObject *call_method_of(const uint32_t *chars, Py_ssize_t count, const char *method)
{
    PyObject *made = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, chars, count);
    PyObject *result = made ? PyObject_CallMethod(made, method, NULL) : NULL;
    Py_XDECREF(made);
    PyErr_Clear();
    return result;
}

static bool says_yes(const uint32_t *chars, Py_ssize_t count, const char *method)
{
    PyObject *result = call_method_of(chars, count, method);
    bool yes = result == Py_True;
    Py_XDECREF(result);
    return yes;
}

bool character_is(uint32_t c, const char *method)
{
    return says_yes(&c, 1, method);
}

bool character_continues(uint32_t c)
{
    return says_yes((const uint32_t[]){ 'a', c }, 2, "isidentifier");
}

/* The one character that a method makes of another; -1: several, or one by those around it. */
static int64_t turned(uint32_t c, const char *method)
{
    PyObject *result = call_method_of(&c, 1, method);
    int64_t code = -1;
    if (result && PyUnicode_GET_LENGTH(result) == 1)
        code = PyUnicode_READ_CHAR(result, 0);
    Py_XDECREF(result);
    bool sigma = c == 0x3a3 && strcmp(method, "upper") != 0 && strcmp(method, "casefold") != 0;
    return sigma ? -1 : code;
}

typedef struct ranges {
    const char *method; /* of a table of constants */
    character_shift at[MOST_RANGES];
    size_t count;
} ranges;

static void add(ranges *to, uint32_t c, int32_t by)
{
    character_shift *last = to->count ? &to->at[to->count - 1] : NULL;
    if (last && last->to + 1 == c && last->by == by)
        last->to = c;
    else if (to->count < MOST_RANGES)
        to->at[to->count++] = (character_shift){ c, c, by };
    else
        last->to = c; /* more than there are: it is no matter, they only lead to a guess */
}

static ranges *table_of(ranges *tables, const char *method, bool *fresh)
{
    size_t i = 0;
    while (tables[i].method && strcmp(tables[i].method, method) != 0)
        i++;
    *fresh = !tables[i].method;
    tables[i].method = method;
    return &tables[i];
}

const character_shift *character_shifts(const char *method, size_t *count)
{
    static ranges tables[MOST_METHODS];
    bool fresh;
    ranges *table = table_of(tables, method, &fresh);
    for (uint32_t c = 0; fresh && c <= LAST_PLAIN; c++) {
        int64_t code = turned(c, method);
        if (code >= 0 && code != c)
            add(table, c, (int32_t)(code - c));
    }
    *count = table->count;
    return table->at;
}

const character_shift *character_others(const char *method, size_t *count)
{
    static ranges tables[MOST_METHODS];
    bool fresh;
    ranges *table = table_of(tables, method, &fresh);
    for (uint32_t c = LAST_PLAIN + 1; fresh && c <= LAST_CASED; c++)
        if (turned(c, method) < 0)
            add(table, c, 0);
    *count = table->count;
    return table->at;
}
