/* Which services work: when a trial is run, and what is told of it. The runner runs it in this
 * process, and time is what the test says. */
#include "worker/serving/trials.h"

#include "operation/chosen.h"
#include "testing.h"

enum { SECOND_MS = 1000 };
#define NS INT64_C(1000000)

static int trials_run, number = 3;
static const mishap_code *code; /* to fail with */
static mishap_standing *closes; /* in which the trial closes its own service */

static mishap *run(mishap_call *call)
{
    trials_run++;
    if (closes)
        assert_true(mishap_standing_close(closes, 1, 0, T("a reason"), false));
    if (code)
        return mishap_raise_at(code, MISHAP_HERE, "As the test wants it.");
    return mishap_answer_member(call, "value", number);
}

static const mishap_service tried;
static const mishap_operation own = { "tried.own", "Try it", .run = run, .service = &tried,
                                      .raises = MISHAP_RAISES(RATE_LIMITED) };
static const mishap_trial trial = { &own, "{}", "value", "3" };
static const mishap_service tried = { .name = "tried", .summary = "Tried", .trial = &trial };
static const mishap_service plain = { .name = "plain", .summary = "Never tried" };
static const mishap_operation operations[] = {
    { "plain.run", "Run", .run = run, .service = &plain },
    { "tried.run", "Run", .run = run, .service = &tried },
    { 0 },
};
static const mishap_app app = { .name = "trials", .version = "1", .operations = operations };

static mishap_served served;
static struct mishap_trial_of *of;

static void open_loop(mishap_served *loop, size_t most_waiting)
{
    loop->app = loop->plan.app = &app;
    loop->handlers = 1;
    loop->setup.sandbox = MISHAP_SANDBOX_WEAK;
    assert_null(mishap_worker_groups_make(&app, &loop->plan.groups));
    assert_null(mishap_runner_open(&(mishap_runner_settings){ .plan = &loop->plan,
                                                              .keeper = -1,
                                                              .handlers = 1,
                                                              .most_waiting = most_waiting,
                                                              .inside = true,
                                                              .standing = loop->standing,
                                                              .state = loop },
                                   &loop->runner));
}

static int begin(void **state)
{
    (void)state;
    served = (mishap_served){ 0 };
    trials_run = 0;
    number = 3;
    code = NULL;
    closes = NULL;
    assert_null(mishap_standing_make(&served.standing));
    assert_null(mishap_trials_make(&served.trials));
    open_loop(&served, 8);
    of = &served.trials->of[1];
    return 0;
}

static int end(void **state)
{
    (void)state;
    mishap_trials_leave(&served);
    mishap_runner_close(served.runner);
    mishap_trials_free(served.trials);
    mishap_standing_free(served.standing);
    return 0;
}

/* The next one is due now. */
static void go_on(void)
{
    assert_true(of->due_ns > 0);
    of->due_ns = 1;
    mishap_trials_tend(&served);
    mishap_runner_flush(served.runner);
}

static void ask(void)
{
    mishap_trials_ask(&served);
    mishap_runner_flush(served.runner);
}

static const char *word(void)
{
    mishap_readiness found;
    size_t at = 0;
    assert_true(mishap_trials_next(&served, &at, &found));
    assert_string_equal(found.service->name, "tried");
    mishap_readiness other;
    assert_false(mishap_trials_next(&served, &at, &other));
    return found.word;
}

static void it_is_run_once_somebody_asks(void **state)
{
    (void)state;
    mishap_trials_tend(&served);
    mishap_runner_flush(served.runner);
    assert_int_equal(trials_run, 0);
    mishap_trials_ask(&served);
    assert_string_equal(word(), "not tried"); /* who asks does not wait */
    mishap_runner_flush(served.runner);
    assert_string_equal(word(), "works");
    for (int i = 0; i < 5; i++) {
        ask();
        mishap_trials_tend(&served);
    }
    assert_int_equal(trials_run, 1);
}

