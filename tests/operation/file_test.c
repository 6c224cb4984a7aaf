/* src/operation/file: files as arguments, as text and for handlers. */
#include "testing.h"

#include "operation/call.h"
#include "operation/file.h"

static void (*asked)(mishap_call *call);

static mishap *ask(mishap_call *call)
{
    asked(call);
    return NULL;
}

static const mishap_param params[] = {
    { .name = "photo", .type = MISHAP_FILE, .required = true, .length = { 2, 8 } },
    { "more", MISHAP_ARRAY, .items = &(const mishap_param){ NULL, .type = MISHAP_FILE } },
    { 0 },
};
static const mishap_operation operations[] = {
    { .name = "photos.add", .summary = "Add a photo", .params = params, .run = ask },
    { 0 },
};
static const mishap_app app = { .name = "sample", .operations = operations };

/* The finding about arguments that are refused. */
static const char *finding(const char *arguments)
{
    static char found[200];
    mishap_call *call;
    mishap *m = mishap_call_begin(&app, &operations[0], mishap_text_of(arguments), &call);
    assert_non_null(m);
    const mishap_field *first = mishap_told(m)->fields;
    snprintf(found, sizeof found, "%.*s: %.*s", (int)first->error.length, first->error.data,
             (int)first->message.length, first->message.length ? first->message.data : "");
    mishap_free(m);
    return found;
}

static void with(const char *arguments, void (*handler)(mishap_call *call))
{
    mishap_call *call;
    asked = handler;
    assert_null(mishap_call_begin(&app, &operations[0], mishap_text_of(arguments), &call));
    assert_null(mishap_call_run(call));
    mishap_call_end(call);
}

static void look_at_plain(mishap_call *call)
{
    mishap_text bytes = mishap_file(call, "photo");
    assert_int_equal(bytes.length, 3);
    assert_memory_equal(bytes.data, "a\0b", 3);
    assert_null(mishap_file_name(call, "photo"));
    assert_null(mishap_file_type(call, "photo"));
    assert_null(mishap_file(call, "more[0]").data);
}

static void look_at_named(mishap_call *call)
{
    assert_string_equal(mishap_file_name(call, "photo"), "a cat;.png");
    assert_string_equal(mishap_file_type(call, "photo"), "image/png");
    assert_int_equal(mishap_file(call, "more[1]").length, 0);
    assert_non_null(mishap_file(call, "more[1]").data);
    assert_string_equal(mishap_file_type(call, "more[1]"), "text/plain;charset=utf-8");
    assert_null(mishap_file_name(call, "more[0]"));
    assert_null(mishap_file_type(call, "more[0]"));
}

static void a_file_is_base64_text_or_a_data_url(void **state)
{
    (void)state;
    with("{\"photo\":\"YQBi\"}", look_at_plain);
    with("{\"photo\":\"data:image/png;name=a%20cat%3B.png;base64,YQBi\",\"more\":["
         "\"data:no type;name=..;base64,YQ==\",\"data:text/plain;charset=utf-8;base64,\"]}",
         look_at_named);
}

static void what_is_no_file_is_a_finding(void **state)
{
    static const char *const broken[] = {
        "a",        "YQB",          "YQ=B", "YR==",  "Y Q=",
        "data:,hi", "data:;base64", "====", "YQ==Y", "data:image/png;name=x,YQ=="
    };
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "{\"photo\":\"%s\"}", broken[i]);
        assert_string_equal(finding(arguments),
                            "pattern_mismatch: photo must be a file as base64 text.");
    }
    assert_string_equal(finding("{\"photo\":7}"), "invalid_type: ");
    assert_string_equal(finding("{\"photo\":\"YQ==\"}"),
                        "invalid_length: photo must have at least 2 and at most 8 bytes, not 1.");
    assert_string_equal(finding("{\"photo\":\"YWFhYWFhYWFh\"}"),
                        "invalid_length: photo must have at least 2 and at most 8 bytes, not 9.");
    assert_string_equal(finding("{}"), "field_required: ");
}

static void a_name_has_no_folders_and_no_control_characters(void **state)
{
    static const struct {
        const char *given, *kept;
    } names[] = {
        { "a.txt", "a.txt" },
        { "../../etc/passwd", "passwd" },
        { "C:\\x\\y.txt", "y.txt" },
        { "..", "" },
        { ".", "" },
        { "a/", "" },
        { "a\nb", "" },
        { "a\x7f", "" },
        { "\xff", "" },
        { "é.txt", "é.txt" },
        { ".profile", ".profile" },
        { "...", "..." },
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mishap_text kept = mishap_file_bare_name(mishap_text_of(names[i].given));
        assert_int_equal(kept.length, strlen(names[i].kept));
        assert_memory_equal(kept.data, names[i].kept, kept.length);
    }
}

static void what_is_written_is_read_again(void **state)
{
    (void)state;
    for (size_t length = 0; length < 70; length++) {
        char bytes[70];
        mishap_buffer text = { 0 }, back = { 0 };
        mishap_file_parts file;
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)(i * 37 + length);
        mishap_file_put(&text, mishap_text_of("n,a;base64,\"me"), mishap_text_of("text/plain"),
                        (mishap_text){ bytes, length });
        assert_true(mishap_file_split(mishap_buffer_text(&text), &file));
        assert_int_equal(file.size, length);
        assert_memory_equal(file.type.data, "text/plain", file.type.length);
        assert_memory_equal(file.name.data, "n%2Ca%3Bbase64%2C%22me", file.name.length);
        assert_true(mishap_base64_read(&back, file.base64));
        assert_int_equal(back.length, length);
        if (length)
            assert_memory_equal(back.data, bytes, length);
        mishap_buffer_release(&text);
        mishap_buffer_release(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_base64_text_or_a_data_url),
        TEST(what_is_no_file_is_a_finding),
        TEST(a_name_has_no_folders_and_no_control_characters),
        TEST(what_is_written_is_read_again),
    };
    return RUN(tests);
}
