/* Who watches what, in memory that all loops share; and how handlers say what has changed. */
#include "mcp/sessions/watch.h"
#include "mcp/sessions/shared.h"
#include "operation/call.h"
#include "testing.h"
#include "mcp/offers/address.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOUR_MS = 3600 * 1000, KEPT = 512, OF_A_SESSION = 256, OF_ALL = 8192 };

static mishap_mcp_watches *make(void)
{
    mishap_mcp_watches *watches;
    assert_null(mishap_mcp_watches_make(OF_ALL, &watches));
    return watches;
}

/* Does the session watch it now? Its caller is not counted. */
static bool watches(mishap_mcp_watches *w, mishap_mcp_sessions *s, uint64_t session,
                    mishap_text uri)
{
    mishap *m = mishap_mcp_watch_begin(w, s, session, 0, uri);
    mishap_free(m);
    return !m;
}

static void change(mishap_mcp_watches *w, const char *uri)
{
    mishap_mcp_watches_change(w, mishap_text_of(uri));
}

static const char *next_of(mishap_mcp_watches *w, uint64_t session, uint64_t *seen)
{
    static char found[MISHAP_ADDRESS_LIMIT + 1];
    char room[MISHAP_ADDRESS_LIMIT];
    mishap_text uri;
    if (!mishap_mcp_watch_next(w, session, seen, room, &uri))
        return NULL;
    snprintf(found, sizeof found, "%.*s", (int)uri.length, uri.data);
    return found;
}

static void an_address_that_is_too_long_is_not_watched(void **state)
{
    (void)state;
    mishap_mcp_watches *w = make();
    static char longest[MISHAP_ADDRESS_LIMIT + 2];
    uint64_t seen = 0;
    memset(longest, 'x', MISHAP_ADDRESS_LIMIT + 1);
    change(w, longest);
    assert_false(watches(w, NULL, 1, mishap_text_of(longest)));
    longest[MISHAP_ADDRESS_LIMIT] = '\0';
    assert_true(watches(w, NULL, 1, mishap_text_of(longest)));
    change(w, longest);
    assert_string_equal(next_of(w, 1, &seen), longest);
    mishap_mcp_watches_free(w);
}

/* -- sessions ---------------------------------------------------------------------------------- */

static void a_session_hears_of_what_it_watches_once(void **state)
{
    (void)state;
    mishap_mcp_watches *w = make();
    uint64_t one = 0, two = 0, other_stream = 0;
    change(w, "a://1"); /* before any session watches */
    assert_true(watches(w, NULL, 1, T("a://1")));
    assert_true(watches(w, NULL, 1, T("a://2")));
    assert_true(watches(w, NULL, 2, T("a://2")));
    assert_null(next_of(w, 1, &one));
    change(w, "a://2");
    change(w, "a://2");
    change(w, "a://3");
    assert_string_equal(next_of(w, 1, &one), "a://2");
    assert_null(next_of(w, 1, &one));
    assert_string_equal(next_of(w, 2, &two), "a://2");
    assert_null(next_of(w, 2, &two));
    assert_null(next_of(w, 1, &other_stream)); /* it was told */
    change(w, "a://1");
    assert_string_equal(next_of(w, 1, &one), "a://1");
    assert_null(next_of(w, 2, &two));
    mishap_mcp_watches_free(w);
}

static void a_change_waits_until_the_session_asks(void **state)
{
    (void)state;
    mishap_mcp_watches *w = make();
    uint64_t seen = 0;
    char uri[40];
    assert_true(watches(w, NULL, 1, T("a://1")));
    change(w, "a://1");
    assert_true(watches(w, NULL, 1, T("a://1"))); /* again: it is not forgotten */
    for (int i = 0; i < 3 * KEPT; i++) {
        snprintf(uri, sizeof uri, "b://%d", i);
        change(w, uri);
    }
    assert_string_equal(next_of(w, 1, &seen), "a://1");
    assert_null(next_of(w, 1, &seen));
    mishap_mcp_watches_free(w);
}

