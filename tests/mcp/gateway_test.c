/* The gateway without a process: messages that pass, calls, failures, servers that die. */
#include "mcp_gateways.h"

/* -- messages that pass ------------------------------------------------------------------------ */

static void messages_pass_as_the_bytes_that_they_are(void **state)
{
    static const char *const of_client[] = {
        HELLO,
        READY,
        "{ \"method\" : \"resources/read\", \"id\":\"a\\u0062\", \"jsonrpc\":\"2.0\", \"x\":1 }",
        "{\"jsonrpc\":\"2.0\",\"id\":-7,\"method\":\"no/such\",\"params\":{\"deep\":[[[[1.50]]]]}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}",
    };
    static const char *const of_server[] = {
        WELCOME("0"),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
        "message\",\"params\":{\"level\":\"info\"}}",
        " {\"result\":{\"contents\":[1e400, 1, "
        "1.0,\"\\ud800\"]},\"id\":\"ab\",\"jsonrpc\":\"2.0\"}",
    };
    char line[600];
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof of_client / sizeof *of_client; i++) {
        client(of_client[i]);
        snprintf(line, sizeof line, "%s\n", of_client[i]);
        expect_lines(&g.to_server, line);
    }
    for (size_t i = 0; i < sizeof of_server / sizeof *of_server; i++) {
        server(of_server[i]);
        snprintf(line, sizeof line, "%s\n", of_server[i]);
        expect_lines(&g.to_client, line);
    }
    mishap_mcp_gateway_close(&g);
}

