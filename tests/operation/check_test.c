/* The checks of declared parameters, rule by rule. What is generated and compared with a model is
 * in check_model_test.c. */
#include "dialect/parts.h"
#include "operation/findings.h"
#include "testing.h"

/* -- helpers ----------------------------------------------------------------------------------- */

static mishap *check_text(const mishap_param *params, const char *json, size_t length)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (!mishap_json_read(&reader, (mishap_text){ json, length }))
        fail_msg("not JSON: %.100s", json);
    mishap *m = mishap_params_check(params, reader.root);
    mishap_json_reader_release(&reader);
    return m;
}

static mishap *check(const mishap_param *params, const char *json)
{
    return check_text(params, json, strlen(json));
}

/* The findings must be these, as the HTTP API has them; NULL: there must be none. */
static void assert_findings(const mishap_param *params, const char *json, const char *details)
{
    mishap *m = check(params, json);
    if (!details) {
        if (m)
            fail_msg("%s: %s", json, rendered(mishap_dialect_find("http-api"), m));
        return;
    }
    if (!m)
        fail_msg("%s: should not be accepted", json);
    char expected[4096], *text = rendered(mishap_dialect_find("http-api"), m);
    snprintf(expected, sizeof expected,
             "{\"error\":\"validation_error\",\"message\":\"Validation failed\",\"details\":%s}",
             details);
    assert_string_equal(text, expected);
    free(text);
    mishap_free(m);
}

/* A list of one parameter. */
#define ONE(...) ((const mishap_param[]){ __VA_ARGS__, { 0 } })

/* -- the examples of the HTTP API -------------------------------------------------------------- */

static const mishap_param user_params[] = {
    { "name", MISHAP_STRING, .required = true, .length = { 1, 200 } },
    { "age", MISHAP_INTEGER, .range = { 0, 150 } },
    { "email", MISHAP_STRING, .required = true, .pattern = ".*@.*\\..*" },
    { 0 },
};

static void the_complete_example_has_its_three_findings(void **state)
{
    (void)state;
    mishap *m = check(user_params,
                      "{\n  \"name\": \"\",\n  \"age\": 200,\n  \"email\": \"invalid\"\n}");
    char *text = rendered(mishap_dialect_find("http-api"), m);
    assert_string_equal(
        text,
        "{\"error\":\"validation_error\",\"message\":\"Validation failed\",\"details\":["
        "{\"field\":\"name\",\"error\":\"field_required\"},"
        "{\"field\":\"age\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":150,\"actual\":200},"
        "{\"field\":\"email\",\"error\":\"pattern_mismatch\",\"expected\":\".*@.*\\\\..*\"}]}");
    assert_int_equal(strlen(text), 257);
    char *rules = broken_rules(mishap_dialect_find("http-api"), text, strlen(text), true);
    assert_string_equal(rules, "");
    free(rules);
    free(text);
    mishap_free(m);
    assert_findings(user_params, "{\"name\":\"Ada\",\"age\":36,\"email\":\"ada@example.com\"}",
                    NULL);
    assert_findings(user_params, "{\"name\":\"Ada\",\"email\":\"ada@example.com\",\"more\":[]}",
                    NULL);
}

static void each_example_of_a_rule_comes_out_exactly(void **state)
{
    (void)state;
    assert_findings(ONE({ "email", MISHAP_STRING, .required = true }), "{}",
                    "[{\"field\":\"email\",\"error\":\"field_required\"}]");
    assert_findings(ONE({ "age", .type = MISHAP_INTEGER }), "{\"age\":\"old\"}",
                    "[{\"field\":\"age\",\"error\":\"invalid_type\",\"expected\":\"integer\","
                    "\"actual\":\"string\"}]");
    char json[400];
    snprintf(json, sizeof json, "{\"title\":\"%0250d\"}", 0);
    assert_findings(ONE({ "title", MISHAP_STRING, .length = { 1, 200 } }), json,
                    "[{\"field\":\"title\",\"error\":\"invalid_length\",\"min\":1,\"max\":200,"
                    "\"actual\":250}]");
    assert_findings(ONE({ "age", MISHAP_INTEGER, .range = { 0, 150 } }), "{\"age\":200}",
                    "[{\"field\":\"age\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":150,"
                    "\"actual\":200}]");
    assert_findings(
        ONE({ "email", MISHAP_STRING, .pattern = ".*@.*\\..*" }), "{\"email\":\"invalid\"}",
        "[{\"field\":\"email\",\"error\":\"pattern_mismatch\",\"expected\":\".*@.*\\\\..*\"}]");
}

/* -- required ---------------------------------------------------------------------------------- */

static void missing_null_and_empty_are_not_there(void **state)
{
    (void)state;
    static const char finding[] = "[{\"field\":\"x\",\"error\":\"field_required\"}]";
    for (mishap_type_of_param type = MISHAP_STRING; type <= MISHAP_MAP; type++) {
        const mishap_param *params = ONE({ "x", type, .required = true });
        assert_findings(params, "{}", finding);
        assert_findings(params, "{\"y\":1}", finding);
        assert_findings(params, "{\"x\":null}", finding);
        assert_findings(params, "{\"x\":\"\"}", finding);
    }
    assert_findings(ONE({ "x", MISHAP_BOOLEAN, .required = true }), "{\"x\":false}", NULL);
    assert_findings(ONE({ "x", MISHAP_INTEGER, .required = true }), "{\"x\":0}", NULL);
    assert_findings(ONE({ "x", MISHAP_ARRAY, .required = true }), "{\"x\":[]}", NULL);
    assert_findings(ONE({ "x", MISHAP_OBJECT, .required = true }), "{\"x\":{}}", NULL);
    assert_findings(ONE({ "x", MISHAP_STRING, .required = true }), "{\"x\":\" \"}", NULL);
}

