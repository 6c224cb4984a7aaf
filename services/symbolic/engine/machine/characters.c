/* CPython's classification of single characters, computed once in a process. */
#include "base/python.h"

#include <string.h>

#include "machine/machine.h"

enum {
    LAST_PLAIN = 0xff,
    LAST_CASED = 0x1ffff, /* no character beyond has a case */
    LAST_EXACT = 0x2ff00, /* see value.c */
    BLOCK = 256,
    MOST_RANGES = 1024,
    MOST_METHODS = 16
};

/* Never NULL: these calls fail only for a reason of the engine, which ends the path. */
static PyObject *call_method_of(machine *m, const uint32_t *chars, Py_ssize_t count,
                                const char *method)
{
    PyObject *made = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, chars, count);
    PyObject *result = made ? PyObject_CallMethod(made, method, NULL) : NULL;
    Py_XDECREF(made);
    if (!result)
        bridge_give_up(m, 0, "the classification of a character");
    return result;
}

static bool says_yes(machine *m, const uint32_t *chars, Py_ssize_t count, const char *method)
{
    PyObject *result = call_method_of(m, chars, count, method);
    bool yes = result == Py_True;
    Py_DECREF(result);
    return yes;
}

bool character_is(machine *m, uint32_t c, const char *method)
{
    return says_yes(m, &c, 1, method);
}

bool character_continues(machine *m, uint32_t c)
{
    return says_yes(m, (const uint32_t[]){ 'a', c }, 2, "isidentifier");
}

/* -- tables --------------------------------------------------------------------------------------
 */

typedef struct ranges {
    const char *method; /* of a table of constants */
    character_shift at[MOST_RANGES];
    size_t count;
} ranges;

/* The table of a method, which is one of a few constants; `*fresh`: it has to be filled. It gets
 * the name of its method when it is complete, since the path may end before. */
static ranges *table_of(ranges *tables, const char *method, bool *fresh)
{
    size_t i = 0;
    while (tables[i].method && strcmp(tables[i].method, method) != 0)
        i++;
    *fresh = !tables[i].method;
    if (*fresh)
        tables[i].count = 0;
    return &tables[i];
}

static character_shift *open_range(ranges *to, uint32_t c)
{
    if (to->count == MOST_RANGES)
        Py_FatalError("a table of characters is too small"); /* no verdict must depend on it */
    to->at[to->count] = (character_shift){ .from = c, .to = c };
    return &to->at[to->count++];
}

static void add_member(ranges *to, uint32_t c)
{
    character_shift *last = to->count ? &to->at[to->count - 1] : NULL;
    if (last && last->to + 1 == c)
        last->to = c;
    else
        open_range(to, c);
}

/* -- case ----------------------------------------------------------------------------------------
 */

size_t character_turned(machine *m, uint32_t c, const char *method, uint32_t out[MOST_EXPANDED])
{
    PyObject *result = call_method_of(m, &c, 1, method);
    size_t count = (size_t)PyUnicode_GET_LENGTH(result);
    for (size_t i = 0; i < count && i < MOST_EXPANDED; i++)
        out[i] = PyUnicode_READ_CHAR(result, (Py_ssize_t)i);
    Py_DECREF(result);
    return count;
}

/* True if a method changes any character of a block. Most have no case. */
static bool changes_block(machine *m, uint32_t first, const char *method)
{
    uint32_t chars[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        chars[i] = first + i;
    PyObject *given = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, chars, BLOCK);
    PyObject *result = call_method_of(m, chars, BLOCK, method);
    bool changes = !given || PyUnicode_Compare(given, result) != 0;
    PyErr_Clear(); /* then each of its characters is asked */
    Py_XDECREF(given);
    Py_DECREF(result);
    return changes;
}

/* Characters that become another one are in ranges: in a range all even ones have the same distance
 * to their result, and so have all odd ones. */
