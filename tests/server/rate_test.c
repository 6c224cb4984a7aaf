/* How often a caller may call, with a clock that is made up, in one process and in several. */
#include "server/server.h"
#include "testing.h"

#include <sys/wait.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define START  (1000 * SECOND)

/* -- helpers ----------------------------------------------------------------------------------- */

static mishap_http_rates *make(int per_second)
{
    mishap_http_rates *rates;
    assert_null(mishap_http_rates_make(per_second, &rates));
    assert_non_null(rates);
    return rates;
}

static mishap_http_request from(const char *remote, const char *caller)
{
    return (mishap_http_request){ .remote = mishap_text_of(remote), .caller = caller };
}

/* May it? */
static bool admits(mishap_http_rates *rates, const mishap_http_request *request, int64_t now)
{
    mishap *m = mishap_http_rates_check(rates, request, now);
    mishap_free(m);
    return m == NULL;
}

/* How many of so many at the same moment are let through? */
static int admitted(mishap_http_rates *rates, const mishap_http_request *request, int64_t now,
                    int tries)
{
    int count = 0;
    while (tries--)
        count += admits(rates, request, now);
    return count;
}

/* -- counts ------------------------------------------------------------------------------------ */

static void no_limit_is_no_table(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(1), *made = rates;
    mishap_http_request request = from("127.0.0.1", NULL);
    assert_null(mishap_http_rates_make(0, &rates));
    assert_null(rates);
    assert_null(mishap_http_rates_check(rates, &request, 0));
    mishap_http_rates_free(rates);
    mishap_http_rates_free(made);
}

static void a_second_is_due_at_once_and_then_one_after_the_other(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(50);
    mishap_http_request request = from("192.0.2.1", NULL);
    assert_int_equal(admitted(rates, &request, START, 1000), 50);
    assert_int_equal(admitted(rates, &request, START + SECOND / 50 - 1, 10), 0);
    assert_int_equal(admitted(rates, &request, START + SECOND / 50, 10), 1);
    assert_int_equal(admitted(rates, &request, START + SECOND / 50, 10), 0);
    assert_int_equal(admitted(rates, &request, START + SECOND / 2, 1000), 24);
    assert_int_equal(admitted(rates, &request, START + 60 * SECOND, 1000), 50); /* never more */
    mishap_http_rates_free(rates);
}

static void one_a_second_is_one_a_second(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(1);
    mishap_http_request request = from("192.0.2.1", NULL);
    int count = 0;
    for (int64_t ms = 0; ms < 10000; ms += 10)
        count += admits(rates, &request, START + ms * 1000000);
    assert_int_equal(count, 10);
    mishap_http_rates_free(rates);
}

static void odd_rates_never_give_more_than_they_promise(void **state)
{
    (void)state;
    static const int limits[] = { 3, 7, 333, 99999, 1000000000, INT32_MAX };
    for (size_t i = 0; i < 4; i++) {
        mishap_http_rates *rates = make(limits[i]);
        mishap_http_request request = from("192.0.2.1", NULL);
        assert_int_equal(admitted(rates, &request, START, limits[i] + 10), limits[i]);
        assert_in_range(admitted(rates, &request, START + SECOND, limits[i] + 10),
                        limits[i] - limits[i] / 1000 - 1, limits[i]);
        mishap_http_rates_free(rates);
    }
    for (size_t i = 4; i < 6; i++) {
        mishap_http_rates *rates = make(limits[i]);
        mishap_http_request request = from("192.0.2.1", NULL);
        assert_int_equal(admitted(rates, &request, START, 1000), 1000);
        mishap_http_rates_free(rates);
    }
}

static void what_does_not_divide_a_second_is_rounded_down(void **state)
{
    (void)state;
    enum { RATE = 99999 }; /* one every 10000.1 nanoseconds */
    mishap_http_rates *rates = make(RATE);
    mishap_http_request request = from("192.0.2.1", NULL);
    int count = 0;
    assert_int_equal(admitted(rates, &request, START, RATE + 1), RATE);
    for (int64_t step = 1; step <= 100; step++)
        while (admits(rates, &request, START + step * SECOND / 100))
            count++;
    assert_in_range(count, RATE - 10, RATE);
    mishap_http_rates_free(rates);
}

