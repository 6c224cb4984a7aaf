/*
 * Calls that wait, run and end, and the workers that they run in.
 *
 * A call goes to a worker that has none. If all are busy, but with a call that began just now, it
 * goes behind that one: most calls take microseconds, and several handed over together cost a
 * fraction of what they cost one by one. Only if the call before it takes longer, it is taken back
 * and another worker is started, up to the limit.
 */
#include "worker/runner.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "operation/changes.h"
#include "worker/keeper.h"
#include "worker/link.h"

#define MS INT64_C(1000000)

enum {
    SCRATCH = 256 * 1024, /* bytes that are read at once */
    BATCH = 16,           /* calls that one worker has, at most */
    EVENTS = 64,
    SHORT_MS = 2,    /* a call that takes no longer is worth waiting behind */
    TICK_MS = 50,    /* how late a timeout may be, while something runs */
    REST_MS = 5000,  /* how often idle workers are looked at */
    NAMED_MS = 1000, /* how long a call may wait until it is named on stderr */
};

static const mishap_runner_times usual = {
    .wait_ms = 10000,
    .begin_ms = 3000,
    .answer_ms = 5000,
    .start_ms = 2000,
    .retry_ms = 100,
    .lost_ms = 1000,
    .idle_ms = 60000,
};

/* The workers of a group, as far as this loop has them, and the calls that wait for one. */
struct group {
    mishap_run *first, *last;
    size_t waiting, links, starting;
    int64_t asked_ns, refused_ns; /* the latest time that a worker was asked for, was refused */
};

struct mishap_runner {
    mishap_runner_settings settings;
    mishap_runner_times times;
    int epoll, timer;
    int64_t timer_ns; /* when it is due; 0: never */
    mishap_link *links;
    struct group groups[MISHAP_WORKER_GROUPS];
    uint32_t last_request;
    size_t count, forgotten;        /* calls that wait or run; of these, that nobody waits for */
    const mishap_operation **named; /* that were named on stderr: each once */
    size_t named_count;
    char scratch[SCRATCH];
};

static bool is_alone(const mishap_runner *r, size_t group)
{
    return r->settings.plan->groups.groups[group].alone;
}

static size_t group_of(const mishap_runner *r, const mishap_run *run)
{
    return mishap_worker_group_of(&r->settings.plan->groups, run->call->operation);
}

/* -- calls that wait --------------------------------------------------------------------------- */

static void enqueue(struct group *g, mishap_run *run, bool first)
{
    run->link = NULL;
    run->next = first ? g->first : NULL;
    run->previous = first ? NULL : g->last;
    *(run->previous ? &run->previous->next : &g->first) = run;
    *(run->next ? &run->next->previous : &g->last) = run;
    g->waiting++;
}

static void dequeue(struct group *g, mishap_run *run)
{
    *(run->previous ? &run->previous->next : &g->first) = run->next;
    *(run->next ? &run->next->previous : &g->last) = run->previous;
    run->next = run->previous = NULL;
    g->waiting--;
}

/* The call is over, and leaves the runner. */
static void finish(mishap_runner *r, mishap_run *run, mishap *failure)
{
    r->count--;
    run->link = NULL;
    run->done(run, failure);
}

static mishap *too_busy(void)
{
    return mishap_retry_after(mishap_raise(UNAVAILABLE, "The server is busy with other requests."),
                              1000);
}

/* -- the clock --------------------------------------------------------------------------------- */

static void wake_at(mishap_runner *r, int64_t when_ns)
{
    struct itimerspec at = { 0 };
    if (r->timer_ns && r->timer_ns <= when_ns)
        return;
    r->timer_ns = when_ns;
    at.it_value.tv_sec = when_ns / (1000 * MS);
    at.it_value.tv_nsec = when_ns % (1000 * MS);
    timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

/* -- workers that end -------------------------------------------------------------------------- */

static void ask_to_end(mishap_runner *r, mishap_link *link, mishap_link_why why, const char *lie,
                       bool stack)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_END,
                                      .worker = link->worker,
                                      .stack = stack };
    if (link->ending_since_ns)
        return;
    link->ending_since_ns = mishap_clock_monotonic_ns();
    link->end.why = why;
    link->end.lie = lie;
    mishap_keeper_send(r->settings.keeper, &message, NULL, 0);
    wake_at(r, link->ending_since_ns + r->times.lost_ms * MS);
}

