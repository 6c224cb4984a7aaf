/*
 * API keys: reading their file, and who a request comes from.
 *
 * All keys are in memory, sorted by hash. A request costs one SHA-256 and a binary search. What the
 * search takes depends on the hash of what was sent, which says nothing about any hash that is
 * stored; the comparison that decides takes the same time whatever it finds.
 */
#include "boundary/http/keys.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

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

/* Digits where the form has a 0, and what it has everywhere else. */
static bool is_time(const char *text)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";
    for (size_t i = 0; i < MISHAP_KEY_CREATED; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hash(const char *text, unsigned char hash[MISHAP_KEY_HASH])
{
    for (size_t i = 0; i < MISHAP_KEY_HASH; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        hash[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* A line without its line feed. */
static bool read_line(mishap_text line, mishap_key_line *key)
{
    const char *space = memchr(line.data, ' ', line.length);
    if (!space)
        return false;
    key->name = (mishap_text){ line.data, (size_t)(space - line.data) };
    const char *hash = space + 1, *gap = hash + 2 * MISHAP_KEY_HASH, *created = gap + 1;
    if (line.length != key->name.length + 2 * MISHAP_KEY_HASH + MISHAP_KEY_CREATED + 2)
        return false;
    key->created = (mishap_text){ created, MISHAP_KEY_CREATED };
    return is_name(key->name) && read_hash(hash, key->hash) && *gap == ' ' && is_time(created);
}

/* -- the file ---------------------------------------------------------------------------------- */

mishap *mishap_key_blame(mishap *m, int error, const char *path)
{
    char cause[128];
    mishap_system_error(error, cause, sizeof cause);
    return mishap_note(mishap_tell_cause(m, cause), "file", path);
}

/* What a line holds is told to nobody: it may be a key that somebody pasted. */
static mishap *broken_line(const char *path, size_t number, const char *what)
{
    mishap *m = mishap_raise(NOT_CONFIGURED, "Line %zu of the file `keys` %s.", number, what);
    m = mishap_suggest(m, "Correct or remove the line; `keys add` makes new ones.");
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

/* All bytes, and the stamp of what was read: taken before, so that a change while reading is seen
 * the next time. */
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

static mishap *read_lines(const char *path, mishap_key_file *file)
{
    const char *at = file->text.data, *end = at + file->text.length;
    for (size_t number = 1; at < end; number++) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *next = feed ? feed + 1 : end;
        mishap_text line = { at, (size_t)((feed ? feed : end) - at) };
        mishap_key_line *key = &file->lines[file->count];
        if (line.length && line.data[0] != '#') {
            *key = (mishap_key_line){ .whole = { at, (size_t)(next - at) }, .number = number };
            if (!read_line(line, key))
                return broken_line(path, number, "is not a key");
            file->count++;
        }
        at = next;
    }
    return NULL;
}

static int compare_texts(mishap_text a, mishap_text b)
{
    int order = memcmp(a.data, b.data, a.length < b.length ? a.length : b.length);
    return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

static int compare_names(const void *a, const void *b)
{
    return compare_texts(((const mishap_key_line *)a)->name, ((const mishap_key_line *)b)->name);
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

/* Sort both ways. A name that stands for two keys, or a key for two names, is a mistake. */
static mishap *sort_lines(const char *path, mishap_key_file *file)
{
    mishap_sort(file->lines, file->count, sizeof *file->lines, compare_names);
    for (size_t i = 0; i < file->count; i++)
        file->by_hash[i] = &file->lines[i];
    mishap_sort(file->by_hash, file->count, sizeof(mishap_key_line *), compare_hashes);
    for (size_t i = 1; i < file->count; i++) {
        const mishap_key_line *line = &file->lines[i], *key = file->by_hash[i];
        if (compare_names(line - 1, line) == 0)
            return broken_line(path, later(line - 1, line), "has a name that another line has");
        if (memcmp(file->by_hash[i - 1]->hash, key->hash, MISHAP_KEY_HASH) == 0)
            return broken_line(path, later(file->by_hash[i - 1], key),
                               "has a key that another line has");
    }
    return NULL;
}

mishap *mishap_key_file_read(const char *path, mishap_key_file *file)
{
    size_t most = 1;
    *file = (mishap_key_file){ 0 };
    mishap *failure = read_text(path, file);
    if (failure || file->text.length == 0)
        return failure;
    for (size_t i = 0; i < file->text.length; i++)
        most += file->text.data[i] == '\n';
    file->lines = mishap_allocate(most * sizeof *file->lines);
    file->by_hash = mishap_allocate(most * sizeof *file->by_hash);
    if (!file->lines || !file->by_hash)
        return mishap_out_of_memory();
    failure = read_lines(path, file);
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

/* -- the keys of a server ---------------------------------------------------------------------- */

struct known {
    unsigned char hash[MISHAP_KEY_HASH];
    const char *name;
};

/*
 * The names are kept apart, for as long as the server lives: a request may still run when its key
 * is removed. A name that was there before is not kept again, so this grows only by names that are
 * new.
 */
struct mishap_http_keys {
    struct known *known;  /* sorted by hash */
    mishap_text *by_name; /* the names alone, sorted; in the same block */
    size_t count;
    mishap_arena names;
    mishap_key_stamp stamp; /* of the file that they are from */
    bool unsound;           /* the file cannot be read as it is now: no key is taken … */
    mishap_key_stamp tried; /* … and this is the one that was complained of */
    char path[];
};

/* The text of a name that lives as long as the keys: the one they have, else a copy. `*from` is how
 * far the old names are done. */
static mishap_text keep_name(mishap_http_keys *keys, mishap_text name, size_t *from)
{
    while (*from < keys->count && compare_texts(keys->by_name[*from], name) < 0)
        ++*from;
    if (*from < keys->count && mishap_text_equal(keys->by_name[*from], name))
        return keys->by_name[*from];
    return mishap_arena_copy(&keys->names, name);
}

/* Take over what a file has, all of it or nothing. */
static mishap *adopt(mishap_http_keys *keys, const mishap_key_file *file)
{
    struct known *known = NULL;
    mishap_text *by_name = NULL;
    size_t from = 0;
    if (file->count) {
        known = mishap_allocate(file->count * (sizeof *known + sizeof *by_name));
        if (!known)
            return mishap_out_of_memory();
        by_name = (mishap_text *)(known + file->count);
    }
    for (size_t i = 0; i < file->count; i++) {
        by_name[i] = keep_name(keys, file->lines[i].name, &from);
        if (!by_name[i].data) {
            mishap_release(known);
            return mishap_out_of_memory();
        }
    }
    for (size_t i = 0; i < file->count; i++) {
        const mishap_key_line *line = file->by_hash[i];
        memcpy(known[i].hash, line->hash, MISHAP_KEY_HASH);
        known[i].name = by_name[line - file->lines].data;
    }
    mishap_release(keys->known);
    keys->known = known;
    keys->by_name = by_name;
    keys->count = file->count;
    keys->stamp = file->stamp;
    keys->unsound = false;
    return NULL;
}

static mishap *load(mishap_http_keys *keys)
{
    mishap_key_file file;
    mishap *failure = mishap_key_file_read(keys->path, &file);
    if (!failure)
        failure = adopt(keys, &file);
    mishap_key_file_release(&file);
    return failure;
}

mishap *mishap_http_keys_make(const char *data, mishap_http_keys **out)
{
    size_t length = strlen(data);
    mishap_http_keys *keys = mishap_allocate(sizeof *keys + length + sizeof "/keys");
    *out = keys;
    if (!keys)
        return mishap_out_of_memory();
    *keys = (mishap_http_keys){ .unsound = true, .tried = { .size = -1 } };
    mishap_arena_init(&keys->names, NULL, 0);
    memcpy(keys->path, data, length);
    memcpy(keys->path + length, "/keys", sizeof "/keys");
    return NULL;
}

mishap *mishap_http_keys_open(const char *data, mishap_http_keys **out)
{
    mishap *failure = mishap_http_keys_make(data, out);
    if (!failure)
        failure = load(*out);
    if (failure) {
        mishap_http_keys_close(*out);
        *out = NULL;
    }
    return failure;
}

void mishap_http_keys_close(mishap_http_keys *keys)
{
    if (!keys)
        return;
    mishap_release(keys->known);
    mishap_arena_release(&keys->names);
    mishap_release(keys);
}

static bool is_same_file(const mishap_key_stamp *a, const mishap_key_stamp *b)
{
    return a->inode == b->inode && a->size == b->size && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
}

/* A file that could not be read is tried again even if it seems to be the same: that it may be
 * read now, or that there is memory again, does not show in it. */
mishap *mishap_http_keys_refresh(mishap_http_keys *keys)
{
    struct stat status;
    mishap_key_stamp now = { 0 };
    if (stat(keys->path, &status) == 0)
        now = stamp_of(&status);
    if (!keys->unsound && is_same_file(&now, &keys->stamp))
        return NULL;
    bool known = keys->unsound && is_same_file(&now, &keys->tried);
    mishap *failure = load(keys);
    if (!failure)
        return NULL;
    keys->unsound = true;
    keys->tried = now;
    if (!known)
        return mishap_because(
            mishap_raise(UNAVAILABLE, "The API keys cannot be read; until then none is taken."),
            failure);
    mishap_free(failure);
    return NULL;
}

size_t mishap_http_keys_count(const mishap_http_keys *keys)
{
    return keys->count;
}

/* -- who calls --------------------------------------------------------------------------------- */

/* Is this what `keys add` gives out? Anything else need not be hashed. */
static bool is_key(mishap_text key)
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

/* What stands behind `Bearer`, which may be nothing; no data under another scheme, which is none of
 * our business. */
static mishap_text bearer_of(mishap_text field)
{
    static const char scheme[] = "bearer";
    const size_t length = sizeof scheme - 1;
    if (field.length < length || strncasecmp(field.data, scheme, length) != 0 ||
        (field.length > length && field.data[length] != ' '))
        return (mishap_text){ NULL, 0 };
    mishap_text key = { field.data + length, field.length - length };
    while (key.length && key.data[0] == ' ') {
        key.data++;
        key.length--;
    }
    return key;
}

/* The same work whatever the bytes are. */
static bool same_hash(const unsigned char *a, const unsigned char *b)
{
    unsigned difference = 0;
    for (size_t i = 0; i < MISHAP_KEY_HASH; i++)
        difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0;
}

static uint64_t beginning(const unsigned char *hash)
{
    uint64_t word;
    memcpy(&word, hash, sizeof word);
    return be64toh(word);
}

static const char *find_caller(const mishap_http_keys *keys, mishap_text key)
{
    unsigned char hash[MISHAP_KEY_HASH];
    const char *name = NULL;
    size_t low = 0, high = keys ? keys->count : 0;
    if (high == 0 || !is_key(key))
        return NULL;
    mishap_key_hash(key, hash);
    uint64_t wanted = beginning(hash);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (beginning(keys->known[middle].hash) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < keys->count && beginning(keys->known[low].hash) == wanted; low++)
        if (same_hash(keys->known[low].hash, hash))
            name = keys->known[low].name;
    return name;
}

/* No word about whether it was no key at all, one that was removed, or one that never was. */
static mishap *unauthorized(const char *what)
{
    return mishap_suggest(mishap_raise(UNAUTHORIZED, "%s", what),
                          "Check the key, or ask whoever runs this server for a new one.");
}

mishap *mishap_http_keys_check(const mishap_http_keys *keys, mishap_http_request *request,
                               mishap_text own, bool required)
{
    mishap_text bearer = bearer_of(request->fields[MISHAP_HTTP_AUTHORIZATION]);
    request->caller = NULL;
    if (!bearer.data && !own.data)
        return required ? mishap_suggest(
                              mishap_raise(AUTH_REQUIRED, "An API key is required."),
                              "Send one as `Authorization: Bearer KEY` or as `X-Api-Key: KEY`.")
                        : NULL;
    if (keys && keys->unsound)
        return mishap_retry_after(mishap_raise(UNAVAILABLE, "API keys cannot be checked now."),
                                  1000);
    if (bearer.data && own.data && !mishap_text_equal(bearer, own))
        return unauthorized("The request has two different API keys.");
    request->caller = find_caller(keys, bearer.data ? bearer : own);
    return request->caller ? NULL : unauthorized("The API key is not valid.");
}
