/* Timeouts of a loop: calls that have waited or run for too long, workers that are silent or no
 * longer needed. */
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/memory.h"
#include "incident/logs.h"
#include "worker/loop/inside.h"
#include "worker/spawn/lack.h"

enum {
    REST_MS = 5000, /* interval of the checks for idle workers */
    /* A whole answer may take so many times as long as the pause between its parts. */
    LONGEST_ANSWER = 10,
    NAMED_MS = 1000, /* a call that waits for so long is named on stderr */
    AGAIN_MS = 1000, /* the retry hint for a call that got no process */
};

/* An operation that could be declared `.stateless` holds up others: say so, once for each. */
static void name_slow(mishap_runner *r, const mishap_run *run, int64_t waited)
{
    const mishap_operation *operation = run->call->operation;
    for (size_t i = 0; i < r->named_count; i++)
        if (r->named[i] == operation)
            return;
    const mishap_operation **more = mishap_resize(r->named, (r->named_count + 1) * sizeof *more);
    if (!more)
        return;
    r->named = more;
    r->named[r->named_count++] = operation;
    mishap_log_say(
        "%s: %s has waited for %.1f s behind another call. Operations without a service run one "
        "at a time; one that keeps no state can say so with .stateless.\n",
        r->settings.plan->app->name, operation->name, (double)waited / 1e9);
}

static bool look_at_waiting(mishap_runner *r, mishap_run *run, bool alone, int64_t now)
{
    int64_t waited = now - run->since_ns;
    if (alone && waited > NAMED_MS * MISHAP_MS && !run->call->operation->service)
        name_slow(r, run, waited);
    return waited > r->times.wait_ms * MISHAP_MS;
}

static void sweep_waiting(mishap_runner *r, size_t group, int64_t now)
{
    mishap_runner_group *g = &r->groups[group];
    for (mishap_run *run = g->first, *next; run; run = next) {
        next = run->next;
        if (!look_at_waiting(r, run, mishap_runner_is_alone(r, group), now))
            continue;
        mishap_runner_dequeue(g, run);
        mishap_runner_give_up(
            r, run,
            g->refused_error
                ? mishap_retry_after(mishap_worker_no_process(g->refused_error), AGAIN_MS)
                : mishap_runner_busy());
        next = g->first; /* the function that was called may have changed the queue */
    }
}

/* A call that stands behind a long one goes to another worker, if there can be one. */
static void sweep_handed(mishap_runner *r, mishap_link *link, unsigned i, bool slow, int64_t now)
{
    mishap_run *run = link->slots[i].run;
    bool alone = mishap_runner_is_alone(r, link->group);
    bool over = run && look_at_waiting(r, run, alone, now);
    if ((run && !over && (alone || !slow)) || !mishap_link_take_back(link, i))
        return;
    if (run) {
        mishap_runner_clear(r, link, i, false);
        if (over)
            mishap_runner_give_up(r, run, mishap_runner_busy());
        else
            mishap_runner_enqueue(&r->groups[link->group], run, true);
    } else {
        mishap_runner_end_forgotten(r, &link->slots[i], NULL);
        mishap_runner_clear(r, link, i, false);
    }
}

/* The worker can write to the page, too, so it may contain anything. NULL: the state of this call
 * is possible. */
static const char *lie_of_page(const mishap_link *link, unsigned i)
{
    switch (mishap_link_state(link, i)) {
    case MISHAP_SLOT_HANDED:
        return link->slots[i].begun_ns ? "that a call has not begun, which had" : NULL;
    case MISHAP_SLOT_BEGUN:
    case MISHAP_SLOT_DONE:
        return NULL;
    case MISHAP_SLOT_RAN:
        if (mishap_runner_is_settled(link->runner, link->group))
            return NULL;
        __attribute__((fallthrough));
    default:
        return "a state that none of its calls has";
    }
}

/* The longest timeout of this service: a call of another loop may run for so long in the same
 * process. */
static int64_t longest_of(const mishap_runner *r, size_t group)
{
    const mishap_app *app = r->settings.plan->app;
    int64_t longest = 0;
    for (const mishap_operation *o = app->operations; o->name; o++)
        if (o->service == r->settings.plan->groups.groups[group].service &&
            mishap_operation_timeout(app, o) > longest)
            longest = mishap_operation_timeout(app, o);
    return longest;
}

