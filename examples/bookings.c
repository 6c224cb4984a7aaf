/*
 * Rooms that are booked: typed arguments, money and time, rules across fields, and a store that is
 * SQLite or PostgreSQL.
 *
 *     bookings create --guest Ada --room 7 --starts 2030-02-01T15:00:00Z \
 *         --ends 2030-02-03T10:00:00Z --price "120.00 EUR" --email ada@example.com
 *     bookings change --id … --notes "late arrival"
 *
 * Each struct is declared once, with its parameters; a handler receives it filled.
 * bookings_test.c has its tests.
 */
#include <mishap/main.h>
#include <mishap/store.h>
#include <mishap/typed.h>

/* -- arguments --------------------------------------------------------------------------------- */

#define KINDS(choice) choice(KIND_PERSON, "person") choice(KIND_COMPANY, "company")
MISHAP_CHOICE_ENUM(kind, KINDS);

#define EXTRA(member)                                                                              \
    member(MISHAP_STRING, name, .required = true, .length = { 1, 40 })                             \
        member(MISHAP_DECIMAL, price, .required = true, .scale = 2, .range = { 0, 1000 })

MISHAP_STRUCT(extra, EXTRA);

/* clang-format off */
#define BOOKING(member)                                                                            \
    member(MISHAP_STRING, guest, .required = true, .length = { 1, 80 },                            \
           .help = "Name of the guest")                                                            \
    member(MISHAP_INTEGER, room, .required = true, .range = { 1, 200 })                            \
    member(MISHAP_TIMESTAMP, starts, .required = true, .help = "Arrival")                          \
    member(MISHAP_TIMESTAMP, ends, .required = true, .help = "Departure")                          \
    member(MISHAP_MONEY, price, .required = true, .choices = currencies, .range = { 0, 100000 })   \
    member(MISHAP_ENUM_OF(kind), kind, .initial = "\"person\"")                                    \
    member(MISHAP_STRING, vat_id, .pattern = "^[A-Z]{2}[0-9A-Z]{2,12}$",                           \
           .looks = "a VAT number such as ATU12345678")                                            \
    member(MISHAP_STRING, email, .format = "email")                                                \
    member(MISHAP_STRING, phone, .length = { 3, 40 })                                              \
    member(MISHAP_DATE, born, .help = "Date of birth of the guest")                                \
    member(MISHAP_DURATION, reminder, .initial = "\"P1D\"", .help = "How long before the arrival") \
    member(MISHAP_OBJECTS_OF(extra), extras, .length = { 0, 10 })                                  \
    member(MISHAP_DECIMAL_NUMBER, tax, .scale = 2, .range = { 0, 1000 }, .help = "Local tax")      \
    member(MISHAP_ARRAY_OF(MISHAP_STRING, .length = { 1, 20 }), tags, .unique = true)              \
    member(MISHAP_MAP_OF(MISHAP_STRING, .length = { 1, 60 }), wishes, .length = { 0, 10 },         \
           .help = "Such as pillow: soft")                                                         \
    member(MISHAP_BYTES, signature, .length = { 1, 1000 }, .help = "Of the guest, as an image")    \
    member(MISHAP_STRING, notes, .length = { 0, 200 })
/* clang-format on */

static const char *const currencies[] = { "EUR", "USD", "JPY", NULL };
MISHAP_STRUCT(booking, BOOKING);

#define CHANGE(member)                                                                             \
    member(MISHAP_UUID, id, .required = true, .positional = true)                                  \
        member(MISHAP_STRING, notes, .length = { 0, 200 }, .nullable = true,                       \
               .help = "New notes; null removes them")                                             \
            member(MISHAP_TIMESTAMP, ends, .help = "New departure")
MISHAP_STRUCT(change, CHANGE);

#define FIND(member) member(MISHAP_UUID, id, .required = true, .positional = true)
MISHAP_STRUCT(find, FIND);

/* -- the store --------------------------------------------------------------------------------- */

