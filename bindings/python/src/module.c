/* The module `mishap._mishap`: its functions, its constants, and the check of the versions. */
#include "binding.h"

/* The oldest library that this binding works with. */
#ifndef MISHAP_BINDING_NEEDS
#define MISHAP_BINDING_NEEDS MISHAP_VERSION
#endif

static PyTypeObject *finding_type, *code_type;
static PyObject *parse_error;

/* The names of arguments: Python takes them as text that is not constant. */
static char word_document[] = "document", word_dialect[] = "dialect", word_source[] = "source",
            word_target[] = "target", word_strict[] = "strict", word_text[] = "text",
            word_known[] = "known";

/* -- findings ---------------------------------------------------------------------------------- */

static const char *severity_name(mishap_severity severity)
{
    return severity == MISHAP_WARNING ? "warning" : severity == MISHAP_ERROR ? "error" : "fatal";
}

static PyObject *finding_give(const char *rule, const char *severity, mishap_text place,
                              mishap_text sentence)
{
    PyObject *finding = PyStructSequence_New(finding_type);
    if (!finding)
        return NULL;
    PyStructSequence_SetItem(finding, 0, PyUnicode_FromString(rule));
    PyStructSequence_SetItem(finding, 1, PyUnicode_FromString(severity));
    PyStructSequence_SetItem(finding, 2, text_give(place));
    PyStructSequence_SetItem(finding, 3, text_give(sentence));
    if (PyErr_Occurred())
        Py_CLEAR(finding);
    return finding;
}

/* A check without the interpreter lock, which is taken for each finding. */
typedef struct verification {
    PyObject *findings;
    PyThreadState *thread;
} verification;

static void finding_found(void *state, const mishap_finding *finding)
{
    verification *check = state;
    PyEval_RestoreThread(check->thread);
    if (!PyErr_Occurred()) {
        PyObject *object = finding_give(finding->rule, severity_name(finding->severity),
                                        finding->place, finding->sentence);
        if (object)
            PyList_Append(check->findings, object);
        Py_XDECREF(object);
    }
    check->thread = PyEval_SaveThread();
}

static PyObject *findings_of(const mishap_dialect *dialect, mishap_text document, bool strict)
{
    verification check = { PyList_New(0), NULL };
    if (!check.findings)
        return NULL;
    check.thread = PyEval_SaveThread();
    mishap *failure = mishap_verify(dialect, document, strict, finding_found, &check);
    PyEval_RestoreThread(check.thread);
    if (failure && !PyErr_Occurred())
        PyErr_NoMemory();
    mishap_free(failure);
    if (PyErr_Occurred())
        Py_CLEAR(check.findings);
    return check.findings;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Raise ParseError for a document that was refused, with all findings. Frees the failure. */
static PyObject *refuse(const mishap_dialect *dialect, mishap_text document, mishap *failure)
{
    PyObject *findings = findings_of(dialect, document, false);
    if (findings && PyList_Size(findings) == 0) {
        PyObject *finding = finding_give("unreadable", "fatal", (mishap_text){ "", 0 },
                                         mishap_public_message(mishap_told(failure)));
        if (!finding || PyList_Append(findings, finding) < 0)
            Py_CLEAR(findings);
        Py_XDECREF(finding);
    }
    PyObject *error = findings ? exception_from(parse_error, failure) : NULL;
    if (error && PyObject_SetAttrString(error, "findings", findings) == 0)
        PyErr_SetObject(parse_error, error);
    Py_XDECREF(error);
    Py_XDECREF(findings);
    mishap_free(failure);
    return NULL;
}

static PyObject *module_parse(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    static char *names[] = { word_document, word_dialect, NULL };
    PyObject *object, *name = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:parse", names, &object, &name))
        return NULL;
    const mishap_dialect *dialect = dialect_take(name);
    held_text held = { 0 };
    if (!dialect || !text_take(object, "document", &held))
        return NULL;
    mishap *failure, *read = NULL;
    Py_BEGIN_ALLOW_THREADS failure = mishap_parse(dialect, held.text, &read);
    Py_END_ALLOW_THREADS PyObject *result = failure ? refuse(dialect, held.text, failure)
                                                    : exception_from(exception_class, read);
    mishap_free(read);
    text_release(&held);
    return result;
}

static PyObject *module_translate(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    static char *names[] = { word_document, word_source, word_target, NULL };
    PyObject *object, *source, *target;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO:translate", names, &object, &source,
                                     &target))
        return NULL;
    const mishap_dialect *from = dialect_take(source), *to = from ? dialect_take(target) : NULL;
    held_text held = { 0 };
    if (!to || !text_take(object, "document", &held))
        return NULL;
    char storage[4096];
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, storage, sizeof storage);
    mishap *failure;
    if (held.text.length >= LARGE_TEXT) {
        Py_BEGIN_ALLOW_THREADS failure = mishap_translate(from, to, held.text, &buffer);
        Py_END_ALLOW_THREADS
    } else {
        failure = mishap_translate(from, to, held.text, &buffer);
    }
    PyObject *result = failure ? refuse(from, held.text, failure)
                               : text_give(mishap_buffer_text(&buffer));
    mishap_buffer_release(&buffer);
    text_release(&held);
    return result;
}

