/* The writer of JSON that services use (mishap/json.h). */
#include "mishap/json.h"

#include <math.h>

#include "base/json_read.h"
#include "testing.h"

static void assert_written(mishap_buffer *json, const char *expected)
{
    assert_false(json->failed);
    mishap_buffer_add(json, "", 1);
    assert_string_equal(json->data, expected);
    mishap_buffer_release(json);
}

static void commas_and_keys_are_written_where_they_belong(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    mishap_json_put_object(&json, NULL);
    mishap_json_put_object(&json, "empty");
    mishap_json_put_end(&json, '}');
    mishap_json_put_array(&json, "items");
    mishap_json_put(&json, NULL, 1);
    mishap_json_put_array(&json, NULL);
    mishap_json_put_end(&json, ']');
    mishap_json_put_object(&json, NULL);
    mishap_json_put(&json, "a", "b");
    mishap_json_put_end(&json, '}');
    mishap_json_put(&json, NULL, "last");
    mishap_json_put_end(&json, ']');
    mishap_json_put(&json, "ok", true);
    mishap_json_put_end(&json, '}');
    assert_written(&json, "{\"empty\":{},\"items\":[1,[],{\"a\":\"b\"},\"last\"],\"ok\":true}");
}

static void every_kind_of_value_is_written(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    bool no = false;
    mishap_json_put_array(&json, NULL);
    mishap_json_put(&json, NULL, INT64_MIN);
    mishap_json_put(&json, NULL, UINT64_MAX);
    mishap_json_put(&json, NULL, 0.5);
    mishap_json_put(&json, NULL, (double)INFINITY);
    mishap_json_put(&json, NULL, (double)NAN);
    mishap_json_put(&json, NULL, no);
    mishap_json_put(&json, NULL, true);
    mishap_json_put(&json, NULL, (const char *)NULL);
    mishap_json_put(&json, NULL, T("text"));
    mishap_json_put(&json, NULL, mishap_value_of_json("{\"a\":[1]}"));
    mishap_json_put_end(&json, ']');
    assert_written(&json, "[-9223372036854775808,18446744073709551615,0.5,null,null,false,true,"
                          "null,\"text\",{\"a\":[1]}]");
}

static void no_value_leaves_the_key_out_as_well(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    mishap_json_put_object(&json, NULL);
    mishap_json_put(&json, "a", mishap_value_none());
    mishap_json_put(&json, "b", 1);
    mishap_json_put(&json, "c", mishap_value_none());
    mishap_json_put_end(&json, '}');
    assert_written(&json, "{\"b\":1}");
}

static void text_and_keys_are_escaped(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    mishap_json_put_object(&json, NULL);
    mishap_json_put_value(&json, T("a\"\\\0"), mishap_value_of_text(T("\x01\n\t\x7F\xC3\xA9/")));
    mishap_json_put_end(&json, '}');
    assert_written(&json, "{\"a\\\"\\\\\\u0000\":\"\\u0001\\n\\t\\u007f\xC3\xA9/\"}");
}

/* A surrogate, an overlong slash, a character that is cut off at the end, and a lone byte. */
static void bytes_that_are_not_utf8_are_replaced_one_by_one(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    mishap_json_put_object(&json, NULL);
    mishap_json_put(&json, "k\xFF",
                    "a\xED\xA0\x80"
                    "b\xC0\xAF\xE2\x82");
    mishap_json_put_end(&json, '}');
    assert_written(&json, "{\"k\xEF\xBF\xBD\":\"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                          "b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"}");
}

/* Without the cut at the end, the next comma would be missing. */
static void json_is_copied_without_the_white_space_behind_it(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    mishap_json_put_array(&json, NULL);
    mishap_json_put_json(&json, NULL, T("{ \"a\": 1 }\r\n \t"));
    mishap_json_put_json(&json, NULL, T(""));
    mishap_json_put_json(&json, NULL, (mishap_text){ NULL, 0 });
    mishap_json_put(&json, NULL, 2);
    mishap_json_put_end(&json, ']');
    assert_written(&json, "[{ \"a\": 1 },null,null,2]");
}

