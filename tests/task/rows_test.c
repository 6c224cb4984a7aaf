/* Rows of tasks: what a change does that is made a second time. */
#include "testing.h"

#include <mishap/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "task/task.h"

static const char key[] = "0123456789012345678901";

static mishap_task_change change_to(mishap_task_state state, int attempts)
{
    return (mishap_task_change){ .kind = MISHAP_TASK_ADD,
                                 .row = { .key = mishap_text_of(key),
                                          .owner = T("0123456789abcdef"),
                                          .operation = T("change"),
                                          .server = T("server"),
                                          .incident = T("incident"),
                                          .state = state,
                                          .attempts = attempts,
                                          .scopes = 77 } };
}

struct seen {
    char mark[100];
    int rows, attempts;
    mishap_task_state state;
    int64_t scopes;
};

static void see(void *context, const mishap_task_row *row)
{
    struct seen *seen = context;
    seen->rows++;
    seen->state = row->state;
    seen->attempts = row->attempts;
    seen->scopes = row->scopes;
    snprintf(seen->mark, sizeof seen->mark, "%.*s", (int)row->mark.length, row->mark.data);
}

static struct seen look(mishap_task_rows *rows)
{
    struct seen seen = { 0 };
    assert_null(
        mishap_tasks_in_store.find(rows, MISHAP_TASK_ONE, mishap_text_of(key), 0, see, &seen));
    return seen;
}

static void apply(mishap_task_rows *rows, mishap_task_state state, int attempts)
{
    mishap_task_change change = change_to(state, attempts);
    assert_null(mishap_tasks_in_store.apply(rows, &change, 1));
}

static void remove_all(const char *folder)
{
    static const char *const names[] = { "tasks.sqlite", "tasks.sqlite-wal", "tasks.sqlite-shm" };
    char path[200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* A commit may have been made and not confirmed; what is applied after that is newer. */
static void a_row_that_is_added_again_gets_the_newer_state(void **state)
{
    char folder[] = "/tmp/mishap-rows-XXXXXX";
    mishap_task_rows *rows = NULL;
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_null(mishap_tasks_in_store.open(NULL, folder, &rows));
    apply(rows, MISHAP_TASK_QUEUED, 0);
    apply(rows, MISHAP_TASK_RUNNING, 1);
    struct seen seen = look(rows);
    assert_int_equal(seen.rows, 1);
    assert_int_equal(seen.state, MISHAP_TASK_RUNNING);
    assert_int_equal(seen.attempts, 1);
    assert_int_equal(seen.scopes, 77);
    apply(rows, MISHAP_TASK_SUCCEEDED, 1);
    apply(rows, MISHAP_TASK_RUNNING, 2);
    seen = look(rows);
    assert_int_equal(seen.state, MISHAP_TASK_SUCCEEDED);
    assert_int_equal(seen.attempts, 1);
    mishap_tasks_in_store.close(rows);
    remove_all(folder);
}

static bool revise(mishap_task_rows *rows, mishap_task_state state, int64_t changed_ms,
                   int64_t seen_ms)
{
    bool done = false;
    mishap_task_row row = change_to(state, 0).row;
    row.changed_ms = changed_ms;
    row.rounds = 1;
    assert_null(mishap_tasks_in_store.revise(rows, &row, seen_ms, &done));
    return done;
}

/* A pause that is applied again, since its commit was not confirmed, must not undo an answer. */
static void an_answer_counts_once(void **state)
{
    char folder[] = "/tmp/mishap-rows-XXXXXX";
    mishap_task_rows *rows = NULL;
    mishap_task_change pause = change_to(MISHAP_TASK_ASKING, 1);
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_null(mishap_tasks_in_store.open(NULL, folder, &rows));
    apply(rows, MISHAP_TASK_RUNNING, 1);
    assert_false(revise(rows, MISHAP_TASK_QUEUED, 50, 0));
    pause.kind = MISHAP_TASK_PAUSE;
    pause.row.changed_ms = 40;
    pause.row.rounds = 1;
    assert_null(mishap_tasks_in_store.apply(rows, &pause, 1));
    assert_int_equal(look(rows).state, MISHAP_TASK_ASKING);
    assert_false(revise(rows, MISHAP_TASK_QUEUED, 50, 39));
    assert_true(revise(rows, MISHAP_TASK_ASKING, 45, 40));
    assert_true(revise(rows, MISHAP_TASK_QUEUED, 50, 45));
    assert_false(revise(rows, MISHAP_TASK_QUEUED, 50, 45));
    assert_null(mishap_tasks_in_store.apply(rows, &pause, 1));
    assert_int_equal(look(rows).state, MISHAP_TASK_QUEUED);
    mishap_tasks_in_store.close(rows);
    remove_all(folder);
}

static void apply_mark(mishap_task_rows *rows, mishap_task_change_kind kind,
                       mishap_task_state state, const char *mark, int rounds)
{
    mishap_task_change change = change_to(state, 1);
    change.kind = kind;
    change.row.mark = mishap_text_of(mark);
    change.row.rounds = rounds;
    change.row.changed_ms = 40;
    assert_null(mishap_tasks_in_store.apply(rows, &change, 1));
}

/* Each change of a row has the newest mark, an answer leaves it, and an end removes it. */
static void a_mark_is_kept_until_the_end(void **state)
{
    char folder[] = "/tmp/mishap-rows-XXXXXX";
    mishap_task_rows *rows = NULL;
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_null(mishap_tasks_in_store.open(NULL, folder, &rows));
    apply_mark(rows, MISHAP_TASK_ADD, MISHAP_TASK_QUEUED, "one", 0);
    assert_string_equal(look(rows).mark, "one");
    apply_mark(rows, MISHAP_TASK_ADD, MISHAP_TASK_RUNNING, "two", 0);
    assert_string_equal(look(rows).mark, "two");
    apply_mark(rows, MISHAP_TASK_MARK, MISHAP_TASK_QUEUED, "three", 0);
    assert_string_equal(look(rows).mark, "three");
    assert_int_equal(look(rows).state, MISHAP_TASK_RUNNING);
    apply_mark(rows, MISHAP_TASK_BEGIN, MISHAP_TASK_RUNNING, "four", 0);
    assert_string_equal(look(rows).mark, "four");
    apply_mark(rows, MISHAP_TASK_MARK, MISHAP_TASK_RUNNING, NULL, 0);
    assert_string_equal(look(rows).mark, "");
    apply_mark(rows, MISHAP_TASK_PAUSE, MISHAP_TASK_ASKING, "five", 1);
    assert_string_equal(look(rows).mark, "five");
    apply_mark(rows, MISHAP_TASK_MARK, MISHAP_TASK_ASKING, "late", 0);
    assert_true(revise(rows, MISHAP_TASK_ASKING, 45, 40));
    assert_true(revise(rows, MISHAP_TASK_QUEUED, 50, 45));
    assert_string_equal(look(rows).mark, "five");
    apply_mark(rows, MISHAP_TASK_END, MISHAP_TASK_SUCCEEDED, "six", 0);
    assert_string_equal(look(rows).mark, "");
    apply_mark(rows, MISHAP_TASK_MARK, MISHAP_TASK_RUNNING, "late", 0);
    assert_string_equal(look(rows).mark, "");
    mishap_tasks_in_store.close(rows);
    remove_all(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_row_that_is_added_again_gets_the_newer_state),
        TEST(an_answer_counts_once),
        TEST(a_mark_is_kept_until_the_end),
    };
    return RUN(tests);
}
