/* Counter, defaultdict, OrderedDict and deque: their creation, attributes and methods. Their keys
 * and operators are in theories/kin.c. */
#include <string.h>

#include "builtins/builtins.h"
#include "machine/terms.h"

value *make_kin(machine *m, value *class, arguments *given, int line)
{
    value *made = value_new(m, class->class.container);
    made->of_class = class;
    made->factory = value_none(m);
    arguments with_self = { .names = given->names, .keywords = given->keywords };
    values_add(m, &with_self.places, made);
    for (size_t i = 0; i < given->places.count; i++)
        values_add(m, &with_self.places, given->places.at[i]);
    return call(m, class_member(class, "__init__"), &with_self, line) ? made : NULL;
}

bool kin_in_place(machine *m, operator_kind op, value *l, value *r, value **result, int line)
{
    if (!l->of_class)
        return false;
    value *method = kin_method(l, op, true);
    arguments given = { 0 };
    values_add(m, &given.places, r);
    if (l->kind == V_LIST && op == OP_ADD) {
        *result = call_method(m, l, "extend", &given, line) ? l : NULL;
        return true;
    }
    if ((method || op == OP_BITOR) && r->kind != V_DICT)
        path_unsupported(m, line, "use update()", "%s= of a %s and a %s", tree_sign(op),
                         value_type(l), value_type(r));
    if (method)
        *result = kin_call(m, l, method, r, line);
    else if (op == OP_BITOR)
        *result = update_dict(m, l, &given, line) ? l : NULL;
    else
        return false;
    return true;
}

/* -- attributes -------------------------------------------------------------------------------- */

static const char *const deque_methods[] = { "append",  "appendleft", "clear",   "copy",   "count",
                                             "extend",  "extendleft", "index",   "insert", "pop",
                                             "popleft", "remove",     "reverse", "rotate", NULL };

/* NULL: the attribute of a dict, or `raised`. */
value *kin_attribute(machine *m, value *v, const char *name, int line)
{
    const char *own = strcmp(value_type(v), "defaultdict") == 0 ? "default_factory"
                      : v->kind == V_LIST                       ? "maxlen"
                                                                : "";
    if (strcmp(name, own) == 0)
        return v->factory;
    value *function = name[0] == '_' ? NULL : kin_member(v, name);
    bool builtin = v->kind == V_LIST && is_one_of(name, deque_methods);
    if (!function && !builtin)
        return v->kind == V_LIST && name[0] != '_' ? throw(m, "AttributeError", line) : NULL;
    bool of_class = function && function->kind == V_WRAPPER; /* fromkeys() */
    value *method = value_new(m, V_METHOD);
    method->builtin.self = of_class ? v->of_class : v;
    method->builtin.name = name;
    method->builtin.call = of_class ? function->wrapper.get : function;
    return method;
}

/* -- deque ------------------------------------------------------------------------------------- */

static void drop(value *of, bool first)
{
    values *items = &of->in.items;
    if (first)
        memmove(items->at, items->at + 1, (items->count - 1) * sizeof *items->at);
    items->count--;
}

/* Add one item at one of the two ends; a full deque loses one at the other. */
static void push(machine *m, value *of, value *item, bool left)
{
    int64_t most;
    path_touch(m, of->serial);
    of->version++;
    values *items = &of->in.items;
    values_add(m, items, item);
    if (left) {
        memmove(items->at + 1, items->at, (items->count - 1) * sizeof *items->at);
        items->at[0] = item;
    }
    if (value_whole(of->factory, &most) && (int64_t)items->count > most)
        drop(of, !left);
}

static value *push_all(machine *m, value *of, value *from, bool left, int line)
{
    values items;
    if (!is_iterable(m, from, line))
        return NULL;
    if (from == of) {
        if (!items_of(m, from, false, &items, line))
            return NULL;
        for (size_t i = 0; i < items.count; i++)
            push(m, of, items.at[i], left);
        return value_none(m);
    }
    cursor at = { 0 };
    value *item;
    while ((item = item_next(m, from, &at, line)))
        push(m, of, item, left);
    return m->raised ? NULL : value_none(m);
}

static value *rotate(machine *m, value *of, value *by, int line)
{
    values *items = &of->in.items;
    if (!value_is_integral(by))
        return throw(m, "TypeError", line);
    if (!is_index(m, by, line))
        return NULL;
    if (items->count < 2)
        return value_none(m);
    path_touch(m, of->serial);
    of->version++;
    value *rest = binary(m, OP_MOD, by, value_int(m, (int64_t)items->count), line);
    Z3_context z = m->solver->z;
    size_t turns = 0;
    while (turns + 1 < items->count &&
           !path_decide(m, Z3_mk_eq(z, value_int_term(m, rest), term_int(m, (int64_t)turns)), true))
        turns++;
    values turned = { 0 };
    for (size_t i = 0; i < items->count; i++)
        values_add(m, &turned, items->at[(i + items->count - turns) % items->count]);
    *items = turned;
    return value_none(m);
}

value *deque_method(machine *m, value *self, const char *name, arguments *given, int line)
{
    static const struct {
        const char *name;
        size_t least, most;
        bool changes; /* iterators notice the change */
    } all[] = { { "append", 1, 1, false }, { "appendleft", 1, 1, false },
                { "extend", 1, 1, false }, { "extendleft", 1, 1, false },
                { "rotate", 0, 1, false }, { "copy", 0, 0, false },
                { "popleft", 0, 0, true }, { "pop", 0, 0, true },
                { "clear", 0, 0, true },   { "remove", 1, 1, true },
                { "insert", 2, 2, true },  { "reverse", 0, 0, false },
                { "count", 1, 1, false },  { "index", 1, 1, false } };
    size_t at = 0;
    while (strcmp(all[at].name, name) != 0)
        at++;
    value *first = given->places.count ? given->places.at[0] : NULL;
    if (strcmp(name, "index") == 0 && given->places.count > 1)
        path_unsupported(m, line, "search a list of it", "deque.index() with bounds");
    if (!arguments_fit(m, given, all[at].least, all[at].most, line))
        return NULL;
    if (strncmp(name, "append", 6) == 0) {
        push(m, self, first, name[6] == 'l');
        return value_none(m);
    }
    if (strncmp(name, "extend", 6) == 0)
        return push_all(m, self, first, name[6] == 'l', line);
    if (strcmp(name, "rotate") == 0)
        return rotate(m, self, first ? first : value_int(m, 1), line);
    if (strcmp(name, "copy") == 0) {
        value *made = value_new(m, V_LIST);
        made->of_class = self->of_class;
        made->factory = self->factory;
        for (size_t i = 0; i < self->in.items.count; i++)
            values_add(m, &made->in.items, self->in.items.at[i]);
        return made;
    }
    if (strcmp(name, "popleft") == 0) {
        if (self->in.items.count == 0)
            return throw(m, "IndexError", line);
        path_touch(m, self->serial);
        value *item = self->in.items.at[0];
        self->version++;
        drop(self, true);
        return item;
    }
    int64_t most;
    if (strcmp(name, "insert") == 0 && value_whole(self->factory, &most) &&
        (int64_t)self->in.items.count >= most) {
        if (!value_is_integral(first))
            return throw(m, "TypeError", line);
        return is_index(m, first, line) ? throw(m, "IndexError", line) : NULL;
    }
    value *result = list_method(m, self, name, given, line);
    self->version += result && all[at].changes;
    return result;
}
