/* Arguments of a tool against its schema: what is found and how it is told, what is not judged, and
 * schemas that were made to hurt. */
#include "schema/schema.h"

#include "base/base.h"
#include "operation/findings.h"
#include "testing.h"

static mishap_schema *compiled(const char *json)
{
    mishap_schema *schema = NULL;
    assert_null(mishap_schema_compile(mishap_text_of(json), &schema));
    assert_non_null(schema);
    return schema;
}

/* What is wrong with a value, by a schema. */
static mishap *check(const char *schema_json, const char *json)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_schema *schema = compiled(schema_json);
    if (json)
        assert_true(mishap_json_read(&reader, mishap_text_of(json)));
    mishap *m = mishap_schema_check(schema, json ? reader.root : NULL);
    mishap_schema_free(schema);
    mishap_json_reader_release(&reader);
    return m;
}

/* The sentences of all findings, a line each, as a caller reads them. */
static const char *sentences(const char *schema, const char *json)
{
    static char lines[8000];
    size_t used = 0;
    mishap *m = check(schema, json);
    lines[0] = '\0';
    if (!m)
        return "";
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_VALIDATION_ERROR);
    char *document = rendered(mishap_dialect_find("tool-result"), m);
    mishap_json_reader reader = MISHAP_JSON_READER;
    size_t index, count;
    yyjson_val *field;
    assert_true(mishap_json_read(&reader, mishap_text_of(document)));
    MISHAP_JSON_ITEMS (yyjson_obj_get(reader.root, "fields"), index, count, field) {
        const char *message = yyjson_get_str(yyjson_obj_get(field, "message"));
        used += (size_t)snprintf(lines + used, sizeof lines - used, "%s%s", index ? "\n" : "",
                                 message);
        assert_true(used < sizeof lines);
    }
    mishap_json_reader_release(&reader);
    free(document);
    mishap_free(m);
    return lines;
}

static bool fits(const char *schema, const char *json)
{
    mishap *m = check(schema, json);
    bool fine = !m;
    mishap_free(m);
    return fine;
}

/* The last words of a document, with a NUL behind. */
static void end_json(mishap_buffer *json, const char *words)
{
    mishap_buffer_put_text(json, mishap_text_of(words));
    mishap_buffer_put_char(json, '\0');
    assert_false(json->failed);
}

/* -- findings ---------------------------------------------------------------------------------- */

