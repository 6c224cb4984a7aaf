/* Columns of the types of mishap/types.h, on both engines: what is stored comes back, is in the
 * order of the values, and can be added up exactly. */
#include "base/json_read.h"
#include "set_up.h"

static const char *const typed_sqlite[] = {
    "CREATE TABLE bookings (id TEXT PRIMARY KEY, price INTEGER, currency TEXT, starts TEXT,"
    " day TEXT, lasts TEXT, labels TEXT) STRICT",
    NULL,
};

static const char *const typed_postgresql[] = {
    "CREATE TABLE bookings (id uuid PRIMARY KEY, price numeric(18, 2), currency text,"
    " starts timestamptz, day date, lasts interval, labels jsonb)",
    NULL,
};

enum { ADD, FIND, TOTAL, EARLIEST, CHEAPER, AS_WHOLE, ABSURD, LABEL, SPENT, TYPED_STATEMENTS };

static const mishap_statement typed_statements[TYPED_STATEMENTS] = {
    [ADD] = { .text = "INSERT INTO bookings (id, price, starts, day, lasts, currency, labels)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
              .writes = true },
    [FIND] = { .text = "SELECT id, price, starts, day, lasts, currency, labels FROM bookings"
                       " WHERE id = ?1" },
    [TOTAL] = { .text = "SELECT sum(price) FROM bookings" },
    [EARLIEST] = { .text = "SELECT starts, day FROM bookings ORDER BY starts LIMIT 1" },
    [CHEAPER] = { .text = "SELECT count(*) FROM bookings WHERE price < ?1" },
    [AS_WHOLE] = { .text = "SELECT count(*) FROM bookings" },
    [LABEL] = { .text = "SELECT labels ->> 'size' FROM bookings WHERE id = ?1" },
    [SPENT] = { .text = "SELECT sum(price) FROM bookings WHERE currency = ?1" },
    [ABSURD] = { .text = "SELECT 'x', 'x', 'x', 'x', 'x'" },
};

static void open_typed(void)
{
    schema.sqlite = typed_sqlite;
    schema.postgresql = typed_postgresql;
    schema.statements = typed_statements;
    schema.statement_count = TYPED_STATEMENTS;
    open_store();
}

struct booking {
    const char *id, *price, *starts, *day, *lasts, *currency, *labels;
};

static const struct booking bookings[] = {
    { "01234567-89ab-7def-8123-456789abcdef", "12.50", "2026-02-28T18:30:00.25+01:00", "2026-02-28",
      "P1Y2M10DT2H30M", "EUR", "{\"size\":\"large\",\"a \\\"quoted\\\" key\":\"ö\"}" },
    { "ffffffff-ffff-ffff-ffff-ffffffffffff", "-0.01", "1969-12-31T23:59:59.999999Z", "0001-01-01",
      "PT0S", "EUR", "{}" },
    { "00000000-0000-0000-0000-000000000000", "9999999999999999.99", "9999-12-31T23:59:59-00:00",
      "9999-12-31", "P1Y0M1DT1H0M1S", "USD", "{\"size\":\"small\"}" },
};

static mishap *add_booking(const struct booking *booking)
{
    mishap_query query;
    mishap_uuid id;
    mishap_decimal price;
    mishap_timestamp starts;
    mishap_date day;
    mishap_duration lasts;
    assert_true(mishap_uuid_read(mishap_text_of(booking->id), &id));
    assert_true(mishap_decimal_read(mishap_text_of(booking->price), &price));
    assert_true(mishap_timestamp_read(mishap_text_of(booking->starts), &starts));
    assert_true(mishap_date_read(mishap_text_of(booking->day), &day));
    assert_true(mishap_duration_read(mishap_text_of(booking->lasts), &lasts));
    mishap_query_begin(&query, store, ADD);
    mishap_query_bind_uuid(&query, 1, id);
    mishap_query_bind_decimal(&query, 2, price, 2);
    mishap_query_bind_timestamp(&query, 3, starts);
    mishap_query_bind_date(&query, 4, day);
    mishap_query_bind_duration(&query, 5, lasts);
    mishap_query_bind_text(&query, 6, mishap_text_of(booking->currency));
    mishap_query_bind_text(&query, 7, mishap_text_of(booking->labels));
    assert_false(mishap_query_step(&query));
    return mishap_query_end(&query);
}

