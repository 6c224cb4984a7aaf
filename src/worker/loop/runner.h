/*
 * The runner of calls, for every boundary that serves: a call is handed over, and comes back with
 * its outcome. In which process it runs, and how often, is the runner's concern alone.
 *
 * It belongs to the thread of a loop, which waits for one descriptor (mishap_runner_file) and calls
 * mishap_runner_turn() when there is something to read. Nothing here blocks.
 *
 * A handler has as long as its call says (call->limit_ms), from the moment at which it begins. Then
 * its worker is killed, and the call comes back as TIMEOUT, with the stack of the handler. If a
 * worker dies in any other way, its call comes back as INTERNAL_ERROR, which says how the worker
 * died. Another worker runs the calls that it had been given but had not begun.
 *
 * Calls of a service that settles them (mishap_settlement) come back when they are settled. If
 * their worker dies before that, they are run again, with the same id.
 *
 * While a service cannot be opened, its calls come back as UNAVAILABLE at once. The runner tries
 * again in the background.
 */
#ifndef MISHAP_WORKER_LOOP_RUNNER_H
#define MISHAP_WORKER_LOOP_RUNNER_H

#include "operation/call.h"
#include "operation/upload.h"
#include "worker/loop/turns.h"
#include "worker/plan/plan.h"

typedef struct mishap_runner mishap_runner;
typedef struct mishap_run mishap_run;

/* A call that is handed over: a member of the boundary's own struct for it. */
struct mishap_run {
    mishap_call *call;
    const char *incident; /* the id under which a failure is recorded if no caller waits any more */

    /* The call has its answer, or the failure, which it owns. Called once, on the thread of the
     * loop, from mishap_runner_turn() or mishap_runner_flush(), and not at all after
     * mishap_runner_forget(). The run may be freed in it. */
    void (*done)(mishap_run *run, mishap *failure);
    bool died; /* the handler did not return, and its time was not over */
    bool meek; /* no session of another caller may be ended to make room for it */

    /* For the runner alone: */
    struct mishap_link *link; /* NULL: it waits */
    unsigned slot;
    mishap_run *next, *previous; /* waiting calls in the order in which they came */
    mishap_turn turn;            /* … and in the order of turns */
    bool slow;                   /* it waits in the queue of long calls */
    uint32_t *took_us;           /* expected time of calls like it */
    int64_t since_ns;            /* when it began to wait */
    bool moved;                  /* the worker that had it died before it began */
    int repeats;                 /* how often it was run again after it had begun */
    /* Its caller may have left; it ends with the next flush to make room. */
    bool cancelled, gives_way;
    bool claims;     /* it waits for the claim of its call (operation/claims.h), in no queue */
    uint64_t ticket; /* … its claim; 0: none was made */
    struct mishap_run_session { /* of a call that runs in a session */
        unsigned char key[16];
        /* The key is known; a call has named it, or it is its caller's usual one. */
        bool known, named;
        bool tried;       /* another session was ended to make room for it */
        int64_t asked_ns; /* when the keeper was asked for it; 0: it was not */
    } session;
};

/* The timeouts of a runner, in milliseconds. */
typedef struct mishap_runner_times {
    int wait_ms;   /* how long a call may wait for its handler to begin */
    int begin_ms;  /* how long an idle worker may take to begin a call */
    int answer_ms; /* how long an answer may take after its handler has returned */
    int start_ms;  /* how long to wait for a worker that the keeper was asked for */
    int retry_ms;  /* pause after the keeper refused one */
    int gone_ms;   /* for a worker whose connection is closed: until it is killed */
    int lost_ms;   /* how long to wait for the keeper's report on a worker that has gone */
    int idle_ms;   /* how long a worker without calls is kept */
    int open_ms;   /* how long a worker may take to open its service */
    int settle_ms; /* … and to settle a batch of calls */
    int warm_ms;   /* after its start: when the runner starts workers of warm services */
    int stack_ms;  /* … longer than lost_ms for one that lives, and whose stack is to be read */
} mishap_runner_times;

