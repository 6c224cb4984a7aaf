/* The validator: see validate.h. */
#include <string.h>

#include "tree/shadow.h"
#include "tree/validate.h"

static bool listed(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

typedef struct check {
    tree *t;
    fault *wrong;
    /* Names that imports bind to modules; the names of these modules. */
    const char *modules[64], *real[64];
    size_t module_count;
    bool in_class;       /* a name that is bound here becomes an attribute */
    const block *inside; /* the functions and classes around the node */
    size_t statement;    /* the index of the current statement of the module */
    bool abc_imported;   /* see is_unbound_abc() */
} check;

static bool refuse_node(check *c, int line, const char *words, const char *name)
{
    *c->wrong = (fault){ "ValidationError", arena_print(c->t->arena, "%s: %s", words, name), line };
    return false;
}

static bool is_dunder(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strncmp(name, "__", 2) == 0 && strcmp(name + length - 2, "__") == 0;
}

/* The module that a name is bound to; NULL: none. */
static const char *module_of(const check *c, const char *name)
{
    for (size_t i = 0; i < c->module_count; i++)
        if (c->modules[i] == name)
            return c->real[i];
    return NULL;
}

/* -- names ------------------------------------------------------------------------------------- */

static bool check_attribute(check *c, const char *name, int line)
{
    if (listed(validate_blocked_attributes, name))
        return refuse_node(c, line, "Blocked attribute", name);
    /* An AttributeError has the module that lacks a name as its `obj`. */
    if (c->module_count && strcmp(name, "obj") == 0)
        return refuse_node(c, line, "Blocked attribute", name);
    if (listed(validate_blocked_indirect, name) ||
        (is_dunder(name) && !listed(validate_allowed_dunders, name)))
        return refuse_node(c, line, "Blocked attribute", name);
    return true;
}

/* An attribute that is accessed by its name as text. */
static bool check_named(check *c, const char *name, int line)
{
    if (strcmp(name, "format") == 0)
        return refuse_node(c, line, "Blocked attribute", name);
    return check_attribute(c, name, line);
}

/* A name that is bound: a name that hides a builtin is harmless. */
static bool check_bound(check *c, const char *name, int line)
{
    if (strcmp(name, "__builtins__") == 0 ||
        (is_dunder(name) && !listed(validate_allowed_dunders, name)))
        return refuse_node(c, line, "Blocked name", name);
    if (listed(validate_blocked_indirect, name))
        return refuse_node(c, line, "Blocked name", name);
    return true;
}

/* A name that is read. `called`: it is the function of a call. */
static bool check_name(check *c, const char *name, bool called, int line)
{
    if (listed(validate_blocked_builtins, name) &&
        !(c->t->module && is_shadowed(c->t->module, c->inside, c->statement, name)))
        return refuse_node(c, line, called ? "Blocked function call" : "Blocked builtin", name);
    return check_bound(c, name, line);
}

/* A name from a module: it must not be another module, nor private. */
static bool check_member(check *c, const char *module, const char *name, int line)
{
    bool inner = listed(validate_allowed_modules, name) && strcmp(module, name) != 0 &&
                 !(strcmp(module, "collections") == 0 && strcmp(name, "abc") == 0);
    if (inner)
        return refuse_node(c, line, "Blocked attribute", name);
    if (listed(validate_blocked_modules, name))
        return refuse_node(c, line, "Blocked module", name);
    if (name[0] == '_' || listed(validate_blocked_members, name))
        return refuse_node(c, line, "Blocked attribute", name);
    if (strcmp(module, "collections") == 0 && strcmp(name, "namedtuple") == 0)
        return true; /* its calls are looked at: see is_plain_record() */
    return check_attribute(c, name, line);
}

static bool check_module(check *c, const char *dotted, int line)
{
    char first[64];
    size_t length = strcspn(dotted, ".");
    if (length >= sizeof first)
        return refuse_node(c, line, "Module not allowed", dotted);
    memcpy(first, dotted, length);
    first[length] = '\0';
    if (listed(validate_blocked_modules, first))
        return refuse_node(c, line, "Blocked module", first);
    if (strcmp(first, "__future__") == 0 && !dotted[length])
        return true;
    if (!listed(validate_allowed_modules, first))
        return refuse_node(c, line, "Module not allowed", first);
    if (dotted[length] && strcmp(dotted, "collections.abc") != 0)
        return refuse_node(c, line, "Module not allowed", dotted);
    return true;
}

/* Does the import bind collections.abc as an attribute of collections? */
static bool imports_abc(const node *n)
{
    bool from = n->kind == N_IMPORT_FROM;
    if (from && n->name && strcmp(n->name, "collections.abc") == 0)
        return true;
    if (from && (!n->name || strcmp(n->name, "collections") != 0))
        return false;
    for (size_t i = 0; i < n->x.count; i++)
        if (strcmp(n->x.at[i]->name, from ? "abc" : "collections.abc") == 0)
            return true;
    return false;
}

static bool check_import(check *c, const node *n, const node *parent)
{
    if (c->in_class)
        return refuse_node(c, n->line, "Blocked import", "in a class");
    if (n->kind == N_IMPORT_FROM) {
        if (n->number > 0 || !n->name)
            return refuse_node(c, n->line, "Module not allowed", "a relative import");
        if (!check_module(c, n->name, n->line))
            return false;
    }
    for (size_t i = 0; i < n->x.count; i++) {
        const node *alias = n->x.at[i];
        if (n->kind == N_IMPORT) {
            if (!check_module(c, alias->name, n->line))
                return false;
        } else if (strcmp(alias->name, "*") == 0) {
            return refuse_node(c, n->line, "Blocked import", "*");
        } else if (!check_member(c, n->name, alias->name, n->line)) {
            return false;
        }
        if (alias->other && strcmp(alias->name, "namedtuple") == 0)
            return refuse_node(c, n->line, "Blocked name", alias->name);
        if (alias->other && !check_bound(c, alias->other, n->line))
            return false;
    }
    /* An import inside of another statement may not run. */
    bool runs = parent && (parent->kind == N_MODULE || parent->kind == N_FUNCTION);
    c->abc_imported = c->abc_imported || (runs && imports_abc(n));
    return true;
}

/* -- text that could become a name ------------------------------------------------------------- */

static bool has_word(const constant *k, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= k->count; i++) {
        size_t same = 0;
        while (same < length && k->chars[i + same] == (unsigned char)word[same])
            same++;
        if (same == length)
            return true;
    }
    return false;
}

