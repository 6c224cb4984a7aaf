/*
 * A program with the tools, resources and prompts that the conformance suite of the Model Context
 * Protocol asks of a server, and some more for http_test.py. Their names and texts are the suite's.
 *
 *     conformance serve --listen 127.0.0.1:0      conformance mcp
 */
#include <mishap/main.h>
#include <mishap/store.h>

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "conformance.h"
#include "mcp/transport/http/over_http.h" /* mishap_mcp_changed() */

/* A picture of one red pixel, and a sound of no samples. */
#define PIXEL                                                                                      \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5Erk"   \
    "Jggg=="
#define SILENCE "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="

#define TEXT_BLOCK(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define PIXEL_BLOCK      "{\"type\":\"image\",\"data\":\"" PIXEL "\",\"mimeType\":\"image/png\"}"
#define SILENCE_BLOCK    "{\"type\":\"audio\",\"data\":\"" SILENCE "\",\"mimeType\":\"audio/wav\"}"

/* -- tools: content ---------------------------------------------------------------------------- */

static mishap *simple_text(mishap_call *call)
{
    return mishap_answer_document(call,
                                  mishap_text_of("This is a simple text response for testing."));
}

static mishap *image_content(mishap_call *call)
{
    return mishap_answer_content(call, "[" PIXEL_BLOCK "]");
}

static mishap *audio_content(mishap_call *call)
{
    return mishap_answer_content(call, "[" SILENCE_BLOCK "]");
}

static mishap *embedded_resource(mishap_call *call)
{
    return mishap_answer_content(
        call, "[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\","
              "\"mimeType\":\"text/plain\",\"text\":\"This is an embedded resource content.\"}}]");
}

static mishap *multiple_content_types(mishap_call *call)
{
    return mishap_answer_content(
        call,
        "[" TEXT_BLOCK("Multiple content types test:") "," PIXEL_BLOCK
                                                       ",{\"type\":\"resource\",\"resource\":{"
                                                       "\"uri\":\"test://mixed-content-resource\","
                                                       "\"mimeType\":\"application/json\","
                                                       "\"text\":\"{\\\"test\\\":\\\"data\\\","
                                                       "\\\"value\\\":123}\"}}]");
}

static mishap *error_handling(mishap_call *call)
{
    (void)call;
    return mishap_raise(RUNTIME_ERROR, "This tool intentionally returns an error for testing");
}

/* -- tools: while they run --------------------------------------------------------------------- */

static mishap *with_logging(mishap_call *call)
{
    static const char *const words[] = { "Tool execution started", "Tool processing data",
                                         "Tool execution completed" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        wait_ms(i ? 50 : 0);
        mishap_tell_client(call, MISHAP_INFO, "%s", words[i]);
    }
    return mishap_answer_document(call, mishap_text_of("Tool with logging executed successfully"));
}

static mishap *with_progress(mishap_call *call)
{
    for (int done = 0; done <= 100; done += 50) {
        mishap_progress(call, done, 100, NULL);
        wait_ms(200); /* reports that come within 45 ms of each other are told as one */
    }
    return mishap_answer_document(call, mishap_text_of("Tool with progress executed successfully"));
}

static mishap *logging_tool(mishap_call *call)
{
    mishap_tell_client(call, MISHAP_INFO, "This is sent to those who ask for it.");
    return mishap_answer_document(call, mishap_text_of("A message was logged"));
}

static mishap *streaming_elicitation(mishap_call *call)
{
    mishap_progress(call, 1, 1, NULL);
    return mishap_answer_document(call, mishap_text_of("Nobody was asked for anything"));
}

static mishap *reconnection(mishap_call *call)
{
    mishap_progress(call, 1, 2, NULL);
    wait_ms(100);
    return mishap_answer_document(call, mishap_text_of("Reconnection test completed successfully"));
}

/* -- tools: lists that change ------------------------------------------------------------------ */

static mishap *trigger_tool_change(mishap_call *call)
{
    mishap_mcp_changed(MISHAP_MCP_TOOLS_CHANGED);
    return mishap_answer_document(call, mishap_text_of("Tool list changed"));
}

static mishap *trigger_prompt_change(mishap_call *call)
{
    mishap_mcp_changed(MISHAP_MCP_PROMPTS_CHANGED);
    return mishap_answer_document(call, mishap_text_of("Prompt list changed"));
}

