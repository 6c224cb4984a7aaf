/* Claims of states: what loops ask, and what the process that talks to the database decides. */
#include "testing.h"

#include <pthread.h>

#include "operation/claims.h"

#define SECOND INT64_C(1000000000)

static mishap_claims claims;

static void a_claim_is_open_until_it_is_decided(void **state)
{
    mishap_claim open[MISHAP_CLAIMS];
    (void)state;
    memset(&claims, 0, sizeof claims);
    assert_int_equal(mishap_claims_open(&claims, open, MISHAP_CLAIMS), 0);
    uint64_t one = mishap_claims_ask(&claims, 7, 1000, SECOND);
    uint64_t two = mishap_claims_ask(&claims, 7 + MISHAP_CLAIMS, 2000, SECOND);
    assert_true(one && two && one != two);
    assert_int_equal(mishap_claims_look(&claims, one), MISHAP_CLAIM_OPEN);
    assert_int_equal(mishap_claims_open(&claims, open, 1), 1);
    assert_int_equal(mishap_claims_open(&claims, open, MISHAP_CLAIMS), 2);
    for (size_t i = 0; i < 2; i++)
        mishap_claims_decide(&claims, open[i].ticket,
                             open[i].expires_ms == 1000 && open[i].number == 7
                                 ? MISHAP_CLAIM_FIRST
                                 : MISHAP_CLAIM_TAKEN);
    assert_int_equal(mishap_claims_look(&claims, one), MISHAP_CLAIM_FIRST);
    assert_int_equal(mishap_claims_look(&claims, two), MISHAP_CLAIM_TAKEN);
    assert_int_equal(mishap_claims_open(&claims, open, MISHAP_CLAIMS), 0);
    mishap_claims_decide(&claims, one, MISHAP_CLAIM_TAKEN); /* only once */
    assert_int_equal(mishap_claims_look(&claims, one), MISHAP_CLAIM_FIRST);
}

static void a_decision_for_a_claim_that_was_dropped_is_lost(void **state)
{
    mishap_claim open[1];
    (void)state;
    memset(&claims, 0, sizeof claims);
    uint64_t old = mishap_claims_ask(&claims, 7, 1000, SECOND);
    assert_int_equal(mishap_claims_open(&claims, open, 1), 1);
    mishap_claims_drop(&claims, old);
    uint64_t ticket = mishap_claims_ask(&claims, 7, 3000, SECOND); /* in the same place */
    assert_true(ticket != old);
    mishap_claims_decide(&claims, open[0].ticket, MISHAP_CLAIM_FIRST);
    assert_int_equal(mishap_claims_look(&claims, ticket), MISHAP_CLAIM_OPEN);
    assert_int_equal(mishap_claims_look(&claims, old), MISHAP_CLAIM_UNKNOWN);
    mishap_claims_drop(&claims, old);
    assert_int_equal(mishap_claims_look(&claims, ticket), MISHAP_CLAIM_OPEN);
    mishap_claims_drop(&claims, ticket);
    assert_int_equal(mishap_claims_open(&claims, open, 1), 0);
}

static void a_full_table_takes_no_more_until_one_is_dropped_or_old(void **state)
{
    uint64_t last = 0;
    (void)state;
    memset(&claims, 0, sizeof claims);
    for (uint64_t i = 0; i < MISHAP_CLAIMS; i++)
        assert_true((last = mishap_claims_ask(&claims, i, 1000, SECOND)) != 0);
    assert_int_equal(mishap_claims_ask(&claims, 1, 1000, 2 * SECOND), 0);
    mishap_claims_drop(&claims, last);
    assert_int_not_equal(mishap_claims_ask(&claims, 1, 1000, 2 * SECOND), 0);
    assert_int_equal(mishap_claims_ask(&claims, 1, 1000, 60 * SECOND), 0);
    assert_int_not_equal(mishap_claims_ask(&claims, 1, 1000, 62 * SECOND), 0);
}

enum { LOOPS = 3, EACH = 20000 };
static _Atomic(int) at_work;

/* As a loop does: each claim is answered with what belongs to its number. */
static void *ask_often(void *argument)
{
    uintptr_t wrong = 0;
    uint64_t number = (uint64_t)(uintptr_t)argument << 32;
    for (int i = 0; i < EACH; i++, number++) {
        uint64_t ticket = mishap_claims_ask(&claims, number, (int64_t)number, SECOND);
        if (!ticket)
            continue;
        mishap_claim_answer answer;
        for (int looks = 0;
             (answer = mishap_claims_look(&claims, ticket)) == MISHAP_CLAIM_OPEN && looks < 100;
             looks++)
            sched_yield();
        wrong += answer != MISHAP_CLAIM_OPEN &&
                 answer != (number % 2 ? MISHAP_CLAIM_FIRST : MISHAP_CLAIM_TAKEN);
        mishap_claims_drop(&claims, ticket);
    }
    atomic_fetch_sub(&at_work, 1);
    return (void *)wrong;
}

static void loops_and_the_process_work_at_once(void **state)
{
    pthread_t loops[LOOPS];
    (void)state;
    memset(&claims, 0, sizeof claims);
    atomic_store(&at_work, LOOPS);
    for (uintptr_t i = 0; i < LOOPS; i++)
        assert_int_equal(pthread_create(&loops[i], NULL, ask_often, (void *)(i + 1)), 0);
    size_t decided = 0;
    while (atomic_load(&at_work)) {
        mishap_claim open[16];
        size_t count = mishap_claims_open(&claims, open, 16);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(open[i].number, open[i].expires_ms);
            mishap_claims_decide(&claims, open[i].ticket,
                                 open[i].number % 2 ? MISHAP_CLAIM_FIRST : MISHAP_CLAIM_TAKEN);
        }
        decided += count;
    }
    for (size_t i = 0; i < LOOPS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(loops[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_true(decided > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_claim_is_open_until_it_is_decided),
        TEST(a_decision_for_a_claim_that_was_dropped_is_lost),
        TEST(a_full_table_takes_no_more_until_one_is_dropped_or_old),
        TEST(loops_and_the_process_work_at_once),
    };
    return RUN(tests);
}
