/* What the files of the hostile program (sandbox_attacker.c) share. */
#ifndef SANDBOX_ATTACKER_H
#define SANDBOX_ATTACKER_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <linux/vm_sockets.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "attempts.h"

enum { STOPPED = 0, SUCCEEDED = 10, NOT_HERE = 77 };
enum { MB = 1 << 20, OWN_SOCKET = 3 };

/* What it was started with. */
extern pid_t parent;
extern const char *outside; /* the folder */
extern int port;
extern const char *host_is;
extern char itself[4096];

extern char memory[64]; /* to be overwritten */

#define DECLARE(name, layers, plain, what) bool name(void);
SANDBOX_ATTEMPTS(DECLARE)

/* sandbox_attack_counters.c: what main() returns. */
int take_counter(const char *name);
int grow(const char *name);

/* Of calls that need a privilege: any other error comes after the check. */
static inline bool permitted(long result)
{
    return result >= 0 || (errno != EPERM && errno != ENOSYS && errno != EACCES);
}

static inline bool opens(const char *path, int flags)
{
    return open(path, flags | O_CLOEXEC, 0600) >= 0;
}

#endif
