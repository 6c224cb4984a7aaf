/* Conversations: requests that are still being answered, and batches. */

#include "mcp_talk.h"

/* -- requests that are still being answered ---------------------------------------------------- */

#define SLOWER(id) REQUEST(id, "tools/call", "\"name\":\"slower\"")

#define PONG(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"

static void an_id_is_used_once_at_a_time(void **state)
{
    (void)state;
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_2025_11_25);
    assert_string_equal(say(&talk, SLOW("\"ab\"")), "");
    assert_int_equal(talk.finished, 0);
    const char *answer = say(&talk, PING("\"a\\u0062\"")); /* the same, written otherwise */
    assert_true(has(answer, "\"id\":\"ab\",\"error\":{\"code\":-32600,\"message\":\"Another "
                            "request with this id is still in progress.\""));
    assert_int_equal(talk.channel.status, 400);
    assert_string_equal(say(&talk, PING("\"b\"")), PONG("\"b\"") "\n");
    run_flights(&talk);
    assert_true(has(heard(&talk), "{\"jsonrpc\":\"2.0\",\"id\":\"ab\",\"result\":{"));
    assert_string_equal(say(&talk, PING("\"ab\"")), PONG("\"ab\"") "\n");

    assert_true(has(say(&talk, REQUEST("7", "subscriptions/listen", "\"notifications\":{}," META)),
                    "acknowledged"));
    assert_true(has(say(&talk, PING("7")), "\"id\":7,\"error\":{\"code\":-32600,"));
    assert_string_equal(say(&talk, PING("\"7\"")), PONG("\"7\"") "\n");
    close_talk(&talk);
}

static void what_is_cancelled_is_not_answered(void **state)
{
    (void)state;
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_2025_11_25);
    say(&talk, SLOW("1"));
    say(&talk, SLOW("\"1\""));
    assert_string_equal(say(&talk, NOTE("notifications/cancelled", "\"requestId\":1")), "");
    assert_int_equal(talk.finished, 2); /* the request and the notification */
    assert_int_equal(talk.peer.flight_count, 1);
    say(&talk, NOTE("notifications/cancelled", "\"requestId\":1")); /* twice is fine */
    run_flights(&talk);
    assert_int_equal(slow_runs, 1); /* the other one was not needed */
    assert_true(starts(heard(&talk), "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\""));

    say(&talk, REQUEST("2", "subscriptions/listen", "\"notifications\":{}," META));
    int before = talk.finished;
    assert_string_equal(say(&talk, NOTE("notifications/cancelled", "\"requestId\":2")), "");
    assert_int_equal(talk.finished, before + 2);
    assert_string_equal(say(&talk, PING("2")), PONG("2") "\n");
    close_talk(&talk);
}

static void who_leaves_is_answered_no_more(void **state)
{
    (void)state;
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_2025_03_26);
    say(&talk, SLOW("1"));
    say(&talk, "[" SLOW("2") "," SLOW("3") "," PING("4") "]");
    say(&talk, REQUEST("5", "subscriptions/listen", "\"notifications\":{}," META));
    mishap_mcp_peer_release(&talk.peer);
    assert_true(has(heard(&talk), "[" PONG("4") "]\n")); /* what was ready in the batch */
    run_flights(&talk);
    assert_int_equal(slow_runs, 0);
    assert_string_equal(heard(&talk), "");
    close_talk(&talk);
}

/* -- batches ----------------------------------------------------------------------------------- */

static void a_batch_is_answered_with_one_array(void **state)
{
    (void)state;
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_2025_03_26);
    assert_string_equal(say(&talk, "[" PING("1") "," PING("\"b\"") "]"),
                        "[" PONG("1") "," PONG("\"b\"") "]\n");
    assert_int_equal(talk.finished, 1);
    assert_int_equal(talk.channel.status, 200);
    assert_string_equal(say(&talk, "[" PING("1") "," NOTE("notifications/x", "") "]"),
                        "[" PONG("1") "]\n");
    assert_string_equal(say(&talk, "[" NOTE("notifications/x", "") "," NOTE("ping", "") "]"), "");
    assert_string_equal(say(&talk, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]"), "");
    assert_int_equal(talk.finished, 4);
    close_talk(&talk);
}

