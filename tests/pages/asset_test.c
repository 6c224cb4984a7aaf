/* The files of the pages: which form of a file is sent, and which request gets a page; and the
 * playground. */
#include "base/json_read.h"
#include "base/media.h"
#include "pages/pages.h"
#include "testing.h"

/* -- helpers ----------------------------------------------------------------------------------- */

static bool has_field(const mishap_http_reply *reply, const char *line)
{
    return memmem(reply->fields.data, reply->fields.length, line, strlen(line)) != NULL;
}

static const mishap_page_asset *asset_named(const char *name)
{
    const mishap_page_asset *asset = mishap_page_asset_find(mishap_text_of(name));
    assert_non_null(asset);
    return asset;
}

/* The playground's answer, which the caller frees. */
static char *played(const char *request)
{
    mishap_buffer json = { 0 };
    mishap *failure = mishap_playground_put(&json, mishap_text_of(request));
    if (failure)
        fail_msg("%s: %s", request, mishap_public_message(mishap_told(failure)).data);
    assert_false(json.failed);
    char *text = calloc(json.length + 1, 1);
    assert_non_null(text);
    memcpy(text, json.data, json.length);
    mishap_json_reader reader = MISHAP_JSON_READER;
    assert_true(mishap_json_read(&reader, mishap_text_of(text)));
    mishap_json_reader_release(&reader);
    mishap_buffer_release(&json);
    return text;
}

static void assert_played(const char *request, const char *part)
{
    char *text = played(request);
    if (!strstr(text, part))
        fail_msg("%s is not in %s", part, text);
    free(text);
}

/* -- assets ------------------------------------------------------------------------------------ */

static void every_file_is_there_in_both_forms(void **state)
{
    static const char *const needed[] = { "index.html", "docs.html", "errors.html", "console.html",
                                          "style.css",  "common.js", "uplot.js",    "uplot.css" };
    (void)state;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        asset_named(needed[i]);
    for (const mishap_page_asset *asset = mishap_page_assets; asset->name; asset++) {
        const unsigned char *end = (const unsigned char *)asset->packed.data + asset->packed.length;
        assert_true(asset->plain.length > 0 && asset->packed.length > 20);
        assert_memory_equal(asset->packed.data, "\x1f\x8b\x08", 3);
        uint32_t length = end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 |
                          (uint32_t)end[-1] << 24; /* RFC 1952: ISIZE */
        assert_int_equal(length, asset->plain.length);
        assert_false(mishap_text_equal(asset->tag, asset->packed_tag));
    }
    assert_null(mishap_page_asset_find(T("nothing.js")));
    assert_null(mishap_page_asset_find(T("../style.css")));
    assert_null(mishap_page_asset_find(T("")));
}

static void all_files_together_are_small(void **state)
{
    size_t sum = 0;
    (void)state;
    for (const mishap_page_asset *asset = mishap_page_assets; asset->name; asset++)
        sum += asset->plain.length;
    if (sum > 150000)
        fail_msg("the files have %zu bytes", sum);
}

