/* Converts Python's syntax tree to the nodes of tree.h. Only this file and bridge.c use Python. */
#include "base/python.h"

#include <stdio.h>
#include <string.h>

#include "mishap/text.h"
#include "observed.h"
#include "tree/tree.h"

/* -- names ------------------------------------------------------------------------------------- */

enum { NAME_BUCKETS = 256 };

struct names {
    struct spelled {
        struct spelled *next;
        char name[];
    } * buckets[NAME_BUCKETS];
};

const char *tree_name(tree *t, const char *name)
{
    if (!t->names)
        t->names = arena_take(t->arena, sizeof *t->names);
    uint64_t hash = mishap_text_hash(mishap_text_of(name));
    struct spelled **bucket = &t->names->buckets[hash % NAME_BUCKETS];
    for (struct spelled *s = *bucket; s; s = s->next)
        if (strcmp(s->name, name) == 0)
            return s->name;
    size_t length = strlen(name);
    struct spelled *fresh = arena_take(t->arena, sizeof *fresh + length + 1);
    memcpy(fresh->name, name, length);
    fresh->next = *bucket;
    *bucket = fresh;
    return fresh->name;
}

/* -- tables ------------------------------------------------------------------------------------ */

static const struct {
    const char *class, *fields;
} kinds[] = {
#define X(kind, class, fields) { class, fields },
    TREE_NODES(X)
#undef X
};

static const struct {
    const char *class, *sign;
} operators[] = { { "", "" },
#define X(op, class, sign) { class, sign },
                  TREE_OPERATORS(X)
#undef X
};

const char *tree_sign(operator_kind op)
{
    return operators[op].sign;
}

static operator_kind operator_of(const char *class)
{
    for (size_t i = 1; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i].class, class) == 0)
            return (operator_kind)i;
    return OP_NONE;
}

static node_kind kind_of(const char *class)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].class[0] && strcmp(kinds[i].class, class) == 0)
            return (node_kind)i;
    return N_OTHER;
}

/* -- conversion -------------------------------------------------------------------------------- */

typedef struct conversion {
    tree *t;
    int depth;
    bool too_deep, failed;
    int deep_line;
} conversion;

static const node *convert(conversion *c, PyObject *object);

static const char *class_name(PyObject *object)
{
    const char *name = Py_TYPE(object)->tp_name;
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Python raised an exception. Nodes of older versions do not have each field; anything else, such
 * as a lack of memory, would leave out a part of the code. */
static void settle_failure(conversion *c)
{
    c->failed |= PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_AttributeError);
    PyErr_Clear();
}

static PyObject *field_of(conversion *c, PyObject *object, const char *field)
{
    PyObject *value = PyObject_GetAttrString(object, field);
    settle_failure(c);
    return value;
}

static int whole(conversion *c, PyObject *object, const char *field)
{
    PyObject *value = field_of(c, object, field);
    int number = value && PyLong_Check(value) ? (int)PyLong_AsLong(value) : 0;
    settle_failure(c);
    Py_XDECREF(value);
    return number;
}

static const char *name_of(conversion *c, PyObject *value)
{
    const char *utf8 = value && PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;
    settle_failure(c);
    return utf8 ? tree_name(c->t, utf8) : NULL;
}

