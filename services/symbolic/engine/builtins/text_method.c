/* Methods of strs: for known strs all that Python has, for others those that a term models
 * exactly. */
#include <string.h>

#include "base/base.h"
#include "builtins/builtins.h"

/* Computed by Python on known strs. Methods that can make a huge str are left out. */
static const char *const pure[] = {
    "upper",        "lower",      "strip",       "lstrip",   "rstrip",       "title",
    "capitalize",   "swapcase",   "casefold",    "isdigit",  "isalpha",      "isalnum",
    "isspace",      "isupper",    "islower",     "istitle",  "isnumeric",    "isdecimal",
    "isidentifier", "isascii",    "isprintable", "split",    "rsplit",       "splitlines",
    "partition",    "rpartition", "replace",     "count",    "find",         "rfind",
    "index",        "rindex",     "startswith",  "endswith", "removeprefix", "removesuffix"
};

static bool is_pure(const char *name)
{
    for (size_t i = 0; i < sizeof pure / sizeof *pure; i++)
        if (is_word(name, pure[i]))
            return true;
    return false;
}

static value *joined(machine *m, value *self, value *of, int line)
{
    values items;
    if (!items_of(m, of, false, &items, line))
        return NULL;
    value *made = value_ascii(m, "");
    for (size_t i = 0; i < items.count; i++)
        if (items.at[i]->kind != V_STR)
            return throw(m, "TypeError", line);
    for (size_t i = 0; i < items.count; i++) {
        if (i > 0)
            made = text_binary(m, OP_ADD, made, self, line);
        made = text_binary(m, OP_ADD, made, items.at[i], line);
    }
    return made;
}

/* startswith() and endswith(), of one str or one of several. */
static value *begins(machine *m, const value *self, value *with, bool end, int line)
{
    Z3_context z = m->solver->z;
    if (with->kind == V_TUPLE) {
        value *result = value_bool(m, false);
        for (size_t i = 0; i < with->in.items.count; i++) {
            if (i > 0 && with->in.items.at[i]->kind != V_STR)
                path_unsupported(m, line, "give strs", "a tuple of strs and others");
            value *one = begins(m, self, with->in.items.at[i], end, line);
            if (!one)
                return NULL;
            result = either(m, result, one);
        }
        return result;
    }
    if (with->kind != V_STR)
        return throw(m, "TypeError", line);
    Z3_ast a = value_term(m, with), b = value_term(m, self);
    return value_of_bool(m, end ? Z3_mk_seq_suffix(z, a, b) : Z3_mk_seq_prefix(z, a, b));
}

static value *found_at(machine *m, const value *self, const value *part, bool raises, int line)
{
    Z3_context z = m->solver->z;
    if (part->kind != V_STR)
        return throw(m, "TypeError", line);
    Z3_ast whole = value_term(m, self), sought = value_term(m, part);
    if (raises && !path_decide(m, Z3_mk_seq_contains(z, whole, sought), true))
        return throw(m, "ValueError", line);
    return value_of_int(m, Z3_mk_seq_index(z, whole, sought, m->solver->zero));
}

/* Without a prefix or suffix, if it has it. */
static value *removed(machine *m, value *self, value *part, bool end, int line)
{
    Z3_context z = m->solver->z;
    if (part->kind != V_STR)
        return throw(m, "TypeError", line);
    Z3_ast whole = value_term(m, self), cut = value_term(m, part);
    Z3_ast size = Z3_mk_sub(z, 2,
                            (Z3_ast[]){ Z3_mk_seq_length(z, whole), Z3_mk_seq_length(z, cut) });
    Z3_ast rest = Z3_mk_seq_extract(z, whole, end ? m->solver->zero : Z3_mk_seq_length(z, cut),
                                    size);
    Z3_ast has = end ? Z3_mk_seq_suffix(z, cut, whole) : Z3_mk_seq_prefix(z, cut, whole);
    return value_of_str(m, Z3_mk_ite(z, has, rest, whole));
}

/* -- occurrences one by one ---------------------------------------------------------------------
 */

/* Cut a str at the next occurrence of a part into the text before and after it. False: there is
 * none. The path forks. */
static bool cut(machine *m, value *rest, value *part, unsigned *turns, value **before,
                value **after)
{
    Z3_context z = m->solver->z;
    if ((*turns)++ >= m->most_turns)
        path_bound(m, "the number of occurrences in a str");
    Z3_ast whole = value_term(m, rest), sought = value_term(m, part);
    if (!path_decide(m, Z3_mk_seq_contains(z, whole, sought), false))
        return false;
    Z3_ast place = Z3_mk_seq_index(z, whole, sought, m->solver->zero);
    Z3_ast next = Z3_mk_add(z, 2, (Z3_ast[]){ place, Z3_mk_seq_length(z, sought) });
    *before = value_of_str(m, Z3_mk_seq_extract(z, whole, m->solver->zero, place));
    *after = value_of_str(m, Z3_mk_seq_extract(z, whole, next, Z3_mk_seq_length(z, whole)));
    return true;
}