static const char tool[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"title\":{\"type\":\"string\",\"minLength\":3,\"maxLength\":10},"
    "\"priority\":{\"type\":\"string\",\"enum\":[\"low\",\"medium\",\"high\"]},"
    "\"count\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100},"
    "\"ratio\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"multipleOf\":0.5},"
    "\"code\":{\"type\":\"string\",\"pattern\":\"^[A-Z]{2}$\"},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true,"
    "\"maxItems\":3},"
    "\"owner\":{\"type\":[\"string\",\"null\"]},"
    "\"where\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},"
    "\"zip\":{\"type\":\"string\"}},\"required\":[\"city\"],\"additionalProperties\":false}},"
    "\"required\":[\"title\",\"priority\"],\"additionalProperties\":false}";

static void a_call_that_is_right_has_no_finding(void **state)
{
    (void)state;
    assert_true(fits(tool, "{\"title\":\"Call Ada\",\"priority\":\"low\"}"));
    assert_true(fits(tool, "{\"title\":\"Call Ada\",\"priority\":\"low\",\"count\":1.0,\"ratio\":2."
                           "5,\"code\":\"DE\",\"tags\":[\"a\",\"b\"],\"owner\":null,"
                           "\"where\":{\"city\":\"Berlin\"}}"));
}

static void all_findings_are_told_at_once(void **state)
{
    (void)state;
    assert_string_equal(sentences(tool,
                                  "{\"title\":\"a\",\"priorty\":\"low\",\"count\":0,\"ratio\":0,"
                                  "\"code\":\"de\",\"tags\":[\"a\",7,\"a\",\"b\"],\"owner\":5,"
                                  "\"where\":{\"zipp\":\"1\"}}"),
                        "priority is required (one of low, medium or high).\n"
                        "title must have at least 3 and at most 10 characters, not 1.\n"
                        "priorty is not a known name; did you mean priority?\n"
                        "count must be at least 1 and at most 100, not 0.\n"
                        "ratio must be greater than 0, not 0.\n"
                        "code must match the pattern ^[A-Z]{2}$, not de.\n"
                        "tags must have at most 3 items, not 4.\n"
                        "tags[1] must be a string, not a number: put it in quotes.\n"
                        "tags must not have the same item twice: items 0 and 2 are equal.\n"
                        "owner must be a string or null, not an integer.\n"
                        "where.city is required (string).\n"
                        "where.zipp is not a known name; did you mean zip?");
}

static void arguments_that_are_not_there_are_checked_too(void **state)
{
    (void)state;
    const char *both = "title is required (string).\n"
                       "priority is required (one of low, medium or high).";
    assert_string_equal(sentences(tool, NULL), both);
    assert_string_equal(sentences(tool, "{}"), both);
    assert_string_equal(sentences(tool, "[]"), "arguments must be an object, not an array.");
}

static void near_names_are_told(void **state)
{
    (void)state;
    assert_string_equal(sentences(tool, "{\"title\":\"Call\",\"priority\":\"hgih\"}"),
                        "priority must be one of low, medium or high (high may be meant), not "
                        "hgih.");
    assert_string_equal(sentences("{\"properties\":{\"a\":{},\"b\":{}},"
                                  "\"additionalProperties\":false}",
                                  "{\"something\":1}"),
                        "something is not a known name; the known names are a and b.");
    assert_string_equal(sentences("{\"additionalProperties\":false}", "{\"x\":1}"),
                        "x is not a known name.");
}

static void the_alternative_that_is_meant_is_told(void **state)
{
    static const char shapes[] =
        "{\"properties\":{\"shape\":{\"oneOf\":["
        "{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"circle\"},"
        "\"radius\":{\"type\":\"number\"}},\"required\":[\"kind\",\"radius\"]},"
        "{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"square\"},"
        "\"side\":{\"type\":\"number\"}},\"required\":[\"kind\",\"side\"]}]},"
        "\"id\":{\"anyOf\":[{\"type\":\"string\",\"minLength\":2},{\"type\":\"integer\"}]}}}";
    (void)state;
    assert_string_equal(sentences(shapes, "{\"shape\":{\"kind\":\"square\",\"radius\":1}}"),
                        "shape.side is required (number).");
    assert_string_equal(sentences(shapes, "{\"shape\":{\"kind\":\"sqare\"}}"),
                        "shape.kind must be one of circle or square (square may be meant), not "
                        "sqare.");
    assert_string_equal(sentences(shapes, "{\"shape\":7}"), "shape must be an object, not an "
                                                            "integer.");
    assert_string_equal(sentences(shapes, "{\"id\":true}"),
                        "id must be a string or an integer, not a boolean.");
    assert_string_equal(sentences(shapes, "{\"id\":\"a\"}"),
                        "id must have at least 2 characters, not 1.");
    assert_string_equal(sentences("{\"properties\":{\"a\":{\"oneOf\":[{\"minimum\":1},"
                                  "{\"minimum\":2}]}}}",
                                  "{\"a\":5}"),
                        "a fits more than one of the alternatives, of which only one may fit.");
}

static void values_of_secret_names_are_not_shown(void **state)
{
    static const char schema[] =
        "{\"properties\":{\"password\":{\"type\":\"string\",\"pattern\":\"^[0-9]+$\"},"
        "\"api_key\":{\"enum\":[\"a\"]},\"token\":{\"type\":\"number\",\"maximum\":5},"
        "\"auth_token\":{\"exclusiveMaximum\":5},\"passwords\":{\"items\":{\"enum\":[1]}},"
        "\"secret\":{\"properties\":{\"x\":{\"enum\":[1]}}}}}";
    (void)state;
    const char *lines = sentences(schema, "{\"password\":\"hunter22\",\"api_key\":\"hunter22\","
                                          "\"auth_token\":4711,\"passwords\":[\"hunter22\"],"
                                          "\"token\":4711,\"secret\":{\"x\":\"hunter22\"}}");
    assert_non_null(strstr(lines, "password must match"));
    assert_null(strstr(lines, "hunter22"));
    assert_null(strstr(lines, "4711"));
}

static void findings_conform_to_every_dialect(void **state)
{
    static const char schema[] =
        "{\"minProperties\":20,\"properties\":{\"a\":{\"maxItems\":0},\"b\":{\"not\":{}},"
        "\"c\":{\"const\":{\"x\":[1]}},\"d\":{\"contains\":{\"type\":\"null\"}},\"e\":false,"
        "\"f\":{\"multipleOf\":3},\"g\":{\"type\":[\"null\",\"array\"]},\"h\":{\"enum\":[]},"
        "\"i\":{\"maximum\":100000000000000000000}},\"propertyNames\":{\"maxLength\":1},"
        "\"dependentRequired\":{\"a\":[\"z\"]}}";
    (void)state;
    mishap *m = check(schema,
                      "{\"a\":[1],\"b\":1,\"c\":1,\"d\":[1],\"e\":1,\"f\":4,\"g\":1,\"h\":1,"
                      "\"i\":200000000000000000000,\"long\":1}");
    assert_non_null(m);
    assert_int_equal(mishap_told(m)->field_count, 12);
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        char *text = rendered(*dialect, m);
        char *rules = broken_rules(*dialect, text, strlen(text), false);
        if (strcmp(rules, "") != 0 && strcmp(rules, "unknown-field-error") != 0)
            fail_msg("%s: %s: %s", mishap_dialect_name(*dialect), rules, text);
        free(rules);
        free(text);
    }
    mishap_free(m);
}

