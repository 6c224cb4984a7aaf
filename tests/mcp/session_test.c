/* Sessions that all workers share: the table, the calls that run, and the events. */
#include "mcp/sessions/shared.h"
#include "operation/contain.h"
#include "testing.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOUR_MS = 3600 * 1000, MOST = 2048, OF_A_CALLER = 512, RUNNING = 64, TAKEN = 16 };

static mishap_mcp_sessions *make(size_t event_bytes, int64_t idle_ms)
{
    mishap_mcp_sessions *sessions;
    assert_null(mishap_mcp_sessions_make(event_bytes, idle_ms, OF_A_CALLER, &sessions));
    return sessions;
}

/* The caller of this name, with the first key that it had. */
static mishap_mcp_owner owner(const char *name)
{
    uint64_t key = 0;
    for (const char *at = name; at && *at; at++)
        key = key * 31 + (unsigned char)*at;
    return (mishap_mcp_owner){ name, key };
}

/* Of this revision, counted under a number; 0: not at all. */
static mishap *try_revision(mishap_mcp_sessions *sessions, mishap_mcp_owner who, uint64_t holder,
                            mishap_mcp_revision revision, char *id)
{
    mishap_mcp_session session = { 0 };
    mishap *failure = mishap_mcp_session_reserve(sessions, who, holder, &session, id);
    session.revision = revision;
    session.level = MISHAP_INFO;
    if (!failure)
        mishap_mcp_session_begin(sessions, who, &session, id);
    return failure;
}

static mishap *try(mishap_mcp_sessions *sessions, const char *caller, uint64_t holder, char *id)
{
    return try_revision(sessions, owner(caller), holder, MISHAP_MCP_2025_11_25, id);
}

static void begin(mishap_mcp_sessions *sessions, const char *caller, char *id)
{
    assert_null(try(sessions, caller, 0, id));
}

/* The number of a session; 0: there is none. */
static uint64_t find(mishap_mcp_sessions *sessions, const char *id, const char *caller)
{
    mishap_mcp_session session;
    return mishap_mcp_session_find(sessions, mishap_text_of(id), owner(caller), &session)
               ? session.number
               : 0;
}

static bool end(mishap_mcp_sessions *sessions, const char *id, mishap_mcp_owner who)
{
    uint64_t number;
    return mishap_mcp_session_end(sessions, mishap_text_of(id), who, &number);
}

/* A session, and its number. */
static uint64_t begin_one(mishap_mcp_sessions *sessions)
{
    char id[MISHAP_MCP_SESSION_ID + 1];
    begin(sessions, NULL, id);
    return find(sessions, id, NULL);
}

static void initialize(mishap_mcp_sessions *sessions, const char *id, const char *caller)
{
    mishap_mcp_session session;
    assert_true(mishap_mcp_session_find(sessions, mishap_text_of(id), owner(caller), &session));
    session.initialized = true;
    mishap_mcp_session_keep(sessions, &session);
}

/* -- the table --------------------------------------------------------------------------------- */

static void a_session_is_found_by_its_caller_alone(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char ada[MISHAP_MCP_SESSION_ID + 1], nobody[MISHAP_MCP_SESSION_ID + 1];
    begin(s, "ada", ada);
    begin(s, NULL, nobody);
    assert_int_equal(strlen(ada), MISHAP_MCP_SESSION_ID);
    assert_string_not_equal(ada, nobody);
    assert_true(find(s, ada, "ada") && find(s, nobody, NULL));
    assert_false(find(s, ada, NULL) || find(s, ada, "bob") || find(s, ada, "adam") ||
                 find(s, nobody, "ada"));
    assert_false(find(s, "", "ada") || find(s, "x", "ada"));
    assert_false(end(s, ada, owner("bob")));
    assert_true(end(s, ada, owner("ada")));
    assert_false(find(s, ada, "ada"));
    mishap_mcp_sessions_free(s);
}

static void what_changes_is_kept(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char id[MISHAP_MCP_SESSION_ID + 1];
    mishap_mcp_session session;
    begin(s, NULL, id);
    assert_true(mishap_mcp_session_find(s, mishap_text_of(id), owner(NULL), &session));
    assert_false(session.initialized);
    session.initialized = true;
    session.level = MISHAP_ALERT;
    mishap_mcp_session_keep(s, &session);
    assert_true(mishap_mcp_session_find(s, mishap_text_of(id), owner(NULL), &session));
    assert_true(session.initialized && session.level == MISHAP_ALERT);
    assert_int_equal(session.revision, MISHAP_MCP_2025_11_25);
    mishap_mcp_sessions_free(s);
}

/* All of them are found, by id and by number, whichever others have gone. */
static void many_come_and_go(void **state)
{
    (void)state;
    static char ids[MOST][MISHAP_MCP_SESSION_ID + 1];
    static uint64_t numbers[MOST];
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MOST; i++) {
            if (numbers[i])
                continue;
            begin(s, NULL, ids[i]);
            numbers[i] = find(s, ids[i], NULL);
        }
        for (int i = 0; i < MOST; i++) {
            assert_int_equal(find(s, ids[i], NULL), numbers[i]);
            assert_true(mishap_mcp_session_lives(s, numbers[i]));
        }
        for (int i = round; i < MOST; i += 2 + round) {
            assert_true(end(s, ids[i], owner(NULL)));
            assert_false(mishap_mcp_session_lives(s, numbers[i]));
            numbers[i] = 0;
        }
        for (int i = 0; i < MOST; i++)
            assert_int_equal(numbers[i] ? find(s, ids[i], NULL) : 0, numbers[i]);
    }
    mishap_mcp_sessions_free(s);
}

static void an_id_is_random_in_every_character(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    bool seen[MISHAP_MCP_SESSION_ID][128] = { 0 };
    char id[MISHAP_MCP_SESSION_ID + 1];
    for (int i = 0; i < 2000; i++) {
        begin(s, NULL, id);
        for (int at = 0; at < MISHAP_MCP_SESSION_ID; at++)
            seen[at][(unsigned char)id[at]] = true;
    }
    for (int at = 0; at < MISHAP_MCP_SESSION_ID; at++) {
        int letters = 0;
        for (int c = 0; c < 128; c++)
            letters += seen[at][c];
        assert_int_equal(letters, 64); /* all but for sure, and no others */
    }
    mishap_mcp_sessions_free(s);
}

/* So much time passes in which nobody uses it. */
static void pass_minutes(mishap_mcp_sessions *s, uint64_t number, int64_t minutes)
{
    mishap_mcp_place_find(s, number)->used_ns -= minutes * 60 * INT64_C(1000000000);
}

/* -- shares ------------------------------------------------------------------------------------ */

enum { ADA = 1, BOB, CAT, DAN, EVE };

static bool begins(mishap_mcp_sessions *s, uint64_t holder, char *id)
{
    mishap *m = try(s, NULL, holder, id);
    mishap_free(m);
    return !m;
}

static void assert_refusal(mishap *m, const mishap_code *code, const char *words)
{
    assert_non_null(m);
    const mishap_public *told = mishap_told(m);
    assert_ptr_equal(told->code, code);
    assert_non_null(strstr(mishap_public_message(told).data, words));
    assert_in_range(told->retry_after_ms, 1, 60000);
    mishap_free(m);
}

/* What a caller is told that cannot have another one. */
static void assert_refused(mishap_mcp_sessions *s, uint64_t holder, const mishap_code *code,
                           const char *words)
{
    char id[MISHAP_MCP_SESSION_ID + 1];
    assert_refusal(try(s, NULL, holder, id), code, words);
}

