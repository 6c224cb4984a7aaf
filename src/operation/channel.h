/*
 * A channel: the bytes of a streamed file on their way from the process that receives them to the
 * process of the handler. Of two connected sockets each process has one. The first bytes are sent
 * over them. A longer file goes through memory that both processes have mapped, which takes half of
 * the time: the last byte in the socket before that carries the descriptors of the memory, and from
 * then on a byte in a socket wakes up the side that waits. The end of the socket is the end of the
 * file.
 *
 * The writer does not trust the reader, which runs the code of a handler. The memory of the bytes
 * cannot shrink and cannot be written by the reader, so that the writer may also receive into it.
 * Whichever counts the reader gives, the writer stays within that memory.
 */
#ifndef MISHAP_OPERATION_CHANNEL_H
#define MISHAP_OPERATION_CHANNEL_H

#include <sys/types.h>

#include "base/base.h"

enum {
    MISHAP_CHANNEL_FIRST = 256 * 1024, /* bytes that are sent over the socket */
    MISHAP_CHANNEL_ROOM = 1024 * 1024, /* of the memory: a smaller one is full, and empty, so often
                                          that most of the time is spent on changes of processes */
};

typedef struct mishap_channel {
    int socket;     /* -1: it is closed */
    uint64_t count; /* bytes that this side has written, or read */

    struct mishap_channel_counts *counts; /* the memory; NULL: there is none yet */
    char *bytes;     /* … mapped twice, one behind the other: no part of it has an end */
    uint64_t before; /* … bytes that were sent before it */
    bool lends;      /* … of the writer: the reader cannot change it */
    bool refused;    /* … of the writer: the system has given none */
} mishap_channel;

/* Open the side that writes, and *reader, which is for mishap_channel.socket of the other side.
 * Neither of them blocks. False: the system has no descriptor to give. */
bool mishap_channel_open(mishap_channel *channel, int *reader);

/* Write as many bytes as there is room for. Returns how many that is. If some are left, wait for
 * mishap_channel_events(). */
size_t mishap_channel_write(mishap_channel *channel, mishap_text bytes);

/* True if no more bytes should be received now, for there is little room: wait for
 * mishap_channel_events(). */
bool mishap_channel_is_full(const mishap_channel *channel);

/* Memory for bytes that will be written next, at most *size of them: mishap_channel_write() has
 * nothing to copy if they are there. NULL: there is none now. What was received there is written
 * from its beginning, with parts left out or not, before anything else is. */
char *mishap_channel_lend(const mishap_channel *channel, size_t *size);

/* What to wait for in poll(2) on the socket of the writer; and after that. */
short mishap_channel_events(const mishap_channel *channel);
void mishap_channel_woken(const mishap_channel *channel);

/* As read(2) does, without waiting: -1 with EAGAIN if there are none, and the socket becomes
 * readable when there are some; 0 at the end. */
ssize_t mishap_channel_read(mishap_channel *channel, void *to, size_t size);

/* Tell the other side that this one has ended. Memory that was lent stays until it is closed. */
void mishap_channel_end(mishap_channel *channel);

/* Close this side. */
void mishap_channel_close(mishap_channel *channel);

#endif
