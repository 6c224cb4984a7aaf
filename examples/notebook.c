/*
 * Python code that callers send: another program runs the calls of a service, in a sandbox, and
 * each session keeps its variables. notebook.py is that program; FOLDER is the folder that has it.
 *
 *     notebook python run 'answer = 6 * 7'
 *     notebook serve
 *     curl -i --json '{"code":"x = 41"}' localhost:8080/python
 *
 * notebook_test.c has its tests.
 */
#include <mishap/main.h>
#include <mishap/worker.h>

#define SCRIPT FOLDER "/notebook.py"

/* What Python may read, and how much memory and time a process has. All else is refused. */
static const char *const readable[] = { MISHAP_SANDBOX_LIBRARIES, SCRIPT, NULL };
static const mishap_sandbox_profile profile = { .readable = readable,
                                                .memory_bytes = 256 << 20,
                                                .cpu_seconds = 600 };

static const char *const arguments[] = { "-I", SCRIPT, NULL };
static const mishap_foreign interpreter = {
    .program = "/usr/bin/python3", .arguments = arguments, .sandbox = &profile, .sessions = true
};
static const mishap_service python = { "python", "Python in a sandbox", .worker = &interpreter };

static const mishap_operation operations[] = {
    { "python.run", "Run Python code; the answer is the variable `answer`", .route = "POST /python",
      .run = mishap_foreign_run, .service = &python,
      .params = MISHAP_PARAMS({ "code", MISHAP_STRING, .required = true, .positional = true },
                              MISHAP_SESSION_PARAM),
      .answers = MISHAP_PARAMS({ "answer", MISHAP_STRING, .required = true },
                               MISHAP_SESSION_ANSWER),
      .raises = MISHAP_RAISES(RUNTIME_ERROR, NOT_FOUND, NOT_CONFIGURED) },
    { 0 }
};

static const mishap_app notebook = { .name = "notebook",
                                     .version = "1.0",
                                     .operations = operations };

int main(int argc, char **argv)
{
    return mishap_main(argc, argv, &notebook);
}
