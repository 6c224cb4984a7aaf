/*
 * Foreign programs as workers, with a real keeper and a real program: calls, every way to
 * misbehave, time, deaths, and sessions that several loops use.
 */
#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "abroad.h"
#include "base/priority.h"
#include "mishap/invoke.h"
#include "worker/spawn/spawn.h"
#include "worker/wire/packets.h"
#include "worker/wire/session_handles.h"
#include "worker_set_up.h"

static void begin(struct loop *loop)
{
    prepare(loop, &abroad_app);
    begin_prepared(loop);
}

/* A second loop of the same server, with the same sessions. */
struct other {
    mishap_runner *runner;
    int kept;
};

static mishap_sessions *sessions;

static void open_loop(struct loop *loop, mishap_runner **runner, int *kept)
{
    int socket;
    assert_true(mishap_keeper_connect(&loop->keeper, &socket, kept));
    mishap_runner_settings settings = { .plan = &loop->plan,
                                        .keeper = socket,
                                        .handlers = 4,
                                        .most_waiting = 300,
                                        .sessions = sessions,
                                        .times = loop->times,
                                        .orphaned = on_orphan };
    assert_null(mishap_runner_open(&settings, runner));
}

static void begin_sessions(struct loop *loop, struct other *other)
{
    prepare(loop, &abroad_app);
    assert_null(mishap_sessions_make(&sessions));
    assert_null(mishap_keeper_start(&loop->keeper, &loop->plan));
    open_loop(loop, &loop->runner, &loop->kept);
    open_loop(loop, &other->runner, &other->kept);
}

static void end_sessions(struct loop *loop, struct other *other)
{
    mishap_runner_close(other->runner);
    end(loop);
    mishap_sessions_free(sessions);
    sessions = NULL;
}

/* A call to one of two loops, while both turn. */
static void add_to(struct loop *loop, mishap_runner *runner, struct ours *o, const char *name,
                   const char *arguments, uint64_t owner)
{
    const mishap_operation *operation = mishap_operation_find(loop->plan.app, mishap_text_of(name));
    *o = (struct ours){ .run = { .done = on_done, .incident = "an-incident" } };
    assert_null(
        mishap_call_begin(loop->plan.app, operation, mishap_text_of(arguments), &o->run.call));
    o->run.call->owner = o->run.call->holder = owner;
    assert_true(mishap_runner_add(runner, &o->run));
}

static void turn_both(struct loop *loop, const struct other *other, int wait_ms)
{
    struct pollfd files[] = { { .fd = mishap_runner_file(loop->runner), .events = POLLIN },
                              { .fd = mishap_runner_file(other->runner), .events = POLLIN } };
    mishap_runner_flush(loop->runner);
    mishap_runner_flush(other->runner);
    poll(files, 2, wait_ms);
    mishap_runner_turn(loop->runner);
    mishap_runner_turn(other->runner);
    mishap_keeper_look(&loop->keeper);
}

static void wait_both(struct loop *loop, const struct other *other, const struct ours *o)
{
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    while (!o->done && mishap_clock_monotonic_ns() < until)
        turn_both(loop, other, 20);
    assert_true(o->done);
}

static void call_to(struct loop *loop, const struct other *other, mishap_runner *runner,
                    struct ours *o, const char *name, const char *arguments, uint64_t owner)
{
    add_to(loop, runner, o, name, arguments, owner);
    wait_both(loop, other, o);
}

static const mishap_code *code_of(const struct ours *o)
{
    return o->failure ? mishap_told(o->failure)->code : NULL;
}

static bool is_noted(const struct ours *o, const char *words)
{
    char account[6000];
    account_of(o->failure, account, sizeof account);
    if (!strstr(account, words))
        print_message("%s\n", account);
    return strstr(account, words) != NULL;
}

static const char *text_of(mishap_text text)
{
    static char room[400];
    snprintf(room, sizeof room, "%.*s", (int)text.length, text.data ? text.data : "");
    return room;
}

static void told_nothing_private(const struct ours *o)
{
    mishap_buffer told = { 0 };
    mishap_text text = mishap_render(mishap_dialect_find("canonical"), o->failure, &told);
    assert_null(memmem(text.data, text.length, "secret-of-the-operator", 22));
    mishap_buffer_release(&told);
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

static const char *flaw_of(mishap_text text)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_foreign_message message;
    const char *flaw = mishap_foreign_read(&reader, text, &message);
    mishap_json_reader_release(&reader);
    return flaw;
}

