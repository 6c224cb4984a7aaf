/* src/mishap: the value and its two sides. What becomes of it when memory is short is in
 * reserve_test.c. */
#include "testing.h"

#include <errno.h>

#define MARK     "\xEF\xBF\xBD" /* U+FFFD, in place of what is no UTF-8 */
#define REDACTED "[redacted]"

static void assert_text(mishap_text text, const char *expected)
{
    assert_non_null(text.data);
    assert_string_equal(text.data, expected); /* so it has a NUL after its end, too */
    assert_int_equal(text.length, strlen(expected));
}

static const mishap_value *member(const mishap_member *first, const char *key)
{
    for (; first; first = first->next)
        if (mishap_text_equal(first->key, mishap_text_of(key)))
            return &first->value;
    fail_msg("nothing was told as %s", key);
    return NULL;
}

static const mishap_value *told(const mishap *m, const char *key)
{
    return member(mishap_told(m)->context, key);
}

static void assert_told_text(const mishap *m, const char *key, const char *expected)
{
    assert_int_equal(told(m, key)->kind, MISHAP_KIND_TEXT);
    assert_text(told(m, key)->text, expected);
}

static void assert_told_json(const mishap *m, const char *key, const char *expected)
{
    assert_int_equal(told(m, key)->kind, MISHAP_KIND_JSON);
    assert_text(told(m, key)->text, expected);
}

/* The account, valid until the next one. */
static const char *account_of(const mishap *m)
{
    static char text[65536];
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, text, sizeof text);
    mishap_account(m, &buffer);
    mishap_buffer_add(&buffer, "", 1);
    assert_false(buffer.failed || buffer.on_heap);
    return text;
}

static void assert_account_has(const mishap *m, const char *piece)
{
    const char *account = account_of(m);
    if (!strstr(account, piece))
        fail_msg("no `%s` in the account:\n%s", piece, account);
}

static void assert_account_lacks(const mishap *m, const char *piece)
{
    const char *account = account_of(m);
    if (strstr(account, piece))
        fail_msg("`%s` in the account:\n%s", piece, account);
}

/* -- raising ----------------------------------------------------------------------------------- */

static void raising_takes_a_code_and_a_sentence(void **state)
{
    (void)state;
    mishap *m = mishap_raise(ALREADY_EXISTS, "A user with this e-mail already exists.");
    const mishap_public *public = mishap_told(m);
    assert_ptr_equal(public->code, MISHAP_CODE_ALREADY_EXISTS);
    assert_text(public->message, "A user with this e-mail already exists.");
    assert_int_equal(public->category, MISHAP_RESOURCE);
    assert_false(public->retryable);
    assert_false(public->retry_stated);
    assert_int_equal(public->retry_after_ms, -1);
    assert_null(public->context);
    assert_null(public->fields);
    assert_null(public->frames);
    assert_int_equal(public->cause.length + public->suggestion.length + public->docs_url.length, 0);
    assert_int_equal(public->incident.length + public->type.length + public->output.length, 0);
    assert_null(mishap_cause(m));
    mishap_free(m);
}

static void the_message_is_formatted(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, "No user %d of %s, %.1f%% sure.", 42, "acme", 99.5);
    assert_text(mishap_told(m)->message, "No user 42 of acme, 99.5% sure.");
    mishap_free(m);
    m = mishap_raise(NOT_FOUND, "%s", "Handed over whole: 100%d.");
    assert_text(mishap_told(m)->message, "Handed over whole: 100%d.");
    mishap_free(m);
    m = mishap_raise(NOT_FOUND, "100%%");
    assert_text(mishap_told(m)->message, "100%");
    mishap_free(m);
}

static void a_long_message_is_kept_whole(void **state)
{
    (void)state;
    static char word[100001];
    static const size_t lengths[] = { 100, 500, 509, 510, 511, 512, 513, 600, 5000, 100000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(word, 'w', lengths[i]);
        word[lengths[i]] = '\0';
        mishap *m = mishap_raise(NOT_FOUND, "<%s>", word);
        mishap_text message = mishap_told(m)->message;
        assert_int_equal(message.length, lengths[i] + 2);
        assert_int_equal(strspn(message.data + 1, "w"), lengths[i]);
        assert_string_equal(message.data + lengths[i] + 1, ">");
        mishap_free(m);
        m = mishap_raise(NOT_FOUND, "%s", word);
        assert_text(mishap_told(m)->message, word);
        mishap_free(m);
    }
}

static void without_a_message_the_catalog_speaks(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, NULL);
    assert_int_equal(mishap_told(m)->message.length, 0);
    assert_text(mishap_public_message(mishap_told(m)), "The requested resource was not found.");
    assert_text(mishap_public_suggestion(mishap_told(m)), "Check the name or id that was given.");
    assert_int_equal(mishap_public_docs_url(mishap_told(m)).length, 0);
    mishap_message(m, T("No such user."));
    assert_text(mishap_public_message(mishap_told(m)), "No such user.");
    mishap_suggest(mishap_docs(m, "https://example.com/errors"), "Look again.");
    assert_text(mishap_public_suggestion(mishap_told(m)), "Look again.");
    assert_text(mishap_public_docs_url(mishap_told(m)), "https://example.com/errors");
    mishap_message(m, T(""));
    assert_text(mishap_public_message(mishap_told(m)), "The requested resource was not found.");
    mishap_free(m);
}

