/*
 * date and timedelta of the module datetime.
 *
 * A date has its year, month and day, or its ordinal, or both: a date that is computed from days
 * stays an ordinal until its parts are needed. The parts are then symbols, with the condition that
 * they are the date of this ordinal. A timedelta is a number of days and the microseconds of a day.
 * library/datetime.py has the parts that are modelled in Python.
 */
#include <string.h>

#include "theories/theories.h"

enum { LAST_ORDINAL = 3652059, MOST_DAYS = 999999999 };
static const int64_t day_us = INT64_C(86400000000);

static const int before_month[] = { 0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };

static value *op(machine *m, operator_kind kind, value *l, value *r)
{
    return integer_binary(m, kind, l, r, 0);
}

static value *op_by(machine *m, operator_kind kind, value *l, int64_t n)
{
    return integer_binary(m, kind, l, value_int(m, n), 0);
}

static value *is(machine *m, operator_kind kind, value *l, int64_t n)
{
    return compare(m, kind, l, value_int(m, n), 0);
}

/* May it be true? Then the path forks. */
static bool decided(machine *m, value *truth)
{
    return truth->known ? truth->truth : path_decide(m, truth->term, false);
}

static value *either_int(machine *m, value *truth, value *yes, value *no)
{
    return truth->known ? truth->truth ? yes : no : choose(m, truth->term, yes, no);
}

static value *as_int(machine *m, value *v)
{
    return value_of_int(m, value_int_term(m, v));
}

/* -- the calendar ------------------------------------------------------------------------------ */

static value *is_leap(machine *m, value *year)
{
    value *by_4 = is(m, OP_EQ, op_by(m, OP_MOD, year, 4), 0);
    value *by_100 = is(m, OP_EQ, op_by(m, OP_MOD, year, 100), 0);
    value *by_400 = is(m, OP_EQ, op_by(m, OP_MOD, year, 400), 0);
    return both(m, by_4, either(m, negated(m, by_100), by_400));
}

static value *days_in_month(machine *m, value *year, value *month)
{
    value *of_february = either_int(m, is_leap(m, year), value_int(m, 29), value_int(m, 28));
    value *days = value_int(m, 31);
    static const int short_months[] = { 4, 6, 9, 11 };
    for (size_t i = 0; i < 4; i++)
        days = either_int(m, is(m, OP_EQ, month, short_months[i]), value_int(m, 30), days);
    return either_int(m, is(m, OP_EQ, month, 2), of_february, days);
}

static value *ordinal_of_parts(machine *m, value *year, value *month, value *day)
{
    value *past = op_by(m, OP_SUB, year, 1), *days = op_by(m, OP_MULT, past, 365);
    days = op(m, OP_ADD, days, op_by(m, OP_FLOORDIV, past, 4));
    days = op(m, OP_SUB, days, op_by(m, OP_FLOORDIV, past, 100));
    days = op(m, OP_ADD, days, op_by(m, OP_FLOORDIV, past, 400));
    value *before = value_int(m, before_month[12]);
    for (int i = 11; i > 0; i--)
        before = either_int(m, is(m, OP_EQ, month, i), value_int(m, before_month[i]), before);
    value *leap = both(m, is(m, OP_GT, month, 2), is_leap(m, year));
    days = op(m, OP_ADD, days, op(m, OP_ADD, before, day));
    return op(m, OP_ADD, days, as_int(m, leap));
}

value *date_of_parts(machine *m, value *year, value *month, value *day)
{
    value *v = value_new(m, V_DATE);
    v->date.year = year;
    v->date.month = month;
    v->date.day = day;
    return v;
}

static value *ordinal_of(machine *m, value *v)
{
    if (!v->date.ordinal)
        v->date.ordinal = ordinal_of_parts(m, v->date.year, v->date.month, v->date.day);
    return v->date.ordinal;
}

/* The date of an ordinal. NULL: there is no such date, and OverflowError or another one is
 * raised. */
