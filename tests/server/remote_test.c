/* Where a request comes from: the peer, or whom a proxy on this machine speaks for. */
#include "server/origin.h"
#include "testing.h"

static const struct {
    const char *peer, *forwarded, *remote;
} rows[] = {
    { "127.0.0.1", NULL, "127.0.0.1" },
    { "127.0.0.1", "", "127.0.0.1" },
    { "127.0.0.1", "192.0.2.1", "192.0.2.1" },
    { "127.1.2.3", "192.0.2.1", "192.0.2.1" },
    { "::1", "192.0.2.1", "192.0.2.1" },
    { "::ffff:127.0.0.1", "192.0.2.1", "192.0.2.1" },
    { "127.0.0.1", "2001:db8::1", "2001:db8::1" },
    /* the last entry alone is the proxy's */
    { "127.0.0.1", "198.51.100.1, 192.0.2.1", "192.0.2.1" },
    { "127.0.0.1", "198.51.100.1,192.0.2.1", "192.0.2.1" },
    { "127.0.0.1", "x,,\t 192.0.2.1 \t", "192.0.2.1" },
    { "127.0.0.1", "192.0.2.1, unknown", "127.0.0.1" },
    { "127.0.0.1", "192.0.2.1,", "127.0.0.1" },
    /* with a port */
    { "127.0.0.1", "192.0.2.1:4711", "192.0.2.1" },
    { "127.0.0.1", "[2001:db8::1]:4711", "2001:db8::1" },
    { "127.0.0.1", "[2001:db8::1]", "2001:db8::1" },
    /* no address */
    { "127.0.0.1", "localhost", "127.0.0.1" },
    { "127.0.0.1", "192.0.2.256", "127.0.0.1" },
    { "127.0.0.1", "192.0.2", "127.0.0.1" },
    { "127.0.0.1", "[", "127.0.0.1" },
    { "127.0.0.1", "[]", "127.0.0.1" },
    { "127.0.0.1", ":", "127.0.0.1" },
    { "127.0.0.1", "1::2::3", "127.0.0.1" },
    { "127.0.0.1", "192.0.2.1\"}", "127.0.0.1" },
    { "127.0.0.1", "aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa", "127.0.0.1" },
    /* another machine says it */
    { "192.0.2.9", "192.0.2.1", "192.0.2.9" },
    { "2001:db8::9", "192.0.2.1", "2001:db8::9" },
    { "::ffff:192.0.2.9", "127.0.0.1", "::ffff:192.0.2.9" },
    { "::127.0.0.1", "192.0.2.1", "::127.0.0.1" },
    { "", "192.0.2.1", "" },
};

static void a_proxy_on_this_machine_says_whom_it_speaks_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_text found = mishap_http_remote(mishap_text_of(rows[i].peer),
                                               mishap_text_of(rows[i].forwarded));
        if (!mishap_text_equal(found, mishap_text_of(rows[i].remote)))
            fail_msg("%s with %s gave %.*s", rows[i].peer, rows[i].forwarded, (int)found.length,
                     found.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_proxy_on_this_machine_says_whom_it_speaks_for),
    };
    return RUN(tests);
}
