/*
 * What is said between this program and a foreign one that runs calls: docs/worker-protocol.md. A
 * message is JSON, in one packet or in several. Nothing of what the foreign program says is
 * trusted: it runs code of callers.
 */
#ifndef MISHAP_WORKER_WIRE_PACKETS_H
#define MISHAP_WORKER_WIRE_PACKETS_H

#include "mishap/worker.h"
#include "operation/call.h"

enum {
    MISHAP_PACKET = 65536,              /* bytes of a packet, with the one that says what it is */
    MISHAP_FOREIGN_ASKED = 8 << 20,     /* bytes of a message to the program, at most */
    MISHAP_FOREIGN_ANSWERED = 4 << 20,  /* … from it, if nothing is declared */
    MISHAP_FOREIGN_IDS = (1 << 30) - 1, /* ids of calls: from 1 to this */
    MISHAP_FOREIGN_SOCKET = 3,          /* the descriptor that the program has */
    MISHAP_FOREIGN_OUTPUT = 64 << 10,   /* bytes that it may write to descriptors 1 and 2 */
    MISHAP_FOREIGN_LAST_OUTPUT = 2000,  /* … of which so many are kept when it dies */
};

/* What is declared, or what holds where nothing is. */
static inline int mishap_foreign_ready_ms(const mishap_foreign *foreign)
{
    return foreign->ready_ms ? foreign->ready_ms : 10000;
}

static inline int mishap_foreign_grace_ms(const mishap_foreign *foreign)
{
    return foreign->grace_ms ? foreign->grace_ms : 500;
}

static inline size_t mishap_foreign_limit(const mishap_foreign *foreign)
{
    return foreign->answer_limit ? foreign->answer_limit : (size_t)MISHAP_FOREIGN_ANSWERED;
}

/* The program that runs the calls of an operation; NULL: its own function does. */
static inline const mishap_foreign *mishap_foreign_of(const mishap_operation *operation)
{
    return operation->service && operation->run == mishap_foreign_run ? operation->service->worker
                                                                      : NULL;
}

/* Shorten the time of a call to what it says itself (`.limit_param`). */
void mishap_foreign_shorten(const mishap_foreign *foreign, mishap_call *call);

/* How long a call may run before it is interrupted, in milliseconds; 0: any time. */
int64_t mishap_foreign_interrupt_ms(const mishap_foreign *foreign, const mishap_call *call);

/* A call failed that was interrupted. A program that keeps no time does not know why it was, so
 * that what it says of it may be wrong. */
mishap *mishap_foreign_correct(const mishap_foreign *foreign, const mishap_call *call,
                               mishap *failure, bool timed_out);

/* What the exit code of a process means that failed by itself (mishap/exits.h). NULL: it ended in
 * another way, or code of a caller may have chosen the code. */
const char *mishap_foreign_own_exit(const mishap_foreign_end *end);

/* -- to the program ---------------------------------------------------------------------------- */

/*
 * Write a call as packets, into an empty buffer. Each but the last has MISHAP_PACKET bytes, so they
 * are sent by mishap_foreign_send(). False, with nothing written: it is too long, or there is no
 * memory (out->failed).
 */
bool mishap_foreign_put_call(mishap_buffer *out, const mishap_call *call, uint32_t id,
                             int64_t limit_ms);

/* Send packets of which *sent bytes were sent, as many as there is room for. False: the connection
 * is gone. */
bool mishap_foreign_send(int socket, const mishap_buffer *packets, size_t *sent);

/* -- from the program -------------------------------------------------------------------------- */

typedef enum mishap_gathered {
    MISHAP_GATHERED_PART,  /* of a message whose rest is to come, or of one that was dropped */
    MISHAP_GATHERED_WHOLE, /* *message is whole; it is in the packet or in `held` */
    MISHAP_GATHERED_BAD,   /* no packet is like this, or the message is too long */
} mishap_gathered;

/* Put the packets of a message together. `held` has what came before; if nothing did, it is empty.
 * A message that lies in it is to be dropped (mishap_buffer_reset_within) before the next packet.
 */
mishap_gathered mishap_foreign_gather(mishap_buffer *held, mishap_text packet, size_t limit,
                                      mishap_text *message);

typedef enum mishap_foreign_word {
    MISHAP_FOREIGN_READY,
    MISHAP_FOREIGN_UNREADY, /* it cannot work, and `failure` says why */
    MISHAP_FOREIGN_BEGINS,  /* code of the caller runs in it from now on */
    MISHAP_FOREIGN_PROGRESS,
    MISHAP_FOREIGN_LOG,
    MISHAP_FOREIGN_ANSWER,
    MISHAP_FOREIGN_FAILURE,
} mishap_foreign_word;

/* A message. Text and values point into the reader. */
typedef struct mishap_foreign_message {
    mishap_foreign_word word;
    uint32_t id; /* of the call; 0: of none */
    double done, total;
    mishap_text words;            /* of progress and log; no data: none */
    int level;                    /* of a log: mishap_level, or MISHAP_FOR_OPERATOR (frame.h) */
    yyjson_val *answer;           /* an object */
    yyjson_val *failure;          /* an object */
    yyjson_val *warnings, *notes; /* an array of strings; an object; NULL: none */
    mishap_text text;             /* of an answer; no data: none */
    int64_t limit_ms;             /* of a failure: the time that was over; 0: it does not say */
    bool last;                    /* the program ends now */
} mishap_foreign_message;

/* Read one. NULL, or what is wrong with it, in words for the operator. */
const char *mishap_foreign_read(mishap_json_reader *reader, mishap_text text,
                                mishap_foreign_message *message);

/* The failure that a message has, as the program told it, but for the session: that is not its to
 * say. *lie, if it is no sound one. */
mishap *mishap_foreign_take_failure(const mishap_foreign_message *message, const char **lie);

/* What this side knows of a call when its process ends it. */
typedef struct mishap_foreign_known {
    const mishap_foreign *foreign;
    bool code_began;  /* code of a caller may have written the message */
    bool interrupted; /* the process was told to stop */
    int64_t ran_ms;   /* since the call was handed over */
    int64_t limit_ms; /* the time that it was given; 0: any */
} mishap_foreign_known;

/* What came of a call: its answer and its text are the call's now, or *failure is what it is to
 * fail with; both were held against the declaration. NULL, or what is wrong with the message: never
 * so once code has begun. */
const char *mishap_foreign_take_outcome(const mishap_foreign_message *message,
                                        const mishap_foreign_known *known, mishap_call *call,
                                        mishap **failure);

/* Whether the process ends after this message. */
bool mishap_foreign_is_last(const mishap_foreign_message *message,
                            const mishap_foreign_known *known, const mishap_call *call);

/* What is told of a call whose process ended, if code had begun and the service has no words for
 * it; NULL: nothing is to be blamed on code. */
mishap *mishap_foreign_code_ended(const mishap_foreign *foreign, const mishap_foreign_end *end);

#endif