/* What one reader takes for the answer, another must not take for something else. */
static void a_message_with_a_flaw_is_none(void **state)
{
    static const char *const flawed[] = {
        "{\"id\":1,\"answer\":{\"n\":1},\"answer\":{\"n\":2}}",
        "{\"id\":1,\"answer\":{\"n\":1,\"n\":2}}",
        "{\"id\":1073741824,\"answer\":{}}",
        "{\"id\":0,\"answer\":{}}",
        "{\"id\":-1,\"answer\":{}}",
        "{\"id\":\"1\",\"answer\":{}}",
        "[]",
        "{}",
        "{\"ready\":2}",
        "{\"failure\":\"none\"}",
        "{\"id\":1,\"answer\":{},\"failure\":{}}",
        "{\"id\":1,\"answer\":[]}",
        "{\"id\":1,\"failure\":3}",
        "{\"id\":1,\"answer\":{},\"text\":3}",
        "{\"id\":1,\"answer\":{},\"warnings\":\"one\"}",
        "{\"id\":1,\"answer\":{},\"warnings\":[\"one\",2]}",
        "{\"id\":1,\"answer\":{},\"notes\":[]}",
        "{\"id\":1,\"progress\":\"half\"}",
        "{\"id\":1,\"progress\":1,\"total\":\"two\"}",
        "{\"id\":1,\"progress\":1,\"words\":2}",
        "{\"id\":1,\"log\":\"info\"}",
        "{\"id\":1,\"log\":\"loud\",\"words\":\"w\"}",
    };
    static const char *const sound[] = {
        "{\"ready\":1}",
        "{\"failure\":{}}",
        "{\"id\":1073741823,\"answer\":{},\"text\":\"t\",\"warnings\":[\"w\"],\"notes\":{}}",
        "{\"id\":1,\"failure\":{}}",
        "{\"id\":1,\"progress\":1,\"total\":2,\"words\":\"w\"}",
        "{\"id\":1,\"progress\":1}",
        "{\"id\":1,\"log\":\"operator\",\"words\":\"w\"}",
        "{\"id\":1,\"begins\":true}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof flawed / sizeof *flawed; i++)
        if (!flaw_of(mishap_text_of(flawed[i])))
            fail_msg("%s", flawed[i]);
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        if (flaw_of(mishap_text_of(sound[i])))
            fail_msg("%s: %s", sound[i], flaw_of(mishap_text_of(sound[i])));
}

/* To compare its keys takes longer the more of them there are. */
static void an_object_has_so_many_members_and_not_one_more(void **state)
{
    enum { MOST = 4096 };
    (void)state;
    for (int count = MOST; count <= MOST + 1; count++) {
        mishap_buffer text = { 0 };
        MISHAP_PUT(&text, "{\"id\":1,\"answer\":{\"inner\":{\"m\":0");
        for (int i = 1; i < count; i++) {
            char member[32];
            snprintf(member, sizeof member, ",\"m%d\":0", i);
            mishap_buffer_put_text(&text, mishap_text_of(member));
        }
        MISHAP_PUT(&text, "}}}");
        assert_int_equal(flaw_of(mishap_buffer_text(&text)) != NULL, count > MOST);
        mishap_buffer_release(&text);
    }
}

/* The packets of a message, each as long as may be, and the message too. */
static void a_message_is_as_long_as_may_be_and_not_one_byte_more(void **state)
{
    static char packet[MISHAP_PACKET + 2];
    mishap_buffer held = { 0 };
    mishap_text message;
    (void)state;
    memset(packet, 'x', sizeof packet);
    packet[0] = '=';
    mishap_text whole = { packet, MISHAP_PACKET }, longer = { packet, MISHAP_PACKET + 1 };
    const size_t piece = MISHAP_PACKET - 1;
    assert_int_equal(mishap_foreign_gather(&held, whole, piece, &message), MISHAP_GATHERED_WHOLE);
    assert_int_equal(message.length, piece);
    assert_int_equal(mishap_foreign_gather(&held, whole, piece - 1, &message), MISHAP_GATHERED_BAD);
    assert_int_equal(mishap_foreign_gather(&held, longer, 2 * piece, &message),
                     MISHAP_GATHERED_BAD);
    assert_int_equal(mishap_foreign_gather(&held, (mishap_text){ packet, 0 }, piece, &message),
                     MISHAP_GATHERED_BAD);
    for (size_t limit = 3 * piece - 1; limit <= 3 * piece; limit++) {
        packet[0] = '<';
        assert_int_equal(mishap_foreign_gather(&held, whole, limit, &message),
                         MISHAP_GATHERED_PART);
        packet[0] = '-';
        assert_int_equal(mishap_foreign_gather(&held, whole, limit, &message),
                         MISHAP_GATHERED_PART);
        packet[0] = '>';
        assert_int_equal(mishap_foreign_gather(&held, whole, limit, &message),
                         limit < 3 * piece ? MISHAP_GATHERED_BAD : MISHAP_GATHERED_WHOLE);
    }
    assert_int_equal(message.length, 3 * piece);
    packet[0] = '<'; /* one that was begun is dropped for the next */
    assert_int_equal(mishap_foreign_gather(&held, whole, piece, &message), MISHAP_GATHERED_PART);
    packet[0] = '>';
    mishap_buffer_release(&held);
    assert_int_equal(mishap_foreign_gather(&held, whole, piece, &message), MISHAP_GATHERED_PART);
    mishap_buffer_release(&held);
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
    } ways[] = {
        { "exit", MISHAP_CODE_INTERNAL_ERROR, "ended with status 7" },
        { "exit", MISHAP_CODE_INTERNAL_ERROR, "my last words" },
        { "kill", MISHAP_CODE_INTERNAL_ERROR, "SIGKILL" },
        { "garbage", MISHAP_CODE_INTERNAL_ERROR, "a message that is no JSON object" },
        { "packet", MISHAP_CODE_INTERNAL_ERROR, "a packet that is none" },
        { "huge", MISHAP_CODE_INTERNAL_ERROR, "a packet that is none" },
        { "wrong_id", MISHAP_CODE_INTERNAL_ERROR, "a call that it does not have" },
        { "array", MISHAP_CODE_INTERNAL_ERROR, "no object" },
        { "misfit", MISHAP_CODE_INTERNAL_ERROR, "does not match its declaration" },
        { "undeclared", MISHAP_CODE_INTERNAL_ERROR, "does not declare" },
        { "stop", MISHAP_CODE_INTERNAL_ERROR, "SIGKILL" },
        { "close", MISHAP_CODE_INTERNAL_ERROR, "SIGKILL" },
        { "endless", MISHAP_CODE_TIMEOUT, "1000" },
        { "hang", MISHAP_CODE_TIMEOUT, "1000" },
        { "nap", MISHAP_CODE_TIMEOUT, "" },
        { "twice", NULL, NULL },
        { "flood", NULL, NULL },
        { "last", NULL, NULL },
    };
    struct loop loop;
    struct ours o = { 0 };
    char arguments[100];
    (void)state;
    begin(&loop);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(arguments, sizeof arguments, "{\"way\":\"%s\"}", ways[i].way);
        call(&loop, &o, "pool.do", arguments);
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
} coded[] = {
    { "garbage", NULL, 77, NULL, NULL, false },
    { "packet", NULL, 77, NULL, NULL, false },
    { "huge", NULL, 77, NULL, NULL, false },
    { "wrong_id", NULL, 77, NULL, NULL, false },
    { "array", NULL, 77, NULL, NULL, false },
    { "members", NULL, 77, NULL, NULL, false },
    { "talk", NULL, 0, NULL, NULL, false },
    { "twice", NULL, 0, NULL, NULL, false },
    { "misfit", MISHAP_CODE_RUNTIME_ERROR, 0, "The code sent an answer of its own that is none.",
      "Error", false },
    { "undeclared", MISHAP_CODE_RUNTIME_ERROR, 0, "secret-of-the-operator", "Error", false },
    { "lack", MISHAP_CODE_RUNTIME_ERROR, 0, "No library.", "Error", false },
    { "exit", MISHAP_CODE_RUNTIME_ERROR, 0, "The code ended its process.", "", true },
    { "leave", MISHAP_CODE_RUNTIME_ERROR, 0, "The code ended its process.", "", true },
    { "nap", MISHAP_CODE_TIMEOUT, 0, "Stopped.", "Error", false },
    { "sleep", MISHAP_CODE_CANCELLED, 0, "Stopped.", "Error", false },
    { "endless", MISHAP_CODE_RUNTIME_ERROR, 0, "The code ended its process.", "", true },
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
        call(&loop, &o, "coded.do", arguments);
        if (o.failure)
            expect_failure_of_code(&coded[i], o.failure);
        else
            assert_null(coded[i].code);
        if (!o.failure && coded[i].n)
            assert_int_equal(member(&o, "n"), coded[i].n);
        let_go(&o);
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
        mishap *failure = mishap_invoke(&abroad_app, "coded.do", arguments,
                                        &(mishap_invocation){ .process = process }, &answered);
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
    call(&loop, &o, "pool.do", "{\"way\":\"nap\"}");
    assert_ptr_equal(code_of(&o), MISHAP_CODE_TIMEOUT);
    assert_string_equal(text_of(mishap_public_message(mishap_told(o.failure))), "Stopped.");
    assert_true(mishap_clock_monotonic_ns() - before >= INT64_C(1000000000));
    const mishap_member *context = mishap_told(o.failure)->context;
    assert_int_equal(context->value.integer, 2); /* the id of its call came with the signal */
    let_go(&o);
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
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    while (mishap_runner_count(loop.runner, true) && mishap_clock_monotonic_ns() < until)
        turn(&loop, 10);
    assert_int_equal(mishap_runner_count(loop.runner, true), 0);
    assert_string_equal(orphan, ""); /* who cancelled it knows */
    call(&loop, &o, "pool.count", "{}");
    assert_int_equal(member(&o, "pid"), pid);
    let_go(&o);
    assert_true(add(&loop, &o, "pool.do", "{\"way\":\"hang\"}"));
    turn(&loop, 10);
    mishap_runner_forget(loop.runner, &o.run);
    until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    while (mishap_runner_count(loop.runner, true) && mishap_clock_monotonic_ns() < until)
        turn(&loop, 10);
    assert_int_equal(kill((pid_t)pid, 0), -1);
    end(&loop);
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

/* -- sessions ---------------------------------------------------------------------------------- */

static const char *in_session(const struct ours *o, const char *members)
{
    static char arguments[200];
    snprintf(arguments, sizeof arguments, "{%s\"session\":\"%s\"}", members,
             o->run.call->session_is);
    return arguments;
}

static void a_session_keeps_its_state_in_any_loop(void **state)
{
    struct loop loop;
    struct other other;
    struct ours first, second, o;
    (void)state;
    begin_sessions(&loop, &other);
    call_to(&loop, &other, loop.runner, &first, "kept.count", "{\"by\":10}", 1);
    call_to(&loop, &other, loop.runner, &second, "kept.count", "{\"by\":100}", 1);
    assert_int_equal(member(&first, "n"), 10);
    assert_int_equal(member(&second, "n"), 100);
    assert_non_null(memmem(first.run.call->answer.data, first.run.call->answer.length,
                           first.run.call->session_is, MISHAP_SESSION_HANDLE));
    for (int i = 1; i <= 10; i++) {
        call_to(&loop, &other, i % 3 ? other.runner : loop.runner, &o, "kept.count",
                in_session(&first, ""), 1);
        assert_int_equal(member(&o, "n"), 10 + i);
        assert_int_equal(member(&o, "pid"), member(&first, "pid"));
        assert_int_equal(mishap_call_warnings(o.run.call).length, 0);
        let_go(&o);
    }
    call_to(&loop, &other, loop.runner, &o, "kept.count", in_session(&second, ""), 1);
    assert_int_equal(member(&o, "n"), 101);
    let_go(&o);
    let_go(&first);
    let_go(&second);
    end_sessions(&loop, &other);
}

static void calls_of_a_session_run_in_order_and_hold_up_no_other(void **state)
{
    struct loop loop;
    struct other other;
    struct ours first, sleeper, o[6], another;
    (void)state;
    begin_sessions(&loop, &other);
    call_to(&loop, &other, loop.runner, &first, "kept.count", "{}", 1);
    add_to(&loop, loop.runner, &sleeper, "kept.do", in_session(&first, "\"way\":\"nap\","), 1);
    for (int i = 0; i < 6; i++)
        add_to(&loop, i < 3 ? loop.runner : other.runner, &o[i], "kept.count",
               in_session(&first, ""), 1);
    call_to(&loop, &other, loop.runner, &another, "kept.count", "{}", 1);
    assert_false(sleeper.done);
    int64_t sum = 0;
    for (int i = 0; i < 6; i++) {
        wait_both(&loop, &other, &o[i]);
        sum += member(&o[i], "n");
        assert_true(i == 0 || i == 3 || member(&o[i], "n") > member(&o[i - 1], "n"));
    }
    for (int i = 0; i < 6; i++)
        let_go(&o[i]);
    assert_true(sleeper.done);
    assert_int_equal(sum, 2 + 3 + 4 + 5 + 6 + 7);
    let_go(&sleeper);
    let_go(&another);
    let_go(&first);
    end_sessions(&loop, &other);
}

static void a_session_is_its_callers_alone(void **state)
{
    struct loop loop;
    struct other other;
    struct ours first, o;
    char forged[200];
    (void)state;
    begin_sessions(&loop, &other);
    call_to(&loop, &other, loop.runner, &first, "kept.count", "{}", 1);
    call_to(&loop, &other, loop.runner, &o, "kept.count", in_session(&first, ""), 2);
    assert_ptr_equal(code_of(&o), MISHAP_CODE_NOT_FOUND);
    let_go(&o);
    snprintf(forged, sizeof forged, "%s", in_session(&first, ""));
    char *digit = strrchr(forged, '"') - 1;
    *digit = *digit == '0' ? '1' : '0';
    call_to(&loop, &other, loop.runner, &o, "kept.count", forged, 1);
    assert_ptr_equal(code_of(&o), MISHAP_CODE_NOT_FOUND);
    let_go(&o);
    let_go(&first);
    end_sessions(&loop, &other);
}

static void the_session_of_a_conversation_need_not_be_named(void **state)
{
    struct loop loop;
    struct other other;
    struct ours o;
    (void)state;
    begin_sessions(&loop, &other);
    for (int i = 1; i <= 3; i++) {
        add_to(&loop, i % 2 ? loop.runner : other.runner, &o, "kept.count", "{}", 1);
        o.run.call->conversation = (mishap_text)MISHAP_TEXT("a conversation");
        wait_both(&loop, &other, &o);
        assert_int_equal(member(&o, "n"), i);
        assert_null(o.run.call->session_is);
        let_go(&o);
    }
    add_to(&loop, loop.runner, &o, "kept.count", "{}", 2);
    o.run.call->conversation = (mishap_text)MISHAP_TEXT("a conversation");
    wait_both(&loop, &other, &o);
    assert_int_equal(member(&o, "n"), 1);
    let_go(&o);
    end_sessions(&loop, &other);
}

static void add_in_conversation(struct loop *loop, mishap_runner *runner, struct ours *o,
                                const char *name, const char *arguments)
{
    add_to(loop, runner, o, name, arguments, 1);
    o->run.call->conversation = (mishap_text)MISHAP_TEXT("a conversation");
}

static void expect_count(struct loop *loop, const struct other *other, mishap_runner *runner,
                         int64_t count)
{
    struct ours o;
    add_in_conversation(loop, runner, &o, "kept.count", "{}");
    wait_both(loop, other, &o);
    assert_int_equal(member(&o, "n"), count);
    assert_int_equal(mishap_call_warnings(o.run.call).length, 0);
    let_go(&o);
}

/* … also if another loop waits for it already, and when a call of it runs. */
static void a_session_that_was_dismissed_is_passed_on_to_nobody(void **state)
{
    struct loop loop;
    struct other other;
    struct ours running, waiting;
    (void)state;
    begin_sessions(&loop, &other);
    expect_count(&loop, &other, loop.runner, 1);
    expect_count(&loop, &other, loop.runner, 2);
    mishap_runner_dismiss(loop.runner, 1, (mishap_text)MISHAP_TEXT("a conversation"));
    expect_count(&loop, &other, other.runner, 1);
    add_in_conversation(&loop, other.runner, &running, "kept.do", "{\"way\":\"nap\"}");
    mishap_runner_flush(other.runner);
    add_in_conversation(&loop, loop.runner, &waiting, "kept.count", "{}");
    mishap_runner_flush(loop.runner);
    mishap_runner_dismiss(loop.runner, 1, (mishap_text)MISHAP_TEXT("a conversation"));
    wait_both(&loop, &other, &waiting);
    assert_true(running.done);
    assert_int_equal(member(&waiting, "n"), 1);
    let_go(&running);
    let_go(&waiting);
    expect_count(&loop, &other, other.runner, 2); /* the new one is a session like any other */
    end_sessions(&loop, &other);
}

/* It may run a call of a loop that is gone, and ends when it is free. */
static void a_session_of_a_lost_loop_that_was_dismissed_ends(void **state)
{
    struct loop loop;
    struct other other;
    struct ours hanging;
    (void)state;
    begin_sessions(&loop, &other);
    expect_count(&loop, &other, other.runner, 1);
    add_in_conversation(&loop, other.runner, &hanging, "kept.do", "{\"way\":\"sleep\"}");
    mishap_runner_flush(other.runner);
    mishap_runner_close(other.runner);
    mishap_keeper_disconnect(&loop.keeper, other.kept);
    mishap_runner_dismiss(loop.runner, 1, (mishap_text)MISHAP_TEXT("a conversation"));
    open_loop(&loop, &other.runner, &other.kept);
    expect_count(&loop, &other, other.runner, 1);
    mishap_call_end(hanging.run.call);
    end_sessions(&loop, &other);
}

/* -- the keeper, asked by loops that the test plays -------------------------------------------- */

struct asking {
    int socket, kept;
};

static struct asking connect_to(struct loop *loop)
{
    struct asking asking;
    assert_true(mishap_keeper_connect(&loop->keeper, &asking.socket, &asking.kept));
    return asking;
}

static void leave_keeper(struct loop *loop, struct asking asking)
{
    close(asking.socket);
    mishap_keeper_disconnect(&loop->keeper, asking.kept);
}

static mishap_keeper_message about(const struct loop *loop, mishap_keeper_word word, uint8_t key)
{
    mishap_keeper_message message = { .word = word };
    while (!loop->plan.groups.groups[message.group].foreign ||
           !loop->plan.groups.groups[message.group].foreign->sessions)
        message.group++;
    message.session[0] = key;
    return message;
}

static void say_to(struct asking asking, mishap_keeper_message message)
{
    assert_true(mishap_keeper_send(asking.socket, &message, NULL, 0));
}

static mishap_keeper_message hear_from(struct asking asking)
{
    mishap_keeper_message message;
    int files[MISHAP_KEEPER_FILES];
    size_t count;
    assert_int_equal(mishap_keeper_receive(asking.socket, &message, files, &count, 120000), 1);
    for (size_t i = 0; i < count; i++)
        close(files[i]);
    return message;
}

static mishap_keeper_message lease_to(const struct loop *loop, struct asking asking, uint8_t key)
{
    say_to(asking, about(loop, MISHAP_KEEPER_LEASE, key));
    mishap_keeper_message answer = hear_from(asking);
    assert_int_equal(answer.word, MISHAP_KEEPER_STARTED);
    assert_int_equal(answer.session[0], key);
    return answer;
}

/* Neither to give back what another one uses, nor to end it. */
static void a_loop_has_no_say_in_the_session_of_another(void **state)
{
    static const mishap_keeper_word words[] = { MISHAP_KEEPER_RELEASE, MISHAP_KEEPER_CLOSE,
                                                MISHAP_KEEPER_END, MISHAP_KEEPER_PUT_AWAY };
    struct loop loop;
    (void)state;
    prepare(&loop, &abroad_app);
    begin_prepared(&loop);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct asking one = connect_to(&loop), other = connect_to(&loop);
        uint8_t key = (uint8_t)(2 * i + 1);
        mishap_keeper_message has = lease_to(&loop, one, key);
        mishap_keeper_message wrong = about(&loop, words[i], key);
        wrong.worker = has.worker;
        say_to(other, wrong);
        lease_to(&loop, other, (uint8_t)(key + 1)); /* now the keeper has heard the word before */
        say_to(other, about(&loop, MISHAP_KEEPER_LEASE, key));
        mishap_keeper_message recall = hear_from(one);
        assert_int_equal(recall.word, MISHAP_KEEPER_RECALL);
        assert_int_equal(recall.worker, has.worker);
        mishap_keeper_message release = about(&loop, MISHAP_KEEPER_RELEASE, key);
        release.worker = has.worker;
        say_to(one, release);
        mishap_keeper_message next = hear_from(other);
        assert_int_equal(next.word, MISHAP_KEEPER_STARTED);
        assert_int_equal(next.pid, has.pid);
        leave_keeper(&loop, one);
        leave_keeper(&loop, other);
    }
    end(&loop);
}

