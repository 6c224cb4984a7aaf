/* What becomes of a task: it waits for its turn, runs, and ends. */
#include <stdio.h>

#include "base/hash.h"
#include "base/memory.h"
#include "incident/incident.h"
#include "operation/secret.h"
#include "task/inside.h"
#include "worker/wire/frame.h"

/* -- tables ------------------------------------------------------------------------------------ */

static task **place_of(tasks *t, mishap_text key)
{
    static const uint64_t known[2] = { 3, 5 }; /* keys are chosen by the server */
    return &t->words[mishap_hash(known, key) % TASK_WORDS];
}

task *mishap_tasks_find(tasks *t, mishap_text key)
{
    task *x = *place_of(t, key);
    while (x && memcmp(x->id, key.data, MISHAP_TASK_KEY) != 0)
        x = x->chain;
    return x;
}

void mishap_tasks_remember(tasks *t, task *x)
{
    task **place = place_of(t, (mishap_text){ x->id, MISHAP_TASK_KEY });
    x->chain = *place;
    *place = x;
}

static task *task_make(tasks *t, task_owner *owner)
{
    task *x = owner ? mishap_allocate(sizeof *x) : NULL;
    if (!x)
        return NULL;
    memset(x, 0, sizeof *x);
    x->owner = owner;
    owner->live++;
    x->next = t->first;
    if (x->next)
        x->next->previous = x;
    t->first = x;
    t->count++;
    return x;
}

void mishap_tasks_free(tasks *t, task *x)
{
    if (x->stored) {
        t->news = true;
        task **place = place_of(t, (mishap_text){ x->id, MISHAP_TASK_KEY });
        while (*place && *place != x)
            place = &(*place)->chain;
        if (*place)
            *place = x->chain;
    }
    mishap_tasks_owner_change(x->owner, x->stored ? 0 : -1, -(int64_t)mishap_tasks_held_bytes(x));
    x->owner->live--;
    if (x->next)
        x->next->previous = x->previous;
    *(x->previous ? &x->previous->next : &t->first) = x->next;
    mishap_buffer_release(&x->call);
    mishap_buffer_release(&x->outcome);
    mishap_buffer_release(&x->mark);
    mishap_release(x);
    t->count--;
}

/* -- the end ----------------------------------------------------------------------------------- */

static mishap_incident_boundary boundary_of(const mishap_call *call)
{
    static const mishap_incident_boundary boundaries[] = {
        [MISHAP_BY_C] = MISHAP_INCIDENT_C,
        [MISHAP_BY_COMMAND] = MISHAP_INCIDENT_CLI,
        [MISHAP_BY_HTTP] = MISHAP_INCIDENT_HTTP,
        [MISHAP_BY_MCP] = MISHAP_INCIDENT_MCP
    };
    size_t count = sizeof boundaries / sizeof *boundaries;
    return call && (size_t)call->boundary < count ? boundaries[call->boundary] : MISHAP_INCIDENT_C;
}

struct recorded {
    const mishap_call *call;
};

static void put_more(const void *context, mishap_incident_more *more)
{
    const struct recorded *recorded = context;
    if (!recorded->call)
        return;
    mishap_call_put_arguments(recorded->call, &more->arguments);
    mishap_call_put_words(recorded->call, &more->lines);
}

void mishap_tasks_record(const tasks *t, const char *incident, const mishap_operation *operation,
                         mishap_call *call, const mishap *failure)
{
    const mishap_app *app = t->plan->served->app;
    struct recorded recorded = { call };
    mishap_incident_record(&(mishap_incident_entry){
        .program = app->name,
        .version = app->version,
        .id = incident,
        .failure = failure,
        .operation = operation->name,
        .service = operation->service ? operation->service->name : NULL,
        .caller = call ? call->caller : NULL,
        .traceparent = call ? call->traceparent : (mishap_text){ NULL, 0 },
        .boundary = boundary_of(call),
        .secrets = call ? mishap_call_secrets(call) : NULL,
        .more = put_more,
        .context = &recorded,
        .to_stderr = t->plan->served->verbose });
}

static void put_outcome(task *x, const mishap_call *call, const mishap *failure)
{
    mishap_buffer_release(&x->outcome);
    mishap_task_put_outcome(&x->outcome, call, failure);
    if (!x->outcome.failed)
        return;
    mishap *none = mishap_out_of_memory();
    mishap_buffer_release(&x->outcome);
    mishap_task_put_outcome(&x->outcome, NULL, none);
    mishap_free(none);
    x->state = MISHAP_TASK_FAILED;
}

