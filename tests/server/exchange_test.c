/*
 * One connection without its socket: requests of every shape, in every cut, and what comes back.
 * The raw-byte suite over real sockets is tests/http/malformed_test.py.
 */
#include "testing.h"

#include "memory_server.h"
#include "operation/call.h"

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

/* Wherever it is cut, and whatever stands between: that is moved, and must be found. */
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
        for (size_t i = 0; i < accept.length; i++) /* white space is nobody's concern */
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
    mishap_http_bodies_add(&m.server, 2); /* somebody else's: the next does not fit to its end */
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

/* A connection whose call waits in the runner, with the beginning of a request behind it. */
typedef struct waiting {
    memory_server m;
    mishap_http_exchange exchange;
    mishap_buffer out;
} waiting;

static void begin_waiting(waiting *w, const char *request)
{
    char bytes[256];
    int length = snprintf(bytes, sizeof bytes, "%s", request);
    memory_server_open(&w->m);
    w->out = (mishap_buffer){ 0 };
    w->m.to = &w->out;
    mishap_http_exchange_init(&w->exchange, &w->m.server, T("127.0.0.1"));
    w->m.server.now_ns = 1000;
    assert_int_equal(mishap_http_exchange_feed(&w->m.server, &w->exchange, bytes, (size_t)length),
                     MISHAP_HTTP_RUNNING);
    assert_int_equal(w->m.server.out.length, 0);
    assert_int_equal(mishap_runner_count(w->m.served.runner, true), 1);
}

static mishap_run *run_of(const waiting *w)
{
    return w->exchange.later->owner; /* it is the first member */
}

static void end_waiting(waiting *w)
{
    mishap_http_exchange_release(&w->m.server, &w->exchange);
    assert_int_equal(mishap_runner_count(w->m.served.runner, true), 0);
    mishap_buffer_release(&w->out);
    memory_server_close(&w->m);
}

/* What a runner brings back of a worker that was killed, or died, in place of what the handler
 * answers in this process. */
static struct {
    void (*done)(mishap_run *run, mishap *failure);
    mishap *failure;
    bool died;
} fate;

static void be_fate(mishap_run *run, mishap *failure)
{
    mishap_free(failure);
    run->died = fate.died;
    fate.done(run, fate.failure);
}

static void decide(mishap_run *run, mishap *failure, bool died)
{
    fate.done = run->done;
    fate.failure = failure;
    fate.died = died;
    run->done = be_fate;
}

static bool out_has(const waiting *w, const char *wanted)
{
    return memmem(w->out.data, w->out.length, wanted, strlen(wanted)) != NULL;
}

static void a_call_whose_worker_was_ended_is_answered_and_the_next_is_read(void **state)
{
    (void)state;
    for (int timeout = 0; timeout < 2; timeout++) {
        waiting w;
        mishap_http_metrics *metrics;
        mishap_buffer counts = { 0 };
        begin_waiting(&w, GET_SLOW "GET /sl");
        assert_null(mishap_http_metrics_make(w.m.routes, &metrics));
        w.m.server.metrics = metrics;
        decide(run_of(&w),
               timeout ? mishap_raise(TIMEOUT, "It took too long.")
                       : mishap_note(mishap_raise(INTERNAL_ERROR, "slow.get crashed."), "signal",
                                     "marker-private SIGSEGV"),
               true);
        mishap_runner_flush(w.m.served.runner);
        assert_true(out_has(&w, timeout ? "HTTP/1.1 504 " : "HTTP/1.1 500 "));
        assert_true(out_has(&w, timeout ? "\"timeout\"" : "\"internal_server_error\""));
        assert_false(out_has(&w, "marker-private"));
        mishap_http_metrics_put(&counts, metrics, w.m.routes);
        assert_non_null(memmem(counts.data, counts.length, "crashes_total 1\n", 16));
        assert_null(w.exchange.later);
        w.m.server.now_ns = 2000;
        assert_int_equal(mishap_http_exchange_feed(&w.m.server, &w.exchange, NULL, 0),
                         MISHAP_HTTP_IN_HEAD);
        assert_int_equal(w.exchange.began_ns, 2000); /* of the one behind it */
        w.m.server.metrics = NULL;
        mishap_http_metrics_free(metrics);
        mishap_buffer_release(&counts);
        end_waiting(&w);
    }
}

