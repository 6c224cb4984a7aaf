/*
 * Data about sessions that must survive a restart of the server: the secret for their ids, and the
 * ids of sessions that clients have ended. Both are in one file of the data folder: first the
 * secret, then a ring buffer with one number for each ended session.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp/sessions/shared.h"
#include "operation/sealed.h"

enum { ENDED = MISHAP_MCP_ENDED, ATTEMPTS = 4 };

static mishap *no_file(mishap *failure, int error, const char *path)
{
    char cause[128];
    mishap_system_error(error, cause, sizeof cause);
    return mishap_note(mishap_tell_cause(failure, cause), "file", path);
}

static mishap *unreadable(const char *path, int error)
{
    return no_file(
        mishap_raise(INPUT_UNREADABLE, "Cannot read the file with the secret of the sessions."),
        error, path);
}

static mishap *unwritable(const char *path, int error)
{
    return no_file(
        mishap_raise(OUTPUT_FAILED, "Cannot write the file with the secret of the sessions."),
        error, path);
}

/* -- the file ---------------------------------------------------------------------------------- */

struct contents {
    unsigned char secret[MISHAP_MAC_KEY];
    uint64_t ended[ENDED];
};

/* Read as many bytes as there are; -1: errno says why not. */
static ssize_t read_all(int file, char *to, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t count = read(file, to + got, size - got);
        if (count == 0)
            break;
        if (count > 0)
            got += (size_t)count;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)got;
}

static void take_over(mishap_mcp_sessions *s, const struct contents *found)
{
    s->secret.count = 1;
    memcpy(s->secret.keys[0], found->secret, sizeof found->secret);
    for (s->ended_count = 0; s->ended_count < ENDED && found->ended[s->ended_count];
         s->ended_count++)
        s->ended[s->ended_count] = found->ended[s->ended_count];
}

/* 0, ENOENT, ENODATA if it contains no secret, or another error. */
static int read_file(mishap_mcp_sessions *s, const char *path)
{
    static struct contents found; /* large, and wiped after use */
    struct stat status;
    int error = 0, file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0)
        return errno;
    memset(&found, 0, sizeof found);
    ssize_t got = fstat(file, &status) == 0 ? read_all(file, (char *)&found, sizeof found) : -1;
    if (got < 0)
        error = errno;
    else if ((size_t)got < sizeof found.secret)
        error = ENODATA;
    else
        take_over(s, &found);
    if (!error && status.st_mode & 077 && fchmod(file, 0600) != 0)
        errno = 0; /* the file belongs to another user, who lets this one read it */
    close(file);
    explicit_bzero(&found, sizeof found);
    return error;
}

/* Make a new secret, in a file that has another name first, so that no process sees half of it. If
 * two servers begin at once, the first one wins, unless the file that is there is unusable. 0, or
 * an errno. */
static int make_file(const char *folder, const char *path, bool replace)
{
    char fresh[MISHAP_MCP_PATH];
    unsigned char secret[MISHAP_MAC_KEY];
    int error = 0;
    if ((size_t)snprintf(fresh, sizeof fresh, "%s/.mcp-sessions-XXXXXX", folder) >= sizeof fresh)
        return ENAMETOOLONG;
    if (!mishap_system_random(secret, sizeof secret))
        return EIO;
    int file = mkostemp(fresh, O_CLOEXEC); /* with mode 0600 */
    if (file < 0)
        return errno;
    if (write(file, secret, sizeof secret) != sizeof secret || fsync(file) != 0)
        error = errno ? errno : EIO;
    close(file);
    explicit_bzero(secret, sizeof secret);
    if (!error && (replace ? rename(fresh, path) : link(fresh, path)) != 0 && errno != EEXIST)
        error = errno;
    if (!replace || error)
        unlink(fresh);
    return error;
}

mishap *mishap_mcp_sessions_last(mishap_mcp_sessions *s, const char *folder)
{
    char *path = s->file;
    int error = ENOENT;
    if ((size_t)snprintf(path, sizeof s->file, "%s/mcp-sessions", folder) >= sizeof s->file)
        path[0] = '\0';
    mishap *failure = path[0] ? NULL : unwritable(folder, ENAMETOOLONG);
    for (int i = 0; i < ATTEMPTS && !failure; i++) {
        error = read_file(s, path);
        if (error == 0)
            return NULL;
        if (error != ENOENT && error != ENODATA)
            failure = unreadable(path, error);
        else if ((error = make_file(folder, path, error == ENODATA)) != 0)
            failure = unwritable(path, error);
    }
    if (!failure)
        failure = unreadable(path, error);
    path[0] = '\0';
    return failure;
}

void mishap_mcp_sessions_use(mishap_mcp_sessions *s, const mishap_shared_secret *secret)
{
    s->secret = *secret;
}

void mishap_mcp_sessions_share(const mishap_mcp_sessions *s, mishap_seal *seal)
{
    mishap_seal_use(seal, &s->secret);
}

/* -- sessions that have ended ------------------------------------------------------------------ */

static uint64_t number_of(mishap_text id)
{
    uint64_t hash = mishap_text_hash(id);
    return hash ? hash : 1;
}

size_t mishap_mcp_ended_add(mishap_mcp_sessions *s, mishap_text id)
{
    size_t at = s->ended_count++ % ENDED;
    s->ended[at] = number_of(id);
    return at;
}

bool mishap_mcp_ended_has(const mishap_mcp_sessions *s, mishap_text id)
{
    uint64_t number = number_of(id);
    for (size_t i = 0; i < ENDED; i++)
        if (s->ended[i] == number)
            return true;
    return false;
}

/* If it cannot be written, the end of this session is forgotten at the next restart. */
void mishap_mcp_ended_write(const mishap_mcp_sessions *s, mishap_text id, size_t at)
{
    uint64_t number = number_of(id);
    int file = s->file[0] ? open(s->file, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) : -1;
    if (file < 0)
        return;
    if (pwrite(file, &number, sizeof number,
               (off_t)(offsetof(struct contents, ended) + at * sizeof number)) < 0)
        errno = 0;
    close(file);
}