static void gzip_is_sent_where_it_is_accepted(void **state)
{
    static const struct {
        const char *field;
        bool accepted;
    } cases[] = {
        { "gzip", true },
        { "GZip", true },
        { "deflate, gzip;q=0.5", true },
        { "br;q=1.0, gzip;q=0.8, *;q=0.1", true },
        { "*", true },
        { " *;q=1 ", true },
        { "", false },
        { "identity", false },
        { "deflate, br", false },
        { "gzip;q=0", false },
        { "gzip;q=0.000", false },
        { "gzip; Q=0 ,*", false },
        { "*;q=0", false },
        { "gzipped", false },
        { ",;,;;,", false },
        { "gzip;q=", true }, /* not a quality: the word counts */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (mishap_page_accepts_gzip(mishap_text_of(cases[i].field)) != cases[i].accepted)
            fail_msg("Accept-Encoding: %s", cases[i].field);
    assert_false(mishap_page_accepts_gzip((mishap_text){ NULL, 0 }));
}

static void a_tag_is_known_in_any_list(void **state)
{
    static const struct {
        const char *field;
        bool known;
    } cases[] = {
        { "\"abc\"", true },
        { "W/\"abc\"", true },
        { "\"x\", \"abc\"", true },
        { "*", true },
        { "\"abcd\"", false },
        { "abc", false },
        { "\"x,\"abc\",y\"", true },
        { "", false },
        { ",,", false },
        { "w/\"abc\"", false },
        { "W/", false },
        { "\"ab\",\"c\"", false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (mishap_page_tag_is_known(mishap_text_of(cases[i].field), T("\"abc\"")) !=
            cases[i].known)
            fail_msg("If-None-Match: %s", cases[i].field);
    assert_false(mishap_page_tag_is_known((mishap_text){ NULL, 0 }, T("\"abc\"")));
}

static void a_file_has_the_fields_of_its_form(void **state)
{
    static const mishap_text none = { NULL, 0 };
    const mishap_page_asset *asset = asset_named("style.css");
    mishap_http_reply reply = { 0 };
    (void)state;
    mishap_page_asset_send(&reply, asset, 200, none, none);
    assert_int_equal(reply.status, 200);
    assert_true(mishap_text_equal(reply.content, asset->plain));
    assert_false(has_field(&reply, "Content-Encoding"));
    assert_true(has_field(
        &reply, "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
                "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
                "frame-ancestors 'none'\r\n"));
    mishap_http_reply_release(&reply);

    reply = (mishap_http_reply){ 0 };
    mishap_page_asset_send(&reply, asset, 200, T("gzip"), asset->tag);
    assert_int_equal(reply.status, 200); /* the tag of the other form */
    assert_true(mishap_text_equal(reply.content, asset->packed));
    assert_true(has_field(&reply, "Content-Encoding: gzip\r\n"));
    assert_true(has_field(&reply, "Vary: Accept-Encoding\r\n"));
    mishap_http_reply_release(&reply);

    reply = (mishap_http_reply){ 0 };
    mishap_page_asset_send(&reply, asset, 200, T("gzip"), asset->packed_tag);
    assert_int_equal(reply.status, 304);
    assert_int_equal(reply.content.length, 0);
    assert_true(has_field(&reply, "ETag: "));
    mishap_http_reply_release(&reply);

    reply = (mishap_http_reply){ 0 };
    mishap_page_asset_send(&reply, asset, 404, T("gzip"), asset->packed_tag);
    assert_int_equal(reply.status, 404); /* a failure is never "not modified" */
    mishap_http_reply_release(&reply);
}

/* -- which request gets a page ----------------------------------------------------------------- */

static void html_is_preferred_only_where_it_is_named(void **state)
{
    static const struct {
        const char *accept;
        bool html;
    } cases[] = {
        { "text/html", true },
        { "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true },
        { "text/html, */*", true },
        { "application/json;q=0.9, text/html", true },
        { "TEXT/HTML", true },
        { "*/*", false },
        { "text/*", false },
        { "application/json", false },
        { "application/json, text/html", false },
        { "text/html, application/json", false },
        { "text/html;q=0.5, application/json", false },
        { "text/html;q=0", false },
        { "text/html;q=0, */*", false },
        { "text/html;q=x", false },
        { "text/html,, nonsense", false },
        { "", false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (mishap_http_prefers(mishap_text_of(cases[i].accept), T("text/html"),
                                T("application/json")) != cases[i].html)
            fail_msg("Accept: %s", cases[i].accept);
    assert_false(
        mishap_http_prefers((mishap_text){ NULL, 0 }, T("text/html"), T("application/json")));
}

static void fallbacks_are_found_apart_from_routes(void **state)
{
    static const mishap_http_endpoint own[] = { { .route = "GET /docs", .name = "own" },
                                                { .route = "GET /a/:b", .name = "any" },
                                                { 0 } };
    static const mishap_http_endpoint pages[] = {
        { .route = "GET /docs", .name = "page", .fallback = true },
        { .route = "GET /", .name = "home", .fallback = true },
        { .route = "GET /a/b/:c", .name = "deep", .fallback = true },
        { 0 },
    };
    const mishap_http_endpoint *const lists[] = { own, pages };
    mishap_http_routes *routes = NULL;
    mishap_http_match match;
    (void)state;
    assert_null(mishap_http_routes_make(lists, 2, &routes));
    assert_true(mishap_http_route_find(routes, MISHAP_HTTP_GET, T("/docs"), &match));
    assert_string_equal(match.endpoint->name, "own");
    assert_true(mishap_http_route_fall_back(routes, MISHAP_HTTP_HEAD, T("/docs"), &match));
    assert_string_equal(match.endpoint->name, "page");
    assert_int_equal(match.extension, 1);
    assert_false(mishap_http_route_find(routes, MISHAP_HTTP_GET, T("/"), &match));
    assert_int_equal(match.allowed, 0); /* as if there were no page */
    assert_true(mishap_http_route_fall_back(routes, MISHAP_HTTP_GET, T("/"), &match));
    assert_false(mishap_http_route_fall_back(routes, MISHAP_HTTP_POST, T("/"), &match));
    assert_true(mishap_http_route_fall_back(routes, MISHAP_HTTP_GET, T("/a/b/x"), &match));
    assert_int_equal(match.param_count, 1);
    assert_true(mishap_text_equal(match.params[0].raw, T("x")));
    assert_false(mishap_http_route_fall_back(routes, MISHAP_HTTP_GET, T("/a/x"), &match));
    mishap_http_routes_free(routes);
}

/* -- the playground ---------------------------------------------------------------------------- */

static void a_pasted_error_is_shown_in_all_dialects(void **state)
{
    static const char pasted[] = "{\"document\":\"{\\\"error\\\":\\\"not_found\\\",\\\"message\\\":"
                                 "\\\"No <b>todo</b>\\\"}\"}";
    (void)state;
    assert_played(pasted, "\"detected\":true,\"dialect\":\"http-api\",\"findings\":[]");
    assert_played(pasted, "\"code\":\"NOT_FOUND\"");
    for (const mishap_dialect *const *d = mishap_dialects(); *d; d++) {
        char part[100];
        snprintf(part, sizeof part, "\"%s\":{\"media_type\":", mishap_dialect_name(*d));
        assert_played(pasted, part);
    }
}

static void the_findings_are_those_of_a_check(void **state)
{
    (void)state;
    assert_played("{\"document\":\"{\\\"message\\\":\\\"boom\\\"}\",\"dialect\":\"http-api\"}",
                  "\"rule\":\"missing-member\",\"severity\":\"error\"");
    assert_played("{\"document\":\"no JSON\",\"dialect\":\"http-api\"}", "\"unreadable\":");
    assert_played("{\"document\":\"\"}", "\"dialect\":null");
    assert_played("{\"document\":\"[ERROR] FOO\\nbar\\n\\n[Backtrace]\\n0: (FOO)\\n\"}",
                  "\"dialect\":\"condition-report\"");
}

static void a_request_that_is_none_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"document\":7}",
        "{\"document\":\"\",\"dialect\":7}",
        "{\"document\":\"\",\"dialect\":\"nonsense\"}",
        "{\"document\":\"\",\"strict\":1}",
        "{\"document\":\"a\",\"document\":\"b\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap_buffer json = { 0 };
        mishap *failure = mishap_playground_put(&json, mishap_text_of(cases[i]));
        if (!failure)
            fail_msg("%s is taken", cases[i]);
        assert_ptr_equal(mishap_told(failure)->code, MISHAP_CODE_BAD_REQUEST);
        mishap_free(failure);
        mishap_buffer_release(&json);
    }
}

/* As many findings as a small document can have: the answer stays small. */
static void the_number_of_findings_is_limited(void **state)
{
    mishap_buffer request = { 0 }, json = { 0 };
    (void)state;
    MISHAP_PUT(&request, "{\"dialect\":\"http-api\",\"document\":\"{\\\"a\\\":1");
    while (request.length < MISHAP_PLAYGROUND_LIMIT - 100)
        MISHAP_PUT(&request, ",\\\"a\\\":1");
    MISHAP_PUT(&request, "}\"}");
    assert_null(mishap_playground_put(&json, mishap_buffer_text(&request)));
    assert_true(json.length < 100000);
    mishap_buffer_release(&request);
    mishap_buffer_release(&json);
}

static void play_without_memory(const void *input)
{
    mishap_buffer json = { 0 };
    mishap *failure = mishap_playground_put(&json, mishap_text_of(input));
    mishap_free(failure);
    mishap_buffer_release(&json);
}

static void the_playground_survives_without_memory(void **state)
{
    (void)state;
    torture(play_without_memory, "{\"document\":\"{\\\"error\\\":\\\"not_found\\\",\\\"message\\\":"
                                 "\\\"Todo not found\\\"}\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_file_is_there_in_both_forms),     TEST(all_files_together_are_small),
        TEST(gzip_is_sent_where_it_is_accepted),     TEST(a_tag_is_known_in_any_list),
        TEST(a_file_has_the_fields_of_its_form),     TEST(html_is_preferred_only_where_it_is_named),
        TEST(fallbacks_are_found_apart_from_routes), TEST(a_pasted_error_is_shown_in_all_dialects),
        TEST(the_findings_are_those_of_a_check),     TEST(a_request_that_is_none_is_refused),
        TEST(the_number_of_findings_is_limited),     TEST(the_playground_survives_without_memory),
    };
    return RUN(tests);
}