typedef struct mishap_runner_settings {
    const mishap_keeper_plan *plan;
    int keeper;          /* a connection to it, which the runner owns; -1 with `inside` */
    size_t handlers;     /* workers of each group that is not `.alone`, at most */
    size_t most_waiting; /* calls that wait or run, at most */
    size_t most_of_one;  /* … of one caller (call->holder), once so few places are left; 0: all */
    bool inside;         /* run handlers in this process, inside containment: for a debugger */
    const mishap_runner_times *times; /* NULL: the defaults */
    int wait_ms; /* … but this is how long a call may wait for its handler to begin; 0: as there */

    /* A call that no caller waits for has failed: record it. The callee owns the failure. */
    void (*orphaned)(void *state, const mishap_call *call, const char *incident, mishap *failure);

    /* A service has become unavailable, for this reason, or available again (NULL). Called in the
     * one loop that found out; called again if the reason changes. */
    void (*stands)(void *state, const mishap_service *service, const mishap *failure);
    /* A call of this service ended with INTERNAL_ERROR: the service may not work any more. */
    void (*suspects)(void *state, const mishap_service *service);
    struct mishap_standing *standing;   /* shared by all loops; NULL: this runner is the only one */
    struct mishap_sessions *sessions;   /* the same */
    struct mishap_crowd *crowd;         /* the same */
    struct mishap_permits *permits;     /* the same; NULL: no call needs one */
    struct mishap_positions *positions; /* the same; NULL: no standby runs reads */
    struct mishap_claims *claims;       /* the same; NULL: no call has one */
    void *state;
} mishap_runner_settings;

mishap *mishap_runner_open(const mishap_runner_settings *settings, mishap_runner **out);
void mishap_runner_close(mishap_runner *runner); /* calls that still run are not answered */

/* A descriptor to wait for, and the function to call when it can be read. */
int mishap_runner_file(const mishap_runner *runner);
void mishap_runner_turn(mishap_runner *runner);

/* For a loop that waits for nothing but one file (-1: none): hand over the calls that were added;
 * wait until there is something to do or the file can be read, for so many milliseconds at most;
 * and do it. True: the file can be read. */
bool mishap_runner_wait(mishap_runner *runner, int file, int most_ms);

/* Hand over the calls that were added. Called before the loop waits, so that calls which came
 * together are sent together. */
void mishap_runner_flush(mishap_runner *runner);

/* Add a call that was checked. False: there are too many, and it was not taken. */
bool mishap_runner_add(mishap_runner *runner, mishap_run *run);

/* Why a call was not taken, as a failure for its caller: UNAVAILABLE, or RATE_LIMITED if the caller
 * has more than its share. */
mishap *mishap_runner_refuse(const mishap_runner *runner, const mishap_call *call);

/* No caller waits for it any more. The runner takes over the call; the run may be freed at once. A
 * handler that has begun can see this (mishap_cancelled), and may go on until its time is over. */
void mishap_runner_forget(mishap_runner *runner, mishap_run *run);

/* Its caller may have left. The handler can see this (mishap_cancelled) and goes on; its outcome
 * comes back as usual. While the call waits for a worker, it may end as UNAVAILABLE to make room
 * for another call that would be refused otherwise. */
void mishap_runner_cancel(mishap_runner *runner, mishap_run *run);

/* Hold a call that sends a stream, or let it go on. While it is held, its pieces are not read, so
 * its handler waits in the middle of a piece, and that time is not counted. Nothing happens if half
 * of the workers of its group are held already, or if its worker is alone, since other callers wait
 * for it. */
void mishap_runner_hold(mishap_runner *runner, mishap_run *run, bool hold);

/* The streamed file of a call (call->upload) has ended in this way; the caller of this function
 * closes the channel next. `run` may be NULL, or wait. */
void mishap_runner_upload_ended(const mishap_run *run, mishap_upload *upload,
                                mishap_upload_end end);

/* A conversation of this owner is over: end its sessions of foreign programs, each after the call
 * that it runs. */
void mishap_runner_dismiss(const mishap_runner *runner, uint64_t owner, mishap_text conversation);

/* The server stops at this time, on the monotonic clock: no session may begin, and each call of one
 * is told so (call->session_ends_s). To be called again and again, with the same time: the keeper
 * is asked how many sessions are left. */
void mishap_runner_end_sessions(mishap_runner *runner, int64_t end_ns);

/* How many sessions and calls are left, also those of other loops. More than 0 until the keeper has
 * answered. */
size_t mishap_runner_sessions_left(const mishap_runner *runner);

/* Look after services that cannot be opened, even if no call comes. To be called at least once per
 * second. */
void mishap_runner_tend(mishap_runner *runner);

/* What a group of the plan has in this loop, for metrics. */
typedef struct mishap_runner_use {
    size_t workers, busy; /* processes; those of them that have a call */
    size_t waiting;       /* calls that wait for one */
} mishap_runner_use;
mishap_runner_use mishap_runner_use_of(const mishap_runner *runner, size_t group);

/* How many calls wait or run, with or without those that no caller waits for. */
size_t mishap_runner_count(const mishap_runner *runner, bool forgotten);

#endif
