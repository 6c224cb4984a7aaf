/*
 * Turns: calls that wait, and which of them is next. Callers take turns, so that a caller with one
 * call does not wait for all calls of a caller with many.
 *
 * This is deficit round robin. What counts is the time that the calls of a caller have used, not
 * how many there were. In each round every caller may use the same time, MISHAP_TURNS_ROUND_NS. A
 * caller that has used more waits until a later round; a round begins when no caller that waits has
 * any time left in the one before. Within a round the callers take turns call by call.
 *
 * How long a call takes is known when it has ended. Until then it counts with what is expected of
 * it; then the difference is added or given back. A caller is MISHAP_TURNS_DEBT_NS behind at most,
 * which is less than the time that a call may wait.
 *
 * A caller is known while one of its calls waits or runs. Where there is no memory for a further
 * caller, it shares the turns of all other callers without memory. The cost of a call does not
 * depend on how many wait. The beginning of a round visits each waiting caller once.
 */
#ifndef MISHAP_WORKER_LOOP_TURNS_H
#define MISHAP_WORKER_LOOP_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MISHAP_TURNS_ROUND_NS INT64_C(5000000)
#define MISHAP_TURNS_DEBT_NS  INT64_C(5000000000)

enum {
    MISHAP_TURNS_WORDS = 64,  /* entries of the hash table of callers */
    MISHAP_TURNS_SPARES = 16, /* freed callers whose memory is kept for the next ones */
};

typedef struct mishap_turns_caller mishap_turns_caller;

/* A waiting call: a member of the caller's own struct for it. All zero before it is used. */
typedef struct mishap_turn {
    struct mishap_turn *next, *previous; /* calls of the same caller */
    mishap_turns_caller *caller;         /* NULL: it does not wait */
} mishap_turn;

typedef enum mishap_turns_place {
    MISHAP_TURNS_NOWHERE, /* none of its calls waits */
    MISHAP_TURNS_IN,      /* it has time left in this round */
    MISHAP_TURNS_SPENT,   /* it has none left */
    MISHAP_TURNS_ASIDE,   /* it may not have a turn now */
    MISHAP_TURNS_PLACES,
} mishap_turns_place;

struct mishap_turns_caller {
    uint64_t holder;
    mishap_turns_caller *chain;           /* the next in its hash chain, or in the list of spares */
    mishap_turns_caller *next, *previous; /* in the list of its place */
    mishap_turns_place place;
    mishap_turn *first, *last; /* its calls that wait */
    size_t running;
    int64_t used_ns;
};

/* All zero: no call waits. */
typedef struct mishap_turns {
    struct mishap_turns_list {
        mishap_turns_caller *first, *last;
    } places[MISHAP_TURNS_PLACES];
    int64_t granted_ns; /* the time that a caller may have used by the end of this round */
    size_t waiting;     /* waiting calls */
    mishap_turns_caller *words[MISHAP_TURNS_WORDS];
    mishap_turns_caller *spare;
    size_t spares;
    mishap_turns_caller others; /* callers for which there was no memory */
} mishap_turns;

void mishap_turns_release(mishap_turns *turns); /* no call may wait or run any more */

/* A call of this caller waits: behind its other calls, or before them. */
void mishap_turns_add(mishap_turns *turns, mishap_turn *turn, uint64_t holder, bool first);

/* The call no longer waits, and does not run. */
void mishap_turns_remove(mishap_turns *turns, mishap_turn *turn);

/* The call whose turn it is; it stays in the queue. NULL: no call waits, or all callers are set
 * aside. */
mishap_turn *mishap_turns_next(mishap_turns *turns);

/* Its caller may not have a turn until all callers that were set aside come back. */
void mishap_turns_set_aside(mishap_turns *turns, const mishap_turn *turn);
void mishap_turns_bring_back(mishap_turns *turns);

/* The call runs. The result is for mishap_turns_end(), which must be called once for it. */
mishap_turns_caller *mishap_turns_take(mishap_turns *turns, mishap_turn *turn, int64_t expected_ns);
void mishap_turns_end(mishap_turns *turns, mishap_turns_caller *caller, int64_t expected_ns,
                      int64_t used_ns);

#endif
