/* Symbols for parameters, and witnesses: see input.h. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "inputs/inputs.h"
#include "interpreter/interpreter.h"
#include "machine/terms.h"

enum { MOST_WITNESS_ITEMS = 1000 };

static Z3_ast symbol(machine *m, const char *name, Z3_sort sort)
{
    Z3_context z = m->solver->z;
    return Z3_mk_const(z, Z3_mk_string_symbol(z, name), sort);
}

static value_kind scalar_kind(type_kind kind)
{
    return kind == T_INT ? V_INT : kind == T_BOOL ? V_BOOL : kind == T_FLOAT ? V_FLOAT : V_STR;
}

static Z3_sort sort_of(machine *m, value_kind kind)
{
    return kind == V_INT     ? m->solver->ints
           : kind == V_BOOL  ? m->solver->bools
           : kind == V_FLOAT ? m->solver->floats
                             : m->solver->strings_sort;
}

static value *scalar(machine *m, type_kind kind, const char *name)
{
    return value_of(m, scalar_kind(kind), symbol(m, name, sort_of(m, scalar_kind(kind))));
}

enum { TOO_MANY = UINT_MAX };

/* The path forks on the number of items. TOO_MANY: a precondition may still forbid it. */
static unsigned forked_count(machine *m, const char *name)
{
    Z3_context z = m->solver->z;
    Z3_ast length = symbol(m, arena_print(m->arena, "len(%s)", name), m->solver->ints);
    path_assume(m, Z3_mk_ge(z, length, m->solver->zero));
    for (unsigned count = 0; count <= m->most_items; count++)
        if (path_decide(m, Z3_mk_eq(z, length, term_int(m, count)), true))
            return count;
    if (!strpbrk(name, "[.("))
        return TOO_MANY;
    path_bound(m, "the number of items of a parameter");
}

static value *huge(machine *m, const char *name)
{
    value *v = value_new(m, V_HUGE);
    v->term = symbol(m, arena_print(m->arena, "len(%s)", name), m->solver->ints);
    return v;
}

static value *lazy_list(machine *m, const type *t, const char *name)
{
    Z3_context z = m->solver->z;
    value *v = value_new(m, V_LIST);
    v->lazy.of = scalar_kind(t->parts[0]->kind);
    v->lazy.length = symbol(m, arena_print(m->arena, "len(%s)", name), m->solver->ints);
    v->lazy.array = symbol(m, name, Z3_mk_array_sort(z, m->solver->ints, sort_of(m, v->lazy.of)));
    m->solver->strings |= v->lazy.of == V_STR;
    m->solver->floats_used |= v->lazy.of == V_FLOAT;
    path_assume(m, Z3_mk_ge(z, v->lazy.length, m->solver->zero));
    return v;
}

static bool is_scalar(const type *t)
{
    return t->kind == T_INT || t->kind == T_BOOL || t->kind == T_FLOAT || t->kind == T_STR;
}

static value *keyed(machine *m, const type *t, const char *name)
{
    value *v = value_new(m, t->kind == T_DICT ? V_DICT : V_SET);
    v->frozen = t->kind == T_FROZENSET;
    const type *key = t->parts[0];
    if (key->kind == T_FLOAT || key->kind == T_LIST || key->kind == T_DICT || key->kind == T_SET)
        path_unsupported(m, 0, "use int or str keys", "keys of this type in parameter '%s'", name);
    unsigned count = forked_count(m, name);
    if (count == TOO_MANY)
        return huge(m, name);
    for (unsigned i = 0; i < count; i++) {
        value *item = input_make(m, key, arena_print(m->arena, "list(%s)[%u]", name, i));
        for (size_t j = 0; j < v->in.items.count; j++) {
            value *same = equal(m, v->in.items.at[j], item, 0);
            path_require(m, value_term(m, negated(m, same)));
        }
        for (size_t j = 0; t->keywords && t->names[j]; j++) {
            value *same = equal(m, value_ascii(m, t->names[j]), item, 0);
            path_require(m, value_term(m, negated(m, same)));
        }
        values_add(m, &v->in.items, item);
        if (t->kind == T_DICT)
            values_add(m, &v->in.others,
                       input_make(m, t->parts[1],
                                  arena_print(m->arena, "list(%s.values())[%u]", name, i)));
    }
    return v;
}

