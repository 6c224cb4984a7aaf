/*
 * Known values, computed by CPython itself: exact by definition. An expression has the names a, b
 * and c for its operands; it is compiled once. Nothing of the user's code is run here.
 *
 * A call into CPython may also fail for a reason of the engine: it has no memory left, it was
 * interrupted, a file of a module could not be read. Such a failure is never an exception of the
 * code: the path ends, and nothing is decided (bridge_give_up).
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

/* -- failures of the engine -------------------------------------------------------------------- */

static char failed_with[64]; /* the class of the exception; empty: none is kept */

/* The class of the exception that Python raised, without its module. */
static const char *raised_class(void)
{
    static char name[64];
    PyObject *type = PyErr_Occurred();
    snprintf(name, sizeof name, "%s", type ? ((PyTypeObject *)type)->tp_name : "no exception");
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Clear the exception, and keep its class for bridge_failure(). */
static int failed(void)
{
    snprintf(failed_with, sizeof failed_with, "%s", raised_class());
    PyErr_Clear();
    return -1;
}

const char *bridge_failure(void)
{
    return failed_with;
}

_Noreturn void bridge_give_up(machine *m, int line, const char *what)
{
    if (PyErr_Occurred())
        failed();
    if (strcmp(failed_with, "MemoryError") == 0)
        path_bound(m, "memory");
    path_unsupported(m, line, NULL, "%s, which Python ended with %s for a reason of the engine",
                     what, failed_with);
}

/* Python raised an exception: true if it is of this class, which is then an answer. */
static bool is_answer(PyObject *class)
{
    if (!PyErr_ExceptionMatches(class))
        return false;
    PyErr_Clear();
    return true;
}

/* -- values ------------------------------------------------------------------------------------ */

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
        PyObject *other = kind == V_DICT ? PyDict_GetItemWithError(object, item) : NULL;
        if (other)
            values_add(m, &v->in.others, from_python(m, other));
        else if (kind == V_DICT)
            bridge_give_up(m, 0, "the items of a dict");
        Py_DECREF(item);
    }
    if (!iterator || PyErr_Occurred())
        bridge_give_up(m, 0, "the items of a container");
    Py_DECREF(iterator);
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

/* The class of an exception that an operation on known values raised; its message is not used. */
static value *raised_by_python(machine *m, int line)
{
    /* No operation of the code raises these here. The names of an expression exist, an import is
     * one of the engine, and the depth of calls is that of the engine, not that of the code. */
    PyObject *const own[] = { PyExc_MemoryError, PyExc_RecursionError, PyExc_SystemError,
                              PyExc_NameError,   PyExc_ImportError,    PyExc_SyntaxError,
                              PyExc_OSError };
    bool is_own = !PyErr_Occurred() || !PyErr_ExceptionMatches(PyExc_Exception);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        is_own = is_own || PyErr_ExceptionMatches(own[i]);
    if (is_own)
        bridge_give_up(m, line, "an operation");
    const char *class = raised_class();
    PyErr_Clear();
    if (!exception_class(m, class))
        path_unsupported(m, line, NULL, "the exception %s", class);
    return throw(m, class, line);
}

/* -- what Python has --------------------------------------------------------------------------- */

/* A new reference; NULL without an exception: there is none. */
static PyObject *builtin_named(const char *name)
{
    PyObject *all = PyEval_GetBuiltins();
    PyObject *key = all ? PyUnicode_FromString(name) : NULL;
    PyObject *found = key ? PyDict_GetItemWithError(all, key) : NULL;
    Py_XINCREF(found);
    Py_XDECREF(key);
    return found;
}

int bridge_has_builtin(const char *name)
{
    PyObject *found = builtin_named(name);
    int has = found ? 1 : PyErr_Occurred() ? failed() : 0;
    Py_XDECREF(found);
    return has;
}

/* The module, with its submodule `name` if it has one; NULL: not imported, with an exception. */
static PyObject *imported(const char *module, const char *name)
{
    PyObject *names = name ? Py_BuildValue("(s)", name) : PyTuple_New(0);
    /* Without names it would be the first part of a.b. */
    PyObject *found = !names ? NULL
                      : name ? PyImport_ImportModuleLevel(module, NULL, NULL, names, 0)
                             : PyImport_ImportModule(module);
    Py_XDECREF(names);
    return found;
}

int bridge_import(const char *module, const char *name)
{
    PyObject *found = imported(module, name);
    if (!found)
        return is_answer(PyExc_ModuleNotFoundError) ? 0
               : is_answer(PyExc_ImportError)       ? 1
                                                    : failed();
    PyObject *member = name ? PyObject_GetAttrString(found, name) : Py_NewRef(found);
    int how = member ? 2 : is_answer(PyExc_AttributeError) ? 1 : failed();
    Py_XDECREF(member);
    Py_DECREF(found);
    return how;
}

int bridge_exception(const char *module, const char *name)
{
    PyObject *found = imported(module, NULL);
    PyObject *class = found ? PyObject_GetAttrString(found, name) : NULL;
    bool is_none = !class && (is_answer(PyExc_ImportError) || is_answer(PyExc_AttributeError));
    int is_one = class ? PyExceptionClass_Check(class) : is_none ? 0 : failed();
    Py_XDECREF(class);
    Py_XDECREF(found);
    return is_one;
}

int bridge_attribute(const char *builtin_type, const char *name)
{
    PyObject *type_object = builtin_named(builtin_type);
    PyObject *found = type_object ? PyObject_GetAttrString(type_object, name) : NULL;
    bool is_none = !found && (type_object ? is_answer(PyExc_AttributeError) : !PyErr_Occurred());
    int how = found ? PyCallable_Check(found) ? 1 : 2 : is_none ? 0 : failed();
    Py_XDECREF(found);
    Py_XDECREF(type_object);
    return how;
}

/* -- expressions ------------------------------------------------------------------------------- */

/* False: with an exception. They are kept only if they are complete. */
static bool open_globals(void)
{
    if (globals)
        return true;
    PyObject *made = PyDict_New(), *all = PyEval_GetBuiltins();
    PyObject *math = made && all ? PyImport_ImportModule("math") : NULL;
    if (math && PyDict_SetItemString(made, "__builtins__", all) == 0 &&
        PyDict_SetItemString(made, "math", math) == 0)
        globals = Py_NewRef(made);
    Py_XDECREF(math);
    Py_XDECREF(made);
    return globals != NULL;
}

bool bridge_define(machine *m, const char *source)
{
    bool opened = open_globals();
    PyObject *code = opened ? Py_CompileString(source, "<bridge>", Py_file_input) : NULL;
    PyObject *result = code ? PyEval_EvalCode(code, globals, globals) : NULL;
    Py_XDECREF(code);
    Py_XDECREF(result);
    if (!result && !is_answer(PyExc_ImportError) && !is_answer(PyExc_AttributeError))
        bridge_give_up(m, 0, "the start of a library");
    return result != NULL;
}

value *bridge(machine *m, const char *expression, const values *given, int line)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    PyObject *code = open_globals() ? code_of(expression) : NULL;
    PyObject *locals = code ? PyDict_New() : NULL;
    bool good = locals != NULL;
    for (size_t i = 0; good && i < given->count && i < sizeof names / sizeof *names; i++) {
        PyObject *operand = to_python(m, given->at[i]);
        good = operand && PyDict_SetItemString(locals, names[i], operand) == 0;
        Py_XDECREF(operand);
    }
    if (!good)
        bridge_give_up(m, line, "the operands of an operation");
    PyObject *result = PyEval_EvalCode(code, globals, locals);
    Py_DECREF(locals);
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
