#include "base/system.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

void mishap_system_error(int error, char *words, size_t size)
{
    const char *name = strerrorname_np(error), *description = strerrordesc_np(error);
    snprintf(words, size, "%s (%s)", description ? description : "Unknown error",
             name ? name : "?");
}

void mishap_system_make_above(char *path)
{
    for (char *slash = path; *slash && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

bool mishap_system_make_folder(char *path)
{
    mishap_system_make_above(path);
    return mkdir(path, 0700) == 0 || errno == EEXIST;
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

const char *mishap_system_setting(const char *program, const char *suffix)
{
    char variable[64], *to = variable;
    for (const char *c = program; *c && to < variable + sizeof variable - strlen(suffix) - 2; c++)
        *to++ = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    snprintf(to, strlen(suffix) + 2, "_%s", suffix);
    return getenv(variable);
}
