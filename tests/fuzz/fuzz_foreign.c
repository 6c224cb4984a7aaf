/*
 * Any packets of a foreign program. A real runner has handed it a call. The input is a list of
 * packets, each with its length in two bytes before it; the first byte of all says whether the
 * program has said that it is ready, whether a caller waits for the call, and whether code of a
 * caller has begun.
 *
 * In every case the call has one end when the program has one, and an answer is one object on a
 * line. If code has begun, a failure is the code's, and nothing is reported.
 */
#include "fuzz.h"

#include "../support/fake_keeper.h"
#include "mishap/worker.h"

enum { LARGEST = 256 * 1024 };

static const mishap_foreign_code code = { .raises = MISHAP_RAISES(TYPE_ERROR),
                                          .context = MISHAP_CHOICES("line"),
                                          .type = "Error" };
static mishap_foreign program = { .program = "/bin/false", .answer_limit = 200000 };
static const mishap_service service = { "foreign", .summary = "A foreign program",
                                        .worker = &program };
static const mishap_param params[] = {
    { "number", MISHAP_INTEGER, .initial = "7" },
    { 0 },
};
static const mishap_param answers[] = {
    { "n", MISHAP_INTEGER, .required = false },
    { 0 },
};
static const mishap_operation operations[] = {
    { "first", "First", params, mishap_foreign_run, .service = &service, .answers = answers,
      .raises = MISHAP_RAISES(TYPE_ERROR) },
    { 0 },
};
static const mishap_app app = { "foreign", "1.0", "Foreign", .operations = operations };

struct ours {
    mishap_run run;
    mishap_watcher watcher;
    bool done;
};

static void expect_answer(const mishap_call *call)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_text text = mishap_buffer_text(&call->answer);
    for (size_t i = 0; i < text.length; i++)
        EXPECT((unsigned char)text.data[i] >= ' ', "byte %zu of %.*s", i, SHOWN(text));
    EXPECT(mishap_json_read(&reader, text) && yyjson_is_obj(reader.root), "%.*s", SHOWN(text));
    mishap_json_reader_release(&reader);
}

static void on_done(mishap_run *run, mishap *failure)
{
    struct ours *o = (struct ours *)(void *)run;
    EXPECT(!o->done, "done twice");
    o->done = true;
    if (failure) {
        mishap_buffer account = { 0 };
        const mishap_public *told = mishap_told(failure);
        EXPECT(!program.code || told->code == MISHAP_CODE_TYPE_ERROR, "%s", told->code->name.data);
        EXPECT(!program.code || !told->suggestion.length, "%.*s", SHOWN(told->suggestion));
        mishap_account(failure, &account);
        mishap_buffer_release(&account);
    } else {
        expect_answer(run->call);
    }
    mishap_free(failure);
    mishap_call_end(run->call);
    run->call = NULL;
}

static void on_orphan(void *state, const mishap_call *call, const char *incident, mishap *failure)
{
    (void)state, (void)call, (void)incident;
    mishap_free(failure);
}

static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    (void)watcher, (void)done, (void)total;
    EXPECT(words.data || !words.length, "words of no text");
    EXPECT(!program.code, "progress of code");
}

static void on_log(const mishap_watcher *watcher, mishap_level level, mishap_text words)
{
    (void)watcher;
    EXPECT(level <= MISHAP_EMERGENCY && words.data, "level %d", (int)level);
    EXPECT(!program.code, "a message of code");
}

static int start(int keeper, const mishap_keeper_message *asked)
{
    int ends[2];
    mishap_keeper_message message = {
        .word = MISHAP_KEEPER_STARTED, .number = asked->number, .group = asked->group, .worker = 1
    };
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    MUST(mishap_keeper_send(keeper, &message, ends, 1));
    close(ends[0]);
    return ends[1];
}

static void send_packets(mishap_runner *runner, int socket, const uint8_t *data, size_t size)
{
    while (size > 2) {
        size_t length = data[0] | (size_t)data[1] << 8;
        data += 2;
        size -= 2;
        length = length < size ? length : size;
        send(socket, data, length, MSG_NOSIGNAL | MSG_DONTWAIT); /* it may be closed by now */
        mishap_runner_turn(runner);
        data += length;
        size -= length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const mishap_runner_times times = { 1000, 1000, 1000, 1000, 1000, 0,
                                               1000, 1000, 1000, 1000, 1000, 1000 };
    mishap_keeper_plan plan = { .app = &app };
    struct ours o = { .run = { .done = on_done, .incident = "incident" },
                      .watcher = { .progress = on_progress, .log = on_log } };
    mishap_keeper_message message;
    mishap_runner *runner;
    int keeper;
    if (size < 1 || size > LARGEST)
        return 0;
    bool begins = (data[0] & 5) == 5;
    program.code = begins ? &code : NULL;
    MUST(!mishap_worker_groups_make(&app, &plan.groups));
    mishap_runner_settings settings = { .plan = &plan,
                                        .keeper = fake_keeper_open(&keeper),
                                        .handlers = 1,
                                        .most_waiting = 4,
                                        .orphaned = on_orphan,
                                        .times = &times };
    MUST(!mishap_runner_open(&settings, &runner));
    MUST(!mishap_call_begin(&app, &operations[0], (mishap_text)MISHAP_TEXT("{}"), &o.run.call));
    o.run.call->watcher = &o.watcher;
    MUST(mishap_runner_add(runner, &o.run));
    mishap_runner_flush(runner);
    MUST(fake_keeper_hears(keeper, &message) && message.word == MISHAP_KEEPER_START);
    int socket = start(keeper, &message);
    bool forgotten = false;
    mishap_runner_turn(runner);
    if (data[0] & 1) {
        MUST(send(socket, "={\"ready\":1}", 12, MSG_NOSIGNAL) == 12);
        mishap_runner_turn(runner);
        EXPECT(o.run.link && o.run.link->slots[0].number == 1, "not handed over");
        if (begins) {
            MUST(send(socket, "={\"id\":1,\"begins\":true}", 23, MSG_NOSIGNAL) == 23);
            mishap_runner_turn(runner);
        }
        forgotten = data[0] & 2;
        if (forgotten)
            mishap_runner_forget(runner, &o.run);
    }
    send_packets(runner, socket, data + 1, size - 1);
    bool begun = o.run.link != NULL;
    close(socket);
    fake_worker_ended(keeper, &(struct fake_worker){ .number = 1 }, 9);
    mishap_runner_turn(runner);
    mishap_runner_turn(runner);
    EXPECT(o.done || forgotten || !begun, "the call waits for ever");
    EXPECT(!forgotten || mishap_runner_count(runner, true) == 0, "a forgotten call is left");
    mishap_runner_close(runner);
    mishap_call_end(o.run.call);
    close(keeper);
    return 0;
}
