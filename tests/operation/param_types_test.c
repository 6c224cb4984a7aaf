/* Parameters of the types of mishap/types.h: their checks, their schema, their getters, and what is
 * refused in their declaration. */
#include "declarations.h"
#include "dialect/dialect.h"
#include "operation/call.h"
#include "operation/schema.h"

/* -- checks ------------------------------------------------------------------------------------ */

static const char *const currencies[] = { "EUR", "USD", NULL };
static const mishap_param values[] = {
    { "price", MISHAP_DECIMAL, .range = { 0.01, 9999.99 }, .scale = 2 },
    { "rate", MISHAP_DECIMAL_NUMBER, .range = { 0, 1 }, .scale = 4 },
    { "fee", MISHAP_MONEY, .choices = currencies, .range = { 0, INFINITY } },
    { "starts", MISHAP_TIMESTAMP, .help = "When" },
    { "day", MISHAP_DATE, .nullable = true },
    { "lasts", MISHAP_DURATION, .help = "How long" },
    { "id", MISHAP_UUID, .help = "Its id" },
    { "photo", MISHAP_BYTES, .length = { 1, 4 } },
    { "prices", MISHAP_MAP, .items = MISHAP_ITEM(MISHAP_DECIMAL, .scale = 2), .length = { 0, 2 } },
    { "any", MISHAP_DECIMAL, .help = "Any scale" },
    { "labels", MISHAP_MAP, .help = "Anything" },
    { 0 },
};

static const struct {
    const char *json;
    const char *sentence; /* NULL: it is accepted */
} cases[] = {
    { "{\"price\":\"12.5\"}", NULL },
    { "{\"price\":\"0.01\"}", NULL },
    { "{\"price\":\"9999.99\"}", NULL },
    { "{\"price\":\"0.00\"}", "price must be from 0.01 to 9999.99, not 0.00." },
    { "{\"price\":\"10000\"}", "price must be from 0.01 to 9999.99, not 10000." },
    { "{\"price\":\"1.005\"}",
      "price must be a decimal with at most 16 digits before and 2 after its point, not 1.005." },
    { "{\"price\":\"1e3\"}", "price must be a decimal such as 12.50, not 1e3." },
    { "{\"price\":12.5}", "price must be a string, not a number: put it in quotes." },
    { "{\"price\":\"1\\u0000\"}", "price must be a decimal such as 12.50." },
    { "{\"rate\":0.25}", NULL },
    { "{\"rate\":1}", NULL },
    { "{\"rate\":1e-4}", NULL },
    { "{\"rate\":0.00001}",
      "rate must be a decimal with at most 14 digits before and 4 after its point." },
    { "{\"rate\":1.0001}", "rate must be from 0 to 1." },
    { "{\"rate\":\"0.5\"}", "rate must be a number, not a string: write it without quotes." },
    { "{\"rate\":0.1234567890123456789}",
      "rate must be a decimal number of at most 15 digits, such as 12.5." },
    { "{\"rate\":123456789012345678901234567890}",
      "rate must be a decimal number of at most 15 digits, such as 12.5, not "
      "123456789012345678901234567890." },
    { "{\"rate\":1e300}", "rate must be a decimal number of at most 15 digits, such as 12.5." },
    { "{\"fee\":\"3 EUR\"}", NULL },
    { "{\"fee\":\"3 CHF\"}", "fee must be an amount in EUR or USD, not 3 CHF." },
    { "{\"fee\":\"-3 EUR\"}", "fee must be at least 0, not -3 EUR." },
    { "{\"fee\":\"3\"}", "fee must be an amount and its currency, such as 12.50 EUR, not 3." },
    { "{\"starts\":\"2026-02-28T18:30:00+01:00\"}", NULL },
    { "{\"starts\":\"2026-02-28\"}",
      "starts must be a date and time such as 2026-02-28T18:30:00Z, not 2026-02-28." },
    { "{\"starts\":\"0000-06-01T00:00:00Z\"}",
      "starts must be a date and time such as 2026-02-28T18:30:00Z, not 0000-06-01T00:00:00Z." },
    { "{\"day\":\"2024-02-29\"}", NULL },
    { "{\"day\":null}", NULL },
    { "{\"day\":\"2026-02-31\"}", "day must be a date such as 2026-02-28, not 2026-02-31." },
    { "{\"lasts\":\"P1DT12H\"}", NULL },
    { "{\"lasts\":\"90m\"}", "lasts must be a duration such as P1DT12H, not 90m." },
    { "{\"id\":\"01234567-89AB-7def-8123-456789abcdef\"}", NULL },
    { "{\"id\":\"7\"}", "id must be a UUID such as 01234567-89ab-7def-8123-456789abcdef, not 7." },
    { "{\"photo\":\"aGVsbA==\"}", NULL },
    { "{\"photo\":\"aGVsbG8=\"}", "photo must have from 1 to 4 bytes." },
    { "{\"photo\":\"aGVsbG8\"}", "photo must be a text of base64 such as aGVsbG8=, not aGVsbG8." },
    { "{\"prices\":{\"a\":\"1.50\",\"b\":\"2\"}}", NULL },
    { "{\"prices\":{\"a\":\"x\"}}", "prices.a must be a decimal such as 12.50, not x." },
    { "{\"prices\":{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}}",
      "prices must have at most 2 members, not 3." },
    { "{\"prices\":[]}", NULL }, /* the type is told without a sentence */
    { "{\"any\":\"0.000000000000000001\"}", NULL },
    { "{\"labels\":{\"x\":[1]}}", NULL },
};

