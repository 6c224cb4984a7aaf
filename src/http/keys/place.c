/*
 * The files of the data folder that the commands of `keys` change, and their lock.
 *
 * A file is never written in place. A new one is written next to it and takes its name, so a server
 * that reads at that moment sees the old contents or the new ones. A process that changes a file
 * holds a lock on a separate one, `keys.lock`, because the file itself is replaced by each change.
 * That file stays: it says that there were keys (operation/caller.h).
 */
#include "http/keys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "operation/call.h"

enum { LOCK_PATIENCE_MS = 10000, LOCK_PAUSE_MS = 10 };

mishap *mishap_key_place_find(mishap_call *call, const char *name, mishap_key_place *place)
{
    place->name = name;
    place->named = mishap_given(call, "data");
    place->folder = mishap_call_data_folder(call);
    if (!place->folder)
        return mishap_suggest(mishap_raise(NOT_CONFIGURED, "No data folder is configured."),
                              "Give a data folder with --data.");
    place->file = mishap_call_print(call, "%s/%s", place->folder, name);
    place->lock = mishap_call_print(call, "%s/%s.lock", place->folder, name);
    size_t size = strlen(place->folder) + strlen(name) + sizeof "/.-XXXXXX";
    place->fresh = mishap_call_take(call, size);
    snprintf(place->fresh, size, "%s/.%s-XXXXXX", place->folder, name);
    return NULL;
}

mishap *mishap_key_place_tell(const mishap_key_place *place, mishap *failure)
{
    return place->named ? mishap_tell(failure, "file", place->file) : failure;
}

static mishap *unwritable(const mishap_key_place *place, const char *path, int error)
{
    mishap *m = mishap_raise(OUTPUT_FAILED, "Cannot write the file `%s`.", place->name);
    return mishap_key_blame(m, error, path);
}

/* -- the lock ---------------------------------------------------------------------------------- */

mishap *mishap_key_place_make(mishap_call *call, const mishap_key_place *place)
{
    size_t size = strlen(place->folder) + 1;
    char *path = mishap_call_take(call, size);
    memcpy(path, place->folder, size);
    return mishap_system_make_folder(path) ? NULL : unwritable(place, place->folder, errno);
}

/* A new file gets owner and mode of the file that it replaces. Only root can change the owner;
 * otherwise it stays with the user who made it. */
static void make_alike(int file, const mishap_key_place *place)
{
    struct stat old;
    if (stat(place->file, &old) != 0) {
        mishap_key_give_to_owner(file, place->folder);
    } else if (fchown(file, old.st_uid, old.st_gid) == 0 ||
               fchown(file, (uid_t)-1, old.st_gid) == 0) {
        if (fchmod(file, old.st_mode & 0666) != 0)
            errno = 0;
    }
}

static int open_lock(const mishap_key_place *place)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    int file = open(place->lock, flags | O_CREAT | O_EXCL, 0600);
    if (file >= 0)
        mishap_key_give_to_owner(file, place->folder);
    else if (errno == EEXIST)
        file = open(place->lock, flags);
    return file;
}

mishap *mishap_key_place_lock(const mishap_key_place *place, int *out)
{
    int file = open_lock(place);
    if (file < 0)
        return unwritable(place, place->lock, errno);
    for (int waited = 0; flock(file, LOCK_EX | LOCK_NB) != 0; waited += LOCK_PAUSE_MS) {
        int error = errno;
        if (error == EWOULDBLOCK && waited < LOCK_PATIENCE_MS) {
            nanosleep(&(struct timespec){ .tv_nsec = LOCK_PAUSE_MS * 1000000L }, NULL);
            continue;
        }
        close(file);
        return error == EWOULDBLOCK
                   ? mishap_note(mishap_raise(LOCKED, "Another process is changing the API keys."),
                                 "file", place->lock)
                   : unwritable(place, place->lock, error);
    }
    *out = file;
    return NULL;
}

/* -- the file ---------------------------------------------------------------------------------- */

mishap *mishap_key_place_replace(const mishap_key_place *place, const mishap_buffer *text)
{
    if (text->failed)
        return mishap_out_of_memory();
    int file = mkostemp(place->fresh, O_CLOEXEC); /* with mode 0600 */
    if (file < 0)
        return unwritable(place, place->file, errno);
    make_alike(file, place);
    int error = mishap_key_write(file, mishap_buffer_text(text));
    if (close(file) != 0 && !error)
        error = errno;
    if (!error && rename(place->fresh, place->file) != 0)
        error = errno;
    if (!error) {
        mishap_key_keep_folder(place->folder);
        return NULL;
    }
    unlink(place->fresh);
    return unwritable(place, place->file, error);
}
