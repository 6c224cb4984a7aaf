#include "base/priority.h"

#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system.h"

bool mishap_priority_can_be_restored(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
    return syscall(SYS_capget, &header, data) == 0 &&
           data[CAP_TO_INDEX(CAP_SYS_NICE)].effective & CAP_TO_MASK(CAP_SYS_NICE);
}

/*
 * Since Linux 6.12 a process that wakes up takes the processor at once only from one whose slice is
 * longer than its own; else it waits for the next tick, 4 ms or 10, independent of the priorities.
 * 0 is the system's own slice. Older kernels ignore it.
 */
static void set_slice(pid_t pid, int nice, uint64_t nanoseconds)
{
    struct sched_attr attributes = { .size = sizeof attributes,
                                     .sched_policy = SCHED_NORMAL,
                                     .sched_nice = nice,
                                     .sched_runtime = nanoseconds };
    syscall(SYS_sched_setattr, pid, &attributes, 0);
}

void mishap_priority_lower(pid_t pid, int by)
{
    enum { LOWEST = 19, LONG_SLICE_NS = 100 * 1000 * 1000 }; /* longer ones are refused */
    char path[64], text[16];
    if (pid <= 1)
        return; /* 0 would be this process itself */
    snprintf(text, sizeof text, "%d", by);
    snprintf(path, sizeof path, "/proc/%d/autogroup", (int)pid);
    int nice = getpriority(PRIO_PROCESS, 0) + by;
    nice = nice < LOWEST ? nice : LOWEST;
    setpriority(PRIO_PGRP, (id_t)pid, nice);
    set_slice(pid, nice, by > 0 ? LONG_SLICE_NS : 0);
    mishap_system_write(path, text); /* where there are such groups */
}
