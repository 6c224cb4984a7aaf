/* src/index: groups, their states and limits; counts over time; the tail; memory that fails. */
#include "made.h"

static char id[MISHAP_ID_LENGTH + 1];

static void fail_at_ms(int64_t ms, const char *group, const char *operation)
{
    mishap_id_make_at(id, ms);
    append_whole((made){ .id = id, .group = group, .operation = operation });
}

static const char *state_of(mishap_index *index, const char *group)
{
    static char word[16];
    mishap_buffer b = { 0 };
    assert_null(mishap_index_group(index, mishap_text_of(group), &b));
    snprintf(word, sizeof word, "%s", yyjson_get_str(yyjson_obj_get(read_json(&b), "state")));
    mishap_buffer_release(&b);
    return word;
}

static void a_resolved_group_that_fails_again_has_regressed(void **state)
{
    (void)state;
    static const char group[] = "00000000000000aa";
    fail_at_ms(NOON - 2 * DAY_MS, group, NULL);
    mishap_index *index = caught_up();
    assert_string_equal(state_of(index, group), "known"); /* first seen two days ago */
    assert_null(mishap_index_group_set(index, T("00000000000000aa"), MISHAP_GROUP_RESOLVED));
    assert_string_equal(state_of(index, group), "resolved");
    /* What began before the decision does not count. */
    fail_at_ms(NOON - 1000, group, NULL);
    assert_null(mishap_index_catch_up(index, 1000));
    assert_string_equal(state_of(index, group), "resolved");
    fail_at_ms(NOON + 1000, group, NULL);
    assert_null(mishap_index_catch_up(index, 1000));
    assert_string_equal(state_of(index, group), "regressed");
    assert_int_equal(report_of(index).fresh, 1);
    assert_int_equal(report_of(index).regressed, 1);
    mishap_buffer b = { 0 };
    assert_null(mishap_index_group(index, T("00000000000000aa"), &b));
    yyjson_val *root = read_json(&b);
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(root, "history")), 2);
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(root, "days")), 2);
    assert_int_equal(yyjson_get_int(yyjson_obj_get(root, "count")), 3);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(root, "place")), "todo.c:12");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(root, "like")), id);
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

static void a_muted_group_stays_muted(void **state)
{
    (void)state;
    fail_at_ms(NOON - 1000, "00000000000000aa", NULL);
    mishap_index *index = caught_up();
    assert_string_equal(state_of(index, "00000000000000aa"), "new");
    assert_null(mishap_index_group_set(index, T("00000000000000aa"), MISHAP_GROUP_MUTED));
    fail_at_ms(NOON + 1000, "00000000000000aa", NULL);
    assert_null(mishap_index_catch_up(index, 1000));
    assert_string_equal(state_of(index, "00000000000000aa"), "muted");
    /* Decisions survive the deletion of all files of days. */
    mishap_index_close(index);
    index = open_index((mishap_index_plan){ .days = 2, .now_ms = NOON + 10 * DAY_MS });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(count_rows(index, (mishap_index_filter){ 0 }), 0);
    assert_string_equal(state_of(index, "00000000000000aa"), "muted");
    expect_code(mishap_index_group_set(index, T("00000000000000ab"), MISHAP_GROUP_MUTED),
                MISHAP_CODE_NOT_FOUND);
    expect_code(mishap_index_group_set(index, T("x"), MISHAP_GROUP_MUTED),
                MISHAP_CODE_VALIDATION_ERROR);
    mishap_index_close(index);
}

static size_t count_muted(mishap_index *index)
{
    mishap_buffer b = { 0 };
    const mishap_index_groups_filter muted = { .states = 1U << MISHAP_GROUP_MUTED };
    assert_null(mishap_index_groups(index, &muted, &b));
    size_t count = yyjson_arr_size(yyjson_obj_get(read_json(&b), "groups"));
    mishap_buffer_release(&b);
    return count;
}

