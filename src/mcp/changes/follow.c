/*
 * Tasks that a subscriptions/listen follows (extension io.modelcontextprotocol/tasks): it is
 * acknowledged when it is known which of the ids are tasks of this caller; from then on each of
 * these tasks is told in notifications/tasks, as tasks/get would, now and whenever it changes.
 */
#include "mcp/changes/follow.h"

#include "base/memory.h"
#include "mcp/calls/flight.h"

typedef struct followed {
    mishap_task_wait wait; /* the first member */
    struct mishap_mcp_follow *of;
    bool waits, known;
    mishap_text id;
} followed;

struct mishap_mcp_follow {
    mishap_mcp_peer *peer;
    mishap_task_asker asker; /* with its own copies: the request is gone when it asks again */
    mishap_mcp_follower follower;
    mishap_mcp_asked asked; /* what the client can answer */
    size_t pending, count;
    followed tasks[];
};

static void ask(followed *f, mishap_task_wish wish)
{
    f->waits = mishap_task_client_ask(*f->of->peer->server->tasks, &f->wait, wish, &f->of->asker,
                                      f->id);
}

/* A task that cannot be told now is told with its next change. */
static void tell_task(const struct mishap_mcp_follow *follow, const mishap_task_told *told)
{
    mishap_buffer members = { 0 };
    mishap *failure = mishap_mcp_put_task(&members, follow->peer, &follow->asked, told);
    if (!failure && !members.failed)
        follow->follower.tell(follow->follower.owner, mishap_buffer_text(&members));
    mishap_free(failure);
    mishap_buffer_release(&members);
}

/* If the process of tasks has died, the one that takes its place is asked. */
static void on_told(mishap_task_wait *wait, const mishap_task_reply *reply)
{
    followed *f = (followed *)(void *)wait;
    f->waits = !mishap_task_reply_is_last(wait, reply);
    if (reply->kind == MISHAP_TASK_TOLD)
        tell_task(f->of, &reply->told);
    else if (reply->kind == MISHAP_TASK_LOST)
        ask(f, MISHAP_TASK_FOLLOW);
    else if (reply->kind == MISHAP_TASK_REFUSED)
        f->of->follower.refused(f->of->peer, f->of->follower.owner, reply->failure);
}

static void begin(struct mishap_mcp_follow *follow)
{
    follow->follower.ready(follow->follower.owner);
    for (size_t i = 0; i < follow->count; i++) {
        followed *f = &follow->tasks[i];
        if (!f->known)
            continue;
        f->wait = (mishap_task_wait){ .answered = on_told };
        ask(f, MISHAP_TASK_FOLLOW);
    }
}

static void on_known(mishap_task_wait *wait, const mishap_task_reply *reply)
{
    followed *f = (followed *)(void *)wait;
    f->waits = false;
    f->known = reply->kind == MISHAP_TASK_TOLD;
    if (--f->of->pending == 0)
        begin(f->of);
}

static char *keep_text(char *to, mishap_text text)
{
    if (text.length)
        memcpy(to, text.data, text.length);
    return to + text.length;
}

mishap *mishap_mcp_follow_make(mishap_mcp_peer *peer, unsigned capabilities, const mishap_text *ids,
                               size_t count, const mishap_mcp_follower *follower,
                               struct mishap_mcp_follow **out)
{
    mishap_task_asker asker = mishap_mcp_task_asker(peer);
    mishap_text name = { asker.name, asker.name ? strlen(asker.name) + 1 : 0 };
    size_t size = sizeof **out + count * sizeof(followed),
           texts = name.length + asker.remote.length;
    *out = NULL;
    for (size_t i = 0; i < count; i++)
        texts += ids[i].length;
    struct mishap_mcp_follow *made = mishap_allocate(size + texts);
    if (!made)
        return mishap_out_of_memory();
    char *to = (char *)made + size;
    asker.name = asker.name ? to : NULL;
    to = keep_text(to, name);
    mishap_text remote = { to, asker.remote.length };
    to = keep_text(to, asker.remote);
    asker.remote = remote;
    *made = (struct mishap_mcp_follow){ .peer = peer,
                                        .asker = asker,
                                        .follower = *follower,
                                        .count = count,
                                        .asked = { .revision = MISHAP_MCP_2026_07_28,
                                                   .capabilities = capabilities } };
    for (size_t i = 0; i < count; i++) {
        made->tasks[i] = (followed){ .of = made, .id = { to, ids[i].length } };
        to = keep_text(to, ids[i]);
    }
    *out = made;
    return NULL;
}

void mishap_mcp_follow_begin(struct mishap_mcp_follow *follow)
{
    for (size_t i = 0; i < follow->count; i++) {
        followed *f = &follow->tasks[i];
        f->wait = (mishap_task_wait){ .answered = on_known };
        ask(f, MISHAP_TASK_SHOW);
        follow->pending += f->waits;
    }
    if (!follow->pending)
        begin(follow);
}

void mishap_mcp_follow_end(struct mishap_mcp_follow *follow)
{
    for (size_t i = 0; follow && i < follow->count; i++)
        if (follow->tasks[i].waits)
            mishap_task_client_leave(*follow->peer->server->tasks, &follow->tasks[i].wait);
    mishap_release(follow);
}

void mishap_mcp_follow_put(mishap_buffer *b, const struct mishap_mcp_follow *follow)
{
    mishap_json_open(b, '[');
    for (size_t i = 0; i < follow->count; i++)
        if (follow->tasks[i].known)
            mishap_json_string(b, follow->tasks[i].id);
    mishap_json_close(b, ']');
}
