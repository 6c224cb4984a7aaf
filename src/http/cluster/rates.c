/*
 * The rate of a caller over all servers. Half of it is divided among the servers, and this process
 * says how large the part of this server is. The other half is leased, for a fifth of a second and
 * before it is needed: loops note which callers have used more than half of what they have
 * (server/rate.c). Without the database there are no leases, and the part stays.
 */
#include "http/cluster/inside.h"

enum {
    LEASE_MS = 100,
    /* A server that is silent serves for as long as its keys may be used, and a little longer until
     * it notices. */
    SILENT_MS = 5000,
};

static void set_part(void *context, int64_t part)
{
    cluster_rates *rates = context;
    rates->part = part;
    if (mishap_cluster_own.rates)
        mishap_http_rates_divide(mishap_cluster_own.rates, part, mishap_clock_monotonic_ns());
}

void mishap_cluster_rates_begin(cluster_rates *rates)
{
    _Static_assert((int)MISHAP_CLUSTER_WHOLE == (int)MISHAP_HTTP_RATE_PARTS, "one whole");
    *rates = (cluster_rates){ 0 };
    set_part(rates, 0);
}

mishap *mishap_cluster_rates_divide(cluster_rates *rates, mishap_cluster *cluster, int64_t id)
{
    const mishap_cluster_plan *plan = &mishap_cluster_own.plan;
    int64_t part = rates->part;
    if (!mishap_cluster_own.rates)
        return NULL;
    mishap *failure = plan->engine->divide(cluster, id, plan->keys_stale_ms + SILENT_MS, &part,
                                           set_part, rates);
    if (!failure && part > rates->part)
        set_part(rates, part);
    return failure;
}

/* As many as were needed in the last tenth of a second: what is left over is lost. */
static int64_t wanted_for(const mishap_http_need *need, const mishap_http_leased *leased)
{
    return need->count < leased->most ? need->count : leased->most;
}

mishap *mishap_cluster_rates_lease(cluster_rates *rates, mishap_cluster *cluster, int64_t now_ms)
{
    mishap_http_rates *shared = mishap_cluster_own.rates;
    mishap_http_need needs[MISHAP_CLUSTER_LEASES];
    mishap_cluster_lease leases[MISHAP_CLUSTER_LEASES];
    if (!shared || now_ms < rates->lease_due_ms)
        return NULL;
    size_t count = mishap_http_rates_needs(shared, needs, MISHAP_CLUSTER_LEASES);
    if (!count)
        return NULL;
    const mishap_http_leased leased = mishap_http_rates_leased(mishap_cluster_own.plan.rate);
    for (size_t i = 0; i < count; i++)
        leases[i] = (mishap_cluster_lease){ .place = needs[i].place,
                                            .wanted = wanted_for(&needs[i], &leased) };
    /* From before they are counted on, so that they never end later than they should. */
    int64_t until_ns = mishap_clock_monotonic_ns() + leased.last_ns;
    rates->lease_due_ms = now_ms + LEASE_MS;
    mishap *failure = mishap_cluster_own.plan.engine->lease(
        cluster, &(mishap_cluster_rate){ leased.each_ns, leased.ahead_ns }, leases, count);
    for (size_t i = 0; i < count && !failure; i++)
        mishap_http_rates_lease(shared, needs[i].place, leases[i].granted, until_ns);
    return failure;
}
