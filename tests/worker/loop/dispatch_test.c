/*
 * Which call is next and which worker gets it, with a keeper and workers that are played by the
 * test: they start at once, and run a call until the test says that it is over.
 */
#include "testing.h"

#include <sys/wait.h>

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

static mishap *settle_nothing(void *state)
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

static void open_runner(size_t handlers, size_t most, size_t share)
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

static void close_runner(void)
{
    for (size_t i = 0; i < s.count; i++)
        fake_worker_release(&s.workers[i].fake);
    mishap_runner_close(s.runner);
    close(s.keeper);
}

static void on_done(mishap_run *run, mishap *failure)
{
    struct ours *o = (struct ours *)(void *)run;
    assert_null(failure);
    o->done = true;
    mishap_call_end(run->call);
    run->call = NULL;
}

static bool try_to_add(struct ours *o, const char *name, uint64_t holder)
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

static void add(struct ours *o, const char *name, uint64_t holder)
{
    assert_true(try_to_add(o, name, holder));
}

/* Calls like this one took so long lately. */
static void they_took(const char *name, uint64_t holder, uint32_t ms)
{
    mishap_call call = { .operation = mishap_operation_find(&app, mishap_text_of(name)),
                         .holder = holder };
    size_t group = mishap_worker_group_of_call(&s.runner->settings.plan->groups, &call);
    *mishap_runner_took(s.runner, &call, group) = ms * 1000;
}

/* -- what the keeper and workers do ------------------------------------------------------------ */

static void hear(void)
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
static void begin(struct worker *w)
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

static void go(void)
{
    mishap_runner_flush(s.runner);
    hear();
    mishap_runner_turn(s.runner);
    for (size_t i = 0; i < s.count && !s.slow_to_begin; i++)
        begin(&s.workers[i]);
}

static void go_for(int ms)
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

static struct worker *worker_of(const struct ours *o)
{
    struct worker *w = o->run.link && !o->done ? &s.workers[o->run.link->worker - 1] : NULL;
    return w && w->busy && w->slot == o->run.slot ? w : NULL;
}

static size_t running(const struct ours *all, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += worker_of(&all[i]) != NULL;
    return found;
}

static void end(struct ours *o)
{
    struct worker *w;
    UNTIL((w = worker_of(o)));
    fake_worker_answers(&w->fake, w->slot, w->number);
    w->busy = false;
    UNTIL(o->done);
}

/* End all, whichever run. */
static void end_all(struct ours *all, size_t count)
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

/* -- turns ------------------------------------------------------------------------------------- */

static void callers_take_turns(void **state)
{
    struct ours ada[20], bob;
    (void)state;
    open_runner(1, 100, 25);
    for (size_t i = 0; i < 20; i++)
        add(&ada[i], "many", ADA);
    UNTIL(worker_of(&ada[0]));
    go_for(20);
    add(&bob, "many", BOB);
    end(&ada[0]);
    if (worker_of(&ada[1])) /* it was handed over before he came, and has begun */
        end(&ada[1]);
    UNTIL(worker_of(&bob));
    assert_int_equal(running(ada, 20), 0);
    end(&bob);
    end_all(ada, 20);
    close_runner();
}

static void a_caller_has_half_of_the_workers(void **state)
{
    struct ours ada[8], bob[2];
    (void)state;
    open_runner(4, 100, 25);
    for (size_t i = 0; i < 8; i++)
        add(&ada[i], "many", ADA);
    UNTIL(running(ada, 8) == 2);
    go_for(100);
    assert_int_equal(running(ada, 8), 2);
    assert_int_equal(s.count, 2); /* no more were asked for */
    for (size_t i = 0; i < 2; i++) {
        add(&bob[i], "many", BOB);
        UNTIL(worker_of(&bob[i])); /* at once, while all of hers run */
    }
    assert_int_equal(running(ada, 8), 2);
    end(&bob[0]);
    end(&bob[1]);
    go_for(20);
    assert_int_equal(running(ada, 8), 2); /* workers are idle, and stay so for others */
    end_all(ada, 8);
    close_runner();
}

