/* Functions and types of Python's own. */
#include <string.h>

#include "machine/machine.h"

/* -- help -------------------------------------------------------------------------------------- */

static value *keyword(arguments *given, const char *name)
{
    for (size_t i = 0; i < given->names.count; i++)
        if (given->keywords.at[i] && value_says(given->names.at[i], name)) {
            value *v = given->keywords.at[i];
            given->keywords.at[i] = NULL;
            return v;
        }
    return NULL;
}

/* Between `least` and `most` arguments, and no keywords but those that were taken. */
static bool fits(machine *m, const arguments *given, size_t least, size_t most, int line)
{
    bool rest = false;
    for (size_t i = 0; i < given->names.count; i++)
        rest = rest || given->keywords.at[i];
    if (!rest && given->places.count >= least && given->places.count <= most)
        return true;
    throw(m, "TypeError", line);
    return false;
}

static value *by_python(machine *m, const char *expression, const arguments *given, int line)
{
    for (size_t i = 0; i < given->places.count; i++)
        if (!value_is_concrete(m, given->places.at[i]))
            return NULL;
    return bridge(m, expression, &given->places, line);
}

static bool all_known(machine *m, const arguments *given)
{
    for (size_t i = 0; i < given->places.count; i++)
        if (!value_is_concrete(m, given->places.at[i]))
            return false;
    return true;
}

enum { MOST_ROUNDED = 10000 }; /* digits before the point */

/* -- numbers ----------------------------------------------------------------------------------- */

static value *to_int(machine *m, arguments *given, int line)
{
    if (given->names.count)
        path_unsupported(m, line, "give the base without its name", "int() with keywords");
    if (given->places.count == 0)
        return value_int(m, 0);
    value *v = given->places.at[0];
    if (given->places.count == 1 && value_is_integral(v))
        return value_of_int(m, value_int_term(m, v));
    if (all_known(m, given) && given->places.count <= 2)
        return by_python(m, given->places.count == 1 ? "int(a)" : "int(a, b)", given, line);
    if (v->kind == V_STR && given->places.count == 1)
        return text_to_int(m, v, line);
    if (v->kind == V_FLOAT || v->kind == V_STR || v->kind == V_OBJECT)
        path_unsupported(m, line, "take an int as a parameter", "int() of a %s that is not known",
                         value_type(v));
    return throw(m, "TypeError", line);
}

static value *to_float(machine *m, arguments *given, int line)
{
    if (!fits(m, given, 0, 1, line))
        return NULL;
    if (given->places.count == 0)
        return value_float(m, 0);
    value *v = given->places.at[0];
    if (v->kind == V_FLOAT)
        return v;
    if (value_is_concrete(m, v) && (value_is_number(v) || v->kind == V_STR))
        return by_python(m, "float(a)", given, line);
    if (value_is_integral(v))
        return int_to_float(m, v, line);
    if (value_is_scalar(v) || v->kind == V_OBJECT)
        path_unsupported(m, line, "take a float as a parameter",
                         "float() of a %s that is not known", value_type(v));
    return throw(m, "TypeError", line);
}

static bool is_below_zero(machine *m, const value *concrete)
{
    return Z3_get_numeral_string(m->solver->z, value_int_term(m, concrete))[0] == '-';
}

static value *rounded(machine *m, arguments *given, int line)
{
    if (given->names.count)
        path_unsupported(m, line, "give the digits without their name", "round() with keywords");
    if (!fits(m, given, 1, 2, line))
        return NULL;
    value *v = given->places.at[0], *digits = given->places.count == 2 ? given->places.at[1] : NULL;
    int64_t places;
    /* Python would compute the power of ten. */
    if (digits && value_is_integral(v) && digits->kind == V_INT && value_is_concrete(m, digits) &&
        (value_whole(digits, &places) ? places < -MOST_ROUNDED : is_below_zero(m, digits)))
        path_bound(m, "the size of an int");
    if (all_known(m, given))
        return by_python(m, given->places.count == 1 ? "round(a)" : "round(a, b)", given, line);
    if (value_is_integral(v) && (given->places.count == 1 || given->places.at[1]->kind == V_NONE))
        return value_of_int(m, value_int_term(m, v));
    if (!value_is_number(v))
        return throw(m, "TypeError", line);
    path_unsupported(m, line, "use ints", "round() of a value that is not known");
}

