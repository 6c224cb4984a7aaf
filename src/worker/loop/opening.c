/*
 * Opening services: what a loop does when workers open a service, or cannot open it.
 *
 * A worker opens its service before it is given a call. If that fails, the service is closed
 * (standing.h): in every loop, waiting calls and later calls fail at once. From then on workers are
 * started at growing intervals, until one of them can open it. A worker that dies while it opens
 * the service does not close it, unless several die in a row.
 */
#include "worker/loop/inside.h"
#include "worker/spawn/spawn.h"

enum { MOST_DEAD = 3 }; /* workers that may die in a row while they open the service */

static const mishap_worker_group *group_of(const mishap_runner *r, size_t group)
{
    return &r->settings.plan->groups.groups[group];
}

bool mishap_runner_must_open(const mishap_runner *r, size_t group)
{
    const mishap_worker_group *g = group_of(r, group);
    return g->service && !g->program && !g->foreign;
}

/* -- failures of callers, and lines for the operator ------------------------------------------- */

/* The reason goes only to the operator: it may contain paths. */
mishap *mishap_runner_not_available(const mishap_runner *r, size_t group)
{
    enum { AGAIN_MS = 2000 };
    if (mishap_standing_is_hopeless(r->standing, group))
        return mishap_retryable(
            mishap_suggest(mishap_raise(NOT_CONFIGURED, "The service %s is not available.",
                                        group_of(r, group)->service->name),
                           "Ask the operator to repair the service."),
            false);
    return mishap_retry_after(mishap_raise(UNAVAILABLE, "The service %s is not available.",
                                           group_of(r, group)->service->name),
                              AGAIN_MS);
}

static void wake_for_try(mishap_runner *r, size_t group, int64_t now)
{
    int64_t next = mishap_standing_next_try(r->standing, group);
    int64_t soon = now + MISHAP_TICK_MS * MISHAP_MS;
    mishap_runner_wake_at(r, next > soon ? next : soon);
}

void mishap_runner_refuse_group(mishap_runner *r, size_t group)
{
    mishap_runner_group *g = &r->groups[group];
    if (mishap_runner_has_sessions(r, group)) {
        mishap_runner_dispatch_sessions(r, group); /* sessions that are alive go on */
        wake_for_try(r, group, mishap_clock_monotonic_ns());
        return;
    }
    mishap_runner_drop_stale(r, group);
    while (g->first) {
        mishap_run *run = g->first;
        mishap_runner_dequeue(g, run);
        mishap_runner_give_up(r, run, mishap_runner_not_available(r, group));
    }
    wake_for_try(r, group, mishap_clock_monotonic_ns());
}

static void tell_opening(const mishap_runner *r, size_t group, const mishap *failure)
{
    if (r->settings.stands)
        r->settings.stands(r->settings.state, group_of(r, group)->service, failure);
}

/* Takes ownership of the failure. */
static void close_service(mishap_runner *r, size_t group, uint32_t generation, mishap *failure)
{
    const mishap_public *told = mishap_told(failure);
    r->groups[group].dead_openings = 0;
    if (mishap_standing_close(r->standing, group, generation,
                              told->cause.length ? told->cause : mishap_public_message(told),
                              told->retry_stated && !told->retryable))
        tell_opening(r, group, failure);
    mishap_free(failure);
    if (!mishap_generation_is_open(mishap_standing_generation(r->standing, group)))
        mishap_runner_refuse_group(r, group);
}

static void reopen_service(mishap_runner *r, size_t group, uint32_t generation)
{
    r->groups[group].dead_openings = 0;
    if (mishap_standing_reopen(r->standing, group, generation))
        tell_opening(r, group, NULL);
}

/* -- one worker -------------------------------------------------------------------------------- */

/* False: no memory. */
bool mishap_runner_begin_opening(mishap_runner *r, mishap_link *link)
{
    const mishap_worker_group *g = group_of(r, link->group);
    link->generation = mishap_standing_generation(r->standing, link->group);
    if (link->foreign && link->joined)
        return true; /* it was ready before, in another loop */
    if (!link->foreign) {
        if (!mishap_runner_must_open(r, link->group))
            return true;
        mishap_frame_put_open(&link->out, g->opened ? g->identity : NULL);
        if (link->out.failed)
            return false;
    }
    link->opening_since_ns = mishap_clock_monotonic_ns();
    r->groups[link->group].opening++;
    mishap_runner_wake_at(r, link->opening_since_ns + MISHAP_TICK_MS * MISHAP_MS);
    return true;
}

static void end_opening(mishap_runner *r, mishap_link *link)
{
    link->opening_since_ns = 0;
    r->groups[link->group].opening--;
}

/* NULL, or what is wrong with the frame. */
const char *mishap_runner_take_opened(mishap_runner *r, mishap_link *link, mishap_text payload)
{
    mishap *failure;
    char identity[MISHAP_IDENTITY_LIMIT];
    if (!link->opening_since_ns)
        return "that it has opened what it was not told to open";
    if (!mishap_frame_take_opened(payload, identity, &failure))
        return "that it has opened its service, in no way that is known";
    mishap_runner_end_opening(r, link, failure);
    return NULL;
}

void mishap_runner_end_opening(mishap_runner *r, mishap_link *link, mishap *failure)
{
    end_opening(r, link);
    if (failure) {
        mishap_runner_put_away(r, link);
        close_service(r, link->group, link->generation, failure);
        return;
    }
    reopen_service(r, link->group, link->generation);
    if (mishap_runner_has_sessions(r, link->group) && !link->is_session) {
        mishap_runner_put_away(r, link); /* it was started only to show that one can be started */
        return;
    }
    /* A worker that opened it while it was closed belongs to the new, open generation. */
    if (!mishap_generation_is_open(link->generation))
        link->generation++;
    mishap_runner_drop_stale(r, link->group);
}