static PyObject *module_verify(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    static char *names[] = { word_document, word_dialect, word_strict, NULL };
    PyObject *object, *name = NULL;
    int strict = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|Op:verify", names, &object, &name, &strict))
        return NULL;
    const mishap_dialect *dialect = dialect_take(name);
    held_text held = { 0 };
    if (!dialect || !text_take(object, "document", &held))
        return NULL;
    PyObject *findings = findings_of(dialect, held.text, strict);
    text_release(&held);
    return findings;
}

/* -- guard ------------------------------------------------------------------------------------- */

static PyObject *guarded(PyObject *object, mishap_text text, bool strict, const known_texts *known)
{
    mishap_buffer buffer;
    bool replaced;
    mishap_buffer_init(&buffer, NULL, 0);
    Py_BEGIN_ALLOW_THREADS replaced = mishap_guard_text(text, strict, known->texts, known->count,
                                                        &buffer);
    Py_END_ALLOW_THREADS PyObject *result = NULL;
    if (buffer.failed) {
        PyErr_NoMemory();
    } else if (!replaced && PyUnicode_Check(object)) {
        Py_INCREF(object);
        result = object;
    } else {
        result = text_give(mishap_buffer_text(&buffer));
    }
    mishap_buffer_release(&buffer);
    return result;
}

static PyObject *module_guard(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    static char *names[] = { word_text, word_strict, word_known, NULL };
    PyObject *object, *known_object = NULL;
    int strict = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|pO:guard", names, &object, &strict,
                                     &known_object))
        return NULL;
    held_text held = { 0 };
    known_texts known;
    if (!text_take(object, "text", &held))
        return NULL;
    PyObject *result = NULL;
    if (known_take(known_object, &known)) {
        result = guarded(object, held.text, strict, &known);
        known_release(&known);
    }
    text_release(&held);
    return result;
}

/* -- codes ------------------------------------------------------------------------------------- */

static PyObject *describe(const mishap_code *code)
{
    static const char *const retries[] = { "never", "fix", "yes" };
    PyObject *row = PyStructSequence_New(code_type);
    if (!row)
        return NULL;
    PyObject *advice = Py_None;
    if (code->retry_after_ms >= 0)
        advice = PyFloat_FromDouble((double)code->retry_after_ms / 1000);
    else
        Py_INCREF(advice);
    PyStructSequence_SetItem(row, 0, code_give(code));
    PyStructSequence_SetItem(row, 1, text_give(code->title));
    PyStructSequence_SetItem(row, 2, text_give(code->message));
    PyStructSequence_SetItem(row, 3, text_give(code->suggestion));
    PyStructSequence_SetItem(row, 4, PyUnicode_FromString(mishap_category_name(code->category)));
    PyStructSequence_SetItem(row, 5, PyUnicode_FromString(retries[code->retry]));
    PyStructSequence_SetItem(row, 6, PyLong_FromLong(code->http_status));
    PyStructSequence_SetItem(row, 7, PyLong_FromLong(code->exit_code));
    PyStructSequence_SetItem(row, 8, PyLong_FromLong(code->rpc_code));
    PyStructSequence_SetItem(row, 9, advice);
    PyStructSequence_SetItem(row, 10, PyBool_FromLong(code->masked));
    if (PyErr_Occurred())
        Py_CLEAR(row);
    return row;
}

