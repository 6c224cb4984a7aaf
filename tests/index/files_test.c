/* src/index: files that are deleted, damaged, newer, locked or full; processes that are killed. */
#include "made.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "index/inside.h"

static void file_path(const char *name, char path[160])
{
    snprintf(path, 160, "%s/incidents/%s", folder, name);
}

static bool file_exists(const char *name)
{
    char path[160];
    file_path(name, path);
    return access(path, F_OK) == 0;
}

static uint64_t size_of_all(void)
{
    char path[512];
    uint64_t bytes = 0;
    struct stat status;
    struct dirent *entry;
    snprintf(path, sizeof path, "%s/incidents", folder);
    DIR *entries = opendir(path);
    while (entries && (entry = readdir(entries))) {
        snprintf(path, sizeof path, "%s/incidents/%s", folder, entry->d_name);
        if (entry->d_name[0] == '2' && stat(path, &status) == 0)
            bytes += (uint64_t)status.st_size;
    }
    closedir(entries);
    return bytes;
}

static void write_at(const char *name, off_t offset, const char *bytes, size_t length)
{
    char path[160];
    file_path(name, path);
    int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, bytes, length, offset), length);
    close(file);
}

/* -- retention --------------------------------------------------------------------------------- */

static void days_that_are_too_old_are_deleted(void **state)
{
    (void)state;
    char id[8][MISHAP_ID_LENGTH + 1];
    for (int i = 0; i < 8; i++) {
        mishap_id_make_at(id[i], NOON - i * DAY_MS);
        append_whole((made){ .id = id[i] });
    }
    mishap_index *index = open_index((mishap_index_plan){ .days = 0 });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(count_rows(index, (mishap_index_filter){ 0 }), 8);
    mishap_index_close(index);
    index = open_index((mishap_index_plan){ .days = 3 });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(count_rows(index, (mishap_index_filter){ 0 }), 3);
    assert_true(file_exists("2026-11-18.sqlite"));
    assert_true(file_exists("2026-11-16.sqlite"));
    assert_false(file_exists("2026-11-15.sqlite"));
    assert_true(mishap_index_has(index, mishap_text_of(id[2])));
    mishap_buffer b = { 0 };
    mishap_index_found found;
    mishap *m = mishap_index_find(index, mishap_text_of(id[3]), &found, &b);
    assert_non_null(strstr(mishap_told(m)->message.data, "begins on 2026-11-16"));
    mishap_free(m);
    /* What comes late for a day that is not kept is not kept either. */
    mishap_id_make_at(id[0], NOON - 5 * DAY_MS);
    append_whole((made){ .id = id[0] });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_false(file_exists("2026-11-13.sqlite"));
    mishap_index_close(index);
    /* A command keeps what the last server has kept. */
    index = open_index((mishap_index_plan){ .days = -1, .now_ms = NOON + DAY_MS });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(count_rows(index, (mishap_index_filter){ 0 }), 2);
    mishap_index_close(index);
}

static void a_day_above_the_limit_loses_its_oldest_part(void **state)
{
    (void)state;
    enum { LIMIT = 4 << 20, ROUNDS = 24, EACH = 500 };
    char first[MISHAP_ID_LENGTH + 1], last[MISHAP_ID_LENGTH + 1] = "", other[MISHAP_ID_LENGTH + 1];
    char message[600];
    memset(message, 'm', sizeof message - 1);
    message[sizeof message - 1] = '\0';
    mishap_id_make_at(other, NOON - 2 * DAY_MS);
    append_whole((made){ .id = other });
    mishap_index *index = open_index((mishap_index_plan){ .days = 30, .max_bytes = LIMIT });
    for (int round = 0; round < ROUNDS; round++) {
        unlink(journal);
        for (int i = 0; i < EACH; i++) {
            mishap_id_make_at(last, NOON + round * EACH + i);
            if (!round && !i)
                memcpy(first, last, sizeof first);
            append_whole((made){ .id = last, .message = message });
        }
        index->retained_ms = 0; /* as if some seconds had passed */
        assert_null(mishap_index_catch_up(index, 1000));
        assert_true(mishap_index_has(index, mishap_text_of(last)));
    }
    assert_false(mishap_index_has(index, mishap_text_of(first)));
    assert_false(mishap_index_has(index, mishap_text_of(other)));
    assert_false(file_exists("2026-11-16.sqlite"));
    assert_false(file_exists("2026-11-18.sqlite"));
    size_t kept = 0;
    char cursor[64] = "";
    do {
        mishap_buffer b = { 0 };
        yyjson_val *root = list(
            index, (mishap_index_filter){ .limit = 1000, .cursor = mishap_text_of(cursor) }, &b);
        kept += yyjson_arr_size(yyjson_obj_get(root, "incidents"));
        const char *next = yyjson_get_str(yyjson_obj_get(root, "next"));
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
        mishap_buffer_release(&b);
    } while (cursor[0]);
    assert_in_range(kept, 500, ROUNDS * EACH - EACH);
    mishap_index_close(index);
    assert_in_range(size_of_all(), 1 << 20, LIMIT + LIMIT / 2);
}

