/* src/mcp/result: what came of a call, for a model. */
#include <unistd.h>

#include "mcp_set_up.h"

#include "dialect/dialect.h"
#include "operation/call.h"
#include "mcp/calls/result.h"
#include "mcp/offers/schema.h"

/* -- one call ---------------------------------------------------------------------------------- */

#define TRACE  "Traceback (most recent call last):\n  File \"x.py\", line 3, in f"
#define MARKER "PRIVATE-SIDE-MARKER"
#define SECRET "open sesame"

/* What the handler does. */
static mishap *(*handler)(mishap_call *call);

static mishap *run(mishap_call *call)
{
    return handler(call);
}

static const mishap_param params[] = {
    { "age", MISHAP_INTEGER, .range = { 0, 150 } },
    { .name = "name", .type = MISHAP_STRING },
    { "key", MISHAP_STRING, .secret = true },
    { 0 },
};
static const mishap_param pet = { "pet", MISHAP_STRING, .pattern = "^\\A[a-z]++$" };
static const mishap_param answers[] = {
    { "id", MISHAP_STRING, .required = true },
    { "age", MISHAP_INTEGER, .range = { 0, 150 } },
    { "pets", MISHAP_ARRAY, .items = &pet },
    { 0 },
};
static const mishap_operation operations[] = {
    { "try", "Try", params, run, .answers = answers, .quick = true,
      .raises = MISHAP_RAISES(NOT_FOUND, RUNTIME_ERROR, UNAVAILABLE) },
    { 0 },
};
/* The same, which may answer anything. */
static const mishap_operation undeclared = {
    "try", "Try",         params,
    run,   .quick = true, .raises = MISHAP_RAISES(NOT_FOUND, RUNTIME_ERROR, UNAVAILABLE)
};
static const mishap_app app = { .name = "mcp-result", .version = "1", .operations = operations };

static mishap_mcp_offer tool_of(const mishap_dialect *dialect)
{
    return (mishap_mcp_offer){ .operation = &operations[0], .name = T("try"), .dialect = dialect };
}

/* The members of the result, as an object: malloc'ed, with a NUL. */
static char *outcome(const mishap_dialect *dialect, const char *arguments,
                     mishap_mcp_revision revision)
{
    mishap_mcp_offer tool = tool_of(dialect);
    tool.operation = &undeclared;
    mishap_call *call = NULL;
    mishap_buffer result = { 0 };
    mishap *failure = mishap_call_begin(&app, tool.operation, mishap_text_of(arguments), &call);
    if (!failure)
        failure = mishap_call_run(call);
    mishap_json_open(&result, '{');
    mishap_mcp_asked asked = { .offer = &tool, .revision = revision };
    assert_int_equal(mishap_mcp_put_outcome(&result, &asked, call, failure,
                                            "01234567-89ab-7def-8123-456789abcdef"),
                     failure ? MISHAP_MCP_MEMBERS_AND_META : MISHAP_MCP_MEMBERS);
    mishap_json_close(&result, '}');
    mishap_buffer_put_char(&result, '\0');
    assert_false(result.failed);
    char *text = strdup(result.data);
    mishap_buffer_release(&result);
    mishap_call_end(call);
    mishap_free(failure);
    return text;
}

#define META ",\"_meta\":{\"dev.mishap/incident\":\"01234567-89ab-7def-8123-456789abcdef\"}}"

#define ASSERT_OUTCOME(dialect, what, arguments, revision, expected)                               \
    do {                                                                                           \
        handler = (what);                                                                          \
        char *seen = outcome((dialect), (arguments), (revision));                                  \
        assert_string_equal(seen, (expected));                                                     \
        free(seen);                                                                                \
    } while (0)

/* -- answers ----------------------------------------------------------------------------------- */

static mishap *answer_object(mishap_call *call)
{
    return mishap_answer(call, "{\"id\": \"a\\\"b\", \"age\": 3}");
}

static mishap *answer_array(mishap_call *call)
{
    return mishap_answer(call, "[1, 2]");
}

static mishap *answer_nothing(mishap_call *call)
{
    return mishap_no_content(call);
}

static mishap *answer_document(mishap_call *call)
{
    return mishap_answer_document(call, T("[stdout]\nline \"two\"\n"));
}

static mishap *answer_bytes(mishap_call *call)
{
    return mishap_answer_document(call, T("a\xFF"
                                          "b"));
}

static mishap *answer_with_remarks(mishap_call *call)
{
    mishap_warn(call, "It is \"%s\".", "late");
    mishap_warn(call, "back\\slash\"");
    mishap_answer_cut(call, 20, 100);
    return mishap_answer(call, "{}");
}

static void an_object_is_text_and_structure(void **state)
{
    (void)state;
#define OBJECT_TEXT                                                                                \
    "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"id\\\":\\\"a\\\\\\\"b\\\",\\\"age\\\":3}\"}" \
    "]"
    ASSERT_OUTCOME(&mishap_tool_result, answer_object, "{}", MISHAP_MCP_2025_06_18,
                   OBJECT_TEXT ",\"structuredContent\":{\"id\":\"a\\\"b\",\"age\":3}}");
    ASSERT_OUTCOME(&mishap_condition_report, answer_object, "{}", MISHAP_MCP_2026_07_28,
                   OBJECT_TEXT ",\"structuredContent\":{\"id\":\"a\\\"b\",\"age\":3}}");
    ASSERT_OUTCOME(&mishap_tool_result, answer_object, "{}", MISHAP_MCP_2025_03_26,
                   OBJECT_TEXT "}");
}