static void requests_of_a_server_get_an_id_of_the_gateway(void **state)
{
    (void)state;
    begin_ready();
    server("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"roots/list\"}");
    expect_lines(&g.to_client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n");
    client("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[]}}");
    expect_lines(&g.to_server, "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"roots\":[]}}\n");
    client("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[]}}");
    assert_int_equal(g.to_server.length, 0); /* it was answered */

    /* After a restart the next server uses the same id, and gets no answer for the last one. */
    server("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"elicitation/create\",\"params\":{}}");
    forget();
    mishap_mcp_gateway_ended(&g, "ended", g.now_ns);
    assert_true(says(&g.to_client, "notifications/cancelled\",\"params\":{\"requestId\":2,"));
    mishap_mcp_gateway_started(&g);
    server(WELCOME("\"mishap-gateway-1\""));
    server("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"elicitation/create\",\"params\":{}}");
    forget();
    client("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"action\":\"accept\"}}");
    assert_int_equal(g.to_server.length, 0);
    server("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
           "\"requestId\":0}}");
    assert_true(says(&g.to_client, "\"requestId\":3"));
    mishap_mcp_gateway_close(&g);
}

/* -- calls of tools ---------------------------------------------------------------------------- */

static void a_call_waits_for_the_list_of_tools(void **state)
{
    (void)state;
    begin();
    client(HELLO);
    server(WELCOME("0"));
    client(READY);
    forget();
    client(CALL("1", "echo", "{\"text\":\"a\"}"));
    client(CALL("2", "echo", "{}"));
    expect_lines(&g.to_server, "{\"jsonrpc\":\"2.0\",\"id\":\"mishap-gateway-1\",\"method\":"
                               "\"tools/list\",\"params\":{}}\n");
    server(TOOLS("\"mishap-gateway-1\""));
    expect_lines(&g.to_server, CALL("1", "echo", "{\"text\":\"a\"}") "\n");
    assert_true(says(&g.to_client, "\"id\":2,\"result\""));
    assert_true(says(&g.to_client, "text is required"));
    assert_true(says(&g.to_client, "\"isError\":true"));
    assert_false(says(&g.to_client, "mishap-gateway-1"));
    mishap_mcp_gateway_close(&g);
}

static void all_findings_are_told_with_names_that_may_be_meant(void **state)
{
    (void)state;
    begin_ready();
    client(CALL("1", "echo", "{\"txt\":\"a\",\"times\":\"3\"}"));
    assert_int_equal(g.to_server.length, 0);
    assert_true(says(&g.to_client, "text is required"));
    assert_true(says(&g.to_client, "txt is not a known name; did you mean text?"));
    assert_true(says(&g.to_client, "times must be an integer"));
    forget();
    /* without arguments at all they are {} */
    client(
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}");
    assert_true(says(&g.to_client, "text is required"));
    assert_int_equal(g.calls.count, 0);
    mishap_mcp_gateway_close(&g);
}

static void a_list_that_changes_is_asked_for_again(void **state)
{
    (void)state;
    begin_ready();
    server("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    forget();
    client(CALL("1", "echo", "{}"));
    assert_true(says(&g.to_server, "tools/list"));
    forget();
    server("{\"jsonrpc\":\"2.0\",\"id\":\"mishap-gateway-1\",\"result\":{\"tools\":[{\"name\":"
           "\"echo\",\"inputSchema\":{\"type\":\"object\"}}],\"nextCursor\":\"2\"}}");
    assert_true(says(&g.to_server, "\"cursor\":\"2\""));
    forget();
    server("{\"jsonrpc\":\"2.0\",\"id\":\"mishap-gateway-2\",\"result\":{\"tools\":[]}}");
    expect_lines(&g.to_server, CALL("1", "echo", "{}") "\n");
    assert_int_equal(g.tools.table.count, 1);
    mishap_mcp_gateway_close(&g);
}

static void a_list_that_does_not_come_checks_nothing(void **state)
{
    (void)state;
    begin();
    client(HELLO);
    server(WELCOME("0"));
    client(CALL("1", "echo", "{}"));
    forget();
    g.now_ns += 2000000000;
    mishap_mcp_gateway_tick(&g);
    assert_true(says(&g.to_server, CALL("1", "echo", "{}")));
    assert_int_equal(g.to_client.length, 0);
    mishap_mcp_gateway_close(&g);
}

static void an_endless_list_ends(void **state)
{
    char line[300];
    (void)state;
    begin();
    client(HELLO);
    server(WELCOME("0"));
    client(CALL("1", "echo", "{}"));
    unsigned pages = 0;
    while (g.listing && pages < 1000) {
        pages++;
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":\"mishap-gateway-%u\",\"result\":{\"tools\":[{"
                 "\"name\":\"t%u\"}],\"nextCursor\":\"x\"}}",
                 pages, pages);
        server(line);
    }
    assert_int_equal(pages, GATEWAY_MOST_PAGES);
    assert_true(says(&g.to_server, "\"name\":\"echo\""));
    mishap_mcp_gateway_close(&g);
}

static void only_allowed_tools_are_offered(void **state)
{
    static const mishap_text allow[] = { MISHAP_TEXT("echo") };
    (void)state;
    begin_ready();
    settings.allow = allow;
    settings.allow_count = 1;
    client("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    forget();
    server(TOOLS("1"));
    assert_true(says(&g.to_client, "\"name\":\"echo\""));
    assert_false(says(&g.to_client, "\"name\":\"pay\""));
    forget();
    client(CALL("2", "pay", "{}"));
    assert_true(says(&g.to_client, "There is no tool `pay`."));
    client(CALL("3", "ecko", "{}"));
    assert_true(says(&g.to_client, "Did you mean `echo`?"));
    assert_int_equal(g.to_server.length, 0);
    mishap_mcp_gateway_close(&g);
}

/* -- failures ---------------------------------------------------------------------------------- */

static void a_failing_tool_is_told_in_our_dialect(void **state)
{
    (void)state;
    begin_ready();
    client(CALL("1", "pay", "{}"));
    server("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"isError\":true,\"content\":[{\"type\":"
           "\"text\",\"text\":\"No account.\\nKnown: a, b\"}]}}");
    assert_true(says(&g.to_client, "\"isError\":true"));
    assert_true(says(&g.to_client, "No account.\\\\nKnown: a, b"));
    assert_true(says(&g.to_client, "\\\"error_type\\\":\\\"RuntimeError\\\""));
    assert_true(says(&g.to_client, "dev.mishap/incident"));
    assert_false(says(&g.to_client, "structuredContent")); /* it has an outputSchema */
    forget();
    client(CALL("2", "pay", "{}"));
    server("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"isError\":true,\"content\":[{\"type\":"
           "\"text\",\"text\":\"Error: x\\n    at f (/srv/app/pay.js:3:7)\\n    at g "
           "(/srv/app/pay.js:9:1)\"}]}}");
    assert_false(says(&g.to_client, "/srv/app"));
    assert_false(says(&g.to_client, "Error: x"));
    mishap_mcp_gateway_close(&g);
}

static void the_result_of_a_task_that_failed_stays_a_result(void **state)
{
    (void)state;
    begin_ready();
    client("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/result\",\"params\":{\"taskId\":"
           "\"t\"}}");
    server("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"isError\":true,\"content\":[{\"type\":"
           "\"text\",\"text\":\"No.\"}]}}");
    assert_true(says(&g.to_client, "\"id\":1,\"result\""));
    assert_true(says(&g.to_client, "\"isError\":true"));
    mishap_mcp_gateway_close(&g);
}

static void errors_that_a_model_can_mend_become_results(void **state)
{
    (void)state;
    begin_ready();
    client(CALL("1", "ecko", "{}"));
    server("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Unknown tool: "
           "ecko\"}}");
    assert_true(says(&g.to_client, "\"id\":1,\"result\""));
    assert_true(says(&g.to_client, "Did you mean `echo`?"));
    forget();
    client(CALL("2", "pay", "{}"));
    server("{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32603,\"message\":\"No money.\"}}");
    assert_true(says(&g.to_client, "\"id\":2,\"result\""));
    assert_true(says(&g.to_client, "No money."));
    forget();
    client(CALL("3", "pay", "{}"));
    server("{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32042,\"message\":\"Please go "
           "there.\",\"data\":{\"elicitations\":[{\"url\":\"https://example.com/x\"}]}}}");
    assert_true(says(&g.to_client, "\"id\":3,\"error\":{\"code\":-32042"));
    assert_true(says(&g.to_client, "\"data\":{"));
    assert_true(says(&g.to_client, ",\"elicitations\":[{\"url\":\"https://example.com/x\"}]}}}\n"));
    forget();
    client("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/read\",\"params\":{\"uri\":"
           "\"a:b\"}}");
    server("{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32603,\"message\":\"connect "
           "postgres://u:hunter22@db/x\"}}");
    assert_true(says(&g.to_client, "\"id\":4,\"error\":{\"code\":-32603"));
    assert_false(says(&g.to_client, "hunter22"));
    mishap_mcp_gateway_close(&g);
}

/* -- a server that dies ------------------------------------------------------------------------ */

static void calls_in_flight_are_answered_or_repeated(void **state)
{
    (void)state;
    begin_ready();
    client(CALL("1", "echo", "{\"text\":\"a\"}"));
    client(CALL("2", "pay", "{}"));
    client("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");
    forget();
    mishap_mcp_gateway_ended(&g, "ended by signal 9", g.now_ns);
    assert_true(says(&g.to_client, "\"id\":2,\"result\""));
    assert_true(says(&g.to_client, "It is not known what was done."));
    assert_true(says(&g.to_client, "\"id\":3,\"error\""));
    assert_false(says(&g.to_client, "\"id\":1,"));
    client(CALL("4", "pay", "{}"));
    forget();

    mishap_mcp_gateway_started(&g);
    expect_lines(&g.to_server,
                 "{\"jsonrpc\":\"2.0\",\"id\":\"mishap-gateway-1\",\"method\":\"initialize\","
                 "\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
                 "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n");
    server(WELCOME("\"mishap-gateway-1\""));
    assert_true(says(&g.to_server, READY "\n"));
    assert_true(says(&g.to_server, "tools/list"));
    forget();
    server(TOOLS("\"mishap-gateway-2\""));
    expect_lines(&g.to_server,
                 CALL("1", "echo", "{\"text\":\"a\"}") "\n" CALL("4", "pay", "{}") "\n");

    /* the second death of a server ends the call, too */
    mishap_mcp_gateway_ended(&g, "ended by signal 9", g.now_ns);
    assert_true(says(&g.to_client, "\"id\":1,\"result\""));
    assert_true(says(&g.to_client, "\"id\":4,\"result\""));
    assert_int_equal(g.calls.count, 0);
    mishap_mcp_gateway_close(&g);
}

static void the_next_server_gets_what_the_client_has_set_up(void **state)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":"
        "\"info\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/subscribe\",\"params\":{\"uri\":"
        "\"a:1\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/subscribe\",\"params\":{\"uri\":"
        "\"a:2\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/unsubscribe\",\"params\":{\"uri\":"
        "\"a:1\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"resources/subscribe\",\"params\":{\"uri\":"
        "\"a:3\"}}",
    };
    (void)state;
    begin_ready();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        client(lines[i]);
    server(DONE("1"));
    server(DONE("2"));
    server(DONE("3"));
    server(DONE("4"));
    server("{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32602,\"message\":\"No.\"}}");
    mishap_mcp_gateway_ended(&g, "ended", g.now_ns);
    mishap_mcp_gateway_started(&g);
    forget();
    server(WELCOME("\"mishap-gateway-1\""));
    assert_true(says(&g.to_server, "\"logging/setLevel\",\"params\":{\"level\":\"info\"}"));
    assert_true(says(&g.to_server, "\"resources/subscribe\",\"params\":{\"uri\":\"a:2\"}"));
    assert_false(says(&g.to_server, "a:1"));
    assert_false(says(&g.to_server, "a:3"));
    server(DONE("\"mishap-gateway-2\""));
    server(DONE("\"mishap-gateway-3\""));
    assert_int_equal(g.calls.count, 0);
    assert_int_equal(g.to_client.length, 0);
    mishap_mcp_gateway_close(&g);
}