static void a_clock_that_was_wrong_does_not_push_today_out(void **state)
{
    (void)state;
    char future[MISHAP_ID_LENGTH + 1], today[MISHAP_ID_LENGTH + 1], past[MISHAP_ID_LENGTH + 1];
    mishap_id_make_at(future, NOON + 400 * DAY_MS);
    mishap_id_make_at(today, NOON);
    mishap_id_make_at(past, NOON - 10000);
    append_whole((made){ .id = future });
    append_whole((made){ .id = today });
    append_whole((made){ .id = past }); /* the clock goes back */
    mishap_index *index = caught_up();
    assert_true(mishap_index_has(index, mishap_text_of(future)));
    assert_true(mishap_index_has(index, mishap_text_of(today)));
    assert_true(mishap_index_has(index, mishap_text_of(past)));
    mishap_index_close(index);
    index = open_index((mishap_index_plan){ .days = 30, .max_bytes = 150000 });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_false(mishap_index_has(index, mishap_text_of(future)));
    assert_true(mishap_index_has(index, mishap_text_of(today)));
    mishap_index_close(index);
}

/* -- damage ------------------------------------------------------------------------------------ */

static void write_some(char id[20][MISHAP_ID_LENGTH + 1], int64_t ms)
{
    for (int i = 0; i < 20; i++) {
        mishap_id_make_at(id[i], ms + i);
        append_whole((made){ .id = id[i] });
    }
}

static void expect_all(mishap_index *index, char id[20][MISHAP_ID_LENGTH + 1])
{
    for (int i = 0; i < 20; i++)
        assert_true(mishap_index_has(index, mishap_text_of(id[i])));
}

static void a_damaged_day_is_moved_aside_and_made_again(void **state)
{
    (void)state;
    char one[20][MISHAP_ID_LENGTH + 1], two[20][MISHAP_ID_LENGTH + 1];
    write_some(one, NOON - DAY_MS);
    write_some(two, NOON);
    mishap_index_close(caught_up());
    char garbage[4096];
    memset(garbage, 'x', sizeof garbage);
    /* The head of the file: noticed when it is opened, by a query. */
    write_at("2026-11-17.sqlite", 0, garbage, 100);
    mishap_index *index = caught_up();
    assert_int_equal(count_rows(index, (mishap_index_filter){ .limit = 100 }), 20);
    assert_null(mishap_index_catch_up(index, 1000));
    expect_all(index, one);
    expect_all(index, two);
    assert_int_equal(count_rows(index, (mishap_index_filter){ .limit = 100 }), 40);
    assert_true(file_exists("2026-11-17.sqlite.damaged"));
    mishap_index_close(index);
    /* Pages behind the head: noticed by the process that writes. */
    for (off_t at = 4096; at < 30 * 4096; at += 4096)
        write_at("2026-11-18.sqlite", at, garbage, sizeof garbage);
    append_whole((made){ .id = one[0] });
    append_whole((made){ .id = two[0] });
    index = caught_up();
    assert_true(file_exists("2026-11-18.sqlite.damaged"));
    expect_all(index, one);
    expect_all(index, two);
    assert_int_equal(count_rows(index, (mishap_index_filter){ .limit = 100 }), 40);
    mishap_index_close(index);
}

