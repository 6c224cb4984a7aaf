/*
 * The layout of strs and ints: padding, bin() and the like, format specifications. The path forks
 * on the number of digits of an int; then each digit is a term.
 */
#include <string.h>

#include "base/base.h"
#include "theories/theories.h"
#include "machine/terms.h"

enum { MOST_DIGITS = 64, MOST_WIDTH = 256 };

static value *plus(machine *m, value *l, value *r)
{
    return text_binary(m, OP_ADD, l, r, m->line);
}

static value *repeated(machine *m, uint32_t c, int64_t count)
{
    uint32_t *chars = arena_take(m->arena, (size_t)(count < 0 ? 0 : count) * sizeof *chars + 4);
    for (int64_t i = 0; i < count; i++)
        chars[i] = c;
    return value_str(m, chars, count < 0 ? 0 : (size_t)count);
}

/* -- padding -------------------------------------------------------------------------------------
 */

/* The requested width of the text; false: raised. */
static bool is_width(machine *m, value *v, size_t length, int64_t *width, int line)
{
    if (!value_is_integral(v)) {
        throw(m, "TypeError", line);
        return false;
    }
    if (!is_index(m, v, line))
        return false;
    *width = 0;
    value *few = settled_int(m, v);
    if (!few &&
        path_decide(m, Z3_mk_le(m->solver->z, value_int_term(m, v), term_int(m, (int64_t)length)),
                    true))
        return true;
    if (!few || !value_whole(few, width))
        path_unsupported(m, line, "pad to a constant width", "a width that is not known");
    if (*width > MOST_CONCRETE_CHARS)
        path_bound(m, "the size of a str");
    return true;
}

static bool is_sign(machine *m, const value *self)
{
    Z3_context z = m->solver->z;
    if (self->str.count == 0)
        return false;
    Z3_ast first = value_codes(m, self)[0];
    return path_decide(m,
                       Z3_mk_or(z, 2,
                                (Z3_ast[]){ Z3_mk_eq(z, first, term_int(m, '+')),
                                            Z3_mk_eq(z, first, term_int(m, '-')) }),
                       false);
}

static value *padded(machine *m, value *self, const char *name, arguments *given, int line)
{
    int64_t width, length = (int64_t)self->str.count;
    bool zeros = is_word(name, "zfill");
    if (!arguments_fit(m, given, 1, zeros ? 1 : 2, line) ||
        !is_width(m, given->places.at[0], self->str.count, &width, line))
        return NULL;
    value *fill = given->places.count > 1 ? given->places.at[1] : value_ascii(m, " ");
    if (fill->kind != V_STR)
        return throw(m, "TypeError", line);
    fill = text_settled(m, fill);
    if (fill->str.count != 1)
        return throw(m, "TypeError", line);
    int64_t more = width - length;
    if (more <= 0)
        return self;
    if (zeros) {
        value *pad = repeated(m, '0', more);
        if (!is_sign(m, self))
            return plus(m, pad, self);
        value *rest = letters_part(m, self, 1, self->str.count - 1);
        return plus(m, plus(m, letters_part(m, self, 0, 1), pad), rest);
    }
    int64_t left = is_word(name, "ljust")   ? 0
                   : is_word(name, "rjust") ? more
                                            : more / 2 + (more & width & 1);
    value *sides[] = { repeat(m, fill, value_int(m, left), line),
                       repeat(m, fill, value_int(m, more - left), line) };
    return plus(m, plus(m, sides[0], self), sides[1]);
}

static value *without_tabs(machine *m, const value *self, arguments *given, int line)
{
    Z3_context z = m->solver->z;
    value *named = keyword_argument(given, "tabsize");
    int64_t size = 8, column = 0;
    if (!arguments_fit(m, given, 0, named ? 0 : 1, line))
        return NULL;
    value *told = named ? named : given->places.count ? given->places.at[0] : value_int(m, 8);
    if (!value_is_integral(told))
        return throw(m, "TypeError", line);
    if (!value_whole(told, &size) || size > MOST_WIDTH || size < -MOST_WIDTH)
        path_unsupported(m, line, "use a small constant", "expandtabs() to such a size");
    value *made = value_ascii(m, "");
    const Z3_ast *codes = value_codes(m, self);
    for (size_t i = 0; i < self->str.count; i++) {
        if (path_decide(m, Z3_mk_eq(z, codes[i], term_int(m, '\t')), false)) {
            int64_t more = size > 0 ? size - column % size : 0;
            made = plus(m, made, repeated(m, ' ', more));
            column += more;
            continue;
        }
        Z3_ast ends[] = { Z3_mk_eq(z, codes[i], term_int(m, '\n')),
                          Z3_mk_eq(z, codes[i], term_int(m, '\r')) };
        column = path_decide(m, Z3_mk_or(z, 2, ends), false) ? 0 : column + 1;
        made = plus(m, made, letters_part(m, self, i, 1));
    }
    return made;
}