static void before_a_long_pause_nothing_waits(void **state)
{
    (void)state;
    begin_ready();
    client(CALL("1", "echo", "{\"text\":\"a\"}"));
    mishap_mcp_gateway_ended(&g, "ended", g.now_ns + 5000000000);
    assert_true(says(&g.to_client, "\"id\":1,\"result\""));
    client(CALL("2", "echo", "{\"text\":\"a\"}"));
    assert_true(says(&g.to_client, "\"id\":2,\"result\""));
    assert_true(says(&g.to_client, "retry_after"));
    assert_int_equal(g.calls.count, 0);
    mishap_mcp_gateway_close(&g);
}

static void time_is_over(void **state)
{
    (void)state;
    begin_ready();
    client(CALL("1", "pay", "{}"));
    client("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"pay\","
           "\"arguments\":{},\"_meta\":{\"progressToken\":\"p\"}}}");
    forget();
    g.now_ns += 4000000000;
    server("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
           "\"progressToken\":\"p\",\"progress\":1}}");
    forget();
    g.now_ns += 2000000000;
    mishap_mcp_gateway_tick(&g);
    assert_true(says(&g.to_client, "\"id\":1,\"result\""));
    assert_true(says(&g.to_client, "TimeoutError"));
    assert_false(says(&g.to_client, "\"id\":2,"));
    assert_true(says(&g.to_server, "notifications/cancelled\",\"params\":{\"requestId\":1,"));
    forget();
    server(DONE("1")); /* too late */
    assert_int_equal(g.to_client.length, 0);

    /* while the server asks the client, its calls have time */
    server("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"elicitation/create\",\"params\":{}}");
    forget();
    g.now_ns += 60000000000;
    mishap_mcp_gateway_tick(&g);
    assert_int_equal(g.to_client.length, 0);
    server(DONE("2"));
    assert_int_equal(g.calls.count, 0);
    mishap_mcp_gateway_close(&g);
}

