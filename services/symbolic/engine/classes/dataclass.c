/* Dataclasses: their fields, the methods that dataclass() generates, and the functions of the
 * module. */
#include <string.h>

#include "base/base.h"
#include "classes/classes.h"
#include "tree/shadow.h"

static const char field_class_name[] = "Field";

/* True for the result of field(). */
static bool is_field(const value *v)
{
    return v && v->kind == V_OBJECT && v->object.class->class.name == field_class_name;
}

/* -- fields ------------------------------------------------------------------------------------ */

enum { MOST_FIELDS = 64 };

static void set_field(machine *m, value *class, field f)
{
    for (size_t i = 0; i < class->class.field_count; i++)
        if (is_word(class->class.fields[i].name, f.name)) {
            class->class.fields[i] = f;
            return;
        }
    if (class->class.field_count == MOST_FIELDS)
        path_bound(m, "the number of fields of a dataclass");
    class->class.fields[class->class.field_count++] = f;
}

static bool flag_of(machine *m, const value *made, const char *name, bool otherwise)
{
    value *v = object_field(m, made, name);
    if (!v)
        return otherwise;
    if (v->kind != V_BOOL || !v->known)
        path_unsupported(m, m->line, "give True or False", "%s of field() that is not known", name);
    return v->truth;
}

static field field_of(machine *m, const char *name, value *made, bool keyword)
{
    field f = { name, .init = true, .compared = true, .shown = true, .keyword = keyword };
    if (!is_field(made)) {
        f.otherwise = made;
        return f;
    }
    f.otherwise = object_field(m, made, "default");
    f.factory = object_field(m, made, "default_factory");
    f.init = flag_of(m, made, "init", true);
    f.compared = flag_of(m, made, "compare", true);
    f.shown = flag_of(m, made, "repr", true);
    f.keyword = flag_of(m, made, "kw_only", keyword);
    return f;
}

/* Python refuses mutable defaults, which all objects would share. */
static bool is_unhashable(value *v)
{
    if (v->kind == V_OBJECT) {
        const value *hash = class_member(v->object.class, "__hash__");
        return hash && hash->kind == V_NONE;
    }
    return v->kind == V_LIST || v->kind == V_DICT || (v->kind == V_SET && !v->frozen);
}

/* Annotations that make no field, or a special one. */
static bool is_mark(const node *n, const void *unused)
{
    (void)unused;
    bool named = n->kind == N_NAME || n->kind == N_ATTRIBUTE || n->kind == N_ALIAS;
    return named && (is_word(n->name, "ClassVar") || is_word(n->name, "InitVar") ||
                     is_word(n->name, "KW_ONLY"));
}

/* What a statement or expression gives to a name; NULL: it gives nothing. */
static const node *given_value(const node *n)
{
    switch (n->kind) {
    case N_ASSIGN:
        return n->a;
    case N_NAMED:
    case N_FOR:
    case N_TYPE_ALIAS:
        return n->b;
    case N_ANNASSIGN:
        return n->c;
    default:
        return NULL;
    }
}

/* True if one of them gets another name: `import ClassVar as Shared`, `Shared = ClassVar`. */
static bool renames_mark(const node *n, const void *unused)
{
    (void)unused;
    const node *given = given_value(n);
    return (n->kind == N_ALIAS && n->other && is_mark(n, NULL)) ||
           (n->kind == N_CALL && tree_first_of(n->x, is_mark, NULL)) ||
           (given && tree_first(given, is_mark, NULL));
}

static bool is_class_variable(machine *m, const node *n)
{
    const node *kind = n->b->kind == N_SUBSCRIPT ? n->b->a : n->b, *module = m->tree->module;
    const char *name = kind->name ? kind->name : "";
    if (kind->kind == N_CONSTANT || is_word(name, "InitVar") || is_word(name, "KW_ONLY") ||
        (is_mark(kind, NULL) && !is_of_python(module, kind)) ||
        tree_first(module, renames_mark, NULL))
        path_unsupported(m, n->line, "use a plain annotation", "this annotation of a field");
    return is_word(name, "ClassVar");
}

static void add_own_field(machine *m, value *class, const node *n, bool keyword)
{
    const char *name = n->a->name;
    value *made = class_member(class, name);
    if (made && (made->kind == V_FUNCTION || made->kind == V_WRAPPER || made->kind == V_MODULE))
        path_unsupported(m, n->line, "name it otherwise", "a field that is also a method");
    field f = field_of(m, name, made, keyword);
    if (is_field(made)) {
        path_touch(m, class->class.members->serial);
        if (f.otherwise)
            put_member(m, class, name, f.otherwise);
        else if (own_member(class, name))
            scope_unset(m, class->class.members, tree_name(m->tree, name));
    }
    if (f.otherwise && is_unhashable(f.otherwise)) /* Python raises a ValueError */
        path_unsupported(m, n->line, "use field(default_factory=…)",
                         "the default of the field %s, which all objects would share", name);
    set_field(m, class, f);
}

