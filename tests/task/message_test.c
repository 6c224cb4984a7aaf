/* Messages between a loop and the process of tasks: what is written reads the same, and what is cut
 * or changed is refused or reads as something else, but never beyond its bytes. */
#include "testing.h"

#include "task/message.h"

static mishap_task_told told(void)
{
    return (mishap_task_told){
        .id = T("0123456789012345678901234567890123456789012"),
        .operation = T("change"),
        .incident = T("0190e4c0-0000-7000-8000-000000000000"),
        .state = MISHAP_TASK_SUCCEEDED,
        .made_ms = 5,
        .changed_ms = -7,
        .keep_ms = 9,
        .cancel = true,
        .has_progress = true,
        .done = 0.5,
        .total = 2,
        .words = T("Half of it"),
        .call = T("call\0with NUL"),
        .outcome = T(""),
    };
}

static void put(mishap_buffer *out, mishap_task_reply_kind kind)
{
    mishap_task_reply reply = { .kind = kind, .outcome = T("outcome"), .told = told() };
    if (kind == MISHAP_TASK_REFUSED)
        reply.failure = mishap_raise(RATE_LIMITED, "Too many.");
    mishap_buffer_reset(out);
    mishap_task_put_reply(out, 77, &reply);
    mishap_free(reply.failure);
    assert_false(out->failed);
}

static void a_reply_reads_as_it_was_written(void **state)
{
    mishap_buffer bytes = { 0 };
    (void)state;
    for (mishap_task_reply_kind kind = MISHAP_TASK_DONE; kind < MISHAP_TASK_LOST; kind++) {
        mishap_task_message message;
        mishap_task_reply reply;
        put(&bytes, kind);
        assert_int_equal(mishap_task_message_read(mishap_buffer_text(&bytes), &message),
                         bytes.length);
        assert_int_equal(message.number, 77);
        assert_true(mishap_task_take_reply(message.body, &reply));
        assert_int_equal(reply.kind, kind);
        if (kind == MISHAP_TASK_TOLD) {
            assert_true(mishap_text_equal(reply.told.call, told().call));
            assert_true(mishap_text_equal(reply.told.words, told().words));
            assert_int_equal(reply.told.changed_ms, -7);
            assert_true(reply.told.cancel && reply.told.has_progress);
        }
        if (kind == MISHAP_TASK_REFUSED)
            assert_true(mishap_is(reply.failure, RATE_LIMITED));
        mishap_free(reply.failure);
    }
    mishap_buffer_release(&bytes);
}

static void a_message_that_is_cut_is_not_complete(void **state)
{
    mishap_buffer bytes = { 0 };
    mishap_task_message message;
    (void)state;
    put(&bytes, MISHAP_TASK_TOLD);
    for (size_t length = 0; length < bytes.length; length++)
        assert_int_equal(mishap_task_message_read((mishap_text){ bytes.data, length }, &message),
                         0);
    mishap_buffer_release(&bytes);
}

/* Each body in memory of its own size, so that a sanitizer sees a read behind it. */
static void try_body(const char *data, size_t length)
{
    char *copy = malloc(length ? length : 1);
    mishap_task_reply reply = { 0 };
    mishap_task_started started;
    mishap_task_wish wish;
    mishap_text owner, id;
    assert_non_null(copy);
    if (length)
        memcpy(copy, data, length);
    mishap_text body = { copy, length };
    mishap_task_take_reply(body, &reply);
    mishap_free(reply.failure);
    mishap_task_take_start(body, &started);
    mishap_task_take_ask(body, &wish, &owner, &id);
    free(copy);
}

static void a_body_that_is_cut_or_changed_is_no_danger(void **state)
{
    mishap_buffer bytes = { 0 };
    (void)state;
    for (mishap_task_reply_kind kind = MISHAP_TASK_DONE; kind < MISHAP_TASK_LOST; kind++) {
        put(&bytes, kind);
        char *body = bytes.data + MISHAP_TASK_HEAD;
        size_t length = bytes.length - MISHAP_TASK_HEAD;
        for (size_t i = 0; i < length; i++) {
            char was = body[i];
            try_body(body, i);
            for (int change = 1; change < 256; change = change * 2 + 1) {
                body[i] = (char)(was ^ change);
                try_body(body, length);
            }
            body[i] = was;
        }
    }
    mishap_buffer_release(&bytes);
}

static void lengths_that_no_message_has_are_refused(void **state)
{
    static const char too_long[] = "\377\377\377\377\5\0\0\0\0", no_kind[] = "\0\0\0\0\0\0\0\0\0",
                      last[] = "\0\0\0\0\10\0\0\0\0";
    mishap_task_message message;
    (void)state;
    assert_true(mishap_task_message_read((mishap_text){ too_long, 9 }, &message) == SIZE_MAX);
    assert_true(mishap_task_message_read((mishap_text){ no_kind, 9 }, &message) == SIZE_MAX);
    assert_true(mishap_task_message_read((mishap_text){ last, 9 }, &message) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_reply_reads_as_it_was_written),
        TEST(a_message_that_is_cut_is_not_complete),
        TEST(a_body_that_is_cut_or_changed_is_no_danger),
        TEST(lengths_that_no_message_has_are_refused),
    };
    return RUN(tests);
}
