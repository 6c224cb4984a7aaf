/* The rules as stand-alone calls over a JSON object. */
#include "operation/findings.h"
#include "testing.h"

/* -- helpers ----------------------------------------------------------------------------------- */

static mishap_requirements *validate(const char *json)
{
    return mishap_require_begin(json, strlen(json));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static mishap *by_old_names(const char *json)
{
    mishap_validation_of *v = mishap_validate(json, strlen(json));
    mishap_require_fields(v, "name", NULL);
    return mishap_validated(v);
}
#pragma GCC diagnostic pop

/* What the calls found must be this, as the HTTP API has it; NULL: nothing. */
static void assert_found(mishap_requirements *v, const char *details)
{
    mishap *m = mishap_require_end(v);
    if (!details) {
        if (m)
            fail_msg("%s", rendered(mishap_dialect_find("http-api"), m));
        return;
    }
    assert_non_null(m);
    char expected[2048], *text = rendered(mishap_dialect_find("http-api"), m);
    snprintf(expected, sizeof expected,
             "{\"error\":\"validation_error\",\"message\":\"Validation failed\",\"details\":%s}",
             details);
    assert_string_equal(text, expected);
    free(text);
    mishap_free(m);
}

/* -- the examples of the HTTP API -------------------------------------------------------------- */

static mishap *validate_user(const char *json)
{
    mishap_requirements *v = validate(json);
    mishap_require_fields(v, "name", "email", NULL);
    mishap_require_type(v, "age", MISHAP_INTEGER);
    mishap_require_range(v, "age", 0, 150);
    mishap_require_pattern(v, "email", ".*@.*\\..*");
    return mishap_require_end(v);
}

static void old_names_go_on_working(void **state)
{
    (void)state;
    assert_null(by_old_names("{\"name\":\"Ada\"}"));
    mishap *m = by_old_names("{}");
    assert_non_null(m);
    mishap_free(m);
}

static void the_complete_example_is_answered_to_the_byte(void **state)
{
    (void)state;
    mishap *m = validate_user(
        "{\n  \"name\": \"\",\n  \"age\": 200,\n  \"email\": \"invalid\"\n}\n");
    char *text = rendered(mishap_dialect_find("http-api"), m);
    assert_string_equal(
        text,
        "{\"error\":\"validation_error\",\"message\":\"Validation failed\",\"details\":["
        "{\"field\":\"name\",\"error\":\"field_required\"},"
        "{\"field\":\"age\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":150,\"actual\":200},"
        "{\"field\":\"email\",\"error\":\"pattern_mismatch\",\"expected\":\".*@.*\\\\..*\"}]}");
    assert_int_equal(strlen(text), 257);
    assert_int_equal(mishap_told(m)->code->http_status, 422);
    free(text);
    mishap_free(m);
    assert_null(validate_user("{\"name\":\"Ada\",\"age\":36,\"email\":\"ada@example.com\"}"));
    assert_null(validate_user("{\"name\":\"Ada\",\"email\":\"ada@example.com\"}"));
}

/* "Testing Error Responses": a body with an age only. */
static void the_example_test_of_the_format_holds(void **state)
{
    (void)state;
    mishap *m = validate_user("{\"age\": 200}");
    assert_int_equal(mishap_told(m)->code->http_status, 422);
    assert_int_equal(mishap_told(m)->field_count, 3);
    mishap_free(m);
}

static void each_call_has_the_example_of_its_rule(void **state)
{
    (void)state;
    mishap_requirements *v = validate("{}");
    mishap_require_fields(v, "email", NULL);
    assert_found(v, "[{\"field\":\"email\",\"error\":\"field_required\"}]");

    v = validate("{\"age\":\"old\"}");
    mishap_require_type(v, "age", MISHAP_INTEGER);
    assert_found(v, "[{\"field\":\"age\",\"error\":\"invalid_type\",\"expected\":\"integer\","
                    "\"actual\":\"string\"}]");

    char json[400];
    snprintf(json, sizeof json, "{\"title\":\"%0250d\"}", 0);
    v = validate(json);
    mishap_require_length(v, "title", 1, 200);
    assert_found(v, "[{\"field\":\"title\",\"error\":\"invalid_length\",\"min\":1,\"max\":200,"
                    "\"actual\":250}]");

    v = validate("{\"age\":200}");
    mishap_require_range(v, "age", 0, 150);
    assert_found(v, "[{\"field\":\"age\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":150,"
                    "\"actual\":200}]");

    v = validate("{\"email\":\"invalid\"}");
    mishap_require_pattern(v, "email", ".*@.*\\..*");
    assert_found(
        v, "[{\"field\":\"email\",\"error\":\"pattern_mismatch\",\"expected\":\".*@.*\\\\..*\"}]");

    /* The one of "422 Unprocessable Entity", in the form of its own section. */
    v = validate("{\"name\":\"Ada\",\"age\":200}");
    mishap_require_fields(v, "email", "name", NULL);
    mishap_require_type(v, "age", MISHAP_INTEGER);
    mishap_require_range(v, "age", 0, 150);
    assert_found(v, "[{\"field\":\"email\",\"error\":\"field_required\"},"
                    "{\"field\":\"age\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":150,"
                    "\"actual\":200}]");
}

/* -- how the calls go together ----------------------------------------------------------------- */

static void findings_come_in_the_order_of_the_calls(void **state)
{
    (void)state;
    mishap_requirements *v = validate("{\"a\":1,\"b\":2,\"c\":3}");
    mishap_require_range(v, "c", 9, 9);
    mishap_require_fields(v, "x", NULL);
    mishap_require_range(v, "a", 9, 9);
    mishap_require_range(v, "b", 9, 9);
    mishap_require_range(v, "c", 8, 8);
    mishap *m = mishap_require_end(v);
    const mishap_field *field = mishap_told(m)->fields;
    for (const char *name = "cxabc"; *name; name++, field = field->next)
        assert_int_equal(field->field.data[0], *name);
    assert_null(field);
    mishap_free(m);
}

static void only_require_fields_minds_what_is_not_there(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        mishap_requirements *v = validate(i ? "{\"x\":null}" : "{}");
        mishap_require_type(v, "x", MISHAP_INTEGER);
        mishap_require_length(v, "x", 1, 2);
        mishap_require_range(v, "x", 1, 2);
        mishap_require_pattern(v, "x", "x");
        assert_found(v, NULL);
        v = validate(i ? "{\"x\":null}" : "{}");
        mishap_require_fields(v, "x", NULL);
        mishap_require_type(v, "x", MISHAP_INTEGER);
        mishap_require_length(v, "x", 1, 2);
        assert_found(v, "[{\"field\":\"x\",\"error\":\"field_required\"}]");
    }
}

