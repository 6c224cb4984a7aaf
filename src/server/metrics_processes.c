/*
 * What the processes of a server use, by their roles: sampled from /proc by the supervisor, and
 * only while the metrics are being read. A loop that answers /metrics reads the last sample.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/metrics_memory.h"

enum {
    MOST = 4096, /* processes of the machine that are looked at */
    NAME = 16,   /* bytes of the name of a process, with its NUL */
    SAMPLE_MS = 5000,
    ASKED_MS = 300000, /* for so long after a reading of the metrics samples are taken */
    DEPTH = 8,         /* generations of processes below the supervisor */
    NOT_OURS = -1,
};

static struct process {
    int pid, parent, role;
    char name[NAME];
    int64_t cpu_ns, children_ns; /* of the process; of its children that have ended */
    int64_t memory;
} processes[MOST]; /* of the last sample */
static size_t count;

/* -- folders ----------------------------------------------------------------------------------- */

/* The entries of a folder whose names begin with a digit, without memory of the C library. */
struct entries {
    int folder; /* -1: it cannot be read */
    long length, at;
    char room[4096] __attribute__((aligned(8)));
};

/* NULL: there are no more. */
static const char *next_entry(struct entries *e)
{
    while (e->folder >= 0) {
        if (e->at >= e->length) {
            e->at = 0;
            e->length = getdents64(e->folder, e->room, sizeof e->room);
            if (e->length <= 0)
                return NULL;
        }
        const struct dirent64 *entry = (const void *)(e->room + e->at);
        e->at += entry->d_reclen;
        if (isdigit((unsigned char)entry->d_name[0]))
            return entry->d_name;
    }
    return NULL;
}

/* -- one process ------------------------------------------------------------------------------- */

static bool read_stat(int proc, const char *pid, char *text, size_t size)
{
    char path[64];
    if (snprintf(path, sizeof path, "%s/stat", pid) >= (int)sizeof path)
        return false;
    int file = openat(proc, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* A name may contain anything, also brackets: it ends at the last one. */
static bool parse_stat(const char *text, struct process *out)
{
    const char *begin = strchr(text, '('), *end = strrchr(text, ')');
    unsigned long own[2], ended[2];
    long pages, tick = sysconf(_SC_CLK_TCK);
    char state;
    if (!begin || !end || end < begin || tick <= 0 ||
        sscanf(end + 1,
               " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu %*d %*d %*d %*d %*u %*u "
               "%ld",
               &state, &out->parent, &own[0], &own[1], &ended[0], &ended[1], &pages) != 7)
        return false;
    out->pid = (int)strtol(text, NULL, 10);
    snprintf(out->name, sizeof out->name, "%.*s", (int)(end - begin - 1), begin + 1);
    out->cpu_ns = (int64_t)(own[0] + own[1]) * (1000000000 / tick);
    out->children_ns = (int64_t)(ended[0] + ended[1]) * (1000000000 / tick);
    out->memory = (int64_t)pages * sysconf(_SC_PAGESIZE);
    return true;
}

/* Linux has told the number as the size of the folder since 6.2; before that it is 0, and the
 * entries are counted. */
static int64_t count_files(int proc, int pid)
{
    char path[64];
    struct stat status;
    int64_t files = 0;
    snprintf(path, sizeof path, "%d/fd", pid);
    if (fstatat(proc, path, &status, 0) != 0)
        return 0;
    if (status.st_size > 0)
        return status.st_size;
    int folder = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct entries entries = { .folder = folder };
    while (next_entry(&entries))
        files++;
    if (folder >= 0)
        close(folder);
    return files;
}

/* -- roles ------------------------------------------------------------------------------------- */

/* A child of the keeper, and what that starts, runs handlers; its name does not matter. */
static int role_of(const struct process *p, int above)
{
    static const char prefix[] = "mishap-";
    if (above == MISHAP_ROLE_KEEPER || above == MISHAP_ROLE_WORKER)
        return MISHAP_ROLE_WORKER;
    for (int i = 0; i < MISHAP_ROLES; i++)
        if (strncmp(p->name, prefix, sizeof prefix - 1) == 0 &&
            strcmp(p->name + sizeof prefix - 1, mishap_role_names[i]) == 0)
            return i;
    return MISHAP_ROLE_OTHER;
}

static const struct process *find_process(int pid)
{
    for (size_t i = 0; i < count; i++)
        if (processes[i].pid == pid)
            return &processes[i];
    return NULL;
}

/* From the supervisor down, one generation after the other. */
static void find_roles(int supervisor)
{
    bool more = true;
    for (int depth = 0; depth < DEPTH && more; depth++) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            struct process *p = &processes[i];
            const struct process *above = NULL;
            if (p->role == NOT_OURS && p->pid != supervisor)
                above = find_process(p->parent);
            if (p->role == NOT_OURS && p->pid == supervisor)
                p->role = MISHAP_ROLE_SUPERVISOR;
            else if (above && above->role != NOT_OURS)
                p->role = role_of(p, above->role);
            else
                continue;
            more = true;
        }
    }
}

