/*
 * Counts the files in the temporary folder of a program, and removes it when the program has ended.
 * The program may have made folders that cannot be read, and nested folders beyond the longest
 * path. So no path is ever built: the subfolders of a folder are moved up beside it, and it is
 * removed when it is empty.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sandbox/inside.h"

static bool is_entry(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Open a folder inside `above` for listing; NULL: it is not a folder. */
static DIR *open_folder(int above, const char *name)
{
    int file = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = file >= 0 ? fdopendir(file) : NULL;
    if (file >= 0 && !folder)
        close(file);
    return folder;
}

/* Let this process list and change a folder. A link in its place is not followed: the program may
 * have made one, and what it points to is not to change. fchmod() takes no descriptor of a folder
 * that cannot be opened for reading; chmod() takes its name in /proc. */
static void unlock_folder(int above, const char *name)
{
    char path[40];
    int file = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0)
        fchmod(file, MISHAP_SANDBOX_FOLDER_MODE);
    else if ((file = openat(above, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) >= 0) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        chmod(path, MISHAP_SANDBOX_FOLDER_MODE);
    }
    if (file >= 0)
        close(file);
}

/* Remove everything but folders, and move the subfolders of this one into `top`, under unused
 * names. A folder that is moved must be writable. */
static void empty_into(int top, DIR *folder, unsigned long *count)
{
    char name[40];
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        if (!is_entry(entry->d_name) || unlinkat(dirfd(folder), entry->d_name, 0) == 0)
            continue;
        unlock_folder(dirfd(folder), entry->d_name);
        do
            snprintf(name, sizeof name, "mishap-%lu", ++*count);
        while (faccessat(top, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
        renameat(dirfd(folder), entry->d_name, top, name);
    }
}

/* One pass over `top`: true if something was removed. */
static bool remove_some(int top, unsigned long *count)
{
    bool any = false;
    const struct dirent *entry;
    DIR *all = open_folder(top, ".");
    while (all && (entry = readdir(all))) {
        if (!is_entry(entry->d_name))
            continue;
        if (unlinkat(top, entry->d_name, 0) == 0) {
            any = true;
            continue;
        }
        unlock_folder(top, entry->d_name);
        DIR *folder = open_folder(top, entry->d_name);
        if (folder) {
            empty_into(top, folder, count);
            closedir(folder);
        }
        any = unlinkat(top, entry->d_name, AT_REMOVEDIR) == 0 || any;
    }
    if (all)
        closedir(all);
    return any;
}

static void empty_folder(int top)
{
    unsigned long count = 0;
    while (remove_some(top, &count))
        continue;
}

void mishap_sandbox_remove_folder(const char *path)
{
    unlock_folder(AT_FDCWD, path);
    int top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top >= 0) {
        empty_folder(top);
        close(top);
    }
    rmdir(path);
}

void mishap_sandbox_remove_opened(int folder, const char *path)
{
    char link[40], now[4096];
    struct stat status;
    fchmod(folder, MISHAP_SANDBOX_FOLDER_MODE);
    empty_folder(folder);
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, now, sizeof now - 1);
    if (length > 0) {
        now[length] = '\0';
        rmdir(now);
    }
    rmdir(path);
    if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
        unlink(path);
}

/* -- counting ---------------------------------------------------------------------------------- */

enum { DEEPEST = 64 };

struct count {
    uint64_t files, bytes; /* how many more are allowed */
};

/* False: there is more than was left. Folders that are nested too deeply count as too much; a
 * folder that the program has closed against reading is opened, as its other folders are. The
 * program still runs, and may put a link in the place of the folder meanwhile. */
static bool count_in(int above, const char *name, int depth, struct count *left)
{
    const struct dirent *entry;
    struct stat status;
    bool within = depth < DEEPEST;
    DIR *folder = open_folder(above, name);
    if (!folder && errno == EACCES &&
        fchmodat(above, name, MISHAP_SANDBOX_FOLDER_MODE, AT_SYMLINK_NOFOLLOW) == 0)
        folder = open_folder(above, name);
    while (within && folder && (entry = readdir(folder))) {
        if (!is_entry(entry->d_name) ||
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        uint64_t size = (uint64_t)status.st_blocks * 512;
        within = left->files > 0 && size <= left->bytes;
        if (!within)
            break;
        left->files--;
        left->bytes -= size;
        if (S_ISDIR(status.st_mode))
            within = count_in(dirfd(folder), entry->d_name, depth + 1, left);
    }
    if (folder)
        closedir(folder);
    return within;
}

/* Folders use blocks of the file system, too, so the limit is a little higher than that of
 * files. */
bool mishap_sandbox_folder_exceeds(const char *path, uint64_t files, uint64_t bytes)
{
    struct count left = { files, bytes + bytes / 8 };
    return !count_in(AT_FDCWD, path, 0, &left);
}
