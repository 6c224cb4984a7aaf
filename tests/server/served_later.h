/*
 * A program whose operations end in every way, and an extension of its server that answers later.
 * Tests and the processes of the server share what is seen of it.
 */
#ifndef MISHAP_SERVED_LATER_H
#define MISHAP_SERVED_LATER_H

#include "testing.h"

#include <poll.h>

#include "memory_server.h"

/* Made by the test, so that it is there in its supervisor, in loops, and in workers. */
static struct seen {
    /* Handlers that hang, and that were told that their callers have left. */
    atomic_int hanging, cancelled;
    atomic_int held, let_go;   /* how often a loop was held up, and may go on */
    atomic_int child;          /* a child process of the extension */
    atomic_int child_status;   /* … how it ended, as its supervisor was told; -1: it lives */
    atomic_int strangers;      /* children that were not the extension's */
    atomic_int before, forked; /* loops that were to be forked, and were */
    atomic_int ended;          /* … and have ended */
    atomic_int last_number;    /* that one of them was known by */
    atomic_int dismissed;
} * seen;

static inline mishap *do_process(mishap_call *call)
{
    return mishap_answer_member(call, "pid", (int64_t)getpid());
}

static inline mishap *do_hang(mishap_call *call)
{
    atomic_fetch_add(&seen->hanging, 1);
    while (!mishap_cancelled(call))
        poll(NULL, 0, 5);
    atomic_fetch_add(&seen->cancelled, 1);
    return NULL;
}

static inline mishap *do_freeze(mishap_call *call)
{
    for (;; poll(NULL, 0, 1000))
        if (!call)
            return NULL;
}

/* The connection to the loop closes, even if a sanitizer handles the signals. */
static inline mishap *do_vanish(mishap_call *call)
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

static inline void list_operations(void)
{
    size_t count = 0;
    for (; memory_app.operations[count].name; count++)
        memcpy(&operations[count], &memory_app.operations[count], sizeof *operations);
    if (count + sizeof more / sizeof *more >= sizeof operations / sizeof *operations)
        abort();
    memcpy(&operations[count], more, sizeof more);
}

enum { MOST = 16 };

/* Of one loop. */
static struct {
    mishap_http_server *server;
    mishap_http_later *waiting[MOST], *streams[MOST];
    size_t closed, ticks;
} beside;

static inline void forget(mishap_http_later *later)
{
    beside.closed++;
    *(mishap_http_later **)later->owner = NULL;
}

static inline mishap_http_later *keep(mishap_http_later **all, mishap_http_server *server,
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

static inline void say(mishap_http_reply *reply, const char *what, size_t number)
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

static inline size_t release_all(void)
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

/* Nothing is read or answered until the test says so. */
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

static atomic_int starving; /* how many of the next allocations fail */

static inline void *allocate_if_any(size_t size)
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

static inline mishap_runner *runner_of(const mishap_http_later *later)
{
    return later->server->settings->served->runner;
}

static inline void end_errand(mishap_run *run, mishap *failure)
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

static inline void leave_errand(mishap_http_later *later)
{
    struct errand *errand = later->owner;
    mishap_runner_forget(runner_of(later), &errand->run);
    free(errand);
}

static inline void begin_errand(mishap_http_server *server, const mishap_http_request *request,
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

static inline mishap *prepare(const mishap_http_settings *settings, void **shared)
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

static inline void dismiss(void *shared)
{
    atomic_fetch_add(&seen->dismissed, shared == &beside ? 1 : 100);
}

/* Loops are numbered from 100 on. */
static inline int before_loop(void *shared)
{
    return shared == &beside ? 100 + atomic_fetch_add(&seen->before, 1) : -1;
}

static inline void loop_forked(void *shared)
{
    (void)shared;
    atomic_fetch_add(&seen->forked, 1);
}

static inline void loop_ended(void *shared, int number)
{
    (void)shared;
    atomic_store(&seen->last_number, number);
    atomic_fetch_add(&seen->ended, 1);
}

static inline bool child_ended(void *shared, int pid, int status)
{
    bool own = shared == &beside && pid == atomic_load(&seen->child);
    if (own)
        atomic_store(&seen->child_status, status);
    else
        atomic_fetch_add(&seen->strangers, 1);
    return own;
}

static inline mishap *open_beside(mishap_http_server *server, void *shared, void **state)
{
    if (shared != &beside || !server->settings->served->runner || !server->loop)
        abort();
    beside.server = server;
    *state = &beside;
    return NULL;
}

static const mishap_http_extension extension;

static inline void tick(void *state)
{
    if (state != &beside || mishap_http_state_of(beside.server, &extension) != state)
        abort();
    beside.ticks++;
}

static inline void drain(void *state)
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

#endif
