/* Prompts over MCP, and the completion of arguments. */
#include "mcp_wire.h"

#include "operation/operation.h"

static mishap *do_nothing(mishap_call *call)
{
    (void)call;
    return NULL;
}

static const mishap_operation operations[] = {
    { .name = "nothing", .summary = "Do nothing", .run = do_nothing },
    { 0 },
};
static const mishap_app app = { .name = "sample", .version = "1", .operations = operations };

static mishap *get_sample(yyjson_val *arguments, mishap_buffer *object)
{
    mishap_text name = mishap_json_text(yyjson_obj_get(arguments, "name"));
    MISHAP_JSON_KEY(object, "messages");
    MISHAP_PUT(object, "[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    mishap_json_string(object, name.data ? name : T("nobody"));
    MISHAP_PUT(object, "}}]");
    return NULL;
}

static const mishap_param sample_arguments[] = {
    { "name", .type = MISHAP_STRING },
    { 0 },
};
static const mishap_mcp_prompt sample = {
    .name = "sample", .description = "A sample", .arguments = sample_arguments, .get = get_sample
};
static const mishap_mcp_prompt bare = { .name = "bare", .description = "Bare", .get = get_sample };
static const mishap_mcp_prompt *const further[] = { &sample, &bare, NULL };

static void open_with_prompts(struct wire *w, mishap_mcp_revision revision)
{
    open_wire(w, &app, revision);
    w->server.prompts = further;
}

/* -- lists ------------------------------------------------------------------------------------- */

static void lists_prompts_with_their_arguments(void **state)
{
    struct wire w;
    (void)state;
    open_with_prompts(&w, MISHAP_MCP_2026_07_28);
    ask(&w, "prompts/list", "");
    assert_int_equal(count_at(&w, "/result/prompts"), 3);
    assert_string_equal(text_at(&w, "/result/prompts/0/name"), "explain_failure");
    assert_non_null(at(&w, "/result/prompts/0/description"));
    assert_string_equal(text_at(&w, "/result/prompts/0/arguments/0/name"), "error");
    assert_true(yyjson_is_true(at(&w, "/result/prompts/0/arguments/0/required")));
    assert_true(yyjson_is_false(at(&w, "/result/prompts/0/arguments/1/required")));
    assert_string_equal(text_at(&w, "/result/prompts/1/name"), "sample");
    assert_null(at(&w, "/result/prompts/2/arguments"));
    assert_non_null(at(&w, "/result/ttlMs"));
    w.server.page_size = 2;
    ask(&w, "prompts/list", "");
    assert_int_equal(count_at(&w, "/result/prompts"), 2);
    assert_non_null(at(&w, "/result/nextCursor"));
    ask(&w, "prompts/list", "\"cursor\":\"\"");
    assert_error(&w, -32602);
    close_wire(&w);
}

static void an_old_client_gets_no_title(void **state)
{
    struct wire w;
    (void)state;
    open_with_prompts(&w, MISHAP_MCP_2025_03_26);
    ask(&w, "prompts/list", "");
    assert_null(at(&w, "/result/prompts/0/title"));
    assert_null(at(&w, "/result/ttlMs"));
    close_wire(&w);
}

static void the_dialects_that_can_be_named_are_those_that_there_are(void **state)
{
    struct wire w;
    size_t count = 0;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "completion/complete",
        "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"explain_failure\"},"
        "\"argument\":{\"name\":\"dialect\",\"value\":\"\"}");
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        yyjson_val *value = yyjson_arr_get(at(&w, "/result/completion/values"), count++);
        assert_string_equal(yyjson_get_str(value), mishap_dialect_name(*dialect));
    }
    assert_int_equal(count_at(&w, "/result/completion/values"), count);
    close_wire(&w);
}

/* -- explain_failure --------------------------------------------------------------------------- */

static void explains_how_to_read_an_error(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "prompts/get",
        "\"name\":\"explain_failure\",\"arguments\":{\"error\":\"It \\\"failed\\\".\"}");
    assert_int_equal(count_at(&w, "/result/messages"), 2);
    assert_string_equal(text_at(&w, "/result/messages/0/role"), "user");
    assert_non_null(strstr(text_at(&w, "/result/messages/0/content/text"), "catalog://codes/CODE"));
    assert_string_equal(text_at(&w, "/result/messages/1/content/text"), "It \"failed\".");
    assert_non_null(at(&w, "/result/description"));
    close_wire(&w);
}