static value *divided(machine *m, arguments *given, int line)
{
    if (!fits(m, given, 2, 2, line))
        return NULL;
    value *a = given->places.at[0], *b = given->places.at[1];
    if (!value_is_number(a) || !value_is_number(b))
        return throw(m, "TypeError", line);
    value *whole = binary(m, OP_FLOORDIV, a, b, line);
    value *rest = whole ? binary(m, OP_MOD, a, b, line) : NULL;
    if (!rest)
        return NULL;
    value *pair = value_sequence(m, V_TUPLE, 2);
    values_add(m, &pair->in.items, whole);
    values_add(m, &pair->in.items, rest);
    return pair;
}

static value *to_power(machine *m, arguments *given, int line)
{
    if (given->names.count || given->places.count > 2) {
        if (given->names.count || !all_known(m, given) || given->places.count != 3)
            path_unsupported(m, line, "use ** and %", "pow() with a modulus");
        return by_python(m, "pow(a, b, c)", given, line);
    }
    return fits(m, given, 2, 2, line)
               ? binary(m, OP_POW, given->places.at[0], given->places.at[1], line)
               : NULL;
}

/* -- over items -------------------------------------------------------------------------------- */

/* A set whose items come out the same in whichever order they are taken: ints and strs. */
static bool is_ordered_set(const value *v)
{
    for (size_t i = 0; v->kind == V_SET && i < v->in.items.count; i++)
        if (!value_is_integral(v->in.items.at[i]) && v->in.items.at[i]->kind != V_STR)
            return false;
    return v->kind == V_SET;
}

/* Items that are taken one by one: what is called for one of them may change where the others come
 * from, and an exception leaves the rest where it is. */
typedef struct taking {
    value *of; /* NULL: from `items` */
    cursor at;
    values items;
    size_t turn;
} taking;

static bool begin_taking(machine *m, taking *t, value *of, int line)
{
    *t = (taking){ 0 };
    if (is_ordered_set(of))
        return items_of(m, of, true, &t->items, line);
    t->of = of;
    return is_iterable(m, of, line);
}

static value *take(machine *m, taking *t, int line)
{
    if (t->of)
        return item_next(m, t->of, &t->at, line);
    return t->turn < t->items.count ? t->items.at[t->turn++] : NULL;
}

static value *extreme(machine *m, arguments *given, bool greatest, int line)
{
    value *key = keyword(given, "key"), *otherwise = keyword(given, "default");
    if (key && key->kind == V_NONE)
        key = NULL;
    if (!fits(m, given, 1, otherwise ? 1 : MOST_ITEMS, line))
        return NULL;
    taking from = { .items = given->places };
    value *of = given->places.at[0];
    if (given->places.count == 1) {
        if (key && of->kind == V_SET && of->in.items.count > 1)
            path_unsupported(m, line, "sort the items first", "the order of the items of a set");
        if (!begin_taking(m, &from, of, line))
            return NULL;
    }
    value *best = take(m, &from, line), *item;
    if (!best)
        return m->raised ? NULL : otherwise ? otherwise : throw(m, "ValueError", line);
    value *best_key = key ? call_with(m, key, best, line) : best;
    while (best_key && (item = take(m, &from, line))) {
        value *its = key ? call_with(m, key, item, line) : item;
        value *better = its ? compare(m, greatest ? OP_GT : OP_LT, its, best_key, line) : NULL;
        better = better ? truth_of(m, better) : NULL;
        if (!better)
            return NULL;
        if (!better->known) {
            value *joined = choose(m, better->term, item, best);
            value *joined_key = joined && key ? choose(m, better->term, its, best_key) : joined;
            if (joined && joined_key) {
                best = joined;
                best_key = joined_key;
                continue;
            }
        }
        if (better->known ? better->truth : path_decide(m, better->term, true)) {
            best = item;
            best_key = its;
        }
    }
    return best_key && !m->raised ? best : NULL;
}

