#include "guard/lines.h"

#include <string.h>

/* A short piece has few lines: they are searched one by one. */
static size_t count_few(const char *at, const char *end, const char **last)
{
    size_t count = 0;
    for (; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++) {
        *last = at;
        count++;
    }
    return count;
}

size_t mishap_leak_count_lines(const char *at, const char *end, const char **last)
{
    enum { SHORT = 64 };
    typedef unsigned char lanes __attribute__((vector_size(16)));
    size_t count = 0;
    const char *begin = at;
    if (end - at <= SHORT)
        return count_few(at, end, last);
    while (end - at >= 16) {
        lanes sums = { 0 };
        for (int i = 0; i < 255 && end - at >= 16; i++, at += 16) {
            lanes now;
            memcpy(&now, at, sizeof now);
            sums -= (lanes)(now == '\n');
        }
        for (int i = 0; i < 16; i++)
            count += sums[i];
    }
    for (; at < end; at++)
        count += *at == '\n';
    if (count)
        *last = memrchr(begin, '\n', (size_t)(end - begin));
    return count;
}