static const constant *constant_of(conversion *c, PyObject *value)
{
    constant *k = arena_take(c->t->arena, sizeof *k);
    int overflow = 0;
    if (value == Py_None) {
        k->kind = C_NONE;
    } else if (PyBool_Check(value)) {
        k->kind = C_BOOL;
        k->truth = value == Py_True;
    } else if (PyLong_Check(value)) {
        k->kind = C_INT;
        k->number = PyLong_AsLongLongAndOverflow(value, &overflow);
        k->small = overflow == 0;
        if (overflow) {
            /* In base 16, since Python refuses to print more than 4,300 decimal digits. */
            PyObject *digits = PyNumber_ToBase(value, 16);
            const char *utf8 = digits ? PyUnicode_AsUTF8(digits) : NULL;
            k->text = utf8 ? arena_copy(c->t->arena, utf8, strlen(utf8)) : "0x0";
            Py_XDECREF(digits);
        }
    } else if (PyFloat_Check(value)) {
        k->kind = C_FLOAT;
        k->real = PyFloat_AS_DOUBLE(value);
    } else if (PyUnicode_Check(value)) {
        k->kind = C_STR;
        k->count = (size_t)PyUnicode_GET_LENGTH(value);
        uint32_t *chars = arena_take(c->t->arena, (k->count + 1) * sizeof *chars);
        for (size_t i = 0; i < k->count; i++)
            chars[i] = PyUnicode_READ_CHAR(value, (Py_ssize_t)i);
        k->chars = chars;
    } else if (PyBytes_Check(value)) {
        k->kind = C_BYTES;
        k->count = (size_t)PyBytes_GET_SIZE(value);
        uint32_t *chars = arena_take(c->t->arena, (k->count + 1) * sizeof *chars);
        for (size_t i = 0; i < k->count; i++)
            chars[i] = (unsigned char)PyBytes_AS_STRING(value)[i];
        k->chars = chars;
    } else if (value == Py_Ellipsis) {
        k->kind = C_ELLIPSIS;
    } else {
        k->kind = C_OTHER;
        k->text = tree_name(c->t, class_name(value));
    }
    settle_failure(c);
    return k;
}

static node *make(conversion *c, node_kind kind)
{
    node *n = arena_take(c->t->arena, sizeof *n);
    n->kind = kind;
    n->id = c->t->count++;
    return n;
}

static bool is_ast(conversion *c, PyObject *value)
{
    PyObject *fields = value ? field_of(c, value, "_fields") : NULL;
    Py_XDECREF(fields);
    return fields != NULL;
}

/* One item of a list: a node, an operator, a name, or NULL for None. */
static const node *item_of(conversion *c, PyObject *value)
{
    if (value == Py_None)
        return NULL;
    if (PyUnicode_Check(value)) {
        node *n = make(c, N_IDENTIFIER);
        n->name = name_of(c, value);
        return n;
    }
    operator_kind op = operator_of(class_name(value));
    if (op) {
        node *n = make(c, N_OPERATOR);
        n->op = op;
        return n;
    }
    return convert(c, value);
}

static nodes list_of(conversion *c, PyObject *value)
{
    nodes list = { 0 };
    if (!value || !PyList_Check(value))
        return list;
    list.count = (size_t)PyList_GET_SIZE(value);
    list.at = arena_take(c->t->arena, (list.count + 1) * sizeof *list.at);
    for (size_t i = 0; i < list.count; i++)
        list.at[i] = item_of(c, PyList_GET_ITEM(value, (Py_ssize_t)i));
    return list;
}

static void fill(conversion *c, node *n, char slot, PyObject *value)
{
    const node *child = NULL;
    if (slot >= 'a' && slot <= 'c')
        child = value && value != Py_None ? convert(c, value) : NULL;
    switch (slot) {
    case 'a':
        n->a = child;
        break;
    case 'b':
        n->b = child;
        break;
    case 'c':
        n->c = child;
        break;
    case 'x':
        n->x = list_of(c, value);
        break;
    case 'y':
        n->y = list_of(c, value);
        break;
    case 'z':
        n->z = list_of(c, value);
        break;
    case 'w':
        n->w = list_of(c, value);
        break;
    case 'v':
        n->v = list_of(c, value);
        break;
    case 'n':
        n->name = name_of(c, value);
        break;
    case 'm':
        n->other = name_of(c, value);
        break;
    case 'o':
        n->op = value ? operator_of(class_name(value)) : OP_NONE;
        break;
    case 'i':
        n->number = value && PyLong_Check(value) ? (int)PyLong_AsLong(value) : 0;
        break;
    default:
        n->constant = value ? constant_of(c, value) : NULL;
        break;
    }
}