/* The call is the runner's from then on, and nobody runs it. */
static void a_peer_that_goes_takes_its_waiting_call_along(void **state)
{
    (void)state;
    size_t runs = memory_slow_runs;
    waiting w;
    mishap_use_allocator(&failing_allocator);
    fail_at = 0;
    begin_waiting(&w, GET_SLOW);
    assert_false(mishap_cancelled(run_of(&w)->call));
    mishap_http_exchange_release(&w.m.server, &w.exchange);
    assert_int_equal(mishap_runner_count(w.m.served.runner, true), 0);
    mishap_runner_flush(w.m.served.runner);
    assert_int_equal(memory_slow_runs, runs);
    assert_int_equal(w.out.length, 0);
    memory_server_close(&w.m);
    assert_int_equal(blocks, 0);
    mishap_use_allocator(NULL);
}

/* Those that wait get their answers all the same, and a place that is free is given again. */
static void a_call_too_many_is_refused_and_may_be_tried_again(void **state)
{
    (void)state;
    enum { MOST = MISHAP_CALLS_FOR_EACH_HANDLER };
    static mishap_http_exchange exchanges[MOST + 1];
    memory_server m;
    mishap_buffer out = { 0 };
    memory_server_open(&m);
    m.to = &out;
    for (size_t i = 0; i <= MOST; i++) {
        char bytes[] = GET_SLOW;
        mishap_http_exchange_init(&exchanges[i], &m.server, T("127.0.0.1"));
        mishap_http_state reached = mishap_http_exchange_feed(&m.server, &exchanges[i], bytes,
                                                              sizeof bytes - 1);
        assert_int_equal(reached, i < MOST ? MISHAP_HTTP_RUNNING : MISHAP_HTTP_IDLE);
    }
    mishap_buffer_put_char(&m.server.out, '\0');
    assert_memory_equal(m.server.out.data, "HTTP/1.1 503 ", 13);
    assert_non_null(strstr(m.server.out.data, "\r\nRetry-After: 1\r\n"));
    assert_non_null(strstr(m.server.out.data, "\"unavailable\""));
    assert_null(strstr(m.server.out.data, "Connection: close"));
    mishap_buffer_reset(&m.server.out);
    assert_int_equal(mishap_runner_count(m.served.runner, true), MOST);
    mishap_runner_flush(m.served.runner);
    mishap_buffer_put_char(&out, '\0');
    char *at = out.data;
    for (size_t i = 0; i < MOST; i++, at++)
        assert_non_null(at = strstr(at, "HTTP/1.1 200 "));
    char again[] = GET_SLOW;
    assert_int_equal(
        mishap_http_exchange_feed(&m.server, &exchanges[MOST], again, sizeof again - 1),
        MISHAP_HTTP_RUNNING);
    for (size_t i = 0; i <= MOST; i++)
        mishap_http_exchange_release(&m.server, &exchanges[i]);
    mishap_buffer_release(&out);
    memory_server_close(&m);
}

