/*
 * keys add, keys list, keys remove, keys disable: the API keys of a server, beside `serve`.
 *
 * The file is never written in place. A new one is written next to it and takes its name, so a
 * server that reads at that moment sees the old keys or the new ones. A process that changes the
 * keys holds a lock on a separate file, `keys.lock`, because the file of keys is replaced by each
 * change. That file stays: it says that there were keys (operation/caller.h).
 */
#include "http/keys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/hex.h"
#include "operation/call.h"

enum { LOCK_PATIENCE_MS = 10000, LOCK_PAUSE_MS = 10 };

/* The folder of the keys. All text lives as long as the call. */
struct place {
    const char *folder, *keys, *lock;
    char *fresh; /* the new file, before it is renamed */
    bool named;  /* the caller has named the folder, so failures may show it */
};

static mishap *find_place(mishap_call *call, struct place *place)
{
    place->named = mishap_given(call, "data");
    place->folder = mishap_call_data_folder(call);
    if (!place->folder)
        return mishap_suggest(mishap_raise(NOT_CONFIGURED, "No data folder is configured."),
                              "Give a data folder with --data.");
    place->keys = mishap_call_print(call, "%s/keys", place->folder);
    place->lock = mishap_call_print(call, "%s/keys.lock", place->folder);
    size_t size = strlen(place->folder) + sizeof "/.keys-XXXXXX";
    place->fresh = mishap_call_take(call, size);
    snprintf(place->fresh, size, "%s/.keys-XXXXXX", place->folder);
    return NULL;
}

/* If the caller has named the folder, the failure says which file it was. */
static mishap *tell_place(const struct place *place, mishap *failure)
{
    return place->named ? mishap_tell(failure, "file", place->keys) : failure;
}

static void warn_of_readers(mishap_call *call, const struct place *place)
{
    char line[4400];
    if (mishap_key_file_advise(place->folder, place->keys, place->named ? place->keys : "keys",
                               line, sizeof line))
        mishap_warn(call, "%s", line);
}

/* Warn if no key is left and callers still cannot name themselves. */
static void warn_of_none(mishap_call *call, const struct place *place)
{
    if (mishap_caller_keys_of(place->folder) == MISHAP_CALLER_KEYS_GONE)
        mishap_warn(call, "%s",
                    "There is no API key. Callers that name themselves are refused all the same, "
                    "until `keys disable` allows it.");
}

static mishap *unwritable(const char *path, int error)
{
    return mishap_key_blame(mishap_raise(OUTPUT_FAILED, "Cannot write the file of API keys."),
                            error, path);
}

/* -- the lock ---------------------------------------------------------------------------------- */

/* The folder and those above it, for this user only. */
static mishap *make_folder(mishap_call *call, const char *folder)
{
    char *path = mishap_call_take(call, strlen(folder) + 1);
    memcpy(path, folder, strlen(folder) + 1);
    return mishap_system_make_folder(path) ? NULL : unwritable(folder, errno);
}

/* The server runs as the owner of the folder and must be able to read what root creates there. Only
 * for files that were just created, and that cannot be another user's file under another name. */
static void give_to_owner(int file, const char *folder)
{
    struct stat status;
    if (geteuid() == 0 && stat(folder, &status) == 0 && status.st_uid != 0 &&
        fchown(file, status.st_uid, status.st_gid) != 0)
        errno = 0; /* then it stays root's */
}

/* A new file gets owner and mode of the file that it replaces. Only root can change the owner;
 * otherwise it stays with the user who made it. */
static void make_alike(int file, const struct place *place)
{
    struct stat old;
    if (stat(place->keys, &old) != 0) {
        give_to_owner(file, place->folder);
    } else if (fchown(file, old.st_uid, old.st_gid) == 0 ||
               fchown(file, (uid_t)-1, old.st_gid) == 0) {
        if (fchmod(file, old.st_mode & 0666) != 0)
            errno = 0;
    }
}

static int open_lock(const struct place *place)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    int file = open(place->lock, flags | O_CREAT | O_EXCL, 0600);
    if (file >= 0)
        give_to_owner(file, place->folder);
    else if (errno == EEXIST)
        file = open(place->lock, flags);
    return file;
}

/* Wait for the lock, which is released when the file is closed. */
static mishap *take_lock(const struct place *place, int *out)
{
    int file = open_lock(place);
    if (file < 0)
        return unwritable(place->lock, errno);
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
                   : unwritable(place->lock, error);
    }
    *out = file;
    return NULL;
}

/* -- the file ---------------------------------------------------------------------------------- */

/* Write all of it to the disk: 0 or an errno. */
static int write_whole(int file, mishap_text text)
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

