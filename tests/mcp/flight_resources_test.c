/*
 * Resources and prompts that are read by the runner of calls, and limits and ids that a transport
 * sets for all.
 */

#include "mcp_flights.h"

/* The n-th line is a protocol error with this number and code. */
static void assert_refused(struct transport *t, size_t n, int number, const char *code)
{
    yyjson_doc *doc = line(t, n);
    yyjson_val *error = yyjson_obj_get(yyjson_doc_get_root(doc), "error");
    assert_int_equal(yyjson_get_int(yyjson_obj_get(error, "code")), number);
    yyjson_val *data = yyjson_obj_get(error, "data");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(data, "code")), code);
    assert_int_equal(yyjson_get_len(yyjson_obj_get(data, "incident")), MISHAP_ID_LENGTH);
    yyjson_doc_free(doc);
}

static void a_resource_is_read_by_a_worker(void **state)
{
    (void)state;
    struct transport t;
    char uri[] = "\"uri\":\"test://read/a%20b\"";
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "resources/read", uri);
    memset(uri, '?', sizeof uri); /* the message is gone */
    let_begin(&t);
    assert_int_equal(t.wire.out.length, 0);
    assert_int_equal(t.wire.peer.flight_count, 1);
    ask(&t.wire, "resources/read", "\"uri\":\"catalog://codes\""); /* with the same id */
    assert_error(&t.wire, -32600);
    mishap_buffer_reset(&t.wire.out);
    sem_post(&shared->go_on);
    finish_all(&t);
    assert_line(&t, 0,
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"contents\":[{\"uri\":"
                "\"test://read/a%20b\",\"mimeType\":\"application/json\",\"text\":"
                "\"{\\\"word\\\":\\\"a b\\\"}\"}]}}");
    assert_int_equal(t.wire.finished, 2);
    close_transport(&t);
}

static void a_prompt_says_how_far_it_is(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "prompts/get",
        "\"name\":\"ask\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"},"
        "\"_meta\":{\"progressToken\":0}");
    finish_all(&t);
    assert_line(&t, 0,
                PROGRESS "{\"progressToken\":0,\"progress\":0,\"total\":100,"
                         "\"message\":\"beginning\"}}");
    assert_line(&t, 1,
                MESSAGE "{\"level\":\"info\",\"logger\":\"ask\","
                        "\"data\":\"It goes \\\"on\\\".\"}}");
    assert_line(&t, line_count(&t) - 1,
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"description\":\"Ask much\","
                "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
                "\"{\\\"word\\\":\\\"a\\\"}\"}}]}}");
    assert_null(memmem(t.wire.out.data, t.wire.out.length, "open sesame", 11));
    close_transport(&t);
}

static void what_was_remarked_is_told(void **state)
{
    static const char *const asked[][2] = { { "resources/read", "\"uri\":\"test://warn\"" },
                                            { "prompts/get", "\"name\":\"warn\"" } };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct transport t;
        open_transport(&t, i < 2 ? MISHAP_MCP_2025_11_25 : MISHAP_MCP_2026_07_28);
        ask(&t.wire, asked[i % 2][0], asked[i % 2][1]);
        finish_all(&t);
        assert_string_equal(text_at(&t.wire, "/result/_meta/dev.mishap~1warnings/0"),
                            "It is late.");
        assert_int_equal(
            at(&t.wire, "/result/_meta/io.modelcontextprotocol~1serverInfo/name") != NULL, i >= 2);
        close_transport(&t);
    }
}

static void who_cancels_reading_gets_no_answer(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "resources/read", "\"uri\":\"test://read/a\"");
    let_begin(&t);
    send_text(&t.wire, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                       "{\"requestId\":7}}");
    sem_post(&shared->go_on);
    finish_all(&t);
    assert_true(atomic_load(&shared->saw_cancel));
    assert_int_equal(t.wire.out.length, 0);
    close_transport(&t);
}

static void reading_that_takes_too_long_is_an_error(void **state)
{
    (void)state;
    struct transport t;
    open_transport_with_workers(&t, MISHAP_MCP_2025_11_25);
    t.wire.server.call_ms = 2000; /* in that time it begins */
    ask(&t.wire, "resources/read", "\"uri\":\"test://read/a\"");
    let_begin(&t);
    finish_all(&t);
    assert_refused(&t, 0, -32603, "TIMEOUT");
    assert_non_null(memmem(t.wire.out.data, t.wire.out.length, "\"uri\":\"test://read/a\"", 21));
    assert_non_null(memmem(t.wire.out.data, t.wire.out.length, "\"retryable\":true", 16));
    assert_int_equal(t.wire.finished, 1);
    assert_int_equal(line_count(&t), 1);
    assert_int_equal(atomic_load(&shared->runs), 0);
    close_transport(&t);
    free(logged());
}

static void a_crash_of_either_is_an_error(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct transport t;
        contain_again();
        open_any(&t, MISHAP_MCP_2025_11_25, apart);
        ask(&t.wire, "resources/read", "\"uri\":\"test://crash\"");
        finish_all(&t);
        assert_refused(&t, 0, -32603, "INTERNAL_ERROR");
        assert_int_equal(t.deaths, 1);
        ask(&t.wire, "prompts/get", "\"name\":\"crash\"");
        finish_all(&t);
        assert_refused(&t, 0, -32603, "INTERNAL_ERROR");
        assert_int_equal(t.deaths, 2);
        close_transport(&t);
    }
    free(logged());
}

/* Where one request is one call, both are found by one id. */
static void a_transport_can_say_by_which_id_a_failure_is_found(void **state)
{
    (void)state;
    static const char id[] = "01234567-89ab-7def-8123-456789abcdef";
    static const char *const names[] = { "\"name\":\"crash\"", "\"name\":\"crash_quickly\"",
                                         "\"name\":\"wait\",\"arguments\":{\"word\":7}" };
    struct transport t;
    contain_again();
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.peer.incident = id;
    for (size_t i = 0; i < 3; i++) {
        ask(&t.wire, "tools/call", names[i]);
        finish_all(&t);
        yyjson_val *meta = at(&t.wire, "/result/_meta");
        assert_string_equal(yyjson_get_str(yyjson_obj_get(meta, "dev.mishap/incident")), id);
    }
    ask(&t.wire, "resources/read", "\"uri\":\"test://crash\"");
    finish_all(&t);
    assert_string_equal(text_at(&t.wire, "/error/data/incident"), id);
    close_transport(&t);
}

/* A program may say that nothing takes longer than that. */
static void a_server_can_set_a_limit_for_all(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"wait\"");
    assert_true(t.wire.peer.flights->run.call->limit_ms > 20000);
    finish_all(&t);
    t.wire.server.call_ms = 500;
    ask(&t.wire, "tools/call", "\"name\":\"wait\"");
    assert_int_equal(t.wire.peer.flights->run.call->limit_ms, 500);
    finish_all(&t);
    assert_null(at(&t.wire, "/result/isError"));
    close_transport(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_resource_is_read_by_a_worker),
        TEST(a_prompt_says_how_far_it_is),
        TEST(what_was_remarked_is_told),
        TEST(who_cancels_reading_gets_no_answer),
        TEST(reading_that_takes_too_long_is_an_error),
        TEST(a_crash_of_either_is_an_error),
        TEST(a_transport_can_say_by_which_id_a_failure_is_found),
        TEST(a_server_can_set_a_limit_for_all),
    };
    return run_flights(tests, sizeof tests / sizeof *tests);
}
