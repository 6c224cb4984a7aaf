/*
 * API keys: what a running server learns of changes to their file, and what counts when there is no
 * key any more.
 */
#include "testing.h"

#include "keys_set_up.h"

/* -- changes ----------------------------------------------------------------------------------- */

static void a_running_server_learns_of_changes(void **state)
{
    (void)state;
    mishap_http_keys *keys = open_keys();
    assert_int_equal(mishap_http_keys_count(keys), 0);
    char *a = add_key("a");
    assert_null(caller_of(keys, a));
    assert_null(mishap_http_keys_refresh(keys));
    assert_string_equal(caller_of(keys, a), "a");
    char *b = add_key("b");
    assert_null(mishap_http_keys_refresh(keys));
    const char *name = caller_of(keys, a);
    assert_null(run(&mishap_keys_remove, "a", NULL));
    assert_null(mishap_http_keys_refresh(keys));
    assert_null(caller_of(keys, a));
    assert_string_equal(caller_of(keys, b), "b");
    /* A request of the removed key may still run. */
    for (int i = 0; i < 5; i++) {
        free(add_key("c"));
        assert_null(mishap_http_keys_refresh(keys));
        assert_null(run(&mishap_keys_remove, "c", NULL));
        assert_null(mishap_http_keys_refresh(keys));
    }
    assert_string_equal(name, "a");
    unlink(file_path);
    assert_code(mishap_http_keys_refresh(keys), MISHAP_CODE_NOT_CONFIGURED);
    assert_null(mishap_http_keys_refresh(keys)); /* it is said once */
    assert_int_equal(mishap_http_keys_count(keys), 0);
    assert_null(caller_of(keys, b));
    mishap_http_keys_close(keys);
    free(a);
    free(b);
}

/* -- keys that are gone ------------------------------------------------------------------------ */

static char key_line[128]; /* of a file that a test writes itself */

static void use_add(void)
{
    free(add_key("a"));
}

static void use_remove(void)
{
    assert_null(run(&mishap_keys_remove, "a", NULL));
}

static void use_disable(void)
{
    assert_null(run(&mishap_keys_disable, NULL, NULL));
}

static void write_key(void)
{
    put_key_line(key_line, sizeof key_line, "a", 1);
    write_file(key_line, strlen(key_line));
}

static void write_comment(void)
{
    write_file("# keys\n\n", 8);
}

static void write_nothing(void)
{
    write_file("", 0);
}

static void write_disabled(void)
{
    write_file("# keys\ndisabled\n", 16);
}

static void write_disabled_and_key(void)
{
    char text[160];
    put_key_line(key_line, sizeof key_line, "a", 1);
    snprintf(text, sizeof text, "disabled\n%s", key_line);
    write_file(text, strlen(text));
}

static void write_nul(void)
{
    write_file("disabled\n\0\n", 11);
}

static void remove_file(void)
{
    assert_int_equal(unlink(file_path), 0);
}

static void restart(void)
{
}

/* What is done, step by step, and whether callers may name themselves afterwards: (f)ree, (g)one,
 * or neither, because there are (k)eys or the file is (b)roken. */
static const struct {
    void (*steps[5])(void);
    const char *states; /* before the first, and after each */
} lives[] = {
    { { restart }, "ff" },
    { { use_add, use_remove, use_disable, use_add }, "fkgfk" },
    { { use_add, remove_file, restart, use_disable, restart }, "fkggff" },
    { { use_add, write_nothing, restart, use_add }, "fkggk" },
    { { use_add, write_comment, use_disable, use_disable }, "fkgff" },
    { { write_nothing, remove_file }, "fgf" },
    { { write_comment, use_disable, use_add, use_remove }, "fgfkg" },
    { { write_key, remove_file, restart, use_disable }, "fkggf" },
    { { write_disabled, write_disabled_and_key, write_disabled }, "ffkf" },
    { { use_disable, remove_file, restart }, "ffgg" },
    { { use_disable, write_nul, write_disabled }, "ffbf" },
};

static void assert_state(const mishap_http_keys *keys, char expected, size_t life, size_t step)
{
    mishap_caller_keys by_command = mishap_caller_keys_of(folder);
    char found = mishap_http_keys_are_unused(keys) ? 'f'
                 : mishap_http_keys_are_gone(keys) ? 'g'
                 : mishap_http_keys_count(keys)    ? 'k'
                                                   : 'b';
    if (found != expected)
        fail_msg("life %zu, step %zu: %c instead of %c", life, step, found, expected);
    char seen = by_command == MISHAP_CALLER_KEYS_UNUSED ? 'f'
                : by_command == MISHAP_CALLER_KEYS_GONE ? 'g'
                                                        : 'k';
    if (seen != (expected == 'b' ? 'k' : expected))
        fail_msg("life %zu, step %zu: a command sees %c instead of %c", life, step, seen, expected);
}

