/*
 * A runner whose keeper and workers are the test itself: workers that end, at the worst moment.
 * Which calls are moved, and what is told.
 */
#include "testing.h"

#include "mishap/inside.h"
#include "worker/loop/inside.h"
#include "runner_set_up.h"

/* -- workers that end -------------------------------------------------------------------------- */

static void a_call_that_has_not_begun_is_moved_once(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w[2];
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "long"));
    start(&s, &w[0]);
    die(&s, &w[0]);
    assert_false(o.done);
    start(&s, &w[1]);
    assert_int_equal(handed(&w[1]), 1);
    die(&s, &w[1]);
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "Two processes in a row died before long began");
    assert_true(o.run.died);
    let_go(&o);
    fake_worker_release(&w[0]);
    fake_worker_release(&w[1]);
    close_set(&s);
}

/* Behind a call that began, it is not to blame; before one, it may be. */
static void only_deaths_before_any_call_began_count_against_a_call(void **state)
{
    struct set s;
    struct ours bad[2], o;
    struct fake_worker w[4];
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &bad[0], "lone"));
    assert_true(add(&s, &o, "lone"));
    start(&s, &w[0]);
    begin_next(&w[0], 0);
    die(&s, &w[0]); /* the first is to blame */
    assert_true(bad[0].done);
    start(&s, &w[1]);
    die(&s, &w[1]); /* not known */
    assert_false(o.done);
    assert_true(add(&s, &bad[1], "lone"));
    start(&s, &w[2]);
    assert_int_equal(o.run.slot, 0);
    uint32_t number = bad[1].run.link->slots[1].number;
    assert_true(fake_worker_begins(&w[2], 1, number));
    die(&s, &w[2]); /* the other is to blame again */
    assert_true(bad[1].done);
    assert_false(o.done);
    start(&s, &w[3]);
    die(&s, &w[3]);
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "Two processes in a row");
    let_go(&o);
    for (size_t i = 0; i < 4; i++)
        fake_worker_release(&w[i]);
    close_set(&s);
    let_go(&bad[0]);
    let_go(&bad[1]);
}

/* A call that was seen to run is not run again, even if the page says otherwise afterwards. */
static void a_call_that_has_begun_is_never_moved(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    begin_one(&s, &o, &w, "long");
    uint32_t number = begin_next(&w, 0);
    turn_for(&s, 120);
    atomic_store(&w.page->slots[0], mishap_slot_word(number, MISHAP_SLOT_HANDED));
    die(&s, &w);
    assert_true(o.done);
    assert_non_null(o.failure);
    end_one(&s, &o, &w);
}

/* The one that began is to blame; the others are moved as often as that happens, in their order. */
static void calls_behind_one_that_died_are_moved_as_often_as_needed(void **state)
{
    struct set s;
    struct ours many[6];
    struct fake_worker w[6];
    (void)state;
    open_set(&s, 1, 100, &patient);
    for (size_t i = 0; i < 6; i++)
        assert_true(add(&s, &many[i], "lone"));
    for (size_t i = 0; i < 5; i++) {
        start(&s, &w[i]);
        begin_next(&w[i], 0);
        die(&s, &w[i]);
        expect_words(&many[i], MISHAP_CODE_INTERNAL_ERROR, "killed with SIGSEGV");
        assert_true(many[i].run.died);
        assert_false(many[i + 1].done);
    }
    start(&s, &w[5]);
    run_next(&w[5], 0);
    turn(&s);
    assert_true(many[5].done && !many[5].failure);
    for (size_t i = 0; i < 6; i++) {
        let_go(&many[i]);
        fake_worker_release(&w[i]);
    }
    close_set(&s);
}

/* -- workers that end, and calls that they had not begun --------------------------------------- */

static void answer_last(const struct fake_worker *w, unsigned slot, uint32_t number, bool lost)
{
    mishap_buffer out = { 0 };
    mishap_call call = { .ended = !lost, .lost = lost };
    mishap *failure = mishap_raise(INTERNAL_ERROR, "It was the last.");
    mishap_frame_put_outcome(&out, slot, &call, failure);
    mishap_slot_change(w->page, slot, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE);
    fake_worker_sends(w, out.data, out.length);
    mishap_buffer_release(&out);
    mishap_free(failure);
}

