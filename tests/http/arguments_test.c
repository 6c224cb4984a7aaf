/* Path, query and body as one object. */
#include "http/wire/wire.h"
#include "operation/call.h"
#include "testing.h"

/* -- helpers ----------------------------------------------------------------------------------- */

static mishap *do_nothing(mishap_call *call)
{
    return mishap_answer(call, "{}");
}

static const char *const colours[] = { "red", "green", NULL };
static const mishap_param numbers = { "item", MISHAP_INTEGER, .help = "a number" };
static const mishap_param words = { "item", MISHAP_STRING, .help = "a word" };
static const mishap_param things = { "item", MISHAP_OBJECT, .help = "a thing" };
static const mishap_param lists = { "item", MISHAP_ARRAY, .items = &numbers };
static const mishap_param params[] = {
    { "id", MISHAP_STRING, .required = false },    { "age", MISHAP_INTEGER, .range = { 0, 150 } },
    { "ratio", MISHAP_NUMBER, .required = false }, { "live", MISHAP_BOOLEAN, .required = false },
    { "colour", MISHAP_ENUM, .choices = colours }, { "tags", MISHAP_ARRAY, .items = &words },
    { "counts", MISHAP_ARRAY, .items = &numbers }, { "things", MISHAP_ARRAY, .items = &things },
    { "rows", MISHAP_ARRAY, .items = &lists },     { "point", MISHAP_OBJECT, .required = false },
    { "token", MISHAP_STRING, .secret = true },    { 0 }
};
static const mishap_operation operation = { "things.change", "Change a thing", params, do_nothing,
                                            .route = "PUT /things/:id" };
static const mishap_app app = { .name = "sample", .operations = &operation };

/* What a caller sends. The first of `path` is the name of a parameter, the second its segment. */
struct sent {
    const char *path[2];
    const char *query, *type, *body;
};

static mishap_http_request request_of(const struct sent *sent)
{
    mishap_http_request request = { .query = mishap_text_of(sent->query),
                                    .body = mishap_text_of(sent->body) };
    request.fields[MISHAP_HTTP_CONTENT_TYPE] = mishap_text_of(
        sent->type || !sent->body ? sent->type : "application/json");
    return request;
}

static mishap *arguments_of(const struct sent *sent, mishap_buffer *object, mishap_text *arguments)
{
    mishap_http_request request = request_of(sent);
    mishap_http_match match = { 0 };
    if (sent->path[0]) {
        match.param_count = 1;
        match.params[0].name = sent->path[0];
        match.params[0].raw = mishap_text_of(sent->path[1]);
    }
    return mishap_http_arguments(&operation, &match, &request, object, arguments);
}

static void assert_arguments(const struct sent *sent, const char *expected)
{
    mishap_buffer object = { 0 };
    mishap_text arguments = { NULL, 0 };
    mishap *m = arguments_of(sent, &object, &arguments);
    if (m)
        fail_msg("%s %s: %s", sent->query, sent->body, mishap_public_message(mishap_told(m)).data);
    if (!mishap_text_equal(arguments, mishap_text_of(expected)))
        fail_msg("%s\nis not %.*s", expected, (int)arguments.length, arguments.data);
    mishap_buffer_release(&object);
}

#define FROM_QUERY(query, expected)                                                                \
    assert_arguments(&(struct sent){ { NULL, NULL }, query, NULL, NULL }, expected)
#define FROM_PATH(name, segment, expected)                                                         \
    assert_arguments(&(struct sent){ { name, segment }, NULL, NULL, NULL }, expected)

static void assert_told(const mishap *m, const char *key, mishap_value expected)
{
    for (const mishap_member *member = mishap_told(m)->context; member; member = member->next) {
        if (!mishap_text_equal(member->key, mishap_text_of(key)))
            continue;
        if (expected.kind == MISHAP_KIND_TEXT)
            assert_true(mishap_text_equal(member->value.text, expected.text));
        else
            assert_true(member->value.natural == expected.natural);
        return;
    }
    fail_msg("%s was not told", key);
}

/* BAD_REQUEST in these words. */
static void assert_refused(const struct sent *sent, const char *message, const char *parameter)
{
    mishap_buffer object = { 0 };
    mishap_text arguments;
    mishap *m = arguments_of(sent, &object, &arguments);
    if (!m)
        fail_msg("taken: %.*s", (int)arguments.length, arguments.data);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_BAD_REQUEST);
    assert_string_equal(mishap_public_message(mishap_told(m)).data, message);
    if (parameter)
        assert_told(m, "parameter", mishap_value_of_string(parameter));
    mishap_free(m);
    mishap_buffer_release(&object);
}

#define QUERY_REFUSED(query, message, parameter)                                                   \
    assert_refused(&(struct sent){ { NULL, NULL }, query, NULL, NULL }, message, parameter)

#define UNSOUND_END                                                                                \
    " is JSON that has a duplicate key, a NUL character in a key, half of a surrogate pair, or "   \
    "too many nested levels."
#define UNSOUND "The parameter `point` in the query" UNSOUND_END

