/*
 * Prints a figure and its verdict as the benchmarks in C do, for figures_test.py:
 *
 *     outcome VALUE PLACES AT_MOST
 */
#include "../../bench/measure.h"

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    double value = figure("a figure", strtod(argv[1], NULL));
    int places = (int)strtol(argv[2], NULL, 10);
    printf("%.*f %s\n", places, value, outcome(value, places, strtod(argv[3], NULL)));
    return 0;
}
