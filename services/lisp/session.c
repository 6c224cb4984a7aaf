/* The process of a session: SBCL with the core of the prelude, in a sandbox. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mishap/exits.h>
#include <mishap/worker.h>

#include "beside.h"
#include "lisp/lisp.h"
#include "services_found.h"

#define CORE    "mishap-lisp.core"
#define SOURCES "/usr/share/common-lisp/source" /* where Debian installs libraries of Lisp */

/* Memory that it may use beside its heap: the core, native memory and the temporary folder. */
enum { BESIDE_MB = 192, TEMPORARY_MB = 16, MOST_FOLDERS = 16 };

/* Private memory counts as soon as it is reserved. So the limit has to include what SBCL reserves
 * and never uses, and native memory that the code can use, both beside the heap. */
enum {
    NATIVE_MB = BESIDE_MB - 32, /* the core takes 24, and there are page tables */
    UNUSED_MB = LISP_RESERVED_MB < 0 ? 400 - NATIVE_MB : LISP_RESERVED_MB,
};

/* Address space: beside its heap SBCL 2.2 reserves 210 MB on x86-64, SBCL 2.5 430 MB. Both reserve
 * 30 MB on arm64. */
enum { ADDRESSES_MB = 620 };

/* -- what an operator can set ------------------------------------------------------------------ */

static const mishap_param a_folder = { "folder", MISHAP_STRING, .length = { 1, 1000 },
                                       .pattern = "^/", .looks = "an absolute path" };
static const mishap_param settings[] = {
    { "folder", MISHAP_ARRAY, .items = &a_folder, .length = { 0, MOST_FOLDERS },
      .initial = "[\"" SOURCES "\"]", .placeholder = "PATH",
      .help = "A folder that sessions may read and load files from" },
    { "heap_mb", MISHAP_INTEGER, .range = { 64, 16384 }, .initial = "256", .placeholder = "N",
      .help = "Size of the heap of a session, in MB" },
    { "idle_minutes", MISHAP_INTEGER, .range = { 1, 10080 }, .initial = "30", .placeholder = "N",
      .help = "A session without a call for so many minutes is ended" },
    { "caller_mb", MISHAP_INTEGER, .range = { 64, 1048576 }, .initial = "1024", .placeholder = "N",
      .help = "Most MB that the sessions of one caller hold together, at least what one may hold; "
              "above this the largest is ended after its call" },
    { "sessions", MISHAP_INTEGER, .range = { 1, 1000 }, .initial = "128", .placeholder = "N",
      .help = "Most sessions that a server has at once; never more than an eighth of its limit of "
              "open files" },
    { "waiting", MISHAP_INTEGER, .range = { 0, 1 }, .initial = "1", .placeholder = "N",
      .help = "Processes that wait for the next session, so that its first call finds one; each "
              "holds about 10 MB" },
    { "sbcl", MISHAP_STRING, .length = { 1, 1000 }, .pattern = "^/", .looks = "an absolute path",
      .initial = "\"" LISP_SBCL "\"", .placeholder = "PATH", .file = true,
      .help = "Path of SBCL; its version must be the one that Mishap was built with" },
    { 0 },
};

/* -- where it is ------------------------------------------------------------------------------- */

static service_file core = { "lisp", CORE, R_OK, "" };

const char *lisp_core(void)
{
    return service_file_path(&core);
}

/* -- how it is started ------------------------------------------------------------------------- */

static char heap[32];

/* The settings fill in the folders at the end of both lists. */
enum { OPTIONS = 9, PATHS = 6 };
static const char *arguments[OPTIONS + 2 * MOST_FOLDERS + 1] = {
    "--core",
    core.path,
    "--noinform",
    "--disable-ldb",
    "--dynamic-space-size",
    heap,
    "--control-stack-size",
    "2MB",
    "--end-runtime-options",
};
static const char *readable[PATHS + MOST_FOLDERS + 1] = { MISHAP_SANDBOX_LIBRARIES, LISP_SBCL,
                                                          core.path };

