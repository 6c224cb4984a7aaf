/*
 * Tasks that ask. A run has ended with questions: they are written to the row, with the call and
 * its answers so far, and the task has no memory here any more. With the last answer it waits for
 * its turn again.
 */
#include <stdio.h>

#include "operation/hide.h"
#include "operation/secret.h"
#include "task/inside.h"

enum { SOME = 64 }; /* rows that are ended at once */

/* -- asking ------------------------------------------------------------------------------------ */

/* It is not known yet how the call ends, so everything that must not leave with a failure is taken
 * out. False: there is no memory. */
static bool hide_message(mishap_call *call, const mishap_asked *asked, mishap_buffer *out)
{
    const mishap_secrets *secrets = mishap_call_secrets(call);
    mishap_sent sent = { .call = call };
    if (!asked->question->method) {
        mishap_secrets_put_hidden(out, secrets, mishap_hide_text(asked->message, &sent));
        return !out->failed;
    }
    mishap_buffer_put_text(out, asked->message);
    mishap_free(mishap_hide_json(out, secrets, &sent));
    return !out->failed;
}

static bool put_questions(mishap_buffer *out, mishap_call *call)
{
    mishap_task_questions open = { 0 };
    for (const mishap_asked *asked = call->questions; asked && open.count < MISHAP_ASKING_QUESTIONS;
         asked = asked->next) {
        mishap_buffer words = { 0 };
        bool hidden = hide_message(call, asked, &words);
        mishap_text message = hidden ? mishap_arena_copy(&call->arena, mishap_buffer_text(&words))
                                     : (mishap_text){ NULL, 0 };
        mishap_buffer_release(&words);
        if (!message.data)
            return false;
        open.list[open.count++] = (mishap_task_question){ .asked = { .question = asked->question,
                                                                     .message = message },
                                                          .plain = message,
                                                          .number = call->rounds + 1 };
    }
    mishap_task_questions_put(out, &open);
    return !out->failed;
}

/* The call of the next run: it has the answers that are kept, and one round more. */
static bool put_next_call(mishap_buffer *out, mishap_call *call)
{
    mishap_buffer kept = { 0 };
    mishap_asking_put_kept(&kept, call);
    call->replies = kept.failed ? (mishap_text){ NULL, 0 }
                                : mishap_arena_copy(&call->arena, mishap_buffer_text(&kept));
    mishap_buffer_release(&kept);
    call->rounds++;
    call->watcher = NULL; /* what it wants belongs to this run; the row has its mark */
    return call->replies.data && mishap_task_put_call(out, call, call->limit_ms);
}

void mishap_tasks_pause(tasks *t, task *x, mishap_call *call, mishap *failure)
{
    mishap_buffer questions = { 0 }, next = { 0 };
    if (!put_questions(&questions, call) || !put_next_call(&next, call)) {
        mishap_buffer_release(&questions);
        mishap_buffer_release(&next);
        mishap_free(failure);
        mishap_tasks_finish(t, x, call, mishap_out_of_memory());
        return;
    }
    mishap_tasks_owner_change(x->owner, 0,
                              (int64_t)(questions.length + next.length) - (int64_t)x->call.length);
    mishap_buffer_release(&x->call);
    mishap_buffer_release(&x->outcome);
    x->call = next;
    x->outcome = questions;
    x->rounds = (int)call->rounds;
    x->phase = TASK_ASKS;
    x->state = MISHAP_TASK_ASKING;
    x->changed_ms = mishap_clock_now_ms();
    t->changed = true;
    mishap_tasks_note(t, x);
    mishap_free(failure);
    mishap_call_end(call);
}

/* -- rows -------------------------------------------------------------------------------------- */

struct found {
    mishap_arena *arena;
    size_t count;
    bool lacks_memory;
    mishap_task_row rows[SOME];
};

static void keep_row(void *context, const mishap_task_row *row)
{
    struct found *found = context;
    if (found->count < SOME && row->key.length == MISHAP_TASK_KEY &&
        mishap_task_copy_row(found->arena, row, &found->rows[found->count]))
        found->count++;
    else
        found->lacks_memory = true;
}

static int64_t size_of(const mishap_task_row *row)
{
    return (int64_t)(row->call.length + row->outcome.length);
}

/* What a row has become: the next of its owner's calls is refused or not by the new size. */
static mishap *revise(tasks *t, const mishap_task_row *row, int64_t seen_ms, int64_t size,
                      bool *done)
{
    MISHAP_TRY(t->plan->engine->revise(t->rows, row, seen_ms, done));
    task_owner *owner = *done ? mishap_tasks_owner_of(t, row->owner) : NULL;
    if (owner)
        mishap_tasks_owner_change(owner, 0, size_of(row) - size);
    t->news = true;
    return NULL;
}

mishap *mishap_tasks_end_asking(tasks *t, mishap_arena *arena, mishap_task_row *row,
                                mishap_task_state state, const mishap *failure, bool *done)
{
    int64_t seen_ms = row->changed_ms, size = size_of(row);
    *done = false;
    MISHAP_TRY(mishap_task_end_row(arena, row, state, failure));
    return revise(t, row, seen_ms, size, done);
}

/* -- the ends of tasks that no caller answers -------------------------------------------------- */

static mishap *too_late(const tasks *t, const mishap_task_row *row,
                        const mishap_operation *operation)
{
    mishap_task_questions open;
    const char *name = operation && mishap_task_questions_take(row->outcome, operation, &open)
                           ? open.list[0].asked.question->name
                           : "";
    return mishap_raise(TIMEOUT, "The question `%s` was not answered in %lld hours.", name,
                        (long long)(t->plan->keep_ms / 3600000));
}