/* -- tools: for http_test.py ------------------------------------------------------------------- */

static const mishap_param step_params[] = {
    { "steps", MISHAP_INTEGER, .required = true, .range = { 1, 1000 }, .help = "How many" },
    { "pause_ms", MISHAP_INTEGER, .initial = "50", .range = { 0, 1000 }, .help = "Between two" },
    { "mark", MISHAP_STRING, .file = true,
      .help = "A file that is written if it is cancelled; "
              "another, MARK.begun, when it begins" },
    { "size", MISHAP_INTEGER, .range = { 0, 4000000 }, .help = "Bytes of the answer, if many" },
    { 0 },
};

static void leave_mark(mishap_call *call, const char *suffix)
{
    if (!mishap_given(call, "mark"))
        return;
    FILE *mark = fopen(mishap_call_print(call, "%s%s", mishap_string(call, "mark"), suffix), "we");
    if (mark)
        fclose(mark);
}

static mishap *take_steps(mishap_call *call)
{
    int64_t steps = mishap_integer(call, "steps"), step = 0;
    leave_mark(call, ".begun");
    while (step < steps && !mishap_cancelled(call)) {
        mishap_progress(call, (double)++step, (double)steps, "one more step");
        wait_ms(mishap_integer(call, "pause_ms"));
    }
    if (mishap_cancelled(call)) {
        leave_mark(call, "");
        return mishap_raise(CANCELLED, "It was cancelled after %d steps.", (int)step);
    }
    if (mishap_given(call, "size")) {
        size_t size = (size_t)mishap_integer(call, "size");
        char *filling = mishap_call_take(call, size + 1);
        memset(filling, 'x', size);
        filling[size] = '\0';
        mishap_answer_member(call, "filling", filling);
    }
    return mishap_answer_member(call, "steps", step);
}

static const mishap_param hang_params[] = {
    { "mark", MISHAP_STRING, .file = true, .help = "MARK.begun is written when it begins" },
    { 0 },
};

/* It never comes back, and notices nothing. */
static mishap *hang(mishap_call *call)
{
    leave_mark(call, ".begun");
    for (;;)
        pause();
    return NULL;
}

static mishap *crash(mishap_call *call)
{
    (void)call;
    raise(SIGSEGV);
    return NULL;
}

static mishap *who(mishap_call *call)
{
    const char *caller = mishap_caller(call);
    mishap_answer_member(call, "caller", caller ? caller : "nobody");
    return mishap_answer_member(call, "process", (int64_t)getpid());
}

static const mishap_param echo_params[] = {
    { "text", MISHAP_STRING, .required = true, .help = "What comes back" },
    { 0 },
};

static const mishap_param greet_params[] = {
    { "name", MISHAP_STRING, .required = true },
    { 0 },
};
static const mishap_param slow_params[] = {
    { "seconds", MISHAP_NUMBER, .range = { 0, 100 }, .required = true },
    { "label", MISHAP_STRING, .initial = "\"\"" },
    { 0 },
};
static mishap *greet(mishap_call *call)
{
    return mishap_answer_document(
        call, mishap_text_of(mishap_call_print(call, "Hello, %s!", mishap_string(call, "name"))));
}

static mishap *echo(mishap_call *call)
{
    return mishap_answer_member(call, "text", mishap_string(call, "text"));
}

/* -- tools: for http_test.py, resources that change -------------------------------------------- */

static const mishap_param touch_params[] = {
    { "uri", MISHAP_STRING, .required = true, .help = "The address of what has changed" },
    { "times", MISHAP_INTEGER, .initial = "1", .range = { 1, 10000 }, .help = "How often" },
    { 0 },
};

static mishap *touch(mishap_call *call)
{
    for (int64_t i = mishap_integer(call, "times"); i > 1; i--)
        mishap_changed(call, "test://other/%d", (int)i);
    mishap_changed(call, "%s", mishap_string(call, "uri"));
    return mishap_answer_member(call, "process", (int64_t)getpid());
}

/* It says so, and the process that runs it is gone. */
static mishap *touch_and_die(mishap_call *call)
{
    touch(call);
    kill(getpid(), SIGKILL);
    return NULL;
}

/* -- resources --------------------------------------------------------------------------------- */

