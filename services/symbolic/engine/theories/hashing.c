/*
 * Objects with __eq__ and __hash__ of the code as keys of dicts and sets.
 *
 * Python calls __hash__ of a key, and __eq__ only for keys with the same hash. Which hashes are the
 * same is not modelled. It need not be, if objects that are equal have the same hash, and if a call
 * of __eq__ that Python does not make would do nothing but return false. This is so for methods
 * that are written in the usual way, over the same attributes:
 *
 *     def __eq__(self, other):
 *         return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)
 *
 *     def __hash__(self):
 *         return hash((self.x, self.y))
 *
 * A dict keeps the hash that a key had when it was added, so these attributes must not change. Nor
 * may the names in the methods: if the code binds `Point` again after a key was added, __eq__ of
 * that key takes objects of another class for equal, which have another hash. So the class
 * statement must be the only one that binds its name, and `hash`, `isinstance` and `NotImplemented`
 * must be those of Python.
 */
#include <string.h>

#include "theories/theories.h"
#include "tree/shadow.h"

enum { MOST_ATTRIBUTES = 16 };

typedef struct attributes {
    const char *names[MOST_ATTRIBUTES];
    size_t count;
} attributes;

static bool attributes_have(const attributes *of, const char *name)
{
    for (size_t i = 0; i < of->count; i++)
        if (strcmp(of->names[i], name) == 0)
            return true;
    return false;
}

static bool attributes_add(attributes *to, const char *name)
{
    if (attributes_have(to, name))
        return true;
    if (to->count == MOST_ATTRIBUTES)
        return false;
    to->names[to->count++] = name;
    return true;
}

static bool is_name(const node *n, const char *name)
{
    return n && n->kind == N_NAME && strcmp(n->name, name) == 0;
}

/* `self.x`: its name; NULL: it is something else. */
static const char *attribute_of(const node *n, const char *self)
{
    return n && n->kind == N_ATTRIBUTE && is_name(n->a, self) ? n->name : NULL;
}

/* The names of the parameters, if the function has that many of them and nothing else. */
static bool method_parameters(const value *method, size_t count, const char **names)
{
    if (!method || method->kind != V_FUNCTION || method->function.node->kind != N_FUNCTION ||
        method->function.cache)
        return false;
    const node *n = method->function.node, *all = n->a;
    if (n->y.count || all->x.count || all->y.count != count || all->a || all->z.count || all->b ||
        all->v.count)
        return false;
    for (size_t i = 0; i < count; i++)
        names[i] = all->y.at[i]->name;
    return true;
}

/* The statements after the docstring. */
static nodes method_body(const value *method)
{
    nodes body = method->function.node->x;
    if (body.count && body.at[0]->kind == N_EXPR && body.at[0]->a->kind == N_CONSTANT)
        return (nodes){ body.at + 1, body.count - 1 };
    return body;
}

/* What a name means in the function, other than a variable of its own; NULL: a builtin. Methods do
 * not see the names of classes. */
static const value *meant_by(machine *m, const value *function, const char *name)
{
    for (const scope *s = function->function.scope; s; s = s->up) {
        const value *found = s->is_class ? NULL : scope_peek(s, name);
        if (found)
            return found;
    }
    return scope_peek(m->globals, name);
}

static const char *const builtins[] = { "hash", "isinstance", "NotImplemented" };
enum { BUILTINS = sizeof builtins / sizeof *builtins };

/* True if a parameter of a function around the method has none of these names. */
static bool sees_builtins(machine *m, const value *method)
{
    for (size_t i = 0; i < BUILTINS; i++)
        if (meant_by(m, method, tree_name(m->tree, builtins[i])))
            return false;
    return true;
}

/* The name in the methods of the class that may mean something else later; NULL: there is none. */
static const char *name_that_changes(machine *m, const value *class)
{
    const node *module = m->tree->module, *n = class->class.node;
    if (m->lasting_names == class)
        return NULL;
    for (size_t i = 0; i < BUILTINS; i++)
        if (!is_bound_once(module, tree_name(m->tree, builtins[i]), NULL))
            return builtins[i];
    if (!is_bound_once(module, n->name, n))
        return n->name;
    m->lasting_names = class;
    return NULL;
}

/* `return hash(self.x)` or `return hash((self.x, self.y))` */
static bool read_hash(machine *m, const value *method, attributes *found)
{
    const char *self;
    if (!method_parameters(method, 1, &self) || !sees_builtins(m, method))
        return false;
    nodes body = method_body(method);
    const node *made = body.count == 1 && body.at[0]->kind == N_RETURN ? body.at[0]->a : NULL;
    if (!made || made->kind != N_CALL || !is_name(made->a, "hash") || made->x.count != 1 ||
        made->y.count || strcmp(self, "hash") == 0)
        return false;
    const node *of = made->x.at[0];
    nodes parts = of->kind == N_TUPLE ? of->x : made->x;
    for (size_t i = 0; i < parts.count; i++) {
        const char *name = attribute_of(parts.at[i], self);
        if (!name || !attributes_add(found, name))
            return false;
    }
    return found->count > 0;
}

/* `isinstance(other, Point)`, where Point is the class of this method. */
static bool is_guard(machine *m, const value *method, const value *class, const node *n,
                     const char **names)
{
    return n->kind == N_CALL && is_name(n->a, "isinstance") && n->x.count == 2 && !n->y.count &&
           is_name(n->x.at[0], names[1]) && n->x.at[1]->kind == N_NAME &&
           !is_name(n->x.at[1], names[0]) && !is_name(n->x.at[1], names[1]) && class->class.node &&
           n->x.at[1]->name == class->class.node->name &&
           meant_by(m, method, n->x.at[1]->name) == class;
}

