/*
 * A program with an operation that is for the operator alone. scopes_test.py calls it with keys of
 * every kind, oauth_test.py with access tokens.
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

static mishap *who(mishap_call *call)
{
    const char *caller = mishap_caller(call);
    return mishap_answer_member(call, "caller", caller ? caller : "nobody");
}

static const mishap_operation operations[] = {
    { "things.show", "Show a thing", id_params, show, .route = "GET /things/:id",
      .raises = MISHAP_RAISES(NOT_FOUND) },
    { "who", "Show who calls", NULL, who, .route = "GET /who" },
    { "vault.show", "Show what only the operator may see", id_params, show,
      .route = "GET /vault/:id", .operator_only = true, .raises = MISHAP_RAISES(NOT_FOUND) },
    { "vault.change", "Change what only the operator may see", id_params, show,
      .route = "POST /vault/:id", .operator_only = true, .raises = MISHAP_RAISES(NOT_FOUND) },
    { 0 },
};

int main(int argc, char **argv)
{
    static const mishap_app app = { .name = "scoped", .version = "1.0", .operations = operations };
    return mishap_main(argc, argv, &app);
}
