/*
 * A runner whose keeper and workers are the test itself: how many workers there are and who gets a
 * call, in which turn, and what the keeper is asked for.
 */
#include "testing.h"

#include "runner_set_up.h"
#include "worker/loop/inside.h"

/* -- opening ----------------------------------------------------------------------------------- */

/* What only a command runs needs no process of a server, nor a place among its groups. */
static void operations_of_commands_have_no_workers(void **state)
{
    static const mishap_operation some[] = {
        { "local", "A command", NULL, do_run, .local = true },
        { "resident", "Runs until it is stopped", NULL, do_run, .resident = true },
        { "many", "In several processes", NULL, do_run, .stateless = true },
        { 0 },
    };
    static const mishap_app other = { "other", "1.0", "Another", .operations = some };
    mishap_worker_groups groups;
    (void)state;
    assert_null(mishap_worker_groups_make(&other, &groups));
    assert_int_equal(groups.count, 1);
    assert_int_equal(mishap_worker_group_of(&groups, &some[2]), 0);
}

/* -- how many ---------------------------------------------------------------------------------- */

static void no_more_workers_are_asked_for_than_there_are_calls_or_than_may_be(void **state)
{
    struct set s;
    struct ours many[4];
    struct fake_worker w[3];
    (void)state;
    open_set(&s, 3, 100, &patient);
    assert_true(add(&s, &many[0], "many"));
    start(&s, &w[0]);
    begin_next(&w[0], 0);
    turn_for(&s, 10);
    hear_nothing(&s); /* no caller waits */
    for (size_t i = 1; i < 4; i++)
        assert_true(add(&s, &many[i], "long"));
    turn_for(&s, 10); /* they are taken back from behind the first, if they were put there */
    mishap_keeper_message first = hear(&s, MISHAP_KEEPER_START, 60000);
    mishap_keeper_message second = hear(&s, MISHAP_KEEPER_START, 60000);
    assert_int_not_equal(first.number, second.number);
    turn_for(&s, 100);
    hear_nothing(&s); /* three are as many as may be */
    fake_worker_start(s.keeper, &first, &w[1], 2);
    fake_worker_start(s.keeper, &second, &w[2], 3);
    turn_for(&s, 20);
    hear_nothing(&s);
    assert_true(handed(&w[1]) && handed(&w[2]));
    for (size_t i = 0; i < 3; i++)
        fake_worker_release(&w[i]);
    close_set(&s);
    for (size_t i = 0; i < 4; i++)
        let_go(&many[i]);
}

/* Sixteen calls to one of several workers, thirty-two to one that is alone. */
static void a_worker_has_as_many_calls_as_may_be_and_not_one_more(void **state)
{
    static const struct {
        const char *name;
        unsigned most;
    } rows[] = { { "long", 16 }, { "lone", MISHAP_SLOTS } };
    (void)state;
    for (size_t row = 0; row < 2; row++) {
        struct set s;
        static struct ours many[MISHAP_SLOTS + 1];
        struct fake_worker w;
        unsigned most = rows[row].most;
        open_set(&s, 1, 100, &patient);
        for (unsigned i = 0; i <= most; i++)
            assert_true(add(&s, &many[i], rows[row].name));
        start(&s, &w);
        assert_int_equal(handed(&w), most);
        assert_null(many[most].run.link);
        for (unsigned i = 1; i < most; i++) /* no call waits behind one that takes long */
            many[i].run.link->slots[many[i].run.slot].handed_ns = long_after();
        run_next(&w, 0);
        turn(&s);
        assert_true(many[0].done);
        assert_non_null(many[most].run.link);
        assert_int_equal(many[most].run.slot, 0);
        fake_worker_release(&w);
        close_set(&s);
        for (unsigned i = 0; i <= most; i++)
            let_go(&many[i]);
    }
}

