/*
 * Questions to clients of the revisions with sessions: calls that wait without a worker, for how
 * long, and answers that another process gets. elicitation_test.py has them from outside.
 */
#include <sys/wait.h>

#include "mcp_sessions.h"
#include "mcp_set_up.h"
#include "mcp/calls/flight.h"
#include "operation/sealed.h"

/* -- answers that any process gets ------------------------------------------------------------- */

static mishap_mcp_reply take(mishap_mcp_sessions *s, uint64_t session, uint64_t number,
                             const char *expected)
{
    mishap_buffer answer = { 0 };
    mishap_mcp_reply reply = mishap_mcp_question_take(s, session, number, &answer);
    assert_true(mishap_text_equal(mishap_buffer_text(&answer), mishap_text_of(expected)));
    mishap_buffer_release(&answer);
    return reply;
}

static uint64_t begin_question(mishap_mcp_sessions *s, uint64_t session, const char *id)
{
    uint64_t stream = mishap_mcp_stream_begin(s);
    assert_true(mishap_mcp_call_begin(s, session, stream, mishap_text_of(id)));
    return mishap_mcp_question_begin(s, session, stream, mishap_text_of(id));
}

static void an_answer_of_another_process_is_taken_once(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    uint64_t one = begin_one(s), other = begin_one(s), number = begin_question(s, one, "7");
    assert_int_not_equal(number, 0);
    assert_int_equal(take(s, one, number, ""), MISHAP_MCP_NO_REPLY);
    assert_false(mishap_mcp_question_answer(s, other, number, T("{}")));
    assert_false(mishap_mcp_question_answer(s, one, number + 1, T("{}")));
    assert_false(mishap_mcp_question_answer(s, one, 0, T("{}")));
    pid_t child = fork();
    if (child == 0)
        _exit(mishap_mcp_question_answer(s, one, number, T("{\"result\":1}")) &&
                      !mishap_mcp_question_answer(s, one, number, T("{\"result\":2}"))
                  ? 0
                  : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(take(s, other, number, ""), MISHAP_MCP_NO_REPLY);
    assert_int_equal(take(s, one, number, "{\"result\":1}"), MISHAP_MCP_REPLY);
    assert_int_equal(take(s, one, number, ""), MISHAP_MCP_NO_REPLY);
    assert_false(mishap_mcp_question_answer(s, one, number, T("{}")));
    assert_int_equal(mishap_mcp_place_find(s, one)->events.blocks, 0);
    mishap_mcp_sessions_free(s);
}

static void an_answer_without_room_is_lost_and_said_so(void **state)
{
    static char large[40000];
    (void)state;
    memset(large, 'x', sizeof large);
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    uint64_t one = begin_one(s), number = begin_question(s, one, "7");
    assert_true(mishap_mcp_question_answer(s, one, number, (mishap_text){ large, sizeof large }));
    assert_int_equal(take(s, one, number, ""), MISHAP_MCP_REPLY_LOST);
    mishap_mcp_sessions_free(s);
}

static void a_session_has_so_many_open_questions(void **state)
{
    char id[16];
    uint64_t numbers[MISHAP_MCP_ASKED_AT_ONCE];
    (void)state;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    uint64_t one = begin_one(s);
    for (int i = 0; i < MISHAP_MCP_ASKED_AT_ONCE; i++) {
        snprintf(id, sizeof id, "%d", i);
        numbers[i] = begin_question(s, one, id);
        assert_int_not_equal(numbers[i], 0);
    }
    assert_int_equal(begin_question(s, one, "x"), 0);
    assert_int_not_equal(begin_question(s, begin_one(s), "x"), 0);
    mishap_mcp_question_end(s, one, numbers[3]);
    assert_int_not_equal(begin_question(s, one, "y"), 0);
    mishap_mcp_sessions_free(s);
}

/* -- calls that wait --------------------------------------------------------------------------- */

static const mishap_param sure_params[] = { { "sure", MISHAP_BOOLEAN, .required = true }, { 0 } };

static mishap *purge(mishap_call *call)
{
    if (!mishap_reply(call, "confirm"))
        return mishap_ask(call, "confirm", sure_params, "Delete all?");
    return mishap_answer_member(call, "sure",
                                mishap_boolean(mishap_reply(call, "confirm"), "sure"));
}

static const mishap_operation operations[] = {
    { "purge", "Delete", NULL, purge, .quick = true,
      .asks = MISHAP_ASKS({ "confirm", .params = sure_params }) },
    { 0 },
};
static const mishap_app app = { .name = "mcp-parked", .version = "1", .operations = operations };

static bool next_number(mishap_mcp_peer *peer, mishap_mcp_flight *flight, uint64_t *number)
{
    (void)flight;
    *number = ++peer->questions;
    return true;
}

static void open_asking(struct wire *w)
{
    open_wire(w, &app, MISHAP_MCP_2025_11_25);
    w->peer.ask = next_number;
    w->peer.capabilities = 1; /* forms */
    ask(w, "tools/call", "\"name\":\"purge\"");
}

static void a_call_waits_as_a_flight_and_goes_on_with_the_answer(void **state)
{
    (void)state;
    struct wire w;
    open_asking(&w);
    assert_string_equal(text_at(&w, "/method"), "elicitation/create");
    assert_string_equal(text_at(&w, "/id"), "mishap-1");
    assert_true(mishap_mcp_is_parked(w.peer.flights));
    assert_int_equal(w.finished, 0);
    send_text(&w, "{\"jsonrpc\":\"2.0\",\"id\":\"mishap-1\",\"result\":{\"action\":\"accept\","
                  "\"content\":{\"sure\":true}}}");
    assert_int_equal(number_at(&w, "/id"), 7);
    assert_true(yyjson_is_true(at(&w, "/result/structuredContent/sure")));
    assert_null(w.peer.flights);
    assert_int_equal(w.finished, 2);
    close_wire(&w);
}

static void after_ten_minutes_the_call_is_cancelled(void **state)
{
    (void)state;
    struct wire w;
    open_asking(&w);
    mishap_mcp_flight *flight = w.peer.flights;
    int64_t due = flight->parked.since_ns + MISHAP_STATE_MS * INT64_C(1000000);
    mishap_buffer_reset(&w.out);
    mishap_mcp_parked_look(flight, due - 1);
    assert_int_equal(w.out.length, 0);
    mishap_mcp_parked_look(flight, due);
    assert_null(w.peer.flights);
    read_answer(&w);
    assert_string_equal(text_at(&w, "/method"), "notifications/cancelled");
    assert_string_equal(text_at(&w, "/params/requestId"), "mishap-1");
    read_response(&w);
    assert_string_equal(text_at(&w, "/result/structuredContent/code"), "CANCELLED");
    close_wire(&w);
}

static void an_answer_that_was_lost_is_asked_for_again(void **state)
{
    (void)state;
    struct wire w;
    open_asking(&w);
    mishap_buffer_reset(&w.out);
    mishap_mcp_parked_answer(w.peer.flights, (mishap_text){ NULL, 0 });
    read_answer(&w);
    assert_string_equal(text_at(&w, "/id"), "mishap-2");
    assert_string_equal(text_at(&w, "/params/message"), "Delete all?");
    close_wire(&w);
}

/* Whatever allocation fails, the call waits or is answered. */
static void call_without_memory(const void *state)
{
    struct wire w;
    open_small_wire(&w, state);
    w.peer.ask = next_number;
    w.peer.capabilities = 1;
    ask(&w, "tools/call", "\"name\":\"purge\"");
    if (w.peer.flights)
        send_text(&w, "{\"jsonrpc\":\"2.0\",\"id\":\"mishap-1\",\"result\":{\"action\":\"accept\","
                      "\"content\":{\"sure\":true}}}");
    if (w.peer.flights) { /* the answer was not understood: it is asked for again */
        assert_true(mishap_mcp_is_parked(w.peer.flights));
        mishap_mcp_parked_look(w.peer.flights, INT64_MAX);
    }
    assert_null(w.peer.flights);
    read_response(&w);
    close_small_wire(&w);
}

static void without_memory_it_waits_or_is_answered(void **state)
{
    (void)state;
    mishap_mcp_server server = { .app = &app, .message_limit = 1 << 20, .flight_limit = 8 };
    assert_null(mishap_mcp_server_make(&server, false));
    torture(call_without_memory, &server);
    mishap_mcp_server_release(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_of_another_process_is_taken_once),
        TEST(an_answer_without_room_is_lost_and_said_so),
        TEST(a_session_has_so_many_open_questions),
        TEST(a_call_waits_as_a_flight_and_goes_on_with_the_answer),
        TEST(after_ten_minutes_the_call_is_cancelled),
        TEST(an_answer_that_was_lost_is_asked_for_again),
        TEST(without_memory_it_waits_or_is_answered),
    };
    return RUN_WITH_LOG(tests, "MCP_PARKED_LOG");
}
