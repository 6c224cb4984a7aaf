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

static mishap_foreign_code code = { .raises = MISHAP_RAISES(RUNTIME_ERROR), .type = "Error" };
static mishap_foreign pool = { .program = "/none", .grace_ms = 1 },
                      coded = { .program = "/none", .grace_ms = 60000, .code = &code },
                      kept = { .program = "/none", .grace_ms = 60000, .sessions = true };
static mishap *tell_end(const mishap_foreign_end *end)
{
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

struct ours {
    mishap_run run;
    bool done;
    mishap *failure;
    mishap_watcher watcher;
};

static int orphans;

static void on_orphan(void *state, const mishap_call *call, const char *incident, mishap *failure)
{
    (void)state, (void)call;
    assert_string_equal(incident, "an-incident");
    orphans++;
    mishap_free(failure);
}

static void open_runner_with(const mishap_runner_times *times)
{
    assert_null(mishap_worker_groups_make(&app, &plan.groups));
    mishap_runner_settings settings = { .plan = &plan,
                                        .keeper = fake_keeper_open(&keeper),
                                        .handlers = 4,
                                        .most_waiting = 100,
                                        .most_of_one = 50,
                                        .orphaned = on_orphan,
                                        .times = times };
    assert_null(mishap_runner_open(&settings, &runner));
    orphans = 0;
}

static void open_runner(void)
{
    open_runner_with(&patient);
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

/* The call is counted for this caller. */
static void add_for(struct ours *o, const char *name, const char *arguments, uint64_t holder)
{
    const mishap_operation *operation = mishap_operation_find(&app, mishap_text_of(name));
    *o = (struct ours){ .run = { .done = on_done, .incident = "an-incident" } };
    assert_null(mishap_call_begin(&app, operation, mishap_text_of(arguments), &o->run.call));
    o->run.call->limit_ms = 60000;
    o->run.call->owner = 1;
    o->run.call->holder = holder;
    o->run.call->watcher = &o->watcher;
    assert_true(mishap_runner_add(runner, &o->run));
    turn();
}

static void add(struct ours *o, const char *name, const char *arguments)
{
    add_for(o, name, arguments, 0);
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

/* What it died of, as far as its keeper says so. */
static void the_end_of_a_program_is_told(void **state)
{
    static const struct {
        int status;
        uint8_t exceeded;
        const char *output, *words[2];
    } rows[] = {
        { SIGKILL, 0, "", { "was killed with SIGKILL", "" } },
        { 7 << 8, 0, "last words", { "ended with status 7", "last words" } },
        { SIGKILL, MISHAP_EXCESS_MEMORY, "", { "had more memory than it may", "exceeded" } },
        { SIGKILL, UINT8_MAX, "", { "was killed with SIGKILL", "" } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ours o;
        mishap_keeper_message ended = { .word = MISHAP_KEEPER_ENDED,
                                        .worker = WORKER,
                                        .status = rows[i].status,
                                        .exceeded = rows[i].exceeded,
                                        .output_bytes = (uint32_t)strlen(rows[i].output) };
        memcpy(ended.output, rows[i].output, ended.output_bytes);
        open_runner();
        add(&o, "pool.run", "{}");
        start(MISHAP_KEEPER_START);
        take_call();
        MUST(mishap_keeper_send(keeper, &ended, NULL, 0));
        turn();
        for (size_t k = 0; k < 2; k++)
            expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, rows[i].words[k]);
        let_go(&o);
        close_runner();
        close(program);
    }
}

static void a_program_of_which_the_keeper_says_nothing_was_lost(void **state)
{
    mishap_runner_times hasty = patient;
    struct ours o;
    (void)state;
    hasty.gone_ms = hasty.lost_ms = 1;
    open_runner_with(&hasty);
    add(&o, "pool.run", "{}");
    start(MISHAP_KEEPER_START);
    take_call();
    close(program);
    hear(MISHAP_KEEPER_END);
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    while (!o.done && mishap_clock_monotonic_ns() < until)
        turn();
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "was lost");
    let_go(&o);
    close_runner();
}

/* A line of the log has no control characters, whatever the program wrote. */
static void the_end_of_an_idle_program_is_a_line_of_the_log(void **state)
{
    static const char expected[] =
        "sample: a process of the service pool ended with status 3: a b  c\n";
    mishap_keeper_message ended = { .word = MISHAP_KEEPER_ENDED,
                                    .worker = WORKER,
                                    .status = 3 << 8,
                                    .output = "a\nb\x1B\x7F"
                                              "c",
                                    .output_bytes = 6 };
    char line[400] = "";
    struct ours o;
    (void)state;
    open_runner();
    add(&o, "pool.run", "{}");
    start(MISHAP_KEEPER_START);
    say_of(take_call(), "\"answer\":{}");
    is_answered(&o);
    int kept_stderr = dup(STDERR_FILENO), log = memfd_create("log", MFD_CLOEXEC);
    MUST(kept_stderr >= 0 && log >= 0 && dup2(log, STDERR_FILENO) >= 0);
    MUST(mishap_keeper_send(keeper, &ended, NULL, 0));
    turn();
    MUST(dup2(kept_stderr, STDERR_FILENO) >= 0);
    close(kept_stderr);
    assert_true(pread(log, line, sizeof line - 1, 0) > 0);
    close(log);
    assert_string_equal(line, expected);
    close_runner();
    close(program);
}

/* A program that keeps no time says that it was told to stop. The server knows why. */
static void the_time_that_a_call_asked_for_is_kept_for_the_program(void **state)
{
    static const struct {
        const char *said;
        const mishap_code *code;
        const char *words;
    } rows[] = {
        { "CANCELLED", MISHAP_CODE_TIMEOUT, "It took 1001 ms." },
        { "RUNTIME_ERROR", MISHAP_CODE_RUNTIME_ERROR, "Stopped." },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ours o;
        char members[200];
        open_runner();
        add(&o, "timed.run", "{\"seconds\":0.001}");
        start(MISHAP_KEEPER_START);
        unsigned id = take_call();
        assert_int_equal(o.run.call->limit_ms, 1001);
        hear(MISHAP_KEEPER_INTERRUPT);
        snprintf(members, sizeof members,
                 "\"failure\":{\"code\":\"%s\",\"message\":\"Stopped.\",\"stdout\":\"out\"}",
                 rows[i].said);
        say_of(id, members);
        expect_words(&o, rows[i].code, rows[i].words);
        assert_true(mishap_text_equal(mishap_told(o.failure)->output, T("out")));
        let_go(&o);
        close_runner();
        close(program);
    }
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

static const char *warnings_of(const struct ours *o)
{
    static char room[400];
    mishap_text text = mishap_call_warnings(o->run.call);
    snprintf(room, sizeof room, "%.*s", (int)text.length, text.data ? text.data : "");
    return room;
}

/* With its first call alone, whether that works or fails. */
static void why_a_session_is_not_what_it_was_is_told_once(void **state)
{
    static const struct {
        uint8_t reason;
        const char *words; /* NULL: nothing is said */
    } rows[] = {
        { MISHAP_SESSION_NEW, NULL },
        { MISHAP_SESSION_IDLE, "was idle for too long" },
        { MISHAP_SESSION_DIED, "had ended" },
        { MISHAP_SESSION_LOST, "has lost the session" },
        { MISHAP_SESSION_HEAVY, "held too much memory" },
        { MISHAP_SESSION_LAST_REASON + 1, NULL },
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const char *words = rows[i / 2].words;
        struct ours first, second;
        bool fails = i % 2;
        open_runner();
        add(&first, "kept.run", "{}");
        mishap_keeper_message asked = hear(MISHAP_KEEPER_LEASE);
        asked.worker = WORKER;
        asked.reason = rows[i / 2].reason;
        program = fake_program_start(keeper, asked);
        turn();
        say("={\"ready\":1}");
        say_of(take_call(), fails ? "\"failure\":{\"code\":\"NOT_FOUND\",\"message\":\"No.\"}"
                                  : "\"answer\":{\"n\":1}");
        assert_true(first.done);
        assert_int_equal(first.failure != NULL, fails);
        if (fails) {
            const mishap_member *told = mishap_public_member(mishap_told(first.failure),
                                                             "session_warning");
            assert_int_equal(told != NULL, words != NULL);
            if (words)
                assert_non_null(
                    memmem(told->value.text.data, told->value.text.length, words, strlen(words)));
        } else {
            assert_int_equal(*warnings_of(&first) != '\0', words != NULL);
            assert_non_null(strstr(warnings_of(&first), words ? words : ""));
        }
        add(&second, "kept.run", in_session(first.run.call->session_is));
        say_of(take_call(), "\"answer\":{\"n\":1}");
        assert_string_equal(warnings_of(&second), "");
        is_answered(&second);
        let_go(&first);
        close_runner();
        close(program);
    }
}

/* The keeper knows nothing of a session that has begun: so another keeper had it. */
static void a_session_that_the_keeper_does_not_know_was_lost(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        struct ours first, second;
        open_runner();
        add(&first, "kept.run", "{}");
        start(MISHAP_KEEPER_LEASE);
        say_of(take_call(), "\"answer\":{\"n\":1}");
        end_program(SIGKILL);
        add(&second, "kept.run", in_session(first.run.call->session_is));
        mishap_keeper_message asked = hear(MISHAP_KEEPER_LEASE);
        asked.worker = WORKER;
        asked.known = (uint8_t)known;
        program = fake_program_start(keeper, asked);
        turn();
        say("={\"ready\":1}");
        say_of(take_call(), "\"answer\":{\"n\":1}");
        assert_int_equal(strstr(warnings_of(&second), "has lost the session") != NULL, !known);
        is_answered(&second);
        let_go(&first);
        close_runner();
        close(program);
    }
}

static void refuse(const mishap_keeper_message *asked, int error)
{
    mishap_keeper_message message = *asked;
    message.word = MISHAP_KEEPER_REFUSED;
    message.status = error;
    MUST(mishap_keeper_send(keeper, &message, NULL, 0));
}

/* Of the caller itself if it has its share, else of anybody who did not come back to its own. */
static void a_session_gives_way_if_there_are_too_many(void **state)
{
    static const struct {
        int error;
        uint64_t holder; /* of who comes; 1 has a session that it has not named again */
        bool meek, closes;
    } rows[] = {
        { EUSERS, 1, false, true }, { EUSERS, 2, false, true },
        { EUSERS, 2, true, false }, /* nobody asked for it: it takes no place */
        { EDQUOT, 1, false, true }, { EDQUOT, 2, false, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ours first, o;
        open_runner();
        add_for(&first, "kept.run", "{}", 1);
        mishap_keeper_message asked = hear(MISHAP_KEEPER_LEASE);
        assert_int_equal(asked.holder, 1);
        asked.worker = WORKER;
        program = fake_program_start(keeper, asked);
        turn();
        say("={\"ready\":1}");
        say_of(take_call(), "\"answer\":{\"n\":1}");
        is_answered(&first);
        add_for(&o, "kept.run", "{}", rows[i].holder);
        o.run.meek = rows[i].meek;
        asked = hear(MISHAP_KEEPER_LEASE);
        refuse(&asked, rows[i].error);
        mishap_keeper_message closed;
        assert_int_equal(says(MISHAP_KEEPER_CLOSE, &closed), rows[i].closes);
        if (rows[i].closes) {
            assert_int_equal(closed.worker, WORKER);
            asked = hear(MISHAP_KEEPER_LEASE); /* once more, and no other is ended for it */
            refuse(&asked, rows[i].error);
            hear_no(MISHAP_KEEPER_CLOSE);
        }
        expect_words(&o,
                     rows[i].error == EDQUOT ? MISHAP_CODE_RATE_LIMITED : MISHAP_CODE_UNAVAILABLE,
                     "too many sessions");
        let_go(&o);
        close_runner();
        close(program);
    }
}

/* A process that has ended meanwhile is asked for again at once; one that cannot be started, later.
 * The word about one session is not about another. */
static void a_session_that_was_refused_is_asked_for_again(void **state)
{
    struct ours one, other;
    mishap_keeper_message again;
    (void)state;
    open_runner();
    add(&one, "kept.run", "{}");
    mishap_keeper_message asked = hear(MISHAP_KEEPER_LEASE);
    add(&other, "kept.run", "{}");
    mishap_keeper_message of_other = hear(MISHAP_KEEPER_LEASE);
    assert_memory_not_equal(asked.session, of_other.session, sizeof asked.session);
    refuse(&asked, ECHILD);
    assert_true(says(MISHAP_KEEPER_LEASE, &again));
    assert_memory_equal(again.session, asked.session, sizeof asked.session);
    hear_no(MISHAP_KEEPER_LEASE);
    refuse(&asked, EAGAIN);
    hear_no(MISHAP_KEEPER_LEASE); /* in a minute: `patient` */
    assert_false(one.done || other.done);
    close_runner();
    let_go(&one);
    let_go(&other);
}

/* While others are there, a caller runs long calls in half as many sessions as there are handlers.
 */
static void a_caller_runs_long_calls_in_so_many_sessions(void **state)
{
    enum { SESSIONS = 3 };
    (void)state;
    for (int others = 0; others < 2; others++) {
        struct ours first[SESSIONS], o[SESSIONS], other;
        int programs[SESSIONS];
        open_runner();
        for (size_t i = 0; i < SESSIONS; i++) {
            add_for(&first[i], "kept.run", "{}", 1);
            mishap_keeper_message asked = hear(MISHAP_KEEPER_LEASE);
            asked.worker = (uint32_t)(WORKER + i);
            programs[i] = program = fake_program_start(keeper, asked);
            turn();
            say("={\"ready\":1}");
            say_of(take_call(), "\"answer\":{\"n\":1}");
        }
        if (others) {
            add_for(&other, "kept.run", "{}", 2);
            mishap_runner_forget(runner, &other.run);
        }
        *first[0].run.took_us = 200000;
        for (size_t i = 0; i < SESSIONS; i++)
            add_for(&o[i], "kept.run", in_session(first[i].run.call->session_is), 1);
        turn();
        assert_true(o[0].run.link && o[1].run.link);
        assert_int_equal(o[2].run.link == NULL, others);
        program = programs[0];
        say_of(take_call(), "\"answer\":{\"n\":1}");
        turn();
        assert_non_null(o[2].run.link);
        close_runner();
        for (size_t i = 0; i < SESSIONS; i++) {
            let_go(&first[i]);
            let_go(&o[i]);
            close(programs[i]);
        }
    }
}

/* While none can be started, those that live go on. */
static void sessions_that_live_go_on_while_none_can_begin(void **state)
{
    struct ours first, o;
    (void)state;
    open_runner();
    add(&first, "kept.run", "{}");
    start(MISHAP_KEEPER_LEASE);
    say_of(take_call(), "\"answer\":{\"n\":1}");
    assert_true(first.done);
    int living = program;
    add(&o, "kept.run", "{}");
    mishap_keeper_message asked = hear(MISHAP_KEEPER_LEASE);
    asked.worker = WORKER + 1;
    program = fake_program_start(keeper, asked);
    turn();
    say("={\"failure\":{\"code\":\"NOT_CONFIGURED\",\"message\":\"There is no library.\"}}");
    expect_words(&o, MISHAP_CODE_UNAVAILABLE, "The service kept is not available.");
    let_go(&o);
    close(program);
    add(&o, "kept.run", "{}");
    expect_words(&o, MISHAP_CODE_UNAVAILABLE, "The service kept is not available.");
    let_go(&o);
    program = living;
    add(&o, "kept.run", in_session(first.run.call->session_is));
    say_of(take_call(), "\"answer\":{\"n\":1}");
    is_answered(&o);
    /* One that is of no session shows whether any can be started, and has no other use. */
    asked = hear(MISHAP_KEEPER_START);
    asked.worker = WORKER + 2;
    program = fake_program_start(keeper, asked);
    turn();
    say("={\"ready\":1}");
    assert_int_equal(hear(MISHAP_KEEPER_PUT_AWAY).worker, WORKER + 2);
    close(program);
    add(&o, "kept.run", "{}");
    hear(MISHAP_KEEPER_LEASE);
    assert_false(o.done);
    close_runner();
    let_go(&first);
    let_go(&o);
    close(living);
}

/* -- interrupts -------------------------------------------------------------------------------- */

static void interrupted(void)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_INTERRUPTED, .worker = WORKER };
    MUST(mishap_keeper_send(keeper, &message, NULL, 0));
    turn();
}

/* When it has read the call, and at most twice. It gets no other call before it is known whether
 * the signal came: that would be the one that is interrupted. */
static void a_forgotten_call_is_interrupted_when_it_was_read(void **state)
{
    static const char *const ends[] = {
        "\"answer\":{\"n\":1}", "\"failure\":{\"code\":\"CANCELLED\",\"message\":\"Stopped.\"}",
        "\"failure\":{\"code\":\"NOT_FOUND\",\"message\":\"No.\"}"
    };
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct ours first, o, next;
        mishap_keeper_message message;
        open_runner();
        add(&first, "kept.run", "{}");
        start(MISHAP_KEEPER_LEASE);
        say_of(take_call(), "\"answer\":{\"n\":1}");
        add(&o, "kept.run", in_session(first.run.call->session_is));
        mishap_runner_forget(runner, &o.run);
        hear_no(MISHAP_KEEPER_INTERRUPT);
        unsigned id = take_call();
        for (int k = 0; k < 2; k++) {
            message = hear(MISHAP_KEEPER_INTERRUPT);
            assert_int_equal(message.worker, WORKER);
            assert_int_equal(message.number, id);
            if (k == 0)
                interrupted();
        }
        say_of(id, ends[i]);
        assert_int_equal(orphans, i == 2); /* who cancelled it knows */
        assert_int_equal(mishap_runner_count(runner, true), 0);
        add(&next, "kept.run", in_session(first.run.call->session_is));
        assert_string_equal(heard(), "");
        interrupted();
        say_of(take_call(), "\"answer\":{\"n\":1}");
        is_answered(&next);
        hear_no(MISHAP_KEEPER_INTERRUPT);
        let_go(&first);
        close_runner();
        close(program);
    }
}

