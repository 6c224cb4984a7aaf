/* src/archive: what only an index in PostgreSQL has. tests/index has what both engines do. */
#include "made.h"

enum { IDS = 60 };
static char ids[IDS][MISHAP_ID_LENGTH + 1];

static void make_ids(int64_t first_ms, int64_t step_ms)
{
    for (int i = 0; i < IDS; i++)
        mishap_id_make_at(ids[i], first_ms + i * step_ms);
}

static size_t count_all(mishap_index *index)
{
    return count_rows(index, (mishap_index_filter){ .limit = 1000 });
}

static int64_t count_total(mishap_index *index)
{
    mishap_buffer b = { 0 };
    assert_null(mishap_index_stats(index, &(mishap_index_span){ 0 }, &b));
    int64_t total = yyjson_get_sint(yyjson_obj_get(read_json(&b), "total"));
    mishap_buffer_release(&b);
    return total;
}

/* -- both engines ------------------------------------------------------------------------------ */

/* Text without `"server":"…",`, which only one of the two has. */
static char *without_server(mishap_buffer *b)
{
    static const char member[] = "\"server\":\"";
    mishap_buffer_put_char(b, '\0');
    for (char *at; (at = strstr(b->data, member));) {
        char *end = strchr(at + sizeof member - 1, '"') + 2;
        memmove(at, end, strlen(end) + 1);
    }
    return b->data;
}

static void expect_same(mishap *first, mishap_buffer *a, mishap *second, mishap_buffer *b)
{
    assert_null(first);
    assert_null(second);
    assert_string_equal(without_server(b), without_server(a));
    mishap_buffer_reset(a);
    mishap_buffer_reset(b);
}

/* Failures of three days, four kinds and three callers. */
static void append_many(void)
{
    static const char *const codes[] = { "NOT_FOUND", "TIMEOUT", "INTERNAL_ERROR", "CONFLICT" };
    static const char *const categories[] = { "resource", "execution", "system", "resource" };
    static const char *const callers[] = { "alice", "bob", "\\\"{NULL}\\\\, O'Hara" };
    static const char *const groups[] = { "00000000000000aa", "f0000000000000bb",
                                          "00000000000000cc", "00000000000000dd" };
    make_ids(NOON - 2 * DAY_MS, 2 * DAY_MS / IDS);
    for (int i = 0; i < IDS; i++) {
        int kind = i % 7 % 4;
        made m = { .id = ids[i],
                   .code = codes[kind],
                   .category = categories[kind],
                   .caller = callers[i % 3],
                   .group = groups[kind],
                   .boundary = i % 5 ? "http" : "mcp",
                   .trace = i % 4 ? "0123456789abcdef0123456789abcdef" : NULL,
                   .message = i % 2 ? "The todo \\\"lost\\\" {9} is \\\\gone." : "Ünder the way" };
        if (i % 3)
            append_whole(m);
        else
            append_compact(m, &ids[i], 1, i > 3 ? ids[i - 1] : NULL);
    }
}

