/*
 * Exact decimals with at most 18 digits, and amounts of money. Nothing is ever rounded: what does
 * not fit is refused.
 */
#include "mishap/types.h"

#include <inttypes.h>
#include <stdio.h>

static const int64_t powers_of_ten[] = {
    INT64_C(1),
    INT64_C(10),
    INT64_C(100),
    INT64_C(1000),
    INT64_C(10000),
    INT64_C(100000),
    INT64_C(1000000),
    INT64_C(10000000),
    INT64_C(100000000),
    INT64_C(1000000000),
    INT64_C(10000000000),
    INT64_C(100000000000),
    INT64_C(1000000000000),
    INT64_C(10000000000000),
    INT64_C(100000000000000),
    INT64_C(1000000000000000),
    INT64_C(10000000000000000),
    INT64_C(100000000000000000),
    INT64_C(1000000000000000000),
};

static bool has_room(int64_t units)
{
    return units < powers_of_ten[MISHAP_DECIMAL_DIGITS] &&
           units > -powers_of_ten[MISHAP_DECIMAL_DIGITS];
}

static bool is_digit(mishap_text text, size_t at)
{
    return at < text.length && text.data[at] >= '0' && text.data[at] <= '9';
}

/* Add digits to the units. False: there is none, or they are too many. */
static bool take_digits(mishap_text text, size_t *at, int64_t *units)
{
    size_t start = *at;
    for (; is_digit(text, *at); (*at)++) {
        if (*units >= powers_of_ten[MISHAP_DECIMAL_DIGITS - 1])
            return false;
        *units = *units * 10 + (text.data[*at] - '0');
    }
    return *at > start;
}

bool mishap_decimal_read(mishap_text text, mishap_decimal *out)
{
    bool negative = text.length && text.data[0] == '-';
    size_t at = negative, point = 0;
    int64_t units = 0;
    if (is_digit(text, at) && text.data[at] == '0' && is_digit(text, at + 1))
        return false;
    if (!take_digits(text, &at, &units))
        return false;
    if (at < text.length && text.data[at] == '.') {
        point = ++at;
        if (!take_digits(text, &at, &units) || at - point > MISHAP_DECIMAL_DIGITS)
            return false;
    }
    if (at != text.length)
        return false;
    *out = (mishap_decimal){ negative ? -units : units, point ? (int)(at - point) : 0 };
    return true;
}

const char *mishap_decimal_write(mishap_decimal value, char text[MISHAP_WRITTEN])
{
    int scale = value.scale < 0                       ? 0
                : value.scale > MISHAP_DECIMAL_DIGITS ? MISHAP_DECIMAL_DIGITS
                                                      : value.scale;
    uint64_t power = (uint64_t)powers_of_ten[scale];
    uint64_t units = value.units < 0 ? -(uint64_t)value.units : (uint64_t)value.units;
    const char *sign = value.units < 0 ? "-" : "";
    if (scale == 0)
        snprintf(text, MISHAP_WRITTEN, "%s%" PRIu64, sign, units);
    else
        snprintf(text, MISHAP_WRITTEN, "%s%" PRIu64 ".%0*" PRIu64, sign, units / power, scale,
                 units % power);
    return text;
}

bool mishap_decimal_rescale(mishap_decimal value, int scale, mishap_decimal *out)
{
    if (scale < 0 || scale > MISHAP_DECIMAL_DIGITS || value.scale < 0 ||
        value.scale > MISHAP_DECIMAL_DIGITS || !has_room(value.units))
        return false;
    int64_t units = value.units;
    if (scale >= value.scale) {
        if (__builtin_mul_overflow(units, powers_of_ten[scale - value.scale], &units) ||
            !has_room(units))
            return false;
    } else {
        int64_t power = powers_of_ten[value.scale - scale];
        if (units % power != 0)
            return false;
        units /= power;
    }
    *out = (mishap_decimal){ units, scale };
    return true;
}

bool mishap_decimal_add(mishap_decimal a, mishap_decimal b, mishap_decimal *out)
{
    int scale = a.scale > b.scale ? a.scale : b.scale;
    mishap_decimal x, y;
    if (!mishap_decimal_rescale(a, scale, &x) || !mishap_decimal_rescale(b, scale, &y) ||
        !has_room(x.units + y.units))
        return false;
    *out = (mishap_decimal){ x.units + y.units, scale };
    return true;
}

bool mishap_decimal_times(mishap_decimal value, int64_t factor, mishap_decimal *out)
{
    int64_t units;
    if (__builtin_mul_overflow(value.units, factor, &units) || !has_room(units))
        return false;
    *out = (mishap_decimal){ units, value.scale };
    return true;
}

/* With equal numbers of digits after the point, units can have 36 digits. */
int mishap_decimal_compare(mishap_decimal a, mishap_decimal b)
{
    int scale = a.scale > b.scale ? a.scale : b.scale;
    __int128 x = (__int128)a.units * powers_of_ten[scale - a.scale];
    __int128 y = (__int128)b.units * powers_of_ten[scale - b.scale];
    return (x > y) - (x < y);
}

/* -- money ------------------------------------------------------------------------------------- */

/* The currencies of ISO 4217 (2024), by the number of digits after the point; four bytes each. */
static const char currencies_0[] = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF "
                                   "XOF XPF ";
static const char currencies_3[] = "BHD IQD JOD KWD LYD OMR TND ";
static const char currencies_4[] = "CLF UYW ";
static const char currencies_2[] =
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN "
    "BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP "
    "GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP "
    "LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR "
    "NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN "
    "SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD YER ZAR ZMW "
    "ZWG ";

static bool is_listed(const char *list, mishap_text currency)
{
    for (; *list; list += 4)
        if (memcmp(list, currency.data, 3) == 0)
            return true;
    return false;
}

int mishap_currency_scale(mishap_text currency)
{
    if (currency.length != 3)
        return -1;
    return is_listed(currencies_2, currency)   ? 2
           : is_listed(currencies_0, currency) ? 0
           : is_listed(currencies_3, currency) ? 3
           : is_listed(currencies_4, currency) ? 4
                                               : -1;
}

bool mishap_money_read(mishap_text text, mishap_money *out)
{
    mishap_decimal amount;
    if (text.length < 5 || text.data[text.length - 4] != ' ')
        return false;
    const char *code = text.data + text.length - 3;
    int scale = mishap_currency_scale((mishap_text){ code, 3 });
    if (scale < 0 || !mishap_decimal_read((mishap_text){ text.data, text.length - 4 }, &amount) ||
        amount.scale > scale || !mishap_decimal_rescale(amount, scale, &amount))
        return false;
    *out = (mishap_money){ amount, { code[0], code[1], code[2], '\0' } };
    return true;
}

const char *mishap_money_write(mishap_money value, char text[MISHAP_WRITTEN])
{
    mishap_decimal_write(value.amount, text);
    size_t length = strlen(text);
    snprintf(text + length, MISHAP_WRITTEN - length, " %.3s", value.currency);
    return text;
}
