/*
 * A runner whose keeper and workers are the test itself: calls that are settled in batches. Which
 * are run again, and which are perhaps settled.
 */
#include "testing.h"

#include "worker/loop/inside.h"
#include "runner_set_up.h"

/* -- calls that are settled -------------------------------------------------------------------- */

static void begin_settled(struct set *s, struct ours *o, struct fake_worker *w)
{
    open_set(s, 1, 100, &patient);
    assert_true(add(s, o, "settled"));
    start_settled(s, w);
}

/* Take the next call, and let its handler begin, or return. */
static mishap_frame_call take_settled(struct fake_worker *w, unsigned expected,
                                      mishap_slot_state state, char id[MISHAP_ID_LENGTH + 1])
{
    unsigned slot = 0;
    mishap_frame_call asked;
    assert_true(fake_worker_takes(w, &slot, &asked));
    assert_int_equal(slot, expected);
    assert_int_equal(asked.id.length, MISHAP_ID_LENGTH);
    memcpy(id, asked.id.data, MISHAP_ID_LENGTH);
    id[MISHAP_ID_LENGTH] = '\0';
    assert_true(fake_worker_begins(w, slot, asked.number));
    if (state != MISHAP_SLOT_BEGUN)
        assert_true(mishap_slot_change(w->page, slot, asked.number, MISHAP_SLOT_BEGUN, state));
    return asked;
}

static void calls_that_had_run_are_run_again_with_the_same_id(void **state)
{
    struct set s;
    struct ours o[3];
    struct fake_worker w[2];
    char id[3][MISHAP_ID_LENGTH + 1], again[MISHAP_ID_LENGTH + 1];
    (void)state;
    open_set(&s, 1, 100, &patient);
    for (size_t i = 0; i < 3; i++)
        assert_true(add(&s, &o[i], "settled"));
    start_settled(&s, &w[0]);
    for (unsigned i = 0; i < 3; i++) /* the last one was settled, and its answer was under way */
        assert_false(
            take_settled(&w[0], i, i < 2 ? MISHAP_SLOT_RAN : MISHAP_SLOT_DONE, id[i]).repeated);
    assert_string_not_equal(id[0], id[1]);
    die_of(&s, &w[0], SIGSEGV);
    start_settled(&s, &w[1]);
    for (unsigned i = 0; i < 3; i++) {
        mishap_frame_call asked = take_settled(&w[1], i, MISHAP_SLOT_BEGUN, again);
        assert_true(asked.repeated);
        assert_int_equal(strcmp(again, id[0]) == 0 || strcmp(again, id[1]) == 0 ||
                             strcmp(again, id[2]) == 0,
                         true);
        fake_worker_answers(&w[1], i, asked.number);
    }
    turn(&s);
    for (size_t i = 0; i < 3; i++) {
        assert_true(o[i].done && !o[i].failure);
        let_go(&o[i]);
    }
    fake_worker_release(&w[0]);
    fake_worker_release(&w[1]);
    close_set(&s);
}

/* It may be settled or not: no caller asks. */
static void a_forgotten_call_that_had_run_is_not_run_again(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    char id[MISHAP_ID_LENGTH + 1];
    (void)state;
    begin_settled(&s, &o, &w);
    take_settled(&w, 0, MISHAP_SLOT_RAN, id);
    mishap_runner_forget(s.runner, &o.run);
    die_of(&s, &w, SIGKILL);
    assert_int_equal(mishap_runner_count(s.runner, true), 0);
    assert_int_equal(orphans, 0);
    turn_for(&s, 20);
    hear_nothing(&s);
    fake_worker_release(&w);
    close_set(&s);
}

/* Who was killed from outside is run again more often than who may be to blame. */
static void a_call_is_run_again_only_so_often(void **state)
{
    static const struct {
        mishap_slot_state state;
        int signal;
        mishap_last_words words;
        int repeats;
        const char *settled;
    } rows[] = {
        { MISHAP_SLOT_RAN, SIGKILL, MISHAP_WORDS_NONE, 3, "settled = \"perhaps\"" },
        { MISHAP_SLOT_RAN, SIGSEGV, MISHAP_WORDS_NONE, 1, "settled = \"perhaps\"" },
        { MISHAP_SLOT_RAN, SIGKILL, MISHAP_WORDS_CRASH, 1, "settled = \"perhaps\"" },
        { MISHAP_SLOT_BEGUN, SIGKILL, MISHAP_WORDS_NONE, 3, "settled = \"no\"" },
        { MISHAP_SLOT_BEGUN, SIGSEGV, MISHAP_WORDS_NONE, 0, "settled = \"no\"" },
        { MISHAP_SLOT_BEGUN, SIGKILL, MISHAP_WORDS_EXIT, 0, "settled = \"no\"" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        char id[MISHAP_ID_LENGTH + 1];
        open_set(&s, 1, 100, &patient);
        assert_true(add(&s, &o, "settled"));
        for (int repeat = 0; repeat <= rows[i].repeats; repeat++) {
            assert_false(o.done);
            start_settled(&s, &w);
            assert_int_equal(take_settled(&w, 0, rows[i].state, id).repeated, repeat > 0);
            atomic_store(&w.page->last_words, rows[i].words);
            die_of(&s, &w, rows[i].signal);
            fake_worker_release(&w);
        }
        expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, rows[i].settled);
        let_go(&o);
        close_set(&s);
    }
}

