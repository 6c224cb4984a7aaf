/* Members of classes and fields of objects, as they are kept. */
#include <string.h>

#include "machine/machine.h"

value *own_member(const value *class, const char *name)
{
    const scope *members = class->class.members;
    for (size_t i = 0; members && i < members->count; i++)
        if (strcmp(members->names[i], name) == 0 && members->values[i])
            return members->values[i];
    return NULL;
}

value *class_member(value *class, const char *name)
{
    value *found = own_member(class, name);
    for (size_t i = 1; !found && i < class->class.mro.count; i++)
        found = own_member(class->class.mro.at[i], name);
    return found;
}

value *member_after(value *class, const value *after, const char *name)
{
    bool passed = false;
    for (size_t i = 0; i < class->class.mro.count; i++) {
        value *found = passed ? own_member(class->class.mro.at[i], name) : NULL;
        if (found)
            return found;
        passed = passed || class->class.mro.at[i] == after;
    }
    return NULL;
}

void put_member(machine *m, value *class, const char *name, value *v)
{
    scope_set(m, class->class.members, tree_name(m->tree, name), v);
}

value *object_field(machine *m, const value *object, const char *name)
{
    (void)m;
    for (size_t i = 0; i < object->object.names.count; i++)
        if (value_says(object->object.names.at[i], name))
            return object->object.fields.at[i];
    return NULL;
}

void object_set(machine *m, value *object, const char *name, value *v)
{
    path_change(m, object);
    for (size_t i = 0; i < object->object.names.count; i++)
        if (value_says(object->object.names.at[i], name)) {
            object->object.fields.at[i] = v;
            return;
        }
    values_add(m, &object->object.names, value_ascii(m, name));
    values_add(m, &object->object.fields, v);
}

value *record_of(value *class)
{
    if (class->class.dataclass || class->class.named)
        return class;
    for (size_t i = 1; i < class->class.mro.count; i++)
        if (class->class.mro.at[i]->class.dataclass)
            return class->class.mro.at[i];
    return NULL;
}

values object_declared(machine *m, const value *object, bool all, int line)
{
    value *class = object->object.class;
    const value *record = record_of(class);
    values declared = { 0 };
    for (size_t i = 0; record && i < record->class.field_count; i++) {
        const field *f = &record->class.fields[i];
        if (record->class.named) {
            values_add(m, &declared, object->object.plain->in.items.at[i]);
            continue;
        }
        if (all ? !f->init || f->keyword : !f->compared)
            continue;
        value *v = object_field(m, object, f->name);
        if (!v)
            v = class_member(class, f->name);
        if (!v || v->kind == V_WRAPPER)
            path_unsupported(m, line, "set each field in __init__",
                             "a dataclass without its field %s", f->name);
        values_add(m, &declared, v);
    }
    return declared;
}

static bool is_abstract_member(const value *v)
{
    const value *parts[] = { v, NULL, NULL };
    if (v->kind == V_WRAPPER) {
        parts[0] = v->wrapper.get;
        parts[1] = v->wrapper.set;
    }
    for (int i = 0; i < 2; i++)
        if (parts[i] && parts[i]->kind == V_FUNCTION && parts[i]->function.abstract)
            return true;
    return false;
}

bool class_is_abstract(value *class)
{
    for (size_t c = 0; class->class.abc && c < class->class.mro.count; c++) {
        const scope *members = class->class.mro.at[c]->class.members;
        for (size_t i = 0; members && i < members->count; i++) {
            const value *found = class_member(class, members->names[i]);
            if (found && is_abstract_member(found))
                return true;
        }
    }
    return false;
}
