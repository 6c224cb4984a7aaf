/* A log file: opening, reopening and rotation: see file.h. */
#include "incident/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/path.h"

enum { LOOK_AGAIN_NS = 1000000000 };

/* -- opening ----------------------------------------------------------------------------------- */

/* A pipe without a reader must not hold up the program. */
enum { AS_LOG = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, MOST_LINKS = 8 };

/* Replace the path of a link by its target. */
static bool step_over(char path[MISHAP_LOG_PATH], mishap_text target)
{
    const char *slash = strrchr(path, '/');
    size_t folder = target.data[0] == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
    if (folder + target.length >= MISHAP_LOG_PATH) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + folder, target.data, target.length);
    path[folder + target.length] = '\0';
    return true;
}

/*
 * Go from a link to its target. The link is kept open meanwhile: what was checked is what is
 * followed, even if another user replaces it. *magic: it is a link of /proc, whose text is no path,
 * and which only the system makes.
 */
static __attribute__((noinline)) bool follow(char path[MISHAP_LOG_PATH], bool *magic)
{
    char text[MISHAP_LOG_PATH];
    struct stat status;
    struct statfs system;
    int link = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (link < 0)
        return false;
    bool known = fstat(link, &status) == 0 && fstatfs(link, &system) == 0;
    ssize_t length = known && S_ISLNK(status.st_mode) ? readlinkat(link, "", text, sizeof text)
                                                      : -1;
    close(link);
    *magic = known && system.f_type == PROC_SUPER_MAGIC;
    if (*magic)
        return true;
    if (length > 0 && (status.st_uid == geteuid() || status.st_uid == 0))
        return step_over(path, (mishap_text){ text, (size_t)length });
    errno = ELOOP;
    return false;
}

static void give_new_to_owner(int file, const char *path)
{
    struct stat status;
    if (geteuid() == 0 && fstat(file, &status) == 0 && status.st_size == 0)
        mishap_system_give_to_owner(file, path);
}

int mishap_log_open(const char *path, mode_t mode)
{
    char at[MISHAP_LOG_PATH];
    if (!MISHAP_PATH(at, sizeof at, path)) {
        errno = *path ? ENAMETOOLONG : ENOENT;
        return -1;
    }
    for (int links = 0; links < MOST_LINKS; links++) {
        bool magic = false;
        int file = open(at, AS_LOG | O_NOFOLLOW, mode);
        if (file >= 0)
            give_new_to_owner(file, at);
        if (file >= 0 || errno != ELOOP || !follow(at, &magic))
            return file;
        if (magic)
            return open(at, AS_LOG, mode);
    }
    errno = ELOOP;
    return -1;
}

static bool still_there(const mishap_log_file *log, const char *path)
{
    struct stat open_file, at_path;
    return fstat(log->file, &open_file) == 0 && stat(path, &at_path) == 0 &&
           open_file.st_dev == at_path.st_dev && open_file.st_ino == at_path.st_ino;
}

void mishap_log_file_close(mishap_log_file *log)
{
    if (log->file >= 0)
        close(log->file);
    log->file = -1;
}

bool mishap_log_file_open(mishap_log_file *log, char *path)
{
    int64_t now = mishap_clock_monotonic_ns();
    bool same = log->file >= 0 && strcmp(path, log->path) == 0;
    if (same && now - log->looked_ns < LOOK_AGAIN_NS)
        return true;
    log->looked_ns = now;
    if (same && still_there(log, path))
        return true;
    mishap_log_file_close(log);
    log->file = mishap_log_open(path, log->mode);
    if (log->file < 0 && errno == ENOENT) {
        mishap_system_make_above(path);
        log->file = mishap_log_open(path, log->mode);
    }
    if (log->file < 0)
        return false;
    log->torn = false;
    if (log->waits)
        fcntl(log->file, F_SETFL, O_APPEND);
    if (path != log->path)
        MISHAP_PATH(log->path, sizeof log->path, path);
    return true;
}

static bool write_all(mishap_log_file *log, mishap_text text)
{
    while (text.length) {
        ssize_t count = write(log->file, text.data, text.length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        log->torn = text.data[count - 1] != '\n';
        text.data += count;
        text.length -= (size_t)count;
    }
    return true;
}

bool mishap_log_file_write(mishap_log_file *log, mishap_text text)
{
    return (!log->torn || write_all(log, (mishap_text)MISHAP_TEXT("\n"))) && write_all(log, text);
}

/* -- rotation ---------------------------------------------------------------------------------- */

/* Numbers begin with 1; 0 is the file itself. */
static bool name_older(const mishap_log_file *log, int number, char name[MISHAP_LOG_PATH])
{
    int length = number ? snprintf(name, MISHAP_LOG_PATH, "%s.%d", log->path, number)
                        : snprintf(name, MISHAP_LOG_PATH, "%s", log->path);
    return length > 0 && length < MISHAP_LOG_PATH;
}

static void move_older(mishap_log_file *log)
{
    char from[MISHAP_LOG_PATH], to[MISHAP_LOG_PATH];
    for (int i = MISHAP_LOG_OLDER; i > 0; i--)
        if (!name_older(log, i - 1, from) || !name_older(log, i, to))
            log->stuck = ENAMETOOLONG;
        else
            log->stuck = rename(from, to) == 0 ? 0 : errno; /* the last one is the file itself */
}

/* The process that holds the lock of the file that is too large, and still finds it at the path,
 * moves it. The others find a new file there. If another process holds the lock, this one does not
 * wait: the next entry tries again. */
bool mishap_log_file_rotate(mishap_log_file *log, size_t more)
{
    struct stat status;
    if (!log->most_bytes || log->file < 0 || fstat(log->file, &status) != 0 ||
        !S_ISREG(status.st_mode) || !status.st_size ||
        (uint64_t)status.st_size + more <= log->most_bytes ||
        flock(log->file, LOCK_EX | LOCK_NB) != 0)
        return true;
    if (still_there(log, log->path))
        move_older(log);
    mishap_log_file_close(log); /* which releases the lock */
    return mishap_log_file_open(log, log->path);
}
