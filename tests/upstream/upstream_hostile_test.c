/* Bodies that no sane server sends, and memory that runs out. Each gives a code of the catalog. */
#include "testing.h"
#include "upstream/upstream.h"

#include "base/buffer.h"
#include "base/utf8.h"

static mishap *read_text(int status, const char *type, mishap_text body)
{
    mishap *m = NULL;
    const mishap_upstream_response response = { .status = status,
                                                .content_type = mishap_text_of(type),
                                                .body = body };
    assert_null(mishap_upstream_read(&response, &m, NULL));
    assert_non_null(m);
    for (const mishap_field *field = mishap_told(m)->fields; field; field = field->next) {
        assert_int_equal(mishap_utf8_valid_length(field->field), field->field.length);
        assert_true(field->field.length <= 300);
        assert_true(mishap_lower_snake(field->error));
    }
    return m;
}

/* A piece many times, between a head and an end. */
static mishap_buffer repeated(const char *head, const char *piece, size_t count, const char *end)
{
    mishap_buffer text = { 0 };
    mishap_buffer_put_text(&text, mishap_text_of(head));
    for (size_t i = 0; i < count; i++)
        mishap_buffer_put_text(&text, mishap_text_of(piece));
    mishap_buffer_put_text(&text, mishap_text_of(end));
    assert_false(text.failed);
    return text;
}

static const mishap_public *read_repeated(mishap **m, const char *head, const char *piece,
                                          size_t count, const char *end)
{
    mishap_buffer text = repeated(head, piece, count, end);
    *m = read_text(422, "application/json", mishap_buffer_text(&text));
    mishap_buffer_release(&text);
    return mishap_told(*m);
}

static void an_endless_list_of_fields_is_cut(void **state)
{
    (void)state;
    mishap *m;
    const mishap_public *told = read_repeated(
        &m, "{\"detail\":[", "{\"loc\":[\"body\",\"a\"],\"msg\":\"x\",\"type\":\"missing\"},", 5000,
        "{\"loc\":[\"body\",\"z\"],\"msg\":\"x\",\"type\":\"missing\"}]}");
    assert_true(told->code == MISHAP_CODE_VALIDATION_ERROR);
    assert_int_equal(told->field_count, MISHAP_UPSTREAM_FIELDS);
    assert_int_equal(mishap_public_member(told, "fields_left_out")->value.integer, 4901);
    mishap_free(m);
    told = read_repeated(&m, "{\"errors\":{\"a\":[", "\"is wrong\",", 5000, "\"is wrong\"]}}");
    assert_int_equal(told->field_count, MISHAP_UPSTREAM_FIELDS);
    assert_int_equal(mishap_public_member(told, "fields_left_out")->value.integer, 4901);
    mishap_free(m);
}

static void deep_nesting_is_not_followed(void **state)
{
    (void)state;
    mishap *m;
    const mishap_public *told = read_repeated(&m, "{\"errors\":", "{\"a\":", 100, "[\"x\"]");
    assert_true(told->code->http_status == 422); /* not JSON: the braces are not closed */
    mishap_free(m);
    mishap_buffer text = repeated("{\"errors\":", "{\"a\":", 100, "[\"x\"]");
    for (size_t i = 0; i < 101; i++)
        mishap_buffer_put_char(&text, '}');
    m = read_text(422, "application/json", mishap_buffer_text(&text));
    assert_int_equal(mishap_told(m)->field_count, 0);
    mishap_free(m);
    mishap_buffer_release(&text);
    told = read_repeated(&m, "", "[", 100000, "");
    assert_true(told->code->http_status == 422);
    mishap_free(m);
    told = read_repeated(&m, "{\"detail\":[{\"loc\":[", "\"step\",", 100000,
                         "\"x\"],\"msg\":\"y\"}]}");
    assert_int_equal(told->field_count, 1);
    mishap_free(m);
}

static void three_megabytes_give_the_code_of_their_status(void **state)
{
    (void)state;
    mishap *m = NULL;
    mishap_buffer text = repeated("{\"detail\":\"", "0123456789abcdef", 3 * 65536, "\"}"),
                  account = { 0 };
    m = read_text(404, "application/json", mishap_buffer_text(&text));
    assert_true(mishap_is(m, NOT_FOUND));
    assert_int_equal(mishap_told(m)->message.length, 0);
    mishap_account(m, &account);
    assert_true(account.length < 2 * MISHAP_UPSTREAM_NOTED);
    mishap_buffer_release(&account);
    mishap_buffer_release(&text);
    mishap_free(m);
}

