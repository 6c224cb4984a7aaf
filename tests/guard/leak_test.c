/* src/guard/leak.h: what the leak detector finds, and that cuts make no difference. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "guard/filter.h"
#include "guard/leak.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* All findings as lines of text. */
struct findings {
    size_t count, high;
    mishap_leak first, last;
    mishap_buffer text;
};

static void note(void *state, const mishap_leak *leak)
{
    struct findings *findings = state;
    char line[512];
    int length = snprintf(line, sizeof line, "%s %s %zu+%zu %zu:%zu %s %s [%.*s]\n",
                          mishap_leak_kind_names[leak->kind], leak->rule, leak->start, leak->length,
                          leak->line, leak->column, leak->view,
                          mishap_leak_confidence_names[leak->confidence], (int)leak->excerpt.length,
                          leak->excerpt.data);
    mishap_buffer_put(&findings->text, line, (size_t)length);
    if (!findings->count++)
        findings->first = *leak;
    findings->last = *leak;
    findings->high += leak->confidence == MISHAP_LEAK_HIGH;
}

static struct findings scan_text(mishap_text text, const mishap_leak_known *known)
{
    struct findings findings = { 0 };
    mishap_leak_scan(text, known, note, &findings);
    return findings;
}

static void expect(const char *text, const char *expected)
{
    struct findings findings = scan_text(mishap_text_of(text), NULL);
    mishap_buffer_put_char(&findings.text, 0);
    assert_string_equal(findings.text.data, expected);
    mishap_buffer_release(&findings.text);
}

/* -- what is found ----------------------------------------------------------------------------- */

static void a_frame_is_found_in_every_view(void **state)
{
    (void)state;
    expect("x\n  File \"/srv/a.py\", line 12, in f\n",
           "trace python-frame 4+25 2:3 text high [File \"/srv/a.py\", line 12]\n");
    expect("{\"m\":\"x\\n  File \\\"/srv/a.py\\\", line 12, in f\"}",
           "trace python-frame 11+27 1:12 json high [File \"/srv/a.py\", line 12]\n");
    expect("{\"m\":\"{\\\"n\\\":\\\"x\\\\n  File \\\\\\\"/srv/a.py\\\\\\\", line 12, in f\\\"}\"}",
           "trace python-frame 21+31 1:22 json-twice high [File \"/srv/a.py\", line 12]\n");
    expect("<pre>File &quot;/srv/a.py&quot;, line 12, in f<br>",
           "trace python-frame 5+35 1:6 html high [File \"/srv/a.py\", line 12]\n");
    expect("{\"m\":\"<p>\\n  File &quot;/srv/a.py&quot;, line 12\"}",
           "trace python-frame 13+35 1:14 json-html high [File \"/srv/a.py\", line 12]\n");
}

/* A reader sees the same key or password, a search does not. */
static void disguised_keys_and_passwords_are_found(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "&#0000000065;K"
        "IAQRSTUVWX23456ABC",
        "&#x00000041;KIAQRSTUVWX23456ABC",
        "A&#75IAQRSTUVWX23456ABC",
        "AK<!-- > -->IAQRSTUVWX23456ABC",
        "AK<!-- <b> -->IAQRSTUVWX23456ABC",
        "AK<b "
        "title=\"................................................................................"
        "................................................................................"
        "................................................................................"
        "........................................\">IA</b>QRSTUVWX23456ABC",
        "AK&shy;IAQRSTUVWX23456ABC",
        "AK&ZeroWidthSpace;IAQRSTUVWX23456ABC",
        "AK&#8203;IAQRSTUVWX23456ABC",
        "AK&#xFEFF;IAQRSTUVWX23456ABC",
        "\"AK\\u00adIAQRSTUVWX23456ABC\"",
        "\"AK\\u200dIAQRSTUVWX23456ABC\"",
        "\"AK\\u2060IAQRSTUVWX23456ABC\"",
        "ghp&lowbar;Zq7AbCdEfGhIjKlMnOpQrStUvWxYz0123456",
        "{\"name\":\"DB_PASSWORD\",\"value\":\"Zq7hunter2x\"}",
        "{\n  \"name\": \"DB_PASSWORD\",\n  \"value\": \"Zq7hunter2x\"\n}",
        "[{\"name\":\"API_KEY\",\"value\":\"Zq7hunter2xZq7hunter2x\"}]",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct findings findings = scan_text(mishap_text_of(texts[i]), NULL);
        if (!findings.high || findings.first.kind != MISHAP_LEAK_CREDENTIAL)
            fail_msg("%s", texts[i]);
        mishap_buffer_release(&findings.text);
    }
    expect("{\"name\":\"password\",\"value\":\"too short\"}", "");
    expect("{\"name\":\"DB_PASSWORD\",\"other\":\"Zq7hunter2x\"}", "");
    expect("&#; &#x; AK &# IA &#g;", "");
}

