/* src/mcp/tools: which operations are tools, how they are listed, how one is called. */
#include "mcp_wire.h"

#include "todo/todo.h"
#include "mcp/offers/schema.h"
#include "operation/chosen.h"

/* -- a program --------------------------------------------------------------------------------- */

static mishap *greet(mishap_call *call)
{
    return mishap_answer_member(call, "greeting", mishap_string(call, "name"));
}

static mishap *do_nothing(mishap_call *call)
{
    return mishap_answer(call, NULL);
}

static const mishap_service greeter = { .name = "greeter", .dialect = "artifact" };
static const mishap_service reporter = { .name = "reporter", .dialect = "condition-report" };

static const mishap_param name_params[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 20 }, .help = "Whom to greet" },
    { "code", MISHAP_STRING, .pattern = "^(?i)[a-z]++$" },
    { "word", MISHAP_STRING, .pattern = "^[a-z]+$" },
    { 0 },
};
static const mishap_param greeting[] = {
    { "greeting", MISHAP_STRING, .required = true },
    { 0 },
};

static const mishap_operation operations[] = {
    { "greet", "Greet somebody", name_params, greet, .description = "With a word.",
      .answers = greeting, .quick = true },
    { "files.read", "Read a file", NULL, do_nothing, .local = true },
    { "serve", "Serve", NULL, do_nothing, .resident = true },
    { "users.wipe-all", "Delete all users", NULL, do_nothing, .danger = MISHAP_DESTRUCTIVE,
      .route = "DELETE /users", .service = &greeter },
    { "users.add", "Add a user", NULL, do_nothing, .danger = MISHAP_MUTATING,
      .route = "POST /users", .tool = "add_user", .service = &greeter },
    { "users.put", "Put a user", NULL, do_nothing, .danger = MISHAP_MUTATING, .route = "PUT /users",
      .service = &reporter },
    { "drill", "Fail", NULL, do_nothing, .chaos = true, .tool = "fail" },
    { 0 },
};
static const mishap_app app = { .name = "sample", .version = "1", .operations = operations };

static mishap_text name_at(const mishap_mcp_server *server, size_t i)
{
    return server->tools[i].name;
}

#define ASSERT_TEXT(text, expected)                                                                \
    do {                                                                                           \
        mishap_text seen_text = (text);                                                            \
        assert_int_equal(seen_text.length, strlen(expected));                                      \
        assert_memory_equal(seen_text.data, (expected), seen_text.length);                         \
    } while (0)

/* -- the table --------------------------------------------------------------------------------- */

static void operations_are_tools_unless_they_are_for_others(void **state)
{
    (void)state;
    mishap_mcp_server server = { .app = &app };
    assert_null(mishap_mcp_server_make(&server, false));
    assert_int_equal(server.tool_count, 4);
    ASSERT_TEXT(name_at(&server, 0), "greet");
    ASSERT_TEXT(name_at(&server, 1), "users_wipe_all");
    ASSERT_TEXT(name_at(&server, 2), "add_user");
    ASSERT_TEXT(name_at(&server, 3), "users_put");
    assert_null(mishap_mcp_tool_find(&server, MISHAP_SCOPE_CALL, T("fail")));
    mishap_mcp_server_release(&server);
    assert_null(mishap_mcp_tool_find(&server, MISHAP_SCOPE_CALL, T("greet")));

    assert_null(mishap_mcp_server_make(&server, true));
    assert_int_equal(server.tool_count, 5);
    assert_non_null(mishap_mcp_tool_find(&server, MISHAP_SCOPE_CALL, T("fail")));
    mishap_mcp_server_release(&server);
}

static void a_tool_speaks_the_dialect_of_its_service(void **state)
{
    (void)state;
    mishap_mcp_server server = { .app = &app };
    assert_null(mishap_mcp_server_make(&server, false));
    assert_string_equal(mishap_dialect_name(server.tools[0].dialect), "tool-result");
    assert_string_equal(mishap_dialect_name(server.tools[1].dialect), "artifact");
    assert_string_equal(mishap_dialect_name(server.tools[3].dialect), "condition-report");
    mishap_mcp_server_release(&server);
}