/* Memory that changes errno whenever it is asked for some, as malloc() may. */
static void *allocate_and_change_errno(size_t size)
{
    void *block = malloc(size);
    errno = EDOM;
    return block;
}

static void *resize_and_change_errno(void *block, size_t size)
{
    void *resized = realloc(block, size);
    errno = EDOM;
    return resized;
}

static void errno_survives_raising(void **state)
{
    (void)state;
    static const mishap_allocator changing = { allocate_and_change_errno, resize_and_change_errno,
                                               free };
    char expected[100];
    mishap_use_allocator(&changing);
    errno = ENOTTY;
    mishap *m = mishap_raise(NOT_FOUND, "%2000d %m", 1);
    assert_int_equal(errno, ENOTTY);
    snprintf(expected, sizeof expected, " 1 %s", strerror(ENOTTY));
    assert_non_null(strstr(mishap_told(m)->message.data, expected));
    mishap_free(m);
    mishap_use_allocator(NULL);
}

static void an_errno_has_its_code_and_its_name(void **state)
{
    (void)state;
    static const struct {
        int error;
        const mishap_code *code;
        const char *name;
    } rows[] = {
        { ENOENT, MISHAP_CODE_NOT_FOUND, "ENOENT" },
        { EEXIST, MISHAP_CODE_ALREADY_EXISTS, "EEXIST" },
        { EACCES, MISHAP_CODE_NOT_AUTHORIZED, "EACCES" },
        { ETIMEDOUT, MISHAP_CODE_TIMEOUT, "ETIMEDOUT" },
        { ENOSPC, MISHAP_CODE_UNAVAILABLE, "ENOSPC" },
        { EBADF, MISHAP_CODE_INTERNAL_ERROR, "EBADF" },
        { 9999, MISHAP_CODE_INTERNAL_ERROR, "unknown" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64];
        mishap_buffer account = { 0 };
        errno = ENOTTY;
        mishap *m = mishap_raise_errno(rows[i].error, "It failed: %m.");
        assert_int_equal(errno, ENOTTY);
        assert_ptr_equal(mishap_told(m)->code, rows[i].code);
        mishap_account(m, &account);
        mishap_buffer_add(&account, "", 1);
        snprintf(name, sizeof name, "noted errno = \"%s\"", rows[i].name);
        assert_non_null(strstr(account.data, name));
        assert_non_null(strstr(account.data, strerror(rows[i].error)));
        assert_non_null(strstr(account.data, "value_test.c"));
        mishap_buffer_release(&account);
        mishap_free(m);
    }
}

static mishap *try_to(mishap *outcome, bool *went_on)
{
    MISHAP_TRY(outcome);
    *went_on = true;
    return NULL;
}

static void a_try_returns_what_failed(void **state)
{
    (void)state;
    bool went_on = false;
    assert_null(try_to(NULL, &went_on));
    assert_true(went_on);
    went_on = false;
    mishap *m = try_to(mishap_raise(NOT_FOUND, "No."), &went_on);
    assert_false(went_on);
    assert_true(mishap_is(m, NOT_FOUND));
    assert_false(mishap_is(m, ALREADY_EXISTS));
    assert_false(mishap_is(NULL, NOT_FOUND));
    mishap_free(m);
}

static void the_factories_have_their_codes_and_categories(void **state)
{
    (void)state;
    const struct {
        mishap *m;
        const mishap_code *code;
        mishap_category category;
    } made[] = {
        { mishap_validation("Made %d.", 1), MISHAP_CODE_INVALID_ARGUMENT, MISHAP_VALIDATION },
        { mishap_permission("Made %d.", 1), MISHAP_CODE_NOT_AUTHORIZED, MISHAP_PERMISSION },
        { mishap_resource("Made %d.", 1), MISHAP_CODE_NOT_FOUND, MISHAP_RESOURCE },
        { mishap_execution("Made %d.", 1), MISHAP_CODE_RUNTIME_ERROR, MISHAP_EXECUTION },
        { mishap_system("Made %d.", 1), MISHAP_CODE_INTERNAL_ERROR, MISHAP_SYSTEM },
        /* The category is that of the factory, whatever the code's own. */
        { mishap_validation_as(NOT_FOUND, "Made %d.", 1), MISHAP_CODE_NOT_FOUND,
          MISHAP_VALIDATION },
        { mishap_permission_as(TIMEOUT, "Made %d.", 1), MISHAP_CODE_TIMEOUT, MISHAP_PERMISSION },
        { mishap_resource_as(INSUFFICIENT_FUNDS, "Made %d.", 1), MISHAP_CODE_INSUFFICIENT_FUNDS,
          MISHAP_RESOURCE },
        { mishap_execution_as(UNAVAILABLE, "Made %d.", 1), MISHAP_CODE_UNAVAILABLE,
          MISHAP_EXECUTION },
        { mishap_system_as(RATE_LIMITED, "Made %d.", 1), MISHAP_CODE_RATE_LIMITED, MISHAP_SYSTEM },
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const mishap_public *public = mishap_told(made[i].m);
        assert_ptr_equal(public->code, made[i].code);
        assert_int_equal(public->category, made[i].category);
        assert_false(public->retryable); /* even where the catalog would retry */
        assert_int_equal(public->retry_after_ms, -1);
        if (public->code != MISHAP_CODE_INTERNAL_ERROR)
            assert_text(public->message, "Made 1.");
        assert_account_has(made[i].m, "in the_factories_have_their_codes_and_categories");
        mishap_free(made[i].m);
    }
    mishap *m = mishap_retryable(mishap_execution_as(UNAVAILABLE, "Try me."), true);
    assert_true(mishap_told(m)->retryable);
    assert_int_equal(mishap_told(m)->category, MISHAP_EXECUTION);
    mishap_free(m);
}

