/* Run a call: read and check its arguments, run the handler, and check its result against the
 * declaration. */
#include <signal.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/rehearsal.h"
#include "mishap/inside.h"
#include "mishap/typed.h"
#include "operation/asking.h"
#include "operation/call.h"
#include "operation/contain.h"
#include "operation/members.h"
#include "operation/rules.h"
#include "operation/running.h"
#include "operation/upload.h"

enum { DEFAULT_TIMEOUT_MS = 30000, STORAGE = 2048 };

/* -- before ------------------------------------------------------------------------------------ */

/* The value of each parameter: given, or the default. Null counts as not given. */
static mishap *resolve(mishap_call *call)
{
    const mishap_param *params = call->operation->params;
    mishap_members members = mishap_members_of(params);
    size_t count = members.count, room = mishap_members_room(&members);
    call->values = mishap_arena_take(&call->arena, (count + 1) * sizeof *call->values);
    if (call->operation->fills)
        call->presence = mishap_arena_take(&call->arena, count + 1);
    if (!call->values || (call->operation->fills && !call->presence))
        return mishap_out_of_memory();
    members.table = room ? mishap_arena_take(&call->arena, room) : NULL;
    mishap_members_values(&members, call->reader.root, call->values);
    for (size_t i = 0; i < count; i++) {
        yyjson_val *given = call->values[i];
        bool null = yyjson_is_null(given), kept = null && params[i].nullable;
        call->values[i] = null ? NULL : given;
        call->param_count = i + 1;
        if (call->presence)
            call->presence[i] = null ? MISHAP_IS_NULL : given ? MISHAP_GIVEN : MISHAP_ABSENT;
        if (!call->values[i] && params[i].initial && !kept) {
            if (call->presence)
                call->presence[i] = MISHAP_DEFAULT;
            call->values[i] = mishap_json_read_into(&call->arena,
                                                    mishap_text_of(params[i].initial));
            if (!call->values[i])
                return mishap_out_of_memory(); /* it is valid JSON: that was checked at the start */
        }
    }
    return NULL;
}

int mishap_operation_timeout(const mishap_app *app, const mishap_operation *operation)
{
    return operation->timeout_ms ? operation->timeout_ms
           : app->timeout_ms     ? app->timeout_ms
                                 : DEFAULT_TIMEOUT_MS;
}

static void set_limit(mishap_call *call, int limit_ms)
{
    call->limit_ms = limit_ms;
    call->deadline_ns = mishap_clock_monotonic_ns() + limit_ms * INT64_C(1000000);
}

void mishap_call_limit(mishap_call *call, int most_ms)
{
    if (most_ms && most_ms < call->limit_ms)
        set_limit(call, most_ms);
}

static mishap_call *make_call(const mishap_app *app, const mishap_operation *operation,
                              size_t storage)
{
    mishap_call *call = mishap_allocate(sizeof *call + storage);
    if (!call)
        return NULL;
    *call = (mishap_call){
        .whole = { .call = call }, .app = app, .operation = operation, .scopes = MISHAP_SCOPES_ALL
    };
    call->reader.storage = call->storage;
    call->reader.storage_size = storage;
    mishap_arena_init(&call->arena, NULL, 0);
    return call;
}

/* The arguments were parsed: check them. If they are wrong, or parsing failed, the call ends
 * here. */
static mishap *admit(mishap_call *call, mishap *failure, mishap_call **out)
{
    if (!failure)
        failure = mishap_operation_check(call->app, call->operation, call->reader.root);
    if (!failure)
        failure = resolve(call);
    if (failure) {
        mishap_call_end(call);
        return failure;
    }
    set_limit(call, mishap_operation_timeout(call->app, call->operation));
    *out = call;
    return NULL;
}

