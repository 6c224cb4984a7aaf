/* Rules across parameters: their findings, their words, their schema, and what is refused in their
 * declaration. */
#include "declarations.h"
#include "mishap/typed.h"
#include "operation/call.h"
#include "operation/rules.h"
#include "operation/schema.h"

static mishap *no_more_than_thirty(const mishap_call *call)
{
    int64_t nights = mishap_integer(call, "nights");
    if (nights <= 30)
        return NULL;
    mishap *m = mishap_field_add(mishap_raise(VALIDATION_ERROR, NULL),
                                 &(mishap_field){ .field = MISHAP_TEXT("nights"),
                                                  .error = MISHAP_TEXT("value_out_of_range"),
                                                  .max = mishap_value_of_int(30) });
    return mishap_field_says(m, "nights must be at most 30.");
}

static mishap *misspelled(const mishap_call *call)
{
    return mishap_given(call, "nihgts") ? NULL : NULL;
}

/* The checks have made sure that what is given is a text. */
static mishap *short_mail(const mishap_call *call)
{
    return mishap_given(call, "email") && strlen(mishap_string(call, "email")) > 80
               ? mishap_raise(VALIDATION_ERROR, NULL)
               : NULL;
}

static const char *const kinds[] = { "person", "company", NULL };
static const mishap_relation room_rules[] = { MISHAP_NOT_BEFORE("most", "least"), { 0 } };
static const mishap_param room_members[] = {
    { "least", MISHAP_INTEGER, .help = "At least" },
    { "most", MISHAP_INTEGER, .help = "At most" },
    { 0 },
};
static const mishap_param room = { "room", MISHAP_OBJECT, .members = room_members,
                                   .rules = room_rules };
static const mishap_param booking_params[] = {
    { "starts", MISHAP_TIMESTAMP, .help = "From" },
    { "ends", MISHAP_TIMESTAMP, .help = "To" },
    { "email", MISHAP_STRING, .help = "Mail" },
    { "phone", MISHAP_STRING, .help = "Phone" },
    { "fax", MISHAP_STRING, .help = "Fax" },
    { "kind", MISHAP_ENUM, .choices = kinds },
    { "vat_id", MISHAP_STRING, .help = "Of a company" },
    { "low", MISHAP_DECIMAL, .help = "At least" },
    { "high", MISHAP_DECIMAL, .help = "At most" },
    { "nights", MISHAP_INTEGER, .help = "How many" },
    { "tags", MISHAP_ARRAY, .items = MISHAP_ITEM(MISHAP_STRING, .help = "One"), .unique = true },
    { "numbers", MISHAP_ARRAY, .unique = true },
    { "rooms", MISHAP_ARRAY, .items = &room },
    { 0 },
};
static const mishap_param number_params[] = {
    { "items", MISHAP_ARRAY, .items = MISHAP_ITEM(MISHAP_INTEGER, .help = "One") },
    { "email", MISHAP_STRING, .help = "Mail" },
    { "least", MISHAP_NUMBER, .help = "At least" },
    { "most", MISHAP_NUMBER, .help = "At most" },
    { "level", MISHAP_INTEGER, .help = "A level" },
    { "share", MISHAP_DECIMAL, .help = "A share" },
    { "reason", MISHAP_STRING, .help = "Of level 1" },
    { 0 },
};
static const mishap_relation booking_rules[] = {
    MISHAP_AFTER("ends", "starts"),
    MISHAP_NOT_BEFORE("high", "low"),
    MISHAP_EXACTLY_ONE("email", "phone", "fax"),
    MISHAP_REQUIRED_IF("vat_id", "kind", "company"),
    MISHAP_CHECK(no_more_than_thirty, "a booking is for at most 30 nights"),
    { 0 },
};
static const mishap_param reach_params[] = {
    { "email", MISHAP_STRING, .help = "Mail" },
    { "phone", MISHAP_STRING, .nullable = true, .help = "Phone" },
    { "fax", MISHAP_STRING, .help = "Fax" },
    { "prefix", MISHAP_INTEGER, .help = "Of a fax" },
    { "floor", MISHAP_INTEGER, .initial = "1", .help = "Where" },
    { "wing", MISHAP_STRING, .help = "Of a floor" },
    { 0 },
};
static const mishap_relation reach_rules[] = {
    MISHAP_AT_LEAST_ONE("email", "phone", "fax"),
    MISHAP_REQUIRED_IF("prefix", "fax", NULL),
    MISHAP_REQUIRED_IF("wing", "floor", NULL),
    { 0 },
};
static const mishap_operation operations[] = {
    { .name = "book",
      .summary = "Book",
      .params = booking_params,
      .run = run,
      .rules = booking_rules },
    { .name = "misspell",
      .summary = "Misspell",
      .params = booking_params,
      .run = run,
      .rules = MISHAP_RULES(MISHAP_CHECK(misspelled, NULL)) },
    { .name = "number",
      .summary = "Number",
      .params = number_params,
      .run = run,
      .rules = MISHAP_RULES(
          MISHAP_AFTER("most", "least"), MISHAP_REQUIRED_IF("reason", "level", "1"),
          MISHAP_REQUIRED_IF("reason", "share", "0.5"), MISHAP_CHECK(short_mail, NULL)) },
    { .name = "reach",
      .summary = "Reach",
      .params = reach_params,
      .run = run,
      .rules = reach_rules },
    { 0 },
};
static const mishap_app app = { .name = "sample", .operations = operations };

