/* Numbers of JSON against bounds that are doubles, exactly. */
#include "operation/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* Without trunc(), for which some compilers need the mathematics library; from 2^53 on a double has
 * no fraction. */
static bool is_whole(double real)
{
    return fabs(real) >= 0x1p53 || real == (double)(int64_t)real;
}

/* 3.0 is an integer. Digits that are stored as text are one, unless they have a point or an
 * exponent and are just too large. */
bool mishap_number_is_integer(yyjson_val *value)
{
    if (yyjson_is_real(value))
        return is_whole(unsafe_yyjson_get_real(value));
    if (!yyjson_is_raw(value))
        return yyjson_is_int(value);
    mishap_text digits = mishap_json_text(value);
    for (size_t i = 0; i < digits.length; i++)
        if (digits.data[i] == '.' || (digits.data[i] | 32) == 'e')
            return false;
    return true;
}

static const double two_to_63 = 9223372036854775808.0, two_to_64 = 18446744073709551616.0;

static int order(double a, double b)
{
    return (a > b) - (a < b);
}

/* Compare exactly: a double cannot represent every integer, so the bound is converted to an
 * integer, never the other way round. */
static int compare_natural(uint64_t number, double bound)
{
    if (!(bound < two_to_64))
        return -1;
    if (bound < 0)
        return 1;
    uint64_t whole = (uint64_t)bound;
    if (number != whole)
        return number > whole ? 1 : -1;
    return (double)whole < bound ? -1 : 0;
}

static int compare_negative(int64_t number, double bound)
{
    if (!(bound > -two_to_63))
        return bound == -two_to_63 && number == INT64_MIN ? 0 : 1;
    if (bound >= 0)
        return -1;
    int64_t whole = (int64_t)bound; /* cut towards zero: not below the bound */
    if (number != whole)
        return number > whole ? 1 : -1;
    return (double)whole > bound ? 1 : 0;
}

/* Compare digits beyond 64 bits with a bound: a bound that large is an integer, too, and can be
 * written out. */
static int compare_digits(yyjson_val *value, double bound)
{
    char printed[DBL_MAX_10_EXP + 3];
    mishap_text digits = mishap_json_text(value);
    bool negative = digits.data[0] == '-';
    int away = negative ? -1 : 1; /* farther from zero than the bound */
    double size = negative ? -bound : bound;
    if (isinf(bound))
        return bound > 0 ? -1 : 1;
    if (!(size >= two_to_63) || !mishap_number_is_integer(value))
        return away;
    digits = (mishap_text){ digits.data + negative, digits.length - negative };
    size_t length = (size_t)snprintf(printed, sizeof printed, "%.0f", size);
    if (digits.length != length)
        return digits.length > length ? away : -away;
    int difference = memcmp(digits.data, printed, length);
    return difference ? (difference > 0 ? away : -away) : 0;
}

int mishap_number_compare(yyjson_val *value, double bound)
{
    if (yyjson_is_raw(value))
        return compare_digits(value, bound);
    if (yyjson_is_real(value))
        return order(unsafe_yyjson_get_real(value), bound);
    if (yyjson_is_sint(value) && unsafe_yyjson_get_sint(value) < 0) /* -0 has a sign, too */
        return compare_negative(unsafe_yyjson_get_sint(value), bound);
    return compare_natural(unsafe_yyjson_get_uint(value), bound);
}

bool mishap_number_has_room(mishap_type_of_param type, yyjson_val *value)
{
    if (type == MISHAP_INTEGER && yyjson_is_real(value))
        return unsafe_yyjson_get_real(value) >= -two_to_63 &&
               unsafe_yyjson_get_real(value) < two_to_63;
    if (type == MISHAP_INTEGER)
        return yyjson_is_uint(value) ? unsafe_yyjson_get_uint(value) <= INT64_MAX
                                     : !yyjson_is_raw(value);
    if (type == MISHAP_NUMBER && yyjson_is_raw(value))
        return mishap_number_compare(value, DBL_MAX) <= 0 &&
               mishap_number_compare(value, -DBL_MAX) >= 0;
    return true;
}

mishap_value mishap_bound(double bound)
{
    if (!isfinite(bound))
        return mishap_value_none();
    if (bound >= -two_to_63 && bound < two_to_63 && (double)(int64_t)bound == bound)
        return mishap_value_of_int((int64_t)bound);
    return mishap_value_of_real(bound);
}
