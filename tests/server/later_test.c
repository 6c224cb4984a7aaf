/*
 * Answers that come later: what they look like, without sockets; and then, with a real server, that
 * they reach their connection at any time, in order, and that whoever has one hears of its end.
 */
#include "testing.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory_server.h"

/* -- without sockets --------------------------------------------------------------------------- */

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
    mishap_http_later_revoke(m->later);
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

/* -- what all processes see -------------------------------------------------------------------- */

/* Made by the test, so that it is there in its supervisor, in loops, and in workers. */
static struct seen {
    atomic_int hanging, cancelled; /* handlers that hang, and that were told that nobody waits */
    atomic_int held, let_go;       /* how often a loop was held up, and may go on */
    atomic_int child;              /* a child process of the extension */
    atomic_int child_status;       /* … how it ended, as its supervisor was told; -1: it lives */
    atomic_int strangers;          /* children that were not the extension's */
    atomic_int before, forked;     /* loops that were to be forked, and were */
    atomic_int ended;              /* … and have ended */
    atomic_int last_number;        /* that one of them was known by */
    atomic_int dismissed;
} * seen;

/* -- operations -------------------------------------------------------------------------------- */

static mishap *do_process(mishap_call *call)
{
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

static mishap *do_hang(mishap_call *call)
{
    atomic_fetch_add(&seen->hanging, 1);
    while (!mishap_cancelled(call))
        poll(NULL, 0, 5);
    atomic_fetch_add(&seen->cancelled, 1);
    return NULL;
}

static mishap *do_freeze(mishap_call *call)
{
    for (;; poll(NULL, 0, 1000))
        if (!call)
            return NULL;
}

/* The connection to the loop closes, whatever a sanitizer thinks of signals. */
static mishap *do_vanish(mishap_call *call)
{
    if (mishap_stream(call, "text/plain"))
        mishap_stream_write(call, T("half"));
    kill(getpid(), SIGKILL);
    return NULL;
}

static const mishap_operation more[] = {
    { "process.get", "Which process runs it", .run = do_process, .route = "GET /process" },
    { "hang.get", "Wait until nobody waits", .run = do_hang, .route = "GET /hang",
      .stateless = true, .timeout_ms = 60000 },
    { "freeze.get", "Wait forever", .run = do_freeze, .route = "GET /freeze", .stateless = true,
      .timeout_ms = 300 },
    { "vanish.get", "Die in the middle of an answer", .run = do_vanish, .route = "GET /vanish",
      .stateless = true },
};

static mishap_operation operations[16]; /* those of the memory server, and these */
static const mishap_app app = { .name = "memory", .version = "1", .operations = operations };

static void list_operations(void)
{
    size_t count = 0;
    for (; memory_app.operations[count].name; count++)
        memcpy(&operations[count], &memory_app.operations[count], sizeof *operations);
    if (count + sizeof more / sizeof *more >= sizeof operations / sizeof *operations)
        abort();
    memcpy(&operations[count], more, sizeof more);
}

/* -- something that is served beside ----------------------------------------------------------- */

enum { MOST = 16 };

/* Of one loop. */
static struct {
    mishap_http_server *server;
    mishap_http_later *waiting[MOST], *streams[MOST];
    size_t closed, ticks;
} beside;

static void forget(mishap_http_later *later)
{
    beside.closed++;
    *(mishap_http_later **)later->owner = NULL;
}

static mishap_http_later *keep(mishap_http_later **all, mishap_http_server *server,
                               const mishap_http_request *request)
{
    size_t i = 0;
    while (i < MOST - 1 && all[i])
        i++;
    all[i] = mishap_http_defer(server, request);
    if (!all[i])
        abort();
    all[i]->owner = &all[i];
    all[i]->closed = forget;
    return all[i];
}

static void say(mishap_http_reply *reply, const char *what, size_t number)
{
    mishap_buffer_put_text(&reply->body, mishap_text_of(what));
    mishap_buffer_put_uint(&reply->body, number);
    reply->status = 200;
    reply->media_type = "text/plain";
    reply->content = mishap_buffer_text(&reply->body);
}

#define ANSWER(name)                                                                               \
    static void name(mishap_http_server *server, const mishap_http_request *request,               \
                     const mishap_http_match *match, mishap_http_reply *reply)

ANSWER(answer_wait)
{
    (void)match, (void)reply;
    keep(beside.waiting, server, request);
}

static size_t release_all(void)
{
    size_t count = 0;
    for (size_t i = 0; i < MOST; i++) {
        mishap_http_reply reply = { 0 };
        if (!beside.waiting[i])
            continue;
        say(&reply, "released ", ++count);
        mishap_http_later_answer(beside.waiting[i], &reply);
        mishap_http_reply_release(&reply);
        beside.waiting[i] = NULL;
    }
    return count;
}

ANSWER(answer_release)
{
    (void)server, (void)request, (void)match;
    say(reply, "all ", release_all());
}

ANSWER(answer_open)
{
    (void)match, (void)reply;
    mishap_http_reply head = { .status = 200, .media_type = "text/event-stream" };
    mishap_http_later_begin(keep(beside.streams, server, request), &head);
}

/* Pieces for all who listen, until none of them takes any more. */
ANSWER(answer_flood)
{
    static char piece[65536];
    size_t sent = 0;
    (void)server, (void)request, (void)match;
    memset(piece, 'a', sizeof piece);
    for (size_t i = 0; i < MOST; i++)
        for (size_t n = 0; beside.streams[i] && n < 1024; n++) {
            if (!mishap_http_later_send(beside.streams[i], (mishap_text){ piece, sizeof piece }))
                break;
            sent++;
        }
    say(reply, sent == 1024 ? "without end " : "sent ", sent);
}

ANSWER(answer_note)
{
    (void)server, (void)request, (void)match;
    for (size_t i = 0; i < MOST; i++)
        if (beside.streams[i])
            mishap_http_later_send(beside.streams[i], T("note\n"));
    say(reply, "noted ", 1);
}

ANSWER(answer_state)
{
    (void)server, (void)request, (void)match;
    say(reply, "closed ", beside.closed);
    say(reply, " ticking ", beside.ticks > 0);
}

ANSWER(answer_pid)
{
    (void)server, (void)request, (void)match;
    say(reply, "", (size_t)getpid());
}

/* Nothing is read or answered until somebody says so. */
ANSWER(answer_hold)
{
    int number = atomic_fetch_add(&seen->held, 1) + 1;
    (void)server, (void)request, (void)match;
    while (atomic_load(&seen->let_go) < number)
        poll(NULL, 0, 1);
    say(reply, "held ", 1);
}

/* For longer than the five seconds that idle connections have in a loop that leaves. */
ANSWER(answer_stall)
{
    (void)server, (void)request, (void)match;
    poll(NULL, 0, 6000);
    say(reply, "stalled ", 1);
}

/* -- memory and its lack ----------------------------------------------------------------------- */

static atomic_int starving; /* how many of the next allocations fail */

static void *allocate_if_any(size_t size)
{
    int left = atomic_load(&starving);
    while (left > 0 && !atomic_compare_exchange_weak(&starving, &left, left - 1))
        ;
    return left > 0 ? NULL : malloc(size);
}

static const mishap_allocator meagre = { allocate_if_any, realloc, free };

ANSWER(answer_starve)
{
    (void)server, (void)request, (void)match;
    say(reply, "starving ", 3);
    atomic_store(&starving, 3);
}

/* More than the buffers of a socket take. */
enum { BIG = 24 * 1024 * 1024 };

ANSWER(answer_big)
{
    static char text[BIG];
    (void)server, (void)request, (void)match;
    reply->status = 200;
    reply->media_type = "text/plain";
    reply->content = (mishap_text){ memset(text, 'a', sizeof text), sizeof text };
}

/* A call of the extension's own. */
struct errand {
    mishap_run run; /* the first */
    mishap_http_later *later;
};

static mishap_runner *runner_of(const mishap_http_later *later)
{
    return later->server->settings->served->runner;
}

static void end_errand(mishap_run *run, mishap *failure)
{
    struct errand *errand = (struct errand *)(void *)run;
    mishap_http_reply reply = { .status = failure ? 500 : 200, .media_type = "application/json" };
    mishap_answer_kind kind;
    reply.content = mishap_call_answer(run->call, &kind);
    mishap_http_later_answer(errand->later, &reply);
    mishap_call_end(run->call);
    mishap_free(failure);
    free(errand);
}

static void leave_errand(mishap_http_later *later)
{
    struct errand *errand = later->owner;
    mishap_runner_forget(runner_of(later), &errand->run);
    free(errand);
}

static void begin_errand(mishap_http_server *server, const mishap_http_request *request,
                         const char *name)
{
    struct errand *errand = calloc(1, sizeof *errand);
    const mishap_operation *operation = operations;
    while (strcmp(operation->name, name) != 0)
        operation++;
    errand->run.done = end_errand;
    if (mishap_call_begin(&app, operation, T("{}"), &errand->run.call))
        abort();
    errand->later = mishap_http_defer(server, request);
    errand->later->owner = errand;
    errand->later->closed = leave_errand;
    if (!mishap_runner_add(runner_of(errand->later), &errand->run))
        abort();
}

ANSWER(answer_errand)
{
    (void)match, (void)reply;
    begin_errand(server, request, "process.get");
}

ANSWER(answer_long_errand)
{
    (void)match, (void)reply;
    begin_errand(server, request, "hang.get");
}

/* -- in the supervisor ------------------------------------------------------------------------- */

static mishap *prepare(const mishap_http_settings *settings, void **shared)
{
    (void)settings;
    *shared = &beside;
    pid_t child = fork();
    if (child == 0) {
        for (pid_t parent = getppid(); getppid() == parent;)
            poll(NULL, 0, 100);
        _exit(0);
    }
    atomic_store(&seen->child_status, -1);
    atomic_store(&seen->child, child);
    return child < 0 ? mishap_raise(UNAVAILABLE, "There is no child.") : NULL;
}

static void dismiss(void *shared)
{
    atomic_fetch_add(&seen->dismissed, shared == &beside ? 1 : 100);
}

/* Loops are numbered from 100 on. */
static int before_loop(void *shared)
{
    return shared == &beside ? 100 + atomic_fetch_add(&seen->before, 1) : -1;
}

static void loop_forked(void *shared)
{
    (void)shared;
    atomic_fetch_add(&seen->forked, 1);
}

static void loop_ended(void *shared, int number)
{
    (void)shared;
    atomic_store(&seen->last_number, number);
    atomic_fetch_add(&seen->ended, 1);
}

static bool child_ended(void *shared, int pid, int status)
{
    bool own = shared == &beside && pid == atomic_load(&seen->child);
    if (own)
        atomic_store(&seen->child_status, status);
    else
        atomic_fetch_add(&seen->strangers, 1);
    return own;
}

/* -- in a loop --------------------------------------------------------------------------------- */

static mishap *open_beside(mishap_http_server *server, void *shared, void **state)
{
    if (shared != &beside || !server->settings->served->runner || !server->loop)
        abort();
    beside.server = server;
    *state = &beside;
    return NULL;
}

static const mishap_http_extension extension;

static void tick(void *state)
{
    if (state != &beside || mishap_http_state_of(beside.server, &extension) != state)
        abort();
    beside.ticks++;
}

static void drain(void *state)
{
    (void)state;
    release_all();
    for (size_t i = 0; i < MOST; i++)
        if (beside.streams[i])
            mishap_http_later_end(beside.streams[i]);
    memset(beside.streams, 0, sizeof beside.streams);
}

static const mishap_http_extension extension = {
    .endpoints =
        (const mishap_http_endpoint[]){
            { .route = "GET /wait", .name = "wait", .answer = answer_wait },
            { .route = "GET /release", .name = "release", .answer = answer_release },
            { .route = "GET /open", .name = "open", .answer = answer_open },
            { .route = "GET /flood", .name = "flood", .answer = answer_flood },
            { .route = "GET /note", .name = "note", .answer = answer_note },
            { .route = "GET /state", .name = "state", .answer = answer_state },
            { .route = "GET /pid", .name = "pid", .answer = answer_pid },
            { .route = "GET /hold", .name = "hold", .answer = answer_hold },
            { .route = "GET /stall", .name = "stall", .answer = answer_stall },
            { .route = "GET /starve", .name = "starve", .answer = answer_starve },
            { .route = "GET /big", .name = "big", .answer = answer_big },
            { .route = "GET /errand", .name = "errand", .answer = answer_errand },
            { .route = "GET /long", .name = "long", .answer = answer_long_errand },
            { 0 } },
    .prepare = prepare,
    .dismiss = dismiss,
    .before_loop = before_loop,
    .loop_forked = loop_forked,
    .loop_ended = loop_ended,
    .child_ended = child_ended,
    .open = open_beside,
    .tick = tick,
    .drain = drain,
};

static const mishap_http_extension *const extensions[] = { &mishap_api_over_http, &extension,
                                                           NULL };

/* -- a real server ----------------------------------------------------------------------------- */

static pid_t supervisor;
static int port, complaints; /* its stderr */
static char log_file[] = "/tmp/mishap-later-XXXXXX";
static char incidents[] = "/tmp/mishap-incidents-XXXXXX";

static int start_server(void **state)
{
    int ends[2];
    char line[256] = "";
    (void)state;
    close(mkstemp(log_file));
    close(mkstemp(incidents));
    setenv("MEMORY_LOG", incidents, 1);
    list_operations();
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED || pipe(ends) != 0)
        return -1;
    supervisor = fork();
    if (supervisor == 0) {
        mishap_use_allocator(&meagre);
        mishap_served served = { .app = &app, .setup = { .data = "/nonexistent" }, .handlers = 2 };
        mishap_http_settings settings = { .extensions = extensions,
                                          .program = "memory",
                                          .served = &served,
                                          .admit = mishap_api_admit,
                                          .refuse = mishap_api_refuse,
                                          .host = "127.0.0.1",
                                          .loops = 1,
                                          .max_connections = 100,
                                          .access_log = log_file,
                                          .head_limit = 16384,
                                          .target_limit = 8192,
                                          .body_limit = 65536,
                                          .head_ms = 4000,
                                          .body_ms = 10000,
                                          .write_ms = 1200,
                                          .idle_ms = 10000,
                                          .stop_ms = 20000 };
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        _exit(mishap_http_supervise(&settings) ? 1 : 0);
    }
    close(ends[1]);
    for (size_t n = 0; n < sizeof line - 1 && !strchr(line, '\n'); n++)
        if (read(ends[0], line + n, 1) != 1)
            return -1;
    const char *found = strstr(line, "127.0.0.1:");
    port = found ? (int)strtol(found + 10, NULL, 10) : 0;
    complaints = ends[0];
    return port ? 0 : -1;
}