static PyObject *module_describe(PyObject *module, PyObject *name)
{
    (void)module;
    const mishap_code *code = code_take(name);
    return code ? describe(code) : NULL;
}

/* The code for an HTTP status of a framework: that of its name, or else the general one. */
static PyObject *module_code_for_status(PyObject *module, PyObject *number)
{
    (void)module;
    long status = PyLong_AsLong(number);
    if (status == -1 && PyErr_Occurred())
        return NULL;
    const mishap_code *code = NULL;
    if (status == 404)
        code = mishap_code_find((mishap_text)MISHAP_TEXT("NOT_FOUND"));
    else if (status == 422)
        code = mishap_code_find((mishap_text)MISHAP_TEXT("VALIDATION_ERROR"));
    else if (status >= 400 && status <= 599)
        code = mishap_catalog_for_status((int)status);
    return PyUnicode_FromStringAndSize(code                            ? code->name.data
                                       : status >= 400 && status < 500 ? "BAD_REQUEST"
                                                                       : "INTERNAL_ERROR",
                                       code ? (Py_ssize_t)code->name.length
                                       : status >= 400 && status < 500 ? 11
                                                                       : 14);
}

static PyObject *module_new_incident(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    char id[MISHAP_INCIDENT_ID_SIZE];
    size_t length = mishap_new_incident(id);
    return PyUnicode_FromStringAndSize(id, (Py_ssize_t)length);
}

static PyObject *module_media_type(PyObject *module, PyObject *name)
{
    (void)module;
    const mishap_dialect *dialect = dialect_take(name);
    return dialect ? PyUnicode_FromString(mishap_dialect_media_type(dialect)) : NULL;
}

/* -- the module -------------------------------------------------------------------------------- */

