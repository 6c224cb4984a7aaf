/* Which failures concern the operator. */
#include "incident/incident.h"
#include "mishap/inside.h"

/* Code of the caller that cannot be parsed or loaded is an argument that is wrong: such failures of
 * execution have the code of JSON-RPC for invalid parameters. */
static bool is_wrong_code(const mishap_public *told)
{
    enum { INVALID_PARAMS = -32602 };
    return told->category == MISHAP_EXECUTION && told->code->rpc_code == INVALID_PARAMS;
}

bool mishap_incident_is_one(const mishap *failure)
{
    const mishap_public *told = mishap_told(failure);
    return told->category == MISHAP_SYSTEM ||
           (told->category == MISHAP_EXECUTION && !is_wrong_code(told)) ||
           (told->category != MISHAP_VALIDATION && (failure->cause || failure->noted));
}
