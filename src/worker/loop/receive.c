/* Messages of workers and of the keeper, as a loop receives them. Everything is checked before it
 * is used. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "operation/changes.h"
#include "worker/loop/inside.h"
#include "mishap/inside.h"

/* -- messages of workers ----------------------------------------------------------------------- */

void mishap_runner_listen(const mishap_runner *r, mishap_link *link)
{
    struct epoll_event event = { .events = (link->held_since_ns ? 0 : (uint32_t)EPOLLIN) |
                                           (link->waits_to_send ? (uint32_t)EPOLLOUT : 0),
                                 .data.ptr = link };
    epoll_ctl(r->epoll, EPOLL_CTL_MOD, link->socket, &event);
}

static const char *take_outcome(mishap_runner *r, mishap_link *link, const mishap_framed *frame)
{
    mishap_link_slot *slot = &link->slots[frame->slot];
    mishap_run *run = slot->run;
    mishap *failure;
    mishap_call *call = run ? run->call : slot->call;
    if (mishap_link_state(link, frame->slot) != MISHAP_SLOT_DONE)
        return "an answer of a call that it has not begun, or that was ended";
    if (!mishap_frame_take_outcome(frame->payload, call, &failure))
        return "an answer that is none";
    mishap_set_of_worker(failure);
    if (run)
        run->died = call->ended;
    bool ended = call->ended, lost = call->lost;
    if (!run)
        mishap_runner_end_forgotten(r, slot, failure);
    mishap_runner_clear(r, link, frame->slot, true);
    if (link->held_since_ns) { /* this came together with the last piece */
        link->held_since_ns = 0;
        mishap_runner_listen(r, link);
    }
    link->silent_since_ns = 0;
    if (ended)
        mishap_runner_retire(r, link);
    if (lost) {
        mishap_runner_part(r, link);
        mishap_runner_lost_service(r, link->group);
    }
    if (!link->used)
        link->idle_since_ns = link->freed_ns;
    if (run)
        mishap_runner_finish(r, run, failure);
    return NULL;
}

/* Uses the call's own copy of the id: the client may be gone. */
static void tell_operator(const mishap_link_slot *slot, mishap_text words)
{
    const mishap_call *call = mishap_link_call(slot);
    if (slot->run)
        mishap_call_keep_words(slot->run->call, words);
    if (call->to_operator && call->request_id.data)
        call->to_operator(call->app->name, call->operation->name, call->request_id.data, words,
                          call->verbose);
}

static const char *take_report(mishap_link *link, const mishap_framed *frame)
{
    mishap_link_slot *slot = &link->slots[frame->slot];
    const mishap_watcher *watcher = slot->run ? slot->run->call->watcher : NULL;
    double done, total;
    mishap_level level;
    mishap_text words;
    if (mishap_link_state(link, frame->slot) < MISHAP_SLOT_BEGUN)
        return "a report on a call that it has not begun";
    switch (frame->type) {
    case MISHAP_FRAME_PROGRESS:
        if (!mishap_frame_take_progress(frame->payload, &done, &total, &words))
            return "progress that is none";
        if (watcher && watcher->progress)
            watcher->progress(watcher, done, total, words);
        return NULL;
    case MISHAP_FRAME_LOG:
        if (!mishap_frame_take_log(frame->payload, &level, &words))
            return "a log message that is none";
        if ((int)level == MISHAP_FOR_OPERATOR)
            tell_operator(slot, words);
        else if (watcher && watcher->log)
            watcher->log(watcher, level, words);
        return NULL;
    case MISHAP_FRAME_BEGIN:
        slot->streamed = true;
        if (watcher && watcher->stream)
            watcher->stream(watcher, frame->payload);
        return NULL;
    case MISHAP_FRAME_MARK:
        if (!mishap_mark_is_sound(frame->payload))
            return "a mark that is none";
        if (watcher && watcher->mark)
            watcher->mark(watcher, frame->payload);
        return NULL;
    default:
        if (watcher && watcher->piece)
            watcher->piece(watcher, frame->payload);
        return NULL;
    }
}

