/* The OpenAPI document, and the catalog for readers. */
#include "http/documents/openapi.h"
#include "http/documents/documents.h"
#include "http/serve/serve.h"
#include "operation/call.h"
#include "testing.h"
#include "todo/todo.h"

/* -- documents --------------------------------------------------------------------------------- */

static yyjson_doc *document;

/* What is at a JSON pointer of the document; NULL: nothing. */
static yyjson_val *at(const char *pointer)
{
    return yyjson_doc_ptr_get(document, pointer);
}

static const char *string_at(const char *pointer)
{
    const char *string = yyjson_get_str(at(pointer));
    return string ? string : "(none)";
}

static void refuse_flaw(void *state, mishap_json_flaw flaw, const mishap_json_path *path)
{
    (void)state, (void)path;
    fail_msg("flaw %d", flaw); /* such as a key that stands twice */
}

static void read_document(const mishap_buffer *buffer)
{
    assert_false(buffer->failed);
    yyjson_doc_free(document);
    document = yyjson_read(buffer->data, buffer->length, 0);
    assert_non_null(document);
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_true(mishap_json_read(&reader, mishap_buffer_text(buffer)));
    mishap_json_inspect(&reader, &(mishap_json_visitor){ .flaw = refuse_flaw });
    mishap_json_reader_release(&reader);
}

static void describe(mishap_http_settings settings)
{
    mishap_buffer buffer = { 0 };
    mishap_http_put_openapi(&buffer, &settings, mishap_http_endpoints);
    read_document(&buffer);
    mishap_buffer_release(&buffer);
}

static int forget(void **state)
{
    (void)state;
    yyjson_doc_free(document);
    document = NULL;
    return 0;
}

/* -- samples ----------------------------------------------------------------------------------- */

static const mishap_code *raised;

static mishap *raise_it(mishap_call *call)
{
    return raised ? mishap_raise_at(raised, MISHAP_HERE, "It failed.") : mishap_answer(call, "{}");
}

static const char *const colours[] = { "red", "green", NULL };
static const mishap_param a_word = { NULL, MISHAP_STRING, .length = { 1, 9 } };
static const mishap_param point[] = {
    { "x", MISHAP_NUMBER, .required = true },
    { "y", MISHAP_NUMBER, .required = true },
    { 0 },
};
static const mishap_param things[] = {
    { "box", MISHAP_STRING, .required = true, .help = "Which box" },
    { "thing_id", MISHAP_INTEGER, .required = true, .range = { 1, INFINITY } },
    { "colour", MISHAP_ENUM, .choices = colours },
    { "tags", MISHAP_ARRAY, .items = &a_word },
    { "where", MISHAP_OBJECT, .members = point },
    { "pin", MISHAP_STRING, .secret = true },
    { 0 },
};
static const mishap_param other_names[] = {
    { "box_id", MISHAP_STRING, .required = true },
    { "id", MISHAP_INTEGER, .required = true },
    { "colour", MISHAP_ENUM, .choices = colours, .required = true },
    { 0 },
};
static const mishap_param thing[] = {
    { "id", MISHAP_INTEGER, .required = true },
    { "note", MISHAP_STRING, .help = "What \"it\" is" },
    { "colour", MISHAP_ENUM, .choices = colours },
    { 0 },
};

static const mishap_operation operations[] = {
    { "things.list", "List \"things\"", things, raise_it, .route = "GET /boxes/:box/:thing_id",
      .answers = thing },
    { "things.change-all", "Change things", other_names, raise_it,
      .route = "PUT /boxes/:box_id/:id", .danger = MISHAP_MUTATING, .answers = thing,
      .raises = MISHAP_RAISES(CONFLICT, ALREADY_EXISTS, LOCKED) },
    { "things.create", "Create a thing", NULL, raise_it, .route = "POST /boxes",
      .danger = MISHAP_MUTATING, .status = 201, .description = "One.\n\nTwo." },
    { "things.forget", "Forget a thing", things, raise_it, .route = "DELETE /boxes/:box/:thing_id",
      .danger = MISHAP_DESTRUCTIVE, .status = 204, .raises = MISHAP_RAISES(ALREADY_EXISTS) },
    { "root", "The root", NULL, raise_it, .route = "GET /" },
    { "inside", "Without a route", NULL, raise_it, .quick = true },
    { "drill", "Fail on purpose", NULL, raise_it, .route = "GET /drill", .chaos = true },
    { 0 },
};
static const mishap_app app = { "sample", "1.0", "A sample", operations, .license = "MIT" };
static const mishap_app todo = { "todo",           "1.0",
                                 "Todos",          todo_operations,
                                 .license = "MIT", .scopes = todo_scopes };