/* The arguments are made, and the call refuses them with these words. */
static mishap *refused_by_call(const struct sent *sent, const char *message)
{
    mishap_buffer object = { 0 };
    mishap_text arguments;
    mishap_call *call = NULL;
    mishap *m = arguments_of(sent, &object, &arguments);
    assert_null(m);
    m = mishap_call_begin(&app, &operation, arguments, &call);
    if (!m)
        fail_msg("taken: %.*s", (int)arguments.length, arguments.data);
    if (!strstr(mishap_public_message(mishap_told(m)).data, message))
        fail_msg("%s", mishap_public_message(mishap_told(m)).data);
    assert_null(call);
    mishap_buffer_release(&object);
    return m;
}

/* -- the body alone ---------------------------------------------------------------------------- */

static void a_body_alone_is_taken_as_it_is(void **state)
{
    (void)state;
    static const char *const bodies[] = { " {\"age\": 7 }\n", "{", "[1,2]", "null", "{}", "  " };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct sent sent = { .body = bodies[i] };
        mishap_http_request request = request_of(&sent);
        mishap_http_match match = { 0 };
        mishap_buffer object = { 0 };
        mishap_text arguments;
        assert_null(mishap_http_arguments(&operation, &match, &request, &object, &arguments));
        assert_ptr_equal(arguments.data, bodies[i]);
        assert_int_equal(arguments.length, strlen(bodies[i]));
        assert_null(object.data); /* nothing was copied */
        /* A query that means nothing to the operation changes nothing. */
        request.query = T("utm=1&x=%C3%A4&&=");
        assert_null(mishap_http_arguments(&operation, &match, &request, &object, &arguments));
        assert_ptr_equal(arguments.data, bodies[i]);
        mishap_buffer_release(&object);
    }
}

static void nothing_at_all_is_an_empty_object(void **state)
{
    (void)state;
    assert_arguments(&(struct sent){ .query = NULL }, "{}");
    assert_arguments(&(struct sent){ .query = "" }, "{}");
    assert_arguments(&(struct sent){ .body = "" }, "{}");
    assert_arguments(&(struct sent){ .query = "&", .type = "text/html" }, "{}");
    assert_arguments(&(struct sent){ .query = "unknown=1" }, "{}");
}

static void a_body_that_is_no_object_is_refused_with_its_place(void **state)
{
    (void)state;
    mishap *m = refused_by_call(&(struct sent){ .body = "{\n \"age\": ,}" },
                                "At line 2, column 9: This is not JSON: ");
    assert_told(m, "line", mishap_value_of_uint(2));
    mishap_free(m);
    /* The place is the same if there is more than a body. */
    m = refused_by_call(&(struct sent){ { "id", "7" }, "age=1", NULL, "{\n \"age\": ,}" },
                        "At line 2, column 9: This is not JSON: ");
    assert_told(m, "column", mishap_value_of_uint(9));
    mishap_free(m);
    static const char *const others[] = { "[]", "7", "null", "\"{}\"", "true" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        mishap_free(refused_by_call(&(struct sent){ { "id", "7" }, NULL, NULL, others[i] },
                                    "must be a JSON object"));
        mishap_free(refused_by_call(&(struct sent){ .body = others[i] }, "must be a JSON object"));
    }
}

/* -- content types ----------------------------------------------------------------------------- */

static void json_goes_by_several_names(void **state)
{
    (void)state;
    static const char *const types[] = {
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "application/json ; x=\"y\"",
        "Application/JSON",
        "application/problem+json",
        "application/vnd.api+json",
        "application/merge-patch+json; charset=utf-8",
        "application/json;",
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        assert_arguments(&(struct sent){ .type = types[i], .body = "{}" }, "{}");
}

static void other_content_types_are_refused(void **state)
{
    (void)state;
    static const char *const types[] = {
        "text/plain",
        "text/json",
        "application/jsonp",
        "application/x-www-form-urlencoded",
        "application/+json",
        "application/",
        "application",
        "json",
        "application/json, text/plain",
        "application/json application/json",
        "application/ json",
        "application/xjson",
        "application/x/y+json",
        "*/*",
        "application/*+json",
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char message[200];
        if (strpbrk(types[i], ", "))
            snprintf(message, sizeof message,
                     "The body must be application/json, but the request "
                     "has another Content-Type.");
        else
            snprintf(message, sizeof message,
                     "The body must be application/json, but it is sent as %s.", types[i]);
        assert_refused(&(struct sent){ .type = types[i], .body = "{}" }, message, NULL);
        assert_refused(&(struct sent){ { "id", "7" }, "age=1", types[i], "{}" }, message, NULL);
    }
    assert_refused(&(struct sent){ .type = "", .body = "{}" },
                   "The body must be application/json, but the request has no Content-Type.", NULL);
    mishap_http_request bare = { .body = MISHAP_TEXT("{}") };
    mishap_http_match match = { 0 };
    mishap_buffer object = { 0 };
    mishap_text arguments;
    mishap *m = mishap_http_arguments(&operation, &match, &bare, &object, &arguments);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_BAD_REQUEST);
    mishap_free(m);
}

