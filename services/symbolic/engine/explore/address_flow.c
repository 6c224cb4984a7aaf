/* Where values go: places, expressions and statements. See address_inner.h. */
#include <string.h>

#include "explore/address_inner.h"

/* -- places ------------------------------------------------------------------------------------ */

static place new_place(flow *f)
{
    if (f->count >= f->room) {
        size_t room = f->room ? 2 * f->room : 64;
        spot *more = arena_take(f->arena, room * sizeof *more);
        if (f->room)
            memcpy(more, f->spots, f->count * sizeof *more);
        f->spots = more;
        f->room = room;
    }
    f->spots[f->count].up = f->count;
    return f->count++;
}

place flow_place(flow *f, place_kind kind, const node *owner, const char *name)
{
    size_t hash = ((uintptr_t)name >> 3 ^ (uintptr_t)owner >> 5 ^ (size_t)kind * 77) % PLACE_HASHES;
    for (place at = f->heads[hash]; at; at = f->spots[at].next) {
        const spot *s = &f->spots[at];
        if (s->kind == kind && s->owner == owner && s->name == name)
            return at;
    }
    place at = new_place(f);
    spot *s = &f->spots[at];
    s->kind = kind;
    s->owner = owner;
    s->name = name;
    s->next = f->heads[hash];
    f->heads[hash] = at;
    return at;
}

unsigned flow_known(flow *f, const char *name)
{
    return f->spots[flow_place(f, PLACE_KNOWN, NULL, name)].is;
}

/* Functions inside of another one share its variables: their names are taken for the same. */
place flow_variable_in(flow *f, const node *owner, const char *name)
{
    bool of_module = flow_known(f, name) & IS_OF_MODULE;
    return flow_place(f, PLACE_VARIABLE, of_module ? NULL : owner, name);
}

place flow_variable(flow *f, const char *name)
{
    return flow_variable_in(f, f->owner, name);
}

int flow_line(const flow *f, const node *n)
{
    return f->within ? f->within : n->line > 0 ? n->line : 1;
}

static place root_of(flow *f, place at)
{
    while (f->spots[at].up != at) {
        f->spots[at].up = f->spots[f->spots[at].up].up;
        at = f->spots[at].up;
    }
    return at;
}

place flow_join(flow *f, place a, place b)
{
    if (!a || !b)
        return a ? a : b;
    a = root_of(f, a);
    b = root_of(f, b);
    f->spots[b].up = a;
    f->spots[a].dirty |= f->spots[b].dirty;
    return a;
}

place flow_dirty(flow *f, const node *n)
{
    place at = new_place(f);
    f->spots[at].dirty = true;
    if (!f->first)
        f->first = flow_line(f, n);
    return at;
}

void flow_show(flow *f, place at, const node *n)
{
    if (!at)
        return;
    shown *s = arena_take(f->arena, sizeof *s);
    *s = (shown){ at, flow_line(f, n), f->shown };
    f->shown = s;
}

/* -- targets ----------------------------------------------------------------------------------- */

void flow_bind(flow *f, const node *target, place from)
{
    if (!target)
        return;
    switch (target->kind) {
    case N_NAME:
        flow_join(f, flow_variable(f, target->name), from);
        if (flow_known(f, target->name) & IS_ATTRIBUTE) /* of a class */
            flow_join(f, flow_place(f, PLACE_ATTRIBUTE, NULL, target->name), from);
        return;
    case N_ATTRIBUTE:
        flow_of(f, target->a, false);
        flow_join(f, flow_place(f, PLACE_ATTRIBUTE, NULL, target->name), from);
        if (flow_known(f, target->name) & IS_FUNCTION) /* the setter of a property */
            for (size_t i = 0; i < f->function_count; i++)
                if (f->functions[i]->name == target->name)
                    flow_parameters(f, f->functions[i], from);
        return;
    case N_SUBSCRIPT:
        flow_join(f, flow_of(f, target->a, false),
                  flow_join(f, from, flow_of(f, target->b, false)));
        if (f->has_operators)
            flow_join(f, f->operands, from);
        return;
    case N_STARRED:
        flow_bind(f, target->a, from);
        return;
    default:
        for (size_t i = 0; i < target->x.count; i++)
            flow_bind(f, target->x.at[i], from);
        return;
    }
}

