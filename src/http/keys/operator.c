/*
 * The key of the operator: the file `operator.key` of the data folder, with the key as its one
 * line. Unlike the keys of callers it is stored itself, because the person who may read this folder
 * may read the incidents in it as well.
 */
#include "http/keys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

static bool put_path(char path[LONGEST_PATH], const char *folder, const char *name)
{
    return (size_t)snprintf(path, LONGEST_PATH, "%s/%s", folder, name) < LONGEST_PATH;
}

static bool put_own_path(char path[LONGEST_PATH], const char *folder)
{
    return put_path(path, folder, MISHAP_KEY_OPERATOR_FILE);
}

mishap_key_stamp mishap_key_operator_stamp(const char *folder)
{
    char path[LONGEST_PATH];
    return put_own_path(path, folder) ? mishap_key_file_stamp(path) : (mishap_key_stamp){ 0 };
}

bool mishap_key_operator_line(const char *folder, mishap_key_line *line,
                              char created[MISHAP_KEY_CREATED + 1])
{
    mishap_key_stamp stamp = mishap_key_operator_stamp(folder);
    mishap_buffer time;
    if (!stamp.inode)
        return false;
    mishap_buffer_init(&time, created, MISHAP_KEY_CREATED + 1);
    mishap_clock_put_timestamp(&time, stamp.seconds * 1000 + stamp.nanoseconds / 1000000);
    *line = (mishap_key_line){ .name = MISHAP_TEXT(MISHAP_KEY_OPERATOR),
                               .created = mishap_buffer_text(&time),
                               .scopes = MISHAP_KEY_OPERATOR_SCOPES };
    return true;
}

static mishap *unreadable(const char *path, int error)
{
    return mishap_key_blame(mishap_raise(INPUT_UNREADABLE, "Cannot read the key of the operator."),
                            error, path);
}

/* The text of the file is never shown. */
static mishap *not_a_key(const char *path)
{
    mishap *m = mishap_raise(NOT_CONFIGURED,
                             "The file " MISHAP_KEY_OPERATOR_FILE " does not have a key.");
    return mishap_note(mishap_suggest(m, "Remove the file. `serve` makes a new one."), "file",
                       path);
}

/* As ssh does it: a key that others can read, or that another user has put there, is of no use. */
static mishap *not_private(const char *path, const char *folder, const struct stat *status)
{
    struct stat above;
    bool own = status->st_uid == geteuid() || status->st_uid == 0 ||
               (stat(folder, &above) == 0 && status->st_uid == above.st_uid);
    mishap *m;
    if (own && !(status->st_mode & (S_IRWXG | S_IRWXO)))
        return NULL;
    if (own)
        m = mishap_suggest(
            mishap_raise(NOT_CONFIGURED,
                         "The file " MISHAP_KEY_OPERATOR_FILE " has mode %03o: other users can "
                         "have read the key.",
                         (unsigned)status->st_mode & 0777),
            "Remove the file: `serve` makes a new one. Or, if no other user has read it, run "
            "`chmod 600` on it.");
    else
        m = mishap_suggest(mishap_raise(NOT_CONFIGURED, "The file " MISHAP_KEY_OPERATOR_FILE
                                                        " belongs to another user."),
                           "Remove the file: `serve` makes a new one.");
    return mishap_note(m, "file", path);
}

mishap *mishap_key_operator_read(const char *folder, char key[MISHAP_KEY_LENGTH + 1])
{
    char path[LONGEST_PATH], text[MISHAP_KEY_LENGTH + 2];
    struct stat status;
    key[0] = '\0';
    if (!put_own_path(path, folder))
        return NULL;
    /* Opening a pipe would wait for a writer. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0)
        return errno == ENOENT || errno == ENOTDIR ? NULL : unreadable(path, errno);
    mishap *failure = fstat(file, &status) == 0 ? not_private(path, folder, &status) : NULL;
    if (failure) {
        close(file);
        return failure;
    }
    ssize_t count = read(file, text, sizeof text);
    int error = errno;
    close(file);
    if (count < 0)
        return unreadable(path, error);
    mishap_text found = { text, (size_t)count };
    if (found.length && found.data[found.length - 1] == '\n')
        found.length--;
    if (!mishap_key_is_one(found))
        return not_a_key(path);
    memcpy(key, found.data, found.length);
    key[found.length] = '\0';
    return NULL;
}

static mishap *unwritable(const char *path, int error)
{
    return mishap_key_blame(mishap_raise(OUTPUT_FAILED, "Cannot write the key of the operator."),
                            error, path);
}

/* Write the key to a file beside, which then gets the name: a reader sees all of it or nothing, and
 * of two servers that start at once one makes the key. */
static int write_own(const char *folder, const char *path, const char *key)
{
    char fresh[LONGEST_PATH];
    if (!put_path(fresh, folder, ".operator-XXXXXX"))
        return ENAMETOOLONG;
    int file = mkostemp(fresh, O_CLOEXEC); /* with mode 0600 */
    if (file < 0)
        return errno;
    mishap_key_give_to_owner(file, folder);
    char line[MISHAP_KEY_LENGTH + 2];
    int length = snprintf(line, sizeof line, "%s\n", key);
    int error = mishap_key_write(file, (mishap_text){ line, (size_t)length });
    if (close(file) != 0 && !error)
        error = errno;
    if (!error && link(fresh, path) != 0 && errno != EEXIST &&
        rename(fresh, path) != 0) /* a file system without links */
        error = errno;
    unlink(fresh);
    if (!error)
        mishap_key_keep_folder(folder);
    return error;
}

mishap *mishap_key_operator_make(const char *folder, char key[MISHAP_KEY_LENGTH + 1])
{
    char path[LONGEST_PATH];
    mishap *failure = mishap_key_operator_read(folder, key);
    if (failure || key[0])
        return failure;
    if (!put_own_path(path, folder))
        return unwritable(MISHAP_KEY_OPERATOR_FILE, ENAMETOOLONG);
    if (!mishap_key_make(key))
        return mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
    int error = write_own(folder, path, key);
    key[0] = '\0';
    return error ? unwritable(path, error) : mishap_key_operator_read(folder, key);
}

bool mishap_key_operator_remove(const char *folder)
{
    char path[LONGEST_PATH];
    return put_own_path(path, folder) && unlink(path) == 0;
}
