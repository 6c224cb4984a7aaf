/*
 * Foreign programs as workers, with a real keeper and a real program: calls, and every way to
 * misbehave.
 */
#include "testing.h"

#include <sys/socket.h>

#include "abroad.h"
#include "foreign_told.h"
#include "mishap/invoke.h"
#include "worker/loop/inside.h"
#include "worker/spawn/spawn.h"

static void begin(struct loop *loop)
{
    prepare(loop, &abroad_app);
    loop->times = &unhurried;
    begin_prepared(loop);
}

static bool awaits_an_interrupt(const mishap_runner *runner)
{
    const mishap_link *link = runner->links;
    while (link && !link->awaits_interrupt)
        link = link->next;
    return link;
}

/* A process whose call was interrupted gets no other call before the keeper has said whether the
 * signal was sent: until then a second process would be started for it. */
static void await_interrupts(struct loop *loop)
{
    int64_t until = long_after();
    while (awaits_an_interrupt(loop->runner)) {
        assert_true(mishap_clock_monotonic_ns() < until);
        turn(loop, 10);
    }
}

/* -- calls ------------------------------------------------------------------------------------- */

static void a_call_is_run_by_the_program(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    mishap_answer_kind kind;
    (void)state;
    begin(&loop);
    call(&loop, &o, "pool.echo", "{\"text\":\"a\\u0001\\n\xC3\xA4\\\"\"}");
    assert_null(o.failure);
    assert_string_equal(text_of(mishap_call_answer(o.run.call, &kind)),
                        "{\"echo\":{\"text\":\"a\\u0001\\n\xC3\xA4\\\"\",\"depth\":3},\"limit_ms\":"
                        "30000}");
    assert_string_equal(text_of(mishap_buffer_text(&o.run.call->text)), "as text");
    let_go(&o);
    call(&loop, &o, "pool.count", "{\"by\":5}");
    assert_int_equal(member(&o, "n"), 5);
    int64_t pid = member(&o, "pid");
    let_go(&o);
    call(&loop, &o, "pool.count", "{}");
    assert_int_equal(member(&o, "n"), 6); /* by the same process, which was free */
    assert_int_equal(member(&o, "pid"), pid);
    let_go(&o);
    call(&loop, &o, "pool.local", "{}");
    assert_int_equal(member(&o, "n"), 42);
    let_go(&o);
    end(&loop);
}

static void it_has_its_socket_and_nothing_else(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    call(&loop, &o, "pool.do", "{\"way\":\"files\"}");
    assert_int_equal(member(&o, "n"), 4);
    assert_int_equal(member(&o, "variables"), 0);
    let_go(&o);
    end(&loop);
}

static void a_failure_has_both_sides(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    mishap_buffer report = { 0 };
    (void)state;
    begin(&loop);
    call(&loop, &o, "pool.fail", "{}");
    assert_ptr_equal(code_of(&o), MISHAP_CODE_TYPE_ERROR);
    assert_string_equal(
        text_of(mishap_render(mishap_dialect_find("condition-report"), o.failure, &report)),
        "[stdout]\nbefore\n\n[ERROR] TYPE-ERROR\nThe value \"hello\" is not of type "
        "NUMBER.\n\n[Backtrace]\n0: (+ 1 \"hello\")\n");
    assert_true(is_noted(&o, "secret-of-the-operator"));
    told_nothing_private(&o);
    mishap_buffer_release(&report);
    let_go(&o);
    end(&loop);
}

static void long_messages_travel_in_packets(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    enum { LENGTH = 300000 };
    (void)state;
    begin(&loop);
    mishap_buffer arguments = { 0 };
    MISHAP_PUT(&arguments, "{\"text\":\"");
    for (int i = 0; i < LENGTH; i++)
        mishap_buffer_put_char(&arguments, (char)('a' + i % 26));
    MISHAP_PUT(&arguments, "\"}");
    mishap_buffer_put_char(&arguments, '\0');
    call(&loop, &o, "pool.echo", arguments.data);
    assert_null(o.failure);
    assert_non_null(
        memmem(o.run.call->answer.data, o.run.call->answer.length, arguments.data + 1, LENGTH));
    let_go(&o);
    call(&loop, &o, "pool.do", "{\"way\":\"long\"}");
    assert_ptr_equal(code_of(&o), NULL);
    assert_true(o.run.call->answer.length > 1 << 20);
    let_go(&o);
    mishap_buffer_release(&arguments);
    end(&loop);
}