static void who_keeps_knocking_gets_what_is_due(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(10);
    mishap_http_request request = from("192.0.2.1", NULL);
    int count = 0;
    for (int64_t us = 0; us < 5000000; us += 500) /* 200 times as often as it may */
        count += admits(rates, &request, START + us * 1000);
    assert_int_equal(count, 10 + 49);
    mishap_http_rates_free(rates);
}

static void the_refusal_says_when_to_come_again(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(50);
    mishap_http_request request = from("192.0.2.1", NULL);
    assert_int_equal(admitted(rates, &request, START, 50), 50);
    mishap *m = mishap_http_rates_check(rates, &request, START + 100);
    const mishap_public *told = mishap_told(m);
    assert_ptr_equal(told->code, MISHAP_CODE_RATE_LIMITED);
    assert_int_equal(told->code->http_status, 429);
    assert_string_equal(told->message.data, "Too many requests: the limit is 50 per second.");
    assert_int_equal(told->retry_after_ms, 20); /* 19.9999, rounded up */
    assert_true(told->retryable);
    assert_true(admits(rates, &request, START + 100 + told->retry_after_ms * 1000000));
    mishap_free(m);
    mishap_http_rates_free(rates);
}

/* The request, and the messages that it has. NULL: it is let through. */
static mishap *check_all(mishap_http_rates *rates, const mishap_http_request *request, size_t count,
                         int64_t now)
{
    mishap *m = mishap_http_rates_check(rates, request, now);
    return m ? m : mishap_http_rates_check_all(rates, request, count, now);
}

static void each_of_many_messages_is_a_request(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(50);
    mishap_http_request request = from("192.0.2.1", NULL), other = from("192.0.2.2", NULL);
    assert_null(check_all(rates, &request, 40, START));
    assert_int_equal(admitted(rates, &other, START, 100), 50);
    assert_int_equal(admitted(rates, &request, START, 100), 10);
    assert_null(mishap_http_rates_check_all(NULL, &request, 40, START));
    mishap_http_rates_free(rates);
}

/* All of them, or none: and who waits as long as advised is let through. */
static void messages_over_the_rate_are_refused_together(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(50);
    mishap_http_request request = from("192.0.2.1", NULL);
    assert_null(check_all(rates, &request, 50, START)); /* a second's worth */
    int64_t now = START + SECOND / 2;
    mishap *m = check_all(rates, &request, 30, now);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_RATE_LIMITED);
    assert_int_equal(mishap_told(m)->retry_after_ms, 100);
    assert_int_equal(admitted(rates, &request, now, 5), 5); /* nothing was counted */
    now += (mishap_told(m)->retry_after_ms + 100) * 1000000;
    mishap_free(m);
    assert_null(check_all(rates, &request, 30, now));
    mishap_http_rates_free(rates);
}

static void more_messages_than_are_ever_due_are_told_so(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(10);
    mishap_http_request request = from("192.0.2.1", NULL);
    mishap *m = check_all(rates, &request, 11, START);
    const mishap_public *told = mishap_told(m);
    assert_ptr_equal(told->code, MISHAP_CODE_RATE_LIMITED);
    assert_string_equal(told->message.data,
                        "The batch has 11 messages: the limit is 10 per second.");
    assert_string_equal(told->suggestion.data, "Send at most 10 messages at once.");
    mishap_free(m);
    assert_int_equal(admitted(rates, &request, START, 20), 9); /* it has cost one */
    mishap_http_rates_free(rates);
}

static void the_clock_may_wrap_around(void **state)
{
    (void)state;
    static const int64_t starts[] = { INT64_MAX - SECOND / 2, -SECOND / 2, INT64_MIN, 0 };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        mishap_http_rates *rates = make(4);
        mishap_http_request request = from("192.0.2.1", NULL);
        int count = 0;
        /* Some time before, so that the word is set; then on in steps of a tenth of a second. */
        uint64_t now = (uint64_t)starts[i];
        if (starts[i] < 0 && starts[i] > INT64_MIN)
            now -= (uint64_t)(10000 * SECOND);
        (void)admitted(rates, &request, (int64_t)now, 1);
        now = (uint64_t)starts[i] + (uint64_t)(2 * SECOND);
        for (int step = 0; step < 50; step++, now += SECOND / 10)
            count += admits(rates, &request, (int64_t)now);
        assert_in_range(count, 22, 24); /* four at once and four a second for 4.9 seconds */
        mishap_http_rates_free(rates);
    }
}

