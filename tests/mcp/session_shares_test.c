/* Sessions that all workers share: how many a caller may have, and who makes room for whom. */
#include "testing.h"

#include <sys/wait.h>
#include "mcp_sessions.h"

static void initialize(mishap_mcp_sessions *sessions, const char *id, const char *caller)
{
    mishap_mcp_session session;
    assert_true(mishap_mcp_session_find(sessions, mishap_text_of(id), owner(caller), &session));
    session.initialized = true;
    mishap_mcp_session_keep(sessions, &session);
}

/* -- shares ------------------------------------------------------------------------------------ */

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

/* If all places are taken, only the caller with the most makes room. */
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

/* If no caller has more than others, sessions in use stay. */
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

/* Only the table counts: a process that dies in the middle of it leaves no wrong count. */
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

/* It is counted from the start, but not found by any request until it has begun. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_caller_has_its_share_and_others_have_theirs),
        TEST(one_that_a_caller_does_not_use_makes_room_for_its_next),
        TEST(who_has_most_makes_room_for_others),
        TEST(what_is_in_use_does_not_end_for_an_equal),
        TEST(counts_are_right_after_a_death),
        TEST(a_reserved_place_is_no_session_yet),
        TEST(a_reserved_place_is_given_back),
        TEST(a_reserved_place_makes_room_for_nobody),
        TEST(a_reserved_place_goes_with_its_process),
    };
    return RUN(tests);
}
