/* API keys: the file and those who change it, and who a request comes from. */
#include "http/keys.h"
#include "operation/call.h"
#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const mishap_app *sample(void)
{
    static mishap_operation operations[5];
    static const mishap_app app = { .name = "sample", .operations = operations };
    operations[0] = mishap_keys_add;
    operations[1] = mishap_keys_list;
    operations[2] = mishap_keys_remove;
    operations[3] = mishap_keys_disable;
    return &app;
}

/* -- helpers ----------------------------------------------------------------------------------- */

static char folder[64], file_path[80], lock_path[80];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/mishap-keys-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(file_path, sizeof file_path, "%s/keys", folder);
    snprintf(lock_path, sizeof lock_path, "%s/keys.lock", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(file_path);
    unlink(lock_path);
    return rmdir(folder); /* which fails if anything else was left in it */
}

static void write_file(const char *text, size_t length)
{
    FILE *file = fopen(file_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* Run a command with --data, and --name unless it is NULL. The answer is left in *answer, to be
 * freed, if it worked. */
static mishap *run(const mishap_operation *operation, const char *name, char **answer)
{
    char arguments[400];
    mishap_call *call;
    mishap_answer_kind kind;
    if (answer)
        *answer = NULL;
    if (name)
        snprintf(arguments, sizeof arguments, "{\"data\":\"%s\",\"name\":\"%s\"}", folder, name);
    else
        snprintf(arguments, sizeof arguments, "{\"data\":\"%s\"}", folder);
    mishap *failure = mishap_call_begin(sample(), operation, mishap_text_of(arguments), &call);
    if (failure)
        return failure;
    failure = mishap_call_run(call);
    if (!failure && answer) {
        mishap_text text = mishap_call_answer(call, &kind);
        assert_true(asprintf(answer, "%.*s", (int)text.length, text.data) >= 0);
    }
    mishap_call_end(call);
    return failure;
}

/* Make a key; free() it. */
static char *add_key(const char *name)
{
    char *answer;
    mishap *failure = run(&mishap_keys_add, name, &answer);
    if (failure)
        fail_msg("%s", rendered(mishap_dialect_find("http-api"), failure));
    yyjson_doc *document = yyjson_read(answer, strlen(answer), 0);
    yyjson_val *root = yyjson_doc_get_root(document);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(root, "name")), name);
    assert_non_null(yyjson_get_str(yyjson_obj_get(root, "note")));
    char *key = strdup(yyjson_get_str(yyjson_obj_get(root, "key")));
    yyjson_doc_free(document);
    free(answer);
    return key;
}

static void assert_code(mishap *m, const mishap_code *code)
{
    assert_non_null(m);
    if (mishap_told(m)->code != code) {
        mishap_buffer account = { 0 };
        mishap_account(m, &account);
        fail_msg("%.*s", (int)account.length, account.data);
    }
    mishap_free(m);
}

static mishap_http_keys *open_keys(void)
{
    mishap_http_keys *keys;
    mishap *failure = mishap_http_keys_open(folder, &keys);
    if (failure)
        fail_msg("%s", rendered(mishap_dialect_find("http-api"), failure));
    return keys;
}

/* The name that stands for a key; NULL if it is refused. */
static const char *caller_of(const mishap_http_keys *keys, const char *key)
{
    mishap_http_request request = { .caller = "somebody" };
    mishap *m = mishap_http_keys_check(keys, &request, mishap_text_of(key), true);
    if (m) {
        assert_null(request.caller);
        assert_code(m, MISHAP_CODE_UNAUTHORIZED);
    }
    return request.caller;
}