static void an_array_is_structure_only_where_the_revision_has_that(void **state)
{
    (void)state;
#define ARRAY_TEXT "{\"content\":[{\"type\":\"text\",\"text\":\"[1,2]\"}]"
    ASSERT_OUTCOME(&mishap_tool_result, answer_array, "{}", MISHAP_MCP_2025_11_25, ARRAY_TEXT "}");
    ASSERT_OUTCOME(&mishap_tool_result, answer_array, "{}", MISHAP_MCP_2026_07_28,
                   ARRAY_TEXT ",\"structuredContent\":[1,2]}");
}

static void what_answers_nothing_is_done(void **state)
{
    (void)state;
    ASSERT_OUTCOME(&mishap_tool_result, answer_nothing, "{}", MISHAP_MCP_2025_11_25,
                   "{\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}]}");
}

static void a_document_is_text(void **state)
{
    (void)state;
    ASSERT_OUTCOME(
        &mishap_tool_result, answer_document, "{}", MISHAP_MCP_2025_11_25,
        "{\"content\":[{\"type\":\"text\",\"text\":\"[stdout]\\nline \\\"two\\\"\\n\"}]}");
    ASSERT_OUTCOME(&mishap_tool_result, answer_bytes, "{}", MISHAP_MCP_2025_11_25,
                   "{\"content\":[{\"type\":\"text\",\"text\":\"a\xEF\xBF\xBD"
                   "b\"}]}");
}

static void remarks_are_further_blocks(void **state)
{
    (void)state;
    ASSERT_OUTCOME(&mishap_tool_result, answer_with_remarks, "{}", MISHAP_MCP_2025_11_25,
                   "{\"content\":[{\"type\":\"text\",\"text\":\"{}\"},"
                   "{\"type\":\"text\",\"text\":\"Warning: It is \\\"late\\\".\"},"
                   "{\"type\":\"text\",\"text\":\"Warning: back\\\\slash\\\"\"},"
                   "{\"type\":\"text\",\"text\":\"Only 20 of 100 are listed.\"}],"
                   "\"structuredContent\":{}}");
}

static mishap *answer_blocks(mishap_call *call)
{
    return mishap_answer_content(
        call, "[{\"type\":\"text\",\"text\":\"a\"},"
              "{\"type\":\"audio\",\"data\":\"AAAA\",\"mimeType\":\"audio/wav\"},"
              "{\"type\":\"resource_link\",\"uri\":\"test://b\",\"name\":\"the \\\"b\\\"\"}]");
}

/* The address of an answer is new each time: what stands before and after it. */
static void blocks_that_a_revision_does_not_have_are_told_by_those_that_it_has(void **state)
{
    (void)state;
    static const char start[] = "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
                                "{\"type\":\"resource\",\"resource\":{\"uri\":\"mishap://try/";
    static const char end[] = "\",\"mimeType\":\"audio/wav\",\"blob\":\"AAAA\"}},"
                              "{\"type\":\"text\",\"text\":\"the \\\"b\\\": test://b\"}]}";
    handler = answer_blocks;
    char *first = outcome(&mishap_tool_result, "{}", MISHAP_MCP_2024_11_05);
    assert_int_equal(strlen(first), sizeof start - 1 + MISHAP_ID_LENGTH + sizeof end - 1);
    assert_memory_equal(first, start, sizeof start - 1);
    assert_string_equal(first + sizeof start - 1 + MISHAP_ID_LENGTH, end);
    free(first);
#define AUDIO "{\"type\":\"audio\",\"data\":\"AAAA\",\"mimeType\":\"audio/wav\"}"
    ASSERT_OUTCOME(&mishap_tool_result, answer_blocks, "{}", MISHAP_MCP_2025_03_26,
                   "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}," AUDIO
                   ",{\"type\":\"text\",\"text\":\"the \\\"b\\\": test://b\"}]}");
    ASSERT_OUTCOME(&mishap_tool_result, answer_blocks, "{}", MISHAP_MCP_2025_06_18,
                   "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}," AUDIO
                   ",{\"type\":\"resource_link\",\"uri\":\"test://b\",\"name\":\"the \\\"b\\\"\"}"
                   "]}");
}

static mishap *answer_sound(mishap_call *call)
{
    return mishap_answer_bytes(call, T("\xFF\xFE\xFD"), "audio/wav");
}

static void sound_is_a_resource_where_there_is_no_audio(void **state)
{
    (void)state;
    ASSERT_OUTCOME(&mishap_tool_result, answer_sound, "{}", MISHAP_MCP_2024_11_05,
                   "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"mishap://try/"
                   "01234567-89ab-7def-8123-456789abcdef\",\"mimeType\":\"audio/wav\",\"blob\":"
                   "\"//79\"}}]}");
    ASSERT_OUTCOME(&mishap_tool_result, answer_sound, "{}", MISHAP_MCP_2025_03_26,
                   "{\"content\":[{\"type\":\"audio\",\"data\":\"//79\",\"mimeType\":\"audio/wav\"}"
                   "]}");
}

