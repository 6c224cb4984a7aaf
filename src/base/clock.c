#include "base/clock.h"

#include <stdio.h>
#include <time.h>

int64_t mishap_clock_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t mishap_clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void mishap_clock_put_timestamp(mishap_buffer *buffer, int64_t milliseconds)
{
    time_t seconds = (time_t)(milliseconds / 1000);
    struct tm utc;
    char printed[64];
    gmtime_r(&seconds, &utc);
    int length = snprintf(printed, sizeof printed, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                          utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                          utc.tm_sec, (int)(milliseconds % 1000));
    mishap_buffer_put(buffer, printed, (size_t)length);
}