static bool none_left_out(const mishap_param *param, const void *state)
{
    (void)param;
    (void)state;
    return false;
}

/* The findings as lines "error: sentence". */
static void assert_found_by(const mishap_operation *operation, const char *json, const char *lines)
{
    char found[2048] = "";
    mishap_call *call;
    mishap *m = mishap_call_begin(&app, operation, mishap_text_of(json), &call);
    const mishap_field *field = m ? mishap_told(m)->fields : NULL;
    for (; field; field = field->next)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s: %s\n", field->error.data,
                 field->message.data ? field->message.data : "");
    if (!m)
        mishap_call_end(call);
    mishap_free(m);
    if (strcmp(found, lines) != 0)
        fail_msg("%s\n%s", json, found);
}

static void assert_found(const char *json, const char *lines)
{
    assert_found_by(&operations[0], json, lines);
}

static void each_rule_has_its_finding(void **state)
{
    (void)state;
    assert_found("{\"email\":\"a\"}", "");
    assert_found("{\"email\":\"a\",\"starts\":\"2026-01-02T00:00:00Z\",\"ends\":"
                 "\"2026-01-02T00:00:00+01:00\"}",
                 "value_out_of_range: ends must be after starts, not 2026-01-02T00:00:00+01:00.\n");
    assert_found("{\"email\":\"a\",\"starts\":\"2026-01-02T00:00:00Z\",\"ends\":"
                 "\"2026-01-02T00:00:00Z\"}",
                 "value_out_of_range: ends must be after starts, not 2026-01-02T00:00:00Z.\n");
    assert_found("{\"email\":\"a\",\"starts\":\"2026-01-02T00:00:00Z\",\"ends\":"
                 "\"2026-01-02T00:00:00-01:00\"}",
                 "");
    assert_found("{\"email\":\"a\",\"low\":\"1.50\",\"high\":\"1.5\"}", "");
    assert_found("{\"email\":\"a\",\"low\":\"1.50\",\"high\":\"1.49\"}",
                 "value_out_of_range: high must be not below low, not 1.49.\n");
    assert_found("{}", "field_required: email, phone or fax must be given.\n");
    assert_found("{\"email\":null}", "field_required: email, phone or fax must be given.\n");
    assert_found("{\"email\":\"a\",\"fax\":\"b\"}",
                 "pattern_mismatch: fax must not be given together with email.\n");
    assert_found("{\"email\":\"a\",\"kind\":\"company\"}",
                 "field_required: vat_id is required if kind is company.\n");
    assert_found("{\"email\":\"a\",\"kind\":\"company\",\"vat_id\":\"x\"}", "");
    assert_found("{\"email\":\"a\",\"kind\":\"person\"}", "");
    assert_found("{\"email\":\"a\",\"nights\":31}",
                 "value_out_of_range: nights must be at most 30.\n");
}

