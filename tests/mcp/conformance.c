/*
 * A program with the tools, resources and prompts that the conformance suite of the Model Context
 * Protocol asks of a server, and some more for http_test.py. Their names and texts are the suite's.
 *
 *     conformance serve --listen 127.0.0.1:0      conformance mcp
 */
#include <mishap/main.h>

#include <signal.h>
#include <time.h>

#include "program/mcp_http.h"

/* A picture of one red pixel, and a sound of no samples. */
#define PIXEL                                                                                      \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5Erk"   \
    "Jggg=="
#define SILENCE "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="

#define TEXT_BLOCK(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define PIXEL_BLOCK      "{\"type\":\"image\",\"data\":\"" PIXEL "\",\"mimeType\":\"image/png\"}"
#define SILENCE_BLOCK    "{\"type\":\"audio\",\"data\":\"" SILENCE "\",\"mimeType\":\"audio/wav\"}"

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

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
        mishap_log(call, MISHAP_INFO, "%s", words[i]);
    }
    return mishap_answer_document(call, mishap_text_of("Tool with logging executed successfully"));
}

static mishap *with_progress(mishap_call *call)
{
    for (int done = 0; done <= 100; done += 50) {
        mishap_progress(call, done, 100, NULL);
        wait_ms(50);
    }
    return mishap_answer_document(call, mishap_text_of("Tool with progress executed successfully"));
}

static mishap *logging_tool(mishap_call *call)
{
    mishap_log(call, MISHAP_INFO, "This is sent to those who ask for it.");
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
    { "mark", MISHAP_STRING, .file = true, .help = "A file that is written if it is cancelled" },
    { 0 },
};

