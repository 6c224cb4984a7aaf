/*
 * One connection without its socket: requests of every shape, in every cut, and what comes back.
 * The raw-byte suite over real sockets is tests/http/malformed_test.py.
 */
#include "testing.h"

#include "requests.h"

#define POST_USER                                                                                  \
    "POST /users HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"                        \
    "Content-Length: 39\r\n\r\n{\"name\":\"\",\"age\":200,\"email\":\"invalid\"}"

#define POST_ECHO                                                                                  \
    "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"                         \
    "Transfer-Encoding: chunked\r\n\r\n7;x=y\r\n{\"text\"\r\n4\r\n:\"a\"\r\n1\r\n}\r\n0\r\n"       \
    "Trailer: t\r\n\r\n"

static const struct {
    const char *name, *bytes, *status; /* the statuses of all replies, in order */
    mishap_http_state state;
} cases[] = {
    { "the complete example", POST_USER, "422", MISHAP_HTTP_IDLE },
    { "a handler in a worker", GET_SLOW, "200", MISHAP_HTTP_IDLE },
    { "a chunked body", POST_ECHO, "200", MISHAP_HTTP_IDLE },
    { "all three at once", POST_USER GET_SLOW POST_ECHO POST_USER, "422 200 200 422",
      MISHAP_HTTP_IDLE },
    { "line ends before a request", "\r\n\r\n" GET_SLOW, "200", MISHAP_HTTP_IDLE },
    { "a last request", "GET /slow/2 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" GET_SLOW,
      "404", MISHAP_HTTP_ENDED },
    { "the old protocol", "GET /slow/1 HTTP/1.0\r\n\r\n", "200", MISHAP_HTTP_ENDED },
    { "the old protocol, kept open", "GET /slow/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      "200", MISHAP_HTTP_IDLE },
    { "the old protocol, kept open and closed",
      "GET /slow/1 HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n" GET_SLOW, "200",
      MISHAP_HTTP_ENDED },
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
    { "a whole address without a path", "GET http://h?x=1 HTTP/1.1\r\nHost: h\r\n\r\n", "404",
      MISHAP_HTTP_IDLE },
    { "a query without an address", "GET ?x=1 HTTP/1.1\r\nHost: h\r\n\r\n", "400",
      MISHAP_HTTP_ENDED },
    { "zeros before sizes, and extensions",
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n0007\r\n{\"text\"\r\n04;a;b=\"c\"\r\n:\"a\"\r\n"
      "1\r\n}\r\n000;d\r\nA:\t \r\nB: c \r\n\r\n" GET_SLOW,
      "200 200", MISHAP_HTTP_IDLE },
    { "a list in several lines",
      "GET /nothing HTTP/1.1\r\nAccept: text/html\r\nHost: h\r\n"
      "accept:application/problem+json\r\nUser-Agent: u\r\nAccept: */*;q=0.1\r\n\r\n" GET_SLOW,
      "404 200", MISHAP_HTTP_IDLE },
    { "a failure that is asked for in another dialect",
      "HEAD /slow/1 HTTP/1.1\r\nAccept: application/problem+json\r\n\r\n", "400",
      MISHAP_HTTP_ENDED },
    { "a small body that is not welcome",
      "POST /nothing HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nGET / HTT" GET_SLOW, "404 200",
      MISHAP_HTTP_IDLE },
    { "half of a small body that is not welcome",
      "POST /nothing HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nGET", "404",
      MISHAP_HTTP_IN_BODY },
    { "a large body that is not welcome",
      "POST /nothing HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\nxx" GET_SLOW, "404",
      MISHAP_HTTP_ENDED },
    { "chunks that are not welcome",
      "POST /nothing HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
      "404", MISHAP_HTTP_ENDED },
    { "a body that waits for a word and is not welcome",
      "POST /nothing HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
      "404", MISHAP_HTTP_ENDED },
    { "a body of a type that is not taken",
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nContent-Length: "
      "2\r\n\r\nxx" GET_SLOW,
      "400 200", MISHAP_HTTP_IDLE },
    { "chunks that are too many",
      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n10001\r\n",
      "413", MISHAP_HTTP_ENDED },
    { "HEAD with a target that is none", "HEAD /hea\x92h HTTP/1.1\r\nHost: h\r\n\r\n", "400",
      MISHAP_HTTP_ENDED },
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
    { "a stream of an operation", "GET /pieces/1 HTTP/1.1\r\nHost: h\r\n\r\n" GET_SLOW, "200 200",
      MISHAP_HTTP_IDLE },
    { "a stream that fails before it begins",
      "GET /pieces/none HTTP/1.1\r\nHost: h\r\n\r\n" GET_SLOW, "404 200", MISHAP_HTTP_IDLE },
    { "a stream that fails in the middle",
      "GET /pieces/broken HTTP/1.1\r\nHost: h\r\n\r\n" GET_SLOW, "200", MISHAP_HTTP_ENDED },
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

/* -- one request ------------------------------------------------------------------------------- */

static mishap_http_progress read_one(mishap_http_reader *reader, char *bytes, size_t cut,
                                     mishap_http_request *request)
{
    static mishap_http_settings limits = { .head_limit = 16384,
                                           .target_limit = 8192,
                                           .body_limit = 65536 };
    static mishap_http_fields *fields;
    if (!fields)
        assert_null(mishap_http_fields_make(NULL, &fields));
    limits.fields = fields;
    mishap_http_reader_init(reader, &limits);
    assert_true(mishap_http_reader_take(reader, bytes, cut));
    assert_int_equal(mishap_http_reader_next(reader, request), MISHAP_HTTP_MORE);
    assert_true(mishap_http_reader_keep(reader));
    assert_true(mishap_http_reader_take(reader, bytes + cut, strlen(bytes + cut)));
    return mishap_http_reader_next(reader, request);
}

static void assert_text(mishap_text text, const char *wanted)
{
    assert_int_equal(text.length, strlen(wanted));
    assert_memory_equal(text.data, wanted, text.length);
}

static void an_address_without_a_path_is_the_root(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < 12; cut++) {
        char bytes[] = "GET http://h?x=1 HTTP/1.1\r\nHost: h\r\n\r\n";
        mishap_http_reader reader;
        mishap_http_request request;
        assert_int_equal(read_one(&reader, bytes, cut, &request), MISHAP_HTTP_WHOLE);
        assert_text(request.path, "/");
        assert_text(request.query, "x=1");
        mishap_http_reader_release(&reader);
    }
}

/* Cut at any place, and with anything in between: that is moved, and must be found. */
static void the_lines_of_a_list_are_one_field(void **state)
{
    (void)state;
    static const char given[] = "GET /a HTTP/1.1\r\nAccept:\r\nAccept: a;q=0\r\nHost: h:1\r\n"
                                "X: y\r\nUser-Agent: u 1\r\naccept:bc \r\nOrigin: o\r\n"
                                "Accept: \r\nUser-Agent: other\r\nACCEPT:  d\r\n"
                                "Expect: \t100-continue \r\n\r\n";
    for (size_t cut = 0; cut < sizeof given - 1; cut++) {
        char bytes[sizeof given];
        mishap_http_reader reader;
        mishap_http_request request;
        memcpy(bytes, given, sizeof given);
        assert_int_equal(read_one(&reader, bytes, cut, &request), MISHAP_HTTP_WHOLE);
        assert_text(request.path, "/a");
        char list[32] = "";
        mishap_text accept = request.fields[MISHAP_HTTP_ACCEPT];
        for (size_t i = 0; i < accept.length; i++) /* white space does not matter */
            if (accept.data[i] != ' ')
                strncat(list, &accept.data[i], 1);
        assert_string_equal(list, "a;q=0,bc,d");
        assert_text(request.fields[MISHAP_HTTP_HOST], "h:1");
        assert_text(request.fields[MISHAP_HTTP_USER_AGENT], "u 1");
        assert_text(request.fields[MISHAP_HTTP_ORIGIN], "o");
        assert_text(request.fields[MISHAP_HTTP_EXPECT], "100-continue");
        mishap_http_reader_release(&reader);
    }
}

static void long_lines_of_a_list_are_one_field(void **state)
{
    (void)state;
    enum { LONG = 1500 };
    char bytes[3 * LONG], wanted[LONG + 16], value[LONG + 1] = "";
    mishap_http_reader reader;
    mishap_http_request request;
    for (int i = 0; i < LONG; i++)
        value[i] = (char)('a' + i % 23);
    snprintf(wanted, sizeof wanted, "first,%s,last", value);
    snprintf(
        bytes, sizeof bytes,
        "GET /a HTTP/1.1\r\nHost: h\r\nAccept: first\r\nX: %.700s\r\nOrigin: o\r\nAccept:%s\r\n"
        "User-Agent: u\r\nAccept:last\r\n\r\n",
        value, value);
    assert_int_equal(read_one(&reader, bytes, 900, &request), MISHAP_HTTP_WHOLE);
    assert_text(request.fields[MISHAP_HTTP_ACCEPT], wanted);
    assert_text(request.fields[MISHAP_HTTP_ORIGIN], "o");
    assert_text(request.fields[MISHAP_HTTP_USER_AGENT], "u");
    mishap_http_reader_release(&reader);
}

static void a_failure_knows_what_its_request_has_said(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        mishap_http_method method;
        const char *path, *accept; /* NULL: not known */
    } rows[] = {
        { "HEAD /a?b HTTP/1.1\r\nAccept: x\r\n\r\n", MISHAP_HTTP_HEAD, "/a", "x" },
        { "PUT http://h HTTP/1.1\r\nHost: h\r\nAccept: x\r\nAcc: \1", MISHAP_HTTP_PUT, "/", "x" },
        { "GET /a#b HTTP/1.1\r\nHost: h\r\nAccept: x\r\n\r\n", MISHAP_HTTP_GET, NULL, "x" },
        { "BREW /a HTTP/1.1\r\n\r\n", MISHAP_HTTP_OTHER, NULL, NULL },
        { "GET /a HTTP/2.0\r\n\r\n", MISHAP_HTTP_GET, "/a", NULL },
        { "HEAD /hea\x92h HTTP/1.1\r\n\r\n", MISHAP_HTTP_HEAD, NULL, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char bytes[128];
        mishap_http_reader reader;
        mishap_http_request request = { .method = MISHAP_HTTP_OTHER };
        strcpy(bytes, rows[i].bytes);
        assert_int_equal(read_one(&reader, bytes, 1, &request), MISHAP_HTTP_FLAW);
        request = (mishap_http_request){ .method = MISHAP_HTTP_OTHER };
        mishap_http_reader_know(&reader, &request);
        assert_int_equal(request.method, rows[i].method);
        assert_text(request.path, rows[i].path ? rows[i].path : "");
        assert_text(request.fields[MISHAP_HTTP_ACCEPT], rows[i].accept ? rows[i].accept : "");
        mishap_http_reader_release(&reader);
    }
}

/* -- memory ------------------------------------------------------------------------------------ */

/* Another loop is a server with another place in the same memory. */
static void bodies_count_for_all_loops_and_for_none_that_is_gone(void **state)
{
    (void)state;
    mishap_http_bodies *bodies;
    mishap_http_server here = { .place = 0 }, there = { .place = 3 };
    assert_null(mishap_http_bodies_make(0, 4, &bodies));
    assert_null(bodies); /* no limit */
    assert_true(mishap_http_bodies_fit(&here, SIZE_MAX));
    assert_null(mishap_http_bodies_make(1000000, 4, &bodies));
    here.bodies = there.bodies = bodies;
    mishap_http_bodies_come(bodies, 0);
    mishap_http_bodies_come(bodies, 3);
    mishap_http_bodies_add(&there, 600000);
    mishap_http_bodies_add(&here, 300000);
    assert_true(mishap_http_bodies_fit(&here, 100000));
    assert_false(mishap_http_bodies_fit(&here, 100001));
    mishap_http_bodies_remove(&here, 300000);
    assert_true(mishap_http_bodies_fit(&here, 400000));
    mishap_http_bodies_gone(bodies, 3);
    assert_true(mishap_http_bodies_fit(&here, 1000000));
    assert_false(mishap_http_bodies_fit(&here, SIZE_MAX));
    mishap_http_bodies_free(bodies);
}

/* What is kept of a request counts as long as it is kept, and that of a call as long as it runs. */
static void bodies_are_counted_up_and_down(void **state)
{
    (void)state;
    char bytes[] = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                   "Content-Length: 12\r\n\r\n{\"text\":\"a\"}";
    size_t length = sizeof bytes - 1;
    memory_server m;
    mishap_http_exchange exchange;
    mishap_buffer out = { 0 };
    memory_server_open(&m);
    m.to = &out;
    assert_null(mishap_http_bodies_make(length, 1, &m.server.bodies));
    mishap_http_exchange_init(&exchange, &m.server, T("127.0.0.1"));
    assert_int_equal(mishap_http_exchange_feed(&m.server, &exchange, bytes, length - 2),
                     MISHAP_HTTP_IN_BODY);
    assert_true(mishap_http_bodies_fit(&m.server, 2));
    assert_false(mishap_http_bodies_fit(&m.server, 3));
    assert_int_equal(mishap_http_exchange_feed(&m.server, &exchange, bytes + length - 2, 2),
                     MISHAP_HTTP_RUNNING);
    assert_true(mishap_http_bodies_fit(&m.server, length - 12));
    assert_false(mishap_http_bodies_fit(&m.server, length - 11));
    mishap_runner_flush(m.served.runner);
    assert_true(mishap_http_bodies_fit(&m.server, length));
    /* It belongs to another connection: the next one does not fit to its end. */
    mishap_http_bodies_add(&m.server, 2);
    m.server.out.length = 0;
    assert_int_equal(mishap_http_exchange_feed(&m.server, &exchange, bytes, length - 12),
                     MISHAP_HTTP_IN_BODY);
    mishap_http_bodies_add(&m.server, 2);
    assert_int_equal(mishap_http_exchange_feed(&m.server, &exchange, bytes + length - 12, 11),
                     MISHAP_HTTP_ENDED);
    assert_non_null(memmem(m.server.out.data, m.server.out.length, "HTTP/1.1 503 ", 13));
    assert_true(mishap_http_bodies_fit(&m.server, length - 4)); /* and nothing of it is held */
    mishap_http_exchange_release(&m.server, &exchange);
    mishap_http_bodies_free(m.server.bodies);
    m.server.bodies = NULL;
    mishap_buffer_release(&out);
    memory_server_close(&m);
}

/* -- time, and calls that wait ----------------------------------------------------------------- */

static void a_request_begins_with_its_own_first_byte(void **state)
{
    (void)state;
    char bytes[] = POST_USER POST_USER POST_USER;
    size_t length = sizeof POST_USER - 1;
    memory_server m;
    mishap_http_exchange exchange;
    memory_server_open(&m);
    mishap_http_exchange_init(&exchange, &m.server, T("127.0.0.1"));
    m.server.now_ns = 1000;
    mishap_http_exchange_feed(&m.server, &exchange, bytes, 10);
    assert_int_equal(exchange.began_ns, 1000);
    m.server.now_ns = 2000;
    mishap_http_exchange_feed(&m.server, &exchange, bytes + 10, 10);
    assert_int_equal(exchange.began_ns, 1000);
    m.server.now_ns = 3000;
    mishap_http_exchange_feed(&m.server, &exchange, bytes + 20, length);
    assert_int_equal(exchange.began_ns, 3000);
    m.server.now_ns = 4000;
    mishap_http_exchange_feed(&m.server, &exchange, bytes + 20 + length, length - 20);
    m.server.now_ns = 5000;
    mishap_http_exchange_feed(&m.server, &exchange, bytes + 2 * length, 1);
    assert_int_equal(exchange.began_ns, 5000);
    mishap_http_exchange_release(&m.server, &exchange);
    memory_server_close(&m);
}

/* -- streams of handlers ----------------------------------------------------------------------- */

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
                          "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n"
                          "GET /pieces/1 HTTP/1.1\r\nHost: h\r\n\r\n" GET_SLOW
                          "GET /pieces/broken HTTP/1.1\r\nHost: h\r\n\r\n");
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

/* … nor half of a document. */
static void a_document_comes_whole_or_not_at_all(void **state)
{
    (void)state;
    mishap_text bytes = T("GET /errors HTTP/1.1\r\nHost: h\r\n\r\n");
    mishap_buffer whole = { 0 };
    size_t refused = 0;
    memory_server m;
    memory_server_open(&m);
    memory_server_talk(&m, bytes, NULL, 0, &whole);
    memory_server_steady(&whole);
    memory_server_close(&m);
    mishap_use_allocator(&failing_allocator);
    fail_at = 0;
    fail_once = true;
    memory_server_open(&m);
    for (size_t at = 1, done = 0; !done; at++) {
        mishap_buffer out = { 0 };
        calls = 0;
        fail_at = at;
        memory_server_talk(&m, bytes, NULL, 0, &out);
        done = calls < at;
        fail_at = 0;
        memory_server_steady(&out);
        if (out.length && memcmp(out.data, "HTTP/1.1 500 ", 13) == 0)
            refused++;
        else if (out.length)
            assert_true(mishap_text_equal(mishap_buffer_text(&out), mishap_buffer_text(&whole)));
        mishap_buffer_release(&out);
        mishap_http_reply_release(&m.server.reply);
        m.server.reply = (mishap_http_reply){ 0 };
        mishap_buffer_release(&m.server.out);
    }
    assert_true(refused > 0);
    memory_server_close(&m);
    assert_int_equal(blocks, 0);
    fail_once = false;
    mishap_use_allocator(NULL);
    mishap_buffer_release(&whole);
}

int main(void)
{
    setenv("MEMORY_LOG", "", 1); /* failures on purpose are no news */
    const struct CMUnitTest tests[] = {
        TEST(requests_are_answered_as_they_should),
        TEST(it_makes_no_difference_where_the_bytes_are_cut),
        TEST(an_address_without_a_path_is_the_root),
        TEST(the_lines_of_a_list_are_one_field),
        TEST(long_lines_of_a_list_are_one_field),
        TEST(a_failure_knows_what_its_request_has_said),
        TEST(bodies_count_for_all_loops_and_for_none_that_is_gone),
        TEST(bodies_are_counted_up_and_down),
        TEST(a_request_begins_with_its_own_first_byte),
        TEST(chunk_extensions_and_trailers_are_limited),
        TEST(a_warning_cannot_become_a_field),
        TEST(a_location_cannot_become_a_field),
        TEST(every_allocation_may_fail),
        TEST(a_document_comes_whole_or_not_at_all),
    };
    return RUN(tests);
}
