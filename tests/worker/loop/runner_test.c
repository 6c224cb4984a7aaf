/*
 * A runner whose keeper and workers are the test itself: who gets a call, how many, for how long,
 * and what becomes of it, with each message at the worst moment.
 */
#include "testing.h"

#include <errno.h>
#include <signal.h>

#include "fake_keeper.h"
#include "mishap/inside.h"
#include "operation/changes.h"
#include "worker/loop/inside.h"

mishap *do_run(mishap_call *call);

static int ran;

mishap *do_run(mishap_call *call)
{
    ran++;
    return mishap_answer_member(call, "ran", ran);
}

static const mishap_service store = { "store", .summary = "Something to open" };
static mishap *settle_nothing(void *state)
{
    (void)state;
    return NULL;
}

static const mishap_settlement settlement = { .settle = settle_nothing };
static const mishap_service settled = { "settled", .settlement = &settlement };
static const mishap_service eager = { "eager", .warm = true };
static const mishap_operation operations[] = {
    { "many", "In several processes", NULL, do_run, .stateless = true, .timeout_ms = 200 },
    { "long", "For ever", NULL, do_run, .stateless = true },
    { "change", "Changes something", NULL, do_run, .stateless = true, .timeout_ms = 200,
      .danger = MISHAP_MUTATING },
    { "lone", "In one process", NULL, do_run, .timeout_ms = 200 },
    { "kept", "In a store", NULL, do_run, .service = &store },
    { "eager", "Before its first call", NULL, do_run, .service = &eager },
    { "settled", "Settled with others", NULL, do_run, .service = &settled, .timeout_ms = 200,
      .danger = MISHAP_MUTATING },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

/* Long enough that none of them passes in a test that is about another. */
static const mishap_runner_times patient = { .wait_ms = 60000,
                                             .begin_ms = 60000,
                                             .answer_ms = 60000,
                                             .start_ms = 60000,
                                             .retry_ms = 60000,
                                             .lost_ms = 60000,
                                             .idle_ms = 60000,
                                             .open_ms = 60000,
                                             .settle_ms = 60000 };

struct set {
    mishap_keeper_plan plan;
    mishap_runner *runner;
    int keeper;
    uint32_t workers; /* that were started */
};

struct ours {
    mishap_run run;
    bool done;
    mishap *failure;
    int64_t done_ns;
};

static int orphans;

static void on_orphan(void *state, const mishap_call *call, const char *incident, mishap *failure)
{
    (void)state, (void)call;
    assert_string_equal(incident, "an-incident");
    orphans++;
    mishap_free(failure);
}

static void open_set(struct set *s, size_t handlers, size_t most, const mishap_runner_times *times)
{
    *s = (struct set){ .plan = { .app = &app } };
    assert_null(mishap_worker_groups_make(&app, &s->plan.groups));
    mishap_runner_settings settings = { .plan = &s->plan,
                                        .keeper = fake_keeper_open(&s->keeper),
                                        .handlers = handlers,
                                        .most_waiting = most,
                                        .orphaned = on_orphan,
                                        .times = times };
    assert_null(mishap_runner_open(&settings, &s->runner));
    orphans = 0;
}

static void close_set(struct set *s)
{
    mishap_runner_close(s->runner);
    close(s->keeper);
}

static void on_done(mishap_run *run, mishap *failure)
{
    struct ours *o = (struct ours *)(void *)run;
    assert_false(o->done);
    o->done = true;
    o->failure = failure;
    o->done_ns = mishap_clock_monotonic_ns();
}

/* With its own limit, which is short: for what happens when that is over. */
static bool add_limited(const struct set *s, struct ours *o, const char *name)
{
    const mishap_operation *operation = mishap_operation_find(&app, mishap_text_of(name));
    *o = (struct ours){ .run = { .done = on_done, .incident = "an-incident" } };
    assert_null(mishap_call_begin(&app, operation, T("{}"), &o->run.call));
    if (!operation->timeout_ms)
        o->run.call->limit_ms = 0;
    return mishap_runner_add(s->runner, &o->run);
}

/* … or so long that it is not over meanwhile, however busy the machine. */
static bool add(const struct set *s, struct ours *o, const char *name)
{
    bool added = add_limited(s, o, name);
    if (o->run.call && o->run.call->limit_ms)
        o->run.call->limit_ms = 60000;
    return added;
}

static void let_go(struct ours *o)
{
    mishap_free(o->failure);
    mishap_call_end(o->run.call);
    *o = (struct ours){ 0 };
}

static void expect_words(const struct ours *o, const mishap_code *code, const char *words)
{
    mishap_buffer account = { 0 };
    assert_true(o->done);
    assert_non_null(o->failure);
    assert_ptr_equal(mishap_told(o->failure)->code, code);
    mishap_account(o->failure, &account);
    mishap_buffer_put_char(&account, '\0');
    if (!strstr(account.data, words))
        fail_msg("%s", account.data);
    mishap_buffer_release(&account);
}

/* Let time pass, as a loop does. */
static void turn_for(const struct set *s, int ms)
{
    int64_t until = mishap_clock_monotonic_ns() + ms * INT64_C(1000000), left;
    do {
        struct pollfd file = { .fd = mishap_runner_file(s->runner), .events = POLLIN };
        mishap_runner_flush(s->runner);
        left = (until - mishap_clock_monotonic_ns()) / 1000000;
        if (poll(&file, 1, left > 0 ? (int)left : 0) > 0)
            mishap_runner_turn(s->runner);
    } while (left > 0);
}

static void turn_until(const struct set *s, const struct ours *o)
{
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    while (!o->done && mishap_clock_monotonic_ns() < until)
        turn_for(s, 10);
    assert_true(o->done);
}

static void turn(const struct set *s)
{
    mishap_runner_flush(s->runner);
    mishap_runner_turn(s->runner);
}

/* Let time pass until the runner has said this to its keeper. */
static mishap_keeper_message hear(const struct set *s, mishap_keeper_word word, int within_ms)
{
    mishap_keeper_message message = { 0 };
    int64_t until = mishap_clock_monotonic_ns() + within_ms * INT64_C(1000000);
    turn(s);
    while (mishap_clock_monotonic_ns() < until) {
        if (!fake_keeper_hears(s->keeper, &message))
            turn_for(s, 2);
        else if (word == MISHAP_KEEPER_END || message.word != MISHAP_KEEPER_END)
            break; /* else it is about a worker that has ended meanwhile */
    }
    assert_int_equal(message.word, word);
    return message;
}

/* The same, and not before so long after that moment. However busy the machine is, nothing comes
 * too early. */
static mishap_keeper_message hear_after(const struct set *s, mishap_keeper_word word, int64_t since,
                                        int least_ms)
{
    mishap_keeper_message message = hear(s, word, 60000);
    assert_true(mishap_clock_monotonic_ns() - since >= least_ms * INT64_C(1000000));
    return message;
}

static void hear_nothing(const struct set *s)
{
    mishap_keeper_message message;
    assert_false(fake_keeper_hears(s->keeper, &message));
}

/* The runner asks for a worker, and gets it. */
static void start(struct set *s, struct fake_worker *w)
{
    mishap_keeper_message asked = hear(s, MISHAP_KEEPER_START, 60000);
    fake_worker_start(s->keeper, &asked, w, ++s->workers);
    turn(s);
}

static mishap_slot_state state_of(const struct fake_worker *w, unsigned slot)
{
    return (mishap_slot_state)(atomic_load(&w->page->slots[slot]) & 7);
}

static unsigned handed(const struct fake_worker *w)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MISHAP_SLOTS; i++)
        count += state_of(w, i) == MISHAP_SLOT_HANDED;
    return count;
}