static mishap *begin_call(const mishap_app *app, const mishap_operation *operation,
                          mishap_text arguments, bool closed, mishap_call **out)
{
    mishap_call *call = make_call(app, operation, STORAGE);
    *out = NULL;
    if (!call)
        return mishap_out_of_memory();
    mishap *failure = mishap_object_read(&call->reader, arguments, operation->params);
    if (!failure && closed)
        failure = mishap_params_refuse_unknown(operation->params, operation->rules,
                                               call->reader.root, call->reader.root, NULL, NULL);
    return admit(call, failure, out);
}

mishap *mishap_call_begin(const mishap_app *app, const mishap_operation *operation,
                          mishap_text arguments, mishap_call **out)
{
    return begin_call(app, operation, arguments, false, out);
}

mishap *mishap_call_begin_closed(const mishap_app *app, const mishap_operation *operation,
                                 mishap_text arguments, mishap_call **out)
{
    return begin_call(app, operation, arguments, true, out);
}

mishap *mishap_call_begin_with(const mishap_app *app, const mishap_operation *operation,
                               yyjson_val *arguments, mishap_call **out)
{
    mishap_call *call = make_call(app, operation, 0);
    *out = NULL;
    if (!call)
        return mishap_out_of_memory();
    call->reader.root = arguments;
    return admit(call, NULL, out);
}

mishap *mishap_call_view(const mishap_app *app, const mishap_operation *operation,
                         yyjson_val *arguments, mishap_call **out)
{
    *out = make_call(app, operation, 0);
    if (!*out)
        return mishap_out_of_memory();
    (*out)->reader.root = arguments;
    mishap *failure = resolve(*out);
    if (failure)
        mishap_call_end(*out);
    return failure;
}

mishap *mishap_operation_check(const mishap_app *app, const mishap_operation *operation,
                               yyjson_val *object)
{
    mishap *failure = mishap_arguments_check(operation->params, operation->rules, object);
    return operation->rules ? mishap_rules_call(app, operation, object, failure) : failure;
}

mishap *mishap_call_remake(const mishap_app *app, const mishap_operation *operation,
                           mishap_text arguments, mishap_call **out)
{
    mishap_call *call = make_call(app, operation, STORAGE);
    *out = NULL;
    if (!call)
        return mishap_out_of_memory();
    mishap *failure = mishap_object_read(&call->reader, arguments, operation->params);
    if (!failure)
        failure = resolve(call);
    if (failure)
        mishap_call_end(call);
    else
        *out = call;
    return failure;
}

void mishap_call_end(mishap_call *call)
{
    if (!call)
        return;
    mishap_json_reader_release(&call->reader);
    mishap_buffer_release(&call->answer);
    mishap_buffer_release(&call->warnings);
    mishap_buffer_release(&call->text);
    mishap_buffer_release(&call->fields);
    mishap_buffer_release(&call->changes);
    mishap_buffer_release(&call->said);
    mishap_arena_release(&call->arena);
    mishap_release(call);
}

/* -- after ------------------------------------------------------------------------------------- */

/* Codes that any operation may raise: those of the framework itself, and those for invalid
 * input. */
static bool may_raise(const mishap_app *app, const mishap_operation *operation,
                      const mishap_code *code)
{
    static const mishap_code *const always[] = {
        MISHAP_CODE_INTERNAL_ERROR, MISHAP_CODE_VALIDATION_ERROR, MISHAP_CODE_ARG_ERROR,
        MISHAP_CODE_BAD_REQUEST,    MISHAP_CODE_MALFORMED_INPUT,  MISHAP_CODE_TIMEOUT,
        MISHAP_CODE_CANCELLED,
    };
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (always[i] == code)
            return true;
    if (operation->relays)
        return true;
    if (operation->asks && code == MISHAP_CODE_INPUT_REQUIRED)
        return true;
    if (operation->service && /* its service could not be opened */
        (code == MISHAP_CODE_UNAVAILABLE || code == MISHAP_CODE_NOT_CONFIGURED))
        return true;
    if ((code == MISHAP_CODE_CONTENT_TOO_LARGE || code == MISHAP_CODE_REQUEST_TIMEOUT) &&
        mishap_streamed_param(operation))
        return true; /* its file did not arrive */
    return mishap_operation_declares(app, operation, code);
}

