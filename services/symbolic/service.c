/* The service: its handlers, and the members that each of its failures has beside its message. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "python/python.h"
#include "symbolic/symbolic.h"

/* -- handlers ---------------------------------------------------------------------------------- */

/* "symbolic.check" is "check". */
static const char *tool_of(const char *operation)
{
    const char *dot = strrchr(operation, '.');
    return dot ? dot + 1 : operation;
}

mishap *symbolic_run(mishap_call *call)
{
    mishap_answered *answered;
    mishap *failure = symbolic_analyse(call, tool_of(mishap_operation_name(call)), &answered);
    if (failure)
        return symbolic_suggest(call, failure);
    if (answered)
        mishap_answer(call, answered->text.data);
    mishap_answered_free(answered);
    return NULL;
}

static void name_platform(char *name, size_t size)
{
    struct utsname machine;
    if (uname(&machine) == 0)
        snprintf(name, size, "%s %s", machine.sysname, machine.machine);
    else
        snprintf(name, size, "Linux");
}

mishap *symbolic_health(mishap_call *call)
{
    static const char *const versions[] = { "python_version", "z3_version", "cvc5_version" };
    mishap_answered *answered;
    char platform[200];
    MISHAP_TRY(symbolic_analyse(call, "health", &answered));
    mishap_answer_member(call, "status", "healthy");
    mishap_answer_member(call, "version", mishap_app_of(call)->version);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        mishap_answer_member(call, versions[i], mishap_string(answered->json, versions[i]));
    name_platform(platform, sizeof platform);
    mishap_answer_member(call, "platform", platform);
    mishap_answer_member(call, "memory_usage_mb", mishap_number(answered->json, "memory_usage_mb"));
    mishap_answered_free(answered);
    return NULL;
}

/* -- failures ---------------------------------------------------------------------------------- */

/* The members that a tool has on success and on failure alike, with their empty values. */
static const struct blank {
    const char *operation;
    struct {
        const char *name, *json;
    } members[8];
} blanks[] = {
    { "symbolic.check",
      { { "counterexamples", "[]" },
        { "paths_explored", "0" },
        { "paths_verified", "0" },
        { "time_seconds", "0.0" },
        { "coverage_estimate", "0.0" } } },
    { "symbolic.find",
      { { "triggering_inputs", "[]" },
        { "paths_to_exception", "0" },
        { "total_paths_explored", "0" },
        { "time_seconds", "0.0" } } },
    { "symbolic.compare",
      { { "distinguishing_input", "null" },
        { "paths_compared", "0" },
        { "confidence", "\"none\"" },
        { "time_seconds", "0.0" } } },
    { "symbolic.branches",
      { { "branches", "[]" },
        { "total_branches", "0" },
        { "reachable_branches", "0" },
        { "dead_code_lines", "[]" },
        { "cyclomatic_complexity", "0" },
        { "time_seconds", "0.0" } } },
    { "symbolic.health",
      { { "version", "\"\"" },
        { "python_version", "\"\"" },
        { "z3_version", "\"\"" },
        { "cvc5_version", "\"\"" },
        { "platform", "\"\"" },
        { "memory_usage_mb", "0" } } },
};

static void fill_in(const struct blank *blank, mishap *failure)
{
    for (size_t i = 0; i < sizeof blank->members / sizeof *blank->members; i++)
        if (blank->members[i].name &&
            !mishap_public_member(mishap_told(failure), blank->members[i].name))
            mishap_tell(failure, blank->members[i].name,
                        mishap_value_of_json(blank->members[i].json));
}

/* Code that is too long is a mistake that a caller may not see at a glance, so its size is told. */
static void tell_size(mishap *failure)
{
    char words[120];
    for (const mishap_field *f = mishap_told(failure)->fields; f; f = f->next)
        if (mishap_text_equal(f->field, mishap_text_of("code")) &&
            mishap_text_equal(f->error, mishap_text_of("invalid_length")) &&
            f->actual.integer > SYMBOLIC_MOST_CODE) {
            snprintf(words, sizeof words, "The code has %lld characters; at most %d are allowed.",
                     (long long)f->actual.integer, SYMBOLIC_MOST_CODE);
            mishap_message(failure, mishap_text_of(words));
        }
}

/* A wrong argument is a ValueError: ValidationError is for code that is refused. */
static void amend(const mishap_operation *operation, mishap *failure)
{
    if (mishap_told(failure)->fields) {
        mishap_type(failure, "ValueError");
        tell_size(failure);
    }
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if (strcmp(blanks[i].operation, operation->name) == 0)
            fill_in(&blanks[i], failure);
    if (strcmp(operation->name, "symbolic.check") == 0 && mishap_is(failure, TIMEOUT) &&
        !mishap_public_member(mishap_told(failure), "status"))
        mishap_tell(failure, "status", "timeout");
}

/* -- the service ------------------------------------------------------------------------------- */

/* In a server the engine was checked before. A command may not need it. */
static mishap *open_service(const mishap_setup *setup, void **state)
{
    *state = NULL;
    symbolic_warm(setup->identity != NULL);
    return NULL;
}

static void close_service(void *state)
{
    (void)state;
    symbolic_cool();
}

const service_part symbolic_parts[] = {
    { "libz3.so.4", "symbolic checks", "libz3-4", NULL },
    { "libcvc5.so.1", "symbolic checks, second solver", "libcvc5-1", NULL },
    { "mishap-symbolic", "symbolic checks", "libz3-dev libcvc5-dev g++", symbolic_program },
    { 0 },
};

/* symbolic.check: a simple proof, which is quick for both solvers */
static const mishap_trial trial = { symbolic_operations,
                                    "{\"code\":\"def next_one(n: int) -> int:\\n    \\\"\\\"\\\""
                                    "post: _ == n + 1\\\"\\\"\\\"\\n    return n + 1\\n\","
                                    "\"function_name\":\"next_one\",\"timeout_seconds\":10}",
                                    "status", "\"verified\"" };

static void tell_health(const mishap_setup *setup, mishap_health *out)
{
    (void)setup;
    mishap_health_member(out, "engine", symbolic_program() ? "found" : "missing");
    mishap_health_member(out, "python", python_program() ? "found" : "missing");
    mishap_health_sandbox(out);
}

const mishap_service symbolic_service = {
    .name = "symbolic",
    .summary = "What Python functions can do",
    .open = open_service,
    .warm = true,
    .close = close_service,
    .dialect = "tool-result",
    .http_dialect = "tool-result",
    .health = tell_health,
    .trial = &trial,
    .amend = amend,
};
