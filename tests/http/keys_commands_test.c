/* API keys: the commands that add, list and remove them, and several that do so at once. */
#include "testing.h"

#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "keys_set_up.h"

/* -- commands ---------------------------------------------------------------------------------- */

static void the_commands_are_declared_soundly(void **state)
{
    (void)state;
    mishap *m = mishap_declaration_check(sample());
    if (m)
        fail_msg("%s", mishap_told(m)->message.data);
    assert_int_equal(mishap_operation_danger(&mishap_keys_list), MISHAP_SAFE);
    assert_int_equal(mishap_keys_add.danger, MISHAP_MUTATING);
    assert_int_equal(mishap_keys_remove.danger, MISHAP_DESTRUCTIVE);
    assert_int_equal(mishap_keys_disable.danger, MISHAP_MUTATING);
}

static void a_key_is_random_and_its_file_does_not_know_it(void **state)
{
    (void)state;
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    struct stat status;
    char *key = add_key("deploy"), *other = add_key("ci.nightly_2-b");
    assert_int_equal(strlen(key), MISHAP_KEY_LENGTH);
    assert_memory_equal(key, "mk_", 3);
    assert_int_equal(strspn(key + 3, letters), 43);
    assert_string_not_equal(key, other);
    char *text = read_file(file_path, NULL);
    assert_null(strstr(text, key + 3));
    assert_null(strstr(text, other + 3));
    assert_int_equal(text[0], '#');
    assert_int_equal(stat(file_path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    free(text);
    free(other);
    free(key);
}

/* The last character has only four bits of the key; the rest must be those of all 32 bytes. */
static void a_key_has_all_its_bits(void **state)
{
    (void)state;
    unsigned seen[43][64] = { { 0 } };
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        char *key = add_key(name);
        for (int at = 0; at < 43; at++)
            seen[at][strchr(letters, key[3 + at]) - letters]++;
        free(key);
    }
    for (int at = 0; at < 43; at++) {
        int different = 0;
        for (int letter = 0; letter < 64; letter++)
            different += seen[at][letter] > 0;
        assert_in_range(different, at == 42 ? 16 : 55, at == 42 ? 16 : 64);
    }
}

static void the_hash_is_that_of_the_standard(void **state)
{
    (void)state;
    static const unsigned char of_abc[] = {
        0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
        0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
        0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
    };
    unsigned char hash[MISHAP_KEY_HASH];
    mishap_key_hash(T("abc"), hash);
    assert_memory_equal(hash, of_abc, sizeof hash);
}

static void a_name_is_taken_only_once(void **state)
{
    (void)state;
    free(add_key("deploy"));
    char *before = read_file(file_path, NULL);
    mishap *m = run(&mishap_keys_add, "deploy", NULL);
    assert_string_equal(mishap_told(m)->message.data, "A key named deploy already exists.");
    assert_code(m, MISHAP_CODE_ALREADY_EXISTS);
    char *after = read_file(file_path, NULL);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void names_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "-a",        ".a",
        "_a",        "A",
        "a b",       "a/b",
        "a\\n",      "\\u00e9",
        "a\\u0000b", "a123456789012345678901234567890123456789012345678901234567890123",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_code(run(&mishap_keys_add, names[i], NULL), MISHAP_CODE_VALIDATION_ERROR);
        assert_code(run(&mishap_keys_remove, names[i], NULL), MISHAP_CODE_VALIDATION_ERROR);
    }
    assert_code(run(&mishap_keys_add, NULL, NULL), MISHAP_CODE_VALIDATION_ERROR);
    assert_int_equal(access(file_path, F_OK), -1);
    free(add_key("a12345678901234567890123456789012345678901234567890123456789012"));
    mishap_http_keys_close(open_keys()); /* the file takes the names that the command takes */
}

static void the_list_has_names_and_times(void **state)
{
    (void)state;
    char *answer;
    assert_null(run(&mishap_keys_list, NULL, &answer));
    assert_string_equal(answer, "{\"keys\":[]}");
    free(answer);
    static const char text[] =
        "# two keys\n\n"
        "zoe 00000000000000000000000000000000000000000000000000000000000000ff "
        "2026-02-09T10:20:30.123Z metrics,operator\n"
        "adam 0000000000000000000000000000000000000000000000000000000000000001 "
        "2025-01-01T00:00:00.000Z"; /* no line feed */
    write_file(text, sizeof text - 1);
    assert_null(run(&mishap_keys_list, NULL, &answer));
    assert_string_equal(answer,
                        "{\"keys\":[{\"name\":\"adam\",\"created\":\"2025-01-01T00:00:00.000Z\","
                        "\"scopes\":\"call,metrics\"},{\"name\":\"zoe\","
                        "\"created\":\"2026-02-09T10:20:30.123Z\","
                        "\"scopes\":\"metrics,operator\"}]}");
    free(answer);
}

