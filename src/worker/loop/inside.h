/*
 * The inside of the runner of calls, for the files that it is made of:
 *
 *     runner.c         what boundaries call
 *     claims.c         calls that wait for a decision of the whole cluster
 *     dispatch.c       which call is next, and which worker gets it
 *     receive.c        messages of workers and of the keeper
 *     worker_end.c     workers that end, and what becomes of their calls
 *     opening.c        services that workers open, and cannot open
 *     end.c            the failure of a call whose worker died
 *     timeouts.c       calls that have waited or run, and workers that are silent, for too long
 *     foreign_calls.c  calls that foreign programs run
 *     session.c        sessions: which process a call goes to
 *     yield.c          priorities: calls that take long, and those of others
 *     uploads.c        calls that read a streamed file
 */
#ifndef MISHAP_WORKER_LOOP_INSIDE_H
#define MISHAP_WORKER_LOOP_INSIDE_H

#include "worker/loop/crowd.h"
#include "worker/loop/link.h"
#include "worker/loop/permits.h"
#include "worker/loop/positions.h"
#include "worker/loop/standing.h"
#include "worker/wire/keeper_messages.h"
#include "worker/wire/session_handles.h"

#define MISHAP_MS INT64_C(1000000) /* nanoseconds */

enum {
    MISHAP_RUNNER_SCRATCH = 256 * 1024, /* bytes that are read at once */
    MISHAP_SHORT_MS = 2,                /* it is worth to wait behind a call that takes no longer */
    MISHAP_LONG_MS = 50,                /* a call that takes longer is a long call */
    MISHAP_TURN_MS = 5,  /* for so long workers are read before the rest of the loop has its turn */
    MISHAP_TICK_MS = 50, /* how late a timeout may be noticed while calls run */
    MISHAP_MOST_REPEATS = 3, /* how often a call is run again if its worker was killed */
    /* Size of the tables by caller: callers with the same hash share an entry. */
    MISHAP_RUNNER_HOLDERS = 4096,
};

/* The workers of a group that this loop has, and the calls that wait for one. */
typedef struct mishap_runner_group {
    mishap_run *first, *last; /* calls that wait, in the order in which they came */
    mishap_turns lines[2];    /* … and in the order of turns: short calls, long calls */
    /* When a long call had its turn last, or began to wait while no other did. */
    int64_t slow_since_ns;
    size_t waiting, links, starting;
    size_t giving_way;    /* waiting calls that end for others, since their callers may have left */
    size_t opening;       /* workers that open their service now */
    size_t dead_openings; /* workers in a row that died while they opened it */
    /* When a worker was asked for last, and when one was refused last. */
    int64_t asked_ns, refused_ns;
    int refused_error; /* … why it was refused; 0: one was started since */
} mishap_runner_group;

struct mishap_runner {
    mishap_runner_settings settings;
    mishap_runner_times times;
    mishap_standing *standing; /* shared by all loops, or own_standing */
    mishap_standing own_standing;
    mishap_sessions *sessions; /* shared by all loops, or its own; NULL before it is needed */
    bool owns_sessions;
    mishap_crowd *crowd; /* shared by all loops, or own_crowd */
    mishap_crowd own_crowd;
    int epoll, timer;
    int beside;        /* a file that mishap_runner_wait() watches, too; -1: none */
    int64_t timer_ns;  /* when it is due; 0: never */
    int64_t opened_ns; /* when this runner was */
    mishap_link *links;
    mishap_runner_group groups[MISHAP_WORKER_GROUPS];
    uint32_t last_request;
    int64_t sessions_end_ns; /* the server stops then, and no session may begin; 0: it goes on */
    size_t living;           /* … sessions that the keeper has, or that are not counted yet */
    mishap_run *claiming;    /* calls that wait for their claims */
    size_t count, forgotten; /* calls that wait or run; those of them that no caller waits for */
    uint16_t held[MISHAP_RUNNER_HOLDERS];    /* … of each caller, by a hash of its number */
    uint32_t took_us[MISHAP_RUNNER_HOLDERS]; /* expected time of calls, by a hash of caller and
                                                operation */
    const mishap_operation **named; /* operations that were named on stderr: each only once */
    size_t named_count;
    char scratch[MISHAP_RUNNER_SCRATCH];
};