void mishap_runner_opening_died(mishap_runner *r, mishap_link *link)
{
    mishap_runner_group *g = &r->groups[link->group];
    if (!link->opening_since_ns)
        return;
    end_opening(r, link);
    if (++g->dead_openings < MOST_DEAD)
        return;
    mishap *m = link->foreign
                    ? mishap_spawn_lack(link->foreign,
                                        (mishap_text){ link->end.output, link->end.output_bytes })
                    : NULL;
    if (!m)
        m = mishap_tell_cause(mishap_raise(UNAVAILABLE, "The service %s is not available.",
                                           group_of(r, link->group)->service->name),
                              "The process that opened it died.");
    if (link->foreign)
        m = mishap_note(m, "place", "before it was ready");
    if (link->end.known && link->end.output_bytes)
        m = mishap_note(m, "output", ((mishap_text){ link->end.output, link->end.output_bytes }));
    close_service(r, link->group, link->generation,
                  link->end.known ? mishap_note(m, "status", link->end.status) : m);
}

void mishap_runner_look_at_opening(mishap_runner *r, mishap_link *link, int64_t now)
{
    if (!link->opening_since_ns)
        return;
    mishap_runner_wake_at(r, now + MISHAP_TICK_MS * MISHAP_MS);
    int most_ms = link->foreign ? mishap_foreign_ready_ms(link->foreign) : r->times.open_ms;
    if (link->ending_since_ns || now - link->opening_since_ns <= most_ms * MISHAP_MS)
        return;
    mishap_runner_ask_to_end(r, link, MISHAP_LINK_LIED, "nothing, and did not open its service",
                             true);
    end_opening(r, link);
    mishap *m = mishap_raise(UNAVAILABLE, "The service %s is not available.",
                             group_of(r, link->group)->service->name);
    close_service(r, link->group, link->generation,
                  mishap_tell_cause(m, "It could not be opened in time."));
}

void mishap_runner_drop_stale(mishap_runner *r, size_t group)
{
    uint32_t generation = mishap_standing_generation(r->standing, group);
    for (mishap_link *link = r->links; link; link = link->next)
        if (link->group == group && !link->dead && !link->used && !link->is_session &&
            !link->opening_since_ns && !link->ending_since_ns && link->socket >= 0 &&
            link->generation != generation)
            mishap_runner_put_away(r, link);
}

/* -- trying again ------------------------------------------------------------------------------ */

static void try_inside(mishap_runner *r, size_t group)
{
    void *state;
    uint32_t generation = mishap_standing_generation(r->standing, group);
    mishap *failure = mishap_service_open(r->settings.plan->app, group_of(r, group)->service,
                                          &state);
    if (failure)
        close_service(r, group, generation, failure);
    else
        reopen_service(r, group, generation);
}

/* True if a worker was asked for. A keeper that has ended meanwhile starts none, and its successor
 * does not know of the request. */
static bool is_trying(const mishap_runner *r, mishap_runner_group *g, int64_t now)
{
    if (g->starting && now - g->asked_ns > r->times.start_ms * MISHAP_MS)
        g->starting = 0;
    return g->starting || g->opening;
}

void mishap_runner_look_at_service(mishap_runner *r, size_t group, int64_t now)
{
    mishap_runner_group *g = &r->groups[group];
    if (mishap_generation_is_open(mishap_standing_generation(r->standing, group)))
        return;
    if (!is_trying(r, g, now) && mishap_standing_claim(r->standing, group, now)) {
        if (r->settings.inside)
            try_inside(r, group);
        else
            mishap_runner_start_worker(r, group, now);
    }
    wake_for_try(r, group, now);
}

/* A service that is declared warm gets a worker before its first call. Not right after the start: a
 * new server has more urgent things to do, and may not live long. */
static void keep_warm(mishap_runner *r, size_t group, int64_t now)
{
    const mishap_worker_group *of = group_of(r, group);
    mishap_runner_group *g = &r->groups[group];
    bool refused = g->refused_ns && now - g->refused_ns < r->times.retry_ms * MISHAP_MS;
    bool early = now - r->opened_ns < r->times.warm_ms * MISHAP_MS;
    if (of->service && of->service->warm && !of->foreign && !r->settings.inside && !g->links &&
        !refused && !early && !is_trying(r, g, now))
        mishap_runner_start_worker(r, group, now);
}

void mishap_runner_tend(mishap_runner *r)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (size_t i = 0; i < r->settings.plan->groups.count; i++)
        if (!mishap_generation_is_open(mishap_standing_generation(r->standing, i)))
            mishap_runner_look_at_service(r, i, now);
        else
            keep_warm(r, i, now);
}

/* What a worker has open is of no use any more. Find out now whether the service can be opened, and
 * not only with the next call. */
void mishap_runner_lost_service(mishap_runner *r, size_t group)
{
    mishap_runner_group *g = &r->groups[group];
    if (r->settings.inside) {
        mishap_service_close_all();
        try_inside(r, group);
        return;
    }
    int64_t now = mishap_clock_monotonic_ns();
    if (!is_trying(r, g, now))
        mishap_runner_start_worker(r, group, now);
}

bool mishap_runner_may_run_inside(mishap_runner *r, size_t group)
{
    if (mishap_runner_must_open(r, group) &&
        mishap_generation_is_open(mishap_standing_generation(r->standing, group)))
        try_inside(r, group); /* costs nothing if it is open */
    return mishap_generation_is_open(mishap_standing_generation(r->standing, group));
}
