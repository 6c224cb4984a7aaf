/*
 * Measuring as ratios inside one run: these machines are noisy, and a ratio of two things measured
 * in turn is not. Each figure is the median of many short rounds, taken alternately.
 *
 * As bench/figures.py does it: a figure of nothing ends the program with 1, a target that is missed
 * is printed.
 */
#ifndef MISHAP_BENCH_MEASURE_H
#define MISHAP_BENCH_MEASURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 201, SERIES = 500 };

/* -- figures ----------------------------------------------------------------------------------- */

/* The program ends: its figures would mean nothing. */
static inline _Noreturn void end_void(const char *what, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "mishap: void: %s: %s\n", what, why);
    exit(1);
}

/* The value, if something was measured. */
static inline double figure(const char *what, double value)
{
    if (!isfinite(value) || value <= 0) {
        char why[64];
        snprintf(why, sizeof why, "%g, so nothing was measured", value);
        end_void(what, why);
    }
    return value;
}

/* Judged by the figure as it is printed, with that many decimal places. */
static inline const char *outcome(double value, int places, double at_most)
{
    char printed[64];
    snprintf(printed, sizeof printed, "%.*f", places, value);
    return strtod(printed, NULL) <= at_most ? "met" : "MISSED";
}

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