static const char *const sqlite_tables[] = {
    "CREATE TABLE bookings (id TEXT PRIMARY KEY, guest TEXT, room INTEGER, starts TEXT, ends TEXT,"
    " price INTEGER, currency TEXT, reminder TEXT, extras INTEGER, notes TEXT, born TEXT,"
    " tax INTEGER, wishes TEXT, signature BLOB)",
    NULL,
};
static const char *const postgresql_tables[] = {
    "CREATE TABLE bookings (id uuid PRIMARY KEY, guest text, room bigint, starts timestamptz,"
    " ends timestamptz, price numeric(18, 2), currency text, reminder interval,"
    " extras numeric(18, 2), notes text, born date, tax numeric(18, 2), wishes jsonb,"
    " signature bytea)",
    NULL,
};

enum { ADD, TAKEN, FIND_ONE, SET_NOTES, SET_ENDS, STATEMENTS };
static const mishap_statement statements[STATEMENTS] = {
    [ADD] = { .text = "INSERT INTO bookings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
                      " ?11, ?12, ?13, ?14)",
              .writes = true },
    [TAKEN] = { .text = "SELECT id FROM bookings WHERE room = ?1 AND starts < ?3 AND ends > ?2" },
    [FIND_ONE] = { .text = "SELECT guest, room, starts, ends, price, currency, reminder, extras,"
                           " notes, born, tax, wishes, signature FROM bookings WHERE id = ?1" },
    [SET_NOTES] = { .text = "UPDATE bookings SET notes = ?2 WHERE id = ?1", .writes = true },
    [SET_ENDS] = { .text = "UPDATE bookings SET ends = ?2 WHERE id = ?1 AND starts < ?2",
                   .writes = true },
};
static const mishap_store_schema schema = { "bookings", sqlite_tables, postgresql_tables,
                                            statements, STATEMENTS };

static mishap *open_store(const mishap_setup *setup, void **state)
{
    mishap_store *store;
    mishap *failure = mishap_store_open_service(setup, &schema, &store);
    *state = store;
    return failure;
}

static void close_store(void *state)
{
    mishap_store_close(state);
}

static const char *identity_of(void *state)
{
    return mishap_store_identity(state);
}

static const mishap_service service = {
    .name = "bookings",
    .summary = "Rooms that are booked",
    .open = open_store,
    .close = close_store,
    .identity = identity_of,
    .settings = MISHAP_PARAMS(MISHAP_STORE_SETTING),
};

/* -- handlers ---------------------------------------------------------------------------------- */

/* One transaction: no other booking of the room overlaps. */
struct work {
    const struct booking *in;
    mishap_uuid id;
    mishap_decimal extras;
    const char *wishes; /* as JSON */
};

static mishap *insert_booking(mishap_store *store, const struct work *work)
{
    const struct booking *in = work->in;
    mishap_query query;
    mishap_query_begin(&query, store, ADD);
    mishap_query_bind_uuid(&query, 1, work->id);
    mishap_query_bind_text(&query, 2, mishap_text_of(in->guest));
    mishap_query_bind_integer(&query, 3, in->room);
    mishap_query_bind_timestamp(&query, 4, in->starts);
    mishap_query_bind_timestamp(&query, 5, in->ends);
    mishap_query_bind_decimal(&query, 6, in->price.amount, 2);
    mishap_query_bind_text(&query, 7, mishap_text_of(in->price.currency));
    mishap_query_bind_duration(&query, 8, in->reminder);
    mishap_query_bind_decimal(&query, 9, work->extras, 2);
    mishap_query_bind_text(&query, 10, mishap_text_of(in->notes));
    if (in->is.born == MISHAP_GIVEN)
        mishap_query_bind_date(&query, 11, in->born);
    mishap_query_bind_decimal(&query, 12, in->tax, 2);
    mishap_query_bind_text(&query, 13, mishap_text_of(work->wishes));
    mishap_query_bind_blob(&query, 14, in->signature);
    mishap_query_step(&query);
    return mishap_query_end(&query);
}

