/* Numbers of JSON against each other, exactly, and values that are equal. */
#include "operation/number.h"

#include <math.h>

#include "schema/inside.h"

static bool is_number(yyjson_val *value)
{
    return yyjson_is_num(value) || yyjson_is_raw(value);
}

/* An integer of 64 bits as a sign and a size; false: it is none. */
static bool read_integer(yyjson_val *value, bool *negative, uint64_t *size)
{
    if (!yyjson_is_int(value))
        return false;
    int64_t number = unsafe_yyjson_get_sint(value);
    *negative = yyjson_is_sint(value) && number < 0;
    *size = *negative ? 0 - (uint64_t)number : unsafe_yyjson_get_uint(value);
    return true;
}

/* True if a double is exactly this number. */
static bool read_double(yyjson_val *value, double *number)
{
    bool negative;
    uint64_t size;
    if (yyjson_is_real(value)) {
        *number = unsafe_yyjson_get_real(value);
        return true;
    }
    if (!read_integer(value, &negative, &size) || size > UINT64_C(1) << 53)
        return false;
    *number = negative ? -(double)size : (double)size;
    return true;
}

/* Digits are beyond 64 bits, so their sign says on which side of all others they are. */
static int compare_digits(yyjson_val *a, yyjson_val *b)
{
    mishap_text x = mishap_json_text(a), y = mishap_json_text(b);
    if ((x.length && !mishap_number_is_integer(a)) || (y.length && !mishap_number_is_integer(b)))
        return 2;
    int away_x = !x.length ? 0 : x.data[0] == '-' ? -1 : 1;
    int away_y = !y.length ? 0 : y.data[0] == '-' ? -1 : 1;
    if (away_x != away_y)
        return away_x > away_y ? 1 : -1;
    if (!away_x)
        return 2;
    int order = x.length != y.length ? (x.length > y.length ? 1 : -1)
                                     : memcmp(x.data, y.data, x.length);
    return away_x * ((order > 0) - (order < 0));
}

int mishap_schema_compare(yyjson_val *a, yyjson_val *b)
{
    double bound;
    bool below_a, below_b;
    uint64_t size_a, size_b;
    if (yyjson_is_raw(a) && !mishap_number_is_integer(a))
        return 2; /* beyond all doubles, or with more digits than one has */
    if (read_double(b, &bound))
        return mishap_number_compare(a, bound);
    if (read_double(a, &bound) && !(yyjson_is_raw(b) && !mishap_number_is_integer(b)))
        return -mishap_number_compare(b, bound);
    if (read_integer(a, &below_a, &size_a) && read_integer(b, &below_b, &size_b)) {
        if (below_a != below_b)
            return below_a ? -1 : 1;
        int order = (size_a > size_b) - (size_a < size_b);
        return below_a ? -order : order;
    }
    return compare_digits(a, b);
}

/* Fractions are not exact in a double: 0.0075 may be a multiple of 0.0001, and a `not` around it
 * must not take that for certain. Both numbers are positive. */
static schema_verdict is_near_whole(double number, double of)
{
    double ratio = number / of;
    if (!(ratio < 0x1p50))
        return SCHEMA_OPEN;
    double whole = (double)(int64_t)(ratio + 0.5), noise = ratio * 0x1p-50;
    /* The product of 24 and 29 bits is exact. */
    bool exact = of < 0x1p100 && (double)(float)of == of && whole < 0x1p29;
    if (number == 0 || (exact && whole * of == number))
        return SCHEMA_FITS;
    return fabs(ratio - whole) > 1e-6 + 64 * noise ? SCHEMA_FAILS : SCHEMA_OPEN;
}

schema_verdict mishap_schema_multiple(yyjson_val *value, yyjson_val *of)
{
    double a, b;
    bool negative;
    uint64_t size, step;
    if (read_integer(value, &negative, &size) && read_integer(of, &negative, &step) && step)
        return size % step ? SCHEMA_FAILS : SCHEMA_FITS;
    if (!read_double(value, &a) || !read_double(of, &b) || !(b > 0) || !isfinite(a))
        return SCHEMA_OPEN;
    if (fabs(a) > 0 && fabs(a) < b * 0.999999) /* a part of it */
        return SCHEMA_FAILS;
    return is_near_whole(fabs(a), b);
}