static void findings_are_limited_in_number(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    MISHAP_PUT(&json, "{\"a\":[");
    for (int i = 0; i < 1000; i++)
        mishap_buffer_put_text(&json, mishap_text_of(i ? ",1" : "1"));
    end_json(&json, "]}");
    mishap *m = check("{\"properties\":{\"a\":{\"items\":{\"type\":\"string\"}}}}", json.data);
    assert_non_null(m);
    assert_int_equal(mishap_told(m)->field_count, MISHAP_MOST_FINDINGS);
    const mishap_member *left = mishap_public_member(mishap_told(m), "findings_left_out");
    assert_non_null(left);
    assert_int_equal(left->value.natural, 1000 - MISHAP_MOST_FINDINGS);
    mishap_free(m);
    mishap_buffer_release(&json);
}

/* -- what is not judged ------------------------------------------------------------------------ */

#define DRAFT_7 "\"$schema\":\"http://json-schema.org/draft-07/schema#\","

static void what_is_not_known_is_not_judged(void **state)
{
    /* Each refuses the value if its unknown part is taken for one that fits, or that fails. */
    static const char *const schemas[] = {
        "{\"not\":{\"pattern\":\"(a)\\\\1\"}}",
        "{\"pattern\":\"(a)\\\\1\"}",
        "{\"anyOf\":[{\"$ref\":\"https://example.com/other\"},false]}",
        "{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"other.json\"}]}",
        "{\"not\":{\"$ref\":\"#/nowhere\"}}",
        "{\"if\":{\"$ref\":\"#/nowhere\"},\"then\":false,\"else\":false}",
        "{\"not\":{\"format\":\"email\"}}",
        "{\"format\":\"email\"}",
        "{\"format\":\"ipv4\"}",
        "{\"not\":{\"format\":\"x-own\"}}",
        "{" DRAFT_7 "\"not\":{\"format\":\"x-own\"}}",
        "{\"type\":\"strin\"}",
        "{\"type\":7}",
        "{\"minLength\":\"7\"}",
        "{\"minLength\":-7}",
        "{\"maxLength\":0.5}",
        "{\"enum\":\"b\"}",
        "{\"allOf\":{}}",
        "{\"anyOf\":[]}",
        "{\"not\":7}",
        "{\"required\":true}",
        "{\"$recursiveRef\":\"#\",\"$schema\":\"https://json-schema.org/draft/2019-09/schema\"}",
        "{\"$schema\":\"https://example.com/own\",\"type\":\"null\"}",
        "{\"$schema\":7,\"type\":\"null\"}",
        "{\"type\":\"null\",\"type\":\"null\"}",
        "{\"type\":\"null\",\"x\\u0000\":1}",
        "{\"type\":\"null\",\"enum\":[\"\\ud800\"]}",
        "\"null\"",
        "[false]",
        "null",
        "",
        "{\"type\":",
        "{\"type\":\"null\"}x",
        "\xff",
    };
    (void)state;
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
        if (!fits(schemas[i], "\"a\""))
            fail_msg("%s", schemas[i]);
}

