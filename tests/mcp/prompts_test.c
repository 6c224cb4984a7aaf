/* Prompts over MCP, and the completion of arguments. */
#include "mcp_set_up.h"

#define TRACE  "Traceback (most recent call last):\n  File \"x.py\", line 3, in f"
#define SECRET "open sesame"

static mishap *greet(mishap_call *call)
{
    const char *name = mishap_string(call, "name");
    if (name && strcmp(name, "none") == 0)
        return mishap_raise(NOT_FOUND, "There is nobody of that name.");
    if (name && strcmp(name, "broken") == 0)
        return mishap_raise(INTERNAL_ERROR, "The private reason.");
    return mishap_answer_document(call, mishap_text_of(name ? name : "nobody"));
}

/* Everything that it was given, as JSON. */
static mishap *repeat(mishap_call *call)
{
    static const char *const names[] = { "count", "exact", "share", "list", "map", "kind", "key" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mishap_given(call, names[i]))
            mishap_answer_member(call, names[i], mishap_json(call, names[i]));
    return mishap_warn(call, "It was repeated."), NULL;
}

static mishap *show(mishap_call *call)
{
    return mishap_answer_content(
        call, "[{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":\"image/png\"},"
              "{\"type\":\"text\",\"text\":\"What is it?\"}]");
}

static mishap *show_again(mishap_call *call)
{
    mishap_warn(call, "It was repeated.");
    return show(call);
}

static mishap *leak(mishap_call *call)
{
    return mishap_answer_document(
        call, mishap_text_of(mishap_call_print(call, "It is %s.", mishap_string(call, "key"))));
}

static mishap *fail_with_key(mishap_call *call)
{
    return mishap_raise(RUNTIME_ERROR, "Not with %s.", mishap_string(call, "key"));
}

static const mishap_param greet_params[] = {
    { "name", .type = MISHAP_STRING, .help = "Who" },
    { 0 },
};
static const char *const kinds[] = { "large", "little", NULL };
static const mishap_param number = { .name = "n", .type = MISHAP_INTEGER };
static const mishap_param repeat_params[] = {
    { "count", MISHAP_INTEGER, .required = true, .range = { 0, 9 } },
    { "exact", .type = MISHAP_BOOLEAN },
    { "share", .type = MISHAP_NUMBER },
    { "list", MISHAP_ARRAY, .items = &number },
    { "map", .type = MISHAP_OBJECT },
    { "kind", MISHAP_ENUM, .choices = kinds },
    { "key", MISHAP_STRING, .secret = true },
    { 0 },
};
static const mishap_param key_params[] = {
    { "key", MISHAP_STRING, .required = true, .secret = true },
    { 0 },
};
static const mishap_param kind_params[] = {
    { "kind", MISHAP_ENUM, .required = true, .choices = kinds },
    { "colour", MISHAP_ENUM, .choices = kinds },
    { 0 },
};

static const mishap_operation operations[] = {
    { .name = "greet",
      .summary = "A greeting",
      .description = "For anybody.",
      .params = greet_params,
      .prompt = "sample",
      .raises = MISHAP_RAISES(NOT_FOUND),
      .quick = true,
      .run = greet },
    { .name = "show", .summary = "A picture", .prompt = "bare", .quick = true, .run = show },
    { .name = "repeat",
      .summary = "All of it",
      .params = repeat_params,
      .prompt = "repeat",
      .tool = "repeat",
      .quick = true,
      .run = repeat },
    { .name = "leak",
      .summary = "Leak",
      .params = key_params,
      .prompt = "leak",
      .quick = true,
      .run = leak },
    { .name = "fail",
      .summary = "Fail",
      .params = key_params,
      .prompt = "fail",
      .raises = MISHAP_RAISES(RUNTIME_ERROR),
      .quick = true,
      .run = fail_with_key },
    { .name = "album", .summary = "Pictures", .prompt = "album", .quick = true, .run = show_again },
    { .name = "kinds",
      .summary = "Things of a kind",
      .params = kind_params,
      .resource = "test://kinds/{kind}",
      .quick = true,
      .run = show },
    { 0 },
};
static const mishap_app app = { .name = "mcp-prompts", .version = "1", .operations = operations };

/* -- lists ------------------------------------------------------------------------------------- */

