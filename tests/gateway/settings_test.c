/* The settings of `mishap gateway`: URLs that are hostile, and a plan without memory. */
#include "testing.h"

#include "base/base.h"
#include "gateway/gateway.h"

static const char *wrong_with(const char *url)
{
    mishap_gateway_target target;
    return mishap_gateway_target_read(mishap_text_of(url), &target);
}

static void a_url_has_a_host_and_a_port(void **state)
{
    (void)state;
    static const struct {
        const char *url, *host, *port;
        bool tls;
    } right[] = {
        { "http://127.0.0.1:3000", "127.0.0.1", "3000", false },
        { "HTTP://Example.com/", "Example.com", "80", false },
        { "https://api.example.com", "api.example.com", "443", true },
        { "http://[::1]:8080", "::1", "8080", false },
        { "http://[::1]", "::1", "80", false },
        { "https://a_b-c.d:65535/", "a_b-c.d", "65535", true },
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        mishap_gateway_target target;
        assert_null(mishap_gateway_target_read(mishap_text_of(right[i].url), &target));
        assert_string_equal(target.host, right[i].host);
        assert_string_equal(target.port, right[i].port);
        assert_true(target.tls == right[i].tls && !target.local);
    }
    mishap_gateway_target target;
    assert_null(
        mishap_gateway_target_read((mishap_text)MISHAP_TEXT("http://unix:/a b\";"), &target));
    assert_true(target.local);
    assert_string_equal(target.path, "/a b\";");
}

static void a_hostile_url_is_refused(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "",
        "http://",
        "http:///",
        "http://:80",
        "ftp://a",
        "//a",
        "http://a:",
        "http://a:b",
        "http://a:0",
        "http://a:65536",
        "http://[",
        "http://[]",
        "http://[::1",
        "http://[::1]x",
        "http://[a;b]",
        "http://a b",
        "http://a;b",
        "http://a\"",
        "http://a\n",
        "http://\xff",
        "http://a#",
        "http://a?b",
        "http://a/b",
        "http://u:p@a",
        "http://a:1:2",
        "http://$a",
        "http://unix:",
        "http://unix:a",
        "http://unix:/\x7f",
        "https://unix:/a",
        "http://a:123456789012345678901",
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        if (!wrong_with(urls[i]))
            fail_msg("`%s` is taken for right", urls[i]);
    assert_non_null(mishap_gateway_target_read((mishap_text){ "http://a\0b", 10 },
                                               &(mishap_gateway_target){ 0 }));
    enum { MUCH = 3000000 };
    char *much = malloc(MUCH);
    assert_non_null(much);
    memset(much, 'a', MUCH);
    memcpy(much, "http://", 7);
    assert_non_null(
        mishap_gateway_target_read((mishap_text){ much, MUCH }, &(mishap_gateway_target){ 0 }));
    memcpy(much, "http://unix:/", 13);
    assert_non_null(
        mishap_gateway_target_read((mishap_text){ much, MUCH }, &(mishap_gateway_target){ 0 }));
    free(much);
}

/* -- memory ------------------------------------------------------------------------------------ */

static void plan_with_little_memory(const void *input)
{
    static mishap_gateway_plan plan;
    mishap *found = mishap_gateway_plan_make(input, &plan);
    assert_non_null(found);
    assert_true(mishap_is(found, NOT_CONFIGURED));
    mishap_free(found);
    mishap_http_sockets_close(&plan.sockets);
}

static void findings_need_no_memory(void **state)
{
    (void)state;
    const mishap_gateway_wish wish = { .program = "x",
                                       .to = "ftp://a,http://127.0.0.1:1,http://b/c",
                                       .listen = "nowhere",
                                       .dialect = "morse",
                                       .incidents = "/no/such/folder/log",
                                       .nginx = "/nowhere/nginx",
                                       .module = "/nowhere/module.so" };
    mishap_use_allocator(&failing_allocator);
    torture(plan_with_little_memory, &wish);
    mishap_use_allocator(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_url_has_a_host_and_a_port),
        TEST(a_hostile_url_is_refused),
        TEST(findings_need_no_memory),
    };
    return RUN(tests);
}
