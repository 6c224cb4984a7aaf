/*
 * services/python: CPython in a sandbox, for services that run code which callers send
 * (docs/python.md). The artifacts service runs code with it, and the symbolic service replays its
 * findings in it. Each call has a process of its own.
 *
 *     python.c  the two operations, and the program that runs them
 *     warm.c    the functions below: processes that wait for the next call
 *     host/     the program that runs Python
 *
 *     failure = python_run(&(python_code){ .code = code, .timeout = 2 }, "[1,2]", &answered);
 *     if (!failure)
 *         result = mishap_json(answered->json, "result");
 */
#ifndef SERVICES_PYTHON_H
#define SERVICES_PYTHON_H

#include <mishap/invoke.h>
#include <mishap/operation.h>

#include "parts.h"
#include "stock.h"

/* For calls that all have the same code: a process that waits for one has compiled it already. */
typedef struct python_room {
    const char *code;
    service_shelf shelf; /* used by python_room_open() */
    mishap_foreign foreign;
    const char *arguments[3];
} python_room;

/* Code and its limits. 0 or NULL: the default. */
typedef struct python_code {
    const char *code;  /* the source of a module */
    python_room *room; /* an open room with the same code; NULL: none */
    int hash_seed;     /* seed for the hashes of strs and bytes, at most 999; 0: the default. With
                          another one, no process waits for the call */
    double timeout;    /* time limit in seconds; 0: 5. At most 60 */
    int memory_mb;     /* memory beside the interpreter itself; 0: 128. At most 512 */
    const unsigned char *cancel; /* as in mishap_invocation */
    const mishap_call *within;   /* … */
} python_code;

/*
 * Run a module and call its function `run` with the arguments, a JSON array (NULL: none). The
 * answer, to be freed with mishap_answered_free(), has `result`, any JSON value; `stdout`; `stderr`
 * if there is any; `cut`, if some of them was dropped.
 *
 * A failure has the member `kind` of its context, one of the words of python_kind, unless the call
 * ended before its process was ready: python_kind_of() knows both. `type` of the failure is the
 * class of the exception, `message` its words, the frames are lines of the code, `line` of the
 * context is the innermost of them.
 */
__attribute__((warn_unused_result)) mishap *
python_run(const python_code *what, const char *arguments, mishap_answered **answered);

/*
 * Run a module and call one of its functions with Python's own values. `arguments` is a JSON array
 * of strings, each a Python literal ("(1, nan, {'a': None})"); `named` a JSON object of such
 * strings; NULL: none. Calls with the same arguments have the same answer, unless the code asks for
 * the time or the like.
 *
 * The answer has `outcome`. If that is "returned": `result` (its repr()), `type` (the name of its
 * class) and `literal` (whether the repr is a literal). If it is "raised": `exception`, `bases`
 * (the classes in the order of resolution), `message` and `line` (0: none of the code). What is
 * raised while the module itself runs is a failure, as above, and so is a lack of memory.
 */
__attribute__((warn_unused_result)) mishap *python_call(const python_code *what,
                                                        const char *function, const char *arguments,
                                                        const char *named,
                                                        mishap_answered **answered);

/* The ways in which code can fail. */
typedef enum python_kind {
    PYTHON_OTHER,     /* a failure of another kind: NOT_CONFIGURED, INTERNAL_ERROR, … */
    PYTHON_SYNTAX,    /* "syntax": Python's words, with `line` and `column` */
    PYTHON_RUNTIME,   /* "runtime": an exception */
    PYTHON_MEMORY,    /* "memory": it needs more than its limit */
    PYTHON_MISSING,   /* "missing": it does not define the function */
    PYTHON_RESULT,    /* "result": what the function returned is no JSON, or too long */
    PYTHON_TIMEOUT,   /* "timeout" */
    PYTHON_CANCELLED, /* "cancelled" */
    PYTHON_ARGUMENT,  /* "argument": the arguments are invalid */
    PYTHON_DIED,      /* "died": it ended its process, or broke it */
} python_kind;
python_kind python_kind_of(const mishap *failure);

/* The line of the code that failed; 0: not known. */
long python_line_of(const mishap *failure);

/* Start the process of the next call, which python_run() and python_call() do after each of theirs.
 * If that fails, the next call reports it. */
void python_warm(void);

/* End the process that waits, when the service ends. */
void python_cool(void);

/* The same for a room, which is opened in each process that uses it. */
void python_room_open(python_room *room);
void python_room_warm(python_room *room);
void python_room_cool(python_room *room);

/* The same as operations of a program, `python.run` and `python.call`, without a process that waits
 * here: a server has waiting processes of its own. The list ends with { 0 }. */
extern const mishap_service python_service;
extern const mishap_operation python_operations[];

/* The paths that a program which embeds Python must be able to read: its library, shared libraries,
 * time zones. The list ends with NULL. */
extern const char *const python_readable[];

/* … and a program with these operations, which python_run() and python_call() use. */
extern const mishap_app python_app;

/* The programs and libraries that the service uses. */
extern const service_part python_parts[];

/* The path of the program that runs Python; NULL: it is missing, and calls fail with
 * NOT_CONFIGURED. */
const char *python_program(void);

#endif
