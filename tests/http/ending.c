/*
 * A server whose loop can be held up for as long as a test wants. ending_test.py runs it.
 *
 *     ending serve --listen 127.0.0.1:0
 */
#include <mishap/main.h>

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST_LOOKS = 60000, LOOK_MS = 2 };

static const mishap_param hold_params[] = {
    { "file", MISHAP_STRING, .required = true, .length = { 1, 4000 },
      .help = "What is waited for" },
    { 0 },
};

/* Nothing else is read, accepted or answered by this loop until there is such a file. One beside it
 * says that it has begun. */
static mishap *hold(mishap_call *call)
{
    const char *file = mishap_string(call, "file");
    FILE *begun = fopen(mishap_call_print(call, "%s.begun", file), "we");
    if (begun)
        fclose(begun);
    for (int i = 0; i < MOST_LOOKS && access(file, F_OK) != 0; i++)
        poll(NULL, 0, LOOK_MS);
    return mishap_answer_member(call, "held", (bool)true);
}

static const mishap_param number_params[] = {
    { "number", MISHAP_INTEGER, .required = true, .help = "What is told again" },
    { 0 },
};

static mishap *tell(mishap_call *call)
{
    return mishap_answer_member(call, "number", mishap_integer(call, "number"));
}

/* The signals that a program ignores and blocks which a handler starts. */
static mishap *start(mishap_call *call)
{
    char text[200] = "";
    FILE *program = popen("grep -E '^Sig(Ign|Blk)' /proc/self/status", "re");
    size_t length = program ? fread(text, 1, sizeof text - 1, program) : 0;
    if (program)
        pclose(program);
    text[length] = '\0';
    mishap_answer_member(call, "worker", (int64_t)getpid());
    return mishap_answer_member(call, "signals", (const char *)text);
}

static const mishap_operation operations[] = {
    { .name = "hold",
      .summary = "Hold the loop up",
      .route = "GET /hold",
      .params = hold_params,
      .quick = true,
      .run = hold },
    { .name = "tell",
      .summary = "Tell a number",
      .route = "GET /numbers/:number",
      .params = number_params,
      .run = tell },
    { .name = "repeat",
      .summary = "Tell a number at once",
      .route = "GET /numbers/:number/quick",
      .params = number_params,
      .quick = true,
      .run = tell },
    { .name = "start", .summary = "Start a program", .route = "GET /start", .run = start },
    { 0 },
};

int main(int argc, char **argv)
{
    return mishap_main(argc, argv,
                       &(mishap_app){ .name = "ending",
                                      .version = "1.0",
                                      .summary = "A loop that can be held up",
                                      .operations = operations });
}
