/*
 * The code of an artifact: its function `run`, in a sandbox (services/python). The code is read
 * from the store, then it runs, and only then the outcome is recorded: no transaction is open while
 * it runs.
 */
#include <stdio.h>

#include "artifacts/request.h"
#include "python/python.h"

static mishap *read_code(artifacts_request *r, const char **code)
{
    mishap_query query;
    bool found = false;
    *code = NULL;
    mishap_query_begin(&query, r->store, ARTIFACTS_GET);
    mishap_query_bind_text(&query, 1, mishap_text_of(r->artifact));
    while (mishap_query_step(&query)) {
        mishap_text text = mishap_query_text(&query, 4);
        found = true;
        if (text.length)
            *code = mishap_call_print(r->call, "%.*s", (int)text.length, text.data);
    }
    MISHAP_TRY(mishap_query_end(&query));
    if (!found)
        return artifacts_no_artifact(mishap_text_of(r->artifact));
    return *code ? NULL
                 : mishap_tell(mishap_validation("The artifact %s has no code", r->artifact),
                               "artifact_id", r->artifact);
}

/* -- failures ---------------------------------------------------------------------------------- */

static mishap *describe_failure(mishap *m, const mishap *cause)
{
    const mishap_public *told = mishap_told(cause);
    long line = python_line_of(cause);
    char remedy[64];
    if (told->type.length)
        m = mishap_tell(m, "type", told->type);
    if (line) {
        snprintf(remedy, sizeof remedy, "Look at line %ld of the code.", line);
        m = mishap_suggest(mishap_tell(m, "line", line), remedy);
    }
    return told->output.length ? mishap_tell(m, "stdout", told->output) : m;
}

/* The message of a failure. A failure of the code has the name of a class before it; what the
 * server reports about the code, such as that it ended its process, has none. */
static mishap *tell_execution(const mishap_public *told)
{
    mishap_text words = mishap_public_message(told);
    int length = (int)words.length;
    return told->type.length ? mishap_execution("%.*s: %.*s", (int)told->type.length,
                                                told->type.data, length, words.data)
                             : mishap_execution("%.*s", length, words.data);
}

/* Turn a failure of Python into one of the artifact. Code that does not end in time will not the
 * next time, either: the call is not retryable. Any other failure is the server's own and is passed
 * on: code cannot cause one. */
static mishap *translate(mishap *cause)
{
    const mishap_public *told = mishap_told(cause);
    mishap_text words = mishap_public_message(told);
    int length = (int)words.length;
    mishap *m = NULL;
    switch (python_kind_of(cause)) {
    case PYTHON_SYNTAX:
        m = mishap_execution_as(SYNTAX_ERROR, "%.*s", length, words.data);
        break;
    case PYTHON_TIMEOUT:
        m = mishap_execution_as(TIMEOUT, "%.*s", length, words.data);
        break;
    case PYTHON_ARGUMENT:
        m = mishap_validation("%.*s", length, words.data);
        break;
    case PYTHON_RUNTIME:
    case PYTHON_MEMORY:
    case PYTHON_MISSING:
    case PYTHON_RESULT:
    case PYTHON_DIED:
        m = tell_execution(told);
        break;
    case PYTHON_CANCELLED:
    case PYTHON_OTHER:
        return cause;
    }
    return mishap_because(describe_failure(m, cause), cause);
}

/* -- running ----------------------------------------------------------------------------------- */

static void answer_result(artifacts_request *r, const mishap_answered *answered)
{
    const mishap_call *json = answered->json;
    artifacts_answer_begin(r);
    mishap_json_put_json(&r->answer, "result", mishap_text_of(mishap_json(json, "result")));
    mishap_json_put(&r->answer, "stdout", mishap_string(json, "stdout"));
    artifacts_answer_end(r);
    mishap_json_put_object(&r->event, NULL);
    mishap_json_put(&r->event, "artifact_id", r->artifact);
    mishap_json_put_end(&r->event, '}');
}

mishap *artifacts_execute(artifacts_request *r)
{
    const char *code;
    const char *args = mishap_given(r->call, "args") ? mishap_json(r->call, "args") : "[]";
    bool found = false;
    mishap_answered *answered = NULL;
    MISHAP_TRY(artifacts_kept_find(r, &found));
    if (found)
        return NULL;
    MISHAP_TRY(read_code(r, &code));
    mishap *failure = python_run(
        &(python_code){ .code = code,
                        .timeout = mishap_number(mishap_settings(r->call), "run_seconds"),
                        .within = r->call },
        args, &answered);
    r->store_is_sound = failure != NULL;
    if (failure)
        return translate(failure);
    answer_result(r, answered);
    mishap_answered_free(answered);
    r->now = artifacts_now();
    return artifacts_record(r);
}

/* -- trial: can code be run? ------------------------------------------------------------------- */

mishap *artifacts_try_code(mishap_call *call)
{
    mishap_answered *answered = NULL;
    const char *code = "def run(a, b):\n    return a + b\n";
    MISHAP_TRY(python_run(&(python_code){ .code = code, .timeout = 10, .within = call }, "[1, 2]",
                          &answered));
    mishap *failure = mishap_answer_json(call, "result", mishap_json(answered->json, "result"));
    mishap_answered_free(answered);
    return failure;
}
