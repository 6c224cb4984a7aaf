/*
 * Workers: services that cannot be opened, that are tried before a server listens, and again in
 * between.
 */
#include <sys/stat.h>

#include "worker/loop/standing.h"
#include "workers_app.h"

/* -- what it shows ----------------------------------------------------------------------------- */

static void services_are_tried_before_a_server_listens(void **state)
{
    struct loop loop;
    char account[4000];
    (void)state;
    begin(&loop);
    assert_null(mishap_keeper_try_services(&loop.keeper, &loop.plan.groups));
    end(&loop);
    setenv("MISHAP_TEST_NO_SERVICE", "1", 1);
    begin(&loop);
    mishap *failure = mishap_keeper_try_services(&loop.keeper, &loop.plan.groups);
    unsetenv("MISHAP_TEST_NO_SERVICE");
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
    account_of(failure, account, sizeof account);
    assert_non_null(strstr(account, "The store is locked."));
    assert_non_null(strstr(account, "marker-note"));
    mishap_free(failure);
    end(&loop);
}

/* -- services that cannot be opened ------------------------------------------------------------ */

static char stood[4][300]; /* what the operator was told */
static size_t stood_count;

static void on_standing(void *state, const mishap_service *service, const mishap *failure)
{
    (void)state;
    assert_true(stood_count < 4);
    snprintf(stood[stood_count++], sizeof stood[0], "%s: %s", service->name,
             failure ? mishap_told(failure)->cause.data : "again");
}

static void begin_moody(struct loop *loop, const mishap_runner_times *times)
{
    prepare(loop, &app);
    loop->stands = on_standing;
    loop->times = times ? times : loop->times;
    begin_prepared(loop);
    stood_count = 0;
}

/* Make a file in the data folder, or remove it. */
static void set_mood(const struct loop *loop, const char *name, bool there)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", loop->folder, name);
    if (there)
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    else
        unlink(path);
}

static int64_t times_opened(const struct loop *loop)
{
    char path[200];
    struct stat status;
    snprintf(path, sizeof path, "%s/opened", loop->folder);
    return stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
}

static void end_moody(struct loop *loop)
{
    set_mood(loop, "opened", false);
    end(loop);
}

static void a_server_does_not_listen_if_opening_a_service_ends_its_process(void **state)
{
    struct loop loop;
    (void)state;
    begin_moody(&loop, NULL);
    set_mood(&loop, "dies", true);
    mishap *failure = mishap_keeper_try_services(&loop.keeper, &loop.plan.groups);
    assert_non_null(failure);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_UNAVAILABLE);
    mishap_free(failure);
    set_mood(&loop, "dies", false);
    assert_null(mishap_keeper_try_services(&loop.keeper, &loop.plan.groups));
    end_moody(&loop);
}

static void expect_refused(struct loop *loop)
{
    struct ours o = { 0 };
    call(loop, &o, "read", "{}");
    assert_non_null(o.failure);
    const mishap_public *told = mishap_told(o.failure);
    assert_ptr_equal(told->code, MISHAP_CODE_UNAVAILABLE);
    assert_string_equal(told->message.data, "The service moody is not available.");
    assert_int_equal(told->cause.length, 0); /* there may be a path in it */
    assert_true(told->retry_after_ms > 0);
    assert_false(o.run.died);
    let_go(&o);
}

/* Without any call: it finds out by itself. */
static void wait_until_stood(struct loop *loop, size_t count)
{
    int64_t until = long_after();
    while (stood_count < count && mishap_clock_monotonic_ns() < until)
        turn(loop, 100);
    assert_int_equal(stood_count, count);
}

static void expect_open(struct loop *loop)
{
    struct ours o = { 0 };
    call(loop, &o, "read", "{}");
    assert_true(member(&o, "pid") > 0);
    let_go(&o);
}

