/* Strings: known ones as in Python, others as terms of the theory of strings. */
#include <stdio.h>
#include <string.h>

#include "theories/theories.h"
#include "machine/terms.h"

static Z3_ast length_term(machine *m, const value *v)
{
    return v->known || v->str.codes ? term_int(m, (int64_t)v->str.count)
                                    : Z3_mk_seq_length(m->solver->z, v->term);
}

static int order_of(const value *l, const value *r)
{
    size_t common = l->str.count < r->str.count ? l->str.count : r->str.count;
    for (size_t i = 0; i < common; i++)
        if (l->str.chars[i] != r->str.chars[i])
            return l->str.chars[i] < r->str.chars[i] ? -1 : 1;
    return l->str.count == r->str.count ? 0 : l->str.count < r->str.count ? -1 : 1;
}

static bool is_in(const value *part, const value *whole)
{
    if (part->str.count > whole->str.count)
        return false;
    for (size_t i = 0; i + part->str.count <= whole->str.count; i++)
        if (part->str.count == 0 || memcmp(whole->str.chars + i, part->str.chars,
                                           part->str.count * sizeof *part->str.chars) == 0)
            return true;
    return false;
}

value *text_compare(machine *m, operator_kind op, value *l, value *r)
{
    Z3_context z = m->solver->z;
    if (l == r && op != OP_LT && op != OP_GT)
        return value_bool(m, true);
    l = text_looked_at(m, l);
    r = text_looked_at(m, r);
    if (l->known && r->known) {
        if (op == OP_IN)
            return value_bool(m, is_in(l, r));
        int order = order_of(l, r);
        return value_bool(m, op == OP_EQ    ? order == 0
                             : op == OP_LT  ? order < 0
                             : op == OP_LTE ? order <= 0
                             : op == OP_GT  ? order > 0
                                            : order >= 0);
    }
    value *by_letters = letters_compare(m, op, l, r);
    if (by_letters)
        return by_letters;
    Z3_ast a = value_term(m, l), b = value_term(m, r);
    return value_of_bool(m, op == OP_EQ    ? Z3_mk_eq(z, a, b)
                            : op == OP_IN  ? Z3_mk_seq_contains(z, b, a)
                            : op == OP_LT  ? Z3_mk_str_lt(z, a, b)
                            : op == OP_LTE ? Z3_mk_str_le(z, a, b)
                            : op == OP_GT  ? Z3_mk_str_lt(z, b, a)
                                           : Z3_mk_str_le(z, b, a));
}

/* The same text as a new object. */
static value *value_text(machine *m, const value *v)
{
    value *made = value_new(m, V_STR);
    unsigned serial = made->serial;
    *made = *v;
    made->serial = serial;
    return made;
}

static value *letters_joined(machine *m, const value *l, const value *r)
{
    if ((!l->known && !l->str.codes) || (!r->known && !r->str.codes))
        return NULL;
    const value *sides[] = { l, r };
    size_t count = l->str.count + r->str.count, at = 0;
    if (count > MOST_ITEMS)
        path_bound(m, "the size of a str");
    Z3_ast *codes = arena_take(m->arena, (count + 1) * sizeof *codes);
    for (int i = 0; i < 2; i++) {
        const Z3_ast *from = value_codes(m, sides[i]);
        for (size_t j = 0; j < sides[i]->str.count; j++)
            codes[at++] = from[j];
    }
    return value_letters(m, codes, count);
}

