/* src/operation/arguments: values by names and paths, how many there are, and walks over them. */
#include "testing.h"

#include <time.h>

#include "mishap/inside.h"
#include "operation/call.h"

/* -- a call whose handler is the test ---------------------------------------------------------- */

static void (*asked)(mishap_call *call);

static mishap *ask(mishap_call *call)
{
    asked(call);
    return NULL;
}

static const char *const sizes[] = { "small", "large", NULL };
static const mishap_param line_members[] = {
    { .name = "title", .type = MISHAP_STRING },
    { .name = "count", .type = MISHAP_INTEGER },
    { .name = "price", .type = MISHAP_NUMBER },
    { "size", MISHAP_ENUM, .choices = sizes },
    { .name = "gift", .type = MISHAP_BOOLEAN },
    { "tags", MISHAP_ARRAY, .items = &(const mishap_param){ NULL, .type = MISHAP_STRING } },
    { 0 },
};
static const mishap_param line = { "line", MISHAP_OBJECT, .members = line_members };
static const mishap_param address_members[] = {
    { .name = "street", .type = MISHAP_STRING },
    { .name = "zip", .type = MISHAP_STRING },
    { 0 },
};
static const mishap_param order_params[] = {
    { .name = "name", .type = MISHAP_STRING },
    { "count", MISHAP_INTEGER, .initial = "7" },
    { "address", MISHAP_OBJECT, .members = address_members },
    { "lines", MISHAP_ARRAY, .items = &line },
    { "numbers", MISHAP_ARRAY, .items = &(const mishap_param){ NULL, .type = MISHAP_NUMBER } },
    { .name = "extra", .type = MISHAP_OBJECT },
    { .name = "anything", .type = MISHAP_ARRAY },
    { 0 },
};
static const mishap_operation operations[] = {
    { .name = "order", .summary = "Order", .params = order_params, .run = ask },
    { 0 },
};
static const mishap_app app = { .name = "sample", .operations = operations };

/* What came of it; to be freed. */
static mishap *outcome(const char *arguments, void (*handler)(mishap_call *call))
{
    mishap_call *call;
    asked = handler;
    mishap *m = mishap_call_begin(&app, &operations[0], mishap_text_of(arguments), &call);
    assert_null(m);
    m = mishap_call_run(call);
    mishap_call_end(call);
    return m;
}

static void with(const char *arguments, void (*handler)(mishap_call *call))
{
    assert_null(outcome(arguments, handler));
}

static const char whole[] =
    "{\"name\":\"Ada\",\"address\":{\"street\":\"1 \\\"A\\\" Road\",\"zip\":null},"
    "\"lines\":[{\"title\":\"tea\",\"count\":2,\"price\":1.5,\"size\":\"small\",\"gift\":true,"
    "\"tags\":[\"hot\",\"green\"]},{\"title\":\"milk\",\"count\":1,\"price\":2}],"
    "\"numbers\":[1,2.5,18446744073709551616],"
    "\"extra\":{\"a\":1,\"b\":{\"c\":[true,null,\"x\"]},\"dotted.key\":3},"
    "\"anything\":[\"text\",5,null,[1,2],{\"k\":1.5}]}";

/* -- paths ------------------------------------------------------------------------------------- */

static void ask_by_paths(mishap_call *call)
{
    assert_string_equal(mishap_string(call, "name"), "Ada");
    assert_int_equal(mishap_integer(call, "count"), 7);
    assert_string_equal(mishap_string(call, "address.street"), "1 \"A\" Road");
    assert_int_equal(mishap_string_length(call, "address.street"), 10);
    assert_false(mishap_given(call, "address.zip")); /* null */
    assert_null(mishap_string(call, "address.zip"));
    assert_int_equal(mishap_string_length(call, "address.zip"), 0);
    assert_int_equal(mishap_integer(call, "lines[0].count"), 2);
    assert_true(mishap_number(call, "lines[0].price") == 1.5);
    assert_true(mishap_number(call, "lines[1].count") == 1);
    assert_string_equal(mishap_string(call, "lines[0].size"), "small");
    assert_true(mishap_boolean(call, "lines[0].gift"));
    assert_false(mishap_boolean(call, "lines[1].gift"));
    assert_string_equal(mishap_string(call, "lines[0].tags[1]"), "green");
    assert_true(mishap_number(call, "numbers[2]") == 18446744073709551616.0);
    assert_string_equal(mishap_json(call, "lines[1]"),
                        "{\"title\":\"milk\",\"count\":1,\"price\":2}");
    assert_string_equal(mishap_json(call, "extra.b.c"), "[true,null,\"x\"]");
}

