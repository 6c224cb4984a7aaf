/* Types from annotations. */
#include <string.h>

#include "inputs/domain.h"
#include "inputs/record.h"

typedef struct reading {
    tree *t;
    type_kind guess;
    bool assumed;
    int depth;
} reading;

static const type *read_type(reading *r, const node *n);

static type *make(reading *r, type_kind kind)
{
    type *t = arena_take(r->t->arena, sizeof *t);
    t->kind = kind;
    return t;
}

static const type *guessed(reading *r)
{
    type *t = make(r, r->guess);
    t->assumed = r->assumed = true;
    if (r->guess == T_LIST) {
        t->parts[0] = make(r, T_INT);
        t->count = 1;
    }
    return t;
}

static const type *read_union(reading *r, const node *const *parts, size_t count)
{
    type *t = make(r, T_UNION);
    for (size_t i = 0; i < count; i++) {
        const type *part = read_type(r, parts[i]);
        if (!part)
            return NULL;
        const type *const one[] = { part };
        const type *const *all = part->kind == T_UNION ? part->parts : one;
        size_t more = part->kind == T_UNION ? part->count : 1;
        for (size_t j = 0; j < more; j++) {
            if (t->count == sizeof t->parts / sizeof *t->parts)
                return NULL;
            t->parts[t->count++] = all[j];
        }
    }
    return t;
}

/* A type that the module defines: an Enum, a dataclass, a NamedTuple, an alias. */
static const type *read_own(reading *r, const char *name)
{
    const node *class = enum_named_in(r->t, name);
    record fields;
    if (class) {
        type *t = make(r, T_ENUM);
        t->node = class;
        return t;
    }
    class = r->depth < 4 ? record_named(r->t, name, &fields) : NULL;
    r->depth++;
    if (!class) {
        const node *other = r->depth < 8 ? alias_named(r->t, name) : NULL;
        const type *of = other ? read_type(r, other) : NULL;
        r->depth--;
        return of;
    }
    type *t = make(r, T_OBJECT);
    t->node = class;
    for (; t && t->count < fields.count; t->count++) {
        t->names[t->count] = fields.names[t->count];
        t->parts[t->count] = read_type(r, fields.annotations[t->count]);
        if (!t->parts[t->count])
            return NULL;
    }
    r->depth--;
    return t;
}

static const type *read_name(reading *r, const char *name)
{
    static const struct {
        const char *name;
        type_kind kind;
    } plain[] = { { "int", T_INT }, { "bool", T_BOOL },   { "float", T_FLOAT },
                  { "str", T_STR }, { "bytes", T_BYTES }, { "None", T_NONE } };
    static const struct {
        const char *names[6];
        type_kind kind;
    } containers[] = {
        { { "list", "List", "Sequence", "Iterable", "Collection", "MutableSequence" }, T_LIST },
        { { "set", "Set", "MutableSet", "AbstractSet", "set", "set" }, T_SET },
        { { "frozenset", "FrozenSet", "frozenset", "frozenset", "frozenset", "frozenset" },
          T_FROZENSET },
        { { "dict", "Dict", "Mapping", "MutableMapping", "dict", "dict" }, T_DICT },
        { { "tuple", "Tuple", "tuple", "tuple", "tuple", "tuple" }, T_TUPLE_OF },
    };
    size_t bound = scope_count(r->t->module->x, tree_name(r->t, name));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i].name) == 0)
            return bound ? NULL : make(r, plain[i].kind);
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++)
        for (size_t j = 0; j < 6; j++)
            if (strcmp(name, containers[i].names[j]) == 0) {
                if (bound)
                    return NULL;
                type *t = make(r, containers[i].kind);
                t->parts[0] = t->parts[1] = guessed(r);
                t->count = t->kind == T_DICT ? 2 : 1;
                return t;
            }
    if (!bound && (strcmp(name, "Any") == 0 || strcmp(name, "object") == 0))
        return guessed(r);
    if (bound > 1) /* it is not known which one is meant */
        return NULL;
    return read_own(r, tree_name(r->t, name));
}

static bool is_literal(const reading *r, const node *n)
{
    const char *members[256];
    const node *class = n->kind == N_ATTRIBUTE && n->a->kind == N_NAME
                            ? enum_named_in(r->t, n->a->name)
                            : NULL;
    size_t count = class ? enum_members(class, members, sizeof members / sizeof *members) : 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(members[i], n->name) == 0)
            return scope_count(r->t->module->x, n->a->name) == 1;
    return n->kind == N_CONSTANT || n->kind == N_UNARYOP;
}

