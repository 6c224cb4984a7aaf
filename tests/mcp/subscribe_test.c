/* Who hears of changes over MCP. */
#include "mcp_wire.h"

#include "operation/operation.h"
#include "mcp/changes/subscribe.h"

static mishap *do_nothing(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_operation operations[] = {
    { .name = "nothing", .summary = "Do nothing", .run = do_nothing },
    { 0 },
};
static const mishap_app app = { .name = "sample", .version = "1", .operations = operations };

static void tell(struct wire *w, mishap_mcp_change change, const char *uri)
{
    mishap_buffer_reset(&w->out);
    mishap_mcp_tell_change(&w->peer, change, mishap_text_of(uri));
    read_answer(w);
}

static size_t line_count(const struct wire *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->out.length; i++)
        count += w->out.data[i] == '\n';
    return count;
}

#define ID "/params/_meta/io.modelcontextprotocol~1subscriptionId"

/* A request of the stateless revision, with an id of its own. */
static void listen_as(struct wire *w, const char *id, const char *filter)
{
    char text[1000];
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"subscriptions/listen\",\"params\":{"
             "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
             "\"io.modelcontextprotocol/clientCapabilities\":{}}%s%s}}",
             id, *filter ? "," : "", filter);
    send_text(w, text);
}

/* -- the older revisions ----------------------------------------------------------------------- */

static void a_session_hears_of_changed_lists(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    tell(&w, MISHAP_MCP_TOOLS_CHANGED, NULL);
    assert_string_equal(text_at(&w, "/method"), "notifications/tools/list_changed");
    assert_null(at(&w, "/id"));
    tell(&w, MISHAP_MCP_PROMPTS_CHANGED, NULL);
    assert_string_equal(text_at(&w, "/method"), "notifications/prompts/list_changed");
    tell(&w, MISHAP_MCP_RESOURCES_CHANGED, NULL);
    assert_string_equal(text_at(&w, "/method"), "notifications/resources/list_changed");
    w.peer.aside = NULL;
    tell(&w, MISHAP_MCP_TOOLS_CHANGED, NULL);
    assert_int_equal(line_count(&w), 0);
    close_wire(&w);
}

static void a_resource_is_heard_of_while_it_is_subscribed(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_06_18);
    tell(&w, MISHAP_MCP_RESOURCE_UPDATED, "catalog://codes");
    assert_int_equal(line_count(&w), 0);
    for (int i = 0; i < 2; i++) { /* twice is as good as once */
        ask(&w, "resources/subscribe", "\"uri\":\"catalog://codes\"");
        assert_int_equal(yyjson_obj_size(at(&w, "/result")), 0);
        assert_non_null(at(&w, "/result"));
    }
    ask(&w, "resources/subscribe", "\"uri\":\"catalog://codes/404\"");
    assert_non_null(at(&w, "/result"));
    tell(&w, MISHAP_MCP_RESOURCE_UPDATED, "catalog://codes");
    assert_int_equal(line_count(&w), 1);
    assert_string_equal(text_at(&w, "/method"), "notifications/resources/updated");
    assert_string_equal(text_at(&w, "/params/uri"), "catalog://codes");
    tell(&w, MISHAP_MCP_RESOURCE_UPDATED, "catalog://other");
    assert_int_equal(line_count(&w), 0);
    for (int i = 0; i < 2; i++) {
        ask(&w, "resources/unsubscribe", "\"uri\":\"catalog://codes\"");
        assert_non_null(at(&w, "/result"));
    }
    tell(&w, MISHAP_MCP_RESOURCE_UPDATED, "catalog://codes");
    assert_int_equal(line_count(&w), 0);
    tell(&w, MISHAP_MCP_RESOURCE_UPDATED, "catalog://codes/404");
    assert_int_equal(line_count(&w), 1);
    close_wire(&w);
}

