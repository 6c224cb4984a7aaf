/* What the tools share: see tools.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "solver/second.h"
#include "tools/tools.h"
#include "tree/validate.h"

enum { MOST_NOTED = 4000 }; /* bytes of code, for the operator */

/* -- so far ------------------------------------------------------------------------------------ */

static void (*kept_by)(yyjson_mut_doc *so_far);

void tools_keep(void (*keep)(yyjson_mut_doc *so_far))
{
    kept_by = keep;
}

yyjson_mut_doc *so_far_begin(void)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(doc, yyjson_mut_obj(doc));
    return doc;
}

void so_far_found(yyjson_mut_doc *doc, const char *status, const char *name, yyjson_mut_val *found)
{
    yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
    if (!status)
        return;
    yyjson_mut_obj_add_strcpy(doc, root, "status", status);
    yyjson_mut_obj_add_val(doc, root, name, yyjson_mut_val_mut_copy(doc, found));
    yyjson_mut_obj_add_str(doc, root, "method", "paths");
}

void so_far_end(yyjson_mut_doc *doc)
{
    if (kept_by)
        kept_by(doc);
    yyjson_mut_doc_free(doc);
}

/* -- answers ----------------------------------------------------------------------------------- */

void reply_status(reply *r, const char *status)
{
    yyjson_mut_obj_add_strcpy(r->doc, r->root, "status", status);
}

void reply_text(reply *r, yyjson_mut_val *to, const char *name, const char *words)
{
    yyjson_mut_obj_add_strcpy(r->doc, to, name, words ? words : "");
}

void reply_fault(reply *r, const char *status, const fault *wrong)
{
    reply_status(r, status);
    reply_text(r, r->root, "error_type", wrong->type);
    reply_text(r, r->root, "message", wrong->message);
    if (wrong->line > 0)
        yyjson_mut_obj_add_int(r->doc, r->root, "line", wrong->line);
}

void reply_seconds(reply *r, int64_t began_ns)
{
    yyjson_mut_obj_add_real(r->doc, r->root, "time_seconds", (double)(clock_ns() - began_ns) / 1e9);
}

/* All paths were explored, and there was none: no input is one that the function is for. */
static bool is_vacuous(const analysis *a)
{
    return enumerate_proves(a) ? a->every.held == 0 : a->exhausted && a->paths == 0;
}

void reply_assumed(reply *r, const analysis *a)
{
    const char *words[] = {
        is_vacuous(a) ? "no input satisfies the preconditions, so nothing is said of any call"
                      : NULL,
        a->assumed,
        a->m.digits_assumed ? "ints that become text or are made of it have at most 4300 digits"
                            : NULL,
    };
    text all = { .a = a->m.kept };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i])
            text_print(&all, "%s%s", all.length ? "; " : "", words[i]);
    if (all.length)
        reply_text(r, r->root, "assumptions", all.data);
    if (is_vacuous(a))
        yyjson_mut_obj_add_bool(r->doc, r->root, "vacuous", true);
}

/* The code is what an engineer needs to mend the engine. */
static const char *cut_code(analysis *a)
{
    size_t length = a->tree.length < MOST_NOTED ? a->tree.length : MOST_NOTED;
    while (length > 0 && length < a->tree.length &&
           ((unsigned char)a->tree.source[length] >> 6) == 2)
        length--; /* a character stays whole */
    return arena_copy(&a->tree_arena, a->tree.source, length);
}

void reply_withdrawn(reply *r, analysis *a)
{
    if (!a->contradicted)
        return;
    if (!yyjson_mut_obj_get(r->root, "error_type"))
        reply_text(r, r->root, "withdrawn", explore_fault(a).message);
    r->private = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *notes = yyjson_mut_obj(r->private);
    yyjson_mut_doc_set_root(r->private, notes);
    yyjson_mut_obj_add_str(r->private, notes, "severity", "critical");
    yyjson_mut_obj_add_strcpy(r->private, notes, "contradiction", a->contradicted);
    yyjson_mut_obj_add_strcpy(r->private, notes, "tool", r->request->tool);
    yyjson_mut_obj_add_strcpy(r->private, notes, "function", r->request->function);
    yyjson_mut_obj_add_strcpy(r->private, notes, "code", cut_code(a));
}

