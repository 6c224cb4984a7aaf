/*
 * Broken declarations of what other programs call: routes, resources, prompts, tools, media types.
 */

#include "testing.h"
#include "declarations.h"

static void routes_are_a_method_and_a_path(void **state)
{
    (void)state;
    static const struct {
        const char *route, *why;
        mishap_danger danger;
    } cases[] = {
        { "GET /", NULL, MISHAP_SAFE },
        { "POST /users", NULL, MISHAP_SAFE },
        { "POST /users", NULL, MISHAP_MUTATING },
        { "GET /users/:id", NULL, MISHAP_SAFE },
        { "DELETE /users/:id", NULL, MISHAP_DESTRUCTIVE },
        { "GET /a-b/c.d/~e/F_1/:id", NULL, MISHAP_SAFE },
        { "", "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "/users",
          "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "get /users",
          "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "FETCH /users",
          "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "GET users",
          "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "GET  /users",
          "it has a route that is not GET, POST, PUT, PATCH or DELETE, a space and a path",
          MISHAP_SAFE },
        { "GET /users/", "it has a route with an empty segment, or with the segment . or ..",
          MISHAP_SAFE },
        { "GET //users", "it has a route with an empty segment, or with the segment . or ..",
          MISHAP_SAFE },
        { "GET /a/../b", "it has a route with an empty segment, or with the segment . or ..",
          MISHAP_SAFE },
        { "GET /users/{id}", "it has a route with the character `{`; parameters are written :name",
          MISHAP_SAFE },
        { "GET /users?x=1", "it has a route with the character `?`; parameters are written :name",
          MISHAP_SAFE },
        { "GET /us ers", "it has a route with the character ` `; parameters are written :name",
          MISHAP_SAFE },
        { "GET /users/:name", "it has a route with the parameter `name`, which is not declared",
          MISHAP_SAFE },
        { "GET /users/:", "it has a route with the parameter ``, which is not declared",
          MISHAP_SAFE },
        { "GET /:id/:id", "it has the same parameter twice in its route", MISHAP_SAFE },
        { "GET /users/:list",
          "it has the parameter `list` in its route, which must be required, a scalar and not "
          "secret",
          MISHAP_SAFE },
        { "GET /users/:maybe",
          "it has the parameter `maybe` in its route, which must be required, a scalar and not "
          "secret",
          MISHAP_SAFE },
        { "GET /users", "it has a route with GET, but is declared to change something",
          MISHAP_MUTATING },
        { "DELETE /users/:id", "it has a route with DELETE, but is declared to change nothing",
          MISHAP_SAFE },
        { "PUT /users/:id", "it has a route with PUT, but is declared to change nothing",
          MISHAP_SAFE },
        { "PUT /users/:id", NULL, MISHAP_BY_ROUTE },
        { "DELETE /users/:id", NULL, MISHAP_BY_ROUTE },
        { "GET /users/:id", NULL, MISHAP_BY_ROUTE },
    };
    static const mishap_param item = { NULL, .type = MISHAP_STRING };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sentence[300];
        snprintf(sentence, sizeof sentence,
                 "The declaration of the operation `users.create` is not valid: %s.", cases[i].why);
        assert_operations(
            OPERATION(.route = cases[i].route, .danger = cases[i].danger,
                      PARAMS({ "id", MISHAP_STRING, .required = true },
                             { "maybe", .type = MISHAP_STRING },
                             { "list", MISHAP_ARRAY, .required = true, .items = &item })),
            cases[i].why ? sentence : NULL);
    }
}

static void a_tail_is_the_last_of_a_route_and_a_string(void **state)
{
    (void)state;
#define TAIL(why, path, ...)                                                                       \
    ASSERT_OPERATION(why, .route = "GET " path, PARAMS({ "path", .required = true, __VA_ARGS__ }))
    ASSERT_SOUND(.route = "GET /files/{path...}",
                 PARAMS({ "path", MISHAP_STRING, .required = true }));
    ASSERT_SOUND(.route = "GET /:path...", PARAMS({ "path", MISHAP_STRING, .required = true }));
    TAIL("it has a route with a segment after its tail", "/{path...}/raw", .type = MISHAP_STRING);
    TAIL("it has a route with a segment after its tail", "/:path.../", .type = MISHAP_STRING);
    TAIL("it has the parameter `path` as the tail of its route, which must be a string",
         "/{path...}", .type = MISHAP_INTEGER);
    TAIL("it has a route with the parameter `other`, which is not declared", "/{other...}",
         .type = MISHAP_STRING);
    TAIL("it has a route with the parameter ``, which is not declared", "/{...}",
         .type = MISHAP_STRING);
    TAIL("it has the same parameter twice in its route", "/:path/{path...}", .type = MISHAP_STRING);
    TAIL("it has a route with the character `{`; parameters are written :name", "/{path}",
         .type = MISHAP_STRING);
#undef TAIL
    static const mishap_param params[] = { { "path", MISHAP_STRING, .required = true }, { 0 } };
    static const mishap_operation both[] = {
        { "files.get", "Get one", params, run, .route = "GET /files/:path" },
        { "files.tail", "Get any", params, run, .route = "GET /files/{path...}" },
        { 0 },
    };
    assert_operations(both, "The declaration of the operation `files.tail` is not valid: it has "
                            "the same route as `files.get`.");
}