static void a_hostile_content_type_is_not_told_back(void **state)
{
    (void)state;
    static const char expected[] =
        "The body must be application/json, but the request has another Content-Type.";
    char type[10000];
    memset(type, 'x', sizeof type - 1);
    type[sizeof type - 1] = '\0';
    assert_refused(&(struct sent){ .type = type, .body = "{}" }, expected, NULL);
    memcpy(type, "application/", 12);
    memcpy(type + sizeof type - 6, "+json", 5);
    assert_refused(&(struct sent){ .type = type, .body = "{}" }, expected, NULL);
    memcpy(type + 127 - 5, "+json", 5); /* where reading ends, but not the type */
    assert_refused(&(struct sent){ .type = type, .body = "{}" }, expected, NULL);
    assert_refused(&(struct sent){ .type = "a\x1b[31m\xff/\tb", .body = "{}" }, expected, NULL);
    assert_refused(&(struct sent){ .type = "Traceback (most recent call last):", .body = "{}" },
                   expected, NULL);
    assert_refused(
        &(struct sent){ .type = "multipart/form-data; boundary=application/json", .body = "{}" },
        "The body must be application/json, but it is sent as multipart/form-data.", NULL);
}

/* -- values ------------------------------------------------------------------------------------ */

static void a_value_becomes_what_its_parameter_is_declared_as(void **state)
{
    (void)state;
    FROM_PATH("id", "7", "{\"id\":\"7\"}");
    FROM_PATH("age", "7", "{\"age\":7}");
    FROM_PATH("id", "a%20b+c%2Fd", "{\"id\":\"a b+c/d\"}"); /* + is a space in a query only */
    FROM_PATH("id", "%22%5C%0A", "{\"id\":\"\\\"\\\\\\n\"}");
    FROM_QUERY("age=7", "{\"age\":7}");
    FROM_QUERY("ratio=-1.50e-3&live=true&colour=red",
               "{\"ratio\":-1.50e-3,\"live\":true,\"colour\":\"red\"}");
    FROM_QUERY("id=a+b%2Bc", "{\"id\":\"a b+c\"}");
    FROM_QUERY("id=%C3%A4%F0%9F%98%80", "{\"id\":\"\xC3\xA4\xF0\x9F\x98\x80\"}");
    FROM_QUERY("id", "{\"id\":\"\"}");
    FROM_QUERY("id=", "{\"id\":\"\"}");
    FROM_QUERY("id==a=b", "{\"id\":\"=a=b\"}");
    FROM_QUERY("&&id=x&&", "{\"id\":\"x\"}");
    FROM_QUERY("%69d=x", "{\"id\":\"x\"}");
    FROM_QUERY("id=7;age=8", "{\"id\":\"7;age=8\"}");
    FROM_QUERY("id=null", "{\"id\":\"null\"}");
    FROM_QUERY("ID=7&i=1&idd=2&+id=3", "{}");
}

static void only_integers_as_json_has_them_are_integers(void **state)
{
    (void)state;
    static const char *const integers[] = {
        "0", "-1", "9007199254740993", "-9223372036854775808", "18446744073709551616", "100"
    };
    static const char *const others[] = { "",    "-",    "007", "-0",   "+1",  "1.0",
                                          "1e3", "0x10", "1 ",  "--1",  "1_0", "NaN",
                                          "١",   "1,0",  "-01", "true", "null" };
    char query[100], expected[100];
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        snprintf(query, sizeof query, "age=%s", integers[i]);
        snprintf(expected, sizeof expected, "{\"age\":%s}", integers[i]);
        FROM_QUERY(query, expected);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strchr(others[i], '+'))
            continue;
        snprintf(query, sizeof query, "age=%s", others[i]);
        snprintf(expected, sizeof expected, "{\"age\":\"%s\"}", others[i]);
        FROM_QUERY(query, expected);
    }
    FROM_QUERY("age=%2B1", "{\"age\":\"+1\"}");
    FROM_QUERY("age=+1", "{\"age\":\" 1\"}");
}

static void numbers_follow_the_grammar_of_json(void **state)
{
    (void)state;
    static const char *const fine[] = { "0",   "-0",   "1.5",     "-0.0", "1e5",
                                        "1E5", "1e-5", "12.5e07", "1e999" };
    static const char *const others[] = {
        "",   "-",   ".5", "1.", "1.e5", "01.5", "1e",    "1e-",
        "e5", "0x1", "1f", "1 ", "inf",  "NaN",  "1.5.5", "1e5.0"
    };
    char query[100], expected[100];
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        snprintf(query, sizeof query, "ratio=%s", fine[i]);
        snprintf(expected, sizeof expected, "{\"ratio\":%s}", fine[i]);
        FROM_QUERY(query, expected);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(query, sizeof query, "ratio=%s", others[i]);
        snprintf(expected, sizeof expected, "{\"ratio\":\"%s\"}", others[i]);
        FROM_QUERY(query, expected);
    }
    FROM_QUERY("ratio=1e%2B5", "{\"ratio\":1e+5}");
}

static void a_boolean_may_stand_alone(void **state)
{
    (void)state;
    FROM_QUERY("live", "{\"live\":true}");
    FROM_QUERY("live=", "{\"live\":true}");
    FROM_QUERY("live=false", "{\"live\":false}");
    FROM_QUERY("live=TRUE", "{\"live\":\"TRUE\"}");
    FROM_QUERY("live=1", "{\"live\":\"1\"}");
}