static value *translated(machine *m, const value *self, value *table, int line)
{
    value *made = value_ascii(m, "");
    if (table->kind != V_DICT)
        path_unsupported(m, line, "use a dict", "translate() by a %s", value_type(table));
    for (size_t i = 0; i < self->str.count; i++) {
        value *one = letters_part(m, self, i, 1);
        value *code = one->known ? value_int(m, one->str.chars[0]) : text_ord(m, one, line);
        long place = find_key(m, table, code, line);
        value *to = place >= 0 ? table->in.others.at[place] : NULL;
        if (place == -2)
            return NULL;
        if (to && value_is_integral(to))
            to = text_chr(m, to, line);
        else if (to && to->kind != V_STR && to->kind != V_NONE)
            to = throw(m, "TypeError", line);
        if (m->raised)
            return NULL;
        if (!to || to->kind == V_STR)
            made = plus(m, made, to ? to : one);
    }
    return made;
}

value *text_layout(machine *m, value *self, const char *name, arguments *given, int line)
{
    if (!self->known && !self->str.codes)
        return NULL;
    if (is_word(name, "expandtabs"))
        return without_tabs(m, self, given, line);
    if (given->names.count)
        return NULL;
    if (is_word(name, "zfill") || is_word(name, "ljust") || is_word(name, "rjust") ||
        is_word(name, "center"))
        return padded(m, self, name, given, line);
    if (is_word(name, "translate"))
        return arguments_fit(m, given, 1, 1, line) ? translated(m, self, given->places.at[0], line)
                                                   : NULL;
    return NULL;
}

/* -- digits --------------------------------------------------------------------------------------
 */

/* The digits of an int that is not negative; the path forks on their number. */
static value *digits_of(machine *m, Z3_ast size, int base, bool capitals)
{
    Z3_context z = m->solver->z;
    Z3_ast powers[MOST_DIGITS + 1] = { m->solver->one }, radix = term_int(m, base);
    size_t count = 0;
    do {
        if (count == MOST_DIGITS)
            path_bound(m, "the number of digits of an int");
        Z3_ast factors[] = { powers[count++], radix };
        powers[count] = Z3_simplify(z, Z3_mk_mul(z, 2, factors));
    } while (!path_decide(m, Z3_mk_lt(z, size, powers[count]), true));
    Z3_ast codes[MOST_DIGITS], digits[MOST_DIGITS];
    letters_digits(m, size, base, count, digits);
    for (size_t i = 0; i < count; i++) {
        Z3_ast digit = digits[i];
        Z3_ast plain = Z3_mk_add(z, 2, (Z3_ast[]){ digit, term_int(m, '0') });
        Z3_ast letter = Z3_mk_add(z, 2,
                                  (Z3_ast[]){ digit, term_int(m, (capitals ? 'A' : 'a') - 10) });
        codes[i] = base <= 10 ? plain
                              : Z3_mk_ite(z, Z3_mk_lt(z, digit, term_int(m, 10)), plain, letter);
    }
    return value_letters(m, codes, count);
}

/* The sign and the absolute value of an int: the path forks on the sign. */
static bool is_minus(machine *m, const value *v, Z3_ast *size)
{
    Z3_context z = m->solver->z;
    Z3_ast term = value_int_term(m, v);
    bool minus = path_decide(m, Z3_mk_lt(z, term, m->solver->zero), false);
    *size = minus ? Z3_mk_unary_minus(z, term) : term;
    return minus;
}

value *int_in_base(machine *m, value *v, int base)
{
    Z3_ast size;
    bool minus = is_minus(m, v, &size);
    value *prefix = value_ascii(m, base == 2 ? "0b" : base == 8 ? "0o" : "0x");
    value *made = plus(m, prefix, digits_of(m, size, base, false));
    return minus ? plus(m, value_ascii(m, "-"), made) : made;
}

