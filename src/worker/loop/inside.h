/*
 * The inside of the runner of calls, for the files that it is made of:
 *
 *     runner.c         what boundaries call
 *     dispatch.c       which call is next, and which worker gets it
 *     receive.c        what workers and the keeper say
 *     worker_end.c     workers that end, and what becomes of their calls
 *     opening.c        services that workers open, and cannot open
 *     timeouts.c       calls that have waited or run, and workers that are silent, for too long
 *     foreign_calls.c  calls that foreign programs run
 *     session.c        sessions: which process a call goes to
 *     yield.c          priorities: calls that take long, and those of others
 */
#ifndef MISHAP_WORKER_LOOP_INSIDE_H
#define MISHAP_WORKER_LOOP_INSIDE_H

#include "worker/loop/crowd.h"
#include "worker/loop/link.h"
#include "worker/loop/permits.h"
#include "worker/loop/standing.h"
#include "worker/wire/keeper_messages.h"
#include "worker/wire/session_handles.h"

#define MISHAP_MS INT64_C(1000000) /* of nanoseconds */

enum {
    MISHAP_RUNNER_SCRATCH = 256 * 1024, /* bytes that are read at once */
    MISHAP_SHORT_MS = 2,                /* a call that takes no longer is worth waiting behind */
    MISHAP_LONG_MS = 50,                /* a call that takes longer is one that takes long */
    MISHAP_TURN_MS = 5,                 /* so long workers are read before others have a turn */
    MISHAP_TICK_MS = 50,                /* how late a timeout may be, while something runs */
    MISHAP_MOST_REPEATS = 3,      /* how often a call is run again, if its processes are killed */
    MISHAP_RUNNER_HOLDERS = 4096, /* callers that meet in one word share what one may have */
};

/* The workers of a group, as far as this loop has them, and the calls that wait for one. */
typedef struct mishap_runner_group {
    mishap_run *first, *last; /* in the order in which they came */
    mishap_turns lines[2]; /* … and whose turn it is: of the short ones, of those that are slow */
    int64_t slow_since_ns; /* when one of these had its turn, or came while none waited */
    size_t waiting, links, starting;
    size_t giving_way;            /* of those that wait, for their callers have perhaps left */
    size_t opening;               /* of the links: those that open their service */
    size_t dead_openings;         /* in a row: workers that died while they opened it */
    int64_t asked_ns, refused_ns; /* the latest time that a worker was asked for, was refused */
    int refused_error;            /* … why it was refused; 0: one was started since */
} mishap_runner_group;

