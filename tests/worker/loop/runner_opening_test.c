/*
 * A runner whose keeper and workers are the test itself: services that are opened, that cannot be
 * opened, and that are tried again.
 */
#include "testing.h"

#include "worker/loop/inside.h"
#include "runner_set_up.h"

/* -- opening ----------------------------------------------------------------------------------- */

static void a_worker_gets_calls_when_it_has_opened_its_service(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    begin_one(&s, &o, &w, "kept");
    turn(&s);
    take_open(&w);
    assert_int_equal(handed(&w), 0);
    say_opened(&s, &w, NULL);
    run_next(&w, 0);
    turn_until(&s, &o);
    assert_null(o.failure);
    let_go(&o);
    close_set(&s);
    fake_worker_release(&w);
}

static void what_waits_for_a_service_that_cannot_be_opened_is_answered(void **state)
{
    struct set s;
    struct ours o, later;
    struct fake_worker w;
    long before = blocks;
    (void)state;
    mishap_use_allocator(&failing_allocator);
    begin_one(&s, &o, &w, "kept");
    turn(&s);
    say_opened(&s, &w, mishap_raise(NOT_CONFIGURED, "MARKER-c0ffee"));
    expect_words(&o, MISHAP_CODE_UNAVAILABLE, "The service store is not available.");
    hear(&s, MISHAP_KEEPER_PUT_AWAY, 60000);
    assert_true(add(&s, &later, "kept"));
    turn(&s);
    expect_words(&later, MISHAP_CODE_UNAVAILABLE, "The service store is not available.");
    let_go(&o);
    let_go(&later);
    close_set(&s);
    fake_worker_release(&w);
    assert_int_equal(blocks, before); /* the failure has no owner any more */
    mishap_use_allocator(NULL);
}

/* What only an operator can repair is not worth trying again. */
static void callers_of_a_service_that_is_damaged_are_not_told_to_come_again(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    begin_one(&s, &o, &w, "kept");
    turn(&s);
    say_opened(&s, &w, mishap_retryable(mishap_raise(NOT_CONFIGURED, "MARKER-c0ffee"), false));
    expect_words(&o, MISHAP_CODE_NOT_CONFIGURED, "The service store is not available.");
    assert_false(mishap_told(o.failure)->retryable);
    let_go(&o);
    close_set(&s);
    fake_worker_release(&w);
}

/* A keeper that was asked and has ended meanwhile starts nothing. */
static void a_closed_service_is_tried_again_if_the_keeper_does_not_answer(void **state)
{
    mishap_runner_times times = patient;
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    times.start_ms = 10;
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "kept"));
    start(&s, &w);
    turn(&s);
    say_opened(&s, &w, mishap_raise(NOT_CONFIGURED, "MARKER-c0ffee"));
    assert_true(o.done);
    hear(&s, MISHAP_KEEPER_PUT_AWAY, 60000);
    mishap_keeper_message first = hear(&s, MISHAP_KEEPER_START, 60000);
    mishap_keeper_message second = hear(&s, MISHAP_KEEPER_START, 60000);
    assert_int_not_equal(first.number, second.number);
    let_go(&o);
    close_set(&s);
    fake_worker_release(&w);
}

/* -- opening, once more ------------------------------------------------------------------------ */

static void workers_that_die_while_they_open_count_only_in_a_row(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    for (int round = 0; round < 3; round++) {
        assert_true(add(&s, &o, "kept"));
        for (int i = 0; i < 2; i++) {
            start(&s, &w);
            take_open(&w);
            die(&s, &w);
            assert_false(o.done);
            fake_worker_release(&w);
        }
        start(&s, &w);
        take_open(&w);
        say_opened(&s, &w, NULL);
        run_next(&w, 0);
        turn_until(&s, &o);
        assert_null(o.failure);
        let_go(&o);
        die(&s, &w);
        fake_worker_release(&w);
    }
    close_set(&s);
}

/* It is not started in vain. */
static void the_worker_that_opened_a_closed_service_gets_the_next_call(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    begin_one(&s, &o, &w, "kept");
    take_open(&w);
    say_opened(&s, &w, mishap_raise(UNAVAILABLE, "The file is gone."));
    turn_until(&s, &o);
    assert_ptr_equal(mishap_told(o.failure)->code, MISHAP_CODE_UNAVAILABLE);
    let_go(&o);
    assert_int_equal(hear(&s, MISHAP_KEEPER_PUT_AWAY, 60000).worker, w.number);
    fake_worker_release(&w);
    start(&s, &w); /* it is tried again without a call */
    take_open(&w);
    say_opened(&s, &w, NULL);
    assert_true(add(&s, &o, "kept"));
    turn(&s);
    assert_int_equal(handed(&w), 1);
    run_next(&w, 0);
    turn_until(&s, &o);
    assert_null(o.failure);
    hear_nothing(&s);
    end_one(&s, &o, &w);
}

/* -- frames with all that they may have -------------------------------------------------------- */

static void a_service_that_is_warm_has_a_worker_before_its_first_call(void **state)
{
    struct set s;
    mishap_keeper_message message;
    (void)state;
    open_set(&s, 2, 10, &patient);
    mishap_runner_tend(s.runner);
    mishap_runner_tend(s.runner); /* one is enough */
    assert_true(fake_keeper_hears(s.keeper, &message));
    assert_int_equal(message.word, MISHAP_KEEPER_START);
    assert_ptr_equal(s.plan.groups.groups[message.group].service, &eager);
    assert_false(fake_keeper_hears(s.keeper, &message));
    close_set(&s);
}

/* The loop that has found it closed may have died since. */
static void any_loop_tries_to_open_a_service_that_another_has_closed(void **state)
{
    struct set s;
    mishap_keeper_message message;
    (void)state;
    open_set(&s, 2, 10, &patient);
    mishap_standing *standing = s.runner->standing;
    size_t group = 0;
    while (s.plan.groups.groups[group].service != &eager)
        group++;
    assert_true(mishap_standing_close(standing, group, 0, T("It is broken."), false));
    mishap_runner_tend(s.runner); /* not yet, nor is it kept warm */
    assert_false(fake_keeper_hears(s.keeper, &message));
    atomic_store(&standing->of[group].next_try_ns, 1);
    mishap_runner_tend(s.runner);
    mishap_runner_tend(s.runner);
    assert_true(fake_keeper_hears(s.keeper, &message));
    assert_int_equal(message.word, MISHAP_KEEPER_START);
    assert_int_equal(message.group, group);
    assert_false(fake_keeper_hears(s.keeper, &message));
    close_set(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(any_loop_tries_to_open_a_service_that_another_has_closed),
        TEST(a_service_that_is_warm_has_a_worker_before_its_first_call),
        TEST(a_worker_gets_calls_when_it_has_opened_its_service),
        TEST(what_waits_for_a_service_that_cannot_be_opened_is_answered),
        TEST(callers_of_a_service_that_is_damaged_are_not_told_to_come_again),
        TEST(a_closed_service_is_tried_again_if_the_keeper_does_not_answer),
        TEST(workers_that_die_while_they_open_count_only_in_a_row),
        TEST(the_worker_that_opened_a_closed_service_gets_the_next_call),
    };
    return RUN(tests);
}