static int stop_server(void **state)
{
    int status = -1;
    char text[65536];
    size_t length = 0;
    (void)state;
    kill(supervisor, SIGTERM);
    for (ssize_t count = 1; count > 0 && length < sizeof text; length += (size_t)count)
        if ((count = read(complaints, text + length, sizeof text - length)) < 0)
            count = 0;
    close(complaints);
    waitpid(supervisor, &status, 0);
    unlink(log_file);
    unlink(incidents);
    if (atomic_load(&seen->dismissed) != 1 ||
        atomic_load(&seen->ended) != atomic_load(&seen->before))
        return -1;
    if (length)
        fprintf(stderr, "%.*s\n", (int)length, text); /* of a crash, or of a sanitizer */
    return length ? -1 : status;
}

static int say_to(int file, const char *bytes)
{
    assert_int_equal(send(file, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
    return file;
}

static int call_up(const char *bytes)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int file = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(file, (struct sockaddr *)&address, sizeof address), 0);
    return say_to(file, bytes);
}

/* What comes until the text has this in it; NULL: until the peer closes. */
static const char *hear(int file, const char *until)
{
    static char text[65536];
    size_t length = 0;
    text[0] = '\0';
    while (!until || !strstr(text, until)) {
        struct pollfd wait = { .fd = file, .events = POLLIN };
        if (poll(&wait, 1, 60000) <= 0)
            fail_msg("nothing more after: %s", text);
        ssize_t count = recv(file, text + length, sizeof text - 1 - length, 0);
        if (count <= 0 && !until)
            break;
        if (count <= 0)
            fail_msg("closed after: %s", text);
        length += (size_t)count;
        text[length] = '\0';
    }
    return text;
}