/* Those that start are enough for a caller, unless they never do. */
static void a_worker_that_never_starts_is_asked_for_again(void **state)
{
    struct ours ada[3];
    (void)state;
    open_runner(2, 100, 25);
    s.runner->times.start_ms = 20;
    s.unheard = 1;
    for (size_t i = 0; i < 3; i++)
        add(&ada[i], "many", ADA);
    UNTIL(running(ada, 3) == 1);
    end_all(ada, 3);
    close_runner();
}

static void callers_that_are_not_counted_have_all_workers(void **state)
{
    static const struct {
        size_t share;
        uint64_t holder;
    } rows[] = { { 0, ADA }, { 25, 0 } };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct ours all[6];
        open_runner(4, 100, rows[i].share);
        for (size_t k = 0; k < 6; k++)
            add(&all[k], "many", rows[i].holder);
        UNTIL(running(all, 6) == 4);
        end_all(all, 6);
        close_runner();
    }
}

/* Short ones go behind those of their own caller, and leave workers of others alone. */
static void who_has_half_goes_behind_its_own_calls(void **state)
{
    struct ours ada[8], bob;
    (void)state;
    open_runner(4, 100, 25);
    for (size_t i = 0; i < 2; i++) {
        add(&ada[i], "many", ADA);
        UNTIL(worker_of(&ada[i]));
    }
    for (int tries = 0; tries < 100; tries++) {
        add(&bob, "many", BOB);
        UNTIL(worker_of(&bob));
        for (size_t i = 2; i < 8; i++)
            add(&ada[i], "many", ADA);
        go();
        for (size_t i = 2; i < 8; i++) {
            assert_true(!ada[i].run.link || ada[i].run.link != bob.run.link);
            mishap_runner_forget(s.runner, &ada[i].run);
        }
        end(&bob);
    }
    add(&bob, "many", BOB);
    for (size_t i = 2; i < 8; i++)
        add(&ada[i], "many", ADA);
    end(&bob);
    end_all(ada, 8);
    close_runner();
}

/* A worker counts as that of a caller whose call it has. */
static void a_worker_is_taken_by_who_has_a_call_there(void **state)
{
    (void)state;
    open_runner(1, 100, 25);
    for (int tries = 0; tries < 50; tries++) {
        struct ours ada, bob;
        add(&ada, "many", ADA);
        add(&bob, "many", BOB);
        UNTIL(worker_of(&ada));
        assert_int_equal(ada.run.link->taken_by, ADA);
        end(&ada);
        UNTIL(worker_of(&bob));
        assert_int_equal(bob.run.link->taken_by, BOB);
        end(&bob);
    }
    close_runner();
}

/* -- calls that take long ---------------------------------------------------------------------- */

static void what_takes_long_is_behind_what_is_short(void **state)
{
    struct ours first, slow[3], quick[3];
    (void)state;
    open_runner(1, 100, 25);
    they_took("many", ADA, 200);
    add(&first, "many", CLEO);
    UNTIL(worker_of(&first));
    for (size_t i = 0; i < 3; i++)
        add(&slow[i], "many", ADA);
    for (size_t i = 0; i < 3; i++)
        add(&quick[i], "other", ADA);
    assert_true(slow[0].run.slow && !quick[0].run.slow);
    s.runner->groups[0].slow_since_ns = INT64_MAX / 2; /* however long this test takes */
    end(&first);
    for (size_t i = 0; i < 3; i++) {
        UNTIL(worker_of(&quick[i]));
        assert_int_equal(running(slow, 3), 0);
        end(&quick[i]);
    }
    end_all(slow, 3);
    close_runner();
}

