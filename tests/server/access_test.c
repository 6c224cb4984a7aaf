/* The access log: every line complete and valid JSON, for any request and any state of the disk. */
#include "server/access.h"
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- helpers ----------------------------------------------------------------------------------- */

static char folder[] = "/tmp/mishap-access-XXXXXX";
static char log_file[64], moved_file[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/mishap-access-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(log_file, sizeof log_file, "%s/access.log", folder);
    snprintf(moved_file, sizeof moved_file, "%s/access.log.1", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(log_file);
    unlink(moved_file);
    return rmdir(folder);
}

static mishap_http_access *open_log(const char *file)
{
    mishap_http_access *access;
    mishap *failure = mishap_http_access_open(file, &access);
    assert_null(failure);
    assert_non_null(access);
    return access;
}

static mishap_http_request request_for(mishap_text path)
{
    return (mishap_http_request){
        .method = MISHAP_HTTP_GET,
        .path = path,
        .remote = T("192.0.2.1"),
        .started_ns = 1000000,
        .id = "0192f7a0-0000-7000-8000-000000000000",
    };
}

static void add(mishap_http_access *access, const mishap_http_request *request)
{
    mishap_http_reply reply = { .status = 200 };
    mishap_http_access_add(access, request, &reply, 123, request->started_ns + 4567890);
}

/* The lines of the log must each be JSON; the last one is left in `reader`. Returns their number.
 */
static int read_log(const char *file, mishap_json_reader *reader)
{
    size_t length;
    char *text = read_file(file, &length), *at = text;
    int count = 0;
    static char line[16 << 10];
    for (char *feed; (feed = memchr(at, '\n', length - (size_t)(at - text))); at = feed + 1) {
        assert_in_range(feed - at, 1, sizeof line - 1);
        memcpy(line, at, (size_t)(feed - at));
        if (!mishap_json_read(reader, (mishap_text){ line, (size_t)(feed - at) }))
            fail_msg("line %d is no JSON: %.*s", count + 1, (int)(feed - at), at);
        assert_true(yyjson_is_obj(reader->root));
        assert_int_equal(reader->flaw, MISHAP_JSON_SOUND);
        count++;
    }
    assert_ptr_equal(at, text + length); /* it ends with a line feed */
    free(text);
    return count;
}

static const char *member(const mishap_json_reader *reader, const char *name)
{
    return yyjson_get_str(yyjson_obj_get(reader->root, name));
}

/* What the log says of a path. free() it. */
static char *logged_path(mishap_text path)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_http_access *access = open_log(log_file);
    mishap_http_request request = request_for(path);
    add(access, &request);
    mishap_http_access_close(access);
    assert_int_equal(read_log(log_file, &reader), 1);
    char *said = strdup(member(&reader, "path"));
    mishap_json_reader_release(&reader);
    unlink(log_file);
    return said;
}

static void assert_path(mishap_text path, const char *expected)
{
    char *said = logged_path(path);
    assert_string_equal(said, expected);
    free(said);
}

/* -- a line ------------------------------------------------------------------------------------ */

static void a_line_has_what_an_operator_asks_for(void **state)
{
    (void)state;
    mishap_http_access *access = open_log(log_file);
    mishap_http_request request = request_for(T("/todos/7"));
    mishap_http_reply reply = { .status = 404, .code = MISHAP_CODE_NOT_FOUND };
    request.query = T("token=very-secret");
    request.target = T("/todos/7?token=very-secret");
    request.caller = "deploy";
    request.fields[MISHAP_HTTP_USER_AGENT] = T("curl/8.0 \"x\"");
    mishap_http_access_add(access, &request, &reply, 321, request.started_ns + 1234567);
    mishap_http_access_close(access);
    size_t length;
    char *text = read_file(log_file, &length);
    static const char begin[] = "{\"time\":\"", stamp[] = "2026-02-09T10:20:30.123Z";
    assert_memory_equal(text, begin, sizeof begin - 1);
    char *rest = text + sizeof begin - 1 + sizeof stamp - 1;
    assert_string_equal(rest, "\",\"id\":\"0192f7a0-0000-7000-8000-000000000000\","
                              "\"remote\":\"192.0.2.1\",\"method\":\"GET\",\"path\":\"/todos/7\","
                              "\"status\":404,\"bytes\":321,\"duration_ms\":1.234,"
                              "\"caller\":\"deploy\",\"code\":\"NOT_FOUND\","
                              "\"user_agent\":\"curl/8.0 \\\"x\\\"\"}\n");
    for (size_t i = 0; i < sizeof stamp - 1; i++) {
        char c = text[sizeof begin - 1 + i];
        if (stamp[i] >= '0' && stamp[i] <= '9')
            assert_in_range(c, '0', '9');
        else
            assert_int_equal(c, stamp[i]);
    }
    free(text);
}

