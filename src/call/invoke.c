/* Operations as plain C calls: the same checks, the same containment, on the thread that calls. */
#include "mishap/invoke.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <strings.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "call/test.h"
#include "incident/incident.h"
#include "operation/asking.h"
#include "operation/caller.h"
#include "operation/secret.h"
#include "operation/settings.h"

/* -- the program ------------------------------------------------------------------------------- */

/* Failures are recorded: the program has asked for that (mishap_setup.log). */
static atomic_bool recording;

/* The programs whose declarations were found sound last. Most processes have one; a service that
 * has others run its code has a few. */
enum { FEW = 4 };
static _Atomic(const mishap_app *) sound[FEW];
static atomic_uint sound_count;

static mishap *check_declarations(const mishap_app *app)
{
    for (size_t i = 0; app && i < FEW; i++)
        if (atomic_load_explicit(&sound[i], memory_order_acquire) == app)
            return NULL;
    mishap *failure = mishap_declaration_check(app);
    if (!failure)
        atomic_store_explicit(&sound[atomic_fetch_add(&sound_count, 1) % FEW], app,
                              memory_order_release);
    return failure;
}

mishap *mishap_app_open(const mishap_app *app, const mishap_setup *setup)
{
    const char *config = setup ? setup->config : NULL;
    atomic_store(&recording, setup && setup->log);
    mishap_service_use(setup);
    mishap *failure = check_declarations(app);
    if (!failure)
        failure = mishap_settings_use(app,
                                      &(mishap_settings_from){ .given = mishap_text_of(config) });
    return failure ? failure : mishap_settings_check(app, NULL);
}

void mishap_app_close(void)
{
    mishap_service_close_all();
}

/* -- the answer -------------------------------------------------------------------------------- */

struct answered {
    mishap_answered visible; /* the first */
    mishap_call *call;
    mishap_json_reader reader;
    mishap_call_part part; /* all of the answer */
};

void mishap_answered_free(mishap_answered *answered)
{
    struct answered *ours = (struct answered *)answered;
    if (!ours)
        return;
    mishap_json_reader_release(&ours->reader);
    mishap_call_end(ours->call);
    mishap_release(ours);
}

static const char *media_type_of(const mishap_call *call, mishap_answer_kind kind)
{
    switch (kind) {
    case MISHAP_ANSWER_NOTHING:
        return NULL;
    case MISHAP_ANSWER_DOCUMENT:
        return "text/plain; charset=utf-8";
    case MISHAP_ANSWER_BYTES:
    case MISHAP_ANSWER_STREAM:
        return call->answer_type;
    default:
        return "application/json";
    }
}

/* Of a call that worked, which is the answer's from then on; it is ended if this fails. */
static mishap *take_answer(mishap_call *call, mishap_answered **out)
{
    mishap_answer_kind kind;
    struct answered *ours = mishap_allocate(sizeof *ours);
    if (!ours) {
        mishap_call_end(call);
        return mishap_out_of_memory();
    }
    *ours = (struct answered){ .call = call };
    mishap_buffer_put_char(&call->answer, '\0');
    mishap_text text = mishap_call_answer(call, &kind);
    mishap_text warnings = mishap_call_warnings(call);
    char *list = mishap_arena_take(&call->arena, warnings.length + 3);
    bool whole = list && !call->answer.failed;
    if (whole && kind == MISHAP_ANSWER_JSON) {
        text.length--;
        whole = mishap_json_read(&ours->reader, text);
        text.length++;
        ours->part = (mishap_call_part){ .call = call, .value = ours->reader.root };
        ours->visible.json = (const mishap_call *)&ours->part;
    }
    if (!whole) {
        mishap_answered_free(&ours->visible);
        return mishap_out_of_memory();
    }
    list[0] = '[';
    memcpy(list + 1, warnings.data ? warnings.data : "", warnings.length);
    memcpy(list + 1 + warnings.length, "]", 2);
    ours->visible.warnings = (mishap_text){ list, warnings.length + 2 };
    if (kind != MISHAP_ANSWER_NOTHING)
        ours->visible.text = (mishap_text){ text.data, text.length - 1 };
    ours->visible.media_type = media_type_of(call, kind);
    if (call->text.length)
        ours->visible.words = mishap_buffer_text(&call->text);
    ours->visible.status = mishap_call_status(call);
    ours->visible.location = call->location;
    *out = &ours->visible;
    return NULL;
}

