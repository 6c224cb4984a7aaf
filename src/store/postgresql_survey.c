/*
 * The timelines of all hosts of an address. The one that is connected may be a primary that was
 * replaced while this server was away, or while it hung: only the other hosts know. They are asked
 * one after the other, in steps that need not wait.
 */
#include <poll.h>

#include "store/postgresql.h"

#define pq mishap_libpq

enum {
    HOST_MS = 1000,  /* for each host */
    PAUSE_MS = 4000, /* between surveys */
    STEP_MS = 50,    /* the longest wait within a survey that is waited for */
};

void mishap_postgresql_end_survey(postgresql_store *store)
{
    pq.PQfinish(store->survey.asked);
    store->survey = (postgresql_survey){ 0 };
}

static void finish_host(postgresql_survey *survey)
{
    pq.PQfinish(survey->asked);
    survey->asked = NULL;
    survey->sent = false;
}

/* False: there is no other host. */
static bool begin_host(postgresql_store *store, const postgresql_hosts *hosts)
{
    postgresql_survey *survey = &store->survey;
    postgresql_options options;
    if (store->connection && survey->next == store->host)
        survey->next++;
    if (survey->next >= hosts->count)
        return false;
    mishap_postgresql_set_options(store, hosts, survey->next++, "any", &options);
    survey->asked = pq.PQconnectStartParams(options.keywords, options.values, 1);
    survey->wants = PQ_POLLING_WRITING;
    survey->until_ms = mishap_store_now_ms() + HOST_MS;
    return true;
}

static bool is_ready(const postgresql_survey *survey, int wait_ms)
{
    struct pollfd socket = { .fd = pq.PQsocket(survey->asked),
                             .events = survey->wants == PQ_POLLING_WRITING ? POLLOUT : POLLIN };
    return poll(&socket, 1, wait_ms) > 0;
}

/* The highest timeline counts; a host of another cluster is none of ours. */
static void hear_host(postgresql_store *store, const pq_result *result)
{
    store_timelines *t = &store->timelines;
    uint32_t highest, before = t->timeline;
    store_timeline found;
    if (!mishap_postgresql_read_timeline(result, &found) ||
        (t->cluster && found.cluster != t->cluster))
        return;
    mishap_timelines_admit(t, found.cluster, found.timeline, &highest);
    store->stale = store->stale || t->timeline != before;
}

/* True: the host has answered, or cannot. */
static bool ask_host(postgresql_store *store, int wait_ms)
{
    postgresql_survey *survey = &store->survey;
    if (!survey->asked || pq.PQstatus(survey->asked) == PQ_CONNECTION_BAD ||
        mishap_store_now_ms() > survey->until_ms)
        return true;
    if (!is_ready(survey, wait_ms))
        return false;
    if (!survey->sent) {
        survey->wants = pq.PQconnectPoll(survey->asked);
        if (survey->wants != PQ_POLLING_OK)
            return survey->wants == PQ_POLLING_FAILED;
        survey->wants = PQ_POLLING_READING;
        survey->sent = pq.PQsendQuery(survey->asked, mishap_postgresql_ask_peer);
        return !survey->sent;
    }
    if (!pq.PQconsumeInput(survey->asked))
        return true;
    if (pq.PQisBusy(survey->asked))
        return false;
    pq_result *result = pq.PQgetResult(survey->asked);
    hear_host(store, result);
    pq.PQclear(result);
    return true;
}

/* False: all hosts were asked. */
static bool step_survey(postgresql_store *store, const postgresql_hosts *hosts, int wait_ms)
{
    postgresql_survey *survey = &store->survey;
    if (!survey->asked && !begin_host(store, hosts)) {
        *survey = (postgresql_survey){ .due_ms = mishap_store_now_ms() + PAUSE_MS };
        return false;
    }
    if (ask_host(store, wait_ms))
        finish_host(survey);
    return true;
}

void mishap_postgresql_survey(postgresql_store *store)
{
    postgresql_hosts hosts;
    mishap_postgresql_read_hosts(store, &hosts);
    while (hosts.count > 1 && step_survey(store, &hosts, STEP_MS))
        continue;
}

void mishap_store_survey(mishap_store *base)
{
    postgresql_store *store = (postgresql_store *)base;
    postgresql_hosts hosts;
    if (!store->survey.asked && mishap_store_now_ms() < store->survey.due_ms)
        return;
    mishap_postgresql_read_hosts(store, &hosts);
    if (hosts.count > 1)
        step_survey(store, &hosts, 0);
    else
        store->survey.due_ms = INT64_MAX;
}

store_timelines *mishap_store_timelines(mishap_store *base)
{
    return &((postgresql_store *)base)->timelines;
}