static bool check_text(check *c, const node *n)
{
    for (const char *const *word = validate_blocked_attributes; *word; word++)
        if (has_word(n->constant, *word))
            return refuse_node(c, n->line, "Blocked attribute", *word);
    if (has_word(n->constant, "__import__"))
        return refuse_node(c, n->line, "Blocked builtin", "__import__");
    return true;
}

static bool is_word_character(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A format string can access attributes: `{0.name}`. */
static bool check_fields(check *c, const node *n)
{
    const constant *k = n->constant;
    for (size_t i = 0; i < k->count; i++) {
        if (k->chars[i] != '.')
            continue;
        size_t length = 0;
        while (i + 1 + length < k->count && is_word_character(k->chars[i + 1 + length]))
            length++;
        char *name = arena_take(c->t->arena, length + 1);
        for (size_t at = 0; at < length; at++)
            name[at] = (char)k->chars[i + 1 + at];
        if (!check_attribute(c, name, n->line))
            return false;
    }
    return true;
}

/* An annotation that is a string is code for functions that evaluate annotations. */
static bool walk(check *c, const node *n, const node *parent);

static bool check_annotation(check *c, const node *n, int depth)
{
    if (!n || n->kind != N_CONSTANT || n->constant->kind != C_STR)
        return true;
    char *spelled = arena_take(c->t->arena, n->constant->count + 1);
    for (size_t i = 0; i < n->constant->count; i++) {
        if (n->constant->chars[i] > 126)
            return refuse_node(c, n->line, "Blocked annotation", "a string that is no type");
        spelled[i] = (char)n->constant->chars[i];
    }
    const node *inside = tree_expression(c->t, spelled);
    if (!inside || depth > 2)
        return refuse_node(c, n->line, "Blocked annotation", spelled);
    if (inside->kind == N_CALL)
        return refuse_node(c, n->line, "Blocked annotation", spelled);
    return walk(c, inside, NULL) && check_annotation(c, inside, depth + 1);
}

static bool is_text(const node *n)
{
    return n->kind == N_CONSTANT && n->constant->kind == C_STR;
}

/* namedtuple() makes code of its field names: they must be literals. */
static bool is_plain_record(const node *call)
{
    if (!call || call->kind != N_CALL || call->x.count != 2 || !is_text(call->x.at[0]))
        return false;
    for (size_t i = 0; i < call->y.count; i++)
        if (!call->y.at[i]->name || strcmp(call->y.at[i]->name, "defaults") != 0)
            return false;
    const node *names = call->x.at[1];
    bool list = names->kind == N_LIST || names->kind == N_TUPLE;
    for (size_t i = 0; list && i < names->x.count; i++)
        if (!is_text(names->x.at[i]))
            return false;
    return list || is_text(names);
}

/* The one decorator of a function: `@classmethod`. */
static bool is_only_decorator(const node *n, const node *function)
{
    return function && function->kind == N_FUNCTION && function->y.count == 1 &&
           function->y.at[0] == n;
}

/* Functions that take a name as text. */
static bool check_call(check *c, const node *n)
{
    const node *f = n->a;
    if (f->kind == N_NAME && (strcmp(f->name, "getattr") == 0 || strcmp(f->name, "hasattr") == 0)) {
        if (n->x.count < 2 || n->x.at[0]->kind == N_STARRED || !is_text(n->x.at[1]))
            return refuse_node(c, n->line, "Blocked function call", f->name);
        const constant *k = n->x.at[1]->constant;
        char name[128] = "";
        if (k->count >= sizeof name)
            return refuse_node(c, n->line, "Blocked function call", f->name);
        for (size_t i = 0; i < k->count; i++)
            name[i] = k->chars[i] < 127 ? (char)k->chars[i] : '?';
        return check_named(c, name, n->line);
    }
    if (f->kind == N_NAME && strcmp(f->name, "type") == 0 &&
        (n->x.count != 1 || n->y.count || n->x.at[0]->kind == N_STARRED))
        return refuse_node(c, n->line, "Blocked function call", "type with three arguments");
    return true;
}

/* -- the walk ---------------------------------------------------------------------------------- */

static bool walk_all(check *c, nodes list, const node *parent)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i] && !walk(c, list.at[i], parent))
            return false;
    return true;
}