static void a_schema_that_is_not_read_says_why(void **state)
{
    (void)state;
    mishap_schema *schema = compiled("{\"$schema\":\"https://example.com/own\"}");
    assert_string_equal(mishap_schema_unread(schema),
                        "The schema is of a draft that is not known.");
    mishap_schema_free(schema);
    schema = compiled("true");
    assert_null(mishap_schema_unread(schema));
    mishap_schema_free(schema);
    mishap_schema_free(NULL);
}

static void the_draft_decides(void **state)
{
    (void)state;
    /* Beside $ref nothing counts in draft 7. */
    assert_true(fits("{" DRAFT_7 "\"$ref\":\"#/definitions/a\",\"type\":\"null\","
                     "\"definitions\":{\"a\":true}}",
                     "1"));
    assert_false(fits("{\"$ref\":\"#/definitions/a\",\"type\":\"null\","
                      "\"definitions\":{\"a\":true}}",
                      "1"));
    assert_false(fits("{" DRAFT_7 "\"items\":[{\"type\":\"null\"}]}", "[1]"));
    assert_true(fits("{\"items\":[{\"type\":\"null\"}]}", "[1]"));
    assert_false(fits("{" DRAFT_7 "\"format\":\"ipv4\"}", "\"x\""));
    assert_false(fits("{\"prefixItems\":[{\"type\":\"null\"}]}", "[1]"));
    assert_true(fits("{" DRAFT_7 "\"prefixItems\":[{\"type\":\"null\"}]}", "[1]"));
}

static void patterns_mean_what_they_mean_in_ecmascript(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {
        { "^\\\\s$", "\"\\u00a0\"", true },
        { "^\\\\S$", "\"\\u00a0\"", false },
        { "^[\\\\s]$", "\"\\ufeff\"", true },
        { "^[^\\\\S]$", "\"\\ufeff\"", true },
        { "^.$", "\"\\r\"", false },
        { "^.$", "\"\\u2028\"", false },
        { "^[^]$", "\"\\n\"", true },
        { "^[]$", "\"\"", false },
        { "^\\\\u00e9$", "\"é\"", true },
        { "^\\\\ud83d\\\\ude00$", "\"😀\"", true },
        { "^\\\\u{1f600}$", "\"😀\"", true },
        { "^\\\\cA$", "\"\\u0001\"", true },
        { "^\\\\v$", "\"\\n\"", false },
        { "^a$", "\"a\\n\"", false },
        { "^[[:alpha:]]$", "\"a\"", false }, /* a class of [:alph, and a bracket */
        { "^\\\\p{L}$", "\"é\"", true },
        { "^\\\\p{Letter}+$", "\"1\"", false },
        { "^(?<year>\\\\d{4})$", "\"2026\"", true },
        { "^(?<year>\\\\d{4})$", "\"202\"", false },
        { "^[\\\\w-.]+$", "\"a-b.c\"", true },
        { "^[+-.]$", "\",\"", true },
        { "^x{2,3}?$", "\"xxxx\"", false },
        /* Not translated, so not judged: */
        { "^a++$", "\"b\"", true },
        { "^(?>a)$", "\"b\"", true },
        { "(?i)^A$", "\"b\"", true },
        { "^\\\\A$", "\"b\"", true },
        { "^(*UCP)$", "\"b\"", true },
        { "^a{,3}$", "\"b\"", true },
        { "^\\\\Qa$", "\"b\"", true },
        { "(", "\"b\"", true },
        { "[z-a]", "\"b\"", true },
        { "^\\\\k<a>$", "\"b\"", true },
        { "\\\\", "\"b\"", true },
    };
    char schema[200];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(schema, sizeof schema, "{\"pattern\":\"%s\"}", cases[i].pattern);
        if (fits(schema, cases[i].text) != cases[i].fits)
            fail_msg("%s with %s", schema, cases[i].text);
    }
}

