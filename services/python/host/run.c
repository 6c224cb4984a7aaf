/* The operations: `run` for artifacts, with JSON values, and `call` for a replay, with Python
 * literals. */
#include "host.h"

#include <stdlib.h>
#include <string.h>

/* sys.set_int_max_str_digits(), saved before the code can replace it. */
static PyObject *limit_digits;
static PyObject *names; /* the names that an argument of a replay may contain */

enum { USUAL_DIGITS = 4300 };

bool prepare_operations(void)
{
    static const char *const known[] = { "set",   "frozenset", "float", "complex",
                                         "range", "bytearray", "bytes" };
    PyObject *builtins = PyEval_GetBuiltins(), *nan = PyFloat_FromDouble(Py_NAN),
             *inf = PyFloat_FromDouble(Py_HUGE_VAL), *none = PyDict_New();
    limit_digits = Py_XNewRef(PySys_GetObject("set_int_max_str_digits"));
    names = PyDict_New();
    bool done = limit_digits && names && nan && inf && none &&
                PyDict_SetItemString(names, "__builtins__", none) == 0 &&
                PyDict_SetItemString(names, "nan", nan) == 0 &&
                PyDict_SetItemString(names, "inf", inf) == 0;
    for (size_t i = 0; i < sizeof known / sizeof *known && done; i++) {
        PyObject *type = PyDict_GetItemString(builtins, known[i]);
        done = type && PyDict_SetItemString(names, known[i], type) == 0;
    }
    Py_XDECREF(nan);
    Py_XDECREF(inf);
    Py_XDECREF(none);
    return done;
}

/* 0: no limit for the length of an int. */
static void set_digits(int most)
{
    PyObject *done = PyObject_CallFunction(limit_digits, "i", most);
    if (!done)
        PyErr_Clear();
    Py_XDECREF(done);
}

/* -- the code ---------------------------------------------------------------------------------- */

static const char *text_of(yyjson_val *arguments, const char *name)
{
    const char *words = yyjson_get_str(yyjson_obj_get(arguments, name));
    return words ? words : "";
}

/* Code that was compiled in advance; the call may have other code. */
static struct {
    const char *words;
    PyObject *compiled;
} expected;

void expect_code(const char *code)
{
    PyCompilerFlags flags = { .cf_flags = PyCF_IGNORE_COOKIE,
                              .cf_feature_version = PY_MINOR_VERSION };
    expected.compiled = Py_CompileStringExFlags(code, CODE_FILE, Py_file_input, &flags, -1);
    expected.words = code;
    PyErr_Clear(); /* the call will report what is wrong with it */
}

static PyObject *compile(yyjson_val *arguments, const char *code)
{
    PyCompilerFlags flags = { .cf_flags = PyCF_IGNORE_COOKIE,
                              .cf_feature_version = PY_MINOR_VERSION };
    if (expected.compiled && strcmp(code, expected.words) == 0)
        return Py_NewRef(expected.compiled);
    if (strlen(code) != yyjson_get_len(yyjson_obj_get(arguments, "code")))
        fail_words("SYNTAX_ERROR", "syntax", "source code cannot contain null bytes", NULL, "");
    PyObject *compiled = Py_CompileStringExFlags(code, CODE_FILE, Py_file_input, &flags, -1);
    if (compiled)
        return compiled;
    PyObject *exception = take_exception();
    if (PyErr_GivenExceptionMatches(exception, PyExc_MemoryError))
        fail_words("SYNTAX_ERROR", "syntax", "The code is nested too deep, or too long.", NULL, "");
    fail_syntax(exception, code);
}

/* Run the code as a module; returns the names that it defines. */
static PyObject *load_module(yyjson_val *arguments, const char *code)
{
    PyObject *compiled = compile(arguments, code), *module = PyImport_AddModule(CODE_MODULE);
    PyObject *defined = module ? PyModule_GetDict(module) : NULL;
    if (!defined || PyDict_SetItemString(defined, "__builtins__", PyEval_GetBuiltins()) != 0)
        fail_runtime(take_exception(), code);
    announce_code();
    PyObject *done = PyEval_EvalCode(compiled, defined, defined);
    if (!done)
        fail_runtime(take_exception(), code);
    Py_DECREF(done);
    Py_DECREF(compiled);
    return Py_NewRef(defined); /* the code may have removed its module */
}