/* However long the request was on its way, and however long it has waited for a worker. */
static void the_time_of_a_handler_begins_with_its_call(void **state)
{
    (void)state;
    char bytes[] = GET_SLOW;
    memory_server m;
    mishap_http_exchange exchange;
    mishap_buffer out = { 0 };
    memory_server_open(&m);
    m.served.call_ms = 20000;
    m.to = &out;
    mishap_http_exchange_init(&exchange, &m.server, T("127.0.0.1"));
    m.server.now_ns -= INT64_C(30000000000);
    mishap_http_exchange_feed(&m.server, &exchange, bytes, sizeof bytes - 1);
    mishap_run *run = exchange.later->owner;
    assert_int_equal(run->call->limit_ms, 20000);
    run->since_ns -= INT64_C(30000000000);
    run->call->deadline_ns = 1; /* of no meaning before it begins */
    memory_slow_time_left = -2;
    mishap_runner_flush(m.served.runner);
    assert_in_range(memory_slow_time_left, 1, 20000);
    assert_non_null(memmem(out.data, out.length, "HTTP/1.1 200 ", 13));
    mishap_buffer_release(&out);
    mishap_http_exchange_release(&m.server, &exchange);
    memory_server_close(&m);
}

/* -- streams of handlers ----------------------------------------------------------------------- */

static void pieces_become_chunks(void **state)
{
    (void)state;
    memory_server m;
    mishap_http_state end;
    memory_server_open(&m);
    char *text = talk_in_pieces(&m, T("GET /pieces/1 HTTP/1.1\r\nHost: h\r\n\r\n"), NULL, 0, &end);
    const char *body = strstr(text, "\r\n\r\n");
    assert_memory_equal(text, "HTTP/1.1 200 OK\r\n", 17);
    assert_non_null(strstr(text, "\r\nContent-Type: text/plain; charset=utf-8\r\n"));
    assert_non_null(strstr(text, "\r\nTransfer-Encoding: chunked\r\n"));
    assert_non_null(strstr(text, "\r\nCache-Control: no-cache\r\n"));
    assert_non_null(strstr(text, "\r\nX-Accel-Buffering: no\r\n"));
    assert_string_equal(body, "\r\n\r\n4\r\none \r\nb\r\nand another\r\n0\r\n\r\n");
    assert_int_equal(end, MISHAP_HTTP_IDLE);
    free(text);
    memory_server_close(&m);
}

/* Its reader must not take it for the whole: there is no last chunk, and no second reply. */
static void a_stream_that_fails_is_cut(void **state)
{
    (void)state;
    memory_server m;
    mishap_http_state end;
    memory_server_open(&m);
    char *text = talk_in_pieces(&m, T("GET /pieces/broken HTTP/1.1\r\nHost: h\r\n\r\n" GET_SLOW),
                                NULL, 0, &end);
    assert_string_equal(strstr(text, "\r\n\r\n"), "\r\n\r\n4\r\none \r\nb\r\nand another\r\n");
    assert_int_equal(end, MISHAP_HTTP_ENDED);
    free(text);
    memory_server_close(&m);
}

/* What a worker says of a stream arrives while the loop's copy of the call has no answer yet. */
static void a_stream_from_a_worker_has_a_body(void **state)
{
    (void)state;
    waiting w;
    begin_waiting(&w, "GET /pieces/1 HTTP/1.1\r\nHost: h\r\n\r\n");
    mishap_run *run = run_of(&w);
    const mishap_watcher *watcher = run->call->watcher;
    assert_int_equal(run->call->answer_kind, MISHAP_ANSWER_NOTHING);
    assert_true(watcher->stream(watcher, T("image/png")));
    assert_true(watcher->piece(watcher, T("abc")));
    assert_true(out_has(&w, "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n"));
    assert_true(out_has(&w, "\r\n\r\n3\r\nabc\r\n"));
    w.m.deaf = true; /* the peer is gone: its handler is to know, and nothing more is sent */
    size_t before = w.out.length;
    assert_false(watcher->piece(watcher, T("def")));
    assert_false(watcher->piece(watcher, T("ghi")));
    assert_int_equal(w.out.length, before);
    end_waiting(&w);
}

static void a_media_type_cannot_become_a_field(void **state)
{
    (void)state;
    waiting w;
    begin_waiting(&w, "GET /pieces/1 HTTP/1.1\r\nHost: h\r\n\r\n");
    const mishap_watcher *watcher = run_of(&w)->call->watcher;
    assert_true(watcher->stream(watcher, T("text/html\r\nSet-Cookie: a=b")));
    assert_true(watcher->piece(watcher, T("<p>"))); /* the head leaves with the first piece */
    assert_true(out_has(&w, "\r\nContent-Type: application/octet-stream\r\n"));
    assert_false(out_has(&w, "Set-Cookie"));
    end_waiting(&w);
}