static void
a_service_that_cannot_be_opened_is_refused_at_once_and_tried_again_in_between(void **state)
{
    struct loop loop;
    (void)state;
    begin_moody(&loop, NULL);
    set_mood(&loop, "fails", true);
    int64_t begun = mishap_clock_monotonic_ns();
    for (int i = 0; i < 10; i++)
        expect_refused(&loop);
    int64_t took_ms = (mishap_clock_monotonic_ns() - begun) / 1000000;
    assert_in_range(times_opened(&loop), 1, 3 + took_ms / 500); /* not one for each call */
    assert_int_equal(stood_count, 1);
    assert_non_null(strstr(stood[0], "moody: The store /"));
    assert_non_null(strstr(stood[0], " is damaged."));
    set_mood(&loop, "fails", false);
    wait_until_stood(&loop, 2);
    assert_string_equal(stood[1], "moody: again");
    expect_open(&loop);
    assert_int_equal(stood_count, 2);
    end_moody(&loop);
}

static void other_services_work_while_one_cannot_be_opened(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin_moody(&loop, NULL);
    set_mood(&loop, "fails", true);
    expect_refused(&loop);
    call(&loop, &o, "same", "{\"number\":7}");
    assert_null(o.failure);
    let_go(&o);
    expect_refused(&loop);
    set_mood(&loop, "fails", false);
    end_moody(&loop);
}

/* One that dies is followed by another: it may have been killed. Several in a row mean something.
 */
static void workers_that_die_while_they_open_close_the_service(void **state)
{
    struct loop loop;
    (void)state;
    begin_moody(&loop, NULL);
    set_mood(&loop, "dies", true);
    expect_refused(&loop);
    assert_int_equal(times_opened(&loop), 3);
    assert_string_equal(stood[0], "moody: The process that opened it died.");
    set_mood(&loop, "dies", false);
    wait_until_stood(&loop, 2);
    expect_open(&loop);
    end_moody(&loop);
}

static void a_service_that_takes_too_long_to_open_is_closed(void **state)
{
    static const mishap_runner_times times = { .wait_ms = 120000,
                                               .begin_ms = 120000,
                                               .answer_ms = 120000,
                                               .start_ms = 120000,
                                               .retry_ms = 100,
                                               .gone_ms = 20,
                                               .lost_ms = 1000,
                                               .idle_ms = 60000,
                                               .open_ms = 1000 };
    struct loop loop;
    (void)state;
    begin_moody(&loop, &times);
    set_mood(&loop, "hangs", true);
    expect_refused(&loop);
    assert_string_equal(stood[0], "moody: It could not be opened in time.");
    set_mood(&loop, "hangs", false);
    wait_until_stood(&loop, 2);
    expect_open(&loop);
    end_moody(&loop);
}

static void what_a_handler_has_lost_is_opened_anew_without_another_call(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    (void)state;
    begin_moody(&loop, NULL);
    call(&loop, &o, "read", "{}");
    int64_t before = member(&o, "pid");
    let_go(&o);
    call(&loop, &o, "spoil", "{}");
    assert_string_equal(mishap_told(o.failure)->message.data, "The file was removed.");
    let_go(&o);
    call(&loop, &o, "read", "{}");
    assert_int_not_equal(member(&o, "pid"), before);
    let_go(&o);
    assert_int_equal(stood_count, 0); /* it could be opened */
    set_mood(&loop, "fails", true);
    call(&loop, &o, "spoil", "{}");
    let_go(&o);
    wait_until_stood(&loop, 1);
    expect_refused(&loop);
    set_mood(&loop, "fails", false);
    end_moody(&loop);
}