static void brings_the_code_along_if_it_can_be_read(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "prompts/get",
        "\"name\":\"explain_failure\",\"arguments\":{\"dialect\":\"http-api\",\"error\":"
        "\"{\\\"error\\\":\\\"not_found\\\",\\\"message\\\":\\\"No.\\\"}\"}");
    assert_int_equal(count_at(&w, "/result/messages"), 3);
    assert_string_equal(text_at(&w, "/result/messages/2/content/type"), "resource");
    assert_string_equal(text_at(&w, "/result/messages/2/content/resource/uri"),
                        "catalog://codes/NOT_FOUND");
    assert_non_null(
        strstr(text_at(&w, "/result/messages/2/content/resource/text"), "\"code\":\"NOT_FOUND\""));
    ask(&w, "prompts/get",
        "\"name\":\"explain_failure\",\"arguments\":{\"dialect\":\"http-api\",\"error\":\"no "
        "JSON\"}");
    assert_int_equal(count_at(&w, "/result/messages"), 2);
    ask(&w, "prompts/get",
        "\"name\":\"explain_failure\",\"arguments\":{\"dialect\":\"http-api\",\"error\":"
        "\"{\\\"error\\\":\\\"somebody_elses\\\",\\\"message\\\":\\\"No.\\\"}\"}");
    assert_int_equal(count_at(&w, "/result/messages"), 2);
    close_wire(&w);
}

static void wrong_arguments_are_named(void **state)
{
    static const struct {
        const char *members, *field;
    } wrong[] = {
        { "", "name" },
        { "\"name\":5", "name" },
        { "\"name\":\"explain_failure\",\"arguments\":[]", "arguments" },
        { "\"name\":\"explain_failure\"", "error" },
        { "\"name\":\"explain_failure\",\"arguments\":null", "error" },
        { "\"name\":\"explain_failure\",\"arguments\":{}", "error" },
        { "\"name\":\"explain_failure\",\"arguments\":{\"error\":\"\"}", "error" },
        { "\"name\":\"explain_failure\",\"arguments\":{\"error\":7}", "error" },
        { "\"name\":\"explain_failure\",\"arguments\":{\"error\":\"x\",\"dialect\":\"latin\"}",
          "dialect" },
        { "\"name\":\"sample\",\"arguments\":{\"name\":{}}", "name" },
    };
    struct wire w;
    (void)state;
    open_with_prompts(&w, MISHAP_MCP_2025_11_25);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ask(&w, "prompts/get", wrong[i].members);
        assert_error(&w, -32602);
        assert_string_equal(text_at(&w, "/error/data/fields/0/field"), wrong[i].field);
    }
    ask(&w, "prompts/get", "\"name\":\"nobody\"");
    assert_error(&w, -32602);
    assert_string_equal(text_at(&w, "/error/data/code"), "NOT_FOUND");
    close_wire(&w);
}

static void gets_what_a_server_adds(void **state)
{
    struct wire w;
    (void)state;
    open_with_prompts(&w, MISHAP_MCP_2026_07_28);
    ask(&w, "prompts/get", "\"name\":\"sample\",\"arguments\":{\"name\":\"Ada\"}");
    assert_string_equal(text_at(&w, "/result/messages/0/content/text"), "Ada");
    assert_string_equal(text_at(&w, "/result/resultType"), "complete");
    ask(&w, "prompts/get", "\"name\":\"bare\"");
    assert_string_equal(text_at(&w, "/result/messages/0/content/text"), "nobody");
    close_wire(&w);
}

/* -- completion -------------------------------------------------------------------------------- */

#define CODES "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"catalog://codes/{code}\"},"

static void completes_codes_in_any_case(void **state)
{
    static const char *const typed[] = { "TIME", "time", "Time" };
    struct wire w;
    char members[300];
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    for (int i = 0; i < 3; i++) {
        snprintf(members, sizeof members, CODES "\"argument\":{\"name\":\"code\",\"value\":\"%s\"}",
                 typed[i]);
        ask(&w, "completion/complete", members);
        assert_string_equal(text_at(&w, "/result/completion/values/0"), "TIMEOUT");
        assert_int_equal(number_at(&w, "/result/completion/total"),
                         (long)count_at(&w, "/result/completion/values"));
        assert_true(yyjson_is_false(at(&w, "/result/completion/hasMore")));
    }
    ask(&w, "completion/complete", CODES "\"argument\":{\"name\":\"code\",\"value\":\"not-f\"}");
    assert_string_equal(text_at(&w, "/result/completion/values/0"), "NOT_FOUND");
    ask(&w, "completion/complete", CODES "\"argument\":{\"name\":\"code\",\"value\":\"zzz\"}");
    assert_int_equal(count_at(&w, "/result/completion/values"), 0);
    ask(&w, "completion/complete", CODES "\"argument\":{\"name\":\"other\",\"value\":\"\"}");
    assert_int_equal(count_at(&w, "/result/completion/values"), 0);
    close_wire(&w);
}