static mishap *book_room(mishap_store *store, void *state)
{
    const struct work *work = state;
    mishap_query query;
    mishap_query_begin(&query, store, TAKEN);
    mishap_query_bind_integer(&query, 1, work->in->room);
    mishap_query_bind_timestamp(&query, 2, work->in->starts);
    mishap_query_bind_timestamp(&query, 3, work->in->ends);
    char other[MISHAP_WRITTEN];
    bool taken = mishap_query_step(&query);
    if (taken)
        mishap_uuid_write(mishap_query_uuid(&query, 0), other);
    MISHAP_TRY(mishap_query_end(&query));
    if (taken)
        return mishap_tell(mishap_raise(CONFLICT, "The room is taken at that time."),
                           "conflicts_with", (const char *)other);
    return insert_booking(store, work);
}

static mishap *create_booking(mishap_call *call, const struct booking *in)
{
    struct work work = { .in = in, .extras = { 0, 2 } };
    if (in->wishes.count)
        work.wishes = mishap_json(call, "wishes");
    mishap_decimal total;
    mishap_uuid_read(mishap_text_of(mishap_call_id(call)), &work.id);
    for (size_t i = 0; i < in->extras.count; i++)
        if (!mishap_decimal_add(work.extras, in->extras.data[i].price, &work.extras))
            return mishap_bad_request("The extras cost too much.");
    if (!mishap_decimal_add(in->price.amount, work.extras, &total) ||
        !mishap_decimal_add(total, in->tax, &total))
        return mishap_bad_request("The booking costs too much.");
    MISHAP_TRY(mishap_store_transact(mishap_store_of(call),
                                     &(mishap_transaction){ .work = book_room, .state = &work }));
    mishap_answer_member(call, "id", mishap_uuid_print(call, work.id));
    return mishap_answer_member(call, "total", mishap_decimal_print(call, total));
}

/* The column has two digits after the point, and a currency those that ISO 4217 gives it. */
static const char *print_price(mishap_call *call, mishap_query *query)
{
    mishap_text currency = mishap_query_text(query, 5);
    mishap_money price = { .amount = mishap_query_decimal(query, 4, 2) };
    memcpy(price.currency, currency.data, currency.length == 3 ? 3 : 0);
    mishap_decimal_rescale(price.amount, mishap_currency_scale(currency), &price.amount);
    return mishap_money_print(call, price);
}

static const char *print_text(mishap_call *call, mishap_text text)
{
    return mishap_call_print(call, "%.*s", (int)text.length, text.data);
}

/* Without a value there is no member. */
static void answer_guest(mishap_call *call, mishap_query *query)
{
    mishap_answer_member(call, "guest", mishap_query_text(query, 0));
    if (!mishap_query_is_null(query, 9))
        mishap_answer_member(call, "born", mishap_date_print(call, mishap_query_date(query, 9)));
    if (!mishap_query_is_null(query, 11))
        mishap_answer_json(call, "wishes", print_text(call, mishap_query_text(query, 11)));
    if (!mishap_query_is_null(query, 12))
        mishap_answer_member(call, "signature",
                             mishap_bytes_print(call, mishap_query_blob(query, 12)));
}

static mishap *show_booking(mishap_call *call, const struct find *in)
{
    mishap_query query;
    mishap_query_begin(&query, mishap_store_of(call), FIND_ONE);
    mishap_query_bind_uuid(&query, 1, in->id);
    bool found = mishap_query_step(&query);
    if (found) {
        mishap_answer_member(call, "id", mishap_uuid_print(call, in->id));
        answer_guest(call, &query);
        mishap_answer_member(call, "room", mishap_query_integer(&query, 1));
        mishap_answer_member(call, "starts",
                             mishap_timestamp_print(call, mishap_query_timestamp(&query, 2)));
        mishap_answer_member(call, "ends",
                             mishap_timestamp_print(call, mishap_query_timestamp(&query, 3)));
        mishap_answer_member(call, "price", print_price(call, &query));
        mishap_answer_member(call, "reminder",
                             mishap_duration_print(call, mishap_query_duration(&query, 6)));
        mishap_answer_member(call, "extras",
                             mishap_decimal_print(call, mishap_query_decimal(&query, 7, 2)));
        mishap_answer_json(call, "tax",
                           mishap_decimal_print(call, mishap_query_decimal(&query, 10, 2)));
        mishap_answer_member(call, "notes", mishap_query_text(&query, 8));
    }
    MISHAP_TRY(mishap_query_end(&query));
    return found ? NULL : mishap_not_found("There is no such booking.");
}

