/* Scopes: what an operation needs, what the caller of a call has, and their declarations. */
#include "operation/call.h"
#include "operation/declare.h"

/* -- what is needed ---------------------------------------------------------------------------- */

/* Its own `.scope`, else that of its service; NULL: none. */
static const char *named_by(const mishap_operation *operation)
{
    const mishap_service *service = operation->service;
    return operation->scope ? operation->scope : service ? service->scope : NULL;
}

unsigned mishap_operation_scopes(const mishap_app *app, const mishap_operation *operation)
{
    const char *at = named_by(operation);
    unsigned needed = MISHAP_SCOPE_CALL;
    mishap_text name;
    if (operation->operator_only)
        return MISHAP_SCOPE_OPERATOR;
    while (mishap_scopes_next_word(&at, &name))
        needed |= mishap_scope_find(app->scopes, name);
    return needed;
}

/* The names are those of the program's own list: they say nothing about the call. */
mishap *mishap_scopes_permit(const mishap_app *app, unsigned scopes, unsigned needed,
                             const char *what)
{
    char room[200];
    mishap_buffer names;
    unsigned missing = needed & ~scopes;
    if (!missing)
        return NULL;
    mishap_buffer_init(&names, room, sizeof room);
    mishap_scopes_put(&names, app->scopes, missing, ' ');
    mishap_text text = mishap_buffer_text(&names);
    mishap *m = names.failed
                    ? mishap_out_of_memory()
                    : mishap_raise(FORBIDDEN, "The %s does not have the scope%s `%.*s`.", what,
                                   missing & (missing - 1) ? "s" : "", (int)text.length, text.data);
    mishap_buffer_release(&names);
    return m;
}

/* -- what a caller has ------------------------------------------------------------------------- */

bool mishap_may(const mishap_call *part, const char *scope)
{
    const mishap_call *call = mishap_call_whole(part);
    unsigned bit = scope ? mishap_scope_find(call->app->scopes, mishap_text_of(scope)) : 0;
    if (!bit)
        mishap_call_misuse(call, "the program declares no scope of this name", scope);
    return call->scopes & bit;
}

/* -- declarations ------------------------------------------------------------------------------ */

static mishap *check_implied(const mishap_declared *what, const mishap_scope *scope)
{
    const char *at = scope->implies;
    mishap_text name;
    while (mishap_scopes_next_word(&at, &name)) {
        unsigned found = mishap_scope_find(what->app->scopes, name);
        if (!found)
            return mishap_declared_wrongly(
                what, "has the scope `%s`, which implies `%.*s`, a scope that is not declared",
                scope->name, (int)name.length, name.data);
        if (found & (MISHAP_SCOPE_METRICS | MISHAP_SCOPE_OPERATOR))
            return mishap_declared_wrongly(
                what, "has the scope `%s`, which implies `%.*s`: only keys have that scope",
                scope->name, (int)name.length, name.data);
    }
    return NULL;
}

static mishap *check_scope(const mishap_declared *what, const mishap_scope *scope)
{
    mishap_text name = mishap_text_of(scope->name);
    const char *flaw = scope->help ? mishap_line_flaw(scope->help) : NULL;
    if (!mishap_scope_is_name(name))
        return mishap_declared_wrongly(
            what,
            "has a scope whose name is not up to %d visible characters of ASCII without commas, "
            "quotes and backslashes",
            MISHAP_LONGEST_SCOPE);
    if (flaw)
        return mishap_declared_wrongly(what, "has the scope `%s`, whose help is %s", scope->name,
                                       flaw);
    if (mishap_scope_find(NULL, name))
        return mishap_declared_wrongly(
            what, "has the scope `%s`, which every program has: give it another name", scope->name);
    for (const mishap_scope *earlier = what->app->scopes; earlier < scope; earlier++)
        if (mishap_text_equal(mishap_text_of(earlier->name), name))
            return mishap_declared_wrongly(what, "has the scope `%s` twice", scope->name);
    return NULL;
}

mishap *mishap_scopes_declared(const mishap_app *app)
{
    const mishap_declared what = { .app = app };
    const mishap_scope *scopes = app->scopes;
    mishap *m = NULL;
    size_t count = 0;
    for (; scopes && scopes[count].name && !m; count++)
        m = count < MISHAP_MOST_SCOPES
                ? check_scope(&what, &scopes[count])
                : mishap_declared_wrongly(&what, "has more than %d scopes", MISHAP_MOST_SCOPES);
    for (size_t i = 0; i < count && !m; i++)
        m = check_implied(&what, &scopes[i]);
    if (!m && scopes && (scopes[count].implies || scopes[count].help))
        m = mishap_declared_wrongly(&what, "has a scope, number %zu, without a name", count + 1);
    return m;
}

mishap *mishap_scopes_needed(const mishap_declared *what)
{
    const mishap_operation *operation = what->operation;
    const char *at = named_by(operation);
    mishap_text name;
    if (operation->operator_only && operation->scope)
        return mishap_declared_wrongly(what, "is for the operator only, and has a scope as well");
    while (!operation->operator_only && mishap_scopes_next_word(&at, &name))
        if (mishap_scope_find(what->app->scopes, name) < MISHAP_SCOPE_FIRST_DECLARED)
            return mishap_declared_wrongly(
                what, "needs the scope `%.*s`, which the program does not list in `.scopes`",
                (int)name.length, name.data);
    return NULL;
}
