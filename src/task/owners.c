/*
 * How much each caller has in the store: tasks, and bytes of their calls and outcomes. A call
 * counts from its beginning, since it may become a task, and an outcome from the moment it is
 * there, so many calls that come at once do not get past a limit before the first of them is
 * stored. A call with secrets is not stored: it counts until it has ended, since it is in memory.
 */
#include "base/hash.h"
#include "base/memory.h"
#include "task/inside.h"

task_owner *mishap_tasks_owner_of(tasks *t, mishap_text name)
{
    static const uint64_t known[2] = { 3, 5 }; /* a chosen owner only has a longer chain */
    task_owner **place = &t->owners[mishap_hash(known, name) % TASK_OWNERS];
    task_owner *owner = *place;
    while (owner && !mishap_text_equal(mishap_text_of(owner->name), name))
        owner = owner->chain;
    if (owner)
        return owner;
    owner = mishap_allocate(sizeof *owner + name.length + 1);
    if (!owner)
        return NULL;
    *owner = (task_owner){ .chain = *place };
    if (name.length)
        memcpy(owner->name, name.data, name.length);
    owner->name[name.length] = '\0';
    *place = owner;
    return owner;
}

/* What another server or a command has removed was counted here until all is counted again. */
static size_t changed(size_t number, int64_t change)
{
    size_t less = change < 0 ? (size_t)-change : 0;
    return change >= 0 ? number + (size_t)change : less < number ? number - less : 0;
}

void mishap_tasks_owner_change(task_owner *owner, int count, int64_t bytes)
{
    owner->count = changed(owner->count, count);
    owner->bytes = changed(owner->bytes, bytes);
}

mishap *mishap_tasks_owner_check(const tasks *t, const task_owner *owner, size_t bytes)
{
    mishap *m = NULL;
    if (owner->count >= t->plan->most)
        m = mishap_raise(RATE_LIMITED, "This caller has %zu tasks, which is all that are kept.",
                         owner->count);
    else if (owner->bytes >= t->plan->most_bytes || bytes > t->plan->most_bytes - owner->bytes)
        m = mishap_raise(RATE_LIMITED,
                         "With this call, the tasks of this caller would take more than %zu bytes.",
                         t->plan->most_bytes);
    m = mishap_retry_after(m, MISHAP_TASK_POLL_MS);
    return mishap_suggest(m, "Remove tasks that have ended: DELETE /tasks/ID.");
}

size_t mishap_tasks_held_bytes(const task *x)
{
    return x->stored && !x->secret ? 0 : x->call.length;
}

/* An owner that cannot be counted for want of memory is counted with the next time. */
static void count_owner(void *context, mishap_text name, int64_t count, int64_t bytes)
{
    task_owner *owner = mishap_tasks_owner_of(context, name);
    if (!owner)
        return;
    owner->count += (size_t)count;
    owner->bytes += (size_t)bytes;
}

static void forget_idle(tasks *t)
{
    for (size_t i = 0; i < TASK_OWNERS; i++)
        for (task_owner **at = &t->owners[i], *owner; (owner = *at);) {
            if (owner->count || owner->live) {
                at = &owner->chain;
                continue;
            }
            *at = owner->chain;
            mishap_release(owner);
        }
}

mishap *mishap_tasks_count(tasks *t)
{
    for (size_t i = 0; i < TASK_OWNERS; i++)
        for (task_owner *owner = t->owners[i]; owner; owner = owner->chain)
            owner->count = owner->bytes = 0;
    for (task *x = t->first; x; x = x->next) {
        mishap_tasks_owner_change(x->owner, !x->stored, (int64_t)mishap_tasks_held_bytes(x));
        if (x->phase == TASK_ENDED)
            mishap_tasks_owner_change(x->owner, 0, (int64_t)x->outcome.length);
    }
    mishap *failure = t->plan->engine->count(t->rows, count_owner, t);
    forget_idle(t);
    return failure;
}