/* A construct that the interpreter does not support. The validator still checks everything in
 * it. */
static void fill_other(conversion *c, node *n, PyObject *object)
{
    PyObject *fields = field_of(c, object, "_fields");
    Py_ssize_t count = fields && PyTuple_Check(fields) ? PyTuple_GET_SIZE(fields) : 0;
    size_t room = 0, used = 0;
    const node **all = NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = PyObject_GetAttr(object, PyTuple_GET_ITEM(fields, i));
        settle_failure(c);
        nodes inside = { 0 };
        const node *one = NULL;
        if (value && PyList_Check(value)) {
            inside = list_of(c, value);
        } else if (is_ast(c, value) || (value && PyUnicode_Check(value))) {
            one = item_of(c, value);
            inside = (nodes){ &one, 1 };
        }
        if (used + inside.count > room) {
            room = 2 * room + inside.count;
            const node **more = arena_take(c->t->arena, room * sizeof *more);
            if (used)
                memcpy(more, all, used * sizeof *more);
            all = more;
        }
        if (inside.count)
            memcpy(all + used, inside.at, inside.count * sizeof *all);
        used += inside.count;
        Py_XDECREF(value);
    }
    Py_XDECREF(fields);
    n->name = tree_name(c->t, class_name(object));
    n->x = (nodes){ all, used };
}

static const node *convert(conversion *c, PyObject *object)
{
    node *n = make(c, kind_of(class_name(object)));
    if (!c->t->without_places) {
        n->line = whole(c, object, "lineno");
        n->column = whole(c, object, "col_offset");
        n->end_line = whole(c, object, "end_lineno");
        n->end_column = whole(c, object, "end_col_offset");
    }
    if (++c->depth > TREE_MOST_DEPTH) {
        if (!c->too_deep)
            c->deep_line = n->line;
        c->too_deep = true;
        c->depth--;
        return n;
    }
    if (n->kind == N_OTHER)
        fill_other(c, n, object);
    for (const char *at = kinds[n->kind].fields; *at && !c->too_deep;) {
        size_t length = strcspn(at, ":");
        char field[32];
        memcpy(field, at, length);
        field[length] = '\0';
        PyObject *value = field_of(c, object, field);
        fill(c, n, at[length + 1], value);
        Py_XDECREF(value);
        at += length + 2;
        at += *at == ' ';
    }
    c->depth--;
    return n;
}

/* -- parsing ----------------------------------------------------------------------------------- */

void tree_open(unsigned long seed)
{
    if (Py_IsInitialized())
        return;
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    config.write_bytecode = 0;
    config.install_signal_handlers = 0;
    config.use_hash_seed = 1; /* the order of sets is the same each time */
    config.hash_seed = seed;
    PyStatus status = PyConfig_SetString(&config, &config.program_name, L"/usr/bin/python3");
    if (!PyStatus_Exception(status) && !observed_offer())
        status = PyStatus_NoMemory();
    if (!PyStatus_Exception(status)) /* warnings of the compiler would go to standard error */
        status = PyWideStringList_Append(&config.warnoptions, L"ignore");
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
}

const char *tree_python_version(void)
{
    static char version[32];
    snprintf(version, sizeof version, "%lu.%lu.%lu", Py_Version >> 24, Py_Version >> 16 & 255,
             Py_Version >> 8 & 255);
    return version;
}

/* CPython's parser has a MemoryError for code that is nested too deeply, too. */
const fault tree_unread = {
    "TimeoutError", "The code was not read: the engine's own Python failed, so nothing was decided",
    0
};

