/*
 * Characters of strs that are not known: which are digits, letters, blanks; upper and lower case.
 * For ASCII this is exact, and for blanks. Of other characters it is a guess: see path_guess().
 */
#include <stdio.h>
#include <string.h>

#include "machine/machine.h"

static const char rewrite[] = "allow ASCII characters only, as in s.isascii()";

static Z3_ast letter(machine *m, unsigned c)
{
    char escaped[16];
    snprintf(escaped, sizeof escaped, "\\u{%x}", c);
    return Z3_mk_string(m->solver->z, escaped);
}

static Z3_ast any_of(machine *m, const Z3_ast *terms, unsigned count)
{
    return count == 1 ? terms[0] : Z3_mk_or(m->solver->z, count, terms);
}

static Z3_ast in_range(machine *m, Z3_ast c, unsigned from, unsigned to)
{
    Z3_context z = m->solver->z;
    Z3_ast ends[] = { Z3_mk_str_le(z, letter(m, from), c), Z3_mk_str_le(z, c, letter(m, to)) };
    return Z3_mk_and(z, 2, ends);
}

/* Ranges as pairs of characters: "09az". */
static Z3_ast in_ranges(machine *m, Z3_ast c, const char *ranges)
{
    Z3_ast terms[16];
    unsigned count = 0;
    for (; ranges[0] && count < 16; ranges += 2)
        terms[count++] = in_range(m, c, (unsigned char)ranges[0], (unsigned char)ranges[1]);
    return any_of(m, terms, count);
}

static Z3_ast is_ascii(machine *m, Z3_ast c)
{
    return Z3_mk_str_le(m->solver->z, c, letter(m, 127));
}

