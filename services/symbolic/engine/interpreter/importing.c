/* Imports: of modules that are modelled, and names that are only known by name. */
#include <stdio.h>
#include <string.h>

#include "interpreter/interpreter.h"

/* False: raised. An import that fails for a reason of the engine ends the path, as does one of a
 * module that is not installed here: it may be where the code will run. */
static bool can_import(machine *m, const char *module, const char *name, int line)
{
    int there = bridge_import(module, name);
    if (there < 0)
        bridge_give_up(m, line, "an import");
    if (there == 0)
        path_unsupported(m, line, "import what comes with Python",
                         "the module %s, which is not installed here", module);
    if (there == 1)
        throw(m, "ImportError", line);
    return there == 2;
}

outcome run_import(machine *m, scope *s, const node *n)
{
    for (size_t i = 0; i < n->x.count; i++) {
        const node *alias = n->x.at[i];
        const char *bound_to = alias->other ? alias->other : alias->name;
        value *module = value_new(m, V_MODULE);
        if (n->kind == N_IMPORT) {
            const char *dot = strchr(alias->name, '.');
            module->builtin.name = alias->name;
            if (!can_import(m, alias->name, NULL, n->line))
                return RAISED;
            if (dot && !alias->other) {
                char first[64];
                snprintf(first, sizeof first, "%.*s", (int)(dot - alias->name), alias->name);
                module->builtin.name = bound_to = tree_name(m->tree, first);
            }
            /* So that it is loaded together with the rest. */
            library_member(m, module->builtin.name, "");
            scope_set(m, s, bound_to, module);
            continue;
        }
        module->builtin.name = n->name ? n->name : "";
        value *v;
        if (!can_import(m, module->builtin.name, alias->name, n->line))
            return RAISED;
        if (strcmp(alias->name, "*") == 0)
            path_unsupported(m, n->line, "name what is imported", "import *");
        if (strcmp(module->builtin.name, "math") == 0) {
            v = get_attribute(m, module, alias->name, n->line);
        } else {
            v = library_member(m, module->builtin.name, alias->name);
        }
        if (!v && !m->raised) {
            /* Only its use is unsupported: annotations are not evaluated. */
            v = value_new(m, V_MODULE);
            v->builtin.name = arena_print(m->arena, "%s.%s", module->builtin.name, alias->name);
        }
        if (!v)
            return RAISED;
        scope_set(m, s, bound_to, v);
    }
    return DONE;
}