/* The pieces between the occurrences of a non-empty part; at most `most` cuts. */
static values pieces(machine *m, value *self, value *part, int64_t most)
{
    values found = { 0 };
    value *rest = self, *before, *after;
    unsigned turns = 0;
    while (most-- != 0 && cut(m, rest, part, &turns, &before, &after)) {
        values_add(m, &found, before);
        rest = after;
    }
    values_add(m, &found, rest);
    return found;
}

/* split() without a separator: words between white space. */
static value *words_of(machine *m, value *self, int line)
{
    values chars;
    value *made = value_new(m, V_LIST), *word = NULL;
    text_characters(m, self, &chars, line);
    for (size_t i = 0; i < chars.count; i++) {
        if (decide_truth(m, text_is_blank(m, chars.at[i]), false)) {
            if (word)
                values_add(m, &made->in.items, word);
            word = NULL;
        } else {
            word = word ? text_binary(m, OP_ADD, word, chars.at[i], line) : chars.at[i];
        }
    }
    if (word)
        values_add(m, &made->in.items, word);
    return made;
}

/* strip(), lstrip() and rstrip(), of white space or of the characters of a str. */
static value *stripped(machine *m, value *self, value *which, bool left, bool right, int line)
{
    values chars;
    text_characters(m, self, &chars, line);
    size_t from = 0, to = chars.count;
    for (int end = 0; end < 2; end++)
        while ((end ? right : left) && from < to) {
            value *c = chars.at[end ? to - 1 : from];
            value *is_one = which ? text_compare(m, OP_IN, c, which) : text_is_blank(m, c);
            if (!decide_truth(m, is_one, false))
                break;
            from += end == 0;
            to -= end == 1;
        }
    value *made = value_ascii(m, "");
    for (size_t i = from; i < to; i++)
        made = text_binary(m, OP_ADD, made, chars.at[i], line);
    return made;
}

/* The maximal number of cuts or replacements; a negative one means no limit. False: raised, or not
 * known. */
static bool is_limit(machine *m, value *v, int64_t *most, int line)
{
    if (!value_is_integral(v) || !is_index(m, v, line))
        return false;
    value *few = settled_int(m, v);
    if (!few && path_decide(m, Z3_mk_lt(m->solver->z, value_int_term(m, v), m->solver->zero), true))
        few = value_int(m, -1);
    return few && value_whole(few, most);
}

/* Methods that search for their first argument. NULL without `raised`: it is none. */
static value *by_occurrence(machine *m, value *self, const char *name, arguments *given, int line)
{
    value *part = given->places.at[0], *last = given->places.at[given->places.count - 1];
    bool replace = is_word(name, "replace"), split = is_word(name, "split");
    size_t needed = replace ? 2 : 1;
    int64_t most = -1;
    if (!replace && !split && !is_word(name, "count") && !is_word(name, "partition"))
        return NULL;
    if (given->places.count > needed && !is_word(name, "split") && !replace)
        return NULL;
    if (given->places.count < needed || given->places.count > needed + 1)
        return throw(m, "TypeError", line);
    bool limited = given->places.count > needed;
    if (limited && split && !is_limit(m, last, &most, line)) /* Python checks it first */
        return NULL;
    if (part->kind != V_STR || (replace && given->places.at[1]->kind != V_STR))
        return split && part->kind == V_NONE ? NULL : throw(m, "TypeError", line);
    if (limited && replace && !is_limit(m, last, &most, line))
        return NULL;
    if (decide_truth(m, text_compare(m, OP_EQ, part, value_ascii(m, "")), false)) {
        if (split || is_word(name, "partition"))
            return throw(m, "ValueError", line);
        return NULL; /* between all characters */
    }
    if (is_word(name, "partition")) {
        value *made = value_new(m, V_TUPLE), *before = self, *after = value_ascii(m, "");
        unsigned turns = 0;
        bool found = cut(m, self, part, &turns, &before, &after);
        values_add(m, &made->in.items, before);
        values_add(m, &made->in.items, found ? part : after);
        values_add(m, &made->in.items, after);
        return made;
    }
    values found = pieces(m, self, part, most);
    if (is_word(name, "count"))
        return value_int(m, (int64_t)found.count - 1);
    value *made = split ? value_new(m, V_LIST) : found.at[0];
    if (split)
        made->in.items = found;
    for (size_t i = 1; replace && i < found.count; i++) {
        made = text_binary(m, OP_ADD, made, given->places.at[1], line);
        made = text_binary(m, OP_ADD, made, found.at[i], line);
    }
    return made;
}