static void a_clock_that_is_slightly_behind_gives_nothing_away(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(50);
    mishap_http_request request = from("192.0.2.1", NULL);
    assert_int_equal(admitted(rates, &request, START, 100), 50);
    assert_int_equal(admitted(rates, &request, START - SECOND / 100, 100), 0);
    assert_int_equal(admitted(rates, &request, START - 20 * SECOND, 100), 0);
    assert_int_equal(admitted(rates, &request, START, 100), 0);
    mishap_http_rates_free(rates);
}

/* -- callers ----------------------------------------------------------------------------------- */

static void each_caller_has_its_own(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(2);
    int others = 0;
    char name[32];
    mishap_http_request greedy = from("192.0.2.1", NULL);
    assert_int_equal(admitted(rates, &greedy, START, 5), 2);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "198.51.100.%d", i);
        mishap_http_request request = from(name, NULL);
        others += admitted(rates, &request, START, 3);
    }
    assert_in_range(others, 190, 200); /* two may meet in a word: seldom, and not all */
    mishap_http_rates_free(rates);
}

static void a_caller_with_a_name_goes_by_it(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(2);
    mishap_http_request here = from("192.0.2.1", "deploy"), there = from("192.0.2.2", "deploy");
    mishap_http_request nobody = from("192.0.2.1", NULL), odd = from("192.0.2.9", "192.0.2.1");
    assert_int_equal(admitted(rates, &here, START, 1), 1);
    assert_int_equal(admitted(rates, &there, START, 5), 1);
    assert_int_equal(admitted(rates, &nobody, START, 5), 2);
    assert_int_equal(admitted(rates, &odd, START, 5), 2); /* its name looks like that address */
    mishap_http_rates_free(rates);
}

static void another_key_of_the_same_name_is_another_caller(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(10);
    mishap_http_request one = from("192.0.2.1", "ada"), other = one, elsewhere = one, named = one;
    one.caller_key = elsewhere.caller_key = 1;
    other.caller_key = 2;
    elsewhere.remote = mishap_text_of("192.0.2.2");
    assert_int_equal(admitted(rates, &one, START, 100), 10);
    assert_int_equal(admitted(rates, &elsewhere, START, 100), 0);
    assert_int_equal(admitted(rates, &other, START, 100), 10);
    named.caller_key = 0; /* a name without a key */
    assert_int_equal(admitted(rates, &named, START, 100), 10);
    mishap_http_rates_free(rates);
}

/* A name is chosen by the operator, and an address may be anything; neither is a key. */
static void a_key_a_name_and_an_address_of_the_same_bytes_are_three_callers(void **state)
{
    static const uint64_t secret[2] = { 11, 12 };
    static const char bytes[] = "abcdefgh";
    mishap_http_request by_key = { .caller = "x" }, by_name = { .caller = bytes },
                        by_address = { .remote = mishap_text_of(bytes) }, nobody = { 0 };
    (void)state;
    memcpy(&by_key.caller_key, bytes, sizeof by_key.caller_key);
    uint64_t key = mishap_http_caller_number(secret, &by_key);
    uint64_t name = mishap_http_caller_number(secret, &by_name);
    uint64_t address = mishap_http_caller_number(secret, &by_address);
    assert_true(key != name && name != address && address != key);
    assert_true(key && name && address && mishap_http_caller_number(secret, &nobody));
    by_key.caller = "y"; /* under any name by now */
    assert_true(mishap_http_caller_number(secret, &by_key) == key);
}

static void what_belongs_to_a_caller_belongs_to_its_key(void **state)
{
    mishap_http_request first = { .caller = "ci", .caller_key = 5 }, second = first,
                        named = { .caller = "ci" }, nobody = { 0 };
    (void)state;
    second.caller_key = 6;
    assert_int_equal(mishap_http_owner_of(&first), 5);
    assert_int_equal(mishap_http_owner_of(&second), 6);
    assert_int_equal(mishap_http_owner_of(&nobody), 0);
    assert_true(mishap_http_owner_of(&named) && mishap_http_owner_of(&named) != 5);
}