/* One reply to a loop has the outcome and the call. */
static bool is_too_large(const mishap_call *call)
{
    return call &&
           call->answer.length + call->text.length + call->fields.length + call->warnings.length >
               MISHAP_TASK_OUTCOME;
}

/* They are strings of JSON; without memory there are none. */
static void hide_warnings(mishap_call *call, const mishap_secrets *secrets)
{
    mishap_buffer hidden = { 0 };
    mishap_secrets_put_hidden(&hidden, secrets, mishap_buffer_text(&call->warnings));
    mishap_buffer_reset(&call->warnings);
    if (!hidden.failed)
        mishap_buffer_put_text(&call->warnings, mishap_buffer_text(&hidden));
    mishap_buffer_release(&hidden);
}

/* What is stored and recorded has no secrets: neither in a failure nor in warnings. */
static void hide(const task *x, mishap_call *call, mishap *failure)
{
    const mishap_secrets *secrets = call ? mishap_call_secrets(call) : NULL;
    mishap_hide_failure(failure, x->operation->params, secrets);
    if (secrets)
        hide_warnings(call, secrets);
}

/* It has ended. What was no task is told to the loop that waits; a task is stored. One whose row
 * may have been added is both. A failure that no loop is told is recorded here. Takes the failure
 * and the call, which may be NULL. */
void mishap_tasks_finish(tasks *t, task *x, mishap_call *call, mishap *failure)
{
    /* A caller that declines to answer has cancelled its task, too. */
    bool cancelled = failure && mishap_is(failure, CANCELLED) &&
                     (x->cancel || (call && call->rounds));
    bool keeps = x->stored || x->unsure;
    if (keeps && !failure && is_too_large(call))
        failure = mishap_raise(INTERNAL_ERROR, "The answer of %s is too large for a task.",
                               x->operation->name);
    x->state = !failure    ? MISHAP_TASK_SUCCEEDED
               : cancelled ? MISHAP_TASK_CANCELLED
                           : MISHAP_TASK_FAILED;
    x->changed_ms = mishap_clock_now_ms();
    x->phase = TASK_ENDED;
    if (x->from) {
        put_outcome(x, call, failure);
        mishap_tasks_reply(t, x->from, x->number,
                           &(mishap_task_reply){ .kind = MISHAP_TASK_DONE,
                                                 .outcome = mishap_buffer_text(&x->outcome) });
    } else if (failure && !cancelled && (x->stored || mishap_incident_is_one(failure))) {
        hide(x, call, failure);
        mishap_tasks_record(t, x->incident, x->operation, call, failure);
    }
    x->from = NULL;
    if (keeps) {
        hide(x, call, failure);
        put_outcome(x, call, failure);
        mishap_tasks_owner_change(x->owner, 0, (int64_t)x->outcome.length);
        t->changed = true;
    }
    mishap_free(failure);
    mishap_call_end(call);
    if (!keeps)
        mishap_tasks_free(t, x);
}

mishap *mishap_tasks_cancelled(void)
{
    return mishap_raise(CANCELLED, "The task was cancelled.");
}

static mishap *lost(const task *x)
{
    mishap *m = mishap_raise(INTERNAL_ERROR,
                             "The process that ran %s is gone. It is not known how far it came.",
                             x->operation->name);
    return mishap_note(m, "attempts", x->attempts);
}

/* -- running ----------------------------------------------------------------------------------- */

/* The process has one set of tasks, which functions of a run cannot be handed. */
static tasks *all;

static void leave_place(tasks *t, task *x)
{
    t->running--;
    x->owner->running--;
    mishap_turns_end(&t->turns, x->taken, 0, mishap_clock_monotonic_ns() - x->taken_ns);
    x->taken = NULL;
}

static void wait_for_turn(tasks *t, task *x)
{
    x->phase = TASK_WAITS;
    x->state = MISHAP_TASK_QUEUED;
    mishap_tasks_note(t, x);
    mishap_turns_add(&t->turns, &x->turn, x->holder, false);
}

static void on_done(mishap_run *run, mishap *failure)
{
    task *x = (task *)(void *)run;
    tasks *t = all;
    mishap_call *call = run->call;
    bool died = run->died;
    leave_place(t, x);
    run->call = NULL;
    if (failure && died && x->again && x->attempts < MISHAP_TASK_TRIES && !x->cancel) {
        mishap_free(failure);
        mishap_call_end(call);
        wait_for_turn(t, x);
        return;
    }
    if (x->stored && !x->cancel && mishap_asking_is(call, failure))
        mishap_tasks_pause(t, x, call, failure);
    else
        mishap_tasks_finish(t, x, call, failure);
}