static void ask_for_all(mishap_call *call)
{
    assert_string_equal(mishap_json(call, ""), "{\"name\":\"A\\\"da\",\"count\":7}");
}

static void all_that_is_declared_is_one_object(void **state)
{
    (void)state;
    with("{\"other\":1,\"address\":null,\"name\":\"A\\\"da\"}", ask_for_all);
}

static void a_path_leads_to_a_value_in_objects_and_arrays(void **state)
{
    (void)state;
    with(whole, ask_by_paths);
}

static void ask_for_what_is_not_there(mishap_call *call)
{
    assert_false(mishap_given(call, "address"));
    assert_false(mishap_given(call, "address.zip"));
    assert_null(mishap_string(call, "address.zip"));
    assert_false(mishap_given(call, "lines[0]"));
    assert_int_equal(mishap_integer(call, "lines[0].count"), 0);
    assert_false(mishap_given(call, "lines[18446744073709551616].count"));
    assert_null(mishap_json(call, "lines[3].tags"));
    assert_int_equal(mishap_count(call, "lines"), 0);
    assert_int_equal(mishap_count(call, "lines[1].tags"), 0);
    assert_null(mishap_first(call, "lines"));
    assert_null(mishap_at(call, "address"));
    assert_null(mishap_next(NULL));
}

static void what_is_not_given_has_nothing_below_it(void **state)
{
    (void)state;
    with("{}", ask_for_what_is_not_there);
    with("{\"lines\":[],\"address\":null}", ask_for_what_is_not_there);
}

/* -- parts ------------------------------------------------------------------------------------- */

static void walk(mishap_call *call)
{
    double total = 0;
    size_t lines = 0, tags = 0;
    for (const mishap_call *l = mishap_first(call, "lines"); l; l = mishap_next(l), lines++) {
        total += (double)mishap_integer(l, "count") * mishap_number(l, "price");
        assert_null(mishap_key(l));
        for (const mishap_call *tag = mishap_first(l, "tags"); tag; tag = mishap_next(tag), tags++)
            assert_string_equal(mishap_string(tag, ""), tags ? "green" : "hot");
    }
    assert_int_equal(lines, 2);
    assert_int_equal(tags, 2);
    assert_true(total == 5);
    assert_int_equal(mishap_count(call, "lines"), 2);
    assert_int_equal(mishap_count(call, "lines[0].tags"), 2);
    assert_int_equal(mishap_count(call, "extra"), 3);
    assert_int_equal(mishap_count(call, "address"), 2);
}

static void a_walk_gives_every_item_as_a_part(void **state)
{
    (void)state;
    with(whole, walk);
}

static void walk_members(mishap_call *call)
{
    static const char *const keys[] = { "a", "b", "dotted.key" };
    size_t i = 0;
    for (const mishap_call *m = mishap_first(call, "extra"); m; m = mishap_next(m), i++) {
        assert_string_equal(mishap_key(m), keys[i]);
        if (i != 1)
            assert_int_equal(mishap_integer(m, ""), i ? 3 : 1);
        else
            assert_string_equal(mishap_string(m, "c[2]"), "x");
    }
    assert_int_equal(i, 3);
    i = 0;
    for (const mishap_call *m = mishap_first(call, "address"); m; m = mishap_next(m), i++)
        assert_int_equal(mishap_given(m, ""), i == 0);
    assert_int_equal(i, 2);
}

static void a_walk_over_an_object_tells_the_keys(void **state)
{
    (void)state;
    with(whole, walk_members);
}

static void look_at_a_part(mishap_call *call)
{
    const mishap_call *address = mishap_at(call, "address"), *first = mishap_at(call, "lines[0]");
    assert_string_equal(mishap_string(address, "street"), "1 \"A\" Road");
    assert_string_equal(mishap_string(first, "tags[0]"), "hot");
    assert_string_equal(mishap_string(mishap_at(first, "tags"), "[1]"), "green");
    assert_string_equal(mishap_json(mishap_at(call, "numbers"), ""),
                        "[1,2.5,18446744073709551616]");
    assert_ptr_equal(mishap_state(first), mishap_state(call));
    assert_ptr_equal(mishap_caller(first), mishap_caller(call));
    assert_false(mishap_cancelled(first));
}