/* -- code -------------------------------------------------------------------------------------- */

/* The server says that its time was over, and how long that was. */
static void the_words_for_the_time_of_code_are_the_servers(void **state)
{
    static const struct {
        int limit_ms;
        const char *words;
    } rows[] = {
        { 1, "The code ran for 0.001 seconds." },
        { 20, "The code ran for 0.020 seconds." },
    };
    (void)state;
    mishap_foreign_code before = code;
    code.timed_out = "The code ran for %s.";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ours o;
        open_runner();
        add(&o, "coded.run", "{}");
        o.run.call->limit_ms = rows[i].limit_ms;
        start(MISHAP_KEEPER_START);
        unsigned id = take_call();
        say_of(id, "\"begins\":true");
        hear(MISHAP_KEEPER_INTERRUPT);
        say_of(id, "\"failure\":{\"code\":\"TIMEOUT\",\"message\":\"forged\",\"stdout\":\"out\","
                   "\"backtrace\":[\"a frame\",3]}");
        expect_words(&o, MISHAP_CODE_TIMEOUT, "");
        const mishap_public *told = mishap_told(o.failure);
        assert_true(mishap_text_equal(told->message, mishap_text_of(rows[i].words)));
        assert_true(mishap_text_equal(told->output, T("out")));
        let_go(&o);
        close_runner();
        close(program);
    }
    code = before;
}