/* It is not known yet how the call ends, so everything that must not leave with a failure is taken
 * out of what it says, as in mcp/calls/report.c. */
static void on_progress(const mishap_watcher *watcher, double done, double total, mishap_text words)
{
    task *x = (task *)(void *)((uintptr_t)watcher - offsetof(task, watcher));
    mishap_call *call = x->run.call;
    mishap_buffer hidden = { 0 };
    mishap_text clean = mishap_hide_text(mishap_utf8_clean(&call->arena, words),
                                         &(mishap_sent){ .call = call });
    mishap_secrets_put_hidden(&hidden, mishap_call_secrets(call), clean);
    size_t length = hidden.failed
                        ? 0
                        : mishap_utf8_cut(mishap_buffer_text(&hidden), sizeof x->words - 1);
    x->has_progress = true;
    x->done = done;
    x->total = total;
    if (length)
        memcpy(x->words, hidden.data, length);
    x->words[length] = '\0';
    mishap_tasks_note(all, x);
    mishap_buffer_release(&hidden);
}

/* There is memory for it since the run began. */
static void on_mark(const mishap_watcher *watcher, mishap_text mark)
{
    task *x = (task *)(void *)((uintptr_t)watcher - offsetof(task, watcher));
    tasks *t = all;
    mishap_buffer_reset(&x->mark);
    mishap_buffer_put_text(&x->mark, mark);
    x->marked = true;
    if (!t->mark_ns)
        t->mark_ns = t->marked_ns + TASK_MARKS_MS * TASK_MS;
}

int64_t mishap_tasks_look_at_marks(tasks *t, int64_t now)
{
    if (!t->mark_ns || t->mark_ns > now)
        return t->mark_ns ? t->mark_ns : INT64_MAX;
    t->mark_ns = 0;
    t->marked_ns = now;
    t->changed = true;
    return INT64_MAX;
}

int64_t mishap_task_scopes_mark(const mishap_app *app)
{
    uint64_t mark = 0;
    for (const mishap_scope *scope = app->scopes; scope && scope->name; scope++) {
        mark = mishap_hash((const uint64_t[2]){ mark, 7 }, mishap_text_of(scope->name));
        if (scope->implies)
            mark = mishap_hash((const uint64_t[2]){ mark, 8 }, mishap_text_of(scope->implies));
    }
    return (int64_t)(mark >> 1);
}

static void prepare_call(task *x, mishap_call *call, const mishap_frame_call *asked)
{
    mishap_task_prepare(call, asked);
    x->watcher = (mishap_watcher){ .progress = on_progress };
    call->watcher = &x->watcher;
    if (x->older)
        call->scopes &= MISHAP_SCOPE_FIRST_DECLARED - 1;
    call->to_operator = mishap_incident_line;
    if (!call->id.data)
        call->id = mishap_arena_copy(&call->arena, mishap_text_of(x->incident));
    call->repeated = x->attempts > 1;
    call->holder = x->holder;
}

/* A task with secrets never runs again, and needs no mark. False: there is no memory. */
static bool prepare_mark(task *x, mishap_call *call)
{
    if (x->secret)
        return true;
    if (x->mark.length)
        call->mark = mishap_arena_copy(&call->arena, mishap_buffer_text(&x->mark));
    x->watcher.mark = on_mark;
    return call->mark.length == x->mark.length &&
           mishap_buffer_reserve(&x->mark, MISHAP_MARK_LIMIT - x->mark.length);
}

void mishap_tasks_hand(tasks *t, task *x)
{
    const mishap_app *app = t->plan->served->app;
    mishap_frame_call asked;
    mishap_call *call = NULL;
    mishap *failure = NULL;
    all = t;
    x->phase = TASK_RUNS;
    x->state = MISHAP_TASK_RUNNING;
    mishap_tasks_note(t, x);
    if (x->cancel)
        failure = mishap_tasks_cancelled();
    else if (mishap_frame_take_call(mishap_buffer_text(&x->call), &asked))
        failure = mishap_call_remake(app, x->operation, asked.arguments, &call);
    else
        failure = lost(x);
    if (!failure) {
        prepare_call(x, call, &asked);
        failure = prepare_mark(x, call)
                      ? mishap_scopes_permit(app, call->scopes,
                                             mishap_operation_scopes(app, x->operation), "caller")
                      : mishap_out_of_memory();
    }
    if (!failure) {
        x->run = (mishap_run){ .call = call, .done = on_done, .incident = x->incident };
        if (mishap_runner_add(t->runner, &x->run))
            return;
        failure = mishap_runner_refuse(t->runner, call);
    }
    leave_place(t, x);
    mishap_tasks_finish(t, x, call, failure);
}

