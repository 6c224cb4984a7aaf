/*
 * Methods of strs that search for a part, if the characters are given as code points. Where
 * possible the result is one term (find, count, startswith); methods that cut the str fork at each
 * place.
 */
#include <string.h>

#include "base/base.h"
#include "builtins/builtins.h"
#include "machine/terms.h"

/* -- bounds --------------------------------------------------------------------------------------
 */

/* A bound of find() and the like: 0 … length, or length + 1 for everything beyond. -1: raised. */
static int64_t bound_of(machine *m, value *v, int64_t otherwise, int64_t length, int line)
{
    Z3_context z = m->solver->z;
    int64_t at;
    if (!v || v->kind == V_NONE)
        return otherwise;
    if (!value_is_integral(v)) {
        throw(m, "TypeError", line);
        return -1;
    }
    if (!value_whole(v, &at)) {
        Z3_ast term = value_int_term(m, v);
        if (path_decide(m, Z3_mk_gt(z, term, term_int(m, length)), false))
            return length + 1;
        for (at = length; at > -length; at--)
            if (path_decide(m, Z3_mk_eq(z, term, term_int(m, at)), true))
                break;
    }
    if (at < 0)
        at = at < -length ? 0 : at + length;
    return at > length ? length + 1 : at;
}

typedef struct stretch {
    int64_t from, to;
    bool none; /* not even an empty part is found */
} stretch;

static bool stretch_of(machine *m, const arguments *given, size_t length, stretch *out, int line)
{
    int64_t n = (int64_t)length;
    value *start = given->places.count > 1 ? given->places.at[1] : NULL;
    value *end = given->places.count > 2 ? given->places.at[2] : NULL;
    out->from = bound_of(m, start, 0, n, line);
    out->to = out->from < 0 ? -1 : bound_of(m, end, n, n, line);
    out->to = out->to > n ? n : out->to;
    out->none = out->from > out->to;
    return out->from >= 0 && out->to >= 0;
}

/* -- in one term ---------------------------------------------------------------------------------
 */

static Z3_ast match(machine *m, const Z3_ast *whole, int64_t at, const Z3_ast *part, size_t count)
{
    return letters_match(m, whole + at, part, count);
}

static value *found_at(machine *m, const value *self, const value *part, const stretch *in,
                       const char *name, int line)
{
    Z3_context z = m->solver->z;
    bool last = name[0] == 'r';
    const Z3_ast *whole = value_codes(m, self), *sought = value_codes(m, part);
    Z3_ast place = term_int(m, -1);
    int64_t count = (int64_t)part->str.count, most = in->to - count;
    for (int64_t i = 0; !in->none && i <= most - in->from; i++) {
        int64_t at = last ? in->from + i : most - i;
        place = Z3_mk_ite(z, match(m, whole, at, sought, part->str.count), term_int(m, at), place);
    }
    place = solver_simplify(m->solver, place);
    if (strstr(name, "index") && path_decide(m, Z3_mk_lt(z, place, m->solver->zero), false))
        return throw(m, "ValueError", line);
    return value_of_int(m, place);
}

static value *count_of(machine *m, const value *self, const value *part, const stretch *in)
{
    Z3_context z = m->solver->z;
    int64_t count = (int64_t)part->str.count;
    if (in->none || count == 0)
        return value_int(m, in->none ? 0 : in->to - in->from + 1);
    const Z3_ast *whole = value_codes(m, self), *sought = value_codes(m, part);
    Z3_ast sum = m->solver->zero, free = term_int(m, 0); /* `free`: where the next one may begin */
    for (int64_t at = in->from; at + count <= in->to; at++) {
        Z3_ast here = match(m, whole, at, sought, part->str.count);
        if (count > 1)
            here = Z3_mk_and(z, 2, (Z3_ast[]){ here, Z3_mk_le(z, free, term_int(m, at)) });
        here = solver_simplify(m->solver, here);
        sum = Z3_mk_add(z, 2,
                        (Z3_ast[]){ sum, Z3_mk_ite(z, here, m->solver->one, m->solver->zero) });
        free = Z3_mk_ite(z, here, term_int(m, at + count), free);
    }
    return value_of_int(m, sum);
}