static void a_network_of_ipv6_counts_as_one(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(2);
    mishap_http_request a = from("2001:db8:1:2::1", NULL), b = from("2001:db8:1:2:ffff::9", NULL);
    mishap_http_request c = from("2001:db8:1:3::1", NULL);
    assert_int_equal(admitted(rates, &a, START, 5), 2);
    assert_int_equal(admitted(rates, &b, START, 5), 0);
    assert_int_equal(admitted(rates, &c, START, 5), 2);
    /* These stand for an address of IPv4, each for its own. */
    mishap_http_request d = from("::ffff:192.0.2.1", NULL), e = from("::ffff:192.0.2.2", NULL);
    assert_int_equal(admitted(rates, &d, START, 5), 2);
    assert_int_equal(admitted(rates, &e, START, 5), 2);
    mishap_http_rates_free(rates);
}

static void any_text_will_do_for_an_address(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",       ":", "fe80::1%eth0",
        "::::::", "@", "a text that is far longer than any address can ever be:"
    };
    mishap_http_rates *rates = make(2);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mishap_http_request request = from(texts[i], NULL);
        assert_int_equal(admitted(rates, &request, START, 5), 2);
    }
    mishap_http_request none = { 0 };
    assert_int_equal(admitted(rates, &none, START, 5), 0); /* as the empty one */
    mishap_http_rates_free(rates);
}

static void two_tables_put_callers_elsewhere(void **state)
{
    (void)state;
    /* With 2,000 callers some collide. If they collided in the same way in both tables, a caller
     * could find out with whom it collides. */
    enum { CALLERS = 2000 };
    bool met[2][CALLERS];
    int common = 0, all = 0;
    for (int table = 0; table < 2; table++) {
        mishap_http_rates *rates = make(1);
        for (int i = 0; i < CALLERS; i++) {
            char name[32];
            snprintf(name, sizeof name, "10.0.%d.%d", i / 250, i % 250);
            mishap_http_request request = from(name, NULL);
            met[table][i] = !admits(rates, &request, START);
        }
        mishap_http_rates_free(rates);
    }
    for (int i = 0; i < CALLERS; i++) {
        common += met[0][i] && met[1][i];
        all += met[0][i];
    }
    assert_in_range(all, 8, 80); /* 30 by the birthdays of 65,536 days */
    assert_in_range(common, 0, 6);
}

/* -- processes --------------------------------------------------------------------------------- */

static void several_processes_share_one_limit(void **state)
{
    (void)state;
    enum { PROCESSES = 4, TRIES = 20000 };
    mishap_http_rates *rates = make(10000);
    mishap_http_request request = from("192.0.2.1", "deploy");
    int pipe_ends[2], total = 0;
    assert_int_equal(pipe(pipe_ends), 0);
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            /* All at one moment: exactly the allowance of one second, for any of them. */
            int count = admitted(rates, &request, START, TRIES);
            _exit(write(pipe_ends[1], &count, sizeof count) == sizeof count ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status, count = 0;
        assert_int_equal(read(pipe_ends[0], &count, sizeof count), sizeof count);
        total += count;
        wait(&status);
        assert_int_equal(status, 0);
    }
    assert_int_equal(total, 10000);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    mishap_http_rates_free(rates);
}

static void without_memory_it_still_refuses(void **state)
{
    (void)state;
    mishap_http_rates *rates = make(1);
    mishap_http_request request = from("192.0.2.1", NULL);
    mishap_use_allocator(&failing_allocator);
    fail_at = 1;
    assert_int_equal(admitted(rates, &request, START, 10), 1);
    fail_at = 0;
    mishap_use_allocator(NULL);
    mishap_http_rates_free(rates);
}

/* -- several servers ----------------------------------------------------------------------------
 */

enum { WHOLE = MISHAP_HTTP_RATE_PARTS };

static mishap_http_rates *make_shared(int per_second)
{
    static const uint64_t secret[2] = { 1, 2 };
    mishap_http_rates *rates;
    assert_null(mishap_http_rates_make_shared(per_second, secret, &rates));
    assert_non_null(rates);
    return rates;
}

