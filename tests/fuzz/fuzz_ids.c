/*
 * Any bytes as a text with ids in it, and as a time. An id that is found is a UUID in lower case,
 * its digits stand in the text in this order, and the search comes to an end: what is left of the
 * text gets shorter each time.
 */
#include "fuzz.h"

#include "operator/inside.h"

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static char lower(char c)
{
    return c >= 'A' && c <= 'F' ? (char)(c + 32) : c;
}

/* The digits of the id, in what was passed over last. */
static void expect_digits(mishap_text passed, const char *id)
{
    const char *end = passed.data + passed.length;
    size_t digit = MISHAP_ID_LENGTH;
    while (digit > 0 && end > passed.data) {
        if (id[digit - 1] == '-')
            digit--;
        else if (lower(*--end) == id[digit - 1])
            digit--;
    }
    EXPECT(digit == 0, "it is not in the text: %s", id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text text = input_text(data, size), before = text;
    char id[MISHAP_ID_LENGTH + 1];
    int64_t ms = 0;
    while (mishap_operator_next_id(&text, id)) {
        EXPECT(text.length < before.length, "it does not get shorter");
        for (size_t i = 0; i < MISHAP_ID_LENGTH; i++)
            EXPECT(i == 8 || i == 13 || i == 18 || i == 23 ? id[i] == '-' : is_hex(id[i]), "%s",
                   id);
        expect_digits((mishap_text){ before.data, before.length - text.length }, id);
        before = text;
    }
    EXPECT(text.length == 0, "something is left");
    if (mishap_operator_read_time(input_text(data, size), INT64_C(1795003200000), &ms))
        EXPECT(size <= 40 && ms > -INT64_C(100000000000000) && ms < INT64_C(300000000000000),
               "%lld", (long long)ms);
    return 0;
}
