/*
 * Dates, points in time and durations, as RFC 3339 has them: section 5.6 and appendix A. Years are
 * 0 to 9999, in the Gregorian calendar throughout.
 */
#include "base/moment.h"

#include <stdio.h>

#include "base/clock.h"

enum { MINUTES_OF_DAY = 24 * 60, SECONDS_OF_DAY = MINUTES_OF_DAY * 60 };

/* The rest of the text. */
struct moment_reading {
    const char *at, *end;
};

static struct moment_reading begin_reading(mishap_text text)
{
    const char *start = text.data ? text.data : "";
    return (struct moment_reading){ start, start + text.length };
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_character(struct moment_reading *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_letter(struct moment_reading *r, char capital)
{
    return take_character(r, capital) || take_character(r, (char)(capital | 32));
}

/* Exactly so many digits, as a number within bounds. */
static bool take_number(struct moment_reading *r, int digits, int min, int max, int *number)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        if (r->at == r->end || !is_digit(*r->at))
            return false;
        value = value * 10 + (*r->at++ - '0');
    }
    *number = value;
    return value >= min && value <= max;
}

/* -- dates ------------------------------------------------------------------------------------- */

static int days_of_month(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool take_date(struct moment_reading *r, mishap_date *date)
{
    return take_number(r, 4, 0, 9999, &date->year) && take_character(r, '-') &&
           take_number(r, 2, 1, 12, &date->month) && take_character(r, '-') &&
           take_number(r, 2, 1, days_of_month(date->year, date->month), &date->day);
}

bool mishap_date_read(mishap_text text, mishap_date *out)
{
    mishap_date date = { 0 };
    struct moment_reading r = begin_reading(text);
    if (!take_date(&r, &date) || r.at != r.end)
        return false;
    *out = date;
    return true;
}

const char *mishap_date_write(mishap_date value, char text[MISHAP_WRITTEN])
{
    snprintf(text, MISHAP_WRITTEN, "%04d-%02d-%02d", value.year, value.month, value.day);
    return text;
}

int mishap_date_compare(mishap_date a, mishap_date b)
{
    int64_t x = mishap_date_days(a), y = mishap_date_days(b);
    return (x > y) - (x < y);
}

/* A year is counted from March here, so that the day which only leap years have is its last; 400
 * years have 146097 days, and 719468 is the number of 1970-01-01. */
int64_t mishap_date_days(mishap_date value)
{
    int64_t year = value.year - (value.month <= 2) + 400;
    int64_t month = (value.month + 9) % 12;
    int64_t of_year = (153 * month + 2) / 5 + value.day - 1;
    return year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719468 - 146097;
}

/* -- points in time ---------------------------------------------------------------------------- */

/* The years 0 to 9999 in UTC, too. */
static const int64_t first_second = INT64_C(-62167219200), last_second = INT64_C(253402300799);

struct time_of_day {
    int hour, minute, second, offset;
    long nanoseconds;
};

static bool take_fraction(struct moment_reading *r, long *nanoseconds)
{
    long unit = 100000000;
    const char *start = r->at;
    for (; r->at < r->end && is_digit(*r->at); r->at++, unit /= 10)
        *nanoseconds += (*r->at - '0') * unit;
    return r->at > start;
}

static bool take_zone(struct moment_reading *r, int *offset)
{
    int hour = 0, minute = 0;
    if (take_letter(r, 'Z'))
        return true;
    int sign = take_character(r, '-') ? -1 : take_character(r, '+') ? 1 : 0;
    if (!sign || !take_number(r, 2, 0, 23, &hour) || !take_character(r, ':') ||
        !take_number(r, 2, 0, 59, &minute))
        return false;
    *offset = sign * (hour * 60 + minute);
    return true;
}

/* Second 60, a leap second, exists only at the end of a day in UTC. */
static bool take_time(struct moment_reading *r, struct time_of_day *time)
{
    if (!take_number(r, 2, 0, 23, &time->hour) || !take_character(r, ':') ||
        !take_number(r, 2, 0, 59, &time->minute) || !take_character(r, ':') ||
        !take_number(r, 2, 0, 60, &time->second))
        return false;
    if (take_character(r, '.') && !take_fraction(r, &time->nanoseconds))
        return false;
    if (!take_zone(r, &time->offset))
        return false;
    int utc = (time->hour * 60 + time->minute - time->offset + 2 * MINUTES_OF_DAY) % MINUTES_OF_DAY;
    return time->second < 60 || utc == MINUTES_OF_DAY - 1;
}

bool mishap_time_is_valid(mishap_text text)
{
    struct time_of_day time = { 0 };
    struct moment_reading r = begin_reading(text);
    return take_time(&r, &time) && r.at == r.end;
}

bool mishap_timestamp_read(mishap_text text, mishap_timestamp *out)
{
    mishap_date date = { 0 };
    struct time_of_day time = { 0 };
    struct moment_reading r = begin_reading(text);
    if (!take_date(&r, &date) || !take_letter(&r, 'T') || !take_time(&r, &time) || r.at != r.end)
        return false;
    int64_t seconds = mishap_date_days(date) * SECONDS_OF_DAY +
                      (time.hour * 60 + time.minute - time.offset) * 60 + time.second;
    if (seconds < first_second || seconds > last_second)
        return false;
    *out = (mishap_timestamp){ .time = { .tv_sec = seconds, .tv_nsec = time.nanoseconds },
                               .offset = time.offset };
    return true;
}

/* Up to the seconds, in the zone that is so many minutes east of UTC. */
static int write_local(mishap_timestamp value, int offset, char text[MISHAP_WRITTEN])
{
    int64_t seconds = value.time.tv_sec + offset * INT64_C(60);
    int64_t days = seconds / SECONDS_OF_DAY - (seconds % SECONDS_OF_DAY < 0);
    int of_day = (int)(seconds - days * SECONDS_OF_DAY);
    mishap_date date;
    mishap_clock_date(days, &date.year, &date.month, &date.day);
    return snprintf(text, MISHAP_WRITTEN, "%04d-%02d-%02dT%02d:%02d:%02d", date.year, date.month,
                    date.day, of_day / 3600, of_day / 60 % 60, of_day % 60);
}

const char *mishap_timestamp_write(mishap_timestamp value, char text[MISHAP_WRITTEN])
{
    int length = write_local(value, value.offset, text);
    int minutes = value.offset < 0 ? -value.offset : value.offset;
    if (value.time.tv_nsec) {
        length += snprintf(text + length, MISHAP_WRITTEN / 2, ".%09ld", value.time.tv_nsec);
        while (text[length - 1] == '0')
            length--;
    }
    if (minutes)
        snprintf(text + length, MISHAP_WRITTEN / 2, "%c%02d:%02d", value.offset < 0 ? '-' : '+',
                 minutes / 60 % 24, minutes % 60);
    else
        snprintf(text + length, 2, "Z");
    return text;
}

const char *mishap_timestamp_write_utc(mishap_timestamp value, char text[MISHAP_WRITTEN])
{
    int length = write_local(value, 0, text);
    snprintf(text + length, MISHAP_WRITTEN / 2, ".%06ldZ", value.time.tv_nsec / 1000);
    return text;
}

int mishap_timestamp_compare(mishap_timestamp a, mishap_timestamp b)
{
    if (a.time.tv_sec != b.time.tv_sec)
        return a.time.tv_sec > b.time.tv_sec ? 1 : -1;
    return (a.time.tv_nsec > b.time.tv_nsec) - (a.time.tv_nsec < b.time.tv_nsec);
}

/* -- durations --------------------------------------------------------------------------------- */

/* Up to ten digits; more are too many. */
static bool take_count(struct moment_reading *r, int64_t *count)
{
    const char *start = r->at;
    for (*count = 0; r->at < r->end && is_digit(*r->at); r->at++) {
        if (r->at - start == 10)
            return false;
        *count = *count * 10 + (*r->at - '0');
    }
    return r->at > start;
}

/* Some of three units, in their order: 1Y2M10D, 2H30M. There is no gap between them, unless `gaps`
 * allows it. */
static bool take_units(struct moment_reading *r, const char *units, bool gaps, int64_t counts[3])
{
    int next = -1;
    while (r->at < r->end && is_digit(*r->at)) {
        int64_t count;
        int unit = next < 0 ? 0 : next;
        if (!take_count(r, &count) || r->at == r->end)
            return false;
        while (unit < 3 && units[unit] != *r->at && (next < 0 || gaps))
            unit++;
        if (unit == 3 || units[unit] != *r->at)
            return false;
        r->at++;
        counts[unit] = count;
        next = unit + 1;
    }
    return next > 0;
}

static bool read_duration(mishap_text text, bool gaps, mishap_duration *out)
{
    int64_t dated[3] = { 0 }, timed[3] = { 0 }, weeks = 0;
    struct moment_reading r = begin_reading(text), rest;
    if (!take_character(&r, 'P'))
        return false;
    rest = r;
    if (take_count(&rest, &weeks) && take_character(&rest, 'W')) {
        r = rest;
    } else {
        weeks = 0;
        bool has_date = r.at < r.end && *r.at != 'T';
        if (has_date && !take_units(&r, "YMD", gaps, dated))
            return false;
        bool has_time = take_character(&r, 'T');
        if ((!has_date && !has_time) || (has_time && !take_units(&r, "HMS", gaps, timed)))
            return false;
    }
    mishap_duration value = { dated[0] * 12 + dated[1], dated[2] + weeks * 7,
                              timed[0] * 3600 + timed[1] * 60 + timed[2] };
    if (r.at != r.end || value.months > INT32_MAX || value.days > INT32_MAX ||
        value.seconds > INT64_C(1) << 42)
        return false;
    *out = value;
    return true;
}

bool mishap_duration_read(mishap_text text, mishap_duration *out)
{
    return read_duration(text, false, out);
}

bool mishap_duration_read_loosely(mishap_text text, mishap_duration *out)
{
    return read_duration(text, true, out);
}

/* From the first unit that is not 0 to the last one; units between them are written as 0. */
static int write_units(char *to, int size, const char *units, const int64_t counts[3])
{
    int first = 0, last = 2, length = 0;
    while (first < 3 && !counts[first])
        first++;
    while (last >= first && !counts[last])
        last--;
    for (int i = first; i <= last; i++)
        length += snprintf(to + length, (size_t)(size - length), "%lld%c", (long long)counts[i],
                           units[i]);
    return length;
}

const char *mishap_duration_write(mishap_duration value, char text[MISHAP_WRITTEN])
{
    enum { HALF = MISHAP_WRITTEN / 2 };
    const int64_t dated[3] = { value.months / 12, value.months % 12, value.days };
    const int64_t timed[3] = { value.seconds / 3600, value.seconds / 60 % 60, value.seconds % 60 };
    char time[HALF];
    text[0] = 'P';
    text[1] = '\0';
    int length = 1 + write_units(text + 1, HALF - 1, "YMD", dated);
    if (write_units(time, sizeof time, "HMS", timed))
        snprintf(text + length, HALF + 1, "T%s", time);
    else if (length == 1)
        snprintf(text, MISHAP_WRITTEN, "PT0S");
    return text;
}