static void each_type_is_checked_in_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_json_reader reader = MISHAP_JSON_READER;
        assert_true(mishap_json_read(&reader, mishap_text_of(cases[i].json)));
        mishap *m = mishap_params_check(values, reader.root);
        mishap_json_reader_release(&reader);
        const mishap_field *first = m ? mishap_told(m)->fields : NULL;
        if (cases[i].sentence && !first)
            fail_msg("%s should be refused", cases[i].json);
        if (cases[i].sentence && strcmp(first->message.data, cases[i].sentence) != 0)
            fail_msg("%s: %s", cases[i].json, first->message.data);
        if (!cases[i].sentence && first && first->message.data)
            fail_msg("%s: %s", cases[i].json, first->message.data);
        mishap_free(m);
    }
}

static const mishap_param secret_params[] = {
    { "codes", MISHAP_MAP, .items = MISHAP_ITEM(MISHAP_DATE, .help = "A day"), .secret = true },
    { 0 },
};

static void a_secret_map_shows_neither_names_nor_values(void **state)
{
    (void)state;
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_true(
        mishap_json_read(&reader, mishap_text_of("{\"codes\":{\"hunter2\":\"swordfish\"}}")));
    mishap *m = mishap_params_check(secret_params, reader.root);
    char *text = rendered(mishap_dialect_find("problem"), m);
    assert_null(strstr(text, "hunter2"));
    assert_null(strstr(text, "swordfish"));
    free(text);
    mishap_free(m);
    mishap_json_reader_release(&reader);
}

static mishap *repeat_secrets(mishap_call *call)
{
    char uuid[MISHAP_WRITTEN];
    mishap_text file = mishap_file(call, "file"), bytes = mishap_bytes_of(call, "bytes");
    mishap *m = mishap_raise(NOT_FOUND, "%.*s, %.*s, %s", (int)file.length, file.data,
                             (int)bytes.length, bytes.data,
                             mishap_uuid_write(mishap_uuid_of(call, "uuid"), uuid));
    return mishap_note(m, "file", file);
}

