/*
 * The speed of the value and the dialects, as ratios inside one run: these machines are noisy, and
 * a ratio of two things measured in turn is not. Each figure is the median of many short rounds,
 * taken alternately.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yyjson.h>

#include "measure.h"
#include "mishap/dialect.h"

static size_t allocations;

static void *counted_malloc(size_t size)
{
    allocations++;
    return malloc(size);
}

static void *counted_realloc(void *block, size_t size)
{
    allocations++;
    return realloc(block, size);
}

/* -- raise, three fields, render, free, against one snprintf ----------------------------------- */

static volatile size_t sink;
static const mishap_dialect *http_api;

/* The arguments come from outside, so that the compiler cannot print them in advance. */
static const char *volatile name_field = "name", *volatile age_field = "age",
                            *volatile email_field = "email";
static const char *volatile pattern = ".*@.*\\..*", *volatile message = "Validation failed";
static volatile int low = 0, high = 150, given = 200;

static void tell_with_mishap(void)
{
    char storage[512];
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, storage, sizeof storage);
    mishap *m = mishap_raise(VALIDATION_ERROR, "%s", message);
    m = mishap_field_required(m, name_field);
    m = mishap_field_range(m, age_field, mishap_value_of_int(low), mishap_value_of_int(high),
                           mishap_value_of_int(given));
    m = mishap_field_pattern(m, email_field, pattern);
    sink = mishap_render(http_api, m, &buffer).length;
    mishap_buffer_release(&buffer);
    mishap_free(m);
}

static void tell_with_snprintf(void)
{
    char storage[512];
    sink = (size_t)snprintf(
        storage, sizeof storage,
        "{\"error\":\"%s\",\"message\":\"%s\",\"details\":["
        "{\"field\":\"%s\",\"error\":\"%s\"},"
        "{\"field\":\"%s\",\"error\":\"%s\",\"min\":%d,\"max\":%d,\"actual\":%d},"
        "{\"field\":\"%s\",\"error\":\"%s\",\"expected\":\"%s\"}]}",
        "validation_error", message, name_field, "field_required", age_field, "value_out_of_range",
        low, high, given, email_field, "pattern_mismatch", ".*@.*\\\\..*");
}

static void bench_raise(void)
{
    double ours, theirs;
    tell_with_mishap();
    size_t length = sink;
    tell_with_snprintf();
    if (length != sink)
        end_void("mishap_render and snprintf", "they print different lengths");
    mishap_use_allocator(&(mishap_allocator){ counted_malloc, counted_realloc, free });
    allocations = 0;
    tell_with_mishap();
    mishap_use_allocator(NULL);
    compare(tell_with_mishap, tell_with_snprintf, SERIES, &ours, &theirs);
    printf("raise with native trace, three fields, render http-api (%zu bytes), free\n"
           "    %.0f ns against %.0f ns for one snprintf: ratio %.2f (at most 1.00: %s)\n"
           "    allocations: %zu (at most 2: %s)\n",
           length, figure("mishap_render", ours), figure("snprintf", theirs), ours / theirs,
           outcome(ours / theirs, 2, 1), allocations, outcome((double)allocations, 0, 2));
}

/* -- parse against yyjson's own ---------------------------------------------------------------- */

static char document[512];
static size_t document_length;

static void parse_with_mishap(void)
{
    mishap *m = NULL;
    if (mishap_parse(http_api, (mishap_text){ document, document_length }, &m))
        end_void("mishap_parse", "it fails");
    mishap_free(m);
}

static void parse_with_yyjson(void)
{
    yyjson_doc *doc = yyjson_read(document, document_length, 0);
    sink = yyjson_doc_get_val_count(doc);
    yyjson_doc_free(doc);
}

static void ignore(void *state, const mishap_finding *finding)
{
    (void)state, (void)finding;
}

static void verify_with_mishap(void)
{
    if (mishap_verify(http_api, (mishap_text){ document, document_length }, false, ignore, NULL))
        end_void("mishap_verify", "it fails");
}