static void the_answers_are_those_of_the_files(void **state)
{
    (void)state;
    append_many();
    mishap_index *files = NULL, *archive = caught_up();
    mishap_index_plan plan = { .data = folder, .journal = journal, .days = 30, .now_ms = NOON };
    mishap_buffer a = { 0 }, b = { 0 };
    mishap_index_found first, second;
    assert_null(mishap_index_open(&plan, &files));
    assert_null(mishap_index_catch_up(files, 1000));
    const mishap_index_filter filters[] = {
        { .limit = 100 },
        { .limit = 100, .records = true, .code = T("TIMEOUT") },
        { .limit = 100, .code = T("NOT_FOUND") },
        { .limit = 100, .category = T("resource"), .caller = T("bob") },
        { .limit = 100, .caller = T("\"{NULL}\\, O'Hara") },
        { .limit = 100, .group = T("f0000000000000bb") },
        { .limit = 100, .trace = T("0123456789abcdef0123456789abcdef"), .code = T("CONFLICT") },
        { .limit = 100, .text = T("LOST gone") },
        { .limit = 100, .text = T("los*"), .caller = T("alice") },
        { .limit = 100, .text = T("way"), .code = T("TIMEOUT") },
        { .limit = 100, .from_ms = NOON - DAY_MS - 1000, .to_ms = NOON - DAY_MS / 3 },
    };
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        expect_same(mishap_index_list(files, &filters[i], &a), &a,
                    mishap_index_list(archive, &filters[i], &b), &b);
    for (int i = 0; i < IDS; i += 7) {
        mishap_text id = mishap_text_of(ids[i]);
        expect_same(mishap_index_find(files, id, &first, &a), &a,
                    mishap_index_find(archive, id, &second, &b), &b);
        assert_true(second.server[0]);
        memset(second.server, 0, sizeof second.server);
        assert_memory_equal(&first, &second, sizeof first);
        expect_same(mishap_index_near(files, &first, id, 20, &a), &a,
                    mishap_index_near(archive, &first, id, 20, &b), &b);
        expect_same(mishap_index_same_trace(files, &first, id, &a), &a,
                    mishap_index_same_trace(archive, &first, id, &b), &b);
    }
    const mishap_index_groups_filter groups[] = {
        { 0 }, { .limit = 2 }, { .code = T("TIMEOUT") }, { .states = 1U << MISHAP_GROUP_NEW }
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        expect_same(mishap_index_groups(files, &groups[i], &a), &a,
                    mishap_index_groups(archive, &groups[i], &b), &b);
    expect_same(mishap_index_group(files, T("f0000000000000bb"), &a), &a,
                mishap_index_group(archive, T("f0000000000000bb"), &b), &b);
    const mishap_index_span spans[] = { { 0 },
                                        { .from_ms = NOON - 3 * DAY_MS },
                                        { .from_ms = NOON - DAY_MS / 2, .step_s = 60 },
                                        { .from_ms = NOON - DAY_MS, .code = T("TIMEOUT") } };
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        expect_same(mishap_index_stats(files, &spans[i], &a), &a,
                    mishap_index_stats(archive, &spans[i], &b), &b);
    mishap_buffer_release(&a);
    mishap_buffer_release(&b);
    mishap_index_close(files);
    mishap_index_close(archive);
}

/* NUL cannot be in a text of PostgreSQL; the record has it as it was written. */
static void a_nul_in_a_message_is_replaced(void **state)
{
    (void)state;
    make_ids(NOON - 5000, 10);
    append_whole((made){ .id = ids[0], .message = "an \\u0000 end", .caller = "a\\u0000b" });
    mishap_index *index = caught_up();
    mishap_buffer b = { 0 };
    yyjson_val *rows = yyjson_obj_get(list(index, (mishap_index_filter){ 0 }, &b), "incidents");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(yyjson_arr_get(rows, 0), "message")),
                        "an \xef\xbf\xbd end");
    mishap_buffer_reset(&b);
    mishap_index_found found;
    assert_null(mishap_index_find(index, mishap_text_of(ids[0]), &found, &b));
    mishap_buffer_put_char(&b, '\0');
    assert_non_null(strstr(b.data, "an \\u0000 end"));
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

/* -- several servers --------------------------------------------------------------------------- */

/* Another server: a data folder and a journal of its own, below that of the test. */
static mishap_index *other_server(const char *name, char path[160])
{
    char data[128];
    mishap_index *index;
    snprintf(data, sizeof data, "%s/%s", folder, name);
    mkdir(data, 0700);
    snprintf(path, 160, "%s/other.log", data);
    mishap_index_plan plan = {
        .data = data, .journal = path, .days = 30, .now_ms = NOON, .store = store_address()
    };
    assert_null(mishap_index_open(&plan, &index));
    return index;
}

static void move_journal(const char *path)
{
    assert_int_equal(rename(journal, path), 0);
}