static value *one_of(machine *m, const type *t, const char *name)
{
    Z3_context z = m->solver->z;
    /* Of a Literal in a union it is another one than of the union. */
    const char *what = t->kind == T_UNION ? "type" : "literal";
    Z3_ast which = symbol(m, arena_print(m->arena, "%s of %s", what, name), m->solver->ints);
    const node *literals = t->node;
    size_t count = t->kind == T_UNION          ? t->count
                   : literals->kind == N_TUPLE ? literals->x.count
                                               : 1;
    size_t at = 0;
    while (at + 1 < count && !path_decide(m, Z3_mk_eq(z, which, term_int(m, (int64_t)at)), true))
        at++;
    if (t->kind == T_UNION)
        return input_make(m, t->parts[at], name);
    return eval(m, m->globals, literals->kind == N_TUPLE ? literals->x.at[at] : literals);
}

static value *object(machine *m, const type *t, const char *name)
{
    value *class = scope_peek(m->globals, t->node->name);
    if (!class || class->kind != V_CLASS)
        path_unsupported(m, t->node->line, NULL, "the class %s", t->node->name);
    arguments given = { 0 };
    for (size_t i = 0; i < t->count; i++) {
        values_add(m, &given.names, value_ascii(m, t->names[i]));
        values_add(m, &given.keywords,
                   input_make(m, t->parts[i], arena_print(m->arena, "%s.%s", name, t->names[i])));
    }
    values kept = { 0 };
    for (size_t i = 0; i < t->count; i++)
        values_add(m, &kept, given.keywords.at[i]);
    value *made = make_object(m, class, &given, t->node->line);
    if (!made) /* there is no such object */
        path_stop(m, (stop){ STOP_INFEASIBLE, m->line, NULL, NULL });
    if (made->object.plain)
        return made;
    for (size_t i = 0; i < made->object.fields.count; i++) {
        value *v = made->object.fields.at[i];
        bool fresh = value_is_scalar(v) || v->kind == V_NONE;
        for (size_t j = 0; j < t->count; j++)
            if (value_says(made->object.names.at[i], t->names[j]))
                fresh = v == kept.at[j];
        if (!fresh)
            path_unsupported(m, t->node->line, "keep to checks there",
                             "__post_init__ that sets attributes of a parameter");
    }
    return made;
}

static value *part(machine *m, const char *name, const char *of)
{
    return scalar(m, T_INT, arena_print(m->arena, "%s.%s", name, of));
}

static void within(machine *m, value *v, int64_t low, int64_t high)
{
    Z3_context z = m->solver->z;
    Z3_ast term = value_int_term(m, v);
    Z3_ast limits[] = { Z3_mk_ge(z, term, term_int(m, low)), Z3_mk_le(z, term, term_int(m, high)) };
    path_assume(m, Z3_mk_and(z, 2, limits));
}

static value *date_or_delta(machine *m, const type *t, const char *name)
{
    value *v;
    if (t->kind == T_DATE) {
        value *year = part(m, name, "year"), *month = part(m, name, "month");
        value *day = part(m, name, "day");
        path_assume(m, value_term(m, date_is_valid(m, year, month, day)));
        v = date_of_parts(m, year, month, day);
        v->date.words = t->words;
        return v;
    }
    value *days = part(m, name, "days"), *seconds = part(m, name, "seconds");
    value *rest = part(m, name, "microseconds");
    within(m, days, -999999999, 999999999);
    within(m, seconds, 0, 86399);
    within(m, rest, 0, 999999);
    value *us = binary(m, OP_MULT, seconds, value_int(m, 1000000), 0);
    v = delta_of_parts(m, days, binary(m, OP_ADD, us, rest, 0));
    v->delta.words = t->words;
    return v;
}

/* The path forks on which member it is. */
static value *member(machine *m, const type *t, const char *name)
{
    value *class = scope_peek(m->globals, t->node->name);
    if (!class || class->kind != V_CLASS || !class->class.enumerated.count)
        path_unsupported(m, t->node->line,
                         "bound the other parameters with pre: lines, so that all inputs can be "
                         "called, or take the value in place of the member",
                         "the Enum %s as the type of a parameter", t->node->name);
    Z3_ast which = symbol(m, arena_print(m->arena, "literal of %s", name), m->solver->ints);
    const values *all = &class->class.enumerated;
    size_t at = 0;
    while (at + 1 < all->count &&
           !path_decide(m, Z3_mk_eq(m->solver->z, which, term_int(m, (int64_t)at)), true))
        at++;
    return all->at[at];
}

