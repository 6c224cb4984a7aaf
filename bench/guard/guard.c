/*
 * The leak detector: CPU time for harmless JSON of an API, for a short body, and for inputs that
 * are made to be slow, which slow.c searches for; memchr() and, if it is there,
 * Vectorscan with the literals of the same rules read the same bytes in the same run.
 *
 *     guard_bench [MEGABYTES]
 *     guard_bench --text PIECE    a piece of text again and again, for a profiler
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../measure.h"
#include "base/base.h"
#include "guard/leak.h"
#include "guard/rules.h"
#include "slow.h"

#if FOUND_HS
#include <hs/hs.h>
#endif

enum { TURNS = 7 };

static size_t found_count;

static void count_leak(void *state, const mishap_leak *leak)
{
    (void)state;
    (void)leak;
    found_count++;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* -- what is scanned --------------------------------------------------------------------------- */

static uint64_t chance = 1;

static size_t below(size_t limit)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(chance >> 33) % limit;
}

static const char *const words[] = {
    "order",    "paid",     "the",     "invoice",  "at",       "customer", "select",   "from",
    "Error",    "within",   "address", "Berlin",   "premium",  "shipped",  "update",   "line",
    "token",    "password", "please",  "at least", "expires",  "country",  "delivery", "parcel",
    "Straße",   "note",     "for",     "your",     "thank",    "you",      "we",       "have",
    "received", "and",      "will",    "be",       "sent",     "soon",     "to",       "of",
    "with",     "this",     "number",  "question", "answer",   "support",  "team",     "days",
    "working",  "until",    "price",   "tax",      "included", "total",    "items",    "return",
    "policy",   "about",    "a",       "is",
};

static void put_words(mishap_buffer *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mishap_buffer_put_text(to, mishap_text_of(words[below(sizeof words / sizeof *words)]));
        mishap_buffer_put_char(to, ' ');
        if (below(60) == 0)
            mishap_buffer_put_text(to, mishap_text_of("said \\\"yes\\\"\\n"));
    }
}

/* An order of a shop, as an API answers it: numbers, ids, times, addresses, sentences. */
static void put_order(mishap_buffer *to)
{
    char text[700];
    int length = snprintf(
        text, sizeof text,
        "{\"id\":%zu,\"object\":\"order\",\"uuid\":\"%08zx-1f3a-4b7c-9d2e-%012zx\",\"created\":"
        "\"2026-%02zu-"
        "%02zuT%02zu:%02zu:%02zu.%03zuZ\",\"amount\":%zu.%02zu,\"currency\":\"EUR\",\"url\":"
        "\"https://"
        "api.example.com/v1/orders/%zu?expand=items&page=%zu\",\"customer\":{\"name\":\"Ada "
        "Lovelace\","
        "\"email\":\"ada%zu@example.com\",\"phone\":\"+49 30 "
        "%zu\",\"address\":{\"city\":\"Berlin\",\"zip\":"
        "\"%05zu\",\"lat\":52.%05zu,\"lon\":13.%05zu}},\"status\":\"paid\",\"retry\":false,"
        "\"items\":[{\"sku\":\"A-"
        "%zu\",\"quantity\":%zu,\"price\":%zu.99,\"tags\":[\"new\",\"sale\"]}],\"note\":\"",
        below(100000000), below(4294967295u), below(1u << 30), 1 + below(12), 1 + below(28),
        below(24), below(60), below(60), below(1000), below(1000), below(100), below(1000000),
        below(100), below(10000), below(100000000), below(100000), below(100000), below(100000),
        below(10000), below(9), below(100));
    mishap_buffer_put(to, text, (size_t)length);
    put_words(to, below(25));
    mishap_buffer_put_text(to, mishap_text_of("\"},\n"));
}

static mishap_buffer api_json(size_t size)
{
    mishap_buffer text = { 0 };
    while (text.length < size && !text.failed)
        put_order(&text);
    return text;
}

static mishap_buffer repeated(const char *piece, size_t size)
{
    mishap_buffer text = { 0 };
    while (text.length < size && !text.failed)
        mishap_buffer_put_text(&text, mishap_text_of(piece));
    return text;
}

