/* src/guard: the look of a secret, of a password in an address, of a stack trace. */
#include "testing.h"

#include <time.h>

#include "base/base.h"
#include "guard/guard.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_text(mishap_text text, const char *expected)
{
    assert_non_null(text.data);
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.data, expected, text.length);
}

/* -- names of secrets -------------------------------------------------------------------------- */

static void names_that_speak_of_a_secret_are_known(void **state)
{
    (void)state;
    static const char *const names[] = {
        "password",
        "Password",
        "PASSWORD",
        "user_password",
        "db-password",
        "user.password",
        "newPassword",
        "password2",
        "passwords[3].password",
        "accounts[0].password[1]",
        "pass_word",
        "passwd",
        "mysql_passwd",
        "passphrase",
        "ssh-passphrase",
        "secret",
        "client_secret",
        "clientSecret",
        "token",
        "Token",
        "access_token",
        "accessToken",
        "X-Auth-Token",
        "refreshToken",
        "id_token",
        "csrf-token",
        "token ",
        "token\xC3\xA9",
        "api_key",
        "apiKey",
        "APIKEY",
        "api-key",
        "x-api-key",
        "API Key",
        "private_key",
        "privateKey",
        "access_key",
        "secret_access_key",
        "Authorization",
        "authorization",
        "Proxy-Authorization",
        "credential",
        "credentials",
        "aws_credentials",
        "cookie",
        "Set-Cookie",
        "cookies",
        "passwords",
        "oldPasswords",
        "passphrases",
        "secrets",
        "client-secrets",
        "api_keys",
        "apiKeys",
        "private_keys",
        "ACCESS_KEYS",
        "tokens",
        "accessTokens",
        "refresh_tokens",
        "oauth-tokens",
        "tokens[2]",
    };
    for (size_t i = 0; i < COUNT(names); i++)
        if (!mishap_guard_secret_name(mishap_text_of(names[i])))
            fail_msg("%s is a secret", names[i]);
}

static void names_that_only_sound_like_a_secret_are_not(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",
        "a",
        "name",
        "id",
        "key",
        "keys",
        "monkey",
        "primary_key",
        "foreign_key",
        "public_key",
        "sort_key",
        "api_key_id",
        "max_tokens",
        "maxTokens",
        "total_tokens",
        "prompt_tokens",
        "cache_read_input_tokens",
        "tokens_used",
        "TokensPerMinute",
        "token_count",
        "token_type",
        "tokenizer",
        "expected_tokens",
        "passwordless",
        "password_length",
        "min_password_length",
        "password_changed_at",
        "compass",
        "pass",
        "passed",
        "bypass",
        "secretary",
        "secretaries",
        "roles",
        "articles",
        "fields",
        "words",
        "notes",
        "public_keys",
        "foreign_keys",
        "compasses",
        "secrets_found",
        "author",
        "authorized",
        "authorization_url",
        "cookie_policy",
        "cookies_enabled",
        "username",
        "email",
        "broken",
        "spoken",
        "taken",
        "toke",
        "oken",
        "12345",
        "_____",
        "\xC3\xA9\xC3\xA9\xC3\xA9",
    };
    for (size_t i = 0; i < COUNT(names); i++)
        if (mishap_guard_secret_name(mishap_text_of(names[i])))
            fail_msg("%s is no secret", names[i]);
    assert_false(mishap_guard_secret_name((mishap_text){ NULL, 0 }));
}

static void a_name_of_any_length_can_speak_of_a_secret(void **state)
{
    (void)state;
    char name[400];
    for (size_t before = 0; before < 300; before++) {
        memset(name, before % 2 ? '_' : 'x', before);
        strcpy(name + before, "password");
        assert_true(mishap_guard_secret_name(mishap_text_of(name)));
        strcpy(name + before, "passwordless");
        assert_false(mishap_guard_secret_name(mishap_text_of(name)));
    }
}

/* -- known values ------------------------------------------------------------------------------ */

static void assert_hidden(const mishap_secrets *secrets, mishap_text text, const char *expected)
{
    mishap_buffer hidden = { 0 };
    mishap_secrets_put_hidden(&hidden, secrets, text);
    assert_false(hidden.failed);
    assert_int_equal(hidden.length, strlen(expected));
    if (hidden.length)
        assert_memory_equal(hidden.data, expected, hidden.length);
    bool same = mishap_text_equal(text, mishap_text_of(expected));
    assert_int_equal(mishap_secrets_stand_in(secrets, text), !same);
    mishap_buffer_release(&hidden);
}

