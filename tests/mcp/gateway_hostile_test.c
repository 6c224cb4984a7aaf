/* The gateway without a process: clients and servers that send what they must not. */
#include "mcp_gateways.h"

/* -- hostile messages -------------------------------------------------------------------------- */

static void what_is_no_answer_fails_its_call_at_once(void **state)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1}",
        "{\"id\":1}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        begin_ready();
        client(CALL("1", "echo", "{\"text\":\"a\"}"));
        forget();
        server(lines[i]);
        assert_true(says(&g.to_client, "BAD_GATEWAY"));
        assert_int_equal(g.calls.count, 0);
        forget();
        server(DONE("1"));
        assert_int_equal(g.to_client.length, 0);
        mishap_mcp_gateway_close(&g);
    }
}

static void a_broken_line_costs_itself_only(void **state)
{
    static const char *const lines[] = {
        "",
        "x",
        "{",
        "[]",
        "[1,{},[]]",
        "{}",
        "null",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"result\":{}}",
        "\xff\xfe",
    };
    (void)state;
    begin_ready();
    client(CALL("1", "echo", "{\"text\":\"a\"}"));
    forget();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        server(lines[i]);
    assert_int_equal(g.to_client.length, 0);
    server(DONE("1"));
    expect_lines(&g.to_client, DONE("1") "\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        client(lines[i]);
    assert_int_equal(g.to_server.length, 0);
    forget();
    client("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    assert_true(says(&g.to_server, "ping"));
    mishap_mcp_gateway_close(&g);
}

static void an_id_is_used_once_at_a_time(void **state)
{
    (void)state;
    begin_ready();
    client(CALL("1", "echo", "{\"text\":\"a\"}"));
    client(CALL("1", "echo", "{\"text\":\"b\"}"));
    assert_true(says(&g.to_client, "\"code\":-32600"));
    expect_lines(&g.to_server, CALL("1", "echo", "{\"text\":\"a\"}") "\n");
    server("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"isError\":false,\"isError\":true}}");
    assert_true(says(&g.to_client, "cannot be read"));
    assert_int_equal(g.calls.count, 0);
    mishap_mcp_gateway_close(&g);
}

static void too_many_requests_are_refused(void **state)
{
    char line[100];
    (void)state;
    begin_ready();
    for (int i = 0; i <= GATEWAY_MOST_CALLS; i++) {
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", i);
        client(line);
    }
    assert_true(says(&g.to_client, "Too many requests"));
    assert_int_equal(g.calls.count, GATEWAY_MOST_CALLS);
    for (int i = 0; i < 2 * GATEWAY_MOST_QUESTIONS; i++) {
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"roots/list\"}", i);
        server(line);
    }
    assert_int_equal(g.questions.count, GATEWAY_MOST_QUESTIONS);
    mishap_mcp_gateway_close(&g);
}

static void batches_are_taken_apart(void **state)
{
    (void)state;
    begin_ready();
    client("[" CALL("1", "echo", "{\"text\":\"a\"}") "," CALL("2", "echo", "{}") "]");
    expect_lines(&g.to_server, CALL("1", "echo", "{\"text\":\"a\"}") "\n");
    assert_true(says(&g.to_client, "\"id\":2,\"result\""));
    forget();
    server("[" DONE("1") ",7]");
    expect_lines(&g.to_client, DONE("1") "\n");
    mishap_mcp_gateway_close(&g);
}

static void a_stateless_client_needs_no_greeting(void **state)
{
    static const char call[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"_meta\":{"
        "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientCapabilities\":{},\"x\":1},\"name\":\"echo\","
        "\"arguments\":{}}}";
    (void)state;
    begin();
    client(call);
    expect_lines(&g.to_server,
                 "{\"jsonrpc\":\"2.0\",\"id\":\"mishap-gateway-1\",\"method\":\"tools/list\","
                 "\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
                 "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n");
    server(TOOLS("\"mishap-gateway-1\""));
    assert_true(says(&g.to_client, "text is required"));
    assert_true(says(&g.to_client, "\"resultType\":\"complete\""));
    mishap_mcp_gateway_close(&g);
}

/* -- messages that are not what they seem --------------------------------------------------- */

static void what_is_no_notification_does_not_pass_as_one(void **state)
{
    (void)state;
    begin_greeted();
    client("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"pay\"}}");
    assert_int_equal(g.to_server.length, 0);
    mishap_mcp_gateway_close(&g);
}

static void a_cursor_that_is_no_text_ends_a_list(void **state)
{
    (void)state;
    begin_greeted();
    client(CALL("1", "echo", "{\"text\":\"a\"}"));
    assert_true(g.listing);
    gateway_call *list = g.oldest;
    while (list && list->kind != GATEWAY_OWN_LIST)
        list = list->after;
    assert_non_null(list);
    char line[300];
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"tools\":[],\"nextCursor\":[1]}}",
             (int)list->entry.key.length, list->entry.key.data);
    forget();
    server(line);
    assert_false(g.listing);
    mishap_mcp_gateway_close(&g);
}

static void an_error_that_is_not_a_boolean_is_guarded(void **state)
{
    (void)state;
    begin_greeted();
    g.has_tools = false; /* nothing is asked for */
    client(CALL("1", "pay", "{}"));
    forget();
    server(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"isError\":1,\"content\":[{\"type\":\"text\","
        "\"text\":\"Traceback (most recent call last):\\n  File \\\"/srv/a.py\\\", line 3, in "
        "f\\nValueError: hunter2\"}]}}");
    mishap_buffer_put_char(&g.to_client, '\0');
    assert_non_null(strstr(g.to_client.data, "\"isError\":true"));
    assert_null(strstr(g.to_client.data, "hunter2"));
    mishap_mcp_gateway_close(&g);
}

static void a_server_cancels_its_own_questions_only(void **state)
{
    (void)state;
    begin_greeted();
    server("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
           "cancelled\",\"params\":{\"requestId\":1}}");
    assert_int_equal(g.to_client.length, 0);
    mishap_mcp_gateway_close(&g);
}

static void a_server_that_refuses_a_greeting_is_not_stuck(void **state)
{
    (void)state;
    begin();
    client(HELLO);
    server("{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32602,\"message\":\"no\"}}");
    g.now_ns += INT64_C(60000000000);
    mishap_mcp_gateway_tick(&g);
    assert_false(g.stuck);
    mishap_mcp_gateway_close(&g);
}

/* -- clients and servers that mean harm -------------------------------------------------------- */

static void members_that_differ_in_case_are_refused(void **state)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"Method\":\"tools/call\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"param\xc5\xbf\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
        "\"arguments\":{\"text\":\"a\"},\"NAME\":\"pay\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
        "\"arguments\":{\"text\":\"a\"},\"argument\xc5\xbf\":{}}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        begin_ready();
        client(lines[i]);
        assert_int_equal(g.to_server.length, 0);
        assert_true(says(&g.to_client, "\"id\":1,\"error\":{\"code\":-32600"));
        mishap_mcp_gateway_close(&g);
    }
    begin_ready(); /* arguments are the tool's own affair, and so are longer names */
    client("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"pay\","
           "\"arguments\":{\"Name\":\"x\"},\"Names\":1,\"Nam\":2}}");
    assert_true(g.to_server.length > 0);
    mishap_mcp_gateway_close(&g);
}