/* Nobody waits for this one any more: what came of it is for the log. */
static void end_forgotten(mishap_runner *r, mishap_link_slot *slot, mishap *failure)
{
    r->count--;
    r->forgotten--;
    if (failure && r->settings.orphaned)
        r->settings.orphaned(r->settings.state, slot->call, slot->incident, failure);
    else
        mishap_free(failure);
    mishap_call_end(slot->call);
    slot->call = NULL;
}

/* A call that its worker had and did not begin goes to another one. If the worker died without
 * having begun any call, that is done only once: it may be that none can be started. */
static void give_back(mishap_runner *r, mishap_link *link, unsigned i, bool blameless)
{
    mishap_link_slot *slot = &link->slots[i];
    mishap_run *run = slot->run;
    if (!run) {
        end_forgotten(r, slot, NULL);
        mishap_link_clear(link, i);
        return;
    }
    mishap_link_clear(link, i);
    if (run->moved && !blameless) {
        run->died = true;
        mishap *m = mishap_raise(INTERNAL_ERROR, "Two processes in a row died before %s began.",
                                 run->call->operation->name);
        finish(r, run, link->end.lie ? mishap_note(m, "reason", link->end.lie) : m);
        return;
    }
    run->moved = run->moved || !blameless;
    enqueue(&r->groups[link->group], run, true);
}

static void fail_call(mishap_runner *r, mishap_link *link, unsigned i)
{
    mishap_link_slot *slot = &link->slots[i];
    mishap_run *run = slot->run;
    const mishap_call *call = run ? run->call : slot->call;
    mishap *failure = mishap_link_tell_end(link, i, call->operation, is_alone(r, link->group));
    if (run) {
        mishap_link_clear(link, i);
        run->died = link->end.why != MISHAP_LINK_TIMEOUT;
        finish(r, run, failure);
    } else {
        end_forgotten(r, slot, failure);
        mishap_link_clear(link, i);
    }
}

/* It has no more to say, and how it ended is known, or will never be. */
static void bury(mishap_runner *r, mishap_link *link)
{
    uint32_t used = link->used;
    bool begun[MISHAP_SLOTS], any_begun = false;
    link->dead = true;
    r->groups[link->group].links--;
    for (unsigned i = 0; i < MISHAP_SLOTS; i++) {
        mishap_slot_state state = mishap_link_state(link, i);
        begun[i] = link->slots[i].begun_ns ||
                   (state != MISHAP_SLOT_HANDED && state != MISHAP_SLOT_TAKEN);
        any_begun = any_begun || (used >> i & 1 && begun[i]);
    }
    for (unsigned i = MISHAP_SLOTS; i-- > 0;) /* the oldest to the front, last */
        if (used >> i & 1 && !begun[i])
            give_back(r, link, i, any_begun);
    for (unsigned i = 0; i < MISHAP_SLOTS; i++)
        if (used >> i & 1 && begun[i])
            fail_call(r, link, i);
}

/* The connection is gone. Why, its keeper knows, or will. */
static void on_closed(mishap_runner *r, mishap_link *link)
{
    if (link->socket < 0)
        return;
    epoll_ctl(r->epoll, EPOLL_CTL_DEL, link->socket, NULL);
    close(link->socket);
    link->socket = -1;
    if (link->end.known)
        bury(r, link);
    else
        ask_to_end(r, link, MISHAP_LINK_CLOSED, NULL, link->used != 0);
}

/* -- what workers say -------------------------------------------------------------------------- */

static const char *const not_its_call = "a frame about a call that it does not have";

static const mishap_call *call_of(const mishap_link_slot *slot)
{
    return slot->run ? slot->run->call : slot->call;
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
    if (run)
        run->died = call->ended;
    else
        end_forgotten(r, slot, failure);
    mishap_link_clear(link, frame->slot);
    link->silent_since_ns = 0;
    if (!link->used)
        link->idle_since_ns = mishap_clock_monotonic_ns();
    if (run)
        finish(r, run, failure);
    return NULL;
}

