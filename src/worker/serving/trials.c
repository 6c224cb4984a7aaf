/* Trials of services: see trials.h. Runs in the loops. */
#include "worker/serving/trials.h"

#include "base/id.h"
#include "base/memory.h"
#include "base/shared.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "operation/trial.h"

enum {
    SURE_AFTER = 2, /* failures in a row before a service counts as failed: one process may be
                       killed by accident */
    SOON_MS = 250,  /* pause after the first failure */
    FIRST_PAUSE_MS = 1000, /* … after the next; each further pause is twice as long */
    DOUBLINGS = 6,         /* … up to about a minute */
    CLAIMED_MS = 60000,    /* then the loop that has claimed a trial counts as dead */
    CALM_MS = 60000,       /* between trials that failures of calls have made due */
};

#define MS INT64_C(1000000)

/* A trial that runs in this loop. */
struct mishap_trying {
    mishap_run run; /* the first member */
    mishap_served *served;
    size_t group;
    char id[MISHAP_ID_LENGTH + 1];
    struct mishap_trying *next;
};

mishap *mishap_trials_make(mishap_trials **out)
{
    *out = mishap_shared_map(sizeof **out);
    return *out ? NULL : mishap_out_of_memory();
}

void mishap_trials_free(mishap_trials *trials)
{
    if (trials)
        mishap_shared_unmap(trials, sizeof *trials);
}

/* The service of a group, if this is the first group of the service. */
static const mishap_service *service_at(const mishap_served *served, size_t group)
{
    const mishap_worker_groups *groups = &served->plan.groups;
    const mishap_service *service = groups->groups[group].service;
    for (size_t i = 0; i < group; i++)
        if (groups->groups[i].service == service)
            return NULL; /* the group of its calls that are apart, or that runs in this process */
    return service;
}

/* -- the result of a trial --------------------------------------------------------------------- */

/* True if any group of the service is closed: then its calls are refused. */
static bool is_closed(const mishap_served *served, size_t group)
{
    const mishap_worker_groups *groups = &served->plan.groups;
    for (size_t i = group; i < groups->count; i++)
        if (groups->groups[i].service == groups->groups[group].service &&
            !mishap_generation_is_open(mishap_standing_generation(served->standing, i)))
            return true;
    return false;
}

static bool has_sandbox(const mishap_served *served)
{
    mishap *refused = mishap_sandbox_check(served->setup.sandbox);
    mishap_free(refused);
    return !refused;
}

static mishap_trial_state judge(const mishap_served *served, const mishap *failure)
{
    return !failure                              ? MISHAP_TRIAL_WORKS
           : !mishap_is(failure, NOT_CONFIGURED) ? MISHAP_TRIAL_FAILS
           : has_sandbox(served)                 ? MISHAP_TRIAL_MISSING
                                                 : MISHAP_TRIAL_REFUSED;
}

/* True if the failure says nothing about the service: other callers had all places, the loop is
 * about to end, or the service is closed, so that the call was refused at once. */
static bool is_void(const mishap_served *served, size_t group, const mishap *failure)
{
    return mishap_is(failure, UNAVAILABLE) || mishap_is(failure, RATE_LIMITED) ||
           mishap_is(failure, CANCELLED) || is_closed(served, group);
}

/* The reason goes to the log, under an id. If the service cannot be opened, that was recorded
 * before. */
static void record_trial(const struct mishap_trying *t, const mishap_service *service,
                         const mishap *failure)
{
    mishap_incident_record(&(mishap_incident_entry){
        .program = t->served->app->name,
        .operation = service->trial->operation->name,
        .id = t->id,
        .failure = failure,
        .to_stderr = t->served->verbose,
    });
}

static void say_outcome(const struct mishap_trying *t, const mishap_service *service, bool works)
{
    const char *name = t->served->app->name;
    if (works)
        mishap_log_say("%s: the service %s works again\n", name, service->name);
    else
        mishap_log_say("%s: the service %s does not work: incident %s of the log has the reason\n",
                       name, service->name, t->id);
}

