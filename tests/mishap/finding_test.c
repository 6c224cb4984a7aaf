/* Field errors, and findings in documents: what is kept of their numbers and sentences. */
#include "testing.h"

#include <math.h>

#include "base/base.h"

/* -- bounds ------------------------------------------------------------------------------------ */

static void assert_range(mishap_value min, mishap_value max, mishap_value actual,
                         const char *expected)
{
    mishap *m = mishap_field_range(mishap_raise(VALIDATION_ERROR, "It is wrong."), "age", min, max,
                                   actual);
    char *text = rendered(mishap_dialect_find("http-api"), m);
    if (!strstr(text, expected))
        fail_msg("%s is not in %s", expected, text);
    free(text);
    mishap_free(m);
}

#define AGE "{\"field\":\"age\",\"error\":\"value_out_of_range\""

static void bounds_that_are_no_numbers_are_left_out(void **state)
{
    (void)state;
    const mishap_value two = mishap_value_of_int(2), half = mishap_value_of_real(0.5);
    const mishap_value endless = mishap_value_of_real(INFINITY);
    const mishap_value below_all = mishap_value_of_real(-INFINITY);
    const mishap_value none = mishap_value_of_real(NAN);
    assert_range(half, two, two, AGE ",\"min\":0.5,\"max\":2,\"actual\":2}");
    assert_range(half, endless, two, AGE ",\"min\":0.5,\"actual\":2}");
    assert_range(below_all, two, half, AGE ",\"max\":2,\"actual\":0.5}");
    assert_range(none, none, two, AGE ",\"actual\":2}");
    assert_range(none, two, mishap_value_of_string("x"), AGE ",\"max\":2,\"actual\":\"x\"}");
}

/* What is out of range is a number, in every dialect; JSON has no word for some. */
static void a_value_that_json_has_no_number_for_is_left_out(void **state)
{
    (void)state;
    assert_range(mishap_value_of_int(0), mishap_value_of_int(2), mishap_value_of_real(NAN),
                 AGE ",\"min\":0,\"max\":2}");
    assert_range(mishap_value_of_int(0), mishap_value_of_int(2), mishap_value_of_real(INFINITY),
                 AGE ",\"min\":0,\"max\":2}");
}

/* -- sentences --------------------------------------------------------------------------------- */

static void look_at_sentence(void *state, const mishap_finding *finding)
{
    mishap_text sentence = finding->sentence;
    if (strcmp(finding->rule, "code-spelling") != 0)
        return;
    *(size_t *)state = sentence.length;
    assert_int_equal(mishap_utf8_valid_length(sentence), sentence.length);
    assert_null(memmem(sentence.data, sentence.length, "\xEF\xBF\xBD", 3));
}

/* Characters of two, three and four bytes, at every distance from the place where it is cut. */
static void a_long_sentence_is_cut_between_characters(void **state)
{
    (void)state;
    static const char *const characters[] = { "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80" };
    for (size_t which = 0; which < 3; which++) {
        for (size_t before = 0; before < 4; before++) {
            mishap_buffer document = { 0 };
            size_t length = 0;
            MISHAP_PUT(&document, "{\"error\":\"");
            for (size_t i = 0; i < before; i++)
                mishap_buffer_put_char(&document, 'x');
            for (int i = 0; i < 400; i++)
                mishap_buffer_put_text(&document, mishap_text_of(characters[which]));
            MISHAP_PUT(&document, "\",\"message\":\"It failed.\"}");
            mishap_free(mishap_verify(mishap_dialect_find("http-api"),
                                      mishap_buffer_text(&document), false, look_at_sentence,
                                      &length));
            assert_in_range(length, 508, 511);
            mishap_buffer_release(&document);
        }
    }
}

/* -- sentences --------------------------------------------------------------------------------- */

static void a_name_that_may_be_meant_is_asked_for(void **state)
{
    (void)state;
    static const struct {
        mishap_field field;
        const char *sentence;
    } cases[] = {
        { { .field = MISHAP_TEXT("nmae"),
            .error = MISHAP_TEXT("unknown_field"),
            .expected = { .kind = MISHAP_KIND_TEXT, .text = MISHAP_TEXT("name") } },
          "nmae is not a known name; did you mean name?" },
        { { .field = MISHAP_TEXT("x"), .error = MISHAP_TEXT("unknown_field") },
          "x is not a known name." },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mishap *m = mishap_field_add(mishap_raise(VALIDATION_ERROR, NULL), &cases[i].field);
        char *text = rendered(mishap_dialect_find("cli-envelope"), m);
        if (!strstr(text, cases[i].sentence))
            fail_msg("%s is not in %s", cases[i].sentence, text);
        free(text);
        mishap_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_name_that_may_be_meant_is_asked_for),
        TEST(bounds_that_are_no_numbers_are_left_out),
        TEST(a_value_that_json_has_no_number_for_is_left_out),
        TEST(a_long_sentence_is_cut_between_characters),
    };
    return RUN(tests);
}
