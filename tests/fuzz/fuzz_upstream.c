/*
 * The error response of another server: as it is on the wire, or a line with status and content
 * type, an empty line, and the body. Any of it is understood: the outcome has a code of the
 * catalog, its message is one line of UTF-8, a failure of the server has no message at all, and no
 * text has a leak.
 */
#include "fuzz.h"
#include "mishap/bind.h"
#include "upstream/upstream.h"

static void expect_safe(mishap_text text)
{
    mishap_buffer judged = { 0 };
    expect_utf8(text);
    EXPECT(!mishap_guard_text(text, true, NULL, 0, &judged), "leaks: %.*s", SHOWN(text));
    mishap_buffer_release(&judged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text input = input_text(data, size), line = input, body = { "", 0 };
    const char *feed = size ? memchr(data, '\n', size) : NULL;
    if (feed) {
        line.length = (size_t)(feed - input.data);
        size_t skipped = line.length + 1 < size && feed[1] == '\n' ? 2 : 1;
        body = (mishap_text){ feed + skipped, size - line.length - skipped };
    }
    mishap_upstream_response response = { .body = body };
    for (size_t i = 0; i < 3 && i < line.length; i++)
        response.status = response.status * 10 + (line.data[i] - '0');
    if (line.length > 4)
        response.content_type = (mishap_text){ line.data + 4, line.length - 4 };

    mishap_upstream_split(input, &response);
    mishap *m = NULL;
    const char *shape = NULL;
    mishap *failure = mishap_upstream_read(&response, &m, &shape);
    EXPECT(!failure && m && shape, "not understood");
    const mishap_public *told = mishap_told(m);
    EXPECT(mishap_code_find(told->code->name) == told->code, "not a code of the catalog");
    if (told->message.length)
        expect_safe(told->message);
    EXPECT(!told->code->masked || !told->message.length, "a masked code has a message");
    EXPECT(told->field_count <= MISHAP_UPSTREAM_FIELDS || mishap_dialect_find(shape), "too many");
    for (const mishap_field *field = told->fields; field; field = field->next)
        expect_safe(field->message);
    for (const mishap_dialect *const *dialect = mishap_dialects(); *dialect; dialect++) {
        mishap_buffer out = { 0 };
        expect_utf8(mishap_render(*dialect, m, &out));
        mishap_buffer_release(&out);
    }
    mishap_free(m);
    return 0;
}
