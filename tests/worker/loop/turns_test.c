/* Whose turn it is: callers that wait, one with many calls and one with few, short ones and long.
 */
#include "testing.h"

#include "worker/loop/turns.h"

enum { ADA = 1, BOB, CLEO };

#define MS INT64_C(1000000)

static mishap_turns turns;

static int set_up(void **state)
{
    (void)state;
    turns = (mishap_turns){ 0 };
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mishap_turns_release(&turns);
    return 0;
}

static void add(mishap_turn *turn, uint64_t holder)
{
    *turn = (mishap_turn){ 0 };
    mishap_turns_add(&turns, turn, holder, false);
}

/* The call whose turn it is runs for so long, which was not known before. */
static mishap_turn *run_next(int64_t ns)
{
    mishap_turn *turn = mishap_turns_next(&turns);
    if (turn)
        mishap_turns_end(&turns, mishap_turns_take(&turns, turn, 0), 0, ns);
    return turn;
}

static void expect_order(mishap_turn *const *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(run_next(0), expected[i]);
}

static void callers_take_turns_and_not_calls(void **state)
{
    mishap_turn ada[3], bob, cleo;
    (void)state;
    for (size_t i = 0; i < 3; i++)
        add(&ada[i], ADA);
    add(&bob, BOB);
    add(&cleo, CLEO);
    assert_int_equal(turns.waiting, 5);
    expect_order((mishap_turn *[]){ &ada[0], &bob, &cleo, &ada[1], &ada[2], NULL }, 6);
    assert_int_equal(turns.waiting, 0);
}

static void a_call_that_comes_back_is_the_first_of_its_caller(void **state)
{
    mishap_turn ada[2], back = { 0 }, bob;
    (void)state;
    add(&bob, BOB);
    add(&ada[0], ADA);
    add(&ada[1], ADA);
    mishap_turns_add(&turns, &back, ADA, true);
    expect_order((mishap_turn *[]){ &bob, &back, &ada[0], &ada[1], NULL }, 5);
}

static void who_has_used_much_waits_until_others_have(void **state)
{
    mishap_turn ada[3], bob[40];
    (void)state;
    for (size_t i = 0; i < 3; i++)
        add(&ada[i], ADA);
    assert_ptr_equal(run_next(100 * MS), &ada[0]);
    for (size_t i = 0; i < 40; i++)
        add(&bob[i], BOB);
    /* In the round that goes on, what Bob may use; then as much as Ada had. */
    size_t count = 0;
    mishap_turn *turn;
    while ((turn = run_next(5 * MS)) != &ada[1])
        assert_ptr_equal(turn, &bob[count++]);
    assert_in_range(count, 18, 22);
}

/* What is given to each of some callers that always have calls waiting, in one worker. */
static void share_time(const int64_t *takes, size_t callers, int64_t *used, int64_t until)
{
    enum { MOST = 8 };
    mishap_turn all[MOST][2];
    int64_t now = 0;
    assert_true(callers <= MOST);
    for (size_t i = 0; i < callers; i++)
        for (size_t k = 0; k < 2; k++)
            add(&all[i][k], i + 1);
    while (now < until) {
        mishap_turn *turn = mishap_turns_next(&turns);
        assert_non_null(turn);
        size_t i = (size_t)(turn->caller->holder - 1);
        mishap_turns_end(&turns, mishap_turns_take(&turns, turn, 0), 0, takes[i]);
        used[i] += takes[i];
        now += takes[i];
        add(turn, i + 1);
    }
}

static void time_is_shared_and_not_calls(void **state)
{
    static const int64_t takes[] = { 1000 * MS, 1 * MS, 30 * MS, MS / 10 };
    int64_t used[4] = { 0 };
    (void)state;
    share_time(takes, 4, used, 100000 * MS);
    for (size_t i = 0; i < 4; i++) /* a fourth each, give or take one call of the longest */
        assert_in_range(used[i], 24000 * MS, 26000 * MS);
}

/* Several calls are handed over before the first has ended: what is expected of them counts. */
static void what_is_expected_counts_at_once(void **state)
{
    mishap_turn ada[4], bob[4];
    mishap_turns_caller *runs[3];
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        add(&ada[i], ADA);
        add(&bob[i], BOB);
    }
    assert_ptr_equal(mishap_turns_next(&turns), &ada[0]);
    runs[0] = mishap_turns_take(&turns, &ada[0], 1000 * MS);
    for (size_t i = 0; i < 2; i++) {
        assert_ptr_equal(mishap_turns_next(&turns), &bob[i]);
        runs[i + 1] = mishap_turns_take(&turns, &bob[i], 1 * MS);
    }
    assert_ptr_equal(mishap_turns_next(&turns), &bob[2]);
    mishap_turns_end(&turns, runs[0], 1000 * MS, 1 * MS); /* it took less, and that is given back */
    mishap_turns_end(&turns, runs[1], 1 * MS, 1 * MS);
    mishap_turns_end(&turns, runs[2], 1 * MS, 1000 * MS); /* and this one took more */
    assert_ptr_equal(mishap_turns_next(&turns), &ada[1]);
    expect_order((mishap_turn *[]){ &ada[1], &ada[2], &ada[3], &bob[2], &bob[3], NULL }, 6);
}