static void known_values_are_hidden_wherever_they_stand(void **state)
{
    (void)state;
    mishap_secret room[16];
    mishap_secrets secrets = { .texts = room };
    mishap_secrets_add_text(&secrets, T("hunter2"));
    mishap_secrets_add_text(&secrets, T("opensesame"));
    mishap_secrets_sort(&secrets);
    assert_hidden(&secrets, T(""), "");
    assert_hidden(&secrets, T("hunter2"), "[redacted]");
    assert_hidden(&secrets, T("a hunter2, hunter2 and opensesame."),
                  "a [redacted], [redacted] and [redacted].");
    assert_hidden(&secrets, T("hunter2hunter2opensesame"), "[redacted][redacted][redacted]");
    assert_hidden(&secrets, T("hunter 2, opensesam"), "hunter 2, opensesam");
    assert_hidden(&(mishap_secrets){ 0 }, T("hunter2"), "hunter2");
    assert_hidden(NULL, T("hunter2"), "hunter2");
    assert_hidden(&secrets, (mishap_text){ NULL, 0 }, "");
}

static void values_are_hidden_in_any_case_if_asked(void **state)
{
    (void)state;
    mishap_secret room[16];
    mishap_secrets secrets = { .texts = room, .any_case = true };
    mishap_secrets_add_text(&secrets, T("Hunter2[x"));
    mishap_secrets_add_text(&secrets, T("hUNTER2[X-and-more"));
    mishap_secrets_add_text(&secrets, T("HUNTER2[x"));
    mishap_secrets_add_text(&secrets, T("\xC3\x89TOILE"));
    mishap_secrets_sort(&secrets);
    assert_int_equal(secrets.count, 3);
    assert_hidden(&secrets, T("hunter2[x, HUNTER2[X and hUNTER2[x-And-More."),
                  "[redacted], [redacted] and [redacted].");
    assert_hidden(&secrets, T("hunter2{x \xC3\xA9toile \xC3\x89toile"),
                  "hunter2{x \xC3\xA9toile [redacted]");
    assert_hidden(&secrets, T("\\u0068unter2[x"), "[redacted]");
}

static void of_two_values_that_start_alike_the_longer_is_hidden(void **state)
{
    (void)state;
    static const mishap_text both[] = { MISHAP_TEXT("hunter2"), MISHAP_TEXT("hunter2-and-more") };
    for (size_t first = 0; first < 2; first++) {
        mishap_secret room[16];
        mishap_secrets secrets = { .texts = room };
        mishap_secrets_add_text(&secrets, both[first]);
        mishap_secrets_add_text(&secrets, both[1 - first]);
        mishap_secrets_sort(&secrets);
        assert_hidden(&secrets, T("is hunter2-and-more."), "is [redacted].");
        assert_hidden(&secrets, T("is hunter2-and-less."), "is [redacted]-and-less.");
        assert_hidden(&secrets, T("is hunter2-zero."), "is [redacted]-zero.");
    }
}

/* An account has its values like that, and so has a document of JSON. */
static void a_value_is_hidden_as_json_spells_it_too(void **state)
{
    (void)state;
    mishap_secret room[16];
    mishap_secrets secrets = { .texts = room };
    mishap_secrets_add_text(&secrets, T("plain"));
    mishap_secrets_add_text(&secrets, T("say \"friend\""));
    mishap_secrets_add_text(&secrets, T("two\nlines\x7F"));
    mishap_secrets_add_text(&secrets, T("C:\\key"));
    mishap_secrets_sort(&secrets);
    assert_hidden(&secrets, T("k = \"say \\\"friend\\\"\" say \"friend\""),
                  "k = \"[redacted]\" [redacted]");
    assert_hidden(&secrets, T("\"two\\nlines\\u007f\" \"C:\\\\key\" plain"),
                  "\"[redacted]\" \"[redacted]\" [redacted]");
}