static void once_there_was_a_key_none_is_not_open(void **state)
{
    (void)state;
    for (size_t life = 0; life < sizeof lives / sizeof *lives; life++) {
        mishap_http_keys *keys = open_keys();
        assert_state(keys, lives[life].states[0], life, 0);
        for (size_t i = 0; i < 5 && lives[life].steps[i]; i++) {
            lives[life].steps[i]();
            if (lives[life].steps[i] == restart) {
                mishap_http_keys_close(keys);
                keys = open_keys();
            }
            mishap_free(mishap_http_keys_refresh(keys));
            assert_state(keys, lives[life].states[i + 1], life, i + 1);
        }
        mishap_http_keys_close(keys);
        unlink(file_path);
        unlink(lock_path);
    }
}

static void what_remembers_keys_belongs_to_the_owner_of_the_folder(void **state)
{
    (void)state;
    struct stat status;
    if (geteuid() == 0)
        assert_int_equal(chown(folder, 12345, 54321), 0);
    write_key();
    mishap_http_keys_close(open_keys());
    assert_int_equal(stat(lock_path, &status), 0);
    assert_int_equal(status.st_uid, geteuid() == 0 ? 12345 : geteuid());
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void a_server_that_cannot_write_remembers_its_keys_itself(void **state)
{
    (void)state;
    write_key();
    mishap_http_keys *keys = open_keys();
    assert_int_equal(unlink(lock_path), 0); /* as if it could not have made it */
    remove_file();
    assert_code(mishap_http_keys_refresh(keys), MISHAP_CODE_NOT_CONFIGURED);
    assert_false(mishap_http_keys_are_unused(keys));
    mishap_http_keys_close(keys);
}

static void keys_are_not_disabled_while_there_is_one(void **state)
{
    (void)state;
    free(add_key("deploy"));
    char *before = read_file(file_path, NULL);
    assert_code(run(&mishap_keys_disable, NULL, NULL), MISHAP_CODE_CONFLICT);
    char *after = read_file(file_path, NULL);
    assert_string_equal(before, after);
    free(before);
    free(after);
    write_file("disabled\ndisabled\n", 18);
    assert_code(run(&mishap_keys_disable, NULL, NULL), MISHAP_CODE_NOT_CONFIGURED);
}

/* What is there besides stays; the line goes with the next key. */
static void a_file_says_that_keys_are_disabled_until_one_is_added(void **state)
{
    (void)state;
    write_file("# mine", 6);
    assert_null(run(&mishap_keys_disable, NULL, NULL));
    char *text = read_file(file_path, NULL);
    assert_string_equal(text, "# mine\ndisabled\n");
    free(text);
    free(add_key("deploy"));
    text = read_file(file_path, NULL);
    assert_null(strstr(text, "disabled"));
    assert_memory_equal(text, "# mine\ndeploy ", 14);
    free(text);
}

/* The file as it was, but for one thing. */
static void write_with_time(const char *text, const struct timespec *time)
{
    const struct timespec times[2] = { *time, *time };
    write_file(text, strlen(text));
    assert_int_equal(utimensat(AT_FDCWD, file_path, times, 0), 0);
}

static void a_change_shows_in_time_size_or_file(void **state)
{
    (void)state;
    char a[128], b[128], both[256], moved[100];
    struct timespec time = { 1000000000, 5 };
    put_key_line(a, sizeof a, "a", 1);
    put_key_line(b, sizeof b, "b", 2);
    snprintf(both, sizeof both, "%s%s", a, b);
    write_with_time(a, &time);
    mishap_http_keys *keys = open_keys();
    write_with_time(both, &time); /* its size alone */
    assert_null(mishap_http_keys_refresh(keys));
    assert_int_equal(mishap_http_keys_count(keys), 2);
    memset(both, '#', strlen(both) - 1);
    time.tv_nsec++;
    write_with_time(both, &time); /* a nanosecond */
    assert_code(mishap_http_keys_refresh(keys), MISHAP_CODE_NOT_CONFIGURED);
    assert_int_equal(mishap_http_keys_count(keys), 0);
    snprintf(moved, sizeof moved, "%s.old",
             file_path); /* kept, or its number would be used again */
    assert_int_equal(rename(file_path, moved), 0);
    snprintf(both, sizeof both, "%s%s", a, b);
    write_with_time(both, &time); /* another file */
    unlink(moved);
    assert_null(mishap_http_keys_refresh(keys));
    assert_int_equal(mishap_http_keys_count(keys), 2);
    mishap_http_keys_close(keys);
}

/* Refresh where the file is no good; `told`: it is said, with the reason. */
static void refresh_broken(mishap_http_keys *keys, const mishap_code *told)
{
    mishap *m = mishap_http_keys_refresh(keys);
    if (!told) {
        assert_null(m);
        return;
    }
    assert_non_null(mishap_cause(m));
    assert_ptr_equal(mishap_told(mishap_cause(m))->code, told);
    assert_code(m, MISHAP_CODE_UNAVAILABLE);
}

static void while_the_file_is_broken_no_key_is_taken(void **state)
{
    (void)state;
    char *key = add_key("deploy"), bearer[80];
    mishap_http_keys *keys = open_keys();
    snprintf(bearer, sizeof bearer, "Bearer %s", key);
    write_file("nonsense\n", 9);
    refresh_broken(keys, MISHAP_CODE_NOT_CONFIGURED);
    refresh_broken(keys, NULL); /* once is enough */
    assert_null(caller_with(keys, NULL, key, true, MISHAP_CODE_UNAVAILABLE));
    assert_null(caller_with(keys, bearer, NULL, false, MISHAP_CODE_UNAVAILABLE));
    assert_null(caller_with(keys, NULL, NULL, true, MISHAP_CODE_AUTH_REQUIRED));
    assert_null(caller_with(keys, NULL, NULL, false, NULL));
    write_file("other nonsense\n", 15);
    refresh_broken(keys, MISHAP_CODE_NOT_CONFIGURED);
    unlink(file_path);
    assert_int_equal(mkdir(file_path, 0700), 0);
    refresh_broken(keys, MISHAP_CODE_INPUT_UNREADABLE);
    assert_null(caller_with(keys, NULL, key, true, MISHAP_CODE_UNAVAILABLE));
    rmdir(file_path);
    char *other = add_key("other");
    assert_null(mishap_http_keys_refresh(keys));
    assert_null(caller_of(keys, key));
    assert_string_equal(caller_of(keys, other), "other");
    write_file("nonsense\n", 9); /* and again */
    refresh_broken(keys, MISHAP_CODE_NOT_CONFIGURED);
    mishap_http_keys_close(keys);
    free(key);
    free(other);
}

/* A worker that takes the place of another must begin. */
static void keys_can_be_made_before_they_can_be_read(void **state)
{
    (void)state;
    mishap_http_keys *keys;
    write_file("nonsense\n", 9);
    assert_null(mishap_http_keys_make(folder, NULL, &keys));
    refresh_broken(keys, MISHAP_CODE_NOT_CONFIGURED);
    unlink(file_path);
    assert_null(mishap_http_keys_refresh(keys));
    char *key = add_key("deploy");
    assert_null(mishap_http_keys_refresh(keys));
    assert_string_equal(caller_of(keys, key), "deploy");
    mishap_http_keys_close(keys);
    free(key);
}

/* Memory that is there again shows in no file. */
static void after_a_shortage_the_same_file_is_read(void **state)
{
    (void)state;
    mishap_http_keys *keys = open_keys();
    char *key = add_key("deploy");
    mishap_use_allocator(&failing_allocator);
    calls = 0;
    fail_at = 1;
    fail_once = false;
    mishap_free(mishap_http_keys_refresh(keys));
    assert_null(caller_with(keys, NULL, key, true, MISHAP_CODE_UNAVAILABLE));
    fail_at = 0;
    assert_null(mishap_http_keys_refresh(keys));
    assert_string_equal(caller_of(keys, key), "deploy");
    mishap_use_allocator(NULL);
    mishap_http_keys_close(keys);
    free(key);
}

/* Which key it is; 0: none. */
static uint64_t number_of(const mishap_http_keys *keys, const char *key)
{
    mishap_http_request request = { .caller_key = 5 };
    mishap_free(mishap_http_keys_check(keys, &request, mishap_text_of(key), MISHAP_KEY_OPTIONAL));
    return request.caller_key;
}

static void a_key_is_another_than_the_one_before_of_its_name(void **state)
{
    (void)state;
    char *old = add_key("deploy");
    mishap_http_keys *keys = open_keys();
    uint64_t before = number_of(keys, old);
    assert_true(before && number_of(keys, old) == before);
    assert_int_equal(number_of(keys, NULL), 0);
    assert_null(run(&mishap_keys_remove, "deploy", NULL));
    char *fresh = add_key("deploy");
    assert_null(mishap_http_keys_refresh(keys));
    assert_string_equal(caller_of(keys, fresh), "deploy");
    assert_true(number_of(keys, fresh) && number_of(keys, fresh) != before);
    assert_int_equal(number_of(keys, old), 0);
    mishap_http_keys_close(keys);
    free(old);
    free(fresh);
}

struct told {
    size_t count;
    uint64_t last;
};

static void hear(void *context, uint64_t key)
{
    struct told *told = context;
    told->count++;
    told->last = key;
}

static void keys_that_were_removed_are_told_of(void **state)
{
    (void)state;
    char *one = add_key("one"), *other = add_key("other");
    struct told told = { 0 };
    mishap_http_keys *keys = open_keys();
    uint64_t first = number_of(keys, one), second = number_of(keys, other);
    mishap_http_keys_watch(keys, hear, &told);
    free(add_key("third"));
    assert_null(mishap_http_keys_refresh(keys));
    assert_int_equal(told.count, 0);
    assert_null(run(&mishap_keys_remove, "one", NULL));
    free(add_key("one"));
    assert_null(mishap_http_keys_refresh(keys));
    assert_true(told.count == 1 && told.last == first);
    assert_null(mishap_http_keys_refresh(keys));
    assert_int_equal(told.count, 1);
    /* What became of those in a file that cannot be read is not known yet. */
    assert_null(run(&mishap_keys_remove, "other", NULL));
    int file = open(file_path, O_WRONLY | O_APPEND);
    assert_int_equal(write(file, "broken\n", 7), 7);
    close(file);
    mishap_free(mishap_http_keys_refresh(keys));
    assert_int_equal(told.count, 1);
    struct stat status;
    assert_int_equal(stat(file_path, &status), 0);
    assert_int_equal(truncate(file_path, status.st_size - 7), 0);
    assert_null(mishap_http_keys_refresh(keys));
    assert_true(told.count == 2 && told.last == second);
    unlink(file_path);
    assert_code(mishap_http_keys_refresh(keys), MISHAP_CODE_NOT_CONFIGURED);
    assert_int_equal(told.count, 4); /* all that were left */
    mishap_http_keys_close(keys);
    free(one);
    free(other);
}

static void what_has_not_changed_is_not_read(void **state)
{
    (void)state;
    char *key = add_key("deploy");
    mishap_use_allocator(&failing_allocator);
    blocks = 0;
    fail_at = 0;
    mishap_http_keys *keys = open_keys();
    calls = 0;
    for (int i = 0; i < 100; i++) {
        assert_null(mishap_http_keys_refresh(keys));
        assert_string_equal(caller_of(keys, key), "deploy");
    }
    assert_int_equal(calls, 0); /* nor does a request take memory */
    mishap_http_keys_close(keys);
    assert_int_equal(blocks, 0);
    mishap_use_allocator(NULL);
    free(key);
}

/* -- without memory ---------------------------------------------------------------------------- */

static void without_memory_keys_stay_as_they_were(void **state)
{
    (void)state;
    char lines[2][4000] = { "", "" };
    for (unsigned i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%u", i);
        put_key_line(lines[0] + strlen(lines[0]), 128, name, i + 1);
        snprintf(name, sizeof name, "m%u", i);
        if (i < 20)
            put_key_line(lines[1] + strlen(lines[1]), 128, name, i + 1);
    }
    mishap_use_allocator(&failing_allocator);
    for (int once = 0; once < 2; once++) {
        fail_once = once;
        for (size_t at = 1;; at++) {
            mishap_http_keys *keys = NULL;
            write_file(lines[0], strlen(lines[0]));
            blocks = 0;
            calls = 0;
            fail_at = at;
            mishap *m = mishap_http_keys_open(folder, NULL, &keys);
            if (m)
                assert_null(keys);
            mishap_free(m);
            if (keys) {
                write_file(lines[1], strlen(lines[1]));
                mishap_free(mishap_http_keys_refresh(keys));
                assert_true(mishap_http_keys_count(keys) == 30 ||
                            mishap_http_keys_count(keys) == 20);
            }
            mishap_http_keys_close(keys);
            assert_int_equal(blocks, 0);
            if (calls < at)
                break;
        }
    }
    fail_at = 0;
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_running_server_learns_of_changes),
        IN_FOLDER(once_there_was_a_key_none_is_not_open),
        IN_FOLDER(what_remembers_keys_belongs_to_the_owner_of_the_folder),
        IN_FOLDER(a_server_that_cannot_write_remembers_its_keys_itself),
        IN_FOLDER(keys_are_not_disabled_while_there_is_one),
        IN_FOLDER(a_file_says_that_keys_are_disabled_until_one_is_added),
        IN_FOLDER(a_change_shows_in_time_size_or_file),
        IN_FOLDER(while_the_file_is_broken_no_key_is_taken),
        IN_FOLDER(keys_can_be_made_before_they_can_be_read),
        IN_FOLDER(after_a_shortage_the_same_file_is_read),
        IN_FOLDER(a_key_is_another_than_the_one_before_of_its_name),
        IN_FOLDER(keys_that_were_removed_are_told_of),
        IN_FOLDER(what_has_not_changed_is_not_read),
        IN_FOLDER(without_memory_keys_stay_as_they_were),
    };
    return RUN(tests);
}
