/* Calls over MCP that are run by the runner of calls: how they are answered, and how they end. */

#include "mcp_flights.h"

/* -- a transport ------------------------------------------------------------------------------- */

/* The n-th line is a result that is an error of this type. */
static void assert_failed(struct transport *t, size_t n, const char *type)
{
    yyjson_doc *doc = line(t, n);
    yyjson_val *result = yyjson_obj_get(yyjson_doc_get_root(doc), "result");
    assert_true(yyjson_is_true(yyjson_obj_get(result, "isError")));
    assert_string_equal(yyjson_get_str(yyjson_ptr_get(result, "/structuredContent/error_type")),
                        type);
    yyjson_val *incident = yyjson_obj_get(yyjson_obj_get(result, "_meta"), "dev.mishap/incident");
    assert_int_equal(yyjson_get_len(incident), MISHAP_ID_LENGTH);
    yyjson_doc_free(doc);
}

/* -- answering --------------------------------------------------------------------------------- */

static void a_quick_call_is_answered_at_once(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"a\"}");
    assert_line(&t, 0, ANSWER("7", "a"));
    assert_int_equal(t.wire.finished, 1);
    assert_int_equal(t.start_count, 0);
    close_transport(&t);
}

static void any_other_is_answered_when_it_has_run(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    send_text(&t.wire, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":"
                       "{\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}}}");
    let_begin(&t);
    assert_int_equal(t.wire.out.length, 0);
    assert_int_equal(t.wire.finished, 0);
    assert_int_equal(t.wire.peer.flight_count, 1);
    assert_non_null(mishap_mcp_flight_find(&t.wire.peer, T("\"x\"")));
    assert_null(mishap_mcp_flight_find(&t.wire.peer, T("x")));
    /* Others are served meanwhile. */
    ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"b\"}");
    assert_line(&t, 0, ANSWER("7", "b"));
    sem_post(&shared->go_on);
    finish_all(&t);
    assert_line(&t, 1, ANSWER("\"x\"", "a"));
    assert_int_equal(t.wire.finished, 2);
    assert_null(t.wire.peer.flights);
    assert_int_equal(t.wire.peer.flight_count, 0);
    assert_int_equal(t.deaths, 0);
    close_transport(&t);
}

static void arguments_of_any_size_arrive_whole(void **state)
{
    (void)state;
    struct transport t;
    char members[5200], word[5001];
    memset(word, 'w', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    snprintf(members, sizeof members, "\"name\":\"wait\",\"arguments\":{\"word\":\"%s\"}", word);
    for (int apart = 0; apart < 2; apart++) {
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        sem_post(&shared->go_on);
        ask(&t.wire, "tools/call", members);
        finish_all(&t);
        assert_string_equal(text_at(&t.wire, "/result/structuredContent/word"), word);
        close_transport(&t);
    }
}

static void bad_arguments_never_wait_for_a_worker(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":7}");
    assert_failed(&t, 0, "ValidationError");
    assert_int_equal(t.start_count, 0);
    close_transport(&t);
}

static void the_handler_gets_to_know_who_calls(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct transport t;
        char caller[] = "ada";
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        t.wire.peer.caller = caller;
        ask(&t.wire, "tools/call", "\"name\":\"caller\"");
        memset(caller, '?', 3); /* it has a copy */
        finish_all(&t);
        assert_string_equal(text_at(&t.wire, "/result/structuredContent/caller"), "ada");
        close_transport(&t);
    }
}

/* -- ends -------------------------------------------------------------------------------------- */

static void who_cancels_gets_no_answer(void **state)
{
    static const char cancel[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                                 "\"params\":{\"requestId\":7}}";
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}");
    let_begin(&t);
    send_text(&t.wire, cancel);
    assert_int_equal(t.wire.finished, 2); /* of the call, and of the notification */
    assert_null(t.wire.peer.flights);
    assert_int_equal(t.wire.peer.flight_count, 0);
    assert_int_equal(mishap_runner_count(t.wire.server.runner, true), 1); /* for no client */
    assert_int_equal(mishap_runner_count(t.wire.server.runner, false), 0);
    send_text(&t.wire, cancel);           /* twice is as good as once … */
    assert_int_equal(t.wire.finished, 3); /* … of the notification alone */
    sem_post(&shared->go_on);
    finish_all(&t);
    assert_int_equal(t.wire.out.length, 0);
    assert_true(atomic_load(&shared->saw_cancel));
    assert_int_equal(atomic_load(&shared->runs), 1);
    assert_string_equal(t.orphan, "");
    close_transport(&t);
}