/* -- failures ---------------------------------------------------------------------------------- */

static mishap *fail_not_found(mishap_call *call)
{
    mishap *m = mishap_raise(NOT_FOUND, "There is no \"%s\".", mishap_string(call, "name"));
    return mishap_note(mishap_tell(m, "paths_explored", 0), "where", MARKER);
}

static mishap *fail_inside(mishap_call *call)
{
    (void)call;
    return mishap_raise(INTERNAL_ERROR, "The %s is broken.", MARKER);
}

static void a_failure_is_told_in_the_dialect_of_the_tool(void **state)
{
    (void)state;
#define INCIDENT "01234567-89ab-7def-8123-456789abcdef"
    ASSERT_OUTCOME(
        &mishap_tool_result, fail_not_found, "{\"name\":\"x\"}", MISHAP_MCP_2025_06_18,
        "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"status\\\":\\\"error\\\","
        "\\\"error_type\\\":\\\"ValueError\\\",\\\"message\\\":\\\"There is no "
        "\\\\\\\"x\\\\\\\".\\\","
        "\\\"paths_explored\\\":0,\\\"incident\\\":\\\"" INCIDENT
        "\\\",\\\"suggestion\\\":\\\"Check the name or id that was given.\\\","
        "\\\"code\\\":\\\"NOT_FOUND\\\",\\\"retryable\\\":false}\"}],"
        "\"structuredContent\":{\"status\":\"error\",\"error_type\":\"ValueError\","
        "\"message\":\"There is no \\\"x\\\".\",\"paths_explored\":0,\"incident\":\"" INCIDENT
        "\",\"suggestion\":\"Check the name or id that was given.\",\"code\":\"NOT_FOUND\","
        "\"retryable\":false},\"isError\":true" META);
    assert_logged(MARKER);
    ASSERT_OUTCOME(
        &mishap_artifact, fail_not_found, "{\"name\":\"x\"}", MISHAP_MCP_2025_03_26,
        "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"success\\\":false,"
        "\\\"error\\\":\\\"There is no \\\\\\\"x\\\\\\\".\\\",\\\"code\\\":\\\"not_found\\\","
        "\\\"category\\\":\\\"resource\\\",\\\"retriable\\\":false,\\\"details\\\":"
        "{\\\"paths_explored\\\":0,\\\"incident\\\":\\\"" INCIDENT
        "\\\"}}\"}],\"isError\":true" META);
    ASSERT_OUTCOME(
        &mishap_condition_report, fail_not_found, "{\"name\":\"x\"}", MISHAP_MCP_2026_07_28,
        "{\"content\":[{\"type\":\"text\",\"text\":\"[ERROR] NOT-FOUND\\nThere is no \\\"x\\\"."
        "\\n\\n[Backtrace]\\n0: (#<no backtrace available>)\\n\"}],\"structuredContent\":{"
        "\"type\":\"NOT-FOUND\",\"message\":\"There is no \\\"x\\\".\",\"stdout\":\"\","
        "\"backtrace\":[\"(#<no backtrace available>)\"],\"code\":\"NOT_FOUND\","
        "\"retryable\":false,\"suggestion\":\"Check the name or id that was "
        "given.\",\"incident\":\"" INCIDENT
        "\",\"paths_explored\":0,\"restarts\":[]},\"isError\":true" META);
    assert_logged(INCIDENT);
}

static mishap *fail_with_a_code_of_its_own(mishap_call *call)
{
    (void)call;
    mishap *m = mishap_suggest(mishap_raise(UNAVAILABLE, "Not now."), "Come back.");
    return mishap_tell(mishap_tell(m, "code", 7), "retryable", "perhaps");
}

/* A model reads the code, and a program that parses the text finds the same again. */
static void a_failure_says_its_code_and_whether_to_try_again(void **state)
{
    (void)state;
    static mishap *(*const whats[])(mishap_call *) = { fail_not_found, fail_inside };
    const mishap_code *const codes[] = { MISHAP_CODE_NOT_FOUND, MISHAP_CODE_INTERNAL_ERROR };
    for (size_t i = 0; i < 2; i++) {
        handler = whats[i];
        char *seen = outcome(&mishap_tool_result, "{\"name\":\"x\"}", MISHAP_MCP_2025_11_25);
        yyjson_doc *doc = yyjson_read(seen, strlen(seen), 0);
        const char *text = yyjson_get_str(
            yyjson_ptr_get(yyjson_doc_get_root(doc), "/content/0/text"));
        mishap *read = parsed(&mishap_tool_result, text, strlen(text));
        assert_ptr_equal(mishap_told(read)->code, codes[i]);
        assert_false(mishap_told(read)->retryable);
        mishap_free(read);
        yyjson_doc_free(doc);
        free(seen);
    }
    handler = fail_with_a_code_of_its_own;
    char *seen = outcome(&mishap_tool_result, "{}", MISHAP_MCP_2025_11_25);
    yyjson_doc *doc = yyjson_read(seen, strlen(seen), 0);
    yyjson_val *told = yyjson_ptr_get(yyjson_doc_get_root(doc), "/structuredContent");
    assert_int_equal(yyjson_get_int(yyjson_obj_get(told, "code")), 7);
    assert_true(yyjson_equals_str(yyjson_obj_get(told, "retryable"), "perhaps"));
    assert_true(yyjson_equals_str(yyjson_obj_get(told, "suggestion"), "Come back."));
    assert_int_equal(yyjson_obj_size(told), 6);
    yyjson_doc_free(doc);
    free(seen);
    free(logged());
}

