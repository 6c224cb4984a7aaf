/* The HTTP client against servers that misbehave: each request ends in time, with a failure, and
 * with bounded memory. */
#include "client/libcurl.h"
#include "peer.h"

enum { MUCH_TIME_MS = 60000, MOST_BODY = 100000, MOST_HEAD = 20000 };

static mishap_client *client;
static mishap_client_response response;

static int open_client(void **state)
{
    (void)state;
    mishap *m = mishap_client_open(&(mishap_client_settings){ .agent = "mishap/test" }, &client);
    mishap_free(m);
    return m ? -1 : 0;
}

static int close_client(void **state)
{
    (void)state;
    mishap_client_response_release(&response);
    mishap_client_close(client);
    return 0;
}

static mishap *send_to(const peer *server, int total_ms)
{
    return mishap_client_send(client,
                              &(mishap_client_request){ .url = server->url,
                                                        .method = "POST",
                                                        .body = T("{}"),
                                                        .total_ms = total_ms,
                                                        .most_head = MOST_HEAD,
                                                        .most_body = MOST_BODY,
                                                        .redirects = 3 },
                              &response);
}

static void assert_code(mishap *m, const mishap_code *code)
{
    assert_non_null(m);
    assert_string_equal(mishap_told(m)->code->name.data, code->name.data);
    assert_true(response.head.length <= MOST_HEAD);
    assert_true(response.body.length <= MOST_BODY);
    mishap_free(m);
}

/* Say the beginning, then a piece again and again. */
typedef struct endless {
    const char *begin, *again;
    int pause_ms;
} endless;

static bool never_ends(int connection, const peer_notes *notes, const void *state)
{
    const endless *e = state;
    (void)notes;
    bool open = peer_say(connection, e->begin, strlen(e->begin));
    while (open) {
        open = peer_say(connection, e->again, strlen(e->again));
        if (e->pause_ms)
            poll(NULL, 0, e->pause_ms);
    }
    return false;
}

static void what_has_no_end_is_cut(void **state)
{
    static const endless parts[] = {
        { "HTTP/1.1 200 OK\r\n", "X-Header: some value or other\r\n", 0 },
        { "HTTP/1.1 200 OK\r\nX-Long: ", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0 },
        { "", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 0 },
        { "", "HTTP/1.1 100 Continue\r\n\r\n", 0 },
        { "HTTP/1.1 200 OK\r\n\r\n", "a body without a length that never ends ", 0 },
        { "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999\r\n\r\n", "a huge body ", 0 },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n", 0 },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-Trailer: value\r\n", 0 },
        { "", "garbage that is no status line ", 0 },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        peer server = peer_begin(never_ends, &parts[i]);
        assert_code(send_to(&server, MUCH_TIME_MS), MISHAP_CODE_BAD_GATEWAY);
        peer_end(&server);
    }
}

