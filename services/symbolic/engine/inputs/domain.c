/* Small domains: see domain.h. */
#include <string.h>

#include "inputs/domain.h"
#include "inputs/pool.h"
#include "tree/shadow.h"

/* -- Enums ------------------------------------------------------------------------------------- */

static bool is_enum_base(const node *n)
{
    static const char *const names[] = { "Enum", "IntEnum", "StrEnum" };
    for (size_t i = 0; n->name && i < sizeof names / sizeof *names; i++)
        if (strcmp(n->name, names[i]) == 0)
            return true;
    return false;
}

static bool is_enum(const node *class)
{
    for (size_t i = 0; i < class->x.count; i++)
        if (is_enum_base(class->x.at[i]))
            return class->y.count == 0 && class->w.count == 0;
    return false;
}

/* A value that makes a member: a constant, constants, auto(). A function would make a method. */
static bool is_member_value(const node *n)
{
    if (n->kind == N_CALL)
        return n->a->name && strcmp(n->a->name, "auto") == 0;
    for (size_t i = 0; n->kind == N_TUPLE && i < n->x.count; i++)
        if (!is_member_value(n->x.at[i]))
            return false;
    return n->kind == N_CONSTANT || n->kind == N_TUPLE ||
           (n->kind == N_UNARYOP && n->a->kind == N_CONSTANT);
}

size_t enum_members(const node *class, const char **names, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; is_enum(class) && i < class->z.count; i++) {
        const node *n = class->z.at[i];
        if (n->kind == N_FUNCTION || n->kind == N_PASS ||
            (n->kind == N_EXPR && n->a->kind == N_CONSTANT))
            continue;
        if (n->kind != N_ASSIGN || n->x.count != 1 || n->x.at[0]->kind != N_NAME ||
            n->x.at[0]->name[0] == '_' || !is_member_value(n->a) || count == most)
            return 0;
        names[count++] = n->x.at[0]->name;
    }
    return count;
}

const node *enum_named_in(const tree *t, const char *name)
{
    const char *members[256];
    for (size_t i = 0; i < t->module->x.count; i++) {
        const node *n = t->module->x.at[i];
        if (n->kind != N_CLASS || n->name != name)
            continue;
        for (size_t j = 0; j < n->x.count; j++)
            if (is_enum_base(n->x.at[j]) && !is_of_python(t->module, n->x.at[j]))
                return NULL;
        return enum_members(n, members, sizeof members / sizeof *members) ? n : NULL;
    }
    return NULL;
}

/* -- domains ----------------------------------------------------------------------------------- */

typedef struct listing {
    tree *t;
    const char **at;
    size_t count;
    bool bytes; /* the parts of texts are bytes */
} listing;

static bool add_choice(listing *l, const char *words)
{
    if (l->count == MOST_CALLS_OF_ALL)
        return false;
    if ((l->count & (l->count - 1)) == 0) { /* it is full */
        const char **more = arena_take(l->t->arena, (l->count ? 2 * l->count : 1) * sizeof *more);
        if (l->count)
            memcpy(more, l->at, l->count * sizeof *more);
        l->at = more;
    }
    l->at[l->count++] = words;
    return true;
}

const char *str_words(arena *a, const constant *k)
{
    text out = { .a = a };
    text_say(&out, "'");
    for (size_t i = 0; i < k->count; i++) {
        uint32_t c = k->chars[i];
        if (c >= ' ' && c < 127 && c != '\'' && c != '\\')
            text_print(&out, "%c", (char)c);
        else if (c < 0x100)
            text_print(&out, "\\x%02x", (unsigned)c);
        else if (c < 0x10000)
            text_print(&out, "\\u%04x", (unsigned)c);
        else
            text_print(&out, "\\U%08x", (unsigned)c);
    }
    text_say(&out, "'");
    return out.data;
}

static bool add_constant(listing *l, const node *n)
{
    int64_t number;
    if (whole_number(n, &number))
        return add_choice(l, arena_print(l->t->arena, "%lld", (long long)number));
    if (n->kind == N_ATTRIBUTE && n->a->kind == N_NAME) /* a member of an Enum */
        return add_choice(l, arena_print(l->t->arena, "%s.%s", n->a->name, n->name));
    if (n->kind != N_CONSTANT)
        return false;
    switch (n->constant->kind) {
    case C_BYTES:
        return add_choice(l, arena_print(l->t->arena, "b%s", str_words(l->t->arena, n->constant)));
    case C_NONE:
        return add_choice(l, "None");
    case C_BOOL:
        return add_choice(l, n->constant->truth ? "True" : "False");
    case C_STR:
        return add_choice(l, str_words(l->t->arena, n->constant));
    default:
        return false;
    }
}