static void two_servers_find_what_the_other_has_written(void **state)
{
    (void)state;
    char path[160];
    make_ids(NOON - 5000, 10);
    append_whole((made){ .id = ids[0] });
    mishap_index *second = other_server("second", path);
    move_journal(path);
    append_whole((made){ .id = ids[1] });
    append_compact((made){ 0 }, ids + 2, 5, ids[1]);
    mishap_index *first = caught_up();
    assert_null(mishap_index_catch_up(second, 1000));
    mishap_index *both[] = { first, second };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(count_all(both[i]), 7);
        assert_int_equal(count_total(both[i]), 7);
        assert_true(mishap_index_has(both[i], mishap_text_of(ids[0])));
        assert_true(mishap_index_has(both[i], mishap_text_of(ids[6])));
    }
    assert_null(mishap_index_group_set(first, T("00000000000000aa"), MISHAP_GROUP_MUTED));
    mishap_buffer b = { 0 };
    assert_null(mishap_index_group(second, T("00000000000000aa"), &b));
    yyjson_val *group = read_json(&b);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(group, "state")), "muted");
    assert_int_equal(yyjson_get_int(yyjson_obj_get(group, "count")), 7);
    mishap_buffer_release(&b);
    mishap_index_close(first);
    mishap_index_close(second);
}

/* mishap-index and a command have the same journal. */
static void two_processes_with_one_journal_store_each_line_once(void **state)
{
    (void)state;
    make_ids(NOON - 5000, 10);
    mishap_index *first = open_index((mishap_index_plan){ .days = 30 });
    mishap_index *second = open_index((mishap_index_plan){ .days = -1 });
    for (int i = 0; i < 20; i++) {
        append_whole((made){ .id = ids[i] });
        assert_null(mishap_index_catch_up(i % 3 ? first : second, 1000));
    }
    append_whole((made){ .id = ids[20] });
    assert_null(mishap_index_catch_up(first, 1000));
    assert_null(mishap_index_catch_up(second, 1000));
    assert_int_equal(report_of(first).records + report_of(second).records, 21);
    assert_int_equal(count_total(first), 21);
    mishap_index_close(first);
    mishap_index_close(second);
}

/* A lock that its holder does not give back delays others, and does not stop them. */
static void a_lock_that_stays_does_not_stop_others(void **state)
{
    (void)state;
    make_ids(NOON - 5000, 10);
    append_whole((made){ .id = ids[0] });
    mishap_index *index = caught_up();
    const char *keywords[] = { "dbname", NULL }, *values[] = { store_address(), NULL };
    pq_connection *holder = connected(keywords, values);
    assert_true(mishap_libpq.PQsendQuery(
        holder, "SELECT pg_advisory_lock(hashtext('mishap'), hashtext('incidents batch'))"));
    for (pq_result *held; (held = mishap_libpq.PQgetResult(holder)) != NULL;)
        mishap_libpq.PQclear(held);
    append_whole((made){ .id = ids[1] });
    assert_null(mishap_index_catch_up(index, 50));
    assert_int_equal(count_all(index), 2);
    mishap_libpq.PQfinish(holder);
    mishap_index_close(index);
}

/* -- trouble ----------------------------------------------------------------------------------- */

static void a_line_that_the_database_refuses_holds_up_no_other(void **state)
{
    (void)state;
    make_ids(NOON - 5000, 10);
    append_whole((made){ .id = ids[0] });
    mishap_index *index = caught_up();
    in_database("ALTER TABLE incidents ADD CHECK (message <> 'poison')");
    for (int i = 1; i < 6; i++)
        append_whole((made){ .id = ids[i], .message = i == 3 ? "poison" : "sound" });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(count_all(index), 5);
    assert_int_equal(report_of(index).bad_lines, 1);
    assert_false(mishap_index_has(index, mishap_text_of(ids[3])));
    append_whole((made){ .id = ids[6] });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(count_all(index), 6);
    mishap_index_close(index);
}

