/* int.from_bytes() and int.to_bytes(). */
#include "builtins/builtins.h"
#include "machine/terms.h"

/* "big" or "little". False: raised. */
static bool is_big(machine *m, const value *order, bool *big, int line)
{
    *big = !order || value_says(order, "big");
    if (*big || value_says(order, "little"))
        return true;
    if (order->kind == V_STR && !order->known)
        path_unsupported(m, line, "give \"big\" or \"little\"", "an order of bytes");
    throw(m, order->kind == V_STR ? "ValueError" : "TypeError", line);
    return false;
}

static bool is_signed(machine *m, const value *sign, int line)
{
    if (sign && (sign->kind != V_BOOL || !sign->known))
        path_unsupported(m, line, "give True or False", "`signed` that is no known bool");
    return sign && sign->truth;
}

static Z3_ast power_of_256(machine *m, size_t exponent)
{
    Z3_context z = m->solver->z;
    Z3_ast term = m->solver->one;
    for (size_t i = 0; i < exponent; i++)
        term = Z3_simplify(z, Z3_mk_mul(z, 2, (Z3_ast[]){ term, term_int(m, 256) }));
    return term;
}

static Z3_ast half_of(machine *m, Z3_ast term)
{
    return Z3_simplify(m->solver->z, Z3_mk_div(m->solver->z, term, term_int(m, 2)));
}

value *int_from_bytes(machine *m, arguments *given, int line)
{
    Z3_context z = m->solver->z;
    value *order = keyword_argument(given, "byteorder"), *sign = keyword_argument(given, "signed");
    bool big;
    if (!arguments_fit(m, given, 1, order ? 1 : 2, line))
        return NULL;
    if (given->places.count == 2)
        order = given->places.at[1];
    bool has_sign = is_signed(m, sign, line);
    if (!is_big(m, order, &big, line))
        return NULL;
    value *from = given->places.at[0];
    if (value_is_integral(from)) /* bytes() would take an int as a length */
        return throw(m, "TypeError", line);
    if (from->kind != V_BYTES) {
        arguments one = { 0 };
        values_add(m, &one.places, from);
        if (!call_bytes(m, "bytes", &one, &from, line) || !from)
            return NULL;
    }
    value *view = text_settled(m, from->bytes.text);
    const Z3_ast *codes = value_codes(m, view);
    Z3_ast sum = m->solver->zero, all = power_of_256(m, view->str.count);
    for (size_t i = 0; i < view->str.count; i++) {
        Z3_ast code = codes[big ? i : view->str.count - 1 - i];
        sum = Z3_mk_add(z, 2,
                        (Z3_ast[]){ Z3_mk_mul(z, 2, (Z3_ast[]){ sum, term_int(m, 256) }), code });
    }
    if (has_sign && view->str.count)
        sum = Z3_mk_ite(z, Z3_mk_ge(z, sum, half_of(m, all)),
                        Z3_mk_sub(z, 2, (Z3_ast[]){ sum, all }), sum);
    return value_of_int(m, sum);
}

/* The digits of an int to the base 256, which it has room for. */
static value *digits_of(machine *m, Z3_ast term, size_t count, bool big)
{
    Z3_ast *digits = arena_take(m->arena, (count + 1) * sizeof *digits);
    Z3_ast *codes = arena_take(m->arena, (count + 1) * sizeof *codes);
    if (count)
        letters_digits(m, solver_simplify(m->solver, term), 256, count, digits);
    for (size_t i = 0; i < count; i++)
        codes[i] = digits[big ? i : count - 1 - i];
    return value_bytes(m, value_letters(m, codes, count));
}

/* The length argument of to_bytes(). False: raised. */
static bool is_length(machine *m, value *length, int64_t *count, int line)
{
    enum { MOST_LENGTH = 64 };
    *count = 1;
    if (!length)
        return true;
    if (!value_is_integral(length)) {
        if (length->kind == V_OBJECT)
            path_unsupported(m, line, "give an int", "a length that is an object");
        throw(m, "TypeError", line);
        return false;
    }
    if (!is_index(m, length, line))
        return false;
    value *few = settled_int(m, length);
    if (!few || !value_whole(few, count))
        path_unsupported(m, line, "make the length a constant",
                         "to_bytes() with a length that is not known");
    if (*count > MOST_LENGTH)
        path_bound(m, "the number of bytes");
    return true;
}

value *int_to_bytes(machine *m, value *self, arguments *given, int line)
{
    Z3_context z = m->solver->z;
    value *order = keyword_argument(given, "byteorder"), *sign = keyword_argument(given, "signed");
    value *length = keyword_argument(given, "length");
    int64_t count;
    bool big;
    if ((length && given->places.count > 0) || (order && given->places.count > 1))
        return throw(m, "TypeError", line);
    if (!arguments_fit(m, given, 0, 2, line))
        return NULL;
    if (given->places.count > 0)
        length = given->places.at[0];
    if (given->places.count > 1)
        order = given->places.at[1];
    bool has_sign = is_signed(m, sign, line);
    if (!is_length(m, length, &count, line) || !is_big(m, order, &big, line))
        return NULL;
    if (count < 0)
        return throw(m, "ValueError", line);
    if (has_sign && count == 0)
        path_unsupported(m, line, "give a length of 1 or more", "to_bytes() of no bytes");
    Z3_ast term = value_int_term(m, self), all = power_of_256(m, (size_t)count);
    Z3_ast top = has_sign ? half_of(m, all) : all;
    Z3_ast least = has_sign ? Z3_mk_unary_minus(z, top) : m->solver->zero;
    Z3_ast fits[] = { Z3_mk_ge(z, term, least), Z3_mk_lt(z, term, top) };
    if (!path_decide(m, solver_simplify(m->solver, Z3_mk_and(z, 2, fits)), true))
        return throw(m, "OverflowError", line);
    if (has_sign)
        term = Z3_mk_ite(z, Z3_mk_lt(z, term, m->solver->zero),
                         Z3_mk_add(z, 2, (Z3_ast[]){ term, all }), term);
    return digits_of(m, term, (size_t)count, big);
}