value *input_make(machine *m, const type *t, const char *name)
{
    value *v;
    switch (t->kind) {
    case T_INT:
    case T_BOOL:
    case T_FLOAT:
    case T_STR:
        return scalar(m, t->kind, name);
    case T_BYTES: {
        /* Its name is its own: of `bytes | str` the other one has more characters. */
        Z3_ast view = symbol(m, arena_print(m->arena, "bytes of %s", name),
                             m->solver->strings_sort);
        path_assume(m, solver_is_latin(m->solver, view));
        return value_bytes(m, value_of_str(m, view));
    }
    case T_NONE:
        return value_none(m);
    case T_LIST:
        if (is_scalar(t->parts[0]))
            return lazy_list(m, t, name);
        /* fall through */
    case T_TUPLE_OF:
    case T_TUPLE: {
        v = value_new(m, t->kind == T_LIST ? V_LIST : V_TUPLE);
        size_t count = t->kind == T_TUPLE ? t->count : forked_count(m, name);
        if (count == TOO_MANY)
            return huge(m, name);
        for (size_t i = 0; i < count; i++)
            values_add(m, &v->in.items,
                       input_make(m, t->parts[t->kind == T_TUPLE ? i : 0],
                                  arena_print(m->arena, "%s[%zu]", name, i)));
        return v;
    }
    case T_DICT:
    case T_SET:
    case T_FROZENSET:
        return keyed(m, t, name);
    case T_UNION:
    case T_LITERAL:
        return one_of(m, t, name);
    case T_OBJECT:
        return object(m, t, name);
    case T_DATE:
    case T_DELTA:
        return date_or_delta(m, t, name);
    case T_ENUM:
        return member(m, t, name);
    }
    return value_none(m);
}

/* -- wishes ------------------------------------------------------------------------------------ */

static void add_wish(machine *m, Z3_ast *all, Z3_ast wish)
{
    *all = *all ? Z3_mk_and(m->solver->z, 2, (Z3_ast[]){ *all, wish }) : wish;
}

static void wish(machine *m, const value *v, bool latin, Z3_ast *all)
{
    enum { SHORT = 12 };
    Z3_context z = m->solver->z;
    if (value_is_lazy(v))
        add_wish(m, all, Z3_mk_le(z, v->lazy.length, term_int(m, 3)));
    else if (v->kind == V_STR && v->str.codes && !v->known) {
        for (size_t i = 0; i < v->str.count; i++) {
            add_wish(m, all, Z3_mk_ge(z, v->str.codes[i], term_int(m, latin ? 0 : ' ')));
            add_wish(m, all, Z3_mk_le(z, v->str.codes[i], term_int(m, latin ? 0xff : '~')));
        }
    } else if (v->kind == V_STR && !v->known) {
        if (!latin)
            add_wish(m, all, solver_wish_printable(m->solver, v->term));
        for (int i = 0; latin && i < SHORT; i++) { /* of "" the code is -1 */
            Z3_ast letter = Z3_mk_seq_at(z, v->term, term_int(m, i));
            add_wish(m, all, Z3_mk_le(z, solver_code(m->solver, letter), term_int(m, 0xff)));
        }
        add_wish(m, all, Z3_mk_le(z, Z3_mk_seq_length(z, v->term), term_int(m, SHORT)));
    } else if (v->kind == V_BYTES) {
        wish(m, v->bytes.text, latin, all);
    } else if (v->kind == V_INT && !v->known) {
        add_wish(m, all, Z3_mk_le(z, v->term, term_int(m, 1000)));
        add_wish(m, all, Z3_mk_ge(z, v->term, term_int(m, -1000)));
    } else if (v->kind == V_DATE) {
        add_wish(m, all, Z3_mk_le(z, value_int_term(m, v->date.year), term_int(m, 2030)));
        add_wish(m, all, Z3_mk_ge(z, value_int_term(m, v->date.year), term_int(m, 1970)));
    } else if (v->kind == V_DELTA) {
        wish(m, v->delta.days, latin, all);
    } else if (v->kind == V_OBJECT && v->object.plain) {
        wish(m, v->object.plain, latin, all);
    } else if (v->kind == V_OBJECT) {
        for (size_t i = 0; i < v->object.fields.count; i++)
            wish(m, v->object.fields.at[i], latin, all);
    } else if (!value_is_scalar(v) && v->kind != V_NONE) {
        for (size_t i = 0; i < v->in.items.count; i++)
            wish(m, v->in.items.at[i], latin, all);
        for (size_t i = 0; i < v->in.others.count; i++)
            wish(m, v->in.others.at[i], latin, all);
    }
}

