/* src/index: what the journal has is found again. */
#include "made.h"

enum { IDS = 40 };
static char ids[IDS][MISHAP_ID_LENGTH + 1];

/* Ids of which each is a little later than the one before. */
static void make_ids(int64_t first_ms, int64_t step_ms)
{
    for (int i = 0; i < IDS; i++)
        mishap_id_make_at(ids[i], first_ms + i * step_ms);
}

static const char *text_of(yyjson_val *object, const char *name)
{
    return or_else(yyjson_get_str(yyjson_obj_get(object, name)), "(none)");
}

static void a_whole_record_is_found_by_its_id(void **state)
{
    (void)state;
    make_ids(NOON - 1000, 1);
    append_whole((made){ .id = ids[0] });
    mishap_index *index = caught_up();
    mishap_buffer b = { 0 };
    mishap_index_found found;
    assert_null(mishap_index_find(index, mishap_text_of(ids[0]), &found, &b));
    assert_true(found.whole);
    assert_int_equal(found.time_ms, NOON - 1000);
    assert_string_equal(found.caller, "alice");
    assert_string_equal(found.group, "00000000000000aa");
    assert_string_equal(text_of(read_json(&b), "message"), "There is no todo 9.");
    /* Other spellings of the id. */
    char other[40];
    size_t n = 0;
    for (const char *c = ids[0]; *c; c++)
        if (*c != '-')
            other[n++] = (char)(*c >= 'a' ? *c - 32 : *c);
    assert_true(mishap_index_has(index, (mishap_text){ other, n }));
    assert_false(mishap_index_has(index, mishap_text_of(ids[1])));
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

static void each_id_of_a_compact_line_is_found(void **state)
{
    (void)state;
    make_ids(NOON - 5000, 100); /* over four seconds: more than one row */
    append_whole((made){ .id = ids[0] });
    append_compact((made){ 0 }, ids + 1, IDS - 1, ids[0]);
    mishap_index *index = caught_up();
    for (int i = 1; i < IDS; i++) {
        mishap_buffer b = { 0 };
        mishap_index_found found;
        assert_null(mishap_index_find(index, mishap_text_of(ids[i]), &found, &b));
        assert_false(found.whole);
        assert_string_equal(found.like, ids[0]);
        yyjson_val *row = read_json(&b);
        assert_string_equal(text_of(row, "id"), ids[i]);
        assert_string_equal(text_of(row, "code"), "NOT_FOUND");
        assert_int_equal(yyjson_get_int(yyjson_obj_get(row, "duration_us")), 99 + i);
        mishap_buffer_release(&b);
    }
    assert_int_equal(count_rows(index, (mishap_index_filter){ .limit = 1000 }), IDS);
    mishap_index_close(index);
}

static void a_line_that_is_read_twice_is_counted_once(void **state)
{
    (void)state;
    make_ids(NOON - 5000, 10);
    append_whole((made){ .id = ids[0] });
    append_compact((made){ 0 }, ids + 1, 10, NULL);
    append_compact((made){ 0 }, ids + 6, 10, NULL); /* five of them again, in another line */
    append_whole((made){ .id = ids[0] });
    mishap_index *index = caught_up();
    assert_int_equal(count_rows(index, (mishap_index_filter){ .limit = 1000 }), 16);
    mishap_buffer b = { 0 };
    assert_null(mishap_index_stats(index, &(mishap_index_span){ 0 }, &b));
    assert_int_equal(yyjson_get_int(yyjson_obj_get(read_json(&b), "total")), 16);
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

static void pages_go_on_where_the_one_before_ended(void **state)
{
    (void)state;
    int seen = 0;
    /* Across midnight, whole and compact ones between each other. */
    make_ids(NOON - DAY_MS / 2 - 20, 1);
    for (int i = 0; i < IDS; i += 2)
        append_whole((made){ .id = ids[i] });
    char odd[IDS / 2][MISHAP_ID_LENGTH + 1];
    for (int i = 0; i < IDS / 2; i++)
        memcpy(odd[i], ids[2 * i + 1], sizeof odd[i]);
    append_compact((made){ 0 }, odd, IDS / 2, NULL);
    mishap_index *index = caught_up();
    char cursor[64] = "";
    for (int page = 0; page < 20; page++) {
        mishap_buffer b = { 0 };
        yyjson_val *root = list(
            index, (mishap_index_filter){ .limit = 7, .cursor = mishap_text_of(cursor) }, &b);
        size_t i, count;
        yyjson_val *row;
        MISHAP_JSON_ITEMS (yyjson_obj_get(root, "incidents"), i, count, row)
            assert_string_equal(text_of(row, "id"), ids[IDS - 1 - seen++]);
        const char *next = yyjson_get_str(yyjson_obj_get(root, "next"));
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
        mishap_buffer_release(&b);
        if (!cursor[0])
            break;
    }
    assert_int_equal(seen, IDS);
    mishap_index_close(index);
}

static void each_filter_finds_its_rows_alone(void **state)
{
    (void)state;
    static const char trace[] = "0123456789abcdef0123456789abcdef";
    make_ids(NOON - 60000, 1000);
    append_whole((made){ .id = ids[0] });
    append_whole((made){ .id = ids[1],
                         .code = "TIMEOUT",
                         .category = "execution",
                         .group = "00000000000000bb",
                         .operation = "todos.add",
                         .caller = "bob",
                         .message = "It took too long.",
                         .trace = trace });
    append_whole((made){ .id = ids[2],
                         .code = "TIMEOUT",
                         .category = "execution",
                         .group = "00000000000000cc",
                         .operation = "users.add",
                         .caller = "bob",
                         .message = "Überlast \\\"heute\\\"." });
    append_compact((made){ .code = "VALIDATION_ERROR",
                           .category = "validation",
                           .caller = "carol",
                           .boundary = "mcp",
                           .status = 422,
                           .group = "00000000000000dd" },
                   ids + 3, 5, NULL);
    mishap_index *index = caught_up();
    const struct {
        mishap_index_filter filter;
        size_t count;
    } cases[] = {
        { { 0 }, 8 },
        { { .code = T("TIMEOUT") }, 2 },
        { { .code = T("NOPE") }, 0 },
        { { .category = T("validation") }, 5 },
        { { .operation = T("todos.add") }, 1 },
        { { .caller = T("bob") }, 2 },
        { { .caller = T("carol") }, 5 },
        { { .caller = T("nobody-here") }, 0 },
        { { .caller = T("bob"), .operation = T("users.add") }, 1 },
        { { .caller = T("carol"), .code = T("TIMEOUT") }, 0 },
        { { .group = T("00000000000000dd") }, 5 },
        { { .group = T("00000000000000ee") }, 0 },
        { { .trace = T("0123456789abcdef0123456789abcdef") }, 1 },
        { { .boundary = T("mcp") }, 5 },
        { { .boundary = T("mcp"), .caller = T("bob") }, 0 },
        { { .service = T("todo") }, 8 },
        { { .service = T("tod") }, 0 },
        { { .status = 422 }, 5 },
        { { .status = 404 }, 3 },
        { { .status = 404, .caller = T("bob") }, 2 },
        { { .status = 404, .text = T("long") }, 1 },
        { { .status = 422, .text = T("long") }, 0 },
        { { .not_operation = T("todos.") }, 1 },
        { { .not_operation = T("todos.add") }, 7 },
        { { .not_operation = T("users.add.more") }, 8 },
        { { .not_operation = T("todos."), .caller = T("bob") }, 1 },
        { { .not_operation = T("todos."), .code = T("TIMEOUT") }, 1 },
        { { .not_operation = T("todos."), .code = T("NOT_FOUND") }, 0 },
        { { .text = T("long") }, 1 },
        { { .text = T("TOOK long") }, 1 },
        { { .text = T("überlast") }, 1 },
        { { .text = T("\"heute\" OR (") }, 0 },
        { { .text = T("heut*") }, 1 },
        { { .text = T("todo"), .caller = T("alice") }, 1 },
        { { .text = T("todo"), .caller = T("bob") }, 0 },
        { { .text = T("long"), .code = T("TIMEOUT") }, 1 },
        { { .from_ms = NOON - 58000 }, 6 },
        { { .to_ms = NOON - 58000 }, 2 },
        { { .from_ms = NOON - 58000, .to_ms = NOON - 57000 }, 1 },
        { { .from_ms = NOON - 56000, .code = T("VALIDATION_ERROR") }, 4 },
        { { .to_ms = NOON - 56000, .code = T("VALIDATION_ERROR") }, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count = count_rows(index, cases[i].filter);
        if (count != cases[i].count)
            fail_msg("case %zu: %zu rows instead of %zu", i, count, cases[i].count);
    }
    const mishap_index_filter wrong[] = { { .group = T("xyz") },   { .trace = T("0123") },
                                          { .text = T("!?") },     { .cursor = T("nonsense") },
                                          { .cursor = T("-1-5") }, { .cursor = T("5") } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mishap_buffer b = { 0 };
        expect_code(mishap_index_list(index, &wrong[i], &b), MISHAP_CODE_VALIDATION_ERROR);
        mishap_buffer_release(&b);
    }
    mishap_index_close(index);
}

/* A search that finds little stops now and then, so that no call takes long. */
static void a_search_that_finds_nothing_goes_on_with_the_next_page(void **state)
{
    (void)state;
    enum { COUNT = 10100 };
    char id[MISHAP_ID_LENGTH + 1], cursor[64] = "";
    size_t pages = 0, rows = 0;
    mishap_buffer b = { 0 };
    for (int i = 0; i < COUNT; i++) {
        mishap_id_make_at(id, NOON - COUNT + i);
        append_whole((made){ .id = id, .status = i ? 404 : 500 });
    }
    mishap_index *index = caught_up();
    do {
        yyjson_val *root = list(
            index, (mishap_index_filter){ .status = 500, .cursor = mishap_text_of(cursor) }, &b);
        rows += yyjson_arr_size(yyjson_obj_get(root, "incidents"));
        const char *next = yyjson_get_str(yyjson_obj_get(root, "next"));
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
        pages++;
    } while (cursor[0]);
    assert_int_equal(rows, 1); /* the oldest of all */
    assert_int_equal(pages, store_address() ? 1 : 2); /* a database searches a day at once */
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

static void an_unknown_id_is_older_or_unknown(void **state)
{
    (void)state;
    make_ids(NOON, 1);
    append_whole((made){ .id = ids[0] });
    mishap_index *index = caught_up();
    mishap_buffer b = { 0 };
    mishap_index_found found;
    char old[MISHAP_ID_LENGTH + 1];
    mishap_id_make_at(old, NOON - 40 * DAY_MS);
    mishap *m = mishap_index_find(index, mishap_text_of(old), &found, &b);
    assert_true(mishap_is(m, NOT_FOUND));
    assert_non_null(strstr(mishap_told(m)->message.data, "older than what is kept"));
    mishap_free(m);
    m = mishap_index_find(index, mishap_text_of(ids[1]), &found, &b);
    assert_true(mishap_is(m, NOT_FOUND));
    assert_null(strstr(mishap_told(m)->message.data, "older"));
    mishap_free(m);
    const char *wrong[] = { "",
                            "x",
                            "0191d3c8-7b1a-4c3e-8f21-3a5b6c7d8e9f",
                            "0191d3c8-7b1a-7c3e-8f21-3a5b6c7d8e9",
                            "0191d3c87b1a-7c3e-8f21-3a5b6c7d8e9ff",
                            "ffffffff-ffff-7fff-8fff-ffffffffffff" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_code(mishap_index_find(index, mishap_text_of(wrong[i]), &found, &b),
                    MISHAP_CODE_VALIDATION_ERROR);
    assert_int_equal(b.length, 0);
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

static void what_is_beside_an_incident_is_listed_without_it(void **state)
{
    (void)state;
    static const char trace[] = "0123456789abcdef0123456789abcdef";
    make_ids(NOON - 20000, 1000);
    for (int i = 0; i < 10; i++)
        append_whole((made){ .id = ids[i], .trace = i % 2 ? trace : NULL });
    append_whole((made){ .id = ids[10], .caller = "bob" });
    mishap_index *index = caught_up();
    mishap_buffer b = { 0 };
    mishap_index_found found;
    assert_null(mishap_index_find(index, mishap_text_of(ids[5]), &found, &b));
    mishap_buffer_reset(&b);
    assert_null(mishap_index_same_trace(index, &found, mishap_text_of(ids[5]), &b));
    assert_int_equal(yyjson_arr_size(read_json(&b)), 4);
    mishap_buffer_reset(&b);
    assert_null(mishap_index_near(index, &found, mishap_text_of(ids[5]), 20, &b));
    assert_int_equal(yyjson_arr_size(read_json(&b)), 9);
    mishap_buffer_reset(&b);
    assert_null(mishap_index_near(index, &found, mishap_text_of(ids[5]), 2, &b));
    assert_in_range(yyjson_arr_size(read_json(&b)), 2, 4);
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

#define OF_50  "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx"
#define OF_201 OF_50 OF_50 OF_50 OF_50 "y"

/* Their ids are of a day that is kept. */
static void torn_and_foreign_lines_are_skipped(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{}",
        "{\"v\":1}",
        "{\"v\":2,\"kind\":\"whole\"}",
        "{\"v\":1,\"kind\":\"whole\"}",
        "{\"v\":1,\"kind\":\"whole\",\"id\":\"x\"}",
        "{\"v\":1,\"kind\":\"whole\",\"id\":7}",
        "{\"v\":1,\"kind\":\"compact\",\"count\":1,\"ids\":\"AAAA\"}",
        "{\"v\":1,\"kind\":\"compact\",\"count\":2,\"ids\":\"AAAAAAAAAAAAAAAAAAAAAA==\"}",
        "{\"v\":1,\"kind\":\"compact\",\"count\":0,\"ids\":\"\"}",
        "{\"v\":1,\"kind\":\"compact\",\"count\":1,\"ids\":\"AaHuhzIATD6PITpbbH2Onw==\"}",
        "{\"v\":1,\"kind\":\"compact\",\"count\":2,\"ids\":\"AaHuhzIAfD6PITpbbH2Onw==\"}",
        "{\"v\":1,\"kind\":\"whole\",\"operation\":\"" OF_201 "\",\"id\":\"01a1ee87-3200-7c3e-8f21-"
        "3a5b6c7d8e9f\"}",
        "{\"v\":1,\"kind\":\"whole\",\"group\":\"zz\",\"id\":\"01a1ee87-3200-7c3e-8f21-"
        "3a5b6c7d8e9f\"}",
        "{\"v\":1,\"kind\":\"whole\",\"trace\":{\"id\":\"zz\"},\"id\":\"01a1ee87-3200-7c3e-8f21-"
        "3a5b6c7d8e9f\"}",
        "{\"v\":1,\"kind\":\"line\",\"text\":\"said\"}",
        "{\"v\":1,\"kind\":\"later\"}",
        "[1]",
        "{\"v\":1,\"kind\":\"who",
    };
    make_ids(NOON, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        append_whole((made){ .id = ids[i] });
        append(bad[i]);
        append("\n");
    }
    append_whole((made){ .id = ids[IDS - 1] });
    append("{\"v\":1,\"kind\":\"whole\",\"id\":\""); /* is being written */
    mishap_index *index = caught_up();
    assert_int_equal(count_rows(index, (mishap_index_filter){ .limit = 100 }),
                     sizeof bad / sizeof *bad + 1);
    mishap_index_close(index);
}

static void two_records_with_one_id_are_both_kept(void **state)
{
    (void)state;
    make_ids(NOON, 1);
    append_whole((made){ .id = ids[0], .message = "The first." });
    append_whole((made){ .id = ids[0], .message = "The second." });
    append_whole((made){ .id = ids[0], .message = "The second." });
    mishap_index *index = caught_up();
    assert_int_equal(count_rows(index, (mishap_index_filter){ 0 }), 2);
    mishap_index_close(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_whole_record_is_found_by_its_id),
        IN_FOLDER(each_id_of_a_compact_line_is_found),
        IN_FOLDER(a_line_that_is_read_twice_is_counted_once),
        IN_FOLDER(pages_go_on_where_the_one_before_ended),
        IN_FOLDER(each_filter_finds_its_rows_alone),
        IN_FOLDER(a_search_that_finds_nothing_goes_on_with_the_next_page),
        IN_FOLDER(an_unknown_id_is_older_or_unknown),
        IN_FOLDER(what_is_beside_an_incident_is_listed_without_it),
        IN_FOLDER(torn_and_foreign_lines_are_skipped),
        IN_FOLDER(two_records_with_one_id_are_both_kept),
    };
    if (lacks_store())
        return 0;
    int failed = RUN(tests);
    mishap_json_reader_release(&reader);
    return failed;
}
