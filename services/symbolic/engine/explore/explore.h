/*
 * Exploration: all paths of a function, for one of the tools.
 *
 * A tool is a function that is called for each path with the module loaded. It returns when the
 * path has ended, and counts what it found. Whether every path was exhausted, and if not why, is
 * known at the end.
 */
#ifndef SYMBOLIC_EXPLORE_H
#define SYMBOLIC_EXPLORE_H

#include "inputs/domain.h"
#include "machine/machine.h"
#include "replay/replay.h"

enum { MOST_CONDITIONS = 16, MOST_WITNESSES = 5 };

/* pre:, post: and raises: lines of a docstring. */
typedef struct contract {
    const char *pre[MOST_CONDITIONS], *post[MOST_CONDITIONS], *raises[MOST_CONDITIONS];
    const node *pre_nodes[MOST_CONDITIONS], *post_nodes[MOST_CONDITIONS];
    size_t pre_count, post_count, raises_count;
} contract;

/* What came of calling all inputs (enumerate.h). */
typedef struct every_input {
    bool ran; /* to its end, or until there were enough findings */
    domain domains[MOST_PARAMETERS];
    size_t calls, held; /* inputs that were called; those that satisfy the preconditions */
    size_t found[MOST_FOUND], found_count;
    replay_result each[MOST_FOUND]; /* what came of each finding */
    /* In place of all: inputs of a pool, a row of words each; NULL: none were called. */
    const char ***rows;
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
    int64_t last_ns; /* the deadline, if that of an exploration is earlier */

    /* The function, or the two of a comparison. */
    const node *function, *other;
    contract contract;
    parameter parameters[MOST_PARAMETERS];
    size_t parameter_count;
    const char *assumed; /* what was taken for parameters, where the code does not say it */
    bool guessed;        /* … of which other types may be tried */
    const char *exception_type;

    every_input every;

    /* Of the path: its inputs as they were made. */
    values inputs;

    /* What was found. */
    path_function *path;
    path_function *salvage; /* a path that was left: a call that leads there may tell, too */
    path_function *tell;    /* called now and then with what is known so far; NULL: not wanted */
    int64_t told_ns;
    bool late; /* its time was over, so that more of it may tell more */
    size_t salvaged;
    size_t type_errors; /* paths that ended with a TypeError or AttributeError */
    bool done;          /* the tool needs no more paths */
    size_t paths, good; /* explored; of those, without a finding */
    size_t unsure;      /* ended without a witness that the solver could give */
    size_t unanswered;  /* witnesses whose call in real Python gave no answer */
    const char *unanswered_why;
    /* Real Python did not do what a path says: the model is wrong, and no path counts. Private:
     * "f(3): the engine expected …; real Python …". NULL: that did not happen. */
    const char *contradicted;
    const char *contradicted_call;
    size_t stopped; /* left before their end */
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
/* The time of the processor that this thread has used. */
int64_t processor_ns(void);
/* Nothing more is to be found out by paths. */
bool explore_settles(const analysis *a);

/* Why not everything was exhausted: an error type and a message; `type` is NULL if it was. */
fault explore_fault(analysis *a);
/* Which preconditions would leave less to explore: "; try this: …" (advice.c). */
const char *explore_advice(analysis *a);
/* The fraction of the paths that are known. */
double explore_coverage(const analysis *a);

/* -- within a path ----------------------------------------------------------------------------- */

/* Are the names by which a precondition bounds a parameter (bounds_narrow()) Python's own? */
bool bounds_are_plain(analysis *a);
/* Fresh inputs, which are kept in `inputs`; then the preconditions are required. */
void path_inputs(analysis *a);
/* Call a function with copies of the inputs: what it returned, or NULL and `raised`. `*after` has
 * the arguments as the call left them. */
value *path_call(analysis *a, const node *function, values *after);
/* Is this postcondition true? A bool value, NULL: raised. */
value *path_post(analysis *a, const node *post, values *after, value *result);

/* A call that leads here, and what real Python makes of it. */
typedef struct witness {
    values arguments; /* concrete */
    const char *call; /* "f(1, b=2)" */
    const char *condition;
    replay_result replayed;
    /* An input that was called before: the words of each argument. */
    bool enumerated;
    const char *words[MOST_PARAMETERS];
} witness;

/* False: the solver gives no model that can be written down. */
bool path_witness(analysis *a, witness *out);
/* Real Python did not confirm the witness of a path that ends as `expected` (private words) says.
 * What rests on a guess ends here; a replay without an answer is no more than that; anything else
 * contradicts the model. */
void path_refuted(analysis *a, const witness *w, const char *expected);
/* Does a call that has ended as `first` says end in the same way with other hashes of strs? */
bool ends_alike(analysis *a, const replay_call *call, const replay_result *first);
void path_contradicted(analysis *a, const char *call, const char *expected, const char *did);
/* How the path ended, in private words: what was raised, or `otherwise`. */
const char *path_ending(analysis *a, const value *raised, const char *otherwise);

/* The words of a call with these arguments, for a replay: `arguments`, `names` and `pre` are set,
 * and
 * `*shown` is the call as a person would write it. False: it has none. */
bool call_words(analysis *a, const values *given, replay_call *out, const char **shown);
/* -- calls in words (calling.c) -----------------------------------------------------------------
 */

/* "((1, *(2, 3)), {'k': 2})" for a replay, by the words of each argument; NULL: "%s" for each. */
const char *arguments_of(const analysis *a, const char *const *words, arena *to);
/* "f(1, 2, 3, k=2)", as a person would write it. */
const char *call_shown(analysis *a, const char *const *words, arena *to);
/* What the words of a `*args` or `**kwargs` have in them: of a dict `keys` are expressions, else
 * NULL. False: not known. */
typedef struct rest_item {
    const node *key;
    const char *key_words, *words;
} rest_item;
bool rest_items(analysis *a, const char *words, rest_item **out, size_t *count);

/* A tuple as Python writes it; its items are texts, or words of Python. */
const char *python_list(arena *to, const char *const *items, size_t count, bool quote);
/* Set `names`, `pre` and `post` of a call. */
void contract_words(const analysis *a, arena *to, replay_call *out);
/* … without a replay, in a model of the caller. */
bool model_arguments(analysis *a, Z3_model model, values *out);

/* The condition of the path in Python's syntax (condition.c). */
const char *path_condition(machine *m, arena *a);

/* -- contracts (contract.c) -------------------------------------------------------------------- */
bool contract_read(tree *t, const node *function, contract *out, fault *wrong);
bool contract_allows(const contract *c, machine *m, const value *raised);

#endif
