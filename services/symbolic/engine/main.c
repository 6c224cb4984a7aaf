/*
 * mishap-symbolic: the symbolic engine.
 *
 *     mishap-symbolic                                   a worker: docs/worker-protocol.md
 *     mishap-symbolic check FILE --function-name f      the same for one file, on a command line
 *     mishap-symbolic find FILE --function-name f --exception-type ValueError
 *     mishap-symbolic compare FILE --function-a f --function-b g
 *     mishap-symbolic branches FILE --function-name f [--no-reachability]
 *     mishap-symbolic health
 *     mishap-symbolic replay --hash-seed N              a replay with other hashes, for itself
 *
 * Witnesses are replayed in a child; with --replay here in this process; with --replay asked, as a
 * worker, by the service that asked (serve.c). With --pool late typical inputs are called only if
 * the paths take long. All take --timeout-seconds N. FILE may be - for standard input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mishap/exits.h"
#include "serve.h"
#include "solver/fault.h"

enum { STACK_MB = 256, MOST_FILE = 1 << 20 };

typedef struct options {
    request request;
    bool worker, asked;
    unsigned long seed;
    int status;
} options;

static int usage(void)
{
    fputs("usage: mishap-symbolic [check|find|compare|branches|run|health] [FILE] "
          "[--function-name F] [--function-a F --function-b G] [--exception-type E] "
          "[--arguments TUPLE] [--timeout-seconds N] [--no-reachability] [--replay "
          "child|here|asked] [--pool first|late]\n",
          stderr);
    return 2;
}

static bool read_code(const char *name, request *r)
{
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    char *code = file ? malloc(MOST_FILE + 1) : NULL;
    if (!code) {
        fprintf(stderr, "mishap-symbolic: %s cannot be read\n", name);
        return false;
    }
    r->code_length = fread(code, 1, MOST_FILE, file);
    code[r->code_length] = '\0';
    r->code = code;
    if (file != stdin)
        fclose(file);
    return true;
}

static bool read_options(int count, char **words, options *o)
{
    request *r = &o->request;
    *r = (request){ .code = "", .function = "", .reachability = true };
    o->worker = count == 1 || words[1][0] == '-';
    r->tool = o->worker ? "" : words[1];
    for (int i = o->worker ? 1 : 2; i < count; i++) {
        const char *word = words[i];
        if (strncmp(word, "--", 2) != 0) {
            if (!read_code(word, r))
                return false;
            continue;
        }
        if (strcmp(word, "--no-reachability") == 0) {
            r->reachability = false;
            continue;
        }
        if (i + 1 == count)
            return false;
        const char *value_of_word = words[++i];
        if (strcmp(word, "--function-name") == 0 || strcmp(word, "--function-a") == 0)
            r->function = value_of_word;
        else if (strcmp(word, "--function-b") == 0)
            r->other = value_of_word;
        else if (strcmp(word, "--exception-type") == 0)
            r->exception_type = value_of_word;
        else if (strcmp(word, "--arguments") == 0)
            r->arguments = value_of_word;
        else if (strcmp(word, "--timeout-seconds") == 0)
            r->seconds = strtod(value_of_word, NULL);
        else if (strcmp(word, "--replay") == 0 && strcmp(value_of_word, "here") == 0)
            replay_set(replay_here);
        else if (strcmp(word, "--replay") == 0 && strcmp(value_of_word, "asked") == 0 && o->worker)
            o->asked = true;
        else if (strcmp(word, "--replay") == 0 && strcmp(value_of_word, "child") == 0)
            replay_set(NULL);
        else if (strcmp(word, "--hash-seed") == 0)
            o->seed = strtoul(value_of_word, NULL, 10);
        else if (strcmp(word, "--pool") == 0 && strcmp(value_of_word, "late") == 0)
            search_pool_late();
        else if (strcmp(word, "--pool") != 0 || strcmp(value_of_word, "first") != 0)
            return false;
    }
    return true;
}

/* Runs on a large stack of its own, since the interpreter is recursive. */
static void *work(void *context)
{
    options *o = context;
    static solver s;
    tree_open(o->seed);
    if (strcmp(o->request.tool, "replay") == 0)
        replay_from_input();
    solver_open(&s);
    if (o->worker)
        serve(&s, o->asked);
    yyjson_mut_doc *private = NULL, *doc = tools_answer(&s, &o->request, &private);
    char *noted = private ? yyjson_mut_write(private, YYJSON_WRITE_PRETTY, NULL) : NULL;
    if (noted)
        fprintf(stderr, "mishap-symbolic: real Python contradicts the engine: %s\n", noted);
    char *words = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);
    if (words)
        puts(words);
    o->status = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "error_type") ? 1 : 0;
    fflush(stdout);
    _exit(o->status);
}

int main(int count, char **words)
{
    options o = { 0 };
    if (!read_options(count, words, &o))
        return usage();
    fault_watch();
    pthread_t thread;
    pthread_attr_t big;
    pthread_attr_init(&big);
    pthread_attr_setstacksize(&big, (size_t)STACK_MB << 20);
    if (pthread_create(&thread, &big, work, &o) != 0) {
        fputs("mishap-symbolic: its thread cannot be started\n", stderr);
        return MISHAP_EXIT_REFUSED;
    }
    pthread_join(thread, NULL);
    return o.status;
}