static void bad_arguments_name_every_bad_field_and_are_not_recorded(void **state)
{
    (void)state;
    handler = answer_object;
    char *seen = outcome(&mishap_tool_result, "{\"age\":200,\"name\":7}", MISHAP_MCP_2025_11_25);
    yyjson_doc *doc = yyjson_read(seen, strlen(seen), 0);
    yyjson_val *told = yyjson_ptr_get(yyjson_doc_get_root(doc), "/structuredContent");
    assert_true(yyjson_is_true(yyjson_ptr_get(yyjson_doc_get_root(doc), "/isError")));
    assert_true(yyjson_equals_str(yyjson_ptr_get(told, "/error_type"), "ValidationError"));
    assert_true(yyjson_equals_str(yyjson_ptr_get(told, "/fields/0/field"), "age"));
    assert_true(yyjson_equals_str(yyjson_ptr_get(told, "/fields/1/field"), "name"));
    assert_null(yyjson_obj_get(told, "incident")); /* there is nothing to look up */
    yyjson_doc_free(doc);
    free(seen);
    assert_logged(NULL);
}

static void the_private_side_is_recorded_and_not_told(void **state)
{
    (void)state;
    static const mishap_dialect *const dialects[] = { &mishap_tool_result, &mishap_artifact,
                                                      &mishap_condition_report };
    handler = fail_inside;
    for (size_t i = 0; i < 3; i++) {
        char *seen = outcome(dialects[i], "{}", MISHAP_MCP_2025_11_25);
        assert_null(strstr(seen, MARKER));
        assert_non_null(strstr(seen, "An internal error occurred."));
        assert_non_null(strstr(seen, "\"isError\":true"));
        free(seen);
        char *text = logged();
        assert_non_null(strstr(text, "The " MARKER " is broken."));
        assert_non_null(strstr(text, INCIDENT));
        free(text);
    }
}

static mishap *fail_cancelled(mishap_call *call)
{
    atomic_store(&call->cancelled, true);
    return mishap_raise(CANCELLED, "It was stopped.");
}

static mishap *fail_plainly(mishap_call *call)
{
    (void)call;
    return mishap_raise(NOT_FOUND, "There is none.");
}

static mishap *fail_for_now(mishap_call *call)
{
    (void)call;
    return mishap_raise(UNAVAILABLE, "Not now.");
}

static mishap *fail_for_a_reason(mishap_call *call)
{
    (void)call;
    return mishap_because(mishap_raise(UNAVAILABLE, "Not now."),
                          mishap_raise(RUNTIME_ERROR, "The " MARKER " is gone."));
}

static void what_nobody_need_look_into_is_no_incident(void **state)
{
    (void)state;
    static mishap *(*const whats[])(mishap_call *) = { fail_plainly, fail_for_now };
    for (size_t i = 0; i < 2; i++) {
        handler = whats[i];
        char *seen = outcome(&mishap_tool_result, "{}", MISHAP_MCP_2025_11_25);
        assert_null(strstr(seen, "\"incident\""));
        assert_non_null(strstr(seen, "dev.mishap/incident"));
        free(seen);
        assert_logged(NULL);
    }
    handler = fail_for_a_reason;
    char *seen = outcome(&mishap_tool_result, "{}", MISHAP_MCP_2025_11_25);
    assert_non_null(strstr(seen, "\"incident\""));
    assert_null(strstr(seen, MARKER));
    free(seen);
    assert_logged(MARKER);
}

static void a_call_that_was_cancelled_is_no_incident(void **state)
{
    (void)state;
    handler = fail_cancelled;
    free(outcome(&mishap_tool_result, "{}", MISHAP_MCP_2025_11_25));
    assert_logged(NULL);
}

/* -- what must not leave ----------------------------------------------------------------------- */

static mishap *leak_in_answer(mishap_call *call)
{
    mishap_warn(call, "The key is %s.", mishap_string(call, "key"));
    mishap_warn(call, "%s", TRACE);
    mishap_answer_member(call, "key", mishap_string(call, "key"));
    return mishap_answer_member(call, "log", TRACE);
}

static mishap *leak_in_document(mishap_call *call)
{
    return mishap_answer_document(
        call, mishap_text_of(mishap_call_print(call, "It is %s.", mishap_string(call, "key"))));
}

static mishap *leak_trace_in_document(mishap_call *call)
{
    return mishap_answer_document(call, T("[redacted]: it broke.\n" TRACE "\n"));
}

/* What was reported of code that the caller sent is an answer like any other. */
static mishap *answer_report(mishap_call *call)
{
    return mishap_answer_document(call, T("[ERROR] DIVISION-BY-ZERO\narithmetic error\n\n"
                                          "[Backtrace]\n0: (/ 1 0)\n1: (eval (/ 1 0))\n"));
}

