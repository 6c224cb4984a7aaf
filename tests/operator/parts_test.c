/* src/operator: ids in texts, times, names of filters; every operation with each allocation
 * failing. */
#include "../index/made.h"

#include "operation/call.h"
#include "operator/inside.h"

/* -- ids --------------------------------------------------------------------------------------- */

#define ID    "0192f7a0-5d2b-7c3e-8f10-2b6a4c8d9e01"
#define OTHER "0192f7a0-5d2b-7c3e-8f10-2b6a4c8d9e02"

static void assert_ids(const char *text, const char *first, const char *second)
{
    const char *wanted[] = { first, second };
    char id[MISHAP_ID_LENGTH + 1];
    mishap_text rest = mishap_text_of(text);
    for (size_t i = 0; i < 2 && wanted[i]; i++) {
        assert_true(mishap_operator_next_id(&rest, id));
        assert_string_equal(id, wanted[i]);
    }
    assert_false(mishap_operator_next_id(&rest, id));
}

static void ids_are_found_in_any_text(void **state)
{
    (void)state;
    assert_ids(ID, ID, NULL);
    assert_ids("Hello,\n> it failed: (" ID "), then [" OTHER "].\n", ID, OTHER);
    assert_ids("https://example.com/console#id=" ID "&x", ID, NULL);
    assert_ids("\"incident\":\"0192F7A0-5D2B-7C3E-8F10-2B6A4C8D9E01\"", ID, NULL);
    assert_ids("0192f7a05d2b7c3e8f102b6a4c8d9e01", ID, NULL);
    assert_ids("id: 0192f7a0-5d2b-7c3e-8f1=\r\n0-2b6a4c8d9e01 and " OTHER, ID, OTHER);
    assert_ids("0192f7a0=\n-5d2b-7c3e-8f10-2b6a4c8d9e01", ID, NULL);
    assert_ids(ID "," OTHER, ID, OTHER);
    assert_ids("id=3D" ID, ID, NULL);
    assert_ids("„" ID "“", ID, NULL);
}

static void what_only_looks_like_an_id_is_none(void **state)
{
    (void)state;
    assert_ids("", NULL, NULL);
    assert_ids("x" ID, NULL, NULL);
    assert_ids(ID "0", NULL, NULL);
    assert_ids("0192f7a0-5d2b-7c3e-8f10-2b6a4c8d9e0", NULL, NULL);
    assert_ids("0192f7a0-5d2b7c3e-8f10-2b6a4c8d9e01", NULL, NULL);
    assert_ids("0192f7a05d2b-7c3e-8f10-2b6a4c8d9e01", NULL, NULL);
    assert_ids("g192f7a0-5d2b-7c3e-8f10-2b6a4c8d9e01", NULL, NULL);
    assert_ids("0192f7a0-5d2b-7c3e-8f10-2b6a4c8d9e01a " OTHER, OTHER, NULL);
}

/* -- times ------------------------------------------------------------------------------------- */

static void times_and_ages_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms; /* -1: it is none */
    } cases[] = {
        { "2026-11-18T12:00:00Z", NOON },
        { "2026-11-18T12:00:00", NOON },
        { "2026-11-18 12:00", NOON },
        { "2026-11-18T12:00:00.250Z", NOON + 250 },
        { "2026-11-18T12:00:00.250999Z", NOON + 250 },
        { "2026-11-18T14:00:00+02:00", NOON },
        { "2026-11-18T14:00:00 02:00", NOON },
        { "2026-11-18T10:30:00-01:30", NOON },
        { "2026-11-18", NOON - 12 * 3600000 },
        { "90s", NOON - 90000 },
        { "15m", NOON - 900000 },
        { "6h", NOON - 6 * 3600000 },
        { "7d", NOON - 7 * DAY_MS },
        { "0s", NOON },
        { "", -1 },
        { "s", -1 },
        { "7", -1 },
        { "7w", -1 },
        { "-7d", -1 },
        { "9999999d", -1 },
        { "2026-02-31", -1 },
        { "2026-13-01", -1 },
        { "2026-11-18T25:00:00Z", -1 },
        { "2026-11-18T12:00:00Zx", -1 },
        { "2026-11-18T", -1 },
        { "yesterday", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ms = -1;
        bool read = mishap_operator_read_time(mishap_text_of(cases[i].text), NOON, &ms);
        if (read != (cases[i].ms >= 0) || (read && ms != cases[i].ms))
            fail_msg("%s is read as %" PRId64, cases[i].text, read ? ms : -1);
    }
}

/* -- calls ------------------------------------------------------------------------------------- */

static char program_log[128];

static int enter_program(void **state)
{
    if (enter_folder(state) != 0)
        return -1;
    snprintf(program_log, sizeof program_log, "%s/sample.log", folder);
    setenv("SAMPLE_LOG", program_log, 1);
    setenv("SAMPLE_DATA", folder, 1);
    return 0;
}