/* One that is no JSON, or is more than one value, cannot change what is around it. */
static void a_value_of_json_is_checked(void **state)
{
    (void)state;
    char deep[400];
    mishap_buffer json = { 0 };
    memset(deep, '[', 200);
    memset(deep + 200, ']', 199);
    deep[399] = '\0';
    mishap_json_put_object(&json, NULL);
    mishap_json_put(&json, "a", mishap_value_of_json(" { \"x\" : [ 1 , \"\\u00e9\" ] } \n"));
    mishap_json_put(&json, "b", mishap_value_of_json("1,\"admin\":true"));
    mishap_json_put(&json, "c", mishap_value_of_json("\"\xFF\""));
    mishap_json_put(&json, "d", mishap_value_of_json(""));
    mishap_json_put(&json, "e", mishap_value_of_json("{\"k\":1,\"k\":2}"));
    mishap_json_put(&json, "f", mishap_value_of_json(deep));
    mishap_json_put(&json, "g", mishap_value_of_json(NULL));
    mishap_json_put_end(&json, '}');
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_true(mishap_json_read(&reader, mishap_buffer_text(&json)));
    assert_int_equal(yyjson_obj_size(reader.root), 7);
    assert_string_equal(yyjson_get_str(yyjson_obj_get(reader.root, "f")), deep);
    mishap_json_reader_release(&reader);
    const char *expected = "{\"a\":{\"x\":[1,\"\xC3\xA9\"]},\"b\":\"1,\\\"admin\\\":true\","
                           "\"c\":\"\\\"\xEF\xBF\xBD\\\"\",\"d\":\"\","
                           "\"e\":\"{\\\"k\\\":1,\\\"k\\\":2}\",\"f\":\"";
    assert_memory_equal(json.data, expected, strlen(expected));
    mishap_buffer_release(&json);
}

static void documents_may_follow_each_other_on_lines(void **state)
{
    (void)state;
    mishap_buffer json = { 0 };
    for (int i = 0; i < 2; i++) {
        mishap_json_put_object(&json, NULL);
        mishap_json_put(&json, "n", i);
        mishap_json_put_end(&json, '}');
        mishap_buffer_add(&json, "\n", 1);
    }
    assert_written(&json, "{\"n\":0}\n{\"n\":1}\n");
}

/* -- without memory ---------------------------------------------------------------------------- */

/* It is all there, or the buffer has failed. */
static void write_much(const void *input)
{
    mishap_buffer json = { 0 };
    mishap_json_reader reader = { 0 };
    char long_text[600];
    (void)input;
    memset(long_text, '\xFF', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    mishap_json_put_object(&json, NULL);
    mishap_json_put_array(&json, long_text);
    for (int i = 0; i < 50; i++)
        mishap_json_put(&json, NULL, i % 2 ? "short" : long_text);
    mishap_json_put_end(&json, ']');
    mishap_json_put_json(&json, "raw", T("{}"));
    mishap_json_put(&json, "checked", mishap_value_of_json("[1]"));
    mishap_json_put_end(&json, '}');
    size_t saved = fail_at;
    fail_at = 0;
    if (!json.failed) {
        assert_true(mishap_json_read(&reader, mishap_buffer_text(&json)));
        assert_int_equal(yyjson_obj_size(reader.root), 3);
        assert_int_equal(yyjson_arr_size(unsafe_yyjson_get_first(reader.root) + 1), 50);
        mishap_json_reader_release(&reader);
    }
    fail_at = saved;
    mishap_buffer_release(&json);
}

static void a_lack_of_memory_fails_the_buffer_and_nothing_else(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(write_much, NULL);
    mishap_use_allocator(NULL);
}

static void a_buffer_that_has_failed_is_left_alone(void **state)
{
    (void)state;
    mishap_buffer json = { .failed = true };
    mishap_json_put_object(&json, "a");
    mishap_json_put(&json, "b\xFF", "c");
    mishap_json_put_json(&json, "d", T("1"));
    mishap_json_put_array(&json, NULL);
    mishap_json_put_end(&json, ']');
    assert_true(json.failed);
    assert_int_equal(json.length, 0);
    assert_null(json.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commas_and_keys_are_written_where_they_belong),
        TEST(every_kind_of_value_is_written),
        TEST(no_value_leaves_the_key_out_as_well),
        TEST(text_and_keys_are_escaped),
        TEST(bytes_that_are_not_utf8_are_replaced_one_by_one),
        TEST(json_is_copied_without_the_white_space_behind_it),
        TEST(a_value_of_json_is_checked),
        TEST(documents_may_follow_each_other_on_lines),
        TEST(a_lack_of_memory_fails_the_buffer_and_nothing_else),
        TEST(a_buffer_that_has_failed_is_left_alone),
    };
    return RUN(tests);
}