static void a_field_that_was_found_missing_or_mistyped_is_settled(void **state)
{
    (void)state;
    mishap_requirements *v = validate("{\"name\":\"\",\"age\":\"200\"}");
    mishap_require_fields(v, "name", NULL);
    mishap_require_length(v, "name", 1, 200);
    mishap_require_pattern(v, "name", "x");
    mishap_require_type(v, "age", MISHAP_INTEGER);
    mishap_require_range(v, "age", 0, 150);
    mishap_require_type(v, "age", MISHAP_BOOLEAN);
    assert_found(v, "[{\"field\":\"name\",\"error\":\"field_required\"},"
                    "{\"field\":\"age\",\"error\":\"invalid_type\",\"expected\":\"integer\","
                    "\"actual\":\"string\"}]");
    /* An empty string that is not required has length 0. */
    v = validate("{\"name\":\"\"}");
    mishap_require_length(v, "name", 1, 200);
    assert_found(
        v,
        "[{\"field\":\"name\",\"error\":\"invalid_length\",\"min\":1,\"max\":200,\"actual\":0}]");
}

static void a_rule_that_cannot_apply_says_so(void **state)
{
    (void)state;
    mishap_requirements *v = validate("{\"a\":\"5\",\"b\":5,\"c\":5,\"d\":[1,2,3],\"e\":true}");
    mishap_require_range(v, "a", 1, 9);
    mishap_require_length(v, "b", 1, 9);
    mishap_require_pattern(v, "c", "5");
    mishap_require_length(v, "d", 0, 2);
    mishap_require_range(v, "e", 0, 9);
    mishap_require_range(v, "e", 5, 9);
    assert_found(v, "[{\"field\":\"a\",\"error\":\"invalid_type\",\"expected\":\"number\","
                    "\"actual\":\"string\"},"
                    "{\"field\":\"b\",\"error\":\"invalid_type\",\"expected\":\"string\","
                    "\"actual\":\"integer\"},"
                    "{\"field\":\"c\",\"error\":\"invalid_type\",\"expected\":\"string\","
                    "\"actual\":\"integer\"},"
                    "{\"field\":\"d\",\"error\":\"invalid_length\",\"max\":2,\"actual\":3},"
                    "{\"field\":\"e\",\"error\":\"invalid_type\",\"expected\":\"number\","
                    "\"actual\":\"boolean\"}]");
}