static mishap *static_text(mishap_call *call)
{
    return mishap_answer_document(
        call, mishap_text_of("This is the content of the static text resource."));
}

static const mishap_param id_params[] = {
    { "id", MISHAP_STRING, .required = true, .help = "Whose data" },
    { 0 },
};

static mishap *template_data(mishap_call *call)
{
    mishap_answer_member(call, "id", mishap_string(call, "id"));
    mishap_answer_member(call, "templateTest", true);
    return mishap_answer_member(call, "data", "Data for ID");
}

/* -- prompts ----------------------------------------------------------------------------------- */

static mishap *simple_prompt(mishap_call *call)
{
    return mishap_answer_document(call, mishap_text_of("This is a simple prompt for testing."));
}

static mishap *prompt_with_image(mishap_call *call)
{
    return mishap_answer_content(call, "[" PIXEL_BLOCK
                                       "," TEXT_BLOCK("Please analyze the image above.") "]");
}

static const mishap_param two_arguments[] = {
    { "arg1", MISHAP_STRING, .required = true, .help = "First test argument" },
    { "arg2", MISHAP_STRING, .required = true, .help = "Second test argument" },
    { 0 },
};

static mishap *prompt_with_arguments(mishap_call *call)
{
    return mishap_answer_document(
        call, mishap_text_of(mishap_call_print(call, "Prompt with arguments: arg1='%s', arg2='%s'",
                                               mishap_string(call, "arg1"),
                                               mishap_string(call, "arg2"))));
}

/* The suite gives it `resourceUri`, which is no name for a parameter, and always with this value.
 */
static mishap *prompt_with_resource(mishap_call *call)
{
    return mishap_answer_content(
        call, "[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://example-resource\","
              "\"mimeType\":\"text/plain\",\"text\":\"Embedded resource content for "
              "testing.\"}}," TEXT_BLOCK("Please process the embedded resource above.") "]");
}

/* -- questions --------------------------------------------------------------------------------- */

static const mishap_param message_params[] = { { "message", MISHAP_STRING, .required = true },
                                               { 0 } };
static const mishap_param prompt_params[] = { { "prompt", MISHAP_STRING, .required = true },
                                              { 0 } };
static const mishap_param user_params[] = {
    { "username", MISHAP_STRING, .required = true, .help = "User's response" },
    { "email", MISHAP_STRING, .required = true, .help = "User's email address" },
    { 0 },
};
static const char *const states[] = { "active", "inactive", "pending", NULL };
static const mishap_param default_params[] = {
    { "name", MISHAP_STRING, .initial = "\"John Doe\"" },
    { "age", MISHAP_INTEGER, .initial = "30" },
    { "score", MISHAP_NUMBER, .initial = "95.5" },
    { "status", MISHAP_ENUM, .choices = states, .initial = "\"active\"" },
    { "verified", MISHAP_BOOLEAN, .initial = "true" },
    { 0 },
};

/* What the client has answered, as text. */
static mishap *say_reply(mishap_call *call, const char *words, const char *name)
{
    return mishap_answer_document(
        call, mishap_text_of(mishap_call_print(call, "%s%s", words,
                                               mishap_json(mishap_reply(call, name), ""))));
}

static mishap *elicit(mishap_call *call)
{
    if (!mishap_reply(call, "user"))
        return mishap_ask(call, "user", user_params, "%s", mishap_string(call, "message"));
    return say_reply(call, "User response: action=accept, content=", "user");
}

static mishap *elicit_defaults(mishap_call *call)
{
    if (!mishap_reply(call, "user"))
        return mishap_ask(call, "user", default_params, "Please check what is known of you");
    return say_reply(call, "Elicitation completed: action=accept, content=", "user");
}

