/* Methods of bytes, and bytes() itself. Methods that search use those of the str with the same code
 * points (theories/bytes.c). */
#include <string.h>

#include "base/base.h"
#include "builtins/builtins.h"
#include "machine/terms.h"

static Z3_ast between(machine *m, Z3_ast code, int from, int to)
{
    Z3_context z = m->solver->z;
    Z3_ast both_of[] = { Z3_mk_ge(z, code, term_int(m, from)), Z3_mk_le(z, code, term_int(m, to)) };
    return Z3_mk_and(z, 2, both_of);
}

/* -- known ones -------------------------------------------------------------------------------- */

/* Computed by Python on known bytes. Methods that can make a huge result are left out. */
static const char *const pure[] = {
    "upper",        "lower",        "strip",   "lstrip",  "rstrip",     "title",      "capitalize",
    "swapcase",     "isdigit",      "isalpha", "isalnum", "isspace",    "isupper",    "islower",
    "istitle",      "isascii",      "split",   "rsplit",  "splitlines", "partition",  "rpartition",
    "count",        "find",         "rfind",   "index",   "rindex",     "startswith", "endswith",
    "removeprefix", "removesuffix", "hex",     NULL
};

/* -- as methods of a str ----------------------------------------------------------------------- */

/* An argument that is bytes, as its str; a single byte is an int. NULL: raised. */
static value *part_of(machine *m, value *v, bool byte, int line)
{
    if (v->kind == V_BYTES)
        return v->bytes.text;
    v = plain_of(v);
    if (v->kind == V_OBJECT)
        path_unsupported(m, line, "give bytes", "an object as an argument of this method");
    return byte && value_is_integral(v) ? byte_text(m, v, line) : throw(m, "TypeError", line);
}

static value *parts_of(machine *m, const value *tuple, int line)
{
    value *made = value_new(m, V_TUPLE);
    for (size_t i = 0; i < tuple->in.items.count; i++) {
        if (tuple->in.items.at[i]->kind != V_BYTES)
            path_unsupported(m, line, "give bytes", "a tuple of bytes and others");
        values_add(m, &made->in.items, tuple->in.items.at[i]->bytes.text);
    }
    return made;
}

/* A result of a method of str, as bytes. */
static value *as_bytes(machine *m, value *v)
{
    if (!v || (v->kind != V_STR && v->kind != V_LIST && v->kind != V_TUPLE))
        return v;
    if (v->kind == V_STR)
        return value_bytes(m, v);
    value *made = value_new(m, v->kind);
    for (size_t i = 0; i < v->in.items.count; i++)
        values_add(m, &made->in.items, value_bytes(m, v->in.items.at[i]));
    return made;
}

/* How many of the first arguments are bytes; the others are ints. */
static const struct {
    const char *name;
    size_t parts, least, most;
    bool byte; /* the first may be an int */
} methods[] = {
    { "find", 1, 1, 3, true },          { "rfind", 1, 1, 3, true },
    { "index", 1, 1, 3, true },         { "rindex", 1, 1, 3, true },
    { "count", 1, 1, 3, true },         { "startswith", 1, 1, 3, false },
    { "endswith", 1, 1, 3, false },     { "replace", 2, 2, 3, false },
    { "split", 1, 1, 2, false },        { "rsplit", 1, 1, 2, false },
    { "partition", 1, 1, 1, false },    { "rpartition", 1, 1, 1, false },
    { "removeprefix", 1, 1, 1, false }, { "removesuffix", 1, 1, 1, false },
    { "strip", 1, 1, 1, false },        { "lstrip", 1, 1, 1, false },
    { "rstrip", 1, 1, 1, false },       { "zfill", 0, 1, 1, false },
};

static value *as_text(machine *m, value *self, const char *name, arguments *given, int line)
{
    static const uint32_t blanks[] = { ' ', '\t', '\n', '\r', 0x0b, 0x0c };
    bool strip = is_word(name, "strip") || is_word(name, "lstrip") || is_word(name, "rstrip");
    size_t count = given->places.count, i = 0, most = sizeof methods / sizeof *methods;
    arguments as = { 0 };
    if (strip && (count == 0 || (count == 1 && given->places.at[0]->kind == V_NONE))) {
        values_add(m, &as.places, value_str(m, blanks, sizeof blanks / sizeof *blanks));
        return as_bytes(m, call_str_method(m, self->bytes.text, name, &as, line));
    }
    while (i < most && !is_word(name, methods[i].name))
        i++;
    if (i == most)
        return NULL;
    if ((is_word(name, "split") || is_word(name, "rsplit")) &&
        (count == 0 || given->places.at[0]->kind == V_NONE))
        path_unsupported(m, line, "give the separator", "%s() of bytes at blanks", name);
    if (!arguments_fit(m, given, methods[i].least, methods[i].most, line))
        return NULL;
    for (size_t j = 0; j < count; j++) {
        value *v = given->places.at[j];
        bool several = v->kind == V_TUPLE &&
                       (is_word(name, "startswith") || is_word(name, "endswith"));
        if (j < methods[i].parts)
            v = several ? parts_of(m, v, line) : part_of(m, v, methods[i].byte, line);
        else if (!value_is_integral(v) && v->kind != V_NONE)
            path_unsupported(m, line, "give an int", "a %s as a bound", value_type(v));
        if (!v)
            return NULL;
        values_add(m, &as.places, v);
    }
    return as_bytes(m, call_str_method(m, self->bytes.text, name, &as, line));
}