/* No client is told, but the operator may want to know; and finds it by the id of the call. */
static void what_fails_after_it_was_cancelled_is_recorded(void **state)
{
    static const struct {
        const char *params, *expected;
    } cases[] = {
        { "\"name\":\"fail\"", "the very end" },
        { "\"name\":\"crash_late\"", "crashed with SIGSEGV" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct transport t;
        char incident[] = "01234567-89ab-7def-8123-456789abcdef";
        open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
        t.wire.peer.incident = incident;
        ask(&t.wire, "tools/call", cases[i].params);
        let_begin(&t);
        mishap_mcp_flight_cancel(t.wire.peer.flights);
        memset(incident, '?', 8); /* it has a copy */
        sem_post(&shared->go_on);
        finish_all(&t);
        assert_non_null(strstr(t.orphan, i ? "crash_late 0123" : "fail 0123"));
        assert_non_null(strstr(t.orphan, cases[i].expected));
        assert_int_equal(t.wire.out.length, 0);
        assert_int_equal(t.deaths, 0); /* no peer is left to count it */
        close_transport(&t);
    }
}

static void a_call_that_was_cancelled_before_it_began_does_not_begin(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    for (int i = 0; i < WORKERS; i++) { /* all workers have something to do */
        char text[200];
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"wait\",\"arguments\":{}}}",
                 i + 100);
        send_text(&t.wire, text);
    }
    for (int i = 0; i < WORKERS; i++)
        let_begin(&t);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{}");
    turn(&t);
    mishap_mcp_flight_cancel(mishap_mcp_flight_find(&t.wire.peer, T("7")));
    assert_int_equal(mishap_runner_count(t.wire.server.runner, true), WORKERS);
    for (int i = 0; i < WORKERS; i++)
        sem_post(&shared->go_on);
    finish_all(&t);
    assert_int_equal(atomic_load(&shared->runs), WORKERS);
    assert_int_equal(line_count(&t), WORKERS);
    close_transport(&t);
}

/* Its process is ended; another one takes the next call. */
static void what_takes_too_long_is_answered_without_it(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    t.wire.server.call_ms = 2000; /* in that time it begins */
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}");
    let_begin(&t);
    finish_all(&t);
    assert_failed(&t, 0, "TimeoutError");
    assert_int_equal(line_count(&t), 1);
    assert_int_equal(t.wire.finished, 1);
    assert_null(t.wire.peer.flights);
    assert_int_equal(t.deaths, 0); /* it did not crash */
    assert_int_equal(atomic_load(&shared->runs), 0);
    t.wire.server.call_ms = 0;
    sem_post(&shared->go_on);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    finish_all(&t);
    assert_line(&t, 0, ANSWER("7", "b"));
    close_transport(&t);
    free(logged());
}

static void a_peer_that_is_gone_leaves_its_flights_to_themselves(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call",
        "\"name\":\"late\",\"arguments\":{\"key\":\"open sesame\"},"
        "\"_meta\":{\"progressToken\":1}");
    ask(&t.wire, "tools/list", "");
    let_begin(&t);
    mishap_mcp_peer_release(&t.wire.peer);
    assert_int_equal(t.wire.peer.flight_count, 0);
    mishap_buffer_reset(&t.wire.out);
    sem_post(&shared->go_on);
    finish_all(&t);
    assert_int_equal(atomic_load(&shared->runs), 1);
    assert_int_equal(t.wire.out.length, 0); /* its messages reach no client */
    close_transport(&t);
}