/* In any spelling: also with unnecessary escapes, JSON in JSON, and addresses. */
static void a_value_is_hidden_behind_escapes(void **state)
{
    (void)state;
    mishap_secret room[4];
    mishap_secrets secrets = { .texts = room };
    mishap_secrets_add_text(&secrets, T("pass word/\xC3\xA9\xF0\x9F\x94\x91"));
    mishap_secrets_add_text(&secrets, T("100%"));
    mishap_secrets_sort(&secrets);
    assert_hidden(&secrets, T("a pass word/\xC3\xA9\xF0\x9F\x94\x91 b"), "a [redacted] b");
    assert_hidden(&secrets, T("\\u0070ass word\\/\\u00e9\\uD83D\\uDD11!"), "[redacted]!");
    assert_hidden(&secrets,
                  T("{\\\"k\\\":\\\"\\\\u0070ass word\\\\/\\\\u00E9\\\\ud83d\\\\udd11\\\"}"),
                  "{\\\"k\\\":\\\"[redacted]\\\"}");
    assert_hidden(&secrets, T("?k=p%61ss+word%2f%C3%A9%f0%9F%94%91&l"), "?k=[redacted]&l");
    assert_hidden(&secrets, T("?k=pass%20word%2F%C3%A9%F0%9F%94%91"), "?k=[redacted]");
    assert_hidden(&secrets, T("100% or 100%25"), "[redacted] or [redacted]");
    assert_hidden(&secrets, T("\\u00 %4 \\ud83d %zz \\x"), "\\u00 %4 \\ud83d %zz \\x");
}

static void a_text_of_three_bytes_is_hidden_as_a_word(void **state)
{
    (void)state;
    mishap_secret room[4];
    mishap_secrets secrets = { .texts = room };
    mishap_secrets_add_text(&secrets, T("abc"));
    mishap_secrets_add_text(&secrets, T("ab"));
    mishap_secrets_add_text(&secrets, (mishap_text){ NULL, 0 });
    mishap_secrets_sort(&secrets);
    assert_int_equal(secrets.count, 1);
    assert_hidden(&secrets, T("abc, (abc) abcd xabc abc_ abc\xC3\xA9 ab abc"),
                  "[redacted], ([redacted]) abcd xabc abc_ abc\xC3\xA9 ab [redacted]");
}