/* What it took counts for its caller, though it was not the call's fault. */
static void the_time_of_a_call_that_is_run_again_counts(void **state)
{
    const int64_t second = INT64_C(1000000000);
    struct set s;
    struct ours o;
    struct fake_worker w;
    char id[MISHAP_ID_LENGTH + 1];
    (void)state;
    begin_settled(&s, &o, &w);
    take_settled(&w, 0, MISHAP_SLOT_BEGUN, id);
    assert_int_equal(*o.run.took_us, 0);
    s.runner->links->slots[0].handed_ns -= 60 * second;
    die_of(&s, &w, SIGKILL);
    fake_worker_release(&w);
    assert_false(o.done);
    assert_true(*o.run.took_us >= 15 * second / 1000); /* a fourth of it */
    start_settled(&s, &w);
    fake_worker_answers(&w, 0, take_settled(&w, 0, MISHAP_SLOT_BEGUN, id).number);
    turn(&s);
    assert_true(o.done && !o.failure);
    end_one(&s, &o, &w);
}

static void a_settlement_has_its_time(void **state)
{
    mishap_runner_times times = patient;
    struct set s;
    struct ours o;
    struct fake_worker w;
    char id[MISHAP_ID_LENGTH + 1];
    (void)state;
    times.settle_ms = 3000; /* a batch has twice that to be settled: it is not over, however busy */
    open_set(&s, 1, 100, &times);
    assert_true(add_limited(&s, &o, "settled"));
    start_settled(&s, &w);
    take_settled(&w, 0, MISHAP_SLOT_RAN, id);
    turn_for(&s, 3300); /* longer than its handler may take, and than a settlement */
    hear_nothing(&s);
    int64_t since = mishap_clock_monotonic_ns();
    atomic_store(&w.page->settling_ns, since);
    hear_after(&s, MISHAP_KEEPER_END, since, 3000);
    die_of(&s, &w, SIGKILL);
    assert_false(o.done);
    fake_worker_release(&w);
    mishap_runner_forget(s.runner, &o.run);
    close_set(&s);
}

/* The page is the worker's, which may write anything there. */
static void a_settlement_is_no_older_than_its_call_whatever_the_worker_says(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    char id[MISHAP_ID_LENGTH + 1];
    (void)state;
    begin_settled(&s, &o, &w);
    uint32_t number = take_settled(&w, 0, MISHAP_SLOT_RAN, id).number;
    atomic_store(&w.page->settling_ns, INT64_MIN / 2);
    turn_for(&s, 300); /* several looks at the clock */
    hear_nothing(&s);
    assert_true(mishap_slot_change(w.page, 0, number, MISHAP_SLOT_RAN, MISHAP_SLOT_DONE));
    fake_worker_answers(&w, 0, number);
    turn_until(&s, &o);
    assert_null(o.failure);
    end_one(&s, &o, &w);
}

static void a_batch_that_is_never_settled_has_its_time_too(void **state)
{
    mishap_runner_times times = patient;
    struct set s;
    struct ours o;
    struct fake_worker w;
    char id[MISHAP_ID_LENGTH + 1];
    (void)state;
    times.settle_ms = 100;
    open_set(&s, 1, 100, &times);
    assert_true(add_limited(&s, &o, "settled"));
    start_settled(&s, &w);
    int64_t since = mishap_clock_monotonic_ns();
    take_settled(&w, 0, MISHAP_SLOT_RAN, id);
    hear_after(&s, MISHAP_KEEPER_END, since, 2 * 200 + 2 * 100);
    mishap_runner_forget(s.runner, &o.run);
    fake_worker_release(&w);
    close_set(&s);
}

