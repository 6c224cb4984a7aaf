#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#include "base/rehearsal.h"

int64_t mishap_clock_now_ms(void)
{
    struct timespec now;
    if (mishap_rehearsal_page && atomic_load(&mishap_rehearsal_page->time_is_set))
        return atomic_load(&mishap_rehearsal_page->now_ms);
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t mishap_clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t mishap_clock_process_ns(int process)
{
    struct timespec used;
    clockid_t clock;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return -1;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* By counting eras of 400 years from a 1st of March. The C library could do it too, but reads the
 * time zone of the machine before it does. */
void mishap_clock_date(int64_t days, int *year, int *month, int *day)
{
    days += 719468; /* from 0000-03-01 */
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t of_era = days - era * 146097;
    int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    int64_t shifted = (5 * of_year + 2) / 153; /* months from March */
    *day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = (int)(years + era * 400 + (*month <= 2));
}

/* Write a number with so many digits. */
static char *put_digits(char *to, unsigned number, int count)
{
    for (int i = count - 1; i >= 0; i--, number /= 10)
        to[i] = (char)('0' + number % 10);
    return to + count;
}

/* Four digits of the year; any other year has as many as it needs. */
static char *put_year(char *to, size_t room, int year)
{
    if (year >= 0 && year <= 9999)
        return put_digits(to, (unsigned)year, 4);
    return to + snprintf(to, room, "%04d", year);
}

void mishap_clock_put_timestamp(mishap_buffer *buffer, int64_t milliseconds)
{
    enum { DAY = 86400000 };
    static const int64_t divisors[] = { 3600000, 60000, 1000, 1 };
    static const unsigned limits[] = { 24, 60, 60, 1000 };
    static const char after[] = "::.Z";
    int64_t days = milliseconds / DAY - (milliseconds % DAY < 0), rest = milliseconds - days * DAY;
    int year, month, day;
    char printed[64], *to;
    mishap_clock_date(days, &year, &month, &day);
    to = put_year(printed, 16, year);
    *to++ = '-';
    to = put_digits(to, (unsigned)month, 2);
    *to++ = '-';
    to = put_digits(to, (unsigned)day, 2);
    *to++ = 'T';
    for (int i = 0; i < 4; i++) {
        to = put_digits(to, (unsigned)(rest / divisors[i] % limits[i]), i < 3 ? 2 : 3);
        *to++ = after[i];
    }
    mishap_buffer_put(buffer, printed, (size_t)(to - printed));
}