static void removing_leaves_all_other_lines_as_they_are(void **state)
{
    (void)state;
    char a[128], b[128], c[128], text[600];
    put_key_line(a, sizeof a, "a", 1);
    put_key_line(b, sizeof b, "b", 2);
    put_key_line(c, sizeof c, "c", 3);
    snprintf(text, sizeof text, "# first\n%s\n# second\n%s%s", a, b, c);
    write_file(text, strlen(text));
    assert_code(run(&mishap_keys_remove, "d", NULL), MISHAP_CODE_NOT_FOUND);
    assert_int_equal(access(lock_path, F_OK), -1);
    char *answer;
    assert_null(run(&mishap_keys_remove, "b", &answer));
    assert_string_equal(answer, "{\"name\":\"b\",\"removed\":true}");
    free(answer);
    snprintf(text, sizeof text, "# first\n%s\n# second\n%s", a, c);
    char *after = read_file(file_path, NULL);
    assert_string_equal(after, text);
    free(after);
    assert_code(run(&mishap_keys_remove, "b", NULL), MISHAP_CODE_NOT_FOUND);
}

static void a_file_without_a_line_feed_is_added_to(void **state)
{
    (void)state;
    char line[128];
    put_key_line(line, sizeof line, "a", 1);
    write_file(line, strlen(line) - 1);
    free(add_key("b"));
    mishap_http_keys *keys = open_keys();
    assert_int_equal(mishap_http_keys_count(keys), 2);
    mishap_http_keys_close(keys);
}

static void the_folder_is_made_and_found_by_default(void **state)
{
    (void)state;
    char home[100], path[160];
    mishap_call *call;
    struct stat status;
    snprintf(home, sizeof home, "%s/share", folder);
    setenv("XDG_DATA_HOME", home, 1);
    assert_null(mishap_call_begin(sample(), &mishap_keys_add, T("{\"name\":\"a\"}"), &call));
    assert_null(mishap_call_run(call));
    mishap_call_end(call);
    snprintf(path, sizeof path, "%s/sample", home);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    snprintf(path, sizeof path, "%s/sample/keys", home);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/sample/keys.lock", home);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/sample", home);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(home), 0);
    unsetenv("XDG_DATA_HOME");
}

static void what_the_system_refuses_is_told_with_its_reason(void **state)
{
    (void)state;
    /* The file of the keys is a folder: it can be neither read nor replaced. */
    assert_int_equal(mkdir(file_path, 0700), 0);
    mishap *m = run(&mishap_keys_list, NULL, NULL);
    assert_string_equal(mishap_told(m)->cause.data, "Is a directory (EISDIR)");
    assert_string_equal(mishap_told(m)->context->value.text.data, file_path); /* as --data said */
    assert_code(m, MISHAP_CODE_INPUT_UNREADABLE);
    mishap_http_keys *keys;
    mishap_buffer account = { 0 };
    m = mishap_http_keys_open(folder, NULL, &keys);
    mishap_account(m, &account);
    assert_non_null(memmem(account.data, account.length, file_path, strlen(file_path)));
    mishap_buffer_release(&account);
    assert_code(m, MISHAP_CODE_INPUT_UNREADABLE);
    rmdir(file_path);
    /* The lock is a folder. */
    assert_int_equal(mkdir(lock_path, 0700), 0);
    m = run(&mishap_keys_add, "a", NULL);
    assert_string_equal(mishap_told(m)->cause.data, "Is a directory (EISDIR)");
    assert_code(m, MISHAP_CODE_OUTPUT_FAILED);
    rmdir(lock_path);
    /* The folder is a file. */
    write_file("", 0);
    size_t length = strlen(folder);
    memcpy(folder + length, "/keys", 6);
    m = run(&mishap_keys_add, "a", NULL);
    folder[length] = '\0';
    assert_code(m, MISHAP_CODE_OUTPUT_FAILED);
}

