/*
 * Exceptions as failures. They contain only frames of the caller's code, and no path of Python's
 * library. The text of an exception comes from its __str__, which may be code of the caller: it may
 * fail or never end, so the deadline still applies.
 */
#include "host.h"

#include <string.h>

PyObject *take_exception(void)
{
#if PY_VERSION_HEX >= 0x030c0000
    PyObject *exception = PyErr_GetRaisedException();
#else
    PyObject *type, *exception, *trace;
    PyErr_Fetch(&type, &exception, &trace);
    PyErr_NormalizeException(&type, &exception, &trace);
    if (exception && trace)
        PyException_SetTraceback(exception, trace);
#endif
    return exception ? exception : Py_NewRef(PyExc_SystemError);
}

/* -- words ------------------------------------------------------------------------------------- */

/* Addresses differ between processes: " at 0x7f0123" becomes " at 0x0". */
static void hide_addresses(text *t, size_t from)
{
    static const char before[] = " at 0x";
    const size_t length = sizeof before - 1;
    size_t to = from;
    for (size_t i = from; !t->failed && i < t->length;) {
        if (t->length - i <= length || memcmp(t->data + i, before, length) != 0) {
            t->data[to++] = t->data[i++];
            continue;
        }
        memmove(t->data + to, before, length);
        to += length;
        for (i += length; i < t->length && memchr("0123456789abcdef", t->data[i], 16);)
            i++;
        if (i < t->length && t->data[i - 1] != 'x')
            t->data[to++] = '0';
    }
    t->length = t->failed ? t->length : to;
}

/* Callers must not learn where Python's library is installed. */
static PyObject *without_paths(PyObject *words)
{
    PyObject *path = PyUnicode_FromString(PYTHON_LIBRARY "/"), *none = PyUnicode_FromString("");
    PyObject *shorter = path && none ? PyUnicode_Replace(words, path, none, -1) : NULL;
    Py_XDECREF(path);
    Py_XDECREF(none);
    Py_DECREF(words);
    return shorter;
}

void put_hidden(text *t, PyObject *words, size_t most)
{
    size_t from = t->length;
    put_unicode(t, words, most);
    hide_addresses(t, from);
}

void put_exception_message(text *t, PyObject *exception)
{
    PyObject *words = PyObject_Str(exception);
    if (words)
        words = without_paths(words);
    PyErr_Clear();
    if (words)
        put_hidden(t, words, MOST_MESSAGE);
    else
        put_string(t, "<exception str() failed>");
    Py_XDECREF(words);
}

void put_bases(text *t, PyObject *exception)
{
    PyObject *order = Py_TYPE(exception)->tp_mro;
    Py_ssize_t count = order ? PyTuple_GET_SIZE(order) : 0;
    put(t, "[", 1);
    for (Py_ssize_t i = 0; i < count && i < MOST_BASES; i++) {
        if (i)
            put(t, ",", 1);
        put_type(t, (PyTypeObject *)PyTuple_GET_ITEM(order, i));
    }
    put(t, "]", 1);
}

/* -- where ------------------------------------------------------------------------------------- */

static long number_of(PyObject *object, const char *attribute)
{
    PyObject *value = PyObject_GetAttrString(object, attribute);
    long number = value && PyLong_Check(value) ? PyLong_AsLong(value) : 0;
    Py_XDECREF(value);
    PyErr_Clear();
    return number < 0 ? 0 : number;
}

/* The innermost frames of the code, in a ring, and how many there were. */
typedef struct frames {
    PyTracebackObject *ring[MOST_FRAMES];
    size_t count;
} frames;

static bool is_of_code(PyTracebackObject *trace)
{
    PyCodeObject *code = PyFrame_GetCode(trace->tb_frame);
    bool is = PyUnicode_CompareWithASCIIString(code->co_filename, CODE_FILE) == 0;
    Py_DECREF(code);
    return is;
}

static void find_frames(PyObject *exception, frames *found)
{
    PyObject *first = PyException_GetTraceback(exception);
    found->count = 0;
    for (PyTracebackObject *t = (PyTracebackObject *)first; t; t = t->tb_next)
        if (is_of_code(t))
            found->ring[found->count++ % MOST_FRAMES] = t;
    Py_XDECREF(first); /* the exception holds a reference */
}

long exception_line(PyObject *exception)
{
    frames found;
    find_frames(exception, &found);
    return found.count
               ? number_of((PyObject *)found.ring[(found.count - 1) % MOST_FRAMES], "tb_lineno")
               : 0;
}

/* A line of the code without the white space around it; a line that is too long is cut between two
 * characters. */
static size_t line_of(const char **code, long number)
{
    enum { MOST = 200 };
    const char *line = *code;
    for (long i = 1; i < number && line; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line || number < 1)
        return 0;
    line += strspn(line, " \t\f");
    size_t length = strcspn(line, "\r\n");
    if (length > MOST)
        for (length = MOST; length > 0 && ((unsigned char)line[length] & 0xc0) == 0x80;)
            length--;
    *code = line;
    return length;
}