static void what_is_optional_and_absent_is_not_checked_further(void **state)
{
    (void)state;
    const mishap_param *params = ONE({ "x", MISHAP_STRING, .length = { 2, 3 }, .pattern = "z" });
    assert_findings(params, "{}", NULL);
    assert_findings(params, "{\"x\":null}", NULL);
    /* An empty string is there, unless it is required. */
    assert_findings(
        params, "{\"x\":\"\"}",
        "[{\"field\":\"x\",\"error\":\"invalid_length\",\"min\":2,\"max\":3,\"actual\":0},"
        "{\"field\":\"x\",\"error\":\"pattern_mismatch\",\"expected\":\"z\"}]");
    assert_findings(ONE({ "x", .type = MISHAP_INTEGER }), "{\"x\":\"\"}",
                    "[{\"field\":\"x\",\"error\":\"invalid_type\",\"expected\":\"integer\","
                    "\"actual\":\"string\"}]");
}

/* -- type -------------------------------------------------------------------------------------- */

static void every_type_takes_its_own_and_names_the_others(void **state)
{
    (void)state;
    enum {
        NUMBERS = 1 << MISHAP_NUMBER | 1 << MISHAP_DECIMAL_NUMBER,
        OBJECTS = 1 << MISHAP_OBJECT | 1 << MISHAP_MAP,
    };
    static const struct {
        const char *json, *name;
        unsigned types; /* bits of those that take it */
    } values[] = {
        { "\"text\"", "string", 1 << MISHAP_STRING },
        { "7", "integer", 1 << MISHAP_INTEGER | NUMBERS },
        { "-7", "integer", 1 << MISHAP_INTEGER | NUMBERS },
        { "-0", "integer", 1 << MISHAP_INTEGER | NUMBERS },
        { "3.5", "number", NUMBERS },
        { "3.0", "number", 1 << MISHAP_INTEGER | NUMBERS },
        { "1e2", "number", 1 << MISHAP_INTEGER | NUMBERS },
        { "-2.50e1", "number", 1 << MISHAP_INTEGER | NUMBERS },
        { "true", "boolean", 1 << MISHAP_BOOLEAN },
        { "false", "boolean", 1 << MISHAP_BOOLEAN },
        { "[]", "array", 1 << MISHAP_ARRAY },
        { "[1]", "array", 1 << MISHAP_ARRAY },
        /* As many items and members as "true" and "false" have characters. */
        { "[1,2,3,4]", "array", 1 << MISHAP_ARRAY },
        { "[1,2,3,4,5]", "array", 1 << MISHAP_ARRAY },
        { "{\"a\":1,\"b\":2,\"c\":3,\"d\":4}", "object", OBJECTS },
        { "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5}", "object", OBJECTS },
        { "{}", "object", OBJECTS },
    };
    static const char *const red[] = { "red", NULL };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        for (mishap_type_of_param type = MISHAP_STRING; type <= MISHAP_MAP; type++) {
            char json[64], finding[128];
            if (values[i].types == 1 << MISHAP_STRING && type != MISHAP_STRING &&
                strcmp(mishap_param_type_name(type), "string") == 0)
                continue;
            snprintf(json, sizeof json, "{\"x\":%s}", values[i].json);
            snprintf(finding, sizeof finding,
                     "[{\"field\":\"x\",\"error\":\"invalid_type\",\"expected\":\"%s\",\"actual\":"
                     "\"%s\"}]",
                     mishap_param_type_name(type), values[i].name);
            assert_findings(ONE({ "x", type, .choices = red }), json,
                            values[i].types >> type & 1 ? NULL : finding);
        }
    }
    assert_string_equal(mishap_param_type_name(MISHAP_ENUM), "string");
    assert_null(mishap_param_type_name(0));
    assert_null(mishap_param_type_name(MISHAP_MAP + 1));
}

static void a_wrong_type_is_all_that_is_said(void **state)
{
    (void)state;
    assert_findings(ONE({ "x", MISHAP_INTEGER, .required = true, .range = { 1, 2 } }),
                    "{\"x\":\"900\"}",
                    "[{\"field\":\"x\",\"error\":\"invalid_type\",\"expected\":\"integer\","
                    "\"actual\":\"string\"}]");
    assert_findings(ONE({ "x", MISHAP_STRING, .length = { 5, 9 }, .pattern = "z" }), "{\"x\":true}",
                    "[{\"field\":\"x\",\"error\":\"invalid_type\",\"expected\":\"string\","
                    "\"actual\":\"boolean\"}]");
}

static void a_type_that_there_is_not_is_no_fault_of_the_caller(void **state)
{
    (void)state;
    mishap *m = check(ONE({ "x", .type = 99 }), "{\"x\":1}");
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
    mishap_free(m);
}