static uint32_t begin_next(struct fake_worker *w, unsigned expected)
{
    unsigned slot = 0;
    mishap_frame_call asked;
    do /* what was taken back comes all the same */
        assert_true(fake_worker_takes(w, &slot, &asked));
    while (!fake_worker_begins(w, slot, asked.number));
    assert_int_equal(slot, expected);
    return asked.number;
}

static void run_next(struct fake_worker *w, unsigned expected)
{
    fake_worker_answers(w, expected, begin_next(w, expected));
}

/* The worker dies and the keeper says so. */
static void die(const struct set *s, struct fake_worker *w)
{
    fake_worker_close(w);
    fake_worker_ended(s->keeper, w, SIGSEGV);
    turn(s);
    turn(s);
}

/* -- opening ----------------------------------------------------------------------------------- */

/* It was told to open its service, and nothing else. */
static void take_open(const struct fake_worker *w)
{
    char bytes[4096];
    mishap_framed frame;
    size_t size;
    ssize_t got = recv(w->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    assert_true(got > 0);
    assert_int_equal(mishap_frame_read((mishap_text){ bytes, (size_t)got }, &frame, &size),
                     MISHAP_FRAME_WHOLE);
    assert_int_equal(frame.type, MISHAP_FRAME_OPEN);
    assert_int_equal(size, got);
}

static void say_opened(const struct set *s, const struct fake_worker *w, mishap *failure)
{
    mishap_buffer out = { 0 };
    mishap_frame_put_opened(&out, "", failure);
    fake_worker_sends(w, out.data, out.length);
    mishap_buffer_release(&out);
    mishap_free(failure);
    turn(s);
    turn(s);
}

static void a_worker_gets_calls_when_it_has_opened_its_service(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "kept"));
    start(&s, &w);
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
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "kept"));
    start(&s, &w);
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
    assert_int_equal(blocks, before); /* the failure is nobody's any more */
    mishap_use_allocator(NULL);
}

/* What only an operator can repair is not worth trying again. */
static void callers_of_a_service_that_is_damaged_are_not_told_to_come_again(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "kept"));
    start(&s, &w);
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
    hear_nothing(&s); /* nobody waits */
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

/* -- who waits, and for how long --------------------------------------------------------------- */

static void a_call_behind_a_slow_one_is_taken_back_and_one_that_runs_is_not(void **state)
{
    struct set s;
    struct ours slow, behind;
    struct fake_worker w, other;
    (void)state;
    open_set(&s, 2, 100, &patient);
    assert_true(add(&s, &slow, "long"));
    start(&s, &w);
    begin_next(&w, 0);
    assert_true(add(&s, &behind, "long"));
    mishap_runner_flush(s.runner);
    assert_int_equal(state_of(&w, 1), MISHAP_SLOT_HANDED);
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
        let_go(&o);
        fake_worker_release(&w);
        close_set(&s);
    }
}

static void a_call_waits_so_long_and_no_longer(void **state)
{
    struct set s;
    struct ours waits, runs, handed_over;
    struct fake_worker w;
    mishap_runner_times times = patient;
    (void)state;
    times.wait_ms = 300;
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &runs, "lone"));
    runs.run.call->limit_ms = 0;
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    int64_t since = mishap_clock_monotonic_ns();
    assert_true(add(&s, &handed_over, "lone"));
    assert_true(add(&s, &waits, "many")); /* nobody gives it a worker */
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
        mishap_keeper_message asked = hear(&s, MISHAP_KEEPER_START, 1000);
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
    assert_true(add(&s, &o, "long")); /* its silence counts from here */
    turn_for(&s, 20);
    hear_nothing(&s);
    run_next(&w, 0);
    turn(&s);
    assert_true(o.done && !o.failure);
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);

    /* What was taken back from it long ago says nothing of it now. */
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "long"));
    start(&s, &w);
    mishap_runner_forget(s.runner, &o.run);
    turn_for(&s, 1300);
    assert_true(add(&s, &o, "long"));
    turn_for(&s, 80);
    hear_nothing(&s);
    run_next(&w, 0);
    turn(&s);
    assert_true(o.done && !o.failure);
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);

    /* One that is alone may be busy with the call of another loop. */
    open_set(&s, 1, 100, &times);
    assert_true(add(&s, &o, "lone"));
    start(&s, &w);
    turn_for(&s, 1300);
    hear_nothing(&s);
    run_next(&w, 0);
    turn(&s);
    assert_true(o.done && !o.failure);
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
}

