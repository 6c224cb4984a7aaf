/* Whose page may call a server that asks for no key, and what a list of origins may have in it. */
#include "server/origin.h"
#include "testing.h"

/* -- helpers ----------------------------------------------------------------------------------- */

static const mishap_http_settings open_to_all = { .host = "127.0.0.1",
                                                  .public_url = "https://api.example.com:8443/v1",
                                                  .cors = "https://app.example" };
static const mishap_http_settings with_keys = { .host = "0.0.0.0", .key_required = true };

static mishap *check(const mishap_http_settings *settings, mishap_http_method method,
                     const char *host, const char *origin)
{
    mishap_http_request request = { .method = method };
    request.fields[MISHAP_HTTP_HOST] = mishap_text_of(host);
    request.fields[MISHAP_HTTP_ORIGIN] = mishap_text_of(origin);
    request.fields[MISHAP_HTTP_ACCEPT_ENCODING] = T("gzip, deflate, br");
    return mishap_http_check_origin(settings, &request);
}

static bool may_call(mishap_http_method method, const char *host, const char *origin)
{
    mishap *m = check(&open_to_all, method, host, origin);
    if (m)
        assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_FORBIDDEN);
    mishap_free(m);
    return m == NULL;
}

/* -- hosts ------------------------------------------------------------------------------------- */

static void a_server_goes_by_names_that_nobody_else_can_point_at_it(void **state)
{
    (void)state;
    static const char *const ours[] = {
        "localhost",
        "localhost:8080",
        "app.localhost:8080",
        "LOCALHOST:1",
        "127.0.0.1",
        "127.0.0.1:8080",
        "[::1]",
        "[::1]:8080",
        "api.example.com",
        "API.example.com:1",
        "192.0.2.7",
        "192.0.2.7:80",
        "[2001:db8::1]:1",
        "todo",
        "todo:8080",
        "h",
        "[::ffff:1.2.3.4]",
        "",
        NULL,
    };
    static const char *const foreign[] = {
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "app.xlocalhost",
        "127.0.0.1.evil.example",
        "api.example.com.a",
        "xapi.example.com",
        "evil.",
        "a.1b",
        "evil.example:",
        "localhost.",
        "127.0.0.1.nip.io:80",
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!may_call(MISHAP_HTTP_GET, ours[i], NULL))
            fail_msg("%s is refused", ours[i]);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        if (may_call(MISHAP_HTTP_GET, foreign[i], NULL) ||
            may_call(MISHAP_HTTP_POST, foreign[i], NULL))
            fail_msg("%s is taken", foreign[i]);
        assert_null(check(&with_keys, MISHAP_HTTP_POST, foreign[i], NULL));
    }
}

/* -- origins ----------------------------------------------------------------------------------- */

static void a_foreign_page_changes_nothing(void **state)
{
    (void)state;
    static const char *const foreign[] = {
        "http://evil.example",
        "null",
        "http://192.0.2.7",
        "http://localhost.evil.example",
        "http://localhost@evil.example",
        "",
        "http://todo",
        "https://app.example.evil.example",
        "http://app.example",
        "://",
        "https://app.example,https://app.example",
        "*",
    };
    static const mishap_http_method unsafe[] = { MISHAP_HTTP_POST, MISHAP_HTTP_PUT,
                                                 MISHAP_HTTP_PATCH, MISHAP_HTTP_DELETE,
                                                 MISHAP_HTTP_OTHER };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        for (size_t j = 0; j < sizeof unsafe / sizeof *unsafe; j++)
            if (may_call(unsafe[j], "localhost:8080", foreign[i]))
                fail_msg("%s may call", foreign[i]);
        assert_true(may_call(MISHAP_HTTP_GET, "localhost:8080", foreign[i])); /* and not read it */
        assert_true(may_call(MISHAP_HTTP_HEAD, "localhost:8080", foreign[i]));
        assert_null(check(&with_keys, MISHAP_HTTP_POST, "localhost:8080", foreign[i]));
    }
}