/* The last places are reserved for callers that have fewer, as with calls (worker/loop/runner.c).
 * They stay free even if there is no other caller: a task may run for hours, so the next caller
 * could not be given its place. A task of an earlier process has another holder than new calls of
 * its caller, but the same owner. */
static bool is_over_share(const tasks *t, const task *x)
{
    const mishap_task_plan *plan = t->plan;
    size_t share = plan->places * (size_t)plan->served->caller_share / 100;
    size_t held = x->turn.caller->running;
    held = held > x->owner->running ? held : x->owner->running;
    share = share || !plan->served->caller_share ? share : 1;
    return share && share < plan->places && held >= share && t->running + share >= plan->places;
}

static void begin(tasks *t, task *x)
{
    x->taken = mishap_turns_take(&t->turns, &x->turn, 0);
    x->taken_ns = mishap_clock_monotonic_ns();
    x->attempts++;
    x->owner->running++;
    t->running++;
    if (!x->stored && !x->adds) {
        mishap_tasks_hand(t, x);
        return;
    }
    x->phase = TASK_MARKS;
    x->state = MISHAP_TASK_RUNNING;
    x->changed_ms = mishap_clock_now_ms();
    t->changed = true;
}

/* Callers take turns. A task says in its row that it begins before it does. */
void mishap_tasks_schedule(tasks *t)
{
    mishap_turn *turn;
    while (!t->ending && t->running < t->plan->places && (turn = mishap_turns_next(&t->turns))) {
        task *x = (task *)(void *)((char *)turn - offsetof(task, turn));
        if (is_over_share(t, x))
            mishap_turns_set_aside(&t->turns, turn);
        else
            begin(t, x);
    }
    mishap_turns_bring_back(&t->turns);
}

/* -- the beginning ----------------------------------------------------------------------------- */

void mishap_tasks_refuse(tasks *t, task_conn *from, uint32_t number, mishap *failure)
{
    mishap_tasks_reply(t, from, number,
                       &(mishap_task_reply){ .kind = MISHAP_TASK_REFUSED, .failure = failure });
    mishap_free(failure);
}

/* Headers may be secret, too. */
bool mishap_task_has_secret(const mishap_operation *operation)
{
    return mishap_params_have_secret(operation->params) || operation->headers;
}

bool mishap_task_may_repeat(const mishap_operation *operation)
{
    return !mishap_task_has_secret(operation) &&
           (operation->idempotent || mishap_operation_danger(operation) == MISHAP_SAFE);
}

static void describe(task *x, const mishap_operation *operation)
{
    x->operation = operation;
    x->secret = mishap_task_has_secret(operation);
    x->again = mishap_task_may_repeat(operation);
}

static const mishap_operation *operation_of(const tasks *t, mishap_text call)
{
    const mishap_operation *operations = t->plan->served->app->operations;
    mishap_frame_call asked;
    uint32_t count = 0;
    while (operations[count].name)
        count++;
    if (!mishap_frame_take_call(call, &asked) || asked.operation >= count)
        return NULL;
    return operations[asked.operation].task ? &operations[asked.operation] : NULL;
}

void mishap_tasks_start(tasks *t, task_conn *from, uint32_t number,
                        const mishap_task_started *asked)
{
    static const mishap_task_reply declined = { .kind = MISHAP_TASK_DECLINED };
    const mishap_operation *operation = operation_of(t, asked->call);
    task *x = NULL;
    if (!operation || !t->revived || t->ending || t->count >= TASK_MOST) {
        mishap_tasks_reply(t, from, number, &declined);
        return;
    }
    task_owner *owner = mishap_tasks_owner_of(t, asked->owner);
    mishap *failure = owner ? mishap_tasks_owner_check(t, owner, asked->call.length)
                            : mishap_out_of_memory();
    if (!failure && !(x = task_make(t, owner)))
        failure = mishap_out_of_memory();
    if (failure) {
        mishap_tasks_refuse(t, from, number, failure);
        return;
    }
    describe(x, operation);
    mishap_buffer_put_text(&x->call, asked->call);
    mishap_tasks_owner_change(owner, 1, (int64_t)mishap_tasks_held_bytes(x));
    memcpy(x->incident, asked->incident.data, asked->incident.length);
    x->holder = asked->holder;
    x->made_ms = x->changed_ms = mishap_clock_now_ms();
    x->from = from;
    x->number = number;
    int after_ms = asked->after_ms < 0 ? t->plan->after_ms : asked->after_ms;
    x->due_ns = mishap_clock_monotonic_ns() + after_ms * TASK_MS;
    if (x->call.failed) {
        mishap_tasks_free(t, x);
        mishap_tasks_refuse(t, from, number, mishap_out_of_memory());
        return;
    }
    wait_for_turn(t, x);
}