static void calls_that_come_together_are_spread(void **state)
{
    struct set s;
    struct ours first[2], many[4];
    struct fake_worker w[2];
    (void)state;
    open_set(&s, 2, 100, &patient);
    for (size_t i = 0; i < 2; i++) {
        assert_true(add(&s, &first[i], "long"));
        start(&s, &w[i]);
        turn_for(&s, 2);
        begin_next(&w[i], 0);
        turn_for(&s, 4);
    }
    for (size_t i = 0; i < 2; i++)
        fake_worker_answers(&w[i], 0, first[i].run.link->slots[0].number);
    turn(&s);
    for (size_t i = 0; i < 4; i++)
        assert_true(add(&s, &many[i], "long"));
    mishap_runner_flush(s.runner);
    assert_int_equal(handed(&w[0]), 2);
    assert_int_equal(handed(&w[1]), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(first[i].done);
        let_go(&first[i]);
        fake_worker_release(&w[i]);
    }
    close_set(&s);
    for (size_t i = 0; i < 4; i++)
        let_go(&many[i]);
}

static void calls_that_run_count_as_those_that_wait(void **state)
{
    struct set s;
    struct ours many[3];
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 2, &patient);
    assert_true(add(&s, &many[0], "lone"));
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    assert_true(add(&s, &many[1], "lone"));
    assert_false(add(&s, &many[2], "lone"));
    let_go(&many[2]);
    mishap_runner_forget(s.runner, &many[0].run); /* it still runs */
    assert_false(add(&s, &many[2], "lone"));
    let_go(&many[2]);
    fake_worker_answers(&w, 0, number);
    turn(&s);
    assert_true(add(&s, &many[2], "lone"));
    fake_worker_release(&w);
    close_set(&s);
    let_go(&many[1]);
    let_go(&many[2]);
}

/* -- turns ------------------------------------------------------------------------------------- */

static void spend_a_turn(mishap_run *run, mishap *failure)
{
    on_done(run, failure);
    for (int64_t until = mishap_clock_monotonic_ns() + INT64_C(6000000);
         mishap_clock_monotonic_ns() < until;)
        continue;
}

/* To pass on a large answer takes time, in which a loop does nothing else: so one turn has one. */
static void answers_of_many_workers_are_passed_on_in_several_turns(void **state)
{
    enum { WORKERS = 4 };
    struct set s;
    struct ours o[WORKERS];
    struct fake_worker w[WORKERS];
    (void)state;
    open_set(&s, WORKERS, 100, &patient);
    for (size_t i = 0; i < WORKERS; i++) {
        assert_true(add(&s, &o[i], "long"));
        o[i].run.done = spend_a_turn;
        start(&s, &w[i]);
        turn(&s);
    }
    uint32_t numbers[WORKERS];
    for (size_t i = 0; i < WORKERS; i++)
        numbers[i] = begin_next(&w[i], 0);
    for (size_t i = 0; i < WORKERS; i++)
        fake_worker_answers(&w[i], 0, numbers[i]);
    for (size_t i = 1; i <= WORKERS; i++) {
        size_t done = 0;
        mishap_runner_turn(s.runner);
        for (size_t j = 0; j < WORKERS; j++)
            done += o[j].done;
        assert_int_equal(done, i);
    }
    for (size_t i = 0; i < WORKERS; i++) {
        assert_null(o[i].failure);
        let_go(&o[i]);
        fake_worker_release(&w[i]);
    }
    close_set(&s);
}

/* -- the keeper -------------------------------------------------------------------------------- */

static void a_worker_that_was_refused_is_asked_for_again_later(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_runner_times times = patient;
    (void)state;
    times.retry_ms = 200;
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "long"));
    mishap_keeper_message asked = hear(&s, MISHAP_KEEPER_START, 60000);
    for (int i = 0; i < 3; i++) {
        mishap_keeper_message refused = { .word = MISHAP_KEEPER_REFUSED,
                                          .number = asked.number,
                                          .group = asked.group };
        int64_t since = mishap_clock_monotonic_ns();
        assert_true(mishap_keeper_send(s.keeper, &refused, NULL, 0));
        asked = hear_after(&s, MISHAP_KEEPER_START, since, 200);
    }
    assert_false(o.done);
    fake_worker_start(s.keeper, &asked, &w, 1);
    turn(&s);
    run_next(&w, 0);
    turn(&s);
    assert_true(o.done && !o.failure);
    end_one(&s, &o, &w);
}