static void only_the_tools_of_one_service_are_there_if_it_is_named(void **state)
{
    (void)state;
    mishap_app chosen;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    assert_null(mishap_app_choose(&app, "greeter", &arena, &chosen));
    mishap_mcp_server server = { .app = &chosen, .services = "greeter" };
    assert_null(mishap_mcp_server_make(&server, false));
    assert_int_equal(server.tool_count, 2);
    assert_null(mishap_mcp_tool_find(&server, MISHAP_SCOPE_CALL, T("greet")));
    mishap_mcp_server_release(&server);
    mishap_arena_release(&arena);
}

static mishap *describe(mishap_call *call)
{
    return mishap_answer(call, "{}");
}

static void a_resource_is_no_tool_if_it_has_no_name_for_one(void **state)
{
    static const mishap_operation list[] = {
        { "a", "A resource alone", .run = describe, .resource = "info://a", .tool = "" },
        { "b", "Both", .run = describe, .resource = "info://b" },
        { 0 },
    };
    mishap_app resources = { .name = "resources", .operations = list };
    mishap_mcp_server server = { .app = &resources };
    (void)state;
    assert_null(mishap_declaration_check(&resources));
    assert_null(mishap_mcp_server_make(&server, false));
    assert_int_equal(server.tool_count, 1);
    ASSERT_TEXT(name_at(&server, 0), "b");
    assert_int_equal(server.resource_count, 2 + 2); /* the catalog has two */
    mishap_mcp_server_release(&server);
}

static void assert_refused(const mishap_operation *list, const char *words)
{
    mishap_app wrong = { .name = "wrong", .operations = list };
    mishap_mcp_server server = { .app = &wrong };
    mishap *m = mishap_mcp_server_make(&server, false);
    assert_non_null(m);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_NOT_CONFIGURED);
    assert_non_null(strstr(mishap_told(m)->message.data, words));
    assert_null(server.tools);
    mishap_free(m);
}

static void a_program_whose_tools_cannot_be_told_apart_is_refused(void **state)
{
    (void)state;
    static const mishap_service odd = { .name = "odd", .dialect = "http-api" };
    assert_refused((const mishap_operation[]){ { "a.b", "One", NULL, do_nothing, .tool = "same" },
                                               { "same", "Two", NULL, do_nothing, .quick = true },
                                               { 0 } },
                   "Two operations have the same tool name `same`");
    assert_refused(
        (const mishap_operation[]){ { "a", "One", NULL, do_nothing, .tool = "a b" }, { 0 } },
        "is not a valid tool name");
    assert_refused(
        (const mishap_operation[]){ { "a", "One", NULL, do_nothing, .tool = "" }, { 0 } },
        "is not a valid tool name");
    assert_refused(
        (const mishap_operation[]){
            { "a", "One", NULL, do_nothing,
              .tool = "a1234567890123456789012345678901234567890123456789012345678901234" },
            { 0 } },
        "is not a valid tool name");
    assert_refused(
        (const mishap_operation[]){ { "a", "One", NULL, do_nothing, .service = &odd }, { 0 } },
        "The dialect `http-api` cannot be used");
}

static void every_tool_is_found_by_its_very_name(void **state)
{
    (void)state;
    enum { COUNT = 700 };
    static char names[COUNT][16];
    static mishap_operation many[COUNT + 1];
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "tool_%zu", i * 7919);
        many[i] = (mishap_operation){ .name = names[i], .summary = "Many", .run = do_nothing };
    }
    mishap_mcp_server server = { .app = &(mishap_app){ .name = "many", .operations = many } };
    assert_null(mishap_mcp_server_make(&server, false));
    for (size_t i = 0; i < COUNT; i++)
        assert_ptr_equal(
            mishap_mcp_tool_find(&server, MISHAP_SCOPE_CALL, mishap_text_of(names[i]))->operation,
            &many[i]);
    assert_null(mishap_mcp_tool_find(&server, MISHAP_SCOPE_CALL, T("")));
    assert_null(mishap_mcp_tool_find(&server, MISHAP_SCOPE_CALL, T("tool_")));
    assert_null(mishap_mcp_tool_find(&server, MISHAP_SCOPE_CALL, T("tool_1")));
    assert_null(mishap_mcp_tool_find(&server, MISHAP_SCOPE_CALL, T("TOOL_0")));
    static const char long_name[100000];
    assert_null(mishap_mcp_tool_find(&server, MISHAP_SCOPE_CALL,
                                     (mishap_text){ long_name, sizeof long_name }));
    mishap_mcp_server_release(&server);
}

