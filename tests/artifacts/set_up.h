/* A new store of artifacts for each test, and calls of its methods. */
#ifndef MISHAP_SET_UP_H
#define MISHAP_SET_UP_H

#include "artifacts/request.h"
#include "mishap/invoke.h"
#include "operation/call.h"
#include "testing.h"
#include "worker/plan/plan.h"

static const mishap_app app = {
    .name = "world", .version = "1", .summary = "Artifacts", .operations = artifacts_operations
};

static char folder[64], config[1000];
static mishap_setup setup;

static inline void open_with(const char *store)
{
    strcpy(folder, "/tmp/mishap-artifacts-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(config, sizeof config, "{\"artifacts\":{\"keep_events\":5,\"keep_days\":2%s%s%s}}",
             store ? ",\"store\":\"" : "", store ? store : "", store ? "\"" : "");
    setup = (mishap_setup){ .data = folder, .config = config };
    assert_null(mishap_app_open(&app, &setup));
}

static inline int begin(void **state)
{
    (void)state;
    open_with(NULL);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    mishap_app_close();
    mishap_service_use(NULL);
    return remove_tree(folder);
}

static inline char *text_of(const char *artifact, const char *method, const char *args)
{
    static char text[1000];
    snprintf(text, sizeof text, "{\"artifact\":\"%s\",\"method\":\"%s\",\"args\":%s}", artifact,
             method, args);
    return text;
}

static inline mishap *invoke(const char *artifact, const char *method, const char *args,
                             const char *caller, mishap_answered **answered)
{
    return mishap_invoke(&app, "artifacts.invoke", text_of(artifact, method, args),
                         &(mishap_invocation){ .caller = caller }, answered);
}

static inline const char *text_of_failure(const mishap *failure, mishap_buffer *room)
{
    mishap_render_answer(mishap_dialect_find("artifact"), failure, room);
    mishap_buffer_add(room, "", 1);
    assert_false(room->failed);
    return room->data;
}

/* As the dictionary, whether it works or not. */
static inline char *told(const char *artifact, const char *method, const char *args,
                         const char *caller)
{
    mishap_answered *answered = NULL;
    mishap *failure = invoke(artifact, method, args, caller, &answered);
    mishap_buffer room = { 0 };
    char *text = strdup(failure ? text_of_failure(failure, &room)
                                : (const char *)answered->text.data);
    mishap_buffer_release(&room);
    mishap_free(failure);
    mishap_answered_free(answered);
    return text;
}

static inline long long member_of(const char *who, const char *caller, const char *member)
{
    char args[100];
    mishap_answered *answered = NULL;
    snprintf(args, sizeof args, "[\"%s\"]", who);
    assert_null(invoke("genesis_ledger", "balance", args, caller, &answered));
    bool given = mishap_given(answered->json, member);
    long long balance = given ? (long long)mishap_integer(answered->json, member) : 0;
    mishap_answered_free(answered);
    return balance;
}

static inline long long balance_of(const char *who)
{
    return member_of(who, NULL, "balance");
}

/* A call as a worker makes it. Its answer, which must be freed; NULL: it failed. */
static inline char *work(const char *text, const char *caller, const char *id, bool repeated,
                         bool batched)
{
    mishap_call *call;
    mishap_answer_kind kind;
    char *answer = NULL;
    assert_null(mishap_call_begin(&app, &artifacts_operations[0], mishap_text_of(text), &call));
    call->boundary = MISHAP_BY_HTTP;
    call->caller = caller;
    call->id = mishap_text_of(id);
    call->repeated = repeated;
    call->batched = batched;
    mishap *failure = mishap_call_run(call);
    mishap_text json = mishap_call_answer(call, &kind);
    if (!failure)
        assert_int_not_equal(asprintf(&answer, "%.*s", (int)json.length, json.data), -1);
    mishap_free(failure);
    mishap_call_end(call);
    return answer;
}

static inline mishap *settle(void)
{
    void *state;
    assert_null(mishap_service_open(&app, &artifacts_service, &state));
    return artifacts_service.settlement->settle(state);
}

/* Does the answer, or the failure, of a method have these words? */
static inline void expect(const char *artifact, const char *method, const char *args,
                          const char *caller, const char *words, bool has)
{
    char *text = told(artifact, method, args, caller);
    if (!strstr(text, words) == has)
        fail_msg("%s %s: %s", method, args, text);
    free(text);
}

static inline size_t group_of(const mishap_worker_groups *groups, const char *artifact,
                              const char *method)
{
    mishap_call *call;
    assert_null(mishap_call_begin(&app, &artifacts_operations[0],
                                  mishap_text_of(text_of(artifact, method, "[]")), &call));
    size_t group = mishap_worker_group_of_call(groups, call);
    mishap_call_end(call);
    return group;
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)

#endif
