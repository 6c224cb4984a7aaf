/* src/incident/limit.c: how many records of one kind are whole, with a clock of the test. */
#include "testing.h"

#include <arpa/inet.h>

#include "incident/limit.h"

#define SECOND INT64_C(1000000000)
#define START  (1000 * SECOND)
#define THEIRS                                                                                     \
    (mishap_limit_kind)                                                                            \
    {                                                                                              \
        "ada", 7, false                                                                            \
    }
#define FAULT                                                                                      \
    (mishap_limit_kind)                                                                            \
    {                                                                                              \
        "ada", 7, true                                                                             \
    }

static const unsigned char id[16] = "0123456789abcde", none[16];
static unsigned char like[16];

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

/* How many of so many records are whole. */
static size_t count(mishap_limits *limits, mishap_limit_kind kind, size_t entries, int64_t now)
{
    size_t found = 0;
    for (size_t i = 0; i < entries; i++)
        found += mishap_limits_ask(limits, &kind, id, now, like);
    return found;
}

static void ten_of_a_kind_are_whole_and_then_one_each_six_seconds(void **state)
{
    assert_int_equal(count(*state, THEIRS, 100, START), 10);
    assert_int_equal(count(*state, THEIRS, 9, START + 5 * SECOND), 0);
    assert_int_equal(count(*state, THEIRS, 9, START + 6 * SECOND), 1);
    assert_int_equal(count(*state, THEIRS, 99, START + 3600 * SECOND), 10);
}

static void the_others_know_a_whole_record_of_their_kind(void **state)
{
    assert_int_equal(count(*state, THEIRS, 10, START), 10);
    assert_memory_equal(like, none, sizeof like);
    assert_int_equal(count(*state, THEIRS, 1, START), 0);
    assert_memory_equal(like, id, sizeof like);
}

static void one_caller_has_sixty_of_all_kinds(void **state)
{
    size_t whole = 0;
    for (uint64_t group = 1; group <= 100; group++)
        whole += count(*state, (mishap_limit_kind){ "ada", group, false }, 5, START);
    assert_int_equal(whole, 60);
    assert_int_equal(count(*state, (mishap_limit_kind){ "bob", 1, false }, 5, START), 5);
}

static void callers_and_groups_are_kinds_of_their_own(void **state)
{
    assert_int_equal(count(*state, THEIRS, 20, START), 10);
    assert_int_equal(count(*state, (mishap_limit_kind){ "bob", 7, false }, 20, START), 10);
    assert_int_equal(count(*state, (mishap_limit_kind){ NULL, 7, false }, 20, START), 10);
    assert_int_equal(count(*state, (mishap_limit_kind){ "ada", 8, false }, 20, START), 10);
}

static void a_network_of_ipv6_is_one_caller(void **state)
{
    size_t whole = 0;
    for (int i = 1; i < 100; i++) {
        char caller[40];
        snprintf(caller, sizeof caller, "2001:db8:1:2::%x", (unsigned)i);
        whole += count(*state, (mishap_limit_kind){ caller, 7, false }, 1, START);
    }
    assert_int_equal(whole, 10);
    assert_int_equal(count(*state, (mishap_limit_kind){ "2001:db8:1:3::1", 7, false }, 20, START),
                     10);
}

static void a_hundred_faults_are_whole_and_no_mistake_of_a_caller_keeps_them_back(void **state)
{
    assert_int_equal(count(*state, THEIRS, 1000, START), 10);
    assert_int_equal(count(*state, FAULT, 1000, START), 100);
    assert_int_equal(count(*state, FAULT, 1000, START + SECOND), 1);
    assert_memory_equal(like, id, sizeof like);
}

static void more_callers_than_the_table_has_room_for_share_what_is_left(void **state)
{
    size_t whole = 0;
    for (int i = 0; i < 20000; i++) {
        char caller[40];
        snprintf(caller, sizeof caller, "caller-%d", i);
        whole += count(*state, (mishap_limit_kind){ caller, 7, false }, 1, START);
    }
    assert_in_range(whole, 1000, 4200);
    assert_int_equal(count(*state, THEIRS, 20, START + 3600 * SECOND), 10); /* all are free again */
}

/* Callers are addresses, or names that the operator has given them. */
enum callers { ADDRESSES, NETWORKS, NAMES };

static void fill_table(mishap_limits *limits, enum callers callers, bool fault)
{
    for (int i = 0; i < 20000; i++) {
        char caller[40];
        if (callers == ADDRESSES)
            snprintf(caller, sizeof caller, "10.0.%d.%d", i / 250, i % 250);
        else if (callers == NETWORKS)
            snprintf(caller, sizeof caller, "2001:db8:0:%x::1", (unsigned)i);
        else
            snprintf(caller, sizeof caller, "caller-%d", i);
        count(limits, (mishap_limit_kind){ caller, 7, fault }, 1, START);
    }
}

static void callers_with_many_addresses_take_nothing_from_those_with_names(void **state)
{
    fill_table(*state, ADDRESSES, false);
    fill_table(*state, ADDRESSES, true);
    fill_table(*state, NETWORKS, false);
    assert_int_equal(count(*state, THEIRS, 100, START), 10);
    assert_int_equal(count(*state, FAULT, 1000, START), 100);
}

