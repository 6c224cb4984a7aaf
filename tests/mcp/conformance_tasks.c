/* Tools of conformance.c that may become tasks. Their names and texts are the suite's. */
#include "conformance.h"

#include <stdlib.h>

const mishap_param conformance_delete_params[] = {
    { "filename", MISHAP_STRING, .required = true },
    { 0 },
};
const mishap_param conformance_confirm_params[] = {
    { "confirm", MISHAP_BOOLEAN, .required = true },
    { 0 },
};

const mishap_param conformance_user_name_params[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 100 } },
    { 0 },
};

/* Longer than --task-after-ms of conformance_test.py. */
static void wait_for_task(void)
{
    wait_ms(1000);
}

mishap *slow_compute(mishap_call *call)
{
    for (double left_ms = mishap_number(call, "seconds") * 1000; left_ms > 0; left_ms -= 10) {
        if (mishap_cancelled(call))
            return mishap_raise(CANCELLED, "The computation was cancelled.");
        wait_ms(10);
    }
    return mishap_answer_document(call, mishap_text_of(mishap_call_print(
                                            call, "Computed: %s", mishap_string(call, "label"))));
}

mishap *failing_job(mishap_call *call)
{
    (void)call;
    wait_ms(1000);
    return mishap_raise(RUNTIME_ERROR, "This job intentionally fails");
}

mishap *protocol_error_job(mishap_call *call)
{
    (void)call;
    wait_for_task();
    abort();
}

/* A question of a task. */
mishap *confirm_delete(mishap_call *call)
{
    wait_for_task();
    if (!mishap_reply(call, "confirm"))
        return mishap_ask(call, "confirm", conformance_confirm_params, "Delete %s?",
                          mishap_string(call, "filename"));
    return mishap_answer_document(call, mishap_text_of("Deleted"));
}

mishap *multi_input(mishap_call *call)
{
    mishap *asks = NULL;
    wait_for_task();
    if (!mishap_reply(call, "first"))
        asks = mishap_ask(call, "first", conformance_confirm_params, "Is the first one right?");
    if (!mishap_reply(call, "second"))
        asks = mishap_ask(call, "second", conformance_confirm_params, "Is the second one right?");
    return asks ? asks : mishap_answer_document(call, mishap_text_of("Both are answered."));
}

/* A question before there is a task. */
mishap *test_tool_with_task(mishap_call *call)
{
    const mishap_call *name = mishap_reply(call, "user_name");
    if (!name)
        return mishap_ask(call, "user_name", conformance_user_name_params, "What is your name?");
    wait_for_task();
    return mishap_answer_document(
        call, mishap_text_of(mishap_call_print(call, "Hello, %s!", mishap_string(name, "name"))));
}
