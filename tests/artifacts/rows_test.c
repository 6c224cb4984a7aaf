/*
 * The artifacts, called from C: what is in their store, and for how long. Search, auctions, calls
 * that are run again, events; on SQLite, and as far as engines differ on PostgreSQL, with which
 * tests/store/postgres.py runs it.
 */

#include "testing.h"
#include "set_up.h"

/* -- the store and the escrow ------------------------------------------------------------------ */

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
           "A principal cannot sell to itself", true);
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

/* -- batches ----------------------------------------------------------------------------------- */

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

/* -- what is kept, and for how long ------------------------------------------------------------ */

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

/* -- when -------------------------------------------------------------------------------------- */

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

/* -- where calls run --------------------------------------------------------------------------- */

static void on_postgresql_every_call_is_a_transaction_of_its_own(void **state)
{
    (void)state;
    mishap_worker_groups groups;
    const char *address = getenv("STORE_POSTGRESQL");
    if (!address)
        skip();
    mishap_app_close();
    remove_tree(folder);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_search_finds_what_is_there_now),
        IN_FOLDER(what_is_not_necessary_counts_if_it_is_given),
        IN_FOLDER(a_method_that_is_none_is_told_those_that_are),
        IN_FOLDER(who_is_spawned_has_nothing_and_can_be_paid),
        IN_FOLDER(what_is_in_an_auction_is_not_given_away_and_its_end_is_told),
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
        IN_FOLDER(on_postgresql_every_call_is_a_transaction_of_its_own),
    };
    return RUN(tests);
}