#define GET(path)  "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"
#define LAST(path) "GET " path " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

/* One request on a connection of its own; its body. */
static const char *ask(const char *bytes)
{
    int file = call_up(bytes);
    const char *text = hear(file, NULL), *body = strstr(text, "\r\n\r\n");
    close(file);
    return body ? body + 4 : text;
}

static pid_t loop_pid(void)
{
    return (pid_t)strtol(ask(LAST("/pid")), NULL, 10);
}

enum { PATIENCE = 1600 }; /* looks, 25 ms one after the other, for something that must come */

static void wait_for_state(const char *wanted)
{
    for (size_t i = 0; i < PATIENCE; i++) {
        if (strstr(ask(LAST("/state")), wanted))
            return;
        poll(NULL, 0, 25);
    }
    fail_msg("%s, not %s", ask(LAST("/state")), wanted);
}

/* Until a number is at least so large. */
static void wait_for(const char *what, atomic_int *number, int wanted)
{
    for (size_t i = 0; i < PATIENCE && atomic_load(number) < wanted; i++)
        poll(NULL, 0, 25);
    if (atomic_load(number) < wanted)
        fail_msg("%s: %d, not %d", what, atomic_load(number), wanted);
}

/* The loop does nothing until it is let go. */
static int hold_loop(void)
{
    int held = atomic_load(&seen->held);
    int file = call_up(LAST("/hold"));
    wait_for("held", &seen->held, held + 1);
    return file;
}

