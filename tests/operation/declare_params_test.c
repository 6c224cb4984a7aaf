/* Broken declarations of parameters. */

#include "testing.h"
#include "declarations.h"

/* -- helpers ----------------------------------------------------------------------------------- */

#define ASSERT_PARAM(why, ...)                                                                     \
    ASSERT_OPERATION("its parameter `x` " why, PARAMS({ "x", __VA_ARGS__ }))
#define ASSERT_PARAM_SOUND(...) ASSERT_SOUND(PARAMS({ "x", __VA_ARGS__ }))
#define ASSERT_PARAMS(why, ...) ASSERT_OPERATION("its parameter " why, PARAMS(__VA_ARGS__))

/* -- parameters -------------------------------------------------------------------------------- */

static void parameters_have_a_name_and_a_type(void **state)
{
    (void)state;
    static const char *const sound[] = { "x",       "name",   "created_at", "line_2", "x1",
                                         "dueDate", "userID", "x509Cert",   "aB" };
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        ASSERT_SOUND(PARAMS({ sound[i], .type = MISHAP_STRING }));
    static const char *const broken[] = {
        "",   "Name",         "created-at", "a.b",      "_a",       "a_",      "a__b",
        "1a", "na\xC3\xAFve", "a b",        "due_Date", "dueDate_", "due-Date"
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char sentence[200];
        snprintf(sentence, sizeof sentence,
                 "The declaration of the operation `users.create` is not valid: its parameter `%s` "
                 "has a name that is neither lower_snake nor camelCase.",
                 broken[i]);
        assert_operations(OPERATION(PARAMS({ broken[i], .type = MISHAP_STRING })), sentence);
    }
    ASSERT_PARAM("has no type, or an unknown type", .required = true);
    ASSERT_PARAM("has no type, or an unknown type", .type = MISHAP_MAP + 1);
    ASSERT_PARAM("has no type, or an unknown type", .type = -1);
    ASSERT_PARAM("has a help text that is empty", .type = MISHAP_STRING, .help = "");
    ASSERT_PARAM("has a help text that is not UTF-8", .type = MISHAP_STRING, .help = "\xFE");
    ASSERT_OPERATION("it has a parameter, number 2, without a name",
                     PARAMS({ "x", .type = MISHAP_STRING }, { NULL, .type = MISHAP_STRING }));
    ASSERT_PARAMS("`dueDate` differs from `due_date` only in capitals or underscores",
                  { "due_date", .type = MISHAP_STRING }, { "dueDate", .type = MISHAP_STRING });
    static const mishap_param members[] = { { "due_date", .type = MISHAP_STRING },
                                            { "dueDate", .type = MISHAP_STRING },
                                            { 0 } };
    ASSERT_PARAM_SOUND(MISHAP_OBJECT, .members = members); /* no flags */
    ASSERT_PARAMS("`x` is declared twice", { "x", .type = MISHAP_STRING },
                  { "y", .type = MISHAP_STRING }, { "x", .type = MISHAP_INTEGER });
}

static void only_one_file_of_an_operation_is_streamed(void **state)
{
    (void)state;
    ASSERT_PARAM_SOUND(MISHAP_FILE, .streamed = true, .length = { 0, 9 });
    ASSERT_PARAM("is streamed, which only a file of an operation is", MISHAP_STRING,
                 .streamed = true);
    ASSERT_PARAM("is streamed, so it needs a largest length, and cannot have a least one",
                 MISHAP_FILE, .streamed = true);
    ASSERT_PARAM("is streamed, so it needs a largest length, and cannot have a least one",
                 MISHAP_FILE, .streamed = true, .length = { 1, 9 });
    ASSERT_PARAM("is streamed, so it is neither secret nor has a default", MISHAP_FILE,
                 .streamed = true, .secret = true, .length = { 0, 9 });
    ASSERT_PARAMS("`y` is streamed, but only one file of a request is: x",
                  { .name = "x", .type = MISHAP_FILE, .streamed = true, .length = { 0, 9 } },
                  { .name = "y", .type = MISHAP_FILE, .streamed = true, .length = { 0, 9 } });
}

static const mishap_param text_item = { NULL, .type = MISHAP_STRING };

