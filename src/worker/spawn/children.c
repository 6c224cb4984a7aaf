/* The child processes of a process, read from /proc: see children.h. */
#include "worker/spawn/children.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void mishap_children_open(mishap_children *children, pid_t parent)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    children->at = children->length = 0;
    children->file = open(path, O_RDONLY | O_CLOEXEC);
}

/* The next byte, or -1. */
static int next_byte(mishap_children *children)
{
    if (children->at == children->length) {
        ssize_t count;
        do
            count = children->file < 0
                        ? 0
                        : read(children->file, children->text, sizeof children->text);
        while (count < 0 && errno == EINTR);
        children->at = 0;
        children->length = count > 0 ? (size_t)count : 0;
    }
    return children->length ? (unsigned char)children->text[children->at++] : -1;
}

/* The list has a space after each number. */
pid_t mishap_children_next(mishap_children *children)
{
    pid_t pid = 0;
    int c;
    while ((c = next_byte(children)) >= '0' && c <= '9')
        pid = pid * 10 + (c - '0');
    return pid;
}

void mishap_children_close(mishap_children *children)
{
    if (children->file >= 0)
        close(children->file);
    children->file = -1;
}