/* Two of the five forms of choices have titles, which declarations have not. */
static mishap *elicit_choices(mishap_call *call)
{
    static const char request[] =
        "{\"message\":\"Please choose\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
        "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
        "\"titledSingle\":{\"type\":\"string\",\"oneOf\":["
        "{\"const\":\"value1\",\"title\":\"First Option\"},"
        "{\"const\":\"value2\",\"title\":\"Second Option\"},"
        "{\"const\":\"value3\",\"title\":\"Third Option\"}]},"
        "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
        "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
        "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
        "\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
        "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":["
        "{\"const\":\"value1\",\"title\":\"First Choice\"},"
        "{\"const\":\"value2\",\"title\":\"Second Choice\"},"
        "{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}}}}";
    if (!mishap_reply(call, "choices"))
        return mishap_ask_client(call, "choices", request);
    return say_reply(call, "Elicitation completed: ", "choices");
}

static mishap *sample(mishap_call *call)
{
    mishap_buffer request = { 0 };
    if (mishap_reply(call, "model"))
        return say_reply(call, "LLM response: ", "model");
    MISHAP_PUT(&request,
               "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    mishap_json_string(&request, mishap_text_of(mishap_string(call, "prompt")));
    MISHAP_PUT(&request, "}}],\"maxTokens\":100}");
    mishap_buffer_put_char(&request, '\0');
    mishap *asked = request.failed ? mishap_raise(INTERNAL_ERROR, "There is no memory.")
                                   : mishap_ask_client(call, "model", request.data);
    mishap_buffer_release(&request);
    return asked;
}

static const mishap_param name_params[] = { { "name", MISHAP_STRING, .required = true }, { 0 } };
static const mishap_param color_params[] = { { "color", MISHAP_STRING, .required = true }, { 0 } };
static const mishap_param ok_params[] = { { "ok", MISHAP_BOOLEAN, .required = true }, { 0 } };
static const mishap_param context_params[] = { { "context", MISHAP_STRING, .required = true },
                                               { 0 } };

#define SAMPLE(text, tokens)                                                                       \
    "{\"messages\":[{\"role\":\"user\",\"content\":" TEXT_BLOCK(text) "}],\"maxTokens\":" tokens "}"

static mishap *say(mishap_call *call, const char *words)
{
    return mishap_answer_document(call, mishap_text_of(words));
}

static mishap *ask_name(mishap_call *call)
{
    const mishap_call *reply = mishap_reply(call, "user_name");
    if (!reply)
        return mishap_ask(call, "user_name", name_params, "What is your name?");
    return say(call, mishap_call_print(call, "Hello, %s!", mishap_string(reply, "name")));
}

static mishap *ask_sample(mishap_call *call)
{
    if (!mishap_reply(call, "capital_question"))
        return mishap_ask_client(call, "capital_question",
                                 SAMPLE("What is the capital of France?", "100"));
    return say(call, mishap_json(mishap_reply(call, "capital_question"), ""));
}

static mishap *ask_roots(mishap_call *call)
{
    if (!mishap_reply(call, "client_roots"))
        return mishap_ask_client(call, "client_roots", NULL);
    return say(call, mishap_json(mishap_reply(call, "client_roots"), ""));
}

static mishap *ask_ok(mishap_call *call)
{
    if (!mishap_reply(call, "confirm"))
        return mishap_ask(call, "confirm", ok_params, "Please confirm");
    return say(call, "state-ok");
}

static mishap *ask_all(mishap_call *call)
{
    mishap *asked = NULL;
    if (!mishap_reply(call, "user_name"))
        asked = mishap_ask(call, "user_name", name_params, "What is your name?");
    if (!mishap_reply(call, "greeting"))
        asked = mishap_ask_client(call, "greeting", SAMPLE("Generate a greeting", "50"));
    if (!mishap_reply(call, "client_roots"))
        asked = mishap_ask_client(call, "client_roots", NULL);
    return asked ? asked : say(call, "All of it was answered");
}

static mishap *ask_twice(mishap_call *call)
{
    if (!mishap_reply(call, "step1"))
        return mishap_ask(call, "step1", name_params, "Step 1: What is your name?");
    if (!mishap_reply(call, "step2"))
        return mishap_ask(call, "step2", color_params, "Step 2: What is your favorite color?");
    return say(call, mishap_call_print(call, "%s likes %s",
                                       mishap_string(mishap_reply(call, "step1"), "name"),
                                       mishap_string(mishap_reply(call, "step2"), "color")));
}

static mishap *ask_for_prompt(mishap_call *call)
{
    const mishap_call *reply = mishap_reply(call, "user_context");
    if (!reply)
        return mishap_ask(call, "user_context", context_params,
                          "What context should the prompt use?");
    return say(call, mishap_string(reply, "context"));
}

#define CAN_SAMPLE                                                                                 \
    {                                                                                              \
        "capital_question", .method = "sampling/createMessage"                                     \
    }
#define CAN_ROOTS                                                                                  \
    {                                                                                              \
        "client_roots", .method = "roots/list"                                                     \
    }
#define CAN_NAME                                                                                   \
    {                                                                                              \
        "user_name", .params = name_params                                                         \
    }

/* -- tools: words of JSON Schema, and a header ------------------------------------------------- */

static const char *const contact_methods[] = { "phone", "email", NULL };
static const mishap_param contact_params[] = {
    { "name", .type = MISHAP_STRING },
    { "address", MISHAP_OBJECT, .schema = "{\"$ref\":\"#/$defs/address\"}" },
    { "contactMethod", MISHAP_ENUM, .choices = contact_methods },
    { "phone", .type = MISHAP_STRING },
    { "email", .type = MISHAP_STRING },
    { 0 },
};
static const char contact_schema[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
    "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\","
    "\"properties\":{\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
    "\"required\":[\"contactMethod\"]},"
    "\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]}}";

static const mishap_param repeated_params[] = {
    { "greeting", MISHAP_STRING, .required = true, .header = "Greeting" },
    { "times", MISHAP_INTEGER, .header = "Times" },
    { "loud", MISHAP_BOOLEAN, .header = "Loud" },
    { 0 },
};

/* -- the program ------------------------------------------------------------------------------- */

static const mishap_param step_answers[] = { { "steps", MISHAP_INTEGER, .required = true }, { 0 } };

static const mishap_operation operations[] = {
    { .name = "simple.text",
      .tool = "test_simple_text",
      .summary = "Answer a text",
      .quick = true,
      .route = "GET /simple-text",
      .run = simple_text },
    { .name = "schema",
      .tool = "json_schema_2020_12_tool",
      .summary = "Tool with JSON Schema 2020-12 features",
      .params = contact_params,
      .schema = contact_schema,
      .quick = true,
      .route = "POST /schema",
      .danger = MISHAP_SAFE,
      .run = simple_text },
    { .name = "repeat",
      .tool = "test_header_params",
      .summary = "Take arguments that are repeated in headers",
      .params = repeated_params,
      .quick = true,
      .run = simple_text },
    { .name = "content.image",
      .tool = "test_image_content",
      .summary = "Answer a picture",
      .route = "GET /image",
      .run = image_content,
      .stateless = true },
    { .name = "content.audio",
      .tool = "test_audio_content",
      .summary = "Answer a sound",
      .run = audio_content,
      .stateless = true },
    { .name = "content.resource",
      .tool = "test_embedded_resource",
      .summary = "Answer a resource",
      .run = embedded_resource,
      .stateless = true },
    { .name = "content.multiple",
      .tool = "test_multiple_content_types",
      .summary = "Answer a text, a picture and a resource",
      .run = multiple_content_types,
      .stateless = true },
    { .name = "error.handling",
      .tool = "test_error_handling",
      .summary = "Fail",
      .raises = MISHAP_RAISES(RUNTIME_ERROR),
      .run = error_handling,
      .stateless = true },
    { .name = "with.logging",
      .tool = "test_tool_with_logging",
      .summary = "Send three log messages while it runs",
      .run = with_logging,
      .stateless = true },
    { .name = "with.progress",
      .tool = "test_tool_with_progress",
      .summary = "Say three times how far it is",
      .run = with_progress,
      .stateless = true },
    { .name = "logging",
      .tool = "test_logging_tool",
      .summary = "Send one log message",
      .run = logging_tool,
      .stateless = true },
    { .name = "streaming",
      .tool = "test_streaming_elicitation",
      .summary = "Say how far it is, and ask nobody",
      .run = streaming_elicitation,
      .stateless = true },
    { .name = "reconnection",
      .tool = "test_reconnection",
      .summary = "Take some time, so that a stream can be resumed",
      .run = reconnection,
      .stateless = true },
    { .name = "change.tools",
      .tool = "test_trigger_tool_change",
      .summary = "Say that the list of tools has changed",
      .danger = MISHAP_MUTATING,
      .quick = true, /* only a loop has those who listen */
      .run = trigger_tool_change },
    { .name = "change.prompts",
      .tool = "test_trigger_prompt_change",
      .summary = "Say that the list of prompts has changed",
      .danger = MISHAP_MUTATING,
      .quick = true, /* only a loop has those who listen */
      .run = trigger_prompt_change },
    { .name = "steps",
      .tool = "steps",
      .summary = "Take many steps, and say so for each",
      .params = step_params,
      .answers = step_answers,
      .run = take_steps,
      .stateless = true },
    { .name = "hang",
      .tool = "hang",
      .summary = "Hang",
      .params = hang_params,
      .run = hang,
      .stateless = true },
    { .name = "crash", .tool = "crash", .summary = "Crash", .run = crash, .stateless = true },
    { .name = "who",
      .tool = "who",
      .summary = "Tell who calls, and which loop answers",
      .quick = true,
      .run = who },
    { .name = "echo",
      .tool = "echo",
      .summary = "Answer what was said",
      .quick = true,
      .params = echo_params,
      .answers = echo_params,
      .run = echo },
    { .name = "elicit.user",
      .tool = "test_elicitation",
      .summary = "Ask for a name and an address",
      .params = message_params,
      .run = elicit,
      .asks = MISHAP_ASKS({ "user", .params = user_params }),
      .stateless = true },
    { .name = "elicit.defaults",
      .tool = "test_elicitation_sep1034_defaults",
      .summary = "Ask with defaults",
      .run = elicit_defaults,
      .asks = MISHAP_ASKS({ "user", .params = default_params }),
      .stateless = true },
    { .name = "elicit.choices",
      .tool = "test_elicitation_sep1330_enums",
      .summary = "Ask for choices",
      .run = elicit_choices,
      .asks = MISHAP_ASKS({ "choices", .method = "elicitation/create" }),
      .stateless = true },
    { .name = "ask.model",
      .tool = "test_sampling",
      .summary = "Ask a model",
      .params = prompt_params,
      .run = sample,
      .asks = MISHAP_ASKS({ "model", .method = "sampling/createMessage" }),
      .stateless = true },
    { .name = "ask.name",
      .tool = "test_input_required_result_elicitation",
      .summary = "Ask for a name",
      .run = ask_name,
      .asks = MISHAP_ASKS(CAN_NAME),
      .stateless = true },
    { .name = "ask.sample",
      .tool = "test_input_required_result_sampling",
      .summary = "Ask a model",
      .run = ask_sample,
      .asks = MISHAP_ASKS(CAN_SAMPLE),
      .stateless = true },
    { .name = "ask.capability",
      .tool = "test_missing_capability",
      .summary = "Ask a model, which not every client can",
      .run = ask_sample,
      .asks = MISHAP_ASKS(CAN_SAMPLE),
      .stateless = true },
    { .name = "ask.roots",
      .tool = "test_input_required_result_list_roots",
      .summary = "Ask for the roots of the client",
      .run = ask_roots,
      .asks = MISHAP_ASKS(CAN_ROOTS),
      .stateless = true },
    { .name = "ask.state",
      .tool = "test_input_required_result_request_state",
      .summary = "Ask for a confirmation",
      .run = ask_ok,
      .asks = MISHAP_ASKS({ "confirm", .params = ok_params }),
      .stateless = true },
    { .name = "ask.tampered",
      .tool = "test_input_required_result_tampered_state",
      .summary = "Ask for a confirmation that counts once",
      .danger = MISHAP_DESTRUCTIVE,
      .run = ask_ok,
      .asks = MISHAP_ASKS({ "confirm", .params = ok_params }),
      .stateless = true },
    { .name = "ask.all",
      .tool = "test_input_required_result_multiple_inputs",
      .summary = "Ask for three things at once",
      .run = ask_all,
      .asks = MISHAP_ASKS(CAN_NAME, { "greeting", .method = "sampling/createMessage" }, CAN_ROOTS),
      .stateless = true },
    { .name = "ask.capabilities",
      .tool = "test_input_required_result_capabilities",
      .summary = "Ask for what the client can answer",
      .run = ask_all,
      .asks = MISHAP_ASKS(CAN_NAME, { "greeting", .method = "sampling/createMessage" }, CAN_ROOTS),
      .stateless = true },
    { .name = "ask.twice",
      .tool = "test_input_required_result_multi_round",
      .summary = "Ask for one thing after the other",
      .run = ask_twice,
      .asks = MISHAP_ASKS({ "step1", .params = name_params }, { "step2", .params = color_params }),
      .stateless = true },
    { .name = "ask.prompt",
      .prompt = "test_input_required_result_prompt",
      .summary = "Ask what a prompt is about",
      .run = ask_for_prompt,
      .asks = MISHAP_ASKS({ "user_context", .params = context_params }),
      .stateless = true },
    { .name = "touch.slow",
      .summary = "Say that a resource has changed, from a worker",
      .tool = "touch",
      .route = "POST /touch",
      .danger = MISHAP_MUTATING,
      .params = touch_params,
      .run = touch,
      .stateless = true },
    { .name = "touch.quick",
      .summary = "Say that a resource has changed",
      .route = "POST /touch/quick",
      .danger = MISHAP_MUTATING,
      .quick = true,
      .params = touch_params,
      .run = touch },
    { .name = "touch.die",
      .summary = "Say that a resource has changed, and die",
      .route = "POST /touch/die",
      .danger = MISHAP_MUTATING,
      .params = touch_params,
      .run = touch_and_die,
      .stateless = true },
    { .name = "touch.end",
      .summary = "Say that a resource has changed, and end the loop",
      .route = "POST /touch/end",
      .danger = MISHAP_MUTATING,
      .quick = true,
      .params = touch_params,
      .run = touch_and_die },
    { .name = "static.text",
      .summary = "A static text resource for testing",
      .resource = "test://static-text",
      .quick = true,
      .run = static_text },
    { .name = "static.binary",
      .summary = "A static binary resource for testing",
      .resource = "test://static-binary",
      .run = image_content,
      .stateless = true },
    { .name = "watched",
      .summary = "A resource that can be subscribed to",
      .resource = "test://watched-resource",
      .run = static_text,
      .stateless = true },
    { .name = "template",
      .summary = "A resource template with one parameter",
      .resource = "test://template/{id}/data",
      .params = id_params,
      .run = template_data,
      .stateless = true },
    { .name = "prompt.simple",
      .summary = "A simple prompt without arguments",
      .prompt = "test_simple_prompt",
      .run = simple_prompt,
      .stateless = true },
    { .name = "prompt.arguments",
      .summary = "A prompt with required arguments",
      .prompt = "test_prompt_with_arguments",
      .params = two_arguments,
      .run = prompt_with_arguments,
      .stateless = true },
    { .name = "prompt.resource",
      .summary = "A prompt with an embedded resource",
      .prompt = "test_prompt_with_embedded_resource",
      .run = prompt_with_resource,
      .stateless = true },
    { .name = "prompt.image",
      .summary = "A prompt with a picture",
      .prompt = "test_prompt_with_image",
      .quick = true,
      .run = prompt_with_image },
    { .name = "greet",
      .summary = "Greet somebody",
      .params = greet_params,
      .run = greet,
      .stateless = true },
    { .name = "slow_compute",
      .summary = "Take some seconds",
      .params = slow_params,
      .run = slow_compute,
      .task = true,
      .timeout_ms = 120000,
      .stateless = true },
    { .name = "failing_job",
      .summary = "Fail after a second",
      .run = failing_job,
      .task = true,
      .task_only = true,
      .raises = MISHAP_RAISES(RUNTIME_ERROR),
      .stateless = true },
    { .name = "protocol_error_job",
      .summary = "Crash after a second",
      .run = protocol_error_job,
      .task = true,
      .stateless = true },
    { .name = "confirm_delete",
      .summary = "Ask before something is deleted",
      .params = conformance_delete_params,
      .asks = MISHAP_ASKS({ "confirm", .params = conformance_confirm_params }),
      .run = confirm_delete,
      .danger = MISHAP_DESTRUCTIVE,
      .task = true,
      .stateless = true },
    { .name = "multi_input",
      .summary = "Ask two questions at once",
      .asks = MISHAP_ASKS({ "first", .params = conformance_confirm_params },
                          { "second", .params = conformance_confirm_params }),
      .run = multi_input,
      .task = true,
      .stateless = true },
    { .name = "test_tool_with_task",
      .summary = "Ask, and then work for a second",
      .asks = MISHAP_ASKS({ "user_name", .params = conformance_user_name_params }),
      .run = test_tool_with_task,
      .task = true,
      .stateless = true },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "conformance",
                                      .version = "1.0",
                                      .summary = "What the conformance suite asks of a server",
                                      .operations = operations,
                                      .cluster = &mishap_cluster_in_postgresql,
                                      .task_store = &mishap_tasks_in_store });
}