#define THINGS "/paths/~1boxes~1{box}~1{thing_id}"

/* -- the document ------------------------------------------------------------------------------ */

static void the_document_says_what_it_is_about(void **state)
{
    (void)state;
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &app } });
    assert_string_equal(string_at("/openapi"), "3.1.0");
    assert_string_equal(string_at("/info/title"), "sample");
    assert_string_equal(string_at("/info/version"), "1.0");
    assert_string_equal(string_at("/info/summary"), "A sample");
    assert_string_equal(string_at("/info/license/identifier"), "MIT");
    assert_string_equal(string_at("/servers/0/url"), "/");
    assert_string_equal(string_at("/tags/0/name"), "things");
    assert_string_equal(string_at("/tags/1/name"), "root");
    assert_string_equal(string_at("/tags/2/name"), "server");
    assert_null(at("/tags/3"));
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &app },
                                     .public_url = "https://api.test" });
    assert_string_equal(string_at("/servers/0/url"), "https://api.test");
}

static void paths_have_their_operations(void **state)
{
    (void)state;
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &app } });
    assert_string_equal(string_at(THINGS "/get/operationId"), "things_list");
    assert_string_equal(string_at(THINGS "/get/summary"), "List \"things\"");
    assert_string_equal(string_at(THINGS "/put/operationId"), "things_change_all");
    assert_string_equal(string_at(THINGS "/delete/tags/0"), "things");
    assert_string_equal(string_at("/paths/~1boxes/post/description"), "One.\n\nTwo.");
    assert_string_equal(string_at("/paths/~1/get/operationId"), "root");
    assert_null(at("/paths/~1drill"));
    /* Three of the program, and those that every server has. */
    size_t endpoints = 0;
    for (const mishap_http_endpoint *e = mishap_http_endpoints; e->route; e++)
        endpoints++;
    assert_int_equal(yyjson_obj_size(at("/paths")), 3 + endpoints);
    assert_non_null(at("/paths/~1errors~1{code}/get/responses/404"));
    assert_non_null(at("/paths/~1metrics/get/responses/200/content/text~1plain"));
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &app, .chaos = true } });
    assert_non_null(at("/paths/~1drill/get"));
}

static void parameters_stand_where_they_are_read(void **state)
{
    (void)state;
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &app } });
#define PARAMETERS THINGS "/get/parameters"
    assert_int_equal(yyjson_arr_size(at(PARAMETERS)), 5);
    assert_string_equal(string_at(PARAMETERS "/0/name"), "box");
    assert_string_equal(string_at(PARAMETERS "/0/in"), "path");
    assert_true(yyjson_is_true(at(PARAMETERS "/0/required")));
    assert_string_equal(string_at(PARAMETERS "/0/description"), "Which box");
    assert_string_equal(string_at(PARAMETERS "/1/in"), "path");
    assert_int_equal(yyjson_get_int(at(PARAMETERS "/1/schema/minimum")), 1);
    assert_string_equal(string_at(PARAMETERS "/2/in"), "query");
    assert_true(yyjson_is_false(at(PARAMETERS "/2/required")));
    assert_string_equal(string_at(PARAMETERS "/2/schema/enum/1"), "green");
    assert_string_equal(string_at(PARAMETERS "/3/schema/items/type"), "string");
    assert_string_equal(
        string_at(PARAMETERS "/4/content/application~1json/schema/properties/x/type"), "number");
    assert_null(at(PARAMETERS "/4/schema"));
    /* What is secret is refused in a query. */
    assert_true(yyjson_is_true(
        at(THINGS "/get/requestBody/content/application~1json/schema/properties/pin/writeOnly")));
    assert_true(yyjson_is_false(at(THINGS "/get/requestBody/required")));
}

/* One path, worded by the first operation there, though another calls its parts otherwise. */
static void a_body_has_all_that_is_not_in_the_path(void **state)
{
    (void)state;
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &app } });
    assert_int_equal(yyjson_arr_size(at(THINGS "/put/parameters")), 2);
    assert_string_equal(string_at(THINGS "/put/parameters/0/name"), "box");
    assert_string_equal(string_at(THINGS "/put/parameters/1/name"), "thing_id");
    assert_true(yyjson_is_true(at(THINGS "/put/requestBody/required")));
