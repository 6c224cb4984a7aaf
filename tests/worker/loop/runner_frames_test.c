/*
 * A runner whose keeper and workers are the test itself: what a worker sends that is none of its
 * frames, or comes in pieces.
 */
#include "testing.h"

#include "operation/changes.h"
#include "runner_set_up.h"

/* -- the end of the connection ----------------------------------------------------------------- */

static char heard[600];

static void on_change(void *state, mishap_text address)
{
    (void)state;
    snprintf(heard, sizeof heard, "%.*s", (int)address.length, address.data);
}

static void an_address_is_as_long_as_may_be_and_not_one_byte_more(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_buffer out = { 0 };
    (void)state;
    open_set(&s, 1, 100, &patient);
    mishap_changes_heard_by(on_change, NULL);
    assert_true(add(&s, &o, "long"));
    start(&s, &w);
    begin_next(&w, 0);
    for (size_t size = MISHAP_ADDRESS_LIMIT; size <= MISHAP_ADDRESS_LIMIT + 1; size++) {
        heard[0] = '\0';
        mishap_buffer_reset(&out);
        size_t begun = mishap_frame_begin(&out, MISHAP_FRAME_CHANGED, 0);
        for (size_t i = 0; i < size; i++)
            mishap_buffer_put_char(&out, 'a');
        mishap_frame_end(&out, begun);
        fake_worker_sends(&w, out.data, out.length);
        turn(&s);
        assert_int_equal(strlen(heard), size == MISHAP_ADDRESS_LIMIT ? size : 0);
        if (size == MISHAP_ADDRESS_LIMIT)
            hear_nothing(&s);
        else
            hear(&s, MISHAP_KEEPER_END, 60000);
    }
    mishap_changes_heard_by(NULL, NULL);
    mishap_buffer_release(&out);
    fake_worker_release(&w);
    close_set(&s);
    let_go(&o);
}

/* -- changes of which nothing is known --------------------------------------------------------- */

static int doubts; /* how often anything may have changed */

static void on_doubt(void *state, mishap_text address)
{
    (void)state;
    doubts += !address.data;
}

