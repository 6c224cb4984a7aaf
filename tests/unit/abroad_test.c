/*
 * A runner whose keeper and foreign programs are the test itself: what a program may say, how much,
 * and when; and what becomes of its session. Real programs are in foreign_test.c.
 */
#include "testing.h"

#include <errno.h>
#include <signal.h>

#include "fake_keeper.h"
#include "mishap/inside.h"
#include "mishap/worker.h"
#include "worker/inside.h"

static const mishap_foreign_code code = { .raises = MISHAP_RAISES(RUNTIME_ERROR), .type = "Error" };
static mishap_foreign pool = { .program = "/none", .grace_ms = 1 },
                      coded = { .program = "/none", .grace_ms = 60000, .code = &code },
                      kept = { .program = "/none", .grace_ms = 60000, .sessions = true };
static const mishap_service service_pool = { "pool", .worker = &pool },
                            service_coded = { "coded", .worker = &coded },
                            service_kept = { "kept", .worker = &kept };
static const mishap_operation operations[] = {
    { "pool.run", "Run", .run = mishap_foreign_run, .service = &service_pool,
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { "coded.run", "Run", .run = mishap_foreign_run, .service = &service_coded,
      .raises = MISHAP_RAISES(RUNTIME_ERROR) },
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

struct ours {
    mishap_run run;
    bool done;
    mishap *failure;
    mishap_watcher watcher;
};

static void open_runner(void)
{
    assert_null(mishap_worker_groups_make(&app, &plan.groups));
    mishap_runner_settings settings = { .plan = &plan,
                                        .keeper = fake_keeper_open(&keeper),
                                        .handlers = 4,
                                        .most_waiting = 100,
                                        .times = &patient };
    assert_null(mishap_runner_open(&settings, &runner));
}

static void close_runner(void)
{
    mishap_runner_close(runner);
    close(keeper);
}

static void turn(void)
{
    mishap_runner_flush(runner);
    mishap_runner_turn(runner);
}

static void on_done(mishap_run *run, mishap *failure)
{
    struct ours *o = (struct ours *)(void *)run;
    assert_false(o->done);
    o->done = true;
    o->failure = failure;
}

static void add(struct ours *o, const char *name, const char *arguments)
{
    const mishap_operation *operation = mishap_operation_find(&app, mishap_text_of(name));
    *o = (struct ours){ .run = { .done = on_done, .incident = "an-incident" } };
    assert_null(mishap_call_begin(&app, operation, mishap_text_of(arguments), &o->run.call));
    o->run.call->limit_ms = 60000;
    o->run.call->owner = 1;
    o->run.call->watcher = &o->watcher;
    assert_true(mishap_runner_add(runner, &o->run));
    turn();
}

static void let_go(struct ours *o)
{
    mishap_free(o->failure);
    mishap_call_end(o->run.call);
    *o = (struct ours){ 0 };
}

/* Has the runner said this to its keeper? What else it says is passed over. */
static bool says(mishap_keeper_word word, mishap_keeper_message *message)
{
    turn();
    while (fake_keeper_hears(keeper, message))
        if (message->word == word)
            return true;
    return false;
}

static mishap_keeper_message hear(mishap_keeper_word word)
{
    mishap_keeper_message message;
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    while (!says(word, &message)) {
        assert_true(mishap_clock_monotonic_ns() < until);
        usleep(1000);
    }
    return message;
}

static void hear_no(mishap_keeper_word word)
{
    mishap_keeper_message message;
    assert_false(says(word, &message));
}

/* -- a program --------------------------------------------------------------------------------- */

enum { WORKER = 7 };

static int program; /* its end of the connection */

static void say(const char *packet)
{
    size_t length = strlen(packet);
    MUST(send(program, packet, length, MSG_NOSIGNAL) == (ssize_t)length);
    turn();
}

/* The runner asks for a program, which is ready. */
static void start(mishap_keeper_word asked)
{
    mishap_keeper_message message = hear(asked);
    message.worker = WORKER;
    program = fake_program_start(keeper, message);
    turn();
    say("={\"ready\":1}");
    turn();
}

static const char *heard(void)
{
    static char packet[MISHAP_PACKET + 1];
    turn();
    ssize_t count = recv(program, packet, MISHAP_PACKET, MSG_DONTWAIT);
    packet[count > 0 ? count : 0] = '\0';
    return packet;
}

/* Take the call that has come. */
static unsigned take_call(void)
{
    unsigned id = 0;
    assert_int_equal(sscanf(heard(), "={\"id\":%u", &id), 1);
    return id;
}

/* A message about a call, the rest of which is given. */
static void say_of(unsigned id, const char *members)
{
    char packet[2000];
    snprintf(packet, sizeof packet, "={\"id\":%u,%s}", id, members);
    say(packet);
}

static void end_program(int status)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_ENDED,
                                      .worker = WORKER,
                                      .status = status };
    MUST(mishap_keeper_send(keeper, &message, NULL, 0));
    turn();
    close(program);
}