/* The new name is on the disk only when the folder was synchronized. */
static void keep_folder(const char *folder)
{
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return;
    fsync(file);
    close(file);
}

/* Replace the old file by a new one. */
static mishap *replace_file(const struct place *place, const mishap_buffer *text)
{
    if (text->failed)
        return mishap_out_of_memory();
    int file = mkostemp(place->fresh, O_CLOEXEC); /* with mode 0600 */
    if (file < 0)
        return unwritable(place->keys, errno);
    make_alike(file, place);
    int error = write_whole(file, mishap_buffer_text(text));
    if (close(file) != 0 && !error)
        error = errno;
    if (!error && rename(place->fresh, place->keys) != 0)
        error = errno;
    if (!error) {
        keep_folder(place->folder);
        return NULL;
    }
    unlink(place->fresh);
    return unwritable(place->keys, error);
}

/* -- keys add ---------------------------------------------------------------------------------- */

/* "mk_" and 32 random bytes in base64url, six bits a character, the last one filled up with zeros.
 */
static bool make_key(char key[MISHAP_KEY_LENGTH + 1])
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

static void put_line(mishap_buffer *b, const char *name, const char *key)
{
    unsigned char hash[MISHAP_KEY_HASH];
    char digits[2 * MISHAP_KEY_HASH];
    mishap_key_hash(mishap_text_of(key), hash);
    mishap_buffer_put_text(b, mishap_text_of(name));
    MISHAP_PUT(b, " ");
    mishap_hex_write(digits, hash, sizeof hash);
    mishap_buffer_put(b, digits, sizeof digits);
    MISHAP_PUT(b, " ");
    mishap_clock_put_timestamp(b, mishap_clock_now_ms());
    MISHAP_PUT(b, "\n");
}

#define HEADING "# API keys: name, SHA-256 of the key, time of creation.\n"

