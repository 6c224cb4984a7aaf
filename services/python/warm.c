/*
 * Calls of Python from a service: each in a process of its own, which was started after the call
 * before, so that it is ready when it is needed.
 */
#include <string.h>

#include "python/python.h"
#include "waiting.h"

const mishap_app python_app = { .name = "python",
                                .version = "1",
                                .summary = "Python in a sandbox",
                                .operations = python_operations };

/* -- the process that waits -------------------------------------------------------------------- */

static service_waiting waiting;

void python_warm(void)
{
    mishap_foreign_process *process = NULL;
    if (service_waiting_is_there(&waiting))
        return;
    mishap_free(mishap_foreign_launch(&python_app, python_service.worker, &process));
    if (process)
        service_waiting_keep(&waiting, process);
}

void python_cool(void)
{
    mishap_foreign_stop(service_waiting_take(&waiting));
}

/* -- calls ------------------------------------------------------------------------------------- */

/* One that has ended while it waited is nobody's fault: the call is made again. */
static mishap *invoke(const char *operation, const python_code *what, const mishap_pair *pairs,
                      mishap_answered **answered)
{
    enum { TO_SAY_SO_MS = 1000, USUAL_S = 5 };
    mishap_foreign_process *process = service_waiting_take(&waiting);
    double seconds = what->timeout > 0 ? what->timeout : USUAL_S;
    mishap_invocation how = { .timeout_ms = (int)(seconds * 1000) + TO_SAY_SO_MS,
                              .cancel = what->cancel,
                              .within = what->within,
                              .process = process };
    mishap *failure = mishap_invoke_with(&python_app, operation, &how, answered, pairs);
    if (process && failure && mishap_told(failure)->code == MISHAP_CODE_UNAVAILABLE) {
        mishap_free(failure);
        how.process = NULL;
        failure = mishap_invoke_with(&python_app, operation, &how, answered, pairs);
    }
    mishap_foreign_stop(process);
    python_warm();
    return failure;
}

static mishap_value number_or_none(double number)
{
    return number > 0 ? mishap_value_of_real(number) : mishap_value_none();
}

static mishap_value count_or_none(int count)
{
    return count > 0 ? mishap_value_of_int(count) : mishap_value_none();
}

static mishap_value json_or_none(const char *json)
{
    return json ? mishap_value_of_json(json) : mishap_value_none();
}

mishap *python_run(const python_code *what, const char *arguments, mishap_answered **answered)
{
    return invoke("python.run", what,
                  MISHAP_PAIRS({ "code", MISHAP_VALUE(what->code) },
                               { "args", MISHAP_VALUE(arguments ? arguments : "[]") },
                               { "timeout", number_or_none(what->timeout) },
                               { "memory_mb", count_or_none(what->memory_mb) }),
                  answered);
}

mishap *python_call(const python_code *what, const char *function, const char *arguments,
                    const char *named, mishap_answered **answered)
{
    return invoke(
        "python.call", what,
        MISHAP_PAIRS({ "code", MISHAP_VALUE(what->code) }, { "function", MISHAP_VALUE(function) },
                     { "args", json_or_none(arguments) }, { "kwargs", json_or_none(named) },
                     { "timeout", number_or_none(what->timeout) },
                     { "memory_mb", count_or_none(what->memory_mb) }),
        answered);
}

/* -- failures ---------------------------------------------------------------------------------- */

static const mishap_value *context_of(const mishap *failure, const char *name)
{
    const mishap_member *member = mishap_public_member(mishap_told(failure), name);
    return member ? &member->value : NULL;
}

/* What the process says is not trusted: a word that is none of these is none. Where a call ends
 * before its process is ready, there is no word, and the code tells. */
python_kind python_kind_of(const mishap *failure)
{
    static const char *const words[] = {
        [PYTHON_SYNTAX] = "syntax",       [PYTHON_RUNTIME] = "runtime",
        [PYTHON_MEMORY] = "memory",       [PYTHON_MISSING] = "missing",
        [PYTHON_RESULT] = "result",       [PYTHON_TIMEOUT] = "timeout",
        [PYTHON_CANCELLED] = "cancelled", [PYTHON_ARGUMENT] = "argument",
        [PYTHON_DIED] = "died",
    };
    const mishap_value *kind = context_of(failure, "kind");
    for (size_t i = PYTHON_SYNTAX; kind && i < sizeof words / sizeof *words; i++)
        if (kind->kind == MISHAP_KIND_TEXT && kind->text.length == strlen(words[i]) &&
            memcmp(kind->text.data, words[i], kind->text.length) == 0)
            return (python_kind)i;
    return mishap_is(failure, TIMEOUT)     ? PYTHON_TIMEOUT
           : mishap_is(failure, CANCELLED) ? PYTHON_CANCELLED
                                           : PYTHON_OTHER;
}

long python_line_of(const mishap *failure)
{
    const mishap_value *line = context_of(failure, "line");
    return line && line->kind == MISHAP_KIND_INT && line->integer > 0 ? (long)line->integer : 0;
}