/* A handler gets a C string; what stands behind a NUL it would never see. */
static void a_string_has_no_nul(void **state)
{
    (void)state;
#define NO_NUL "\"error\":\"pattern_mismatch\",\"expected\":\"^[^\\\\x00]*$\"}"
    static const char *const colours[] = { "red", NULL };
    const mishap_param word = { NULL, .type = MISHAP_STRING };
    const mishap_param *text = ONE({ "x", MISHAP_STRING, .pattern = "^a" });
    assert_findings(text, "{\"x\":\"a\\u0001\"}", NULL);
    assert_findings(text, "{\"x\":\"a\\u0000b\"}", "[{\"field\":\"x\"," NO_NUL "]");
    assert_findings(text, "{\"x\":\"\\u0000a\"}", "[{\"field\":\"x\"," NO_NUL "]");
    assert_findings(ONE({ "x", MISHAP_STRING, .required = true }), "{\"x\":\"\\u0000\"}",
                    "[{\"field\":\"x\"," NO_NUL "]");
    assert_findings(ONE({ "x", MISHAP_STRING, .length = { 1, 2 } }), "{\"x\":\"a\\u0000b\"}",
                    "[{\"field\":\"x\",\"error\":\"invalid_length\",\"min\":1,\"max\":2,"
                    "\"actual\":3},{\"field\":\"x\"," NO_NUL "]");
    assert_findings(ONE({ "x", MISHAP_ARRAY, .items = &word }), "{\"x\":[\"a\",\"\\u0000\"]}",
                    "[{\"field\":\"x[1]\"," NO_NUL "]");
    assert_findings(ONE({ "x", MISHAP_ENUM, .choices = colours }), "{\"x\":\"red\\u0000\"}",
                    "[{\"field\":\"x\",\"error\":\"pattern_mismatch\",\"expected\":[\"red\"]}]");
    /* What is not declared is handed on as JSON, where a NUL is nothing special. */
    assert_findings(ONE({ "x", MISHAP_OBJECT, .help = "any" }), "{\"x\":{\"y\":\"\\u0000\"}}",
                    NULL);
}

/* -- length ------------------------------------------------------------------------------------ */

static void length_counts_characters_and_items(void **state)
{
    (void)state;
    const mishap_param *three = ONE({ "x", MISHAP_STRING, .length = { 3, 3 } });
    assert_findings(three, "{\"x\":\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"}", NULL);
    assert_findings(three, "{\"x\":\"\\u00e9\\u20ac\\ud83d\\ude00\"}", NULL);
    assert_findings(
        three, "{\"x\":\"\xC3\xA9\xE2\x82\xAC\"}",
        "[{\"field\":\"x\",\"error\":\"invalid_length\",\"min\":3,\"max\":3,\"actual\":2}]");
    const mishap_param number = { NULL, .type = MISHAP_INTEGER };
    const mishap_param *pair = ONE({ "x", MISHAP_ARRAY, .length = { 1, 2 }, .items = &number });
    assert_findings(pair, "{\"x\":[1]}", NULL);
    assert_findings(pair, "{\"x\":[1,2]}", NULL);
    assert_findings(
        pair, "{\"x\":[]}",
        "[{\"field\":\"x\",\"error\":\"invalid_length\",\"min\":1,\"max\":2,\"actual\":0}]");
    /* Its items are looked at all the same. */
    assert_findings(
        pair, "{\"x\":[1,2,\"three\"]}",
        "[{\"field\":\"x\",\"error\":\"invalid_length\",\"min\":1,\"max\":2,\"actual\":3},"
        "{\"field\":\"x[2]\",\"error\":\"invalid_type\",\"expected\":\"integer\",\"actual\":"
        "\"string\"}]");
}

static void only_bounds_that_there_are_are_told(void **state)
{
    (void)state;
    assert_findings(ONE({ "x", MISHAP_STRING, .length = { .min = 2 } }), "{\"x\":\"a\"}",
                    "[{\"field\":\"x\",\"error\":\"invalid_length\",\"min\":2,\"actual\":1}]");
    assert_findings(ONE({ "x", MISHAP_STRING, .length = { .max = 2 } }), "{\"x\":\"abc\"}",
                    "[{\"field\":\"x\",\"error\":\"invalid_length\",\"max\":2,\"actual\":3}]");
    assert_findings(
        ONE({ "x", MISHAP_NUMBER, .range = { 0, INFINITY } }), "{\"x\":-0.5}",
        "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":0,\"actual\":-0.5}]");
    assert_findings(
        ONE({ "x", MISHAP_NUMBER, .range = { -INFINITY, 0.25 } }), "{\"x\":1}",
        "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"max\":0.25,\"actual\":1}]");
}

/* -- range ------------------------------------------------------------------------------------- */

static void bounds_are_included(void **state)
{
    (void)state;
    const mishap_param *whole = ONE({ "x", MISHAP_INTEGER, .range = { -5, 5 } });
    assert_findings(whole, "{\"x\":-5}", NULL);
    assert_findings(whole, "{\"x\":5}", NULL);
    assert_findings(
        whole, "{\"x\":-6}",
        "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":-5,\"max\":5,\"actual\":-6}]");
    const mishap_param *real = ONE({ "x", MISHAP_NUMBER, .range = { -1.5, 1.5 } });
    assert_findings(real, "{\"x\":-1.5}", NULL);
    assert_findings(real, "{\"x\":1.5}", NULL);
    assert_findings(real, "{\"x\":-1}", NULL);
    assert_findings(real, "{\"x\":2}",
                    "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":-1.5,\"max\":1.5,"
                    "\"actual\":2}]");
    assert_findings(real, "{\"x\":-2}",
                    "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":-1.5,\"max\":1.5,"
                    "\"actual\":-2}]");
    const mishap_param *natural = ONE({ "x", MISHAP_NUMBER, .range = { 0, 1 } });
    assert_findings(natural, "{\"x\":-0}", NULL);
    assert_findings(natural, "{\"x\":-0.0}", NULL);
    assert_findings(natural, "{\"x\":1.0000000000000002}",
                    "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":1,"
                    "\"actual\":1.0000000000000002}]");
}