static void let_loop_go(int file)
{
    atomic_fetch_add(&seen->let_go, 1);
    assert_non_null(strstr(hear(file, NULL), "held 1"));
    close(file);
}

static void assert_in_order(const char *text, const char *const *parts)
{
    const char *at = text;
    for (; *parts; parts++) {
        const char *found = strstr(at, *parts);
        if (!found)
            fail_msg("no %s in: %s", *parts, text);
        at = found + strlen(*parts);
    }
}

static void requests_behind_a_deferred_one_are_answered_after_it(void **state)
{
    (void)state;
    int file = call_up(GET("/list") GET("/wait") GET("/slow/1") LAST("/health"));
    hear(file, "{\"tags\":null}");
    assert_string_equal(ask(LAST("/release")), "all 1");
    assert_in_order(hear(file, NULL),
                    (const char *[]){ "released 1", "{\"id\":\"1\"}", "\"status\":\"ok\"", NULL });
    close(file);
}

/* Both have sent before the loop looks, so both are answered in one turn of its loop. */
static void an_answer_in_the_turn_of_its_request_comes_behind_those_before(void **state)
{
    (void)state;
    int a = call_up(GET("/list")), b = call_up(GET("/list"));
    hear(a, "}");
    hear(b, "}");
    int hold = hold_loop();
    say_to(a, GET("/nothing") GET("/wait") GET("/list") LAST("/health"));
    say_to(b, LAST("/release"));
    let_loop_go(hold);
    hear(b, NULL);
    ask(LAST("/release")); /* if it was not in one turn after all */
    assert_in_order(hear(a, NULL),
                    (const char *[]){ "404 Not Found", "released 1", "{\"tags\":null}",
                                      "\"status\":\"ok\"", NULL });
    close(a);
    close(b);
}