static void an_array_takes_all_that_go_by_its_name(void **state)
{
    (void)state;
    FROM_QUERY("tags=a", "{\"tags\":[\"a\"]}");
    FROM_QUERY("tags=a&age=1&tags=b&tags=[c]&tags=", "{\"tags\":[\"a\",\"b\",\"[c]\",\"\"],"
                                                     "\"age\":1}");
    FROM_QUERY("counts=1&counts=02&counts=-3", "{\"counts\":[1,\"02\",-3]}");
    FROM_QUERY("counts=1&tags=1&counts=2&tags=2", "{\"counts\":[1,2],\"tags\":[\"1\",\"2\"]}");
    FROM_QUERY("things=%7B%22a%22:1%7D%0A&things={}&things=[]", "{\"things\":[{\"a\":1},{},[]]}");
    FROM_QUERY("rows=[1,2]&rows=%20[]%20&rows={}", "{\"rows\":[[1,2],[],\"{}\"]}");
}

static void an_object_may_be_written_as_json(void **state)
{
    (void)state;
    FROM_QUERY("point={\"x\":1}", "{\"point\":{\"x\":1}}");
    FROM_QUERY("point=%0A{}%20%0A&age=1", "{\"point\":{},\"age\":1}");
    FROM_QUERY("point={\"x\":1", "{\"point\":\"{\\\"x\\\":1\"}");
    FROM_QUERY("point={}{}", "{\"point\":\"{}{}\"}");
    FROM_QUERY("point=[1]", "{\"point\":[1]}"); /* the checks refuse it as an array */
    FROM_QUERY("point", "{\"point\":\"\"}");
    FROM_QUERY("point=%20", "{\"point\":\" \"}");
    FROM_QUERY("point=%00{}", "{\"point\":\"\\u0000{}\"}");
    QUERY_REFUSED("point={\"a\":1,\"a\":2}", UNSOUND, "point");
    QUERY_REFUSED("point={\"a\":\"\\ud800\"}", UNSOUND, "point");
    QUERY_REFUSED("point={\"a\\u0000\":1}", UNSOUND, "point");
    assert_refused(
        &(struct sent){ { NULL, NULL }, "things={\"a\":1,\"a\":2}", NULL, "{\"age\":1}" },
        "The parameter `things` in the query" UNSOUND_END, "things");
}

/* -- together ---------------------------------------------------------------------------------- */

static void path_query_and_body_become_one_object(void **state)
{
    (void)state;
    assert_arguments(&(struct sent){ { "id", "7" }, "age=8", NULL, NULL },
                     "{\"id\":\"7\",\"age\":8}");
    assert_arguments(&(struct sent){ { "id", "7" }, NULL, NULL, " {\"age\" : 8, \"x\":[]}\n" },
                     "{\"id\":\"7\",\"age\" : 8, \"x\":[]}\n");
    assert_arguments(&(struct sent){ { "id", "7" }, NULL, NULL, "{ }" }, "{\"id\":\"7\" }");
    assert_arguments(&(struct sent){ { "id", "7" }, NULL, NULL, "" }, "{\"id\":\"7\"}");
    assert_arguments(&(struct sent){ { NULL, NULL }, "tags=a&tags=b", NULL, "{\"age\":8}" },
                     "{\"tags\":[\"a\",\"b\"],\"age\":8}");
    assert_arguments(&(struct sent){ { "id", "7" }, "point={}%0A", NULL, "{\"age\":8}" },
                     "{\"id\":\"7\",\"point\":{},\"age\":8}");
}

static void the_same_value_in_two_places_is_fine(void **state)
{
    (void)state;
    struct sent sent = { { "age", "7" }, "age=7", NULL, NULL };
    assert_arguments(&sent, "{\"age\":7}");
    sent.body = "{\"age\":7,\"id\":\"x\"}";
    assert_arguments(&sent, "{\"age\":7,\"id\":\"x\"}");
    sent.body = "{\"age\":\"7\",\"id\":\"x\"}";
    assert_arguments(&sent, "{\"age\":7,\"id\":\"x\"}");
    sent.body = "{\"id\":\"x\",\"age\":null}";
    assert_arguments(&sent, "{\"age\":7,\"id\":\"x\"}");
    sent.body = "{\"\\u0061ge\":7}";
    assert_arguments(&sent, "{\"age\":7}");
    sent = (struct sent){ { "id", "7" }, NULL, NULL, "{\"id\":7,\"n\":1}" };
    assert_arguments(&sent, "{\"id\":\"7\",\"n\":1}");
    sent = (struct sent){ { "id", "a%20b" }, "id=a+b", NULL, "{\"id\":\"a b\"}" };
    assert_arguments(&sent, "{\"id\":\"a b\"}");
    sent = (struct sent){
        { NULL, NULL }, "ratio=1.50&live", NULL, "{\"ratio\":1.5,\"live\":true}"
    };
    assert_arguments(&sent, "{\"ratio\":1.50,\"live\":true}");
    sent = (struct sent){
        { NULL, NULL }, "tags=a&tags=b", NULL, "{\"tags\":[\"a\",\"b\"],\"n\":1}"
    };
    assert_arguments(&sent, "{\"tags\":[\"a\",\"b\"],\"n\":1}");
    sent = (struct sent){
        { NULL, NULL }, "point={\"a\":1,\"b\":[]}", NULL, "{\"point\":{\"b\":[],\"a\":1}}"
    };
    assert_arguments(&sent, "{\"point\":{\"a\":1,\"b\":[]}}");
    sent = (struct sent){ { NULL, NULL },
                          "age=18446744073709551616",
                          NULL,
                          "{\"age\":18446744073709551616,\"n\":36893488147419103232}" };
    assert_arguments(&sent, "{\"age\":18446744073709551616,\"n\":36893488147419103232}");
}

