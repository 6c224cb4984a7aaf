/*
 * Rows of tasks. What has changed in one turn of the process is committed together; only then a
 * loop gets the id of a task, and a task begins. While the store fails, nothing of that happens: it
 * is tried again every second, and calls that should become tasks go on as calls.
 */
#include "incident/incident.h"
#include "incident/logs.h"
#include "task/inside.h"

enum { RETRY_MS = 1000, TICK_MS = 1000, EXPIRE_MS = 60000, LATE_MS = 60000 };

static void revive(void *context, const mishap_task_row *row)
{
    mishap_tasks_revive(context, row);
}

/* -- trouble ----------------------------------------------------------------------------------- */

void mishap_tasks_store_failed(tasks *t, mishap *failure)
{
    char id[MISHAP_ID_LENGTH + 1];
    t->retry_ns = mishap_clock_monotonic_ns() + RETRY_MS * TASK_MS;
    if (!t->told) {
        t->told = true;
        mishap_log_say("%s: tasks cannot be stored, and are tried again: %s\n",
                       t->plan->served->app->name, mishap_told(failure)->message.data);
        mishap_id_make(id);
        mishap_incident_record(&(mishap_incident_entry){ .program = t->plan->served->app->name,
                                                         .operation = "tasks",
                                                         .id = id,
                                                         .failure = failure,
                                                         .to_stderr = t->plan->served->verbose });
    }
    mishap_free(failure);
}

static void store_works(tasks *t)
{
    if (t->told)
        mishap_log_say("%s: tasks can be stored again\n", t->plan->served->app->name);
    t->told = false;
    t->retry_ns = 0;
}

/* False: it failed, and is tried again. */
static bool open_store(tasks *t)
{
    const struct mishap_task_engine *engine = t->plan->engine;
    mishap_task_rows *rows = NULL;
    if (t->rows)
        return true;
    mishap *failure = engine->open(t->plan->address, t->plan->served->setup.data, &rows);
    if (!failure)
        failure = engine->secret(rows, t->secret);
    if (failure) {
        engine->close(rows);
        mishap_tasks_store_failed(t, failure);
        return false;
    }
    t->rows = rows;
    return true;
}

void mishap_tasks_open_rows(tasks *t)
{
    const struct mishap_task_engine *engine = t->plan->engine;
    if (t->revived || mishap_clock_monotonic_ns() < t->retry_ns)
        return;
    if (t->lock < 0)
        mishap_free(mishap_task_folder_name(t->plan->served->setup.data, t->plan->served->app->name,
                                            t->server, &t->lock));
    if (t->lock < 0) { /* another process has it, perhaps one that ends just now */
        t->retry_ns = mishap_clock_monotonic_ns() + RETRY_MS * TASK_MS;
        return;
    }
    if (!open_store(t))
        return;
    t->taken_ms = mishap_clock_now_ms();
    mishap *failure = mishap_tasks_count(t);
    if (!failure)
        failure = engine->find(t->rows, MISHAP_TASK_UNFINISHED, mishap_text_of(t->server), 0,
                               revive, t);
    if (failure) {
        mishap_tasks_store_failed(t, failure);
        return;
    }
    t->revived = true;
    store_works(t);
}

/* -- commits ----------------------------------------------------------------------------------- */

static bool has_change(const task *x)
{
    return x->adds || (x->stored && (x->phase == TASK_MARKS || x->phase == TASK_ASKS ||
                                     x->phase == TASK_ENDED || x->marked));
}

static mishap_task_change change_of(const tasks *t, const task *x)
{
    mishap_task_change change = {
        .kind = x->adds                  ? MISHAP_TASK_ADD
                : x->phase == TASK_MARKS ? MISHAP_TASK_BEGIN
                : x->phase == TASK_ASKS  ? MISHAP_TASK_PAUSE
                : x->phase == TASK_ENDED ? MISHAP_TASK_END
                                         : MISHAP_TASK_MARK,
        .row = { .key = { x->id, MISHAP_TASK_KEY },
                 .owner = mishap_text_of(x->owner->name),
                 .operation = mishap_text_of(x->operation->name),
                 .server = mishap_text_of(t->server),
                 .incident = mishap_text_of(x->incident),
                 .state = x->state,
                 .again = x->again,
                 .attempts = x->attempts,
                 .rounds = x->rounds,
                 .made_ms = x->made_ms,
                 .changed_ms = x->changed_ms,
                 .scopes = mishap_task_scopes_mark(t->plan->served->app) },
    };
    if (x->mark.length && x->phase != TASK_ENDED)
        change.row.mark = mishap_buffer_text(&x->mark);
    if (!x->secret)
        change.row.call = mishap_buffer_text(&x->call);
    if (x->phase == TASK_ENDED || x->phase == TASK_ASKS)
        change.row.outcome = mishap_buffer_text(&x->outcome);
    return change;
}

static void tell_loop(tasks *t, task *x)
{
    mishap_task_reply reply = { .kind = MISHAP_TASK_TOLD };
    if (!x->from)
        return;
    mishap_tasks_tell(t, x, &reply.told);
    mishap_tasks_reply(t, x->from, x->number, &reply);
    x->from = NULL;
}

/* A change of this task is durable. */
static void act_on(tasks *t, task *x, const mishap_task_change *change)
{
    x->marked = false;
    if (change->kind == MISHAP_TASK_ADD) {
        x->adds = false;
        x->stored = true;
        mishap_tasks_remember(t, x);
        tell_loop(t, x);
        t->changed = t->changed || x->phase == TASK_ENDED;
    } else if (change->kind == MISHAP_TASK_END || change->kind == MISHAP_TASK_PAUSE) {
        mishap_tasks_free(t, x);
        return;
    }
    if (x->phase == TASK_MARKS)
        mishap_tasks_hand(t, x);
}

