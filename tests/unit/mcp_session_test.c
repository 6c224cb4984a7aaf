/* Sessions that all workers share: the table, what was cancelled, and the ring of events. */
#include "boundary/mcp/session.h"
#include "testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOUR_MS = 3600 * 1000, MOST = 2048 };

static mishap_mcp_sessions *make(size_t event_bytes, int64_t idle_ms)
{
    mishap_mcp_sessions *sessions;
    assert_null(mishap_mcp_sessions_make(event_bytes, idle_ms, &sessions));
    return sessions;
}

static bool begin(mishap_mcp_sessions *sessions, const char *caller, char *id)
{
    mishap_mcp_session session = { .revision = MISHAP_MCP_2025_11_25, .level = MISHAP_INFO };
    return mishap_mcp_session_begin(sessions, caller, &session, id);
}

/* The number of a session; 0: there is none. */
static uint64_t find(mishap_mcp_sessions *sessions, const char *id, const char *caller)
{
    mishap_mcp_session session;
    return mishap_mcp_session_find(sessions, mishap_text_of(id), caller, &session) ? session.number
                                                                                   : 0;
}

/* -- the table --------------------------------------------------------------------------------- */

static void a_session_is_found_by_its_caller_alone(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char ada[MISHAP_MCP_SESSION_ID + 1], nobody[MISHAP_MCP_SESSION_ID + 1];
    assert_true(begin(s, "ada", ada) && begin(s, NULL, nobody));
    assert_int_equal(strlen(ada), MISHAP_MCP_SESSION_ID);
    assert_string_not_equal(ada, nobody);
    assert_true(find(s, ada, "ada") && find(s, nobody, NULL));
    assert_false(find(s, ada, NULL) || find(s, ada, "bob") || find(s, ada, "adam") ||
                 find(s, nobody, "ada"));
    assert_false(find(s, "", "ada") || find(s, "x", "ada"));
    assert_false(mishap_mcp_session_end(s, mishap_text_of(ada), "bob"));
    assert_true(mishap_mcp_session_end(s, mishap_text_of(ada), "ada"));
    assert_false(find(s, ada, "ada"));
    mishap_mcp_sessions_free(s);
}

static void what_changes_is_kept(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char id[MISHAP_MCP_SESSION_ID + 1];
    mishap_mcp_session session;
    assert_true(begin(s, NULL, id));
    assert_true(mishap_mcp_session_find(s, mishap_text_of(id), NULL, &session));
    assert_false(session.initialized);
    session.initialized = true;
    session.level = MISHAP_ALERT;
    mishap_mcp_session_keep(s, &session);
    assert_true(mishap_mcp_session_find(s, mishap_text_of(id), NULL, &session));
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
    char more[MISHAP_MCP_SESSION_ID + 1];
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MOST; i++) {
            if (numbers[i])
                continue;
            assert_true(begin(s, "ada", ids[i]));
            numbers[i] = find(s, ids[i], "ada");
        }
        assert_false(begin(s, "ada", more));
        for (int i = 0; i < MOST; i++) {
            assert_int_equal(find(s, ids[i], "ada"), numbers[i]);
            assert_true(mishap_mcp_session_lives(s, numbers[i]));
        }
        for (int i = round; i < MOST; i += 2 + round) {
            assert_true(mishap_mcp_session_end(s, mishap_text_of(ids[i]), "ada"));
            assert_false(mishap_mcp_session_lives(s, numbers[i]));
            numbers[i] = 0;
        }
        for (int i = 0; i < MOST; i++)
            assert_int_equal(numbers[i] ? find(s, ids[i], "ada") : 0, numbers[i]);
    }
    mishap_mcp_sessions_free(s);
}

static void one_that_is_not_used_is_over(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, 20);
    char first[MISHAP_MCP_SESSION_ID + 1], id[MISHAP_MCP_SESSION_ID + 1];
    assert_true(begin(s, NULL, first));
    usleep(40000);
    assert_false(find(s, first, NULL));
    for (int i = 0; i < MOST; i++)
        assert_true(begin(s, NULL, id));
    usleep(40000);
    assert_true(begin(s, NULL, id)); /* the others make room */
    mishap_mcp_sessions_free(s);
}

