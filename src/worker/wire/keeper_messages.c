/* Messages between the keeper and the processes that are connected to it: see keeper_messages.h. */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/wire/keeper_messages.h"

union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(MISHAP_KEEPER_FILES * sizeof(int))];
};

static size_t size_of(const mishap_keeper_message *message)
{
    return offsetof(mishap_keeper_message, trace) +
           (message->word == MISHAP_KEEPER_ENDED
                ? sizeof *message - offsetof(mishap_keeper_message, trace)
                : 0);
}

bool mishap_keeper_send(int socket, const mishap_keeper_message *message, const int *files,
                        size_t count)
{
    union {
        const mishap_keeper_message *given;
        void *base; /* sendmsg() only reads it */
    } start = { message };
    struct iovec bytes = { start.base, size_of(message) };
    union control control = { 0 };
    struct msghdr head = { .msg_iov = &bytes, .msg_iovlen = 1 };
    if (count) {
        head.msg_control = control.room;
        head.msg_controllen = CMSG_SPACE(count * sizeof *files);
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(count * sizeof *files);
        memcpy(CMSG_DATA(&control.head), files, count * sizeof *files);
    }
    return sendmsg(socket, &head, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static size_t take_files(struct msghdr *head, int *files)
{
    size_t count = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(head); c; c = CMSG_NXTHDR(head, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t here = (c->cmsg_len - CMSG_LEN(0)) / sizeof *files;
        for (size_t i = 0; i < here && count < MISHAP_KEEPER_FILES; i++)
            memcpy(&files[count++], CMSG_DATA(c) + i * sizeof *files, sizeof *files);
    }
    return count;
}

int mishap_keeper_receive(int socket, mishap_keeper_message *message, int *files, size_t *count,
                          int wait_ms)
{
    struct iovec bytes = { message, sizeof *message };
    union control control = { 0 };
    struct msghdr head = { .msg_iov = &bytes,
                           .msg_iovlen = 1,
                           .msg_control = control.room,
                           .msg_controllen = sizeof control.room };
    struct pollfd file = { .fd = socket, .events = POLLIN };
    *count = 0;
    if (wait_ms)
        poll(&file, 1, wait_ms);
    memset(message, 0, sizeof *message);
    ssize_t length = recvmsg(socket, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    *count = take_files(&head, files);
    if (length > 0 && (size_t)length == size_of(message) &&
        message->trace.count <= MISHAP_TRACE_MAX &&
        message->output_bytes <= MISHAP_FOREIGN_LAST_OUTPUT)
        return 1;
    for (size_t i = 0; i < *count; i++)
        close(files[i]);
    *count = 0;
    return -1;
}
