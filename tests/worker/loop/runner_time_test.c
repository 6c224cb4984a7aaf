/*
 * A runner whose keeper and workers are the test itself: how long a call waits, runs and answers,
 * and whose time that is.
 */
#include "testing.h"

#include <errno.h>

#include "runner_set_up.h"
#include "worker/loop/inside.h"

/* -- who waits, and for how long --------------------------------------------------------------- */

/* A call that runs, and one that is handed to the same worker. False: this test got no processor
 * for so long that the worker was taken for a slow one already. */
static bool put_behind(struct set *s, struct ours *slow, struct ours *behind, struct fake_worker *w)
{
    open_set(s, 2, 100, &patient);
    assert_true(add(s, slow, "long"));
    start(s, w);
    begin_next(w, 0);
    assert_true(add(s, behind, "long"));
    mishap_runner_flush(s->runner);
    if (state_of(w, 1) == MISHAP_SLOT_HANDED)
        return true;
    fake_worker_release(w);
    close_set(s);
    let_go(slow);
    let_go(behind);
    return false;
}

static void a_call_behind_a_slow_one_is_taken_back_and_one_that_runs_is_not(void **state)
{
    enum { TRIES = 50 };
    struct set s;
    struct ours slow, behind;
    struct fake_worker w, other;
    int tries = 0;
    (void)state;
    while (!put_behind(&s, &slow, &behind, &w))
        assert_true(++tries < TRIES);
    mishap_keeper_message asked = hear(&s, MISHAP_KEEPER_START, 60000);
    assert_int_equal(state_of(&w, 0), MISHAP_SLOT_BEGUN);
    assert_int_equal(state_of(&w, 1), MISHAP_SLOT_TAKEN);
    fake_worker_start(s.keeper, &asked, &other, 2);
    turn(&s);
    assert_int_equal(handed(&other), 1);
    unsigned slot = 0;
    mishap_frame_call stale;
    assert_true(fake_worker_takes(&w, &slot, &stale)); /* it has come, but it is not its any more */
    assert_false(fake_worker_begins(&w, slot, stale.number));
    run_next(&other, 0);
    turn(&s);
    assert_true(behind.done);
    assert_false(slow.done);
    fake_worker_release(&w);
    fake_worker_release(&other);
    close_set(&s);
    let_go(&slow);
    let_go(&behind);
}

/* It is on its way to the worker: another one would not begin it any sooner. */
static void the_call_that_a_worker_begins_next_stays_with_it(void **state)
{
    struct set s;
    struct ours first, behind;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &first, "long"));
    assert_true(add(&s, &behind, "long"));
    start(&s, &w);
    turn_for(&s, 100);
    assert_int_equal(state_of(&w, 0), MISHAP_SLOT_HANDED);
    assert_int_equal(first.run.link->slots[0].number, 1);
    assert_null(behind.run.link); /* it would go to another, if there could be one */
    run_next(&w, 0);
    turn(&s);
    assert_true(first.done && !first.failure);
    fake_worker_release(&w);
    close_set(&s);
    let_go(&first);
    let_go(&behind);
}

/* The second has 200 ms, and waits for 300 behind the first: that is not its time. */
static void the_time_of_a_handler_runs_from_its_beginning(void **state)
{
    struct set s;
    struct ours first, second;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &first, "lone"));
    assert_true(add_limited(&s, &second, "lone"));
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    turn_for(&s, 300);
    hear_nothing(&s);
    assert_int_equal(second.run.link->slots[1].number, 2); /* it was not taken back */
    fake_worker_answers(&w, 0, number);
    turn(&s);
    assert_true(first.done);
    int64_t since = mishap_clock_monotonic_ns();
    begin_next(&w, 1);
    mishap_keeper_message end = hear_after(&s, MISHAP_KEEPER_END, since, 200);
    assert_int_equal(end.worker, 1);
    assert_true(end.stack);
    assert_int_equal(state_of(&w, 1), MISHAP_SLOT_KILLED);
    assert_false(second.done); /* its stack is awaited */
    die(&s, &w);
    expect_words(&second, MISHAP_CODE_TIMEOUT, "not finished in time");
    fake_worker_release(&w);
    close_set(&s);
    let_go(&first);
    let_go(&second);
}

