/*
 * Any bytes as the state of a call that asks. The first byte says how they come: as text, or as the
 * bytes of a state that is sealed with the right key, so that what is behind the seal is read, too.
 * A state that is taken gives answers that are valid JSON, and the call then runs or asks; what it
 * asks can be sealed and opened again.
 */
#include "fuzz.h"

#include "operation/sealed.h"

static const mishap_param answer[] = {
    { "sure", MISHAP_BOOLEAN, .required = true },
    { "word", MISHAP_STRING, .initial = "\"a\"" },
    { 0 },
};

static mishap *ask(mishap_call *call)
{
    const mishap_call *reply = mishap_reply(call, "first");
    if (!reply || !mishap_boolean(reply, "sure"))
        return mishap_ask(call, "first", NULL, "First?");
    if (mishap_reply_state(call, "second") == MISHAP_REPLY_NONE)
        return mishap_ask(call, "second", NULL, "Second?");
    return mishap_answer_member(call, "word", mishap_string(reply, "word"));
}

static const mishap_operation operations[] = {
    { "ask", "Ask", NULL, ask,
      .asks = MISHAP_ASKS({ "first", .params = answer }, { "second", .params = answer }) },
    { 0 },
};
static const mishap_app app = { "states", "1.0", "States", .operations = operations };

static mishap_call *begin(void)
{
    mishap_call *call;
    EXPECT(!mishap_call_begin(&app, operations, (mishap_text)MISHAP_TEXT("{}"), &call), "no call");
    return call;
}

/* Run a call whose state was taken; what it asks is sealed, and can be opened. */
static void go_on(mishap_seal *seal, mishap_call *call)
{
    mishap_buffer text = { 0 };
    mishap *failure = mishap_call_run(call);
    if (mishap_asking_is(call, failure)) {
        mishap_call *next = begin();
        mishap_state_put(&text, seal, call);
        EXPECT(!text.failed, "it cannot be sealed");
        EXPECT(mishap_state_take(seal, next, mishap_buffer_text(&text)) == MISHAP_STATE_SOUND,
               "our own state is refused");
        mishap_call_end(next);
    }
    mishap_free(failure);
    mishap_buffer_release(&text);
}

/* The answers of a state are ours, so they are not checked a second time: what is sealed here is
 * what mishap_asking_answer() makes of the bytes. */
static void seal_answers(mishap_seal *seal, mishap_text bytes, mishap_answers_form form)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_call *call = begin();
    mishap *failure = mishap_json_read(&reader, bytes)
                          ? mishap_asking_answer(call, reader.root, form)
                          : NULL;
    if (!failure)
        go_on(seal, call);
    mishap_free(failure);
    mishap_call_end(call);
    mishap_json_reader_release(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const mishap_shared_secret secret = { .keys = { { 1 } }, .count = 1 };
    static mishap_seal *seal;
    if (!seal)
        EXPECT(!mishap_seal_make(&seal), "no seal");
    mishap_seal_use(seal, &secret);
    if (!size)
        return 0;
    mishap_text bytes = input_text(data + 1, size - 1);
    if (data[0] % 3) {
        seal_answers(seal, bytes,
                     data[0] % 3 == 1 ? MISHAP_ANSWERS_PLAIN : MISHAP_ANSWERS_OF_CLIENT);
        return 0;
    }
    mishap_call *call = begin();
    if (mishap_state_take(seal, call, bytes) == MISHAP_STATE_SOUND)
        go_on(seal, call);
    mishap_call_end(call);
    return 0;
}
