/*
 * The type behind `class Mishap(Exception)`.
 *
 * The state lies behind that of Exception, whose size is known only at run time: the limited API
 * does not tell it. `Mishap` itself is an ordinary class below that type, so that Python's own code
 * frees it, which can free a chain of any length without using up the stack.
 */
#include "binding.h"

#include <math.h>
#include <stdalign.h>

static PyTypeObject *base_type;
PyObject *exception_class;
static Py_ssize_t state_offset;
static newfunc exception_new;
static traverseproc exception_traverse;
static inquiry exception_clear;
static destructor exception_dealloc;

static const char *const part_names[PARTS] = {
    [PART_MESSAGE] = "message",     [PART_CONTEXT] = "context",
    [PART_FIELDS] = "fields",       [PART_SUGGESTION] = "suggestion",
    [PART_REASON] = "reason",       [PART_DOCS] = "docs",
    [PART_RETRYABLE] = "retryable", [PART_RETRY_AFTER] = "retry_after",
    [PART_INCIDENT] = "incident",   [PART_CATEGORY] = "category",
    [PART_NOTES] = "notes",
};
static PyObject *part_keys[PARTS]; /* the same as interned str */

exception_state *exception_state_of(PyObject *self)
{
    return (exception_state *)(void *)((char *)self + state_offset);
}

bool exception_is(PyObject *object)
{
    return PyObject_TypeCheck(object, base_type);
}

const mishap_code *exception_code(const exception_state *state)
{
    return state->code ? state->code : mishap_code_find((mishap_text)MISHAP_TEXT("INTERNAL_ERROR"));
}

/* -- what a part may be ------------------------------------------------------------------------ */

static bool part_refused(exception_part part, const char *expected, PyObject *value)
{
    PyErr_Format(PyExc_TypeError, "%s must be %s, not %R", part_names[part], expected,
                 Py_TYPE(value));
    return false;
}

static bool part_is_text(exception_part part, PyObject *value)
{
    return PyUnicode_Check(value) || PyBytes_Check(value) || part_refused(part, "str", value);
}

static bool fields_are_valid(PyObject *fields)
{
    if (!PyList_Check(fields) && !PyTuple_Check(fields))
        return part_refused(PART_FIELDS, "a list of dicts", fields);
    for (Py_ssize_t i = 0; i < fields_count(fields); i++) {
        PyObject *field = fields_item(fields, i);
        if (!field)
            return false;
        bool valid = field_is_valid(field);
        Py_DECREF(field);
        if (!valid && PyErr_Occurred())
            return false;
        if (!valid) {
            PyErr_Format(PyExc_TypeError, "fields[%zd] must be a dict with a str \"field\"", i);
            return false;
        }
    }
    return true;
}

bool retry_after_take(PyObject *value, double *seconds)
{
    if (PyBool_Check(value) || (!PyLong_Check(value) && !PyFloat_Check(value)))
        return part_refused(PART_RETRY_AFTER, "a number of seconds", value);
    *seconds = PyFloat_AsDouble(value);
    if (PyErr_Occurred() || !isfinite(*seconds) || *seconds < 0 || *seconds > 1e9) {
        PyErr_Clear();
        PyErr_SetString(PyExc_ValueError, "retry_after must be between 0 and 1e9 seconds");
        return false;
    }
    return true;
}

static bool category_is_valid(PyObject *value)
{
    held_text held = { 0 };
    if (!text_take(value, "category", &held))
        return false;
    mishap_category category;
    bool known = mishap_category_find(held.text, &category);
    text_release(&held);
    if (!known)
        PyErr_Format(PyExc_ValueError,
                     "Unknown category %R. The categories are validation, permission, resource, "
                     "execution and system.",
                     value);
    return known;
}

static bool retry_after_is_valid(PyObject *value)
{
    double seconds;
    return retry_after_take(value, &seconds);
}