/* By the address as it was asked for. */
static void a_resource_is_heard_of_in_any_spelling(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "resources/subscribe", "\"uri\":\"catalog://codes/%34%304\"");
    assert_non_null(at(&w, "/result"));
    listen_as(&w, "\"l\"",
              "\"notifications\":{\"resourceSubscriptions\":[\"catalog://codes/4%304\"]}");
    tell(&w, MISHAP_MCP_RESOURCE_UPDATED, "catalog://codes/404");
    assert_int_equal(line_count(&w), 2);
    assert_string_equal(text_at(&w, "/params/uri"), "catalog://codes/%34%304");
    assert_non_null(memmem(w.out.data, w.out.length, "\"catalog://codes/4%304\"", 23));
    tell(&w, MISHAP_MCP_RESOURCE_UPDATED, "catalog://codes/405");
    assert_int_equal(line_count(&w), 0);
    ask(&w, "resources/unsubscribe", "\"uri\":\"catalog://codes/%34%304\"");
    tell(&w, MISHAP_MCP_RESOURCE_UPDATED, "catalog://codes/404");
    assert_int_equal(line_count(&w), 1);
    close_wire(&w);
}

/* So it is when many have changed at once, and it is not known which. */
static void any_may_have_changed(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "resources/subscribe", "\"uri\":\"catalog://codes\"");
    ask(&w, "resources/subscribe", "\"uri\":\"catalog://codes/404\"");
    listen_as(&w, "\"l\"", "\"notifications\":{\"toolsListChanged\":true}");
    listen_as(&w, "\"m\"",
              "\"notifications\":{\"resourceSubscriptions\":[\"catalog://codes\","
              "\"catalog://codes/500\"]}");
    tell(&w, MISHAP_MCP_RESOURCE_UPDATED, NULL);
    assert_int_equal(line_count(&w), 4);
    assert_string_equal(text_at(&w, "/params/uri"), "catalog://codes");
    mishap_buffer_put_char(&w.out, '\0');
    assert_non_null(strstr(w.out.data, "catalog://codes/404"));
    assert_non_null(strstr(w.out.data, "catalog://codes/500"));
    close_wire(&w);
}

/* Where the transport keeps them, the peer does not. */
static char watched[64];
static bool full;

static mishap *watch(mishap_mcp_peer *peer, mishap_text uri, bool begin)
{
    (void)peer;
    snprintf(watched, sizeof watched, "%s %.*s", begin ? "begin" : "end", (int)uri.length,
             uri.data);
    return full ? mishap_raise(RATE_LIMITED, "One caller may have 7 subscriptions.") : NULL;
}

static void a_transport_may_keep_subscriptions_itself(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    w.peer.watch = watch;
    ask(&w, "resources/subscribe", "\"uri\":\"catalog://codes\"");
    assert_non_null(at(&w, "/result"));
    assert_string_equal(watched, "begin catalog://codes");
    assert_null(w.peer.subscriptions);
    ask(&w, "resources/unsubscribe", "\"uri\":\"catalog://codes\"");
    assert_non_null(at(&w, "/result"));
    assert_string_equal(watched, "end catalog://codes");
    ask(&w, "resources/subscribe", "\"uri\":\"no://where\"");
    assert_error(&w, -32002);
    assert_string_equal(watched, "end catalog://codes");
    full = true;
    ask(&w, "resources/subscribe", "\"uri\":\"catalog://codes\"");
    assert_error(&w, -32600);
    assert_string_equal(text_at(&w, "/error/data/code"), "RATE_LIMITED");
    assert_string_equal(text_at(&w, "/error/message"), "One caller may have 7 subscriptions.");
    full = false;
    close_wire(&w);
}

static void an_address_that_is_too_long_cannot_be_watched(void **state)
{
    struct wire w;
    char members[1000];
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    snprintf(members, sizeof members, "\"uri\":\"catalog://codes/%0600d\"", 404);
    ask(&w, "resources/subscribe", members);
    assert_error(&w, -32602);
    assert_non_null(strstr(text_at(&w, "/error/message"), "512"));
    close_wire(&w);
}

/* What the stream of a session is sent. */
static void a_change_is_one_message(void **state)
{
    mishap_buffer b = { 0 };
    (void)state;
    mishap_mcp_put_change(&b, MISHAP_MCP_PROMPTS_CHANGED, (mishap_text){ NULL, 0 });
    mishap_buffer_put_char(&b, '\0');
    assert_string_equal(b.data,
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\"}");
    mishap_buffer_reset(&b);
    mishap_mcp_put_change(&b, MISHAP_MCP_RESOURCE_UPDATED, T("a://\"1"));
    mishap_buffer_put_char(&b, '\0');
    assert_string_equal(b.data,
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
                        "\"params\":{\"uri\":\"a://\\\"1\"}}");
    mishap_buffer_release(&b);
}

