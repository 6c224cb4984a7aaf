/* Bytes of a streamed file between two processes: see channel.h. */
#include "operation/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system.h"

enum {
    LINE = 64,
    ROOM = MISHAP_CHANNEL_ROOM,
    ENOUGH = ROOM / 4, /* to receive bytes */
};

/*
 * Who waits says so, and then looks once more: both the count and the flag are stored before the
 * other one is loaded, in one order for both sides (seq_cst), so that one of them sees the other.
 */
typedef struct mishap_channel_counts {
    alignas(LINE) _Atomic uint64_t written; /* by the writer */
    atomic_bool writer_waits;
    alignas(LINE) _Atomic uint64_t taken; /* by the reader */
    atomic_bool reader_waits;
} counts;

/* The descriptors of the memory. */
typedef struct files {
    int counts, bytes;
} files;

/* -- both sides -------------------------------------------------------------------------------- */

static void wake(const mishap_channel *channel)
{
    char byte = 0;
    while (send(channel->socket, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
}

/* True if the other side has closed the socket. */
static bool drain(const mishap_channel *channel)
{
    char bytes[LINE];
    for (;;) {
        ssize_t count = recv(channel->socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EINTR))
            return count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    }
}

static char *place(const mishap_channel *channel)
{
    return channel->bytes + (channel->count - channel->before) % ROOM;
}

/* The bytes are mapped twice, one behind the other. */
static char *map_bytes(int file, int access)
{
    char *twice = mmap(NULL, 2 * (size_t)ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (twice == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < 2; i++)
        if (mmap(twice + i * ROOM, ROOM, access, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
            munmap(twice, 2 * (size_t)ROOM);
            return NULL;
        }
    return twice;
}

static void unmap(mishap_channel *channel)
{
    if (channel->counts)
        munmap(channel->counts, sizeof(counts));
    if (channel->bytes)
        munmap(channel->bytes, 2 * (size_t)ROOM);
    channel->counts = NULL;
    channel->bytes = NULL;
}

static bool map(mishap_channel *channel, files memory, int access)
{
    if (memory.counts < 0 || memory.bytes < 0)
        return false;
    void *mapped = mmap(NULL, sizeof(counts), PROT_READ | PROT_WRITE, MAP_SHARED, memory.counts, 0);
    channel->counts = mapped == MAP_FAILED ? NULL : mapped;
    channel->bytes = channel->counts ? map_bytes(memory.bytes, access) : NULL;
    channel->before = channel->count;
    if (!channel->bytes)
        unmap(channel);
    return channel->bytes != NULL;
}

void mishap_channel_end(mishap_channel *channel)
{
    if (channel->socket >= 0)
        close(channel->socket);
    channel->socket = -1;
}

void mishap_channel_close(mishap_channel *channel)
{
    unmap(channel);
    mishap_channel_end(channel);
}

/* -- descriptors ------------------------------------------------------------------------------- */

union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(files))];
};

static void close_files(files memory)
{
    if (memory.counts >= 0)
        close(memory.counts);
    if (memory.bytes >= 0)
        close(memory.bytes);
}

static bool send_files(int socket, files memory)
{
    union control control = { 0 };
    char byte = 0;
    struct iovec bytes = { &byte, 1 };
    struct msghdr message = { .msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = control.room,
                              .msg_controllen = sizeof control.room };
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof memory);
    memcpy(CMSG_DATA(&control.head), &memory, sizeof memory);
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

/* Receive bytes; the last one may carry descriptors: *came. A process that has no room for them
 * gets one of them, or none. */
static ssize_t receive(int socket, void *to, size_t size, files *memory, bool *came)
{
    union control control;
    struct iovec bytes = { to, size };
    struct msghdr message = { .msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = control.room,
                              .msg_controllen = sizeof control.room };
    ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *head = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *memory = (files){ -1, -1 };
    *came = count > 0 && (head || message.msg_flags & MSG_CTRUNC);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        size_t length = head->cmsg_len - CMSG_LEN(0);
        memcpy(memory, CMSG_DATA(head), length < sizeof *memory ? length : sizeof *memory);
    }
    return count;
}

/* -- the writer -------------------------------------------------------------------------------- */

bool mishap_channel_open(mishap_channel *channel, int *reader)
{
    int ends[2];
    *reader = -1;
    *channel = (mishap_channel){ .socket = -1 };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return false;
    channel->socket = ends[0];
    *reader = ends[1];
    return true;
}

/* Go over to memory, if the system has some. A socket that is full is tried again. A kernel before
 * 5.1 cannot keep the reader from changing the bytes. */