/* Integers that a double has no room for are still told apart. */
static void large_integers_are_compared_exactly(void **state)
{
    (void)state;
    const mishap_param *params = ONE(
        { "x", MISHAP_INTEGER, .range = { -9007199254740992.0, 9007199254740992.0 } });
    assert_findings(params, "{\"x\":9007199254740992}", NULL);
    assert_findings(params, "{\"x\":-9007199254740992}", NULL);
    assert_findings(params, "{\"x\":9007199254740993}",
                    "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":-9007199254740992,"
                    "\"max\":9007199254740992,\"actual\":9007199254740993}]");
    assert_findings(params, "{\"x\":-9007199254740993}",
                    "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":-9007199254740992,"
                    "\"max\":9007199254740992,\"actual\":-9007199254740993}]");
    params = ONE({ "x", MISHAP_NUMBER, .range = { -INFINITY, 18446744073709551616.0 } });
    assert_findings(params, "{\"x\":18446744073709551615}", NULL);
    assert_findings(params, "{\"x\":18446744073709551616}", NULL);
    assert_findings(
        params, "{\"x\":18446744073709551617}",
        "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"max\":1.8446744073709552e+19,"
        "\"actual\":18446744073709551617}]");
    params = ONE({ "x", MISHAP_NUMBER, .range = { -9223372036854775808.0, 1e30 } });
    assert_findings(params, "{\"x\":-9223372036854775808}", NULL);
    assert_findings(params, "{\"x\":1000000000000000000000000000000}", NULL);
    assert_findings(params, "{\"x\":-9223372036854775809}",
                    "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":-"
                    "9223372036854775808,\"max\":1e+30,"
                    "\"actual\":-9223372036854775809}]");
}

/* A handler gets 64 bits or a double: what does not fit never reaches it. */
static void numbers_that_no_type_has_room_for_are_out_of_range(void **state)
{
    (void)state;
    const mishap_param *open = ONE({ "x", .type = MISHAP_INTEGER });
    assert_findings(open, "{\"x\":9223372036854775807}", NULL);
    /* The same with a point or an exponent, which an integer may have. */
    assert_findings(open, "{\"x\":9223372036854774784.0}", NULL);
    assert_findings(open, "{\"x\":-9223372036854775808.0}", NULL);
    assert_findings(open, "{\"x\":9223372036854775808.0}",
                    "[{\"field\":\"x\",\"error\":\"value_out_of_range\","
                    "\"min\":-9223372036854775808,\"max\":9223372036854775807,"
                    "\"actual\":9.223372036854776e+18}]");
    assert_findings(open, "{\"x\":-1e19}",
                    "[{\"field\":\"x\",\"error\":\"value_out_of_range\","
                    "\"min\":-9223372036854775808,\"max\":9223372036854775807,"
                    "\"actual\":-1e+19}]");
    assert_findings(open, "{\"x\":-9223372036854775808}", NULL);
    static const char *const large[] = { "9223372036854775808", "18446744073709551615",
                                         "18446744073709551616", "-9223372036854775809",
                                         "100000000000000000000000000000" };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        char json[128], finding[256];
        snprintf(json, sizeof json, "{\"x\":%s}", large[i]);
        snprintf(finding, sizeof finding,
                 "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":-9223372036854775808,"
                 "\"max\":9223372036854775807,\"actual\":%s}]",
                 large[i]);
        assert_findings(open, json, finding);
        snprintf(finding, sizeof finding,
                 "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":10,"
                 "\"actual\":%s}]",
                 large[i]);
        assert_findings(ONE({ "x", MISHAP_INTEGER, .range = { 0, 10 } }), json, finding);
        assert_findings(ONE({ "x", MISHAP_NUMBER, .range = { 0, 10 } }), json, finding);
        assert_findings(ONE({ "x", .type = MISHAP_NUMBER }), json, NULL);
    }
    assert_findings(
        ONE({ "x", MISHAP_INTEGER, .range = { 0, INFINITY } }), "{\"x\":9223372036854775808}",
        "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":9223372036854775807,"
        "\"actual\":9223372036854775808}]");
    assert_findings(
        ONE({ "x", .type = MISHAP_NUMBER }), "{\"x\":1e999}",
        "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":-1.7976931348623157e+308,"
        "\"max\":1.7976931348623157e+308,\"actual\":1e999}]");
    assert_findings(ONE({ "x", MISHAP_NUMBER, .range = { 0, INFINITY } }), "{\"x\":-1.5e999}",
                    "[{\"field\":\"x\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":1."
                    "7976931348623157e+308,"
                    "\"actual\":-1.5e999}]");
    assert_findings(ONE({ "x", .type = MISHAP_INTEGER }), "{\"x\":1e999}",
                    "[{\"field\":\"x\",\"error\":\"invalid_type\",\"expected\":\"integer\","
                    "\"actual\":\"number\"}]");
}

/* -- patterns and choices ---------------------------------------------------------------------- */

static void length_and_pattern_are_both_told(void **state)
{
    (void)state;
    assert_findings(
        ONE({ "x", MISHAP_STRING, .length = { 3, 5 }, .pattern = "^[a-z]+$" }), "{\"x\":\"A\"}",
        "[{\"field\":\"x\",\"error\":\"invalid_length\",\"min\":3,\"max\":5,\"actual\":1},"
        "{\"field\":\"x\",\"error\":\"pattern_mismatch\",\"expected\":\"^[a-z]+$\"}]");
}

static void choices_are_told_as_a_list(void **state)
{
    (void)state;
    static const char *const colours[] = { "red", "dark.green", "(blue)", NULL };
    const mishap_param *params = ONE(
        { "colour", MISHAP_ENUM, .required = true, .choices = colours });
    assert_findings(params, "{\"colour\":\"dark.green\"}", NULL);
    assert_findings(params, "{\"colour\":\"(blue)\"}", NULL);
    static const char finding[] = "[{\"field\":\"colour\",\"error\":\"pattern_mismatch\","
                                  "\"expected\":[\"red\",\"dark.green\",\"(blue)\"]}]";
    assert_findings(params, "{\"colour\":\"Red\"}", finding);
    assert_findings(params, "{\"colour\":\"darkXgreen\"}", finding);
    assert_findings(params, "{\"colour\":\"red\\u0000\"}", finding);
}