static bool add_ints(listing *l, const span *within)
{
    if (!within->low || !within->high || within->to - within->from >= MOST_CALLS_OF_ALL)
        return false;
    for (int64_t n = within->from; n <= within->to; n++)
        if (!add_choice(l, arena_print(l->t->arena, "%lld", (long long)n)))
            return false;
    return true;
}

/* -- strs -------------------------------------------------------------------------------------- */

static bool is_str(const node *n)
{
    return n->kind == N_CONSTANT && n->constant->kind == C_STR;
}

static bool add_part(listing *l, const uint32_t *chars, size_t count)
{
    constant part = { .kind = C_STR, .chars = chars, .count = count };
    const char *words = str_words(l->t->arena, &part);
    return add_choice(l, l->bytes ? arena_print(l->t->arena, "b%s", words) : words);
}

/* Values `in` a str: each part of it. */
static bool add_parts(listing *l, const constant *of)
{
    for (size_t size = 0; size <= of->count; size++)
        for (size_t at = 0; at + size <= of->count && (size || !at); at++)
            if (!add_part(l, of->chars + at, size))
                return false;
    return true;
}

/* The characters that the conditions allow. False: they do not restrict them. */
static bool letters_of(tree *t, const span *each, constant *out)
{
    const node *in = each->equal ? each->equal : each->among;
    if (!in)
        return false;
    size_t room = is_str(in) ? in->constant->count : in->x.count;
    uint32_t *chars = arena_take(t->arena, (room + 1) * sizeof *chars);
    size_t count = 0;
    for (size_t i = 0; i < room; i++) {
        const node *one = is_str(in) ? NULL : in->x.at[i];
        if (one && (!is_str(one) || one->constant->count != 1))
            continue; /* no character is equal to it */
        uint32_t c = one ? one->constant->chars[0] : in->constant->chars[i];
        bool there = false;
        for (size_t j = 0; j < count; j++)
            there = there || chars[j] == c;
        if (!there)
            chars[count++] = c;
    }
    *out = (constant){ .kind = C_STR, .chars = chars, .count = count };
    return is_str(in) ? !each->equal || in->constant->count <= 1 : in->kind != N_CONSTANT;
}

/* All strs of these characters, the short ones first. */
static bool add_words(listing *l, const constant *letters, const span *length)
{
    int64_t size = length->low && length->from > 0 ? length->from : 0;
    uint32_t *chars = arena_take(l->t->arena, ((size_t)length->to + 1) * sizeof *chars);
    for (; size <= length->to; size++) {
        size_t total = 1;
        for (int64_t i = 0; i < size; i++)
            if ((total *= letters->count) > MOST_CALLS_OF_ALL)
                return false;
        for (size_t number = 0; number < total; number++) {
            size_t rest = number;
            for (int64_t i = size; i-- > 0; rest /= letters->count)
                chars[i] = letters->chars[rest % letters->count];
            if (!add_part(l, chars, (size_t)size))
                return false;
        }
    }
    return true;
}

enum { MOST_LENGTH = 64 }; /* of a str or list: more would take too much memory */

static bool add_strs(listing *l, const bounds *within)
{
    const span *it = &within->itself;
    constant letters;
    if (it->equal)
        return !is_str(it->equal) || add_constant(l, it->equal);
    if (it->among && is_str(it->among))
        return add_parts(l, it->among->constant);
    for (size_t i = 0; it->among && i < it->among->x.count; i++)
        if (is_str(it->among->x.at[i]) && !add_constant(l, it->among->x.at[i]))
            return false;
    if (it->among)
        return true;
    return within->length.high && within->length.to <= MOST_LENGTH &&
           letters_of(l->t, &within->items, &letters) && add_words(l, &letters, &within->length);
}

static bool is_bytes(const node *n)
{
    return n->kind == N_CONSTANT && n->constant->kind == C_BYTES;
}

static bool add_bytes(listing *l, const bounds *within)
{
    const span *it = &within->itself, *item = &within->items;
    const node *one[] = { it->equal };
    nodes few = it->equal                                    ? (nodes){ one, 1 }
                : it->among && it->among->kind != N_CONSTANT ? it->among->x
                                                             : (nodes){ 0 };
    uint32_t chars[256];
    constant letters = { .kind = C_BYTES, .chars = chars };
    l->bytes = true;
    bool good = true;
    for (size_t i = 0; good && i < few.count; i++)
        good = !is_bytes(few.at[i]) ||
               add_part(l, few.at[i]->constant->chars, few.at[i]->constant->count);
    for (int64_t c = 0; c < 256; c++)
        if ((!item->low || c >= item->from) && (!item->high || c <= item->to))
            chars[letters.count++] = (uint32_t)c;
    if (!it->equal && !it->among)
        good = within->length.high && within->length.to <= MOST_LENGTH &&
               add_words(l, &letters, &within->length);
    l->bytes = false;
    return good && !(it->among && it->among->kind == N_CONSTANT);
}

