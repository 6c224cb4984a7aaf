/*
 * Sessions, as a loop uses them: which process a call goes to.
 *
 * A session is a process, which the keeper owns. The loop that uses it has the connection to it,
 * and keeps that until another loop wants the session. So calls that come to one loop, as nearly
 * all of a session do, need no message to the keeper.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/memory.h"
#include "worker/loop/inside.h"

enum {
    IDLE_MS = 30 * 60 * 1000,
    UNNAMED_MS = 60 * 1000,
};

static const mishap_service *service_of(const mishap_runner *r, size_t group)
{
    return r->settings.plan->groups.groups[group].service;
}

/* -- which session ----------------------------------------------------------------------------- */

static mishap_text named_by(const mishap_call *call)
{
    const mishap_param *params = call->operation->params;
    for (size_t i = 0; i < call->param_count; i++)
        if (strcmp(params[i].name, "session") == 0)
            return call->values[i] ? mishap_json_text(call->values[i]) : call->session;
    return call->session;
}

static mishap *not_found(void)
{
    return mishap_suggest(mishap_raise(NOT_FOUND, "There is no such session of this caller. Leave "
                                                  "`session` out to begin a new one."),
                          "Leave `session` out to begin a new one.");
}

/* Nothing was done, so a load balancer may send the request to another server. */
static mishap *none_begins(void)
{
    mishap *m = mishap_raise(UNAVAILABLE, "The server is about to stop and begins no session.");
    return mishap_suggest(mishap_retry_after(m, 1000),
                          "Send the request again: another server may begin a session.");
}

static mishap *own_sessions(mishap_runner *r)
{
    mishap *failure = r->sessions ? NULL : mishap_sessions_make(&r->sessions);
    r->owns_sessions = r->owns_sessions || !r->settings.sessions;
    return failure;
}

/* Find the session that a call names, or that of its conversation, or make a new one. */
static mishap *find_out(mishap_runner *r, mishap_run *run, size_t group)
{
    mishap_call *call = run->call;
    const mishap_service *service = service_of(r, group);
    char handle[MISHAP_SESSION_HANDLE + 1];
    mishap_text named = named_by(call);
    mishap *failure = own_sessions(r);
    if (failure)
        return failure;
    run->session.named = named.data || call->conversation.data;
    if (!named.data && call->conversation.data) {
        mishap_session_of(r->sessions, service, call->owner, call->conversation, run->session.key);
        run->session.known = true;
        return NULL;
    }
    if (named.data) {
        if (!mishap_session_prove(r->sessions, service, call->owner, named, run->session.key))
            return not_found();
    } else {
        if (r->sessions_end_ns)
            return none_begins();
        if (!mishap_session_mint(r->sessions, service, call->owner, handle, run->session.key))
            return mishap_runner_busy();
        named = (mishap_text){ handle, MISHAP_SESSION_HANDLE };
    }
    call->session_is = mishap_arena_copy(&call->arena, named).data;
    run->session.known = call->session_is != NULL;
    return call->session_is ? NULL : mishap_out_of_memory();
}

static mishap_link *find_link(const mishap_runner *r, size_t group, const uint8_t *key)
{
    for (mishap_link *link = r->links; link; link = link->next)
        if (link->is_session && link->group == group && !link->dead &&
            memcmp(link->session, key, MISHAP_SESSION_KEY) == 0)
            return link;
    return NULL;
}

/* -- handing over ------------------------------------------------------------------------------ */

static void tell_keeper(const mishap_runner *r, const mishap_link *link, mishap_keeper_word word,
                        mishap_session_reason reason)
{
    mishap_keeper_message message = {
        .word = word, .worker = link->worker, .group = (uint32_t)link->group, .reason = reason
    };
    memcpy(message.session, link->session, MISHAP_SESSION_KEY);
    mishap_keeper_send(r->settings.keeper, &message, NULL, 0);
}

