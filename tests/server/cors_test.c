/* Which pages of other origins may read a reply, field by field. */
#include "http/serve/serve.h"
#include "mcp/transport/http/over_http.h"
#include "server/origin.h"
#include "testing.h"

enum { METHODS = 1 << MISHAP_HTTP_GET | 1 << MISHAP_HTTP_HEAD | 1 << MISHAP_HTTP_OPTIONS };

#define EXPOSE                                                                                     \
    "Access-Control-Expose-Headers: X-Request-Id, Location, Retry-After, Allow, "                  \
    "Mcp-Session-Id\r\n"
#define ALLOW "Allow: GET, HEAD, OPTIONS\r\n"
#define SENT                                                                                       \
    "Access-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n"                                         \
    "Access-Control-Allow-Headers: Content-Type, Authorization, X-Api-Key, Mcp-Session-Id, "       \
    "MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID\r\n"                                \
    "Access-Control-Max-Age: 600\r\n"

/* What the extensions of a program ask for. */
static const mishap_http_extension *const extensions[] = { &mishap_api_over_http,
                                                           &mishap_mcp_over_http, NULL };
static mishap_http_fields *fields;

static int begin(void **state)
{
    (void)state;
    return mishap_http_fields_make(extensions, &fields) ? -1 : 0;
}

static int end(void **state)
{
    (void)state;
    mishap_http_fields_free(fields);
    return 0;
}

#define SETTINGS(list) (&(mishap_http_settings){ .cors = (list), .fields = fields })

/* -- helpers ----------------------------------------------------------------------------------- */

static mishap_http_request with_origin(mishap_text origin)
{
    mishap_http_request request = { .method = MISHAP_HTTP_GET };
    request.fields[MISHAP_HTTP_ORIGIN] = origin;
    return request;
}

/* Vary is written last, once, for all reasons that there are. */
static void assert_fields(mishap_http_reply *reply, const char *expected)
{
    if (reply->vary_origin)
        MISHAP_PUT(&reply->fields, "Vary: Origin\r\n");
    mishap_buffer_put_char(&reply->fields, '\0');
    assert_string_equal(reply->fields.data, expected);
    mishap_buffer_release(&reply->fields);
}

/* The fields that a reply to this origin gets. */
static void assert_cors(const char *allowed, mishap_text origin, const char *expected)
{
    mishap_http_reply reply = { 0 };
    mishap_http_request request = with_origin(origin);
    mishap_http_cors(&reply, SETTINGS(allowed), &request);
    assert_fields(&reply, expected);
}

/* What OPTIONS is answered with, if `method` is asked for. */
static void assert_options(const char *allowed, mishap_text origin, mishap_text method,
                           const char *expected)
{
    mishap_http_reply reply = { .status = 200, .media_type = "text/plain" };
    mishap_http_request request = with_origin(origin);
    request.method = MISHAP_HTTP_OPTIONS;
    request.fields[MISHAP_HTTP_REQUEST_METHOD] = method;
    mishap_http_cors_preflight(&reply, SETTINGS(allowed), &request, METHODS);
    mishap_http_cors(&reply, SETTINGS(allowed),
                     &request); /* as every reply gets it; nothing comes twice */
    assert_int_equal(reply.status, 204);
    assert_null(reply.media_type);
    assert_int_equal(reply.body.length, 0);
    assert_fields(&reply, expected);
}

static const mishap_text none = { NULL, 0 };

/* -- replies ----------------------------------------------------------------------------------- */

static void without_a_list_nothing_is_added(void **state)
{
    (void)state;
    assert_cors(NULL, T("https://app.example.com"), "");
    assert_cors(NULL, none, "");
}

static void with_a_star_anybody_may_read(void **state)
{
    (void)state;
    static const char expected[] = "Access-Control-Allow-Origin: *\r\n" EXPOSE;
    assert_cors("*", T("https://app.example.com"), expected);
    assert_cors("*", T("null"), expected);
    assert_cors("*", none, expected); /* a cache may give it to a page later */
    assert_cors(" * ", T("x"), expected);
}

static void an_origin_of_the_list_may_read(void **state)
{
    (void)state;
    static const char list[] = "https://a.example, http://localhost:3000 ,https://b.example";
    assert_cors(list, T("https://a.example"),
                "Access-Control-Allow-Origin: https://a.example\r\n" EXPOSE "Vary: Origin\r\n");
    assert_cors(list, T("http://localhost:3000"),
                "Access-Control-Allow-Origin: http://localhost:3000\r\n" EXPOSE "Vary: Origin\r\n");
    assert_cors(list, T("https://b.example"),
                "Access-Control-Allow-Origin: https://b.example\r\n" EXPOSE "Vary: Origin\r\n");
}