static void is_answered(struct ours *o)
{
    assert_true(o->done);
    assert_null(o->failure);
    let_go(o);
}

static void expect_words(const struct ours *o, const mishap_code *expected, const char *words)
{
    mishap_buffer account = { 0 };
    assert_true(o->done);
    assert_non_null(o->failure);
    assert_ptr_equal(mishap_told(o->failure)->code, expected);
    mishap_account(o->failure, &account);
    mishap_buffer_put_char(&account, '\0');
    if (!strstr(account.data, words))
        fail_msg("%s", account.data);
    mishap_buffer_release(&account);
}

/* -- what it says ------------------------------------------------------------------------------ */

static void a_program_says_once_that_it_is_ready(void **state)
{
    struct ours o;
    (void)state;
    open_runner();
    add(&o, "pool.run", "{}");
    start(MISHAP_KEEPER_START);
    take_call();
    hear_no(MISHAP_KEEPER_END);
    say("={\"ready\":1}");
    hear(MISHAP_KEEPER_END);
    end_program(SIGKILL);
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "that it is ready, though it was");
    let_go(&o);
    close_runner();
}

/* What it says of a call that is over comes too late. It is no lie, but it is counted until its
 * next call. */
static void messages_of_no_call_have_a_limit(void **state)
{
    enum { MOST = 1000 };
    static char long_packet[8192 * 3 + 100];
    struct ours o;
    unsigned id = 0;
    (void)state;
    open_runner();
    add(&o, "pool.run", "{}");
    start(MISHAP_KEEPER_START);
    for (int i = 0; i < 2; i++) {
        id = take_call();
        say_of(id, "\"answer\":{}");
        is_answered(&o);
        for (int k = 0; k < MOST - 10; k++)
            say_of(id, "\"log\":\"info\",\"words\":\"late\"");
        hear_no(MISHAP_KEEPER_END);
        add(&o, "pool.run", "{}");
    }
    id = take_call();
    say_of(id, "\"answer\":{}");
    is_answered(&o);
    for (int i = 0; i < MOST - 4; i++)
        say_of(id, "\"answer\":{}");
    snprintf(long_packet, sizeof long_packet,
             "={\"id\":%u,\"log\":\"info\",\"words\":\"%024576d\"}", id, 0);
    say(long_packet); /* which is as much as four */
    hear_no(MISHAP_KEEPER_END);
    say("-x"); /* the end of a message whose beginning nobody knows */
    hear(MISHAP_KEEPER_END);
    end_program(SIGKILL);
    close_runner();
}

/* While it may be code that writes, nothing but the end of the call counts. */
static void what_code_sends_beside_its_outcome_has_a_limit(void **state)
{
    enum { MOST = 1000 };
    static const char *const packets[] = {
        "=nothing",      "<{", "?", "={\"id\":1,\"begins\":true}", "={\"id\":9,\"answer\":{}}",
        "={\"ready\":1}"
    };
    (void)state;
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        struct ours o;
        open_runner();
        add(&o, "coded.run", "{}");
        start(MISHAP_KEEPER_START);
        unsigned id = take_call();
        say_of(id, "\"begins\":true");
        for (int k = 0; k < MOST; k++)
            say(packets[i]);
        hear_no(MISHAP_KEEPER_END);
        say(packets[i]);
        hear(MISHAP_KEEPER_END);
        end_program(SIGKILL);
        expect_words(&o, MISHAP_CODE_RUNTIME_ERROR, "too much that is of no call");
        let_go(&o);
        close_runner();
    }
}