/* -- format specifications -----------------------------------------------------------------------
 */

typedef struct layout {
    uint32_t fill;
    char align, sign, group, type; /* 0: not given */
    bool other;                    /* # or z */
    int64_t width, precision;      /* -1: not given */
} layout;

static bool is_align(uint32_t c)
{
    return c == '<' || c == '>' || c == '=' || c == '^';
}

static int64_t read_number(const value *spec, size_t *at)
{
    int64_t n = -1;
    for (; *at < spec->str.count && spec->str.chars[*at] >= '0' && spec->str.chars[*at] <= '9';
         ++*at)
        n = (n < 0                     ? 0
             : n > MOST_CONCRETE_CHARS ? n
                                       : n * 10) +
            (int64_t)spec->str.chars[*at] - '0';
    return n;
}

/* Python has checked the specification before. */
static layout read_layout(const value *spec)
{
    const uint32_t *c = spec->str.chars;
    size_t count = spec->str.count, at = 0;
    layout l = { .fill = ' ', .precision = -1 };
    if (count >= 2 && is_align(c[1])) {
        l.fill = c[0];
        l.align = (char)c[1];
        at = 2;
    } else if (count >= 1 && is_align(c[0])) {
        l.align = (char)c[at++];
    }
    bool filled = at == 2;
    if (at < count && (c[at] == '+' || c[at] == '-' || c[at] == ' '))
        l.sign = (char)c[at++];
    while (at < count && (c[at] == 'z' || c[at] == '#')) {
        l.other = true;
        at++;
    }
    if (at < count && c[at] == '0') {
        l.fill = filled ? l.fill : '0';
        l.align = l.align ? l.align : '=';
        at++;
    }
    l.width = read_number(spec, &at);
    if (at < count && (c[at] == ',' || c[at] == '_'))
        l.group = (char)c[at++];
    if (at < count && c[at] == '.') {
        at++;
        l.precision = read_number(spec, &at);
    }
    if (at < count)
        l.type = (char)c[at++];
    l.other = l.other || at < count; /* Python 3.14 has further options */
    return l;
}

static value *grouped(machine *m, const value *digits, const layout *l)
{
    size_t size = l->type == 'b' || l->type == 'o' || l->type == 'x' || l->type == 'X' ? 4 : 3;
    value *made = value_ascii(m, "");
    for (size_t i = 0; i < digits->str.count; i++) {
        if (l->group && i > 0 && (digits->str.count - i) % size == 0)
            made = plus(m, made, repeated(m, (uint32_t)l->group, 1));
        made = plus(m, made, letters_part(m, digits, i, 1));
    }
    return made;
}

static value *aligned(machine *m, const layout *l, char otherwise, value *sign, value *rest)
{
    char align = l->align ? l->align : otherwise;
    int64_t more = l->width - (int64_t)sign->str.count - (int64_t)rest->str.count;
    more = more < 0 ? 0 : more;
    int64_t left = align == '<' ? 0 : align == '^' ? more / 2 : more;
    value *before = repeated(m, l->fill, left), *after = repeated(m, l->fill, more - left);
    if (align == '=')
        return plus(m, plus(m, sign, before), rest);
    return plus(m, plus(m, before, plus(m, sign, rest)), after);
}

static value *sign_of(machine *m, const layout *l, bool minus)
{
    return value_ascii(m, minus ? "-" : l->sign == '+' ? "+" : l->sign == ' ' ? " " : "");
}

/* Digits with a point before the last `places`. */
static value *with_point(machine *m, const value *digits, int64_t places, const layout *l)
{
    size_t count = digits->str.count, after = (size_t)places;
    value *whole = count > after ? letters_part(m, digits, 0, count - after) : value_ascii(m, "0");
    value *rest = count > after ? letters_part(m, digits, count - after, after)
                                : plus(m, repeated(m, '0', (int64_t)(after - count)),
                                       letters_part(m, digits, 0, count));
    value *made = grouped(m, whole, l);
    return places ? plus(m, plus(m, made, value_ascii(m, ".")), rest) : made;
}