static void a_file_without_its_tables_is_damaged(void **state)
{
    (void)state;
    char one[20][MISHAP_ID_LENGTH + 1], path[160];
    write_some(one, NOON);
    mishap_index_close(caught_up());
    sqlite3 *other;
    file_path("2026-11-18.sqlite", path);
    assert_int_equal(mishap_index_sqlite.open_v2(path, &other, SQLITE_OPEN_READWRITE, NULL), 0);
    assert_int_equal(
        mishap_index_sqlite.exec(other, "DROP TABLE whole; DROP TABLE kinds", NULL, NULL, NULL), 0);
    mishap_index_sqlite.close_v2(other);
    mishap_index *index = caught_up();
    mishap_buffer b = { 0 };
    assert_null(mishap_index_list(index, &(mishap_index_filter){ 0 }, &b));
    mishap_buffer_release(&b);
    assert_true(file_exists("2026-11-18.sqlite.damaged"));
    expect_all(index, one);
    assert_int_equal(count_rows(index, (mishap_index_filter){ .limit = 100 }), 20);
    mishap_index_close(index);
}

static void a_file_that_another_process_has_replaced_is_opened_again(void **state)
{
    (void)state;
    char one[20][MISHAP_ID_LENGTH + 1], two[20][MISHAP_ID_LENGTH + 1], path[160];
    write_some(one, NOON);
    mishap_index *first = caught_up(), *second = caught_up();
    expect_all(first, one);
    mishap_buffer b = { 0 };
    assert_null(mishap_index_group(first, T("00000000000000aa"), &b));
    const char *const names[] = { "2026-11-18.sqlite", "groups.sqlite" };
    for (size_t i = 0; i < 2; i++) {
        index_db damaged = { 0 };
        file_path(names[i], path);
        snprintf(damaged.path, sizeof damaged.path, "%s", path);
        mishap_index_repair(second, &damaged);
    }
    assert_null(mishap_index_catch_up(second, 1000));
    write_some(two, NOON + 1000);
    assert_null(mishap_index_catch_up(first, 1000));
    expect_all(second, one);
    expect_all(second, two);
    expect_all(first, two);
    assert_int_equal(count_rows(first, (mishap_index_filter){ .limit = 100 }), 40);
    mishap_buffer_reset(&b);
    assert_null(mishap_index_group(first, T("00000000000000aa"), &b));
    assert_int_equal(yyjson_get_int(yyjson_obj_get(read_json(&b), "count")), 40);
    mishap_buffer_release(&b);
    mishap_index_close(first);
    mishap_index_close(second);
}

static void damaged_groups_are_made_again(void **state)
{
    (void)state;
    char one[20][MISHAP_ID_LENGTH + 1];
    write_some(one, NOON);
    mishap_index_close(caught_up());
    write_at("groups.sqlite", 0, "this is no database at all", 26);
    unlink(journal); /* only the file of the day knows it */
    append_whole((made){ .id = one[0] });
    mishap_index *index = caught_up();
    mishap_buffer b = { 0 };
    assert_true(file_exists("groups.sqlite.damaged"));
    assert_null(mishap_index_group(index, T("00000000000000aa"), &b));
    assert_int_equal(yyjson_get_int(yyjson_obj_get(read_json(&b), "count")), 20);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(reader.root, "state")), "known");
    assert_string_equal(yyjson_get_str(yyjson_obj_get(reader.root, "code")), "NOT_FOUND");
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

