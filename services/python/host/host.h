/*
 * mishap-python: CPython as a foreign program (docs/worker-protocol.md). It serves one call and
 * ends, so code that callers send meets nothing of another call. docs/python.md says why.
 *
 *     main.c      starts the interpreter, reads the call, chooses the operation
 *     wire.c      packets on descriptor 3; a message that is written piece by piece
 *     deadline.c  the end of a call whose time is over, also while the interpreter is busy
 *     memory.c    the limit of memory of a call
 *     output.c    what the code prints
 *     values.c    JSON to Python and back
 *     failure.c   exceptions as failures
 *     run.c       the operations
 *
 * There is no Python source in it: nothing of what answers a call is an object that code could
 * find, replace or trace. The code can still write to descriptor 3 by itself. So the server is told
 * when it begins, and takes each message from then on as the code's (mishap_foreign_code).
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
    MOST_OUTPUT = 64 << 10, /* bytes that are kept of what the code prints */
    MOST_MESSAGE = 2000,    /* characters of a message */
    MOST_NAME = 200,        /* … of a name */
    MOST_FRAMES = 20,       /* of a traceback, the innermost */
    MOST_BASES = 32,        /* of an exception */
    DEEPEST = 100,          /* levels of a value as JSON */
    USUAL_MEMORY_MB = 128,  /* if a call names no limit */
    AROUND_MB = 128,        /* the interpreter, and what native code takes beside the limit */
    USUAL_TIMEOUT_MS = 5000,
};

/* -- wire.c ------------------------------------------------------------------------------------ */

/* A message that grows. What fails for want of memory is remembered. */
typedef struct text {
    char *data;
    size_t length, room;
    bool failed;
} text;

/* End this process, which cannot go on: a code of mishap/exits.h, and words for the operator. */
_Noreturn void leave(int status, const char *words);

void put(text *t, const char *data, size_t length);
void put_words(text *t, const char *words); /* as it stands */
void put_number(text *t, long long number);
void put_bytes(text *t, const char *data, size_t length); /* as a JSON string; it is UTF-8 */
void put_string(text *t, const char *words);
void put_unicode(text *t, PyObject *words, size_t most); /* … of a str: its first characters */

/* A character in UTF-8, and how many bytes it takes. Half a surrogate pair is no character. This
 * uses no codec, since code can register others. */
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

/* The next message; NULL: there is none, and the program is to end. */
yyjson_doc *receive(void);

/* Tell the server that code of the caller runs from now on: it takes what comes afterwards as the
 * code's. Before that, nothing but this program can have written a message. */
void announce_code(void);

/* Send a message in one packet or more. Only the first caller of claim_end() may. */
void send_all(const char *data, size_t length);

/* One thread, or one handler of a signal, ends the call. False: another one does already. */
bool claim_end(void);

/* Answer with a complete message and end the process. */
_Noreturn void finish(text *message);

/* A failure that needs no interpreter: {"kind":KIND} with its words. It ends the process. */
_Noreturn void refuse(const char *code, const char *kind, const char *words);

/* -- deadline.c -------------------------------------------------------------------------------- */

/* The call with this id runs from now on, and ends within so many milliseconds. */
void begin_deadline(long long id, long long most_ms);
long long current_id(void);

/* -- memory.c ---------------------------------------------------------------------------------- */

void count_memory(void);             /* before the interpreter starts */
void limit_memory(size_t megabytes); /* from what is in use now; 0: no limit any more */

/* -- output.c ---------------------------------------------------------------------------------- */

bool capture_output(void); /* as sys.stdout and sys.stderr; false: an exception is set */

/* Write `,"stdout":"…"`, and `,"stderr":"…"` if `both` and there is any. Whether something was cut
 * off is returned. */
bool put_output(text *t, bool both);

/* For a handler of a signal: what was printed, as it lies there. */
size_t printed(const char **data);

/* -- values.c ---------------------------------------------------------------------------------- */

/* A value of JSON as Python's json module reads it. NULL: an exception is set. */
PyObject *from_json(yyjson_val *value, int depth);

/* Write a value as JSON. NULL, or what is wrong with it: words with at most one name in them, which
 * is that of *type. */
const char *to_json(text *t, PyObject *value, int depth, PyTypeObject **type);

/* Whether a value consists of what can be written as a literal. */
bool is_literal(PyObject *value, int depth);

/* Write the name of a type as a JSON string. */
void put_type(text *t, PyTypeObject *type);

/* -- failure.c --------------------------------------------------------------------------------- */

/* The exception that is set, which is no longer then. Not NULL. */
PyObject *take_exception(void);

void put_hidden(text *t, PyObject *words, size_t most); /* put_unicode() without addresses */
void put_exception_message(text *t, PyObject *exception);
void put_bases(text *t, PyObject *exception); /* an array of names */
long exception_line(PyObject *exception);     /* in the code; 0: in none of its lines */
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
void expect_code(const char *code); /* that a call will probably have: it is compiled before */

#endif