static void what_the_caller_sent_is_no_leak(void **state)
{
    (void)state;
    const mishap_text sent[] = { MISHAP_TEXT("abc"),
                                 MISHAP_TEXT("my File \"/a.py\", line 1 thing") };
    const mishap_leak_known known = { .values = sent, .count = COUNT(sent) };
    struct findings findings = scan_text(
        mishap_text_of("{\"echo\":\"my File \\\"/a.py\\\", line 1 thing\"}"), &known);
    assert_int_equal(findings.count, 0);
    findings = scan_text(mishap_text_of("File \"/b.py\", line 1"), &known);
    assert_true(findings.count > 0);
    mishap_buffer_release(&findings.text);
}

/* Constant words that the caller sent do not excuse what the program says behind them. */
static void words_that_were_sent_do_not_excuse_what_follows(void **state)
{
    (void)state;
    const mishap_text sent[] = { MISHAP_TEXT("no such table: "),
                                 MISHAP_TEXT("-----BEGIN RSA PRIVATE KEY-----"),
                                 MISHAP_TEXT("violates unique constraint"),
                                 MISHAP_TEXT("TypeError: x, TypeError: yes") };
    const mishap_leak_known known = { .values = sent, .count = COUNT(sent) };
    static const struct {
        const char *text;
        bool leak;
    } cases[] = {
        { "no such table: accounts_private", true },
        { "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx1y2z3a4b5c6d7e8f9g0\n", true },
        { "[\"-----BEGIN RSA PRIVATE KEY-----\",\"MIIEowIBAAKCAQEAx1y2z3a4b5c6d7e8f9g0\"]", true },
        { "key violates unique constraint \"users_email\"", true },
        { "{\"m\":\"Known: violates unique constraint\"}", false },
        { "Known: 'violates unique constraint'.", false },
        { "It was -----BEGIN RSA PRIVATE KEY-----.", false },
        { "TypeError: x, TypeError: yes", false },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct findings findings = scan_text(mishap_text_of(cases[i].text), &known);
        if ((findings.count > 0) != cases[i].leak)
            fail_msg("%s", cases[i].text);
        mishap_buffer_release(&findings.text);
    }
}

/* The text that comes back may have escapes that the caller did not send. */
static void what_the_caller_sent_may_come_back_escaped(void **state)
{
    (void)state;
    const mishap_text sent[] = { MISHAP_TEXT("C:\\Users\\ada\\app\\x.txt"),
                                 MISHAP_TEXT("File \"/a.py\", line 1") };
    const mishap_leak_known known = { .values = sent, .count = COUNT(sent) };
    static const char *const texts[] = {
        "{\"echo\":\"no C:\\\\Users\\\\ada\\\\app\\\\x.txt\"}",
        "<p>File &quot;/a.py&quot;, line 1</p>",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct findings findings = scan_text(mishap_text_of(texts[i]), NULL);
        assert_true(findings.count > 0);
        mishap_buffer_release(&findings.text);
        findings = scan_text(mishap_text_of(texts[i]), &known);
        mishap_buffer_put_char(&findings.text, 0);
        if (findings.count)
            fail_msg("%s: %s", texts[i], findings.text.data);
        mishap_buffer_release(&findings.text);
    }
}