/* A float that is above / below, in fixed notation. */
static value *fixed(machine *m, const layout *l, Z3_ast above, Z3_ast below, int line)
{
    Z3_context z = m->solver->z;
    bool percent = l->type == '%';
    int64_t places = l->precision < 0 ? 6 : l->precision;
    bool minus = path_decide(m, Z3_mk_lt(z, above, m->solver->zero), false);
    Z3_ast size = minus ? Z3_mk_unary_minus(z, above) : above;
    size = quotient_rounded(m, size, below, places + (percent ? 2 : 0), line);
    value *digits = digits_of(m, solver_simplify(m->solver, size), 10, false);
    value *made = with_point(m, digits, places, l);
    made = percent ? plus(m, made, value_ascii(m, "%")) : made;
    return aligned(m, l, '>', sign_of(m, l, minus), made);
}

static value *int_laid_out(machine *m, value *v, const layout *l, int line)
{
    int base = l->type == 'b' ? 2 : l->type == 'o' ? 8 : l->type == 'x' || l->type == 'X' ? 16 : 10;
    if (l->type == 'f' || l->type == 'F' || l->type == '%')
        return fixed(m, l, value_int_term(m, v), m->solver->one, line);
    if ((l->type && !strchr("dboxX", l->type)) || l->precision >= 0)
        path_unsupported(m, line, "use d, b, o, x, X, f or %", "this format of an int");
    if (l->group && l->align == '=' && l->fill == '0')
        path_unsupported(m, line, "pad without separators", "zeros with separators");
    Z3_ast size, narrow = m->solver->one;
    bool minus = is_minus(m, v, &size);
    for (int64_t i = 0; i < l->width; i++)
        narrow = Z3_mk_mul(m->solver->z, 2, (Z3_ast[]){ narrow, term_int(m, 10) });
    /* It needs no padding, so the number of digits does not matter. */
    if (base == 10 && !l->group && !path_decide(m, Z3_mk_lt(m->solver->z, size, narrow), true))
        return plus(m, minus ? value_ascii(m, "") : sign_of(m, l, false),
                    text_of(m, value_of_int(m, value_int_term(m, v)), false, line));
    value *digits = digits_of(m, size, base, l->type == 'X');
    return aligned(m, l, '>', sign_of(m, l, minus), grouped(m, digits, l));
}

/* Check a specification for such a value. False: raised. */
static bool is_good_layout(machine *m, value *example, value *spec, int line)
{
    values given = { (value *[]){ example, spec }, 2, 2 };
    return bridge(m, "format(a, b)", &given, line) != NULL;
}

value *text_format(machine *m, value *v, value *spec, int line)
{
    bool is_text = v->kind == V_STR;
    value *example = is_text                ? value_ascii(m, "a")
                     : v->kind == V_FLOAT   ? value_float(m, 1)
                     : value_is_integral(v) ? value_int(m, 1)
                                            : NULL;
    if (!example && (v->kind == V_NONE || v->kind == V_LIST || v->kind == V_TUPLE ||
                     v->kind == V_DICT || v->kind == V_SET))
        return throw(m, "TypeError", line);
    if (!example)
        path_unsupported(m, line, "use plain {x}", "a format of a %s", value_type(v));
    /* Not longer than what is tried at once. */
    for (size_t i = 0, digits = 0; i < spec->str.count; i++) {
        digits = spec->str.chars[i] >= '0' && spec->str.chars[i] <= '9' ? digits + 1 : 0;
        if (digits > 4)
            path_bound(m, "the size of a str");
    }
    if (!is_good_layout(m, example, spec, line))
        return NULL;
    layout l = read_layout(spec);
    if (l.other || l.width > MOST_WIDTH)
        path_unsupported(m, line, "use a plain format", "# or z in a format, or a big width");
    if (is_text) {
        v = text_settled(m, v);
        l.align = l.align == '=' ? '<' : l.align; /* the 0 before the width */
        if (l.precision >= 0 && (size_t)l.precision < v->str.count)
            v = letters_part(m, v, 0, (size_t)l.precision);
        return aligned(m, &l, '<', value_ascii(m, ""), v);
    }
    if (value_is_integral(v))
        return int_laid_out(m, v, &l, line);
    if (!value_is_quotient(v) || !Z3_is_numeral_ast(m->solver->z, v->below) ||
        (l.type != 'f' && l.type != 'F' && l.type != '%'))
        path_unsupported(m, line, "format ints, or a quotient of an int and a constant with f or %",
                         "a format of a float that is not known");
    if (v->flipped && path_decide(m, Z3_mk_eq(m->solver->z, v->above, m->solver->zero), false))
        path_unsupported(m, line, "divide by a positive number", "a format of zero or minus zero");
    return fixed(m, &l, v->above, v->below, line);
}