static void a_number_is_hidden_in_any_spelling_as_a_word(void **state)
{
    (void)state;
    static const struct {
        const char *number, *text, *hidden;
    } rows[] = {
        { "4711", "PIN 4711.", "PIN [redacted]." },
        { "4711", "x=-4711, +4711", "x=-[redacted], +[redacted]" },
        { "-4711", "4711 -4711", "[redacted] -[redacted]" },
        { "4711", "4.711e3 4711.00 47110e-1 0.4711E+4 04711",
          "[redacted] [redacted] [redacted] [redacted] [redacted]" },
        { "4711", "47110 14711 4711.5 a4711 4711b 1.4711 4711e1 471", NULL },
        { "4711", "01890af2-4711-7000-8000-0123456789ab", NULL },
        { "1000.0", "1e3 1000 1,000", "[redacted] [redacted] 1,000" },
        { "1e3", "1000", "[redacted]" },
        { "0.001", "1e-3 .001 0.0010", "[redacted] .001 [redacted]" },
        { "47.5", "47.5 47.50 475e-1 475", "[redacted] [redacted] [redacted] 475" },
        { "9007199254740993", "9007199254740993 9007199254740992", "[redacted] 9007199254740992" },
        { "123456789012345678901234567890", "123456789012345678901234567890!", "[redacted]!" },
        { "7", "7 is 7", NULL },
        { "42", "42", NULL },
        { "10.0", "10 10.0", NULL },
        { "0", "0 0.0 000", NULL },
        { "100", "100 0100 10", "[redacted] [redacted] 10" },
        { "1e99999999999999999999", "1", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_secret_number room[1];
        mishap_secrets secrets = { .numbers = room };
        mishap_secrets_add_number(&secrets, mishap_text_of(rows[i].number));
        mishap_secrets_sort(&secrets);
        assert_hidden(&secrets, mishap_text_of(rows[i].text),
                      rows[i].hidden ? rows[i].hidden : rows[i].text);
    }
}

static void what_could_not_be_learned_hides_everything(void **state)
{
    (void)state;
    mishap_secrets secrets = { .unknown = true };
    assert_hidden(&secrets, T("anything"), "[redacted]");
    assert_true(mishap_secrets_have_number(&secrets, T("1")));
}

/* A caller may send as many as it likes. */
static void any_number_of_values_is_hidden(void **state)
{
    (void)state;
    enum { MANY = 50000, LENGTH = 12 };
    mishap_secret *room = calloc(MANY, sizeof *room);
    char(*texts)[LENGTH] = calloc(MANY, LENGTH);
    mishap_secrets secrets = { .texts = room };
    mishap_buffer text = { 0 }, hidden = { 0 };
    for (int i = 0; i < MANY; i++) {
        snprintf(texts[i], LENGTH, "key-%d", i * 7919 % MANY);
        mishap_secrets_add_text(&secrets, mishap_text_of(texts[i]));
    }
    clock_t start = clock();
    mishap_secrets_sort(&secrets);
    for (int i = 0; i < MANY; i += 100) {
        mishap_buffer_put_text(&text, mishap_text_of(texts[i]));
        MISHAP_PUT(&text, " ");
    }
    mishap_secrets_put_hidden(&hidden, &secrets, mishap_buffer_text(&text));
    assert_true((clock() - start) / CLOCKS_PER_SEC < 5);
    assert_int_equal(hidden.length, MANY / 100 * strlen("[redacted] "));
    assert_null(memmem(hidden.data, hidden.length, "key", 3));
    mishap_buffer_release(&text);
    mishap_buffer_release(&hidden);
    free(room);
    free(texts);
}

/* Each of many places is found without searching the whole rest for the others again. */
static void hiding_takes_time_in_proportion_to_the_text(void **state)
{
    (void)state;
    enum { COPIES = 100000 };
    mishap_secret room[16];
    mishap_secrets secrets = { .texts = room };
    char absent[16][8];
    mishap_buffer text = { 0 }, hidden = { 0 };
    mishap_secrets_add_text(&secrets, T("aaaa"));
    for (int i = 0; i < 15; i++) {
        snprintf(absent[i], sizeof absent[i], "aaab%d", i);
        mishap_secrets_add_text(&secrets, mishap_text_of(absent[i]));
    }
    mishap_secrets_sort(&secrets);
    for (int i = 0; i < COPIES; i++)
        MISHAP_PUT(&text, "aaaa");
    clock_t start = clock(); /* of work: others may need the processor, too */
    mishap_secrets_put_hidden(&hidden, &secrets, mishap_buffer_text(&text));
    assert_int_equal(hidden.length, COPIES * strlen("[redacted]"));
    assert_true((clock() - start) / CLOCKS_PER_SEC < 5);
    mishap_buffer_release(&text);
    mishap_buffer_release(&hidden);
}

static void hide_without_memory(const void *input)
{
    const mishap_secrets *secrets = input;
    mishap_buffer hidden = { 0 };
    mishap_text text = T("say \\\"friend\\\" or say \"friend\"");
    mishap_secrets_put_hidden(&hidden, secrets, text);
    if (hidden.length)
        assert_null(memmem(hidden.data, hidden.length, "friend", 6));
    assert_true(hidden.failed || hidden.length == strlen("[redacted] or [redacted]"));
    assert_true(mishap_secrets_stand_in(secrets, T("say \\\"friend\\\"")));
    mishap_buffer_release(&hidden);
}

static void without_memory_no_value_is_shown(void **state)
{
    (void)state;
    mishap_secret room[16];
    mishap_secrets secrets = { .texts = room };
    mishap_secrets_add_text(&secrets, T("say \"friend\""));
    mishap_secrets_sort(&secrets);
    mishap_use_allocator(&failing_allocator);
    torture(hide_without_memory, &secrets);
    mishap_use_allocator(NULL);
}

/* -- passwords in addresses -------------------------------------------------------------------- */

static const struct address {
    const char *text, *redacted;
} addresses[] = {
    { "postgres://app:hunter2@db.example.com:5432/shop",
      "postgres://app:[redacted]@db.example.com:5432/shop" },
    { "https://bob:p%40ss@example.com/a?b=c#d", "https://bob:[redacted]@example.com/a?b=c#d" },
    { "redis://:pw@localhost:6379", "redis://:[redacted]@localhost:6379" },
    { "amqp://u:p@ss:w@rd@queue/", "amqp://u:[redacted]@queue/" },
    { "jdbc:postgresql://u:pw@h/db", "jdbc:postgresql://u:[redacted]@h/db" },
    { "No route to 'mysql://root:toor@10.0.0.1' now.",
      "No route to 'mysql://root:[redacted]@10.0.0.1' now." },
    { "a://b:c@d e://f:g@h", "a://b:[redacted]@d e://f:[redacted]@h" },
    { "a://b:c@d,e://f:g@h", "a://b:[redacted]@d,e://f:[redacted]@h" },
    { "https://example.com/?next=http://u:p@h/",
      "https://example.com/?next=http://u:[redacted]@h/" },
    { "http://a.example http://u:p@h", "http://a.example http://u:[redacted]@h" },
    { "http://u:@a.example http://u:p@h", "http://u:@a.example http://u:[redacted]@h" },
    { "<mongodb+srv://u:pw@cluster0.example.net>",
      "<mongodb+srv://u:[redacted]@cluster0.example.net>" },
};

static void a_password_in_an_address_is_redacted(void **state)
{
    (void)state;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    for (size_t i = 0; i < COUNT(addresses); i++)
        assert_text(mishap_guard_redact(&arena, mishap_text_of(addresses[i].text)),
                    addresses[i].redacted);
    mishap_arena_release(&arena);
}

static void a_password_in_an_address_is_found_from_any_place(void **state)
{
    (void)state;
    mishap_text text = T("x postgres://app:hunter2@db y://u:pw@h");
    size_t start = 0;
    assert_int_equal(mishap_guard_find_password(text, 0, &start), 7);
    assert_int_equal(start, 17);
    assert_int_equal(mishap_guard_find_password(text, 24, &start), 2);
    assert_int_equal(start, 34);
    assert_int_equal(mishap_guard_find_password(text, 36, &start), 0);
    assert_int_equal(mishap_guard_find_password(text, text.length, &start), 0);
}

static void text_without_a_password_stays_the_same_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        ":",
        "://",
        "a://",
        "a://@",
        "a://:@",
        "http://example.com:8080/a@b",
        "http://user@example.com/",
        "http://user:@example.com/",
        "mailto:someone@example.com",
        "http://[::1]:80/x@y",
        "see a://b and c:d@e.org",
        "ratio 1://2 :3 @4",
        "12:30 // me@example.com",
        "https://example.com:443?mail=a:b@c",
        "git@github.com:owner/name.git",
        "http://example.com:80#a:b@c",
        "file:///etc/passwd",
        "http://host:80\nuser:x@y",
        "http://host:80\"u:p@h",
        "http:/u:p@h",
        "http:// u:p@h",
    };
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_ptr_equal(mishap_guard_redact(&arena, mishap_text_of(texts[i])).data, texts[i]);
    mishap_arena_release(&arena);
}

