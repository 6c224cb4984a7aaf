/* Codes of other programs, which only documents have: an exception that was read from one owns the
 * row that the core has derived for its code. */
#include "binding.h"

enum { TEXTS = 10 };

static void list_texts(mishap_code *row, mishap_text *list[TEXTS])
{
    mishap_text *const all[TEXTS] = {
        &row->name,  &row->condition, &row->snake,        &row->http_name,  &row->tool_type,
        &row->title, &row->message,   &row->http_message, &row->suggestion, &row->docs_url,
    };
    memcpy(list, all, sizeof all);
}

/* A copy of the row and of its texts in one block. */
static mishap_code *copy_row(const mishap_code *row)
{
    mishap_code copied = *row;
    mishap_text *texts[TEXTS];
    size_t size = sizeof copied;
    list_texts(&copied, texts);
    for (int i = 0; i < TEXTS; i++)
        size += texts[i]->length + 1;
    char *block = PyMem_Malloc(size);
    if (!block) {
        PyErr_NoMemory();
        return NULL;
    }
    char *at = block + sizeof copied;
    for (int i = 0; i < TEXTS; i++) {
        if (texts[i]->length)
            memcpy(at, texts[i]->data, texts[i]->length);
        at[texts[i]->length] = '\0';
        texts[i]->data = at;
        at += texts[i]->length + 1;
    }
    memcpy(block, &copied, sizeof copied);
    return (mishap_code *)(void *)block;
}

bool foreign_code_set(PyObject *self, const mishap_code *row)
{
    exception_state *state = exception_state_of(self);
    PyObject *name = code_give(row), *args = name ? PyTuple_Pack(1, name) : NULL;
    mishap_code *own = args ? copy_row(row) : NULL;
    bool set = own && PyObject_SetAttrString(self, "args", args) == 0;
    if (set)
        state->code = state->own = own; /* it is new: it had none */
    else
        PyMem_Free(own);
    Py_XDECREF(args);
    Py_XDECREF(name);
    return set;
}

PyObject *foreign_reduce(PyObject *self, PyObject *parts, PyObject *own)
{
    PyObject *module = PyImport_ImportModule("mishap._mishap");
    PyObject *parse = module ? PyObject_GetAttrString(module, "parse") : NULL;
    PyObject *document = parse ? PyObject_CallMethod(self, "render", NULL) : NULL;
    PyObject *reduced = document ? Py_BuildValue("(O(O)(OO))", parse, document, parts, own) : NULL;
    Py_XDECREF(document);
    Py_XDECREF(parse);
    Py_XDECREF(module);
    return reduced;
}
