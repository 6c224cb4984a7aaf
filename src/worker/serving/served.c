/*
 * What the boundaries of one server share: see served.h. Runs in the supervisor until the loops are
 * forked, and then in each loop.
 */
#include "worker/serving/served.h"

#include <ctype.h>
#include <stdio.h>

#include "base/id.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "operation/sealed.h"
#include "operation/secret.h"
#include "worker/keeper/lease.h"
#include "worker/loop/crowd.h"
#include "worker/loop/permits.h"
#include "worker/loop/positions.h"
#include "worker/serving/trials.h"
#include "worker/spawn/spawn.h"

const char *const mishap_sandbox_words[] = { "strict", "weak", NULL };
const char *const mishap_log_formats[] = { "text", "json", NULL };
const char *const mishap_schema_sizes[] = { "brief", "full", NULL };

void mishap_served_read(mishap_served *served, mishap_call *call)
{
    served->setup.sandbox = mishap_sandbox_mode_of(call->app->name, mishap_string(call, "sandbox"));
    served->handlers = (int)mishap_integer(call, "handlers");
    served->plan.batch = (int)mishap_integer(call, "handler_batch");
    served->log_bytes = (uint64_t)mishap_integer(call, "log_max_mb") << 20;
    if (mishap_given(call, "guard"))
        mishap_leaks_set_guard(mishap_string(call, "guard"));
    served->full_schemas = strcmp(mishap_string(call, "schemas"), "full") == 0;
    served->log_json = strcmp(mishap_string(call, "log_format"), "json") == 0;
    served->plan.limits = (mishap_worker_limits){
        .memory_bytes = (uint64_t)mishap_integer(call, "handler_memory_mb") << 20,
        .cpu_seconds = (uint64_t)mishap_integer(call, "handler_cpu_seconds"),
        .files = (uint64_t)mishap_integer(call, "handler_files"),
        .processes = (uint64_t)mishap_integer(call, "handler_processes"),
        .file_bytes = (uint64_t)mishap_integer(call, "handler_file_mb") << 20,
    };
}

/* If handlers run in the loops, each loop opens the services for itself. It must open the same
 * ones. */
static void expect_the_same(mishap_worker_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->groups[i].service)
            mishap_service_expect(groups->groups[i].service,
                                  mishap_service_identity(groups->groups[i].service));
}

/* A service may choose its foreign program by its settings. That is done here, before the fork, so
 * that it holds in all processes. */
static mishap *prepare_services(const mishap_served *served)
{
    const mishap_worker_groups *groups = &served->plan.groups;
    mishap *failure = NULL;
    for (size_t i = 0; i < groups->count && !failure; i++) {
        if (groups->groups[i].service)
            failure = mishap_service_prepare(served->app, groups->groups[i].service);
    }
    return failure;
}

/* Done once here, for all processes that are forked later. */
static void probe_sandbox(const mishap_worker_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->groups[i].foreign && groups->groups[i].foreign->sandbox) {
            mishap_sandbox_probe();
            return;
        }
}

mishap *mishap_served_begin(mishap_served *served)
{
    served->keeper.socket = served->connection = -1;
    served->plan.app = served->app;
    served->plan.setup = &served->setup;
    mishap_service_use(&served->setup);
    mishap *failure = mishap_worker_groups_make(served->app, &served->plan.groups);
    if (!failure)
        failure = mishap_news_make(&served->news);
    if (!failure)
        failure = mishap_standing_make(&served->standing);
    if (!failure)
        failure = mishap_trials_make(&served->trials);
    if (!failure)
        failure = mishap_sessions_make(&served->sessions);
    if (!failure)
        served->sessions->server = (uint8_t)served->server_number;
    if (!failure)
        failure = mishap_crowd_make(&served->crowd);
    if (!failure)
        failure = mishap_permits_make(&served->permits);
    if (!failure)
        failure = mishap_positions_make(served->setup.stale_ms, &served->positions);
    if (!failure)
        failure = mishap_seal_make(&served->seal);
    if (!failure && served->secret)
        mishap_seal_use(served->seal, served->secret);
    if (!failure)
        failure = prepare_services(served);
    if (!failure) /* prepare() decides how calls are settled */
        failure = mishap_worker_groups_make(served->app, &served->plan.groups);
    served->plan.caller_share = served->caller_share;
    mishap_spawn_use(served->setup.sandbox);
    if (failure)
        return failure;
    /* Before the keeper is forked, which then knows what the machine offers. */
    mishap_health_collect(&served->plan.groups, &served->setup, &served->health);
    if (!served->handlers) {
        failure = mishap_service_open_all(served->app);
        if (!failure)
            expect_the_same(&served->plan.groups);
        mishap_service_close_all(); /* its open files must not be shared across a fork */
        return failure;
    }
    probe_sandbox(&served->plan.groups);
    failure = mishap_keeper_start(&served->keeper, &served->plan);
    return failure ? failure : mishap_keeper_try_services(&served->keeper, &served->plan.groups);
}

void mishap_served_end(mishap_served *served)
{
    if (served->handlers && served->plan.app)
        mishap_keeper_stop(&served->keeper);
    mishap_news_free(served->news);
    served->news = NULL;
    mishap_standing_free(served->standing);
    served->standing = NULL;
    mishap_trials_free(served->trials);
    served->trials = NULL;
    mishap_sessions_free(served->sessions);
    served->sessions = NULL;
    mishap_crowd_free(served->crowd);
    served->crowd = NULL;
    mishap_permits_free(served->permits);
    served->permits = NULL;
    mishap_positions_free(served->positions);
    served->positions = NULL;
    mishap_seal_free(served->seal);
    served->seal = NULL;
    mishap_buffer_release(&served->health);
}