static void a_long_message_is_cut_between_characters(void **state)
{
    (void)state;
    mishap_buffer text = repeated("{\"message\":\"x ", "\xC3\xA4", 4000, "\"}");
    mishap *m = read_text(404, "application/json", mishap_buffer_text(&text));
    mishap_text message = mishap_told(m)->message;
    assert_true(message.length > 400 && message.length <= 500);
    assert_int_equal(mishap_utf8_valid_length(message), message.length);
    mishap_buffer_release(&text);
    mishap_free(m);
}

static const struct {
    const char *type;
    mishap_text body;
} odd[] = {
    { "application/json", MISHAP_TEXT("") },
    { "application/json", MISHAP_TEXT("\0\0\0") },
    { "text/plain", MISHAP_TEXT("No\0such") },
    { "text/plain", MISHAP_TEXT("\xFF\xFE\x80 no") },
    { "application/json", MISHAP_TEXT("{\"detail\":\"\xC3\x28\"}") },
    { "application/json", MISHAP_TEXT("{\"detail\":\"\\ud800\"}") },
    { "application/json", MISHAP_TEXT("{\"detail\":\"a\\u0000b\"}") },
    { "application/json", MISHAP_TEXT("{\"a\\u0000\":[\"is required\"]}") },
    { "application/json", MISHAP_TEXT("{\"detail\":\"one\",\"detail\":[]}") },
    { "application/json", MISHAP_TEXT("{\"detail\":7}") },
    { "application/json", MISHAP_TEXT("{\"detail\":null}") },
    { "application/json", MISHAP_TEXT("{\"detail\":[1,null,[],{},\"\",{\"loc\":7,\"msg\":7}]}") },
    { "application/json", MISHAP_TEXT("{\"detail\":[{\"loc\":[{},[],null,-1,1e9,true]}]}") },
    { "application/json", MISHAP_TEXT("{\"errors\":{\"\":{\"\":[[[[\"x\"]]]]}}}") },
    { "application/json", MISHAP_TEXT("{\"errors\":{\"a\":7,\"b\":null,\"c\":[null]}}") },
    { "application/json", MISHAP_TEXT("{\"statusCode\":\"400\",\"message\":{\"a\":1}}") },
    { "application/json", MISHAP_TEXT("{\"statusCode\":400,\"message\":\"body, body/ must \"}") },
    { "application/json", MISHAP_TEXT("{\"success\":false,\"error\":{\"message\":\"[[[[\"}}") },
    { "application/json", MISHAP_TEXT("{\"success\":false,\"error\":{\"message\":\"[7]\"}}") },
    { "application/json", MISHAP_TEXT("{\"error\":{\"code\":{},\"message\":[]}}") },
    { "application/json", MISHAP_TEXT("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":\"x\"}}") },
    { "application/json", MISHAP_TEXT("{\"code\":\"NOT_FOUND\",\"title\":7,\"detail\":7}") },
    { "application/json", MISHAP_TEXT("{\"ok\":false,\"error\":{\"code\":\"\"}}") },
    { "application/json", MISHAP_TEXT("[]") },
    { "application/json", MISHAP_TEXT("[[\"x\"]]") },
    { "application/json", MISHAP_TEXT("\"\"") },
    { "application/json", MISHAP_TEXT("12345678901234567890123") },
    { "application/json",
      MISHAP_TEXT("{\"detail\":[{\"loc\":[\"a\"],\"type\":\"less_than\",\"ctx\":"
                  "{\"lt\":123456789012345678901234567890}}]}") },
    { "application/json",
      MISHAP_TEXT("{\"a\":[\"must be at most 9999999999999999999999999999\"]}") },
    { "application/json", MISHAP_TEXT("{\"a\":[\"between 9 and 1\"]}") },
    { "text/html", MISHAP_TEXT("<") },
    { "text/html", MISHAP_TEXT("<title>Error</title><pre>") },
    { "text/html", MISHAP_TEXT("<title>Error</title><pre>&</pre>") },
    { "text/html",
      MISHAP_TEXT("<title>Error</title><pre>&lt;script&gt;alert(1)&lt;/script&gt;</pre>") },
    { "text/html", MISHAP_TEXT("<title>999 </title><h1>40</h1>") },
    { NULL, MISHAP_TEXT("[ERROR] \n") },
    { NULL, MISHAP_TEXT("[stdout]\n\n[ERROR]") },
    { "image/png", MISHAP_TEXT("\x89PNG\r\n") },
};

static void odd_bodies_give_a_code_of_their_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        static const int statuses[] = { 0, 404, 422, 503 };
        for (size_t k = 0; k < sizeof statuses / sizeof *statuses; k++) {
            mishap *m = read_text(statuses[k], odd[i].type, odd[i].body);
            const mishap_public *told = mishap_told(m);
            if (statuses[k])
                assert_int_equal(told->code->http_status / 100, statuses[k] / 100);
            assert_int_equal(mishap_utf8_valid_length(told->message), told->message.length);
            assert_false(told->message.length && strchr(told->message.data, '<'));
            mishap_free(m);
        }
    }
}

