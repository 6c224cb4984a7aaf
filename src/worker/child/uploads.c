/* Streamed files in the process of a worker: see uploads.h. */
#include "worker/child/uploads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "operation/upload.h"
#include "worker/child/time_guard.h"

enum {
    ROOM = 64 * 1024,  /* bytes to read at once */
    KEPT = 256 * 1024, /* bytes of a buffer that stay for the next call */
};

/* -- descriptors ------------------------------------------------------------------------------- */

static void keep_file(mishap_worker_user *user, int file)
{
    mishap_buffer_put(&user->files, (const char *)&file, sizeof file);
    if (user->files.failed && file >= 0)
        close(file);
}

/* A descriptor for which there was no room in this process leaves its place in the order. */
static ssize_t receive_some(mishap_worker_user *user, void *to, size_t size, int flags)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec bytes = { to, size };
    struct msghdr message = { .msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = control.room,
                              .msg_controllen = sizeof control.room };
    ssize_t count = recvmsg(user->socket, &message, flags | MSG_CMSG_CLOEXEC);
    if (count <= 0)
        return count;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    int file = -1;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof file))
        memcpy(&file, CMSG_DATA(head), sizeof file);
    if (file >= 0 || message.msg_flags & MSG_CTRUNC)
        keep_file(user, file);
    if (!user->files.failed)
        return count;
    errno = ENOMEM;
    return -1;
}

/* Make room for the next bytes: those that were processed are dropped. */
static bool make_room(mishap_worker_user *user)
{
    mishap_buffer *in = &user->in;
    if (user->taken == in->length) {
        mishap_buffer_reset_within(in, KEPT);
    } else if (user->taken) {
        memmove(in->data, in->data + user->taken, in->length - user->taken);
        in->length -= user->taken;
    }
    user->taken = 0;
    errno = ENOMEM;
    return mishap_buffer_reserve(in, ROOM);
}

bool mishap_uploads_receive(mishap_worker_user *user, bool wait)
{
    mishap_buffer *in = &user->in;
    if (!make_room(user))
        return false;
    ssize_t count = receive_some(user, in->data + in->length, in->capacity - in->length,
                                 wait ? 0 : MSG_DONTWAIT);
    if (count > 0)
        in->length += (size_t)count;
    else if (count == 0)
        errno = 0;
    return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

static int next_file(mishap_worker_user *user)
{
    int file = -1;
    if (user->files.length < sizeof file)
        return -1;
    memcpy(&file, user->files.data, sizeof file);
    user->files.length -= sizeof file;
    memmove(user->files.data, user->files.data + sizeof file, user->files.length);
    return file;
}

void mishap_uploads_release(mishap_worker_user *user)
{
    while (user->files.length) {
        int file = next_file(user);
        if (file >= 0)
            close(file);
    }
    mishap_buffer_release(&user->files);
}

/* -- the call that reads ----------------------------------------------------------------------- */

/* One call runs at a time. */
static struct {
    mishap_upload upload; /* the first member */
    mishap_channel channel;
    mishap_worker_page *page;
    unsigned slot;
    mishap_call *call;
    int64_t guarded_ns; /* when the guard ends this process; 0: never */
} u;

static mishap_upload_end on_ended(const mishap_upload *upload)
{
    (void)upload;
    unsigned end = atomic_load(&u.page->uploads[u.slot]);
    return end < MISHAP_UPLOAD_ENDS ? (mishap_upload_end)end : MISHAP_UPLOAD_OPEN;
}

/* The time of the call, of its deadline and of the guard stands still meanwhile. */
static void on_wait(mishap_upload *upload)
{
    struct pollfd file = { .fd = upload->file, .events = POLLIN };
    int64_t since = mishap_clock_monotonic_ns();
    atomic_store(&u.page->waiting_ns, since);
    mishap_time_guard_stop();
    poll(&file, 1, -1);
    int64_t now = mishap_clock_monotonic_ns(), waited = now - since;
    atomic_fetch_add(&u.page->waited_ns, waited);
    atomic_store(&u.page->waiting_ns, 0);
    if (u.call->deadline_ns)
        u.call->deadline_ns += waited;
    u.guarded_ns += u.guarded_ns ? waited : 0;
    if (u.guarded_ns)
        mishap_time_guard_set(u.guarded_ns > now ? (u.guarded_ns - now) / 1000000 + 1 : 1);
}

void mishap_uploads_begin(const mishap_worker_user *user, unsigned slot, mishap_call *call,
                          int64_t guard_ms)
{
    atomic_store(&user->page->waiting_ns, 0);
    atomic_store(&user->page->waited_ns, 0);
    u.page = user->page;
    u.slot = slot;
    u.call = call;
    u.guarded_ns = mishap_clock_monotonic_ns() + guard_ms * INT64_C(1000000);
    call->upload = &u.upload;
}

/* -- from one call to the next ----------------------------------------------------------------- */

/* If its descriptor got lost, reading fails. */
void mishap_uploads_take(mishap_worker_user *user, bool has_upload)
{
    int file = has_upload ? next_file(user) : -1;
    u.channel = (mishap_channel){ .socket = file };
    u.upload = (mishap_upload){
        .file = file, .channel = &u.channel, .ended = on_ended, .wait = on_wait
    };
}

void mishap_uploads_end(void)
{
    mishap_channel_close(&u.channel);
    u.upload.file = -1;
}