static void different_values_in_two_places_are_refused(void **state)
{
    (void)state;
    assert_refused(&(struct sent){ { "id", "7" }, "id=8", NULL, NULL },
                   "The parameter `id` has different values in the path and in the query.", "id");
    assert_refused(
        &(struct sent){ { "id", "7" }, NULL, NULL, "{\"id\":\"8\"}" },
        "At line 1, column 7: The parameter `id` has different values in the path and in the body.",
        "id");
    assert_refused(&(struct sent){ { NULL, NULL }, "age=7", NULL, "{\"age\":8}" },
                   "At line 1, column 8: The parameter `age` has different values in the query and "
                   "in the body.",
                   "age");
    assert_refused(&(struct sent){ { NULL, NULL }, "tags=a", NULL, "{\"tags\":[\"a\",\"b\"]}" },
                   "At line 1, column 9: The parameter `tags` has different values in the query "
                   "and in the body.",
                   "tags");
    static const char *const bodies[] = { "{\"age\":7.0}",  "{\"age\":[7]}",    "{\"age\":{}}",
                                          "{\"age\":true}", "{\"age\":\"07\"}", "{\"age\":\"\"}" };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_refused(&(struct sent){ { NULL, NULL }, "age=7", NULL, bodies[i] },
                       "At line 1, column 8: The parameter `age` has different values in the query "
                       "and in the body.",
                       "age");
    mishap_buffer object = { 0 };
    mishap_text arguments;
    mishap *m = arguments_of(&(struct sent){ { "id", "7" }, NULL, NULL, "{\n  \"id\": 8}" },
                             &object, &arguments);
    assert_told(m, "line", mishap_value_of_uint(2));
    assert_told(m, "column", mishap_value_of_uint(9));
    mishap_free(m);
    mishap_buffer_release(&object);
}

static void a_name_stands_once_in_the_query(void **state)
{
    (void)state;
    QUERY_REFUSED("age=1&age=2", "The parameter `age` in the query was given twice.", "age");
    QUERY_REFUSED("age=1&age=1", "The parameter `age` in the query was given twice.", "age");
    QUERY_REFUSED("age=1&%61ge=1", "The parameter `age` in the query was given twice.", "age");
    QUERY_REFUSED("point={}&point={}", "The parameter `point` in the query was given twice.",
                  "point");
}

static void a_flaw_of_the_body_is_found_in_any_company(void **state)
{
    (void)state;
    static const struct {
        const char *body, *words;
    } flawed[] = {
        { "{\"id\":\"7\",\"id\":\"7\"}",
          "At line 1, column 11: The object has the key `id` twice" },
        { "{\"id\":\"7\",\n\"id\":\"8\"}",
          "At line 2, column 1: The object has the key `id` twice" },
        { "{\"x\":1,\"x\":1}", "At line 1, column 8: The object has the key `x` twice" },
        { "{\"x\":1,\"y\":1,\"x\":1,\"x\":2}",
          "At line 1, column 14: The object has the key `x` twice" },
        { "{\"id\":\"7\",\"x\":{\"y\":1,\"y\":2}}",
          "At line 1, column 22: The object has the key `y` twice" },
        { "{\"x\":[0,{\"\":1,\"\":2}]}", "At line 1, column 15: The object has the key `` twice" },
        { "{\"a\\u001b\":1,\"a\\u001b\":1}",
          "At line 1, column 14: An object has a duplicate key." },
        { "{\"id\":\"7\",\"x\\u0000\":1}",
          "At line 1, column 11: A key contains a NUL character." },
        { "{\"x\\u0000\":1}", "At line 1, column 2: A key contains a NUL character." },
        { "{\"id\":\"7\",\"x\":\"\\ud800\"}", "At line 1, column 16: A string contains half" },
        { "{\"x\":\"\\ud800\"}",
          "At line 1, column 7: A string contains half of a surrogate pair" },
        { " \n[1]", "At line 2, column 1: This must be a JSON object, but it is an array." },
    };
    for (size_t i = 0; i < sizeof flawed / sizeof *flawed; i++) {
        mishap_free(refused_by_call(&(struct sent){ .body = flawed[i].body }, flawed[i].words));
        mishap_free(refused_by_call(&(struct sent){ { "id", "7" }, NULL, NULL, flawed[i].body },
                                    flawed[i].words));
        mishap_free(refused_by_call(&(struct sent){ { NULL, NULL }, "age=1", NULL, flawed[i].body },
                                    flawed[i].words));
    }
}