static void a_list_shows_what_another_process_has_decided_just_now(void **state)
{
    (void)state;
    fail_at_ms(NOON - 1000, "00000000000000aa", NULL);
    fail_at_ms(NOON - 1000, "00000000000000ab", NULL);
    mishap_index *index = caught_up();
    mishap_index *other = open_index((mishap_index_plan){ .days = 30, .now_ms = NOON });
    assert_null(mishap_index_group_set(other, T("00000000000000aa"), MISHAP_GROUP_MUTED));
    assert_int_equal(count_muted(index), 1);
    assert_null(mishap_index_group_set(other, T("00000000000000ab"), MISHAP_GROUP_MUTED));
    assert_int_equal(count_muted(index), 2);
    mishap_index_close(other);
    mishap_index_close(index);
}

static void undo_gives_the_state_from_before(void **state)
{
    (void)state;
    static const char group[] = "00000000000000aa";
    fail_at_ms(NOON - 2 * DAY_MS, group, NULL);
    mishap_index *index = caught_up();
    assert_null(mishap_index_group_undo(index, T("00000000000000aa"), MISHAP_GROUP_MUTED));
    assert_string_equal(state_of(index, group), "known"); /* nothing was decided */
    assert_null(mishap_index_group_set(index, T("00000000000000aa"), MISHAP_GROUP_MUTED));
    assert_null(mishap_index_group_set(index, T("00000000000000aa"), MISHAP_GROUP_MUTED));
    mishap_index_close(index);
    index = open_index((mishap_index_plan){ .days = 30, .now_ms = NOON + 1000 });
    assert_null(mishap_index_group_set(index, T("00000000000000aa"), MISHAP_GROUP_RESOLVED));
    fail_at_ms(NOON + 2000, group, NULL);
    assert_null(mishap_index_catch_up(index, 1000));
    assert_string_equal(state_of(index, group), "regressed");
    assert_null(mishap_index_group_undo(index, T("00000000000000aa"), MISHAP_GROUP_MUTED));
    assert_string_equal(state_of(index, group), "regressed"); /* that is not the last decision */
    assert_null(mishap_index_group_undo(index, T("00000000000000aa"), MISHAP_GROUP_RESOLVED));
    assert_string_equal(state_of(index, group), "muted");
    fail_at_ms(NOON + 3000, group, NULL); /* the writer knows of it */
    assert_null(mishap_index_catch_up(index, 1000));
    assert_string_equal(state_of(index, group), "muted");
    assert_null(mishap_index_group_undo(index, T("00000000000000aa"), MISHAP_GROUP_MUTED));
    assert_string_equal(state_of(index, group), "known");
    mishap_index_close(index);
    /* What a failure has changed is a state from before, too. */
    index = open_index((mishap_index_plan){ .days = 30, .now_ms = NOON + 4000 });
    assert_null(mishap_index_group_set(index, T("00000000000000aa"), MISHAP_GROUP_RESOLVED));
    fail_at_ms(NOON + 5000, group, NULL);
    assert_null(mishap_index_catch_up(index, 1000));
    mishap_index_close(index);
    index = open_index((mishap_index_plan){ .days = 30, .now_ms = NOON + 6000 });
    assert_null(mishap_index_group_set(index, T("00000000000000aa"), MISHAP_GROUP_MUTED));
    assert_null(mishap_index_group_undo(index, T("00000000000000aa"), MISHAP_GROUP_MUTED));
    assert_string_equal(state_of(index, group), "regressed");
    expect_code(mishap_index_group_undo(index, T("00000000000000ab"), MISHAP_GROUP_MUTED),
                MISHAP_CODE_NOT_FOUND);
    expect_code(mishap_index_group_undo(index, T("x"), MISHAP_GROUP_MUTED),
                MISHAP_CODE_VALIDATION_ERROR);
    mishap_index_close(index);
}