/* `self.x == other.x` or `(self.x, self.y) == (other.x, other.y)` */
static bool read_equal(const node *n, const char **names, attributes *found)
{
    if (n->kind != N_COMPARE || n->x.count != 1 || n->y.at[0]->op != OP_EQ)
        return false;
    const node *l = n->a, *r = n->x.at[0];
    bool tuples = l->kind == N_TUPLE && r->kind == N_TUPLE;
    nodes left = tuples ? l->x : (nodes){ &l, 1 }, right = tuples ? r->x : (nodes){ &r, 1 };
    if (left.count != right.count)
        return false;
    for (size_t i = 0; i < left.count; i++) {
        const char *a = attribute_of(left.at[i], names[0]);
        const char *b = attribute_of(right.at[i], names[1]);
        if (!a || !b || strcmp(a, b) != 0 || !attributes_add(found, a))
            return false;
    }
    return true;
}

/* `if not isinstance(other, Point): return NotImplemented` */
static bool is_guard_statement(machine *m, const value *method, const value *class, const node *n,
                               const char **names)
{
    if (n->kind != N_IF || n->y.count || n->x.count != 1 || n->x.at[0]->kind != N_RETURN ||
        n->a->kind != N_UNARYOP || n->a->op != OP_NOT)
        return false;
    const node *result = n->x.at[0]->a;
    bool no = result && result->kind == N_CONSTANT && result->constant->kind == C_BOOL &&
              !result->constant->truth;
    if (!no && !is_name(result, "NotImplemented"))
        return false;
    return is_guard(m, method, class, n->a->a, names);
}

static bool read_equality(machine *m, const value *method, const value *class, attributes *found)
{
    const char *names[2];
    if (!method_parameters(method, 2, names) || strcmp(names[0], names[1]) == 0 ||
        !sees_builtins(m, method))
        return false;
    for (size_t i = 0; i < 2 * BUILTINS; i++)
        if (strcmp(names[i / BUILTINS], builtins[i % BUILTINS]) == 0)
            return false;
    nodes body = method_body(method);
    bool guarded = body.count == 2 && is_guard_statement(m, method, class, body.at[0], names);
    if (body.count != (guarded ? 2 : 1) || body.at[body.count - 1]->kind != N_RETURN)
        return false;
    const node *test = body.at[body.count - 1]->a;
    if (!test)
        return false;
    nodes parts = test->kind == N_BOOLOP && test->op == OP_AND ? test->x : (nodes){ &test, 1 };
    for (size_t i = 0; i < parts.count; i++) {
        bool fits = guarded ? read_equal(parts.at[i], names, found)
                            : is_guard(m, method, class, parts.at[i], names);
        if (!fits)
            return false;
        guarded = true;
    }
    return found->count > 0;
}

/* The attributes by which objects of the class are equal and have a hash, if it is such a class.
 * If one of its bases defined another equality, objects of both could be equal with different
 * hashes. Returns the class that defines both methods; NULL: it is no such class. */
static const value *read_class(machine *m, const value *class, attributes *found)
{
    const value *owner = NULL;
    attributes compared = { 0 };
    size_t count = class->class.mro.count;
    if (class->class.exception || class->class.enumeration || class->class.named ||
        class->class.container == V_DICT || class->class.container == V_LIST)
        return NULL;
    for (size_t i = 0; i < (count ? count : 1); i++) {
        const value *one = count ? class->class.mro.at[i] : class;
        if (one->class.dataclass || own_member(one, "__ne__"))
            return NULL;
        if (!own_member(one, "__eq__") && !own_member(one, "__hash__"))
            continue;
        if (owner)
            return NULL;
        owner = one;
    }
    if (!owner || !read_hash(m, own_member(owner, "__hash__"), found) ||
        !read_equality(m, own_member(owner, "__eq__"), owner, &compared) ||
        compared.count != found->count)
        return NULL;
    for (size_t i = 0; i < found->count; i++)
        if (!attributes_have(&compared, found->names[i]))
            return NULL;
    return owner;
}

bool inherits_equality(const value *class)
{
    for (size_t i = 0; i < class->class.mro.count; i++) {
        const value *equals = own_member(class->class.mro.at[i], "__eq__");
        const value *hash = own_member(class->class.mro.at[i], "__hash__");
        if ((equals && equals->kind == V_FUNCTION) || (hash && hash->kind == V_FUNCTION))
            return true;
    }
    return false;
}

bool own_hash_parts(machine *m, const value *v, values *parts, int line)
{
    attributes found = { 0 };
    const value *owner = v->object.plain ? NULL : read_class(m, v->object.class, &found);
    if (!owner)
        return false;
    const char *changed = name_that_changes(m, owner);
    if (changed)
        path_unsupported(m, line, "bind this name once, and outside of loops",
                         "a key of the class %s in code that binds the name %s again",
                         owner->class.name, changed);
    for (size_t i = 0; i < found.count; i++) {
        value *part = object_field(m, v, found.names[i]);
        if (!part || part->kind == V_EITHER || class_member(v->object.class, found.names[i]))
            return false;
        values_add(m, parts, part);
    }
    m->own_keys = true;
    return true;
}

void keep_own_hash(machine *m, const value *object, const char *name, int line)
{
    attributes found = { 0 };
    if (m->own_keys && class_member(object->object.class, "__hash__") &&
        read_class(m, object->object.class, &found) && attributes_have(&found, name) &&
        object_field(m, object, name))
        path_unsupported(m, line, "make another object",
                         "an attribute that __hash__ uses and that is set again");
}
