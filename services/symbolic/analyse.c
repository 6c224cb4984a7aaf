/*
 * One analysis. The engine is a foreign program with a private list of operations. Its process is
 * kept from call to call, so that most calls find one that waits.
 *
 * The engine runs no code of callers. When it has found an input, it answers the call with that
 * input. A process of CPython calls the code with it, and the result goes to the engine with the
 * operation `engine.replayed`, until an answer is the last one. In between the engine reports what
 * it has found so far (`so_far`), which the caller gets if the engine does not stop in time.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "beside.h"
#include "python/python.h"
#include "services_found.h"
#include "symbolic/engine/replay/replay_driver.h"
#include "symbolic/symbolic.h"

enum {
    AROUND_MB = 1024, /* beside its memory: libraries, and 256 MB of address space for its stack */
    TO_ANSWER_MS = 200,  /* time that the engine reserves for its answer */
    GRACE_MS = 1500,     /* … until it is killed; a garbage collection of a solver takes long */
    LATE_MS = 10 * 1000, /* an engine that asks for replays after its time is given up then */
    REPLAY_MEMORY_MB = 512,
};

/* -- the program ------------------------------------------------------------------------------- */

static service_file program = { "symbolic", "mishap-symbolic", X_OK, "" };

const char *symbolic_program(void)
{
    return service_file_path(&program);
}

static const char *const arguments[] = { "--replay", "asked", NULL };

/* It serves many calls, so its processor time has no limit; each call has one. */
static const mishap_sandbox_profile profile = {
    .readable = python_readable,
    .memory_bytes = (uint64_t)SYMBOLIC_MOST_MEMORY_MB << 20,
    .address_bytes = (uint64_t)(SYMBOLIC_MOST_MEMORY_MB + AROUND_MB) << 20,
    .threads = 32,
};

static mishap *prepare_symbolic(const mishap_setup *setup)
{
    (void)setup;
    (void)symbolic_program();
    return NULL;
}

#define PACKAGES  "python3-dev, libz3-dev, libcvc5-dev and g++"
#define LIBRARIES "libpython" PYTHON_VERSION ", libz3-4 and libcvc5-1"

static mishap *engine_is_usable(void)
{
    if (symbolic_program() && python_program())
        return NULL;
    return mishap_suggest(
        mishap_raise(NOT_CONFIGURED,
                     "The symbolic engine is missing: Mishap was built without Python, Z3 or cvc5 "
                     "(packages " PACKAGES ")."),
        "Install the package mishap-services. For a build from source, install the "
        "packages " PACKAGES ", then build and install Mishap again.");
}

/* The engine ended before it could report anything, for example because a library is missing. A
 * failure that says itself what to do is passed on. `over`: the process has ended, so the caller
 * should not try again. */
static mishap *explain(mishap *failure, bool over)
{
    if (over && failure && mishap_is(failure, UNAVAILABLE))
        return mishap_because(
            mishap_raise(INTERNAL_ERROR, "The symbolic engine ended before it was ready."),
            failure);
    if (!failure || !mishap_is(failure, NOT_CONFIGURED) || mishap_told(failure)->suggestion.length)
        return failure;
    mishap *m = mishap_raise(NOT_CONFIGURED,
                             "The symbolic engine cannot be started (packages " LIBRARIES ").");
    return mishap_because(mishap_suggest(m, "Install the packages " LIBRARIES "."), failure);
}

static bool says(mishap_text output, const char *words)
{
    return memmem(output.data, output.length, words, strlen(words)) != NULL;
}

/* The failure that the engine could not report itself any more. */
static mishap *tell_engine_end(const mishap_foreign_end *end)
{
    if (end->timed_out)
        return mishap_raise(TIMEOUT, "The time was over, and the analysis did not stop");
    if (end->cancelled)
        return mishap_raise(CANCELLED, "The call was cancelled.");
    bool memory = end->exceeded && strcmp(end->exceeded, "memory") == 0;
    if (memory || says(end->output, "bad_alloc") || says(end->output, "emory"))
        return mishap_suggest(
            mishap_raise(RUNTIME_ERROR, "The analysis needs more than the %d MB that it may have",
                         SYMBOLIC_MOST_MEMORY_MB),
            "Analyse a smaller function, or narrow its inputs with `pre:` lines.");
    return mishap_raise(RUNTIME_ERROR, "The analysis ended unexpectedly");
}

static const mishap_foreign engine = {
    .program = program.path,
    .arguments = arguments,
    .sandbox = &profile,
    .grace_ms = GRACE_MS,
    .usable = engine_is_usable,
    .ended = tell_engine_end,
};

/* -- its operations ---------------------------------------------------------------------------- */

static const mishap_service engine_service = {
    .name = "engine",
    .summary = "The symbolic engine",
    .worker = &engine,
    .prepare = prepare_symbolic,
};

static const mishap_param outcome[] = {
    { "result", MISHAP_STRING, .help = "What the replay gave" },
    { "why", MISHAP_STRING, .help = "Why it gave nothing" },
    { 0 },
};