/* `in run, line 3: return 1 / 0`, the innermost first. */
static void put_frame(text *t, PyTracebackObject *trace, const char *code)
{
    text words = { 0 };
    PyCodeObject *of = PyFrame_GetCode(trace->tb_frame);
    long line = number_of((PyObject *)trace, "tb_lineno");
    size_t length = line_of(&code, line);
    put_unicode(t, of->co_qualname, MOST_NAME);
    Py_DECREF(of);
    put_words(&words, ", line ");
    put_number(&words, line);
    put_words(&words, length ? ": " : "");
    put(&words, code, length);
    if (t->length)
        t->length--; /* remove the quotation mark at its end and the one that follows */
    size_t from = t->length;
    put_bytes(t, words.data ? words.data : "", words.length);
    if (!t->failed) {
        memmove(t->data + from, t->data + from + 1, t->length - from - 1);
        t->length--;
    }
    t->failed |= words.failed;
    free(words.data);
}

void put_frames(text *t, PyObject *exception, const char *code)
{
    frames found;
    find_frames(exception, &found);
    put(t, "[", 1);
    for (size_t i = 0; i < found.count && i < MOST_FRAMES; i++) {
        if (i)
            put(t, ",", 1);
        put_frame(t, found.ring[(found.count - 1 - i) % MOST_FRAMES], code);
    }
    put(t, "]", 1);
}

/* -- failures ---------------------------------------------------------------------------------- */

static void begin_failure(text *t, const char *code)
{
    limit_memory(0); /* the report itself needs memory */
    put_words(t, "{\"id\":");
    put_number(t, current_id());
    put_words(t, ",\"last\":true,\"failure\":{\"code\":");
    put_string(t, code);
}

static _Noreturn void end_failure(text *t, const char *kind, long line, long column,
                                  PyObject *exception)
{
    bool cut = put_output(t, false);
    put_words(t, ",\"context\":{\"kind\":");
    put_string(t, kind);
    if (line) {
        put_words(t, ",\"line\":");
        put_number(t, line);
    }
    if (column) {
        put_words(t, ",\"column\":");
        put_number(t, column);
    }
    if (exception) {
        put_words(t, ",\"bases\":");
        put_bases(t, exception);
    }
    put_words(t, cut ? ",\"cut\":true}}}" : "}}}");
    finish(t);
}

_Noreturn void fail_syntax(PyObject *exception, const char *code)
{
    text t = { 0 };
    long line = number_of(exception, "lineno"), column = number_of(exception, "offset");
    PyObject *words = PyObject_GetAttrString(exception, "msg");
    PyErr_Clear();
    begin_failure(&t, "SYNTAX_ERROR");
    put_words(&t, ",\"type\":");
    put_type(&t, Py_TYPE(exception));
    put_words(&t, ",\"message\":");
    if (words && PyUnicode_Check(words) && PyUnicode_GET_LENGTH(words))
        put_hidden(&t, words, MOST_MESSAGE);
    else
        put_exception_message(&t, exception);
    size_t length = line_of(&code, line);
    if (length) {
        put_words(&t, ",\"backtrace\":[");
        put_bytes(&t, code, length);
        put_words(&t, "]");
    }
    end_failure(&t, "syntax", line, column, NULL);
}

_Noreturn void fail_runtime(PyObject *exception, const char *code)
{
    text t = { 0 };
    bool memory = PyErr_GivenExceptionMatches(exception, PyExc_MemoryError);
    begin_failure(&t, "RUNTIME_ERROR");
    put_words(&t, ",\"type\":");
    put_type(&t, Py_TYPE(exception));
    put_words(&t, ",\"message\":");
    size_t from = t.length;
    put_exception_message(&t, exception);
    if (!t.failed && t.length == from + 2) { /* the exception has no text */
        t.length = from;
        if (memory)
            put_string(&t, "The code needs more memory than it may have.");
        else
            put_type(&t, Py_TYPE(exception));
    }
    put_words(&t, ",\"backtrace\":");
    put_frames(&t, exception, code);
    end_failure(&t, memory ? "memory" : "runtime", exception_line(exception), 0, exception);
}

_Noreturn void fail_words(const char *code, const char *kind, const char *before,
                          PyTypeObject *type, const char *after)
{
    text t = { 0 };
    PyObject *name = type ? PyType_GetName(type) : NULL;
    const char *class = strcmp(kind, "missing") == 0  ? "NameError"
                        : strcmp(kind, "result") == 0 ? "TypeError"
                                                      : NULL;
    begin_failure(&t, code);
    if (class) { /* the class that Python itself would have raised */
        put_words(&t, ",\"type\":");
        put_string(&t, class);
    }
    put_words(&t, ",\"message\":");
    PyObject *sentence = PyUnicode_FromFormat("%s%V%s", before, name, type ? "object" : "", after);
    if (sentence)
        put_unicode(&t, sentence, MOST_MESSAGE);
    else
        put_string(&t, before);
    PyErr_Clear();
    end_failure(&t, kind, 0, 0, NULL);
}