/* A limit on the size of files stops a write, as a full disk does. */
static void a_full_disk_leaves_the_keys_as_they_were(void **state)
{
    (void)state;
    struct rlimit old, small = { 100, 0 };
    free(add_key("deploy"));
    char *before = read_file(file_path, NULL);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    mishap *m = run(&mishap_keys_add, "more", NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_string_equal(mishap_told(m)->cause.data, "File too large (EFBIG)");
    assert_code(m, MISHAP_CODE_OUTPUT_FAILED);
    char *after = read_file(file_path, NULL);
    assert_string_equal(after, before);
    free(before);
    free(after);
}

static void a_path_that_nobody_named_stays_private(void **state)
{
    (void)state;
    mishap_http_keys *keys;
    write_file("nonsense\n", 9);
    mishap *m = mishap_http_keys_open(folder, NULL, &keys);
    assert_null(keys);
    char *public = rendered(mishap_dialect_find("canonical"), m);
    mishap_buffer account = { 0 };
    mishap_account(m, &account);
    mishap_buffer_put_char(&account, '\0');
    assert_null(strstr(public, folder));
    assert_non_null(strstr(account.data, file_path));
    mishap_buffer_release(&account);
    free(public);
    assert_code(m, MISHAP_CODE_NOT_CONFIGURED);
}

static void two_who_add_at_once_lose_nothing(void **state)
{
    (void)state;
    enum { PROCESSES = 4, KEYS = 25 };
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            for (int k = 0; k < KEYS; k++) {
                char name[32];
                snprintf(name, sizeof name, "p%d-%d", i, k);
                free(add_key(name));
                if (k % 5 == 4)
                    mishap_free(run(&mishap_keys_remove, name, NULL));
                usleep(20000); /* so the others have turns: each waits for ten seconds at most */
            }
            _exit(0);
        }
    }
    for (int i = 0, status; i < PROCESSES; i++) {
        wait(&status);
        assert_int_equal(status, 0);
    }
    mishap_http_keys *keys = open_keys();
    assert_int_equal(mishap_http_keys_count(keys), PROCESSES * (KEYS - KEYS / 5));
    mishap_http_keys_close(keys);
}

static void who_holds_the_lock_is_waited_for(void **state)
{
    (void)state;
    int lock = open(lock_path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    pid_t child = fork();
    if (child == 0) {
        close(lock); /* it is one lock for both until both have closed it */
        free(add_key("late"));
        _exit(0);
    }
    usleep(100000);
    assert_int_equal(access(file_path, F_OK), -1);
    close(lock);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(access(file_path, F_OK), 0);
}

/* -- keys that are gone ------------------------------------------------------------------------ */

static void a_new_file_is_as_the_old_one(void **state)
{
    (void)state;
    struct stat status;
    free(add_key("first"));
    assert_int_equal(stat(file_path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(chown(file_path, 12345, 54321), 0);
    assert_int_equal(chmod(file_path, 0640), 0);
    free(add_key("second"));
    assert_int_equal(stat(file_path, &status), 0);
    assert_int_equal(status.st_uid, root ? 12345 : geteuid());
    assert_int_equal(status.st_gid, root ? 54321 : getegid());
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_null(run(&mishap_keys_remove, "second", NULL));
    assert_int_equal(stat(file_path, &status), 0);
    assert_int_equal(status.st_uid, root ? 12345 : geteuid());
    assert_int_equal(status.st_mode & 0777, 0640);
}

/* -- without memory ---------------------------------------------------------------------------- */

static void without_memory_a_command_does_all_or_nothing(void **state)
{
    (void)state;
    static const mishap_operation *const operations[] = { &mishap_keys_add, &mishap_keys_list,
                                                          &mishap_keys_remove };
    free(add_key("there"));
    char *text = read_file(file_path, NULL);
    size_t length = strlen(text);
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < 3; i++) {
        fail_once = false;
        for (size_t at = 1;; at++) {
            write_file(text, length);
            calls = 0;
            blocks = 0;
            fail_at = at;
            mishap *m = run(operations[i], i == 0 ? "more" : i == 1 ? NULL : "there", NULL);
            bool done = calls < at;
            assert_true(done == !m || !done);
            mishap_free(m);
            assert_int_equal(blocks, 0);
            fail_at = 0;
            char *left = read_file(file_path, NULL);
            assert_memory_equal(left, "# API keys", 10);
            free(left);
            mishap_http_keys *keys = open_keys();
            assert_in_range(mishap_http_keys_count(keys), i == 2 ? 0 : 1, i == 0 ? 2 : 1);
            mishap_http_keys_close(keys);
            if (done)
                break;
        }
    }
    mishap_use_allocator(NULL);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_commands_are_declared_soundly),
        IN_FOLDER(a_key_is_random_and_its_file_does_not_know_it),
        IN_FOLDER(a_key_has_all_its_bits),
        TEST(the_hash_is_that_of_the_standard),
        IN_FOLDER(a_name_is_taken_only_once),
        IN_FOLDER(names_that_are_none_are_refused),
        IN_FOLDER(the_list_has_names_and_times),
        IN_FOLDER(removing_leaves_all_other_lines_as_they_are),
        IN_FOLDER(a_file_without_a_line_feed_is_added_to),
        IN_FOLDER(the_folder_is_made_and_found_by_default),
        IN_FOLDER(what_the_system_refuses_is_told_with_its_reason),
        IN_FOLDER(a_full_disk_leaves_the_keys_as_they_were),
        IN_FOLDER(a_path_that_nobody_named_stays_private),
        IN_FOLDER(two_who_add_at_once_lose_nothing),
        IN_FOLDER(who_holds_the_lock_is_waited_for),
        IN_FOLDER(a_new_file_is_as_the_old_one),
        IN_FOLDER(without_memory_a_command_does_all_or_nothing),
    };
    return RUN(tests);
}