/* A loop needs: a socket for each worker, and the descriptors that the keeper sends with it; poll,
 * clock and keeper connection of the runner; an answer that comes as a file. A store counts for
 * three files: the database, its journal and its lock. */
size_t mishap_served_files(const mishap_served *served)
{
    const mishap_worker_groups *groups = &served->plan.groups;
    size_t files = 3 + 2 + 1;
    for (size_t i = 0; i < groups->count; i++) {
        const mishap_foreign *foreign = groups->groups[i].foreign;
        if (foreign && foreign->sessions)
            files += mishap_leases_most(foreign);
        else
            files += (groups->groups[i].alone ? 1 : (size_t)served->handlers) +
                     (groups->groups[i].service ? 3 : 0);
    }
    return files;
}

static void hear(void *news, mishap_text address)
{
    mishap_news_add(news, address);
}

/* Record a failure that no caller receives any more: the operator may want to know of it. */
static void record_lost_failure(void *state, const mishap_call *call, const char *incident,
                                mishap *failure)
{
    const mishap_served *served = state;
    mishap_arena arena;
    mishap_secrets secrets;
    mishap_arena_init(&arena, NULL, 0);
    mishap_secrets_learn(&secrets, &arena, call);
    mishap_hide_failure(failure, call->operation->params, &secrets);
    if (mishap_incident_is_one(failure))
        mishap_incident_record(&(mishap_incident_entry){ .program = served->app->name,
                                                         .operation = call->operation->name,
                                                         .id = incident,
                                                         .failure = failure,
                                                         .secrets = &secrets,
                                                         .to_stderr = served->verbose });
    mishap_arena_release(&arena);
    mishap_free(failure);
}

/* Write one line, even if a path contains control characters. */
static void say_reason(const mishap_served *served, const mishap_service *service,
                       mishap_text reason)
{
    char line[1000];
    int length = reason.data
                     ? snprintf(line, sizeof line, "%s: the service %s is not available: %.*s",
                                served->app->name, service->name, (int)reason.length, reason.data)
                     : snprintf(line, sizeof line, "%s: the service %s is available again",
                                served->app->name, service->name);
    for (int i = 0; i < length && line[i]; i++)
        if (iscntrl((unsigned char)line[i]))
            line[i] = '?';
    mishap_log_say("%s\n", line);
}

/* Tell the operator once when a service becomes unavailable, and once when it is available
 * again. */
static void stands(void *state, const mishap_service *service, const mishap *failure)
{
    const mishap_served *served = state;
    char id[MISHAP_ID_LENGTH + 1];
    if (!failure) {
        say_reason(served, service, (mishap_text){ NULL, 0 });
        return;
    }
    const mishap_public *told = mishap_told(failure);
    say_reason(served, service, told->cause.length ? told->cause : mishap_public_message(told));
    mishap_id_make(id);
    mishap_incident_record(&(mishap_incident_entry){
        .program = served->app->name,
        .operation = service->name,
        .id = id,
        .failure = failure,
        .to_stderr = served->verbose,
    });
}

static void suspects(void *state, const mishap_service *service)
{
    mishap_trials_suspect(state, service);
}

mishap *mishap_served_open(mishap_served *served, int connection)
{
    size_t handlers = served->handlers ? (size_t)served->handlers : 1;
    size_t most = served->most_calls ? served->most_calls
                                     : handlers * MISHAP_CALLS_FOR_EACH_HANDLER;
    size_t share = most * (size_t)served->caller_share / 100;
    if (!share && served->caller_share)
        share = 1;
    mishap_changes_heard_by(hear, served->news);
    return mishap_runner_open(&(mishap_runner_settings){ .plan = &served->plan,
                                                         .keeper = connection,
                                                         .handlers = handlers,
                                                         .most_waiting = most,
                                                         .most_of_one = share < most ? share : 0,
                                                         .inside = !served->handlers,
                                                         .orphaned = record_lost_failure,
                                                         .stands = stands,
                                                         .suspects = suspects,
                                                         .standing = served->standing,
                                                         .sessions = served->sessions,
                                                         .crowd = served->crowd,
                                                         .permits = served->permits,
                                                         .positions = served->positions,
                                                         .claims = mishap_seal_claims(served->seal),
                                                         .state = served },
                              &served->runner);
}

void mishap_served_close(mishap_served *served)
{
    mishap_trials_leave(served);
    mishap_runner_close(served->runner);
    mishap_changes_heard_by(NULL, NULL);
    served->runner = NULL;
    if (!served->handlers)
        mishap_service_close_all();
}

const char *mishap_served_unavailable(const mishap_served *served, size_t *at)
{
    const mishap_worker_groups *groups = &served->plan.groups;
    while (served->standing && *at < groups->count) {
        size_t i = (*at)++;
        if (i && groups->groups[i - 1].service == groups->groups[i].service)
            continue; /* the group of its calls that are apart: its service is listed already */
        if (!mishap_generation_is_open(mishap_standing_generation(served->standing, i)))
            return groups->groups[i].service->name;
    }
    return NULL;
}