/* The place of a loop that is gone is taken by the next one, which has asked for nothing. */
static void a_session_is_not_passed_on_to_a_loop_that_never_asked(void **state)
{
    struct loop loop;
    (void)state;
    prepare(&loop, &abroad_app);
    begin_prepared(&loop);
    struct asking one = connect_to(&loop), gone = connect_to(&loop);
    mishap_keeper_message has = lease_to(&loop, one, 1);
    say_to(gone, about(&loop, MISHAP_KEEPER_LEASE, 1));
    assert_int_equal(hear_from(one).word, MISHAP_KEEPER_RECALL);
    leave_keeper(&loop, gone);
    lease_to(&loop, one, 2); /* the keeper has seen that it is gone, or sees it first now */
    struct asking other = connect_to(&loop);
    lease_to(&loop, other, 3);
    mishap_keeper_message release = about(&loop, MISHAP_KEEPER_RELEASE, 1);
    release.worker = has.worker;
    say_to(one, release);
    lease_to(&loop, one, 4);
    lease_to(&loop, other, 5); /* the first that it hears */
    leave_keeper(&loop, one);
    leave_keeper(&loop, other);
    end(&loop);
}

/* … and wait until its program has begun: a signal would end it before. */
static mishap_keeper_message lease_ready(const struct loop *loop, struct asking asking, uint8_t key)
{
    mishap_keeper_message has;
    int files[MISHAP_KEEPER_FILES];
    size_t count;
    say_to(asking, about(loop, MISHAP_KEEPER_LEASE, key));
    assert_int_equal(mishap_keeper_receive(asking.socket, &has, files, &count, 120000), 1);
    assert_int_equal(has.word, MISHAP_KEEPER_STARTED);
    assert_int_equal(count, 1);
    struct pollfd ready = { .fd = files[0], .events = POLLIN };
    assert_int_equal(poll(&ready, 1, 120000), 1);
    close(files[0]);
    return has;
}