static void a_crash_is_a_result_and_others_live_on(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct transport t;
        contain_again();
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        ask(&t.wire, "tools/call", "\"name\":\"crash\"");
        finish_all(&t);
        assert_failed(&t, 0, "RuntimeError");
        assert_int_equal(t.deaths, 1);
        assert_int_equal(line_count(&t), 1);
        ask(&t.wire, "tools/call", "\"name\":\"crash_quickly\"");
        assert_failed(&t, 0, "RuntimeError");
        assert_int_equal(t.deaths, 2);
        ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"a\"}");
        assert_line(&t, 0, ANSWER("7", "a"));
        sem_post(&shared->go_on);
        ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
        finish_all(&t);
        assert_line(&t, 0, ANSWER("7", "b"));
        close_transport(&t);
    }
    free(logged());
}

static void a_crash_while_something_is_said_holds_nobody_up(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct transport t;
        contain_again();
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        ask(&t.wire, "tools/call", "\"name\":\"crash_saying\",\"_meta\":{\"progressToken\":1}");
        finish_all(&t);
        assert_line(&t, 0,
                    PROGRESS
                    "{\"progressToken\":1,\"progress\":1,\"total\":2,\"message\":\"sound\"}}");
        assert_failed(&t, 1, "RuntimeError");
        sem_post(&shared->go_on);
        ask(&t.wire, "tools/call", "\"name\":\"late\",\"_meta\":{\"progressToken\":1}");
        finish_all(&t);
        assert_int_equal(line_count(&t), 3);
        close_transport(&t);
    }
    free(logged());
}

static void so_many_run_at_once_and_no_more(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.server.flight_limit = 1;
    send_text(&t.wire, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                       "{\"name\":\"wait\",\"arguments\":{\"word\":\"a\"}}}");
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    assert_failed(&t, 0, "RuntimeError");
    assert_int_equal(number_at(&t.wire, "/result/structuredContent/retry_after_ms"), 1000);
    ask(&t.wire, "tools/call", "\"name\":\"echo\",\"arguments\":{\"word\":\"c\"}");
    assert_line(&t, 0, ANSWER("7", "c"));
    finish_all(&t);
    assert_line(&t, 1, ANSWER("1", "a"));
    t.refuses = true;
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    assert_failed(&t, 0, "RuntimeError");
    assert_null(t.wire.peer.flights);
    close_transport(&t);
}

/* The runner has calls of others, too. */
static void a_runner_that_is_full_takes_no_more(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.server.flight_limit = MOST_WAITING + 10;
    for (int i = 0; i < MOST_WAITING; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"wait\",\"arguments\":{}}}",
                 i + 100);
        send_text(&t.wire, text);
        assert_int_equal(t.wire.out.length, 0);
    }
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    assert_failed(&t, 0, "RuntimeError");
    assert_int_equal(number_at(&t.wire, "/result/structuredContent/retry_after_ms"), 1000);
    assert_int_equal(t.wire.peer.flight_count, MOST_WAITING);
    finish_all(&t);
    assert_int_equal(atomic_load(&shared->runs), MOST_WAITING);
    ask(&t.wire, "tools/call", "\"name\":\"wait\",\"arguments\":{\"word\":\"b\"}");
    finish_all(&t);
    assert_line(&t, 0, ANSWER("7", "b"));
    close_transport(&t);
}

/* -- many at once ------------------------------------------------------------------------------ */

enum { CALLS = 40 };