/* Of an answer that comes from elsewhere nobody knows whether it is waited for. */
static void who_closes_its_sending_side_waits_for_a_handler_and_for_nothing_else(void **state)
{
    (void)state;
    int a = call_up(GET("/list")), b = call_up(GET("/list"));
    hear(a, "}");
    hear(b, "}");
    int hold = hold_loop();
    say_to(a, GET("/slow/1"));
    say_to(b, GET("/wait"));
    shutdown(a, SHUT_WR);
    shutdown(b, SHUT_WR);
    let_loop_go(hold);
    assert_non_null(strstr(hear(a, NULL), "{\"id\":\"1\"}"));
    assert_string_equal(hear(b, NULL), "");
    close(a);
    close(b);
}

static void an_answer_comes_before_those_to_what_was_sent_meanwhile(void **state)
{
    (void)state;
    int a = call_up(GET("/wait")), b = call_up(GET("/list"));
    hear(b, "}");
    int hold = hold_loop();
    say_to(b, LAST("/release"));
    say_to(a, GET("/list") LAST("/health"));
    let_loop_go(hold);
    assert_in_order(hear(a, NULL),
                    (const char *[]){ "released 1", "{\"tags\":null}", "\"status\":\"ok\"", NULL });
    hear(b, NULL);
    close(a);
    close(b);
}