static void an_index_of_a_newer_version_is_left_alone(void **state)
{
    (void)state;
    char one[20][MISHAP_ID_LENGTH + 1];
    char path[160];
    write_some(one, NOON - DAY_MS);
    mishap_index_close(caught_up());
    write_at("2026-11-17.sqlite", 60, "\0\0\0\x63", 4); /* user_version */
    file_path("2026-11-17.sqlite", path);
    size_t length, after;
    char *before = read_file(path, &length);
    append_whole((made){ .id = one[0] });
    mishap_index *index = open_index((mishap_index_plan){ .days = 30 });
    mishap *m = mishap_index_catch_up(index, 1000);
    assert_true(mishap_is(m, NOT_CONFIGURED));
    assert_int_equal(index->trouble, INDEX_NEWER);
    mishap_free(m);
    assert_int_equal(count_rows(index, (mishap_index_filter){ 0 }), 0);
    mishap_index_close(index);
    char *now = read_file(path, &after);
    assert_int_equal(length, after);
    assert_memory_equal(before, now, length);
    free(before);
    free(now);
    /* When it is gone, the journal is read from where it was left. */
    unlink(path);
    index = caught_up();
    assert_true(mishap_index_has(index, mishap_text_of(one[0])));
    mishap_index_close(index);
}

/* -- no room, no lock -------------------------------------------------------------------------- */

static void a_locked_file_delays_and_loses_nothing(void **state)
{
    (void)state;
    char one[20][MISHAP_ID_LENGTH + 1], two[20][MISHAP_ID_LENGTH + 1], path[160];
    write_some(one, NOON);
    mishap_index *index = caught_up();
    sqlite3 *other;
    file_path("2026-11-18.sqlite", path);
    assert_int_equal(mishap_index_sqlite.open_v2(path, &other, SQLITE_OPEN_READWRITE, NULL), 0);
    assert_int_equal(mishap_index_sqlite.exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), 0);
    write_some(two, NOON + 1000);
    expect_code(mishap_index_catch_up(index, 1000), MISHAP_CODE_UNAVAILABLE);
    assert_int_equal(index->trouble, INDEX_BUSY);
    expect_all(index, one);
    assert_int_equal(mishap_index_sqlite.exec(other, "ROLLBACK", NULL, NULL, NULL), 0);
    mishap_index_sqlite.close_v2(other);
    assert_null(mishap_index_catch_up(index, 1000));
    expect_all(index, two);
    assert_int_equal(count_rows(index, (mishap_index_filter){ .limit = 100 }), 40);
    mishap_index_close(index);
}

static void a_full_disk_delays_and_loses_nothing(void **state)
{
    (void)state;
    char one[20][MISHAP_ID_LENGTH + 1];
    struct rlimit before, little;
    mishap_index *index = caught_up();
    getrlimit(RLIMIT_FSIZE, &before);
    little = before;
    for (int i = 0; i < 10; i++) {
        write_some(one, NOON + 100 * i);
        little.rlim_cur = (rlim_t)(8192 << i);
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &little);
        mishap *m = mishap_index_catch_up(index, 1000);
        setrlimit(RLIMIT_FSIZE, &before);
        if (m)
            expect_code(m, MISHAP_CODE_UNAVAILABLE);
        else
            assert_true(i > 0);
    }
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(count_rows(index, (mishap_index_filter){ .limit = 1000 }), 200);
    mishap_index_close(index);
}

static void a_folder_that_was_removed_is_made_again(void **state)
{
    (void)state;
    char one[20][MISHAP_ID_LENGTH + 1], path[160];
    write_some(one, NOON);
    mishap_index *index = caught_up();
    file_path("", path);
    assert_int_equal(remove_tree(path), 0);
    assert_null(mishap_index_catch_up(index, 1000));
    expect_all(index, one);
    mishap_index_close(index);
}

static void processes_take_turns(void **state)
{
    (void)state;
    char one[20][MISHAP_ID_LENGTH + 1];
    mishap_index *first = caught_up(), *second = caught_up();
    for (int i = 0; i < 6; i++) {
        write_some(one, NOON + 100 * i);
        assert_null(mishap_index_catch_up(i % 2 ? first : second, 1000));
        expect_all(i % 3 ? first : second, one);
    }
    assert_int_equal(count_rows(first, (mishap_index_filter){ .limit = 1000 }), 120);
    assert_true(mishap_index_lock(first, 0));
    write_some(one, NOON + 1000);
    expect_code(mishap_index_catch_up(second, 20), MISHAP_CODE_UNAVAILABLE);
    mishap_index_unlock(first);
    assert_null(mishap_index_catch_up(second, 20));
    expect_all(first, one);
    mishap_index_close(first);
    mishap_index_close(second);
}

