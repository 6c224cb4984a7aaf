/* What a Prefer header asks for. */
#include "http/calls/tasks.h"
#include "testing.h"

struct preferred {
    const char *value;
    bool async;
    int wait_ms;
};

static void assert_preferred(const struct preferred *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        /* Not a byte more than the value, so that reading beyond its end shows. */
        size_t length = strlen(cases[i].value);
        char *copy = malloc(length ? length : 1);
        int wait_ms = 7;
        assert_non_null(copy);
        memcpy(copy, cases[i].value, length);
        bool async = mishap_http_prefer_read((mishap_text){ copy, length }, &wait_ms);
        if (async != cases[i].async || wait_ms != cases[i].wait_ms)
            fail_msg("%s: %d, %d ms", cases[i].value, async, wait_ms);
        free(copy);
    }
}

static void preferences_are_read_from_a_list(void **unused)
{
    static const struct preferred cases[] = {
        { "", false, -1 },
        { "respond-async", true, -1 },
        { "Respond-Async , WAIT = 5", true, 5000 },
        { "wait=\"3\"; a=b, respond-async;c", true, 3000 },
        { "wait=2, wait=9", false, 2000 },
        { "respond-async=1", false, -1 },
        { "wait=x, respond-asynchronous", false, -1 },
        { ",;=,,", false, -1 },
    };
    (void)unused;
    assert_preferred(cases, sizeof cases / sizeof *cases);
}

static void what_is_in_quotes_is_one_word(void **unused)
{
    static const struct preferred cases[] = {
        { "foo=\"a, respond-async, wait=0\"", false, -1 },
        { "foo=\"a\", respond-async, wait=0", true, 0 },
        { "foo=\"a\\\", respond-async\", wait=4", false, 4000 },
        { "foo=\"a\\\\\", respond-async", true, -1 },
        { "foo; bar=\"x; y, respond-async\"; z, wait=1", false, 1000 },
        { "foo=\"a, respond-async", false, -1 },
        { "foo=\"a\\", false, -1 },
        { "\"", false, -1 },
    };
    (void)unused;
    assert_preferred(cases, sizeof cases / sizeof *cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(preferences_are_read_from_a_list),
        TEST(what_is_in_quotes_is_one_word),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
