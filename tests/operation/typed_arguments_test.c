/* Typed arguments: what a struct is filled with, and what comes of a handler for it. */
#include <dlfcn.h>
#include <unistd.h>

#include "testing.h"

#include "mishap/test.h"
#include "mishap/typed.h"
#include "operation/call.h"

#define CABINS(choice) choice(CABIN_ECONOMY, "economy") choice(CABIN_PREMIUM, "premium")
MISHAP_CHOICE_ENUM(cabin, CABINS);

#define ADDRESS(member)                                                                            \
    member(MISHAP_STRING, street, .required = true) member(MISHAP_STRING, zip, .nullable = true)
MISHAP_STRUCT(address, ADDRESS);

#define EXTRA(member)                                                                              \
    member(MISHAP_STRING, name, .required = true) member(MISHAP_DECIMAL, price, .scale = 2)        \
        member(MISHAP_OBJECT_OF(address), at)
MISHAP_STRUCT(extra, EXTRA);

#define BOOKING(member)                                                                            \
    member(MISHAP_STRING, guest, .required = true, .length = { 1, 80 })                            \
        member(MISHAP_INTEGER, nights, .initial = "2") member(MISHAP_NUMBER, weight) member(       \
            MISHAP_BOOLEAN, late) member(MISHAP_ENUM_OF(cabin), cabin, .initial = "\"economy\"")   \
            member(MISHAP_DECIMAL, price, .scale = 2) member(MISHAP_DECIMAL_NUMBER, rate) member(  \
                MISHAP_MONEY, deposit) member(MISHAP_TIMESTAMP, starts) member(MISHAP_DATE, day)   \
                member(MISHAP_DURATION, lasts) member(MISHAP_UUID, id) member(MISHAP_BYTES, photo) \
                    member(MISHAP_STRING, notes, .nullable = true, .initial = "\"none\"")          \
                        member(MISHAP_OBJECT_OF(address), address)                                 \
                            member(MISHAP_OBJECTS_OF(extra), extras, .length = { 0, 10 })          \
                                member(MISHAP_ARRAY_OF(MISHAP_STRING, .length = { 1, 20 }), tags)  \
                                    member(MISHAP_ARRAY_OF(MISHAP_ENUM_OF(cabin)), cabins)         \
                                        member(MISHAP_MAP_OF(MISHAP_DECIMAL, .scale = 2), prices)  \
                                            member(MISHAP_MAP, labels)
MISHAP_STRUCT(booking, BOOKING);

static void (*asked)(mishap_call *call, const struct booking *in);

static mishap *book(mishap_call *call, const struct booking *in)
{
    asked(call, in);
    return NULL;
}

static const mishap_operation operations[] = {
    { "bookings.create", "Book a room", MISHAP_TYPED(booking, book), .route = "POST /bookings" },
    { 0 },
};
static const mishap_app app = { .name = "sample", .operations = operations };

static void with(const char *arguments, void (*handler)(mishap_call *, const struct booking *))
{
    mishap_call *call;
    asked = handler;
    assert_null(mishap_declaration_check(&app));
    assert_null(mishap_call_begin(&app, &operations[0], mishap_text_of(arguments), &call));
    assert_null(mishap_call_run(call));
    mishap_call_end(call);
}