static mishap_sandbox_profile profile = {
    .readable = readable,
    .temporary_bytes = (uint64_t)TEMPORARY_MB << 20,
    .cpu_seconds = 3600,
    .shares = MISHAP_SHARES_TIMERS, /* one timer, which SBCL makes before it runs code */
    .small_pages = true,            /* SBCL touches a few pages in each of its spaces */
};

static mishap *lisp_is_usable(void);
static mishap *tell_lisp_end(const mishap_foreign_end *end);

/* The failures that code of a session may claim for its process. An evaluation that aborts itself
 * is CANCELLED. */
static const mishap_foreign_code code_of_callers = {
    .raises = MISHAP_RAISES(SIMPLE_ERROR, TYPE_ERROR, UNDEFINED_FUNCTION, UNBOUND_VARIABLE,
                            DIVISION_BY_ZERO, PROGRAM_ERROR, PACKAGE_ERROR, READER_ERROR,
                            END_OF_FILE, RUNTIME_ERROR, CANCELLED),
    .context = MISHAP_CHOICES("restarts", "stderr", "warnings", "suspended"),
    .type = "CONDITION",
    .conditions = true,
    .timed_out = "The evaluation took longer than %s.",
    .ends = "lisp.reset",
};

static mishap_foreign sbcl = {
    .program = LISP_SBCL,
    .arguments = arguments,
    .sandbox = &profile,
    .grace_ms = 5000, /* on a busy machine it may get no processor time for a second or two */
    .limit_param = "timeout",
    .usual_limit_ms = 60 * 1000,
    .sessions = true,
    .code = &code_of_callers,
    .usable = lisp_is_usable,
    .ended = tell_lisp_end,
};

static mishap *prepare_lisp(const mishap_setup *setup)
{
    const mishap_call *set = setup->settings;
    int heap_mb = (int)mishap_integer(set, "heap_mb");
    size_t count = 0;
    for (const mishap_call *item = mishap_first(set, "folder"); item && count < MOST_FOLDERS;
         item = mishap_next(item), count++) {
        const char *folder = mishap_string(item, "");
        arguments[OPTIONS + 2 * count] = "--folder";
        arguments[OPTIONS + 2 * count + 1] = readable[PATHS + count] = folder;
    }
    arguments[OPTIONS + 2 * count] = readable[PATHS + count] = NULL;
    snprintf(heap, sizeof heap, "%dMB", heap_mb);
    profile.memory_bytes = (uint64_t)(heap_mb + UNUSED_MB + NATIVE_MB) << 20;
    profile.address_bytes = (uint64_t)(heap_mb + ADDRESSES_MB) << 20;
    profile.resident_bytes = (uint64_t)(heap_mb + BESIDE_MB) << 20;
    sbcl.caller_bytes = (uint64_t)mishap_integer(set, "caller_mb") << 20;
    if (sbcl.caller_bytes < profile.resident_bytes)
        sbcl.caller_bytes = profile.resident_bytes; /* one session may use all of it */
    sbcl.program = readable[PATHS - 2] = mishap_string(set, "sbcl");
    sbcl.idle_ms = (int)mishap_integer(set, "idle_minutes") * 60 * 1000;
    sbcl.most_sessions = (int)mishap_integer(set, "sessions");
    sbcl.waits = mishap_integer(set, "waiting") > 0;
    lisp_core();
    return NULL;
}

static mishap *lisp_is_usable(void)
{
    if (access(sbcl.program, X_OK) != 0)
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED, "SBCL, which runs Lisp, is not installed (package sbcl)."),
            "Install the package sbcl, or set --lisp-sbcl to the path of SBCL.");
    if (!lisp_core())
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED,
                         "The core of the Lisp service is missing: Mishap was built "
                         "without SBCL (package sbcl)."),
            "Install the package mishap-services. For a build from source, install the package "
            "sbcl, then build and install Mishap again.");
    return NULL;
}

/* -- how it ends ------------------------------------------------------------------------------- */

static bool says(const mishap_foreign_end *end, const char *words)
{
    return end->output.length && memmem(end->output.data, end->output.length, words, strlen(words));
}

