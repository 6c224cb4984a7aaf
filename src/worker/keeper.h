/*
 * What is said between a keeper and those who are connected to it: its parent, and loops. One
 * message is one packet; with some come descriptors.
 */
#ifndef MISHAP_WORKER_KEEPER_H
#define MISHAP_WORKER_KEEPER_H

#include "mishap/trace.h"
#include "worker/worker.h"

typedef enum mishap_keeper_word {
    MISHAP_KEEPER_ADMIT = 1, /* parent: a loop is at the other end of this descriptor */
    MISHAP_KEEPER_START,     /* loop: a worker of `group`, please; `number` is the loop's own */
    MISHAP_KEEPER_END,       /* loop: kill worker `number`; `stack`: and tell what it was doing */
    MISHAP_KEEPER_PUT_AWAY,  /* loop: worker `worker` is of no more use; it is to end by itself soon
                              */
    MISHAP_KEEPER_STARTED,   /* keeper: with a socket and a page; `number` as in START */
    MISHAP_KEEPER_REFUSED,   /* keeper: none can be started; `status` is the error */
    MISHAP_KEEPER_ENDED,     /* keeper: worker `worker` has ended */
} mishap_keeper_word;

typedef struct mishap_keeper_message {
    uint32_t word;
    uint32_t number; /* of a request for a worker */
    uint32_t worker; /* which, by the number that the keeper gave it */
    uint32_t group;
    int32_t pid;
    int32_t status;  /* of ENDED: as waitpid() has it */
    uint8_t stack;   /* of END: wanted. Of ENDED: `trace` has it, read from outside */
    uint8_t stopped; /* of ENDED: it had stopped itself, and was killed for it */
    uint8_t joined;  /* of STARTED: the worker was there already, for other loops */
    uint8_t padding[1];
    mishap_trace trace; /* only as long as it needs to be */
} mishap_keeper_message;

enum { MISHAP_KEEPER_FILES = 2 }; /* with one message, at most */

/* Send a message, without waiting. False: it was not sent. */
bool mishap_keeper_send(int socket, const mishap_keeper_message *message, const int *files,
                        size_t count);

/* Receive one, without waiting unless `wait_ms` says so; *count descriptors, which are the
 * caller's. 1: there is one; 0: none; -1: the other end is gone, or what came is no message. */
int mishap_keeper_receive(int socket, mishap_keeper_message *message, int *files, size_t *count,
                          int wait_ms);

/* The process of the keeper, connected to its parent. `generation` counts the keepers of that
 * parent: workers of two generations never have the same number. */
_Noreturn void mishap_keeper_run(const mishap_keeper_plan *plan, uint32_t generation, int parent);

#endif
