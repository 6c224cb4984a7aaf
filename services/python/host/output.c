/*
 * The output of the code: sys.stdout and sys.stderr are objects that keep the first bytes that are
 * written, in UTF-8. The bytes are in static memory, so that a signal handler can read them.
 */
#include "host.h"

#include <string.h>

typedef struct stream {
    PyObject_HEAD size_t length;
    bool cut;
    char data[MOST_OUTPUT];
} stream;

static stream out, err; /* objects that are never freed */

static void keep_output(stream *s, PyObject *words)
{
    Py_ssize_t count = PyUnicode_GET_LENGTH(words);
    int kind = (int)PyUnicode_KIND(words);
    const void *data = PyUnicode_DATA(words);
    for (Py_ssize_t i = 0; i < count && !s->cut; i++) {
        char bytes[4];
        size_t size = spell(PyUnicode_READ(kind, data, i), bytes);
        if (size > sizeof s->data - s->length) {
            s->cut = true;
            return;
        }
        memcpy(s->data + s->length, bytes, size);
        s->length += size; /* updated last: a signal handler may read at any time */
    }
}

/* Accepts text; or bytes, since it is its own `buffer`. */
static PyObject *stream_write(PyObject *self, PyObject *words)
{
    stream *s = (stream *)self;
    if (PyUnicode_Check(words)) {
        keep_output(s, words);
        return PyLong_FromSsize_t(PyUnicode_GET_LENGTH(words));
    }
    Py_buffer view;
    if (!PyObject_CheckBuffer(words))
        return PyErr_Format(PyExc_TypeError, "write() argument must be str, not %.100s",
                            Py_TYPE(words)->tp_name);
    if (PyObject_GetBuffer(words, &view, PyBUF_SIMPLE) != 0)
        return NULL;
    Py_ssize_t length = view.len < MOST_OUTPUT ? view.len : MOST_OUTPUT;
    PyObject *decoded = PyUnicode_DecodeUTF8(view.buf, length, "replace");
    Py_ssize_t count = view.len;
    PyBuffer_Release(&view);
    if (!decoded)
        return NULL;
    keep_output(s, decoded);
    s->cut |= count > length;
    Py_DECREF(decoded);
    return PyLong_FromSsize_t(count);
}

static PyObject *stream_writelines(PyObject *self, PyObject *lines)
{
    PyObject *each = PyObject_GetIter(lines), *line;
    if (!each)
        return NULL;
    while ((line = PyIter_Next(each))) {
        PyObject *done = stream_write(self, line);
        Py_DECREF(line);
        if (!done)
            break;
        Py_DECREF(done);
    }
    Py_DECREF(each);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *nothing(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    Py_RETURN_NONE;
}

static PyObject *no(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    Py_RETURN_FALSE;
}

static PyObject *yes(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    Py_RETURN_TRUE;
}

static PyObject *no_file(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    PyErr_SetString(PyExc_OSError, "This stream has no file descriptor.");
    return NULL;
}

static PyObject *itself(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *word(PyObject *self, void *words)
{
    (void)self;
    return PyUnicode_FromString(words);
}

static PyObject *is_closed(PyObject *self, void *unused)
{
    (void)self, (void)unused;
    Py_RETURN_FALSE;
}

static PyMethodDef methods[] = {
    { "write", stream_write, METH_O, NULL },  { "writelines", stream_writelines, METH_O, NULL },
    { "flush", nothing, METH_NOARGS, NULL },  { "close", nothing, METH_NOARGS, NULL },
    { "isatty", no, METH_NOARGS, NULL },      { "readable", no, METH_NOARGS, NULL },
    { "seekable", no, METH_NOARGS, NULL },    { "writable", yes, METH_NOARGS, NULL },
    { "fileno", no_file, METH_NOARGS, NULL }, { 0 },
};
static char utf8[] = "utf-8", strict[] = "strict", mode[] = "w", name[] = "<stdout>";
static PyGetSetDef members[] = {
    { "buffer", itself, NULL, NULL, NULL },
    { "encoding", word, NULL, NULL, utf8 },
    { "errors", word, NULL, NULL, strict },
    { "mode", word, NULL, NULL, mode },
    { "name", word, NULL, NULL, name },
    { "closed", is_closed, NULL, NULL, NULL },
    { 0 },
};

static PyTypeObject stream_type = {
    .ob_base = { PyObject_HEAD_INIT(NULL) 0 },
    .tp_name = "Output",
    .tp_basicsize = sizeof(stream),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_methods = methods,
    .tp_getset = members,
};

bool capture_output(void)
{
    static const char *const names[] = { "stdout", "__stdout__", "stderr", "__stderr__" };
    if (PyType_Ready(&stream_type) != 0)
        return false;
    PyObject_Init((PyObject *)&out, &stream_type);
    PyObject_Init((PyObject *)&err, &stream_type);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (PySys_SetObject(names[i], (PyObject *)(i < 2 ? &out : &err)) != 0)
            return false;
    return true;
}

bool put_output(text *t, bool both)
{
    put_words(t, ",\"stdout\":");
    put_bytes(t, out.data, out.length);
    if (both && err.length) {
        put_words(t, ",\"stderr\":");
        put_bytes(t, err.data, err.length);
    }
    return out.cut || err.cut;
}

size_t printed(const char **data)
{
    *data = out.data;
    return out.length;
}
