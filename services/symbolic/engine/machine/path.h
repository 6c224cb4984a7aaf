/*
 * Paths: the order in which the ways through a function are explored.
 *
 * A path is followed from the first statement to its end. Wherever a condition may be true and may
 * be false the path forks: one side is taken, the other is left on the trail. When the path has
 * ended, the last fork with a side left is turned, and the code is run again from its beginning;
 * the trail tells each decision up to there without asking the solver. When no fork has a side
 * left, every path was explored.
 *
 * Where the two sides of a condition meet again the path need not fork: both are run one after the
 * other (a speculation). What a side changes of the names, containers and objects that were there
 * before is noted and undone, so that the other side begins as the first one did (journal.c). Then
 * values that differ become `if-then-else` terms, and items that only one side has get a guard.
 *
 * A side that leaves the block cannot be joined: the path forks. Where that happens further in, on
 * a condition within the condition, the path forks on just that (`hoist`), and what is left is
 * tried again: `if a: … if b: return` is one path that returns and one that goes on.
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
    bool left;   /* the other side is still to be explored */
    bool unsure; /* the solver could not tell whether the choice is possible */
    bool left_unsure;
    unsigned scopes; /* of the solver, before it */
    Z3_ast condition;
    Z3_model other; /* a model of the side that is left; NULL: none */
} mark;

typedef struct speculation {
    jmp_buf back;
    struct speculation *outer;
    Z3_ast condition;
    unsigned serial, scopes;
    unsigned told; /* the scope of the solver that has the condition; 0: none yet */
    bool joins;    /* changes of what is older are noted; otherwise they end it */
    bool second;   /* the other side is run */
    struct change *changes;
} speculation;

typedef struct path {
    mark *marks;
    size_t count, room, at; /* `at`: how many the path has passed */
    size_t forks;           /* … of those that forked */
    Z3_model model;         /* of the condition so far; NULL: not known */
    speculation *speculating;
    Z3_ast
        hoist; /* why a speculation failed: what to fork on before it is tried again; NULL: none */
    bool unsure;  /* a decision of this path is not certain to be possible */
    stop guessed; /* the first guess of this path, as a reason to leave it */
    jmp_buf *ended;
    stop stop;
} path;

/* Which way? Known conditions are answered at once; `prefer` is the side that is taken first. */
bool path_decide(machine *m, Z3_ast condition, bool prefer);
/* Does it hold on this path, for sure? It never forks. */
bool path_sure(machine *m, Z3_ast condition);
/* Go on only where the condition holds; the other side is not explored. Ends the path where it
 * cannot hold. */
void path_require(machine *m, Z3_ast condition);
/* A fact about a fresh symbol. */
void path_assume(machine *m, Z3_ast condition);

/* Leave the path. They do not return. */
_Noreturn void path_unsupported(machine *m, int line, const char *rewrite, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
_Noreturn void path_bound(machine *m, const char *what);
_Noreturn void path_stop(machine *m, stop why);

/* A symbol for what is not modelled exactly: any value of its sort, but the same one for the same
 * operands. A proof holds all the same, since it holds for each value; what is found must be
 * confirmed by real Python, and is unsupported otherwise (`guessed`). */
Z3_ast path_guess(machine *m, Z3_sort sort, const char *what, const char *rewrite, Z3_ast l,
                  Z3_ast r);
/* Real Python did not confirm what was found on this path: it ends here, if it rests on a guess. */
void path_unconfirmed(machine *m);

/* Can this condition hold here? Asked without a mark, so it must not decide what the code does. */
answer path_possible(machine *m, Z3_ast condition, Z3_model *model);

/* Is the path still on its way to the fork that was turned last? */
bool path_is_replaying(const machine *m);

/* A container or scope that is about to be changed. One that is older than `lasting` would carry
 * something from a call to the next: that is unsupported. */
void path_touch(machine *m, unsigned serial);
/* … that cannot be seen from outside, such as a cache: only a join must not do it. */
void path_join_ends(machine *m, unsigned serial);
/* The same for a list, dict, set, object or iterator, or for a scope: where sides are joined, what
 * it was is noted, and what both sides made of it is joined. */
void path_change(machine *m, value *v);
void path_reshape(machine *m, value *v); /* only how it is kept changes, and nothing of its items */
void path_change_names(machine *m, scope *s, bool own); /* `own`: of the function that runs */

/* -- what the sides of a join change (journal.c) ----------------------------------------------- */

/* Note what it is like, if this speculation has not done so. */
void journal_value(machine *m, speculation *in, value *v);
void journal_names(machine *m, speculation *in, scope *s);
/* After the first side: keep what it made, and go back to what was. */
void journal_turn(machine *m, speculation *in);
/* After the second side: join. False: there is something that cannot be. */
bool journal_join(machine *m, speculation *in, Z3_ast condition);
/* Was nothing else changed than the names of this scope? */
bool journal_has_only(const speculation *in, const scope *s);
/* Go back to what was before both. */
void journal_undo(machine *m, speculation *in);

/* The two sides of a condition, as a function that runs one of them. */
typedef struct side {
    void *context;
    /* Run one side; false: it cannot be joined. */
    bool (*run)(machine *m, void *context, bool condition);
    /* After both: join what they gave. False: that cannot be. NULL: they give nothing. */
    bool (*meet)(machine *m, void *context);
} side;

/* Run both sides of a condition that is not known. False: nothing was changed by either, and the
 * caller has to decide. */
bool path_join(machine *m, Z3_ast condition, const side *sides);

/* Turn the last fork that has a side left. False: there is none. */
bool path_next(machine *m);
size_t path_left(const machine *m); /* sides that are left */
/* A model of the path's condition. NULL: the solver has none. The caller releases it. */
Z3_model path_model(machine *m);
void path_clear(machine *m);

#endif