/* The next keeper does not know what the one before it was asked for. */
static void a_worker_is_asked_for_again_if_the_keeper_does_not_answer(void **state)
{
    struct set s;
    struct ours o;
    mishap_runner_times times = patient;
    (void)state;
    times.start_ms = 200;
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "long"));
    int64_t asked_ns = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t group = hear(&s, MISHAP_KEEPER_START, 60000).group;
        assert_true(s.runner->groups[group].asked_ns - asked_ns >= 200 * MISHAP_MS);
        asked_ns = s.runner->groups[group].asked_ns;
    }
    close_set(&s);
    let_go(&o);
}

static bool is_closed(const struct fake_worker *w)
{
    char byte;
    return recv(w->socket, &byte, 1, MSG_DONTWAIT) == 0;
}

static void idle_workers_are_put_away_but_not_the_last_and_not_one_that_is_alone(void **state)
{
    struct set s;
    struct ours many[3];
    struct fake_worker w[3];
    mishap_runner_times times = patient;
    uint32_t numbers[2];
    (void)state;
    times.idle_ms = 200;
    open_set(&s, 2, 100, &times);
    assert_true(add(&s, &many[2], "lone"));
    start(&s, &w[2]);
    run_next(&w[2], 0);
    for (size_t i = 0; i < 2; i++) {
        assert_true(add(&s, &many[i], "long"));
        start(&s, &w[i]);
        numbers[i] = begin_next(&w[i], 0);
        turn_for(&s, 5);
    }
    turn_for(&s, 300);
    assert_false(is_closed(&w[0]) || is_closed(&w[1])); /* they are at work */
    int64_t since = mishap_clock_monotonic_ns();
    for (size_t i = 0; i < 2; i++)
        fake_worker_answers(&w[i], 0, numbers[i]);
    while (!is_closed(&w[0]) && !is_closed(&w[1]))
        turn_for(&s, 10);
    assert_true(mishap_clock_monotonic_ns() - since >= INT64_C(200000000));
    turn_for(&s, 500);
    assert_int_equal(is_closed(&w[0]) + is_closed(&w[1]), 1);
    assert_false(is_closed(&w[2]));
    for (size_t i = 0; i < 3; i++) {
        assert_true(many[i].done && !many[i].failure);
        let_go(&many[i]);
        fake_worker_release(&w[i]);
    }
    close_set(&s);
}

/* -- shares ------------------------------------------------------------------------------------ */

enum { ADA = 1, BOB };

/* Begun for a caller. The call is there in any case. */
static bool add_for(const struct set *s, struct ours *o, uint64_t holder)
{
    const mishap_operation *operation = mishap_operation_find(&app, T("long"));
    *o = (struct ours){ .run = { .done = on_done, .incident = "an-incident" } };
    assert_null(mishap_call_begin(&app, operation, T("{}"), &o->run.call));
    o->run.call->holder = holder;
    return mishap_runner_add(s->runner, &o->run);
}

static void expect_refusal(const struct set *s, struct ours *o, uint64_t holder,
                           const mishap_code *code, const char *words)
{
    assert_false(add_for(s, o, holder));
    mishap *m = mishap_runner_refuse(s->runner, o->run.call);
    assert_ptr_equal(mishap_told(m)->code, code);
    assert_non_null(strstr(mishap_told(m)->message.data, words));
    assert_int_equal(mishap_told(m)->retry_after_ms, 1000);
    mishap_free(m);
    let_go(o);
}