static Z3_ast is_blank(machine *m, Z3_ast c)
{
    static const unsigned blanks[] = { 9,      10,     11,     12,     13,     28,
                                       29,     30,     31,     32,     0x85,   0xa0,
                                       0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004,
                                       0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a,
                                       0x2028, 0x2029, 0x202f, 0x205f, 0x3000 };
    enum { COUNT = sizeof blanks / sizeof *blanks };
    Z3_ast terms[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        terms[i] = Z3_mk_eq(m->solver->z, c, letter(m, blanks[i]));
    return any_of(m, terms, COUNT);
}

void text_characters(machine *m, value *of, values *out, int line)
{
    enum { MOST = 8 }; /* more are beyond the solvers */
    cursor at = { 0 };
    value *c;
    *out = (values){ 0 };
    while ((c = item_next(m, of, &at, line))) {
        values_add(m, out, c);
        if (out->count > MOST && !of->known)
            path_bound(m, "the number of characters of a str");
    }
}

value *text_is_blank(machine *m, value *c)
{
    return value_of_bool(m, is_blank(m, value_term(m, c)));
}

/* -- isdigit() and the like -------------------------------------------------------------------- */

static const struct {
    const char *name, *ranges;
} classes[] = { { "isdigit", "09" },
                { "isdecimal", "09" },
                { "isnumeric", "09" },
                { "isalpha", "AZaz" },
                { "isalnum", "09AZaz" } };

/* Each character of a class, and at least one. */
static value *all_in(machine *m, const values *chars, const char *name, const char *ranges)
{
    Z3_context z = m->solver->z;
    value *result = value_bool(m, chars->count > 0);
    const char *what = arena_print(m->kept, "str.%s of characters that are not ASCII", name);
    for (size_t i = 0; i < chars->count; i++) {
        Z3_ast c = value_term(m, chars->at[i]);
        Z3_ast other = path_guess(m, m->solver->bools, what, rewrite, c, NULL);
        Z3_ast one = Z3_mk_ite(z, is_ascii(m, c), in_ranges(m, c, ranges), other);
        result = both(m, result, value_of_bool(m, one));
    }
    return result;
}

/* isupper(): an upper-case letter and no lower-case one; islower() the other way around. */
static value *cased(machine *m, value *self, const values *chars, bool upper)
{
    Z3_context z = m->solver->z;
    value *some = value_bool(m, false), *none = value_bool(m, true), *plain = value_bool(m, true);
    for (size_t i = 0; i < chars->count; i++) {
        Z3_ast c = value_term(m, chars->at[i]);
        some = either(m, some, value_of_bool(m, in_ranges(m, c, upper ? "AZ" : "az")));
        value *wrong = value_of_bool(m, in_ranges(m, c, upper ? "az" : "AZ"));
        none = both(m, none, negated(m, wrong));
        plain = both(m, plain, value_of_bool(m, is_ascii(m, c)));
    }
    Z3_ast other = path_guess(m, m->solver->bools,
                              upper ? "str.isupper of characters that are not ASCII"
                                    : "str.islower of characters that are not ASCII",
                              rewrite, value_term(m, self), NULL);
    return value_of_bool(
        m, Z3_mk_ite(z, value_term(m, plain), value_term(m, both(m, some, none)), other));
}

static bool is_input(machine *m, const value *v)
{
    Z3_context z = m->solver->z;
    return Z3_get_ast_kind(z, v->term) == Z3_APP_AST &&
           Z3_get_app_num_args(z, Z3_to_app(z, v->term)) == 0;
}

/* upper() and lower(): one by one for ASCII. */
static value *with_case(machine *m, value *self, const values *chars, bool upper, int line)
{
    enum { MOST_TURNED = 4 }; /* Z3 takes no notice of a deadline among 26 to the fifth choices */
    Z3_context z = m->solver->z;
    value *made = value_ascii(m, ""), *plain = value_bool(m, true);
    if (chars->count > MOST_TURNED)
        path_bound(m, "the number of characters whose case is turned");
    if (!is_input(m, self)) /* a choice among 26 within another is beyond the solvers */
        path_unsupported(m, line, "turn the case of a parameter, and compute with the result",
                         "str.%s of a str that is computed", upper ? "upper" : "lower");
    for (size_t i = 0; i < chars->count; i++) {
        Z3_ast c = value_term(m, chars->at[i]), turned = c;
        for (unsigned at = 0; at < 26; at++)
            turned = Z3_mk_ite(z, Z3_mk_eq(z, c, letter(m, (upper ? 'a' : 'A') + at)),
                               letter(m, (upper ? 'A' : 'a') + at), turned);
        made = text_binary(m, OP_ADD, made, value_of_str(m, turned), line);
        plain = both(m, plain, value_of_bool(m, is_ascii(m, c)));
    }
    Z3_ast other = path_guess(m, m->solver->strings_sort,
                              upper ? "str.upper of characters that are not ASCII"
                                    : "str.lower of characters that are not ASCII",
                              rewrite, value_term(m, self), NULL);
    return value_of_str(m, Z3_mk_ite(z, value_term(m, plain), value_term(m, made), other));
}

value *text_class(machine *m, value *self, const char *name, int line)
{
    values chars;
    bool upper = strstr(name, "upper") != NULL;
    bool cases = upper || strstr(name, "lower") != NULL;
    const char *ranges = NULL;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(name, classes[i].name) == 0)
            ranges = classes[i].ranges;
    if (!ranges && !cases && strcmp(name, "isspace") != 0 && strcmp(name, "isascii") != 0)
        return NULL;
    text_characters(m, self, &chars, line);
    if (ranges)
        return all_in(m, &chars, name, ranges);
    if (cases && name[0] == 'i')
        return cased(m, self, &chars, upper);
    if (cases)
        return with_case(m, self, &chars, upper, line);
    bool ascii = strcmp(name, "isascii") == 0;
    value *result = value_bool(m, ascii || chars.count > 0);
    for (size_t i = 0; i < chars.count; i++) {
        Z3_ast c = value_term(m, chars.at[i]);
        result = both(m, result, value_of_bool(m, ascii ? is_ascii(m, c) : is_blank(m, c)));
    }
    return result;
}