/* Who comes later has no more than the others have in a round, however much they used before. */
static void nothing_is_saved(void **state)
{
    mishap_turn ada[1100], bob[100];
    size_t of_ada = 0;
    (void)state;
    for (size_t i = 0; i < 1100; i++)
        add(&ada[i], ADA);
    for (size_t i = 0; i < 1000; i++)
        run_next(5 * MS);
    for (size_t i = 0; i < 100; i++)
        add(&bob[i], BOB);
    for (size_t i = 0; i < 20; i++) {
        const mishap_turn *turn = run_next(5 * MS);
        of_ada += turn >= ada && turn < ada + 1100;
    }
    assert_in_range(of_ada, 8, 12);
}

/* Who was in debt for hours is not shut out for hours. */
static void debts_have_a_limit(void **state)
{
    mishap_turn ada[2000], bob[2];
    size_t count = 0;
    (void)state;
    for (size_t i = 0; i < 2000; i++)
        add(&ada[i], ADA);
    for (size_t i = 0; i < 1000; i++)
        run_next(5 * MS);
    add(&bob[0], BOB);
    add(&bob[1], BOB);
    while (turns.waiting && bob[0].caller)
        run_next(3600 * 1000 * MS);
    while (turns.waiting && bob[1].caller) { /* Ada uses as much as he may be behind */
        run_next(50 * MS);
        count++;
    }
    assert_in_range(count, 2, MISHAP_TURNS_DEBT_NS / (50 * MS) + 3);
}

static void who_is_set_aside_keeps_its_place_until_it_comes_back(void **state)
{
    mishap_turn ada[2], bob[2];
    (void)state;
    add(&ada[0], ADA);
    add(&ada[1], ADA);
    add(&bob[0], BOB);
    mishap_turns_set_aside(&turns, mishap_turns_next(&turns));
    assert_ptr_equal(run_next(0), &bob[0]);
    assert_null(mishap_turns_next(&turns));
    add(&bob[1], BOB);
    assert_ptr_equal(run_next(0), &bob[1]);
    mishap_turns_bring_back(&turns);
    expect_order((mishap_turn *[]){ &ada[0], &ada[1], NULL }, 3);
}

static void a_call_may_leave_before_its_turn(void **state)
{
    mishap_turn ada[3], bob;
    (void)state;
    for (size_t i = 0; i < 3; i++)
        add(&ada[i], ADA);
    add(&bob, BOB);
    mishap_turns_remove(&turns, &ada[1]);
    assert_null(ada[1].caller);
    mishap_turns_remove(&turns, &bob);
    expect_order((mishap_turn *[]){ &ada[0], &ada[2], NULL }, 3);
}

/* -- memory ------------------------------------------------------------------------------------ */

static void callers_come_and_go_and_nothing_grows(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    calls = fail_at = 0;
    long before = blocks;
    for (uint64_t i = 1; i <= 20000; i++) {
        mishap_turn some[5];
        for (uint64_t k = 0; k < 5; k++)
            add(&some[k], i * 7919 + k);
        for (uint64_t k = 0; k < 5; k++)
            assert_non_null(run_next(MS));
        assert_in_range(blocks - before, 0, MISHAP_TURNS_SPARES);
    }
    assert_in_range(calls, 1, 5); /* the memory of those who left is used again */
    mishap_turns_release(&turns);
    assert_int_equal(blocks, before);
    mishap_use_allocator(NULL);
}

static void many_callers_at_once_leave_little_behind(void **state)
{
    enum { MANY = 10000 };
    static mishap_turn many[MANY];
    (void)state;
    mishap_use_allocator(&failing_allocator);
    calls = fail_at = 0;
    long before = blocks;
    for (uint64_t i = 0; i < MANY; i++)
        add(&many[i], i + 1);
    for (uint64_t i = 0; i < MANY; i++)
        assert_ptr_equal(run_next(MS), &many[i]);
    assert_int_equal(blocks - before, MISHAP_TURNS_SPARES);
    mishap_turns_release(&turns);
    assert_int_equal(blocks, before);
    mishap_use_allocator(NULL);
}

/* Without memory callers share one turn. No caller is lost, and a known one keeps its own. */
static void without_memory_callers_share_a_turn(void **state)
{
    mishap_turn ada[3], bob[2], cleo[2];
    (void)state;
    mishap_use_allocator(&failing_allocator);
    calls = fail_at = 0;
    add(&ada[0], ADA);
    fail_at = calls + 1;
    for (size_t i = 0; i < 2; i++) {
        add(&ada[i + 1], ADA);
        add(&bob[i], BOB);
        add(&cleo[i], CLEO);
    }
    expect_order(
        (mishap_turn *[]){ &ada[0], &bob[0], &ada[1], &cleo[0], &ada[2], &bob[1], &cleo[1], NULL },
        8);
    fail_at = 0;
    mishap_turns_release(&turns);
    mishap_use_allocator(NULL);
}

