/* The tests of the album: its operations called as a C program would. */
#include <mishap/test.h>

int album_main(int argc, char **argv);
#define main album_main
#include "album.c"
#undef main

static void files(mishap_test *t)
{
    mishap_test_call(t, "photos.measure", "{\"photo\":\"aGVsbG8=\"}");
    mishap_expect_value(t, "bytes", 5);
    mishap_expect_nothing(t, "name");
    mishap_test_call(t, "photos.measure",
                     "{\"photo\":\"data:image/png;name=a%20cat.png;base64,aGVsbG8=\"}");
    mishap_expect_value(t, "name", "a cat.png");
    mishap_expect_value(t, "type", "image/png");
    mishap_test_call(t, "photos.measure", "{\"photo\":\"not base64\"}");
    mishap_expect_code(t, VALIDATION_ERROR);
    mishap_test_call(t, "photos.measure", "{}");
    mishap_expect_code(t, VALIDATION_ERROR);
}

static void photos_of_the_album(mishap_test *t)
{
    mishap_test_call(t, "photos.add", "{\"title\":\"Cat\",\"photo\":\"aGVsbG8=\"}");
    mishap_expect_answer(t, "{\"id\":1,\"title\":\"Cat\",\"bytes\":5}");
    mishap_test_call(t, "photos.rename", "{\"id\":1,\"title\":\"Dog\"}");
    mishap_expect_value(t, "version", 2);
    mishap_test_call(t, "photos.list", NULL);
    mishap_expect_value(t, "photos[0].title", "Dog");
    mishap_test_call(t, "photos.show", "{\"id\":1}");
    const mishap_answered *shown = mishap_test_answered(t);
    mishap_expect(t, shown && mishap_text_equal(shown->text, mishap_text_of("hello")),
                  "the bytes of the photo are answered");
    mishap_test_call(t, "photos.show", "{\"id\":7}");
    mishap_expect_code(t, NOT_FOUND);
    mishap_test_call(t, "theme", "{\"theme\":\"dark\"}");
    mishap_expect_status(t, 204);
    mishap_test_call(t, "theme", "{\"theme\":\"blue\"}");
    mishap_expect_field(t, "theme", "pattern_mismatch");
}

int main(void)
{
    const mishap_app app = { .name = "album", .operations = operations };
    mishap_test *t = mishap_test_begin(&app);
    files(t);
    photos_of_the_album(t);
    mishap_expect_getters(t);
    return mishap_test_end(t);
}