static void it_is_run_by_one_loop(void **state)
{
    mishap_served other = { .standing = served.standing, .trials = served.trials };
    (void)state;
    open_loop(&other, 8);
    mishap_trials_ask(&served);
    mishap_trials_ask(&other);
    mishap_trials_tend(&other);
    assert_non_null(served.trying);
    assert_null(other.trying);
    mishap_runner_flush(served.runner);
    mishap_runner_flush(other.runner);
    assert_int_equal(trials_run, 1);
    mishap_runner_close(other.runner);
}

static void a_loop_that_ends_leaves_it_to_another(void **state)
{
    (void)state;
    mishap_trials_ask(&served);
    mishap_trials_leave(&served);
    assert_null(served.trying);
    ask();
    assert_int_equal(trials_run, 0); /* the other loop may have died only just now */
    go_on();
    assert_string_equal(word(), "works");
}

static void two_failures_in_a_row_count(void **state)
{
    (void)state;
    ask();
    assert_string_equal(word(), "works");
    number = 4;
    of->due_ns = 1;
    go_on();
    assert_string_equal(word(), "works");
    go_on();
    assert_string_equal(word(), "fails");
    int64_t pause = of->due_ns - of->ended_ns;
    assert_true(pause == SECOND_MS * NS);
    go_on();
    assert_true(of->due_ns - of->ended_ns == 2 * pause);
    for (int i = 0; i < 10; i++)
        go_on();
    assert_true(of->due_ns - of->ended_ns == 64 * pause);
    number = 3;
    go_on();
    assert_string_equal(word(), "works");
    assert_true(of->due_ns == 0);
}

static void what_is_not_installed_is_no_failure(void **state)
{
    (void)state;
    code = MISHAP_CODE_NOT_CONFIGURED;
    ask();
    assert_string_equal(word(), "not installed");
    ask();
    assert_int_equal(trials_run, 1);
    of->ended_ns -= 61 * SECOND_MS * NS;
    code = NULL;
    ask(); /* it was installed */
    assert_string_equal(word(), "works");
}

/* Other callers have all places, or more calls than they may; or the loop ends. */
static void a_server_that_is_busy_is_no_failure(void **state)
{
    const mishap_code *const codes[] = { MISHAP_CODE_UNAVAILABLE, MISHAP_CODE_RATE_LIMITED,
                                         MISHAP_CODE_CANCELLED };
    (void)state;
    for (int i = 0; i < 9; i++) {
        code = codes[i % 3];
        i ? go_on() : ask();
        assert_string_equal(word(), "not tried");
        assert_int_equal(of->failures, 0);
    }
    assert_int_equal(trials_run, 9);
}

static void a_loop_that_has_no_room_tries_again_soon(void **state)
{
    mishap_served other = { .standing = served.standing, .trials = served.trials };
    (void)state;
    open_loop(&other, 0);
    mishap_trials_ask(&other);
    assert_null(other.trying);
    assert_in_range(of->due_ns, 1, mishap_clock_monotonic_ns() + SECOND_MS * NS);
    go_on();
    assert_string_equal(word(), "works");
    mishap_runner_close(other.runner);
}

/* Code of callers can bring INTERNAL_ERROR about as often as it likes. */
static void failures_of_callers_ask_for_one_a_minute(void **state)
{
    (void)state;
    mishap_trials_suspect(&served, &tried);
    assert_true(of->due_ns == 0); /* no client asks */
    ask();
    for (int i = 0; i < 100; i++)
        mishap_trials_suspect(&served, &tried);
    assert_true(of->due_ns == of->ended_ns + 60 * SECOND_MS * NS);
    mishap_trials_tend(&served);
    mishap_runner_flush(served.runner);
    assert_int_equal(trials_run, 1);
    of->due_ns = 0;
    of->ended_ns -= 61 * SECOND_MS * NS;
    mishap_trials_suspect(&served, &plain);
    assert_true(of->due_ns == 0);
    mishap_trials_suspect(&served, &tried);
    assert_string_equal(word(), "works"); /* until it is known better */
    mishap_trials_tend(&served);
    mishap_runner_flush(served.runner);
    assert_int_equal(trials_run, 2);
}