static void a_program_without_tools_has_none(void **state)
{
    (void)state;
    struct wire w;
    open_wire(&w, &(mishap_app){ .name = "none", .version = "1" }, MISHAP_MCP_2025_11_25);
    assert_null(mishap_mcp_tool_find(&w.server, MISHAP_SCOPE_CALL, T("greet")));
    ask(&w, "tools/list", "");
    assert_int_equal(count_at(&w, "/result/tools"), 0);
    close_wire(&w);
}

/* -- lists ------------------------------------------------------------------------------------- */

#define GREET_INPUT                                                                                \
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","          \
    "\"description\":\"Whom to greet\",\"maxLength\":20},"                                         \
    "\"code\":{\"type\":\"string\"},\"word\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"}},"     \
    "\"required\":[\"name\"],\"additionalProperties\":false}"
#define NO_INPUT                                                                                   \
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}"

static void assert_tool(struct wire *w, const char *pointer, const char *expected)
{
    char *text = yyjson_val_write(at(w, pointer), 0, NULL);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void a_tool_has_what_its_revision_knows(void **state)
{
    (void)state;
    struct wire w;
    open_wire(&w, &app, MISHAP_MCP_2025_03_26);
    ask(&w, "tools/list", "");
    assert_tool(&w, "/result/tools/0",
                "{\"name\":\"greet\",\"description\":\"Greet somebody. With a word.\"," GREET_INPUT
                ",\"annotations\":{\"title\":\"Greet somebody\",\"readOnlyHint\":true}}");
    assert_null(at(&w, "/result/ttlMs"));
    assert_null(at(&w, "/result/nextCursor"));
    close_wire(&w);

    open_wire(&w, &app, MISHAP_MCP_2025_06_18);
    ask(&w, "tools/list", "");
    assert_string_equal(text_at(&w, "/result/tools/0/title"), "Greet somebody");
    assert_string_equal(text_at(&w, "/result/tools/0/outputSchema/type"), "object");
    assert_null(at(&w, "/result/tools/0/annotations/title"));
    assert_null(at(&w, "/result/tools/1/outputSchema"));
    assert_tool(&w, "/result/tools/1",
                "{\"name\":\"users_wipe_all\",\"title\":\"Delete all users\","
                "\"description\":\"Delete all users\"," NO_INPUT
                ",\"annotations\":{\"idempotentHint\":true},"
                "\"_meta\":{\"dev.mishap/service\":\"greeter\"}}");
    w.server.full_schemas = true;
    ask(&w, "tools/list", "");
    assert_tool(&w, "/result/tools/1",
                "{\"name\":\"users_wipe_all\",\"title\":\"Delete all users\","
                "\"description\":\"Delete all users\"," NO_INPUT
                ",\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":true,"
                "\"idempotentHint\":true},\"_meta\":{\"dev.mishap/service\":\"greeter\"}}");
    assert_null(at(&w, "/result/ttlMs"));
    close_wire(&w);

    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    ask(&w, "tools/list", "");
    assert_int_equal(count_at(&w, "/result/tools"), 4);
    assert_true(yyjson_is_int(at(&w, "/result/ttlMs")));
    assert_string_equal(text_at(&w, "/result/resultType"), "complete");
    close_wire(&w);
}

static void annotations_say_what_a_tool_does_to_the_world(void **state)
{
    (void)state;
    struct wire w;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "tools/list", "");
    assert_tool(&w, "/result/tools/2/annotations", "{\"destructiveHint\":false}");
    assert_tool(&w, "/result/tools/3/annotations", "{\"idempotentHint\":true}");
    w.server.full_schemas = true;
    ask(&w, "tools/list", "");
    assert_tool(&w, "/result/tools/2/annotations",
                "{\"readOnlyHint\":false,\"destructiveHint\":false,\"idempotentHint\":false}");
    assert_tool(&w, "/result/tools/3/annotations",
                "{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":true}");
    close_wire(&w);
}

