/*
 * Measuring as ratios inside one run: these machines are noisy, and a ratio of two things measured
 * in turn is not. Each figure is the median of many short rounds, taken alternately.
 */
#ifndef MISHAP_BENCH_MEASURE_H
#define MISHAP_BENCH_MEASURE_H

#include "figure.h"

#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 201, SERIES = 500 };

/* -- measuring --------------------------------------------------------------------------------- */

static inline double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *times, size_t count)
{
    qsort(times, count, sizeof *times, ascending);
    return times[count / 2];
}

typedef void work(void);

/* Nanoseconds a call of the two, measured in turn. */
static inline void compare(work *ours, work *theirs, int series, double *our_ns, double *their_ns)
{
    static double a[ROUNDS], b[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (int i = 0; i < series; i++)
            ours();
        double middle = now_ns();
        for (int i = 0; i < series; i++)
            theirs();
        a[round] = (middle - start) / series;
        b[round] = (now_ns() - middle) / series;
    }
    *our_ns = median(a, ROUNDS);
    *their_ns = median(b, ROUNDS);
}

#endif
