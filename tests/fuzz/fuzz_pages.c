/*
 * What pages read of a request: the playground's body, Accept, Accept-Encoding, If-None-Match. The
 * first byte says which. The answer of the playground is JSON, in UTF-8, and never much longer than
 * its limits allow.
 */
#include "base/json_read.h"
#include "base/media.h"
#include "fuzz.h"
#include "pages/pages.h"

static void play(mishap_text request)
{
    mishap_buffer json = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap *failure = mishap_playground_put(&json, request);
    if (!failure) {
        EXPECT(!json.failed, "without memory");
        expect_utf8(mishap_buffer_text(&json));
        EXPECT(mishap_json_read(&reader, mishap_buffer_text(&json)), "no JSON: %.*s",
               SHOWN(mishap_buffer_text(&json)));
    }
    mishap_json_reader_release(&reader);
    mishap_free(failure);
    mishap_buffer_release(&json);
}

/* A document as it is, which the playground gets as a string. */
static void paste(mishap_text document)
{
    mishap_buffer request = { 0 };
    MISHAP_PUT(&request, "{\"document\":");
    mishap_json_string(&request, document);
    MISHAP_PUT(&request, "}");
    play(mishap_buffer_text(&request));
    mishap_buffer_release(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const mishap_text html = MISHAP_TEXT("text/html"),
                             json = MISHAP_TEXT("application/json");
    if (!size || size > MISHAP_PLAYGROUND_LIMIT)
        return 0;
    mishap_text text = input_text(data + 1, size - 1);
    if (data[0] == '{')
        play(input_text(data, size));
    else if (data[0] == 'd')
        paste(text);
    else if (data[0] == 'e')
        mishap_page_accepts_gzip(text);
    else if (data[0] == 't')
        EXPECT(!mishap_page_tag_is_known(text, (mishap_text)MISHAP_TEXT("\"a,b\"")) ||
                   memchr(text.data, '*', text.length),
               "%.*s", SHOWN(text)); /* a list is split at commas: only a star knows this tag */
    else if (mishap_http_prefers(text, html, json))
        EXPECT(mishap_http_accepts(text, html) && !mishap_http_prefers(text, json, html), "%.*s",
               SHOWN(text));
    return 0;
}
