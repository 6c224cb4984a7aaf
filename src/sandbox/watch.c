/*
 * Limits that the system does not enforce everywhere: the memory that a process really uses and its
 * threads (without a control group), and the files of its temporary folder (without a mount
 * namespace). The parent looks at the process at intervals, and kills it if it exceeds one.
 *
 * A process that has used no processor time since the last look has not changed. Otherwise
 * /proc/PID/status is enough, with one exception: it counts a mapped file in full, even if other
 * processes have mapped it, too. If these files make the difference, the PSS is read. Reading PSS
 * takes milliseconds and delays the looks at other processes, so it gets a tenth of the time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/system.h"
#include "sandbox/inside.h"

#define MS INT64_C(1000000)

enum {
    WEIGH_MS = 1000, /* between two looks at the PSS of a process that does not grow */
    COUNT_MS = 250,  /* … at the files of one */
    STEP_US = 250,   /* processor time after which a process is looked at again */
    SHARE = 10,      /* reading PSS takes one part in so many of the time */
};

uint64_t mishap_sandbox_resident(const mishap_sandbox_profile *profile)
{
    uint64_t own = profile->memory_bytes ? profile->memory_bytes : profile->address_bytes;
    if (profile->resident_bytes)
        return profile->resident_bytes;
    return own ? own + profile->temporary_bytes : 0;
}

/* The number of a line such as "VmRSS:	 1234 kB"; 0: there is none. */
static uint64_t number_of(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

static uint64_t bytes_of(const char *text, const char *name)
{
    return number_of(text, name) * 1024;
}

/* Pages of its own, and the tables that the system has of them. Files that it has mapped are not in
 * it. */
static uint64_t own_bytes(const char *status)
{
    return bytes_of(status, "\nRssAnon:") + bytes_of(status, "\nRssShmem:") +
           bytes_of(status, "\nVmSwap:") + bytes_of(status, "\nVmPTE:");
}

/* Its PSS, with what the tables take; 0: it is not the time to read it, or it cannot be read. */
static uint64_t weigh(const char *status, pid_t pid, uint64_t all, uint64_t most,
                      mishap_sandbox_watch *watch)
{
    static int64_t next_ns; /* of all that this process looks at */
    char rollup[4096];
    int64_t now = mishap_clock_monotonic_ns();
    bool grown = all > watch->weighed + most / 32;
    if (now < next_ns || (!grown && now - watch->weighed_ns < WEIGH_MS * MS))
        return 0;
    bool known = mishap_system_read_about(pid, "smaps_rollup", rollup, sizeof rollup);
    watch->weighed_ns = mishap_clock_monotonic_ns();
    watch->weighed = all;
    next_ns = watch->weighed_ns + (watch->weighed_ns - now) * (SHARE - 1);
    return known ? bytes_of(rollup, "\nPss:") + bytes_of(rollup, "\nSwapPss:") +
                       bytes_of(status, "\nVmPTE:")
                 : 0;
}

static bool has_too_much_memory(const char *status, pid_t pid, uint64_t most,
                                mishap_sandbox_watch *watch)
{
    uint64_t own = own_bytes(status), all = own + bytes_of(status, "\nRssFile:");
    watch->resident = own;
    watch->near = most && all > most / 4 * 3;
    if (!most || all <= most)
        return false;
    return own > most || weigh(status, pid, all, most, watch) > most;
}

/* Where no control group limits the threads. */
static bool has_too_many_threads(const mishap_sandbox *sandbox, const char *status)
{
    const mishap_sandbox_profile *profile = sandbox->profile;
    uint64_t most = profile->threads ? profile->threads : MISHAP_SANDBOX_THREADS;
    return !(sandbox->layers & MISHAP_LAYER_GROUPS) &&
           number_of(status, "\nThreads:") > most + MISHAP_SANDBOX_SPARE_IDS;
}

static bool has_too_many_files(const mishap_sandbox *sandbox, const mishap_sandbox_place *place,
                               mishap_sandbox_watch *watch)
{
    uint64_t bytes = sandbox->profile->temporary_bytes;
    int64_t now = mishap_clock_monotonic_ns();
    if (!place->folder[0] || (watch->counted_ns && now - watch->counted_ns < COUNT_MS * MS))
        return false;
    watch->counted_ns = now;
    return mishap_sandbox_folder_exceeds(place->folder, bytes / MISHAP_SANDBOX_INODE + 16, bytes);
}

mishap_sandbox_excess mishap_sandbox_look(const mishap_sandbox *sandbox,
                                          const mishap_sandbox_place *place, pid_t pid,
                                          mishap_sandbox_watch *watch)
{
    char status[4096];
    int64_t used = mishap_clock_process_ns(pid);
    watch->ran = used < 0 || used - watch->used_ns >= STEP_US * INT64_C(1000);
    watch->near = watch->near && watch->ran;
    if (!(sandbox->layers & MISHAP_LAYER_LIMITS) || !watch->ran)
        return MISHAP_EXCESS_NONE;
    watch->used_ns = used;
    if (!mishap_system_read_about(pid, "status", status, sizeof status))
        return MISHAP_EXCESS_NONE; /* it has ended, or /proc shows nothing: hidepid */
    if (has_too_much_memory(status, pid, mishap_sandbox_resident(sandbox->profile), watch))
        return MISHAP_EXCESS_MEMORY;
    if (has_too_many_threads(sandbox, status))
        return MISHAP_EXCESS_THREADS;
    return has_too_many_files(sandbox, place, watch) ? MISHAP_EXCESS_FILES : MISHAP_EXCESS_NONE;
}

mishap_sandbox_excess mishap_sandbox_excess_of(const mishap_sandbox_place *place)
{
    return mishap_sandbox_group_ran_out(place) ? MISHAP_EXCESS_MEMORY : MISHAP_EXCESS_NONE;
}
