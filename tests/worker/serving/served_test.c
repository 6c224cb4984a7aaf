/* What all processes of a server share: it is there from the beginning to the end, and no longer.
 */
#include "testing.h"

#include "mishap/inside.h"
#include "mishap/invoke.h"
#include "operation/chosen.h"
#include "worker/loop/crowd.h"
#include "worker/loop/inside.h"
#include "worker/loop/permits.h"
#include "worker/serving/served.h"
#include "worker/serving/trials.h"

static mishap *do_nothing(mishap_call *call)
{
    return mishap_answer_member(call, "done", true);
}

static mishap *no_store(const mishap_setup *setup, void **state)
{
    (void)setup;
    *state = NULL;
    return mishap_raise(NOT_CONFIGURED, "There is no store.");
}

static void say_more(const mishap_setup *setup, mishap_health *health)
{
    (void)setup;
    mishap_health_member(health, "version", "1");
}

static const mishap_service broken = { "broken", .open = no_store, .health = say_more };
static const mishap_operation operations[] = {
    { "quick", "Do nothing", NULL, do_nothing, .stateless = true },
    { 0 },
};
static const mishap_operation of_broken[] = {
    { "slow", "Do nothing", NULL, do_nothing, .service = &broken },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };
static const mishap_app broken_app = { "sample", "1.0", "A sample", .operations = of_broken };

static void expect_nothing(const mishap_served *served)
{
    assert_null(served->news);
    assert_null(served->standing);
    assert_null(served->trials);
    assert_null(served->sessions);
    assert_null(served->crowd);
    assert_null(served->permits);
    assert_null(served->seal);
    assert_null(served->health.data);
}

static void what_is_shared_is_given_back(void **state)
{
    static const mishap_app *const apps[] = { &app, &broken_app };
    (void)state;
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof apps / sizeof *apps; i++)
        for (int handlers = 0; handlers < 2; handlers++) {
            size_t before = shared_mappings();
            long blocks_before = blocks;
            mishap_served served = { .app = apps[i], .handlers = handlers };
            mishap *failure = mishap_served_begin(&served);
            assert_int_equal(failure != NULL, apps[i] == &broken_app);
            assert_int_equal(shared_mappings(), before + 7);
            assert_int_equal(served.health.length != 0, apps[i] == &broken_app);
            mishap_free(failure);
            mishap_served_end(&served);
            expect_nothing(&served);
            assert_int_equal(shared_mappings(), before);
            mishap_served_end(&served); /* as after a beginning that failed */
            expect_nothing(&served);
            assert_int_equal(shared_mappings(), before);
            mishap_app_close();
            assert_int_equal(blocks, blocks_before);
        }
    mishap_use_allocator(NULL);
}

/* As if the program had begun nothing. */
static void the_end_of_nothing_is_nothing(void **state)
{
    mishap_served served = { .app = &app };
    size_t before = shared_mappings();
    (void)state;
    mishap_served_end(&served);
    expect_nothing(&served);
    mishap_standing_free(NULL);
    mishap_crowd_free(NULL);
    mishap_permits_free(NULL);
    mishap_sessions_free(NULL);
    mishap_trials_free(NULL);
    mishap_news_free(NULL);
    assert_int_equal(shared_mappings(), before);
}

/* A call of each caller in the last places: its share is a part of the whole, and at least one. */
static void the_share_of_a_caller_is_a_part_of_all_calls(void **state)
{
    static const struct {
        size_t most;
        int share, handlers;
        size_t expected_most, expected_share;
    } rows[] = {
        { 40, 25, 0, 40, 10 },
        { 40, 100, 0, 40, 0 },
        { 2, 25, 0, 2, 1 },
        { 40, 0, 0, 40, 0 },
        { 0, 50, 0, MISHAP_CALLS_FOR_EACH_HANDLER, MISHAP_CALLS_FOR_EACH_HANDLER / 2 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_served served = { .app = &app,
                                 .handlers = rows[i].handlers,
                                 .most_calls = rows[i].most,
                                 .caller_share = rows[i].share };
        assert_null(mishap_served_begin(&served));
        assert_null(mishap_served_open(&served, -1));
        const mishap_runner_settings *settings = &served.runner->settings;
        assert_int_equal(settings->most_waiting, rows[i].expected_most);
        assert_int_equal(settings->most_of_one, rows[i].expected_share);
        mishap_served_close(&served);
        assert_null(served.runner);
        mishap_served_end(&served);
    }
    mishap_app_close();
}

static int prepared[2];

static mishap *prepare_first(const mishap_setup *setup)
{
    (void)setup;
    prepared[0]++;
    return NULL;
}

static mishap *prepare_second(const mishap_setup *setup)
{
    (void)setup;
    prepared[1]++;
    return NULL;
}

/* What settings make of a service holds for all processes: it is read before there is a second
 * one, and of the services that are wanted. */
static void services_are_prepared_before_there_are_other_processes(void **state)
{
    static const mishap_service first = { "first", .prepare = prepare_first },
                                second = { "second", .prepare = prepare_second };
    static const mishap_operation of_both[] = {
        { "first.run", "Do nothing", NULL, do_nothing, .service = &first },
        { "second.run", "Do nothing", NULL, do_nothing, .service = &second },
        { 0 },
    };
    static const mishap_app both = { "sample", "1.0", "A sample", .operations = of_both };
    mishap_arena arena;
    static const struct {
        const char *only;
        bool expected[2];
    } rows[] = { { NULL, { true, true } },
                 { "first", { true, false } },
                 { "second", { false, true } },
                 { "second,first", { true, true } } };
    (void)state;
    mishap_arena_init(&arena, NULL, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_app chosen;
        mishap_served served = { .app = &chosen, .handlers = 1 };
        assert_null(mishap_app_choose(&both, rows[i].only, &arena, &chosen));
        prepared[0] = prepared[1] = 0;
        assert_null(mishap_served_begin(&served));
        assert_int_equal(prepared[0] > 0, rows[i].expected[0]);
        assert_int_equal(prepared[1] > 0, rows[i].expected[1]);
        mishap_served_end(&served);
        mishap_app_close();
        mishap_service_use(NULL);
    }
    mishap_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_shared_is_given_back),
        TEST(the_end_of_nothing_is_nothing),
        TEST(services_are_prepared_before_there_are_other_processes),
        TEST(the_share_of_a_caller_is_a_part_of_all_calls),
    };
    return RUN(tests);
}