/* NULL, or what is wrong with the frame. */
static const char *take_frame(mishap_runner *r, mishap_link *link, const mishap_framed *frame)
{
    if (frame->type == MISHAP_FRAME_CHANGED) {
        if (frame->payload.length > MISHAP_ADDRESS_LIMIT)
            return "an address that is too long";
        mishap_changes_tell(frame->payload.length ? frame->payload : (mishap_text){ NULL, 0 });
        return NULL;
    }
    if (frame->type == MISHAP_FRAME_OPENED)
        return mishap_runner_take_opened(r, link, frame->payload);
    if (frame->type < MISHAP_FRAME_PROGRESS)
        return "a frame that only loops send";
    if (frame->slot >= MISHAP_SLOTS || !(link->used >> frame->slot & 1))
        return "a frame about a call that it does not have";
    return frame->type == MISHAP_FRAME_DONE ? take_outcome(r, link, frame)
                                            : take_report(link, frame);
}

/* Process all complete frames. Returns how many bytes they were; *lie says what was wrong. */
static size_t take_frames(mishap_runner *r, mishap_link *link, mishap_text bytes, const char **lie)
{
    size_t taken = 0, size;
    mishap_framed frame;
    *lie = NULL;
    while (!*lie && taken < bytes.length) {
        mishap_text rest = { bytes.data + taken, bytes.length - taken };
        mishap_frame_state state = mishap_frame_read(rest, &frame, &size);
        if (state == MISHAP_FRAME_MORE)
            break;
        if (state == MISHAP_FRAME_BAD)
            *lie = "what is no frame";
        else
            *lie = take_frame(r, link, &frame);
        taken += size;
    }
    return taken;
}

void mishap_runner_on_lie(mishap_runner *r, mishap_link *link, const char *lie)
{
    if (link->socket < 0)
        return;
    mishap_runner_ask_to_end(r, link, MISHAP_LINK_LIED, lie, false);
    mishap_runner_disconnect(r, link);
    if (link->end.known)
        mishap_runner_bury(r, link);
}

/* Read what has arrived, as much as there is room for. False: there was nothing more, or the
 * connection is closed. */
bool mishap_runner_read(mishap_runner *r, mishap_link *link)
{
    if (link->dead)
        return false; /* it was put away */
    if (link->foreign)
        return mishap_runner_read_foreign(r, link);
    ssize_t count = recv(link->socket, r->scratch, sizeof r->scratch, MSG_DONTWAIT);
    const char *lie = NULL;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (count <= 0) {
        mishap_runner_lose(r, link);
        return false;
    }
    mishap_text bytes = { r->scratch, (size_t)count };
    if (link->in.length) {
        mishap_buffer_put_text(&link->in, bytes);
        bytes = mishap_buffer_text(&link->in);
    }
    size_t taken = link->in.failed ? 0 : take_frames(r, link, bytes, &lie);
    if (link->in.length && taken) {
        memmove(link->in.data, link->in.data + taken, link->in.length - taken);
        link->in.length -= taken;
        if (!link->in.length)
            mishap_buffer_release(&link->in);
    } else if (!link->in.length && taken < bytes.length) {
        mishap_buffer_put(&link->in, bytes.data + taken, bytes.length - taken);
    }
    if (link->in.length)
        link->heard_ns = mishap_clock_monotonic_ns();
    if (link->in.failed)
        lie = "more than there is memory for";
    if (lie)
        mishap_runner_on_lie(r, link, lie);
    return !lie && (size_t)count == sizeof r->scratch;
}

/* -- messages of the keeper -------------------------------------------------------------------- */

static void on_started(mishap_runner *r, const mishap_keeper_message *message, const int *files,
                       size_t count)
{
    size_t group = message->group;
    mishap_runner_group *g = &r->groups[group];
    const mishap_foreign *foreign = mishap_runner_foreign(r, group);
    size_t wanted = foreign ? 1 : MISHAP_KEEPER_FILES;
    mishap_link *link = NULL;
    g->starting -= g->starting > 0;
    if (count == wanted)
        link = foreign ? mishap_link_make_foreign(r, group, message->worker, files[0], foreign)
                       : mishap_link_make(r, group, message->worker, files);
    if (!link) {
        for (size_t i = 0; count != wanted && i < count; i++)
            close(files[i]);
        return;
    }
    link->joined = message->joined;
    link->code_began = foreign && message->joined; /* it has run calls of other loops */
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = link };
    if (!mishap_runner_session_started(r, link, message) ||
        epoll_ctl(r->epoll, EPOLL_CTL_ADD, link->socket, &event) != 0 ||
        !mishap_runner_begin_opening(r, link)) {
        mishap_link_free(link);
        return;
    }
    link->next = r->links;
    if (link->next)
        link->next->previous = link;
    r->links = link;
    link->idle_since_ns = mishap_clock_monotonic_ns();
    g->links++;
    g->refused_ns = 0;
    g->refused_error = 0;
}