/* Python's message of a syntax error, with its line. */
static void explain(tree *t, fault *wrong)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    wrong->type = "SyntaxError";
    wrong->message = "Syntax error: invalid syntax";
    if (type && (!PyErr_GivenExceptionMatches(type, PyExc_Exception) ||
                 PyErr_GivenExceptionMatches(type, PyExc_SystemError))) {
        *wrong = tree_unread;
    } else if (type && (PyErr_GivenExceptionMatches(type, PyExc_RecursionError) ||
                        PyErr_GivenExceptionMatches(type, PyExc_MemoryError))) {
        wrong->type = "ValidationError";
        wrong->message = "Code is nested too deeply";
    } else if (value) {
        wrong->line = whole(&(conversion){ .t = t }, value, "lineno");
        PyObject *message = PyObject_GetAttrString(value, "msg");
        if (!message) {
            PyErr_Clear();
            message = PyObject_Str(value);
        }
        const char *words = message && PyUnicode_Check(message) ? PyUnicode_AsUTF8(message) : NULL;
        if (words && strncmp(words, "too many nested", 15) == 0) {
            wrong->type = "ValidationError";
            wrong->message = arena_print(t->arena, "Code is nested too deeply (line %d)",
                                         wrong->line);
        } else if (words) {
            wrong->message = arena_print(t->arena, "Syntax error: %s (line %d)", words,
                                         wrong->line);
        }
        Py_XDECREF(message);
    }
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

bool tree_parse(tree *t, const char *source, size_t length, fault *wrong)
{
    if (length > TREE_MOST_BYTES) {
        *wrong = (fault){ "ValidationError",
                          arena_print(t->arena, "Code has %zu bytes; at most %d are allowed",
                                      length, TREE_MOST_BYTES),
                          0 };
        return false;
    }
    t->source = arena_copy(t->arena, source, length);
    t->length = length;
    if (memchr(source, '\0', length)) {
        *wrong = (fault){ "SyntaxError",
                          "Syntax error: source code cannot contain null bytes (line 1)", 1 };
        return false;
    }
    PyCompilerFlags flags = { .cf_flags = PyCF_ONLY_AST | PyCF_IGNORE_COOKIE,
                              .cf_feature_version = PY_MINOR_VERSION };
    PyObject *module = Py_CompileStringExFlags(t->source, "<code>", Py_file_input, &flags, -1);
    /* Errors that only the compiler finds, such as a `return` outside of a function. */
    PyObject *compiled = module ? Py_CompileStringExFlags(
                                      t->source, "<code>", Py_file_input,
                                      &(PyCompilerFlags){ .cf_flags = PyCF_IGNORE_COOKIE,
                                                          .cf_feature_version = PY_MINOR_VERSION },
                                      -1)
                                : NULL;
    bool good = module && compiled;
    if (!good) {
        explain(t, wrong);
    } else {
        conversion c = { .t = t };
        t->module = convert(&c, module);
        if (c.too_deep) {
            *wrong = (fault){ "ValidationError",
                              arena_print(t->arena, "Code is nested too deeply (line %d)",
                                          c.deep_line),
                              c.deep_line };
            good = false;
        } else if (c.failed) {
            *wrong = tree_unread;
            good = false;
        }
    }
    Py_XDECREF(compiled);
    Py_XDECREF(module);
    PyErr_Clear();
    return good;
}

const node *tree_expression(tree *t, const char *source)
{
    PyCompilerFlags flags = { .cf_flags = PyCF_ONLY_AST | PyCF_IGNORE_COOKIE,
                              .cf_feature_version = PY_MINOR_VERSION };
    while (*source == ' ' || *source == '\t')
        source++;
    PyObject *object = Py_CompileStringExFlags(source, "<code>", Py_eval_input, &flags, -1);
    PyObject *body = object ? PyObject_GetAttrString(object, "body") : NULL;
    /* Code that is nested too deeply has a MemoryError, too. */
    bool broke = !body && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_SyntaxError) &&
                 !PyErr_ExceptionMatches(PyExc_ValueError);
    conversion c = { .t = t };
    const node *n = body ? convert(&c, body) : NULL;
    Py_XDECREF(body);
    Py_XDECREF(object);
    PyErr_Clear();
    t->unread |= broke || c.failed;
    return c.too_deep || c.failed ? NULL : n;
}

