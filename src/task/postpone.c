/*
 * What waits while a loop has much to read. An answer may have many megabytes, and a caller may ask
 * for it on many connections at once. So an outcome is read from the store only when its connection
 * has little left to send: questions for outcomes wait here, the oldest first, and followers are
 * told later (watch.c). All other messages do not wait.
 */
#include "base/memory.h"
#include "task/inside.h"

bool mishap_tasks_is_full(const task_conn *c)
{
    return c->out.length - c->sent > TASK_FULL;
}

static void remove_first(task_postponed **at)
{
    task_postponed *p = *at;
    *at = p->next;
    mishap_release(p);
}

bool mishap_tasks_postpone(task_conn *c, uint32_t number, mishap_task_wish wish, mishap_text owner,
                           mishap_text id)
{
    if (wish != MISHAP_TASK_ANSWER || id.length != MISHAP_TASK_ID ||
        owner.length > MISHAP_TASK_OWNER || (!c->postponed && !mishap_tasks_is_full(c)))
        return false;
    task_postponed *p = mishap_allocate(sizeof *p), **at = &c->postponed;
    if (!p)
        return false;
    *p = (task_postponed){ .number = number };
    memcpy(p->owner, owner.data, owner.length);
    memcpy(p->id, id.data, MISHAP_TASK_ID);
    while (*at)
        at = &(*at)->next;
    *at = p;
    return true;
}

void mishap_tasks_forget_postponed(task_conn *c, uint32_t number)
{
    task_postponed **at = &c->postponed;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    if (*at)
        remove_first(at);
}

void mishap_tasks_ask_postponed(tasks *t, task_conn *c)
{
    while (c->socket >= 0 && c->postponed && !mishap_tasks_is_full(c)) {
        task_postponed p = *c->postponed;
        remove_first(&c->postponed);
        mishap_tasks_ask(t, c, p.number, MISHAP_TASK_ANSWER, mishap_text_of(p.owner),
                         (mishap_text){ p.id, MISHAP_TASK_ID });
    }
}

void mishap_tasks_release_postponed(task_conn *c)
{
    while (c->postponed)
        remove_first(&c->postponed);
}