#define BODY THINGS "/put/requestBody/content/application~1json/schema"
    assert_int_equal(yyjson_obj_size(at(BODY "/properties")), 1);
    assert_string_equal(string_at(BODY "/required/0"), "colour");
    assert_int_equal(yyjson_arr_size(at(BODY "/required")), 1);
    assert_null(at("/paths/~1boxes/post/requestBody"));
    assert_null(at("/paths/~1boxes/post/parameters"));
}

static void answers_have_their_status_and_schema(void **state)
{
    (void)state;
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &app } });
#define ANSWER THINGS "/get/responses/200/content/application~1json/schema"
    assert_string_equal(string_at(ANSWER "/properties/id/type"), "integer");
    assert_string_equal(string_at(ANSWER "/properties/note/type/1"), "null");
    assert_string_equal(string_at(ANSWER "/properties/note/description"), "What \"it\" is");
    assert_true(yyjson_is_null(at(ANSWER "/properties/colour/enum/2")));
    assert_int_equal(yyjson_arr_size(at(ANSWER "/required")), 1);
    assert_non_null(at("/paths/~1boxes/post/responses/201/headers/Location"));
    assert_non_null(at("/paths/~1boxes/post/responses/201/headers/X-Request-Id"));
    assert_null(at("/paths/~1boxes/post/responses/200"));
    assert_non_null(at(THINGS "/delete/responses/204"));
    assert_null(at(THINGS "/delete/responses/204/content"));
}

static void keys_and_rates_show_where_they_matter(void **state)
{
    (void)state;
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &app } });
    assert_int_equal(yyjson_arr_size(at("/security")), 3); /* the third: none */
    assert_int_equal(yyjson_obj_size(at("/security/2")), 0);
    assert_null(at("/paths/~1/get/responses/429"));
    assert_string_equal(string_at("/paths/~1/get/responses/401/$ref"),
                        "#/components/responses/UNAUTHORIZED");
    describe((mishap_http_settings){
        .served = &(mishap_served){ .app = &app }, .key_required = true, .rate = 5 });
    assert_int_equal(yyjson_arr_size(at("/security")), 2);
    assert_non_null(at("/paths/~1/get/responses/429"));
    assert_non_null(at("/components/responses/RATE_LIMITED/headers/Retry-After"));
    assert_string_equal(string_at("/paths/~1/get/responses/401/$ref"),
                        "#/components/responses/UNAUTHORIZED-AUTH_REQUIRED");
    assert_non_null(at("/components/responses/UNAUTHORIZED/headers/WWW-Authenticate"));
    for (const mishap_http_endpoint *e = mishap_http_endpoints; e->route; e++) {
        char pointer[128];
        const char *rest = e->route + strlen("GET /");
        size_t length = strcspn(rest, "/");
        snprintf(pointer, sizeof pointer, "/paths/~1%.*s%s/get", (int)length, rest,
                 rest[length] ? "~1{code}" : "");
        yyjson_val *get = at(pointer);
        assert_non_null(get);
        assert_int_equal(e->open, yyjson_obj_get(get, "security") != NULL);
    }
}

/* -- failures ---------------------------------------------------------------------------------- */

/* What the response of a status at an operation refers to. */
static yyjson_val *response_of(const char *operation, int status)
{
    char pointer[256];
    snprintf(pointer, sizeof pointer, "%s/responses/%d/$ref", operation, status);
    const char *reference = yyjson_get_str(at(pointer));
    return reference ? at(reference + 1) : NULL;
}

/* Is this one of the names that its schema allows? */
static bool allows(yyjson_val *response, const char *name)
{
    yyjson_val *schema = yyjson_ptr_get(response, "/content/application~1json/schema");
    yyjson_val *both = yyjson_obj_get(schema, "anyOf");
    if (both && strcmp(name, "validation_error") == 0)
        return strcmp(yyjson_get_str(yyjson_ptr_get(both, "/0/$ref")),
                      "#/components/schemas/ValidationError") == 0;
    schema = both ? yyjson_arr_get(both, 1) : schema;
    yyjson_val *names = yyjson_ptr_get(schema, "/allOf/1/properties/error/enum"), *item;
    size_t index, count;
    yyjson_arr_foreach(names, index, count, item)
    {
        if (yyjson_equals_str(item, name))
            return true;
    }
    return false;
}

