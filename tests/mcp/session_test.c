/*
 * Sessions that all workers share: the table, the calls that run, and processes that die while they
 * change it.
 */
#include "operation/contain.h"
#include "testing.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include "mcp_sessions.h"

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

/* -- places that are reserved ------------------------------------------------------------------ */

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
    assert_false(mishap_mcp_stream_take_over(s, one, 99)); /* a client waits for each of them */
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

/* A server without requests does not use memory for all that it could keep. */
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
        count = mishap_mcp_sessions_revoke(s, owner("ada").key, NULL, numbers, 64);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_is_found_by_its_caller_alone),
        TEST(what_changes_is_kept),
        TEST(many_come_and_go),
        TEST(an_id_is_random_in_every_character),
        TEST(one_that_is_not_used_is_over),
        TEST(the_latest_stream_stands),
        TEST(a_session_is_told_of_a_change_once),
        TEST(an_id_runs_once),
        TEST(a_session_runs_so_many),
        TEST(a_call_has_ended_when_its_process_id_was_given_again),
        TEST(cancelling_is_seen_by_the_right_call),
        TEST(calls_are_cancelled_with_their_session),
        TEST(a_change_is_seen_by_each),
        TEST(who_is_killed_holds_up_nobody),
        TEST(who_dies_while_it_moves_a_session_mixes_up_none),
        TEST(a_crash_in_the_middle_of_a_change_is_not_contained),
        TEST(memory_is_taken_when_it_is_needed),
        TEST(another_key_of_the_same_name_is_another_caller),
        TEST(sessions_end_with_their_key),
    };
    return RUN(tests);
}