/* … but not for ever. */
static void what_takes_long_is_passed_over_for_a_second(void **state)
{
    struct ours first, slow, quick[2];
    (void)state;
    open_runner(1, 100, 25);
    they_took("many", ADA, 200);
    add(&first, "many", CLEO);
    UNTIL(worker_of(&first));
    go_for(20);
    add(&slow, "many", ADA);
    add(&quick[0], "many", BOB);
    add(&quick[1], "many", BOB);
    go_for(1100);
    int64_t before = mishap_clock_monotonic_ns();
    assert_true(s.runner->groups[0].slow_since_ns < before);
    end(&first);
    UNTIL(worker_of(&slow) || quick[1].done || worker_of(&quick[1]));
    assert_non_null(worker_of(&slow));
    assert_false(quick[0].done);
    assert_true(s.runner->groups[0].slow_since_ns >= before); /* the next is a second from now */
    end(&slow);
    end_all(quick, 2);
    close_runner();
}

/* However many short calls go before it. */
static void short_calls_do_not_prolong_the_time_of_what_takes_long(void **state)
{
    struct ours slow[4], quick;
    (void)state;
    open_runner(4, 100, 50);
    they_took("many", ADA, 200);
    they_took("many", CLEO, 200);
    for (size_t i = 0; i < 4; i++)
        add(&slow[i], "many", i % 2 ? CLEO : ADA);
    UNTIL(running(slow, 4) == 3); /* the last worker is for what is short */
    go_for(20);
    int64_t since = s.runner->groups[0].slow_since_ns;
    add(&quick, "many", BOB);
    UNTIL(worker_of(&quick));
    assert_int_equal(running(slow, 4), 3);
    assert_int_equal(s.runner->groups[0].slow_since_ns, since);
    end(&quick);
    end_all(slow, 4);
    close_runner();
}

static void one_worker_is_left_for_what_is_short(void **state)
{
    struct ours slow[3], waits, quick;
    static const uint64_t callers[] = { ADA, ADA, BOB };
    (void)state;
    open_runner(4, 100, 25);
    they_took("many", ADA, 200);
    they_took("many", BOB, 200);
    they_took("many", CLEO, 200);
    for (size_t i = 0; i < 3; i++) {
        add(&slow[i], "many", callers[i]);
        UNTIL(worker_of(&slow[i]));
    }
    add(&waits, "many", CLEO);
    go_for(50);
    assert_null(waits.run.link);
    add(&quick, "many", DAN);
    UNTIL(worker_of(&quick));
    end(&quick);
    go_for(20);
    assert_null(waits.run.link);
    end(&slow[2]);
    UNTIL(worker_of(&waits));
    end(&waits);
    end_all(slow, 2);
    close_runner();
}

/* Only those count that take long: else short ones, which always come, would never let one begin.
 */
static void short_calls_leave_workers_for_what_takes_long(void **state)
{
    struct ours slow[3], quick;
    (void)state;
    open_runner(4, 100, 25);
    they_took("many", ADA, 200);
    they_took("many", CLEO, 200);
    for (size_t i = 0; i < 2; i++) {
        add(&slow[i], "many", ADA);
        UNTIL(worker_of(&slow[i]));
    }
    add(&quick, "many", BOB);
    UNTIL(worker_of(&quick));
    add(&slow[2], "many", CLEO);
    UNTIL(worker_of(&slow[2]));
    end(&quick);
    end_all(slow, 3);
    close_runner();
}

static void what_calls_took_is_learned(void **state)
{
    struct ours one, next, other;
    (void)state;
    open_runner(1, 100, 25);
    for (int i = 0; i < 3; i++) {
        add(&one, "many", ADA);
        UNTIL(worker_of(&one));
        go_for(120);
        end(&one);
    }
    add(&next, "many", ADA);
    assert_true(next.run.slow);
    add(&other, "many", BOB);
    assert_false(other.run.slow);
    end_all(&other, 1);
    end_all(&next, 1);
    close_runner();
}