static bool part_is_valid(exception_part part, PyObject *value)
{
    switch (part) {
    case PART_CONTEXT:
    case PART_NOTES:
        return PyDict_Check(value) || part_refused(part, "a dict", value);
    case PART_FIELDS:
        return fields_are_valid(value);
    case PART_RETRYABLE:
        return PyBool_Check(value) || part_refused(part, "a bool", value);
    case PART_RETRY_AFTER:
        return retry_after_is_valid(value);
    case PART_CATEGORY:
        return category_is_valid(value);
    default:
        return part_is_text(part, value);
    }
}

/* None means absent. The value is held first: to check it may run code of the program. */
static bool part_set(exception_state *state, exception_part part, PyObject *value)
{
    if (value == Py_None)
        value = NULL;
    Py_XINCREF(value);
    if (value && !part_is_valid(part, value)) {
        Py_DECREF(value);
        return false;
    }
    PyObject *old = state->parts[part];
    state->parts[part] = value;
    Py_XDECREF(old);
    return true;
}

/* -- codes ------------------------------------------------------------------------------------- */

const mishap_code *code_take(PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "code must be str, not %R", Py_TYPE(name));
        return NULL;
    }
    held_text held = { 0 };
    if (!text_take(name, "code", &held))
        return NULL;
    const mishap_code *code = mishap_code_find(held.text);
    if (!code) {
        mishap_text nearest = mishap_code_nearest(held.text);
        PyObject *hint = text_give(nearest);
        if (hint && nearest.length)
            PyErr_Format(PyExc_TypeError, "Unknown code %R. Did you mean %U?", name, hint);
        else if (hint)
            PyErr_Format(PyExc_TypeError, "Unknown code %R.", name);
        Py_XDECREF(hint);
    }
    text_release(&held);
    return code;
}

PyObject *code_give(const mishap_code *code)
{
    PyObject *name = text_give(code->name);
    if (name)
        PyUnicode_InternInPlace(&name);
    return name;
}

/* -- the type ---------------------------------------------------------------------------------- */

static PyObject *mishap_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)keywords; /* for __init__ */
    return exception_new(type, args, NULL);
}

static bool keyword_set(exception_state *state, PyObject *key, PyObject *value)
{
    for (int part = 0; part < PARTS; part++)
        if (key == part_keys[part])
            return part_set(state, (exception_part)part, value);
    for (int part = 0; part < PARTS && PyUnicode_Check(key); part++)
        if (PyUnicode_Compare(key, part_keys[part]) == 0)
            return part_set(state, (exception_part)part, value);
    PyErr_Format(PyExc_TypeError, "Mishap() has no argument %R", key);
    return false;
}

static int mishap_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    exception_state *state = exception_state_of(self);
    Py_ssize_t count = PyTuple_Size(args);
    if (count < 1 || count > 2) {
        PyErr_SetString(PyExc_TypeError,
                        "Mishap() takes a code, a message if there is one, and keywords");
        return -1;
    }
    const mishap_code *code = code_take(PyTuple_GetItem(args, 0));
    if (!code)
        return -1;
    state->code = code;
    if (count == 2 && !part_set(state, PART_MESSAGE, PyTuple_GetItem(args, 1)))
        return -1;
    Py_ssize_t position = 0;
    PyObject *key, *value;
    while (keywords && PyDict_Next(keywords, &position, &key, &value))
        if (!keyword_set(state, key, value))
            return -1;
    return 0;
}

static int mishap_traverse(PyObject *self, visitproc visit, void *arg)
{
    exception_state *state = exception_state_of(self);
    for (int part = 0; part < PARTS; part++)
        Py_VISIT(state->parts[part]);
    Py_VISIT(Py_TYPE(self));
    return exception_traverse(self, visit, arg);
}

static int mishap_clear(PyObject *self)
{
    exception_state *state = exception_state_of(self);
    for (int part = 0; part < PARTS; part++)
        Py_CLEAR(state->parts[part]);
    return exception_clear(self);
}

static void mishap_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    exception_state *state = exception_state_of(self);
    for (int part = 0; part < PARTS; part++)
        Py_CLEAR(state->parts[part]);
    PyMem_Free(state->own);
    PyObject_GC_Track(self); /* Python 3.10 untracks it again, and must find it tracked */
    exception_dealloc(self);
    Py_DECREF(type);
}

