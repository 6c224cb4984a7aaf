/*
 * Replay: a witness is called in real CPython before it is reported.
 *
 * On a command line the call runs in a child process with a deadline and a memory limit, or, with
 * --replay here, in this process. As a worker of the service the engine runs nothing itself: it
 * asks the service (replay_asked, in serve.c), which has a sandboxed process of CPython for each
 * replay.
 */
#ifndef SYMBOLIC_REPLAY_H
#define SYMBOLIC_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "replay/replay_driver.h"

typedef struct replay_call {
    const char *code;
    const char *function;
    const char *arguments; /* Python: "((1, 2), {'k': 3})" */
    const char *names;     /* Python: a tuple of the names of all parameters, in that order */
    const char *pre;       /* Python: a list of expressions that must hold before the call */
    const char *post;      /* … after it */
    const char *other;     /* a second function to call with the same arguments; NULL: none */
    /* Many inputs instead of one: `arguments` has a %s for each parameter. This is a Python tuple:
     * the values of each parameter (a list of two ints, from and to, or a tuple of literals) or a
     * list of rows, exceptions that are allowed, lines of asserts that are preconditions, a tuple
     * of the exception to search for, seconds, whether these are processor time, how many findings
     * are enough, whether the code need be loaded but once for all rows, and whether results are
     * bits that were noted. NULL: one input. */
    const char *every;
    /* Processor time that is enough for it, since other processes may use the processors; 0: it has
     * all the time until its deadline. */
    int64_t most_ns;
    int seed; /* the hash seed of strs, and so of the order of sets; 0: the usual one */
} replay_call;

enum { MOST_FOUND = 16 };

typedef struct replay_result {
    /* Otherwise `message` says why not: the time was over, the code could not be loaded. */
    bool ran;
    bool pre;    /* all preconditions held */
    bool raised; /* … and what, with the names of its base classes: ",ValueError,Exception," */
    const char *type, *bases, *message;
    int line;               /* where in the code; 0: nowhere */
    const char *result;     /* repr() of what was returned */
    int post;               /* the postcondition that failed, from 0; -1: none */
    const char *post_words; /* how it failed: "False", or an exception */
    /* Of the second function. */
    bool other_raised, same;
    bool incomparable; /* it is not known whether they are the same */
    const char *other_type, *other_message, *other_result;
    /* For many inputs: how many were called, for how many the preconditions hold, and the indexes
     * of findings; the last parameter counts fastest. Each finding was called again, twice. */
    bool every;
    size_t calls, held, found[MOST_FOUND], found_count;
    struct replay_result *each; /* the result of each finding */
} replay_result;

/* True if the replay reached its memory limit, which says nothing about the code. */
bool is_out_of_memory(const replay_result *got);

typedef void replay_function(arena *a, const replay_call *call, int64_t deadline_ns,
                             replay_result *out);

/* True if a call is run where its processor time is known: in a child. */
bool replay_counts_processor_time(void);
/* Run a call in CPython. */
void replay(arena *a, const replay_call *call, int64_t deadline_ns, replay_result *out);
replay_function *replay_set(replay_function *by); /* NULL: in a child. Returns the previous one */
replay_function replay_here;                      /* in this process */
replay_function replay_asked;                     /* by the service */

/* Run the call that standard input has, as replay_literals() writes it, and print the result: in a
 * process of its own, with another hash seed. */
_Noreturn void replay_from_input(void);

/* A call as the arguments of the driver: a JSON array of Python literals. NULL: no memory. To be
 * freed with free(). */
char *replay_literals(const replay_call *call);

/* Read the answer of the driver. It comes from a process that ran untrusted code, so nothing of it
 * is trusted: it is text of limited length. */
void replay_read(arena *a, const char *said, replay_result *out);

#endif
