/* It is used between fork() and _exit() as well: see warden.c. */
#include "audit/process/orphans.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/signals.h"

enum { KILL_MS = 10000 }; /* how long the audit goes on killing */

/* A field of /proc/PID/stat as a number; 0: it is not known. */
static uint64_t number_about(int pid, int field)
{
    char about[512];
    const char *text = mishap_system_read_about(pid, "stat", about, sizeof about)
                           ? mishap_system_stat_field(about, field)
                           : NULL;
    return text ? strtoull(text, NULL, 10) : 0;
}

uint64_t mishap_audit_began(pid_t pid)
{
    return number_about(pid, 22);
}

/* The file `children` of /proc would be shorter, but not every kernel has it. */
int mishap_audit_list_children(uint64_t since, pid_t *pids)
{
    int file = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0;
    DIR *folder = file >= 0 ? fdopendir(file) : NULL;
    const struct dirent *entry;
    uint64_t self = (uint64_t)getpid();
    if (file >= 0 && !folder)
        close(file);
    while (folder && count < MISHAP_AUDIT_MOST_PROCESSES && (entry = readdir(folder))) {
        int pid = (int)strtol(entry->d_name, NULL, 10);
        if (pid > 1 && number_about(pid, 4) == self && mishap_audit_began(pid) >= since)
            pids[count++] = (pid_t)pid;
    }
    if (folder)
        closedir(folder);
    return count;
}

int mishap_audit_kill_orphans(uint64_t since, pid_t command, int *status)
{
    static pid_t pids[MISHAP_AUDIT_MOST_PROCESSES];
    int64_t end = mishap_clock_monotonic_ns() + KILL_MS * (int64_t)1000000;
    int first = since ? mishap_audit_list_children(since, pids) : 0;
    for (int count = first; count && mishap_clock_monotonic_ns() < end;
         count = mishap_audit_list_children(since, pids)) {
        for (int i = 0; i < count; i++) {
            int ended = 0;
            mishap_signal_process(pids[i], SIGKILL);
            if (waitpid(pids[i], &ended, WNOHANG) == pids[i] && pids[i] == command)
                *status = ended;
        }
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    }
    return first;
}