static mishap *take_steps(mishap_call *call)
{
    int64_t steps = mishap_integer(call, "steps"), step = 0;
    while (step < steps && !mishap_cancelled(call)) {
        mishap_progress(call, (double)++step, (double)steps, "one more step");
        wait_ms(mishap_integer(call, "pause_ms"));
    }
    if (mishap_cancelled(call) && mishap_given(call, "mark")) {
        FILE *mark = fopen(mishap_string(call, "mark"), "we");
        if (mark)
            fclose(mark);
    }
    if (mishap_cancelled(call))
        return mishap_raise(CANCELLED, "It was cancelled after %d steps.", (int)step);
    return mishap_answer_member(call, "steps", step);
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

static mishap *echo(mishap_call *call)
{
    return mishap_answer_member(call, "text", mishap_string(call, "text"));
}

/* -- resources --------------------------------------------------------------------------------- */

static mishap *put_contents(mishap_buffer *contents, mishap_text uri, const char *rest)
{
    mishap_json_open(contents, '{');
    MISHAP_JSON_KEY(contents, "uri");
    mishap_json_string(contents, uri);
    mishap_json_comma(contents);
    mishap_buffer_put_text(contents, mishap_text_of(rest));
    mishap_json_close(contents, '}');
    return NULL;
}

static mishap *read_text(mishap_text uri, mishap_text variable, mishap_buffer *contents)
{
    (void)variable;
    return put_contents(contents, uri,
                        "\"mimeType\":\"text/plain\","
                        "\"text\":\"This is the content of the static text resource.\"");
}

static mishap *read_binary(mishap_text uri, mishap_text variable, mishap_buffer *contents)
{
    (void)variable;
    return put_contents(contents, uri, "\"mimeType\":\"image/png\",\"blob\":\"" PIXEL "\"");
}

static mishap *read_template(mishap_text uri, mishap_text variable, mishap_buffer *contents)
{
    mishap_buffer text = { 0 };
    mishap_json_open(&text, '{');
    MISHAP_JSON_KEY(&text, "id");
    mishap_json_string(&text, variable);
    MISHAP_PUT(&text, ",\"templateTest\":true,\"data\":\"Data for ID\"}");
    mishap_json_open(contents, '{');
    MISHAP_JSON_KEY(contents, "uri");
    mishap_json_string(contents, uri);
    MISHAP_PUT(contents, ",\"mimeType\":\"application/json\",\"text\":");
    mishap_json_string(contents, mishap_buffer_text(&text));
    mishap_json_close(contents, '}');
    contents->failed = contents->failed || text.failed;
    mishap_buffer_release(&text);
    return NULL;
}

static const mishap_mcp_resource static_text = {
    .uri = "test://static-text",
    .name = "static-text",
    .description = "A static text resource for testing",
    .mime_type = "text/plain",
    .read = read_text,
};
static const mishap_mcp_resource static_binary = {
    .uri = "test://static-binary",
    .name = "static-binary",
    .description = "A static binary resource for testing",
    .mime_type = "image/png",
    .read = read_binary,
};
static const mishap_mcp_resource watched_resource = {
    .uri = "test://watched-resource",
    .name = "watched-resource",
    .description = "A resource that can be subscribed to",
    .mime_type = "text/plain",
    .read = read_text,
};
static const mishap_mcp_resource template_data = {
    .uri = "test://template/{id}/data",
    .name = "template-data",
    .description = "A resource template with one parameter",
    .mime_type = "application/json",
    .read = read_template,
};
static const mishap_mcp_resource *const resources[] = { &static_text, &static_binary,
                                                        &watched_resource, &template_data, NULL };

/* -- prompts ----------------------------------------------------------------------------------- */

static mishap *put_messages(mishap_buffer *object, const char *messages)
{
    MISHAP_JSON_KEY(object, "messages");
    mishap_buffer_put_text(object, mishap_text_of(messages));
    return NULL;
}

#define USER(block) "{\"role\":\"user\",\"content\":" block "}"

static mishap *get_simple(yyjson_val *arguments, mishap_buffer *object)
{
    (void)arguments;
    return put_messages(object, "[" USER(TEXT_BLOCK("This is a simple prompt for testing.")) "]");
}

static mishap *get_with_image(yyjson_val *arguments, mishap_buffer *object)
{
    (void)arguments;
    return put_messages(
        object, "[" USER(PIXEL_BLOCK) "," USER(TEXT_BLOCK("Please analyze the image above.")) "]");
}

static const mishap_param two_arguments[] = {
    { "arg1", MISHAP_STRING, .required = true, .help = "First test argument" },
    { "arg2", MISHAP_STRING, .required = true, .help = "Second test argument" },
    { 0 },
};

static mishap *get_with_arguments(yyjson_val *arguments, mishap_buffer *object)
{
    mishap_buffer text = { 0 };
    MISHAP_PUT(&text, "Prompt with arguments: arg1='");
    mishap_buffer_put_text(&text, mishap_json_text(yyjson_obj_get(arguments, "arg1")));
    MISHAP_PUT(&text, "', arg2='");
    mishap_buffer_put_text(&text, mishap_json_text(yyjson_obj_get(arguments, "arg2")));
    MISHAP_PUT(&text, "'");
    MISHAP_JSON_KEY(object, "messages");
    MISHAP_PUT(object, "[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    mishap_json_string(object, mishap_buffer_text(&text));
    MISHAP_PUT(object, "}}]");
    mishap_buffer_release(&text);
    return NULL;
}

static const mishap_param uri_argument[] = {
    { "resourceUri", MISHAP_STRING, .required = true, .help = "The address of what is embedded" },
    { 0 },
};

static mishap *get_with_resource(yyjson_val *arguments, mishap_buffer *object)
{
    MISHAP_JSON_KEY(object, "messages");
    MISHAP_PUT(object, "[{\"role\":\"user\",\"content\":{\"type\":\"resource\",\"resource\":");
    put_contents(object, mishap_json_text(yyjson_obj_get(arguments, "resourceUri")),
                 "\"mimeType\":\"text/plain\","
                 "\"text\":\"Embedded resource content for testing.\"");
    MISHAP_PUT(object, "}}," USER(TEXT_BLOCK("Please process the embedded resource above.")) "]");
    return NULL;
}

static const mishap_mcp_prompt simple_prompt = {
    .name = "test_simple_prompt",
    .description = "A simple prompt without arguments",
    .get = get_simple,
};
static const mishap_mcp_prompt prompt_with_arguments = {
    .name = "test_prompt_with_arguments",
    .description = "A prompt with required arguments",
    .arguments = two_arguments,
    .get = get_with_arguments,
};
static const mishap_mcp_prompt prompt_with_resource = {
    .name = "test_prompt_with_embedded_resource",
    .description = "A prompt with an embedded resource",
    .arguments = uri_argument,
    .get = get_with_resource,
};
static const mishap_mcp_prompt prompt_with_image = {
    .name = "test_prompt_with_image",
    .description = "A prompt with a picture",
    .get = get_with_image,
};
static const mishap_mcp_prompt *const prompts[] = { &simple_prompt, &prompt_with_arguments,
                                                    &prompt_with_resource, &prompt_with_image,
                                                    NULL };

/* -- the program ------------------------------------------------------------------------------- */

static const mishap_param step_answers[] = { { "steps", MISHAP_INTEGER, .required = true }, { 0 } };

static const mishap_operation operations[] = {
    { .name = "simple.text",
      .tool = "test_simple_text",
      .summary = "Answer a text",
      .quick = true,
      .route = "GET /simple-text",
      .run = simple_text },
    { .name = "content.image",
      .tool = "test_image_content",
      .summary = "Answer a picture",
      .route = "GET /image",
      .run = image_content },
    { .name = "content.audio",
      .tool = "test_audio_content",
      .summary = "Answer a sound",
      .run = audio_content },
    { .name = "content.resource",
      .tool = "test_embedded_resource",
      .summary = "Answer a resource",
      .run = embedded_resource },
    { .name = "content.multiple",
      .tool = "test_multiple_content_types",
      .summary = "Answer a text, a picture and a resource",
      .run = multiple_content_types },
    { .name = "error.handling",
      .tool = "test_error_handling",
      .summary = "Fail",
      .raises = MISHAP_RAISES(RUNTIME_ERROR),
      .run = error_handling },
    { .name = "with.logging",
      .tool = "test_tool_with_logging",
      .summary = "Send three log messages while it runs",
      .run = with_logging },
    { .name = "with.progress",
      .tool = "test_tool_with_progress",
      .summary = "Say three times how far it is",
      .run = with_progress },
    { .name = "logging",
      .tool = "test_logging_tool",
      .summary = "Send one log message",
      .run = logging_tool },
    { .name = "streaming",
      .tool = "test_streaming_elicitation",
      .summary = "Say how far it is, and ask nobody",
      .run = streaming_elicitation },
    { .name = "reconnection",
      .tool = "test_reconnection",
      .summary = "Take some time, so that a stream can be resumed",
      .run = reconnection },
    { .name = "change.tools",
      .tool = "test_trigger_tool_change",
      .summary = "Say that the list of tools has changed",
      .danger = MISHAP_MUTATING,
      .run = trigger_tool_change },
    { .name = "change.prompts",
      .tool = "test_trigger_prompt_change",
      .summary = "Say that the list of prompts has changed",
      .danger = MISHAP_MUTATING,
      .run = trigger_prompt_change },
    { .name = "steps",
      .tool = "steps",
      .summary = "Take many steps, and say so for each",
      .params = step_params,
      .answers = step_answers,
      .run = take_steps },
    { .name = "crash", .tool = "crash", .summary = "Crash", .run = crash },
    { .name = "who",
      .tool = "who",
      .summary = "Tell who calls, and which process answers",
      .run = who },
    { .name = "echo",
      .tool = "echo",
      .summary = "Answer what was said",
      .quick = true,
      .params = echo_params,
      .answers = echo_params,
      .run = echo },
    { 0 },
};

int main(int argc, char **argv)
{
    mishap_mcp_offer(resources, prompts);
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "conformance",
                                      .version = "1.0",
                                      .summary = "What the conformance suite asks of a server",
                                      .operations = operations });
}
