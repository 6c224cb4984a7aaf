/*
 * Any bytes between a loop and a worker, in both directions. The first byte says which.
 *
 * From a worker: a real runner has handed four calls over, of which one is forgotten. Five bytes
 * say what the worker has written into its page of each, and where the stream is cut in two; the
 * rest is what it sends. What the runner accepts can be written again and reads the same; in every
 * case, every call that had begun has an end when the worker has one.
 *
 * From a loop: frames of calls, as a worker reads them. From a worker that opens a service: what a
 * server waits for when it starts.
 */
#include "fuzz.h"

#include "../support/fake_keeper.h"
#include "mishap/carry.h"
#include "operation/changes.h"
#include "worker/keeper/keeper.h"

enum { CALLS = 4, MOST_PARSED = 64 * 1024, LARGEST = 128 * 1024 };

static mishap *unused(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_param params[] = {
    { "number", MISHAP_INTEGER, .initial = "7" },
    { "text", MISHAP_STRING, .required = false },
    { 0 },
};
static const mishap_operation operations[] = {
    { "first", "First", params, unused, .stateless = true },
    { "second", "Second", NULL, unused, .raises = MISHAP_RAISES(NOT_FOUND), .stateless = true },
    { 0 },
};
static const mishap_app app = { "frames", "1.0", "Frames", .operations = operations };

/* -- what a runner accepts --------------------------------------------------------------------- */

struct ours {
    mishap_run run;
    mishap_watcher watcher;
    bool done;
};

static void expect_line_of_json(mishap_text text)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    for (size_t i = 0; i < text.length; i++)
        EXPECT((unsigned char)text.data[i] >= ' ', "byte %zu of %.*s", i, SHOWN(text));
    if (text.length <= MOST_PARSED)
        EXPECT(mishap_json_read(&reader, text), "%.*s", SHOWN(text));
    mishap_json_reader_release(&reader);
}

static mishap_text payload_of(const mishap_buffer *frame)
{
    mishap_framed framed;
    size_t size;
    EXPECT(mishap_frame_read(mishap_buffer_text(frame), &framed, &size) == MISHAP_FRAME_WHOLE &&
               size == frame->length,
           "our own frame cannot be read");
    return framed.payload;
}

/* Write it, take it into another call, and write that. */
static void expect_same_outcome(const mishap_call *call, const mishap *failure)
{
    mishap_buffer first = { 0 }, second = { 0 };
    mishap_call *other;
    mishap *again;
    EXPECT(!mishap_call_begin(&app, call->operation, (mishap_text)MISHAP_TEXT("{}"), &other),
           "no call");
    mishap_frame_put_outcome(&first, 3, call, failure);
    EXPECT(mishap_frame_take_outcome(payload_of(&first), other, &again),
           "our own outcome is refused");
    EXPECT(!failure == !again, "a failure comes or goes");
    mishap_frame_put_outcome(&second, 3, other, again);
    EXPECT(mishap_text_equal(mishap_buffer_text(&first), mishap_buffer_text(&second)),
           "sent on, it is another one");
    mishap_free(again);
    mishap_call_end(other);
    mishap_buffer_release(&first);
    mishap_buffer_release(&second);
}

static void on_done(mishap_run *run, mishap *failure)
{
    struct ours *o = (struct ours *)(void *)run;
    EXPECT(!o->done, "done twice");
    o->done = true;
    expect_same_outcome(run->call, failure);
    if (!failure && run->call->answer_kind == MISHAP_ANSWER_JSON)
        expect_line_of_json(mishap_buffer_text(&run->call->answer));
    mishap_free(failure);
    mishap_call_end(run->call);
    run->call = NULL;
}

static void on_orphan(void *state, const mishap_call *call, const char *incident, mishap *failure)
{
    (void)state, (void)incident;
    expect_same_outcome(call, failure);
    mishap_free(failure);
}

static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    mishap_buffer frame = { 0 };
    double done_again, total_again;
    mishap_text words_again;
    (void)watcher;
    mishap_frame_put_progress(&frame, 1, done, total, words);
    EXPECT(mishap_frame_take_progress(payload_of(&frame), &done_again, &total_again, &words_again),
           "our own progress is refused");
    EXPECT(memcmp(&done, &done_again, sizeof done) == 0 &&
               memcmp(&total, &total_again, sizeof total) == 0 &&
               !words.data == !words_again.data && mishap_text_equal(words, words_again),
           "other progress");
    mishap_buffer_release(&frame);
}

static void on_log(const mishap_watcher *watcher, mishap_level level, mishap_text words)
{
    mishap_buffer frame = { 0 };
    mishap_level level_again;
    mishap_text words_again;
    (void)watcher;
    mishap_frame_put_log(&frame, 1, level, words);
    EXPECT(mishap_frame_take_log(payload_of(&frame), &level_again, &words_again) &&
               level_again == level && mishap_text_equal(words, words_again),
           "another message");
    mishap_buffer_release(&frame);
}