/* Its handler has returned. Other calls of its batch run, or the batch is being settled. */
static void sweep_ran(mishap_runner *r, mishap_link *link, unsigned i, int64_t now)
{
    mishap_link_slot *slot = &link->slots[i];
    int64_t said = atomic_load(&link->page->settling_ns), settle_ms = r->times.settle_ms;
    slot->ran_ns = slot->ran_ns ? slot->ran_ns : now;
    if (said && said < slot->begun_ns)
        said = slot->begun_ns;
    if (said && now - said > settle_ms * MISHAP_MS)
        mishap_runner_ask_to_end(r, link, MISHAP_LINK_LIED,
                                 "no answer, because its settlement took too long", true);
    else if (now - slot->ran_ns > (2 * longest_of(r, link->group) + 2 * settle_ms) * MISHAP_MS)
        mishap_runner_ask_to_end(r, link, MISHAP_LINK_LIED, "no answer, and settled nothing", true);
}

/* The time of a call is counted from its beginning. When its handler has returned, an answer is
 * due. */
static void sweep_begun(mishap_runner *r, mishap_link *link, unsigned i, int64_t begun, int64_t now)
{
    mishap_link_slot *slot = &link->slots[i];
    int limit_ms = mishap_link_call(slot)->limit_ms;
    begun += mishap_link_waited(link, mishap_link_call(slot)->upload, begun, now);
    if (link->held_since_ns)
        return; /* it waits for a reader, which has a timeout of its own */
    if (mishap_link_state(link, i) == MISHAP_SLOT_RAN) {
        sweep_ran(r, link, i, now);
    } else if (mishap_link_state(link, i) == MISHAP_SLOT_DONE) {
        slot->done_ns = slot->done_ns ? slot->done_ns : now;
        /* A large answer may take long, but not for ever. */
        int64_t heard = slot->done_ns > link->heard_ns ? slot->done_ns : link->heard_ns;
        if (now - heard > r->times.answer_ms * MISHAP_MS ||
            now - slot->done_ns > LONGEST_ANSWER * r->times.answer_ms * MISHAP_MS)
            mishap_runner_ask_to_end(r, link, MISHAP_LINK_LIED, "no answer, though it was done",
                                     true);
    } else if (limit_ms > 0 && now - begun >= limit_ms * MISHAP_MS &&
               mishap_slot_change(link->page, i, slot->number, MISHAP_SLOT_BEGUN,
                                  MISHAP_SLOT_KILLED)) {
        mishap_runner_ask_to_end(r, link, MISHAP_LINK_TIMEOUT, NULL, true);
    }
}

/* A worker that runs nothing must begin what it is given. One that several loops share may be busy
 * with a call of another loop. */
static void look_for_silence(mishap_runner *r, mishap_link *link, int64_t now)
{
    bool any_begun = false;
    for (uint64_t used = link->used; used; used &= used - 1)
        any_begun = any_begun || mishap_link_begun(link, (unsigned)__builtin_ctzll(used), now);
    if (any_begun || mishap_runner_is_alone(r, link->group))
        link->silent_since_ns = 0;
    else if (link->used && !link->silent_since_ns)
        link->silent_since_ns = now;
    else if ((link->used || link->waits_to_send) &&
             now - link->silent_since_ns > r->times.begin_ms * MISHAP_MS)
        mishap_runner_ask_to_end(r, link, MISHAP_LINK_LIED, "nothing, and began none of its calls",
                                 true);
}

/* The call that an idle worker begins next; MISHAP_SLOTS: it runs one. This call is still on its
 * way, or about to begin, and is not taken back: another worker would take as long, and a large
 * call might never begin. */
static unsigned next_to_begin(mishap_link *link, int64_t now)
{
    unsigned next = MISHAP_SLOTS;
    for (uint64_t used = link->used; used; used &= used - 1) {
        unsigned i = (unsigned)__builtin_ctzll(used);
        if (mishap_link_begun(link, i, now))
            return MISHAP_SLOTS;
        if (next == MISHAP_SLOTS || link->slots[i].number < link->slots[next].number)
            next = i;
    }
    return next;
}