static PyObject *find_function(PyObject *defined, const char *name)
{
    PyObject *found = PyDict_GetItemString(defined, name);
    char words[300];
    if (found && PyCallable_Check(found))
        return found;
    snprintf(words, sizeof words, "The code does not define a function %.*s.", (int)MOST_NAME,
             name);
    if (!found)
        fail_words("RUNTIME_ERROR", "missing", words, NULL, "");
    snprintf(words, sizeof words, "The name %.*s is no function: it has the type ", (int)MOST_NAME,
             name);
    fail_words("RUNTIME_ERROR", "missing", words, Py_TYPE(found), ".");
}

static void begin_answer(text *t)
{
    put_words(t, "{\"id\":");
    put_number(t, current_id());
    put_words(t, ",\"last\":true,\"answer\":{");
}

static _Noreturn void end_answer(text *t)
{
    bool cut = put_output(t, true);
    put_words(t, cut ? ",\"cut\":true}}" : "}}");
    finish(t);
}

/* -- run --------------------------------------------------------------------------------------- */

static PyObject *json_arguments(yyjson_val *arguments)
{
    yyjson_val *given = yyjson_obj_get(arguments, "args");
    if (!given)
        return PyTuple_New(0);
    yyjson_doc *doc = yyjson_read(yyjson_get_str(given), yyjson_get_len(given),
                                  YYJSON_READ_BIGNUM_AS_RAW);
    if (!yyjson_is_arr(yyjson_doc_get_root(doc)))
        fail_words("INVALID_ARGUMENT", "argument", "The arguments are not a JSON array.", NULL, "");
    PyObject *list = from_json(yyjson_doc_get_root(doc), 0);
    PyObject *all = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    yyjson_doc_free(doc);
    if (!all)
        fail_words("INVALID_ARGUMENT", "argument",
                   "The arguments are nested too deep, or have a number that is too long.", NULL,
                   "");
    return all;
}

_Noreturn void operation_run(yyjson_val *arguments)
{
    text t = { 0 };
    PyTypeObject *type = NULL;
    const char *code = text_of(arguments, "code");
    PyObject *all = json_arguments(arguments), *defined = load_module(arguments, code);
    PyObject *result = PyObject_CallObject(find_function(defined, "run"), all);
    if (!result)
        fail_runtime(take_exception(), code);
    limit_memory(0);
    begin_answer(&t);
    put_words(&t, "\"result\":");
    const char *wrong = to_json(&t, result, 0, &type);
    if (!wrong && t.length > MOST_RESULT)
        wrong = "more than 1 MiB of JSON";
    if (wrong) {
        char words[200];
        snprintf(words, sizeof words, "The function run returned %s", wrong);
        fail_words("RUNTIME_ERROR", "result", words, type,
                   type ? ", which JSON does not have." : ".");
    }
    end_answer(&t);
}

/* -- call -------------------------------------------------------------------------------------- */

/* True if an expression uses only the names that an argument may contain. Names of attributes are
 * checked, too, so it can reach no other object; a lambda or a comprehension is refused, since it
 * has code of its own. Arguments are evaluated before the code of the caller is announced, so they
 * must not be code. */
static bool is_plain(PyObject *compiled)
{
    PyObject *used = PyObject_GetAttrString(compiled, "co_names");
    PyObject *constants = PyObject_GetAttrString(compiled, "co_consts");
    bool plain = used && constants;
    for (Py_ssize_t i = 0; plain && i < PyTuple_GET_SIZE(used); i++)
        plain = PyDict_Contains(names, PyTuple_GET_ITEM(used, i)) == 1;
    for (Py_ssize_t i = 0; plain && i < PyTuple_GET_SIZE(constants); i++)
        plain = !PyCode_Check(PyTuple_GET_ITEM(constants, i));
    Py_XDECREF(used);
    Py_XDECREF(constants);
    return plain;
}

