/*
 * Foreign programs as workers, with a real keeper and a real program: sessions that several loops
 * use.
 */
#include "testing.h"

#include <sys/resource.h>

#include "abroad.h"
#include "base/priority.h"
#include "foreign_told.h"
#include "worker/loop/inside.h"
#include "worker/wire/session_handles.h"

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
    begin_run(o, loop->plan.app, name, arguments);
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
    int64_t until = long_after();
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

static bool has_a_session(const mishap_runner *runner)
{
    for (const mishap_link *link = runner->links; link; link = link->next)
        if (link->is_session)
            return true;
    return false;
}

/* Until both loops know that the processes of all sessions are gone. */
static void wait_for_the_end_of_sessions(struct loop *loop, const struct other *other)
{
    int64_t until = long_after();
    while ((has_a_session(loop->runner) || has_a_session(other->runner)) &&
           mishap_clock_monotonic_ns() < until)
        turn_both(loop, other, 20);
    assert_false(has_a_session(loop->runner) || has_a_session(other->runner));
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
    int64_t sum = 0, until = long_after();
    while (!sleeper.done && mishap_clock_monotonic_ns() < until) {
        sigqueue((pid_t)member(&first, "pid"), SIGINT, (union sigval){ .sival_int = 0 });
        turn_both(&loop, &other, 20);
    }
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
    add_in_conversation(&loop, other.runner, &running, "kept.late", "{\"way\":\"nap\"}");
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
                     MISHAP_CODE_INTERNAL_ERROR); /* by itself: no caller is at fault */
    assert_true(is_noted(&o, "ended with status 71"));
    assert_true(is_noted(&o, "the system refused it memory"));
    assert_true(is_noted(&o, "my last words"));
    told_nothing_private(&o);
    let_go(&o);
    call_to(&loop, &other, loop.runner, &o, "kept.count", in_session(&first, ""), 1);
    assert_int_equal(member(&o, "n"), 1);
    assert_non_null(strstr(text_of(mishap_call_warnings(o.run.call)), "had ended"));
    let_go(&o);
    abroad_kept.grace_ms = ABROAD_SHORT_GRACE_MS;
    call_to(&loop, &other, loop.runner, &o, "kept.late", in_session(&first, "\"way\":\"hang\","),
            1);
    abroad_kept.grace_ms = ABROAD_GRACE_MS;
    assert_ptr_equal(code_of(&o), MISHAP_CODE_TIMEOUT);
    let_go(&o);
    call_to(&loop, &other, other.runner, &o, "kept.count", in_session(&first, "\"by\":7,"), 1);
    assert_int_equal(member(&o, "n"), 7);
    kill((pid_t)member(&o, "pid"), SIGKILL); /* between two calls, so no caller was told */
    let_go(&o);
    wait_for_the_end_of_sessions(&loop, &other);
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
    int64_t until = long_after();
    kill(loop.keeper.pid, SIGKILL);
    while ((loop.keeper.generation < 2 || kill(pid, 0) == 0) && mishap_clock_monotonic_ns() < until)
        turn_both(&loop, &other, 20);
    wait_for_the_end_of_sessions(&loop, &other); /* a call that was given to one would fail */
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
    int64_t until = long_after();
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
    int64_t until = long_after();
    while (kill(pid, 0) == 0 && mishap_clock_monotonic_ns() < until)
        turn_both(&loop, &other, 20);
    assert_int_equal(kill(pid, 0), -1);
    let_go(&o);
    end_sessions(&loop, &other);
    abroad_kept.idle_ms = abroad_kept.unnamed_ms = 0;
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
    call_to(&loop, &other, loop.runner, &o, "boxed.late", in_session(&first, "\"way\":\"nap\","),
            1);
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

int main(void)
{
    abroad_begin();
    const struct CMUnitTest tests[] = {
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
        TEST(there_are_so_many_sessions_and_of_one_caller_fewer),
        TEST(a_session_that_nobody_named_gives_way_to_another),
        TEST(a_hundred_sessions_run_at_once),
        TEST(a_session_in_a_sandbox_is_a_session),
    };
    return RUN(tests);
}