/* Every code that a handler gets through with is in the document, and no declared one is missing.
 */
static void whatever_an_operation_may_raise_is_documented(void **state)
{
    (void)state;
    const mishap_operation *operation = &operations[1];
    size_t passed = 0;
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &app } });
    for (size_t i = 0; i < mishap_code_table.count; i++) {
        mishap_call *call;
        raised = mishap_code_table.codes[i];
        assert_null(mishap_call_begin(&app, operation,
                                      T("{\"box_id\":\"a\",\"id\":1,\"colour\":\"red\"}"), &call));
        mishap *m = mishap_call_run(call);
        bool allowed = mishap_told(m)->code == raised;
        mishap_free(m);
        mishap_call_end(call);
        if (!allowed || raised == MISHAP_CODE_CANCELLED) /* no client is there to read that one */
            continue;
        passed++;
        yyjson_val *response = response_of(THINGS "/put", raised->http_status);
        if (!response || !allows(response, raised->http_name.data))
            fail_msg("%s is not documented", raised->name.data);
    }
    raised = NULL;
    assert_int_equal(passed, 6 + 3);
    assert_string_equal(string_at(THINGS "/put/responses/409/$ref"),
                        "#/components/responses/CONFLICT-ALREADY_EXISTS");
    assert_false(allows(response_of(THINGS "/put", 409), "locked"));
    assert_string_equal(string_at(THINGS "/delete/responses/409/$ref"),
                        "#/components/responses/ALREADY_EXISTS");
    assert_non_null(at(THINGS "/put/responses/413"));
    assert_null(at(THINGS "/get/responses/413"));
    assert_null(at("/paths/~1boxes/post/responses/422")); /* nothing can be wrong with nothing */
    assert_string_equal(string_at(THINGS "/get/responses/default/$ref"),
                        "#/components/responses/Otherwise");
}

static void count_finding(void *state, const mishap_finding *finding)
{
    *(size_t *)state += finding->severity != MISHAP_WARNING;
}

static void examples_are_sound(const char *media_type, const char *dialect, int status,
                               yyjson_val *response)
{
    yyjson_val *media = yyjson_obj_get(yyjson_obj_get(response, "content"), media_type);
    yyjson_val *examples = yyjson_obj_get(media, "examples"), *key, *example;
    size_t index, count, findings = 0;
    bool strict = strcmp(dialect, "problem") == 0; /* else only four names are allowed */
    assert_true(yyjson_obj_size(examples) > 0);
    yyjson_obj_foreach(examples, index, count, key, example)
    {
        size_t length;
        const mishap_code *code = mishap_catalog_find(MISHAP_SPELLING_NAME,
                                                      mishap_text_of(yyjson_get_str(key)));
        assert_int_equal(code->http_status, status);
        char *text = yyjson_val_write(yyjson_obj_get(example, "value"), 0, &length);
        assert_null(mishap_verify(mishap_dialect_find(dialect), (mishap_text){ text, length },
                                  strict, count_finding, &findings));
        assert_non_null(strstr(text, strict ? code->name.data : code->http_name.data));
        free(text);
    }
    assert_int_equal(findings, 0);
}

/* An endpoint of the server raises nothing of the program's. */
static void codes_of_a_service_and_of_the_program_are_documented(void **state)
{
    (void)state;
    const mishap_service service = { .name = "box", .raises = MISHAP_RAISES(LOCKED) };
    const mishap_operation in_service[] = {
        { "boxes.get", "Get", NULL, raise_it, .route = "GET /boxes", .service = &service },
        { "root", "The root", NULL, raise_it, .route = "GET /", .quick = true },
        { 0 },
    };
    mishap_app whole = { "sample", "1.0", "A sample", in_service, .license = "MIT" };
    whole.raises = MISHAP_RAISES(PAYMENT_REQUIRED);
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &whole } });
    assert_non_null(at("/paths/~1boxes/get/responses/423"));
    assert_non_null(at("/paths/~1boxes/get/responses/402"));
    assert_non_null(at("/paths/~1/get/responses/402"));
    assert_null(at("/paths/~1/get/responses/423"));
    assert_null(at("/paths/~1health/get/responses/402"));
}