/* A command may have been built with other operations since. */
void mishap_tasks_revive(tasks *t, const mishap_task_row *row)
{
    const mishap_operation *operation = t->plan->served->app->operations;
    if (row->key.length == MISHAP_TASK_KEY && mishap_tasks_find(t, row->key))
        return; /* the rows are read again, since the store failed */
    while (operation->name && !mishap_text_equal(mishap_text_of(operation->name), row->operation))
        operation++;
    task *x = operation->name && row->key.length == MISHAP_TASK_KEY &&
                      row->incident.length <= MISHAP_ID_LENGTH
                  ? task_make(t, mishap_tasks_owner_of(t, row->owner))
                  : NULL;
    if (!x) /* it stays in the store, and is tried again with the next start */
        return;
    describe(x, operation);
    x->again = x->again && row->again;
    mishap_buffer_put_text(&x->call, row->call);
    mishap_buffer_put_text(&x->mark, row->mark);
    memcpy(x->id, row->key.data, MISHAP_TASK_KEY);
    memcpy(x->incident, row->incident.data, row->incident.length);
    mishap_task_id_prove(t->secret, row->owner, x->id);
    x->holder = mishap_hash((const uint64_t[2]){ 1, 2 }, row->owner);
    x->made_ms = row->made_ms;
    x->changed_ms = row->changed_ms;
    x->attempts = row->attempts;
    x->cancel = row->cancel;
    x->older = row->scopes != mishap_task_scopes_mark(t->plan->served->app);
    x->due_ns = INT64_MAX;
    x->stored = true;
    mishap_tasks_remember(t, x);
    bool begun = row->state == MISHAP_TASK_RUNNING;
    if (!x->call.length || x->call.failed || x->mark.failed || !mishap_mark_is_sound(row->mark) ||
        (begun && !(x->again && x->attempts < MISHAP_TASK_TRIES)))
        mishap_tasks_finish(t, x, NULL, lost(x));
    else if (x->cancel)
        mishap_tasks_cancel(t, x);
    else
        wait_for_turn(t, x);
}

int64_t mishap_tasks_look_at_due(tasks *t, int64_t now)
{
    int64_t next = INT64_MAX;
    for (task *x = t->first; x; x = x->next) {
        if (x->due_ns > now) {
            next = x->due_ns < next ? x->due_ns : next;
            continue;
        }
        x->due_ns = INT64_MAX;
        mishap_task_key_draw(x->id);
        mishap_task_id_prove(t->secret, mishap_text_of(x->owner->name), x->id);
        x->adds = t->changed = true;
    }
    return next;
}

/* -- leaving ----------------------------------------------------------------------------------- */

void mishap_tasks_cancel(tasks *t, task *x)
{
    x->cancel = true;
    mishap_tasks_note(t, x);
    if (x->phase == TASK_WAITS) {
        if (x->turn.caller)
            mishap_turns_remove(&t->turns, &x->turn);
        mishap_tasks_finish(t, x, NULL, mishap_tasks_cancelled());
    } else if (x->phase == TASK_ASKS) {
        mishap_tasks_finish(t, x, NULL, mishap_tasks_cancelled());
    } else if (x->phase == TASK_RUNS) {
        mishap_runner_cancel(t->runner, &x->run);
    }
}

/* Its caller has gone before it was told of a task: so it ends as any call does. One that is being
 * stored goes on: whether its caller would have got the id is not known. A handler that runs is
 * told, and has its place until it returns. */
static void leave(tasks *t, task *x)
{
    x->from = NULL;
    if (x->stored || x->adds)
        return;
    x->due_ns = INT64_MAX;
    x->cancel = true;
    if (x->phase == TASK_WAITS) {
        mishap_turns_remove(&t->turns, &x->turn);
        mishap_tasks_free(t, x);
    } else if (x->phase == TASK_RUNS) {
        mishap_runner_cancel(t->runner, &x->run);
    }
}

void mishap_tasks_left(tasks *t, const task_conn *from, uint32_t number)
{
    for (task *x = t->first; x; x = x->next)
        if (x->from == from && x->number == number) {
            leave(t, x);
            return;
        }
    mishap_tasks_unwatch(t, from, number);
}

void mishap_tasks_conn_gone(tasks *t, const task_conn *from)
{
    for (task *x = t->first, *next; x; x = next) {
        next = x->next;
        if (x->from == from)
            leave(t, x);
    }
    mishap_tasks_watches_gone(t, from);
}