/* Constants and members of Enums; a nested Literal adds its own. */
static const type *read_literal(reading *r, const node *all, const node *const *parts, size_t count)
{
    type *t = make(r, T_LITERAL);
    t->node = all;
    bool nested = false;
    for (size_t i = 0; i < count; i++) {
        nested = nested || parts[i]->kind == N_SUBSCRIPT;
        if (parts[i]->kind != N_SUBSCRIPT && !is_literal(r, parts[i]))
            return NULL;
    }
    if (!nested)
        return t;
    t = make(r, T_UNION);
    for (size_t i = 0; i < count; i++) {
        type *one = make(r, T_LITERAL);
        one->node = parts[i];
        const type *inner = parts[i]->kind == N_SUBSCRIPT ? read_type(r, parts[i]) : one;
        if (!inner || inner->kind != T_LITERAL || t->count == sizeof t->parts / sizeof *t->parts)
            return NULL;
        t->parts[t->count++] = inner;
    }
    return t;
}

static const type *read_subscript(reading *r, const node *n)
{
    const char *name = n->a->name ? n->a->name : "";
    const node *one[] = { n->b };
    const node *const *parts = n->b->kind == N_TUPLE ? n->b->x.at : one;
    size_t count = n->b->kind == N_TUPLE ? n->b->x.count : 1;
    static const char *const special[] = { "Optional", "Union", "Final", "Annotated", "Literal" };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(name, special[i]) == 0 && scope_count(r->t->module->x, tree_name(r->t, name)))
            return NULL; /* it is not that of typing */
    if (strcmp(name, "Optional") == 0 && count == 1) {
        type *t = make(r, T_UNION);
        t->parts[0] = read_type(r, parts[0]);
        t->parts[1] = make(r, T_NONE);
        t->count = 2;
        return t->parts[0] ? t : NULL;
    }
    if (strcmp(name, "Union") == 0)
        return read_union(r, parts, count);
    if (strcmp(name, "Final") == 0 || strcmp(name, "Annotated") == 0)
        return read_type(r, parts[0]);
    if (strcmp(name, "Literal") == 0)
        return read_literal(r, n->b, parts, count);
    bool assumed = r->assumed;
    const type *outer = read_name(r, name);
    r->assumed = assumed;
    if (!outer || outer->count == 0 || outer->kind == T_OBJECT)
        return NULL;
    bool tuple = outer->kind == T_TUPLE_OF;
    bool open = tuple && count == 2 && parts[1]->kind == N_CONSTANT &&
                parts[1]->constant->kind == C_ELLIPSIS;
    type *t = make(r, tuple && !open ? T_TUPLE : outer->kind);
    size_t wanted = open ? 1 : tuple ? count : outer->kind == T_DICT ? 2 : 1;
    if ((!tuple && count != wanted) || wanted > sizeof t->parts / sizeof *t->parts)
        return NULL;
    for (size_t i = 0; i < wanted; i++) {
        t->parts[i] = read_type(r, parts[i]);
        if (!t->parts[i])
            return NULL;
    }
    t->count = wanted;
    return t;
}

/* The name that an import binds to this member of the module datetime; "": to the module itself. */
static bool is_from_datetime(const tree *t, const char *bound, const char *member)
{
    bool module = !member[0];
    for (size_t i = 0; i < t->module->x.count; i++) {
        const node *n = t->module->x.at[i];
        bool from = n->kind == N_IMPORT_FROM && n->name && strcmp(n->name, "datetime") == 0;
        if (module ? n->kind != N_IMPORT : !from)
            continue;
        for (size_t j = 0; j < n->x.count; j++) {
            const node *alias = n->x.at[j];
            if ((alias->other ? alias->other : alias->name) == bound &&
                strcmp(alias->name, module ? "datetime" : member) == 0)
                return scope_count(t->module->x, bound) == 1;
        }
    }
    return false;
}

/* date and timedelta. NULL: it is neither. */
static const type *read_date(reading *r, const node *n)
{
    static const struct {
        const char *name;
        type_kind kind;
    } all[] = { { "date", T_DATE }, { "timedelta", T_DELTA } };
    for (size_t i = 0; i < 2; i++) {
        bool member = n->kind == N_ATTRIBUTE && strcmp(n->name, all[i].name) == 0 &&
                      n->a->kind == N_NAME && is_from_datetime(r->t, n->a->name, "");
        if (!member && !(n->kind == N_NAME && is_from_datetime(r->t, n->name, all[i].name)))
            continue;
        type *t = make(r, all[i].kind);
        t->words = member ? arena_print(r->t->arena, "%s.%s", n->a->name, n->name) : n->name;
        return t;
    }
    return NULL;
}