static void bounds_are_taken_at_their_word(void **state)
{
    (void)state;
    mishap_requirements *v = validate(
        "{\"zero\":1,\"any\":-7,\"real\":2.5,\"text\":\"abc\",\"big\":18446744073709551616}");
    mishap_require_range(v, "zero", 0, 0);
    mishap_require_range(v, "any", -INFINITY, INFINITY);
    mishap_require_range(v, "any", NAN, NAN);
    mishap_require_range(v, "zero", NAN, NAN);
    mishap_require_range(v, "real", -INFINITY, 2.25);
    mishap_require_length(v, "text", 0, 0);
    mishap_require_length(v, "text", 4, SIZE_MAX);
    mishap_require_type(v, "big", MISHAP_INTEGER);
    mishap_require_range(v, "big", 0, INFINITY);
    mishap_require_range(v, "big", -INFINITY, 5);
    assert_found(
        v,
        "[{\"field\":\"zero\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":0,\"actual\":1},"
        "{\"field\":\"real\",\"error\":\"value_out_of_range\",\"max\":2.25,\"actual\":2.5},"
        "{\"field\":\"text\",\"error\":\"invalid_length\",\"min\":4,\"actual\":3},"
        "{\"field\":\"big\",\"error\":\"value_out_of_range\",\"max\":5,\"actual\":"
        "18446744073709551616}]");
}

static void fields_are_found_whatever_the_order(void **state)
{
    (void)state;
    enum { MANY = 300 };
    static char json[MANY * 20];
    for (int order = 0; order < 4; order++) {
        size_t length = (size_t)snprintf(json, sizeof json, "{\"first\":{\"f1\":-1}");
        for (int i = 0; i < MANY; i++)
            length += (size_t)snprintf(json + length, sizeof json - length, ",\"f%d\":%d", i, i);
        snprintf(json + length, sizeof json - length, "}");
        mishap_requirements *v = validate(json);
        for (int i = 0; i < MANY; i++) {
            int which = order == 0 ? i : order == 1 ? MANY - 1 - i : order == 2 ? i * 7 % MANY : 0;
            char name[16];
            snprintf(name, sizeof name, "f%d", which);
            mishap_require_fields(v, name, NULL);
            mishap_require_range(v, name, which, which);
            mishap_require_range(v, "none", 1, 2);
        }
        mishap_require_fields(v, "f300", "", "f", "f1\xFF", NULL);
        mishap *m = mishap_require_end(v);
        assert_int_equal(mishap_told(m)->field_count, 4);
        mishap_free(m);
    }
}

/* -- what is no JSON object -------------------------------------------------------------------- */

/* The sentence begins like this: how it goes on may be the JSON reader's own words. */
static void assert_bad_request(const char *json, size_t length, const char *sentence)
{
    mishap_requirements *v = mishap_require_begin(json, length);
    mishap_require_fields(v, "name", "email", NULL);
    mishap_require_type(v, "name", MISHAP_STRING);
    mishap_require_length(v, "name", 1, 2);
    mishap_require_range(v, "name", 1, 2);
    mishap_require_pattern(v, "name", "x");
    mishap *m = mishap_require_end(v);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_BAD_REQUEST);
    if (strncmp(mishap_public_message(mishap_told(m)).data, sentence, strlen(sentence)) != 0)
        assert_string_equal(mishap_public_message(mishap_told(m)).data, sentence);
    assert_null(mishap_told(m)->fields);
    mishap_free(m);
}

