/* Calls over MCP that are run by the runner of calls: what they say meanwhile. */

#include "mcp_flights.h"

/* Report twice while the handler is in the middle of it. */
static struct transport *reporting;
static size_t heard_once, heard_twice;

static void report_twice(void)
{
    mishap_mcp_flight_report(reporting->wire.peer.flights);
    heard_once = line_count(reporting);
    mishap_mcp_flight_report(reporting->wire.peer.flights);
    heard_twice = line_count(reporting);
}

static void report_meanwhile(struct transport *t)
{
    reporting = t;
    heard_once = heard_twice = SIZE_MAX;
    meanwhile = report_twice;
}

static void what_is_said_meanwhile_comes_before_the_answer(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    report_meanwhile(&t);
    ask(&t.wire, "tools/call",
        "\"name\":\"say\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"},"
        "\"_meta\":{\"progressToken\":0}");
    finish_all(&t);
    assert_line(&t, 0,
                PROGRESS "{\"progressToken\":0,\"progress\":0,\"total\":100,"
                         "\"message\":\"beginning\"}}");
    assert_line(&t, 1,
                MESSAGE "{\"level\":\"info\",\"logger\":\"say\","
                        "\"data\":\"It goes \\\"on\\\".\"}}");
    assert_line(&t, 2,
                MESSAGE "{\"level\":\"warning\",\"logger\":\"say\","
                        "\"data\":\"The word is [redacted].\"}}");
    /* Of those that came too soon after another, the last. */
    assert_line(&t, 3,
                PROGRESS "{\"progressToken\":0,\"progress\":100,\"total\":100,"
                         "\"message\":\"The word is [redacted].\"}}");
    assert_int_equal(heard_once, 4);
    assert_int_equal(heard_twice, 4);
    assert_line(&t, 4, ANSWER("7", "a"));
    assert_int_equal(line_count(&t), 5);
    close_transport(&t);
}

static void a_stack_trace_is_not_said(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"say_trace\",\"_meta\":{\"progressToken\":0}");
    finish_all(&t);
    assert_int_equal(line_count(&t), 3);
    assert_null(memmem(t.wire.out.data, t.wire.out.length, "x.py", 4));
    assert_line(&t, 0,
                PROGRESS "{\"progressToken\":0,\"progress\":1,\"total\":2,"
                         "\"message\":\"A stack trace was removed here.\"}}");
    assert_line(&t, 1,
                MESSAGE "{\"level\":\"error\",\"logger\":\"say_trace\","
                        "\"data\":\"A stack trace was removed here.\"}}");
    close_transport(&t);
    free(logged());
}

static size_t count_of(const char *text, const char *words)
{
    size_t count = 0;
    for (; (text = strstr(text, words)); text++)
        count++;
    return count;
}

/* Under the id of the call, without its secrets, and not without end. */
static void a_stack_trace_that_is_not_said_is_recorded(void **state)
{
    static const char incident[] = "01234567-89ab-7def-8123-456789abcdef";
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    t.wire.peer.incident = incident;
    ask(&t.wire, "tools/call",
        "\"name\":\"say_trace\",\"arguments\":{\"key\":\"x.py\"},"
        "\"_meta\":{\"progressToken\":0}");
    finish_all(&t);
    char *said = logged();
    ask(&t.wire, "tools/call", "\"name\":\"say_traces\"");
    close_transport(&t);
    char *said_often = logged();
    assert_int_equal(count_of(said, "line 3, in f"), 2);
    assert_int_equal(count_of(said, incident), 2);
    assert_null(strstr(said, "x.py"));
    assert_int_equal(count_of(said_often, "line 3, in f"), 64);
    free(said);
    free(said_often);
}

static void what_nobody_has_heard_is_sent_at_the_end(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call",
        "\"name\":\"say\",\"arguments\":{\"word\":\"a\",\"key\":\"open sesame\"},"
        "\"_meta\":{\"progressToken\":\"a\\\"b\"}");
    finish_all(&t);
    yyjson_doc *last = line(&t, 3);
    assert_string_equal(
        yyjson_get_str(yyjson_ptr_get(yyjson_doc_get_root(last), "/params/progressToken")), "a\"b");
    yyjson_doc_free(last);
    assert_line(&t, 4, ANSWER("7", "a"));
    assert_int_equal(line_count(&t), 5);
    close_transport(&t);
}