static void an_address_is_watched_in_any_spelling(void **state)
{
    (void)state;
    mishap_mcp_watches *w = make();
    uint64_t seen = 0;
    assert_true(watches(w, NULL, 1, T("a://todos/%31")));
    assert_true(watches(w, NULL, 1, T("a://todos/1")));
    assert_true(watches(w, NULL, 1, T("a://todos/2")));
    change(w, "a://todos/1");
    assert_string_equal(next_of(w, 1, &seen), "a://todos/%31"); /* each as it was named */
    assert_string_equal(next_of(w, 1, &seen), "a://todos/1");
    assert_null(next_of(w, 1, &seen));
    mishap_mcp_watch_end(w, 1, T("a://todos/1"));
    change(w, "a://%74odos/1");
    assert_string_equal(next_of(w, 1, &seen), "a://todos/%31");
    assert_null(next_of(w, 1, &seen));
    mishap_mcp_watches_free(w);
}

static void addresses_are_the_same_if_only_their_escapes_differ(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        { "", "", true },
        { "a://1", "a://1", true },
        { "a://1", "a://12", false },
        { "a://1", "a://", false },
        { "a://1", "a://%31", true },
        { "a://%61%7E%2d", "a://a~-", true },
        { "a://x%c3%a9", "a://x%C3%A9", true },
        { "a://x%C3%A9", "a://x\303\251", true },
        { "a://x%20y", "a://x y", true },
        { "a://x%2fy", "a://x%2Fy", true },
        { "a://x%2Fy", "a://x/y", false }, /* another part of the address */
        { "a://x%3Fy", "a://x?y", false },
        { "a://x%2531", "a://x%31", false },
        { "a://x%2531", "a://x1", false },
        { "a://x%25", "a://x%", false },
        { "a://x%", "a://x%", true },
        { "a://x%3", "a://x%3", true },
        { "a://x%zz", "a://x%zz", true },
        { "a://A", "a://a", false },
        { "a://x%00", "a://x", false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_text a = mishap_text_of(cases[i].a), b = mishap_text_of(cases[i].b);
        bool same_hash = mishap_mcp_address_hash(a) == mishap_mcp_address_hash(b);
        if (mishap_mcp_same_address(a, b) != cases[i].same ||
            mishap_mcp_same_address(b, a) != cases[i].same || same_hash != cases[i].same)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
}

static void what_is_watched_no_more_is_not_told(void **state)
{
    (void)state;
    mishap_mcp_watches *w = make();
    uint64_t seen = 0;
    for (uint64_t session = 1; session <= 3; session++) {
        assert_true(watches(w, NULL, session, T("a://1")));
        assert_true(watches(w, NULL, session, T("a://2")));
    }
    mishap_mcp_watch_end(w, 1, T("a://1"));
    mishap_mcp_watch_end(w, 1, T("a://7"));
    mishap_mcp_watch_end(w, 2, (mishap_text){ NULL, 0 });
    change(w, "a://1");
    change(w, "a://2");
    assert_string_equal(next_of(w, 1, &seen), "a://2");
    assert_null(next_of(w, 1, &seen));
    seen = 0;
    assert_null(next_of(w, 2, &seen));
    seen = 0;
    assert_non_null(next_of(w, 3, &seen)); /* both, in any order */
    assert_non_null(next_of(w, 3, &seen));
    assert_null(next_of(w, 3, &seen));
    mishap_mcp_watches_free(w);
}

static void a_session_watches_so_many(void **state)
{
    (void)state;
    mishap_mcp_watches *w = make();
    char uri[40];
    for (int i = 0; i < OF_A_SESSION; i++) {
        snprintf(uri, sizeof uri, "a://%d", i);
        assert_true(watches(w, NULL, 1, mishap_text_of(uri)));
    }
    assert_false(watches(w, NULL, 1, T("a://more")));
    assert_true(watches(w, NULL, 1, T("a://7"))); /* which it does already */
    assert_true(watches(w, NULL, 2, T("a://more")));
    mishap_mcp_watch_end(w, 1, T("a://7"));
    assert_true(watches(w, NULL, 1, T("a://more")));
    mishap_mcp_watches_free(w);
}

/* A new session of a caller without a name, counted under a number: its number. */
static uint64_t begin(mishap_mcp_sessions *s, uint64_t holder, char *id)
{
    const mishap_mcp_owner nobody = { 0 };
    mishap_mcp_session session = { 0 };
    assert_null(mishap_mcp_session_reserve(s, nobody, holder, &session, id));
    session.revision = MISHAP_MCP_2025_11_25;
    mishap_mcp_session_begin(s, nobody, &session, id);
    return session.number;
}

/* Those of sessions that are over make room for others; those of others stay. */
static void sessions_that_are_over_make_room(void **state)
{
    (void)state;
    mishap_mcp_sessions *s;
    mishap_mcp_watches *w = make();
    char ids[OF_ALL / OF_A_SESSION][MISHAP_MCP_SESSION_ID + 1], uri[40];
    uint64_t numbers[OF_ALL / OF_A_SESSION], number, seen = 0;
    assert_null(mishap_mcp_sessions_make(4096, HOUR_MS, 2048, &s));
    for (int i = 0; i < OF_ALL / OF_A_SESSION; i++) {
        numbers[i] = begin(s, 0, ids[i]);
        for (int j = 0; j < OF_A_SESSION; j++) {
            snprintf(uri, sizeof uri, "a://%d", j);
            assert_true(watches(w, s, numbers[i], mishap_text_of(uri)));
        }
    }
    assert_false(watches(w, s, 999999, T("a://1")));
    assert_true(
        mishap_mcp_session_end(s, mishap_text_of(ids[3]), (mishap_mcp_owner){ 0 }, &number));
    assert_int_equal(number, numbers[3]);
    assert_true(watches(w, s, 999999, T("a://1")));
    change(w, "a://7");
    assert_string_equal(next_of(w, numbers[4], &seen), "a://7");
    seen = 0;
    assert_null(next_of(w, numbers[3], &seen));
    mishap_mcp_sessions_free(s);
    mishap_mcp_watches_free(w);
}

static uint64_t begin_with_key(mishap_mcp_sessions *s, uint64_t key)
{
    char id[MISHAP_MCP_SESSION_ID + 1];
    const mishap_mcp_owner owner = { "ci", key };
    mishap_mcp_session session = { 0 };
    assert_null(mishap_mcp_session_reserve(s, owner, 0, &session, id));
    session.revision = MISHAP_MCP_2025_11_25;
    mishap_mcp_session_begin(s, owner, &session, id);
    return session.number;
}

/* However many there are. */
static void all_sessions_of_a_key_end_with_it_and_what_they_watch(void **state)
{
    (void)state;
    enum { MANY = 200, OLD = 7, NEW };
    mishap_mcp_sessions *s;
    mishap_mcp_watches *w = make();
    uint64_t numbers[MANY], other, seen;
    assert_null(mishap_mcp_sessions_make(4096, HOUR_MS, 2048, &s));
    for (int i = 0; i < MANY; i++) {
        numbers[i] = begin_with_key(s, OLD);
        assert_true(watches(w, s, numbers[i], T("a://1")));
    }
    other = begin_with_key(s, NEW);
    assert_true(watches(w, s, other, T("a://1")));
    mishap_mcp_watches_revoke(w, s, OLD, NULL);
    change(w, "a://1");
    for (int i = 0; i < MANY; i++) {
        seen = 0;
        assert_false(mishap_mcp_session_lives(s, numbers[i]));
        assert_null(next_of(w, numbers[i], &seen));
    }
    seen = 0;
    assert_true(mishap_mcp_session_lives(s, other));
    assert_string_equal(next_of(w, other, &seen), "a://1");
    mishap_mcp_sessions_free(s);
    mishap_mcp_watches_free(w);
}

/* -- shares ------------------------------------------------------------------------------------ */

enum { ADA = 1, BOB, SHARE = OF_ALL / 4 };

static void assert_refused(mishap_mcp_watches *w, mishap_mcp_sessions *s, uint64_t session,
                           uint64_t holder, const mishap_code *code, const char *message)
{
    mishap *m = mishap_mcp_watch_begin(w, s, session, holder, T("a://more"));
    assert_non_null(m);
    assert_ptr_equal(mishap_told(m)->code, code);
    assert_string_equal(mishap_public_message(mishap_told(m)).data, message);
    assert_true(mishap_told(m)->suggestion.length > 0);
    mishap_free(m);
}

/* A new session of a caller that watches so much. */
static uint64_t watch_much(mishap_mcp_watches *w, mishap_mcp_sessions *s, uint64_t holder,
                           int count)
{
    char id[MISHAP_MCP_SESSION_ID + 1], uri[40];
    uint64_t number = begin(s, holder, id);
    for (int i = 0; i < count; i++) {
        snprintf(uri, sizeof uri, "a://%d", i);
        assert_null(mishap_mcp_watch_begin(w, s, number, holder, mishap_text_of(uri)));
    }
    return number;
}

static void pass_minutes(mishap_mcp_sessions *s, uint64_t number, int64_t minutes)
{
    mishap_mcp_place_find(s, number)->used_ns -= minutes * 60 * INT64_C(1000000000);
}

/* However many sessions it has. */
static void a_caller_watches_its_share_and_others_theirs(void **state)
{
    (void)state;
    mishap_mcp_sessions *s;
    mishap_mcp_watches *w;
    uint64_t number = 0, last = 0;
    assert_null(mishap_mcp_sessions_make(4096, HOUR_MS, 2048, &s));
    assert_null(mishap_mcp_watches_make(SHARE, &w));
    for (int i = 0; i < SHARE / OF_A_SESSION; i++)
        number = watch_much(w, s, ADA, OF_A_SESSION);
    last = watch_much(w, s, ADA, 0);
    static const char told[] =
        "One caller can have at most 2048 subscriptions in all of its sessions.";
    assert_refused(w, s, last, ADA, MISHAP_CODE_RATE_LIMITED, told);
    assert_refused(w, s, number, ADA, MISHAP_CODE_RATE_LIMITED,
                   "One session can have at most 256 subscriptions.");
    watch_much(w, s, BOB, 1);
    mishap_mcp_watch_end(w, number, T("a://7"));
    assert_null(mishap_mcp_watch_begin(w, s, last, ADA, T("a://7")));
    assert_refused(w, s, last, ADA, MISHAP_CODE_RATE_LIMITED, told);
    pass_minutes(s, number, 61); /* a session that is over has none */
    assert_null(mishap_mcp_watch_begin(w, s, last, ADA, T("a://8")));
    mishap_mcp_sessions_free(s);
    mishap_mcp_watches_free(w);
}

/* Where all places are taken, who has the most loses what it does not use. */
static void who_watches_most_makes_room_for_others(void **state)
{
    (void)state;
    mishap_mcp_sessions *s;
    mishap_mcp_watches *w = make();
    uint64_t idle = 0, busy = 0, seen = 0;
    assert_null(mishap_mcp_sessions_make(4096, HOUR_MS, 2048, &s));
    uint64_t bob = watch_much(w, s, BOB, OF_A_SESSION), all[OF_ALL / OF_A_SESSION];
    for (int i = 1; i < OF_ALL / OF_A_SESSION; i++) {
        idle = busy;
        busy = all[i] = watch_much(w, s, ADA, OF_A_SESSION);
    }
    for (int i = 1; i < OF_ALL / OF_A_SESSION; i++) /* to begin them all may have taken minutes */
        mishap_mcp_place_find(s, all[i])->used_ns = mishap_clock_monotonic_ns();
    pass_minutes(s, bob, 30);
    assert_refused(w, s, watch_much(w, s, BOB, 0), BOB, MISHAP_CODE_UNAVAILABLE,
                   "The server has reached its limit of subscriptions.");
    uint64_t other = watch_much(w, s, ADA, 0); /* which makes no room */
    pass_minutes(s, other, 20);
    pass_minutes(s, idle, 2);
    watch_much(w, s, BOB, OF_A_SESSION);
    assert_false(mishap_mcp_session_lives(s, idle));
    assert_true(mishap_mcp_session_lives(s, busy) && mishap_mcp_session_lives(s, bob));
    assert_true(mishap_mcp_session_lives(s, other));
    change(w, "a://7");
    assert_string_equal(next_of(w, bob, &seen), "a://7");
    mishap_mcp_sessions_free(s);
    mishap_mcp_watches_free(w);
}

/* -- processes --------------------------------------------------------------------------------- */

static void what_a_process_says_before_it_dies_is_told(void **state)
{
    (void)state;
    mishap_mcp_watches *w = make();
    uint64_t of_session = 0;
    assert_true(watches(w, NULL, 1, T("a://last")));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        change(w, "a://last");
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    assert_string_equal(next_of(w, 1, &of_session), "a://last");
    mishap_mcp_watches_free(w);
}

static _Noreturn void come_and_go(mishap_mcp_watches *w)
{
    for (;;) {
        change(w, "a://busy");
        watches(w, NULL, 2, T("a://mine"));
        mishap_mcp_watch_end(w, 2, T("a://mine"));
    }
}

static void who_is_killed_holds_up_nobody(void **state)
{
    (void)state;
    mishap_mcp_watches *w = make();
    uint64_t of_session = 0;
    assert_true(watches(w, NULL, 1, T("a://1")));
    for (int round = 0; round < 50; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            come_and_go(w);
        usleep(1000 + 100 * (useconds_t)round);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        change(w, "a://1");
        assert_string_equal(next_of(w, 1, &of_session), "a://1");
        while (next_of(w, 1, &of_session))
            continue;
        mishap_mcp_watch_end(w, 2, (mishap_text){ NULL, 0 });
    }
    mishap_mcp_watches_free(w);
}

/* One process takes the lock and does something halfway. */
static void die_in_the_middle_of(void (*half)(mishap_mcp_watches *), mishap_mcp_watches *w)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pthread_mutex_lock(&w->lock);
        half(w);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void move_the_text_of_the_last(mishap_mcp_watches *w)
{
    memcpy(w->uris[0], w->uris[w->used - 1], w->watches[w->used - 1].length);
}

static void count_one_that_is_not_written(mishap_mcp_watches *w)
{
    w->watches[w->used++].session = 0;
}

/* A session is told only of what it has asked for, even after the death of the process that wrote
 * it down. */
static void a_session_hears_of_its_own_only_even_if_somebody_dies(void **state)
{
    (void)state;
    mishap_mcp_watches *w = make();
    uint64_t one = 0, two = 0, three = 0;
    assert_true(watches(w, NULL, 1, T("a://todos/1")));
    assert_true(watches(w, NULL, 2, T("a://two")));
    assert_true(watches(w, NULL, 3, T("a://secret/of/three")));
    die_in_the_middle_of(move_the_text_of_the_last, w);
    change(w, "a://other");
    assert_null(next_of(w, 1, &one)); /* it was about to be removed */
    assert_string_equal(next_of(w, 2, &two), "a://two");
    assert_null(next_of(w, 2, &two));
    assert_string_equal(next_of(w, 3, &three), "a://secret/of/three");
    assert_null(next_of(w, 3, &three));
    die_in_the_middle_of(count_one_that_is_not_written, w);
    change(w, "a://other");
    assert_int_equal(w->used, 2);
    assert_true(watches(w, NULL, 1, T("a://todos/1")));
    change(w, "a://todos/1");
    assert_string_equal(next_of(w, 1, &one), "a://todos/1");
    mishap_mcp_watches_free(w);
}

static void *say(void *w)
{
    char uri[40];
    for (int i = 0; i < 2000; i++) {
        snprintf(uri, sizeof uri, "a://%d", i % 7);
        change(w, uri);
    }
    return NULL;
}

static void threads_may_say_so_at_once(void **state)
{
    (void)state;
    mishap_mcp_watches *w = make();
    pthread_t threads[4];
    uint64_t seen = 0;
    assert_true(watches(w, NULL, 1, T("a://3")));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, say, w), 0);
    for (int i = 0; i < 1000; i++)
        next_of(w, 1, &seen);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&w->count), 8000);
    mishap_mcp_watches_free(w);
}