/* A worker that says that its handler began long ago, or will begin, is believed within reason. */
static void the_beginning_that_a_worker_tells_is_clamped(void **state)
{
    static const int64_t told[] = { INT64_MAX, 0, INT64_MIN };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        open_set(&s, 1, 100, &patient);
        assert_true(add_limited(&s, &o, "many"));
        int64_t since = mishap_clock_monotonic_ns();
        start(&s, &w);
        begin_next(&w, 0);
        atomic_store(&w.page->begun_ns, told[i]);
        hear_after(&s, MISHAP_KEEPER_END, since, 200);
        assert_int_equal(state_of(&w, 0), MISHAP_SLOT_KILLED);
        die(&s, &w);
        end_one(&s, &o, &w);
    }
}

static void a_call_waits_so_long_and_no_longer(void **state)
{
    struct set s;
    struct ours waits, runs, handed_over;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &runs, "lone"));
    runs.run.call->limit_ms = 0;
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    turn(&s);
    s.runner->times.wait_ms = 300; /* not before it has begun, however long that takes */
    int64_t since = mishap_clock_monotonic_ns();
    assert_true(add(&s, &handed_over, "lone"));
    assert_true(add(&s, &waits, "many")); /* no worker is given to it */
    turn_until(&s, &waits);
    turn_until(&s, &handed_over);
    assert_true(waits.done_ns - since >= INT64_C(300000000));
    assert_true(handed_over.done_ns - since >= INT64_C(300000000));
    expect_words(&waits, MISHAP_CODE_UNAVAILABLE, "busy with other requests");
    expect_words(&handed_over, MISHAP_CODE_UNAVAILABLE, "busy with other requests");
    assert_false(waits.run.died || handed_over.run.died);
    assert_int_equal(state_of(&w, 1), MISHAP_SLOT_TAKEN);
    assert_false(runs.done); /* it does not wait */
    fake_worker_answers(&w, 0, number);
    turn(&s);
    assert_true(runs.done && !runs.failure);
    assert_int_equal(mishap_runner_count(s.runner, true), 0);
    fake_worker_release(&w);
    close_set(&s);
    let_go(&waits);
    let_go(&handed_over);
    let_go(&runs);
}

static void a_call_that_gets_no_process_is_told_what_the_system_lacks(void **state)
{
    static const struct {
        int error;
        const char *words;
    } rows[] = { { EAGAIN, "ulimit -u" },
                 { EMFILE, "ulimit -n" },
                 { ENOMEM, "more memory" },
                 { EUSERS, "as many processes as it can keep" } };
    mishap_runner_times times = patient;
    (void)state;
    times.wait_ms = 1000;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct set s;
        struct ours o;
        open_set(&s, 1, 100, &times);
        assert_true(add(&s, &o, "many"));
        mishap_keeper_message asked = hear(&s, MISHAP_KEEPER_START, 60000);
        mishap_keeper_message answer = { .word = MISHAP_KEEPER_REFUSED,
                                         .number = asked.number,
                                         .group = asked.group,
                                         .status = rows[i].error };
        assert_true(mishap_keeper_send(s.keeper, &answer, NULL, 0));
        turn_until(&s, &o);
        expect_words(&o, MISHAP_CODE_UNAVAILABLE, rows[i].words);
        assert_int_equal(mishap_told(o.failure)->retry_after_ms, 1000);
        let_go(&o);
        close_set(&s);
    }
}

/* A call is given to a worker that was silent for longer than it may be. That does not count: it
 * has the time from now on, which is long, for this process may be held up. */
static void give_in_peace(struct set *s, struct ours *o, int ms)
{
    int64_t since = mishap_clock_monotonic_ns();
    s->runner->times.begin_ms = patient.begin_ms;
    assert_true(add(s, o, "long"));
    turn_for(s, ms);
    hear_nothing(s);
    assert_non_null(o->run.link);
    assert_true(!o->run.link->silent_since_ns || o->run.link->silent_since_ns >= since);
}