static void ask_for(mishap_runner *r, mishap_run *run, size_t group, int64_t now)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_LEASE,
                                      .group = (uint32_t)group,
                                      .number = ++r->last_request,
                                      .holder = run->call->holder };
    memcpy(message.session, run->session.key, MISHAP_SESSION_KEY);
    if (mishap_keeper_send(r->settings.keeper, &message, NULL, 0))
        run->session.asked_ns = now;
}

static bool may_have_call(const mishap_link *link)
{
    return !link->used && !link->ending_since_ns && link->socket >= 0 && !link->opening_since_ns &&
           !link->waits_to_send && !link->awaits_interrupt && !link->recalled;
}

/* False: that failed, and the caller was told. */
static bool hand(mishap_runner *r, mishap_link *link, mishap_run *run, int64_t now)
{
    link->named = link->named || run->session.named;
    if (mishap_runner_hand(r, link, run, now))
        return true;
    mishap_runner_finish(r, run, mishap_runner_not_handed(link));
    return false;
}

/* A caller may have many sessions. While there are other callers, it runs at most half as many long
 * calls at once as there are handlers: as many workers as it could have in another group. */
static bool has_its_share(const mishap_runner *r, size_t group, const mishap_run *run, int64_t now)
{
    uint64_t holder = run->call->holder;
    size_t running = 0;
    if (!run->slow || !holder || !r->settings.most_of_one ||
        !mishap_crowd_has_others(r->crowd, holder, now))
        return false;
    for (const mishap_link *link = r->links; link; link = link->next)
        running += link->group == group && !link->dead && link->used && link->taken_by == holder;
    return running >= (r->settings.handlers + 1) / 2;
}

/* Calls of a session run in the order in which they came, independently of other sessions. */
void mishap_runner_dispatch_sessions(mishap_runner *r, size_t group)
{
    mishap_runner_group *g = &r->groups[group];
    int64_t now = mishap_clock_monotonic_ns();
    bool open = mishap_generation_is_open(mishap_standing_generation(r->standing, group));
    for (mishap_run *run = g->first, *next; run; run = next) {
        next = run->next;
        mishap *failure = run->session.known ? NULL : find_out(r, run, group);
        mishap_link *link = failure ? NULL : find_link(r, group, run->session.key);
        if (!failure && !link && !open)
            failure = mishap_runner_not_available(r, group);
        if (failure) {
            mishap_runner_dequeue(g, run);
            mishap_runner_finish(r, run, failure);
            next = g->first; /* the function that was called may have changed the queue */
            continue;
        }
        if (has_its_share(r, group, run, now))
            continue;
        if (link && may_have_call(link)) {
            if (!hand(r, link, run, now))
                next = g->first;
        } else if (!link && (!run->session.asked_ns ||
                             now - run->session.asked_ns > r->times.start_ms * MISHAP_MS)) {
            if (!mishap_runner_may_start_foreign(r, group))
                break; /* all waiting calls have failed */
            ask_for(r, run, group, now);
        }
    }
    mishap_runner_wake_at(r, now + MISHAP_TICK_MS * MISHAP_MS);
}

/* -- messages of the keeper -------------------------------------------------------------------- */

bool mishap_runner_session_started(mishap_runner *r, mishap_link *link,
                                   const mishap_keeper_message *message)
{
    static const uint8_t none[MISHAP_SESSION_KEY];
    if (!memcmp(message->session, none, sizeof none))
        return true; /* it belongs to a pool, or only shows whether one can be started */
    if (find_link(r, link->group, message->session))
        return false;
    link->is_session = true;
    memcpy(link->session, message->session, MISHAP_SESSION_KEY);
    link->holder = message->holder;
    /* Start with numbers that differ from those that another loop gave to its calls. */
    link->last_number = (uint32_t)mishap_clock_monotonic_ns() & (MISHAP_FOREIGN_IDS >> 1);
    if (message->joined)
        link->named = true;
    else if (message->reason <= MISHAP_SESSION_LAST_REASON)
        link->reason = (mishap_session_reason)message->reason;
    if (!message->joined && r->sessions && mishap_session_note(r->sessions, link->session) &&
        message->reason == MISHAP_SESSION_NEW && !message->known)
        link->reason = MISHAP_SESSION_LOST;
    return true;
}