static void what_is_not_there_is_left_out(void **state)
{
    (void)state;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_http_access *access = open_log(log_file);
    mishap_http_request nothing = { .method = MISHAP_HTTP_OTHER };
    mishap_http_reply reply = { .status = 400 };
    mishap_http_access_add(access, &nothing, &reply, 0, -5000000);
    mishap_http_access_close(access);
    assert_int_equal(read_log(log_file, &reader), 1);
    assert_string_equal(member(&reader, "path"), "");
    assert_string_equal(member(&reader, "remote"), "");
    assert_string_equal(member(&reader, "method"), "OTHER");
    assert_true(yyjson_get_real(yyjson_obj_get(reader.root, "duration_ms")) == 0);
    assert_null(yyjson_obj_get(reader.root, "caller"));
    assert_null(yyjson_obj_get(reader.root, "code"));
    assert_null(yyjson_obj_get(reader.root, "user_agent"));
    mishap_json_reader_release(&reader);
}

static void the_time_goes_on(void **state)
{
    (void)state;
    mishap_http_access *access = open_log(log_file);
    mishap_http_request request = request_for(T("/"));
    int64_t begun = mishap_clock_now_ms();
    for (int i = 0; i < 12; i++) {
        add(access, &request);
        usleep(100000);
    }
    mishap_http_access_close(access);
    char *text = read_file(log_file, NULL), *at = text, before[32] = "";
    for (int i = 0; i < 12; i++) {
        char now[32] = "", expected[32] = "";
        mishap_buffer stamp;
        memcpy(now, at + 9, 24);
        assert_true(strcmp(before, now) < 0);
        mishap_buffer_init(&stamp, expected, sizeof expected);
        mishap_clock_put_timestamp(&stamp, begun + 100 * i);
        assert_true(strcmp(expected, now) <= 0);
        memcpy(before, now, sizeof before);
        at = strchr(at, '\n') + 1;
    }
    free(text);
}

/* -- hostile text ------------------------------------------------------------------------------ */

static void odd_characters_are_escaped(void **state)
{
    (void)state;
    assert_path(T("/a\"b\\c"), "/a\"b\\c");
    assert_path(T("/a\r\n{\"forged\":1}"), "/a\r\n{\"forged\":1}");
    assert_path(T("/\x1b[31m\x07\x7f"), "/\x1b[31m\x07\x7f");
    assert_path(T("/caf\xc3\xa9/\xe2\x82\xac"), "/caf\xc3\xa9/\xe2\x82\xac");
    assert_path(T("/a%00b?"), "/a%00b?");
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
    (void)state;
    assert_path(T("/a\0b"), "/a\xef\xbf\xbd"
                            "b");
    assert_path(T("/\xff\xc3("), "/\xef\xbf\xbd\xef\xbf\xbd(");
    assert_path(T("/\xed\xa0\x80"), "/\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_path(T("/\xc2\x9b"
                  "31m\xc2\xa0"),
                "/??31m\xc2\xa0"); /* a terminal would take the first for ESC [ */
}