static void see_all(mishap_call *call, const struct booking *in)
{
    char text[MISHAP_WRITTEN];
    assert_string_equal(in->guest, "Ada");
    assert_int_equal(in->nights, 3);
    assert_true(in->weight == 1.5);
    assert_true(in->late);
    assert_int_equal(in->cabin, CABIN_PREMIUM);
    assert_true(in->price.units == 1250 && in->price.scale == 2);
    assert_true(in->rate.units == 5 && in->rate.scale == 2);
    assert_string_equal(mishap_money_write(in->deposit, text), "7.00 EUR");
    assert_string_equal(mishap_timestamp_write(in->starts, text), "2026-02-28T18:30:00+01:00");
    assert_string_equal(mishap_date_write(in->day, text), "2026-02-28");
    assert_int_equal(in->lasts.seconds, 3600);
    assert_int_equal(in->id.bytes[0], 0x01);
    assert_int_equal(in->photo.length, 5);
    assert_memory_equal(in->photo.data, "hello", 6);
    assert_string_equal(in->address.street, "1 Road");
    assert_int_equal(in->address.is.zip, MISHAP_IS_NULL);
    assert_int_equal(in->extras.count, 2);
    assert_string_equal(in->extras.data[0].name, "tea");
    assert_true(in->extras.data[0].price.units == 100);
    assert_int_equal(in->extras.data[0].is.at, MISHAP_ABSENT);
    assert_null(in->extras.data[0].at.street);
    assert_string_equal(in->extras.data[1].at.street, "2 Road");
    assert_int_equal(in->extras.data[1].is.at, MISHAP_GIVEN);
    assert_int_equal(in->extras.data[1].is.price, MISHAP_ABSENT);
    assert_int_equal(in->tags.count, 2);
    assert_string_equal(in->tags.data[1], "b");
    assert_int_equal(in->cabins.count, 1);
    assert_int_equal(in->cabins.data[0], CABIN_ECONOMY);
    assert_int_equal(in->prices.count, 2);
    assert_string_equal(in->prices.data[1].key, "y");
    assert_true(in->prices.data[1].value.units == 250);
    assert_int_equal(mishap_integer(in->labels, "a"), 7);
    assert_string_equal(mishap_string(call, "guest"), "Ada"); /* getters work beside it */
}

static void a_struct_is_filled_with_all_types(void **state)
{
    (void)state;
    with("{\"guest\":\"Ada\",\"nights\":3,\"weight\":1.5,\"late\":true,\"cabin\":\"premium\","
         "\"price\":\"12.5\",\"rate\":0.05,\"deposit\":\"7 EUR\",\"starts\":"
         "\"2026-02-28T18:30:00+01:00\",\"day\":\"2026-02-28\",\"lasts\":\"PT1H\",\"id\":"
         "\"01234567-89ab-7def-8123-456789abcdef\",\"photo\":\"aGVsbG8=\",\"address\":{\"zip\":"
         "null,\"unknown\":1,\"street\":\"1 Road\"},\"extras\":[{\"name\":\"tea\",\"price\":\"1\"},"
         "{\"at\":{\"street\":\"2 Road\"},\"name\":\"milk\"}],\"tags\":[\"a\",\"b\"],\"cabins\":["
         "\"economy\"],\"prices\":{\"x\":\"1\",\"y\":\"2.5\"},\"labels\":{\"a\":7}}",
         see_all);
}

static void see_little(mishap_call *call, const struct booking *in)
{
    (void)call;
    assert_int_equal(in->is.guest, MISHAP_GIVEN);
    assert_int_equal(in->nights, 2);
    assert_int_equal(in->is.nights, MISHAP_DEFAULT);
    assert_int_equal(in->cabin, CABIN_ECONOMY);
    assert_int_equal(in->is.weight, MISHAP_ABSENT);
    assert_int_equal(in->is.late, MISHAP_IS_NULL);
    assert_false(in->late);
    assert_int_equal(in->is.address, MISHAP_ABSENT);
    assert_null(in->address.street);
    assert_int_equal(in->extras.count, 0);
    assert_null(in->extras.data);
    assert_int_equal(in->tags.count, 0);
    assert_int_equal(in->is.tags, MISHAP_GIVEN);
    assert_null(in->labels);
    assert_null(in->photo.data);
    /* null is a value of its own, and the default does not take its place */
    assert_int_equal(in->is.notes, MISHAP_IS_NULL);
    assert_null(in->notes);
}

static void absent_null_and_default_are_told_apart(void **state)
{
    (void)state;
    with("{\"guest\":\"Ada\",\"late\":null,\"tags\":[],\"notes\":null}", see_little);
}