/* PostgreSQL writes a space behind each colon and comma, and orders the members. */
static void assert_same_json(mishap_text text, const char *json)
{
    mishap_json_reader found = MISHAP_JSON_READER, wanted = MISHAP_JSON_READER;
    assert_true(mishap_json_read(&found, text));
    assert_true(mishap_json_read(&wanted, mishap_text_of(json)));
    assert_true(yyjson_equals(found.root, wanted.root));
    mishap_json_reader_release(&found);
    mishap_json_reader_release(&wanted);
}

static void assert_booking(const struct booking *booking)
{
    char text[MISHAP_WRITTEN];
    mishap_query query;
    mishap_uuid id;
    mishap_timestamp starts;
    assert_true(mishap_uuid_read(mishap_text_of(booking->id), &id));
    assert_true(mishap_timestamp_read(mishap_text_of(booking->starts), &starts));
    mishap_query_begin(&query, store, FIND);
    mishap_query_bind_uuid(&query, 1, id);
    assert_true(mishap_query_step(&query));
    assert_string_equal(mishap_uuid_write(mishap_query_uuid(&query, 0), text), booking->id);
    assert_string_equal(mishap_decimal_write(mishap_query_decimal(&query, 1, 2), text),
                        booking->price);
    mishap_timestamp found = mishap_query_timestamp(&query, 2);
    assert_int_equal(mishap_timestamp_compare(found, starts), 0);
    assert_int_equal(found.offset, 0);
    assert_string_equal(mishap_date_write(mishap_query_date(&query, 3), text), booking->day);
    assert_string_equal(mishap_duration_write(mishap_query_duration(&query, 4), text),
                        booking->lasts);
    assert_true(mishap_text_equal(mishap_query_text(&query, 5), mishap_text_of(booking->currency)));
    assert_same_json(mishap_query_text(&query, 6), booking->labels);
    assert_false(mishap_query_step(&query));
    assert_fine(mishap_query_end(&query));
}

static void values_come_back_as_they_were(void **state)
{
    (void)state;
    open_typed();
    for (size_t i = 0; i < sizeof bookings / sizeof *bookings; i++)
        assert_fine(add_booking(&bookings[i]));
    for (size_t i = 0; i < sizeof bookings / sizeof *bookings; i++)
        assert_booking(&bookings[i]);
}

static void values_have_their_order_and_their_sum(void **state)
{
    char text[MISHAP_WRITTEN];
    mishap_query query;
    (void)state;
    open_typed();
    assert_fine(add_booking(&bookings[0]));
    assert_fine(add_booking(&bookings[1]));
    mishap_query_begin(&query, store, TOTAL);
    assert_true(mishap_query_step(&query));
    assert_string_equal(mishap_decimal_write(mishap_query_decimal(&query, 0, 2), text), "12.49");
    assert_fine(mishap_query_end(&query));
    mishap_query_begin(&query, store, EARLIEST);
    assert_true(mishap_query_step(&query));
    assert_string_equal(mishap_date_write(mishap_query_date(&query, 1), text), "0001-01-01");
    assert_fine(mishap_query_end(&query));
    mishap_query_begin(&query, store, CHEAPER);
    mishap_query_bind_decimal(&query, 1, (mishap_decimal){ 125, 1 }, 2);
    assert_true(mishap_query_step(&query));
    assert_int_equal(mishap_query_integer(&query, 0), 1);
    assert_fine(mishap_query_end(&query));
}