/* A handler has bytes and UUIDs in another form than the caller has sent. */
static void a_secret_is_hidden_in_each_form_that_it_has(void **state)
{
    const mishap_operation repeat = { "repeat", "Repeat",
                                      PARAMS({ "file", MISHAP_FILE, .secret = true },
                                             { "bytes", MISHAP_BYTES, .secret = true },
                                             { "uuid", MISHAP_UUID, .secret = true }),
                                      repeat_secrets };
    static const mishap_app repeater = { .name = "sample" };
    mishap_call *call;
    mishap_buffer account = { 0 };
    (void)state;
    assert_null(mishap_call_begin(
        &repeater, &repeat,
        mishap_text_of("{\"file\":\"data:;name=a;base64,c3dvcmRmaXNo\",\"bytes\":"
                       "\"aHVudGVyMg==\",\"uuid\":\"ABCDEF01-2345-7DEF-8123-456789ABCDEF\"}"),
        &call));
    mishap *m = mishap_call_run(call);
    mishap_hide_failure(m, repeat.params, mishap_call_secrets(call));
    mishap_render(mishap_dialect_find("problem"), m, &account);
    mishap_account(m, &account);
    mishap_buffer_put_char(&account, '\0');
    if (strstr(account.data, "swordfish") || strstr(account.data, "hunter2") ||
        strstr(account.data, "abcdef01-2345"))
        fail_msg("%s", account.data);
    mishap_buffer_release(&account);
    mishap_free(m);
    mishap_call_end(call);
}

static void secret_names_and_lengths_are_not_shown(void **state)
{
    static const mishap_param members[] = { { "day", MISHAP_DATE, .help = "A day" }, { 0 } };
    const mishap_operation days = {
        "days", "Days",
        PARAMS({ "days", MISHAP_MAP, .secret = true,
                 .items = MISHAP_ITEM(MISHAP_OBJECT, .members = members) },
               { "file", MISHAP_FILE, .secret = true, .length = { 0, 3 } }),
        run
    };
    static const mishap_app one = { .name = "sample" };
    mishap_call *call;
    (void)state;
    mishap *m = mishap_call_begin_closed(
        &one, &days,
        mishap_text_of("{\"days\":{\"hunter2\":{\"swordfish\":1}},\"file\":\"c3dvcmRmaXNo\"}"),
        &call);
    assert_non_null(m);
    mishap_buffer text = { 0 };
    mishap_account(m, &text);
    mishap_buffer_put_char(&text, '\0');
    if (strstr(text.data, "hunter2") || strstr(text.data, "swordfish") ||
        strstr(text.data, "not 9"))
        fail_msg("%s", text.data);
    mishap_buffer_release(&text);
    mishap_free(m);
}

/* -- schemas ----------------------------------------------------------------------------------- */

static void each_type_has_its_schema(void **state)
{
    static const char *const expected[] = {
        "{\"type\":\"string\",\"description\":\"It is a decimal such as 12.50; at least 0.01; at "
        "most 9999.99\",\"pattern\":\"^-?(0|[1-9][0-9]{0,15})(\\\\.[0-9]{1,2})?$\"}",
        "{\"type\":\"number\",\"description\":\"It is a decimal number of at most 15 digits, such "
        "as 12.5\",\"minimum\":0,\"maximum\":1}",
        "{\"type\":\"string\",\"description\":\"It is an amount and its currency, such as 12.50 "
        "EUR; at least 0\",\"pattern\":\"^-?(0|[1-9][0-9]{0,17})(\\\\.[0-9]{1,4})? (EUR|USD)$\"}",
        "{\"type\":\"string\",\"description\":\"When\",\"format\":\"date-time\"}",
        "{\"type\":[\"string\",\"null\"],\"format\":\"date\"}",
        "{\"type\":\"string\",\"description\":\"How long\",\"format\":\"duration\"}",
        "{\"type\":\"string\",\"description\":\"Its id\",\"format\":\"uuid\"}",
        "{\"type\":\"string\",\"description\":\"It is a text of base64 such as aGVsbG8=\","
        "\"contentEncoding\":\"base64\",\"minLength\":4,\"maxLength\":8}",
        "{\"type\":\"object\",\"maxProperties\":2,\"additionalProperties\":{\"type\":\"string\","
        "\"description\":\"It is a decimal such as 12.50\","
        "\"pattern\":\"^-?(0|[1-9][0-9]{0,15})(\\\\.[0-9]{1,2})?$\"}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const mishap_param one[] = { values[i], { 0 } };
        mishap_buffer schema = { 0 };
        mishap_params_put_schema(&schema, one);
        mishap_buffer_add(&schema, "", 1);
        const char *start = strstr(schema.data, values[i].name) + strlen(values[i].name) + 2;
        if (strncmp(start, expected[i], strlen(expected[i])) != 0)
            fail_msg("%s", schema.data);
        mishap_buffer_release(&schema);
    }
}