/* collections.abc: the only module that may be used as an attribute. */
static bool is_abc(const check *c, const node *n)
{
    const char *module = n->a->kind == N_NAME ? module_of(c, n->a->name) : NULL;
    return module && strcmp(module, "collections") == 0 && strcmp(n->name, "abc") == 0;
}

/* collections.abc is an attribute of collections once any module of the process has imported it:
 * that depends on the version of Python, its site packages and on what this process has loaded.
 * Code that did not import it before would be told what holds here, and not in a fresh interpreter.
 */
static bool is_unbound_abc(const check *c, const node *n)
{
    return is_abc(c, n) && !c->abc_imported;
}

static bool is_called(const node *n, const node *parent)
{
    return parent && parent->kind == N_CALL && parent->a == n;
}

static bool check_name_node(check *c, const node *n, const node *parent)
{
    bool called = is_called(n, parent);
    if (strcmp(n->name, "classmethod") == 0 && is_only_decorator(n, parent))
        return true;
    if (strcmp(n->name, "namedtuple") == 0 && called && is_plain_record(parent))
        return true;
    if ((strcmp(n->name, "getattr") == 0 || strcmp(n->name, "hasattr") == 0) && !called)
        return refuse_node(c, n->line, "Blocked builtin", n->name);
    if (module_of(c, n->name) && !(parent && parent->kind == N_ATTRIBUTE))
        return refuse_node(c, n->line, "A module can be used as module.name only", n->name);
    return check_name(c, n->name, called, n->line);
}

static bool check_attribute_node(check *c, const node *n, const node *parent)
{
    if (strcmp(n->name, "format") == 0 && !is_text(n->a))
        return refuse_node(c, n->line, "Blocked attribute", "format of a text that is no literal");
    if (strcmp(n->name, "format") == 0 && !check_fields(c, n->a))
        return false;
    if (is_abc(c, n) && !(parent && parent->kind == N_ATTRIBUTE))
        return refuse_node(c, n->line, "A module can be used as module.name only", n->name);
    if (is_unbound_abc(c, n))
        return refuse_node(c, n->line,
                           "Used before it is imported; write `import collections.abc` above",
                           "collections.abc");
    for (const node *root = n->a; root; root = root->kind == N_ATTRIBUTE ? root->a : NULL)
        if (root->kind == N_NAME && module_of(c, root->name) &&
            !check_member(c, module_of(c, root->name), n->name, n->line))
            return false;
    if (strcmp(n->name, "namedtuple") == 0 && is_called(n, parent) && is_plain_record(parent))
        return true;
    return check_attribute(c, n->name, n->line);
}

