/*
 * Known values, computed by CPython itself: exact by definition. An expression has the names a, b
 * and c for its operands; it is compiled once. Nothing of the user's code is run here.
 */
#include "base/python.h"

#include <stdio.h>
#include <string.h>

#include "machine/machine.h"

enum { MOST_EXPRESSIONS = 256, MOST_DIGITS = 4000 };

static PyObject *globals;
static struct {
    const char *expression; /* a literal, or text that is never freed */
    PyObject *code;
} compiled[MOST_EXPRESSIONS];
static size_t compiled_count;

static PyObject *code_of(const char *expression)
{
    for (size_t i = 0; i < compiled_count; i++)
        if (strcmp(compiled[i].expression, expression) == 0)
            return compiled[i].code;
    PyObject *code = Py_CompileString(expression, "<bridge>", Py_eval_input);
    char *kept = code && compiled_count < MOST_EXPRESSIONS ? strdup(expression) : NULL;
    if (kept) {
        compiled[compiled_count].expression = kept;
        compiled[compiled_count++].code = code;
    }
    return code;
}

static PyObject *to_python(machine *m, const value *v);

static PyObject *items_to_python(machine *m, const value *v)
{
    if (v->kind == V_SET && v->in.items.count > 1)
        path_unsupported(m, 0, "use sorted(…)", "the order of the items of a set");
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < v->in.items.count; i++) {
        PyObject *item = to_python(m, v->in.items.at[i]);
        if (!item || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    if (!list || v->kind == V_LIST)
        return list;
    PyObject *made = v->kind == V_TUPLE ? PyList_AsTuple(list)
                     : v->frozen        ? PyFrozenSet_New(list)
                                        : PySet_New(list);
    Py_DECREF(list);
    return made;
}

static PyObject *dict_to_python(machine *m, const value *v)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < v->in.items.count; i++) {
        PyObject *key = to_python(m, v->in.items.at[i]);
        PyObject *item = to_python(m, v->in.others.at[i]);
        if (!key || !item || PyDict_SetItem(dict, key, item) != 0)
            Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(item);
    }
    return dict;
}

static PyObject *bytes_to_python(machine *m, const value *v)
{
    const value *view = v->bytes.text;
    char *all = arena_take(m->arena, view->str.count + 1);
    for (size_t i = 0; i < view->str.count; i++)
        all[i] = (char)view->str.chars[i];
    return PyBytes_FromStringAndSize(all, (Py_ssize_t)view->str.count);
}

static PyObject *to_python(machine *m, const value *v)
{
    switch (v->kind) {
    case V_NONE:
        return Py_NewRef(Py_None);
    case V_BOOL:
        return PyBool_FromLong(v->truth);
    case V_INT:
        if (v->known)
            return PyLong_FromLongLong(v->number);
        if (strlen(Z3_get_numeral_string(m->solver->z, v->term)) > MOST_DIGITS)
            path_bound(m, "the size of an int");
        return PyLong_FromString(Z3_get_numeral_string(m->solver->z, v->term), NULL, 10);
    case V_FLOAT:
        return PyFloat_FromDouble(v->real);
    case V_STR:
        return PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, v->str.chars,
                                         (Py_ssize_t)v->str.count);
    case V_BYTES:
        return bytes_to_python(m, v);
    case V_DICT:
        return dict_to_python(m, v);
    default:
        return items_to_python(m, v);
    }
}

static value *from_python(machine *m, PyObject *object);

static value *items_from_python(machine *m, PyObject *object, value_kind kind)
{
    value *v = value_new(m, kind);
    PyObject *iterator = PyObject_GetIter(object), *item;
    while (iterator && (item = PyIter_Next(iterator))) {
        values_add(m, &v->in.items, from_python(m, item));
        if (kind == V_DICT)
            values_add(m, &v->in.others, from_python(m, PyDict_GetItem(object, item)));
        Py_DECREF(item);
    }
    Py_XDECREF(iterator);
    return v;
}

static value *text_from_python(machine *m, PyObject *object)
{
    bool bytes = PyBytes_Check(object);
    size_t count = (size_t)(bytes ? PyBytes_GET_SIZE(object) : PyUnicode_GET_LENGTH(object));
    if (count > MOST_CONCRETE_CHARS)
        path_bound(m, "the size of a str");
    uint32_t *chars = arena_take(m->arena, (count + 1) * sizeof *chars);
    for (size_t i = 0; i < count; i++)
        chars[i] = bytes ? (unsigned char)PyBytes_AS_STRING(object)[i]
                         : PyUnicode_READ_CHAR(object, (Py_ssize_t)i);
    value *view = value_str(m, chars, count);
    return bytes ? value_bytes(m, view) : view;
}