/* What a call takes that runs apart says nothing of one of the same operation that does not. */
static void what_calls_took_is_known_for_each_group(void **state)
{
    (void)state;
    open_runner(4, 100, 50);
    mishap_call call = { .operation = &operations[0], .holder = ADA };
    uint32_t *took = mishap_runner_took(s.runner, &call, 0);
    assert_ptr_not_equal(took, mishap_runner_took(s.runner, &call, 1));
    assert_ptr_equal(took, mishap_runner_took(s.runner, &call, 0));
    call.holder = BOB;
    assert_ptr_not_equal(took, mishap_runner_took(s.runner, &call, 0));
    close_runner();
}

/* -- one process ------------------------------------------------------------------------------- */

/* What waits in the socket of a worker has had its turn: there is little of it, unless it is short
 * and settled together. */
static void a_worker_that_is_alone_has_little_in_advance(void **state)
{
    static const struct {
        const char *name;
        uint32_t ms;
        unsigned handed;
    } rows[] = { { "lone", 20, 1 },    { "lone", 3, 3 },    { "lone", 0, 8 },
                 { "settled", 20, 2 }, { "settled", 2, 8 }, { "settled", 0, 8 } };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ours all[8];
        unsigned handed = 0;
        open_runner(4, 100, 25);
        they_took(rows[i].name, ADA, rows[i].ms);
        s.slow_to_begin = true;
        for (size_t k = 0; k < 8; k++)
            add(&all[k], rows[i].name, ADA);
        UNTIL(all[0].run.link || s.count);
        mishap_link *link = s.runner->links;
        UNTIL((link = s.runner->links));
        link->opening_since_ns = 0; /* nobody opens a service here */
        go();
        for (size_t k = 0; k < 8; k++)
            handed += all[k].run.link != NULL;
        assert_int_equal(handed, rows[i].handed);
        close_runner();
        for (size_t k = 0; k < 8; k++)
            mishap_call_end(all[k].run.call);
    }
}

/* They are answered together: the worker says what each of them took, and not more is believed than
 * the time that it had. */
static void of_calls_that_are_settled_together_the_worker_tells_the_time(void **state)
{
    static const struct {
        uint32_t told_us;
        int64_t since_ms;
        uint32_t least, most;
    } rows[] = { { 40000, 100000, 10000, 10000 },
                 { 1, 100000, 0, 0 },
                 { UINT32_MAX, 100, 25000, INT32_MAX } };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ours all[2];
        open_runner(4, 100, 25);
        they_took("settled", ADA, 0);
        s.slow_to_begin = true;
        add(&all[0], "settled", ADA);
        add(&all[1], "settled", ADA);
        mishap_link *link = NULL;
        UNTIL((link = s.runner->links));
        link->opening_since_ns = 0;
        UNTIL(all[0].run.link && all[1].run.link);
        unsigned slot = all[1].run.slot;
        link->slots[slot].handed_ns -= rows[i].since_ms * INT64_C(1000000);
        atomic_store(&link->page->ran_us[slot], rows[i].told_us);
        mishap_runner_clear(s.runner, link, slot, true);
        assert_in_range(*all[1].run.took_us, rows[i].least, rows[i].most);
        close_runner();
        for (size_t k = 0; k < 2; k++)
            mishap_call_end(all[k].run.call);
    }
}

static void in_this_process_callers_take_turns_too(void **state)
{
    struct ours ada[3], bob;
    (void)state;
    memset(&s, 0, sizeof s);
    s.plan.app = &app;
    assert_null(mishap_worker_groups_make(&app, &s.plan.groups));
    mishap_runner_settings settings = {
        .plan = &s.plan, .keeper = -1, .most_waiting = 9, .inside = true
    };
    assert_null(mishap_runner_open(&settings, &s.runner));
    ran_count = 0;
    for (size_t i = 0; i < 3; i++)
        add(&ada[i], "lone", ADA);
    add(&bob, "lone", BOB);
    mishap_runner_flush(s.runner);
    assert_int_equal(ran_count, 4);
    assert_int_equal(ran[0], ADA);
    assert_int_equal(ran[1], BOB);
    mishap_runner_close(s.runner);
}

/* -- priorities -------------------------------------------------------------------------------- */