/* Each has a marker that no caller may see. */
static const struct {
    int status;
    const char *type;
    mishap_text body;
} disguised[] = {
    /* texts that the leak guard does not see, since each letter stands alone */
    { 400, "text/plain", MISHAP_TEXT("\xFF\xFEM\0A\0R\0K\0") },
    { 400, "text/plain", MISHAP_TEXT("MARK\0er") },
    { 400, "text/plain", MISHAP_TEXT("MARK \xC0\xAFsrv") },
    { 400, "text/plain", MISHAP_TEXT("MARK \x1B[31mred") },
    { 400, "text/plain", MISHAP_TEXT("MARK \x7F") },
    { 400, "text/plain", MISHAP_TEXT("MARK \xC2\x9B") },
    { 400, "text/plain", MISHAP_TEXT("MARK \xE2\x80\xAEgnp") },
    { 400, "text/plain", MISHAP_TEXT("MARK \xE2\x81\xA6x") },
    { 400, "application/json", MISHAP_TEXT("{\"detail\":\"MARK\\u0000er\"}") },
    { 400, "application/json", MISHAP_TEXT("{\"message\":\"open MARK&#x2F;srv&#x2F;key\"}") },
    { 400, "text/html", MISHAP_TEXT("<title>Error</title><pre>At MARK&#47;app</pre>") },
    /* names, sentences and expected values of fields, and members beside the message */
    { 400, "application/json", MISHAP_TEXT("{\"MARK\\u001b[1m\":[\"is bad\"]}") },
    { 400, "application/json", MISHAP_TEXT("{\"a\":[\"MARK\\u202e is bad\"]}") },
    { 400, "application/json",
      MISHAP_TEXT(
          "{\"errors\":[{\"field\":\"a\",\"type\":\"regex\",\"pattern\":\"MARK\\u0007\"}]}") },
    { 400, "application/json", MISHAP_TEXT("{\"message\":\"It is bad.\",\"a\":\"MARK\\u009b\"}") },
    { 400, "application/json", MISHAP_TEXT("{\"message\":\"It is bad.\",\"MARK\\u009b\":1}") },
    { 400, "application/json",
      MISHAP_TEXT("{\"message\":\"It is bad.\",\"StackTrace\":\"MARK\"}") },
    { 400, "application/json",
      MISHAP_TEXT("{\"message\":\"It is bad.\",\"debug_message\":\"MARK\"}") },
    { 400, "application/json",
      MISHAP_TEXT("{\"message\":\"It is bad.\",\"innerException\":\"MARK\"}") },
    { 400, "application/json", MISHAP_TEXT("{\"message\":\"It is bad.\",\"Hostname\":\"MARK\"}") },
    { 400, "application/json", MISHAP_TEXT("{\"message\":\"It is bad.\",\"PATH\":\"MARK\"}") },
    { 400, "application/json",
      MISHAP_TEXT(
          "{\"statusCode\":400,\"message\":\"It is bad.\",\"code\":\"in MARK of inside\"}") },
    { 404, "application/json", MISHAP_TEXT("{\"message\":\"UserMARKException\"}") },
    { 400, "application/json", MISHAP_TEXT("{\"a\":[\"it is not in /srv/MARK/users.db\"]}") },
    /* JSON that was cut off is no text */
    { 400, NULL, MISHAP_TEXT("{\"message\":\"It is bad.\",\"trace\":\"MARK") },
    { 400, "text/plain", MISHAP_TEXT("[{\"exception\":\"MARK") },
    /* a server that failed, in the words of one of our dialects with a code that is not masked */
    { 500, "application/json", MISHAP_TEXT("{\"error\":\"conflict\",\"message\":\"MARK\"}") },
    { 502, "application/json",
      MISHAP_TEXT("{\"code\":\"NOT_FOUND\",\"title\":\"MARK\",\"detail\":\"MARK\"}") },
};

static void disguised_text_reaches_no_caller(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof disguised / sizeof *disguised; i++) {
        mishap *m = read_text(disguised[i].status, disguised[i].type, disguised[i].body);
        char *text = rendered(mishap_dialect_find("canonical"), m);
        if (strstr(text, "MARK") || strstr(text, "M\xEF\xBF\xBD"))
            fail_msg("%zu: %s", i, text);
        assert_int_equal(mishap_told(m)->code->http_status / 100, disguised[i].status / 100);
        free(text);
        mishap_free(m);
    }
}

