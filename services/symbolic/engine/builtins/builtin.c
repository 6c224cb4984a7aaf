/* Python's built-in functions and types. */
#include <string.h>

#include "builtins/builtins.h"

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

/* The base of int(); false: raised. */
static bool is_base(machine *m, arguments *given, int64_t *base, int line)
{
    if (given->places.count == 1)
        return true;
    value *few = settled_int(m, given->places.at[1]);
    if (!few || !value_whole(few, base))
        path_unsupported(m, line, "make the base a constant",
                         "int() with a base that is not known");
    if (*base == 0)
        path_unsupported(m, line, "give the base", "int() of a str that is not known with base 0");
    if (*base < 2 || *base > 36)
        throw(m, "ValueError", line);
    return !m->raised;
}

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
    int64_t base = 10;
    if (v->kind == V_STR && (given->places.count == 1 ||
                             (given->places.count == 2 && value_is_integral(given->places.at[1]))))
        return is_base(m, given, &base, line) ? text_to_int(m, v, (int)base, line) : NULL;
    if (v->kind == V_FLOAT && given->places.count == 1)
        return float_to_int(m, v, 't', line);
    if (v->kind == V_FLOAT || v->kind == V_STR || v->kind == V_BYTES || v->kind == V_OBJECT)
        path_unsupported(m, line, "take an int as a parameter", "int() of a %s that is not known",
                         value_type(v));
    if (given->places.count == 2 && value_is_integral(given->places.at[1]) &&
        !is_base(m, given, &base, line)) /* Python checks this first */
        return NULL;
    return throw(m, "TypeError", line);
}

static value *to_float(machine *m, arguments *given, int line)
{
    if (!arguments_fit(m, given, 0, 1, line))
        return NULL;
    if (given->places.count == 0)
        return value_float(m, 0);
    value *v = given->places.at[0];
    if (v->kind == V_FLOAT)
        return v;
    if (value_is_concrete(m, v) && (value_is_number(v) || v->kind == V_STR || v->kind == V_BYTES))
        return by_python(m, "float(a)", given, line);
    if (value_is_integral(v))
        return int_to_float(m, v, line);
    if (value_is_scalar(v) || v->kind == V_BYTES || v->kind == V_OBJECT)
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
    if (!arguments_fit(m, given, 1, 2, line))
        return NULL;
    value *v = given->places.at[0], *digits = given->places.count == 2 ? given->places.at[1] : NULL;
    int64_t places;
    /* Python would compute the power of ten, which may be huge. */
    if (digits && value_is_integral(v) && digits->kind == V_INT && value_is_concrete(m, digits) &&
        (value_whole(digits, &places) ? places < -MOST_ROUNDED : is_below_zero(m, digits)))
        path_bound(m, "the size of an int");
    if (all_known(m, given))
        return by_python(m, given->places.count == 1 ? "round(a)" : "round(a, b)", given, line);
    if (!value_is_number(v))
        return throw(m, "TypeError", line);
    return rounded_to(m, v, digits, line);
}

static value *divided(machine *m, arguments *given, int line)
{
    if (!arguments_fit(m, given, 2, 2, line))
        return NULL;
    value *a = given->places.at[0], *b = given->places.at[1];
    if ((!value_is_number(a) || !value_is_number(b)) && (a->kind != V_DELTA || b->kind != V_DELTA))
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
        if (given->names.count)
            path_unsupported(m, line, "give them without names", "pow() with keywords");
        if (given->places.count != 3)
            return throw(m, "TypeError", line);
        value **at = given->places.at;
        if (at[2]->kind == V_NONE)
            return binary(m, OP_POW, at[0], at[1], line);
        if (at[0]->kind == V_OBJECT)
            path_unsupported(m, line, "call its method", "pow() of an object with a modulus");
        return all_known(m, given) ? by_python(m, "pow(a, b, c)", given, line)
                                   : power_modulo(m, at[0], at[1], at[2], line);
    }
    return arguments_fit(m, given, 2, 2, line)
               ? binary(m, OP_POW, given->places.at[0], given->places.at[1], line)
               : NULL;
}

