/*
 * One connection without its socket: requests of every shape, in every cut, and what comes back.
 * The raw-byte suite over real sockets is tests/http/malformed_test.py.
 */
#include "testing.h"

#include "memory_server.h"

static char *talk_in_pieces(memory_server *m, mishap_text bytes, const uint8_t *pieces,
                            size_t piece_count, mishap_http_state *state)
{
    mishap_buffer out = { 0 };
    *state = memory_server_talk(m, bytes, pieces, piece_count, &out);
    memory_server_steady(&out);
    mishap_buffer_put_char(&out, '\0');
    char *text = strdup(out.data);
    mishap_buffer_release(&out);
    return text;
}

#define POST_USER                                                                                  \
    "POST /users HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"                        \
    "Content-Length: 39\r\n\r\n{\"name\":\"\",\"age\":200,\"email\":\"invalid\"}"
#define GET_SLOW "GET /slow/1 HTTP/1.1\r\nHost: h\r\n\r\n"
#define POST_ECHO                                                                                  \
    "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"                         \
    "Transfer-Encoding: chunked\r\n\r\n7;x=y\r\n{\"text\"\r\n4\r\n:\"a\"\r\n1\r\n}\r\n0\r\n"       \
    "Trailer: t\r\n\r\n"

static const struct {
    const char *name, *bytes, *status; /* the statuses of all replies, in order */
    mishap_http_state state;
} cases[] = {
    { "the complete example", POST_USER, "422", MISHAP_HTTP_IDLE },
    { "a handler on a thread", GET_SLOW, "200", MISHAP_HTTP_IDLE },
    { "a chunked body", POST_ECHO, "200", MISHAP_HTTP_IDLE },
    { "all three at once", POST_USER GET_SLOW POST_ECHO POST_USER, "422 200 200 422",
      MISHAP_HTTP_IDLE },
    { "line ends before a request", "\r\n\r\n" GET_SLOW, "200", MISHAP_HTTP_IDLE },
    { "a last request", "GET /slow/2 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" GET_SLOW,
      "404", MISHAP_HTTP_ENDED },
    { "the old protocol", "GET /slow/1 HTTP/1.0\r\n\r\n", "200", MISHAP_HTTP_ENDED },
    { "the old protocol, kept open", "GET /slow/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      "200", MISHAP_HTTP_IDLE },
    { "half a head", "GET /slow/1 HTTP/1.1\r\nHo", "", MISHAP_HTTP_IN_HEAD },
    { "half a body",
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 9\r\n"
      "\r\n{\"te",
      "", MISHAP_HTTP_IN_BODY },
    { "garbage after a request", GET_SLOW "\x01garbage\r\n\r\n", "200 400", MISHAP_HTTP_ENDED },
    { "no host", "GET /slow/1 HTTP/1.1\r\n\r\n", "400", MISHAP_HTTP_ENDED },
    { "two hosts", "GET /slow/1 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400", MISHAP_HTTP_ENDED },
    { "two lengths",
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "400",
      MISHAP_HTTP_ENDED },
    { "a length and chunks",
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
      "400", MISHAP_HTTP_ENDED },
    { "CR LF CR x", "GET /slow/1 HTTP/1.1\r\nHost: h\r\n\rxGET /slow/1 HTTP/1.1\r\n\r\n", "400",
      MISHAP_HTTP_ENDED },
    { "a body that is too large", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\n",
      "413", MISHAP_HTTP_ENDED },
    { "a method that nobody knows", "BREW / HTTP/1.1\r\nHost: h\r\n\r\n", "501",
      MISHAP_HTTP_ENDED },
    { "another version", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", "505", MISHAP_HTTP_ENDED },
    { "the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505", MISHAP_HTTP_ENDED },
    { "an expectation that cannot be met",
      "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: a-miracle\r\nContent-Length: 2\r\n\r\n{}", "417",
      MISHAP_HTTP_ENDED },
    { "a path that is none", "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n", "404", MISHAP_HTTP_IDLE },
    { "a method that is not allowed", "DELETE /users HTTP/1.1\r\nHost: h\r\n\r\n", "405",
      MISHAP_HTTP_IDLE },
    { "a whole address", "GET http://h/slow/1?x HTTP/1.1\r\nHost: h\r\n\r\n", "200",
      MISHAP_HTTP_IDLE },
    { "options of all", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "204", MISHAP_HTTP_IDLE },
    { "an answer at once after all", "GET /now HTTP/1.1\r\nHost: h\r\n\r\n" GET_SLOW, "200 200",
      MISHAP_HTTP_IDLE },
    { "an answer that comes later",
      POST_USER "GET /later?a=b HTTP/1.1\r\nHost: h\r\n\r\n" POST_ECHO, "422 200 200",
      MISHAP_HTTP_IDLE },
    { "a stream", POST_USER "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n" POST_ECHO GET_SLOW,
      "422 200 200 200", MISHAP_HTTP_IDLE },
    { "a stream by the old protocol",
      "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" GET_SLOW, "200", MISHAP_HTTP_ENDED },
    { "a stream without its body", "HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n" GET_SLOW, "200 200",
      MISHAP_HTTP_IDLE },
    { "garbage after a stream", "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n\x01garbage\r\n\r\n",
      "200 400", MISHAP_HTTP_ENDED },
    { "three in a row",
      "GET /later HTTP/1.1\r\nHost: h\r\n\r\nGET /stream HTTP/1.1\r\nHost: h\r\n\r\n"
      "GET /later HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
      "200 200 200", MISHAP_HTTP_ENDED },
    { "an offer of another protocol",
      "GET /slow/1 HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n" GET_SLOW,
      "200 200", MISHAP_HTTP_IDLE },
};

static char *statuses(const char *text)
{
    char *all = calloc(1, 256), *to = all;
    for (const char *at = text; (at = strstr(at, "HTTP/1.1 ")); at += 9)
        if (at[9] >= '0' && at[9] <= '9')
            to += sprintf(to, "%s%.3s", to == all ? "" : " ", at + 9);
    return all;
}

static void requests_are_answered_as_they_should(void **state)
{
    (void)state;
    memory_server m;
    memory_server_open(&m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_http_state end;
        char *text = talk_in_pieces(&m, mishap_text_of(cases[i].bytes), NULL, 0, &end);
        char *found = statuses(text);
        if (strcmp(found, cases[i].status) != 0 || end != cases[i].state)
            fail_msg("%s: %s, state %d:\n%s", cases[i].name, found, (int)end, text);
        free(found);
        free(text);
    }
    memory_server_close(&m);
}

/* One cut at every place, and one byte at a time. */
static void it_makes_no_difference_where_the_bytes_are_cut(void **state)
{
    (void)state;
    memory_server m;
    memory_server_open(&m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_text bytes = mishap_text_of(cases[i].bytes);
        mishap_http_state end, other;
        char *whole = talk_in_pieces(&m, bytes, NULL, 0, &end);
        for (size_t cut = 0; cut < bytes.length && cut < 250; cut++) {
            uint8_t pieces[] = { (uint8_t)cut, 255, 255 };
            char *text = talk_in_pieces(&m, bytes, pieces, cut ? 3 : 1, &other);
            if (strcmp(text, whole) != 0 || end != other)
                fail_msg("%s, cut after %zu:\n%s\nbut whole:\n%s", cases[i].name, cut + 1, text,
                         whole);
            free(text);
        }
        free(whole);
    }
    memory_server_close(&m);
}

static void a_body_is_waited_for_with_100_continue(void **state)
{
    (void)state;
    static const char head[] =
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
        "Expect: 100-continue\r\nContent-Length: 12\r\n\r\n";
    static const char body[] = "{\"text\":\"a\"}";
    memory_server m;
    mishap_http_state end;
    memory_server_open(&m);
    char *whole = talk_in_pieces(&m, mishap_text_of(head), NULL, 0, &end);
    assert_string_equal(whole, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(end, MISHAP_HTTP_IN_BODY);
    free(whole);
    char both[512];
    snprintf(both, sizeof both, "%s%s", head, body);
    whole = talk_in_pieces(&m, mishap_text_of(both), NULL, 0, &end);
    assert_null(strstr(whole, "100 Continue")); /* it is there already */
    assert_non_null(strstr(whole, "{\"text\":\"a\"}"));
    free(whole);
    memory_server_close(&m);
}

/* What stands between the pieces of a body is not kept: a megabyte of it costs nothing. */
static void chunk_extensions_and_trailers_are_limited(void **state)
{
    (void)state;
    memory_server m;
    mishap_http_state end;
    size_t size = 200000;
    char *bytes = malloc(size);
    memset(bytes, 'a', size);
    static const char head[] =
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;";
    memcpy(bytes, head, sizeof head - 1);
    memory_server_open(&m);
    uint8_t pieces[] = { 255 };
    char *text = talk_in_pieces(&m, (mishap_text){ bytes, size }, pieces, 1, &end);
    assert_non_null(strstr(text, "HTTP/1.1 431 "));
    assert_int_equal(end, MISHAP_HTTP_ENDED);
    free(text);
    free(bytes);
    memory_server_close(&m);
}

static void a_warning_cannot_become_a_field(void **state)
{
    (void)state;
    memory_server m;
    mishap_http_state end;
    memory_server_open(&m);
    char *text = talk_in_pieces(&m, T("GET /list?tag=a&tag=b HTTP/1.1\r\nHost: h\r\n\r\n"), NULL, 0,
                                &end);
    assert_non_null(
        strstr(text, "Warning: 299 - \"a \\\"quoted\\\" warning\\r\\nwith a line break\"\r\n"));
    assert_non_null(strstr(text, "{\"tags\":[\"a\",\"b\"]}"));
    free(text);
    memory_server_close(&m);
}

static void a_location_cannot_become_a_field(void **state)
{
    (void)state;
    memory_server m;
    mishap_http_state end;
    memory_server_open(&m);
    char *text = talk_in_pieces(
        &m,
        T("POST /users HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
          "Content-Length: 48\r\n\r\n"
          "{\"name\":\"a\\r\\nSet-Cookie: b=1 \",\"email\":\"a@b.c\"}"),
        NULL, 0, &end);
    assert_non_null(strstr(text, "HTTP/1.1 201 "));
    assert_non_null(strstr(text, "\r\nLocation: /users/a%0D%0ASet-Cookie:%20b=1%20\r\n"));
    assert_null(strstr(text, "\nSet-Cookie"));
    free(text);
    memory_server_close(&m);
}

/* Without memory there is a reply that says so, or the connection ends; never half a reply. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_text bytes = T(POST_USER GET_SLOW POST_ECHO
                          "GET /list?limit=0 HTTP/1.1\r\nHost: h\r\n\r\n"
                          "GET /later HTTP/1.1\r\nHost: h\r\n\r\n"
                          "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n" GET_SLOW);
    static const uint8_t pieces[] = { 30, 200 };
    memory_server m;
    mishap_use_allocator(&failing_allocator);
    fail_at = 0;
    memory_server_open(&m);
    for (size_t at = 1;; at++) {
        mishap_buffer out = { 0 };
        calls = 0;
        fail_at = at;
        memory_server_talk(&m, bytes, pieces, 2, &out);
        bool done = calls < at;
        fail_at = 0;
        assert_true(out.length == 0 || memcmp(out.data, "HTTP/1.1 ", 9) == 0);
        mishap_buffer_release(&out);
        mishap_http_reply_release(&m.server.reply);
        m.server.reply = (mishap_http_reply){ 0 };
        mishap_buffer_release(&m.server.out);
        mishap_buffer_release(&m.server.aside);
        assert_null(m.later);
        if (done)
            break;
    }
    memory_server_close(&m);
    assert_int_equal(blocks, 0);
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests_are_answered_as_they_should),
        TEST(it_makes_no_difference_where_the_bytes_are_cut),
        TEST(a_body_is_waited_for_with_100_continue),
        TEST(chunk_extensions_and_trailers_are_limited),
        TEST(a_warning_cannot_become_a_field),
        TEST(a_location_cannot_become_a_field),
        TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