/* The message of the occurrence, or else that of the catalog: for the operator. */
static PyObject *message_get(PyObject *self, void *unused)
{
    (void)unused;
    exception_state *state = exception_state_of(self);
    PyObject *message = state->parts[PART_MESSAGE];
    if (!message)
        return text_give(exception_code(state)->message);
    if (PyUnicode_Check(message)) {
        Py_INCREF(message);
        return message;
    }
    held_text held = { 0 };
    if (!text_take(message, "message", &held))
        return NULL;
    PyObject *text = text_give(held.text);
    text_release(&held);
    return text;
}

static PyObject *mishap_str(PyObject *self)
{
    return message_get(self, NULL);
}

static PyObject *code_get(PyObject *self, void *unused)
{
    (void)unused;
    return code_give(exception_code(exception_state_of(self)));
}

static PyObject *part_get(PyObject *self, void *closure)
{
    exception_part part = (exception_part)(intptr_t)closure;
    exception_state *state = exception_state_of(self);
    PyObject *value = state->parts[part];
    if (!value && (part == PART_CONTEXT || part == PART_NOTES || part == PART_FIELDS)) {
        /* Made when it is asked for, so that e.context["x"] = 1 works. */
        value = part == PART_FIELDS ? PyList_New(0) : PyDict_New();
        if (!value)
            return NULL;
        state->parts[part] = value;
    }
    if (!value)
        Py_RETURN_NONE;
    Py_INCREF(value);
    return value;
}

static int part_put(PyObject *self, PyObject *value, void *closure)
{
    exception_part part = (exception_part)(intptr_t)closure;
    return part_set(exception_state_of(self), part, value ? value : Py_None) ? 0 : -1;
}

static PyObject *category_get(PyObject *self, void *unused)
{
    (void)unused;
    exception_state *state = exception_state_of(self);
    PyObject *own = state->parts[PART_CATEGORY];
    if (own) {
        Py_INCREF(own);
        return own;
    }
    return PyUnicode_FromString(mishap_category_name(exception_code(state)->category));
}

static PyObject *retryable_get(PyObject *self, void *unused)
{
    (void)unused;
    exception_state *state = exception_state_of(self);
    PyObject *own = state->parts[PART_RETRYABLE];
    if (own)
        return PyBool_FromLong(own == Py_True);
    return PyBool_FromLong(
        state->parts[PART_RETRY_AFTER] ||
        (!state->parts[PART_CATEGORY] && exception_code(state)->retry == MISHAP_RETRY_YES));
}

static PyObject *retry_after_get(PyObject *self, void *unused)
{
    (void)unused;
    exception_state *state = exception_state_of(self);
    PyObject *own = state->parts[PART_RETRY_AFTER];
    if (own) {
        Py_INCREF(own);
        return own;
    }
    int64_t advice = exception_code(state)->retry_after_ms;
    if (advice < 0 || state->parts[PART_CATEGORY] || state->parts[PART_RETRYABLE] == Py_False)
        Py_RETURN_NONE;
    return PyFloat_FromDouble((double)advice / 1000);
}

static PyObject *status_get(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(exception_code(exception_state_of(self))->http_status);
}

static PyObject *exit_code_get(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(exception_code(exception_state_of(self))->exit_code);
}

static PyObject *title_get(PyObject *self, void *unused)
{
    (void)unused;
    return text_give(exception_code(exception_state_of(self))->title);
}

static PyObject *cause_get(PyObject *self, void *unused)
{
    (void)unused;
    return PyObject_GetAttrString(self, "__cause__");
}

static int cause_put(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    return PyObject_SetAttrString(self, "__cause__", value ? value : Py_None);
}

#define PART(name, part, doc)                                                                      \
    {                                                                                              \
        name, part_get, part_put, doc, (void *)(intptr_t)(part)                                    \
    }