static void lists_prompts_with_their_arguments(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    ask(&w, "prompts/list", "");
    assert_int_equal(count_at(&w, "/result/prompts"), 7);
    assert_string_equal(text_at(&w, "/result/prompts/0/name"), "explain_failure");
    assert_non_null(at(&w, "/result/prompts/0/description"));
    assert_string_equal(text_at(&w, "/result/prompts/0/arguments/0/name"), "error");
    assert_true(yyjson_is_true(at(&w, "/result/prompts/0/arguments/0/required")));
    assert_true(yyjson_is_false(at(&w, "/result/prompts/0/arguments/1/required")));
    assert_string_equal(text_at(&w, "/result/prompts/1/name"), "sample");
    assert_string_equal(text_at(&w, "/result/prompts/1/title"), "A greeting");
    assert_string_equal(text_at(&w, "/result/prompts/1/description"),
                        "A greeting. For anybody. May fail with NOT_FOUND.");
    assert_string_equal(text_at(&w, "/result/prompts/1/arguments/0/name"), "name");
    assert_string_equal(text_at(&w, "/result/prompts/1/arguments/0/description"), "Who");
    assert_true(yyjson_is_true(at(&w, "/result/prompts/3/arguments/0/required")));
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
    open_wire(&w, &app, MISHAP_MCP_2025_03_26);
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
        { "\"name\":\"repeat\",\"arguments\":{\"count\":\"many\"}", "count" },
        { "\"name\":\"repeat\",\"arguments\":{\"count\":\"10\"}", "count" },
        { "\"name\":\"repeat\",\"arguments\":{\"count\":\"\"}", "count" },
        { "\"name\":\"repeat\",\"arguments\":{\"count\":\"1\",\"exact\":\"yes\"}", "exact" },
        { "\"name\":\"repeat\",\"arguments\":{\"count\":\"1\",\"list\":\"[x]\"}", "list" },
        { "\"name\":\"repeat\",\"arguments\":{\"count\":\"1\",\"list\":\"[1,\\\"x\\\"]\"}",
          "list[1]" },
    };
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
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

/* A misspelled argument would have no effect, and the client would not notice. */
static void an_argument_that_there_is_not_is_refused(void **state)
{
    static const mishap_mcp_revision revisions[] = { MISHAP_MCP_2025_03_26, MISHAP_MCP_2025_11_25,
                                                     MISHAP_MCP_2026_07_28 };
    (void)state;
    for (size_t i = 0; i < sizeof revisions / sizeof *revisions; i++) {
        struct wire w;
        open_wire(&w, &app, revisions[i]);
        ask(&w, "prompts/get", "\"name\":\"sample\",\"arguments\":{\"nmae\":\"Ada\"}");
        assert_error(&w, -32602);
        assert_string_equal(text_at(&w, "/error/data/code"), "VALIDATION_ERROR");
        assert_int_equal(count_at(&w, "/error/data/fields"), 1);
        assert_string_equal(text_at(&w, "/error/data/fields/0/field"), "nmae");
        assert_string_equal(text_at(&w, "/error/data/fields/0/error"), "unknown_field");
        /* One that is empty, as in a form. */
        ask(&w, "prompts/get", "\"name\":\"sample\",\"arguments\":{\"more\":\"\"}");
        assert_error(&w, -32602);
        assert_string_equal(text_at(&w, "/error/data/fields/0/field"), "more");
        /* Where there are none nothing can be misspelled. */
        ask(&w, "prompts/get", "\"name\":\"bare\",\"arguments\":{\"moreToRead\":\"x\"}");
        assert_int_equal(count_at(&w, "/result/messages"), 2);
        /* All that is wrong is said at once; what is text and right is not. */
        ask(&w, "prompts/get",
            "\"name\":\"repeat\",\"arguments\":{\"coutn\":\"1\",\"exact\":\"true\","
            "\"list\":\"[x]\"}");
        assert_int_equal(count_at(&w, "/error/data/fields"), 3);
        assert_string_equal(text_at(&w, "/error/data/fields/0/field"), "count");
        assert_string_equal(text_at(&w, "/error/data/fields/1/field"), "list");
        assert_string_equal(text_at(&w, "/error/data/fields/2/field"), "coutn");
        close_wire(&w);
    }
    assert_logged(NULL);
}

