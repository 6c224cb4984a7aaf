/*
 * The artifacts, called from C: seed 002's verification, methods of the system, calls of a batch
 * and calls that are run again. tests/store/postgres.py runs it with a PostgreSQL.
 */
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifacts/artifacts.h"
#include "mishap/invoke.h"
#include "operation/call.h"
#include "testing.h"
#include "worker/worker.h"

static const mishap_app app = {
    .name = "world", .version = "1", .summary = "Artifacts", .operations = artifacts_operations
};

/* -- a new store for each test ----------------------------------------------------------------- */

static char folder[64], config[1000];
static mishap_setup setup;

static void open_with(const char *store)
{
    strcpy(folder, "/tmp/mishap-artifacts-XXXXXX");
    assert_non_null(mkdtemp(folder));
    if (store)
        snprintf(config, sizeof config, "{\"artifacts\":{\"store\":\"%s\"}}", store);
    setup = (mishap_setup){ .data = folder, .config = store ? config : "{}" };
    assert_null(mishap_app_open(&app, &setup));
}

static int begin(void **state)
{
    (void)state;
    open_with(NULL);
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

static int end(void **state)
{
    (void)state;
    mishap_app_close();
    mishap_service_use(NULL);
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* -- calls ------------------------------------------------------------------------------------- */

static char *text_of(const char *artifact, const char *method, const char *args)
{
    static char text[1000];
    snprintf(text, sizeof text, "{\"artifact\":\"%s\",\"method\":\"%s\",\"args\":%s}", artifact,
             method, args);
    return text;
}

static mishap *invoke(const char *artifact, const char *method, const char *args,
                      const char *caller, mishap_answered **answered)
{
    return mishap_invoke(&app, "artifacts.invoke", text_of(artifact, method, args),
                         &(mishap_invocation){ .caller = caller }, answered);
}

static const char *text_of_failure(const mishap *failure, mishap_buffer *room)
{
    mishap_render_answer(mishap_dialect_find("artifact"), failure, room);
    mishap_buffer_add(room, "", 1);
    assert_false(room->failed);
    return room->data;
}

/* As the dictionary, whether it works or not. */
static char *told(const char *artifact, const char *method, const char *args, const char *caller)
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

#define ASSERT_TOLD(artifact, method, args, caller, expected)                                      \
    do {                                                                                           \
        char *actual = told(artifact, method, args, caller);                                       \
        assert_string_equal(actual, expected);                                                     \
        free(actual);                                                                              \
    } while (0)

static long long balance_of(const char *who)
{
    char args[100];
    mishap_answered *answered = NULL;
    snprintf(args, sizeof args, "[\"%s\"]", who);
    assert_null(invoke("genesis_ledger", "balance", args, NULL, &answered));
    long long balance = (long long)mishap_integer(answered->json, "balance");
    mishap_answered_free(answered);
    return balance;
}

/* A call as a worker makes it. Its answer, which must be freed; NULL: it failed. */
static char *work(const char *text, const char *caller, const char *id, bool repeated, bool batched)
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

static bool works(const char *text, const char *caller, bool batched)
{
    static int number;
    char id[40];
    snprintf(id, sizeof id, "call-%d", ++number);
    char *answer = work(text, caller, id, false, batched);
    free(answer);
    return answer;
}

/* NULL as well where no call has opened the service: then there is nothing to settle. */
static mishap *settle_if_open(void)
{
    void *state = NULL;
    mishap *failure = mishap_service_open(&app, &artifacts_service, &state);
    return failure ? failure : artifacts_service.settlement->settle(state);
}

static mishap *settle(void)
{
    void *state;
    assert_null(mishap_service_open(&app, &artifacts_service, &state));
    return artifacts_service.settlement->settle(state);
}

/* -- seed 002 ---------------------------------------------------------------------------------- */

static void test_ledger_error_format(void **state)
{
    (void)state;
    ASSERT_TOLD("genesis_ledger", "transfer", "[]", "alice",
                "{\"success\":false,\"error\":\"transfer requires [from_id, to_id, amount]\","
                "\"code\":\"missing_argument\",\"category\":\"validation\",\"retriable\":false,"
                "\"details\":{\"required\":[\"from_id\",\"to_id\",\"amount\"]}}");
    ASSERT_TOLD("genesis_ledger", "transfer", "[\"alice\",\"bob\",500]", "alice",
                "{\"success\":false,\"error\":\"Balance is 100, needed 500\",\"code\":"
                "\"insufficient_funds\",\"category\":\"permission\",\"retriable\":false,"
                "\"details\":{\"balance\":100,\"needed\":500}}");
}

static void test_escrow_error_format(void **state)
{
    (void)state;
    ASSERT_TOLD("genesis_escrow", "deposit", "[\"a\",true]", "alice",
                "{\"success\":false,\"error\":\"price must be an integer, not a boolean\",\"code\":"
                "\"invalid_type\",\"category\":\"validation\",\"retriable\":false,\"details\":"
                "{\"argument\":\"price\",\"expected\":\"integer\",\"actual\":\"boolean\"}}");
    ASSERT_TOLD("genesis_escrow", "purchase", "[\"a\"]", "alice",
                "{\"success\":false,\"error\":\"The artifact a is not for sale.\",\"code\":"
                "\"not_found\",\"category\":\"resource\",\"retriable\":false,\"details\":"
                "{\"artifact_id\":\"a\"}}");
}

/* result = ledger.invoke('transfer', [], 'alice'); 'code' in result; 'category' in result */
static void the_seeds_verification_works_from_c(void **state)
{
    (void)state;
    char *result = told("genesis_ledger", "transfer", "[]", "alice");
    assert_non_null(strstr(result, "\"code\":"));
    assert_non_null(strstr(result, "\"category\":"));
    free(result);
    ASSERT_TOLD("genesis_ledger", "transfer", "[\"alice\",\"bob\",5]", "alice",
                "{\"success\":true,\"from_id\":\"alice\",\"to_id\":\"bob\",\"amount\":5,"
                "\"from_balance\":95,\"to_balance\":105}");
}

/* What the library itself refuses has the codes of the seed in C, too. */
static void arguments_that_the_library_refuses_have_codes_of_the_seed(void **state)
{
    (void)state;
    ASSERT_TOLD("genesis_ledger", "balance", "\"x\"", NULL,
                "{\"success\":false,\"error\":\"One or more fields are not valid.\",\"code\":"
                "\"invalid_type\",\"category\":\"validation\",\"retriable\":false,\"details\":"
                "{\"fields\":[{\"field\":\"args\",\"error\":\"invalid_type\",\"expected\":"
                "\"array\",\"actual\":\"string\"}]}}");
    mishap_buffer room = { 0 };
    mishap *failure = mishap_invoke(&app, "artifacts.invoke", "{\"artifact\":\"genesis_ledger\"}",
                                    NULL, NULL);
    assert_non_null(strstr(text_of_failure(failure, &room), "\"code\":\"missing_argument\""));
    mishap_buffer_release(&room);
    mishap_free(failure);
}

/* -- the system -------------------------------------------------------------------------------- */

static void the_system_ends_an_auction_and_only_from_c(void **state)
{
    (void)state;
    ASSERT_TOLD("genesis_mint", "resolve", "[]", "alice",
                "{\"success\":false,\"error\":\"resolve is a method of the system\",\"code\":"
                "\"not_authorized\",\"category\":\"permission\",\"retriable\":false}");
    ASSERT_TOLD("genesis_mint", "resolve", "[]", "system", "{\"success\":true,\"resolved\":false}");
    ASSERT_TOLD("genesis_store", "create", "[\"a1\",\"tool\",\"one two\"]", "alice",
                "{\"success\":true,\"id\":\"a1\",\"type\":\"tool\",\"owner\":\"alice\"}");
    free(told("genesis_mint", "bid", "[\"a1\",50]", "alice"));
    assert_int_equal(balance_of("alice"), 50);
    assert_false(works(text_of("genesis_mint", "resolve", "[]"), "system", false));
    assert_int_equal(balance_of("genesis_mint"), 50);
    ASSERT_TOLD("genesis_mint", "resolve", "[]", "system", "{\"success\":true,\"resolved\":true}");
    assert_int_equal(balance_of("alice"), 99);
    assert_int_equal(balance_of("genesis_mint"), 1);
}

/* -- batches ----------------------------------------------------------------------------------- */

static void what_fails_in_a_batch_is_undone_alone(void **state)
{
    (void)state;
    assert_true(
        works(text_of("genesis_store", "create", "[\"a1\",\"tool\",\"x\"]"), "alice", true));
    assert_true(works(text_of("genesis_mint", "bid", "[\"a1\",60]"), "alice", true));
    /* It pays back the old bid before it fails. */
    assert_false(works(text_of("genesis_mint", "bid", "[\"a1\",101]"), "alice", true));
    assert_true(works(text_of("genesis_ledger", "transfer", "[\"bob\",\"alice\",1]"), "bob", true));
    assert_null(settle());
    mishap_app_close();
    assert_int_equal(balance_of("alice"), 41);
    assert_int_equal(balance_of("bob"), 99);
    assert_int_equal(balance_of("genesis_mint"), 60);
}

static void what_is_not_settled_never_was(void **state)
{
    (void)state;
    assert_int_equal(balance_of("alice"), 100); /* the store is there */
    assert_true(
        works(text_of("genesis_ledger", "transfer", "[\"alice\",\"bob\",1]"), "alice", true));
    mishap_app_close(); /* as the end of the process */
    assert_int_equal(balance_of("alice"), 100);
}

/* The process died after the commit, before the answer: the same call comes once more. */
static void a_call_that_is_run_again_pays_nobody_twice(void **state)
{
    (void)state;
    char *text = strdup(text_of("genesis_ledger", "transfer", "[\"alice\",\"bob\",7]"));
    char *first = work(text, "alice", "the-id", false, false);
    assert_non_null(first);
    char *again = work(text, "alice", "the-id", true, false);
    assert_non_null(again);
    assert_string_equal(again, first);
    assert_int_equal(balance_of("alice"), 93);
    free(again);
    again = work(text, "alice", "another-id", true, false); /* this one was never settled */
    assert_non_null(again);
    assert_int_equal(balance_of("alice"), 86);
    free(again);
    free(first);
    free(text);
}

/* -- without memory ---------------------------------------------------------------------------- */

/* Pay 1. Whether it was done, as far as the call knows. */
static bool pay(const char *from, const char *to, bool batched)
{
    static int number;
    char id[40], args[100];
    mishap_call *call = NULL;
    snprintf(args, sizeof args, "[\"%s\",\"%s\",1]", from, to);
    snprintf(id, sizeof id, "pay-%d", ++number);
    mishap *failure = mishap_call_begin(&app, &artifacts_operations[0],
                                        mishap_text_of(text_of("genesis_ledger", "transfer", args)),
                                        &call);
    if (!failure) {
        call->boundary = MISHAP_BY_HTTP;
        call->caller = from;
        call->id = mishap_text_of(id);
        call->batched = batched;
        failure = mishap_call_run(call);
        mishap_call_end(call);
    }
    bool done = !failure;
    mishap_free(failure);
    return done;
}

/* A batch of two, then a call that is settled alone. `input` is what alice has. */
static void pay_without_memory(const void *input)
{
    long long *has = *(long long *const *)input;
    mishap *failure = mishap_app_open(&app, &setup);
    if (!failure) {
        bool first = pay("alice", "bob", true), second = pay("bob", "alice", true);
        mishap *unsettled = settle_if_open();
        if (!unsettled)
            *has += second - first;
        mishap_free(unsettled);
        bool third = pay("alice", "bob", false);
        *has -= third;
        assert_true(calls >= fail_at || (first && second && third));
    }
    mishap_free(failure);
    mishap_app_close();
    mishap_service_use(NULL);
    size_t saved = fail_at, counted = calls;
    fail_at = 0;
    assert_null(mishap_app_open(&app, &setup));
    assert_int_equal(balance_of("alice"), *has);
    assert_int_equal(balance_of("bob"), 200 - *has);
    mishap_app_close();
    mishap_service_use(NULL);
    fail_at = saved;
    calls = counted;
}

static void without_memory_a_call_is_done_whole_or_not_at_all(void **state)
{
    (void)state;
    long long alice = balance_of("alice"), *has = &alice;
    mishap_app_close();
    mishap_service_use(NULL);
    mishap_use_allocator(&failing_allocator);
    torture(pay_without_memory, &has);
    mishap_use_allocator(NULL);
    assert_null(mishap_app_open(&app, &setup));
    assert_int_equal(balance_of("alice"), alice);
}

/* -- where calls run --------------------------------------------------------------------------- */

static size_t group_of(const mishap_worker_groups *groups, const char *artifact, const char *method)
{
    mishap_call *call;
    assert_null(mishap_call_begin(&app, &artifacts_operations[0],
                                  mishap_text_of(text_of(artifact, method, "[]")), &call));
    size_t group = mishap_worker_group_of_call(groups, call);
    mishap_call_end(call);
    return group;
}

static void code_runs_in_other_processes_than_those_that_settle(void **state)
{
    (void)state;
    mishap_worker_groups groups;
    assert_null(mishap_worker_groups_make(&app, &groups));
    assert_int_equal(groups.count, 2);
    assert_true(groups.groups[0].settled && groups.groups[0].alone);
    assert_true(!groups.groups[1].settled && !groups.groups[1].alone);
    assert_int_equal(group_of(&groups, "genesis_ledger", "transfer"), 0);
    assert_int_equal(group_of(&groups, "genesis_ledger", "run"), 0);
    assert_int_equal(group_of(&groups, "a1", "walk"), 0);
    assert_int_equal(group_of(&groups, "a1", "run"), 1);
}

static void on_postgresql_every_call_is_a_transaction_of_its_own(void **state)
{
    (void)state;
    mishap_worker_groups groups;
    const char *address = getenv("STORE_POSTGRESQL");
    if (!address)
        skip();
    mishap_app_close();
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    open_with(address);
    assert_int_equal(balance_of("alice"), 100);
    assert_null(artifacts_service.settlement->settle);
    assert_null(mishap_worker_groups_make(&app, &groups));
    assert_int_equal(groups.count, 2);
    for (size_t i = 0; i < groups.count; i++)
        assert_false(groups.groups[i].alone || groups.groups[i].settled);
    assert_int_equal(group_of(&groups, "genesis_ledger", "transfer"), 0);
    assert_int_equal(group_of(&groups, "a1", "run"), 1);
    a_call_that_is_run_again_pays_nobody_twice(state);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_ledger_error_format),
        IN_FOLDER(test_escrow_error_format),
        IN_FOLDER(the_seeds_verification_works_from_c),
        IN_FOLDER(arguments_that_the_library_refuses_have_codes_of_the_seed),
        IN_FOLDER(the_system_ends_an_auction_and_only_from_c),
        IN_FOLDER(what_fails_in_a_batch_is_undone_alone),
        IN_FOLDER(what_is_not_settled_never_was),
        IN_FOLDER(a_call_that_is_run_again_pays_nobody_twice),
        IN_FOLDER(without_memory_a_call_is_done_whole_or_not_at_all),
        IN_FOLDER(code_runs_in_other_processes_than_those_that_settle),
        IN_FOLDER(on_postgresql_every_call_is_a_transaction_of_its_own),
    };
    return RUN(tests);
}