/* What the server opened at its start is what its workers open later. */
static void workers_open_what_the_server_began_with_and_make_no_folder(void **state)
{
    struct loop loop;
    struct ours o = { 0 };
    char away[100];
    (void)state;
    begin_moody(&loop, NULL);
    assert_null(mishap_keeper_try_services(&loop.keeper, &loop.plan.groups));
    const mishap_operation *operation = mishap_operation_find(&app, T("read"));
    const mishap_worker_group
        *group = &loop.plan.groups.groups[mishap_worker_group_of(&loop.plan.groups, operation)];
    assert_true(group->opened);
    assert_string_equal(group->identity, "as it was at first");
    snprintf(away, sizeof away, "%s.away", loop.folder);
    assert_int_equal(rename(loop.folder, away), 0);
    call(&loop, &o, "spoil", "{}");
    let_go(&o);
    wait_until_stood(&loop, 1);
    expect_refused(&loop);
    assert_int_equal(access(loop.folder, F_OK), -1);
    assert_int_equal(rename(away, loop.folder), 0);
    wait_until_stood(&loop, 2);
    expect_open(&loop);
    end_moody(&loop);
}

static void a_service_is_closed_and_opened_again_once_by_whoever_finds_out(void **state)
{
    static mishap_standing standing;
    int64_t now = mishap_clock_monotonic_ns();
    (void)state;
    assert_true(mishap_standing_close(&standing, 3, 0, T("reason"), false));
    assert_false(
        mishap_standing_close(&standing, 3, 0, T("reason"), false)); /* another loop, as late */
    assert_int_equal(mishap_standing_generation(&standing, 3), 1);
    assert_int_equal(mishap_standing_generation(&standing, 2), 0);
    assert_false(mishap_standing_close(&standing, 3, 1, T("reason"), false));
    assert_true(mishap_standing_close(&standing, 3, 1, T("another"), false)); /* worth a line */
    assert_false(mishap_standing_claim(&standing, 3, now));
    int64_t waited = 0;
    for (int i = 0; i < 10; i++) {
        int64_t next = mishap_standing_next_try(&standing, 3);
        assert_false(mishap_standing_claim(&standing, 3, next - 1));
        assert_true(mishap_standing_claim(&standing, 3, next));
        assert_false(mishap_standing_claim(&standing, 3, next)); /* one loop does it */
        int64_t wait = mishap_standing_next_try(&standing, 3) - next;
        assert_true(wait >= waited && wait <= INT64_C(2000000000));
        waited = wait;
    }
    assert_int_equal(waited, INT64_C(2000000000));
    assert_false(mishap_standing_is_hopeless(&standing, 3));
    mishap_standing_close(&standing, 3, 1, T("another"), true);
    assert_true(mishap_standing_is_hopeless(&standing, 3));
    assert_false(mishap_standing_is_hopeless(&standing, 2));
    mishap_standing_close(&standing, 3, 0, T("late"), false); /* of before, and says nothing */
    assert_true(mishap_standing_is_hopeless(&standing, 3));
    mishap_standing_close(&standing, 3, 1, T("another"), false);
    assert_false(mishap_standing_is_hopeless(&standing, 3));
    assert_false(mishap_standing_reopen(&standing, 3, 0)); /* opened before it was closed */
    assert_true(mishap_standing_reopen(&standing, 3, 1));
    assert_false(mishap_standing_reopen(&standing, 3, 1));
    assert_int_equal(mishap_standing_generation(&standing, 3), 2);
    assert_false(mishap_standing_close(&standing, 3, 1, T("late"), false));
    assert_int_equal(mishap_standing_generation(&standing, 3), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_service_that_cannot_be_opened_is_refused_at_once_and_tried_again_in_between),
        TEST(other_services_work_while_one_cannot_be_opened),
        TEST(workers_that_die_while_they_open_close_the_service),
        TEST(a_service_that_takes_too_long_to_open_is_closed),
        TEST(what_a_handler_has_lost_is_opened_anew_without_another_call),
        TEST(workers_open_what_the_server_began_with_and_make_no_folder),
        TEST(a_service_is_closed_and_opened_again_once_by_whoever_finds_out),
        TEST(services_are_tried_before_a_server_listens),
        TEST(a_server_does_not_listen_if_opening_a_service_ends_its_process),
    };
    return RUN(tests);
}
