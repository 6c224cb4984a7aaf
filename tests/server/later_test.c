/* Answers that come later: what they look like, without sockets. */
#include "testing.h"

#include "memory_server.h"

static char *talk(memory_server *m, const char *bytes, mishap_http_state *state)
{
    mishap_buffer out = { 0 };
    *state = memory_server_talk(m, mishap_text_of(bytes), NULL, 0, &out);
    memory_server_steady(&out);
    mishap_buffer_put_char(&out, '\0');
    char *text = strdup(out.data);
    mishap_buffer_release(&out);
    return text;
}

#define STEADY                                                                                     \
    "Date: xxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\nX-Request-Id: "                                        \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n"
#define CHUNKS                                                                                     \
    "b\r\ndata: one\n\n\r\n13\r\ndata: another one\n\n\r\n13\r\ndata: another "                    \
    "one\n\n\r\n0\r\n\r\n"
#define STREAM_HEAD(framing)                                                                       \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" framing STEADY                        \
    "Cache-Control: no-store\r\n"
#define CHUNKED STREAM_HEAD("Transfer-Encoding: chunked\r\n")

static const struct {
    const char *name, *bytes, *reply;
    mishap_http_state state;
} cases[] = {
    { "as a whole", "GET /later?a=b HTTP/1.1\r\nHost: h\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n" STEADY
      "X-Query: a=b\r\n\r\n/later",
      MISHAP_HTTP_IDLE },
    { "as a whole, of a whole address", "GET http://h HTTP/1.1\r\nHost: h\r\n\r\n",
      "HTTP/1.1 404 Not Found\r\n", MISHAP_HTTP_IDLE },
    { "for the last time", "GET /later HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n" STEADY
      "X-Query: \r\nConnection: close\r\n\r\n/later",
      MISHAP_HTTP_ENDED },
    { "in chunks", "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", CHUNKED "\r\n" CHUNKS,
      MISHAP_HTTP_IDLE },
    { "in chunks, the last time", "GET /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
      CHUNKED "Connection: close\r\n\r\n" CHUNKS, MISHAP_HTTP_ENDED },
    { "up to the end of the connection", "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      STREAM_HEAD("") "Connection: close\r\n\r\n"
                      "data: one\n\ndata: another one\n\ndata: another one\n\n",
      MISHAP_HTTP_ENDED },
    { "without a body", "HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n", CHUNKED "\r\n",
      MISHAP_HTTP_IDLE },
};

static void an_answer_looks_like_any_other(void **state)
{
    (void)state;
    memory_server m;
    memory_server_open(&m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_http_state end;
        char *text = talk(&m, cases[i].bytes, &end);
        if (strncmp(text, cases[i].reply, strlen(cases[i].reply)) != 0 || end != cases[i].state)
            fail_msg("%s, state %d:\n%s", cases[i].name, (int)end, text);
        if (strstr(text, "200 OK"))
            assert_int_equal(strlen(text), strlen(cases[i].reply));
        free(text);
    }
    assert_int_equal(m.closed, 0);
    memory_server_close(&m);
}

static void a_page_of_another_origin_may_read_a_stream(void **state)
{
    (void)state;
    memory_server m;
    mishap_http_state end;
    memory_server_open(&m);
    m.settings.cors = "https://a.example";
    char *text = talk(&m, "GET /stream HTTP/1.1\r\nHost: h\r\nOrigin: https://a.example\r\n\r\n",
                      &end);
    assert_non_null(strstr(text, "\r\nAccess-Control-Allow-Origin: https://a.example\r\n"));
    free(text);
    memory_server_close(&m);
}

static void a_server_that_drains_ends_the_connection_with_it(void **state)
{
    (void)state;
    memory_server m;
    memory_server_open(&m);
    m.server.draining = true;
    for (size_t i = 0; i < 2; i++) {
        mishap_http_state end;
        char *text = talk(&m,
                          i ? "GET /later HTTP/1.1\r\nHost: h\r\n\r\n"
                            : "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n",
                          &end);
        assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
        assert_int_equal(end, MISHAP_HTTP_ENDED);
        free(text);
    }
    memory_server_close(&m);
}

static void a_server_that_drains_answers_what_was_sent_ahead(void **state)
{
    (void)state;
    memory_server m;
    mishap_http_state end;
    memory_server_open(&m);
    m.server.draining = true;
    char *text = talk(&m,
                      "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n"
                      "GET /later HTTP/1.1\r\nHost: h\r\n\r\n",
                      &end);
    const char *first = strstr(text, CHUNKED "\r\n" CHUNKS),
               *closed = strstr(text, "Connection: close");
    assert_ptr_equal(first, text);
    assert_non_null(strstr(text, "Connection: close\r\n\r\n/later"));
    assert_null(strstr(closed + 1, "Connection: close"));
    assert_int_equal(end, MISHAP_HTTP_ENDED);
    free(text);
    memory_server_close(&m);
}

