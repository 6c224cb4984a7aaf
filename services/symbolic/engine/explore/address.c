/* Whether the address of an object may show in what the code does: see nature.h. The rules for
 * names are here; address_inner.h says how values are followed. */
#include <string.h>

#include "explore/address_inner.h"
#include "tree/shadow.h"

const char *const address_shows[] = { "str", "repr", "ascii", "format", NULL };
const char *const address_iterators[] = { "map",  "filter", "zip",   "enumerate", "reversed",
                                          "iter", "object", "super", NULL };

bool address_in(const char *name, const char *const *list)
{
    for (; name && *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* -- classes ----------------------------------------------------------------------------------- */

/* The name of a decorator or of a base: `dataclasses.dataclass(frozen=True)` is "dataclass". */
static const char *last_name(const node *n)
{
    if (n->kind == N_CALL || n->kind == N_SUBSCRIPT)
        n = n->a;
    return n->kind == N_NAME || n->kind == N_ATTRIBUTE ? n->name : "";
}

static bool is_without_repr(const node *decorator)
{
    for (size_t i = 0; decorator->kind == N_CALL && i < decorator->y.count; i++) {
        const node *k = decorator->y.at[i];
        if (!k->name || strcmp(k->name, "repr") == 0)
            return true;
    }
    return false;
}

static bool deletes_repr(const node *n, const void *unused)
{
    (void)unused;
    for (size_t i = 0; n->kind == N_DELETE && i < n->x.count; i++)
        if (strcmp(last_name(n->x.at[i]), "__repr__") == 0)
            return true;
    return false;
}

static bool defines_repr(const flow *f, const node *class)
{
    for (size_t i = 0; i < class->z.count; i++)
        if (class->z.at[i]->kind == N_FUNCTION && strcmp(class->z.at[i]->name, "__repr__") == 0)
            return true;
    for (size_t i = 0; i < class->w.count; i++)
        if (strcmp(last_name(class->w.at[i]), "dataclass") == 0 &&
            !is_without_repr(class->w.at[i]) && is_of_python(f->tree->module, class->w.at[i]))
            return true;
    return false;
}

/* A class of Python whose text has what is in it, and no address. */
static bool is_plain_base(const char *name)
{
    static const char *const names[] = {
        "Enum",      "IntEnum",     "StrEnum",     "Flag",     "IntFlag", "NamedTuple",
        "TypedDict", "int",         "str",         "float",    "bytes",   "list",
        "dict",      "tuple",       "set",         "bool",     "deque",   "Counter",
        "frozenset", "OrderedDict", "defaultdict", "Decimal",  "date",    "datetime",
        "UserDict",  "UserString",  "UserList",    "Fraction", NULL
    };
    size_t length = strlen(name);
    return address_in(name, names) || strcmp(name, "BaseException") == 0 ||
           (length >= 5 && strcmp(name + length - 5, "Error") == 0) ||
           (length >= 7 && strcmp(name + length - 7, "Warning") == 0) ||
           (length >= 9 && strcmp(name + length - 9, "Exception") == 0) ||
           strcmp(name, "StopIteration") == 0 || strcmp(name, "KeyboardInterrupt") == 0;
}

bool class_has_no_text(const flow *f, const node *class, int depth)
{
    if (depth > 20 || tree_first(f->tree->module, deletes_repr, NULL))
        return true;
    if (defines_repr(f, class))
        return false;
    for (size_t i = 0; i < class->x.count; i++) {
        const char *name = last_name(class->x.at[i]);
        bool of_code = false, shows = false;
        for (size_t j = 0; j < f->class_count; j++)
            if (f->classes[j] != class && strcmp(f->classes[j]->name, name) == 0) {
                of_code = true;
                shows = !class_has_no_text(f, f->classes[j], depth + 1);
            }
        bool plain = is_plain_base(name) && is_of_python(f->tree->module, class->x.at[i]);
        if (of_code ? shows : plain)
            return false;
    }
    return true;
}

static bool is_enumeration(const flow *f, const node *class, int depth)
{
    static const char *const names[] = { "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", NULL };
    for (size_t i = 0; depth < 20 && i < class->x.count; i++) {
        const char *base = last_name(class->x.at[i]);
        if (address_in(base, names) && is_of_python(f->tree->module, class->x.at[i]))
            return true;
        for (size_t j = 0; j < f->class_count; j++)
            if (f->classes[j] != class && strcmp(f->classes[j]->name, base) == 0 &&
                is_enumeration(f, f->classes[j], depth + 1))
                return true;
    }
    return false;
}

bool class_shows_module(const flow *f, const char *name)
{
    for (size_t i = 0; i < f->class_count; i++)
        if ((!name || strcmp(f->classes[i]->name, name) == 0) &&
            !is_enumeration(f, f->classes[i], 0))
            return true;
    return false;
}

bool is_decorated(const node *function)
{
    static const char *const same[] = { "staticmethod",   "classmethod", "property", "setter",
                                        "abstractmethod", "lru_cache",   "cache",    "override",
                                        "final",          "overload",    NULL };
    for (size_t i = 0; i < function->y.count; i++)
        if (!address_in(last_name(function->y.at[i]), same))
            return true;
    return false;
}

static bool has_decorator(const node *function, const char *name)
{
    for (size_t i = 0; i < function->y.count; i++)
        if (strcmp(last_name(function->y.at[i]), name) == 0)
            return true;
    return false;
}

bool is_static(const node *function)
{
    return has_decorator(function, "staticmethod");
}

bool is_of_class(const node *function)
{
    return has_decorator(function, "classmethod");
}

bool is_remade(const node *class)
{
    static const char *const same[] = { "dataclass", "total_ordering",    "unique", "final",
                                        "verify",    "runtime_checkable", NULL };
    for (size_t i = 0; i < class->w.count; i++)
        if (!address_in(last_name(class->w.at[i]), same))
            return true;
    return false;
}

/* -- what the names of the code are ------------------------------------------------------------ */

static void note_name(flow *f, const char *name, unsigned is)
{
    if (name)
        f->spots[flow_place(f, PLACE_KNOWN, NULL, name)].is |= is;
}

static void note_target(flow *f, const node *n, unsigned is)
{
    if (!n)
        return;
    if (n->kind == N_NAME)
        note_name(f, n->name, is);
    else if (n->kind == N_ATTRIBUTE)
        note_name(f, n->name, IS_ATTRIBUTE);
    else if (n->kind == N_STARRED)
        note_target(f, n->a, is);
    for (size_t i = 0; (n->kind == N_TUPLE || n->kind == N_LIST) && i < n->x.count; i++)
        note_target(f, n->x.at[i], is);
}

static void note_node(flow *f, const node *n, unsigned is);

static void note_all(flow *f, nodes list, unsigned is)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i])
            note_node(f, list.at[i], is);
}