/* A successful answer is the program's own, and the log does not hear of it. */
static void an_answer_is_not_changed(void **state)
{
    (void)state;
    handler = leak_trace_in_document;
    char *seen = outcome(&mishap_tool_result, "{}", MISHAP_MCP_2025_11_25);
    assert_string_equal(seen,
                        "{\"content\":[{\"type\":\"text\",\"text\":\"[redacted]: it broke.\\n"
                        "Traceback (most recent call last):\\n  File \\\"x.py\\\", line 3, in f\\n"
                        "\"}]}");
    free(seen);
    assert_logged(NULL);
    handler = leak_in_document;
    seen = outcome(&mishap_tool_result, "{\"key\":\"" SECRET "\"}", MISHAP_MCP_2025_11_25);
    assert_string_equal(seen, "{\"content\":[{\"type\":\"text\",\"text\":\"It is " SECRET ".\"}]}");
    free(seen);
    assert_logged(NULL);
    handler = leak_in_answer;
    seen = outcome(&mishap_tool_result, "{\"key\":\"" SECRET "\"}", MISHAP_MCP_2025_11_25);
    yyjson_doc *doc = yyjson_read(seen, strlen(seen), 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    assert_string_equal(yyjson_get_str(yyjson_ptr_get(root, "/structuredContent/log")), TRACE);
    assert_string_equal(yyjson_get_str(yyjson_ptr_get(root, "/structuredContent/key")), SECRET);
    assert_string_equal(yyjson_get_str(yyjson_ptr_get(root, "/content/1/text")),
                        "Warning: The key is " SECRET ".");
    assert_string_equal(yyjson_get_str(yyjson_ptr_get(root, "/content/2/text")), "Warning: " TRACE);
    yyjson_doc_free(doc);
    free(seen);
    assert_logged(NULL);
    handler = answer_report;
    seen = outcome(&mishap_tool_result, "{}", MISHAP_MCP_2025_11_25);
    assert_non_null(strstr(seen, "(eval (/ 1 0))"));
    free(seen);
    assert_logged(NULL);
}

static mishap *leak_in_failure(mishap_call *call)
{
    mishap *m = mishap_raise(RUNTIME_ERROR, "Not with %s.", mishap_string(call, "key"));
    return mishap_tell(mishap_note(m, "used", mishap_string(call, "key")), "log", TRACE);
}

static void assert_no_leak(mishap *(*leak)(mishap_call *call), const mishap_dialect *dialect,
                           bool trace)
{
    handler = leak;
    char *seen = outcome(dialect, "{\"key\":\"" SECRET "\"}", MISHAP_MCP_2025_11_25);
    assert_null(strstr(seen, SECRET));
    assert_null(strstr(seen, "x.py"));
    assert_non_null(strstr(seen, "[redacted]"));
    if (trace)
        assert_non_null(strstr(seen, "A stack trace was removed here."));
    yyjson_doc *doc = yyjson_read(seen, strlen(seen), 0);
    assert_non_null(doc);
    yyjson_doc_free(doc);
    free(seen);
    char *text = logged();
    assert_null(strstr(text, SECRET));
    if (trace)
        assert_non_null(strstr(text, "x.py"));
    free(text);
}

static void secrets_and_stack_traces_do_not_leave(void **state)
{
    (void)state;
    assert_no_leak(leak_in_failure, &mishap_tool_result, true);
    assert_no_leak(leak_in_failure, &mishap_artifact, true);
    assert_no_leak(leak_in_failure, &mishap_condition_report, true);
}

/* -- _meta ------------------------------------------------------------------------------------- */

static void the_meta_of_a_failure_is_its_last_member(void **state)
{
    (void)state;
    mishap_mcp_offer tool = tool_of(&mishap_tool_result);
    mishap_buffer result = { 0 };
    mishap *failure = mishap_raise(NOT_FOUND, "Nothing.");
    mishap_json_open(&result, '{');
    mishap_mcp_asked asked = { .offer = &tool, .revision = MISHAP_MCP_2026_07_28 };
    assert_int_equal(mishap_mcp_put_outcome(&result, &asked, NULL, failure, NULL),
                     MISHAP_MCP_MEMBERS_AND_META);
    result.length--;
    MISHAP_JSON_KEY(&result, "more");
    mishap_json_bool(&result, true);
    MISHAP_PUT(&result, "}}");
    yyjson_doc *doc = yyjson_read(result.data, result.length, 0);
    yyjson_val *meta = yyjson_ptr_get(yyjson_doc_get_root(doc), "/_meta");
    assert_int_equal(yyjson_get_len(yyjson_obj_get(meta, "dev.mishap/incident")), 36);
    assert_true(yyjson_is_true(yyjson_obj_get(meta, "more")));
    yyjson_doc_free(doc);
    mishap_buffer_release(&result);
    mishap_free(failure);
}

/* -- schemas ----------------------------------------------------------------------------------- */

/* As much of JSON Schema as these schemas use; what is not known is a mistake of the test. */
static bool fits(yyjson_val *schema, yyjson_val *value);

static bool is_of_type(const char *type, yyjson_val *value)
{
    return strcmp(type, "object") == 0    ? yyjson_is_obj(value)
           : strcmp(type, "array") == 0   ? yyjson_is_arr(value)
           : strcmp(type, "string") == 0  ? yyjson_is_str(value)
           : strcmp(type, "integer") == 0 ? yyjson_is_int(value)
           : strcmp(type, "boolean") == 0 ? yyjson_is_bool(value)
                                          : yyjson_is_null(value);
}

static bool any(yyjson_val *list, yyjson_val *value, bool (*holds)(yyjson_val *, yyjson_val *))
{
    size_t index, count;
    yyjson_val *item;
    yyjson_arr_foreach(list, index, count, item)
    {
        if (holds(item, value))
            return true;
    }
    return false;
}

static bool has_type(yyjson_val *type, yyjson_val *value)
{
    return is_of_type(yyjson_get_str(type), value);
}

static bool all_fit(yyjson_val *properties, yyjson_val *object)
{
    size_t index, count;
    yyjson_val *key, *value, *schema;
    yyjson_obj_foreach(object, index, count, key, value)
    {
        schema = yyjson_obj_get(properties, yyjson_get_str(key));
        if (schema && !fits(schema, value))
            return false;
    }
    return true;
}

static bool fits_keyword(yyjson_val *key, yyjson_val *rule, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *item;
    if (yyjson_equals_str(key, "type"))
        return yyjson_is_arr(rule) ? any(rule, value, has_type) : has_type(rule, value);
    if (yyjson_equals_str(key, "anyOf"))
        return any(rule, value, fits);
    if (yyjson_equals_str(key, "enum"))
        return any(rule, value, yyjson_equals);
    if (yyjson_equals_str(key, "const"))
        return yyjson_equals(rule, value);
    if (yyjson_equals_str(key, "properties"))
        return all_fit(rule, value);
    if (yyjson_equals_str(key, "minimum"))
        return !yyjson_is_num(value) || yyjson_get_num(value) >= yyjson_get_num(rule);
    if (yyjson_equals_str(key, "maximum"))
        return !yyjson_is_num(value) || yyjson_get_num(value) <= yyjson_get_num(rule);
    if (yyjson_equals_str(key, "required")) {
        yyjson_arr_foreach(rule, index, count, item)
        {
            if (!yyjson_obj_get(value, yyjson_get_str(item)))
                return false;
        }
        return true;
    }
    if (yyjson_equals_str(key, "items")) {
        yyjson_arr_foreach(value, index, count, item)
        {
            if (!fits(rule, item))
                return false;
        }
        return true;
    }
    assert_true(yyjson_equals_str(key, "description") || yyjson_is_true(rule));
    return true;
}

static bool fits(yyjson_val *schema, yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *rule;
    yyjson_obj_foreach(schema, index, count, key, rule)
    {
        if (!fits_keyword(key, rule, value))
            return false;
    }
    return true;
}

static yyjson_doc *output_schema(const mishap_dialect *dialect)
{
    mishap_mcp_offer tool = tool_of(dialect);
    mishap_buffer buffer = { 0 };
    assert_true(mishap_mcp_put_output_schema(&buffer, &tool, true));
    yyjson_doc *doc = yyjson_read(buffer.data, buffer.length, 0);
    assert_non_null(doc);
    mishap_buffer_release(&buffer);
    return doc;
}

static mishap *fail_with_a_report(mishap_call *call)
{
    (void)call;
    mishap *m = mishap_type(mishap_raise(RUNTIME_ERROR, "No number."), "MY-ERROR");
    m = mishap_frame_add(mishap_frame_add(mishap_output(m, T("be[ERROR]fore")), T("(G [stdout])")),
                         T("(F \"x\")"));
    m = mishap_tell(m, "restarts", mishap_value_of_json("[{\"name\":\"ABORT\"}]"));
    return mishap_tell(mishap_tell(m, "stderr", ""), "type", "mine");
}

/* The text is the report and nothing else; its parts are not escaped. */
static void a_report_has_its_parts_as_members_beside_it(void **state)
{
    (void)state;
    ASSERT_OUTCOME(
        &mishap_condition_report, fail_with_a_report, "{}", MISHAP_MCP_2025_11_25,
        "{\"content\":[{\"type\":\"text\",\"text\":\"[stdout]\\nbe[\\\\ERROR]fore\\n\\n[ERROR] "
        "MY-ERROR\\nNo number.\\n\\n[Backtrace]\\n0: (G [\\\\stdout])\\n1: (F \\\"x\\\")\\n\"}],"
        "\"structuredContent\":{\"type\":\"MY-ERROR\",\"message\":\"No number.\","
        "\"stdout\":\"be[ERROR]fore\",\"backtrace\":[\"(G [stdout])\",\"(F \\\"x\\\")\"],"
        "\"code\":\"RUNTIME_ERROR\",\"retryable\":false,\"incident\":\"" INCIDENT
        "\",\"restarts\":[{\"name\":\"ABORT\"}],"
        "\"stderr\":\"\"},\"isError\":true" META);
    handler = fail_with_a_report;
    char *seen = outcome(&mishap_condition_report, "{}", MISHAP_MCP_2025_03_26);
    assert_null(strstr(seen, "structuredContent")); /* the revision has none */
    free(seen);
    free(logged());
}

static mishap *fail_deep(mishap_call *call)
{
    (void)call;
    mishap *m = mishap_type(mishap_raise(RUNTIME_ERROR, "Too deep."), "DEEP");
    m = mishap_output(m, T("out " SECRET));
    for (int i = 0; i < 25; i++)
        m = mishap_frame_add(m, T("(F \"" SECRET "\")"));
    return m;
}

static void a_report_has_twenty_frames_and_no_secret_in_text_and_members(void **state)
{
    (void)state;
    handler = fail_deep;
    char *seen = outcome(&mishap_condition_report, "{\"name\":\"x\",\"key\":\"" SECRET "\"}",
                         MISHAP_MCP_2025_11_25);
    assert_null(strstr(seen, SECRET));
    yyjson_doc *doc = yyjson_read(seen, strlen(seen), 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    assert_int_equal(yyjson_arr_size(yyjson_ptr_get(root, "/structuredContent/backtrace")), 20);
    const char *text = yyjson_get_str(yyjson_ptr_get(root, "/content/0/text"));
    assert_non_null(strstr(text, "\n19: (F "));
    assert_null(strstr(text, "\n20: "));
    yyjson_doc_free(doc);
    free(seen);
    free(logged());
}

static void a_report_names_each_argument_that_is_wrong(void **state)
{
    (void)state;
    handler = answer_object;
    char *seen = outcome(&mishap_condition_report, "{\"name\":1,\"age\":-1}",
                         MISHAP_MCP_2025_11_25);
    yyjson_doc *doc = yyjson_read(seen, strlen(seen), 0);
    const char *text = yyjson_get_str(yyjson_ptr_get(yyjson_doc_get_root(doc), "/content/0/text"));
    assert_non_null(strstr(text, "name"));
    assert_non_null(strstr(text, "age"));
    yyjson_doc_free(doc);
    free(seen);
    free(logged());
}

static mishap *fail_with_all(mishap_call *call)
{
    (void)call;
    mishap *m = mishap_raise(UNAVAILABLE, "It is full.");
    m = mishap_retry_after(mishap_suggest(m, "Come back."), 1500);
    m = mishap_docs(mishap_tell_cause(m, "Full (EFULL)"), "https://example.com/full");
    m = mishap_tell(mishap_tell(m, "status", 7), "fields", "none");
    return mishap_tell(m, "counterexamples", mishap_value_of_json("[]"));
}

static void every_outcome_fits_the_schema_of_outputs(void **state)
{
    (void)state;
    static mishap *(*const whats[])(mishap_call *) = { answer_object, fail_not_found, fail_inside,
                                                       fail_with_all, leak_in_failure };
    static const mishap_dialect *const dialects[] = { &mishap_tool_result, &mishap_artifact,
                                                      &mishap_condition_report };
    static const char *const arguments[] = { "{\"name\":\"x\",\"key\":\"" SECRET "\"}",
                                             "{\"name\":1,\"age\":-1}" };
    for (size_t i = 0; i < sizeof whats / sizeof *whats; i++) {
        for (size_t j = 0; j < 6; j++) {
            handler = whats[i];
            yyjson_doc *schema = output_schema(dialects[j % 3]);
            char *seen = outcome(dialects[j % 3], arguments[j / 3], MISHAP_MCP_2025_11_25);
            yyjson_doc *doc = yyjson_read(seen, strlen(seen), 0);
            yyjson_val *structure = yyjson_ptr_get(yyjson_doc_get_root(doc), "/structuredContent");
            assert_non_null(structure);
            if (!fits(yyjson_doc_get_root(schema), structure))
                fail_msg("%s", seen);
            yyjson_doc_free(doc);
            yyjson_doc_free(schema);
            free(seen);
        }
    }
    free(logged());
}

static void last_words_fit_the_schema_and_other_things_do_not(void **state)
{
    (void)state;
    static const mishap_dialect *const dialects[] = { &mishap_tool_result, &mishap_artifact };
    static const char *const wrong[] = {
        "{}",
        "[]",
        "{\"status\":\"error\"}",
        "{\"id\":7}",
        "{\"id\":\"a\",\"age\":200}",
        ("{\"success\":true,\"error\":\"\",\"code\":\"\",\"category\":\"system\","
         "\"retriable\":true}"),
    };
    for (size_t i = 0; i < 2; i++) {
        yyjson_doc *schema = output_schema(dialects[i]);
        mishap_text words = dialects[i]->last_words;
        yyjson_doc *doc = yyjson_read(words.data, words.length, 0);
        assert_true(fits(yyjson_doc_get_root(schema), yyjson_doc_get_root(doc)));
        yyjson_doc_free(doc);
        for (size_t j = 0; j < sizeof wrong / sizeof *wrong; j++) {
            doc = yyjson_read(wrong[j], strlen(wrong[j]), 0);
            assert_false(fits(yyjson_doc_get_root(schema), yyjson_doc_get_root(doc)));
            yyjson_doc_free(doc);
        }
        yyjson_doc_free(schema);
    }
}

static void a_schema_of_outputs_has_an_object_at_its_root_and_no_foreign_pattern(void **state)
{
    (void)state;
    yyjson_doc *schema = output_schema(&mishap_tool_result);
    yyjson_val *root = yyjson_doc_get_root(schema);
    assert_true(yyjson_equals_str(yyjson_obj_get(root, "type"), "object"));
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(root, "anyOf")), 2);
    yyjson_val *items = yyjson_ptr_get(root, "/anyOf/0/properties/pets/items");
    assert_non_null(items);
    assert_null(yyjson_obj_get(items, "pattern"));
    yyjson_doc_free(schema);
}