static void a_large_answer_may_take_its_time_as_long_as_it_comes(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    mishap_runner_times times = patient;
    mishap_buffer out = { 0 };
    mishap_call call = { .answer_kind = MISHAP_ANSWER_JSON };
    (void)state;
    times.answer_ms = 1000;
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
    }
    assert_true(o.done && !o.failure);
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
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
}

/* -- calls that nobody waits for --------------------------------------------------------------- */

static void a_forgotten_call_that_has_not_begun_is_gone_at_once(void **state)
{
    struct set s;
    struct ours o, next;
    struct fake_worker w;
    unsigned slot = 0;
    mishap_frame_call asked;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "lone"));
    start(&s, &w);
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
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "lone"));
    start(&s, &w);
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

/* A worker may write to its page what it likes: here, that it has not begun what it had. Nobody is
 * there to have the call back. */
static void a_forgotten_call_that_a_worker_denies_is_over(void **state)
{
    (void)state;
    for (int dies = 0; dies < 2; dies++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        open_set(&s, 1, 100, &patient);
        assert_true(add(&s, &o, "lone"));
        start(&s, &w);
        uint32_t number = begin_next(&w, 0);
        mishap_runner_forget(s.runner, &o.run);
        atomic_store(&w.page->slots[0], mishap_slot_word(number, MISHAP_SLOT_HANDED));
        assert_int_equal(mishap_runner_count(s.runner, true), 1);
        if (dies)
            die(&s, &w);
        int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
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
        let_go(&o);
        fake_worker_release(&w);
        close_set(&s);
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
    die(&s, &w[1]); /* nobody knows */
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

/* A call that was seen to run is not run again, whatever the page says afterwards. */
static void a_call_that_has_begun_is_never_moved(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "long"));
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    turn_for(&s, 120);
    atomic_store(&w.page->slots[0], mishap_slot_word(number, MISHAP_SLOT_HANDED));
    die(&s, &w);
    assert_true(o.done);
    assert_non_null(o.failure);
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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

/* -- calls that are settled -------------------------------------------------------------------- */

static void start_settled(struct set *s, struct fake_worker *w)
{
    start(s, w);
    take_open(w);
    say_opened(s, w, NULL);
    turn(s);
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

static void die_of(const struct set *s, struct fake_worker *w, int signal)
{
    fake_worker_close(w);
    fake_worker_ended(s->keeper, w, signal);
    turn(s);
    turn(s);
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

/* It may be settled or not: nobody asks. */
static void a_forgotten_call_that_had_run_is_not_run_again(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    char id[MISHAP_ID_LENGTH + 1];
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "settled"));
    start_settled(&s, &w);
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
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "settled"));
    start_settled(&s, &w);
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
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
}

static void a_settlement_has_its_time(void **state)
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
    take_settled(&w, 0, MISHAP_SLOT_RAN, id);
    turn_for(&s, 300); /* longer than its handler may take, and than a settlement */
    hear_nothing(&s);
    int64_t since = mishap_clock_monotonic_ns();
    atomic_store(&w.page->settling_ns, since);
    hear_after(&s, MISHAP_KEEPER_END, since, 100);
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
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "settled"));
    start_settled(&s, &w);
    uint32_t number = take_settled(&w, 0, MISHAP_SLOT_RAN, id).number;
    atomic_store(&w.page->settling_ns, INT64_MIN / 2);
    turn_for(&s, 300); /* several looks at the clock */
    hear_nothing(&s);
    assert_true(mishap_slot_change(w.page, 0, number, MISHAP_SLOT_RAN, MISHAP_SLOT_DONE));
    fake_worker_answers(&w, 0, number);
    turn_until(&s, &o);
    assert_null(o.failure);
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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

/* It was stopped, or its stack was read: somebody looked at what it did, so its call may be to
 * blame. */
static void a_call_of_a_worker_that_was_ended_for_it_is_not_run_again(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        char id[MISHAP_ID_LENGTH + 1];
        open_set(&s, 1, 100, &patient);
        assert_true(add(&s, &o, "settled"));
        start_settled(&s, &w);
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
        let_go(&o);
        fake_worker_release(&w);
        close_set(&s);
    }
}

static void a_call_that_is_run_again_begins_to_wait_anew(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    char id[MISHAP_ID_LENGTH + 1];
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "settled"));
    start_settled(&s, &w);
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
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "kept"));
    start(&s, &w);
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
    let_go(&o);
    fake_worker_release(&w);
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
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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

