/*
 * Which call is next, and which worker gets it. Runs in a loop.
 *
 * Callers take turns (turns.h). Each group has two queues: one of short calls, and one of long
 * calls, judged by what calls of the same caller and operation took lately. Short calls come first,
 * unless long ones were passed over for a second.
 *
 * A call goes to an idle worker. If all are busy, but one of them has begun its call just now, the
 * call goes behind that one: most calls take microseconds, and several that are handed over
 * together cost a fraction of what they cost one by one. If the call before it takes longer, it is
 * taken back and another worker is started, up to the limit.
 *
 * A caller has at most half of the workers of a group, so that the next caller finds a free one.
 * Nor do long calls have all workers: one is left for short calls.
 */
#include "worker/loop/inside.h"

enum {
    BATCH = 16,       /* calls that one worker has, at most */
    PASSED_MS = 1000, /* long calls are passed over for so long, at most */
    AHEAD_MS = 10,    /* expected time of all calls that a worker which is alone has in advance; one
                         call in any case */
    LEAVE_ONE = 4,    /* in a group with so many workers, one is left for short calls */
    AVERAGE = 4,      /* weight of the last call in the expected time: a fourth */
};

/* -- the time that calls take ------------------------------------------------------------------ */

/* The expected time of a call, by caller, operation and group: calls of one operation that run
 * apart say nothing about the others. Two that hash to the same word share it; no caller can choose
 * its word. */
uint32_t *mishap_runner_took(mishap_runner *r, const mishap_call *call, size_t group)
{
    enum { FAR = 509 }; /* addresses of operations are close to each other */
    uint64_t operation = (uintptr_t)call->operation / _Alignof(mishap_operation);
    return &r->took_us[(call->holder + operation + group * FAR) % MISHAP_RUNNER_HOLDERS];
}

static void learn(uint32_t *took_us, int64_t ns)
{
    int64_t us = ns / 1000 < INT32_MAX ? ns / 1000 : INT32_MAX, before = *took_us;
    *took_us = (uint32_t)(before + (us - before) / AVERAGE);
}

static bool takes_long(const mishap_run *run)
{
    return *run->took_us > MISHAP_LONG_MS * 1000;
}

/* -- queues ------------------------------------------------------------------------------------ */

void mishap_runner_line_up(mishap_runner_group *g, mishap_run *run, bool first)
{
    run->slow = takes_long(run);
    if (run->slow && !g->lines[true].waiting)
        g->slow_since_ns = run->since_ns;
    mishap_turns_add(&g->lines[run->slow], &run->turn, run->call->holder, first);
}

static mishap_run *run_of(mishap_turn *turn)
{
    return turn ? (mishap_run *)(void *)((char *)turn - offsetof(mishap_run, turn)) : NULL;
}

/* The next short call. Meanwhile calls like it may have turned out to be long: those change
 * queues. */
static mishap_run *next_short(mishap_runner_group *g)
{
    mishap_run *run;
    while ((run = run_of(mishap_turns_next(&g->lines[false]))) && takes_long(run)) {
        mishap_turns_remove(&g->lines[false], &run->turn);
        mishap_runner_line_up(g, run, false);
    }
    return run;
}

/* `slow`: the result may be a long call. */
static mishap_run *next_of(mishap_runner_group *g, bool slow, int64_t now)
{
    bool passed = slow && g->lines[true].waiting && now - g->slow_since_ns > PASSED_MS * MISHAP_MS;
    mishap_run *run = passed ? run_of(mishap_turns_next(&g->lines[true])) : NULL;
    run = run ? run : next_short(g);
    return run || !slow ? run : run_of(mishap_turns_next(&g->lines[true]));
}

/* -- workers ----------------------------------------------------------------------------------- */

/* True if its call has begun just now, or has not begun yet. */
bool mishap_link_is_brisk(mishap_link *link, int64_t now)
{
    for (uint64_t used = link->used; used; used &= used - 1) {
        unsigned i = (unsigned)__builtin_ctzll(used);
        int64_t begun = mishap_link_begun(link, i, now);
        if (now - (begun ? begun : link->slots[i].handed_ns) > MISHAP_SHORT_MS * MISHAP_MS)
            return false;
    }
    return true;
}