static void pages_of_our_own_and_of_the_list_may_call(void **state)
{
    (void)state;
    static const char *const known[] = { "http://localhost:3000", "http://127.0.0.1:8080",
                                         "http://[::1]:8080",     "https://api.example.com",
                                         "https://app.example",   NULL };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!may_call(MISHAP_HTTP_POST, "localhost", known[i]))
            fail_msg("%s may not call", known[i]);
    const mishap_http_settings any = { .host = "127.0.0.1", .cors = "*" };
    assert_null(check(&any, MISHAP_HTTP_POST, "localhost", "http://evil.example"));
    assert_null(check(&any, MISHAP_HTTP_POST, "localhost", "null"));
}

static void who_has_a_key_is_no_page_that_somebody_was_lured_to(void **state)
{
    (void)state;
    mishap_http_request request = { .method = MISHAP_HTTP_POST, .caller = "ci" };
    request.fields[MISHAP_HTTP_HOST] = T("evil.example");
    request.fields[MISHAP_HTTP_ORIGIN] = T("http://evil.example");
    assert_null(mishap_http_check_origin(&open_to_all, &request));
}

static void who_is_no_browser_goes_by_any_name(void **state)
{
    (void)state;
    static const char *const wanted[] = { NULL, "", "identity", "zip", "br" };
    mishap_http_request request = { .method = MISHAP_HTTP_POST };
    request.fields[MISHAP_HTTP_HOST] = T("api.elsewhere.example");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        request.fields[MISHAP_HTTP_ACCEPT_ENCODING] = mishap_text_of(wanted[i]);
        assert_null(mishap_http_check_origin(&open_to_all, &request));
    }
    request.fields[MISHAP_HTTP_ORIGIN] = T("http://localhost");
    mishap *m = mishap_http_check_origin(&open_to_all, &request); /* by its Origin it is one */
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_FORBIDDEN);
    mishap_free(m);
}

/* A browser that is told to ask for a range takes no gzip. */
static void who_asks_for_a_range_is_a_browser(void **state)
{
    (void)state;
    mishap_http_request request = { .method = MISHAP_HTTP_GET };
    request.fields[MISHAP_HTTP_HOST] = T("api.elsewhere.example");
    request.fields[MISHAP_HTTP_ACCEPT_ENCODING] = T("identity");
    request.fields[MISHAP_HTTP_RANGE] = T("bytes=0-");
    mishap *m = mishap_http_check_origin(&open_to_all, &request);
    assert_ptr_equal(mishap_told(m)->code, MISHAP_CODE_FORBIDDEN);
    mishap_free(m);
    request.fields[MISHAP_HTTP_HOST] = T("localhost:8080");
    assert_null(mishap_http_check_origin(&open_to_all, &request));
}

/* With keys any name will do, and pages of this machine and of the list may call. */
static void keys_make_names_harmless_and_origins_not(void **state)
{
    (void)state;
    assert_true(mishap_http_knows_host(&with_keys, T("anything.example")));
    assert_true(mishap_http_knows_origin(&with_keys, T("http://localhost:1")));
    assert_true(mishap_http_knows_origin(&with_keys, (mishap_text){ NULL, 0 }));
    assert_false(mishap_http_knows_origin(&with_keys, T("http://0.0.0.0")));
    assert_false(mishap_http_knows_origin(&with_keys, T("http://evil.example")));
}

static void a_browser_that_calls_by_a_foreign_name_is_told_so(void **state)
{
    (void)state;
    mishap_http_request request = { .method = MISHAP_HTTP_GET };
    request.fields[MISHAP_HTTP_ORIGIN] = T("http://localhost");
    request.fields[MISHAP_HTTP_HOST] = T("evil.example");
    mishap *m = mishap_http_check_origin(&(mishap_http_settings){ .host = "127.0.0.1" }, &request);
    assert_non_null(m);
    assert_string_equal(mishap_told(m)->message.data,
                        "The Host header of the request is not a host name of this server.");
    mishap_free(m);
}

/* -- links ------------------------------------------------------------------------------------- */