static void a_batch_waits_for_the_last_answer(void **state)
{
    (void)state;
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_2025_03_26);
    assert_string_equal(say(&talk, "[" SLOWER("1") "," PING("2") "," SLOW("3") "," PING("3") "]"),
                        "");
    assert_int_equal(talk.finished, 0);
    assert_string_equal(say(&talk, PING("4")), PONG("4") "\n"); /* others do not wait for it */
    run_flights(&talk);                                         /* 3 and then 1 */
    assert_int_equal(slow_runs, 2);
    assert_int_equal(said_before[1], 0);
    const char *answer = heard(&talk);
    assert_true(starts(answer, "[" PONG("2") ",{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":"
                                             "-32600,"));
    const char *third = strstr(answer, ",{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{");
    const char *first = strstr(answer, ",{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{");
    assert_true(third && first && third < first); /* in the order in which they were done */
    assert_true(has(answer, "}]\n"));
    assert_int_equal(talk.finished, 2);

    /* One of it is cancelled by another of it. */
    assert_string_equal(
        say(&talk, "[" SLOW("1") "," NOTE("notifications/cancelled", "\"requestId\":1") "]"), "");
    assert_int_equal(talk.finished, 3);
    close_talk(&talk);
}

static void a_batch_is_refused_piece_by_piece(void **state)
{
    (void)state;
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_2025_03_26);
    const char *answer = say(
        &talk, "[1,[]," INITIALIZE("2025-03-26") "," REQUEST("9", "a", META) "," REQUEST(
                   "8", "no/such", "") ",{\"jsonrpc\":\"2.0\"}]");
    static const char *const parts[] = {
        "[{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"A message must be a JSON "
        "object.\"",
        ",{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"A batch must not contain "
        "another batch.\"",
        ",{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600,\"message\":\"initialize must "
        "not be sent in a batch.\"",
        ",{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32600,\"message\":\"This protocol "
        "revision does not support batches.\"",
        ",{\"jsonrpc\":\"2.0\",\"id\":8,\"error\":{\"code\":-32601,",
        ",{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"The member `method` is "
        "missing.\"",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_true(has(answer, parts[i]));
    assert_int_equal(talk.channel.status, 200);
    assert_true(has(say(&talk, "[]"), "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":"
                                      "\"The batch is empty.\""));
    assert_int_equal(talk.channel.status, 400);
    close_talk(&talk);
}

static void a_batch_has_a_limit(void **state)
{
    (void)state;
    struct talk talk;
    open_talk(&talk, MISHAP_MCP_2025_03_26);
    for (size_t count = 256; count <= 257; count++) {
        char text[1024] = "[";
        for (size_t i = 0; i < count; i++) {
            text[1 + 2 * i] = '1';
            text[2 + 2 * i] = i + 1 < count ? ',' : ']';
        }
        mishap_mcp_take_text(&talk.peer, &talk.channel, &talk.reader, mishap_text_of(text));
        assert_int_equal(talk.channel.status, count == 256 ? 200 : 400);
        assert_int_equal(talk.out.data[0], count == 256 ? '[' : '{');
        mishap_buffer_reset(&talk.out);
    }
    close_talk(&talk);
}

/* Only the oldest revision has them, and it only after initialize. */
static void a_batch_is_of_one_revision(void **state)
{
    (void)state;
    static const mishap_mcp_revision others[] = { MISHAP_MCP_NONE, MISHAP_MCP_2025_06_18,
                                                  MISHAP_MCP_2025_11_25 };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct talk talk;
        open_talk(&talk, others[i]);
        const char *answer = say(&talk, "[" PING("1") "]");
        assert_true(has(answer, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":"
                                "\"This protocol revision does not support batches.\""));
        assert_int_equal(talk.channel.status, 400);
        close_talk(&talk);
    }
}

/* -- without memory ---------------------------------------------------------------------------- */

/* An answer that finds no memory does not take the others of its batch with it. */
static void a_batch_goes_on_without_one_answer(void **state)
{
    (void)state;
    size_t alone = 0;
    mishap_use_allocator(&failing_allocator);
    fail_once = true;
    for (size_t i = 1; i < 20; i++) {
        static char room[2048];
        struct talk talk;
        fail_at = 0;
        open_talk(&talk, MISHAP_MCP_2025_03_26);
        mishap_buffer_init(&talk.out, room, sizeof room);
        calls = 0;
        fail_at = i;
        mishap_mcp_take_text(&talk.peer, &talk.channel, &talk.reader,
                             T("[" PING("1") "," PING("2") "]"));
        fail_at = 0;
        alone += strcmp(heard(&talk), "[" PONG("2") "]\n") == 0;
        close_talk(&talk);
    }
    mishap_use_allocator(NULL);
    assert_int_equal(alone, 1);
}

int main(void)
{
    setenv("SAMPLE_LOG", "", 1);
    const struct CMUnitTest tests[] = {
        TEST(an_id_is_used_once_at_a_time),
        TEST(what_is_cancelled_is_not_answered),
        TEST(who_leaves_is_answered_no_more),
        TEST(a_batch_is_answered_with_one_array),
        TEST(a_batch_waits_for_the_last_answer),
        TEST(a_batch_is_refused_piece_by_piece),
        TEST(a_batch_has_a_limit),
        TEST(a_batch_is_of_one_revision),
        TEST(a_batch_goes_on_without_one_answer),
    };
    return RUN(tests);
}
