/*
 * A preloaded library that notes when a file is written to, and when it is brought to the disk:
 * power_test.py replays the notes to see what a power failure would have left.
 *
 *     POWER_FILE   the beginning of the paths of the files that are watched
 *     POWER_NOTES  where to: lines "write INODE END TIME", "sync INODE BEGIN END", and
 *                  "folder INODE BEGIN END" for the folder of the file, in nanoseconds of
 *                  CLOCK_MONOTONIC; END of a write is the size that the file has
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_watched(int file, struct stat *status)
{
    const char *beginning = getenv("POWER_FILE");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = beginning ? readlink(link, path, sizeof path - 1) : -1;
    if (length < 0 || fstat(file, status) != 0)
        return false;
    path[length] = '\0';
    if (S_ISDIR(status->st_mode)) /* the folder of the file */
        return strncmp(path, beginning, (size_t)length) == 0 &&
               strrchr(beginning, '/') == beginning + length;
    return S_ISREG(status->st_mode) && strncmp(path, beginning, strlen(beginning)) == 0;
}

static void note(const char *word, const struct stat *status, int64_t first, int64_t second)
{
    char line[160];
    const char *path = getenv("POWER_NOTES");
    int to = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    int length = snprintf(line, sizeof line, "%s %llu %lld %lld\n", word,
                          (unsigned long long)status->st_ino, (long long)first, (long long)second);
    if (to >= 0) {
        syscall(SYS_write, to, line, (size_t)length);
        close(to);
    }
}

ssize_t write(int file, const void *bytes, size_t count)
{
    struct stat status;
    ssize_t written = syscall(SYS_write, file, bytes, count);
    if (written > 0 && is_watched(file, &status))
        note("write", &status, status.st_size, now_ns());
    return written;
}

static int sync_file(long number, int file)
{
    struct stat status;
    bool watched = is_watched(file, &status);
    int64_t begun = now_ns();
    int result = (int)syscall(number, file);
    if (watched && result == 0)
        note(S_ISDIR(status.st_mode) ? "folder" : "sync", &status, begun, now_ns());
    return result;
}

int fdatasync(int file)
{
    return sync_file(SYS_fdatasync, file);
}

int fsync(int file)
{
    return sync_file(SYS_fsync, file);
}
