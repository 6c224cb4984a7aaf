#include "base/priority.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

bool mishap_priority_can_be_restored(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
    return syscall(SYS_capget, &header, data) == 0 &&
           data[CAP_TO_INDEX(CAP_SYS_NICE)].effective & CAP_TO_MASK(CAP_SYS_NICE);
}

void mishap_priority_lower(pid_t pid, int by)
{
    char path[64], text[16];
    if (pid <= 1)
        return; /* 0 would be this process itself */
    int length = snprintf(text, sizeof text, "%d", by);
    snprintf(path, sizeof path, "/proc/%d/autogroup", (int)pid);
    setpriority(PRIO_PGRP, (id_t)pid, getpriority(PRIO_PROCESS, 0) + by); /* 19 at most */
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return; /* there are none */
    ssize_t written = write(file, text, (size_t)length);
    (void)written;
    close(file);
}
