/*
 * States of destructive operations in a cluster (sealed.h). Each may be used once, by one of all
 * servers; which one is the first is known only to the database. So a loop that has been given such
 * a state claims it, and lets the call wait; the process that talks to the database (src/http/
 * cluster) decides. The table lies in memory that all processes of a server share. Its bytes are
 * all zero at first.
 */
#ifndef MISHAP_OPERATION_CLAIMS_H
#define MISHAP_OPERATION_CLAIMS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { MISHAP_CLAIMS = 256 }; /* that wait at once */

typedef enum mishap_claim_answer {
    MISHAP_CLAIM_OPEN,    /* there is none yet */
    MISHAP_CLAIM_FIRST,   /* this server is the first: the call may run */
    MISHAP_CLAIM_TAKEN,   /* the state was used */
    MISHAP_CLAIM_UNKNOWN, /* it may have been: the database did not answer */
} mishap_claim_answer;

/*
 * A word is a generation and a phase. A loop takes a free place, writes the members, and sets the
 * phase that says so (release); the process reads the word, the members, and the word again, and
 * decides only for that generation. So each place has one writer at a time, and an answer for a
 * claim that was dropped is lost.
 */
typedef struct mishap_claims {
    struct mishap_claims_place {
        _Atomic(uint64_t) word, number;
        _Atomic(int64_t) expires_ms, asked_ns;
    } places[MISHAP_CLAIMS];
} mishap_claims;

/* What identifies a state among all that can be used now. */
typedef struct mishap_claim {
    uint64_t ticket; /* never 0 */
    uint64_t number;
    int64_t expires_ms;
} mishap_claim;

/* -- in a loop; `now_ns`: the monotonic clock -- */

/* The ticket; 0: too many claims wait. One that was not dropped for a minute is given up: its loop
 * has crashed. (The place of a loop that crashed while it wrote one stays lost.) */
uint64_t mishap_claims_ask(mishap_claims *claims, uint64_t number, int64_t expires_ms,
                           int64_t now_ns);
mishap_claim_answer mishap_claims_look(mishap_claims *claims, uint64_t ticket);

/* To be called once for each ticket, with an answer or without one. */
void mishap_claims_drop(mishap_claims *claims, uint64_t ticket);

/* -- in the process that talks to the database -- */

/* The claims that have no answer: how many there are in `out`, at most `most`. */
size_t mishap_claims_open(mishap_claims *claims, mishap_claim *out, size_t most);
void mishap_claims_decide(mishap_claims *claims, uint64_t ticket, mishap_claim_answer answer);

#endif
