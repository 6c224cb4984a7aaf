#include "worker/threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINKS = 2,   /* of a folder without others in it */
    EXITING = 4, /* PF_EXITING of the kernel, in the flags of a thread */
    FLAGS = 7,   /* fields of `stat` behind the name, up to and with the flags */
};

/* A thread that was joined may be there for some microseconds more, and has this flag before
 * pthread_join() returns. The name in front of the fields may have anything in it, but no bracket
 * follows the one that ends it. One that cannot be read is gone. */
static bool is_exiting(int folder, const char *name)
{
    char text[512], path[64];
    if ((size_t)snprintf(path, sizeof path, "%s/stat", name) >= sizeof path)
        return false;
    int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return true;
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 0; at && field < FLAGS; field++)
        at = strchr(at + 1, ' ');
    return at && strtoul(at, NULL, 10) & EXITING;
}

static size_t count_living(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.' && !is_exiting(dirfd(folder), entry->d_name);
    closedir(folder);
    return count;
}

size_t mishap_threads_count(size_t known)
{
    struct stat tasks;
    if (__libc_single_threaded)
        return 1;
    if (stat("/proc/self/task", &tasks) != 0)
        return 0;
    size_t count = tasks.st_nlink > LINKS ? (size_t)tasks.st_nlink - LINKS : 0;
    return count > known || !count ? count_living() : count;
}