static void a_cancelled_request_without_an_end_is_forgotten(void **state)
{
    (void)state;
    begin_ready();
    client(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/result\",\"params\":{\"taskId\":\"t\"}}");
    g.now_ns += INT64_C(3600000000000);
    mishap_mcp_gateway_tick(&g);
    assert_int_equal(g.calls.count, 1);
    client("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
           "cancelled\",\"params\":{\"requestId\":1}}");
    g.now_ns += settings.call_ms * 1000000;
    mishap_mcp_gateway_tick(&g);
    assert_int_equal(g.calls.count, 0);
    mishap_mcp_gateway_close(&g);
}

static void a_ping_of_the_server_does_not_stop_the_time(void **state)
{
    static const struct {
        const char *method;
        size_t left;
    } rows[] = { { "ping", 0 }, { "elicitation/create", 1 } };
    char line[200];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        begin_ready();
        client(CALL("1", "pay", "{}"));
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"%s\"}",
                 rows[i].method);
        server(line);
        forget();
        g.now_ns += settings.call_ms * 1000000;
        mishap_mcp_gateway_tick(&g);
        assert_int_equal(g.calls.count, rows[i].left);
        assert_true(says(&g.to_client, "TIMEOUT") == !rows[i].left);
        mishap_mcp_gateway_close(&g);
    }
}

/* Lines that the process that speaks HTTP writes for a response without an answer. Of a command
 * they are what any other message is. */
static void a_response_counts_only_of_a_server_behind_a_url(void **state)
{
    const gateway_response response = { .status = 429,
                                        .retry_after_ms = 1500,
                                        .type = MISHAP_TEXT("text/html"),
                                        .body = MISHAP_TEXT("<html>\xff private") };
    mishap_buffer error = { 0 }, notification = { 0 };
    (void)state;
    mishap_mcp_gateway_response_put(&error, (mishap_text)MISHAP_TEXT("1"), &response);
    mishap_mcp_gateway_response_put(&notification, (mishap_text){ NULL, 0 }, &response);
    for (int url = 0; url < 2; url++) {
        begin_ready();
        settings.url = url ? "http://127.0.0.1:1/mcp" : NULL;
        client(CALL("1", "pay", "{}"));
        forget();
        mishap_mcp_gateway_from_server(&g, mishap_buffer_text(&notification));
        assert_int_equal(g.to_client.length > 0, !url);
        forget();
        mishap_mcp_gateway_from_server(&g, mishap_buffer_text(&error));
        assert_int_equal(says(&g.to_client, "TOO_MANY_REQUESTS"), url);
        assert_int_equal(says(&g.to_client, "\\\"retry_after_ms\\\":2000"), url);
        assert_false(says(&g.to_client, "private"));
        assert_int_equal(g.calls.count, 0);
        mishap_mcp_gateway_close(&g);
    }
    mishap_buffer_release(&error);
    mishap_buffer_release(&notification);
}

