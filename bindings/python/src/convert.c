/* Python values as text, as values of the core and as JSON; and back. */
#include "binding.h"

#include <math.h>
#include <stdio.h>

/* -- text -------------------------------------------------------------------------------------- */

/* The text of a str with half surrogate pairs: each becomes U+FFFD, whole pairs are joined. */
static PyObject *text_without_surrogates(PyObject *string)
{
    PyObject *pairs = PyUnicode_AsEncodedString(string, "utf-16-le", "surrogatepass");
    if (!pairs)
        return NULL;
    PyObject *clean = PyUnicode_FromEncodedObject(pairs, "utf-16-le", "replace");
    Py_DECREF(pairs);
    return clean;
}

static bool text_take_string(PyObject *object, held_text *out)
{
    Py_ssize_t length;
    const char *data = PyUnicode_AsUTF8AndSize(object, &length);
    Py_INCREF(object);
    if (!data) {
        PyObject *clean = NULL;
        if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
            PyErr_Clear();
            clean = text_without_surrogates(object);
        }
        Py_DECREF(object);
        if (!clean)
            return false;
        object = clean;
        data = PyUnicode_AsUTF8AndSize(object, &length);
        if (!data) {
            Py_DECREF(object);
            return false;
        }
    }
    out->owner = object;
    out->text = (mishap_text){ data, (size_t)length };
    return true;
}

bool text_take(PyObject *object, const char *what, held_text *out)
{
    if (PyUnicode_Check(object))
        return text_take_string(object, out);
    if (PyByteArray_Check(object)) {
        /* Copied: a bytearray may change while the interpreter lock is released. */
        PyObject *copy = PyBytes_FromObject(object);
        if (!copy)
            return false;
        out->owner = copy;
    } else if (PyBytes_Check(object)) {
        Py_INCREF(object);
        out->owner = object;
    } else {
        PyErr_Format(PyExc_TypeError, "%s must be str or bytes, not %R", what, Py_TYPE(object));
        return false;
    }
    char *data;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(out->owner, &data, &length) < 0) {
        text_release(out);
        return false;
    }
    out->text = (mishap_text){ data, (size_t)length };
    return true;
}

void text_release(held_text *held)
{
    Py_CLEAR(held->owner);
    held->text = (mishap_text){ NULL, 0 };
}

PyObject *text_give(mishap_text text)
{
    return PyUnicode_DecodeUTF8(text.data ? text.data : "", (Py_ssize_t)text.length, "replace");
}

/* Is the exception one that a value of the program may raise? It is cleared then. Others go on. */
static bool foreign_failure_cleared(void)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError))
        return false;
    PyErr_Clear();
    return true;
}

/* "[TypeName]". It is what the caller may see of an object that has no text of its own. A metaclass
 * can make anything of the name, or fail: then it is "[object]". */
static PyObject *text_of_type(PyObject *object)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    if (!name && !foreign_failure_cleared())
        return NULL;
    PyObject *text = name && PyUnicode_Check(name) ? PyUnicode_FromFormat("[%U]", name)
                                                   : PyUnicode_FromString("[object]");
    Py_XDECREF(name);
    return text;
}

PyObject *text_of_anything(PyObject *object)
{
    bool plain = PyLong_Check(object) || PyFloat_Check(object) || object == Py_None;
    if (!plain &&
        PyType_GetSlot(Py_TYPE(object), Py_tp_str) == PyType_GetSlot(&PyBaseObject_Type, Py_tp_str))
        return text_of_type(object);
    PyObject *text = PyObject_Str(object);
    if (!text && foreign_failure_cleared())
        text = text_of_type(object);
    return text;
}

/* -- JSON -------------------------------------------------------------------------------------- */

/* The containers around a value, the innermost first: a cycle is found among them. */
typedef struct json_around {
    const struct json_around *outer;
    PyObject *container;
    int depth;
} json_around;

static bool put_value(mishap_buffer *json, PyObject *object, const json_around *outer);

static void put_literal(mishap_buffer *json, const char *text)
{
    mishap_buffer_add(json, text, strlen(text));
}

static void put_escaped(mishap_buffer *json, unsigned char byte)
{
    char escape[8];
    if (byte == 0) { /* as in every text of the core */
        put_literal(json, "\xEF\xBF\xBD");
        return;
    }
    const char *short_forms = "\b\t\n\f\r\"\\", *letters = "btnfr\"\\";
    const char *found = strchr(short_forms, byte);
    if (found)
        snprintf(escape, sizeof escape, "\\%c", letters[found - short_forms]);
    else
        snprintf(escape, sizeof escape, "\\u%04x", (unsigned)byte);
    put_literal(json, escape);
}