static value *begins(machine *m, const value *self, const value *part, const stretch *in, bool end)
{
    int64_t count = (int64_t)part->str.count;
    if (in->none || in->to - in->from < count)
        return value_bool(m, false);
    return value_of_bool(m, match(m, value_codes(m, self), end ? in->to - count : in->from,
                                  value_codes(m, part), part->str.count));
}

/* -- cut in pieces -------------------------------------------------------------------------------
 */

/* True if the part is at this place, on this path. */
static bool is_at(machine *m, const value *self, size_t at, const value *part)
{
    return at + part->str.count <= self->str.count &&
           path_decide(
               m,
               match(m, value_codes(m, self), (int64_t)at, value_codes(m, part), part->str.count),
               false);
}

static value *between(machine *m, const value *self, size_t from, size_t to)
{
    return letters_part(m, self, from, to > from ? to - from : 0);
}

static void turn_around(values *items)
{
    for (size_t i = 0; i < items->count / 2; i++) {
        value *kept = items->at[i];
        items->at[i] = items->at[items->count - 1 - i];
        items->at[items->count - 1 - i] = kept;
    }
}

/* The pieces between the occurrences of a non-empty part; at most `most` cuts. */
static values pieces(machine *m, const value *self, const value *part, int64_t most, bool last)
{
    values found = { 0 };
    size_t count = part->str.count, from = 0, to = self->str.count;
    for (size_t at = 0; most != 0 && !last && at + count <= to;) {
        if (!is_at(m, self, at, part)) {
            at++;
            continue;
        }
        values_add(m, &found, between(m, self, from, at));
        at = from = at + count;
        most--;
    }
    for (size_t at = to; most != 0 && last && at >= count;) {
        if (!is_at(m, self, at - count, part)) {
            at--;
            continue;
        }
        values_add(m, &found, between(m, self, at, to));
        at = to = at - count;
        most--;
    }
    values_add(m, &found, between(m, self, from, to));
    if (last)
        turn_around(&found);
    return found;
}

static bool is_blank(machine *m, const value *self, size_t at)
{
    return path_decide(m, letter_is(m, value_codes(m, self)[at], "isspace"), false);
}

/* split() and rsplit() without a separator: words between white space. */
static values words(machine *m, const value *self, int64_t most, bool last)
{
    values found = { 0 };
    size_t size = self->str.count, at = 0;
#define PLACE(i) (last ? size - 1 - (i) : (i))
    while (at < size) {
        if (is_blank(m, self, PLACE(at))) {
            at++;
            continue;
        }
        size_t from = at++;
        if (most-- == 0) {
            at = size;
        } else {
            while (at < size && !is_blank(m, self, PLACE(at)))
                at++;
        }
        values_add(m, &found,
                   last ? between(m, self, size - at, size - from) : between(m, self, from, at));
    }
#undef PLACE
    if (last)
        turn_around(&found);
    return found;
}

static value *replaced(machine *m, value *self, const value *old, value *new, int64_t most,
                       int line)
{
    Z3_context z = m->solver->z;
    const Z3_ast *codes = value_codes(m, self);
    if (old->str.count == 1 && (new->known || new->str.codes) && new->str.count == 1 && most < 0) {
        Z3_ast *made = arena_take(m->arena, (self->str.count + 1) * sizeof *made);
        for (size_t i = 0; i < self->str.count; i++)
            made[i] = Z3_mk_ite(z, Z3_mk_eq(z, codes[i], value_codes(m, old)[0]),
                                value_codes(m, new)[0], codes[i]);
        return value_letters(m, made, self->str.count);
    }
    value *made = value_ascii(m, "");
    if (old->str.count == 0) { /* before each character, and at the end */
        for (size_t i = 0; i <= self->str.count; i++) {
            if (most != 0)
                made = text_binary(m, OP_ADD, made, new, line);
            most -= most != 0;
            if (i < self->str.count)
                made = text_binary(m, OP_ADD, made, between(m, self, i, i + 1), line);
        }
        return made;
    }
    values found = pieces(m, self, old, most, false);
    for (size_t i = 0; i < found.count; i++) {
        if (i > 0)
            made = text_binary(m, OP_ADD, made, new, line);
        made = text_binary(m, OP_ADD, made, found.at[i], line);
    }
    return made;
}

