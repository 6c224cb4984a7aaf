/*
 * The runner: calls that wait, run and end, as the boundaries use it. dispatch.c decides which call
 * is next, and which worker gets it. Runs in a loop.
 */
#include "worker/loop/runner.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "operation/changes.h"
#include "worker/loop/inside.h"

enum {
    EVENTS = 64, /* taken from epoll at once */
};

static const mishap_runner_times usual = {
    .wait_ms = 10000,
    .begin_ms = 3000,
    .answer_ms = 5000,
    .start_ms = 2000,
    .retry_ms = 100,
    .gone_ms = 20,
    .lost_ms = 3000,   /* without the report no incident says how the worker ended */
    .stack_ms = 11000, /* the keeper may wait for five seconds, twice (keeper/processes.c) */
    .idle_ms = 60000,
    .open_ms = 9000,
    .settle_ms = 10000,
    .warm_ms = 500,
};

size_t mishap_runner_group_of(const mishap_runner *r, const mishap_run *run)
{
    return mishap_worker_group_of_call(&r->settings.plan->groups, run->call);
}

/* -- waiting calls ----------------------------------------------------------------------------- */

void mishap_runner_enqueue(mishap_runner_group *g, mishap_run *run, bool first)
{
    mishap_runner_line_up(g, run, first);
    run->link = NULL;
    run->next = first ? g->first : NULL;
    run->previous = first ? NULL : g->last;
    *(run->previous ? &run->previous->next : &g->first) = run;
    *(run->next ? &run->next->previous : &g->last) = run;
    g->waiting++;
}

void mishap_runner_dequeue(mishap_runner_group *g, mishap_run *run)
{
    if (run->turn.caller)
        mishap_turns_remove(&g->lines[run->slow], &run->turn);
    *(run->previous ? &run->previous->next : &g->first) = run->next;
    *(run->next ? &run->next->previous : &g->last) = run->previous;
    run->next = run->previous = NULL;
    g->giving_way -= run->gives_way;
    run->gives_way = false;
    g->waiting--;
}

/* -- limits ------------------------------------------------------------------------------------ */

static size_t word_of(const mishap_call *call)
{
    return call->holder % MISHAP_RUNNER_HOLDERS;
}

void mishap_runner_count_in(mishap_runner *r, const mishap_call *call)
{
    r->count++;
    if (call->holder)
        r->held[word_of(call)]++;
}

void mishap_runner_count_out(mishap_runner *r, const mishap_call *call)
{
    r->count--;
    if (call->holder)
        r->held[word_of(call)]--;
}

/* Calls end soon, so a caller may have more than its share as long as there is room. But the last
 * places are reserved for callers that have less. */
static bool is_over_share(const mishap_runner *r, const mishap_call *call)
{
    size_t share = r->settings.most_of_one;
    return call->holder && share && r->held[word_of(call)] >= share &&
           r->count + share >= r->settings.most_waiting;
}

mishap *mishap_runner_refuse(const mishap_runner *r, const mishap_call *call)
{
    if (!is_over_share(r, call))
        return mishap_runner_busy();
    mishap *m = mishap_raise(RATE_LIMITED,
                             "%d calls of this caller wait or run, and the server has little room "
                             "left: it is for other callers.",
                             r->held[word_of(call)]);
    return mishap_suggest(mishap_retry_after(m, 1000), "Call less at once.");
}

/* The call is over and leaves the runner. */
void mishap_runner_finish(mishap_runner *r, mishap_run *run, mishap *failure)
{
    const mishap_service *service = run->call->operation->service;
    if (failure && service && r->settings.suspects && mishap_is(failure, INTERNAL_ERROR))
        r->settings.suspects(r->settings.state, service);
    if (failure)
        mishap_changes_tell_doubt(run->call->operation, failure);
    mishap_positions_note(r->settings.positions, run->call, failure != NULL);
    mishap_runner_count_out(r, run->call);
    run->link = NULL;
    run->done(run, failure);
}

void mishap_runner_give_up(mishap_runner *r, mishap_run *run, mishap *failure)
{
    if (run->repeats)
        failure = mishap_because(
            mishap_raise(INTERNAL_ERROR,
                         "The process of %s died, and the call could not be run again. It is not "
                         "known whether it was settled.",
                         run->call->operation->name),
            failure);
    mishap_runner_finish(r, run, failure);
}