/* Whether its process ends soon, or ever, is no matter for them. */
static void calls_behind_the_last_one_of_a_worker_do_not_wait_for_its_end(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct set s;
        struct ours o[2];
        struct fake_worker w[2];
        bool lost = i == 1;
        open_set(&s, 2, 100, &patient);
        for (size_t j = 0; j < 2; j++)
            assert_true(add(&s, &o[j], lost ? "settled" : "lone")); /* which stay behind others */
        if (lost)
            start_settled(&s, &w[0]);
        else
            start(&s, &w[0]);
        uint32_t number = begin_next(&w[0], 0);
        assert_int_equal(handed(&w[0]), 1);
        answer_last(&w[0], 0, number, lost);
        turn_until(&s, &o[0]);
        assert_int_equal(handed(&w[0]), 0);
        assert_int_equal(state_of(&w[0], 1), MISHAP_SLOT_TAKEN);
        assert_false(o[1].done);
        mishap_runner_forget(s.runner, &o[1].run);
        let_go(&o[0]);
        fake_worker_release(&w[0]);
        close_set(&s);
    }
}

/* A worker that others use already could be started: what it dies of is a call of theirs. */
static void a_call_is_moved_as_often_as_workers_of_others_die(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "lone"));
    for (int i = 0; i < 5; i++) {
        mishap_keeper_message asked = hear(&s, MISHAP_KEEPER_START, 60000);
        fake_worker_start_as(s.keeper, &asked, &w, ++s.workers, true);
        turn(&s);
        assert_int_equal(handed(&w), 1);
        die_of(&s, &w, SIGSEGV);
        assert_false(o.done);
        fake_worker_release(&w);
    }
    mishap_runner_forget(s.runner, &o.run);
    close_set(&s);
}

/* -- the end of the connection ----------------------------------------------------------------- */

static void the_keepers_word_may_come_before_or_after_the_end_of_the_connection(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        struct set s;
        struct ours answered, begun;
        struct fake_worker w;
        open_set(&s, 1, 100, &patient);
        assert_true(add(&s, &answered, "lone"));
        assert_true(add(&s, &begun, "lone"));
        start(&s, &w);
        run_next(&w, 0); /* the loop has not read it yet */
        begin_next(&w, 1);
        if (before) {
            fake_worker_ended(s.keeper, &w, 3 << 8);
            turn(&s);
        }
        fake_worker_close(&w);
        turn(&s);
        turn(&s);
        assert_true(answered.done && !answered.failure);
        if (!before) {
            assert_false(begun.done); /* how it ended is awaited */
            hear(&s, MISHAP_KEEPER_END, 60000);
            fake_worker_ended(s.keeper, &w, 3 << 8);
            turn(&s);
        }
        expect_words(&begun, MISHAP_CODE_INTERNAL_ERROR, "_exit(3)");
        let_go(&answered);
        let_go(&begun);
        fake_worker_release(&w);
        close_set(&s);
    }
}

/* No call keeps the clock running then. */
static void the_end_of_an_idle_worker_is_looked_after_soon(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_runner_times times = patient;
    (void)state;
    times.gone_ms = 20;
    times.lost_ms = 2000;
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "lone"));
    start(&s, &w);
    run_next(&w, 0);
    turn_until(&s, &o);
    s.runner->timer_ns = 0; /* no other reason to look at the clock */
    fake_worker_close(&w);
    for (int i = 0; i < 1000 && s.runner->links->socket >= 0; i++)
        turn(&s);
    const mishap_link *link = s.runner->links;
    assert_int_equal(s.runner->timer_ns, link->gone_since_ns + times.gone_ms * MISHAP_MS);
    hear(&s, MISHAP_KEEPER_END, 60000);
    assert_true(link->ending_since_ns && s.runner->timer_ns);
    assert_true(s.runner->timer_ns <= link->ending_since_ns + times.lost_ms * MISHAP_MS);
    fake_worker_ended(s.keeper, &w, 0);
    turn(&s);
    assert_null(s.runner->links);
    end_one(&s, &o, &w);
}

