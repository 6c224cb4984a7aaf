/*
 * The artifacts, called from C: seed 002's verification, methods of the system, calls of a batch,
 * where calls run, memory.
 */

#include "testing.h"
#include "set_up.h"

/* -- calls ------------------------------------------------------------------------------------- */

#define ASSERT_TOLD(artifact, method, args, caller, expected)                                      \
    do {                                                                                           \
        char *actual = told(artifact, method, args, caller);                                       \
        assert_string_equal(actual, expected);                                                     \
        free(actual);                                                                              \
    } while (0)

/* As its owner sees it; no other caller does. */
static long long held_of(const char *who)
{
    assert_int_equal(member_of(who, NULL, "held"), 0);
    return member_of(who, who, "held");
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
                "\"array\",\"actual\":\"string\",\"message\":\"args must be an array, not a "
                "string.\"}]}}");
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
    assert_int_equal(held_of("alice"), 50);
    assert_false(works(text_of("genesis_mint", "resolve", "[]"), "system", false));
    assert_int_equal(held_of("alice"), 50);
    ASSERT_TOLD("genesis_mint", "resolve", "[]", "system", "{\"success\":true,\"resolved\":true}");
    assert_int_equal(held_of("alice"), 0);
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
    assert_false(works(text_of("genesis_mint", "bid", "[\"a1\",101]"), "alice", true));
    assert_true(works(text_of("genesis_ledger", "transfer", "[\"bob\",\"alice\",1]"), "bob", true));
    assert_null(settle());
    mishap_app_close();
    assert_int_equal(balance_of("alice"), 101);
    assert_int_equal(held_of("alice"), 60);
    assert_int_equal(balance_of("bob"), 99);
}

/* A call that crashes does not come to its end, and the process goes on. */
static void what_a_crashed_call_has_changed_is_undone_by_the_next(void **state)
{
    mishap_call *call;
    mishap_query query;
    bool done;
    (void)state;
    assert_null(mishap_call_begin(&app, &artifacts_operations[0],
                                  mishap_text_of(text_of("genesis_ledger", "all_balances", "[]")),
                                  &call));
    assert_null(mishap_service_open(&app, &artifacts_service, &call->service_state));
    assert_null(artifacts_service.settlement->begin(call));
    mishap_query_begin(&query, call->service_state, ARTIFACTS_ACCOUNT_CREDIT);
    mishap_query_bind_text(&query, 1, (mishap_text)MISHAP_TEXT("alice"));
    mishap_query_bind_integer(&query, 2, 1000);
    assert_null(artifacts_run(&query, &done));
    assert_true(done);
    assert_null(artifacts_service.settlement->begin(call)); /* of the next one */
    assert_null(artifacts_service.settlement->end(call, true));
    mishap_call_end(call);
    assert_null(settle());
    assert_int_equal(balance_of("alice"), 100);
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

/* -- events ------------------------------------------------------------------------------------ */

/* -- what an artifact is worth ----------------------------------------------------------------- */

static void a_score_counts_different_words(void **state)
{
    static const struct {
        const char *content, *code;
        int score;
    } cases[] = {
        { "", "", 0 },
        { " .,;\xc3\xa9 ", NULL, 0 },
        { "one", "", 1 },
        { "One one ONE oNe", "one", 1 },
        { "one two", "two three", 3 },
        { "a-b_c.d", NULL, 4 },
        { "on one ones", "o", 4 },
        { "x1 x2 1x", NULL, 3 },
    };
    char many[1000], *to = many;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_text code = { cases[i].code, cases[i].code ? strlen(cases[i].code) : 0 };
        assert_int_equal(artifacts_score(mishap_text_of(cases[i].content), code), cases[i].score);
    }
    for (int i = 0; i < 99; i++)
        to += snprintf(to, (size_t)(many + sizeof many - to), "w%d ", i);
    assert_int_equal(artifacts_score(mishap_text_of(many), mishap_text_of("")), 99);
    assert_int_equal(artifacts_score(mishap_text_of(many), mishap_text_of("more")), 100);
    assert_int_equal(artifacts_score(mishap_text_of(many), mishap_text_of("more and most")), 100);
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

/* -- with memory, which is given back ---------------------------------------------------------- */

static void calls_leave_no_memory_behind(void **state)
{
    static const struct {
        const char *artifact, *method, *args, *caller;
    } rows[] = {
        { "genesis_ledger", "balance", "[\"alice\"]", "alice" },
        { "genesis_ledger", "all_balances", "[]", NULL },
        { "genesis_ledger", "transfer", "[\"alice\",\"bob\",5]", "alice" },
        { "genesis_ledger", "transfer", "[\"alice\",\"bob\",5000]", "alice" },
        { "genesis_ledger", "transfer", "[\"alice\",\"bob\",5]", "bob" },
        { "genesis_ledger", "transfer", "[]", "alice" },
        { "genesis_ledger", "transfer", "[\"alice\",\"bob\",[5]]", "alice" },
        { "genesis_ledger", "transfer", "[\"alice\",\"bob\",5,6]", "alice" },
        { "genesis_ledger", "transfer", "[\"alice\",\"no name\",5]", "alice" },
        { "genesis_ledger", "fly", "[]", "alice" },
        { "genesis_ledger", "spawn_principal", "[]", "alice" },
        { "genesis_store", "create", "[\"a1\",\"note\",\"a red zebra\"]", "alice" },
        { "genesis_store", "create", "[\"a1\",\"note\",\"text\"]", "alice" },
        { "genesis_store", "create", "[\"a2\",\"tool\",\"text\",\"def run(): return 1\"]", "bob" },
        { "genesis_store", "get", "[\"a1\"]", NULL },
        { "genesis_store", "get", "[\"genesis_store\"]", NULL },
        { "genesis_store", "get", "[\"none\"]", NULL },
        { "genesis_store", "list", "[]", NULL },
        { "genesis_store", "list", "[{\"owner\":\"alice\",\"type\":\"note\"}]", NULL },
        { "genesis_store", "list", "[{\"colour\":\"red\"}]", NULL },
        { "genesis_store", "list_by_type", "[\"note\"]", NULL },
        { "genesis_store", "list_by_owner", "[\"alice\"]", NULL },
        { "genesis_store", "search", "[\"red zebra\",\"content\",5]", NULL },
        { "genesis_store", "search", "[\"zebra\",\"colour\"]", NULL },
        { "genesis_store", "count", "[]", NULL },
        { "genesis_store", "update", "[\"a1\",\"a blue okapi\"]", "alice" },
        { "genesis_store", "update", "[\"a1\",\"mine\"]", "bob" },
        { "genesis_mint", "status", "[]", NULL },
        { "genesis_mint", "bid", "[\"a1\",20]", "alice" },
        { "genesis_mint", "bid", "[\"a1\",2000]", "alice" },
        { "genesis_ledger", "balance", "[\"alice\"]", "alice" },
        { "genesis_ledger", "transfer_ownership", "[\"a1\",\"bob\"]", "alice" },
        { "genesis_mint", "check", "[\"a1\"]", "alice" },
        { "genesis_mint", "resolve", "[]", "alice" },
        { "genesis_mint", "resolve", "[]", "system" },
        { "genesis_escrow", "deposit", "[\"a1\",5,\"bob\"]", "alice" },
        { "genesis_escrow", "deposit", "[\"a1\",5]", "alice" },
        { "genesis_escrow", "check", "[\"a1\"]", NULL },
        { "genesis_escrow", "list_active", "[]", NULL },
        { "genesis_escrow", "purchase", "[\"a1\",4]", "bob" },
        { "genesis_escrow", "purchase", "[\"a1\",5]", "carol" },
        { "genesis_escrow", "purchase", "[\"a1\",5]", "bob" },
        { "genesis_escrow", "deposit", "[\"a1\",5]", "bob" },
        { "genesis_escrow", "cancel", "[\"a1\"]", "alice" },
        { "genesis_escrow", "cancel", "[\"a1\"]", "bob" },
        { "genesis_ledger", "transfer_ownership", "[\"a1\",\"alice\"]", "bob" },
        { "genesis_store", "delete", "[\"a1\"]", "alice" },
        { "genesis_store", "delete", "[\"a1\"]", "alice" },
        { "genesis_event_log", "read", "[0,10]", NULL },
        { "a1", "run", "[]", "alice" },
        { "a2", "fly", "[]", "alice" },
    };
    (void)state;
    mishap_app_close();
    mishap_service_use(NULL);
    mishap_use_allocator(&failing_allocator);
    blocks = 0;
    assert_null(mishap_app_open(&app, &setup));
    free(told("genesis_ledger", "balance", "[\"alice\"]", NULL)); /* which opens the store */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int again = 0; again < 2; again++) { /* what is kept for later is kept once */
            long before = blocks;
            free(told(rows[i].artifact, rows[i].method, rows[i].args, rows[i].caller));
            if (again && blocks != before)
                fail_msg("%s %s: %ld blocks", rows[i].method, rows[i].args, blocks - before);
        }
    mishap_app_close();
    mishap_service_use(NULL);
    assert_int_equal(blocks, 0);
    mishap_use_allocator(NULL);
    assert_null(mishap_app_open(&app, &setup));
}

