/*
 * Calls whose handlers run on threads. The request is answered later: when its job comes back, or
 * when it takes too long.
 */
#include "base/memory.h"
#include "boundary/http/http.h"

static const int64_t longest_wait_ns = INT64_C(10000000000); /* for a thread */

static const mishap_http_settings *settings_of(const mishap_api_job *job)
{
    return mishap_http_settings_of(job->api->server);
}

/* -- beginning and end ------------------------------------------------------------------------- */

static void link_job(mishap_api_job *job)
{
    mishap_api *api = job->api;
    job->next = api->jobs;
    if (job->next)
        job->next->previous = job;
    api->jobs = job;
    api->served->waiting++;
    mishap_http_count(api->server, MISHAP_HTTP_IN_FLIGHT, 1);
}

static void unlink_job(mishap_api_job *job)
{
    mishap_api *api = job->api;
    *(job->previous ? &job->previous->next : &api->jobs) = job->next;
    if (job->next)
        job->next->previous = job->previous;
    api->served->waiting--;
    mishap_http_count(api->server, MISHAP_HTTP_IN_FLIGHT, -1);
}

static void free_job(mishap_api_job *job)
{
    mishap_call_end(job->job.call);
    mishap_http_reply_release(&job->reply);
    mishap_release(job);
}

static void run_job(mishap_job *job)
{
    mishap_api_job_run((mishap_api_job *)(void *)job); /* it is the first member */
}

static void finish_job(mishap_job *job)
{
    mishap_api_job_done((mishap_api_job *)(void *)job);
}

/* The thread may need the request after the peer, and the deferred request with it, is gone. */
static mishap_api_job *make_job(mishap_api *api, const mishap_http_request *request,
                                mishap_call *call)
{
    mishap_text accept = request->fields[MISHAP_HTTP_ACCEPT];
    size_t caller = request->caller ? strlen(request->caller) + 1 : 0;
    mishap_api_job *job = mishap_allocate(sizeof *job + caller + accept.length);
    if (!job)
        return NULL;
    *job = (mishap_api_job){ .job = { .run = run_job, .done = finish_job, .call = call },
                             .api = api };
    memcpy(job->request.id, request->id, sizeof job->request.id);
    if (caller)
        job->request.caller = memcpy(job->text, request->caller, caller);
    if (accept.length)
        job->request.fields[MISHAP_HTTP_ACCEPT] = (mishap_text){
            memcpy(job->text + caller, accept.data, accept.length), accept.length
        };
    return job;
}

/* -- answers ----------------------------------------------------------------------------------- */

static void answer(mishap_api_job *job, mishap_http_reply *reply)
{
    mishap_http_later *later = job->later;
    job->later = NULL;
    if (later)
        mishap_http_later_answer(later, reply);
}

static void answer_busy(mishap_api_job *job)
{
    mishap *busy = mishap_http_busy();
    mishap_http_refuse(&job->reply, settings_of(job), &job->request, busy);
    mishap_free(busy);
    answer(job, &job->reply);
}

/* The peer is gone. The handler can know (mishap_cancelled) and goes on for nobody. */
static void on_closed(mishap_http_later *later)
{
    mishap_api_job *job = later->owner;
    atomic_store(&job->job.call->cancelled, true);
    job->later = NULL;
}

mishap *mishap_api_job_begin(mishap_api *api, const mishap_http_request *request, mishap_call *call)
{
    if (mishap_served_is_busy(api->served))
        return mishap_http_busy();
    mishap_api_job *job = make_job(api, request, call);
    mishap_http_later *later = job ? mishap_http_defer(api->server, request) : NULL;
    if (!later) {
        mishap_release(job);
        return mishap_out_of_memory();
    }
    job->later = later;
    later->owner = job;
    later->closed = on_closed;
    later->half_close = true;
    link_job(job);
    if (api->start(api, job))
        return NULL;
    unlink_job(job);
    answer_busy(job);
    free_job(job);
    return NULL;
}

bool mishap_api_job_start(mishap_api *api, mishap_api_job *job)
{
    return mishap_threads_add(api->served->threads, &job->job);
}

void mishap_api_job_run(mishap_api_job *job)
{
    mishap_api_conclude(settings_of(job), &job->request, job->job.call, &job->reply);
    job->crashed = job->job.call->crashed;
}

void mishap_api_job_done(mishap_api_job *job)
{
    unlink_job(job);
    if (job->crashed) {
        mishap_http_count(job->api->server, MISHAP_HTTP_CRASHES, 1);
        mishap_http_server_taint(job->api->server);
        job->reply.close = true; /* this process is about to drain */
    }
    answer(job, &job->reply);
    free_job(job);
}

/* -- time -------------------------------------------------------------------------------------- */

/* No thread has begun it, and none will. Whoever waits is told that the server is busy. */
static void take_back(mishap_api_job *job)
{
    if (!mishap_threads_take_back(job->api->served->threads, &job->job))
        return; /* now one has */
    unlink_job(job);
    if (job->later)
        answer_busy(job);
    free_job(job);
}

void mishap_api_job_give_up(mishap_api_job *job)
{
    mishap_api *api = job->api;
    mishap_http_reply reply = { 0 };
    mishap *failure = mishap_raise(TIMEOUT, NULL);
    atomic_store(&job->job.call->cancelled, true);
    mishap_http_refuse(&reply, settings_of(job), &job->later->request, failure);
    mishap_api_record(api->served, &job->later->request, job->job.call, NULL, failure);
    answer(job, &reply);
    mishap_http_reply_release(&reply);
    mishap_free(failure);
}

/* A handler that outstays its time is answered for. Its thread is gone until it comes back, if it
 * ever does: another takes its place, and the process is replaced. */
void mishap_api_jobs_sweep(mishap_api *api)
{
    int64_t now = mishap_clock_monotonic_ns();
    for (mishap_api_job *job = api->jobs, *next; job; job = next) {
        int64_t deadline = atomic_load(&job->job.deadline_ns);
        next = job->next;
        if (!deadline) {
            if (!job->later || now - job->job.begun_ns > longest_wait_ns)
                take_back(job);
        } else if (job->later && now >= deadline) {
            mishap_threads_replace(api->served->threads, &job->job);
            mishap_api_job_give_up(job);
            mishap_http_server_taint(api->server);
        }
    }
}
