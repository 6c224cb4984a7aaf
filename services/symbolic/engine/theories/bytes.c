/*
 * Bytes, known or unknown, are represented by the str of the same code points, all of which are
 * below 256 (the result of decode("latin-1")). So lengths, items, slices, comparisons, + and * are
 * those of a str, and so are the methods that search.
 */
#include "theories/theories.h"
#include "machine/terms.h"

value *byte_of(machine *m, value *letter)
{
    if (!letter)
        return NULL;
    if (letter->known)
        return value_int(m, letter->str.chars[0]);
    return value_of_int(m, letter->str.codes ? letter->str.codes[0]
                                             : solver_code(m->solver, letter->term));
}

value *byte_text(machine *m, value *code, int line)
{
    Z3_context z = m->solver->z;
    Z3_ast term = value_int_term(m, code);
    Z3_ast within[] = { Z3_mk_ge(z, term, m->solver->zero), Z3_mk_le(z, term, term_int(m, 255)) };
    if (!path_decide(m, solver_simplify(m->solver, Z3_mk_and(z, 2, within)), true))
        return throw(m, "ValueError", line);
    return value_letters(m, &term, 1);
}

value *bytes_view(machine *m, value *of)
{
    value *view = of->bytes.text;
    return text_is_short(m, view, MOST_SETTLED) ? text_settled(m, view) : view;
}

/* A slice with known bounds is split into single bytes, which the solvers decide much faster than a
 * part of a string: the path forks on whether there are so many. */
static value *few_of(machine *m, value *of, const value *from, const value *to, const value *step)
{
    enum { MOST_LAST = 64 };
    Z3_context z = m->solver->z;
    int64_t first = 0, last, stride = 1;
    if (of->known || of->str.codes || !value_whole(to, &last) || last < 0 || last > MOST_LAST ||
        (from->kind != V_NONE && (!value_whole(from, &first) || first < 0)) ||
        (step->kind != V_NONE && (!value_whole(step, &stride) || stride != 1)))
        return NULL;
    if (!path_decide(m, Z3_mk_ge(z, Z3_mk_seq_length(z, of->term), term_int(m, last)), true))
        return NULL;
    Z3_ast codes[MOST_LAST];
    size_t count = 0;
    for (; first < last; first++)
        codes[count++] = solver_code(m->solver, Z3_mk_seq_at(z, of->term, term_int(m, first)));
    return value_letters(m, codes, count);
}

value *bytes_slice(machine *m, value *of, value *from, value *to, value *step, int line)
{
    value *few = few_of(m, of->bytes.text, from, to, step);
    return value_bytes(m, few ? few : text_slice(m, bytes_view(m, of), from, to, step, line));
}

value *bytes_contains(machine *m, value *in, value *item, int line)
{
    item = plain_of(item);
    if (item->kind == V_OBJECT)
        path_unsupported(m, line, "give an int", "`in` bytes of an object");
    value *part = item->kind == V_BYTES     ? item->bytes.text
                  : value_is_integral(item) ? byte_text(m, item, line)
                                            : throw(m, "TypeError", line);
    if (!part)
        return NULL;
    return text_compare(m, OP_IN, part, bytes_view(m, in));
}

value *bytes_binary(machine *m, operator_kind op, value *l, value *r, int line)
{
    if (l->kind == V_STR && op == OP_MOD)
        return text_binary(m, op, l, r, line);
    if (l->kind == V_VIEW || r->kind == V_VIEW || l->kind == V_BUILTIN || l->kind == V_CLASS)
        path_unsupported(m, line, "make a list of it", "an operator on bytes and a %s",
                         value_type(l->kind == V_BYTES ? r : l));
    if (op == OP_MOD && l->kind == V_BYTES) {
        if (!value_is_concrete(m, l) || !value_is_concrete(m, r))
            path_unsupported(m, line, "use + and bytes([…])",
                             "%% formatting of bytes that are not known");
        values given = { (value *[]){ l, r }, 2, 2 };
        return bridge(m, "a % b", &given, line);
    }
    if (op == OP_ADD && l->kind == r->kind)
        return value_bytes(m, text_binary(m, op, bytes_view(m, l), bytes_view(m, r), line));
    value *bytes = l->kind == V_BYTES ? l : r, *times = bytes == l ? r : l;
    if (op == OP_MULT && value_is_integral(times))
        return value_bytes(m, repeat(m, bytes->bytes.text, times, line));
    return throw(m, "TypeError", line);
}