static void bench_parse(void)
{
    double ours, theirs;
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, document, sizeof document);
    mishap *m = mishap_raise(VALIDATION_ERROR, "%s", message);
    m = mishap_field_required(m, name_field);
    m = mishap_field_range(m, age_field, mishap_value_of_int(low), mishap_value_of_int(high),
                           mishap_value_of_int(given));
    m = mishap_field_pattern(m, email_field, pattern);
    document_length = mishap_render(http_api, m, &buffer).length;
    mishap_free(m);
    compare(parse_with_mishap, parse_with_yyjson, SERIES, &ours, &theirs);
    printf("parse http-api (%zu bytes) into a mishap\n"
           "    %.0f ns against %.0f ns for yyjson_read: ratio %.2f (at most 3.00: %s)\n",
           document_length, figure("mishap_parse", ours), figure("yyjson_read", theirs),
           ours / theirs, outcome(ours / theirs, 2, 3));
    compare(verify_with_mishap, parse_with_yyjson, SERIES, &ours, &theirs);
    printf("verify http-api (%zu bytes)\n    %.0f ns against %.0f ns for yyjson_read: ratio %.2f, "
           "%.0f MB/s\n",
           document_length, figure("mishap_verify", ours), figure("yyjson_read", theirs),
           ours / theirs, (double)document_length / ours * 1e3);
}

/* -- growth ------------------------------------------------------------------------------------ */

static size_t amount;
static char *long_text;

static void render_and_free(const char *dialect, mishap *m)
{
    mishap_buffer buffer;
    mishap_buffer_init(&buffer, NULL, 0);
    sink = mishap_render(mishap_dialect_find(dialect), m, &buffer).length;
    mishap_buffer_release(&buffer);
    mishap_free(m);
}

static void with_fields(void)
{
    mishap *m = mishap_raise(VALIDATION_ERROR, NULL);
    for (size_t i = 0; i < amount; i++)
        m = mishap_field_range(m, "age", mishap_value_of_int(0), mishap_value_of_int(150),
                               mishap_value_of_int(200));
    render_and_free("http-api", m);
}

static void with_frames(void)
{
    mishap *m = mishap_raise(RUNTIME_ERROR, NULL);
    for (size_t i = 0; i < amount; i++)
        m = mishap_frame_add(m, (mishap_text)MISHAP_TEXT("(FOO 1 2 \"three\")"));
    render_and_free("canonical", m);
}

static void with_text(void)
{
    mishap *m = mishap_message(mishap_raise(RUNTIME_ERROR, NULL),
                               (mishap_text){ long_text, amount * 100 });
    render_and_free("http-api", m);
}

static void nothing(void)
{
    sink = 0;
}

/* The time of n units over n times the time that one more unit takes: near 1 when it is linear,
 * with any fixed cost. */
static void bench_growth(const char *what, work *make)
{
    static const size_t amounts[] = { 1, 10, 100, 1000 };
    double ns[4], ignored;
    for (int i = 0; i < 4; i++) {
        amount = amounts[i];
        compare(make, nothing, amount > 50 ? 5 : 100, &ns[i], &ignored);
    }
    double unit = figure(what, (ns[2] - ns[0]) / 99);
    printf("%-28s %8.0f %8.0f %8.0f %8.0f ns for 1, 10, 100, 1,000: ", what, ns[0], ns[1], ns[2],
           ns[3]);
    printf("the last 900 cost %.2f times what the first 100 predict\n",
           figure(what, (ns[3] - ns[2]) / 900 / unit));
}

int main(void)
{
    long_text = malloc(100000);
    memset(long_text, 'x', 100000);
    http_api = mishap_dialect_find("http-api");
    bench_raise();
    bench_parse();
    bench_growth("fields", with_fields);
    bench_growth("frames", with_frames);
    bench_growth("message, hundreds of bytes", with_text);
    free(long_text);
    return 0;
}
