/* include/mishap/types.h: what is read, what is refused, and what is written again. */
#include "testing.h"

#include "base/moment.h"

static mishap_text text_of(const char *text)
{
    return mishap_text_of(text);
}

/* -- decimals ---------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    int64_t units;
    int scale;
} decimals[] = {
    { "0", 0, 0 },
    { "12.50", 1250, 2 },
    { "-12.5", -125, 1 },
    { "0.000000000000000001", 1, 18 },
    { "999999999999999999", 999999999999999999, 0 },
    { "-999999999999999999", -999999999999999999, 0 },
    { "9.99999999999999999", 999999999999999999, 17 },
    { "10.00", 1000, 2 },
};

static void decimals_are_read_and_written_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof decimals / sizeof *decimals; i++) {
        mishap_decimal read;
        char text[MISHAP_WRITTEN];
        assert_true(mishap_decimal_read(text_of(decimals[i].text), &read));
        assert_true(read.units == decimals[i].units);
        assert_int_equal(read.scale, decimals[i].scale);
        assert_string_equal(mishap_decimal_write(read, text), decimals[i].text);
    }
}

static void what_only_looks_like_a_decimal_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "-",
        ".",
        "1.",
        ".5",
        "+1",
        "01",
        "-01.5",
        "00",
        "1e3",
        "1.5e2",
        " 1",
        "1 ",
        "1,5",
        "0x10",
        "NaN",
        "inf",
        "1.2.3",
        "--1",
        "1-",
        "1000000000000000000",
        "0.1234567890123456789",
        "0.0000000000000000001",
        "99999999999999999999999999999999",
        "\xd9\xa1",
        "1_000",
        "1\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mishap_decimal out = { 7, 7 };
        if (mishap_decimal_read(text_of(bad[i]), &out))
            fail_msg("should be refused: %s", bad[i]);
        assert_true(out.units == 7 && out.scale == 7);
    }
    assert_false(mishap_decimal_read((mishap_text){ "1\0", 2 }, &(mishap_decimal){ 0, 0 }));
    assert_false(mishap_decimal_read((mishap_text){ NULL, 0 }, &(mishap_decimal){ 0, 0 }));
}

static void arithmetic_is_exact_or_refused(void **state)
{
    mishap_decimal out, most = { 999999999999999999, 0 };
    (void)state;
    assert_true(mishap_decimal_add((mishap_decimal){ 10, 1 }, (mishap_decimal){ 25, 2 }, &out));
    assert_true(out.units == 125 && out.scale == 2);
    assert_false(mishap_decimal_add(most, (mishap_decimal){ 1, 0 }, &out));
    assert_false(mishap_decimal_add(most, (mishap_decimal){ 1, 1 }, &out));
    assert_true(mishap_decimal_times((mishap_decimal){ 1999, 2 }, 3, &out));
    assert_true(out.units == 5997 && out.scale == 2);
    assert_false(mishap_decimal_times(most, 2, &out));
    assert_false(mishap_decimal_times(most, INT64_MAX, &out));
    assert_true(mishap_decimal_rescale((mishap_decimal){ 1500, 3 }, 1, &out));
    assert_true(out.units == 15 && out.scale == 1);
    assert_false(mishap_decimal_rescale((mishap_decimal){ 1501, 3 }, 1, &out));
    assert_false(mishap_decimal_rescale(most, 1, &out));
    assert_false(mishap_decimal_rescale(most, 19, &out));
    assert_false(mishap_decimal_rescale((mishap_decimal){ INT64_MIN, 0 }, 0, &out));
    assert_int_equal(mishap_decimal_compare((mishap_decimal){ 15, 1 }, (mishap_decimal){ 150, 2 }),
                     0);
    assert_true(mishap_decimal_compare(most, (mishap_decimal){ 999999999999999999, 18 }) > 0);
    assert_true(mishap_decimal_compare((mishap_decimal){ -1, 0 }, (mishap_decimal){ -9, 1 }) < 0);
}

static void money_has_the_digits_of_its_currency(void **state)
{
    static const char *const cases[][2] = {
        { "12.5 EUR", "12.50 EUR" },    { "12 EUR", "12.00 EUR" },      { "500 JPY", "500 JPY" },
        { "-1.234 KWD", "-1.234 KWD" }, { "0.0001 CLF", "0.0001 CLF" },
    };
    static const char *const bad[] = { "",
                                       "EUR",
                                       "12.5",
                                       "12.505 EUR",
                                       "1.5 JPY",
                                       "12 eur",
                                       "12  EUR",
                                       "12 XYZ",
                                       "EUR 12",
                                       "12EUR",
                                       "12 EURO",
                                       " 12 EUR",
                                       "12 EUR ",
                                       "1e3 EUR",
                                       "12 ",
                                       "-EUR",
                                       "99999999999999999.99 EUR",
                                       "12\tEUR" };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_money money;
        char text[MISHAP_WRITTEN];
        assert_true(mishap_money_read(text_of(cases[i][0]), &money));
        assert_string_equal(mishap_money_write(money, text), cases[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (mishap_money_read(text_of(bad[i]), &(mishap_money){ .currency = "" }))
            fail_msg("should be refused: %s", bad[i]);
    assert_int_equal(mishap_currency_scale(text_of("UR ")), -1);
    assert_int_equal(mishap_currency_scale(text_of("R E")), -1);
    assert_int_equal(mishap_currency_scale(text_of("USD")), 2);
}

/* -- time -------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    int64_t seconds;
    long nanoseconds;
    int offset;
    const char *written; /* NULL: the same */
} times[] = {
    { "1970-01-01T00:00:00Z", 0, 0, 0, NULL },
    { "2026-02-28T18:30:00.25+01:00", 1772299800, 250000000, 60, NULL },
    { "1969-12-31T23:59:59.999999999Z", -1, 999999999, 0, NULL },
    { "0000-03-01T00:00:00Z", -62162035200, 0, 0, NULL },
    { "9999-12-31T23:59:59Z", 253402300799, 0, 0, NULL },
    { "2000-02-29T00:00:00-12:30", 951827400, 0, -750, NULL },
    { "2016-12-31T23:59:60Z", 1483228800, 0, 0, "2017-01-01T00:00:00Z" },
    { "2026-02-28t18:30:00z", 1772303400, 0, 0, "2026-02-28T18:30:00Z" },
    { "2026-02-28T18:30:00.1234567891234Z", 1772303400, 123456789, 0,
      "2026-02-28T18:30:00.123456789Z" },
    { "2026-02-28T18:30:00-00:00", 1772303400, 0, 0, "2026-02-28T18:30:00Z" },
};