static void a_server_has_its_part_of_a_half_and_only_when_it_is_told(void **state)
{
    (void)state;
    mishap_http_rates *rates = make_shared(100);
    mishap_http_request request = from("192.0.2.1", NULL);
    assert_int_equal(admitted(rates, &request, START, 100), 0);
    mishap_http_rates_divide(rates, WHOLE, START);
    assert_int_equal(admitted(rates, &request, START, 100), 0); /* others may just have used it */
    assert_int_equal(admitted(rates, &request, START + SECOND / 2, 100), 25);
    assert_int_equal(admitted(rates, &request, START + 3 * SECOND, 100), 50);
    mishap_http_rates_divide(rates, WHOLE / 5, START + 3 * SECOND);
    assert_int_equal(admitted(rates, &request, START + 3 * SECOND, 100), 0);
    assert_int_equal(admitted(rates, &request, START + 9 * SECOND, 100), 10);
    mishap_http_rates_divide(rates, 0, START + 9 * SECOND);
    assert_int_equal(admitted(rates, &request, START + 19 * SECOND, 100), 0);
    mishap_http_rates_free(rates);
}

static void what_was_leased_is_used_until_it_ends(void **state)
{
    (void)state;
    mishap_http_rates *rates = make_shared(100);
    mishap_http_request request = from("192.0.2.1", NULL), other = from("192.0.2.2", NULL);
    mishap_http_need needs[4];
    mishap *m = mishap_http_rates_check(rates, &request, START);
    assert_int_equal(mishap_told(m)->retry_after_ms, 100); /* a lease is on its way */
    mishap_free(m);
    assert_int_equal(admitted(rates, &request, START, 6), 0);
    assert_int_equal(mishap_http_rates_needs(rates, needs, 4), 1);
    assert_int_equal(needs[0].count, 7);
    assert_int_equal(mishap_http_rates_needs(rates, needs + 1, 3), 0);
    mishap_http_rates_lease(rates, needs[0].place, 5, START + SECOND / 5);
    assert_int_equal(admitted(rates, &other, START, 10), 0);
    assert_int_equal(admitted(rates, &request, START + SECOND / 10, 3), 3);
    assert_null(mishap_http_rates_check_all(rates, &request, 2, START + SECOND / 10));
    assert_int_equal(admitted(rates, &request, START + SECOND / 5 - 1000000, 9), 1);
    mishap_http_rates_lease(rates, needs[0].place, 5, START + SECOND);
    assert_int_equal(admitted(rates, &request, START + SECOND, 9), 0);
    mishap_http_rates_free(rates);
}

static void needs_that_do_not_fit_in_are_told_the_next_time(void **state)
{
    (void)state;
    mishap_http_rates *rates = make_shared(100);
    mishap_http_need needs[300];
    char names[300][16];
    size_t count = 0, more;
    for (size_t i = 0; i < 300; i++) {
        snprintf(names[i], sizeof names[i], "name-%zu", i);
        mishap_http_request request = from("192.0.2.1", names[i]);
        assert_int_equal(admitted(rates, &request, START, 2), 0);
    }
    while ((more = mishap_http_rates_needs(rates, needs, 7)) > 0)
        for (size_t i = 0; i < more; i++)
            count += needs[i].count;
    assert_int_equal(count, 600);
    mishap_http_rates_free(rates);
}

static size_t add_needs(mishap_http_rates *rates, size_t most, bool *told)
{
    mishap_http_need needs[300];
    size_t added = 0, count = mishap_http_rates_needs(rates, needs, most);
    for (size_t i = 0; i < count; i++) {
        added += !told[needs[i].place];
        told[needs[i].place] = true;
    }
    return added;
}

static void callers_that_were_left_out_come_first_the_next_time(void **state)
{
    static bool all[1 << 16], told[1 << 16];
    (void)state;
    mishap_http_rates *rates = make_shared(100);
    size_t count = 0, told_count = 0;
    char name[16];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 300; i++) {
            snprintf(name, sizeof name, "name-%zu", i);
            mishap_http_request request = from("192.0.2.1", name);
            assert_int_equal(admitted(rates, &request, START, 1), 0);
        }
        if (round == 0)
            count = add_needs(rates, 300, all);
        else
            told_count += add_needs(rates, 200, told);
    }
    assert_true(count > 200);
    assert_int_equal(told_count, count);
    mishap_http_rates_free(rates);
}

enum { SERVERS = 3, STEP_NS = 5000000, STEPS = 4000, MOST_SEEN = 100000 };

/* The word of a caller in the database. */
static int64_t lease_from(int64_t *word, const mishap_http_leased *leased, int64_t wanted,
                          int64_t now)
{
    int64_t used = *word > now ? *word : now,
            free = (now + leased->ahead_ns - used) / leased->each_ns;
    int64_t granted = wanted < free ? wanted : free;
    *word = used + granted * leased->each_ns;
    return granted;
}

