/*
 * What a sandbox needs from the machine beside its layers: a folder for the files of the program if
 * there is no mount namespace, and limits of this process that are high enough for the profile.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"
#include "mishap/mishap.h"
#include "sandbox/inside.h"

/* -- a temporary folder ------------------------------------------------------------------------ */

/* For mkdtemp(), below a folder. */
#define OURS "mishap-sandbox-"
static const char template[] = "/" OURS "XXXXXX";

/* True if only root and this user can move or remove what this user creates in it. Otherwise
 * another user could replace the folder: the program may write there, and the folder is removed
 * later. Without its capabilities, root cannot even enter folders of other users. */
static bool is_safe(const struct stat *folder)
{
    bool shared = folder->st_mode & (S_IWGRP | S_IWOTH);
    return folder->st_mode & S_ISVTX ||
           (!shared && (folder->st_uid == 0 || folder->st_uid == geteuid()));
}

/* False: errno says why not. */
static bool can_have_ours(const char *folder)
{
    struct stat status;
    if (folder[0] != '/' || stat(folder, &status) != 0)
        return false;
    errno = strlen(folder) + sizeof template > sizeof((mishap_sandbox_place *)0)->folder
                ? ENAMETOOLONG
            : !S_ISDIR(status.st_mode) ? ENOTDIR
            : !is_safe(&status)        ? EPERM
                                       : 0;
    return !errno && access(folder, W_OK | X_OK) == 0;
}

/* The first of these folders that can be used. NULL: errno says why the last one cannot. */
static const char *find_folder(void)
{
    const char *folders[] = { getenv("TMPDIR"), "/tmp", "/var/tmp" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (folders[i] && can_have_ours(folders[i]))
            return folders[i];
    return NULL;
}

/* A folder is locked by its maker as long as that lives: the kernel releases the lock of a killed
 * process. Process ids would not do: they are reused, and several PID namespaces may share a folder
 * for temporary files. */
static int lock_folder(int above, const char *path)
{
    int file = openat(above, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* A folder is locked a moment after it was made. */
enum { YOUNG_S = 60 };

static bool is_abandoned(int above, const char *name, int young_s)
{
    struct stat status;
    if (strncmp(name, OURS, sizeof OURS - 1) != 0 ||
        fstatat(above, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid() || time(NULL) - status.st_ctime < young_s)
        return false;
    /* The program may have removed its permissions. */
    if (fchmodat(above, name, MISHAP_SANDBOX_FOLDER_MODE, 0) != 0)
        return false;
    int file = lock_folder(above, name);
    if (file >= 0)
        close(file);
    return file >= 0;
}

void mishap_sandbox_sweep_folders(const char *above, int young_s)
{
    char path[sizeof((mishap_sandbox_place *)0)->folder];
    const struct dirent *entry;
    DIR *all = opendir(above);
    while (all && (entry = readdir(all)))
        if (is_abandoned(dirfd(all), entry->d_name, young_s) &&
            (size_t)snprintf(path, sizeof path, "%s/%s", above, entry->d_name) < sizeof path)
            mishap_sandbox_remove_folder(path);
    if (all)
        closedir(all);
}

/* The first call in a process removes folders that killed processes have left. */
bool mishap_sandbox_make_folder(mishap_sandbox_place *place)
{
    static bool swept;
    const char *folder = find_folder();
    size_t size = sizeof place->folder;
    if (folder && !swept)
        mishap_sandbox_sweep_folders(folder, YOUNG_S);
    swept = swept || folder;
    if (folder && (size_t)snprintf(place->folder, size, "%s%s", folder, template) < size &&
        mkdtemp(place->folder)) {
        int file = lock_folder(AT_FDCWD, place->folder);
        place->lock = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
        if (file >= 0)
            close(file);
        if (place->lock > 0)
            return true;
        rmdir(place->folder);
    }
    place->lock = 0;
    place->folder[0] = '\0';
    return false;
}

mishap *mishap_sandbox_check_place(const mishap_sandbox_profile *profile)
{
    char reason[100];
    if (!profile->temporary_bytes || mishap_sandbox_probe()->layers & MISHAP_LAYER_MOUNTS ||
        find_folder())
        return NULL;
    mishap_system_error(errno, reason, sizeof reason);
    mishap *m = mishap_raise(NOT_CONFIGURED,
                             "There is no folder for the temporary files of a foreign program.");
    return mishap_suggest(
        mishap_tell_cause(m, reason),
        "Set TMPDIR to a folder that the program can write to and other users "
        "cannot, or make /tmp or /var/tmp writable. With the layer `mounts` of the sandbox none is "
        "needed.");
}

/* -- limits ------------------------------------------------------------------------------------ */

static bool is_below(__rlimit_resource_t resource, uint64_t wanted, uint64_t *limit)
{
    struct rlimit now;
    if (!wanted || getrlimit(resource, &now) != 0 || now.rlim_max >= wanted)
        return false;
    *limit = now.rlim_max;
    return true;
}

mishap *mishap_sandbox_check_limits(const mishap_sandbox_profile *profile)
{
    uint64_t limit = 0, wanted = profile->address_bytes;
    bool address = is_below(RLIMIT_AS, wanted, &limit);
    if (!address && !is_below(RLIMIT_DATA, wanted = profile->memory_bytes, &limit))
        return NULL;
    mishap *m = mishap_raise(NOT_CONFIGURED,
                             "The foreign program does not start: the server's limit of %s is "
                             "%llu MB, and the program may need %llu MB.",
                             address ? "address space" : "memory",
                             (unsigned long long)(limit >> 20), (unsigned long long)(wanted >> 20));
    return mishap_suggest(m, address ? "Raise the limit of address space (ulimit -v; with systemd "
                                       "LimitAS=)."
                                     : "Raise the limit of memory (ulimit -d; with systemd "
                                       "LimitDATA=).");
}