/* -- int() ------------------------------------------------------------------------------------- */

static Z3_ast digits(machine *m)
{
    Z3_context z = m->solver->z;
    return Z3_mk_re_plus(z, Z3_mk_re_range(z, Z3_mk_string(z, "0"), Z3_mk_string(z, "9")));
}

/* The int that digits mean. Up to a few of them it is a sum, which the solvers know more about. */
static Z3_ast digits_value(machine *m, Z3_ast s, int line)
{
    enum { FEW = 6, MOST = 4300 }; /* of more digits Python makes no int */
    Z3_context z = m->solver->z;
    Z3_ast sum = m->solver->zero;
    values chars;
    if (!path_sure(m, Z3_mk_le(z, Z3_mk_seq_length(z, s), Z3_mk_int(z, FEW, m->solver->ints)))) {
        m->digits_assumed = true;
        path_require(m, Z3_mk_le(z, Z3_mk_seq_length(z, s), Z3_mk_int(z, MOST, m->solver->ints)));
        return Z3_mk_str_to_int(z, s);
    }
    items_of(m, value_of_str(m, s), false, &chars, line);
    for (size_t i = 0; i < chars.count; i++) {
        Z3_ast c = value_term(m, chars.at[i]), digit = m->solver->zero;
        for (unsigned d = 1; d < 10; d++)
            digit = Z3_mk_ite(z, Z3_mk_eq(z, c, letter(m, '0' + d)),
                              Z3_mk_int(z, (int)d, m->solver->ints), digit);
        Z3_ast tens[] = { sum, Z3_mk_int(z, 10, m->solver->ints) };
        sum = Z3_mk_add(z, 2, (Z3_ast[]){ Z3_mk_mul(z, 2, tens), digit });
    }
    return sum;
}

value *text_to_int(machine *m, value *v, int line)
{
    Z3_context z = m->solver->z;
    if (v->above) /* it is str() of an int */
        return value_of_int(m, v->above);
    Z3_ast s = v->term, rest = Z3_mk_seq_extract(z, s, m->solver->one, Z3_mk_seq_length(z, s));
    if (path_decide(m, Z3_mk_seq_in_re(z, s, digits(m)), true))
        return value_of_int(m, digits_value(m, s, line));
    Z3_ast first = Z3_mk_seq_at(z, s, m->solver->zero);
    Z3_ast minus = Z3_mk_eq(z, first, Z3_mk_string(z, "-"));
    Z3_ast signs[] = { minus, Z3_mk_eq(z, first, Z3_mk_string(z, "+")) };
    Z3_ast has_sign[] = { Z3_mk_or(z, 2, signs), Z3_mk_seq_in_re(z, rest, digits(m)) };
    if (path_decide(m, Z3_mk_and(z, 2, has_sign), true)) {
        Z3_ast whole = digits_value(m, rest, line);
        return value_of_int(m, Z3_mk_ite(z, minus, Z3_mk_unary_minus(z, whole), whole));
    }
    /* Blanks around it, _ between digits, and digits of other scripts: what else could it be? */
    Z3_ast parts[] = { Z3_mk_re_range(z, Z3_mk_string(z, "!"), Z3_mk_string(z, "^")),
                       Z3_mk_re_range(z, Z3_mk_string(z, "`"), Z3_mk_string(z, "~")) };
    Z3_ast plain = Z3_mk_seq_in_re(z, s, Z3_mk_re_star(z, Z3_mk_re_union(z, 2, parts)));
    static const char what[] = "int() of a str with blanks, _ or digits that are not ASCII";
    static const char instead[] = "check the characters first";
    if (path_decide(m, plain, true) ||
        path_decide(m,
                    path_guess(m, m->solver->bools,
                               "whether a str with blanks, _ or other digits is an int", instead, s,
                               NULL),
                    true))
        return throw(m, "ValueError", line);
    return value_of_int(m, path_guess(m, m->solver->ints, what, instead, s, NULL));
}