static size_t lines, other_lines;

static void on_line(const char *name, const char *operation, const char *id, mishap_text words,
                    bool to_stderr)
{
    (void)name, (void)operation, (void)to_stderr;
    assert_string_equal(id, "an-id");
    if (words.length == 1000)
        lines++;
    else
        other_lines += mishap_text_equal(words, T("It says more than is kept of one call."));
}

/* 64 KB of each. */
static void so_much_is_kept_of_what_a_call_tells_the_operator(void **state)
{
    char members[1100];
    struct ours o;
    (void)state;
    open_runner();
    snprintf(members, sizeof members, "\"log\":\"operator\",\"words\":\"%01000d\"", 0);
    for (int i = 0; i < 2; i++) {
        lines = other_lines = 0;
        add(&o, "pool.run", "{}");
        o.run.call->to_operator = on_line;
        o.run.call->request_id = T("an-id");
        if (i == 0)
            start(MISHAP_KEEPER_START);
        unsigned id = take_call();
        for (int k = 0; k < 200; k++)
            say_of(id, members);
        assert_int_equal(lines, 65);
        assert_int_equal(other_lines, 1);
        say_of(id, "\"answer\":{}");
        is_answered(&o);
    }
    close_runner();
    close(program);
}

/* -- the end of a program ---------------------------------------------------------------------- */

/* What became of the call is decided already. */
static void an_answer_of_a_program_that_is_being_killed_does_not_count(void **state)
{
    struct ours o;
    (void)state;
    open_runner();
    add(&o, "pool.run", "{}");
    o.run.call->limit_ms = 1;
    start(MISHAP_KEEPER_START);
    unsigned id = take_call();
    hear(MISHAP_KEEPER_INTERRUPT);
    hear(MISHAP_KEEPER_END);
    say_of(id, "\"answer\":{}");
    assert_false(o.done);
    end_program(SIGKILL);
    expect_words(&o, MISHAP_CODE_TIMEOUT, "while it had the call");
    let_go(&o);
    close_runner();
}

static int reports;

/* It has gone on meanwhile. */
static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    static const char again[] = "={\"id\":1,\"progress\":1}";
    (void)watcher, (void)done, (void)total, (void)words;
    if (++reports < 5000)
        MUST(send(program, again, sizeof again - 1, MSG_NOSIGNAL) == sizeof again - 1);
}

static void what_a_dead_program_had_sent_is_read_but_not_without_end(void **state)
{
    struct ours o;
    (void)state;
    open_runner();
    reports = 0;
    add(&o, "pool.run", "{}");
    o.watcher.progress = on_progress;
    start(MISHAP_KEEPER_START);
    assert_int_equal(take_call(), 1);
    mishap_keeper_message ended = { .word = MISHAP_KEEPER_ENDED, .worker = WORKER, .status = 9 };
    MUST(mishap_keeper_send(keeper, &ended, NULL, 0));
    say_of(1, "\"progress\":1");
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "was killed with SIGKILL");
    assert_in_range(reports, 10, 310); /* what a socket can hold */
    let_go(&o);
    close(program);
    close_runner();
}

/* -- sessions ---------------------------------------------------------------------------------- */

/* The answer of the program, and the session that it was given. */
static void answer_is(const struct ours *o, int n, const char *session)
{
    char expected[200];
    mishap_answer_kind kind;
    assert_true(o->done);
    assert_null(o->failure);
    snprintf(expected, sizeof expected, "{\"n\":%d,\"session\":\"%s\"}", n, session);
    mishap_text text = mishap_call_answer(o->run.call, &kind);
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.data, expected, text.length);
}

static const char *in_session(const char *session)
{
    static char arguments[100];
    snprintf(arguments, sizeof arguments, "{\"session\":\"%s\"}", session);
    return arguments;
}

