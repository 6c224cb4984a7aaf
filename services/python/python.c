/* The operations that run Python, and the program that runs them: its path, its sandbox, how it
 * ends. */
#include "python/python.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mishap/worker.h>

#include "beside.h"
#include "services_found.h"

enum {
    MOST_SECONDS = 60,
    MOST_MEMORY_MB = 512,
    AROUND_MB = 128,    /* memory of the interpreter and of native code, beside the limit */
    LIBRARIES_MB = 400, /* mappings of files, and stacks of threads */
    THREADS = 16,
};

/* -- the program ------------------------------------------------------------------------------- */

static service_file program = { "python", "mishap-python", X_OK, "" };

const char *python_program(void)
{
    return service_file_path(&program);
}

/* Python's library, the libraries that it needs, and the time zones. The program can write to no
 * file. */
#define LIBRARIES_OF(machine) "/lib/" machine "-linux-gnu", "/usr/lib/" machine "-linux-gnu"
const char *const python_readable[] = {
#if defined(__x86_64__)
    LIBRARIES_OF("x86_64"),
#elif defined(__aarch64__)
    LIBRARIES_OF("aarch64"),
    "/lib/ld-linux-aarch64.so.1",
#else
    "/lib",   "/usr/lib",
#endif
    "/lib64",
    "/etc/ld.so.cache",
    PYTHON_LIBRARY,
    "/usr/share/zoneinfo",
    NULL
};

static const mishap_sandbox_profile profile = {
    .readable = python_readable,
    .memory_bytes = (uint64_t)(MOST_MEMORY_MB + AROUND_MB) << 20,
    .address_bytes = (uint64_t)(MOST_MEMORY_MB + AROUND_MB + LIBRARIES_MB) << 20,
    .cpu_seconds = MOST_SECONDS + 10,
    .threads = THREADS,
};

/* A build without Python does not have the program. */
static mishap *prepare_python(const mishap_setup *setup)
{
    (void)setup;
    (void)python_program();
    return NULL;
}

static bool is_there(void)
{
#ifdef PYTHON_SHARED
    if (access(PYTHON_SHARED, R_OK) != 0)
        return false;
#endif
    return access(PYTHON_LIBRARY "/encodings/__init__.py", R_OK) == 0;
}

static mishap *python_is_usable(void)
{
    if (!python_program())
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "The program that runs Python is missing: Mishap was "
                                         "built without Python (package python3-dev)."),
            "Install the package mishap-services. For a build from source, install the package "
            "python3-dev, then build and install Mishap again.");
    if (!is_there())
        return mishap_suggest(mishap_raise(NOT_CONFIGURED,
                                           "Python " PYTHON_VERSION
                                           " is not installed (package libpython" PYTHON_VERSION
                                           ")."),
                              "Install the package libpython" PYTHON_VERSION ".");
    return NULL;
}

#define NOT_IN_TIME    "The code was not finished in time."
#define CANCELLED_CALL "The call was cancelled."

/* The failure that the process could not report itself any more. */
static mishap *tell_python_end(const mishap_foreign_end *end)
{
    if (end->timed_out)
        return mishap_tell(mishap_raise(TIMEOUT, NOT_IN_TIME), "kind", "timeout");
    if (end->cancelled)
        return mishap_tell(mishap_raise(CANCELLED, CANCELLED_CALL), "kind", "cancelled");
    if (end->exceeded && strcmp(end->exceeded, "memory") == 0)
        return mishap_tell(
            mishap_raise(RUNTIME_ERROR, "The code needs more memory than it may have."), "kind",
            "memory");
    if (end->exceeded)
        return mishap_tell(
            mishap_raise(RUNTIME_ERROR, "The code has more %s than it may have.", end->exceeded),
            "kind", "died");
    bool crashed = end->status != -1 && WIFSIGNALED(end->status) &&
                   WTERMSIG(end->status) != SIGKILL && !end->broke;
    return mishap_tell(mishap_raise(RUNTIME_ERROR, crashed ? "The code crashed its process."
                                                           : "The code ended its process."),
                       "kind", "died");
}

/* The failures that code may claim for its process once it runs. */
static const mishap_foreign_code code_of_callers = {
    .raises = MISHAP_RAISES(RUNTIME_ERROR),
    .context = MISHAP_CHOICES("kind", "line", "bases", "cut"),
    .type = "Exception",
    .timed_out = NOT_IN_TIME,
    .cancelled = CANCELLED_CALL,
};

static const mishap_foreign cpython = {
    .program = program.path,
    .sandbox = &profile,
    .limit_param = "timeout",
    .usual_limit_ms = 6 * 1000,
    .untimed = true,
    .grace_ms = 1500, /* on a busy machine it may get no processor time for a second */
    .once = true,
    .code = &code_of_callers,
    .usable = python_is_usable,
    .ended = tell_python_end,
};

