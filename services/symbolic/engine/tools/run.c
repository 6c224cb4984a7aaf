/* run: the interpreter on known arguments, to be compared with CPython. */
#include <string.h>

#include "tools/tools.h"

static reply *current;

static void run_path(analysis *a)
{
    machine *m = &a->m;
    reply *r = current;
    const node *n = tree_expression(&a->tree, r->request->arguments);
    value *given = n ? eval(m, m->globals, n) : NULL;
    a->done = true;
    value *callee = scope_peek(m->globals, a->function->name);
    if (!given || given->kind != V_TUPLE || !callee)
        return;
    arguments with = { .places = given->in.items };
    value *result = call(m, callee, &with, a->function->line);
    a->paths++;
    a->exhausted = true;
    text words = { .a = m->arena };
    if (!result) {
        reply_status(r, "raised");
        reply_text(r, r->root, "result", value_type(m->raised));
    } else if (input_write(m, result, &words)) {
        reply_status(r, "returned");
        reply_text(r, r->root, "result", words.data);
    } else {
        reply_status(r, "opaque");
    }
}

void tool_run(reply *r)
{
    static analysis a;
    fault wrong;
    current = r;
    if (!analysis_open(&a, r->solver, r->request->code, r->request->code_length,
                       r->request->function, NULL, r->request->seconds, T_INT, &wrong) ||
        !r->request->arguments) {
        reply_fault(r, "error", &wrong);
    } else {
        explore(&a, run_path, NULL, r->request->seconds);
        if (a.paths == 0) {
            wrong = explore_fault(&a);
            reply_fault(r, "error", &wrong);
        }
    }
    analysis_close(&a);
}
