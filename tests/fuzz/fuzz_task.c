/*
 * Any bytes between a loop and the process of tasks, and in a row: a stream of messages, of which
 * the bodies are read in both directions; and an outcome with the call that it belongs to.
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
static const mishap_operation operations[] = {
    { "work", "Work", params, unused, .stateless = true },
    { 0 },
};
static const mishap_app app = { "tasks", "1.0", "Tasks", .operations = operations };

static void take_body(mishap_text body)
{
    mishap_task_reply reply = { 0 };
    mishap_task_started started;
    mishap_task_wish wish;
    mishap_text owner, id;
    if (mishap_task_take_reply(body, &reply)) {
        mishap_buffer again = { 0 };
        mishap_task_put_reply(&again, 1, &reply);
        mishap_buffer_release(&again);
    }
    mishap_free(reply.failure);
    mishap_task_take_start(body, &started);
    mishap_task_take_ask(body, &wish, &owner, &id);
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
    take_row(size ? (mishap_text){ (const char *)data, size } : (mishap_text)MISHAP_TEXT(""));
    return 0;
}