/* -- byte by byte ------------------------------------------------------------------------------ */

/* upper() and lower(): of ASCII letters alone. */
static value *cased(machine *m, value *self, bool upper)
{
    Z3_context z = m->solver->z;
    value *view = text_settled(m, self->bytes.text);
    const Z3_ast *codes = value_codes(m, view);
    Z3_ast *made = arena_take(m->arena, (view->str.count + 1) * sizeof *made);
    int from = upper ? 'a' : 'A', by = upper ? -32 : 32;
    for (size_t i = 0; i < view->str.count; i++)
        made[i] = Z3_mk_ite(z, between(m, codes[i], from, from + 25),
                            Z3_mk_add(z, 2, (Z3_ast[]){ codes[i], term_int(m, by) }), codes[i]);
    return value_bytes(m, value_letters(m, made, view->str.count));
}

/* isdigit() and the like: is each byte within one of these ranges, and is there at least one? */
static value *classified(machine *m, value *self, const char *name)
{
    static const struct {
        const char *name;
        int ranges[3][2];
    } all[] = { { "isdigit", { { '0', '9' } } },
                { "isalpha", { { 'a', 'z' }, { 'A', 'Z' } } },
                { "isalnum", { { '0', '9' }, { 'a', 'z' }, { 'A', 'Z' } } },
                { "isspace", { { '\t', '\r' }, { ' ', ' ' } } },
                { "isascii", { { 0, 127 } } } };
    Z3_context z = m->solver->z;
    size_t at = 0, most = sizeof all / sizeof *all;
    while (at < most && !is_word(name, all[at].name))
        at++;
    if (at == most)
        return NULL;
    value *view = text_settled(m, self->bytes.text);
    const Z3_ast *codes = value_codes(m, view);
    Z3_ast good = view->str.count || is_word(name, "isascii") ? m->solver->yes : m->solver->no;
    for (size_t i = 0; i < view->str.count; i++) {
        Z3_ast one = m->solver->no;
        for (int r = 0; r < 3 && all[at].ranges[r][1]; r++)
            one = Z3_mk_or(z, 2,
                           (Z3_ast[]){ one, between(m, codes[i], all[at].ranges[r][0],
                                                    all[at].ranges[r][1]) });
        good = Z3_mk_and(z, 2, (Z3_ast[]){ good, one });
    }
    return value_of_bool(m, good);
}

static value *joined(machine *m, value *self, value *of, int line)
{
    values items;
    if (!list_items(m, of, &items, line))
        return NULL;
    for (size_t i = 0; i < items.count; i++)
        if (items.at[i]->kind != V_BYTES)
            return throw(m, "TypeError", line);
    value *made = value_ascii(m, "");
    for (size_t i = 0; i < items.count; i++) {
        if (i > 0)
            made = text_binary(m, OP_ADD, made, self->bytes.text, line);
        made = text_binary(m, OP_ADD, made, items.at[i]->bytes.text, line);
    }
    return value_bytes(m, made);
}

value *bytes_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    size_t count = given->places.count;
    if (is_word(name, "decode"))
        return bytes_decode(m, self, given, line);
    if (is_word(name, "fromhex"))
        path_unsupported(m, line, "write bytes.fromhex(…)", "fromhex() of an object");
    if (given->names.count)
        path_unsupported(m, line, "give the arguments by their place", "bytes.%s() with keywords",
                         name);
    bool known = value_is_concrete(m, self) && count <= 3;
    for (size_t i = 0; i < count; i++)
        known = known && value_is_concrete(m, given->places.at[i]);
    if (known && is_one_of(name, pure))
        return bridge_method(m, self, name, given, line);
    if (is_word(name, "join"))
        return arguments_fit(m, given, 1, 1, line) ? joined(m, self, given->places.at[0], line)
                                                   : NULL;
    value *made = NULL;
    if (count == 0 && is_word(name, "hex"))
        return bytes_hex(m, self);
    if (count == 0 && (is_word(name, "upper") || is_word(name, "lower")))
        return cased(m, self, name[0] == 'u');
    if (count == 0)
        made = classified(m, self, name);
    if (!made)
        made = as_text(m, self, name, given, line);
    if (made || m->raised)
        return made;
    path_unsupported(m, line, "write it out", "the method bytes.%s of bytes that are not known",
                     name);
}