static void what_is_no_json_object_is_a_bad_request(void **state)
{
    (void)state;
    static const struct {
        const char *json, *sentence;
    } cases[] = {
        { "", "At line 1, column 1: This is not JSON: the text is empty." },
        { "[]", "At line 1, column 1: This must be a JSON object, but it is an array." },
        { "null", "At line 1, column 1: This must be a JSON object, but it is null." },
        { " \"name\"", "At line 1, column 2: This must be a JSON object, but it is a string." },
        { "7", "At line 1, column 1: This must be a JSON object, but it is a number." },
        { "true", "At line 1, column 1: This must be a JSON object, but it is a boolean." },
        { "{\"name\":1,\n\"name\":2}",
          "At line 2, column 1: The object has the key `name` twice." },
        { "{\"a\":[{\"b\":1,\"\\u0062\":2}]}",
          "At line 1, column 14: The object has the key `b` twice." },
        { "{\"a\\u0000\":1}", "At line 1, column 2: A key contains a NUL character." },
        { "{\"a\":\"\\ud800\"}",
          "At line 1, column 7: A string contains half of a surrogate pair." },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_bad_request(cases[i].json, strlen(cases[i].json), cases[i].sentence);
    assert_bad_request(NULL, 7, "At line 1, column 1: This is not JSON: the text is empty.");

    mishap_requirements *v = validate("{\n \"name\": oops}");
    mishap *m = mishap_require_end(v);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_BAD_REQUEST);
    assert_int_equal(mishap_told(m)->context->value.integer, 2);
    mishap_free(m);

    enum { DEEP = 100000 };
    char *deep = malloc(DEEP * 2 + 16);
    memcpy(deep, "{\"a\":", 5);
    memset(deep + 5, '[', DEEP);
    memset(deep + 5 + DEEP, ']', DEEP);
    deep[5 + 2 * DEEP] = '}';
    assert_bad_request(deep, 6 + 2 * DEEP,
                       "At line 1, column 133: Values are nested more than 128 levels deep.");
    assert_bad_request(deep, 5 + DEEP, "At line 1, column 100006: This is not JSON: ");
    free(deep);
}

/* -- failures that are not the caller's -------------------------------------------------------- */

static void a_pattern_that_gives_up_ends_as_an_internal_error(void **state)
{
    (void)state;
    mishap_requirements *v = validate("{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"}");
    mishap_require_fields(v, "y", NULL);
    mishap_require_pattern(v, "x", "(a+)+$");
    mishap_require_pattern(v, "x", "(a+)+$");
    mishap_require_length(v, "x", 1, 2);
    mishap *m = mishap_require_end(v);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
    assert_null(mishap_told(m)->fields);
    mishap_free(m);

    v = validate("{\"x\":\"a\"}");
    mishap_require_pattern(v, "x", "(");
    mishap_require_type(v, "x", 99);
    m = mishap_require_end(v);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
    mishap_free(m);
}

static void after_a_hundred_findings_the_others_are_counted(void **state)
{
    (void)state;
    mishap_requirements *v = validate("{\"x\":1}");
    for (int i = 0; i < 100000; i++)
        mishap_require_range(v, "x", 2, 3);
    mishap *m = mishap_require_end(v);
    assert_int_equal(mishap_told(m)->field_count, 100);
    assert_int_equal(mishap_told(m)->context->value.integer, 99900);
    mishap_free(m);
}

/* -- against a model --------------------------------------------------------------------------- */

static uint64_t seed;

static unsigned below(unsigned limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % limit;
}

/* Values as the model knows them. */
static const struct value {
    const char *json, *type;
    int number;    /* of numbers, in halves */
    size_t length; /* of strings and arrays */
    bool matches;  /* ^a */
} values[] = {
    { "\"\"", "string", 0, 0, false },
    { "\"a\"", "string", 0, 1, true },
    { "\"\xC3\xA9\xC3\xA9\"", "string", 0, 2, false },
    { "\"ab\\n\"", "string", 0, 3, true },
    { "0", "integer", 0, 0, false },
    { "-3", "integer", -6, 0, false },
    { "4", "integer", 8, 0, false },
    { "2.5", "number", 5, 0, false },
    { "3.0", "number", 6, 0, false },
    { "true", "boolean", 0, 0, false },
    { "[]", "array", 0, 0, false },
    { "[[1],2]", "array", 0, 2, false },
    { "{\"b\":{}}", "object", 0, 0, false },
    { "null", NULL, 0, 0, false },
    { NULL, NULL, 0, 0, false }, /* not there */
};
enum { VALUES = sizeof values / sizeof *values, FIELDS = 4, RULES = 8 };