static void only_what_is_there_can_be_subscribed_to(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "resources/subscribe", "\"uri\":\"catalog://codes/NOTHING_LIKE_IT\"");
    assert_error(&w, -32002);
    assert_string_equal(text_at(&w, "/error/data/uri"), "catalog://codes/NOTHING_LIKE_IT");
    ask(&w, "resources/subscribe", "\"uri\":5");
    assert_error(&w, -32602);
    ask(&w, "resources/unsubscribe", "");
    assert_error(&w, -32602);
    ask(&w, "resources/unsubscribe", "\"uri\":\"no://where\"");
    assert_non_null(at(&w, "/result"));
    close_wire(&w);
}

static void nothing_is_told_before_the_session_is_open(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28); /* which needs no session */
    tell(&w, MISHAP_MCP_TOOLS_CHANGED, NULL);
    assert_int_equal(line_count(&w), 0);
    w.peer.revision = MISHAP_MCP_2025_11_25;
    tell(&w, MISHAP_MCP_TOOLS_CHANGED, NULL);
    assert_int_equal(line_count(&w), 0);
    w.peer.initialized = true;
    tell(&w, MISHAP_MCP_TOOLS_CHANGED, NULL);
    assert_int_equal(line_count(&w), 1);
    close_wire(&w);
}

static void subscriptions_have_a_limit(void **state)
{
    struct wire w;
    char members[100], id[20];
    size_t taken = 0;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    for (int i = 0; i < 1000; i++) { /* one code, spelled in many ways */
        snprintf(members, sizeof members, "\"uri\":\"catalog://codes/%c%cT%c%c%c%cND\"",
                 i & 1 ? 'n' : 'N', i & 2 ? 'o' : 'O', i & 4 ? '-' : '_', i & 8 ? 'f' : 'F',
                 i & 16 ? 'o' : 'O', i & 32 ? 'u' : 'U');
        ask(&w, "resources/subscribe", members);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof id, "%d", i + 100);
        listen_as(&w, id, "\"notifications\":{}");
        taken += at(&w, "/error") == NULL;
    }
    assert_error(&w, -32600);
    assert_in_range(taken, 100, 256);
    close_wire(&w);
}

/* -- the stateless revision -------------------------------------------------------------------- */

static void listening_begins_with_what_will_be_heard(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    listen_as(&w, "\"a\"",
              "\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":false,"
              "\"unknown\":true,\"resourceSubscriptions\":[\"catalog://codes\",\"no://where\"]}");
    assert_int_equal(line_count(&w), 1);
    assert_string_equal(text_at(&w, "/method"), "notifications/subscriptions/acknowledged");
    assert_string_equal(text_at(&w, ID), "a");
    assert_int_equal(yyjson_obj_size(at(&w, "/params/notifications")), 2);
    assert_true(yyjson_is_true(at(&w, "/params/notifications/toolsListChanged")));
    assert_int_equal(count_at(&w, "/params/notifications/resourceSubscriptions"), 1);
    assert_int_equal(w.finished, 0);
    close_wire(&w);
}

static void each_listener_hears_what_it_asked_for_under_its_id(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    listen_as(&w, "1", "\"notifications\":{\"toolsListChanged\":true}");
    listen_as(&w, "\"1\"",
              "\"notifications\":{\"promptsListChanged\":true,"
              "\"resourceSubscriptions\":[\"catalog://codes\"]}");
    tell(&w, MISHAP_MCP_TOOLS_CHANGED, NULL);
    assert_int_equal(line_count(&w), 1);
    assert_int_equal(number_at(&w, ID), 1);
    tell(&w, MISHAP_MCP_PROMPTS_CHANGED, NULL);
    assert_int_equal(line_count(&w), 1);
    assert_string_equal(text_at(&w, ID), "1");
    tell(&w, MISHAP_MCP_RESOURCES_CHANGED, NULL);
    assert_int_equal(line_count(&w), 0);
    tell(&w, MISHAP_MCP_RESOURCE_UPDATED, "catalog://codes");
    assert_string_equal(text_at(&w, ID), "1");
    assert_string_equal(text_at(&w, "/params/uri"), "catalog://codes");
    listen_as(&w, "3", "\"notifications\":{\"toolsListChanged\":true}");
    tell(&w, MISHAP_MCP_TOOLS_CHANGED, NULL);
    assert_int_equal(line_count(&w), 2);
    close_wire(&w);
}