static void one_is_enough_and_one_needs_another(void **state)
{
    const mishap_operation *reach = &operations[3];
    (void)state;
    assert_found_by(reach, "{}", "field_required: email, phone or fax must be given.\n");
    assert_found_by(reach, "{\"email\":null}",
                    "field_required: email, phone or fax must be given.\n");
    assert_found_by(reach, "{\"email\":\"a\"}", "");
    assert_found_by(reach, "{\"phone\":null}", ""); /* which is a value of its own there */
    assert_found_by(reach, "{\"email\":\"a\",\"phone\":\"b\",\"fax\":\"c\",\"prefix\":0}", "");
    assert_found_by(reach, "{\"fax\":\"c\"}",
                    "field_required: prefix is required if fax is given.\n");
    assert_found_by(reach, "{\"email\":\"a\",\"fax\":null}", "");
    assert_found_by(reach, "{\"email\":\"a\",\"prefix\":1}", "");
    /* A default is not given. */
    assert_found_by(reach, "{\"floor\":1}",
                    "field_required: email, phone or fax must be given.\n"
                    "field_required: wing is required if floor is given.\n");
    mishap_buffer b = { 0 };
    mishap_rules_put_words(&b, reach_rules);
    mishap_buffer_add(&b, "", 1);
    assert_string_equal(b.data, "at least one of email, phone and fax must be given; prefix is "
                                "required if fax is given; wing is required if floor is given");
    mishap_buffer_release(&b);
    b = (mishap_buffer){ 0 };
    const mishap_operation of_reach = { .params = reach_params, .rules = reach_rules };
    mishap_params_put_schema_but(&b, &of_reach, none_left_out, NULL);
    mishap_buffer_add(&b, "", 1);
    assert_non_null(strstr(
        b.data, "\"allOf\":[{\"anyOf\":[{\"required\":[\"email\"]},{\"required\":[\"phone\"]},{"
                "\"required\":[\"fax\"]}]},{\"if\":{\"required\":[\"fax\"]},\"then\":{"
                "\"properties\":{\"prefix\":{}},\"required\":[\"prefix\"]}},{\"if\":{\"required\":["
                "\"floor\"]},\"then\":{\"properties\":{\"wing\":{}},\"required\":[\"wing\"]}}]}"));
    mishap_buffer_release(&b);
}

static void all_findings_come_together(void **state)
{
    (void)state;
    assert_found("{\"starts\":7,\"ends\":\"2026-01-02T00:00:00Z\",\"kind\":\"company\",\"nights\":"
                 "31,\"rooms\":[{\"least\":2,\"most\":1}]}",
                 "invalid_type: \n"
                 "value_out_of_range: rooms[0].most must be not below least.\n"
                 "field_required: email, phone or fax must be given.\n"
                 "field_required: vat_id is required if kind is company.\n"
                 "value_out_of_range: nights must be at most 30.\n");
    /* A parameter that was refused is not given for a function. */
    assert_found("{\"email\":\"a\",\"nights\":\"31\"}",
                 "invalid_type: nights must be an integer, not a string: write it without "
                 "quotes.\n");
}

static void items_are_compared_by_value(void **state)
{
    (void)state;
    assert_found("{\"fax\":\"a\",\"tags\":[\"a\",\"b\",\"ab\"]}", "");
    assert_found("{\"fax\":\"a\",\"tags\":[\"a\",\"b\",\"a\",\"a\"]}",
                 "pattern_mismatch: tags[2] is the same as item 0; each may occur once.\n"
                 "pattern_mismatch: tags[3] is the same as item 0; each may occur once.\n");
    assert_found("{\"fax\":\"a\",\"numbers\":[1,\"1\",1.5,true,[1],{\"a\":1},null]}", "");
    assert_found("{\"fax\":\"a\",\"numbers\":[1,1.0]}",
                 "pattern_mismatch: numbers[1] is the same as item 0; each may occur once.\n");
    assert_found("{\"fax\":\"a\",\"numbers\":[{\"a\":[1,2]},{\"a\":[1,2]}]}",
                 "pattern_mismatch: numbers[1] is the same as item 0; each may occur once.\n");
}

/* A hundred thousand equal items take no longer than sorting them. */
static void many_equal_items_are_no_trouble(void **state)
{
    enum { COUNT = 100000 };
    (void)state;
    char *json = malloc(COUNT * 2 + 64), *to = json;
    to += sprintf(to, "{\"fax\":\"a\",\"numbers\":[");
    for (int i = 0; i < COUNT; i++)
        to += sprintf(to, i ? ",7" : "7");
    strcpy(to, "]}");
    mishap_call *call;
    mishap *m = mishap_call_begin(&app, &operations[0], mishap_text_of(json), &call);
    assert_int_equal(mishap_told(m)->field_count, MISHAP_MOST_FINDINGS);
    mishap_free(m);
    free(json);
}

static void a_function_that_goes_wrong_fails_its_call_alone(void **state)
{
    mishap_call *call;
    (void)state;
    mishap *m = mishap_call_begin(&app, &operations[1], mishap_text_of("{}"), &call);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
    mishap_free(m);
}

/* Among too many findings, the one about a parameter may be left out. */
static void no_function_gets_what_was_refused(void **state)
{
    char json[2048], *to = json;
    mishap_call *call;
    (void)state;
    to += sprintf(to, "{\"email\":7,\"items\":[");
    for (int i = 0; i < 150; i++)
        to += sprintf(to, i ? ",\"x\"" : "\"x\"");
    sprintf(to, "]}");
    mishap *m = mishap_call_begin(&app, &operations[2], mishap_text_of(json), &call);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_VALIDATION_ERROR);
    assert_int_equal(mishap_told(m)->field_count, MISHAP_MOST_FINDINGS);
    mishap_free(m);
}

