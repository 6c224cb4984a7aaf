/* The times of the journal, as OTLP has them. */
#include "otlp/records.h"

#include "mishap/types.h"

/* `count` digits as a number; -1: there is another character. */
static int64_t read_digits(const char *at, size_t count)
{
    int64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        if (at[i] < '0' || at[i] > '9')
            return -1;
        number = number * 10 + (at[i] - '0');
    }
    return number;
}

bool mishap_otlp_read_time(mishap_text text, uint64_t *ns)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";
    static const struct {
        size_t at, count;
        int64_t least, most;
    } parts[] = { { 0, 4, 1970, 2500 }, { 5, 2, 1, 12 },  { 8, 2, 1, 31 },  { 11, 2, 0, 23 },
                  { 14, 2, 0, 59 },     { 17, 2, 0, 60 }, { 20, 3, 0, 999 } };
    int64_t n[7];
    if (text.length != sizeof form - 1)
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (form[i] != '0' && text.data[i] != form[i])
            return false;
    for (size_t i = 0; i < 7; i++) {
        n[i] = read_digits(text.data + parts[i].at, parts[i].count);
        if (n[i] < parts[i].least || n[i] > parts[i].most)
            return false;
    }
    mishap_date date = { (int)n[0], (int)n[1], (int)n[2] };
    int64_t seconds = ((mishap_date_days(date) * 24 + n[3]) * 60 + n[4]) * 60 + n[5];
    *ns = ((uint64_t)seconds * 1000 + (uint64_t)n[6]) * 1000000;
    return true;
}