static void getting_runs_the_operation(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    ask(&w, "prompts/get", "\"name\":\"sample\",\"arguments\":{\"name\":\"Ada\"}");
    assert_int_equal(count_at(&w, "/result/messages"), 1);
    assert_string_equal(text_at(&w, "/result/messages/0/role"), "user");
    assert_string_equal(text_at(&w, "/result/messages/0/content/type"), "text");
    assert_string_equal(text_at(&w, "/result/messages/0/content/text"), "Ada");
    assert_string_equal(text_at(&w, "/result/description"), "A greeting");
    assert_string_equal(text_at(&w, "/result/resultType"), "complete");
    ask(&w, "prompts/get", "\"name\":\"sample\",\"arguments\":{\"name\":\"\"}");
    assert_string_equal(text_at(&w, "/result/messages/0/content/text"), "nobody");
    ask(&w, "prompts/get", "\"name\":\"sample\"");
    assert_string_equal(text_at(&w, "/result/messages/0/content/text"), "nobody");
    assert_int_equal(w.finished, 3);
    close_wire(&w);
}

static void each_block_is_a_message(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "prompts/get", "\"name\":\"bare\"");
    assert_int_equal(count_at(&w, "/result/messages"), 2);
    assert_string_equal(text_at(&w, "/result/messages/0/role"), "user");
    assert_string_equal(text_at(&w, "/result/messages/0/content/data"), "AAAA");
    assert_string_equal(text_at(&w, "/result/messages/1/role"), "user");
    assert_string_equal(text_at(&w, "/result/messages/1/content/text"), "What is it?");
    close_wire(&w);
}

static void arguments_become_what_their_parameters_are(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "prompts/get",
        "\"name\":\"repeat\",\"arguments\":{\"count\":\"7\",\"exact\":\"true\",\"share\":\"0.5\","
        "\"list\":\"[1, 2]\",\"map\":\"{\\\"a\\\":1}\",\"kind\":\"large\"}");
    assert_string_equal(text_at(&w, "/result/messages/0/content/text"),
                        "{\"count\":\"7\",\"exact\":\"true\",\"share\":\"0.5\","
                        "\"list\":\"[1,2]\",\"map\":\"{\\\"a\\\":1}\","
                        "\"kind\":\"\\\"large\\\"\"}");
    /* What a form was left empty with is not given; what is typed already is taken as it is. */
    ask(&w, "prompts/get",
        "\"name\":\"repeat\",\"arguments\":{\"count\":7,\"exact\":\"\",\"share\":\"\",\"list\":"
        "\"\","
        "\"map\":\"\",\"kind\":\"\"}");
    assert_string_equal(text_at(&w, "/result/messages/0/content/text"), "{\"count\":\"7\"}");
    close_wire(&w);
}

static void remarks_stand_beside_the_messages(void **state)
{
    static const char *const gets[] = {
        "\"name\":\"repeat\",\"arguments\":{\"count\":\"1\"}",
        "\"name\":\"album\"",
    };
    static const mishap_mcp_revision revisions[] = { MISHAP_MCP_2025_03_26, MISHAP_MCP_2025_11_25,
                                                     MISHAP_MCP_2026_07_28 };
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct wire w;
        open_wire(&w, &app, revisions[i / 2]);
        ask(&w, "prompts/get", gets[i % 2]);
        assert_int_equal(count_at(&w, "/result/messages"), i % 2 ? 2 : 1);
        assert_string_equal(text_at(&w, "/result/_meta/dev.mishap~1warnings/0"),
                            "It was repeated.");
        assert_int_equal(at(&w, "/result/_meta/io.modelcontextprotocol~1serverInfo") != NULL,
                         mishap_mcp_is_modern(revisions[i / 2]));
        ask(&w, "prompts/get", "\"name\":\"sample\""); /* of this nothing is remarked */
        assert_null(at(&w, "/result/_meta/dev.mishap~1warnings"));
        close_wire(&w);
    }
}

static void a_prompt_is_a_tool_only_if_it_says_so(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "tools/list", "");
    assert_int_equal(count_at(&w, "/result/tools"), 2);
    assert_string_equal(text_at(&w, "/result/tools/0/name"), "repeat");
    assert_string_equal(text_at(&w, "/result/tools/1/name"), "kinds");
    close_wire(&w);
}