static void a_worker_begins_what_it_is_given_or_is_ended(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_runner_times times = patient;
    (void)state;
    times.begin_ms = 1000;
    open_set(&s, 1, 100, &times);
    int64_t since = mishap_clock_monotonic_ns();
    assert_true(add(&s, &o, "long"));
    start(&s, &w);
    hear_after(&s, MISHAP_KEEPER_END, since, 1000);
    fake_worker_release(&w);
    close_set(&s);
    let_go(&o);

    /* One that runs a call does not begin another, and one that has none begins none. */
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "long"));
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    turn_for(&s, 1300);
    hear_nothing(&s);
    fake_worker_answers(&w, 0, number);
    turn_for(&s, 1300);
    assert_true(o.done);
    hear_nothing(&s);
    let_go(&o);
    give_in_peace(&s, &o, 20); /* its silence counts from here */
    run_next(&w, 0);
    turn(&s);
    assert_true(o.done && !o.failure);
    end_one(&s, &o, &w);

    /* What was taken back from it long ago says nothing of it now. */
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "long"));
    start(&s, &w);
    mishap_runner_forget(s.runner, &o.run);
    turn_for(&s, 1300);
    give_in_peace(&s, &o, 80);
    run_next(&w, 0);
    turn(&s);
    assert_true(o.done && !o.failure);
    end_one(&s, &o, &w);

    /* One that is alone may be busy with the call of another loop. */
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "lone"));
    start(&s, &w);
    turn_for(&s, 1300);
    hear_nothing(&s);
    run_next(&w, 0);
    turn(&s);
    assert_true(o.done && !o.failure);
    end_one(&s, &o, &w);
}

/* Its handler has returned for longer ago than an answer may take, as the clock of the runner has
 * it: this test lets little time pass, and may be held up. */
static void a_large_answer_may_take_its_time_as_long_as_it_comes(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_runner_times times = patient;
    mishap_buffer out = { 0 };
    mishap_call call = { .answer_kind = MISHAP_ANSWER_JSON };
    (void)state;
    times.answer_ms = 30000;
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "long"));
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    MISHAP_PUT(&call.answer, "{\"large\":true}");
    mishap_frame_put_outcome(&out, 0, &call, NULL);
    mishap_slot_change(w.page, 0, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE);
    for (size_t sent = 0; sent < out.length; sent += 10) {
        size_t left = out.length - sent;
        fake_worker_sends(&w, out.data + sent, left < 10 ? left : 10);
        turn_for(&s, 100);
        hear_nothing(&s);
        if (sent == 0)
            o.run.link->slots[0].done_ns = mishap_clock_monotonic_ns() - 60000 * MISHAP_MS;
    }
    turn_until(&s, &o);
    assert_null(o.failure);
    let_go(&o);
    mishap_buffer_release(&out);
    mishap_buffer_release(&call.answer);
    fake_worker_release(&w);
    close_set(&s);
}

static void an_answer_is_due_when_its_handler_has_returned(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_runner_times times = patient;
    (void)state;
    times.answer_ms = 200;
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "long")); /* it has no limit of its own */
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    turn_for(&s, 300);
    hear_nothing(&s);
    int64_t since = mishap_clock_monotonic_ns();
    mishap_slot_change(w.page, 0, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE);
    hear_after(&s, MISHAP_KEEPER_END, since, 200);
    die(&s, &w);
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "no answer, though it was done");
    end_one(&s, &o, &w);
}

/* -- time -------------------------------------------------------------------------------------- */

/* Byte by byte, so that it is never silent. */
static void an_answer_does_not_take_for_ever(void **state)
{
    mishap_runner_times times = patient;
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_buffer out = { 0 };
    mishap_keeper_message message = { 0 };
    (void)state;
    times.answer_ms = 100;
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "long"));
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    mishap_slot_change(w.page, 0, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE);
    mishap_pack_u32(&out, 1 << 20); /* the length of a frame whose end does not come */
    mishap_pack_u32(&out, MISHAP_FRAME_DONE);
    fake_worker_sends(&w, out.data, out.length);
    int64_t since = mishap_clock_monotonic_ns(), until = since + INT64_C(60000000000);
    while (!fake_keeper_hears(s.keeper, &message) && mishap_clock_monotonic_ns() < until) {
        fake_worker_sends(&w, "x", 1);
        turn_for(&s, 5);
    }
    assert_int_equal(message.word, MISHAP_KEEPER_END);
    mishap_buffer_release(&out);
    mishap_runner_forget(s.runner, &o.run);
    fake_worker_release(&w);
    close_set(&s);
}

static struct set *holding;