static value *total(machine *m, arguments *given, int line)
{
    value *start = keyword(given, "start");
    if (!fits(m, given, 1, 2, line))
        return NULL;
    value *sum = start ? start : given->places.count == 2 ? given->places.at[1] : value_int(m, 0);
    if (sum->kind == V_STR)
        return throw(m, "TypeError", line);
    taking from;
    value *item;
    if (!begin_taking(m, &from, given->places.at[0], line))
        return NULL;
    while (sum && (item = take(m, &from, line))) {
        if (sum->kind != V_FLOAT && item->kind != V_FLOAT) {
            sum = binary(m, OP_ADD, sum, item, line);
            continue;
        }
        value *list = value_new(m, V_LIST); /* from 3.12 on Python adds floats with a correction */
        do
            values_add(m, &list->in.items, item);
        while ((item = take(m, &from, line)));
        if (m->raised)
            return NULL;
        if (!value_is_concrete(m, list) || !value_is_concrete(m, sum) ||
            given->places.at[0]->kind == V_SET)
            path_unsupported(m, line, "add in a loop", "sum() of floats that are not known");
        values both_given = { (value *[]){ list, sum }, 2, 2 };
        return bridge(m, "sum(a, b)", &both_given, line);
    }
    return m->raised ? NULL : sum;
}

/* any() and all() stop at the first item that decides. */
static value *quantified(machine *m, arguments *given, bool all, int line)
{
    if (!fits(m, given, 1, 1, line))
        return NULL;
    value *of = given->places.at[0];
    if (!is_iterable(m, of, line))
        return NULL;
    value *result = value_bool(m, all);
    if (of->kind != V_ITERATOR) { /* nothing can happen in between: one term */
        values items;
        if (!items_of(m, of, true, &items, line))
            return NULL;
        for (size_t i = 0; result && i < items.count; i++) {
            value *truth = truth_of(m, items.at[i]);
            result = !truth ? NULL : all ? both(m, result, truth) : either(m, result, truth);
        }
        return result;
    }
    cursor at = { 0 };
    value *item;
    while ((item = item_next(m, of, &at, line))) {
        int is = decide_truth(m, item, all);
        if (is < 0)
            return NULL;
        if (is != all)
            return value_bool(m, !all);
    }
    return m->raised ? NULL : result;
}

static value *ranged(machine *m, arguments *given, int line)
{
    if (!fits(m, given, 1, 3, line))
        return NULL;
    for (size_t i = 0; i < given->places.count; i++)
        if (!value_is_integral(given->places.at[i]))
            return throw(m, "TypeError", line);
    value *v = value_new(m, V_RANGE);
    bool one = given->places.count == 1;
    v->range.from = one ? value_int(m, 0) : given->places.at[0];
    v->range.to = given->places.at[one ? 0 : 1];
    v->range.step = given->places.count == 3 ? given->places.at[2] : value_int(m, 1);
    Z3_ast zero = Z3_mk_eq(m->solver->z, value_int_term(m, v->range.step), m->solver->zero);
    if (path_decide(m, zero, false))
        return throw(m, "ValueError", line);
    return v;
}

static value *collected(machine *m, arguments *given, const char *name, int line)
{
    value_kind kind = strcmp(name, "list") == 0    ? V_LIST
                      : strcmp(name, "tuple") == 0 ? V_TUPLE
                                                   : V_SET;
    if (!fits(m, given, 0, 1, line))
        return NULL;
    value *made = value_new(m, kind);
    made->frozen = strcmp(name, "frozenset") == 0;
    values items = { 0 };
    value *of = given->places.count ? given->places.at[0] : NULL;
    if (of && ((kind != V_SET && !has_length_hint(m, of, line)) ||
               !items_of(m, of, kind == V_SET, &items, line)))
        return NULL;
    for (size_t i = 0; i < items.count; i++)
        if (kind != V_SET)
            values_add(m, &made->in.items, items.at[i]);
        else if (!add_item(m, made, items.at[i], line))
            return NULL;
    return made;
}