static void there_is_no_schema_of_what_is_not_said(void **state)
{
    (void)state;
    mishap_operation silent = operations[0];
    mishap_buffer buffer = { 0 };
    silent.answers = NULL;
    mishap_mcp_offer tool = tool_of(&mishap_tool_result);
    tool.operation = &silent;
    assert_false(mishap_mcp_put_output_schema(&buffer, &tool, true));
    assert_int_equal(buffer.length, 0);
}

/* -- without memory ---------------------------------------------------------------------------- */

/* The contents of the buffer are well-formed after any failure, if there was room for a few
 * words. */
static void put_one(const void *input)
{
    const mishap_dialect *dialect = input;
    mishap_mcp_offer tool = tool_of(dialect);
    char storage[1100];
    mishap_call *call = NULL;
    mishap_buffer result;
    mishap *failure = mishap_call_begin(&app, tool.operation,
                                        T("{\"name\":\"x\",\"key\":\"" SECRET "\"}"), &call);
    if (!failure)
        failure = mishap_call_run(call);
    mishap_buffer_init(&result, storage, sizeof storage);
    mishap_json_open(&result, '{');
    mishap_mcp_asked asked = { .offer = &tool, .revision = MISHAP_MCP_2025_11_25 };
    mishap_mcp_put_outcome(&result, &asked, call, failure, NULL);
    assert_false(result.failed);
    mishap_buffer_put_char(&result, '}');
    assert_false(result.failed);
    yyjson_doc *doc = yyjson_read(result.data, result.length, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    assert_non_null(yyjson_get_str(yyjson_ptr_get(root, "/content/0/text")));
    assert_true(yyjson_is_true(yyjson_obj_get(root, "isError")) || !failure);
    if (yyjson_obj_get(root, "isError"))
        assert_null(memmem(result.data, result.length, SECRET, strlen(SECRET)));
    yyjson_doc_free(doc);
    mishap_buffer_release(&result);
    mishap_call_end(call);
    mishap_free(failure);
}

static mishap *answer_much(mishap_call *call)
{
    char *much = mishap_call_take(call, 3000);
    memset(much, 'x', 2999);
    much[2999] = '\0';
    mishap_answer_member(call, "key", mishap_string(call, "key"));
    return mishap_answer_member(call, "much", (const char *)much);
}

static void without_memory_there_is_still_a_result(void **state)
{
    (void)state;
    static mishap *(*const whats[])(mishap_call *) = { answer_object,  answer_much,
                                                       answer_bytes,   leak_in_answer,
                                                       fail_not_found, leak_in_failure };
    static const mishap_dialect *const dialects[] = { &mishap_tool_result, &mishap_artifact,
                                                      &mishap_condition_report };
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof whats / sizeof *whats; i++) {
        handler = whats[i];
        for (size_t j = 0; j < 3; j++)
            torture(put_one, dialects[j]);
    }
    mishap_use_allocator(NULL);
    free(logged());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_object_is_text_and_structure),
        TEST(an_array_is_structure_only_where_the_revision_has_that),
        TEST(what_answers_nothing_is_done),
        TEST(a_document_is_text),
        TEST(remarks_are_further_blocks),
        TEST(blocks_that_a_revision_does_not_have_are_told_by_those_that_it_has),
        TEST(sound_is_a_resource_where_there_is_no_audio),
        TEST(a_failure_is_told_in_the_dialect_of_the_tool),
        TEST(a_failure_says_its_code_and_whether_to_try_again),
        TEST(bad_arguments_name_every_bad_field_and_are_not_recorded),
        TEST(the_private_side_is_recorded_and_not_told),
        TEST(what_nobody_need_look_into_is_no_incident),
        TEST(a_call_that_was_cancelled_is_no_incident),
        TEST(secrets_and_stack_traces_do_not_leave),
        TEST(an_answer_is_not_changed),
        TEST(the_meta_of_a_failure_is_its_last_member),
        TEST(every_outcome_fits_the_schema_of_outputs),
        TEST(last_words_fit_the_schema_and_other_things_do_not),
        TEST(a_schema_of_outputs_has_an_object_at_its_root_and_no_foreign_pattern),
        TEST(there_is_no_schema_of_what_is_not_said),
        TEST(a_report_has_its_parts_as_members_beside_it),
        TEST(a_report_has_twenty_frames_and_no_secret_in_text_and_members),
        TEST(a_report_names_each_argument_that_is_wrong),
        TEST(without_memory_there_is_still_a_result),
    };
    return RUN_WITH_LOG(tests, "MCP_RESULT_LOG");
}
