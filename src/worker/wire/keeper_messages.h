/*
 * Messages between the keeper and the processes that are connected to it: its parent (the
 * supervisor) and the loops. One message is one packet. Some carry descriptors. Each constant is
 * marked with the process that sends it.
 */
#ifndef MISHAP_WORKER_WIRE_KEEPER_MESSAGES_H
#define MISHAP_WORKER_WIRE_KEEPER_MESSAGES_H

#include "mishap/trace.h"
#include "operation/operation.h"
#include "worker/wire/packets.h"

typedef enum mishap_keeper_word {
    MISHAP_KEEPER_ADMIT = 1, /* parent: a loop is at the other end of this descriptor */
    MISHAP_KEEPER_START, /* loop: start a worker of `group`; `number` is the loop's own number for
                            it */
    MISHAP_KEEPER_END,   /* loop: kill worker `number`; `stack`: and report its stack */
    MISHAP_KEEPER_PUT_AWAY, /* loop: the loop no longer needs worker `worker`, which is to end by
                               itself soon */
    MISHAP_KEEPER_STARTED,  /* keeper: here is the worker, with a socket and a page; `number` as in
                               START */
    MISHAP_KEEPER_REFUSED,  /* keeper: no worker can be started; `status` is the error */
    MISHAP_KEEPER_ENDED,    /* keeper: worker `worker` has ended */

    /* For foreign programs: */
    MISHAP_KEEPER_INTERRUPT,   /* loop: interrupt call `number` of worker `worker` */
    MISHAP_KEEPER_INTERRUPTED, /* keeper: the signal was sent */

    MISHAP_KEEPER_YIELD, /* loop: lower the priority of worker `worker`, or restore it */

    /* For sessions, each of which is used by one loop at a time: */
    MISHAP_KEEPER_LEASE,  /* loop: the process of a session is wanted; STARTED or REFUSED follows */
    MISHAP_KEEPER_RECALL, /* keeper: another loop wants the session of worker `worker` */
    MISHAP_KEEPER_RELEASE, /* loop: the loop no longer uses the session of worker `worker` */
    MISHAP_KEEPER_CLOSE,   /* loop: end the session of worker `worker`, because of `reason` */
    MISHAP_KEEPER_TOLD,    /* loop: the caller has been told that the session has ended */
    MISHAP_KEEPER_DISMISS, /* loop: no caller can come back to the session: end it after its call */
    MISHAP_KEEPER_COUNT,   /* loop: how many sessions are there? keeper: `number` */
} mishap_keeper_word;

/* Why a call finds a session without its state: the caller is told so in a warning. */
typedef enum mishap_session_reason {
    MISHAP_SESSION_NEW,   /* it is as expected: no warning */
    MISHAP_SESSION_IDLE,  /* it was idle for too long, and was ended */
    MISHAP_SESSION_DIED,  /* its process has died */
    MISHAP_SESSION_LOST,  /* the keeper has died, and its sessions with it */
    MISHAP_SESSION_HEAVY, /* it was ended: the sessions of its caller held too much memory together
                           */
    MISHAP_SESSION_LAST_REASON = MISHAP_SESSION_HEAVY,
} mishap_session_reason;

enum {
    /* Bytes of the key by which the processes of a server know a session. */
    MISHAP_SESSION_KEY = 16,
    MISHAP_SESSION_RESTS_MS = 60 *
                              /* A session that was idle for so long may be ended for another one of
                               * its caller. */
                              1000,
};

typedef struct mishap_keeper_message {
    uint32_t word;
    uint32_t number; /* of a request for a worker */
    uint32_t worker; /* the number that the keeper gave to the worker */
    uint32_t group;
    int32_t pid;
    int32_t status; /* of ENDED: as from waitpid(); of REFUSED: the error */
    uint8_t stack; /* of END: the stack is wanted; of ENDED: `trace` has it, and the keeper has read
                      it from outside */
    uint8_t stopped;  /* of ENDED: it had stopped itself (SIGSTOP), and was killed for that */
    uint8_t joined;   /* of STARTED: the worker runs already, and other loops use it, too */
    uint8_t reason;   /* of STARTED and CLOSE: a mishap_session_reason */
    uint8_t known;    /* of STARTED: this keeper has had a process of the session before */
    uint8_t exceeded; /* of ENDED: the mishap_sandbox_excess that it was killed for */
    uint8_t yields;   /* of YIELD */
    uint8_t padding[5];
    uint8_t session[MISHAP_SESSION_KEY];
    uint64_t holder; /* of LEASE and STARTED: the caller whose session it is; 0: none */
    /* Only of ENDED: */
    mishap_trace trace;    /* sent only as long as it is */
    uint32_t output_bytes; /* of a foreign program: the last output that it wrote */
    char output[MISHAP_FOREIGN_LAST_OUTPUT];
} mishap_keeper_message;

enum { MISHAP_KEEPER_FILES = 2 }; /* at most, with one message */

/* Send a message without blocking. False: it was not sent. */
bool mishap_keeper_send(int socket, const mishap_keeper_message *message, const int *files,
                        size_t count);

/* Receive a message. Blocks for `wait_ms` at most; 0: not at all. The *count descriptors that came
 * with it belong to the caller. Returns 1: a message; 0: none; -1: the connection is closed, or the
 * packet is no message. */
int mishap_keeper_receive(int socket, mishap_keeper_message *message, int *files, size_t *count,
                          int wait_ms);

#endif