mishap *mishap_runner_busy(void)
{
    return mishap_retry_after(mishap_raise(UNAVAILABLE, "The server is busy with other requests."),
                              1000);
}

/* A waiting call whose caller may have left gives way to another one: it ends with the next flush.
 * `holder`: only a call of this caller; 0: of any. */
static bool let_one_give_way(mishap_runner *r, uint64_t holder)
{
    for (size_t i = 0; i < r->settings.plan->groups.count; i++)
        for (mishap_run *run = r->groups[i].first; run; run = run->next)
            if (run->cancelled && !run->gives_way && (!holder || run->call->holder == holder)) {
                run->gives_way = true;
                r->groups[i].giving_way++;
                return true;
            }
    return false;
}

/* The limit is reached: try to make room for one more. */
static bool make_room(mishap_runner *r)
{
    size_t giving_way = 0;
    for (size_t i = 0; i < r->settings.plan->groups.count; i++)
        giving_way += r->groups[i].giving_way;
    return r->count - giving_way < r->settings.most_waiting || let_one_give_way(r, 0);
}

static void end_giving_way(mishap_runner *r, mishap_runner_group *g)
{
    for (mishap_run *run = g->first, *next; run; run = next) {
        next = run->next;
        if (!run->gives_way)
            continue;
        mishap_runner_dequeue(g, run);
        mishap_runner_give_up(r, run, mishap_runner_busy());
    }
}

/* -- the clock --------------------------------------------------------------------------------- */

void mishap_runner_wake_at(mishap_runner *r, int64_t when_ns)
{
    struct itimerspec at = { 0 };
    if (r->timer_ns && r->timer_ns <= when_ns)
        return;
    r->timer_ns = when_ns;
    at.it_value.tv_sec = when_ns / (1000 * MISHAP_MS);
    at.it_value.tv_nsec = when_ns % (1000 * MISHAP_MS);
    timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void free_dead(mishap_runner *r)
{
    for (mishap_link *link = r->links, *next; link; link = next) {
        next = link->next;
        if (!link->dead)
            continue;
        *(link->previous ? &link->previous->next : &r->links) = next;
        if (next)
            next->previous = link->previous;
        mishap_link_free(link);
    }
}

static void send_out(mishap_runner *r, mishap_link *link)
{
    if (link->socket < 0 || link->sent == link->out.length)
        return;
    if (!mishap_link_flush(link)) {
        mishap_runner_read_rest(r, link);
        mishap_runner_lose(r, link);
        return;
    }
    bool rest = link->sent < link->out.length;
    if (rest != link->waits_to_send) {
        link->waits_to_send = rest;
        mishap_runner_listen(r, link);
    }
}

void mishap_runner_flush(mishap_runner *r)
{
    for (size_t i = 0; i < r->settings.plan->groups.count; i++) {
        if (r->groups[i].giving_way)
            end_giving_way(r, &r->groups[i]);
        if (r->groups[i].first)
            mishap_runner_dispatch(r, i);
    }
    for (mishap_link *link = r->links; link; link = link->next) {
        if (!link->used)
            mishap_runner_end_yield(r, link);
        send_out(r, link);
    }
}

/* -- the runner -------------------------------------------------------------------------------- */

static bool watch(const mishap_runner *r, int file, const void *what)
{
    union {
        const void *given;
        void *base; /* epoll only copies it */
    } mark = { what };
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = mark.base };
    return epoll_ctl(r->epoll, EPOLL_CTL_ADD, file, &event) == 0;
}

/* True: the file that is watched, too, can be read. Large answers of many workers take time to read
 * and to pass on, and the loop has other work: the workers that are left out come first in the next
 * iteration. */
static bool take_events(mishap_runner *r, int most_ms)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(r->epoll, events, EVENTS, most_ms);
    bool keeper = false, clock = false, beside = false, late = false;
    int64_t until = count > 1 ? mishap_clock_monotonic_ns() + MISHAP_TURN_MS * MISHAP_MS : 0;
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &r->settings.keeper) {
            keeper = true;
        } else if (events[i].data.ptr == &r->timer) {
            clock = true;
        } else if (events[i].data.ptr == &r->beside) {
            beside = true;
        } else {
            mishap_link *link = events[i].data.ptr;
            if (!late && link->socket >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                mishap_runner_read(r, link);
            late = late || (until && mishap_clock_monotonic_ns() > until);
        }
    }
    if (keeper)
        mishap_runner_hear_keeper(r);
    if (clock)
        mishap_runner_look_at_clock(r);
    mishap_runner_flush(r);
    free_dead(r);
    return beside;
}