static mishap *add_line(const struct place *place, const char *name, const char *key)
{
    mishap_key_file file = { 0 };
    mishap_buffer *text = &file.text;
    int lock = -1;
    mishap *failure = take_lock(place, &lock);
    if (!failure)
        failure = mishap_key_file_read(place->keys, &file);
    if (failure)
        goto done;
    const mishap_key_line *same = mishap_key_file_find(&file, mishap_text_of(name));
    if (same) {
        failure = mishap_tell(mishap_raise(ALREADY_EXISTS, "A key named %.*s already exists.",
                                           (int)same->name.length, same->name.data),
                              "name", name);
        failure = mishap_suggest(failure, "Choose another name, or remove that key first.");
        goto done;
    }
    if (file.disabled.data) { /* it is not disabled any more */
        size_t at = (size_t)(file.disabled.data - text->data), length = file.disabled.length;
        memmove(text->data + at, text->data + at + length, text->length - at - length);
        text->length -= length;
    }
    /* The lines point into the text, which may move from now on: they must not be used any more. */
    if (text->length == 0)
        MISHAP_PUT(text, HEADING);
    else if (text->data[text->length - 1] != '\n')
        MISHAP_PUT(text, "\n");
    put_line(text, name, key);
    failure = replace_file(place, text);
done:
    mishap_key_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *run_add(mishap_call *call)
{
    struct place place;
    char key[MISHAP_KEY_LENGTH + 1];
    const char *name = mishap_string(call, "name");
    mishap *failure = find_place(call, &place);
    if (failure)
        return failure;
    if (!make_key(key))
        return mishap_raise(INTERNAL_ERROR, "The system could not provide random bytes.");
    failure = make_folder(call, place.folder);
    if (!failure)
        failure = add_line(&place, name, key);
    if (failure)
        return tell_place(&place, failure);
    warn_of_readers(call, &place);
    mishap_answer_member(call, "name", name);
    mishap_answer_member(call, "key", (const char *)key);
    return mishap_answer_member(call, "note",
                                "Copy this key now: it is shown only once and is not stored.");
}

/* -- keys list --------------------------------------------------------------------------------- */

static mishap *run_list(mishap_call *call)
{
    struct place place;
    mishap_key_file file = { 0 };
    mishap_buffer json = { 0 };
    mishap *failure = find_place(call, &place);
    if (failure)
        return failure;
    failure = mishap_key_file_read(place.keys, &file);
    if (failure)
        goto done;
    warn_of_readers(call, &place);
    warn_of_none(call, &place);
    mishap_json_open(&json, '{');
    MISHAP_JSON_KEY(&json, "keys");
    mishap_json_open(&json, '[');
    for (size_t i = 0; i < file.count; i++) {
        mishap_json_open(&json, '{');
        MISHAP_JSON_TEXT_MEMBER(&json, "name", file.lines[i].name);
        MISHAP_JSON_TEXT_MEMBER(&json, "created", file.lines[i].created);
        mishap_json_close(&json, '}');
    }
    MISHAP_PUT(&json, "]}");
    mishap_buffer_put_char(&json, '\0');
    failure = json.failed ? mishap_out_of_memory() : mishap_answer(call, json.data);
done:
    mishap_buffer_release(&json);
    mishap_key_file_release(&file);
    return failure ? tell_place(&place, failure) : NULL;
}

/* -- keys remove ------------------------------------------------------------------------------- */

static mishap *no_such_key(const char *name)
{
    if (!name)
        name = "";
    mishap *m = mishap_raise(NOT_FOUND, "No key is named %s.", name);
    return mishap_suggest(mishap_tell(m, "name", name), "List the names with `keys list`.");
}

/* Everything but one line, comments included. */
static void put_without(mishap_buffer *b, const mishap_key_file *file, mishap_text line)
{
    size_t before = (size_t)(line.data - file->text.data), after = before + line.length;
    mishap_buffer_put(b, file->text.data, before);
    mishap_buffer_put(b, file->text.data + after, file->text.length - after);
}

static mishap *remove_line(const struct place *place, const char *name)
{
    mishap_key_file file;
    mishap_buffer text = { 0 };
    int lock = -1;
    /* First searched without the lock: if there is nothing to remove, nothing is created. */
    mishap *failure = mishap_key_file_read(place->keys, &file);
    if (!failure && !mishap_key_file_find(&file, mishap_text_of(name)))
        failure = no_such_key(name);
    mishap_key_file_release(&file);
    if (!failure)
        failure = take_lock(place, &lock);
    if (!failure)
        failure = mishap_key_file_read(place->keys, &file);
    if (failure)
        goto done;
    const mishap_key_line *line = mishap_key_file_find(&file, mishap_text_of(name));
    if (!line) {
        failure = no_such_key(name);
        goto done;
    }
    put_without(&text, &file, line->whole);
    failure = replace_file(place, &text);
done:
    mishap_buffer_release(&text);
    mishap_key_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *run_remove(mishap_call *call)
{
    struct place place;
    const char *name = mishap_string(call, "name");
    mishap *failure = find_place(call, &place);
    if (failure)
        return failure;
    failure = remove_line(&place, name);
    if (failure)
        return tell_place(&place, failure);
    warn_of_readers(call, &place);
    warn_of_none(call, &place);
    mishap_answer_member(call, "name", name);
    return mishap_answer_member(call, "removed", (bool)true);
}

/* -- keys disable ------------------------------------------------------------------------------ */

/* Write the line `disabled` into the file, unless it is there. */
static mishap *put_disabled(const struct place *place)
{
    mishap_key_file file = { 0 };
    int lock = -1;
    mishap *failure = take_lock(place, &lock);
    if (!failure)
        failure = mishap_key_file_read(place->keys, &file);
    if (failure || (file.disabled.data && !file.count))
        goto done;
    if (file.count) {
        failure = mishap_suggest(
            mishap_tell(mishap_raise(CONFLICT, "There are API keys."), "keys", file.count),
            "Remove them first, with `keys remove`.");
        goto done;
    }
    if (file.text.length && file.text.data[file.text.length - 1] != '\n')
        MISHAP_PUT(&file.text, "\n");
    MISHAP_PUT(&file.text, MISHAP_CALLER_DISABLED "\n");
    failure = replace_file(place, &file.text);
done:
    mishap_key_file_release(&file);
    if (lock >= 0)
        close(lock);
    return failure;
}

static mishap *run_disable(mishap_call *call)
{
    struct place place;
    mishap *failure = find_place(call, &place);
    if (failure)
        return failure;
    failure = make_folder(call, place.folder);
    if (!failure)
        failure = put_disabled(&place);
    if (failure)
        return tell_place(&place, failure);
    warn_of_readers(call, &place);
    return mishap_answer_member(call, "disabled", (bool)true);
}

/* -- the operations ---------------------------------------------------------------------------- */

#define NAME_PARAM                                                                                 \
    {                                                                                              \
        "name", MISHAP_STRING, .required = true, .pattern = MISHAP_KEY_NAME_PATTERN,               \
                               .looks = MISHAP_KEY_NAME_LOOKS, .placeholder = "NAME",              \
                               .help = "Name of the client that uses the key"                      \
    }
#define DATA_PARAM                                                                                 \
    {                                                                                              \
        "data", MISHAP_STRING, .file = true, .length = { 1, 4000 }, .placeholder = "DIR",          \
                               .help = "Data folder of the server"                                 \
    }

static const mishap_param name_and_data[] = { NAME_PARAM, DATA_PARAM, { 0 } };
static const mishap_param data_alone[] = { DATA_PARAM, { 0 } };

static const mishap_param add_answers[] = {
    { "name", MISHAP_STRING, .required = true },
    { "key", MISHAP_STRING, .required = true,
      .help = "The key that a client sends; it is not shown again" },
    { "note", MISHAP_STRING, .required = true },
    { 0 },
};
static const mishap_param listed_members[] = {
    { "name", MISHAP_STRING, .required = true },
    { "created", MISHAP_STRING, .required = true, .help = "Time of creation, in UTC" },
    { 0 },
};
static const mishap_param listed = { "", MISHAP_OBJECT, .members = listed_members };
static const mishap_param list_answers[] = {
    { "keys", MISHAP_ARRAY, .required = true, .items = &listed, .help = "By name" },
    { 0 },
};
static const mishap_param remove_answers[] = {
    { "name", MISHAP_STRING, .required = true },
    { "removed", MISHAP_BOOLEAN, .required = true },
    { 0 },
};
static const mishap_param disable_answers[] = {
    { "disabled", MISHAP_BOOLEAN, .required = true },
    { 0 },
};

static const mishap_example add_examples[] = {
    { "keys add --name deploy", "Create a key for a deployment client" },
    { "keys add --name ci.nightly --data /var/lib/service",
      "Create a key for the server with that data folder" },
    { 0 },
};
static const mishap_example list_examples[] = {
    { "keys list", "List the names of all keys" },
    { 0 },
};
static const mishap_example remove_examples[] = {
    { "keys remove --name deploy", "Remove the key; the server then refuses it" },
    { 0 },
};
static const mishap_example disable_examples[] = {
    { "keys disable", "Let callers on this machine name themselves again" },
    { 0 },
};

const mishap_operation mishap_keys_add = {
    .name = "keys.add",
    .summary = "Create an API key",
    .description = "The key is shown once; the server stores only its hash. A client sends the key "
                   "as `Authorization: Bearer KEY` or `X-Api-Key: KEY`. The name of the key then "
                   "identifies the client, for example in the access log. A running server accepts "
                   "the key after one or two seconds.",
    .params = name_and_data,
    .run = run_add,
    .local = true,
    .raises = MISHAP_RAISES(ALREADY_EXISTS, LOCKED, NOT_CONFIGURED, INPUT_UNREADABLE,
                            OUTPUT_FAILED),
    .danger = MISHAP_MUTATING,
    .examples = add_examples,
    .group = "Server",
    .answers = add_answers,
};

const mishap_operation mishap_keys_list = {
    .name = "keys.list",
    .summary = "List the API keys",
    .description =
        "List the name and the time of creation of each key. The keys themselves are not stored.",
    .params = data_alone,
    .run = run_list,
    .local = true,
    .raises = MISHAP_RAISES(NOT_CONFIGURED, INPUT_UNREADABLE),
    .examples = list_examples,
    .group = "Server",
    .answers = list_answers,
};

const mishap_operation mishap_keys_remove = {
    .name = "keys.remove",
    .summary = "Remove an API key",
    .description =
        "A running server refuses the key after one or two seconds and ends its sessions and open "
        "streams. A removed key cannot be restored: a new key of the same name is a different key. "
        "When the last key is removed, callers still cannot name themselves: see `keys disable`.",
    .params = name_and_data,
    .run = run_remove,
    .local = true,
    .raises = MISHAP_RAISES(NOT_FOUND, LOCKED, NOT_CONFIGURED, INPUT_UNREADABLE, OUTPUT_FAILED),
    .danger = MISHAP_DESTRUCTIVE,
    .examples = remove_examples,
    .group = "Server",
    .answers = remove_answers,
};

const mishap_operation mishap_keys_disable = {
    .name = "keys.disable",
    .summary = "Say that API keys are not used any more",
    .description = "Once there was an API key, callers cannot name themselves any more, even if no "
                   "key is left: the file of keys may have been lost. This command says that it is "
                   "right that there is no key. It fails while there is one. A running server "
                   "follows after one or two seconds; `keys add` is the way back.",
    .params = data_alone,
    .run = run_disable,
    .local = true,
    .raises = MISHAP_RAISES(CONFLICT, LOCKED, NOT_CONFIGURED, INPUT_UNREADABLE, OUTPUT_FAILED),
    .danger = MISHAP_MUTATING,
    .examples = disable_examples,
    .group = "Server",
    .answers = disable_answers,
};