/* -- killed ------------------------------------------------------------------------------------ */

/* Lines of some days and several groups, whole and compact. The result is how many incidents. */
static size_t write_much(size_t rounds)
{
    static const char *const groups[] = { "00000000000000a1", "00000000000000a2",
                                          "00000000000000a3" };
    size_t total = 0;
    for (size_t i = 0; i < rounds; i++) {
        char id[12][MISHAP_ID_LENGTH + 1];
        for (size_t j = 0; j < 12; j++)
            mishap_id_make_at(id[j], NOON - (int64_t)(i % 3) * DAY_MS + (int64_t)(i * 12 + j));
        append_whole((made){ .id = id[0], .group = groups[i % 3] });
        append_compact((made){ .group = groups[i % 3], .caller = i % 2 ? "bob" : NULL }, id + 1, 11,
                       id[0]);
        total += 12;
    }
    return total;
}

static void kill_9_at_any_moment_loses_and_doubles_nothing(void **state)
{
    (void)state;
    enum { KILLS = SANITIZED ? 15 : 60 };
    size_t total = 0;
    unsigned wait = 1;
    for (int i = 0; i < KILLS; i++) {
        total += write_much(40);
        pid_t pid = fork();
        if (pid == 0) {
            mishap_index *index = open_index((mishap_index_plan){ .days = 30 });
            mishap_free(mishap_index_catch_up(index, 60000));
            for (;;)
                pause();
        }
        wait = wait * 1103515245 + 12345;
        usleep(wait / 65536 % (SANITIZED ? 120000 : 30000));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    mishap_index *index = caught_up();
    mishap_buffer b = { 0 };
    assert_null(mishap_index_stats(
        index, &(mishap_index_span){ .from_ms = NOON - 5 * DAY_MS, .to_ms = NOON + DAY_MS }, &b));
    assert_int_equal(yyjson_get_int(yyjson_obj_get(read_json(&b), "total")), total);
    mishap_buffer_release(&b);
    size_t rows = 0;
    char cursor[64] = "";
    do {
        yyjson_val *root = list(
            index, (mishap_index_filter){ .limit = 1000, .cursor = mishap_text_of(cursor) }, &b);
        rows += yyjson_arr_size(yyjson_obj_get(root, "incidents"));
        const char *next = yyjson_get_str(yyjson_obj_get(root, "next"));
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
    } while (cursor[0]);
    assert_int_equal(rows, total);
    mishap_buffer_release(&b);
    mishap_index_close(index);
}

/* -- which file goes first -----------------------------------------------------------------------
 */

static void make_file(const char *name, size_t kilobytes)
{
    char path[160];
    file_path(name, path);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    for (size_t i = 0; i < kilobytes; i++) {
        char block[1024];
        memset(block, 'x', sizeof block);
        assert_int_equal(write(file, block, sizeof block), sizeof block);
    }
    fsync(file); /* the space of a file is that of its blocks */
    close(file);
}

static void damaged_files_go_first_and_the_newest_stays(void **state)
{
    (void)state;
    char path[128];
    int64_t today = NOON / DAY_MS;
    snprintf(path, sizeof path, "%s/incidents", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    make_file("2026-11-16.sqlite", 200);
    make_file("2026-11-17.sqlite.damaged", 200);
    make_file("2026-11-18.sqlite", 200);
    mishap_index_files_retain(path, today, 0, 500 << 10);
    assert_false(file_exists("2026-11-17.sqlite.damaged"));
    assert_true(file_exists("2026-11-16.sqlite"));
    mishap_index_files_retain(path, today, 0, 1);
    assert_false(file_exists("2026-11-16.sqlite"));
    assert_true(file_exists("2026-11-18.sqlite")); /* the newest always stays */
    mishap_index_files_retain(path, today, 1, 0);
    assert_true(file_exists("2026-11-18.sqlite")); /* a day that is kept is today */
    mishap_index_files_retain(path, today + 1, 1, 0);
    assert_false(file_exists("2026-11-18.sqlite"));
}

/* -- whose index it is --------------------------------------------------------------------------
 */

static void write_owner(const char *text, size_t length)
{
    char path[160];
    file_path("journal", path);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, length), length);
    close(file);
}

