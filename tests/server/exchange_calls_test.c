/* One connection without its socket: calls that wait, and streams of handlers. */
#include "testing.h"

#include "requests.h"

/* -- time, and calls that wait ----------------------------------------------------------------- */

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
        assert_null(mishap_http_metrics_make(w.m.routes, NULL, &metrics));
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
        mishap_http_metrics_put(&counts, metrics, w.m.routes, NULL);
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

/* The runner owns the call from then on, and no worker runs it. */
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
    assert_null(w.exchange.later->closed); /* no endpoint is left to be told */
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

int main(void)
{
    setenv("MEMORY_LOG", "", 1); /* failures on purpose are no news */
    const struct CMUnitTest tests[] = {
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
    };
    return RUN(tests);
}
