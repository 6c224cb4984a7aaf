/* What operations add to the metrics: their workers, services and stores, and the incidents. */
#include "base/tally.h"
#include "http/serve/serve.h"
#include "incident/readers.h"
#include "operation/settings.h"
#include "worker/serving/trials.h"

enum { SQLITE, POSTGRESQL, STANDBY }; /* `file`, `server`, `standby` in the table of metrics */

/* -- labels ------------------------------------------------------------------------------------ */

static const char no_service[] = "none";

/* The services that have an operation which is served; one that has only commands is none. */
static size_t served_services(const mishap_app *app,
                              const mishap_service *services[MISHAP_MOST_SERVICES])
{
    const mishap_service *all[MISHAP_MOST_SERVICES];
    size_t count = mishap_services_of(app, all), served = 0;
    for (size_t i = 0; i < count; i++) {
        const mishap_operation *o = app->operations;
        while (o->name && (o->service != all[i] || o->local || o->resident))
            o++;
        if (o->name)
            services[served++] = all[i];
    }
    return served;
}

mishap *mishap_api_counted(const mishap_app *app, mishap_arena *arena, mishap_http_counted *out)
{
    const mishap_service *services[MISHAP_MOST_SERVICES];
    size_t service_count = served_services(app, services), call_count = 0;
    while (app->operations[call_count].name)
        call_count++;
    const char **calls = mishap_arena_take(arena, (call_count + 1) * sizeof *calls);
    const char **names = mishap_arena_take(arena, (service_count + 1) * sizeof *names);
    if (!calls || !names)
        return mishap_out_of_memory();
    for (size_t i = 0; i < call_count; i++)
        calls[i] = app->operations[i].name;
    for (size_t i = 0; i < service_count; i++)
        names[i] = services[i]->name;
    names[service_count] = no_service;
    *out = (mishap_http_counted){ calls, call_count, names, service_count + 1 };
    return NULL;
}

/* The index of the label of a service; the last is for none. */
static size_t label_of(const mishap_app *app, const mishap_service *service)
{
    const mishap_service *services[MISHAP_MOST_SERVICES];
    size_t count = served_services(app, services), i = 0;
    while (i < count && services[i] != service)
        i++;
    return i;
}

/* -- of this loop ------------------------------------------------------------------------------ */

void mishap_api_tell_of_loop(const mishap_api *api)
{
    const mishap_served *served = api->served;
    const mishap_worker_groups *groups = &served->plan.groups;
    mishap_runner_use uses[MISHAP_METRIC_SERVICES] = { { 0 } };
    bool has[MISHAP_METRIC_SERVICES] = { false };
    for (size_t i = 0; i < groups->count; i++) {
        mishap_runner_use use = mishap_runner_use_of(served->runner, i);
        size_t label = label_of(served->app, groups->groups[i].service);
        if (label >= MISHAP_METRIC_SERVICES)
            continue;
        has[label] = true;
        uses[label].workers += use.workers;
        uses[label].busy += use.busy;
        uses[label].waiting += use.waiting;
    }
    for (size_t i = 0; i < MISHAP_METRIC_SERVICES; i++) {
        if (!has[i])
            continue;
        mishap_http_tell_of_loop(api->server, MISHAP_METRIC_WORKERS, i, (int64_t)uses[i].workers);
        mishap_http_tell_of_loop(api->server, MISHAP_METRIC_WORKERS_BUSY, i, (int64_t)uses[i].busy);
        mishap_http_tell_of_loop(api->server, MISHAP_METRIC_CALLS_WAITING, i,
                                 (int64_t)uses[i].waiting);
    }
}

/* -- of all ------------------------------------------------------------------------------------ */