static void a_call_that_is_too_long_is_refused(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    mishap_buffer arguments = { 0 };
    (void)state;
    begin(&loop);
    MISHAP_PUT(&arguments, "{\"text\":\"");
    for (int i = 0; i < MISHAP_FOREIGN_ASKED; i++)
        mishap_buffer_put_char(&arguments, 'x');
    MISHAP_PUT(&arguments, "\"}");
    mishap_buffer_put_char(&arguments, '\0');
    call(&loop, &o, "pool.echo", arguments.data);
    assert_ptr_equal(code_of(&o), MISHAP_CODE_BAD_REQUEST);
    let_go(&o);
    call(&loop, &o, "pool.count", "{}");
    assert_null(o.failure);
    let_go(&o);
    mishap_buffer_release(&arguments);
    end(&loop);
}

static double reported;
static char logged[100], told_operator[100];

static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    (void)watcher, (void)words;
    reported = done / total;
}

static void on_log(const mishap_watcher *watcher, mishap_level level, mishap_text words)
{
    (void)watcher;
    snprintf(logged, sizeof logged, "%d %.*s", (int)level, (int)words.length, words.data);
}

static void on_line(const char *program, const char *operation, const char *id, mishap_text words,
                    bool to_stderr)
{
    (void)program, (void)operation, (void)to_stderr;
    snprintf(told_operator, sizeof told_operator, "%s %.*s", id, (int)words.length, words.data);
}

static void what_it_says_meanwhile_is_passed_on(void **state)
{
    struct loop loop;
    struct ours o = { .watcher = { .progress = on_progress, .log = on_log } };
    (void)state;
    begin(&loop);
    assert_true(add(&loop, &o, "pool.do", "{\"way\":\"talk\"}"));
    o.run.call->to_operator = on_line;
    o.run.call->request_id = (mishap_text)MISHAP_TEXT("an-id");
    wait_for(&loop, &o);
    assert_null(o.failure);
    assert_true(reported == 0.5);
    assert_string_equal(logged, "3 careful");
    assert_string_equal(told_operator, "an-id for you");
    assert_string_equal(text_of(mishap_call_warnings(o.run.call)), "\"a \\\"b\\\"\"");
    assert_string_equal(text_of(mishap_buffer_text(&o.run.call->text)), "=> 3");
    let_go(&o);
    end(&loop);
}

/* … also to a command, which waits for its one call. */
static void what_it_says_to_a_command_is_passed_on(void **state)
{
    const mishap_watcher watcher = { .progress = on_progress, .log = on_log };
    mishap_call *call;
    (void)state;
    reported = 0;
    logged[0] = told_operator[0] = '\0';
    assert_null(mishap_call_begin(&abroad_app, mishap_operation_find(&abroad_app, T("pool.do")),
                                  T("{\"way\":\"talk\"}"), &call));
    call->watcher = &watcher;
    call->to_operator = on_line;
    call->request_id = T("an-id");
    assert_null(mishap_call_run(call));
    assert_true(reported == 0.5);
    assert_string_equal(logged, "3 careful");
    assert_string_equal(told_operator, "an-id for you");
    mishap_call_end(call);
    mishap_app_close();
}

static void each_call_has_a_process_of_its_own_if_that_is_wanted(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    int64_t pids[4];
    (void)state;
    begin(&loop);
    for (int i = 0; i < 4; i++) {
        call(&loop, &o, "once.count", "{}");
        assert_int_equal(member(&o, "n"), 1);
        pids[i] = member(&o, "pid");
        for (int j = 0; j < i; j++)
            assert_int_not_equal(pids[i], pids[j]);
        let_go(&o);
    }
    end(&loop);
}

/* -- misbehaviour ------------------------------------------------------------------------------ */

