#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

void mishap_system_error(int error, char *words, size_t size)
{
    const char *name = strerrorname_np(error), *description = strerrordesc_np(error);
    snprintf(words, size, "%s (%s)", description ? description : "Unknown error",
             name ? name : "?");
}

/* The owner of the folder above a path, if root runs this and the owner is another user. */
static bool find_owner_above(const char *path, struct stat *above)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    if (geteuid() != 0)
        return false;
    size_t length = slash ? (size_t)(slash - path) + (slash == path) : 1;
    if (length >= sizeof folder)
        return false;
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    return stat(folder, above) == 0 && above->st_uid != 0;
}

void mishap_system_give_to_owner(int file, const char *path)
{
    struct stat above, status;
    int error = errno;
    if (find_owner_above(path, &above) && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == 0 && status.st_nlink == 1 && fchown(file, above.st_uid, above.st_gid) != 0)
        errno = 0; /* then it stays root's */
    errno = error;
}

bool mishap_system_make_one(const char *path)
{
    struct stat above;
    if (mkdir(path, 0700) != 0)
        return false;
    if (find_owner_above(path, &above) && lchown(path, above.st_uid, above.st_gid) != 0)
        errno = 0; /* then it stays root's */
    return true;
}

void mishap_system_make_above(char *path)
{
    for (char *slash = path; *slash && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mishap_system_make_one(path);
        *slash = '/';
    }
}

bool mishap_system_make_folder(char *path)
{
    mishap_system_make_above(path);
    return mishap_system_make_one(path) || errno == EEXIST;
}

bool mishap_system_user_folder(const char *variable, const char *in_home, char *path, size_t size)
{
    const char *named = getenv(variable), *home = getenv("HOME");
    if (named && *named == '/')
        return MISHAP_PATH(path, size, named);
    return home && *home && MISHAP_PATH(path, size, home, "/", in_home);
}

bool mishap_system_read(int folder, const char *path, char *text, size_t size)
{
    int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : 0;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool mishap_system_read_about(int process, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", process, name);
    return mishap_system_read(AT_FDCWD, path, text, size);
}

bool mishap_system_write(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = (ssize_t)strlen(text), written = write(file, text, (size_t)length);
    int error = errno;
    close(file);
    errno = error;
    return written == length;
}

int mishap_system_memory(const char *name, size_t size, int seals)
{
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || (ftruncate(file, (off_t)size) == 0 &&
                     fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | seals) == 0))
        return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

const char *mishap_system_stat_field(const char *text, int field)
{
    const char *at = strrchr(text, ')');
    for (int i = 2; at && i < field; i++)
        at = strchr(at + 1, ' ');
    return at ? at + 1 : NULL;
}

/* Fields 48 and 49 of /proc/self/stat say where the arguments are. */
static bool find_arguments(uintptr_t *start, uintptr_t *end)
{
    char text[2048];
    const char *at = mishap_system_read(AT_FDCWD, "/proc/self/stat", text, sizeof text)
                         ? mishap_system_stat_field(text, 48)
                         : NULL;
    return at && sscanf(at, "%" SCNuPTR " %" SCNuPTR, start, end) == 2;
}

void mishap_system_hide_argument(const char *argument)
{
    uintptr_t start, end, at = (uintptr_t)argument;
    if (!find_arguments(&start, &end) || at < start || at >= end)
        return;
    for (char *c = (char *)at; (uintptr_t)c < end && *c; c++)
        *(volatile char *)c = '*';
}

bool mishap_system_limit(int resource, uint64_t most, uint64_t spare)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return false;
    rlim_t hard = spare < RLIM_INFINITY - most ? most + spare : RLIM_INFINITY;
    if (now.rlim_max > hard) /* RLIM_INFINITY is the largest number */
        now.rlim_max = hard;
    now.rlim_cur = most < now.rlim_max ? most : now.rlim_max;
    return setrlimit(resource, &now) == 0;
}

bool mishap_system_random(void *bytes, size_t count)
{
    for (size_t have = 0; have < count;) {
        ssize_t got = getrandom((char *)bytes + have, count - have, 0);
        if (got < 0 && errno != EINTR)
            return false;
        have += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Only ASCII: the locale must not matter. */
static char in_capitals(char c)
{
    bool small = c >= 'a' && c <= 'z', plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return small ? (char)(c - 32) : plain ? c : '_';
}

void mishap_system_variable(const char *program, const char *suffix, char *variable, size_t size)
{
    size_t length = 0, rest = strlen(suffix);
    for (; program[length] && length + rest + 2 < size; length++)
        variable[length] = in_capitals(program[length]);
    variable[length++] = '_';
    rest = rest < size - length ? rest : size - length - 1;
    memcpy(variable + length, suffix, rest);
    variable[length + rest] = '\0';
}

void mishap_system_variable_of(const char *program, const char *suffix, char *variable, size_t size)
{
    mishap_system_variable(program, suffix, variable, size);
    for (char *c = variable; *c; c++)
        *c = in_capitals(*c);
}

const char *mishap_system_setting(const char *program, const char *suffix)
{
    char variable[64];
    mishap_system_variable(program, suffix, variable, sizeof variable);
    return getenv(variable);
}