/* A line of the file that is as good as any. */
static void put_key_line(char *line, size_t size, const char *name, unsigned number)
{
    snprintf(line, size, "%s %064x 2026-02-09T10:20:30.123Z\n", name, number);
}

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
        "2026-02-09T10:20:30.123Z\n"
        "adam 0000000000000000000000000000000000000000000000000000000000000001 "
        "2025-01-01T00:00:00.000Z"; /* no line feed */
    write_file(text, sizeof text - 1);
    assert_null(run(&mishap_keys_list, NULL, &answer));
    assert_string_equal(answer,
                        "{\"keys\":[{\"name\":\"adam\",\"created\":\"2025-01-01T00:00:00.000Z\"},"
                        "{\"name\":\"zoe\",\"created\":\"2026-02-09T10:20:30.123Z\"}]}");
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
    m = mishap_http_keys_open(folder, &keys);
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
    mishap *m = mishap_http_keys_open(folder, &keys);
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

/* -- the file ---------------------------------------------------------------------------------- */

static void a_line_that_is_no_key_is_named_but_not_shown(void **state)
{
    (void)state;
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TIME "2026-02-09T10:20:30.123Z"
    static const mishap_text lines[] = {
        MISHAP_TEXT("a"),
        MISHAP_TEXT("mk_0123456789012345678901234567890123456789012"),
        MISHAP_TEXT("a " HASH),
        MISHAP_TEXT("a " HASH " "),
        MISHAP_TEXT(" " HASH " " TIME),
        MISHAP_TEXT("a  " HASH " " TIME),
        MISHAP_TEXT("a " HASH " " TIME " "),
        MISHAP_TEXT("a " HASH " " TIME "\r"),
        MISHAP_TEXT("a\t" HASH " " TIME),
        MISHAP_TEXT("a " HASH "\t" TIME),
        MISHAP_TEXT("A " HASH " " TIME),
        MISHAP_TEXT("-a " HASH " " TIME),
        MISHAP_TEXT("a\0b " HASH " " TIME),
        MISHAP_TEXT("a 0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef " TIME),
        MISHAP_TEXT("a g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef " TIME),
        MISHAP_TEXT("a " HASH " 2026-02-09 10:20:30.123Z"),
        MISHAP_TEXT("a " HASH " 2026-02-09T10:20:30.12xZ"),
        MISHAP_TEXT(" "),
        MISHAP_TEXT(" # no comment"),
        MISHAP_TEXT("\xff\xfe"),
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[1000] = "# fine\n\nfine ffffffffffffffffffffffffffffffffffffffffffffffffff"
                          "ffffffffffffff " TIME "\n";
        size_t length = strlen(text);
        memcpy(text + length, lines[i].data, lines[i].length);
        length += lines[i].length;
        write_file(text, length);
        mishap_http_keys *keys;
        mishap *m = mishap_http_keys_open(folder, &keys);
        assert_null(keys);
        assert_non_null(m);
        assert_string_equal(mishap_told(m)->message.data,
                            "Line 4 of the file `keys` is not a key.");
        mishap_buffer account = { 0 };
        mishap_account(m, &account);
        if (lines[i].length > 20)
            assert_null(memmem(account.data, account.length, lines[i].data + 3, 16));
        mishap_buffer_release(&account);
        assert_code(m, MISHAP_CODE_NOT_CONFIGURED);
    }
}

static void a_name_or_a_key_twice_is_a_mistake(void **state)
{
    (void)state;
    static const char twice[] = "b " HASH " " TIME "\na " HASH " " TIME "\n";
    mishap_http_keys *keys;
    char lines[3][128], text[400];
    put_key_line(lines[0], sizeof lines[0], "same", 1);
    put_key_line(lines[1], sizeof lines[1], "other", 2);
    put_key_line(lines[2], sizeof lines[2], "same", 3);
    snprintf(text, sizeof text, "%s%s%s", lines[0], lines[1], lines[2]);
    write_file(text, strlen(text));
    mishap *m = mishap_http_keys_open(folder, &keys);
    assert_string_equal(mishap_told(m)->message.data,
                        "Line 3 of the file `keys` has the same name as another line.");
    assert_code(m, MISHAP_CODE_NOT_CONFIGURED);
    write_file(twice, sizeof twice - 1);
    m = mishap_http_keys_open(folder, &keys);
    assert_string_equal(mishap_told(m)->message.data,
                        "Line 2 of the file `keys` has the same key as another line.");
    assert_code(m, MISHAP_CODE_NOT_CONFIGURED);
}

