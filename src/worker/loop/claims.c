/*
 * Calls that wait until it is known whether this server is the first that takes their state
 * (operation/claims.h). They count as calls that wait, and are in no queue. Only they have claims,
 * so what is refused or leaves gives its place back.
 */
#include "operation/sealed.h"
#include "worker/loop/inside.h"

enum {
    LOOK_MS = 2,
    WAIT_MS = 5000, /* for a place, and for the database */
};

void mishap_runner_claim(mishap_runner *r, mishap_run *run)
{
    run->claims = true;
    run->ticket = 0;
    run->link = NULL;
    run->previous = NULL;
    run->next = r->claiming;
    if (r->claiming)
        r->claiming->previous = run;
    r->claiming = run;
    mishap_runner_wake_at(r, run->since_ns);
}

void mishap_runner_unclaim(mishap_runner *r, mishap_run *run)
{
    *(run->previous ? &run->previous->next : &r->claiming) = run->next;
    if (run->next)
        run->next->previous = run->previous;
    run->next = run->previous = NULL;
    run->claims = false;
    if (run->ticket)
        mishap_claims_drop(r->settings.claims, run->ticket);
    run->ticket = 0;
}

static mishap_claim_answer answer_of(const mishap_runner *r, mishap_run *run, int64_t now_ns)
{
    mishap_claims *claims = r->settings.claims;
    const mishap_call *call = run->call;
    mishap_claim_answer answer = MISHAP_CLAIM_OPEN;
    if (!run->ticket)
        run->ticket = mishap_claims_ask(claims, call->claim.number, call->claim.expires_ms, now_ns);
    if (run->ticket)
        answer = mishap_claims_look(claims, run->ticket);
    bool late = now_ns - run->since_ns > WAIT_MS * MISHAP_MS;
    return answer == MISHAP_CLAIM_OPEN && late ? MISHAP_CLAIM_UNKNOWN : answer;
}

/* NULL: all wait. */
static mishap_run *find_answered(const mishap_runner *r, int64_t now_ns,
                                 mishap_claim_answer *answer)
{
    mishap_run *run = r->claiming;
    while (run && (*answer = answer_of(r, run, now_ns)) == MISHAP_CLAIM_OPEN)
        run = run->next;
    return run;
}

/* From the beginning after each one: what done() does may change the list. */
void mishap_runner_look_at_claims(mishap_runner *r, int64_t now_ns)
{
    mishap_claim_answer answer;
    for (mishap_run *run; (run = find_answered(r, now_ns, &answer)) != NULL;) {
        mishap_runner_unclaim(r, run);
        run->call->claim.late = answer == MISHAP_CLAIM_TAKEN;
        if (answer == MISHAP_CLAIM_FIRST) {
            run->since_ns = now_ns; /* from now on it waits for a worker */
            mishap_runner_enqueue(&r->groups[mishap_runner_group_of(r, run)], run, false);
        } else {
            mishap_runner_finish(r, run, mishap_state_refuse_claim(answer));
        }
    }
    if (r->claiming)
        mishap_runner_wake_at(r, now_ns + LOOK_MS * MISHAP_MS);
}
