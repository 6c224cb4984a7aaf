/*
 * Which values are known to be secret, and whether one of them begins at some place of a text.
 *
 * A caller may send very many. So the texts are sorted, and each knows the longest other one that
 * it begins with. Let L be the last text that is not behind the rest of what is searched: every
 * text with which that rest begins is L or one that L begins with, so one search among the sorted
 * ones finds the longest of them.
 */
#include "guard/guard.h"

#include "base/sort.h"

enum { SHORTEST = 3, ANYWHERE = 4 }; /* bytes of a text */

/* -- numbers ----------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* How many bytes of a text are a number without its sign: 12, 12.50, 1.25e1. */
static size_t number_length(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && is_digit(*at))
        at++;
    if (at == start)
        return 0;
    if (end - at > 1 && *at == '.' && is_digit(at[1]))
        for (at++; at < end && is_digit(*at);)
            at++;
    if (end - at > 1 && (*at | 32) == 'e') {
        const char *power = at + 1 + (at[1] == '+' || at[1] == '-');
        if (power < end && is_digit(*power))
            for (at = power; at < end && is_digit(*at);)
                at++;
    }
    return (size_t)(at - start);
}

/* What is written behind the e; a number with so large a power is no secret. */
static long read_power(const char *at, const char *end)
{
    enum { LARGEST = 100000 };
    bool negative = at < end && *at == '-';
    long power = 0;
    for (at += at < end && !is_digit(*at); at < end && power < LARGEST; at++)
        power = power * 10 + (*at - '0');
    return negative ? -power : power;
}

/* The digits of a number as number_length() found it; zero has none. */
static mishap_secret_number read_decimal(mishap_text spelled)
{
    const char *at = spelled.data, *end = at + spelled.length, *point = NULL;
    mishap_secret_number number = { NULL, NULL, 0 };
    const char *stop = at;
    while (stop < end && (*stop | 32) != 'e')
        stop++;
    for (; at < stop; at++) {
        if (*at == '.') {
            point = at;
        } else if (*at != '0') {
            if (!number.first)
                number.first = at;
            number.end = at + 1;
        }
    }
    if (!number.first)
        return number;
    if (!point)
        point = stop;
    number.magnitude = number.first < point ? point - number.first - 1 : point - number.first;
    if (stop < end)
        number.magnitude += read_power(stop + 1, end);
    return number;
}

static bool is_same(const mishap_secret_number *a, const mishap_secret_number *b)
{
    const char *one = a->first, *other = b->first;
    if (a->magnitude != b->magnitude || !one || !other)
        return false;
    for (; one < a->end && other < b->end; one++, other++) {
        one += *one == '.';
        other += *other == '.';
        if (*one != *other)
            return false;
    }
    return one == a->end && other == b->end;
}

/* A number of one or two digits stands in too many texts. */
static bool is_long_enough(const mishap_secret_number *number)
{
    if (!number->first)
        return false;
    size_t digits = (size_t)(number->end - number->first);
    digits -= memchr(number->first, '.', digits) != NULL;
    bool fraction = number->magnitude < 0 || digits > (size_t)number->magnitude + 1;
    return fraction || number->magnitude >= 2;
}

static bool has_number(const mishap_secrets *secrets, mishap_text spelled)
{
    mishap_secret_number number = read_decimal(spelled);
    for (size_t i = 0; number.first && i < secrets->number_count; i++)
        if (is_same(&secrets->numbers[i], &number))
            return true;
    return false;
}

static mishap_text without_sign(mishap_text spelled)
{
    bool sign = spelled.length && (spelled.data[0] == '-' || spelled.data[0] == '+');
    return (mishap_text){ spelled.data + sign, spelled.length - sign };
}

bool mishap_secrets_have_number(const mishap_secrets *secrets, mishap_text spelled)
{
    return !mishap_secrets_none(secrets) &&
           (secrets->unknown || has_number(secrets, without_sign(spelled)));
}

/* -- adding ------------------------------------------------------------------------------------ */

void mishap_secrets_add_text(mishap_secrets *secrets, mishap_text text)
{
    if (text.length < SHORTEST)
        return;
    if (secrets->texts)
        secrets->texts[secrets->count] = (mishap_secret){ text, NULL };
    secrets->count++;
}

void mishap_secrets_add_number(mishap_secrets *secrets, mishap_text spelled)
{
    mishap_secret_number number = read_decimal(without_sign(spelled));
    if (!is_long_enough(&number))
        return;
    if (secrets->numbers)
        secrets->numbers[secrets->number_count] = number;
    secrets->number_count++;
}

