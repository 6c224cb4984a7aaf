/* src/guard/rules.h: what a check has read of a text is remembered, and makes no difference. */
#include "testing.h"

#include "base/base.h"
#include "guard/rules.h"

static bool is_small(char c)
{
    return c == 'a' || c == 'b';
}

static bool is_any_letter(char c)
{
    return is_small(c) || c == 'C';
}

/* One look around in the text: the byte where it ends, NULL if there is none. */
static const char *look_around(mishap_leak_place *place, unsigned way, const char *at, size_t far)
{
    const char *to = (size_t)(place->end - at) > far ? at + far : place->end;
    switch (way) {
    case 0:
        return leak_skip(place, at, is_small, far);
    case 1:
        return leak_skip(place, at, is_any_letter, far);
    case 2:
        return leak_skip_back(place, at, is_small, far);
    case 3:
        return leak_skip_back(place, at, is_any_letter, far);
    case 4:
        return leak_line_start(place, at);
    case 5:
        return leak_line_end(place, at);
    case 6:
        return leak_find(place, at, to, "Ca");
    default:
        return leak_find(place, at, to, "b\nb");
    }
}

/* A check that comes after others reads the same as one that comes first, in as many steps. */
static void what_was_read_before_changes_no_look(void **state)
{
    (void)state;
    enum { LENGTH = 3000, TEXTS = 60, LOOKS = 400 };
    static char text[LENGTH];
    uint64_t chance = 7;
    for (int n = 0; n < TEXTS; n++) {
        for (size_t i = 0; i < LENGTH; i++) {
            chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            size_t one = (size_t)(chance >> 33) % (size_t)(n % 3 == 0 ? 8 : 600);
            text[i] = one == 0 ? '\n' : one == 1 ? 'C' : one == 2 ? '.' : one % 2 ? 'a' : 'b';
        }
        mishap_leak_place place, fresh;
        mishap_leak_begin(&place, text, text + LENGTH);
        for (size_t i = 0; i < LOOKS; i++) {
            chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            unsigned way = (unsigned)(chance >> 33) % 8;
            size_t far = 1 + (size_t)(chance >> 40) % 600;
            const char *at = text + (n % 2 ? i * LENGTH / LOOKS : (size_t)(chance >> 45) % LENGTH);
            mishap_leak_begin(&fresh, text, text + LENGTH);
            size_t before = place.steps;
            assert_ptr_equal(look_around(&place, way, at, far), look_around(&fresh, way, at, far));
            assert_int_equal(place.steps - before, fresh.steps);
        }
    }
}

static void count_block(void *state, const mishap_leak *leak)
{
    assert_string_equal(leak->rule, "source-end");
    ++*(size_t *)state;
}

/* The lines above an `end` are remembered for the next. */
static void a_block_is_found_wherever_the_last_one_ended(void **state)
{
    (void)state;
    mishap_buffer text = { 0 };
    for (int i = 0; i < 40; i++)
        mishap_buffer_put_text(
            &text, mishap_text_of(i % 4 == 3 ? "\n\nsome words\nend of it\n"
                                             : "if x\n  y\n\n  if z\n    a\n  end\nend\n"));
    size_t found = 0;
    mishap_leak_scan(mishap_buffer_text(&text), NULL, count_block, &found);
    assert_int_equal(found, 30); /* those around share bytes with them */
    mishap_buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_read_before_changes_no_look),
        TEST(a_block_is_found_wherever_the_last_one_ended),
    };
    return RUN(tests);
}