static void after_a_death_in_a_call_that_changes_something_anything_may_have_changed(void **state)
{
    static const struct {
        const char *operation;
        bool begun;
        int doubts;
    } rows[] = { { "change", true, 1 }, { "change", false, 0 }, { "long", true, 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        doubts = 0;
        open_set(&s, 1, 100, &patient);
        mishap_changes_heard_by(on_doubt, NULL);
        assert_true(add(&s, &o, rows[i].operation));
        start(&s, &w);
        if (rows[i].begun)
            begin_next(&w, 0);
        die(&s, &w);
        assert_int_equal(o.done, rows[i].begun);
        assert_int_equal(doubts, rows[i].doubts);
        mishap_changes_heard_by(NULL, NULL);
        mishap_runner_forget(s.runner, &o.run);
        let_go(&o);
        fake_worker_release(&w);
        close_set(&s);
    }
}

/* What it changed may be settled, and who runs it again finds that and changes nothing. */
static void before_a_call_that_had_run_is_run_again_anything_may_have_changed(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    unsigned slot;
    mishap_frame_call asked;
    (void)state;
    doubts = 0;
    open_set(&s, 1, 100, &patient);
    mishap_changes_heard_by(on_doubt, NULL);
    assert_true(add(&s, &o, "settled"));
    start_settled(&s, &w);
    assert_true(fake_worker_takes(&w, &slot, &asked));
    assert_true(fake_worker_begins(&w, slot, asked.number));
    assert_true(mishap_slot_change(w.page, slot, asked.number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_RAN));
    die_of(&s, &w, SIGKILL);
    assert_false(o.done);
    assert_int_equal(doubts, 1);
    mishap_changes_heard_by(NULL, NULL);
    mishap_runner_forget(s.runner, &o.run);
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
}

static void after_a_failure_of_unknown_outcome_anything_may_have_changed(void **state)
{
    static const struct {
        const char *operation, *outcome;
        int doubts;
    } rows[] = { { "change", "unknown", 1 }, { "change", "none", 0 }, { "long", "unknown", 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        mishap_buffer out = { 0 };
        mishap_call call = { .ended = false };
        doubts = 0;
        begin_one(&s, &o, &w, rows[i].operation);
        mishap_changes_heard_by(on_doubt, NULL);
        uint32_t number = begin_next(&w, 0);
        mishap *failure = mishap_tell(mishap_raise(TIMEOUT, "It is late."), "outcome",
                                      rows[i].outcome);
        mishap_frame_put_outcome(&out, 0, &call, failure);
        mishap_slot_change(w.page, 0, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE);
        fake_worker_sends(&w, out.data, out.length);
        turn_until(&s, &o);
        assert_int_equal(doubts, rows[i].doubts);
        mishap_changes_heard_by(NULL, NULL);
        mishap_buffer_release(&out);
        mishap_free(failure);
        end_one(&s, &o, &w);
    }
}

static void a_worker_may_say_that_anything_may_have_changed(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_buffer out = { 0 };
    (void)state;
    doubts = 0;
    begin_one(&s, &o, &w, "change");
    mishap_changes_heard_by(on_doubt, NULL);
    begin_next(&w, 0);
    mishap_frame_end(&out, mishap_frame_begin(&out, MISHAP_FRAME_CHANGED, 0));
    fake_worker_sends(&w, out.data, out.length);
    turn(&s);
    assert_int_equal(doubts, 1);
    mishap_changes_heard_by(NULL, NULL);
    mishap_buffer_release(&out);
    die(&s, &w);
    end_one(&s, &o, &w);
}

/* -- answers ----------------------------------------------------------------------------------- */

static void an_answer_may_come_byte_by_byte(void **state)
{
    struct set s;
    struct ours many[2];
    struct fake_worker w;
    mishap_buffer out = { 0 };
    mishap_call answer = { .answer_kind = MISHAP_ANSWER_JSON };
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &many[0], "lone"));
    assert_true(add(&s, &many[1], "lone"));
    start(&s, &w);
    MISHAP_PUT(&answer.answer, "{\"a\":1}");
    for (unsigned i = 0; i < 2; i++) {
        uint32_t number = begin_next(&w, i);
        mishap_slot_change(w.page, i, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE);
        mishap_frame_put_outcome(&out, i, &answer, NULL);
    }
    for (size_t i = 0; i < out.length; i++) {
        assert_int_equal(many[0].done, i >= out.length / 2);
        assert_false(many[1].done);
        fake_worker_sends(&w, out.data + i, 1);
        turn(&s);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_true(many[i].done && !many[i].failure);
        assert_int_equal(many[i].run.call->answer.length, 7);
        let_go(&many[i]);
    }
    mishap_buffer_release(&out);
    mishap_buffer_release(&answer.answer);
    fake_worker_release(&w);
    close_set(&s);
}

/* -- frames that are none ---------------------------------------------------------------------- */

static void a_frame_that_is_none_ends_its_worker(void **state)
{
    static char long_mark[MISHAP_MARK_LIMIT + 2];
    static const struct {
        mishap_frame_type type;
        const char *payload, *words;
    } rows[] = {
        { MISHAP_FRAME_MARK, "a\xFF", "a mark that is none" },
        { MISHAP_FRAME_MARK, long_mark, "a mark that is none" },
        { MISHAP_FRAME_PROGRESS, "half", "progress that is none" },
        { MISHAP_FRAME_LOG, "\x7Fwords", "a log message that is none" },
        { MISHAP_FRAME_DONE, "x", "that it has not begun, or that was ended" },
        { MISHAP_FRAME_OPENED, "x", "what it was not told to open" },
        { MISHAP_FRAME_CALL, "x", "a frame that only loops send" },
    };
    (void)state;
    memset(long_mark, 'x', sizeof long_mark - 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        mishap_buffer out = { 0 };
        begin_one(&s, &o, &w, "long");
        begin_next(&w, 0);
        size_t begun = mishap_frame_begin(&out, rows[i].type, 0);
        mishap_buffer_put_text(&out, mishap_text_of(rows[i].payload));
        mishap_frame_end(&out, begun);
        fake_worker_sends(&w, out.data, out.length);
        mishap_buffer_release(&out);
        hear(&s, MISHAP_KEEPER_END, 60000);
        assert_false(o.done); /* before it is known that it has ended */
        die(&s, &w);
        expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, rows[i].words);
        end_one(&s, &o, &w);
    }
}