/* The connection is lost at each commit, so it is not known whether the batch was stored. */
static void a_lost_commit_stores_nothing_twice(void **state)
{
    (void)state;
    make_ids(NOON - 5000, 10);
    append_whole((made){ .id = ids[0] });
    mishap_index *index = caught_up();
    in_database("CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS"
                " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';"
                "CREATE CONSTRAINT TRIGGER dies AFTER UPDATE ON servers DEFERRABLE INITIALLY"
                " DEFERRED FOR EACH ROW EXECUTE FUNCTION die()");
    append_whole((made){ .id = ids[1] });
    append_compact((made){ 0 }, ids + 2, 5, ids[1]);
    mishap *failure = mishap_index_catch_up(index, 1000);
    assert_non_null(failure);
    mishap_free(failure);
    assert_int_equal(report_of(index).state, MISHAP_READER_RETRIES);
    in_database("DROP TRIGGER dies ON servers");
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(report_of(index).state, MISHAP_READER_FOLLOWS);
    assert_int_equal(count_all(index), 7);
    assert_int_equal(count_total(index), 7);
    mishap_index_close(index);
}

static void a_newer_version_is_left_alone(void **state)
{
    (void)state;
    make_ids(NOON - 5000, 10);
    append_whole((made){ .id = ids[0] });
    mishap_index_close(caught_up());
    in_database("UPDATE store SET version = 99");
    mishap_index *index = open_index((mishap_index_plan){ .days = 30 });
    append_whole((made){ .id = ids[1] });
    expect_code(mishap_index_catch_up(index, 1000), MISHAP_CODE_NOT_CONFIGURED);
    assert_int_equal(report_of(index).state, MISHAP_READER_REFUSES);
    in_database("UPDATE store SET version = 1");
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(count_all(index), 2);
    mishap_index_close(index);
}

static void what_is_no_address_is_refused_and_not_repeated(void **state)
{
    (void)state;
    static const char *const wrong[] = { "sqlite:/tmp/marker", "marker", "",
                                         "mysql://u:marker@h/d" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mishap_index *index;
        mishap_buffer b = { 0 };
        mishap *m = mishap_index_open(
            &(mishap_index_plan){ .data = folder, .days = 30, .store = wrong[i] }, &index);
        assert_true(mishap_is(m, NOT_CONFIGURED));
        mishap_account(m, &b);
        mishap_buffer_put_char(&b, '\0');
        assert_null(strstr(b.data, "marker"));
        mishap_buffer_release(&b);
        mishap_free(m);
    }
    mishap_index_use(NULL);
    mishap_index *index;
    mishap_index_plan plan = { .data = folder, .days = 30, .store = store_address() };
    expect_code(mishap_index_open(&plan, &index), MISHAP_CODE_NOT_CONFIGURED);
}

/* -- retention --------------------------------------------------------------------------------- */