static void whatever_it_does_the_next_call_works(void **state)
{
    static const struct {
        const char *way;
        const mishap_code *code; /* NULL: it works */
        const char *noted;
        bool late; /* it goes on until its time is over */
    } ways[] = {
        { "exit", MISHAP_CODE_INTERNAL_ERROR, "ended with status 7", false },
        { "exit", MISHAP_CODE_INTERNAL_ERROR, "my last words", false },
        { "kill", MISHAP_CODE_INTERNAL_ERROR, "SIGKILL", false },
        { "garbage", MISHAP_CODE_INTERNAL_ERROR, "a message that is no JSON object", false },
        { "packet", MISHAP_CODE_INTERNAL_ERROR, "a packet that is none", false },
        { "huge", MISHAP_CODE_INTERNAL_ERROR, "a packet that is none", false },
        { "wrong_id", MISHAP_CODE_INTERNAL_ERROR, "a call that it does not have", false },
        { "array", MISHAP_CODE_INTERNAL_ERROR, "no object", false },
        { "misfit", MISHAP_CODE_INTERNAL_ERROR, "does not match its declaration", false },
        { "undeclared", MISHAP_CODE_INTERNAL_ERROR, "does not declare", false },
        { "stop", MISHAP_CODE_INTERNAL_ERROR, "SIGKILL", false },
        { "close", MISHAP_CODE_INTERNAL_ERROR, "SIGKILL", false },
        { "endless", MISHAP_CODE_TIMEOUT, "1000", true },
        { "hang", MISHAP_CODE_TIMEOUT, "1000", true },
        { "nap", MISHAP_CODE_TIMEOUT, "", true },
        { "twice", NULL, NULL, false },
        { "flood", NULL, NULL, false },
        { "last", NULL, NULL, false },
    };
    struct loop loop;
    struct ours o = { 0 };
    char arguments[100];
    (void)state;
    begin(&loop);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(arguments, sizeof arguments, "{\"way\":\"%s\"}", ways[i].way);
        abroad_pool.grace_ms = ways[i].late ? ABROAD_SHORT_GRACE_MS : ABROAD_GRACE_MS;
        call(&loop, &o, ways[i].late ? "pool.late" : "pool.do", arguments);
        if (code_of(&o) != ways[i].code)
            fail_msg("%s: %s", ways[i].way, o.failure ? code_of(&o)->name.data : "it works");
        if (ways[i].noted)
            assert_true(is_noted(&o, ways[i].noted));
        if (o.failure)
            told_nothing_private(&o);
        let_go(&o);
        call(&loop, &o, "pool.count", "{}");
        if (o.failure)
            fail_msg("after %s: %d", ways[i].way, is_noted(&o, "?"));
        let_go(&o);
    }
    end(&loop);
}