static void a_caller_has_its_share_and_others_have_theirs(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char first[MISHAP_MCP_SESSION_ID + 1], id[MISHAP_MCP_SESSION_ID + 1];
    assert_true(begins(s, ADA, first));
    for (int i = 1; i < OF_A_CALLER; i++)
        assert_true(begins(s, ADA, id));
    assert_refused(s, ADA, MISHAP_CODE_RATE_LIMITED, "512 sessions");
    assert_true(begins(s, BOB, id));
    assert_true(find(s, first, NULL) && find(s, id, NULL));
    assert_true(end(s, first, owner(NULL)));
    assert_true(begins(s, ADA, id)); /* in its place */
    assert_refused(s, ADA, MISHAP_CODE_RATE_LIMITED, "512 sessions");
    mishap_mcp_sessions_free(s);
}

/* A client that dies, and begins anew, is not kept out by what it left. */
static void one_that_a_caller_does_not_use_makes_room_for_its_next(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    static char ids[OF_A_CALLER][MISHAP_MCP_SESSION_ID + 1];
    char bob[MISHAP_MCP_SESSION_ID + 1], id[MISHAP_MCP_SESSION_ID + 1];
    assert_true(begins(s, BOB, bob));
    for (int i = 0; i < OF_A_CALLER; i++)
        assert_true(begins(s, ADA, ids[i]));
    pass_minutes(s, find(s, bob, NULL), 5);
    pass_minutes(s, find(s, ids[7], NULL), 2);
    pass_minutes(s, find(s, ids[8], NULL), 1);
    assert_true(begins(s, ADA, id));
    assert_false(find(s, ids[7], NULL));
    assert_true(begins(s, ADA, id));
    assert_refused(s, ADA, MISHAP_CODE_RATE_LIMITED, "sessions");
    assert_true(find(s, bob, NULL) && find(s, ids[6], NULL));
    mishap_mcp_sessions_free(s);
}

/* Where all places are taken, who has the most makes room, and nobody else. */
static void who_has_most_makes_room_for_others(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    static char ids[MOST][MISHAP_MCP_SESSION_ID + 1];
    char eve[MISHAP_MCP_SESSION_ID + 1];
    int count = 0;
    for (uint64_t caller = ADA; caller <= DAN; caller++)
        for (int i = 0; i < OF_A_CALLER - (caller != CAT); i++)
            assert_true(begins(s, caller, ids[count++]));
    for (int i = 0; i < 3; i++)
        assert_true(begins(s, EVE, ids[count++]));
    assert_int_equal(count, MOST);
    initialize(s, ids[0], NULL);
    pass_minutes(s, find(s, ids[0], NULL), 50); /* Ada's, and the oldest of all */
    int first = 2 * (OF_A_CALLER - 1);          /* Cat's */
    initialize(s, ids[first], NULL);
    assert_true(begins(s, EVE, eve));
    assert_true(find(s, ids[0], NULL) && find(s, ids[first], NULL) && find(s, eve, NULL));
    assert_false(find(s, ids[first + 1], NULL)); /* which was never initialized */
    mishap_mcp_sessions_free(s);
}

/* If nobody has more than others, what is in use stays. */
static void what_is_in_use_does_not_end_for_an_equal(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    static char ids[MOST][MISHAP_MCP_SESSION_ID + 1];
    char id[MISHAP_MCP_SESSION_ID + 1];
    for (int i = 0; i < MOST; i++)
        assert_true(begins(s, (uint64_t)i + 1, ids[i])); /* one each */
    assert_refused(s, MOST + 1, MISHAP_CODE_UNAVAILABLE, "limit of sessions");
    pass_minutes(s, find(s, ids[5], NULL), 1);
    assert_true(begins(s, MOST + 1, id));
    assert_false(find(s, ids[5], NULL));
    assert_refused(s, MOST + 1, MISHAP_CODE_UNAVAILABLE, "limit of sessions");
    mishap_mcp_sessions_free(s);
}

/* Nobody keeps count but the table: who dies in the middle of it takes nothing along. */
static void counts_are_right_after_a_death(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char id[MISHAP_MCP_SESSION_ID + 1];
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (int i = 0; i < OF_A_CALLER - 1; i++)
            mishap_free(try(s, NULL, ADA, id));
        pthread_mutex_lock(&s->lock);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(begins(s, ADA, id));
    assert_refused(s, ADA, MISHAP_CODE_RATE_LIMITED, "sessions");
    assert_true(begins(s, BOB, id));
    mishap_mcp_sessions_free(s);
}

/* -- places that are reserved ------------------------------------------------------------------ */

static mishap *reserve(mishap_mcp_sessions *s, uint64_t holder, mishap_mcp_session *session,
                       char *id)
{
    *session = (mishap_mcp_session){ 0 };
    return mishap_mcp_session_reserve(s, owner("ada"), holder, session, id);
}

/* It is counted from the start, and there for nobody until it has begun. */
static void a_reserved_place_is_no_session_yet(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    mishap_mcp_session session, seen;
    char id[MISHAP_MCP_SESSION_ID + 1], part[MISHAP_MCP_SESSION_ID + 1];
    assert_null(reserve(s, ADA, &session, id));
    assert_int_equal(s->count, 1);
    memcpy(part, id, sizeof part);
    assert_false(mishap_mcp_session_find(s, (mishap_text){ id, MISHAP_MCP_SESSION_ID },
                                         owner("ada"), &seen));
    assert_true(strlen(part) < MISHAP_MCP_SESSION_ID && !find(s, part, "ada"));
    session.revision = MISHAP_MCP_2025_06_18;
    mishap_mcp_session_begin(s, owner("ada"), &session, id);
    assert_int_equal(strncmp(id, part, strlen(part)), 0);
    assert_int_equal(strlen(id), MISHAP_MCP_SESSION_ID);
    assert_int_equal(find(s, id, "ada"), session.number);
    assert_int_equal(s->count, 1);
    mishap_mcp_sessions_free(s);
}

/* One that does not begin is given back, and is not among those that were ended. */
static void a_reserved_place_is_given_back(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    mishap_mcp_session session;
    char id[MISHAP_MCP_SESSION_ID + 1];
    for (int i = 0; i < 2 * OF_A_CALLER; i++) {
        assert_null(reserve(s, ADA, &session, id));
        mishap_mcp_session_drop(s, session.number);
    }
    assert_int_equal(s->count, 0);
    assert_int_equal(s->ended_count, 0);
    mishap_mcp_sessions_free(s);
}

/* Its loop is about to answer with it. */
static void a_reserved_place_makes_room_for_nobody(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    mishap_mcp_session session;
    char id[MISHAP_MCP_SESSION_ID + 1];
    assert_null(reserve(s, ADA, &session, id));
    pass_minutes(s, session.number, 2);
    for (int i = 1; i < OF_A_CALLER; i++)
        assert_true(begins(s, ADA, id));
    assert_refused(s, ADA, MISHAP_CODE_RATE_LIMITED, "sessions");
    for (uint64_t caller = BOB; caller <= DAN; caller++) /* Ada has the most */
        for (int i = 0; i < OF_A_CALLER - (caller == DAN); i++)
            assert_true(begins(s, caller, id));
    for (int i = 0; i < 5; i++)
        assert_true(begins(s, EVE, id));
    assert_int_equal(s->count, MOST);
    assert_true(mishap_mcp_session_lives(s, session.number));
    mishap_mcp_sessions_free(s);

    s = make(4096, HOUR_MS);
    s->of_one = 1; /* the only one that could go */
    assert_null(reserve(s, ADA, &session, id));
    pass_minutes(s, session.number, 2);
    assert_refused(s, ADA, MISHAP_CODE_RATE_LIMITED, "sessions");
    mishap_mcp_sessions_free(s);
}

