/*
 * Any bytes as a mishap from another process: they are refused, or they give a mishap that can be
 * told in every way and is the same when it is sent once more.
 */
#include "fuzz.h"

#include "mishap/carry.h"
#include "mishap/dialect.h"

static void expect_text(const mishap *m, mishap_buffer *account)
{
    mishap_buffer_init(account, NULL, 0);
    mishap_account(m, account);
    EXPECT(!account->failed, "no account");
    expect_utf8(mishap_buffer_text(account));
}

/* Two mishaps are one to every reader. */
static void expect_same(const mishap *a, const mishap *b)
{
    mishap_buffer first, second;
    expect_text(a, &first);
    expect_text(b, &second);
    EXPECT(mishap_text_equal(mishap_buffer_text(&first), mishap_buffer_text(&second)), "%.*s\n%.*s",
           SHOWN(mishap_buffer_text(&first)), SHOWN(mishap_buffer_text(&second)));
    for (const mishap_dialect *const *dialect = mishap_dialects(); a && *dialect; dialect++) {
        mishap_buffer_reset(&first);
        mishap_buffer_reset(&second);
        mishap_text one = mishap_render(*dialect, a, &first);
        mishap_text other = mishap_render(*dialect, b, &second);
        EXPECT(mishap_text_equal(one, other), "%.*s\n%.*s", SHOWN(one), SHOWN(other));
        expect_utf8(one);
    }
    mishap_buffer_release(&first);
    mishap_buffer_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap *m = mishap_out_of_memory(), *again;
    if (!mishap_carry_take(input_text(data, size), &m)) {
        EXPECT(!m, "refused, and there is a mishap");
        return 0;
    }
    mishap_buffer bytes, more;
    mishap_buffer_init(&bytes, NULL, 0);
    mishap_buffer_init(&more, NULL, 0);
    mishap_carry_put(&bytes, m);
    EXPECT(mishap_carry_take(mishap_buffer_text(&bytes), &again), "our own bytes are refused");
    expect_same(m, again);
    mishap_carry_put(&more, again);
    EXPECT(mishap_text_equal(mishap_buffer_text(&bytes), mishap_buffer_text(&more)),
           "sent on, it is another one");
    mishap_free(again);
    mishap_free(m);
    mishap_buffer_release(&bytes);
    mishap_buffer_release(&more);
    return 0;
}
