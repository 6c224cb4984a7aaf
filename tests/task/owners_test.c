/* What each caller has in the store: exact, whatever words of a table their names have. */
#include "testing.h"

#include <stdio.h>

#include "task/inside.h"

enum { CALLERS = 3 * TASK_OWNERS };

static int64_t row_count;

static mishap *count_rows(mishap_task_rows *rows, mishap_task_each_owner *each, void *context)
{
    (void)rows;
    if (row_count)
        each(context, T("ada"), row_count, 100);
    return NULL;
}

static const struct mishap_task_engine engine = { .count = count_rows };
static const mishap_task_plan plan = { .engine = &engine, .most = 2, .most_bytes = 1000 };

static void write_name(char name[20], int number)
{
    snprintf(name, 20, "caller-%d", number);
}

/* Three names for each word of the table, on average. */
static void many_callers_have_counts_of_their_own(void **state)
{
    static tasks t = { .plan = &plan };
    char name[20];
    (void)state;
    for (int i = 0; i < CALLERS; i++) {
        write_name(name, i);
        task_owner *owner = mishap_tasks_owner_of(&t, mishap_text_of(name));
        assert_non_null(owner);
        assert_int_equal(owner->count, 0);
        mishap_tasks_owner_change(owner, 1, i);
    }
    for (int i = 0; i < CALLERS; i++) {
        write_name(name, i);
        const task_owner *owner = mishap_tasks_owner_of(&t, mishap_text_of(name));
        assert_int_equal(owner->count, 1);
        assert_int_equal(owner->bytes, i);
    }
    row_count = 0;
    assert_null(mishap_tasks_count(&t)); /* none has a task: all are forgotten */
    for (size_t i = 0; i < TASK_OWNERS; i++)
        assert_null(t.owners[i]);
}

static void a_call_counts_before_it_is_stored(void **state)
{
    static tasks t = { .plan = &plan };
    (void)state;
    task_owner *owner = mishap_tasks_owner_of(&t, T("ada"));
    assert_null(mishap_tasks_owner_check(&t, owner, 1000));
    mishap *m = mishap_tasks_owner_check(&t, owner, 1001);
    assert_true(mishap_is(m, RATE_LIMITED));
    mishap_free(m);
    mishap_tasks_owner_change(owner, 1, 600);
    m = mishap_tasks_owner_check(&t, owner, 401);
    assert_true(mishap_is(m, RATE_LIMITED));
    mishap_free(m);
    assert_null(mishap_tasks_owner_check(&t, owner, 400));
    mishap_tasks_owner_change(owner, 1, 0);
    m = mishap_tasks_owner_check(&t, owner, 0);
    assert_true(mishap_is(m, RATE_LIMITED));
    mishap_free(m);
    mishap_tasks_owner_change(owner, -2, -1000);
    assert_int_equal(owner->count, 0);
    assert_int_equal(owner->bytes, 0);
    row_count = 2;
    assert_null(mishap_tasks_count(&t));
    assert_ptr_equal(owner, mishap_tasks_owner_of(&t, T("ada")));
    assert_int_equal(owner->count, 2);
    assert_int_equal(owner->bytes, 100);
    row_count = 0;
    assert_null(mishap_tasks_count(&t));
}

/* It is in no row, so nothing else counts it while it is in memory. */
static void a_call_with_secrets_counts_until_it_has_ended(void **state)
{
    static tasks t = { .plan = &plan };
    task x = { .secret = true, .stored = true, .owner = mishap_tasks_owner_of(&t, T("ada")) };
    (void)state;
    mishap_buffer_put_text(&x.call, T("0123456789"));
    assert_int_equal(mishap_tasks_held_bytes(&x), 10);
    x.owner->live = 1;
    t.first = &x;
    row_count = 0;
    assert_null(mishap_tasks_count(&t));
    assert_int_equal(x.owner->bytes, 10);
    assert_int_equal(x.owner->count, 0); /* its row counts as a task */
    x.secret = false;
    assert_null(mishap_tasks_count(&t));
    assert_int_equal(x.owner->bytes, 0);
    x.owner->live = 0;
    t.first = NULL;
    mishap_buffer_release(&x.call);
    assert_null(mishap_tasks_count(&t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_callers_have_counts_of_their_own),
        TEST(a_call_counts_before_it_is_stored),
        TEST(a_call_with_secrets_counts_until_it_has_ended),
    };
    return RUN(tests);
}