static value *date_of_ordinal(machine *m, value *ordinal, const char *otherwise, int line)
{
    value *outside = either(m, is(m, OP_LT, ordinal, 1), is(m, OP_GT, ordinal, LAST_ORDINAL));
    if (decided(m, outside))
        return throw(m, otherwise, line);
    value *v = value_new(m, V_DATE);
    v->date.ordinal = ordinal;
    return v;
}

static void known_parts(machine *m, value *v, int64_t ordinal)
{
    int64_t rest = ordinal - 1, year = 1 + 400 * (rest / 146097);
    rest %= 146097;
    int64_t left = 366;
    for (;; year++) { /* at most 400 of them */
        left = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 366 : 365;
        if (rest < left)
            break;
        rest -= left;
    }
    int64_t month = 12;
    while (rest < before_month[month] + (month > 2 && left == 366))
        month--;
    v->date.day = value_int(m, rest - before_month[month] - (month > 2 && left == 366) + 1);
    v->date.month = value_int(m, month);
    v->date.year = value_int(m, year);
}

static value *symbol_of(machine *m, const value *ordinal, const char *part)
{
    Z3_context z = m->solver->z;
    const char *name = arena_print(m->arena, "part of date %s %u", part,
                                   Z3_get_ast_id(z, value_int_term(m, ordinal)));
    return value_of_int(m, Z3_mk_const(z, Z3_mk_string_symbol(z, name), m->solver->ints));
}

/* Is this a date? */
value *date_is_valid(machine *m, value *year, value *month, value *day)
{
    value *good = both(m, is(m, OP_GTE, year, 1), is(m, OP_LTE, year, 9999));
    good = both(m, good, both(m, is(m, OP_GTE, month, 1), is(m, OP_LTE, month, 12)));
    good = both(m, good, is(m, OP_GTE, day, 1));
    return both(m, good, compare(m, OP_LTE, day, days_in_month(m, year, month), 0));
}

void date_parts(machine *m, value *v)
{
    int64_t ordinal;
    if (v->date.year)
        return;
    if (value_whole(v->date.ordinal, &ordinal)) {
        known_parts(m, v, ordinal);
        return;
    }
    value *year = symbol_of(m, v->date.ordinal, "year");
    value *month = symbol_of(m, v->date.ordinal, "month");
    value *day = symbol_of(m, v->date.ordinal, "day");
    value *same = compare(m, OP_EQ, ordinal_of_parts(m, year, month, day), v->date.ordinal, 0);
    value *fact = both(m, date_is_valid(m, year, month, day), same);
    path_assume(m, value_term(m, fact));
    v->date.year = year;
    v->date.month = month;
    v->date.day = day;
}

/* An argument that CPython converts to a C int. NULL: raised. */
static value *c_int(machine *m, value *v, int line)
{
    if (!value_is_integral(v)) {
        if (v->kind == V_OBJECT)
            path_unsupported(m, line, "use an int", "a date of an object");
        return throw(m, "TypeError", line);
    }
    v = as_int(m, v);
    value *outside = either(m, is(m, OP_GT, v, INT32_MAX), is(m, OP_LT, v, INT32_MIN));
    return decided(m, outside) ? throw(m, "OverflowError", line) : v;
}

static value *make_date(machine *m, arguments *given, int line)
{
    static const char *const names[] = { "year", "month", "day" };
    value *parts[3];
    if (given->places.count == 1 && given->names.count == 0 && given->places.at[0]->kind == V_STR)
        path_unsupported(m, line, "use date.fromisoformat()", "date() of a str");
    if (given->places.count + given->names.count > 3)
        return throw(m, "TypeError", line);
    for (size_t i = 0; i < 3; i++) { /* one after the other, as C does */
        value *v = i < given->places.count ? given->places.at[i]
                                           : keyword_argument(given, names[i]);
        parts[i] = v ? c_int(m, v, line) : throw(m, "TypeError", line);
        if (!parts[i])
            return NULL;
    }
    if (!arguments_fit(m, given, 0, 3, line))
        return NULL;
    value *good = date_is_valid(m, parts[0], parts[1], parts[2]);
    if (decided(m, negated(m, good)))
        return throw(m, "ValueError", line);
    return date_of_parts(m, parts[0], parts[1], parts[2]);
}