static void *no_memory(size_t size)
{
    (void)size;
    return NULL;
}

static void *no_more_memory(void *block, size_t size)
{
    (void)block, (void)size;
    return NULL;
}

static void a_password_that_cannot_be_redacted_for_lack_of_memory_is_not_handed_out(void **state)
{
    (void)state;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    mishap_use_allocator(&(mishap_allocator){ no_memory, no_more_memory, free });
    assert_null(mishap_guard_redact(&arena, T("a://b:c@d")).data);
    assert_text(mishap_guard_redact(&arena, T("a://b@d")), "a://b@d");
    mishap_use_allocator(NULL);
    mishap_arena_release(&arena);

    char storage[100];
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, storage, sizeof storage);
    assert_true(mishap_json_read(&reader, T("[\"a://b:c@d\",\"e\"]")));
    mishap_use_allocator(&(mishap_allocator){ no_memory, no_more_memory, free });
    mishap_guard_copy_json(&buffer, reader.root);
    mishap_use_allocator(NULL);
    assert_text(mishap_buffer_text(&buffer), "[\"[redacted]\",\"e\"]");
    mishap_json_reader_release(&reader);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void assert_copied(mishap_text json, const char *expected)
{
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    assert_true(mishap_json_read(&reader, json));
    mishap_guard_copy_json(&buffer, reader.root);
    assert_text(mishap_buffer_text(&buffer), expected);
    mishap_buffer_release(&buffer);
    mishap_json_reader_release(&reader);
}

static void secrets_in_nested_json_are_redacted(void **state)
{
    (void)state;
    assert_copied(T("{\"user\":\"bob\",\"password\":\"hunter2\"}"),
                  "{\"user\":\"bob\",\"password\":\"[redacted]\"}");
    assert_copied(T("[1,{\"a\":[{\"apiKey\":\"k\",\"n\":null}]},\"x\"]"),
                  "[1,{\"a\":[{\"apiKey\":\"[redacted]\",\"n\":null}]},\"x\"]");
    assert_copied(T("{\"url\":\"a://b:c@d\",\"urls\":[\"e://f:g@h\"]}"),
                  "{\"url\":\"a://b:[redacted]@d\",\"urls\":[\"e://f:[redacted]@h\"]}");
    assert_copied(T("\"a://b:c@d\""), "\"a://b:[redacted]@d\"");
}

static void every_string_below_the_name_of_a_secret_is_redacted(void **state)
{
    (void)state;
    assert_copied(T("{\"password\":[\"old\",\"new\"],\"after\":[\"old\"]}"),
                  "{\"password\":[\"[redacted]\",\"[redacted]\"],\"after\":[\"old\"]}");
    assert_copied(
        T("{\"credentials\":{\"user\":\"bob\",\"pin\":[\"1\"],\"tries\":3},\"user\":\"bob\"}"),
        "{\"credentials\":{\"user\":\"[redacted]\",\"pin\":[\"[redacted]\"],\"tries\":3},\"user\":"
        "\"bob\"}");
}

