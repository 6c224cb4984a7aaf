/*
 * A keeper and its workers that are played by the test itself: a runner is connected to them over
 * the same sockets and pages as to real ones, and every message comes when the test sends it.
 */
#ifndef MISHAP_FAKE_KEEPER_H
#define MISHAP_FAKE_KEEPER_H

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/loop/link.h"
#include "worker/wire/keeper_messages.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The worker's end of a connection. */
struct fake_worker {
    int socket; /* -1: closed */
    mishap_worker_page *page;
    uint32_t number;
    mishap_buffer in;
};

/* The keeper's end in *keeper, the runner's is returned. */
static inline int fake_keeper_open(int *keeper)
{
    int ends[2];
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    *keeper = ends[0];
    return ends[1];
}

/* The next message of the runner. False: there is none. */
static inline bool fake_keeper_hears(int keeper, mishap_keeper_message *message)
{
    int files[MISHAP_KEEPER_FILES];
    size_t count;
    return mishap_keeper_receive(keeper, message, files, &count, 0) > 0;
}

/* Answer START: here is a worker. `joined`: it was there already, for other loops. */
static inline void fake_worker_start_as(int keeper, const mishap_keeper_message *asked,
                                        struct fake_worker *w, uint32_t number, bool joined)
{
    int ends[2], page = memfd_create("page", MFD_CLOEXEC);
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    MUST(page >= 0 && ftruncate(page, sizeof *w->page) == 0);
    *w = (struct fake_worker){ .socket = ends[1], .number = number };
    w->page = mmap(NULL, sizeof *w->page, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
    MUST(w->page != MAP_FAILED);
    mishap_keeper_message message = { .word = MISHAP_KEEPER_STARTED,
                                      .number = asked->number,
                                      .group = asked->group,
                                      .joined = joined,
                                      .worker = number };
    int files[] = { ends[0], page };
    MUST(mishap_keeper_send(keeper, &message, files, 2));
    close(ends[0]);
    close(page);
}

static inline void fake_worker_start(int keeper, const mishap_keeper_message *asked,
                                     struct fake_worker *w, uint32_t number)
{
    fake_worker_start_as(keeper, asked, w, number, false);
}

/* Answer START or LEASE: here is a foreign program, at the other end of what is returned. */
static inline int fake_program_start(int keeper, mishap_keeper_message started)
{
    int ends[2];
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    started.word = MISHAP_KEEPER_STARTED;
    MUST(mishap_keeper_send(keeper, &started, ends, 1));
    close(ends[0]);
    return ends[1];
}

/* The process is gone, and so is its end of the connection. */
static inline void fake_worker_close(struct fake_worker *w)
{
    if (w->socket >= 0)
        close(w->socket);
    w->socket = -1;
}

static inline void fake_worker_release(struct fake_worker *w)
{
    fake_worker_close(w);
    if (w->page)
        munmap(w->page, sizeof *w->page);
    mishap_buffer_release(&w->in);
    w->page = NULL;
}

/* The keeper's word: it has ended, with this status of waitpid(). */
static inline void fake_worker_ended(int keeper, const struct fake_worker *w, int status)
{
    mishap_keeper_message message = { .word = MISHAP_KEEPER_ENDED,
                                      .worker = w->number,
                                      .status = status };
    MUST(mishap_keeper_send(keeper, &message, NULL, 0));
}

/* Take the next call that has come. False: none has. The text of *asked lasts until the next one.
 */
static inline bool fake_worker_takes(struct fake_worker *w, unsigned *slot,
                                     mishap_frame_call *asked)
{
    static char kept[1 << 16];
    mishap_framed frame;
    size_t size;
    *slot = MISHAP_SLOTS; /* none */
    MUST(mishap_buffer_reserve(&w->in, 1 << 16));
    ssize_t got = recv(w->socket, w->in.data + w->in.length, 1 << 16, MSG_DONTWAIT);
    w->in.length += got > 0 ? (size_t)got : 0;
    if (mishap_frame_read(mishap_buffer_text(&w->in), &frame, &size) != MISHAP_FRAME_WHOLE)
        return false;
    MUST(size <= sizeof kept);
    memcpy(kept, w->in.data, size);
    memmove(w->in.data, w->in.data + size, w->in.length - size);
    w->in.length -= size;
    MUST(mishap_frame_read((mishap_text){ kept, size }, &frame, &size) == MISHAP_FRAME_WHOLE);
    MUST(frame.type == MISHAP_FRAME_CALL && mishap_frame_take_call(frame.payload, asked));
    *slot = frame.slot;
    return true;
}

static inline bool fake_worker_begins(const struct fake_worker *w, unsigned slot, uint32_t number)
{
    atomic_store(&w->page->begun_ns, mishap_clock_monotonic_ns());
    return mishap_slot_change(w->page, slot, number, MISHAP_SLOT_HANDED, MISHAP_SLOT_BEGUN);
}

static inline void fake_worker_sends(const struct fake_worker *w, const void *bytes, size_t size)
{
    MUST(send(w->socket, bytes, size, MSG_NOSIGNAL) == (ssize_t)size);
}

/* The answer {} to a call that has begun. */
static inline void fake_worker_answers(const struct fake_worker *w, unsigned slot, uint32_t number)
{
    mishap_buffer out = { 0 };
    mishap_call call = { .answer_kind = MISHAP_ANSWER_JSON };
    MISHAP_PUT(&call.answer, "{}");
    mishap_frame_put_outcome(&out, slot, &call, NULL);
    mishap_slot_change(w->page, slot, number, MISHAP_SLOT_BEGUN, MISHAP_SLOT_DONE);
    fake_worker_sends(w, out.data, out.length);
    mishap_buffer_release(&out);
    mishap_buffer_release(&call.answer);
}

#endif