static bool hold_at_piece(const mishap_watcher *watcher, mishap_text piece)
{
    struct ours *o = *(struct ours *const *)(const void *)(watcher + 1);
    (void)piece;
    mishap_runner_hold(holding->runner, &o->run, true);
    return true;
}

static void send_piece_and_answer(const struct fake_worker *w, uint32_t number, bool answers)
{
    mishap_buffer out = { 0 };
    mishap_call call = { .answer_kind = MISHAP_ANSWER_STREAM, .answer_type = "text/plain" };
    size_t begun = mishap_frame_begin(&out, MISHAP_FRAME_PIECE, 0);
    MISHAP_PUT(&out, "a piece");
    mishap_frame_end(&out, begun);
    if (answers) {
        mishap_frame_put_outcome(&out, 0, &call, NULL);
        mishap_slot_change(w->page, 0, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE);
    }
    fake_worker_sends(w, out.data, out.length);
    mishap_buffer_release(&out);
}

/* A stream whose reader takes nothing: its handler waits, and that is not its own time. */
static void time_in_which_a_stream_is_held_is_not_counted(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    open_set(&s, 2, 100, &patient);
    assert_true(add_limited(&s, &o, "many"));
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    mishap_runner_hold(s.runner, &o.run, true);
    turn_for(&s, 500); /* it has 200 */
    hear_nothing(&s);
    fake_worker_answers(&w, 0, number);
    turn_for(&s, 20);
    assert_false(o.done); /* nothing is read */
    mishap_runner_hold(s.runner, &o.run, false);
    turn_until(&s, &o);
    assert_null(o.failure);
    end_one(&s, &o, &w);
}

static void a_worker_is_not_held_any_more_when_its_call_is_over(void **state)
{
    struct set s;
    struct ours o, next;
    struct fake_worker w;
    struct {
        mishap_watcher watcher;
        struct ours *whose;
    } watching = { { .piece = hold_at_piece }, &o };
    (void)state;
    open_set(&s, 2, 100, &patient);
    holding = &s;
    assert_true(add(&s, &o, "long"));
    o.run.call->watcher = &watching.watcher;
    start(&s, &w);
    send_piece_and_answer(&w, begin_next(&w, 0), true);
    turn_until(&s, &o);
    assert_null(o.failure);
    o.run.call->watcher = NULL;
    let_go(&o);
    assert_true(add(&s, &next, "long"));
    turn(&s);
    run_next(&w, 0);
    turn_until(&s, &next);
    assert_null(next.failure);
    let_go(&next);
    fake_worker_release(&w);
    close_set(&s);
}

/* -- the end of the connection ----------------------------------------------------------------- */

/* It is not known how far a call came that changes something. */
static void only_a_call_that_changes_nothing_is_worth_repeating_after_a_timeout(void **state)
{
    static const char *const names[] = { "many", "change" };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        open_set(&s, 1, 100, &patient);
        assert_true(add_limited(&s, &o, names[i]));
        start(&s, &w);
        begin_next(&w, 0);
        hear(&s, MISHAP_KEEPER_END, 60000);
        die(&s, &w);
        expect_words(&o, MISHAP_CODE_TIMEOUT, "not finished in time");
        assert_int_equal(mishap_told(o.failure)->retryable, i == 0);
        end_one(&s, &o, &w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_behind_a_slow_one_is_taken_back_and_one_that_runs_is_not),
        TEST(the_call_that_a_worker_begins_next_stays_with_it),
        TEST(the_time_of_a_handler_runs_from_its_beginning),
        TEST(the_beginning_that_a_worker_tells_is_clamped),
        TEST(a_call_waits_so_long_and_no_longer),
        TEST(a_call_that_gets_no_process_is_told_what_the_system_lacks),
        TEST(a_worker_begins_what_it_is_given_or_is_ended),
        TEST(a_large_answer_may_take_its_time_as_long_as_it_comes),
        TEST(an_answer_is_due_when_its_handler_has_returned),
        TEST(an_answer_does_not_take_for_ever),
        TEST(time_in_which_a_stream_is_held_is_not_counted),
        TEST(a_worker_is_not_held_any_more_when_its_call_is_over),
        TEST(only_a_call_that_changes_nothing_is_worth_repeating_after_a_timeout),
    };
    return RUN(tests);
}
