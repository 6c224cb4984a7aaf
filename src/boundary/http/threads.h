/*
 * The threads that run handlers. libuv's own pool would do, but for one thing: a handler that never
 * comes back takes its thread with it. Here another takes its place, so that those who wait behind
 * it are served.
 */
#ifndef MISHAP_BOUNDARY_HTTP_THREADS_H
#define MISHAP_BOUNDARY_HTTP_THREADS_H

#include "boundary/http/server.h"

typedef struct mishap_http_threads mishap_http_threads;

/* As many as that at most. A thread is started when there is a job and none is free, for a process
 * with one thread does many things faster. `done` is called on the thread of the loop for each job
 * that has run. */
mishap *mishap_http_threads_open(uv_loop_t *loop, int count, void (*done)(mishap_http_job *job),
                                 mishap_http_threads **out);

/* Run a job as soon as a thread is free. False: there is none, and none can be started. */
bool mishap_http_threads_add(mishap_http_threads *threads, mishap_http_job *job);

/* Take a job back that no thread has begun: true if that was in time. */
bool mishap_http_threads_take_back(mishap_http_threads *threads, mishap_http_job *job);

/* The thread of a job is taken for lost: start another in its place. If it comes back after all, it
 * ends. */
void mishap_http_threads_replace(mishap_http_threads *threads, mishap_http_job *job);

/* Wait for all threads and end them. No job may be waiting or running. */
void mishap_http_threads_close(mishap_http_threads *threads);

#endif
