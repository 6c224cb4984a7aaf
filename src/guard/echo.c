#include "guard/echo.h"

#include "guard/undo.h"

enum {
    LONGEST_MATCH = 1024, /* that is compared */
    LEAST_VARIABLE = 8, /* a match with fewer bytes beside its literal is made of constant words */
};

/* Look for a text in a known value from this byte on; SIZE_MAX: it is not there. */
static size_t find_in_value(mishap_leak_echo *echo, size_t value, size_t at, const char *from,
                            size_t length)
{
    mishap_text text = echo->known->values[value];
    size_t *left = echo->known->left ? echo->known->left : &echo->left;
    if (at > text.length || text.length - at < length || !*left)
        return SIZE_MAX;
    size_t rest = text.length - at < *left ? text.length - at : *left;
    const char *found = memmem(text.data + at, rest, from, length);
    size_t looked = found ? (size_t)(found - text.data) - at + length : rest;
    *left -= looked < *left ? looked : *left;
    return found ? (size_t)(found - text.data) : SIZE_MAX;
}

/* What an echo may end with: the end of a line or of a string, or punctuation before such an end.
 */
static bool ends_echo(const char *at, const char *end)
{
    while (at < end && memchr(".,;:!?)]}'`", *at, 11))
        at++;
    return at == end || memchr("\n\r\"\\<&", *at, 6);
}

/* Does the known value go on like the text, up to the end of what the text repeats? Constant words
 * alone, such as "no such table: ", are no echo if the program goes on with something else. */
static bool goes_on(const mishap_leak_echo *echo, size_t value, size_t at, const char *text)
{
    const char *end = echo->end, *known = echo->known->values[value].data + at;
    const char *known_end = echo->known->values[value].data + echo->known->values[value].length;
    const char *begin = text;
    while (text < end && known < known_end && *text == *known && text - begin < LONGEST_MATCH)
        text++, known++;
    return text - begin >= LONGEST_MATCH || ends_echo(text, end);
}

/* Look in one value from this byte on; SIZE_MAX: it is not there. */
static size_t find_echo(mishap_leak_echo *echo, size_t value, size_t at, mishap_text match,
                        bool constant)
{
    while ((at = find_in_value(echo, value, at, match.data, match.length)) != SIZE_MAX) {
        if (!constant || goes_on(echo, value, at + match.length, match.data + match.length))
            break;
        at++;
    }
    return at;
}

/* The search has a budget: a caller could send many bytes that match many rules. What is not found
 * within the budget counts as not sent. */
static bool stands_in_known(mishap_leak_echo *echo, mishap_text match, bool constant)
{
    size_t count = echo->known->count, first = echo->value < count ? echo->value : 0;
    size_t at = find_echo(echo, first, echo->at, match, constant);
    for (size_t i = 0; at == SIZE_MAX && i < count; i++)
        if ((at = find_echo(echo, i, 0, match, constant)) != SIZE_MAX)
            first = i;
    if (at == SIZE_MAX)
        return false;
    echo->value = first;
    echo->at = at;
    return true;
}

/* What the caller sent may come back as it was, or with its escapes. */
bool mishap_leak_is_echo(mishap_leak_echo *echo, const mishap_leak_place *place)
{
    char text[LONGEST_MATCH];
    size_t length = (size_t)(place->to - place->from);
    size_t literal = (size_t)(place->behind - place->at);
    if (!echo->known || !echo->known->count || !length)
        return false;
    echo->end = place->end;
    bool constant = length < literal + LEAST_VARIABLE;
    length = length < LONGEST_MATCH ? length : LONGEST_MATCH;
    if (stands_in_known(echo, (mishap_text){ place->from, length }, constant))
        return true;
    for (int escape = MISHAP_LEAK_JSON; escape <= MISHAP_LEAK_HTML && !constant; escape++) {
        size_t undone = mishap_leak_undo((mishap_leak_escape)escape, place->from,
                                         place->from + length, text, NULL);
        if (undone && undone < length &&
            stands_in_known(echo, (mishap_text){ text, undone }, false))
            return true;
    }
    return false;
}
