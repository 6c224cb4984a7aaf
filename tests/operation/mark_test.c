/* Marks of tasks: what a handler may set, what the process of tasks gets of it, and what a handler
 * reads. */
#include "testing.h"

#include "operation/call.h"

static mishap *unused(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_operation operations[] = { { "work", "Work", NULL, unused, .raises = NULL },
                                               { 0 } };
static const mishap_app app = { "marks", "1.0", .operations = operations };

static struct {
    size_t count;
    char last[MISHAP_MARK_LIMIT + 1];
} heard;

static void hear(const mishap_watcher *watcher, mishap_text mark)
{
    (void)watcher;
    assert_true(mark.length <= MISHAP_MARK_LIMIT);
    memcpy(heard.last, mark.data, mark.length);
    heard.last[mark.length] = '\0';
    heard.count++;
}

static const mishap_watcher watcher = { .mark = hear };

static mishap_call *begin(const mishap_watcher *by)
{
    mishap_call *call;
    assert_null(mishap_call_begin(&app, operations, T("{}"), &call));
    call->watcher = by;
    memset(&heard, 0, sizeof heard);
    return call;
}

static void a_mark_is_text_of_four_kilobytes_at_most(void **state)
{
    static const char *const wrong[] = { "\x80", "a\xFF", "\xED\xA0\x80", "\xC0\x80", "\xF0\x9F" };
    static char text[MISHAP_MARK_LIMIT + 2];
    mishap_call *call = begin(&watcher);
    (void)state;
    assert_true(mishap_task_mark(call, "%d of %s", 7, "\xE2\x82\xAC"));
    assert_string_equal(heard.last, "7 of \xE2\x82\xAC");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(mishap_task_mark(call, "%s", wrong[i]));
    memset(text, 'x', sizeof text - 1);
    assert_false(mishap_task_mark(call, "%s", text));
    assert_int_equal(heard.count, 1);
    text[MISHAP_MARK_LIMIT] = '\0';
    assert_true(mishap_task_mark(call, "%s", text));
    assert_string_equal(heard.last, text);
    assert_true(mishap_task_mark(call, "%s", ""));
    assert_string_equal(heard.last, "");
    mishap_call_end(call);
}

/* Its length is not the length of what was cut. */
static void a_mark_that_is_cut_within_a_character_is_refused(void **state)
{
    static char text[MISHAP_MARK_LIMIT + 8];
    mishap_call *call = begin(&watcher);
    (void)state;
    memset(text, 'x', MISHAP_MARK_LIMIT - 1);
    memcpy(text + MISHAP_MARK_LIMIT - 1, "\xE2\x82\xAC", 4);
    assert_false(mishap_task_mark(call, "%s", text));
    assert_false(mishap_task_mark(call, "%*d", 1 << 20, 7));
    assert_int_equal(heard.count, 0);
    mishap_call_end(call);
}

static void what_has_no_mark_keeps_none(void **state)
{
    static const mishap_settlement settlement = { 0 };
    static const mishap_watcher other = { .mark = NULL };
    mishap_call *call = begin(&watcher);
    (void)state;
    call->settlement = &settlement;
    assert_true(mishap_task_mark(call, "%d", 1));
    call->settlement = NULL;
    call->watcher = &other;
    assert_true(mishap_task_mark(call, "%d", 2));
    call->watcher = NULL;
    assert_true(mishap_task_mark(call, "%d", 3));
    assert_int_equal(heard.count, 0);
    assert_null(mishap_task_last_mark(call));
    mishap_call_end(call);
}

static void the_last_mark_is_that_of_an_earlier_run(void **state)
{
    mishap_call *call = begin(&watcher);
    (void)state;
    call->mark = T("12");
    assert_true(mishap_task_mark(call, "%d", 13));
    assert_string_equal(mishap_task_last_mark(call), "12");
    assert_string_equal(heard.last, "13");
    mishap_call_end(call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_mark_is_text_of_four_kilobytes_at_most),
        TEST(a_mark_that_is_cut_within_a_character_is_refused),
        TEST(what_has_no_mark_keeps_none),
        TEST(the_last_mark_is_that_of_an_earlier_run),
    };
    return RUN(tests);
}