/* Sentences that sound like a leak, each beside a leak that sounds like it. */
static void sentences_beside_leaks_are_harmless(void **state)
{
    (void)state;
    static const struct {
        const char *sentence, *leak, *rule;
    } cases[] = {
        { "The --password option is required.", "mysql --password hunter2", "option-password" },
        { "File \"orders.csv\", line 12: the date is wrong", "File \"orders.py\", line 12\n",
          "python-frame" },
        { "File \"orders\", line 12: the date is wrong", "File \"orders.csv\", line 12, in f",
          "python-frame" },
        { "Error at row.amount (orders.csv:12:4)", "Error at row.amount (orders.mjs:12:4)",
          "v8-frame" },
        { "syntax error at or near \"foo\"", "ERROR: syntax error at or near \"foo\"",
          "sql-syntax" },
        { "syntax error at or near \"foo\"", "syntax error at or near \"FROM\"", "sql-syntax" },
        { "Unknown column 'total' in the file", "Unknown column 'total' in 'field list'",
          "sql-column" },
        { "Table 'garden' doesn't exist in this house.", "Table 'shop.a' doesn't exist in engine",
          "sql-missing" },
        { "The relation \"parent\" does not exist for her.",
          "relation \"parent\" does not exist at character 15", "sql-missing" },
        { "Only SELECT statements are allowed: DELETE FROM was refused.", "DELETE FROM users",
          "sql-statement" },
        { "DROP TABLE is not allowed.", "DROP TABLE wasps", "sql-statement" },
        { "password=too-short", "password=hunter", "named-password" },
        { "{\"password\":\"TooShort\"}", "{\"password\":\"TooSh0rt\"}", "named-password" },
        { "Lock wait timeout exceeded; try restarting the machine",
          "Lock wait timeout exceeded; try restarting transaction", "database-message-more" },
        { "Exception in thread \"Holiday plans\": it was deleted",
          "Exception in thread \"main\" MyException: x", "java-thread" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect(cases[i].sentence, "");
        struct findings findings = scan_text(mishap_text_of(cases[i].leak), NULL);
        mishap_buffer_put_char(&findings.text, 0);
        const char *found = strstr(findings.text.data, cases[i].rule);
        if (!found || !strstr(found, " high "))
            fail_msg("%s: %s", cases[i].leak, findings.text.data);
        mishap_buffer_release(&findings.text);
    }
}

/* -- excerpts ---------------------------------------------------------------------------------- */

/* No excerpt has the secret of its finding, whatever kind the finding is of. */
static void excerpts_have_no_secret(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kind;
    } cases[] = {
        { "postgres://app:Zq7hunter2@db/x", "connection" },
        { "postgres://app:Zq7/hunter2@x@db/x", "connection" },
        { "jdbc:oracle:thin:scott/Zq7hunter2@db1:1521/x", "connection" },
        { "Server=sql01;Database=Shop;User Id=sa;Password=Zq7hunter2;", "connection" },
        { "SELECT id FROM users WHERE token = 'Zq7hunter2' AND id = 4", "sql" },
        { "INSERT INTO users (name, note) VALUES ('Zq7hunter2', 'x')", "sql" },
        { "PATH=/usr/bin:/bin\nHOME=/home/Zq7hunter2\nUSER=Zq7hunter2\nPWD=/srv\nLANG=C\n",
          "environment" },
        { "def pay(self, order):\n    if order.total <= 0:\n        raise "
          "ValueError('Zq7hunter2')\n"
          "    return self.gateway.charge(\"Zq7hunter2\")\n",
          "source" },
        { "PATH=/home/Zq7hunter2/bin:/usr/bin:/bin\n", "environment" },
        { "Authorization: Bearer Zq7hunter2AAAAbbbb1234cccc", "credential" },
        { "{\"m\":\"postgres:\\/\\/app:Zq7hunter2@db\\/x\"}", "connection" },
        { "<p>mysql://app:Zq7hunter2@db/x&amp;y</p>", "connection" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct findings findings = scan_text(mishap_text_of(cases[i].text), NULL);
        mishap_buffer_put_char(&findings.text, 0);
        if (!strstr(findings.text.data, cases[i].kind) || strstr(findings.text.data, "Zq7"))
            fail_msg("%s: %s", cases[i].text, findings.text.data);
        mishap_buffer_release(&findings.text);
    }
}

/* What is secret for another rule is not shown by the excerpt of this one either. */
static void an_excerpt_is_judged_like_any_text(void **state)
{
    (void)state;
    struct findings findings = scan_text(
        mishap_text_of("DETAIL: INSERT INTO keys (a) VALUES (\"ghp_"
                       "Zq7AbCdEfGhIjKlMnOpQrStUvWxYz0123456\") RETURNING id\n"),
        NULL);
    mishap_buffer_put_char(&findings.text, 0);
    assert_true(findings.count > 0);
    if (strstr(findings.text.data, "Zq7"))
        fail_msg("%s", findings.text.data);
    mishap_buffer_release(&findings.text);
}

/* -- places ------------------------------------------------------------------------------------ */

/* Findings behind this many bytes of filling, which has lines, as if it began at the first. */
static void put_shifted(mishap_buffer *to, const char *leak, size_t before, const char *filling)
{
    mishap_buffer text = { 0 };
    struct findings findings = { 0 };
    while (text.length + strlen(filling) <= before)
        mishap_buffer_put_text(&text, mishap_text_of(filling));
    while (text.length < before)
        mishap_buffer_put_char(&text, '.');
    mishap_buffer_put_char(&text, '\n');
    size_t begin = text.length;
    mishap_buffer_put_text(&text, mishap_text_of(leak));
    for (int i = 0; i < 300; i++)
        mishap_buffer_put_text(&text, mishap_text_of("\nfilling"));
    mishap_leak_scan(mishap_buffer_text(&text), NULL, note, &findings);
    mishap_buffer_release(&text);
    mishap_buffer_put_char(&findings.text, 0);
    for (char *line = findings.text.data, *next; (next = strchr(line, '\n')); line = next + 1) {
        char *place = strchr(strchr(line, ' ') + 1, ' ') + 1, *rest;
        size_t start = strtoul(place, &rest, 10);
        char shifted[600];
        assert_true(start >= begin);
        int length = snprintf(shifted, sizeof shifted, "%.*s%zu%.*s\n", (int)(place - line), line,
                              start - begin, (int)strcspn(rest, " "), rest);
        mishap_buffer_put(to, shifted, (size_t)length);
    }
    mishap_buffer_release(&findings.text);
    mishap_buffer_put_char(to, 0);
}

/* Each line of the one is once in the other. */
static bool has_lines_once(const char *lines, const char *other)
{
    for (const char *line = lines, *next; (next = strchr(line, '\n')); line = next + 1) {
        size_t length = (size_t)(next + 1 - line);
        const char *first = memmem(other, strlen(other), line, length);
        if (!first || memmem(first + 1, strlen(first + 1), line, length))
            return false;
    }
    return true;
}

/* The same is found at the same place, whatever stands before it and wherever a block ends. (What
 * is part of it may be reported beside it, if a block ends between them.) */
static void the_place_in_the_input_makes_no_difference(void **state)
{
    (void)state;
    static const char *const leaks[] = {
        "Traceback (most recent call last):\n  File \"/srv/a.py\", line 12, in f\n",
        "{\"m\":\"x\\n  File \\\"/srv/a.py\\\", line 12, in f\"}",
        "<pre>File &quot;/srv/a.py&quot;, line 12, in f<br>",
        "{\"m\":\"<p>\\n  File &quot;/srv/a.py&quot;, line 12\"}",
        "postgres://app:hunter2hunter2@db.internal:5432/x",
        "Server=sql01;Database=Shop;User Id=sa;Password=hunter2hunter2;",
        "PATH=/usr/local/bin:/usr/bin:/bin\nHOME=/home/ada\nUSER=ada\nPWD=/srv/app\nLANG=C\n",
        "cannot read /srv/app/lib/settings.yml",
    };
    for (size_t i = 0; i < COUNT(leaks); i++) {
        mishap_buffer first = { 0 };
        put_shifted(&first, leaks[i], 0, "x\n");
        assert_true(first.length > 1);
        for (size_t k = 1; k < 200; k++) {
            mishap_buffer now = { 0 };
            size_t before = k < 40 ? k * 37 : 10240 - 160 + k;
            put_shifted(&now, leaks[i], before, "harmless text\n");
            if (!has_lines_once(first.data, now.data))
                fail_msg("%zu bytes before %s:\n%s\nbut\n%s", before, leaks[i], first.data,
                         now.data);
            mishap_buffer_release(&now);
        }
        mishap_buffer_release(&first);
    }
}

/* -- cuts -------------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static size_t random_below(size_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(random_state >> 33) % limit;
}

static const char *const fragments[] = {
    "{\"id\":12,\"name\":\"Ada\"}",
    "\n",
    "Traceback (most recent call last):\n",
    "  File \"/srv/app/main.py\", line 12, in f\\n",
    "File \\\"/srv/a.py\\\", line 3",
    "&quot;, line 4",
    "<p>File &quot;/a/b.py&quot;, line 5<br>",
    "\\\\\\\"",
    "\\u0022, line 7",
    "at f (/srv/a.js:1:2)\\n",
    "    at f (/srv/a.js:1:2)\n",
    "postgres://u:p4ss@db.internal/x ",
    "10.10.10.192.168.",
    "\xff\xfe\0",
    "password=hunter2 ",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "SELECT a FROM b WHERE c = 'd';",
};

static void fill(mishap_buffer *text, size_t length)
{
    while (text->length < length)
        mishap_buffer_put_text(text, mishap_text_of(fragments[random_below(COUNT(fragments))]));
}

static void cuts_make_no_difference(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        mishap_buffer text = { 0 };
        fill(&text, 1 + random_below(60000));
        struct findings whole = scan_text(mishap_buffer_text(&text), NULL), cut = { 0 };
        mishap_leak_stream *stream = mishap_leak_open(NULL, note, &cut);
        assert_non_null(stream);
        size_t most = 1 + random_below(round % 2 ? 20 : 30000);
        for (size_t at = 0; at < text.length;) {
            size_t length = 1 + random_below(most);
            length = length < text.length - at ? length : text.length - at;
            mishap_leak_feed(stream, (mishap_text){ text.data + at, length });
            at += length;
        }
        mishap_leak_close(stream);
        assert_int_equal(whole.count, cut.count);
        assert_int_equal(whole.text.length, cut.text.length);
        if (whole.text.length)
            assert_memory_equal(whole.text.data, cut.text.data, whole.text.length);
        mishap_buffer_release(&whole.text);
        mishap_buffer_release(&cut.text);
        mishap_buffer_release(&text);
    }
}

/* -- the table of rules ------------------------------------------------------------------------ */

static void put_row(mishap_buffer *to, const mishap_leak_rule *rule)
{
    char row[512];
    int length = snprintf(row, sizeof row, "| `%s` | %s | %s | %s%s%s%s |\n", rule->name,
                          mishap_leak_kind_names[rule->kind],
                          mishap_leak_confidence_names[rule->confidence], rule->about,
                          rule->language ? " (" : "", rule->language ? rule->language : "",
                          rule->language ? ")" : "");
    mishap_buffer_put(to, row, (size_t)length);
}

/* The page has the table between two marks. LEAK_TABLE=1 prints what belongs there. */
static void the_page_has_all_rules(void **state)
{
    (void)state;
    static const char begin[] = "<!-- rules -->\n", end[] = "<!-- end of rules -->";
    mishap_buffer table = { 0 }, page = { 0 };
    mishap_buffer_put_text(
        &table, mishap_text_of("| rule | kind | confidence | finds |\n|---|---|---|---|\n"));
    for (size_t i = 0; i < mishap_leak_rule_count; i++)
        put_row(&table, &mishap_leak_rules[i]);
    if (getenv("LEAK_TABLE"))
        fwrite(table.data, 1, table.length, stderr);
    char name[4096], bytes[4096];
    snprintf(name, sizeof name, "%s/../docs/guard.md", getenv("MISHAP_TESTS"));
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, file));)
        mishap_buffer_put(&page, bytes, got);
    fclose(file);
    mishap_buffer_put_char(&page, 0);
    const char *from = strstr(page.data, begin), *to = strstr(page.data, end);
    assert_true(from && to && to > from);
    from += sizeof begin - 1;
    assert_int_equal(to - from, table.length);
    assert_memory_equal(from, table.data, table.length);
    mishap_buffer_release(&table);
    mishap_buffer_release(&page);
}

