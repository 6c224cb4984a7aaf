/* Any bytes as a value of mishap/types.h: what is read can be written, and is then read as the same
 * value; a second, plain reading of decimals agrees. */
#include "fuzz.h"

#include <string.h>

#include "base/base64.h"
#include "base/moment.h"

/* Digits without the point, by hand. False: it is no decimal of 18 digits. */
static bool plain_decimal(mishap_text text, int64_t *units, int *scale)
{
    size_t at = text.length && text.data[0] == '-', digits = 0, whole = 0;
    bool point = false, negative = at;
    int64_t value = 0;
    for (*scale = 0; at < text.length; at++) {
        char c = text.data[at];
        if (c == '.' && !point && whole && at + 1 < text.length) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            return false;
        if (!point && whole == 1 && value == 0)
            return false; /* a zero in front */
        whole += !point;
        *scale += point;
        digits += digits || c != '0';
        if (digits > 18 || *scale > 18)
            return false;
        value = value * 10 + (c - '0');
    }
    *units = negative ? -value : value;
    return whole > 0;
}

static void try_decimal(mishap_text text)
{
    mishap_decimal value, again;
    int64_t units = 0;
    int scale = 0;
    char written[MISHAP_WRITTEN];
    bool read = mishap_decimal_read(text, &value), plain = plain_decimal(text, &units, &scale);
    EXPECT(read == plain, "%.*s", SHOWN(text));
    if (!read)
        return;
    EXPECT(value.units == units && value.scale == scale, "%.*s", SHOWN(text));
    mishap_decimal_write(value, written);
    EXPECT(mishap_decimal_read(mishap_text_of(written), &again), "%s", written);
    EXPECT(again.units == value.units && again.scale == value.scale, "%s", written);
    for (int to = 0; to <= 18; to++)
        if (mishap_decimal_rescale(value, to, &again))
            EXPECT(mishap_decimal_compare(value, again) == 0, "%s to %d", written, to);
    if (mishap_decimal_add(value, value, &again)) {
        mishap_decimal twice;
        EXPECT(mishap_decimal_times(value, 2, &twice), "%s", written);
        EXPECT(mishap_decimal_compare(twice, again) == 0, "%s", written);
    }
}

#define TRY(type)                                                                                  \
    static void try_##type(mishap_text text)                                                       \
    {                                                                                              \
        mishap_##type value, again;                                                                \
        char written[MISHAP_WRITTEN];                                                              \
        memset(&value, 0, sizeof value);                                                           \
        memset(&again, 0, sizeof again);                                                           \
        if (!mishap_##type##_read(text, &value))                                                   \
            return;                                                                                \
        mishap_##type##_write(value, written);                                                     \
        EXPECT(mishap_##type##_read(mishap_text_of(written), &again), "%s", written);              \
        char twice[MISHAP_WRITTEN];                                                                \
        mishap_##type##_write(again, twice);                                                       \
        EXPECT(strcmp(written, twice) == 0, "%s, not %s", twice, written);                         \
    }
TRY(money)
TRY(timestamp)
TRY(date)
TRY(duration)
TRY(uuid)

static void try_utc(mishap_text text)
{
    mishap_timestamp value, again;
    char written[MISHAP_WRITTEN];
    if (!mishap_timestamp_read(text, &value))
        return;
    mishap_timestamp_write_utc(value, written);
    EXPECT(strlen(written) == 27, "%s", written);
    EXPECT(mishap_timestamp_read(mishap_text_of(written), &again), "%s", written);
    EXPECT(again.time.tv_sec == value.time.tv_sec, "%s", written);
}

static void try_bytes(mishap_text text)
{
    size_t length = 0;
    mishap_buffer bytes = { 0 }, base64 = { 0 };
    bool measured = mishap_base64_measure(text, &length);
    bool read = mishap_base64_read(&bytes, text);
    EXPECT(measured == read, "%.*s", SHOWN(text));
    if (read) {
        EXPECT(bytes.length == length, "%zu, not %zu", length, bytes.length);
        mishap_base64_put(&base64, mishap_buffer_text(&bytes));
        EXPECT(mishap_text_equal(mishap_buffer_text(&base64), text), "%.*s", SHOWN(text));
    }
    mishap_buffer_release(&bytes);
    mishap_buffer_release(&base64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mishap_text text = input_text(data, size);
    try_decimal(text);
    try_money(text);
    try_timestamp(text);
    try_date(text);
    try_duration(text);
    try_uuid(text);
    try_utc(text);
    try_bytes(text);
    return 0;
}