/* Annotations that are not statements of the class itself. */
static bool annotates_inside(nodes body, bool inside)
{
    for (size_t i = 0; i < body.count; i++) {
        const node *n = body.at[i];
        if (!n || n->kind == N_FUNCTION || n->kind == N_CLASS)
            continue;
        if (n->kind == N_ANNASSIGN ? inside || n->a->kind != N_NAME
                                   : annotates_inside(n->x, true) || annotates_inside(n->y, true) ||
                                         annotates_inside(n->z, true))
            return true;
    }
    return false;
}

static void collect_fields(machine *m, value *class, bool keyword)
{
    const node *n = class->class.node;
    class->class.fields = arena_take(m->arena, MOST_FIELDS * sizeof *class->class.fields);
    for (size_t i = class->class.mro.count; i-- > 1;) {
        const value *base = record_of(class->class.mro.at[i]);
        for (size_t j = 0; base && j < base->class.field_count; j++)
            set_field(m, class, base->class.fields[j]);
    }
    if (annotates_inside(n->z, false))
        path_unsupported(m, n->line, "annotate the fields at the top of the class",
                         "an annotation inside of a statement of a class");
    for (size_t i = 0; i < n->z.count; i++)
        if (n->z.at[i]->kind == N_ANNASSIGN && !is_class_variable(m, n->z.at[i]))
            add_own_field(m, class, n->z.at[i], keyword);
    bool optional = false;
    for (size_t i = 0; i < class->class.field_count; i++) {
        const field *f = &class->class.fields[i];
        if (!f->init || f->keyword)
            continue;
        if (optional && !f->otherwise && !f->factory)
            path_unsupported(m, n->line, "give each a default",
                             "a field without a default after one with a default");
        optional = optional || f->otherwise || f->factory;
    }
}

/* -- dataclass() ------------------------------------------------------------------------------- */

typedef struct options {
    bool init, repr, eq, order, frozen, kw_only, slots, match_args;
} options;

static options read_options(machine *m, const node *d)
{
    options o = { .init = true, .repr = true, .eq = true, .match_args = true };
    const struct {
        const char *name;
        bool *to;
    } all[] = { { "init", &o.init },     { "repr", &o.repr },
                { "eq", &o.eq },         { "order", &o.order },
                { "frozen", &o.frozen }, { "kw_only", &o.kw_only },
                { "slots", &o.slots },   { "match_args", &o.match_args } };
    for (size_t i = 0; d->kind == N_CALL && i < d->y.count; i++) {
        const node *k = d->y.at[i];
        bool known = false;
        for (size_t j = 0; k->name && j < sizeof all / sizeof *all; j++)
            if (is_word(k->name, all[j].name) && k->a->kind == N_CONSTANT &&
                k->a->constant->kind == C_BOOL) {
                *all[j].to = k->a->constant->truth;
                known = true;
            }
        if (!known)
            path_unsupported(m, d->line, "use frozen, order and eq only",
                             "this option of dataclass");
    }
    if (!o.match_args || (d->kind == N_CALL && d->x.count))
        path_unsupported(m, d->line, "use frozen, order and eq only", "this option of dataclass");
    return o;
}

static void generate(machine *m, value *class, const char *name)
{
    if (own_member(class, name))
        return;
    value *v = value_new(m, V_BUILTIN);
    v->builtin.name = arena_print(m->arena, "dataclass.%s", name);
    v->builtin.self = class;
    put_member(m, class, name, v);
}

/* A frozen class and one that is not cannot inherit from each other. */
static bool is_frozen_alike(const value *class)
{
    for (size_t i = 1; i < class->class.mro.count; i++) {
        const value *base = class->class.mro.at[i];
        if (base->class.dataclass && base->frozen != class->frozen)
            return false;
    }
    return true;
}

