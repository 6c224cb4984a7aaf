/*
 * For LD_PRELOAD: each flush to the disk takes so many microseconds more as FLUSH_DELAY_US says, as
 * on a disk that flushes slowly.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int flush(const char *name, int file)
{
    static long delay_us = -1;
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    if (delay_us < 0) {
        const char *given = getenv("FLUSH_DELAY_US");
        delay_us = given ? strtol(given, NULL, 10) : 1000;
    }
    struct timespec left = { delay_us / 1000000, delay_us % 1000000 * 1000 };
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
    return real(file);
}

int fsync(int file)
{
    return flush("fsync", file);
}

int fdatasync(int file)
{
    return flush("fdatasync", file);
}