static PyGetSetDef mishap_attributes[] = {
    { "code", code_get, NULL, "The name of the code, such as NOT_FOUND.", NULL },
    { "message", message_get, part_put,
      "The sentence for the caller; private under INTERNAL_ERROR.",
      (void *)(intptr_t)PART_MESSAGE },
    PART("context", PART_CONTEXT, "Named values for the caller."),
    PART("fields", PART_FIELDS, "What is wrong with each field of the input."),
    PART("suggestion", PART_SUGGESTION, "What the caller can do; None: the catalog's."),
    PART("reason", PART_REASON, "One line about the cause, for the caller."),
    PART("docs", PART_DOCS, "The address of the documentation."),
    { "retryable", retryable_get, part_put, "Whether the same call may work later.",
      (void *)(intptr_t)PART_RETRYABLE },
    { "retry_after", retry_after_get, part_put, "After how many seconds the caller may try again.",
      (void *)(intptr_t)PART_RETRY_AFTER },
    PART("incident", PART_INCIDENT, "The id of the operator's record."),
    { "category", category_get, part_put, "validation, permission, resource, execution or system.",
      (void *)(intptr_t)PART_CATEGORY },
    PART("notes", PART_NOTES, "Named values for the operator alone."),
    { "cause", cause_get, cause_put, "The exception behind `raise ... from`; private.", NULL },
    { "status", status_get, NULL, "The HTTP status of the code.", NULL },
    { "exit_code", exit_code_get, NULL, "The exit code of the code.", NULL },
    { "title", title_get, NULL, "The kind of failure in a few words.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

/* The names of arguments: Python takes them as text that is not constant. */
static char word_dialect[] = "dialect";

/* -- methods ----------------------------------------------------------------------------------- */

static PyObject *render_as(PyObject *self, const render_request *request, bool as_bytes,
                           bool *replaced)
{
    char storage[4096];
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, storage, sizeof storage);
    mishap_text document;
    PyObject *result = NULL;
    if (exception_render(self, request, &buffer, &document, replaced))
        result = as_bytes ? PyBytes_FromStringAndSize(document.data, (Py_ssize_t)document.length)
                          : text_give(document);
    mishap_buffer_release(&buffer);
    return result;
}

static PyObject *mishap_render_method(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = { word_dialect, NULL };
    PyObject *dialect = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:render", names, &dialect))
        return NULL;
    render_request request = { .dialect = dialect_take(dialect) };
    return request.dialect ? render_as(self, &request, false, NULL) : NULL;
}

/* _answer(dialect, incident, strict, known) -> (bytes, replaced): for the adapters. */
static PyObject *mishap_answer_method(PyObject *self, PyObject *args)
{
    PyObject *dialect, *incident, *known;
    int strict;
    if (!PyArg_ParseTuple(args, "OOpO:_answer", &dialect, &incident, &strict, &known))
        return NULL;
    render_request request = { .dialect = dialect_take(dialect),
                               .guarded = true,
                               .strict = strict };
    if (!request.dialect)
        return NULL;
    request.known = known == Py_None ? NULL : known;
    if (incident != Py_None && !text_take(incident, "incident", &request.incident))
        return NULL;
    bool replaced = false;
    PyObject *document = render_as(self, &request, true, &replaced);
    text_release(&request.incident);
    if (!document)
        return NULL;
    return Py_BuildValue("(NO)", document, replaced ? Py_True : Py_False);
}

/* The parts as a dict, for pickle and copy. */
static PyObject *parts_as_dict(const exception_state *state)
{
    PyObject *dict = PyDict_New();
    for (int part = 0; dict && part < PARTS; part++)
        if (state->parts[part] && PyDict_SetItem(dict, part_keys[part], state->parts[part]) < 0)
            Py_CLEAR(dict);
    return dict;
}

static PyObject *mishap_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    exception_state *state = exception_state_of(self);
    PyObject *args = PyObject_GetAttrString(self, "args");
    PyObject *own = args ? PyObject_GetAttrString(self, "__dict__") : NULL;
    PyObject *parts = own ? parts_as_dict(state) : NULL;
    PyObject *reduced = NULL;
    if (parts && state->own && state->code == state->own)
        reduced = foreign_reduce(self, parts, own);
    else if (parts)
        reduced = Py_BuildValue("(OO(OO))", (PyObject *)Py_TYPE(self), args, parts, own);
    Py_XDECREF(parts);
    Py_XDECREF(own);
    Py_XDECREF(args);
    return reduced;
}

