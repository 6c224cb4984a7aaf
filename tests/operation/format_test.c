/* src/operation/format: what is of a format, and what only looks like it. */
#include "testing.h"

#include "operation/format.h"

static const struct {
    const char *format;
    const char *good[16], *bad[24];
} cases[] = {
    { "date",
      { "2026-02-28", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31" },
      { "", "2026-02-31", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-01-00",
        "2026-1-1", "26-01-01", "2026-01-01 ", " 2026-01-01", "2026/01/01", "2026-01-01T00:00:00Z",
        "20260101", "2026-04-31", "today", "-026-01-01" } },
    { "time",
      { "18:30:00Z", "00:00:00z", "23:59:60Z", "18:30:00.5+01:00", "23:59:59.123456-23:59",
        "00:59:60+01:00", "15:59:60-08:00" },
      { "", "18:30:00", "18:30Z", "24:00:00Z", "18:60:00Z", "18:30:61Z", "22:59:60Z", "12:00:60Z",
        "18:30:00.Z", "18:30:00+1:00", "18:30:00+24:00", "18:30:00+01:60", "18:30:00+0100",
        "18:30:00 Z", "18:30:00ZZ" } },
    { "date-time",
      { "2026-02-28T18:30:00Z", "2026-02-28t18:30:00z", "2016-12-31T23:59:60Z",
        "2026-02-28T18:30:00.25-05:00" },
      { "", "2026-02-28", "2026-02-28 18:30:00Z", "2026-02-31T18:30:00Z", "2026-02-28T25:00:00Z",
        "2026-02-28T18:30:00", "2026-02-28T", "T18:30:00Z" } },
    { "duration",
      { "P1Y", "P1Y2M10DT2H30M", "P3W", "PT36H", "P1M", "PT1M", "P0D", "PT0S", "P1Y2M",
        "PT1H2M3S" },
      { "", "P", "PT", "1D", "P1", "P1S", "PT1D", "P1DT", "P1W2D", "P2D1M", "P1Y1D", "PT1H1S",
        "p1d", "P-1D", "P1.5D", "P1D ", "P1H", "PT1HH" } },
    { "email",
      { "ada@example.com", "a.b+c@x.y", "o'neil@example.com", "a@localhost", "a@[192.0.2.1]",
        "a@[IPv6:2001:db8::1]", "\xc3\xa4@example.com" },
      { "", "ada", "@example.com", "ada@", "ada@@example.com", ".ada@example.com",
        "ada.@example.com", "a..b@example.com", "a b@example.com", "ada@exa mple.com",
        "ada@-example.com", "ada@example..com", "a@[192.0.2.256]", "a@[IPv6:zz]", "a@[]",
        "<ada@example.com>", "ada@example.com\n",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@example.com" } },
    { "hostname",
      { "example.com", "localhost", "a", "3com.example", "xn--bcher-kva.example", "A-B.c",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com" },
      { "", ".", "example.com.", ".example.com", "a..b", "-a.com", "a-.com", "a_b.com", "a b",
        "b\xc3\xbc"
        "cher.example",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com" } },
    { "ipv4",
      { "192.0.2.1", "0.0.0.0", "255.255.255.255" },
      { "", "192.0.2", "192.0.2.256", "192.0.2.1.1", "192.0.2.01", "192.0.2.1 ", "::1",
        "0x7f.0.0.1", "1e1.0.0.1" } },
    { "ipv6",
      { "2001:db8::1", "::", "::1", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8", "FE80::A" },
      { "", "192.0.2.1", "2001:db8:::1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "fe80::1%eth0",
        "12345::", "[::1]", "::g",
        "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000" } },
    { "uri",
      { "https://example.com/a?b=c#d", "mailto:ada@example.com", "urn:isbn:0451450523",
        "a:", "http://[2001:db8::1]:80/", "file:///a%20b", "x+y.z-1:a", "http://ada:b:c@[::1]",
        "http://:80", "http://a:", "http://[v1.a:b]:8", "a://@b:1?c" },
      { "http://[", "http://]", "http://[]", "http://]::1[", "http://[::1", "http://[zz]/",
        "http://[::1]x", "http://[::1]:8x", "http://a:b", "http://a:8:8", "http://a@b@c",
        "http://[::1]@b", "http://a[::1]", "http://[v.a]", "http://[v1.a]b]" } },
    { "uri",
      { "a:b" },
      { "", "example.com", "/a", "//example.com", "1http://x", "http://a b", "http://a%2",
        "http://a%zz", "http://a/[b]", "a:[b]", "http://\xc3\xa4", "http://a#b#c", "http://<a>",
        ":a", "http://a\"b", "ht_tp://a" } },
    { "uuid",
      { "01234567-89ab-7def-8123-456789abcdef", "01234567-89AB-7DEF-8123-456789ABCDEF",
        "00000000-0000-0000-0000-000000000000" },
      { "", "01234567-89ab-7def-8123-456789abcde", "01234567-89ab-7def-8123-456789abcdef0",
        "0123456789ab7def8123456789abcdef", "{01234567-89ab-7def-8123-456789abcdef}",
        "01234567-89ab-7def-8123-456789abcdeg", "01234567089ab-7def-8123-456789abcdef" } },
};

static void good_text_is_of_its_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t g = 0; cases[i].good[g]; g++)
            if (!mishap_format_find(cases[i].format)->holds(mishap_text_of(cases[i].good[g])))
                fail_msg("%s: %s", cases[i].format, cases[i].good[g]);
}

static void bad_text_is_not_of_its_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t b = 0; cases[i].bad[b]; b++)
            if (mishap_format_find(cases[i].format)->holds(mishap_text_of(cases[i].bad[b])))
                fail_msg("%s: %s", cases[i].format, cases[i].bad[b]);
}

/* Nothing reads beyond the end: each text stands in memory of its own size. */
static void every_beginning_of_a_good_text_is_read_within_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mishap_format *format = mishap_format_find(cases[i].format);
        for (size_t g = 0; cases[i].good[g]; g++) {
            size_t length = strlen(cases[i].good[g]);
            for (size_t cut = 0; cut <= length; cut++) {
                char *exact = malloc(cut ? cut : 1);
                memcpy(exact, cases[i].good[g], cut);
                bool holds = format->holds((mishap_text){ exact, cut });
                free(exact);
                assert_true(holds || cut < length);
            }
        }
    }
}

static void a_hostname_has_at_most_253_characters(void **state)
{
    (void)state;
    char name[255];
    memset(name, 'a', sizeof name);
    for (size_t i = 63; i < sizeof name; i += 64)
        name[i] = '.';
    const mishap_format *format = mishap_format_find("hostname");
    assert_true(format->holds((mishap_text){ name, 253 }));
    assert_false(format->holds((mishap_text){ name, 254 }));
}

static void a_nul_is_in_no_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t g = 0; cases[i].good[g]; g++) {
            char text[128];
            size_t length = strlen(cases[i].good[g]);
            memcpy(text, cases[i].good[g], length + 1);
            const mishap_format *format = mishap_format_find(cases[i].format);
            assert_false(format->holds((mishap_text){ text, length + 1 }));
            text[length / 2] = '\0';
            assert_false(format->holds((mishap_text){ text, length }));
        }
}

static void every_format_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_non_null(strstr(mishap_format_names, cases[i].format));
    assert_null(mishap_format_find("dates"));
    assert_null(mishap_format_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(good_text_is_of_its_format),
        TEST(bad_text_is_not_of_its_format),
        TEST(every_beginning_of_a_good_text_is_read_within_it),
        TEST(a_hostname_has_at_most_253_characters),
        TEST(a_nul_is_in_no_format),
        TEST(every_format_is_named),
    };
    return RUN(tests);
}