bool class_becomes_dataclass(machine *m, value *class, const node *decorator)
{
    static const char *const order[] = { "__lt__", "__le__", "__gt__", "__ge__" };
    options o = read_options(m, decorator);
    if (class->class.exception || class->class.enumeration || class->class.named ||
        class->class.dataclass || (o.slots && class->class.mro.count > 1))
        path_unsupported(m, decorator->line, "use a plain class", "dataclass on this class");
    class->frozen = o.frozen;
    class->class.slotted = o.slots;
    collect_fields(m, class, o.kw_only);
    if (!is_frozen_alike(class) || (o.order && !o.eq)) {
        throw(m, o.order && !o.eq ? "ValueError" : "TypeError", decorator->line);
        return false;
    }
    class->class.dataclass = true;
    const value *hash = own_member(class, "__hash__");
    bool own_hash = hash && !(hash->kind == V_NONE && own_member(class, "__eq__"));
    if (o.init)
        generate(m, class, "__init__");
    if (o.repr)
        generate(m, class, "__repr__");
    if (o.eq)
        generate(m, class, "__eq__");
    for (size_t i = 0; o.order && i < sizeof order / sizeof *order; i++) {
        if (own_member(class, order[i])) {
            throw(m, "TypeError", decorator->line);
            return false;
        }
        generate(m, class, order[i]);
    }
    if (o.eq && !own_hash && !o.frozen)
        put_member(m, class, "__hash__", value_none(m));
    if (o.eq && !own_hash && o.frozen) {
        scope_set(m, class->class.members, tree_name(m->tree, "__hash__"), NULL);
        generate(m, class, "__hash__");
    }
    return true;
}

bool may_set_field(machine *m, value *object, const char *name, int line)
{
    value *class = object->object.class, *record = record_of(class);
    if (!record || record->class.named)
        return true;
    bool declared = false;
    for (size_t i = 0; i < record->class.field_count; i++)
        declared = declared || is_word(record->class.fields[i].name, name);
    if (record->frozen) {
        if (!declared && record->class.slotted)
            path_unsupported(m, line, "declare it", "a new attribute of a frozen dataclass");
        if (declared || record == class)
            throw(m, "FrozenInstanceError", line);
    } else if (record->class.slotted && !declared) {
        throw(m, "AttributeError", line);
    }
    return !m->raised;
}

/* -- what is generated ------------------------------------------------------------------------- */

/* The argument for a field. NULL: it is not given, or given twice (`raised`). */
static value *argument_for(machine *m, const field *f, arguments *given, size_t *used, int line)
{
    value *v = NULL;
    if (!f->keyword && *used < given->places.count)
        v = given->places.at[(*used)++];
    value *named = keyword_argument(given, f->name);
    if (v && named)
        return throw(m, "TypeError", line);
    return v ? v : named;
}

static value *init_dataclass(machine *m, value *object, value *class, arguments *given, int line)
{
    value *found[MOST_FIELDS];
    size_t used = 0;
    for (size_t i = 0; i < class->class.field_count; i++) {
        const field *f = &class->class.fields[i];
        found[i] = f->init ? argument_for(m, f, given, &used, line) : NULL;
        if (m->raised || (f->init && !found[i] && !f->otherwise && !f->factory))
            return throw(m, "TypeError", line);
    }
    bool rest = used < given->places.count;
    for (size_t j = 0; j < given->names.count; j++)
        rest = rest || given->keywords.at[j];
    if (rest)
        return throw(m, "TypeError", line);
    for (size_t i = 0; i < class->class.field_count; i++) {
        const field *f = &class->class.fields[i];
        bool set = f->init || class->class.slotted; /* otherwise the class has the default */
        value *v = found[i] ? found[i] : set ? f->otherwise : NULL;
        if (!v && f->factory)
            v = call(m, f->factory, &(arguments){ 0 }, line);
        if (m->raised)
            return NULL;
        if (v)
            object_set(m, object, f->name, v);
    }
    value *after = class_member(object->object.class, "__post_init__");
    if (after && after->kind != V_FUNCTION)
        path_unsupported(m, line, "make it a method", "__post_init__ that is no function");
    return !after || call_with(m, after, object, line) ? value_none(m) : NULL;
}

static value *equal_or_ordered(machine *m, operator_kind op, value *l, value *r, int line)
{
    if (r->kind != V_OBJECT || r->object.class != l->object.class)
        return value_new(m, V_NOT_IMPLEMENTED);
    value *tuples[2] = { value_new(m, V_TUPLE), value_new(m, V_TUPLE) };
    tuples[0]->in.items = object_declared(m, l, false, line);
    tuples[1]->in.items = object_declared(m, r, false, line);
    for (size_t i = 0; op == OP_EQ && i < tuples[0]->in.items.count; i++) {
        /* Python 3.13 does not compare by identity here */
        const value *one = tuples[0]->in.items.at[i];
        bool nan = one->kind == V_FLOAT &&
                   (one->known ? one->real != one->real : !value_is_quotient(one));
        if ((nan || one->kind == V_OBJECT) && one == tuples[1]->in.items.at[i] &&
            (nan || has_own_order(one)))
            path_unsupported(m, line, "compare the attributes",
                             "== of dataclasses with a float that may be NaN");
    }
    return compare(m, op, tuples[0], tuples[1], line);
}

