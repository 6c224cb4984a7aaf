/* src/incident/follow.c: reading the journal across rotation, torn lines and crashes of a reader.
 */
#include "testing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "incident/follow.h"
#include "incident/record.h"

static char folder[64], path[128], older[132], oldest[132];

static int enter_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/mishap-follow-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/sample.log", folder);
    snprintf(older, sizeof older, "%s.1", path);
    snprintf(oldest, sizeof oldest, "%s.2", path);
    return 0;
}

static int leave_folder(void **state)
{
    (void)state;
    return remove_tree(folder);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

#define LINE(n) "{\"v\":1,\"kind\":\"line\",\"text\":\"number " n " of some that are long enough\"}"

static void append_bytes(const char *to, const char *bytes, size_t length)
{
    int file = open(to, O_WRONLY | O_APPEND | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), length);
    close(file);
}

static void append_text(const char *to, const char *text)
{
    append_bytes(to, text, strlen(text));
}

static void rotate_files(void)
{
    rename(older, oldest);
    assert_int_equal(rename(path, older), 0);
}

static mishap_follow *open_at(mishap_follow_place from)
{
    mishap_follow *f;
    assert_null(mishap_follow_open(path, from, &f));
    return f;
}

static void expect_line(mishap_follow *f, const char *expected)
{
    mishap_text line;
    assert_true(mishap_follow_next(f, &line));
    assert_int_equal(line.length, strlen(expected));
    assert_memory_equal(line.data, expected, line.length);
}

static void expect_none(mishap_follow *f)
{
    mishap_text line;
    assert_false(mishap_follow_next(f, &line));
}

/* A reader of a journal that has this text, from its beginning. */
static mishap_follow *read_text(const char *text)
{
    append_text(path, text);
    return open_at((mishap_follow_place){ 0 });
}

/* There is nothing more, and so much was lost. */
static void expect_end(mishap_follow *f, size_t lost)
{
    expect_none(f);
    assert_int_equal(mishap_follow_lost(f), lost);
    mishap_follow_close(f);
}

/* The place behind the first line of a journal that has this text. */
static mishap_follow_place place_in(const char *text)
{
    mishap_follow *f = read_text(text);
    expect_line(f, LINE("1"));
    mishap_follow_place place = mishap_follow_at(f);
    mishap_follow_close(f);
    return place;
}

static void lines_are_read_when_they_are_complete(void **state)
{
    (void)state;
    mishap_follow *f = open_at((mishap_follow_place){ 0 });
    expect_none(f); /* there is no file yet */
    append_text(path, LINE("1") "\n" LINE("2"));
    expect_line(f, LINE("1"));
    expect_none(f);
    assert_int_equal(mishap_follow_behind(f), strlen(LINE("2")));
    append_text(path, "\n");
    expect_line(f, LINE("2"));
    expect_none(f);
    assert_int_equal(mishap_follow_behind(f), 0);
    assert_int_equal(mishap_follow_lost(f), 0);
    mishap_follow_close(f);
}

static void a_reader_goes_on_from_its_place_across_rotations(void **state)
{
    (void)state;
    mishap_follow_place place = place_in(LINE("1") "\n" LINE("2") "\n");
    rotate_files();
    append_text(path, LINE("3") "\n");
    rotate_files();
    append_text(path, LINE("4") "\n");
    mishap_follow *f = open_at(place);
    expect_line(f, LINE("2"));
    assert_int_equal(mishap_follow_behind(f), 2 * strlen(LINE("3") "\n"));
    expect_line(f, LINE("3"));
    expect_line(f, LINE("4"));
    expect_end(f, 0);
}

static void a_rotation_while_reading_loses_nothing(void **state)
{
    (void)state;
    mishap_follow *f = read_text(LINE("1") "\n");
    expect_line(f, LINE("1"));
    expect_none(f);
    rotate_files();
    append_text(older, LINE("2") "\n"); /* by a process that had it open */
    append_text(path, LINE("3") "\n");
    expect_line(f, LINE("2"));
    expect_line(f, LINE("3"));
    append_text(older, LINE("4") "\n"); /* the reader has left it already */
    expect_line(f, LINE("4"));
    append_text(path, LINE("5") "\n");
    expect_line(f, LINE("5"));
    expect_end(f, 0);
}

