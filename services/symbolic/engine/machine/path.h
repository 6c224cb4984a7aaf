/*
 * Paths: the order in which the ways through a function are explored.
 *
 * A path is followed from the first statement to its end. Where a condition may be true or false
 * the path forks: one side is taken, the other is left on the trail. When the path has ended, the
 * last fork with a side left is turned, and the code is run again from its beginning; up to there
 * the trail has each decision, so the solver is not asked. When no fork has a side left, every path
 * was explored.
 *
 * Where the two sides of a condition meet again the path need not fork: both are run one after the
 * other (a speculation). Changes of names, containers and objects that existed before are recorded
 * and undone, so that the other side begins in the same state (journal.c). Then values that differ
 * become `if-then-else` terms, and items that only one side has get a guard.
 *
 * A side that leaves the block cannot be joined: the path forks. If a nested condition is the
 * reason, the path forks only on that one (`hoist`), and the join is tried again: `if a: … if b:
 * return` is one path that returns and one that goes on.
 */
#ifndef SYMBOLIC_PATH_H
#define SYMBOLIC_PATH_H

#include <setjmp.h>
#include <stdbool.h>

#include "solver/solver.h"
#include "machine/value.h"

typedef enum stop_kind {
    STOP_NONE,
    STOP_UNSUPPORTED, /* a construct is not modelled */
    STOP_BOUND,       /* a limit of iterations, depth, steps or memory */
    STOP_DEADLINE,
    STOP_INFEASIBLE, /* a precondition does not hold */
    STOP_CONTRADICTION,
} stop_kind;

/* Why a path was left before its end. */
typedef struct stop {
    stop_kind kind;
    int line;
    const char *what;    /* the construct, or the limit */
    const char *rewrite; /* what to try instead; NULL: nothing */
} stop;

typedef struct mark {
    enum { MARK_FORK, MARK_FORCED, MARK_REQUIRED, MARK_JOINED, MARK_SPLIT } kind;
    bool choice;
    bool left;   /* the other side was not explored yet */
    bool unsure; /* the solver could not tell whether the choice is possible */
    bool left_unsure;
    unsigned scopes; /* of the solver, before the fork */
    Z3_ast condition;
    Z3_model other; /* a model of the unexplored side; NULL: none */
} mark;

typedef struct speculation {
    jmp_buf back;
    struct speculation *outer;
    Z3_ast condition;
    unsigned serial, scopes;
    unsigned told; /* the solver scope with its condition; 0: none yet */
    bool joins;    /* changes of older values are recorded; otherwise they end the speculation */
    bool second;   /* the second side runs */
    struct change *changes;
} speculation;

typedef struct path {
    mark *marks;
    size_t count, room, at; /* `at`: how many decisions the path has passed */
    size_t forks;           /* … of those that forked */
    Z3_model model;         /* a model of the path condition so far; NULL: not known */
    speculation *speculating;
    Z3_ast
        /* Why a speculation failed: the condition to fork on before it is tried again; NULL:
         * none. */
        hoist;
    bool unsure;  /* a decision of this path is not certain to be possible */
    stop guessed; /* the first guess of this path, as the reason to give it up */
    jmp_buf *ended;
    stop stop;
} path;

/* Decide a condition. Known conditions are decided at once; otherwise the side `prefer` is explored
 * first. */
bool path_decide(machine *m, Z3_ast condition, bool prefer);
/* True if it certainly holds on this path. It never forks. */
bool path_sure(machine *m, Z3_ast condition);
/* Continue only if the condition holds; the other side is not explored. Ends the path if it cannot
 * hold. */
void path_require(machine *m, Z3_ast condition);
/* A fact about a fresh symbol. */
void path_assume(machine *m, Z3_ast condition);

/* Give up the path. These do not return. */
_Noreturn void path_unsupported(machine *m, int line, const char *rewrite, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
_Noreturn void path_bound(machine *m, const char *what);
_Noreturn void path_stop(machine *m, stop why);

/* A symbol for a value that is not modelled exactly: any value of its sort, but the same one for
 * the same operands. A proof is still valid, since it holds for each value; but a finding must be
 * confirmed by real Python, and is unsupported otherwise (`guessed`). */
Z3_ast path_guess(machine *m, Z3_sort sort, const char *what, const char *rewrite, Z3_ast l,
                  Z3_ast r);
/* Real Python did not confirm a finding of this path: the path ends here, if it depends on a
 * guess. */
void path_unconfirmed(machine *m);

/* Can this condition hold here? The answer is not on the trail, so it must not decide what the code
 * does. */
answer path_possible(machine *m, Z3_ast condition, Z3_model *model);

/* True while the path repeats the decisions before the fork that was turned last. */
bool path_is_replaying(const machine *m);

/* A container or scope is about to be changed. If it is older than `lasting`, it would carry state
 * from one call to the next, which is unsupported. */
void path_touch(machine *m, unsigned serial);
/* … that cannot be seen from outside, such as a cache: only a join must not do it. */
void path_join_ends(machine *m, unsigned serial);
/* The same for a list, dict, set, object or iterator, or for a scope: in a join its state is
 * recorded, and the states of both sides are joined. */
void path_change(machine *m, value *v);
void path_reshape(machine *m, value *v); /* only its representation changes, and no item */
void path_change_names(machine *m, scope *s, bool own); /* `own`: of the function that runs */

/* -- what the sides of a join change (journal.c) ----------------------------------------------- */

/* Record its state, if this speculation has not done so. */
void journal_value(machine *m, speculation *in, value *v);
void journal_names(machine *m, speculation *in, scope *s);
/* After the first side: keep its result, and restore the earlier state. */
void journal_turn(machine *m, speculation *in);
/* After the second side: join. False: something cannot be joined. */
bool journal_join(machine *m, speculation *in, Z3_ast condition);
/* True if only names of this scope were changed. */
bool journal_has_only(const speculation *in, const scope *s);
/* Restore the state before both sides. */
void journal_undo(machine *m, speculation *in);

/* The two sides of a condition, as a function that runs one of them. */
typedef struct side {
    void *context;
    /* Run one side; false: it cannot be joined. */
    bool (*run)(machine *m, void *context, bool condition);
    /* After both: join their results. False: impossible. NULL: they have no results. */
    bool (*meet)(machine *m, void *context);
} side;

/* Run both sides of an unknown condition. False: neither has changed anything, and the caller has
 * to decide. */
bool path_join(machine *m, Z3_ast condition, const side *sides);

/* Turn the last fork that has a side left. False: there is none. */
bool path_next(machine *m);
size_t path_left(const machine *m); /* the number of unexplored sides */
/* A model of the path's condition. NULL: the solver has none. The caller releases it. */
Z3_model path_model(machine *m);
void path_clear(machine *m);

#endif