/* What a pattern binds: parts of the subject. */
static void bind_pattern(flow *f, const node *n, place from)
{
    if (!n)
        return;
    if (n->kind == N_MATCH_VALUE || n->kind == N_MATCH_SINGLETON) {
        if (n->a)
            flow_of(f, n->a, false);
        return;
    }
    if (n->kind == N_MATCH_CLASS) {
        if (n->a && n->a->kind == N_NAME)
            flow_join(f, flow_place(f, PLACE_RESULT, NULL, n->a->name), from);
        for (size_t i = 0; i < n->y.count; i++)
            flow_join(f, flow_place(f, PLACE_ATTRIBUTE, NULL, n->y.at[i]->name), from);
        for (size_t i = 0; i < n->z.count; i++)
            bind_pattern(f, n->z.at[i], from);
    }
    if (n->name && (n->kind == N_MATCH_AS || n->kind == N_MATCH_STAR || n->kind == N_MATCH_MAPPING))
        flow_join(f, flow_variable(f, n->name), from);
    if (n->kind == N_MATCH_AS)
        bind_pattern(f, n->a, from);
    for (size_t i = 0; n->kind != N_MATCH_MAPPING && i < n->x.count; i++)
        bind_pattern(f, n->x.at[i], from);
    for (size_t i = 0; n->kind == N_MATCH_MAPPING && i < n->y.count; i++)
        bind_pattern(f, n->y.at[i], from);
}

/* -- expressions ------------------------------------------------------------------------------- */

static place all_of(flow *f, nodes list, bool items)
{
    place all = 0;
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i])
            all = flow_join(f, all, flow_of(f, list.at[i], items));
    return all;
}

static place parts_of(flow *f, const node *n)
{
    place all = 0;
    const node *some[] = { n->a, n->b, n->c };
    for (int i = 0; i < 3; i++)
        if (some[i])
            all = flow_join(f, all, flow_of(f, some[i], false));
    nodes lists[] = { n->x, n->y, n->z, n->w, n->v };
    for (int i = 0; i < 5; i++)
        all = flow_join(f, all, all_of(f, lists[i], false));
    return all;
}

static place comprehension_of(flow *f, const node *n, bool items)
{
    for (size_t i = 0; i < n->x.count; i++) {
        const node *each = n->x.at[i];
        flow_bind(f, each->a, flow_of(f, each->b, true));
        all_of(f, each->x, false);
    }
    place all = flow_of(f, n->a, false);
    if (n->b)
        all = flow_join(f, all, flow_of(f, n->b, false));
    return n->kind == N_GENERATOR && !items ? flow_join(f, all, flow_dirty(f, n)) : all;
}

/* A type that is named as a from, as in `x is str`, does nothing. */
static place operand_of(flow *f, const node *n, bool items)
{
    bool named = n->kind == N_NAME && !(flow_known(f, n->name) & (IS_FUNCTION | IS_VARIABLE));
    return named ? 0 : flow_of(f, n, items);
}

/* … nor does `type(x)`. */
static place compared_of(flow *f, const node *n, bool items)
{
    bool is_type = n->kind == N_CALL && n->a->kind == N_NAME && strcmp(n->a->name, "type") == 0 &&
                   !flow_known(f, n->a->name);
    place v = operand_of(f, n, items);
    return is_type ? 0 : v;
}

static bool names_class(flow *f, const node *n)
{
    if (n->kind == N_NAME)
        return (flow_known(f, n->name) & IS_CLASS) && class_shows_module(f, n->name);
    const node *parts[] = { n->a, n->b };
    for (int i = 0; i < 2; i++)
        if (parts[i] && names_class(f, parts[i]))
            return true;
    for (size_t i = 0; i < n->x.count; i++)
        if (names_class(f, n->x.at[i]))
            return true;
    return false;
}

