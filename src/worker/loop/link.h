/* A loop's end of the connection to one worker. */
#ifndef MISHAP_WORKER_LOOP_LINK_H
#define MISHAP_WORKER_LOOP_LINK_H

#include "base/id.h"
#include "sandbox/sandbox.h"
#include "worker/loop/runner.h"
#include "worker/wire/frame.h"
#include "worker/wire/keeper_messages.h"
#include "worker/wire/packets.h"
#include "worker/wire/page.h"

/* Why a loop wants a worker to end. */
typedef enum mishap_link_why {
    MISHAP_LINK_FINE,
    MISHAP_LINK_TIMEOUT,   /* its handler took too long */
    MISHAP_LINK_CANCELLED, /* nobody waits for its call, which did not stop */
    MISHAP_LINK_CLOSED,    /* it closed the connection */
    MISHAP_LINK_LIED,      /* it sent what it must not */
} mishap_link_why;

/* How a worker ended, as far as it is known. */
typedef struct mishap_link_end {
    mishap_link_why why;
    const char *lie; /* what it did wrong, if it lied */
    bool known;      /* the keeper has told of it: what follows is known */
    int status;      /* as waitpid() has it */
    bool stopped;    /* it had stopped itself */
    mishap_sandbox_excess exceeded;
    bool has_trace; /* read from outside */
    mishap_trace trace;
    uint32_t output_bytes; /* of a foreign program: the end of what it wrote */
    char output[MISHAP_FOREIGN_LAST_OUTPUT];
} mishap_link_end;

/* A call that the worker has. */
typedef struct mishap_link_slot {
    mishap_run *run;   /* NULL: nobody waits for it … */
    mishap_call *call; /* … and this is the runner's */
    uint32_t number;   /* of the call, as the page has it */
    int64_t handed_ns;
    int64_t begun_ns, ran_ns, done_ns; /* 0: not seen yet */
    bool streamed;                     /* pieces of its answer have left: it cannot be run again */
    struct mishap_link_turn {          /* what it counts for (dispatch.c) */
        mishap_turns_caller *caller;
        uint32_t *took_us, expected_us;
        uint64_t holder;
        bool slow, permit; /* takes long; began with the permit of the link */
    } turn;
    char incident[MISHAP_ID_LENGTH + 1];
} mishap_link_slot;

typedef struct mishap_link {
    struct mishap_link *next, *previous; /* of the runner's */
    mishap_runner *runner;
    size_t group;
    uint32_t worker;          /* its number */
    uint32_t generation;      /* of its service, when it was opened (standing.h) */
    int64_t opening_since_ns; /* it opens its service, and is given no call yet; 0: it has */
    int socket;               /* -1: closed */
    mishap_worker_page *page;
    mishap_buffer in;  /* the beginning of a frame whose rest is to come */
    mishap_buffer out; /* what is to be sent … */
    size_t sent;       /* … and was already */
    bool waits_to_send;
    bool yields;           /* its process has a lower priority */
    size_t permit;         /* to compute, that its call needed; 0: none */
    int64_t held_since_ns; /* nothing is read of it; 0: it is */
    int64_t gone_since_ns; /* its connection is; 0: it is not */
    bool joined;           /* the worker was there already, and busy with calls of others */
    uint64_t used;         /* slots, a bit each */
    uint32_t last_number;  /* of the calls that it was given */
    uint64_t taken_by;     /* the caller of one of its calls */
    uint64_t ahead_us;     /* what is expected that its calls take together */
    int64_t freed_ns;      /* when a call of it ended, the latest time */
    mishap_link_slot slots[MISHAP_SLOTS];
    int64_t handed_ns; /* when it was given a call, the latest time */
    int64_t heard_ns;  /* when a part of a frame came, whose rest is to come, the latest time */
    int64_t silent_since_ns;                /* it has calls, and began none; 0: that is not so */
    int64_t idle_since_ns, ending_since_ns; /* 0: it does not */
    mishap_link_end end;
    bool dead; /* to be freed when this turn is over */

    /* Of a foreign program, which has one call at a time, in slot 0. Its page is this process's
     * own. */
    const mishap_foreign *foreign; /* NULL: it is none */
    int64_t interrupted_ns;        /* its call was told to stop; 0: it was not */
    bool too_long;                 /* the call that it was to be given is */
    int interrupts;                /* … so often */
    bool awaits_interrupt;         /* … and whether the signal was sent is not known yet */
    size_t told;                   /* bytes that its call has told the operator */
    bool code_began;               /* code of a caller may have written what it sends */
    int strays;                    /* packets that count for nothing, since its latest call */

    /* … of a session: */
    bool is_session, named; /* … that a call has named, or need not name */
    bool recalled;          /* another loop wants it */
    uint64_t holder;        /* the caller that it counts for; 0: it does not count */
    uint8_t session[MISHAP_SESSION_KEY];
    mishap_session_reason reason; /* why it is not what it was; to be told with the next call */
} mishap_link;

/* Make one of a socket and a page, which become its own in any case. NULL: no memory. */
mishap_link *mishap_link_make(mishap_runner *runner, size_t group, uint32_t worker,
                              const int *files);
void mishap_link_free(mishap_link *link);

/* The same of a socket to a foreign program. */
mishap_link *mishap_link_make_foreign(mishap_runner *runner, size_t group, uint32_t worker,
                                      int socket, const mishap_foreign *foreign);

/* How many calls the worker has. */
static inline unsigned mishap_link_count(const mishap_link *link)
{
    return (unsigned)__builtin_popcountll(link->used);
}

/* Give it a call, whose slot is free: it is sent with the next flush. False: no memory. */
bool mishap_link_hand(mishap_link *link, mishap_run *run, int64_t now_ns);

/* A slot is free again. */
void mishap_link_clear(mishap_link *link, unsigned slot);

/* Send what there is to send. False: the connection is gone. */
bool mishap_link_flush(mishap_link *link);

/* When the handler of a slot began; 0: it has not. The worker's word is taken within reason. */
int64_t mishap_link_begun(mishap_link *link, unsigned slot, int64_t now_ns);

/* What the page says of the call in a slot. */
static inline mishap_slot_state mishap_link_state(const mishap_link *link, unsigned slot)
{
    return mishap_slot_state_of(link->page, slot, link->slots[slot].number);
}

/* Take a call back that has not begun: true if that was in time. */
bool mishap_link_take_back(mishap_link *link, unsigned slot);

/* What a caller, and the log, are told of a call whose worker ended like this. */
mishap *mishap_link_tell_end(const mishap_link *link, unsigned slot,
                             const mishap_operation *operation, bool alone);

#endif
