/* The secret that several servers share: see shared_secret.h. */
#include "operation/shared_secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/system.h"

enum {
    DIGITS = 2 * MISHAP_MAC_KEY,
    LARGEST = MISHAP_SHARED_SECRETS * (DIGITS + 2), /* bytes of a file, with two line feeds each */
};

static mishap *unreadable(const char *path, int error)
{
    char cause[128];
    mishap_system_error(error, cause, sizeof cause);
    mishap *m = mishap_raise(INPUT_UNREADABLE, "Cannot read the file %s, which --secret names.",
                             path);
    return mishap_suggest(mishap_tell_cause(m, cause),
                          "Make the file with a new secret, once for all servers: "
                          "`(umask 077; openssl rand -hex 32 > FILE)`.");
}

static mishap *unsafe(const char *path, const char *problem, const char *advice)
{
    return mishap_suggest(mishap_raise(NOT_CONFIGURED, "%s: %s", path, problem), advice);
}

static mishap *check_status(const char *path, const struct stat *status)
{
    if (!S_ISREG(status->st_mode))
        return unsafe(path, "The file with the secret of the servers is not a regular file.",
                      "Give --secret a file.");
    if (status->st_mode & 077)
        return unsafe(path, "Other users may use the file with the secret of the servers.",
                      "Set its mode with `chmod 600 FILE`.");
    if (status->st_uid != geteuid() && status->st_uid != 0)
        return unsafe(path, "The file with the secret of the servers belongs to another user.",
                      "Change its owner with `chown USER FILE`, to the user of the server.");
    return NULL;
}

/* -- its lines --------------------------------------------------------------------------------- */

/* One byte again and again was not drawn at random. */
static bool looks_random(const unsigned char *key)
{
    for (size_t i = 1; i < MISHAP_MAC_KEY; i++)
        if (key[i] != key[0])
            return true;
    return false;
}

static mishap *read_line(const char *path, mishap_text line, size_t number,
                         mishap_shared_secret *out)
{
    unsigned char *key = out->keys[out->count];
    if (line.length != DIGITS || !mishap_hex_read(line.data, key, MISHAP_MAC_KEY))
        return mishap_suggest(
            mishap_raise(NOT_CONFIGURED,
                         "%s: Line %zu is not a secret of %d hexadecimal digits (0-9, a-f).", path,
                         number, DIGITS),
            "Write one secret in a line: what `openssl rand -hex 32` prints.");
    if (!looks_random(key))
        return mishap_suggest(mishap_raise(NOT_CONFIGURED,
                                           "%s: The secret in line %zu repeats one byte, so it "
                                           "can be guessed.",
                                           path, number),
                              "Replace it with what `openssl rand -hex 32` prints.");
    if (out->count && memcmp(out->keys[0], key, MISHAP_MAC_KEY) == 0)
        return unsafe(path, "Both secrets are the same.",
                      "Remove one of the lines, or replace it with what `openssl rand -hex 32` "
                      "prints.");
    out->count++;
    return NULL;
}

mishap *mishap_shared_secret_parse(const char *path, mishap_text text, mishap_shared_secret *out)
{
    mishap *failure = NULL;
    memset(out, 0, sizeof *out);
    for (size_t number = 1; text.length && !failure; number++) {
        const char *end = memchr(text.data, '\n', text.length);
        mishap_text line = { text.data, end ? (size_t)(end - text.data) : text.length };
        text.data += line.length + (end != NULL);
        text.length -= line.length + (end != NULL);
        if (line.length && out->count == MISHAP_SHARED_SECRETS)
            failure = unsafe(path, "The file has more than two secrets.",
                             "Keep the one that signs in the first line, and one more that still "
                             "verifies.");
        else if (line.length)
            failure = read_line(path, line, number, out);
    }
    if (failure || out->count)
        return failure;
    return unsafe(path, "The file with the secret of the servers is empty.",
                  "Write a secret into it: `openssl rand -hex 32 > FILE`.");
}

mishap *mishap_shared_secret_read(const char *path, mishap_shared_secret *out)
{
    char text[LARGEST + 1];
    struct stat status;
    mishap *failure = NULL;
    memset(out, 0, sizeof *out);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return unreadable(path, errno);
    if (fstat(file, &status) != 0)
        failure = unreadable(path, errno);
    else
        failure = check_status(path, &status);
    ssize_t got = failure ? 0 : read(file, text, sizeof text);
    if (got < 0)
        failure = unreadable(path, errno);
    else if (got > LARGEST)
        failure = unsafe(path, "The file is too long for one or two secrets.",
                         "Write each secret in a line: what `openssl rand -hex 32` prints.");
    else if (!failure)
        failure = mishap_shared_secret_parse(path, (mishap_text){ text, (size_t)got }, out);
    close(file);
    explicit_bzero(text, sizeof text);
    if (failure)
        explicit_bzero(out, sizeof *out);
    return failure;
}
