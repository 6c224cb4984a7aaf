/*
 * A loop's connection to the process of tasks. It is made when it is first needed, and again when
 * the process was replaced: the socket that it connects to belongs to the supervisor. Nothing here
 * waits.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "task/message.h"
#include "task/place/place.h"

enum { READ_AT_ONCE = 64 << 10 };

struct mishap_task_client {
    int epoll, socket; /* socket -1: there is no connection */
    uint32_t last;
    mishap_buffer in, out;
    size_t sent;
    bool waits_to_send;
    mishap_task_wait *first; /* questions without a reply */
};

mishap *mishap_task_client_open(mishap_task_client **out)
{
    mishap_task_client *c = mishap_allocate(sizeof *c);
    *out = NULL;
    if (!c)
        return mishap_out_of_memory();
    *c = (mishap_task_client){ .socket = -1, .epoll = epoll_create1(EPOLL_CLOEXEC) };
    if (c->epoll < 0) {
        mishap_release(c);
        return mishap_raise(UNAVAILABLE, "The server process cannot wait for tasks.");
    }
    *out = c;
    return NULL;
}

static void disconnect(mishap_task_client *c)
{
    if (c->socket >= 0)
        close(c->socket);
    c->socket = -1;
    c->sent = 0;
    c->waits_to_send = false;
    mishap_buffer_release(&c->in);
    mishap_buffer_release(&c->out);
}

void mishap_task_client_close(mishap_task_client *c)
{
    if (!c)
        return;
    disconnect(c);
    close(c->epoll);
    mishap_release(c);
}

int mishap_task_client_file(const mishap_task_client *c)
{
    return c->epoll;
}

/* -- sending ----------------------------------------------------------------------------------- */

static void listen_for(mishap_task_client *c, bool send, int how)
{
    struct epoll_event event = { .events = EPOLLIN | (send ? (uint32_t)EPOLLOUT : 0) };
    epoll_ctl(c->epoll, how, c->socket, &event);
    c->waits_to_send = send;
}

static bool connect_now(mishap_task_client *c)
{
    if (c->socket >= 0)
        return true;
    c->socket = mishap_task_place_connect();
    if (c->socket < 0)
        return false;
    listen_for(c, false, EPOLL_CTL_ADD);
    size_t begun = mishap_task_message_begin(&c->out, MISHAP_TASK_HELLO, 0);
    mishap_pack_text(&c->out, mishap_task_place_secret());
    mishap_task_message_end(&c->out, begun);
    return !c->out.failed;
}

/* A connection that is broken is noticed when it is read. */
static void flush(mishap_task_client *c)
{
    while (c->socket >= 0 && c->sent < c->out.length) {
        ssize_t count = send(c->socket, c->out.data + c->sent, c->out.length - c->sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count <= 0)
            break;
        c->sent += (size_t)count;
    }
    if (c->sent == c->out.length) {
        c->sent = 0;
        mishap_buffer_reset_within(&c->out, READ_AT_ONCE);
    }
    bool rest = c->sent < c->out.length;
    if (c->socket >= 0 && rest != c->waits_to_send)
        listen_for(c, rest, EPOLL_CTL_MOD);
}

static void remember(mishap_task_client *c, mishap_task_wait *wait)
{
    wait->previous = NULL;
    wait->next = c->first;
    if (c->first)
        c->first->previous = wait;
    c->first = wait;
}

static void forget(mishap_task_client *c, mishap_task_wait *wait)
{
    if (wait->next)
        wait->next->previous = wait->previous;
    *(wait->previous ? &wait->previous->next : &c->first) = wait->next;
}

/* What was put into the buffer is a question of this wait. */
static bool send_question(mishap_task_client *c, mishap_task_wait *wait)
{
    if (c->out.failed) { /* a message may be incomplete: begin anew, with the next question */
        shutdown(c->socket, SHUT_RDWR);
        return false;
    }
    remember(c, wait);
    flush(c);
    return true;
}

/* `stays`: more than one answer comes. The name of who asks is written into `name`. */
static bool begin_question(mishap_task_client *c, mishap_task_wait *wait,
                           const mishap_task_asker *asker, char name[MISHAP_TASK_OWNER + 1],
                           bool stays)
{
    if (!connect_now(c))
        return false;
    mishap_task_owner_write(asker, name);
    wait->number = ++c->last;
    wait->stays = stays;
    return true;
}