/* -- where calls run --------------------------------------------------------------------------- */

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

/* -- a file of principals ---------------------------------------------------------------------- */

/* A new store, with a file of so many bytes, most of which mean nothing. */
static void open_with_principals(size_t bytes)
{
    static const char words[] = "{\"principals\":{\"zoe\":7}}";
    char path[100];
    strcpy(folder, "/tmp/mishap-artifacts-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/principals.json", folder);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fprintf(file, "%s%*s", words, (int)(bytes - strlen(words)), ""), (int)bytes);
    assert_int_equal(fclose(file), 0);
    snprintf(config, sizeof config, "{\"artifacts\":{\"genesis\":\"%s\"}}", path);
    setup = (mishap_setup){ .data = folder, .config = config };
    assert_null(mishap_app_open(&app, &setup));
}

static void a_file_of_principals_is_as_long_as_may_be_and_not_one_byte_more(void **state)
{
    open_with_principals((1 << 20) + 1);
    expect("genesis_ledger", "balance", "[\"zoe\"]", NULL, "is longer than 1 MB", true);
    assert_int_equal(end(state), 0);
    open_with_principals(1 << 20);
    assert_int_equal(balance_of("zoe"), 7);
    assert_int_equal(end(state), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_ledger_error_format),
        IN_FOLDER(test_escrow_error_format),
        IN_FOLDER(the_seeds_verification_works_from_c),
        IN_FOLDER(arguments_that_the_library_refuses_have_codes_of_the_seed),
        cmocka_unit_test(a_file_of_principals_is_as_long_as_may_be_and_not_one_byte_more),
        IN_FOLDER(the_system_ends_an_auction_and_only_from_c),
        IN_FOLDER(what_fails_in_a_batch_is_undone_alone),
        IN_FOLDER(what_a_crashed_call_has_changed_is_undone_by_the_next),
        IN_FOLDER(what_is_not_settled_never_was),
        cmocka_unit_test(a_score_counts_different_words),
        IN_FOLDER(without_memory_a_call_is_done_whole_or_not_at_all),
        IN_FOLDER(calls_leave_no_memory_behind),
        IN_FOLDER(code_runs_in_other_processes_than_those_that_settle),
    };
    return RUN(tests);
}