static void what_is_no_file_is_not_waited_for(void **state)
{
    (void)state;
    mishap_http_keys *keys;
    assert_int_equal(mkfifo(file_path, 0600), 0);
    assert_code(mishap_http_keys_open(folder, &keys), MISHAP_CODE_INPUT_UNREADABLE);
}

static void a_file_of_endless_length_is_refused(void **state)
{
    (void)state;
    mishap_http_keys *keys;
    write_file("", 0);
    assert_int_equal(truncate(file_path, (off_t)1 << 40), 0);
    assert_code(mishap_http_keys_open(folder, &keys), MISHAP_CODE_NOT_CONFIGURED);
}

/* -- who calls --------------------------------------------------------------------------------- */

static void a_key_stands_for_its_name(void **state)
{
    (void)state;
    char *a = add_key("a"), *b = add_key("b");
    mishap_http_keys *keys = open_keys();
    assert_int_equal(mishap_http_keys_count(keys), 2);
    assert_string_equal(caller_of(keys, a), "a");
    assert_string_equal(caller_of(keys, b), "b");
    a[20] = a[20] == 'A' ? 'B' : 'A';
    assert_null(caller_of(keys, a));
    mishap_http_keys_close(keys);
    free(a);
    free(b);
}

static void what_is_no_key_is_refused(void **state)
{
    (void)state;
    static const char *const others[] = {
        "",
        " ",
        "mk_",
        "deploy",
        "mk_0123456789012345678901234567890123456789012x",
        "mk_012345678901234567890123456789012345678901 ",
        "MK_0123456789012345678901234567890123456789012",
        "mk_01234567890123456789012345678901234567890=2",
        HASH,
    };
    char *key = add_key("deploy"), longer[64];
    mishap_http_keys *keys = open_keys();
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(caller_of(keys, others[i]));
    snprintf(longer, sizeof longer, "%sA", key);
    assert_null(caller_of(keys, longer));
    key[MISHAP_KEY_LENGTH - 1] = '\0';
    assert_null(caller_of(keys, key));
    mishap_http_keys_close(keys);
    free(key);
}

/* Check a request with these two fields. */
static const char *caller_with(const mishap_http_keys *keys, const char *authorization,
                               const char *own, bool required, const mishap_code *code)
{
    mishap_http_request request = { .caller = "of the request before" };
    request.fields[MISHAP_HTTP_AUTHORIZATION] = mishap_text_of(authorization);
    mishap *m = mishap_http_keys_check(keys, &request, mishap_text_of(own), required);
    if (code)
        assert_code(m, code);
    else
        assert_null(m);
    return request.caller;
}

static void a_key_is_given_in_either_field(void **state)
{
    (void)state;
    char *key = add_key("deploy"), *other = add_key("other"), bearer[80];
    mishap_http_keys *keys = open_keys();
    static const char *const schemes[] = { "Bearer ", "bearer ", "BEARER    " };
    for (size_t i = 0; i < 3; i++) {
        snprintf(bearer, sizeof bearer, "%s%s", schemes[i], key);
        assert_string_equal(caller_with(keys, bearer, NULL, true, NULL), "deploy");
        assert_string_equal(caller_with(keys, bearer, key, true, NULL), "deploy");
        assert_null(caller_with(keys, bearer, other, false, MISHAP_CODE_UNAUTHORIZED));
        assert_null(caller_with(keys, bearer, "", false, MISHAP_CODE_UNAUTHORIZED));
    }
    assert_string_equal(caller_with(keys, NULL, key, false, NULL), "deploy");
    assert_null(caller_with(keys, "Bearer", NULL, false, MISHAP_CODE_UNAUTHORIZED));
    assert_null(caller_with(keys, "Bearer ", NULL, false, MISHAP_CODE_UNAUTHORIZED));
    assert_null(caller_with(keys, "Bearer x", NULL, false, MISHAP_CODE_UNAUTHORIZED));
    snprintf(bearer, sizeof bearer, "Bearer\t%s", key);
    assert_null(caller_with(keys, bearer, NULL, true, MISHAP_CODE_AUTH_REQUIRED));
    mishap_http_keys_close(keys);
    free(key);
    free(other);
}