/* It was stopped, or its stack was read: the keeper ended it, so its call may be to blame. */
static void a_call_of_a_worker_that_was_ended_for_it_is_not_run_again(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        char id[MISHAP_ID_LENGTH + 1];
        begin_settled(&s, &o, &w);
        take_settled(&w, 0, MISHAP_SLOT_BEGUN, id);
        fake_worker_close(&w);
        mishap_keeper_message ended = { .word = MISHAP_KEEPER_ENDED,
                                        .worker = w.number,
                                        .status = SIGKILL,
                                        .stopped = i == 0,
                                        .stack = i == 1 };
        assert_true(mishap_keeper_send(s.keeper, &ended, NULL, 0));
        turn_until(&s, &o);
        expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "settled = \"no\"");
        end_one(&s, &o, &w);
    }
}

static void a_call_that_is_run_again_begins_to_wait_anew(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    char id[MISHAP_ID_LENGTH + 1];
    (void)state;
    begin_settled(&s, &o, &w);
    take_settled(&w, 0, MISHAP_SLOT_RAN, id);
    turn_for(&s, 5);
    int64_t before = mishap_clock_monotonic_ns();
    die_of(&s, &w, SIGKILL);
    assert_false(o.done);
    assert_true(o.run.since_ns >= before);
    mishap_runner_forget(s.runner, &o.run);
    fake_worker_release(&w);
    close_set(&s);
}

/* -- turns ------------------------------------------------------------------------------------- */

static void only_calls_that_are_settled_wait_for_it(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    begin_one(&s, &o, &w, "long");
    uint32_t number = begin_next(&w, 0);
    assert_true(mishap_slot_change(w.page, 0, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_RAN));
    hear(&s, MISHAP_KEEPER_END, 60000);
    die(&s, &w);
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "a state that none of its calls has");
    end_one(&s, &o, &w);
}

/* A caller that was told UNAVAILABLE would try again, and perhaps pay twice. */
static void a_call_that_was_perhaps_settled_is_never_told_to_try_again(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w[2];
    char id[MISHAP_ID_LENGTH + 1];
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "settled"));
    start_settled(&s, &w[0]);
    take_settled(&w[0], 0, MISHAP_SLOT_RAN, id);
    die_of(&s, &w[0], SIGKILL);
    start(&s, &w[1]);
    take_open(&w[1]);
    say_opened(&s, &w[1], mishap_raise(UNAVAILABLE, "The disk is gone."));
    turn_until(&s, &o);
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "not known whether it was settled");
    assert_false(mishap_told(o.failure)->retryable);
    let_go(&o);
    fake_worker_release(&w[0]);
    fake_worker_release(&w[1]);
    close_set(&s);
}

static void a_stream_that_has_begun_to_leave_is_not_begun_again(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    char id[MISHAP_ID_LENGTH + 1];
    mishap_buffer out = { 0 };
    (void)state;
    begin_settled(&s, &o, &w);
    take_settled(&w, 0, MISHAP_SLOT_DONE, id);
    mishap_frame_end(&out, mishap_frame_begin(&out, MISHAP_FRAME_BEGIN, 0));
    fake_worker_sends(&w, out.data, out.length);
    mishap_buffer_release(&out);
    die_of(&s, &w, SIGKILL);
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "settled = \"perhaps\"");
    end_one(&s, &o, &w);
}

static void a_call_that_was_rolled_back_at_its_timeout_is_worth_repeating(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    char id[MISHAP_ID_LENGTH + 1];
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add_limited(&s, &o, "settled"));
    start_settled(&s, &w);
    take_settled(&w, 0, MISHAP_SLOT_BEGUN, id);
    hear(&s, MISHAP_KEEPER_END, 60000);
    die_of(&s, &w, SIGKILL);
    expect_words(&o, MISHAP_CODE_TIMEOUT, "settled = \"no\"");
    assert_true(mishap_told(o.failure)->retryable);
    end_one(&s, &o, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_that_had_run_are_run_again_with_the_same_id),
        TEST(a_forgotten_call_that_had_run_is_not_run_again),
        TEST(a_call_is_run_again_only_so_often),
        TEST(the_time_of_a_call_that_is_run_again_counts),
        TEST(a_settlement_has_its_time),
        TEST(a_settlement_is_no_older_than_its_call_whatever_the_worker_says),
        TEST(a_batch_that_is_never_settled_has_its_time_too),
        TEST(a_call_of_a_worker_that_was_ended_for_it_is_not_run_again),
        TEST(a_call_that_is_run_again_begins_to_wait_anew),
        TEST(only_calls_that_are_settled_wait_for_it),
        TEST(a_call_that_was_perhaps_settled_is_never_told_to_try_again),
        TEST(a_stream_that_has_begun_to_leave_is_not_begun_again),
        TEST(a_call_that_was_rolled_back_at_its_timeout_is_worth_repeating),
    };
    return RUN(tests);
}