/* Each line is whole, progress only grows, and none comes after the answer. */
static void read_lines(const struct transport *t, double *progress, bool *answered)
{
    const char *from = t->wire.out.data, *end = from + t->wire.out.length;
    for (const char *feed; from < end; from = feed + 1) {
        feed = memchr(from, '\n', (size_t)(end - from));
        yyjson_doc *doc = yyjson_read(from, (size_t)(feed - from), 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        yyjson_val *token = yyjson_ptr_get(root, "/params/progressToken");
        yyjson_val *id = yyjson_obj_get(root, "id");
        assert_non_null(doc);
        if (token) {
            size_t i = (size_t)yyjson_get_int(token);
            double done = yyjson_get_num(yyjson_ptr_get(root, "/params/progress"));
            assert_true(done > progress[i]);
            assert_false(answered[i]);
            progress[i] = done;
        }
        if (id)
            answered[yyjson_get_int(id)] = true;
        yyjson_doc_free(doc);
    }
}

static void many_run_and_are_heard_at_once(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct transport t;
        char text[300];
        double progress[CALLS] = { 0 };
        bool answered[CALLS] = { false };
        int count = 0;
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        t.wire.server.flight_limit = CALLS;
        for (int i = 0; i < CALLS; i++) {
            snprintf(text, sizeof text,
                     "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
                     "\"name\":\"work\",\"arguments\":{\"word\":\"w\"},"
                     "\"_meta\":{\"progressToken\":%d}}}",
                     i, i);
            mishap_mcp_take_text(&t.wire.peer, &t.wire.channel, &t.wire.reader,
                                 mishap_text_of(text));
            if (i % 10 == 3)
                mishap_mcp_flight_cancel(t.wire.peer.flights);
            if (i % 4 == 0)
                turn(&t);
            if (t.wire.peer.flights)
                mishap_mcp_flight_report(t.wire.peer.flights);
        }
        finish_all(&t);
        read_lines(&t, progress, answered);
        for (int i = 0; i < CALLS; i++) {
            count += answered[i];
            assert_int_equal(answered[i], i % 10 != 3);
            if (answered[i] && !apart) /* a worker drops what its loop has no time to read */
                assert_true(progress[i] == 200);
        }
        assert_int_equal(count, CALLS - 4);
        assert_int_equal(t.wire.finished, CALLS);
        close_transport(&t);
    }
}

/* -- without memory ---------------------------------------------------------------------------- */

static const char *message;

static void call_one(const void *input)
{
    struct wire w;
    open_small_wire(&w, input);
    mishap_mcp_take_text(&w.peer, &w.channel, &w.reader, mishap_text_of(message));
    mishap_runner_flush(w.peer.server->runner);
    assert_int_equal(w.finished, 1);
    assert_null(w.peer.flights);
    read_response(&w);
    close_small_wire(&w);
}

static void without_memory_every_call_is_answered(void **state)
{
    (void)state;
    mishap_keeper_plan plan;
    mishap_mcp_server server = { .app = &app };
    assert_null(mishap_mcp_server_make(&server, false));
    server.runner = open_inside(&plan, &app, MOST_WAITING);
    meanwhile = NULL;
    atomic_store(&shared->apart, false);
    static const char *const messages[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"
        "{\"name\":\"say\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"}"
        ",\"_meta\":{\"progressToken\":1}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":"
        "{\"uri\":\"test://read/a\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/get\",\"params\":"
        "{\"name\":\"ask\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"}}}",
    };
    message = messages[0];
    call_one(&server); /* the runner keeps what it knew of a caller for the next one */
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        message = messages[i];
        torture(call_one, &server);
    }
    mishap_use_allocator(NULL);
    assert_int_equal(mishap_runner_count(server.runner, true), 0);
    mishap_runner_close(server.runner);
    mishap_mcp_server_release(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_quick_call_is_answered_at_once),
        TEST(any_other_is_answered_when_it_has_run),
        TEST(arguments_of_any_size_arrive_whole),
        TEST(bad_arguments_never_wait_for_a_worker),
        TEST(the_handler_gets_to_know_who_calls),
        TEST(who_cancels_gets_no_answer),
        TEST(what_fails_after_it_was_cancelled_is_recorded),
        TEST(a_call_that_was_cancelled_before_it_began_does_not_begin),
        TEST(what_takes_too_long_is_answered_without_it),
        TEST(a_peer_that_is_gone_leaves_its_flights_to_themselves),
        TEST(a_crash_is_a_result_and_others_live_on),
        TEST(a_crash_while_something_is_said_holds_nobody_up),
        TEST(so_many_run_at_once_and_no_more),
        TEST(a_runner_that_is_full_takes_no_more),
        TEST(many_run_and_are_heard_at_once),
        TEST(without_memory_every_call_is_answered),
    };
    return run_flights(tests, sizeof tests / sizeof *tests);
}
