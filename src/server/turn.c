/*
 * Iterations (turns) of a loop. In one iteration every connection that has sent something gets at
 * least one answer. It continues only while the iteration is young: requests that were sent in
 * advance, and the rest of long work (mishap_http_task), wait for a later iteration. So no client
 * waits for all work of another client, even if that has sent much at once.
 */
#include "server/state.h"

enum { TURN_NS = 5 * 1000000 };

void mishap_http_turn_begin(mishap_http_server *server)
{
    server->turn++;
    server->turn_ends_ns = server->now_ns + TURN_NS;
}

void mishap_http_turn_extend(mishap_http_server *server)
{
    server->turn_ends_ns = mishap_clock_monotonic_ns() + TURN_NS;
}

bool mishap_http_turn_is_over(const mishap_http_server *server)
{
    return server->turn_ends_ns && mishap_clock_monotonic_ns() >= server->turn_ends_ns;
}

/* -- tasks ------------------------------------------------------------------------------------- */

void mishap_http_task_wait(mishap_http_server *server, mishap_http_task *task)
{
    if (task->waits)
        return;
    task->waits = true;
    task->since = server->turn;
    task->next = NULL;
    task->previous = server->last_task;
    *(task->previous ? &task->previous->next : &server->first_task) = task;
    server->last_task = task;
    if (server->wake)
        server->wake(server);
}

void mishap_http_task_drop(mishap_http_server *server, mishap_http_task *task)
{
    if (!task->waits)
        return;
    *(task->previous ? &task->previous->next : &server->first_task) = task->next;
    *(task->next ? &task->next->previous : &server->last_task) = task->previous;
    task->waits = false;
    task->next = task->previous = NULL;
}

bool mishap_http_task_next(mishap_http_server *server)
{
    mishap_http_task *task = server->first_task;
    if (!task || task->since == server->turn)
        return false;
    mishap_http_task_drop(server, task);
    task->go_on(task);
    return true;
}