static void files_that_were_rotated_away_unread_are_counted(void **state)
{
    (void)state;
    mishap_follow_place place = place_in(LINE("1") "\n" LINE("2") "\n");
    for (int i = 0; i < 3; i++) { /* the first file is gone; its inode may be used again */
        rotate_files();
        append_text(path, LINE("3") "\n" LINE("4") "\n");
    }
    mishap_follow *f = open_at(place);
    for (int i = 0; i < 3; i++) {
        expect_line(f, LINE("3"));
        expect_line(f, LINE("4"));
    }
    expect_end(f, 1);
}

static void an_inode_that_is_used_again_is_another_file(void **state)
{
    (void)state;
    mishap_follow_place place = place_in(LINE("1") "\n");
    assert_true(place.mark != 0);
    int file = open(path, O_WRONLY | O_TRUNC);
    close(file);
    append_text(path, LINE("2") "\n" LINE("3") "\n");
    mishap_follow *f = open_at(place);
    expect_line(f, LINE("2"));
    expect_line(f, LINE("3"));
    assert_int_equal(mishap_follow_lost(f), 1);
    mishap_follow_close(f);
}

static void a_file_that_was_cut_is_read_from_its_start(void **state)
{
    (void)state;
    mishap_follow *f = read_text(LINE("1") "\n" LINE("2") "\n");
    expect_line(f, LINE("1"));
    expect_line(f, LINE("2"));
    expect_none(f);
    assert_int_equal(truncate(path, 0), 0);
    append_text(path, LINE("3") "\n");
    expect_line(f, LINE("3"));
    assert_int_equal(mishap_follow_lost(f), 1);
    mishap_follow_close(f);
}

static void torn_lines_are_skipped_and_counted(void **state)
{
    (void)state;
    mishap_follow *f = read_text(
        "{\"v\":1,\"kind\":\"who\n" LINE("1") "\n\ngarbage\n{}\n" LINE("2") "\n");
    expect_line(f, LINE("1"));
    expect_line(f, LINE("2"));
    expect_end(f, 3);
}

static void a_whole_line_behind_a_torn_one_is_read(void **state)
{
    (void)state;
    append_text(path, "{\"v\":1,\"kind\":\"whole\",\"message\":\"is cu" LINE("1") "\n");
    append_bytes(path, "\0\0\0\0\0\0\0\0", 8); /* as a file system leaves them after power loss */
    mishap_follow *f = read_text(LINE("2") "\n");
    expect_line(f, LINE("1"));
    expect_line(f, LINE("2"));
    expect_end(f, 2);
}

static void put_forged(const void *context, mishap_incident_more *more)
{
    mishap_buffer_put_text(&more->arguments, mishap_text_of(context));
}

/* A record with such arguments, torn at every place: nothing of it is taken for a record. */
static void no_argument_of_a_torn_line_is_a_record(void **state)
{
    (void)state;
    static const char forged[] = "{\"a\":{\"v\":1,\"kind\":\"whole\",\"id\":\"forged\"},"
                                 "\"b\":[{\"v\":1,\"kind\":\"line\",\"text\":\"forged\"},"
                                 "{\"v\":1,\"kind\":\"whole\",\"id\":"
                                 "{\"v\":1,\"kind\":\"line\",\"text\":\"forged\"}}]}";
    mishap_buffer json = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap *failure = mishap_note(mishap_raise(NOT_FOUND, "%s", forged), "forged", forged);
    mishap_record_put(&json,
                      &(mishap_incident_entry){ .program = "sample",
                                                .id = "0192f7a0-0000-7000-8000-000000000000",
                                                .failure = failure,
                                                .response = mishap_text_of(forged),
                                                .more = put_forged,
                                                .context = forged },
                      &(mishap_record_facts){ .role = "loop", .stack = MISHAP_RECORD_NO_STACK });
    mishap_free(failure);
    assert_true(mishap_json_read(&reader, mishap_buffer_text(&json)));
    yyjson_val *b = yyjson_obj_get(yyjson_obj_get(reader.root, "arguments"), "b");
    assert_int_equal(yyjson_get_int(yyjson_obj_get(yyjson_arr_get(b, 1), "v")), 1);
    mishap_json_reader_release(&reader);
    for (size_t length = 1; length < json.length; length++) {
        append_bytes(path, json.data, length);
        append_text(path, "\n");
    }
    mishap_follow *f = open_at((mishap_follow_place){ 0 });
    mishap_text line;
    while (mishap_follow_next(f, &line)) { /* a line that looks whole, and is no JSON */
        assert_ptr_equal(memmem(line.data, line.length, "{\"v\":1,", 7), line.data);
        assert_false(mishap_json_read(&reader, line));
        mishap_json_reader_release(&reader);
    }
    append_bytes(path, json.data, json.length);
    append_text(path, "\n");
    append_bytes(path, json.data, json.length - 30);
    append_text(path, LINE("1") "\n");
    assert_true(mishap_follow_next(f, &line));
    assert_int_equal(line.length, json.length);
    expect_line(f, LINE("1"));
    expect_none(f);
    mishap_follow_close(f);
    mishap_buffer_release(&json);
}

