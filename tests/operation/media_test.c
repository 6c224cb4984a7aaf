/* Media types of answers and bodies. */
#include "operation/media.h"
#include "testing.h"

static void what_a_handler_names_may_stand_in_a_field(void **state)
{
    (void)state;
    static const char *const sound[] = { "image/png", "text/plain; charset=utf-8", "a/b;c=\"d e\"",
                                         "application/vnd.a+b" };
    static const char *const wrong[] = {
        "",    "png",     "text/plain\r\nX: y", "text/plain; a=\x01", "t\xc3\xa4xt/plain",
        "*/*", "image/*", "text/\x7f"
    };
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        assert_string_equal(mishap_media_clean(sound[i]), sound[i]);
        assert_string_equal(mishap_media_clean_text(&arena, mishap_text_of(sound[i])), sound[i]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_string_equal(mishap_media_clean(wrong[i]), "application/octet-stream");
        assert_string_equal(mishap_media_clean_text(&arena, mishap_text_of(wrong[i])),
                            "application/octet-stream");
    }
    assert_string_equal(mishap_media_clean(NULL), "application/octet-stream");
    assert_string_equal(mishap_media_clean_text(&arena, (mishap_text)MISHAP_TEXT("a/b\0c")),
                        "application/octet-stream");
    mishap_arena_release(&arena);
}

static void some_types_are_text(void **state)
{
    (void)state;
    static const char *const text[] = { "text/plain",       "TEXT/Html; charset=utf-8",
                                        "application/json", "application/problem+json",
                                        "image/svg+xml",    "application/javascript" };
    static const char *const bytes[] = {
        "image/png", "application/octet-stream", "texts/plain", "application/jsonx", "",
        "audio/json"
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        assert_true(mishap_media_is_text(text[i]));
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        assert_false(mishap_media_is_text(bytes[i]));
    assert_true(mishap_media_is_kind("Image/PNG", "image"));
    assert_false(mishap_media_is_kind("images/png", "image"));
    assert_true(mishap_media_is("text/Event-Stream; a=b", "text/event-stream"));
    assert_false(mishap_media_is("text/event-streams", "text/event-stream"));
}

static void what_is_taken_is_a_list_of_ranges(void **state)
{
    (void)state;
    static const mishap_operation some = { .takes = "text/csv, image/*" }, any = { .takes = "*/*" },
                                  none = { .name = "none" };
    static const struct {
        const char *type;
        bool by_some;
    } cases[] = { { "text/csv", true },     { "text/CSV; header=present", true },
                  { "image/png", true },    { "text/plain", false },
                  { "text/csvs", false },   { "application/json", false },
                  { "image/svg+xml", true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(mishap_media_taken(&some, mishap_text_of(cases[i].type)),
                         cases[i].by_some);
        assert_true(mishap_media_taken(&any, mishap_text_of(cases[i].type)));
        assert_false(mishap_media_taken(&none, mishap_text_of(cases[i].type)));
    }
    assert_false(mishap_media_taken(&any, T("csv")));
    assert_false(mishap_media_taken(&any, (mishap_text){ NULL, 0 }));
    assert_true(mishap_text_equal(mishap_media_first_taken(&some), T("text/csv")));
    assert_true(mishap_text_equal(mishap_media_first_taken(&any), T("application/octet-stream")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_handler_names_may_stand_in_a_field),
        TEST(some_types_are_text),
        TEST(what_is_taken_is_a_list_of_ranges),
    };
    return RUN(tests);
}