static value *parted(machine *m, value *self, value *part, bool last)
{
    values found = pieces(m, self, part, 1, last);
    value *made = value_new(m, V_TUPLE), *empty = value_ascii(m, "");
    bool cut = found.count == 2;
    values_add(m, &made->in.items, cut ? found.at[0] : last ? empty : found.at[0]);
    values_add(m, &made->in.items, cut ? part : empty);
    values_add(m, &made->in.items, cut ? found.at[1] : last ? found.at[0] : empty);
    return made;
}

static value *lines_of(machine *m, const value *self, bool ends)
{
    static const uint32_t breaks[] = { '\n', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029 };
    Z3_context z = m->solver->z;
    const Z3_ast *codes = value_codes(m, self);
    value *made = value_new(m, V_LIST);
    size_t from = 0, at = 0, size = self->str.count;
    while (at < size) {
        Z3_ast each[sizeof breaks / sizeof *breaks];
        for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++)
            each[i] = Z3_mk_eq(z, codes[at], term_int(m, breaks[i]));
        size_t end = at + 1;
        if (path_decide(m, Z3_mk_eq(z, codes[at], term_int(m, '\r')), false)) {
            end += end < size && path_decide(m, Z3_mk_eq(z, codes[end], term_int(m, '\n')), true);
        } else if (!path_decide(m, Z3_mk_or(z, sizeof breaks / sizeof *breaks, each), false)) {
            at++;
            continue;
        }
        values_add(m, &made->in.items, between(m, self, from, ends ? end : at));
        from = at = end;
    }
    if (from < size)
        values_add(m, &made->in.items, between(m, self, from, size));
    return made;
}

/* -- all of them ---------------------------------------------------------------------------------
 */

static bool has_codes(const value *v)
{
    return v->kind == V_STR && (v->known || v->str.codes);
}

/* A part of unknown length: the path forks on its length. */
static value *part_of(machine *m, value *v)
{
    return v->kind == V_STR ? text_settled(m, v) : v;
}

/* A part without a bound is left to the theory of strings. */
static bool is_endless(machine *m, const arguments *given)
{
    value *part = given->places.count ? given->places.at[0] : NULL;
    return part && part->kind == V_STR && given->places.count == 1 && !given->names.count &&
           !text_is_short(m, part, MOST_SETTLED);
}

static value *by_term(machine *m, value *self, const char *name, arguments *given, int line)
{
    bool ends = is_word(name, "endswith"), starts = is_word(name, "startswith");
    value *part = given->places.at[0];
    stretch in;
    if (part->kind == V_TUPLE && (starts || ends)) {
        value *result = value_bool(m, false);
        for (size_t i = 0; i < part->in.items.count; i++) {
            if (part->in.items.at[i]->kind != V_STR)
                path_unsupported(m, line, "give strs", "a tuple of strs and others");
            if (!stretch_of(m, given, self->str.count, &in, line))
                return NULL;
            result = either(m, result,
                            begins(m, self, part_of(m, part->in.items.at[i]), &in, ends));
        }
        return result;
    }
    if (part->kind != V_STR)
        return throw(m, "TypeError", line);
    part = part_of(m, part);
    if (!stretch_of(m, given, self->str.count, &in, line))
        return NULL;
    return starts || ends           ? begins(m, self, part, &in, ends)
           : is_word(name, "count") ? count_of(m, self, part, &in)
                                    : found_at(m, self, part, &in, name, line);
}