static void a_call_of_an_extension_runs_in_a_worker(void **state)
{
    (void)state;
    char answer[64];
    pid_t loop = loop_pid();
    snprintf(answer, sizeof answer, "%s", ask(LAST("/errand")));
    assert_memory_equal(answer, "{\"pid\":", 7);
    assert_int_not_equal(strtol(answer + 7, NULL, 10), loop);
    assert_int_not_equal(strtol(answer + 7, NULL, 10), supervisor);
    assert_string_equal(ask(LAST("/process")), answer); /* there is one, and it is kept */
    int file = call_up(GET("/errand"));
    close(file); /* it goes on for nobody */
    assert_string_equal(ask(LAST("/errand")), answer);
}

/* Of an operation and of an extension's own call: what has begun is told, and comes to its end. */
static void a_handler_is_told_that_nobody_waits(void **state)
{
    (void)state;
    static const char *const requests[] = { GET("/hang"), GET("/long") };
    for (size_t i = 0; i < 2; i++) {
        int hanging = atomic_load(&seen->hanging), cancelled = atomic_load(&seen->cancelled);
        int file = call_up(requests[i]);
        wait_for("hanging", &seen->hanging, hanging + 1);
        poll(NULL, 0, 50);
        assert_int_equal(atomic_load(&seen->cancelled), cancelled);
        if (i == 0) /* one who only stops to send would still wait for the answer */
            setsockopt(file, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
                       sizeof(struct linger));
        close(file);
        wait_for("cancelled", &seen->cancelled, cancelled + 1);
        assert_non_null(strstr(ask(LAST("/process")), "pid"));
    }
}

/* The log is written by a process of its own, within moments. */
static bool in_incidents(const char *wanted)
{
    bool found = false;
    for (int i = 0; i < 2000 && !found; i++) {
        size_t length;
        char *log = read_file(incidents, &length);
        found = strstr(log, wanted) != NULL;
        free(log);
        if (!found)
            usleep(10000);
    }
    return found;
}

/* The connection goes on, and so does everybody else. */
static void a_handler_that_takes_too_long_is_ended_and_its_connection_goes_on(void **state)
{
    (void)state;
    pid_t loop = loop_pid();
    int file = call_up(GET("/freeze") LAST("/slow/1"));
    assert_non_null(strstr(ask(LAST("/process")), "pid"));
    const char *text = hear(file, NULL);
    assert_memory_equal(text, "HTTP/1.1 504 ", 13);
    assert_in_order(text,
                    (const char *[]){ "\"timeout\"", "HTTP/1.1 200 ", "{\"id\":\"1\"}", NULL });
    close(file);
    assert_true(in_incidents("freeze.get"));
    assert_int_equal(loop_pid(), loop);
}

/* Chunks, as its handler writes them; the status is that of an answer, not of nothing. */
static void a_stream_of_a_worker_comes_in_chunks(void **state)
{
    (void)state;
    int file = call_up(GET("/pieces/1") LAST("/slow/1"));
    assert_in_order(hear(file, NULL),
                    (const char *[]){ "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n",
                                      "\r\n\r\n4\r\none \r\nb\r\nand another\r\n0\r\n\r\n",
                                      "HTTP/1.1 200 OK\r\n", "{\"id\":\"1\"}", NULL });
    close(file);
}

/* Whether its handler fails or its worker dies: no last chunk, and the connection ends. */
static void a_stream_that_breaks_off_has_no_end(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *rest;
    } rows[] = { { GET("/pieces/broken") GET("/slow/1"), "4\r\none \r\nb\r\nand another\r\n" },
                 { GET("/vanish") GET("/slow/1"), "4\r\nhalf\r\n" } };
    for (size_t i = 0; i < 2; i++) {
        int file = call_up(rows[i].bytes);
        const char *text = hear(file, NULL), *body = strstr(text, "\r\n\r\n");
        assert_memory_equal(text, "HTTP/1.1 200 OK\r\n", 17);
        assert_non_null(body);
        assert_string_equal(body + 4, rows[i].rest);
        close(file);
    }
    assert_true(in_incidents("vanish.get"));
}