static void days_that_are_too_old_are_dropped(void **state)
{
    (void)state;
    make_ids(NOON - 5 * DAY_MS, 5 * DAY_MS / (IDS - 1) - 1);
    for (int i = 0; i < IDS; i++)
        append_whole((made){ .id = ids[i] });
    mishap_index *index = caught_up();
    assert_int_equal(count_all(index), IDS);
    mishap_index_close(index);
    index = open_index((mishap_index_plan){ .days = 2 });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_in_range(count_all(index), IDS / 5, IDS / 2);
    mishap_buffer b = { 0 };
    mishap_index_found found;
    mishap *m = mishap_index_find(index, mishap_text_of(ids[0]), &found, &b);
    assert_true(mishap_is(m, NOT_FOUND));
    assert_non_null(strstr(mishap_told(m)->message.data, "2026-11-17"));
    mishap_free(m);
    assert_true(mishap_index_has(index, mishap_text_of(ids[IDS - 1])));
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

static void a_day_that_is_large_loses_its_oldest_part(void **state)
{
    (void)state;
    mishap_index *index = open_index((mishap_index_plan){ .days = 30, .max_bytes = 2 << 20 });
    char first[MISHAP_ID_LENGTH + 1] = "", last[MISHAP_ID_LENGTH + 1] = "";
    for (int batch = 0; batch < 6; batch++) {
        mishap_buffer line = { 0 };
        for (int i = 0; i < 500; i++) {
            mishap_id_make_at(last, NOON - 100000 + batch * 1000 + i);
            if (!first[0])
                memcpy(first, last, sizeof first);
            MISHAP_PUT(&line,
                       "{\"v\":1,\"kind\":\"whole\",\"group\":\"00000000000000aa\",\"id\":\"");
            mishap_buffer_put(&line, last, MISHAP_ID_LENGTH);
            MISHAP_PUT(&line, "\",\"message\":\"m\",\"x\":\"");
            for (int j = 0; j < 100; j++) /* PostgreSQL compresses what is long */
                mishap_buffer_put(&line, last, 8);
            MISHAP_PUT(&line, "\"}\n");
        }
        mishap_buffer_put_char(&line, '\0');
        append(line.data);
        mishap_buffer_release(&line);
        assert_null(mishap_index_catch_up(index, 1000));
    }
    mishap_index_close(index);
    index = open_index((mishap_index_plan){ .days = 30, .max_bytes = 2 << 20 });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_false(mishap_index_has(index, mishap_text_of(first)));
    assert_true(mishap_index_has(index, mishap_text_of(last)));
    /* The journal once more, as of another server: what is in an earlier part is known. */
    char path[160];
    size_t count = 0;
    mishap_index *second = other_server("again", path);
    for (int64_t before = -1; (int64_t)count != before; before = (int64_t)count)
        count = (size_t)count_total(index);
    mishap_index_close(index);
    make_ids(NOON - 1000, 1);
    append_whole((made){ .id = last, .message = "m2" });
    move_journal(path);
    assert_null(mishap_index_catch_up(second, 1000));
    assert_true(mishap_index_has(second, mishap_text_of(last)));
    mishap_index_close(second);
}

static void an_id_in_an_earlier_part_of_its_day_is_known(void **state)
{
    (void)state;
    char path[160];
    make_ids(NOON - 5000, 10);
    append_whole((made){ .id = ids[0] });
    append_compact((made){ 0 }, ids + 1, 5, NULL);
    mishap_index *index = caught_up();
    in_database("SELECT part_of_day(p / 1000000, 1) FROM parts"); /* as if it were large */
    mishap_index *second = other_server("again", path);
    append_whole((made){ .id = ids[6] });
    move_journal(path);
    assert_null(mishap_index_catch_up(second, 1000));
    assert_int_equal(count_all(index), 7);
    assert_int_equal(count_total(index), 7);
    assert_int_equal(report_of(second).records, 1);
    mishap_index_close(index);
    mishap_index_close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_answers_are_those_of_the_files),
        IN_FOLDER(a_nul_in_a_message_is_replaced),
        IN_FOLDER(two_servers_find_what_the_other_has_written),
        IN_FOLDER(two_processes_with_one_journal_store_each_line_once),
        IN_FOLDER(a_lock_that_stays_does_not_stop_others),
        IN_FOLDER(a_line_that_the_database_refuses_holds_up_no_other),
        IN_FOLDER(a_lost_commit_stores_nothing_twice),
        IN_FOLDER(a_newer_version_is_left_alone),
        IN_FOLDER(what_is_no_address_is_refused_and_not_repeated),
        IN_FOLDER(days_that_are_too_old_are_dropped),
        IN_FOLDER(a_day_that_is_large_loses_its_oldest_part),
        IN_FOLDER(an_id_in_an_earlier_part_of_its_day_is_known),
    };
    if (lacks_store())
        return 0;
    int failed = RUN(tests);
    mishap_json_reader_release(&reader);
    return failed;
}
