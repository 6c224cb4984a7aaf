/* The calls of a REPL to its session. They use operations that no boundary offers. */
#include <stdlib.h>

#include <mishap/memory.h>

#include "lisp/repl.h"

/* The timeout of a call in milliseconds; the session ends the call before that. */
enum { LONGEST_MS = 3700 * 1000, LONGEST_SECONDS = 3600 };

/* clang-format off */
#define STRING(called)  { .name = called, .type = MISHAP_STRING }
#define NUMBER(called)  { .name = called, .type = MISHAP_NUMBER }
#define COUNT(called)   { .name = called, .type = MISHAP_INTEGER }
#define FLAG(called)    { .name = called, .type = MISHAP_BOOLEAN }
#define STRINGS(called) { .name = called, .type = MISHAP_ARRAY, .items = &a_text }
#define BY_SESSION                                                                                 \
    .run = mishap_foreign_run, .service = &lisp_service, .timeout_ms = LONGEST_MS, .local = true,  \
    .raises = MISHAP_RAISES(TYPE_ERROR, UNDEFINED_FUNCTION, UNBOUND_VARIABLE, DIVISION_BY_ZERO,    \
                            PROGRAM_ERROR, PACKAGE_ERROR, READER_ERROR, END_OF_FILE, SIMPLE_ERROR, \
                            RUNTIME_ERROR, NOT_CONFIGURED, PRECONDITION)
/* clang-format on */

static const mishap_param a_text = STRING("text");
static const mishap_param code[] = { STRING("code"), FLAG("suspend"), { 0 } };
static const mishap_param choice[] = { COUNT("index"), STRING("values"), { 0 } };
static const mishap_param seconds[] = { NUMBER("timeout"), { 0 } };
static const mishap_param frames[] = { COUNT("max_frames"), { 0 } };
static const mishap_param list[] = { STRINGS("items"), { 0 } };

static const mishap_param evaluated[] = {
    STRINGS("values"), STRING("stdout"), STRING("stderr"), STRINGS("warnings"), { 0 }
};
static const mishap_param form[] = { STRING("state"), COUNT("end"), { 0 } };
static const mishap_param restart[] = {
    STRING("name"), STRING("description"), FLAG("asks"), { 0 }
};
static const mishap_param a_restart = { "restart", MISHAP_OBJECT, .members = restart };
static const mishap_param prompt[] = { STRING("package"),
                                       COUNT("level"),
                                       COUNT("abort"),
                                       { "restarts", MISHAP_ARRAY, .items = &a_restart },
                                       { 0 } };
static const mishap_param backtrace[] = { FLAG("found"), STRINGS("backtrace"), { 0 } };

/* -- what needs no process --------------------------------------------------------------------- */

static mishap *repeat(mishap_call *call)
{
    return mishap_answer(call, mishap_json(call, ""));
}

/* Only a service that is opened gets to know the data folder. */
static mishap *open_history(const mishap_setup *setup, void **state)
{
    static const char name[] = "/lisp-history";
    size_t length = setup->data ? strlen(setup->data) : 0;
    char *path = mishap_allocate(length + sizeof name);
    if (!path || !length) {
        mishap_release(path);
        return path ? mishap_raise(NOT_CONFIGURED, "There is no folder.") : mishap_out_of_memory();
    }
    memcpy(path, setup->data, length);
    memcpy(path + length, name, sizeof name);
    *state = path;
    return NULL;
}

static const mishap_service history = {
    "lisp-history",
    "What was typed at the REPL",
    .open = open_history,
    .close = mishap_release,
};

static mishap *tell_history(mishap_call *call)
{
    return mishap_answer_member(call, "path", (const char *)mishap_state(call));
}

static const mishap_operation operations[] = {
    { "lisp.evaluate", "Evaluate a form", code, .answers = evaluated, BY_SESSION },
    { "lisp.restart", "Go on with a restart", choice, .answers = evaluated, BY_SESSION },
    { "lisp.form", "Find the end of a form", code, .answers = form, BY_SESSION },
    { "lisp.prompt", "Say what the prompt shows", .answers = prompt, BY_SESSION },
    { "lisp.backtrace", "Show frames", frames, .answers = backtrace, BY_SESSION },
    { "lisp.limits", "Change the limits", seconds, BY_SESSION },
    { "lisp.list", "Read a list", list, .run = repeat, .local = true },
    { "lisp.history", "Say where the history is", .run = tell_history, .service = &history,
      .local = true },
    { 0 },
};

/* -- the process ------------------------------------------------------------------------------- */

static mishap *call_now(lisp_session *s, const char *operation, const mishap_pair *pairs,
                        mishap_answered **out)
{
    bool looks = strcmp(operation, "lisp.prompt") == 0 || strcmp(operation, "lisp.limits") == 0;
    mishap_invocation how = { .process = s->process,
                              .timeout_ms = LONGEST_MS,
                              .cancel = looks ? NULL : lisp_signals_cancel() };
    return mishap_invoke_with(&s->app, operation, &how, out, pairs);
}

static mishap *start_session(lisp_session *s)
{
    mishap *failure = mishap_foreign_start(&s->app, lisp_service.worker, &s->process);
    if (failure)
        return failure;
    /* A person sees how long it takes, and can press Ctrl-C: so the limit is an hour. */
    mishap_free(call_now(s, "lisp.limits",
                         MISHAP_PAIRS({ "timeout", MISHAP_VALUE(LONGEST_SECONDS) }), NULL));
    return NULL;
}

mishap *lisp_session_begin(lisp_session *s, const mishap_call *call)
{
    *s = (lisp_session){ .app = *mishap_app_of(call) };
    s->app.operations = operations;
    s->app.services = NULL;
    return start_session(s);
}

void lisp_session_end(lisp_session *s)
{
    mishap_foreign_stop(s->process);
    s->process = NULL;
}

mishap *lisp_session_renew(lisp_session *s)
{
    lisp_session_end(s);
    return start_session(s);
}

mishap *lisp_session_call(lisp_session *s, const char *operation, const mishap_pair *pairs,
                          mishap_answered **out, mishap **fatal)
{
    mishap *failure = call_now(s, operation, pairs, out);
    if (!mishap_foreign_is_over(s->process))
        return failure;
    s->lost = true;
    *fatal = lisp_session_renew(s);
    return failure;
}

char *lisp_session_history(lisp_session *s)
{
    mishap_answered *answered = NULL;
    char *path = NULL;
    mishap_free(mishap_invoke(&s->app, "lisp.history", NULL, NULL, &answered));
    if (answered) {
        size_t size = mishap_string_length(answered->json, "path") + 1;
        path = mishap_allocate(size);
        if (path)
            memcpy(path, mishap_string(answered->json, "path"), size);
    }
    mishap_answered_free(answered);
    return path;
}
