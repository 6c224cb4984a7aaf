/*
 * A form: the first line of the input is its Content-Type, and what follows is the body. It is read
 * in one piece and in pieces of every length up to a few bytes: all of them give the same parts, or
 * the same failure. The object of arguments that is made of it is JSON. The same holds for a form
 * whose last file is streamed: its bytes are the same in pieces of every length.
 */
#include "fuzz.h"
#include "http/wire/form.h"
#include "http/wire/multipart.h"

static const mishap_param file_item = { "item", MISHAP_FILE, .length = { 0, 50 } };
static const mishap_param params[] = {
    { "a", MISHAP_STRING, .help = "text" },     { "n", MISHAP_INTEGER, .help = "a number" },
    { "f", MISHAP_FILE, .length = { 0, 90 } },  { "l", MISHAP_ARRAY, .items = &file_item },
    { "o", MISHAP_OBJECT, .help = "anything" }, { 0 }
};
static const mishap_operation operation = { "things.add", "Add", params, .route = "POST /things" };

static const mishap_param streamed_params[] = {
    { "a", MISHAP_STRING, .help = "text" },
    { "n", MISHAP_INTEGER, .help = "a number" },
    { .name = "f", .type = MISHAP_FILE, .streamed = true, .length = { 0, 90 } },
    { 0 },
};
static const mishap_operation streaming = { "files.add", "Add", streamed_params,
                                            .route = "POST /files" };

static mishap *put_begin(void *state, const mishap_multipart_part *part)
{
    mishap_buffer *b = state;
    expect_utf8(part->name);
    EXPECT(part->name.length <= 256 && part->file.length <= 1024, "a long name");
    MISHAP_PUT(b, "[");
    mishap_buffer_put_text(b, part->name);
    MISHAP_PUT(b, "|");
    mishap_buffer_put_text(b, part->file);
    MISHAP_PUT(b, "|");
    mishap_buffer_put_text(b, part->type);
    MISHAP_PUT(b, "|");
    return NULL;
}

static mishap *put_data(void *state, mishap_text bytes)
{
    EXPECT(bytes.length, "an empty piece");
    mishap_buffer_put_text(state, bytes);
    return NULL;
}

static mishap *put_end(void *state)
{
    MISHAP_PUT((mishap_buffer *)state, "]");
    return NULL;
}

/* What is read of it. A failure tells nothing of the input but constant words. */
static bool read_pieces(mishap_text type, mishap_text body, size_t size, mishap_buffer *found)
{
    const mishap_multipart_receiver receiver = { put_begin, put_data, put_end, found };
    mishap_multipart reader;
    if (!mishap_multipart_begin(&reader, type, &receiver))
        return false;
    for (size_t at = 0; at < body.length; at += size)
        mishap_multipart_feed(
            &reader,
            (mishap_text){ body.data + at, body.length - at < size ? body.length - at : size });
    mishap *m = mishap_multipart_end(&reader);
    if (m) {
        mishap_text message = mishap_told(m)->message;
        EXPECT(mishap_told(m)->code == MISHAP_CODE_BAD_REQUEST && message.length < 200, "%.*s",
               SHOWN(message));
        for (size_t i = 0; i < message.length; i++)
            EXPECT(message.data[i] >= ' ' && message.data[i] <= '~', "%.*s", SHOWN(message));
        mishap_buffer_reset(found);
        mishap_buffer_put_text(found, message);
        mishap_free(m);
    }
    return true;
}

static void expect_object(mishap_text type, mishap_text body)
{
    mishap_buffer json = { 0 };
    mishap_http_form form = mishap_http_form_of(&operation, type);
    if (form == MISHAP_HTTP_NO_FORM)
        return;
    mishap *m = mishap_http_form_read(&operation, form, type, body, &json);
    if (m) {
        expect_utf8(mishap_told(m)->message);
    } else {
        mishap_json_reader reader = MISHAP_JSON_READER;
        EXPECT(mishap_json_read(&reader, mishap_buffer_text(&json)), "%.*s", SHOWN(json));
        EXPECT(yyjson_is_obj(reader.root), "%.*s", SHOWN(json));
        mishap_json_reader_release(&reader);
    }
    mishap_free(m);
    mishap_buffer_release(&json);
}

/* -- a file that is streamed ------------------------------------------------------------------- */

struct streamed {
    mishap_http_form_reader form;
    mishap_buffer found; /* the fields, then the bytes of the file */
    size_t bytes;
    bool begun;
};

static mishap *begin_file(void *state)
{
    struct streamed *s = state;
    EXPECT(!s->begun, "a second file");
    s->begun = true;
    mishap_http_form_put(&s->form, &s->found);
    return NULL;
}

static mishap *put_file(void *state, mishap_text bytes)
{
    struct streamed *s = state;
    EXPECT(s->begun && bytes.length, "bytes of no file");
    s->bytes += bytes.length;
    EXPECT(s->bytes <= 90, "a file above its limit");
    mishap_buffer_put_text(&s->found, bytes);
    return NULL;
}

static bool stream_pieces(mishap_text type, mishap_text body, size_t size, mishap_buffer *found)
{
    struct streamed s = { .begun = false };
    const mishap_http_form_stream stream = { begin_file, put_file, &s };
    mishap *m = mishap_http_form_open(&s.form, &streaming, type, &stream);
    bool opened = !m;
    for (size_t at = 0; !m && at < body.length; at += size)
        mishap_http_form_feed(
            &s.form,
            (mishap_text){ body.data + at, body.length - at < size ? body.length - at : size });
    if (!m)
        m = mishap_http_form_end(&s.form);
    mishap_buffer_put_text(found, m ? mishap_told(m)->message : mishap_buffer_text(&s.found));
    if (!m && !s.begun)
        mishap_http_form_put(&s.form, found);
    mishap_free(m);
    mishap_buffer_release(&s.found);
    mishap_http_form_release(&s.form);
    return opened;
}

static void expect_stream(mishap_text type, mishap_text body)
{
    mishap_buffer whole = { 0 }, pieces = { 0 };
    if (stream_pieces(type, body, body.length ? body.length : 1, &whole))
        for (size_t length = 1; length < 8; length++) {
            mishap_buffer_reset(&pieces);
            stream_pieces(type, body, length, &pieces);
            EXPECT(pieces.length == whole.length &&
                       (!whole.length || memcmp(pieces.data, whole.data, whole.length) == 0),
                   "streamed in pieces of %zu: %.*s", length, SHOWN(pieces));
        }
    mishap_buffer_release(&whole);
    mishap_buffer_release(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text all = input_text(data, size), body = { NULL, 0 };
    const char *feed = size ? memchr(all.data, '\n', size) : NULL;
    mishap_text type = { all.data, feed ? (size_t)(feed - all.data) : size };
    if (feed)
        body = (mishap_text){ feed + 1, size - type.length - 1 };
    mishap_buffer whole = { 0 }, pieces = { 0 };
    if (read_pieces(type, body, body.length ? body.length : 1, &whole))
        for (size_t length = 1; length < 8; length++) {
            mishap_buffer_reset(&pieces);
            read_pieces(type, body, length, &pieces);
            EXPECT(pieces.length == whole.length &&
                       (!whole.length || memcmp(pieces.data, whole.data, whole.length) == 0),
                   "in pieces of %zu: %.*s", length, SHOWN(pieces));
        }
    mishap_buffer_release(&whole);
    mishap_buffer_release(&pieces);
    expect_object(type, body);
    expect_stream(type, body);
    return 0;
}