/* What is absent stays as it is; notes that are null are removed. */
static mishap *change_booking(mishap_call *call, const struct change *in)
{
    mishap_store *store = mishap_store_of(call);
    mishap_query query;
    if (in->is.notes != MISHAP_ABSENT) {
        mishap_query_begin(&query, store, SET_NOTES);
        mishap_query_bind_uuid(&query, 1, in->id);
        mishap_query_bind_text(&query, 2, mishap_text_of(in->notes));
        mishap_query_step(&query);
        MISHAP_TRY(mishap_query_end(&query));
    }
    if (in->is.ends == MISHAP_GIVEN) {
        mishap_query_begin(&query, store, SET_ENDS);
        mishap_query_bind_uuid(&query, 1, in->id);
        mishap_query_bind_timestamp(&query, 2, in->ends);
        mishap_query_step(&query);
        MISHAP_TRY(mishap_query_end(&query));
    }
    return show_booking(call, &(struct find){ .id = in->id });
}

/* A rule that no declaration can state. */
static mishap *check_length(const mishap_call *call)
{
    enum { MOST_NIGHTS = 30 };
    mishap_timestamp starts = mishap_timestamp_of(call, "starts");
    mishap_timestamp ends = mishap_timestamp_of(call, "ends");
    if (!mishap_given(call, "starts") || !mishap_given(call, "ends") ||
        ends.time.tv_sec - starts.time.tv_sec <= MOST_NIGHTS * 24 * 60 * 60)
        return NULL;
    mishap *m = mishap_field_add(
        mishap_raise(VALIDATION_ERROR, NULL),
        &(mishap_field){ .field = mishap_text_of("ends"), .error = mishap_text_of("too_long") });
    return mishap_field_says(m, "ends must be at most 30 nights after starts.");
}

/* -- declarations ------------------------------------------------------------------------------ */

#define EXAMPLE                                                                                    \
    "{\"guest\":\"Ada\",\"room\":7,\"starts\":\"2030-02-01T15:00:00Z\","                           \
    "\"ends\":\"2030-02-03T10:00:00Z\",\"price\":\"120.00 EUR\",\"email\":\"ada@example.com\"}"

static const mishap_operation operations[] = {
    { "create", "Book a room", MISHAP_TYPED(booking, create_booking), .route = "POST /bookings",
      .status = 201, .service = &service, .raises = MISHAP_RAISES(CONFLICT),
      .tool_example = EXAMPLE,
      .rules = MISHAP_RULES(MISHAP_AFTER("ends", "starts"), MISHAP_EXACTLY_ONE("email", "phone"),
                            MISHAP_REQUIRED_IF("vat_id", "kind", "company"),
                            MISHAP_CHECK(check_length, "a booking is for at most 30 nights")),
      .answers = MISHAP_PARAMS({ "id", MISHAP_UUID, .required = true },
                               { "total", MISHAP_DECIMAL, .required = true, .scale = 2 }) },
    { "show", "Show a booking", MISHAP_TYPED(find, show_booking), .route = "GET /bookings/:id",
      .service = &service, .raises = MISHAP_RAISES(NOT_FOUND) },
    { "change", "Change a booking", MISHAP_TYPED(change, change_booking),
      .route = "PATCH /bookings/:id", .service = &service, .raises = MISHAP_RAISES(NOT_FOUND),
      .rules = MISHAP_RULES(MISHAP_AT_LEAST_ONE("notes", "ends")) },
    { 0 },
};

static const mishap_app bookings = {
    .name = "bookings", .version = "1.0", .license = "MIT", .operations = operations
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &bookings);
}
