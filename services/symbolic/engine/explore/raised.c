/* Names of exceptions, as a caller writes them in `raises:` or as the exception to find: see
 * explore.h. A replay tells the names of the classes of an exception, so names decide. */
#include <string.h>

#include "explore/explore.h"
#include "inputs/record.h"

static const char *last_part(const char *dotted)
{
    const char *dot = strrchr(dotted, '.');
    return dot ? dot + 1 : dotted;
}

/* `from json import JSONDecodeError as Bad`: the node of an import that binds a name. */
static bool is_import_of(const node *n, const void *name)
{
    for (size_t i = 0; n->kind == N_IMPORT_FROM && i < n->x.count; i++)
        if ((n->x.at[i]->other ? n->x.at[i]->other : n->x.at[i]->name) == name)
            return true;
    return false;
}

static const char *imported_name(const node *import, const char *name)
{
    for (size_t i = 0; i < import->x.count; i++)
        if (import->x.at[i]->other == name)
            return import->x.at[i]->name;
    return name;
}

static bool is_class_named(const node *n, const void *name)
{
    return n->kind == N_CLASS && n->name == name;
}

const char *exception_meant(tree *t, const char *words)
{
    const char *name = tree_name(t, last_part(words));
    for (int i = 0; i < 8 && !tree_first(t->module, is_class_named, name); i++) {
        const node *import = tree_first(t->module, is_import_of, name);
        const node *alias = import ? NULL : alias_named(t, name);
        const char *next = import ? imported_name(import, name)
                           : alias && (alias->kind == N_NAME || alias->kind == N_ATTRIBUTE)
                               ? alias->name
                               : name;
        if (next == name)
            break;
        name = next;
    }
    return name;
}

fault exception_fault(tree *t, const char *words, int line)
{
    if (scope_count(t->module->x, tree_name(t, last_part(words))) < 2)
        return (fault){ 0 };
    return (fault){
        "ValueError",
        arena_print(t->arena, "The code binds the exception '%.100s' more than once", words), line
    };
}

/* A node that imports a module with such an exception, or something of that module; or one about
 * which Python could not tell (`*undecided`). */
typedef struct sought {
    const char *name;
    bool *undecided;
} sought;

static bool has_exception(const char *module, const sought *what)
{
    int has = bridge_exception(module, what->name);
    *what->undecided |= has < 0;
    return has != 0;
}

static bool imports_exception(const node *n, const void *what)
{
    if (n->kind == N_IMPORT_FROM)
        return n->name && has_exception(n->name, what);
    for (size_t i = 0; n->kind == N_IMPORT && i < n->x.count; i++)
        if (has_exception(n->x.at[i]->name, what))
            return true;
    return false;
}

/* Outside of the classes of the code. */
static int is_known_exception(tree *t, const char *name)
{
    bool undecided = false;
    sought what = { name, &undecided };
    bool found = has_exception("builtins", &what) ||
                 tree_first(t->module, imports_exception, &what) != NULL;
    return undecided ? -1 : found;
}

/* A class of the code, at any depth: what it is derived from decides. */
static int is_derived(tree *t, const node *class, int depth)
{
    for (size_t i = 0; depth < 20 && i < class->x.count; i++) {
        const char *base = class->x.at[i]->name;
        if (!base)
            continue;
        base = exception_meant(t, base);
        const node *found = base == class->name ? NULL
                                                : tree_first(t->module, is_class_named, base);
        int is = found ? is_derived(t, found, depth + 1) : is_known_exception(t, base);
        if (is)
            return is;
    }
    return 0;
}

int exception_exists(tree *t, const char *name)
{
    const node *class = tree_first(t->module, is_class_named, name);
    return class ? is_derived(t, class, 0) : is_known_exception(t, name);
}

bool is_of_class_named(const value *raised, const char *name)
{
    const value *class = raised->object.class;
    for (size_t i = 0; i < class->class.mro.count; i++)
        if (strcmp(class->class.mro.at[i]->class.name, name) == 0)
            return true;
    return strcmp(class->class.name, name) == 0;
}
