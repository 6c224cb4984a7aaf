/*
 * Control groups limit what a process and its threads may use together, as counted by the kernel. A
 * group is made below the group of this process, if the operator has permitted that: version 2 with
 * the controllers `pids` and `memory`, as systemd delegates it, or `pids` of version 1.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "base/clock.h"
#include "base/system.h"
#include "sandbox/inside.h"

enum {
    LONGEST_PATH = 200,
    YOUNG_S = 60, /* groups of other PID namespaces that are younger are left alone */
};

/* Where groups are made; found once. */
static struct {
    bool looked, memory;
    char folder[LONGEST_PATH]; /* "": nowhere */
} above;

void mishap_sandbox_use_groups_of(const char *folder, bool memory)
{
    above.looked = *folder != '\0';
    above.memory = memory;
    snprintf(above.folder, sizeof above.folder, "%s", folder);
}

static bool write_text(const char *folder, const char *name, const char *text)
{
    char path[LONGEST_PATH + 100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return mishap_system_write(path, text);
}

static bool write_number(const char *folder, const char *name, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return write_text(folder, name, text);
}

/* -- where ------------------------------------------------------------------------------------- */

/* The path of this process in the hierarchy whose line begins with this: "0::" or "…:pids:". */
static bool own_path(const char *controllers, char *path, size_t size)
{
    char text[4096];
    if (!mishap_system_read(AT_FDCWD, "/proc/self/cgroup", text, sizeof text))
        return false;
    for (char *line = text, *end; *line; line = end) {
        const char *colon = strchr(line, ':');
        end = line + strcspn(line, "\n");
        end += *end ? (*end = '\0', 1) : 0;
        if (colon && strncmp(colon + 1, controllers, strlen(controllers)) == 0)
            return (size_t)snprintf(path, size, "%s", colon + 1 + strlen(controllers)) < size;
    }
    return false;
}

static bool is_mounted(const char *folder, long magic)
{
    struct statfs status;
    return statfs(folder, &status) == 0 && (long)status.f_type == magic;
}

/* True if this group makes both controllers available to groups below it; it is asked to. */
static bool hands_down(const char *folder)
{
    char path[LONGEST_PATH + 100], text[500];
    write_text(folder, "cgroup.subtree_control", "+pids +memory");
    snprintf(path, sizeof path, "%s/cgroup.subtree_control", folder);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    return strstr(text, "pids") && strstr(text, "memory") && access(folder, W_OK) == 0;
}

/* True if the group was delegated to this user: otherwise it belongs to the system manager. */
static bool is_delegated(const char *folder)
{
    char word[2] = "";
    if (getxattr(folder, "trusted.delegate", word, 1) < 0)
        getxattr(folder, "user.delegate", word, 1);
    return word[0] == '1' || (geteuid() != 0 && access(folder, W_OK) == 0);
}

/* A group that contains processes cannot pass controllers on. So if the operator has put this
 * process into a subgroup of the delegated group (DelegateSubgroup=), the group above is used. */
bool mishap_sandbox_find_groups(const char *root, const char *path, char *folder, size_t size)
{
    bool top = strcmp(path, "/") == 0;
    if ((size_t)snprintf(folder, size, "%s%s", root, path) >= size)
        return false;
    if ((top || is_delegated(folder)) && hands_down(folder))
        return true;
    if (top)
        return false;
    *strrchr(folder, '/') = '\0';
    return is_delegated(folder) && hands_down(folder);
}

static bool look_at_version_2(void)
{
    static const char root[] = "/sys/fs/cgroup";
    char path[LONGEST_PATH];
    return is_mounted(root, CGROUP2_SUPER_MAGIC) && own_path(":", path, sizeof path) &&
           mishap_sandbox_find_groups(root, path, above.folder, sizeof above.folder);
}

static bool look_at_version_1(void)
{
    char path[LONGEST_PATH];
    const char *root = "/sys/fs/cgroup/pids";
    size_t most = sizeof above.folder;
    return is_mounted(root, CGROUP_SUPER_MAGIC) && own_path("pids:", path, sizeof path) &&
           (size_t)snprintf(above.folder, most, "%s%s", root, path) < most &&
           access(above.folder, W_OK) == 0;
}

static bool look_for_groups(void)
{
    if (!above.looked) {
        above.looked = true;
        above.memory = look_at_version_2();
        if (!above.memory && !look_at_version_1())
            above.folder[0] = '\0';
    }
    return above.folder[0];
}

/* -- one group --------------------------------------------------------------------------------- */

/* Swap has to be limited, too: otherwise it would be memory beyond the limit. Not every kernel
 * counts it. */
static bool set_limits(const char *folder, const mishap_sandbox_profile *profile)
{
    uint64_t threads = profile->threads ? profile->threads : MISHAP_SANDBOX_THREADS;
    uint64_t memory = mishap_sandbox_resident(profile);
    if (!write_number(folder, "pids.max", threads + MISHAP_SANDBOX_SPARE_IDS))
        return false;
    if (!above.memory || !memory)
        return true;
    write_number(folder, "memory.swap.max", 0);
    return write_number(folder, "memory.max", memory);
}

bool mishap_sandbox_group_ran_out(const mishap_sandbox_place *place)
{
    char path[LONGEST_PATH + 100], text[500];
    if (!above.memory || !place->group[0])
        return false;
    snprintf(path, sizeof path, "%s/memory.events", place->group);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *killed = strstr(text, "oom_kill ");
    return killed && strtoul(killed + strlen("oom_kill "), NULL, 10) > 0;
}

/* The PID namespace of this process, as a number; 0: not known. */
static unsigned long own_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? (unsigned long)status.st_ino : 0;
}

