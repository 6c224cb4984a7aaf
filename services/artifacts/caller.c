/* The caller of an invoke: who it is, and whether it is a principal. */
#include "artifacts/request.h"

static const char *how_to_be_known(const mishap_call *call)
{
    if (!mishap_caller_is_free(call)) /* a command and `mcp` cannot send a key */
        return mishap_remote(call)
                   ? "Send an API key as `Authorization: Bearer KEY`: it names the caller."
                   : "Call the server with an API key: it names the caller.";
    if (mishap_boundary(call) == MISHAP_BY_COMMAND)
        return "Name the caller with `--caller NAME`.";
    return mishap_boundary(call) == MISHAP_BY_HTTP
               ? "Name the caller with the header `X-Caller: NAME`, or in the argument caller."
               : "Name the caller in the argument caller.";
}

mishap *artifacts_caller_read(artifacts_request *r)
{
    const char *named = mishap_string(r->call, "caller"), *known = mishap_caller(r->call);
    if (named && known && strcmp(named, known) != 0)
        return mishap_tell(mishap_permission("The caller is %s and cannot act as %s", known, named),
                           "caller", known);
    if (named && !known && !mishap_caller_is_free(r->call))
        return mishap_suggest(mishap_permission("An API key is needed to act as %s", named),
                              how_to_be_known(r->call));
    r->caller = known ? known : named;
    if (r->caller && artifacts_is_reserved(r->caller) && mishap_boundary(r->call) != MISHAP_BY_C)
        return mishap_permission("No caller can act as %s from outside", r->caller);
    return NULL;
}

mishap *artifacts_caller_must_be_principal(artifacts_request *r)
{
    if (!r->caller)
        return mishap_suggest(mishap_permission("%s needs a caller", r->method->name),
                              how_to_be_known(r->call));
    mishap *failure = artifacts_principal_must_exist(r, mishap_text_of(r->caller));
    if (!failure || !mishap_is(failure, NOT_FOUND))
        return failure;
    mishap_free(failure);
    failure = mishap_permission("%s is not a principal", r->caller);
    return mishap_suggest(mishap_tell(failure, "caller", r->caller),
                          "Call as one of the principals that genesis_ledger.all_balances lists. "
                          "One of them can make another with genesis_ledger.spawn_principal.");
}