static void a_service_that_is_closed_is_told_as_such(void **state)
{
    mishap_readiness found;
    size_t at = 0;
    (void)state;
    assert_true(mishap_standing_close(served.standing, 0, 0, T("a reason"), false));
    assert_true(mishap_trials_next(&served, &at, &found));
    assert_string_equal(found.service->name, "plain");
    assert_true(found.known && !found.ready);
    assert_string_equal(found.word, "unavailable");
    assert_null(strstr(found.message, "a reason"));
}

/* The reason is in the log already, so neither a trial that is refused at once counts, nor one
 * during which the service was closed. */
static void a_trial_of_a_closed_service_is_no_failure(void **state)
{
    (void)state;
    closes = served.standing;
    code = MISHAP_CODE_INTERNAL_ERROR;
    for (int i = 0; i < 4; i++) {
        i ? go_on() : ask();
        assert_string_equal(word(), "unavailable");
        assert_int_equal(of->state, MISHAP_TRIAL_NONE);
        assert_int_equal(of->failures, 0);
    }
    assert_int_equal(trials_run, 1);
}

/* As those calls of a service that are not settled. */
static void a_service_of_which_one_group_is_closed_is_told_as_closed(void **state)
{
    mishap_worker_groups *groups = &served.plan.groups;
    (void)state;
    assert_int_equal(groups->count, 2);
    groups->groups[groups->count++] = groups->groups[1];
    assert_string_equal(word(), "not tried");
    assert_true(mishap_standing_close(served.standing, 2, 0, T("a reason"), false));
    assert_string_equal(word(), "unavailable");
    groups->count--;
}

static void a_server_of_one_service_tries_no_other(void **state)
{
    mishap_readiness found;
    size_t at = 0;
    mishap_app chosen;
    mishap_arena arena;
    (void)state;
    mishap_arena_init(&arena, NULL, 0);
    assert_null(mishap_app_choose(&app, "plain", &arena, &chosen));
    assert_null(mishap_worker_groups_make(&chosen, &served.plan.groups));
    ask();
    assert_int_equal(trials_run, 0);
    assert_false(mishap_trials_next(&served, &at, &found));
    assert_null(mishap_app_choose(&app, "tried", &arena, &chosen));
    assert_null(mishap_worker_groups_make(&chosen, &served.plan.groups));
    ask();
    assert_string_equal(word(), "works");
    mishap_arena_release(&arena);
}

static void where_handlers_run_in_the_loop_there_is_none(void **state)
{
    (void)state;
    served.handlers = 0;
    ask();
    mishap_trials_tend(&served);
    mishap_runner_flush(served.runner);
    assert_int_equal(trials_run, 0);
    assert_string_equal(word(), "not tried");
}

int main(void)
{
#define EACH(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        EACH(it_is_run_once_somebody_asks),
        EACH(it_is_run_by_one_loop),
        EACH(a_loop_that_ends_leaves_it_to_another),
        EACH(two_failures_in_a_row_count),
        EACH(what_is_not_installed_is_no_failure),
        EACH(a_server_that_is_busy_is_no_failure),
        EACH(a_loop_that_has_no_room_tries_again_soon),
        EACH(failures_of_callers_ask_for_one_a_minute),
        EACH(a_service_that_is_closed_is_told_as_such),
        EACH(a_trial_of_a_closed_service_is_no_failure),
        EACH(a_service_of_which_one_group_is_closed_is_told_as_closed),
        EACH(a_server_of_one_service_tries_no_other),
        EACH(where_handlers_run_in_the_loop_there_is_none),
    };
    return RUN(tests);
}