static void lengths_are_of_strings_and_arrays(void **state)
{
    (void)state;
    ASSERT_PARAM_SOUND(MISHAP_STRING, .length = { 1, 1 });
    ASSERT_PARAM_SOUND(MISHAP_STRING, .length = { .min = 5 });
    ASSERT_PARAM_SOUND(MISHAP_ARRAY, .length = { 1, 2 }, .items = &text_item);
    ASSERT_PARAM("has a length of at least 5 and at most 4", MISHAP_STRING, .length = { 5, 4 });
    static const char *const red[] = { "red", NULL };
    ASSERT_PARAM("has a length, which only a string, bytes, a file, an array or a map has",
                 MISHAP_INTEGER, .length = { 1, 2 });
    ASSERT_PARAM("has a length, which only a string, bytes, a file, an array or a map has",
                 MISHAP_BOOLEAN, .length = { 0, 2 });
    ASSERT_PARAM("has a length, which only a string, bytes, a file, an array or a map has",
                 MISHAP_OBJECT, .length = { 1, 0 });
    ASSERT_PARAM("has a length, which only a string, bytes, a file, an array or a map has",
                 MISHAP_ENUM, .choices = red, .length = { 1, 2 });
}

static void ranges_are_of_numbers(void **state)
{
    (void)state;
    ASSERT_PARAM_SOUND(MISHAP_INTEGER, .range = { 0, 150 });
    ASSERT_PARAM_SOUND(MISHAP_INTEGER, .range = { -INFINITY, 0 });
    ASSERT_PARAM_SOUND(MISHAP_NUMBER, .range = { 0.5, 0.5 });
    ASSERT_PARAM_SOUND(MISHAP_NUMBER, .range = { -INFINITY, INFINITY });
    ASSERT_PARAM("has a range, which only an integer, a number, a decimal or money has",
                 MISHAP_STRING, .range = { 0, 1 });
    ASSERT_PARAM("has a range, which only an integer, a number, a decimal or money has",
                 MISHAP_BOOLEAN, .range = { 1, 1 });
    ASSERT_PARAM("has a range with a bound that is not a number", MISHAP_NUMBER,
                 .range = { 0, NAN });
    ASSERT_PARAM("has a range from 5 to 0; use INFINITY for no limit", MISHAP_NUMBER,
                 .range = { .min = 5 });
    ASSERT_PARAM("has an empty range", MISHAP_NUMBER, .range = { INFINITY, INFINITY });
    ASSERT_PARAM("has an empty range", MISHAP_NUMBER, .range = { -INFINITY, -INFINITY });
    ASSERT_PARAM("is an integer with a bound that is not an integer or is too large; use INFINITY "
                 "for no limit",
                 MISHAP_INTEGER, .range = { 0.5, 2 });
    ASSERT_PARAM("is an integer with a bound that is not an integer or is too large; use INFINITY "
                 "for no limit",
                 MISHAP_INTEGER, .range = { 0, 1e19 });
}

static void patterns_and_choices_work(void **state)
{
    (void)state;
    static const char *const none[] = { NULL }, *const colours[] = { "red", "green", NULL },
                             *const twice[] = { "red", "green", "red", NULL },
                             *const empty[] = { "red", "", NULL };
    ASSERT_PARAM_SOUND(MISHAP_STRING, .pattern = "^[a-z]+$");
    ASSERT_PARAM("has a pattern, which only a string has", MISHAP_INTEGER, .pattern = "x");
    ASSERT_PARAM("has a pattern, which only a string has", MISHAP_ENUM, .choices = colours,
                 .pattern = "x");
    ASSERT_PARAM("has a pattern that cannot be compiled: missing closing parenthesis (at byte 1)",
                 MISHAP_STRING, .pattern = "(");
    ASSERT_PARAM_SOUND(MISHAP_STRING, .format = "date-time", .looks = "a point in time");
    ASSERT_PARAM("has a format, which only a string has", MISHAP_INTEGER, .format = "date");
    ASSERT_PARAM("has a format, which only a string has", MISHAP_ENUM, .choices = colours,
                 .format = "date");
    ASSERT_PARAM("has the format `datetime`, which is not one of date, time, date-time, duration, "
                 "email, hostname, ipv4, ipv6, uri or uuid",
                 MISHAP_STRING, .format = "datetime");
    ASSERT_PARAM("has a default that breaks its own rules: pattern_mismatch", MISHAP_STRING,
                 .format = "date", .initial = "\"2026-02-31\"");
    ASSERT_PARAM_SOUND(MISHAP_ENUM, .choices = colours);
    ASSERT_PARAM("is an enum without choices", .type = MISHAP_ENUM);
    ASSERT_PARAM("is an enum without choices", MISHAP_ENUM, .choices = none);
    ASSERT_PARAM("has choices, which only an enum has", MISHAP_STRING, .choices = colours);
    ASSERT_PARAM("has the choice `red` twice", MISHAP_ENUM, .choices = twice);
    ASSERT_PARAM("has a choice, number 2, that is empty", MISHAP_ENUM, .choices = empty);
}

