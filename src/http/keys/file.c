/* The file of API keys: its lines, and its permissions. */
#include "http/keys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/sort.h"

enum { LARGEST_FILE = 16 << 20 };

/* -- one line ---------------------------------------------------------------------------------- */

static bool is_name(mishap_text name)
{
    if (name.length == 0 || name.length > MISHAP_KEY_LONGEST_NAME)
        return false;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!plain && (i == 0 || (c != '.' && c != '_' && c != '-')))
            return false;
    }
    return true;
}

/* True if it has digits where the form has a 0, and the same characters everywhere else. */
static bool is_time(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";
    for (size_t i = 0; i < MISHAP_KEY_CREATED; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

bool mishap_key_line_read(mishap_text line, const mishap_scope *declared, mishap_key_line *key)
{
    const char *space = memchr(line.data, ' ', line.length);
    if (!space)
        return false;
    key->name = (mishap_text){ line.data, (size_t)(space - line.data) };
    const char *hash = space + 1, *gap = hash + 2 * MISHAP_KEY_HASH, *created = gap + 1;
    const size_t least = key->name.length + 2 * MISHAP_KEY_HASH + MISHAP_KEY_CREATED + 2;
    if (line.length < least)
        return false;
    key->created = (mishap_text){ created, MISHAP_KEY_CREATED };
    mishap_text rest = { line.data + least, line.length - least };
    key->scopes = MISHAP_SCOPES_USUAL;
    if (rest.length &&
        (rest.data[0] != ' ' ||
         !mishap_scopes_read(declared, (mishap_text){ rest.data + 1, rest.length - 1 },
                             &key->scopes)))
        return false;
    return is_name(key->name) && mishap_hex_read(hash, key->hash, MISHAP_KEY_HASH) && *gap == ' ' &&
           is_time(created);
}

/* -- keys -------------------------------------------------------------------------------------- */

/* "mk_" and 32 random bytes in base64url, six bits a character, the last one filled up with zeros.
 */
bool mishap_key_make(char key[MISHAP_KEY_LENGTH + 1])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned char bytes[MISHAP_KEY_RANDOM + 1] = { 0 };
    if (!mishap_system_random(bytes, MISHAP_KEY_RANDOM))
        return false;
    memcpy(key, "mk_", 3);
    for (size_t i = 0; i < MISHAP_KEY_LENGTH - 3; i++) {
        size_t bit = 6 * i, at = bit / 8;
        unsigned pair = (unsigned)bytes[at] << 8 | bytes[at + 1];
        key[3 + i] = letters[pair >> (10 - bit % 8) & 63];
    }
    key[MISHAP_KEY_LENGTH] = '\0';
    return true;
}

bool mishap_key_is_one(mishap_text key)
{
    if (key.length != MISHAP_KEY_LENGTH || memcmp(key.data, "mk_", 3) != 0)
        return false;
    for (size_t i = 3; i < MISHAP_KEY_LENGTH; i++) {
        char c = key.data[i], lower = (char)(c | 32);
        if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return true;
}

/* -- files of keys on the disk ----------------------------------------------------------------- */

void mishap_key_give_to_owner(int file, const char *folder)
{
    struct stat status;
    if (geteuid() == 0 && stat(folder, &status) == 0 && status.st_uid != 0 &&
        fchown(file, status.st_uid, status.st_gid) != 0)
        errno = 0; /* then it stays root's */
}

int mishap_key_write(int file, mishap_text text)
{
    while (text.length) {
        ssize_t count = write(file, text.data, text.length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? errno : EIO;
        text.data += count;
        text.length -= (size_t)count;
    }
    return fsync(file) == 0 ? 0 : errno;
}

void mishap_key_keep_folder(const char *folder)
{
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return;
    fsync(file);
    close(file);
}

/* -- the file ---------------------------------------------------------------------------------- */

mishap *mishap_key_blame(mishap *m, int error, const char *path)
{
    char cause[128];
    mishap_system_error(error, cause, sizeof cause);
    return mishap_note(mishap_tell_cause(m, cause), "file", path);
}

/* The text of a line is never shown: it may be a key that was pasted at the wrong place. */
static mishap *broken_line(const char *path, size_t number, const char *what)
{
    mishap *m = mishap_raise(NOT_CONFIGURED, "Line %zu of the file `keys` %s.", number, what);
    m = mishap_suggest(m, "Correct or remove the line. The command `keys add` creates new keys.");
    return mishap_note(mishap_tell(m, "line", number), "file", path);
}

static mishap *unreadable(const char *path, int error)
{
    return mishap_key_blame(mishap_raise(INPUT_UNREADABLE, "Cannot read the file of API keys."),
                            error, path);
}

static mishap_key_stamp stamp_of(const struct stat *status)
{
    return (mishap_key_stamp){ status->st_ino, status->st_size, status->st_mtim.tv_sec,
                               status->st_mtim.tv_nsec };
}

mishap_key_stamp mishap_key_file_stamp(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? stamp_of(&status) : (mishap_key_stamp){ 0 };
}

/* Read all bytes. The stamp is taken before, so that a change while reading is noticed the next
 * time. */
static mishap *read_text(const char *path, mishap_key_file *file)
{
    struct stat status;
    mishap *failure = NULL;
    /* Opening a pipe would wait for a writer. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return errno == ENOENT ? NULL : unreadable(path, errno);
    if (fstat(descriptor, &status) != 0)
        failure = unreadable(path, errno);
    else if (!S_ISREG(status.st_mode))
        failure = unreadable(path, S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    if (failure)
        goto done;
    file->stamp = stamp_of(&status);
    file->is_there = true;
    for (ssize_t got = 1; got > 0;) {
        if (file->text.length > LARGEST_FILE) {
            failure = mishap_note(mishap_raise(NOT_CONFIGURED,
                                               "The file of API keys is larger than %d MB.",
                                               LARGEST_FILE >> 20),
                                  "file", path);
            break;
        }
        if (!mishap_buffer_reserve(&file->text, 1 << 14)) {
            failure = mishap_out_of_memory();
            break;
        }
        got = read(descriptor, file->text.data + file->text.length,
                   file->text.capacity - file->text.length);
        if (got > 0)
            file->text.length += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
        else if (got < 0)
            failure = unreadable(path, errno);
    }
done:
    close(descriptor);
    return failure;
}

static mishap *read_lines(const char *path, const mishap_scope *declared, mishap_key_file *file)
{
    const char *at = file->text.data, *end = at + file->text.length;
    for (size_t number = 1; at < end; number++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *next = feed ? feed + 1 : end;
        mishap_text line = { at, (size_t)((feed ? feed : end) - at) };
        mishap_key_line *key = &file->lines[file->count];
        if (mishap_text_equal(line, (mishap_text)MISHAP_TEXT(MISHAP_CALLER_DISABLED))) {
            if (file->disabled.data)
                return broken_line(path, number, "is the same as another line");
            file->disabled = (mishap_text){ at, (size_t)(next - at) };
        } else if (line.length && line.data[0] != '#') {
            *key = (mishap_key_line){ .whole = { at, (size_t)(next - at) }, .number = number };
            if (!mishap_key_line_read(line, declared, key))
                return broken_line(path, number, "is not a key");
            file->count++;
        }
        at = next;
    }
    return NULL;
}

int mishap_key_order(mishap_text a, mishap_text b)
{
    int order = memcmp(a.data, b.data, a.length < b.length ? a.length : b.length);
    return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

static int compare_names(const void *a, const void *b)
{
    return mishap_key_order(((const mishap_key_line *)a)->name, ((const mishap_key_line *)b)->name);
}

static int compare_hashes(const void *a, const void *b)
{
    return memcmp((*(mishap_key_line *const *)a)->hash, (*(mishap_key_line *const *)b)->hash,
                  MISHAP_KEY_HASH);
}

static size_t later(const mishap_key_line *a, const mishap_key_line *b)
{
    return a->number > b->number ? a->number : b->number;
}

/* Sort both ways. A name with two keys, or a key with two names, is a mistake. */
static mishap *sort_lines(const char *path, mishap_key_file *file)
{
    mishap_sort(file->lines, file->count, sizeof *file->lines, compare_names);
    for (size_t i = 0; i < file->count; i++)
        file->by_hash[i] = &file->lines[i];
    mishap_sort(file->by_hash, file->count, sizeof(mishap_key_line *), compare_hashes);
    for (size_t i = 1; i < file->count; i++) {
        const mishap_key_line *line = &file->lines[i], *key = file->by_hash[i];
        if (compare_names(line - 1, line) == 0)
            return broken_line(path, later(line - 1, line), "has the same name as another line");
        if (memcmp(file->by_hash[i - 1]->hash, key->hash, MISHAP_KEY_HASH) == 0)
            return broken_line(path, later(file->by_hash[i - 1], key),
                               "has the same key as another line");
    }
    return NULL;
}

mishap *mishap_key_file_read(const char *path, const mishap_scope *declared, mishap_key_file *file)
{
    *file = (mishap_key_file){ 0 };
    mishap *failure = read_text(path, file);
    return failure ? failure : mishap_key_file_parse(path, declared, file);
}

mishap *mishap_key_file_parse(const char *path, const mishap_scope *declared, mishap_key_file *file)
{
    size_t most = 1;
    if (file->text.length == 0)
        return NULL;
    for (size_t i = 0; i < file->text.length; i++)
        most += file->text.data[i] == '\n';
    file->lines = mishap_allocate(most * sizeof *file->lines);
    file->by_hash = mishap_allocate(most * sizeof *file->by_hash);
    if (!file->lines || !file->by_hash)
        return mishap_out_of_memory();
    mishap *failure = read_lines(path, declared, file);
    return failure ? failure : sort_lines(path, file);
}

void mishap_key_file_release(mishap_key_file *file)
{
    mishap_buffer_release(&file->text);
    mishap_release(file->lines);
    mishap_release(file->by_hash);
    *file = (mishap_key_file){ 0 };
}

const mishap_key_line *mishap_key_file_find(const mishap_key_file *file, mishap_text name)
{
    const mishap_key_line wanted = { .name = name };
    return file->count ? bsearch(&wanted, file->lines, file->count, sizeof wanted, compare_names)
                       : NULL;
}

void mishap_key_hash(mishap_text key, unsigned char hash[MISHAP_KEY_HASH])
{
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)key.data, key.length);
    SHA256Final(hash, &context);
}

/* -- who may read it --------------------------------------------------------------------------- */

/* Root may leave the file to the owner of the folder: the server runs as that user. */
static bool is_ours(const struct stat *status, const char *folder)
{
    struct stat around;
    return status->st_uid == geteuid() ||
           (geteuid() == 0 && stat(folder, &around) == 0 && status->st_uid == around.st_uid);
}

bool mishap_key_file_advise(const char *folder, const char *path, const char *name, char *line,
                            size_t size)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    if (!is_ours(&status, folder))
        snprintf(line, size,
                 "The file of API keys is owned by another user. Change the owner with `chown`, "
                 "then run `chmod 600 %s`.",
                 name);
    else if (status.st_mode & 077)
        snprintf(line, size,
                 "Other users can read or change the file of API keys. Run `chmod 600 %s`.", name);
    else
        return false;
    return true;
}