/* -- handlers ---------------------------------------------------------------------------------- */

static char heard[MISHAP_ADDRESS_LIMIT + 1];
static int hearings;

static void hear(void *state, mishap_text address)
{
    assert_ptr_equal(state, &hearings);
    snprintf(heard, sizeof heard, "%.*s", (int)address.length, address.data);
    hearings++;
}

static char long_word[MISHAP_ADDRESS_LIMIT + 1];

static mishap *say_what_changed(mishap_call *call)
{
    mishap_changed(call, "todo://%s/%d", "todos", 7);
    return NULL;
}

static mishap *say_too_much(mishap_call *call)
{
    mishap_changed(call, "%s", long_word);
    mishap_changed(call, "x%s", long_word);
    mishap_changed(call, "%s", "");
    return NULL;
}

static mishap *say_and_crash(mishap_call *call)
{
    mishap_changed(call, "todo://todos");
    raise(SIGABRT);
    return NULL;
}

static const mishap_operation operations[] = {
    { .name = "say", .summary = "Say", .run = say_what_changed },
    { .name = "say.much", .summary = "Say", .run = say_too_much },
    { .name = "say.crash", .summary = "Say", .run = say_and_crash },
    { 0 },
};
static const mishap_app app = { .name = "sample", .operations = operations };

