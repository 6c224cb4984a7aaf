/* Checks for passwords in sentences, in commands and in headers: what stands behind the words. */
#include "guard/tokens.h"

static bool all_digits(const char *from, const char *to)
{
    while (from < to && leak_digit(*from))
        from++;
    return from == to;
}

/* `with password hunter2`: letters and digits in a sentence, or seven digits. */
bool mishap_leak_told_password(mishap_leak_place *place)
{
    const char *value = place->behind;
    if (leak_quote(leak_char(place, value)))
        value++;
    const char *end = leak_skip(place, value, in_value, 128);
    while (end > value && (end[-1] == '.' || end[-1] == '!' || end[-1] == '?'))
        end--;
    if (end - value < 7 || !has_digit(value, end) || mishap_leak_placeholder(value, end) ||
        mishap_leak_is_code(value, end))
        return false;
    for (const char *c = value; c < end; c++)
        if (strchr("-:/.", *c))
            return false;
    if (!all_digits(value, end) && !mishap_leak_looks_secret(value, end))
        return false;
    return found_secret(place, value, end);
}

static bool in_header(char c)
{
    return (unsigned char)c > ' ' && c != '"' && c != '\'' && c != ',' && c != '<' && c != '\\';
}

/* `Authorization: Token 1a2b…`, `Authorization: SSWS 00…`: the token stands alone or behind a
 * scheme. */
bool mishap_leak_authorization(mishap_leak_place *place)
{
    const char *value = place->behind, *scheme = leak_skip(place, value, in_token, 24);
    if (scheme > value && leak_char(place, scheme) == ' ' && !has_digit(value, scheme))
        value = scheme + 1;
    const char *end = leak_skip(place, value, in_header, LEAK_FAR);
    if (leak_is_far(value, end) && !has_digit(value, end))
        return leak_gave_up(place);
    if (end - value < 16 || !has_digit(value, end) || mishap_leak_placeholder(value, end) ||
        mishap_leak_is_code(value, end))
        return false;
    return found_secret(place, value, end);
}

/* `requirepass x`, `IDENTIFIED BY 'x'`: the value that follows is the password. */
bool mishap_leak_set_password(mishap_leak_place *place)
{
    const char *value = place->behind;
    if (leak_quote(leak_char(place, value)))
        value++;
    const char *end = leak_skip(place, value, in_value, 128);
    bool command = leak_is(place, place->at, "requirepass") ||
                   leak_is(place, place->at, "sshpass") || value > place->behind ||
                   leak_quote(place->behind[-1]);
    place->steps += 32 + 2 * (size_t)(end - value); /* it is read several times */
    if (end - value < 5 || mishap_leak_placeholder(value, end) || mishap_leak_is_code(value, end) ||
        (!has_digit(value, end) && !command))
        return false;
    return found_secret(place, value, end);
}

/* A line that is base64 and nothing else. */
static bool ends_line(const mishap_leak_place *place, const char *at)
{
    return leak_space(leak_char(place, at));
}

/* `USER x`, then `PASS y`; `AUTH PLAIN` and base64; `a1 LOGIN "x" "y"`. */
bool mishap_leak_mail_login(mishap_leak_place *place)
{
    const char *value = place->behind;
    if (leak_is(place, place->at, "\nPASS ")) {
        const char *near = place->at - place->start > 200 ? place->at - 200 : place->start;
        if (!leak_find(place, near, place->at, "USER "))
            return false;
    } else if (leak_is(place, place->at, " LOGIN")) {
        const char *line = leak_line_end(place, value);
        const char *second = leak_find(place, value, line, "\" \"");
        if (!second)
            return false;
        value = second + 3;
    } else if (leak_is(place, place->at, "334 ")) {
        value = leak_skip(place, value, leak_space, 4);
    }
    const char *end = leak_skip(place, value, in_value, 200);
    if (end - value < 4 || mishap_leak_placeholder(value, end) ||
        (*place->at != ' ' && !ends_line(place, end)))
        return false;
    return found_secret(place, value, end);
}