mishap *mishap_answered_make(const mishap_app *app, mishap_text text, const char *media_type,
                             int status, mishap_answered **out)
{
    static const mishap_operation elsewhere = { .name = "elsewhere" };
    mishap_call *call;
    MISHAP_TRY(mishap_call_begin(app, &elsewhere, mishap_text_of("{}"), &call));
    bool json = media_type && strncmp(media_type, "application/json", 16) == 0;
    call->answer_kind = !text.length ? MISHAP_ANSWER_NOTHING
                        : json       ? MISHAP_ANSWER_JSON
                                     : MISHAP_ANSWER_BYTES;
    call->answer_type = mishap_arena_copy(&call->arena, mishap_text_of(media_type)).data;
    mishap_buffer_put_text(&call->answer, text);
    mishap *failure = take_answer(call, out);
    if (!failure)
        (*out)->status = status;
    return failure;
}

/* -- the call ---------------------------------------------------------------------------------- */

static mishap *no_such(const mishap_app *app, const char *name)
{
    char words[200];
    mishap_guess guess = { .word = mishap_text_of(name) };
    for (const mishap_operation *o = app->operations; name && o->name; o++)
        if (!o->resident)
            mishap_guess_weigh(&guess, mishap_text_of(o->name));
    mishap *m = mishap_raise(NOT_FOUND, "%s has no operation %s to call.", app->name,
                             name ? name : "without a name");
    if (!guess.name.data)
        return m;
    snprintf(words, sizeof words, "Did you mean %s?", guess.name.data);
    return mishap_suggest(m, words);
}

static mishap *find_operation(const mishap_app *app, const char *name,
                              const mishap_operation **found)
{
    const mishap_operation *operation = mishap_operation_find(app, mishap_text_of(name));
    if (!operation || operation->resident)
        return no_such(app, name);
    *found = operation;
    return NULL;
}

/* A value is one line, as it is in a request. */
static mishap_text find_header(const void *state, mishap_text name)
{
    for (const char *const *at = state; at[0] && at[1]; at += 2)
        if (strlen(at[0]) == name.length && strncasecmp(at[0], name.data, name.length) == 0)
            return (mishap_text){ at[1], strcspn(at[1], "\r\n") };
    return (mishap_text){ NULL, 0 };
}

/* Of the time that the call around it has, if that is limited. */
static void limit_within(mishap_call *call, int64_t left_ms)
{
    if (left_ms >= 0)
        mishap_call_limit(call, left_ms < 1 ? 1 : left_ms > INT_MAX ? INT_MAX : (int)left_ms);
}

/* A call from its arguments to its record. */
struct invoked {
    const mishap_app *app;
    const mishap_operation *operation; /* NULL: there is none of this name */
    mishap_text arguments;
    const mishap_invocation *how;
    mishap_call *call; /* NULL: the arguments were refused, or the answer has it now */
    char id[MISHAP_ID_LENGTH + 1];
    int64_t started_ns;
};

/* Names that are not declared allow nothing. */
static unsigned scopes_of(const mishap_app *app, const mishap_invocation *how)
{
    const char *at = how->scopes;
    unsigned scopes = 0;
    mishap_text name;
    const mishap_call *within = how->within ? mishap_call_whole(how->within) : NULL;
    if (!how->scopes && !within)
        return MISHAP_SCOPES_ALL;
    if (!how->scopes) /* the bits of another program mean other scopes */
        return within->scopes == MISHAP_SCOPES_ALL || within->app->scopes == app->scopes
                   ? within->scopes
                   : within->scopes & (MISHAP_SCOPE_FIRST_DECLARED - 1);
    while (mishap_scopes_next_word(&at, &name))
        scopes |= mishap_scope_find(app->scopes, name);
    return mishap_scopes_expand(app->scopes, scopes);
}

static mishap *permit(const struct invoked *invoked)
{
    return mishap_scopes_permit(invoked->app, scopes_of(invoked->app, invoked->how),
                                mishap_operation_scopes(invoked->app, invoked->operation),
                                "caller");
}

static mishap *run_call(struct invoked *invoked, mishap_answered **out)
{
    mishap_call *call = invoked->call;
    const mishap_invocation *how = invoked->how;
    call->boundary = MISHAP_BY_C;
    call->request_id = (mishap_text){ invoked->id, MISHAP_ID_LENGTH };
    call->to_operator = mishap_incident_line;
    call->caller = how->caller;
    call->caller_is_free = mishap_caller_may_name(call->operation);
    call->scopes = scopes_of(invoked->app, how);
    call->body = how->body;
    call->body_type = how->body_type;
    call->process = how->process;
    call->cancelled_by = (const atomic_uchar *)how->cancel;
    call->within = how->within;
    call->timeout_ms = how->timeout_ms;
    mishap_call_limit(call, how->timeout_ms);
    if (how->within)
        limit_within(call, mishap_call_time_left(how->within));
    mishap *failure = how->headers && call->operation->headers
                          ? mishap_call_keep_headers(call, find_header, how->headers)
                          : NULL;
    if (!failure && how->answers)
        failure = mishap_asking_answer_text(call, mishap_text_of(how->answers),
                                            MISHAP_ANSWERS_PLAIN);
    if (!failure)
        failure = mishap_call_run(call);
    if (mishap_asking_is(call, failure))
        mishap_suggest(failure, "Call it again with the answers as `.answers`: "
                                "{\"QUESTION\":{…}}, or {\"QUESTION\":null} to decline.");
    /* The getters also take the answer, which outlives all that is only lent. */
    call->request_id = mishap_arena_copy(&call->arena, call->request_id);
    call->caller = call->body_type = NULL;
    call->within = NULL;
    call->cancelled_by = NULL;
    call->body = (mishap_text){ NULL, 0 };
    if (!failure) {
        invoked->call = NULL;
        return take_answer(call, out);
    }
    mishap_hide_failure(failure, call->operation->params, mishap_call_secrets(call));
    mishap_leaks_read_variable(call->app->name);
    mishap_hide_failure_leaks(failure, &(mishap_sent){ .call = call, .text = invoked->how->body });
    return failure;
}