/* The workers of a group, as found for one call. */
struct found {
    mishap_link *idle;  /* a worker without a call */
    mishap_link *brisk; /* the least busy worker whose call began just now */
    mishap_link *own;   /* … which runs a call of the same caller */
    /* Workers with a long call; that wait for a reader; with a call of this caller. */
    size_t slow, held, taken;
};

/* True if the worker may be given calls. A worker that has not read what it was sent gets no more:
 * a call that is taken back and handed over again would be sent again, too. */
static bool takes_calls(const mishap_link *link, uint32_t generation)
{
    return !link->ending_since_ns && link->socket >= 0 && !link->waits_to_send &&
           !link->opening_since_ns && link->generation == generation && !link->awaits_interrupt;
}

/* The order of calls in the socket of a worker can no longer be changed. So a worker that is alone
 * gets few calls in advance. Calls that are settled together cost far less than one by one: such a
 * worker gets all short ones, and the others for MISHAP_LONG_MS at most. */
static bool has_room(const mishap_runner *r, const mishap_link *link, const mishap_run *run,
                     unsigned count)
{
    if (run->call->upload && link->file >= 0)
        return false; /* one descriptor is sent after the other */
    if (!mishap_runner_is_alone(r, link->group))
        return count < (link->foreign ? 1U : (unsigned)BATCH);
    bool settled = mishap_runner_is_settled(r, link->group);
    uint64_t most_us = (settled ? MISHAP_LONG_MS : AHEAD_MS) * UINT64_C(1000);
    bool brief = settled && *run->took_us <= MISHAP_SHORT_MS * 1000;
    return count < (unsigned)MISHAP_SLOTS &&
           (!count || brief || link->ahead_us + *run->took_us <= most_us);
}

static unsigned least(const mishap_link *link)
{
    return link ? mishap_link_count(link) : UINT32_MAX;
}

/* `all`: count all workers, even if an idle one was found before. */
static struct found look_for_worker(mishap_runner *r, size_t group, const mishap_run *run,
                                    uint32_t generation, bool all, int64_t now)
{
    struct found f = { 0 };
    bool alone = mishap_runner_is_alone(r, group);
    for (mishap_link *link = r->links; link && (all || !f.idle); link = link->next) {
        unsigned count = mishap_link_count(link);
        if (link->group != group || link->dead)
            continue;
        bool own = count && link->taken_by == run->call->holder;
        f.slow += count && link->slots[__builtin_ctzll(link->used)].turn.slow;
        f.held += link->held_since_ns != 0;
        f.taken += own && !link->held_since_ns;
        if (!takes_calls(link, generation) || !has_room(r, link, run, count))
            continue;
        if (!count) {
            f.idle = f.idle ? f.idle : link;
        } else if (count < least(f.brisk) || (own && count < least(f.own))) {
            if (!alone && !mishap_link_is_brisk(link, now))
                continue;
            f.brisk = count < least(f.brisk) ? link : f.brisk;
            f.own = own && count < least(f.own) ? link : f.own;
        }
    }
    return f;
}

/* How many workers of a group one caller may have: half of them, and one less than there are.
 * Workers that wait for readers are not counted: they have a limit of their own
 * (mishap_runner_hold). */
static size_t most_of_caller(const mishap_runner *r, const struct found *f)
{
    size_t handlers = r->settings.handlers, half = (handlers + 1) / 2;
    size_t left = handlers > f->held + 1 ? handlers - f->held - 1 : 1;
    return half < left ? half : left;
}

/* Why the next call has to wait on. */
enum why {
    NEEDS_WORKER, /* a worker is to be started, if the limit allows one more */
    CALLER_WAITS, /* its caller has its share of the workers */
    SLOW_WAIT,    /* the last worker is left for short calls */
};

/* The worker that gets a call, or why there is none. */
static mishap_link *choose(mishap_runner *r, size_t group, const mishap_run *run,
                           uint32_t generation, int64_t now, enum why *why)
{
    size_t handlers = r->settings.handlers;
    bool shares = !mishap_runner_is_alone(r, group) && r->settings.most_of_one && run->call->holder;
    /* A caller with few calls cannot have reached its share of the workers, so they need not be
     * counted. */
    bool all = shares && (run->slow || 4 * mishap_runner_holds(r, run->call->holder) > handlers);
    struct found f = look_for_worker(r, group, run, generation, all, now);
    *why = NEEDS_WORKER;
    if (shares && run->slow && handlers >= LEAVE_ONE && f.slow + 1 >= handlers) {
        *why = SLOW_WAIT;
        return NULL;
    }
    size_t most = all ? most_of_caller(r, &f) : SIZE_MAX;
    if (f.taken >= most) {
        *why = CALLER_WAITS;
        return f.own;
    }
    const mishap_runner_group *g = &r->groups[group];
    if (f.taken + g->starting + g->opening >= most) /* the workers that start now are enough */
        *why = CALLER_WAITS;
    return f.idle ? f.idle : f.brisk;
}