static void a_server_that_does_not_greet_is_stuck(void **state)
{
    (void)state;
    begin();
    client(HELLO);
    g.now_ns += 1500000000;
    mishap_mcp_gateway_tick(&g);
    assert_true(g.stuck);
    mishap_mcp_gateway_ended(&g, "did not answer", g.now_ns);
    assert_true(says(&g.to_client, "\"id\":0,\"error\""));
    mishap_mcp_gateway_close(&g);
}

static void a_cancelled_call_has_no_answer(void **state)
{
    (void)state;
    begin_ready();
    client(CALL("1", "pay", "{}"));
    forget();
    client("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":"
           "1}}");
    assert_true(says(&g.to_server, "notifications/cancelled"));
    mishap_mcp_gateway_ended(&g, "ended", g.now_ns);
    assert_int_equal(g.to_client.length, 0);
    assert_int_equal(g.calls.count, 0);
    mishap_mcp_gateway_close(&g);
}

/* -- no memory --------------------------------------------------------------------------------- */

static size_t count_of(const char *words)
{
    size_t count = 0, length = strlen(words);
    const char *at = g.to_client.data, *end = at + g.to_client.length;
    while (at && at < end && (at = memmem(at, (size_t)(end - at), words, length))) {
        count++;
        at += length;
    }
    return count;
}

