/* Checks for traces of Python, JavaScript, Ruby, PHP, Perl and Lua. */
#include "guard/rules.h"

/* Between the quotation marks of a file's name. */
static bool in_file_name(char c)
{
    return !leak_quote(c) && c != '\n' && c != '\r';
}

/* A file's name without blanks, or an address. */
static bool in_path(char c)
{
    return (unsigned char)c > ' ' && !leak_quote(c) && c != '(' && c != ')' && c != '<' &&
           c != '>' && c != ',' && c != ';';
}

bool mishap_leak_data_file(const char *from, const char *to)
{
    static const char *const ends[] = { ".csv",  ".tsv", ".txt", ".xls", ".xlsx", ".ods",
                                        ".json", ".xml", ".pdf", ".md",  ".log",  NULL };
    for (size_t i = 0; ends[i]; i++) {
        size_t length = strlen(ends[i]), j = 0;
        if ((size_t)(to - from) <= length)
            continue;
        while (j < length && (to[(ptrdiff_t)j - (ptrdiff_t)length] | 32) == (ends[i][j] | 32))
            j++;
        if (j == length)
            return true;
    }
    return false;
}

/* `File "NAME", line 12`; the literal is `, line 1`. A file of data has no `in NAME` behind it. */
bool mishap_leak_python_frame(mishap_leak_place *place)
{
    if (place->at == place->start || !leak_quote(place->at[-1]))
        return false;
    const char *name = leak_skip_back(place, place->at - 1, in_file_name, LEAK_FAR);
    if (!leak_ends(place, name, "File \"") && !leak_ends(place, name, "File '"))
        return leak_is_far(name, place->at - 1) && leak_gave_up(place);
    const char *name_end = place->at - 1;
    place->from = name - 6;
    place->to = leak_skip(place, place->behind, leak_digit, 9);
    if (leak_is(place, place->to, ", in "))
        return true;
    bool plain = true; /* one word: no path, no suffix, no <stdin> */
    for (const char *c = name; c < name_end; c++)
        plain = plain && *c != '.' && *c != '/' && *c != '\\' && *c != '<';
    return !plain && !mishap_leak_data_file(name, name_end);
}

/* `file "NAME", line 12, characters 3-9`. */
bool mishap_leak_ocaml_frame(mishap_leak_place *place)
{
    if (place->at == place->start || !leak_quote(place->at[-1]))
        return false;
    const char *name = leak_skip_back(place, place->at - 1, in_file_name, LEAK_FAR);
    const char *behind = leak_skip(place, place->behind, leak_digit, 9);
    if (!leak_is(place, behind, ", character"))
        return false;
    if (!leak_ends(place, name, "ile \""))
        return leak_is_far(name, place->at - 1) && leak_gave_up(place);
    place->from = name - 6 < place->start ? place->start : name - 6;
    place->to = behind;
    return true;
}

/* -- JavaScript -------------------------------------------------------------------------------- */

/* Behind `:12:5`, which stands here; NULL if it does not. */
static const char *line_and_column(mishap_leak_place *place, const char *at)
{
    if (leak_char(place, at) != ':' || !leak_digit(leak_char(place, at + 1)))
        return NULL;
    at = leak_skip(place, at + 1, leak_digit, 9);
    if (leak_char(place, at) != ':' || !leak_digit(leak_char(place, at + 1)))
        return NULL;
    return leak_skip(place, at + 1, leak_digit, 9);
}

/* Does a place of V8 end here: `NAME:12:5` where NAME has a letter, and a point, a slash or node:
 * before? A time of day does not. */
static bool ends_in_place(mishap_leak_place *place, const char *from, const char *to)
{
    const char *at = leak_skip_back(place, to, leak_digit, 9);
    if (at == to || at - from < 4 || at[-1] != ':')
        return false;
    const char *line = leak_skip_back(place, at - 1, leak_digit, 9);
    if (line == at - 1 || line - from < 3 || line[-1] != ':')
        return false;
    bool letter = false, point = false;
    if (mishap_leak_data_file(from, line - 1))
        return false;
    for (const char *c = from; c < line - 1; c++) {
        letter = letter || leak_letter(*c);
        point = point || *c == '.' || *c == '/' || *c == '>' || *c == '\\';
    }
    place->steps += (size_t)(line - from);
    return letter &&
           (point || leak_is(place, from, "node:") || leak_is(place, from, "evalmachine"));
}