static void a_long_number_by_the_name_of_a_secret_is_redacted(void **state)
{
    (void)state;
    assert_copied(T("{\"password\":100000,\"pass\":100000,\"tokens\":100000,\"n\":1500000}"),
                  "{\"password\":\"[redacted]\",\"pass\":100000,\"tokens\":100000,\"n\":1500000}");
    assert_copied(T("{\"password\":99999,\"secret\":[-100000,1e5,12345678901234567890123]}"),
                  "{\"password\":99999,\"secret\":[\"[redacted]\",\"[redacted]\",\"[redacted]\"]}");
}

static void what_is_no_text_is_no_secret(void **state)
{
    (void)state;
    assert_copied(
        T("{\"token\":4,\"password\":null,\"cookie\":true,\"secret\":1.5,\"max_tokens\":\"many\"}"),
        "{\"token\":4,\"password\":null,\"cookie\":true,\"secret\":1.5,\"max_tokens\":\"many\"}");
}

static void json_without_secrets_is_copied_as_it_is(void **state)
{
    (void)state;
    static const char json[] =
        "{\"a\":[1,-2.5,true,false,null,\"x\\n\",{},[]],\"\":123456789012345678901234567890}";
    assert_copied(mishap_text_of(json), json);
}

/* -- stack traces ------------------------------------------------------------------------------ */

static const struct trace {
    const char *language, *text;
} traces[] = {
    { "Python", "Traceback (most recent call last):\n"
                "  File \"/srv/app/main.py\", line 12, in <module>\n"
                "    main()\n"
                "ZeroDivisionError: division by zero" },
    { "Python", "  File \"/srv/app/main.py\", line 12, in handler\n    return 1 / 0" },
    { "Python", "Syntax error:   File \"<string>\", line 1\n    def" },
    { "Python", "  + Exception Group Traceback (most recent call last):\n  |   File \"x.py\", line "
                "1, in <module>" },
    { "Java", "Exception in thread \"main\" java.lang.NullPointerException: boom" },
    { "Java", "java.lang.IllegalStateException: not open\n"
              "\tat com.example.shop.Cart.add(Cart.java:42)\n"
              "\tat com.example.shop.Main.main(Main.java:7)" },
    { "Java", "Caused by: x\n\tat "
              "java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(Unknown Source)" },
    { "Java", "\tat java.lang.Thread.sleep(Native Method)" },
    { "Java", "    at kotlinx.coroutines.DispatchedTask.run(DispatchedTask.kt:106)" },
    { "Java", "    at scala.collection.Iterator.foreach(Iterator.scala:943)" },
    { "JavaScript",
      "TypeError: Cannot read properties of undefined (reading 'name')\n"
      "    at getUser (/srv/app/routes/users.js:10:15)\n"
      "    at Layer.handle [as handle_request] (/srv/node_modules/express/lib/layer.js:95:5)" },
    { "JavaScript", "Error: x\n    at file:///srv/app/index.mjs:3:7" },
    { "JavaScript", "Error: x\n    at Object.<anonymous> (C:\\app\\tool.cjs:3:7)" },
    { "JavaScript", "Error: x\n    at UserService.find (/srv/app/src/user.service.ts:21:11)" },
    { "JavaScript", "Error: x\n    at Module._compile (node:internal/modules/cjs/loader:1105:14)" },
    { "C#", "System.NullReferenceException: Object reference not set to an instance of an object.\n"
            "   at Shop.Cart.Add(Item item) in C:\\src\\Shop\\Cart.cs:line 42" },
    { "C#", "   at Shop.Program.<Main>$(String[] args) in /src/Program.cs:line 3" },
    { "Go", "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 "
            "[running]:\nmain.main()" },
    { "Go", "main.handler(0xc000012345)\n\t/srv/app/main.go:42 +0x1d" },
    { "Go", "goroutine 17 [chan receive, 5 minutes]:" },
    { "Rust", "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3 but "
              "the index is 99" },
    { "Rust", "thread 'tokio-runtime-worker' panicked at 'boom', src/lib.rs:10:9" },
    { "Rust", "boom\n"
              "stack backtrace:\n"
              "   0: rust_begin_unwind\n"
              "             at /rustc/9fc6b3/library/std/src/panicking.rs:647:5" },
    { "Ruby",
      "app/models/cart.rb:12:in `add': undefined method `price' for nil:NilClass (NoMethodError)" },
    { "Ruby", "boom\n\tfrom /srv/app/config.ru:5:in `x'\n\tfrom /srv/app/app.rb:7:in `<main>'" },
    { "Ruby", "cart.rb:12:in 'Integer#/': divided by 0 (ZeroDivisionError)" },
    { "PHP", "PHP Fatal error:  Uncaught Exception: boom in /var/www/html/index.php:3\n"
             "Stack trace:\n"
             "#0 /var/www/html/index.php(7): run('x')\n"
             "#1 {main}\n"
             "  thrown in /var/www/html/index.php on line 3" },
    { "PHP", "#1 {main}" },
    { "PHP", "#12 {main}" },
    { "C", "#0  0x00007ffff7e3a8eb in raise () from /lib/x86_64-linux-gnu/libc.so.6\n"
           "#1  0x00005555555551a9 in main () at crash.c:5" },
    { "C", "    #0 0x4f5a1d in main /src/crash.c:5:3" },
    { "C", "#10 0x00007ffff7df0d0a in __libc_start_main () from /lib/libc.so.6" },
    { "Lisp", "0: (SB-KERNEL:INTEGER-/-INTEGER 1 0)\n1: (/ 1 0)" },
};