static value *shown(machine *m, value *object, value *class, int line)
{
    value *made = value_ascii(m, arena_print(m->arena, "%s(", object->object.class->class.name));
    bool first = true;
    if (object->object.class->class.inner)
        path_unsupported(m, line, "define the class at the top of the module",
                         "the text of an object of a class inside of another block");
    for (size_t i = 0; i < class->class.field_count; i++) {
        const field *f = &class->class.fields[i];
        if (!f->shown)
            continue;
        value *v = get_attribute(m, object, f->name, line);
        v = v ? text_of(m, v, true, line) : NULL;
        if (!v)
            return NULL;
        const char *name = arena_print(m->arena, "%s%s=", first ? "" : ", ", f->name);
        made = text_binary(m, OP_ADD, made, value_ascii(m, name), line);
        made = text_binary(m, OP_ADD, made, v, line);
        first = false;
    }
    return text_binary(m, OP_ADD, made, value_ascii(m, ")"), line);
}

/* An object may contain itself. */
static value *nested_text(machine *m, value *object, value *class, int line)
{
    if (++m->nested > MOST_NESTED)
        path_unsupported(m, line, "show the attributes", "the text of what is nested deeply");
    value *made = shown(m, object, class, line);
    m->nested--;
    return made;
}

value *call_generated(machine *m, value *callee, arguments *given, int line)
{
    static const struct {
        const char *name;
        operator_kind op;
    } compared[] = { { "__eq__", OP_EQ },
                     { "__lt__", OP_LT },
                     { "__le__", OP_LTE },
                     { "__gt__", OP_GT },
                     { "__ge__", OP_GTE } };
    const char *name = strchr(callee->builtin.name, '.') + 1;
    value *self = given->places.count ? given->places.at[0] : NULL, *class = callee->builtin.self;
    if (!self || self->kind != V_OBJECT || !is_subclass(self->object.class, class))
        path_unsupported(m, line, "call it on an object", "%s without an object", name);
    arguments rest = { .names = given->names, .keywords = given->keywords };
    for (size_t i = 1; i < given->places.count; i++)
        values_add(m, &rest.places, given->places.at[i]);
    if (is_word(name, "__init__"))
        return init_dataclass(m, self, class, &rest, line);
    if (is_word(name, "__repr__"))
        return arguments_fit(m, &rest, 0, 0, line) ? nested_text(m, self, class, line) : NULL;
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        if (is_word(name, compared[i].name))
            return arguments_fit(m, &rest, 1, 1, line)
                       ? equal_or_ordered(m, compared[i].op, self, rest.places.at[0], line)
                       : NULL;
    path_unsupported(m, line, "use the function", "the generated method %s", name);
}

/* -- functions of modules ---------------------------------------------------------------------- */

static const char *const library[] = { "dataclasses.field",  "dataclasses.replace",
                                       "dataclasses.asdict", "dataclasses.astuple",
                                       "typing.NewType",     "collections.namedtuple",
                                       "enum.auto",          "typing.cast" };

bool is_class_library(const char *name)
{
    for (size_t i = 0; i < sizeof library / sizeof *library; i++)
        if (is_word(name, library[i]))
            return true;
    return strncmp(name, "new type ", 9) == 0;
}

static value *make_field(machine *m, arguments *given, int line)
{
    static const char *const known[] = { "default", "default_factory", "init", "compare",
                                         "repr",    "kw_only" };
    value *class = value_new(m, V_CLASS), *made = value_new(m, V_OBJECT);
    class->class.name = field_class_name;
    made->object.class = class;
    for (size_t i = 0; i < given->names.count; i++) {
        bool good = false;
        for (size_t j = 0; j < sizeof known / sizeof *known; j++)
            good = good || value_says(given->names.at[i], known[j]);
        if (!good)
            path_unsupported(m, line, "leave it out", "this option of field()");
        object_set(m, made, value_utf8(m, given->names.at[i]), given->keywords.at[i]);
    }
    if (given->places.count)
        return throw(m, "TypeError", line);
    if (object_field(m, made, "default") && object_field(m, made, "default_factory"))
        return throw(m, "ValueError", line);
    return made;
}

/* The object of a dataclass that is the one argument. */
static value *record_argument(machine *m, const arguments *given, const char *name, int line)
{
    value *of = given->places.count == 1 ? given->places.at[0] : NULL;
    if (!of || of->kind != V_OBJECT || !record_of(of->object.class) || of->object.plain)
        path_unsupported(m, line, "give one object of a dataclass", "%s() of this", name);
    return of;
}

