/* The start of a server of a cluster, and the extension that has the process `mishap-cluster`. */
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/shared.h"
#include "http/cluster/inside.h"
#include "operation/sealed.h"
#include "server/child.h"
#include "worker/serving/served.h"

cluster_own mishap_cluster_own;

static mishap_http_child child = { .name = "mishap-cluster", .run = mishap_cluster_run };

static mishap *check_plan(const mishap_cluster_plan *plan)
{
    if (!plan->engine)
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "This program cannot be a server of a cluster."),
            "Leave out --cluster; or set .cluster of its mishap_app, and link mishap-store.");
    return NULL;
}

/* A secret that only the servers of this cluster have. */
static mishap *make_rates(mishap_cluster *cluster)
{
    cluster_own *own = &mishap_cluster_own;
    unsigned char bytes[MISHAP_CLUSTER_SECRET];
    uint64_t known[2], secret[2];
    mishap *failure = own->plan.engine->secret(cluster, bytes);
    if (failure)
        return failure;
    memcpy(known, bytes, sizeof known);
    own->number = mishap_hash(known, mishap_text_of("states of questions"));
    for (size_t i = 0; i < 2; i++)
        secret[i] = mishap_hash(known, mishap_text_of(i ? "rates, 2" : "rates, 1"));
    failure = mishap_http_rates_make_shared(own->plan.rate, secret, &own->rates);
    explicit_bzero(bytes, sizeof bytes);
    explicit_bzero(known, sizeof known);
    explicit_bzero(secret, sizeof secret);
    return failure;
}

/* What is needed before the first request: a database that is not there is better told now. */
static mishap *read_once(void)
{
    cluster_own *own = &mishap_cluster_own;
    mishap_cluster *cluster = NULL;
    size_t odd = 0;
    own->version = -1;
    mishap *failure = own->plan.engine->open(own->address, own->plan.data, &cluster);
    if (!failure)
        failure = own->plan.engine->timelines(cluster); /* before a service opens its store */
    if (!failure)
        failure = mishap_cluster_write_secret(cluster);
    if (!failure)
        failure = mishap_cluster_write_keys(cluster, &own->version, &odd);
    if (!failure)
        failure = make_rates(cluster);
    own->plan.engine->close(cluster);
    return failure;
}

mishap *mishap_http_cluster_begin(const mishap_cluster_plan *plan, const char **folder,
                                  mishap_http_rates **rates)
{
    cluster_own *own = &mishap_cluster_own;
    char host[CLUSTER_NAME / 2] = "";
    mishap *failure = check_plan(plan);
    if (failure)
        return failure;
    *own = (cluster_own){ .plan = *plan };
    if ((size_t)snprintf(own->address, sizeof own->address, "%s", plan->address) >=
            sizeof own->address ||
        (size_t)snprintf(own->folder, sizeof own->folder, "%s/cluster", plan->data) >=
            sizeof own->folder)
        return mishap_raise(NOT_CONFIGURED,
                            "The address of the cluster, or the path of the data folder, is too "
                            "long.");
    own->plan.address = own->address;
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    snprintf(own->name, sizeof own->name, "%s %s %ld", host, plan->program, (long)getpid());
    failure = read_once();
    own->wanted = !failure;
    *folder = own->folder;
    *rates = own->rates;
    return failure;
}

const _Atomic int64_t *mishap_http_cluster_confirmed(void)
{
    return mishap_cluster_own.page ? &mishap_cluster_own.page->confirmed_ns : NULL;
}

int64_t mishap_http_cluster_stale_ns(void)
{
    return mishap_cluster_own.plan.keys_stale_ms * 1000000;
}

/* -- the extension ----------------------------------------------------------------------------- */

/* Behind the extension that makes the list of changes. */
static mishap *prepare_cluster(const mishap_http_settings *settings, void **shared)
{
    cluster_own *own = &mishap_cluster_own;
    *shared = NULL;
    if (!own->wanted)
        return NULL;
    own->page = mishap_shared_map(sizeof *own->page);
    if (!own->page)
        return mishap_out_of_memory();
    atomic_store(&own->page->confirmed_ns, mishap_clock_monotonic_ns());
    own->news = settings->served->news;
    own->served = settings->served;
    mishap_seal_share(settings->served->seal, own->number);
    own->parent = getpid();
    mishap_http_child_want(&child);
    *shared = own;
    return NULL;
}

static void look_at_process(void *shared)
{
    if (shared)
        mishap_http_child_look(&child);
}

static bool process_ended(void *shared, int pid, int status)
{
    return shared && mishap_http_child_ended(&child, pid, status);
}

static void dismiss_cluster(void *shared)
{
    cluster_own *own = &mishap_cluster_own;
    if (shared)
        mishap_http_child_dismiss(&child);
    if (own->page)
        mishap_shared_unmap(own->page, sizeof *own->page);
    mishap_http_rates_free(own->rates);
    own->rates = NULL;
    own->page = NULL;
    own->wanted = false;
    explicit_bzero(own->address, sizeof own->address);
}

const mishap_http_extension mishap_cluster_over_http = {
    .name = "cluster",
    .prepare = prepare_cluster,
    .look = look_at_process,
    .child_ended = process_ended,
    .dismiss = dismiss_cluster,
    .open = mishap_cluster_wake_open,
    .close = mishap_cluster_wake_close,
};
