/*
 * What is said between a keeper and those who are connected to it: its parent, and loops. One
 * message is one packet; with some come descriptors.
 */
#ifndef MISHAP_WORKER_WIRE_KEEPER_MESSAGES_H
#define MISHAP_WORKER_WIRE_KEEPER_MESSAGES_H

#include "mishap/trace.h"
#include "operation/operation.h"
#include "worker/wire/packets.h"

typedef enum mishap_keeper_word {
    MISHAP_KEEPER_ADMIT = 1, /* parent: a loop is at the other end of this descriptor */
    MISHAP_KEEPER_START,     /* loop: a worker of `group`, please; `number` is the loop's own */
    MISHAP_KEEPER_END,       /* loop: kill worker `number`; `stack`: and tell what it was doing */
    MISHAP_KEEPER_PUT_AWAY,  /* loop: worker `worker` is of no more use; it is to end by itself soon
                              */
    MISHAP_KEEPER_STARTED,   /* keeper: with a socket and a page; `number` as in START */
    MISHAP_KEEPER_REFUSED,   /* keeper: none can be started; `status` is the error */
    MISHAP_KEEPER_ENDED,     /* keeper: worker `worker` has ended */

    /* Of foreign programs: */
    MISHAP_KEEPER_INTERRUPT,   /* loop: have worker `worker` end its call `number` */
    MISHAP_KEEPER_INTERRUPTED, /* keeper: the signal was sent */

    MISHAP_KEEPER_YIELD, /* loop: worker `worker` is to yield to other processes, or no more */

    /* Of sessions, each of which one loop uses at a time: */
    MISHAP_KEEPER_LEASE,   /* loop: the process of a session, please; STARTED follows, or REFUSED */
    MISHAP_KEEPER_RECALL,  /* keeper: another loop wants the session of worker `worker` */
    MISHAP_KEEPER_RELEASE, /* loop: it uses the session of worker `worker` no more */
    MISHAP_KEEPER_CLOSE,   /* loop: the session of worker `worker` is to end, because of `reason` */
    MISHAP_KEEPER_TOLD,    /* loop: its caller knows that the session has ended */
    MISHAP_KEEPER_DISMISS, /* loop: nobody comes back to a session: it is to end, after its call */
} mishap_keeper_word;

/* Why a session is not what it was. */
typedef enum mishap_session_reason {
    MISHAP_SESSION_NEW,   /* it is: nothing is to be said */
    MISHAP_SESSION_IDLE,  /* it was ended, for nobody used it */
    MISHAP_SESSION_DIED,  /* its process has died */
    MISHAP_SESSION_LOST,  /* so has what kept it */
    MISHAP_SESSION_HEAVY, /* it was ended, for all those of its caller held too much memory */
    MISHAP_SESSION_LAST_REASON = MISHAP_SESSION_HEAVY,
} mishap_session_reason;

enum {
    MISHAP_SESSION_KEY = 16, /* bytes by which processes of a server know a session */
    MISHAP_SESSION_RESTS_MS = 60 *
                              1000, /* one that rested so long gives way to another of its caller */
};

typedef struct mishap_keeper_message {
    uint32_t word;
    uint32_t number; /* of a request for a worker */
    uint32_t worker; /* which, by the number that the keeper gave it */
    uint32_t group;
    int32_t pid;
    int32_t status;   /* of ENDED: as waitpid() has it */
    uint8_t stack;    /* of END: wanted. Of ENDED: `trace` has it, read from outside */
    uint8_t stopped;  /* of ENDED: it had stopped itself, and was killed for it */
    uint8_t joined;   /* of STARTED: the worker was there already, for other loops */
    uint8_t reason;   /* of STARTED and CLOSE: a mishap_session_reason */
    uint8_t known;    /* of STARTED: this keeper has had the session before */
    uint8_t exceeded; /* of ENDED: a mishap_sandbox_excess, for which it was killed */
    uint8_t yields;   /* of YIELD */
    uint8_t padding[5];
    uint8_t session[MISHAP_SESSION_KEY];
    uint64_t holder; /* of LEASE and STARTED: the caller that a session counts for; 0: none */
    /* Of ENDED alone: */
    mishap_trace trace;    /* only as long as it needs to be */
    uint32_t output_bytes; /* of a foreign program: the end of what it wrote */
    char output[MISHAP_FOREIGN_LAST_OUTPUT];
} mishap_keeper_message;

enum { MISHAP_KEEPER_FILES = 2 }; /* with one message, at most */

/* Send a message, without waiting. False: it was not sent. */
bool mishap_keeper_send(int socket, const mishap_keeper_message *message, const int *files,
                        size_t count);

/* Receive one, without waiting unless `wait_ms` says so; *count descriptors, which are the
 * caller's. 1: there is one; 0: none; -1: the other end is gone, or what came is no message. */
int mishap_keeper_receive(int socket, mishap_keeper_message *message, int *files, size_t *count,
                          int wait_ms);

#endif