static PyObject *mishap_setstate(PyObject *self, PyObject *pair)
{
    PyObject *parts, *own;
    if (!PyArg_ParseTuple(pair, "O!O!:__setstate__", &PyDict_Type, &parts, &PyDict_Type, &own))
        return NULL;
    Py_ssize_t position = 0;
    PyObject *key, *value;
    while (PyDict_Next(parts, &position, &key, &value))
        if (!keyword_set(exception_state_of(self), key, value))
            return NULL;
    PyObject *dict = PyObject_GetAttrString(self, "__dict__");
    int updated = dict ? PyDict_Update(dict, own) : -1;
    Py_XDECREF(dict);
    if (updated < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef mishap_methods[] = {
    { "render", (PyCFunction)(void (*)(void))mishap_render_method, METH_VARARGS | METH_KEYWORDS,
      "render(dialect='problem') -> str\n\nThe public side as a document." },
    { "_answer", mishap_answer_method, METH_VARARGS, NULL },
    { "__reduce__", mishap_reduce, METH_NOARGS, NULL },
    { "__setstate__", mishap_setstate, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

/* -- making ------------------------------------------------------------------------------------ */

static bool base_take(Py_ssize_t *size)
{
    PyTypeObject *exception = (PyTypeObject *)PyExc_Exception;
    PyObject *basicsize = PyObject_GetAttrString(PyExc_Exception, "__basicsize__");
    *size = basicsize ? PyLong_AsSsize_t(basicsize) : -1;
    Py_XDECREF(basicsize);
    if (*size < 0)
        return false;
    exception_new = (newfunc)PyType_GetSlot(exception, Py_tp_new);
    exception_traverse = (traverseproc)PyType_GetSlot(exception, Py_tp_traverse);
    exception_clear = (inquiry)PyType_GetSlot(exception, Py_tp_clear);
    exception_dealloc = (destructor)PyType_GetSlot(exception, Py_tp_dealloc);
    for (int part = 0; part < PARTS; part++)
        if (!(part_keys[part] = PyUnicode_InternFromString(part_names[part])))
            return false;
    return true;
}

static PyTypeObject *base_make(Py_ssize_t size)
{
    PyType_Slot slots[] = {
        { Py_tp_new, (void *)mishap_new },
        { Py_tp_init, (void *)mishap_init },
        { Py_tp_traverse, (void *)mishap_traverse },
        { Py_tp_clear, (void *)mishap_clear },
        { Py_tp_dealloc, (void *)mishap_dealloc },
        { Py_tp_str, (void *)mishap_str },
        { Py_tp_methods, mishap_methods },
        { Py_tp_getset, mishap_attributes },
        { 0, NULL },
    };
    PyType_Spec spec = {
        .name = "mishap._mishap.Base",
        .basicsize = (int)(size + (Py_ssize_t)sizeof(exception_state)),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
        .slots = slots,
    };
    return (PyTypeObject *)PyType_FromSpecWithBases(&spec, PyExc_Exception);
}

bool exception_types_make(PyObject *module)
{
    Py_ssize_t size;
    if (!base_take(&size) || !field_keys_make())
        return false;
    Py_ssize_t alignment = alignof(exception_state);
    state_offset = (size + alignment - 1) / alignment * alignment;
    base_type = base_make(state_offset);
    if (!base_type)
        return false;
    exception_class = PyObject_CallFunction(
        (PyObject *)&PyType_Type, "s(O){s:s,s:s,s:()}", "Mishap", (PyObject *)base_type,
        "__module__", "mishap", "__doc__",
        "One failure, with a public and a private side.\n\n"
        "Mishap(code, message=None, *, context=None, fields=None, suggestion=None, reason=None,\n"
        "       docs=None, retryable=None, retry_after=None, incident=None, category=None,\n"
        "       notes=None)",
        "__slots__");
    if (!exception_class)
        return false;
    Py_INCREF(exception_class);
    return PyModule_AddObject(module, "Mishap", exception_class) == 0;
}