static const node **with_one(flow *f, const node **list, size_t *count, const node *n)
{
    if ((*count & (*count - 1)) == 0) { /* 0, 1, 2, 4, … are full */
        const node **more = arena_take(f->arena, (*count ? 2 * *count : 1) * sizeof *more);
        if (*count)
            memcpy(more, list, *count * sizeof *more);
        list = more;
    }
    list[(*count)++] = n;
    return list;
}

/* namedtuple('P', 'x y'): attributes that only texts name. */
static void note_fields(flow *f, const node *n)
{
    if (n->kind != N_CONSTANT || n->constant->kind != C_STR) {
        for (size_t i = 0; (n->kind == N_LIST || n->kind == N_TUPLE) && i < n->x.count; i++)
            note_fields(f, n->x.at[i]);
        return;
    }
    char word[128];
    size_t length = 0;
    for (size_t i = 0; i <= n->constant->count; i++) {
        uint32_t c = i < n->constant->count ? n->constant->chars[i] : ' ';
        if (c != ' ' && c != ',' && c < 127 && length + 1 < sizeof word) {
            word[length++] = (char)c;
            continue;
        }
        word[length] = '\0';
        if (length)
            note_name(f, tree_name(f->tree, word), IS_ATTRIBUTE | IS_FIELD);
        length = 0;
    }
}

bool makes_named_tuple(const node *n)
{
    static const char *const names[] = { "namedtuple", "NamedTuple", NULL };
    return n->kind == N_CALL && address_in(last_name(n->a), names);
}

static void note_function(flow *f, const node *n)
{
    static const char *const harmless[] = { "__init__",  "__post_init__", "__repr__", "__str__",
                                            "__len__",   "__bool__",      "__hash__", "__int__",
                                            "__float__", "__enter__",     "__exit__", NULL };
    size_t count = f->function_count;
    f->scopes = with_one(f, f->scopes, &count, f->owner ? f->owner : n);
    f->functions = with_one(f, f->functions, &f->function_count, n);
    note_name(f, n->name, IS_FUNCTION);
    if (n->name[0] == '_' && n->name[1] == '_' && !address_in(n->name, harmless))
        f->has_operators = true;
    for (size_t i = 0; i < n->y.count; i++)
        if (strcmp(last_name(n->y.at[i]), "property") == 0 ||
            strcmp(last_name(n->y.at[i]), "cached_property") == 0)
            note_name(f, n->name, IS_PROPERTY);
}