static void what_takes_long_yields_while_others_are_there(void **state)
{
    struct ours slow, more, quick;
    (void)state;
    open_runner(4, 100, 25);
    they_took("many", ADA, 200);
    add(&quick, "many", BOB);
    end(&quick);
    add(&slow, "many", ADA);
    add(&more, "lone", ADA);
    UNTIL(worker_of(&slow));
    const struct worker *w = worker_of(&slow);
    UNTIL(w->yields == 1); /* it is known to take long */
    assert_int_equal(w->restored, 0);
    assert_int_equal(slow.run.link->ahead_us, 200000);
    end(&slow);
    assert_int_equal(s.runner->links->ahead_us, 0);
    UNTIL(w->restored == 1);
    assert_int_equal(w->yields, 1);
    end(&more);
    close_runner();
}

static void a_call_that_turns_out_to_take_long_yields(void **state)
{
    struct ours one, more[2], quick;
    (void)state;
    open_runner(4, 100, 25);
    add(&one, "many", ADA);
    add(&more[0], "lone", ADA);
    UNTIL(worker_of(&one));
    const struct worker *w = worker_of(&one);
    go_for(200);
    assert_int_equal(w->yields, 0); /* there is nobody else */
    add(&quick, "many", BOB);
    UNTIL(worker_of(&quick));
    const struct worker *other = worker_of(&quick);
    UNTIL(w->yields == 1);
    end(&more[0]);
    end(&one);
    UNTIL(w->restored == 1);
    add(&one, "many", ADA); /* both have one */
    UNTIL(worker_of(&one));
    go_for(200);
    assert_int_equal(other->yields, 0);
    assert_int_equal(worker_of(&one)->yields, worker_of(&one)->restored);
    add(&more[0], "lone", ADA); /* now she has more */
    add(&more[1], "lone", ADA);
    UNTIL(worker_of(&one)->yields > worker_of(&one)->restored);
    assert_int_equal(other->yields, 0);
    end(&quick);
    end(&one);
    end_all(more, 2);
    close_runner();
}

/* Also where a call behind the one that runs is taken back. */
static void a_low_priority_lasts_while_such_calls_follow(void **state)
{
    struct ours ada[4], quick;
    (void)state;
    open_runner(2, 100, 25); /* one worker for each of them */
    they_took("many", ADA, 200);
    add(&quick, "many", BOB);
    end(&quick);
    for (size_t i = 0; i < 4; i++)
        add(&ada[i], "many", ADA);
    UNTIL(running(ada, 4) == 1);
    const struct worker *w = &s.workers[0];
    UNTIL(w->yields == 1);
    go_for(20);
    assert_int_equal(w->restored, 0);
    end_all(ada, 4);
    UNTIL(w->restored == 1);
    assert_int_equal(w->yields, 1);
    add(&quick, "many", BOB);
    end(&quick);
    assert_int_equal(w->yields, 1);
    close_runner();
}

/* Calls of a group that is apart: it becomes so when they wait there. */
static void add_apart(struct ours *all, size_t count, uint64_t holder)
{
    s.plan.groups.groups[0].apart = false;
    for (size_t i = 0; i < count; i++)
        add(&all[i], "many", holder);
    s.plan.groups.groups[0].apart = true;
}

static void who_has_many_long_calls_needs_permits_while_others_are_there(void **state)
{
    mishap_permits permits = { .count = 1 };
    struct ours ada[6], bob;
    (void)state;
    open_runner(8, 100, 50);
    s.runner->settings.permits = &permits;
    add_apart(ada, 6, ADA);
    UNTIL(running(ada, 6) == 4); /* there is nobody else */
    assert_int_equal(permits.of[0], 0);
    end_all(ada, 6);
    add_apart(&bob, 1, BOB);
    end(&bob);
    add_apart(ada, 6, ADA);
    UNTIL(running(ada, 6) == 1);
    go_for(100);
    assert_int_equal(running(ada, 6), 1);
    assert_true(permits.of[0] == mishap_life_self());
    add_apart(&bob, 1, BOB);
    UNTIL(worker_of(&bob)); /* who has one needs none */
    end(&bob);
    end_all(ada, 6);
    assert_int_equal(permits.of[0], 0);
    add_apart(ada, 2, ADA);
    UNTIL(running(ada, 2) == 1);
    assert_true(permits.of[0] == mishap_life_self());
    close_runner();
    assert_int_equal(permits.of[0], 0);
    mishap_call_end(ada[0].run.call);
    mishap_call_end(ada[1].run.call);
}