/* Pairs one by one: where they come from may look at the dict that they go to. */
static bool add_pairs(machine *m, value *dict, value *of, int line)
{
    cursor at = { 0 };
    value *pair;
    if (!is_iterable(m, of, line))
        return false;
    while ((pair = item_next(m, of, &at, line))) {
        if ((pair->kind != V_TUPLE && pair->kind != V_LIST) || value_is_lazy(pair))
            path_unsupported(m, line, "give pairs", "dict() of these items");
        if (pair->in.items.count != 2)
            throw(m, "ValueError", line);
        if (m->raised || !set_key(m, dict, pair->in.items.at[0], pair->in.items.at[1], line))
            return false;
    }
    return !m->raised;
}

bool update_dict(machine *m, value *dict, arguments *given, int line)
{
    if (given->places.count > 1)
        return throw(m, "TypeError", line) != NULL;
    value *of = given->places.count ? given->places.at[0] : NULL;
    for (size_t i = 0; of && of->kind == V_DICT && i < of->in.items.count; i++)
        if (!set_key(m, dict, of->in.items.at[i], of->in.others.at[i], line))
            return false;
    if (of && of->kind != V_DICT && !add_pairs(m, dict, of, line))
        return false;
    for (size_t i = 0; i < given->names.count; i++)
        if (!set_key(m, dict, given->names.at[i], given->keywords.at[i], line))
            return false;
    return true;
}

static value *to_dict(machine *m, arguments *given, int line)
{
    value *made = value_new(m, V_DICT);
    return update_dict(m, made, given, line) ? made : NULL;
}

static value *iterating(machine *m, arguments *given, const char *name, int line)
{
    value *function = NULL;
    int how;
    size_t from = 0;
    if (strcmp(name, "enumerate") == 0) {
        value *start = keyword(given, "start");
        if (!fits(m, given, 1, 2, line))
            return NULL;
        how = BY_ENUMERATE;
        function = start ? start : given->places.count == 2 ? given->places.at[1] : value_int(m, 0);
        if (!value_is_integral(function))
            return throw(m, "TypeError", line);
        given->places.count = 1;
    } else if (strcmp(name, "zip") == 0) {
        if (given->names.count)
            path_unsupported(m, line, "compare the lengths", "zip() with strict");
        how = BY_ZIP;
    } else {
        if (!fits(m, given, 2, MOST_ITEMS, line))
            return NULL;
        if (given->places.count > 2)
            path_unsupported(m, line, "use zip()", "map() over several iterables");
        how = strcmp(name, "map") == 0 ? BY_MAP : BY_FILTER;
        function = given->places.at[0];
        from = 1;
    }
    values sources = { 0 };
    for (size_t i = from; i < given->places.count; i++) {
        if (!is_iterable(m, given->places.at[i], line))
            return NULL;
        values_add(m, &sources, given->places.at[i]);
    }
    value *v = iterator_from(m, how, sources);
    v->iterator.function = function;
    return v;
}

static value *iterator_of(machine *m, arguments *given, int line)
{
    if (given->places.count == 2)
        path_unsupported(m, line, "use a while loop", "iter() with a sentinel");
    if (!fits(m, given, 1, 1, line) || !is_iterable(m, given->places.at[0], line))
        return NULL;
    if (given->places.at[0]->kind == V_ITERATOR)
        return given->places.at[0];
    values sources = { 0 };
    values_add(m, &sources, given->places.at[0]);
    return iterator_from(m, BY_SOURCE, sources);
}

static value *reversed(machine *m, arguments *given, int line)
{
    if (!fits(m, given, 1, 1, line))
        return NULL;
    value *of = given->places.at[0];
    values items, sources = { 0 }, turned = { 0 };
    if (of->kind == V_LIST) {
        values_add(m, &sources, of);
        value *v = iterator_from(m, BY_REVERSED, sources);
        v->iterator.function = binary(m, OP_SUB, length_of(m, of, line), value_int(m, 1), line);
        return v;
    }
    if (of->kind == V_RANGE) {
        value *range = range_reversed(m, of, line);
        values_add(m, &sources, range);
        return iterator_from(m, BY_SOURCE, sources);
    }
    if (of->kind != V_TUPLE && of->kind != V_STR)
        path_unsupported(m, line, "make a list of it", "reversed() of a %s", value_type(of));
    if (!items_of(m, of, false, &items, line))
        return NULL;
    for (size_t i = items.count; i-- > 0;)
        values_add(m, &turned, items.at[i]);
    return iterator_over(m, turned);
}