bool mishap_sandbox_make_group(const mishap_sandbox_profile *profile, mishap_sandbox_place *place)
{
    static unsigned long count;
    if (!look_for_groups()) {
        errno = EACCES;
        return false;
    }
    /* A process that was killed has left its groups behind, and process ids are reused. */
    int made;
    do {
        snprintf(place->group, sizeof place->group, "%s/mishap-%ld-%lu-%lx", above.folder,
                 (long)getpid(), ++count, own_namespace());
        made = mkdir(place->group, 0755);
    } while (made != 0 && errno == EEXIST);
    if (made == 0 && set_limits(place->group, profile))
        return true;
    int error = errno;
    mishap_sandbox_remove_group(place);
    errno = error;
    return false;
}

/* Only version 2 supports forking into a group. */
int mishap_sandbox_open_group(const mishap_sandbox_place *place)
{
    return above.memory ? open(place->group, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* True if this process was forked into it. Its path ends with the name of the group, which is
 * unique. */
static bool is_inside(const mishap_sandbox_place *place)
{
    char path[LONGEST_PATH];
    const char *own, *its = strrchr(place->group, '/');
    return above.memory && its && own_path(":", path, sizeof path) && (own = strrchr(path, '/')) &&
           strcmp(own, its) == 0;
}

/* Writing to `cgroup.procs` moves a whole process, and the kernel then waits until all processors
 * have noticed: tens of milliseconds. This process has one thread, and `tasks` of version 1 moves
 * that at once. */
bool mishap_sandbox_enter_group(const mishap_sandbox_place *place)
{
    return is_inside(place) || write_text(place->group, "tasks", "0") ||
           write_text(place->group, "cgroup.procs", "0");
}

/* Who has made a group, as its name says: mishap-PID-COUNT-NAMESPACE. */
struct maker {
    pid_t pid; /* 0: it is not a group of this program */
    unsigned long in_namespace;
};

static struct maker maker_of(const char *name)
{
    static const char prefix[] = "mishap-";
    struct maker maker = { 0 };
    char *end;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return maker;
    long pid = strtol(name + sizeof prefix - 1, &end, 10);
    if (*end != '-' || pid <= 0 || pid >= INT_MAX)
        return maker;
    const char *last = strchr(end + 1, '-');
    maker.pid = (pid_t)pid;
    maker.in_namespace = last ? strtoul(last + 1, NULL, 16) : 0;
    return maker;
}

static bool is_old(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           status.st_ctime + YOUNG_S < mishap_clock_now_ms() / 1000;
}

/* True if the process that has made a group is dead. The ids of another PID namespace say nothing
 * here, and the group may have been made just now, for a process that has not entered it yet. */
static bool is_left_behind(int folder, const char *name)
{
    struct maker maker = maker_of(name);
    if (!maker.pid || kill(maker.pid, 0) == 0 || errno != ESRCH)
        return false;
    return (maker.in_namespace && maker.in_namespace == own_namespace()) || is_old(folder, name);
}

/* The kernel does not remove a group that contains a process. */
void mishap_sandbox_sweep_groups(void)
{
    _Alignas(struct dirent64) char room[4096];
    ssize_t length = 0;
    int folder = look_for_groups() ? open(above.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    while (folder >= 0 && (length = getdents64(folder, room, sizeof room)) > 0)
        for (ssize_t at = 0; at < length;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(room + at);
            if (is_left_behind(folder, entry->d_name))
                unlinkat(folder, entry->d_name, AT_REMOVEDIR);
            at += entry->d_reclen;
        }
    if (folder >= 0)
        close(folder);
}

void mishap_sandbox_remove_group(mishap_sandbox_place *place)
{
    if (place->group[0])
        rmdir(place->group);
    place->group[0] = '\0';
}
