/* src/worker/loop: who was there lately, and the permits of loops that have many long calls. */
#include "testing.h"

#include <sys/wait.h>

#include "dispatch_set_up.h"

/* -- the crowd --------------------------------------------------------------------------------- */

#define AFTER_MS(ms) (INT64_C(1000000000) + (ms)*INT64_C(1000000))

static void the_crowd_is_who_was_there_lately(void **state)
{
    mishap_crowd crowd = { 0 };
    (void)state;
    assert_false(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(0)));
    mishap_crowd_see(&crowd, ADA, AFTER_MS(0));
    mishap_crowd_see(&crowd, 0, AFTER_MS(0));
    assert_false(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(0)));
    assert_true(mishap_crowd_has_others(&crowd, BOB, AFTER_MS(0)));
    mishap_crowd_see(&crowd, BOB, AFTER_MS(1000));
    assert_true(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(1000)));
    for (int ms = 1000; ms < 3 * MISHAP_CROWD_MS; ms += 10)
        mishap_crowd_see(&crowd, ADA, AFTER_MS(ms));
    assert_true(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(1000 + MISHAP_CROWD_MS - 1)));
    assert_false(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(1000 + MISHAP_CROWD_MS)));
    assert_true(mishap_crowd_has_others(&crowd, BOB, AFTER_MS(3 * MISHAP_CROWD_MS)));
    /* in the place of who was there least lately */
    mishap_crowd_see(&crowd, CLEO, AFTER_MS(3 * MISHAP_CROWD_MS));
    assert_true(mishap_crowd_has_others(&crowd, ADA, AFTER_MS(3 * MISHAP_CROWD_MS)));
    assert_true(mishap_crowd_has_others(&crowd, CLEO, AFTER_MS(3 * MISHAP_CROWD_MS)));
}

/* -- permits ----------------------------------------------------------------------------------- */

static void loops_take_turns_with_permits(void **state)
{
    mishap_permits permits = { .count = 2 };
    mishap_life us = mishap_life_self(), others = mishap_life_of(getppid(), 0);
    (void)state;
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(0)), 1);
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(0)), 2);
    assert_int_equal(mishap_permits_take(&permits, others, AFTER_MS(0)), 0);
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(1)), 0);
    mishap_permits_return(&permits, 2);
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(2)), 0); /* it is their turn */
    assert_int_equal(mishap_permits_take(&permits, others, AFTER_MS(3)), 2);
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(4)), 0);
    mishap_permits_return(&permits, 2);
    assert_int_equal(mishap_permits_take(&permits, others, AFTER_MS(5)), 0); /* … and now ours */
    assert_int_equal(mishap_permits_take(&permits, us, AFTER_MS(6)), 2);
    assert_int_equal(mishap_permits_take(&permits, others, AFTER_MS(7)), 0);
    mishap_permits_return(&permits, 1);
    /* They do not try any more. */
    int64_t last = AFTER_MS(7) + MISHAP_PERMIT_WANTED_MS * INT64_C(1000000);
    assert_int_equal(mishap_permits_take(&permits, us, last - 1), 0);
    assert_int_equal(mishap_permits_take(&permits, us, last), 1);
}

/* It has more calls than permits, and tries for all of them at once. */
static void a_loop_that_always_wants_one_starves_no_other(void **state)
{
    mishap_permits permits = { .count = 1 };
    mishap_life loops[] = { mishap_life_self(), mishap_life_of(getppid(), 0),
                            mishap_life_of(1, 0) };
    size_t got[3] = { 0 }, has = 3, permit = 0;
    (void)state;
    for (int ms = 0; ms < 300; ms++) {
        if (permit)
            mishap_permits_return(&permits, permit);
        permit = 0;
        for (size_t i = 0; i < 3; i++)
            for (size_t again = 0; again < 2; again++) { /* for each of its calls */
                size_t taken = mishap_permits_take(&permits, loops[i], AFTER_MS(ms) + (int64_t)i);
                assert_true(!taken || !permit);
                permit = taken ? taken : permit;
                has = taken ? i : has;
            }
        assert_true(permit);
        got[has]++;
    }
    for (size_t i = 0; i < 3; i++)
        assert_in_range(got[i], 90, 110);
}

static void the_permit_of_a_loop_that_has_died_is_free(void **state)
{
    mishap_permits permits = { .count = 1 };
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(mishap_permits_take(&permits, mishap_life_of(child, 1), AFTER_MS(0)), 1);
    assert_int_equal(mishap_permits_take(&permits, mishap_life_self(), AFTER_MS(0)), 1);
    assert_true(permits.of[0] == mishap_life_self());
}

static void there_are_permits_for_half_of_the_processors(void **state)
{
    mishap_permits *permits;
    size_t processors = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    (void)state;
    assert_null(mishap_permits_make(&permits));
    assert_in_range(permits->count, 1, processors > 2 ? processors / 2 : 1);
    mishap_permits_free(permits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_crowd_is_who_was_there_lately),
        TEST(loops_take_turns_with_permits),
        TEST(a_loop_that_always_wants_one_starves_no_other),
        TEST(the_permit_of_a_loop_that_has_died_is_free),
        TEST(there_are_permits_for_half_of_the_processors),
    };
    return RUN(tests);
}