Z3_ast input_wishes(machine *m, values inputs, bool latin)
{
    Z3_ast all = NULL;
    for (size_t i = 0; i < inputs.count; i++)
        wish(m, inputs.at[i], latin, &all);
    return all;
}

/* -- witnesses --------------------------------------------------------------------------------- */

static value *concrete_date(machine *m, Z3_model model, const value *v)
{
    value *made = value_copy(m, v);
    value **parts[3] = { &made->date.year, &made->date.month, &made->date.day };
    if (v->kind == V_DELTA) {
        parts[0] = &made->delta.days;
        parts[1] = parts[2] = &made->delta.us;
    } else {
        made->date.ordinal = NULL;
    }
    for (int i = 0; i < 3; i++) {
        *parts[i] = input_concrete(m, model, *parts[i]);
        if (!*parts[i])
            return NULL;
    }
    return made;
}

static value *concrete_lazy(machine *m, Z3_model model, const value *v)
{
    Z3_ast found = solver_value(m->solver, model, v->lazy.length);
    value *length = found ? value_of_int(m, found) : NULL;
    int64_t count;
    if (!length || !value_whole(length, &count) || count < 0 || count > MOST_WITNESS_ITEMS)
        return NULL;
    value *list = value_sequence(m, V_LIST, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        Z3_ast item = solver_value(m->solver, model,
                                   Z3_mk_select(m->solver->z, v->lazy.array, term_int(m, i)));
        value *made = item ? value_of(m, v->lazy.of, item) : NULL;
        if (!made || !value_is_concrete(m, made))
            return NULL;
        values_add(m, &list->in.items, made);
    }
    return list;
}

/* A list, a set, a dict or an object: each of its parts. */
static value *concrete_parts(machine *m, Z3_model model, const value *v)
{
    value *copy = value_copy(m, v);
    if (v->kind == V_OBJECT && v->object.class->class.enumeration)
        return copy;
    if (v->kind == V_OBJECT && v->object.plain) {
        copy->object.plain = input_concrete(m, model, v->object.plain);
        return copy->object.plain ? copy : NULL;
    }
    values *lists[] = { &copy->in.items, &copy->in.others };
    if (v->kind == V_OBJECT) {
        lists[0] = &copy->object.fields;
        lists[1] = NULL;
    }
    for (int l = 0; l < 2; l++)
        for (size_t i = 0; lists[l] && i < lists[l]->count; i++) {
            lists[l]->at[i] = input_concrete(m, model, lists[l]->at[i]);
            if (!lists[l]->at[i])
                return NULL;
        }
    return copy;
}

value *input_concrete(machine *m, Z3_model model, const value *v)
{
    if (value_is_scalar(v)) {
        Z3_ast found = solver_value(m->solver, model, value_term(m, v));
        value *made = found ? value_of(m, v->kind, found) : NULL;
        return made && value_is_concrete(m, made) ? made : NULL;
    }
    if (v->kind == V_NONE)
        return value_none(m);
    if (v->kind == V_BYTES)
        return value_bytes(m, input_concrete(m, model, v->bytes.text));
    if (v->kind == V_DATE || v->kind == V_DELTA)
        return concrete_date(m, model, v);
    return value_is_lazy(v) ? concrete_lazy(m, model, v) : concrete_parts(m, model, v);
}

static bool write_items(machine *m, const values *items, text *out)
{
    for (size_t i = 0; i < items->count; i++) {
        if (i > 0)
            text_say(out, ", ");
        if (!input_write(m, items->at[i], out))
            return false;
    }
    return true;
}

static bool write_dict(machine *m, const value *v, text *out)
{
    text_say(out, "{");
    for (size_t i = 0; i < v->in.items.count; i++) {
        if (i > 0)
            text_say(out, ", ");
        if (!input_write(m, v->in.items.at[i], out))
            return false;
        text_say(out, ": ");
        if (!input_write(m, v->in.others.at[i], out))
            return false;
    }
    text_say(out, "}");
    return true;
}

static bool write_object(machine *m, const value *v, text *out)
{
    value *class = v->object.class;
    const value *record = record_of(class);
    if (class->class.enumeration) {
        text_print(out, "%s.%s", class->class.name, value_utf8(m, object_field(m, v, "_name_")));
        return true;
    }
    text_print(out, "%s(", class->class.name);
    for (size_t i = 0, written = 0; record && i < record->class.field_count; i++) {
        const field *f = &record->class.fields[i];
        const value *part = v->object.plain ? v->object.plain->in.items.at[i]
                                            : object_field(m, v, f->name);
        if (!part || (!f->init && !v->object.plain))
            continue;
        text_print(out, "%s%s=", written++ ? ", " : "", f->name);
        if (!input_write(m, part, out))
            return false;
    }
    text_say(out, ")");
    return record != NULL;
}