/* -- whether it works -------------------------------------------------------------------------- */

const service_part python_parts[] = {
    { "python3", "running Python", "python3", NULL },
    { "mishap-python", "running Python", "python3-dev", python_program },
    { 0 },
};

/* python.run */
static const mishap_trial trial = { python_operations,
                                    "{\"code\":\"def run(a, b):\\n    return a + b\\n\","
                                    "\"args\":\"[1, 2]\",\"timeout\":10}",
                                    "result", "3" };

static void tell_health(const mishap_setup *setup, mishap_health *out)
{
    (void)setup;
    mishap_health_member(out, "python", python_program() ? PYTHON_VERSION : "missing");
    mishap_health_sandbox(out);
}

const mishap_service python_service = {
    .name = "python",
    .summary = "Python in a sandbox",
    .worker = &cpython,
    .prepare = prepare_python,
    .health = tell_health,
    .trial = &trial,
};

/* -- the operations ---------------------------------------------------------------------------- */

/* clang-format off */
#define LIMITS                                                                                     \
    { "timeout", MISHAP_NUMBER, .range = { 0.001, MOST_SECONDS }, .initial = "5",                  \
      .help = "Seconds that the code has" },                                                       \
    { "memory_mb", MISHAP_INTEGER, .range = { 1, MOST_MEMORY_MB }, .initial = "128",               \
      .help = "Megabytes that the code has, beside the interpreter itself" }
#define CODE                                                                                       \
    { "code", MISHAP_STRING, .required = true, .positional = true, .length = { 1, 1 << 20 },       \
      .help = "The source of a module" }
#define OUTPUT                                                                                     \
    { "stdout", MISHAP_STRING, .required = true, .help = "What the code wrote to standard output" }, \
    { "stderr", MISHAP_STRING, .help = "What the code wrote to standard error" },                  \
    { "cut", MISHAP_BOOLEAN, .help = "Whether not all of it was kept" }
#define BY_PYTHON                                                                                  \
    .run = mishap_foreign_run, .service = &python_service, .group = "Python",                      \
    .timeout_ms = (MOST_SECONDS + 2) * 1000,                                                       \
    .raises = MISHAP_RAISES(SYNTAX_ERROR, RUNTIME_ERROR, INVALID_ARGUMENT, NOT_CONFIGURED)
/* clang-format on */

static const mishap_param a_literal = { "literal", MISHAP_STRING, .help = "A Python literal" };
static const mishap_param a_name = { "name", MISHAP_STRING, .help = "The name of a class" };
static const mishap_param a_frame = { "frame", MISHAP_STRING, .help = "A function and its line" };

static const mishap_param to_run[] = {
    CODE,
    { "args", MISHAP_STRING, .help = "The arguments of the function run: a JSON array" },
    LIMITS,
    { 0 },
};
/* There is also `result`, which is any JSON value. */
static const mishap_param was_run[] = { OUTPUT, { 0 } };

static const mishap_param to_call[] = {
    CODE,
    { "function", MISHAP_STRING, .required = true, .length = { 1, 200 },
      .help = "The name of the function" },
    { "args", MISHAP_ARRAY, .items = &a_literal, .length = { 0, 1000 },
      .help = "Its arguments, as Python writes them" },
    { "kwargs", MISHAP_OBJECT, .help = "Its arguments by name, as Python writes them" },
    LIMITS,
    { 0 },
};
static const mishap_param was_called[] = {
    { "outcome", MISHAP_ENUM, .required = true, .choices = MISHAP_CHOICES("returned", "raised"),
      .help = "How the function ended" },
    { "result", MISHAP_STRING, .help = "What it returned, as Python writes it" },
    { "type", MISHAP_STRING, .help = "The class of that" },
    { "literal", MISHAP_BOOLEAN, .help = "Whether it is written as a literal" },
    { "exception", MISHAP_STRING, .help = "The class of what it raised" },
    { "bases", MISHAP_ARRAY, .items = &a_name, .help = "The class and its bases" },
    { "message", MISHAP_STRING, .help = "The words of the exception" },
    { "line", MISHAP_INTEGER, .help = "The line of the code; 0: none" },
    { "backtrace", MISHAP_ARRAY, .items = &a_frame, .help = "The lines, the innermost first" },
    OUTPUT,
    { 0 },
};

const mishap_operation python_operations[] = {
    { "python.run", "Run the function run of a module", to_run, .route = "POST /python/run",
      .answers = was_run, BY_PYTHON },
    { "python.call", "Call a function of a module with Python's own values", to_call,
      .route = "POST /python/call", .answers = was_called, BY_PYTHON },
    { 0 },
};