static const char *take_report(const mishap_link *link, const mishap_framed *frame)
{
    const mishap_link_slot *slot = &link->slots[frame->slot];
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
        if (watcher && watcher->log)
            watcher->log(watcher, level, words);
        return NULL;
    case MISHAP_FRAME_BEGIN:
        if (watcher && watcher->stream)
            watcher->stream(watcher, frame->payload);
        return NULL;
    default:
        if (watcher && watcher->piece)
            watcher->piece(watcher, frame->payload);
        return NULL;
    }
}

/* NULL, or what is wrong with a frame. */
static const char *take_frame(mishap_runner *r, mishap_link *link, const mishap_framed *frame)
{
    if (frame->type == MISHAP_FRAME_CHANGED) {
        if (frame->payload.length > MISHAP_ADDRESS_LIMIT)
            return "an address that is too long";
        mishap_changes_tell(frame->payload);
        return NULL;
    }
    if (frame->type < MISHAP_FRAME_PROGRESS || frame->type > MISHAP_FRAME_DONE)
        return "a frame that only loops send";
    if (frame->slot >= MISHAP_SLOTS || !(link->used >> frame->slot & 1))
        return not_its_call;
    if (!call_of(&link->slots[frame->slot]))
        return not_its_call;
    return frame->type == MISHAP_FRAME_DONE ? take_outcome(r, link, frame)
                                            : take_report(link, frame);
}

/* Take all frames that are whole. Returns how many bytes they were; *lie says what was wrong. */
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

static void on_lie(mishap_runner *r, mishap_link *link, const char *lie)
{
    if (link->socket < 0)
        return;
    ask_to_end(r, link, MISHAP_LINK_LIED, lie, false);
    epoll_ctl(r->epoll, EPOLL_CTL_DEL, link->socket, NULL);
    close(link->socket);
    link->socket = -1;
    if (link->end.known)
        bury(r, link);
}

/* Read what has come, as much as there is room for. False: there was nothing more, or it is over.
 */
static bool read_link(mishap_runner *r, mishap_link *link)
{
    ssize_t count = recv(link->socket, r->scratch, sizeof r->scratch, MSG_DONTWAIT);
    const char *lie = NULL;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (count <= 0) {
        on_closed(r, link);
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
    if (link->in.failed)
        lie = "more than there is memory for";
    if (lie)
        on_lie(r, link, lie);
    return !lie && (size_t)count == sizeof r->scratch;
}

/* -- the keeper's word ------------------------------------------------------------------------- */

static void on_started(mishap_runner *r, const mishap_keeper_message *message, const int *files,
                       size_t count)
{
    size_t group = message->group;
    struct group *g = &r->groups[group];
    g->starting -= g->starting > 0;
    mishap_link *link = count == MISHAP_KEEPER_FILES
                            ? mishap_link_make(r, group, message->worker, files)
                            : NULL;
    if (!link) {
        for (size_t i = 0; count < MISHAP_KEEPER_FILES && i < count; i++)
            close(files[i]);
        return;
    }
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = link };
    if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, link->socket, &event) != 0) {
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
}

/* It is dead, and what it had sent is read to the end first. */
static void on_ended(mishap_runner *r, const mishap_keeper_message *message)
{
    mishap_link *link = r->links;
    while (link && (link->dead || link->worker != message->worker))
        link = link->next;
    if (!link)
        return;
    link->end.known = true;
    link->end.status = message->status;
    link->end.stopped = message->stopped;
    link->end.has_trace = message->stack;
    link->end.trace = message->trace;
    if (link->socket < 0) {
        bury(r, link);
        return;
    }
    while (link->socket >= 0 && read_link(r, link))
        continue;
    /* A process that it started may hold the other end still. */
    if (link->socket >= 0)
        on_closed(r, link);
}

