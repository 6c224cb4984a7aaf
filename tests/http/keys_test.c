/* API keys: what is in their file, and who a request comes from. */
#include "testing.h"

#include "keys_set_up.h"

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
        mishap *m = mishap_http_keys_open(folder, NULL, &keys);
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
    mishap *m = mishap_http_keys_open(folder, NULL, &keys);
    assert_string_equal(mishap_told(m)->message.data,
                        "Line 3 of the file `keys` has the same name as another line.");
    assert_code(m, MISHAP_CODE_NOT_CONFIGURED);
    write_file(twice, sizeof twice - 1);
    m = mishap_http_keys_open(folder, NULL, &keys);
    assert_string_equal(mishap_told(m)->message.data,
                        "Line 2 of the file `keys` has the same key as another line.");
    assert_code(m, MISHAP_CODE_NOT_CONFIGURED);
}

static void what_is_no_file_is_not_waited_for(void **state)
{
    (void)state;
    mishap_http_keys *keys;
    assert_int_equal(mkfifo(file_path, 0600), 0);
    assert_code(mishap_http_keys_open(folder, NULL, &keys), MISHAP_CODE_INPUT_UNREADABLE);
}

static void a_file_of_endless_length_is_refused(void **state)
{
    (void)state;
    mishap_http_keys *keys;
    write_file("", 0);
    assert_int_equal(truncate(file_path, (off_t)1 << 40), 0);
    assert_code(mishap_http_keys_open(folder, NULL, &keys), MISHAP_CODE_NOT_CONFIGURED);
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
    /* Another scheme is not for this server, but for a proxy in front, for example. */
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
        mishap *m = mishap_http_keys_check(keys, &request, own, MISHAP_KEY_REQUIRED);
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

/* -- keys that are gone ------------------------------------------------------------------------ */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_line_that_is_no_key_is_named_but_not_shown),
        IN_FOLDER(a_name_or_a_key_twice_is_a_mistake),
        IN_FOLDER(what_is_no_file_is_not_waited_for),
        IN_FOLDER(a_file_of_endless_length_is_refused),
        IN_FOLDER(a_key_stands_for_its_name),
        IN_FOLDER(what_is_no_key_is_refused),
        IN_FOLDER(a_key_is_given_in_either_field),
        IN_FOLDER(without_a_key_it_depends),
        IN_FOLDER(a_refusal_never_has_the_key_in_it),
        IN_FOLDER(a_file_that_others_may_read_is_warned_of),
        IN_FOLDER(ten_thousand_keys_are_found),
        IN_FOLDER(hashes_that_begin_alike_are_told_apart),
    };
    return RUN(tests);
}