/* -- random sequences -------------------------------------------------------------------------- */

static uint32_t random_word(void)
{
    static uint32_t word = 20;
    word ^= word << 13;
    word ^= word >> 17;
    word ^= word << 5;
    return word;
}

enum { CALLS = 400, CALLERS = 20, RUNNING = 8 };

struct known {
    mishap_turn turn;
    uint64_t holder;
    bool waits;
    size_t since; /* the step at which it came */
};

static struct running {
    mishap_turns_caller *caller;
    int64_t expected;
} running[RUNNING];
static size_t running_count;

static void end_one(size_t i)
{
    mishap_turns_end(&turns, running[i].caller, running[i].expected, random_word() % (20 * MS));
    running[i] = running[--running_count];
}

/* A call whose turn it is waits, is the first of its caller, and no caller has several turns while
 * another with less used waits for one. */
static void take_one(struct known *all)
{
    mishap_turn *turn = mishap_turns_next(&turns);
    struct known *next = (struct known *)(void *)turn;
    assert_true(next->waits);
    for (size_t i = 0; i < CALLS; i++)
        if (all[i].waits && all[i].holder == next->holder)
            assert_true(all[i].since >= next->since);
    int64_t expected = random_word() % (10 * MS);
    next->waits = false;
    running[running_count++] = (struct running){ mishap_turns_take(&turns, turn, expected),
                                                 expected };
}

static void anything_in_any_order_keeps_every_call_once(void **state)
{
    static struct known all[CALLS];
    size_t waiting = 0, taken = 0;
    (void)state;
    for (size_t step = 1; step < 200000; step++) {
        struct known *one = &all[random_word() % CALLS];
        uint32_t what = random_word() % 10;
        if (!one->waits && what < 4) {
            one->holder = random_word() % CALLERS;
            one->waits = true;
            one->since = step;
            add(&one->turn, one->holder);
            waiting++;
        } else if (one->waits && what == 4) {
            mishap_turns_remove(&turns, &one->turn);
            one->waits = false;
            waiting--;
        } else if (running_count && (what == 5 || running_count == RUNNING)) {
            end_one(random_word() % running_count);
        } else if (waiting && what < 9) {
            take_one(all);
            taken++;
            waiting--;
        }
        assert_int_equal(turns.waiting, waiting);
        assert_true(!waiting || mishap_turns_next(&turns));
    }
    assert_true(taken > 10000);
    while (running_count)
        end_one(0);
    for (size_t i = 0; i < CALLS; i++)
        if (all[i].waits)
            mishap_turns_remove(&turns, &all[i].turn);
    assert_null(mishap_turns_next(&turns));
}

/* However much others bring, a call that waits has its turn when each of them had a few. */
static void nobody_starves(void **state)
{
    static mishap_turn many[CALLERS][4];
    mishap_turn quiet;
    (void)state;
    for (size_t round = 0; round < 50; round++) {
        size_t passed = 0;
        for (uint64_t i = 0; i < CALLERS; i++)
            for (size_t k = 0; k < 4; k++)
                if (!many[i][k].caller)
                    add(&many[i][k], i + 1);
        add(&quiet, 1000);
        mishap_turn *turn;
        while ((turn = run_next(1 + random_word() % (50 * MS))) != &quiet) {
            uint64_t i = (uint64_t)(turn - many[0]) / 4;
            add(turn, i + 1); /* at once the next */
            passed++;
        }
        assert_in_range(passed, 0, CALLERS);
    }
    for (uint64_t i = 0; i < CALLERS; i++)
        for (size_t k = 0; k < 4; k++)
            mishap_turns_remove(&turns, &many[i][k]);
}

#define TURNS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TURNS_TEST(callers_take_turns_and_not_calls),
        TURNS_TEST(a_call_that_comes_back_is_the_first_of_its_caller),
        TURNS_TEST(who_has_used_much_waits_until_others_have),
        TURNS_TEST(time_is_shared_and_not_calls),
        TURNS_TEST(what_is_expected_counts_at_once),
        TURNS_TEST(nothing_is_saved),
        TURNS_TEST(debts_have_a_limit),
        TURNS_TEST(who_is_set_aside_keeps_its_place_until_it_comes_back),
        TURNS_TEST(a_call_may_leave_before_its_turn),
        TURNS_TEST(callers_come_and_go_and_nothing_grows),
        TURNS_TEST(many_callers_at_once_leave_little_behind),
        TURNS_TEST(without_memory_callers_share_a_turn),
        TURNS_TEST(anything_in_any_order_keeps_every_call_once),
        TURNS_TEST(nobody_starves),
    };
    return RUN(tests);
}