static void a_listener_that_is_cancelled_hears_nothing(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    listen_as(&w, "1", "\"notifications\":{\"toolsListChanged\":true}");
    assert_true(mishap_mcp_listens(&w.peer, T("1")));
    assert_false(mishap_mcp_listens(&w.peer, T("\"1\"")));
    send_text(&w, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                  "\"requestId\":\"1\"}}");
    assert_true(mishap_mcp_listens(&w.peer, T("1")));
    send_text(&w, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                  "\"requestId\":1}}");
    assert_int_equal(line_count(&w), 0);
    assert_false(mishap_mcp_listens(&w.peer, T("1")));
    tell(&w, MISHAP_MCP_TOOLS_CHANGED, NULL);
    assert_int_equal(line_count(&w), 0);
    close_wire(&w);
}

static void an_id_that_listens_cannot_be_used_again(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    listen_as(&w, "7", "\"notifications\":{\"toolsListChanged\":true}");
    ask(&w, "prompts/list", "");
    assert_error(&w, -32600);
    close_wire(&w);
}

static void at_the_end_every_listener_gets_its_result(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    listen_as(&w, "\"x\"", "\"notifications\":{\"toolsListChanged\":true}");
    listen_as(&w, "2", "\"notifications\":{}");
    mishap_buffer_reset(&w.out);
    mishap_mcp_listen_end(&w.peer);
    read_answer(&w);
    assert_int_equal(line_count(&w), 2);
    assert_int_equal(w.finished, 2);
    assert_string_equal(text_at(&w, "/id"), "x");
    assert_string_equal(text_at(&w, "/result/resultType"), "complete");
    assert_string_equal(text_at(&w, "/result/_meta/io.modelcontextprotocol~1subscriptionId"), "x");
    assert_string_equal(text_at(&w, "/result/_meta/io.modelcontextprotocol~1serverInfo/name"),
                        "sample");
    tell(&w, MISHAP_MCP_TOOLS_CHANGED, NULL);
    assert_int_equal(line_count(&w), 0);
    close_wire(&w);
}

static void a_closed_channel_hears_nothing(void **state)
{
    struct wire w;
    mishap_mcp_channel other = { .begin = begin_line, .end = end_line, .finish = count_finish };
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    listen_as(&w, "1", "\"notifications\":{\"toolsListChanged\":true}");
    mishap_mcp_unlisten(&w.peer, &other);
    assert_true(mishap_mcp_listens(&w.peer, T("1")));
    mishap_mcp_unlisten(&w.peer, &w.channel);
    assert_false(mishap_mcp_listens(&w.peer, T("1")));
    close_wire(&w);
}

static void a_filter_that_makes_no_sense_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "\"notifications\":null",
        "\"notifications\":[]",
        "\"notifications\":true",
        "\"notifications\":{\"toolsListChanged\":1}",
        "\"notifications\":{\"promptsListChanged\":\"true\"}",
        "\"notifications\":{\"resourceSubscriptions\":\"catalog://codes\"}",
        "\"notifications\":{\"resourceSubscriptions\":[5]}",
        "\"notifications\":{\"resourceSubscriptions\":[null]}",
    };
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        listen_as(&w, "1", wrong[i]);
        assert_error(&w, -32602);
        assert_false(mishap_mcp_listens(&w.peer, T("1")));
    }
    assert_int_equal(w.finished, sizeof wrong / sizeof *wrong);
    close_wire(&w);
}

/* Changes that a transport has not announced yet when a client begins to listen. */
static void tell_what_waits(mishap_mcp_peer *peer)
{
    mishap_mcp_tell_change(peer, MISHAP_MCP_TOOLS_CHANGED, (mishap_text){ NULL, 0 });
    mishap_mcp_tell_change(peer, MISHAP_MCP_RESOURCE_UPDATED, T("catalog://codes"));
}