static void numbers_are_exact(void **state)
{
    (void)state;
    assert_true(fits("{\"maximum\":9007199254740993}", "9007199254740993"));
    assert_false(fits("{\"maximum\":9007199254740993}", "9007199254740994"));
    assert_false(fits("{\"const\":9007199254740993}", "9007199254740992"));
    assert_true(fits("{\"const\":100000000000000000000}", "1e20"));
    assert_false(fits("{\"maximum\":18446744073709551615}", "18446744073709551616"));
    assert_true(fits("{\"minimum\":9007199254740993}", "18446744073709551615"));
    assert_false(fits("{\"minimum\":-9223372036854775808}", "-9223372036854775809"));
    assert_true(fits("{\"multipleOf\":0.0001}", "0.0075"));
    assert_false(fits("{\"multipleOf\":0.0001}", "0.00751"));
    assert_true(fits("{\"multipleOf\":0.1}", "0.3"));
    assert_false(fits("{\"multipleOf\":3}", "18446744073709551614"));
    assert_true(fits("{\"enum\":[1]}", "1.0"));
    assert_false(fits("{\"enum\":[true]}", "1"));
    assert_true(fits("{\"type\":\"integer\"}", "1e2"));
    assert_true(fits("{\"type\":\"integer\"}", "1e400")); /* … and neither is the opposite known */
    assert_true(fits("{\"not\":{\"type\":\"integer\"}}", "1e400"));
    assert_false(fits("{\"type\":\"string\"}", "1e400"));
    assert_true(fits("{\"not\":{\"multipleOf\":1}}", "5.0000000001"));
    assert_true(fits("{\"not\":{\"multipleOf\":0.1}}", "0.30000000000000004"));
    assert_false(fits("{\"not\":{\"multipleOf\":0.5}}", "-1.5"));
    assert_false(fits("{\"not\":{\"multipleOf\":0.1}}", "0"));
}

/* -- schemas that were made to hurt ------------------------------------------------------------ */

static void circles_of_references_end(void **state)
{
    (void)state;
    assert_true(fits("{\"$ref\":\"#\"}", "1"));
    assert_true(fits("{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}},"
                     "\"$ref\":\"#/$defs/a\"}",
                     "1"));
    assert_true(fits("{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1"));
    assert_true(fits("{\"not\":{\"$ref\":\"#\"}}", "1"));
    assert_true(
        fits("{\"unevaluatedProperties\":false,\"anyOf\":[{\"$ref\":\"#\"}]}", "{\"a\":1}"));
    /* A circle that goes down with the value is no trouble. */
    assert_string_equal(sentences("{\"properties\":{\"next\":{\"$ref\":\"#\"},"
                                  "\"v\":{\"type\":\"null\"}}}",
                                  "{\"next\":{\"next\":{\"v\":1}}}"),
                        "next.next.v must be null, not an integer.");
}

