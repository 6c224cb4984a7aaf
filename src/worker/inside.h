/*
 * The inside of the runner of calls, for the files that it is made of:
 *
 *     runner.c  what boundaries call; which worker gets a call
 *     hear.c    what workers and the keeper say
 *     lose.c    workers that end, and what becomes of their calls
 *     sweep.c   time: who has waited, run or been silent for too long
 */
#ifndef MISHAP_WORKER_INSIDE_H
#define MISHAP_WORKER_INSIDE_H

#include "worker/keeper.h"
#include "worker/link.h"

#define MISHAP_MS INT64_C(1000000) /* of nanoseconds */

enum {
    MISHAP_RUNNER_SCRATCH = 256 * 1024, /* bytes that are read at once */
    MISHAP_SHORT_MS = 2,                /* a call that takes no longer is worth waiting behind */
    MISHAP_TICK_MS = 50,                /* how late a timeout may be, while something runs */
    MISHAP_RUNNER_HOLDERS = 4096,       /* callers that meet in one word share what one may have */
};

/* The workers of a group, as far as this loop has them, and the calls that wait for one. */
typedef struct mishap_runner_group {
    mishap_run *first, *last;
    size_t waiting, links, starting;
    int64_t asked_ns, refused_ns; /* the latest time that a worker was asked for, was refused */
} mishap_runner_group;

struct mishap_runner {
    mishap_runner_settings settings;
    mishap_runner_times times;
    int epoll, timer;
    int beside;       /* a file that whoever waits watches, too; -1: none */
    int64_t timer_ns; /* when it is due; 0: never */
    mishap_link *links;
    mishap_runner_group groups[MISHAP_WORKER_GROUPS];
    uint32_t last_request;
    size_t count, forgotten; /* calls that wait or run; of these, that nobody waits for */
    uint16_t held[MISHAP_RUNNER_HOLDERS]; /* … of each caller, by its number */
    const mishap_operation **named;       /* that were named on stderr: each once */
    size_t named_count;
    char scratch[MISHAP_RUNNER_SCRATCH];
};

static inline bool mishap_runner_is_alone(const mishap_runner *r, size_t group)
{
    return r->settings.plan->groups.groups[group].alone;
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

/* UNAVAILABLE, to be tried again soon. */
mishap *mishap_runner_busy(void);

/* Look at the clock at this moment, at the latest. */
void mishap_runner_wake_at(mishap_runner *r, int64_t when_ns);

/* Have its calls begun just now, or not yet? */
bool mishap_link_is_brisk(mishap_link *link, int64_t now);

/* -- hear.c ------------------------------------------------------------------------------------ */

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
void mishap_runner_hear_keeper(mishap_runner *r);

/* -- lose.c ------------------------------------------------------------------------------------ */

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

/* It has no more to say, and how it ended is known, or will never be. */
void mishap_runner_bury(mishap_runner *r, mishap_link *link);

/* A call that nobody waits for is over: what came of it is for the log. */
void mishap_runner_end_forgotten(mishap_runner *r, mishap_link_slot *slot, mishap *failure);

/* -- sweep.c ----------------------------------------------------------------------------------- */

void mishap_runner_look_at_clock(mishap_runner *r);

#endif