static void traces_are_found_in_every_language(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        const char *language = NULL;
        if (!mishap_guard_finds_trace(mishap_text_of(traces[i].text), &language))
            fail_msg("%s: not found: %s", traces[i].language, traces[i].text);
        assert_string_equal(language, traces[i].language);
        assert_true(
            mishap_guard_suspects(mishap_text_of(traces[i].text), (mishap_text){ NULL, 0 }));
    }
    assert_true(mishap_guard_finds_trace(mishap_text_of(traces[0].text), NULL));
}

static void a_trace_is_found_inside_other_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        char text[1024];
        const char *language = NULL;
        snprintf(text, sizeof text, "Could not save the cart.\r\nDetails:\n\n%s\nPlease try again.",
                 traces[i].text);
        assert_true(mishap_guard_finds_trace(mishap_text_of(text), &language));
        assert_string_equal(language, traces[i].language);
    }
}

static void innocent_text_is_not_taken_for_a_trace(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "Meet me at (the) office: room 12",
        "at 10:30 in Berlin",
        "at 10:30 (or 11:00) in room 5: line 12 of the plan",
        "at home (near main street): 5 people",
        "At the station (platform 3:15) in Bern",
        "from Monday 9:00 to Friday: in `office hours`",
        "from 10:00:00 in Berlin",
        "2026-02-09T10:20:30.123Z",
        "The backup of 2026-02-09 10:20:30 +0100 failed.",
        "Cannot connect to database at db.example.com:5432.",
        "See http://localhost:8080/index.js for details.",
        "Listening on http://127.0.0.1:3000 (press Ctrl+C to stop)",
        "at https://example.com:8443/docs (see section 4:2)",
        "at http://example.com/app.js you will find the script: version 3:1",
        "The file main.go:12 is too long.",
        "Compile error in main.c:12:5: expected ';' before 'return'",
        "Edit config.rb:7 and set the port.",
        "Line 3 of \"users.csv\": column 5 is empty.",
        "File \"report.pdf\" was not found.",
        "The file \"a.txt\", line by line, was read.",
        "File \"a.txt\", line by line, was read.",
        "at the counter (see Menu.java: coffee) in the hall",
        "at the shop (open)\nMain.java:5 (changed)",
        "at app.js:main:entry",
        "goroutine leaks [part two]: how to find them",
        "from users.rb: in the first line",
        "#one {main}",
        "Syntax error: invalid syntax (unknown_line, line 5)",
        "The value \"hello\" is not of type NUMBER.",
        "0: (FOO 1 2)",
        "0: (FOO 1 2)\n1: (BAR \"x\")\n2: ((LAMBDA ()))",
        "The function COMMON-LISP-USER::FOO is undefined.",
        "The variable *STANDARD-OUTPUT* in package SB-IMPL is locked: (SETF X 1)",
        ("error while parsing arguments to DESTRUCTURING-BIND: too few elements in (1) to satisfy "
         "(A B)"),
        "#1 on the list: buy milk",
        "#12 (see #13): duplicate of index.php",
        "#3: the {main} dish",
        "#2 is spelled 0x02 in hexadecimal",
        "Issue #42: rename 0x10 to TEN",
        "The thread 'General' has 12 new posts: look at them.",
        "The goroutine pattern [1]: a short introduction",
        "An exception in thread pool sizing: use 8 threads.",
        "Traceback of the parcel (most recent first): Berlin, Bern",
        "Stack backtrace support is not built in: install libunwind.",
        "[ERROR] disk 3:1 at (rack 5) is full",
        "{\"at\": \"10:30\", \"in\": \"Berlin\"}",
        "Use `from users.rb:5` in the prompt",
        "C:\\Users\\bob\\notes.txt:line ends are mixed",
        "Password must match ^(?=.*[0-9]).{8,}$: see rule #4",
        "The range 0x00-0x1f (control characters) is not allowed: \"\\u0007\"",
        "Amount must be positive (got -5): \"transfer\" requires [from_id, to_id, amount]",
        "Ratio 16:9 (at 1080p) is required.",
        "Java 17 (Native Image) is not supported: use Java 21.",
        "Unknown source (line 5): \"x\"",
    };
    assert_true(COUNT(texts) >= 30);
    for (size_t i = 0; i < COUNT(texts); i++) {
        const char *language = NULL;
        if (mishap_guard_finds_trace(mishap_text_of(texts[i]), &language))
            fail_msg("taken for %s: %s", language, texts[i]);
        assert_null(language);
    }
    assert_false(mishap_guard_finds_trace((mishap_text){ NULL, 0 }, NULL));
}

