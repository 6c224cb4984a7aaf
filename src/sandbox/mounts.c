/*
 * The root folder of a mount namespace: an empty file system in memory, in which the named folders
 * and files are mounted read-only. First copies of the named mounts are taken; then the new root is
 * mounted over some folder, filled, and made the root; and the old root is detached.
 */
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "sandbox/inside.h"

#ifndef MOUNT_ATTR_RDONLY
#define MOUNT_ATTR_RDONLY 0x01
#endif

enum { MOST_PATHS = 64, LONGEST_PATH = 4096, FEWEST_IDS = 301 };

/* Any existing folder can be covered by the new root. */
static const char *const covered[] = { "/tmp", "/proc", "/usr", "/dev", "/etc" };

struct taken {
    const char *path;
    int tree; /* -1: it does not exist */
    bool folder;
};

/* -- taking what is named ---------------------------------------------------------------------- */

/* A copy of the mount, with everything that is mounted below it: a user namespace requires that. A
 * device works read-only as well, since that only prevents changes of the file system. */
static bool take_mount(const char *path, struct taken *taken)
{
    struct stat status;
    struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID };
    *taken = (struct taken){ path, -1, false };
    if (stat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    taken->folder = S_ISDIR(status.st_mode);
    taken->tree = (int)syscall(SYS_open_tree, AT_FDCWD, path,
                               OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (!S_ISCHR(status.st_mode))
        attributes.attr_set |= MOUNT_ATTR_NODEV;
    return taken->tree >= 0 &&
           syscall(SYS_mount_setattr, taken->tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                   sizeof attributes) == 0;
}

/* -- putting it into the new root -------------------------------------------------------------- */

/* Create the folders above a path, and the path itself as a folder or an empty file. The current
 * folder is the new root. */
static bool make_path(const char *path, bool folder)
{
    char text[LONGEST_PATH];
    size_t length = strlen(path);
    if (length >= sizeof text || path[0] != '/')
        return errno = EINVAL, false;
    memcpy(text, path + 1, length);
    for (char *slash = strchr(text, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (*text && mkdir(text, 0755) != 0 && errno != EEXIST && errno != EROFS)
            return false;
        *slash = '/';
    }
    if (!*text)
        return true;
    if (folder)
        return mkdir(text, 0755) == 0 || errno == EEXIST || errno == EROFS;
    int file = open(text, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
    if (file >= 0)
        close(file);
    return file >= 0 || errno == EROFS || errno == EEXIST || errno == EACCES;
}

/* A path inside of a folder that was named before exists already, and is left alone. */
static bool is_there(const struct taken *taken)
{
    struct stat here, there;
    return stat(taken->path + 1, &here) == 0 &&
           fstatat(taken->tree, "", &there, AT_EMPTY_PATH) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

static bool put_mount(const struct taken *taken)
{
    if (taken->tree < 0 || is_there(taken))
        return true;
    return make_path(taken->path, taken->folder) &&
           syscall(SYS_move_mount, taken->tree, "", AT_FDCWD, taken->path + 1,
                   MOVE_MOUNT_F_EMPTY_PATH) == 0;
}

static bool cover(void)
{
    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++)
        if (mount("mishap", covered[i], "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                  "size=256k,nr_inodes=512,mode=755") == 0)
            return chdir(covered[i]) == 0;
    return false;
}

/* Each file uses an inode, which counts as well. */
static bool make_temporary(uint64_t bytes)
{
    char options[100];
    const char *folder = MISHAP_SANDBOX_TEMPORARY;
    snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu,mode=700",
             (unsigned long long)bytes, (unsigned long long)(bytes / MISHAP_SANDBOX_INODE + 16));
    return make_path(folder, true) &&
           mount("mishap", folder + 1, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0;
}

static bool take_all(const char *const *readable, const char *program, struct taken *taken,
                     size_t *count)
{
    for (*count = 0; readable && readable[*count]; ++*count)
        if (*count + 1 == MOST_PATHS || !take_mount(readable[*count], &taken[*count]))
            return false;
    return take_mount(program, &taken[(*count)++]);
}

bool mishap_sandbox_change_root(const char *const *readable, const char *program,
                                uint64_t temporary_bytes)
{
    struct taken taken[MOST_PATHS];
    struct mount_attr unchanging = { .attr_set = MOUNT_ATTR_RDONLY };
    size_t count = 0;
    umask(022);
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        !take_all(readable, program, taken, &count) || !cover())
        return false;
    /* First, since named paths may be below it. */
    if (temporary_bytes && !make_temporary(temporary_bytes))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!put_mount(&taken[i]))
            return false;
    for (size_t i = 0; i < count; i++)
        if (taken[i].tree >= 0)
            close(taken[i].tree);
    return syscall(SYS_mount_setattr, AT_FDCWD, ".", 0, &unchanging, sizeof unchanging) == 0 &&
           syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 &&
           chdir("/") == 0;
}

/* -- ids of processes and threads ---------------------------------------------------------------
 */

/* Before Linux 6.14 the same setting is that of the whole machine, and must not be changed. */
static bool has_limit_of_ids(void)
{
    struct utsname system;
    char *end;
    if (uname(&system) != 0)
        return false;
    unsigned long major = strtoul(system.release, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return major > 6 || (major == 6 && minor >= 14);
}

/* The setting belongs to the PID namespace, and is reached by a /proc that is not mounted
 * anywhere. */
bool mishap_sandbox_limit_ids(uint64_t threads)
{
    char number[24];
    if (!has_limit_of_ids())
        return false;
    int context = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC), mounted = -1, file = -1;
    unsigned long long most = threads + 2 > FEWEST_IDS ? threads + 2 : FEWEST_IDS;
    if (context >= 0 && syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        mounted = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
    if (mounted >= 0)
        file = openat(mounted, "sys/kernel/pid_max", O_WRONLY | O_CLOEXEC);
    int length = snprintf(number, sizeof number, "%llu", most);
    bool done = file >= 0 && write(file, number, (size_t)length) == length;
    for (size_t i = 0; i < 3; i++)
        if ((int[]){ file, mounted, context }[i] >= 0)
            close((int[]){ file, mounted, context }[i]);
    return done;
}