static void names_of_rules_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < mishap_leak_rule_count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(mishap_leak_rules[i].name, mishap_leak_rules[j].name);
}

/* -- limits ------------------------------------------------------------------------------------ */

static void a_check_that_reaches_its_limit_is_a_finding(void **state)
{
    (void)state;
    mishap_buffer text = { 0 };
    mishap_buffer_put_text(&text, mishap_text_of("see http://"));
    for (int i = 0; i < 2000; i++)
        mishap_buffer_put_char(&text, 'a');
    struct findings findings = scan_text(mishap_buffer_text(&text), NULL);
    assert_true(findings.count > 0);
    assert_int_equal(findings.first.kind, MISHAP_LEAK_LIMIT);
    assert_string_equal(findings.first.rule, "limit");
    mishap_buffer_release(&findings.text);
    mishap_buffer_release(&text);
}

struct sought {
    const char *rule;
    bool found, limit_is_sure;
};

static void look_for_rule(void *state, const mishap_leak *leak)
{
    struct sought *sought = state;
    if (strcmp(leak->rule, sought->rule) == 0)
        sought->found = true;
    if (leak->kind == MISHAP_LEAK_LIMIT && leak->confidence == MISHAP_LEAK_HIGH)
        sought->limit_is_sure = true;
}

/* The start of a text, many times what stands between, and its end. */
static void put_long(mishap_buffer *text, const char *begin, const char *between, size_t length,
                     const char *end)
{
    text->length = 0;
    mishap_buffer_put_text(text, mishap_text_of(begin));
    while (length--)
        mishap_buffer_put_text(text, mishap_text_of(between));
    mishap_buffer_put_text(text, mishap_text_of(end));
}