static place comparison_of(flow *f, const node *n)
{
    place all = compared_of(f, n->a, false);
    for (size_t i = 0; i < n->x.count; i++)
        all = flow_join(f, all, compared_of(f, n->x.at[i], true));
    return f->has_operators ? flow_join(f, all, f->operands) : 0;
}

static place operation_of(flow *f, const node *n)
{
    bool shows = n->op == OP_MOD && names_class(f, n->b); /* "%s" % Colour */
    place right = shows ? flow_of(f, n->b, false) : operand_of(f, n->b, false);
    place all = flow_join(f, operand_of(f, n->a, false), right);
    if (n->op == OP_MOD)
        flow_show(f, all, n);
    return f->has_operators ? flow_join(f, all, f->operands) : all;
}

/* `list[str]` is a type. */
static place subscript_of(flow *f, const node *n, bool items)
{
    bool named = n->a->kind == N_NAME &&
                 !(flow_known(f, n->a->name) & (IS_FUNCTION | IS_CLASS | IS_VARIABLE));
    if (named)
        return names_class(f, n->b) ? flow_dirty(f, n) : 0;
    place all = flow_of(f, n->a, items), index = flow_of(f, n->b, false);
    f->raised = flow_join(f, f->raised, index); /* a KeyError has it */
    return f->has_operators ? flow_join(f, all, f->operands) : all;
}

static place lambda_of(flow *f, const node *n)
{
    flow_escapes(f, n);
    return flow_dirty(f, n);
}

static place shown_text(flow *f, const node *n)
{
    if (n->kind == N_JOINED) {
        all_of(f, n->x, false);
        return 0;
    }
    flow_show(f, flow_of(f, n->a, false), n);
    return n->b ? flow_of(f, n->b, false) : 0;
}

static place expression_of(flow *f, const node *n, bool items)
{
    switch (n->kind) {
    case N_CONSTANT:
        return 0;
    case N_NAME:
        if (flow_known(f, n->name) & IS_NAMED_TUPLE)
            return flow_join(f, flow_variable(f, n->name), flow_dirty(f, n));
        return flow_known(f, n->name) & IS_VARIABLE
                   ? flow_join(f, flow_variable(f, n->name),
                               flow_known(f, n->name) & (IS_FUNCTION | IS_IMPORTED)
                                   ? flow_named(f, n)
                                   : 0)
                   : flow_named(f, n);
    case N_ATTRIBUTE:
        return flow_attribute(f, n);
    case N_CALL:
        return flow_call(f, n, items);
    case N_LAMBDA:
        return lambda_of(f, n);
    case N_GENERATOR:
    case N_LISTCOMP:
    case N_SETCOMP:
    case N_DICTCOMP:
        return comprehension_of(f, n, items);
    case N_JOINED:
    case N_FORMATTED:
        return shown_text(f, n);
    case N_COMPARE:
        return comparison_of(f, n);
    case N_BINOP:
        return operation_of(f, n);
    case N_SUBSCRIPT:
        return subscript_of(f, n, items);
    case N_STARRED:
        return flow_of(f, n->a, true);
    case N_IFEXP:
        flow_of(f, n->a, false);
        return flow_join(f, flow_of(f, n->b, items), flow_of(f, n->c, items));
    case N_NAMED: {
        place v = flow_of(f, n->b, false);
        flow_bind(f, n->a, v);
        return v;
    }
    case N_YIELD:
    case N_YIELD_FROM: {
        place v = n->a ? flow_of(f, n->a, n->kind == N_YIELD_FROM) : 0;
        if (f->function && f->function->name)
            v = flow_join(f, flow_place(f, PLACE_RESULT, NULL, f->function->name), v);
        return v;
    }
    default: {
        place all = parts_of(f, n);
        bool truth = n->kind == N_UNARYOP && n->op == OP_NOT;
        return truth                                      ? 0
               : n->kind == N_UNARYOP && f->has_operators ? flow_join(f, all, f->operands)
                                                          : all;
    }
    }
}

/* -- statements -------------------------------------------------------------------------------- */