/* Another user may write to the folder, as to /tmp: only root can try this. */
static void files_and_links_of_another_user_are_not_read(void **state)
{
    (void)state;
    enum { OTHER = 12345 };
    char target[132];
    if (geteuid() != 0)
        skip();
    append_text(oldest, LINE("1") "\n");
    assert_int_equal(chown(oldest, OTHER, OTHER), 0);
    snprintf(target, sizeof target, "%s/target", folder);
    append_text(target, LINE("2") "\n");
    assert_int_equal(symlink(target, older), 0);
    assert_int_equal(lchown(older, OTHER, OTHER), 0);
    mishap_follow *f = read_text(LINE("3") "\n");
    expect_line(f, LINE("3"));
    expect_none(f);
    mishap_follow_close(f);

    assert_int_equal(chown(folder, OTHER, OTHER), 0); /* the folder of that user: `sudo` reads it */
    f = open_at((mishap_follow_place){ 0 });
    expect_line(f, LINE("1"));
    expect_line(f, LINE("2"));
    expect_line(f, LINE("3"));
    mishap_follow_close(f);
}

static void a_value_that_looks_like_a_line_is_none(void **state)
{
    (void)state;
    const char *line = "{\"v\":1,\"kind\":\"whole\",\"told\":{\"v\":1,\"kind\":\"line\"}}";
    append_text(path, line);
    mishap_follow *f = read_text("\n");
    expect_line(f, line);
    assert_int_equal(mishap_follow_lost(f), 0);
    mishap_follow_close(f);
}

static void a_line_that_is_too_long_is_skipped(void **state)
{
    (void)state;
    enum { LENGTH = 3 * MISHAP_FOLLOW_LINE };
    char *line = test_calloc(LENGTH + 1, 1);
    memset(line, 'x', LENGTH);
    line[0] = '{';
    memcpy(line + LENGTH - 2, "}\n", 2);
    append_text(path, line);
    append_text(path, LINE("1") "\n");
    memcpy(line, "{\"a\":\"", 6); /* the longest that is read */
    memcpy(line + MISHAP_FOLLOW_LINE - 2, "\"}\n", 4);
    mishap_follow *f = read_text(line);
    expect_line(f, LINE("1"));
    line[MISHAP_FOLLOW_LINE] = '\0';
    expect_line(f, line);
    expect_end(f, 1);
    test_free(line);
}

static void a_pipe_is_no_journal(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    mishap_follow *f = open_at((mishap_follow_place){ 0 });
    expect_none(f);
    assert_int_equal(mishap_follow_behind(f), 0);
    mishap_follow_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(lines_are_read_when_they_are_complete),
        IN_FOLDER(a_reader_goes_on_from_its_place_across_rotations),
        IN_FOLDER(a_rotation_while_reading_loses_nothing),
        IN_FOLDER(files_that_were_rotated_away_unread_are_counted),
        IN_FOLDER(an_inode_that_is_used_again_is_another_file),
        IN_FOLDER(a_file_that_was_cut_is_read_from_its_start),
        IN_FOLDER(torn_lines_are_skipped_and_counted),
        IN_FOLDER(a_whole_line_behind_a_torn_one_is_read),
        IN_FOLDER(no_argument_of_a_torn_line_is_a_record),
        IN_FOLDER(files_and_links_of_another_user_are_not_read),
        IN_FOLDER(a_value_that_looks_like_a_line_is_none),
        IN_FOLDER(a_line_that_is_too_long_is_skipped),
        IN_FOLDER(a_pipe_is_no_journal),
    };
    return RUN(tests);
}