static void what_names_no_journal_is_no_owner(void **state)
{
    (void)state;
    char found[INDEX_PATH], *longest = test_calloc(INDEX_PATH + 2, 1);
    mishap_index_close(caught_up()); /* makes the folder */
    assert_false(mishap_index_journal_of(folder, found, sizeof found));
    write_owner("/srv/a.log\n", 11);
    assert_true(mishap_index_journal_of(folder, found, sizeof found));
    assert_string_equal(found, "/srv/a.log");
    assert_false(mishap_index_journal_of(folder, found, 10)); /* no room */
    const char *const wrong[] = { "", "\n", "a.log\n", "/srv/a.log", "/srv\n/a.log" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_owner(wrong[i], strlen(wrong[i]));
        assert_false(mishap_index_journal_of(folder, found, sizeof found));
    }
    write_owner("/a\0b\n", 5);
    assert_false(mishap_index_journal_of(folder, found, sizeof found));
    memset(longest, '/', INDEX_PATH);
    longest[INDEX_PATH] = '\n';
    write_owner(longest, INDEX_PATH + 1);
    assert_false(mishap_index_journal_of(folder, found, sizeof found));
    test_free(longest);
}

static void a_command_with_another_journal_has_an_index_of_its_own(void **state)
{
    (void)state;
    char id[2][MISHAP_ID_LENGTH + 1], own[sizeof journal], other[sizeof journal + 8];
    for (size_t i = 0; i < 2; i++)
        mishap_id_make_at(id[i], NOON - 1000 + (int64_t)i);
    append_whole((made){ .id = id[0] });
    mishap_index_close(caught_up());
    mishap_index_own(folder, journal);
    snprintf(own, sizeof own, "%s", journal);
    snprintf(other, sizeof other, "%s.other", journal);
    assert_true(strlen(other) < sizeof journal);
    memcpy(journal, other, strlen(other) + 1);
    append_whole((made){ .id = id[1] });
    mishap_index *index = open_index((mishap_index_plan){ .days = -1 });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(count_rows(index, (mishap_index_filter){ 0 }), 1);
    assert_true(mishap_index_has(index, mishap_text_of(id[1])));
    mishap_index_close(index);
    index = open_index((mishap_index_plan){ .days = -1, .journal = own });
    assert_null(mishap_index_catch_up(index, 1000));
    assert_int_equal(count_rows(index, (mishap_index_filter){ 0 }), 1);
    assert_true(mishap_index_has(index, mishap_text_of(id[0])));
    mishap_index_close(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(days_that_are_too_old_are_deleted),
        IN_FOLDER(a_day_above_the_limit_loses_its_oldest_part),
        IN_FOLDER(a_clock_that_was_wrong_does_not_push_today_out),
        IN_FOLDER(a_damaged_day_is_moved_aside_and_made_again),
        IN_FOLDER(a_file_without_its_tables_is_damaged),
        IN_FOLDER(a_file_that_another_process_has_replaced_is_opened_again),
        IN_FOLDER(damaged_groups_are_made_again),
        IN_FOLDER(an_index_of_a_newer_version_is_left_alone),
        IN_FOLDER(a_locked_file_delays_and_loses_nothing),
        IN_FOLDER(a_full_disk_delays_and_loses_nothing),
        IN_FOLDER(a_folder_that_was_removed_is_made_again),
        IN_FOLDER(processes_take_turns),
        IN_FOLDER(kill_9_at_any_moment_loses_and_doubles_nothing),
        IN_FOLDER(damaged_files_go_first_and_the_newest_stays),
        IN_FOLDER(what_names_no_journal_is_no_owner),
        IN_FOLDER(a_command_with_another_journal_has_an_index_of_its_own),
    };
    int failed = RUN(tests);
    mishap_json_reader_release(&reader);
    return failed;
}
