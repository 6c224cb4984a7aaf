/* str.format() and % with a known template. Fields that are not simple are refused. */
#include <string.h>

#include "theories/theories.h"

typedef struct template
{
    machine *m;
    const uint32_t *c;
    size_t count, at;
    value *made;
    int line;
}
template;

static _Noreturn void refuse_template(const template *t)
{
    path_unsupported(t->m, t->line, "use an f-string", "a template with more than {} and {:…}");
}

static void add_part(template *t, value *v)
{
    t->made = text_binary(t->m, OP_ADD, t->made, v, t->line);
}

static bool is_digit(uint32_t c)
{
    return c >= '0' && c <= '9';
}

/* -- str.format() --------------------------------------------------------------------------------
 */

/* The argument of a field; NULL: raised. */
static value *argument_of(template *t, size_t from, size_t to, arguments *given, size_t *next)
{
    size_t place = 0;
    bool digits = to > from;
    for (size_t i = from; i < to; i++) {
        uint32_t c = t->c[i];
        if (c == '.' || c == '[' || c > 127)
            refuse_template(t);
        digits = digits && is_digit(c) && place < 1000;
        place = digits ? place * 10 + (c - '0') : place;
    }
    if (to == from || digits) {
        if (to == from && *next == SIZE_MAX)
            return throw(t->m, "ValueError", t->line); /* {} after {0} */
        if (digits && *next != 0 && *next != SIZE_MAX)
            return throw(t->m, "ValueError", t->line);
        place = digits ? place : (*next)++;
        *next = digits ? SIZE_MAX : *next;
        return place < given->places.count ? given->places.at[place]
                                           : throw(t->m, "IndexError", t->line);
    }
    const char *name = value_utf8(t->m, value_str(t->m, t->c + from, to - from));
    for (size_t i = 0; i < given->names.count; i++)
        if (value_says(given->names.at[i], name))
            return given->keywords.at[i];
    return throw(t->m, "KeyError", t->line);
}

static value *converted_by(template *t, value *v, uint32_t how)
{
    return how == 'a' ? text_ascii(t->m, v, t->line) : text_of(t->m, v, how == 'r', t->line);
}

/* From after the { to after the }. False: raised. */
static bool add_field(template *t, arguments *given, size_t *next)
{
    size_t from = t->at, to = from, spec, end;
    while (to < t->count && t->c[to] != '}' && t->c[to] != '!' && t->c[to] != ':')
        if (t->c[to++] == '{')
            refuse_template(t);
    spec = to;
    uint32_t conversion = 0;
    if (to < t->count && t->c[to] == '!') {
        conversion = to + 1 < t->count ? t->c[to + 1] : 0;
        spec = to + 2;
        if ((conversion != 'r' && conversion != 's' && conversion != 'a') || spec >= t->count ||
            (t->c[spec] != ':' && t->c[spec] != '}'))
            refuse_template(t);
    }
    for (end = spec; end < t->count && t->c[end] != '}'; end++)
        if (t->c[end] == '{')
            refuse_template(t);
    if (end >= t->count)
        refuse_template(t);
    value *v = argument_of(t, from, to, given, next);
    v = v && conversion ? converted_by(t, v, conversion) : v;
    size_t begin = end > spec ? spec + 1 : end;
    v = v ? format(t->m, v, value_str(t->m, t->c + begin, end - begin), t->line) : NULL;
    if (!v)
        return false;
    add_part(t, v);
    t->at = end + 1;
    return true;
}

value *text_from_template(machine *m, value *self, arguments *given, int line)
{
    template t = { m, self->str.chars, self->str.count, 0, value_ascii(m, ""), line };
    size_t next = 0;
    while (t.at < t.count) {
        uint32_t c = t.c[t.at++];
        bool twice = t.at < t.count && t.c[t.at] == c;
        if (c == '{' && !twice) {
            if (!add_field(&t, given, &next))
                return NULL;
            continue;
        }
        if (c == '}' && !twice)
            refuse_template(&t);
        t.at += c == '{' || c == '}';
        add_part(&t, value_str(m, &c, 1));
    }
    return t.made;
}

