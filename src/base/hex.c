#include "base/hex.h"

void mishap_hex_write(char *to, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        to[2 * i] = digits[bytes[i] >> 4];
        to[2 * i + 1] = digits[bytes[i] & 15];
    }
}

/* One spelling of each byte alone: what is compared as text elsewhere must not have two. */
static int small_digit(char c)
{
    return c >= 'A' && c <= 'F' ? -1 : mishap_hex_digit(c);
}

bool mishap_hex_read(const char *text, unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int high = small_digit(text[2 * i]);
        int low = high < 0 ? -1 : small_digit(text[2 * i + 1]);
        if (low < 0)
            return false;
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