/* -- masking ----------------------------------------------------------------------------------- */

static void what_is_raised_as_an_internal_error_stays_private(void **state)
{
    (void)state;
    mishap *m = mishap_raise(INTERNAL_ERROR, "Disk %d of host %s is broken.", 3, "db-7");
    assert_int_equal(mishap_told(m)->message.length, 0);
    assert_text(mishap_public_message(mishap_told(m)), "An internal error occurred.");
    assert_account_has(m, "Disk 3 of host db-7 is broken.");
    mishap_message(m, T("Disk 4 is broken."));
    assert_int_equal(mishap_told(m)->message.length, 0);
    assert_text(mishap_public_message(mishap_told(m)), "An internal error occurred.");
    assert_account_has(m, "Disk 4 is broken.");
    mishap_free(m);
}

/* -- telling and noting ------------------------------------------------------------------------ */

static void every_c_type_can_be_told(void **state)
{
    (void)state;
    bool truth = true;
    char letter = 'a';
    signed char small = -8;
    short shorter = -16;
    int plain = -32;
    long longer = -64;
    long long longest = INT64_MIN;
    unsigned char tiny = 8;
    unsigned short little = 16;
    unsigned int middle = 4294967295u;
    unsigned long large = 64;
    unsigned long long largest = UINT64_MAX;
    float single = 0.5f;
    double real = 0.1;
    char string[] = "changes later";
    const char *constant = "constant";
    mishap_text text = T("text");

    mishap *m = mishap_raise(NOT_FOUND, "Told.");
    m = mishap_tell(m, "truth", truth);
    m = mishap_tell(m, "letter", letter);
    m = mishap_tell(m, "small", small);
    m = mishap_tell(m, "shorter", shorter);
    m = mishap_tell(m, "plain", plain);
    m = mishap_tell(m, "longer", longer);
    m = mishap_tell(m, "longest", longest);
    m = mishap_tell(m, "tiny", tiny);
    m = mishap_tell(m, "little", little);
    m = mishap_tell(m, "middle", middle);
    m = mishap_tell(m, "large", large);
    m = mishap_tell(m, "largest", largest);
    m = mishap_tell(m, "single", single);
    m = mishap_tell(m, "real", real);
    m = mishap_tell(m, "string", string);
    m = mishap_tell(m, "constant", constant);
    m = mishap_tell(m, "literal", "literal");
    m = mishap_tell(m, "text", text);
    m = mishap_tell(m, "value", mishap_value_of_int(5));
    m = mishap_tell(m, "nothing", (const char *)NULL);
    m = mishap_tell(m, "left out", mishap_value_none());
    string[0] = 'X'; /* too late: text is copied */

    assert_int_equal(told(m, "truth")->kind, MISHAP_KIND_BOOL);
    assert_true(told(m, "truth")->boolean);
    static const struct {
        const char *key;
        int64_t integer;
    } integers[] = {
        { "letter", 'a' },        { "small", -8 },          { "shorter", -16 }, { "plain", -32 },
        { "longer", -64 },        { "longest", INT64_MIN }, { "tiny", 8 },      { "little", 16 },
        { "middle", 4294967295 }, { "large", 64 },          { "value", 5 },
    };
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        assert_int_equal(told(m, integers[i].key)->kind, MISHAP_KIND_INT);
        assert_true(told(m, integers[i].key)->integer == integers[i].integer);
    }
    assert_int_equal(told(m, "largest")->kind, MISHAP_KIND_UINT);
    assert_true(told(m, "largest")->natural == UINT64_MAX);
    assert_int_equal(told(m, "single")->kind, MISHAP_KIND_REAL);
    assert_true(told(m, "single")->real == 0.5);
    assert_true(told(m, "real")->real == 0.1);
    assert_told_text(m, "string", "changes later");
    assert_told_text(m, "constant", "constant");
    assert_told_text(m, "literal", "literal");
    assert_told_text(m, "text", "text");
    assert_int_equal(told(m, "nothing")->kind, MISHAP_KIND_NULL);
    size_t count = 0;
    for (const mishap_member *at = mishap_told(m)->context; at; at = at->next)
        count++;
    assert_int_equal(count, 20); /* all but the one that was no value */
    mishap_free(m);
}