static void add_shift(ranges *to, bool *begun, uint32_t c, int32_t by)
{
    character_shift *last = *begun ? &to->at[to->count - 1] : NULL;
    if (last && last->to + 1 == c && last->from == last->to) {
        last->to = c;
        last->by[c & 1] = by;
    } else if (last && last->to + 1 == c && last->by[c & 1] == by) {
        last->to = c;
    } else {
        if (last && !last->by[0] && !last->by[1])
            to->count--;
        last = open_range(to, c);
        last->by[0] = last->by[1] = by;
        *begun = true;
    }
}

const character_shift *character_shifts(machine *m, const char *method, bool plain, size_t *count)
{
    static ranges tables[2][MOST_METHODS];
    bool fresh, begun = false;
    ranges *table = table_of(tables[plain], method, &fresh);
    uint32_t first = plain ? 0 : LAST_PLAIN + 1, last = plain ? LAST_PLAIN : LAST_CASED, out[3];
    for (uint32_t block = first; fresh && block <= last; block += BLOCK) {
        if (!changes_block(m, block, method))
            continue;
        for (uint32_t c = block; c < block + BLOCK; c++) {
            bool single = character_turned(m, c, method, out) == 1;
            add_shift(table, &begun, c, single ? (int32_t)out[0] - (int32_t)c : 0);
        }
    }
    table->method = method;
    *count = table->count;
    return table->at;
}

const character_shift *character_others(machine *m, const char *method, size_t *count)
{
    static ranges tables[MOST_METHODS];
    bool fresh;
    ranges *table = table_of(tables, method, &fresh);
    uint32_t out[MOST_EXPANDED];
    for (uint32_t block = 0; fresh && block <= LAST_CASED; block += BLOCK)
        for (uint32_t c = block; changes_block(m, block, method) && c < block + BLOCK; c++) {
            if (character_turned(m, c, method, out) != 1)
                add_member(table, c);
        }
    table->method = method;
    *count = table->count;
    return table->at;
}

/* -- classes -------------------------------------------------------------------------------------
 */

/* title() leaves an "a" as it is after a character with a case. */
static bool is_cased(machine *m, uint32_t c)
{
    uint32_t pair[] = { c, 'a' };
    PyObject *result = call_method_of(m, pair, 2, "title");
    Py_ssize_t count = PyUnicode_GET_LENGTH(result);
    bool cased = count && PyUnicode_READ_CHAR(result, count - 1) == 'a';
    Py_DECREF(result);
    return cased;
}

/* A whole block at once: each character has an "a" before and after it. */
static void add_cased_block(machine *m, ranges *to, uint32_t first)
{
    uint32_t chars[2 * BLOCK + 1] = { 'a' };
    for (uint32_t i = 0; i < BLOCK; i++) {
        chars[2 * i + 1] = first + i;
        chars[2 * i + 2] = 'a';
    }
    PyObject *result = call_method_of(m, chars, 2 * BLOCK + 1, "title");
    bool single = PyUnicode_GET_LENGTH(result) == 2 * BLOCK + 1;
    for (uint32_t i = 0; i < BLOCK; i++)
        if (single ? PyUnicode_READ_CHAR(result, 2 * i + 2) == 'a' : is_cased(m, first + i))
            add_member(to, first + i);
    Py_DECREF(result);
}

const character_shift *character_cased(machine *m, size_t *count)
{
    static ranges table;
    if (!table.method)
        table.count = 0;
    for (uint32_t block = 0; !table.method && block <= LAST_CASED; block += BLOCK)
        add_cased_block(m, &table, block);
    table.method = "title";
    *count = table.count;
    return table.at;
}

/* Hundreds of ranges would be too many for the solvers. */
const character_shift *character_printable(size_t *count)
{
    static ranges table;
    for (uint32_t c = LAST_PLAIN + 1, to; !table.method && c <= LAST_EXACT; c = to + 1) {
        int printable = Py_UNICODE_ISPRINTABLE(c);
        for (to = c; to < LAST_EXACT && Py_UNICODE_ISPRINTABLE(to + 1) == printable;)
            to++;
        if (to - c < BLOCK)
            continue;
        character_shift *range = open_range(&table, c);
        range->to = to;
        range->by[0] = range->by[1] = printable;
    }
    table.method = "isprintable";
    *count = table.count;
    return table.at;
}
