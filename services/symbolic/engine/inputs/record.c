/* Types that a module defines: dataclasses and NamedTuples with the fields that they inherit, and
 * other names for types. */
#include <string.h>

#include "inputs/record.h"
#include "tree/shadow.h"

static const node *class_named(const tree *t, const char *name)
{
    for (size_t i = 0; i < t->module->x.count; i++) {
        const node *n = t->module->x.at[i];
        if (n->kind == N_CLASS && n->name == name)
            return n;
    }
    return NULL;
}

static bool is_named(const node *n, const char *name)
{
    return n && n->name && strcmp(n->name, name) == 0;
}

static bool is_quoted(const node *n, const char *name)
{
    const constant *k = n->kind == N_CONSTANT && n->constant->kind == C_STR ? n->constant : NULL;
    size_t length = strlen(name), at = 0;
    while (k && k->count == length && at < length && k->chars[at] == (unsigned char)name[at])
        at++;
    return at == length;
}

static const node *dataclass_decorator(const tree *t, const node *class)
{
    for (size_t i = 0; i < class->w.count; i++)
        if (is_named(class->w.at[i]->kind == N_CALL ? class->w.at[i]->a : class->w.at[i],
                     "dataclass") &&
            is_of_python(t->module, class->w.at[i]))
            return class->w.at[i];
    return NULL;
}

static bool is_false(const node *n)
{
    return n->kind == N_CONSTANT && n->constant->kind == C_BOOL && !n->constant->truth;
}

/* `name=False` in a call. */
static bool turns_off(const node *n, const char *name)
{
    for (size_t i = 0; n && n->kind == N_CALL && i < n->y.count; i++)
        if (is_named(n->y.at[i], name) && is_false(n->y.at[i]->a))
            return true;
    return false;
}

static bool defines(const node *class, const char *name)
{
    for (size_t i = 0; i < class->z.count; i++)
        if (class->z.at[i]->kind == N_FUNCTION && is_named(class->z.at[i], name))
            return true;
    return false;
}

/* The class is a NamedTuple. */
static bool is_named_tuple(const tree *t, const node *class)
{
    return class->x.count && is_named(class->x.at[0], "NamedTuple") &&
           is_of_python(t->module, class->x.at[0]);
}

static bool add_fields(const node *class, record *out)
{
    for (size_t i = 0; i < class->z.count; i++) {
        const node *n = class->z.at[i];
        if (n->kind != N_ANNASSIGN || n->a->kind != N_NAME)
            continue;
        const node *kind = n->b->kind == N_SUBSCRIPT ? n->b->a : n->b;
        if (is_named(kind, "ClassVar") || (n->c && turns_off(n->c, "init")))
            continue;
        size_t at = 0;
        while (at < out->count && out->names[at] != n->a->name)
            at++;
        if (at == MOST_RECORD_FIELDS)
            return false;
        out->names[at] = n->a->name;
        out->annotations[at] = n->b;
        out->count += at == out->count;
    }
    return true;
}

static bool collect(const tree *t, const node *class, int depth, record *out)
{
    if (class->x.count == 1 && is_named_tuple(t, class))
        return add_fields(class, out);
    const node *decorator = dataclass_decorator(t, class);
    size_t bases = 0;
    if (depth > 8 || defines(class, "__init__") || turns_off(decorator, "init"))
        return false;
    for (size_t i = class->x.count; i-- > 0;) {
        const node *b = class->x.at[i], *base = b->kind == N_NAME ? class_named(t, b->name) : NULL;
        if (is_named(b, "ABC") || is_named(b, "object"))
            continue;
        if (!base || bases++ || !collect(t, base, depth + 1, out))
            return false;
    }
    return !decorator || add_fields(class, out);
}

const node *record_named(const tree *t, const char *name, record *out)
{
    const node *class = class_named(t, name);
    *out = (record){ 0 };
    if (!class || !collect(t, class, 0, out))
        return NULL;
    /* A plain class has no fields: the attributes of its objects are not known. */
    for (const node *at = class; at;) {
        if (dataclass_decorator(t, at) || is_named_tuple(t, at))
            return class;
        at = at->x.count && at->x.at[0]->kind == N_NAME ? class_named(t, at->x.at[0]->name) : NULL;
    }
    return NULL;
}

const node *alias_named(const tree *t, const char *name)
{
    for (size_t i = 0; i < t->module->x.count; i++) {
        const node *n = t->module->x.at[i];
        if (n->kind == N_TYPE_ALIAS && n->a->name == name && n->x.count == 0)
            return n->b;
        if (n->kind == N_ANNASSIGN && n->a->kind == N_NAME && n->a->name == name)
            return is_named(n->b, "TypeAlias") || is_quoted(n->b, "TypeAlias") ? n->c : NULL;
        if (n->kind != N_ASSIGN || n->x.count != 1 || n->x.at[0]->kind != N_NAME ||
            n->x.at[0]->name != name)
            continue;
        bool new_type = n->a->kind == N_CALL && is_named(n->a->a, "NewType") &&
                        n->a->x.count == 2 && is_of_python(t->module, n->a);
        return new_type ? n->a->x.at[1] : n->a;
    }
    return NULL;
}
