#include "operation/threads.h"

#include <pthread.h>
#include <signal.h>

#include "base/memory.h"

enum { MOST_LOST = 256 }; /* threads of one process that may hang; then nobody takes their place */

/* Jobs one after the other, by `after`. */
struct line {
    mishap_job *first, *last;
};

/* All of it is guarded by the lock, but for `wake`, which is set once. */
struct mishap_threads {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct line waiting, finished;
    size_t waiting_count, job_count;  /* jobs: that wait for a thread, that were not handed back */
    size_t most, running, idle, lost; /* threads: allowed, that serve, of those that wait for work,
                                         that are taken for lost */
    bool ending;
    void (*wake)(void *state);
    void *wake_state;
};

static void append(struct line *line, mishap_job *job)
{
    job->after = NULL;
    *(line->last ? &line->last->after : &line->first) = job;
    line->last = job;
}

static mishap_job *take_first(struct line *line)
{
    mishap_job *job = line->first;
    if (job)
        line->first = job->after;
    if (!line->first)
        line->last = NULL;
    return job;
}

static bool take_out(struct line *line, mishap_job *job)
{
    mishap_job *before = NULL, *at = line->first;
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
    mishap_threads *t = state;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        mishap_job *job = NULL;
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
        job->run(job);
        pthread_mutex_lock(&t->lock);
        bool was_lost = job->lost;
        append(&t->finished, job);
        t->wake(t->wake_state);
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
static bool start(mishap_threads *t)
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

/* -- the other side ---------------------------------------------------------------------------- */

mishap *mishap_threads_open(int count, void (*wake)(void *state), void *state, mishap_threads **out)
{
    mishap_threads *t = mishap_allocate(sizeof *t);
    if (!t)
        return mishap_out_of_memory();
    *t = (mishap_threads){ .wake = wake, .wake_state = state, .most = (size_t)count };
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->work, NULL);
    *out = t;
    return NULL;
}

mishap_job *mishap_threads_finished(mishap_threads *t)
{
    pthread_mutex_lock(&t->lock);
    mishap_job *first = t->finished.first;
    for (const mishap_job *job = first; job; job = job->after)
        t->job_count--;
    t->finished = (struct line){ NULL, NULL };
    pthread_mutex_unlock(&t->lock);
    return first;
}

bool mishap_threads_add(mishap_threads *t, mishap_job *job)
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
        t->job_count++;
    }
    pthread_cond_signal(&t->work);
    pthread_mutex_unlock(&t->lock);
    return any;
}

bool mishap_threads_take_back(mishap_threads *t, mishap_job *job)
{
    pthread_mutex_lock(&t->lock);
    bool found = take_out(&t->waiting, job);
    t->waiting_count -= found;
    t->job_count -= found;
    pthread_mutex_unlock(&t->lock);
    return found;
}

bool mishap_threads_busy(mishap_threads *t)
{
    pthread_mutex_lock(&t->lock);
    bool busy = t->job_count > 0;
    pthread_mutex_unlock(&t->lock);
    return busy;
}

void mishap_threads_replace(mishap_threads *t, mishap_job *job)
{
    pthread_mutex_lock(&t->lock);
    bool came_back = false;
    for (const mishap_job *done = t->finished.first; done; done = done->after)
        came_back = came_back || done == job;
    if (!came_back && t->lost < MOST_LOST && start(t)) {
        job->lost = true;
        t->lost++;
    }
    pthread_mutex_unlock(&t->lock);
}

void mishap_threads_close(mishap_threads *t)
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