/* A reader that takes nothing would keep others from computing as long as it likes. */
static void a_call_that_waits_for_its_reader_has_no_permit(void **state)
{
    mishap_permits permits = { .count = 1 };
    struct ours ada[2], bob;
    (void)state;
    open_runner(8, 100, 50);
    s.runner->settings.permits = &permits;
    add_apart(&bob, 1, BOB);
    end(&bob);
    add_apart(ada, 2, ADA);
    UNTIL(worker_of(&ada[0]));
    assert_true(permits.of[0] == mishap_life_self());
    assert_null(worker_of(&ada[1]));
    mishap_runner_hold(s.runner, &ada[0].run, true);
    assert_int_equal(permits.of[0], 0);
    UNTIL(worker_of(&ada[1]));
    assert_true(permits.of[0] == mishap_life_self());
    mishap_runner_hold(s.runner, &ada[0].run, false);
    end(&ada[0]);
    assert_true(permits.of[0] == mishap_life_self()); /* that of the other */
    end(&ada[1]);
    assert_int_equal(permits.of[0], 0);
    close_runner();
}

/* The call of another caller may stand behind it in the same process. */
static void a_permit_is_returned_when_the_call_ends_that_needed_it(void **state)
{
    mishap_permits permits = { .count = 1 };
    struct ours ada[2], bob;
    (void)state;
    open_runner(1, 100, 50);
    s.runner->settings.permits = &permits;
    add_apart(&bob, 1, BOB);
    end(&bob);
    add_apart(ada, 2, ADA);
    add_apart(&bob, 1, BOB);
    end(&ada[0]);
    UNTIL(worker_of(&bob));
    assert_int_equal(permits.of[0], 0);
    end(&bob);
    end(&ada[1]);
    assert_int_equal(permits.of[0], 0);
    close_runner();
}

static void a_worker_that_is_alone_never_yields(void **state)
{
    struct ours all[3], quick;
    (void)state;
    open_runner(4, 100, 25);
    they_took("lone", ADA, 200);
    for (size_t i = 0; i < 3; i++)
        add(&all[i], "lone", ADA);
    add(&quick, "many", BOB);
    UNTIL(worker_of(&all[0]) && worker_of(&quick));
    const struct worker *w = worker_of(&all[0]);
    go_for(200);
    assert_int_equal(w->yields, 0);
    end(&quick);
    end_all(all, 3);
    close_runner();
}

/* -- what others have broken ------------------------------------------------------------------- */

/* A call that was to give way leaves in another way: its place is free once, and not twice. */
static void a_call_that_leaves_gives_way_to_nobody(void **state)
{
    struct ours first, left, next, more;
    (void)state;
    open_runner(1, 2, 0);
    add(&first, "lone", ADA);
    add(&left, "lone", ADA);
    mishap_runner_cancel(s.runner, &left.run);
    add(&next, "lone", BOB);
    mishap_runner_forget(s.runner, &left.run);
    assert_int_equal(mishap_runner_count(s.runner, true), 2);
    assert_false(try_to_add(&more, "lone", BOB));
    mishap_runner_forget(s.runner, &next.run);
    add(&more, "lone", BOB);
    mishap_runner_forget(s.runner, &first.run);
    mishap_runner_forget(s.runner, &more.run);
    close_runner();
}