/* What a rule finds with a short name or value is a limit with one that is too long to be read: of
 * medium confidence, since it may be something else. */
static void a_name_that_is_too_long_is_a_limit(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *begin, *between, *end;
    } texts[] = {
        { "python-frame", "x\n  File \"/srv/", "a", ".py\", line 3, in f\n" },
        { "ocaml-frame", "x file \"/srv/", "a", ".ml\", line 3, characters 4-9\n" },
        { "v8-frame", "x\n    at /srv/", "a", ".js:12:5\n" },
        { "v8-frame", "x\n    at f (/srv/a a", "a", ".js:12:5)\n" },
        { "spidermonkey-frame", "f@http://x/", "a", ".js:12:5\n" },
        { "php-error", "x in /srv/", "a", ".php on line 12\n" },
        { "perl-frame", "x at /srv/", "a", ".pl line 12.\n" },
        { "java-frame", "x at a.b.C.", "a", "(C.java:12)\n" },
        { "csharp-frame", "x\n   at A.B.C(String ", "a", ")\n" },
        { "library-path", "x /z/", "a", "/node_modules/x/y.js\n" },
        { "library-path", "x /o/node_modules/", "a", ".js\n" },
        { "bearer-token", "x Bearer ", "a", "1aB2\n" },
        { "authorization", "Authorization: Token ", "a", "1aB2cD3eF4\n" },
        { "cookie", "Cookie: sid=", "a", "1aB2cD3eF4gH5iJ6kL7\n" },
        { "github-token", "x ghp_", "a", "Zq7AbCdEfGhIjKlMnOpQrStUvWxYz0123456\n" },
        { "private-jwk", "{\"kty\":\"RSA\",\"d\":\"", "a", "Zq7AbCdEfGhIjKlMnOpQrStUvWx\"}" },
    };
    mishap_buffer text = { 0 };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct sought rule = { .rule = texts[i].rule }, limit = { .rule = "limit" };
        put_long(&text, texts[i].begin, texts[i].between, 20, texts[i].end);
        mishap_leak_scan(mishap_buffer_text(&text), NULL, look_for_rule, &rule);
        mishap_leak_scan(mishap_buffer_text(&text), NULL, look_for_rule, &limit);
        if (!rule.found || limit.found)
            fail_msg("%s finds the short one: %d", texts[i].rule, rule.found);
        put_long(&text, texts[i].begin, texts[i].between, 700, texts[i].end);
        mishap_leak_scan(mishap_buffer_text(&text), NULL, look_for_rule, &limit);
        if (!limit.found || limit.limit_is_sure)
            fail_msg("%s, %s: too long, and no limit", texts[i].rule, texts[i].begin);
    }
    mishap_buffer_release(&text);
}