/* clang-format off */
#define BY_ENGINE                                                                                  \
    .run = mishap_foreign_run, .service = &engine_service,                                         \
    .timeout_ms = (SYMBOLIC_MOST_SECONDS + 10) * 1000,                                             \
    .raises = MISHAP_RAISES(VALIDATION_ERROR, INVALID_ARGUMENT, SYNTAX_ERROR, IMPORT_ERROR,        \
                            RUNTIME_ERROR, NOT_CONFIGURED, UNAVAILABLE)
/* clang-format on */

static const mishap_operation engine_operations[] = {
    { "engine.check", "Check a function", symbolic_to_check, BY_ENGINE },
    { "engine.find", "Find inputs", symbolic_to_find, BY_ENGINE },
    { "engine.compare", "Compare functions", symbolic_to_compare, BY_ENGINE },
    { "engine.branches", "Analyse branches", symbolic_to_branch, BY_ENGINE },
    { "engine.health", "Show versions", BY_ENGINE },
    { "engine.rules", "Show the rules for code", BY_ENGINE },
    { "engine.replayed", "Go on after a replay", outcome, BY_ENGINE },
    { 0 },
};

static const mishap_app app = { .name = "engine",
                                .version = "1",
                                .summary = "The symbolic engine",
                                .operations = engine_operations };

/* -- processes that wait ----------------------------------------------------------------------- */

static mishap_foreign_process *launch_engine(void *unused)
{
    mishap_foreign_process *process = NULL;
    (void)unused;
    mishap_free(mishap_foreign_launch(&app, &engine, &process));
    return process;
}

static service_shelf engines = { .launch = launch_engine };
static python_room replays = { .code = replay_driver };

/* A server starts its processes before the first call needs them. */
void symbolic_warm(bool at_once)
{
    service_stock_open();
    python_room_open(&replays);
    replays.shelf.wanted = at_once ? 2 : 1; /* another input often follows soon after the first */
    if (at_once && !engine_is_usable()) {
        service_stock_refill(&engines, NULL);
        python_room_warm(&replays);
    }
}

void symbolic_cool(void)
{
    service_stock_close();
    service_stock_clear(&engines);
    python_room_cool(&replays);
}

/* -- replays ----------------------------------------------------------------------------------- */

/* A replay that hangs, crashes or needs too much memory is no finding, and the analysis goes on. */
static mishap *why_not(mishap *failure, const char **why)
{
    switch (python_kind_of(failure)) {
    case PYTHON_CANCELLED:
    case PYTHON_OTHER:
        return failure;
    case PYTHON_TIMEOUT:
        *why = "its time was over";
        break;
    case PYTHON_MEMORY:
        *why = "it needs more memory than it may have";
        break;
    default:
        *why = "it did not end by itself";
        break;
    }
    mishap_free(failure);
    return NULL;
}

/* The result of a replay: `result` or `why`, in the memory of the call. */
static mishap *replay(mishap_call *call, const mishap_call *asked, const char **result,
                      const char **why)
{
    enum { MOST_S = 30 };
    mishap_answered *answered = NULL;
    double seconds = mishap_number(asked, "seconds");
    seconds = seconds > MOST_S ? MOST_S : seconds < 0.05 ? 0.05 : seconds;
    mishap *failure = python_call(&(python_code){ .code = replay_driver,
                                                  .room = &replays,
                                                  .hash_seed = (int)mishap_integer(asked, "seed"),
                                                  .timeout = seconds,
                                                  .memory_mb = REPLAY_MEMORY_MB,
                                                  .within = call },
                                  "replay", mishap_json(asked, "arguments"), NULL, &answered);
    if (failure)
        return why_not(failure, why);
    const char *word = mishap_string(answered->json, "outcome");
    const char *returned = mishap_string(answered->json, "result");
    if (strcmp(word, "returned") == 0 && returned)
        *result = mishap_call_print(call, "%s", returned);
    else
        *why = "it could not be called";
    mishap_answered_free(answered);
    return NULL;
}

/* -- an analysis ------------------------------------------------------------------------------- */