static int64_t pause_ns(uint32_t doublings)
{
    return (FIRST_PAUSE_MS * MS) << (doublings < DOUBLINGS ? doublings : DOUBLINGS);
}

static void settle_trial(const struct mishap_trying *t, const mishap *failure)
{
    const mishap_service *service = service_at(t->served, t->group);
    struct mishap_trial_of *of = &t->served->trials->of[t->group];
    int64_t now = mishap_clock_monotonic_ns();
    mishap_trial_state state = judge(t->served, failure);
    bool fails = state == MISHAP_TRIAL_FAILS;
    if (fails && is_void(t->served, t->group, failure)) {
        atomic_store(&of->due_ns, now + pause_ns(0));
        return;
    }
    uint32_t failures = fails ? atomic_load(&of->failures) + 1 : 0;
    atomic_store(&of->failures, failures);
    atomic_store(&of->ended_ns, now);
    if (fails && failures < SURE_AFTER) {
        atomic_store(&of->due_ns, now + SOON_MS * MS);
        return;
    }
    bool failed = atomic_exchange(&of->state, state) == MISHAP_TRIAL_FAILS;
    if (fails) {
        record_trial(t, service, failure);
        if (!failed)
            say_outcome(t, service, false);
    } else if (failed && state == MISHAP_TRIAL_WORKS) {
        say_outcome(t, service, true);
    }
    atomic_store(&of->due_ns, fails ? now + pause_ns(failures - SURE_AFTER) : 0);
}

/* -- running ----------------------------------------------------------------------------------- */

/* The session of a trial, if it has one, is its own and is ended after it. */
#define CONVERSATION "trial of the service"

static void forget_trial(struct mishap_trying *t)
{
    struct mishap_trying **at = &t->served->trying;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    mishap_release(t);
}

static void on_done(mishap_run *run, mishap *failure)
{
    struct mishap_trying *t = (struct mishap_trying *)(void *)run;
    mishap_answer_kind kind;
    if (!failure)
        failure = mishap_trial_judge(service_at(t->served, t->group),
                                     mishap_call_answer(run->call, &kind));
    settle_trial(t, failure);
    mishap_free(failure);
    mishap_call_end(run->call);
    mishap_runner_dismiss(t->served->runner, 0, (mishap_text)MISHAP_TEXT(CONVERSATION));
    forget_trial(t);
}

static bool begin_trial(mishap_served *served, size_t group)
{
    mishap_call *call = NULL;
    struct mishap_trying *t = mishap_allocate(sizeof *t);
    mishap *failure = t ? mishap_trial_begin(served->app, service_at(served, group),
                                             MISHAP_TRIAL_MS, &call)
                        : mishap_out_of_memory();
    if (failure) {
        mishap_free(failure);
        mishap_release(t);
        return false;
    }
    *t = (struct mishap_trying){ .served = served, .group = group, .next = served->trying };
    mishap_id_make(t->id);
    call->request_id = mishap_arena_copy(&call->arena, mishap_text_of(t->id));
    call->to_operator = mishap_incident_line;
    call->verbose = served->verbose;
    call->conversation = (mishap_text)MISHAP_TEXT(CONVERSATION);
    t->run = (mishap_run){ .call = call, .incident = t->id, .done = on_done, .meek = true };
    if (!mishap_runner_add(served->runner, &t->run)) {
        mishap_call_end(call);
        mishap_release(t);
        return false;
    }
    served->trying = t;
    return true;
}

/* If a loop claims a trial and dies, the next trial is delayed by one interval. */
static void begin_if_due(mishap_served *served, size_t group, int64_t now)
{
    struct mishap_trial_of *of = &served->trials->of[group];
    int64_t due = atomic_load(&of->due_ns);
    if (due && due <= now &&
        atomic_compare_exchange_strong(&of->due_ns, &due, now + CLAIMED_MS * MS) &&
        !begin_trial(served, group))
        atomic_store(&of->due_ns, now + pause_ns(0)); /* there was no place for the call */
}

