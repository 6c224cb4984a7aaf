/*
 * Any bytes between a loop and the process of tasks, and in a row: a stream of messages, of which
 * the bodies are read in both directions; an outcome with the call that it belongs to; and the row
 * of a task that asks, with answers.
 */
#include "fuzz.h"

#include "task/message.h"

static mishap *unused(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_param params[] = {
    { "number", MISHAP_INTEGER, .initial = "7" },
    { 0 },
};
static const mishap_param sure[] = {
    { "sure", MISHAP_BOOLEAN, .required = true },
    { 0 },
};
static const mishap_operation operations[] = {
    { "work", "Work", params, unused, .stateless = true,
      .asks = MISHAP_ASKS({ "sure", .params = sure }, { "roots", .method = "roots/list" }) },
    { 0 },
};
static const mishap_app app = { "tasks", "1.0", "Tasks", .operations = operations };

static void take_body(mishap_text body)
{
    mishap_task_reply reply = { 0 };
    mishap_task_started started;
    mishap_task_wish wish;
    mishap_task_given given;
    mishap_text owner, id;
    if (mishap_task_take_reply(body, &reply)) {
        mishap_buffer again = { 0 };
        mishap_task_put_reply(&again, 1, &reply);
        mishap_buffer_release(&again);
    }
    mishap_free(reply.failure);
    mishap_task_take_start(body, &started);
    mishap_task_take_ask(body, &wish, &owner, &id);
    mishap_task_take_give(body, &owner, &id, &given);
}

/* A third each for the call, the questions and the answers. */
static void take_asking(mishap_text bytes)
{
    size_t third = bytes.length / 3;
    mishap_task_row row = { .operation = MISHAP_TEXT("work"),
                            .state = MISHAP_TASK_ASKING,
                            .call = { bytes.data, third },
                            .outcome = { bytes.data + third, third } };
    mishap_task_given given = { .form = (mishap_answers_form)(bytes.length % 3),
                                .scopes = MISHAP_SCOPES_ALL,
                                .answers = { bytes.data + 2 * third, bytes.length - 2 * third } };
    mishap_task_questions open;
    mishap_arena arena;
    mishap *wrong = NULL;
    if (mishap_task_questions_take(bytes, &operations[0], &open)) {
        mishap_buffer again = { 0 };
        mishap_task_questions_put(&again, &open);
        mishap_buffer_release(&again);
    }
    mishap_arena_init(&arena, NULL, 0);
    mishap_free(mishap_task_give(&app, &arena, &given, &row, &wrong));
    mishap_free(wrong);
    mishap_arena_release(&arena);
}

static void take_row(mishap_text bytes)
{
    size_t half = bytes.length / 2;
    mishap_call *call = NULL;
    mishap *failure = NULL;
    mishap *broken = mishap_task_remake(&app, &operations[0], (mishap_text){ bytes.data, half },
                                        (mishap_text){ bytes.data + half, bytes.length - half },
                                        &call, &failure);
    mishap_free(broken);
    mishap_free(failure);
    mishap_call_end(call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text rest = { (const char *)data, size };
    mishap_task_message message;
    size_t taken;
    while ((taken = mishap_task_message_read(rest, &message)) && taken != SIZE_MAX) {
        take_body(message.body);
        rest.data += taken;
        rest.length -= taken;
    }
    take_body((mishap_text){ (const char *)data, size });
    take_asking(size ? (mishap_text){ (const char *)data, size } : (mishap_text)MISHAP_TEXT(""));
    take_row(size ? (mishap_text){ (const char *)data, size } : (mishap_text)MISHAP_TEXT(""));
    return 0;
}
