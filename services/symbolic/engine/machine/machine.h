/*
 * machine: the state of one path - values, names, classes and objects as they are kept, what the
 * path has decided (path.h), exceptions, and known values that CPython computes itself (bridge.c).
 *
 * It knows no operator, no function of Python and no statement: theories, builtins and the
 * interpreter are above it.
 *
 * A function that evaluates something returns NULL if that raises, and `raised` is the exception. A
 * construct that is not modelled exactly ends the path (path_unsupported()), so that it can never
 * lead to a wrong verdict.
 */
#ifndef SYMBOLIC_MACHINE_H
#define SYMBOLIC_MACHINE_H

#include "base/base.h"
#include "machine/path.h"
#include "machine/value.h"
#include "solver/solver.h"
#include "tree/tree.h"

typedef enum outcome { DONE, RETURNED, BROKE, CONTINUED, RAISED } outcome;

enum {
    MOST_CALLS = 400,     /* nested calls */
    MOST_NESTED = 200,    /* nested containers */
    MOST_STEPS = 1000000, /* statements and expressions of a path */
    MOST_ITEMS = 200000,  /* items of a container */
    MOST_BITS = 1 << 16,  /* bits of an int */
    MOST_CONCRETE_CHARS = 1 << 20,
    MOST_SETTLED = 20, /* a str that surely has no more characters is split into characters */
};

typedef struct arguments {
    values places;
    values names; /* of keywords, as str */
    values keywords;
} arguments;

/*
 * Three things are handed to the machine at its start, because only a folder above can do them:
 *
 * - The code_runner runs code. A sorted() of builtins calls the function that is its key, a
 *   theory asks a generator for its next item, an import loads a module that is written in Python.
 * - The joiner joins the values of two sides of a condition: how two ints, texts or lists become
 *   one is a matter of theories.
 * - The watcher is told which branches are reached and which lines are run. There is one if an
 *   exploration surveys a function.
 */
typedef struct code_runner {
    /* Run statements. */
    outcome (*run)(machine *m, scope *s, nodes body);
    /* Call any value. NULL: raised. */
    value *(*call)(machine *m, value *callee, arguments *given, int line);
    /* The next item of a generator; NULL: there is none, or `raised`. */
    value *(*next)(machine *m, value *generator, int line);
    /* All items of a generator expression to which there is no other reference (`frozen`), as a
     * list, if the time at which they are made does not matter: nothing is raised or changed. NULL:
     * it may matter. */
    value *(*all)(machine *m, value *generator);
} code_runner;

typedef struct joiner {
    /* One of two values of one kind by a condition; NULL: they have no common kind. */
    value *(*values)(machine *m, Z3_ast condition, value *yes, value *no);
    /* Join the two states of a container after both sides of a condition; `no` is changed. */
    bool (*containers)(machine *m, Z3_ast condition, const value *yes, value *no);
} joiner;

typedef struct watcher {
    void (*branch)(struct watcher *w, machine *m, const node *n, Z3_ast condition);
    void (*line)(struct watcher *w, machine *m, int line);
} watcher;

struct machine {
    solver *solver;
    tree *tree;
    arena *arena; /* freed with the path */
    arena *kept;  /* freed with the analysis */
    path path;

    scope *globals;
    value *raised;   /* the exception that propagates */
    value *returned; /* the value of a `return` */
    value *handling; /* the exception that a handler handles, for a bare `raise` */
    int line;        /* the current line */
    unsigned calls, serial;
    unsigned nested;  /* depth of the containers that are compared or printed */
    unsigned lasting; /* values that are older than this must not be changed: see path_touch() */
    uint64_t steps;

    /* Limits that an exploration sets, and whether one was reached. */
    unsigned most_turns; /* iterations of one loop whose condition is undecided */
    unsigned most_items; /* items of a container that is a parameter */
    unsigned most_forks; /* forks of one path */
    bool digits_assumed; /* an int was converted to text, which Python limits to 4,300 digits */
    bool joined;         /* sides were joined, or an attempt was made */
    bool left_out;       /* a statement of the module was skipped, since it is not supported */
    bool mixed;          /* an object was made that is an int, str or tuple, too: see throw() */
    bool own_keys;       /* an object with a __hash__ of the code was looked for among keys */
    bool no_joins;       /* joins are off: a construct may not be able to use a joined value */
    const value *lasting_names; /* a class: what the names in its __hash__ mean never changes */

    /* What is handed in: see above. */
    const code_runner *code;
    const joiner *joins;
    watcher *watcher; /* NULL: none */
    /* Values with smaller serials belong to the module; was any of them changed? */
    unsigned loaded;
    bool module_changed;
    /* A leading assert of this function is a precondition. */
    const node *contract_of;

    value *none, *yes, *no;
    struct { /* exceptions of Python, created when they are needed */
        const char *name;
        value *class;
    } exceptions[64];
    size_t exception_count;
    struct { /* modules that are modelled in Python (modules.c) and that the path has imported */
        const char *module;
        scope *members;
    } libraries[16];
    size_t library_count;
};

/* Count a step; ends the path when there were too many or the time is over. */
void step(machine *m);

/* -- code that is run -------------------------------------------------------------------------- */
static inline value *call(machine *m, value *callee, arguments *given, int line)
{
    return m->code->call(m, callee, given, line);
}

static inline void watch_branch(machine *m, const node *n, Z3_ast condition)
{
    if (m->watcher)
        m->watcher->branch(m->watcher, m, n, condition);
}

static inline void watch_line(machine *m, int line)
{
    if (m->watcher)
        m->watcher->line(m->watcher, m, line);
}