static void a_response_that_cannot_be_read_is_an_error_as_any_other(void **state)
{
    static const char *const responses[] = {
        "1",
        "{}",
        "{\"status\":\"429\",\"type\":\"\",\"body\":\"\"}",
        "{\"status\":429,\"type\":\"?\",\"body\":\"\"}",
        "{\"status\":429,\"type\":\"\",\"body\":\"x\"}",
    };
    char line[300];
    (void)state;
    for (size_t i = 0; i < sizeof responses / sizeof *responses; i++) {
        begin_ready();
        settings.url = "http://127.0.0.1:1/mcp";
        client(CALL("1", "pay", "{}"));
        forget();
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"It is "
                 "closed.\",\"data\":{\"dev.mishap/response\":%s}}}",
                 responses[i]);
        server(line);
        assert_true(says(&g.to_client, "It is closed."));
        assert_false(says(&g.to_client, "TOO_MANY_REQUESTS"));
        assert_int_equal(g.calls.count, 0);
        mishap_mcp_gateway_close(&g);
    }
}

/* 502 and 504: the call may have been done. */
static void a_response_in_doubt_advises_a_retry_only_of_a_tool_that_may_be_repeated(void **state)
{
    static const struct {
        const char *tool, *call;
        int status;
        bool retry;
    } rows[] = {
        { "echo", CALL("1", "echo", "{\"text\":\"a\"}"), 504, true },
        { "pay", CALL("1", "pay", "{}"), 504, false },
        { "pay", CALL("1", "pay", "{}"), 502, false },
        { "pay", CALL("1", "pay", "{}"), 503, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gateway_response response = { .status = rows[i].status, .retry_after_ms = -1 };
        mishap_buffer line = { 0 };
        begin_ready();
        settings.url = "http://127.0.0.1:1/mcp";
        client(rows[i].call);
        forget();
        mishap_mcp_gateway_response_put(&line, (mishap_text)MISHAP_TEXT("1"), &response);
        mishap_mcp_gateway_from_server(&g, mishap_buffer_text(&line));
        assert_int_equal(says(&g.to_client, "\\\"retryable\\\":true"), rows[i].retry);
        assert_int_equal(says(&g.to_client, "Check what the call has done"), !rows[i].retry);
        mishap_buffer_release(&line);
        mishap_mcp_gateway_close(&g);
    }
}

/* The call that waits gets the page of the session that was lost, and no later one does. */
static void the_last_response_belongs_to_the_server_that_was_lost(void **state)
{
    const gateway_response response = { .status = 404, .retry_after_ms = -1, .lost = true };
    mishap_buffer line = { 0 };
    (void)state;
    mishap_mcp_gateway_response_put(&line, (mishap_text){ NULL, 0 }, &response);
    begin_ready();
    settings.url = "http://127.0.0.1:1/mcp";
    client(CALL("1", "pay", "{}"));
    forget();
    mishap_mcp_gateway_from_server(&g, mishap_buffer_text(&line));
    mishap_mcp_gateway_from_server(&g, mishap_buffer_text(&line));
    assert_int_equal(g.last_response.status, 404);
    mishap_mcp_gateway_ended(&g, "ended", g.now_ns);
    assert_true(says(&g.to_client, "PARTIAL_FAILURE"));
    assert_int_equal(g.last_response.status, 0);
    mishap_mcp_gateway_started(&g);
    mishap_mcp_gateway_from_server(&g, mishap_buffer_text(&line));
    mishap_mcp_gateway_close(&g);
    mishap_buffer_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_notification_does_not_pass_as_one),
        TEST(a_cursor_that_is_no_text_ends_a_list),
        TEST(an_error_that_is_not_a_boolean_is_guarded),
        TEST(a_server_cancels_its_own_questions_only),
        TEST(a_server_that_refuses_a_greeting_is_not_stuck),
        TEST(members_that_differ_in_case_are_refused),
        TEST(a_cancelled_request_without_an_end_is_forgotten),
        TEST(a_ping_of_the_server_does_not_stop_the_time),
        TEST(a_response_counts_only_of_a_server_behind_a_url),
        TEST(a_response_that_cannot_be_read_is_an_error_as_any_other),
        TEST(the_last_response_belongs_to_the_server_that_was_lost),
        TEST(a_response_in_doubt_advises_a_retry_only_of_a_tool_that_may_be_repeated),
        TEST(what_is_no_answer_fails_its_call_at_once),
        TEST(a_broken_line_costs_itself_only),
        TEST(an_id_is_used_once_at_a_time),
        TEST(too_many_requests_are_refused),
        TEST(batches_are_taken_apart),
        TEST(a_stateless_client_needs_no_greeting),
    };
    return RUN(tests);
}