static void a_part_is_asked_like_a_call(void **state)
{
    (void)state;
    with(whole, look_at_a_part);
}

static void ask_for_kinds(mishap_call *call)
{
    assert_int_equal(mishap_kind_of(call, "count"), MISHAP_KIND_INT);
    assert_int_equal(mishap_integer(call, "count"), 3);
    assert_int_equal(mishap_kind_of(call, "lines[0].count"), MISHAP_KIND_INT);
    assert_int_equal(mishap_kind_of(call, "lines[0].price"), MISHAP_KIND_REAL);
    assert_int_equal(mishap_kind_of(call, "name"), MISHAP_KIND_NONE);
}

static void the_kind_of_an_integer_is_that_of_its_declaration(void **state)
{
    (void)state;
    with("{\"count\":3.0,\"lines\":[{\"count\":2.0,\"price\":2.0}]}", ask_for_kinds);
}

static void ask_for_odd_numbers(mishap_call *call)
{
    assert_int_equal(mishap_integer(call, "anything[0]"), 0);
    assert_int_equal(mishap_integer(call, "anything[1]"), INT64_MAX);
    assert_int_equal(mishap_integer(call, "anything[2]"), 0);
    assert_int_equal(mishap_integer(call, "anything[3]"), -2);
    assert_int_equal(mishap_integer(call, "anything[4]"), 0);
    assert_true(mishap_number(call, "anything[0]") == 18446744073709551615.0);
    assert_true(mishap_number(call, "anything[4]") == 0);
    assert_true(mishap_number(call, "anything[5]") == 0);
}

static void numbers_that_are_none_of_their_type_are_not_there(void **state)
{
    (void)state;
    with("{\"anything\":[18446744073709551615,9223372036854775807,2.5,-2.0,1e999,-1e999]}",
         ask_for_odd_numbers);
}

static void ask_for_anything(mishap_call *call)
{
    assert_int_equal(mishap_kind_of(call, "anything[0]"), MISHAP_KIND_TEXT);
    assert_int_equal(mishap_kind_of(call, "anything[1]"), MISHAP_KIND_INT);
    assert_int_equal(mishap_kind_of(call, "anything[2]"), MISHAP_KIND_NONE);
    assert_int_equal(mishap_kind_of(call, "anything[3]"), MISHAP_KIND_JSON);
    assert_int_equal(mishap_kind_of(call, "anything[4].k"), MISHAP_KIND_REAL);
    assert_int_equal(mishap_kind_of(call, "extra.b.c[0]"), MISHAP_KIND_BOOL);
    assert_int_equal(mishap_kind_of(call, "numbers[2]"), MISHAP_KIND_JSON);
    assert_int_equal(mishap_kind_of(call, "extra.missing.deeper"), MISHAP_KIND_NONE);
    /* Under another type it is not there. */
    assert_null(mishap_string(call, "anything[1]"));
    assert_int_equal(mishap_string_length(call, "anything[3]"), 0);
    assert_int_equal(mishap_integer(call, "anything[0]"), 0);
    assert_false(mishap_boolean(call, "anything[0]"));
    assert_int_equal(mishap_count(call, "anything[0]"), 0);
    assert_null(mishap_first(call, "anything[1]"));
    assert_false(mishap_given(call, "anything[0].x"));
    assert_false(mishap_given(call, "anything[0][1]"));
}

static void where_anything_may_stand_a_value_of_another_type_is_not_there(void **state)
{
    (void)state;
    with(whole, ask_for_anything);
}

static void ask_for_large_numbers(mishap_call *call)
{
    assert_int_equal(mishap_integer(call, "extra.fits"), INT64_MIN);
    assert_int_equal(mishap_integer(call, "extra.above"), 0);
    assert_int_equal(mishap_integer(call, "extra.below"), 0);
}

static void where_anything_may_stand_a_number_of_more_than_64_bits_is_no_integer(void **state)
{
    (void)state;
    with("{\"extra\":{\"fits\":-9223372036854775808.0,\"above\":9223372036854775808.0,"
         "\"below\":-1e19}}",
         ask_for_large_numbers);
}