static char other_case(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z' ? (char)(c ^ 32) : c;
}

static int compare_bytes(const char *a, const char *b, size_t length, bool any_case)
{
    if (!any_case)
        return memcmp(a, b, length);
    for (size_t i = 0; i < length; i++) {
        char one = a[i] >= 'A' && a[i] <= 'Z' ? other_case(a[i]) : a[i];
        char other = b[i] >= 'A' && b[i] <= 'Z' ? other_case(b[i]) : b[i];
        if (one != other)
            return (unsigned char)one < (unsigned char)other ? -1 : 1;
    }
    return 0;
}

static int compare(mishap_text a, mishap_text b, bool any_case)
{
    size_t shorter = a.length < b.length ? a.length : b.length;
    int order = compare_bytes(a.data, b.data, shorter, any_case);
    return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

static int by_text(const void *a, const void *b)
{
    return compare(((const mishap_secret *)a)->text, ((const mishap_secret *)b)->text, false);
}

static int by_letters(const void *a, const void *b)
{
    return compare(((const mishap_secret *)a)->text, ((const mishap_secret *)b)->text, true);
}

static bool begins_with(mishap_text text, mishap_text start, bool any_case)
{
    return start.length <= text.length &&
           compare_bytes(text.data, start.data, start.length, any_case) == 0;
}

static void note_beginning(mishap_secrets *secrets, char c)
{
    unsigned char first = (unsigned char)c;
    secrets->begins[first / 64] |= UINT64_C(1) << (first % 64);
}

void mishap_secrets_sort(mishap_secrets *secrets)
{
    size_t kept = 0;
    bool any_case = secrets->any_case;
    mishap_sort(secrets->texts, secrets->count, sizeof *secrets->texts,
                any_case ? by_letters : by_text);
    for (size_t i = 0; i < secrets->count; i++) {
        mishap_text text = secrets->texts[i].text;
        if (kept && compare(secrets->texts[kept - 1].text, text, any_case) == 0)
            continue;
        const mishap_secret *shorter = kept ? &secrets->texts[kept - 1] : NULL;
        while (shorter && !begins_with(text, shorter->text, any_case))
            shorter = shorter->shorter;
        secrets->texts[kept++] = (mishap_secret){ text, shorter };
        note_beginning(secrets, text.data[0]);
        if (any_case)
            note_beginning(secrets, other_case(text.data[0]));
    }
    secrets->count = kept;
}

/* -- at one place of a text -------------------------------------------------------------------- */

static bool in_word(char c)
{
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' ||
           (unsigned char)c > 127;
}

static bool is_word(mishap_text text, size_t from, size_t length)
{
    size_t end = from + length;
    return !(from && in_word(text.data[from - 1])) &&
           !(end < text.length && in_word(text.data[end]));
}

static size_t text_at(const mishap_secrets *secrets, mishap_text text, size_t at)
{
    mishap_text rest = { text.data + at, text.length - at };
    size_t low = 0, high = secrets->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(secrets->texts[middle].text, rest, secrets->any_case) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (const mishap_secret *secret = low ? &secrets->texts[low - 1] : NULL; secret;
         secret = secret->shorter)
        if (begins_with(rest, secret->text, secrets->any_case) &&
            (secret->text.length >= ANYWHERE || is_word(text, at, secret->text.length)))
            return secret->text.length;
    return 0;
}

/* A whole number: not the digits behind the point of another one, and no group of an id, which
 * stands between two hyphens. */
static size_t number_at(const mishap_secrets *secrets, mishap_text text, size_t at)
{
    char before = at ? text.data[at - 1] : ' ';
    if (before == '.' && at > 1 && is_digit(text.data[at - 2]))
        return 0;
    size_t length = number_length(text.data + at, text.data + text.length);
    char after = at + length < text.length ? text.data[at + length] : ' ';
    if (!length || !is_word(text, at, length) || (before == '-' && after == '-'))
        return 0;
    return has_number(secrets, (mishap_text){ text.data + at, length }) ? length : 0;
}

size_t mishap_secrets_find(const mishap_secrets *secrets, mishap_text text, size_t from, size_t *at)
{
    for (; from < text.length; from++) {
        size_t length = 0;
        unsigned char c = (unsigned char)text.data[from];
        if (secrets->begins[c / 64] >> (c % 64) & 1)
            length = text_at(secrets, text, from);
        if (!length && secrets->number_count && is_digit((char)c))
            length = number_at(secrets, text, from);
        if (length) {
            *at = from;
            return length;
        }
    }
    return 0;
}