static inline bool mishap_runner_is_alone(const mishap_runner *r, size_t group)
{
    return r->settings.plan->groups.groups[group].alone;
}

static inline bool mishap_runner_is_settled(const mishap_runner *r, size_t group)
{
    return r->settings.plan->groups.groups[group].settled;
}

/* The foreign program that runs the calls of a group; NULL: none does. */
static inline const mishap_foreign *mishap_runner_foreign(const mishap_runner *r, size_t group)
{
    return r->settings.plan->groups.groups[group].foreign;
}

static inline bool mishap_runner_has_sessions(const mishap_runner *r, size_t group)
{
    const mishap_foreign *foreign = mishap_runner_foreign(r, group);
    return foreign && foreign->sessions;
}

/* -- runner.c ---------------------------------------------------------------------------------- */

/* Put a call into the queue of its group, at the end or at the front; remove it from the queue. */
void mishap_runner_enqueue(mishap_runner_group *g, mishap_run *run, bool first);
void mishap_runner_dequeue(mishap_runner_group *g, mishap_run *run);

/* Count a call; stop counting it. */
void mishap_runner_count_in(mishap_runner *r, const mishap_call *call);
void mishap_runner_count_out(mishap_runner *r, const mishap_call *call);

/* The call is over and leaves the runner. */
void mishap_runner_finish(mishap_runner *r, mishap_run *run, mishap *failure);

/* The same for a call that cannot be run. If it may have been settled in an earlier run, the
 * failure says so: its caller must not believe that nothing was done. */
void mishap_runner_give_up(mishap_runner *r, mishap_run *run, mishap *failure);

/* UNAVAILABLE, which may be retried soon. */
mishap *mishap_runner_busy(void);

/* Set the timer to this moment, if it is not due earlier. */
void mishap_runner_wake_at(mishap_runner *r, int64_t when_ns);

/* How many calls of this caller wait or run, including those of callers with the same hash. */
size_t mishap_runner_holds(const mishap_runner *r, uint64_t holder);

/* The group of the plan that runs the call. */
size_t mishap_runner_group_of(const mishap_runner *r, const mishap_run *run);

/* -- claims.c ---------------------------------------------------------------------------------- */

/* A call that was just counted waits for its claim, which is made as soon as there is a place. It
 * leaves the list, and its claim is dropped. */
void mishap_runner_claim(mishap_runner *r, mishap_run *run);
void mishap_runner_unclaim(mishap_runner *r, mishap_run *run);

/* Go on with those whose claims have answers. */
void mishap_runner_look_at_claims(mishap_runner *r, int64_t now_ns);

/* -- dispatch.c -------------------------------------------------------------------------------- */

/* The expected time of calls of the same caller, operation and group, in microseconds; 0: not
 * known. */
uint32_t *mishap_runner_took(mishap_runner *r, const mishap_call *call, size_t group);

/* Put a waiting call into the short or the long queue: before or behind the others of its
 * caller. */
void mishap_runner_line_up(mishap_runner_group *g, mishap_run *run, bool first);

/* Hand over the calls that wait in a group. */
void mishap_runner_dispatch(mishap_runner *r, size_t group);

/* Give a waiting call to a worker. False: that failed, and the call has ended. */
bool mishap_runner_hand(mishap_runner *r, mishap_link *link, mishap_run *run, int64_t now);

/* A worker no longer has a call. `ran`: it has run, and its time counts. */
void mishap_runner_clear(mishap_runner *r, mishap_link *link, unsigned slot, bool ran);

/* Ask the keeper for a worker, whether or not a call waits for it. */
void mishap_runner_start_worker(mishap_runner *r, size_t group, int64_t now);