static bool check_node(check *c, const node *n, const node *parent)
{
    switch (n->kind) {
    case N_NAME:
        return check_name_node(c, n, parent);
    case N_ATTRIBUTE:
        return check_attribute_node(c, n, parent);
    case N_CALL:
        return check_call(c, n);
    case N_CONSTANT:
        return !is_text(n) || check_text(c, n);
    case N_IMPORT:
    case N_IMPORT_FROM:
        return check_import(c, n, parent);
    case N_FUNCTION:
    case N_CLASS:
        return check_bound(c, n->name, n->line) &&
               (n->kind != N_FUNCTION || check_annotation(c, n->b, 0));
    case N_ARG:
        return check_bound(c, n->name, n->line) && check_annotation(c, n->a, 0);
    case N_ANNASSIGN:
        return check_annotation(c, n->b, 0);
    case N_KEYWORD:
    case N_HANDLER:
    case N_MATCH_AS:
    case N_MATCH_STAR:
    case N_MATCH_MAPPING:
        return !n->name || check_bound(c, n->name, n->line);
    case N_IDENTIFIER: {
        int line = parent ? parent->line : 0; /* it has none itself */
        bool bound = parent && (parent->kind == N_GLOBAL || parent->kind == N_NONLOCAL);
        if (!n->name)
            return true;
        return bound ? check_name(c, n->name, false, line)
                     : check_bound(c, n->name, line) && check_named(c, n->name, line);
    }
    default:
        return true;
    }
}

/* The targets of an assignment: names, and other expressions on the left. */
static bool walk_target(check *c, const node *n, const node *parent)
{
    if (n->kind == N_TUPLE || n->kind == N_LIST) {
        for (size_t i = 0; i < n->x.count; i++)
            if (!walk_target(c, n->x.at[i], n))
                return false;
        return true;
    }
    if (n->kind == N_STARRED)
        return walk_target(c, n->a, n);
    if (n->kind != N_NAME || !listed(validate_blocked_builtins, n->name))
        return walk(c, n, parent);
    return check_bound(c, n->name, n->line);
}

static bool walk_targets(check *c, nodes list, const node *parent)
{
    for (size_t i = 0; i < list.count; i++)
        if (!walk_target(c, list.at[i], parent))
            return false;
    return true;
}

static bool walk_some(check *c, const node *n, const node *parent)
{
    return !n || walk(c, n, parent);
}

/* The parts that run inside of a block; others, such as defaults, run around it. */
static bool walk_inside(check *c, const node *n, const node *one, const node *other, nodes list)
{
    block here = { .n = n, .up = c->inside };
    c->inside = &here;
    bool good = walk_some(c, one, n) && walk_some(c, other, n) && walk_all(c, list, n);
    c->inside = here.up;
    return good;
}

static bool walk_comprehension(check *c, const node *n)
{
    const node *first = n->x.at[0];
    block here = { .n = n, .up = c->inside };
    if (!walk_some(c, first->b, first)) /* it is the one part that is run around it */
        return false;
    c->inside = &here;
    bool good = walk_some(c, n->a, n) && walk_some(c, n->b, n);
    for (size_t i = 0; good && i < n->x.count; i++) {
        const node *each = n->x.at[i];
        good = walk_target(c, each->a, each) && (i == 0 || walk_some(c, each->b, each)) &&
               walk_all(c, each->x, each);
    }
    c->inside = here.up;
    return good;
}

