/*
 * The one runner of calls, for every boundary that serves: a call is handed over, and comes back
 * done. How that happens, in which process, and what became of that, no boundary knows.
 *
 * It belongs to the thread of a loop, which waits for one descriptor (mishap_runner_file) and calls
 * mishap_runner_turn() when there is something to read. Nothing here waits.
 *
 * A handler has as long as its call says (call->limit_ms), from the moment at which it begins. Then
 * its worker is killed, and the call comes back as TIMEOUT, with the stack of the handler. A worker
 * that dies in any other way brings its call back as INTERNAL_ERROR, which says how it died. Calls
 * that it had been given and not begun are run by another one.
 *
 * Calls of a service that settles them (mishap_settlement) come back when they are settled. If
 * their worker dies before, they are run again, with the same id.
 *
 * While a service cannot be opened, its calls come back as UNAVAILABLE at once. It is tried again
 * in the background.
 */
#ifndef MISHAP_WORKER_LOOP_RUNNER_H
#define MISHAP_WORKER_LOOP_RUNNER_H

#include "operation/call.h"
#include "worker/loop/turns.h"
#include "worker/plan/plan.h"

typedef struct mishap_runner mishap_runner;
typedef struct mishap_run mishap_run;

/* A call that is handed over: part of whatever a boundary keeps of it. */
struct mishap_run {
    mishap_call *call;
    const char *incident; /* the id under which a failure is recorded if nobody waits any more */

    /* The call has its answer, or the failure, which becomes the callee's. Called once, on the
     * thread of the loop, from mishap_runner_turn() or mishap_runner_flush(), and not at all after
     * mishap_runner_forget(). The run may be freed in it. */
    void (*done)(mishap_run *run, mishap *failure);
    bool died; /* the handler did not return, and not because its time was over */
    bool meek; /* no session of another caller is ended to make room for it */

    /* The runner's. */
    struct mishap_link *link; /* NULL: it waits */
    unsigned slot;
    mishap_run *next, *previous; /* of those that wait, in the order in which they came */
    mishap_turn turn;            /* … and in the order in which they are handed over */
    bool slow;                   /* it waits in the line of those that take long */
    uint32_t *took_us;           /* what calls like it took lately */
    int64_t since_ns;            /* when it began to wait */
    bool moved;                  /* the worker that it was given to died before it began */
    int repeats;                 /* how often it was given to another after it had begun */
    bool cancelled, gives_way;  /* its caller may have left; it ends for that with the next flush */
    struct mishap_run_session { /* of a call that runs in a session */
        unsigned char key[16];
        bool known, named; /* which one it is; it was named, or is its caller's usual one */
        bool tried;        /* another session was ended to make room for it */
        int64_t asked_ns;  /* when the keeper was asked for it; 0: it was not */
    } session;
};

/* How long a runner waits, in milliseconds. */
typedef struct mishap_runner_times {
    int wait_ms;   /* a call may wait for its handler to begin */
    int begin_ms;  /* a worker that runs nothing may take to begin what it was given */
    int answer_ms; /* an answer may take after its handler returned */
    int start_ms;  /* for the keeper's word on a worker that was asked for */
    int retry_ms;  /* after the keeper refused one */
    int gone_ms;   /* for a worker whose connection is closed to die of itself */
    int lost_ms;   /* for the keeper's word on a worker that is gone */
    int idle_ms;   /* until a worker without calls is put away */
    int open_ms;   /* a worker may take to open its service */
    int settle_ms; /* … to settle a batch of calls */
    int warm_ms;   /* after its start a runner has workers of warm services started */
} mishap_runner_times;

typedef struct mishap_runner_settings {
    const mishap_keeper_plan *plan;
    int keeper;          /* a connection to it; becomes the runner's; -1 with `inside` */
    size_t handlers;     /* workers of each group that is not alone, at most */
    size_t most_waiting; /* calls that wait or run, at most */
    size_t most_of_one;  /* … of one caller (call->holder), once so many are left; 0: all */
    bool inside;         /* run handlers in this process, inside containment: for a debugger */
    const mishap_runner_times *times; /* NULL: the usual ones */

    /* The failure of a call that nobody waits for, to be recorded. The failure is the callee's. */
    void (*orphaned)(void *state, const mishap_call *call, const char *incident, mishap *failure);

    /* A service has become unavailable, which the failure tells of, or available again (NULL). The
     * one loop that found out calls it; again, if the reason is another one. */
    void (*stands)(void *state, const mishap_service *service, const mishap *failure);
    /* A call of this service ended with INTERNAL_ERROR: it may not work any more. */
    void (*suspects)(void *state, const mishap_service *service);
    struct mishap_standing *standing; /* that all loops share; NULL: this runner is the only one */
    struct mishap_sessions *sessions; /* the same */
    struct mishap_crowd *crowd;       /* the same */
    struct mishap_permits *permits;   /* the same; NULL: no call needs one */
    void *state;
} mishap_runner_settings;

mishap *mishap_runner_open(const mishap_runner_settings *settings, mishap_runner **out);
void mishap_runner_close(mishap_runner *runner); /* what still runs goes on for nobody */

/* Something that can be waited for, and what to do when it can be read. */
int mishap_runner_file(const mishap_runner *runner);
void mishap_runner_turn(mishap_runner *runner);

/* For a loop that has nothing else to wait for than one file (-1: none): hand over what was added,
 * wait until there is something to do or the file can be read, at most so many milliseconds, and do
 * it. True: the file can be read. */
bool mishap_runner_wait(mishap_runner *runner, int file, int most_ms);

/* Hand over what was added. To be called before the loop waits: so calls that came together go
 * together. */
void mishap_runner_flush(mishap_runner *runner);

/* Add a call, which was checked. False: there are too many, and it was not taken. */
bool mishap_runner_add(mishap_runner *runner, mishap_run *run);

/* Why a call was not taken, for who called: UNAVAILABLE, or RATE_LIMITED if its caller has more
 * than its share. */
mishap *mishap_runner_refuse(const mishap_runner *runner, const mishap_call *call);

/* Nobody waits for it any more. The call becomes the runner's, the rest is free at once. If its
 * handler has begun, it is told (mishap_cancelled), and may go on until its time is over. */
void mishap_runner_forget(mishap_runner *runner, mishap_run *run);

/* Its caller has perhaps left. The handler is told (mishap_cancelled) and goes on, and what comes
 * of it is brought back as ever. While it waits for a worker, it ends as UNAVAILABLE if another
 * call would else be refused. */
void mishap_runner_cancel(mishap_runner *runner, mishap_run *run);

/* Hold a call that sends a stream: nothing more is read of it, so that its handler waits in the
 * middle of a piece, and that time is not counted; and let it go on. Nothing happens if half of the
 * workers of its group are held already, or if its worker is alone: other callers wait for it. */
void mishap_runner_hold(mishap_runner *runner, mishap_run *run, bool hold);

/* A conversation of this owner is over: end its sessions of foreign programs, each after the call
 * that it runs. */
void mishap_runner_dismiss(const mishap_runner *runner, uint64_t owner, mishap_text conversation);

/* Look after services that cannot be opened, also if no call comes. To be called every second or
 * more often. */
void mishap_runner_tend(mishap_runner *runner);

/* How many calls wait or run; with those that nobody waits for, or without. */
size_t mishap_runner_count(const mishap_runner *runner, bool forgotten);

#endif
