/* Expressions. Unknown conditions are joined if both sides give values of one kind. */
#include <string.h>

#include "interpreter/interpreter.h"

/* -- joins of expressions ---------------------------------------------------------------------- */

/* The expressions on the sides of a condition; NULL: none, and the value of the side is `given`. */
typedef struct choice {
    scope *s;
    const node *nodes[2]; /* indexed by the condition: false, true */
    value *given[2];
    value *results[2];
    const node *compare; /* a chain of comparisons that continues at `from` with `left` */
    size_t from;
    value *left;
    bool truth; /* only the truth of the values is needed */
    value *joined;
    Z3_ast condition;
} choice;

static value *compare_from(machine *m, scope *s, const node *n, size_t from, value *left);

static bool run_choice(machine *m, void *context, bool condition)
{
    choice *c = context;
    value *result = c->given[condition];
    if (c->compare && condition)
        result = compare_from(m, c->s, c->compare, c->from, c->left);
    else if (c->nodes[condition])
        result = c->truth ? eval_truth(m, c->s, c->nodes[condition])
                          : eval(m, c->s, c->nodes[condition]);
    if (!result)
        return false;
    c->results[condition] = result;
    return true;
}

static bool meet_choice(machine *m, void *context)
{
    choice *c = context;
    c->joined = choose(m, c->condition, c->results[1], c->results[0]);
    return c->joined != NULL;
}

/* Both sides in one value; NULL: the path has forked, and has taken one side (`*way`). */
static value *join_choice(machine *m, choice *c, bool *way)
{
    side sides = { c, run_choice, meet_choice };
    if (path_join(m, c->condition, &sides))
        return c->joined;
    *way = path_decide(m, c->condition, true);
    return NULL;
}

/* -- and, or, not ------------------------------------------------------------------------------ */

static value *eval_bool(machine *m, scope *s, const node *n, bool truth)
{
    bool all = n->op == OP_AND;
    value *left = NULL;
    for (size_t i = 0; i < n->x.count; i++) {
        const node *part = n->x.at[i];
        if (!left) {
            left = truth ? eval_truth(m, s, part) : eval(m, s, part);
        } else {
            value *is = truth_of(m, left);
            if (!is)
                return NULL;
            bool way = all;
            value *joined = NULL;
            if (is->known) {
                way = is->truth;
            } else {
                choice c = { .s = s, .truth = truth, .condition = is->term };
                c.nodes[all] = part;
                c.given[!all] = left;
                joined = join_choice(m, &c, &way);
            }
            if (joined)
                left = joined;
            else if (way == all)
                left = truth ? eval_truth(m, s, part) : eval(m, s, part);
            else
                return truth ? value_bool(m, !all) : left;
        }
        if (!left)
            return NULL;
    }
    return left;
}

value *eval_truth(machine *m, scope *s, const node *n)
{
    if (n->kind == N_BOOLOP)
        return eval_bool(m, s, n, true);
    if (n->kind == N_UNARYOP && n->op == OP_NOT) {
        value *truth = eval_truth(m, s, n->a);
        return truth ? negated(m, truth) : NULL;
    }
    value *v = eval(m, s, n);
    return v ? truth_of(m, v) : NULL;
}

/* -- comparison chains ------------------------------------------------------------------------- */

static value *compare_from(machine *m, scope *s, const node *n, size_t from, value *left)
{
    value *right = eval(m, s, n->x.at[from]);
    value *result = right ? compare(m, n->y.at[from]->op, left, right, n->line) : NULL;
    if (!result || from + 1 == n->x.count)
        return result;
    bool way = result->truth;
    if (!result->known) {
        choice c = { .s = s,
                     .compare = n,
                     .from = from + 1,
                     .left = right,
                     .truth = true,
                     .condition = result->term };
        c.given[0] = value_bool(m, false);
        value *joined = join_choice(m, &c, &way);
        if (joined)
            return joined;
    }
    return way ? compare_from(m, s, n, from + 1, right) : value_bool(m, false);
}

/* -- the conditional expression ---------------------------------------------------------------- */

static value *eval_conditional(machine *m, scope *s, const node *n)
{
    value *test = eval_truth(m, s, n->a);
    if (!test)
        return NULL;
    bool way = test->truth;
    if (!test->known) {
        choice c = { .s = s, .condition = test->term };
        c.nodes[1] = n->b;
        c.nodes[0] = n->c;
        value *joined = join_choice(m, &c, &way);
        if (joined)
            return joined;
    }
    return eval(m, s, way ? n->b : n->c);
}

/* -- displays ---------------------------------------------------------------------------------- */