/* -- getters ----------------------------------------------------------------------------------- */

static const char *const cabins[] = { "economy", "premium", NULL };
static const mishap_param read_params[] = {
    { "price", MISHAP_DECIMAL, .scale = 2 },
    { "rate", MISHAP_DECIMAL_NUMBER, .help = "A rate" },
    { "fee", MISHAP_MONEY, .help = "A fee" },
    { "starts", MISHAP_TIMESTAMP, .help = "When" },
    { "day", MISHAP_DATE, .initial = "\"2026-11-18\"" },
    { "lasts", MISHAP_DURATION, .help = "How long" },
    { "id", MISHAP_UUID, .help = "Its id" },
    { "photo", MISHAP_BYTES, .help = "A picture" },
    { "cabin", MISHAP_ENUM, .choices = cabins },
    { "prices", MISHAP_MAP, .items = MISHAP_ITEM(MISHAP_DECIMAL, .scale = 2) },
    { 0 },
};

static mishap *read_all(mishap_call *call)
{
    mishap_text photo = mishap_bytes_of(call, "photo");
    int64_t total = 0;
    for (const mishap_call *one = mishap_first(call, "prices"); one; one = mishap_next(one))
        total += mishap_decimal_of(one, "").units * (mishap_key(one)[0] == 'a' ? 1 : 1000);
    mishap_answer_member(call, "price",
                         mishap_decimal_print(call, mishap_decimal_of(call, "price")));
    mishap_answer_json(call, "rate", mishap_decimal_print(call, mishap_decimal_of(call, "rate")));
    mishap_answer_member(call, "fee", mishap_money_print(call, mishap_money_of(call, "fee")));
    mishap_answer_member(call, "starts",
                         mishap_timestamp_print(call, mishap_timestamp_of(call, "starts")));
    mishap_answer_member(call, "day", mishap_date_print(call, mishap_date_of(call, "day")));
    mishap_answer_member(call, "lasts",
                         mishap_duration_print(call, mishap_duration_of(call, "lasts")));
    mishap_answer_member(call, "id", mishap_uuid_print(call, mishap_uuid_of(call, "id")));
    mishap_answer_member(call, "photo", mishap_bytes_print(call, photo));
    mishap_answer_member(call, "bytes", photo.length);
    mishap_answer_member(call, "cabin", mishap_choice_of(call, "cabin"));
    mishap_answer_member(call, "total", total);
    return mishap_answer_member(call, "one", mishap_decimal_of(call, "prices.a").units);
}

static const mishap_operation reads[] = {
    { .name = "read", .summary = "Read", .params = read_params, .run = read_all },
    { 0 },
};
static const mishap_app app = { .name = "sample", .operations = reads };

static void assert_answer(const char *arguments, const char *answer)
{
    mishap_call *call;
    mishap_answer_kind kind;
    assert_null(mishap_call_begin(&app, &reads[0], mishap_text_of(arguments), &call));
    assert_null(mishap_call_run(call));
    mishap_text text = mishap_call_answer(call, &kind);
    if (!mishap_text_equal(text, mishap_text_of(answer)))
        fail_msg("%.*s", (int)text.length, text.data);
    mishap_call_end(call);
}