static void sweep_calls(mishap_runner *r, mishap_link *link, int64_t now)
{
    bool slow = !mishap_link_is_brisk(link, now), any_behind = false;
    unsigned next = next_to_begin(link, now);
    look_for_silence(r, link, now);
    for (unsigned i = 0; i < MISHAP_SLOTS; i++) {
        /* A function that was called may have changed the other calls. */
        if (!(link->used >> i & 1))
            continue;
        int64_t begun = mishap_link_begun(link, i, now);
        const char *lie = link->ending_since_ns ? NULL : lie_of_page(link, i);
        if (begun && now - begun > MISHAP_LONG_MS * MISHAP_MS)
            mishap_runner_yield(r, link, now);
        if (link->foreign)
            mishap_runner_sweep_foreign(r, link, i, now);
        else if (lie)
            mishap_runner_ask_to_end(r, link, MISHAP_LINK_LIED, lie, false);
        else if (begun)
            sweep_begun(r, link, i, begun, now);
        else
            sweep_handed(r, link, i, slow && !link->ending_since_ns && i != next, now);
        any_behind = any_behind || (!begun && link->used >> i & 1);
    }
    if (any_behind && !mishap_runner_is_alone(r, link->group))
        mishap_runner_wake_at(r, now + MISHAP_SHORT_MS * MISHAP_MS);
}

/* The worker exits when its connection is closed; the keeper makes sure of that. */
void mishap_runner_put_away(mishap_runner *r, mishap_link *link)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_PUT_AWAY, .worker = link->worker };
    epoll_ctl(r->epoll, EPOLL_CTL_DEL, link->socket, NULL);
    link->dead = true;
    r->groups[link->group].links--;
    mishap_keeper_send(r->settings.keeper, &message, NULL, 0);
}

/* The keeper has not reported the end of this worker, and never will. On a busy machine a worker
 * can need seconds to show its stack. */
static bool is_lost(const mishap_runner *r, const mishap_link *link, int64_t now)
{
    int64_t since = link->ending_since_ns, most_ms = r->times.lost_ms;
    if (!since)
        return false;
    if (link->gone_since_ns > since)
        since = link->gone_since_ns;
    else if (!link->gone_since_ns && link->stack_wanted)
        most_ms += r->times.stack_ms;
    return now - since > most_ms * MISHAP_MS;
}

static void sweep_link(mishap_runner *r, mishap_link *link, int64_t now)
{
    sweep_calls(r, link, now);
    if (!link->dead)
        mishap_runner_look_at_opening(r, link, now);
    if (link->dead)
        return;
    if (!link->used && !link->idle_since_ns)
        link->idle_since_ns = now;
    if (link->is_session && !link->used && link->socket >= 0)
        mishap_runner_sweep_session(r, link, now);
    if (link->dead)
        return;
    if (link->gone_since_ns && now - link->gone_since_ns >= r->times.gone_ms * MISHAP_MS)
        mishap_runner_ask_to_end(r, link, MISHAP_LINK_CLOSED, NULL, link->used != 0);
    if (is_lost(r, link, now)) {
        mishap_runner_disconnect(r, link);
        mishap_runner_bury(r, link);
    } else if (!link->used && now - link->idle_since_ns > r->times.idle_ms * MISHAP_MS &&
               !mishap_runner_is_alone(r, link->group) && r->groups[link->group].links > 1 &&
               link->socket >= 0 && !link->is_session) {
        mishap_runner_put_away(r, link);
    } else if (link->ending_since_ns || link->gone_since_ns || link->waits_to_send) {
        mishap_runner_wake_at(r, now + MISHAP_TICK_MS * MISHAP_MS);
    }
}

void mishap_runner_look_at_clock(mishap_runner *r)
{
    int64_t now = mishap_clock_monotonic_ns();
    uint64_t ticks;
    ssize_t got = read(r->timer, &ticks, sizeof ticks);
    (void)got;
    r->timer_ns = 0;
    mishap_runner_look_at_claims(r, now);
    for (mishap_link *link = r->links; link; link = link->next)
        if (!link->dead)
            sweep_link(r, link, now);
    for (size_t i = 0; i < r->settings.plan->groups.count; i++) {
        sweep_waiting(r, i, now);
        mishap_runner_look_at_service(r, i, now);
    }
    if (r->count)
        mishap_runner_wake_at(r, now + MISHAP_TICK_MS * MISHAP_MS);
    else if (r->links)
        mishap_runner_wake_at(r, now + (r->times.idle_ms < REST_MS ? r->times.idle_ms : REST_MS) *
                                           MISHAP_MS);
}
