/*
 * Exploration: all paths of a function, for one of the tools.
 *
 * A tool is a function that is called for each path with the module loaded. It returns when the
 * path has ended, and counts its findings. At the end it is known whether all paths were explored,
 * and if not, why.
 */
#ifndef SYMBOLIC_EXPLORE_H
#define SYMBOLIC_EXPLORE_H

#include "inputs/domain.h"
#include "interpreter/interpreter.h"
#include "replay/replay.h"

enum { MOST_CONDITIONS = 16, MOST_WITNESSES = 5 };

/* pre:, post: and raises: lines of a docstring. */
typedef struct contract {
    const char *pre[MOST_CONDITIONS], *post[MOST_CONDITIONS], *raises[MOST_CONDITIONS];
    const node *pre_nodes[MOST_CONDITIONS], *post_nodes[MOST_CONDITIONS];
    size_t pre_count, post_count, raises_count;
} contract;

/* The results of calling all inputs (enumerate.h). */
typedef struct every_input {
    bool ran; /* to the end, or until there were enough findings */
    domain domains[MOST_PARAMETERS];
    size_t calls, held; /* inputs that were called; those of them that satisfy the preconditions */
    size_t found[MOST_FOUND], found_count;
    replay_result each[MOST_FOUND]; /* the result of each finding */
    /* Instead of all inputs: those of a pool, a row of literals each; NULL: none were called. */
    const char ***rows;
    const char *why; /* why the calls of all inputs did not come to their end; NULL: they did */
    bool barred;     /* the inputs are few, but the code may depend on more (`rests_on`) */
} every_input;

typedef struct analysis analysis;
typedef void path_function(analysis *a);

struct analysis {
    machine m;
    solver *solver;
    arena tree_arena, path_arena;
    tree tree;
    const char *code;
    size_t code_length;
    int64_t began_ns, deadline_ns;
    int64_t last_ns; /* the deadline of this exploration, if that is earlier */

    /* The function, or the two of a comparison. */
    const node *function, *other;
    contract contract;
    parameter parameters[MOST_PARAMETERS];
    size_t parameter_count;
    const char *assumed; /* the assumed types of parameters without an annotation */
    bool guessed;        /* … for which other types may be tried */
    const char *exception_type;
    const char
        *rests_on; /* what the code may depend on beside its inputs (nature.h); NULL: nothing */

    every_input every;

    /* The inputs of the path, as they were created. */
    values inputs;

    /* What was found. */
    path_function *path;
    /* For a path that was given up: a call that leads there may be a finding, too. */
    path_function *salvage;
    path_function *tell; /* called now and then with what is known so far; NULL: not wanted */
    int64_t told_ns;
    bool late; /* the time was over: with more time it may find more */
    size_t salvaged;
    size_t type_errors; /* paths that ended with a TypeError or AttributeError */
    bool done;          /* the tool needs no more paths */
    size_t paths, good; /* explored paths; those of them without a finding */
    size_t unsure;      /* ended without a witness from the solver */
    size_t unanswered;  /* witnesses whose call in real Python did not finish */
    const char *unanswered_why;
    /* Real Python contradicts a path: the model is wrong, and no path counts. Private text: "f(3):
     * the engine expected …; real Python …". NULL: no contradiction. */
    const char *contradicted;
    const char *contradicted_call;
    size_t stopped; /* paths that were given up */
    size_t left;    /* sides that were not explored */
    stop first_stop;
    bool exhausted;
    int64_t found_ns; /* when the first finding was made; 0: none */
};

/* Prepare an analysis. False: `wrong` says why. */
bool analysis_open(analysis *a, solver *s, const char *code, size_t length, const char *function,
                   const char *other, double seconds, type_kind guess, fault *wrong);
void analysis_close(analysis *a);

/* Explore all paths with the function `path`, within these seconds and the time of the analysis. */
void explore(analysis *a, path_function *path, path_function *salvage, double seconds);
/* True if exploring paths cannot find out more. */
bool explore_settles(const analysis *a);

/* Why not all paths were explored: an error type and a message; `type` is NULL if they were. */
fault explore_fault(analysis *a);
/* A question about Python failed for a reason of the engine (bridge.c). */
fault engine_fault(analysis *a);
/* Preconditions that would leave less to explore: "; try this: …" (advice.c). */
const char *explore_advice(analysis *a);
/* The fraction of the paths that were explored. */
double explore_coverage(const analysis *a);

