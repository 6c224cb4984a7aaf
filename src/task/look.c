/* What loops ask of a task: how far it is, its outcome, and to cancel or remove it. */
#include "task/inside.h"

void mishap_tasks_tell(tasks *t, const task *x, mishap_task_told *told)
{
    *told = (mishap_task_told){
        .id = { x->id, MISHAP_TASK_ID },
        .operation = mishap_text_of(x->operation->name),
        .incident = mishap_text_of(x->incident),
        .state = x->state,
        .made_ms = x->made_ms,
        .changed_ms = x->changed_ms,
        .keep_ms = t->plan->keep_ms,
        .cancel = x->cancel,
        .has_progress = x->has_progress,
        .done = x->done,
        .total = x->total,
        .words = mishap_text_of(x->words),
    };
    if (x->phase == TASK_ENDED || x->phase == TASK_ASKS) /* that is not durable yet */
        told->state = MISHAP_TASK_RUNNING;
}

struct question {
    tasks *t;
    task_conn *from;
    uint32_t number;
    mishap_task_wish wish;
    mishap_text id, owner;
    bool found, removes;
    mishap_arena *arena; /* for a row that asks, and is to be cancelled */
    bool ends;
    mishap_task_row row;
    task_owner *payer; /* of a row that is removed; NULL: there is no memory */
    size_t bytes;
};

mishap_task_told mishap_tasks_row_told(const tasks *t, const mishap_task_row *row, mishap_text id)
{
    return (mishap_task_told){ .id = id,
                               .operation = row->operation,
                               .incident = row->incident,
                               .state = row->state,
                               .made_ms = row->made_ms,
                               .changed_ms = row->changed_ms,
                               .keep_ms = t->plan->keep_ms,
                               .cancel = row->cancel,
                               .questions = row->state == MISHAP_TASK_ASKING
                                                ? row->outcome
                                                : (mishap_text){ NULL, 0 } };
}

static void tell_row(void *context, const mishap_task_row *row)
{
    struct question *q = context;
    mishap_task_reply reply = { .kind = MISHAP_TASK_TOLD };
    if (!mishap_task_owner_is(row->owner, q->owner))
        return;
    q->found = true;
    q->ends = row->state == MISHAP_TASK_ASKING &&
              (q->wish == MISHAP_TASK_DROP || q->wish == MISHAP_TASK_STOP) &&
              mishap_task_copy_row(q->arena, row, &q->row);
    if (q->ends)
        return;
    q->removes = q->wish == MISHAP_TASK_DROP && mishap_task_has_ended(row->state);
    if (q->removes) {
        q->payer = mishap_tasks_owner_of(q->t, row->owner);
        q->bytes = row->call.length + row->outcome.length;
        return;
    }
    reply.told = mishap_tasks_row_told(q->t, row, q->id);
    if (q->wish == MISHAP_TASK_ANSWER && mishap_task_has_ended(row->state)) {
        reply.told.call = row->call;
        reply.told.outcome = row->outcome;
    }
    mishap_tasks_reply(q->t, q->from, q->number, &reply);
}

/* A task of another server, too: that one runs it, and looks for the mark of the cancellation. */
static mishap *change_row(tasks *t, mishap_task_change_kind kind, mishap_text key)
{
    mishap_task_change change = { .kind = kind, .row = { .key = key } };
    return t->plan->engine->apply(t->rows, &change, 1);
}

bool mishap_tasks_can_read(const tasks *t)
{
    return t->rows && mishap_clock_monotonic_ns() >= t->retry_ns;
}

mishap *mishap_tasks_unreadable(void)
{
    return mishap_retry_after(mishap_raise(UNAVAILABLE, "Tasks cannot be read just now."),
                              MISHAP_TASK_POLL_MS);
}

/* No process has it. If it was answered just now, its process finds the mark of the cancellation.
 */
static mishap *end_asking(struct question *q)
{
    bool done;
    mishap *cancelled = mishap_tasks_cancelled();
    mishap *failure = mishap_tasks_end_asking(q->t, q->arena, &q->row, MISHAP_TASK_CANCELLED,
                                              cancelled, &done);
    mishap_free(cancelled);
    if (failure)
        return failure;
    q->row.cancel = true;
    mishap_task_reply reply = { .kind = MISHAP_TASK_TOLD,
                                .told = mishap_tasks_row_told(q->t, &q->row, q->id) };
    if (!done)
        reply.told.state = MISHAP_TASK_QUEUED;
    mishap_tasks_reply(q->t, q->from, q->number, &reply);
    return NULL;
}

