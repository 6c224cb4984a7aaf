/*
 * A runner whose keeper and foreign programs are played by the test itself, so that each message
 * comes at the moment that is meant. Real programs are in tests/worker/foreign_test.c.
 */
#ifndef MISHAP_FAKE_PROGRAM_H
#define MISHAP_FAKE_PROGRAM_H

#include "testing.h"

#include <errno.h>
#include <signal.h>

#include "fake_keeper.h"
#include "mishap/inside.h"
#include "mishap/worker.h"
#include "runs.h"
#include "worker/loop/inside.h"

static mishap_foreign_code code = { .raises = MISHAP_RAISES(RUNTIME_ERROR), .type = "Error" };
static mishap_foreign pool = { .program = "/none", .grace_ms = 1 },
                      coded = { .program = "/none", .grace_ms = 60000, .code = &code },
                      kept = { .program = "/none", .grace_ms = 60000, .sessions = true };
static int ended_status; /* as the latest program that was told of ended */

static inline mishap *tell_end(const mishap_foreign_end *end)
{
    ended_status = end->status;
    return end->timed_out ? mishap_raise(TIMEOUT, "It took %d ms.", end->limit_ms)
                          : mishap_raise(RUNTIME_ERROR, "It has ended.");
}

static mishap_foreign timed = { .program = "/none",
                                .grace_ms = 60000,
                                .limit_param = "seconds",
                                .untimed = true,
                                .ended = tell_end };
static const mishap_service service_timed = { "timed", .worker = &timed };
static const mishap_service service_pool = { "pool", .worker = &pool },
                            service_coded = { "coded", .worker = &coded },
                            service_kept = { "kept", .worker = &kept };
static const mishap_operation operations[] = {
    { "pool.run", "Run", .run = mishap_foreign_run, .service = &service_pool,
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { "coded.run", "Run", .run = mishap_foreign_run, .service = &service_coded,
      .raises = MISHAP_RAISES(RUNTIME_ERROR) },
    { "timed.run", "Run", .run = mishap_foreign_run, .service = &service_timed,
      .raises = MISHAP_RAISES(RUNTIME_ERROR),
      .params = MISHAP_PARAMS({ "seconds", MISHAP_NUMBER, .required = true }) },
    { "kept.run", "Run", .run = mishap_foreign_run, .service = &service_kept,
      .raises = MISHAP_RAISES(NOT_FOUND),
      .params = MISHAP_PARAMS({ "by", MISHAP_INTEGER, .initial = "1" }, MISHAP_SESSION_PARAM),
      .answers = MISHAP_PARAMS({ "n", MISHAP_INTEGER, .help = "Sum" }, MISHAP_SESSION_ANSWER) },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

/* Long enough that none of them passes. */
static const mishap_runner_times patient = { .wait_ms = 60000,
                                             .begin_ms = 60000,
                                             .answer_ms = 60000,
                                             .start_ms = 60000,
                                             .retry_ms = 60000,
                                             .gone_ms = 60000,
                                             .lost_ms = 60000,
                                             .idle_ms = 60000,
                                             .open_ms = 60000,
                                             .settle_ms = 60000 };
static mishap_keeper_plan plan = { .app = &app };
static mishap_runner *runner;
static int keeper;
static size_t mappings; /* before there was a runner */

static inline void open_runner_with(const mishap_runner_times *times)
{
    mappings = shared_mappings();
    assert_null(mishap_worker_groups_make(&app, &plan.groups));
    mishap_runner_settings settings = { .plan = &plan,
                                        .keeper = fake_keeper_open(&keeper),
                                        .handlers = 4,
                                        .most_waiting = 100,
                                        .most_of_one = 50,
                                        .orphaned = count_orphan,
                                        .times = times };
    assert_null(mishap_runner_open(&settings, &runner));
    orphans = 0;
}

static inline void open_runner(void)
{
    open_runner_with(&patient);
}

static inline void close_runner(void)
{
    mishap_runner_close(runner);
    close(keeper);
    assert_int_equal(shared_mappings(), mappings); /* nothing of it is left */
}

static inline void turn(void)
{
    mishap_runner_flush(runner);
    mishap_runner_turn(runner);
}

static inline void begin_call(struct ours *o, const char *name, const char *arguments)
{
    begin_run(o, &app, name, arguments);
    o->run.call->limit_ms = 60000;
    o->run.call->owner = 1;
    o->run.call->watcher = &o->watcher;
}

/* The call is counted for this caller. */
static inline void add_for(struct ours *o, const char *name, const char *arguments, uint64_t holder)
{
    begin_call(o, name, arguments);
    o->run.call->holder = holder;
    assert_true(mishap_runner_add(runner, &o->run));
    turn();
}

static inline void add_to_conversation(struct ours *o, const char *name, mishap_text conversation)
{
    begin_call(o, name, "{}");
    o->run.call->conversation = conversation;
    assert_true(mishap_runner_add(runner, &o->run));
    turn();
}

static inline void add(struct ours *o, const char *name, const char *arguments)
{
    add_for(o, name, arguments, 0);
}

/* Has the runner said this to its keeper? What else it says is passed over. */
static inline bool says(mishap_keeper_word word, mishap_keeper_message *message)
{
    turn();
    while (fake_keeper_hears(keeper, message))
        if (message->word == word)
            return true;
    return false;
}

static inline mishap_keeper_message hear(mishap_keeper_word word)
{
    mishap_keeper_message message;
    int64_t until = long_after();
    while (!says(word, &message)) {
        assert_true(mishap_clock_monotonic_ns() < until);
        usleep(1000);
    }
    return message;
}

static inline void hear_no(mishap_keeper_word word)
{
    mishap_keeper_message message;
    assert_false(says(word, &message));
}

/* -- a program --------------------------------------------------------------------------------- */

enum { WORKER = 7 };

static int program; /* its end of the connection */

static inline void say(const char *packet)
{
    size_t length = strlen(packet);
    MUST(send(program, packet, length, MSG_NOSIGNAL) == (ssize_t)length);
    turn();
}

/* The runner asks for a program, which is ready. */
static inline void start(mishap_keeper_word asked)
{
    mishap_keeper_message message = hear(asked);
    message.worker = WORKER;
    program = fake_program_start(keeper, message);
    turn();
    say("={\"ready\":1}");
    turn();
}

static inline const char *heard(void)
{
    static char packet[MISHAP_PACKET + 1];
    turn();
    ssize_t count = recv(program, packet, MISHAP_PACKET, MSG_DONTWAIT);
    packet[count > 0 ? count : 0] = '\0';
    return packet;
}

/* Take the call that has come. */
static inline unsigned take_call(void)
{
    unsigned id = 0;
    assert_int_equal(sscanf(heard(), "={\"id\":%u", &id), 1);
    return id;
}

/* A message about a call, the rest of which is given. */
static inline void say_of(unsigned id, const char *members)
{
    char packet[2000];
    snprintf(packet, sizeof packet, "={\"id\":%u,%s}", id, members);
    say(packet);
}

static inline void end_program(int status)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_ENDED,
                                      .worker = WORKER,
                                      .status = status };
    MUST(mishap_keeper_send(keeper, &message, NULL, 0));
    turn();
    close(program);
}

static inline void is_answered(struct ours *o)
{
    assert_true(o->done);
    assert_null(o->failure);
    let_go(o);
}

static inline const char *warnings_of(const struct ours *o)
{
    static char room[400];
    mishap_text text = mishap_call_warnings(o->run.call);
    snprintf(room, sizeof room, "%.*s", (int)text.length, text.data ? text.data : "");
    return room;
}

#endif