static void put_string(mishap_buffer *json, mishap_text text)
{
    mishap_buffer_add(json, "\"", 1);
    size_t start = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        mishap_buffer_add(json, text.data + start, i - start);
        put_escaped(json, byte);
        start = i + 1;
    }
    mishap_buffer_add(json, text.data + start, text.length - start);
    mishap_buffer_add(json, "\"", 1);
}

/* The text of a str, or of bytes, in which U+FFFD replaces what is no UTF-8. */
static bool put_text_of(mishap_buffer *json, PyObject *object)
{
    held_text held = { 0 };
    if (!text_take(object, "text", &held))
        return false;
    PyObject *clean = PyUnicode_Check(object) ? NULL : text_give(held.text);
    if (clean) {
        text_release(&held);
        bool taken = text_take(clean, "text", &held);
        Py_DECREF(clean);
        if (!taken)
            return false;
    }
    bool put = PyUnicode_Check(object) || clean;
    if (put)
        put_string(json, held.text);
    text_release(&held);
    return put;
}

static bool put_text_of_anything(mishap_buffer *json, PyObject *object)
{
    PyObject *text = text_of_anything(object);
    if (!text)
        return false;
    bool put = put_text_of(json, text);
    Py_DECREF(text);
    return put;
}

/* The digits of an int. Python refuses to write very long ones; they become [int]. */
static PyObject *digits_of(PyObject *number)
{
    PyObject *digits = PyNumber_ToBase(number, 10);
    if (!digits && PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear();
        digits = text_of_type(number);
    }
    return digits;
}

static bool put_int(mishap_buffer *json, PyObject *number)
{
    PyObject *digits = digits_of(number);
    if (!digits)
        return false;
    held_text held = { 0 };
    bool taken = text_take(digits, "int", &held);
    if (taken && held.text.data[0] == '[')
        put_string(json, held.text);
    else if (taken)
        mishap_buffer_add(json, held.text.data, held.text.length);
    text_release(&held);
    Py_DECREF(digits);
    return taken;
}

/* Infinity and NaN have no place in JSON: they become null, as in the core. */
static bool put_float(mishap_buffer *json, PyObject *number)
{
    double real = PyFloat_AsDouble(number);
    if (real == -1.0 && PyErr_Occurred())
        return false;
    if (!isfinite(real)) {
        put_literal(json, "null");
        return true;
    }
    char *spelled = PyOS_double_to_string(real, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (!spelled)
        return false;
    put_literal(json, spelled);
    PyMem_Free(spelled);
    return true;
}

static bool put_key(mishap_buffer *json, PyObject *key)
{
    return PyUnicode_Check(key) || PyBytes_Check(key) ? put_text_of(json, key)
                                                      : put_text_of_anything(json, key);
}

static bool put_dict(mishap_buffer *json, PyObject *dict, const json_around *outer)
{
    json_around around = { outer, dict, outer ? outer->depth + 1 : 1 };
    Py_ssize_t position = 0;
    PyObject *key, *value;
    bool put = true, first = true;
    put_literal(json, "{");
    while (put && json->length <= LARGEST_JSON && PyDict_Next(dict, &position, &key, &value)) {
        /* The text of an object is made by its own code, which may change the dict. */
        Py_INCREF(key);
        Py_INCREF(value);
        if (!first)
            put_literal(json, ",");
        first = false;
        put = put_key(json, key);
        put_literal(json, ":");
        put = put && put_value(json, value, &around);
        Py_DECREF(key);
        Py_DECREF(value);
    }
    put_literal(json, "}");
    return put;
}

static bool put_list(mishap_buffer *json, PyObject *list, const json_around *outer)
{
    json_around around = { outer, list, outer ? outer->depth + 1 : 1 };
    bool tuple = PyTuple_Check(list), put = true;
    put_literal(json, "[");
    for (Py_ssize_t i = 0; put && json->length <= LARGEST_JSON &&
                           i < (tuple ? PyTuple_Size(list) : PyList_Size(list));
         i++) {
        PyObject *item = tuple ? PyTuple_GetItem(list, i) : PyList_GetItem(list, i);
        if (!item)
            return false;
        Py_INCREF(item);
        if (i > 0)
            put_literal(json, ",");
        put = put_value(json, item, &around);
        Py_DECREF(item);
    }
    put_literal(json, "]");
    return put;
}

/* The members of a set as a list. The iterator is that of sets, even if a subclass has another one.
 */
static PyObject *list_of_set(PyObject *set)
{
    getiterfunc iterate = (getiterfunc)PyType_GetSlot(&PySet_Type, Py_tp_iter);
    PyObject *iterator = iterate(set);
    PyObject *list = iterator ? PySequence_List(iterator) : NULL;
    Py_XDECREF(iterator);
    return list;
}

static bool put_container(mishap_buffer *json, PyObject *object, const json_around *outer)
{
    for (const json_around *level = outer; level; level = level->outer)
        if (level->container == object) {
            put_literal(json, "\"[circular]\"");
            return true;
        }
    if (outer && outer->depth >= DEEPEST_JSON) {
        put_literal(json, "\"[too deep]\"");
        return true;
    }
    if (PyDict_Check(object))
        return put_dict(json, object, outer);
    if (!PyAnySet_Check(object))
        return put_list(json, object, outer);
    PyObject *list = list_of_set(object);
    bool put = list && put_list(json, list, outer);
    Py_XDECREF(list);
    return put;
}

static bool is_container(PyObject *object)
{
    return PyDict_Check(object) || PyList_Check(object) || PyTuple_Check(object) ||
           PyAnySet_Check(object);
}

static bool is_text(PyObject *object)
{
    return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object);
}