value *call_with(machine *m, value *callee, value *argument, int line); /* one argument */
/* Call a member with an object as its first argument. */
value *call_member(machine *m, value *self, value *member, arguments *given, int line);
/* Take the keyword argument of this name out of the arguments; NULL: there is none. */
value *keyword_argument(arguments *given, const char *name);
/* Check for `least` to `most` arguments, and no keywords that were not taken. False: raised. */
bool arguments_fit(machine *m, const arguments *given, size_t least, size_t most, int line);

/* -- names (scope.c) --------------------------------------------------------------------------- */
scope *scope_new(machine *m, scope *up, const node *owner);
value *scope_get(machine *m, scope *s, const char *name); /* NULL: raised */
value *scope_peek(const scope *s, const char *name);      /* only in this scope; NULL: not bound */
void scope_set(machine *m, scope *s, const char *name, value *v);
bool scope_unset(machine *m, scope *s, const char *name);
/* The same for a name that need not be bound, as at the end of `except E as name`. */
void scope_forget(machine *m, scope *s, const char *name);
bool scope_binds(machine *m, const node *function, const char *name);
/* `global` and `nonlocal` statements hold for a whole function, even before their line. */
void scope_declare(machine *m, scope *s, nodes body);
/* How many statements of a module bind a name, not counting imports from `typing` and the like. A
 * function that declares it as global counts as one more. */
size_t scope_count(nodes body, const char *name);
/* Python evaluates annotations: check that their names exist. False: raised. */
bool annotation_exists(machine *m, scope *s, const node *n);

/* -- exceptions (exception.c) ------------------------------------------------------------------ */
value *exception_class(machine *m, const char *name); /* NULL: Python has none of that name */
/* Raise an exception of Python; gives NULL, to be returned. */
value *throw(machine * m, const char *name, int line);
value *throw_value(machine *m, value *exception, int line);
/* For a TypeError of Python itself: an object that is also an int, str or tuple may have caused it,
 * which is not supported then. */
void check_mixed(machine *m, const char *name, int line);
value *new_exception(machine *m, value *class, values given);
bool is_subclass(const value *class, const value *of);

/* -- members and fields (member.c) ------------------------------------------------------------- */
/* A member of the class itself. */
value *own_member(const value *class, const char *name);
/* … of the class, or of its first base that has one. */
value *class_member(value *class, const char *name);
/* … of the class or of the first base after `after` that has one. */
value *member_after(value *class, const value *after, const char *name);
void put_member(machine *m, value *class, const char *name, value *v);
value *object_field(machine *m, const value *object, const char *name);
void object_set(machine *m, value *object, const char *name, value *v);
/* The class whose fields an object has, if it is a dataclass or inherits from one; else NULL. */
value *record_of(value *class);
bool class_is_abstract(value *class);
/* The fields of a dataclass or NamedTuple in their order: those that count for ==, order and hash
 * or, with `all`, the positional parameters of __init__. */
values object_declared(machine *m, const value *object, bool all, int line);

/* -- modules whose model is in Python (modules.c) ---------------------------------------------- */
bool library_has(const char *module);
/* Advice what to write instead of something that has no model. */
const char *library_instead(const char *what);
/* The member of a module by this name; NULL: it is not modelled. */
value *library_member(machine *m, const char *module, const char *name);

/* -- known values, by CPython itself (bridge.c) ------------------------------------------------ */
/* The result of `expression` over known values `a`, `b`, `c`; NULL: raised. */
value *bridge(machine *m, const char *expression, const values *given, int line);

/* The same for a method of `self`, with up to three positional arguments. */
value *bridge_method(machine *m, value *self, const char *name, const arguments *given, int line);

/* Run statements of the engine, whose names later expressions may use. False: this version of
 * Python does not have what they need. */
bool bridge_define(machine *m, const char *source);

/* Python's classification of a single character (characters.c): the result of `str.method()`. */
bool character_is(machine *m, uint32_t c, const char *method);
/* … of a character after a letter. */
bool character_continues(machine *m, uint32_t c);
/* Ranges of characters. A method of their case adds by[0] to the even ones, by[1] to the odd ones.
 */
typedef struct character_shift {
    uint32_t from, to;
    int32_t by[2];
} character_shift;
/* For characters that become one other character: those up to U+FF (`plain`), or those beyond. */
const character_shift *character_shifts(machine *m, const char *method, bool plain, size_t *count);
/* The characters that become several. */
const character_shift *character_others(machine *m, const char *method, size_t *count);
/* The result for one character: how many, and which. */
enum { MOST_EXPANDED = 3 };
size_t character_turned(machine *m, uint32_t c, const char *method, uint32_t out[MOST_EXPANDED]);
/* Those that have a case, as title() sees it. */
const character_shift *character_cased(machine *m, size_t *count);
/* Long ranges beyond U+FF in which all characters are printable (by[0] is 1), or none is. */
const character_shift *character_printable(size_t *count);

/* What Python has. Each of these is -1 if Python could not tell, since the engine has no memory,
 * was interrupted or could not read a file. Then nothing is known: bridge_give_up() ends the path.
 */

/* Is there a builtin of this name? */
int bridge_has_builtin(const char *name);
/* 0: there is no such module, 1: it cannot be imported or has no such name, 2: it has. `name` may
 * be NULL. */
int bridge_import(const char *module, const char *name);
/* Is it a class of exceptions? */
int bridge_exception(const char *module, const char *name);
/* Does a type have such an attribute? 1: a method, 2: another one. */
int bridge_attribute(const char *builtin_type, const char *name);

/* The class of the exception that such a call failed with. */
const char *bridge_failure(void);
/* End the path: a call into Python failed for a reason of the engine. */
_Noreturn void bridge_give_up(machine *m, int line, const char *what);

#endif