static void assert_accepted(const char *json, bool accepted)
{
    mishap_call *call;
    mishap *m = mishap_call_begin(&app, &operations[2], mishap_text_of(json), &call);
    if (!m != accepted)
        fail_msg("%s", json);
    if (!m)
        mishap_call_end(call);
    mishap_free(m);
}

#define LARGE "123456789012345678901234567890"

static void numbers_are_compared_exactly(void **state)
{
    static const char *const ascending[] = {
        "-1e300",
        "-" LARGE "1",
        "-" LARGE,
        "-9223372036854775808",
        "-2",
        "-1.5",
        "-1",
        "-0",
        "0.5",
        "9007199254740992.0",
        "9007199254740993",
        "18446744073709551615",
        LARGE,
        LARGE "1",
        "1e300",
    };
    enum { COUNT = sizeof ascending / sizeof *ascending };
    (void)state;
    for (size_t low = 0; low < COUNT; low++)
        for (size_t high = 0; high < COUNT; high++) {
            char json[256];
            snprintf(json, sizeof json, "{\"least\":%s,\"most\":%s}", ascending[low],
                     ascending[high]);
            assert_accepted(json, low < high);
        }
    assert_accepted("{\"level\":2.0}", true);
    assert_accepted("{\"level\":1}", false);
    assert_accepted("{\"level\":1.0}", false);
    assert_accepted("{\"level\":1e0,\"reason\":\"a\"}", true);
    assert_accepted("{\"share\":\"0.50\"}", false);
    assert_accepted("{\"share\":\"0.51\"}", true);
}

static void schema_and_words_state_the_rules(void **state)
{
    (void)state;
    mishap_buffer b = { 0 };
    mishap_rules_put_words(&b, booking_rules);
    mishap_buffer_add(&b, "", 1);
    assert_string_equal(b.data,
                        "ends must be after starts; high must not be before low; exactly one of "
                        "email, phone and fax must be given; vat_id is required if kind is "
                        "company; a booking is for at most 30 nights");
    mishap_buffer_release(&b);
    b = (mishap_buffer){ 0 };
    const mishap_operation of_booking = { .params = booking_params, .rules = booking_rules };
    mishap_params_put_schema_but(&b, &of_booking, none_left_out, NULL);
    mishap_buffer_add(&b, "", 1);
    assert_non_null(strstr(b.data,
                           "\"allOf\":[{\"oneOf\":[{\"required\":[\"email\"]},{\"required\":["
                           "\"phone\"]},{\"required\":[\"fax\"]}]},{\"if\":{\"properties\":{"
                           "\"kind\":{\"const\":\"company\"}},\"required\":[\"kind\"]},\"then\":{"
                           "\"properties\":{\"vat_id\":{}},\"required\":[\"vat_id\"]}}]}"));
    assert_non_null(strstr(b.data, "\"uniqueItems\":true"));
    assert_non_null(strstr(b.data, "most must not be before least"));
    mishap_buffer_release(&b);
}

#define ASSERT_RULE(why, ...)                                                                      \
    ASSERT_OPERATION("it has a rule " why, .params = booking_params,                               \
                     .rules = (const mishap_relation[]){ __VA_ARGS__, { 0 } })

static void a_rule_that_cannot_work_is_refused(void **state)
{
    (void)state;
    ASSERT_RULE("MISHAP_AFTER for `end`, which is not declared", MISHAP_AFTER("end", "starts"));
    ASSERT_RULE("MISHAP_AFTER for `ends` and `email`, which are not of one type that has an order",
                MISHAP_AFTER("ends", "email"));
    ASSERT_RULE("MISHAP_EXACTLY_ONE with `email` twice", MISHAP_EXACTLY_ONE("email", "email"));
    ASSERT_RULE("MISHAP_AT_LEAST_ONE with 1 names", MISHAP_AT_LEAST_ONE("email"));
    ASSERT_RULE("MISHAP_CHECK without a function", MISHAP_CHECK(NULL, "x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_has_its_finding),
        cmocka_unit_test(one_is_enough_and_one_needs_another),
        cmocka_unit_test(all_findings_come_together),
        cmocka_unit_test(items_are_compared_by_value),
        cmocka_unit_test(many_equal_items_are_no_trouble),
        cmocka_unit_test(a_function_that_goes_wrong_fails_its_call_alone),
        cmocka_unit_test(no_function_gets_what_was_refused),
        cmocka_unit_test(numbers_are_compared_exactly),
        cmocka_unit_test(schema_and_words_state_the_rules),
        cmocka_unit_test(a_rule_that_cannot_work_is_refused),
    };
    return RUN(tests);
}
