/* Workers that end, and what happens to the calls that they had. Runs in a loop. */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "operation/changes.h"
#include "worker/loop/inside.h"

void mishap_runner_ask_to_end(mishap_runner *r, mishap_link *link, mishap_link_why why,
                              const char *lie, bool stack)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_END,
                                      .worker = link->worker,
                                      .stack = stack };
    if (link->ending_since_ns)
        return;
    link->ending_since_ns = mishap_clock_monotonic_ns();
    link->stack_wanted = stack;
    link->end.why = why;
    link->end.lie = lie;
    mishap_keeper_send(r->settings.keeper, &message, NULL, 0);
    mishap_runner_wake_at(r, link->ending_since_ns + r->times.lost_ms * MISHAP_MS);
}

/* No caller waits for this call any more: its failure only goes to the log. The caller of this
 * function clears the slot next. */
void mishap_runner_end_forgotten(mishap_runner *r, mishap_link_slot *slot, mishap *failure)
{
    mishap_runner_count_out(r, slot->call);
    r->forgotten--;
    if (failure)
        mishap_changes_tell_doubt(slot->call->operation, failure);
    mishap_positions_note(r->settings.positions, slot->call, failure != NULL);
    if (failure && r->settings.orphaned)
        r->settings.orphaned(r->settings.state, slot->call, slot->incident, failure);
    else
        mishap_free(failure);
    mishap_call_end(slot->call);
}

/* A call that its worker had but did not begin goes to another worker. If the worker died without
 * ever having begun a call, that is done only once: perhaps no worker can be started. */
static void give_back(mishap_runner *r, mishap_link *link, unsigned i, bool blameless)
{
    mishap_link_slot *slot = &link->slots[i];
    mishap_run *run = slot->run;
    if (!run) {
        mishap_runner_end_forgotten(r, slot, NULL);
        mishap_runner_clear(r, link, i, false);
        return;
    }
    mishap_runner_clear(r, link, i, false);
    if (run->moved && !blameless) {
        run->died = true;
        mishap *m = mishap_raise(INTERNAL_ERROR, "Two processes in a row died before %s began.",
                                 run->call->operation->name);
        mishap_runner_finish(r, run, link->end.lie ? mishap_note(m, "reason", link->end.lie) : m);
        return;
    }
    run->moved = run->moved || !blameless;
    mishap_runner_enqueue(&r->groups[link->group], run, true);
}

static void fail_call(mishap_runner *r, mishap_link *link, unsigned i)
{
    mishap_link_slot *slot = &link->slots[i];
    mishap_run *run = slot->run;
    const mishap_call *call = run ? run->call : slot->call;
    if (!link->foreign)
        mishap_changes_tell_doubt(call->operation, NULL);
    mishap *failure = link->foreign ? mishap_runner_tell_foreign_end(link, i, call->operation)
                                    : mishap_link_tell_end(link, i, call->operation,
                                                           mishap_runner_is_alone(r, link->group));
    if (run) {
        mishap_runner_clear(r, link, i, true);
        run->died = link->end.why != MISHAP_LINK_TIMEOUT;
        mishap_runner_finish(r, run, failure);
    } else {
        mishap_runner_end_forgotten(r, slot, failure);
        mishap_runner_clear(r, link, i, true);
    }
}

/* True if nothing shows that a call was at fault: the worker was killed by the system or by a
 * person. */
static bool died_from_outside(const mishap_link *link)
{
    return atomic_load(&link->page->last_words) == MISHAP_WORDS_NONE &&
           (link->end.why == MISHAP_LINK_FINE || link->end.why == MISHAP_LINK_CLOSED) &&
           (!link->end.known ||
            (WIFSIGNALED(link->end.status) && WTERMSIG(link->end.status) == SIGKILL &&
             !link->end.has_trace && !link->end.stopped));
}

/* Run a call again, if its service settles calls. If its handler had returned, in any case: it may
 * have been settled, and the handler, which gets the same id, then tells the caller so. If it was
 * still running, only if it was not at fault. Next time it is alone in its batch. */
