#include "base/buffer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

enum { FIRST_CAPACITY = 512 };

void mishap_buffer_init(mishap_buffer *buffer, void *storage, size_t size)
{
    *buffer = (mishap_buffer){ .data = storage, .capacity = storage ? size : 0 };
}

void mishap_buffer_reset(mishap_buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
}

void mishap_buffer_release(mishap_buffer *buffer)
{
    if (buffer->on_heap)
        mishap_release(buffer->data);
    *buffer = (mishap_buffer){ 0 };
}

bool mishap_buffer_grow(mishap_buffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    if (more > SIZE_MAX / 2 - buffer->length)
        goto failed;
    size_t capacity = buffer->capacity > FIRST_CAPACITY ? buffer->capacity : FIRST_CAPACITY;
    while (capacity < buffer->length + more)
        capacity *= 2;
    char *data = buffer->on_heap ? mishap_resize(buffer->data, capacity)
                                 : mishap_allocate(capacity);
    if (!data)
        goto failed;
    if (!buffer->on_heap && buffer->length)
        memcpy(data, buffer->data, buffer->length);
    buffer->data = data;
    buffer->capacity = capacity;
    buffer->on_heap = true;
    return true;

failed:
    /* Half a document is worse than none: from now on no byte fits. */
    buffer->failed = true;
    buffer->capacity = buffer->length;
    return false;
}

void mishap_buffer_add(mishap_buffer *buffer, const char *data, size_t length)
{
    mishap_buffer_put(buffer, data, length);
}

static const char digit_pairs[] = "0001020304050607080910111213141516171819"
                                  "2021222324252627282930313233343536373839"
                                  "4041424344454647484950515253545556575859"
                                  "6061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

void mishap_buffer_put_uint(mishap_buffer *buffer, uint64_t number)
{
    char digits[20], *at = digits + sizeof digits;
    while (number >= 100) {
        at -= 2;
        memcpy(at, digit_pairs + number % 100 * 2, 2);
        number /= 100;
    }
    if (number >= 10) {
        at -= 2;
        memcpy(at, digit_pairs + number * 2, 2);
    } else {
        *--at = (char)('0' + number);
    }
    mishap_buffer_put(buffer, at, (size_t)(digits + sizeof digits - at));
}

void mishap_buffer_put_int(mishap_buffer *buffer, int64_t number)
{
    if (number < 0)
        mishap_buffer_put_char(buffer, '-');
    mishap_buffer_put_uint(buffer, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void mishap_buffer_put_real(mishap_buffer *buffer, double number)
{
    if (!isfinite(number)) {
        MISHAP_PUT(buffer, "null");
        return;
    }
    char printed[64];
    /* Fifteen digits give any shorter number back as it was, except below DBL_MIN, where fewer are
     * left. */
    for (int precision = fabs(number) < DBL_MIN ? 1 : 15; precision <= 17; precision++) {
        snprintf(printed, sizeof printed, "%.*g", precision, number);
        if (strtod(printed, NULL) == number)
            break;
    }
    /* The locale may write the point as something else, even in several bytes. */
    bool whole = true, in_point = false;
    for (const char *c = printed; *c; c++) {
        if (strchr("+-0123456789eE", *c)) {
            whole = whole && *c != 'e';
            in_point = false;
            mishap_buffer_put_char(buffer, *c);
        } else if (!in_point) {
            whole = false;
            in_point = true;
            mishap_buffer_put_char(buffer, '.');
        }
    }
    if (whole)
        MISHAP_PUT(buffer, ".0");
}