/* -- the record -------------------------------------------------------------------------------- */

static void put_more(const void *context, mishap_incident_more *more)
{
    const struct invoked *invoked = context;
    if (invoked->call) {
        mishap_call_put_arguments(invoked->call, &more->arguments);
        mishap_call_put_words(invoked->call, &more->lines);
    } else if (invoked->operation) {
        mishap_operation_put_arguments(invoked->operation, invoked->arguments, &more->arguments);
    }
}

/* A failure within another call is no incident: the other call may go on without it, and has its
 * own record if it fails. */
static void record_failure(struct invoked *invoked, mishap *failure)
{
    const mishap_operation *operation = invoked->operation;
    if (!atomic_load(&recording) || invoked->how->within ||
        mishap_operation_judged(operation, failure))
        return;
    bool kept = mishap_incident_record(&(mishap_incident_entry){
        .program = invoked->app->name,
        .version = invoked->app->version,
        .id = invoked->id,
        .failure = failure,
        .operation = operation ? operation->name : NULL,
        .service = operation && operation->service ? operation->service->name : NULL,
        .caller = invoked->how->caller,
        .started_ns = invoked->started_ns,
        .boundary = MISHAP_INCIDENT_C,
        .secrets = invoked->call ? mishap_call_secrets(invoked->call) : NULL,
        .more = put_more,
        .context = invoked,
    });
    if (kept && !mishap_told(failure)->incident.length)
        mishap_incident(failure, invoked->id);
}

mishap *mishap_invoke(const mishap_app *app, const char *operation, const char *arguments,
                      const mishap_invocation *how, mishap_answered **out)
{
    static const mishap_invocation plain;
    struct invoked invoked = { .app = app,
                               .arguments = mishap_text_of(arguments ? arguments : "{}"),
                               .how = how ? how : &plain,
                               .started_ns = mishap_clock_monotonic_ns() };
    mishap_answered *unwanted = NULL;
    out = out ? out : &unwanted;
    *out = NULL;
    mishap *failure = check_declarations(app);
    if (failure) /* its name may be anything, too: it has no log */
        return failure;
    mishap_id_make(invoked.id);
    failure = find_operation(app, operation, &invoked.operation);
    if (!failure)
        failure = permit(&invoked);
    if (!failure)
        failure = mishap_call_begin_closed(app, invoked.operation, invoked.arguments,
                                           &invoked.call);
    if (!failure)
        failure = run_call(&invoked, out);
    mishap_service_amend(invoked.operation, failure);
    if (failure)
        record_failure(&invoked, failure);
    if (invoked.call)
        mishap_call_end(invoked.call);
    mishap_answered_free(unwanted);
    return failure;
}

bool mishap_pairs_put(mishap_buffer *json, const mishap_pair *pairs)
{
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    mishap_json_open(json, '{');
    for (; pairs && pairs->name; pairs++) {
        mishap_value value = pairs->value;
        if (value.kind == MISHAP_KIND_NONE)
            continue;
        if (value.kind == MISHAP_KIND_TEXT) {
            value.text = mishap_utf8_clean(&arena, value.text);
            json->failed |= !value.text.data;
        }
        mishap_json_key(json, mishap_text_of(pairs->name));
        mishap_json_value(json, &value);
    }
    mishap_json_close(json, '}');
    mishap_buffer_put_char(json, '\0');
    mishap_arena_release(&arena);
    return !json->failed;
}

mishap *mishap_invoke_with(const mishap_app *app, const char *operation,
                           const mishap_invocation *how, mishap_answered **out,
                           const mishap_pair *pairs)
{
    mishap_buffer json = { 0 };
    if (out)
        *out = NULL;
    mishap *failure = mishap_pairs_put(&json, pairs)
                          ? mishap_invoke(app, operation, json.data, how, out)
                          : mishap_out_of_memory();
    mishap_buffer_release(&json);
    return failure;
}