static void getters_read_each_type(void **state)
{
    (void)state;
    assert_answer("{\"price\":\"12.5\",\"rate\":0.05,\"fee\":\"7 USD\",\"starts\":"
                  "\"2026-02-28T18:30:00.5+01:00\",\"lasts\":\"P1D\",\"id\":"
                  "\"01234567-89AB-7def-8123-456789abcdef\",\"photo\":\"aGkA\",\"cabin\":"
                  "\"premium\",\"prices\":{\"a\":\"1.5\",\"b\":\"0.01\"}}",
                  "{\"price\":\"12.50\",\"rate\":0.05,\"fee\":\"7.00 USD\",\"starts\":"
                  "\"2026-02-28T18:30:00.5+01:00\",\"day\":\"2026-11-18\",\"lasts\":\"P1D\",\"id\":"
                  "\"01234567-89ab-7def-8123-456789abcdef\",\"photo\":\"aGkA\",\"bytes\":3,"
                  "\"cabin\":2,\"total\":1150,\"one\":150}");
    assert_answer("{}", "{\"price\":\"0.00\",\"rate\":0,\"fee\":\"0 \",\"starts\":"
                        "\"1970-01-01T00:00:00Z\",\"day\":\"2026-11-18\",\"lasts\":\"PT0S\",\"id\":"
                        "\"00000000-0000-0000-0000-000000000000\",\"photo\":\"\",\"bytes\":0,"
                        "\"cabin\":0,\"total\":0,\"one\":0}");
}

/* -- declarations ------------------------------------------------------------------------------ */

#define ASSERT_PARAM(why, ...)                                                                     \
    ASSERT_OPERATION("its parameter `x` " why, PARAMS({ "x", __VA_ARGS__ }))

static void a_declaration_that_cannot_work_is_refused(void **state)
{
    static const char *const unknown[] = { "EUR", "XYZ", NULL };
    (void)state;
    ASSERT_PARAM("has a scale, which only a decimal has", MISHAP_INTEGER, .scale = 2);
    ASSERT_PARAM("has a scale that is not from 1 to 17", MISHAP_DECIMAL, .scale = 18);
    ASSERT_PARAM("has a scale that is not from 1 to 17", MISHAP_DECIMAL, .scale = -1);
    ASSERT_PARAM("has a range, which only an integer, a number, a decimal or money has",
                 MISHAP_DATE, .range = { 1, 2 });
    ASSERT_PARAM("is a decimal with a bound of more than 15 digits", MISHAP_DECIMAL,
                 .range = { 0, 1e300 });
    ASSERT_PARAM("has the currency `XYZ`, which is not a code of ISO 4217", MISHAP_MONEY,
                 .choices = unknown);
    ASSERT_PARAM("has a length, which only a string, bytes, a file, an array or a map has",
                 MISHAP_UUID, .length = { 1, 2 });
    ASSERT_PARAM("is required and nullable; a required value is never null", MISHAP_DATE,
                 .required = true, .nullable = true);
    ASSERT_PARAM("has a default that breaks its own rules: pattern_mismatch", MISHAP_DATE,
                 .initial = "\"2026-02-31\"");
    ASSERT_PARAM("has items, which only an array or a map has", MISHAP_DATE,
                 .items = MISHAP_ITEM(MISHAP_DATE, .help = "x"));
    ASSERT_SOUND(PARAMS({ "x", MISHAP_MAP, .items = MISHAP_ITEM(MISHAP_MONEY, .help = "x") }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_is_checked_in_words),
        cmocka_unit_test(a_secret_map_shows_neither_names_nor_values),
        cmocka_unit_test(a_secret_is_hidden_in_each_form_that_it_has),
        cmocka_unit_test(secret_names_and_lengths_are_not_shown),
        cmocka_unit_test(each_type_has_its_schema),
        cmocka_unit_test(getters_read_each_type),
        cmocka_unit_test(a_declaration_that_cannot_work_is_refused),
    };
    return RUN(tests);
}