static void a_description_says_how_it_can_fail(void **state)
{
    (void)state;
    struct wire w;
    mishap_app todo = {
        .name = "todo", .version = "1", .operations = todo_operations, .scopes = todo_scopes
    };
    open_wire(&w, &todo, MISHAP_MCP_2025_11_25);
    ask(&w, "tools/list", "");
    assert_string_equal(text_at(&w, "/result/tools/0/description"),
                        "Create a user. The e-mail address of each user must be unique. Example: "
                        "{\"name\":\"Ada\",\"age\":36,\"email\":\"ada@example.com\"}. May fail "
                        "with ALREADY_EXISTS.");
    w.server.full_schemas = true;
    ask(&w, "tools/list", "");
    assert_string_equal(text_at(&w, "/result/tools/0/description"),
                        "Create a user. The e-mail address of each user must be unique. Example: "
                        "{\"name\":\"Ada\",\"age\":36,\"email\":\"ada@example.com\"}. May fail "
                        "with ALREADY_EXISTS, UNAVAILABLE, INSUFFICIENT_STORAGE.");
    assert_string_equal(text_at(&w, "/result/tools/1/description"),
                        "Show a user. Example: {\"id\":\"1\"}. May fail with NOT_FOUND, "
                        "UNAVAILABLE, INSUFFICIENT_STORAGE.");
    close_wire(&w);
    todo.raises = MISHAP_RAISES(NOT_FOUND, LOCKED);
    open_wire(&w, &todo, MISHAP_MCP_2025_11_25);
    w.server.full_schemas = true;
    ask(&w, "tools/list", "");
    assert_string_equal(text_at(&w, "/result/tools/1/description"),
                        "Show a user. Example: {\"id\":\"1\"}. May fail with NOT_FOUND, "
                        "UNAVAILABLE, INSUFFICIENT_STORAGE, LOCKED.");
    close_wire(&w);
}

/* -- arguments that there are not -------------------------------------------------------------- */

static void a_misspelled_argument_is_named(void **state)
{
    (void)state;
    struct wire w;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "tools/call", "\"name\":\"greet\",\"arguments\":{\"nmae\":\"Ada\",\"code\":7}");
    assert_true(yyjson_is_true(at(&w, "/result/isError")));
    yyjson_val *fields = at(&w, "/result/structuredContent/fields");
    static const char *const wrong[][2] = { { "name", "field_required" },
                                            { "code", "invalid_type" },
                                            { "nmae", "unknown_field" } };
    assert_int_equal(yyjson_arr_size(fields), 3);
    for (size_t i = 0; i < 3; i++) {
        yyjson_val *field = yyjson_arr_get(fields, i);
        assert_string_equal(yyjson_get_str(yyjson_obj_get(field, "field")), wrong[i][0]);
        assert_string_equal(yyjson_get_str(yyjson_obj_get(field, "error")), wrong[i][1]);
    }
    yyjson_val *meant = yyjson_obj_get(yyjson_arr_get(fields, 2), "expected");
    assert_string_equal(yyjson_get_str(meant), "name");
    ask(&w, "tools/call", "\"name\":\"greet\",\"arguments\":{\"name\":\"Ada\",\"nmae\":\"Ada\"}");
    assert_null(at(&w, "/result/structuredContent/fields/0/expected")); /* it is there already */
    ask(&w, "tools/call", "\"name\":\"users_wipe_all\",\"arguments\":{\"which\":\"some\"}");
    assert_true(yyjson_is_true(at(&w, "/result/isError"))); /* it has no parameters at all */
    assert_non_null(strstr(text_at(&w, "/result/content/0/text"), "which"));
    ask(&w, "tools/call", "\"name\":\"greet\",\"arguments\":{\"name\":\"Ada\"}");
    assert_null(at(&w, "/result/isError"));
    close_wire(&w);
}

static void a_tool_that_may_be_meant_is_named(void **state)
{
    (void)state;
    struct wire w;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "tools/call", "\"name\":\"gret\"");
    assert_string_equal(text_at(&w, "/error/data/suggestion"),
                        "Did you mean `greet`? Call tools/list to get all tools.");
    ask(&w, "tools/call", "\"name\":\"quite something else\"");
    assert_string_equal(text_at(&w, "/error/data/suggestion"), "Call tools/list to get all tools.");
    close_wire(&w);
}

