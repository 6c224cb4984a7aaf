/* src/worker/loop: what callers have changed lately. */
#include "testing.h"

#include <unistd.h>

#include "worker/loop/positions.h"

enum { STALE_MS = 60000 };

static mishap *do_run(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_service shop = { .name = "shop" }, other = { .name = "other" };
static const mishap_operation operations[] = {
    { "list", "Read", NULL, do_run, .service = &shop, .stale = true },
    { "change", "Change", NULL, do_run, .service = &shop, .danger = MISHAP_MUTATING },
    { "get", "Read the latest", NULL, do_run, .service = &shop },
    { "elsewhere", "Change something else", NULL, do_run, .service = &other,
      .danger = MISHAP_MUTATING },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", .operations = operations };

enum { LIST, CHANGE, GET, ELSEWHERE };

/* They are as old as a server that was not begun just now. */
static mishap_positions *make(void)
{
    mishap_positions *positions;
    assert_null(mishap_positions_make(STALE_MS, &positions));
    assert_non_null(positions);
    positions->begun_ns -= positions->stale_ns + 1;
    return positions;
}

static uint64_t note(mishap_positions *positions, int operation, uint64_t holder, uint64_t position,
                     bool failed)
{
    mishap_call call = {
        .app = &app, .operation = &operations[operation], .holder = holder, .log_position = position
    };
    mishap_positions_note(positions, &call, failed);
    return call.log_position;
}

static uint64_t need_after(const mishap_positions *positions, int operation, uint64_t holder,
                           uint64_t after)
{
    mishap_call call = {
        .app = &app, .operation = &operations[operation], .holder = holder, .log_after = after
    };
    mishap_positions_need(positions, &call);
    return call.log_after;
}

static uint64_t need(const mishap_positions *positions, uint64_t holder)
{
    return need_after(positions, LIST, holder, 0);
}

static void a_caller_needs_what_it_has_changed(void **state)
{
    mishap_positions *positions = make();
    (void)state;
    assert_int_equal(need(positions, 7), 0);
    note(positions, CHANGE, 7, 100, false);
    assert_int_equal(need(positions, 7), 100);
    assert_int_equal(need(positions, 8), 0);
    note(positions, CHANGE, 7, 90, false); /* a call that ended later, and began earlier */
    assert_int_equal(need(positions, 7), 100);
    note(positions, CHANGE, 7, 110, false);
    assert_int_equal(need(positions, 7), 110);
    assert_int_equal(need_after(positions, LIST, 7, 120), 120); /* it says so itself */
    assert_int_equal(need_after(positions, LIST, 7, 105), 110);
    assert_int_equal(need_after(positions, GET, 7, 0), 0); /* it is read at the primary anyway */
    mishap_positions_free(positions);
}

static void what_reads_and_what_other_services_do_is_not_noted(void **state)
{
    mishap_positions *positions = make();
    (void)state;
    assert_int_equal(note(positions, LIST, 7, 100, false), 100);
    assert_int_equal(note(positions, GET, 7, 0, true), 0);
    assert_int_equal(note(positions, ELSEWHERE, 7, 0, true), 0);
    assert_int_equal(need(positions, 7), 0);
    mishap_positions_free(positions);
}

static void a_change_without_a_position_is_known_to_no_standby(void **state)
{
    mishap_positions *positions = make();
    (void)state;
    assert_int_equal(note(positions, CHANGE, 7, 0, false), 0); /* the caller is told nothing */
    assert_int_equal(need(positions, 7), MISHAP_LOG_UNKNOWN);
    assert_int_equal(need(positions, 8), 0);
    assert_int_equal(note(positions, CHANGE, 8, 0, true), MISHAP_LOG_UNKNOWN);
    assert_int_equal(need(positions, 8), MISHAP_LOG_UNKNOWN);
    note(positions, CHANGE, 8, 100, false); /* the one before may still come */
    assert_int_equal(need(positions, 8), MISHAP_LOG_UNKNOWN);
    mishap_positions_free(positions);
}

static void what_tasks_change_counts_for_every_caller(void **state)
{
    mishap_positions *positions = make();
    (void)state;
    note(positions, CHANGE, 0, 100, false);
    assert_int_equal(need(positions, 7), 100);
    note(positions, CHANGE, 7, 110, false);
    assert_int_equal(need(positions, 7), 110);
    assert_int_equal(need(positions, 8), 100);
    mishap_positions_free(positions);
}

static void what_is_older_than_any_standby_may_be_is_needed_no_more(void **state)
{
    mishap_positions *positions = make();
    (void)state;
    note(positions, CHANGE, 7, 100, false);
    note(positions, CHANGE, 8, 0, false);
    positions->stale_ns = 1; /* as if that time had passed */
    usleep(10);
    assert_int_equal(need(positions, 7), 0);
    assert_int_equal(need(positions, 8), 0);
    mishap_positions_free(positions);
}

static void a_server_that_has_just_begun_knows_no_changes(void **state)
{
    mishap_positions *positions;
    (void)state;
    assert_null(mishap_positions_make(STALE_MS, &positions));
    assert_int_equal(need(positions, 7), MISHAP_LOG_UNKNOWN);
    mishap_positions_free(positions);
}

static void without_standbys_there_is_nothing(void **state)
{
    mishap_positions *positions;
    (void)state;
    assert_null(mishap_positions_make(0, &positions));
    assert_null(positions);
    assert_int_equal(note(NULL, CHANGE, 7, 0, true), 0);
    assert_int_equal(need(NULL, 7), 0);
    mishap_positions_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_caller_needs_what_it_has_changed),
        TEST(what_reads_and_what_other_services_do_is_not_noted),
        TEST(a_change_without_a_position_is_known_to_no_standby),
        TEST(what_tasks_change_counts_for_every_caller),
        TEST(what_is_older_than_any_standby_may_be_is_needed_no_more),
        TEST(a_server_that_has_just_begun_knows_no_changes),
        TEST(without_standbys_there_is_nothing),
    };
    return RUN(tests);
}