static char model[8192];
static size_t model_length;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    model_length += (size_t)vsnprintf(model + model_length, sizeof model - model_length, format,
                                      arguments);
    va_end(arguments);
}

static void model_type(const char *field, const struct value *value, const char *type,
                       bool *settled)
{
    bool same = strcmp(value->type, type) == 0 ||
                (strcmp(type, "number") == 0 && strcmp(value->type, "integer") == 0) ||
                (strcmp(type, "integer") == 0 && strcmp(value->type, "number") == 0 &&
                 value->number % 2 == 0); /* 3.0 */
    if (!same)
        say(",{\"field\":\"%s\",\"error\":\"invalid_type\",\"expected\":\"%s\",\"actual\":\"%s\"}",
            field, type, value->type);
    *settled = !same;
}

static void model_number(const char *key, int halves)
{
    say(",\"%s\":%.*f", key, halves % 2 ? 1 : 0, halves / 2.0);
}

/* One call, and what the model says of it. */
static void call_rule(mishap_requirements *v, const char *field, const struct value *value,
                      bool *settled)
{
    static const char *const types[] = { "string", "integer", "number", "boolean",
                                         "string", "array",   "object" };
    static const mishap_type_of_param numbers[] = { MISHAP_STRING,  MISHAP_INTEGER, MISHAP_NUMBER,
                                                    MISHAP_BOOLEAN, MISHAP_ENUM,    MISHAP_ARRAY,
                                                    MISHAP_OBJECT };
    unsigned rule = below(5), a = below(4), b = a + below(3);
    unsigned type = below(7);
    bool open = value->type && !*settled;
    switch (rule) {
    case 0:
        mishap_require_fields(v, field, NULL);
        if (!value->type || (open && strcmp(value->json, "\"\"") == 0)) {
            say(",{\"field\":\"%s\",\"error\":\"field_required\"}", field);
            *settled = true;
        }
        break;
    case 1:
        mishap_require_type(v, field, numbers[type]);
        if (open)
            model_type(field, value, types[type], settled);
        break;
    case 2:
        mishap_require_length(v, field, a, b);
        if (open && strcmp(value->type, "array") != 0)
            model_type(field, value, "string", settled);
        if (!open || *settled || (value->length >= a && (b == 0 || value->length <= b)))
            break;
        say(",{\"field\":\"%s\",\"error\":\"invalid_length\"", field);
        if (a)
            say(",\"min\":%u", a);
        if (b)
            say(",\"max\":%u", b);
        say(",\"actual\":%zu}", value->length);
        break;
    case 3:
        mishap_require_range(v, field, a / 2.0, b / 2.0);
        if (open)
            model_type(field, value, "number", settled);
        if (!open || *settled || (value->number >= (int)a && value->number <= (int)b))
            break;
        say(",{\"field\":\"%s\",\"error\":\"value_out_of_range\"", field);
        model_number("min", (int)a);
        model_number("max", (int)b);
        say(",\"actual\":%s}", value->json);
        break;
    case 4:
        mishap_require_pattern(v, field, "^a");
        if (open)
            model_type(field, value, "string", settled);
        if (open && !*settled && !value->matches)
            say(",{\"field\":\"%s\",\"error\":\"pattern_mismatch\",\"expected\":\"^a\"}", field);
        break;
    }
}