/* A handler of the exhaustion may exhaust the rest of the stack, too: SBCL then reports that it has
 * disabled the guard page of the stack, and exits. */
static bool stack_was_exhausted(const mishap_foreign_end *end)
{
    return says(end, "Control stack exhausted") ||
           (says(end, "guard page unprotected") && says(end, "fatal error encountered"));
}

/* The code may have closed the socket: then the connection breaks at once, or the session notices
 * it when it writes its answer. */
static bool connection_was_broken(const mishap_foreign_end *end)
{
    return end->broke || (end->status != -1 && WIFEXITED(end->status) &&
                          WEXITSTATUS(end->status) == MISHAP_EXIT_CUT_OFF);
}

/* The report that the session could not write itself any more. */
static mishap *tell_lisp_end(const mishap_foreign_end *end)
{
#define AFRESH " The session starts fresh with the next call: its definitions are gone."
    mishap *m;
    if (end->timed_out)
        m = mishap_type(mishap_raise(TIMEOUT, "The evaluation took too long and did not stop when "
                                              "it was interrupted." AFRESH),
                        "TIMEOUT");
    else if (end->cancelled)
        m = mishap_type(mishap_raise(CANCELLED, "The evaluation was cancelled and did not stop "
                                                "when it was interrupted." AFRESH),
                        "INTERRUPTED");
    else if (stack_was_exhausted(end))
        m = mishap_type(mishap_raise(RUNTIME_ERROR, "The control stack is exhausted." AFRESH),
                        "CONTROL-STACK-EXHAUSTED");
    else if (end->exceeded && strcmp(end->exceeded, "memory") != 0)
        m = mishap_type(mishap_raise(RUNTIME_ERROR,
                                     "The session has more %s than it may have." AFRESH,
                                     end->exceeded),
                        "PROCESS-ENDED");
    else if (end->exceeded || says(end, "eap exhausted") ||
             (!end->broke && WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGKILL))
        m = mishap_type(
            mishap_raise(RUNTIME_ERROR, "The memory of the session is exhausted." AFRESH),
            "HEAP-EXHAUSTED");
    else if (connection_was_broken(end))
        m = mishap_type(mishap_raise(RUNTIME_ERROR, "The code broke the connection of its session, "
                                                    "whose process was ended." AFRESH),
                        "PROCESS-ENDED");
    else
        m = mishap_type(
            mishap_raise(RUNTIME_ERROR, "The code ended the process of its session." AFRESH),
            "PROCESS-ENDED");
    return mishap_suggest(mishap_tell(m, "session_lost", true), "Define again what is needed.");
}

/* -- whether it works -------------------------------------------------------------------------- */

const service_part lisp_parts[] = {
    { "sbcl", "evaluating Lisp", "sbcl", NULL },
    { "mishap-lisp.core", "evaluating Lisp", "sbcl", lisp_core },
    { 0 },
};

/* lisp.evaluate */
static const mishap_trial trial = { lisp_operations, "{\"code\":\"(+ 1 2)\"}", "values",
                                    "[\"3\"]" };

static void tell_health(const mishap_setup *setup, mishap_health *out)
{
    (void)setup;
    mishap_health_member(out, "sbcl", access(sbcl.program, X_OK) == 0 ? "found" : "missing");
    mishap_health_member(out, "core", lisp_core() ? "found" : "missing");
    mishap_health_sandbox(out);
}

const mishap_service lisp_service = {
    .name = "lisp",
    .summary = "Sessions of Lisp",
    .dialect = "condition-report",
    .raises = MISHAP_RAISES(TYPE_ERROR, UNDEFINED_FUNCTION, UNBOUND_VARIABLE, DIVISION_BY_ZERO,
                            PROGRAM_ERROR, PACKAGE_ERROR, READER_ERROR, END_OF_FILE, SIMPLE_ERROR,
                            RUNTIME_ERROR, NOT_FOUND, NOT_CONFIGURED),
    .worker = &sbcl,
    .settings = settings,
    .prepare = prepare_lisp,
    .health = tell_health,
    .trial = &trial,
};
