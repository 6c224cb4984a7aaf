/*
 * Rows of tasks. What has changed in one turn of the process is committed together; only then a
 * loop gets the id of a task, and a task begins. While the store fails, nothing of that happens: it
 * is tried again every second, and calls that should become tasks go on as calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/hex.h"
#include "incident/incident.h"
#include "incident/logs.h"
#include "task/inside.h"

enum { RETRY_MS = 1000, TICK_MS = 1000, EXPIRE_MS = 60000 };

/* -- whose rows these are ---------------------------------------------------------------------- */

/* A file of the data folder: its lock belongs to the one server that runs the tasks of the folder,
 * and it has the name by which that server knows its rows in a store that others use, too. */
static bool take_folder(tasks *t)
{
    char path[4200];
    unsigned char bytes[(sizeof t->server - 1) / 2];
    const size_t digits = sizeof t->server - 1;
    if ((size_t)snprintf(path, sizeof path, "%s/tasks", t->plan->served->setup.data) >= sizeof path)
        return false;
    if (t->lock < 0)
        t->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (t->lock < 0 || flock(t->lock, LOCK_EX | LOCK_NB) != 0)
        return false;
    if (pread(t->lock, t->server, digits, 0) == (ssize_t)digits &&
        mishap_hex_read(t->server, bytes, sizeof bytes))
        return true;
    if (!mishap_system_random(bytes, sizeof bytes))
        return false;
    mishap_hex_write(t->server, bytes, sizeof bytes);
    t->server[digits] = '\0';
    return pwrite(t->lock, t->server, digits, 0) == (ssize_t)digits && fsync(t->lock) == 0;
}

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

void mishap_tasks_open_rows(tasks *t)
{
    const struct mishap_task_engine *engine = t->plan->engine;
    mishap_task_rows *rows = NULL;
    if (t->revived || mishap_clock_monotonic_ns() < t->retry_ns)
        return;
    if (!take_folder(t)) { /* another server has it, perhaps the one that ends just now */
        t->retry_ns = mishap_clock_monotonic_ns() + RETRY_MS * TASK_MS;
        return;
    }
    mishap *failure = NULL;
    if (!t->rows) {
        failure = engine->open(t->plan->address, t->plan->served->setup.data, &rows);
        if (!failure)
            failure = engine->secret(rows, t->secret);
        if (failure) {
            engine->close(rows);
            mishap_tasks_store_failed(t, failure);
            return;
        }
        t->rows = rows;
    }
    failure = mishap_tasks_count(t);
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
    return x->adds || (x->stored && (x->phase == TASK_MARKS || x->phase == TASK_ENDED));
}

static mishap_task_change change_of(const tasks *t, const task *x)
{
    mishap_task_change change = {
        .kind = x->adds                  ? MISHAP_TASK_ADD
                : x->phase == TASK_MARKS ? MISHAP_TASK_BEGIN
                                         : MISHAP_TASK_END,
        .row = { .key = { x->id, MISHAP_TASK_KEY },
                 .owner = mishap_text_of(x->owner->name),
                 .operation = mishap_text_of(x->operation->name),
                 .server = mishap_text_of(t->server),
                 .incident = mishap_text_of(x->incident),
                 .state = x->state,
                 .again = x->again,
                 .attempts = x->attempts,
                 .made_ms = x->made_ms,
                 .changed_ms = x->changed_ms,
                 .scopes = mishap_tasks_scopes_mark(t) },
    };
    if (!x->secret)
        change.row.call = mishap_buffer_text(&x->call);
    if (x->phase == TASK_ENDED)
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
    if (change->kind == MISHAP_TASK_ADD) {
        x->adds = false;
        x->stored = true;
        mishap_tasks_remember(t, x);
        tell_loop(t, x);
        t->changed = t->changed || x->phase == TASK_ENDED;
    } else if (change->kind == MISHAP_TASK_END) {
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
    change.row.changed_ms = mishap_clock_now_ms() - t->plan->keep_ms;
    MISHAP_TRY(t->plan->engine->apply(t->rows, &change, 1));
    return mishap_tasks_count(t);
}

void mishap_tasks_tick(tasks *t, int64_t now)
{
    if (now < t->tick_ns)
        return;
    t->tick_ns = now + TICK_MS * TASK_MS;
    mishap_tasks_open_rows(t);
    if (!t->rows || now < t->retry_ns)
        return;
    if (t->retry_ns)
        t->expire_ns = 0; /* a change, which shows whether the store works again */
    mishap *failure = look_for_cancelled(t);
    if (!failure)
        failure = expire(t, now);
    if (failure)
        mishap_tasks_store_failed(t, failure);
    else if (t->retry_ns)
        store_works(t);
}
