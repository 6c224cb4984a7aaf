/*
 * The start of programs, in CPU time: each of them ROUNDS times in turn, STARTS starts a time, and
 * the best of the rounds. One line for each: microseconds a start, with what the system does for
 * the process that starts it.
 *
 *     start ROUNDS STARTS PROGRAM…
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

enum { MOST = 8 };

static double seconds_of(int whose)
{
    struct rusage used;
    getrusage(whose, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static double cpu(void)
{
    return seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN);
}

static void start_once(char *program)
{
    pid_t child;
    int status = 0;
    char *const words[] = { program, NULL };
    if (posix_spawn(&child, program, NULL, NULL, words, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s does not run\n", program);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    double best[MOST];
    if (argc < 4 || argc - 3 > MOST)
        return 2;
    int rounds = atoi(argv[1]), starts = atoi(argv[2]);
    for (int round = 0; round < rounds; round++) {
        for (int i = 3; i < argc; i++) {
            double before = cpu();
            for (int n = 0; n < starts; n++)
                start_once(argv[i]);
            double used = (cpu() - before) / starts * 1e6;
            if (round == 0 || used < best[i - 3])
                best[i - 3] = used;
        }
    }
    for (int i = 3; i < argc; i++)
        printf("%.1f\n", best[i - 3]);
    return 0;
}
