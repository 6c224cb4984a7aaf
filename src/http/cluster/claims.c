/*
 * States of destructive operations that loops have claimed (operation/claims.h): the database says
 * which server is the first. If it fails, that is not known, and the calls are refused: a statement
 * without a confirmation may have been executed.
 */
#include "http/cluster/inside.h"
#include "operation/sealed.h"
#include "worker/serving/served.h"

/* After a failure: what else the process does must not wait so often. */
enum { PAUSE_MS = 10000 };

static mishap_claims *table(void)
{
    const struct mishap_served *served = mishap_cluster_own.served;
    return served ? mishap_seal_claims(served->seal) : NULL;
}

mishap *mishap_cluster_claims_turn(cluster_claims *c, mishap_cluster *cluster, int64_t now_ms)
{
    mishap_claim open[MISHAP_CLUSTER_CLAIMS];
    mishap_cluster_claim asked[MISHAP_CLUSTER_CLAIMS];
    if (!table())
        return NULL;
    if (now_ms < c->not_before) {
        mishap_cluster_claims_fail();
        return NULL;
    }
    size_t count = mishap_claims_open(table(), open, MISHAP_CLUSTER_CLAIMS);
    if (!count)
        return NULL;
    for (size_t i = 0; i < count; i++)
        asked[i] = (mishap_cluster_claim){ .number = (int64_t)open[i].number,
                                           .expires_ms = open[i].expires_ms };
    mishap *failure = mishap_cluster_own.plan.engine->claim(cluster, asked, count);
    for (size_t i = 0; i < count; i++)
        mishap_claims_decide(table(), open[i].ticket,
                             failure          ? MISHAP_CLAIM_UNKNOWN
                             : asked[i].first ? MISHAP_CLAIM_FIRST
                                              : MISHAP_CLAIM_TAKEN);
    if (failure)
        c->not_before = now_ms + PAUSE_MS;
    return failure;
}

void mishap_cluster_claims_fail(void)
{
    mishap_claim open[MISHAP_CLAIMS];
    size_t count = table() ? mishap_claims_open(table(), open, MISHAP_CLAIMS) : 0;
    for (size_t i = 0; i < count; i++)
        mishap_claims_decide(table(), open[i].ticket, MISHAP_CLAIM_UNKNOWN);
}