static void points_in_time_keep_their_zone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        mishap_timestamp read;
        char text[MISHAP_WRITTEN];
        assert_true(mishap_timestamp_read(text_of(times[i].text), &read));
        assert_true(read.time.tv_sec == times[i].seconds);
        assert_int_equal(read.time.tv_nsec, times[i].nanoseconds);
        assert_int_equal(read.offset, times[i].offset);
        assert_string_equal(mishap_timestamp_write(read, text),
                            times[i].written ? times[i].written : times[i].text);
    }
}

static void what_is_no_point_in_time_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "2026-02-28",
        "2026-02-29T00:00:00Z",
        "2026-02-28T24:00:00Z",
        "2026-02-28T18:30:00",
        "2026-02-28T18:30Z",
        "2026-02-28 18:30:00Z",
        "2026-02-28T18:30:00.Z",
        "2026-02-28T18:30:00+1:00",
        "2026-02-28T18:30:00+24:00",
        "2026-02-28T18:30:00+01:60",
        "2026-02-28T12:00:60Z",
        "2026-02-28T18:30:00ZZ",
        "0000-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-00:01",
        "+2026-02-28T18:30:00Z",
        "99999-01-01T00:00:00Z",
        "2026-02-28T18:30:00\342\210\22201:00",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (mishap_timestamp_read(text_of(bad[i]), &(mishap_timestamp){ .offset = 0 }))
            fail_msg("should be refused: %s", bad[i]);
}

/* Every day of four hundred years, against the calendar of the C library. */
static void days_are_those_of_the_calendar(void **state)
{
    (void)state;
    mishap_date before = { 0, 0, 0 };
    for (int64_t day = -200 * 366; day <= 400 * 366; day += 1) {
        time_t seconds = day * 86400;
        struct tm *utc = gmtime(&seconds);
        mishap_date date = { utc->tm_year + 1900, utc->tm_mon + 1, utc->tm_mday };
        char text[MISHAP_WRITTEN];
        mishap_date read;
        assert_true(mishap_date_days(date) == day);
        assert_true(mishap_date_read(text_of(mishap_date_write(date, text)), &read));
        assert_int_equal(mishap_date_compare(date, read), 0);
        assert_true(mishap_date_compare(before, date) < 0);
        before = date;
        mishap_timestamp noon = { .time = { .tv_sec = seconds + 43200 } };
        assert_memory_equal(mishap_timestamp_write(noon, (char[MISHAP_WRITTEN]){ 0 }), text, 10);
    }
}