/* A byte order mark is no part of the text. */
static void a_byte_order_mark_is_left_out(void **state)
{
    (void)state;
    static const char *const bodies[] = { "\xEF\xBB\xBFIt is taken.",
                                          "\xEF\xBB\xBF{\"message\":\"It is taken.\"}" };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        mishap *m = read_text(409, NULL, mishap_text_of(bodies[i]));
        assert_true(mishap_text_equal(mishap_told(m)->message, mishap_text_of("It is taken.")));
        mishap_free(m);
    }
}

static void only_some_members_are_told(void **state)
{
    (void)state;
    mishap_buffer text = { 0 };
    MISHAP_PUT(&text, "{\"message\":\"It is bad.\",\"");
    for (unsigned i = 0; i < 300; i++)
        mishap_buffer_put_char(&text, 'n');
    MISHAP_PUT(&text, "\":1");
    for (unsigned i = 0; i < 40; i++) {
        MISHAP_PUT(&text, ",\"m");
        mishap_buffer_put_uint(&text, i);
        MISHAP_PUT(&text, "\":1");
    }
    MISHAP_PUT(&text, "}");
    mishap *m = read_text(400, "application/json", mishap_buffer_text(&text));
    assert_non_null(mishap_public_member(mishap_told(m), "m15"));
    assert_null(mishap_public_member(mishap_told(m), "m16"));
    mishap_buffer_release(&text);
    mishap_free(m);
}

static void a_long_expected_value_is_not_told(void **state)
{
    (void)state;
    mishap *m;
    const mishap_public *told = read_repeated(
        &m, "{\"errors\":[{\"field\":\"a\",\"type\":\"regex\",\"pattern\":\"", "ab", 5000, "\"}]}");
    assert_int_equal(told->field_count, 1);
    assert_int_equal(told->fields->expected.kind, MISHAP_KIND_NONE);
    mishap_free(m);
}

/* -- no memory --------------------------------------------------------------------------------- */

static const char *const tortured[][2] = {
    { "application/json",
      "{\"detail\":[{\"type\":\"greater_than\",\"loc\":[\"body\",\"items\",0,\"price\"],\"msg\":"
      "\"Input "
      "should be greater than "
      "0\",\"ctx\":{\"gt\":0}},{\"type\":\"missing\",\"loc\":[\"body\",\"name\"],"
      "\"msg\":\"Field required\"}]}" },
    { "application/json",
      "{\"statusCode\":400,\"error\":\"Bad Request\",\"message\":\"body/age must be <= "
      "150, body must have required property 'name'\"}" },
    { "application/json", "{\"error\":\"not_found\",\"message\":\"There is no user 7.\"}" },
    { "application/json",
      "{\"success\":false,\"error\":{\"message\":\"[{\\\"code\\\":\\\"invalid_type\\\","
      "\\\"expected\\\":\\\"string\\\",\\\"path\\\":[\\\"name\\\"]}]\"}}" },
    { "text/html", "<title>Error</title>\n<pre>There is no user &lt;7&gt;.</pre>" },
    { "text/plain", "/home/app/x is not here: postgres://ada:hunter22@db7.internal/users" },
};

struct tortured {
    mishap_upstream_response response;
    const char *whole;
};

static void read_with_little_memory(const void *input)
{
    const struct tortured *tortured_one = input;
    mishap *m = NULL;
    mishap *failure = mishap_upstream_read(&tortured_one->response, &m, NULL);
    assert_true(!failure || failure == mishap_out_of_memory());
    assert_whole_or_no_memory(failure ? failure : m, tortured_one->whole);
}

static void memory_that_runs_out_gives_all_or_nothing(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    for (size_t i = 0; i < sizeof tortured / sizeof *tortured; i++) {
        struct tortured one = { .response = { .status = 404,
                                              .content_type = mishap_text_of(tortured[i][0]),
                                              .body = mishap_text_of(tortured[i][1]) } };
        mishap *m = NULL;
        fail_at = 0;
        assert_null(mishap_upstream_read(&one.response, &m, NULL));
        char *whole = rendered(mishap_dialect_find("canonical"), m);
        one.whole = whole;
        mishap_free(m);
        torture(read_with_little_memory, &one);
        free(whole);
    }
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_endless_list_of_fields_is_cut),
        TEST(deep_nesting_is_not_followed),
        TEST(three_megabytes_give_the_code_of_their_status),
        TEST(a_long_message_is_cut_between_characters),
        TEST(odd_bodies_give_a_code_of_their_status),
        TEST(disguised_text_reaches_no_caller),
        TEST(a_byte_order_mark_is_left_out),
        TEST(a_long_expected_value_is_not_told),
        TEST(only_some_members_are_told),
        TEST(memory_that_runs_out_gives_all_or_nothing),
    };
    return RUN(tests);
}