static void the_latest_stream_stands(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char id[MISHAP_MCP_SESSION_ID + 1];
    assert_true(begin(s, NULL, id));
    uint64_t number = find(s, id, NULL), first = mishap_mcp_session_stand(s, number);
    assert_true(mishap_mcp_session_stands(s, number, first));
    uint64_t second = mishap_mcp_session_stand(s, number);
    assert_false(mishap_mcp_session_stands(s, number, first));
    assert_true(mishap_mcp_session_stands(s, number, second));
    mishap_mcp_session_end(s, mishap_text_of(id), NULL);
    assert_false(mishap_mcp_session_stands(s, number, second));
    mishap_mcp_sessions_free(s);
}

/* -- telling other workers --------------------------------------------------------------------- */

static void cancelling_is_seen_once_and_by_the_right_request(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    char longest[MISHAP_MCP_ID_LIMIT];
    memset(longest, 'x', sizeof longest);
    mishap_mcp_session_cancel(s, 7, T("1"));
    mishap_mcp_session_cancel(s, 7, (mishap_text){ longest, sizeof longest });
    assert_false(mishap_mcp_session_cancelled(s, 8, T("1")));
    assert_false(mishap_mcp_session_cancelled(s, 7, T("\"1\"")));
    assert_false(mishap_mcp_session_cancelled(s, 7, (mishap_text){ longest, sizeof longest - 1 }));
    assert_true(mishap_mcp_session_cancelled(s, 7, T("1")));
    assert_false(mishap_mcp_session_cancelled(s, 7, T("1")));
    assert_true(mishap_mcp_session_cancelled(s, 7, (mishap_text){ longest, sizeof longest }));
    mishap_mcp_sessions_free(s);
}

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

/* -- events ------------------------------------------------------------------------------------ */

/* What is behind a place; NULL: nothing. */
static const char *behind(mishap_mcp_sessions *s, uint64_t stream, uint64_t place, bool *last,
                          bool *gone)
{
    static char text[4096];
    mishap_buffer data = { 0 };
    bool found = mishap_mcp_event_next(s, 1, stream, place, &data, last, gone);
    if (found)
        snprintf(text, sizeof text, "%.*s", (int)data.length, data.data ? data.data : "");
    mishap_buffer_release(&data);
    return found ? text : NULL;
}

static void events_come_in_their_order_and_of_one_stream(void **state)
{
    (void)state;
    bool last = false, gone = false;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    uint64_t a = mishap_mcp_stream_begin(s), b = mishap_mcp_stream_begin(s);
    assert_int_not_equal(a, b);
    mishap_mcp_event_add(s, 1, a, 1, T(""), false);
    mishap_mcp_event_add(s, 1, b, 1, T("b1"), false);
    mishap_mcp_event_add(s, 1, a, 2, T("a2"), true);
    mishap_mcp_event_add(s, 2, a, 3, T("another session's"), false);
    assert_string_equal(behind(s, a, 0, &last, &gone), "");
    assert_false(last);
    assert_string_equal(behind(s, a, 1, &last, &gone), "a2");
    assert_true(last);
    assert_null(behind(s, a, 2, &last, &gone));
    assert_true(last); /* none will come */
    assert_false(gone);
    assert_null(behind(s, b, 1, &last, &gone));
    assert_false(last || gone);
    assert_true(mishap_mcp_event_known(s, 1, a, 2));
    assert_false(mishap_mcp_event_known(s, 1, a, 3) || mishap_mcp_event_known(s, 3, a, 2));
    mishap_mcp_sessions_free(s);
}

/* The ring is small, so it is filled and goes round again and again; what it has is never mixed up.
 */