static bool is_tried(const mishap_served *served, size_t group)
{
    const mishap_service *service = service_at(served, group);
    return service && service->trial;
}

void mishap_trials_tend(mishap_served *served)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (size_t i = 0; i < served->plan.groups.count; i++)
        if (is_tried(served, i))
            begin_if_due(served, i, now);
}

void mishap_trials_leave(mishap_served *served)
{
    while (served->trying) {
        mishap_runner_forget(served->runner, &served->trying->run);
        forget_trial(served->trying);
    }
}

/* -- when -------------------------------------------------------------------------------------- */

/* A missing program may have been installed meanwhile, so a failed trial is due again. Where
 * handlers run in the loop, there are no trials: they would hold up the loop. */
void mishap_trials_ask(mishap_served *served)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (size_t i = 0; served->handlers && i < served->plan.groups.count; i++) {
        struct mishap_trial_of *of = &served->trials->of[i];
        int64_t none = 0;
        uint32_t state = atomic_load(&of->state);
        bool stale = now - atomic_load(&of->ended_ns) > CALM_MS * MS;
        if (!is_tried(served, i))
            continue;
        if (state == MISHAP_TRIAL_NONE ||
            ((state == MISHAP_TRIAL_MISSING || state == MISHAP_TRIAL_REFUSED) && stale))
            atomic_compare_exchange_strong(&of->due_ns, &none, now);
        begin_if_due(served, i, now);
    }
}

void mishap_trials_suspect(mishap_served *served, const mishap_service *service)
{
    for (size_t i = 0; served->trials && i < served->plan.groups.count; i++) {
        struct mishap_trial_of *of = &served->trials->of[i];
        int64_t none = 0, calm = atomic_load(&of->ended_ns) + CALM_MS * MS;
        int64_t now = mishap_clock_monotonic_ns();
        if (service_at(served, i) == service && service->trial &&
            atomic_load(&of->state) == MISHAP_TRIAL_WORKS)
            atomic_compare_exchange_strong(&of->due_ns, &none, calm > now ? calm : now);
    }
}

/* -- what /health and /ready tell -------------------------------------------------------------- */

static const struct {
    bool known, ready;
    const char *word, *message;
} told[] = {
    [MISHAP_TRIAL_NONE] = { false, false, "not tried", "This service has not been tried yet." },
    [MISHAP_TRIAL_WORKS] = { true, true, "works", "The last trial of this service worked." },
    [MISHAP_TRIAL_FAILS] = { true, false, "fails",
                             "The last trial of this service failed: its calls may fail, too." },
    [MISHAP_TRIAL_MISSING] = { false, false, "not installed",
                               "A program that this service needs is not installed." },
    [MISHAP_TRIAL_REFUSED] = { true, false, "refused",
                               "This machine does not offer the sandbox that this service needs." },
    [MISHAP_TRIAL_CLOSED] = { true, false, "unavailable",
                              "This service cannot be opened now. It is tried again." },
};

bool mishap_trials_next(const mishap_served *served, size_t *at, mishap_readiness *out)
{
    while (served->trials && *at < served->plan.groups.count) {
        size_t i = (*at)++;
        const mishap_service *service = service_at(served, i);
        if (!service)
            continue;
        bool closed = is_closed(served, i);
        if (!closed && !service->trial)
            continue;
        mishap_trial_state state = closed ? MISHAP_TRIAL_CLOSED
                                          : (mishap_trial_state)atomic_load(
                                                &served->trials->of[i].state);
        *out = (mishap_readiness){ service,           state,
                                   told[state].known, told[state].ready,
                                   told[state].word,  told[state].message };
        return true;
    }
    return false;
}