static void what_is_told_keeps_its_order_and_the_last_word_counts(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, "Told.");
    mishap_tell(mishap_tell(mishap_tell(m, "b", 1), "a", 2), "c", 3);
    mishap_tell(mishap_tell(m, "b", "again"), "", "no name");
    const mishap_member *at = mishap_told(m)->context;
    assert_text(at->key, "b");
    assert_text(at->value.text, "again");
    assert_text((at = at->next)->key, "a");
    assert_int_equal(at->value.integer, 2);
    assert_text((at = at->next)->key, "c");
    assert_text((at = at->next)->key, "");
    assert_null(at->next);
    mishap_free(m);
}

/* Keys are the same if they are the same in the end: a document with one key twice would be no
 * good. */
static void a_key_that_is_no_utf8_is_one_key_when_told_twice(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, "Told.");
    mishap_tell(mishap_tell(m, "k\xFF", 1), "k\xFF", 2);
    assert_text(mishap_told(m)->context->key, "k" MARK);
    assert_int_equal(mishap_told(m)->context->value.integer, 2);
    assert_null(mishap_told(m)->context->next);
    mishap_free(m);
}

static void what_is_noted_is_for_the_operator_alone(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, "Noted.");
    mishap_note(mishap_note(m, "shard", 7), "query", "select 1");
    mishap_note(mishap_tell(m, "shard", "public"), "shard", 8);
    assert_told_text(m, "shard", "public");
    assert_null(mishap_told(m)->context->next);
    assert_account_has(m, "noted shard = 8\n");
    assert_account_has(m, "noted query = \"select 1\"\n");
    assert_account_has(m, "told shard = \"public\"\n");
    assert_account_lacks(m, "= 7\n");
    mishap_free(m);
}

static void told_json_is_made_compact_and_sound(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, "Told.");
    mishap_tell(m, "object",
                mishap_value_of_json(" { \"a\" : [ 1 , 2.50 , \"\\u0041\" ] ,\n \"b\" : null } "));
    mishap_tell(m, "list", mishap_value_of_json("[ ]"));
    mishap_tell(m, "big", mishap_value_of_json("123456789012345678901234567890"));
    mishap_tell(m, "half", mishap_value_of_json("[\"\\ud800\"]"));
    assert_told_json(m, "object", "{\"a\":[1,2.5,\"A\"],\"b\":null}");
    assert_told_json(m, "list", "[]");
    assert_told_json(m, "big", "123456789012345678901234567890");
    assert_told_json(m, "half", "[\"" MARK "\"]");
    mishap_free(m);
}

static void what_is_no_json_is_told_as_a_string(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "", "{", "{'a':1}", "[1,]", "nope", "{\"a\":1,\"a\":2}", "{\"a\\u0000\":1}", "[1] [2]",
    };
    char deep[300];
    memset(deep, '[', 129);
    memset(deep + 129, ']', 129);
    deep[258] = '\0';
    mishap *m = mishap_raise(NOT_FOUND, "Told.");
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        mishap_tell(m, "json", mishap_value_of_json(broken[i]));
        assert_told_text(m, "json", broken[i]);
    }
    mishap_tell(m, "json", mishap_value_of_json(deep));
    assert_told_text(m, "json", deep);
    mishap_tell(m, "json", mishap_value_of_json("\xFF{"));
    assert_told_text(m, "json", MARK "{");
    mishap_tell(m, "json", mishap_value_of_json(NULL));
    assert_int_equal(told(m, "json")->kind, MISHAP_KIND_NULL);
    mishap_free(m);
}

/* -- secrets ----------------------------------------------------------------------------------- */

static void secrets_are_redacted_wherever_they_come_in(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, "Cannot reach %s.", "redis://:hunter2@cache");
    mishap_tell(m, "password", "hunter2");
    mishap_tell(m, "token", 5); /* a number is no secret */
    mishap_tell(m, "address", "postgres://app:hunter2@db/x");
    mishap_tell(m, "body", mishap_value_of_json("{\"user\":\"bob\",\"api_key\":\"hunter2\"}"));
    mishap_note(m, "Authorization", "Bearer hunter2");
    mishap_note(m, "upstream", "http://u:hunter2@h/");
    mishap_tell_cause(m, "a://b:hunter2@c refused");
    mishap_suggest(m, "Use a://b:hunter2@c.");
    mishap_docs(m, "https://u:hunter2@docs");
    mishap_incident(m, "i://u:hunter2@d");
    mishap_type(m, "T://u:hunter2@d");
    mishap_output(m, T("o://u:hunter2@d"));
    mishap_frame_add(m, T("(OPEN \"f://u:hunter2@d\")"));
    mishap_field_add(m, &(mishap_field){ .field = T("user.password"),
                                         .error = T("invalid_length"),
                                         .actual = mishap_value_of_string("hunter2") });
    mishap_field_range(m, "token", mishap_value_of_int(0), mishap_value_of_int(9),
                       mishap_value_of_int(12));
    assert_text(mishap_told(m)->message, "Cannot reach redis://:" REDACTED "@cache.");
    assert_told_text(m, "password", REDACTED);
    assert_int_equal(told(m, "token")->integer, 5);
    assert_told_text(m, "address", "postgres://app:" REDACTED "@db/x");
    assert_told_json(m, "body", "{\"user\":\"bob\",\"api_key\":\"" REDACTED "\"}");
    assert_text(mishap_told(m)->fields->actual.text, REDACTED);
    assert_int_equal(mishap_told(m)->fields->next->actual.integer, 12);
    assert_account_has(m, "noted Authorization = \"" REDACTED "\"");
    assert_account_has(m, "noted upstream = \"http://u:" REDACTED "@h/\"");
    assert_account_lacks(m, "hunter2");
    assert_null(strstr(mishap_told(m)->docs_url.data, "hunter2"));
    mishap_free(m);
    m = mishap_raise(INTERNAL_ERROR, "redis://:%s@cache", "hunter2");
    assert_account_lacks(m, "hunter2");
    mishap_free(m);
}