static void bytes_have_media_types(void **state)
{
    (void)state;
    ASSERT_SOUND(.answers_type = "text/plain; charset=utf-8", .route = "GET /report");
    ASSERT_SOUND(.takes = "text/csv, image/*,*/*", .route = "PUT /report");
    ASSERT_SOUND(.takes = "text/csv");
    static const char *const no_types[] = {
        "", "png", "image/", "image/*", "image/png\r\nX: 1", "image/p\xc3\xa4g"
    };
    for (size_t i = 0; i < sizeof no_types / sizeof *no_types; i++)
        ASSERT_OPERATION("it has an `answers_type` that is not a media type such as image/png",
                         .answers_type = no_types[i]);
    static const char *const no_lists[] = {
        "", ",", "text/csv,,text/plain", "text", "text/csv;q=1", "text/csv text/plain", "text/\x01"
    };
    for (size_t i = 0; i < sizeof no_lists / sizeof *no_lists; i++)
        ASSERT_OPERATION("it has a `takes` that is not a list of media types separated by commas",
                         .takes = no_lists[i]);
    ASSERT_OPERATION("it takes a body, but its route has no POST, PUT or PATCH",
                     .takes = "text/csv", .route = "GET /report");
    ASSERT_OPERATION(
        "it takes a body, and has a parameter `body_type` whose name is reserved for the body",
        .takes = "text/csv", PARAMS({ "body_type", MISHAP_STRING, .length = { 1, 9 } }));
}