static bool write_date(machine *m, const value *of, text *out)
{
    value copy = *of, *v = &copy;
    bool date = v->kind == V_DATE;
    if (date)
        date_parts(m, v);
    text_print(out, "%s(",
               date             ? v->date.words ? v->date.words : "datetime.date"
               : v->delta.words ? v->delta.words
                                : "datetime.timedelta");
    values parts = { 0 };
    values_add(m, &parts, date ? v->date.year : v->delta.days);
    values_add(m, &parts, date ? v->date.month : value_int(m, 0));
    values_add(m, &parts, date ? v->date.day : v->delta.us);
    int64_t us;
    if (!date && value_whole(v->delta.us, &us) && us == 0)
        parts.count = 1;
    else if (!date && value_whole(v->delta.us, &us) && us % 1000000 == 0) {
        parts.at[1] = value_int(m, us / 1000000);
        parts.count = 2;
    }
    bool good = write_items(m, &parts, out);
    text_say(out, ")");
    return good;
}

static bool write_value(machine *m, const value *v, text *out);

bool input_write(machine *m, const value *v, text *out)
{
    bool good = ++m->nested <= MOST_NESTED && write_value(m, v, out);
    m->nested--;
    return good;
}

static bool write_value(machine *m, const value *v, text *out)
{
    bool good = true;
    switch (v->kind) {
    case V_NONE:
        text_say(out, "None");
        return true;
    case V_BOOL:
        text_say(out, v->truth ? "True" : "False");
        return true;
    case V_INT:
        if (v->known)
            text_print(out, "%lld", (long long)v->number);
        else
            text_say(out, Z3_get_numeral_string(m->solver->z, v->term));
        return true;
    case V_FLOAT:
        if (isnan(v->real) || isinf(v->real)) {
            text_print(out, "float('%s')", isnan(v->real) ? "nan" : v->real < 0 ? "-inf" : "inf");
            return true;
        }
        /* fall through */
    case V_BYTES:
    case V_STR: {
        value copy = *v, *one = &copy;
        values given = { &one, 1, 1 };
        value *words = bridge(m, "ascii(a)", &given, 0);
        if (words)
            text_say(out, value_utf8(m, words));
        return words != NULL;
    }
    case V_TUPLE:
    case V_LIST:
        text_say(out, v->kind == V_LIST ? "[" : "(");
        good = write_items(m, &v->in.items, out);
        text_say(out, v->kind == V_LIST ? "]" : v->in.items.count == 1 ? ",)" : ")");
        return good;
    case V_SET:
        text_say(out, v->frozen ? "frozenset([" : "set([");
        good = write_items(m, &v->in.items, out);
        text_say(out, "])");
        return good;
    case V_DICT:
        return write_dict(m, v, out);
    case V_OBJECT:
        return write_object(m, v, out);
    case V_DATE:
    case V_DELTA:
        return write_date(m, v, out);
    default:
        return false;
    }
}

yyjson_mut_val *input_json(machine *m, const value *v, yyjson_mut_doc *doc)
{
    switch (v->kind) {
    case V_NONE:
        return yyjson_mut_null(doc);
    case V_BOOL:
        return yyjson_mut_bool(doc, v->truth);
    case V_INT:
        if (v->known)
            return yyjson_mut_sint(doc, v->number);
        return yyjson_mut_rawcpy(doc, Z3_get_numeral_string(m->solver->z, v->term));
    case V_FLOAT:
        if (isfinite(v->real))
            return yyjson_mut_real(doc, v->real);
        break;
    case V_STR:
        for (size_t i = 0; i < v->str.count; i++) /* no zero, and JSON has no lone surrogates */
            if (!v->str.chars[i] || (v->str.chars[i] >= 0xd800 && v->str.chars[i] < 0xe000))
                goto as_words;
        return yyjson_mut_strcpy(doc, value_utf8(m, v));
    case V_LIST: {
        yyjson_mut_val *list = yyjson_mut_arr(doc);
        for (size_t i = 0; i < v->in.items.count; i++)
            yyjson_mut_arr_append(list, input_json(m, v->in.items.at[i], doc));
        return list;
    }
    default:
        break;
    }
as_words:;
    text words = { .a = m->arena };
    if (!input_write(m, v, &words))
        return yyjson_mut_null(doc);
    return yyjson_mut_strcpy(doc, words.data);
}
