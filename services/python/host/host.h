/*
 * mishap-python: CPython as a foreign program (docs/worker-protocol.md). It serves one call and
 * exits, so code of one caller never shares a process with another call. docs/python.md says why.
 *
 *     main.c      starts the interpreter, reads the call, chooses the operation
 *     wire.c      packets on descriptor 3; a message that is written piece by piece
 *     deadline.c  the end of a call whose time is over, also while the interpreter is busy
 *     memory.c    the limit of memory of a call
 *     observed.c  counts of addresses in texts and of failed allocations
 *     output.c    what the code prints
 *     values.c    JSON to Python and back
 *     failure.c   exceptions as failures
 *     run.c       the operations
 *
 * It contains no Python source: code cannot find, replace or trace the functions that answer a
 * call. The code can still write to descriptor 3 by itself. So the program announces when code
 * begins, and the server treats each later message as written by the code (mishap_foreign_code).
 */
#ifndef MISHAP_PYTHON_HOST_H
#define MISHAP_PYTHON_HOST_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "mishap/exits.h"

#define CODE_FILE   "<code>"    /* the name of the file in tracebacks */
#define CODE_MODULE "user_code" /* the name of the module */

enum {
    PACKET = 65536,
    MOST_ASKED = 8 << 20,   /* bytes of a message to this program */
    MOST_RESULT = 1 << 20,  /* bytes of a result as JSON, or as Python writes it */
    MOST_OUTPUT = 64 << 10, /* bytes of its output that are kept */
    MOST_MESSAGE = 2000,    /* characters of a message */
    MOST_NAME = 200,        /* … of a name */
    MOST_FRAMES = 20,       /* of a traceback: the innermost frames */
    MOST_BASES = 32,        /* base classes of an exception */
    DEEPEST = 100,          /* levels of a value as JSON */
    USUAL_MEMORY_MB = 128,  /* if a call names no limit */
    AROUND_MB = 128,        /* memory of the interpreter and of native code, beside the limit */
    USUAL_TIMEOUT_MS = 5000,
};

/* -- wire.c ------------------------------------------------------------------------------------ */

/* A message that grows. It remembers a lack of memory. */
typedef struct text {
    char *data;
    size_t length, room;
    bool failed;
} text;

/* Exit with a code of mishap/exits.h, and words for the operator: this process cannot go on. */
_Noreturn void leave(int status, const char *words);

void put(text *t, const char *data, size_t length);
void put_words(text *t, const char *words); /* unchanged */
void put_number(text *t, long long number);
/* As a JSON string; the bytes are UTF-8. */
void put_bytes(text *t, const char *data, size_t length);
void put_string(text *t, const char *words);
/* … of a str: at most so many characters. */
void put_unicode(text *t, PyObject *words, size_t most);

/* Encode a character in UTF-8; returns the number of bytes. Half a surrogate pair is no character.
 * This uses no codec, since code can register others. */
static inline size_t spell(Py_UCS4 c, char bytes[4])
{
    if (c >= 0xd800 && c <= 0xdfff)
        c = 0xfffd;
    size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t at = size; at-- > 1; c >>= 6)
        bytes[at] = (char)(0x80 | (c & 0x3f));
    bytes[0] = size == 1 ? (char)c : (char)((0xf00 >> size & 0xff) | c);
    return size;
}

/* The next message; NULL: there is none, and the program should exit. */
yyjson_doc *receive(void);

/* Tell the server that code of the caller runs from now on: it treats later messages as written by
 * the code. Before that, only this program can have written a message. */
void announce_code(void);

/* Send a message in one packet or more. Only the first caller of claim_end() may do this. */
void send_all(const char *data, size_t length);

/* Only one thread, or one signal handler, ends the call. False: another one does already. */
bool claim_end(void);

/* Answer with a complete message and end the process. */
_Noreturn void finish(text *message);

/* Answer with a failure that needs no interpreter, {"kind":KIND} with its words, and end the
 * process. */
_Noreturn void refuse(const char *code, const char *kind, const char *words);

/* -- deadline.c -------------------------------------------------------------------------------- */

/* The call with this id runs from now on, for so many milliseconds at most. */
void begin_deadline(long long id, long long most_ms);
long long current_id(void);

/* -- memory.c ---------------------------------------------------------------------------------- */

void count_memory(void);             /* before the interpreter starts */
void limit_memory(size_t megabytes); /* counted from what is in use now; 0: no limit any more */

/* -- output.c ---------------------------------------------------------------------------------- */

bool capture_output(void); /* redirect sys.stdout and sys.stderr; false: an exception is set */

/* Write `,"stdout":"…"`, and `,"stderr":"…"` if `both` and there is any. True: some of it was cut
 * off. */
bool put_output(text *t, bool both);

/* For a signal handler: the output so far. */
size_t printed(const char **data);

/* -- values.c ---------------------------------------------------------------------------------- */

/* Convert a JSON value as Python's json module does. NULL: an exception is set. */
PyObject *from_json(yyjson_val *value, int depth);

/* Write a value as JSON. NULL, or what is wrong with it: a format with at most one name, that of
 * *type. */
const char *to_json(text *t, PyObject *value, int depth, PyTypeObject **type);

/* True if a value can be written as a literal. */
bool is_literal(PyObject *value, int depth);

/* Write the name of a type as a JSON string. */
void put_type(text *t, PyTypeObject *type);

/* -- failure.c --------------------------------------------------------------------------------- */

/* Take the exception that is set; it is cleared. Never NULL. */
PyObject *take_exception(void);

void put_hidden(text *t, PyObject *words, size_t most); /* put_unicode() without addresses */
void put_exception_message(text *t, PyObject *exception);
void put_bases(text *t, PyObject *exception); /* an array of names */
long exception_line(PyObject *exception);     /* the line of the code; 0: not in the code */
void put_frames(text *t, PyObject *exception, const char *code);

/* Answer with a failure and end the process. */
_Noreturn void fail_syntax(PyObject *exception, const char *code);
_Noreturn void fail_runtime(PyObject *exception, const char *code);
_Noreturn void fail_words(const char *code, const char *kind, const char *before,
                          PyTypeObject *type, const char *after);

/* -- run.c ------------------------------------------------------------------------------------- */

_Noreturn void operation_run(yyjson_val *arguments);
_Noreturn void operation_call(yyjson_val *arguments);
bool prepare_operations(void); /* after the interpreter has started; false: an exception is set */
/* Code that the next call will probably have: it is compiled in advance. */
void expect_code(const char *code);

#endif
