#include "beside.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static size_t go_up(const char *path, size_t length, int folders)
{
    for (; folders > 0 && length > 0; folders--) {
        const char *slash = memrchr(path, '/', length);
        length = slash ? (size_t)(slash - path) : 0;
    }
    return length;
}

/* The path of this program; 0: it is not known. Without /proc it is the path by which the program
 * was started, relative to the current folder. */
static ssize_t find_program(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    const char *started = (const char *)getauxval(AT_EXECFN);
    if (length > 0 || !started)
        return length > 0 ? length : 0;
    if (started[0] != '/' && !getcwd(path, size))
        return 0;
    size_t folder = started[0] != '/' ? strlen(path) : 0;
    int more = snprintf(path + folder, size - folder, "%s%s", folder ? "/" : "", started);
    return more > 0 && (size_t)more < size - folder ? (ssize_t)folder + more : 0;
}

static bool find_file(service_file *file)
{
    static const struct {
        int up; /* how many folders up, and down from there */
        bool installed;
    } places[] = { { 1, false }, { 2, false }, { 2, true } };
    char program[PATH_MAX], down[100];
    ssize_t length = find_program(program, sizeof program);
    for (size_t i = 0; length > 0 && i < sizeof places / sizeof *places; i++) {
        size_t folder = go_up(program, (size_t)length, places[i].up);
        snprintf(down, sizeof down, "services/%s", file->room);
        int needed = snprintf(file->path, sizeof file->path, "%.*s/%s/%s", (int)folder, program,
                              places[i].installed ? SERVICE_LIBRARIES "/mishap" : down, file->name);
        if (needed > 0 && (size_t)needed < sizeof file->path && access(file->path, file->mode) == 0)
            return true;
    }
    file->path[0] = '\0';
    return false;
}

const char *service_file_path(service_file *file)
{
    return file->path[0] || find_file(file) ? file->path : NULL;
}