static void no_control_character_is_in_the_file(void **state)
{
    (void)state;
    char all[1024];
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_http_access *access = open_log(log_file);
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)i;
    mishap_http_request request = request_for((mishap_text){ all, sizeof all });
    request.fields[MISHAP_HTTP_USER_AGENT] = (mishap_text){ all, sizeof all };
    request.remote = (mishap_text){ all, 256 };
    add(access, &request);
    mishap_http_access_close(access);
    assert_int_equal(read_log(log_file, &reader), 1);
    mishap_json_reader_release(&reader);
    size_t length;
    char *text = read_file(log_file, &length);
    for (size_t i = 0; i + 1 < length; i++) {
        unsigned char c = (unsigned char)text[i], next = (unsigned char)text[i + 1];
        assert_true(c >= 32 && c != 127);
        assert_false(c == 0xC2 && next < 0xA0);
    }
    free(text);
}

static void long_text_is_cut(void **state)
{
    (void)state;
    char path[5000];
    memset(path, 'a', sizeof path);
    char *said = logged_path((mishap_text){ path, sizeof path });
    assert_int_equal(strlen(said), 1024);
    free(said);
    memset(path, 0x80, sizeof path); /* no character begins anywhere */
    said = logged_path((mishap_text){ path, sizeof path });
    assert_in_range(strlen(said), 3 * 1020, 3 * 1024);
    free(said);
    memset(path, 1, sizeof path);
    said = logged_path((mishap_text){ path, sizeof path });
    assert_int_equal(strlen(said), 1024);
    free(said);
    for (size_t i = 0; i + 3 <= sizeof path; i += 3)
        memcpy(path + i, "\xe2\x82\xac", 3);
    said = logged_path((mishap_text){ path, sizeof path });
    assert_int_equal(strlen(said), 1023); /* no half of a character */
    free(said);
}

/* -- files ------------------------------------------------------------------------------------- */

static void no_file_is_no_log(void **state)
{
    (void)state;
    mishap_http_access *access = (mishap_http_access *)folder;
    mishap_http_request request = request_for(T("/"));
    assert_null(mishap_http_access_open(NULL, &access));
    assert_null(access);
    add(access, &request);
    mishap_http_access_flush(access);
    mishap_http_access_reopen(access);
    mishap_http_access_close(access);
}

static void a_file_that_cannot_be_opened_is_refused(void **state)
{
    (void)state;
    char path[80];
    mishap_http_access *access;
    snprintf(path, sizeof path, "%s/missing/access.log", folder);
    mishap *m = mishap_http_access_open(path, &access);
    assert_null(access);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_OUTPUT_FAILED);
    assert_string_equal(mishap_told(m)->cause.data, "No such file or directory (ENOENT)");
    mishap_free(m);
}

static void lines_are_written_when_there_are_many_or_when_told(void **state)
{
    (void)state;
    struct stat status;
    mishap_http_access *access = open_log(log_file);
    mishap_http_request request = request_for(T("/"));
    add(access, &request);
    stat(log_file, &status);
    assert_int_equal(status.st_size, 0);
    assert_int_equal(status.st_mode & 07, 0); /* nothing for others */
    mishap_http_access_flush(access);
    stat(log_file, &status);
    assert_in_range(status.st_size, 100, 300);
    off_t before = status.st_size;
    for (int i = 0; i < 1000; i++)
        add(access, &request);
    stat(log_file, &status);
    assert_in_range(status.st_size - before, 30 << 10, 1000 * before);
    mishap_http_access_close(access);
    stat(log_file, &status);
    assert_int_equal(status.st_size, 1001 * before);
}

static void several_processes_write_whole_lines(void **state)
{
    (void)state;
    enum { PROCESSES = 4, LINES = 3000 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            mishap_http_access *access = open_log(log_file);
            char path[600];
            memset(path, 'a' + i, sizeof path);
            for (int line = 0; line < LINES; line++) {
                mishap_http_request request = request_for(
                    (mishap_text){ path, (size_t)(line * 7 % (int)sizeof path) });
                add(access, &request);
                if (line % 97 == 0)
                    mishap_http_access_flush(access);
            }
            mishap_http_access_close(access);
            _exit(0);
        }
    }
    for (int i = 0, status; i < PROCESSES; i++) {
        wait(&status);
        assert_int_equal(status, 0);
    }
    assert_int_equal(read_log(log_file, &reader), PROCESSES * LINES);
    mishap_json_reader_release(&reader);
}