static void json_that_goes_by_the_name_of_a_secret_is_redacted(void **state)
{
    (void)state;
    static const char *const values[] = {
        "\"hunter2\"", "[\"hunter2\"]",      "{\"a\":{\"b\":\"hunter2\"}}",
        "hunter2",     "{\"a\":\"hunter2\"",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        mishap *m = mishap_raise(NOT_FOUND, "Told.");
        mishap_tell(m, "password", mishap_value_of_json(values[i]));
        mishap_note(m, "client_secret", mishap_value_of_json(values[i]));
        mishap_field_add(m, &(mishap_field){ .field = T("password"),
                                             .error = T("invalid_type"),
                                             .actual = mishap_value_of_json(values[i]) });
        assert_null(strstr(told(m, "password")->text.data, "hunter2"));
        assert_null(strstr(mishap_told(m)->fields->actual.text.data, "hunter2"));
        assert_account_lacks(m, "hunter2");
        mishap_free(m);
    }
}

/* -- text -------------------------------------------------------------------------------------- */

static void every_text_is_made_valid_utf8_without_nul(void **state)
{
    (void)state;
    static const mishap_text bad = MISHAP_TEXT("a\0b\xFF"
                                               "c\xED\xA0\x80");
    static const char good[] = "a" MARK "b" MARK "c" MARK MARK MARK;
    static const char bad_string[] = "b\xFF"
                                     "c";
    static const char good_string[] = "b" MARK "c";
    mishap_value value = mishap_value_of_text(bad);
    mishap *m = mishap_raise(NOT_FOUND, "%s\xC0\x80", bad_string);
    assert_text(mishap_told(m)->message, "b" MARK "c" MARK MARK);
    mishap_message(m, bad);
    mishap_tell_value(m, bad, value);
    mishap_note_value(m, bad, value);
    mishap_tell_cause(m, bad_string);
    mishap_suggest(m, bad_string);
    mishap_docs(m, "https://b\xFF"
                   "c");
    mishap_incident(m, bad_string);
    mishap_type(m, bad_string);
    mishap_output(m, bad);
    mishap_frame_add(m, bad);
    mishap_field_add(m, &(mishap_field){ NULL, bad, bad, value, value, value, value, bad });
    const mishap_public *public = mishap_told(m);
    assert_text(public->message, good);
    assert_text(public->context->key, good);
    assert_text(public->context->value.text, good);
    assert_text(public->cause, good_string);
    assert_text(public->suggestion, good_string);
    assert_text(public->docs_url, "https://b\xEF\xBF\xBD"
                                  "c");
    assert_text(public->incident, good_string);
    assert_text(public->type, good_string);
    assert_text(public->output, good);
    assert_text(public->frames->text, good);
    assert_text(public->fields->field, good);
    assert_text(public->fields->error, "invalid_value"); /* a name that cannot be mended */
    assert_text(public->fields->expected.text, good);
    assert_text(public->fields->actual.text, good);
    assert_int_equal(public->fields->min.kind, MISHAP_KIND_NONE); /* bounds are numbers */
    assert_int_equal(public->fields->max.kind, MISHAP_KIND_NONE);
    char noted[128];
    snprintf(noted, sizeof noted, "noted %s = \"%s\"\n", good, good);
    assert_account_has(m, noted);
    mishap_free(m);
    m = mishap_raise(INTERNAL_ERROR, "%s", bad_string);
    assert_account_has(m, good_string);
    mishap_free(m);
}

/* -- fields and frames ------------------------------------------------------------------------- */

static void the_five_rules_fill_in_their_members(void **state)
{
    (void)state;
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    mishap_field_required(m, "email");
    mishap_field_type(m, "age", "integer", "string");
    mishap_field_length(m, "title", mishap_value_of_int(1), mishap_value_of_int(200), 250);
    mishap_field_range(m, "age", mishap_value_none(), mishap_value_of_real(1.5),
                       mishap_value_of_int(200));
    mishap_field_pattern(m, "items[2].name", ".*@.*\\..*");
    assert_int_equal(mishap_told(m)->field_count, 5);

    const mishap_field *at = mishap_told(m)->fields;
    assert_text(at->field, "email");
    assert_text(at->error, "field_required");
    assert_int_equal(at->expected.kind | at->actual.kind | at->min.kind | at->max.kind,
                     MISHAP_KIND_NONE);

    at = at->next;
    assert_text(at->field, "age");
    assert_text(at->error, "invalid_type");
    assert_text(at->expected.text, "integer");
    assert_text(at->actual.text, "string");
    assert_int_equal(at->min.kind | at->max.kind, MISHAP_KIND_NONE);

    at = at->next;
    assert_text(at->error, "invalid_length");
    assert_int_equal(at->min.integer, 1);
    assert_int_equal(at->max.integer, 200);
    assert_int_equal(at->actual.integer, 250);
    assert_int_equal(at->expected.kind, MISHAP_KIND_NONE);

    at = at->next;
    assert_text(at->error, "value_out_of_range");
    assert_int_equal(at->min.kind, MISHAP_KIND_NONE);
    assert_true(at->max.real == 1.5);
    assert_int_equal(at->actual.integer, 200);

    at = at->next;
    assert_text(at->field, "items[2].name");
    assert_text(at->error, "pattern_mismatch");
    assert_text(at->expected.text, ".*@.*\\..*");
    assert_int_equal(at->actual.kind, MISHAP_KIND_NONE);
    assert_null(at->next);
    assert_account_has(m, "field items[2].name: pattern_mismatch expected \".*@.*\\\\..*\"\n");
    mishap_free(m);
}