/* What is expected is told in words: the name of a format would say less, a pattern nothing. */
static void formats_are_checked_and_told_in_words(void **state)
{
    (void)state;
    const mishap_param item = { NULL, MISHAP_STRING, .format = "ipv4" };
#define MISMATCH(field, words)                                                                     \
    "[{\"field\":\"" field "\",\"error\":\"pattern_mismatch\",\"expected\":\"" words "\"}]"
    const mishap_param *date = ONE({ "due", MISHAP_STRING, .format = "date" });
    assert_findings(date, "{\"due\":\"2026-02-28\"}", NULL);
    assert_findings(date, "{}", NULL);
    assert_findings(date, "{\"due\":\"2026-02-31\"}", MISMATCH("due", "a date such as 2026-02-28"));
    assert_findings(date, "{\"due\":\"\"}", MISMATCH("due", "a date such as 2026-02-28"));
    assert_findings(ONE({ "at", MISHAP_ARRAY, .items = &item }), "{\"at\":[\"1.2.3.4\",\"1.2.3\"]}",
                    MISMATCH("at[1]", "an IPv4 address such as 192.0.2.1"));
    /* Its own words come first, of a pattern and of a format. What breaks both is told once. */
    const mishap_param *both = ONE(
        { "due", MISHAP_STRING, .format = "date", .pattern = "^2026-", .looks = "a day of 2026" });
    assert_findings(both, "{\"due\":\"2026-12-24\"}", NULL);
    assert_findings(both, "{\"due\":\"2025-12-24\"}", MISMATCH("due", "a day of 2026"));
    assert_findings(both, "{\"due\":\"2026-12-32\"}", MISMATCH("due", "a day of 2026"));
    assert_findings(both, "{\"due\":\"soon\"}", MISMATCH("due", "a day of 2026"));
}

/* The sentence about the only finding, which every dialect that has sentences shows. */
static void assert_sentence(const mishap_param *params, const char *json, const char *sentence)
{
    mishap *m = check(params, json);
    assert_int_equal(mishap_told(m)->field_count, 1);
    mishap_buffer words = { 0 };
    mishap_put_field_sentence(&words, mishap_told(m)->fields);
    mishap_buffer_add(&words, "", 1);
    assert_string_equal(words.data, sentence);
    mishap_buffer_release(&words);
    mishap_free(m);
}

static void sentences_can_be_acted_on(void **state)
{
    (void)state;
    static const char *const sizes[] = { "S", "M", "L", NULL }, *const one[] = { "S", NULL };
    const mishap_param size = { NULL, MISHAP_ENUM, .choices = sizes };
    const mishap_param *list = ONE({ "sizes", MISHAP_ARRAY, .items = &size, .length = { 1, 2 } });
    assert_sentence(list, "{\"sizes\":[\"S\",\"XL\"]}",
                    "sizes[1] must be one of S, M or L, not XL.");
    assert_sentence(list, "{\"sizes\":[\"S\",\"S\",\"S\"]}",
                    "sizes must have at least 1 and at most 2 items, not 3.");
    assert_sentence(ONE({ "pair", MISHAP_ARRAY, .items = &size, .length = { 2, 2 } }),
                    "{\"pair\":[\"S\"]}", "pair must have exactly 2 items, not 1.");
    assert_sentence(ONE({ "id", MISHAP_STRING, .length = { 4, 4 } }), "{\"id\":\"abc\"}",
                    "id must have exactly 4 characters, not 3.");
    assert_sentence(ONE({ "x", MISHAP_ENUM, .choices = one }), "{\"x\":\"M\"}",
                    "x must be one of S, not M.");
    assert_sentence(ONE({ "due", MISHAP_STRING, .format = "date" }), "{\"due\":\"2026-02-31\"}",
                    "due must be a date such as 2026-02-28, not 2026-02-31.");
    const mishap_param *place = ONE(
        { "to", MISHAP_STRING, .pattern = "^.+:[0-9]+$", .looks = "HOST:PORT" });
    assert_sentence(place, "{\"to\":\"here\"}", "to must look like HOST:PORT, not here.");
    /* What is empty, long, or no line of text is not repeated. */
    assert_sentence(place, "{\"to\":\"\"}", "to must look like HOST:PORT.");
    assert_sentence(place, "{\"to\":\"a\\nb\"}", "to must look like HOST:PORT.");
    assert_sentence(place, "{\"to\":\"0123456789012345678901234567890123456789x\"}",
                    "to must look like HOST:PORT.");
    assert_sentence(ONE({ "x", MISHAP_STRING, .pattern = "^a" }), "{\"x\":\"b\"}",
                    "x must match ^a.");
    assert_sentence(ONE({ "x", .type = MISHAP_STRING }), "{\"x\":\"\\u0000\"}",
                    "x must be text without NUL characters.");
    assert_sentence(ONE({ "n", MISHAP_INTEGER, .required = true }), "{}",
                    "n is required (integer).");
}

/* Neither one that is declared nor one that goes by such a name, and not the length of it. */
static void sentences_show_no_secret(void **state)
{
    (void)state;
    static const char *const sizes[] = { "S", "M", NULL };
    const mishap_param item = { NULL, .type = MISHAP_STRING };
    assert_sentence(ONE({ "pin", MISHAP_STRING, .pattern = "^[0-9]{4}$", .looks = "four digits",
                          .secret = true }),
                    "{\"pin\":\"12x4\"}", "pin must look like four digits.");
    assert_sentence(ONE({ "password", MISHAP_STRING, .pattern = "[0-9]", .looks = "a good one" }),
                    "{\"password\":\"hunter\"}", "password must be a good one.");
    assert_sentence(ONE({ "size", MISHAP_ENUM, .choices = sizes, .secret = true }),
                    "{\"size\":\"L\"}", "size must be one of S or M.");
    assert_sentence(
        ONE({ "words", MISHAP_ARRAY, .items = &item, .length = { 0, 1 }, .secret = true }),
        "{\"words\":[\"a\",\"b\"]}", "words must have at most 1 item.");
}