/* It neither learns its handle nor may it name another. */
static void a_program_has_no_say_in_which_session_it_is(void **state)
{
    struct ours first, o;
    (void)state;
    open_runner();
    add(&first, "kept.run", "{}");
    start(MISHAP_KEEPER_LEASE);
    unsigned id = take_call();
    say_of(id, "\"answer\":{\"n\":1,\"session\":\"0\"}");
    const char *session = first.run.call->session_is;
    answer_is(&first, 1, session);
    add(&o, "kept.run", in_session(session));
    const char *call = heard();
    assert_null(strstr(call, "session"));
    assert_int_equal(sscanf(call, "={\"id\":%u", &id), 1);
    say_of(id, "\"failure\":{\"code\":\"NOT_FOUND\",\"message\":\"No.\",\"context\":{\"session\":"
               "\"0\",\"at\":3}}");
    expect_words(&o, MISHAP_CODE_NOT_FOUND, "");
    const mishap_member *told = mishap_public_member(mishap_told(o.failure), "session");
    assert_non_null(told);
    assert_int_equal(told->value.text.length, strlen(session));
    assert_memory_equal(told->value.text.data, session, strlen(session));
    assert_non_null(mishap_public_member(mishap_told(o.failure), "at"));
    let_go(&o);
    let_go(&first);
    close_runner();
    close(program);
}

/* The keeper's word may be about a process that the session had before. */
static void only_the_process_that_is_recalled_is_given_back(void **state)
{
    struct ours first, o;
    (void)state;
    open_runner();
    add(&first, "kept.run", "{}");
    mishap_keeper_message recall = hear(MISHAP_KEEPER_LEASE);
    recall.worker = WORKER;
    program = fake_program_start(keeper, recall);
    recall.word = MISHAP_KEEPER_RECALL;
    turn();
    say("={\"ready\":1}");
    say_of(take_call(), "\"answer\":{\"n\":1}");
    recall.worker = WORKER - 1;
    MUST(mishap_keeper_send(keeper, &recall, NULL, 0));
    hear_no(MISHAP_KEEPER_RELEASE);
    mishap_keeper_message wrong = recall;
    wrong.worker = WORKER;
    wrong.group = MISHAP_WORKER_GROUPS;
    MUST(mishap_keeper_send(keeper, &wrong, NULL, 0));
    wrong.group = recall.group;
    wrong.session[0]++;
    MUST(mishap_keeper_send(keeper, &wrong, NULL, 0));
    hear_no(MISHAP_KEEPER_RELEASE);
    add(&o, "kept.run", in_session(first.run.call->session_is)); /* it is as before */
    unsigned id = take_call();
    recall.worker = WORKER;
    MUST(mishap_keeper_send(keeper, &recall, NULL, 0));
    hear_no(MISHAP_KEEPER_RELEASE); /* before its call is over */
    say_of(id, "\"answer\":{\"n\":2}");
    mishap_keeper_message released = hear(MISHAP_KEEPER_RELEASE);
    assert_int_equal(released.worker, WORKER);
    assert_memory_equal(released.session, recall.session, sizeof recall.session);
    is_answered(&o);
    let_go(&first);
    close_runner();
    close(program);
}

static void a_session_that_rests_is_given_back_at_once(void **state)
{
    struct ours o;
    (void)state;
    open_runner();
    add(&o, "kept.run", "{}");
    mishap_keeper_message recall = hear(MISHAP_KEEPER_LEASE);
    recall.worker = WORKER;
    program = fake_program_start(keeper, recall);
    turn();
    say("={\"ready\":1}");
    say_of(take_call(), "\"answer\":{\"n\":1}");
    is_answered(&o);
    recall.word = MISHAP_KEEPER_RECALL;
    MUST(mishap_keeper_send(keeper, &recall, NULL, 0));
    hear(MISHAP_KEEPER_RELEASE);
    close_runner();
    close(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_program_says_once_that_it_is_ready),
        TEST(messages_of_no_call_have_a_limit),
        TEST(what_code_sends_beside_its_outcome_has_a_limit),
        TEST(so_much_is_kept_of_what_a_call_tells_the_operator),
        TEST(an_answer_of_a_program_that_is_being_killed_does_not_count),
        TEST(what_a_dead_program_had_sent_is_read_but_not_without_end),
        TEST(a_program_has_no_say_in_which_session_it_is),
        TEST(only_the_process_that_is_recalled_is_given_back),
        TEST(a_session_that_rests_is_given_back_at_once),
    };
    return RUN(tests);
}