/* -- within a path ----------------------------------------------------------------------------- */

/* True if the names in a precondition that bounds a parameter (bounds_narrow()) are Python's
 * own. */
bool bounds_are_plain(analysis *a);
/* Create fresh inputs in `inputs`, then require the preconditions. */
void path_inputs(analysis *a);
/* Call a function with copies of the inputs: its result, or NULL and `raised`. `*after` has the
 * arguments after the call. */
value *path_call(analysis *a, const node *function, values *after);
/* The truth of a postcondition: a bool value; NULL: raised. */
value *path_post(analysis *a, const node *post, values *after, value *result);

/* A call that follows this path, and its result in real Python. */
typedef struct witness {
    values arguments; /* concrete */
    const char *call; /* "f(1, b=2)" */
    const char *condition;
    replay_result replayed;
    /* An input that was called before: the literal of each argument. */
    bool enumerated;
    const char *words[MOST_PARAMETERS];
} witness;

/* False: the solver gives no model that can be written as literals. */
bool path_witness(analysis *a, witness *out);
/* Real Python did not confirm the witness of a path that ends as `expected` (private text) says. If
 * the path depends on a guess, it ends here; if the replay did not finish, it is only not
 * confirmed; otherwise it contradicts the model. */
void path_refuted(analysis *a, const witness *w, const char *expected);
/* True if a call that has ended like `first` ends in the same way with another hash seed. */
bool ends_alike(analysis *a, const replay_call *call, const replay_result *first);
void path_contradicted(analysis *a, const char *call, const char *expected, const char *did);
/* How the path ended, as private text: the exception, or `otherwise`. */
const char *path_ending(analysis *a, const value *raised, const char *otherwise);

/* The text of a call with these arguments, for a replay: `arguments`, `names` and `pre` are set,
 * and `*shown` is the call for a person. False: it cannot be written. */
bool call_words(analysis *a, const values *given, replay_call *out, const char **shown);
/* -- calls in words (calling.c) -----------------------------------------------------------------
 */

/* "((1, *(2, 3)), {'k': 2})" for a replay, from the literal of each argument; NULL: "%s" for
 * each. */
const char *arguments_of(const analysis *a, const char *const *words, arena *to);
/* "f(1, 2, 3, k=2)", for a person. */
const char *call_shown(analysis *a, const char *const *words, arena *to);
/* The items in the literal of a `*args` or `**kwargs`: for a dict `keys` are expressions, else
 * NULL. False: not known. */
typedef struct rest_item {
    const node *key;
    const char *key_words, *words;
} rest_item;
bool rest_items(analysis *a, const char *words, rest_item **out, size_t *count);

/* A tuple in Python's syntax; its items are texts, or Python expressions. */
const char *python_list(arena *to, const char *const *items, size_t count, bool quote);
/* Set `names`, `pre` and `post` of a call. */
void contract_words(const analysis *a, arena *to, replay_call *out);
/* … without a replay, from a model of the caller. */
bool model_arguments(analysis *a, Z3_model model, values *out);

/* The condition of the path in Python's syntax (condition.c). */
const char *path_condition(machine *m, arena *a);

/* -- contracts (contract.c) -------------------------------------------------------------------- */
bool contract_read(tree *t, const node *function, contract *out, fault *wrong);
bool contract_allows(const contract *c, const value *raised);

/* -- names of exceptions (raised.c) ------------------------------------------------------------ */

/* The name of the class that is meant: the last part of `decimal.InvalidOperation`, and what a name
 * of the module stands for. */
const char *exception_meant(tree *t, const char *words);
/* The fault of such a name that the module binds more than once: it is not known which class is
 * meant. `type` is NULL if there is none. */
fault exception_fault(tree *t, const char *words, int line);
/* Is there such an exception: a builtin, one of the code at any depth, or one of a module that the
 * code imports or imports from? A frozen dataclass raises FrozenInstanceError, which its code need
 * not import. -1: Python could not tell. */
int exception_exists(tree *t, const char *name);
/* True if the exception is of a class of this name, or of one derived from such a class. */
bool is_of_class_named(const value *raised, const char *name);

#endif
