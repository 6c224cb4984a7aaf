/*
 * Sessions of foreign programs that the test plays: which process a call goes to, when it is given
 * back, what its caller is told of it, and how its call is stopped.
 */
#include "fake_program.h"

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

/* What it still says of a call that another loop gave it is told from what it says of ours. */
static void no_two_loops_give_the_same_numbers_to_calls(void **state)
{
    unsigned ids[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct ours o;
        open_runner();
        add(&o, "kept.run", "{}");
        start(MISHAP_KEEPER_LEASE);
        ids[i] = take_call();
        say_of(ids[i], "\"answer\":{\"n\":1}");
        is_answered(&o);
        close_runner();
        close(program);
    }
    assert_int_not_equal(ids[0], ids[1]);
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

/* Of the caller itself if it has its share, else of any caller that did not come back to its
 * own. */
static void a_session_gives_way_if_there_are_too_many(void **state)
{
    static const struct {
        int error;
        uint64_t holder; /* of who comes; 1 has a session that it has not named again */
        bool meek, closes;
    } rows[] = {
        { EUSERS, 1, false, true }, { EUSERS, 2, false, true },
        { EUSERS, 2, true, false }, /* no call asked for it: it takes no place */
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

/* One that it need not name is refused like any other. */
static void the_session_of_a_conversation_can_be_refused(void **state)
{
    struct ours o;
    (void)state;
    open_runner();
    add_to_conversation(&o, "kept.run", T("a conversation"));
    mishap_keeper_message asked = hear(MISHAP_KEEPER_LEASE);
    refuse(&asked, EDQUOT);
    turn();
    expect_words(&o, MISHAP_CODE_RATE_LIMITED, "too many sessions");
    assert_null(o.run.call->session_is);
    let_go(&o);
    close_runner();
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
        bool acknowledged = i == 0;
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
            if (k == 0 || acknowledged)
                interrupted();
        }
        for (int k = 0; k < 100 && acknowledged; k++) { /* the clock is looked at several times */
            hear_no(MISHAP_KEEPER_INTERRUPT);
            usleep(3000);
        }
        say_of(id, ends[i]);
        assert_int_equal(orphans, i == 2); /* who cancelled it knows */
        assert_int_equal(mishap_runner_count(runner, true), 0);
        add(&next, "kept.run", in_session(first.run.call->session_is));
        if (!acknowledged) {
            assert_string_equal(heard(), "");
            interrupted();
        }
        say_of(take_call(), "\"answer\":{\"n\":1}");
        is_answered(&next);
        hear_no(MISHAP_KEEPER_INTERRUPT);
        let_go(&first);
        close_runner();
        close(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_program_has_no_say_in_which_session_it_is),
        TEST(no_two_loops_give_the_same_numbers_to_calls),
        TEST(only_the_process_that_is_recalled_is_given_back),
        TEST(a_session_that_rests_is_given_back_at_once),
        TEST(why_a_session_is_not_what_it_was_is_told_once),
        TEST(a_session_that_the_keeper_does_not_know_was_lost),
        TEST(a_session_gives_way_if_there_are_too_many),
        TEST(a_session_that_was_refused_is_asked_for_again),
        TEST(the_session_of_a_conversation_can_be_refused),
        TEST(a_caller_runs_long_calls_in_so_many_sessions),
        TEST(sessions_that_live_go_on_while_none_can_begin),
        TEST(a_forgotten_call_is_interrupted_when_it_was_read),
    };
    return RUN(tests);
}