static void hear_keeper(mishap_runner *r)
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
        if (message.word == MISHAP_KEEPER_REFUSED && known) {
            struct group *g = &r->groups[message.group];
            g->starting -= g->starting > 0;
            g->refused_ns = mishap_clock_monotonic_ns();
        } else if (message.word == MISHAP_KEEPER_ENDED) {
            on_ended(r, &message);
        }
    }
}

/* -- handing over ------------------------------------------------------------------------------ */

/* Has its call begun just now, or not yet? */
static bool is_brisk(mishap_link *link, int64_t now)
{
    for (uint32_t used = link->used; used; used &= used - 1) {
        unsigned i = (unsigned)__builtin_ctz(used);
        int64_t begun = mishap_link_begun(link, i, now);
        if (now - (begun ? begun : link->slots[i].handed_ns) > SHORT_MS * MS)
            return false;
    }
    return true;
}

/* The worker to give a call to: one without any, else the least busy of those that are quick. A
 * worker that is alone gets all. One that has not read what it was sent gets no more: a call that
 * is taken back and handed over again would be sent again, too. */
static mishap_link *choose(mishap_runner *r, size_t group, int64_t now)
{
    mishap_link *best = NULL;
    bool alone = is_alone(r, group);
    for (mishap_link *link = r->links; link; link = link->next) {
        unsigned count = mishap_link_count(link);
        if (link->group != group || link->dead || link->ending_since_ns || link->socket < 0 ||
            link->waits_to_send || count >= (alone ? (unsigned)MISHAP_SLOTS : (unsigned)BATCH))
            continue;
        if (!count)
            return link;
        if ((!best || count < mishap_link_count(best)) && (alone || is_brisk(link, now)))
            best = link;
    }
    return best;
}

static void ask_for_worker(mishap_runner *r, size_t group, int64_t now)
{
    struct group *g = &r->groups[group];
    size_t most = is_alone(r, group) ? 1 : r->settings.handlers;
    mishap_keeper_message message = { .word = MISHAP_KEEPER_START,
                                      .number = ++r->last_request,
                                      .group = (uint32_t)group };
    if (g->starting && now - g->asked_ns > r->times.start_ms * MS)
        g->starting = 0; /* the keeper has ended meanwhile, and another one does not know of it */
    if (g->links + g->starting >= most || g->starting >= g->waiting ||
        (g->refused_ns && now - g->refused_ns < r->times.retry_ms * MS))
        return;
    if (mishap_keeper_send(r->settings.keeper, &message, NULL, 0)) {
        g->starting++;
        g->asked_ns = now;
    }
}

/* Inside this process: one after the other, each answered before the next begins. */
static void run_inside(mishap_runner *r, struct group *g)
{
    while (g->first) {
        mishap_run *run = g->first;
        dequeue(g, run);
        run->call->deadline_ns = run->call->limit_ms
                                     ? mishap_clock_monotonic_ns() + run->call->limit_ms * MS
                                     : 0;
        mishap *failure = mishap_call_run(run->call);
        run->died = run->call->ended;
        finish(r, run, failure);
    }
}

static void dispatch(mishap_runner *r, size_t group)
{
    struct group *g = &r->groups[group];
    int64_t now = 0;
    if (r->settings.inside) {
        run_inside(r, g);
        return;
    }
    while (g->first) {
        mishap_run *run = g->first;
        now = now ? now : mishap_clock_monotonic_ns();
        mishap_link *link = choose(r, group, now);
        if (!link) {
            ask_for_worker(r, group, now);
            wake_at(r, now + TICK_MS * MS);
            return;
        }
        bool behind = link->used && !is_alone(r, group);
        dequeue(g, run);
        if (!mishap_link_hand(link, run, now))
            finish(r, run, mishap_out_of_memory());
        wake_at(r, now + (behind ? SHORT_MS : TICK_MS) * MS);
    }
}

static void free_dead(mishap_runner *r)
{
    for (mishap_link *link = r->links, *next; link; link = next) {
        next = link->next;
        if (!link->dead)
            continue;
        *(link->previous ? &link->previous->next : &r->links) = next;
        if (next)
            next->previous = link->previous;
        mishap_link_free(link);
    }
}