/* In which blocks of 10 KB a limit was reached. */
struct limits {
    bool in_block[10];
};

static void note_limit(void *state, const mishap_leak *leak)
{
    struct limits *limits = state;
    if (leak->kind == MISHAP_LEAK_LIMIT)
        limits->in_block[leak->start / 10240] = true;
}

/* What uses up the steps of one rule must not hide what the others find. */
static void a_rule_at_its_limit_does_not_silence_the_others(void **state)
{
    (void)state;
    for (int repeated = 10; repeated <= 1000; repeated *= 10) {
        mishap_buffer text = { 0 };
        for (int i = 0; i < repeated; i++)
            mishap_buffer_put_text(&text, mishap_text_of("SELECT "));
        mishap_buffer_put_text(&text, mishap_text_of("\n  File \"/srv/a.py\", line 12, in f\n"
                                                     "AKIA2E0A8F3B244C9986 "));
        struct sought frame = { .rule = "python-frame" }, key = { .rule = "aws-key" };
        mishap_leak_scan(mishap_buffer_text(&text), NULL, look_for_rule, &frame);
        mishap_leak_scan(mishap_buffer_text(&text), NULL, look_for_rule, &key);
        assert_true(frame.found);
        assert_true(key.found);
        mishap_buffer_release(&text);
    }
}