static void what_grows_exponentially_is_given_up(void **state)
{
    static const char *const ways[] = { "allOf", "anyOf", "oneOf" };
    (void)state;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        mishap_buffer json = { 0 };
        MISHAP_PUT(&json, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
        for (int i = 0; i < 60; i++) {
            char row[160];
            snprintf(row, sizeof row,
                     "\"d%d\":{\"%s\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},", i,
                     ways[w], i + 1, i + 1);
            mishap_buffer_put_text(&json, mishap_text_of(row));
        }
        end_json(&json, "\"d60\":{\"type\":\"null\"}}}");
        (void)fits(json.data, "1");
        (void)fits(json.data, "null");
        mishap_buffer_release(&json);
    }
}

static void patterns_that_run_away_are_given_up(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    MISHAP_PUT(&json, "[");
    for (int i = 0; i < 2000; i++)
        mishap_buffer_put_text(&json, mishap_text_of("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\","));
    end_json(&json, "\"\"]");
    assert_true(fits("{\"items\":{\"pattern\":\"^(a+)+$\"}}", json.data));
    mishap_buffer_reset(&json);
    /* A text that a search would go through at each of its characters. */
    mishap_buffer_put_char(&json, '"');
    for (int i = 0; i < 3000000; i++)
        mishap_buffer_put_char(&json, 'a');
    end_json(&json, "\"");
    assert_true(fits("{\"pattern\":\"[^x]*y\"}", json.data));
    assert_false(fits("{\"maxLength\":10}", json.data));
    mishap_buffer_release(&json);
}

static void deep_and_large_ones_are_refused_or_read(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    for (int i = 0; i < 100000; i++)
        MISHAP_PUT(&json, "{\"not\":");
    end_json(&json, "");
    assert_true(fits(json.data, "1"));
    mishap_buffer_reset(&json);
    for (int i = 0; i < 200; i++)
        MISHAP_PUT(&json, "{\"items\":");
    MISHAP_PUT(&json, "false");
    for (int i = 0; i < 200; i++)
        mishap_buffer_put_char(&json, '}');
    end_json(&json, "");
    assert_true(fits(json.data, "[1]"));
    mishap_buffer_reset(&json);
    MISHAP_PUT(&json, "{\"type\":\"null\",\"title\":\"");
    for (int i = 0; i < 3000000; i++)
        mishap_buffer_put_char(&json, 'a');
    end_json(&json, "\"}");
    mishap_schema *schema = compiled(json.data);
    assert_string_equal(mishap_schema_unread(schema), "The schema is larger than 1 MiB.");
    mishap_schema_free(schema);
    mishap_buffer_reset(&json);
    MISHAP_PUT(&json, "{\"anyOf\":[");
    for (int i = 0; i < 30000; i++)
        MISHAP_PUT(&json, "{\"type\":\"null\"},");
    end_json(&json, "false]}");
    assert_true(fits(json.data, "1"));
    mishap_buffer_release(&json);
}

/* Chains of references take no stack when they are compiled. */
static void long_chains_and_long_lists_are_bounded(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    char row[64];
    MISHAP_PUT(&json, "{\"$ref\":\"#/$defs/0\",\"$defs\":{");
    for (int i = 0; i < 15000; i++) {
        snprintf(row, sizeof row, "\"%d\":{\"$ref\":\"#/$defs/%d\"},", i, i + 1);
        mishap_buffer_put_text(&json, mishap_text_of(row));
    }
    end_json(&json, "\"15000\":false}}");
    assert_true(fits(json.data, "1"));
    mishap_buffer_reset(&json);
    MISHAP_PUT(&json, "[");
    for (int i = 0; i < 200000; i++) {
        snprintf(row, sizeof row, "%d,", i);
        mishap_buffer_put_text(&json, mishap_text_of(row));
    }
    end_json(&json, "0]");
    (void)fits("{\"uniqueItems\":true}", json.data);
    assert_false(fits("{\"maxItems\":200000}", json.data));
    mishap_buffer_release(&json);
}