/* This loop no longer uses the session. */
static void leave_session(mishap_runner *r, mishap_link *link)
{
    mishap_runner_disconnect(r, link);
    link->dead = true;
    r->groups[link->group].links--;
}

static void close_session(mishap_runner *r, mishap_link *link, mishap_session_reason reason)
{
    tell_keeper(r, link, MISHAP_KEEPER_CLOSE, reason);
    leave_session(r, link);
}

static void give_back(mishap_runner *r, mishap_link *link)
{
    leave_session(r, link);
    tell_keeper(r, link, MISHAP_KEEPER_RELEASE, MISHAP_SESSION_NEW);
}

void mishap_runner_session_recalled(mishap_runner *r, const mishap_keeper_message *message)
{
    mishap_link *link = message->group < r->settings.plan->groups.count
                            ? find_link(r, message->group, message->session)
                            : NULL;
    if (!link || link->worker != message->worker)
        return;
    link->recalled = true;
    if (!link->used && !link->opening_since_ns && !link->awaits_interrupt)
        give_back(r, link);
}

/* True if the session may be ended for another one: either its caller has never come back to it, or
 * it belongs to the same caller and has been idle for a while. */
static bool may_give_way(const mishap_link *link, size_t group, uint64_t holder, int64_t now)
{
    return link->is_session && link->group == group && !link->dead && may_have_call(link) &&
           link->idle_since_ns &&
           (!link->named || (link->holder == holder &&
                             now - link->idle_since_ns >= MISHAP_SESSION_RESTS_MS * MISHAP_MS));
}

/* `own`: the caller has reached its share, so ending the session of another caller would not
 * help. */
static mishap_link *one_to_give_way(const mishap_runner *r, size_t group, uint64_t holder, bool own)
{
    mishap_link *oldest = NULL;
    int64_t now = mishap_clock_monotonic_ns();
    for (mishap_link *link = r->links; link; link = link->next)
        if (may_give_way(link, group, holder, now) && (!own || link->holder == holder) &&
            (!oldest || link->idle_since_ns < oldest->idle_since_ns))
            oldest = link;
    return oldest;
}

static mishap *too_many(int error)
{
    mishap *m = error == EDQUOT ? mishap_raise(RATE_LIMITED, "This caller has too many sessions.")
                                : mishap_raise(UNAVAILABLE, "There are too many sessions.");
    return mishap_retry_after(mishap_suggest(m, "Go on in a session that has begun."), 1000);
}

void mishap_runner_session_refused(mishap_runner *r, const mishap_keeper_message *message)
{
    mishap_runner_group *g = &r->groups[message->group];
    static const uint8_t none[MISHAP_SESSION_KEY];
    bool full = message->status == EDQUOT || message->status == EUSERS;
    if (!memcmp(message->session, none, sizeof none))
        g->starting -= g->starting > 0; /* the request was not for a session */
    for (mishap_run *run = g->first, *next; run; run = next) {
        next = run->next;
        if (!run->session.known ||
            memcmp(run->session.key, message->session, MISHAP_SESSION_KEY) != 0)
            continue;
        mishap_link *old = full && !run->session.tried && !run->meek
                               ? one_to_give_way(r, message->group, run->call->holder,
                                                 message->status == EDQUOT)
                               : NULL;
        if (old)
            close_session(r, old, MISHAP_SESSION_IDLE);
        run->session.tried = run->session.tried || full;
        run->session.asked_ns = 0; /* the next flush asks again */
        if (!full || old) {
            if (message->status != ECHILD && !old) { /* … but after a pause */
                g->refused_error = message->status;
                run->session.asked_ns = mishap_clock_monotonic_ns() -
                                        (r->times.start_ms - r->times.retry_ms) * MISHAP_MS;
            }
            continue;
        }
        mishap_runner_dequeue(g, run);
        mishap_runner_finish(r, run, too_many(message->status));
        next = g->first;
    }
}