static void look_for_what_is_not_declared(mishap_call *call)
{
    assert_string_equal(mishap_json(call, "address"), "{\"zip\":\"1\"}");
    assert_string_equal(mishap_json(call, "lines"), "[{\"title\":\"tea\"},{\"count\":1},{}]");
    assert_string_equal(mishap_json(call, ""), "{\"count\":7,\"address\":{\"zip\":\"1\"},"
                                               "\"lines\":[{\"title\":\"tea\"},{\"count\":1},{}],"
                                               "\"extra\":{\"is_admin\":true}}");
    assert_int_equal(mishap_count(call, "address"), 1);
    size_t seen = 0;
    for (const mishap_call *m = mishap_first(call, "address"); m; m = mishap_next(m), seen++)
        assert_string_equal(mishap_key(m), "zip");
    assert_int_equal(seen, 1);
    assert_null(mishap_first(call, "lines[2]"));
}

static void what_is_not_declared_never_reaches_the_handler(void **state)
{
    (void)state;
    mishap_call *call;
    asked = look_for_what_is_not_declared;
    assert_null(mishap_call_begin(
        &app, &operations[0],
        T("{\"is_admin\":true,\"address\":{\"is_admin\":true,\"zip\":\"1\",\"x\":{}},"
          "\"lines\":[{\"title\":\"tea\",\"is_admin\":true},{\"admin\":1,\"count\":1},"
          "{\"x\":1}],\"extra\":{\"is_admin\":true}}"),
        &call));
    assert_null(mishap_call_run(call));
    mishap_call_end(call);
}

static void what_is_not_declared_is_refused_at_any_depth(void **state)
{
    (void)state;
    static const struct {
        const char *field, *meant;
    } unknown[] = {
        { "nam", "name" },          { "address.zipp", "zip" },  { "lines[0].pric", "price" },
        { "lines[1].xyzzy", NULL }, { "lines[1].tag", "tags" },
    };
    mishap_call *call;
    mishap *m = mishap_call_begin_closed(
        &app, &operations[0],
        T("{\"nam\":1,\"address\":{\"zipp\":\"1\",\"street\":7},\"extra\":{\"any\":1},"
          "\"lines\":[{\"title\":\"a\",\"pric\":1},"
          "{\"title\":\"b\",\"xyzzy\":1,\"tag\":[]}]}"),
        &call);
    assert_null(call);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_VALIDATION_ERROR);
    const mishap_field *field = mishap_told(m)->fields;
    assert_string_equal(field->field.data,
                        "address.street"); /* what is wrong besides comes first */
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        field = field->next;
        assert_string_equal(field->field.data, unknown[i].field);
        assert_string_equal(field->error.data, "unknown_field");
        assert_int_equal(field->expected.kind,
                         unknown[i].meant ? MISHAP_KIND_TEXT : MISHAP_KIND_NONE);
        if (unknown[i].meant)
            assert_string_equal(field->expected.text.data, unknown[i].meant);
    }
    assert_null(field->next);
    mishap_free(m);
    assert_null(mishap_call_begin_closed(&app, &operations[0],
                                         T("{\"name\":\"a\",\"extra\":{\"any\":{}}}"), &call));
    mishap_call_end(call);
}

static void a_name_inside_of_a_secret_is_not_told(void **state)
{
    (void)state;
    const mishap_operation one = {
        .name = "pay",
        .params = MISHAP_PARAMS(
            { "card", MISHAP_OBJECT, .secret = true,
              .members = MISHAP_PARAMS(
                  { .name = "number", .type = MISHAP_STRING },
                  { "owner", MISHAP_OBJECT,
                    .members = MISHAP_PARAMS({ .name = "name", .type = MISHAP_STRING }) }) },
            { "keys", MISHAP_ARRAY,
              .items = MISHAP_ITEM(
                  MISHAP_OBJECT, .secret = true,
                  .members = MISHAP_PARAMS({ .name = "id", .type = MISHAP_STRING })) })
    };
    static const char *const fields[] = { "card", "card.owner", "keys[1]" };
    static const char *const sentences[] = {
        "card has a member whose name is not known; the known names are number and owner.",
        "card.owner has a member whose name is not known; the known name is name.",
        "keys[1] has a member whose name is not known; the known name is id.",
    };
    mishap_call *call;
    mishap *m = mishap_call_begin_closed(
        &app, &one,
        T("{\"card\":{\"hunter2\":1,\"numberhunter2\":1,\"owner\":{\"hunter2\":1}},"
          "\"keys\":[{},{\"hunter2\":1}]}"),
        &call);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_VALIDATION_ERROR);
    const mishap_field *field = mishap_told(m)->fields;
    for (size_t i = 0; i < 3; i++, field = field->next) {
        assert_string_equal(field->field.data, fields[i]);
        assert_string_equal(field->error.data, "unknown_field");
        assert_string_equal(field->message.data, sentences[i]);
    }
    assert_null(field);
    mishap_buffer account = { 0 };
    mishap_account(m, &account);
    mishap_buffer_put(&account, "", 1);
    assert_null(strstr(account.data, "hunter2"));
    mishap_buffer_release(&account);
    mishap_free(m);
}