static bool walk_parts(check *c, const node *n)
{
    static const nodes none = { 0 };
    switch (n->kind) {
    case N_FUNCTION:
        return walk_some(c, n->a, n) && walk_some(c, n->b, n) && walk_all(c, n->y, n) &&
               walk_all(c, n->z, n) && walk_inside(c, n, NULL, NULL, n->x);
    case N_LAMBDA:
        return walk_some(c, n->a, n) && walk_inside(c, n, n->b, NULL, none);
    case N_CLASS:
        return walk_all(c, n->x, n) && walk_all(c, n->y, n) && walk_all(c, n->w, n) &&
               walk_all(c, n->v, n) && walk_inside(c, n, NULL, NULL, n->z);
    case N_LISTCOMP:
    case N_SETCOMP:
    case N_DICTCOMP:
    case N_GENERATOR:
        return walk_comprehension(c, n);
    case N_ASSIGN:
        return walk_targets(c, n->x, n) && walk_some(c, n->a, n);
    case N_ANNASSIGN:
    case N_NAMED:
    case N_FOR:
        return walk_target(c, n->a, n) && walk_some(c, n->b, n) && walk_some(c, n->c, n) &&
               walk_all(c, n->x, n) && walk_all(c, n->y, n);
    case N_MODULE:
        for (size_t i = 0; i < n->x.count; i++) {
            c->statement = i;
            if (!walk(c, n->x.at[i], n))
                return false;
        }
        return true;
    default:
        return walk_some(c, n->a, n) && walk_some(c, n->b, n) && walk_some(c, n->c, n) &&
               walk_all(c, n->x, n) && walk_all(c, n->y, n) && walk_all(c, n->z, n) &&
               walk_all(c, n->w, n) && walk_all(c, n->v, n);
    }
}

static bool walk(check *c, const node *n, const node *parent)
{
    bool outer = c->in_class, imported = c->abc_imported;
    c->in_class = n->kind == N_CLASS || (outer && n->kind != N_FUNCTION);
    bool good = check_node(c, n, parent) && walk_parts(c, n);
    c->in_class = outer;
    if (n->kind == N_FUNCTION)
        c->abc_imported = imported;
    return good;
}

/* Find the names that are modules, at any place of an import. */
static void find_modules(check *c, const node *n);

static void find_all(check *c, nodes list)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i])
            find_modules(c, list.at[i]);
}

static void find_modules(check *c, const node *n)
{
    size_t most = sizeof c->modules / sizeof *c->modules;
    for (size_t i = 0; n->kind == N_IMPORT && i < n->x.count && c->module_count < most; i++) {
        const node *alias = n->x.at[i];
        char first[64] = "";
        size_t length = strcspn(alias->name, ".");
        memcpy(first, alias->name, length < sizeof first ? length : sizeof first - 1);
        c->real[c->module_count] = tree_name(c->t, first);
        c->modules[c->module_count++] = alias->other ? alias->other : tree_name(c->t, first);
    }
    for (size_t i = 0;
         n->kind == N_IMPORT_FROM && n->name && i < n->x.count && c->module_count < most;
         i++) /* `from collections import abc` */
        if (strcmp(n->name, "collections") == 0 && strcmp(n->x.at[i]->name, "abc") == 0) {
            c->real[c->module_count] = "collections.abc";
            c->modules[c->module_count++] = n->x.at[i]->other ? n->x.at[i]->other
                                                              : n->x.at[i]->name;
        }
    if (n->a)
        find_modules(c, n->a);
    if (n->b)
        find_modules(c, n->b);
    if (n->c)
        find_modules(c, n->c);
    find_all(c, n->x);
    find_all(c, n->y);
    find_all(c, n->z);
    find_all(c, n->w);
    find_all(c, n->v);
}

bool validate(tree *t, const node *n, const node *contract_of, fault *wrong)
{
    block sees = { .n = contract_of, .parameters_only = true };
    check c = { .t = t,
                .wrong = wrong,
                .inside = contract_of ? &sees : NULL,
                .statement = contract_of ? t->module->x.count : 0 };
    if (t->module)
        find_modules(&c, t->module);
    for (size_t i = 0; contract_of && i < t->module->x.count; i++) { /* they have run before it */
        const node *each = t->module->x.at[i];
        bool import = each->kind == N_IMPORT || each->kind == N_IMPORT_FROM;
        c.abc_imported = c.abc_imported || (import && imports_abc(each));
    }
    if (c.module_count == sizeof c.modules / sizeof *c.modules)
        return refuse_node(&c, 0, "Too many imports", "at most 63 modules are allowed");
    return walk(&c, n, NULL);
}