static bool put_value(mishap_buffer *json, PyObject *object, const json_around *outer)
{
    if (object == Py_None)
        put_literal(json, "null");
    else if (PyBool_Check(object))
        put_literal(json, object == Py_True ? "true" : "false");
    else if (is_text(object))
        return put_text_of(json, object);
    else if (PyLong_Check(object))
        return put_int(json, object);
    else if (PyFloat_Check(object))
        return put_float(json, object);
    else if (is_container(object))
        return put_container(json, object, outer);
    else
        return put_text_of_anything(json, object);
    return true;
}

/* -- values ------------------------------------------------------------------------------------ */

static bool value_take_int(PyObject *number, held_text *held, mishap_value *out)
{
    int overflow;
    long long integer = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (integer == -1 && PyErr_Occurred())
        return false;
    if (!overflow) {
        *out = mishap_value_of_int(integer);
        return true;
    }
    PyObject *digits = digits_of(number);
    if (!digits)
        return false;
    bool taken = text_take(digits, "int", held);
    Py_DECREF(digits);
    if (taken) {
        *out = mishap_value_of_text(held->text);
        if (held->text.data[0] != '[')
            out->kind = MISHAP_KIND_JSON;
    }
    return taken;
}

static bool value_take_container(PyObject *object, mishap_buffer *json, mishap_value *out)
{
    mishap_buffer_reset(json);
    if (!put_container(json, object, NULL))
        return false;
    if (json->failed) {
        PyErr_NoMemory();
        return false;
    }
    *out = mishap_value_of_text(mishap_buffer_text(json));
    out->kind = MISHAP_KIND_JSON;
    if (json->length > LARGEST_JSON)
        *out = mishap_value_of_string("[too large]");
    return true;
}

bool value_take(PyObject *object, mishap_buffer *json, held_text *held, mishap_value *out)
{
    if (object == Py_None) {
        *out = mishap_value_of_string(NULL);
        return true;
    }
    if (PyBool_Check(object)) {
        *out = mishap_value_of_bool(object == Py_True);
        return true;
    }
    if (PyFloat_Check(object)) {
        *out = mishap_value_of_real(PyFloat_AsDouble(object));
        return true;
    }
    if (PyLong_Check(object))
        return value_take_int(object, held, out);
    if (is_container(object))
        return value_take_container(object, json, out);
    bool taken;
    if (is_text(object)) {
        taken = text_take(object, "text", held);
    } else {
        PyObject *text = text_of_anything(object);
        taken = text && text_take(text, "text", held);
        Py_XDECREF(text);
    }
    if (taken)
        *out = mishap_value_of_text(held->text);
    return taken;
}

/* JSON is read by Python's own module, which is imported only when it is needed. */
static PyObject *value_give_json(mishap_text text)
{
    PyObject *json = PyImport_ImportModule("json");
    PyObject *string = json ? text_give(text) : NULL;
    PyObject *object = string ? PyObject_CallMethod(json, "loads", "O", string) : NULL;
    Py_XDECREF(string);
    Py_XDECREF(json);
    return object;
}

PyObject *value_give(const mishap_value *value)
{
    switch (value->kind) {
    case MISHAP_KIND_BOOL:
        return PyBool_FromLong(value->boolean);
    case MISHAP_KIND_INT:
        return PyLong_FromLongLong(value->integer);
    case MISHAP_KIND_UINT:
        return PyLong_FromUnsignedLongLong(value->natural);
    case MISHAP_KIND_REAL:
        return PyFloat_FromDouble(value->real);
    case MISHAP_KIND_TEXT:
        return text_give(value->text);
    case MISHAP_KIND_JSON:
        return value_give_json(value->text);
    case MISHAP_KIND_NONE:
    case MISHAP_KIND_NULL:
        break;
    }
    Py_RETURN_NONE;
}