/* -- measuring --------------------------------------------------------------------------------- */

typedef void read_text(mishap_text text);

static void scan_whole(mishap_text text)
{
    mishap_leak_scan(text, NULL, count_leak, NULL);
}

static void scan_stream(mishap_text text)
{
    mishap_leak_stream *stream = mishap_leak_open(NULL, count_leak, NULL);
    if (!stream)
        exit(1);
    for (size_t at = 0; at < text.length; at += 65536)
        mishap_leak_feed(
            stream,
            (mishap_text){ text.data + at, text.length - at < 65536 ? text.length - at : 65536 });
    mishap_leak_close(stream);
}

static void search_byte(mishap_text text)
{
    found_count += memchr(text.data, 1, text.length) != NULL;
}

#if FOUND_HS
static hs_database_t *database;
static hs_scratch_t *scratch;

static int count_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
                       void *state)
{
    (void)id, (void)from, (void)to, (void)flags, (void)state;
    found_count++;
    return 0;
}

static void search_vectorscan(mishap_text text)
{
    if (hs_scan(database, text.data, (unsigned)text.length, 0, scratch, count_match, NULL) !=
        HS_SUCCESS)
        end_void("Vectorscan", "it did not read the text");
}

/* The literals of our rules as patterns: what our filter does, without the checks and the views. */
static bool make_vectorscan(void)
{
    static const char *const classes[] = { "",
                                           "[0-9]",
                                           "[\\s\"'`(\\[{<>=:;,/\\\\@|)\\]}*]",
                                           "[A-Z0-9]",
                                           "[a-z0-9_-]",
                                           "[0-9a-fA-F]",
                                           "[\\w/.<\\[$(:-]",
                                           "[fsndFSND]" };
    enum { MOST = 8192, LONGEST = 512 };
    static char patterns[MOST][LONGEST];
    static const char *list[MOST];
    static unsigned flags[MOST], ids[MOST], count;
    for (size_t r = 0; r < mishap_leak_rule_count; r++)
        for (size_t i = 0; i < MISHAP_LEAK_LITERALS && mishap_leak_rules[r].literals[i]; i++) {
            size_t length = 0;
            if (count == MOST)
                return false;
            for (const char *c = mishap_leak_rules[r].literals[i]; *c && length < LONGEST; c++)
                length += (size_t)((unsigned char)*c < 8
                                       ? snprintf(patterns[count] + length, LONGEST - length, "%s",
                                                  classes[(unsigned char)*c])
                                       : snprintf(patterns[count] + length, LONGEST - length,
                                                  "\\x%02x", (unsigned char)*c));
            if (length >= LONGEST)
                return false;
            list[count] = patterns[count];
            flags[count] = HS_FLAG_DOTALL;
            ids[count] = count;
            count++;
        }
    hs_compile_error_t *error;
    return hs_compile_multi(list, flags, ids, count, HS_MODE_BLOCK, NULL, &database, &error) ==
               HS_SUCCESS &&
           hs_alloc_scratch(database, &scratch) == HS_SUCCESS;
}
#endif

/* The least CPU time of several turns, in MB/s; other programs can only make it longer. */
static double speed(const char *name, read_text *run, mishap_text text)
{
    double best = 1e9;
    if (!text.data || !text.length)
        end_void(name, "there is no text to be read");
    for (int turn = 0; turn < TURNS; turn++) {
        double start = cpu_seconds();
        run(text);
        double time = cpu_seconds() - start;
        best = time < best ? time : best;
    }
    return figure(name, (double)text.length / 1e6 / best);
}

/* The speed of a detector that looks at nothing would be a good one. */
static void expect_a_leak(void)
{
    static const char trace[] =
        "Traceback (most recent call last):\n  File \"/srv/a.py\", line 12, in f\n    g()\n"
        "ValueError: x\n";
    const mishap_text text = { trace, sizeof trace - 1 };
    found_count = 0;
    scan_whole(text);
    if (!found_count)
        end_void("the detector", "it finds nothing in a stack trace");
    found_count = 0;
    scan_stream(text);
    if (!found_count)
        end_void("the detector, in pieces", "it finds nothing in a stack trace");
}

