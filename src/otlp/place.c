/* The saved place: one line, "1 DEVICE INODE MARK OFFSET", in decimal digits. */
#include "otlp/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

enum { LONGEST_PLACE = 128, LONGEST_PATH = 4200 };

bool mishap_otlp_place_path(const char *data, char *path, size_t size)
{
    int length = snprintf(path, size, "%s/otlp/place", data);
    if (length < 0 || (size_t)length >= size) {
        errno = ENAMETOOLONG;
        return false;
    }
    path[(size_t)length - strlen("/place")] = '\0';
    bool made = mishap_system_make_folder(path);
    path[(size_t)length - strlen("/place")] = '/';
    return made;
}

static bool read_number(const char **at, uint64_t *number)
{
    char *end = NULL;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *number = strtoull(*at, &end, 10);
    *at = *end == ' ' ? end + 1 : end;
    return errno == 0;
}

mishap_follow_place mishap_otlp_place_read(const char *path)
{
    char text[LONGEST_PLACE];
    const char *at = text;
    uint64_t version;
    mishap_follow_place place = { 0 };
    if (mishap_system_read(AT_FDCWD, path, text, sizeof text) && read_number(&at, &version) &&
        version == 1 && read_number(&at, &place.device) && read_number(&at, &place.inode) &&
        read_number(&at, &place.mark) && read_number(&at, &place.offset) && *at == '\n')
        return place;
    return (mishap_follow_place){ 0 };
}

bool mishap_otlp_place_save(const char *path, mishap_follow_place place)
{
    char next[LONGEST_PATH], text[LONGEST_PLACE];
    int name = snprintf(next, sizeof next, "%s.new", path);
    int length = snprintf(text, sizeof text, "1 %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                          place.device, place.inode, place.mark, place.offset);
    if (name < 0 || (size_t)name >= sizeof next) {
        errno = ENAMETOOLONG;
        return false;
    }
    int file = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return false;
    bool written = write(file, text, (size_t)length) == length && fdatasync(file) == 0;
    int error = errno;
    close(file);
    errno = error;
    return written && rename(next, path) == 0;
}