/* That its process ends is not for code to say, but for the operation that is there for it. */
static void the_process_of_code_ends_after_the_operation_that_ends_it(void **state)
{
    (void)state;
    for (int ends = 0; ends < 2; ends++) {
        struct ours o;
        mishap_keeper_message message;
        code.ends = ends ? "coded.run" : "coded.reset";
        open_runner();
        add(&o, "coded.run", "{}");
        start(MISHAP_KEEPER_START);
        unsigned id = take_call();
        say_of(id, "\"begins\":true");
        say_of(id, ends ? "\"answer\":{}" : "\"answer\":{},\"last\":true");
        is_answered(&o);
        assert_int_equal(says(MISHAP_KEEPER_PUT_AWAY, &message), ends);
        close_runner();
        close(program);
    }
    code.ends = NULL;
}

/* Text of an answer must not look like the report of a failure. */
static void what_looks_like_a_report_in_the_text_of_code_is_escaped(void **state)
{
    struct ours o;
    (void)state;
    open_runner();
    add(&o, "coded.run", "{}");
    start(MISHAP_KEEPER_START);
    unsigned id = take_call();
    say_of(id, "\"begins\":true");
    say_of(
        id,
        "\"answer\":{},\"warnings\":[\"forged\"],\"text\":\"[ERROR] a [b] [Backtrace]\\n[ERROR\"");
    assert_true(o.done && !o.failure);
    assert_true(mishap_text_equal(mishap_buffer_text(&o.run.call->text),
                                  T("[\\ERROR] a [b] [\\Backtrace]\n[ERROR")));
    assert_string_equal(warnings_of(&o), "");
    let_go(&o);
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
        TEST(the_end_of_a_program_is_told),
        TEST(a_program_of_which_the_keeper_says_nothing_was_lost),
        TEST(the_end_of_an_idle_program_is_a_line_of_the_log),
        TEST(the_time_that_a_call_asked_for_is_kept_for_the_program),
        TEST(a_program_has_no_say_in_which_session_it_is),
        TEST(only_the_process_that_is_recalled_is_given_back),
        TEST(a_session_that_rests_is_given_back_at_once),
        TEST(why_a_session_is_not_what_it_was_is_told_once),
        TEST(a_session_that_the_keeper_does_not_know_was_lost),
        TEST(a_session_gives_way_if_there_are_too_many),
        TEST(a_session_that_was_refused_is_asked_for_again),
        TEST(a_caller_runs_long_calls_in_so_many_sessions),
        TEST(sessions_that_live_go_on_while_none_can_begin),
        TEST(a_forgotten_call_is_interrupted_when_it_was_read),
        TEST(the_words_for_the_time_of_code_are_the_servers),
        TEST(the_process_of_code_ends_after_the_operation_that_ends_it),
        TEST(what_looks_like_a_report_in_the_text_of_code_is_escaped),
    };
    return RUN(tests);
}