static void groups_are_paged_and_filtered(void **state)
{
    (void)state;
    for (int i = 0; i < 25; i++) {
        char group[17];
        snprintf(group, sizeof group, "%016x", i + 1);
        fail_at_ms(NOON - 3600000 * (i % 30), group, i % 2 ? "todos.add" : "todos.show");
    }
    mishap_index *index = caught_up();
    assert_null(mishap_index_group_set(index, T("0000000000000003"), MISHAP_GROUP_MUTED));
    size_t seen = 0;
    char cursor[64] = "";
    do {
        mishap_buffer b = { 0 };
        size_t i, count;
        yyjson_val *group;
        mishap_index_groups_filter filter = { .limit = 10, .cursor = mishap_text_of(cursor) };
        assert_null(mishap_index_groups(index, &filter, &b));
        yyjson_val *root = read_json(&b);
        MISHAP_JSON_ITEMS (yyjson_obj_get(root, "groups"), i, count, group) {
            yyjson_val *trend = yyjson_obj_get(group, "trend");
            assert_int_equal(yyjson_arr_size(trend), 24);
            if (seen < 24) /* the n-th failed n hours ago */
                assert_int_equal(yyjson_get_int(yyjson_arr_get(trend, 23 - seen)), 1);
            assert_int_equal(yyjson_get_int(yyjson_obj_get(group, "count")), 1);
            seen++;
        }
        const char *next = yyjson_get_str(yyjson_obj_get(root, "next"));
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
        mishap_buffer_release(&b);
    } while (cursor[0]);
    assert_int_equal(seen, 25);
    const struct {
        mishap_index_groups_filter filter;
        size_t count;
    } cases[] = {
        { { .states = 1 << MISHAP_GROUP_MUTED }, 1 },
        { { .states = 1 << MISHAP_GROUP_NEW }, 24 },
        { { .states = 1 << MISHAP_GROUP_RESOLVED }, 0 },
        { { .operation = T("todos.add") }, 12 },
        { { .code = T("NOT_FOUND"), .category = T("resource") }, 25 },
        { { .code = T("TIMEOUT") }, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_buffer b = { 0 };
        assert_null(mishap_index_groups(index, &cases[i].filter, &b));
        assert_int_equal(yyjson_arr_size(yyjson_obj_get(read_json(&b), "groups")), cases[i].count);
        mishap_buffer_release(&b);
    }
    mishap_buffer b = { 0 };
    expect_code(mishap_index_groups(index, &(mishap_index_groups_filter){ .cursor = T("12") }, &b),
                MISHAP_CODE_VALIDATION_ERROR);
    mishap_index_close(index);
}

static size_t count_groups(mishap_index *index)
{
    size_t count = 0;
    char cursor[64] = "";
    do {
        mishap_buffer b = { 0 };
        assert_null(mishap_index_groups(
            index, &(mishap_index_groups_filter){ .limit = 1000, .cursor = mishap_text_of(cursor) },
            &b));
        yyjson_val *root = read_json(&b);
        count += yyjson_arr_size(yyjson_obj_get(root, "groups"));
        snprintf(cursor, sizeof cursor, "%s",
                 or_else(yyjson_get_str(yyjson_obj_get(root, "next")), ""));
        mishap_buffer_release(&b);
    } while (cursor[0]);
    return count;
}

/* Two operations; `id` is that of the last failure. */
static void append_groups(int first, int count, const char *category)
{
    char path[160];
    snprintf(path, sizeof path, "%s/sample.log", folder);
    FILE *file = fopen(path, "a");
    for (int i = first; i < first + count; i++) {
        mishap_id_make_at(id, NOON - 100000 + i);
        fprintf(file,
                "{\"v\":1,\"kind\":\"whole\",\"id\":\"%s\",\"operation\":\"op.%d\",\"code\":"
                "\"TIMEOUT\",\"category\":\"%s\",\"message\":\"m\",\"group\":\"%016x\"}\n",
                id, i % 2, category, i + 1);
    }
    fclose(file);
}

static void groups_of_validation_take_half_of_the_places(void **state)
{
    (void)state;
    enum { HALF = MISHAP_INDEX_GROUPS / 2 };
    append_groups(0, HALF + 300, "validation");
    mishap_index *index = caught_up();
    assert_int_equal(count_groups(index), HALF + 2);
    mishap_index_close(index);
    append_groups(HALF + 300, 100, "validation"); /* the number is known after a start, too */
    append_groups(HALF + 400, 100, "system");
    index = caught_up();
    assert_int_equal(count_groups(index), HALF + 2 + 100);
    mishap_buffer b = { 0 };
    mishap_index_found found;
    assert_null(mishap_index_find(index, mishap_text_of(id), &found, &b));
    mishap_buffer_reset(&b);
    assert_null(mishap_index_group(index, mishap_text_of(found.group), &b));
    assert_int_equal(yyjson_get_int(yyjson_obj_get(read_json(&b), "count")), 1);
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

static void further_groups_are_one_for_each_operation(void **state)
{
    (void)state;
    append_groups(0, MISHAP_INDEX_GROUPS + 40, "execution");
    mishap_index *index = caught_up();
    assert_int_equal(count_groups(index), MISHAP_INDEX_GROUPS + 2);
    mishap_buffer b = { 0 };
    mishap_index_found found;
    assert_null(mishap_index_find(index, mishap_text_of(id), &found, &b));
    mishap_buffer_reset(&b);
    assert_null(mishap_index_group(index, mishap_text_of(found.group), &b));
    yyjson_val *root = read_json(&b);
    assert_int_equal(yyjson_get_int(yyjson_obj_get(root, "count")), 20);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(root, "operation")), "op.1");
    assert_null(yyjson_obj_get(root, "code"));
    /* They still have their code. */
    assert_int_equal(
        count_rows(index, (mishap_index_filter){ .limit = 1000,
                                                 .code = T("TIMEOUT"),
                                                 .group = mishap_text_of(found.group) }),
        20);
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

static yyjson_val *stats(mishap_index *index, mishap_index_span span, mishap_buffer *b)
{
    mishap_buffer_reset(b);
    assert_null(mishap_index_stats(index, &span, b));
    return read_json(b);
}

static int64_t sum_of(yyjson_val *root)
{
    int64_t sum = 0;
    size_t i, j, n, m;
    yyjson_val *series, *count;
    MISHAP_JSON_ITEMS (yyjson_obj_get(root, "series"), i, n, series)
        MISHAP_JSON_ITEMS (yyjson_obj_get(series, "counts"), j, m, count)
            sum += yyjson_get_int(count);
    return sum;
}

static void counts_by_minute_hour_and_day(void **state)
{
    (void)state;
    char ids[30][MISHAP_ID_LENGTH + 1];
    for (int i = 0; i < 30; i++)
        mishap_id_make_at(ids[i], NOON - 29 * 60000 + i * 60000);
    append_compact((made){ .caller = "carol" }, ids, 30, NULL);
    mishap_id_make_at(ids[0], NOON - 3 * DAY_MS);
    append_whole((made){ .id = ids[0], .code = "TIMEOUT", .category = "execution" });
    mishap_index *index = caught_up();
    mishap_buffer b = { 0 };
    yyjson_val *root = stats(index, (mishap_index_span){ .from_ms = NOON - 3600000 }, &b);
    assert_int_equal(yyjson_get_int(yyjson_obj_get(root, "step_s")), 60);
    assert_int_equal(yyjson_get_int(yyjson_obj_get(root, "total")), 30);
    assert_int_equal(sum_of(root), 30);
    yyjson_val *counts = yyjson_obj_get(yyjson_arr_get(yyjson_obj_get(root, "series"), 0),
                                        "counts");
    assert_int_equal(yyjson_arr_size(counts), 61);
    assert_int_equal(yyjson_get_int(yyjson_arr_get(counts, 30)), 0);
    assert_int_equal(yyjson_get_int(yyjson_arr_get(counts, 31)), 1);
    root = stats(index, (mishap_index_span){ 0 }, &b);
    assert_int_equal(yyjson_get_int(yyjson_obj_get(root, "step_s")), 3600);
    assert_int_equal(yyjson_get_int(yyjson_obj_get(root, "total")), 30);
    yyjson_val *callers = yyjson_obj_get(root, "callers");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(yyjson_arr_get(callers, 0), "caller")),
                        "carol");
    root = stats(index, (mishap_index_span){ .from_ms = NOON - 30 * DAY_MS, .step_s = 86400 }, &b);
    assert_int_equal(yyjson_get_int(yyjson_obj_get(root, "total")), 31);
    assert_int_equal(sum_of(root), 31);
    assert_int_equal(yyjson_arr_size(yyjson_obj_get(root, "codes")), 2);
    root = stats(index, (mishap_index_span){ .from_ms = NOON - 30 * DAY_MS, .code = T("TIMEOUT") },
                 &b);
    assert_int_equal(yyjson_get_int(yyjson_obj_get(root, "total")), 1);
    const mishap_index_span wrong[] = { { .from_ms = NOON, .to_ms = NOON },
                                        { .from_ms = NOON, .to_ms = NOON - 1 },
                                        { .step_s = 7 },
                                        { .from_ms = NOON - 30 * DAY_MS, .step_s = 60 } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_code(mishap_index_stats(index, &wrong[i], &b), MISHAP_CODE_VALIDATION_ERROR);
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

static void the_tail_has_what_comes_after_it_was_opened(void **state)
{
    (void)state;
    char ids[5][MISHAP_ID_LENGTH + 1];
    mishap_index_tail *tail;
    mishap_buffer b = { 0 };
    fail_at_ms(NOON, NULL, NULL);
    assert_null(mishap_index_tail_open(
        journal, &(mishap_index_filter){ .code = T("NOT_FOUND"), .caller = T("alice") }, &tail));
    assert_false(mishap_index_tail_next(tail, &b));
    for (int i = 0; i < 5; i++)
        mishap_id_make_at(ids[i], NOON - i);
    append_whole((made){ .id = ids[0] });
    append_whole((made){ .id = ids[1], .caller = "bob" });
    append_compact((made){ 0 }, ids + 2, 3, NULL);
    for (int i = 0; i < 4; i++) {
        mishap_buffer_reset(&b);
        assert_true(mishap_index_tail_next(tail, &b));
        assert_string_equal(yyjson_get_str(yyjson_obj_get(read_json(&b), "id")),
                            i ? ids[5 - i] : ids[0]);
    }
    assert_false(mishap_index_tail_next(tail, &b));
    mishap_index_tail_close(tail);
    expect_code(mishap_index_tail_open(journal, &(mishap_index_filter){ .group = T("g") }, &tail),
                MISHAP_CODE_VALIDATION_ERROR);
    mishap_buffer_release(&b);
}

/* Everything that the index does, or OUT_OF_MEMORY; never a part of it. */
static void ask_everything(const void *input)
{
    (void)input;
    mishap_index *index = NULL;
    mishap_buffer b = { 0 };
    mishap_index_found found;
    mishap_index_plan plan = {
        .data = folder, .journal = journal, .days = 30, .now_ms = NOON, .store = store_address()
    };
    mishap *m = mishap_index_open(&plan, &index);
    if (!m)
        m = mishap_index_catch_up(index, 1000);
    if (!m)
        m = mishap_index_list(index, &(mishap_index_filter){ .code = T("NOT_FOUND") }, &b);
    if (!m)
        m = mishap_index_find(index, mishap_text_of(id), &found, &b);
    if (!m)
        m = mishap_index_near(index, &found, mishap_text_of(id), 10, &b);
    if (!m)
        m = mishap_index_groups(index, &(mishap_index_groups_filter){ 0 }, &b);
    if (!m)
        m = mishap_index_stats(index, &(mishap_index_span){ 0 }, &b);
    mishap_free(m);
    mishap_index_close(index);
    mishap_buffer_release(&b);
}

static void memory_that_fails_loses_nothing(void **state)
{
    (void)state;
    char ids[3][MISHAP_ID_LENGTH + 1];
    for (int i = 0; i < 3; i++)
        mishap_id_make_at(ids[i], NOON - 10 + i);
    fail_at_ms(NOON - 1000, NULL, NULL);
    append_compact((made){ 0 }, ids, 3, id);
    mishap_use_allocator(&failing_allocator);
    torture(ask_everything, NULL);
    mishap_use_allocator(NULL);
    mishap_index *index = caught_up();
    assert_int_equal(count_rows(index, (mishap_index_filter){ 0 }), 4);
    mishap_index_close(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_resolved_group_that_fails_again_has_regressed),
        IN_FOLDER(a_muted_group_stays_muted),
        IN_FOLDER(a_list_shows_what_another_process_has_decided_just_now),
        IN_FOLDER(undo_gives_the_state_from_before),
        IN_FOLDER(groups_are_paged_and_filtered),
        IN_FOLDER(further_groups_are_one_for_each_operation),
        IN_FOLDER(groups_of_validation_take_half_of_the_places),
        IN_FOLDER(counts_by_minute_hour_and_day),
        IN_FOLDER(the_tail_has_what_comes_after_it_was_opened),
        IN_FOLDER(memory_that_fails_loses_nothing),
    };
    if (lacks_store())
        return 0;
    int failed = RUN(tests);
    mishap_json_reader_release(&reader);
    return failed;
}