static void of_many_known_names_the_first_are_told(void **state)
{
    (void)state;
    mishap_param many[22] = { 0 };
    char names[21][4];
    mishap_operation one = { .name = "many", .params = many };
    for (size_t i = 0; i < 21; i++) {
        snprintf(names[i], sizeof names[i], "p%02zu", i);
        many[i] = (mishap_param){ .name = names[i], .type = MISHAP_STRING };
    }
    mishap_call *call;
    mishap *m = mishap_call_begin_closed(&app, &one, T("{\"something_else\":1}"), &call);
    const char *sentence = mishap_told(m)->fields->message.data;
    assert_non_null(
        strstr(sentence, "something_else is not a known name; the known names are p00, p01, "));
    assert_non_null(strstr(sentence, ", p18, p19 and more."));
    mishap_free(m);
    many[20] = (mishap_param){ 0 };
    m = mishap_call_begin_closed(&app, &one, T("{\"something_else\":1}"), &call);
    assert_non_null(strstr(mishap_told(m)->fields->message.data, ", p18 and p19."));
    mishap_free(m);
}

/* -- mistakes of the program ------------------------------------------------------------------- */

static const char *mistaken_path;

static void ask_for_a_string(mishap_call *call)
{
    char path[64]; /* as a handler may: what is told of it must not lie on its stack */
    snprintf(path, sizeof path, "%s", mistaken_path);
    mishap_string(call, path);
}

static void count_them(mishap_call *call)
{
    mishap_count(call, mistaken_path);
}

static void ask_for_an_integer_of_a_line(mishap_call *call)
{
    mishap_integer(mishap_first(call, "lines"), mistaken_path);
}

static void a_path_that_is_not_declared_ends_the_call(void **state)
{
    (void)state;
    static const struct {
        void (*handler)(mishap_call *call);
        const char *path, *why;
    } mistakes[] = {
        { ask_for_a_string, "nome", "not declared" },
        { ask_for_a_string, "", "not declared" },
        { ask_for_a_string, "address.zipp", "not declared" },
        { ask_for_a_string, "address.zi", "not declared" },
        { ask_for_a_string, "lines[0].name", "not declared" },
        { ask_for_a_string, "lines[9].name", "not declared" },
        { ask_for_a_string, "count", "with a type other than" },
        { ask_for_a_string, "lines[0].count", "with a type other than" },
        { ask_for_a_string, "name.first", "with a type other than" },
        { ask_for_a_string, "name[0]", "with a type other than" },
        { ask_for_a_string, "address[0]", "with a type other than" },
        { ask_for_a_string, "lines.title", "with a type other than" },
        { ask_for_a_string, "address.", "a path that is not valid" },
        { ask_for_a_string, "address..zip", "a path that is not valid" },
        { ask_for_a_string, "lines[].title", "a path that is not valid" },
        { ask_for_a_string, "lines[-1].title", "a path that is not valid" },
        { ask_for_a_string, "lines[ 1].title", "a path that is not valid" },
        { ask_for_a_string, "lines[1", "a path that is not valid" },
        { ask_for_a_string, "lines[1]title", "a path that is not valid" },
        { count_them, "name", "with a type other than" },
        { ask_for_an_integer_of_a_line, "title", "with a type other than" },
        { ask_for_an_integer_of_a_line, "lines[0].count", "not declared" },
        { ask_for_an_integer_of_a_line, ".count", "a path that is not valid" },
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        mistaken_path = mistakes[i].path;
        mishap *m = outcome(whole, mistakes[i].handler);
        assert_non_null(m);
        assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_INTERNAL_ERROR);
        assert_non_null(strstr(m->masked_message.data, mistakes[i].why));
        assert_int_equal(m->noted != NULL, mistakes[i].path[0] != '\0');
        if (m->noted)
            assert_string_equal(m->noted->value.text.data, mistakes[i].path);
        mishap_free(m);
    }
}

