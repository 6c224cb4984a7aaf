/*
 * Threads that run handlers. A handler that never comes back takes its thread with it, so another
 * takes its place and those who wait behind it are served.
 *
 * A boundary embeds a mishap_job in whatever it keeps of a call.
 */
#ifndef MISHAP_OPERATION_THREADS_H
#define MISHAP_OPERATION_THREADS_H

#include <stdatomic.h>

#include "operation/call.h"

/* A call whose handler runs on another thread. While it runs it is that thread's. */
typedef struct mishap_job {
    void (*run)(struct mishap_job *job); /* on the thread */
    /* Once it has run, on the thread of who asks for finished jobs, if that one shares its threads
     * with others (a process of the HTTP server does). */
    void (*done)(struct mishap_job *job);
    mishap_call *call;
    struct mishap_job *after;         /* in a line of the threads' */
    int64_t begun_ns;                 /* when it began to wait for a thread */
    atomic_int_least64_t deadline_ns; /* of its handler; 0 while it waits for a thread */
    bool lost;                        /* its thread is taken for lost */
} mishap_job;

typedef struct mishap_threads mishap_threads;

/*
 * As many as that at most. A thread is started when there is a job and none is free, for a process
 * with one thread does many things faster. `wake` is called on any thread when a job has run: then
 * mishap_threads_finished() has it.
 */
mishap *mishap_threads_open(int count, void (*wake)(void *state), void *state,
                            mishap_threads **out);

/* Run a job as soon as a thread is free. False: there is none, and none can be started. */
bool mishap_threads_add(mishap_threads *threads, mishap_job *job);

/* The jobs that have run since it was asked last, by `after`; NULL: none. */
mishap_job *mishap_threads_finished(mishap_threads *threads);

/* Take a job back that no thread has begun: true if that was in time. */
bool mishap_threads_take_back(mishap_threads *threads, mishap_job *job);

/* The thread of a job is taken for lost: start another in its place. If it comes back after all, it
 * ends. */
void mishap_threads_replace(mishap_threads *threads, mishap_job *job);

/* Is there a job that waits, runs, or has run and was not asked for? One whose thread is taken for
 * lost counts, too. */
bool mishap_threads_busy(mishap_threads *threads);

/* Wait for all threads and end them. No job may be waiting or running. */
void mishap_threads_close(mishap_threads *threads);

#endif