/* The end of the text is the end, for any bytes behind it. */
static void nothing_is_read_behind_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        size_t whole = strlen(traces[i].text);
        for (size_t length = 0; length <= whole; length++) {
            char *cut = malloc(length ? length : 1);
            memcpy(cut, traces[i].text, length);
            bool found = mishap_guard_finds_trace((mishap_text){ cut, length }, NULL);
            assert_true(length > 0 || !found);
            free(cut);
        }
    }
    for (size_t i = 0; i < COUNT(addresses); i++) {
        for (size_t length = 1; length <= strlen(addresses[i].text); length++) {
            char *cut = malloc(length);
            size_t start = 0;
            memcpy(cut, addresses[i].text, length);
            size_t found = mishap_guard_find_password((mishap_text){ cut, length }, 0, &start);
            assert_true(start + found <= length);
            free(cut);
        }
    }
}

static void text_that_is_not_suspect_has_nothing_to_find(void **state)
{
    (void)state;
    assert_false(mishap_guard_suspects(T("A plain sentence without any of those characters."),
                                       T("message")));
    assert_false(mishap_guard_suspects(T("hunter2"), (mishap_text){ NULL, 0 }));
    assert_true(mishap_guard_suspects(T("hunter2"), T("password")));
    for (size_t i = 0; i < COUNT(addresses); i++)
        assert_true(mishap_guard_suspects(mishap_text_of(addresses[i].text), T("url")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_that_speak_of_a_secret_are_known),
        TEST(names_that_only_sound_like_a_secret_are_not),
        TEST(a_name_of_any_length_can_speak_of_a_secret),
        TEST(known_values_are_hidden_wherever_they_stand),
        TEST(values_are_hidden_in_any_case_if_asked),
        TEST(of_two_values_that_start_alike_the_longer_is_hidden),
        TEST(a_value_is_hidden_as_json_spells_it_too),
        TEST(a_value_is_hidden_behind_escapes),
        TEST(a_text_of_three_bytes_is_hidden_as_a_word),
        TEST(a_number_is_hidden_in_any_spelling_as_a_word),
        TEST(what_could_not_be_learned_hides_everything),
        TEST(any_number_of_values_is_hidden),
        TEST(hiding_takes_time_in_proportion_to_the_text),
        TEST(without_memory_no_value_is_shown),
        TEST(a_password_in_an_address_is_redacted),
        TEST(a_password_in_an_address_is_found_from_any_place),
        TEST(text_without_a_password_stays_the_same_text),
        TEST(a_password_that_cannot_be_redacted_for_lack_of_memory_is_not_handed_out),
        TEST(secrets_in_nested_json_are_redacted),
        TEST(every_string_below_the_name_of_a_secret_is_redacted),
        TEST(a_long_number_by_the_name_of_a_secret_is_redacted),
        TEST(what_is_no_text_is_no_secret),
        TEST(json_without_secrets_is_copied_as_it_is),
        TEST(traces_are_found_in_every_language),
        TEST(a_trace_is_found_inside_other_text),
        TEST(innocent_text_is_not_taken_for_a_trace),
        TEST(nothing_is_read_behind_the_end),
        TEST(text_that_is_not_suspect_has_nothing_to_find),
    };
    return RUN(tests);
}