static void a_stream_reaches_who_reads_and_not_who_does_not(void **state)
{
    (void)state;
    int idle = call_up(GET("/open"));
    hear(idle, "\r\n\r\n");
    assert_memory_equal(ask(LAST("/flood")), "sent ", 5);
    wait_for_state("closed 1 ");
    close(idle);
    int reader = call_up(GET("/open") LAST("/list"));
    hear(reader, "\r\n\r\n");
    assert_string_equal(ask(LAST("/note")), "noted 1");
    assert_string_equal(hear(reader, "note\n\r\n"), "5\r\nnote\n\r\n");
    close(reader); /* and that is noticed, too */
    wait_for_state("closed 2 ticking 1");
}

/* Another loop is there already when this one is told to come to an end. */
static void a_loop_that_is_replaced_ends_streams_and_answers(void **state)
{
    (void)state;
    int stream = call_up(GET("/open")), wait = call_up(GET("/wait"));
    hear(stream, "\r\n\r\n");
    pid_t before = loop_pid(); /* which has read by now what was sent before */
    kill(supervisor, SIGUSR1);
    assert_string_equal(hear(stream, NULL), "0\r\n\r\n");
    assert_in_order(hear(wait, NULL), (const char *[]){ "Connection: close", "released 1", NULL });
    close(stream);
    close(wait);
    assert_int_not_equal(loop_pid(), before);
    assert_non_null(strstr(ask(LAST("/process")), "pid")); /* it has workers as well */
}

/* … and its extensions hear of each, in the process that forks them. */
static void the_supervisor_tells_extensions_of_loops(void **state)
{
    (void)state;
    wait_for("ended", &seen->ended, 1); /* the one above */
    int before = atomic_load(&seen->before);
    assert_int_equal(before, 2);
    assert_int_equal(atomic_load(&seen->forked), before);
    assert_int_equal(atomic_load(&seen->ended), before - 1);
    assert_int_equal(atomic_load(&seen->last_number), 100 + before - 2);
}

static void the_supervisor_tells_extensions_of_their_children(void **state)
{
    (void)state;
    int strangers = atomic_load(&seen->strangers), ended = atomic_load(&seen->ended);
    pid_t loop = loop_pid();
    assert_int_equal(atomic_load(&seen->child_status), -1);
    kill(atomic_load(&seen->child), SIGKILL);
    wait_for("child_status", &seen->child_status, 0);
    assert_int_equal(atomic_load(&seen->child_status), SIGKILL);
    assert_int_equal(atomic_load(&seen->strangers), strangers);
    assert_int_equal(atomic_load(&seen->ended), ended); /* it is no loop */
    assert_int_equal(loop_pid(), loop);
}

/* libuv hands out no further connection before that one is accepted. */
static void a_connection_waits_until_there_is_memory(void **state)
{
    (void)state;
    int file = call_up(GET("/list"));
    hear(file, "}");
    say_to(file, GET("/starve"));
    hear(file, "starving 3");
    assert_non_null(strstr(ask(LAST("/list")), "tags"));
    assert_non_null(strstr(ask(LAST("/list")), "tags"));
    close(file);
}

/* What comes of a large answer that is read in pieces with pauses between. */
static size_t read_slowly(int file, size_t piece, int pause_ms)
{
    char *room = malloc(piece);
    size_t total = 0;
    for (ssize_t count = 1; count > 0; total += (size_t)count) {
        poll(NULL, 0, pause_ms);
        if ((count = recv(file, room, piece, MSG_WAITALL)) < 0)
            count = 0;
    }
    free(room);
    return total;
}

static void who_reads_slowly_gets_all_of_it_and_who_does_not_is_let_go(void **state)
{
    (void)state;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    int slow = call_up(LAST("/big")), idle = call_up(LAST("/big"));
    assert_true(read_slowly(slow, 512 * 1024, 50) > BIG);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(after.tv_sec - before.tv_sec >
                1); /* more than the patience, which was for each piece */
    for (size_t i = 0;
         i < PATIENCE && !strstr(ask(LAST("/metrics")), "\nmishap_http_connections 1\n"); i++)
        poll(NULL, 0, 25);
    assert_true(read_slowly(idle, 512 * 1024, 0) < BIG);
    close(slow);
    close(idle);
}

