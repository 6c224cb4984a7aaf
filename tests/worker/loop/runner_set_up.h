/*
 * A runner whose keeper and workers are played by the test itself, so that each message comes at
 * the moment that is meant.
 */
#ifndef MISHAP_RUNNER_SET_UP_H
#define MISHAP_RUNNER_SET_UP_H

#include "testing.h"

#include "fake_keeper.h"
#include "runs.h"

mishap *do_run(mishap_call *call);

static int ran;

mishap *do_run(mishap_call *call)
{
    ran++;
    return mishap_answer_member(call, "ran", ran);
}

static const mishap_service store = { "store", .summary = "Something to open" };

static inline mishap *settle_nothing(void *state)
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

static inline void open_set(struct set *s, size_t handlers, size_t most,
                            const mishap_runner_times *times)
{
    *s = (struct set){ .plan = { .app = &app } };
    assert_null(mishap_worker_groups_make(&app, &s->plan.groups));
    mishap_runner_settings settings = { .plan = &s->plan,
                                        .keeper = fake_keeper_open(&s->keeper),
                                        .handlers = handlers,
                                        .most_waiting = most,
                                        .orphaned = count_orphan,
                                        .times = times };
    assert_null(mishap_runner_open(&settings, &s->runner));
    orphans = 0;
}

static inline void close_set(struct set *s)
{
    mishap_runner_close(s->runner);
    close(s->keeper);
}

/* With its own limit, which is short: for what happens when that is over. */
static inline bool add_limited(const struct set *s, struct ours *o, const char *name)
{
    begin_run(o, &app, name, "{}");
    if (!o->run.call->operation->timeout_ms)
        o->run.call->limit_ms = 0;
    return mishap_runner_add(s->runner, &o->run);
}

/* … or so long that it is not over meanwhile, however busy the machine. */
static inline bool add(const struct set *s, struct ours *o, const char *name)
{
    bool added = add_limited(s, o, name);
    if (o->run.call && o->run.call->limit_ms)
        o->run.call->limit_ms = 60000;
    return added;
}

/* Let time pass, as a loop does. */
static inline void turn_for(const struct set *s, int ms)
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

static inline void turn_until(const struct set *s, const struct ours *o)
{
    int64_t until = long_after();
    while (!o->done && mishap_clock_monotonic_ns() < until)
        turn_for(s, 10);
    assert_true(o->done);
}

static inline void turn(const struct set *s)
{
    mishap_runner_flush(s->runner);
    mishap_runner_turn(s->runner);
}

/* Let time pass until the runner has said this to its keeper. */
static inline mishap_keeper_message hear(const struct set *s, mishap_keeper_word word,
                                         int within_ms)
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
static inline mishap_keeper_message hear_after(const struct set *s, mishap_keeper_word word,
                                               int64_t since, int least_ms)
{
    mishap_keeper_message message = hear(s, word, 60000);
    assert_true(mishap_clock_monotonic_ns() - since >= least_ms * INT64_C(1000000));
    return message;
}

static inline void hear_nothing(const struct set *s)
{
    mishap_keeper_message message;
    assert_false(fake_keeper_hears(s->keeper, &message));
}

/* The runner asks for a worker, and gets it. */
static inline void start(struct set *s, struct fake_worker *w)
{
    mishap_keeper_message asked = hear(s, MISHAP_KEEPER_START, 60000);
    fake_worker_start(s->keeper, &asked, w, ++s->workers);
    turn(s);
}

/* One handler, a call, and the worker that is to run it. */
static inline void begin_one(struct set *s, struct ours *o, struct fake_worker *w, const char *name)
{
    open_set(s, 1, 100, &patient);
    assert_true(add(s, o, name));
    start(s, w);
}

static inline void end_one(struct set *s, struct ours *o, struct fake_worker *w)
{
    let_go(o);
    fake_worker_release(w);
    close_set(s);
}

static inline mishap_slot_state state_of(const struct fake_worker *w, unsigned slot)
{
    return (mishap_slot_state)(atomic_load(&w->page->slots[slot]) & 7);
}

static inline unsigned handed(const struct fake_worker *w)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MISHAP_SLOTS; i++)
        count += state_of(w, i) == MISHAP_SLOT_HANDED;
    return count;
}

static inline uint32_t begin_next(struct fake_worker *w, unsigned expected)
{
    unsigned slot = 0;
    mishap_frame_call asked;
    do /* what was taken back comes all the same */
        assert_true(fake_worker_takes(w, &slot, &asked));
    while (!fake_worker_begins(w, slot, asked.number));
    assert_int_equal(slot, expected);
    return asked.number;
}

static inline void run_next(struct fake_worker *w, unsigned expected)
{
    fake_worker_answers(w, expected, begin_next(w, expected));
}

/* The worker dies and the keeper says so. */
static inline void die(const struct set *s, struct fake_worker *w)
{
    fake_worker_close(w);
    fake_worker_ended(s->keeper, w, SIGSEGV);
    turn(s);
    turn(s);
}

/* It was told to open its service, and nothing else. */
static inline void take_open(const struct fake_worker *w)
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

static inline void say_opened(const struct set *s, const struct fake_worker *w, mishap *failure)
{
    mishap_buffer out = { 0 };
    mishap_frame_put_opened(&out, "", failure);
    fake_worker_sends(w, out.data, out.length);
    mishap_buffer_release(&out);
    mishap_free(failure);
    turn(s);
    turn(s);
}

static inline void start_settled(struct set *s, struct fake_worker *w)
{
    start(s, w);
    take_open(w);
    say_opened(s, w, NULL);
    turn(s);
}

static inline void die_of(const struct set *s, struct fake_worker *w, int signal)
{
    fake_worker_close(w);
    fake_worker_ended(s->keeper, w, signal);
    turn(s);
    turn(s);
}

#endif