static void only_calls_that_are_settled_wait_for_it(void **state)
{
    struct set s;
    struct ours o;
    struct fake_worker w;
    (void)state;
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "long"));
    start(&s, &w);
    uint32_t number = begin_next(&w, 0);
    assert_true(mishap_slot_change(w.page, 0, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_RAN));
    hear(&s, MISHAP_KEEPER_END, 60000);
    die(&s, &w);
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "a state that none of its calls has");
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "settled"));
    start_settled(&s, &w);
    take_settled(&w, 0, MISHAP_SLOT_DONE, id);
    mishap_frame_end(&out, mishap_frame_begin(&out, MISHAP_FRAME_BEGIN, 0));
    fake_worker_sends(&w, out.data, out.length);
    mishap_buffer_release(&out);
    die_of(&s, &w, SIGKILL);
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "settled = \"perhaps\"");
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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
    let_go(&o);
    fake_worker_release(&w);
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
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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
    turn_for(&s, 20);
    for (size_t i = 0; i < WORKERS; i++) {
        assert_true(many[i].done);
        assert_null(many[i].failure);
        let_go(&many[i]);
        fake_worker_release(&w[i]);
    }
    close_set(&s);
}

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
        let_go(&o);
        fake_worker_release(&w);
        close_set(&s);
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
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "long"));
    start(&s, &w);
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
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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
        open_set(&s, 1, 100, &patient);
        assert_true(add(&s, &o, "long"));
        start(&s, &w);
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
        let_go(&o);
        fake_worker_release(&w);
        close_set(&s);
    }
}