/* What stands in the parentheses of a frame. */
static bool is_v8_place(mishap_leak_place *place, const char *from, const char *to)
{
    return ends_in_place(place, from, to) || leak_is(place, from, "<anonymous>)") ||
           leak_is(place, from, "native)") || leak_is(place, from, "wasm:") ||
           (leak_is(place, from, "index ") && leak_digit(leak_char(place, from + 6))) ||
           leak_is(place, from, "eval at ");
}

static bool in_v8_name(char c)
{
    return leak_word(c) || c == '.' || c == '$' || c == '<' || c == '>' || c == '#' || c == '[' ||
           c == ']';
}

static bool not_close(char c)
{
    return c != ')' && c != '\n';
}

/* `at NAME (PLACE)`, `at async NAME (PLACE)`, `at new NAME (PLACE)`, `at NAME [as OTHER] (PLACE)`,
 * `at PLACE`. */
bool mishap_leak_v8_frame(mishap_leak_place *place)
{
    const char *at = place->behind - 1;
    if (leak_is(place, at, "async "))
        at += 6;
    if (leak_is(place, at, "new "))
        at += 4;
    const char *end = leak_skip(place, at, in_path, LEAK_FAR);
    if (end - at > 6 && leak_digit(end[-1]) && ends_in_place(place, at, end)) {
        place->to = end;
    } else if (leak_is_far(at, end)) {
        return leak_gave_up(place);
    } else {
        const char *name = at;
        at = leak_skip(place, at, in_v8_name, 160);
        if (leak_is(place, at, " [as "))
            at = leak_skip(place, at + 5, in_v8_name, 120);
        if (at == name || !leak_is(place, at, " ("))
            return false;
        end = leak_skip(place, at + 2, not_close, LEAK_FAR);
        if (leak_is_far(at + 2, end))
            return leak_gave_up(place);
        if (!is_v8_place(place, at + 2, end)) { /* the address may have parentheses in it */
            const char *line = leak_line_end(place, at);
            end = line > at ? memrchr(at, ')', (size_t)(line - at)) : NULL;
            if (!end || !ends_in_place(place, at + 2, end))
                return false;
        }
        place->to = leak_char(place, end) == ')' ? end + 1 : end;
    }
    place->from = place->behind - 4;
    if (place->from < place->start)
        place->from = place->start;
    return true;
}

/* `NAME@ADDRESS:12:5` of Firefox and Safari; the literal is `.js:1`. */
bool mishap_leak_at_sign_frame(mishap_leak_place *place)
{
    const char *colon = place->behind - 2;
    const char *end = line_and_column(place, colon);
    if (!end || leak_word(leak_char(place, end)))
        return false;
    const char *from = leak_skip_back(place, colon, in_path, LEAK_FAR);
    const char *sign = memchr(from, '@', (size_t)(colon - from));
    if (!sign && leak_is_far(from, colon))
        return leak_gave_up(place);
    if (!sign || !(leak_is(place, sign + 1, "http") || leak_is(place, sign + 1, "file:") ||
                   leak_is(place, sign + 1, "/") || leak_is(place, sign + 1, "webpack") ||
                   leak_is(place, sign + 1, "resource:") || leak_is(place, sign + 1, "moz-ext")))
        return false;
    place->from = from;
    place->to = end;
    return true;
}

/* -- Ruby -------------------------------------------------------------------------------------- */

/* `FILE:12:in 'NAME'`; the literal is `:in '`. */
bool mishap_leak_ruby_frame(mishap_leak_place *place)
{
    const char *digits = leak_skip_back(place, place->at, leak_digit, 9);
    if (digits == place->at || digits - place->start < 3 || digits[-1] != ':')
        return false;
    const char *from = leak_skip_back(place, digits - 1, in_path, LEAK_FAR);
    if (digits - 1 - from < 2)
        return leak_ends(place, digits - 1, ">") || leak_ends(place, digits - 1, ")");
    place->from = from;
    return true;
}

/* -- PHP --------------------------------------------------------------------------------------- */