static void share_memory(mishap_channel *channel)
{
    bool full = false;
    files memory = { mishap_system_memory("mishap-counts", sizeof(counts), 0),
                     mishap_system_memory("mishap-bytes", ROOM, 0) };
    if (map(channel, memory, PROT_READ | PROT_WRITE)) {
        channel->lends = fcntl(memory.bytes, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0;
        if (!send_files(channel->socket, memory)) {
            full = errno == EAGAIN;
            unmap(channel);
        }
    }
    channel->refused = !channel->counts && !full;
    close_files(memory);
}

static size_t send_bytes(mishap_channel *channel, mishap_text bytes)
{
    size_t sent = 0;
    while (sent < bytes.length) {
        ssize_t count = send(channel->socket, bytes.data + sent, bytes.length - sent,
                             MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR)
            break;
        sent += count > 0 ? (size_t)count : 0;
    }
    channel->count += sent;
    if (channel->count >= MISHAP_CHANNEL_FIRST && sent == bytes.length && !channel->refused)
        share_memory(channel); /* the file is a long one */
    return sent;
}

/* A reader that claims to have read more than was written gets no more. */
static size_t room_of(const mishap_channel *channel)
{
    uint64_t written = channel->count - channel->before;
    uint64_t used = written - atomic_load(&channel->counts->taken);
    return used > ROOM ? 0 : (size_t)(ROOM - used);
}

static size_t put(mishap_channel *channel, mishap_text bytes)
{
    counts *shared = channel->counts;
    char *to = place(channel);
    size_t room = room_of(channel), count = bytes.length < room ? bytes.length : room;
    if (!count)
        return 0;
    if (to != bytes.data)
        memmove(to, bytes.data, count);
    channel->count += count;
    atomic_store(&shared->written, channel->count - channel->before);
    if (atomic_load(&shared->reader_waits) && atomic_exchange(&shared->reader_waits, false))
        wake(channel);
    return count;
}

size_t mishap_channel_write(mishap_channel *channel, mishap_text bytes)
{
    if (!channel->counts)
        return send_bytes(channel, bytes);
    size_t count = put(channel, bytes);
    if (count == bytes.length)
        return count;
    atomic_store(&channel->counts->writer_waits, true);
    return count + put(channel, (mishap_text){ bytes.data + count, bytes.length - count });
}

bool mishap_channel_is_full(const mishap_channel *channel)
{
    if (!channel->counts || room_of(channel) >= ENOUGH)
        return false;
    atomic_store(&channel->counts->writer_waits, true);
    return room_of(channel) < ENOUGH;
}

char *mishap_channel_lend(const mishap_channel *channel, size_t *size)
{
    enum { MOST = ROOM / 2 };
    size_t room = channel->counts && channel->lends ? room_of(channel) : 0;
    *size = room < MOST ? room : MOST;
    return room < ENOUGH ? NULL : place(channel);
}

short mishap_channel_events(const mishap_channel *channel)
{
    return channel->counts ? POLLIN : POLLOUT;
}

void mishap_channel_woken(const mishap_channel *channel)
{
    char bytes[LINE];
    ssize_t count = channel->counts ? recv(channel->socket, bytes, sizeof bytes, MSG_DONTWAIT) : 0;
    (void)count; /* those of a reader that sends more come next time */
}

/* -- the reader -------------------------------------------------------------------------------- */

/* Over the socket. -1 with EAGAIN, too, if only the memory came. */
static ssize_t read_socket(mishap_channel *channel, void *to, size_t size)
{
    files memory;
    bool came;
    ssize_t count = receive(channel->socket, to, size, &memory, &came);
    if (count <= 0)
        return count;
    count -= came;
    channel->count += (uint64_t)count;
    bool lost = came && !map(channel, memory, PROT_READ);
    close_files(memory);
    errno = lost ? ENOMEM : EAGAIN;
    return count && !lost ? count : -1;
}

static size_t take(mishap_channel *channel, void *to, size_t size)
{
    counts *shared = channel->counts;
    uint64_t taken = channel->count - channel->before;
    size_t there = (size_t)(atomic_load(&shared->written) - taken);
    size_t count = size < there ? size : there;
    if (!count)
        return 0;
    memcpy(to, place(channel), count);
    channel->count += count;
    atomic_store(&shared->taken, taken + count);
    if (there - count <= ROOM / 2 && atomic_load(&shared->writer_waits) &&
        atomic_exchange(&shared->writer_waits, false))
        wake(channel);
    return count;
}

ssize_t mishap_channel_read(mishap_channel *channel, void *to, size_t size)
{
    if (!channel->counts) {
        ssize_t count = read_socket(channel, to, size);
        if (count >= 0 || !channel->counts)
            return count;
    }
    size_t count = take(channel, to, size);
    if (count)
        return (ssize_t)count;
    bool ended = drain(channel);
    atomic_store(&channel->counts->reader_waits, true);
    count = take(channel, to, size);
    if (count || ended)
        return (ssize_t)count;
    errno = EAGAIN;
    return -1;
}
