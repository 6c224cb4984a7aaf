/* The `with` statement: managers of classes that the code or the library defines. */
#include "interpreter/interpreter.h"

/* The result of sys.exc_info() for an exception. A traceback can only be passed on: any other use
 * is not supported. */
static values error_of(machine *m, value *raised)
{
    values given = { 0 };
    value *trace = value_new(m, V_MODULE);
    trace->builtin.name = "a traceback";
    values_add(m, &given, raised ? raised->object.class : value_none(m));
    values_add(m, &given, raised ? raised : value_none(m));
    values_add(m, &given, raised ? trace : value_none(m));
    return given;
}

/* An exception ended the body: does the manager suppress it? */
static outcome leave_raised(machine *m, value *manager, value *leave, int line)
{
    value *raised = m->raised, *outer = m->handling;
    m->raised = NULL;
    m->handling = raised;
    value *result = call_method_with(m, manager, leave, error_of(m, raised), line);
    int suppressed = result ? decide_truth(m, result, false) : -1;
    m->handling = outer;
    if (suppressed == 0)
        m->raised = raised;
    return suppressed == 1 ? DONE : RAISED;
}

static outcome run_from(machine *m, scope *s, const node *n, size_t at)
{
    if (at == n->y.count)
        return run(m, s, n->x);
    const node *item = n->y.at[at];
    value *manager = eval(m, s, item->a);
    if (!manager)
        return RAISED;
    if (manager->kind != V_OBJECT && manager->kind != V_NONE && !value_is_scalar(manager) &&
        manager->kind != V_LIST && manager->kind != V_TUPLE && manager->kind != V_DICT)
        path_unsupported(m, n->line, "use a class with __enter__ and __exit__",
                         "a with statement over a %s", value_type(manager));
    value *enter = special_of(manager, "__enter__"), *leave = special_of(manager, "__exit__");
    if (!enter || !leave) {
        throw(m, "TypeError", n->line);
        return RAISED;
    }
    value *entered = call_special(m, manager, enter, NULL, n->line);
    if (!entered)
        return RAISED;
    /* The assignment belongs to the body: its exceptions are passed to __exit__. */
    outcome end = item->b && !assign(m, s, item->b, entered) ? RAISED : run_from(m, s, n, at + 1);
    if (n->line)
        m->line = n->line;
    if (end == RAISED)
        return leave_raised(m, manager, leave, n->line);
    value *returned = m->returned;
    if (!call_method_with(m, manager, leave, error_of(m, NULL), n->line))
        return RAISED;
    m->returned = returned;
    return end;
}

outcome run_with(machine *m, scope *s, const node *n)
{
    return run_from(m, s, n, 0);
}
