/*
 * Any bytes as the file of `serve --secret`. Either it has one or two secrets, which are not the
 * same, or it is refused with words that contain nothing of it.
 */
#include "fuzz.h"

#include "base/hex.h"
#include "operation/shared_secret.h"

/* What a failure says must not depend on the text. */
static void judge(mishap_text text, mishap *failure)
{
    mishap_text told = mishap_public_message(mishap_told(failure));
    for (size_t i = 0; i + 16 <= text.length; i++)
        EXPECT(!memmem(told.data, told.length, text.data + i, 16) ||
                   memmem("is not a secret of 64 hexadecimal digits", 40, text.data + i, 16) ||
                   memmem("The file with the secret of the servers", 39, text.data + i, 16),
               "it tells the file");
    mishap_free(failure);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_shared_secret secret;
    mishap_text text = input_text(data, size);
    mishap *failure = mishap_shared_secret_parse("FILE", text, &secret);
    if (failure) {
        judge(text, failure);
        return 0;
    }
    EXPECT(secret.count == 1 || secret.count == 2, "no number of secrets");
    EXPECT(secret.count == 1 || memcmp(secret.keys[0], secret.keys[1], MISHAP_MAC_KEY) != 0,
           "twice the same");
    for (size_t i = 0; i < secret.count; i++) {
        char digits[2 * MISHAP_MAC_KEY];
        mishap_hex_write(digits, secret.keys[i], MISHAP_MAC_KEY);
        EXPECT(memmem(text.data, text.length, digits, sizeof digits), "it was not in the file");
    }
    return 0;
}
