/*
 * Callers that follow a task: each is told its state at once, and again when it has changed. A task
 * of this process is looked at when it has another version; one of another server that shares the
 * store, and the end of any task, are read in its row.
 */
#include <stdio.h>

#include "base/memory.h"
#include "task/inside.h"

enum {
    PROGRESS_MS = 100, /* a handler may report more often than people can read */
    ROW_MS = 1000,     /* how often a row of another server is read */
    PACE_MS = 100,     /* in so long, so many of these rows are read, for all callers together */
    READS = 50,
};

void mishap_tasks_note(tasks *t, task *x)
{
    x->version++;
    t->news = t->news || x->stored;
}

static bool has_room(const tasks *t, mishap_text owner)
{
    size_t all = 0, of_one = 0;
    for (const task_watch *w = t->watches; w; w = w->next)
        if (w->from) {
            all++;
            of_one += mishap_text_equal(mishap_text_of(w->owner), owner);
        }
    return all < TASK_WATCHES && of_one < TASK_WATCHES / 4;
}

mishap *mishap_tasks_watch(tasks *t, task_conn *from, uint32_t number, mishap_task_wish wish,
                           mishap_text owner, mishap_text id)
{
    if (!has_room(t, owner))
        return mishap_retry_after(mishap_raise(RATE_LIMITED, "Too many readers follow tasks."),
                                  MISHAP_TASK_POLL_MS);
    task_watch *w = mishap_allocate(sizeof *w);
    if (!w)
        return mishap_out_of_memory();
    *w = (task_watch){
        .next = t->watches, .from = from, .number = number, .whole = wish == MISHAP_TASK_FOLLOW
    };
    snprintf(w->id, sizeof w->id, "%.*s", (int)id.length, id.data);
    snprintf(w->owner, sizeof w->owner, "%.*s", (int)owner.length, owner.data);
    t->watches = w;
    t->news = true;
    return NULL;
}

void mishap_tasks_unwatch(tasks *t, const task_conn *from, uint32_t number)
{
    for (task_watch *w = t->watches; w; w = w->next)
        if (w->from == from && w->number == number)
            w->from = NULL;
}

void mishap_tasks_watches_gone(tasks *t, const task_conn *from)
{
    for (task_watch *w = t->watches; w; w = w->next)
        if (w->from == from)
            w->from = NULL;
}

/* -- telling ----------------------------------------------------------------------------------- */

static void tell(tasks *t, task_watch *w, mishap_task_told *told, int64_t now)
{
    mishap_task_reply reply = { .kind = MISHAP_TASK_TOLD, .told = *told };
    bool sent = mishap_tasks_reply(t, w->from, w->number, &reply);
    w->told = true;
    w->told_ns = now;
    w->state = told->state;
    w->changed_ms = told->changed_ms;
    if (!sent || mishap_task_has_ended(told->state)) /* a refusal is the last reply, too */
        w->from = NULL;
}

/* Returns when it is due again. */
static int64_t tell_live(tasks *t, task_watch *w, const task *x, int64_t now)
{
    mishap_task_told told;
    if (w->live && w->version == x->version)
        return INT64_MAX;
    mishap_tasks_tell(t, x, &told);
    int64_t due = w->told_ns + PROGRESS_MS * TASK_MS;
    if (w->told && w->state == told.state && now < due)
        return due;
    w->live = true;
    w->version = x->version;
    tell(t, w, &told, now);
    return INT64_MAX;
}

struct watched {
    tasks *t;
    task_watch *w;
    int64_t now;
    bool found;
};

static void tell_row(void *context, const mishap_task_row *row)
{
    struct watched *of = context;
    task_watch *w = of->w;
    if (!mishap_task_owner_is(row->owner, mishap_text_of(w->owner)))
        return;
    of->found = true;
    bool ended = mishap_task_has_ended(row->state);
    if (w->told && !ended && w->state == row->state && w->changed_ms == row->changed_ms)
        return;
    mishap_task_told told = mishap_tasks_row_told(of->t, row,
                                                  (mishap_text){ w->id, MISHAP_TASK_ID });
    if (ended && w->whole) {
        told.call = row->call;
        told.outcome = row->outcome;
    }
    tell(of->t, w, &told, of->now);
}

static bool may_read(tasks *t, int64_t now)
{
    if (now - t->reads_ns >= PACE_MS * TASK_MS) {
        t->reads_ns = now;
        t->reads = 0;
    }
    return t->reads++ < READS;
}

/* A row that was read before can wait. */
static int64_t tell_stored(tasks *t, task_watch *w, int64_t now)
{
    struct watched of = { t, w, now, false };
    if (now < w->row_ns && !w->live)
        return w->row_ns;
    if (w->told && !w->live && !may_read(t, now))
        return t->reads_ns + PACE_MS * TASK_MS;
    w->row_ns = now + ROW_MS * TASK_MS;
    w->live = false;
    if (!mishap_tasks_can_read(t))
        return w->row_ns;
    mishap *failure = t->plan->engine->find(t->rows, w->whole ? MISHAP_TASK_ONE : MISHAP_TASK_STATE,
                                            (mishap_text){ w->id, MISHAP_TASK_KEY }, 0, tell_row,
                                            &of);
    if (failure) {
        mishap_tasks_store_failed(t, failure);
    } else if (!of.found) {
        mishap_tasks_reply(t, w->from, w->number, &(mishap_task_reply){ .kind = MISHAP_TASK_NONE });
        w->from = NULL;
    }
    return w->row_ns;
}

/* Returns when it is due again. */
static int64_t tell_one(tasks *t, task_watch *w, int64_t now)
{
    if (!w->from)
        return INT64_MAX;
    if (mishap_tasks_is_full(w->from)) {
        w->from->owes = true;
        return INT64_MAX;
    }
    const task *x = mishap_tasks_find(t, (mishap_text){ w->id, MISHAP_TASK_KEY });
    return x && x->stored ? tell_live(t, w, x, now) : tell_stored(t, w, now);
}

void mishap_tasks_tell_watches(tasks *t)
{
    int64_t now = mishap_clock_monotonic_ns();
    bool news = t->news || t->drained;
    t->drained = false;
    if (!t->watches)
        t->watch_ns = INT64_MAX;
    if (!t->watches || (!news && now < t->watch_ns))
        return;
    t->news = false;
    t->watch_ns = INT64_MAX;
    for (task_watch **at = &t->watches, *w; (w = *at);) {
        int64_t due = tell_one(t, w, now);
        t->watch_ns = w->from && due < t->watch_ns ? due : t->watch_ns;
        if (w->from) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        mishap_release(w);
    }
}