static value *replaced(machine *m, arguments *given, int line)
{
    value *of = record_argument(m, given, "replace", line);
    const value *record = record_of(of->object.class);
    arguments with = { .names = given->names, .keywords = given->keywords };
    for (size_t i = 0; i < record->class.field_count; i++) {
        const field *f = &record->class.fields[i];
        bool changed = false;
        for (size_t j = 0; j < given->names.count; j++)
            changed = changed || value_says(given->names.at[j], f->name);
        if (!f->init)
            path_unsupported(m, line, "make the object yourself", "replace() with such a field");
        if (changed)
            continue;
        value *v = get_attribute(m, of, f->name, line);
        if (!v)
            return NULL;
        values_add(m, &with.names, value_ascii(m, f->name));
        values_add(m, &with.keywords, v);
    }
    return call(m, of->object.class, &with, line);
}

/* asdict() and astuple() descend into dataclasses and containers, and copy everything else. */
static value *unfolded(machine *m, value *v, bool pairs, int line);

static bool unfold_all(machine *m, values *to, const values *from, bool pairs, int line)
{
    for (size_t i = 0; i < from->count; i++) {
        value *one = unfolded(m, from->at[i], pairs, line);
        if (!one)
            return false;
        values_add(m, to, one);
    }
    return true;
}

static value *unfold_record(machine *m, value *v, bool pairs, int line)
{
    const value *record = record_of(v->object.class);
    value *made = value_new(m, pairs ? V_DICT : V_TUPLE);
    for (size_t i = 0; i < record->class.field_count; i++) {
        const char *name = record->class.fields[i].name;
        value *f = get_attribute(m, v, name, line);
        if (!f || !(f = unfolded(m, f, pairs, line)))
            return NULL;
        if (pairs)
            values_add(m, &made->in.items, value_ascii(m, name));
        values_add(m, pairs ? &made->in.others : &made->in.items, f);
    }
    return made;
}

static value *unfolded(machine *m, value *v, bool pairs, int line)
{
    value *made = v;
    if (++m->nested > MOST_NESTED)
        path_unsupported(m, line, "copy the fields yourself", "asdict() of what is nested deeply");
    if (v->kind == V_OBJECT && record_of(v->object.class) && !v->object.plain) {
        made = unfold_record(m, v, pairs, line);
    } else if (v->kind == V_LIST || v->kind == V_TUPLE || v->kind == V_DICT) {
        settle(m, v);
        made = value_new(m, v->kind);
        if (!unfold_all(m, &made->in.items, &v->in.items, pairs, line) ||
            !unfold_all(m, &made->in.others, &v->in.others, pairs, line))
            made = NULL;
    } else if (!value_is_scalar(v) && v->kind != V_NONE &&
               !(v->kind == V_OBJECT && v->object.class->class.enumeration)) {
        path_unsupported(m, line, "copy the fields yourself", "asdict() or astuple() of a %s",
                         value_type(v));
    }
    m->nested--;
    return made;
}

bool call_class_library(machine *m, const char *name, arguments *given, value **result, int line)
{
    if (!is_class_library(name))
        return false;
    if (is_word(name, "dataclasses.field")) {
        *result = make_field(m, given, line);
    } else if (is_word(name, "dataclasses.replace")) {
        *result = replaced(m, given, line);
    } else if (is_word(name, "dataclasses.asdict") || is_word(name, "dataclasses.astuple")) {
        if (given->names.count)
            path_unsupported(m, line, "leave it out", "an option of %s()", name);
        value *of = record_argument(m, given, name, line);
        *result = unfolded(m, of, is_word(name, "dataclasses.asdict"), line);
    } else if (is_word(name, "typing.NewType")) {
        value *made = value_new(m, V_BUILTIN);
        made->builtin.name = arena_print(m->arena, "new type %u", made->serial);
        if (given->names.count || given->places.count != 2 || given->places.at[0]->kind != V_STR)
            path_unsupported(m, line, "give a name and a type", "NewType() of this");
        *result = made;
    } else if (strncmp(name, "new type ", 9) == 0) {
        *result = arguments_fit(m, given, 1, 1, line) ? given->places.at[0] : NULL;
    } else if (is_word(name, "typing.cast")) {
        *result = arguments_fit(m, given, 2, 2, line) ? given->places.at[1] : NULL;
    } else if (is_word(name, "collections.namedtuple")) {
        *result = named_of_call(m, given, line);
    } else {
        path_unsupported(m, line, "use it in the class of an Enum", "%s() here", name);
    }
    return true;
}