struct analysis {
    mishap_call *call;
    mishap_foreign_process *process;
    int64_t begun_ms, until_ms; /* when its time is over */
    bool replays;               /* the engine may ask for replays */
    mishap_answered
        *so_far; /* what the engine reported last of a running analysis; NULL: nothing */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static mishap_invocation how(const struct analysis *a)
{
    int64_t left = a->until_ms - now_ms();
    return (mishap_invocation){ .process = a->process,
                                .within = a->call,
                                .timeout_ms = (int)(left > 0 ? left : 0) + TO_ANSWER_MS };
}

static mishap *launch(struct analysis *a)
{
    mishap_foreign_stop(a->process);
    a->process = NULL;
    return mishap_foreign_launch(&app, &engine, &a->process);
}

/* If a process has ended while it waited, no call is at fault: the call is made again. */
static mishap *begin_analysis(struct analysis *a, const char *operation, mishap_answered **answered)
{
    const char *given = mishap_json(a->call, "");
    if (a->replays)
        python_room_warm(&replays); /* while the engine starts, or works */
    bool waited = (a->process = service_stock_take(&engines)) != NULL;
    mishap *failure = waited ? NULL : launch(a);
    if (failure)
        return failure;
    mishap_invocation first = how(a);
    failure = mishap_invoke(&app, operation, given, &first, answered);
    if (!waited || !failure || !mishap_is(failure, UNAVAILABLE))
        return failure;
    mishap_free(failure);
    failure = launch(a);
    mishap_invocation again = how(a);
    return failure ? failure : mishap_invoke(&app, operation, given, &again, answered);
}

/* Reply to an answer that is not the last one: with the result of a replay. A report of what is
 * known so far is stored, and the engine goes on. */
static mishap *reply_to(struct analysis *a, mishap_answered **answered, const char **result,
                        const char **why)
{
    const mishap_call *asked = mishap_at((*answered)->json, "replay");
    mishap *failure = asked ? replay(a->call, asked, result, why) : NULL;
    if (asked) {
        mishap_answered_free(*answered);
    } else {
        mishap_answered_free(a->so_far);
        a->so_far = *answered;
    }
    *answered = NULL;
    return failure;
}

/* Reply until an answer is the last one. An engine that does not get what it asked for still waits
 * for it, and cannot serve another call. */
static mishap *go_on(struct analysis *a, mishap_answered **answered)
{
    while (mishap_at((*answered)->json, "replay") || mishap_at((*answered)->json, "so_far")) {
        const char *result = NULL, *why = NULL;
        mishap *failure = reply_to(a, answered, &result, &why);
        if (!failure && now_ms() > a->until_ms + LATE_MS)
            failure = mishap_raise(TIMEOUT, "The time was over, and the analysis did not stop");
        if (failure) {
            mishap_foreign_stop(a->process);
            a->process = NULL;
            return failure;
        }
        mishap_invocation next = how(a);
        failure = mishap_invoke_with(
            &app, "engine.replayed", &next, answered,
            MISHAP_PAIRS({ "result", MISHAP_VALUE(result) }, { "why", MISHAP_VALUE(why) }));
        if (failure)
            return failure;
    }
    return NULL;
}

/* Members that the engine reports of a running analysis. */
static const char *const told_so_far[] = {
    "status",
    "counterexamples",
    "triggering_inputs",
    "paths_to_exception",
    "paths_explored",
    "paths_verified",
    "coverage_estimate",
    "total_paths_explored",
    "paths_compared",
    "method",
    "branches",
    "total_branches",
    "dead_code_lines",
    "reachable_branches",
    "cyclomatic_complexity",
};

/* If the engine did not stop in time, or died, it may have found something before, and its time is
 * known. With a finding that is an answer: the finding is still true. */
static mishap *tell_so_far(const struct analysis *a, mishap *failure)
{
    const mishap_call *known = a->so_far ? mishap_at(a->so_far->json, "so_far") : NULL;
    double seconds = (double)(now_ms() - a->begun_ms) / 1000;
    bool silent = failure && !mishap_told(failure)->type.length &&
                  (mishap_is(failure, TIMEOUT) || mishap_is(failure, RUNTIME_ERROR));
    if (!silent || !a->replays)
        return failure;
    bool found = known && mishap_given(known, "status");
    mishap_tell(failure, "time_seconds", seconds);
    for (size_t i = 0; known && i < sizeof told_so_far / sizeof *told_so_far; i++) {
        const char *name = told_so_far[i];
        if (!mishap_given(known, name))
            continue;
        if (found)
            mishap_answer_member(a->call, name, mishap_value_of_json(mishap_json(known, name)));
        else
            mishap_tell(failure, name, mishap_value_of_json(mishap_json(known, name)));
    }
    if (!found)
        return failure;
    mishap_answer_member(a->call, "time_seconds", seconds);
    mishap_free(failure);
    return NULL;
}

mishap *symbolic_analyse(mishap_call *call, const char *tool, mishap_answered **answered)
{
    enum { USUAL_S = 10 };
    char operation[40];
    bool limited = strcmp(tool, "health") != 0 && strcmp(tool, "rules") != 0;
    double seconds = limited ? mishap_number(call, "timeout_seconds") : USUAL_S;
    struct analysis a = { .call = call,
                          .begun_ms = now_ms(),
                          .until_ms = now_ms() + (int64_t)(seconds * 1000),
                          .replays = limited };
    snprintf(operation, sizeof operation, "engine.%s", tool);
    *answered = NULL;
    mishap *failure = begin_analysis(&a, operation, answered);
    if (!failure)
        failure = go_on(&a, answered);
    bool over = a.process && mishap_foreign_is_over(a.process);
    /* A failure of the engine has a type. After any other failure the engine may still be
     * working. */
    if (a.process && (!failure || mishap_told(failure)->type.length))
        service_stock_return(&engines, a.process);
    else
        service_stock_refill(&engines, a.process);
    failure = tell_so_far(&a, failure);
    mishap_answered_free(a.so_far);
    return explain(failure, over);
}
