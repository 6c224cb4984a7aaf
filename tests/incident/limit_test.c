/* src/incident/limit.c: how many entries of one kind there are, with a clock of the test. */
#include "testing.h"

#include <pthread.h>

#include "incident/limit.h"

#define ID     "0192f7a0-0000-7000-8000-000000000000"
#define SECOND INT64_C(1000000000)
#define START  (1000 * SECOND)
#define THEIRS                                                                                     \
    (mishap_limit_kind)                                                                            \
    {                                                                                              \
        "ada", "users.get", T("NOT_FOUND"), false                                                  \
    }
#define FAULT                                                                                      \
    (mishap_limit_kind)                                                                            \
    {                                                                                              \
        "ada", "users.get", T("INTERNAL_ERROR"), true                                              \
    }

static char like[MISHAP_ID_LENGTH + 1];

static int make(void **state)
{
    *state = mishap_limits_make();
    return *state ? 0 : -1;
}

static int give_back(void **state)
{
    mishap_limits_free(*state);
    return 0;
}

#define WITH_LIMITS(name) cmocka_unit_test_setup_teardown(name, make, give_back)

/* How many of so many entries get this answer. */
static size_t count(mishap_limits *limits, mishap_limit_kind kind, size_t entries, int64_t now,
                    mishap_limit wanted)
{
    size_t found = 0;
    for (size_t i = 0; i < entries; i++)
        found += mishap_limits_ask(limits, &kind, ID, now, like) == wanted;
    return found;
}

static char *told(mishap_limits *limits, int64_t now, bool all)
{
    mishap_buffer out = { 0 };
    mishap_limits_tell(limits, "sample", now, all, &out);
    mishap_buffer_put_char(&out, '\0');
    char *text = strdup(out.data);
    mishap_buffer_release(&out);
    return text;
}

/* -- a caller's own doing ---------------------------------------------------------------------- */

static void ten_of_a_kind_are_written_and_then_one_each_six_seconds(void **state)
{
    assert_int_equal(count(*state, THEIRS, 100, START, MISHAP_LIMIT_WHOLE), 10);
    assert_int_equal(count(*state, THEIRS, 9, START + 5 * SECOND, MISHAP_LIMIT_WHOLE), 0);
    assert_int_equal(count(*state, THEIRS, 9, START + 6 * SECOND, MISHAP_LIMIT_WHOLE), 1);
    assert_int_equal(count(*state, THEIRS, 99, START + 3600 * SECOND, MISHAP_LIMIT_WHOLE), 10);
}

static void the_others_are_counted_and_told_of_after_ten_seconds(void **state)
{
    assert_int_equal(count(*state, THEIRS, 4721, START, MISHAP_LIMIT_COUNT), 4711);
    char *text = told(*state, START + 9 * SECOND, false);
    assert_string_equal(text, "");
    free(text);
    text = told(*state, START + 10 * SECOND, false);
    assert_memory_equal(text + 23, "Z - sample users.get\n", 21);
    assert_string_equal(strchr(text, '\n'),
                        "\n  NOT_FOUND: 4711 more like this from ada in the last 10 s; "
                        "written in full: " ID "\n");
    free(text);
    text = told(*state, START + 99 * SECOND, true); /* only once */
    assert_string_equal(text, "");
    free(text);
}

static void all_is_told_at_the_end(void **state)
{
    count(*state, THEIRS, 11, START, MISHAP_LIMIT_COUNT);
    char *text = told(*state, START, true);
    assert_non_null(strstr(text, "  NOT_FOUND: 1 more like this from ada in the last 1 s"));
    free(text);
}

static void one_caller_has_sixty_of_all_kinds(void **state)
{
    size_t whole = 0;
    char operation[20];
    for (int i = 0; i < 50; i++) {
        snprintf(operation, sizeof operation, "operation.%d", i);
        mishap_limit_kind kind = { "ada", operation, T("NOT_FOUND"), false };
        whole += count(*state, kind, 5, START, MISHAP_LIMIT_WHOLE);
    }
    assert_int_equal(whole, 60);
}

static void callers_operations_and_codes_are_kinds_of_their_own(void **state)
{
    mishap_limit_kind others[] = { THEIRS, THEIRS, THEIRS, THEIRS };
    others[0].caller = "bob";
    others[1].operation = "users.put";
    others[2].code = T("CONFLICT");
    others[3].caller = NULL;
    assert_int_equal(count(*state, THEIRS, 100, START, MISHAP_LIMIT_WHOLE), 10);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(count(*state, others[i], 100, START, MISHAP_LIMIT_WHOLE), 10);
}

static void a_network_of_ipv6_is_one_caller(void **state)
{
    mishap_limit_kind kind = { "2001:db8::1", "users.get", T("NOT_FOUND"), false };
    assert_int_equal(count(*state, kind, 100, START, MISHAP_LIMIT_WHOLE), 10);
    kind.caller = "2001:db8::ffff:1";
    assert_int_equal(count(*state, kind, 100, START, MISHAP_LIMIT_WHOLE), 0);
    kind.caller = "2001:db8:0:1::1";
    assert_int_equal(count(*state, kind, 100, START, MISHAP_LIMIT_WHOLE), 10);
}

/* -- faults of the server ---------------------------------------------------------------------- */