/* What is wrong with an answer that is not a JSON object or array, or that is ambiguous. */
static const char *flaw_of(const mishap_json_reader *reader, mishap_json_flaw flaw)
{
    switch (flaw) {
    case MISHAP_JSON_SOUND:
        return "it is one value, neither an object nor an array";
    case MISHAP_JSON_LONE_SURROGATE:
        return "a string has half of a surrogate pair";
    case MISHAP_JSON_DUPLICATE_KEY:
        return "an object has the same name twice";
    case MISHAP_JSON_NUL_IN_KEY:
        return "a name has a NUL in it";
    case MISHAP_JSON_TOO_DEEP:
        return "it is nested too deep";
    case MISHAP_JSON_NO_MEMORY:
    case MISHAP_JSON_MALFORMED:
        break;
    }
    return reader->problem;
}

static mishap *report_nonsense(const mishap_call *call, const char *flaw)
{
    mishap *m = mishap_raise(INTERNAL_ERROR, "The answer of %s is not a JSON object or array.",
                             call->operation->name);
    m = mishap_note(m, "flaw", flaw);
    /* An answer that cannot be parsed cannot be searched for secrets either. */
    return mishap_operation_has_secret(call->operation)
               ? m
               : mishap_note(m, "answer", mishap_buffer_text(&call->answer));
}

/* Clients check an answer against the schema that was made from `.answers`, and some drop one that
 * does not fit: the operator is told where it does not. */
static mishap *report_misfit(const mishap_call *call, const char *where, mishap *findings)
{
    mishap *m = mishap_raise(INTERNAL_ERROR, "The answer of %s does not match its declaration.",
                             call->operation->name);
    return mishap_because(mishap_note(m, "where", where), findings);
}

static mishap *check_fit(const mishap_call *call, yyjson_val *answer)
{
    char where[256];
    const mishap_param *answers = call->operation->answers;
    if (!answers || call->content)
        return NULL;
    if (!yyjson_is_obj(answer))
        return report_misfit(call, "the answer is an array, but an object is declared", NULL);
    mishap *findings = mishap_answers_check(answers, answer);
    const mishap_field *first = findings ? mishap_told(findings)->fields : NULL;
    if (!first)
        return findings;
    snprintf(where, sizeof where, "%.*s: %.*s", (int)first->field.length, first->field.data,
             (int)first->error.length, first->error.data);
    return report_misfit(call, where, findings);
}

static bool answers_nothing(const mishap_call *call)
{
    const mishap_param *answers = call->operation->answers;
    while (answers && answers->name && !answers->required)
        answers++;
    return call->answer_kind == MISHAP_ANSWER_NOTHING && answers && answers->name;
}

/* Written on one line, also if the handler used other white space, and without what was corrected
 * while reading. */
static mishap *make_compact(mishap_call *call, yyjson_val *answer)
{
    mishap_buffer compact = { 0 };
    mishap_json_copy(&compact, answer);
    mishap_buffer_release(&call->answer);
    call->answer = compact;
    return compact.failed ? mishap_out_of_memory() : NULL;
}

/* An answer must be one JSON object or array, valid, and, unless it comes with a failure, as it was
 * declared. */
static mishap *check_answer(mishap_call *call, bool failed)
{
    char storage[MISHAP_JSON_STORAGE];
    mishap_json_reader reader = MISHAP_JSON_READER_IN(storage);
    mishap *failure = NULL;
    bool written = call->answer_kind == MISHAP_ANSWER_WRITTEN; /* then it is compact already */
    if (written)
        mishap_answer_finish(call);
    if (call->answer.failed)
        return mishap_out_of_memory();
    if (call->operation->relays)
        return NULL;
    if (!failed && answers_nothing(call))
        return report_misfit(call, "the handler has answered nothing", NULL);
    if (call->answer_kind != MISHAP_ANSWER_JSON)
        return NULL;
    yyjson_val *at;
    mishap_json_flaw flaw = mishap_json_read(&reader, mishap_buffer_text(&call->answer))
                                ? mishap_json_first_flaw(&reader, &at)
                                : reader.flaw;
    if (flaw != MISHAP_JSON_SOUND || !yyjson_is_ctn(reader.root))
        failure = report_nonsense(call, flaw_of(&reader, flaw));
    if (!failure && !failed)
        failure = check_fit(call, reader.root);
    if (!failure && !written)
        failure = make_compact(call, reader.root);
    mishap_json_reader_release(&reader);
    return failure;
}