static void money_has_two_columns(void **state)
{
    static const char *const spent[][2] = { { "EUR", "12.49" }, { "USD", "9999999999999999.99" } };
    char text[MISHAP_WRITTEN];
    mishap_query query;
    (void)state;
    open_typed();
    for (size_t i = 0; i < sizeof bookings / sizeof *bookings; i++)
        assert_fine(add_booking(&bookings[i]));
    for (size_t i = 0; i < 2; i++) {
        mishap_query_begin(&query, store, SPENT);
        mishap_query_bind_text(&query, 1, mishap_text_of(spent[i][0]));
        assert_true(mishap_query_step(&query));
        assert_string_equal(mishap_decimal_write(mishap_query_decimal(&query, 0, 2), text),
                            spent[i][1]);
        assert_fine(mishap_query_end(&query));
    }
}

/* The members of a map can be asked for in both engines. */
static void a_map_is_json(void **state)
{
    static const char *const sizes[] = { "large", NULL, "small" };
    mishap_query query;
    mishap_uuid id;
    (void)state;
    open_typed();
    for (size_t i = 0; i < sizeof bookings / sizeof *bookings; i++) {
        assert_fine(add_booking(&bookings[i]));
        assert_true(mishap_uuid_read(mishap_text_of(bookings[i].id), &id));
        mishap_query_begin(&query, store, LABEL);
        mishap_query_bind_uuid(&query, 1, id);
        assert_true(mishap_query_step(&query));
        assert_int_equal(mishap_query_is_null(&query, 0), !sizes[i]);
        assert_true(mishap_text_equal(mishap_query_text(&query, 0), mishap_text_of(sizes[i])));
        assert_fine(mishap_query_end(&query));
    }
}

static void null_is_nothing(void **state)
{
    mishap_query query;
    (void)state;
    open_typed();
    mishap_query_begin(&query, store, ADD);
    mishap_query_bind_uuid(&query, 1, (mishap_uuid){ { 7 } });
    assert_false(mishap_query_step(&query));
    assert_fine(mishap_query_end(&query));
    mishap_query_begin(&query, store, FIND);
    mishap_query_bind_uuid(&query, 1, (mishap_uuid){ { 7 } });
    assert_true(mishap_query_step(&query));
    assert_int_equal(mishap_query_decimal(&query, 1, 2).units, 0);
    assert_int_equal(mishap_query_timestamp(&query, 2).time.tv_sec, 0);
    assert_int_equal(mishap_query_date(&query, 3).year, 0);
    assert_int_equal(mishap_query_duration(&query, 4).days, 0);
    assert_fine(mishap_query_end(&query));
}

/* A price with three digits after its point does not become another price. */
static void what_does_not_fit_its_column_is_not_written(void **state)
{
    mishap_query query;
    (void)state;
    open_typed();
    mishap_query_begin(&query, store, ADD);
    mishap_query_bind_uuid(&query, 1, (mishap_uuid){ { 7 } });
    mishap_query_bind_decimal(&query, 2, (mishap_decimal){ 1005, 3 }, 2);
    assert_false(mishap_query_step(&query));
    assert_failure(mishap_query_end(&query), MISHAP_CODE_INTERNAL_ERROR, false);
    assert_int_equal(number_of(AS_WHOLE), 0);
    mishap_query_begin(&query, store, ABSURD);
    assert_true(mishap_query_step(&query));
    mishap_query_uuid(&query, 0);
    mishap_query_decimal(&query, 1, 2);
    mishap_query_timestamp(&query, 2);
    mishap_query_date(&query, 3);
    mishap_query_duration(&query, 4);
    assert_failure(mishap_query_end(&query), MISHAP_CODE_INTERNAL_ERROR, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(values_come_back_as_they_were),
        BOTH(values_have_their_order_and_their_sum),
        BOTH(money_has_two_columns),
        BOTH(a_map_is_json),
        BOTH(null_is_nothing),
        BOTH(what_does_not_fit_its_column_is_not_written),
    };
    return run_on_stores(tests, sizeof tests / sizeof *tests);
}
