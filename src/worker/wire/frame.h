/*
 * The messages between a loop and a worker: eight bytes of head (length, type, slot), then a
 * payload. Rows of tasks have payloads of calls and outcomes, too: MISHAP_TASK_FORMAT (task/task.h)
 * is raised with each change of them. Both sides check what they read. A loop has a worker killed
 * that sends an invalid frame.
 */
#ifndef MISHAP_WORKER_WIRE_FRAME_H
#define MISHAP_WORKER_WIRE_FRAME_H

#include "base/pack.h"
#include "operation/call.h"

typedef enum mishap_frame_type {
    /* to the worker */
    MISHAP_FRAME_CALL = 1, /* run this call */
    MISHAP_FRAME_OPEN,     /* open your service */
    /* to the loop */
    MISHAP_FRAME_PROGRESS,
    MISHAP_FRAME_LOG,
    MISHAP_FRAME_CHANGED, /* resources have changed; belongs to no call */
    MISHAP_FRAME_BEGIN,   /* a stream begins: its media type */
    MISHAP_FRAME_PIECE,   /* … a piece of it */
    MISHAP_FRAME_DONE,    /* the outcome of a call: its last frame */
    MISHAP_FRAME_OPENED,  /* the outcome of opening the service */
    MISHAP_FRAME_MARK,    /* the mark of a task */
} mishap_frame_type;

enum {
    MISHAP_FRAME_HEAD = 8,
    MISHAP_FRAME_LIMIT = 256 * 1024 * 1024, /* bytes of a payload */
};

typedef struct mishap_framed {
    mishap_frame_type type;
    unsigned slot;
    mishap_text payload;
} mishap_framed;

typedef enum mishap_frame_state {
    MISHAP_FRAME_MORE,  /* incomplete; *size is the size of the whole frame, or 0 if that is not
                           known yet */
    MISHAP_FRAME_WHOLE, /* complete: *size bytes */
    MISHAP_FRAME_BAD,   /* invalid */
} mishap_frame_state;

/* Read the frame at the beginning of some bytes. The result points into them. */
mishap_frame_state mishap_frame_read(mishap_text bytes, mishap_framed *frame, size_t *size);

/* Write a frame: begin it, write its payload, and end it with the result of begin. */
size_t mishap_frame_begin(mishap_buffer *out, mishap_frame_type type, unsigned slot);
void mishap_frame_end(mishap_buffer *out, size_t begun);

/* -- payloads ---------------------------------------------------------------------------------- */

/* The operation number of a call that tries the worker's service (a trial). Its operation need not
 * be in the program's list. */
#define MISHAP_FRAME_TRIAL UINT32_MAX

/* A call to be run. Text points into the payload. */
typedef struct mishap_frame_call {
    uint32_t number;    /* of the call; with its slot it names the call */
    uint32_t operation; /* its index in the program's list, or MISHAP_FRAME_TRIAL */
    uint32_t limit_ms;  /* the time of its handler */
    bool verbose, wants_progress, wants_log, wants_pieces;
    bool caller_is_free;
    unsigned scopes;    /* what the caller may do */
    bool repeated;      /* it may have run before, in a process that died */
    mishap_text id;     /* mishap_call_id(); no data: none yet */
    mishap_text caller; /* no data: a caller without a name */
    mishap_boundary_kind boundary;
    mishap_text request_id, remote, headers, traceparent; /* the same as in the loop's call */
    mishap_text if_match, if_none_match;                  /* no text: absent */
    mishap_text arguments;
    mishap_text body_type, body; /* of a call whose body is not JSON; no data: none */
    mishap_text cursor;  /* where a stream is resumed; no data: it starts at the beginning */
    mishap_text replies; /* answers to its questions; no data: none */
    unsigned rounds;     /* … and how often its handler has asked before */
    uint64_t log_after;  /* the position in the log that it must see; 0: any */
    bool wants_marks;    /* it is a task, whose last mark is … */
    mishap_text mark;    /* … this one; no text: none. Rows of tasks have it beside the call */
    bool has_upload;     /* a descriptor comes with the frame: the channel of its streamed file */
} mishap_frame_call;

void mishap_frame_put_call(mishap_buffer *out, unsigned slot, uint32_t number,
                           const mishap_call *call, uint32_t limit_ms);
bool mishap_frame_take_call(mishap_text payload, mishap_frame_call *call);

/* What a worker is to open. NULL: what it finds, or else it may create it. Otherwise: only what has
 * this identity. */
void mishap_frame_put_open(mishap_buffer *out, const char *identity);
bool mishap_frame_take_open(mishap_text payload, char room[MISHAP_IDENTITY_LIMIT],
                            const char **identity);

/* The outcome of opening: the failure, or the identity of what was opened; "" if it has none. */
void mishap_frame_put_opened(mishap_buffer *out, const char *identity, const mishap *failure);
bool mishap_frame_take_opened(mishap_text payload, char identity[MISHAP_IDENTITY_LIMIT],
                              mishap **failure);

/* The outcome of a call: its answer, or a failure with its public and its private side. It also
 * says whether the handler was ended before it returned (call->ended), and whether the handler has
 * found that what its service opened is of no more use (call->lost), and which position in the log
 * of its store it has reached (call->log_position). Reading copies all of that into the loop's
 * call. False: the outcome is invalid, and nothing was changed. A call that was
 * never made has only a failure. */
void mishap_frame_put_outcome(mishap_buffer *out, unsigned slot, const mishap_call *call,
                              const mishap *failure);
void mishap_frame_put_failure(mishap_buffer *out, unsigned slot, const mishap *failure);
bool mishap_frame_take_outcome(mishap_text payload, mishap_call *call, mishap **failure);

void mishap_frame_put_progress(mishap_buffer *out, unsigned slot, double done, double total,
                               mishap_text words);
bool mishap_frame_take_progress(mishap_text payload, double *done, double *total,
                                mishap_text *words);

/* Write a log message: for the client or, at level MISHAP_FOR_OPERATOR, a line for the operator. */
enum { MISHAP_FOR_OPERATOR = MISHAP_EMERGENCY + 1 };
void mishap_frame_put_log(mishap_buffer *out, unsigned slot, mishap_level level, mishap_text words);
bool mishap_frame_take_log(mishap_text payload, mishap_level *level, mishap_text *words);

#endif