/* True if its calls have begun just now, or have not begun yet. */
bool mishap_link_is_brisk(mishap_link *link, int64_t now);

/* -- yield.c ----------------------------------------------------------------------------------- */

/* The call of a worker takes long: lower its priority if other callers are there; restore the
 * priority if there are none. */
void mishap_runner_yield(const mishap_runner *r, mishap_link *link, int64_t now);

/* True if a call that is apart may begin in a worker; otherwise it is tried again soon. A caller
 * with many such calls needs a permit while there are other callers (permits.h). */
bool mishap_runner_may_compute(mishap_runner *r, mishap_link *link, const mishap_run *run,
                               int64_t now);

/* The call of the worker is over, or does not compute now: return its permit. */
void mishap_runner_return_permit(const mishap_runner *r, mishap_link *link);

/* The worker has no long call any more: restore its priority. */
void mishap_runner_end_yield(const mishap_runner *r, mishap_link *link);

/* -- receive.c --------------------------------------------------------------------------------- */

/* The call in a slot, whether or not a caller waits for it. */
static inline const mishap_call *mishap_link_call(const mishap_link_slot *slot)
{
    return slot->run ? slot->run->call : slot->call;
}

/* Update the events to wait for on the socket of a link: reading, writing. */
void mishap_runner_listen(const mishap_runner *r, mishap_link *link);

/* Read what has arrived, as much as there is room for. False: there was nothing more, or the
 * connection is closed. */
bool mishap_runner_read(mishap_runner *r, mishap_link *link);

/* The connection is closed: read what was sent before. If the other end goes on sending, the rest
 * is ignored. */
void mishap_runner_read_rest(mishap_runner *r, mishap_link *link);
void mishap_runner_hear_keeper(mishap_runner *r);

/* The worker has sent an invalid message: end it. */
void mishap_runner_on_lie(mishap_runner *r, mishap_link *link, const char *lie);

/* -- worker_end.c ------------------------------------------------------------------------------ */

/* Have the keeper end a worker. Its calls are handled when it has ended. `stack`: its stack is
 * wanted. */
void mishap_runner_ask_to_end(mishap_runner *r, mishap_link *link, mishap_link_why why,
                              const char *lie, bool stack);

/* Close the connection if it is open, and stop waiting for it. */
void mishap_runner_disconnect(mishap_runner *r, mishap_link *link);

/* The connection is gone. The keeper knows why, or soon will. */
void mishap_runner_lose(mishap_runner *r, mishap_link *link);

/* A handler of the worker was ended by a jump: the worker runs no other call. */
void mishap_runner_retire(mishap_runner *r, mishap_link *link);

/* The worker exits by itself, since what it has open is of no more use. Its other calls go to
 * another worker. */
void mishap_runner_part(mishap_runner *r, mishap_link *link);

/* A worker has ended: nothing more can be read from it, and how it ended is known, or never will
 * be. */
void mishap_runner_bury(mishap_runner *r, mishap_link *link);

/* A call that no caller waits for is over: its outcome only goes to the log. */
void mishap_runner_end_forgotten(mishap_runner *r, mishap_link_slot *slot, mishap *failure);

/* -- opening.c --------------------------------------------------------------------------------- */

/* True if workers of this group open a service. */
bool mishap_runner_must_open(const mishap_runner *r, size_t group);

/* Tell a new worker to open its service; it gets no call before it has. False: no memory. */
bool mishap_runner_begin_opening(mishap_runner *r, mishap_link *link);

/* A worker reports the outcome of opening. NULL, or what is wrong with the message. */
const char *mishap_runner_take_opened(mishap_runner *r, mishap_link *link, mishap_text payload);

/* A worker has died, perhaps while it opened its service. The second: has it taken too long to
 * open? */
void mishap_runner_opening_died(mishap_runner *r, mishap_link *link);
void mishap_runner_look_at_opening(mishap_runner *r, mishap_link *link, int64_t now);

/* Put away the workers without calls that opened the service in an earlier generation. */
void mishap_runner_drop_stale(mishap_runner *r, size_t group);