static bool add_elements(machine *m, scope *s, nodes elements, bool hint, values *to)
{
    for (size_t i = 0; i < elements.count; i++) {
        const node *e = elements.at[i];
        value *v = eval(m, s, e->kind == N_STARRED ? e->a : e);
        if (!v)
            return false;
        if (e->kind != N_STARRED) {
            values_add(m, to, v);
            continue;
        }
        values more;
        if (hint ? !list_items(m, v, &more, e->line) : !items_of(m, v, false, &more, e->line))
            return false;
        for (size_t j = 0; j < more.count; j++)
            values_add(m, to, more.at[j]);
    }
    return true;
}

static value *eval_display(machine *m, scope *s, const node *n)
{
    values items = { 0 };
    if (!add_elements(m, s, n->x, n->kind != N_SET, &items))
        return NULL;
    value *made = value_new(m, n->kind == N_LIST ? V_LIST : n->kind == N_TUPLE ? V_TUPLE : V_SET);
    if (made->kind != V_SET) {
        made->in.items = items;
        return made;
    }
    for (size_t i = 0; i < items.count; i++)
        if (!add_item(m, made, items.at[i], n->line))
            return NULL;
    return made;
}

static value *eval_dict(machine *m, scope *s, const node *n)
{
    value *made = value_new(m, V_DICT);
    for (size_t i = 0; i < n->y.count; i++) {
        value *key = n->x.at[i] ? eval(m, s, n->x.at[i]) : NULL;
        if (n->x.at[i] && !key)
            return NULL;
        value *v = eval(m, s, n->y.at[i]);
        if (!v)
            return NULL;
        if (key) {
            if (set_key(m, made, key, v, n->line))
                continue;
            /* Python would first have evaluated the following expressions. */
            if (i + 1 < n->y.count)
                path_unsupported(m, n->line, "use keys that can be hashed",
                                 "a dict with a key that cannot be hashed");
            return NULL;
        }
        refuse_mapping(m, v, n->line);
        if (v->kind != V_DICT)
            return throw(m, "TypeError", n->line);
        settle(m, v);
        for (size_t j = 0; j < v->in.items.count; j++)
            if (!set_key(m, made, v->in.items.at[j], v->in.others.at[j], n->line))
                return NULL;
    }
    return made;
}

/* -- assignment -------------------------------------------------------------------------------- */

/* Python reads one item more than there are targets, and no further one. */
static bool few_items(machine *m, value *v, size_t count, values *out, int line)
{
    *out = (values){ 0 };
    if (!iterable(m, &v, line))
        return false;
    if (v->kind != V_ITERATOR && v->kind != V_OBJECT)
        return items_of(m, v, false, out, line);
    cursor at = { 0 };
    value *item;
    while (out->count <= count && (item = item_next(m, v, &at, line)))
        values_add(m, out, item);
    return !m->raised;
}

static bool unpack(machine *m, scope *s, nodes targets, value *v, int line)
{
    values items;
    size_t starred = targets.count;
    for (size_t i = 0; i < targets.count; i++)
        if (targets.at[i]->kind == N_STARRED)
            starred = i;
    if (starred == targets.count ? !few_items(m, v, targets.count, &items, line)
                                 : !items_of(m, v, false, &items, line))
        return false;
    bool fits = starred == targets.count ? items.count == targets.count
                                         : items.count + 1 >= targets.count;
    if (!fits) {
        throw(m, "ValueError", line);
        return false;
    }
    size_t more = items.count - (targets.count - 1), at = 0;
    for (size_t i = 0; i < targets.count; i++) {
        value *one = items.at[at];
        if (i == starred) {
            one = value_sequence(m, V_LIST, more);
            for (size_t j = 0; j < more; j++)
                values_add(m, &one->in.items, items.at[at + j]);
            at += more;
        } else {
            at++;
        }
        const node *target = targets.at[i];
        if (!assign(m, s, target->kind == N_STARRED ? target->a : target, one))
            return false;
    }
    return true;
}

bool assign(machine *m, scope *s, const node *target, value *v)
{
    switch (target->kind) {
    case N_NAME:
        scope_set(m, s, target->name, v);
        return true;
    case N_TUPLE:
    case N_LIST:
        return unpack(m, s, target->x, v, target->line);
    case N_SUBSCRIPT: {
        value *of = eval(m, s, target->a);
        if (target->b->kind == N_SLICE)
            path_unsupported(m, target->line, "build a new list", "assignment to a slice");
        value *index = of ? eval(m, s, target->b) : NULL;
        return index && item_set(m, of, index, v, target->line);
    }
    case N_ATTRIBUTE: {
        value *of = eval(m, s, target->a);
        return of && attribute_set(m, of, target->name, v, target->line);
    }
    default:
        path_unsupported(m, target->line, NULL, "assignment to %s", tree_construct(target));
    }
}

/* -- all of them ------------------------------------------------------------------------------- */