static void what_is_inside_is_checked_too(void **state)
{
    (void)state;
    static const mishap_param city[] = { { "city", MISHAP_STRING, .required = true }, { 0 } },
                              nothing[] = { { 0 } };
    static const mishap_param flawed[] = { { "city", MISHAP_STRING, .pattern = "(" }, { 0 } };
    static const mishap_param object_item = { NULL, MISHAP_OBJECT, .members = flawed };
    ASSERT_PARAM_SOUND(.type = MISHAP_OBJECT);
    ASSERT_PARAM_SOUND(MISHAP_OBJECT, .members = city);
    ASSERT_PARAM("has items, which only an array or a map has", MISHAP_STRING, .items = &text_item);
    ASSERT_PARAM("has members, which only an object has", MISHAP_STRING, .members = city);
    ASSERT_PARAM("is an object with an empty list of members; NULL allows any", MISHAP_OBJECT,
                 .members = nothing);
    ASSERT_PARAMS(
        "`x.city` has a pattern that cannot be compiled: missing closing parenthesis (at byte 1)",
        { "x", MISHAP_OBJECT, .members = flawed });
    ASSERT_PARAMS(
        "`x[].city` has a pattern that cannot be compiled: missing closing parenthesis (at byte 1)",
        { "x", MISHAP_ARRAY, .items = &object_item });

    static const mishap_param with_letter[] = { { "city", MISHAP_STRING, .letter = 'c' }, { 0 } };
    static const mishap_param with_default[] = { { "city", MISHAP_STRING, .initial = "\"Rome\"" },
                                                 { 0 } };
    ASSERT_PARAMS("`x.city` is nested in another parameter, so it cannot have a flag, a position "
                  "or a variable",
                  { "x", MISHAP_OBJECT, .members = with_letter });
    ASSERT_PARAMS("`x.city` is nested in another parameter, where a default is not supported",
                  { "x", MISHAP_OBJECT, .members = with_default });
}

static void a_declaration_that_contains_itself_is_refused(void **state)
{
    (void)state;
    static mishap_param node = { NULL, .type = MISHAP_ARRAY };
    node.items = &node;
    ASSERT_PARAMS(
        "`x[][][][][][][][][][][][][][][][]` is nested more than 16 deep, or contains itself",
        { "x", MISHAP_ARRAY, .items = &node });
}