static void walk_often(mishap_call *call)
{
    for (int i = 0; i < 1000; i++)
        walk(call);
}

static void a_walk_without_memory_ends_the_call(void **state)
{
    (void)state;
    size_t ended = 0;
    for (size_t at = 1; at < 200; at++) {
        mishap_call *call;
        asked = walk_often;
        mishap_use_allocator(&failing_allocator);
        calls = 0;
        fail_at = at;
        mishap *m = mishap_call_begin(&app, &operations[0], mishap_text_of(whole), &call);
        if (!m) {
            m = mishap_call_run(call);
            ended += m != NULL;
            mishap_call_end(call);
        }
        bool done = !m;
        mishap_free(m);
        fail_at = 0;
        mishap_use_allocator(NULL);
        if (done)
            break;
    }
    assert_true(ended > 0);
    assert_int_equal(blocks, 0);
}

/* -- what it costs ----------------------------------------------------------------------------- */

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The time that it takes to refuse all of the members. */
static double seconds_to_refuse(const mishap_param *params, mishap_text json)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_true(mishap_json_read(&reader, json));
    double began = processor_seconds();
    mishap *m = mishap_params_refuse_unknown(params, NULL, reader.root, reader.root, NULL, NULL);
    double took = processor_seconds() - began;
    assert_int_equal(mishap_told(m)->field_count, 20);
    mishap_free(m);
    mishap_json_reader_release(&reader);
    return took;
}

static void many_unknown_names_cost_no_more_where_many_are_declared(void **state)
{
    (void)state;
    enum { MANY = 300, MEMBERS = 100000 };
    static mishap_param params[MANY + 1];
    static char names[MANY][16];
    mishap_buffer json = { 0 };
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "parameter_%zu", i);
        params[i] = (mishap_param){ .name = names[i], .type = MISHAP_STRING };
    }
    mishap_json_open(&json, '{');
    for (size_t i = 0; i < MEMBERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "unknown_%zu", i);
        mishap_json_key(&json, mishap_text_of(name));
        mishap_buffer_put_char(&json, '1');
    }
    mishap_json_close(&json, '}');
    /* Each name is compared with each declared one, but each member is not. A machine that stalls
     * makes it longer, but not each time. */
    double many = 1e9, few = 0;
    for (int round = 0; round < 5 && many > 0.2 + 10 * few; round++) {
        many = seconds_to_refuse(params, mishap_buffer_text(&json));
        few = seconds_to_refuse(&params[MANY - 1], mishap_buffer_text(&json));
    }
    if (many > 0.2 + 10 * few)
        fail_msg("%f seconds for many, %f for one", many, few);
    mishap_buffer_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_path_leads_to_a_value_in_objects_and_arrays),
        TEST(all_that_is_declared_is_one_object),
        TEST(what_is_not_given_has_nothing_below_it),
        TEST(a_walk_gives_every_item_as_a_part),
        TEST(a_walk_over_an_object_tells_the_keys),
        TEST(a_part_is_asked_like_a_call),
        TEST(the_kind_of_an_integer_is_that_of_its_declaration),
        TEST(where_anything_may_stand_a_value_of_another_type_is_not_there),
        TEST(where_anything_may_stand_a_number_of_more_than_64_bits_is_no_integer),
        TEST(what_is_not_declared_never_reaches_the_handler),
        TEST(what_is_not_declared_is_refused_at_any_depth),
        TEST(a_name_inside_of_a_secret_is_not_told),
        TEST(of_many_known_names_the_first_are_told),
        TEST(a_path_that_is_not_declared_ends_the_call),
        TEST(a_walk_without_memory_ends_the_call),
        TEST(numbers_that_are_none_of_their_type_are_not_there),
        TEST(many_unknown_names_cost_no_more_where_many_are_declared),
    };
    return RUN(tests);
}