static schema_verdict members_equal(schema_run *run, yyjson_val *a, yyjson_val *b)
{
    size_t index, count;
    yyjson_val *key, *value;
    schema_verdict verdict = SCHEMA_FITS;
    MISHAP_JSON_MEMBERS (a, index, count, key, value) {
        if (!mishap_schema_charge(run, 1 + count / 2))
            return SCHEMA_OPEN;
        yyjson_val *other = yyjson_obj_getn(b, unsafe_yyjson_get_str(key),
                                            unsafe_yyjson_get_len(key));
        schema_verdict same = other ? mishap_schema_equal(run, value, other) : SCHEMA_FAILS;
        verdict = mishap_schema_both(verdict, same);
        if (verdict == SCHEMA_FAILS)
            break;
    }
    return verdict;
}

static schema_verdict items_equal(schema_run *run, yyjson_val *a, yyjson_val *b)
{
    size_t index, count;
    yyjson_val *item, *other = unsafe_yyjson_get_first(b);
    schema_verdict verdict = SCHEMA_FITS;
    MISHAP_JSON_ITEMS (a, index, count, item) {
        verdict = mishap_schema_both(verdict, mishap_schema_equal(run, item, other));
        if (verdict == SCHEMA_FAILS)
            break;
        other = unsafe_yyjson_get_next(other);
    }
    return verdict;
}

/* Both have at most 128 levels. */
schema_verdict mishap_schema_equal(schema_run *run, yyjson_val *a, yyjson_val *b)
{
    bool texts = (yyjson_is_str(a) && yyjson_is_str(b)) || yyjson_is_raw(a);
    size_t length = texts && yyjson_get_len(a) == yyjson_get_len(b) ? yyjson_get_len(a) : 0;
    if (!mishap_schema_charge(run, 1 + length / 256))
        return SCHEMA_OPEN;
    if (is_number(a) && is_number(b)) {
        int order = mishap_schema_compare(a, b);
        return order == 2 ? SCHEMA_OPEN : order ? SCHEMA_FAILS : SCHEMA_FITS;
    }
    if (yyjson_get_type(a) != yyjson_get_type(b))
        return SCHEMA_FAILS;
    switch (yyjson_get_type(a)) {
    case YYJSON_TYPE_STR:
        return mishap_text_equal(mishap_json_text(a), mishap_json_text(b)) ? SCHEMA_FITS
                                                                           : SCHEMA_FAILS;
    case YYJSON_TYPE_BOOL:
        return unsafe_yyjson_get_bool(a) == unsafe_yyjson_get_bool(b) ? SCHEMA_FITS : SCHEMA_FAILS;
    case YYJSON_TYPE_ARR:
        return yyjson_get_len(a) == yyjson_get_len(b) ? items_equal(run, a, b) : SCHEMA_FAILS;
    case YYJSON_TYPE_OBJ:
        return yyjson_get_len(a) == yyjson_get_len(b) ? members_equal(run, a, b) : SCHEMA_FAILS;
    default:
        return SCHEMA_FITS;
    }
}

schema_verdict mishap_schema_unique(schema_run *run, yyjson_val *array, size_t *first,
                                    size_t *second)
{
    size_t count = yyjson_arr_size(array);
    schema_verdict verdict = SCHEMA_FITS;
    yyjson_val *a = count ? unsafe_yyjson_get_first(array) : NULL;
    for (size_t i = 0; i < count; i++, a = unsafe_yyjson_get_next(a)) {
        yyjson_val *b = unsafe_yyjson_get_next(a);
        for (size_t j = i + 1; j < count; j++, b = unsafe_yyjson_get_next(b)) {
            schema_verdict same = mishap_schema_equal(run, a, b);
            if (same == SCHEMA_FITS) {
                *first = i;
                *second = j;
                return SCHEMA_FAILS;
            }
            if (same == SCHEMA_OPEN)
                verdict = SCHEMA_OPEN;
            if (!run->steps)
                return SCHEMA_OPEN;
        }
    }
    return verdict;
}