static void a_reserved_place_goes_with_its_process(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    mishap_mcp_session session;
    char id[MISHAP_MCP_SESSION_ID + 1];
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (int i = 0; i < OF_A_CALLER; i++)
            mishap_free(reserve(s, ADA, &session, id));
        _exit(s->count == OF_A_CALLER ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(s->count, OF_A_CALLER);
    for (int i = 0; i < OF_A_CALLER; i++)
        assert_true(begins(s, ADA, id));
    assert_refused(s, ADA, MISHAP_CODE_RATE_LIMITED, "sessions");
    assert_int_equal(s->count, OF_A_CALLER);
    mishap_mcp_sessions_free(s);
}

static void one_that_is_not_used_is_over(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char first[MISHAP_MCP_SESSION_ID + 1], id[MISHAP_MCP_SESSION_ID + 1];
    begin(s, NULL, first);
    uint64_t number = find(s, first, NULL);
    pass_minutes(s, number, 40);
    assert_true(mishap_mcp_session_lives(s, number));
    pass_minutes(s, number, 40);
    assert_false(mishap_mcp_session_lives(s, number));
    assert_false(find(s, first, NULL));
    begin(s, NULL, id);
    number = find(s, id, NULL);
    assert_true(mishap_mcp_call_begin(s, number, 1, T("1")));
    for (int i = 0; i < 8; i++) { /* while a call runs it is used */
        pass_minutes(s, number, 40);
        assert_false(mishap_mcp_call_cancelled(s, number, 1, T("1")));
    }
    assert_true(find(s, id, NULL));
    mishap_mcp_sessions_free(s);
}

static void the_latest_stream_stands(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char id[MISHAP_MCP_SESSION_ID + 1];
    begin(s, NULL, id);
    uint64_t number = find(s, id, NULL), first = mishap_mcp_session_stand(s, number);
    assert_true(mishap_mcp_session_stands(s, number, first));
    uint64_t second = mishap_mcp_session_stand(s, number);
    assert_false(mishap_mcp_session_stands(s, number, first));
    assert_true(mishap_mcp_session_stands(s, number, second));
    end(s, id, owner(NULL));
    assert_false(mishap_mcp_session_stands(s, number, second));
    mishap_mcp_sessions_free(s);
}

/* -- calls that run ---------------------------------------------------------------------------- */

static void an_id_runs_once(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    uint64_t one = begin_one(s), other = begin_one(s);
    assert_false(mishap_mcp_call_runs(s, one, T("1")));
    assert_true(mishap_mcp_call_begin(s, one, 10, T("1")));
    assert_true(mishap_mcp_call_runs(s, one, T("1")));
    assert_false(mishap_mcp_call_begin(s, one, 11, T("1")));
    assert_true(mishap_mcp_call_begin(s, one, 10, T("\"1\"")));
    assert_true(mishap_mcp_call_begin(s, other, 12, T("1")));
    mishap_mcp_calls_end(s, one, 11);
    assert_true(mishap_mcp_call_runs(s, one, T("1")));
    mishap_mcp_calls_end(s, one, 10);
    assert_false(mishap_mcp_call_runs(s, one, T("1")) || mishap_mcp_call_runs(s, one, T("\"1\"")));
    assert_true(mishap_mcp_call_runs(s, other, T("1")));
    assert_false(mishap_mcp_call_begin(s, 999, 13, T("1"))); /* there is no such session */
    mishap_mcp_sessions_free(s);
}

static void a_session_runs_so_many(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    uint64_t one = begin_one(s), other = begin_one(s);
    char id[20];
    pid_t child = fork();
    if (child == 0) {
        mishap_mcp_call_begin(s, one, 7, T("\"child\""));
        _exit(0);
    }
    waitpid(child, NULL, 0);
    for (int i = 0; i < RUNNING; i++) {
        snprintf(id, sizeof id, "%d", i);
        assert_true(mishap_mcp_call_begin(s, one, 100 + (uint64_t)i, mishap_text_of(id)));
    }
    assert_false(mishap_mcp_call_runs(s, one, T("\"child\""))); /* its process is gone */
    assert_false(mishap_mcp_call_begin(s, one, 1, T("\"more\"")));
    assert_true(mishap_mcp_call_begin(s, other, 1, T("\"more\"")));
    mishap_mcp_calls_end(s, one, 105);
    assert_true(mishap_mcp_call_begin(s, one, 1, T("\"more\"")));
    mishap_mcp_sessions_free(s);
}

/* The process that ran it is gone, and its id is another's by now: here, of this process. */
static void a_call_has_ended_when_its_process_id_was_given_again(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    uint64_t one = begin_one(s);
    const mishap_life earlier = mishap_life_of(getpid(), 1);
    assert_true(mishap_mcp_call_begin(s, one, 7, T("1")));
    assert_true(mishap_mcp_call_runs(s, one, T("1")));
    struct mishap_mcp_place *place = mishap_mcp_place_find(s, one);
    assert_true(place->running[0].loop == mishap_life_self());
    place->running[0].loop = earlier;
    assert_false(mishap_mcp_call_runs(s, one, T("1")));
    for (uint64_t i = 0; i < TAKEN; i++)
        assert_true(mishap_mcp_stream_take_over(s, one, 100 + i));
    assert_false(mishap_mcp_stream_take_over(s, one, 99)); /* somebody waits for each of them */
    place->taken[3].loop = earlier;
    assert_true(mishap_mcp_stream_take_over(s, one, 99));
    mishap_mcp_sessions_free(s);
}

static void cancelling_is_seen_by_the_right_call(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    uint64_t one = begin_one(s), other = begin_one(s);
    char longest[MISHAP_MCP_ID_LIMIT], id[20];
    memset(longest, 'x', sizeof longest);
    mishap_text whole = { longest, sizeof longest }, part = { longest, sizeof longest - 1 };
    assert_true(mishap_mcp_call_begin(s, one, 1, T("1")));
    assert_true(mishap_mcp_call_begin(s, one, 2, whole));
    assert_true(mishap_mcp_call_begin(s, other, 3, T("1")));
    for (int i = 0; i < 1000; i++) { /* of others, and of what does not run */
        snprintf(id, sizeof id, "%d", i + 2);
        mishap_mcp_call_cancel(s, other, mishap_text_of(id));
        mishap_mcp_call_cancel(s, one, mishap_text_of(id));
    }
    mishap_mcp_call_cancel(s, one, T("\"1\""));
    mishap_mcp_call_cancel(s, one, part);
    assert_false(mishap_mcp_call_cancelled(s, one, 1, T("1")));
    assert_false(mishap_mcp_call_cancelled(s, one, 2, whole));
    mishap_mcp_call_cancel(s, one, T("1"));
    assert_true(mishap_mcp_call_cancelled(s, one, 1, T("1")));
    assert_false(mishap_mcp_call_cancelled(s, one, 2, whole));
    assert_false(mishap_mcp_call_cancelled(s, other, 3, T("1")));
    mishap_mcp_call_cancel(s, one, whole);
    assert_true(mishap_mcp_call_cancelled(s, one, 2, whole));
    mishap_mcp_calls_end(s, one, 1);
    assert_true(mishap_mcp_call_begin(s, one, 4, T("1"))); /* another of this id is another */
    assert_false(mishap_mcp_call_cancelled(s, one, 4, T("1")));
    mishap_mcp_sessions_free(s);
}

static void calls_are_cancelled_with_their_session(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char id[MISHAP_MCP_SESSION_ID + 1];
    begin(s, NULL, id);
    uint64_t number = find(s, id, NULL);
    assert_true(mishap_mcp_call_begin(s, number, 1, T("1")));
    assert_false(mishap_mcp_call_cancelled(s, number, 1, T("1")));
    end(s, id, owner(NULL));
    assert_true(mishap_mcp_call_cancelled(s, number, 1, T("1")));
    mishap_mcp_calls_end(s, number, 1);
    mishap_mcp_sessions_free(s);
}

/* -- telling other workers --------------------------------------------------------------------- */

static void a_change_is_seen_by_each(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    uint64_t one = 0, other = 0;
    assert_false(mishap_mcp_sessions_changed(s, MISHAP_MCP_TOOLS_CHANGED, &one));
    mishap_mcp_sessions_change(s, MISHAP_MCP_TOOLS_CHANGED);
    mishap_mcp_sessions_change(s, MISHAP_MCP_TOOLS_CHANGED);
    assert_true(mishap_mcp_sessions_changed(s, MISHAP_MCP_TOOLS_CHANGED, &one));
    assert_false(mishap_mcp_sessions_changed(s, MISHAP_MCP_TOOLS_CHANGED, &one));
    assert_true(mishap_mcp_sessions_changed(s, MISHAP_MCP_TOOLS_CHANGED, &other));
    mishap_mcp_sessions_free(s);
}

/* Whichever stream it has: not twice, nothing is lost between two, and not what was before it. */
static void a_session_is_told_of_a_change_once(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char id[MISHAP_MCP_SESSION_ID + 1];
    bool lists[MISHAP_MCP_LISTS] = { false };
    mishap_mcp_sessions_change(s, MISHAP_MCP_TOOLS_CHANGED);
    begin(s, NULL, id);
    uint64_t number = find(s, id, NULL), first = mishap_mcp_session_stand(s, number);
    assert_false(mishap_mcp_session_untold(s, number, first, lists));
    mishap_mcp_sessions_change(s, MISHAP_MCP_PROMPTS_CHANGED);
    uint64_t second = mishap_mcp_session_stand(s, number);
    assert_false(mishap_mcp_session_untold(s, number, first, lists));
    assert_true(mishap_mcp_session_untold(s, number, second, lists));
    assert_true(lists[MISHAP_MCP_PROMPTS_CHANGED] && !lists[MISHAP_MCP_TOOLS_CHANGED]);
    assert_false(mishap_mcp_session_untold(s, number, second, lists));
    end(s, id, owner(NULL));
    assert_false(mishap_mcp_session_untold(s, number, second, lists));
    mishap_mcp_sessions_free(s);
}

/* -- events ------------------------------------------------------------------------------------ */

/* What is behind a place: the event, and of a stream that cannot go on the id of its call. */
static mishap_mcp_next behind(mishap_mcp_sessions *s, uint64_t session, uint64_t stream,
                              uint64_t place, const char *expected, bool expected_last)
{
    static char text[4096];
    bool last = false;
    mishap_buffer data = { 0 };
    mishap_mcp_next next = mishap_mcp_event_next(s, session, stream, place, &data, &last);
    snprintf(text, sizeof text, "%.*s", (int)data.length, data.data ? data.data : "");
    assert_string_equal(text, expected);
    assert_int_equal(last, expected_last);
    mishap_buffer_release(&data);
    return next;
}

static void events_come_in_their_order_and_of_one_stream(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    uint64_t one = begin_one(s), other = begin_one(s);
    uint64_t a = mishap_mcp_stream_begin(s), b = mishap_mcp_stream_begin(s);
    assert_int_not_equal(a, b);
    mishap_mcp_stream_will(s, one, a, T("1"));
    mishap_mcp_stream_will(s, one, b, T("2"));
    assert_true(mishap_mcp_event_add(s, one, a, 1, T(""), false));
    assert_true(mishap_mcp_event_add(s, one, b, 1, T("b1"), false));
    assert_true(mishap_mcp_event_add(s, one, a, 2, T("a2"), true));
    assert_true(mishap_mcp_event_add(s, other, a, 3, T("another session's"), false));
    assert_int_equal(behind(s, one, a, 0, "", false), MISHAP_MCP_EVENT);
    assert_int_equal(behind(s, one, a, 1, "a2", true), MISHAP_MCP_EVENT);
    assert_int_equal(behind(s, one, a, 2, "", false), MISHAP_MCP_STREAM_OVER);
    assert_int_equal(behind(s, one, b, 1, "", false), MISHAP_MCP_NOTHING_YET);
    assert_true(mishap_mcp_event_known(s, one, a, 2));
    assert_false(mishap_mcp_event_known(s, one, a, 3) || mishap_mcp_event_known(s, 3, a, 2) ||
                 mishap_mcp_event_known(s, one, a, 0));
    assert_false(mishap_mcp_event_add(s, 999, a, 1, T("of no session"), false));
    mishap_mcp_sessions_free(s);
}

static void a_stream_is_lost_when_its_process_is_gone(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    uint64_t one = begin_one(s);
    int ready[2], end[2];
    char byte;
    assert_int_equal(pipe(ready) | pipe(end), 0);
    pid_t child = fork();
    if (child == 0) {
        close(end[1]);
        mishap_mcp_stream_will(s, one, 7, T("\"unfinished\""));
        mishap_mcp_event_add(s, one, 7, 1, T("first"), false);
        mishap_mcp_stream_will(s, one, 8, T("8"));
        mishap_mcp_event_add(s, one, 8, 1, T("all"), true);
        _exit(write(ready[1], "", 1) != 1 || read(end[0], &byte, 1) != 0);
    }
    close(end[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(behind(s, one, 7, 0, "first", false), MISHAP_MCP_EVENT);
    assert_int_equal(behind(s, one, 7, 1, "", false), MISHAP_MCP_NOTHING_YET); /* it lives */
    close(end[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(behind(s, one, 7, 0, "first", false), MISHAP_MCP_EVENT);
    assert_int_equal(behind(s, one, 7, 1, "\"unfinished\"", false), MISHAP_MCP_STREAM_LOST);
    assert_int_equal(behind(s, one, 8, 0, "all", true), MISHAP_MCP_EVENT);
    assert_int_equal(behind(s, one, 8, 1, "", false), MISHAP_MCP_STREAM_OVER);
    close(ready[0]), close(ready[1]);
    mishap_mcp_sessions_free(s);
}

/* There is little room, so it is used again and again; what is there is never mixed up. */
static void old_events_are_dropped(void **state)
{
    (void)state;
    char data[600];
    mishap_mcp_sessions *s = make(8 * 4096, HOUR_MS); /* 4096 bytes each */
    uint64_t one = begin_one(s);
    unsigned seed = 5;
    mishap_mcp_stream_will(s, one, 9, T("\"nine\""));
    for (uint64_t place = 1; place <= 5000; place++) {
        size_t length = (seed = seed * 1103515245 + 12345) >> 8 & 511;
        memset(data, 'a' + (int)(place % 26), sizeof data);
        data[length] = '\0';
        mishap_text text = { data, length };
        assert_true(mishap_mcp_event_add(s, one, 9, place, text, false));
        assert_int_equal(behind(s, one, 9, place - 1, data, false), MISHAP_MCP_EVENT);
        if (place > 100) { /* the id of its call is known to the end */
            assert_int_equal(behind(s, one, 9, place - 99, "\"nine\"", false),
                             MISHAP_MCP_STREAM_DROPPED);
            assert_false(mishap_mcp_event_known(s, one, 9, place - 99));
        }
    }
    assert_int_equal(behind(s, one, 9, 5000, "", false), MISHAP_MCP_NOTHING_YET);
    mishap_mcp_sessions_free(s);
}

/* A stream whose end was dropped does not keep anybody waiting. */
static void a_stream_that_was_dropped_is_known_as_such(void **state)
{
    (void)state;
    char data[300];
    mishap_mcp_sessions *s = make(8 * 4096, HOUR_MS);
    uint64_t one = begin_one(s);
    memset(data, 'x', sizeof data);
    mishap_mcp_stream_will(s, one, 1, T("1"));
    mishap_mcp_event_add(s, one, 1, 1, T("begun"), false);
    mishap_mcp_event_add(s, one, 1, 2, T("ended"), true);
    for (uint64_t place = 1; place <= 20; place++)
        mishap_mcp_event_add(s, one, 2, place, (mishap_text){ data, sizeof data }, false);
    assert_int_equal(behind(s, one, 1, 1, "", false), MISHAP_MCP_STREAM_DROPPED);
    assert_int_equal(behind(s, one, 3, 1, "", false), MISHAP_MCP_STREAM_DROPPED);
    mishap_mcp_sessions_free(s);
}

/* One that says much loses its own events, and not those of others. */
static void a_session_takes_its_share_and_no_more(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(8 * 4096, HOUR_MS);
    char data[200];
    uint64_t quiet = begin_one(s), loud[12];
    memset(data, 'x', sizeof data);
    mishap_mcp_event_add(s, quiet, 1, 1, T("kept"), true);
    for (int i = 0; i < 12; i++)
        loud[i] = begin_one(s);
    for (uint64_t place = 1; place <= 200; place++)
        for (int i = 0; i < 12; i++) { /* all of them want more than there is */
            assert_true(
                mishap_mcp_event_add(s, loud[i], 2, place, (mishap_text){ data, 200 }, false));
            assert_true(mishap_mcp_event_known(s, loud[i], 2, place));
        }
    assert_true(mishap_mcp_event_known(s, quiet, 1, 1));
    mishap_mcp_sessions_free(s);
}

/* One that says little in each of very many sessions is one that says much. */
static void a_caller_with_many_sessions_loses_events_first(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(8 * 4096, HOUR_MS);
    char id[MISHAP_MCP_SESSION_ID + 1], data[200];
    uint64_t many[100];
    memset(data, 'x', sizeof data);
    assert_true(begins(s, BOB, id));
    uint64_t quiet = find(s, id, NULL);
    for (uint64_t place = 1; place <= 8; place++) /* more than any one session of the other */
        assert_true(mishap_mcp_event_add(s, quiet, 1, place, (mishap_text){ data, 100 }, false));
    for (int i = 0; i < 100; i++) {
        assert_true(begins(s, ADA, id));
        many[i] = find(s, id, NULL);
    }
    for (uint64_t place = 1; place <= 4; place++)
        for (int i = 0; i < 100; i++)
            assert_true(
                mishap_mcp_event_add(s, many[i], 2, place, (mishap_text){ data, 100 }, false));
    for (uint64_t place = 1; place <= 8; place++)
        assert_true(mishap_mcp_event_known(s, quiet, 1, place));
    assert_true(mishap_mcp_event_known(s, many[99], 2, 4));
    assert_false(mishap_mcp_event_known(s, many[0], 2, 1));
    mishap_mcp_sessions_free(s);
}

/* Nobody has enough for it alone, so several make room. */
static void many_who_have_little_make_room_together(void **state)
{
    (void)state;
    enum { EACH = 4 };
    static char data[8000];
    static uint64_t numbers[MOST];
    mishap_mcp_sessions *s = make((size_t)MOST * EACH * 4 * MISHAP_MCP_BLOCK, HOUR_MS);
    memset(data, 'x', sizeof data);
    for (int i = 0; i < MOST; i++) {
        numbers[i] = begin_one(s);
        for (uint64_t place = 1; place <= EACH; place++) /* of four blocks */
            assert_true(
                mishap_mcp_event_add(s, numbers[i], 1, place, (mishap_text){ data, 900 }, false));
    }
    assert_int_equal(s->free_count, 0);
    for (int i = 5; i < 10; i++) {
        mishap_text large = { data, sizeof data };
        assert_true(mishap_mcp_event_add(s, numbers[i], 2, 1, large, true));
        assert_true(mishap_mcp_event_known(s, numbers[i], 2, 1));
    }
    for (int i = 10; i < MOST; i++) /* nobody else has lost all */
        assert_true(mishap_mcp_event_known(s, numbers[i], 1, EACH));
    mishap_mcp_sessions_free(s);
}

/* Others speak in between, and what was read last may be gone when the next is asked for. */
static void who_catches_up_misses_nothing(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(8 * 8192, HOUR_MS); /* 32 blocks each */
    uint64_t one = begin_one(s);
    mishap_mcp_stream_will(s, one, 1, T("1"));
    for (uint64_t place = 1; place <= 10; place++)
        for (uint64_t stream = 1; stream <= 2; stream++)
            assert_true(mishap_mcp_event_add(s, one, stream, place,
                                             stream == 1 ? T("of one") : T("of two"), false));
    for (uint64_t place = 0; place < 10; place++) { /* two at once, each where it is */
        assert_int_equal(behind(s, one, 1, place, "of one", false), MISHAP_MCP_EVENT);
        if (place > 2)
            assert_int_equal(behind(s, one, 2, place - 3, "of two", false), MISHAP_MCP_EVENT);
    }
    assert_int_equal(behind(s, one, 1, 3, "of one", false), MISHAP_MCP_EVENT);
    for (uint64_t place = 1; place <= 20; place++) /* the first fourteen or so go */
        assert_true(mishap_mcp_event_add(s, one, 3, place, T("of three"), false));
    assert_int_equal(behind(s, one, 1, 4, "1", false), MISHAP_MCP_STREAM_DROPPED);
    assert_int_equal(behind(s, one, 1, 9, "of one", false), MISHAP_MCP_EVENT);
    assert_int_equal(behind(s, one, 1, 10, "", false), MISHAP_MCP_NOTHING_YET);
    assert_true(mishap_mcp_event_add(s, one, 1, 11, T("at last"), true));
    assert_int_equal(behind(s, one, 1, 10, "at last", true), MISHAP_MCP_EVENT);
    assert_int_equal(behind(s, one, 1, 11, "", false), MISHAP_MCP_STREAM_OVER);
    mishap_mcp_sessions_free(s);
}

/* The block of what was read last is another's when that was dropped, and what a client says stands
 * there: it must not be taken for an event, by which it would find those of other sessions. */
static void nobody_reads_on_from_what_was_dropped(void **state)
{
    (void)state;
    enum { SHARE = 8, DATA = MISHAP_MCP_BLOCK - sizeof(uint32_t) };
    mishap_mcp_sessions *s = make((size_t)8 * SHARE * MISHAP_MCP_BLOCK, HOUR_MS);
    uint64_t one = begin_one(s), other = begin_one(s);
    char forged[2 * DATA] = { 0 };
    assert_true(mishap_mcp_event_add(s, other, 1, 2, T("another's"), false));
    assert_true(mishap_mcp_event_add(s, one, 1, 1, T("its own"), false));
    for (uint64_t place = 1; place < SHARE; place++)
        assert_true(mishap_mcp_event_add(s, one, 2, place, T("more"), false));
    assert_int_equal(behind(s, one, 1, 0, "its own", false), MISHAP_MCP_EVENT);
    uint32_t read = mishap_mcp_place_find(s, one)->events.read;
    const char *block = s->blocks[read - 1].data, *text = memmem(block, DATA, "its own", 7);
    assert_non_null(text);
    size_t head = (size_t)(text - block);
    memcpy(forged + DATA - head, block, head);
    memcpy(forged + DATA - head, &mishap_mcp_place_find(s, other)->events.last, sizeof(uint32_t));
    assert_true(mishap_mcp_event_add(s, one, 3, 1, (mishap_text){ forged, DATA }, false));
    assert_memory_equal(block + sizeof(uint32_t), forged + DATA - head + sizeof(uint32_t),
                        head - sizeof(uint32_t)); /* it stands where the other stood */
    assert_int_equal(behind(s, one, 1, 1, "", false), MISHAP_MCP_STREAM_DROPPED);
    mishap_mcp_sessions_free(s);
}

/* Of work: others may need the processor, too. */
static int64_t worked_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The time of one more must not grow with how many there are. */
static int64_t time_to_catch_up(uint64_t events)
{
    mishap_mcp_sessions *s = make(8 * (events + 8) * MISHAP_MCP_BLOCK, HOUR_MS);
    uint64_t one = begin_one(s);
    for (uint64_t place = 1; place <= events; place++)
        assert_true(mishap_mcp_event_add(s, one, 7, place, T("some event"), place == events));
    int64_t begun = worked_ns();
    for (uint64_t place = 0; place < events; place++)
        assert_int_equal(behind(s, one, 7, place, "some event", place + 1 == events),
                         MISHAP_MCP_EVENT);
    int64_t took = worked_ns() - begun;
    mishap_mcp_sessions_free(s);
    return took;
}

static void catching_up_takes_time_by_the_event(void **state)
{
    (void)state;
    int64_t few = INT64_MAX, many = INT64_MAX;
    for (int i = 0; i < 10 && (i < 3 || many >= 64 * few); i++) { /* each at its best */
        int64_t now = time_to_catch_up(1000), later = time_to_catch_up(16000);
        few = now < few ? now : few;
        many = later < many ? later : many;
    }
    assert_true(many < 64 * few); /* 16 times, and not 256 times */
}

static void events_go_with_their_session(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(8 * 4096, HOUR_MS);
    char id[MISHAP_MCP_SESSION_ID + 1], data[3000];
    memset(data, 'x', sizeof data);
    for (int i = 0; i < 500; i++) {
        begin(s, NULL, id);
        uint64_t number = find(s, id, NULL);
        assert_true(mishap_mcp_event_add(s, number, 1, 1, (mishap_text){ data, 3000 }, true));
        assert_true(mishap_mcp_event_known(s, number, 1, 1));
        end(s, id, owner(NULL));
        assert_false(mishap_mcp_event_known(s, number, 1, 1));
    }
    mishap_mcp_sessions_free(s);
}

static void an_event_that_is_too_large_is_not_kept(void **state)
{
    (void)state;
    static char large[4096];
    mishap_mcp_sessions *s = make(8 * 4096, HOUR_MS);
    uint64_t one = begin_one(s);
    mishap_mcp_stream_will(s, one, 9, T("9"));
    assert_true(mishap_mcp_event_add(s, one, 9, 1, T("first"), false));
    assert_false(mishap_mcp_event_add(s, one, 9, 2, (mishap_text){ large, sizeof large }, true));
    assert_int_equal(behind(s, one, 9, 0, "first", false), MISHAP_MCP_EVENT);
    assert_int_equal(behind(s, one, 9, 1, "9", false), MISHAP_MCP_STREAM_DROPPED);
    mishap_mcp_sessions_free(s);
}

static void who_resumes_last_sends_the_stream(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    uint64_t one = begin_one(s), other = begin_one(s);
    assert_int_equal(mishap_mcp_stream_sender(s, one, 5), 0);
    uint64_t first = mishap_mcp_stream_take_over(s, one, 5);
    assert_int_equal(mishap_mcp_stream_sender(s, one, 5), first);
    uint64_t second = mishap_mcp_stream_take_over(s, one, 5);
    assert_int_not_equal(first, second);
    assert_int_equal(mishap_mcp_stream_sender(s, one, 5), second);
    assert_int_equal(mishap_mcp_stream_sender(s, other, 5), 0);
    mishap_mcp_sessions_free(s);
}

static void so_many_streams_are_resumed_at_once(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    uint64_t one = begin_one(s), other = begin_one(s), first = 0;
    for (uint64_t stream = 1; stream <= TAKEN; stream++) {
        uint64_t by = mishap_mcp_stream_take_over(s, one, stream);
        assert_int_not_equal(by, 0);
        first = first ? first : by;
    }
    assert_int_equal(mishap_mcp_stream_take_over(s, one, 99), 0); /* and none ends for it */
    assert_int_equal(mishap_mcp_stream_sender(s, one, 99), 0);
    assert_int_equal(mishap_mcp_stream_sender(s, one, 1), first);
    assert_int_not_equal(mishap_mcp_stream_take_over(s, one, TAKEN), 0); /* it is among them */
    assert_int_not_equal(mishap_mcp_stream_take_over(s, other, 99), 0);
    mishap_mcp_stream_let_go(s, one, 1, first);
    assert_int_not_equal(mishap_mcp_stream_take_over(s, one, 99), 0);
    assert_int_equal(mishap_mcp_stream_sender(s, one, 1), 0);
    assert_int_equal(mishap_mcp_stream_take_over(s, one, 1), 0);
    mishap_mcp_sessions_free(s);
}

/* -- processes --------------------------------------------------------------------------------- */

enum { KEPT = 1500 };

static _Noreturn void come_and_go(mishap_mcp_sessions *s)
{
    char id[MISHAP_MCP_SESSION_ID + 1];
    for (uint64_t place = 1;; place++) {
        begin(s, "bob", id);
        uint64_t number = find(s, id, "bob");
        mishap_mcp_event_add(s, number, 9, place, T("some event or other"), place % 3 == 0);
        mishap_mcp_call_begin(s, number, place, T("1"));
        end(s, id, owner("bob"));
    }
}

/* Processes that are killed in the middle of it leave the rest in order. */
static void who_is_killed_holds_up_nobody(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    static char ids[KEPT][MISHAP_MCP_SESSION_ID + 1];
    for (int i = 0; i < KEPT; i++)
        begin(s, NULL, ids[i]);
    uint64_t number = find(s, ids[0], NULL);
    for (int round = 0; round < 50; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            come_and_go(s);
        usleep(3000 + 100 * (useconds_t)round);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (int i = 0; i < KEPT; i++)
            assert_true(find(s, ids[i], NULL));
        uint64_t stream = 100 + (uint64_t)round;
        assert_true(mishap_mcp_event_add(s, number, stream, 1, T("after"), true));
        assert_int_equal(behind(s, number, stream, 0, "after", true), MISHAP_MCP_EVENT);
    }
    mishap_mcp_sessions_free(s);
}

/* Two of different callers, of which the second stands behind the first because its place is taken.
 */
struct pair {
    char first[MISHAP_MCP_SESSION_ID + 1], second[MISHAP_MCP_SESSION_ID + 1];
    struct mishap_mcp_place *at;
};

static bool find_pair(mishap_mcp_sessions *s, struct pair *pair)
{
    for (size_t i = 0; i + 1 < MISHAP_MCP_PLACES; i++) {
        struct mishap_mcp_place *at = &s->places[i];
        size_t home = at[1].session.number & (MISHAP_MCP_PLACES - 1);
        if (!at[0].id[0] || !at[1].id[0] || home != i || strcmp(at[0].caller, "ada") != 0 ||
            strcmp(at[1].caller, "bob") != 0)
            continue;
        memcpy(pair->first, at[0].id, sizeof pair->first);
        memcpy(pair->second, at[1].id, sizeof pair->second);
        pair->at = at;
        return true;
    }
    return false;
}

/* The first was being ended: so many bytes of the second were moved to where it stood. */
static void die_while_moving(mishap_mcp_sessions *s, const struct pair *pair, size_t bytes)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        mishap_mcp_sessions_lock(s);
        pair->at->id[0] = '\0';
        memcpy(pair->at, pair->at + 1, bytes);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void who_dies_while_it_moves_a_session_mixes_up_none(void **state)
{
    (void)state;
    const size_t torn[] = { 44, 60, 108, 120, sizeof(struct mishap_mcp_place) };
    char id[MISHAP_MCP_SESSION_ID + 1];
    for (size_t i = 0; i < sizeof torn / sizeof *torn; i++) {
        struct pair pair;
        mishap_mcp_sessions *s = make(4096, HOUR_MS);
        while (!find_pair(s, &pair)) {
            begin(s, "ada", id);
            begin(s, "bob", id);
        }
        size_t count = s->count;
        uint64_t first = find(s, pair.first, "ada"), second = find(s, pair.second, "bob");
        die_while_moving(s, &pair, torn[i]);
        assert_int_equal(find(s, pair.second, "bob"), second);
        assert_int_equal(find(s, pair.second, "ada"), 0);
        assert_int_equal(find(s, pair.first, "ada"), 0);
        assert_true(mishap_mcp_session_lives(s, second));
        assert_false(mishap_mcp_session_lives(s, first));
        assert_int_equal(s->count, count - 1);
        mishap_mcp_sessions_free(s);
    }
}

static void say_that_tools_have_changed(void *sessions)
{
    mishap_mcp_sessions_change(sessions, MISHAP_MCP_TOOLS_CHANGED);
}

/* Until it sleeps, and not for a moment only: it waits for the lock. */
static void wait_for_sleep(pid_t process)
{
    char path[40], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    for (int asleep = 0; asleep < 20; asleep = state == 'S' ? asleep + 1 : 0) {
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
        fclose(file);
        usleep(1000);
    }
}

/* … and who has it while it crashes must not live on with it, contained or not. */
static void a_crash_in_the_middle_of_a_change_is_not_contained(void **state)
{
    (void)state;
    enum { LIVES_ON = 42 };
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    int status;
    mishap_mcp_sessions_lock(s);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sigjmp_buf way_out;
        mishap_crash crash;
        mishap_contain(say_that_tools_have_changed, s, &way_out, &crash);
        _exit(LIVES_ON);
    }
    wait_for_sleep(child);
    kill(child, SIGABRT);
    assert_int_equal(waitpid(child, &status, 0), child);
    pthread_mutex_unlock(&s->lock);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == LIVES_ON);
    mishap_mcp_sessions_free(s);
}

/* -- memory ------------------------------------------------------------------------------------ */

/* Pages that are there. */
static size_t count_pages(mishap_mcp_sessions *s)
{
    static unsigned char there[8192];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0, pages = (s->mapped + page - 1) / page;
    assert_true(pages <= sizeof there);
    assert_int_equal(mincore(s, s->mapped, there), 0);
    for (size_t i = 0; i < pages; i++)
        count += there[i] & 1;
    return count;
}

/* A server whom nobody asks does not pay for all that it could keep. */
static void memory_is_taken_when_it_is_needed(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(8 * 1024 * 1024, HOUR_MS);
    assert_true(count_pages(s) <= 4);
    uint64_t one = begin_one(s);
    for (uint64_t place = 1; place <= 100; place++)
        assert_true(mishap_mcp_event_add(s, one, 1, place, T("kept"), false));
    assert_true(count_pages(s) <= 20);
    mishap_mcp_sessions_free(s);
}

/* -- keys, and what outlasts a server -----------------------------------------------------------
 */

static bool revive(mishap_mcp_sessions *s, const char *id, mishap_mcp_owner who,
                   mishap_mcp_session *session)
{
    mishap *failure = mishap_mcp_session_revive(s, mishap_text_of(id), who, 0, session);
    if (failure)
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_FOUND);
    mishap_free(failure);
    return !failure;
}

static void another_key_of_the_same_name_is_another_caller(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    mishap_mcp_session session;
    mishap_mcp_owner one = { "ada", 1 }, two = { "ada", 2 }, renamed = { "bob", 1 };
    char id[MISHAP_MCP_SESSION_ID + 1];
    assert_null(try_revision(s, one, 0, MISHAP_MCP_2025_11_25, id));
    mishap_text text = mishap_text_of(id);
    assert_true(mishap_mcp_session_find(s, text, one, &session));
    assert_false(mishap_mcp_session_find(s, text, two, &session) || revive(s, id, two, &session));
    assert_false(mishap_mcp_session_find(s, text, renamed, &session) ||
                 revive(s, id, renamed, &session));
    assert_false(end(s, id, two));
    mishap_mcp_sessions_free(s);
}

static void sessions_end_with_their_key(void **state)
{
    (void)state;
    enum { MANY = 300 };
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    static uint64_t ada[MANY], bob[MANY], nobody[MANY];
    char id[MISHAP_MCP_SESSION_ID + 1];
    for (size_t i = 0; i < MANY; i++) {
        begin(s, "ada", id);
        ada[i] = find(s, id, "ada");
        begin(s, "bob", id);
        bob[i] = find(s, id, "bob");
        nobody[i] = begin_one(s);
    }
    uint64_t numbers[64];
    size_t ended = 0, count;
    do {
        count = mishap_mcp_sessions_revoke(s, owner("ada").key, numbers, 64);
        for (size_t i = 0; i < count; i++) {
            bool known = false;
            for (size_t n = 0; n < MANY; n++)
                known = known || ada[n] == numbers[i];
            assert_true(known);
        }
        ended += count;
    } while (count == 64);
    assert_int_equal(ended, MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_false(mishap_mcp_session_lives(s, ada[i]));
        assert_true(mishap_mcp_session_lives(s, bob[i]) && mishap_mcp_session_lives(s, nobody[i]));
    }
    mishap_mcp_sessions_free(s);
}

/* As if the server had begun again with the same secret. */
static void forget_all(mishap_mcp_sessions *s)
{
    for (size_t i = 0; i < MISHAP_MCP_PLACES; i++)
        s->places[i].id[0] = '\0';
    s->count = 0;
}

static void a_session_is_revived_by_its_owner_alone(void **state)
{
    (void)state;
    static const mishap_mcp_revision revisions[] = { MISHAP_MCP_2025_03_26, MISHAP_MCP_2025_06_18,
                                                     MISHAP_MCP_2025_11_25 };
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    for (size_t i = 0; i < 3; i++) {
        mishap_mcp_session session;
        char id[MISHAP_MCP_SESSION_ID + 1];
        assert_null(try_revision(s, owner("ada"), 0, revisions[i], id));
        forget_all(s);
        assert_false(find(s, id, "ada"));
        assert_false(revive(s, id, owner("bob"), &session) || revive(s, id, owner(NULL), &session));
        for (size_t at = 0; at < MISHAP_MCP_SESSION_ID; at++) {
            char forged[MISHAP_MCP_SESSION_ID + 1];
            memcpy(forged, id, sizeof forged);
            forged[at] = forged[at] == 'A' ? 'B' : 'A';
            assert_false(revive(s, forged, owner("ada"), &session));
        }
        assert_false(revive(s, "", owner("ada"), &session) ||
                     revive(s, id + 1, owner("ada"), &session));
        assert_int_equal(s->count, 0);
        assert_true(revive(s, id, owner("ada"), &session));
        assert_true(session.revision == revisions[i] && session.initialized &&
                    session.level == MISHAP_INFO);
        assert_int_equal(find(s, id, "ada"), session.number);
        uint64_t number = session.number; /* by another loop: it is the same */
        assert_true(revive(s, id, owner("ada"), &session) && session.number == number);
        assert_int_equal(s->count, 1);
        forget_all(s);
    }
    mishap_mcp_sessions *another = make(4096, HOUR_MS); /* with another secret */
    mishap_mcp_session session;
    char id[MISHAP_MCP_SESSION_ID + 1];
    begin(s, NULL, id);
    assert_false(revive(another, id, owner(NULL), &session));
    mishap_mcp_sessions_free(another);
    mishap_mcp_sessions_free(s);
}

static void one_that_was_not_used_for_long_is_revived(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, 1);
    mishap_mcp_session session;
    char id[MISHAP_MCP_SESSION_ID + 1];
    begin(s, NULL, id);
    usleep(3000);
    assert_false(find(s, id, NULL));
    assert_true(revive(s, id, owner(NULL), &session));
    assert_true(session.initialized && session.number);
    mishap_mcp_sessions_free(s);
}

/* … and has room by the rules for a new one: two that want one place take turns by the minute. */
static void one_that_made_room_is_revived_if_there_is_room(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    mishap_mcp_session session;
    char one[MISHAP_MCP_SESSION_ID + 1], two[MISHAP_MCP_SESSION_ID + 1];
    s->of_one = 1;
    assert_true(begins(s, ADA, one));
    for (int turn = 0; turn < 3; turn++) {
        pass_minutes(s, find(s, one, NULL), 1);
        if (turn)
            assert_null(
                mishap_mcp_session_revive(s, mishap_text_of(two), owner(NULL), ADA, &session));
        else
            assert_true(begins(s, ADA, two));
        assert_true(!find(s, one, NULL) && find(s, two, NULL));
        for (int i = 0; i < 3; i++) /* the one that is used stays */
            assert_refusal(
                mishap_mcp_session_revive(s, mishap_text_of(one), owner(NULL), ADA, &session),
                MISHAP_CODE_RATE_LIMITED, "1 sessions");
        assert_true(find(s, two, NULL));
        pass_minutes(s, find(s, two, NULL), 1);
        assert_null(mishap_mcp_session_revive(s, mishap_text_of(one), owner(NULL), ADA, &session));
        assert_true(session.initialized && find(s, one, NULL) && !find(s, two, NULL));
    }
    assert_true(end(s, two, owner(NULL))); /* for which it needs no place */
    assert_false(end(s, two, owner(NULL)));
    assert_true(find(s, one, NULL));
    pass_minutes(s, find(s, one, NULL), 1);
    assert_false(revive(s, two, owner(NULL), &session));
    assert_true(find(s, one, NULL));
    mishap_mcp_sessions_free(s);
}

static void a_session_that_was_ended_is_not_revived(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    mishap_mcp_session session;
    char first[MISHAP_MCP_SESSION_ID + 1], id[MISHAP_MCP_SESSION_ID + 1];
    begin(s, NULL, first);
    assert_true(end(s, first, owner(NULL)));
    assert_false(revive(s, first, owner(NULL), &session));
    for (int i = 1; i < MISHAP_MCP_ENDED; i++) {
        begin(s, NULL, id);
        assert_true(end(s, id, owner(NULL)));
    }
    assert_false(revive(s, first, owner(NULL), &session)); /* so many are known */
    assert_false(revive(s, id, owner(NULL), &session));
    mishap_mcp_sessions_free(s);
}

static void sessions_outlast_the_server_with_their_folder(void **state)
{
    (void)state;
    char folder[] = "/tmp/mishap-sessions-XXXXXX", path[80];
    char lives[MISHAP_MCP_SESSION_ID + 1], ended[2][MISHAP_MCP_SESSION_ID + 1];
    mishap_mcp_session session;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mcp-sessions", folder);
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    assert_null(mishap_mcp_sessions_last(s, folder));
    begin(s, "ada", lives);
    for (int run = 0; run < 3; run++) {
        for (int i = 0; i < run; i++)
            assert_false(revive(s, ended[i], owner(NULL), &session));
        if (run < 2) {
            begin(s, NULL, ended[run]);
            assert_true(end(s, ended[run], owner(NULL)));
        }
        mishap_mcp_sessions_free(s);
        s = make(4096, HOUR_MS);
        assert_null(mishap_mcp_sessions_last(s, folder));
        assert_true(revive(s, lives, owner("ada"), &session));
    }
    mishap_mcp_sessions_free(s);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    s = make(4096, HOUR_MS);
    mishap *failure = mishap_mcp_sessions_last(s, folder);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_OUTPUT_FAILED);
    mishap_free(failure);
    begin(s, NULL, lives); /* with the secret of this run */
    forget_all(s);
    assert_true(revive(s, lives, owner(NULL), &session));
    mishap_mcp_sessions_free(s);
}