static void a_field_is_added_alone_whatever_follows_it(void **state)
{
    (void)state;
    mishap_field other = { .field = T("b"), .error = T("x") };
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    mishap_field_add(m, &(mishap_field){ .next = &other, .field = T("a"), .error = T("x") });
    assert_null(mishap_told(m)->fields->next);
    assert_int_equal(mishap_told(m)->field_count, 1);
    mishap_free(m);
}

static void thousands_of_parts_are_kept_in_order(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "part%d", i);
        mishap_field_required(m, name);
        mishap_frame_add(m, mishap_text_of(name));
    }
    const mishap_field *field = mishap_told(m)->fields;
    const mishap_frame *frame = mishap_told(m)->frames;
    for (int i = 0; i < MANY; i++, field = field->next, frame = frame->next) {
        char name[32];
        snprintf(name, sizeof name, "part%d", i);
        assert_text(field->field, name);
        assert_text(frame->text, name);
    }
    assert_null(field);
    assert_null(frame);
    assert_int_equal(mishap_told(m)->field_count, MANY);
    assert_int_equal(mishap_told(m)->frame_count, MANY);
    mishap_free(m);
}

static void the_subject_has_a_type_an_output_and_frames(void **state)
{
    (void)state;
    mishap *m = mishap_raise(TYPE_ERROR, "The value \"hello\" is not of type NUMBER.");
    mishap_type(m, "SIMPLE-TYPE-ERROR");
    mishap_output(m, T("before\nthe error\n"));
    mishap_frame_add(mishap_frame_add(m, T("(+ 1 \"hello\")")), T("(FOO)"));
    const mishap_public *public = mishap_told(m);
    assert_text(public->type, "SIMPLE-TYPE-ERROR");
    assert_text(public->output, "before\nthe error\n");
    assert_int_equal(public->frame_count, 2);
    assert_text(public->frames->text, "(+ 1 \"hello\")");
    assert_text(public->frames->next->text, "(FOO)");
    assert_null(public->frames->next->next);
    mishap_free(m);
}

/* -- retrying ---------------------------------------------------------------------------------- */

static void assert_retry(mishap *m, bool retryable, bool stated, int64_t after_ms)
{
    assert_int_equal(mishap_told(m)->retryable, retryable);
    assert_int_equal(mishap_told(m)->retry_stated, stated);
    assert_int_equal(mishap_told(m)->retry_after_ms, after_ms);
}

static void the_catalog_says_whether_to_retry_until_the_occurrence_does(void **state)
{
    (void)state;
    mishap *m = mishap_raise(RATE_LIMITED, NULL);
    assert_retry(m, true, false, 1000);
    assert_retry(mishap_retry_after(m, 250), true, true, 250);
    assert_retry(mishap_retry_after(m, -5), true, true, 250); /* no time: nothing was said */
    assert_retry(mishap_retry_after(m, 0), true, true, 0);
    assert_retry(mishap_retryable(m, false), false, true, -1);
    assert_retry(mishap_retryable(m, true), true, true,
                 1000); /* the catalog's advice is as good as before */
    mishap_free(m);
    m = mishap_raise(NOT_FOUND, NULL);
    assert_retry(m, false, false, -1);
    assert_retry(mishap_retry_after(m, 5), true, true, 5); /* when implies that */
    mishap_free(m);
    m = mishap_raise(UNAVAILABLE, NULL);
    assert_retry(m, true, false, -1);
    mishap_free(m);
}

static void filing_under_a_category_takes_the_retry_away(void **state)
{
    (void)state;
    mishap *m = mishap_raise(RATE_LIMITED, NULL);
    assert_int_equal(mishap_told(m)->category, MISHAP_SYSTEM);
    mishap_file_under(m, MISHAP_PERMISSION);
    assert_int_equal(mishap_told(m)->category, MISHAP_PERMISSION);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_RATE_LIMITED);
    assert_retry(m, false, true, -1);
    assert_retry(mishap_retryable(m, true), true, true, 1000);
    assert_account_has(m, "category permission\n");
    mishap_free(m);
}