static bool repeat(mishap_runner *r, mishap_link *link, unsigned i)
{
    mishap_link_slot *slot = &link->slots[i];
    mishap_run *run = slot->run;
    mishap_slot_state state = mishap_link_state(link, i);
    bool returned = state == MISHAP_SLOT_RAN || state == MISHAP_SLOT_DONE;
    bool outside = died_from_outside(link);
    if (!mishap_runner_is_settled(r, link->group) || slot->streamed ||
        (!returned && !(outside && state == MISHAP_SLOT_BEGUN)))
        return false;
    if (returned) /* what it changed may be settled, and the next run does not change it again */
        mishap_changes_tell_doubt((run ? run->call : slot->call)->operation, NULL);
    if (!run) { /* no caller wants to know its outcome */
        mishap_runner_end_forgotten(r, slot, NULL);
        mishap_runner_clear(r, link, i, true);
        return true;
    }
    if (run->repeats >= (outside ? MISHAP_MOST_REPEATS : 1))
        return false;
    mishap_runner_clear(r, link, i, true);
    run->repeats++;
    run->since_ns = mishap_clock_monotonic_ns(); /* its wait for another worker begins now */
    run->call->repeated = true;
    mishap_runner_enqueue(&r->groups[link->group], run, true);
    return true;
}

/* A worker has ended: nothing more can be read from it, and how it ended is known, or never will
 * be. */
void mishap_runner_bury(mishap_runner *r, mishap_link *link)
{
    bool begun[MISHAP_SLOTS], any_begun = link->joined || atomic_load(&link->page->has_begun) != 0;
    link->dead = true;
    r->groups[link->group].links--;
    if (link->foreign && !link->used)
        mishap_runner_log_foreign_end(r, link);
    if (link->is_session) /* INTERNAL_ERROR does not mention a session: the next call is warned */
        mishap_runner_session_ended(
            r, link, link->used && link->slots[0].run && !mishap_runner_failed_by_itself(link));
    mishap_runner_opening_died(r, link);
    for (unsigned i = 0; i < MISHAP_SLOTS; i++) {
        mishap_slot_state state = mishap_link_state(link, i);
        begun[i] = link->slots[i].begun_ns ||
                   (state != MISHAP_SLOT_HANDED && state != MISHAP_SLOT_TAKEN);
        any_begun = any_begun || (link->used >> i & 1 && begun[i]);
    }
    /* A boundary that is called back for one call may have forgotten others meanwhile. */
    /* Backwards: each goes to the front, so the oldest comes first. */
    for (unsigned i = MISHAP_SLOTS; i-- > 0;)
        if (link->used >> i & 1 && !begun[i])
            give_back(r, link, i, any_begun);
    for (unsigned i = 0; i < MISHAP_SLOTS; i++)
        if (link->used >> i & 1 && begun[i] && !repeat(r, link, i))
            fail_call(r, link, i);
}

void mishap_runner_disconnect(mishap_runner *r, mishap_link *link)
{
    if (link->socket < 0)
        return;
    epoll_ctl(r->epoll, EPOLL_CTL_DEL, link->socket, NULL);
    close(link->socket);
    link->socket = -1;
}

/* The connection is gone. The keeper knows why, or soon will. */
void mishap_runner_lose(mishap_runner *r, mishap_link *link)
{
    if (link->socket < 0 || link->dead)
        return;
    mishap_runner_disconnect(r, link);
    if (link->end.known) {
        mishap_runner_bury(r, link);
        return;
    }
    /* Most likely the worker is about to die, and the keeper will report how. */
    link->gone_since_ns = mishap_clock_monotonic_ns();
    mishap_runner_wake_at(r, link->gone_since_ns + r->times.gone_ms * MISHAP_MS);
}

/* A handler was ended by a jump, and may have left locks behind: its process runs no other call,
 * and its exit is not waited for. Its other calls go to another worker. */
void mishap_runner_retire(mishap_runner *r, mishap_link *link)
{
    mishap_runner_ask_to_end(r, link, MISHAP_LINK_FINE, NULL, false);
    for (unsigned i = MISHAP_SLOTS; i-- > 0;)
        if (link->used >> i & 1 && mishap_link_take_back(link, i))
            give_back(r, link, i, true);
}

void mishap_runner_part(mishap_runner *r, mishap_link *link)
{
    for (unsigned i = MISHAP_SLOTS; i-- > 0;)
        if (link->used >> i & 1 && mishap_link_take_back(link, i))
            give_back(r, link, i, true);
    if (link->used)
        mishap_runner_ask_to_end(r, link, MISHAP_LINK_FINE, NULL, false);
    else
        mishap_runner_put_away(r, link);
}
