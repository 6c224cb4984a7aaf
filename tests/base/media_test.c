/* Media types: the one of a Content-Type, and what an Accept field has to say about one. */
#include "base/media.h"
#include "testing.h"

static void a_media_type_is_read(void **state)
{
    static const struct {
        const char *field, *kind, *name; /* no kind: it is none */
    } rows[] = {
        { "application/json", "application", "json" },
        { "APPLICATION/Json; charset=utf-8", "APPLICATION", "Json" },
        { "text/plain ; x=\"a/b, c\"", "text", "plain" },
        { "text/plain;", "text", "plain" },
        { "application/vnd.api+json", "application", "vnd.api+json" },
        { "", NULL, NULL },
        { "json", NULL, NULL },
        { "/json", NULL, NULL },
        { "application/", NULL, NULL },
        { "application /json", NULL, NULL },
        { "application/json, text/plain", NULL, NULL },
        { "application/json text/plain", NULL, NULL },
        { "application/json/x", NULL, NULL },
        { "*/*", NULL, NULL },
        { "application/*", NULL, NULL },
        { "application/*+json", NULL, NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_http_media media;
        bool read = mishap_http_media_read(mishap_text_of(rows[i].field), &media);
        if (read != (rows[i].kind != NULL))
            fail_msg("%s was %s", rows[i].field, read ? "read" : "refused");
        if (!read)
            continue;
        assert_true(mishap_text_equal(media.kind, mishap_text_of(rows[i].kind)));
        assert_true(mishap_text_equal(media.name, mishap_text_of(rows[i].name)));
    }
    assert_false(mishap_http_media_read((mishap_text){ NULL, 0 }, &(mishap_http_media){ 0 }));
}

static void what_fits_most_closely_decides(void **state)
{
    static const struct {
        const char *accept;
        bool json, stream;
    } rows[] = {
        { NULL, true, true },
        { "", false, false },
        { "*/*", true, true },
        { "application/json", true, false },
        { "Text/Event-Stream", false, true },
        { "application/*;q=0.1, text/*", true, true },
        { "image/png", false, false },
        { "*/*, application/json;q=0", false, true },
        { "application/json;q=0.000, */*;q=0.5", false, true },
        { "application/json;q=0, application/json", true, false },
        { "*/*;q=0, text/event-stream;q=0.001", false, true },
        { ", ,application/json ; q=1.0 ,", true, false },
        { "application/jsonx, text/event-streams", false, false },
        { "text/html;x=\"a, application/json\"", false, false },
        { "text/html;x=\"a;q=0\", application/json", true, false },
        { "*/json", false, false },
        /* no Accept field */
        { "application/json;q=2", false, false },
        { "application/json;q=0.1234", false, false },
        { "application/json text/event-stream", false, false },
        { "application/json, text", false, false },
        { "application/json;x=\"", false, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mishap_text accept = mishap_text_of(rows[i].accept);
        if (!rows[i].accept)
            accept.data = NULL;
        if (mishap_http_accepts(accept, T("application/json")) != rows[i].json ||
            mishap_http_accepts(accept, T("text/event-stream")) != rows[i].stream)
            fail_msg("%s", rows[i].accept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_media_type_is_read),
        TEST(what_fits_most_closely_decides),
    };
    return RUN(tests);
}