static void without_a_key_it_depends(void **state)
{
    (void)state;
    char *key = add_key("deploy"), basic[80];
    mishap_http_keys *keys = open_keys();
    assert_null(caller_with(keys, NULL, NULL, true, MISHAP_CODE_AUTH_REQUIRED));
    assert_null(caller_with(keys, NULL, NULL, false, NULL));
    /* Another scheme is for somebody else, such as a proxy in front. */
    snprintf(basic, sizeof basic, "Basic %s", key);
    assert_null(caller_with(keys, basic, NULL, true, MISHAP_CODE_AUTH_REQUIRED));
    assert_null(caller_with(keys, basic, NULL, false, NULL));
    assert_null(caller_with(keys, "Bearertoken", NULL, false, NULL));
    assert_string_equal(caller_with(keys, basic, key, true, NULL), "deploy");
    mishap_http_keys_close(keys);
    free(key);
}

static void a_refusal_never_has_the_key_in_it(void **state)
{
    (void)state;
    char *key = add_key("deploy"), bearer[80];
    mishap_http_keys *keys = open_keys();
    assert_null(run(&mishap_keys_remove, "deploy", NULL));
    assert_code(mishap_http_keys_refresh(keys), MISHAP_CODE_NOT_CONFIGURED);
    snprintf(bearer, sizeof bearer, "Bearer %s", key);
    for (int both = 0; both < 2; both++) {
        mishap_http_request request = { 0 };
        request.fields[MISHAP_HTTP_AUTHORIZATION] = mishap_text_of(bearer);
        mishap_text own = mishap_text_of(both ? "mk_another" : NULL);
        mishap *m = mishap_http_keys_check(keys, &request, own, true);
        mishap_buffer account = { 0 };
        mishap_account(m, &account);
        mishap_buffer_put_char(&account, '\0');
        assert_null(strstr(account.data, "mk_"));
        assert_null(strstr(account.data, key + 3));
        assert_int_equal(mishap_told(m)->code->http_status, 401);
        mishap_buffer_release(&account);
        mishap_free(m);
    }
    mishap_http_keys_close(keys);
    free(key);
}

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
    assert_null(mishap_http_keys_make(folder, &keys));
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
    mishap_free(mishap_http_keys_check(keys, &request, mishap_text_of(key), false));
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

static void a_file_that_others_may_read_is_warned_of(void **state)
{
    (void)state;
    char line[200] = "";
    assert_false(mishap_key_file_advise(folder, file_path, "keys", line, sizeof line));
    free(add_key("deploy"));
    assert_false(mishap_key_file_advise(folder, file_path, "keys", line, sizeof line));
    static const mode_t open_modes[] = { 0640, 0604, 0620, 0644, 0601 };
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        assert_int_equal(chmod(file_path, open_modes[i]), 0);
        assert_true(mishap_key_file_advise(folder, file_path, "keys", line, sizeof line));
        assert_non_null(strstr(line, "`chmod 600 keys`"));
        assert_null(strchr(line, '\n'));
    }
    assert_int_equal(chmod(file_path, 0400), 0);
    assert_false(mishap_key_file_advise(folder, file_path, "keys", line, sizeof line));
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(file_path, 12345, 54321), 0);
    assert_true(mishap_key_file_advise(folder, file_path, "keys", line, sizeof line));
    assert_non_null(strstr(line, "another user"));
    assert_int_equal(chown(folder, 12345, 54321), 0); /* whose server it is then */
    assert_false(mishap_key_file_advise(folder, file_path, "keys", line, sizeof line));
}

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

