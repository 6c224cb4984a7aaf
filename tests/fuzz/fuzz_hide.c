/* A document from which leaks are taken out: it stays JSON, and the surest of them are gone. */
#include "fuzz.h"
#include "operation/hide.h"

static bool has_traceback(mishap_text text)
{
    static const char surest[] = "Traceback (most recent call last)";
    return memmem(text.data, text.length, surest, sizeof surest - 1);
}

static void expect_hidden(mishap_text document, const mishap_sent *sent)
{
    mishap_buffer json = { 0 };
    mishap_json_reader reader = MISHAP_JSON_READER;
    mishap_buffer_put_text(&json, document);
    mishap *found = mishap_hide_json(&json, NULL, sent);
    mishap_text left = mishap_buffer_text(&json);
    if (!json.failed) {
        EXPECT(mishap_json_read(&reader, left), "%.*s", SHOWN(left));
        EXPECT(sent || !has_traceback(left), "%.*s", SHOWN(left));
        EXPECT(found || mishap_text_equal(left, document), "%.*s", SHOWN(left));
    }
    mishap_json_reader_release(&reader);
    mishap_free(found);
    mishap_buffer_release(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mishap_text text = { size ? (const char *)data : "", size };
    mishap_json_reader reader = MISHAP_JSON_READER;
    if (mishap_json_read(&reader, text)) {
        expect_hidden(text, NULL);
        expect_hidden(text, &(mishap_sent){ .text = text });
        mishap_leaks_set_guard("strict");
        expect_hidden(text, NULL);
        mishap_leaks_set_guard("normal");
    }
    mishap_json_reader_release(&reader);
    return 0;
}