/* However many there are, and however long. */
static void what_is_named_of_them_is_bounded(void **state)
{
    (void)state;
    struct wire w;
    char members[9000];
    size_t length = (size_t)snprintf(
        members, sizeof members, "\"name\":\"greet\",\"arguments\":{\"name\":\"Ada\",\"%0200d\":1",
        0);
    for (int i = 0; i < 500; i++)
        length += (size_t)snprintf(members + length, sizeof members - length, ",\"x%d\":1", i);
    snprintf(members + length, sizeof members - length, "}");
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "tools/call", members);
    assert_int_equal(count_at(&w, "/result/structuredContent/fields"), 20);
    assert_int_equal(strlen(text_at(&w, "/result/structuredContent/fields/0/field")), 64);
    close_wire(&w);
}

static void a_list_comes_in_pages(void **state)
{
    (void)state;
    struct wire w;
    char members[100], seen[200] = "";
    int pages = 0;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    w.server.page_size = 3;
    for (members[0] = '\0';; pages++) {
        size_t index, count;
        yyjson_val *tool;
        ask(&w, "tools/list", members);
        yyjson_arr_foreach(at(&w, "/result/tools"), index, count, tool)
        {
            size_t length = strlen(seen);
            snprintf(seen + length, sizeof seen - length, "%s ",
                     yyjson_get_str(yyjson_obj_get(tool, "name")));
        }
        if (!at(&w, "/result/nextCursor"))
            break;
        snprintf(members, sizeof members, "\"cursor\":\"%s\"", text_at(&w, "/result/nextCursor"));
    }
    assert_int_equal(pages, 1);
    assert_string_equal(seen, "greet users_wipe_all add_user users_put ");
    w.server.page_size = 4;
    ask(&w, "tools/list", "");
    assert_null(at(&w, "/result/nextCursor"));
    close_wire(&w);
}

static void a_cursor_of_somebody_else_is_refused(void **state)
{
    (void)state;
    struct wire w;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "tools/list", "\"cursor\":\"3\"");
    assert_error(&w, -32602);
    ask(&w, "tools/list", "\"cursor\":7");
    assert_error(&w, -32602);
    close_wire(&w);
}

static void the_tools_of_the_todo_service_are_well_formed(void **state)
{
    (void)state;
    struct wire w;
    size_t index, count;
    yyjson_val *tool;
    open_wire(
        &w,
        &(mishap_app){
            .name = "todo", .version = "1", .operations = todo_operations, .scopes = todo_scopes },
        MISHAP_MCP_2025_11_25);
    assert_non_null(mishap_mcp_tool_find(&w.server, MISHAP_SCOPE_CALL, T("create_user")));
    assert_non_null(mishap_mcp_tool_find(&w.server, MISHAP_SCOPE_CALL, T("get_premium_report")));
    assert_null(mishap_mcp_tool_find(&w.server, MISHAP_SCOPE_CALL, T("cause_chaos")));
    ask(&w, "tools/list", "");
    assert_int_equal(count_at(&w, "/result/tools"), 12);
    yyjson_arr_foreach(at(&w, "/result/tools"), index, count, tool)
    {
        assert_true(yyjson_get_len(yyjson_obj_get(tool, "description")) > 0);
        assert_true(yyjson_equals_str(yyjson_ptr_get(tool, "/inputSchema/type"), "object"));
        yyjson_val *output = yyjson_obj_get(tool, "outputSchema");
        assert_true(!output || yyjson_equals_str(yyjson_obj_get(output, "type"), "object"));
        /* What answers a question is an argument only where one may be asked. */
        bool asks = yyjson_equals_str(yyjson_obj_get(tool, "name"), "delete_todos");
        assert_int_equal(yyjson_ptr_get(tool, "/inputSchema/properties/_state") != NULL, asks);
        assert_int_equal(yyjson_ptr_get(tool, "/inputSchema/properties/_answers") != NULL, asks);
    }
    close_wire(&w);
}

/* -- patterns ---------------------------------------------------------------------------------- */