void mishap_runner_start_worker(mishap_runner *r, size_t group, int64_t now)
{
    mishap_runner_group *g = &r->groups[group];
    mishap_keeper_message message = { .word = MISHAP_KEEPER_START,
                                      .number = ++r->last_request,
                                      .group = (uint32_t)group };
    if (mishap_keeper_send(r->settings.keeper, &message, NULL, 0)) {
        g->starting++;
        g->asked_ns = now;
    }
}

static void ask_for_worker(mishap_runner *r, size_t group, int64_t now)
{
    mishap_runner_group *g = &r->groups[group];
    size_t most = mishap_runner_is_alone(r, group) ? 1 : r->settings.handlers;
    if (g->links + g->starting >= most || g->starting + g->opening >= g->waiting ||
        (g->refused_ns && now - g->refused_ns < r->times.retry_ms * MISHAP_MS))
        return;
    if (mishap_runner_foreign(r, group) && !mishap_runner_may_start_foreign(r, group))
        return;
    mishap_runner_start_worker(r, group, now);
}

/* -- handing over ------------------------------------------------------------------------------ */

static bool is_long(const mishap_runner *r, const mishap_link *link, bool slow)
{
    return slow || r->settings.plan->groups.groups[link->group].apart;
}

/* The turn of any of the calls that a worker has. */
static const struct mishap_link_turn *first_turn(const mishap_link *link)
{
    return &link->slots[__builtin_ctzll(link->used)].turn;
}

bool mishap_runner_hand(mishap_runner *r, mishap_link *link, mishap_run *run, int64_t now)
{
    mishap_runner_group *g = &r->groups[link->group];
    mishap_turns *line = &g->lines[run->slow];
    struct mishap_link_turn turn = { .took_us = run->took_us,
                                     .expected_us = *run->took_us,
                                     .holder = run->call->holder,
                                     .slow = run->slow };
    int64_t expected_ns = turn.expected_us * INT64_C(1000);
    bool was_idle = !link->used;
    turn.permit = link->permit && was_idle;
    turn.caller = mishap_turns_take(line, &run->turn, expected_ns);
    if (run->slow)
        g->slow_since_ns = now;
    mishap_runner_dequeue(g, run);
    if (!mishap_link_hand(link, run, now)) {
        mishap_turns_end(line, turn.caller, expected_ns, 0);
        if (turn.permit)
            mishap_runner_return_permit(r, link);
        return false;
    }
    link->slots[run->slot].turn = turn;
    link->ahead_us += turn.expected_us;
    if (was_idle)
        link->taken_by = turn.holder;
    if (is_long(r, link, run->slow))
        mishap_runner_yield(r, link, now);
    else if (was_idle)
        mishap_runner_end_yield(r, link);
    return true;
}

/* A worker runs its calls one after the other: the time of one begins when the one before has
 * ended. For calls that are settled together, the worker reports the times itself. */
static int64_t time_of(mishap_link *link, unsigned i)
{
    const mishap_link_slot *slot = &link->slots[i];
    int64_t now = mishap_clock_monotonic_ns();
    int64_t since = slot->handed_ns > link->freed_ns ? slot->handed_ns : link->freed_ns;
    int64_t told = atomic_load(&link->page->ran_us[i]) * INT64_C(1000);
    link->freed_ns = now;
    return !told ? now - since : told < now - slot->handed_ns ? told : now - slot->handed_ns;
}

