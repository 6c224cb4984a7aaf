/* src/mishap: what is told and noted, of every type, secrets in it, and text that is none. */
#include <time.h>

#include "testing.h"

#include "mishap/bind.h"
#include "value_sides.h"

#define MARK     "\xEF\xBF\xBD" /* U+FFFD, in place of what is no UTF-8 */
#define REDACTED "[redacted]"

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

/* Tell this many keys in an order that a caller may choose: 0 upwards, 1 downwards, 2 mixed. Each
 * is told twice. */
static mishap *tell_many(unsigned count, int order)
{
    mishap *m = mishap_raise(NOT_FOUND, "Told.");
    for (unsigned i = 0; i < 2 * count; i++) {
        unsigned number = i % count;
        if (order)
            number = order == 1 ? count - 1 - number : number * 7919 % count;
        char key[16];
        snprintf(key, sizeof key, "key%08u", number);
        m = mishap_tell_value(m, mishap_text_of(key), mishap_value_of_int(i));
    }
    return m;
}

static void many_keys_keep_their_order_and_the_last_word_counts(void **state)
{
    (void)state;
    for (unsigned count = 1; count < 200; count += 3)
        for (int order = 0; order < 2; order++) {
            mishap *m = tell_many(count, order);
            const mishap_member *at = mishap_told(m)->context;
            for (unsigned i = 0; i < count; i++, at = at->next) {
                char key[16];
                snprintf(key, sizeof key, "key%08u", order ? count - 1 - i : i);
                assert_text(at->key, key);
                assert_int_equal(at->value.integer, count + i);
            }
            assert_null(at);
            mishap_free(m);
        }
}

static double seconds_for(unsigned count, int order)
{
    struct timespec begun, ended;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
    mishap_free(tell_many(count, order));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    return (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec) / 1e9;
}

/* Sixteen times as many keys take about sixteen times as long, and not 256 times. The best of a few
 * runs counts: others use the processor, too. */
static void many_keys_take_a_time_that_grows_with_their_number(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        double few = 1e9, many = 1e9;
        for (int run = 0; run < 5; run++) {
            double one = seconds_for(4000, order), other = seconds_for(64000, order);
            few = one < few ? one : few;
            many = other < many ? other : many;
        }
        if (many > few * 100)
            fail_msg("4000 keys take %f s, 64000 take %f s", few, many);
    }
}

static void a_key_that_was_taken_out_is_told_again(void **state)
{
    (void)state;
    static const char leak[] = "at read (/home/ada/app.js:3:9)\n    at run (/home/ada/run.js:4:5)";
    mishap *m = mishap_tell_value(tell_many(100, 0), mishap_text_of(leak), mishap_value_of_int(1));
    m = mishap_tell(m, "later", 1);
    size_t before = 0, after = 0;
    for (const mishap_member *at = mishap_told(m)->context; at; at = at->next)
        before++;
    m = mishap_guard_told(m, true, NULL, 0);
    for (const mishap_member *at = mishap_told(m)->context; at; at = at->next)
        after++;
    assert_int_equal(after, before - 1);
    m = mishap_tell_value(m, mishap_text_of(leak), mishap_value_of_int(2));
    m = mishap_tell(m, "later", 3);
    assert_int_equal(told(m, leak)->integer, 2);
    assert_int_equal(told(m, "later")->integer, 3);
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
    mishap_tell(m, "token", 5); /* a short number is no secret */
    mishap_tell(m, "api_password", 12345678);
    mishap_tell(m, "passphrase", 123456.5);
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
    mishap_field_range(m, "passwd", mishap_value_of_int(0), mishap_value_of_int(9),
                       mishap_value_of_int(123456));
    assert_text(mishap_told(m)->message, "Cannot reach redis://:" REDACTED "@cache.");
    assert_told_text(m, "password", REDACTED);
    assert_int_equal(told(m, "token")->integer, 5);
    assert_told_text(m, "api_password", REDACTED);
    assert_told_text(m, "passphrase", REDACTED);
    assert_told_text(m, "address", "postgres://app:" REDACTED "@db/x");
    assert_told_json(m, "body", "{\"user\":\"bob\",\"api_key\":\"" REDACTED "\"}");
    assert_text(mishap_told(m)->fields->actual.text, REDACTED);
    assert_int_equal(mishap_told(m)->fields->next->actual.integer, 12);
    assert_text(mishap_told(m)->fields->next->next->actual.text, REDACTED);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_c_type_can_be_told),
        TEST(what_is_told_keeps_its_order_and_the_last_word_counts),
        TEST(a_key_that_is_no_utf8_is_one_key_when_told_twice),
        TEST(many_keys_keep_their_order_and_the_last_word_counts),
        TEST(many_keys_take_a_time_that_grows_with_their_number),
        TEST(a_key_that_was_taken_out_is_told_again),
        TEST(what_is_noted_is_for_the_operator_alone),
        TEST(told_json_is_made_compact_and_sound),
        TEST(what_is_no_json_is_told_as_a_string),
        TEST(secrets_are_redacted_wherever_they_come_in),
        TEST(json_that_goes_by_the_name_of_a_secret_is_redacted),
        TEST(every_text_is_made_valid_utf8_without_nul),
    };
    return RUN(tests);
}