static mishap *ask_rows(struct question *q)
{
    mishap_text key = { q->id.data, MISHAP_TASK_KEY };
    mishap_task_reply reply = { .kind = MISHAP_TASK_REMOVED };
    if (q->wish == MISHAP_TASK_DROP || q->wish == MISHAP_TASK_STOP)
        MISHAP_TRY(change_row(q->t, MISHAP_TASK_CANCEL, key));
    mishap_task_find what = q->wish == MISHAP_TASK_SHOW ? MISHAP_TASK_STATE : MISHAP_TASK_ONE;
    MISHAP_TRY(q->t->plan->engine->find(q->t->rows, what, key, 0, tell_row, q));
    if (q->ends)
        return end_asking(q);
    if (!q->found)
        reply.kind = MISHAP_TASK_NONE;
    else if (!q->removes)
        return NULL;
    else
        MISHAP_TRY(change_row(q->t, MISHAP_TASK_REMOVE, key));
    if (q->removes && q->payer)
        mishap_tasks_owner_change(q->payer, -1, -(int64_t)q->bytes);
    mishap_tasks_reply(q->t, q->from, q->number, &reply);
    return NULL;
}

static mishap *ask_store(struct question *q)
{
    if (!mishap_tasks_can_read(q->t))
        return mishap_tasks_unreadable();
    mishap_arena arena;
    mishap_arena_init(&arena, NULL, 0);
    q->arena = &arena;
    mishap *failure = ask_rows(q);
    mishap_arena_release(&arena);
    if (!failure)
        return NULL;
    mishap_tasks_store_failed(q->t, failure);
    return mishap_tasks_unreadable();
}

/* It says so in its row, too: a process that takes it up after this one must not run it again.
 * While the store fails it is cancelled without that. */
static void mark_cancelled(tasks *t, const task *x)
{
    mishap *failure = mishap_tasks_can_read(t) ? change_row(t, MISHAP_TASK_CANCEL,
                                                            (mishap_text){ x->id, MISHAP_TASK_KEY })
                                               : NULL;
    if (failure)
        mishap_tasks_store_failed(t, failure);
}

/* The owner is a number of 16 digits, a colon and this name (id.c). */
static bool has_name(const task_owner *owner, mishap_text name)
{
    enum { DIGITS = 16 };
    return strlen(owner->name) > DIGITS && owner->name[DIGITS] == ':' && owner->name[0] != '-' &&
           mishap_text_equal(mishap_text_of(owner->name + DIGITS + 1), name);
}

void mishap_tasks_block(tasks *t, mishap_text name)
{
    for (task *x = t->first, *next; x; x = next) {
        next = x->next;
        if (x->cancel || x->phase == TASK_ENDED || !has_name(x->owner, name))
            continue;
        if (x->stored)
            mark_cancelled(t, x);
        mishap_tasks_cancel(t, x);
    }
    mishap *failure = mishap_tasks_can_read(t) ? mishap_tasks_end_asking_of(t, name) : NULL;
    if (failure)
        mishap_tasks_store_failed(t, failure);
}

static void ask_live(tasks *t, task *x, task_conn *from, uint32_t number, mishap_task_wish wish)
{
    mishap_task_reply reply = { .kind = MISHAP_TASK_TOLD };
    if ((wish == MISHAP_TASK_DROP || wish == MISHAP_TASK_STOP) && x->phase != TASK_ENDED) {
        mark_cancelled(t, x);
        mishap_tasks_cancel(t, x);
    }
    mishap_tasks_tell(t, x, &reply.told);
    mishap_tasks_reply(t, from, number, &reply);
}

void mishap_tasks_ask(tasks *t, task_conn *from, uint32_t number, mishap_task_wish wish,
                      mishap_text owner, mishap_text id)
{
    mishap_task_reply reply = { .kind = MISHAP_TASK_NONE };
    struct question q = {
        .t = t, .from = from, .number = number, .wish = wish, .id = id, .owner = owner
    };
    mishap *failure = NULL;
    if (!t->rows)
        failure = mishap_tasks_unreadable();
    else if (!mishap_task_id_check(t->secret, owner, id))
        mishap_tasks_reply(t, from, number, &reply);
    else if (wish == MISHAP_TASK_WATCH || wish == MISHAP_TASK_FOLLOW)
        failure = mishap_tasks_can_read(t) ? mishap_tasks_watch(t, from, number, wish, owner, id)
                                           : mishap_tasks_unreadable();
    else {
        task *x = mishap_tasks_find(t, (mishap_text){ id.data, MISHAP_TASK_KEY });
        if (x && x->stored)
            ask_live(t, x, from, number, wish);
        else
            failure = ask_store(&q);
    }
    if (!failure)
        return;
    reply = (mishap_task_reply){ .kind = MISHAP_TASK_REFUSED, .failure = failure };
    mishap_tasks_reply(t, from, number, &reply);
    mishap_free(failure);
}
