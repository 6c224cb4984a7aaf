#include "boundary/http/threads.h"

#include <pthread.h>
#include <signal.h>

#include "base/memory.h"

enum { MOST_LOST = 256 }; /* threads of one worker that may hang; then nobody takes their place */

/* Jobs one after the other, by `after`. */
struct line {
    mishap_http_job *first, *last;
};

/* All of it is guarded by the lock, but for `done`, which is set once, and `wake`, which is the
 * loop's and may be sent to from any thread. */
struct mishap_http_threads {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct line waiting, finished;
    size_t waiting_count;
    size_t most, running, idle, lost; /* threads: allowed, that serve, of those that wait for work,
                                         that are taken for lost */
    bool ending;
    void (*done)(mishap_http_job *job);
    uv_async_t wake;
};

static void append(struct line *line, mishap_http_job *job)
{
    job->after = NULL;
    *(line->last ? &line->last->after : &line->first) = job;
    line->last = job;
}

static mishap_http_job *take_first(struct line *line)
{
    mishap_http_job *job = line->first;
    if (job)
        line->first = job->after;
    if (!line->first)
        line->last = NULL;
    return job;
}

static bool take_out(struct line *line, mishap_http_job *job)
{
    mishap_http_job *before = NULL, *at = line->first;
    for (; at && at != job; at = at->after)
        before = at;
    if (!at)
        return false;
    *(before ? &before->after : &line->first) = job->after;
    if (line->last == job)
        line->last = before;
    return true;
}

/* -- a thread ---------------------------------------------------------------------------------- */

static void *serve(void *state)
{
    mishap_http_threads *t = state;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        mishap_http_job *job = NULL;
        while (!t->ending && !(job = take_first(&t->waiting))) {
            t->idle++;
            pthread_cond_wait(&t->work, &t->lock);
            t->idle--;
        }
        if (!job)
            break;
        t->waiting_count--;
        int64_t now = mishap_clock_monotonic_ns();
        job->call->deadline_ns += now - job->begun_ns; /* waiting was not its handler's fault */
        atomic_store(&job->deadline_ns, job->call->deadline_ns);
        pthread_mutex_unlock(&t->lock);
        mishap_http_job_run(job);
        pthread_mutex_lock(&t->lock);
        bool was_lost = job->lost;
        append(&t->finished, job);
        uv_async_send(&t->wake);
        if (was_lost) {
            t->lost--;
            pthread_mutex_unlock(&t->lock);
            return NULL; /* there is another in its place */
        }
    }
    t->running--;
    pthread_cond_broadcast(&t->work);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Signals are for the thread of the loop; those of a crash come to who crashes in any case. */
static bool start(mishap_http_threads *t)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < 5; i++)
        sigdelset(&all, (int[]){ SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT }[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, serve, t) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}

/* -- the loop's side --------------------------------------------------------------------------- */

static void on_wake(uv_async_t *wake)
{
    mishap_http_threads *t = wake->data;
    pthread_mutex_lock(&t->lock);
    mishap_http_job *job = t->finished.first;
    t->finished = (struct line){ NULL, NULL };
    pthread_mutex_unlock(&t->lock);
    while (job) {
        mishap_http_job *next = job->after;
        t->done(job);
        job = next;
    }
}

mishap *mishap_http_threads_open(uv_loop_t *loop, int count, void (*done)(mishap_http_job *job),
                                 mishap_http_threads **out)
{
    mishap_http_threads *t = mishap_allocate(sizeof *t);
    if (!t)
        return mishap_out_of_memory();
    *t = (mishap_http_threads){ .done = done, .most = (size_t)count };
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    int error = uv_async_init(loop, &t->wake, on_wake);
    t->wake.data = t;
    *out = t;
    return error ? mishap_raise(INTERNAL_ERROR, "The loop cannot be woken: %s.", uv_strerror(error))
                 : NULL;
}

bool mishap_http_threads_add(mishap_http_threads *t, mishap_http_job *job)
{
    job->begun_ns = mishap_clock_monotonic_ns();
    atomic_store(&job->deadline_ns, 0);
    job->lost = false;
    pthread_mutex_lock(&t->lock);
    if (t->waiting_count >= t->idle && t->running < t->most)
        t->running += start(t);
    bool any = t->running > 0;
    if (any) {
        append(&t->waiting, job);
        t->waiting_count++;
    }
    pthread_cond_signal(&t->work);
    pthread_mutex_unlock(&t->lock);
    return any;
}

bool mishap_http_threads_take_back(mishap_http_threads *t, mishap_http_job *job)
{
    pthread_mutex_lock(&t->lock);
    bool found = take_out(&t->waiting, job);
    t->waiting_count -= found;
    pthread_mutex_unlock(&t->lock);
    return found;
}

void mishap_http_threads_replace(mishap_http_threads *t, mishap_http_job *job)
{
    pthread_mutex_lock(&t->lock);
    if (t->lost < MOST_LOST && start(t)) {
        job->lost = true;
        t->lost++;
    }
    pthread_mutex_unlock(&t->lock);
}

void mishap_http_threads_close(mishap_http_threads *t)
{
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    pthread_cond_broadcast(&t->work);
    while (t->running)
        pthread_cond_wait(&t->work, &t->lock);
    pthread_mutex_unlock(&t->lock);
    pthread_cond_destroy(&t->work);
    pthread_mutex_destroy(&t->lock);
    mishap_release(t);
}