static void examples_are_what_the_server_sends(void **state)
{
    (void)state;
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &todo, .chaos = true },
                                     .public_url = "https://api.test",
                                     .rate = 1,
                                     .key_required = true });
    yyjson_val *responses = at("/components/responses"), *key, *response;
    size_t index, count;
    yyjson_obj_foreach(responses, index, count, key, response)
    {
        if (yyjson_equals_str(key, "Otherwise"))
            continue;
        char first[64];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(yyjson_get_str(key), "-"),
                 yyjson_get_str(key));
        const mishap_code *code = mishap_catalog_find(MISHAP_SPELLING_NAME, mishap_text_of(first));
        assert_non_null(code);
        examples_are_sound("application/json", "http-api", code->http_status, response);
        examples_are_sound("application/problem+json", "problem", code->http_status, response);
    }
#define MISSING "/components/responses/NOT_FOUND/content"
    assert_string_equal(
        string_at(MISSING "/application~1problem+json/examples/NOT_FOUND/value/type"),
        "https://api.test/errors/NOT_FOUND");
    assert_string_equal(string_at(MISSING "/application~1json/examples/NOT_FOUND/value/error"),
                        "not_found");
}

/* -- references -------------------------------------------------------------------------------- */

static mishap_buffer referred; /* a line for each */
static bool is_referred(const char *reference)
{
    mishap_buffer_add(&referred, "", 1);
    referred.length--;
    return strstr(referred.data, reference) != NULL;
}

static void follow(yyjson_val *value)
{
    size_t index, count;
    yyjson_val *key, *member;
    if (yyjson_is_arr(value)) {
        yyjson_arr_foreach(value, index, count, member) follow(member);
        return;
    }
    yyjson_obj_foreach(value, index, count, key, member)
    {
        if (yyjson_equals_str(key, "$ref")) {
            const char *reference = yyjson_get_str(member);
            assert_memory_equal(reference, "#/components/", strlen("#/components/"));
            assert_non_null(at(reference + 1));
            mishap_buffer_add(&referred, reference, strlen(reference));
            mishap_buffer_add(&referred, "\n", 1);
        }
        follow(member);
    }
}

static void assert_all_referred(const char *kind)
{
    char pointer[64], line[256];
    size_t index, count;
    yyjson_val *key, *value;
    snprintf(pointer, sizeof pointer, "/components/%s", kind);
    yyjson_obj_foreach(at(pointer), index, count, key, value)
    {
        snprintf(line, sizeof line, "#/components/%s/%s\n", kind, yyjson_get_str(key));
        if (!is_referred(line))
            fail_msg("%s is not referred to", line);
    }
}

static void references_lead_somewhere_and_components_are_used(void **state)
{
    (void)state;
    static const mishap_operation none[] = { { 0 } };
    static const mishap_app empty = { "empty", NULL, NULL, .operations = none };
    const mishap_app *const apps[] = { &empty, &app, &todo };
    for (size_t i = 0; i < 6; i++) {
        describe((mishap_http_settings){
            .served = &(mishap_served){ .app = apps[i / 2], .chaos = i % 2 },
            .rate = i % 2,
            .key_required = i % 2 });
        mishap_buffer_reset(&referred);
        follow(at(""));
        assert_all_referred("responses");
        assert_all_referred("schemas");
        assert_all_referred("headers");
    }
    mishap_buffer_release(&referred);
}

static void every_route_of_the_service_is_there(void **state)
{
    (void)state;
    size_t described = 0, routed = 0, index, count;
    yyjson_val *key, *path;
    describe((mishap_http_settings){ .served = &(mishap_served){ .app = &todo, .chaos = true } });
    yyjson_obj_foreach(at("/paths"), index, count, key, path) described += yyjson_obj_size(path);
    for (const mishap_operation *o = todo_operations; o->name; o++)
        routed += o->route != NULL;
    for (const mishap_http_endpoint *e = mishap_http_endpoints; e->route; e++)
        routed++;
    for (const mishap_operation *o = mishap_http_described_tasks(todo_operations); o->name; o++)
        routed++;
    assert_int_equal(described, routed);
}

/* -- the catalog ------------------------------------------------------------------------------- */

static bool read_code(const char *name, size_t length)
{
    mishap_buffer buffer = { 0 };
    bool found = mishap_http_put_code(&buffer, (mishap_text){ name, length });
    if (found)
        read_document(&buffer);
    else
        assert_int_equal(buffer.length, 0);
    mishap_buffer_release(&buffer);
    return found;
}