static void a_pattern_that_gives_up_is_an_internal_error(void **state)
{
    (void)state;
    const char *json = "{\"name\":1,\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"}";
    const mishap_param params[] = { { "name", .type = MISHAP_STRING },
                                    { "x", MISHAP_STRING, .pattern = "(a+)+$" },
                                    { 0 } };
    mishap *m = check(params, json);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
    char *text = rendered(mishap_dialect_find("canonical"), m);
    assert_null(strstr(text, "a+"));
    mishap_buffer account;
    mishap_buffer_init(&account, NULL, 0);
    mishap_account(m, &account);
    mishap_buffer_add(&account, "", 1);
    assert_non_null(strstr(account.data, "(a+)+$"));
    assert_null(strstr(account.data, "aaaaaaaa"));
    mishap_buffer_release(&account);
    free(text);
    mishap_free(m);

    /* What is too long anyway is told, and the pattern does not get in the way. */
    assert_findings(ONE({ "x", MISHAP_STRING, .length = { 0, 10 }, .pattern = "(a+)+$" }), json,
                    "[{\"field\":\"x\",\"error\":\"invalid_length\",\"max\":10,\"actual\":41}]");
    m = check(ONE({ "x", MISHAP_STRING, .pattern = "(" }), json);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
    mishap_free(m);
}

/* -- nesting ----------------------------------------------------------------------------------- */

static const mishap_param order_item_members[] = {
    { "name", MISHAP_STRING, .required = true },
    { "count", MISHAP_INTEGER, .range = { 1, 99 } },
    { 0 },
};
static const mishap_param order_item = { NULL, MISHAP_OBJECT, .members = order_item_members };
static const mishap_param number_item = { NULL, .type = MISHAP_NUMBER };
static const mishap_param row_item = { NULL, MISHAP_ARRAY, .length = { 2, 2 },
                                       .items = &number_item };
static const mishap_param tag_item = { NULL, MISHAP_STRING, .required = true, .length = { 1, 3 } };
static const mishap_param address_members[] = {
    { "city", MISHAP_STRING, .required = true },
    { 0 },
};
static const mishap_param order_params[] = {
    { "items", MISHAP_ARRAY, .required = true, .items = &order_item },
    { "matrix", MISHAP_ARRAY, .items = &row_item },
    { "tags", MISHAP_ARRAY, .items = &tag_item },
    { "address", MISHAP_OBJECT, .members = address_members },
    { "anything", .type = MISHAP_OBJECT },
    { 0 },
};

static void nested_fields_are_named_with_dots_and_indices(void **state)
{
    (void)state;
    assert_findings(
        order_params,
        "{\"address\":{\"city\":\"\"},\"matrix\":[[1,2],[1],[1,true]],\"tags\":[\"a\",\"\","
        "\"long\",null],"
        "\"items\":[{\"name\":\"one\"},{\"count\":1},{\"name\":\"two\",\"count\":100},7],"
        "\"anything\":{\"a\":[{}]}}",
        "[{\"field\":\"items[1].name\",\"error\":\"field_required\"},"
        "{\"field\":\"items[2].count\",\"error\":\"value_out_of_range\",\"min\":1,\"max\":99,"
        "\"actual\":100},"
        "{\"field\":\"items[3]\",\"error\":\"invalid_type\",\"expected\":\"object\",\"actual\":"
        "\"integer\"},"
        "{\"field\":\"matrix[1]\",\"error\":\"invalid_length\",\"min\":2,\"max\":2,\"actual\":1},"
        "{\"field\":\"matrix[2][1]\",\"error\":\"invalid_type\",\"expected\":\"number\",\"actual\":"
        "\"boolean\"},"
        "{\"field\":\"tags[1]\",\"error\":\"field_required\"},"
        "{\"field\":\"tags[2]\",\"error\":\"invalid_length\",\"min\":1,\"max\":3,\"actual\":4},"
        "{\"field\":\"tags[3]\",\"error\":\"field_required\"},"
        "{\"field\":\"address.city\",\"error\":\"field_required\"}]");
    /* What is optional and absent has no required members. */
    assert_findings(order_params, "{\"items\":[]}", NULL);
    assert_findings(order_params, "{\"items\":[],\"address\":{}}",
                    "[{\"field\":\"address.city\",\"error\":\"field_required\"}]");
}

static void an_item_is_there_even_if_it_is_null(void **state)
{
    (void)state;
    assert_findings(ONE({ "x", MISHAP_ARRAY, .items = &number_item }), "{\"x\":[1,null]}",
                    "[{\"field\":\"x[1]\",\"error\":\"invalid_type\",\"expected\":\"number\","
                    "\"actual\":\"null\"}]");
}

static void of_a_key_that_stands_twice_the_first_counts(void **state)
{
    (void)state;
    const mishap_param params[] = { { "b", .type = MISHAP_INTEGER },
                                    { "a", .type = MISHAP_INTEGER },
                                    { 0 } };
    assert_findings(params, "{\"a\":1,\"b\":2,\"a\":\"three\"}", NULL);
    assert_findings(params, "{\"a\":\"one\",\"b\":2,\"a\":3}",
                    "[{\"field\":\"a\",\"error\":\"invalid_type\",\"expected\":\"integer\","
                    "\"actual\":\"string\"}]");
}

static void keys_must_be_the_same_to_the_last_byte(void **state)
{
    (void)state;
    const mishap_param *params = ONE({ "ab", MISHAP_INTEGER, .required = true });
    static const char missing[] = "[{\"field\":\"ab\",\"error\":\"field_required\"}]";
    assert_findings(params, "{\"a\":1,\"abc\":1,\"AB\":1,\"ab\\u0000\":1,\"ab\\u0000c\":1,\"\":1}",
                    missing);
}