static mishap *end_one(tasks *t, mishap_arena *arena, mishap_task_row *row, bool cancels)
{
    const mishap_operation *operation = mishap_task_operation(t->plan->served->app, row->operation);
    char incident[MISHAP_ID_LENGTH + 1];
    bool done;
    mishap *failure = cancels ? mishap_tasks_cancelled() : too_late(t, row, operation);
    mishap *trouble = mishap_tasks_end_asking(
        t, arena, row, cancels ? MISHAP_TASK_CANCELLED : MISHAP_TASK_FAILED, failure, &done);
    if (!cancels && !trouble && done && operation) {
        snprintf(incident, sizeof incident, "%.*s", (int)row->incident.length, row->incident.data);
        mishap_tasks_record(t, incident, operation, NULL, failure);
    }
    mishap_free(failure);
    return trouble;
}

static mishap *end_found(tasks *t, mishap_task_find what, mishap_text text, int64_t number,
                         bool all_cancel, size_t *count)
{
    static struct found found;
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    found = (struct found){ .arena = &arena };
    mishap *failure = t->plan->engine->find(t->rows, what, text, number, keep_row, &found);
    if (!failure && found.lacks_memory && !found.count)
        failure = mishap_out_of_memory();
    for (size_t i = 0; !failure && i < found.count; i++)
        failure = end_one(t, &arena, &found.rows[i], all_cancel || found.rows[i].cancel);
    *count = found.count;
    mishap_arena_release(&arena);
    return failure;
}

/* The process of a command leaves those of a server to the server, which may give them more time.
 */
mishap *mishap_tasks_end_overdue(tasks *t)
{
    size_t count = 0;
    MISHAP_TRY(end_found(t, t->plan->detached ? MISHAP_TASK_OVERDUE_HERE : MISHAP_TASK_OVERDUE,
                         mishap_text_of(t->server), mishap_clock_now_ms() - t->plan->keep_ms, false,
                         &count));
    if (count == SOME)
        t->expire_ns = 0; /* the rest follows with the next tick */
    return NULL;
}

mishap *mishap_tasks_end_asking_of(tasks *t, mishap_text name)
{
    size_t count = SOME;
    while (count == SOME)
        MISHAP_TRY(end_found(t, MISHAP_TASK_ASKING_OF, name, 0, true, &count));
    return NULL;
}

/* -- answers ----------------------------------------------------------------------------------- */

static void tell(tasks *t, task_conn *from, uint32_t number, const mishap_task_row *row,
                 mishap_text id)
{
    mishap_task_reply reply = { .kind = MISHAP_TASK_TOLD,
                                .told = mishap_tasks_row_told(t, row, id) };
    mishap_tasks_reply(t, from, number, &reply);
}

struct giver {
    tasks *t;
    task_conn *from;
    uint32_t number;
    mishap_text owner, id;
    const mishap_task_given *given;
};

/* NULL: the caller was told the state. */
static mishap *give_row(const struct giver *g, mishap_arena *arena, mishap_task_row *row)
{
    tasks *t = g->t;
    int64_t seen_ms = row->changed_ms, size = size_of(row);
    bool done = false;
    mishap *wrong = NULL;
    mishap *failure = mishap_task_give(t->plan->served->app, arena, g->given, row, &wrong);
    if (!failure) {
        failure = revise(t, row, seen_ms, size, &done);
        if (failure)
            mishap_tasks_store_failed(t, failure);
        failure = failure ? mishap_tasks_unreadable() : done ? wrong : mishap_task_asks_nothing();
        if (failure != wrong)
            mishap_free(wrong);
    }
    if (done && row->state == MISHAP_TASK_QUEUED &&
        mishap_text_equal(row->server, mishap_text_of(t->server)))
        mishap_tasks_revive(t, row);
    /* A client of MCP hears no more than that its answers came. */
    bool quiet = g->given->form == MISHAP_ANSWERS_OF_CLIENT &&
                 (done || (failure && mishap_is(failure, CONFLICT)));
    if (failure && !quiet)
        return failure;
    mishap_free(failure);
    tell(t, g->from, g->number, row, g->id);
    return NULL;
}

static mishap *give_stored(const struct giver *g)
{
    tasks *t = g->t;
    mishap_arena arena;
    static struct found found;
    if (!mishap_tasks_can_read(t))
        return mishap_tasks_unreadable();
    mishap_arena_init(&arena, NULL, 0);
    found = (struct found){ .arena = &arena };
    mishap *failure = t->plan->engine->find(t->rows, MISHAP_TASK_ONE,
                                            (mishap_text){ g->id.data, MISHAP_TASK_KEY }, 0,
                                            keep_row, &found);
    if (failure) {
        mishap_tasks_store_failed(t, failure);
        failure = mishap_tasks_unreadable();
    } else if (found.lacks_memory) {
        failure = mishap_out_of_memory();
    } else if (!found.count || !mishap_task_owner_is(found.rows[0].owner, g->owner)) {
        mishap_tasks_reply(t, g->from, g->number, &(mishap_task_reply){ .kind = MISHAP_TASK_NONE });
    } else {
        failure = give_row(g, &arena, &found.rows[0]);
    }
    mishap_arena_release(&arena);
    return failure;
}

void mishap_tasks_give(tasks *t, task_conn *from, uint32_t number, mishap_text owner,
                       mishap_text id, const mishap_task_given *given)
{
    struct giver g = { t, from, number, owner, id, given };
    mishap *failure = NULL;
    if (!t->rows)
        failure = mishap_tasks_unreadable();
    else if (!mishap_task_id_check(t->secret, owner, id))
        mishap_tasks_reply(t, from, number, &(mishap_task_reply){ .kind = MISHAP_TASK_NONE });
    else
        failure = give_stored(&g);
    if (failure)
        mishap_tasks_refuse(t, from, number, failure);
}
