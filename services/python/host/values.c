/* JSON to Python and back. No method of a value is called, so no code runs meanwhile. */
#include "host.h"

#include <math.h>
#include <string.h>

/* -- to Python --------------------------------------------------------------------------------- */

/* An integer beyond 64 bits, or a number that is no finite double. */
static PyObject *from_raw(yyjson_val *value)
{
    const char *digits = yyjson_get_raw(value);
    size_t length = yyjson_get_len(value);
    PyObject *words = PyUnicode_FromStringAndSize(digits, (Py_ssize_t)length), *number;
    if (!words)
        return NULL;
    bool real = memchr(digits, '.', length) || memchr(digits, 'e', length) ||
                memchr(digits, 'E', length);
    number = real ? PyFloat_FromString(words) : PyLong_FromUnicodeObject(words, 10);
    Py_DECREF(words);
    return number;
}

static PyObject *from_array(yyjson_val *array, int depth)
{
    yyjson_arr_iter each;
    yyjson_val *item;
    Py_ssize_t at = 0;
    PyObject *list = PyList_New((Py_ssize_t)yyjson_arr_size(array));
    yyjson_arr_iter_init(array, &each);
    while (list && (item = yyjson_arr_iter_next(&each))) {
        PyObject *value = from_json(item, depth + 1);
        if (!value)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, at++, value);
    }
    return list;
}

static PyObject *from_text(yyjson_val *value)
{
    return PyUnicode_FromStringAndSize(yyjson_get_str(value), (Py_ssize_t)yyjson_get_len(value));
}

static PyObject *from_object(yyjson_val *object, int depth)
{
    yyjson_obj_iter each;
    yyjson_val *key;
    PyObject *dict = PyDict_New();
    yyjson_obj_iter_init(object, &each);
    while (dict && (key = yyjson_obj_iter_next(&each))) {
        PyObject *name = from_text(key);
        PyObject *value = name ? from_json(yyjson_obj_iter_get_val(key), depth + 1) : NULL;
        if (!value || PyDict_SetItem(dict, name, value) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return dict;
}

PyObject *from_json(yyjson_val *value, int depth)
{
    if (depth > DEEPEST)
        return PyErr_Format(PyExc_ValueError, "nested deeper than %d levels", DEEPEST);
    switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_RAW:
        return from_raw(value);
    case YYJSON_TYPE_NULL:
        Py_RETURN_NONE;
    case YYJSON_TYPE_BOOL:
        return PyBool_FromLong(yyjson_get_bool(value));
    case YYJSON_TYPE_STR:
        return from_text(value);
    case YYJSON_TYPE_ARR:
        return from_array(value, depth);
    case YYJSON_TYPE_OBJ:
        return from_object(value, depth);
    default:
        if (yyjson_is_real(value))
            return PyFloat_FromDouble(yyjson_get_real(value));
        return yyjson_is_uint(value) ? PyLong_FromUnsignedLongLong(yyjson_get_uint(value))
                                     : PyLong_FromLongLong(yyjson_get_sint(value));
    }
}

/* -- to JSON ----------------------------------------------------------------------------------- */

/* Subclasses count as their base: an IntEnum is a number. Their own methods are not called. */

static const char *put_int(text *t, PyObject *value)
{
    PyObject *digits = PyLong_Type.tp_repr(value);
    if (!digits) {
        PyErr_Clear();
        return "an int that is too long for JSON";
    }
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(digits); i++) {
        char digit = (char)PyUnicode_READ_CHAR(digits, i);
        put(t, &digit, 1);
    }
    Py_DECREF(digits);
    return NULL;
}