/* -- containers -------------------------------------------------------------------------------- */

static bool add_values(listing *l, const type *of, const bounds *within);

/* All lists of the items, the short ones first. */
static bool add_lists(listing *l, const type *of, const bounds *within)
{
    const span *length = &within->length;
    bool list = of->kind == T_LIST;
    bounds item = { .itself = within->items };
    listing items = { .t = l->t }, whole = { .t = l->t };
    if (!length->high || length->to > MOST_LENGTH || !add_values(&items, of->parts[0], &item) ||
        !add_choice(&whole, ""))
        return false;
    for (int64_t size = 0; size <= length->to && whole.count; size++) {
        listing longer = { .t = l->t };
        for (size_t j = 0; (!length->low || size >= length->from) && j < whole.count; j++)
            if (!add_choice(l, arena_print(l->t->arena, list ? "[%s]" : "(%s)", whole.at[j])))
                return false;
        for (size_t j = 0; size < length->to && j < whole.count; j++)
            for (size_t k = 0; k < items.count; k++)
                if (!add_choice(&longer,
                                arena_print(l->t->arena, "%s%s, ", whole.at[j], items.at[k])))
                    return false;
        whole = longer;
    }
    return true;
}

/* Each item with each of the others. */
static bool add_tuples(listing *l, const type *of, const bounds *within)
{
    listing whole = { .t = l->t };
    bounds item = { .itself = within->items };
    add_choice(&whole, "");
    for (size_t i = 0; i < of->count; i++) {
        listing items = { .t = l->t }, longer = { .t = l->t };
        if (!add_values(&items, of->parts[i], &item))
            return false;
        for (size_t j = 0; j < whole.count; j++)
            for (size_t k = 0; k < items.count; k++)
                if (!add_choice(&longer,
                                arena_print(l->t->arena, "%s%s, ", whole.at[j], items.at[k])))
                    return false;
        whole = longer;
    }
    for (size_t j = 0; j < whole.count; j++)
        if (!add_choice(l, arena_print(l->t->arena, "(%s)", whole.at[j])))
            return false;
    return true;
}

static bool add_members(listing *l, const node *class)
{
    const char *names[256];
    size_t count = enum_members(class, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < count; i++)
        if (!add_choice(l, arena_print(l->t->arena, "%s.%s", class->name, names[i])))
            return false;
    return count > 0;
}

static bool add_values(listing *l, const type *of, const bounds *within)
{
    switch (of->kind) {
    case T_INT:
        return add_ints(l, &within->itself);
    case T_BOOL:
        return add_choice(l, "False") && add_choice(l, "True");
    case T_NONE:
        return add_choice(l, "None");
    case T_LITERAL:
        if (of->node->kind != N_TUPLE)
            return add_constant(l, of->node);
        for (size_t i = 0; i < of->node->x.count; i++)
            if (!add_constant(l, of->node->x.at[i]))
                return false;
        return true;
    case T_UNION:
        for (size_t i = 0; i < of->count; i++)
            if (!add_values(l, of->parts[i], within))
                return false;
        return true;
    case T_TUPLE:
        return add_tuples(l, of, within);
    case T_STR:
        return add_strs(l, within);
    case T_BYTES:
        return add_bytes(l, within);
    case T_LIST:
    case T_TUPLE_OF:
        return add_lists(l, of, within);
    case T_ENUM:
        return add_members(l, of->node);
    default:
        return false;
    }
}

bool domain_of(tree *t, const type *of, const bounds *within, domain *out)
{
    *out = (domain){ 0 };
    if (of->kind == T_INT) {
        const span *s = &within->itself;
        if (!s->low || !s->high || s->to - s->from >= MOST_CALLS_OF_ALL)
            return false;
        out->from = s->from;
        out->count = s->to < s->from ? 0 : (size_t)(s->to - s->from) + 1;
        return true;
    }
    listing all = { .t = t };
    if (!add_values(&all, of, within))
        return false;
    out->choices = all.at;
    out->count = all.count;
    return true;
}

const char *domain_words(const domain *d, size_t index, arena *a)
{
    return d->choices ? d->choices[index]
                      : arena_print(a, "%lld", (long long)(d->from + (int64_t)index));
}
