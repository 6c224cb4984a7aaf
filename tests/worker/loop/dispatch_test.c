/*
 * Which call is next and which worker gets it, with a keeper and workers that are played by the
 * test: they start at once, and run a call until the test says that it is over.
 */
#include "testing.h"

#include "dispatch_set_up.h"

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
        end_after(&one, 0);
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
        link->opening_since_ns = 0; /* no worker opens a service here */
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
        TEST(a_call_that_leaves_gives_way_to_nobody),
        TEST(readers_hold_half_of_the_workers),
        TEST(who_reads_slowly_can_still_call),
    };
    return RUN(tests);
}