/* -- timedelta --------------------------------------------------------------------------------- */

static bool is_zero(const value *v)
{
    int64_t n;
    return value_whole(v, &n) && n == 0;
}

/* NULL: raised. */
static value *delta_of(machine *m, value *days, value *us, int line)
{
    if (!is_zero(us)) {
        days = op(m, OP_ADD, days, op_by(m, OP_FLOORDIV, us, day_us));
        us = op_by(m, OP_MOD, us, day_us);
    }
    value *outside = either(m, is(m, OP_GT, days, MOST_DAYS), is(m, OP_LT, days, -MOST_DAYS));
    if (decided(m, outside))
        return throw(m, "OverflowError", line);
    return delta_of_parts(m, days, us);
}

value *delta_of_parts(machine *m, value *days, value *us)
{
    value *v = value_new(m, V_DELTA);
    v->delta.days = days;
    v->delta.us = us;
    return v;
}

/* All of it in microseconds. */
static value *total_of(machine *m, const value *v)
{
    return op(m, OP_ADD, op_by(m, OP_MULT, v->delta.days, day_us), v->delta.us);
}

/* Checked before other arguments: NaN is a ValueError, in an order that is not modelled. */
static void refuse_fractions(machine *m, const values *given, int line)
{
    for (size_t i = 0; i < given->count; i++)
        if (given->at[i]->kind == V_FLOAT || given->at[i]->kind == V_OBJECT)
            path_unsupported(m, line, "use ints, such as minutes=90", "timedelta() of a %s",
                             value_type(given->at[i]));
}

static value *make_delta(machine *m, arguments *given, int line)
{
    static const struct {
        const char *name;
        int64_t days, us;
    } all[] = { { "days", 1, 0 },           { "seconds", 0, 1000000 },
                { "microseconds", 0, 1 },   { "milliseconds", 0, 1000 },
                { "minutes", 0, 60000000 }, { "hours", 0, 3600000000 },
                { "weeks", 7, 0 } };
    value *days = value_int(m, 0), *us = value_int(m, 0);
    refuse_fractions(m, &given->places, line);
    refuse_fractions(m, &given->keywords, line);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        value *v = keyword_argument(given, all[i].name);
        if (v && i < given->places.count)
            return throw(m, "TypeError", line);
        if (i < given->places.count)
            v = given->places.at[i];
        if (!v)
            continue;
        if (!value_is_integral(v))
            return throw(m, "TypeError", line);
        v = as_int(m, v);
        if (all[i].days)
            days = op(m, OP_ADD, days, op_by(m, OP_MULT, v, all[i].days));
        else
            us = op(m, OP_ADD, us, op_by(m, OP_MULT, v, all[i].us));
    }
    return arguments_fit(m, given, 0, 7, line) ? delta_of(m, days, us, line) : NULL;
}

static value *delta_by_number(machine *m, operator_kind kind, value *delta, value *by, int line)
{
    by = as_int(m, by);
    if (kind == OP_MULT && is_zero(delta->delta.us))
        return delta_of(m, op(m, OP_MULT, delta->delta.days, by), delta->delta.us, line);
    value *total = binary(m, kind, total_of(m, delta), by, line);
    return total ? delta_of(m, value_int(m, 0), total, line) : NULL;
}

static value *delta_binary(machine *m, operator_kind kind, value *l, value *r, int line)
{
    value *days, *us;
    bool whole = is_zero(l->delta.us) && is_zero(r->delta.us);
    switch (kind) {
    case OP_ADD:
    case OP_SUB:
        days = op(m, kind, l->delta.days, r->delta.days);
        us = op(m, kind, l->delta.us, r->delta.us);
        return delta_of(m, days, us, line);
    case OP_FLOORDIV:
    case OP_DIV:
        return whole ? binary(m, kind, l->delta.days, r->delta.days, line)
                     : binary(m, kind, total_of(m, l), total_of(m, r), line);
    case OP_MOD:
        if (whole) {
            days = binary(m, kind, l->delta.days, r->delta.days, line);
            return days ? delta_of(m, days, value_int(m, 0), line) : NULL;
        }
        us = binary(m, kind, total_of(m, l), total_of(m, r), line);
        return us ? delta_of(m, value_int(m, 0), us, line) : NULL;
    default:
        return throw(m, "TypeError", line);
    }
}

