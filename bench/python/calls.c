/*
 * One call of Python for a service, beside the start of `python3 -c 1`, in turn:
 *
 *     python_calls [ROUNDS]
 *
 * cold: the process is started for the call. warm: it was started before and waits. Both have in
 * them that the process of the next call is launched.
 */
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "measure.h"
#include "python/python.h"

enum { MOST_ROUNDS = 1000, SETTLE_MS = 60 };

static double now_ms(void)
{
    return now_ns() / 1e6;
}

static double run_bare(const char *const *words)
{
    pid_t pid;
    int status;
    char *none[] = { NULL };
    double begun = now_ms();
    if (posix_spawn(&pid, words[0], NULL, NULL, (char *const *)(uintptr_t)words, none) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0)
        end_void(words[0], "it cannot be run");
    return now_ms() - begun;
}

static double run_ours(void)
{
    mishap_answered *answered = NULL;
    double begun = now_ms();
    mishap *failure = python_run(&(python_code){ .code = "def run(a, b): return a + b" }, "[1,2]",
                                 &answered);
    double took = now_ms() - begun;
    if (failure) {
        mishap_text words = mishap_public_message(mishap_told(failure));
        fprintf(stderr, "mishap: %.*s\n", (int)words.length, words.data);
        end_void("a call", "it fails");
    }
    if (!answered->text.data || !strstr(answered->text.data, "\"result\":3"))
        end_void("a call", "1 + 2 is not 3");
    mishap_answered_free(answered);
    return took;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = { "/usr/bin/python3", "-c", "1", NULL };
    static const char *const plain[] = { "/usr/bin/python3", "-I", "-S", "-B", "-c",
                                         "import json",      NULL };
    static double bare[MOST_ROUNDS], script[MOST_ROUNDS], cold[MOST_ROUNDS], warm[MOST_ROUNDS];
    size_t rounds = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 100;
    if (rounds < 1 || rounds > MOST_ROUNDS)
        return 2;
    run_ours(); /* the sandbox is prepared once */
    for (size_t i = 0; i < rounds; i++) {
        bare[i] = run_bare(usual);
        script[i] = run_bare(plain);
        python_cool();
        cold[i] = run_ours();
        poll(NULL, 0, SETTLE_MS); /* the next one is ready then */
        warm[i] = run_ours();
        poll(NULL, 0, SETTLE_MS);
    }
    python_cool();
    double start = figure("python3 -c 1", median(bare, rounds));
    double prelude = figure("python3 with json", median(script, rounds));
    double first = figure("a cold call", median(cold, rounds));
    double next = figure("a warm call", median(warm, rounds));
    printf("python3 -c 1                       %7.2f ms\n", start);
    printf("python3 -I -S -B, with json        %7.2f ms   %5.2fx\n", prelude, prelude / start);
    printf("a call, its process started for it %7.2f ms   %5.2fx   %s (at most 3x)\n", first,
           first / start, outcome(first / start, 2, 3));
    printf("a call, its process waited         %7.2f ms   %5.2fx   %s (at most 5 ms)\n", next,
           next / start, outcome(next, 2, 5));
    return 0;
}