static value *in_order(machine *m, arguments *given, int line)
{
    value *key = keyword(given, "key"), *reverse = keyword(given, "reverse");
    values items;
    if (!fits(m, given, 1, 1, line))
        return NULL;
    bool any_order = (!key || key->kind == V_NONE) && is_ordered_set(given->places.at[0]);
    if (!has_length_hint(m, given->places.at[0], line) ||
        !items_of(m, given->places.at[0], any_order, &items, line))
        return NULL;
    bool comparing = false;
    int turned = reverse ? decide_truth(m, reverse, false) : 0;
    return turned < 0 ? NULL
                      : sorted(m, items, key && key->kind != V_NONE ? key : NULL, turned,
                               &comparing, line);
}

static value *next_of(machine *m, arguments *given, int line)
{
    if (!fits(m, given, 1, 2, line))
        return NULL;
    value *of = given->places.at[0];
    if (of->kind != V_ITERATOR)
        return throw(m, "TypeError", line);
    cursor at = { 0 };
    value *item = item_next(m, of, &at, line);
    if (item || m->raised)
        return item;
    return given->places.count == 2 ? given->places.at[1] : throw(m, "StopIteration", line);
}

/* -- all of them ------------------------------------------------------------------------------- */

static value *type_of(machine *m, value *v, int line)
{
    if (v->kind == V_OBJECT)
        return v->object.class;
    if (value_is_scalar(v) || v->kind == V_LIST || v->kind == V_TUPLE || v->kind == V_DICT ||
        (v->kind == V_SET && !v->frozen)) {
        value *type = value_new(m, V_BUILTIN);
        type->builtin.name = value_type(v);
        return type;
    }
    path_unsupported(m, line, "use isinstance()", "type() of a %s", value_type(v));
}

static const char *const names[] = { "abs",
                                     "all",
                                     "any",
                                     "bool",
                                     "dict",
                                     "divmod",
                                     "enumerate",
                                     "filter",
                                     "float",
                                     "frozenset",
                                     "int",
                                     "isinstance",
                                     "len",
                                     "list",
                                     "map",
                                     "max",
                                     "min",
                                     "next",
                                     "pow",
                                     "print",
                                     "range",
                                     "repr",
                                     "reversed",
                                     "round",
                                     "set",
                                     "sorted",
                                     "str",
                                     "sum",
                                     "tuple",
                                     "type",
                                     "zip",
                                     "object",
                                     "iter",
                                     "callable",
                                     "chr",
                                     "ord",
                                     "hash",
                                     "id",
                                     "input",
                                     "bin",
                                     "hex",
                                     "oct",
                                     "format",
                                     "bytes",
                                     "bytearray",
                                     "complex",
                                     "memoryview",
                                     "slice",
                                     "super",
                                     "property",
                                     "staticmethod",
                                     "classmethod",
                                     "getattr",
                                     "setattr",
                                     "hasattr",
                                     "delattr",
                                     "issubclass",
                                     "ascii",
                                     "NotImplemented",
                                     "Ellipsis",
                                     "breakpoint",
                                     "help",
                                     "exit",
                                     "quit" };