/* -- operators --------------------------------------------------------------------------------- */

value *date_binary(machine *m, operator_kind kind, value *l, value *r, int line)
{
    if (l->kind == V_DELTA && r->kind == V_DELTA)
        return delta_binary(m, kind, l, r, line);
    if (l->kind == V_DATE && r->kind == V_DATE && kind == OP_SUB)
        return delta_of(m, op(m, OP_SUB, ordinal_of(m, l), ordinal_of(m, r)), value_int(m, 0),
                        line);
    if (l->kind == V_DATE && r->kind == V_DELTA && (kind == OP_ADD || kind == OP_SUB))
        return date_of_ordinal(m, op(m, kind, ordinal_of(m, l), r->delta.days), "OverflowError",
                               line);
    if (l->kind == V_DELTA && r->kind == V_DATE && kind == OP_ADD)
        return date_binary(m, kind, r, l, line);
    if (l->kind == V_DELTA && value_is_integral(r) && (kind == OP_MULT || kind == OP_FLOORDIV))
        return delta_by_number(m, kind, l, r, line);
    if (r->kind == V_DELTA && value_is_integral(l) && kind == OP_MULT)
        return delta_by_number(m, kind, r, l, line);
    bool scaled = (l->kind == V_DELTA || r->kind == V_DELTA) && (kind == OP_MULT || kind == OP_DIV);
    if (scaled && (value_is_number(l) || value_is_number(r)))
        path_unsupported(m, line, "use // and ints", "%s of a timedelta and a number that rounds",
                         tree_sign(kind));
    return throw(m, "TypeError", line);
}

value *date_negative(machine *m, value *delta, int line)
{
    return delta_of(m, op(m, OP_SUB, value_int(m, 0), delta->delta.days),
                    op(m, OP_SUB, value_int(m, 0), delta->delta.us), line);
}

/* A pair is less than another one by its first parts, or by the second if these are equal. */
static value *before(machine *m, operator_kind kind, value *a, value *b, value *rest)
{
    operator_kind strict = kind == OP_LT || kind == OP_LTE ? OP_LT : OP_GT;
    value *same = compare(m, OP_EQ, a, b, 0);
    return kind == OP_EQ ? both(m, same, rest)
                         : either(m, compare(m, strict, a, b, 0), both(m, same, rest));
}

/* Two dates, or two timedeltas. */
value *date_compare(machine *m, operator_kind kind, value *l, value *r)
{
    if (l->kind == V_DELTA) {
        value *rest = compare(m, kind, l->delta.us, r->delta.us, 0);
        return before(m, kind, l->delta.days, r->delta.days, rest);
    }
    if ((l->date.ordinal && r->date.ordinal) || !l->date.year || !r->date.year)
        return compare(m, kind, ordinal_of(m, l), ordinal_of(m, r), 0);
    value *rest = compare(m, kind, l->date.day, r->date.day, 0);
    rest = before(m, kind, l->date.month, r->date.month, rest);
    return before(m, kind, l->date.year, r->date.year, rest);
}

value *date_truth(machine *m, value *delta)
{
    return either(m, is(m, OP_NOTEQ, delta->delta.days, 0), is(m, OP_NOTEQ, delta->delta.us, 0));
}

value *date_choose(machine *m, Z3_ast condition, value *yes, value *no)
{
    value *v = value_new(m, yes->kind);
    if (yes->kind == V_DELTA) {
        v->delta.days = choose(m, condition, yes->delta.days, no->delta.days);
        v->delta.us = choose(m, condition, yes->delta.us, no->delta.us);
        return v;
    }
    if (yes->date.year && no->date.year) {
        v->date.year = choose(m, condition, yes->date.year, no->date.year);
        v->date.month = choose(m, condition, yes->date.month, no->date.month);
        v->date.day = choose(m, condition, yes->date.day, no->date.day);
    }
    if (!v->date.year || yes->date.ordinal || no->date.ordinal)
        v->date.ordinal = choose(m, condition, ordinal_of(m, yes), ordinal_of(m, no));
    return v;
}