bool mishap_task_client_start(mishap_task_client *c, mishap_task_wait *wait,
                              const mishap_call *call, const mishap_task_asker *asker, int after_ms)
{
    char name[MISHAP_TASK_OWNER + 1];
    if (!begin_question(c, wait, asker, name, false))
        return false;
    mishap_task_put_start(&c->out, wait->number, call, mishap_text_of(name), after_ms);
    return send_question(c, wait);
}

bool mishap_task_client_ask(mishap_task_client *c, mishap_task_wait *wait, mishap_task_wish wish,
                            const mishap_task_asker *asker, mishap_text id)
{
    char name[MISHAP_TASK_OWNER + 1];
    if (!begin_question(c, wait, asker, name,
                        wish == MISHAP_TASK_WATCH || wish == MISHAP_TASK_FOLLOW))
        return false;
    mishap_task_put_ask(&c->out, wait->number, wish, mishap_text_of(name), id);
    return send_question(c, wait);
}

bool mishap_task_client_give(mishap_task_client *c, mishap_task_wait *wait,
                             const mishap_task_asker *asker, mishap_text id,
                             const mishap_task_given *given)
{
    char name[MISHAP_TASK_OWNER + 1];
    if (!begin_question(c, wait, asker, name, false))
        return false;
    mishap_task_put_give(&c->out, wait->number, mishap_text_of(name), id, given);
    return send_question(c, wait);
}

void mishap_task_client_leave(mishap_task_client *c, mishap_task_wait *wait)
{
    forget(c, wait);
    if (c->socket < 0)
        return;
    size_t begun = mishap_task_message_begin(&c->out, MISHAP_TASK_LEAVE, wait->number);
    mishap_task_message_end(&c->out, begun);
    flush(c);
}

void mishap_task_client_block(mishap_task_client *c, const char *caller)
{
    if (!connect_now(c))
        return;
    size_t begun = mishap_task_message_begin(&c->out, MISHAP_TASK_BLOCK, 0);
    mishap_pack_text(&c->out, mishap_text_of(caller));
    mishap_task_message_end(&c->out, begun);
    flush(c);
}

/* -- replies ----------------------------------------------------------------------------------- */

bool mishap_task_reply_is_last(const mishap_task_wait *wait, const mishap_task_reply *reply)
{
    return !wait->stays || reply->kind != MISHAP_TASK_TOLD ||
           mishap_task_has_ended(reply->told.state);
}

static bool deliver(mishap_task_client *c, const mishap_task_message *message)
{
    mishap_task_reply reply;
    mishap_task_wait *wait = c->first;
    while (wait && wait->number != message->number)
        wait = wait->next;
    if (message->kind != MISHAP_TASK_REPLY || !mishap_task_take_reply(message->body, &reply))
        return false;
    if (wait) { /* else its caller has gone */
        if (mishap_task_reply_is_last(wait, &reply))
            forget(c, wait);
        wait->answered(wait, &reply);
    }
    mishap_free(reply.failure);
    return true;
}

/* The process has died: what it had not answered is lost. */
static void lose(mishap_task_client *c)
{
    disconnect(c);
    mishap_task_wait *wait, *all = c->first;
    c->first = NULL;
    while ((wait = all)) {
        all = wait->next;
        if (all)
            all->previous = NULL;
        wait->next = wait->previous = NULL;
        wait->answered(wait, &(mishap_task_reply){ .kind = MISHAP_TASK_LOST });
    }
}

/* False: the connection is of no more use. */
static bool read_some(mishap_task_client *c)
{
    mishap_task_message message;
    size_t taken = 0, size = 0;
    if (!mishap_buffer_reserve(&c->in, READ_AT_ONCE))
        return false;
    ssize_t count = recv(c->socket, c->in.data + c->in.length, c->in.capacity - c->in.length,
                         MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (count <= 0)
        return false;
    c->in.length += (size_t)count;
    while ((size = mishap_task_message_read(
                (mishap_text){ c->in.data + taken, c->in.length - taken }, &message)) &&
           size != SIZE_MAX && deliver(c, &message))
        taken += size;
    if (size)
        return false;
    memmove(c->in.data, c->in.data + taken, c->in.length - taken);
    c->in.length -= taken;
    return true;
}

void mishap_task_client_turn(mishap_task_client *c)
{
    struct epoll_event event;
    if (c->socket < 0 || epoll_wait(c->epoll, &event, 1, 0) <= 0)
        return;
    if (event.events & EPOLLOUT)
        flush(c);
    if (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !read_some(c))
        lose(c);
}