/* -- bytes() ----------------------------------------------------------------------------------- */

/* bytes(n): n zeros. */
static value *zeros(machine *m, value *count, int line)
{
    int64_t size;
    if (!is_index(m, count, line))
        return NULL;
    if (path_decide(m, Z3_mk_lt(m->solver->z, value_int_term(m, count), m->solver->zero), false))
        return throw(m, "ValueError", line);
    value *few = settled_int(m, count);
    if (!few || !value_whole(few, &size))
        path_unsupported(m, line, "make it a constant", "bytes() of an int that is not known");
    if (size > MOST_ITEMS)
        path_bound(m, "the number of bytes");
    uint32_t *chars = arena_take(m->arena, ((size_t)size + 1) * sizeof *chars);
    return value_bytes(m, value_str(m, chars, (size_t)size));
}

/* bytes(iterable): each int is checked before the next one is read. */
static value *collected(machine *m, value *of, int line)
{
    value *item, *hint = of;
    cursor at = { 0 };
    values all = { 0 };
    if (!iterable(m, &of, line) || !has_length_hint(m, hint, line))
        return NULL;
    while ((item = item_next(m, of, &at, line))) {
        value *plain = plain_of(item);
        if (plain->kind == V_OBJECT)
            path_unsupported(m, line, "give ints", "bytes() of objects");
        if (!value_is_integral(plain))
            return throw(m, "TypeError", line);
        value *one = byte_text(m, plain, line);
        if (!one)
            return NULL;
        values_add(m, &all, one);
    }
    if (m->raised)
        return NULL;
    Z3_ast *codes = arena_take(m->arena, (all.count + 1) * sizeof *codes);
    for (size_t i = 0; i < all.count; i++)
        codes[i] = value_codes(m, all.at[i])[0];
    return value_bytes(m, value_letters(m, codes, all.count));
}

static value *to_bytes(machine *m, arguments *given, int line)
{
    if (given->names.count)
        path_unsupported(m, line, "give the arguments by their place", "bytes() with keywords");
    value *of = given->places.count ? plain_of(given->places.at[0]) : NULL;
    if (of && of->kind == V_STR && given->places.count > 1) {
        arguments rest = { 0 };
        for (size_t i = 1; i < given->places.count; i++)
            values_add(m, &rest.places, given->places.at[i]);
        return text_encode(m, of, &rest, line);
    }
    if (!arguments_fit(m, given, 0, 1, line))
        return NULL;
    if (!of)
        return value_bytes(m, value_ascii(m, ""));
    if (of->kind == V_BYTES)
        return of;
    if (of->kind == V_OBJECT && (special_of(of, "__bytes__") || special_of(of, "__index__")))
        path_unsupported(m, line, "call a method by its name", "bytes() of an object");
    if (value_is_integral(of))
        return zeros(m, of, line);
    return of->kind == V_STR ? throw(m, "TypeError", line) : collected(m, of, line);
}

static value *from_hex(machine *m, arguments *given, int line)
{
    if (!arguments_fit(m, given, 1, 1, line))
        return NULL;
    value *of = given->places.at[0];
    if (of->kind != V_STR && of->kind != V_BYTES)
        return throw(m, "TypeError", line);
    if (of->kind == V_BYTES || !of->known) /* Python 3.14 takes bytes */
        path_unsupported(m, line, "use int(text, 16)", "fromhex() of a str that is not known");
    return bridge(m, "bytes.fromhex(a)", &given->places, line);
}

bool is_bytes_function(const char *type, const char *name)
{
    return (is_word(type, "int") && is_word(name, "from_bytes")) ||
           (is_word(type, "bytes") && is_word(name, "fromhex"));
}

bool call_bytes(machine *m, const char *name, arguments *given, value **result, int line)
{
    value *first = given->places.count ? given->places.at[0] : NULL;
    bool bytes = first && first->kind == V_BYTES;
    if (is_word(name, "bytes")) {
        *result = to_bytes(m, given, line);
    } else if (is_word(name, "int.from_bytes")) {
        *result = int_from_bytes(m, given, line);
    } else if (is_word(name, "bytes.fromhex")) {
        *result = from_hex(m, given, line);
    } else if (is_word(name, "str") && bytes && given->places.count > 1) {
        arguments rest = { .names = given->names, .keywords = given->keywords };
        for (size_t i = 1; i < given->places.count; i++)
            values_add(m, &rest.places, given->places.at[i]);
        *result = bytes_decode(m, first, &rest, line);
    } else if (is_word(name, "ord") && bytes && given->places.count == 1 && !given->names.count) {
        value *length = length_of(m, first, line);
        bool one = decide_truth(m, equal(m, length, value_int(m, 1), line), true) == 1;
        *result = one ? item_get(m, first, value_int(m, 0), line) : throw(m, "TypeError", line);
    } else {
        return false;
    }
    return true;
}