static const char *put_float(text *t, PyObject *value)
{
    double number = PyFloat_AS_DOUBLE(value);
    if (!isfinite(number))
        return isnan(number) ? "the float nan, which JSON does not have"
                             : "the float inf, which JSON does not have";
    char *digits = PyOS_double_to_string(number, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (!digits) {
        PyErr_Clear();
        return "a float for which there is no memory";
    }
    put_words(t, digits);
    PyMem_Free(digits);
    return NULL;
}

static const char *put_text(text *t, PyObject *value)
{
    int kind = (int)PyUnicode_KIND(value);
    Py_ssize_t count = PyUnicode_GET_LENGTH(value);
    for (Py_ssize_t i = 0; kind != PyUnicode_1BYTE_KIND && i < count; i++)
        if (Py_UNICODE_IS_SURROGATE(PyUnicode_READ(kind, PyUnicode_DATA(value), i)))
            return "a str with half a surrogate pair, which is no character";
    put_unicode(t, value, (size_t)count);
    return NULL;
}

static const char *put_items(text *t, PyObject *value, int depth, PyTypeObject **type)
{
    bool list = PyList_Check(value);
    const char *wrong = NULL;
    Py_ssize_t count = list ? PyList_GET_SIZE(value) : PyTuple_GET_SIZE(value);
    put(t, "[", 1);
    for (Py_ssize_t i = 0; i < count && !wrong; i++) {
        if (i)
            put(t, ",", 1);
        wrong = to_json(t, list ? PyList_GET_ITEM(value, i) : PyTuple_GET_ITEM(value, i), depth + 1,
                        type);
    }
    put(t, "]", 1);
    return wrong;
}

/* A key must be a plain str: two keys of a subclass could be the same text. */
static const char *put_members(text *t, PyObject *value, int depth, PyTypeObject **type)
{
    PyObject *key, *item;
    Py_ssize_t at = 0;
    bool first = true;
    const char *wrong = NULL;
    put(t, "{", 1);
    while (!wrong && PyDict_Next(value, &at, &key, &item)) {
        if (!first)
            put(t, ",", 1);
        first = false;
        if (!PyUnicode_CheckExact(key)) {
            *type = Py_TYPE(key);
            return "a dict with a key of type ";
        }
        wrong = put_text(t, key);
        put(t, ":", 1);
        if (!wrong)
            wrong = to_json(t, item, depth + 1, type);
    }
    put(t, "}", 1);
    return wrong;
}

const char *to_json(text *t, PyObject *value, int depth, PyTypeObject **type)
{
    if (depth > DEEPEST)
        return "a value that is nested too deep, or that contains itself";
    if (t->length > MOST_RESULT)
        return "more than 1 MiB of JSON";
    if (value == Py_None)
        return put_words(t, "null"), NULL;
    if (PyBool_Check(value))
        return put_words(t, value == Py_True ? "true" : "false"), NULL;
    if (PyLong_Check(value))
        return put_int(t, value);
    if (PyFloat_Check(value))
        return put_float(t, value);
    if (PyUnicode_Check(value))
        return PyUnicode_GET_LENGTH(value) > MOST_RESULT ? "more than 1 MiB of JSON"
                                                         : put_text(t, value);
    if (PyList_Check(value) || PyTuple_Check(value))
        return put_items(t, value, depth, type);
    if (PyDict_Check(value))
        return put_members(t, value, depth, type);
    *type = Py_TYPE(value);
    return "a value of type ";
}

/* -- literals ---------------------------------------------------------------------------------- */

static bool are_literals(PyObject *collection, int depth)
{
    PyObject *each = PyObject_GetIter(collection), *item;
    bool all = each != NULL;
    while (all && (item = PyIter_Next(each))) {
        all = is_literal(item, depth + 1);
        Py_DECREF(item);
    }
    Py_XDECREF(each);
    PyErr_Clear();
    return all;
}

bool is_literal(PyObject *value, int depth)
{
    PyObject *key, *item;
    Py_ssize_t at = 0;
    if (depth > DEEPEST)
        return false;
    if (value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) ||
        PyFloat_CheckExact(value) || PyComplex_CheckExact(value) || PyUnicode_CheckExact(value) ||
        PyBytes_CheckExact(value))
        return true;
    if (PyDict_CheckExact(value)) {
        while (PyDict_Next(value, &at, &key, &item))
            if (!is_literal(key, depth + 1) || !is_literal(item, depth + 1))
                return false;
        return true;
    }
    return (PyList_CheckExact(value) || PyTuple_CheckExact(value) || PyAnySet_CheckExact(value)) &&
           are_literals(value, depth);
}

void put_type(text *t, PyTypeObject *type)
{
    PyObject *name = PyType_GetName(type);
    if (name)
        put_unicode(t, name, MOST_NAME);
    else
        put_string(t, "object");
    Py_XDECREF(name);
    PyErr_Clear();
}