/* What the node itself says of names; `is`: what a variable is here. */
static void note_names(flow *f, const node *n, unsigned is)
{
    switch (n->kind) {
    case N_FUNCTION:
        note_function(f, n);
        break;
    case N_CLASS:
        note_name(f, n->name, is_remade(n) ? IS_CLASS | is : IS_CLASS);
        f->classes = with_one(f, f->classes, &f->class_count, n);
        break;
    case N_ARG:
    case N_HANDLER:
    case N_MATCH_AS:
    case N_MATCH_STAR:
    case N_MATCH_MAPPING:
        note_name(f, n->name, n->kind == N_ARG ? IS_VARIABLE : is);
        break;
    case N_ASSIGN:
        if (makes_named_tuple(n->a))
            is |= IS_NAMED_TUPLE;
        for (size_t i = 0; i < n->x.count; i++)
            note_target(f, n->x.at[i], is);
        break;
    case N_COMPREHENSION:
        note_target(f, n->a, IS_VARIABLE);
        break;
    case N_AUGASSIGN:
    case N_ANNASSIGN:
    case N_FOR:
    case N_NAMED:
        note_target(f, n->a, is);
        break;
    case N_WITH_ITEM:
        note_target(f, n->b, is);
        break;
    case N_GLOBAL:
        for (size_t i = 0; i < n->x.count; i++)
            note_name(f, n->x.at[i]->name, IS_VARIABLE | IS_OF_MODULE);
        break;
    case N_IMPORT:
    case N_IMPORT_FROM:
        for (size_t i = 0; i < n->x.count; i++) {
            const node *alias = n->x.at[i];
            note_name(f, alias->other ? alias->other : alias->name,
                      n->kind == N_IMPORT || strcmp(alias->name, "abc") == 0 ? IS_MODULE
                                                                             : IS_IMPORTED);
        }
        break;
    case N_OTHER: /* what it is called is not known */
        if (strcmp(n->name, "AsyncFunctionDef") == 0)
            f->loose = f->first = n->line;
        break;
    case N_CALL:
        for (size_t i = 1; strcmp(last_name(n->a), "namedtuple") == 0 && i < n->x.count; i++)
            note_fields(f, n->x.at[i]);
        break;
    default:
        break;
    }
}

static void note_node(flow *f, const node *n, unsigned is)
{
    unsigned inside = n->kind == N_FUNCTION || n->kind == N_LAMBDA ? IS_VARIABLE
                      : n->kind == N_CLASS                         ? IS_VARIABLE | IS_ATTRIBUTE
                                                                   : is;
    note_names(f, n, is);
    const node *owner = f->owner;
    if (n->kind == N_FUNCTION && !owner)
        f->owner = n;
    if (n->a)
        note_node(f, n->a, inside);
    if (n->b)
        note_node(f, n->b, inside);
    if (n->c)
        note_node(f, n->c, inside);
    note_all(f, n->x, inside);
    note_all(f, n->y, inside);
    note_all(f, n->z, inside);
    note_all(f, n->w, inside);
    note_all(f, n->v, inside);
    f->owner = owner;
}

/* -- the answer -------------------------------------------------------------------------------- */

static void follow_contract(flow *f, const analysis *a)
{
    const contract *c = &a->contract;
    f->owner = f->function = a->function;
    f->within = a->function->line;
    place result = flow_place(f, PLACE_RESULT, NULL, a->function->name);
    const char *const names[] = { "_", "__return__" };
    for (size_t i = 0; i < 2; i++)
        flow_join(f, flow_place(f, PLACE_VARIABLE, f->owner, tree_name(f->tree, names[i])), result);
    for (size_t i = 0; i < c->pre_count; i++)
        flow_of(f, c->pre_nodes[i], false);
    for (size_t i = 0; i < c->post_count; i++)
        flow_of(f, c->post_nodes[i], false);
}

int address_line(analysis *a)
{
    flow *f = arena_take(&a->tree_arena, sizeof *f);
    *f = (flow){ .arena = &a->tree_arena, .tree = &a->tree, .count = 1 };
    f->called = flow_place(f, PLACE_KNOWN, a->tree.module, "called");
    f->operands = flow_place(f, PLACE_KNOWN, a->tree.module, "operands");
    f->raised = flow_place(f, PLACE_KNOWN, a->tree.module, "raised");
    note_node(f, a->tree.module, IS_VARIABLE | IS_OF_MODULE);
    for (size_t i = 0; i < a->contract.pre_count; i++)
        note_node(f, a->contract.pre_nodes[i], IS_VARIABLE);
    for (size_t i = 0; i < a->contract.post_count; i++)
        note_node(f, a->contract.post_nodes[i], IS_VARIABLE);
    flow_all(f, a->tree.module->x);
    follow_contract(f, a);
    if (f->loose && f->first)
        return f->loose;
    int line = 0;
    for (const shown *s = f->shown; s; s = s->next) {
        place at = s->at;
        while (f->spots[at].up != at)
            at = f->spots[at].up;
        if (f->spots[at].dirty)
            line = s->line;
    }
    return line;
}