/* A command has a process for its one call, and reads what that sends by itself. */
static void a_command_is_told_the_same_of_what_it_sends(void **state)
{
    static const struct {
        const char *way, *noted;
    } ways[] = {
        { "exit", "ended with status 7" },
        { "kill", "signal 9" },
        { "garbage", "a message that is no JSON object" },
        { "packet", "a packet that is none" },
        { "huge", "a packet that is none" },
        { "wrong_id", "a call that it does not have" },
        { "array", "no object" },
        { "misfit", "does not match its declaration" },
        { "undeclared", "does not declare" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        mishap_answered *answered = NULL;
        char arguments[100], account[4000];
        snprintf(arguments, sizeof arguments, "{\"way\":\"%s\"}", ways[i].way);
        mishap *failure = mishap_invoke(&abroad_app, "pool.do", arguments, NULL, &answered);
        if (!failure || mishap_told(failure)->code != MISHAP_CODE_INTERNAL_ERROR)
            fail_msg("%s: %s", ways[i].way, failure ? "another code" : "it works");
        account_of(failure, account, sizeof account);
        if (!strstr(account, ways[i].noted))
            fail_msg("%s: %s", ways[i].way, account);
        mishap_free(failure);
    }
    mishap_app_close();
}

/* -- code of callers --------------------------------------------------------------------------- */

/* What the code of a caller may say, and what becomes of its process. */
static const struct coded {
    const char *way;
    const mishap_code *code; /* NULL: it works, and `n` is … */
    int n;
    const char *message, *type;
    bool ends; /* its process */
    bool late; /* it goes on until its time is over */
} coded[] = {
    { "garbage", NULL, 77, NULL, NULL, false, false },
    { "packet", NULL, 77, NULL, NULL, false, false },
    { "huge", NULL, 77, NULL, NULL, false, false },
    { "wrong_id", NULL, 77, NULL, NULL, false, false },
    { "array", NULL, 77, NULL, NULL, false, false },
    { "members", NULL, 77, NULL, NULL, false, false },
    { "talk", NULL, 0, NULL, NULL, false, false },
    { "twice", NULL, 0, NULL, NULL, false, false },
    { "misfit", MISHAP_CODE_RUNTIME_ERROR, 0, "The code sent an answer of its own that is none.",
      "Error", false, false },
    { "undeclared", MISHAP_CODE_RUNTIME_ERROR, 0, "secret-of-the-operator", "Error", false, false },
    { "lack", MISHAP_CODE_RUNTIME_ERROR, 0, "No library.", "Error", false, false },
    { "exit", MISHAP_CODE_RUNTIME_ERROR, 0, "The code ended its process.", "", true, false },
    { "leave", MISHAP_CODE_RUNTIME_ERROR, 0, "The code ended its process.", "", true, false },
    { "nap", MISHAP_CODE_TIMEOUT, 0, "Stopped.", "Error", false, true },
    { "sleep", MISHAP_CODE_CANCELLED, 0, "Stopped.", "Error", false, true },
    { "endless", MISHAP_CODE_RUNTIME_ERROR, 0, "The code ended its process.", "", true, false },
};

static void expect_failure_of_code(const struct coded *row, const mishap *failure)
{
    const mishap_public *told = mishap_told(failure);
    if (told->code != row->code)
        fail_msg("%s: %s", row->way, told->code->name.data);
    assert_string_equal(text_of(told->message), row->message);
    assert_string_equal(text_of(told->type), row->type);
    assert_int_equal(told->suggestion.length, 0);
    assert_int_equal(told->cause.length, 0);
    assert_null(mishap_public_member(told, "session"));
    if (strcmp(row->way, "lack") == 0)
        assert_non_null(mishap_public_member(told, "line"));
}

static void code_of_a_caller_speaks_for_itself_alone(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char arguments[100];
    (void)state;
    begin(&loop);
    for (size_t i = 0; i < sizeof coded / sizeof *coded; i++) {
        call(&loop, &o, "coded.count", "{}");
        assert_null(o.failure);
        int64_t pid = member(&o, "pid");
        let_go(&o);
        snprintf(arguments, sizeof arguments, "{\"way\":\"code:%s\"}", coded[i].way);
        call(&loop, &o, coded[i].late ? "coded.late" : "coded.do", arguments);
        if (o.failure)
            expect_failure_of_code(&coded[i], o.failure);
        else
            assert_null(coded[i].code);
        if (!o.failure && coded[i].n)
            assert_int_equal(member(&o, "n"), coded[i].n);
        let_go(&o);
        await_interrupts(&loop);
        call(&loop, &o, "coded.count", "{}");
        assert_null(o.failure);
        if ((member(&o, "pid") != pid) != coded[i].ends)
            fail_msg("%s: its process", coded[i].way);
        let_go(&o);
    }
    end(&loop);
}

/* A program that fails by itself before code begins is not the code's. */
static void a_program_that_leaves_before_code_begins_is_not_blamed_on_it(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    call(&loop, &o, "coded.do", "{\"way\":\"leave\"}");
    assert_ptr_equal(code_of(&o), MISHAP_CODE_INTERNAL_ERROR);
    assert_true(is_noted(&o, "the system refused it memory"));
    let_go(&o);
    call(&loop, &o, "coded.do", "{\"way\":\"code:leave\"}");
    assert_true(is_noted(&o, "may have chosen this status"));
    told_nothing_private(&o);
    let_go(&o);
    end(&loop);
}

static void code_of_one_process_speaks_for_itself_alone(void **state)
{
    mishap_answered *answered;
    char arguments[100];
    (void)state;
    for (size_t i = 0; i < sizeof coded / sizeof *coded; i++) {
        mishap_foreign_process *process;
        assert_null(mishap_foreign_start(&abroad_app, &abroad_coded, &process));
        assert_false(mishap_foreign_was_given_a_call(process));
        snprintf(arguments, sizeof arguments, "{\"way\":\"code:%s\"}", coded[i].way);
        mishap *failure = mishap_invoke(&abroad_app, coded[i].late ? "coded.late" : "coded.do",
                                        arguments, &(mishap_invocation){ .process = process },
                                        &answered);
        if (failure)
            expect_failure_of_code(&coded[i], failure);
        else if (coded[i].n)
            assert_int_equal(mishap_integer(answered->json, "n"), coded[i].n);
        assert_int_equal(failure != NULL, coded[i].code != NULL);
        if (!failure)
            mishap_answered_free(answered);
        mishap_free(failure);
        assert_true(mishap_foreign_was_given_a_call(process));
        assert_int_equal(mishap_foreign_is_over(process), coded[i].ends);
        mishap_foreign_stop(process);
    }
    mishap_app_close();
}

static void a_call_that_stops_when_it_is_told_leaves_its_process(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    call(&loop, &o, "pool.count", "{\"by\":9}");
    int64_t pid = member(&o, "pid");
    let_go(&o);
    int64_t before = mishap_clock_monotonic_ns();
    call(&loop, &o, "pool.late", "{\"way\":\"nap\"}");
    assert_ptr_equal(code_of(&o), MISHAP_CODE_TIMEOUT);
    assert_string_equal(text_of(mishap_public_message(mishap_told(o.failure))), "Stopped.");
    assert_true(mishap_clock_monotonic_ns() - before >= INT64_C(1000000000));
    const mishap_member *context = mishap_told(o.failure)->context;
    assert_int_equal(context->value.integer, 2); /* the id of its call came with the signal */
    let_go(&o);
    await_interrupts(&loop);
    call(&loop, &o, "pool.count", "{}");
    assert_int_equal(member(&o, "pid"), pid);
    assert_int_equal(member(&o, "n"), 10);
    let_go(&o);
    end(&loop);
}

static void a_forgotten_call_is_interrupted(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    call(&loop, &o, "pool.count", "{\"by\":9}");
    int64_t pid = member(&o, "pid");
    let_go(&o);
    assert_true(add(&loop, &o, "pool.do", "{\"way\":\"sleep\"}"));
    turn(&loop, 10);
    mishap_runner_forget(loop.runner, &o.run);
    int64_t until = long_after();
    while (mishap_runner_count(loop.runner, true) && mishap_clock_monotonic_ns() < until)
        turn(&loop, 10);
    assert_int_equal(mishap_runner_count(loop.runner, true), 0);
    assert_string_equal(orphan, ""); /* who cancelled it knows */
    await_interrupts(&loop);
    call(&loop, &o, "pool.count", "{}");
    assert_int_equal(member(&o, "pid"), pid);
    let_go(&o);
    abroad_pool.grace_ms = ABROAD_SHORT_GRACE_MS;
    assert_true(add(&loop, &o, "pool.do", "{\"way\":\"hang\"}"));
    turn(&loop, 10);
    mishap_runner_forget(loop.runner, &o.run);
    until = long_after();
    while (mishap_runner_count(loop.runner, true) && mishap_clock_monotonic_ns() < until)
        turn(&loop, 10);
    assert_int_equal(kill((pid_t)pid, 0), -1);
    end(&loop);
    abroad_pool.grace_ms = ABROAD_GRACE_MS;
}

static void a_program_that_cannot_start_makes_its_service_unavailable(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin(&loop);
    call(&loop, &o, "bad.count", "{}");
    assert_ptr_equal(code_of(&o), MISHAP_CODE_UNAVAILABLE);
    let_go(&o);
    call(&loop, &o, "dead.count", "{}");
    assert_ptr_equal(code_of(&o), MISHAP_CODE_UNAVAILABLE);
    let_go(&o);
    call(&loop, &o, "none.count", "{}");
    assert_ptr_equal(code_of(&o), MISHAP_CODE_NOT_CONFIGURED);
    let_go(&o);
    call(&loop, &o, "pool.count", "{}");
    assert_null(o.failure);
    let_go(&o);
    end(&loop);
}

/* -- the keeper, asked by loops that the test plays -------------------------------------------- */

/* The step that failed is the end of its output, for the operator. */
static void a_sandbox_that_cannot_be_entered_says_why(void **state)
{
    const mishap_foreign none = { .program = "/none/such", .sandbox = abroad_boxed.sandbox };
    char output[MISHAP_FOREIGN_LAST_OUTPUT + 1] = "";
    mishap_spawned spawned;
    int status = 0, ends[2];
    mishap *missing = mishap_sandbox_check(MISHAP_SANDBOX_STRICT);
    (void)state;
    if (missing) {
        mishap_free(missing);
        skip();
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_true(mishap_spawn(&none, ends[1], &spawned));
    assert_int_equal(waitpid(spawned.pid, &status, 0), spawned.pid);
    mishap_spawn_output(&spawned, output);
    mishap_spawn_remove(&spawned);
    close(ends[0]);
    close(ends[1]);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
    assert_string_equal(output,
                        "The sandbox cannot be entered: execve: No such file or directory\n");
}

static void a_process_runs_several_calls_of_one_caller(void **state)
{
    mishap_foreign_process *process;
    mishap_answered *answered;
    (void)state;
    assert_null(mishap_foreign_start(&abroad_app, &abroad_kept, &process));
    mishap_invocation how = { .process = process };
    for (int i = 1; i <= 3; i++) {
        assert_null(mishap_invoke(&abroad_app, "kept.count", "{\"by\":2}", &how, &answered));
        assert_int_equal(mishap_integer(answered->json, "n"), 2 * i);
        mishap_answered_free(answered);
    }
    assert_null(mishap_invoke(&abroad_app, "kept.echo", NULL, &how, &answered));
    assert_string_equal(text_of(answered->words), "as text");
    mishap_answered_free(answered);
    mishap *failure = mishap_invoke(&abroad_app, "kept.late", "{\"way\":\"nap\"}", &how, &answered);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_TIMEOUT);
    mishap_free(failure);
    assert_false(mishap_foreign_is_over(process));
    failure = mishap_invoke(&abroad_app, "kept.do", "{\"way\":\"exit\"}", &how, &answered);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_RUNTIME_ERROR);
    mishap_free(failure);
    assert_true(mishap_foreign_is_over(process));
    failure = mishap_invoke(&abroad_app, "kept.count", NULL, &how, &answered);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
    mishap_free(failure);
    mishap_foreign_stop(process);
    assert_null(mishap_invoke(&abroad_app, "kept.count", "{\"by\":2}", NULL, &answered));
    assert_int_equal(mishap_integer(answered->json, "n"), 2);
    mishap_answered_free(answered);
    mishap_app_close();
}

int main(void)
{
    abroad_begin();
    const struct CMUnitTest tests[] = {
        TEST(a_call_is_run_by_the_program),
        TEST(it_has_its_socket_and_nothing_else),
        TEST(a_failure_has_both_sides),
        TEST(long_messages_travel_in_packets),
        TEST(a_call_that_is_too_long_is_refused),
        TEST(what_it_says_meanwhile_is_passed_on),
        TEST(what_it_says_to_a_command_is_passed_on),
        TEST(each_call_has_a_process_of_its_own_if_that_is_wanted),
        TEST(whatever_it_does_the_next_call_works),
        TEST(a_command_is_told_the_same_of_what_it_sends),
        TEST(code_of_a_caller_speaks_for_itself_alone),
        TEST(a_program_that_leaves_before_code_begins_is_not_blamed_on_it),
        TEST(code_of_one_process_speaks_for_itself_alone),
        TEST(a_call_that_stops_when_it_is_told_leaves_its_process),
        TEST(a_forgotten_call_is_interrupted),
        TEST(a_program_that_cannot_start_makes_its_service_unavailable),
        TEST(a_sandbox_that_cannot_be_entered_says_why),
        TEST(a_process_runs_several_calls_of_one_caller),
    };
    return RUN(tests);
}
