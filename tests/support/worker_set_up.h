/*
 * A keeper and a runner for a test, which is the parent of the one and has the other as a loop has
 * it.
 */
#ifndef MISHAP_WORKER_SET_UP_H
#define MISHAP_WORKER_SET_UP_H

#include <poll.h>
#include <unistd.h>

#include "mishap/inside.h"
#include "runs.h"
#include "testing.h"
#include "worker/keeper/keeper.h"
#include "worker/loop/link.h"
#include "worker/wire/keeper_messages.h"

struct loop {
    mishap_keeper_plan plan;
    mishap_setup setup;
    mishap_keeper keeper;
    mishap_runner *runner;
    const mishap_runner_times *times;
    void (*stands)(void *state, const mishap_service *service, const mishap *failure);
    int kept;
    char folder[64];
};

/* The usual times, but for those that are over on a machine that stands still for some seconds:
 * then a call would end in another way. */
static const mishap_runner_times steady = { .wait_ms = 100000,
                                            .begin_ms = 60000,
                                            .answer_ms = 60000,
                                            .start_ms = 2000,
                                            .retry_ms = 100,
                                            .gone_ms = 20,
                                            .lost_ms = 3000,
                                            .stack_ms = 60000,
                                            .idle_ms = 60000,
                                            .open_ms = 60000,
                                            .settle_ms = 60000,
                                            .warm_ms = 500 };
/* … and a keeper may take long to report how a worker ended: for a test that needs to know it, and
 * kills no keeper. */
static const mishap_runner_times unhurried = { .wait_ms = 100000,
                                               .begin_ms = 60000,
                                               .answer_ms = 60000,
                                               .start_ms = 2000,
                                               .retry_ms = 100,
                                               .gone_ms = 20,
                                               .lost_ms = 60000,
                                               .stack_ms = 60000,
                                               .idle_ms = 60000,
                                               .open_ms = 60000,
                                               .settle_ms = 60000,
                                               .warm_ms = 500 };

static char orphan[400];

static inline void on_orphan(void *state, const mishap_call *call, const char *incident,
                             mishap *failure)
{
    (void)state;
    put_orphan(orphan, sizeof orphan, call, incident, failure);
}

static inline void open_runner(struct loop *loop, size_t handlers, size_t most_waiting)
{
    int socket;
    assert_true(mishap_keeper_connect(&loop->keeper, &socket, &loop->kept));
    mishap_runner_settings settings = { .plan = &loop->plan,
                                        .keeper = socket,
                                        .handlers = handlers,
                                        .most_waiting = most_waiting,
                                        .times = loop->times,
                                        .stands = loop->stands,
                                        .orphaned = on_orphan };
    assert_null(mishap_runner_open(&settings, &loop->runner));
}

/* What is needed before a keeper starts: the plan may be changed then. */
static inline void prepare(struct loop *loop, const mishap_app *app)
{
    *loop = (struct loop){ .plan = { .app = app },
                           .times = &steady,
                           .folder = "/tmp/worker-test-XXXXXX" };
    assert_non_null(mkdtemp(loop->folder));
    loop->setup.data = loop->folder;
    loop->plan.setup = &loop->setup;
    assert_null(mishap_worker_groups_make(app, &loop->plan.groups));
    orphan[0] = '\0';
}

static inline void begin_prepared(struct loop *loop)
{
    assert_null(mishap_keeper_start(&loop->keeper, &loop->plan));
    open_runner(loop, 4, 100);
}

static inline void end(struct loop *loop)
{
    mishap_runner_close(loop->runner);
    mishap_keeper_stop(&loop->keeper);
    rmdir(loop->folder);
}

static inline void turn(struct loop *loop, int wait_ms)
{
    struct pollfd file = { .fd = mishap_runner_file(loop->runner), .events = POLLIN };
    mishap_runner_flush(loop->runner);
    if (poll(&file, 1, wait_ms) > 0)
        mishap_runner_turn(loop->runner);
    mishap_keeper_look(&loop->keeper);
}

static inline bool add(struct loop *loop, struct ours *o, const char *name, const char *arguments)
{
    mishap_watcher watcher = o->watcher;
    begin_run(o, loop->plan.app, name, arguments);
    o->watcher = watcher;
    o->run.call->watcher = &o->watcher;
    return mishap_runner_add(loop->runner, &o->run);
}

static inline void wait_for(struct loop *loop, struct ours *o)
{
    int64_t until = long_after();
    while (!o->done && mishap_clock_monotonic_ns() < until)
        turn(loop, 100);
    assert_true(o->done);
}

static inline void call(struct loop *loop, struct ours *o, const char *name, const char *arguments)
{
    assert_true(add(loop, o, name, arguments));
    wait_for(loop, o);
}

static inline int64_t member(const struct ours *o, const char *name)
{
    mishap_answer_kind kind;
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (o->failure) {
        char account[4000];
        account_of(o->failure, account, sizeof account);
        fail_msg("%s", account);
    }
    assert_true(mishap_json_read(&reader, mishap_call_answer(o->run.call, &kind)));
    yyjson_val *value = yyjson_obj_get(reader.root, name);
    assert_true(yyjson_is_int(value));
    int64_t found = yyjson_get_sint(value);
    mishap_json_reader_release(&reader);
    return found;
}

/* Nothing but the keeper is a child of this process, and the keeper has no child either. */
static inline void nothing_is_left(struct loop *loop)
{
    char path[64], pids[64] = "";
    int64_t until = long_after();
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", loop->keeper.pid, loop->keeper.pid);
    do {
        usleep(1000);
        FILE *children = fopen(path, "re");
        assert_non_null(children);
        if (!fgets(pids, sizeof pids, children))
            pids[0] = '\0';
        fclose(children);
    } while (pids[0] && mishap_clock_monotonic_ns() < until);
    assert_string_equal(pids, "");
}

#endif