static void resources_have_an_address(void **state)
{
    (void)state;
#define TWO_PARAMS                                                                                 \
    PARAMS({ "id", MISHAP_INTEGER, .required = true }, { .name = "kind", .type = MISHAP_STRING })
    ASSERT_SOUND(.resource = "todo://todos");
    ASSERT_SOUND(.resource = "todo:todos%20here");
    ASSERT_SOUND(TWO_PARAMS, .resource = "todo://todos/{id}");
    ASSERT_SOUND(TWO_PARAMS, .resource = "todo://{kind}/{id}/all");
    ASSERT_SOUND(.resource = "todo://todos", .prompt = "todos", .tool = "todos");
    static const char *const none[] = { "",          "todos",        "/todos",
                                        "todo:",     "7:todos",      "todo://a b",
                                        "todo://%4", "{id}://todos", "todo://\xC3\xA9",
                                        "todo://\"" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ASSERT_OPERATION("it has an address that is not a URI such as todo://todos/{id}",
                         PARAMS({ .name = "id", .type = MISHAP_INTEGER }), .resource = none[i]);
    ASSERT_OPERATION("it has an address with {nobody}, which is not a parameter", TWO_PARAMS,
                     .resource = "todo://todos/{id}/{nobody}");
    ASSERT_OPERATION("it has an address with {}, which is not a parameter", TWO_PARAMS,
                     .resource = "todo://todos/{}");
    ASSERT_OPERATION("it has {id} twice in its address", TWO_PARAMS,
                     .resource = "todo://todos/{id}/{id}");
    ASSERT_OPERATION("it has an address with a brace that does not close", TWO_PARAMS,
                     .resource = "todo://todos/{id");
    ASSERT_OPERATION("it has an address with a brace that does not close", TWO_PARAMS,
                     .resource = "todo://todos/{id/x}");
    ASSERT_OPERATION("it has an address with a brace that was not opened", TWO_PARAMS,
                     .resource = "todo://todos/{id}/}");
    static const char *const partial[] = { "todo://todos/a{id}", "todo://todos/{id}.json",
                                           "todo://todos/{id}{kind}", "todo:{id}" };
    for (size_t i = 0; i < sizeof partial / sizeof *partial; i++)
        ASSERT_OPERATION(
            "it has an address in which {id} is not a complete segment between two slashes",
            TWO_PARAMS, .resource = partial[i]);
    ASSERT_OPERATION("it requires `id`, which its address todo://todos/{kind} does not contain",
                     TWO_PARAMS, .resource = "todo://todos/{kind}");
    ASSERT_OPERATION("it has {key} in its address, which must be a scalar and not secret",
                     PARAMS({ "key", MISHAP_STRING, .secret = true }),
                     .resource = "todo://a/{key}");
    ASSERT_OPERATION("it has {map} in its address, which must be a scalar and not secret",
                     PARAMS({ .name = "map", .type = MISHAP_OBJECT }),
                     .resource = "todo://a/{map}");
    ASSERT_OPERATION("it has an address with :id; there a parameter is written {id}", TWO_PARAMS,
                     .resource = "todo://{kind}/:id/x");
    ASSERT_SOUND(.resource = "todo://todos/:id"); /* of no parameter: a text like any other */
    ASSERT_OPERATION("it is a resource, but is declared to change something",
                     .danger = MISHAP_MUTATING, .resource = "todo://todos");
    ASSERT_OPERATION("it is declared for the command line only, but it is a resource",
                     .local = true, .resource = "todo://todos");
    ASSERT_OPERATION("it judges other programs, but is not local", .judges = true);
    ASSERT_OPERATION("it is resident, but it is a resource", .resident = true,
                     .resource = "todo://todos");
    assert_operations(
        TWO("a", "b", .resource = "todo://same"),
        "The declaration of the operation `b` is not valid: it has the same address as `a`.");
    const mishap_operation same[] = {
        { .name = "a",
          .summary = "A",
          .run = run,
          PARAMS({ "id", MISHAP_INTEGER, .required = true }),
          .resource = "todo://todos/{id}/x" },
        { .name = "b",
          .summary = "B",
          .run = run,
          PARAMS({ "todo", MISHAP_INTEGER, .required = true }),
          .resource = "todo://todos/{todo}/x" },
        { 0 },
    };
    assert_operations(
        same, "The declaration of the operation `b` is not valid: it has the same address as `a`.");
}

static void prompts_have_a_name(void **state)
{
    (void)state;
    static const char *const none[] = {
        "", "a b", "a/b", "\xC3\xA9",
        "a1234567890123456789012345678901234567890123456789012345678901234"
    };
    ASSERT_SOUND(.prompt = "plan_day");
    ASSERT_SOUND(.prompt = "Plan-day.2", .danger = MISHAP_MUTATING);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ASSERT_OPERATION("it is a prompt whose name is not letters, digits, _, - and ., 64 at most",
                         .prompt = none[i]);
    ASSERT_OPERATION("it is declared for the command line only, but it is a prompt", .local = true,
                     .prompt = "a");
    ASSERT_OPERATION("it is resident, but it is a prompt", .resident = true, .prompt = "a");
    assert_operations(
        TWO("a", "b", .prompt = "same"),
        "The declaration of the operation `b` is not valid: it is the same prompt as `a`.");
}

/* By the name that is declared, or that is made of the operation's own. */
static void tools_can_be_told_apart(void **state)
{
    (void)state;
    static const char same[] =
        "The declaration of the operation `b_c` is not valid: it is the same tool as "
        "`b.c`; `.tool` names it otherwise.";
    static const char named[] =
        "The declaration of the operation `b` is not valid: it is the same tool as `a`; "
        "`.tool` names it otherwise.";
    assert_operations(TWO("b.c", "b_c", .local = false), same);
    assert_operations(TWO("b.c", "b_c", .local = true), NULL);
    assert_operations(TWO("a", "b", .tool = "x"), named);
    assert_operations(TWO("a", "b", .tool = "x", .resident = true), NULL);
    const mishap_operation list[] = { { "a", "A", .run = run, .tool = "b" },
                                      { "b", "B", .run = run },
                                      { 0 } };
    assert_operations(list, named);
    const mishap_operation prompt[] = { { "a", "A", .run = run, .tool = "b" },
                                        { "b", "B", .run = run, .prompt = "b" },
                                        { "b2", "B", .run = run, .tool = "b3" },
                                        { 0 } };
    assert_operations(prompt, NULL);
}

static void a_status_is_one_of_success(void **state)
{
    (void)state;
    ASSERT_SOUND(.status = 202);
    ASSERT_OPERATION("it has the status 203, which is none of 200, 201, 202 and 204",
                     .status = 203);
    ASSERT_OPERATION("it has the status 404, which is none of 200, 201, 202 and 204",
                     .status = 404);
}

static void no_route_is_one_of_the_server(void **state)
{
    (void)state;
    static const struct {
        const char *route, *own;
    } cases[] = {
        { "GET /health", "GET /health" },
        { "GET /metrics", "GET /metrics" },
        { "GET /openapi.json", "GET /openapi.json" },
        { "GET /ready", "GET /ready" },
        { "POST /mcp", "POST /mcp" },
        { "GET /mcp", "GET /mcp" },
        { "DELETE /mcp", "DELETE /mcp" },
        { "POST /health", NULL },
        { "GET /healthy", NULL },
        { "GET /:name", NULL },
        { "GET /errors", NULL }, /* a program may take these */
        { "GET /errors/:name", NULL },
        { "GET /errors/{name...}", NULL },
        { "GET /docs", NULL },
        { "GET /mcp/tools", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[300] = "directory 1.0";
        if (cases[i].own)
            snprintf(line, sizeof line,
                     "The declaration of the operation `users.create` is not valid: it has the "
                     "route `%s`, which is a built-in route of the server.",
                     cases[i].own);
        const mishap_app app = {
            .name = "directory",
            .version = "1.0",
            .operations = OPERATION(.route = cases[i].route,
                                    PARAMS({ "name", MISHAP_STRING, .required = true })),
        };
        assert_program_says(&app, cases[i].own ? 70 : 0, line);
    }
}

static void a_view_names_a_page(void **state)
{
    (void)state;
    static const mishap_operation page = {
        .name = "page", .summary = "A page", .run = run, .resource = "ui://page"
    };
    const mishap_operation sound[] = {
        { .name = "users.list", .summary = "List", .run = run, .view = "ui://page" }, page, { 0 }
    };
    assert_operations(sound, NULL);
    ASSERT_OPERATION("it has the `.view` ui://none, which is the `.resource` of no operation",
                     .view = "ui://none");
    ASSERT_OPERATION("it has a `.view` that does not begin with ui://", .view = "todo://todos");
    ASSERT_OPERATION("it has a `.view`, but is no tool", .view = "ui://page", .local = true);
    ASSERT_OPERATION("it is a page (ui://) with a variable in its address",
                     .resource = "ui://page/{id}", PARAMS({ "id", .type = MISHAP_STRING }));
    ASSERT_OPERATION("it is a page (ui://), so its answer is a document, without `.answers` and "
                     "`.answers_type`",
                     .resource = "ui://page", .answers_type = "text/html");
}

static void icons_have_an_address(void **state)
{
    (void)state;
    static const struct {
        mishap_icon icon;
        const char *flaw;
    } cases[] = {
        { { .source = "https://a.example/b.png" }, NULL },
        { { "data:image/png;base64,iVBORw0KGgo=", .type = "image/png", .sizes = "16x16" }, NULL },
        { { "http://a/b", .sizes = "any", .theme = "light" }, NULL },
        { { "http://a/b", .sizes = "1x1 20x30 9x9" }, NULL },
        { { .source = "icon.png" },
          "an icon whose address does not begin with https://, http:// or data:image/" },
        { { .source = "javascript:alert(1)" },
          "an icon whose address does not begin with https://, http:// or data:image/" },
        { { .source = "data:text/html,x" },
          "an icon whose address does not begin with https://, http:// or data:image/" },
        { { .source = "https://a/b c" }, "an icon whose address is not a URI" },
        { { "https://a/b", .type = "text/html" }, "an icon whose type is not image/…" },
        { { "https://a/b", .sizes = "16" },
          "an icon whose sizes are neither such as `48x48 96x96` nor `any`" },
        { { "https://a/b", .sizes = "" },
          "an icon whose sizes are neither such as `48x48 96x96` nor `any`" },
        { { "https://a/b", .sizes = "16x16 " },
          "an icon whose sizes are neither such as `48x48 96x96` nor `any`" },
        { { "https://a/b", .theme = "blue" }, "an icon whose theme is neither light nor dark" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mishap_icon icons[] = { cases[i].icon, { 0 } };
        char of_operation[300], of_program[300];
        snprintf(of_operation, sizeof of_operation,
                 "The declaration of the operation `users.create` is not valid: it has %s.",
                 cases[i].flaw ? cases[i].flaw : "");
        snprintf(of_program, sizeof of_program,
                 "The declaration of the program `directory` is not valid: it has %s.",
                 cases[i].flaw ? cases[i].flaw : "");
        assert_operations(OPERATION(.icons = icons), cases[i].flaw ? of_operation : NULL);
        assert_app(&(mishap_app){ .name = "directory",
                                  .operations = OPERATION(.tool = "x"),
                                  .icons = icons },
                   cases[i].flaw ? of_program : NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(routes_are_a_method_and_a_path),
        TEST(a_tail_is_the_last_of_a_route_and_a_string),
        TEST(bytes_have_media_types),
        TEST(resources_have_an_address),
        TEST(prompts_have_a_name),
        TEST(tools_can_be_told_apart),
        TEST(a_status_is_one_of_success),
        TEST(no_route_is_one_of_the_server),
        TEST(a_view_names_a_page),
        TEST(icons_have_an_address),
    };
    return RUN(tests);
}