/* Seven requests, and a server that dies. */
static void talk(const void *input)
{
    (void)input;
    begin();
    client(HELLO);
    server(WELCOME("0"));
    client(READY);
    client(CALL("1", "echo", "{\"text\":\"a\"}"));
    client(CALL("2", "echo", "{}"));
    server(TOOLS("\"mishap-gateway-1\""));
    server(DONE("1"));
    client(CALL("3", "pay", "{}"));
    server("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"isError\":true,\"content\":[{\"type\":"
           "\"text\",\"text\":\"No.\"}]}}");
    client(CALL("4", "pay", "{}"));
    server("{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32602,\"message\":\"No.\"}}");
    client(CALL("5", "echo", "{\"text\":\"b\"}"));
    client(CALL("6", "pay", "{}"));
    server("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"roots/list\"}");
    mishap_mcp_gateway_ended(&g, "ended", g.now_ns);
    mishap_mcp_gateway_started(&g);
    server(WELCOME("\"mishap-gateway-2\""));

    /* There is memory again, and no server. */
    size_t failing = fail_at;
    fail_at = 0;
    mishap_mcp_gateway_ended(&g, "ended", g.now_ns + 60000000000);
    g.now_ns += 90000000000;
    for (int i = 0; i < 10; i++)
        mishap_mcp_gateway_tick(&g);
    assert_int_equal(g.calls.count, 0);
    size_t unnamed = count_of("\"id\":null,"), named = 0;
    for (int id = 0; id <= 6; id++) {
        char words[16];
        snprintf(words, sizeof words, "2.0\",\"id\":%d,\"", id);
        size_t answers = count_of(words) - (id == 1 && count_of("roots/list") ? 1 : 0);
        assert_true(answers <= 1);
        named += answers;
    }
    assert_int_equal(named + unnamed, 7);
    fail_at = failing;
    mishap_mcp_gateway_close(&g);
}

static void without_memory_each_request_is_answered_once(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(talk, NULL);
}

/* -- tasks ------------------------------------------------------------------------------------- */

#define TRACE                                                                                      \
    "Traceback (most recent call last):\\n  File \\\"/srv/a.py\\\", line 3, in f\\nValueError: "   \
    "hunter2"