static PyObject *literal(yyjson_val *value, const char *name)
{
    char words[300];
    const char *expression = yyjson_get_str(value);
    PyObject *found = NULL;
    PyCompilerFlags flags = { .cf_flags = PyCF_IGNORE_COOKIE,
                              .cf_feature_version = PY_MINOR_VERSION };
    if (expression && strlen(expression) == yyjson_get_len(value)) {
        PyObject *compiled = Py_CompileStringExFlags(expression, "<argument>", Py_eval_input,
                                                     &flags, -1);
        found = compiled && is_plain(compiled) ? PyEval_EvalCode(compiled, names, names) : NULL;
        Py_XDECREF(compiled);
    }
    if (found)
        return found;
    PyErr_Clear();
    snprintf(words, sizeof words, "The argument %.*s is not a Python literal.", (int)MOST_NAME,
             name);
    fail_words("INVALID_ARGUMENT", "argument", words, NULL, "");
}

static PyObject *positional(yyjson_val *arguments)
{
    yyjson_val *given = yyjson_obj_get(arguments, "args");
    size_t count = yyjson_arr_size(given);
    PyObject *all = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; all && i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", i + 1);
        PyTuple_SET_ITEM(all, (Py_ssize_t)i, literal(yyjson_arr_get(given, i), name));
    }
    return all;
}

static PyObject *named(yyjson_val *arguments)
{
    yyjson_obj_iter each;
    yyjson_val *given = yyjson_obj_get(arguments, "kwargs"), *key;
    PyObject *all = PyDict_New();
    if (!given)
        return all;
    yyjson_obj_iter_init(given, &each);
    while (all && (key = yyjson_obj_iter_next(&each))) {
        PyObject *value = literal(yyjson_obj_iter_get_val(key), yyjson_get_str(key));
        if (PyDict_SetItemString(all, yyjson_get_str(key), value) != 0)
            Py_CLEAR(all);
        Py_DECREF(value);
    }
    return all;
}

/* A raised exception is an outcome like any other, unless memory ran out: with another limit the
 * outcome would differ. */
static _Noreturn void answer_exception(PyObject *exception, const char *code)
{
    text t = { 0 };
    if (PyErr_GivenExceptionMatches(exception, PyExc_MemoryError))
        fail_runtime(exception, code);
    begin_answer(&t);
    put_words(&t, "\"outcome\":\"raised\",\"exception\":");
    put_type(&t, Py_TYPE(exception));
    put_words(&t, ",\"bases\":");
    put_bases(&t, exception);
    put_words(&t, ",\"message\":");
    put_exception_message(&t, exception);
    put_words(&t, ",\"line\":");
    put_number(&t, exception_line(exception));
    put_words(&t, ",\"backtrace\":");
    put_frames(&t, exception, code);
    limit_memory(0);
    end_answer(&t);
}

static _Noreturn void answer_result(PyObject *result, const char *code)
{
    text t = { 0 };
    set_digits(0); /* so that a long int can be printed */
    PyObject *words = PyObject_Repr(result);
    if (!words)
        answer_exception(take_exception(), code);
    limit_memory(0);
    if (PyUnicode_GET_LENGTH(words) > MOST_RESULT)
        fail_words("RUNTIME_ERROR", "result", "The result is longer than 1 MiB.", NULL, "");
    bool exact = is_literal(result, 0);
    begin_answer(&t);
    put_words(&t, "\"outcome\":\"returned\",\"result\":");
    if (exact)
        put_unicode(&t, words, MOST_RESULT);
    else
        put_hidden(&t, words, MOST_RESULT);
    put_words(&t, ",\"type\":");
    put_type(&t, Py_TYPE(result));
    put_words(&t, exact ? ",\"literal\":true" : ",\"literal\":false");
    end_answer(&t);
}

_Noreturn void operation_call(yyjson_val *arguments)
{
    const char *code = text_of(arguments, "code");
    set_digits(0);
    PyObject *all = positional(arguments), *more = named(arguments);
    set_digits(USUAL_DIGITS);
    if (!all || !more)
        fail_runtime(take_exception(), code);
    PyObject *defined = load_module(arguments, code);
    PyObject *function = find_function(defined, text_of(arguments, "function"));
    PyObject *result = PyObject_Call(function, all, more);
    if (!result)
        answer_exception(take_exception(), code);
    answer_result(result, code);
}
