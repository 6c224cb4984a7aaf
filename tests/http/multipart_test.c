/* src/http/wire/multipart and form: forms in one piece and in many, and what is no form. */
#include "http/wire/form.h"
#include "http/wire/multipart.h"
#include "http/wire/pack.h"
#include "http/calls/fit.h"
#include "operation/fields.h"
#include "testing.h"

/* -- parts as text ----------------------------------------------------------------------------- */

static mishap *put_begin(void *state, const mishap_multipart_part *part)
{
    mishap_buffer *b = state;
    MISHAP_PUT(b, "[");
    mishap_buffer_put_text(b, part->name);
    if (part->file.data) {
        MISHAP_PUT(b, "|");
        mishap_buffer_put_text(b, part->file);
    }
    if (part->type.data) {
        MISHAP_PUT(b, "|");
        mishap_buffer_put_text(b, part->type);
    }
    MISHAP_PUT(b, "=");
    return NULL;
}

static mishap *put_data(void *state, mishap_text bytes)
{
    assert_true(bytes.length > 0);
    mishap_buffer_put_text(state, bytes);
    return NULL;
}

static mishap *put_end(void *state)
{
    MISHAP_PUT((mishap_buffer *)state, "]");
    return NULL;
}

/* What is read of a form that comes in pieces of this size; the failure, if there is one. */
static const char *read_in(const char *type, mishap_text form, size_t size)
{
    static char result[4096];
    mishap_buffer found = { 0 };
    const mishap_multipart_receiver receiver = { put_begin, put_data, put_end, &found };
    mishap_multipart reader;
    if (!mishap_multipart_begin(&reader, mishap_text_of(type), &receiver))
        return "no boundary";
    for (size_t at = 0; at < form.length; at += size) {
        char piece[512]; /* of its own, so that a sanitizer sees a read beyond it */
        size_t length = form.length - at < size ? form.length - at : size;
        memcpy(piece, form.data + at, length);
        mishap_multipart_feed(&reader, (mishap_text){ piece, length });
    }
    mishap *m = mishap_multipart_end(&reader);
    if (m)
        snprintf(result, sizeof result, "%.*s", (int)mishap_told(m)->message.length,
                 mishap_told(m)->message.data);
    else
        snprintf(result, sizeof result, "%.*s", (int)found.length, found.data ? found.data : "");
    mishap_free(m);
    mishap_buffer_release(&found);
    return result;
}

static void assert_read(const char *form, const char *expected)
{
    for (size_t size = 1; size < 300; size++)
        assert_string_equal(read_in("multipart/form-data; boundary=XX", mishap_text_of(form), size),
                            expected);
}

#define PART(name) "Content-Disposition: form-data; name=" name "\r\n\r\n"

static void parts_are_read_in_pieces_of_any_size(void **state)
{
    (void)state;
    assert_read("--XX\r\n" PART("a") "1\r\n--XX--", "[a=1]");
    assert_read("--XX\r\n" PART("a") "\r\n--XX\r\n" PART("\"b c\"") "2\r\n--XX--\r\nrest",
                "[a=][b c=2]");
    assert_read("preamble\r\n--XX \t\r\n" PART("a") "\r\n-\r\n--X\r\n--\r--XX\n\r\n--XX--",
                "[a=\r\n-\r\n--X\r\n--\r--XX\n]");
    assert_read("--XX\r\nContent-Type: text/plain; charset=x\r\ncontent-disposition:FORM-DATA; "
                "filename=\"a\\\"b;.txt\"; name=f\r\n\r\n\r\n\r\n\r\n--XX--",
                "[f|a\"b;.txt|text/plain; charset=x=\r\n\r\n]");
    assert_read("--XX\r\nContent-Disposition: form-data; name=\"a%22b%0d%0A%\"; "
                "filename=\"\"\r\n\r\nx\r\n--XX--",
                "[a\"b\r\n%|=x]");
    assert_read("--XX--", "");
}