static void send_out(mishap_runner *r, mishap_link *link)
{
    if (link->socket < 0 || link->sent == link->out.length)
        return;
    if (!mishap_link_flush(link)) {
        while (link->socket >= 0 && read_link(r, link)) /* what it had sent still counts */
            continue;
        on_closed(r, link);
        return;
    }
    bool rest = link->sent < link->out.length;
    if (rest != link->waits_to_send) {
        struct epoll_event event = { .events = EPOLLIN | (rest ? (uint32_t)EPOLLOUT : 0),
                                     .data.ptr = link };
        epoll_ctl(r->epoll, EPOLL_CTL_MOD, link->socket, &event);
        link->waits_to_send = rest;
    }
}

void mishap_runner_flush(mishap_runner *r)
{
    for (size_t i = 0; i < r->settings.plan->groups.count; i++)
        if (r->groups[i].first)
            dispatch(r, i);
    for (mishap_link *link = r->links; link; link = link->next)
        send_out(r, link);
}

/* -- time -------------------------------------------------------------------------------------- */

/* An operation that could say `.stateless` holds others up: said once for each. */
static void name_slow(mishap_runner *r, const mishap_run *run, int64_t waited)
{
    const mishap_operation *operation = run->call->operation;
    for (size_t i = 0; i < r->named_count; i++)
        if (r->named[i] == operation)
            return;
    const mishap_operation **more = mishap_resize(r->named, (r->named_count + 1) * sizeof *more);
    if (!more)
        return;
    r->named = more;
    r->named[r->named_count++] = operation;
    dprintf(
        STDERR_FILENO,
        "%s: %s has waited for %.1f s behind another call. Operations without a service run one "
        "at a time; one that keeps no state can say so with .stateless.\n",
        r->settings.plan->app->name, operation->name, (double)waited / 1e9);
}

static bool look_at_waiting(mishap_runner *r, mishap_run *run, bool alone, int64_t now)
{
    int64_t waited = now - run->since_ns;
    if (alone && waited > NAMED_MS * MS && !run->call->operation->service)
        name_slow(r, run, waited);
    return waited > r->times.wait_ms * MS;
}

static void sweep_waiting(mishap_runner *r, size_t group, int64_t now)
{
    struct group *g = &r->groups[group];
    for (mishap_run *run = g->first, *next; run; run = next) {
        next = run->next;
        if (!look_at_waiting(r, run, is_alone(r, group), now))
            continue;
        dequeue(g, run);
        finish(r, run, too_busy());
        next = g->first; /* whoever was told may have changed the line */
    }
}

/* A call that stands behind one that takes its time goes to another worker, if there can be one. */
static void sweep_handed(mishap_runner *r, mishap_link *link, unsigned i, bool slow, int64_t now)
{
    mishap_run *run = link->slots[i].run;
    bool alone = is_alone(r, link->group);
    bool over = run && look_at_waiting(r, run, alone, now);
    if ((run && !over && (alone || !slow)) || !mishap_link_take_back(link, i))
        return;
    if (run) {
        mishap_link_clear(link, i);
        if (over)
            finish(r, run, too_busy());
        else
            enqueue(&r->groups[link->group], run, true);
    } else {
        end_forgotten(r, &link->slots[i], NULL);
        mishap_link_clear(link, i);
    }
}

/* The page is the worker's, too, and may have anything in it. NULL: what it says of a call is so.
 */
static const char *lie_of_page(const mishap_link *link, unsigned i)
{
    switch (mishap_link_state(link, i)) {
    case MISHAP_SLOT_HANDED:
        return link->slots[i].begun_ns ? "that a call has not begun, which had" : NULL;
    case MISHAP_SLOT_BEGUN:
    case MISHAP_SLOT_DONE:
        return NULL;
    default:
        return "a state that none of its calls has";
    }
}

