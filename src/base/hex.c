#include "base/hex.h"

void mishap_hex_write(char *to, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        to[2 * i] = digits[bytes[i] >> 4];
        to[2 * i + 1] = digits[bytes[i] & 15];
    }
}

/* One more than the value of each digit. One spelling of each byte alone: what is compared as text
 * elsewhere must not have two, so there are no capitals. */
static const unsigned char small_digits[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

/* A text may end at its first character that is no digit: none behind it is read. */
bool mishap_hex_read(const char *text, unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned high = small_digits[(unsigned char)text[2 * i]];
        unsigned low = high ? small_digits[(unsigned char)text[2 * i + 1]] : 0;
        if (!low)
            return false;
        bytes[i] = (unsigned char)((high - 1) << 4 | (low - 1));
    }
    return true;
}