/* A table of a program's own, long enough for more than one answer. */
static void offers_a_hundred_values_at_most(void **state)
{
    static mishap_code codes[150];
    static char names[150][16];
    static uint16_t rows[150];
    static mishap_catalog many = { .name = "many", .codes = codes, .count = 150 };
    struct wire w;
    (void)state;
    for (int i = 0; i < 150; i++) {
        snprintf(names[i], sizeof names[i], "MANY_%03d", i);
        codes[i] = *MISHAP_CODE_NOT_FOUND;
        codes[i].name = mishap_text_of(names[i]);
        rows[i] = (uint16_t)i;
    }
    many.index[MISHAP_SPELLING_NAME].rows = rows;
    many.index[MISHAP_SPELLING_NAME].count = 150;
    mishap_catalog_add(&many);
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "completion/complete", CODES "\"argument\":{\"name\":\"code\",\"value\":\"MANY\"}");
    assert_int_equal(count_at(&w, "/result/completion/values"), 100);
    assert_int_equal(number_at(&w, "/result/completion/total"), 150);
    assert_true(yyjson_is_true(at(&w, "/result/completion/hasMore")));
    close_wire(&w);
}

static void completion_that_makes_no_sense_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "\"ref\":5",
        CODES "\"argument\":5",
        CODES "\"argument\":{\"name\":\"code\"}",
        CODES "\"argument\":{\"value\":\"code\"}",
        CODES "\"argument\":{\"name\":\"code\",\"value\":5}",
        "\"ref\":{},\"argument\":{\"name\":\"a\",\"value\":\"\"}",
        "\"ref\":{\"type\":\"ref/other\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}",
        "\"ref\":{\"type\":\"ref/prompt\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}",
        "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"nobody\"},"
        "\"argument\":{\"name\":\"a\",\"value\":\"\"}",
        "\"ref\":{\"type\":\"ref/resource\"},\"argument\":{\"name\":\"a\",\"value\":\"\"}",
        "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"no://where\"},"
        "\"argument\":{\"name\":\"a\",\"value\":\"\"}",
    };
    (void)state;
    for (int modern = 0; modern < 2; modern++) {
        struct wire w;
        open_wire(&w, &app, modern ? MISHAP_MCP_2026_07_28 : MISHAP_MCP_2025_11_25);
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            ask(&w, "completion/complete", wrong[i]);
            assert_error(&w, -32602);
        }
        close_wire(&w);
    }
}

/* -- without memory ---------------------------------------------------------------------------- */

static void get_without_memory(const void *input)
{
    mishap_mcp_server server = { .app = &app };
    mishap_mcp_peer peer = { .server = &server };
    mishap_mcp_message message = { .kind = MISHAP_MCP_REQUEST,
                                   .id = T("1"),
                                   .revision = MISHAP_MCP_2025_11_25 };
    mishap_mcp_request request = { .peer = &peer, .message = &message };
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer result = { 0 };
    (void)input;
    if (mishap_json_read(&reader, T("{\"name\":\"explain_failure\",\"arguments\":{\"dialect\":"
                                    "\"http-api\",\"error\":\"{\\\"error\\\":\\\"not_found\\\","
                                    "\\\"message\\\":\\\"No.\\\"}\"}}"))) {
        message.params = reader.root;
        mishap *failure = mishap_mcp_prompts_get(&request, &result);
        if (!failure && !result.failed) /* then it is whole, perhaps without the code */
            assert_int_equal(result.data[result.length - 1], ']');
        mishap_free(failure);
    }
    mishap_buffer_release(&request.members);
    mishap_buffer_release(&result);
    mishap_json_reader_release(&reader);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(get_without_memory, NULL);
    mishap_use_allocator(NULL);
}

int main(void)
{
    setenv("SAMPLE_LOG", "", 1);
    const struct CMUnitTest tests[] = {
        TEST(lists_prompts_with_their_arguments),
        TEST(an_old_client_gets_no_title),
        TEST(the_dialects_that_can_be_named_are_those_that_there_are),
        TEST(explains_how_to_read_an_error),
        TEST(brings_the_code_along_if_it_can_be_read),
        TEST(wrong_arguments_are_named),
        TEST(gets_what_a_server_adds),
        TEST(completes_codes_in_any_case),
        TEST(offers_a_hundred_values_at_most),
        TEST(completion_that_makes_no_sense_is_refused),
        TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