/* Its time runs from its beginning. An answer is due when its handler has returned. */
static void sweep_begun(mishap_runner *r, mishap_link *link, unsigned i, int64_t begun, int64_t now)
{
    mishap_link_slot *slot = &link->slots[i];
    int limit_ms = call_of(slot)->limit_ms;
    if (mishap_link_state(link, i) == MISHAP_SLOT_DONE) {
        slot->done_ns = slot->done_ns ? slot->done_ns : now;
        if (now - slot->done_ns > r->times.answer_ms * MS)
            ask_to_end(r, link, MISHAP_LINK_LIED, "no answer, though it was done", true);
    } else if (limit_ms > 0 && now - begun >= limit_ms * MS &&
               mishap_slot_change(link->page, i, slot->number, MISHAP_SLOT_BEGUN,
                                  MISHAP_SLOT_KILLED)) {
        ask_to_end(r, link, MISHAP_LINK_TIMEOUT, NULL, true);
    }
}

/* A worker that runs nothing begins what it is given. One that several loops share may be busy with
 * a call of another. */
static void look_for_silence(mishap_runner *r, mishap_link *link, int64_t now)
{
    bool any_begun = false;
    for (uint32_t used = link->used; used; used &= used - 1)
        any_begun = any_begun || mishap_link_begun(link, (unsigned)__builtin_ctz(used), now);
    if (any_begun || is_alone(r, link->group))
        link->silent_since_ns = 0;
    else if (link->used && !link->silent_since_ns)
        link->silent_since_ns = now;
    else if ((link->used || link->waits_to_send) &&
             now - link->silent_since_ns > r->times.begin_ms * MS)
        ask_to_end(r, link, MISHAP_LINK_LIED, "nothing, and began none of its calls", true);
}

static void sweep_calls(mishap_runner *r, mishap_link *link, int64_t now)
{
    bool slow = !is_brisk(link, now), any_behind = false;
    look_for_silence(r, link, now);
    for (unsigned i = 0; i < MISHAP_SLOTS; i++) {
        if (!(link->used >> i & 1)) /* whoever is told of one may have changed the others */
            continue;
        int64_t begun = mishap_link_begun(link, i, now);
        const char *lie = link->ending_since_ns ? NULL : lie_of_page(link, i);
        if (lie)
            ask_to_end(r, link, MISHAP_LINK_LIED, lie, false);
        else if (begun)
            sweep_begun(r, link, i, begun, now);
        else
            sweep_handed(r, link, i, slow && !link->ending_since_ns, now);
        any_behind = any_behind || (!begun && link->used >> i & 1);
    }
    if (any_behind && !is_alone(r, link->group))
        wake_at(r, now + SHORT_MS * MS);
}

static void sweep_link(mishap_runner *r, mishap_link *link, int64_t now)
{
    sweep_calls(r, link, now);
    if (link->dead)
        return;
    if (!link->used && !link->idle_since_ns)
        link->idle_since_ns = now;
    if (link->ending_since_ns && now - link->ending_since_ns > r->times.lost_ms * MS) {
        if (link->socket >= 0) {
            epoll_ctl(r->epoll, EPOLL_CTL_DEL, link->socket, NULL);
            close(link->socket);
            link->socket = -1;
        }
        bury(r, link); /* no word of the keeper has come, and none will */
    } else if (!link->used && now - link->idle_since_ns > r->times.idle_ms * MS &&
               !is_alone(r, link->group) && r->groups[link->group].links > 1 && link->socket >= 0) {
        epoll_ctl(r->epoll, EPOLL_CTL_DEL, link->socket, NULL);
        link->dead = true; /* it is put away: it ends when its connection does */
        r->groups[link->group].links--;
    } else if (link->ending_since_ns || link->waits_to_send) {
        wake_at(r, now + TICK_MS * MS);
    }
}

static void look_at_clock(mishap_runner *r)
{
    int64_t now = mishap_clock_monotonic_ns();
    uint64_t ticks;
    ssize_t got = read(r->timer, &ticks, sizeof ticks);
    (void)got;
    r->timer_ns = 0;
    for (mishap_link *link = r->links; link; link = link->next)
        if (!link->dead)
            sweep_link(r, link, now);
    for (size_t i = 0; i < r->settings.plan->groups.count; i++)
        sweep_waiting(r, i, now);
    if (r->count)
        wake_at(r, now + TICK_MS * MS);
    else if (r->links)
        wake_at(r, now + (r->times.idle_ms < REST_MS ? r->times.idle_ms : REST_MS) * MS);
}