static void a_code_is_found_by_any_spelling(void **state)
{
    (void)state;
    static const char *const spellings[] = { "NOT_FOUND", "not_found",   "NOT-FOUND", "Not%20Found",
                                             "NotFound",  "not%2Dfound", "404" };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        assert_true(read_code(spellings[i], strlen(spellings[i])));
        assert_string_equal(string_at("/code"), "NOT_FOUND");
    }
    assert_string_equal(string_at("/category"), "resource");
    assert_int_equal(yyjson_get_int(at("/http_status")), 404);
    assert_int_equal(yyjson_get_int(at("/exit_code")), 5);
    assert_string_equal(string_at("/retry"), "fix");
    assert_string_equal(string_at("/spellings/http-api"), "not_found");
    assert_true(read_code("internal_server_error", 21));
    assert_string_equal(string_at("/code"), "INTERNAL_ERROR");
    assert_true(yyjson_is_null(at("/suggestion")));
    assert_true(read_code("RATE_LIMITED", 12));
    assert_int_equal(yyjson_get_int(at("/retry_after_ms")), 1000);
}

static void what_is_no_code_is_not_found(void **state)
{
    (void)state;
    char long_one[5000];
    memset(long_one, 'A', sizeof long_one);
    static const char *const names[] = {
        "", "NOPE", "%", "%zz", "40", "4040", "999", "/", "a%00b"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_false(read_code(names[i], strlen(names[i])));
    assert_false(read_code(long_one, sizeof long_one));
    assert_false(read_code("NOT_FOUND\0", 10));
    assert_false(read_code(NULL, 0));
}

static void all_codes_are_listed_in_their_order(void **state)
{
    (void)state;
    mishap_buffer buffer = { 0 };
    mishap_http_put_codes(&buffer);
    read_document(&buffer);
    mishap_buffer_release(&buffer);
    assert_int_equal(yyjson_arr_size(at("/codes")), mishap_code_table.count);
    assert_string_equal(string_at("/codes/0/code"), mishap_code_table.codes[0]->name.data);
}

/* -- memory ------------------------------------------------------------------------------------ */

static void put_openapi(mishap_buffer *buffer)
{
    mishap_http_put_openapi(
        buffer, &(mishap_http_settings){ .served = &(mishap_served){ .app = &todo }, .rate = 1 },
        mishap_http_endpoints);
}

static void assert_fails_without_memory(void (*put)(mishap_buffer *buffer), bool once)
{
    mishap_buffer whole = { 0 };
    put(&whole);
    mishap_use_allocator(&failing_allocator);
    fail_once = once;
    blocks = 0;
    for (fail_at = 1, calls = 1; calls >= fail_at; fail_at++) {
        mishap_buffer buffer = { 0 };
        calls = 0;
        put(&buffer);
        if (!buffer.failed) {
            assert_int_equal(buffer.length, whole.length);
            assert_memory_equal(buffer.data, whole.data, whole.length);
        }
        mishap_buffer_release(&buffer);
        assert_int_equal(blocks, 0);
    }
    mishap_use_allocator(NULL);
    mishap_buffer_release(&whole);
}

static void without_memory_a_document_is_whole_or_none(void **state)
{
    (void)state;
    assert_fails_without_memory(put_openapi, true);
    assert_fails_without_memory(put_openapi, false);
    assert_fails_without_memory(mishap_http_put_codes, true);
}

#define DOCUMENT_TEST(name) cmocka_unit_test_teardown(name, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOCUMENT_TEST(the_document_says_what_it_is_about),
        DOCUMENT_TEST(paths_have_their_operations),
        DOCUMENT_TEST(parameters_stand_where_they_are_read),
        DOCUMENT_TEST(a_body_has_all_that_is_not_in_the_path),
        DOCUMENT_TEST(answers_have_their_status_and_schema),
        DOCUMENT_TEST(keys_and_rates_show_where_they_matter),
        DOCUMENT_TEST(whatever_an_operation_may_raise_is_documented),
        DOCUMENT_TEST(codes_of_a_service_and_of_the_program_are_documented),
        DOCUMENT_TEST(examples_are_what_the_server_sends),
        DOCUMENT_TEST(references_lead_somewhere_and_components_are_used),
        DOCUMENT_TEST(every_route_of_the_service_is_there),
        DOCUMENT_TEST(a_code_is_found_by_any_spelling),
        DOCUMENT_TEST(what_is_no_code_is_not_found),
        DOCUMENT_TEST(all_codes_are_listed_in_their_order),
        DOCUMENT_TEST(without_memory_a_document_is_whole_or_none),
    };
    return RUN(tests);
}