static bool links_to(const mishap_http_settings *settings, const char *host, const char *forwarded)
{
    mishap_http_request request = { .method = MISHAP_HTTP_GET };
    request.fields[MISHAP_HTTP_HOST] = mishap_text_of(host);
    request.fields[MISHAP_HTTP_FORWARDED_FOR] = mishap_text_of(forwarded);
    return mishap_http_links_to_host(settings, &request);
}

/* A server that listens on every address is called by one of them, or by a name that it does not
 * know. A key makes names harmless, but not ours. */
static void links_lead_to_hosts_of_ours_and_never_to_every_address(void **state)
{
    (void)state;
    static const char *const ours[] = { "localhost", "localhost:80",   "127.0.0.1:8080",
                                        "[::1]:80",  "192.0.2.7:8080", "[2001:db8::1]:1",
                                        "todo:8080" };
    static const char *const others[] = {
        "0.0.0.0", "0.0.0.0:80", "[::]", "[::]:8080", "", NULL, "evil.example", "evil.example:80"
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        assert_true(links_to(&with_keys, ours[i], NULL));
        assert_false(links_to(&with_keys, ours[i], "192.0.2.1")); /* a proxy's word */
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(links_to(&with_keys, others[i], NULL));
    assert_true(
        links_to(&(mishap_http_settings){ .host = "todo.example" }, "todo.example:1", NULL));
}

/* -- lists ------------------------------------------------------------------------------------- */

static void a_list_has_origins_as_browsers_spell_them(void **state)
{
    (void)state;
    static const char *const sound[] = {
        "*",
        "null",
        "https://a.example",
        "http://localhost:3000,https://b-c.d_e.example:8443",
        " https://a.example , null ",
        "http://[::1]:8080",
        "http://192.0.2.1",
        "https://a.example:80",
        "chrome-extension://abcdefghijklmnop",
        "capacitor://localhost",
    };
    static const struct {
        const char *list, *wrong;
    } unsound[] = {
        { "http://a.example/", "http://a.example/" },
        { "https://a.example,http://b.example/x", "http://b.example/x" },
        { "HTTP://a.example", "HTTP://a.example" },
        { "http://A.example", "http://A.example" },
        { "a.example", "a.example" },
        { "a.example:80", "a.example:80" },
        { "http://", "http://" },
        { "://a", "://a" },
        { "http:/a", "http:/a" },
        { "http://a:", "http://a:" },
        { "http://a:x", "http://a:x" },
        { "http://a:123456", "http://a:123456" },
        { "http://a.example:80", "http://a.example:80" },
        { "https://a.example:443", "https://a.example:443" },
        { "http://a?x", "http://a?x" },
        { "http://u@a", "http://u@a" },
        { "http://[::1", "http://[::1" },
        { "http://[]", "http://[]" },
        { "http://\xC3\xA9.example", "http://\xC3\xA9.example" },
        { "https://*.example", "https://*.example" },
        { "https://a.example,*", "*" },
        { "https://a.example,,null", "" },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
        if (mishap_http_unsound_origin(sound[i]).data)
            fail_msg("%s is refused", sound[i]);
    for (size_t i = 0; i < sizeof unsound / sizeof *unsound; i++) {
        mishap_text wrong = mishap_http_unsound_origin(unsound[i].list);
        assert_int_equal(wrong.data == NULL, unsound[i].wrong == NULL);
        if (!mishap_text_equal(wrong, mishap_text_of(unsound[i].wrong)))
            fail_msg("%s: %.*s", unsound[i].list, (int)wrong.length, wrong.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_server_goes_by_names_that_nobody_else_can_point_at_it),
        TEST(a_foreign_page_changes_nothing),
        TEST(pages_of_our_own_and_of_the_list_may_call),
        TEST(who_has_a_key_is_no_page_that_somebody_was_lured_to),
        TEST(who_is_no_browser_goes_by_any_name),
        TEST(who_asks_for_a_range_is_a_browser),
        TEST(keys_make_names_harmless_and_origins_not),
        TEST(a_browser_that_calls_by_a_foreign_name_is_told_so),
        TEST(links_lead_to_hosts_of_ours_and_never_to_every_address),
        TEST(a_list_has_origins_as_browsers_spell_them),
    };
    return RUN(tests);
}