static value *eval_subscript(machine *m, scope *s, const node *n)
{
    value *of = eval(m, s, n->a);
    if (!of)
        return NULL;
    if (n->b->kind != N_SLICE) {
        value *index = eval(m, s, n->b);
        return index ? item_get(m, of, index, n->line) : NULL;
    }
    const node *parts[] = { n->b->a, n->b->b, n->b->c };
    value *bounds[3];
    for (int i = 0; i < 3; i++) {
        bounds[i] = parts[i] ? eval(m, s, parts[i]) : value_none(m);
        if (!bounds[i])
            return NULL;
        bounds[i] = plain_of(bounds[i]);
    }
    return slice_get(m, of, bounds[0], bounds[1], bounds[2], n->line);
}

static value *eval_joined(machine *m, scope *s, const node *n)
{
    value *made = value_ascii(m, "");
    for (size_t i = 0; i < n->x.count; i++) {
        const node *part = n->x.at[i];
        value *v = eval(m, s, part->kind == N_FORMATTED ? part->a : part);
        value *spec = v && part->kind == N_FORMATTED && part->b ? eval(m, s, part->b) : NULL;
        if (!v || (part->kind == N_FORMATTED && part->b && !spec))
            return NULL;
        if (part->kind == N_FORMATTED) {
            if (part->number == 'r')
                v = text_of(m, v, true, n->line);
            else if (part->number == 's')
                v = text_of(m, v, false, n->line);
            else if (part->number == 'a')
                v = text_ascii(m, v, n->line);
            v = v ? format(m, v, spec, n->line) : NULL;
        }
        made = v ? text_binary(m, OP_ADD, made, v, n->line) : NULL;
        if (!made)
            return NULL;
    }
    return made;
}

static value *eval_named(machine *m, scope *s, const node *n)
{
    value *v = eval(m, s, n->b);
    scope *to = s;
    while (to->comprehension && to->up)
        to = to->up;
    if (v)
        scope_set(m, to, n->a->name, v);
    return v;
}

static value *eval_name(machine *m, scope *s, const node *n)
{
    value *v = scope_get(m, s, n->name);
    if (v && v->kind == V_HUGE)
        path_bound(m, "the number of items of a parameter");
    if (v && v->kind == V_MODULE && is_class_library(v->builtin.name)) {
        value *function = value_new(m, V_BUILTIN);
        function->builtin.name = v->builtin.name;
        return function;
    }
    if (v && v->kind == V_MODULE)
        path_unsupported(m, n->line, library_instead(v->builtin.name), "%s", v->builtin.name);
    return v;
}

static value *eval_attribute(machine *m, scope *s, const node *n)
{
    value *of = n->a->kind == N_NAME ? scope_get(m, s, n->a->name) : eval(m, s, n->a);
    if (of && of->kind == V_HUGE)
        path_bound(m, "the number of items of a parameter");
    return of ? get_attribute(m, of, n->name, n->line) : NULL;
}

value *eval(machine *m, scope *s, const node *n)
{
    step(m);
    switch (n->kind) {
    case N_CONSTANT:
        return value_constant(m, n->constant);
    case N_NAME:
        return eval_name(m, s, n);
    case N_BINOP: {
        value *l = eval(m, s, n->a), *r = l ? eval(m, s, n->b) : NULL;
        return r ? binary(m, n->op, l, r, n->line) : NULL;
    }
    case N_UNARYOP: {
        if (n->op == OP_NOT)
            return eval_truth(m, s, n);
        value *v = eval(m, s, n->a);
        return v ? unary(m, n->op, v, n->line) : NULL;
    }
    case N_BOOLOP:
        return eval_bool(m, s, n, false);
    case N_COMPARE: {
        value *left = eval(m, s, n->a);
        return left ? compare_from(m, s, n, 0, left) : NULL;
    }
    case N_IFEXP:
        return eval_conditional(m, s, n);
    case N_CALL:
        return eval_call(m, s, n);
    case N_ATTRIBUTE:
        return eval_attribute(m, s, n);
    case N_SUBSCRIPT:
        return eval_subscript(m, s, n);
    case N_LIST:
    case N_TUPLE:
    case N_SET:
        return eval_display(m, s, n);
    case N_DICT:
        return eval_dict(m, s, n);
    case N_LISTCOMP:
    case N_SETCOMP:
    case N_DICTCOMP:
    case N_GENERATOR:
        return eval_comprehension(m, s, n);
    case N_JOINED:
        return eval_joined(m, s, n);
    case N_LAMBDA:
        return make_function(m, s, n);
    case N_NAMED:
        return eval_named(m, s, n);
    default:
        path_unsupported(m, n->line, "write it with if, for, while, return and raise", "%s",
                         tree_construct(n));
    }
}