static void run(const mishap_operation *operation)
{
    mishap_call *call;
    assert_null(mishap_call_begin(&app, operation, T("{}"), &call));
    assert_null(mishap_call_run(call));
    mishap_call_end(call);
}

static void a_handler_says_what_has_changed(void **state)
{
    (void)state;
    run(&operations[0]); /* to no session, which is no harm */
    assert_int_equal(hearings, 0);
    mishap_changes_heard_by(hear, &hearings);
    run(&operations[0]);
    assert_int_equal(hearings, 1);
    assert_string_equal(heard, "todo://todos/7");
    memset(long_word, 'x', MISHAP_ADDRESS_LIMIT);
    run(&operations[1]);
    assert_int_equal(hearings, 2); /* the longest; a longer one and none are nothing */
    assert_string_equal(heard, long_word);
    mishap_changes_heard_by(NULL, NULL);
    run(&operations[0]);
    assert_int_equal(hearings, 2);
}

static void count_also(void *state, mishap_text address)
{
    (void)address;
    ++*(int *)state;
}

static void several_hear_of_a_change(void **state)
{
    (void)state;
    int first = 0, second = 0;
    mishap_changes_heard_by(count_also, &first);
    mishap_changes_heard_by(count_also, &second);
    run(&operations[0]);
    assert_true(first > 0);
    assert_int_equal(first, second);
    mishap_changes_heard_by(NULL, NULL);
    run(&operations[0]);
    assert_int_equal(first, second);
}