static void a_hundred_faults_are_written_then_lines_then_they_are_counted(void **state)
{
    mishap_limit_kind kind = FAULT;
    assert_int_equal(count(*state, FAULT, 100, START, MISHAP_LIMIT_WHOLE), 100);
    assert_int_equal(mishap_limits_ask(*state, &kind, "another", START, like), MISHAP_LIMIT_LINE);
    assert_string_equal(like, ID);
    assert_int_equal(count(*state, FAULT, 1999, START, MISHAP_LIMIT_LINE), 1999);
    assert_int_equal(count(*state, FAULT, 100, START, MISHAP_LIMIT_COUNT), 100);
    assert_int_equal(count(*state, FAULT, 1, START + SECOND, MISHAP_LIMIT_WHOLE), 1);
    assert_int_equal(count(*state, FAULT, 100, START + SECOND, MISHAP_LIMIT_LINE), 50);
}

static void a_caller_that_does_wrong_keeps_no_fault_from_being_written(void **state)
{
    count(*state, THEIRS, 10000, START, MISHAP_LIMIT_COUNT);
    assert_int_equal(count(*state, FAULT, 100, START, MISHAP_LIMIT_WHOLE), 100);
}

/* -- the table --------------------------------------------------------------------------------- */

/* However many callers there are, there is a bound. Afterwards everything is as it was. */
static void more_callers_than_the_table_has_room_for_share_what_is_left(void **state)
{
    size_t whole = 0;
    char caller[20];
    for (int i = 0; i < 20000; i++) {
        snprintf(caller, sizeof caller, "10.0.%d.%d", i / 256, i % 256);
        mishap_limit_kind kind = { caller, "users.get", T("NOT_FOUND"), false };
        whole += count(*state, kind, 11, START, MISHAP_LIMIT_WHOLE);
    }
    assert_in_range(whole, 5000, 10 * 2048 + 10);
    free(told(*state, START, true));
    assert_int_equal(count(*state, THEIRS, 100, START + 3600 * SECOND, MISHAP_LIMIT_WHOLE), 10);
}

static void nothing_that_a_caller_is_named_by_breaks_a_line(void **state)
{
    mishap_limit_kind kind = { "a\n2026-01-01T00:00:00.000Z \033[2J", "x\ny", T("NOT_FOUND"),
                               false };
    count(*state, kind, 20, START, MISHAP_LIMIT_COUNT);
    char *text = told(*state, START, true);
    size_t lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 2);
    assert_null(strchr(text, '\033'));
    free(text);
}

/* A word far ahead of the clock, as after a suspend of another machine, does not mute a kind. */
static void a_clock_that_goes_back_mutes_nobody(void **state)
{
    assert_int_equal(count(*state, THEIRS, 10, START + 90000 * SECOND, MISHAP_LIMIT_WHOLE), 10);
    assert_int_equal(count(*state, THEIRS, 10, START, MISHAP_LIMIT_WHOLE), 10);
}

/* -- at the same time -------------------------------------------------------------------------- */

/* With a sanitizer each round takes seconds. */
enum { ROUNDS = SANITIZED ? 3 : 40, KINDS = 1500 };

/* Each caller has more failures than are written, so the others are counted: since now. */
static void *fail_as_many_callers(void *limits)
{
    char of_thread[MISHAP_ID_LENGTH + 1], caller[32];
    for (int i = 0; i < KINDS; i++) {
        snprintf(caller, sizeof caller, "caller %d", i);
        mishap_limit_kind kind = { caller, "users.get", T("NOT_FOUND"), false };
        for (int turn = 0; turn < 12; turn++)
            mishap_limits_ask(limits, &kind, ID, START, of_thread);
    }
    return limits;
}

/* Nothing is due yet. Who looks while they are counted must not take the time before for theirs. */
static void what_begins_to_count_while_another_process_tells_is_not_due(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        mishap_limits *limits = mishap_limits_make();
        assert_non_null(limits);
        assert_int_equal(pthread_create(&thread, NULL, fail_as_many_callers, limits), 0);
        for (bool over = false; !over;) {
            over = pthread_tryjoin_np(thread, NULL) == 0;
            char *text = told(limits, START, false);
            assert_string_equal(text, "");
            free(text);
        }
        char *text = told(limits, START, true);
        assert_non_null(strstr(text, "NOT_FOUND: 2 more like this from caller 0 in the last 1 s"));
        free(text);
        mishap_limits_free(limits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LIMITS(ten_of_a_kind_are_written_and_then_one_each_six_seconds),
        WITH_LIMITS(the_others_are_counted_and_told_of_after_ten_seconds),
        WITH_LIMITS(all_is_told_at_the_end),
        WITH_LIMITS(one_caller_has_sixty_of_all_kinds),
        WITH_LIMITS(callers_operations_and_codes_are_kinds_of_their_own),
        WITH_LIMITS(a_network_of_ipv6_is_one_caller),
        WITH_LIMITS(a_hundred_faults_are_written_then_lines_then_they_are_counted),
        WITH_LIMITS(a_caller_that_does_wrong_keeps_no_fault_from_being_written),
        WITH_LIMITS(more_callers_than_the_table_has_room_for_share_what_is_left),
        WITH_LIMITS(nothing_that_a_caller_is_named_by_breaks_a_line),
        WITH_LIMITS(a_clock_that_goes_back_mutes_nobody),
        TEST(what_begins_to_count_while_another_process_tells_is_not_due),
    };
    return RUN(tests);
}
