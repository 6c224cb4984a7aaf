/* Inputs that are made to be slow. */
#ifndef BENCH_GUARD_SLOW_H
#define BENCH_GUARD_SLOW_H

/* Search for the text that takes the detector longest, and tell of it. `least` is the goal in MB/s.
 */
void tell_slowest(double least);

#endif