/* -- all of them ------------------------------------------------------------------------------- */

static value *type_of(machine *m, value *v, int line)
{
    if (v->kind == V_OBJECT)
        return v->object.class;
    if (v->of_class)
        return v->of_class;
    if (v->kind == V_DATE || v->kind == V_DELTA) {
        value *type = value_new(m, V_BUILTIN);
        type->builtin.name = v->kind == V_DATE ? "datetime.date" : "datetime.timedelta";
        return type;
    }
    if (value_is_scalar(v) || v->kind == V_BYTES || v->kind == V_LIST || v->kind == V_TUPLE ||
        v->kind == V_DICT || (v->kind == V_SET && !v->frozen)) {
        value *type = value_new(m, V_BUILTIN);
        type->builtin.name = value_type(v);
        return type;
    }
    path_unsupported(m, line, "use isinstance()", "type() of a %s", value_type(v));
}

/* The output of print() does not matter, but the methods of objects that it calls do. */
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
    settle(m, v);
    const values *lists[] = { &v->in.items, &v->in.others };
    unsigned version = v->version;
    for (int l = 0; l < (v->kind == V_DICT ? 2 : 1); l++)
        for (size_t i = 0; i < lists[l]->count; i++) {
            if (!is_printed(m, lists[l]->at[i], true, depth + 1, line))
                return false;
            require_unchanged(m, v, version, line);
        }
    return true;
}

/* print() is assumed to succeed, so its options must be valid. */
static void check_print_options(machine *m, arguments *given, int line)
{
    const value *words[] = { keyword_argument(given, "sep"), keyword_argument(given, "end") };
    const value *flush = keyword_argument(given, "flush");
    bool good = !flush || flush->kind == V_BOOL;
    for (int i = 0; i < 2; i++)
        good = good && (!words[i] || words[i]->kind == V_STR || words[i]->kind == V_NONE);
    for (size_t i = 0; i < given->names.count; i++)
        good = good && !given->keywords.at[i];
    if (!good)
        path_unsupported(m, line, "leave them out", "these options of print()");
}

/* issubclass() only of classes of the code and of exceptions; a class must not define its own
 * check. */
static bool is_plain_class(const value *v)
{
    return v->kind == V_CLASS && !v->class.protocol && !v->class.abc;
}

static bool arguments_are_classes(const arguments *given)
{
    if (given->places.count != 2 || given->names.count || !is_plain_class(given->places.at[0]))
        return false;
    const value *of = given->places.at[1];
    for (size_t i = 0; of->kind == V_TUPLE && i < of->in.items.count; i++)
        if (!is_plain_class(of->in.items.at[i]))
            return false;
    return of->kind == V_TUPLE || is_plain_class(of);
}

static value *has_base(machine *m, const value *class, value *of)
{
    values one = { &of, 1, 1 };
    const values *all = of->kind == V_TUPLE ? &of->in.items : &one;
    bool found = false;
    for (size_t i = 0; i < all->count; i++)
        found = found || is_subclass(class, all->at[i]);
    return value_bool(m, found);
}

static value *call_abs(machine *m, value *first, arguments *given, int line)
{
    value *method = first ? special_of(first, "__abs__") : NULL;
    return !arguments_fit(m, given, 1, 1, line) ? NULL
           : method                             ? call_special(m, first, method, NULL, line)
                                                : absolute(m, plain_of(first), line);
}