static void ten_thousand_keys_are_found(void **state)
{
    (void)state;
    enum { KEYS = 10000 };
    mishap_buffer text = { 0 };
    char key[MISHAP_KEY_LENGTH + 1], line[200];
    for (int i = 0; i < KEYS; i++) {
        unsigned char hash[MISHAP_KEY_HASH];
        char hex[2 * MISHAP_KEY_HASH + 1];
        snprintf(key, sizeof key, "mk_%043d", i);
        mishap_key_hash(mishap_text_of(key), hash);
        for (int h = 0; h < MISHAP_KEY_HASH; h++)
            snprintf(hex + 2 * h, 3, "%02x", hash[h]);
        snprintf(line, sizeof line, "n%d %s " TIME "\n", i, hex);
        mishap_buffer_put_text(&text, mishap_text_of(line));
    }
    write_file(text.data, text.length);
    mishap_buffer_release(&text);
    mishap_http_keys *keys = open_keys();
    assert_int_equal(mishap_http_keys_count(keys), KEYS);
    for (int i = 0; i < KEYS + 100; i++) {
        snprintf(key, sizeof key, "mk_%043d", i);
        snprintf(line, sizeof line, "n%d", i);
        const char *name = i < KEYS || i % 10 == 0 ? caller_of(keys, key) : NULL;
        if (i < KEYS)
            assert_string_equal(name, line);
        else
            assert_null(name);
    }
    char *more = add_key("one-more");
    assert_null(mishap_http_keys_refresh(keys));
    assert_int_equal(mishap_http_keys_count(keys), KEYS + 1);
    assert_string_equal(caller_of(keys, more), "one-more");
    mishap_http_keys_close(keys);
    free(more);
}

/* Two hashes whose first eight bytes are the same are still two. */
static void hashes_that_begin_alike_are_told_apart(void **state)
{
    (void)state;
    unsigned char hash[MISHAP_KEY_HASH];
    char text[1000] = "", hex[2 * MISHAP_KEY_HASH + 1], key[MISHAP_KEY_LENGTH + 1];
    snprintf(key, sizeof key, "mk_%043d", 7);
    mishap_key_hash(mishap_text_of(key), hash);
    for (int h = 0; h < MISHAP_KEY_HASH; h++)
        snprintf(hex + 2 * h, 3, "%02x", hash[h]);
    for (int i = 0; i < 5; i++) {
        char other[sizeof hex];
        memcpy(other, hex, sizeof hex);
        if (i != 2)
            other[40] = "01-ef"[i];
        snprintf(text + strlen(text), sizeof text - strlen(text), "n%d %s " TIME "\n", i, other);
    }
    write_file(text, strlen(text));
    mishap_http_keys *keys = open_keys();
    assert_string_equal(caller_of(keys, key), "n2");
    mishap_http_keys_close(keys);
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
            mishap *m = mishap_http_keys_open(folder, &keys);
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

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

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
        IN_FOLDER(a_line_that_is_no_key_is_named_but_not_shown),
        IN_FOLDER(a_name_or_a_key_twice_is_a_mistake),
        IN_FOLDER(what_is_no_file_is_not_waited_for),
        IN_FOLDER(a_file_of_endless_length_is_refused),
        IN_FOLDER(a_key_stands_for_its_name),
        IN_FOLDER(what_is_no_key_is_refused),
        IN_FOLDER(a_key_is_given_in_either_field),
        IN_FOLDER(without_a_key_it_depends),
        IN_FOLDER(a_refusal_never_has_the_key_in_it),
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
        IN_FOLDER(a_new_file_is_as_the_old_one),
        IN_FOLDER(a_key_is_another_than_the_one_before_of_its_name),
        IN_FOLDER(keys_that_were_removed_are_told_of),
        IN_FOLDER(a_file_that_others_may_read_is_warned_of),
        IN_FOLDER(what_has_not_changed_is_not_read),
        IN_FOLDER(ten_thousand_keys_are_found),
        IN_FOLDER(hashes_that_begin_alike_are_told_apart),
        IN_FOLDER(without_memory_keys_stay_as_they_were),
        IN_FOLDER(without_memory_a_command_does_all_or_nothing),
    };
    return RUN(tests);
}