struct mishap_runner {
    mishap_runner_settings settings;
    mishap_runner_times times;
    mishap_standing *standing; /* that of all loops, or its own */
    mishap_standing own_standing;
    mishap_sessions *sessions; /* that of all loops, or its own; NULL before it is needed */
    bool owns_sessions;
    mishap_crowd *crowd; /* that of all loops, or its own */
    mishap_crowd own_crowd;
    int epoll, timer;
    int beside;        /* a file that whoever waits watches, too; -1: none */
    int64_t timer_ns;  /* when it is due; 0: never */
    int64_t opened_ns; /* when this runner was */
    mishap_link *links;
    mishap_runner_group groups[MISHAP_WORKER_GROUPS];
    uint32_t last_request;
    size_t count, forgotten; /* calls that wait or run; of these, that nobody waits for */
    uint16_t held[MISHAP_RUNNER_HOLDERS];    /* … of each caller, by its number */
    uint32_t took_us[MISHAP_RUNNER_HOLDERS]; /* what calls took lately, by caller and operation */
    const mishap_operation **named;          /* that were named on stderr: each once */
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

/* A call waits in the line of its group, at its end or as the first of all; and waits no more. */
void mishap_runner_enqueue(mishap_runner_group *g, mishap_run *run, bool first);
void mishap_runner_dequeue(mishap_runner_group *g, mishap_run *run);

/* A call is counted, and no more. */
void mishap_runner_count_in(mishap_runner *r, const mishap_call *call);
void mishap_runner_count_out(mishap_runner *r, const mishap_call *call);

/* The call is over, and leaves the runner. */
void mishap_runner_finish(mishap_runner *r, mishap_run *run, mishap *failure);

/* The same for a call that cannot be run. One that perhaps was settled before is told so: its
 * caller must not take it for one that was not done. */
void mishap_runner_give_up(mishap_runner *r, mishap_run *run, mishap *failure);

/* UNAVAILABLE, to be tried again soon. */
mishap *mishap_runner_busy(void);

/* Look at the clock at this moment, at the latest. */
void mishap_runner_wake_at(mishap_runner *r, int64_t when_ns);

/* How many calls of this caller wait or run; with those of callers that share its word. */
size_t mishap_runner_holds(const mishap_runner *r, uint64_t holder);

/* -- dispatch.c -------------------------------------------------------------------------------- */

/* What calls of the same caller, operation and group took lately, in microseconds; 0: not known. */
uint32_t *mishap_runner_took(mishap_runner *r, const mishap_call *call, size_t group);

/* A call that waits gets its place in one of the lines: before or behind others of its caller. */
void mishap_runner_line_up(mishap_runner_group *g, mishap_run *run, bool first);

/* Hand over what waits in a group. */
void mishap_runner_dispatch(mishap_runner *r, size_t group);

/* Give a worker a call that waits. False: it could not be, and waits no more. */
bool mishap_runner_hand(mishap_runner *r, mishap_link *link, mishap_run *run, int64_t now);

/* A worker does not have a call any more. `ran`: its time counts. */
void mishap_runner_clear(mishap_runner *r, mishap_link *link, unsigned slot, bool ran);

/* Ask the keeper for a worker, whether or not a call waits for one. */
void mishap_runner_start_worker(mishap_runner *r, size_t group, int64_t now);

/* Have its calls begun just now, or not yet? */
bool mishap_link_is_brisk(mishap_link *link, int64_t now);

/* -- yield.c ----------------------------------------------------------------------------------- */

/* The call of a worker takes long: it yields to those of other callers, if there are any. If there
 * are none, it does not, even if its call before did. */
void mishap_runner_yield(const mishap_runner *r, mishap_link *link, int64_t now);

/* May a call that is apart begin in a worker? If not, it is tried again soon. A caller with many
 * needs a permit while there are other callers (permits.h). */
bool mishap_runner_may_compute(mishap_runner *r, mishap_link *link, const mishap_run *run,
                               int64_t now);

/* Its call is over, or computes nothing now. */
void mishap_runner_return_permit(const mishap_runner *r, mishap_link *link);

/* It has no such call any more. */
void mishap_runner_end_yield(const mishap_runner *r, mishap_link *link);

/* -- receive.c --------------------------------------------------------------------------------- */

/* The call in a slot, whether or not somebody waits for it. */
static inline const mishap_call *mishap_link_call(const mishap_link_slot *slot)
{
    return slot->run ? slot->run->call : slot->call;
}

/* Wait for what is wanted of a link now: to read, to write. */
void mishap_runner_listen(const mishap_runner *r, mishap_link *link);

/* Read what has come, as much as there is room for. False: there was nothing more, or it is over.
 */
bool mishap_runner_read(mishap_runner *r, mishap_link *link);

/* The connection is over: what was sent before still counts. What goes on being sent is left. */
void mishap_runner_read_rest(mishap_runner *r, mishap_link *link);
void mishap_runner_hear_keeper(mishap_runner *r);

/* It has sent what it must not, and is ended. */
void mishap_runner_on_lie(mishap_runner *r, mishap_link *link, const char *lie);

/* -- worker_end.c ------------------------------------------------------------------------------ */

/* Have the keeper end a worker; its calls come back when it has. `stack`: it is to say what it was
 * doing. */
void mishap_runner_ask_to_end(mishap_runner *r, mishap_link *link, mishap_link_why why,
                              const char *lie, bool stack);

/* Close the connection, if it is open, and wait for nothing of it any more. */
void mishap_runner_disconnect(mishap_runner *r, mishap_link *link);

/* The connection is gone. Why, its keeper knows, or will. */
void mishap_runner_lose(mishap_runner *r, mishap_link *link);

/* Its handler was ended by a jump: it runs no other call. */
void mishap_runner_retire(mishap_runner *r, mishap_link *link);

/* It ends by itself, for what it has open is of no more use. What else it was given goes to another
 * one. */
void mishap_runner_part(mishap_runner *r, mishap_link *link);

/* It has no more to say, and how it ended is known, or will never be. */
void mishap_runner_bury(mishap_runner *r, mishap_link *link);

/* A call that nobody waits for is over: what came of it is for the log. */
void mishap_runner_end_forgotten(mishap_runner *r, mishap_link_slot *slot, mishap *failure);

/* -- opening.c --------------------------------------------------------------------------------- */

/* Do workers of this group open something? */
bool mishap_runner_must_open(const mishap_runner *r, size_t group);

/* Tell a new worker to open its service; it is given no call before it has. False: no memory. */
bool mishap_runner_begin_opening(mishap_runner *r, mishap_link *link);

/* A worker says what came of it. NULL, or what is wrong with what it says. */
const char *mishap_runner_take_opened(mishap_runner *r, mishap_link *link, mishap_text payload);

/* A worker has died, perhaps while it opened its service; and: has it taken too long? */
void mishap_runner_opening_died(mishap_runner *r, mishap_link *link);
void mishap_runner_look_at_opening(mishap_runner *r, mishap_link *link, int64_t now);

/* Workers that opened the service in an earlier generation, and have no calls, are put away. */
void mishap_runner_drop_stale(mishap_runner *r, size_t group);

/* What is told of a call while its service is closed. */
mishap *mishap_runner_not_available(const mishap_runner *r, size_t group);

/* The service is closed: answer all calls that wait for it. */
void mishap_runner_refuse_group(mishap_runner *r, size_t group);

/* If the service is closed, and it is time, try to open it. */
void mishap_runner_look_at_service(mishap_runner *r, size_t group, int64_t now);

/* A handler has found that what its worker has open is of no more use. */
void mishap_runner_lost_service(mishap_runner *r, size_t group);

/* Where handlers run in this process: open the service. False: it is closed. */
bool mishap_runner_may_run_inside(mishap_runner *r, size_t group);

/* A worker has opened its service, or cannot open it. */
void mishap_runner_end_opening(mishap_runner *r, mishap_link *link, mishap *failure);

/* -- foreign_calls.c --------------------------------------------------------------------------- */

/* Before a process is asked for: can there be one? Else all calls that wait are told why not. */
bool mishap_runner_may_start_foreign(mishap_runner *r, size_t group);

/* Why a call could not be given to a worker: memory, or its length. */
mishap *mishap_runner_not_handed(const mishap_link *link);

/* Read the next packet of a foreign program. False: there was none, or it is over. */
bool mishap_runner_read_foreign(mishap_runner *r, mishap_link *link);

/* Have it stop its call: its time is over, or nobody waits for it. */
void mishap_runner_interrupt(mishap_runner *r, mishap_link *link);

/* What is told of a call whose process ended. */
mishap *mishap_runner_tell_foreign_end(const mishap_link *link, unsigned slot,
                                       const mishap_operation *operation);

/* Has its process ended with an exit code of mishap/exits.h, for which its call fails with
 * INTERNAL_ERROR? */
bool mishap_runner_failed_by_itself(const mishap_link *link);

/* … and of one that ended without a call, to the operator. */
void mishap_runner_log_foreign_end(const mishap_runner *r, const mishap_link *link);

/* A call of it runs: look at its time. */
void mishap_runner_sweep_foreign(mishap_runner *r, mishap_link *link, unsigned slot, int64_t now);

/* -- session.c --------------------------------------------------------------------------------- */

/* Hand over what waits for sessions that have no call now. */
void mishap_runner_dispatch_sessions(mishap_runner *r, size_t group);

/* What the keeper says of sessions. */
void mishap_runner_session_refused(mishap_runner *r, const mishap_keeper_message *message);
void mishap_runner_session_recalled(mishap_runner *r, const mishap_keeper_message *message);

/* A process of a session was started, or handed on. False: this loop has it already. */
bool mishap_runner_session_started(mishap_runner *r, mishap_link *link,
                                   const mishap_keeper_message *message);

/* Its call is over. `last`: so is its process, by its own word. */
void mishap_runner_session_rests(mishap_runner *r, mishap_link *link, bool last);

/* Its process has ended. `told`: a caller was told so. */
void mishap_runner_session_ended(mishap_runner *r, const mishap_link *link, bool told);

/* End it if it was idle for too long. */
void mishap_runner_sweep_session(mishap_runner *r, mishap_link *link, int64_t now);

/* -- timeouts.c -------------------------------------------------------------------------------- */

/* A worker without calls ends: nobody needs it any more. */
void mishap_runner_put_away(mishap_runner *r, mishap_link *link);

void mishap_runner_look_at_clock(mishap_runner *r);

#endif
