/*
 * Sessions that all workers share: the events that are kept for streams, and who reads on from
 * where.
 */
#include "testing.h"

#include <sys/wait.h>
#include "mcp_sessions.h"

static void events_come_in_their_order_and_of_one_stream(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    uint64_t one = begin_one(s), other = begin_one(s);
    uint64_t a = mishap_mcp_stream_begin(s), b = mishap_mcp_stream_begin(s);
    assert_int_not_equal(a, b);
    mishap_mcp_stream_will(s, one, a, T("1"), 0);
    mishap_mcp_stream_will(s, one, b, T("2"), 0);
    assert_true(mishap_mcp_event_add(s, one, a, 1, T(""), false));
    assert_true(mishap_mcp_event_add(s, one, b, 1, T("b1"), false));
    assert_true(mishap_mcp_event_add(s, one, a, 2, T("a2"), true));
    assert_true(mishap_mcp_event_add(s, other, a, 3, T("another session's"), false));
    assert_int_equal(behind(s, one, a, 0, "", false), MISHAP_MCP_EVENT);
    assert_int_equal(behind(s, one, a, 1, "a2", true), MISHAP_MCP_EVENT);
    assert_int_equal(behind(s, one, a, 2, "", false), MISHAP_MCP_STREAM_OVER);
    assert_int_equal(behind(s, one, b, 1, "", false), MISHAP_MCP_NOTHING_YET);
    assert_true(mishap_mcp_event_known(s, one, a, 2, 0));
    assert_false(mishap_mcp_event_known(s, one, a, 3, 0) || mishap_mcp_event_known(s, 3, a, 2, 0) ||
                 mishap_mcp_event_known(s, one, a, 0, 0));
    assert_false(mishap_mcp_event_add(s, 999, a, 1, T("of no session"), false));
    mishap_mcp_sessions_free(s);
}

static void a_stream_is_known_only_with_the_scopes_of_its_caller(void **state)
{
    (void)state;
    const unsigned all = MISHAP_SCOPES_ALL;
    mishap_mcp_sessions *s = make(65536, HOUR_MS);
    uint64_t one = begin_one(s), a = mishap_mcp_stream_begin(s), b = mishap_mcp_stream_begin(s);
    assert_true(mishap_mcp_stream_will(s, one, a, T("1"), all));
    assert_true(mishap_mcp_stream_will(s, one, b, T("2"), MISHAP_SCOPE_CALL));
    assert_true(mishap_mcp_event_add(s, one, a, 1, T("a1"), false));
    assert_true(mishap_mcp_event_add(s, one, b, 1, T("b1"), true));
    for (unsigned bit = 1; bit && bit < all; bit <<= 1) {
        assert_false(mishap_mcp_event_known(s, one, a, 1, all & ~bit));
        assert_int_equal(mishap_mcp_event_known(s, one, b, 1, bit), bit == MISHAP_SCOPE_CALL);
    }
    assert_true(mishap_mcp_event_known(s, one, a, 1, all));
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
        mishap_mcp_stream_will(s, one, 7, T("\"unfinished\""), 0);
        mishap_mcp_event_add(s, one, 7, 1, T("first"), false);
        mishap_mcp_stream_will(s, one, 8, T("8"), 0);
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
    mishap_mcp_stream_will(s, one, 9, T("\"nine\""), 0);
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
            assert_false(mishap_mcp_event_known(s, one, 9, place - 99, 0));
        }
    }
    assert_int_equal(behind(s, one, 9, 5000, "", false), MISHAP_MCP_NOTHING_YET);
    mishap_mcp_sessions_free(s);
}

/* A client does not wait for a stream whose end was dropped. */
static void a_stream_that_was_dropped_is_known_as_such(void **state)
{
    (void)state;
    char data[300];
    mishap_mcp_sessions *s = make(8 * 4096, HOUR_MS);
    uint64_t one = begin_one(s);
    memset(data, 'x', sizeof data);
    mishap_mcp_stream_will(s, one, 1, T("1"), 0);
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
            assert_true(mishap_mcp_event_known(s, loud[i], 2, place, 0));
        }
    assert_true(mishap_mcp_event_known(s, quiet, 1, 1, 0));
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
        assert_true(mishap_mcp_event_known(s, quiet, 1, place, 0));
    assert_true(mishap_mcp_event_known(s, many[99], 2, 4, 0));
    assert_false(mishap_mcp_event_known(s, many[0], 2, 1, 0));
    mishap_mcp_sessions_free(s);
}

/* No caller has enough for it alone, so several make room. */
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
        assert_true(mishap_mcp_event_known(s, numbers[i], 2, 1, 0));
    }
    for (int i = 10; i < MOST; i++) /* no other caller has lost all */
        assert_true(mishap_mcp_event_known(s, numbers[i], 1, EACH, 0));
    mishap_mcp_sessions_free(s);
}

/* Others speak in between, and what was read last may be gone when the next is asked for. */
static void who_catches_up_misses_nothing(void **state)
{
    (void)state;
    mishap_mcp_sessions *s = make(8 * 8192, HOUR_MS); /* 32 blocks each */
    uint64_t one = begin_one(s);
    mishap_mcp_stream_will(s, one, 1, T("1"), 0);
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
        assert_true(mishap_mcp_event_known(s, number, 1, 1, 0));
        end(s, id, owner(NULL));
        assert_false(mishap_mcp_event_known(s, number, 1, 1, 0));
    }
    mishap_mcp_sessions_free(s);
}

static void an_event_that_is_too_large_is_not_kept(void **state)
{
    (void)state;
    static char large[4096];
    mishap_mcp_sessions *s = make(8 * 4096, HOUR_MS);
    uint64_t one = begin_one(s);
    mishap_mcp_stream_will(s, one, 9, T("9"), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(events_come_in_their_order_and_of_one_stream),
        TEST(a_stream_is_known_only_with_the_scopes_of_its_caller),
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
    };
    return RUN(tests);
}
