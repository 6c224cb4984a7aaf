/* The process of a session: SBCL with the core of the prelude, in a sandbox. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mishap/worker.h>

#include "lisp/lisp.h"

#define CORE    "mishap-lisp.core"
#define SOURCES "/usr/share/common-lisp/source" /* where Debian has the libraries of Lisp */

enum { HEAP_MB = 256, AROUND_MB = 400, TEMPORARY_MB = 16 };

static char core[PATH_MAX];

static const char *const arguments[] = {
    "--core",
    core,
    "--noinform",
    "--disable-ldb",
    "--dynamic-space-size",
    "256MB",
    "--control-stack-size",
    "2MB",
    "--end-runtime-options",
    "--folder",
    SOURCES,
    NULL,
};
static const char *const readable[] = { MISHAP_SANDBOX_LIBRARIES, LISP_SBCL, core, SOURCES, NULL };

static const mishap_sandbox_profile profile = {
    .readable = readable,
    .temporary_bytes = (uint64_t)TEMPORARY_MB << 20,
    .memory_bytes = (uint64_t)(HEAP_MB + AROUND_MB) << 20,
    .address_bytes = (uint64_t)(HEAP_MB + AROUND_MB) << 20,
    .cpu_seconds = 3600,
};

/* -- where it is ------------------------------------------------------------------------------- */

void lisp_locate(void)
{
    /* Beside the program in the tree of a build, or as it is installed: how many folders up, and
     * down from there. */
    static const struct {
        int up;
        const char *down;
    } places[] = { { 1, "services/lisp" },
                   { 2, "services/lisp" },
                   { 2, LISP_LIBRARIES "/mishap" } };
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    for (size_t i = 0; length > 0 && i < sizeof places / sizeof *places; i++) {
        size_t folder = (size_t)length;
        for (int up = places[i].up; up > 0 && folder > 0; up--) {
            const char *slash = memrchr(program, '/', folder);
            folder = slash ? (size_t)(slash - program) : 0;
        }
        int needed = snprintf(core, sizeof core, "%.*s/%s/" CORE, (int)folder, program,
                              places[i].down);
        if (needed > 0 && (size_t)needed < sizeof core && access(core, R_OK) == 0)
            return;
    }
    core[0] = '\0';
}

static mishap *usable(void)
{
    if (access(LISP_SBCL, X_OK) != 0)
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "SBCL, which runs Lisp, is not on this machine."),
            "Install the package sbcl.");
    if (core[0] == '\0')
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "The core of the Lisp service is missing."),
            "Install the package sbcl, then build and install Mishap again.");
    return NULL;
}

/* -- how it ends ------------------------------------------------------------------------------- */

static bool says(const mishap_foreign_end *end, const char *words)
{
    return end->output.length && memmem(end->output.data, end->output.length, words, strlen(words));
}

/* The report that the session could not write any more. */
static mishap *ended(const mishap_foreign_end *end)
{
    mishap *m;
    if (end->timed_out || end->cancelled) {
        m = end->timed_out
                ? mishap_raise(TIMEOUT, "The evaluation took too long and did not stop when "
                                        "it was interrupted.")
                : mishap_raise(CANCELLED, "The evaluation was cancelled and did not stop when "
                                          "it was interrupted.");
        mishap_type(m, end->timed_out ? "TIMEOUT" : "INTERRUPTED");
    } else if (says(end, "Control stack exhausted")) {
        m = mishap_type(mishap_raise(RUNTIME_ERROR, "The control stack is exhausted."),
                        "CONTROL-STACK-EXHAUSTED");
    } else if (says(end, "eap exhausted") ||
               (WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGKILL)) {
        m = mishap_type(mishap_raise(RUNTIME_ERROR, "The memory of the session is exhausted."),
                        "HEAP-EXHAUSTED");
    } else {
        m = mishap_type(mishap_raise(RUNTIME_ERROR, "The code ended the process of its session."),
                        "PROCESS-ENDED");
    }
    return mishap_suggest(
        mishap_tell(m, "session_lost", true),
        "The session begins afresh with the next call: define again what is needed.");
}

static const mishap_foreign sbcl = {
    .program = LISP_SBCL,
    .arguments = arguments,
    .sandbox = &profile,
    .grace_ms = 2000,
    .sessions = true,
    .usable = usable,
    .ended = ended,
};

static void health(const mishap_setup *setup, mishap_health *out)
{
    (void)setup;
    mishap_health_member(out, "sbcl", access(LISP_SBCL, X_OK) == 0 ? "found" : "missing");
    mishap_health_member(out, "core", core[0] ? "found" : "missing");
    mishap_health_sandbox(out);
}

const mishap_service lisp_service = {
    "lisp", "Sessions of Lisp", .dialect = "condition-report", .worker = &sbcl, .health = health,
};
