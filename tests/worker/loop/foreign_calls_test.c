/*
 * Foreign programs that the test plays: what one may say, how much, and when, what is told of its
 * end, and what code of a caller may say for it.
 */
#include "fake_program.h"

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
    say("-x"); /* the end of a message whose beginning went to another loop */
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

static void on_progress_lie(const mishap_watcher *watcher, double done, double total,
                            mishap_text words)
{
    (void)watcher, (void)done, (void)total, (void)words;
    MUST(send(program, "?", 1, MSG_NOSIGNAL) == 1);
}

/* It may save itself the work. */
static void a_program_is_told_whether_progress_is_wanted(void **state)
{
    (void)state;
    for (int wanted = 0; wanted < 2; wanted++) {
        struct ours o;
        unsigned id = 0;
        open_runner();
        add(&o, "pool.run", "{}");
        o.watcher.progress = wanted ? on_progress_lie : NULL;
        start(MISHAP_KEEPER_START);
        const char *call = heard();
        assert_int_equal(strstr(call, ",\"progress\":true") != NULL, wanted);
        assert_int_equal(sscanf(call, "={\"id\":%u", &id), 1);
        say_of(id, "\"answer\":{}");
        is_answered(&o);
        close_runner();
        close(program);
    }
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

/* Nothing more of it is waited for: neither its connection nor the keeper has another word. */
static void a_lie_that_a_dead_program_had_sent_ends_its_call_at_once(void **state)
{
    struct ours o;
    (void)state;
    open_runner();
    add(&o, "pool.run", "{}");
    o.watcher.progress = on_progress_lie;
    start(MISHAP_KEEPER_START);
    unsigned id = take_call();
    mishap_keeper_message ended = { .word = MISHAP_KEEPER_ENDED, .worker = WORKER, .status = 9 };
    MUST(mishap_keeper_send(keeper, &ended, NULL, 0));
    say_of(id, "\"progress\":1");
    expect_words(&o, MISHAP_CODE_INTERNAL_ERROR, "a packet that is none");
    let_go(&o);
    close(program);
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

/* How it ended is not known, and is not told as any way to end. */
static void a_program_of_which_the_keeper_says_nothing_was_lost(void **state)
{
    static const struct {
        const char *name, *arguments;
        const mishap_code *code;
        const char *words;
    } rows[] = {
        { "pool.run", "{}", MISHAP_CODE_INTERNAL_ERROR, "was lost" },
        { "timed.run", "{\"seconds\":50}", MISHAP_CODE_RUNTIME_ERROR, "was lost" },
    };
    mishap_runner_times hasty = patient;
    (void)state;
    hasty.gone_ms = hasty.lost_ms = 1;
    ended_status = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ours o;
        open_runner_with(&hasty);
        add(&o, rows[i].name, rows[i].arguments);
        start(MISHAP_KEEPER_START);
        take_call();
        close(program);
        hear(MISHAP_KEEPER_END);
        int64_t until = long_after();
        while (!o.done && mishap_clock_monotonic_ns() < until)
            turn();
        expect_words(&o, rows[i].code, rows[i].words);
        let_go(&o);
        close_runner();
    }
    assert_int_equal(ended_status, -1);
}

/* A line of the log has no control characters, for any output of the program. */
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

/* What a command allows counts as well, if it is less. */
static void the_shorter_of_two_times_counts(void **state)
{
    const int64_t second = INT64_C(1000000000), now = mishap_clock_monotonic_ns();
    const int64_t deadlines[] = { now + 20 * second, now + 90 * second, 0 };
    (void)state;
    for (size_t i = 0; i < sizeof deadlines / sizeof *deadlines; i++) {
        struct ours o;
        begin_call(&o, "timed.run", "{\"seconds\":30}");
        o.run.call->deadline_ns = deadlines[i];
        mishap_foreign_shorten(&timed, o.run.call);
        if (i == 0)
            assert_int_equal(o.run.call->deadline_ns, deadlines[0]);
        else
            assert_true(o.run.call->deadline_ns >= now + 30 * second);
        assert_true(i != 1 || o.run.call->deadline_ns < deadlines[1]);
        let_go(&o);
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
        TEST(a_lie_that_a_dead_program_had_sent_ends_its_call_at_once),
        TEST(what_a_dead_program_had_sent_is_read_but_not_without_end),
        TEST(the_end_of_a_program_is_told),
        TEST(a_program_of_which_the_keeper_says_nothing_was_lost),
        TEST(the_end_of_an_idle_program_is_a_line_of_the_log),
        TEST(the_time_that_a_call_asked_for_is_kept_for_the_program),
        TEST(the_shorter_of_two_times_counts),
        TEST(a_program_is_told_whether_progress_is_wanted),
        TEST(the_words_for_the_time_of_code_are_the_servers),
        TEST(the_process_of_code_ends_after_the_operation_that_ends_it),
        TEST(what_looks_like_a_report_in_the_text_of_code_is_escaped),
    };
    return RUN(tests);
}