/* -- what is not text -------------------------------------------------------------------------- */

static void broken_escapes_are_refused(void **state)
{
    (void)state;
    static const char *const broken[] = { "%",   "%4",   "a%",   "a%4", "%zz",
                                          "%4g", "%%41", "% 41", "%-1" };
    char query[100];
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        assert_refused(&(struct sent){ { "id", broken[i] }, NULL, NULL, NULL },
                       "The parameter `id` in the path has a % that is not followed by two "
                       "hexadecimal digits.",
                       "id");
        snprintf(query, sizeof query, "age=%s", broken[i]);
        QUERY_REFUSED(query,
                      "The parameter `age` in the query has a % that is not followed by two "
                      "hexadecimal digits.",
                      "age");
        snprintf(query, sizeof query, "x=1&%s=1", broken[i]);
        QUERY_REFUSED(query, "The query has a % that is not followed by two hexadecimal digits.",
                      NULL);
        snprintf(query, sizeof query, "unknown=%s", broken[i]);
        QUERY_REFUSED(query, "The query has a % that is not followed by two hexadecimal digits.",
                      NULL);
    }
}

static void text_that_is_not_utf8_is_refused(void **state)
{
    (void)state;
    /* A lead byte alone, overlong forms, a surrogate, beyond Unicode, a byte that never occurs. */
    static const char *const broken[] = { "%C3",          "%C0%AF",      "%E0%80%AF", "%ED%A0%80",
                                          "%F4%90%80%80", "%FF",         "\xC0\xAF",  "\xE4",
                                          "a%80",         "%F0%80%80%AF" };
    char query[100];
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        assert_refused(&(struct sent){ { "id", broken[i] }, NULL, NULL, NULL },
                       "The parameter `id` in the path is not valid UTF-8.", "id");
        snprintf(query, sizeof query, "id=%s", broken[i]);
        QUERY_REFUSED(query, "The parameter `id` in the query is not valid UTF-8.", "id");
        snprintf(query, sizeof query, "%s=1", broken[i]);
        QUERY_REFUSED(query, "The query is not valid UTF-8.", NULL);
    }
}

/* Wherever it comes from, what is wrong with it is for the checks to say; only names have none. */
static void a_nul_is_found_by_the_checks(void **state)
{
    (void)state;
    FROM_PATH("id", "a%00b", "{\"id\":\"a\\u0000b\"}");
    FROM_QUERY("id=%00", "{\"id\":\"\\u0000\"}");
    FROM_QUERY("age=7%00", "{\"age\":\"7\\u0000\"}");
    FROM_QUERY("tags=%00&tags=b", "{\"tags\":[\"\\u0000\",\"b\"]}");
    QUERY_REFUSED("a%00ge=1", "The query has a name that contains a NUL character.", NULL);
    static const struct sent sent[] = {
        { { "id", "a%00b" }, NULL, NULL, NULL },
        { { NULL, NULL }, "id=a%00b", NULL, NULL },
        { { NULL, NULL }, NULL, NULL, "{\"id\":\"a\\u0000b\"}" },
    };
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        mishap *m = refused_by_call(&sent[i], "fields are not valid");
        const mishap_field *wrong = mishap_told(m)->fields;
        assert_true(mishap_text_equal(wrong->error, T("pattern_mismatch")));
        assert_true(mishap_text_equal(wrong->field, T("id")));
        mishap_free(m);
    }
}

/* -- content encodings ------------------------------------------------------------------------- */

static void a_packed_body_is_not_taken(void **state)
{
    (void)state;
    static const struct {
        const char *coding;
        bool taken;
    } codings[] = { { "gzip", false },    { "br", false }, { "gzip, identity", false },
                    { "identity", true }, { "", true },    { NULL, true },
                    { "Identity", true } };
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++) {
        struct sent sent = { .body = "{}" };
        mishap_http_request request = request_of(&sent);
        mishap_http_match match = { 0 };
        mishap_buffer object = { 0 };
        mishap_text arguments;
        request.fields[MISHAP_HTTP_CONTENT_ENCODING] = mishap_text_of(codings[i].coding);
        mishap *m = mishap_http_arguments(&operation, &match, &request, &object, &arguments);
        assert_int_equal(m == NULL, codings[i].taken);
        if (m) {
            assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_BAD_REQUEST);
            assert_non_null(strstr(mishap_public_message(mishap_told(m)).data, "Content-Encoding"));
        }
        mishap_free(m);
        request.body = (mishap_text){ NULL, 0 }; /* nothing is packed */
        assert_null(mishap_http_arguments(&operation, &match, &request, &object, &arguments));
    }
}