/* -- attributes -------------------------------------------------------------------------------- */

/* A method that is modelled in Python: `date_replace` is date.replace. */
static value *written(machine *m, value *self, const char *name)
{
    const char *of = self->kind == V_DATE ? "date" : "timedelta";
    value *function = library_member(m, "datetime", arena_print(m->arena, "%s_%s", of, name));
    if (!function)
        return NULL;
    value *method = value_new(m, V_METHOD);
    method->builtin.self = self;
    method->builtin.name = name;
    method->builtin.call = function;
    return method;
}

/* If Python has this attribute, it is not supported. */
static value *no_attribute(machine *m, const char *type, const char *name, int line)
{
    value *words = value_ascii(m, name);
    value *has = bridge(m, arena_print(m->arena, "hasattr(__import__('datetime').%s, a)", type),
                        &(values){ &words, 1, 1 }, line);
    if (!has || has->truth)
        path_unsupported(m, line, "write it with year, month, day and timedelta", "%s.%s", type,
                         name);
    return throw(m, "AttributeError", line);
}

value *date_attribute(machine *m, value *v, const char *name, int line)
{
    if (v->kind == V_DATE) {
        bool year = strcmp(name, "year") == 0, month = strcmp(name, "month") == 0;
        if (year || month || strcmp(name, "day") == 0) {
            date_parts(m, v);
            return year ? v->date.year : month ? v->date.month : v->date.day;
        }
    } else if (strcmp(name, "days") == 0) {
        return v->delta.days;
    } else if (strcmp(name, "seconds") == 0) {
        return op_by(m, OP_FLOORDIV, v->delta.us, 1000000);
    } else if (strcmp(name, "microseconds") == 0) {
        return op_by(m, OP_MOD, v->delta.us, 1000000);
    }
    value *method = name[0] == '_' ? NULL : written(m, v, name);
    return method ? method : no_attribute(m, value_type(v), name, line);
}

/* An attribute of the class `type` itself, "date" or "timedelta". */
value *date_class_attribute(machine *m, const char *type, const char *name, int line)
{
    value *found = name[0] == '_'
                       ? NULL
                       : library_member(m, "datetime",
                                        arena_print(m->arena, "%s_class_%s", type, name));
    return found ? found : no_attribute(m, type, name, line);
}

/* -- what the module calls ----------------------------------------------------------------------
 */

/* The digit of a text of one character; -1: it is none. */
static value *digit_of(machine *m, const value *of)
{
    if (of->known)
        return value_int(m, of->str.chars[0] >= '0' && of->str.chars[0] <= '9'
                                ? (int64_t)of->str.chars[0] - '0'
                                : -1);
    return value_of_int(m, Z3_mk_str_to_int(m->solver->z, of->term));
}

value *call_datetime(machine *m, const char *name, arguments *given, int line)
{
    value *first = given->places.count ? given->places.at[0] : NULL;
    if (strcmp(name, "date") == 0)
        return make_date(m, given, line);
    if (strcmp(name, "timedelta") == 0)
        return make_delta(m, given, line);
    if (strcmp(name, "ordinal") == 0)
        return ordinal_of(m, first);
    if (strcmp(name, "total") == 0)
        return total_of(m, first);
    if (strcmp(name, "digit") == 0)
        return digit_of(m, first);
    if (strcmp(name, "from_ordinal") == 0) { /* which C takes as an int */
        value *ordinal = c_int(m, first, line);
        return ordinal ? date_of_ordinal(m, ordinal, "ValueError", line) : NULL;
    }
    path_unsupported(m, line, NULL, "datetime.%s", name);
}

value *date_text(machine *m, value *v, bool representation, int line)
{
    if (v->kind == V_DELTA)
        path_unsupported(m, line, "use total_seconds() or days", "the text of a timedelta");
    value *function = library_member(m, "datetime",
                                     representation ? "repr_of_date" : "date_isoformat");
    return call_with(m, function, v, line);
}