/* Of what changes something nobody knows how far it came. */
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
        let_go(&o);
        fake_worker_release(&w);
        close_set(&s);
    }
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
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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
    for (int i = 0; i < 3; i++) {
        int64_t since = mishap_clock_monotonic_ns();
        hear_after(&s, MISHAP_KEEPER_START, since, i ? 150 : 0); /* it was asked a while ago */
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
    while (count > 3) { /* nobody waits for them any more: they are not counted either */
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

/* -- frames that are none ---------------------------------------------------------------------- */

static void a_frame_that_is_none_ends_its_worker(void **state)
{
    static const struct {
        mishap_frame_type type;
        const char *payload, *words;
    } rows[] = {
        { MISHAP_FRAME_PROGRESS, "half", "progress that is none" },
        { MISHAP_FRAME_LOG, "\x7Fwords", "a log message that is none" },
        { MISHAP_FRAME_DONE, "x", "that it has not begun, or that was ended" },
        { MISHAP_FRAME_OPENED, "x", "what it was not told to open" },
        { MISHAP_FRAME_CALL, "x", "a frame that only loops send" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct set s;
        struct ours o;
        struct fake_worker w;
        mishap_buffer out = { 0 };
        open_set(&s, 1, 100, &patient);
        assert_true(add(&s, &o, "long"));
        start(&s, &w);
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
        let_go(&o);
        fake_worker_release(&w);
        close_set(&s);
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
    open_set(&s, 1, 100, &patient);
    assert_true(add(&s, &o, "kept"));
    start(&s, &w);
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
    assert_int_equal(recv(socket, &asked, 1, MSG_DONTWAIT), 0); /* nobody has the other end */
    run_next(&w, 0);
    turn_until(&s, &o);
    assert_null(o.failure);
    close(socket);
    let_go(&o);
    fake_worker_release(&w);
    close_set(&s);
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

/* -- frames at their bounds -------------------------------------------------------------------- */

static void a_frame_is_as_long_as_may_be_and_not_one_byte_more(void **state)
{
    static const struct {
        uint32_t length, kind;
        mishap_frame_state state;
    } rows[] = {
        { MISHAP_FRAME_LIMIT, MISHAP_FRAME_DONE, MISHAP_FRAME_MORE },
        { MISHAP_FRAME_LIMIT + 1, MISHAP_FRAME_DONE, MISHAP_FRAME_BAD },
        { 0, MISHAP_FRAME_CALL, MISHAP_FRAME_WHOLE },
        { 0, MISHAP_FRAME_OPENED, MISHAP_FRAME_WHOLE },
        { 0, 0, MISHAP_FRAME_BAD },
        { 0, MISHAP_FRAME_OPENED + 1, MISHAP_FRAME_BAD },
        { 0, MISHAP_FRAME_DONE | 0x100, MISHAP_FRAME_BAD },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_buffer b = { 0 };
        mishap_framed frame;
        size_t size;
        mishap_pack_u32(&b, rows[i].length);
        mishap_pack_u32(&b, rows[i].kind);
        assert_int_equal(mishap_frame_read(mishap_buffer_text(&b), &frame, &size), rows[i].state);
        b.length--;
        assert_int_equal(mishap_frame_read(mishap_buffer_text(&b), &frame, &size),
                         MISHAP_FRAME_MORE);
        mishap_buffer_release(&b);
    }
}

/* Write an outcome and take it. */
static bool is_taken(const mishap_call *answer)
{
    mishap_buffer out = { 0 };
    mishap_framed frame;
    size_t size;
    mishap_call *call;
    mishap *failure;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    mishap_frame_put_outcome(&out, 0, answer, NULL);
    assert_int_equal(mishap_frame_read(mishap_buffer_text(&out), &frame, &size),
                     MISHAP_FRAME_WHOLE);
    bool taken = mishap_frame_take_outcome(frame.payload, call, &failure);
    assert_null(failure);
    if (!taken)
        assert_int_equal(call->answer_kind, MISHAP_ANSWER_NOTHING); /* nothing was changed */
    mishap_call_end(call);
    mishap_buffer_release(&out);
    return taken;
}

static bool is_status_taken(int status)
{
    return is_taken(&(mishap_call){ .answer_kind = MISHAP_ANSWER_NOTHING, .status = status });
}

static void an_outcome_is_checked_at_its_bounds(void **state)
{
    mishap_call answer = { .answer_kind = MISHAP_ANSWER_JSON };
    (void)state;
    assert_true(is_status_taken(0));
    assert_false(is_status_taken(199));
    assert_true(is_status_taken(200));
    assert_true(is_status_taken(599));
    assert_false(is_status_taken(600));
    assert_false(is_taken(&(mishap_call){ .answer_kind = MISHAP_ANSWER_WRITTEN }));
    assert_false(is_taken(&(mishap_call){ .answer_kind = MISHAP_ANSWER_BYTES }));
    assert_false(is_taken(&(mishap_call){ .answer_kind = MISHAP_ANSWER_STREAM }));
    assert_false(is_taken(
        &(mishap_call){ .answer_kind = MISHAP_ANSWER_STREAM + 1, .answer_type = "text/plain" }));
    assert_true(is_taken(
        &(mishap_call){ .answer_kind = MISHAP_ANSWER_BYTES, .answer_type = "text/plain" }));
    /* Up to 64 KB are parsed, and control characters are refused in any answer. */
    for (size_t i = 0; i < 65536; i++)
        mishap_buffer_put_char(&answer.answer, '[');
    assert_false(is_taken(&answer));
    mishap_buffer_put_char(&answer.answer, '[');
    assert_true(is_taken(&answer));
    answer.answer.data[65536] = '\x1F';
    assert_false(is_taken(&answer));
    answer.answer.data[65536] = '[';
    answer.answer.data[0] = '\n';
    assert_false(is_taken(&answer));
    mishap_buffer_release(&answer.answer);
    MISHAP_PUT(&answer.answer, "\n{}"); /* though it is JSON */
    assert_false(is_taken(&answer));
    mishap_buffer_release(&answer.answer);
    MISHAP_PUT(&answer.answer, "{}");
    MISHAP_PUT(&answer.warnings, "\"a\",\"b\"");
    assert_true(is_taken(&answer));
    MISHAP_PUT(&answer.warnings, ",");
    assert_false(is_taken(&answer));
    mishap_buffer_release(&answer.answer);
    mishap_buffer_release(&answer.warnings);
}

static void a_log_message_has_a_level_that_exists(void **state)
{
    (void)state;
    for (int level = MISHAP_EMERGENCY; level <= MISHAP_FOR_OPERATOR + 1; level++) {
        mishap_buffer out = { 0 };
        mishap_level taken;
        mishap_text words;
        mishap_frame_put_log(&out, 0, (mishap_level)level, T("words"));
        mishap_text payload = { out.data + MISHAP_FRAME_HEAD, out.length - MISHAP_FRAME_HEAD };
        assert_int_equal(mishap_frame_take_log(payload, &taken, &words),
                         level <= MISHAP_FOR_OPERATOR);
        mishap_buffer_release(&out);
    }
}

static void flags_that_do_not_exist_are_refused(void **state)
{
    mishap_call *call;
    mishap *failure;
    (void)state;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    for (unsigned flags = 0; flags < 256; flags += 16) {
        mishap_buffer out = { 0 };
        mishap_frame_put_outcome(&out, 0, &(mishap_call){ .answer_kind = MISHAP_ANSWER_NOTHING },
                                 NULL);
        out.data[MISHAP_FRAME_HEAD + 2] = (char)flags;
        mishap_text payload = { out.data + MISHAP_FRAME_HEAD, out.length - MISHAP_FRAME_HEAD };
        assert_int_equal(mishap_frame_take_outcome(payload, call, &failure), flags == 0);
        mishap_buffer_release(&out);
    }
    mishap_call_end(call);
}

static void a_failure_comes_in_one_of_three_ways(void **state)
{
    mishap *m = mishap_raise(INTERNAL_ERROR, "Broken."), *failure;
    mishap_call *call;
    (void)state;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    for (char how = 1; how < 6; how++) {
        mishap_buffer out = { 0 };
        mishap_frame_put_outcome(&out, 0, call, m);
        out.data[MISHAP_FRAME_HEAD] = how;
        mishap_text payload = { out.data + MISHAP_FRAME_HEAD, out.length - MISHAP_FRAME_HEAD };
        assert_int_equal(mishap_frame_take_outcome(payload, call, &failure), how < 4);
        assert_int_equal(failure != NULL, how < 4);
        assert_int_equal(call->ended, how == 2);
        assert_int_equal(call->lost, how > 2); /* it stays as it was if this is refused */
        mishap_free(failure);
        mishap_buffer_release(&out);
    }
    mishap_call_end(call);
    mishap_free(m);
}

/* -- frames with all that they may have -------------------------------------------------------- */

static mishap_text payload_of(const mishap_buffer *out)
{
    mishap_framed frame;
    size_t size;
    assert_false(out->failed);
    assert_int_equal(mishap_frame_read(mishap_buffer_text(out), &frame, &size), MISHAP_FRAME_WHOLE);
    assert_int_equal(size, out->length);
    return frame.payload;
}

static bool is_text(mishap_text text, const char *expected)
{
    return expected ? mishap_text_equal(text, mishap_text_of(expected)) : !text.data;
}

static void pass_progress(const mishap_watcher *w, double done, double total, mishap_text words)
{
    (void)w, (void)done, (void)total, (void)words;
}

static void pass_log(const mishap_watcher *w, mishap_level level, mishap_text words)
{
    (void)w, (void)level, (void)words;
}

static bool pass_piece(const mishap_watcher *w, mishap_text piece)
{
    (void)w, (void)piece;
    return true;
}

/* Each part is there or not, whatever the others are. */
static void a_call_arrives_with_all_that_it_has(void **state)
{
    mishap_call *call;
    (void)state;
    assert_null(mishap_call_begin(&app, &operations[1], T("{}"), &call));
    for (unsigned parts = 0; parts < 1024; parts++) {
        mishap_buffer out = { 0 };
        mishap_frame_call taken;
        const char *caller = parts & 1 ? "a caller" : NULL, *type = parts & 2 ? "text/x" : NULL,
                   *cursor = parts & 4 ? "a cursor" : NULL, *id = parts & 8 ? "an id" : NULL;
        mishap_watcher watcher = { .progress = parts & 16 ? pass_progress : NULL,
                                   .log = parts & 32 ? pass_log : NULL,
                                   .piece = parts & 64 ? pass_piece : NULL };
        call->caller = caller;
        call->body_type = type;
        call->body = type ? T("a \0 body") : (mishap_text){ NULL, 0 };
        call->cursor = cursor;
        call->id = id ? mishap_text_of(id) : (mishap_text){ NULL, 0 };
        call->watcher = &watcher;
        call->verbose = parts & 128;
        call->repeated = parts & 256;
        call->caller_is_free = parts & 512;
        call->boundary = MISHAP_BY_MCP;
        call->request_id = T("a request");
        call->remote = T("an address");
        call->headers = T("-\n");
        mishap_frame_put_call(&out, 3, 77, call, 200);
        assert_true(mishap_frame_take_call(payload_of(&out), &taken));
        assert_int_equal(taken.number, 77);
        assert_int_equal(taken.operation, 1);
        assert_int_equal(taken.limit_ms, 200);
        assert_true(is_text(taken.caller, caller) && is_text(taken.body_type, type) &&
                    is_text(taken.cursor, cursor) && is_text(taken.id, id));
        assert_true(mishap_text_equal(taken.body, call->body));
        assert_int_equal(taken.wants_progress, (parts & 16) && !(parts & 256));
        assert_int_equal(taken.wants_log, (parts & 32) != 0);
        assert_int_equal(taken.wants_pieces, (parts & 64) != 0);
        assert_int_equal(taken.verbose, (parts & 128) != 0);
        assert_int_equal(taken.repeated, (parts & 256) != 0);
        assert_int_equal(taken.caller_is_free, (parts & 512) != 0);
        assert_int_equal(taken.boundary, MISHAP_BY_MCP);
        assert_true(is_text(taken.request_id, "a request") && is_text(taken.remote, "an address") &&
                    is_text(taken.headers, "-\n") && is_text(taken.arguments, "{}"));
        mishap_buffer_release(&out);
    }
    call->caller = call->cursor = call->body_type = NULL;
    call->watcher = NULL;
    mishap_call_end(call);
}

/* One byte of a text is NUL: what follows it would be lost. */
static bool spoil(const mishap_buffer *out, const char *text)
{
    char *at = memmem(out->data, out->length, text, strlen(text));
    assert_non_null(at);
    char before = at[1];
    at[1] = '\0';
    mishap_frame_call taken;
    mishap_call *call;
    mishap *failure;
    bool is_call = out->data[4] == MISHAP_FRAME_CALL;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    bool refused = is_call ? !mishap_frame_take_call(payload_of(out), &taken)
                           : !mishap_frame_take_outcome(payload_of(out), call, &failure);
    mishap_call_end(call);
    at[1] = before;
    return refused;
}

static void text_in_a_frame_has_no_byte_that_would_end_it(void **state)
{
    static const char *const of_call[] = { "a caller", "text/x",     "a cursor", "an id",
                                           "request",  "an address", "a header" },
                             *const of_answer[] = { "place://1", "text/y", "thing://7", "at 12" };
    mishap_buffer out = { 0 };
    mishap_call *call;
    (void)state;
    assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
    call->caller = "a caller";
    call->body_type = "text/x";
    call->body = T("a body");
    call->cursor = "a cursor";
    call->id = T("an id");
    call->request_id = T("request");
    call->remote = T("an address");
    call->headers = T("+a header\n");
    mishap_frame_put_call(&out, 0, 1, call, 0);
    for (size_t i = 0; i < sizeof of_call / sizeof *of_call; i++)
        if (!spoil(&out, of_call[i]))
            fail_msg("%s", of_call[i]);
    assert_false(spoil(&out, "a body"));
    call->caller = call->body_type = call->cursor = NULL;
    mishap_call_end(call);
    mishap_buffer_reset(&out);
    mishap_call answer = { .answer_kind = MISHAP_ANSWER_BYTES,
                           .location = "place://1",
                           .answer_type = "text/y",
                           .resumed_by = "thing://7",
                           .cursor = "at 12" };
    mishap_frame_put_outcome(&out, 0, &answer, NULL);
    for (size_t i = 0; i < sizeof of_answer / sizeof *of_answer; i++)
        if (!spoil(&out, of_answer[i]))
            fail_msg("%s", of_answer[i]);
    mishap_buffer_release(&out);
}

static void an_answer_arrives_with_all_that_it_has(void **state)
{
    (void)state;
    for (unsigned parts = 0; parts < 32; parts++) {
        mishap_buffer out = { 0 };
        mishap_call *call, answer = { .answer_kind = MISHAP_ANSWER_JSON,
                                      .status = 201,
                                      .listed = 3,
                                      .total = 5,
                                      .content = parts & 1,
                                      .location = parts & 2 ? "place://1" : NULL,
                                      .answer_type = parts & 4 ? "text/y" : NULL,
                                      .resumed_by = parts & 8 ? "thing://7" : NULL,
                                      .cursor = parts & 8 ? "at 12" : NULL };
        mishap *failure;
        MISHAP_PUT(&answer.answer, "{\"n\":1}");
        MISHAP_PUT(&answer.warnings, "\"careful\"");
        if (parts & 16)
            MISHAP_PUT(&answer.text, "one \xFF"); /* no UTF-8: it is made to be some */
        assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
        MISHAP_PUT(&call->text, "of an earlier answer");
        mishap_frame_put_outcome(&out, 2, &answer, NULL);
        assert_true(mishap_frame_take_outcome(payload_of(&out), call, &failure));
        assert_null(failure);
        assert_int_equal(call->answer_kind, MISHAP_ANSWER_JSON);
        assert_int_equal(call->status, 201);
        assert_int_equal(call->listed, 3);
        assert_int_equal(call->total, 5);
        assert_int_equal(call->content, parts & 1);
        assert_true(is_text(mishap_text_of(call->location), answer.location) &&
                    is_text(mishap_text_of(call->answer_type), answer.answer_type) &&
                    is_text(mishap_text_of(call->resumed_by), answer.resumed_by) &&
                    is_text(mishap_text_of(call->cursor), answer.cursor));
        assert_true(is_text(mishap_buffer_text(&call->answer), "{\"n\":1}"));
        assert_true(is_text(mishap_buffer_text(&call->warnings), "\"careful\""));
        assert_int_equal(call->text.length, parts & 16 ? strlen("one \xEF\xBF\xBD") : 0);
        if (parts & 16)
            assert_memory_equal(call->text.data, "one \xEF\xBF\xBD", call->text.length);
        mishap_call_end(call);
        mishap_buffer_release(&out);
        mishap_buffer_release(&answer.answer);
        mishap_buffer_release(&answer.warnings);
        mishap_buffer_release(&answer.text);
    }
}

/* Either all of it, or the failure that says so. */
static void an_answer_without_memory_is_never_a_part_of_it(void **state)
{
    mishap_buffer out = { 0 };
    bool whole = false;
    static char room[4][20000]; /* each is more than a call has room for without memory */
    for (size_t i = 0; i < 4; i++)
        memset(room[i], 'a' + (int)i, sizeof room[i] - 1);
    mishap_call answer = { .answer_kind = MISHAP_ANSWER_JSON,
                           .location = room[0],
                           .answer_type = room[1],
                           .resumed_by = room[2],
                           .cursor = room[3] };
    (void)state;
    MISHAP_PUT(&answer.answer, "[");
    for (size_t i = 0; i < 5000; i++)
        MISHAP_PUT(&answer.answer, "1,");
    MISHAP_PUT(&answer.answer, "1]");
    for (size_t i = 0; i < 5000; i++)
        MISHAP_PUT(&answer.text, "one \xFF");
    MISHAP_PUT(&answer.warnings, "\"careful\"");
    mishap_frame_put_outcome(&out, 0, &answer, NULL);
    for (size_t allowed = 1; !whole && allowed < 1000; allowed++) {
        mishap_call *call;
        mishap *failure;
        assert_null(mishap_call_begin(&app, &operations[0], T("{}"), &call));
        mishap_use_allocator(&failing_allocator);
        calls = 0;
        fail_at = allowed;
        fail_once = true;
        bool taken = mishap_frame_take_outcome(payload_of(&out), call, &failure);
        whole = taken && !failure;
        fail_at = 0;
        fail_once = false;
        if (whole) {
            assert_int_equal(call->answer.length, answer.answer.length);
            assert_int_equal(call->text.length, 5000 * strlen("one \xEF\xBF\xBD"));
            assert_int_equal(call->warnings.length, answer.warnings.length);
            assert_true(is_text(mishap_text_of(call->location), room[0]) &&
                        is_text(mishap_text_of(call->answer_type), room[1]) &&
                        is_text(mishap_text_of(call->resumed_by), room[2]) &&
                        is_text(mishap_text_of(call->cursor), room[3]));
        }
        mishap_free(failure);
        mishap_call_end(call);
        mishap_use_allocator(NULL);
    }
    assert_true(whole);
    mishap_buffer_release(&out);
    mishap_buffer_release(&answer.answer);
    mishap_buffer_release(&answer.text);
    mishap_buffer_release(&answer.warnings);
}

static void progress_arrives_with_words_or_without(void **state)
{
    static const char *const rows[] = { NULL, "", "half of it" };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        mishap_buffer out = { 0 };
        double done, total;
        mishap_text words;
        mishap_frame_put_progress(&out, 1, 0.5, 2, mishap_text_of(rows[i]));
        mishap_text payload = payload_of(&out);
        assert_true(mishap_frame_take_progress(payload, &done, &total, &words));
        assert_true(done == 0.5 && total == 2 && is_text(words, rows[i]));
        payload.length--;
        assert_false(mishap_frame_take_progress(payload, &done, &total, &words));
        out.data[MISHAP_FRAME_HEAD + 16] = 2; /* neither with nor without */
        assert_false(mishap_frame_take_progress(payload_of(&out), &done, &total, &words));
        mishap_buffer_release(&out);
    }
}

static void an_identity_is_as_long_as_may_be_and_not_one_byte_more(void **state)
{
    char longest[MISHAP_IDENTITY_LIMIT + 1], room[MISHAP_IDENTITY_LIMIT];
    (void)state;
    memset(longest, 'x', sizeof longest);
    for (size_t length = MISHAP_IDENTITY_LIMIT - 1; length <= MISHAP_IDENTITY_LIMIT; length++) {
        mishap_buffer out = { 0 };
        mishap *failure;
        const char *identity;
        bool fits = length < MISHAP_IDENTITY_LIMIT;
        longest[length] = '\0';
        mishap_frame_put_opened(&out, longest, NULL);
        assert_int_equal(mishap_frame_take_opened(payload_of(&out), room, &failure), fits);
        assert_string_equal(room, fits ? longest : "");
        mishap_buffer_reset(&out);
        mishap_frame_put_open(&out, longest);
        assert_int_equal(mishap_frame_take_open(payload_of(&out), room, &identity), fits);
        assert_string_equal(room, fits ? longest : "");
        mishap_buffer_release(&out);
        longest[length] = 'x';
    }
}

static void a_frame_that_there_is_no_memory_for_is_not_begun(void **state)
{
    mishap_buffer out = { 0 };
    (void)state;
    MISHAP_PUT(&out, "before");
    size_t begun = mishap_frame_begin(&out, MISHAP_FRAME_DONE, 0);
    out.failed = true;
    mishap_frame_end(&out, begun);
    assert_true(out.failed);
    assert_true(is_text((mishap_text){ out.data, out.length }, "before"));
    mishap_buffer_release(&out);
}

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
        TEST(operations_of_commands_have_no_workers),
        TEST(no_more_workers_are_asked_for_than_there_are_calls_or_than_may_be),
        TEST(a_worker_has_as_many_calls_as_may_be_and_not_one_more),
        TEST(calls_that_come_together_are_spread),
        TEST(calls_that_run_count_as_those_that_wait),
        TEST(a_call_behind_a_slow_one_is_taken_back_and_one_that_runs_is_not),
        TEST(the_call_that_a_worker_begins_next_stays_with_it),
        TEST(the_time_of_a_handler_runs_from_its_beginning),
        TEST(the_beginning_that_a_worker_tells_is_clamped),
        TEST(a_call_waits_so_long_and_no_longer),
        TEST(a_call_that_gets_no_process_is_told_what_the_system_lacks),
        TEST(a_worker_begins_what_it_is_given_or_is_ended),
        TEST(a_large_answer_may_take_its_time_as_long_as_it_comes),
        TEST(an_answer_is_due_when_its_handler_has_returned),
        TEST(a_forgotten_call_that_has_not_begun_is_gone_at_once),
        TEST(a_forgotten_call_that_runs_is_cancelled_and_the_next_in_its_slot_is_not),
        TEST(a_forgotten_call_that_a_worker_denies_is_over),
        TEST(a_call_whose_caller_may_have_left_is_told_and_comes_back),
        TEST(a_call_whose_caller_may_have_left_gives_way),
        TEST(a_call_that_has_not_begun_is_moved_once),
        TEST(only_deaths_before_any_call_began_count_against_a_call),
        TEST(a_call_that_has_begun_is_never_moved),
        TEST(calls_behind_one_that_died_are_moved_as_often_as_needed),
        TEST(calls_that_had_run_are_run_again_with_the_same_id),
        TEST(a_forgotten_call_that_had_run_is_not_run_again),
        TEST(a_call_is_run_again_only_so_often),
        TEST(the_time_of_a_call_that_is_run_again_counts),
        TEST(a_settlement_has_its_time),
        TEST(a_settlement_is_no_older_than_its_call_whatever_the_worker_says),
        TEST(a_batch_that_is_never_settled_has_its_time_too),
        TEST(a_call_of_a_worker_that_was_ended_for_it_is_not_run_again),
        TEST(a_call_that_is_run_again_begins_to_wait_anew),
        TEST(workers_that_die_while_they_open_count_only_in_a_row),
        TEST(the_worker_that_opened_a_closed_service_gets_the_next_call),
        TEST(calls_behind_the_last_one_of_a_worker_do_not_wait_for_its_end),
        TEST(a_call_is_moved_as_often_as_workers_of_others_die),
        TEST(an_answer_does_not_take_for_ever),
        TEST(time_in_which_a_stream_is_held_is_not_counted),
        TEST(a_worker_is_not_held_any_more_when_its_call_is_over),
        TEST(answers_of_many_workers_are_passed_on_in_several_turns),
        TEST(only_calls_that_are_settled_wait_for_it),
        TEST(a_call_that_was_perhaps_settled_is_never_told_to_try_again),
        TEST(a_stream_that_has_begun_to_leave_is_not_begun_again),
        TEST(a_call_that_was_rolled_back_at_its_timeout_is_worth_repeating),
        TEST(the_keepers_word_may_come_before_or_after_the_end_of_the_connection),
        TEST(the_end_of_an_idle_worker_is_looked_after_soon),
        TEST(a_worker_that_is_ended_is_awaited_for_so_long),
        TEST(a_keeper_that_says_nothing_of_a_worker_is_not_awaited_for_ever),
        TEST(an_answer_that_a_dead_worker_had_sent_counts),
        TEST(an_answer_counts_that_is_not_read_yet_when_the_keeper_tells_of_the_end),
        TEST(an_address_is_as_long_as_may_be_and_not_one_byte_more),
        TEST(an_answer_may_come_byte_by_byte),
        TEST(what_is_told_of_a_dead_worker_has_its_stack_and_not_ours),
        TEST(a_death_is_told_without_memory),
        TEST(last_words_that_make_no_sense_do_no_harm),
        TEST(only_a_call_that_changes_nothing_is_worth_repeating_after_a_timeout),
        TEST(a_worker_that_was_refused_is_asked_for_again_later),
        TEST(a_worker_is_asked_for_again_if_the_keeper_does_not_answer),
        TEST(idle_workers_are_put_away_but_not_the_last_and_not_one_that_is_alone),
        TEST(the_last_places_are_for_those_who_have_few),
        TEST(handlers_run_in_this_process_if_that_is_wanted),
        TEST(a_frame_that_is_none_ends_its_worker),
        TEST(a_worker_that_opens_in_no_known_way_is_ended),
        TEST(a_worker_without_its_page_is_none),
        TEST(a_worker_that_has_lost_its_service_is_ended_with_what_it_runs),
        TEST(a_frame_is_as_long_as_may_be_and_not_one_byte_more),
        TEST(an_outcome_is_checked_at_its_bounds),
        TEST(a_log_message_has_a_level_that_exists),
        TEST(flags_that_do_not_exist_are_refused),
        TEST(a_failure_comes_in_one_of_three_ways),
        TEST(a_call_arrives_with_all_that_it_has),
        TEST(text_in_a_frame_has_no_byte_that_would_end_it),
        TEST(an_answer_arrives_with_all_that_it_has),
        TEST(an_answer_without_memory_is_never_a_part_of_it),
        TEST(progress_arrives_with_words_or_without),
        TEST(an_identity_is_as_long_as_may_be_and_not_one_byte_more),
        TEST(a_frame_that_there_is_no_memory_for_is_not_begun),
    };
    return RUN(tests);
}