static void a_prompt_that_every_server_has_is_taken(void **state)
{
    static const mishap_operation thief[] = {
        { .name = "a", .summary = "A", .prompt = "explain_failure", .run = greet },
        { 0 },
    };
    static const mishap_app theirs = { .name = "mcp-prompts", .operations = thief };
    mishap_mcp_server server = { .app = &theirs };
    (void)state;
    mishap *failure = mishap_mcp_server_make(&server, false);
    assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_NOT_CONFIGURED);
    mishap_free(failure);
}

/* -- failures ---------------------------------------------------------------------------------- */

static void a_failure_is_an_error_with_the_mishap_in_it(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "prompts/get", "\"name\":\"sample\",\"arguments\":{\"name\":\"none\"}");
    assert_error(&w, -32603);
    assert_string_equal(text_at(&w, "/error/message"), "There is nobody of that name.");
    assert_string_equal(text_at(&w, "/error/data/code"), "NOT_FOUND");
    assert_null(at(&w, "/error/data/uri"));
    ask(&w, "prompts/get", "\"name\":\"sample\",\"arguments\":{\"name\":\"broken\"}");
    assert_error(&w, -32603);
    assert_null(memmem(w.out.data, w.out.length, "private reason", 14));
    char *text = logged();
    assert_non_null(strstr(text, "The private reason."));
    assert_non_null(strstr(text, text_at(&w, "/error/data/incident")));
    free(text);
    close_wire(&w);
}

/* Messages are the program's own; only one of these three fails. */
static void secrets_do_not_leave_with_a_failure(void **state)
{
    static const char *const names[] = { "leak", "fail", "repeat" };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct wire w;
        char members[200];
        open_wire(&w, &app, MISHAP_MCP_2025_11_25);
        snprintf(members, sizeof members,
                 "\"name\":\"%s\",\"arguments\":{\"key\":\"" SECRET "\"%s}", names[i],
                 i == 2 ? ",\"count\":\"1\"" : "");
        ask(&w, "prompts/get", members);
        assert_int_equal(w.finished, 1);
        bool fails = i == 1;
        assert_int_equal(at(&w, "/error") != NULL, fails);
        assert_int_equal(memmem(w.out.data, w.out.length, SECRET, strlen(SECRET)) != NULL, !fails);
        assert_int_equal(memmem(w.out.data, w.out.length, "[redacted]", 10) != NULL, fails);
        close_wire(&w);
        char *text = logged();
        assert_null(strstr(text, SECRET));
        free(text);
    }
}

/* Who asks what a stack trace means must get to see it. */
static void what_is_to_be_explained_stays_as_it_is(void **state)
{
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "prompts/get",
        "\"name\":\"explain_failure\",\"arguments\":{\"error\":\"Traceback (most recent call "
        "last):\\n  File \\\"x.py\\\", line 3, in f\"}");
    assert_string_equal(text_at(&w, "/result/messages/1/content/text"), TRACE);
    assert_logged(NULL);
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
    static const mishap_code *each[150];
    static mishap_catalog_index by_name = { rows, 150 };
    static mishap_catalog many = {
        .name = "many", .codes = each, .count = 150, .index = &by_name, .spellings = 1
    };
    struct wire w;
    (void)state;
    for (int i = 0; i < 150; i++) {
        snprintf(names[i], sizeof names[i], "MANY_%03d", i);
        codes[i] = *MISHAP_CODE_NOT_FOUND;
        codes[i].name = mishap_text_of(names[i]);
        rows[i] = (uint16_t)i;
        each[i] = &codes[i];
    }
    mishap_catalog_add(&many);
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "completion/complete", CODES "\"argument\":{\"name\":\"code\",\"value\":\"MANY\"}");
    assert_int_equal(count_at(&w, "/result/completion/values"), 100);
    assert_int_equal(number_at(&w, "/result/completion/total"), 150);
    assert_true(yyjson_is_true(at(&w, "/result/completion/hasMore")));
    close_wire(&w);
}