static void a_worker_that_is_ended_is_awaited_for_so_long(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_runner_times times = patient;
    (void)state;
    times.lost_ms = 2000;
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "lone"));
    start(&s, &w);
    run_next(&w, 0);
    turn_until(&s, &o);
    mishap_link *link = s.runner->links;
    s.runner->timer_ns = 0;
    mishap_runner_ask_to_end(s.runner, link, MISHAP_LINK_LIED, "a lie", false);
    assert_int_equal(s.runner->timer_ns, link->ending_since_ns + times.lost_ms * MISHAP_MS);
    end_one(&s, &o, &w);
}

static void a_keeper_that_says_nothing_of_a_worker_is_not_awaited_for_ever(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_runner_times times = patient;
    (void)state;
    times.lost_ms = 200;
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "lone"));
    start(&s, &w);
    begin_next(&w, 0);
    int64_t since = mishap_clock_monotonic_ns();
    fake_worker_close(&w);
    turn_until(&s, &o);
    assert_true(o.done_ns - since >= INT64_C(200000000));
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "was lost");
    end_one(&s, &o, &w);
}

/* It lives, and may wait for a processor. Once it is gone, the keeper has to report that soon. */
static void a_stack_is_awaited_for_longer(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_runner_times times = patient;
    (void)state;
    times.lost_ms = 200;
    times.stack_ms = 60000;
    open_set(&s, 1, 100, &times);
    assert_true(add_limited(&s, &o, "many"));
    start(&s, &w);
    begin_next(&w, 0);
    assert_true(hear(&s, MISHAP_KEEPER_END, 60000).stack);
    turn_for(&s, 500);
    assert_false(o.done);
    int64_t since = mishap_clock_monotonic_ns();
    fake_worker_close(&w);
    turn_until(&s, &o);
    assert_in_range(o.done_ns - since, INT64_C(200000000), INT64_C(59000000000));
    expect_words(&o, MISHAP_CODE_TIMEOUT, "not finished in time");
    end_one(&s, &o, &w);
}

/* The loop notices the death of a worker while it sends another call. */
static void an_answer_that_a_dead_worker_had_sent_counts(void **state)
{
    struct set s;
    struct ours answered, next;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &answered, "lone"));
    start(&s, &w);
    run_next(&w, 0);
    fake_worker_close(&w);
    assert_true(add(&s, &next, "lone"));
    mishap_runner_flush(s.runner);
    assert_true(answered.done);
    assert_null(answered.failure);
    fake_worker_ended(s.keeper, &w, 0);
    turn(&s);
    assert_false(next.done); /* it goes to another worker */
    assert_null(next.run.link);
    let_go(&answered);
    fake_worker_release(&w);
    close_set(&s);
    let_go(&next);
}

/* More workers have something to say than are heard in one turn, and the keeper comes first. */
static void an_answer_counts_that_is_not_read_yet_when_the_keeper_tells_of_the_end(void **state)
{
    enum { WORKERS = 66 };
    struct set s;
    static struct ours many[WORKERS];
    static struct fake_worker w[WORKERS];
    uint32_t numbers[WORKERS];
    (void)state;
    open_set(&s, WORKERS, WORKERS, &patient);
    for (size_t i = 0; i < WORKERS; i++) {
        assert_true(add(&s, &many[i], "long"));
        start(&s, &w[i]);
        turn_for(&s, 2); /* it may have been behind another */
        numbers[i] = begin_next(&w[i], 0);
        turn_for(&s, 4);
    }
    fake_worker_ended(s.keeper, &w[WORKERS - 1], 0);
    for (size_t i = 0; i < WORKERS; i++)
        fake_worker_answers(&w[i], 0, numbers[i]);
    fake_worker_close(&w[WORKERS - 1]);
    for (size_t i = 0; i < WORKERS; i++) {
        turn_until(&s, &many[i]);
        assert_null(many[i].failure);
        let_go(&many[i]);
        fake_worker_release(&w[i]);
    }
    close_set(&s);
}