/* The maximal number of cuts or replacements; a negative one means no limit. False: raised. */
static bool is_limit(machine *m, value *v, int64_t *most, size_t size, int line)
{
    Z3_context z = m->solver->z;
    if (!value_is_integral(v)) {
        throw(m, "TypeError", line);
        return false;
    }
    if (!is_index(m, v, line))
        return false;
    if (value_whole(v, most))
        return true;
    Z3_ast term = value_int_term(m, v);
    *most = -1;
    if (path_decide(m, Z3_mk_lt(z, term, m->solver->zero), true))
        return true;
    for (*most = 0; *most <= (int64_t)size; ++*most)
        if (path_decide(m, Z3_mk_eq(z, term, term_int(m, *most)), true))
            return true;
    *most = -1; /* more than possible */
    return true;
}

static value *split(machine *m, value *self, arguments *given, bool last, int line)
{
    value *named = keyword_argument(given, "sep"), *limit = keyword_argument(given, "maxsplit");
    size_t places = given->places.count;
    if (!arguments_fit(m, given, 0, 2, line))
        return NULL;
    if ((named && places > 0) || (limit && places > 1))
        return throw(m, "TypeError", line);
    value *part = places > 0 ? given->places.at[0] : named;
    limit = places > 1 ? given->places.at[1] : limit;
    int64_t most = -1;
    if (limit && !is_limit(m, limit, &most, self->str.count, line)) /* Python checks it first */
        return NULL;
    value *made = value_new(m, V_LIST);
    if (!part || part->kind == V_NONE) {
        made->in.items = words(m, self, most, last);
        return made;
    }
    if (part->kind != V_STR)
        return throw(m, "TypeError", line);
    part = part_of(m, part);
    if (part->str.count == 0)
        return throw(m, "ValueError", line);
    made->in.items = pieces(m, self, part, most, last);
    return made;
}

value *text_search(machine *m, value *self, const char *name, arguments *given, int line)
{
    static const char *const searches[] = { "find",  "rfind",      "index",   "rindex",
                                            "count", "startswith", "endswith" };
    size_t places = given->places.count;
    if (!has_codes(self) || (name[0] != 'r' && is_endless(m, given)))
        return NULL;
    if (is_word(name, "split") || is_word(name, "rsplit"))
        return split(m, self, given, name[0] == 'r', line);
    if (is_word(name, "splitlines")) {
        value *ends = keyword_argument(given, "keepends");
        if (!arguments_fit(m, given, 0, ends ? 0 : 1, line))
            return NULL;
        ends = ends ? ends : places ? given->places.at[0] : value_bool(m, false);
        if (ends->kind != V_BOOL)
            path_unsupported(m, line, "give a bool", "keepends that is no bool");
        return lines_of(m, self, decide_truth(m, ends, true));
    }
    if (given->names.count)
        return NULL;
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++)
        if (is_word(name, searches[i]))
            return arguments_fit(m, given, 1, 3, line) ? by_term(m, self, name, given, line) : NULL;
    bool remove = is_word(name, "removeprefix") || is_word(name, "removesuffix");
    bool part = is_word(name, "partition") || is_word(name, "rpartition"),
         replace = is_word(name, "replace");
    if (!remove && !part && !replace)
        return NULL;
    if (!arguments_fit(m, given, replace ? 2 : 1, replace ? 3 : 1, line))
        return NULL;
    value *sought = part_of(m, given->places.at[0]);
    if (sought->kind != V_STR || (replace && given->places.at[1]->kind != V_STR))
        return throw(m, "TypeError", line);
    int64_t most = -1;
    if (places == 3 && !is_limit(m, given->places.at[2], &most, self->str.count + 1, line))
        return NULL;
    if (replace)
        return replaced(m, self, sought, given->places.at[1], most, line);
    size_t count = sought->str.count, size = self->str.count;
    if (part)
        return count ? parted(m, self, sought, name[0] == 'r') : throw(m, "ValueError", line);
    bool end = name[6] == 's';
    if (count > size || !is_at(m, self, end ? size - count : 0, sought))
        return self;
    return end ? between(m, self, 0, size - count) : between(m, self, count, size);
}