void reply_method(reply *r, const analysis *a, bool by_paths)
{
    reply_text(r, r->root, "method", enumerate_method(a, by_paths));
    if (a->every.ran)
        yyjson_mut_obj_add_uint(r->doc, r->root, "inputs_called", a->every.calls);
}

/* A value that was written in Python. What JSON has no form for stays as it is written. */
static yyjson_mut_val *words_json(reply *r, analysis *a, const node *n, const char *words)
{
    const constant *k = n && n->kind == N_CONSTANT ? n->constant : NULL;
    bool minus = n && n->kind == N_UNARYOP && n->op == OP_USUB && n->a->kind == N_CONSTANT;
    if (minus && n->a->constant->kind == C_INT && n->a->constant->small)
        return yyjson_mut_sint(r->doc, -n->a->constant->number);
    if (minus && n->a->constant->kind == C_FLOAT)
        return yyjson_mut_real(r->doc, -n->a->constant->real);
    if (k && k->kind == C_INT)
        return k->small ? yyjson_mut_sint(r->doc, k->number) : yyjson_mut_rawcpy(r->doc, k->text);
    if (k && k->kind == C_FLOAT)
        return yyjson_mut_real(r->doc, k->real);
    if (k && k->kind == C_BOOL)
        return yyjson_mut_bool(r->doc, k->truth);
    if (k && k->kind == C_NONE)
        return yyjson_mut_null(r->doc);
    if (!k || k->kind != C_STR)
        return yyjson_mut_strcpy(r->doc, words);
    value said = { .kind = V_STR, .known = true };
    said.str.chars = k->chars;
    said.str.count = k->count;
    return input_json(&a->m, &said, r->doc);
}

static yyjson_mut_val *argument_json(reply *r, analysis *a, const char *words)
{
    const node *n = tree_expression(&a->tree, words);
    if (!n || n->kind != N_LIST)
        return words_json(r, a, n, words);
    yyjson_mut_val *list = yyjson_mut_arr(r->doc);
    for (size_t i = 0; i < n->x.count; i++) {
        const node *item = n->x.at[i]; /* the words are on one line */
        size_t length = (size_t)(item->end_column - item->column);
        char *spelled = arena_copy(&a->tree_arena, words + item->column, length);
        yyjson_mut_arr_append(list, words_json(r, a, item, spelled));
    }
    return list;
}

/* A key that JSON has no form for stays as Python writes it. */
static yyjson_mut_val *key_json(reply *r, analysis *a, const rest_item *item)
{
    yyjson_mut_val *key = words_json(r, a, item->key, item->key_words);
    return yyjson_mut_is_str(key) ? key : yyjson_mut_strcpy(r->doc, item->key_words);
}

/* `*args` is a list of what it has, and `**kwargs` is so many keywords. */
static void add_rest(reply *r, analysis *a, const parameter *p, const char *words,
                     yyjson_mut_val *args, yyjson_mut_val *kwargs)
{
    rest_item *items = NULL;
    size_t count = 0;
    rest_items(a, words, &items, &count);
    yyjson_mut_val *list = yyjson_mut_arr(r->doc);
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_val *one = argument_json(r, a, items[i].words);
        if (p->keyword)
            yyjson_mut_obj_add(kwargs, key_json(r, a, &items[i]), one);
        else
            yyjson_mut_arr_append(list, one);
    }
    if (!p->keyword)
        yyjson_mut_obj_add(args, yyjson_mut_strcpy(r->doc, p->name), list);
}

void reply_arguments(reply *r, yyjson_mut_val *to, analysis *a, const witness *w)
{
    yyjson_mut_val *args = yyjson_mut_obj(r->doc), *kwargs = yyjson_mut_obj(r->doc);
    for (size_t i = 0; i < a->parameter_count; i++) {
        const parameter *p = &a->parameters[i];
        text words = { .a = a->m.arena };
        if (p->rest && !w->enumerated && !input_write(&a->m, w->arguments.at[i], &words))
            continue;
        if (p->rest)
            add_rest(r, a, p, w->enumerated ? w->words[i] : words.data, args, kwargs);
        else
            yyjson_mut_obj_add(p->keyword ? kwargs : args, yyjson_mut_strcpy(r->doc, p->name),
                               w->enumerated ? argument_json(r, a, w->words[i])
                                             : input_json(&a->m, w->arguments.at[i], r->doc));
    }
    yyjson_mut_obj_add_val(r->doc, to, "args", args);
    yyjson_mut_obj_add_val(r->doc, to, "kwargs", kwargs);
    reply_text(r, to, "call", w->call);
}