static void readers_hold_half_of_the_workers(void **state)
{
    struct ours all[4];
    size_t held = 0;
    (void)state;
    open_runner(4, 100, 0);
    for (size_t i = 0; i < 4; i++)
        add(&all[i], "many", ADA);
    UNTIL(running(all, 4) == 4);
    for (size_t i = 0; i < 4; i++)
        mishap_runner_hold(s.runner, &all[i].run, true);
    for (size_t i = 0; i < 4; i++)
        held += all[i].run.link->held_since_ns != 0;
    assert_int_equal(held, 2);
    for (size_t i = 0; i < 4; i++)
        mishap_runner_hold(s.runner, &all[i].run, false);
    end_all(all, 4);
    close_runner();
}

/* Workers whose readers wait are not counted as those of a caller, but one is left for others. */
static void who_reads_slowly_can_still_call(void **state)
{
    struct ours all[6], bob;
    (void)state;
    open_runner(4, 100, 25);
    for (size_t i = 0; i < 2; i++) {
        add(&all[i], "many", ADA);
        UNTIL(worker_of(&all[i]));
        mishap_runner_hold(s.runner, &all[i].run, true);
    }
    for (size_t i = 2; i < 6; i++)
        add(&all[i], "many", ADA);
    UNTIL(running(all, 6) == 3);
    go_for(50);
    assert_int_equal(running(all, 6), 3);
    add(&bob, "many", BOB);
    UNTIL(worker_of(&bob));
    end(&bob);
    for (size_t i = 0; i < 2; i++)
        mishap_runner_hold(s.runner, &all[i].run, false);
    end_all(all, 6);
    close_runner();
}

/* -- the crowd --------------------------------------------------------------------------------- */

#define AFTER_MS(ms) (INT64_C(1000000000) + (ms)*INT64_C(1000000))

static void the_crowd_is_who_was_there_lately(void **state)
{
    mishap_crowd crowd = { 0 };
    (void)state;
    assert_false(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(0)));
    mishap_crowd_see(&crowd, ADA, AFTER_MS(0));
    mishap_crowd_see(&crowd, 0, AFTER_MS(0));
    assert_false(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(0)));
    assert_true(mishap_crowd_has_others(&crowd, BOB, AFTER_MS(0)));
    mishap_crowd_see(&crowd, BOB, AFTER_MS(1000));
    assert_true(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(1000)));
    for (int ms = 1000; ms < 3 * MISHAP_CROWD_MS; ms += 10)
        mishap_crowd_see(&crowd, ADA, AFTER_MS(ms));
    assert_true(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(1000 + MISHAP_CROWD_MS - 1)));
    assert_false(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(1000 + MISHAP_CROWD_MS)));
    assert_true(mishap_crowd_has_others(&crowd, BOB, AFTER_MS(3 * MISHAP_CROWD_MS)));
    /* in the place of who was there least lately */
    mishap_crowd_see(&crowd, CLEO, AFTER_MS(3 * MISHAP_CROWD_MS));
    assert_true(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(3 * MISHAP_CROWD_MS)));
    assert_true(mishap_crowd_has_others(&crowd, CLEO, AFTER_MS(3 * MISHAP_CROWD_MS)));
}

/* -- permits ----------------------------------------------------------------------------------- */

static void loops_take_turns_with_permits(void **state)
{
    mishap_permits permits = { .count = 2 };
    mishap_life us = mishap_life_self(), others = mishap_life_of(getppid(), 0);
    (void)state;
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(0)), 1);
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(0)), 2);
    assert_int_equal(mishap_permits_take(&permits, others, AFTER_MS(0)), 0);
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(1)), 0);
    mishap_permits_return(&permits, 2);
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(2)), 0); /* it is their turn */
    assert_int_equal(mishap_permits_take(&permits, others, AFTER_MS(3)), 2);
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(4)), 0);
    mishap_permits_return(&permits, 2);
    assert_int_equal(mishap_permits_take(&permits, others, AFTER_MS(5)), 0); /* … and now ours */
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(6)), 2);
    assert_int_equal(mishap_permits_take(&permits, others, AFTER_MS(7)), 0);
    mishap_permits_return(&permits, 1);
    /* They do not try any more. */
    int64_t last = AFTER_MS(7) + MISHAP_PERMIT_WANTED_MS * INT64_C(1000000);
    assert_int_equal(mishap_permits_take(&permits, us, last - 1), 0);
    assert_int_equal(mishap_permits_take(&permits, us, last), 1);
}