/* -- memory ------------------------------------------------------------------------------------ */

struct pair {
    const char *schema, *json, *whole;
};

static void compile_and_check(const void *input)
{
    mishap *no_memory = mishap_out_of_memory();
    const struct pair *pair = input;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_schema *schema = NULL;
    mishap *m = mishap_schema_compile(mishap_text_of(pair->schema), &schema);
    if (!m && mishap_json_read(&reader, mishap_text_of(pair->json)))
        m = mishap_schema_check(schema, reader.root);
    mishap_schema_free(schema);
    mishap_json_reader_release(&reader);
    /* A pattern that cannot be searched for is not judged: some findings, of those that are right.
     */
    for (const mishap_field *field = m ? mishap_told(m)->fields : NULL; field;
         field = field->next) {
        char shown[200];
        snprintf(shown, sizeof shown, "%.*s", (int)field->message.length, field->message.data);
        if (!strstr(pair->whole, shown))
            fail_msg("%s", shown);
    }
    assert_true(!m || mishap_told(m)->fields ||
                mishap_told(m)->code == mishap_told(no_memory)->code);
    mishap_free(m);
    mishap_pattern_forget(); /* what this thread searches with */
}

static void every_allocation_may_fail(void **state)
{
    static const char json[] = "{\"title\":\"a\",\"priorty\":\"low\",\"code\":\"de\",\"owner\":5,"
                               "\"shape\":{\"kind\":\"b\"},\"other\":{\"zip\":3}}";
    static const char schema[] =
        "{\"$id\":\"https://example.com/a/b\",\"properties\":{"
        "\"title\":{\"$ref\":\"../a/b#/$defs/title\"},"
        "\"priority\":{\"enum\":[\"low\",\"high\"]},\"code\":{\"pattern\":\"^[A-Z] $\"},"
        "\"owner\":{\"type\":[\"string\",\"null\"]},"
        "\"shape\":{\"oneOf\":[{\"properties\":{\"kind\":{\"const\":\"circle\"}}},"
        "{\"properties\":{\"kind\":{\"const\":\"square\"}}}]}},"
        "\"patternProperties\":{\"^o\":{\"properties\":{\"zip\":{\"type\":\"string\"}}}},"
        "\"required\":[\"priority\",\"more\"],\"additionalProperties\":false,"
        "\"dependentRequired\":{\"title\":[\"due\"]},"
        "\"$defs\":{\"title\":{\"minLength\":3}}}";
    (void)state;
    mishap *m = check(schema, json);
    assert_non_null(m);
    struct pair pair = { schema, json, rendered(mishap_dialect_find("canonical"), m) };
    mishap_free(m);
    mishap_pattern_forget();
    mishap_use_allocator(&failing_allocator);
    torture(compile_and_check, &pair);
    mishap_use_allocator(NULL);
    free((char *)(uintptr_t)pair.whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_call_that_is_right_has_no_finding),
        TEST(all_findings_are_told_at_once),
        TEST(arguments_that_are_not_there_are_checked_too),
        TEST(near_names_are_told),
        TEST(the_alternative_that_is_meant_is_told),
        TEST(values_of_secret_names_are_not_shown),
        TEST(findings_conform_to_every_dialect),
        TEST(findings_are_limited_in_number),
        TEST(what_is_not_known_is_not_judged),
        TEST(a_schema_that_is_not_read_says_why),
        TEST(the_draft_decides),
        TEST(patterns_mean_what_they_mean_in_ecmascript),
        TEST(numbers_are_exact),
        TEST(circles_of_references_end),
        TEST(what_grows_exponentially_is_given_up),
        TEST(patterns_that_run_away_are_given_up),
        TEST(deep_and_large_ones_are_refused_or_read),
        TEST(long_chains_and_long_lists_are_bounded),
        TEST(every_allocation_may_fail),
    };
    return RUN(tests);
}
