/* Values and their terms: see value.h. */
#include <stdio.h>
#include <math.h>
#include <string.h>

#include "machine/machine.h"
#include "machine/terms.h"

value *value_new(machine *m, value_kind kind)
{
    value *v = arena_take(m->arena, sizeof *v);
    v->kind = kind;
    v->serial = m->serial++;
    return v;
}

value *value_none(machine *m)
{
    if (!m->none)
        m->none = value_new(m, V_NONE);
    return m->none;
}

value *value_bool(machine *m, bool truth)
{
    value **kept = truth ? &m->yes : &m->no;
    if (!*kept) {
        *kept = value_new(m, V_BOOL);
        (*kept)->known = true;
        (*kept)->truth = truth;
    }
    return *kept;
}

value *value_int(machine *m, int64_t number)
{
    value *v = value_new(m, V_INT);
    v->known = true;
    v->number = number;
    return v;
}

value *value_float(machine *m, double real)
{
    value *v = value_new(m, V_FLOAT);
    v->known = true;
    v->real = real;
    return v;
}

value *value_str(machine *m, const uint32_t *chars, size_t count)
{
    value *v = value_new(m, V_STR);
    uint32_t *copy = arena_take(m->arena, (count + 1) * sizeof *copy);
    if (count)
        memcpy(copy, chars, count * sizeof *copy);
    v->known = true;
    v->str.chars = copy;
    v->str.count = count;
    return v;
}

/* Decode the code point at *at, and advance it. A byte that is not UTF-8 stands for itself. */
static uint32_t decode(const char **at)
{
    const unsigned char *p = (const unsigned char *)*at;
    int more = p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 1 : p[0] < 0xf0 ? 2 : 3;
    uint32_t point = more == 0 ? p[0] : p[0] & (0x3fu >> more);
    for (int i = 1; i <= more; i++)
        point = point << 6 | (p[i] & 0x3fu);
    *at += more + 1;
    return point;
}

value *value_ascii(machine *m, const char *words)
{
    uint32_t *chars = arena_take(m->arena, (strlen(words) + 1) * sizeof *chars);
    size_t count = 0;
    while (*words)
        chars[count++] = decode(&words);
    return value_str(m, chars, count);
}

value *value_bytes(machine *m, value *view)
{
    value *v = view ? value_new(m, V_BYTES) : NULL;
    if (v)
        v->bytes.text = view;
    return v;
}

value *value_constant(machine *m, const constant *k)
{
    switch (k->kind) {
    case C_NONE:
        return value_none(m);
    case C_BOOL:
        return value_bool(m, k->truth);
    case C_INT: {
        if (k->small)
            return value_int(m, k->number);
        /* Digits of base 16 are converted one by one, since Z3 reads only base 10. */
        Z3_ast term = m->solver->zero;
        Z3_context z = m->solver->z;
        for (const char *at = k->text + 2; *at; at++) {
            int digit = *at <= '9' ? *at - '0' : *at - 'a' + 10;
            Z3_ast shifted = Z3_mk_mul(z, 2, (Z3_ast[]){ term, term_int(m, 16) });
            term = Z3_simplify(z, Z3_mk_add(z, 2, (Z3_ast[]){ shifted, term_int(m, digit) }));
        }
        return value_of_int(m, term);
    }
    case C_FLOAT:
        return value_float(m, k->real);
    case C_STR:
        return value_str(m, k->chars, k->count);
    case C_BYTES:
        return value_bytes(m, value_str(m, k->chars, k->count));
    case C_ELLIPSIS:
        path_unsupported(m, 0, "use None in its place", "the constant ...");
    case C_OTHER:
        break;
    }
    path_unsupported(m, 0, "use int, float or str", "a constant of type %s", k->text);
}

/* -- terms ------------------------------------------------------------------------------------- */

value *value_of_bool(machine *m, Z3_ast term)
{
    term = solver_simplify(m->solver, term);
    if (solver_is_true(m->solver, term) || solver_is_false(m->solver, term))
        return value_bool(m, solver_is_true(m->solver, term));
    value *v = value_new(m, V_BOOL);
    v->term = term;
    return v;
}

