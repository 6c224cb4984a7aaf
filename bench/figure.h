/*
 * Figures of a benchmark, as bench/figures.py has them: a figure of nothing ends the program with
 * 1, a target that is missed is printed.
 */
#ifndef MISHAP_BENCH_FIGURE_H
#define MISHAP_BENCH_FIGURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

#endif