static void lease_all(mishap_http_rates **servers, size_t at, int per_second, int64_t *word,
                      int64_t now)
{
    const mishap_http_leased leased = mishap_http_rates_leased(per_second);
    mishap_http_need needs[4];
    size_t count = mishap_http_rates_needs(servers[at], needs, 4);
    for (size_t i = 0; i < count; i++) {
        int64_t wanted = needs[i].count < leased.most ? needs[i].count : leased.most;
        mishap_http_rates_lease(servers[at], needs[i].place, lease_from(word, &leased, wanted, now),
                                now + leased.last_ns);
    }
}

/* In no time more than a second and that time allow. */
static void check_windows(const int64_t *seen, size_t count, int per_second)
{
    for (size_t from = 0; from < count; from += 1 + count / 500)
        for (size_t to = from; to < count; to++)
            assert_true((double)(to - from + 1) <=
                        per_second * (1 + (double)(seen[to] - seen[from]) / SECOND) + 1e-6);
}

/* Parts move from server to server, and the load is uneven. */
static void use_servers(int per_second, unsigned seed)
{
    static int64_t seen[MOST_SEEN];
    mishap_http_rates *servers[SERVERS];
    mishap_http_request request = from("192.0.2.1", NULL);
    int64_t word = 0, now = START;
    size_t count = 0;
    srandom(seed);
    for (size_t i = 0; i < SERVERS; i++)
        servers[i] = make_shared(per_second);
    for (int step = 0; step < STEPS; step++, now += STEP_NS) {
        if (step % 700 == 0) {
            size_t all = 1 + (size_t)(step / 700) % SERVERS; /* the first of them are alive */
            for (size_t i = SERVERS; i-- > 0;)
                mishap_http_rates_divide(servers[i], i < all ? WHOLE / (int64_t)all : 0, now);
        }
        for (size_t i = 0; i < SERVERS; i++) {
            int tries = (step / 300 + (int)i) % 2 ? (int)(random() % (per_second / 20 + 2)) : 0;
            for (; tries > 0 && count < MOST_SEEN; tries--)
                if (admits(servers[i], &request, now))
                    seen[count++] = now;
            if (step % 20 == (int)i)
                lease_all(servers, i, per_second, &word, now);
        }
    }
    assert_true(count > 0);
    check_windows(seen, count, per_second);
    for (size_t i = 0; i < SERVERS; i++)
        mishap_http_rates_free(servers[i]);
}

static void servers_together_never_give_more_than_they_promise(void **state)
{
    (void)state;
    static const int rates[] = { 1, 2, 3, 5, 6, 7, 20, 100, 999 };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        use_servers(rates[i], (unsigned)i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_limit_is_no_table),
        TEST(a_second_is_due_at_once_and_then_one_after_the_other),
        TEST(one_a_second_is_one_a_second),
        TEST(odd_rates_never_give_more_than_they_promise),
        TEST(what_does_not_divide_a_second_is_rounded_down),
        TEST(who_keeps_knocking_gets_what_is_due),
        TEST(the_refusal_says_when_to_come_again),
        TEST(each_of_many_messages_is_a_request),
        TEST(messages_over_the_rate_are_refused_together),
        TEST(more_messages_than_are_ever_due_are_told_so),
        TEST(the_clock_may_wrap_around),
        TEST(a_clock_that_is_slightly_behind_gives_nothing_away),
        TEST(each_caller_has_its_own),
        TEST(a_caller_with_a_name_goes_by_it),
        TEST(another_key_of_the_same_name_is_another_caller),
        TEST(a_key_a_name_and_an_address_of_the_same_bytes_are_three_callers),
        TEST(what_belongs_to_a_caller_belongs_to_its_key),
        TEST(a_network_of_ipv6_counts_as_one),
        TEST(any_text_will_do_for_an_address),
        TEST(two_tables_put_callers_elsewhere),
        TEST(several_processes_share_one_limit),
        TEST(without_memory_it_still_refuses),
        TEST(a_server_has_its_part_of_a_half_and_only_when_it_is_told),
        TEST(what_was_leased_is_used_until_it_ends),
        TEST(needs_that_do_not_fit_in_are_told_the_next_time),
        TEST(callers_that_were_left_out_come_first_the_next_time),
        TEST(servers_together_never_give_more_than_they_promise),
    };
    return RUN(tests);
}