mishap *mishap_running_drop_answer(mishap_call *call, mishap *failure)
{
    mishap_buffer_reset(&call->answer);
    mishap_buffer_reset(&call->text);
    call->answer_kind = MISHAP_ANSWER_NOTHING;
    return failure;
}

static mishap *report_end(const mishap_call *call, const char *why)
{
    return mishap_raise(INTERNAL_ERROR, "The call of %s was aborted: %s.", call->operation->name,
                        why);
}

mishap *mishap_call_report_exit(const mishap_call *call, const char *what,
                                const mishap_trace *trace)
{
    char why[64];
    snprintf(why, sizeof why, "the handler called %s", what);
    mishap *m = report_end(call, why);
    if (!m->constant)
        m->trace = *trace;
    return m;
}

static mishap *report_crash(const mishap_running *running, const mishap_crash *crash)
{
    const char *name = sigabbrev_np(crash->signal);
    mishap *m = mishap_raise(INTERNAL_ERROR, "The %s of %s crashed with SIG%s.", running->what,
                             running->call->operation->name, name ? name : "?");
    if (!m->constant)
        m->trace = crash->trace; /* the stack of the handler, not of this function */
    return crash->address ? mishap_note(m, "address", (uint64_t)(uintptr_t)crash->address) : m;
}

/* The stack of the function was unwound before it could be read: its entry stands for everything
 * that it had called. */
static mishap *report_thread_end(const mishap_running *running)
{
    char why[64];
    snprintf(why, sizeof why, "the %s ended its thread", running->what);
    mishap *m = report_end(running->call, why);
    if (m->constant)
        return m;
    mishap_trace *trace = &m->trace;
    if (trace->count == MISHAP_TRACE_MAX)
        trace->count--;
    memmove(trace->addresses + 1, trace->addresses, trace->count * sizeof *trace->addresses);
    /* One byte further, like a return address. */
    trace->addresses[0] = (void *)(running->entry + 1);
    trace->count++;
    return m;
}

/* A parameter that is not declared is often misspelled. */
static mishap *note_near(mishap *m, const mishap_call *call)
{
    size_t length = strcspn(call->misused, ".[");
    mishap_guess guess = { .word = { call->misused, length } };
    if (mishap_param_find(call->operation->params, guess.word))
        return m;
    for (const mishap_param *p = call->operation->params; p && p->name; p++)
        mishap_guess_weigh(&guess, mishap_text_of(p->name));
    return guess.name.data ? mishap_note(m, "did_you_mean", guess.name) : m;
}

mishap *mishap_running_contain(mishap_running *running, void (*run)(void *state))
{
    sigjmp_buf way_out;
    mishap_crash crash;
    mishap_call *call = running->call;
    call->way_out = &way_out;
    bool returned = mishap_contain(run, running, &way_out, &crash);
    call->way_out = NULL;
    if (returned)
        return NULL;
    call->ended = true;
    call->crashed = crash.signal != 0;
    if (call->crashed)
        return report_crash(running, &crash);
    if (crash.thread_ended)
        return report_thread_end(running);
    mishap *ended = report_end(call, call->misuse);
    if (call->misused_at && !ended->constant)
        ended->trace = *call->misused_at; /* the stack of the handler, not of this function */
    bool by_name = call->misused && *call->misused; /* without memory there is no name */
    return by_name ? note_near(mishap_note(ended, "parameter", call->misused), call) : ended;
}