static void read_processes(int proc)
{
    char text[1024];
    const char *name;
    struct entries entries = { .folder = proc };
    count = 0;
    while (count < MOST && (name = next_entry(&entries))) {
        processes[count].role = NOT_OURS;
        if (read_stat(proc, name, text, sizeof text) && parse_stat(text, &processes[count]))
            count++;
    }
}

/* -- the sample -------------------------------------------------------------------------------- */

struct sum {
    int64_t processes, cpu_ns, memory, files;
};

/* Children of the keeper that have ended were workers. Those of the supervisor are counted when it
 * waits for them (mishap_http_metrics_used). */
static void add_process(struct sum sums[MISHAP_ROLES], int proc, const struct process *p)
{
    struct sum *sum = &sums[p->role];
    sum->processes++;
    sum->cpu_ns += p->cpu_ns;
    sum->memory += p->memory;
    sum->files += count_files(proc, p->pid);
    if (p->role == MISHAP_ROLE_KEEPER)
        sums[MISHAP_ROLE_WORKER].cpu_ns += p->children_ns;
    else if (p->role != MISHAP_ROLE_SUPERVISOR)
        sum->cpu_ns += p->children_ns;
}

/* What has ended is read before what lives: a process that ends meanwhile may be missing once, but
 * is never counted twice. CPU time never goes back. */
static void sample(mishap_http_metrics *metrics, int proc)
{
    struct sum sums[MISHAP_ROLES] = { { 0 } };
    for (size_t i = 0; i < MISHAP_ROLES; i++)
        sums[i].cpu_ns = atomic_load(&metrics->roles[i].ended_cpu_ns);
    read_processes(proc);
    find_roles(getpid());
    for (size_t i = 0; i < count; i++)
        if (processes[i].role != NOT_OURS)
            add_process(sums, proc, &processes[i]);
    for (size_t i = 0; i < MISHAP_ROLES; i++) {
        struct mishap_metric_of_role *of = &metrics->roles[i];
        atomic_store(&of->processes, sums[i].processes);
        atomic_store(&of->memory, sums[i].memory);
        atomic_store(&of->files, sums[i].files);
        if (sums[i].cpu_ns > atomic_load(&of->cpu_ns))
            atomic_store(&of->cpu_ns, sums[i].cpu_ns);
    }
}

void mishap_http_metrics_look(mishap_http_metrics *metrics)
{
    const int64_t ms = 1000000;
    int64_t now = mishap_clock_monotonic_ns(), asked = atomic_load(&metrics->asked_ns);
    int64_t sampled = atomic_load(&metrics->sampled_ns);
    if (!asked || now - asked > ASKED_MS * ms || (sampled && now - sampled < SAMPLE_MS * ms))
        return;
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc >= 0) {
        sample(metrics, proc);
        close(proc);
    }
    atomic_store(&metrics->sampled_ns, now);
}

void mishap_http_metrics_used(mishap_http_metrics *metrics, int pid, bool is_loop, int64_t cpu_ns)
{
    const struct process *known = find_process(pid);
    int role = is_loop ? MISHAP_ROLE_LOOP : known ? known->role : MISHAP_ROLE_OTHER;
    if (role == MISHAP_ROLE_KEEPER) /* most of it was used by its workers */
        role = MISHAP_ROLE_WORKER;
    if (role >= 0 && metrics)
        atomic_fetch_add(&metrics->roles[role].ended_cpu_ns, cpu_ns);
}
