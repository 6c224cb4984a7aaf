/* Which calls yield to others, with a keeper and workers that are played by the test. */
#include "testing.h"

#include "dispatch_set_up.h"

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
    assert_int_equal(w->yields, 0); /* there is no other caller */
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
    UNTIL(running(ada, 6) == 4); /* there is no other caller */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_takes_long_yields_while_others_are_there),
        TEST(a_call_that_turns_out_to_take_long_yields),
        TEST(a_low_priority_lasts_while_such_calls_follow),
        TEST(who_has_many_long_calls_needs_permits_while_others_are_there),
        TEST(a_call_that_waits_for_its_reader_has_no_permit),
        TEST(a_permit_is_returned_when_the_call_ends_that_needed_it),
        TEST(a_worker_that_is_alone_never_yields),
    };
    return RUN(tests);
}