/* A parameter whose annotation names a class without text. */
static void follow_annotation(flow *f, const node *annotation, place to)
{
    for (size_t i = 0; annotation->name && i < f->class_count; i++)
        if (f->classes[i]->name == annotation->name && class_has_no_text(f, f->classes[i], 0))
            flow_join(f, to, flow_dirty(f, annotation));
    const node *parts[] = { annotation->a, annotation->b, annotation->c };
    for (int i = 0; i < 3; i++)
        if (parts[i])
            follow_annotation(f, parts[i], to);
    for (size_t i = 0; i < annotation->x.count; i++)
        follow_annotation(f, annotation->x.at[i], to);
}

static void follow_parameter(flow *f, const node *p)
{
    if (p && p->a)
        follow_annotation(f, p->a, flow_variable(f, p->name));
}

static void follow_parameters(flow *f, const node *takes)
{
    nodes lists[] = { takes->x, takes->y, takes->z };
    for (int l = 0; l < 3; l++)
        for (size_t i = 0; i < lists[l].count; i++)
            follow_parameter(f, lists[l].at[i]);
    follow_parameter(f, takes->a);
    follow_parameter(f, takes->b);
}

place flow_defaults(flow *f, const node *function)
{
    return flow_join(f, all_of(f, function->a->v, false), all_of(f, function->a->w, false));
}

static void follow_function(flow *f, const node *n)
{
    const node *owner = f->owner, *function = f->function;
    place defaults = flow_defaults(f, n);
    if (!owner)
        f->owner = n;
    f->function = n;
    follow_parameters(f, n->a);
    flow_parameters(f, n, defaults);
    if (is_decorated(n)) {
        flow_escapes(f, n);
        for (size_t i = 0; i < n->y.count; i++)
            flow_callback(f, n->y.at[i], flow_dirty(f, n));
    }
    if (n->name[0] == '_' && n->name[1] == '_' && f->has_operators) {
        flow_parameters(f, n, f->operands);
        flow_join(f, f->operands, flow_place(f, PLACE_RESULT, NULL, n->name));
    }
    flow_all(f, n->x);
    if (tree_generates(n)) /* StopIteration has what it returns */
        f->raised = flow_join(f, f->raised, flow_place(f, PLACE_RESULT, NULL, n->name));
    f->owner = owner;
    f->function = function;
}

/* The first parameter of a method is the object. */
static void follow_class(flow *f, const node *n)
{
    const node *owner = f->owner;
    bool bare = class_has_no_text(f, n, 0);
    all_of(f, n->y, false);
    if (is_remade(n)) { /* by a decorator: it may be anything */
        for (size_t i = 0; i < n->w.count; i++)
            flow_callback(f, n->w.at[i], 0);
        flow_join(f, flow_variable(f, n->name), flow_join(f, f->called, flow_dirty(f, n)));
    }
    for (size_t i = 0; i < n->x.count; i++)
        if (n->x.at[i]->name)
            flow_join(f, flow_place(f, PLACE_RESULT, NULL, n->name),
                      flow_place(f, PLACE_RESULT, NULL, n->x.at[i]->name));
    for (size_t i = 0; i < n->z.count; i++) {
        const node *m = n->z.at[i];
        flow_of(f, m, false);
        if (m->kind == N_FUNCTION && is_of_class(m))
            flow_instances(f, n);
        nodes first = m->kind != N_FUNCTION || !m->a ? (nodes){ 0 }
                      : m->a->x.count                ? m->a->x
                                                     : m->a->y;
        if (first.count) {
            place self = flow_variable_in(f, owner ? owner : m, first.at[0]->name);
            flow_join(f, self,
                      bare ? flow_dirty(f, m) : flow_place(f, PLACE_RESULT, NULL, n->name));
        }
        if (m->kind == N_ANNASSIGN && m->a->kind == N_NAME) /* a field */
            flow_join(f, flow_place(f, PLACE_RESULT, NULL, n->name),
                      flow_place(f, PLACE_ATTRIBUTE, NULL, m->a->name));
    }
}