/* How many lines are of this method, when `say` is called with these further members. */
static size_t count_said(mishap_mcp_revision revision, const char *level, const char *meta,
                         const char *method)
{
    struct transport t;
    char text[1000];
    size_t count = 0;
    open_transport(&t, revision);
    if (level) {
        snprintf(text, sizeof text, "\"level\":\"%s\"", level);
        ask(&t.wire, "logging/setLevel", text);
        assert_int_equal(yyjson_obj_size(at(&t.wire, "/result")), 0);
    }
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"say\","
             "\"arguments\":{\"key\":\"open sesame\"}%s%s%s}}",
             *meta ? ",\"_meta\":{" : "", meta, *meta ? "}" : "");
    mishap_buffer_reset(&t.wire.out);
    send_text(&t.wire, text);
    finish_all(&t);
    for (size_t i = 0; i < line_count(&t); i++) {
        yyjson_doc *doc = line(&t, i);
        count += yyjson_equals_str(yyjson_obj_get(yyjson_doc_get_root(doc), "method"), method);
        yyjson_doc_free(doc);
    }
    close_transport(&t);
    return count;
}

static void progress_is_told_only_to_who_asks(void **state)
{
    (void)state;
    static const char method[] = "notifications/progress";
    assert_int_equal(count_said(MISHAP_MCP_2025_06_18, NULL, "", method), 0);
    assert_true(count_said(MISHAP_MCP_2025_06_18, NULL, "\"progressToken\":7", method) >= 2);
    assert_true(count_said(MISHAP_MCP_2025_06_18, NULL, "\"progressToken\":\"\"", method) >= 2);
}

static void log_messages_keep_to_the_level_that_was_asked_for(void **state)
{
    (void)state;
    static const char method[] = "notifications/message";
#define CLAIM                                                                                      \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                  \
    "\"io.modelcontextprotocol/clientCapabilities\":{}"
    assert_int_equal(count_said(MISHAP_MCP_2025_06_18, NULL, "", method), 2);
    assert_int_equal(count_said(MISHAP_MCP_2025_06_18, "debug", "", method), 3);
    assert_int_equal(count_said(MISHAP_MCP_2025_06_18, "warning", "", method), 1);
    assert_int_equal(count_said(MISHAP_MCP_2025_06_18, "error", "", method), 0);
    assert_int_equal(count_said(MISHAP_MCP_2026_07_28, NULL, CLAIM, method), 0);
    assert_int_equal(count_said(MISHAP_MCP_2026_07_28, NULL,
                                CLAIM ",\"io.modelcontextprotocol/logLevel\":\"debug\"", method),
                     3);
    assert_int_equal(count_said(MISHAP_MCP_2026_07_28, NULL,
                                CLAIM ",\"io.modelcontextprotocol/logLevel\":\"notice\"", method),
                     1);
}

static void a_level_that_is_none_is_refused(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "logging/setLevel", "\"level\":\"loud\"");
    assert_error(&t.wire, -32602);
    ask(&t.wire, "logging/setLevel", "\"level\":3");
    assert_error(&t.wire, -32602);
    ask(&t.wire, "logging/setLevel", "");
    assert_error(&t.wire, -32602);
    assert_int_equal(t.wire.peer.level, MISHAP_INFO);
    close_transport(&t);
}

static void what_is_said_is_bounded(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    report_meanwhile(&t);
    ask(&t.wire, "tools/call",
        "\"name\":\"flood\",\"arguments\":{},\"_meta\":{\"progressToken\":1}");
    finish_all(&t);
    assert_int_equal(heard_once, 1 + 64 + 1); /* the first progress, log messages, the latest */
    assert_int_equal(heard_twice, heard_once);
    assert_int_equal(line_count(&t), heard_once + 1);
    yyjson_doc *first = line(&t, 1), *last = line(&t, heard_once - 1);
    assert_int_equal(yyjson_get_int(yyjson_ptr_get(yyjson_doc_get_root(first), "/params/progress")),
                     0);
    assert_int_equal(yyjson_get_int(yyjson_ptr_get(yyjson_doc_get_root(last), "/params/progress")),
                     4999);
    yyjson_doc_free(first);
    yyjson_doc_free(last);
    close_transport(&t);
}

/* After a while there is room for more. */
static void who_says_little_is_heard_each_time(void **state)
{
    (void)state;
    struct transport t;
    open_transport(&t, MISHAP_MCP_2025_11_25);
    ask(&t.wire, "tools/call", "\"name\":\"steps\",\"_meta\":{\"progressToken\":1}");
    finish_all(&t);
    assert_int_equal(line_count(&t), 2 * STEPS + 2 * 64 + 1);
    close_transport(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_said_meanwhile_comes_before_the_answer),
        TEST(a_stack_trace_is_not_said),
        TEST(a_stack_trace_that_is_not_said_is_recorded),
        TEST(what_nobody_has_heard_is_sent_at_the_end),
        TEST(progress_is_told_only_to_who_asks),
        TEST(log_messages_keep_to_the_level_that_was_asked_for),
        TEST(a_level_that_is_none_is_refused),
        TEST(what_is_said_is_bounded),
        TEST(who_says_little_is_heard_each_time),
    };
    return run_flights(tests, sizeof tests / sizeof *tests);
}