/* Methods that work on single characters: always, or if there certainly are at most so many. The
 * others also have a term in the theory of strings, and need no bound. */
static const struct {
    const char *name;
    int most; /* 0: always */
} by_letters[] = { { "rfind", 0 },
                   { "rindex", 0 },
                   { "rsplit", 0 },
                   { "rpartition", 0 },
                   { "splitlines", 0 },
                   { "zfill", 0 },
                   { "ljust", 0 },
                   { "rjust", 0 },
                   { "center", 0 },
                   { "expandtabs", 0 },
                   { "translate", 0 },
                   { "find", MOST_SETTLED },
                   { "index", MOST_SETTLED },
                   { "count", MOST_SETTLED },
                   { "endswith", MOST_SETTLED },
                   { "removesuffix", MOST_SETTLED },
                   { "partition", MOST_SETTLED },
                   { "split", 8 },
                   { "replace", 8 } };

static value *taken_apart(machine *m, value *self, const char *name, const arguments *given)
{
    size_t plain = is_word(name, "replace") ? 2 : 1;
    bool more = given->places.count > plain || given->names.count; /* bounds, limits */
    for (size_t i = 0; i < sizeof by_letters / sizeof *by_letters; i++) {
        if (!is_word(name, by_letters[i].name) || self->known || self->str.codes)
            continue;
        int most = more ? MOST_SETTLED : by_letters[i].most;
        bool always = most == 0 || (more && !is_word(name, "split") && !is_word(name, "replace"));
        if (always || text_is_short(m, self, most))
            return text_settled(m, self);
    }
    return self;
}

value *call_str_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    self = text_looked_at(m, self);
    for (size_t i = 0; i < given->places.count; i++)
        given->places.at[i] = text_looked_at(m, given->places.at[i]);
    value *first = given->places.count ? given->places.at[0] : NULL;
    bool known = self->known && given->places.count <= 3 && !given->names.count;
    for (size_t i = 0; i < given->places.count; i++)
        known = known && value_is_concrete(m, given->places.at[i]);
    if (known && is_pure(name)) {
        if (is_word(name, "replace") && given->places.count >= 2 &&
            given->places.at[1]->kind == V_STR && given->places.at[1]->str.count &&
            self->str.count > MOST_CONCRETE_CHARS / given->places.at[1]->str.count)
            path_bound(m, "the size of a str");
        return bridge_method(m, self, name, given, line);
    }
    if (is_word(name, "encode"))
        return text_encode(m, self, given, line);
    if (is_word(name, "format") && self->known)
        return text_from_template(m, self, given, line);
    self = taken_apart(m, self, name, given);
    value *apart = text_search(m, self, name, given, line);
    apart = apart || m->raised ? apart : text_layout(m, self, name, given, line);
    if (apart || m->raised)
        return apart;
    if (given->names.count == 0 && given->places.count == 1) {
        if (is_word(name, "join"))
            return joined(m, self, first, line);
        if (is_word(name, "startswith") || is_word(name, "endswith"))
            return begins(m, self, first, name[0] == 'e', line);
        if (is_word(name, "find") || is_word(name, "index"))
            return found_at(m, self, first, name[0] == 'i', line);
        if (is_word(name, "removeprefix") || is_word(name, "removesuffix"))
            return removed(m, self, first, name[6] == 's', line);
    }
    if (given->names.count == 0) {
        bool strip = is_word(name, "strip") || is_word(name, "lstrip") || is_word(name, "rstrip");
        bool any = given->places.count == 0 || (first->kind == V_NONE && given->places.count == 1);
        value *made = NULL;
        if (strip && (any || (given->places.count == 1 && first->kind == V_STR)))
            made = stripped(m, self, any ? NULL : first, name[0] != 'r', name[0] != 'l', line);
        else if (is_word(name, "split") && any)
            made = words_of(m, self, line);
        else if (given->places.count == 0)
            made = text_class(m, self, name, line);
        else
            made = by_occurrence(m, self, name, given, line);
        if (made || m->raised)
            return made;
    }
    path_unsupported(m, line, "use len, +, in, slices, ==, startswith, endswith or find",
                     "the method str.%s of a str that is not known", name);
}