static const struct {
    const char *pattern;
    bool portable;
} patterns[] = {
    { "", true },
    { ".*@.*\\..*", true },
    { "^(0|[1-9][0-9]{0,17})$", true },
    { "^\\d{4}-\\d\\d(?:-\\d{2})?$", true },
    { "[^a-z\\s\\-_]+?", true },
    { "[a-]", true },
    { "[-a]", true },
    { "[\\w.-]", true },
    { "(?=a)b(?!c)(?<=d)(?<!e)", true },
    { "\\bword\\B", true },
    { "\\x41[\\x41-\\x5a]", true },
    { "a{2,}b{3}c*?", true },
    { "\\/\\{\\}\\[\\]", true },
    { "grün|[à-ü]", true },
    { "(?i)abc", false },
    { "\\Aabc\\z", false },
    { "a++", false },
    { "a*+", false },
    { "a**", false },
    { "(?>a)", false },
    { "(?<name>a)", false },
    { "(?P<name>a)", false },
    { "(a)\\1", false },
    { "\\-", false },
    { "\\_", false },
    { "\\h", false },
    { "\\p{L}", false },
    { "\\Q.\\E", false },
    { "[[:alpha:]]", false },
    { "[]a]", false },
    { "[^]a]", false },
    { "[\\d-x]", false },
    { "[a-\\d]", false },
    { "[\\h]", false },
    { "a{,3}", false },
    { "{", false },
    { "a}", false },
    { "a]", false },
    { "a{1", false },
    { "^*", false },
    { "(?=a)*", false },
    { "\\b+", false },
    { "(*UTF)a", false },
    { "(?#note)a", false },
    { "(?|a|b)", false },
    { "\\x4", false },
    { "\\x{41}", false },
    { "(a", false },
    { "a)", false },
    { "[a", false },
    { "[a-", false },
    { "[\\", false },
    { "(?", false },
    { "(?<", false },
    { "a\\", false },
    { "((((((((((((((((((((((((((((((((((a))))))))))))))))))))))))))))))))))", false },
};

static void a_pattern_that_javascript_does_not_read_is_left_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        mishap_buffer schema = { 0 }, out = { 0 };
        mishap_json_open(&schema, '{');
        MISHAP_JSON_KEY(&schema, "properties");
        MISHAP_PUT(&schema, "{\"pattern\":{\"type\":[\"string\",\"null\"],\"pattern\":");
        mishap_json_string(&schema, mishap_text_of(patterns[i].pattern));
        MISHAP_PUT(&schema, "}}}");
        mishap_mcp_put_schema(&out, mishap_buffer_text(&schema));
        mishap_buffer_put_char(&out, '\0');
        if (patterns[i].portable)
            assert_memory_equal(out.data, schema.data, schema.length);
        else if (strcmp(out.data,
                        "{\"properties\":{\"pattern\":{\"type\":[\"string\",\"null\"]}}}"))
            fail_msg("%s: %s", patterns[i].pattern, out.data);
        mishap_buffer_release(&schema);
        mishap_buffer_release(&out);
    }
}

/* -- calls ------------------------------------------------------------------------------------- */

static void a_tool_is_called_by_its_name(void **state)
{
    (void)state;
    struct wire w;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "tools/call", "\"name\":\"greet\",\"arguments\":{\"name\":\"Ada\"}");
    assert_tool(&w, "/result",
                "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"greeting\\\":\\\"Ada\\\"}\"}],"
                "\"structuredContent\":{\"greeting\":\"Ada\"}}");
    assert_int_equal(w.finished, 1);
    close_wire(&w);
}

static void arguments_that_are_left_out_are_none(void **state)
{
    (void)state;
    struct wire w;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    for (int i = 0; i < 2; i++) {
        ask(&w, "tools/call", i ? "\"name\":\"greet\",\"arguments\":null" : "\"name\":\"greet\"");
        assert_true(yyjson_is_true(at(&w, "/result/isError")));
        assert_string_equal(text_at(&w, "/result/structuredContent/fields/0/field"), "name");
    }
    close_wire(&w);
}

static void a_tool_that_is_not_there_is_a_protocol_error(void **state)
{
    (void)state;
    struct wire w;
    open_wire(&w, &app, MISHAP_MCP_2026_07_28);
    ask(&w, "tools/call", "\"name\":\"files_read\",\"arguments\":{}");
    assert_error(&w, -32602);
    assert_string_equal(text_at(&w, "/error/data/code"), "NOT_FOUND");
    assert_string_equal(text_at(&w, "/error/data/context/tool"), "files_read");
    close_wire(&w);
}