/* Many lines of a program, which stay in a response, make a limit that stays there as well, and
 * what is replaced is found behind them. */
static void lines_of_a_program_leave_steps_for_the_others(void **state)
{
    (void)state;
    mishap_buffer text = { 0 };
    while (text.length < 9000)
        mishap_buffer_put_text(&text, mishap_text_of("const { a } = f(b);\\nreturn c;\\n"));
    mishap_buffer_put_text(&text, mishap_text_of("\\n  File \\\"/srv/a.py\\\", line 12, in f\\n"));
    struct sought frame = { .rule = "python-frame" }, limit = { .rule = "limit" };
    mishap_leak_scan(mishap_buffer_text(&text), NULL, look_for_rule, &frame);
    mishap_leak_scan(mishap_buffer_text(&text), NULL, look_for_rule, &limit);
    assert_true(frame.found);
    assert_true(limit.found);
    assert_false(limit.limit_is_sure);
    mishap_buffer_release(&text);
}

/* Where far too many steps are taken, a block is given up, and says so, wherever it begins. */
static void a_block_that_is_given_up_is_a_finding(void **state)
{
    (void)state;
    static const char *const pieces[] = { " --password &lt;", "PI key \\n --password &lt;",
                                          ";AccountKey==\",\"C:\\\\a&lt;" };
    for (size_t i = 0; i < COUNT(pieces); i++)
        for (size_t before = 0; before < 20000; before += 997) {
            mishap_buffer text = { 0 };
            while (text.length < before)
                mishap_buffer_put_char(&text, '.');
            while (text.length < before + 40000)
                mishap_buffer_put_text(&text, mishap_text_of(pieces[i]));
            struct limits limits = { 0 };
            mishap_leak_scan(mishap_buffer_text(&text), NULL, note_limit, &limits);
            for (size_t block = before / 10240 + 1; block < text.length / 10240; block++)
                assert_true(limits.in_block[block]);
            mishap_buffer_release(&text);
        }
}

