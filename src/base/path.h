/* A path of several texts. Every failing command needs one, so this does without the C library's
 * formats, whose code is not in memory yet when a command fails. */
#ifndef MISHAP_BASE_PATH_H
#define MISHAP_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Write texts one after the other, up to a NULL among them. False: there is no room, or the path
 * would be empty. */
static inline bool mishap_join_path(char *path, size_t size, const char *const *texts)
{
    size_t length = 0;
    for (; *texts; texts++) {
        size_t more = strlen(*texts);
        if (more >= size - length)
            return false;
        memcpy(path + length, *texts, more);
        length += more;
    }
    path[length] = '\0';
    return length > 0;
}

#define MISHAP_PATH(path, size, ...)                                                               \
    mishap_join_path(path, size, (const char *const[]){ __VA_ARGS__, NULL })

#endif