static void measure_services(const mishap_served *served, mishap_http_measures *to)
{
    const mishap_worker_groups *groups = &served->plan.groups;
    mishap_readiness found;
    size_t at = 0;
    for (size_t i = 0; i < groups->count; i++) /* of a service without a trial this is enough */
        if (groups->groups[i].service && !groups->groups[i].service->trial)
            mishap_http_measure(to, MISHAP_METRIC_SERVICE_READY,
                                label_of(served->app, groups->groups[i].service), 1);
    while (mishap_trials_next(served, &at, &found))
        if (found.known)
            mishap_http_measure(to, MISHAP_METRIC_SERVICE_READY,
                                label_of(served->app, found.service), found.ready);
}

static void measure_stores(const mishap_app *app, bool stale, mishap_http_measures *to)
{
    static const mishap_tally queries[] = { MISHAP_TALLY_SQLITE_QUERIES,
                                            MISHAP_TALLY_POSTGRESQL_QUERIES };
    static const mishap_tally failures[] = { MISHAP_TALLY_SQLITE_FAILURES,
                                             MISHAP_TALLY_POSTGRESQL_FAILURES };
    for (size_t i = SQLITE; mishap_app_has_store(app) && i <= POSTGRESQL; i++) {
        uint64_t count = mishap_tally_read(queries[i]), failed = mishap_tally_read(failures[i]);
        if (i == POSTGRESQL && !count && !failed)
            continue; /* most programs have no such store */
        mishap_http_measure(to, MISHAP_METRIC_STORE_QUERIES, i, (int64_t)count);
        mishap_http_measure(to, MISHAP_METRIC_STORE_FAILURES, i, (int64_t)failed);
    }
    if (stale)
        mishap_http_measure(to, MISHAP_METRIC_STORE_QUERIES, STANDBY,
                            (int64_t)mishap_tally_read(MISHAP_TALLY_STANDBY_QUERIES));
}

static void measure_reader(const mishap_reader_counts *reader, size_t label,
                           mishap_http_measures *to)
{
    mishap_http_measure(to, MISHAP_METRIC_READER_STATE, label, atomic_load(&reader->state));
    mishap_http_measure(to, MISHAP_METRIC_READER_LAG, label,
                        (int64_t)atomic_load(&reader->lag_bytes));
    mishap_http_measure(to, MISHAP_METRIC_READER_RECORDS, label,
                        (int64_t)atomic_load(&reader->records));
    mishap_http_measure(to, MISHAP_METRIC_READER_LOST, label, (int64_t)atomic_load(&reader->lost));
}

static void measure_incidents(mishap_http_measures *to)
{
    const mishap_incident_counts *counts = mishap_incident_counts_shared();
    if (!counts)
        return;
    mishap_http_measure(to, MISHAP_METRIC_INCIDENTS_WRITTEN, 0,
                        (int64_t)atomic_load(&counts->written_whole));
    mishap_http_measure(to, MISHAP_METRIC_INCIDENTS_WRITTEN, 1,
                        (int64_t)atomic_load(&counts->written_compact));
    mishap_http_measure(to, MISHAP_METRIC_INCIDENTS_LOST, 0, (int64_t)atomic_load(&counts->lost));
    mishap_http_measure(to, MISHAP_METRIC_INCIDENT_WRITE_ERROR, 0,
                        (int64_t)atomic_load(&counts->write_error));
    measure_reader(&counts->index, 0, to);
    measure_reader(&counts->otlp, 1, to);
    mishap_http_measure(to, MISHAP_METRIC_INDEX_REBUILT, 0,
                        (int64_t)atomic_load(&counts->index.rebuilt));
    mishap_http_measure(to, MISHAP_METRIC_OTLP_RETRIES, 0,
                        (int64_t)atomic_load(&counts->otlp.retries));
    mishap_http_measure(to, MISHAP_METRIC_GROUPS, 0, (int64_t)atomic_load(&counts->new_groups));
    mishap_http_measure(to, MISHAP_METRIC_GROUPS, 1,
                        (int64_t)atomic_load(&counts->regressed_groups));
}

void mishap_api_measure(void *state, mishap_http_measures *to)
{
    const mishap_api *api = state;
    measure_services(api->served, to);
    measure_stores(api->served->app, api->served->positions != NULL, to);
    measure_incidents(to);
}