static void follow_with(flow *f, const node *n)
{
    for (size_t i = 0; i < n->y.count; i++) {
        const node *item = n->y.at[i];
        const char *enter = tree_name(f->tree, "__enter__");
        place v = flow_join(f, flow_of(f, item->a, false),
                            flow_place(f, PLACE_RESULT, NULL, enter));
        flow_bind(f, item->b, v);
    }
    for (size_t i = 0; i < f->function_count; i++)
        if (strcmp(f->functions[i]->name, "__exit__") == 0)
            flow_parameters(f, f->functions[i], f->raised);
    flow_all(f, n->x);
}

static void follow_assignment(flow *f, const node *n)
{
    bool unpacks = n->kind == N_ASSIGN && n->x.count == 1 &&
                   (n->x.at[0]->kind == N_TUPLE || n->x.at[0]->kind == N_LIST);
    const node *given = n->kind == N_ASSIGN ? n->a : n->kind == N_ANNASSIGN ? n->c : n->b;
    place v = given ? flow_of(f, given, unpacks) : 0;
    if (n->kind == N_ASSIGN && makes_named_tuple(n->a)) /* its objects do not show the module */
        v = 0;
    for (size_t i = 0; n->kind == N_ASSIGN && i < n->x.count; i++)
        flow_bind(f, n->x.at[i], v);
    if (n->kind != N_ASSIGN)
        flow_bind(f, n->a, v);
    if (n->kind == N_AUGASSIGN) {
        v = flow_join(f, v, flow_of(f, n->a, false));
        if (n->op == OP_MOD)
            flow_show(f, v, n);
        if (f->has_operators)
            flow_join(f, v, f->operands);
    }
}

/* `raise Missing` raises an object of the class. */
static void follow_raise(flow *f, const node *n)
{
    bool of_class = n->kind == N_RAISE && n->a && n->a->kind == N_NAME &&
                    flow_known(f, n->a->name) == IS_CLASS;
    place v = of_class ? flow_callback(f, n->a, 0) : parts_of(f, n);
    if (of_class && n->b) /* `raise Missing from e` */
        v = flow_join(f, v, flow_of(f, n->b, false));
    f->raised = flow_join(f, f->raised, v);
}

static bool statement_of(flow *f, const node *n)
{
    switch (n->kind) {
    case N_FUNCTION:
        follow_function(f, n);
        return true;
    case N_CLASS:
        follow_class(f, n);
        return true;
    case N_RETURN:
        if (n->a && f->function && f->function->name)
            flow_join(f, flow_place(f, PLACE_RESULT, NULL, f->function->name),
                      flow_of(f, n->a, false));
        return true;
    case N_ASSIGN:
    case N_AUGASSIGN:
    case N_ANNASSIGN:
        follow_assignment(f, n);
        return true;
    case N_FOR: {
        place items = flow_of(f, n->b, true);
        flow_bind(f, n->a, f->has_operators ? flow_join(f, items, f->operands) : items);
        flow_all(f, n->x);
        flow_all(f, n->y);
        return true;
    }
    case N_WITH:
        follow_with(f, n);
        return true;
    case N_RAISE:
    case N_ASSERT:
        follow_raise(f, n);
        return true;
    case N_HANDLER:
        if (n->name)
            flow_join(f, flow_variable(f, n->name), f->raised);
        flow_all(f, n->x);
        return true;
    case N_MATCH_CASE:
        if (n->b)
            flow_of(f, n->b, false);
        flow_all(f, n->x);
        return true;
    case N_MATCH: {
        place subject = flow_of(f, n->a, false);
        for (size_t i = 0; i < n->x.count; i++)
            bind_pattern(f, n->x.at[i]->a, subject);
        flow_all(f, n->x);
        return true;
    }
    case N_DELETE:
    case N_GLOBAL:
    case N_NONLOCAL:
    case N_IMPORT:
    case N_IMPORT_FROM:
    case N_TYPE_ALIAS:
        return true;
    default:
        return false;
    }
}

void flow_all(flow *f, nodes list)
{
    all_of(f, list, false);
}

place flow_of(flow *f, const node *n, bool items)
{
    return statement_of(f, n) ? 0 : expression_of(f, n, items);
}
