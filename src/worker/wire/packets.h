/*
 * Messages between this program and a foreign program that runs calls: docs/worker-protocol.md. A
 * message is JSON, in one packet or in several. Nothing that the foreign program sends is trusted:
 * it may run code of callers.
 */
#ifndef MISHAP_WORKER_WIRE_PACKETS_H
#define MISHAP_WORKER_WIRE_PACKETS_H

#include "mishap/worker.h"
#include "operation/call.h"

enum {
    /* Bytes of a packet, with its first byte that says which part of a message it is. */
    MISHAP_PACKET = 65536,
    MISHAP_FOREIGN_ASKED = 8 << 20,     /* bytes of a message to the program, at most */
    MISHAP_FOREIGN_ANSWERED = 4 << 20,  /* … from it, if the service declares no limit */
    MISHAP_FOREIGN_IDS = (1 << 30) - 1, /* ids of calls: from 1 to this */
    MISHAP_FOREIGN_SOCKET = 3,          /* the number of the socket in the program */
    MISHAP_FOREIGN_OUTPUT = 64 << 10,   /* bytes that it may write to descriptors 1 and 2 */
    MISHAP_FOREIGN_LAST_OUTPUT = 2000,  /* … of which so many are kept for the log when it dies */
};

/* What a service declares, or the default. */
static inline int mishap_foreign_ready_ms(const mishap_foreign *foreign)
{
    return foreign->ready_ms ? foreign->ready_ms : 30000;
}

static inline int mishap_foreign_grace_ms(const mishap_foreign *foreign)
{
    return foreign->grace_ms ? foreign->grace_ms : 500;
}

static inline size_t mishap_foreign_limit(const mishap_foreign *foreign)
{
    return foreign->answer_limit ? foreign->answer_limit : (size_t)MISHAP_FOREIGN_ANSWERED;
}

/* The foreign program that runs the calls of an operation; NULL: the operation has a C function. */
static inline const mishap_foreign *mishap_foreign_of(const mishap_operation *operation)
{
    return operation->service && operation->run == mishap_foreign_run ? operation->service->worker
                                                                      : NULL;
}

/* Shorten the time of a call to the limit that its own argument names (`.limit_param`). */
void mishap_foreign_shorten(const mishap_foreign *foreign, mishap_call *call);

/* The time after which a call is interrupted, in milliseconds; 0: never. */
int64_t mishap_foreign_interrupt_ms(const mishap_foreign *foreign, const mishap_call *call);

/* Correct the failure of a call that was interrupted. A program that keeps no time does not know
 * why it was interrupted, so its own account may be wrong. */
mishap *mishap_foreign_correct(const mishap_foreign *foreign, const mishap_call *call,
                               mishap *failure, bool timed_out);

/* The meaning of the exit code of a process that failed by itself (mishap/exits.h). NULL: it ended
 * in another way, or code of a caller may have chosen the exit code. */
const char *mishap_foreign_own_exit(const mishap_foreign_end *end);

/* -- to the program ---------------------------------------------------------------------------- */

/*
 * Write a call as packets into an empty buffer. Each packet but the last has MISHAP_PACKET bytes,
 * so that mishap_foreign_send() finds them again. False, with nothing written: the call is too
 * long, or there is no memory (out->failed).
 */
bool mishap_foreign_put_call(mishap_buffer *out, const mishap_call *call, uint32_t id,
                             int64_t limit_ms);

/* Send as many packets as the socket takes. *sent is the number of bytes sent so far. False: the
 * connection is closed. */
bool mishap_foreign_send(int socket, const mishap_buffer *packets, size_t *sent);

/* -- from the program -------------------------------------------------------------------------- */

typedef enum mishap_gathered {
    MISHAP_GATHERED_PART,  /* a part of a message whose rest is to come, or of one that was dropped
                            */
    MISHAP_GATHERED_WHOLE, /* *message is complete; it is in the packet or in `held` */
    MISHAP_GATHERED_BAD,   /* an invalid packet, or the message is too long */
} mishap_gathered;

/* Put the packets of a message together. `held` has the earlier packets; it is empty if there are
 * none. After a complete message the caller resets `held` (mishap_buffer_reset_within) before the
 * next packet. */
mishap_gathered mishap_foreign_gather(mishap_buffer *held, mishap_text packet, size_t limit,
                                      mishap_text *message);

typedef enum mishap_foreign_word {
    MISHAP_FOREIGN_READY,
    MISHAP_FOREIGN_UNREADY, /* the program cannot work; `failure` says why */
    MISHAP_FOREIGN_BEGINS,  /* from now on code of the caller runs in the program */
    MISHAP_FOREIGN_PROGRESS,
    MISHAP_FOREIGN_LOG,
    MISHAP_FOREIGN_ANSWER,
    MISHAP_FOREIGN_FAILURE,
} mishap_foreign_word;

/* A parsed message. Text and values point into the reader. */
typedef struct mishap_foreign_message {
    mishap_foreign_word word;
    uint32_t id; /* of the call; 0: the message belongs to no call */
    double done, total;
    mishap_text words;            /* of progress and log; no data: none */
    int level;                    /* of a log: mishap_level, or MISHAP_FOR_OPERATOR (frame.h) */
    yyjson_val *answer;           /* an object */
    yyjson_val *failure;          /* an object */
    yyjson_val *warnings, *notes; /* an array of strings; an object; NULL: none */
    mishap_text text;             /* of an answer; no data: none */
    int64_t limit_ms; /* of a failure: the time limit that has passed; 0: it names none */
    bool last;        /* the program ends now */
} mishap_foreign_message;

/* Parse a message. NULL, or what is wrong with it, in words for the operator. */
const char *mishap_foreign_read(mishap_json_reader *reader, mishap_text text,
                                mishap_foreign_message *message);

/* Make the failure that a message carries, as the program told it. Only its session is left out,
 * which the program must not name. *lie: why it is no valid failure. */
mishap *mishap_foreign_take_failure(const mishap_foreign_message *message, const char **lie);

/* What the loop or the command knows of a call when the process answers it. */
typedef struct mishap_foreign_known {
    const mishap_foreign *foreign;
    bool code_began;  /* code of a caller may have written the message */
    bool interrupted; /* the process was told to stop */
    int64_t ran_ms;   /* time since the call was handed over */
    int64_t limit_ms; /* the time that the call was given; 0: unlimited */
} mishap_foreign_known;

/* Take the outcome of a call from a message: the call gets the answer and its text, or *failure is
 * set. Both are checked against the declaration of the operation. Returns NULL, or what is wrong
 * with the message; once code has begun, always NULL. */
const char *mishap_foreign_take_outcome(const mishap_foreign_message *message,
                                        const mishap_foreign_known *known, mishap_call *call,
                                        mishap **failure);

/* True if the process ends after this message. */
bool mishap_foreign_is_last(const mishap_foreign_message *message,
                            const mishap_foreign_known *known, const mishap_call *call);

/* The failure of a call whose process ended after code of the caller had begun, where the service
 * has no words of its own for it. NULL: the end is not the fault of the code. */
mishap *mishap_foreign_code_ended(const mishap_foreign *foreign, const mishap_foreign_end *end);

#endif