#define WITH_KEYWORDS(function)                                                                    \
    (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef module_functions[] = {
    { "parse", WITH_KEYWORDS(module_parse),
      "parse(document, dialect='problem') -> Mishap\n\nRead a document; ParseError if it cannot be "
      "read." },
    { "translate", WITH_KEYWORDS(module_translate),
      "translate(document, source, target) -> str\n\nThe same failure in another dialect." },
    { "verify", WITH_KEYWORDS(module_verify),
      "verify(document, dialect='problem', strict=False) -> list[Finding]\n\nAll findings." },
    { "guard", WITH_KEYWORDS(module_guard),
      "guard(text, strict=False, known=()) -> str\n\nThe text, or a sentence in its place if it "
      "shows the inside of a program." },
    { "describe", module_describe, METH_O, "describe(code) -> Code\n\nThe row of the catalog." },
    { "new_incident", module_new_incident, METH_NOARGS, "new_incident() -> str\n\nA new id." },
    { "code_for_status", module_code_for_status, METH_O,
      "code_for_status(status) -> str\n\nThe code for an HTTP status." },
    { "media_type", module_media_type, METH_O, "media_type(dialect) -> str" },
#ifdef MISHAP_TESTING
    { "_fail_after", testing_fail_after, METH_O, NULL },
#endif
    { NULL, NULL, 0, NULL },
};

static PyStructSequence_Field finding_fields[] = {
    { "rule", "The name of the rule." },
    { "severity", "warning, error or fatal." },
    { "place", "A JSON pointer, or line and column." },
    { "sentence", "What is wrong." },
    { NULL, NULL },
};
static PyStructSequence_Desc finding_desc = { "mishap.Finding", "What is wrong with a document.",
                                              finding_fields, 4 };

static PyStructSequence_Field code_fields[] = {
    { "name", NULL },     { "title", NULL },       { "message", NULL }, { "suggestion", NULL },
    { "category", NULL }, { "retry", NULL },       { "status", NULL },  { "exit_code", NULL },
    { "rpc_code", NULL }, { "retry_after", NULL }, { "masked", NULL },  { NULL, NULL },
};
static PyStructSequence_Desc code_desc = { "mishap.Code", "A row of the catalog.", code_fields,
                                           11 };

static bool add_object(PyObject *module, const char *name, PyObject *object)
{
    if (!object || PyModule_AddObject(module, name, object) < 0) {
        Py_XDECREF(object);
        return false;
    }
    return true;
}

static const mishap_code *row_of(const mishap_catalog *table, size_t index)
{
    return table->codes[index];
}

/* Each code as a constant, and `codes`, a tuple of all. */
static bool add_codes(PyObject *module)
{
    PyObject *list = PyList_New(0), *names = PyModule_GetDict(module);
    if (!list)
        return false;
    for (const mishap_catalog *table = mishap_catalog_first(); table; table = table->next)
        for (size_t i = 0; i < table->count; i++) {
            PyObject *name = code_give(row_of(table, i));
            bool added = name && PyList_Append(list, name) == 0 &&
                         PyDict_SetItem(names, name, name) == 0;
            Py_XDECREF(name);
            if (!added) {
                Py_DECREF(list);
                return false;
            }
        }
    PyObject *all = PyList_AsTuple(list);
    Py_DECREF(list);
    return add_object(module, "codes", all);
}

static bool add_dialects(PyObject *module)
{
    PyObject *list = PyList_New(0);
    for (const mishap_dialect *const *each = mishap_dialects(); list && *each; each++) {
        PyObject *name = PyUnicode_FromString(mishap_dialect_name(*each));
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    PyObject *all = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return add_object(module, "dialects", all);
}

static bool add_types(PyObject *module)
{
    finding_type = PyStructSequence_NewType(&finding_desc);
    code_type = PyStructSequence_NewType(&code_desc);
    parse_error = PyObject_CallFunction(
        (PyObject *)&PyType_Type, "s(OO){s:s,s:s}", "ParseError", exception_class, PyExc_ValueError,
        "__module__", "mishap", "__doc__",
        "A document that cannot be read. `findings` has all that is wrong with it.");
    if (!finding_type || !code_type || !parse_error)
        return false;
    Py_INCREF(finding_type);
    Py_INCREF(code_type);
    Py_INCREF(parse_error);
    return add_object(module, "Finding", (PyObject *)finding_type) &&
           add_object(module, "Code", (PyObject *)code_type) &&
           add_object(module, "ParseError", parse_error);
}

/* A version as one number, so that versions can be compared. */
static long version_number(const char *version)
{
    long number = 0;
    for (int part = 0; part < 3; part++) {
        char *end;
        number = number * 1000 + strtol(version, &end, 10);
        version = *end == '.' ? end + 1 : "0";
    }
    return number;
}

static bool library_is_new_enough(void)
{
    if (version_number(mishap_version()) >= version_number(MISHAP_BINDING_NEEDS))
        return true;
    PyErr_Format(PyExc_ImportError,
                 "This binding of mishap needs libmishap %s or later, and the library that was "
                 "loaded is %s. Update libmishap.",
                 MISHAP_BINDING_NEEDS, mishap_version());
    return false;
}

/* The module has one set of static objects, so it serves one interpreter. */
static bool interpreter_is_main(void)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
        return true;
    PyErr_SetString(PyExc_ImportError,
                    "mishap works in the main interpreter alone, not in a sub-interpreter.");
    return false;
}

static int module_fill(PyObject *module)
{
    static bool filled;
    if (!interpreter_is_main() || !library_is_new_enough())
        return -1;
    if (filled) {
        PyErr_SetString(PyExc_ImportError, "mishap._mishap was imported before in this process.");
        return -1;
    }
    if (!exception_types_make(module) || !add_types(module) || !add_codes(module) ||
        !add_dialects(module) ||
        PyModule_AddStringConstant(module, "version", mishap_version()) < 0)
        return -1;
    filled = true;
    return 0;
}

static PyModuleDef_Slot module_slots[] = { { Py_mod_exec, (void *)module_fill }, { 0, NULL } };
static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,         .m_name = "mishap._mishap", .m_doc = "The core of Mishap.",
    .m_methods = module_functions, .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__mishap(void);
PyMODINIT_FUNC PyInit__mishap(void)
{
    return PyModuleDef_Init(&module_definition);
}
