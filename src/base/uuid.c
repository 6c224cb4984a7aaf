/* UUIDs as text and back: RFC 9562, section 4. */
#include "base/hex.h"
#include "mishap/types.h"

enum { UUID_LENGTH = 36 };

static bool is_dash(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

bool mishap_uuid_read(mishap_text text, mishap_uuid *out)
{
    mishap_uuid value = { { 0 } };
    size_t digits = 0;
    if (text.length != UUID_LENGTH)
        return false;
    for (size_t i = 0; i < UUID_LENGTH; i++) {
        int digit = mishap_hex_digit(text.data[i]);
        if (is_dash(i) ? text.data[i] != '-' : digit < 0)
            return false;
        if (is_dash(i))
            continue;
        unsigned char *byte = &value.bytes[digits++ / 2];
        *byte = (unsigned char)(*byte << 4 | digit);
    }
    *out = value;
    return true;
}

const char *mishap_uuid_write(mishap_uuid value, char text[MISHAP_WRITTEN])
{
    size_t byte = 0;
    for (size_t i = 0; i < UUID_LENGTH;) {
        if (is_dash(i)) {
            text[i++] = '-';
            continue;
        }
        mishap_hex_write(text + i, &value.bytes[byte++], 1);
        i += 2;
    }
    text[UUID_LENGTH] = '\0';
    return text;
}