/* -- % -------------------------------------------------------------------------------------------
 */

/* A number in digits; -1: none. */
static int read_size(template *t)
{
    int n = -1;
    for (; t->at < t->count && is_digit(t->c[t->at]); t->at++) {
        n = (n < 0 ? 0 : n * 10) + (int)(t->c[t->at] - '0');
        if (n > 1000)
            refuse_template(t);
    }
    return n;
}

/* One conversion after its %, as a specification of format(). */
static value *converted(template *t, value *v)
{
    machine *m = t->m;
    bool left = false, zeros = false;
    char sign = 0;
    for (; t->at < t->count && strchr("-0+ ", (int)t->c[t->at]) && t->c[t->at]; t->at++) {
        char flag = (char)t->c[t->at];
        left = left || flag == '-';
        zeros = zeros || flag == '0';
        sign = flag == '+' || (flag == ' ' && !sign) ? flag : sign;
    }
    int width = read_size(t), precision = -1;
    if (t->at < t->count && t->c[t->at] == '.') {
        t->at++;
        precision = read_size(t);
        precision = precision < 0 ? 0 : precision;
    }
    uint32_t type = t->at < t->count ? t->c[t->at++] : 0;
    bool words = type == 's' || type == 'r' || type == 'a';
    bool whole = type == 'd' || type == 'i' || type == 'x' || type == 'X' || type == 'o';
    if ((!words && !whole && type != 'f') || (whole && precision >= 0))
        refuse_template(t);
    if (!words && !value_is_number(v)) {
        if (v->kind == V_OBJECT)
            refuse_template(t);
        return throw(m, "TypeError", t->line);
    }
    if (whole && v->kind == V_FLOAT)
        refuse_template(t);
    if (words && !(v = converted_by(t, v, type)))
        return NULL;
    type = type == 'i' ? 'd' : type;
    const char *spec = arena_print(m->arena, "%s%.1s%s",
                                   left              ? "<"
                                   : words || !zeros ? ">"
                                                     : "",
                                   !words && sign ? (char[]){ sign, 0 } : "",
                                   !left && !words && zeros ? "0" : "");
    if (width > 0)
        spec = arena_print(m->arena, "%s%d", spec, width);
    if (precision >= 0)
        spec = arena_print(m->arena, "%s.%d", spec, precision);
    spec = arena_print(m->arena, "%s%c", spec, words ? 's' : (int)type);
    return format(m, v, value_ascii(m, spec), t->line);
}

value *text_percent(machine *m, value *self, value *with, int line)
{
    template t = { m, self->str.chars, self->str.count, 0, value_ascii(m, ""), line };
    values one = { &with, 1, 1 };
    const values *given = with->kind == V_TUPLE ? &with->in.items : &one;
    size_t used = 0;
    if (with->kind == V_DICT || with->kind == V_OBJECT || with->kind == V_LIST)
        path_unsupported(m, line, "use an f-string", "%% formatting of a %s", value_type(with));
    while (t.at < t.count) {
        uint32_t c = t.c[t.at++];
        if (c != '%') {
            add_part(&t, value_str(m, &c, 1));
            continue;
        }
        if (t.at < t.count && t.c[t.at] == '%') {
            t.at++;
            add_part(&t, value_ascii(m, "%"));
            continue;
        }
        if (used == given->count) {
            size_t end = t.at; /* an incomplete conversion is a ValueError */
            while (end < t.count && !(t.c[end] >= 'a' && t.c[end] <= 'z'))
                end++;
            if (end == t.count)
                refuse_template(&t);
            return throw(m, "TypeError", line);
        }
        value *v = converted(&t, given->at[used++]);
        if (!v)
            return NULL;
        add_part(&t, v);
    }
    return used == given->count ? t.made : throw(m, "TypeError", line);
}