static const mishap_app app = { .name = "sample", .operations = mishap_operator_operations };

static const mishap_operation *named(const char *name)
{
    for (const mishap_operation *o = mishap_operator_operations; o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    fail_msg("there is no %s", name);
    return NULL;
}

static mishap *run(const char *operation, const char *arguments, mishap_buffer *answer)
{
    mishap_call *call;
    mishap_answer_kind kind;
    mishap *failure = mishap_call_begin(&app, named(operation), mishap_text_of(arguments), &call);
    if (failure)
        return failure;
    failure = mishap_call_run(call);
    if (!failure && answer)
        mishap_buffer_put_text(answer, mishap_call_answer(call, &kind));
    mishap_call_end(call);
    return failure;
}

/* The expected name of the only finding, and the code. */
static void assert_near(const char *arguments, const char *field, const char *nearest)
{
    mishap *m = run("incidents.list", arguments, NULL);
    assert_non_null(m);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_VALIDATION_ERROR);
    const mishap_field *found = mishap_told(m)->fields;
    assert_non_null(found);
    assert_true(mishap_text_equal(found->field, mishap_text_of(field)));
    if (nearest)
        assert_true(mishap_text_equal(found->expected.text, mishap_text_of(nearest)));
    else
        assert_int_equal(found->expected.kind, MISHAP_KIND_NONE);
    mishap_free(m);
}

static void an_unknown_name_has_a_nearest_one(void **state)
{
    (void)state;
    assert_near("{\"code\":\"NOT_FUND\"}", "code", "NOT_FOUND");
    assert_near("{\"code\":\"not_found\"}", "code", "NOT_FOUND");
    assert_near("{\"category\":\"sistem\"}", "category", "system");
    assert_near("{\"operation\":\"incidents.lst\"}", "operation", "incidents.list");
    assert_near("{\"operation\":\"zzzzzzzzzzzz\"}", "operation", NULL);
    assert_near("{\"from\":\"yesterday\"}", "from",
                "2026-11-17T16:00:00Z, 2026-11-17, or an age such as 15m, 6h, 7d");
    assert_near("{\"from\":\"1h\",\"to\":\"2h\"}", "from", "a time before `to`");
    mishap_service_close_all();
}

static void the_operations_are_declared_soundly(void **state)
{
    (void)state;
    mishap *m = mishap_declaration_check(&app);
    if (m)
        fail_msg("%s", mishap_told(m)->message.data);
    for (const mishap_operation *o = mishap_operator_operations; o->name; o++)
        assert_true(o->operator_only && o->route);
}

/* -- every allocation fails -------------------------------------------------------------------- */

/* An answer, or a failure; never a crash. Without memory an index can also be empty. */
static void call_once(const void *input)
{
    const char *const *words = input;
    mishap_free(run(words[0], words[1], NULL));
    mishap_service_close_all();
}

static void each_operation_survives_without_memory(void **state)
{
    (void)state;
    char ids[3][MISHAP_ID_LENGTH + 1], show[200];
    int64_t now = mishap_clock_now_ms();
    for (int i = 0; i < 3; i++)
        mishap_id_make_at(ids[i], now - 5000 + i);
    append_whole((made){ .id = ids[0], .operation = "incidents.list" });
    append_compact((made){ .operation = "incidents.list" }, ids + 1, 2, ids[0]);
    mishap_use_allocator(&failing_allocator);
    const char *const cases[][2] = {
        { "incidents.list", "{\"code\":\"NOT_FOUND\",\"from\":\"1h\"}" },
        { "incidents.list", "{\"code\":\"NOT_FUND\"}" },
        { "incidents.show", show },
        { "incidents.groups", "{\"state\":[\"new\"]}" },
        { "incidents.group", "{\"group\":\"00000000000000aa\"}" },
        { "incidents.resolve", "{\"group\":\"00000000000000aa\"}" },
        { "incidents.resolve", "{\"group\":\"00000000000000aa\",\"undo\":true}" },
        { "incidents.stats", "{}" },
        { "incidents.export", "{\"format\":\"csv\"}" },
        { "incidents.export", "{}" },
    };
    snprintf(show, sizeof show, "{\"id\":\"see %s\"}", ids[1]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call_once(cases[i]); /* the first makes the index */
        torture(call_once, cases[i]);
    }
    mishap_use_allocator(NULL);
}

#define IN_PROGRAM(name) cmocka_unit_test_setup_teardown(name, enter_program, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_found_in_any_text),
        cmocka_unit_test(what_only_looks_like_an_id_is_none),
        cmocka_unit_test(times_and_ages_are_read),
        cmocka_unit_test(the_operations_are_declared_soundly),
        IN_PROGRAM(an_unknown_name_has_a_nearest_one),
        IN_PROGRAM(each_operation_survives_without_memory),
    };
    int failed = RUN(tests);
    mishap_json_reader_release(&reader);
    return failed;
}