/* The failure of a call while its service is closed. */
mishap *mishap_runner_not_available(const mishap_runner *r, size_t group);

/* The service is closed: answer all calls that wait for it. */
void mishap_runner_refuse_group(mishap_runner *r, size_t group);

/* If the service is closed, and it is time, try to open it. */
void mishap_runner_look_at_service(mishap_runner *r, size_t group, int64_t now);

/* A handler has found that what its worker has open is of no more use. */
void mishap_runner_lost_service(mishap_runner *r, size_t group);

/* With handlers in this process: open the service. False: it is closed. */
bool mishap_runner_may_run_inside(mishap_runner *r, size_t group);

/* A worker has opened its service, or could not open it. */
void mishap_runner_end_opening(mishap_runner *r, mishap_link *link, mishap *failure);

/* -- foreign_calls.c --------------------------------------------------------------------------- */

/* Before a process is asked for: can one be started? If not, all waiting calls fail with the
 * reason. */
bool mishap_runner_may_start_foreign(mishap_runner *r, size_t group);

/* Why a call could not be given to a worker: no memory, or the call is too long. */
mishap *mishap_runner_not_handed(const mishap_link *link);

/* Read the next packet of a foreign program. False: there was none, or the connection is closed. */
bool mishap_runner_read_foreign(mishap_runner *r, mishap_link *link);

/* Interrupt its call: its time is over, or no caller waits for it. */
void mishap_runner_interrupt(mishap_runner *r, mishap_link *link);

/* The failure of a call whose process ended. */
mishap *mishap_runner_tell_foreign_end(const mishap_link *link, unsigned slot,
                                       const mishap_operation *operation);

/* True if its process ended with an exit code of mishap/exits.h, so that its call fails with
 * INTERNAL_ERROR. */
bool mishap_runner_failed_by_itself(const mishap_link *link);

/* The end of a process without a call, reported to the operator. */
void mishap_runner_log_foreign_end(const mishap_runner *r, const mishap_link *link);

/* It runs a call: check its time. */
void mishap_runner_sweep_foreign(mishap_runner *r, mishap_link *link, unsigned slot, int64_t now);

/* -- session.c --------------------------------------------------------------------------------- */

/* Hand over the calls that wait for sessions which have no call now. */
void mishap_runner_dispatch_sessions(mishap_runner *r, size_t group);

/* Messages of the keeper about sessions. */
void mishap_runner_session_refused(mishap_runner *r, const mishap_keeper_message *message);
void mishap_runner_session_recalled(mishap_runner *r, const mishap_keeper_message *message);

/* The process of a session was started, or comes from another loop. False: this loop has it
 * already. */
bool mishap_runner_session_started(mishap_runner *r, mishap_link *link,
                                   const mishap_keeper_message *message);

/* The call of a session is over. `last`: its process has announced its own end. */
void mishap_runner_session_rests(mishap_runner *r, mishap_link *link, bool last);

/* The server stops soon: tell the caller of a session, with the answer. */
mishap *mishap_runner_tell_session_end(const mishap_runner *r, mishap_call *call, mishap *failure);

/* The process of a session has ended. `told`: a caller was told so. */
void mishap_runner_session_ended(mishap_runner *r, const mishap_link *link, bool told);

/* End a session that was idle for too long. */
void mishap_runner_sweep_session(mishap_runner *r, mishap_link *link, int64_t now);

/* -- uploads.c --------------------------------------------------------------------------------- */

/* For how long the handler that began then has waited for bytes of its streamed file; NULL: it has
 * none. */
int64_t mishap_link_waited(const mishap_link *link, const struct mishap_upload *upload,
                           int64_t begun, int64_t now);

/* -- timeouts.c -------------------------------------------------------------------------------- */

/* A worker without calls is not needed any more: let it end. */
void mishap_runner_put_away(mishap_runner *r, mishap_link *link);

void mishap_runner_look_at_clock(mishap_runner *r);

#endif
