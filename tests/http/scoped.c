/*
 * A program with scopes of its own, and operations for the operator alone. scopes_test.py calls it
 * with keys of every kind, oauth_test.py with access tokens.
 *
 *     scoped serve --listen 127.0.0.1:0
 */
#include <mishap/main.h>

static const mishap_param id_params[] = {
    { "id", MISHAP_STRING, .required = true, .length = { 1, 40 } },
    { 0 },
};

static mishap *show(mishap_call *call)
{
    const char *id = mishap_string(call, "id");
    if (strcmp(id, "known") != 0)
        return mishap_not_found("There is no such thing.");
    return mishap_answer_member(call, "id", id);
}

static mishap *change(mishap_call *call)
{
    mishap_changed(call, "scoped://shelf/%s", mishap_string(call, "id"));
    return show(call);
}

static mishap *who(mishap_call *call)
{
    const char *caller = mishap_caller(call);
    return mishap_answer_member(call, "caller", caller ? caller : "nobody");
}

/* On a worker: what the caller may do has to get there. */
static mishap *may(mishap_call *call)
{
    mishap_answer_member(call, "call", mishap_may(call, "call"));
    mishap_answer_member(call, "read", mishap_may(call, "things:read"));
    mishap_answer_member(call, "write", mishap_may(call, "things:write"));
    return mishap_answer_member(call, "operator", mishap_may(call, "operator"));
}

static mishap *may_not(mishap_call *call)
{
    return mishap_answer_member(call, "may", mishap_may(call, "things:raed"));
}

static const mishap_service shelf = { .name = "shelf", .scope = "things:read" };

static const mishap_scope scopes[] = {
    { "things:read", .help = "See what is on the shelf" },
    { "things:write", "things:read", "Change things" },
    { .name = "things:remove" },
    { "things:all", "things:write things:remove call", "Do anything with things" },
    { 0 },
};

static const mishap_operation operations[] = {
    { "things.show", "Show a thing", id_params, show, .route = "GET /things/:id",
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { "who", "Show who calls", NULL, who, .route = "GET /who" },
    { "vault.show", "Show what only the operator may see", id_params, show,
      .route = "GET /vault/:id", .operator_only = true, .raises = MISHAP_RAISES(NOT_FOUND) },
    { "vault.change", "Change what only the operator may see", id_params, show,
      .route = "POST /vault/:id", .operator_only = true, .raises = MISHAP_RAISES(NOT_FOUND) },
    { "things.change", "Change a thing", id_params, change, .route = "PATCH /things/:id",
      .scope = "things:write", .raises = MISHAP_RAISES(NOT_FOUND) },
    { "things.remove", "Remove a thing", id_params, show, .route = "DELETE /things/:id",
      .scope = "things:write things:remove", .raises = MISHAP_RAISES(NOT_FOUND) },
    { "shelf.show", "Show what is on the shelf", id_params, show, .route = "GET /shelf/:id",
      .resource = "scoped://shelf/{id}", .service = &shelf, .raises = MISHAP_RAISES(NOT_FOUND) },
    { "shelf.plan", "Plan the shelf", NULL, may, .prompt = "plan", .service = &shelf },
    { "shelf.open", "Show whether the shelf is open", NULL, who, .route = "GET /shelf",
      .service = &shelf, .scope = "" },
    { "may", "Show what the caller may do", NULL, may, .route = "GET /may" },
    { "may-not", "Ask for a scope that does not exist", NULL, may_not, .route = "GET /may-not" },
    { 0 },
};

int main(int argc, char **argv)
{
    static const mishap_app app = {
        .name = "scoped", .version = "1.0", .operations = operations, .scopes = scopes
    };
    return mishap_main(argc, argv, &app);
}