static mishap_link *find_worker(const mishap_runner *r, uint32_t worker)
{
    mishap_link *link = r->links;
    while (link && (link->dead || link->worker != worker))
        link = link->next;
    return link;
}

static void on_interrupted(const mishap_runner *r, const mishap_keeper_message *message)
{
    mishap_link *link = find_worker(r, message->worker);
    if (link)
        link->awaits_interrupt = false;
}

/* Read no more than a socket buffer can hold, and not for long. A thread of a program that has
 * closed one half of its connection, or a process that it has started, might send for ever, while
 * other callers wait for this loop. The first packets are read in any case: a busy machine must not
 * lose an answer. */
void mishap_runner_read_rest(mishap_runner *r, mishap_link *link)
{
    enum { SURELY = 32, MOST_LEFT = 300, REST_MS = 500 };
    int64_t until = mishap_clock_monotonic_ns() + REST_MS * MISHAP_MS;
    for (int i = 0; i < MOST_LEFT && link->socket >= 0; i++)
        if ((i >= SURELY && mishap_clock_monotonic_ns() >= until) || !mishap_runner_read(r, link))
            break;
}

/* The worker is dead. What it had sent is read to the end first. */
static void on_ended(mishap_runner *r, const mishap_keeper_message *message)
{
    mishap_link *link = find_worker(r, message->worker);
    if (!link)
        return;
    link->end.known = true;
    link->end.status = message->status;
    link->end.stopped = message->stopped;
    if (message->exceeded <= MISHAP_EXCESS_FILES)
        link->end.exceeded = (mishap_sandbox_excess)message->exceeded;
    link->end.has_trace = message->stack;
    link->end.trace = message->trace;
    link->end.output_bytes = message->output_bytes;
    memcpy(link->end.output, message->output, message->output_bytes);
    if (link->socket < 0) {
        mishap_runner_bury(r, link);
        return;
    }
    mishap_runner_read_rest(r, link);
    /* A process that it has started may still hold the other end. */
    if (link->socket >= 0)
        mishap_runner_lose(r, link);
}

void mishap_runner_hear_keeper(mishap_runner *r)
{
    mishap_keeper_message message;
    int files[MISHAP_KEEPER_FILES];
    size_t count;
    while (mishap_keeper_receive(r->settings.keeper, &message, files, &count, 0) > 0) {
        bool known = message.group < r->settings.plan->groups.count;
        if (message.word == MISHAP_KEEPER_STARTED && known) {
            on_started(r, &message, files, count);
            continue;
        }
        for (size_t i = 0; i < count; i++)
            close(files[i]);
        if (message.word == MISHAP_KEEPER_REFUSED && known &&
            mishap_runner_has_sessions(r, message.group)) {
            mishap_runner_session_refused(r, &message);
        } else if (message.word == MISHAP_KEEPER_RECALL) {
            mishap_runner_session_recalled(r, &message);
        } else if (message.word == MISHAP_KEEPER_COUNT) {
            r->living = message.number;
        } else if (message.word == MISHAP_KEEPER_INTERRUPTED) {
            on_interrupted(r, &message);
        } else if (message.word == MISHAP_KEEPER_REFUSED && known) {
            mishap_runner_group *g = &r->groups[message.group];
            g->starting -= g->starting > 0;
            g->refused_ns = mishap_clock_monotonic_ns();
            g->refused_error = message.status;
        } else if (message.word == MISHAP_KEEPER_ENDED) {
            on_ended(r, &message);
        }
    }
}