static void a_file_that_was_moved_away_is_made_anew(void **state)
{
    (void)state;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_http_access *access = open_log(log_file);
    mishap_http_request first = request_for(T("/first")), second = request_for(T("/second"));
    add(access, &first);
    assert_int_equal(rename(log_file, moved_file), 0);
    mishap_http_access_reopen(access);
    add(access, &second);
    mishap_http_access_close(access);
    assert_int_equal(read_log(moved_file, &reader), 1);
    assert_string_equal(member(&reader, "path"), "/first");
    assert_int_equal(read_log(log_file, &reader), 1);
    assert_string_equal(member(&reader, "path"), "/second");
    mishap_json_reader_release(&reader);
}

static void a_file_that_cannot_be_made_anew_goes_on_in_the_old_one(void **state)
{
    (void)state;
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_http_access *access = open_log(log_file);
    mishap_http_request request = request_for(T("/"));
    assert_int_equal(rename(log_file, moved_file), 0);
    assert_int_equal(mkdir(log_file, 0700), 0);
    mishap_http_access_reopen(access);
    rmdir(log_file);
    add(access, &request);
    mishap_http_access_close(access);
    assert_int_equal(read_log(moved_file, &reader), 1);
    mishap_json_reader_release(&reader);
}

static void a_full_disk_loses_lines_and_nothing_else(void **state)
{
    (void)state;
    mishap_http_access *access = open_log("/dev/full");
    mishap_http_request request = request_for(T("/"));
    for (int i = 0; i < 2000; i++)
        add(access, &request);
    mishap_http_access_flush(access);
    mishap_http_access_close(access);
}

/* A limit on the size of files cuts a write short, as a full disk does. */
static void a_line_that_was_cut_short_does_not_spoil_the_next(void **state)
{
    (void)state;
    struct rlimit old, small = { 1000, 0 };
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    mishap_http_access *access = open_log(log_file);
    mishap_http_request lost = request_for(T("/lost")), kept = request_for(T("/kept"));
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 20; i++)
        add(access, &lost);
    mishap_http_access_flush(access);
    add(access, &lost);
    mishap_http_access_flush(access); /* still no room */
    setrlimit(RLIMIT_FSIZE, &old);
    add(access, &kept);
    mishap_http_access_close(access);
    char *text = read_file(log_file, NULL), *last = strstr(text, "/kept");
    assert_non_null(last);
    while (last[-1] != '\n')
        last--;
    assert_int_equal(last - text, 1001); /* what fitted, and a line feed */
    assert_memory_equal(last, "{\"time\"", 7);
    free(text);
}

/* -- standard error, and what is no file ------------------------------------------------------- */

/* Put another file in the place of standard error, and back. */
static int swap_error(int descriptor)
{
    int saved = dup(STDERR_FILENO);
    assert_true(dup2(descriptor, STDERR_FILENO) == STDERR_FILENO);
    return saved;
}

static void restore_error(int saved)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
}

/* Far more than the reader takes is written to standard error: the call must return. What was taken
 * are whole lines. */
static void assert_does_not_wait(int reading, int writing)
{
    char taken[256 << 10];
    mishap_http_request request = request_for(T("/a-path-of-some-length"));
    int saved = swap_error(writing);
    mishap_http_access *access = open_log("-");
    alarm(60);
    for (int i = 0; i < 5000; i++)
        add(access, &request);
    mishap_http_access_close(access);
    alarm(0);
    restore_error(saved);
    assert_int_equal(fcntl(writing, F_GETFL) & O_NONBLOCK, 0); /* it is not ours alone */
    close(writing);
    ssize_t count = recv(reading, taken, sizeof taken, MSG_DONTWAIT);
    if (count < 0 && errno == ENOTSOCK)
        count = read(reading, taken, sizeof taken);
    assert_in_range(count, 1000, sizeof taken);
    assert_memory_equal(taken, "{\"time\"", 7);
    assert_int_equal(taken[count - 1], '\n');
    close(reading);
}

