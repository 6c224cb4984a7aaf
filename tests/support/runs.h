/* A call that a test gives to a runner, and what came of it. */
#ifndef MISHAP_RUNS_H
#define MISHAP_RUNS_H

#include "testing.h"

#include "mishap/inside.h"
#include "operation/call.h"
#include "worker/loop/runner.h"

struct ours {
    mishap_run run; /* the first */
    bool done;
    mishap *failure;
    int64_t done_ns;
    char said[400];
    mishap_watcher watcher;
};

static inline void on_done(mishap_run *run, mishap *failure)
{
    struct ours *o = (struct ours *)(void *)run;
    assert_false(o->done);
    o->done = true;
    o->failure = failure;
    o->done_ns = mishap_clock_monotonic_ns();
}

/* Begin a call, and do not hand it over yet. */
static inline void begin_run(struct ours *o, const mishap_app *app, const char *name,
                             const char *arguments)
{
    const mishap_operation *operation = mishap_operation_find(app, mishap_text_of(name));
    *o = (struct ours){ .run = { .done = on_done, .incident = "an-incident" } };
    assert_null(mishap_call_begin(app, operation, mishap_text_of(arguments), &o->run.call));
}

static inline void let_go(struct ours *o)
{
    mishap_free(o->failure);
    mishap_call_end(o->run.call);
    o->failure = NULL;
    o->run.call = NULL;
}

static inline void account_of(const mishap *m, char *text, size_t size)
{
    mishap_buffer account = { 0 };
    mishap_account(m, &account);
    snprintf(text, size, "%.*s", (int)account.length, account.data);
    mishap_buffer_release(&account);
}

static inline void expect_words(const struct ours *o, const mishap_code *code, const char *words)
{
    static char account[1 << 16];
    assert_true(o->done);
    assert_non_null(o->failure);
    assert_ptr_equal(mishap_told(o->failure)->code, code);
    account_of(o->failure, account, sizeof account);
    if (!strstr(account, words))
        fail_msg("%s", account);
}

/* What a runner reports of calls whose callers had left: how many there were … */
static int orphans;

static inline void count_orphan(void *state, const mishap_call *call, const char *incident,
                                mishap *failure)
{
    (void)state, (void)call;
    assert_string_equal(incident, "an-incident");
    orphans++;
    mishap_free(failure);
}

/* … or what is recorded of it. */
static inline void put_orphan(char *text, size_t size, const mishap_call *call,
                              const char *incident, mishap *failure)
{
    int length = snprintf(text, size, "%s %s ", call->operation->name, incident);
    assert_in_range(length, 1, size - 1);
    account_of(failure, text + length, size - (size_t)length);
    mishap_free(failure);
}

/* A moment that only a machine that stands still does not see in time. */
static inline int64_t long_after(void)
{
    return mishap_clock_monotonic_ns() + INT64_C(120000000000);
}

#endif