value *value_of_int(machine *m, Z3_ast term)
{
    Z3_context z = m->solver->z;
    term = solver_simplify(m->solver, term);
    int64_t number;
    if (Z3_is_numeral_ast(z, term) && Z3_get_numeral_int64(z, term, &number))
        return value_int(m, number);
    value *v = value_new(m, V_INT);
    v->term = term;
    return v;
}

value *value_of_float(machine *m, Z3_ast term)
{
    Z3_context z = m->solver->z;
    term = solver_simplify(m->solver, term);
    if (Z3_fpa_is_numeral_nan(z, term))
        return value_float(m, (double)NAN);
    Z3_ast bits = Z3_is_numeral_ast(z, term) ? Z3_simplify(z, Z3_mk_fpa_to_ieee_bv(z, term)) : NULL;
    uint64_t number;
    if (bits && Z3_get_numeral_uint64(z, bits, &number)) {
        double real;
        memcpy(&real, &number, sizeof real);
        return value_float(m, real);
    }
    value *v = value_new(m, V_FLOAT);
    v->term = term;
    m->solver->floats_used = true;
    return v;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A string of Z3, in which characters may be escaped as \u{61}, \u0061 or \x61. */
static value *unescape(machine *m, const char *from)
{
    uint32_t *chars = arena_take(m->arena, (strlen(from) + 1) * sizeof *chars);
    size_t count = 0;
    while (*from) {
        const char *digits = NULL;
        int most = 0;
        if (from[0] == '\\' && from[1] == 'u' && from[2] == '{') {
            digits = from + 3;
            most = 6;
        } else if (from[0] == '\\' && from[1] == 'u' && hex(from[2]) >= 0) {
            digits = from + 2;
            most = 4;
        } else if (from[0] == '\\' && from[1] == 'x' && hex(from[2]) >= 0) {
            digits = from + 2;
            most = 2;
        }
        if (!digits) {
            chars[count++] = decode(&from);
            continue;
        }
        uint32_t point = 0;
        for (; most > 0 && hex(*digits) >= 0; most--)
            point = point * 16 + (uint32_t)hex(*digits++);
        chars[count++] = point;
        from = digits + (*digits == '}' && from[2] == '{');
    }
    return value_str(m, chars, count);
}

value *value_of_str(machine *m, Z3_ast term)
{
    term = solver_simplify(m->solver, term);
    if (Z3_is_string(m->solver->z, term))
        return unescape(m, Z3_get_string(m->solver->z, term));
    value *v = value_new(m, V_STR);
    v->term = term;
    m->solver->strings = true;
    return v;
}

value *value_of(machine *m, value_kind kind, Z3_ast term)
{
    return kind == V_BOOL    ? value_of_bool(m, term)
           : kind == V_INT   ? value_of_int(m, term)
           : kind == V_FLOAT ? value_of_float(m, term)
                             : value_of_str(m, term);
}

enum {
    LAST_CHARACTER = 0x2ff00
}; /* the solvers' characters end at 0x2ffff, Python's at 0x10ffff */

static void check_letter(machine *m, uint32_t c)
{
    if (c > LAST_CHARACTER)
        path_unsupported(m, 0, "use characters below U+2FF00",
                         "the character U+%X beside a symbolic str", (unsigned)c);
}

static Z3_ast str_term(machine *m, const value *v)
{
    char *escaped = arena_take(m->arena, v->str.count * 10 + 1), *to = escaped;
    for (size_t i = 0; i < v->str.count; i++) {
        uint32_t c = v->str.chars[i];
        check_letter(m, c);
        if (c >= ' ' && c < 127 && c != '\\')
            *to++ = (char)c;
        else
            to += snprintf(to, 11, "\\u{%x}", (unsigned)c);
    }
    return Z3_mk_string(m->solver->z, escaped);
}

/* A string of one code point. */
static Z3_ast letter_term(machine *m, Z3_ast code)
{
    Z3_context z = m->solver->z;
    int64_t number;
    if (Z3_is_numeral_ast(z, code) && Z3_get_numeral_int64(z, code, &number)) {
        uint32_t one = (uint32_t)number;
        value v = { .kind = V_STR, .known = true, .str = { .chars = &one, .count = 1 } };
        return str_term(m, &v);
    }
    if (Z3_get_ast_kind(z, code) == Z3_APP_AST &&
        Z3_get_app_decl(z, Z3_to_app(z, code)) == m->solver->to_code)
        return Z3_get_app_arg(z, Z3_to_app(z, code), 0);
    return solver_letter(m->solver, code);
}

static Z3_ast letters_term(machine *m, const value *v)
{
    Z3_ast *each = arena_take(m->arena, v->str.count * sizeof *each);
    for (size_t i = 0; i < v->str.count; i++)
        each[i] = letter_term(m, v->str.codes[i]);
    Z3_ast all = v->str.count == 1 ? each[0]
                                   : Z3_mk_seq_concat(m->solver->z, (unsigned)v->str.count, each);
    return all;
}

value *value_letters(machine *m, const Z3_ast *codes, size_t count)
{
    Z3_ast *copy = arena_take(m->arena, (count + 1) * sizeof *copy);
    uint32_t *chars = arena_take(m->arena, (count + 1) * sizeof *chars);
    bool known = true;
    int64_t number;
    if (count > MOST_ITEMS)
        path_bound(m, "the size of a str");
    for (size_t i = 0; i < count; i++) {
        copy[i] = solver_simplify(m->solver, codes[i]);
        known = known && Z3_is_numeral_ast(m->solver->z, copy[i]) &&
                Z3_get_numeral_int64(m->solver->z, copy[i], &number);
        chars[i] = known ? (uint32_t)number : 0;
    }
    if (known)
        return value_str(m, chars, count);
    value *v = value_new(m, V_STR);
    v->str.codes = copy;
    v->str.count = count;
    v->term = letters_term(m, v);
    m->solver->strings = true;
    return v;
}

const Z3_ast *value_codes(machine *m, const value *v)
{
    if (!v->known)
        return v->str.codes;
    Z3_ast *codes = arena_take(m->arena, (v->str.count + 1) * sizeof *codes);
    for (size_t i = 0; i < v->str.count; i++) {
        check_letter(m, v->str.chars[i]);
        codes[i] = term_int(m, v->str.chars[i]);
    }
    return codes;
}

value *value_quotient(machine *m, Z3_ast above, Z3_ast below)
{
    Z3_context z = m->solver->z;
    Z3_ast negative = Z3_mk_lt(z, below, m->solver->zero);
    value *v = value_new(m, V_FLOAT);
    v->flipped = !solver_is_false(m->solver, solver_simplify(m->solver, negative));
    v->above = solver_simplify(m->solver,
                               Z3_mk_ite(z, negative, Z3_mk_unary_minus(z, above), above));
    v->below = solver_simplify(m->solver,
                               Z3_mk_ite(z, negative, Z3_mk_unary_minus(z, below), below));
    return v;
}

bool value_is_quotient(const value *v)
{
    return v->kind == V_FLOAT && !v->known && v->above;
}

/* What is known of a quotient as a Float64: it is finite, and has a sign. The rest is a guess, the
 * same one for the same operands. */
static Z3_ast quotient_term(machine *m, const value *v)
{
    Z3_context z = m->solver->z;
    Z3_ast free = path_guess(m, m->solver->floats, "a float that ints were converted to",
                             "annotate the parameter as float, or compare products of ints",
                             v->above, v->below);
    Z3_ast strange[] = { Z3_mk_fpa_is_nan(z, free), Z3_mk_fpa_is_infinite(z, free) };
    Z3_ast size = Z3_mk_ite(z, Z3_mk_or(z, 2, strange), term_float(m, 1), Z3_mk_fpa_abs(z, free));
    Z3_ast zero = Z3_mk_ite(z, Z3_mk_fpa_is_negative(z, free), term_float(m, -0.0),
                            term_float(m, 0.0));
    m->solver->floats_used = true;
    return Z3_mk_ite(
        z, Z3_mk_eq(z, v->above, m->solver->zero), zero,
        Z3_mk_ite(z, Z3_mk_lt(z, v->above, m->solver->zero), Z3_mk_fpa_neg(z, size), size));
}

Z3_ast value_term(machine *m, const value *v)
{
    if (value_is_quotient(v))
        return quotient_term(m, v);
    if (!v->known)
        return v->term;
    return v->kind == V_BOOL    ? (v->truth ? m->solver->yes : m->solver->no)
           : v->kind == V_INT   ? term_int(m, v->number)
           : v->kind == V_FLOAT ? term_float(m, v->real)
                                : str_term(m, v);
}

Z3_ast value_int_term(machine *m, const value *v)
{
    if (v->kind == V_INT)
        return value_term(m, v);
    if (v->known)
        return v->truth ? m->solver->one : m->solver->zero;
    return Z3_mk_ite(m->solver->z, v->term, m->solver->one, m->solver->zero);
}

Z3_ast value_float_term(machine *m, const value *v)
{
    int64_t number;
    if (v->kind == V_FLOAT)
        return value_term(m, v);
    if (value_whole(v, &number))
        return number >= -(1LL << 53) && number <= 1LL << 53 ? term_float(m, (double)number) : NULL;
    if (v->kind == V_BOOL)
        return Z3_mk_ite(m->solver->z, v->term, term_float(m, 1), term_float(m, 0));
    return NULL;
}

/* -- questions --------------------------------------------------------------------------------- */

bool value_is_integral(const value *v)
{
    return v->kind == V_BOOL || v->kind == V_INT;
}

bool value_is_number(const value *v)
{
    return value_is_integral(v) || v->kind == V_FLOAT;
}

bool value_is_scalar(const value *v)
{
    return value_is_number(v) || v->kind == V_STR;
}

bool value_whole(const value *v, int64_t *number)
{
    if (!v->known || !value_is_integral(v))
        return false;
    *number = v->kind == V_BOOL ? v->truth : v->number;
    return true;
}

bool value_is_lazy(const value *v)
{
    return v->kind == V_LIST && !v->slots && v->lazy.length;
}

static bool is_concrete(machine *m, const value *v, int depth)
{
    if (depth > 100) /* a list that contains itself */
        return false;
    switch (v->kind) {
    case V_NONE:
        return true;
    case V_FLOAT:
    case V_STR:
        return v->known;
    case V_BYTES:
        return v->bytes.text->known;
    case V_BOOL:
    case V_INT:
        return v->known || Z3_is_numeral_ast(m->solver->z, v->term);
    case V_TUPLE:
    case V_LIST:
    case V_DICT:
    case V_SET:
        if (value_is_lazy(v) || v->of_class || v->slots)
            return false;
        for (size_t i = 0; i < v->in.items.count; i++)
            if (!is_concrete(m, v->in.items.at[i], depth + 1))
                return false;
        for (size_t i = 0; i < v->in.others.count; i++)
            if (!is_concrete(m, v->in.others.at[i], depth + 1))
                return false;
        return true;
    default:
        return false;
    }
}

bool value_is_concrete(machine *m, const value *v)
{
    return is_concrete(m, v, 0);
}

/* -- containers -------------------------------------------------------------------------------- */

void values_add(machine *m, values *to, value *v)
{
    if (to->count == to->room) {
        size_t room = 2 * to->room + 4;
        if (room > MOST_ITEMS)
            path_bound(m, "the number of items of a container");
        value **more = arena_take(m->arena, room * sizeof *more);
        if (to->count)
            memcpy(more, to->at, to->count * sizeof *more);
        to->at = more;
        to->room = room;
    }
    to->at[to->count++] = v;
}

value *value_sequence(machine *m, value_kind kind, size_t room)
{
    value *v = value_new(m, kind);
    if (room > MOST_ITEMS)
        path_bound(m, "the number of items of a container");
    if (room) {
        v->in.items.at = arena_take(m->arena, room * sizeof(value *));
        v->in.items.room = room;
    }
    return v;
}

static void copy_values(machine *m, values *to, const values *from)
{
    *to = (values){ 0 };
    for (size_t i = 0; i < from->count; i++)
        values_add(m, to, from->at[i] ? value_copy(m, from->at[i]) : NULL);
}

value *value_copy(machine *m, const value *v)
{
    for (size_t i = 0; v->kind == V_OBJECT && i < v->object.class->class.enumerated.count; i++)
        if (v->object.class->class.enumerated.at[i] == v) /* there is only one */
            return v->object.class->class.enumerated.at[i];
    value *copy = value_new(m, v->kind);
    unsigned serial = copy->serial;
    *copy = *v;
    copy->serial = serial;
    if (v->slots) {
        copy->slots = arena_take(m->arena, sizeof *copy->slots);
        copy->slots->at = arena_take(m->arena, v->slots->count * sizeof *v->slots->at);
        copy->slots->count = copy->slots->room = v->slots->count;
        for (size_t i = 0; i < v->slots->count; i++) {
            slot from = v->slots->at[i];
            copy->slots->at[i] = (slot){ from.guard, value_copy(m, from.item),
                                         from.other ? value_copy(m, from.other) : NULL };
        }
    } else if (v->kind == V_TUPLE || v->kind == V_LIST || v->kind == V_DICT || v->kind == V_SET) {
        copy_values(m, &copy->in.items, &v->in.items);
        copy_values(m, &copy->in.others, &v->in.others);
    } else if (v->kind == V_OBJECT) {
        copy_values(m, &copy->object.names, &v->object.names);
        copy_values(m, &copy->object.fields, &v->object.fields);
        copy->object.plain = v->object.plain ? value_copy(m, v->object.plain) : NULL;
    }
    return copy;
}

/* -- words ------------------------------------------------------------------------------------- */

const char *value_type(const value *v)
{
    static const char *const names[] = {
        [V_NONE] = "NoneType",
        [V_BOOL] = "bool",
        [V_INT] = "int",
        [V_FLOAT] = "float",
        [V_STR] = "str",
        [V_BYTES] = "bytes",
        [V_TUPLE] = "tuple",
        [V_LIST] = "list",
        [V_DICT] = "dict",
        [V_SET] = "set",
        [V_RANGE] = "range",
        [V_FUNCTION] = "function",
        [V_BUILTIN] = "builtin",
        [V_METHOD] = "method",
        [V_CLASS] = "type",
        [V_OBJECT] = "object",
        [V_HUGE] = "container",
        [V_VIEW] = "view",
        [V_MODULE] = "module",
        [V_ITERATOR] = "generator",
        [V_DATE] = "date",
        [V_DELTA] = "timedelta",
        [V_WRAPPER] = "property",
        [V_SUPER] = "super",
        [V_NOT_IMPLEMENTED] = "NotImplemented",
        [V_EITHER] = "either",
    };
    return v->of_class           ? v->of_class->class.name
           : v->kind == V_OBJECT ? v->object.class->class.name
                                 : names[v->kind];
}

const char *value_utf8(machine *m, const value *v)
{
    char *bytes = arena_take(m->arena, v->str.count * 4 + 1), *to = bytes;
    for (size_t i = 0; i < v->str.count; i++) {
        uint32_t c = v->str.chars[i];
        if (c < 0x80) {
            *to++ = (char)c;
        } else if (c < 0x800) {
            *to++ = (char)(0xc0 | c >> 6);
            *to++ = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
            *to++ = (char)(0x80 | (c >> 6 & 0x3f));
            *to++ = (char)(0x80 | (c & 0x3f));
        } else {
            *to++ = (char)(0xf0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 0x3f));
            *to++ = (char)(0x80 | (c >> 6 & 0x3f));
            *to++ = (char)(0x80 | (c & 0x3f));
        }
    }
    return bytes;
}

bool value_says(const value *v, const char *ascii)
{
    size_t length = strlen(ascii);
    if (v->kind != V_STR || !v->known || v->str.count != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (v->str.chars[i] != (unsigned char)ascii[i])
            return false;
    return true;
}