static const type *read_type(reading *r, const node *n)
{
    if (!n)
        return guessed(r);
    const type *date;
    switch (n->kind) {
    case N_NAME:
    case N_ATTRIBUTE:
        date = read_date(r, n);
        return date ? date : read_name(r, n->name);
    case N_CONSTANT:
        if (n->constant->kind == C_NONE)
            return make(r, T_NONE);
        if (n->constant->kind == C_STR && r->depth < 8) { /* a forward reference */
            char spelled[256];
            if (n->constant->count >= sizeof spelled)
                return NULL;
            for (size_t i = 0; i <= n->constant->count; i++)
                spelled[i] = (char)n->constant->chars[i];
            const node *inside = tree_expression(r->t, spelled);
            r->depth++;
            const type *t = inside ? read_type(r, inside) : NULL;
            r->depth--;
            return t;
        }
        return NULL;
    case N_BINOP:
        return n->op == OP_BITOR ? read_union(r, (const node *[]){ n->a, n->b }, 2) : NULL;
    case N_SUBSCRIPT:
        return read_subscript(r, n);
    default:
        return NULL;
    }
}

/* -- as words ---------------------------------------------------------------------------------- */

static void put_type(const tree *t, const type *of, text *out);

static void put_parts(const tree *t, const type *of, const char *between, text *out)
{
    for (size_t i = 0; i < of->count; i++) {
        text_say(out, i ? between : "");
        put_type(t, of->parts[i], out);
    }
}

/* A type as it would be written in an annotation. */
static void put_type(const tree *t, const type *of, text *out)
{
    static const char *const names[] = {
        [T_INT] = "int",   [T_BOOL] = "bool", [T_FLOAT] = "float",         [T_STR] = "str",
        [T_NONE] = "None", [T_LIST] = "list", [T_TUPLE] = "tuple",         [T_TUPLE_OF] = "tuple",
        [T_DICT] = "dict", [T_SET] = "set",   [T_FROZENSET] = "frozenset", [T_BYTES] = "bytes",
    };
    switch (of->kind) {
    case T_UNION:
        put_parts(t, of, " | ", out);
        return;
    case T_LITERAL:
        text_print(out, "Literal[%s]", tree_source(t, out->a, of->node));
        return;
    case T_OBJECT:
    case T_ENUM:
        text_say(out, of->node->name);
        return;
    case T_DATE:
    case T_DELTA:
        text_say(out, of->words);
        return;
    default:
        text_say(out, names[of->kind]);
        if (of->count == 0)
            return;
        text_say(out, "[");
        put_parts(t, of, ", ", out);
        text_say(out, of->kind == T_TUPLE_OF ? ", ...]" : "]");
    }
}

static const char *type_words(const tree *t, const type *of)
{
    text words = { .a = t->arena };
    put_type(t, of, &words);
    return words.data;
}

/* -- parameters -------------------------------------------------------------------------------- */

/* The default of parameter `i` of a list; NULL: it has none. */
static const node *default_of(const node *a, size_t list, size_t i)
{
    if (list == 2)
        return a->w.at[i];
    size_t place = i + (list == 1 ? a->x.count : 0), total = a->x.count + a->y.count;
    return place + a->v.count >= total ? a->v.at[place + a->v.count - total] : NULL;
}

static bool has_member(const type *t, constant_kind kind)
{
    for (size_t i = 0; t->kind == T_UNION && i < t->count; i++)
        if (has_member(t->parts[i], kind))
            return true;
    switch (kind) {
    case C_NONE:
        return t->kind == T_NONE;
    case C_BOOL:
        return t->kind == T_BOOL;
    case C_INT:
        return t->kind == T_INT;
    case C_FLOAT:
        return t->kind == T_FLOAT;
    case C_STR:
        return t->kind == T_STR;
    case C_BYTES:
        return t->kind == T_BYTES;
    default:
        return true;
    }
}

/* A call may leave an argument out: `x: int = None` is an int or None. */
static const type *with_default(reading *r, const type *of, const node *otherwise)
{
    if (!of || !otherwise || otherwise->kind != N_CONSTANT || of->kind == T_LITERAL ||
        has_member(of, otherwise->constant->kind))
        return of;
    type *left_out = make(r, T_LITERAL), *t = make(r, T_UNION);
    left_out->node = otherwise;
    t->parts[0] = of;
    t->parts[1] = left_out;
    t->count = 2;
    return t;
}

/* The parameter of the other function that gets the same argument. NULL: there is none. */
static const node *counterpart(const node *function, size_t place, const char *keyword)
{
    const node *a = function->a;
    for (size_t i = 0; keyword && i < a->z.count; i++)
        if (strcmp(a->z.at[i]->name, keyword) == 0)
            return a->z.at[i];
    if (keyword)
        return NULL;
    return place < a->x.count                ? a->x.at[place]
           : place < a->x.count + a->y.count ? a->y.at[place - a->x.count]
                                             : NULL;
}

static void add_assumption(text *all, const char *words)
{
    text_print(all, "%s%s", all->length ? "; " : "", words);
}

