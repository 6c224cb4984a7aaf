/* The tests of the chat: by C calls and over HTTP, on both engines. */
#include <mishap/test.h>

/* The service is one file, and this is a program of its own. */
int chat_main(int argc, char **argv);
#define main chat_main
#include "chat.c"
#undef main

static const char first[] = "event: message\ndata: {\"id\":1,\"from\":\"Ada\",\"text\":\"Good\\n"
                            "morning\",\"said\":\"2030-02-28T09:00:00Z\"}";
static const char second[] = "event: message\ndata: {\"id\":2,\"from\":\"Bob\",\"text\":\"Hello\","
                             "\"said\":\"2030-02-28T09:01:00Z\"}";

static void expect_event(mishap_test *t, const char *event)
{
    const char *piece = mishap_test_read(t, NULL);
    mishap_expect(t, piece && strcmp(piece, event) == 0, "the next event is %s, and not %s", event,
                  piece ? piece : "the end");
}

static void follow_messages(mishap_test *t)
{
    mishap_test_set_time(t, "2030-02-28T09:00:00Z");
    mishap_test_call(t, "say", "{\"from\":\"Ada\",\"text\":\"Good\\nmorning\"}");
    mishap_expect_answer(t, "{\"id\":1}");
    mishap_test_call(t, "follow", NULL);
    expect_event(t, first);
    mishap_expect(t, !mishap_test_read(t, NULL), "a C call does not wait");

    /* Over HTTP the stream stays open: tests/http/examples_test.py reads on. */
    mishap_test_send(t, &(mishap_test_request){ .path = "/messages/stream", .stream = true });
    mishap_expect_status(t, 200);
    expect_event(t, first);
}

static void fail(mishap_test *t)
{
    mishap_test_call(t, "say", "{\"from\":\"\",\"text\":7}");
    mishap_expect_field(t, "from", "field_required");
    mishap_expect_field(t, "text", "invalid_type");
    mishap_test_fault(t, MISHAP_FAULT_STORE_GONE, 1);
    mishap_test_call(t, "say", "{\"from\":\"Ada\",\"text\":\"Lost\"}");
    mishap_expect_code(t, UNAVAILABLE);
    mishap_test_set_time(t, "2030-02-28T09:01:00Z");
    mishap_test_call(t, "say", "{\"from\":\"Bob\",\"text\":\"Hello\"}");
    mishap_expect_ok(t);
    mishap_test_call(t, "follow", "{\"after\":1}");
    expect_event(t, second);
}

int main(void)
{
    mishap_test *t = mishap_test_begin(&chat);
    mishap_expect_getters(t);
    if (mishap_test_case(t, "on SQLite", MISHAP_TEST_SQLITE)) {
        follow_messages(t);
        fail(t);
    }
    if (mishap_test_case(t, "on PostgreSQL", MISHAP_TEST_POSTGRESQL)) {
        follow_messages(t);
        fail(t);
    }
    return mishap_test_end(t);
}