static value *from_python(machine *m, PyObject *object)
{
    if (object == Py_None)
        return value_none(m);
    if (PyBool_Check(object))
        return value_bool(m, object == Py_True);
    if (PyLong_Check(object)) {
        int overflow;
        long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (!overflow)
            return value_int(m, number);
        PyObject *digits = PyNumber_ToBase(object, 10);
        const char *words = digits ? PyUnicode_AsUTF8(digits) : NULL;
        PyErr_Clear();
        Z3_ast term = words ? Z3_mk_numeral(m->solver->z, words, m->solver->ints) : NULL;
        Py_XDECREF(digits);
        if (!term)
            path_bound(m, "the size of an int");
        return value_of_int(m, term);
    }
    if (PyFloat_Check(object))
        return value_float(m, PyFloat_AS_DOUBLE(object));
    if (PyUnicode_Check(object) || PyBytes_Check(object))
        return text_from_python(m, object);
    if (PyTuple_Check(object))
        return items_from_python(m, object, V_TUPLE);
    if (PyList_Check(object))
        return items_from_python(m, object, V_LIST);
    if (PyDict_Check(object))
        return items_from_python(m, object, V_DICT);
    if (PyAnySet_Check(object)) {
        value *set = items_from_python(m, object, V_SET);
        set->frozen = PyFrozenSet_Check(object);
        return set;
    }
    path_unsupported(m, 0, "use int, float, str or a container", "a value of type %s",
                     Py_TYPE(object)->tp_name);
}

/* The class of an exception that Python raised; its message is not used. */
static value *raised_by_python(machine *m, int line)
{
    PyObject *type = PyErr_Occurred();
    char name[64] = "RuntimeError";
    /* The engine itself ran out of memory, not the code. */
    if (type && PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear();
        path_bound(m, "memory");
    }
    if (type)
        snprintf(name, sizeof name, "%s", ((PyTypeObject *)type)->tp_name);
    PyErr_Clear();
    const char *dot = strrchr(name, '.');
    const char *class = dot ? dot + 1 : name;
    if (!exception_class(m, class))
        path_unsupported(m, line, NULL, "the exception %s", class);
    return throw(m, class, line);
}

bool bridge_has_builtin(const char *name)
{
    PyObject *all = PyEval_GetBuiltins();
    return all && PyDict_GetItemString(all, name) != NULL;
}

int bridge_import(const char *module, const char *name)
{
    PyObject *found = PyImport_ImportModule(module);
    int how = !found ? 0 : !name || PyObject_HasAttrString(found, name) ? 2 : 1;
    Py_XDECREF(found);
    PyErr_Clear();
    return how;
}

int bridge_attribute(const char *builtin_type, const char *name)
{
    PyObject *all = PyEval_GetBuiltins();
    PyObject *type_object = all ? PyDict_GetItemString(all, builtin_type) : NULL;
    PyObject *found = type_object ? PyObject_GetAttrString(type_object, name) : NULL;
    int how = !found ? 0 : PyCallable_Check(found) ? 1 : 2;
    Py_XDECREF(found);
    PyErr_Clear();
    return how;
}

static void open_globals(void)
{
    if (globals)
        return;
    globals = PyDict_New();
    PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins());
    PyObject *math = PyImport_ImportModule("math");
    if (math)
        PyDict_SetItemString(globals, "math", math);
    Py_XDECREF(math);
    PyErr_Clear();
}

bool bridge_define(const char *source)
{
    open_globals();
    PyObject *code = Py_CompileString(source, "<bridge>", Py_file_input);
    PyObject *result = code ? PyEval_EvalCode(code, globals, globals) : NULL;
    Py_XDECREF(code);
    Py_XDECREF(result);
    PyErr_Clear();
    return result != NULL;
}

value *bridge(machine *m, const char *expression, const values *given, int line)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    open_globals();
    PyObject *code = code_of(expression);
    PyObject *locals = PyDict_New();
    bool good = code && locals;
    for (size_t i = 0; good && i < given->count && i < sizeof names / sizeof *names; i++) {
        PyObject *operand = to_python(m, given->at[i]);
        good = operand && PyDict_SetItemString(locals, names[i], operand) == 0;
        Py_XDECREF(operand);
    }
    PyObject *result = good ? PyEval_EvalCode(code, globals, locals) : NULL;
    Py_XDECREF(locals);
    if (!result)
        return raised_by_python(m, line);
    /* If the path ends inside of this call, one object leaks until the process ends. */
    value *v = from_python(m, result);
    Py_DECREF(result);
    return v;
}

value *bridge_method(machine *m, value *self, const char *name, const arguments *given, int line)
{
    static const char *const operands[] = { "", "b", "b, c", "b, c, d" };
    values all = { 0 };
    values_add(m, &all, self);
    for (size_t i = 0; i < given->places.count; i++)
        values_add(m, &all, given->places.at[i]);
    return bridge(m, arena_print(m->arena, "a.%s(%s)", name, operands[given->places.count]), &all,
                  line);
}