const char *witness_json(reply *r, analysis *a, const witness *w)
{
    yyjson_mut_val *all = yyjson_mut_obj(r->doc);
    for (size_t i = 0; i < a->parameter_count; i++)
        yyjson_mut_obj_add(all, yyjson_mut_strcpy(r->doc, a->parameters[i].name),
                           argument_json(r, a, w->words[i]));
    char *words = yyjson_mut_val_write(all, 0, NULL);
    const char *kept = words ? arena_copy(&a->tree_arena, words, strlen(words)) : NULL;
    free(words);
    return kept;
}

const char *raised_words(arena *a, const char *class, const char *message, int line)
{
    const char *at = line > 0 ? arena_print(a, " (line %d)", line) : "";
    return arena_print(a, "%s%s%s%s", class, *message ? ": " : "", message, at);
}

bool with_guesses(reply *r, analysis *a, const char *function, const char *other, double seconds,
                  attempt_function *attempt, void *context, fault *wrong)
{
    static const type_kind guesses[] = { T_INT, T_STR, T_LIST, T_FLOAT };
    size_t most = sizeof guesses / sizeof *guesses;
    int64_t began = clock_ns();
    for (size_t i = 0; i <= most; i++) {
        /* If none fits, int it is. */
        if (!analysis_open(a, r->solver, r->request->code, r->request->code_length, function, other,
                           seconds - (double)(clock_ns() - began) / 1e9,
                           i < most ? guesses[i] : T_INT, wrong))
            return false;
        a->m.arena = &a->path_arena;
        a->m.kept = &a->tree_arena;
        attempt(a, context);
        /* A precondition that raises for each value of a type says that it is another one. */
        bool fits = !a->guessed || (a->paths == 0 ? !is_vacuous(a) : a->type_errors < a->paths);
        if (fits || a->contradicted || i == most)
            return true;
        analysis_close(a);
    }
    return true;
}

void tool_health(reply *r)
{
    reply_status(r, "healthy");
    reply_text(r, r->root, "python_version", tree_python_version());
    reply_text(r, r->root, "z3_version", solver_version());
    reply_text(r, r->root, "cvc5_version", second_version());
    struct rusage used = { 0 };
    getrusage(RUSAGE_SELF, &used); /* ru_maxrss is in KB */
    yyjson_mut_obj_add_real(r->doc, r->root, "memory_usage_mb", (double)used.ru_maxrss / 1024);
}

static void add_list(reply *r, const char *name, const char *const *words)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(r->doc, r->root, name);
    for (; *words; words++)
        yyjson_mut_arr_add_str(r->doc, list, *words);
}

/* What the validator has in its tables: for those that want to know before they send code. */
static void tool_rules(reply *r)
{
    add_list(r, "allowed_modules", validate_allowed_modules);
    add_list(r, "blocked_modules", validate_blocked_modules);
    add_list(r, "blocked_builtins", validate_blocked_builtins);
    add_list(r, "blocked_attributes", validate_blocked_attributes);
    add_list(r, "blocked_names", validate_blocked_indirect);
    add_list(r, "blocked_members", validate_blocked_members);
    add_list(r, "allowed_dunder_names", validate_allowed_dunders);
}

yyjson_mut_doc *tools_answer(solver *s, const request *q, yyjson_mut_doc **private)
{
    static const struct {
        const char *name;
        void (*run)(reply *r);
        double seconds;
    } tools[] = { { "check", tool_check, 30 },     { "find", tool_find, 30 },
                  { "compare", tool_compare, 60 }, { "branches", tool_branches, 30 },
                  { "run", tool_run, 10 },         { "health", tool_health, 1 },
                  { "rules", tool_rules, 1 } };
    request asked = *q;
    reply r = { .doc = yyjson_mut_doc_new(NULL), .request = &asked, .solver = s };
    r.root = yyjson_mut_obj(r.doc);
    yyjson_mut_doc_set_root(r.doc, r.root);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strcmp(q->tool, tools[i].name) == 0) {
            if (asked.seconds <= 0)
                asked.seconds = tools[i].seconds;
            tools[i].run(&r);
            *private = r.private;
            return r.doc;
        }
    reply_fault(&r, "error", &(fault){ "ValueError", "There is no such tool", 0 });
    return r.doc;
}