/* Two functions that are compared get the same arguments. If only one of them has an annotation, it
 * holds for both; if both have and disagree, the first one counts, and the answer says so. */
static const node *agreed(reading *r, const node *p, const node *twin, const node *function,
                          const node *other, text *assumed)
{
    tree *t = r->t;
    if (!twin || !twin->a)
        return p->a;
    reading its = *r;
    const type *declared = read_type(&its, twin->a);
    if (!p->a) {
        if (!declared || its.assumed)
            return p->a;
        add_assumption(assumed, arena_print(t->arena, "%s is taken as %s, as %s declares it",
                                            p->name, type_words(t, declared), other->name));
        return twin->a;
    }
    reading own = *r;
    const type *first = read_type(&own, p->a);
    const char *theirs = declared ? type_words(t, declared) : tree_source(t, t->arena, twin->a);
    if (first && strcmp(type_words(t, first), theirs) != 0)
        add_assumption(assumed, arena_print(t->arena,
                                            "%s is taken as %s, as %s declares it, though %s "
                                            "declares %s",
                                            p->name, type_words(t, first), function->name,
                                            other->name, theirs));
    return p->a;
}

/* `*args: int` is a tuple of ints, `**kwargs: int` a dict with strs as keys. No key can be the name
 * of a positional parameter. */
static const type *rest_of(reading *r, const type *of, bool keyword, const node *a)
{
    type *t = of ? make(r, keyword ? T_DICT : T_TUPLE_OF) : NULL;
    if (!t)
        return NULL;
    t->parts[0] = keyword ? make(r, T_STR) : of;
    t->parts[1] = of;
    t->count = keyword ? 2 : 1;
    t->keywords = keyword;
    for (size_t i = 0, used = 0; keyword && i < a->y.count + a->z.count; i++)
        if (used + 1 < sizeof t->names / sizeof *t->names)
            t->names[used++] = (i < a->y.count ? a->y.at[i] : a->z.at[i - a->y.count])->name;
    return t;
}

static fault refused(tree *t, const node *function, const node *p, const type *of)
{
    if (of)
        return (fault){ "RuntimeError",
                        arena_print(t->arena,
                                    "Unsupported construct at line %d: more than %d parameters",
                                    function->line, MOST_PARAMETERS),
                        p->line };
    return (
        fault){ "RuntimeError",
                arena_print(t->arena,
                            "Unsupported construct at line %d: the annotation of parameter "
                            "'%s'; use int, bool, float, str, bytes, None, list, tuple, dict, set, "
                            "Optional, Union, Literal, date, timedelta, an Enum, a dataclass "
                            "or a NamedTuple",
                            p->line, p->name),
                p->line };
}

/* The parameters in the order of arguments: `*args` after the positional ones. */
enum { BY_ONLY_PLACE, BY_PLACE, BY_REST, BY_KEYWORD, BY_KEYWORDS, WAYS };

static const node *twin_of(const node *other, int way, size_t place, const node *p)
{
    return !other               ? NULL
           : way == BY_REST     ? other->a->a
           : way == BY_KEYWORDS ? other->a->b
                                : counterpart(other, place, way == BY_KEYWORD ? p->name : NULL);
}

bool input_parameters(tree *t, const node *function, const node *other, type_kind guess,
                      parameter *out, size_t *count, fault *wrong, const char **assumed,
                      bool *guessed_any)
{
    const node *a = function->a;
    nodes lists[WAYS] = { a->x,
                          a->y,
                          { (const node *[]){ a->a }, a->a != NULL },
                          a->z,
                          { (const node *[]){ a->b }, a->b != NULL } };
    text words = { .a = t->arena };
    *count = 0;
    *guessed_any = false;
    for (int way = 0; way < WAYS; way++)
        for (size_t i = 0; i < lists[way].count; i++) {
            const node *p = lists[way].at[i];
            bool rest = way == BY_REST || way == BY_KEYWORDS, keyword = way >= BY_KEYWORD;
            reading r = { .t = t, .guess = guess };
            const node *annotation = agreed(&r, p, twin_of(other, way, *count, p), function, other,
                                            &words);
            const type *of = read_type(&r, annotation);
            of = rest ? rest_of(&r, of, keyword, a)
                      : with_default(&r, of, default_of(a, keyword ? 2 : (size_t)way, i));
            if (!of || *count == MOST_PARAMETERS) {
                *wrong = refused(t, function, p, of);
                return false;
            }
            if (r.assumed)
                add_assumption(
                    &words, arena_print(t->arena, "%s is taken as %s", p->name, type_words(t, of)));
            *guessed_any |= r.assumed;
            out[(*count)++] = (parameter){ p->name, of, keyword, rest };
        }
    *assumed = words.length ? words.data : NULL;
    return true;
}
