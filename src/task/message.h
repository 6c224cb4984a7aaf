/*
 * Messages between a loop and the process of tasks, over a stream socket: a head of nine bytes
 * (length, kind, number) and a body. The number is the loop's own for its question; the reply has
 * the same. Both sides check what they read, and close the connection if it is not sound.
 */
#ifndef MISHAP_TASK_MESSAGE_H
#define MISHAP_TASK_MESSAGE_H

#include "base/pack.h"
#include "task/task.h"

typedef enum mishap_task_message_kind {
    /* to the process */
    MISHAP_TASK_HELLO = 1, /* the secret of the server: the first message */
    MISHAP_TASK_START,
    MISHAP_TASK_ASK,
    MISHAP_TASK_LEAVE,
    /* to the loop */
    MISHAP_TASK_REPLY,
    /* to the process again */
    MISHAP_TASK_BLOCK, /* the name of a caller whose tasks are cancelled */
    MISHAP_TASK_GIVE,  /* answers to what a task asks */
    MISHAP_TASK_MESSAGES,
} mishap_task_message_kind;

enum { MISHAP_TASK_HEAD = 9, MISHAP_TASK_MESSAGE_LIMIT = 256 << 20 };

typedef struct mishap_task_message {
    mishap_task_message_kind kind;
    uint32_t number;
    mishap_text body;
} mishap_task_message;

/* Read the message at the beginning of some bytes: its size; 0: it is not complete; SIZE_MAX: it is
 * none. The result points into the bytes. */
size_t mishap_task_message_read(mishap_text bytes, mishap_task_message *message);

/* Begin a message, and end it with the result of begin. One that is too long is removed, and the
 * buffer fails. */
size_t mishap_task_message_begin(mishap_buffer *out, mishap_task_message_kind kind,
                                 uint32_t number);
void mishap_task_message_end(mishap_buffer *out, size_t begun);

/* -- bodies ------------------------------------------------------------------------------------ */

typedef struct mishap_task_started {
    int32_t after_ms; /* -1: as the server was started */
    mishap_text owner, incident;
    uint64_t holder;
    mishap_text call; /* the payload of a frame */
} mishap_task_started;

void mishap_task_put_start(mishap_buffer *out, uint32_t number, const mishap_call *call,
                           mishap_text owner, int after_ms);
bool mishap_task_take_start(mishap_text body, mishap_task_started *started);

void mishap_task_put_ask(mishap_buffer *out, uint32_t number, mishap_task_wish wish,
                         mishap_text owner, mishap_text id);
bool mishap_task_take_ask(mishap_text body, mishap_task_wish *wish, mishap_text *owner,
                          mishap_text *id);

void mishap_task_put_give(mishap_buffer *out, uint32_t number, mishap_text owner, mishap_text id,
                          const mishap_task_given *given);
bool mishap_task_take_give(mishap_text body, mishap_text *owner, mishap_text *id,
                           mishap_task_given *given);

/* The failure of a reply that was taken belongs to the caller. */
void mishap_task_put_reply(mishap_buffer *out, uint32_t number, const mishap_task_reply *reply);
bool mishap_task_take_reply(mishap_text body, mishap_task_reply *reply);

#endif