/* As long as there is room a caller may have more than its share; the rest is for others. */
static void the_last_places_are_for_those_who_have_few(void **state)
{
    struct set s = { .plan = { .app = &app } };
    struct ours many[17];
    size_t count = 0;
    (void)state;
    assert_null(mishap_worker_groups_make(&app, &s.plan.groups));
    mishap_runner_settings settings = { .plan = &s.plan,
                                        .keeper = fake_keeper_open(&s.keeper),
                                        .handlers = 1,
                                        .most_waiting = 16,
                                        .most_of_one = 4 };
    assert_null(mishap_runner_open(&settings, &s.runner));
    while (count < 12)
        assert_true(add_for(&s, &many[count++], ADA));
    expect_refusal(&s, &many[count], ADA, MISHAP_CODE_RATE_LIMITED, "12 calls of this caller");
    while (count < 16)
        assert_true(add_for(&s, &many[count++], BOB));
    expect_refusal(&s, &many[count], BOB, MISHAP_CODE_RATE_LIMITED, "4 calls of this caller");
    expect_refusal(&s, &many[count], 0, MISHAP_CODE_UNAVAILABLE, "busy");
    while (count > 3) { /* their callers have left: they are not counted either */
        mishap_runner_forget(s.runner, &many[--count].run);
        let_go(&many[count]);
    }
    while (count < 12)
        assert_true(add_for(&s, &many[count++], ADA));
    expect_refusal(&s, &many[count], ADA, MISHAP_CODE_RATE_LIMITED, "12 calls of this caller");
    while (count) {
        mishap_runner_forget(s.runner, &many[--count].run);
        let_go(&many[count]);
    }
    assert_int_equal(mishap_runner_count(s.runner, true), 0);
    close_set(&s);
}

/* -- inside ------------------------------------------------------------------------------------ */

static void handlers_run_in_this_process_if_that_is_wanted(void **state)
{
    struct set s = { .plan = { .app = &app } };
    struct ours many[2];
    (void)state;
    assert_null(mishap_worker_groups_make(&app, &s.plan.groups));
    mishap_runner_settings settings = {
        .plan = &s.plan, .keeper = -1, .most_waiting = 2, .inside = true
    };
    assert_null(mishap_runner_open(&settings, &s.runner));
    ran = 0;
    assert_true(add_limited(&s, &many[0], "lone"));
    assert_true(add(&s, &many[1], "long"));
    assert_int_equal(ran, 0); /* done() is not called before add() has returned */
    assert_int_equal(mishap_runner_count(s.runner, true), 2);
    struct pollfd file = { .fd = mishap_runner_file(s.runner), .events = POLLIN };
    assert_int_equal(poll(&file, 1, 120000), 1);
    int64_t before = mishap_clock_monotonic_ns();
    mishap_runner_turn(s.runner);
    int64_t after = mishap_clock_monotonic_ns();
    assert_int_equal(ran, 2);
    assert_true(many[0].done && many[1].done);
    assert_null(many[0].failure);
    assert_in_range(many[0].run.call->deadline_ns, before + INT64_C(200000000),
                    after + INT64_C(200000000));
    assert_int_equal(many[1].run.call->deadline_ns, 0);
    assert_false(many[0].run.died);
    assert_int_equal(mishap_runner_count(s.runner, true), 0);
    let_go(&many[0]);
    let_go(&many[1]);
    mishap_runner_close(s.runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(operations_of_commands_have_no_workers),
        TEST(no_more_workers_are_asked_for_than_there_are_calls_or_than_may_be),
        TEST(a_worker_has_as_many_calls_as_may_be_and_not_one_more),
        TEST(calls_that_come_together_are_spread),
        TEST(calls_that_run_count_as_those_that_wait),
        TEST(answers_of_many_workers_are_passed_on_in_several_turns),
        TEST(a_worker_that_was_refused_is_asked_for_again_later),
        TEST(a_worker_is_asked_for_again_if_the_keeper_does_not_answer),
        TEST(idle_workers_are_put_away_but_not_the_last_and_not_one_that_is_alone),
        TEST(the_last_places_are_for_those_who_have_few),
        TEST(handlers_run_in_this_process_if_that_is_wanted),
    };
    return RUN(tests);
}