/* An echo of many keys is found without searching all that was sent for each of them; without a
 * budget nothing is excused. */
static void the_search_in_what_was_sent_has_a_budget(void **state)
{
    (void)state;
    mishap_buffer text = { 0 };
    for (int i = 0; i < 40000; i++) {
        char key[32];
        snprintf(key, sizeof key, "AKIA2E0A8F3B%08X ", (unsigned)i * 2654435761U);
        mishap_buffer_put_text(&text, mishap_text_of(key));
    }
    const mishap_text sent = mishap_buffer_text(&text);
    size_t left = MISHAP_LEAK_KNOWN_BYTES;
    mishap_leak_known known = { .values = &sent, .count = 1, .left = &left };
    struct sought key = { .rule = "aws-key" };
    mishap_leak_scan(sent, &known, look_for_rule, &key);
    assert_false(key.found);
    assert_true(MISHAP_LEAK_KNOWN_BYTES - left < 4 * sent.length);
    left = 0;
    mishap_leak_scan(sent, &known, look_for_rule, &key);
    assert_true(key.found);
    mishap_buffer_release(&text);
}

static void inputs_that_are_made_to_be_slow_end_soon(void **state)
{
    (void)state;
    static const char *const pieces[] = { "10.10.10.192.168.",
                                          "at at ((((.js",
                                          "\\\\\\\\u",
                                          "&amp;amp;",
                                          "://",
                                          "a",
                                          "<a<b<c",
                                          "password=",
                                          "PATH=/bin:",
                                          "eyJhb.",
                                          "HOME=/ USER= PWD=/ ",
                                          "select select ",
                                          "\0",
                                          "\xff" };
    for (size_t i = 0; i < COUNT(pieces); i++) {
        mishap_buffer text = { 0 };
        while (text.length < 300000)
            mishap_buffer_put(&text, pieces[i], strlen(pieces[i]) + (*pieces[i] == 0));
        struct findings findings = scan_text(mishap_buffer_text(&text), NULL);
        mishap_buffer_release(&findings.text);
        mishap_buffer_release(&text);
    }
}

static void *no_memory(size_t size)
{
    (void)size;
    return NULL;
}

static void without_memory_there_is_no_stream(void **state)
{
    (void)state;
    struct findings findings = { 0 };
    const mishap_allocator none = { no_memory, realloc, free };
    mishap_use_allocator(&none);
    mishap_leak_stream *stream = mishap_leak_open(NULL, note, &findings);
    mishap_use_allocator(NULL);
    assert_null(stream);
    mishap_leak_close(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_frame_is_found_in_every_view),
        TEST(disguised_keys_and_passwords_are_found),
        TEST(what_the_caller_sent_is_no_leak),
        TEST(words_that_were_sent_do_not_excuse_what_follows),
        TEST(what_the_caller_sent_may_come_back_escaped),
        TEST(sentences_beside_leaks_are_harmless),
        TEST(excerpts_have_no_secret),
        TEST(an_excerpt_is_judged_like_any_text),
        TEST(the_place_in_the_input_makes_no_difference),
        TEST(cuts_make_no_difference),
        TEST(the_page_has_all_rules),
        TEST(names_of_rules_are_unique),
        TEST(a_check_that_reaches_its_limit_is_a_finding),
        TEST(a_name_that_is_too_long_is_a_limit),
        TEST(a_rule_at_its_limit_does_not_silence_the_others),
        TEST(lines_of_a_program_leave_steps_for_the_others),
        TEST(a_block_that_is_given_up_is_a_finding),
        TEST(the_search_in_what_was_sent_has_a_budget),
        TEST(inputs_that_are_made_to_be_slow_end_soon),
        TEST(without_memory_there_is_no_stream),
    };
    return RUN(tests);
}