void mishap_runner_clear(mishap_runner *r, mishap_link *link, unsigned i, bool ran)
{
    struct mishap_link_turn turn = link->slots[i].turn;
    int64_t used_ns = ran ? time_of(link, i) : 0;
    mishap_link_clear(link, i);
    if (turn.permit) /* calls of other callers may stand behind it */
        mishap_runner_return_permit(r, link);
    /* A worker without a call may get another long one in a moment (mishap_runner_flush). */
    if (link->foreign || (link->used && !is_long(r, link, first_turn(link)->slow)))
        mishap_runner_end_yield(r, link);
    if (!turn.caller)
        return;
    link->ahead_us -= turn.expected_us;
    if (link->used && link->taken_by == turn.holder)
        link->taken_by = first_turn(link)->holder;
    if (ran)
        learn(turn.took_us, used_ns);
    mishap_turns_end(&r->groups[link->group].lines[turn.slow], turn.caller,
                     turn.expected_us * INT64_C(1000), used_ns);
}

/* With handlers in this process: run the calls one after the other, and answer each before the next
 * begins. */
static void run_inside(mishap_runner *r, size_t group)
{
    mishap_runner_group *g = &r->groups[group];
    mishap_run *run;
    while ((run = next_of(g, true, mishap_clock_monotonic_ns())) &&
           mishap_runner_may_run_inside(r, group)) {
        int64_t begun = mishap_clock_monotonic_ns();
        mishap_turns *line = &g->lines[run->slow];
        mishap_turns_caller *caller = mishap_turns_take(line, &run->turn, 0);
        g->slow_since_ns = run->slow ? begun : g->slow_since_ns;
        mishap_runner_dequeue(g, run);
        run->call->deadline_ns = run->call->limit_ms ? begun + run->call->limit_ms * MISHAP_MS : 0;
        mishap *failure = mishap_call_run(run->call);
        int64_t used_ns = mishap_clock_monotonic_ns() - begun;
        learn(run->took_us, used_ns);
        mishap_turns_end(line, caller, 0, used_ns);
        run->died = run->call->ended;
        bool lost = run->call->lost;
        mishap_runner_finish(r, run, failure);
        if (lost)
            mishap_runner_lost_service(r, group);
    }
}

/* Hand over as many calls as there are workers for. False: a call waits, and a worker is to be
 * started for it. */
static bool hand_over(mishap_runner *r, size_t group, uint32_t generation, int64_t now)
{
    mishap_runner_group *g = &r->groups[group];
    bool slow = true;
    mishap_run *run;
    if (g->starting && now - g->asked_ns > r->times.start_ms * MISHAP_MS)
        /* The keeper has ended meanwhile, and its successor does not know of the request. */
        g->starting = 0;
    for (size_t i = 0; i < 2; i++)
        if (g->lines[i].places[MISHAP_TURNS_ASIDE].first)
            mishap_turns_bring_back(&g->lines[i]);
    while (g->first && (run = next_of(g, slow, now))) {
        enum why why;
        mishap_link *link = choose(r, group, run, generation, now, &why);
        if (link && !mishap_runner_may_compute(r, link, run, now)) {
            link = NULL;
            why = CALLER_WAITS;
        }
        if (!link && why == NEEDS_WORKER)
            return false;
        if (!link) {
            slow = slow && why != SLOW_WAIT;
            mishap_turns_set_aside(&g->lines[run->slow], &run->turn);
            continue;
        }
        bool behind = link->used && !mishap_runner_is_alone(r, group);
        if (!mishap_runner_hand(r, link, run, now))
            mishap_runner_give_up(r, run, mishap_runner_not_handed(link));
        mishap_runner_wake_at(r, now + (behind ? MISHAP_SHORT_MS : MISHAP_TICK_MS) * MISHAP_MS);
    }
    return true;
}

void mishap_runner_dispatch(mishap_runner *r, size_t group)
{
    uint32_t generation = mishap_standing_generation(r->standing, group);
    if (mishap_runner_has_sessions(r, group) && !r->settings.inside) {
        mishap_runner_dispatch_sessions(r, group);
        return;
    }
    if (!mishap_generation_is_open(generation)) {
        mishap_runner_refuse_group(r, group);
        return;
    }
    if (r->settings.inside) {
        run_inside(r, group);
        return;
    }
    int64_t now = mishap_clock_monotonic_ns();
    if (!hand_over(r, group, generation, now)) {
        mishap_runner_drop_stale(r, group);
        ask_for_worker(r, group, now);
    }
    if (r->groups[group].first)
        mishap_runner_wake_at(r, now + MISHAP_TICK_MS * MISHAP_MS);
}