/* The loop that had it lowered would have had it restored, and is gone. */
static void a_session_that_is_passed_on_has_its_priority_back(void **state)
{
    struct loop loop;
    (void)state;
    if (!mishap_priority_can_be_restored())
        skip();
    prepare(&loop, &abroad_app);
    begin_prepared(&loop);
    int usual = getpriority(PRIO_PROCESS, 0);
    struct asking one = connect_to(&loop), other = connect_to(&loop);
    mishap_keeper_message has = lease_ready(&loop, one, 1);
    mishap_keeper_message yields = about(&loop, MISHAP_KEEPER_YIELD, 1);
    yields.worker = has.worker;
    yields.yields = true;
    say_to(one, yields);
    lease_to(&loop, one, 2); /* now the keeper has heard the word before */
    assert_true(getpriority(PRIO_PROCESS, (id_t)has.pid) > usual);
    leave_keeper(&loop, one);
    assert_int_equal(lease_to(&loop, other, 1).pid, has.pid);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)has.pid), usual);
    leave_keeper(&loop, other);
    end(&loop);
}

static void a_session_outlives_the_loop_that_began_it(void **state)
{
    struct loop loop;
    struct other other;
    struct ours first, hanging, o;
    (void)state;
    begin_sessions(&loop, &other);
    call_to(&loop, &other, other.runner, &first, "kept.count", "{\"by\":5}", 1);
    add_to(&loop, other.runner, &hanging, "kept.do", in_session(&first, "\"way\":\"sleep\","), 1);
    mishap_runner_flush(other.runner);
    mishap_runner_close(other.runner); /* in the middle of a call, as if the process was killed */
    mishap_keeper_disconnect(&loop.keeper, other.kept);
    open_loop(&loop, &other.runner, &other.kept);
    call_to(&loop, &other, loop.runner, &o, "kept.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 6);
    assert_int_equal(member(&o, "pid"), member(&first, "pid"));
    let_go(&o);
    mishap_call_end(hanging.run.call);
    let_go(&first);
    end_sessions(&loop, &other);
}

static void a_session_whose_process_died_begins_afresh(void **state)
{
    struct loop loop;
    struct other other;
    struct ours first, o;
    (void)state;
    begin_sessions(&loop, &other);
    call_to(&loop, &other, loop.runner, &first, "kept.count", "{\"by\":5}", 1);
    call_to(&loop, &other, loop.runner, &o, "kept.do", in_session(&first, "\"way\":\"exit\","), 1);
    assert_ptr_equal(code_of(&o), MISHAP_CODE_RUNTIME_ERROR); /* as the service tells it */
    assert_true(is_noted(&o, "ended with status 7"));
    assert_true(is_noted(&o, "my last words"));
    told_nothing_private(&o);
    let_go(&o);
    call_to(&loop, &other, loop.runner, &o, "kept.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 1);
    assert_int_equal(mishap_call_warnings(o.run.call).length, 0); /* its caller knows */
    let_go(&o);
    call_to(&loop, &other, loop.runner, &o, "kept.do", in_session(&first, "\"way\":\"leave\","), 1);
    assert_ptr_equal(code_of(&o),
                     MISHAP_CODE_INTERNAL_ERROR); /* by itself: nobody else is blamed */
    assert_true(is_noted(&o, "ended with status 71"));
    assert_true(is_noted(&o, "the system refused it memory"));
    assert_true(is_noted(&o, "my last words"));
    told_nothing_private(&o);
    let_go(&o);
    call_to(&loop, &other, loop.runner, &o, "kept.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 1);
    assert_non_null(strstr(text_of(mishap_call_warnings(o.run.call)), "had ended"));
    let_go(&o);
    call_to(&loop, &other, loop.runner, &o, "kept.do", in_session(&first, "\"way\":\"hang\","), 1);
    assert_ptr_equal(code_of(&o), MISHAP_CODE_TIMEOUT);
    let_go(&o);
    call_to(&loop, &other, other.runner, &o, "kept.count", in_session(&first, "\"by\":7,"), 1);
    assert_int_equal(member(&o, "n"), 7);
    kill((pid_t)member(&o, "pid"), SIGKILL); /* between two calls, so nobody was told */
    let_go(&o);
    for (int i = 0; i < 20; i++)
        turn_both(&loop, &other, 20);
    call_to(&loop, &other, other.runner, &o, "kept.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 1);
    assert_non_null(strstr(text_of(mishap_call_warnings(o.run.call)), "had ended"));
    let_go(&o);
    call_to(&loop, &other, other.runner, &o, "kept.do", in_session(&first, "\"way\":\"last\","), 1);
    assert_int_equal(member(&o, "n"), -1);
    let_go(&o);
    call_to(&loop, &other, loop.runner, &o, "kept.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 1);
    assert_int_equal(mishap_call_warnings(o.run.call).length, 0); /* it ended as it was told to */
    let_go(&o);
    let_go(&first);
    end_sessions(&loop, &other);
}

static void a_session_that_the_keeper_lost_begins_afresh_and_says_so(void **state)
{
    struct loop loop;
    struct other other;
    struct ours first, o;
    (void)state;
    begin_sessions(&loop, &other);
    call_to(&loop, &other, loop.runner, &first, "kept.count", "{\"by\":5}", 1);
    pid_t pid = (pid_t)member(&first, "pid");
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    kill(loop.keeper.pid, SIGKILL);
    while ((loop.keeper.generation < 2 || kill(pid, 0) == 0) && mishap_clock_monotonic_ns() < until)
        turn_both(&loop, &other, 20);
    turn_both(&loop, &other, 20); /* a call that was given to it now would fail */
    call_to(&loop, &other, loop.runner, &o, "kept.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 1);
    assert_non_null(strstr(text_of(mishap_call_warnings(o.run.call)), "lost"));
    let_go(&o);
    call_to(&loop, &other, other.runner, &o, "kept.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 2);
    assert_int_equal(mishap_call_warnings(o.run.call).length, 0);
    let_go(&o);
    let_go(&first);
    end_sessions(&loop, &other);
}

static void an_idle_session_ends_and_the_next_call_is_warned(void **state)
{
    struct loop loop;
    struct other other;
    struct ours first, o;
    (void)state;
    abroad_kept.idle_ms = abroad_kept.unnamed_ms = 100;
    begin_sessions(&loop, &other);
    call_to(&loop, &other, loop.runner, &first, "kept.count", "{\"by\":5}", 1);
    pid_t pid = (pid_t)member(&first, "pid");
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    while (kill(pid, 0) == 0 && mishap_clock_monotonic_ns() < until)
        turn_both(&loop, &other, 20);
    assert_int_equal(kill(pid, 0), -1);
    call_to(&loop, &other, other.runner, &o, "kept.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 1);
    assert_non_null(strstr(text_of(mishap_call_warnings(o.run.call)), "idle"));
    pid = (pid_t)member(&o, "pid");
    let_go(&o);
    mishap_runner_close(other.runner); /* no loop has it: the keeper ends it */
    mishap_keeper_disconnect(&loop.keeper, other.kept);
    open_loop(&loop, &other.runner, &other.kept);
    while (kill(pid, 0) == 0 && mishap_clock_monotonic_ns() < until)
        turn_both(&loop, &other, 20);
    assert_int_equal(kill(pid, 0), -1);
    let_go(&first);
    end_sessions(&loop, &other);
    abroad_kept.idle_ms = abroad_kept.unnamed_ms = 0;
}

/* One that does not notice that its connection is closed. */
static void a_session_that_does_not_end_by_itself_is_killed(void **state)
{
    struct loop loop;
    struct other other;
    struct ours o;
    (void)state;
    abroad_kept.idle_ms = abroad_kept.unnamed_ms = 100;
    begin_sessions(&loop, &other);
    call_to(&loop, &other, loop.runner, &o, "kept.do", "{\"way\":\"stay\"}", 1);
    pid_t pid = (pid_t)member(&o, "n");
    assert_true(pid > 0);
    int64_t until = mishap_clock_monotonic_ns() + INT64_C(120000000000);
    while (kill(pid, 0) == 0 && mishap_clock_monotonic_ns() < until)
        turn_both(&loop, &other, 20);
    assert_int_equal(kill(pid, 0), -1);
    let_go(&o);
    end_sessions(&loop, &other);
    abroad_kept.idle_ms = abroad_kept.unnamed_ms = 0;
}

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

static void there_are_so_many_sessions_and_of_one_caller_fewer(void **state)
{
    struct loop loop;
    struct other other;
    struct ours o[4], one;
    (void)state;
    abroad_kept.most_sessions = 4;
    prepare(&loop, &abroad_app);
    loop.plan.caller_share = 50;
    assert_null(mishap_sessions_make(&sessions));
    assert_null(mishap_keeper_start(&loop.keeper, &loop.plan));
    open_loop(&loop, &loop.runner, &loop.kept);
    open_loop(&loop, &other.runner, &other.kept);
    for (int i = 0; i < 4; i++) {
        call_to(&loop, &other, loop.runner, &o[i], "kept.count", "{}", (uint64_t)i / 2 + 1);
        assert_null(o[i].failure);
        struct ours again; /* it is named: so it is kept */
        call_to(&loop, &other, loop.runner, &again, "kept.count", in_session(&o[i], ""),
                (uint64_t)i / 2 + 1);
        let_go(&again);
        if (i == 1) {
            call_to(&loop, &other, loop.runner, &one, "kept.count", "{}", 1);
            assert_ptr_equal(code_of(&one), MISHAP_CODE_RATE_LIMITED);
            let_go(&one);
        }
    }
    call_to(&loop, &other, other.runner, &one, "kept.count", "{}", 3);
    assert_ptr_equal(code_of(&one), MISHAP_CODE_UNAVAILABLE);
    let_go(&one);
    call_to(&loop, &other, other.runner, &one, "kept.count", in_session(&o[3], ""), 2);
    assert_int_equal(member(&one, "n"), 3);
    let_go(&one);
    for (int i = 0; i < 4; i++)
        let_go(&o[i]);
    end_sessions(&loop, &other);
    abroad_kept.most_sessions = 0;
}

static void a_session_that_nobody_named_gives_way_to_another(void **state)
{
    struct loop loop;
    struct other other;
    struct ours o;
    (void)state;
    abroad_kept.most_sessions = 4;
    begin_sessions(&loop, &other);
    for (int i = 0; i < 12; i++) {
        call_to(&loop, &other, loop.runner, &o, "kept.count", "{}", 1);
        assert_int_equal(member(&o, "n"), 1);
        let_go(&o);
    }
    end_sessions(&loop, &other);
    abroad_kept.most_sessions = 0;
}

static void a_hundred_sessions_run_at_once(void **state)
{
    enum { MANY = 100 };
    static struct ours o[MANY], again;
    struct loop loop;
    struct other other;
    (void)state;
    begin_sessions(&loop, &other);
    for (int i = 0; i < MANY; i++) {
        char arguments[50];
        snprintf(arguments, sizeof arguments, "{\"by\":%d}", i);
        add_to(&loop, i % 2 ? loop.runner : other.runner, &o[i], "kept.count", arguments, 1);
    }
    for (int i = 0; i < MANY; i++)
        wait_both(&loop, &other, &o[i]);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(member(&o[i], "n"), i);
        call_to(&loop, &other, i % 3 ? loop.runner : other.runner, &again, "kept.count",
                in_session(&o[i], ""), 1);
        assert_int_equal(member(&again, "n"), i + 1);
        let_go(&again);
        let_go(&o[i]);
    }
    end_sessions(&loop, &other);
}

static void a_session_in_a_sandbox_is_a_session(void **state)
{
    struct loop loop;
    struct other other;
    struct ours first, o;
    (void)state;
    mishap *missing = mishap_sandbox_check(MISHAP_SANDBOX_STRICT);
    if (missing) {
        mishap_free(missing);
        skip();
    }
    begin_sessions(&loop, &other);
    call_to(&loop, &other, loop.runner, &first, "boxed.count", "{\"by\":5}", 1);
    assert_int_equal(member(&first, "n"), 5);
    call_to(&loop, &other, other.runner, &o, "boxed.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 6);
    let_go(&o);
    call_to(&loop, &other, other.runner, &o, "boxed.do", in_session(&first, "\"way\":\"escape\","),
            1);
    assert_int_equal(member(&o, "n"), 0);
    let_go(&o);
    call_to(&loop, &other, loop.runner, &o, "boxed.do", in_session(&first, "\"way\":\"nap\","), 1);
    assert_ptr_equal(code_of(&o), MISHAP_CODE_TIMEOUT);
    assert_string_equal(text_of(mishap_public_message(mishap_told(o.failure))), "Stopped.");
    let_go(&o);
    call_to(&loop, &other, loop.runner, &o, "boxed.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 7);
    let_go(&o);
    call_to(&loop, &other, loop.runner, &o, "boxed.do", in_session(&first, "\"way\":\"exit\","), 1);
    assert_ptr_equal(code_of(&o), MISHAP_CODE_INTERNAL_ERROR);
    assert_true(is_noted(&o, "my last words"));
    let_go(&o);
    call_to(&loop, &other, loop.runner, &o, "boxed.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 1);
    let_go(&o);
    let_go(&first);
    end_sessions(&loop, &other);
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
    mishap *failure = mishap_invoke(&abroad_app, "kept.do", "{\"way\":\"nap\"}", &how, &answered);
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

static void a_process_that_is_launched_is_waited_for_by_its_first_call(void **state)
{
    mishap_foreign_process *process;
    mishap_answered *answered;
    (void)state;
    assert_null(mishap_foreign_launch(&abroad_app, &abroad_kept, &process));
    mishap_invocation how = { .process = process };
    for (int i = 1; i <= 2; i++) {
        assert_null(mishap_invoke(&abroad_app, "kept.count", "{\"by\":2}", &how, &answered));
        assert_int_equal(mishap_integer(answered->json, "n"), 2 * i);
        mishap_answered_free(answered);
    }
    mishap_foreign_stop(process);
    mishap_app_close();
}

/* Of this process, which has one. */
static pid_t only_child(void)
{
    char path[64], ids[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(ids, 1, sizeof ids - 1, file) > 0);
    fclose(file);
    return (pid_t)strtol(ids, NULL, 10);
}

static void wait_for_end_of(pid_t pid)
{
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* Whoever calls may take another one: no call was begun. */
static void a_process_that_ended_while_it_waited_begins_no_call(void **state)
{
    mishap_foreign_process *process;
    mishap_answered *answered;
    (void)state;
    assert_null(mishap_foreign_start(&abroad_app, &abroad_kept, &process));
    pid_t pid = only_child();
    kill(pid, SIGKILL);
    wait_for_end_of(pid);
    mishap *failure = mishap_invoke(&abroad_app, "kept.count", NULL,
                                    &(mishap_invocation){ .process = process }, &answered);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
    mishap_free(failure);
    assert_true(mishap_foreign_is_over(process));
    mishap_foreign_stop(process);
    mishap_app_close();
}

/* It makes no difference whether it ended before its first call or while that waited. */
static void a_launched_process_that_ended_says_why_it_cannot_begin(void **state)
{
    static const struct {
        const char *operation, *program; /* NULL: the usual one */
        mishap_foreign *foreign;
        const mishap_code *code;
    } rows[] = {
        { "kept.count", "/", &abroad_kept, MISHAP_CODE_NOT_CONFIGURED }, /* exec() fails */
        { "bad.count", NULL, &abroad_bad, MISHAP_CODE_NOT_CONFIGURED },  /* it says so */
        { "dead.count", NULL, &abroad_dead, MISHAP_CODE_UNAVAILABLE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_foreign_process *process;
        mishap_answered *answered;
        const char *usual = rows[i].foreign->program;
        rows[i].foreign->program = rows[i].program ? rows[i].program : usual;
        assert_null(mishap_foreign_launch(&abroad_app, rows[i].foreign, &process));
        wait_for_end_of(only_child());
        mishap *failure = mishap_invoke(&abroad_app, rows[i].operation, NULL,
                                        &(mishap_invocation){ .process = process }, &answered);
        assert_ptr_equal(mishap_told(failure)->code, rows[i].code);
        mishap_free(failure);
        assert_true(mishap_foreign_is_over(process));
        mishap_foreign_stop(process);
        rows[i].foreign->program = usual;
    }
    mishap_app_close();
}

static size_t open_files(void)
{
    size_t count = 0;
    for (int file = 0; file < 256; file++)
        count += fcntl(file, F_GETFD) >= 0;
    return count;
}

static mishap *not_usable(void)
{
    return mishap_raise(NOT_CONFIGURED, "Not here.");
}

static mishap *(*const beginnings[])(const mishap_app *app, const mishap_foreign *foreign,
                                     mishap_foreign_process **out) = { mishap_foreign_start,
                                                                       mishap_foreign_launch };

static mishap *no_store(const mishap_setup *setup, void **store)
{
    (void)setup;
    *store = NULL;
    return not_usable();
}

static const mishap_service closed = { "closed", .open = no_store, .worker = &abroad_kept };
static const mishap_operation of_closed[] = { { "count", "Count", .service = &closed }, { 0 } };
static const mishap_app closed_app = { "closed", "1.0", "A sample", .operations = of_closed };

/* The caller gets no process then, and need not stop one. */
static void a_process_that_cannot_be_started_is_none(void **state)
{
    mishap_foreign refused = abroad_kept;
    struct rlimit usual, few;
    (void)state;
    refused.usable = not_usable;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        union {
            const void *given;
            mishap_foreign_process *process;
        } out = { &refused };
        mishap *failure = beginnings[i](&abroad_app, &refused, &out.process);
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_CONFIGURED);
        assert_null(out.process);
        mishap_free(failure);
        out.given = &refused;
        failure = beginnings[i](&closed_app, &abroad_kept, &out.process);
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_CONFIGURED);
        assert_null(out.process);
        mishap_free(failure);
        for (int more = 0; more < 3; more++) { /* a socket with two ends, and its output */
            size_t before = open_files();
            int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
            assert_int_equal(close(next), 0);
            few = (struct rlimit){ (rlim_t)(next + more), usual.rlim_max };
            out.given = &refused;
            assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
            failure = beginnings[i](&abroad_app, &abroad_kept, &out.process);
            assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
            assert_non_null(failure);
            assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
            assert_null(out.process);
            assert_int_equal(open_files(), before);
            mishap_free(failure);
        }
    }
    mishap_app_close();
}

static void begin_without_memory(const void *input)
{
    const size_t *which = input;
    mishap_foreign_process *process;
    mishap *failure = beginnings[*which](&abroad_app, &abroad_kept, &process);
    assert_true(!failure == (process != NULL));
    mishap_foreign_stop(process);
    mishap_free(failure);
    mishap_app_close();
}

static void a_process_without_memory_is_none(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        torture(begin_without_memory, &i);
    mishap_use_allocator(NULL);
}

/* Of `count` lines of 50 bytes, what is kept for the operator. */
static mishap_text kept_of(int count, char output[MISHAP_FOREIGN_LAST_OUTPUT])
{
    mishap_spawned spawned = { .output = memfd_create("output", MFD_CLOEXEC) };
    assert_true(spawned.output >= 0);
    for (int i = 0; i < count; i++)
        assert_int_equal(dprintf(spawned.output, "%049d\n", i), 50);
    size_t length = mishap_spawn_output(&spawned, output);
    close(spawned.output);
    return (mishap_text){ output, length };
}

static void of_much_output_the_beginning_and_the_end_are_kept(void **state)
{
    (void)state;
    char output[MISHAP_FOREIGN_LAST_OUTPUT], first[51], last[51];
    assert_int_equal(kept_of(0, output).length, 0);
    assert_int_equal(kept_of(40, output).length, 2000);
    assert_null(memmem(output, 2000, "[…]", strlen("[…]")));
    for (int count = 41; count < 1000; count += 317) {
        mishap_text kept = kept_of(count, output);
        snprintf(first, sizeof first, "%049d\n", 0);
        snprintf(last, sizeof last, "%049d\n", count - 1);
        assert_int_equal(kept.length, 2000);
        assert_memory_equal(output, first, 50);
        assert_memory_equal(output + 1950, last, 50);
        assert_non_null(memmem(output, 2000, "[…]", strlen("[…]")));
    }
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
        TEST(a_message_with_a_flaw_is_none),
        TEST(an_object_has_so_many_members_and_not_one_more),
        TEST(a_message_is_as_long_as_may_be_and_not_one_byte_more),
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
        TEST(a_session_keeps_its_state_in_any_loop),
        TEST(calls_of_a_session_run_in_order_and_hold_up_no_other),
        TEST(a_session_is_its_callers_alone),
        TEST(the_session_of_a_conversation_need_not_be_named),
        TEST(a_session_that_was_dismissed_is_passed_on_to_nobody),
        TEST(a_session_of_a_lost_loop_that_was_dismissed_ends),
        TEST(a_loop_has_no_say_in_the_session_of_another),
        TEST(a_session_is_not_passed_on_to_a_loop_that_never_asked),
        TEST(a_session_that_is_passed_on_has_its_priority_back),
        TEST(a_session_outlives_the_loop_that_began_it),
        TEST(a_session_whose_process_died_begins_afresh),
        TEST(a_session_that_the_keeper_lost_begins_afresh_and_says_so),
        TEST(an_idle_session_ends_and_the_next_call_is_warned),
        TEST(a_session_that_does_not_end_by_itself_is_killed),
        TEST(a_sandbox_that_cannot_be_entered_says_why),
        TEST(there_are_so_many_sessions_and_of_one_caller_fewer),
        TEST(a_session_that_nobody_named_gives_way_to_another),
        TEST(a_hundred_sessions_run_at_once),
        TEST(a_session_in_a_sandbox_is_a_session),
        TEST(a_process_runs_several_calls_of_one_caller),
        TEST(a_process_that_is_launched_is_waited_for_by_its_first_call),
        TEST(a_process_that_ended_while_it_waited_begins_no_call),
        TEST(a_launched_process_that_ended_says_why_it_cannot_begin),
        TEST(a_process_that_cannot_be_started_is_none),
        TEST(a_process_without_memory_is_none),
        TEST(of_much_output_the_beginning_and_the_end_are_kept),
    };
    return RUN(tests);
}