static void what_changed_before_is_told_to_those_who_listened_then(void **state)
{
    static const char wanted[] = "\"notifications\":{\"toolsListChanged\":true,"
                                 "\"resourceSubscriptions\":[\"catalog://codes\"]}";
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    w.peer.catch_up = tell_what_waits;
    listen_as(&w, "1", wanted);
    assert_int_equal(line_count(&w), 1); /* what it will hear, and nothing yet */
    listen_as(&w, "2", wanted);
    assert_int_equal(line_count(&w), 3);
    assert_int_equal(number_at(&w, ID), 1);
    assert_string_equal(text_at(&w, "/method"), "notifications/tools/list_changed");
    assert_int_equal(memmem(w.out.data, w.out.length, "subscriptionId\":2", 17) >
                         memmem(w.out.data, w.out.length, "resources/updated", 17),
                     true);
    close_wire(&w);
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    w.peer.catch_up = tell_what_waits;
    ask(&w, "resources/subscribe", "\"uri\":\"catalog://codes\"");
    assert_int_equal(line_count(&w), 2); /* of the list it hears in any case */
    assert_string_equal(text_at(&w, "/method"), "notifications/tools/list_changed");
    ask(&w, "resources/subscribe", "\"uri\":\"catalog://codes/404\"");
    assert_int_equal(line_count(&w), 3);
    close_wire(&w);
}

/* -- without memory ---------------------------------------------------------------------------- */

static void subscribe_without_memory(const void *input)
{
    struct wire w = { .channel = { .begin = begin_line, .end = end_line, .finish = count_finish },
                      .server = { .app = &app },
                      .peer = { .server = &w.server } };
    mishap_mcp_message message = { .kind = MISHAP_MCP_REQUEST,
                                   .id = T("1"),
                                   .revision = MISHAP_MCP_2026_07_28 };
    mishap_mcp_request request = { .peer = &w.peer, .channel = &w.channel, .message = &message };
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer result = { 0 };
    (void)input;
    if (mishap_json_read(&reader, T("{\"uri\":\"catalog://codes/404\",\"notifications\":{"
                                    "\"toolsListChanged\":true,\"resourceSubscriptions\":["
                                    "\"catalog://codes\"]}}"))) {
        message.params = reader.root;
        mishap_free(mishap_mcp_resources_subscribe(&request, &result));
        mishap_free(mishap_mcp_listen(&request, &result));
        mishap_mcp_tell_change(&w.peer, MISHAP_MCP_TOOLS_CHANGED, (mishap_text){ NULL, 0 });
        mishap_mcp_tell_change(&w.peer, MISHAP_MCP_RESOURCE_UPDATED, (mishap_text){ NULL, 0 });
        mishap_mcp_listen_end(&w.peer);
    }
    mishap_mcp_unlisten(&w.peer, NULL);
    mishap_buffer_release(&request.members);
    mishap_buffer_release(&result);
    mishap_buffer_release(&w.out);
    mishap_json_reader_release(&reader);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(subscribe_without_memory, NULL);
    mishap_use_allocator(NULL);
}

int main(void)
{
    setenv("SAMPLE_LOG", "", 1);
    const struct CMUnitTest tests[] = {
        TEST(a_session_hears_of_changed_lists),
        TEST(a_resource_is_heard_of_while_it_is_subscribed),
        TEST(a_resource_is_heard_of_in_any_spelling),
        TEST(any_may_have_changed),
        TEST(a_transport_may_keep_subscriptions_itself),
        TEST(an_address_that_is_too_long_cannot_be_watched),
        TEST(a_change_is_one_message),
        TEST(only_what_is_there_can_be_subscribed_to),
        TEST(nothing_is_told_before_the_session_is_open),
        TEST(subscriptions_have_a_limit),
        TEST(listening_begins_with_what_will_be_heard),
        TEST(each_listener_hears_what_it_asked_for_under_its_id),
        TEST(a_listener_that_is_cancelled_hears_nothing),
        TEST(an_id_that_listens_cannot_be_used_again),
        TEST(at_the_end_every_listener_gets_its_result),
        TEST(a_closed_channel_hears_nothing),
        TEST(a_filter_that_makes_no_sense_is_refused),
        TEST(what_changed_before_is_told_to_those_who_listened_then),
        TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