static void defaults_hold_their_own_rules(void **state)
{
    (void)state;
    static const char *const colours[] = { "red", "green", NULL };
    ASSERT_PARAM_SOUND(MISHAP_INTEGER, .range = { 1, 9 }, .initial = "5");
    ASSERT_PARAM_SOUND(MISHAP_ENUM, .choices = colours, .initial = "\"red\"");
    ASSERT_PARAM_SOUND(MISHAP_STRING, .initial = "\"\"");
    ASSERT_PARAM_SOUND(MISHAP_ARRAY, .items = &text_item, .initial = "[]");
    mishap *m = mishap_declaration_check(&(mishap_app){
        .name = "d", .operations = OPERATION(PARAMS({ "x", MISHAP_STRING, .initial = "text" })) });
    assert_non_null(
        strstr(mishap_public_message(mishap_told(m)).data, "`x` has a default that is not JSON: "));
    mishap_free(m);
    ASSERT_PARAM("has a default that is not JSON: the text is empty; a string has quotes of its "
                 "own, \"\\\"text\\\"\"",
                 MISHAP_STRING, .initial = "");
    ASSERT_PARAM("has a default that is not JSON: the text is empty", MISHAP_INTEGER,
                 .initial = "");
    ASSERT_PARAM("has a default that breaks its own rules: value_out_of_range", MISHAP_INTEGER,
                 .range = { 1, 9 }, .initial = "10");
    ASSERT_PARAM("has a default that breaks its own rules: invalid_type", MISHAP_INTEGER,
                 .initial = "\"5\"");
    ASSERT_PARAM("has a default that breaks its own rules: pattern_mismatch", MISHAP_ENUM,
                 .choices = colours, .initial = "\"blue\"");
    ASSERT_PARAM("has a default that breaks its own rules: invalid_length", MISHAP_STRING,
                 .length = { 2, 3 }, .initial = "\"\"");
    ASSERT_PARAM("has a default that breaks its own rules: invalid_type", MISHAP_ARRAY,
                 .items = &text_item, .initial = "[1]");
    ASSERT_PARAM("has the default null, which is not allowed", MISHAP_STRING, .initial = "null");
    ASSERT_PARAM("has a default that could not be checked", MISHAP_STRING, .pattern = "(a+)+$",
                 .initial = "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"");
    ASSERT_PARAM("is required and has a default, which would never be used", MISHAP_STRING,
                 .required = true, .initial = "\"a\"");
    ASSERT_PARAM("is secret and has a default, which everyone could read", MISHAP_STRING,
                 .secret = true, .initial = "\"a\"");
}

static void headers_have_names_and_are_no_keys(void **state)
{
    (void)state;
#define HEADERS(...) OPERATION(.headers = (const char *const[]){ __VA_ARGS__, NULL })
#define REFUSED(why)                                                                               \
    "The declaration of the operation `users.create` is not valid: it reads " why "."
    assert_operations(HEADERS("User-Agent", "traceparent", "X-1"), NULL);
    static const char odd[] = REFUSED("a header whose name is not up to 63 letters, digits "
                                      "and -");
    assert_operations(HEADERS("User Agent"), odd);
    assert_operations(HEADERS(""), odd);
    assert_operations(HEADERS("ok", "a:b"), odd);
    assert_operations(HEADERS("X-API-Key"),
                      REFUSED("the header X-API-Key, which contains the API key of the caller"));
    assert_operations(
        HEADERS("authorization"),
        REFUSED("the header authorization, which contains the API key of the caller"));
}

/* Six beside those that the server reads anyway, in any case of their letters. */
static void header_fields_are_not_more_than_a_server_keeps(void **state)
{
    (void)state;
    static const char *const first[] = { "X-1", "X-2", "X-3", "User-Agent", "Mcp-Name", NULL };
    static const char *const second[] = { "x-1", "X-4", "X-5", "X-6", NULL };
    static const char *const third[] = { "x-6", "X-7", NULL };
    mishap_operation list[] = { { "a", "One", .run = run, .headers = first },
                                { "b", "Two", .run = run, .headers = second },
                                { "c", "Three", .run = run },
                                { 0 } };
    const mishap_app app = { .name = "directory", .version = "1.0", .operations = list };
    assert_program_says(&app, 0, "directory 1.0");
    list[2].headers = third;
    assert_program_says(
        &app, 70,
        "The declaration of the operation `c` is not valid: it reads the header field X-7; all "
        "operations together can read 6 beside those of the server.");
}

static void the_command_line_is_not_ambiguous(void **state)
{
    (void)state;
    assert_operations(TWO("helper", "users.help", .local = false), NULL);
    assert_operations(
        TWO("a", "help", .local = false),
        "The declaration of the operation `help` is not valid: it could not be called on a command "
        "line, because `help` shows the help.");
    assert_operations(
        TWO("help.me", "a", .local = false),
        "The declaration of the operation `help.me` is not valid: it could not be called on a "
        "command line, because `help` shows the help.");
    ASSERT_PARAM_SOUND(MISHAP_STRING, .letter = 'p', .environment = "MY_X2", .placeholder = "WORD");
    ASSERT_PARAM("has a short flag that is not a letter", MISHAP_STRING, .letter = '1');
    ASSERT_PARAM("has a short flag that is not a letter", MISHAP_STRING, .letter = '-');
    ASSERT_PARAM("has the short flag -h, which shows the help of a command", MISHAP_STRING,
                 .letter = 'h');
    ASSERT_PARAM_SOUND(MISHAP_STRING, .letter = 'v'); /* it comes before that of --verbose */
    ASSERT_PARAMS("`help` could not be given on a command line, because --help shows the help",
                  { "help", MISHAP_STRING, .help = "Of whom" });
    static const mishap_param inner[] = { { "help", MISHAP_STRING, .length = { 1, 9 } }, { 0 } };
    ASSERT_SOUND(PARAMS({ "helper", MISHAP_STRING, .length = { 1, 9 } },
                        { "version", MISHAP_STRING, .length = { 1, 9 } },
                        { "output", MISHAP_OBJECT, .members = inner }));
    ASSERT_PARAMS("`no_color` and `color` are the same flag on a command line, where --no-NAME "
                  "sets a boolean to false",
                  { "color", MISHAP_BOOLEAN, .letter = 'c' },
                  { "no_color", MISHAP_STRING, .letter = 'n' });
    ASSERT_PARAMS("`dueDate` and `noDueDate` are the same flag on a command line, where --no-NAME "
                  "sets a boolean to false",
                  { "noDueDate", MISHAP_STRING, .letter = 'n' },
                  { "dueDate", MISHAP_BOOLEAN, .letter = 'd' });
    ASSERT_SOUND(PARAMS(
        { "tice", MISHAP_BOOLEAN, .letter = 't' }, { "notice", MISHAP_STRING, .letter = 'n' },
        { "no_name", MISHAP_STRING, .letter = 'x' }, { "name", MISHAP_STRING, .letter = 'y' }));
    ASSERT_PARAM("has `looks`, but no pattern", MISHAP_STRING, .looks = "HOST:PORT");
    ASSERT_PARAM("has a `looks` that is empty", MISHAP_STRING, .pattern = ":", .looks = "");
    ASSERT_PARAM("has a placeholder that is empty", MISHAP_STRING, .placeholder = "");
    static const char *const variables[] = { "", "lower", "A-B", "1A", "A B" };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        ASSERT_PARAM("is read from a variable whose name is not UPPER_SNAKE", MISHAP_STRING,
                     .environment = variables[i]);
    ASSERT_PARAM("takes the words behind `--`, so it must be an array of strings that is neither "
                 "positional nor secret",
                 MISHAP_STRING, .rest = true);
    ASSERT_PARAM("takes the words behind `--`, so it must be an array of strings that is neither "
                 "positional nor secret",
                 MISHAP_ARRAY, .rest = true, .positional = true);
    ASSERT_PARAMS("`y` takes the words behind `--`, which `x` also takes",
                  { "x", MISHAP_ARRAY, .items = &text_item, .rest = true },
                  { "y", MISHAP_ARRAY, .items = &text_item, .rest = true });
    ASSERT_PARAM("is secret and positional; a secret must not be given on a command line",
                 MISHAP_STRING, .secret = true, .positional = true);
    ASSERT_PARAMS("`y` has the short flag -p, which `x` also has",
                  { "x", MISHAP_STRING, .letter = 'p' }, { "y", MISHAP_STRING, .letter = 'p' });
    ASSERT_SOUND(
        PARAMS({ "x", MISHAP_STRING, .letter = 'p' }, { "y", MISHAP_STRING, .letter = 'P' }));
    ASSERT_PARAMS("`y` is read from the variable HOME, from which `x` is also read",
                  { "x", MISHAP_STRING, .environment = "HOME" },
                  { "y", MISHAP_STRING, .environment = "HOME" });
    ASSERT_SOUND(PARAMS({ "x", MISHAP_STRING, .required = true, .positional = true },
                        { "y", MISHAP_STRING, .positional = true },
                        { "z", MISHAP_ARRAY, .items = &text_item, .positional = true }));
    ASSERT_PARAMS("`y` is positional and required, but comes after `x`, which is optional",
                  { "x", MISHAP_STRING, .positional = true },
                  { "y", MISHAP_STRING, .required = true, .positional = true });
    ASSERT_PARAMS("`y` is positional after the array `x`, which takes all following arguments",
                  { "x", MISHAP_ARRAY, .items = &text_item, .positional = true },
                  { "y", MISHAP_STRING, .positional = true });
}

static void words_of_a_schema_say_what_nothing_else_says(void **state)
{
    (void)state;
    static const char *const sound[] = { "{}", "{\"title\":\"X\"}", "{\"examples\":[\"a\"]}",
                                         "{\"$comment\":\"why\",\"deprecated\":true}",
                                         "{\"anyOf\":[{\"pattern\":\"a\"}]}" };
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        ASSERT_PARAM_SOUND(MISHAP_STRING, .schema = sound[i]);
    ASSERT_PARAM("has a `.schema` that is not a JSON object", MISHAP_STRING, .schema = "[]");
    ASSERT_PARAM("has a `.schema` that is not JSON: unexpected end of data", MISHAP_STRING,
                 .schema = "{");
    ASSERT_PARAM("has a `.schema` with `type`; declare `.type` instead, which is checked, too",
                 MISHAP_STRING, .schema = "{\"type\":\"string\"}");
    ASSERT_PARAM("has a `.schema` with `maxLength`; declare `.length` instead, which is checked, "
                 "too",
                 MISHAP_STRING, .schema = "{\"maxLength\":5}");
    ASSERT_PARAM("has a `.schema` with `enum`; declare `.choices` instead, which is checked, too",
                 MISHAP_STRING, .schema = "{\"enum\":[\"a\"]}");
    ASSERT_PARAM("has a `.schema` whose `examples` are no array", MISHAP_STRING,
                 .schema = "{\"examples\":\"a\"}");
    ASSERT_PARAM("has an example that breaks its own rules: invalid_type", MISHAP_INTEGER,
                 .schema = "{\"examples\":[1,\"a\"]}");
    ASSERT_PARAM("has an example that breaks its own rules: invalid_length", MISHAP_STRING,
                 .length = { 0, 2 }, .schema = "{\"examples\":[\"ab\",\"abc\"]}");
    ASSERT_PARAM("has a `.schema` whose `$schema` is not that of 2020-12, which all schemas are",
                 MISHAP_STRING, .schema = "{\"$schema\":\"http://json-schema.org/draft-07\"}");
    ASSERT_SOUND(PARAMS({ "x", .type = MISHAP_STRING }),
                 .schema = "{\"allOf\":[{\"title\":\"X\"}]}");
    ASSERT_OPERATION("it has a `.schema` with `required`; declare `.params` instead, which is "
                     "checked, too",
                     PARAMS({ "x", .type = MISHAP_STRING }), .schema = "{\"required\":[\"x\"]}");
    ASSERT_OPERATION("it has `.rules`, and a `.schema` with `allOf`, which those are written as",
                     PARAMS({ "x", .type = MISHAP_STRING }, { "y", .type = MISHAP_STRING }),
                     .rules = MISHAP_RULES(MISHAP_EXACTLY_ONE("x", "y")),
                     .schema = "{\"allOf\":[]}");
}

static void a_header_repeats_what_proxies_may_read(void **state)
{
    (void)state;
    ASSERT_PARAM_SOUND(MISHAP_STRING, .header = "Region");
    ASSERT_PARAM_SOUND(MISHAP_INTEGER, .header = "X-1");
    ASSERT_PARAM_SOUND(MISHAP_BOOLEAN, .header = "a");
    ASSERT_PARAM_SOUND(MISHAP_DATE, .header = "Day");
    static const char *const broken[] = { "",         "a b",
                                          "a:b",      "a\r\nb",
                                          "\xc3\xa9", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        ASSERT_PARAM("has a `.header` that is not up to 40 letters, digits and -", MISHAP_STRING,
                     .header = broken[i]);
    static const mishap_type_of_param types[] = { MISHAP_NUMBER, MISHAP_DECIMAL_NUMBER,
                                                  MISHAP_BYTES,  MISHAP_FILE,
                                                  MISHAP_ARRAY,  MISHAP_OBJECT };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        ASSERT_PARAM("has a `.header`, so it must be a string, an enum, an integer or a boolean, "
                     "and not nullable",
                     types[i], .header = "X");
    ASSERT_PARAM("is secret and has a `.header`, which proxies read", MISHAP_STRING, .secret = true,
                 .header = "X");
    ASSERT_PARAMS("`y` has the same `.header` as `x`", { "x", MISHAP_STRING, .header = "Region" },
                  { "y", MISHAP_STRING, .header = "REGION" });
    static const mishap_param members[] = { { "m", MISHAP_STRING, .header = "X" }, { 0 } };
    ASSERT_PARAMS("`x.m` has a `.header`, which only a parameter of an operation has",
                  { "x", MISHAP_OBJECT, .members = members });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parameters_have_a_name_and_a_type),
        TEST(only_one_file_of_an_operation_is_streamed),
        TEST(lengths_are_of_strings_and_arrays),
        TEST(ranges_are_of_numbers),
        TEST(patterns_and_choices_work),
        TEST(what_is_inside_is_checked_too),
        TEST(a_declaration_that_contains_itself_is_refused),
        TEST(defaults_hold_their_own_rules),
        TEST(headers_have_names_and_are_no_keys),
        TEST(header_fields_are_not_more_than_a_server_keeps),
        TEST(the_command_line_is_not_ambiguous),
        TEST(words_of_a_schema_say_what_nothing_else_says),
        TEST(a_header_repeats_what_proxies_may_read),
    };
    return RUN(tests);
}