static void a_pipe_that_nobody_reads_does_not_hold_the_server_up(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_does_not_wait(ends[0], ends[1]);
}

static void a_socket_that_nobody_reads_does_not_hold_the_server_up(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_does_not_wait(ends[0], ends[1]);
}

static void a_file_as_standard_error_keeps_its_order(void **state)
{
    (void)state;
    mishap_http_request request = request_for(T("/"));
    int file = open(log_file, O_WRONLY | O_CREAT, 0600), saved = swap_error(file);
    mishap_http_access *access = open_log("-");
    dprintf(STDERR_FILENO, "before\n");
    add(access, &request);
    mishap_http_access_flush(access);
    dprintf(STDERR_FILENO, "after\n");
    mishap_http_access_reopen(access);
    mishap_http_access_close(access);
    restore_error(saved);
    close(file);
    char *text = read_file(log_file, NULL);
    assert_memory_equal(text, "before\n{\"time\"", 14);
    assert_string_equal(strchr(text + 8, '\n'), "\nafter\n");
    free(text);
}

static void adding_needs_no_memory(void **state)
{
    (void)state;
    mishap_http_access *access;
    mishap_use_allocator(&failing_allocator);
    fail_once = false;
    fail_at = 1;
    calls = 0;
    blocks = 0;
    mishap *m = mishap_http_access_open(log_file, &access);
    assert_null(access);
    assert_non_null(m);
    mishap_free(m);
    fail_at = 0;
    access = open_log(log_file);
    fail_at = 1;
    calls = 0;
    char odd[5000];
    memset(odd, 0xff, sizeof odd);
    mishap_http_request request = request_for((mishap_text){ odd, sizeof odd });
    request.fields[MISHAP_HTTP_USER_AGENT] = (mishap_text){ odd, sizeof odd };
    for (int i = 0; i < 100; i++)
        add(access, &request);
    memset(odd, 1, sizeof odd);
    for (int i = 0; i < 100; i++)
        add(access, &request);
    mishap_http_access_close(access);
    assert_int_equal(calls, 0);
    assert_int_equal(blocks, 0);
    fail_at = 0;
    mishap_use_allocator(NULL);
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_int_equal(read_log(log_file, &reader), 200);
    mishap_json_reader_release(&reader);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_line_has_what_an_operator_asks_for),
        IN_FOLDER(what_is_not_there_is_left_out),
        IN_FOLDER(the_time_goes_on),
        IN_FOLDER(odd_characters_are_escaped),
        IN_FOLDER(bytes_that_are_no_text_are_replaced),
        IN_FOLDER(no_control_character_is_in_the_file),
        IN_FOLDER(long_text_is_cut),
        TEST(no_file_is_no_log),
        IN_FOLDER(a_file_that_cannot_be_opened_is_refused),
        IN_FOLDER(lines_are_written_when_there_are_many_or_when_told),
        IN_FOLDER(several_processes_write_whole_lines),
        IN_FOLDER(a_file_that_was_moved_away_is_made_anew),
        IN_FOLDER(a_file_that_cannot_be_made_anew_goes_on_in_the_old_one),
        TEST(a_full_disk_loses_lines_and_nothing_else),
        IN_FOLDER(a_line_that_was_cut_short_does_not_spoil_the_next),
        TEST(a_pipe_that_nobody_reads_does_not_hold_the_server_up),
        TEST(a_socket_that_nobody_reads_does_not_hold_the_server_up),
        IN_FOLDER(a_file_as_standard_error_keeps_its_order),
        IN_FOLDER(adding_needs_no_memory),
    };
    return RUN(tests);
}