static void hear_and_crash(void *state, mishap_text address)
{
    mishap_mcp_watches *w = state;
    (void)address;
    pthread_mutex_lock(&w->lock);
    raise(SIGABRT);
}

/* Who crashes with the lock must not live on with it. */
static void a_crash_of_who_hears_holds_up_nobody(void **state)
{
    (void)state;
    enum { LIVES_ON = 42 };
    mishap_mcp_watches *w = make();
    uint64_t seen = 0;
    int status;
    assert_true(watches(w, NULL, 1, T("a://2")));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        mishap_call *call;
        mishap_changes_heard_by(hear_and_crash, w);
        mishap_free(mishap_call_begin(&app, &operations[0], T("{}"), &call));
        mishap_free(mishap_call_run(call));
        _exit(LIVES_ON);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == LIVES_ON);
    change(w, "a://1");
    assert_string_equal(next_of(w, 1, &seen), "a://2"); /* it may have changed, too */
    mishap_mcp_watches_free(w);
}

static void a_crash_after_that_is_contained(void **state)
{
    (void)state;
    mishap_call *call;
    mishap_changes_heard_by(hear, &hearings);
    assert_null(mishap_call_begin(&app, &operations[2], T("{}"), &call));
    mishap *failure = mishap_call_run(call);
    assert_non_null(failure);
    assert_true(call->crashed);
    assert_string_equal(heard, "todo://todos");
    mishap_free(failure);
    mishap_call_end(call);
    mishap_changes_heard_by(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_address_that_is_too_long_is_not_watched),
        TEST(a_session_hears_of_what_it_watches_once),
        TEST(a_change_waits_until_the_session_asks),
        TEST(what_is_watched_no_more_is_not_told),
        TEST(an_address_is_watched_in_any_spelling),
        TEST(addresses_are_the_same_if_only_their_escapes_differ),
        TEST(a_session_watches_so_many),
        TEST(sessions_that_are_over_make_room),
        TEST(all_sessions_of_a_key_end_with_it_and_what_they_watch),
        TEST(a_caller_watches_its_share_and_others_theirs),
        TEST(who_watches_most_makes_room_for_others),
        TEST(what_a_process_says_before_it_dies_is_told),
        TEST(who_is_killed_holds_up_nobody),
        TEST(a_session_hears_of_its_own_only_even_if_somebody_dies),
        TEST(threads_may_say_so_at_once),
        TEST(a_handler_says_what_has_changed),
        TEST(several_hear_of_a_change),
        TEST(a_crash_of_who_hears_holds_up_nobody),
        TEST(a_crash_after_that_is_contained),
    };
    return RUN(tests);
}