/* -- items with any values --------------------------------------------------------------------- */

#define ANYTHING(member)                                                                           \
    member(MISHAP_ARRAY_OF(MISHAP_OBJECT), objects) member(MISHAP_MAP_OF(MISHAP_ARRAY), lists)     \
        member(MISHAP_ARRAY_OF(MISHAP_MAP), maps)
MISHAP_STRUCT(anything, ANYTHING);

static mishap *take_anything(mishap_call *call, const struct anything *in)
{
    (void)call;
    assert_int_equal(in->objects.count, 2);
    assert_int_equal(mishap_integer(in->objects.data[0], "a"), 7);
    assert_int_equal(mishap_count(in->objects.data[1], ""), 0);
    assert_string_equal(in->lists.data[0].key, "x");
    assert_int_equal(mishap_count(in->lists.data[0].value, ""), 3);
    assert_int_equal(mishap_integer(in->lists.data[0].value, "[2]"), 3);
    assert_true(mishap_boolean(in->maps.data[0], "yes"));
    return NULL;
}

static void items_with_any_values_are_parts_of_the_call(void **state)
{
    static const mishap_operation taking[] = {
        { "anything", "Take anything", MISHAP_TYPED(anything, take_anything) },
        { 0 },
    };
    static const mishap_app taker = { .name = "sample", .operations = taking };
    mishap_call *call;
    (void)state;
    assert_null(mishap_declaration_check(&taker));
    assert_null(mishap_call_begin(&taker, &taking[0],
                                  mishap_text_of("{\"objects\":[{\"a\":7},{}],\"lists\":{\"x\":["
                                                 "1,2,3]},\"maps\":[{\"yes\":true}]}"),
                                  &call));
    assert_null(mishap_call_run(call));
    mishap_call_end(call);
}

/* -- files ------------------------------------------------------------------------------------- */

#define FILES(member)                                                                              \
    member(MISHAP_FILE, photo, .length = { 0, 100 }) member(MISHAP_FILE, empty)                    \
        member(MISHAP_ARRAY_OF(MISHAP_FILE, .length = { 0, 100 }), more)                           \
            member(MISHAP_FILE, large, .streamed = true, .length = { 0, 100 })                     \
                member(MISHAP_FILE, none)
MISHAP_STRUCT(files, FILES);

static mishap *take_files(mishap_call *call, const struct files *in)
{
    assert_int_equal(in->photo.length, 5);
    assert_memory_equal(in->photo.data, "hello", 5);
    assert_string_equal(mishap_file_name(call, "photo"), "a b.png");
    assert_int_equal(in->is.empty, MISHAP_GIVEN);
    assert_int_equal(in->empty.length, 0);
    assert_int_equal(in->more.count, 2);
    assert_memory_equal(in->more.data[0].data, "\0\xff", 2);
    assert_int_equal(in->more.data[0].length, 2);
    assert_memory_equal(in->more.data[1].data, "hello", 5);
    assert_int_equal(in->is.large, MISHAP_GIVEN);
    assert_null(in->large.data);
    assert_int_equal(in->is.none, MISHAP_ABSENT);
    assert_null(in->none.data);
    return NULL;
}

static void files_are_bytes(void **state)
{
    static const mishap_operation taking[] = {
        { "files", "Take files", MISHAP_TYPED(files, take_files) },
        { 0 },
    };
    static const mishap_app taker = { .name = "sample", .operations = taking };
    mishap_call *call;
    (void)state;
    assert_null(mishap_declaration_check(&taker));
    assert_null(mishap_call_begin(
        &taker, &taking[0],
        mishap_text_of(
            "{\"photo\":\"data:image/png;name=a%20b.png;base64,aGVsbG8=\",\"empty\":\"\","
            "\"more\":[\"AP8=\",\"aGVsbG8=\"],\"large\":\"aGVsbG8=\"}"),
        &call));
    assert_null(mishap_call_run(call));
    mishap_call_end(call);
}