static void any_other_origin_gets_only_the_word_to_caches(void **state)
{
    (void)state;
    static const char *const others[] = {
        "https://b.example",
        "http://a.example",
        "https://a.example:443",
        "https://a.example/",
        "https://a.exampl",
        "https://a.example.evil.example",
        "https://sub.a.example",
        "HTTPS://A.EXAMPLE",
        "null",
        "",
        "*",
        ",",
        "https://a.example, null",
        "https://a.example,https://c.example",
        "https://a.example https://c.example",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_cors("https://a.example,https://c.example", mishap_text_of(others[i]),
                    "Vary: Origin\r\n");
    assert_cors("https://a.example", none, "Vary: Origin\r\n");
}

static void null_may_read_only_if_it_is_listed(void **state)
{
    (void)state;
    assert_cors("https://a.example", T("null"), "Vary: Origin\r\n");
    assert_cors("https://a.example,null", T("null"),
                "Access-Control-Allow-Origin: null\r\n" EXPOSE "Vary: Origin\r\n");
}

static void odd_bytes_are_never_repeated(void **state)
{
    (void)state;
    static const mishap_text odd[] = {
        MISHAP_TEXT("https://a.example\r\nSet-Cookie: a=b"),
        MISHAP_TEXT("https://a.example\0"),
        MISHAP_TEXT("\xff\xfe"),
        MISHAP_TEXT("https://\x7f"),
        MISHAP_TEXT("a b"),
        MISHAP_TEXT("\t"),
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_cors("https://a.example", odd[i], "Vary: Origin\r\n");
    /* Not even if the operator wrote them down, by mistake or after a line feed in a file. */
    assert_cors("https://a.example\r\nX: y", T("https://a.example\r\nX: y"), "Vary: Origin\r\n");
    assert_cors("\xff\xfe,a\x7f", T("\xff\xfe"), "Vary: Origin\r\n");
    assert_cors("\xff\xfe,a\x7f", T("a\x7f"), "Vary: Origin\r\n");
}

static void a_star_inside_a_list_is_no_origin(void **state)
{
    (void)state;
    assert_cors("https://a.example,*", T("*"), "Vary: Origin\r\n");
    assert_cors("https://a.example,*", T("https://b.example"), "Vary: Origin\r\n");
    assert_cors(",,", T(""), "Vary: Origin\r\n");
    assert_cors("", T(""), "Vary: Origin\r\n");
}

static void fields_that_are_there_stay_and_are_not_doubled(void **state)
{
    (void)state;
    mishap_http_reply reply = { 0 };
    mishap_http_request request = with_origin(T("https://a.example"));
    mishap_http_reply_field(&reply, "Location", T("/users/7"));
    for (int i = 0; i < 3; i++)
        mishap_http_cors(&reply, SETTINGS("https://a.example"), &request);
    assert_fields(&reply,
                  "Location: /users/7\r\n"
                  "Access-Control-Allow-Origin: https://a.example\r\n" EXPOSE "Vary: Origin\r\n");
}

/* -- OPTIONS ----------------------------------------------------------------------------------- */

static void options_always_says_what_is_allowed(void **state)
{
    (void)state;
    assert_options(NULL, none, none, ALLOW);
    assert_options(NULL, T("https://a.example"), T("GET"), ALLOW);
    assert_options("https://a.example", none, none, ALLOW "Vary: Origin\r\n");
}

static void a_preflight_says_what_may_be_sent(void **state)
{
    (void)state;
    assert_options("https://a.example", T("https://a.example"), T("GET"),
                   ALLOW "Access-Control-Allow-Origin: https://a.example\r\n" SENT
                         "Vary: Origin\r\n");
    assert_options("*", T("https://a.example"), T("GET"),
                   ALLOW "Access-Control-Allow-Origin: *\r\n" SENT);
}

static void a_preflight_from_elsewhere_learns_nothing(void **state)
{
    (void)state;
    assert_options("https://a.example", T("https://b.example"), T("GET"), ALLOW "Vary: Origin\r\n");
    assert_options("https://a.example", none, T("GET"), ALLOW "Vary: Origin\r\n");
}

static void what_a_preflight_asks_for_is_not_repeated(void **state)
{
    (void)state;
    mishap_http_reply reply = { 0 };
    mishap_http_request request = with_origin(T("https://a.example"));
    request.fields[MISHAP_HTTP_REQUEST_METHOD] = T("EVIL\r\nX: y");
    mishap_http_cors_preflight(&reply, SETTINGS("*"), &request, METHODS);
    assert_fields(&reply, ALLOW "Access-Control-Allow-Origin: *\r\n" SENT);
}

static void options_that_is_no_preflight_is_a_reply_like_others(void **state)
{
    (void)state;
    assert_options("https://a.example", T("https://a.example"), none,
                   ALLOW "Access-Control-Allow-Origin: https://a.example\r\n" EXPOSE
                         "Vary: Origin\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_list_nothing_is_added),
        TEST(with_a_star_anybody_may_read),
        TEST(an_origin_of_the_list_may_read),
        TEST(any_other_origin_gets_only_the_word_to_caches),
        TEST(null_may_read_only_if_it_is_listed),
        TEST(odd_bytes_are_never_repeated),
        TEST(a_star_inside_a_list_is_no_origin),
        TEST(fields_that_are_there_stay_and_are_not_doubled),
        TEST(options_always_says_what_is_allowed),
        TEST(a_preflight_says_what_may_be_sent),
        TEST(a_preflight_from_elsewhere_learns_nothing),
        TEST(what_a_preflight_asks_for_is_not_repeated),
        TEST(options_that_is_no_preflight_is_a_reply_like_others),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
