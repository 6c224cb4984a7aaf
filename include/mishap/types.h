/*
 * Values that JSON has no type for: decimals, money, points in time, dates, durations and UUIDs.
 *
 *     mishap_decimal price = mishap_decimal_of(call, "price");      12.50 is { 1250, 2 }
 *     mishap_timestamp at = mishap_timestamp_of(call, "starts");    at.time is a struct timespec
 *     mishap_answer_member(call, "price", mishap_decimal_print(call, price));
 *
 * A parameter of such a type is declared with MISHAP_DECIMAL and so on (mishap/operation.h); the
 * getters of a call and the functions that end in _print are in mishap/call.h; the columns of a
 * store are in mishap/store.h.
 *
 * A function that reads returns false if the text is not a value of the type, and does not change
 * *out then. A function that writes puts the text, with its NUL, into `text` and returns `text`; it
 * expects a valid value. Any thread may call these functions. Pointers must not be NULL; text
 * without data is not a value.
 */
#ifndef MISHAP_TYPES_H
#define MISHAP_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "mishap/text.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MISHAP_WRITTEN = 96 }; /* bytes that a written value takes at most, with its NUL */

/* -- decimals ---------------------------------------------------------------------------------- */

enum { MISHAP_DECIMAL_DIGITS = 18 }; /* digits of a decimal at most, before and after its point */

/* An exact decimal: units divided by 10 to the power of scale. 12.50 is { 1250, 2 }. The scale is
 * from 0 to 18, and the units have at most 18 digits. */
typedef struct mishap_decimal {
    int64_t units;
    int scale; /* how many digits are after the point */
} mishap_decimal;

/* "12.50", "-3": no plus, no exponent, no zero in front, digits on both sides of a point. */
bool mishap_decimal_read(mishap_text text, mishap_decimal *out);
const char *mishap_decimal_write(mishap_decimal value, char text[MISHAP_WRITTEN]);

/* The same value with another scale. False: it needs more digits after the point, or has too many
 * digits. */
bool mishap_decimal_rescale(mishap_decimal value, int scale, mishap_decimal *out);

/* The sum, exactly, with the larger of both scales. False: it has too many digits. */
bool mishap_decimal_add(mishap_decimal a, mishap_decimal b, mishap_decimal *out);

/* The product with an integer, exactly. False: it has too many digits. */
bool mishap_decimal_times(mishap_decimal value, int64_t factor, mishap_decimal *out);

/* Below 0, 0 or above 0, by value: 1.5 and 1.50 are equal. */
int mishap_decimal_compare(mishap_decimal a, mishap_decimal b);

/* An amount and its currency. The scale of the amount is the one that ISO 4217 gives the currency:
 * 2 for EUR, 0 for JPY, 3 for KWD. */
typedef struct mishap_money {
    mishap_decimal amount;
    char currency[4]; /* "EUR" */
} mishap_money;

/* "12.50 EUR", or "12.5 EUR" and "12 EUR"; the currency is a code of ISO 4217. */
bool mishap_money_read(mishap_text text, mishap_money *out);
const char *mishap_money_write(mishap_money value, char text[MISHAP_WRITTEN]);

/* How many digits a currency has after its point; -1: it is not a code of ISO 4217. */
int mishap_currency_scale(mishap_text currency);

/* -- time -------------------------------------------------------------------------------------- */

/* A point in time, and the zone in which the sender wrote it. */
typedef struct mishap_timestamp {
    struct timespec time; /* since 1970, UTC */
    int offset;           /* the zone: minutes east of UTC */
} mishap_timestamp;

/* RFC 3339: "2026-02-28T18:30:00.25+01:00". Digits beyond nanoseconds are dropped. A leap second
 * (23:59:60 UTC) is the first second of the next day. Writing keeps the zone. */
bool mishap_timestamp_read(mishap_text text, mishap_timestamp *out);
const char *mishap_timestamp_write(mishap_timestamp value, char text[MISHAP_WRITTEN]);

/* Below 0, 0 or above 0: the same time in two zones is equal. */
int mishap_timestamp_compare(mishap_timestamp a, mishap_timestamp b);

/* A day of the calendar, of the years 0 to 9999. */
typedef struct mishap_date {
    int year, month, day; /* from 1 */
} mishap_date;

/* "2026-02-28" */
bool mishap_date_read(mishap_text text, mishap_date *out);
const char *mishap_date_write(mishap_date value, char text[MISHAP_WRITTEN]);
int mishap_date_compare(mishap_date a, mishap_date b);

/* Days since 1970-01-01. */
int64_t mishap_date_days(mishap_date value);

/* A duration in three parts, since a month has no fixed number of days, and a day no fixed number
 * of seconds. No part is negative. */
typedef struct mishap_duration {
    int64_t months, days; /* at most INT32_MAX of each */
    int64_t seconds;      /* at most 2^42 */
} mishap_duration;

/* RFC 3339, appendix A: "P1Y2M10DT2H30M", "P3W". */
bool mishap_duration_read(mishap_text text, mishap_duration *out);
const char *mishap_duration_write(mishap_duration value, char text[MISHAP_WRITTEN]);

/* -- UUIDs ------------------------------------------------------------------------------------- */

typedef struct mishap_uuid {
    unsigned char bytes[16];
} mishap_uuid;

/* "01234567-89ab-7def-8123-456789abcdef", with small or capital letters; small ones are written. */
bool mishap_uuid_read(mishap_text text, mishap_uuid *out);
const char *mishap_uuid_write(mishap_uuid value, char text[MISHAP_WRITTEN]);

#ifdef __cplusplus
}
#endif

#endif
