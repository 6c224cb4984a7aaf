/*
 * The tests of the bookings service, by C calls, on both engines. tests/http/bookings_test.py has
 * those over HTTP, as commands and for agents.
 */
#include <mishap/test.h>

#include <stdio.h>

/* The service is one file, and this is a program of its own. */
int bookings_main(int argc, char **argv);
#define main bookings_main
#include "bookings.c"
#undef main

static const char *book(mishap_test *t)
{
    mishap_test_call(t, "create",
                     "{\"guest\":\"Ada\",\"room\":7,\"starts\":\"2030-02-01T15:00:00+01:00\","
                     "\"ends\":\"2030-02-03T10:00:00+01:00\",\"price\":\"120.5 EUR\","
                     "\"email\":\"ada@example.com\",\"notes\":\"quiet\",\"tags\":[\"sea\"],"
                     "\"extras\":[{\"name\":\"tea\",\"price\":\"2.5\"},"
                     "{\"name\":\"bike\",\"price\":\"10\"}],\"tax\":1.1,\"born\":\"1990-12-31\","
                     "\"wishes\":{\"pillow\":\"so \\\"soft\\\"\"},\"signature\":\"AP8Kgg==\"}");
    mishap_expect_value(t, "total", "134.10");
    const mishap_answered *answered = mishap_test_answered(t);
    return answered ? mishap_string(answered->json, "id") : "";
}

static void show_and_change(mishap_test *t)
{
    char id[40], arguments[200];
    snprintf(id, sizeof id, "%s", book(t));
    snprintf(arguments, sizeof arguments, "{\"id\":\"%s\"}", id);
    mishap_test_call(t, "show", arguments);
    mishap_expect_value(t, "starts", "2030-02-01T14:00:00Z");
    mishap_expect_value(t, "price", "120.50 EUR");
    mishap_expect_value(t, "reminder", "P1D");
    mishap_expect_value(t, "extras", "12.50");
    mishap_expect_value(t, "notes", "quiet");
    mishap_expect_value(t, "born", "1990-12-31");
    mishap_expect_value(t, "tax", 1.1);
    mishap_expect_value(t, "wishes.pillow", "so \"soft\"");
    mishap_expect_value(t, "signature", "AP8Kgg==");
    /* What is absent stays, null removes. */
    snprintf(arguments, sizeof arguments, "{\"id\":\"%s\",\"ends\":\"2030-02-04T10:00:00Z\"}", id);
    mishap_test_call(t, "change", arguments);
    mishap_expect_value(t, "notes", "quiet");
    mishap_expect_value(t, "ends", "2030-02-04T10:00:00Z");
    snprintf(arguments, sizeof arguments, "{\"id\":\"%s\",\"notes\":null}", id);
    mishap_test_call(t, "change", arguments);
    mishap_expect_nothing(t, "notes");
    mishap_expect_value(t, "signature", "AP8Kgg==");
    mishap_expect_value(t, "ends", "2030-02-04T10:00:00Z");
    snprintf(arguments, sizeof arguments, "{\"id\":\"%s\"}", id);
    mishap_test_call(t, "change", arguments);
    mishap_expect_field(t, "notes", "field_required");
}

/* The amount and the currency have a column each. */
static void keep_money(mishap_test *t)
{
    static const char *const prices[] = { "0.01 EUR", "99999.99 USD", "1200 JPY" };
    for (int i = 0; i < 3; i++) {
        mishap_test_call_with(
            t, "create",
            MISHAP_PAIRS({ "guest", MISHAP_VALUE("Bo") }, { "room", MISHAP_VALUE(100 + i) },
                         { "starts", MISHAP_VALUE("2030-02-01T15:00:00Z") },
                         { "ends", MISHAP_VALUE("2030-02-02T10:00:00Z") },
                         { "phone", MISHAP_VALUE("555") }, { "price", MISHAP_VALUE(prices[i]) }));
        mishap_expect_ok(t);
        const mishap_answered *answered = mishap_test_answered(t);
        char id[40];
        snprintf(id, sizeof id, "%s", answered ? mishap_string(answered->json, "id") : "");
        mishap_test_call_with(t, "show", MISHAP_PAIRS({ "id", MISHAP_VALUE(id) }));
        mishap_expect_value(t, "price", prices[i]);
        mishap_expect_nothing(t, "born");
        mishap_expect_nothing(t, "wishes");
        mishap_expect_nothing(t, "signature");
    }
}

static void refuse(mishap_test *t)
{
    mishap_test_call(t, "create", EXAMPLE);
    mishap_expect_code(t, CONFLICT);
    mishap_test_call(t, "create",
                     "{\"guest\":\"\",\"room\":201,\"starts\":\"2030-02-03T10:00:00Z\","
                     "\"ends\":\"2030-02-03T09:00:00Z\",\"price\":\"1.005 EUR\","
                     "\"kind\":\"company\",\"tags\":[\"a\",\"a\"],"
                     "\"extras\":[{\"name\":\"tea\",\"price\":\"2.555\"}]}");
    mishap_expect_code(t, VALIDATION_ERROR);
    mishap_expect_field(t, "guest", "field_required");
    mishap_expect_field(t, "room", "value_out_of_range");
    mishap_expect_field(t, "price", "pattern_mismatch");
    mishap_expect_field(t, "extras[0].price", "pattern_mismatch");
    mishap_expect_field(t, "tags[1]", "pattern_mismatch");
    mishap_expect_field(t, "ends", "value_out_of_range");
    mishap_expect_field(t, "email", "field_required");
    mishap_expect_field(t, "vat_id", "field_required");
    mishap_test_call(t, "create",
                     "{\"guest\":\"Ada\",\"room\":8,\"starts\":\"2030-02-01T15:00:00Z\","
                     "\"ends\":\"2030-04-03T10:00:00Z\",\"price\":\"120 EUR\"}");
    mishap_expect_field(t, "email", "field_required");
    mishap_expect_field(t, "ends", "too_long");
    mishap_test_call(
        t, "create",
        "{\"guest\":\"Ada\",\"room\":8,\"starts\":\"2030-02-01T15:00:00Z\","
        "\"ends\":\"2030-02-03T10:00:00Z\",\"price\":\"120 EUR\",\"phone\":\"555\","
        "\"born\":\"1990-02-30\",\"tax\":1.005,\"wishes\":{\"pillow\":\"\",\"floor\":3},"
        "\"signature\":\"not base64\"}");
    mishap_expect_field(t, "born", "pattern_mismatch");
    mishap_expect_field(t, "tax", "pattern_mismatch");
    mishap_expect_field(t, "wishes.pillow", "invalid_length");
    mishap_expect_field(t, "wishes.floor", "invalid_type");
    mishap_expect_field(t, "signature", "pattern_mismatch");
    mishap_test_call(t, "show", "{\"id\":\"00000000-0000-0000-0000-000000000000\"}");
    mishap_expect_code(t, NOT_FOUND);
}

static void test_store(mishap_test *t, const char *name, mishap_test_store store)
{
    if (!mishap_test_case(t, name, store))
        return;
    show_and_change(t);
    keep_money(t);
    refuse(t);
}

int main(void)
{
    mishap_test *t = mishap_test_begin(&bookings);
    mishap_expect_getters(t);
    test_store(t, "on SQLite", MISHAP_TEST_SQLITE);
    test_store(t, "on PostgreSQL", MISHAP_TEST_POSTGRESQL);
    return mishap_test_end(t);
}