/* Who resumes a stream of before must not get another that has its number now. */
static void streams_are_numbered_anew_in_each_run(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    uint64_t last = 0;
    for (int i = 0; i < 100; i++)
        last = mishap_mcp_stream_begin(s);
    mishap_mcp_sessions_free(s);
    usleep(2000);
    s = make(4096, HOUR_MS);
    assert_true(mishap_mcp_stream_begin(s) > last);
    mishap_mcp_sessions_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_is_found_by_its_caller_alone),
        TEST(what_changes_is_kept),
        TEST(many_come_and_go),
        TEST(an_id_is_random_in_every_character),
        TEST(a_caller_has_its_share_and_others_have_theirs),
        TEST(one_that_a_caller_does_not_use_makes_room_for_its_next),
        TEST(who_has_most_makes_room_for_others),
        TEST(what_is_in_use_does_not_end_for_an_equal),
        TEST(counts_are_right_after_a_death),
        TEST(a_reserved_place_is_no_session_yet),
        TEST(a_reserved_place_is_given_back),
        TEST(a_reserved_place_makes_room_for_nobody),
        TEST(a_reserved_place_goes_with_its_process),
        TEST(one_that_is_not_used_is_over),
        TEST(the_latest_stream_stands),
        TEST(a_session_is_told_of_a_change_once),
        TEST(an_id_runs_once),
        TEST(a_session_runs_so_many),
        TEST(a_call_has_ended_when_its_process_id_was_given_again),
        TEST(cancelling_is_seen_by_the_right_call),
        TEST(calls_are_cancelled_with_their_session),
        TEST(a_change_is_seen_by_each),
        TEST(events_come_in_their_order_and_of_one_stream),
        TEST(a_stream_is_lost_when_its_process_is_gone),
        TEST(old_events_are_dropped),
        TEST(a_stream_that_was_dropped_is_known_as_such),
        TEST(a_session_takes_its_share_and_no_more),
        TEST(a_caller_with_many_sessions_loses_events_first),
        TEST(many_who_have_little_make_room_together),
        TEST(who_catches_up_misses_nothing),
        TEST(nobody_reads_on_from_what_was_dropped),
        TEST(catching_up_takes_time_by_the_event),
        TEST(events_go_with_their_session),
        TEST(an_event_that_is_too_large_is_not_kept),
        TEST(who_resumes_last_sends_the_stream),
        TEST(so_many_streams_are_resumed_at_once),
        TEST(who_is_killed_holds_up_nobody),
        TEST(who_dies_while_it_moves_a_session_mixes_up_none),
        TEST(a_crash_in_the_middle_of_a_change_is_not_contained),
        TEST(memory_is_taken_when_it_is_needed),
        TEST(another_key_of_the_same_name_is_another_caller),
        TEST(sessions_end_with_their_key),
        TEST(a_session_is_revived_by_its_owner_alone),
        TEST(one_that_was_not_used_for_long_is_revived),
        TEST(one_that_made_room_is_revived_if_there_is_room),
        TEST(a_session_that_was_ended_is_not_revived),
        TEST(sessions_outlast_the_server_with_their_folder),
        TEST(streams_are_numbered_anew_in_each_run),
    };
    return RUN(tests);
}
