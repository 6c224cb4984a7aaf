/*
 * Calls of Python from a service: each in a process of its own, which was started after the call
 * before, so that it is ready when it is needed.
 */
#include <stdio.h>
#include <string.h>

#include "python/python.h"

const mishap_app python_app = { .name = "python",
                                .version = "1",
                                .summary = "Python in a sandbox",
                                .operations = python_operations };

/* -- processes that wait ----------------------------------------------------------------------- */

static mishap_foreign_process *launch(void *foreign)
{
    mishap_foreign_process *process = NULL;
    mishap_free(
        mishap_foreign_launch(&python_app, foreign ? foreign : python_service.worker, &process));
    return process;
}

static service_shelf common = { .launch = launch };

void python_warm(void)
{
    service_stock_refill(&common, NULL);
}

void python_cool(void)
{
    service_stock_clear(&common);
}

void python_room_open(python_room *room)
{
    room->foreign = *python_service.worker;
    room->arguments[0] = "--expect";
    room->arguments[1] = room->code;
    room->foreign.arguments = room->arguments;
    room->shelf.launch = launch;
    room->shelf.context = &room->foreign;
}

void python_room_warm(python_room *room)
{
    service_stock_refill(&room->shelf, NULL);
}

void python_room_cool(python_room *room)
{
    service_stock_clear(&room->shelf);
}

/* -- calls ------------------------------------------------------------------------------------- */

static mishap_invocation invocation_of(const python_code *what)
{
    enum { TO_SAY_SO_MS = 1000, USUAL_S = 5 };
    double seconds = what->timeout > 0 ? what->timeout : USUAL_S;
    return (mishap_invocation){ .timeout_ms = (int)(seconds * 1000) + TO_SAY_SO_MS,
                                .cancel = what->cancel,
                                .within = what->within };
}

/* Run the call in a new process that has this seed. */
static mishap *invoke_with_seed(const char *operation, const python_code *what,
                                const mishap_pair *pairs, mishap_answered **answered)
{
    char seed[8];
    const char *arguments[] = { "--hash-seed", seed, NULL };
    mishap_foreign other = *python_service.worker;
    mishap_invocation how = invocation_of(what);
    snprintf(seed, sizeof seed, "%d", what->hash_seed % 1000);
    other.arguments = arguments;
    MISHAP_TRY(mishap_foreign_launch(&python_app, &other, &how.process));
    mishap *failure = mishap_invoke_with(&python_app, operation, &how, answered, pairs);
    mishap_foreign_stop(how.process);
    return failure;
}

/* If a process has ended while it waited, no call is at fault: the call is made again. Whether it
 * was given the call is known here; no failure that the code tells can say that it was not. */
static mishap *invoke(const char *operation, const python_code *what, const mishap_pair *pairs,
                      mishap_answered **answered)
{
    service_shelf *shelf = what->room ? &what->room->shelf : &common;
    if (what->hash_seed)
        return invoke_with_seed(operation, what, pairs, answered);
    mishap_invocation how = invocation_of(what);
    mishap_foreign_process *process = how.process = service_stock_take(shelf);
    mishap *failure = mishap_invoke_with(&python_app, operation, &how, answered, pairs);
    if (process && failure && !mishap_foreign_was_given_a_call(process) &&
        mishap_is(failure, UNAVAILABLE)) {
        mishap_free(failure);
        how.process = NULL;
        failure = mishap_invoke_with(&python_app, operation, &how, answered, pairs);
    }
    service_stock_refill(shelf, process);
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

/* `result` is any JSON value, so it is not declared. It is missing only if code has written the
 * answer of its process. */
static mishap *must_have_result(mishap_answered **answered)
{
    if (mishap_json((*answered)->json, "result"))
        return NULL;
    mishap_answered_free(*answered);
    *answered = NULL;
    mishap *m = mishap_raise(RUNTIME_ERROR, "The code ended its call without a result.");
    return mishap_tell(m, "kind", "died");
}

mishap *python_run(const python_code *what, const char *arguments, mishap_answered **answered)
{
    mishap *failure = invoke("python.run", what,
                             MISHAP_PAIRS({ "code", MISHAP_VALUE(what->code) },
                                          { "args", MISHAP_VALUE(arguments ? arguments : "[]") },
                                          { "timeout", number_or_none(what->timeout) },
                                          { "memory_mb", count_or_none(what->memory_mb) }),
                             answered);
    return failure ? failure : must_have_result(answered);
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

/* The server sets the code of a failure. The code that ran may have written `kind`: it only says in
 * which way the code failed. */
python_kind python_kind_of(const mishap *failure)
{
    static const struct {
        const char *word;
        python_kind kind;
    } ways[] = {
        { "memory", PYTHON_MEMORY },
        { "missing", PYTHON_MISSING },
        { "result", PYTHON_RESULT },
        { "died", PYTHON_DIED },
    };
    const mishap_value *word = context_of(failure, "kind");
    if (!mishap_is(failure, RUNTIME_ERROR))
        return mishap_is(failure, SYNTAX_ERROR)       ? PYTHON_SYNTAX
               : mishap_is(failure, TIMEOUT)          ? PYTHON_TIMEOUT
               : mishap_is(failure, CANCELLED)        ? PYTHON_CANCELLED
               : mishap_is(failure, INVALID_ARGUMENT) ? PYTHON_ARGUMENT
                                                      : PYTHON_OTHER;
    for (size_t i = 0; word && i < sizeof ways / sizeof *ways; i++)
        if (word->kind == MISHAP_KIND_TEXT && word->text.length == strlen(ways[i].word) &&
            memcmp(word->text.data, ways[i].word, word->text.length) == 0)
            return ways[i].kind;
    return PYTHON_RUNTIME;
}

long python_line_of(const mishap *failure)
{
    const mishap_value *line = context_of(failure, "line");
    return line && line->kind == MISHAP_KIND_INT && line->integer > 0 ? (long)line->integer : 0;
}