/* -- the runner -------------------------------------------------------------------------------- */

void mishap_runner_turn(mishap_runner *r)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(r->epoll, events, EVENTS, 0);
    bool keeper = false, clock = false;
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &r->settings.keeper) {
            keeper = true;
        } else if (events[i].data.ptr == &r->timer) {
            clock = true;
        } else {
            mishap_link *link = events[i].data.ptr;
            if (link->socket >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                read_link(r, link);
        }
    }
    if (keeper)
        hear_keeper(r);
    if (clock)
        look_at_clock(r);
    mishap_runner_flush(r);
    free_dead(r);
}

int mishap_runner_file(const mishap_runner *r)
{
    return r->epoll;
}

size_t mishap_runner_count(const mishap_runner *r, bool forgotten)
{
    return forgotten ? r->count : r->count - r->forgotten;
}

bool mishap_runner_add(mishap_runner *r, mishap_run *run)
{
    size_t group = group_of(r, run);
    if (r->count >= r->settings.most_waiting || group >= r->settings.plan->groups.count)
        return false;
    run->died = run->moved = false;
    run->since_ns = mishap_clock_monotonic_ns();
    enqueue(&r->groups[group], run, false);
    r->count++;
    if (r->settings.inside)
        wake_at(r, 1); /* done() is not to be called before this returns */
    return true;
}

void mishap_runner_forget(mishap_runner *r, mishap_run *run)
{
    mishap_link *link = run->link;
    unsigned i = run->slot;
    if (!link) {
        dequeue(&r->groups[group_of(r, run)], run);
        r->count--;
        mishap_call_end(run->call);
    } else if (mishap_link_take_back(link, i)) {
        mishap_link_clear(link, i);
        r->count--;
        mishap_call_end(run->call);
    } else {
        atomic_store(&link->page->cancelled[i], true);
        link->slots[i].run = NULL;
        link->slots[i].call = run->call;
        snprintf(link->slots[i].incident, sizeof link->slots[i].incident, "%s",
                 run->incident ? run->incident : "");
        run->call->watcher = NULL;
        run->call->caller = NULL; /* it was the boundary's */
        r->forgotten++;
    }
    run->call = NULL;
    run->link = NULL;
}

static bool watch(const mishap_runner *r, int file, const void *what)
{
    union {
        const void *given;
        void *base; /* it is only compared */
    } mark = { what };
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = mark.base };
    return epoll_ctl(r->epoll, EPOLL_CTL_ADD, file, &event) == 0;
}

mishap *mishap_runner_open(const mishap_runner_settings *settings, mishap_runner **out)
{
    mishap_runner *r = mishap_allocate(sizeof *r);
    *out = NULL;
    if (!r)
        return mishap_out_of_memory();
    memset(r, 0, offsetof(mishap_runner, scratch));
    r->settings = *settings;
    r->times = settings->times ? *settings->times : usual;
    r->epoll = epoll_create1(EPOLL_CLOEXEC);
    r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (r->epoll < 0 || r->timer < 0 || !watch(r, r->timer, &r->timer) ||
        (!settings->inside && !watch(r, settings->keeper, &r->settings.keeper))) {
        mishap *m = mishap_raise(UNAVAILABLE, "The runner of calls could not be made.");
        m = mishap_note(m, "reason", strerror(errno));
        mishap_runner_close(r);
        return m;
    }
    *out = r;
    return NULL;
}

void mishap_runner_close(mishap_runner *r)
{
    if (!r)
        return;
    while (r->links) {
        mishap_link *link = r->links;
        r->links = link->next;
        mishap_link_free(link);
    }
    if (r->settings.keeper >= 0)
        close(r->settings.keeper);
    if (r->epoll >= 0)
        close(r->epoll);
    if (r->timer >= 0)
        close(r->timer);
    mishap_release(r->named);
    mishap_release(r);
}
