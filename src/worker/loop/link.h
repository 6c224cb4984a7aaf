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

/* Why a loop wants a worker to be ended. */
typedef enum mishap_link_why {
    MISHAP_LINK_FINE,
    MISHAP_LINK_TIMEOUT,   /* its handler took too long */
    MISHAP_LINK_CANCELLED, /* no caller waits for its call, which did not stop */
    MISHAP_LINK_CLOSED,    /* it closed the connection */
    MISHAP_LINK_LIED,      /* it sent an invalid message */
} mishap_link_why;

/* How a worker ended, as far as that is known. */
typedef struct mishap_link_end {
    mishap_link_why why;
    const char *lie; /* what was invalid, if `why` is MISHAP_LINK_LIED */
    bool known;      /* the keeper has reported the end: what follows is known */
    int status;      /* as from waitpid() */
    bool stopped;    /* it had stopped itself (SIGSTOP) */
    mishap_sandbox_excess exceeded;
    bool has_trace; /* the keeper has read its stack */
    mishap_trace trace;
    uint32_t output_bytes; /* of a foreign program: the last output that it wrote */
    char output[MISHAP_FOREIGN_LAST_OUTPUT];
} mishap_link_end;

/* A call that the worker has. */
typedef struct mishap_link_slot {
    mishap_run *run;   /* NULL: no caller waits for it … */
    mishap_call *call; /* … and the runner owns its call */
    uint32_t number;   /* of the call, as in the page */
    int64_t handed_ns;
    int64_t begun_ns, ran_ns, done_ns; /* 0: not seen yet */
    bool streamed;            /* pieces of its answer were sent on: it cannot be run again */
    struct mishap_link_turn { /* its share of its caller's time (dispatch.c) */
        mishap_turns_caller *caller;
        uint32_t *took_us, expected_us;
        uint64_t holder;
        bool slow, permit; /* it is a long call; it began with the permit of the link */
    } turn;
    char incident[MISHAP_ID_LENGTH + 1];
} mishap_link_slot;

typedef struct mishap_link {
    struct mishap_link *next, *previous; /* in the runner's list */
    mishap_runner *runner;
    size_t group;
    uint32_t worker;          /* the number that the keeper gave it */
    uint32_t generation;      /* of its service, when the worker opened it (standing.h) */
    int64_t opening_since_ns; /* since when it opens its service, and gets no call; 0: it has opened
                                 it */
    int socket;               /* -1: closed */
    mishap_worker_page *page;
    mishap_buffer in;  /* the beginning of a frame whose rest has not arrived */
    mishap_buffer out; /* bytes to send … */
    size_t sent;       /* … and how many of them were sent */
    bool waits_to_send;
    int file;              /* a descriptor to be sent, with the byte … */
    size_t file_at;        /* … at this place of `out`; `file` -1: none */
    bool yields;           /* its process has a lower priority */
    size_t permit;         /* the permit to compute that its call needed; 0: none */
    int64_t held_since_ns; /* since when its socket is not read; 0: it is read */
    int64_t gone_since_ns; /* since when its connection is closed; 0: it is open */
    bool joined;           /* the worker was running already, and busy with calls of other loops */
    uint64_t used;         /* its slots, one bit each */
    uint32_t last_number;  /* the number of the last call that it was given */
    uint64_t taken_by;     /* the caller of one of its calls */
    uint64_t ahead_us;     /* the expected time of all its calls together */
    int64_t freed_ns;      /* when a call of it ended last */
    mishap_link_slot slots[MISHAP_SLOTS];
    int64_t handed_ns;       /* when it was given a call last */
    int64_t heard_ns;        /* when a part of an incomplete frame arrived last */
    int64_t silent_since_ns; /* since when it has calls but has begun none; 0: not so */
    /* Since when it is idle, or about to end; 0: it is not. */
    int64_t idle_since_ns, ending_since_ns;
    bool stack_wanted; /* the keeper reads its stack before it ends it */
    mishap_link_end end;
    bool dead; /* to be freed at the end of this iteration of the loop */

    /* Of a foreign program. It has one call at a time, in slot 0, and its page is private memory of
     * the loop. */
    const mishap_foreign *foreign; /* NULL: it runs no foreign program */
    int64_t interrupted_ns;        /* when its call was interrupted; 0: it was not */
    bool too_long;                 /* its next call is too long to be sent */
    int interrupts;                /* how often its call was interrupted */
    bool awaits_interrupt;         /* … and it is not known yet whether the signal was sent */
    size_t told;                   /* bytes that its call has written to the operator */
    bool code_began;               /* code of a caller may have written what it sends */
    int strays;                    /* packets without effect since its latest call */

    /* Of a session: */
    bool is_session, named; /* a call has named it, or need not name it */
    bool recalled;          /* another loop wants it */
    uint64_t holder;        /* the caller whose session it is; 0: it is not counted */
    uint8_t session[MISHAP_SESSION_KEY];
    mishap_session_reason reason; /* why it has lost its state; the next call is told */
} mishap_link;

/* Make a link of a socket and a page. It owns both, even if this fails. NULL: no memory. */
mishap_link *mishap_link_make(mishap_runner *runner, size_t group, uint32_t worker,
                              const int *files);
void mishap_link_free(mishap_link *link);

/* The same with a socket to a foreign program. */
mishap_link *mishap_link_make_foreign(mishap_runner *runner, size_t group, uint32_t worker,
                                      int socket, const mishap_foreign *foreign);

/* How many calls the worker has. */
static inline unsigned mishap_link_count(const mishap_link *link)
{
    return (unsigned)__builtin_popcountll(link->used);
}

/* Give it a call, for which it has a free slot. The call is sent with the next flush. False: no
 * memory. */
bool mishap_link_hand(mishap_link *link, mishap_run *run, int64_t now_ns);

/* Free a slot. */
void mishap_link_clear(mishap_link *link, unsigned slot);

/* Send the bytes that wait. False: the connection is closed. */
bool mishap_link_flush(mishap_link *link);

/* When the handler of a slot began; 0: it has not. The time comes from the worker, and is
 * clamped. */
int64_t mishap_link_begun(mishap_link *link, unsigned slot, int64_t now_ns);

/* The state of the call in a slot, from the page. */
static inline mishap_slot_state mishap_link_state(const mishap_link *link, unsigned slot)
{
    return mishap_slot_state_of(link->page, slot, link->slots[slot].number);
}

/* Take back a call that has not begun. True: that was in time. */
bool mishap_link_take_back(mishap_link *link, unsigned slot);

/* The failure of a call whose worker ended, for the caller and for the log. */
mishap *mishap_link_tell_end(const mishap_link *link, unsigned slot,
                             const mishap_operation *operation, bool alone);

#endif