/* It wakes up with its time over and nothing to read, as on a machine that slept. */
static void time_in_which_a_loop_was_held_up_itself_counts_for_nobody(void **state)
{
    (void)state;
    int late = call_up("GET /list HTTP/1.1\r\nHost: h\r\n"), silent = call_up("GET /li");
    int hold = hold_loop();
    poll(NULL, 0, 5000);
    let_loop_go(hold);
    poll(NULL, 0, 100);
    say_to(late, "\r\n");
    assert_memory_equal(hear(late, "}"), "HTTP/1.1 200 ", 13);
    assert_memory_equal(hear(silent, NULL), "HTTP/1.1 408 ", 13);
    close(late);
    close(silent);
}

/* Their time ends while it does something else, and they have sent just before. */
static void a_request_that_a_leaving_loop_has_not_read_yet_is_answered(void **state)
{
    (void)state;
    int stall = call_up(GET("/list")), kept = call_up(GET("/list")), stream = call_up(GET("/open"));
    hear(stall, "}");
    hear(kept, "}");
    hear(stream, "\r\n\r\n");
    kill(supervisor, SIGUSR1);
    assert_string_equal(hear(stream, NULL), "0\r\n\r\n"); /* it leaves */
    close(stream);
    say_to(stall, GET("/stall"));
    poll(NULL, 0, 200);
    say_to(kept, GET("/list"));
    hear(stall, NULL);
    assert_memory_equal(hear(kept, NULL), "HTTP/1.1 200 ", 13);
    close(stall);
    close(kept);
}

/* How often a path is in the access log. */
static size_t logged(const char *path)
{
    size_t length, count = 0;
    char *log = read_file(log_file, &length);
    for (const char *at = log; (at = strstr(at, path)); at++)
        count++;
    free(log);
    return count;
}

static void a_stream_is_counted_and_logged_when_it_ends(void **state)
{
    (void)state;
    int file = call_up(GET("/open"));
    hear(file, "\r\n\r\n");
    ask(LAST("/note"));
    hear(file, "note\n\r\n");
    for (size_t i = 0; i < PATIENCE && logged("\"/note\"") < 2; i++)
        poll(NULL, 0, 25);
    size_t before = logged("\"/open\"");
    close(file);
    for (size_t i = 0; i < PATIENCE && logged("\"/open\"") == before; i++)
        poll(NULL, 0, 25);
    assert_int_equal(logged("\"/open\""), before + 1);
    char *metrics = strdup(ask(LAST("/metrics")));
    assert_non_null(strstr(metrics, "route=\"open\""));
    assert_non_null(strstr(metrics, "route=\"wait\""));
    free(metrics);
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
        TEST(requests_behind_a_deferred_one_are_answered_after_it),
        TEST(an_answer_in_the_turn_of_its_request_comes_behind_those_before),
        TEST(an_answer_comes_before_those_to_what_was_sent_meanwhile),
        TEST(a_call_of_an_extension_runs_in_a_worker),
        TEST(a_handler_is_told_that_nobody_waits),
        TEST(a_handler_that_takes_too_long_is_ended_and_its_connection_goes_on),
        TEST(a_stream_of_a_worker_comes_in_chunks),
        TEST(a_stream_that_breaks_off_has_no_end),
        TEST(a_stream_reaches_who_reads_and_not_who_does_not),
        TEST(who_closes_its_sending_side_waits_for_a_handler_and_for_nothing_else),
        TEST(a_loop_that_is_replaced_ends_streams_and_answers),
        TEST(the_supervisor_tells_extensions_of_loops),
        TEST(the_supervisor_tells_extensions_of_their_children),
        TEST(a_connection_waits_until_there_is_memory),
        TEST(who_reads_slowly_gets_all_of_it_and_who_does_not_is_let_go),
        TEST(time_in_which_a_loop_was_held_up_itself_counts_for_nobody),
        TEST(a_request_that_a_leaving_loop_has_not_read_yet_is_answered),
        TEST(a_stream_is_counted_and_logged_when_it_ends),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