void mishap_runner_turn(mishap_runner *r)
{
    take_events(r, 0);
}

/* epoll cannot watch a regular file, which can always be read. */
bool mishap_runner_wait(mishap_runner *r, int file, int most_ms)
{
    mishap_runner_flush(r);
    if (file != r->beside) {
        if (r->beside >= 0)
            epoll_ctl(r->epoll, EPOLL_CTL_DEL, r->beside, NULL);
        r->beside = file >= 0 && watch(r, file, &r->beside) ? file : -1;
    }
    bool always = file >= 0 && r->beside < 0;
    return take_events(r, always ? 0 : most_ms) || always;
}

int mishap_runner_file(const mishap_runner *r)
{
    return r->epoll;
}

size_t mishap_runner_holds(const mishap_runner *r, uint64_t holder)
{
    return holder ? r->held[holder % MISHAP_RUNNER_HOLDERS] : 0;
}

mishap_runner_use mishap_runner_use_of(const mishap_runner *r, size_t group)
{
    mishap_runner_use use = { .waiting = r->groups[group].waiting };
    for (const mishap_link *link = r->links; link; link = link->next)
        if (link->group == group && !link->dead) {
            use.workers++;
            use.busy += mishap_link_count(link) > 0;
        }
    return use;
}

size_t mishap_runner_count(const mishap_runner *r, bool forgotten)
{
    return forgotten ? r->count : r->count - r->forgotten;
}

/* A handler that runs in this process reads the call itself, and would take this for the end of its
 * caller. */
void mishap_runner_cancel(mishap_runner *r, mishap_run *run)
{
    run->cancelled = true;
    if (run->link)
        atomic_store(&run->link->page->cancelled[run->slot], MISHAP_CALLER_LEFT);
    if (!r->settings.inside)
        atomic_store(&run->call->cancelled, true);
}

/* The id is made here, so that it stays the same in every process that runs the call, and when the
 * call is repeated. */
static bool give_id(mishap_call *call)
{
    char id[MISHAP_ID_LENGTH + 1];
    if (call->id.data) /* of a task */
        return true;
    mishap_id_make(id);
    call->id = mishap_arena_copy(&call->arena, (mishap_text){ id, MISHAP_ID_LENGTH });
    return call->id.data;
}

bool mishap_runner_add(mishap_runner *r, mishap_run *run)
{
    size_t group = mishap_runner_group_of(r, run);
    if (group >= r->settings.plan->groups.count ||
        (is_over_share(r, run->call) && !let_one_give_way(r, run->call->holder)) ||
        (r->count >= r->settings.most_waiting && !make_room(r)) ||
        (mishap_runner_is_settled(r, group) && !give_id(run->call)))
        return false;
    run->died = run->moved = run->cancelled = run->gives_way = false;
    run->repeats = 0;
    run->session = (struct mishap_run_session){ 0 };
    run->turn = (mishap_turn){ 0 };
    run->took_us = mishap_runner_took(r, run->call, group);
    run->since_ns = mishap_clock_monotonic_ns();
    mishap_positions_need(r->settings.positions, run->call);
    run->claims = false;
    if (run->call->claim.expires_ms)
        mishap_runner_claim(r, run);
    else
        mishap_runner_enqueue(&r->groups[group], run, false);
    mishap_runner_count_in(r, run->call);
    mishap_crowd_see(r->crowd, run->call->holder, run->since_ns);
    if (r->settings.inside)
        mishap_runner_wake_at(r, 1); /* done() must not be called before this function returns */
    return true;
}

/* Readers that read nothing must not block all workers: half of them may be held. */
static bool may_hold(const mishap_runner *r, const mishap_link *link)
{
    size_t held = 1;
    for (const mishap_link *other = r->links; other; other = other->next)
        held += other->group == link->group && other->held_since_ns;
    return !mishap_runner_is_alone(r, link->group) && 2 * held <= r->settings.handlers;
}