static value *concatenated(machine *m, value *l, value *r)
{
    if (l->known && l->str.count == 0)
        return value_text(m, r);
    if (r->known && r->str.count == 0)
        return value_text(m, l);
    if (text_is_pending(l) || text_is_pending(r))
        return text_pending_sum(m, l, r);
    if (!l->known || !r->known) {
        value *made = letters_joined(m, l, r);
        if (made)
            return made;
    }
    if (!l->known || !r->known)
        return value_of_str(
            m, Z3_mk_seq_concat(m->solver->z, 2, (Z3_ast[]){ value_term(m, l), value_term(m, r) }));
    size_t count = l->str.count + r->str.count;
    if (count > MOST_CONCRETE_CHARS)
        path_bound(m, "the size of a str");
    uint32_t *chars = arena_take(m->arena, (count + 1) * sizeof *chars);
    if (l->str.count)
        memcpy(chars, l->str.chars, l->str.count * sizeof *chars);
    if (r->str.count)
        memcpy(chars + l->str.count, r->str.chars, r->str.count * sizeof *chars);
    return value_str(m, chars, count);
}

value *text_binary(machine *m, operator_kind op, value *l, value *r, int line)
{
    if (op == OP_ADD)
        return concatenated(m, l, r);
    if (op == OP_MOD) {
        if (l->known && !value_is_concrete(m, r))
            return text_percent(m, l, r, line);
        if (!l->known)
            path_unsupported(m, line, "use an f-string or +",
                             "%% formatting of a str that is not known");
        values given = { (value *[]){ l, r }, 2, 2 };
        return bridge(m, "a % b", &given, line);
    }
    return throw(m, "TypeError", line);
}

/* -- items and slices -------------------------------------------------------------------------- */

value *text_item(machine *m, value *of, value *index, int line)
{
    Z3_context z = m->solver->z;
    int64_t at;
    of = text_looked_at(m, of);
    if (of->known && value_whole(index, &at)) {
        int64_t count = (int64_t)of->str.count;
        at = at < 0 ? at + count : at;
        if (at < 0 || at >= count)
            return throw(m, "IndexError", line);
        return value_str(m, of->str.chars + at, 1);
    }
    if (!of->known && !of->str.codes && !value_is_concrete(m, index) &&
        text_is_short(m, of, MOST_SETTLED))
        of = text_settled(m, of); /* an unknown place is hard for the solvers */
    Z3_ast i = value_int_term(m, index), n = length_term(m, of);
    if (of->known && of->str.count == 0)
        return throw(m, "IndexError", line);
    Z3_ast outside[] = { Z3_mk_ge(z, i, n), Z3_mk_lt(z, i, Z3_mk_unary_minus(z, n)) };
    if (path_decide(m, Z3_mk_or(z, 2, outside), false))
        return throw(m, "IndexError", line);
    Z3_ast place = Z3_mk_ite(z, Z3_mk_lt(z, i, m->solver->zero),
                             Z3_mk_add(z, 2, (Z3_ast[]){ i, n }), i);
    return letters_at(m, of, solver_simplify(m->solver, place));
}

/* A bound of a slice with step 1, within 0 … n. */
static Z3_ast clamped(machine *m, value *bound, Z3_ast n, Z3_ast otherwise)
{
    Z3_context z = m->solver->z;
    Z3_ast zero = m->solver->zero;
    if (bound->kind == V_NONE)
        return otherwise;
    Z3_ast b = value_int_term(m, bound);
    Z3_ast up = Z3_mk_add(z, 2, (Z3_ast[]){ b, n });
    Z3_ast negative = Z3_mk_ite(z, Z3_mk_lt(z, up, zero), zero, up);
    Z3_ast positive = Z3_mk_ite(z, Z3_mk_gt(z, b, n), n, b);
    return Z3_mk_ite(z, Z3_mk_lt(z, b, zero), negative, positive);
}