/* `#0 /srv/a.php(12): f()`; the literal is `.php(1`. */
bool mishap_leak_php_frame(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, leak_digit, 9);
    if (!leak_is(place, end, "): ") && !leak_is(place, end, ") : "))
        return false;
    place->from = leak_skip_back(place, place->at, in_path, LEAK_FAR);
    place->to = end + 1;
    return true;
}

/* `#1 {main}`, `#3 [internal function]`. */
bool mishap_leak_php_main(mishap_leak_place *place)
{
    const char *digits = leak_skip_back(place, place->at, leak_digit, 4);
    if (digits == place->at || digits == place->start || digits[-1] != '#')
        return false;
    place->from = digits - 1;
    return true;
}

/* `… in /srv/a.php on line 12`, `… in a.php:12`; the literal is ` on line 1`. */
bool mishap_leak_php_error(mishap_leak_place *place)
{
    const char *from = leak_skip_back(place, place->at, in_path, LEAK_FAR);
    if (!leak_ends(place, from, " in ") || from == place->at)
        return leak_is_far(from, place->at) && leak_gave_up(place);
    const char *point = memrchr(from, '.', (size_t)(place->at - from));
    const char *slash = memchr(from, '/', (size_t)(place->at - from));
    if (!slash && !(point && place->at - point <= 6))
        return leak_ends(place, place->at, "code") || leak_ends(place, place->at, "\\");
    place->from = from - 3;
    place->to = leak_skip(place, place->behind, leak_digit, 9);
    return true;
}

/* -- Perl, Lua --------------------------------------------------------------------------------- */

/* `… at /srv/a.pl line 12.`; the literal is ` line 1`. */
bool mishap_leak_perl_frame(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, leak_digit, 9);
    const char *from = leak_skip_back(place, place->at, in_path, LEAK_FAR);
    if (leak_ends(place, place->at, ")")) /* (eval 12) */
        from = place->at - 9 > place->start && leak_find(place, place->at - 9, place->at, "(eval ")
                   ? leak_find(place, place->at - 9, place->at, "(eval ")
                   : place->at;
    if (leak_is_far(from, place->at))
        return leak_gave_up(place);
    if (from == place->at ||
        (!leak_ends(place, from, " at ") && !leak_ends(place, from, " at template ")))
        return false;
    if (!leak_is(place, from, "/") && !leak_is(place, from, "-e ") &&
        !leak_is(place, from, "(eval ") && !leak_ends(place, place->at, ".pl") &&
        !leak_ends(place, place->at, ".pm") && !leak_ends(place, place->at, ".t") &&
        !leak_ends(place, place->at, ".ep") && !leak_ends(place, place->at, ".tt") &&
        !leak_ends(place, place->at, ".cgi") && !leak_ends(place, place->at, ".psgi") &&
        leak_char(place, from + 1) != ':')
        return false;
    char next = leak_char(place, end);
    if (next != '.' && next != ',' && !leak_space(next) && !leak_quote(next))
        return false;
    place->from = from - 3;
    place->to = end;
    return true;
}

/* `lua: a.lua:12: …`, `a.lua:12: in function 'f'`; the literal is `.lua:1`. */
bool mishap_leak_lua_frame(mishap_leak_place *place)
{
    const char *end = leak_skip(place, place->behind, leak_digit, 9);
    if (!leak_is(place, end, ": "))
        return false;
    place->from = leak_skip_back(place, place->at, in_path, LEAK_FAR);
    place->to = end;
    return true;
}

/* `Error in f(x) : object 'y' not found`. */
bool mishap_leak_r_error(mishap_leak_place *place)
{
    const char *line = leak_line_end(place, place->behind);
    const char *most = line - place->behind > 160 ? place->behind + 160 : line;
    const char *open = leak_find(place, place->behind, most, "(");
    const char *close = open ? leak_find(place, open, most, ") : ") : NULL;
    if (open && leak_is(place, open, "(line ")) /* of MATLAB */
        close = leak_find(place, open, most, ")");
    const char *name_end = open;
    if (close && open > place->behind && leak_is(place, open, "(line "))
        name_end--;
    if (!close || memchr(place->behind, ' ', (size_t)(name_end - place->behind)))
        return false;
    place->to = close + 1;
    return true;
}