/* It has more calls than permits, and tries for all of them at once. */
static void a_loop_that_always_wants_one_starves_no_other(void **state)
{
    mishap_permits permits = { .count = 1 };
    mishap_life loops[] = { mishap_life_self(), mishap_life_of(getppid(), 0),
                            mishap_life_of(1, 0) };
    size_t got[3] = { 0 }, has = 3, permit = 0;
    (void)state;
    for (int ms = 0; ms < 300; ms++) {
        if (permit)
            mishap_permits_return(&permits, permit);
        permit = 0;
        for (size_t i = 0; i < 3; i++)
            for (size_t again = 0; again < 2; again++) { /* for each of its calls */
                size_t taken = mishap_permits_take(&permits, loops[i], AFTER_MS(ms) + (int64_t)i);
                assert_true(!taken || !permit);
                permit = taken ? taken : permit;
                has = taken ? i : has;
            }
        assert_true(permit);
        got[has]++;
    }
    for (size_t i = 0; i < 3; i++)
        assert_in_range(got[i], 90, 110);
}

static void the_permit_of_a_loop_that_has_died_is_free(void **state)
{
    mishap_permits permits = { .count = 1 };
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(mishap_permits_take(&permits, mishap_life_of(child, 1), AFTER_MS(0)), 1);
    assert_int_equal(mishap_permits_take(&permits, mishap_life_self(), AFTER_MS(0)), 1);
    assert_true(permits.of[0] == mishap_life_self());
}

static void there_are_permits_for_half_of_the_processors(void **state)
{
    mishap_permits *permits;
    size_t processors = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    (void)state;
    assert_null(mishap_permits_make(&permits));
    assert_in_range(permits->count, 1, processors > 2 ? processors / 2 : 1);
    mishap_permits_free(permits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(callers_take_turns),
        TEST(a_caller_has_half_of_the_workers),
        TEST(a_worker_that_never_starts_is_asked_for_again),
        TEST(callers_that_are_not_counted_have_all_workers),
        TEST(who_has_half_goes_behind_its_own_calls),
        TEST(a_worker_is_taken_by_who_has_a_call_there),
        TEST(what_takes_long_is_behind_what_is_short),
        TEST(what_takes_long_is_passed_over_for_a_second),
        TEST(short_calls_do_not_prolong_the_time_of_what_takes_long),
        TEST(one_worker_is_left_for_what_is_short),
        TEST(short_calls_leave_workers_for_what_takes_long),
        TEST(what_calls_took_is_learned),
        TEST(what_calls_took_is_known_for_each_group),
        TEST(a_worker_that_is_alone_has_little_in_advance),
        TEST(of_calls_that_are_settled_together_the_worker_tells_the_time),
        TEST(in_this_process_callers_take_turns_too),
        TEST(what_takes_long_yields_while_others_are_there),
        TEST(a_call_that_turns_out_to_take_long_yields),
        TEST(a_low_priority_lasts_while_such_calls_follow),
        TEST(who_has_many_long_calls_needs_permits_while_others_are_there),
        TEST(a_call_that_waits_for_its_reader_has_no_permit),
        TEST(a_permit_is_returned_when_the_call_ends_that_needed_it),
        TEST(a_worker_that_is_alone_never_yields),
        TEST(a_call_that_leaves_gives_way_to_nobody),
        TEST(readers_hold_half_of_the_workers),
        TEST(who_reads_slowly_can_still_call),
        TEST(the_crowd_is_who_was_there_lately),
        TEST(loops_take_turns_with_permits),
        TEST(a_loop_that_always_wants_one_starves_no_other),
        TEST(the_permit_of_a_loop_that_has_died_is_free),
        TEST(there_are_permits_for_half_of_the_processors),
    };
    return RUN(tests);
}
