/* Sessions that outlast their place in the table, or the server: who may revive one. */
#include "testing.h"

#include <unistd.h>
#include "mcp_sessions.h"

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
        TEST(a_session_is_revived_by_its_owner_alone),
        TEST(one_that_was_not_used_for_long_is_revived),
        TEST(one_that_made_room_is_revived_if_there_is_room),
        TEST(a_session_that_was_ended_is_not_revived),
        TEST(sessions_outlast_the_server_with_their_folder),
        TEST(streams_are_numbered_anew_in_each_run),
    };
    return RUN(tests);
}