/* -- wrong getters ----------------------------------------------------------------------------- */

static const mishap_param title_params[] = {
    { "title", MISHAP_STRING, .required = true, .pattern = "^[a-z-]+$" },
    { "count", MISHAP_INTEGER, .help = "How many" },
    { 0 },
};

static mishap *right(mishap_call *call)
{
    return mishap_answer_member(call, "title", mishap_string(call, "title"));
}

static int wrong_line; /* where wrong_getter() asks */

__attribute__((noinline)) mishap *wrong_getter(mishap_call *call);
mishap *wrong_getter(mishap_call *call)
{
    wrong_line = __LINE__ + 1;
    const char *title = mishap_string(call, "titel");
    return mishap_answer_member(call, "title", title);
}

/* The file and the line, which are known where libdw is. */
static const char *wrong_place(void)
{
    static char place[64];
    if (!dlopen("libdw.so.1", RTLD_LAZY))
        return "wrong_getter";
    snprintf(place, sizeof place, "typed_arguments_test.c:%d", wrong_line);
    return place;
}

static const mishap_operation getters[] = {
    { .name = "right", .summary = "Right", .params = title_params, .run = right },
    { .name = "wrong", .summary = "Wrong", .params = title_params, .run = wrong_getter },
    { 0 },
};
static const mishap_app getters_app = { .name = "sample", .operations = getters };

static void the_stack_of_a_wrong_getter_has_the_handler(void **state)
{
    mishap_call *call;
    mishap_buffer account = { 0 };
    (void)state;
    assert_null(
        mishap_call_begin(&getters_app, &getters[1], mishap_text_of("{\"title\":\"a\"}"), &call));
    mishap *m = mishap_call_run(call);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
    mishap_account(m, &account);
    mishap_buffer_put_char(&account, '\0');
    if (!strstr(account.data, "wrong_getter") || !strstr(account.data, "titel") ||
        !strstr(account.data, wrong_place()))
        fail_msg("%s", account.data);
    mishap_buffer_release(&account);
    mishap_free(m);
    mishap_call_end(call);
}

/* The lines of the test client are on standard output: they are read from a pipe. */
static void the_test_client_finds_wrong_getters(void **state)
{
    char lines[8192];
    int pipe_ends[2], before = dup(STDOUT_FILENO);
    (void)state;
    fflush(stdout);
    assert_int_equal(pipe(pipe_ends), 0);
    dup2(pipe_ends[1], STDOUT_FILENO);
    mishap_test *test = mishap_test_begin(&getters_app);
    bool all = mishap_expect_getters(test);
    int exit_code = mishap_test_end(test);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(pipe_ends[1]);
    size_t length = 0;
    for (ssize_t got; length < sizeof lines - 1 &&
                      (got = read(pipe_ends[0], lines + length, sizeof lines - 1 - length)) > 0;)
        length += (size_t)got;
    lines[length] = '\0';
    close(pipe_ends[0]);
    close(before);
    assert_false(all);
    assert_int_not_equal(exit_code, 0);
    if (!strstr(lines, "ok 1 - sample: right: its handler asks for what is declared") ||
        !strstr(lines, "not ok 2 - sample: wrong: its handler asks for what is declared") ||
        !strstr(lines, "parameter = \"titel\"") || !strstr(lines, "did_you_mean = \"title\"") ||
        !strstr(lines, "wrong_getter") || !strstr(lines, wrong_place()))
        fail_msg("%s", lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_struct_is_filled_with_all_types),
        cmocka_unit_test(absent_null_and_default_are_told_apart),
        cmocka_unit_test(items_with_any_values_are_parts_of_the_call),
        cmocka_unit_test(files_are_bytes),
        cmocka_unit_test(the_stack_of_a_wrong_getter_has_the_handler),
        cmocka_unit_test(the_test_client_finds_wrong_getters),
    };
    return RUN(tests);
}
