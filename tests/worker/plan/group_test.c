/* How many groups of processes a program may have, and what counts. */
#include "mishap/operation.h"
#include "testing.h"
#include "worker/plan/plan.h"

static mishap *do_nothing(mishap_call *call)
{
    (void)call;
    return NULL;
}

static bool is_apart(const mishap_call *call)
{
    (void)call;
    return true;
}

static const mishap_settlement apart = { .apart = is_apart };

/* A program with so many services, some of them with calls that are apart, and with an operation of
 * each of the two kinds that have no service. */
enum { MOST = 40 };
struct program {
    mishap_service services[MOST];
    mishap_operation operations[MOST + 3];
    mishap_app app;
};

static void make(struct program *p, size_t services, size_t with_apart)
{
    *p = (struct program){ .app = { .name = "sample", .operations = p->operations } };
    for (size_t i = 0; i < services; i++) {
        p->services[i] = (mishap_service){ .name = "service",
                                           .settlement = i < with_apart ? &apart : NULL };
        p->operations[i] = (mishap_operation){ "x", "Does nothing", .run = do_nothing,
                                               .service = &p->services[i] };
    }
    p->operations[services] = (mishap_operation){ "y", "Keeps state", .run = do_nothing };
    p->operations[services + 1] = (mishap_operation){ "z", "Keeps none", .run = do_nothing,
                                                      .stateless = true };
}

static void assert_groups(size_t services, size_t with_apart, size_t expected)
{
    struct program p;
    mishap_worker_groups groups;
    make(&p, services, with_apart);
    assert_null(mishap_worker_groups_make(&p.app, &groups));
    assert_int_equal(groups.count, expected);
}

static void assert_too_many(size_t services, size_t with_apart)
{
    struct program p;
    mishap_worker_groups groups;
    make(&p, services, with_apart);
    mishap *failure = mishap_worker_groups_make(&p.app, &groups);
    assert_non_null(failure);
    assert_string_equal(mishap_public_message(mishap_told(failure)).data,
                        "The operations need more than 34 groups of processes: one for each "
                        "service, another one for its calls that are apart, and two for operations "
                        "without a service.");
    mishap_free(failure);
}

static void each_service_has_a_group_and_one_for_calls_that_are_apart(void **state)
{
    (void)state;
    assert_groups(0, 0, 2);
    assert_groups(3, 0, 5);
    assert_groups(3, 2, 7);
    assert_groups(32, 0, 34);
    assert_groups(16, 16, 34);
}

/* Sixteen services and one with calls that are apart are not many services, but too many groups. */
static void too_many_groups_are_refused_and_named_as_such(void **state)
{
    (void)state;
    assert_too_many(33, 0);
    assert_too_many(17, 17);
    assert_too_many(17, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_service_has_a_group_and_one_for_calls_that_are_apart),
        TEST(too_many_groups_are_refused_and_named_as_such),
    };
    return RUN(tests);
}