static void what_is_recoverable_has_a_suggestion(void **state)
{
    (void)state;
    for (size_t i = 0; i < mishap_code_table.count; i++) {
        for (int said = 0; said < 3; said++) {
            mishap *m = mishap_raise_at(&mishap_code_table.codes[i], MISHAP_HERE, NULL);
            if (said)
                mishap_retryable(m, said == 1);
            bool helpless = !mishap_public_suggestion(mishap_told(m)).length;
            if (mishap_public_recoverable(mishap_told(m)) && helpless)
                fail_msg("%s has none (%d)", mishap_code_table.codes[i].name.data, said);
            mishap_free(m);
        }
    }
    mishap *m = mishap_raise(TIMEOUT, NULL);
    assert_false(mishap_public_recoverable(mishap_told(m)));
    assert_true(mishap_public_recoverable(mishap_told(mishap_retryable(m, true))));
    mishap_free(m);
    m = mishap_raise(NOT_FOUND, NULL);
    assert_true(
        mishap_public_recoverable(mishap_told(m))); /* not retryable, but the caller can mend it */
    mishap_free(m);
}

/* -- causes ------------------------------------------------------------------------------------ */

static void causes_form_a_chain(void **state)
{
    (void)state;
    mishap *a = mishap_raise(UNAVAILABLE, "First."),
           *b = mishap_raise(CONNECTION_REFUSED, "Second."),
           *c = mishap_raise(HOST_UNREACHABLE, "Third."), *d = mishap_raise(TIMEOUT, "Fourth.");
    assert_ptr_equal(mishap_because(a, b), a);
    assert_ptr_equal(mishap_because(a, mishap_because(c, d)), a);
    assert_ptr_equal(mishap_cause(a), b);
    assert_ptr_equal(mishap_cause(b), c);
    assert_ptr_equal(mishap_cause(c), d);
    assert_null(mishap_cause(d));
    const char *account = account_of(a),
               *second = strstr(account, "caused by CONNECTION_REFUSED: Second.\n"),
               *third = strstr(account, "caused by HOST_UNREACHABLE: Third.\n"),
               *fourth = strstr(account, "caused by TIMEOUT: Fourth.\n");
    assert_int_equal(strncmp(account, "UNAVAILABLE: First.\n", 20), 0);
    assert_true(second && third > second && fourth > third);
    assert_int_equal(mishap_told(a)->cause.length, 0); /* a cause is not told by itself */
    mishap_free(a);
}

static void a_cause_may_be_missing_on_either_side(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, NULL);
    assert_ptr_equal(mishap_because(m, NULL), m);
    assert_ptr_equal(mishap_because(NULL, m), m);
    assert_null(mishap_because(NULL, NULL));
    assert_null(mishap_cause(m));
    mishap_free(m);
}

static void nothing_is_its_own_cause(void **state)
{
    (void)state;
    mishap *m = mishap_raise(NOT_FOUND, NULL);
    assert_ptr_equal(mishap_because(m, m), m);
    assert_null(mishap_cause(m));
    mishap_free(m);
}

static void a_chain_of_100000_causes_is_freed(void **state)
{
    (void)state;
    mishap *m = NULL;
    for (int i = 0; i < 100000; i++)
        m = mishap_because(mishap_raise(NOT_FOUND, NULL), m);
    mishap_free(m);
}

/* -- the account ------------------------------------------------------------------------------- */

/* Not static and not inlined, so that the stack has it and its name can be looked up. */
mishap *raise_by_name(int depth);

__attribute__((noinline)) mishap *raise_by_name(int depth)
{
    return mishap_raise(INTERNAL_ERROR, "Raised %d deep.", depth);
}

static void the_account_names_the_place_and_the_stack(void **state)
{
    (void)state;
    char place[256];
    mishap *m = raise_by_name(1);
    snprintf(place, sizeof place, "raised at %s:%d in raise_by_name\n", __FILE__, __LINE__ - 8);
    assert_account_has(m, place);
    assert_account_has(m, "native stack:\n    #0 raise_by_name+0x");
    mishap_free(m);
}