static void slow_bytes_end_with_the_time(void **state)
{
    static const endless parts[] = {
        { "H", "", 1000 },
        { "HTTP/1.1 200 OK\r\nX", "a", 20 },
        { "HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", "a", 20 },
        { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n", 20 },
        { "", "HTTP/1.1 100 Continue\r\n\r\n", 20 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        peer server = peer_begin(never_ends, &parts[i]);
        int64_t begun = mishap_clock_monotonic_ns();
        mishap *m = send_to(&server, 700);
        /* On a busy machine the time may be over before there is a connection. */
        for (int tries = 0; tries < 10 && mishap_is(m, CONNECTION_TIMEOUT); tries++) {
            mishap_free(m);
            begun = mishap_clock_monotonic_ns();
            m = send_to(&server, 700);
        }
        assert_code(m, MISHAP_CODE_GATEWAY_TIMEOUT);
        int64_t took_ms = (mishap_clock_monotonic_ns() - begun) / 1000000;
        assert_true(took_ms >= 600 && took_ms < MUCH_TIME_MS);
        peer_end(&server);
    }
}

static void malformed_responses_are_failures(void **state)
{
    static const char *const wrong[] = {
        "",
        "\r\n\r\n",
        "HELLO\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "<html>a page of HTTP/0.9</html>",
        "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nab\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        peer_text says = { wrong[i], false };
        peer server = peer_begin(peer_says, &says);
        mishap *m = send_to(&server, MUCH_TIME_MS);
        if (!m)
            print_message("# accepted: %s\n", wrong[i]);
        assert_code(m, MISHAP_CODE_BAD_GATEWAY);
        peer_end(&server);
    }
}

/* Which bytes of a response arrive before the connection ends: 0, 1, 2 … */
static bool ends_early(int connection, const peer_notes *notes, const void *state)
{
    const char *text = state;
    size_t count = (size_t)notes->connections - 1;
    peer_say(connection, text, count < strlen(text) ? count : strlen(text));
    return false;
}

static void an_end_after_any_byte(void **state)
{
    static const char whole[] = "HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nTransfer-Encoding: chunked"
                                "\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    size_t length = strlen(whole), head = (size_t)(strstr(whole, "\r\n\r\n") + 4 - whole);
    (void)state;
    peer server = peer_begin(ends_early, whole);
    for (size_t i = 0; i <= length; i++) {
        /* A connection that was used before would be tried twice: each request has its own. */
        close_client(NULL);
        assert_int_equal(open_client(NULL), 0);
        mishap *m = send_to(&server, MUCH_TIME_MS);
        assert_int_equal(server.notes->connections, i + 1);
        if (i >= length - 2 && i < length) { /* all of the content has arrived */
            mishap_free(m);
            assert_int_equal(response.body.length, 5);
        } else if (i < length) {
            assert_code(m, MISHAP_CODE_BAD_GATEWAY);
            if (i >= head)
                assert_int_equal(response.status, 503);
        } else {
            assert_null(m);
            assert_int_equal(response.status, 503);
            assert_int_equal(mishap_client_retry_after(&response, 0), 3000);
        }
    }
    peer_end(&server);
}

static void content_is_not_decompressed(void **state)
{
    static const peer_text says = { "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                                    "Content-Length: 4\r\n\r\n\x1f\x8b\x08!",
                                    false };
    (void)state;
    peer server = peer_begin(peer_says, &says);
    assert_null(send_to(&server, MUCH_TIME_MS));
    assert_int_equal(response.body.length, 4);
    peer_end(&server);
}

/* A gzip stream without an end: a beginning, and a piece that is repeated. */
typedef struct stream {
    mishap_text begin, again;
    size_t most; /* how often */
} stream;

#define GZIP_HEAD "\x1f\x8b\x08\0\0\0\0\0\0\x03"

static bool compresses(int connection, const peer_notes *notes, const void *state)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    const stream *s = state;
    (void)notes;
    bool open = peer_say(connection, head, strlen(head)) &&
                peer_say(connection, s->begin.data, s->begin.length);
    for (size_t i = 0; i < s->most && open; i++)
        open = peer_say(connection, s->again.data, s->again.length);
    return false;
}

static mishap *send_decoding(const peer *server)
{
    return mishap_client_send(client,
                              &(mishap_client_request){ .url = server->url,
                                                        .decode = true,
                                                        .total_ms = MUCH_TIME_MS,
                                                        .most_head = MOST_HEAD,
                                                        .most_body = MOST_BODY },
                              &response);
}

/* The limit holds for what is sent and for what becomes of it. */
static void both_forms_of_a_compressed_body_have_the_limit(void **state)
{
    static const stream streams[] = {
        /* 13 bytes become 2,064 */
        { MISHAP_TEXT(GZIP_HEAD "\x62\x18\x05"),
          MISHAP_TEXT("\xa3\x60\x14\x8c\x82\x51\x30\x0a\x46\xc1\x28\x18\x05"), 7000 },
        /* blocks that become nothing, without an end */
        { MISHAP_TEXT(GZIP_HEAD), MISHAP_TEXT("\0\0\0\xff\xff"), SIZE_MAX },
        /* neither gzip nor anything else */
        { MISHAP_TEXT("garbage"), MISHAP_TEXT("garbage"), 10 },
        { MISHAP_TEXT(GZIP_HEAD), MISHAP_TEXT("\xff\xff\xff"), 10 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        peer server = peer_begin(compresses, &streams[i]);
        mishap *m = send_decoding(&server);
        if (!m)
            print_message("# accepted: stream %zu\n", i);
        assert_code(m, MISHAP_CODE_BAD_GATEWAY);
        peer_end(&server);
    }
}

/* The client is used again after each of them. */
static void a_client_works_after_failures(void **state)
{
    static const peer_text bad = { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", false };
    static const peer_text good = { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true };
    (void)state;
    peer first = peer_begin(peer_says, &bad), second = peer_begin(peer_says, &good);
    for (int i = 0; i < 5; i++) {
        assert_code(send_to(&first, MUCH_TIME_MS), MISHAP_CODE_BAD_GATEWAY);
        assert_null(send_to(&second, MUCH_TIME_MS));
        assert_int_equal(response.body.length, 2);
    }
    peer_end(&first);
    peer_end(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_has_no_end_is_cut),
        TEST(slow_bytes_end_with_the_time),
        TEST(malformed_responses_are_failures),
        TEST(an_end_after_any_byte),
        TEST(content_is_not_decompressed),
        TEST(both_forms_of_a_compressed_body_have_the_limit),
        TEST(a_client_works_after_failures),
    };
    mishap *missing = mishap_libcurl_load();
    if (missing) {
        mishap_free(missing);
        printf("1..0 # SKIP libcurl is not installed\n");
        return 0;
    }
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, open_client, close_client);
}