static void expect_no_words(const struct ours *o, const char *words)
{
    mishap_buffer account = { 0 };
    mishap_account(o->failure, &account);
    mishap_buffer_put_char(&account, '\0');
    if (strstr(account.data, words))
        fail_msg("%s", account.data);
    mishap_buffer_release(&account);
}

static void what_is_told_of_a_dead_worker_has_its_stack_and_not_ours(void **state)
{
    static const char *const names[] = { "long", "lone" };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        open_set(&s, 1, 100, &patient);
        assert_true(add(&s, &o, names[i]));
        start(&s, &w);
        begin_next(&w, 0);
        die(&s, &w);
        expect_no_words(&o, "native stack");
        if (i)
            expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "what this process had in memory");
        else
            expect_no_words(&o, "what this process had in memory");
        end_one(&s, &o, &w);
    }
}

/* The failure that stands for every other one without memory is not this call's to write to. */
static void a_death_is_told_without_memory(void **state)
{
    enum { MOST = 100 };
    mishap *taken[MOST];
    size_t count = 0;
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    begin_one(&s, &o, &w, "long");
    begin_next(&w, 0);
    w.page->trace.count = 3;
    atomic_store(&w.page->last_words, MISHAP_WORDS_CRASH);
    mishap_use_allocator(&failing_allocator);
    fail_at = 1;
    do /* what is kept for this case is used up, too */
        taken[count] = mishap_raise(INTERNAL_ERROR, "No memory.");
    while (taken[count++] != mishap_out_of_memory() && count < MOST);
    die(&s, &w);
    fail_at = 0;
    mishap_use_allocator(NULL);
    assert_true(o.done);
    assert_ptr_equal(o.failure, mishap_out_of_memory());
    assert_int_equal(mishap_out_of_memory()->trace.count, 0);
    while (count)
        mishap_free(taken[--count]);
    end_one(&s, &o, &w);
}

/* A handler that damages memory damages its page, too. */
static void last_words_that_make_no_sense_do_no_harm(void **state)
{
    static const unsigned words[] = { MISHAP_WORDS_CRASH, MISHAP_WORDS_EXIT, MISHAP_WORDS_STACK,
                                      MISHAP_WORDS_STACK + 1, ~0U };
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        begin_one(&s, &o, &w, "long");
        begin_next(&w, 0);
        w.page->number = 123456;
        w.page->trace.count = MISHAP_TRACE_MAX + 100000;
        atomic_store(&w.page->last_words, words[i]);
        die(&s, &w);
        static const char *const told[] = { "crashed with SIG?", "called exit(123456)",
                                            "killed with SIGSEGV", "killed with SIGSEGV",
                                            "killed with SIGSEGV" };
        expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, told[i]);
        assert_true(o.failure->trace.count <= MISHAP_TRACE_MAX);
        end_one(&s, &o, &w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_that_has_not_begun_is_moved_once),
        TEST(only_deaths_before_any_call_began_count_against_a_call),
        TEST(a_call_that_has_begun_is_never_moved),
        TEST(calls_behind_one_that_died_are_moved_as_often_as_needed),
        TEST(calls_behind_the_last_one_of_a_worker_do_not_wait_for_its_end),
        TEST(a_call_is_moved_as_often_as_workers_of_others_die),
        TEST(the_keepers_word_may_come_before_or_after_the_end_of_the_connection),
        TEST(the_end_of_an_idle_worker_is_looked_after_soon),
        TEST(a_worker_that_is_ended_is_awaited_for_so_long),
        TEST(a_keeper_that_says_nothing_of_a_worker_is_not_awaited_for_ever),
        TEST(a_stack_is_awaited_for_longer),
        TEST(an_answer_that_a_dead_worker_had_sent_counts),
        TEST(an_answer_counts_that_is_not_read_yet_when_the_keeper_tells_of_the_end),
        TEST(what_is_told_of_a_dead_worker_has_its_stack_and_not_ours),
        TEST(a_death_is_told_without_memory),
        TEST(last_words_that_make_no_sense_do_no_harm),
    };
    return RUN(tests);
}
