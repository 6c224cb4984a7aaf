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

static void answers_read_as_they_were_written(void **state)
{
    mishap_buffer bytes = { 0 };
    mishap_task_message message;
    mishap_text owner, id;
    mishap_task_given read,
        given = { .form = MISHAP_ANSWERS_OF_CLIENT, .scopes = 5, .answers = T("{\"sure-2\":{}}") };
    (void)state;
    mishap_task_put_give(&bytes, 9, T("0123456789abcdef:ada"), T("id"), &given);
    assert_int_equal(mishap_task_message_read(mishap_buffer_text(&bytes), &message), bytes.length);
    assert_true(mishap_task_take_give(message.body, &owner, &id, &read));
    assert_true(mishap_text_equal(owner, T("0123456789abcdef:ada")));
    assert_true(mishap_text_equal(id, T("id")));
    assert_true(mishap_text_equal(read.answers, given.answers));
    assert_int_equal(read.form, given.form);
    assert_int_equal(read.scopes, 5);
    for (size_t length = 0; length < message.body.length; length++)
        assert_false(
            mishap_task_take_give((mishap_text){ message.body.data, length }, &owner, &id, &read));
    mishap_buffer_release(&bytes);
}

static mishap *unused(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_param sure[] = { { "sure", MISHAP_BOOLEAN, .required = true }, { 0 } };
static const mishap_operation operation = { "work", "Work", NULL, unused,
                                            .asks = MISHAP_ASKS({ "sure", .params = sure }) };
static const mishap_operation later = { "work", "Work", NULL, unused,
                                        .asks = MISHAP_ASKS({ "other", .params = sure }) };

static void questions_are_found_again_by_their_names(void **state)
{
    mishap_buffer bytes = { 0 }, key = { 0 };
    mishap_task_questions read, open = { .count = 1 };
    (void)state;
    open.list[0] = (mishap_task_question){ .asked = { .question = &operation.asks[0],
                                                      .message = T("Do it? (wrong)") },
                                           .plain = { "Do it?", 6 },
                                           .number = 3 };
    mishap_task_questions_put(&bytes, &open);
    assert_true(mishap_task_questions_take(mishap_buffer_text(&bytes), &operation, &read));
    assert_int_equal(read.count, 1);
    assert_ptr_equal(read.list[0].asked.question, &operation.asks[0]);
    assert_true(mishap_text_equal(read.list[0].asked.message, T("Do it? (wrong)")));
    assert_true(mishap_text_equal(read.list[0].plain, T("Do it?")));
    mishap_task_question_put_key(&key, &read.list[0]);
    assert_true(mishap_text_equal(mishap_buffer_text(&key), T("sure-3")));
    assert_false(mishap_task_questions_take(mishap_buffer_text(&bytes), &later, &read));
    for (size_t i = 0; i < bytes.length; i++) {
        assert_false(mishap_task_questions_take((mishap_text){ bytes.data, i }, &operation, &read));
        for (int change = 1; change < 256; change = change * 2 + 1) {
            bytes.data[i] = (char)(bytes.data[i] ^ change);
            mishap_task_questions_take(mishap_buffer_text(&bytes), &operation, &read);
            bytes.data[i] = (char)(bytes.data[i] ^ change);
        }
    }
    mishap_buffer_release(&bytes);
    mishap_buffer_release(&key);
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
        TEST(answers_read_as_they_were_written),
        TEST(questions_are_found_again_by_their_names),
        TEST(lengths_that_no_message_has_are_refused),
    };
    return RUN(tests);
}