/* -- secrets ----------------------------------------------------------------------------------- */

static void what_is_secret_is_never_shown(void **state)
{
    (void)state;
    const mishap_param members[] = { { "first", MISHAP_INTEGER, .range = { 0, 9 } }, { 0 } };
    const mishap_param params[] = {
        { "pin", MISHAP_INTEGER, .secret = true, .range = { 1000, 9999 } },
        { "code", MISHAP_STRING, .secret = true, .length = { 8, 0 } },
        { "key", MISHAP_STRING, .secret = true },
        { "numbers", MISHAP_ARRAY, .secret = true, .items = &members[0] },
        { "parts", MISHAP_OBJECT, .secret = true, .members = members },
        { 0 },
    };
    assert_findings(
        params,
        "{\"pin\":777,\"code\":\"abc\",\"key\":5,\"numbers\":[777],\"parts\":{\"first\":777}}",
        "[{\"field\":\"pin\",\"error\":\"value_out_of_range\",\"min\":1000,\"max\":9999},"
        "{\"field\":\"code\",\"error\":\"invalid_length\",\"min\":8},"
        "{\"field\":\"key\",\"error\":\"invalid_type\",\"expected\":\"string\"},"
        "{\"field\":\"numbers[0]\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":9},"
        "{\"field\":\"parts.first\",\"error\":\"value_out_of_range\",\"min\":0,\"max\":9}]");
}

/* -- many, deep, odd --------------------------------------------------------------------------- */

static void anything_but_an_object_is_a_bad_request(void **state)
{
    (void)state;
    static const char *const others[] = { "[]", "null", "\"name\"", "7" };
    for (size_t i = 0; i < 4; i++) {
        mishap *m = check(user_params, others[i]);
        assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_BAD_REQUEST);
        mishap_free(m);
    }
    mishap *m = mishap_params_check(user_params, NULL);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_BAD_REQUEST);
    mishap_free(m);
    assert_findings(NULL, "{\"what\":\"ever\"}", NULL);
    assert_findings((const mishap_param[]){ { 0 } }, "{\"what\":\"ever\"}", NULL);
}

/* `count` times the piece, with something before and after. */
static char *repeat(const char *before, const char *piece, size_t count, const char *after,
                    size_t *length)
{
    size_t size = strlen(piece);
    char *text = malloc(strlen(before) + count * size + strlen(after) + 1), *at = text;
    at = stpcpy(at, before);
    for (size_t i = 0; i < count; i++, at += size)
        memcpy(at, piece, size);
    at = stpcpy(at, after);
    *length = (size_t)(at - text);
    return text;
}

static int64_t left_out(const mishap *m)
{
    const mishap_member *member = mishap_told(m)->context;
    if (!member)
        return 0;
    assert_true(mishap_text_equal(member->key, T("findings_left_out")));
    return member->value.integer;
}

static void after_a_hundred_findings_the_others_are_counted(void **state)
{
    (void)state;
    static const size_t counts[] = { 99, 100, 101, 100000 };
    const mishap_param *params = ONE({ "x", MISHAP_ARRAY, .items = &number_item });
    for (size_t i = 0; i < 4; i++) {
        size_t length;
        char *json = repeat("{\"x\":[", "\"\",", counts[i] - 1, "\"\"]}", &length);
        mishap *m = check_text(params, json, length);
        const mishap_public *told = mishap_told(m);
        assert_int_equal(told->field_count, counts[i] < 100 ? counts[i] : 100);
        assert_int_equal(left_out(m), counts[i] < 100 ? 0 : counts[i] - 100);
        const mishap_field *last = told->fields;
        while (last->next)
            last = last->next;
        assert_string_equal(last->field.data, counts[i] == 99 ? "x[98]" : "x[99]");
        mishap_free(m);
        free(json);
    }
}

static void a_hundred_thousand_members_are_no_trouble(void **state)
{
    (void)state;
    size_t size = 100000 * 20 + 200, length = 0;
    char *json = malloc(size);
    length += (size_t)snprintf(json, size, "{\"age\":200");
    for (int i = 0; i < 100000; i++)
        length += (size_t)snprintf(json + length, size - length, ",\"member_%d\":0", i);
    length += (size_t)snprintf(json + length, size - length,
                               ",\"name\":\"\",\"email\":\"invalid\"}");
    mishap *m = check_text(user_params, json, length);
    assert_int_equal(mishap_told(m)->field_count, 3);
    mishap_free(m);
    free(json);
}

/* More parameters than are searched one by one, in any order. */
static void many_parameters_are_found_in_any_order(void **state)
{
    (void)state;
    enum { MANY = 500 };
    static char names[MANY][8], json[MANY * 24];
    mishap_param params[MANY + 1] = { { 0 } };
    for (int order = 0; order < 3; order++) {
        size_t length = (size_t)snprintf(json, sizeof json, "{\"x\":null,\"more\":1");
        for (int i = 0; i < MANY; i++) {
            int which = order == 0 ? i : order == 1 ? MANY - 1 - i : i * 7 % MANY;
            snprintf(names[i], sizeof names[i], "p%d", i);
            params[i] = (mishap_param){ names[i], MISHAP_INTEGER, .required = true,
                                        .range = { i, i } };
            length += (size_t)snprintf(json + length, sizeof json - length, ",\"p%d\":%d", which,
                                       which);
        }
        snprintf(json + length, sizeof json - length, ",\"p7\":\"twice\"}");
        assert_findings(params, json, NULL);
    }
    mishap *m = check(params, "{\"p499\":499,\"p1\":2}");
    assert_int_equal(mishap_told(m)->field_count, 100);
    assert_int_equal(left_out(m), 399);
    mishap_free(m);
}

