#include "base/search.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool mishap_search_next(const char **list, char *folder, size_t size)
{
    while (*list) {
        const char *start = *list;
        size_t length = strcspn(start, ":");
        *list = start[length] ? start + length + 1 : NULL;
        int count = snprintf(folder, size, "%.*s", length ? (int)length : 1, length ? start : ".");
        if (count > 0 && (size_t)count < size)
            return true;
    }
    return false;
}

bool mishap_search_absolute(const char *file, char *path, size_t size)
{
    char here[PATH_MAX] = "";
    if (file[0] != '/' && !getcwd(here, sizeof here))
        return false;
    int count = snprintf(path, size, "%s%s%s", here, *here ? "/" : "", file);
    if (count > 0 && (size_t)count < size)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

bool mishap_search_program(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");
    char folder[PATH_MAX], file[PATH_MAX];
    struct stat about;
    int error = ENOENT;
    if (strchr(name, '/'))
        return mishap_search_absolute(name, path, size);
    if (!folders)
        folders = "/usr/bin:/bin";
    while (*name && mishap_search_next(&folders, folder, sizeof folder)) {
        int count = snprintf(file, sizeof file, "%s/%s", folder, name);
        if (count < 0 || (size_t)count >= sizeof file || stat(file, &about) != 0 ||
            !S_ISREG(about.st_mode))
            continue;
        if (access(file, X_OK) == 0)
            return mishap_search_absolute(file, path, size);
        error = EACCES;
    }
    errno = error;
    return false;
}
