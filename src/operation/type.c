/* The table of types, and decimals in the two forms that they have in JSON. */
#include "operation/type.h"

#include <math.h>

#include "base/json_write.h"
#include "operation/operation.h"

static const mishap_type_facts type_facts[] = {
    [MISHAP_STRING] = { "string", "string", "TEXT", NULL, NULL },
    [MISHAP_INTEGER] = { "integer", "integer", "INTEGER", NULL, NULL },
    [MISHAP_NUMBER] = { "number", "number", "NUMBER", NULL, NULL },
    [MISHAP_BOOLEAN] = { "boolean", "boolean", "true|false", NULL, NULL },
    [MISHAP_ENUM] = { "string", "enum", "TEXT", NULL, NULL },
    [MISHAP_DECIMAL] = { "string", "decimal", "DECIMAL", "a decimal such as 12.50", NULL },
    [MISHAP_DECIMAL_NUMBER] = { "number", "decimal", "DECIMAL",
                                "a decimal number of at most 15 digits, such as 12.5", NULL },
    [MISHAP_MONEY] = { "string", "money", "MONEY", "an amount and its currency, such as 12.50 EUR",
                       NULL },
    [MISHAP_TIMESTAMP] = { "string", "timestamp", "TIME",
                           "a date and time such as 2026-02-28T18:30:00Z", "date-time" },
    [MISHAP_DATE] = { "string", "date", "DATE", "a date such as 2026-02-28", "date" },
    [MISHAP_DURATION] = { "string", "duration", "DURATION", "a duration such as P1DT12H",
                          "duration" },
    [MISHAP_UUID] = { "string", "uuid", "UUID",
                      "a UUID such as 01234567-89ab-7def-8123-456789abcdef", "uuid" },
    [MISHAP_BYTES] = { "string", "bytes", "BASE64", "a text of base64 such as aGVsbG8=", NULL },
    [MISHAP_FILE] = { "string", "file", "FILE", NULL, NULL },
    [MISHAP_ARRAY] = { "array", "array", "JSON", NULL, NULL },
    [MISHAP_OBJECT] = { "object", "object", "JSON", NULL, NULL },
    [MISHAP_MAP] = { "object", "map", "JSON", NULL, NULL },
};

const mishap_type_facts *mishap_type_find(mishap_type_of_param type)
{
    return type > 0 && type < sizeof type_facts / sizeof *type_facts ? &type_facts[type] : NULL;
}

const char *mishap_param_type_name(mishap_type_of_param type)
{
    const mishap_type_facts *facts = mishap_type_find(type);
    return facts ? facts->json : NULL;
}

int mishap_param_choice(const mishap_param *param, yyjson_val *value)
{
    for (int i = 0; param->choices && param->choices[i]; i++)
        if (yyjson_equals_str(value, param->choices[i]))
            return i + 1;
    return 0;
}

/* -- decimals ---------------------------------------------------------------------------------- */

/*
 * The decimal that a double was written as. Two decimals of at most 15 digits are never the same
 * double, so the shortest spelling of the double is the one that was sent, without zeros at its
 * end.
 */
static bool decimal_of_double(double real, mishap_decimal *out)
{
    enum { DOUBLE_DIGITS = 15 };
    char room[64];
    mishap_buffer spelled;
    int64_t units = 0;
    int digits = 0, scale = 0, exponent = 0, sign = 1;
    bool point = false, negative = false;
    mishap_buffer_init(&spelled, room, sizeof room);
    mishap_buffer_put_real(&spelled, real);
    size_t i = 0;
    for (; i < spelled.length && (spelled.data[i] | 32) != 'e'; i++) {
        char c = spelled.data[i];
        if (c == '-') {
            negative = true;
        } else if (c == '.') {
            point = true;
        } else {
            digits += digits || c != '0';
            scale += point;
            if (digits > DOUBLE_DIGITS + 3)
                return false;
            units = units * 10 + (c - '0');
        }
    }
    for (i++; i < spelled.length; i++) {
        if (spelled.data[i] == '-')
            sign = -1;
        else if (spelled.data[i] != '+' && exponent < 1000)
            exponent = exponent * 10 + (spelled.data[i] - '0');
    }
    for (scale -= sign * exponent; units && units % 10 == 0; scale--)
        units /= 10;
    mishap_decimal value = { negative ? -units : units, scale };
    if (units >= INT64_C(1000000000000000))
        return false;
    if (scale < 0 || !units) {
        value.scale = 0;
        for (; scale < 0 && units; scale++)
            if (__builtin_mul_overflow(value.units, 10, &value.units))
                return false;
    }
    return mishap_decimal_rescale(value, value.scale, out);
}

bool mishap_decimal_of_bound(double bound, mishap_decimal *out)
{
    return isfinite(bound) && decimal_of_double(bound, out);
}

bool mishap_decimal_of_json(yyjson_val *value, mishap_decimal *out)
{
    if (yyjson_is_str(value))
        return mishap_decimal_read(mishap_json_text(value), out);
    if (yyjson_is_real(value))
        return decimal_of_double(unsafe_yyjson_get_real(value), out);
    if (!yyjson_is_int(value) ||
        (yyjson_is_uint(value) && unsafe_yyjson_get_uint(value) > INT64_MAX))
        return false;
    return mishap_decimal_rescale((mishap_decimal){ yyjson_get_sint(value), 0 }, 0, out);
}

mishap_decimal mishap_decimal_as_declared(const mishap_param *param, mishap_decimal value)
{
    mishap_decimal scaled;
    return param && param->scale && mishap_decimal_rescale(value, param->scale, &scaled) ? scaled
                                                                                         : value;
}
