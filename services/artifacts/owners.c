/* Artifacts as other methods see them: whose they are, and a row of a list. */
#include "artifacts/request.h"

mishap *artifacts_no_artifact(mishap_text id)
{
    mishap *m = mishap_tell(mishap_resource("There is no artifact %.*s.", (int)id.length, id.data),
                            "artifact_id", id);
    return mishap_suggest(m,
                          "genesis_store with the method `list` lists all artifacts. The genesis "
                          "artifacts are genesis_ledger, genesis_mint, genesis_escrow, "
                          "genesis_store and genesis_event_log.");
}

mishap *artifacts_owner_of(artifacts_request *r, mishap_text id, char owner[64])
{
    mishap_query query;
    bool found = false;
    mishap_query_begin(&query, r->store, ARTIFACTS_OWNER);
    mishap_query_bind_text(&query, 1, id);
    while (mishap_query_step(&query)) {
        found = true;
        artifacts_copy_name(owner, mishap_query_text(&query, 0));
    }
    MISHAP_TRY(mishap_query_end(&query));
    return found ? NULL : artifacts_no_artifact(id);
}

mishap *artifacts_must_own(artifacts_request *r, mishap_text id, const char *what)
{
    char owner[64];
    MISHAP_TRY(artifacts_owner_of(r, id, owner));
    if (strcmp(owner, r->caller) == 0)
        return NULL;
    return mishap_tell(mishap_permission_as(NOT_OWNER, "Only its owner can %s the artifact %.*s",
                                            what, (int)id.length, id.data),
                       "owner", (const char *)owner);
}

mishap *artifacts_give(artifacts_request *r, mishap_text id, mishap_text owner)
{
    mishap_query query;
    mishap_query_begin(&query, r->store, ARTIFACTS_GIVE);
    mishap_query_bind_text(&query, 1, id);
    mishap_query_bind_text(&query, 2, owner);
    return artifacts_run(&query, NULL);
}

void artifacts_put_row(mishap_buffer *b, mishap_query *query)
{
    mishap_json_put_object(b, NULL);
    mishap_json_put(b, "id", mishap_query_text(query, 1));
    mishap_json_put(b, "type", mishap_query_text(query, 2));
    mishap_json_put(b, "owner", mishap_query_text(query, 3));
    artifacts_put_time(b, "created_at", mishap_query_integer(query, 4));
    mishap_json_put_end(b, '}');
}