value *text_slice(machine *m, value *of, value *from, value *to, value *step, int line)
{
    Z3_context z = m->solver->z;
    int64_t stride = 1;
    of = text_looked_at(m, of);
    bool bounds_known = (from->kind == V_NONE || from->known) && (to->kind == V_NONE || to->known);
    if (of->known && bounds_known) {
        int64_t first;
        size_t count;
        if (!slice_bounds(m, (int64_t)of->str.count, from, to, step, line, &first, &stride, &count))
            return NULL;
        uint32_t *chars = arena_take(m->arena, (count + 1) * sizeof *chars);
        for (size_t i = 0; i < count; i++)
            chars[i] = of->str.chars[first + (int64_t)i * stride];
        return value_str(m, chars, count);
    }
    bool steps = step->kind != V_NONE && (!value_whole(step, &stride) || stride != 1);
    if (steps || of->str.codes) { /* character by character */
        int64_t first;
        size_t count;
        of = text_settled(m, of);
        if (!slice_bounds(m, (int64_t)of->str.count, from, to, step, line, &first, &stride, &count))
            return NULL;
        const Z3_ast *codes = value_codes(m, of);
        Z3_ast *chosen = arena_take(m->arena, (count + 1) * sizeof *chosen);
        for (size_t i = 0; i < count; i++)
            chosen[i] = codes[first + (int64_t)i * stride];
        return value_letters(m, chosen, count);
    }
    if ((from->kind != V_NONE && !value_is_integral(from)) ||
        (to->kind != V_NONE && !value_is_integral(to)))
        return throw(m, "TypeError", line);
    Z3_ast n = length_term(m, of);
    Z3_ast low = clamped(m, from, n, m->solver->zero), high = clamped(m, to, n, n);
    Z3_ast size = Z3_mk_sub(z, 2, (Z3_ast[]){ high, low });
    /* A substring of a negative length is empty, as a slice is. */
    return value_of_str(m, Z3_mk_seq_extract(z, value_term(m, of), low, size));
}

/* -- str(), repr(), format() ------------------------------------------------------------------- */

static value *words(machine *m, const char *ascii)
{
    return value_ascii(m, ascii);
}

static value *int_text(machine *m, const value *v)
{
    Z3_context z = m->solver->z;
    Z3_ast term = value_int_term(m, v);
    m->digits_assumed = true;
    Z3_ast minus = Z3_mk_seq_concat(
        z, 2, (Z3_ast[]){ Z3_mk_string(z, "-"), Z3_mk_int_to_str(z, Z3_mk_unary_minus(z, term)) });
    value *made = value_of_str(
        m, Z3_mk_ite(z, Z3_mk_lt(z, term, m->solver->zero), minus, Z3_mk_int_to_str(z, term)));
    made->above = term;
    return made;
}

static value *items_text(machine *m, value *v, int line)
{
    step(m);
    settle(m, v);
    bool tuple = v->kind == V_TUPLE;
    value *made = words(m, tuple ? "(" : "[");
    unsigned version = v->version;
    for (size_t i = 0; i < v->in.items.count; i++) {
        value *item = text_of(m, v->in.items.at[i], true, line);
        if (!item)
            return NULL;
        require_unchanged(m, v, version, line);
        if (i > 0)
            made = concatenated(m, made, words(m, ", "));
        made = concatenated(m, made, item);
    }
    return concatenated(m, made, words(m, !tuple ? "]" : v->in.items.count == 1 ? ",)" : ")"));
}

static value *plus(machine *m, value *l, value *r)
{
    return l && r ? concatenated(m, l, r) : NULL;
}

static void begin_nested(machine *m, int line)
{
    step(m);
    if (++m->nested > MOST_NESTED)
        path_unsupported(m, line, "show the items", "the text of what is nested deeply");
}

static value *dict_text(machine *m, value *v, int line)
{
    begin_nested(m, line);
    settle(m, v);
    unsigned version = v->version;
    value *made = words(m, "{");
    for (size_t i = 0; made && i < v->in.items.count; i++) {
        made = plus(m, plus(m, made, words(m, i ? ", " : "")),
                    text_of(m, v->in.items.at[i], true, line));
        if (made)
            made = plus(m, plus(m, made, words(m, ": ")),
                        text_of(m, v->in.others.at[i], true, line));
        if (made && version != v->version)
            path_unsupported(m, line, "leave the dict as it is", "a dict that its text changes");
    }
    m->nested--;
    return plus(m, made, words(m, "}"));
}