static bool on_bytes(const mishap_watcher *watcher, mishap_text bytes)
{
    (void)watcher;
    EXPECT(bytes.data, "no bytes");
    return true;
}

static void on_mark(const mishap_watcher *watcher, mishap_text mark)
{
    (void)watcher;
    EXPECT(mishap_mark_is_sound(mark), "%zu bytes", mark.length);
}

static void on_change(void *state, mishap_text address)
{
    (void)state;
    EXPECT(address.length <= MISHAP_ADDRESS_LIMIT, "%zu bytes", address.length);
}

/* -- from a worker ----------------------------------------------------------------------------- */

static void add_calls(mishap_runner *runner, struct ours *many)
{
    for (size_t i = 0; i < CALLS; i++) {
        many[i] = (struct ours){ .run = { .done = on_done, .incident = "incident" },
                                 .watcher = { on_progress, on_log, on_bytes, on_bytes, on_mark } };
        EXPECT(!mishap_call_begin(&app, &operations[i % 2], (mishap_text)MISHAP_TEXT("{}"),
                                  &many[i].run.call),
               "no call");
        many[i].run.call->watcher = &many[i].watcher;
        EXPECT(mishap_runner_add(runner, &many[i].run), "not taken");
    }
    mishap_runner_flush(runner);
}

/* What the page says of a call: a state of that call, or of another. */
static void write_state(const struct fake_worker *w, unsigned slot, uint32_t number, uint8_t said)
{
    atomic_store(&w->page->slots[slot],
                 mishap_slot_word(number + (said >> 6), (mishap_slot_state)(said & 7)));
}

static void read_as_loop(const uint8_t *data, size_t size)
{
    static const mishap_runner_times times = { 1000, 1000, 1000, 1000, 1000, 0,
                                               1000, 1000, 1000, 1000, 1000, 1000 };
    mishap_keeper_plan plan = { .app = &app };
    struct ours many[CALLS];
    struct fake_worker w;
    mishap_runner *runner;
    mishap_keeper_message message;
    bool begun[CALLS];
    int keeper;
    if (size < CALLS + 1)
        return;
    EXPECT(!mishap_worker_groups_make(&app, &plan.groups), "no groups");
    mishap_runner_settings settings = { .plan = &plan,
                                        .keeper = fake_keeper_open(&keeper),
                                        .handlers = 1,
                                        .most_waiting = CALLS,
                                        .orphaned = on_orphan,
                                        .times = &times };
    EXPECT(!mishap_runner_open(&settings, &runner), "no runner");
    add_calls(runner, many);
    EXPECT(fake_keeper_hears(keeper, &message) && message.word == MISHAP_KEEPER_START, "no start");
    fake_worker_start(keeper, &message, &w, 1);
    mishap_runner_turn(runner);
    for (unsigned i = 0; i < CALLS; i++) {
        EXPECT(many[i].run.link && many[i].run.slot == i, "not handed over");
        uint32_t number = many[i].run.link->slots[i].number;
        if (i == CALLS - 1) { /* no caller waits for this one */
            fake_worker_begins(&w, i, number);
            mishap_runner_forget(runner, &many[i].run);
        }
        write_state(&w, i, number, data[i]);
        begun[i] = data[i] >> 6 ||
                   ((data[i] & 7) != MISHAP_SLOT_HANDED && (data[i] & 7) != MISHAP_SLOT_TAKEN);
    }
    size_t rest = size - CALLS - 1, cut = rest * data[CALLS] / 255;
    fake_worker_sends(&w, data + CALLS + 1, cut);
    mishap_runner_turn(runner);
    send(w.socket, data + CALLS + 1 + cut, rest - cut, MSG_NOSIGNAL); /* it may be closed by now */
    mishap_runner_turn(runner);
    mishap_runner_turn(runner);

    fake_worker_close(&w);
    fake_worker_ended(keeper, &w, 9);
    mishap_runner_turn(runner);
    mishap_runner_turn(runner);
    for (size_t i = 0; i < CALLS - 1; i++) {
        EXPECT(many[i].done || !begun[i], "call %zu waits for ever", i);
        EXPECT(many[i].done || !many[i].run.link, "call %zu is with a worker that is dead", i);
    }
    EXPECT(mishap_runner_count(runner, true) == mishap_runner_count(runner, false),
           "a forgotten call is left");
    mishap_runner_close(runner);
    for (size_t i = 0; i < CALLS; i++)
        mishap_call_end(many[i].run.call);
    fake_worker_release(&w);
    close(keeper);
}

/* -- from a loop ------------------------------------------------------------------------------- */

