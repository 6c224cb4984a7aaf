/*
 * Modules that are modelled in Python: see library/library.h. The code of a module is run by the
 * runner of the code.
 */
#include <string.h>

#include "library/library.h"
#include "machine/machine.h"

enum { MOST_MODULES = 16 };

/* Names that are supported, and their module ("": any). */
static const struct {
    const char *name, *module;
} intrinsics[] = { { "refuse", "" },
                   { "kind", "" },
                   { "as_index", "" },
                   { "settle", "" },
                   { "need_callable", "" },
                   { "dict_update", "collections" },
                   { "set_factory", "collections" },
                   { "factory_words", "collections" },
                   { "set_maxlen", "collections" },
                   { "lru_cache", "functools" },
                   { "cache", "functools" },
                   { "date", "datetime" },
                   { "timedelta", "datetime" },
                   { "ordinal", "datetime" },
                   { "from_ordinal", "datetime" },
                   { "total", "datetime" },
                   { "digit", "datetime" },
                   { "regex", "re" },
                   { "regex_check", "re" },
                   { "regex_call", "re" },
                   { "regex_all", "re" },
                   { "regex_template", "re" } };

/* The tree of a module, which is kept for the life of the process; NULL: it has no model. */
static tree *parsed(const char *module)
{
    static struct {
        arena arena;
        tree tree;
    } all[MOST_MODULES];
    for (size_t i = 0; library_sources[i].module && i < MOST_MODULES; i++) {
        if (strcmp(library_sources[i].module, module) != 0)
            continue;
        tree *t = &all[i].tree;
        fault wrong;
        if (t->module)
            return t;
        *t = (tree){ .arena = &all[i].arena, .without_places = true };
        if (tree_parse(t, library_sources[i].text, strlen(library_sources[i].text), &wrong))
            return t;
        t->module = NULL;
    }
    return NULL;
}

static scope *loaded(machine *m, const char *module)
{
    for (size_t i = 0; i < m->library_count; i++)
        if (strcmp(m->libraries[i].module, module) == 0)
            return m->libraries[i].members;
    tree *t = parsed(module);
    if (!t || m->library_count == sizeof m->libraries / sizeof *m->libraries)
        return NULL;
    scope *members = scope_new(m, NULL, NULL);
    for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++) {
        bool own = strcmp(intrinsics[i].module, module) == 0;
        if (!own && intrinsics[i].module[0])
            continue;
        value *v = value_new(m, V_BUILTIN);
        const char *from = own && strcmp(module, "datetime") == 0 ? module : "library";
        v->builtin.name = arena_print(m->arena, "%s.%s", from, intrinsics[i].name);
        scope_set(m, members, tree_name(t, intrinsics[i].name), v);
    }
    if (m->code->run(m, members, t->module->x) != DONE)
        path_unsupported(m, 0, NULL, "the module %s, whose model does not load", module);
    m->libraries[m->library_count].module = arena_copy(m->arena, module, strlen(module));
    m->libraries[m->library_count++].members = members;
    return members;
}

const char *library_instead(const char *what)
{
    bool exact = strncmp(what, "decimal", 7) == 0 || strncmp(what, "fractions", 9) == 0;
    return exact ? "use ints, such as cents" : "write it out in plain Python";
}

bool library_has(const char *module)
{
    for (size_t i = 0; library_sources[i].module; i++)
        if (strcmp(library_sources[i].module, module) == 0)
            return true;
    return false;
}

value *library_member(machine *m, const char *module, const char *name)
{
    scope *members = library_has(module) ? loaded(m, module) : NULL;
    if (library_has(module) && !members)
        path_unsupported(m, 0, NULL, "the module %s, whose model was not read", module);
    for (size_t i = 0; members && i < members->count; i++)
        if (strcmp(members->names[i], name) == 0)
            return members->values[i];
    return NULL;
}
