/*
 * The artifacts, called from C: seed 002's verification, methods of the system, calls of a batch
 * and calls that are run again. tests/store/postgres.py runs it with a PostgreSQL.
 */
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifacts/request.h"
#include "mishap/invoke.h"
#include "operation/call.h"
#include "testing.h"
#include "worker/plan/plan.h"

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
    snprintf(config, sizeof config, "{\"artifacts\":{\"keep_events\":5,\"keep_days\":2%s%s%s}}",
             store ? ",\"store\":\"" : "", store ? store : "", store ? "\"" : "");
    setup = (mishap_setup){ .data = folder, .config = config };
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

static long long member_of(const char *who, const char *caller, const char *member)
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

static long long balance_of(const char *who)
{
    return member_of(who, NULL, "balance");
}

/* As its owner sees it; nobody else does. */
static long long held_of(const char *who)
{
    assert_int_equal(member_of(who, NULL, "held"), 0);
    return member_of(who, who, "held");
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

/* -- the store and the escrow ------------------------------------------------------------------ */

/* Does the answer, or the failure, of a method have these words? */
static void expect(const char *artifact, const char *method, const char *args, const char *caller,
                   const char *words, bool has)
{
    char *text = told(artifact, method, args, caller);
    if (!strstr(text, words) == has)
        fail_msg("%s %s: %s", method, args, text);
    free(text);
}

static void a_search_finds_what_is_there_now(void **state)
{
    static const struct {
        const char *args;
        bool red, blue; /* before it is changed, and then */
    } rows[] = {
        { "[\"zebra\"]", true, false },
        { "[\"red zebra\"]", true, false },
        { "[\"okapi\"]", false, true },
        { "[\"blue zebra\"]", false, false },
        { "[\"zebra\",\"content\"]", true, false },
        { "[\"note\"]", true, true },
        { "[\"note\",\"content\"]", false, false },
    };
    (void)state;
    expect("genesis_store", "create", "[\"a1\",\"note\",\"a red zebra\"]", "alice",
           "\"success\":true", true);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect("genesis_store", "search", rows[i].args, NULL, "\"a1\"", rows[i].red);
    expect("genesis_store", "update", "[\"a1\",\"a blue okapi\"]", "alice", "\"success\":true",
           true);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect("genesis_store", "search", rows[i].args, NULL, "\"a1\"", rows[i].blue);
    expect("genesis_store", "delete", "[\"a1\"]", "alice", "\"success\":true", true);
    expect("genesis_store", "search", "[\"okapi\"]", NULL, "\"a1\"", false);
}

static void what_is_not_necessary_counts_if_it_is_given(void **state)
{
    (void)state;
    expect("genesis_store", "create", "[\"a1\",\"note\",\"text\"]", "alice", "\"success\":true",
           true);
    expect("genesis_escrow", "deposit", "[\"a1\",5,\"nobody\"]", "alice", "\"success\":false",
           true);
    expect("genesis_escrow", "deposit", "[\"a1\",5,\"alice\"]", "alice",
           "Nobody can sell to itself", true);
    expect("genesis_escrow", "deposit", "[\"a1\",5]", "alice", "\"success\":true", true);
    expect("genesis_escrow", "purchase", "[\"a1\",4]", "bob", "The price of a1 is 5, not 4.", true);
    expect("genesis_escrow", "purchase", "[\"a1\",5,999]", "bob", "not 999.", true);
    expect("genesis_escrow", "purchase", "[\"a1\",5]", "bob", "\"success\":true", true);
    assert_int_equal(balance_of("bob"), 95);
}

/* Each has its own methods, and nothing of the table beside it. */
static void a_method_that_is_none_is_told_those_that_are(void **state)
{
    static const struct {
        const char *artifact, *methods;
    } rows[] = {
        { "genesis_ledger", "[\"balance\",\"all_balances\",\"transfer\",\"transfer_ownership\","
                            "\"spawn_principal\"]" },
        { "genesis_mint", "[\"status\",\"bid\",\"check\"]" },
        { "genesis_escrow", "[\"deposit\",\"purchase\",\"cancel\",\"check\",\"list_active\"]" },
        { "genesis_store", "[\"list\",\"get\",\"search\",\"list_by_type\",\"list_by_owner\","
                           "\"count\",\"create\",\"update\",\"delete\"]" },
        { "genesis_event_log", "[\"read\"]" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char words[300];
        snprintf(words, sizeof words, "\"methods\":%s", rows[i].methods);
        expect(rows[i].artifact, "fly", "[]", "alice", words, true);
    }
}

static void who_is_spawned_has_nothing_and_can_be_paid(void **state)
{
    char args[200];
    mishap_answered *answered = NULL;
    (void)state;
    assert_null(invoke("genesis_ledger", "spawn_principal", "[]", "alice", &answered));
    assert_int_equal(mishap_integer(answered->json, "balance"), 0);
    const char *id = mishap_string(answered->json, "principal_id");
    assert_int_equal(strncmp(id, "principal_", 10), 0);
    assert_int_equal(balance_of(id), 0);
    snprintf(args, sizeof args, "[\"alice\",\"%s\",7]", id);
    expect("genesis_ledger", "transfer", args, "alice", "\"to_balance\":7", true);
    assert_int_equal(balance_of(id), 7);
    mishap_answered_free(answered);
}

static void what_is_in_an_auction_is_not_given_away_and_its_end_is_told(void **state)
{
    (void)state;
    expect("genesis_store", "create", "[\"a1\",\"note\",\"text\"]", "alice", "\"success\":true",
           true);
    expect("genesis_mint", "bid", "[\"a1\",5]", "alice", "\"success\":true", true);
    expect("genesis_ledger", "transfer_ownership", "[\"a1\",\"bob\"]", "alice",
           "\"error\":\"The artifact a1 is in an auction.\"", true);
    expect("genesis_ledger", "transfer_ownership", "[\"a1\",\"bob\"]", "alice",
           "\"artifact_id\":\"a1\",\"closes_at\":\"20", true);
    expect("genesis_mint", "status", "[]", NULL, "\"minted\":0,", true); /* and nothing yet */
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

/* -- what is kept, and for how long --------------------------------------------------------------
 */

enum { MINUTE = 60000, HOUR = 60 * MINUTE, MB = 1 << 20 };

static mishap_store *the_store(void)
{
    void *state;
    assert_null(mishap_service_open(&app, &artifacts_service, &state));
    return state;
}

/* Pay 1 with a key. What bob has then, as the answer says. */
static long long pay_with_key(const char *key)
{
    char text[300];
    mishap_answered *answered = NULL;
    snprintf(text, sizeof text,
             "{\"artifact\":\"genesis_ledger\",\"method\":\"transfer\",\"args\":[\"alice\","
             "\"bob\",1],\"idempotency_key\":\"%s\"}",
             key);
    assert_null(mishap_invoke(&app, "artifacts.invoke", text,
                              &(mishap_invocation){ .caller = "alice" }, &answered));
    long long there = (long long)mishap_integer(answered->json, "to_balance");
    mishap_answered_free(answered);
    return there;
}

static void an_idempotency_key_is_kept_for_a_day(void **state)
{
    (void)state;
    long long first = pay_with_key("k1");
    assert_int_equal(pay_with_key("k1"), first);
    int64_t now = artifacts_now();
    artifacts_kept_purge(the_store(), now + 24 * (int64_t)HOUR - 5 * MINUTE);
    assert_int_equal(pay_with_key("k1"), first);
    artifacts_kept_purge(the_store(), now + 24 * (int64_t)HOUR + 5 * MINUTE);
    assert_int_equal(pay_with_key("k1"), first + 1);
}

static void the_id_of_a_call_is_kept_for_ten_minutes(void **state)
{
    (void)state;
    char *text = strdup(text_of("genesis_ledger", "transfer", "[\"alice\",\"bob\",1]"));
    long long before = balance_of("alice");
    free(work(text, "alice", "an-id", false, false));
    int64_t now = artifacts_now();
    artifacts_kept_purge(the_store(), now + 9 * MINUTE);
    free(work(text, "alice", "an-id", true, false));
    assert_int_equal(balance_of("alice"), before - 1);
    artifacts_kept_purge(the_store(), now + 11 * MINUTE);
    free(work(text, "alice", "an-id", true, false));
    assert_int_equal(balance_of("alice"), before - 2);
    free(text);
}

/* An answer that says to have this many bytes. */
static void keep(const char *caller, int number, int64_t bytes, int64_t at)
{
    mishap_query query;
    bool added;
    char key[20];
    snprintf(key, sizeof key, "x%d", number);
    mishap_query_begin(&query, the_store(), ARTIFACTS_KEPT_ADD);
    mishap_query_bind_text(&query, 1, mishap_text_of(caller));
    mishap_query_bind_text(&query, 2, mishap_text_of(key));
    mishap_query_bind_text(&query, 3, (mishap_text)MISHAP_TEXT("request"));
    mishap_query_bind_text(&query, 4, (mishap_text)MISHAP_TEXT("{}"));
    mishap_query_bind_integer(&query, 5, at);
    mishap_query_bind_integer(&query, 6, bytes);
    assert_null(artifacts_run(&query, &added));
    assert_true(added);
}

static bool is_kept(const char *caller, int number)
{
    mishap_query query;
    bool found;
    char key[20];
    snprintf(key, sizeof key, "x%d", number);
    mishap_query_begin(&query, the_store(), ARTIFACTS_KEPT_GET);
    mishap_query_bind_text(&query, 1, mishap_text_of(caller));
    mishap_query_bind_text(&query, 2, mishap_text_of(key));
    assert_null(artifacts_run(&query, &found));
    return found;
}

static void what_is_kept_for_a_caller_is_bounded_and_its_oldest_go_first(void **state)
{
    (void)state;
    int64_t now = artifacts_now();
    keep("bob", 0, MB, now - HOUR);
    for (int i = 0; i < 8; i++)
        keep("alice", i, MB, now - HOUR + 1000 * (10 - i)); /* the last one is the oldest */
    artifacts_kept_purge(the_store(), now);
    for (int i = 0; i < 8; i++)
        assert_true(is_kept("alice", i)); /* 8 MB and not more */
    keep("alice", 8, 1, now - HOUR);
    artifacts_kept_purge(the_store(), now);
    for (int i = 0; i < 9; i++)
        assert_int_equal(is_kept("alice", i), i < 6); /* three quarters of it are left */
    assert_true(is_kept("bob", 0));                   /* however old */
}

static void what_is_kept_for_all_is_bounded_and_who_keeps_little_loses_nothing(void **state)
{
    enum { CALLERS = 320 };
    (void)state;
    int64_t now = artifacts_now();
    char name[20];
    int left = 0;
    assert_null(mishap_store_begin(the_store()));
    keep("bob", 0, MB / 2, now - HOUR); /* the oldest */
    for (int i = 0; i < CALLERS; i++) {
        snprintf(name, sizeof name, "c%d", i);
        keep(name, 0, MB / 2, now - HOUR + 1000);
        keep(name, 1, MB / 2, now - HOUR + 2000);
    }
    assert_null(mishap_store_commit(the_store()));
    artifacts_kept_purge(the_store(), now);
    for (int i = 0; i < CALLERS; i++) {
        snprintf(name, sizeof name, "c%d", i);
        left += is_kept(name, 0) + is_kept(name, 1);
        assert_true(is_kept(name, 1));
    }
    assert_int_equal(left, CALLERS); /* half an MB of each: 160 MB, of 256 */
    assert_true(is_kept("bob", 0));
}

/* -- events ------------------------------------------------------------------------------------ */

static int64_t first_event, last_event;

/* How many there are. */
static int count_events(void)
{
    int count = 0;
    mishap_query query;
    first_event = last_event = 0;
    mishap_query_begin(&query, the_store(), ARTIFACTS_EVENT_LIST);
    mishap_query_bind_integer(&query, 1, 0);
    mishap_query_bind_integer(&query, 2, 1000000);
    while (mishap_query_step(&query)) {
        last_event = mishap_query_integer(&query, 0);
        first_event = first_event ? first_event : last_event;
        count++;
    }
    assert_null(mishap_query_end(&query));
    return count;
}

static void add_events(int count, int64_t at)
{
    assert_null(mishap_store_begin(the_store()));
    for (int i = 0; i < count; i++) {
        mishap_query query;
        mishap_query_begin(&query, the_store(), ARTIFACTS_EVENT_ADD);
        mishap_query_bind_integer(&query, 1, at);
        mishap_query_bind_text(&query, 2, (mishap_text)MISHAP_TEXT("alice"));
        mishap_query_bind_text(&query, 3, (mishap_text)MISHAP_TEXT("genesis_ledger"));
        mishap_query_bind_text(&query, 4, (mishap_text)MISHAP_TEXT("transfer"));
        mishap_query_bind_text(&query, 5, (mishap_text)MISHAP_TEXT("{}"));
        assert_null(artifacts_run(&query, NULL));
    }
    assert_null(mishap_store_commit(the_store()));
}

static void events_are_purged_by_number_and_by_time(void **state)
{
    (void)state;
    artifacts_events_purge(the_store(), INT64_MAX, INT64_MAX); /* of the tests before */
    assert_int_equal(count_events(), 0);
    artifacts_events_purge(the_store(), 5, INT64_MAX); /* of none */
    add_events(10, 1000);
    add_events(10, 2000);
    assert_int_equal(count_events(), 20);
    int64_t first = first_event, last = last_event;
    artifacts_events_purge(the_store(), 20, 1000);
    assert_int_equal(count_events(), 20);
    artifacts_events_purge(the_store(), 15, 0);
    assert_int_equal(count_events(), 15);
    assert_int_equal(first_event, first + 5);
    artifacts_events_purge(the_store(), 15, 1001);
    assert_int_equal(count_events(), 10);
    artifacts_events_purge(the_store(), 3, 2000);
    assert_int_equal(count_events(), 3);
    assert_int_equal(last_event, last);
    artifacts_events_purge(the_store(), 15, 2001);
    assert_int_equal(count_events(), 0);
    add_events(1, 1000);
    assert_int_equal(count_events(), 1);
    assert_int_equal(last_event, last + 1); /* a number is never used again */
}

static void many_events_are_purged_some_at_a_time(void **state)
{
    (void)state;
    artifacts_events_purge(the_store(), INT64_MAX, INT64_MAX);
    add_events(20000, 1000);
    artifacts_events_purge(the_store(), 1, 0);
    assert_int_equal(count_events(), 20000 - 16384);
    artifacts_events_purge(the_store(), INT64_MAX, 2000);
    assert_int_equal(count_events(), 0);
}

/* What `cut` of a page is; -1: it has none. */
static int cut_of(int64_t after)
{
    char text[40];
    mishap_answered *answered = NULL;
    snprintf(text, sizeof text, "{\"after\":%lld}", (long long)after);
    assert_null(mishap_invoke(&app, "artifacts.events", text, NULL, &answered));
    int cut = mishap_given(answered->json, "cut") ? mishap_boolean(answered->json, "cut") : -1;
    mishap_answered_free(answered);
    return cut;
}

static void a_reader_of_events_that_came_too_late_is_told_so(void **state)
{
    (void)state;
    add_events(10, 1000);
    assert_int_equal(count_events(), 10);
    assert_int_equal(cut_of(0), -1);
    assert_int_equal(cut_of(first_event), -1);
    artifacts_events_purge(the_store(), 4, 0);
    assert_int_equal(count_events(), 4);
    assert_int_equal(cut_of(0), -1); /* who begins has missed nothing of its own */
    assert_int_equal(cut_of(first_event - 1), true);
    assert_int_equal(cut_of(first_event), -1);
    assert_int_equal(cut_of(last_event), -1);
    artifacts_events_purge(the_store(), 4, INT64_MAX);
    assert_int_equal(cut_of(last_event), true);
}

/* -- when ----------------------------------------------------------------------------------------
 */

/* Calls by themselves lead to it, sooner or later. */
static void purge_after(unsigned count, size_t bytes, const char *key)
{
    (void)the_store(); /* which begins to count */
    artifacts_purge_begin(5, 2);
    while (count--)
        artifacts_purge_note(0);
    artifacts_purge_note(bytes);
    add_events(20, artifacts_now());
    keep("carol", 1, 1, 1000);
    pay_with_key(key);
    assert_true(count_events() <= 6); /* that of the call came first, or last */
    assert_false(is_kept("carol", 1));
}

static void what_is_old_is_removed_after_so_many_calls_or_bytes(void **state)
{
    (void)state;
    purge_after(4096, 0, "k1");
    purge_after(0, MB, "k2");
}

static void events_are_purged_as_the_settings_say(void **state)
{
    (void)state;
    add_events(3, artifacts_now() - 49 * (int64_t)HOUR);
    add_events(3, artifacts_now() - 47 * (int64_t)HOUR);
    artifacts_purge_note(2 * MB);
    pay_with_key("k1");
    assert_int_equal(count_events(), 4); /* those of two days, and the call */
    add_events(20, artifacts_now());
    artifacts_purge_note(2 * MB);
    pay_with_key("k2");
    assert_int_equal(count_events(), 5);
}

/* -- what an artifact is worth -------------------------------------------------------------------
 */

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

/* -- with memory, which is given back -----------------------------------------------------------
 */

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
    an_idempotency_key_is_kept_for_a_day(state);
    the_id_of_a_call_is_kept_for_ten_minutes(state);
    artifacts_kept_purge(the_store(), artifacts_now() + 48 * (int64_t)HOUR);
    what_is_kept_for_a_caller_is_bounded_and_its_oldest_go_first(state);
    artifacts_kept_purge(the_store(), artifacts_now() + 48 * (int64_t)HOUR);
    what_is_kept_for_all_is_bounded_and_who_keeps_little_loses_nothing(state);
    events_are_purged_by_number_and_by_time(state);
    what_is_old_is_removed_after_so_many_calls_or_bytes(state);
    a_search_finds_what_is_there_now(state);
    who_is_spawned_has_nothing_and_can_be_paid(state);
    what_is_in_an_auction_is_not_given_away_and_its_end_is_told(state);
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

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_ledger_error_format),
        IN_FOLDER(test_escrow_error_format),
        IN_FOLDER(the_seeds_verification_works_from_c),
        IN_FOLDER(arguments_that_the_library_refuses_have_codes_of_the_seed),
        IN_FOLDER(a_search_finds_what_is_there_now),
        IN_FOLDER(what_is_not_necessary_counts_if_it_is_given),
        IN_FOLDER(a_method_that_is_none_is_told_those_that_are),
        IN_FOLDER(who_is_spawned_has_nothing_and_can_be_paid),
        IN_FOLDER(what_is_in_an_auction_is_not_given_away_and_its_end_is_told),
        cmocka_unit_test(a_file_of_principals_is_as_long_as_may_be_and_not_one_byte_more),
        IN_FOLDER(the_system_ends_an_auction_and_only_from_c),
        IN_FOLDER(what_fails_in_a_batch_is_undone_alone),
        IN_FOLDER(what_a_crashed_call_has_changed_is_undone_by_the_next),
        IN_FOLDER(what_is_not_settled_never_was),
        IN_FOLDER(a_call_that_is_run_again_pays_nobody_twice),
        IN_FOLDER(an_idempotency_key_is_kept_for_a_day),
        IN_FOLDER(the_id_of_a_call_is_kept_for_ten_minutes),
        IN_FOLDER(what_is_kept_for_a_caller_is_bounded_and_its_oldest_go_first),
        IN_FOLDER(what_is_kept_for_all_is_bounded_and_who_keeps_little_loses_nothing),
        IN_FOLDER(events_are_purged_by_number_and_by_time),
        IN_FOLDER(many_events_are_purged_some_at_a_time),
        IN_FOLDER(a_reader_of_events_that_came_too_late_is_told_so),
        IN_FOLDER(what_is_old_is_removed_after_so_many_calls_or_bytes),
        IN_FOLDER(events_are_purged_as_the_settings_say),
        cmocka_unit_test(a_score_counts_different_words),
        IN_FOLDER(without_memory_a_call_is_done_whole_or_not_at_all),
        IN_FOLDER(calls_leave_no_memory_behind),
        IN_FOLDER(code_runs_in_other_processes_than_those_that_settle),
        IN_FOLDER(on_postgresql_every_call_is_a_transaction_of_its_own),
    };
    return RUN(tests);
}