/* The order of more than one item is not modelled. */
static value *set_text(machine *m, value *v, int line)
{
    settle(m, v);
    if (v->in.items.count == 0)
        return words(m, v->frozen ? "frozenset()" : "set()");
    if (v->in.items.count > 1)
        path_unsupported(m, line, "use sorted(…)", "the order of the items of a set");
    begin_nested(m, line);
    value *made = plus(m, words(m, v->frozen ? "frozenset({" : "{"),
                       text_of(m, v->in.items.at[0], true, line));
    m->nested--;
    return plus(m, made, words(m, v->frozen ? "})" : "}"));
}

static value *object_text(machine *m, value *v, bool representation, int line)
{
    value *class = v->object.class;
    value *method = representation ? NULL : class_member(class, "__str__");
    bool by_itself = class->class.exception || class->class.enumeration; /* which have a __str__ */
    if (!method && (representation || !by_itself))
        method = class_member(class, "__repr__");
    if (method) {
        value *made = call_special(m, v, method, NULL, line);
        return made && made->kind != V_STR ? throw(m, "TypeError", line) : made;
    }
    if (class->class.enumeration)
        return enum_text(m, v, representation, line);
    if (class->class.named)
        return named_text(m, v, line);
    if (class->class.exception && !representation && !v->object.opaque &&
        !is_subclass(class, exception_class(m, "KeyError")) &&
        !is_subclass(class, exception_class(m, "OSError"))) {
        if (v->object.arguments.count == 0)
            return words(m, "");
        if (v->object.arguments.count == 1)
            return text_of(m, v->object.arguments.at[0], false, line);
    }
    path_unsupported(m, line, "build the text from the attributes", "the text of an object of %s",
                     class->class.name);
}

value *text_of(machine *m, value *v, bool representation, int line)
{
    Z3_context z = m->solver->z;
    if (v->kind == V_STR && !representation)
        return v;
    if (v->kind == V_NONE)
        return words(m, "None");
    if (v->of_class)
        return kin_text(m, v, line);
    if (v->kind == V_DATE || v->kind == V_DELTA)
        return date_text(m, v, representation, line);
    if (value_is_concrete(m, v) && v->kind != V_SET) {
        values given = { &v, 1, 1 };
        return bridge(m, representation ? "repr(a)" : "str(a)", &given, line);
    }
    switch (v->kind) {
    case V_BOOL:
        return value_of_str(
            m, Z3_mk_ite(z, v->term, Z3_mk_string(z, "True"), Z3_mk_string(z, "False")));
    case V_INT:
        return int_text(m, v);
    case V_STR:
        return text_quoted(m, v, false);
    case V_DICT:
        return dict_text(m, v, line);
    case V_SET:
        return set_text(m, v, line);
    case V_TUPLE:
    case V_LIST:
        return items_text(m, v, line);
    case V_OBJECT:
        return object_text(m, v, representation, line);
    default:
        path_unsupported(m, line, "build the text from ints and strs",
                         "the text of a %s that is not known", value_type(v));
    }
}

value *format(machine *m, value *v, const value *spec, int line)
{
    bool plain = !spec || (spec->known && spec->str.count == 0);
    if (plain && v->kind != V_OBJECT)
        return text_of(m, v, false, line);
    if (plain && !class_member(v->object.class, "__format__"))
        return text_of(m, v, false, line);
    if (!spec || !spec->known || v->kind == V_OBJECT)
        path_unsupported(m, line, "use plain {x}", "a format that is not known, or of an object");
    value copy = *spec;
    if (!value_is_concrete(m, v) || v->kind == V_SET)
        return text_format(m, v, &copy, line);
    values given = { (value *[]){ v, &copy }, 2, 2 };
    return bridge(m, "format(a, b)", &given, line);
}