static void run_handler(void *state)
{
    mishap_running *running = state;
    mishap_call *call = running->call;
    if (call->operation->service)
        running->outcome = mishap_service_open(call->app, call->operation->service,
                                               &call->service_state);
    if (!running->outcome)
        call->settlement = mishap_settlement_of(call);
    if (call->settlement)
        running->outcome = mishap_settlement_begin(running);
    if (!running->outcome)
        running->outcome = call->operation->run(call);
}

/* Each is removed from the list before it runs: if it does not return, it is not run again. */
static void run_deferred(void *state)
{
    mishap_running *running = state;
    mishap_call *call = running->call;
    while (call->deferred) {
        const mishap_deferred *deferred = call->deferred;
        call->deferred = deferred->before;
        running->entry = (uintptr_t)deferred->function;
        deferred->function(deferred->argument);
    }
}

/* Run the handler and the functions that it deferred. Returns why one of them was ended; NULL: none
 * was. */
static mishap *run_all(mishap_running *running)
{
    mishap_call *call = running->call;
    if (call->operation->resident) { /* it starts processes and threads of its own */
        run_handler(running);
        run_deferred(running);
        return NULL;
    }
    mishap *ended = mishap_running_contain(running, run_handler);
    running->what = "deferred function";
    while (call->deferred && !call->crashed) {
        mishap *m = mishap_running_contain(running, run_deferred);
        ended = m ? mishap_because(m, ended) : ended;
    }
    return ended;
}

/* `ended`: why the handler was ended, NULL: it was not; `m`: what it returned. */
static mishap *conclude(mishap_call *call, mishap *ended, mishap *m)
{
    if (mishap_asking_is_due(m))
        m = mishap_asking_conclude(call);
    if (m && call->answer_kind == MISHAP_ANSWER_WRITTEN)
        mishap_running_drop_answer(
            call, NULL); /* the answer may be incomplete; a complete one may come with a failure */
    if (!ended)
        ended = check_answer(call, m != NULL);
    if (ended)
        return mishap_running_drop_answer(call, mishap_because(ended, m));
    if (!m || may_raise(call->app, call->operation, mishap_told(m)->code))
        return m;
    return mishap_running_drop_answer(call, mishap_running_allow(call->app, call->operation, m));
}

mishap *mishap_running_allow(const mishap_app *app, const mishap_operation *operation,
                             mishap *failure)
{
    const mishap_code *code = mishap_told(failure)->code;
    if (may_raise(app, operation, code))
        return failure;
    return mishap_because(mishap_raise(INTERNAL_ERROR, "%s raised %s, which it does not declare.",
                                       operation->name, code->name.data),
                          failure);
}

mishap *mishap_call_run(mishap_call *call)
{
    mishap_running running = { .call = call,
                               .what = "handler",
                               .entry = mishap_operation_entry(call->operation) };
    bool handled = mishap_rehearsal_handle(!call->operation->resident);
    mishap *ended = run_all(&running);
    mishap_rehearsal_handle(handled);
    mishap_rehearsal_returned();
    mishap *failure = conclude(call, ended, running.outcome);
    return call->settlement ? mishap_settlement_finish(&running, failure) : failure;
}

mishap *mishap_call_conclude(mishap_call *call, mishap *outcome)
{
    return conclude(call, NULL, outcome);
}

mishap_text mishap_call_answer(const mishap_call *call, mishap_answer_kind *kind)
{
    *kind = call->answer_kind;
    return mishap_buffer_text(&call->answer);
}

mishap_text mishap_call_warnings(const mishap_call *call)
{
    return mishap_buffer_text(&call->warnings);
}

void mishap_call_clean_document(mishap_call *call)
{
    mishap_text text = mishap_buffer_text(&call->answer);
    if (call->answer_kind != MISHAP_ANSWER_DOCUMENT ||
        mishap_utf8_valid_length(text) == text.length)
        return;
    mishap_text clean = mishap_utf8_clean(&call->arena, text);
    mishap_buffer_reset(&call->answer);
    mishap_buffer_put_text(&call->answer, clean);
    call->answer.failed = call->answer.failed || !clean.data;
}
