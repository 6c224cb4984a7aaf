/*
 * The state of a call that asks (src/operation/sealed.h): what it costs to seal one of about 600
 * bytes, and to open it, with a digest of 300 bytes of arguments. The same bytes through HMAC alone
 * stand beside it.
 */
#include "../measure.h"
#include "operation/sealed.h"

static const mishap_param text_params[] = { { "text", MISHAP_STRING, .required = true }, { 0 } };

static mishap *ask(mishap_call *call)
{
    if (mishap_reply(call, "first") && mishap_reply(call, "second"))
        return NULL;
    return mishap_ask(call, mishap_reply(call, "first") ? "second" : "first", NULL, "More?");
}

static const mishap_operation operations[] = {
    { "ask", "Ask", text_params, ask,
      .asks = MISHAP_ASKS({ "first", .params = text_params },
                          { "second", .params = text_params }) },
    { 0 },
};
static const mishap_app app = { "bench", "1.0", "Bench", .operations = operations };

static mishap_seal *seal;
static mishap_call *call;
static char state[4096];
static size_t length;

static void seal_state(void)
{
    mishap_buffer text;
    mishap_buffer_init(&text, state, sizeof state);
    mishap_state_put(&text, seal, call);
    length = text.length;
    if (text.failed || text.data != state)
        end_void("mishap_state_put", "it fails");
}

static void open_state(void)
{
    if (mishap_state_take(seal, call, (mishap_text){ state, length }) != MISHAP_STATE_SOUND)
        end_void("mishap_state_take", "it fails");
    call->rounds = 0;
}

static void authenticate(void)
{
    static const unsigned char key[MISHAP_MAC_KEY];
    unsigned char mac[MISHAP_MAC];
    mishap_mac(key, (mishap_text){ state, length }, mac);
}

static void fill(mishap_buffer *json, const char *name, size_t count)
{
    mishap_json_key(json, mishap_text_of(name));
    MISHAP_PUT(json, "\"");
    for (size_t i = 0; i < count; i++)
        mishap_buffer_put_char(json, 'x');
    MISHAP_PUT(json, "\"");
}

static void begin(void)
{
    mishap_buffer arguments = { 0 }, answers = { 0 };
    mishap_json_open(&arguments, '{');
    fill(&arguments, "text", 288);
    mishap_json_close(&arguments, '}');
    MISHAP_PUT(&answers, "{\"first\":{");
    fill(&answers, "text", 340);
    MISHAP_PUT(&answers, "}}");
    mishap *failure = mishap_seal_make(&seal);
    if (!failure)
        failure = mishap_call_begin(&app, operations, mishap_buffer_text(&arguments), &call);
    if (!failure)
        failure = mishap_asking_answer_text(call, mishap_buffer_text(&answers),
                                            MISHAP_ANSWERS_PLAIN);
    mishap *asked = failure ? NULL : mishap_call_run(call);
    if (failure || !mishap_asking_is(call, asked))
        end_void("mishap_ask", "it does not ask");
    mishap_free(asked);
    mishap_buffer_release(&arguments);
    mishap_buffer_release(&answers);
}

static void show(const char *what, work *run)
{
    double ours, bare;
    compare(run, authenticate, 20, &ours, &bare);
    printf("%s a state of %zu bytes: %.1f us (at most 8.0: %s), %.1f times its HMAC alone\n", what,
           length, figure(what, ours) / 1e3, outcome(ours / 1e3, 1, 8),
           ours / figure("HMAC", bare));
}

int main(void)
{
    begin();
    seal_state();
    show("seal", seal_state);
    show("open", open_state);
    mishap_call_end(call);
    mishap_seal_free(seal);
    return 0;
}