/* What makes a value of a type of another. */
static bool call_conversion(machine *m, const char *name, arguments *given, value **result,
                            int line)
{
    value *first = given->places.count ? given->places.at[0] : NULL;
    if (strcmp(name, "int") == 0)
        *result = to_int(m, given, line);
    else if (strcmp(name, "float") == 0)
        *result = to_float(m, given, line);
    else if (strcmp(name, "bool") == 0)
        *result = !arguments_fit(m, given, 0, 1, line) ? NULL
                  : first                              ? truth_of(m, first)
                                                       : value_bool(m, false);
    else if (call_bytes(m, name, given, result, line))
        return true;
    else if (strcmp(name, "str") == 0 && given->names.count)
        path_unsupported(m, line, "give the value without its name", "str() with keywords");
    else if (strcmp(name, "str") == 0)
        *result = !arguments_fit(m, given, 0, 1, line) ? NULL
                  : first                              ? text_of(m, first, false, line)
                                                       : value_ascii(m, "");
    else if (strcmp(name, "repr") == 0)
        *result = arguments_fit(m, given, 1, 1, line) ? text_of(m, first, true, line) : NULL;
    else if (strcmp(name, "ascii") == 0)
        *result = arguments_fit(m, given, 1, 1, line) ? text_ascii(m, first, line) : NULL;
    else
        return false;
    return true;
}

static value *call_print(machine *m, arguments *given, int line)
{
    check_print_options(m, given, line);
    for (size_t i = 0; i < given->places.count; i++)
        if (!is_printed(m, given->places.at[i], false, 0, line))
            return NULL;
    return value_none(m);
}

static value *call_format(machine *m, value *first, arguments *given, int line)
{
    if (!arguments_fit(m, given, 1, 2, line))
        return NULL;
    const value *spec = given->places.count == 2 ? given->places.at[1] : value_ascii(m, "");
    return spec->kind == V_STR ? format(m, first, spec, line) : throw(m, "TypeError", line);
}

/* Characters and digits of one value: chr, ord, bin, oct, hex. */
static value *call_on_one(machine *m, const char *name, value *first, arguments *given, int line)
{
    static const struct {
        const char *name, *expression;
    } known[] = { { "chr", "chr(a)" },
                  { "ord", "ord(a)" },
                  { "bin", "bin(a)" },
                  { "hex", "hex(a)" },
                  { "oct", "oct(a)" } };
    bool one = given->places.count == 1 && !given->names.count;
    if (one && strcmp(name, "ord") == 0 && !first->known && first->kind == V_STR)
        return text_ord(m, first, line);
    if (one && value_is_integral(first) && !all_known(m, given) &&
        (strcmp(name, "bin") == 0 || strcmp(name, "oct") == 0 || strcmp(name, "hex") == 0))
        return int_in_base(m, first, name[0] == 'b' ? 2 : name[0] == 'o' ? 8 : 16);
    if (one && strcmp(name, "chr") == 0 && value_is_integral(first) && !all_known(m, given))
        return text_chr(m, first, line);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0 && one && value_is_scalar(first) &&
            all_known(m, given))
            return by_python(m, known[i].expression, given, line);
    path_unsupported(m, line, "write it out in plain Python", "%s() of a value that is not known",
                     name);
}

value *call_builtin(machine *m, const char *name, arguments *given, int line)
{
    value *first = given->places.count ? given->places.at[0] : NULL;
    value *result = NULL;
    if (call_over_items(m, name, given, &result, line))
        return result;
    if (strcmp(name, "len") == 0)
        return arguments_fit(m, given, 1, 1, line) ? length_of(m, first, line) : NULL;
    if (strcmp(name, "abs") == 0)
        return call_abs(m, first, given, line);
    if (call_conversion(m, name, given, &result, line))
        return result;
    if (strcmp(name, "isinstance") == 0)
        return arguments_fit(m, given, 2, 2, line)
                   ? is_instance(m, first, given->places.at[1], line)
                   : NULL;
    if (strcmp(name, "issubclass") == 0 && arguments_are_classes(given))
        return has_base(m, first, given->places.at[1]);
    if (strcmp(name, "type") == 0 && given->places.count == 1)
        return type_of(m, first, line);
    if (strcmp(name, "round") == 0)
        return rounded(m, given, line);
    if (strcmp(name, "divmod") == 0)
        return divided(m, given, line);
    if (strcmp(name, "pow") == 0)
        return to_power(m, given, line);
    if (strcmp(name, "print") == 0)
        return call_print(m, given, line);
    if (strcmp(name, "format") == 0)
        return call_format(m, first, given, line);
    return call_on_one(m, name, first, given, line);
}