static const char *copied(mishap_call *call, mishap_text text)
{
    return text.data ? mishap_arena_copy(&call->arena, text).data : NULL;
}

/* The call, as the worker makes it of what was asked. NULL: it is refused. */
static mishap_call *remade(const mishap_frame_call *asked, mishap_watcher *watcher)
{
    mishap_call *call = NULL;
    if (asked->operation >= sizeof operations / sizeof *operations - 1)
        return NULL;
    mishap *failure = mishap_call_remake(&app, &operations[asked->operation], asked->arguments,
                                         &call);
    EXPECT(!failure == (call != NULL), "neither a call nor a failure");
    mishap_free(failure);
    if (!call)
        return NULL;
    *watcher = (mishap_watcher){ asked->wants_progress ? on_progress : NULL,
                                 asked->wants_log ? on_log : NULL,
                                 asked->wants_pieces ? on_bytes : NULL,
                                 asked->wants_pieces ? on_bytes : NULL,
                                 asked->wants_marks ? on_mark : NULL };
    call->watcher = watcher;
    call->verbose = asked->verbose;
    call->caller = copied(call, asked->caller);
    call->cursor = copied(call, asked->cursor);
    call->boundary = asked->boundary;
    call->request_id = asked->request_id;
    call->remote = asked->remote;
    call->headers = asked->headers;
    call->body = asked->body;
    call->body_type = copied(call, asked->body_type);
    call->id = asked->id;
    call->repeated = asked->repeated;
    call->caller_is_free = asked->caller_is_free;
    call->mark = asked->mark;
    return call;
}

static void expect_same_call(mishap_text payload)
{
    mishap_frame_call asked, again;
    mishap_buffer first = { 0 }, second = { 0 };
    mishap_watcher watcher;
    mishap_call *call = mishap_frame_take_call(payload, &asked) ? remade(&asked, &watcher) : NULL;
    if (!call)
        return;
    mishap_frame_put_call(&first, 5, asked.number, call, asked.limit_ms);
    EXPECT(mishap_frame_take_call(payload_of(&first), &again), "our own call is refused");
    EXPECT(again.number == asked.number && again.operation == asked.operation &&
               again.limit_ms == asked.limit_ms && !again.body.data == !asked.body.data &&
               mishap_text_equal(again.body, asked.body) && again.boundary == asked.boundary &&
               mishap_text_equal(again.request_id, asked.request_id) &&
               mishap_text_equal(again.remote, asked.remote) &&
               mishap_text_equal(again.headers, asked.headers) &&
               mishap_text_equal(again.caller, asked.caller) &&
               mishap_text_equal(again.id, asked.id) && again.repeated == asked.repeated &&
               again.caller_is_free == asked.caller_is_free &&
               again.wants_marks == asked.wants_marks && mishap_text_equal(again.mark, asked.mark),
           "another call");
    mishap_call *other = remade(&again, &watcher);
    EXPECT(other, "our own call cannot be made");
    mishap_frame_put_call(&second, 5, again.number, other, again.limit_ms);
    EXPECT(mishap_text_equal(mishap_buffer_text(&first), mishap_buffer_text(&second)),
           "sent on, it is another one");
    mishap_call_end(other);
    mishap_call_end(call);
    mishap_buffer_release(&first);
    mishap_buffer_release(&second);
}

static void read_as_worker(mishap_text bytes)
{
    mishap_framed frame;
    size_t size;
    while (mishap_frame_read(bytes, &frame, &size) == MISHAP_FRAME_WHOLE) {
        EXPECT(size >= MISHAP_FRAME_HEAD && size <= bytes.length, "%zu bytes", size);
        if (frame.type == MISHAP_FRAME_CALL)
            expect_same_call(frame.payload);
        bytes = (mishap_text){ bytes.data + size, bytes.length - size };
    }
}

/* -- at the start ------------------------------------------------------------------------------ */

static void read_as_server(const uint8_t *data, size_t size)
{
    int ends[2];
    mishap *failure = NULL;
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "no sockets");
    EXPECT(send(ends[1], data, size, MSG_NOSIGNAL) == (ssize_t)size, "not sent");
    shutdown(ends[1], SHUT_WR);
    char identity[MISHAP_IDENTITY_LIMIT];
    bool opened = mishap_keeper_open_service(ends[0], 1000, identity, &failure);
    EXPECT(opened || !failure, "a failure of what was refused");
    mishap_free(failure);
    close(ends[0]);
    close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > LARGEST)
        return 0;
    mishap_changes_heard_by(on_change, NULL);
    switch (data[0] % 4) {
    case 0:
        read_as_worker((mishap_text){ (const char *)data + 1, size - 1 });
        break;
    case 1:
        read_as_server(data + 1, size - 1);
        break;
    default:
        read_as_loop(data + 1, size - 1);
    }
    return 0;
}
