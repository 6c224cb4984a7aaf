/*
 * bindings/python/src: the C extension `mishap._mishap`, for the limited API of Python 3.10 and
 * later. It converts Python values into a mishap of the core, calls the core, and converts what
 * comes back. Adapters for frameworks are written in Python (bindings/python/mishap).
 *
 *     module.c     the module: its functions, its constants, and the check of the versions
 *     exception.c  the type behind `class Mishap(Exception)`
 *     build.c      a mishap of the core from such an exception, and back
 *     foreign.c    codes of other programs
 *     convert.c    Python values as text, as values and as JSON
 *     testing.c    allocations that fail, in builds for tests
 *
 * All functions need the interpreter lock. They release it only while the core works on a text of
 * LARGE_TEXT bytes or more. A function that can fail returns NULL or false with a Python exception
 * set. The module works in the main interpreter alone, so its objects are static.
 */
#ifndef MISHAP_PYTHON_BINDING_H
#define MISHAP_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030A0000
#endif
#include <Python.h>
#include <stdbool.h>

#include "mishap/bind.h"
#include "mishap/dialect.h"
#include "mishap/mishap.h"

/* From this size on the interpreter lock is released while the core works. */
enum { LARGE_TEXT = 32 * 1024 };

/* The longest JSON text of one value of a context, and its deepest nesting. */
enum { LARGEST_JSON = 16 * 1024 * 1024, DEEPEST_JSON = 64 };

/* -- convert.c --------------------------------------------------------------------------------- */

/* A text whose bytes belong to a Python object. Release it with text_release(). */
typedef struct held_text {
    mishap_text text;
    PyObject *owner;
} held_text;

/* The UTF-8 of a str, of bytes or of a bytearray. Half a surrogate pair becomes U+FFFD. Any other
 * type is a TypeError that names `what`. */
bool text_take(PyObject *object, const char *what, held_text *out);
void text_release(held_text *held);

/* The text of any object: its own, or [TypeName] if its type defines none or fails to make it. */
PyObject *text_of_anything(PyObject *object);

/* A value of the core. Containers become JSON in the buffer; both are valid until the buffer and
 * `held` are released. */
bool value_take(PyObject *object, mishap_buffer *json, held_text *held, mishap_value *out);

/* A Python object from a value of the core. */
PyObject *value_give(const mishap_value *value);
PyObject *text_give(mishap_text text);

/* -- exception.c ------------------------------------------------------------------------------- */

/* The parts of an exception that are Python objects; NULL is absent. The names are in
 * exception.c. */
typedef enum exception_part {
    PART_MESSAGE,
    PART_CONTEXT,
    PART_FIELDS,
    PART_SUGGESTION,
    PART_REASON,
    PART_DOCS,
    PART_RETRYABLE,
    PART_RETRY_AFTER,
    PART_INCIDENT,
    PART_CATEGORY,
    PART_NOTES,
    PARTS,
} exception_part;

typedef struct exception_state {
    const mishap_code *code; /* NULL before __init__: INTERNAL_ERROR */
    mishap_code *own;        /* the row of a code that no table has; freed with the exception */
    PyObject *parts[PARTS];
} exception_state;

/* Make the two types. False: an exception is set. */
bool exception_types_make(PyObject *module);

/* `class Mishap`. */
extern PyObject *exception_class;

/* The state of an instance. The caller has checked the type with exception_is(). */
exception_state *exception_state_of(PyObject *self);
bool exception_is(PyObject *object);
const mishap_code *exception_code(const exception_state *state);

/* A number of seconds, between 0 and 1e9. Any other object is a TypeError or a ValueError. */
bool retry_after_take(PyObject *value, double *seconds);

/* The code of this name. An unknown one is a TypeError with the nearest name. */
const mishap_code *code_take(PyObject *name);
PyObject *code_give(const mishap_code *code);

/* -- build.c ----------------------------------------------------------------------------------- */

/* The members of a field. */
typedef enum field_name {
    FIELD_NAME,
    FIELD_ERROR,
    FIELD_MESSAGE,
    FIELD_EXPECTED,
    FIELD_ACTUAL,
    FIELD_MIN,
    FIELD_MAX,
    FIELD_NAMES,
} field_name;

/* Make the keys of a field, once. False: an exception is set. */
bool field_keys_make(void);

/* True for a dict with a str as "field". An exception may be set if it is false. */
bool field_is_valid(PyObject *field);

/* How many fields a list or tuple has, and one of them, held. A subclass of list is read as a list:
 * none of its own code is called. */
Py_ssize_t fields_count(PyObject *fields);
PyObject *fields_item(PyObject *fields, Py_ssize_t index);

/* What render takes: a dialect, and whether the guard judges the mishap first. */
typedef struct render_request {
    const mishap_dialect *dialect;
    bool guarded, strict;
    PyObject *known;    /* a sequence of texts that the caller sent; NULL: none */
    held_text incident; /* without data: that of the exception */
} render_request;

/* The document in the buffer, or NULL with an exception set. `replaced` may be NULL. */
bool exception_render(PyObject *self, const render_request *request, mishap_buffer *buffer,
                      mishap_text *document, bool *replaced);

/* An instance of a class, Mishap or below, with all public parts of a mishap. */
PyObject *exception_from(PyObject *class, const mishap *m);

/* The dialect of this name. An unknown one is a ValueError that lists the names. */
const mishap_dialect *dialect_take(PyObject *name);

/* Texts of a sequence of str or bytes, for the guard. */
typedef struct known_texts {
    mishap_text *texts;
    held_text *held;
    size_t count;
} known_texts;
bool known_take(PyObject *sequence, known_texts *out);
void known_release(known_texts *known);

/* -- foreign.c --------------------------------------------------------------------------------- */

/* Give a new exception a code that no table has. False: an exception is set. */
bool foreign_code_set(PyObject *self, const mishap_code *row);

/* For pickle and copy: such an exception is made again from its document and its parts. */
PyObject *foreign_reduce(PyObject *self, PyObject *parts, PyObject *own);

/* -- testing.c --------------------------------------------------------------------------------- */

#ifdef MISHAP_TESTING
PyObject *testing_fail_after(PyObject *module, PyObject *argument);
#endif

#endif