/* A worker that dies in the middle of a stream: the same as a handler that fails. */
static void a_stream_whose_worker_dies_is_cut(void **state)
{
    (void)state;
    waiting w;
    begin_waiting(&w, "GET /pieces/1 HTTP/1.1\r\nHost: h\r\n\r\n" GET_SLOW);
    mishap_run *run = run_of(&w);
    const mishap_watcher *watcher = run->call->watcher;
    assert_true(watcher->stream(watcher, T("text/plain")));
    assert_true(watcher->piece(watcher, T("abc")));
    run->call->watcher = NULL; /* the handler says nothing in this process */
    decide(run, mishap_raise(INTERNAL_ERROR, "pieces.get crashed."), true);
    mishap_runner_flush(w.m.served.runner);
    assert_true(w.out.length > 8 && memcmp(w.out.data + w.out.length - 8, "3\r\nabc\r\n", 8) == 0);
    assert_int_equal(mishap_http_exchange_feed(&w.m.server, &w.exchange, NULL, 0),
                     MISHAP_HTTP_ENDED);
    assert_ptr_equal(w.exchange.later->code, MISHAP_CODE_INTERNAL_ERROR); /* for the access log */
    assert_null(w.exchange.later->closed); /* nobody is left to be told */
    end_waiting(&w);
}

/* What is behind much that is to be written waits. */
static void answers_do_not_pile_up(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    static const char one[] = "GET /openapi.json HTTP/1.1\r\nHost: h\r\n\r\n";
    size_t length = sizeof one - 1, answers = 0, most = 0;
    char *bytes = malloc(COUNT * length);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(bytes + i * length, one, length);
    memory_server m;
    mishap_http_exchange exchange;
    memory_server_open(&m);
    mishap_http_exchange_init(&exchange, &m.server, T("127.0.0.1"));
    size_t turns = 0;
    mishap_http_exchange_feed(&m.server, &exchange, bytes, COUNT * length);
    for (;; turns++) {
        const char *at = m.server.out.data, *end = at + m.server.out.length;
        while ((at = memmem(at, (size_t)(end - at), "HTTP/1.1 200", 12)))
            answers++, at++;
        most = m.server.out.length > most ? m.server.out.length : most;
        mishap_buffer_reset(&m.server.out);
        if (!mishap_http_reader_has_more(&exchange.reader))
            break;
        mishap_http_exchange_feed(&m.server, &exchange, NULL, 0);
    }
    assert_int_equal(answers, COUNT);
    assert_true(most < 1024 * 1024);
    assert_true(turns > 10);
    mishap_http_exchange_release(&m.server, &exchange);
    memory_server_close(&m);
    free(bytes);
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
        TEST(a_call_whose_worker_was_ended_is_answered_and_the_next_is_read),
        TEST(a_peer_that_goes_takes_its_waiting_call_along),
        TEST(a_call_too_many_is_refused_and_may_be_tried_again),
        TEST(the_time_of_a_handler_begins_with_its_call),
        TEST(pieces_become_chunks),
        TEST(a_stream_that_fails_is_cut),
        TEST(a_stream_from_a_worker_has_a_body),
        TEST(a_media_type_cannot_become_a_field),
        TEST(a_stream_whose_worker_dies_is_cut),
        TEST(answers_do_not_pile_up),
        TEST(a_body_is_waited_for_with_100_continue),
        TEST(chunk_extensions_and_trailers_are_limited),
        TEST(a_warning_cannot_become_a_field),
        TEST(a_location_cannot_become_a_field),
        TEST(every_allocation_may_fail),
        TEST(a_document_comes_whole_or_not_at_all),
    };
    return RUN(tests);
}