static void a_task_that_has_failed_is_told_without_leaks(void **state)
{
    static const struct {
        const char *message, *kept;
    } rows[] = {
        { "\"id\":1,\"result\":{\"taskId\":\"t\",\"status\":\"failed\",\"statusMessage\":\"" TRACE
          "\",\"ttl\":9}",
          "\"ttl\":9" },
        { "\"id\":1,\"result\":{\"task\":{\"taskId\":\"t\",\"status\":\"failed\",\"statusMessage\":"
          "\"" TRACE "\"}}",
          "\"taskId\":\"t\"" },
        { "\"id\":1,\"result\":{\"tasks\":[{\"taskId\":\"a\",\"status\":\"working\"},{\"taskId\":"
          "\"t\",\"status\":\"failed\",\"statusMessage\":\"" TRACE "\"}],\"nextCursor\":\"n\"}",
          "\"nextCursor\":\"n\"" },
        { "\"id\":1,\"result\":{\"taskId\":\"t\",\"status\":\"failed\",\"error\":{\"code\":-32001,"
          "\"message\":\"" TRACE "\",\"data\":\"hunter2\"}}",
          "\"code\":-32001" },
        { "\"id\":1,\"result\":{\"taskId\":\"t\",\"status\":\"completed\",\"result\":{\"isError\":"
          "true,\"content\":[{\"type\":\"text\",\"text\":\"" TRACE "\"}]}}",
          "dev.mishap/incident" },
        { "\"method\":\"notifications/tasks/status\",\"params\":{\"taskId\":\"t\",\"status\":"
          "\"failed\",\"statusMessage\":\"" TRACE "\"}",
          "\"method\":\"notifications/tasks/status\"" },
        /* It cannot be read by all readers alike. */
        { "\"id\":1,\"result\":{\"status\":\"failed\",\"statusMessage\":\"" TRACE
          "\",\"a\":1,\"a\":2}",
          "BAD_GATEWAY" },
    };
    char line[1000];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin_ready();
        client("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":{\"taskId\":"
               "\"t\"}}");
        forget();
        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",%s}", rows[i].message);
        server(line);
        assert_true(says(&g.to_client, rows[i].kept));
        assert_false(says(&g.to_client, "hunter2"));
        assert_int_equal(g.calls.count, i == 5 ? 1 : 0);
        mishap_mcp_gateway_close(&g);
    }
}

static void what_a_task_says_without_leaks_stays(void **state)
{
    (void)state;
    begin_ready();
    client("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":{\"taskId\":\"t\"}}");
    forget();
    server("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"status\":\"working\",\"statusMessage\":"
           "\"3 of 9 pages\"}}");
    expect_lines(&g.to_client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"status\":\"working\","
                               "\"statusMessage\":\"3 of 9 pages\"}}\n");
    mishap_mcp_gateway_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_task_that_has_failed_is_told_without_leaks),
        TEST(what_a_task_says_without_leaks_stays),
        TEST(messages_pass_as_the_bytes_that_they_are),
        TEST(requests_of_a_server_get_an_id_of_the_gateway),
        TEST(a_call_waits_for_the_list_of_tools),
        TEST(all_findings_are_told_with_names_that_may_be_meant),
        TEST(a_list_that_changes_is_asked_for_again),
        TEST(a_list_that_does_not_come_checks_nothing),
        TEST(an_endless_list_ends),
        TEST(only_allowed_tools_are_offered),
        TEST(a_failing_tool_is_told_in_our_dialect),
        TEST(the_result_of_a_task_that_failed_stays_a_result),
        TEST(errors_that_a_model_can_mend_become_results),
        TEST(calls_in_flight_are_answered_or_repeated),
        TEST(the_next_server_gets_what_the_client_has_set_up),
        TEST(before_a_long_pause_nothing_waits),
        TEST(time_is_over),
        TEST(a_server_that_does_not_greet_is_stuck),
        TEST(a_cancelled_call_has_no_answer),
        TEST(without_memory_each_request_is_answered_once),
    };
    return RUN(tests);
}