bool is_builtin_name(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* What print() writes is of no account, but the methods of objects that it calls are. */
static bool is_printed(machine *m, value *v, bool inside, int depth, int line)
{
    m->digits_assumed |= v->kind == V_INT && !v->known;
    if (v->kind == V_OBJECT)
        return text_of(m, v, inside, line) != NULL;
    bool container = v->kind == V_TUPLE || v->kind == V_LIST || v->kind == V_DICT ||
                     v->kind == V_SET;
    if (!container || value_is_lazy(v))
        return true;
    if (depth > 50)
        path_unsupported(m, line, "print the items", "print() of what is nested deeply");
    const values *lists[] = { &v->in.items, &v->in.others };
    for (int l = 0; l < (v->kind == V_DICT ? 2 : 1); l++)
        for (size_t i = 0; i < lists[l]->count; i++)
            if (!is_printed(m, lists[l]->at[i], true, depth + 1, line))
                return false;
    return true;
}

value *call_builtin(machine *m, const char *name, arguments *given, int line)
{
    value *first = given->places.count ? given->places.at[0] : NULL;
    if (strcmp(name, "len") == 0)
        return fits(m, given, 1, 1, line) ? length_of(m, first, line) : NULL;
    if (strcmp(name, "abs") == 0) {
        if (first && first->kind == V_OBJECT)
            path_unsupported(m, line, NULL, "abs() of an object");
        return fits(m, given, 1, 1, line) ? absolute(m, first, line) : NULL;
    }
    if (strcmp(name, "int") == 0)
        return to_int(m, given, line);
    if (strcmp(name, "float") == 0)
        return to_float(m, given, line);
    if (strcmp(name, "bool") == 0)
        return !fits(m, given, 0, 1, line) ? NULL
               : first                     ? truth_of(m, first)
                                           : value_bool(m, false);
    if (strcmp(name, "str") == 0)
        return !fits(m, given, 0, 1, line) ? NULL
               : first                     ? text_of(m, first, false, line)
                                           : value_ascii(m, "");
    if (strcmp(name, "repr") == 0)
        return fits(m, given, 1, 1, line) ? text_of(m, first, true, line) : NULL;
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return extreme(m, given, name[1] == 'a', line);
    if (strcmp(name, "sum") == 0)
        return total(m, given, line);
    if (strcmp(name, "any") == 0 || strcmp(name, "all") == 0)
        return quantified(m, given, name[1] == 'l', line);
    if (strcmp(name, "range") == 0)
        return ranged(m, given, line);
    if (strcmp(name, "list") == 0 || strcmp(name, "tuple") == 0 || strcmp(name, "set") == 0 ||
        strcmp(name, "frozenset") == 0)
        return collected(m, given, name, line);
    if (strcmp(name, "dict") == 0)
        return to_dict(m, given, line);
    if (strcmp(name, "enumerate") == 0 || strcmp(name, "zip") == 0 || strcmp(name, "map") == 0 ||
        strcmp(name, "filter") == 0)
        return iterating(m, given, name, line);
    if (strcmp(name, "iter") == 0)
        return iterator_of(m, given, line);
    if (strcmp(name, "reversed") == 0)
        return reversed(m, given, line);
    if (strcmp(name, "sorted") == 0)
        return in_order(m, given, line);
    if (strcmp(name, "isinstance") == 0)
        return fits(m, given, 2, 2, line) ? is_instance(m, first, given->places.at[1], line) : NULL;
    if (strcmp(name, "type") == 0 && given->places.count == 1)
        return type_of(m, first, line);
    if (strcmp(name, "round") == 0)
        return rounded(m, given, line);
    if (strcmp(name, "divmod") == 0)
        return divided(m, given, line);
    if (strcmp(name, "pow") == 0)
        return to_power(m, given, line);
    if (strcmp(name, "next") == 0)
        return next_of(m, given, line);
    if (strcmp(name, "print") == 0) {
        for (size_t i = 0; i < given->places.count; i++)
            if (!is_printed(m, given->places.at[i], false, 0, line))
                return NULL;
        return value_none(m);
    }
    static const struct {
        const char *name, *expression;
    } known[] = { { "chr", "chr(a)" },
                  { "ord", "ord(a)" },
                  { "bin", "bin(a)" },
                  { "hex", "hex(a)" },
                  { "oct", "oct(a)" } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0 && given->places.count == 1 && !given->names.count &&
            value_is_scalar(first) && all_known(m, given))
            return by_python(m, known[i].expression, given, line);
    path_unsupported(m, line, "write it out in plain Python", "%s() of a value that is not known",
                     name);
}