/* A declaration that contains itself should have been refused; the walk ends all the same. */
static void nesting_has_an_end(void **state)
{
    (void)state;
    static mishap_param node = { NULL, .type = MISHAP_ARRAY };
    node.items = &node;
    const mishap_param params[] = { { "x", MISHAP_ARRAY, .items = &node }, { 0 } };
    size_t length;
    char *open = repeat("{\"x\":", "[", 50000, "", &length);
    char *json = repeat(open, "]", 50000, "}", &length);
    mishap *m = check_text(params, json, length);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_BAD_REQUEST);
    mishap_free(m);
    free(open);
    free(json);
    assert_findings(params, "{\"x\":[[[[[]]]],[[[1]]]]}",
                    "[{\"field\":\"x[1][0][0][0]\",\"error\":\"invalid_type\",\"expected\":"
                    "\"array\",\"actual\":\"integer\"}]");
}

/* -- without memory ---------------------------------------------------------------------------- */

struct checked {
    const mishap_param *params;
    yyjson_val *object;
    const char *whole;
};

static void check_again(const void *input)
{
    const struct checked *checked = input;
    mishap_pattern_forget();
    assert_whole_or_no_memory(mishap_params_check(checked->params, checked->object),
                              checked->whole);
    mishap_pattern_forget();
}

static void check_without_memory(const mishap_param *params, const char *json)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_true(mishap_json_read(&reader, mishap_text_of(json)));
    mishap *m = mishap_params_check(params, reader.root);
    char *whole = rendered(mishap_dialect_find("canonical"), m);
    mishap_free(m);
    mishap_pattern_forget();
    torture(check_again, &(struct checked){ params, reader.root, whole });
    free(whole);
    mishap_json_reader_release(&reader);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_pattern_forget();
    mishap_use_allocator(&failing_allocator);
    check_without_memory(user_params, "{\"name\":\"\",\"age\":200,\"email\":\"invalid\"}");
    check_without_memory(user_params,
                         "{\"name\":1,\"age\":184467440737095516160,\"email\":\"invalid\"}");
    check_without_memory(order_params,
                         "{\"items\":[1,2,3,{},{},{},7,7,7,7,7,7,7,7,7,7,7,7,7,7],\"matrix\":[[],["
                         "],[],[]],\"tags\":[null]}");

    /* A name that is longer than most, choices that are, and a list that has an index. */
    static char name[400], choice[400];
    memset(name, 'n', sizeof name - 1);
    memset(choice, 'c', sizeof choice - 1);
    const char *const choices[] = { choice, NULL };
    const mishap_param members[] = { { name, MISHAP_ENUM, .choices = choices }, { 0 } };
    char json[500];
    snprintf(json, sizeof json, "{\"x\":{\"%s\":\"\"}}", name);
    check_without_memory(ONE({ "x", MISHAP_OBJECT, .members = members }), json);
    mishap_param many[60] = { { 0 } };
    static char names[59][4];
    for (int i = 0; i < 59; i++) {
        snprintf(names[i], sizeof names[i], "p%d", i);
        many[i] = (mishap_param){ names[i], MISHAP_STRING, .required = true };
    }
    check_without_memory(many, "{\"p58\":1,\"p3\":\"\"}");
    mishap_use_allocator(NULL);
}

static void a_number_of_a_million_digits_is_not_sent_back(void **state)
{
    (void)state;
    enum { DIGITS = 1000000 };
    static const mishap_param params[] = { { "count", MISHAP_INTEGER, .range = { 1, 9 } }, { 0 } };
    char *json = malloc(DIGITS + 32);
    size_t length = (size_t)snprintf(json, 32, "{\"count\":");
    memset(json + length, '7', DIGITS);
    memcpy(json + length + DIGITS, "}", 2);
    mishap *m = check(params, json);
    assert_int_equal(mishap_told(m)->field_count, 1);
    assert_int_equal(mishap_told(m)->fields->max.integer, 9);
    assert_int_equal(mishap_told(m)->fields->actual.kind, MISHAP_KIND_NONE);
    mishap_free(m);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_complete_example_has_its_three_findings),
        TEST(each_example_of_a_rule_comes_out_exactly),
        TEST(missing_null_and_empty_are_not_there),
        TEST(what_is_optional_and_absent_is_not_checked_further),
        TEST(every_type_takes_its_own_and_names_the_others),
        TEST(a_wrong_type_is_all_that_is_said),
        TEST(a_type_that_there_is_not_is_no_fault_of_the_caller),
        TEST(a_string_has_no_nul),
        TEST(length_counts_characters_and_items),
        TEST(only_bounds_that_there_are_are_told),
        TEST(bounds_are_included),
        TEST(large_integers_are_compared_exactly),
        TEST(numbers_that_no_type_has_room_for_are_out_of_range),
        TEST(length_and_pattern_are_both_told),
        TEST(choices_are_told_as_a_list),
        TEST(formats_are_checked_and_told_in_words),
        TEST(sentences_can_be_acted_on),
        TEST(sentences_show_no_secret),
        TEST(a_pattern_that_gives_up_is_an_internal_error),
        TEST(nested_fields_are_named_with_dots_and_indices),
        TEST(an_item_is_there_even_if_it_is_null),
        TEST(of_a_key_that_stands_twice_the_first_counts),
        TEST(keys_must_be_the_same_to_the_last_byte),
        TEST(what_is_secret_is_never_shown),
        TEST(anything_but_an_object_is_a_bad_request),
        TEST(after_a_hundred_findings_the_others_are_counted),
        TEST(a_hundred_thousand_members_are_no_trouble),
        TEST(many_parameters_are_found_in_any_order),
        TEST(a_number_of_a_million_digits_is_not_sent_back),
        TEST(nesting_has_an_end),
        TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
