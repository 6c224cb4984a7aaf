/*
 * A runner with a keeper and workers that are played by the test: they start at once, and run a
 * call until the test says that it is over.
 */
#ifndef MISHAP_DISPATCH_SET_UP_H
#define MISHAP_DISPATCH_SET_UP_H

#include "testing.h"

#include "fake_keeper.h"
#include "worker/loop/inside.h"

enum { ADA = 1, BOB, CLEO, DAN, MOST = 8 };

mishap *do_run(mishap_call *call);

static uint64_t ran[8]; /* whose calls, where they run in this process */
static size_t ran_count;

mishap *do_run(mishap_call *call)
{
    ran[ran_count++] = call->holder;
    return mishap_answer_member(call, "ran", true);
}

static inline mishap *settle_nothing(void *state)
{
    (void)state;
    return NULL;
}

static const mishap_settlement settlement = { .settle = settle_nothing };
static const mishap_service settled = { "settled", .settlement = &settlement };

static const mishap_operation operations[] = {
    { "many", "In several processes", NULL, do_run, .stateless = true },
    { "other", "The same", NULL, do_run, .stateless = true },
    { "lone", "In one process", NULL, do_run, .stateless = false },
    { "settled", "Settled with others", NULL, do_run, .service = &settled },
    { 0 },
};

static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

static const mishap_runner_times patient = { .wait_ms = 600000,
                                             .begin_ms = 600000,
                                             .answer_ms = 600000,
                                             .start_ms = 600000,
                                             .retry_ms = 600000,
                                             .lost_ms = 600000,
                                             .idle_ms = 600000,
                                             .open_ms = 600000,
                                             .settle_ms = 600000 };

struct worker {
    struct fake_worker fake;
    bool busy;
    unsigned slot;
    uint32_t number;
    int yields, restored; /* how often the keeper was told so */
};

static struct {
    mishap_keeper_plan plan;
    mishap_runner *runner;
    int keeper;
    struct worker workers[MOST];
    size_t count;
    bool slow_to_begin; /* workers read nothing */
    int unheard;        /* requests for workers that the keeper does not hear */
} s;

struct ours {
    mishap_run run;
    bool done;
};

static inline void open_runner(size_t handlers, size_t most, size_t share)
{
    memset(&s, 0, sizeof s);
    s.plan.app = &app;
    assert_null(mishap_worker_groups_make(&app, &s.plan.groups));
    mishap_runner_settings settings = { .plan = &s.plan,
                                        .keeper = fake_keeper_open(&s.keeper),
                                        .handlers = handlers,
                                        .most_waiting = most,
                                        .most_of_one = share,
                                        .times = &patient };
    assert_null(mishap_runner_open(&settings, &s.runner));
}

static inline void close_runner(void)
{
    for (size_t i = 0; i < s.count; i++)
        fake_worker_release(&s.workers[i].fake);
    mishap_runner_close(s.runner);
    close(s.keeper);
}

static inline void on_done(mishap_run *run, mishap *failure)
{
    struct ours *o = (struct ours *)(void *)run;
    assert_null(failure);
    o->done = true;
    mishap_call_end(run->call);
    run->call = NULL;
}

static inline bool try_to_add(struct ours *o, const char *name, uint64_t holder)
{
    const mishap_operation *operation = mishap_operation_find(&app, mishap_text_of(name));
    *o = (struct ours){ .run = { .done = on_done, .incident = "an-incident" } };
    assert_null(mishap_call_begin(&app, operation, T("{}"), &o->run.call));
    o->run.call->holder = holder;
    o->run.call->limit_ms = 0;
    if (mishap_runner_add(s.runner, &o->run))
        return true;
    mishap_call_end(o->run.call);
    return false;
}

static inline void add(struct ours *o, const char *name, uint64_t holder)
{
    assert_true(try_to_add(o, name, holder));
}

/* Calls like this one took so long lately. */
static inline void they_took(const char *name, uint64_t holder, uint32_t ms)
{
    mishap_call call = { .operation = mishap_operation_find(&app, mishap_text_of(name)),
                         .holder = holder };
    size_t group = mishap_worker_group_of_call(&s.runner->settings.plan->groups, &call);
    *mishap_runner_took(s.runner, &call, group) = ms * 1000;
}

static inline void hear(void)
{
    mishap_keeper_message message;
    while (fake_keeper_hears(s.keeper, &message)) {
        if (message.word == MISHAP_KEEPER_START && s.unheard) {
            s.unheard--;
        } else if (message.word == MISHAP_KEEPER_START) {
            assert_in_range(s.count, 0, MOST - 1);
            fake_worker_start(s.keeper, &message, &s.workers[s.count].fake, (uint32_t)s.count + 1);
            s.count++;
        } else if (message.word == MISHAP_KEEPER_YIELD) {
            struct worker *w = &s.workers[message.worker - 1];
            w->yields += message.yields;
            w->restored += !message.yields;
        }
    }
}

/* It begins what it was given, one call at a time. */
static inline void begin(struct worker *w)
{
    mishap_frame_call asked;
    unsigned slot = 0;
    while (!w->busy && fake_worker_takes(&w->fake, &slot, &asked))
        if (fake_worker_begins(&w->fake, slot, asked.number)) {
            w->busy = true;
            w->slot = slot;
            w->number = asked.number;
        }
}

static inline void go(void)
{
    mishap_runner_flush(s.runner);
    hear();
    mishap_runner_turn(s.runner);
    for (size_t i = 0; i < s.count && !s.slow_to_begin; i++)
        begin(&s.workers[i]);
}

static inline void go_for(int ms)
{
    int64_t until = mishap_clock_monotonic_ns() + ms * INT64_C(1000000);
    do {
        struct pollfd file = { .fd = mishap_runner_file(s.runner), .events = POLLIN };
        go();
        poll(&file, 1, 1);
    } while (mishap_clock_monotonic_ns() < until);
}

#define UNTIL(condition)                                                                           \
    do {                                                                                           \
        int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);                       \
        while (!(condition) && mishap_clock_monotonic_ns() < until)                                \
            go_for(1);                                                                             \
        assert_true(condition);                                                                    \
    } while (0)

static inline struct worker *worker_of(const struct ours *o)
{
    struct worker *w = o->run.link && !o->done ? &s.workers[o->run.link->worker - 1] : NULL;
    return w && w->busy && w->slot == o->run.slot ? w : NULL;
}

static inline size_t running(const struct ours *all, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += worker_of(&all[i]) != NULL;
    return found;
}

/* The call took `us`, or with 0 the time that passed. */
static inline void end_after(struct ours *o, uint32_t us)
{
    struct worker *w;
    UNTIL((w = worker_of(o)));
    atomic_store(&o->run.link->page->ran_us[w->slot], us);
    fake_worker_answers(&w->fake, w->slot, w->number);
    w->busy = false;
    UNTIL(o->done);
}

/* It was a short call. On a busy machine the time that passed could make it a long one. */
static inline void end(struct ours *o)
{
    end_after(o, 1);
}

/* End all, whichever run. */
static inline void end_all(struct ours *all, size_t count)
{
    for (size_t left = count; left;) {
        left = 0;
        go_for(1);
        for (size_t i = 0; i < count; i++) {
            left += !all[i].done;
            if (worker_of(&all[i]))
                end(&all[i]);
        }
    }
}

#endif