static void a_body_that_is_taken_as_bytes_is_no_argument(void **state)
{
    (void)state;
    static const mishap_operation taking = { "things.load",
                                             "Load things",
                                             params,
                                             do_nothing,
                                             .route = "PUT /things/:id",
                                             .takes = "text/csv, image/*" };
    static const struct {
        const char *type, *body, *expected;
        bool bytes;
    } cases[] = {
        { "text/csv", "a,b", "{\"age\":7}", true },
        { "TEXT/CSV; charset=utf-8", "{\"live\":true}", "{\"age\":7}", true },
        { "image/png", "\x89PNG", "{\"age\":7}", true },
        { "application/json", "{\"live\":true}", "{\"age\":7,\"live\":true}", false },
        { "text/html", "a", NULL, false },
        { "text", "a", NULL, false },
        { NULL, "a", NULL, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_http_request request = { .query = MISHAP_TEXT("age=7"),
                                        .body = mishap_text_of(cases[i].body) };
        mishap_http_match match = { 0 };
        mishap_buffer object = { 0 };
        mishap_text arguments;
        request.fields[MISHAP_HTTP_CONTENT_TYPE] = mishap_text_of(cases[i].type);
        mishap *m = mishap_http_arguments(&taking, &match, &request, &object, &arguments);
        assert_int_equal(mishap_http_has_bytes(&taking, &request), cases[i].bytes);
        if (cases[i].expected) {
            assert_null(m);
            assert_true(mishap_text_equal(arguments, mishap_text_of(cases[i].expected)));
        } else {
            assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_UNSUPPORTED_MEDIA_TYPE);
            assert_told(m, "takes", mishap_value_of_string("text/csv, image/*"));
        }
        mishap_free(m);
        mishap_buffer_release(&object);
    }
}

static void a_secret_is_for_the_body(void **state)
{
    (void)state;
    QUERY_REFUSED("token=abc",
                  "The parameter `token` is secret and must not be sent in the query, because logs "
                  "contain it. Send the parameter in the body.",
                  "token");
    assert_refused(&(struct sent){ { "token", "abc" }, NULL, NULL, NULL },
                   "The parameter `token` is secret and must not be sent in the path, because logs "
                   "contain it. Send the parameter in the body.",
                   "token");
    assert_arguments(&(struct sent){ { "id", "7" }, NULL, NULL, "{\"token\":\"abc\"}" },
                     "{\"id\":\"7\",\"token\":\"abc\"}");
}

/* -- too much ---------------------------------------------------------------------------------- */

static void a_query_has_so_many_parameters_at_most(void **state)
{
    (void)state;
    mishap_buffer query = { 0 }, expected = { 0 };
    MISHAP_PUT(&expected, "{\"counts\":[");
    for (size_t i = 0; i < 256; i++) {
        MISHAP_PUT(&query, "&counts=1");
        mishap_buffer_put(&expected, i ? ",1" : "1", i ? 2 : 1);
    }
    MISHAP_PUT(&expected, "]}");
    mishap_buffer_put_char(&expected, '\0');
    mishap_buffer_put_char(&query, '\0');
    FROM_QUERY(query.data, expected.data);
    query.length--;
    MISHAP_PUT(&query, "&x");
    mishap_buffer_put_char(&query, '\0');
    QUERY_REFUSED(query.data, "The query has more than 256 parameters.", NULL);
    mishap_buffer_release(&query);
    mishap_buffer_release(&expected);
}

static void long_queries_are_read_in_one_go(void **state)
{
    (void)state;
    enum { SIZE = 100000 };
    char *query = malloc(SIZE + 1), *expected = malloc(SIZE + 100);
    query[SIZE] = '\0';
    memset(query, '&', SIZE);
    FROM_QUERY(query, "{}");
    memset(query, 'a', SIZE);
    FROM_QUERY(query, "{}");
    memset(query, '+', SIZE);
    memcpy(query, "id=", 3);
    memcpy(expected, "{\"id\":\"", 7);
    memset(expected + 7, ' ', SIZE - 3);
    memcpy(expected + 7 + SIZE - 3, "\"}", 3);
    FROM_QUERY(query, expected);
    memset(query, '=', SIZE);
    FROM_QUERY(query, "{}");
    for (size_t i = 0; i < SIZE; i++)
        query[i] = "a&"[i % 2];
    QUERY_REFUSED(query, "The query has more than 256 parameters.", NULL);
    memset(query, '%', SIZE);
    QUERY_REFUSED(query, "The query has a % that is not followed by two hexadecimal digits.", NULL);
    memset(query, '7', SIZE);
    memcpy(query, "age=", 4);
    snprintf(expected, SIZE + 100, "{\"age\":%s}", query + 4);
    FROM_QUERY(query, expected);
    free(query);
    free(expected);
}

/* Values with escapes need memory of their own, which must not move under those before. */
static void many_long_values_stay_what_they_are(void **state)
{
    (void)state;
    enum { VALUES = 20, LENGTH = 500 };
    mishap_buffer query = { 0 }, expected = { 0 };
    MISHAP_PUT(&expected, "{\"tags\":[");
    for (size_t i = 0; i < VALUES; i++) {
        char letter = (char)('A' + i), escape[4];
        snprintf(escape, sizeof escape, "%%%02X", (unsigned)letter);
        MISHAP_PUT(&query, "&tags=");
        mishap_buffer_put(&expected, i ? ",\"" : "\"", i ? 2 : 1);
        for (size_t c = 0; c < LENGTH; c++) {
            mishap_buffer_put(&query, escape, 3);
            mishap_buffer_put_char(&expected, letter);
        }
        MISHAP_PUT(&expected, "\"");
    }
    MISHAP_PUT(&expected, "]}");
    mishap_buffer_put_char(&expected, '\0');
    mishap_buffer_put_char(&query, '\0');
    FROM_QUERY(query.data, expected.data);
    mishap_buffer_release(&query);
    mishap_buffer_release(&expected);
}