static void a_name_of_any_length_is_not_said_again(void **state)
{
    (void)state;
    struct wire w;
    enum { LENGTH = 50000 };
    char *members = malloc(LENGTH + 100);
    assert_non_null(members);
    size_t length = (size_t)snprintf(members, 100, "\"name\":\"");
    for (size_t i = 0; i < LENGTH; i++)
        members[length++] = "\xC3\xA4"[i % 2];
    snprintf(members + length, 10, "\"");
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    ask(&w, "tools/call", members);
    assert_error(&w, -32602);
    assert_int_equal(strlen(text_at(&w, "/error/data/context/tool")), 64);
    assert_true(w.out.length < 1000);
    close_wire(&w);
    free(members);
}

static void what_is_no_call_names_what_is_wrong(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        { "", "name" },
        { "\"name\":7", "name" },
        { "\"name\":null,\"arguments\":{}", "name" },
        { "\"name\":\"greet\",\"arguments\":[]", "arguments" },
        { "\"name\":\"greet\",\"arguments\":\"x\"", "arguments" },
        { "\"name\":\"nobody\",\"arguments\":1", "arguments" },
    };
    struct wire w;
    open_wire(&w, &app, MISHAP_MCP_2025_11_25);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ask(&w, "tools/call", wrong[i][0]);
        assert_error(&w, -32602);
        assert_string_equal(text_at(&w, "/error/data/fields/0/field"), wrong[i][1]);
    }
    send_text(&w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}");
    assert_error(&w, -32602);
    close_wire(&w);
}

/* -- without memory ---------------------------------------------------------------------------- */

static void make_and_list(const void *input)
{
    mishap_mcp_server server = { .app = input, .full_schemas = true };
    char storage[4096];
    mishap_mcp_peer peer;
    mishap_buffer result;
    mishap_mcp_message message = { .kind = MISHAP_MCP_REQUEST, .revision = MISHAP_MCP_2025_11_25 };
    mishap_mcp_request request = { .peer = &peer, .message = &message };
    mishap *failure = mishap_mcp_server_make(&server, true);
    mishap_buffer_init(&result, storage, sizeof storage);
    if (!failure) {
        mishap_mcp_peer_init(&peer, &server);
        mishap_json_open(&result, '{');
        failure = mishap_mcp_tools_list(&request, &result);
        mishap_json_close(&result, '}');
        assert_null(failure);
        /* All of it, or a buffer that says that it failed. */
        if (!result.failed) {
            yyjson_doc *whole = yyjson_read(result.data, result.length, 0);
            assert_int_equal(yyjson_arr_size(yyjson_ptr_get(yyjson_doc_get_root(whole), "/tools")),
                             5);
            assert_non_null(
                yyjson_ptr_get(yyjson_doc_get_root(whole), "/tools/0/outputSchema/anyOf/1"));
            yyjson_doc_free(whole);
        }
    }
    mishap_free(failure);
    mishap_buffer_release(&result);
    mishap_mcp_server_release(&server);
}

static void without_memory_a_list_is_whole_or_fails(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(make_and_list, &app);
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(operations_are_tools_unless_they_are_for_others),
        TEST(a_tool_speaks_the_dialect_of_its_service),
        TEST(a_resource_is_no_tool_if_it_has_no_name_for_one),
        TEST(only_the_tools_of_one_service_are_there_if_it_is_named),
        TEST(a_program_whose_tools_cannot_be_told_apart_is_refused),
        TEST(every_tool_is_found_by_its_very_name),
        TEST(a_program_without_tools_has_none),
        TEST(a_tool_has_what_its_revision_knows),
        TEST(annotations_say_what_a_tool_does_to_the_world),
        TEST(a_description_says_how_it_can_fail),
        TEST(a_misspelled_argument_is_named),
        TEST(a_tool_that_may_be_meant_is_named),
        TEST(what_is_named_of_them_is_bounded),
        TEST(a_list_comes_in_pages),
        TEST(a_cursor_of_somebody_else_is_refused),
        TEST(the_tools_of_the_todo_service_are_well_formed),
        TEST(a_pattern_that_javascript_does_not_read_is_left_out),
        TEST(a_tool_is_called_by_its_name),
        TEST(arguments_that_are_left_out_are_none),
        TEST(a_tool_that_is_not_there_is_a_protocol_error),
        TEST(a_name_of_any_length_is_not_said_again),
        TEST(what_is_no_call_names_what_is_wrong),
        TEST(without_memory_a_list_is_whole_or_fails),
    };
    return RUN(tests);
}