static void tell_speed(const char *name, mishap_buffer *text, double least)
{
    found_count = 0;
    double whole = speed(name, scan_whole, mishap_buffer_text(text));
    size_t found = found_count / TURNS;
    double stream = speed(name, scan_stream, mishap_buffer_text(text));
    double byte = speed("memchr", search_byte, mishap_buffer_text(text));
    printf(
        "%-34s %7.0f MB/s, in pieces %7.0f, memchr %7.0f (x %.0f), %zu findings; target %.0f: %s\n",
        name, whole, stream, byte, byte / whole, found, least,
        whole >= least && stream >= least ? "met" : "MISSED");
#if FOUND_HS
    double other = speed("Vectorscan", search_vectorscan, mishap_buffer_text(text));
    printf("%-34s %7.0f MB/s (x %.2f of ours)\n", "    Vectorscan, literals only", other,
           other / whole);
#endif
    mishap_buffer_release(text);
}

static void tell_short_body(void)
{
    static const char body[] =
        "{\"ok\":false,\"error\":{\"code\":\"VALIDATION_ERROR\",\"message\":\"The request is not "
        "valid: 2 "
        "fields have "
        "errors.\",\"field_errors\":[{\"field\":\"age\",\"code\":\"value_out_of_range\","
        "\"message\":"
        "\"The field age must be at least "
        "18.\"},{\"field\":\"email\",\"code\":\"field_required\",\"message\":\"The "
        "field email is missing.\"}]},\"request_id\":\"0198\"}";
    enum { TIMES = 20000 };
    double best = 1e9;
    found_count = 0;
    for (int turn = 0; turn < TURNS * 3; turn++) {
        double start = cpu_seconds();
        for (int i = 0; i < TIMES; i++)
            mishap_leak_scan((mishap_text){ body, sizeof body - 1 }, NULL, count_leak, NULL);
        double time = (cpu_seconds() - start) / TIMES;
        best = time < best ? time : best;
    }
    printf("%-34s %7.0f ns for %zu bytes, %zu findings; target 1000: %s\n", "body of an error",
           figure("body of an error", best * 1e9), sizeof body - 1, found_count,
           best < 1e-6 && !found_count ? "met" : "MISSED");
}

int main(int count, char **arguments)
{
    if (count > 2 && strcmp(arguments[1], "--text") == 0) {
        mishap_buffer text = repeated(arguments[2], 1 << 16);
        scan_whole(mishap_buffer_text(&text));
        printf("%zu bytes, %zu findings\n", text.length, found_count);
        mishap_buffer_release(&text);
        return 0;
    }
    size_t size = (count > 1 ? strtoul(arguments[1], NULL, 10) : 8) << 20;
    static const char *const slow[] = { "10.10.10.192.168.",
                                        "at at ((((.js",
                                        "\\\\\\\\u",
                                        "&amp;amp;",
                                        "://",
                                        "a",
                                        "at a.b.c.d.",
                                        "\"line\":1",
                                        "/srv/",
                                        "<a<b<c",
                                        "password=",
                                        "SELECT a ",
                                        "PATH=/bin:",
                                        "\\u0061",
                                        "eyJhb.",
                                        "File \"",
                                        ", line 1",
                                        " 0x1 0x2",
                                        "HOME=/ USER= PWD=/ ",
                                        "  File \"/srv/a.py\", line 12, in f\n" };
    expect_a_leak();
#if FOUND_HS
    if (!make_vectorscan())
        end_void("Vectorscan", "it cannot compile the literals");
#else
    puts("Vectorscan is not here: its figures are left out.");
#endif
    mishap_buffer json = api_json(size);
    tell_speed("JSON of an API", &json, 500);
    tell_short_body();
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        char name[64];
        snprintf(name, sizeof name, "repeated %.22s", slow[i]);
        for (char *c = name; *c; c++)
            *c = *c == '\n' ? ' ' : *c;
        mishap_buffer text = repeated(slow[i], size / 4);
        tell_speed(name, &text, 50);
    }
    tell_slowest(50);
    return 0;
}