void mishap_runner_dismiss(const mishap_runner *r, uint64_t owner, mishap_text conversation)
{
    const mishap_worker_groups *groups = &r->settings.plan->groups;
    for (size_t i = 0; r->sessions && !r->settings.inside && i < groups->count; i++) {
        const mishap_foreign *foreign = groups->groups[i].foreign;
        mishap_keeper_message message = { .word = MISHAP_KEEPER_DISMISS, .group = (uint32_t)i };
        if (!foreign || !foreign->sessions)
            continue;
        mishap_session_of(r->sessions, groups->groups[i].service, owner, conversation,
                          message.session);
        mishap_keeper_send(r->settings.keeper, &message, NULL, 0);
    }
}

/* -- a server that stops when no session is left ------------------------------------------------
 */

static bool may_have_sessions(const mishap_runner *r)
{
    for (size_t i = 0; i < r->settings.plan->groups.count; i++)
        if (mishap_runner_has_sessions(r, i))
            return !r->settings.inside;
    return false;
}

void mishap_runner_end_sessions(mishap_runner *r, int64_t end_ns)
{
    const mishap_keeper_message message = { .word = MISHAP_KEEPER_COUNT };
    if (!r->sessions_end_ns)
        r->living = may_have_sessions(r);
    r->sessions_end_ns = end_ns;
    if (may_have_sessions(r))
        mishap_keeper_send(r->settings.keeper, &message, NULL, 0);
}

size_t mishap_runner_sessions_left(const mishap_runner *r)
{
    return r->living + r->count;
}

mishap *mishap_runner_tell_session_end(const mishap_runner *r, mishap_call *call, mishap *failure)
{
    int64_t left_s = (r->sessions_end_ns - mishap_clock_monotonic_ns()) / (1000 * MISHAP_MS);
    call->session_ends_s = left_s > 0 ? left_s : 1;
    if (failure)
        return failure;
    mishap_warn(call, "The server stops in %lld %s at the latest, and the session ends then.",
                (long long)(left_s < 120 ? call->session_ends_s : left_s / 60),
                left_s < 120 ? "s" : "minutes");
    return NULL;
}

/* -- idle and ended sessions ------------------------------------------------------------------- */

void mishap_runner_session_rests(mishap_runner *r, mishap_link *link, bool last)
{
    if (last)
        close_session(r, link, MISHAP_SESSION_NEW);
    else if (link->recalled && !link->awaits_interrupt)
        give_back(r, link);
}

void mishap_runner_session_ended(mishap_runner *r, const mishap_link *link, bool told)
{
    if (told)
        tell_keeper(r, link, MISHAP_KEEPER_TOLD, MISHAP_SESSION_NEW);
}

void mishap_runner_sweep_session(mishap_runner *r, mishap_link *link, int64_t now)
{
    const mishap_foreign *f = link->foreign;
    int64_t idle_ms = link->named ? (f->idle_ms ? f->idle_ms : IDLE_MS)
                                  : (f->unnamed_ms ? f->unnamed_ms : UNNAMED_MS);
    if (link->opening_since_ns || link->ending_since_ns)
        return;
    if (link->recalled && !link->awaits_interrupt)
        give_back(r, link);
    else if (now - link->idle_since_ns >= idle_ms * MISHAP_MS)
        close_session(r, link, MISHAP_SESSION_IDLE);
    else
        mishap_runner_wake_at(r, link->idle_since_ns + idle_ms * MISHAP_MS);
}