/* All places for addresses are taken, so what is an address gets none. */
static void what_is_no_address_is_a_name(void **state)
{
    static const char *const callers[] = {
        "192.0.2.1", "0.0.0.0",        "255.255.255.255", "1.2.3",     "1.2.3.",
        "1.2.3.4.",  "1.2.3.4.5",      "1.2.3.256",       "01.2.3.4",  "1.00.3.4",
        "1..3.4",    ".1.2.3.4",       "1.2.3.4 ",        " 1.2.3.4",  "1.2.3.a",
        "",          "1.2.3.99999999", "-1.2.3.4",        "1.2.3.4\n", "::1.2.3.4x",
        "a:b",
    };
    fill_table(*state, ADDRESSES, false);
    for (size_t i = 0; i < sizeof callers / sizeof *callers; i++) {
        struct in_addr any;
        bool address = inet_pton(AF_INET, callers[i], &any) == 1;
        size_t whole = count(*state, (mishap_limit_kind){ callers[i], 7, false }, 20, START);
        if (whole != (address ? 0 : 10))
            fail_msg("\"%s\": %zu are whole", callers[i], whole);
    }
    assert_int_equal(count(*state, (mishap_limit_kind){ "::1", 7, false }, 20, START), 0);
    assert_int_equal(count(*state, (mishap_limit_kind){ "::ffff:1.2.3.4", 7, false }, 20, START),
                     0);
    assert_int_equal(count(*state, (mishap_limit_kind){ NULL, 7, false }, 20, START), 0);
}

static void mistakes_take_nothing_from_faults(void **state)
{
    fill_table(*state, NAMES, false);
    assert_int_equal(count(*state, FAULT, 1000, START), 100);
}

/* As many whole records of so many bytes as there may be, of any number of kinds. */
static size_t count_spending(mishap_limits *limits, const char *caller, bool fault, size_t bytes,
                             size_t kinds, int64_t now)
{
    size_t whole = 0;
    for (uint64_t group = 1; group <= kinds; group++) {
        mishap_limit_kind kind = { caller, group, fault };
        if (!mishap_limits_ask(limits, &kind, id, now, like))
            continue;
        mishap_limits_spend(limits, &kind, bytes, now);
        whole++;
    }
    return whole;
}

static void one_caller_has_four_megabytes_and_then_64_kb_per_second(void **state)
{
    enum { LONGEST = 128 << 10 };
    assert_int_equal(count_spending(*state, "ada", false, LONGEST, 60, START), 32);
    assert_int_equal(count_spending(*state, "ada", false, LONGEST, 60, START + SECOND), 1);
    assert_int_equal(count_spending(*state, "ada", false, LONGEST, 60, START + 11 * SECOND), 5);
    assert_int_equal(count_spending(*state, "bob", false, LONGEST, 60, START), 32);
    assert_int_equal(count_spending(*state, "eve", false, 1500, 60, START), 60);
}

static void all_callers_have_32_megabytes_and_then_512_kb_per_second(void **state)
{
    enum { LONGEST = 128 << 10 };
    for (int second = 0; second <= 10; second += 10) {
        size_t whole = 0;
        for (int i = 0; i < 100; i++) {
            char caller[20];
            snprintf(caller, sizeof caller, "10.0.%d.%d", second, i);
            whole += count_spending(*state, caller, false, LONGEST, 20, START + second * SECOND);
        }
        assert_int_equal(whole, second ? 40 : 256);
    }
    assert_int_equal(count_spending(*state, "ada", false, LONGEST, 60, START), 32);
    assert_int_equal(count_spending(*state, "10.0.0.1", true, LONGEST, 1000, START), 256);
    assert_int_equal(count_spending(*state, "10.0.0.1", true, LONGEST, 1000, START + 2 * SECOND),
                     8);
}

static void a_clock_that_goes_back_mutes_nobody(void **state)
{
    assert_int_equal(count(*state, THEIRS, 20, START + 100000 * SECOND), 10);
    assert_int_equal(count(*state, THEIRS, 20, START), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LIMITS(ten_of_a_kind_are_whole_and_then_one_each_six_seconds),
        WITH_LIMITS(the_others_know_a_whole_record_of_their_kind),
        WITH_LIMITS(one_caller_has_sixty_of_all_kinds),
        WITH_LIMITS(callers_and_groups_are_kinds_of_their_own),
        WITH_LIMITS(a_network_of_ipv6_is_one_caller),
        WITH_LIMITS(a_hundred_faults_are_whole_and_no_mistake_of_a_caller_keeps_them_back),
        WITH_LIMITS(more_callers_than_the_table_has_room_for_share_what_is_left),
        WITH_LIMITS(callers_with_many_addresses_take_nothing_from_those_with_names),
        WITH_LIMITS(what_is_no_address_is_a_name),
        WITH_LIMITS(mistakes_take_nothing_from_faults),
        WITH_LIMITS(one_caller_has_four_megabytes_and_then_64_kb_per_second),
        WITH_LIMITS(all_callers_have_32_megabytes_and_then_512_kb_per_second),
        WITH_LIMITS(a_clock_that_goes_back_mutes_nobody),
    };
    return RUN(tests);
}