void mishap_runner_hold(mishap_runner *r, mishap_run *run, bool hold)
{
    mishap_link *link = run->link;
    if (!link || link->socket < 0 || hold == (link->held_since_ns != 0) ||
        (hold && !may_hold(r, link)))
        return;
    int64_t now = mishap_clock_monotonic_ns();
    if (!hold && link->slots[run->slot].begun_ns)
        link->slots[run->slot].begun_ns += now - link->held_since_ns;
    link->slots[run->slot].done_ns = 0;
    link->held_since_ns = hold ? now : 0;
    if (hold && link->slots[run->slot].turn.permit)
        /* While it waits for a reader, the call does not compute. */
        mishap_runner_return_permit(r, link);
    mishap_runner_listen(r, link);
}

void mishap_runner_forget(mishap_runner *r, mishap_run *run)
{
    mishap_link *link = run->link;
    unsigned i = run->slot;
    if (!link) {
        if (run->claims)
            mishap_runner_unclaim(r, run);
        else
            mishap_runner_dequeue(&r->groups[mishap_runner_group_of(r, run)], run);
        mishap_runner_count_out(r, run->call);
        mishap_call_end(run->call);
    } else if (mishap_link_take_back(link, i)) {
        mishap_runner_clear(r, link, i, false);
        mishap_runner_count_out(r, run->call);
        mishap_call_end(run->call);
    } else {
        mishap_runner_hold(r, run, false); /* what it sends is dropped */
        atomic_store(&link->page->cancelled[i], MISHAP_CALLER_GONE);
        if (link->foreign)
            mishap_runner_interrupt(r, link);
        if (run->call->upload && link->slots[i].begun_ns)
            link->slots[i].begun_ns += mishap_link_waited(
                link, run->call->upload, link->slots[i].begun_ns, mishap_clock_monotonic_ns());
        run->call->upload = NULL;
        link->slots[i].run = NULL;
        link->slots[i].call = run->call;
        snprintf(link->slots[i].incident, sizeof link->slots[i].incident, "%s",
                 run->incident ? run->incident : "");
        run->call->watcher = NULL;
        /* These pointed into memory of the boundary. */
        run->call->caller = run->call->counted_for = NULL;
        r->forgotten++;
    }
    run->call = NULL;
    run->link = NULL;
}

mishap *mishap_runner_open(const mishap_runner_settings *settings, mishap_runner **out)
{
    mishap_runner *r = mishap_allocate(sizeof *r);
    *out = NULL;
    if (!r)
        return mishap_out_of_memory();
    memset(r, 0, offsetof(mishap_runner, scratch));
    r->settings = *settings;
    r->standing = settings->standing ? settings->standing : &r->own_standing;
    r->sessions = settings->sessions;
    r->crowd = settings->crowd ? settings->crowd : &r->own_crowd;
    r->beside = -1;
    r->times = settings->times ? *settings->times : usual;
    if (settings->wait_ms)
        r->times.wait_ms = settings->wait_ms;
    r->opened_ns = mishap_clock_monotonic_ns();
    r->epoll = epoll_create1(EPOLL_CLOEXEC);
    r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (r->epoll < 0 || r->timer < 0 || !watch(r, r->timer, &r->timer) ||
        (!settings->inside && !watch(r, settings->keeper, &r->settings.keeper))) {
        mishap *m = mishap_raise(UNAVAILABLE, "The runner of calls could not be made.");
        m = mishap_note(m, "reason", strerror(errno));
        mishap_runner_close(r);
        return m;
    }
    *out = r;
    return NULL;
}

void mishap_runner_close(mishap_runner *r)
{
    if (!r)
        return;
    while (r->links) {
        mishap_link *link = r->links;
        r->links = link->next;
        mishap_runner_return_permit(r, link);
        mishap_link_free(link);
    }
    if (r->settings.keeper >= 0)
        close(r->settings.keeper);
    if (r->epoll >= 0)
        close(r->epoll);
    if (r->timer >= 0)
        close(r->timer);
    mishap_release(r->named);
    for (size_t i = 0; i < MISHAP_WORKER_GROUPS; i++)
        for (size_t line = 0; line < 2; line++)
            mishap_turns_release(&r->groups[i].lines[line]);
    if (r->owns_sessions)
        mishap_sessions_free(r->sessions);
    mishap_release(r);
}
