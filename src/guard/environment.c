/* Checks for dumps of the environment: several variables beside each other, or the search path. */
#include "guard/rules.h"

static bool in_variable(char c)
{
    return leak_upper(c) || leak_digit(c) || c == '_';
}

static bool in_list(char c)
{
    return (unsigned char)c > ' ' && !leak_quote(c) && c != '<' && c != ',' && c != ';' &&
           c != '\\';
}

/* Where the value of a variable begins, given the end of its name: `=x`, `": "x"`, `] => x`, ` =
 * x`,
 * `"]=>\n  string(3) "x"`, or a tab as between the cells of a table; NULL if there is none. */
static const char *variable_value(mishap_leak_place *place, const char *end)
{
    const char *at = end;
    for (int i = 0; i < 2 && (leak_quote(leak_char(place, at)) || leak_char(place, at) == ']'); i++)
        at++;
    const char *sign = leak_skip(place, at, leak_blank, 8);
    char c = leak_char(place, sign);
    bool quoted = at > end;
    if (c == '=' || (c == ',' && quoted) ||
        (c == ':' && (quoted || leak_char(place, sign + 1) == ' '))) {
        at = sign + 1;
        if (leak_char(place, at) == '>')
            at++;
        at = leak_skip(place, at, leak_space, 8);
        if (leak_is(place, at, "string("))
            at = leak_skip(place, at + 7, leak_digit, 9) + 2;
        if (leak_quote(leak_char(place, at)))
            at++;
        else if (c == ':' && !quoted)
            return NULL;
        return at < place->end ? at : NULL;
    }
    return sign > at && memchr(at, '\t', (size_t)(sign - at)) ? sign : NULL;
}

/* `PATH=/usr/local/bin:/usr/bin`: two folders or more, one of them of programs. `$PATH` in it is a
 * line of a shell, as documentation has it. */
bool mishap_leak_search_path(mishap_leak_place *place)
{
    const char *name_end = place->at;
    while (name_end < place->behind && !in_variable(*name_end))
        name_end++;
    const char *name = name_end;
    while (name_end < place->behind && in_variable(*name_end))
        name_end++;
    const char *value = variable_value(place, name_end);
    if (!value || leak_char(place, value) != '/' || leak_word(leak_char(place, name - 1)))
        return false;
    const char *colon = memchr(value, ':',
                               place->end - value > 128 ? 128 : (size_t)(place->end - value));
    if (!colon || leak_char(place, colon + 1) != '/')
        return false;
    const char *end = leak_skip(place, value, in_list, 256);
    if (!leak_find(place, value, end, "bin") || !leak_find(place, value, end, ":/") ||
        memchr(value, '$', (size_t)(end - value)))
        return false;
    place->from = name;
    place->to = end;
    place->secret = value;
    place->secret_end = end;
    return true;
}

/* `"code":"NOT_FOUND","id"`, given the end of the word and what follows: the word is a value
 * itself, unless its own value stands beside it, as in `"name":"HOME","value":"/root"`. */
static bool is_of_object(mishap_leak_place *place, const char *name, const char *end,
                         const char *next)
{
    const char *at = name - 1;
    if (!leak_quote(leak_char(place, at)) || !memchr(end, ',', (size_t)(next - end)) ||
        leak_is(place, next, "value") || leak_is(place, next, "Value"))
        return false;
    while (leak_space(leak_char(place, at - 1)))
        at--;
    return leak_char(place, at - 1) == ':';
}

/* A name of a variable that stands beside at least three other variables. */
bool mishap_leak_variables(mishap_leak_place *place)
{
    enum { AROUND = 160, WANTED = 4 };
    const char *from = place->at - place->start > AROUND ? place->at - AROUND : place->start;
    const char *to = place->end - place->behind > AROUND ? place->behind + AROUND : place->end;
    const char *first = NULL, *first_value = NULL, *last = NULL;
    int count = 0;
    place->steps += 2 * (size_t)(to - from);
    for (const char *at = from; at < to;) {
        const char *name = at;
        if (!leak_upper(*at)) {
            at++;
            continue;
        }
        while (at < to && in_variable(*at))
            at++;
        const char *value = variable_value(place, at);
        char before = leak_char(place, name - 1);
        if (at - name < 2 || !value || leak_word(before) || before == '-' || before == '&' ||
            before == '?' || before == '$' || is_of_object(place, name, at, value))
            continue;
        if (name > place->at && !first)
            return false;
        count++;
        last = value;
        if (!first) {
            first = name;
            first_value = value;
        }
    }
    if (count < WANTED)
        return false;
    const char *end = leak_skip(place, last, in_list, 120);
    place->from = first;
    place->to = end;
    place->secret = first_value;
    place->secret_end = end;
    return true;
}