static void a_peer_that_goes_is_noticed(void **state)
{
    (void)state;
    memory_server m;
    mishap_http_state end;
    memory_server_open(&m);
    m.silent = true;
    free(talk(&m, "GET /later HTTP/1.1\r\nHost: h\r\n\r\nGET /now HTTP/1.1\r\nHost: h\r\n\r\n",
              &end));
    assert_int_equal(end, MISHAP_HTTP_RUNNING);
    assert_int_equal(m.closed, 1);
    char *text = talk(&m, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", &end);
    assert_non_null(strstr(text, "b\r\ndata: one\n\n\r\n"));
    assert_null(strstr(text, "0\r\n\r\n"));
    assert_int_equal(m.closed, 2);
    free(text);
    memory_server_close(&m);
}

static void a_peer_that_takes_nothing_is_closed(void **state)
{
    (void)state;
    memory_server m;
    mishap_http_state end;
    memory_server_open(&m);
    m.deaf = true;
    free(talk(&m, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", &end));
    assert_int_equal(end, MISHAP_HTTP_ENDED);
    assert_int_equal(m.closed, 1);
    free(talk(&m, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n", &end));
    assert_int_equal(end, MISHAP_HTTP_ENDED);
    assert_int_equal(m.closed, 1); /* it was answered, for all that its owner knows */
    memory_server_close(&m);
}

/* A request whose key is removed while it waits. */
static void revoke_one(memory_server *m, const char *target, mishap_http_exchange *exchange,
                       mishap_buffer *out)
{
    char bytes[100];
    int length = snprintf(bytes, sizeof bytes, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", target);
    mishap_http_exchange_init(exchange, &m->server, mishap_text_of("192.0.2.1"));
    m->to = out;
    assert_int_equal(mishap_http_exchange_feed(&m->server, exchange, bytes, (size_t)length),
                     MISHAP_HTTP_RUNNING);
    mishap_http_later_revoke(m->later, false);
}

static void an_answer_to_a_removed_key_is_whole_or_none(void **state)
{
    (void)state;
    memory_server m;
    mishap_http_exchange exchange;
    mishap_buffer out = { 0 };
    mishap_http_reply head = { .status = 200, .media_type = "text/plain" };
    memory_server_open(&m);
    revoke_one(&m, "/later", &exchange, &out);
    assert_false(exchange.ended);
    mishap_http_later_answer(m.later, &head);
    assert_memory_equal(out.data, "HTTP/1.1 200 OK\r\n", 17);
    assert_false(exchange.ended);
    mishap_http_exchange_release(&m.server, &exchange);
    assert_int_equal(m.closed, 0);

    mishap_buffer_reset(&out); /* one that would begin to stream now */
    revoke_one(&m, "/later", &exchange, &out);
    mishap_http_later_begin(m.later, &head);
    assert_false(mishap_http_later_send(m.later, mishap_text_of("a piece")));
    assert_true(exchange.ended && out.length == 0);
    mishap_http_exchange_release(&m.server, &exchange);
    assert_int_equal(m.closed, 1);

    revoke_one(&m, "/stream", &exchange, &out); /* one that streams */
    assert_false(mishap_http_later_send(m.later, mishap_text_of("a piece")));
    assert_true(exchange.ended && out.length == 0);
    mishap_http_exchange_release(&m.server, &exchange);
    assert_int_equal(m.closed, 2);
    mishap_http_reply_release(&head);
    mishap_buffer_release(&out);
    memory_server_close(&m);
}

static void the_fields_of_the_protocol_may_not_repeat(void **state)
{
    (void)state;
    static const char *const names[] = { "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method",
                                         "Mcp-Name", "Last-Event-ID" };
    memory_server m;
    memory_server_open(&m);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char bytes[256];
        mishap_http_state end;
        snprintf(bytes, sizeof bytes, "GET /now HTTP/1.1\r\nHost: h\r\n%s: 1\r\n%s: 2\r\n\r\n",
                 names[i], names[i]);
        char *text = talk(&m, bytes, &end);
        assert_memory_equal(text, "HTTP/1.1 400 ", 13);
        free(text);
    }
    memory_server_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_looks_like_any_other),
        TEST(a_page_of_another_origin_may_read_a_stream),
        TEST(a_server_that_drains_ends_the_connection_with_it),
        TEST(a_server_that_drains_answers_what_was_sent_ahead),
        TEST(a_peer_that_goes_is_noticed),
        TEST(a_peer_that_takes_nothing_is_closed),
        TEST(an_answer_to_a_removed_key_is_whole_or_none),
        TEST(the_fields_of_the_protocol_may_not_repeat),
    };
    return RUN(tests);
}