/* Returns how many changes there were; 0 after a failure. */
static size_t commit_some(tasks *t)
{
    static mishap_task_change changes[TASK_BATCH];
    static task *of[TASK_BATCH];
    size_t count = 0;
    for (task *x = t->first; x && count < TASK_BATCH; x = x->next)
        if (has_change(x)) {
            of[count] = x;
            changes[count++] = change_of(t, x);
        }
    if (!count)
        return 0;
    mishap *failure = t->plan->engine->apply(t->rows, changes, count);
    if (failure) {
        for (size_t i = 0; i < count; i++)
            of[i]->unsure = of[i]->unsure || of[i]->adds;
        mishap_tasks_store_failed(t, failure);
        return 0;
    }
    store_works(t);
    for (size_t i = 0; i < count; i++)
        act_on(t, of[i], &changes[i]);
    return count;
}

void mishap_tasks_commit(tasks *t)
{
    if (!t->changed || !t->rows || mishap_clock_monotonic_ns() < t->retry_ns)
        return;
    t->changed = false;
    while (commit_some(t) == TASK_BATCH)
        continue;
    t->changed = t->changed || t->retry_ns;
}

/* -- the clock --------------------------------------------------------------------------------- */

struct keys {
    char keys[TASK_BATCH][MISHAP_TASK_KEY];
    size_t count;
};

static void collect(void *context, const mishap_task_row *row)
{
    struct keys *keys = context;
    if (keys->count < TASK_BATCH && row->key.length == MISHAP_TASK_KEY)
        memcpy(keys->keys[keys->count++], row->key.data, MISHAP_TASK_KEY);
}

/* A command has no connection to this process: it leaves a mark in the row. */
static mishap *look_for_cancelled(tasks *t)
{
    struct keys keys = { .count = 0 };
    if (!t->first)
        return NULL;
    MISHAP_TRY(t->plan->engine->find(t->rows, MISHAP_TASK_CANCELLING, mishap_text_of(t->server), 0,
                                     collect, &keys));
    for (size_t i = 0; i < keys.count; i++) {
        task *x = mishap_tasks_find(t, (mishap_text){ keys.keys[i], MISHAP_TASK_KEY });
        if (x && !x->cancel)
            mishap_tasks_cancel(t, x);
    }
    return NULL;
}

static mishap *expire(tasks *t, int64_t now)
{
    mishap_task_change change = { .kind = MISHAP_TASK_EXPIRE };
    if (now < t->expire_ns)
        return NULL;
    t->expire_ns = now + EXPIRE_MS * TASK_MS;
    if (t->plan->detached) /* a server with this folder may keep its own for longer */
        change.row.owner = (mishap_text)MISHAP_TEXT(MISHAP_TASK_BY_COMMAND);
    change.row.changed_ms = mishap_clock_now_ms() - t->plan->keep_ms;
    MISHAP_TRY(t->plan->engine->apply(t->rows, &change, 1));
    MISHAP_TRY(mishap_tasks_end_overdue(t));
    return mishap_tasks_count(t);
}

/* A command stores its task itself, and writes its answers into the row; another server that shares
 * the store writes answers, too. What was changed by a clock that was a little behind is found. */
static mishap *take_detached(tasks *t)
{
    int64_t since_ms = t->taken_ms - LATE_MS;
    t->taken_ms = mishap_clock_now_ms();
    return t->plan->engine->find(t->rows, MISHAP_TASK_DETACHED, mishap_text_of(t->server), since_ms,
                                 revive, t);
}

struct rest {
    const mishap_operation *operations;
    bool any;
};

static void find_rest(void *context, const mishap_task_row *row)
{
    struct rest *rest = context;
    const mishap_operation *o = rest->operations;
    while (o->name && !mishap_text_equal(mishap_text_of(o->name), row->operation))
        o++;
    rest->any = rest->any || o->name;
}

/* Without a server: this process ends when there is nothing left to do. What only another build of
 * the program can run is left for that. While another process has the data folder, this one waits,
 * since that one may die. */
static mishap *look_for_rest(tasks *t)
{
    struct rest rest = { t->plan->served->app->operations, t->first != NULL };
    if (!rest.any)
        MISHAP_TRY(t->plan->engine->find(t->rows, MISHAP_TASK_DETACHED, mishap_text_of(t->server),
                                         0, find_rest, &rest));
    if (!rest.any)
        mishap_tasks_end();
    return NULL;
}

static mishap *look_at_rows(tasks *t, int64_t now)
{
    MISHAP_TRY(look_for_cancelled(t));
    MISHAP_TRY(take_detached(t));
    if (t->plan->detached)
        MISHAP_TRY(look_for_rest(t));
    return expire(t, now);
}

/* Another process has the folder. The name of the folder is known by now. */
static void stand_by(tasks *t)
{
    mishap *failure = t->server[0] && open_store(t) ? look_for_rest(t) : NULL;
    if (failure)
        mishap_tasks_store_failed(t, failure);
}

void mishap_tasks_tick(tasks *t, int64_t now)
{
    if (now < t->tick_ns)
        return;
    t->tick_ns = now + TICK_MS * TASK_MS;
    mishap_tasks_open_rows(t);
    if (!t->revived && t->plan->detached)
        stand_by(t);
    if (!t->rows || !t->revived || now < t->retry_ns)
        return;
    if (t->retry_ns)
        t->expire_ns = 0; /* a change, which shows whether the store works again */
    mishap *failure = look_at_rows(t, now);
    if (failure)
        mishap_tasks_store_failed(t, failure);
    else if (t->retry_ns)
        store_works(t);
}