/* Text with its end at every place of the blocks that are searched at once; of random bytes, of CRs
 * alone, and of bytes that look like the beginning and the end of a boundary, but are none. */
static void a_boundary_is_found_at_every_place(void **state)
{
    static const char *const fillers[] = { "abc",
                                           "\r",
                                           "\rX",
                                           "\r\n--X",
                                           "\r\n--",
                                           "XX-\n\r",
                                           "\r\n--Xabcdefghijklmnopqrstuvwxyz0123456789\r\n-XX" };
    static char form[1024], expected[1024];
    (void)state;
    for (size_t f = 0; f < sizeof fillers / sizeof *fillers; f++)
        for (size_t length = 0; length < 300; length++) {
            char text[301];
            for (size_t i = 0; i < length; i++)
                text[i] = fillers[f][i % strlen(fillers[f])];
            text[length] = '\0';
            snprintf(form, sizeof form, "--XX\r\n" PART("a") "%s\r\n--XX--", text);
            snprintf(expected, sizeof expected, "[a=%s]", text);
            for (size_t size = 400; size < 512; size += 37)
                assert_string_equal(
                    read_in("multipart/form-data; boundary=XX", mishap_text_of(form), size),
                    expected);
        }
}

static void what_is_no_form_is_refused(void **state)
{
    static const struct {
        const char *form, *why;
    } broken[] = {
        { "", "it has no boundary" },
        { "--XY\r\n" PART("a") "1\r\n--XY--", "it has no boundary" },
        { "--XX\r\n" PART("a") "1", "its last boundary is missing" },
        { "--XX\r\n" PART("a") "1\r\n--XX\r\n", "its last boundary is missing" },
        { "--XX\r\nContent-Disposition: form-data; name=a", "its last boundary is missing" },
        { "--XXa\r\n" PART("a") "1\r\n--XX--", "something stands behind a boundary in its line" },
        { "--XX\r" PART("a") "1\r\n--XX--", "something stands behind a boundary in its line" },
        { "--XX\r\n\r\n1\r\n--XX--", "a part has no name" },
        { "--XX\r\nContent-Type: a/b\r\n\r\n1\r\n--XX--", "a part has no name" },
        { "--XX\r\nContent-Disposition: form-data\r\n\r\n1\r\n--XX--", "a part has no name" },
        { "--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--XX--",
          "a part has a Content-Disposition that is not form-data" },
        { "--XX\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: form-data; "
          "name=b\r\n\r\n1\r\n--XX--",
          "a part has a Content-Disposition that is not form-data" },
        { "--XX\r\nno field\r\n\r\n1\r\n--XX--", "a part has a line in its head that is no field" },
        { "--XX\r\nA: b\r\n folded\r\n\r\n1\r\n--XX--",
          "a part has a line in its head that is no field" },
        { "--XX\r\nA: b\nC: d\r\n\r\n1\r\n--XX--",
          "a part has a line in its head that is no field" },
        { "--XX\r\nContent-Transfer-Encoding: base64\r\n\r\n1\r\n--XX--",
          "a part has a Content-Transfer-Encoding, which forms do not have" },
        { "--XX\r\n" PART("\"\xff\"") "1\r\n--XX--", "the name of a part is not valid UTF-8" },
        { "--XX\r\n" PART("\"open") "1\r\n--XX--", "a part has no name" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char expected[200];
        snprintf(expected, sizeof expected, "The form is malformed: %s.", broken[i].why);
        assert_read(broken[i].form, expected);
    }
}

static const char long_boundary[] =
    "multipart/form-data; boundary=01234567890123456789012345678901234567890123456789"
    "012345678901234567890";

static void boundaries_are_those_of_rfc_2046(void **state)
{
    static const char *const none[] = {
        "",
        "multipart/form-data",
        "multipart/form-data; boundary",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=\"a",
        "multipart/form-data; boundary=\"a \"",
        "multipart/form-data; boundary=\"a\r\nb\"",
        "multipart/form-data; boundary=\"a@b\"",
        long_boundary,
    };
    static const char form[] = "--a'()+_,-./:=? b\r\n" PART("x") "1\r\n--a'()+_,-./:=? b--";
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_string_equal(read_in(none[i], mishap_text_of(form), 100), "no boundary");
    assert_string_equal(read_in("Multipart/Form-Data;charset=\"a;boundary=b\" ; "
                                "BOUNDARY=\"a'()+_,-./:=? b\"; x=y",
                                mishap_text_of(form), 100),
                        "[x=1]");
}

static void heads_and_parts_have_limits(void **state)
{
    mishap_buffer form = { 0 };
    (void)state;
    MISHAP_PUT(&form, "--XX\r\nA: ");
    for (size_t i = 0; i < 9000; i++)
        MISHAP_PUT(&form, "x");
    assert_string_equal(read_in("a/b;boundary=XX", mishap_buffer_text(&form), 500),
                        "The form is malformed: the head of a part is longer than 8 KB.");
    mishap_buffer_reset(&form); /* a long name of a file is left out, not the name behind it */
    MISHAP_PUT(&form, "--XX\r\nContent-Disposition: form-data; filename=\"");
    for (size_t i = 0; i < 1025; i++)
        MISHAP_PUT(&form, "x");
    MISHAP_PUT(&form, "\"; name=a\r\n\r\n1\r\n--XX--");
    assert_string_equal(read_in("a/b;boundary=XX", mishap_buffer_text(&form), 500), "[a=1]");
    mishap_buffer_reset(&form);
    MISHAP_PUT(&form, "--XX");
    for (size_t i = 0; i < 257; i++)
        MISHAP_PUT(&form, "\r\n" PART("a") "\r\n--XX");
    assert_string_equal(read_in("a/b;boundary=XX", mishap_buffer_text(&form), 500),
                        "The form is malformed: it has more than 256 parts.");
    mishap_buffer_release(&form);
}

/* -- forms as arguments ------------------------------------------------------------------------ */

static const mishap_param file_item = { "item", MISHAP_FILE, .length = { 0, 5 } };
static const mishap_param params[] = {
    { "name", MISHAP_STRING, .required = true },
    { "age", MISHAP_INTEGER, .help = "years" },
    { "tags", MISHAP_ARRAY,
      .items = &(const mishap_param){ .name = "item", .type = MISHAP_STRING } },
    { "photo", MISHAP_FILE, .length = { 0, 8 } },
    { "more", MISHAP_ARRAY, .items = &file_item },
    { "point", MISHAP_OBJECT, .help = "anything" },
    { 0 },
};
static const mishap_operation operation = { "things.add", "Add", params, .route = "POST /things" };

static void assert_form(const char *type, const char *body, const char *expected)
{
    mishap_buffer json = { 0 };
    mishap_http_form form = mishap_http_form_of(&operation, mishap_text_of(type));
    assert_int_not_equal(form, MISHAP_HTTP_NO_FORM);
    mishap *m = mishap_http_form_read(&operation, form, mishap_text_of(type), mishap_text_of(body),
                                      &json);
    char found[600];
    mishap_text text = m ? mishap_told(m)->message : mishap_buffer_text(&json);
    snprintf(found, sizeof found, "%.*s", (int)text.length, text.data);
    assert_string_equal(found, expected);
    mishap_free(m);
    mishap_buffer_release(&json);
}

static void fields_become_an_object(void **state)
{
    static const char plain[] = "application/x-www-form-urlencoded";
    static const char parts[] = "multipart/form-data; boundary=XX";
    (void)state;
    assert_form(plain, "name=A%20b+c&age=7&tags=x&tags=y%26&other=%FF&&age_=",
                "{\"name\":\"A b c\",\"age\":7,\"tags\":[\"x\",\"y&\"]}");
    assert_form(plain, "name=&age=&tags=", "{\"name\":\"\",\"tags\":[\"\"]}");
    assert_form(plain, "point=%7B%22a%22%3A1%7D&tags=%5B%22q%22%5D",
                "{\"tags\":[\"q\"],\"point\":{\"a\":1}}");
    assert_form(plain, "age=x", "{\"age\":\"x\"}");
    assert_form(plain, "name=a&name=b", "The field `name` of the form was given twice.");
    assert_form(plain, "name=%FF", "The field `name` of the form is not valid UTF-8.");
    assert_form(plain, "name=%G1",
                "The form has a % that is not followed by two hexadecimal digits.");
    assert_form(plain, "point=%7B%22a%22%3A1%2C%22a%22%3A2%7D",
                "The field `point` of the form is JSON that has a duplicate key, a NUL character "
                "in a key, half of a surrogate pair, or too many nested levels.");
    assert_form(
        parts,
        "--XX\r\n" PART(
            "name") "Ada\r\n--XX\r\nContent-Disposition: form-data; "
                    "name=photo; filename=\"../a b.png\"\r\nContent-Type: "
                    "image/png\r\n\r\n\x89PNG\r\n"
                    "--XX\r\nContent-Disposition: form-data; name=more; filename=x\r\n\r\n1\r\n"
                    "--XX\r\nContent-Disposition: form-data; name=more; "
                    "filename=y\r\n\r\n22\r\n--XX--",
        "{\"name\":\"Ada\",\"photo\":\"data:image/png;name=a%20b.png;base64,iVBORw==\","
        "\"more\":[\"data:;name=x;base64,MQ==\",\"data:;name=y;base64,MjI=\"]}");
    assert_form(parts,
                "--XX\r\nContent-Disposition: form-data; name=photo; filename=\"\"\r\n\r\n\r\n"
                "--XX--",
                "{}");
    assert_form(parts, "--XX\r\n" PART("photo") "123456789\r\n--XX--",
                "The file `photo` can have at most 8 bytes.");
    assert_form(parts, "--XX\r\n" PART("more") "123456\r\n--XX--",
                "The file `more` can have at most 5 bytes.");
    assert_form("multipart/form-data", "--XX--",
                "The Content-Type of the form has no valid boundary.");
}

/* -- files that are streamed ------------------------------------------------------------------- */

static const mishap_param streamed_params[] = {
    { "name", MISHAP_STRING, .required = true },
    { .name = "file", .type = MISHAP_FILE, .streamed = true, .length = { 0, 20 } },
    { 0 },
};
static const mishap_operation streaming = { "files.add", "Add", streamed_params,
                                            .route = "POST /files" };

struct streamed {
    mishap_http_form_reader form;
    mishap_buffer fields, bytes;
};

static mishap *begin_file(void *state)
{
    struct streamed *s = state;
    mishap_http_form_put(&s->form, &s->fields);
    return s->fields.failed ? mishap_out_of_memory() : NULL;
}

static mishap *put_file(void *state, mishap_text bytes)
{
    struct streamed *s = state;
    mishap_buffer_put_text(&s->bytes, bytes);
    return s->bytes.failed ? mishap_out_of_memory() : NULL;
}

/* Read a form in pieces of a size: its fields when the file began, its bytes, and the failure. */
static void assert_streamed(const char *body, size_t size, const char *fields, const char *bytes,
                            const char *failure)
{
    struct streamed s = { .fields = { 0 } };
    const mishap_http_form_stream stream = { begin_file, put_file, &s };
    size_t length = strlen(body);
    mishap *m = mishap_http_form_open(&s.form, &streaming,
                                      mishap_text_of("multipart/form-data; boundary=XX"), &stream);
    assert_null(m);
    for (size_t at = 0; at < length; at += size)
        mishap_http_form_feed(&s.form,
                              (mishap_text){ body + at, length - at < size ? length - at : size });
    m = mishap_http_form_end(&s.form);
    mishap_buffer_put_char(&s.fields, '\0');
    mishap_buffer_put_char(&s.bytes, '\0');
    assert_string_equal(s.fields.data, fields);
    assert_string_equal(s.bytes.data, bytes);
    assert_string_equal(m ? mishap_told(m)->message.data : "", failure);
    mishap_free(m);
    mishap_http_form_release(&s.form);
    mishap_buffer_release(&s.fields);
    mishap_buffer_release(&s.bytes);
}

#define FILE_PART "Content-Disposition: form-data; name=file; filename=a\r\n\r\n"

static void a_file_is_streamed_in_pieces_of_any_size(void **state)
{
    static const char fields[] = "{\"name\":\"Ada\",\"file\":\"data:;name=a;base64,\"}";
    static const char start[] = "--XX\r\n" PART("name") "Ada\r\n--XX\r\n" FILE_PART;
    char body[600];
    (void)state;
    for (size_t size = 1; size < 200; size++) {
        snprintf(body, sizeof body, "%sab\r\r\n--X\r\n--XY\r\r\n--XX--", start);
        assert_streamed(body, size, fields, "ab\r\r\n--X\r\n--XY\r", "");
        snprintf(body, sizeof body, "%sabc\r\n--XX\r\n%sx\r\n--XX--", start, PART("name"));
        assert_streamed(body, size, fields, "abc",
                        "The field `file` of the form must be the last part.");
        snprintf(body, sizeof body, "%sabc\r\n--X", start);
        assert_streamed(body, size, fields, "abc",
                        "The form is malformed: its last boundary is missing.");
        snprintf(body, sizeof body, "%s%s\r\n--XX--", start, "12345678901234567890");
        assert_streamed(body, size, fields, "12345678901234567890", "");
        assert_streamed("--XX\r\n" PART("name") "Ada\r\n--XX--", size, "", "", "");
    }
    snprintf(body, sizeof body, "%s%s\r\n--XX--", start, "123456789012345678901");
    assert_streamed(body, 600, fields, "", "The file `file` can have at most 20 bytes.");
}

/* A text of many CRs is searched in another way, with the same result. */
static void many_returns_hide_no_boundary(void **state)
{
    (void)state;
    mishap_buffer form = { 0 }, json = { 0 };
    MISHAP_PUT(&form, "--XX\r\n" PART("name"));
    for (size_t i = 0; i < 5000; i++)
        MISHAP_PUT(&form, "\r\n--X");
    MISHAP_PUT(&form, "\r\n--XX\r\n" PART("age") "7\r\n--XX--");
    mishap *m = mishap_http_form_read(&operation, MISHAP_HTTP_MULTIPART,
                                      mishap_text_of("multipart/form-data; boundary=XX"),
                                      mishap_buffer_text(&form), &json);
    assert_null(m);
    mishap_buffer_put_char(&json, '\0');
    assert_non_null(strstr(json.data, "\"age\":7}"));
    assert_true(json.length > 5000 * 7);
    mishap_buffer_release(&form);
    mishap_buffer_release(&json);
}

static void only_declared_operations_take_forms(void **state)
{
    static const mishap_operation closed = { "a.b", "A", .params = &params[5] };
    static const mishap_operation open = { "a.b", "A", .params = &params[5], .forms = true };
    static const mishap_text type = MISHAP_TEXT("Application/X-WWW-Form-Urlencoded; charset=utf-8");
    (void)state;
    assert_int_equal(mishap_http_form_of(&closed, type), MISHAP_HTTP_NO_FORM);
    assert_int_equal(mishap_http_form_of(&open, type), MISHAP_HTTP_URLENCODED);
    assert_int_equal(mishap_http_form_of(&operation, type), MISHAP_HTTP_URLENCODED);
    assert_int_equal(mishap_http_form_of(&open, mishap_text_of("text/plain")), MISHAP_HTTP_NO_FORM);
}

/* Either all of it is there, or there was no memory. */
static void read_or_fail(const void *input)
{
    mishap_buffer json = { 0 };
    mishap *m = mishap_http_form_read(&operation, MISHAP_HTTP_MULTIPART,
                                      mishap_text_of("multipart/form-data; boundary=XX"),
                                      mishap_text_of(input), &json);
    if (!m) {
        assert_int_equal(json.data[json.length - 1], '}');
    } else {
        assert_int_equal(mishap_told(m)->code->http_status, 500);
    }
    mishap_free(m);
    mishap_buffer_release(&json);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    mishap_use_allocator(&failing_allocator);
    torture(read_or_fail,
            "--XX\r\n" PART(
                "name") "Ada\r\n--XX\r\nContent-Disposition: form-data; "
                        "name=photo; filename=a\r\nContent-Type: image/png\r\n\r\n12345678\r\n"
                        "--XX\r\n" PART("tags") "a\r\n--XX\r\n" PART("tags") "b\r\n--XX--");
    mishap_use_allocator(NULL);
}

/* -- what fits a request ----------------------------------------------------------------------- */

static void ranges_are_those_of_rfc_9110(void **state)
{
    static const struct {
        const char *field;
        mishap_http_range range;
        size_t from, count;
    } cases[] = {
        { "bytes=0-0", MISHAP_HTTP_RANGE_PART, 0, 1 },
        { "bytes=2-5", MISHAP_HTTP_RANGE_PART, 2, 4 },
        { "bytes=9-", MISHAP_HTTP_RANGE_PART, 9, 1 },
        { "bytes=-3", MISHAP_HTTP_RANGE_PART, 7, 3 },
        { "bytes=-30", MISHAP_HTTP_RANGE_PART, 0, 10 },
        { "bytes=0-99999999999999999999999", MISHAP_HTTP_RANGE_PART, 0, 10 },
        { "bytes=10-", MISHAP_HTTP_RANGE_BEYOND, 0, 0 },
        { "bytes=99999999999999999999999-", MISHAP_HTTP_RANGE_BEYOND, 0, 0 },
        { "bytes=-0", MISHAP_HTTP_RANGE_BEYOND, 0, 0 },
        { "bytes=5-2", MISHAP_HTTP_RANGE_ALL, 0, 0 },
        { "bytes=0-1,3-4", MISHAP_HTTP_RANGE_ALL, 0, 0 },
        { "bytes=-", MISHAP_HTTP_RANGE_ALL, 0, 0 },
        { "bytes=", MISHAP_HTTP_RANGE_ALL, 0, 0 },
        { "bytes=a-b", MISHAP_HTTP_RANGE_ALL, 0, 0 },
        { "items=0-1", MISHAP_HTTP_RANGE_ALL, 0, 0 },
        { "", MISHAP_HTTP_RANGE_ALL, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t from = 0, count = 0;
        assert_int_equal(mishap_http_range_read(mishap_text_of(cases[i].field), 10, &from, &count),
                         cases[i].range);
        assert_int_equal(from, cases[i].from);
        assert_int_equal(count, cases[i].count);
    }
    size_t from, count;
    assert_int_equal(mishap_http_range_read(mishap_text_of("bytes=0-"), 0, &from, &count),
                     MISHAP_HTTP_RANGE_BEYOND);
}

static void the_coding_that_a_client_prefers_is_chosen(void **state)
{
    static const struct {
        const char *field;
        mishap_pack_coding coding;
    } cases[] = {
        { "", MISHAP_PACK_NOT },
        { "gzip", MISHAP_PACK_GZIP },
        { "X-GZIP", MISHAP_PACK_GZIP },
        { "deflate, br", MISHAP_PACK_NOT },
        { "gzip;q=0", MISHAP_PACK_NOT },
        { "gzip; q=0.000, *", MISHAP_PACK_NOT },
        { "*", MISHAP_PACK_GZIP },
        { "*;q=0", MISHAP_PACK_NOT },
        { "gzip;q=1, zstd;q=0.5", MISHAP_PACK_GZIP },
        { "gzip;q=x", MISHAP_PACK_NOT },
        { "identity, gzip;q=0.001", MISHAP_PACK_GZIP },
        { " , ,;;,gzip ; a=b", MISHAP_PACK_GZIP },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(mishap_pack_choose(mishap_text_of(cases[i].field)), cases[i].coding);
}

static void versions_are_found_in_lists_of_tags(void **state)
{
    static const mishap_text seven = MISHAP_TEXT("7");
    (void)state;
    assert_true(mishap_version_is_listed(mishap_text_of("\"7\""), seven, false));
    assert_true(mishap_version_is_listed(mishap_text_of("\"6,\" , \"7\""), seven, false));
    assert_true(mishap_version_is_listed(mishap_text_of("*"), seven, false));
    assert_true(mishap_version_is_listed(mishap_text_of("\"7;gzip\""), seven, false));
    assert_true(mishap_version_is_listed(mishap_text_of("W/\"7\""), seven, true));
    assert_false(mishap_version_is_listed(mishap_text_of("W/\"7\""), seven, false));
    assert_false(mishap_version_is_listed(mishap_text_of("7"), seven, true));
    assert_false(mishap_version_is_listed(mishap_text_of("\"7"), seven, true));
    assert_false(mishap_version_is_listed(mishap_text_of("\"77\""), seven, true));
    assert_false(mishap_version_is_listed(mishap_text_of("w/\"7\""), seven, true));
    assert_false(mishap_version_is_listed((mishap_text){ NULL, 0 }, seven, true));
    assert_true(mishap_version_tag_is_listed(mishap_text_of("\"6\", W/\"7\""), seven));
    assert_false(mishap_version_tag_is_listed(mishap_text_of("\"7;gzip\""), seven));
    assert_false(mishap_version_tag_is_listed(mishap_text_of("*"), seven));
    assert_false(mishap_version_tag_is_listed((mishap_text){ NULL, 0 }, seven));
}

static void lines_of_a_worker_are_checked_again(void **state)
{
    static const char *const wrong[] = {
        "A: b",
        "A: b\r\n\r\n",
        "A:b\r\n",
        ": b\r\n",
        "A: \r\n",
        "A: b\n\r\n",
        "A: b\r\nC\r\n",
        "A b: c\r\n",
        "A: \xC3\xA9\r\n",
        "Content-Length: 1\r\n",
        "DATE: x\r\n",
        "Access-Control-X: *\r\n",
        "A: b \r\n",
        "connection: close\r\n",
        "Location: /\r\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(mishap_answer_fields_are_sound(mishap_text_of(wrong[i])));
    assert_true(mishap_answer_fields_are_sound(
        mishap_text_of("A: b\r\nSet-Cookie: a=b; Path=/\r\nX-Long: a\tb c\r\n")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parts_are_read_in_pieces_of_any_size),
        TEST(a_boundary_is_found_at_every_place),
        TEST(what_is_no_form_is_refused),
        TEST(boundaries_are_those_of_rfc_2046),
        TEST(heads_and_parts_have_limits),
        TEST(fields_become_an_object),
        TEST(a_file_is_streamed_in_pieces_of_any_size),
        TEST(many_returns_hide_no_boundary),
        TEST(only_declared_operations_take_forms),
        TEST(every_allocation_may_fail),
        TEST(ranges_are_those_of_rfc_9110),
        TEST(the_coding_that_a_client_prefers_is_chosen),
        TEST(versions_are_found_in_lists_of_tags),
        TEST(lines_of_a_worker_are_checked_again),
    };
    return RUN(tests);
}