static void durations_have_three_parts(void **state)
{
    static const struct {
        const char *text;
        mishap_duration parts;
        const char *written;
    } cases[] = {
        { "P1Y2M10DT2H30M", { 14, 10, 9000 }, NULL },
        { "P3W", { 0, 21, 0 }, "P21D" },
        { "PT36H", { 0, 0, 129600 }, NULL },
        { "PT0S", { 0, 0, 0 }, NULL },
        { "P0D", { 0, 0, 0 }, "PT0S" },
        { "PT3601S", { 0, 0, 3601 }, "PT1H0M1S" },
        { "P12M1D", { 12, 1, 0 }, "P1Y0M1D" },
    };
    static const char *const bad[] = { "",
                                       "P",
                                       "PT",
                                       "1D",
                                       "P1",
                                       "P1S",
                                       "PT1D",
                                       "P1DT",
                                       "P1W2D",
                                       "P2D1M",
                                       "P1Y1D",
                                       "PT1H1S",
                                       "p1d",
                                       "P-1D",
                                       "P1.5D",
                                       "P1D ",
                                       "PT1HH",
                                       "P99999999999D",
                                       "P3000000000D",
                                       "P9999999999Y",
                                       "PT9999999999H",
                                       "P9999999999W",
                                       "PW" };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_duration read, again;
        char text[MISHAP_WRITTEN];
        assert_true(mishap_duration_read(text_of(cases[i].text), &read));
        assert_memory_equal(&read, &cases[i].parts, sizeof read);
        assert_string_equal(mishap_duration_write(read, text),
                            cases[i].written ? cases[i].written : cases[i].text);
        assert_true(mishap_duration_read(text_of(text), &again));
        assert_memory_equal(&read, &again, sizeof read);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (mishap_duration_read(text_of(bad[i]), &(mishap_duration){ 0, 0, 0 }))
            fail_msg("should be refused: %s", bad[i]);
    mishap_duration loose;
    assert_true(mishap_duration_read_loosely(text_of("P1Y1DT1H1S"), &loose));
    assert_true(loose.months == 12 && loose.days == 1 && loose.seconds == 3601);
}

static void uuids_are_sixteen_bytes(void **state)
{
    static const char *const bad[] = { "",
                                       "01234567-89ab-7def-8123-456789abcde",
                                       "01234567-89ab-7def-8123-456789abcdefg",
                                       "0123456789ab7def8123456789abcdef",
                                       "01234567-89ab-7def-8123-456789abcdeg",
                                       "01234567_89ab-7def-8123-456789abcdef",
                                       "{1234567-89ab-7def-8123-456789abcde}" };
    mishap_uuid uuid;
    char text[MISHAP_WRITTEN];
    (void)state;
    assert_true(mishap_uuid_read(text_of("01234567-89AB-7def-8123-456789abcdef"), &uuid));
    assert_int_equal(uuid.bytes[0], 0x01);
    assert_int_equal(uuid.bytes[15], 0xEF);
    assert_string_equal(mishap_uuid_write(uuid, text), "01234567-89ab-7def-8123-456789abcdef");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (mishap_uuid_read(text_of(bad[i]), &uuid))
            fail_msg("should be refused: %s", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_read_and_written_exactly),
        cmocka_unit_test(what_only_looks_like_a_decimal_is_refused),
        cmocka_unit_test(arithmetic_is_exact_or_refused),
        cmocka_unit_test(money_has_the_digits_of_its_currency),
        cmocka_unit_test(points_in_time_keep_their_zone),
        cmocka_unit_test(what_is_no_point_in_time_is_refused),
        cmocka_unit_test(days_are_those_of_the_calendar),
        cmocka_unit_test(durations_have_three_parts),
        cmocka_unit_test(uuids_are_sixteen_bytes),
    };
    return RUN(tests);
}