/* … and one that says so in no way that is known has not opened its service. */
static void a_worker_that_opens_in_no_known_way_is_ended(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_buffer out = { 0 };
    (void)state;
    begin_one(&s, &o, &w, "kept");
    turn(&s);
    size_t begun = mishap_frame_begin(&out, MISHAP_FRAME_OPENED, 0);
    MISHAP_PUT(&out, "x");
    mishap_frame_end(&out, begun);
    fake_worker_sends(&w, out.data, out.length);
    mishap_buffer_release(&out);
    hear(&s, MISHAP_KEEPER_END, 60000);
    assert_int_equal(handed(&w), 0);
    fake_worker_release(&w);
    close_set(&s);
    let_go(&o);
}

/* With a worker come a socket and a page. */
static void a_worker_without_its_page_is_none(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "long"));
    mishap_keeper_message asked = hear(&s, MISHAP_KEEPER_START, 60000);
    int socket = fake_program_start(s.keeper, asked);
    start(&s, &w);                                              /* it is asked for again */
    assert_int_equal(recv(socket, &asked, 1, MSG_DONTWAIT), 0); /* no process has the other end */
    run_next(&w, 0);
    turn_until(&s, &o);
    assert_null(o.failure);
    close(socket);
    end_one(&s, &o, &w);
}

/* What its service has open is of no use, and it runs a call all the same. */
static void a_worker_that_has_lost_its_service_is_ended_with_what_it_runs(void **state)
{
    struct set s;
    struct ours o[2];
    struct fake_worker w;
    mishap_buffer out = { 0 };
    mishap *failure = mishap_raise(UNAVAILABLE, "Gone.");
    mishap_call lost = { .lost = true };
    (void)state;
    open_set(&s, 1, 100, &patient);
    for (size_t i = 0; i < 2; i++)
        assert_true(add(&s, &o[i], "settled"));
    start_settled(&s, &w);
    uint32_t number = begin_next(&w, 0);
    begin_next(&w, 1);
    mishap_frame_put_outcome(&out, 0, &lost, failure);
    assert_true(mishap_slot_change(w.page, 0, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE));
    fake_worker_sends(&w, out.data, out.length);
    mishap_buffer_release(&out);
    mishap_free(failure);
    hear(&s, MISHAP_KEEPER_END, 60000);
    assert_true(o[0].done && !o[1].done);
    fake_worker_release(&w);
    close_set(&s);
    let_go(&o[0]);
    let_go(&o[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(after_a_death_in_a_call_that_changes_something_anything_may_have_changed),
        TEST(before_a_call_that_had_run_is_run_again_anything_may_have_changed),
        TEST(after_a_failure_of_unknown_outcome_anything_may_have_changed),
        TEST(a_worker_may_say_that_anything_may_have_changed),
        TEST(an_address_is_as_long_as_may_be_and_not_one_byte_more),
        TEST(an_answer_may_come_byte_by_byte),
        TEST(a_frame_that_is_none_ends_its_worker),
        TEST(a_worker_that_opens_in_no_known_way_is_ended),
        TEST(a_worker_without_its_page_is_none),
        TEST(a_worker_that_has_lost_its_service_is_ended_with_what_it_runs),
    };
    return RUN(tests);
}