static void completes_what_has_choices(void **state)
{
    static const struct {
        const char *members;
        size_t count;
    } cases[] = {
        { "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"test://kinds/{kind}\"},"
          "\"argument\":{\"name\":\"kind\",\"value\":\"l\"}",
          2 },
        { "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"test://kinds/{kind}\"},"
          "\"argument\":{\"name\":\"kind\",\"value\":\"la\"}",
          1 },
        { "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"test://kinds/x\"},"
          "\"argument\":{\"name\":\"kind\",\"value\":\"LA\"}",
          1 },
        /* A parameter that is not in the address cannot be given. */
        { "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"test://kinds/{kind}\"},"
          "\"argument\":{\"name\":\"colour\",\"value\":\"\"}",
          0 },
        { "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"catalog://codes\"},"
          "\"argument\":{\"name\":\"code\",\"value\":\"\"}",
          0 },
        { "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"repeat\"},"
          "\"argument\":{\"name\":\"kind\",\"value\":\"li\"}",
          1 },
        { "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"repeat\"},"
          "\"argument\":{\"name\":\"count\",\"value\":\"\"}",
          0 },
    };
    struct wire w;
    (void)state;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(&w, "completion/complete", cases[i].members);
        assert_int_equal(count_at(&w, "/result/completion/values"), cases[i].count);
    }
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

/* After any failure there is one answer, and it is complete. */
static void get_one(const void *input)
{
    static const char *const members[] = {
        "\"name\":\"explain_failure\",\"arguments\":{\"dialect\":\"http-api\",\"error\":"
        "\"{\\\"error\\\":\\\"not_found\\\",\\\"message\\\":\\\"No.\\\"}\"}",
        "\"name\":\"bare\"",
        "\"name\":\"album\"",
        "\"name\":\"repeat\",\"arguments\":{\"count\":\"7\",\"list\":\"[1]\",\"key\":\"" SECRET
        "\"}",
        "\"name\":\"leak\",\"arguments\":{\"key\":\"" SECRET "\"}",
        "\"name\":\"fail\",\"arguments\":{\"key\":\"" SECRET "\"}",
        "\"name\":\"repeat\",\"arguments\":{\"coutn\":\"7\",\"list\":\"[1]\"}",
    };
    struct wire w;
    open_small_wire(&w, input);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char text[500];
        mishap_buffer_reset(&w.out);
        snprintf(text, sizeof text,
                 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/get\",\"params\":{%s}}",
                 members[i]);
        mishap_mcp_take_text(&w.peer, &w.channel, &w.reader, mishap_text_of(text));
        read_response(&w);
        assert_true(at(&w, "/error") || at(&w, "/result/messages/0/content"));
        if (at(&w, "/error"))
            assert_null(memmem(w.out.data, w.out.length, SECRET, strlen(SECRET)));
    }
    assert_int_equal(w.finished, sizeof members / sizeof *members);
    close_small_wire(&w);
}

static void every_allocation_may_fail(void **state)
{
    mishap_mcp_server server = { .app = &app };
    (void)state;
    assert_null(mishap_mcp_server_make(&server, false));
    mishap_use_allocator(&failing_allocator);
    torture(get_one, &server);
    mishap_use_allocator(NULL);
    mishap_mcp_server_release(&server);
    free(logged());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lists_prompts_with_their_arguments),
        TEST(an_old_client_gets_no_title),
        TEST(the_dialects_that_can_be_named_are_those_that_there_are),
        TEST(explains_how_to_read_an_error),
        TEST(brings_the_code_along_if_it_can_be_read),
        TEST(wrong_arguments_are_named),
        TEST(an_argument_that_there_is_not_is_refused),
        TEST(getting_runs_the_operation),
        TEST(each_block_is_a_message),
        TEST(arguments_become_what_their_parameters_are),
        TEST(remarks_stand_beside_the_messages),
        TEST(a_prompt_is_a_tool_only_if_it_says_so),
        TEST(a_prompt_that_every_server_has_is_taken),
        TEST(a_failure_is_an_error_with_the_mishap_in_it),
        TEST(secrets_do_not_leave_with_a_failure),
        TEST(what_is_to_be_explained_stays_as_it_is),
        TEST(completes_codes_in_any_case),
        TEST(offers_a_hundred_values_at_most),
        TEST(completes_what_has_choices),
        TEST(completion_that_makes_no_sense_is_refused),
        TEST(every_allocation_may_fail),
    };
    return RUN_WITH_LOG(tests, "MCP_PROMPTS_LOG");
}