/* A hundred thousand brackets, in the body and in the query, with and without a second place. */
static void deep_nesting_is_refused(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    static const char *const heads[] = { "{\"id\":\"7\",\"x\":", "{\"x\":", "{\"id\":" };
    char *body = malloc(DEEP * 2 + 100);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t head = strlen(heads[i]);
        memcpy(body, heads[i], head);
        memset(body + head, '[', DEEP);
        memset(body + head + DEEP, ']', DEEP);
        memcpy(body + head + 2 * DEEP, "}", 2);
        char place[100];
        snprintf(place, sizeof place,
                 "At line 1, column %zu: Values are nested more than 128 levels deep.", head + 128);
        mishap_free(refused_by_call(&(struct sent){ { "id", "7" }, NULL, NULL, body }, place));
    }
    memcpy(body, "point={\"x\":", 11);
    memset(body + 11, '[', DEEP);
    memset(body + 11 + DEEP, ']', DEEP);
    memcpy(body + 11 + 2 * DEEP, "}", 2);
    QUERY_REFUSED(body, UNSOUND, "point");
    assert_refused(&(struct sent){ { NULL, NULL }, body, NULL, "{\"point\":{\"x\":[[1]]}}" },
                   UNSOUND, "point");
    memset(body, '[', DEEP);
    body[DEEP] = '\0';
    mishap_free(refused_by_call(&(struct sent){ { "id", "7" }, NULL, NULL, body }, "not JSON"));
    free(body);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum { SIZE = 3000 };
    char *query = malloc(SIZE + 1), *body = malloc(SIZE + 100);
    memset(query, '+', SIZE);
    memcpy(query, "point={\"a\":1}&things={}&counts=1&ratio=1.5&id=", 46);
    query[SIZE] = '\0';
    int length = snprintf(body, 100,
                          "{\"ratio\":\"1.5\",\"counts\":[1],\"point\":{\"a\":1},"
                          "\"rest\":\"");
    memset(body + length, 'x', SIZE);
    memcpy(body + length + SIZE, "\"}", 3);
    char digits[300], same[400];
    memset(digits, '7', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    snprintf(same, sizeof same, "{\"age\":\"%s\"}", digits);
    const struct sent sent[] = {
        { { "age", digits }, NULL, NULL, same },
        { { "age", "7" }, query, NULL, body },
        { { "age", "7" }, "tags=a", NULL, body },
        { { "age", "7" }, query, NULL, NULL },
    };
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        for (int once = 0; once < 2; once++) {
            bool done = false;
            for (size_t at = 1; !done; at++) {
                mishap_buffer object = { 0 };
                mishap_text arguments;
                calls = 0, blocks = 0, fail_at = at, fail_once = once;
                mishap *m = arguments_of(&sent[i], &object, &arguments);
                done = calls < at;
                if (!done && !once)
                    assert_non_null(m);
                if (m)
                    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
                fail_at = 0;
                mishap_free(m);
                mishap_buffer_release(&object);
                assert_int_equal(blocks, 0);
                assert_true(at < 100);
            }
        }
    }
    fail_at = 0;
    mishap_use_allocator(NULL);
    free(query);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_body_alone_is_taken_as_it_is),
        TEST(nothing_at_all_is_an_empty_object),
        TEST(a_body_that_is_no_object_is_refused_with_its_place),
        TEST(json_goes_by_several_names),
        TEST(other_content_types_are_refused),
        TEST(a_hostile_content_type_is_not_told_back),
        TEST(a_value_becomes_what_its_parameter_is_declared_as),
        TEST(only_integers_as_json_has_them_are_integers),
        TEST(numbers_follow_the_grammar_of_json),
        TEST(a_boolean_may_stand_alone),
        TEST(an_array_takes_all_that_go_by_its_name),
        TEST(an_object_may_be_written_as_json),
        TEST(path_query_and_body_become_one_object),
        TEST(the_same_value_in_two_places_is_fine),
        TEST(different_values_in_two_places_are_refused),
        TEST(a_name_stands_once_in_the_query),
        TEST(a_flaw_of_the_body_is_found_in_any_company),
        TEST(broken_escapes_are_refused),
        TEST(text_that_is_not_utf8_is_refused),
        TEST(a_nul_is_found_by_the_checks),
        TEST(a_packed_body_is_not_taken),
        TEST(a_body_that_is_taken_as_bytes_is_no_argument),
        TEST(a_secret_is_for_the_body),
        TEST(a_query_has_so_many_parameters_at_most),
        TEST(long_queries_are_read_in_one_go),
        TEST(many_long_values_stay_what_they_are),
        TEST(deep_nesting_is_refused),
        TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