/* -- words ------------------------------------------------------------------------------------- */

const char *tree_source(const tree *t, arena *a, const node *n)
{
    if (n->line < 1 || n->end_line < n->line)
        return "";
    const char *from = t->source, *end = t->source + t->length;
    for (int line = 1; line < n->line && from; line++)
        from = memchr(from, '\n', (size_t)(end - from)) ? strchr(from, '\n') + 1 : NULL;
    const char *last = from;
    for (int line = n->line; line < n->end_line && last; line++)
        last = strchr(last, '\n') ? strchr(last, '\n') + 1 : NULL;
    if (!from || !last || from + n->column > end || last + n->end_column > end)
        return "";
    from += n->column;
    last += n->end_column;
    char *out = arena_take(a, (size_t)(last - from) + 1), *to = out;
    for (; from < last; from++) { /* line ends and the blanks around them become one blank */
        bool blank = *from == '\n' || *from == ' ' || *from == '\t' || *from == '\r';
        if (!blank)
            *to++ = *from;
        else if (to > out && to[-1] != ' ')
            *to++ = ' ';
    }
    return out;
}

const char *tree_construct(const node *n)
{
    static const struct {
        const char *class, *words;
    } named[] = {
        { "AsyncFunctionDef", "an async function" },
        { "Yield", "a generator (yield)" },
        { "YieldFrom", "a generator (yield from)" },
        { "Await", "await" },
        { "AsyncFor", "an async for loop" },
        { "AsyncWith", "an async with block" },
        { "TryStar", "except*" },
        { "TypeAlias", "a type statement" },
    };
    for (size_t i = 0; n->kind == N_OTHER && i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i].class, n->name) == 0)
            return named[i].words;
    return n->kind == N_OTHER ? n->name : kinds[n->kind].class;
}

bool tree_target_binds(const node *target, const char *name)
{
    if (!target)
        return false;
    if (target->kind == N_NAME)
        return target->name == name;
    if (target->kind == N_STARRED)
        return tree_target_binds(target->a, name);
    return (target->kind == N_TUPLE || target->kind == N_LIST) &&
           tree_targets_bind(target->x, name);
}

bool tree_targets_bind(nodes targets, const char *name)
{
    for (size_t i = 0; i < targets.count; i++)
        if (tree_target_binds(targets.at[i], name))
            return true;
    return false;
}

const node *tree_first_of(nodes list, tree_test *test, const void *context)
{
    const node *found = NULL;
    for (size_t i = 0; !found && i < list.count; i++)
        if (list.at[i])
            found = tree_first(list.at[i], test, context);
    return found;
}

const node *tree_first(const node *n, tree_test *test, const void *context)
{
    if (test(n, context))
        return n;
    const node *parts[] = { n->a, n->b, n->c }, *found = NULL;
    for (int i = 0; !found && i < 3; i++)
        if (parts[i])
            found = tree_first(parts[i], test, context);
    nodes lists[] = { n->x, n->y, n->z, n->w, n->v };
    for (int i = 0; !found && i < 5; i++)
        found = tree_first_of(lists[i], test, context);
    return found;
}

bool tree_any_yields(nodes list)
{
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i] && tree_yields(list.at[i]))
            return true;
    return false;
}

bool tree_yields(const node *n)
{
    if (n->kind == N_YIELD || n->kind == N_YIELD_FROM)
        return true;
    if (n->kind == N_FUNCTION || n->kind == N_LAMBDA || n->kind == N_CLASS)
        return false;
    return (n->a && tree_yields(n->a)) || (n->b && tree_yields(n->b)) ||
           (n->c && tree_yields(n->c)) || tree_any_yields(n->x) || tree_any_yields(n->y) ||
           tree_any_yields(n->z) || tree_any_yields(n->w) || tree_any_yields(n->v);
}

bool tree_generates(const node *function)
{
    return function->kind == N_LAMBDA ? tree_yields(function->b) : tree_any_yields(function->x);
}
