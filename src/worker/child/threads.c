/* Counts the threads of a worker: see threads.h. */
#include "worker/child/threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>

#include "base/system.h"
#include "worker/child/reports.h"

enum {
    LINKS = 2,   /* links of a folder without subfolders */
    EXITING = 4, /* PF_EXITING of the kernel, in the flags of a thread */
    FLAGS = 9,   /* the field of /proc/…/stat that has the flags */
};

/* A thread that was joined may still be listed for some microseconds; it has this flag before
 * pthread_join() returns. A thread whose file cannot be read is gone. */
static bool is_exiting(int folder, const char *name)
{
    char text[512], path[64];
    if ((size_t)snprintf(path, sizeof path, "%s/stat", name) >= sizeof path)
        return false;
    if (!mishap_system_read(folder, path, text, sizeof text))
        return true;
    const char *at = mishap_system_stat_field(text, FLAGS);
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

void mishap_threads_tell(const char *operation, bool memory_lost)
{
    char words[300];
    int length = snprintf(words, sizeof words,
                          "The handler of %.100s has left a thread behind. Its process takes no "
                          "further call%s. A service whose handlers do so on purpose says it with "
                          ".threads.",
                          operation, memory_lost ? ", and what it had in memory is lost" : "");
    mishap_reports_operator(NULL, NULL, NULL, (mishap_text){ words, (size_t)length }, false);
}