static void a_will_is_opened_when_its_process_is_gone(void **state)
{
    (void)state;
    bool last = false, gone = false;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    int ready[2], end[2];
    char byte;
    assert_int_equal(pipe(ready) | pipe(end), 0);
    pid_t child = fork();
    if (child == 0) {
        close(end[1]);
        mishap_mcp_stream_will(s, 1, 7, T("unfinished"));
        mishap_mcp_event_add(s, 1, 7, 1, T("first"), false);
        mishap_mcp_stream_will(s, 1, 8, T("never read"));
        mishap_mcp_event_add(s, 1, 8, 1, T("all"), true);
        _exit(write(ready[1], "", 1) != 1 || read(end[0], &byte, 1) != 0);
    }
    close(end[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_string_equal(behind(s, 7, 0, &last, &gone), "first");
    assert_null(behind(s, 7, 1, &last, &gone)); /* it lives */
    assert_false(last || gone);
    assert_false(mishap_mcp_event_known(s, 1, 7, 0));
    close(end[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_string_equal(behind(s, 7, 0, &last, &gone), "first");
    assert_false(last);
    assert_string_equal(behind(s, 7, 1, &last, &gone), "unfinished");
    assert_true(last);
    assert_string_equal(behind(s, 8, 0, &last, &gone), "all");
    assert_null(behind(s, 8, 1, &last, &gone));
    assert_true(last);
    close(ready[0]), close(ready[1]);
    mishap_mcp_sessions_free(s);
}

static void old_events_are_dropped(void **state)
{
    (void)state;
    char data[600];
    bool last, gone;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    unsigned seed = 5;
    for (uint64_t place = 1; place <= 5000; place++) {
        size_t length = (seed = seed * 1103515245 + 12345) >> 8 & 511;
        memset(data, 'a' + (int)(place % 26), sizeof data);
        mishap_mcp_event_add(s, 1, 9, place, (mishap_text){ data, length }, false);
        const char *found = behind(s, 9, place - 1, &last, &gone);
        assert_non_null(found);
        assert_int_equal(strlen(found), length);
        assert_true(!length || (found[0] == data[0] && found[length - 1] == data[0]));
        if (place > 100) {
            assert_null(behind(s, 9, place - 99, &last, &gone));
            assert_true(gone);
            assert_false(mishap_mcp_event_known(s, 1, 9, place - 99));
        }
    }
    mishap_mcp_sessions_free(s);
}

static void an_event_that_is_too_large_is_not_kept(void **state)
{
    (void)state;
    static char large[4096];
    bool last, gone;
    mishap_mcp_sessions *s = make(4096, HOUR_MS);
    mishap_mcp_event_add(s, 1, 9, 1, T("first"), false);
    mishap_mcp_event_add(s, 1, 9, 2, (mishap_text){ large, sizeof large }, false);
    mishap_mcp_event_add(s, 1, 9, 3, T("third"), true);
    assert_string_equal(behind(s, 9, 0, &last, &gone), "first");
    assert_null(behind(s, 9, 1, &last, &gone));
    assert_true(gone);
    mishap_mcp_sessions_free(s);
}

/* -- processes --------------------------------------------------------------------------------- */

enum { KEPT = 1500 };

static _Noreturn void come_and_go(mishap_mcp_sessions *s)
{
    char id[MISHAP_MCP_SESSION_ID + 1];
    for (uint64_t place = 1;; place++) {
        mishap_mcp_event_add(s, 1, 9, place, T("some event or other"), false);
        if (begin(s, "bob", id))
            mishap_mcp_session_end(s, mishap_text_of(id), "bob");
    }
}

/* Processes that are killed in the middle of it leave the rest in order. */
static void who_is_killed_holds_up_nobody(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    static char ids[KEPT][MISHAP_MCP_SESSION_ID + 1];
    char more[MISHAP_MCP_SESSION_ID + 1];
    bool last, gone;
    for (int i = 0; i < KEPT; i++)
        assert_true(begin(s, "ada", ids[i]));
    for (int round = 0; round < 50; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            come_and_go(s);
        usleep(3000 + 100 * (useconds_t)round);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (int i = 0; i < KEPT; i++)
            assert_true(find(s, ids[i], "ada"));
        mishap_mcp_event_add(s, 1, 100 + (uint64_t)round, 1, T("after"), true);
        assert_string_equal(behind(s, 100 + (uint64_t)round, 0, &last, &gone), "after");
    }
    int room = 0;
    while (begin(s, "ada", more))
        room++;
    assert_in_range(room, MOST - KEPT - 50, MOST - KEPT); /* each may have left one of its own */
    mishap_mcp_sessions_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_is_found_by_its_caller_alone),
        TEST(what_changes_is_kept),
        TEST(many_come_and_go),
        TEST(one_that_is_not_used_is_over),
        TEST(the_latest_stream_stands),
        TEST(cancelling_is_seen_once_and_by_the_right_request),
        TEST(a_change_is_seen_by_each),
        TEST(events_come_in_their_order_and_of_one_stream),
        TEST(a_will_is_opened_when_its_process_is_gone),
        TEST(old_events_are_dropped),
        TEST(an_event_that_is_too_large_is_not_kept),
        TEST(who_is_killed_holds_up_nobody),
    };
    return RUN(tests);
}
