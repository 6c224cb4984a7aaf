/*
 * A runner whose keeper and workers are the test itself: calls whose callers have left, or perhaps
 * have.
 */
#include "testing.h"

#include "runner_set_up.h"

static void a_forgotten_call_that_has_not_begun_is_gone_at_once(void **state)
{
    struct set s;
    struct ours o, next;
    struct fake_worker w;
    unsigned slot = 0;
    mishap_frame_call asked;
    (void)state;
    begin_one(&s, &o, &w, "lone");
    mishap_runner_forget(s.runner, &o.run);
    assert_int_equal(mishap_runner_count(s.runner, true), 0);
    assert_int_equal(state_of(&w, 0), MISHAP_SLOT_TAKEN);
    assert_true(add(&s, &next, "lone")); /* in the same slot, while the first is on its way */
    turn(&s);
    assert_int_equal(next.run.slot, 0);
    assert_true(fake_worker_takes(&w, &slot, &asked));
    assert_false(fake_worker_begins(&w, slot, asked.number));
    run_next(&w, 0);
    turn(&s);
    assert_true(next.done && !next.failure);
    assert_false(o.done);
    let_go(&next);
    fake_worker_release(&w);
    close_set(&s);
}

static void a_forgotten_call_that_runs_is_cancelled_and_the_next_in_its_slot_is_not(void **state)
{
    struct set s;
    struct ours o, next;
    struct fake_worker w;
    (void)state;
    begin_one(&s, &o, &w, "lone");
    uint32_t number = begin_next(&w, 0);
    assert_false(atomic_load(&w.page->cancelled[0]));
    mishap_runner_forget(s.runner, &o.run);
    assert_true(atomic_load(&w.page->cancelled[0]));
    assert_int_equal(mishap_runner_count(s.runner, true), 1);
    assert_int_equal(mishap_runner_count(s.runner, false), 0);
    turn_for(&s, 100);
    hear_nothing(&s); /* it has its time all the same */
    fake_worker_answers(&w, 0, number);
    turn(&s);
    assert_int_equal(mishap_runner_count(s.runner, true), 0);
    assert_int_equal(orphans, 0); /* there is no failure to record */
    assert_true(add(&s, &next, "lone"));
    turn(&s);
    assert_int_equal(next.run.slot, 0);
    assert_false(atomic_load(&w.page->cancelled[0]));
    number = begin_next(&w, 0);
    mishap_runner_forget(s.runner, &next.run);
    die(&s, &w);
    assert_int_equal(orphans, 1);
    assert_int_equal(mishap_runner_count(s.runner, true), 0);
    fake_worker_release(&w);
    close_set(&s);
}

/* A worker may write anything to its page: here, that it has not begun what it had. No caller is
 * there to have the call back. */
static void a_forgotten_call_that_a_worker_denies_is_over(void **state)
{
    (void)state;
    for (int dies = 0; dies < 2; dies++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        begin_one(&s, &o, &w, "lone");
        uint32_t number = begin_next(&w, 0);
        mishap_runner_forget(s.runner, &o.run);
        atomic_store(&w.page->slots[0], mishap_slot_word(number, MISHAP_SLOT_HANDED));
        assert_int_equal(mishap_runner_count(s.runner, true), 1);
        if (dies)
            die(&s, &w);
        int64_t until = long_after();
        while (mishap_runner_count(s.runner, true) && mishap_clock_monotonic_ns() < until)
            turn_for(&s, 10);
        assert_int_equal(mishap_runner_count(s.runner, true), 0);
        assert_int_equal(mishap_runner_count(s.runner, false), 0);
        fake_worker_release(&w);
        close_set(&s);
    }
}

/* Whether it waits or runs when its caller leaves. */
static void a_call_whose_caller_may_have_left_is_told_and_comes_back(void **state)
{
    (void)state;
    for (int runs = 0; runs < 2; runs++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        open_set(&s, 1, 100, &patient);
        assert_true(add(&s, &o, "lone"));
        if (!runs)
            mishap_runner_cancel(s.runner, &o.run);
        start(&s, &w);
        uint32_t number = begin_next(&w, 0);
        assert_int_equal(atomic_load(&w.page->cancelled[0]),
                         runs ? MISHAP_CALLER_THERE : MISHAP_CALLER_LEFT);
        if (runs)
            mishap_runner_cancel(s.runner, &o.run);
        assert_int_equal(atomic_load(&w.page->cancelled[0]), MISHAP_CALLER_LEFT);
        fake_worker_answers(&w, 0, number);
        turn(&s);
        assert_true(o.done && !o.failure);
        end_one(&s, &o, &w);
    }
}

static void a_call_whose_caller_may_have_left_gives_way(void **state)
{
    struct set s;
    struct ours first, left, next, more;
    (void)state;
    open_set(&s, 1, 2, &patient);
    assert_true(add(&s, &first, "lone"));
    assert_true(add(&s, &left, "lone"));
    assert_false(add(&s, &next, "lone"));
    let_go(&next);
    mishap_runner_cancel(s.runner, &left.run);
    assert_true(add(&s, &next, "lone"));
    assert_false(left.done); /* not before the next flush */
    assert_false(add(&s, &more, "lone"));
    let_go(&more);
    mishap_runner_flush(s.runner);
    expect_words(&left, MISHAP_CODE_UNAVAILABLE, "busy");
    assert_int_equal(mishap_runner_count(s.runner, true), 2);
    let_go(&left);
    mishap_runner_forget(s.runner, &first.run);
    mishap_runner_forget(s.runner, &next.run);
    close_set(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_forgotten_call_that_has_not_begun_is_gone_at_once),
        TEST(a_forgotten_call_that_runs_is_cancelled_and_the_next_in_its_slot_is_not),
        TEST(a_forgotten_call_that_a_worker_denies_is_over),
        TEST(a_call_whose_caller_may_have_left_is_told_and_comes_back),
        TEST(a_call_whose_caller_may_have_left_gives_way),
    };
    return RUN(tests);
}
