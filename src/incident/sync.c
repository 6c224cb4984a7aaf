/*
 * fdatasync() in a thread: see sync.h.
 *
 * The thread has a descriptor of its own, so the file may be closed meanwhile. While it is busy,
 * one more request waits; it covers everything that was written until it begins.
 */
#include "incident/sync.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_NS = 250000000 }; /* so many writes need one call */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t asked;
    bool runs;
    int file; /* -1: none */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER, .file = -1 };

/* A file that is new, or was renamed, is found after a power failure only if its folder is on the
 * disk, too. Without /proc its name is not known, and most file systems do this by themselves. */
static void sync_folder(int file)
{
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path);
    while (length > 1 && path[length - 1] != '/')
        length--;
    if (length < 1 || (size_t)length == sizeof path)
        return;
    path[length] = '\0';
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
}

static void sync_file(int file)
{
    static _Atomic ino_t known; /* whose folder is on the disk */
    struct stat status;
    fdatasync(file);
    if (fstat(file, &status) == 0 && atomic_exchange(&known, status.st_ino) != status.st_ino)
        sync_folder(file);
}

static void *sync_files(void *state)
{
    static const struct timespec pause = { .tv_nsec = PAUSE_NS };
    (void)state;
    for (;;) {
        pthread_mutex_lock(&all.lock);
        while (all.file < 0)
            pthread_cond_wait(&all.asked, &all.lock);
        pthread_mutex_unlock(&all.lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&all.lock);
        int file = all.file;
        all.file = -1;
        pthread_mutex_unlock(&all.lock);
        sync_file(file);
        close(file);
    }
    return NULL;
}

static bool start_thread(void)
{
    pthread_t thread;
    pthread_attr_t small;
    if (all.runs)
        return true;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    all.runs = pthread_create(&thread, &small, sync_files, NULL) == 0;
    pthread_attr_destroy(&small);
    return all.runs;
}

/* Two files at once are one that was just rotated, and the new one: the older one is done here. */
void mishap_sync_soon(int file)
{
    static ino_t last;
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    if (!start_thread()) {
        sync_file(file);
        return;
    }
    pthread_mutex_lock(&all.lock);
    int other = all.file >= 0 && last != status.st_ino ? all.file : -1;
    if (other >= 0)
        all.file = -1;
    if (all.file < 0) {
        all.file = fcntl(file, F_DUPFD_CLOEXEC, 3);
        last = status.st_ino;
        pthread_cond_signal(&all.asked);
    }
    pthread_mutex_unlock(&all.lock);
    if (other >= 0) {
        fdatasync(other);
        close(other);
    }
}

void mishap_sync_now(int file)
{
    if (file >= 0)
        sync_file(file);
}