static void the_calls_find_what_the_model_finds(void **state)
{
    (void)state;
    static const char *const names[FIELDS] = { "a", "b", "c", "d" };
    static const char before[] =
        "{\"error\":\"validation_error\",\"message\":\"Validation failed\",\"details\":[";
    size_t accepted = 0;
    for (unsigned i = 0; i < 20000; i++) {
        char json[256] = "{\"e\":{\"a\":[1]}";
        const struct value *object[FIELDS];
        bool settled[FIELDS] = { false };
        seed = i * UINT64_C(0x9E3779B97F4A7C15) + 1;
        model_length = 0;
        model[0] = '\0';
        for (size_t f = 0; f < FIELDS; f++) {
            size_t length = strlen(json);
            object[f] = &values[below(VALUES)];
            if (object[f]->json)
                snprintf(json + length, sizeof json - length, ",\"%s\":%s", names[f],
                         object[f]->json);
        }
        json[strlen(json) + 1] = '\0';
        json[strlen(json)] = '}';
        mishap_requirements *v = validate(json);
        for (unsigned rules = below(RULES); rules; rules--) {
            unsigned f = below(FIELDS);
            call_rule(v, names[f], object[f], &settled[f]);
        }
        mishap *m = mishap_require_end(v);
        char *text = m ? rendered(mishap_dialect_find("http-api"), m) : strdup("");
        char expected[sizeof model + 100] = "";
        if (model_length)
            snprintf(expected, sizeof expected, "%s%s]}", before, model + 1);
        if (strcmp(text, expected) != 0)
            fail_msg("case %u: %s\nmodel: %s\nfound: %s", i, json, expected, text);
        accepted += !m;
        free(text);
        mishap_free(m);
    }
    assert_in_range(accepted, 1000, 10000);
}

/* -- without memory ---------------------------------------------------------------------------- */

static mishap *validate_much(void)
{
    static char json[200 * 16];
    size_t length = (size_t)snprintf(
        json, sizeof json, "{\"name\":\"\",\"age\":18446744073709551616,\"email\":\"invalid\"");
    for (int i = 0; i < 100; i++)
        length += (size_t)snprintf(json + length, sizeof json - length, ",\"f%d\":\"%d\"", i, i);
    snprintf(json + length, sizeof json - length, "}");
    mishap_requirements *v = validate(json);
    mishap_require_fields(v, "name", "email", NULL);
    mishap_require_length(v, "name", 1, 200);
    mishap_require_type(v, "age", MISHAP_INTEGER);
    mishap_require_range(v, "age", 0, 150);
    mishap_require_pattern(v, "email", ".*@.*\\..*");
    for (int i = 99; i >= 0; i--) {
        char name[8];
        snprintf(name, sizeof name, "f%d", i);
        mishap_require_range(v, name, 0, 150);
    }
    return mishap_require_end(v);
}

static void validate_again(const void *whole)
{
    mishap_pattern_forget();
    assert_whole_or_no_memory(validate_much(), whole);
    mishap_pattern_forget();
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_pattern_forget();
    mishap_use_allocator(&failing_allocator);
    mishap *m = validate_much();
    char *whole = rendered(mishap_dialect_find("canonical"), m);
    assert_int_equal(mishap_told(m)->field_count, 100);
    mishap_free(m);
    mishap_pattern_forget();
    torture(validate_again, whole);
    assert_true(calls > 10);
    free(whole);
    mishap_use_allocator(NULL);
}

static void without_a_validation_the_calls_do_nothing(void **state)
{
    (void)state;
    mishap_require_fields(NULL, "a", NULL);
    mishap_require_type(NULL, "a", MISHAP_STRING);
    mishap_require_length(NULL, "a", 1, 2);
    mishap_require_range(NULL, "a", 1, 2);
    mishap_require_pattern(NULL, "a", "x");
    mishap *m = mishap_require_end(NULL);
    assert_ptr_equal(m, mishap_out_of_memory());
    mishap_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(old_names_go_on_working),
        TEST(the_complete_example_is_answered_to_the_byte),
        TEST(the_example_test_of_the_format_holds),
        TEST(each_call_has_the_example_of_its_rule),
        TEST(findings_come_in_the_order_of_the_calls),
        TEST(only_require_fields_minds_what_is_not_there),
        TEST(a_field_that_was_found_missing_or_mistyped_is_settled),
        TEST(a_rule_that_cannot_apply_says_so),
        TEST(bounds_are_taken_at_their_word),
        TEST(fields_are_found_whatever_the_order),
        TEST(what_is_no_json_object_is_a_bad_request),
        TEST(a_pattern_that_gives_up_ends_as_an_internal_error),
        TEST(after_a_hundred_findings_the_others_are_counted),
        TEST(the_calls_find_what_the_model_finds),
        TEST(every_allocation_may_fail),
        TEST(without_a_validation_the_calls_do_nothing),
    };
    return RUN(tests);
}