static void the_account_has_every_part(void **state)
{
    (void)state;
    mishap *m = mishap_raise(INTERNAL_ERROR, "The private message.");
    mishap_note(mishap_tell(m, "told-key", "told value"), "noted-key", "noted value");
    mishap_note(m, "noted-json", mishap_value_of_json("{\"a\": 1}"));
    mishap_tell_cause(m, "the summary");
    mishap_suggest(m, "The suggestion.");
    mishap_incident(m, "0190-incident");
    mishap_field_required(m, "the-field");
    mishap_type(m, "THE-TYPE");
    mishap_output(m, T("the output"));
    mishap_frame_add(mishap_frame_add(m, T("(FRAME-A)")), T("(FRAME-B)"));
    mishap_because(m, mishap_note(mishap_raise(CONNECTION_REFUSED, "The cause."), "errno", 111));
    static const char *const pieces[] = {
        "INTERNAL_ERROR: An internal error occurred.\n",
        "in detail: The private message.\n",
        "category system\n",
        "incident 0190-incident\n",
        "cause as told: the summary\n",
        "suggestion: The suggestion.\n",
        "raised at ",
        " in the_account_has_every_part\n",
        "told told-key = \"told value\"\n",
        "noted noted-key = \"noted value\"\n",
        "noted noted-json = {\"a\":1}\n",
        "field the-field: field_required\n",
        "condition type THE-TYPE\n",
        "output: the output\n",
        "frame 0: (FRAME-A)\n",
        "frame 1: (FRAME-B)\n",
        "native stack:\n    #0 ",
        "caused by CONNECTION_REFUSED: The cause.\n",
        "noted errno = 111\n",
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        assert_account_has(m, pieces[i]);
    assert_account_lacks(m, "left out");
    mishap_free(m);
}

/* -- NULL -------------------------------------------------------------------------------------- */

static void success_can_be_passed_to_everything(void **state)
{
    (void)state;
    mishap *none = NULL;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    assert_null(mishap_tell(none, "k", 1));
    assert_null(mishap_note(none, "k", 1));
    assert_null(mishap_message(none, T("x")));
    assert_null(mishap_tell_cause(none, "x"));
    assert_null(mishap_suggest(none, "x"));
    assert_null(mishap_docs(none, "x"));
    assert_null(mishap_retryable(none, true));
    assert_null(mishap_retry_after(none, 1));
    assert_null(mishap_file_under(none, MISHAP_SYSTEM));
    assert_null(mishap_incident(none, "x"));
    assert_null(mishap_field_required(none, "f"));
    assert_null(mishap_field_type(none, "f", "a", "b"));
    assert_null(mishap_field_length(none, "f", mishap_value_none(), mishap_value_none(), 1));
    assert_null(mishap_field_range(none, "f", mishap_value_none(), mishap_value_none(),
                                   mishap_value_none()));
    assert_null(mishap_field_pattern(none, "f", "x"));
    assert_null(mishap_field_add(none, &(mishap_field){ 0 }));
    assert_null(mishap_type(none, "T"));
    assert_null(mishap_output(none, T("x")));
    assert_null(mishap_frame_add(none, T("x")));
    assert_null(mishap_cause(none));
    assert_null(mishap_told(none));
    mishap_account(none, &buffer);
    assert_int_equal(buffer.length, 0);
    mishap_free(none);
}

static void no_text_can_be_passed_to_everything(void **state)
{
    (void)state;
    const char *none = NULL;
    mishap_text empty = { NULL, 0 };
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    assert_ptr_equal(mishap_tell(m, none, 1), m);
    assert_ptr_equal(mishap_note(m, none, 1), m);
    assert_ptr_equal(mishap_message(m, empty), m);
    assert_ptr_equal(mishap_tell_cause(m, none), m);
    assert_ptr_equal(mishap_suggest(m, none), m);
    assert_ptr_equal(mishap_docs(m, none), m);
    assert_ptr_equal(mishap_incident(m, none), m);
    assert_ptr_equal(mishap_type(m, none), m);
    assert_ptr_equal(mishap_output(m, empty), m);
    assert_null(mishap_told(m)->context); /* without a name nothing is told */
    assert_account_lacks(m, "noted");
    assert_ptr_equal(mishap_frame_add(m, empty), m);
    assert_ptr_equal(mishap_field_required(m, none), m);
    assert_ptr_equal(mishap_field_type(m, none, none, none), m);
    assert_ptr_equal(mishap_field_pattern(m, none, none), m);
    assert_int_equal(mishap_told(m)->field_count, 3);
    assert_text(mishap_public_suggestion(mishap_told(m)),
                MISHAP_CODE_VALIDATION_ERROR->suggestion.data);
    mishap_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(raising_takes_a_code_and_a_sentence),
        TEST(the_message_is_formatted),
        TEST(a_long_message_is_kept_whole),
        TEST(without_a_message_the_catalog_speaks),
        TEST(errno_survives_raising),
        TEST(an_errno_has_its_code_and_its_name),
        TEST(a_try_returns_what_failed),
        TEST(the_factories_have_their_codes_and_categories),
        TEST(what_is_raised_as_an_internal_error_stays_private),
        TEST(every_c_type_can_be_told),
        TEST(what_is_told_keeps_its_order_and_the_last_word_counts),
        TEST(a_key_that_is_no_utf8_is_one_key_when_told_twice),
        TEST(what_is_noted_is_for_the_operator_alone),
        TEST(told_json_is_made_compact_and_sound),
        TEST(what_is_no_json_is_told_as_a_string),
        TEST(secrets_are_redacted_wherever_they_come_in),
        TEST(json_that_goes_by_the_name_of_a_secret_is_redacted),
        TEST(every_text_is_made_valid_utf8_without_nul),
        TEST(the_five_rules_fill_in_their_members),
        TEST(a_field_is_added_alone_whatever_follows_it),
        TEST(thousands_of_parts_are_kept_in_order),
        TEST(the_subject_has_a_type_an_output_and_frames),
        TEST(the_catalog_says_whether_to_retry_until_the_occurrence_does),
        TEST(filing_under_a_category_takes_the_retry_away),
        TEST(what_is_recoverable_has_a_suggestion),
        TEST(causes_form_a_chain),
        TEST(a_cause_may_be_missing_on_either_side),
        TEST(nothing_is_its_own_cause),
        TEST(a_chain_of_100000_causes_is_freed),
        TEST(the_account_names_the_place_and_the_stack),
        TEST(the_account_has_every_part),
        TEST(success_can_be_passed_to_everything),
        TEST(no_text_can_be_passed_to_everything),
    };
    return RUN(tests);
}
